// Types, variables and functions that the objects of a link understand differently.
//
//  1. Compared are the objects that take part in the link, the device code in them, and shared objects that are not the
//     system's; each with the others, never an object with itself: `ld -r` joins units with private types of one name.
//  2. A type is one by its name: type_reader.cpp says which types have one. A variable or function is one by its mangled
//     name, and a definition is compared with declarations and other definitions.
//  3. A difference matters where the linker binds something that depends on it: a symbol that objects of both sides have
//     and one defines, whose mangled name holds the type's name; or, in C and of variables, whose declaration mentions
//     the type; or that mentions a type which holds it, directly or not. Host and device code have variables and kernels
//     in common. What depends on nothing is a note; in C, where two types of one name are legal, and between host and
//     device code, where __CUDA_ARCH__ may choose, nothing unless two versions of a header are the cause.
//  4. A type that differs only in where its members are, because a type that it holds has grown, is reported with that type.
//  5. Alignment is compared between objects of one compiler: g++ says that of classes that inherit it from a member.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "divergence/difference.hpp"
#include "divergence/divergence.hpp"
#include "divergence/type_shapes.hpp"
#include "elf/outline.hpp"
#include "facts/cache.hpp"
#include "facts/codec.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/dwarf/reader_pool.hpp"
#include "resolve/linked_objects.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

// --- What goes through the pipes.

enum class Ask : std::uint8_t { Rows, Shapes, Mentions };

std::string encoded(const ObjectRows& rows) {
  WireWriter out;
  out.number(static_cast<std::uint64_t>(rows.info));
  out.number(rows.from_object_alone ? 1 : 0);
  out.text({reinterpret_cast<const char*>(rows.rows.data()), rows.rows.size() * sizeof(ShapeRow)});
  return out.take();
}

ShapeRow row_at(std::string_view bytes, std::size_t number) {
  ShapeRow row;
  std::memcpy(&row, bytes.data() + number * sizeof row, sizeof row);
  if (row.kind > ShapeKind::FunctionDeclaration) throw BadWire("a row is of no kind");
  return row;
}

ObjectRows decoded_rows(std::string_view text) {
  WireReader in(text);
  ObjectRows rows;
  rows.info = static_cast<TypeInfo>(in.number_to(static_cast<std::uint64_t>(TypeInfo::NotKept)));
  rows.from_object_alone = in.flag();
  const std::string_view bytes = in.text();
  for (std::size_t i = 0; i < bytes.size() / sizeof(ShapeRow); ++i) rows.rows.push_back(row_at(bytes, i));
  return rows;
}

void write_line(WireWriter& out, const SourceLine& line) {
  out.text(line.file);
  out.number(line.line);
}

SourceLine read_line(WireReader& in) {
  SourceLine line;
  line.file = in.text();
  line.line = in.number32();
  return line;
}

std::string encoded(const std::vector<Shape>& shapes) {
  WireWriter out;
  out.number(shapes.size());
  for (const Shape& shape : shapes) {
    out.text({reinterpret_cast<const char*>(&shape.row), sizeof shape.row});
    for (const std::string* text : {&shape.name, &shape.record, &shape.type, &shape.shown}) out.text(*text);
    write_line(out, shape.line);
    out.number(shape.parts.size());
    for (const ShapePart& part : shape.parts) {
      out.number(static_cast<std::uint64_t>(part.kind));
      for (const std::string* text : {&part.name, &part.type, &part.shown}) out.text(*text);
      for (const std::int64_t number : {part.at, part.width}) out.number(static_cast<std::uint64_t>(number));
      out.number(part.is_virtual ? 1 : 0);
      write_line(out, part.line);
    }
  }
  return out.take();
}

std::vector<Shape> decoded_shapes(std::string_view text) {
  WireReader in(text);
  std::vector<Shape> shapes(in.count());
  for (Shape& shape : shapes) {
    const std::string_view row = in.text();
    if (row.size() != sizeof shape.row) throw BadWire("a row has another size");
    shape.row = row_at(row, 0);
    for (std::string* part : {&shape.name, &shape.record, &shape.type, &shape.shown}) *part = in.text();
    shape.line = read_line(in);
    shape.parts.resize(in.count());
    for (ShapePart& part : shape.parts) {
      part.kind = static_cast<PartKind>(in.number_to(static_cast<std::uint64_t>(PartKind::Parameter)));
      for (std::string* word : {&part.name, &part.type, &part.shown}) *word = in.text();
      for (std::int64_t* number : {&part.at, &part.width}) *number = static_cast<std::int64_t>(in.number());
      part.is_virtual = in.number_to(1) != 0;
      part.line = read_line(in);
    }
  }
  return shapes;
}

std::string encoded(const std::vector<Mention>& mentions) {
  WireWriter out;
  out.number(mentions.size());
  for (const Mention& mention : mentions) {
    out.number(mention.is_type ? 1 : 0);
    out.text(mention.name);
    for (const std::vector<std::string>* types : {&mention.types, &mention.values, &mention.made}) {
      out.number(types->size());
      for (const std::string& type : *types) out.text(type);
    }
  }
  return out.take();
}

std::vector<Mention> decoded_mentions(std::string_view text) {
  WireReader in(text);
  std::vector<Mention> mentions(in.count());
  for (Mention& mention : mentions) {
    mention.is_type = in.number_to(1) != 0;
    mention.name = in.text();
    for (std::vector<std::string>* types : {&mention.types, &mention.values, &mention.made}) {
      types->resize(in.count());
      for (std::string& type : *types) type = in.text();
    }
  }
  return mentions;
}

// --- What facts keep: the answers to all that is asked of an object or image, or why there are none.

constexpr std::string_view kScheme = std::endian::native == std::endian::little
                                         ? "shapes 4\n"  // changes with what type_reader.cpp compares
                                         : "shapes 4, big-endian\n";

struct KeptTypes {
  bool from_object_alone = true;  ///< ObjectRows
  std::string_view rows, shapes, mentions;
};

std::string all_answers(const Origin& origin) {
  const ObjectRows rows = read_shape_rows(origin);
  std::unordered_set<std::uint64_t> names;
  for (const ShapeRow& row : rows.rows) names.insert(row.name);
  WireWriter out;
  out.number(rows.from_object_alone ? 1 : 0);
  out.text(encoded(rows));
  out.text(encoded(read_shapes(origin, names)));
  out.text(encoded(read_mentions(origin)));
  return out.take();
}

std::string kept(const ReaderAnswer& answer) {
  WireWriter out;
  out.text(answer.failed);
  out.text(answer.text);
  return std::string(kScheme) + out.take();
}

/// Nothing when they are of another scheme. Throws what `failed` says.
std::optional<KeptTypes> read_kept(std::string_view text) {
  if (!take_prefix(text, kScheme)) return std::nullopt;
  WireReader in(text);
  if (const std::string_view failed = in.text(); !failed.empty()) throw std::runtime_error(std::string(failed));
  WireReader answers(in.text());
  KeptTypes types;
  types.from_object_alone = answers.number_to(1) != 0;
  for (std::string_view* answer : {&types.rows, &types.shapes, &types.mentions}) *answer = answers.text();
  return types;
}

bool has_types(const DeviceImage& image) { return image.kind == ImageKind::Cubin && image.debug; }

// --- Rows by name: memory grows with the names, and by four bytes with each row.

/// The ways in which a name is understood, each with the objects that do. Numbers of objects are in link order.
class ShapeTable {
 public:
  struct Variant {
    ShapeRow row;
    std::uint32_t next = kNone;  ///< of the same name
  };

  void add(std::uint32_t object, const std::vector<ShapeRow>& rows) {
    if (of_objects_.size() <= object) of_objects_.resize(object + 1);
    for (const ShapeRow& row : rows) of_objects_[object].push_back(variant_of(row));
  }

  const Variant& operator[](std::uint32_t variant) const { return variants_[variant]; }

  /// Calls visit with the variants of each name that has several, in no order.
  template <class Visit>
  void each_of_several(const Visit& visit) const {
    std::vector<std::uint32_t> all;
    for (const auto& [name, first] : first_) {
      if (variants_[first].next == kNone) continue;
      all.clear();
      for (std::uint32_t v = first; v != kNone; v = variants_[v].next) all.push_back(v);
      visit(all);
    }
  }

  /// The objects that have one of `wanted`, ascending.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> objects_with(
      const std::set<std::uint32_t>& wanted) const {
    std::vector<bool> asked(variants_.size());
    for (const std::uint32_t variant : wanted) asked[variant] = true;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> found;
    for (std::uint32_t object = 0; object < of_objects_.size(); ++object)
      for (const std::uint32_t variant : of_objects_[object])
        if (asked[variant] && (found[variant].empty() || found[variant].back() != object))
          found[variant].push_back(object);
    return found;
  }

 private:
  static bool same(const ShapeRow& a, const ShapeRow& b) {
    return a.layout == b.layout && a.kind == b.kind && a.constant == b.constant && a.c == b.c &&
           a.alignment == b.alignment && a.clang == b.clang;
  }

  std::uint32_t variant_of(const ShapeRow& row) {
    const auto [entry, added] = first_.try_emplace(row.name, static_cast<std::uint32_t>(variants_.size()));
    if (!added)
      for (std::uint32_t v = entry->second;; v = variants_[v].next) {
        if (same(variants_[v].row, row)) return v;
        if (variants_[v].next != kNone) continue;
        variants_[v].next = static_cast<std::uint32_t>(variants_.size());
        break;
      }
    variants_.push_back({row, kNone});
    return static_cast<std::uint32_t>(variants_.size() - 1);
  }

  std::unordered_map<std::uint64_t, std::uint32_t> first_;  ///< by name
  std::vector<Variant> variants_;
  std::vector<std::vector<std::uint32_t>> of_objects_;
};

bool differ(const ShapeRow& a, const ShapeRow& b) {
  if (a.kind == ShapeKind::Type)
    return a.layout != b.layout || (a.alignment != b.alignment && a.clang == b.clang);  // rule 5
  if (is_declaration(a.kind) || is_variable(a.kind) != is_variable(b.kind)) return false;
  return a.layout != b.layout || (a.constant && !b.constant && b.kind == ShapeKind::VariableDeclaration);
}

/// Two variants of a name that differ, and the objects that have them.
struct Disagreement {
  struct Other {
    ShapeRow row;
    std::vector<std::uint32_t> objects;
  };
  ShapeRow row_a, row_b;
  std::vector<std::uint32_t> a, b;         ///< objects
  std::uint32_t shown_a = 0, shown_b = 0;  ///< two of these that are not the same
  const Shape* shape_a = nullptr;
  const Shape* shape_b = nullptr;
  Difference difference{};
  std::vector<std::string> bound{}, holders{};
  TypeUse use = TypeUse::Unknown;
  Disagreement* root = nullptr;  ///< rule 4
  std::vector<Other> others{};   ///< variants that differ from both

  bool is_type() const { return row_a.kind == ShapeKind::Type; }
  bool in_c() const { return row_a.c || row_b.c; }
};

// --- The comparison.

/// What is compared with others: an object's own code, or an image of its device code.
struct Part {
  ObjectId in;
  std::uint32_t image = kNone;
};

class TypeCheck {
 public:
  TypeCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution, const TypeOptions& options)
      : inputs_(inputs),
        jobs_(options.jobs),
        of_builds_(options.of_builds),
        cache_(options.cache),
        causes_(options.compile_commands, options.known_commands) {
    for (const ObjectId id : linked_objects(inputs, resolution))
      if (is_compared(facts(id), options.of_builds))
        add_parts(id);
      else if (is_bitcode(facts(id)))
        ++counts_[TypeInfo::Bitcode];
  }

  TypeComparison run() {
    TypeComparison result;
    read_rows();
    find_conflicts();
    if (!conflicts_.empty()) read_words();
    set_derived_apart();
    find_bound();
    if (of_builds_) find_uses();
    for (Disagreement& conflict : conflicts_) {
      if (conflict.root == nullptr && conflict.bound.empty() && crosses(conflict)) see_through_memory(conflict);
      if (is_reported(conflict)) result.divergences.push_back(divergence(conflict));
    }
    std::ranges::stable_sort(result.divergences, {}, &TypeDivergence::name);
    result.notes = std::move(notes_);
    result.not_compared = std::move(not_compared_);
    return result;
  }

 private:
  static bool is_compared(const ObjectFacts& object, bool anywhere) {
    if (object.kind != ObjectKind::Relocatable && !anywhere && is_of_system(object.origin.path)) return false;
    const bool known = object.available || !object.indexed_in.empty();
    return known && !object.nested && !object.unopened && !is_bitcode(object) && !object.origin.binary;
  }

  /// GCC puts DWARF beside its bytecode (.gnu.debuglto_), LLVM into its bitcode, which nothing here reads.
  static bool is_bitcode(const ObjectFacts& object) {
    return object.origin.bytecode && object.lto.compiler == LtoCompiler::Llvm;
  }

  /// The object, and the device code in it that has debug info (nvcc -G).
  void add_parts(ObjectId id) {
    parts_.push_back({id});
    const std::vector<DeviceImage>& images = facts(id).device.images;
    for (std::uint32_t i = 0; i < images.size(); ++i)
      if (has_types(images[i])) parts_.push_back({id, i});
  }

  const ObjectFacts& facts(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const ObjectFacts& object(std::uint32_t number) const { return facts(parts_[number].in); }
  bool is_device(std::uint32_t number) const { return parts_[number].image != kNone; }

  /// "a.o", "a.o for sm_90"
  std::string label(std::uint32_t number) const {
    const std::string name = object(number).origin.display();
    return is_device(number) ? name + " for " + object(number).device.images[parts_[number].image].target() : name;
  }

  // --- Reading.

  std::string answer(std::string_view request) const {
    WireReader in(request);
    const auto ask = static_cast<Ask>(in.number());
    const std::uint32_t number = in.number32();
    std::unordered_set<std::uint64_t> names;
    if (ask == Ask::Shapes)
      for (std::size_t count = in.count(); count > 0; --count) names.insert(in.number());
    const ObjectFacts& of = object(number);
    if (!of.indexed_in.empty())
      if (const std::optional<KeptTypes> types = types_in_facts(number)) return answer_of(*types, ask, names);
    if (of.origin.is_facts_alone())
      return ask == Ask::Rows ? encoded(ObjectRows{TypeInfo::NotKept, {}})
                              : std::string();  // of no rows nothing more is asked
    std::optional<ImageFile> image;
    if (is_device(number)) image.emplace(of, parts_[number].image);
    const Origin& origin = image ? image->origin() : of.origin;
    if (ask == Ask::Rows) return image ? encoded(read_shape_rows(origin)) : rows_through_cache(origin);
    return ask == Ask::Mentions ? encoded(read_mentions(origin)) : encoded(read_shapes(origin, names));
  }

  /// Nothing where the debug info is to be read: other files than the object may have changed.
  std::optional<KeptTypes> types_in_facts(std::uint32_t number) const {
    const ObjectFacts& of = object(number);
    const Outline* outline = outline_in(of.indexed_in, of.origin);
    const std::size_t part = is_device(number) ? parts_[number].image + 1 : 0;
    if (outline == nullptr || outline->types.size() <= part) return std::nullopt;
    std::optional<KeptTypes> types = read_kept(outline->types[part]);
    if (types && of.available && !types->from_object_alone) types.reset();
    return types;
  }

  /// Read here, where bytes that are damaged cost this answer alone.
  static std::string answer_of(const KeptTypes& types, Ask ask, const std::unordered_set<std::uint64_t>& names) {
    if (ask == Ask::Rows) return encoded(decoded_rows(types.rows));
    if (ask == Ask::Mentions) return encoded(decoded_mentions(types.mentions));
    std::vector<Shape> shapes = decoded_shapes(types.shapes);
    std::erase_if(shapes, [&](const Shape& shape) { return !names.contains(shape.row.name); });
    return encoded(shapes);
  }

  std::string rows_through_cache(const Origin& origin) const {
    const std::optional<PlaceCache::Key> key = cache_.key_of(origin);
    if (key)
      if (std::optional<std::string> known = cache_.find_types(*key); known && known->starts_with(kScheme))
        return known->substr(kScheme.size());
    const ObjectRows rows = read_shape_rows(origin);
    std::string text = encoded(rows);
    if (key && rows.from_object_alone) cache_.keep_types(*key, origin, std::string(kScheme) + text);
    return text;
  }
  /// Calls take(object, answer) for each object, in their order. What gets no answer is said in a note.
  template <class Take>
  void ask(const std::vector<std::uint32_t>& objects, std::vector<std::string> requests, const Take& take) {
    ReaderLimits limits;
    limits.workers = thread_count(jobs_);
    if (debug_servers_asked()) limits.stuck_seconds = kServerPatience;
    read_apart(
        requests, limits, [&](std::string_view request) { return answer(request); },
        [&](std::size_t i, const ReaderAnswer& got) {
          if (got.failed.empty()) return take(objects[i], got.text);
          note_unknown_use();  // another time, it may not fail
          notes_.push_back(fmt::format("the types of {} were not compared: {}", label(objects[i]), got.failed));
          not_compared_.push_back(parts_[objects[i]].in);
        });
  }

  static WireWriter request(Ask ask, std::uint32_t object) {
    WireWriter out;
    out.number(static_cast<std::uint64_t>(ask));
    out.number(object);
    return out;
  }

  void read_rows() {
    std::vector<std::uint32_t> all(parts_.size());
    std::vector<std::string> requests;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      all[i] = i;
      requests.push_back(request(Ask::Rows, i).take());
    }
    ask(all, std::move(requests), [&](std::uint32_t object, const std::string& answer) {
      const ObjectRows rows = decoded_rows(answer);
      if (!rows.from_object_alone) note_unknown_use();  // the process that reads it notes no files
      if (rows.info != TypeInfo::Present) not_compared_.push_back(parts_[object].in);
      if (rows.info != TypeInfo::Present && is_of_system(this->object(object).origin.path)) return;  // crt1.o
      ++counts_[rows.info];
      table_.add(object, rows.rows);
    });
    note_missing();
  }

  /// Said once, by kind.
  void note_missing() {
    std::vector<std::string> kinds;
    std::size_t all = 0, missing = 0;
    for (const auto& [info, count] : counts_) {
      all += count;
      if (info != TypeInfo::Present) missing += count;
    }
    const auto say = [&](TypeInfo info, const char* what) {
      if (const auto found = counts_.find(info); found != counts_.end())
        kinds.push_back(fmt::format("{} {}", found->second, what));
    };
    say(TypeInfo::None, "without debug info");
    say(TypeInfo::LinesOnly, "with lines only (-g1)");
    say(TypeInfo::Elsewhere, "whose debug info is in another file that is missing");
    say(TypeInfo::NotKept, "of which there are only facts, made without --types");
    say(TypeInfo::Bitcode, "of LLVM bitcode");
    if (!kinds.empty())
      notes_.push_back(
          fmt::format("types were not compared of {} of {} objects: {}", missing, all, fmt::join(kinds, ", ")));
  }

  /// Rule 1, and of several variants the pair that most objects have.
  void find_conflicts() {
    std::set<std::uint32_t> wanted;
    std::vector<std::vector<std::uint32_t>> names;
    table_.each_of_several([&](const std::vector<std::uint32_t>& variants) {
      for (const std::uint32_t a : variants)
        for (const std::uint32_t b : variants)
          if (differ(table_[a].row, table_[b].row)) {
            wanted.insert(variants.begin(), variants.end());
            names.push_back(variants);
            return;
          }
    });
    const auto objects = table_.objects_with(wanted);
    for (const std::vector<std::uint32_t>& variants : names) add_conflict(variants, objects);
    std::ranges::sort(conflicts_, {},
                      [](const Disagreement& c) { return std::tuple(c.shown_a, c.shown_b, c.row_a.name); });
  }

  void add_conflict(const std::vector<std::uint32_t>& variants,
                    const std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>& objects) {
    std::optional<Disagreement> best;
    std::size_t most = 0;
    for (const std::uint32_t a : variants)
      for (const std::uint32_t b : variants) {
        if (!differ(table_[a].row, table_[b].row)) continue;
        const auto &in_a = objects.at(a), &in_b = objects.at(b);
        const bool symmetric = table_[a].row.kind == table_[b].row.kind;
        if (symmetric && std::tie(in_a, table_[a].row.layout) > std::tie(in_b, table_[b].row.layout))
          continue;  // seen as b, a
        const std::uint32_t other = in_b.front() != in_a.front() ? in_b.front() : in_b.back();
        const std::uint32_t first = other != in_a.front() ? in_a.front() : in_a.back();
        if (first == other || in_a.size() + in_b.size() <= most) continue;
        most = in_a.size() + in_b.size();
        best = Disagreement{table_[a].row, table_[b].row, in_a, in_b, first, other};
      }
    if (!best) return;
    for (const std::uint32_t v : variants)
      if (const ShapeRow& row = table_[v].row; differ(row, best->row_a) && differ(row, best->row_b))
        best->others.push_back({row, objects.at(v)});
    conflicts_.push_back(*std::move(best));
  }

  void read_words() {
    std::map<std::uint32_t, std::unordered_set<std::uint64_t>> wanted;
    for (const Disagreement& conflict : conflicts_) {
      for (const std::uint32_t object : {conflict.shown_a, conflict.shown_b})
        wanted[object].insert(conflict.row_a.name);
      for (const Disagreement::Other& other : conflict.others) wanted[other.objects.front()].insert(other.row.name);
    }
    std::vector<std::uint32_t> objects;
    std::vector<std::string> requests;
    for (const auto& [object, names] : wanted) {
      WireWriter out = request(Ask::Shapes, object);
      out.number(names.size());
      for (const std::uint64_t name : names) out.number(name);
      objects.push_back(object);
      requests.push_back(out.take());
    }
    ask(objects, std::move(requests), [&](std::uint32_t object, const std::string& answer) {
      for (Shape& shape : decoded_shapes(answer)) shapes_[object].push_back(std::move(shape));
    });
    for (Disagreement& conflict : conflicts_) {
      conflict.shape_a = shape(conflict.shown_a, conflict.row_a);
      conflict.shape_b = shape(conflict.shown_b, conflict.row_b);
    }
    std::erase_if(conflicts_, [](const Disagreement& c) { return c.shape_a == nullptr || c.shape_b == nullptr; });
    for (Disagreement& conflict : conflicts_) {
      const auto difference = conflict.is_type() ? difference_of_types : difference_of_symbols;
      conflict.difference =
          difference(*conflict.shape_a, *conflict.shape_b, label(conflict.shown_a), label(conflict.shown_b));
    }
    std::erase_if(conflicts_, [](const Disagreement& c) { return c.difference.kind == DifferenceKind::Nothing; });
  }

  const Shape* shape(std::uint32_t object, const ShapeRow& row) const {
    const auto found = shapes_.find(object);
    if (found == shapes_.end()) return nullptr;
    for (const Shape& shape : found->second)
      if (shape.row.name == row.name && shape.row.layout == row.layout && shape.row.kind == row.kind) return &shape;
    return nullptr;
  }

  // --- Rule 4.

  void set_derived_apart() {
    std::map<std::string, std::vector<Disagreement*>, std::less<>> by_name;
    for (Disagreement& conflict : conflicts_)
      if (conflict.is_type()) by_name[without_arguments(conflict.shape_a->name)].push_back(&conflict);
    for (Disagreement& conflict : conflicts_) {
      if (!conflict.is_type()) continue;
      for (const std::string& type : conflict.difference.grown) {
        const auto root = by_name.find(type);
        if (root == by_name.end() || root->second.front() == &conflict) continue;
        conflict.root = root->second.front();
        break;
      }
    }
    // What the library makes of a type differs where the type does: std::_Rb_tree_node<S> by its array of bytes.
    for (Disagreement& conflict : conflicts_) {
      if (!conflict.is_type() || conflict.root != nullptr || !is_of_library(conflict.shape_a->name)) continue;
      for (auto& [name, all] : by_name)
        if (!is_of_library(name) && all.front() != &conflict && conflict.shape_a->name.find(name) != std::string::npos)
          conflict.root = all.front();
    }
    for (Disagreement& conflict : conflicts_) {
      Disagreement* root = conflict.root;
      for (int i = 0; root != nullptr && root->root != nullptr && i < kLongestChain; ++i) root = root->root;
      if (root != nullptr && root != &conflict) root->holders.push_back(readable(conflict));
    }
  }
  static constexpr int kLongestChain = 64;
  static bool is_of_library(std::string_view name) {
    return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
  }

  // --- Rule 3.

  /// Who has a symbol that may be bound.
  struct Presence {
    std::vector<std::uint32_t> objects;
    std::size_t definitions[2]{};  ///< in host code, in device code
    bool crosses = false;  ///< a variable or kernel of device code, for which host code has a symbol of that name
  };

  template <class Wanted>
  std::map<std::string_view, Presence> symbols(const Wanted& wanted) const {
    std::unordered_map<std::string_view, Presence> found;
    const auto add = [&](std::string_view name, std::uint32_t number, bool defined, bool crosses) {
      auto known = found.find(name);
      if (known == found.end()) {
        if (!wanted(name)) return;
        known = found.try_emplace(name).first;
      }
      known->second.objects.push_back(number);
      known->second.crosses |= crosses;
      known->second.definitions[is_device(number)] += defined ? 1 : 0;
    };
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
      const ObjectFacts& facts = object(number);
      if (!is_device(number)) {
        for (const Symbol& symbol : facts.symbols) add(facts.name(symbol), number, symbol.defined(), false);
      } else if (const auto image = facts.device.decoded.find(parts_[number].image);
                 image != facts.device.decoded.end()) {
        for (const DeviceSymbol& symbol : image->second.symbols)
          add(image->second.name(symbol), number, symbol.defined,
              symbol.kind == DeviceSymbolKind::Variable || symbol.kind == DeviceSymbolKind::Kernel);
      }
    }
    return {found.begin(), found.end()};
  }

  bool binds(const Disagreement& conflict, const Presence& symbol) const {
    if (symbol.definitions[0] + symbol.definitions[1] == 0) return false;
    bool a[2]{}, b[2]{};  // is it in host code, in device code?
    for (const std::uint32_t number : symbol.objects) {
      a[is_device(number)] |= std::ranges::binary_search(conflict.a, number);
      b[is_device(number)] |= std::ranges::binary_search(conflict.b, number);
    }
    const bool several = std::ranges::any_of(symbol.objects, [&](auto o) { return o != symbol.objects.front(); });
    return several && ((a[0] && b[0]) || (a[1] && b[1]) || (symbol.crosses && ((a[0] && b[1]) || (a[1] && b[0]))));
  }

  static std::string binding(std::string_view name, const Presence& symbol) {
    return (std::max(symbol.definitions[0], symbol.definitions[1]) > 1 ? "merged: " : "shared: ") + demangle(name);
  }

  void find_bound() {
    find_bound_by_name();
    find_bound_symbols();
    std::vector<Disagreement*> open;
    for (Disagreement& conflict : conflicts_)
      if (conflict.is_type() && conflict.bound.empty()) open.push_back(&conflict);
    if (!open.empty()) find_bound_by_mention(open);
  }

  /// "a::B<int>::C" -> "1a", "1B", "1C": as they stand in mangled names (Itanium C++ ABI 5.1.2). Of std, which is "St"
  /// there, nothing.
  static std::vector<std::string> components(std::string_view name) {
    std::vector<std::string> parts;
    const std::string plain = without_arguments(name);
    std::string_view rest = plain;
    if (rest.starts_with('{')) {  // in a function: its name, without "_Z"
      const std::size_t end = rest.find("}::");
      if (end == rest.npos) return {};
      std::string_view function = rest.substr(1, end - 1);
      parts.emplace_back(take_prefix(function, "_Z") ? function : std::string_view());
      rest.remove_prefix(end + 3);
    }
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find("::"), rest.size());
      if (rest.substr(0, end) != "std") parts.push_back(fmt::format("{}{}", end, rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return parts;
  }

  struct NamedConflict {
    Disagreement* conflict;
    std::vector<std::string> components;
    std::string holder;  ///< the type of that name, where it is not the conflict's own
  };
  using ByLastComponent = std::unordered_map<std::string, std::vector<NamedConflict>>;

  static void add_name(Disagreement& conflict, const std::string& name, const std::string& holder,
                       ByLastComponent& all) {
    std::vector<std::string> parts = components(name);
    if (parts.empty()) return;
    const std::string last = parts.back();
    all[last].push_back({&conflict, std::move(parts), holder});
  }

  void find_bound_by_name() {
    ByLastComponent names;
    for (Disagreement& conflict : conflicts_)
      if (conflict.is_type() && !(conflict.row_a.c && conflict.row_b.c))
        for (const std::string& name : names_of(conflict)) add_name(conflict, name, {}, names);
    bind_by_name(names);
  }

  /// The symbols in whose mangled names these names are.
  void bind_by_name(const ByLastComponent& by_last) {
    if (by_last.empty()) return;
    const auto each_conflict = [&](std::string_view symbol, const auto& visit) {
      if (!symbol.starts_with("_Z")) return;
      for (std::size_t at = 2; at < symbol.size(); ++at) {
        if (std::isdigit(static_cast<unsigned char>(symbol[at])) == 0) continue;
        std::size_t length = 0, end = at;
        while (end < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[end])) != 0 &&
               length < symbol.size())
          length = length * 10 + static_cast<std::size_t>(symbol[end++] - '0');
        if (length != 0 && length <= symbol.size() - end)
          if (const auto found = by_last.find(std::string(symbol.substr(at, end - at + length)));
              found != by_last.end())
            for (const NamedConflict& named : found->second)
              if (std::ranges::all_of(named.components,
                                      [&](const std::string& c) { return symbol.find(c) != symbol.npos; }))
                visit(named);
        at = end - 1;
      }
    };
    const auto wanted = [&](std::string_view symbol) {
      bool any = false;
      each_conflict(symbol, [&](const NamedConflict&) { any = true; });
      return any;
    };
    for (const auto& [name, presence] : symbols(wanted)) {
      std::set<Disagreement*> reported;
      each_conflict(name, [&, &symbol = name, &who = presence](const NamedConflict& named) {
        if (!reported.insert(named.conflict).second || !binds(*named.conflict, who)) return;
        named.conflict->bound.push_back(binding(symbol, who) + held_by(named.holder));
      });
    }
  }
  static std::string held_by(const std::string& holder) {
    return holder.empty() ? "" : ", whose " + holder + " holds it";
  }

  static std::set<std::string> names_of(const Disagreement& conflict) {
    return {conflict.shape_a->name, conflict.shape_a->record, conflict.shape_b->record};
  }

  /// The variable or function itself; of a type in a function, the function; else empty.
  static std::string_view symbol_of(const Disagreement& conflict) {
    const std::string_view name = conflict.shape_a->name;
    if (!conflict.is_type()) return name;
    return name.starts_with('{') ? name.substr(1, name.find("}::") - 1) : std::string_view();
  }

  /// "{_Z1fv}::S" -> "f()::S"
  static std::string readable(const Disagreement& conflict) {
    const std::string& name = conflict.shape_a->name;
    if (!conflict.is_type() || !name.starts_with('{')) return name;
    return demangle(symbol_of(conflict)) + name.substr(std::min(name.find("}::") + 1, name.size()));
  }

  /// A variable or function is bound where both have it.
  void find_bound_symbols() {
    std::set<std::string_view> names;
    for (const Disagreement& conflict : conflicts_) names.insert(symbol_of(conflict));
    const auto found = symbols([&](std::string_view name) { return names.contains(name); });
    for (Disagreement& conflict : conflicts_) {
      const auto symbol = found.find(symbol_of(conflict));
      if (symbol != found.end() && binds(conflict, symbol->second))
        conflict.bound.push_back(binding(symbol->first, symbol->second));
    }
  }

  /// Declarations that mention the type, or a type that holds it, in the two objects that are shown.
  void find_bound_by_mention(const std::vector<Disagreement*>& open) {
    std::set<std::uint32_t> wanted;
    for (const Disagreement* conflict : open) {
      if (wanted.size() > kMostReopened) break;
      wanted.insert({conflict->shown_a, conflict->shown_b});
    }
    const std::vector<std::uint32_t> objects(wanted.begin(), wanted.end());
    std::vector<std::string> requests;
    requests.reserve(objects.size());
    for (const std::uint32_t object : objects) requests.push_back(request(Ask::Mentions, object).take());
    std::map<std::uint32_t, std::vector<Mention>> mentions;
    ask(objects, std::move(requests),
        [&](std::uint32_t object, const std::string& answer) { mentions[object] = decoded_mentions(answer); });
    std::set<std::string_view> names;
    for (const auto& [object, all] : mentions)
      for (const Mention& mention : all)
        if (!mention.is_type) names.insert(mention.name);
    const auto found = symbols([&](std::string_view name) { return names.contains(name); });
    ByLastComponent holders;
    for (Disagreement* conflict : open) {
      const std::set<std::string> holding = holders_of(*conflict, mentions);
      const auto is_itself = [&](const std::string& type) {
        return std::ranges::any_of(names_of(*conflict),
                                   [&](const std::string& n) { return without_arguments(n) == type; });
      };
      if (!conflict->row_a.c || !conflict->row_b.c)
        for (const std::string& holder : holding)
          if (!is_itself(holder)) add_name(*conflict, holder, holder, holders);
      for (const std::uint32_t object : {conflict->shown_a, conflict->shown_b}) {
        for (const Mention& mention : mentions[object]) {
          const auto symbol = mention.is_type ? found.end() : found.find(mention.name);
          if (symbol == found.end() || !binds(*conflict, symbol->second)) continue;
          const auto type =
              std::ranges::find_if(mention.types, [&](const std::string& t) { return holding.contains(t); });
          if (type != mention.types.end())
            conflict->bound.push_back(binding(symbol->first, symbol->second) + held_by(is_itself(*type) ? "" : *type));
        }
      }
    }
    bind_by_name(holders);
  }
  static constexpr std::size_t kMostReopened = 64;

  /// The type, and the types that hold it, directly or not, by value or pointer.
  static std::set<std::string> holders_of(const Disagreement& conflict,
                                          std::map<std::uint32_t, std::vector<Mention>>& mentions) {
    std::map<std::string, std::set<std::string>> held_by;
    for (const std::uint32_t object : {conflict.shown_a, conflict.shown_b})
      for (const Mention& mention : mentions[object])
        if (mention.is_type)
          for (const std::string& type : mention.types) held_by[type].insert(without_arguments(mention.name));
    std::set<std::string> all;
    std::vector<std::string> work;
    for (const std::string& name : names_of(conflict)) work.push_back(without_arguments(name));
    while (!work.empty()) {
      const std::string type = std::move(work.back());
      work.pop_back();
      if (!all.insert(type).second) continue;
      if (const auto found = held_by.find(type); found != held_by.end())
        work.insert(work.end(), found->second.begin(), found->second.end());
    }
    return all;
  }

  // --- What users of the exports have to know.

  using TypeNames = std::set<std::string>;

  /// Opens all objects once more, if a type that is bound differs.
  void find_uses() {
    const auto is_bound = [](const Disagreement& conflict) { return conflict.is_type() && !conflict.bound.empty(); };
    if (std::ranges::none_of(conflicts_, is_bound)) return;
    std::vector<std::uint32_t> objects(parts_.size());
    std::vector<std::string> requests;
    for (std::uint32_t i = 0; i < objects.size(); ++i)
      requests.push_back(request(Ask::Mentions, objects[i] = i).take());
    std::unordered_map<std::string_view, bool> exports;  // and whether an object that uses them has none of its own
    for (const std::uint32_t number : objects)
      for (const Symbol& symbol : object(number).symbols)
        if (symbol.defined() && !is_hidden(symbol.visibility))
          exports[object(number).name(symbol)] |= symbol.binding == Binding::Global;
    std::map<std::string, TypeNames> held;  // by value, by the type that holds them
    TypeNames values, pointers, made;
    for (const auto& [name, is_global] : exports)
      if (is_global && name.starts_with("_ZN"))
        (name.find("C1E") != name.npos || name.find("C2E") != name.npos ? values : pointers).insert(class_of(name));
    ask(objects, std::move(requests), [&](std::uint32_t, const std::string& answer) {
      for (const Mention& mention : decoded_mentions(answer)) {
        if (mention.is_type) {
          held[without_arguments(mention.name)].insert(mention.values.begin(), mention.values.end());
        } else if (exports.contains(mention.name)) {
          values.insert(mention.values.begin(), mention.values.end());
          pointers.insert(mention.types.begin(), mention.types.end());
          made.insert(mention.made.begin(), mention.made.end());
        }
      }
    });
    const TypeNames called = pointers;
    std::erase_if(pointers, [&](const std::string& type) { return made.contains(type); });
    for (TypeNames* known : {&values, &pointers}) add_held(held, *known);
    for (Disagreement& conflict : conflicts_) {
      const bool is_virtual = std::ranges::any_of(
          conflict.shape_a->parts, [](const ShapePart& part) { return part.kind == PartKind::VirtualFunction; });
      for (const std::string& name : names_of(conflict)) {
        const std::string type = without_arguments(name);
        if (pointers.contains(type) || (is_virtual && called.contains(type)))
          conflict.use = std::max(conflict.use, TypeUse::Pointer);
        if (values.contains(type)) conflict.use = TypeUse::Value;
      }
    }
  }

  /// "n::C" of the member function _ZN1n1C1fEv
  static std::string class_of(std::string_view function) {
    const std::string name = without_arguments(demangle(function));
    const std::string before = name.substr(0, name.find('('));
    return before.substr(0, std::min(before.rfind("::"), before.size()));
  }

  static void add_held(const std::map<std::string, TypeNames>& held, TypeNames& known) {
    std::vector<std::string> work(known.begin(), known.end());
    while (!work.empty()) {
      const auto found = held.find(work.back());
      work.pop_back();
      if (found == held.end()) continue;
      for (const std::string& type : found->second)
        if (known.insert(type).second) work.push_back(type);
    }
  }

  bool crosses(const Disagreement& conflict) const {
    return is_device(conflict.shown_a) != is_device(conflict.shown_b);
  }

  /// What host code copies to a device no symbol tells. Where __CUDA_ARCH__ chooses a layout that is meant; two versions
  /// of a header are not.
  void see_through_memory(Disagreement& conflict) {
    const auto found = cause(conflict);
    if (conflict.is_type() && found && found->cause.kind == "two-headers")
      conflict.bound.emplace_back("no symbol depends on it, but what host and device code exchange in memory may");
  }

  // --- The result.

  bool is_reported(const Disagreement& conflict) const {
    if (conflict.root != nullptr) return false;
    if (!conflict.bound.empty()) return true;
    if (crosses(conflict)) return false;
    return conflict.difference.kind == DifferenceKind::Layout && !(conflict.is_type() && conflict.in_c());
  }

  TypeDivergence divergence(Disagreement& conflict) {
    TypeDivergence reported;
    reported.is_type = conflict.is_type();
    reported.use = conflict.use;
    reported.name = readable(conflict);
    reported.harmless = conflict.difference.kind == DifferenceKind::Names;
    const auto variant = [&](std::uint32_t shown, const std::vector<std::uint32_t>& all, const Shape& shape) {
      return TypeVariant{parts_[shown].in, is_device(shown) ? label(shown) : std::string(), all.size(), shape.row.size,
                         shape.line};
    };
    reported.a = variant(conflict.shown_a, conflict.a, *conflict.shape_a);
    reported.b = variant(conflict.shown_b, conflict.b, *conflict.shape_b);
    for (const Disagreement::Other& other : conflict.others)
      if (const Shape* found = shape(other.objects.front(), other.row))
        reported.others.push_back(variant(other.objects.front(), other.objects, *found));
    reported.words = conflict.difference.words;
    if (auto found = cause(conflict)) {
      reported.cause = std::move(found->cause);
      reported.fixes.push_back(std::move(found->fix));
    } else if (!conflict.bound.empty()) {
      reported.options = causes_.options_that_differ(side_a(conflict), side_b(conflict));
    }
    // The shortest names are the plainest.
    std::ranges::sort(conflict.bound, {},
                      [](const std::string& text) { return std::pair(text.size(), std::string_view(text)); });
    conflict.bound.erase(std::unique(conflict.bound.begin(), conflict.bound.end()), conflict.bound.end());
    reported.bound = std::move(conflict.bound);
    std::ranges::sort(conflict.holders);
    reported.holders = std::move(conflict.holders);
    return reported;
  }

  std::optional<LayoutCause> cause(const Disagreement& conflict) {
    return causes_.cause_of(side_a(conflict), side_b(conflict), conflict.difference);
  }

  LayoutSide side_a(const Disagreement& conflict) const { return side(conflict.shown_a, *conflict.shape_a); }
  LayoutSide side_b(const Disagreement& conflict) const { return side(conflict.shown_b, *conflict.shape_b); }
  LayoutSide side(std::uint32_t shown, const Shape& shape) const { return {shape, object(shown).origin, label(shown)}; }

  const std::vector<InputFacts>& inputs_;
  const unsigned jobs_;
  const bool of_builds_;
  mutable PlaceCache cache_;
  LayoutCauses causes_;
  std::vector<Part> parts_;
  ShapeTable table_;
  std::vector<Disagreement> conflicts_;
  std::vector<std::string> notes_;
  std::vector<ObjectId> not_compared_;
  std::map<TypeInfo, std::size_t> counts_;  ///< objects
  std::map<std::uint32_t, std::vector<Shape>> shapes_;
};

}  // namespace

std::vector<std::string> kept_types(const ObjectFacts& object) {
  const std::vector<DeviceImage>& images = object.device.images;
  std::vector<std::string> types(images.size() + 1);
  std::vector<std::string> requests{"0"};
  for (std::size_t i = 0; i < images.size(); ++i)
    if (has_types(images[i])) requests.push_back(std::to_string(i + 1));
  const auto read = [&](std::string_view part) {
    const auto number = static_cast<std::uint32_t>(std::stoul(std::string(part)));
    return all_answers(number == 0 ? object.origin : ImageFile(object, number - 1).origin());
  };
  read_apart(requests, {}, read,
             [&](std::size_t i, const ReaderAnswer& answer) { types[std::stoul(requests[i])] = kept(answer); });
  return types;
}

TypeComparison compare_types(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                             const TypeOptions& options) {
  // The links of a build are audited side by side: each would start as many processes.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return TypeCheck(inputs, resolution, options).run();
}

}  // namespace elfaudit
