#include "left_out/left_out.hpp"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "resolve/link_names.hpp"
#include "resolve/linked_objects.hpp"
#include "scan/scan.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

// --- What the static constructors of an object reach.
//
//  1. It begins with what .init_array, .ctors and .preinit_array name. From a function or variable its relocations lead
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

struct OwnSymbol {
  std::string_view name;
  std::uint32_t section = 0;  ///< header index; 0: defined elsewhere, or absolute or common
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  unsigned char binding = STB_LOCAL;
  unsigned char type = STT_NOTYPE;
  bool defined = false;
  bool grouped = false;  ///< its section is in a COMDAT group
  bool reached = false;
  RelocatedPlace from{};  ///< as ReachedName::from

  bool is_strong() const { return defined && binding == STB_GLOBAL && !grouped; }
  bool is_function() const { return type == STT_FUNC || type == STT_GNU_IFUNC; }
};

/// "N2ns3FooE" of a vtable's name -> "_ZN2ns3Foo", with which the names of its functions begin.
std::string functions_of_class(std::string_view vtable) {
  std::string_view name = vtable.substr(4);
  if (name.starts_with('N') && name.ends_with('E')) name = name.substr(1, name.size() - 2);
  return std::string(name);
}

/// A constructor or destructor (Itanium C++ ABI 5.1.4.2). A compiler inlines it into what initialises the object, and keeps
/// it for others, to whom it is of no use without the class's other functions.
bool is_structor(std::string_view name) {
  for (const std::string_view end : {"C1E", "C2E", "D0E", "D1E", "D2E"})
    if (name.starts_with("_ZN") && name.find(end) != std::string_view::npos) return true;
  return false;
}

class Member {
 public:
  explicit Member(const Origin& origin) : file_(ElfFile::open(origin)), sections_(file_, origin) { read_sections(); }

  bool may_register() const { return !constructors_.empty() || !named_.empty(); }

  /// Names of sections with a loaded content that __start_NAME can ask for.
  const std::vector<std::string_view>& named_sections() const { return named_; }

  std::string_view section_name(std::uint32_t section) const {
    return sections_.name(section, sections_.header(section));
  }

  /// Follows rules 1 to 3, and returns the names of other objects on the way, the nearest first.
  std::vector<ReachedName> reached_names() {
    for (const std::uint32_t section : constructors_) {
      OwnSymbol table;
      table.section = section;
      table.end = header_size(section);
      follow_all(table);
    }
    while (next_ < reached_.size() && steps_ != 0) {
      const OwnSymbol symbol = symbols_[reached_[next_++]];
      if (symbol.name.starts_with("_ZTV")) reach_functions(functions_of_class(symbol.name), symbol.from);
      if (symbol.section == 0) continue;
      if (symbol.is_function()) reach_static_functions(symbol.section, symbol.from);
      follow_all(symbol);
    }
    return std::move(names_);
  }

  /// Is there a definition that has another purpose than what the constructors do? Also where that is not known.
  bool has_unreached_definition() const {
    return steps_ == 0 || std::ranges::any_of(symbols_, [](const OwnSymbol& one) {
             return one.is_strong() && !one.reached && !is_structor(one.name);
           });
  }

  std::vector<std::string_view> strong_definitions() const {
    std::vector<std::string_view> names;
    for (const OwnSymbol& symbol : symbols_)
      if (symbol.is_strong()) names.push_back(symbol.name);
    return names;
  }

  bool defines_strongly(std::string_view name) const {
    return std::ranges::any_of(symbols_, [&](const OwnSymbol& one) { return one.is_strong() && one.name == name; });
  }

 private:
  std::uint64_t header_size(std::uint32_t section) const { return sections_.header(section).sh_size; }

  void read_sections() {
    std::vector<bool> grouped(sections_.count());
    std::size_t table = 0;
    for (std::size_t i = 1; i < sections_.count(); ++i) {
      const GElf_Shdr header = sections_.header(i);
      const std::string_view name = sections_.name(i, header);
      if (header.sh_type == SHT_SYMTAB) table = i;
      if ((header.sh_flags & SHF_GROUP) != 0 || name.starts_with(kLinkonce)) grouped[i] = true;
      if (is_relocation_section(header)) relocations_of_[header.sh_info].push_back(i);
      if (header.sh_type == SHT_REL) bare_ = true;
      if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) continue;
      if (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_PREINIT_ARRAY || is_of_constructors(name))
        constructors_.push_back(static_cast<std::uint32_t>(i));
      if (is_identifier(name) && !grouped[i]) named_.push_back(name);
    }
    if (table != 0) read_symbols(table, grouped);
  }

  static bool is_of_constructors(std::string_view name) {
    return starts_with_any(name, {".init_array", ".ctors", ".preinit_array"});
  }

  static bool is_identifier(std::string_view name) {
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::ranges::all_of(name, fits);
  }

  void read_symbols(std::size_t table, const std::vector<bool>& grouped) {
    const ElfSymbols read = open_symbol_table(sections_, table);
    symbols_.resize(read.count);
    for (std::uint64_t i = 1; i < read.count; ++i) {
      GElf_Sym entry{};
      if (gelf_getsym(read.data, static_cast<int>(i), &entry) == nullptr) sections_.fail(table, elf_errmsg(-1));
      OwnSymbol& symbol = symbols_[i];
      if (!read.strings.holds(entry.st_name)) sections_.fail(table, "has a name outside of its strings");
      symbol.name = read.strings.at(entry.st_name);
      symbol.binding = GELF_ST_BIND(entry.st_info);
      symbol.type = GELF_ST_TYPE(entry.st_info);
      symbol.defined = entry.st_shndx != SHN_UNDEF;
      if (entry.st_shndx == SHN_UNDEF || entry.st_shndx >= sections_.count()) continue;
      symbol.section = entry.st_shndx;
      symbol.grouped = grouped[symbol.section];
      symbol.begin = entry.st_value;
      symbol.end = entry.st_value + std::max<std::uint64_t>(entry.st_size, 1);
      if (symbol.type != STT_SECTION) in_section_[symbol.section].push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// False once more work was done than an object is worth.
  bool step() { return steps_ != 0 && --steps_ != 0; }

  void reach(std::uint32_t symbol, RelocatedPlace from) {
    if (std::exchange(symbols_[symbol].reached, true)) return;
    symbols_[symbol].from = from;
    reached_.push_back(symbol);
    if (symbols_[symbol].section != 0) reach_at(symbols_[symbol].section, symbols_[symbol].begin, from);  // its aliases
  }

  /// The relocations of a symbol's bytes lead on.
  void follow_all(const OwnSymbol& user) {
    const std::vector<RelocationEntry>& all = relocations_of(user.section);
    auto entry = std::ranges::lower_bound(all, user.begin, {}, &RelocationEntry::offset);
    for (; entry != all.end() && entry->offset < user.end; ++entry)
      follow(*entry, user.grouped ? user.from : RelocatedPlace{user.section, entry->offset});
  }

  void follow(const RelocationEntry& entry, RelocatedPlace from) {
    if (entry.symbol == 0 || entry.symbol >= symbols_.size()) return;
    const OwnSymbol& symbol = symbols_[entry.symbol];
    if (symbol.type == STT_SECTION && bare_) return reach_all_of(symbol.section, from);
    if (symbol.type == STT_SECTION) return reach_at(symbol.section, behind_field(entry), from);
    if (symbol.binding != STB_LOCAL && !symbol.is_strong()) names_.push_back({symbol.name, from, symbol.defined});
    if (symbol.defined) reach(static_cast<std::uint32_t>(entry.symbol), from);
  }

  std::uint64_t behind_field(const RelocationEntry& entry) const {
    const bool relative =
        sections_.file_header().e_machine == EM_X86_64 && (entry.type == R_X86_64_PC32 || entry.type == R_X86_64_PLT32);
    return static_cast<std::uint64_t>(entry.addend) + (relative ? 4 : 0);
  }

  void reach_at(std::uint32_t section, std::uint64_t offset, RelocatedPlace from) {
    for (const std::uint32_t symbol : in_section_[section])
      if (step() && offset >= symbols_[symbol].begin && offset < symbols_[symbol].end) reach(symbol, from);
  }

  /// What is meant is in the field, which isn't read.
  void reach_all_of(std::uint32_t section, RelocatedPlace from) {
    for (const std::uint32_t symbol : in_section_[section])
      if (symbols_[symbol].binding == STB_LOCAL) reach(symbol, from);
  }

  /// Rule 2.
  void reach_static_functions(std::uint32_t section, RelocatedPlace from) {
    if (!std::exchange(visited_[section], true))
      for (const std::uint32_t symbol : in_section_[section])
        if (symbols_[symbol].binding == STB_LOCAL && symbols_[symbol].is_function()) reach(symbol, from);
  }

  /// Rule 3.
  void reach_functions(const std::string& name, RelocatedPlace from) {
    for (std::uint32_t i = 1; i < symbols_.size(); ++i)
      if (step() && symbols_[i].defined &&
          (symbols_[i].name.starts_with("_ZN" + name) || symbols_[i].name.starts_with("_ZNK" + name)))
        reach(i, from);
  }

  const std::vector<RelocationEntry>& relocations_of(std::uint32_t section) {
    const auto [at, first] = relocations_.try_emplace(section);
    if (first)
      for (const std::size_t table : relocations_of_[section])
        each_relocation(sections_, table, sections_.header(table),
                        [&](const RelocationEntry& entry) { at->second.push_back(entry); });
    if (first) std::ranges::stable_sort(at->second, {}, &RelocationEntry::offset);
    return at->second;
  }

  ElfFile file_;
  ElfSections sections_;
  std::vector<std::uint32_t> constructors_;  ///< header indexes
  std::vector<std::string_view> named_;
  std::vector<OwnSymbol> symbols_;                                    ///< by symbol table index
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_section_;    ///< symbols by header index
  std::map<std::uint32_t, std::vector<std::size_t>> relocations_of_;  ///< tables by the section that they change
  std::map<std::uint32_t, std::vector<RelocationEntry>> relocations_;
  std::map<std::uint32_t, bool> visited_;  ///< by rule 2
  std::vector<std::uint32_t> reached_;     ///< in that order
  std::size_t next_ = 0;                   ///< in reached_: from where to go on
  std::uint32_t steps_ = 1 << 20;
  bool bare_ = false;  ///< relocations without addends
  std::vector<ReachedName> names_;
};

// --- Who of the link is asked for what.

/// Of the C and C++ libraries, or made by the compiler: every constructor uses some.
bool is_of_language(std::string_view name) {
  return starts_with_any(name, {"_ZNSt", "_ZNKSt", "_ZSt", "_ZTI", "_ZTS", "_ZTV", "_ZTVN10__cxxabiv1", "_ZN9__gnu_cxx",
                                "_ZNK9__gnu_cxx", "_ZGVNSt", "_Zn", "_Zd", "__"});
}

/// The C and C++ libraries and the compiler's own.
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

class LeftOutCheck {
 public:
  LeftOutCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution, const LinkNames& names)
      : inputs_(inputs), resolution_(resolution), names_(names) {}

  LeftOut run() {
    list_members();
    if (members_.empty()) return {};
    const std::vector<ObjectId> registrars = members_that_may_register();
    look_through_link();
    for (const Unresolved& name : resolution_.unresolved)  // has a finding of its own
      if (name.symbol.starts_with("__start_")) started_.erase(std::string_view(name.symbol).substr(8));
    for (const ObjectId id : registrars)
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

  std::vector<ObjectId> members_that_may_register() const {
    std::vector<char> may(members_.size());
    for_each_parallel(members_.size(), kGrain, [&](std::size_t i) {
      if (const std::optional<Member> member = open(members_[i])) may[i] = member->may_register() ? 1 : 0;
    });
    std::vector<ObjectId> found;
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (may[i] != 0) found.push_back(members_[i]);
    return found;
  }

  /// Nothing of one that can't be read: the linker doesn't read it either.
  std::optional<Member> open(ObjectId id) const {
    try {
      return std::optional<Member>(std::in_place, object(id).origin);
    } catch (const InputError&) {
      return std::nullopt;
    }
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

  std::optional<LeftOutRegistrar> registrar(ObjectId id) const {
    std::optional<Member> member = open(id);
    if (!member) return std::nullopt;
    const std::vector<std::string_view> own = member->strong_definitions();
    // Another object of the link stands for it.
    if (std::ranges::any_of(own, [&](std::string_view name) { return find(name).valid() || is_generated(name); }))
      return std::nullopt;
    LeftOutRegistrar made;
    made.member = id;
    if (!own.empty()) made.anchor = own.front();
    for (const std::string_view section : member->named_sections())
      if (const auto asked = started_.find(section); asked != started_.end()) {
        made.section = section;
        made.symbol = "__start_" + std::string(section);
        made.registry = asked->second;
        return made;
      }
    const std::vector<ReachedName> names = member->reached_names();
    if (member->has_unreached_definition()) return std::nullopt;
    for (const ReachedName& one : names) {
      const SymbolId registry = is_of_language(one.name) ? SymbolId() : find(one.name);
      if (!registry.valid() || is_runtime(object(registry.in))) continue;
      if (one.is_defined && symbol(registry).type != SymbolType::Object) continue;  // an inline function
      made.section = member->section_name(one.from.section);
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
  ObjectId strong_in_archive(SymbolId user) const {
    ObjectId found;
    const std::string_view name = object(user.in).name(symbol(user));
    names_.each_offer(names_.of(user), [&](std::uint32_t input, std::uint32_t entry) {
      const ObjectId id{input, inputs_[input].index[entry].object};
      if (id.object == kNone || !std::ranges::binary_search(members_, id)) return true;
      if (const std::optional<Member> member = open(id); member && member->defines_strongly(name)) found = id;
      return !found.valid();
    });
    return found;
  }

  static constexpr std::size_t kGrain = 8;  ///< members that a thread takes at a time
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const LinkNames& names_;
  std::vector<ObjectId> members_;                             ///< ascending
  std::vector<SymbolId> defined_;                             ///< by name
  std::unordered_map<std::string_view, SymbolId> started_;    ///< NAME of __start_NAME, and who asks
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
