// What files hold: listings, for people and for programs.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <cstddef>
#include "elfaudit/closure.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "scan/device/device_code.hpp"
#include "ship/systems.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
// --- The words of listings, and what both of their forms count.

namespace {

std::string_view to_word(MemorySpace space) {
  using enum MemorySpace;
  return word_of(space, {{Global, "global"}, {Constant, "constant"}, {Shared, "shared"}, {Managed, "managed"}});
}

std::string_view to_word(DeviceSymbolKind kind) {
  using enum DeviceSymbolKind;
  return word_of(
      kind,
      {{Variable, "variable"}, {Function, "function"}, {Kernel, "kernel"}, {Texture, "texture"}, {Other, "other"}});
}

std::string_view to_word(Binding binding) {
  using enum Binding;
  return word_of(binding, {{Global, "global"}, {Weak, "weak"}, {Unique, "unique"}});
}

std::string_view to_word(SymbolType type) {
  using enum SymbolType;
  return word_of(type, {{NoType, "notype"},
                        {Object, "object"},
                        {Function, "function"},
                        {Tls, "tls"},
                        {IndirectFunction, "ifunc"},
                        {Other, "other"}});
}

std::string_view to_word(Placement placement) {
  using enum Placement;
  return word_of(placement,
                 {{Undefined, "undefined"}, {InSection, "section"}, {Absolute, "absolute"}, {Common, "common"}});
}

std::string_view to_word(MemberKind kind) {
  using enum MemberKind;
  return word_of(kind, {{Object, "object"},
                        {SharedObject, "shared-object"},
                        {Executable, "executable"},
                        {Archive, "archive"},
                        {Other, "other"},
                        {Unreadable, "unreadable"}});
}

/// "__nv_relfatbin"; "file" for .cubin and .fatbin files
std::string_view section_word(DeviceContainer from) {
  using enum DeviceContainer;
  return word_of(from,
                 {{RelocatableFatbin, "__nv_relfatbin"},
                  {LinkedFatbin, ".nv_fatbin"},
                  {OffloadBinary, ".llvm.offloading"},
                  {BundleSection, "__CLANG_OFFLOAD_BUNDLE__"},
                  {HipFatbin, ".hip_fatbin"}},
                 "file");
}

/// The containers that the object's images are in.
std::size_t count_containers(const DeviceFacts& device) {
  std::set<std::pair<DeviceContainer, std::uint32_t>> containers;
  for (const DeviceImage& image : device.images) containers.emplace(image.found_in, image.container);
  return containers.size();
}

/// Null when the image was not decoded.
const DeviceSymbols* decoded(const DeviceFacts& device, std::size_t image) {
  const auto found = device.decoded.find(static_cast<std::uint32_t>(image));
  return found == device.decoded.end() ? nullptr : &found->second;
}

/// One row of `list symbols --device`.
struct ListedDeviceSymbol {
  const DeviceSymbol* symbol;
  bool is_private;  ///< in DeviceSymbols::private_variables
};

/// The symbols of an image and its private variables, each once, by index.
std::vector<ListedDeviceSymbol> all_symbols(const DeviceSymbols& image) {
  std::vector<ListedDeviceSymbol> all;
  const auto key = [](const DeviceSymbol& s) { return std::pair(s.index, s.name.offset); };
  std::set<std::pair<std::uint32_t, std::uint32_t>> of_their_own;
  for (const DeviceSymbol& symbol : image.private_variables) of_their_own.insert(key(symbol));
  for (const DeviceSymbol& symbol : image.symbols) all.push_back({&symbol, of_their_own.erase(key(symbol)) != 0});
  for (const DeviceSymbol& symbol : image.private_variables)
    if (of_their_own.contains(key(symbol))) all.push_back({&symbol, true});
  std::ranges::stable_sort(all, {}, [](const ListedDeviceSymbol& listed) { return listed.symbol->index; });
  return all;
}

/// Those that stay on the GPU while the image is loaded: the defined ones.
std::vector<ListedDeviceSymbol> resident_symbols(const DeviceSymbols& image) {
  std::vector<ListedDeviceSymbol> symbols = all_symbols(image);
  std::erase_if(symbols, [](const ListedDeviceSymbol& listed) { return !listed.symbol->defined; });
  return symbols;
}

/// What the dynamic section and the notes of an object name: `visit(kind, name, note)`; without a note it is null.
template <class Visit>
void each_need(const ObjectFacts& object, const Visit& visit) {
  const DlopenNote* const none = nullptr;
  if (!object.soname.empty()) visit("soname", object.soname, none);
  for (const std::string& name : object.needed) visit("needed", name, none);
  for (const std::string& folder : object.runpath) visit(object.runpath_is_rpath ? "rpath" : "runpath", folder, none);
  for (const DlopenNote& note : object.dlopen_notes) visit("dlopen", note.sonames.front(), &note);
}

// --- JSON documents of very many small rows, written straight into one string. A tree of them first would take ten
// times the memory and the time.

/// Appends `text` as a JSON string; what is not UTF-8 becomes U+FFFD.
void append_json(std::string& out, std::string_view text);

/// One object on one line, keys in the order they are given.
class JsonRow {
 public:
  /// `kind`: the value of "row", which comes first; empty: there is no such key.
  JsonRow(std::string& out, std::string_view kind) : out_(out) {
    out_ += '{';
    if (!kind.empty()) add("row", kind);
  }
  ~JsonRow() { out_ += '}'; }
  JsonRow(const JsonRow&) = delete;
  JsonRow& operator=(const JsonRow&) = delete;

  JsonRow& add(std::string_view key, std::string_view text) {
    append_json(begin(key), text);
    return *this;
  }
  JsonRow& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  /// null when empty
  JsonRow& add_or_null(std::string_view key, std::string_view text) {
    if (!text.empty()) return add(key, text);
    begin(key) += "null";
    return *this;
  }
  template <std::integral Number>
  JsonRow& add(std::string_view key, Number number) {
    if constexpr (std::same_as<Number, bool>)
      begin(key) += number ? "true" : "false";
    else
      begin(key) += std::to_string(number);
    return *this;
  }
  /// The value is what the caller appends to the result.
  std::string& begin(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    append_json(out_, key);
    return out_ += ": ";
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_json(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, plain) && text.find("##") == std::string_view::npos) {
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  out += json_text(nlohmann::json(text), -1);
}

// --- Listings for programs, one row a line: a document, schema/elfaudit-list-1.schema.json, or lines that each stand
// for themselves, schema/elfaudit-list-rows-1.schema.json.

/// A long text, handed on in pieces while it is made.
class TextPieces {
 public:
  explicit TextPieces(const std::function<void(std::string_view)>& take) : take_(take) {}
  ~TextPieces() = default;
  TextPieces(const TextPieces&) = delete;
  TextPieces& operator=(const TextPieces&) = delete;

  /// Where to append. What was appended before may be gone.
  std::string& next() {
    if (text_.size() >= kPiece) finish();
    return text_;
  }
  void finish() {
    take_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::function<void(std::string_view)>& take_;
  std::string text_;
};

enum class RowForm : std::uint8_t { Document, Lines };

/// The rows of one kind: in a document between brackets, after `key`; as lines each says `kind`.
class Rows {
 public:
  Rows(TextPieces& out, RowForm form, std::string_view key, std::string_view kind)
      : out_(out), form_(form), kind_(form == RowForm::Lines ? kind : std::string_view()) {
    if (form_ == RowForm::Lines) return;
    append_json(out_.next() += ",\n  ", key);
    out_.next() += ": [";
  }
  ~Rows() {
    if (form_ == RowForm::Document)
      out_.next() += first_ ? "]" : "\n  ]";
    else if (!first_)
      out_.next() += '\n';
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  JsonRow next() {
    std::string& out = out_.next();
    if (form_ == RowForm::Document)
      out += first_ ? "\n    " : ",\n    ";
    else if (!first_)
      out += '\n';
    first_ = false;
    return {out, kind_};
  }

 private:
  TextPieces& out_;
  const RowForm form_;
  const std::string_view kind_;
  bool first_ = true;
};

void add_origin(JsonRow& row, const Origin& origin) {
  row.add("input", origin.display()).add("path", origin.path).add_or_null("member", origin.member);
}

template <class Visit>
void each_object(const Listing& listing, const Visit& visit) {
  for (const InputFacts& input : listing.inputs)
    for (const ObjectFacts& object : input.objects) visit(object);
}

// --- images

void add_resident(JsonRow& row, const DeviceSymbols& symbols) {
  std::string& out = row.begin("symbols");
  out += '[';
  bool first = true;
  for (const ListedDeviceSymbol& listed : resident_symbols(symbols)) {
    if (!first) out += ", ";
    first = false;
    append_json(out, symbols.name(*listed.symbol));
  }
  out += ']';
}

void add_details(JsonRow& row, const DeviceSymbols* symbols) {
  row.add_or_null("toolkit", symbols == nullptr ? std::string_view() : symbols->toolkit);
  if (symbols != nullptr)
    add_resident(row, *symbols);
  else
    row.begin("symbols") += "null";
}

void add_image(JsonRow&& row, const ObjectFacts& object, std::size_t i, bool details) {
  const DeviceImage& image = object.device.images[i];
  add_origin(row, object.origin);
  row.add("section", section_word(image.found_in)).add("container", image.container).add("kind", to_word(image.kind));
  row.add("arch", image.target()).add("compression", to_word(image.compression));
  row.add("stored_size", image.stored_size).add("real_size", image.real_size).add("debug", image.debug);
  row.add_or_null("identifier", image.identifier);
  if (details) add_details(row, decoded(object.device, i));
}

void add_images(TextPieces& out, RowForm form, const Listing& listing) {
  {
    Rows rows(out, form, "images", "image");
    each_object(listing, [&](const ObjectFacts& object) {
      for (std::size_t i = 0; i < object.device.images.size(); ++i)
        add_image(rows.next(), object, i, listing.options.details);
    });
  }
  Rows rows(out, form, "foreign", "foreign");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const std::string& foreign : object.device.foreign) {
      JsonRow row = rows.next();
      add_origin(row, object.origin);
      row.add("what", foreign);
    }
  });
}

// --- symbols

void add_symbol(JsonRow&& row, const ObjectFacts& object, const Symbol& symbol) {
  add_origin(row, object.origin);
  row.add("name", object.name(symbol)).add("demangled", demangle(object.name(symbol)));
  row.add_or_null("version", object.text(symbol.version)).add("binding", to_word(symbol.binding));
  row.add("kind", to_word(symbol.type)).add("size", symbol.size).add("defined", symbol.defined());
  row.add("placement", to_word(symbol.placement)).add_or_null("section", object.section_name(symbol));
}

void add_symbols(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "symbols", "symbol");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols) add_symbol(rows.next(), object, symbol);
  });
}

void add_device_symbol(JsonRow&& row, const Origin& origin, const DeviceImage& image, const DeviceSymbols& symbols,
                       const ListedDeviceSymbol& listed) {
  const DeviceSymbol& symbol = *listed.symbol;
  add_origin(row, origin);
  row.add("arch", image.target()).add("image", to_word(image.kind));
  row.add("name", symbols.name(symbol)).add("demangled", demangle(symbols.name(symbol)));
  row.add("binding", to_word(symbol.binding)).add("kind", to_word(symbol.kind));
  row.add_or_null("space", to_word(symbol.space)).add("size", symbol.size).add("defined", symbol.defined);
  row.add("common", symbol.common).add_or_null("section", symbols.text(symbol.section));
  row.add_or_null("prototype", symbols.text(symbol.prototype));
  row.add("private", listed.is_private).add("maybe_static", symbol.maybe_static);
}

void add_device_symbols(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "symbols", "device-symbol");
  each_object(listing, [&](const ObjectFacts& object) {
    for (const auto& [i, symbols] : object.device.decoded)
      for (const ListedDeviceSymbol& listed : all_symbols(symbols))
        add_device_symbol(rows.next(), object.origin, object.device.images[i], symbols, listed);
  });
}

// --- members

void add_members(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "members", "member");
  for (const ListedMember& member : listing.members) {
    JsonRow row = rows.next();
    add_origin(row, member.origin);
    row.add("kind", to_word(member.kind)).add("offset", member.origin.offset).add("size", member.origin.size);
    row.add("definitions", member.definitions).add("references", member.references);
  }
}

// --- needs

void add_needs(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "needs", "need");
  each_object(listing, [&](const ObjectFacts& object) {
    each_need(object, [&](const char* kind, const std::string& name, const DlopenNote* note) {
      JsonRow row = rows.next();
      add_origin(row, object.origin);
      row.add("kind", kind).add("name", name);
      if (note == nullptr) return;
      row.begin("alternatives") += json_text(nlohmann::json(note->sonames), -1);
      row.add_or_null("feature", note->feature).add("priority", note->priority);
      row.add_or_null("description", note->description);
    });
  });
}

// --- systems

void add_systems(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "systems", "system");
  each_object(listing, [&](const ObjectFacts& object) {
    if (object.kind == ObjectKind::Relocatable) return;
    const RuntimeReleases needed = needed_releases(object);
    JsonRow row = rows.next();
    add_origin(row, object.origin);
    const Libc libc = libc_of(object);
    row.add_or_null("libc", libc == Libc::Unknown ? std::string_view() : name_of(libc));
    constexpr std::string_view kKeys[kRuntimes] = {"glibc", "glibcxx", "cxxabi", "libgcc"};
    for (std::size_t i = 0; i < kRuntimes; ++i)
      row.add_or_null(kKeys[i], needed[i] ? needed[i]->text() : std::string());
    row.add_or_null("manylinux", libc == Libc::Glibc ? oldest_manylinux(object) : std::string());
    std::string names;
    for (const std::string& system : oldest_systems(needed)) {
      if (!names.empty()) names += ", ";
      append_json(names, system);
    }
    row.begin("oldest") += "[" + names + "]";
  });
}

void add_errors(TextPieces& out, RowForm form, const Listing& listing) {
  Rows rows(out, form, "errors", "error");
  for (const InputError& error : listing.errors) {
    JsonRow row = rows.next();
    add_origin(row, {error.path, error.member, {}});
    row.add("offset", error.offset).add("reason", error.what());
  }
}

void add_rows(TextPieces& out, RowForm form, const Listing& listing) {
  if (listing.options.what == ListWhat::Images)
    add_images(out, form, listing);
  else if (listing.options.what == ListWhat::Members)
    add_members(out, form, listing);
  else if (listing.options.what == ListWhat::Needs)
    add_needs(out, form, listing);
  else if (listing.options.what == ListWhat::Systems)
    add_systems(out, form, listing);
  else if (listing.options.device_symbols)
    add_device_symbols(out, form, listing);
  else
    add_symbols(out, form, listing);
  add_errors(out, form, listing);
}

}  // namespace

void json_listing(const Listing& listing, const TakeText& take) {
  TextPieces out(take);
  append_json(out.next() += "{\n  \"schema\": \"elfaudit/1\",\n  \"version\": ", ELFAUDIT_VERSION);
  out.next() += listing.errors.empty() ? ",\n  \"complete\": true" : ",\n  \"complete\": false";
  add_rows(out, RowForm::Document, listing);
  out.next() += "\n}\n";
  out.finish();
}

std::string json_listing(const Listing& listing) {
  std::string text;
  json_listing(listing, [&](std::string_view piece) { text += piece; });
  return text;
}

void jsonl_listing(const Listing& listing, const TakeText& take) {
  TextPieces out(take);
  add_rows(out, RowForm::Lines, listing);
  out.finish();
}

// --- Listings for people: columns, one line for each row, and one line that sums up.

namespace {

/// "80", "90a": code and PTX of one architecture share a column.
using Column = GpuArch;  ///< not virtual

struct Held {
  bool cubin = false;
  bool jit = false;
  bool ptx = false;
  bool lto = false;
  bool elf = false;
  bool bitcode = false;
};

Column column_of(const GpuArch& arch) { return {arch.number, arch.suffix, false, arch.processor}; }

struct Row {
  std::string file;
  std::map<Column, Held> held;
  std::vector<std::string> foreign;
};

void add(const DeviceImage& image, Row& row) {
  if (image.kind == ImageKind::Other) return;
  Held& held = row.held[column_of(image.arch)];
  held.cubin = held.cubin || image.kind == ImageKind::Cubin;
  held.ptx = held.ptx || image.kind == ImageKind::Ptx;
  held.lto = held.lto || image.kind == ImageKind::LtoIr;
  held.elf = held.elf || image.kind == ImageKind::Elf;
  held.bitcode = held.bitcode || image.kind == ImageKind::Bitcode;
}

/// What runs, that is: not what single parts of a linked file have.
Row row_of(const ObjectFacts& object) {
  Row row{visible(object.origin.display()), {}, for_display(object.device.foreign)};
  const GpuCode code = gpu_code_of(object, holds_functions_or_variables);
  const std::set<GpuArch> held = held_by(code);
  for (const DeviceImage& image : object.device.images)
    if (held.contains(image.arch) || !image.arch.processor.empty()) add(image, row);
  for (const GpuArch& arch : compiled_for(code)) row.held[column_of(arch)].jit = true;
  return row;
}

std::vector<Row> rows_of(const Listing& listing) {
  std::vector<Row> rows;
  each_object(listing, [&](const ObjectFacts& object) {
    if (!object.device.images.empty() || !object.device.foreign.empty()) rows.push_back(row_of(object));
  });
  return rows;
}

std::string cell(const Row& row, const Column& column) {
  const auto found = row.held.find(column);
  if (found == row.held.end()) return ".";
  const Held& held = found->second;
  if (held.jit) return "JIT";
  if (held.elf) return "ELF";
  if (held.bitcode) return "bitcode";
  std::string code = held.cubin && held.ptx ? "both" : held.cubin ? "cubin" : held.ptx ? "PTX" : "";
  if (!held.lto) return code;
  return code.empty() ? "LTO" : "LTO+" + code;
}

std::string title(const Column& column) {
  if (!column.processor.empty()) return visible(column.processor);
  return visible(std::to_string(column.number) + (column.suffix == 0 ? std::string() : std::string(1, column.suffix)));
}

struct Layout {
  std::size_t file = 4;
  std::map<Column, std::size_t> columns;  ///< -> width
};

Layout layout_of(const std::vector<Row>& rows) {
  Layout layout;
  for (const Row& row : rows) {
    layout.file = std::max(layout.file, row.file.size());
    for (const auto& [column, held] : row.held) {
      std::size_t& width = layout.columns[column];
      width = std::max({width, std::size_t{5}, title(column).size(), cell(row, column).size()});
    }
  }
  return layout;
}

template <class Text>
std::string line(const Layout& layout, const std::string& first, const Text& text) {
  std::string out = fmt::format("{:<{}}", first, layout.file);
  for (const auto& [column, width] : layout.columns) out += fmt::format("  {:<{}}", text(column), width);
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

/// A line for each file or member with device code, in the order of the listing; a column for each architecture,
/// ascending; and a line that sums up.
std::string text_table(const Listing& listing) {
  const std::vector<Row> rows = rows_of(listing);
  const Layout layout = layout_of(rows);
  std::string out;
  if (!layout.columns.empty()) out += line(layout, "", title) + "\n";
  for (const Row& row : rows) {
    out += line(layout, row.file, [&](const Column& column) { return cell(row, column); });
    for (const std::string& foreign : row.foreign) out += "  not judged: " + foreign;
    out += "\n";
  }
  std::size_t files = 0;
  each_object(listing, [&](const ObjectFacts&) { ++files; });
  const auto with_code = std::ranges::count_if(rows, [](const Row& row) { return !row.held.empty(); });
  out += fmt::format("{} of {} with device code, for {}\n", with_code, counted(files, "object"),
                     counted(layout.columns.size(), "architecture"));
  return out;
}

constexpr std::size_t kWidestInput = 60;

template <class... Values>
void print(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

/// Calls `row` with each object that `wanted` says has rows, the first column ready to print.
template <class SymbolQuery, class Row>
void each_object(const Listing& listing, const SymbolQuery& wanted, const Row& row) {
  std::size_t width = 0;
  each_object(listing, [&](const ObjectFacts& object) {
    if (wanted(object)) width = std::max(width, object.origin.display().size());
  });
  width = std::min(width, kWidestInput);
  each_object(listing, [&](const ObjectFacts& object) {
    if (wanted(object)) row(object, fmt::format("{:<{}}  ", visible(object.origin.display()), width));
  });
}

// --- images

std::string remarks(const DeviceImage& image) {
  return (image.debug ? std::string("  debug") : std::string()) +
         (image.identifier.empty() ? std::string() : "  " + visible(image.identifier));
}

void print_details(std::string& out, const DeviceSymbols* symbols) {
  if (symbols == nullptr) {
    out += "  unreadable\n";
    return;
  }
  const std::vector<ListedDeviceSymbol> resident = resident_symbols(*symbols);
  print(out, "  {}  {}\n", symbols->toolkit.empty() ? "-" : visible(symbols->toolkit),
        counted(resident.size(), "symbol"));
  for (const ListedDeviceSymbol& listed : resident)
    print(out, "  {:<8}  {:<8}  {:>10}  {}\n", to_word(listed.symbol->kind), to_word(listed.symbol->space),
          listed.symbol->size, visible(demangle(symbols->name(*listed.symbol))));
}

void print_images(std::string& out, const ObjectFacts& object, const std::string& input, bool details) {
  for (std::size_t i = 0; i < object.device.images.size(); ++i) {
    const DeviceImage& image = object.device.images[i];
    const bool numbered = section_word(image.found_in) != "file";
    print(out, "{}{:<19}  {:<6}  {:<12}  {:<4}  {:>10}  {:>10}{}", input,
          numbered ? fmt::format("{} {}", section_word(image.found_in), image.container) : "file", to_word(image.kind),
          visible(image.target()), to_word(image.compression), image.stored_size, image.real_size, remarks(image));
    if (details)
      print_details(out, decoded(object.device, i));
    else
      out += '\n';
  }
  for (const std::string& foreign : object.device.foreign) print(out, "{}not judged: {}\n", input, visible(foreign));
}

void text_images(const Listing& listing, TextPieces& out) {
  std::size_t images = 0;
  std::size_t containers = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& o) { return !o.device.images.empty() || !o.device.foreign.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    print_images(out.next(), object, input, listing.options.details);
    images += object.device.images.size();
    containers += count_containers(object.device);
    objects += object.device.images.empty() ? 0 : 1;
  });
  print(out.next(), "{} in {} of {}\n", counted(images, "image"), counted(containers, "container"),
        counted(objects, "object"));
}

// --- symbols

std::string full_name(const ObjectFacts& object, const Symbol& symbol) {
  std::string name = demangle(object.name(symbol));
  if (!symbol.version.empty()) name.append(symbol.default_version ? "@@" : "@").append(object.text(symbol.version));
  return visible(name);
}

std::string place(const ObjectFacts& object, const Symbol& symbol) {
  const std::string_view section = object.section_name(symbol);
  return section.empty() ? std::string(to_word(symbol.placement)) : visible(section);
}

void text_symbols(const Listing& listing, TextPieces& out) {
  std::size_t symbols = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.symbols.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const Symbol& symbol : object.symbols)
      print(out.next(), "{}{:<6}  {:<8}  {:>8}  {:<16}  {}\n", input, to_word(symbol.binding), to_word(symbol.type),
            symbol.size, place(object, symbol), full_name(object, symbol));
    symbols += object.symbols.size();
    ++objects;
  });
  print(out.next(), "{} of {}\n", counted(symbols, "symbol"), counted(objects, "object"));
}

std::string place(const DeviceSymbols& image, const DeviceSymbol& symbol) {
  if (!symbol.defined) return "undefined";
  if (symbol.common) return "common";
  return symbol.section.empty() ? std::string("defined") : visible(image.text(symbol.section));
}

/// Returns how many.
std::size_t print_device_symbols(TextPieces& out, const std::string& input, const DeviceImage& image,
                                 const DeviceSymbols& symbols) {
  const std::vector<ListedDeviceSymbol> all = all_symbols(symbols);
  for (const ListedDeviceSymbol& listed : all) {
    const DeviceSymbol& symbol = *listed.symbol;
    print(out.next(), "{}{:<12}  {:<5}  {:<7}  {:<8}  {:<8}  {:>8}  {:<16}  {}\n", input, visible(image.target()),
          to_word(image.kind), listed.is_private ? "private" : to_word(symbol.binding), to_word(symbol.kind),
          to_word(symbol.space), symbol.size, place(symbols, symbol), visible(demangle(symbols.name(symbol))));
  }
  return all.size();
}

void text_device_symbols(const Listing& listing, TextPieces& out) {
  std::size_t rows = 0;
  std::size_t images = 0;
  const auto wanted = [](const ObjectFacts& object) { return !object.device.decoded.empty(); };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    for (const auto& [i, symbols] : object.device.decoded)
      rows += print_device_symbols(out, input, object.device.images[i], symbols);
    images += object.device.decoded.size();
  });
  print(out.next(), "{} of {}\n", counted(rows, "symbol"), counted(images, "image"));
}

// --- members

void text_members(const Listing& listing, TextPieces& pieces) {
  std::size_t width = 0;
  for (const ListedMember& member : listing.members) width = std::max(width, member.origin.display().size());
  width = std::min(width, kWidestInput);
  std::size_t definitions = 0;
  std::size_t references = 0;
  for (const ListedMember& member : listing.members) {
    std::string& out = pieces.next();
    print(out, "{:<{}}  {:<13}  {:>10}  {:>10}", visible(member.origin.display()), width, to_word(member.kind),
          member.origin.offset, member.origin.size);
    if (member.kind <= MemberKind::Executable)
      print(out, "  {:>6} defined  {:>6} undefined", member.definitions, member.references);
    out += '\n';
    definitions += member.definitions;
    references += member.references;
  }
  print(pieces.next(), "{} in {}: {}, {}\n", counted(listing.members.size(), "member"),
        counted(listing.inputs.size(), "input"), counted(definitions, "definition"), counted(references, "reference"));
}

// --- needs

void text_needs(const Listing& listing, TextPieces& out) {
  std::size_t rows = 0;
  std::size_t objects = 0;
  const auto wanted = [](const ObjectFacts& object) {
    return !object.soname.empty() || !object.needed.empty() || !object.runpath.empty() || !object.dlopen_notes.empty();
  };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    each_need(object, [&](const char* kind, const std::string& name, const DlopenNote* note) {
      std::string text = name;
      if (note != nullptr) text = fmt::format("{}  ({})", fmt::join(note->sonames, " or "), purpose_of(*note));
      print(out.next(), "{}{:<7}  {}\n", input, kind, visible(text));
      ++rows;
    });
    ++objects;
  });
  print(out.next(), "{} of {}\n", counted(rows, "name"), counted(objects, "object"));
}

// --- systems

std::string demand_of(const RuntimeReleases& needed) {
  const std::string text = demand_text(needed);
  return text.empty() ? "no versioned symbol of glibc or libstdc++" : text;
}

void text_systems(const Listing& listing, TextPieces& out) {
  RuntimeReleases all;
  std::size_t files = 0;
  const auto wanted = [](const ObjectFacts& object) { return object.kind != ObjectKind::Relocatable; };
  each_object(listing, wanted, [&](const ObjectFacts& object, const std::string& input) {
    const RuntimeReleases needed = needed_releases(object);
    const std::string tag = libc_of(object) == Libc::Glibc ? oldest_manylinux(object) : std::string();
    const bool musl = libc_of(object) == Libc::Musl;
    print(out.next(), "{}{}{}\n", input, musl ? "musl" : demand_of(needed), tag.empty() ? "" : ", " + tag);
    for (std::size_t i = 0; i < kRuntimes; ++i) all[i] = std::max(all[i], needed[i]);
    ++files;
  });
  print(out.next(), "{}: {}\n", counted(files, "file"), demand_of(all));
}

void print_rows(const Listing& listing, TextPieces& out) {
  switch (listing.options.what) {
    case ListWhat::Images:
      if (!listing.options.table) return text_images(listing, out);
      out.next() += text_table(listing);
      return;
    case ListWhat::Symbols:
      return listing.options.device_symbols ? text_device_symbols(listing, out) : text_symbols(listing, out);
    case ListWhat::Members:
      return text_members(listing, out);
    case ListWhat::Needs:
      return text_needs(listing, out);
    case ListWhat::Systems:
      return text_systems(listing, out);
  }
}

}  // namespace

void text_listing(const Listing& listing, const TakeText& take) {
  TextPieces out(take);
  print_rows(listing, out);
  out.finish();
}

std::string text_listing(const Listing& listing) {
  std::string text;
  text_listing(listing, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace elfaudit
