#include "left_out/left_out.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "resolve/link_names.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/object_tables.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

// --- What the static constructors of an object reach.
//
//  1. It begins with what .init_array and .preinit_array name. From a function or variable its relocations lead
//     on. A relocation against a section leads to the symbol that lies there.
//  2. An assembler leaves no relocation where a function calls a static one of its own section. So of a section in which
//     a function is reached all static functions are: a compiler keeps none that nothing uses.
//  3. Who reaches a class's vtable reaches its functions.
// Format: gABI 4 "Relocation", "Special Sections"; x86-64 psABI 4.4 (the addend of a PC-relative relocation counts from
// the field, the instruction pointer from behind it).

/// Where a relocation is.
struct RelocatedPlace {
  std::uint32_t section = 0;  ///< header index
  std::uint64_t offset = 0;
};

struct ReachedName {
  std::string_view name;
  RelocatedPlace from;      ///< the use that leads there; not in an inline function, but where that is used
  bool is_defined = false;  ///< here too: an inline function, or a variable that several objects define
};

/// "_ZTVN2ns3FooE" -> "2ns3Foo", with which the names of the class's functions begin behind "_ZN" or "_ZNK".
std::string functions_of_class(std::string_view vtable) {
  std::string_view name = vtable.substr(4);
  if (name.starts_with('N') && name.ends_with('E')) name = name.substr(1, name.size() - 2);
  return std::string(name);
}

/// Of the C and C++ libraries, or made by the compiler: every constructor uses some.
bool is_of_language(std::string_view name) {
  return starts_with_any(name, {"_ZNSt", "_ZNKSt", "_ZSt", "_ZTI", "_ZTS", "_ZTV", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
                                "_ZGVNSt", "_Zn", "_Zd", "__"});
}

/// A constructor or destructor (Itanium C++ ABI 5.1.4.2).
bool is_structor(std::string_view name) {
  for (const std::string_view end : {"C1E", "C2E", "D0E", "D1E", "D2E"})
    if (name.starts_with("_ZN") && name.find(end) != std::string_view::npos) return true;
  return false;
}

/// One of an archive, in its mapped bytes.
class Member {
 public:
  explicit Member(std::span<const std::byte> bytes) : object_(bytes) {}

  bool has_constructors() const {
    for (std::uint32_t i = 1; i < object_.count(); ++i)
      if (is_of_constructors(section(i))) return true;
    return false;
  }

  /// Is there a loaded section of that name? `__start_NAME` asks for it.
  bool has_section(std::string_view name) const {
    for (std::uint32_t i = 1; i < object_.count(); ++i)
      if (section(i).has(SHF_ALLOC) && section(i).size() != 0 && section_name(i) == name) return true;
    return false;
  }

  std::string_view section_name(std::uint32_t index) const { return object_.section_name(index); }

  bool defines_strongly(std::string_view name) {
    read_symbols();
    for (std::uint32_t i = 1; i < symbols_; ++i)
      if (is_strong(i) && symbol_name(i) == name) return true;
    return false;
  }

  std::vector<std::string_view> strong_definitions() {
    read_symbols();
    std::vector<std::string_view> names;
    for (std::uint32_t i = 1; i < symbols_; ++i)
      if (is_strong(i)) names.push_back(symbol_name(i));
    return names;
  }

  /// Follows rules 1 to 3, and returns the names of other objects on the way, the nearest first.
  const std::vector<ReachedName>& reached_names() {
    read_symbols();
    sort_tables();
    for (std::uint32_t i = 1; i < object_.count(); ++i)
      if (is_of_constructors(section(i))) follow_all(i, 0, section(i).size(), {});
    while (next_ < reached_.size() && steps_ != 0) {
      const auto [index, from] = reached_[next_++];
      if (begins(index, "_ZTV")) reach_functions(functions_of_class(symbol_name(index)), from);
      const std::uint32_t in = section_of(index);
      if (in == 0) continue;
      if (symbol(index).type() == STT_FUNC) reach_static_functions(in, from);
      follow_all(in, symbol(index).value(), end_of(index), from);
    }
    return names_;
  }

  /// Is there a definition that has another purpose than what the constructors do? Also where that is not known.
  bool has_unreached_definition() {
    if (steps_ == 0) return true;
    std::vector<std::uint32_t> constructors;
    for (std::uint32_t i = 1; i < symbols_; ++i) {
      if (!is_strong(i) || is_reached_[i]) continue;
      if (!is_structor(symbol_name(i))) return true;
      constructors.push_back(i);
    }
    return !std::ranges::all_of(constructors, [&](std::uint32_t i) { return is_inlined(i); });
  }

 private:
  RawSection section(std::uint32_t index) const { return object_.section(index); }

  static bool is_of_constructors(RawSection section) {
    return section.type() == SHT_INIT_ARRAY || section.type() == SHT_PREINIT_ARRAY;
  }

  bool is_grouped(std::uint32_t section_index) const { return section(section_index).has(SHF_GROUP); }

  void read_symbols() {
    for (std::uint32_t i = 1; i < object_.count() && symbols_ == 0; ++i) {
      if (section(i).type() != SHT_SYMTAB || section(i).link() >= object_.count()) continue;
      symbol_table_ = object_.content(section(i));
      symbols_ = static_cast<std::uint32_t>(std::min(symbol_table_.size() / sizeof(Elf64_Sym), kMostSymbols));
      strings_index_ = section(i).link();
    }
    is_reached_.resize(symbols_);
  }

  RawSymbol symbol(std::uint32_t index) const {
    return {symbol_table_.data() + std::size_t{index} * sizeof(Elf64_Sym)};
  }
  std::string_view symbol_name(std::uint32_t index) const {
    return object_.text(section(strings_index_), symbol(index).name());
  }
  /// 0: in none, or elsewhere.
  std::uint32_t section_of(std::uint32_t index) const {
    const std::uint32_t in = symbol(index).section();
    return in < SHN_LORESERVE && in < object_.count() ? in : 0;
  }
  std::uint64_t end_of(std::uint32_t index) const {
    return symbol(index).value() + std::max<std::uint64_t>(symbol(index).size(), 1);
  }
  bool is_defined(std::uint32_t index) const { return symbol(index).section() != SHN_UNDEF; }
  bool is_strong(std::uint32_t index) const {
    const std::uint32_t in = section_of(index);
    return symbol(index).binding() == STB_GLOBAL && is_defined(index) && (in == 0 || !is_grouped(in));
  }

  void sort_tables() {
    for (std::uint32_t i = 1; i < object_.count(); ++i)
      if (section(i).type() == SHT_RELA) tables_.emplace_back(section(i).info(), i);
    std::ranges::sort(tables_);
    first_in_.assign(std::size_t{object_.count()} + 1, 0);
    for (std::uint32_t i = 0; i < symbols_; ++i) ++first_in_[section_of(i) + 1];
    std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
    in_section_.resize(symbols_);
    std::vector<std::uint32_t> next(first_in_);
    for (std::uint32_t i = 0; i < symbols_; ++i) in_section_[next[section_of(i)]++] = i;
  }

  /// False once more work was done than an object is worth.
  bool step() { return steps_ != 0 && --steps_ != 0; }

  /// With its aliases.
  void reach(std::uint32_t index, RelocatedPlace from) {
    if (is_reached_[index]) return;
    is_reached_[index] = true;
    reached_.emplace_back(index, from);
    if (const std::uint32_t in = section_of(index); in != 0) reach_at(in, symbol(index).value(), from);
  }

  /// The relocations of a part of a section lead on.
  void follow_all(std::uint32_t in, std::uint64_t begin, std::uint64_t end, RelocatedPlace from) {
    const bool is_inline = is_grouped(in) && from.section != 0;
    for (auto table = std::ranges::lower_bound(tables_, std::pair(in, 0U));
         table != tables_.end() && table->first == in; ++table) {
      const std::span<const std::byte> entries = object_.content(section(table->second));
      for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= entries.size() && step(); at += sizeof(Elf64_Rela)) {
        const RawRelocation entry{entries.data() + at};
        if (entry.offset() >= begin && entry.offset() < end)
          follow(entry, is_inline ? from : RelocatedPlace{in, entry.offset()});
      }
    }
  }

  void follow(RawRelocation entry, RelocatedPlace from) {
    if (entry.symbol() == 0 || entry.symbol() >= symbols_) return;
    const auto index = static_cast<std::uint32_t>(entry.symbol());
    if (symbol(index).type() == STT_SECTION) {
      const bool relative =
          object_.machine() == EM_X86_64 && (entry.type() == R_X86_64_PC32 || entry.type() == R_X86_64_PLT32);
      return reach_at(section_of(index), static_cast<std::uint64_t>(entry.addend()) + (relative ? 4 : 0), from);
    }
    if (symbol(index).binding() != STB_LOCAL && !is_strong(index))
      names_.push_back({symbol_name(index), from, is_defined(index)});
    if (is_defined(index)) reach(index, from);
  }

  std::span<const std::uint32_t> symbols_in(std::uint32_t in) const {
    return std::span(in_section_).subspan(first_in_[in], first_in_[in + 1] - first_in_[in]);
  }

  void reach_at(std::uint32_t in, std::uint64_t offset, RelocatedPlace from) {
    for (const std::uint32_t i : symbols_in(in))
      if (step() && symbol(i).type() != STT_SECTION && offset >= symbol(i).value() && offset < end_of(i))
        reach(i, from);
  }

  /// Rule 2.
  void reach_static_functions(std::uint32_t in, RelocatedPlace from) {
    if (!visited_.insert(in).second) return;
    for (const std::uint32_t i : symbols_in(in))
      if (symbol(i).binding() == STB_LOCAL && symbol(i).type() == STT_FUNC) reach(i, from);
  }

  /// Rule 3.
  void reach_functions(const std::string& name, RelocatedPlace from) {
    const std::string function = "_ZN" + name;
    const std::string constant = "_ZNK" + name;
    for (std::uint32_t i = 1; i < symbols_ && step(); ++i)
      if (is_defined(i) && (begins(i, function) || begins(i, constant))) reach(i, from);
  }

  bool begins(std::uint32_t index, std::string_view start) const {
    const std::span<const std::byte> strings = object_.content(section(strings_index_));
    const std::uint64_t at = symbol(index).name();
    return at < strings.size() && start.size() <= strings.size() - at &&
           std::memcmp(strings.data() + at, start.data(), start.size()) == 0;
  }

  /// A compiler inlines a constructor into what initialises the object, and keeps it for others: it uses the same names.
  bool is_inlined(std::uint32_t index) {
    const std::uint32_t in = section_of(index);
    if (in == 0) return false;
    const auto is_among_names = [&](RawRelocation entry) {
      return entry.offset() >= symbol(index).value() && entry.offset() < end_of(index) && entry.symbol() < symbols_ &&
             std::ranges::any_of(names_, [&](const ReachedName& one) {
               return step() && !is_of_language(one.name) &&
                      one.name == symbol_name(static_cast<std::uint32_t>(entry.symbol()));
             });
    };
    for (const auto& [changed, table] : tables_) {
      if (changed != in) continue;
      const std::span<const std::byte> entries = object_.content(section(table));
      for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= entries.size() && step(); at += sizeof(Elf64_Rela))
        if (is_among_names({entries.data() + at})) return true;
    }
    return false;
  }

  static constexpr std::size_t kMostSymbols = 1 << 20;
  RawObject object_;
  std::span<const std::byte> symbol_table_;
  std::uint32_t symbols_ = 0;
  std::uint32_t strings_index_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> tables_;  ///< relocations by the section that they change
  std::vector<std::uint32_t> first_in_;    ///< by section: its first one in in_section_, and one more
  std::vector<std::uint32_t> in_section_;  ///< symbols, by section
  std::set<std::uint32_t> visited_;        ///< sections, by rule 2
  std::vector<bool> is_reached_;           ///< by symbol
  std::vector<std::pair<std::uint32_t, RelocatedPlace>> reached_;  ///< in that order
  std::size_t next_ = 0;                                           ///< in reached_: from where to go on
  std::uint32_t steps_ = 1 << 20;
  std::vector<ReachedName> names_;
};

// --- Who of the link is asked for what.

/// A library of the C or C++ implementation. Constructors call these, and register nothing there.
bool is_runtime(const ObjectFacts& object) {
  const std::string_view file = object.soname.empty() ? base_name(object.origin.path) : object.soname;
  if (file.ends_with(".o")) return is_of_system(object.origin.path);
  const std::string_view name = file.substr(0, file.find_first_of(".-_"));
  return is_among(
      name, {"ld",        "libc",      "libm",     "libmvec",   "libdl",   "librt",       "libpthread", "libresolv",
             "libstdc++", "libsupc++", "libgcc",   "libatomic", "libgomp", "libquadmath", "libc++",     "libc++abi",
             "libunwind", "libasan",   "libubsan", "libtsan",   "liblsan", "libclang"});
}

/// Generated code of protobuf registers each message, and a program that doesn't name a message rarely asks for it.
bool is_generated(std::string_view name) { return name.find("_2eproto") != std::string_view::npos; }

/// The bytes of members, through a mapping of the archive that was asked for last.
class ArchiveBytes {
 public:
  /// Empty where they can't be read: the linker doesn't read them either. Good until the next call.
  std::span<const std::byte> of(const Origin& member) {
    try {
      if (!mapping_ || path_ != member.file()) mapping_.emplace(member.file());
    } catch (const InputError&) {
      mapping_.reset();
      return {};
    }
    path_ = member.file();
    const std::span<const std::byte> bytes = mapping_->bytes();
    if (member.offset > bytes.size() || member.size > bytes.size() - member.offset) return {};
    return bytes.subspan(member.offset, member.size == 0 ? bytes.size() - member.offset : member.size);
  }

 private:
  std::string path_;
  std::optional<MappedFile> mapping_;
};

class LeftOutCheck {
 public:
  LeftOutCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution, const LinkNames& names)
      : inputs_(inputs), resolution_(resolution), names_(names) {}

  LeftOut run() {
    list_members();
    if (members_.empty()) return {};
    look_through_link();
    for (const Unresolved& name : resolution_.unresolved)  // has a finding of its own
      if (name.symbol.starts_with("__start_")) started_.erase(std::string_view(name.symbol).substr(8));
    for (const ObjectId id : members_that_may_register())
      if (std::optional<LeftOutRegistrar> found = registrar(id)) found_.registrars.push_back(*std::move(found));
    find_unanswered();
    return std::move(found_);
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return object_of(inputs_, id); }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }

  /// Members of archives of the user that the link does not take, each file's once.
  void list_members() {
    std::map<std::string_view, std::uint32_t> archives;  // the first input of each
    std::set<ObjectId> taken;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      const InputFacts& input = inputs_[i];
      if (input.kind != InputKind::Archive || is_of_system(input.path)) continue;
      const std::uint32_t archive = archives.try_emplace(input.path, i).first->second;
      for (std::uint32_t o = 0; o < input.objects.size(); ++o)
        if (resolution_.linked[i][o]) taken.insert({archive, o});
    }
    for (const auto& [path, input] : archives)
      for (std::uint32_t o = 0; o < inputs_[input].objects.size(); ++o) {
        const ObjectFacts& member = inputs_[input].objects[o];
        const bool is_code = member.kind == ObjectKind::Relocatable && !member.nested && !member.of_archive &&
                             !member.origin.bytecode && member.available;
        if (is_code && !taken.contains({input, o})) members_.push_back({input, o});
      }
    std::ranges::sort(members_);
  }

  /// As far as they tell by themselves. Most members of an archive are never looked at again.
  std::vector<ObjectId> members_that_may_register() const {
    std::vector<std::span<const ObjectId>> archives;  // the members of each
    for (auto begin = members_.begin(); begin != members_.end();) {
      const auto end = std::find_if(begin, members_.end(), [&](ObjectId id) { return id.input != begin->input; });
      archives.emplace_back(begin, end);
      begin = end;
    }
    std::vector<std::vector<ObjectId>> found(archives.size());
    for_each_parallel(archives.size(), 1, [&](std::size_t i) {
      ArchiveBytes bytes;
      for (const ObjectId id : archives[i])
        if (may_register(Member(bytes.of(object(id).origin)))) found[i].push_back(id);
    });
    std::vector<ObjectId> all;
    for (const std::vector<ObjectId>& of_archive : found) all.insert(all.end(), of_archive.begin(), of_archive.end());
    return all;
  }

  bool may_register(Member member) const {
    if (std::ranges::any_of(started_, [&](const auto& asked) { return member.has_section(asked.first); })) return true;
    if (!member.has_constructors()) return false;
    member.reached_names();
    return !member.has_unreached_definition();
  }

  /// What the link defines and asks for, and where a weak definition stands before a strong one.
  void look_through_link() {
    defined_.resize(names_.size());
    for (const ObjectId id : linked_objects(inputs_, resolution_)) {
      const ObjectFacts& facts = object(id);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const SymbolId one{id, s};
        if (facts.symbols[s].defined())
          note_definition(one, facts);
        else if (facts.kind == ObjectKind::Relocatable)
          note_reference(one, facts);
      }
    }
  }

  void note_definition(SymbolId one, const ObjectFacts& facts) {
    const bool kept = resolution_.resolution_of(one) == SymbolResolution::Kept;
    const bool of_library = facts.kind != ObjectKind::Relocatable;
    if (kept || of_library) defined_[names_.of(one)] = one;
    const Symbol& symbol = facts.symbols[one.symbol];
    const bool grouped = symbol.section != kNone && facts.sections[symbol.section].group != kNone;
    if (!kept || of_library || !symbol.weak() || grouped || is_of_system(facts.origin.path)) return;
    if (const ObjectId member = strong_in_archive(one); member.valid()) found_.beaten.push_back({one, member});
  }

  void note_reference(SymbolId one, const ObjectFacts& facts) {
    const std::string_view name = facts.name(facts.symbols[one.symbol]);
    if (name.starts_with("__start_")) started_.try_emplace(name.substr(8), one);
    if (facts.symbols[one.symbol].weak() && names_.offered(names_.of(one)) && !is_of_system(facts.origin.path))
      weakly_[name].push_back(one);
  }

  void find_unanswered() {
    for (auto& [name, references] : weakly_) {
      if (defined_[names_.of(references.front())].valid()) continue;
      const ObjectId member = strong_in_archive(references.front());
      if (!member.valid()) continue;
      UnansweredReference& found = found_.unanswered.emplace_back();
      found.member = member;
      for (const SymbolId reference : references) found.references.push_back(first_use(reference));
    }
  }

  Reference first_use(SymbolId id) const {
    Reference reference;
    reference.id = id;
    try {
      const std::uint32_t index = symbol(id).index;
      const std::vector<Use> uses = find_uses(object(id.in).origin, std::span(&index, 1));
      if (!uses.empty()) {
        reference.section = uses.front().section;
        reference.offset = uses.front().offset;
      }
    } catch (const InputError&) {
      // Its symbols were read, which is enough.
    }
    return reference;
  }

  std::optional<LeftOutRegistrar> registrar(ObjectId id) {
    Member member(bytes_.of(object(id).origin));
    const std::vector<std::string_view> own = member.strong_definitions();
    // Another object of the link stands for it.
    if (std::ranges::any_of(own, [&](std::string_view name) { return find(name).valid() || is_generated(name); }))
      return std::nullopt;
    LeftOutRegistrar made;
    made.member = id;
    if (!own.empty()) made.anchor = own.front();
    for (const auto& [section, reference] : started_)
      if (member.has_section(section)) {
        made.section = section;
        made.symbol = "__start_" + std::string(section);
        made.registry = reference;
        return made;
      }
    for (const ReachedName& one : member.reached_names()) {
      const SymbolId registry = is_of_language(one.name) ? SymbolId() : find(one.name);
      if (!registry.valid() || is_runtime(object(registry.in))) continue;
      if (one.is_defined && symbol(registry).type != SymbolType::Object) continue;  // an inline function
      made.section = member.section_name(one.from.section);
      made.offset = one.from.offset;
      made.symbol = one.name;
      made.registry = registry;
      return made;
    }
    return std::nullopt;
  }

  SymbolId find(std::string_view name) const {
    const std::uint32_t number = names_.find(name);
    return number < defined_.size() ? defined_[number] : SymbolId();
  }

  /// The first member that the link does not take and that defines the name of `user` strongly.
  ObjectId strong_in_archive(SymbolId user) {
    ObjectId found;
    const std::string_view name = object(user.in).name(symbol(user));
    names_.each_offer(names_.of(user), [&](std::uint32_t input, std::uint32_t entry) {
      const ObjectId id{input, inputs_[input].index[entry].object};
      if (id.object == kNone || !std::ranges::binary_search(members_, id)) return true;
      if (Member(bytes_.of(object(id).origin)).defines_strongly(name)) found = id;
      return !found.valid();
    });
    return found;
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const LinkNames& names_;
  ArchiveBytes bytes_;
  std::vector<ObjectId> members_;                             ///< ascending
  std::vector<SymbolId> defined_;                             ///< by name
  std::map<std::string_view, SymbolId> started_;              ///< NAME of __start_NAME, and who asks
  std::map<std::string_view, std::vector<SymbolId>> weakly_;  ///< weak references to what an archive offers
  LeftOut found_;
};

}  // namespace

LeftOut find_left_out(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution,
                      const LinkNames& names) {
  // What is not known of the line might take any member.
  if (!job.scope.command || job.output == OutputKind::Relocatable || resolution.judgement.duplicates != Judged::Yes)
    return {};
  return LeftOutCheck(inputs, resolution, names).run();
}

}  // namespace elfaudit
