// Questions about one object: references, local symbols, relocations, and which of its sections need which.

#include "scan/object_queries.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "scan/object_tables.hpp"
#include "scan/scan.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- Most objects have no relocation and no local symbol that is asked for. That is seen without libelf, which costs more to
// open an object with than all of its relocations do.

namespace {

/// Every function that returns bool: false leaves the object to the reader over libelf.
class ObjectGlance : ObjectTables {
 public:
  explicit ObjectGlance(ObjectImage& image) : ObjectTables(image) {}

  /// Is it certain that nothing is asked for?
  bool rule_out(const RelocationQuestion& question) {
    return open() && each_section([&](RawSection header) {
             const RawSection target = section(header.info());
             if (!target.has(SHF_ALLOC)) return true;
             const bool writable = target.has(SHF_WRITE);
             if (!(writable ? question.in_writable : question.in_read_only)) return true;
             return for_each_relocation(header, relocations_end_, [&](RawRelocation entry) {
               return !question.asks_for(entry.symbol(), entry.symbol() < first_global_, entry.type(), writable);
             });
           });
  }

  /// The same of relocations against locals.
  bool rule_out_locals(std::span<const std::uint32_t> targets) {
    return open() && read_locals(targets) && each_section([&](RawSection header) {
             const RawSection from = section(header.info());
             const std::string_view name = section_name(from);
             if ((!from.has(SHF_ALLOC) && name.starts_with(".debug")) || name == ".eh_frame") return true;
             if (std::binary_search(targets.begin(), targets.end(), header.info())) return true;
             return for_each_relocation(header, relocations_end_, [&](RawRelocation entry) {
               return entry.symbol() >= of_target_.size() || !of_target_[entry.symbol()];
             });
           });
  }

  /// Has no local symbol one of these names?
  bool rule_out_names(const std::set<std::string_view>& names) {
    if (!open() || strings_.has(SHF_COMPRESSED)) return false;
    const std::byte* locals = image_.at(section(symbols_index_).offset(), first_global_ * sizeof(Elf64_Sym));
    const std::byte* strings = image_.at(strings_.offset(), strings_.size());
    if (locals == nullptr || !set_names(strings, 0, strings_.size())) return false;
    for (std::uint64_t s = 1; s < first_global_; ++s) {
      const RawSymbol local{locals + s * sizeof(Elf64_Sym)};
      if (!names_.holds(local.name()) || (local.name() != 0 && names.contains(names_.at(local.name())))) return false;
    }
    return true;
  }

 private:
  bool open() {
    if (!read_header() || !read_section_names()) return false;
    for (std::uint64_t index = 1; index < count_; ++index) {
      const RawSection header = section(index);
      if (!is_inside(header) || (is_listed(header.type()) && !list(header)) || header.type() == SHT_REL) return false;
      if (header.name() >= names_of_sections_.size()) return false;
      if (header.type() == SHT_RELA) relocations_end_ = std::max(relocations_end_, header.offset() + header.size());
    }
    return symbols_index_ != 0 && open_symbol_table();
  }

  std::string_view section_name(RawSection header) const { return names_of_sections_.data() + header.name(); }

  template <class Visit>
  bool each_section(const Visit& visit) const {
    for (std::uint64_t index = 1; index < count_; ++index) {
      const RawSection header = section(index);
      if (header.type() != SHT_RELA) continue;
      const bool plain = header.link() == symbols_index_ && !header.has(SHF_COMPRESSED);
      if (!plain || header.info() == SHN_UNDEF || header.info() >= count_ || !visit(header)) return false;
    }
    return true;
  }

  /// Which locals are in the sections `targets`.
  bool read_locals(std::span<const std::uint32_t> targets) {
    std::vector<bool> is_target(count_);
    for (const std::uint32_t target : targets)
      if (target < count_) is_target[target] = true;
    of_target_.resize(first_global_);
    const std::byte* locals = image_.at(section(symbols_index_).offset(), first_global_ * sizeof(Elf64_Sym));
    if (locals == nullptr) return false;
    for (std::uint64_t s = 1; s < first_global_; ++s) {
      const Elf64_Section in = RawSymbol{locals + s * sizeof(Elf64_Sym)}.section();
      if (in == SHN_XINDEX) return false;
      of_target_[s] = in < count_ && is_target[in];
    }
    return true;
  }

  std::uint64_t relocations_end_ = 0;
  std::vector<bool> of_target_;  ///< by local symbol
};

/// Calls `rule_out` for an object that lies in a file as it is. False where it doesn't.
template <class RuleOut>
bool ruled_out(const Origin& origin, const RuleOut& rule_out) {
  if constexpr (std::endian::native != std::endian::little) return false;
  if (!origin.entry.empty() || origin.binary || origin.just_symbols || origin.bytecode) return false;
  thread_local ReadBuffer buffer;  // thousands of objects are asked, one after the other
  const FileDescriptor fd = open_for_reading(origin.file().c_str());
  ObjectImage image(fd.get(), origin.offset, origin.size, buffer);
  return rule_out(ObjectGlance(image));
}

}  // namespace

// --- Whether an object has a section of a given name: what the linker's __start_NAME and __stop_NAME depend on.

bool has_section(const Origin& origin, std::string_view name) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  for (std::size_t index = 1; index < sections.count(); ++index)
    if (sections.name(index, sections.header(index)) == name) return true;
  return false;
}

// --- Which sections use a symbol, from the relocations of a relocatable object (gABI 4 "Relocation").

namespace {

class UseFinder {
 public:
  UseFinder(const ElfSections& sections, std::span<const std::uint32_t> symbols)
      : sections_(sections), asked_(symbols.begin(), symbols.end()) {
    std::sort(asked_.begin(), asked_.end());
  }

  std::vector<Use> run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (is_relocation_section(header) && is_symbol_table(header.sh_link)) read_section(index, header);
    }
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
      return std::tie(a.symbol, a.section_index) < std::tie(b.symbol, b.section_index);
    });
    return std::move(uses_);
  }

 private:
  bool is_symbol_table(std::size_t index) const {
    return index != SHN_UNDEF && index < sections_.count() && sections_.header(index).sh_type == SHT_SYMTAB;
  }

  void read_section(std::size_t index, const GElf_Shdr& header) {
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      if (std::binary_search(asked_.begin(), asked_.end(), entry.symbol)) add(header.sh_info, entry);
    });
  }

  /// Keeps the first of each symbol and section; one that does something is better than an earlier R_*_NONE (0
  /// everywhere).
  void add(std::uint32_t target, const RelocationEntry& relocation) {
    const bool none = relocation.type == 0;
    const auto [place, fresh] = place_of_.try_emplace(relocation.symbol << 32 | target, uses_.size());
    if (fresh) {
      const GElf_Shdr header = sections_.header(target);
      uses_.push_back({static_cast<std::uint32_t>(relocation.symbol), std::string(sections_.name(target, header)),
                       relocation.offset, (header.sh_flags & SHF_ALLOC) != 0, none, target,
                       (header.sh_flags & SHF_EXCLUDE) != 0, (header.sh_flags & SHF_EXECINSTR) != 0,
                       header.sh_size == 0, (header.sh_flags & SHF_WRITE) != 0});
    } else if (Use& known = uses_[place->second]; known.none && !none) {
      known.offset = relocation.offset;
      known.none = false;
    }
    const auto type = static_cast<std::uint32_t>(relocation.type);
    std::vector<std::uint32_t>& types = uses_[place->second].types;
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }

  const ElfSections& sections_;
  std::vector<std::uint32_t> asked_;
  std::vector<Use> uses_;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;  // symbol and section -> uses_
};

}  // namespace

std::vector<Use> find_uses(const Origin& origin, std::span<const std::uint32_t> symbols) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  if (sections.file_header().e_type != ET_REL) sections.fail("is not a relocatable object: it has no relocations");
  return UseFinder(sections, symbols).run();
}

std::vector<std::uint32_t> relocated_without_bytes(const Origin& origin) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  std::vector<std::uint32_t> found;
  for (std::size_t index = 1; index < sections.count(); ++index) {
    const GElf_Shdr header = sections.header(index);
    if (!is_relocation_section(header) || header.sh_size == 0 || header.sh_info >= sections.count()) continue;
    const GElf_Shdr target = sections.header(header.sh_info);
    if (target.sh_size == 0 || target.sh_type == SHT_NOBITS) found.push_back(header.sh_info);
  }
  return found;
}

// --- What refers to local symbols of sections that the output does not have.

namespace {

class LocalUseFinder {
 public:
  LocalUseFinder(const ElfSections& sections, std::span<const std::uint32_t> targets, bool unallocated)
      : sections_(sections), targets_(targets), unallocated_(unallocated) {}

  std::vector<LocalUse> run() {
    std::size_t extended = 0;
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_SYMTAB && table_index_ == 0) table_index_ = index;
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended = index;
    }
    if (table_index_ == 0) return {};
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (!is_relocation_section(header) || header.sh_link != table_index_ || !asks_for(header.sh_info)) continue;
      if (section_of_.empty()) read_locals(extended);
      read_section(index, header);
    }
    return std::move(found_);
  }

 private:
  bool is_target(std::size_t section) const { return std::binary_search(targets_.begin(), targets_.end(), section); }

  bool asks_for(std::size_t section) const {
    if (section == SHN_UNDEF || section >= sections_.count() || is_target(section)) return false;
    const GElf_Shdr header = sections_.header(section);
    const std::string_view name = sections_.name(section, header);
    if ((header.sh_flags & SHF_EXCLUDE) != 0 || name == ".eh_frame") return false;
    if ((header.sh_flags & SHF_ALLOC) != 0) return !targets_.empty();
    return !name.starts_with(".debug") && !name.starts_with(".zdebug") && (unallocated_ || !targets_.empty());
  }

  void read_locals(std::size_t extended_index) {
    symbols_ = open_symbol_table(sections_, table_index_);
    const Elf_Data* extended = extended_index == 0 ? nullptr : sections_.table(extended_index);
    section_of_.resize(std::max<std::uint64_t>(std::min(symbols_.first_global, symbols_.count), 1));
    for (std::size_t s = 1; s < section_of_.size(); ++s) {
      GElf_Sym entry;
      if (gelf_getsym(symbols_.data, static_cast<int>(s), &entry) == nullptr) return;
      section_of_[s] = section_of(sections_, extended, entry, s);
    }
  }

  void read_section(std::size_t index, const GElf_Shdr& header) {
    const GElf_Shdr from = sections_.header(header.sh_info);
    const bool alloc = (from.sh_flags & SHF_ALLOC) != 0;
    const bool ordered = (from.sh_flags & SHF_LINK_ORDER) != 0 && is_target(from.sh_link);
    std::unordered_map<std::uint64_t, std::size_t> place_of;  // symbol -> found_
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      if (entry.symbol >= section_of_.size()) return;
      const std::uint32_t target = section_of_[entry.symbol];
      if (target == 0 || (!is_target(target) && (alloc || !unallocated_))) return;
      const auto [place, fresh] = place_of.try_emplace(entry.symbol, found_.size());
      if (fresh)
        found_.push_back({header.sh_info, std::string(sections_.name(header.sh_info, from)), entry.offset, alloc,
                          ordered, true, name_of(entry.symbol, target), target});
      LocalUse& use = found_[place->second];
      use.offset = std::min(use.offset, entry.offset);
      use.none &= entry.type == 0;  // R_*_NONE everywhere
    });
  }

  std::string name_of(std::uint64_t symbol, std::uint32_t section) const {
    GElf_Sym entry;
    if (gelf_getsym(symbols_.data, static_cast<int>(symbol), &entry) == nullptr) return {};
    const bool named = GELF_ST_TYPE(entry.st_info) != STT_SECTION && symbols_.strings.holds(entry.st_name);
    return std::string(named ? symbols_.strings.at(entry.st_name) : sections_.name(section, sections_.header(section)));
  }

  const ElfSections& sections_;
  std::span<const std::uint32_t> targets_;
  bool unallocated_;
  std::size_t table_index_ = 0;
  ElfSymbols symbols_;
  std::vector<std::uint32_t> section_of_;  // of each local symbol
  std::vector<LocalUse> found_;
};

}  // namespace

std::vector<LocalUse> find_local_uses(const Origin& origin, std::span<const std::uint32_t> targets, bool unallocated) {
  if (!unallocated && ruled_out(origin, [&](ObjectGlance glance) { return glance.rule_out_locals(targets); }))
    return {};
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return LocalUseFinder(sections, targets, unallocated).run();
}

// --- Local symbols are not recorded: they are read when one is asked for by name.

namespace {

/// `visit(index, entry, strings)` for each local symbol of .symtab, until it returns false.
template <class Visit>
void for_each_local(const Origin& origin, Visit visit) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  for (std::size_t i = 1; i < sections.count(); ++i) {
    if (sections.header(i).sh_type != SHT_SYMTAB) continue;
    const ElfSymbols table = open_symbol_table(sections, i);
    for (std::uint32_t s = 1; s < table.first_global && s < table.count; ++s) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(s), &entry) == nullptr) break;
      if (!visit(s, entry, table.strings)) return;
    }
  }
}

}  // namespace

std::optional<std::uint32_t> find_local_symbol(const Origin& origin, std::string_view name) {
  std::optional<std::uint32_t> found;
  for_each_local(origin, [&](std::uint32_t index, const GElf_Sym& entry, const auto& strings) {
    if (GELF_ST_TYPE(entry.st_info) == STT_OBJECT && strings.at(entry.st_name) == name) found = index;
    return !found;
  });
  return found;
}

std::map<std::uint32_t, std::string> find_open_locals(const Origin& origin) {
  std::map<std::uint32_t, std::string> found;
  for_each_local(origin, [&](std::uint32_t index, const GElf_Sym& entry, const auto& strings) {
    if (entry.st_shndx == SHN_UNDEF)
      found.emplace(index, strings.holds(entry.st_name) ? strings.at(entry.st_name) : std::string_view());
    return true;
  });
  return found;
}

std::vector<LocalName> names_kept_local(const Origin& origin, const std::set<std::string_view>& names) {
  if (ruled_out(origin, [&](ObjectGlance glance) { return glance.rule_out_names(names); })) return {};
  std::vector<LocalName> found;
  for_each_local(origin, [&](std::uint32_t, const GElf_Sym& entry, const auto& strings) {
    const int type = GELF_ST_TYPE(entry.st_info);
    if (entry.st_shndx == SHN_UNDEF || type == STT_FILE || type == STT_SECTION) return true;
    const auto known = strings.holds(entry.st_name) ? names.find(strings.at(entry.st_name)) : names.end();
    if (known != names.end()) found.push_back({*known, type == STT_NOTYPE});
    return true;
  });
  return found;
}

namespace {

bool is_definition(const GElf_Sym& entry) {
  const int type = GELF_ST_TYPE(entry.st_info);
  const bool named = type == STT_OBJECT || type == STT_TLS || type == STT_FUNC || type == STT_GNU_IFUNC;
  return named && entry.st_shndx != SHN_UNDEF && entry.st_shndx < SHN_LORESERVE;
}

class KeptLocalReader {
 public:
  KeptLocalReader(const ElfSections& sections, const ObjectFacts& object,
                  const std::function<bool(std::string_view)>& is_wanted)
      : sections_(sections), is_wanted_(is_wanted) {
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined()) exported_.insert(object.name(symbol));
  }

  std::vector<KeptLocal> run() {
    for (std::size_t i = 1; i < sections_.count(); ++i)
      if (sections_.header(i).sh_type == SHT_SYMTAB) read(open_symbol_table(sections_, i));
    return std::move(found_);
  }

 private:
  void read(const ElfSymbols& table) {
    // GNU ld writes the globals that a version script made local last among the locals, behind an STT_FILE without a
    // name; before it they are with their source file, and are static. In lld's output a static C++ name has an L.
    const std::uint64_t made_local = last_nameless_file(table);
    for (std::uint64_t i = 1; i < table.count; ++i) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(i), &entry) == nullptr) sections_.fail(table.index, elf_errmsg(-1));
      const bool local = GELF_ST_BIND(entry.st_info) == STB_LOCAL;
      const int visibility = GELF_ST_VISIBILITY(entry.st_other);
      const bool hidden = visibility == STV_HIDDEN || visibility == STV_INTERNAL;
      if (!is_definition(entry) || !table.strings.holds(entry.st_name)) continue;
      const std::string_view name = table.strings.at(entry.st_name);
      const bool may_be_static = !name.starts_with("_Z") || name.find_first_of("LZ.", 2) != std::string_view::npos;
      if (local && !hidden && i < made_local && may_be_static) continue;
      if (is_wanted_(name) && exported_.insert(name).second) add(name, entry);
    }
  }

  static std::uint64_t last_nameless_file(const ElfSymbols& table) {
    for (std::uint64_t i = std::min(table.first_global, table.count); i-- > 1;) {
      GElf_Sym entry;
      if (gelf_getsym(table.data, static_cast<int>(i), &entry) == nullptr) break;
      if (GELF_ST_TYPE(entry.st_info) != STT_FILE) continue;
      return entry.st_name == 0 ? i : table.count;
    }
    return table.count;
  }

  void add(std::string_view name, const GElf_Sym& entry) {
    if (entry.st_shndx >= sections_.count()) return;
    const GElf_Shdr header = sections_.header(entry.st_shndx);
    const int type = GELF_ST_TYPE(entry.st_info);
    KeptLocal kept;
    kept.name = name;
    kept.section = sections_.name(entry.st_shndx, header);
    kept.offset = entry.st_value >= header.sh_addr ? entry.st_value - header.sh_addr : 0;
    kept.size = entry.st_size;
    kept.data = type == STT_OBJECT || type == STT_TLS;
    kept.weak = GELF_ST_BIND(entry.st_info) == STB_WEAK;
    kept.hidden = GELF_ST_BIND(entry.st_info) == STB_LOCAL || GELF_ST_VISIBILITY(entry.st_other) != STV_DEFAULT;
    // What is read-only once it is relocated holds no state.
    kept.writable = (header.sh_flags & SHF_WRITE) != 0 && !kept.section.starts_with(".data.rel.ro");
    found_.push_back(std::move(kept));
  }

  const ElfSections& sections_;
  const std::function<bool(std::string_view)>& is_wanted_;
  std::unordered_set<std::string_view> exported_;  // and what has been found
  std::vector<KeptLocal> found_;
};

}  // namespace

std::vector<KeptLocal> find_kept_local(const ObjectFacts& object, const std::function<bool(std::string_view)>& test) {
  const ElfFile file = ElfFile::open(object.origin);
  const ElfSections sections(file, object.origin);
  return KeptLocalReader(sections, object, test).run();
}

namespace {

std::set<std::string> entries(std::string_view bytes) {
  std::set<std::string> found;
  while (!bytes.empty()) {
    const std::string_view entry = bytes.substr(0, bytes.find('\0'));
    if (!entry.empty()) found.emplace(entry);
    bytes.remove_prefix(std::min(entry.size() + 1, bytes.size()));
  }
  return found;
}

/// .comment: a list of strings, each compiler's name for itself (GNU as .ident; merged by linkers).
std::string only_compiler(const Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr) return {};
  const auto found = entries({static_cast<const char*>(data->d_buf), data->d_size});
  return found.size() == 1 ? *found.begin() : std::string();
}

}  // namespace

CompileTraces compile_traces(const Origin& origin) {
  CompileTraces traces;
  try {
    const ElfFile file = ElfFile::open(origin);
    const ElfSections sections(file, origin);
    for (std::size_t i = 1; i < sections.count(); ++i) {
      const std::string_view name = sections.name(i, sections.header(i));
      if (name == ".comment") traces.compiler = only_compiler(sections.table(i));
      traces.relocatable_device_code |= name == "__nv_relfatbin";
      traces.whole_program_device_code |= name == ".nv_fatbin";
    }
  } catch (const InputError&) {
  }
  return traces;
}

namespace {

constexpr unsigned kGotUseShift = 30;  // relocation types of the machines that are asked for it are below 64

class AskedReader {
 public:
  AskedReader(const ElfSections& sections, const RelocationQuestion& question)
      : sections_(sections), question_(question) {}

  AskedRelocations run() {
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_SYMTAB && table_index_ == 0) {
        table_index_ = index;
        first_global_ = std::max<std::uint64_t>(header.sh_info, 1);
      }
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_index_ = index;
      if (is_relocation_section(header)) relocating_.push_back(index);
    }
    for (const std::size_t index : relocating_) read_section(index, sections_.header(index));
    describe_locals();
    std::sort(found_.relocations.begin(), found_.relocations.end(),
              [](const AskedRelocation& a, const AskedRelocation& b) {
                return std::tie(a.section, a.offset, a.type) < std::tie(b.section, b.offset, b.type);
              });
    return std::move(found_);
  }

 private:
  void read_section(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_link != table_index_ || table_index_ == 0) return;
    GElf_Shdr target{};
    if (header.sh_info != SHN_UNDEF && header.sh_info < sections_.count()) {
      target = sections_.header(header.sh_info);
      if ((target.sh_flags & SHF_ALLOC) == 0) return;
    }
    const bool writable = (target.sh_flags & SHF_WRITE) != 0;
    if (!(writable ? question_.in_writable : question_.in_read_only)) return;
    std::unordered_map<std::uint64_t, std::size_t> place_of;  // symbol and type -> found_
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      if (!question_.asks_for(entry.symbol, entry.symbol < first_global_, entry.type, writable)) return;
      const GotUse got = question_.instructions ? got_use(header.sh_info, entry) : GotUse::Plain;
      const std::uint64_t key =
          entry.symbol << 32 | std::uint64_t{static_cast<std::uint8_t>(got)} << kGotUseShift | entry.type;
      const auto [place, fresh] = place_of.try_emplace(key, found_.relocations.size());
      if (!fresh) {
        AskedRelocation& known = found_.relocations[place->second];
        known.offset = std::min(known.offset, entry.offset);
        ++known.count;
        return;
      }
      add(header.sh_info, entry);
      found_.relocations.back().got = got;
    });
    if (!place_of.empty()) note_section(header.sh_info, target);
  }

  /// The relocation is of the instruction's last four bytes, after its opcode and ModRM. x86-64: `mov x@GOTPCREL(%rip)`
  /// is rewritten; with the X also `call *` and `jmp *`. i386: `call *x@GOT(%ebx)` and `jmp *`; without a base register
  /// ModRM has no register in it.
  GotUse got_use(std::size_t section, const RelocationEntry& entry) const {
    const bool i386 = sections_.file_header().e_machine == EM_386;
    const bool plain = i386 ? entry.type == R_386_GOT32 : entry.type == R_X86_64_GOTPCREL;
    const bool relaxed = i386 ? entry.type == R_386_GOT32X : entry.type == R_X86_64_GOTPCRELX;
    if (!plain && !relaxed) return GotUse::Plain;
    const Elf_Data* code = section < sections_.count() ? sections_.table(section) : nullptr;
    if (code == nullptr || entry.offset < 2 || entry.offset > code->d_size) return GotUse::Plain;
    const auto* at = static_cast<const std::uint8_t*>(code->d_buf) + entry.offset;
    constexpr std::uint8_t kMov = 0x8b, kIndirect = 0xff, kCall = 0x15, kJump = 0x25, kOperation = 0x38, kBase = 0xc7;
    if (i386 && (at[-1] & kBase) == (kCall & kBase)) return GotUse::WithoutBase;
    if (i386) {
      const bool jumps = at[-2] == kIndirect && ((at[-1] & kOperation) == (kCall & kOperation) ||
                                                 (at[-1] & kOperation) == (kJump & kOperation));
      return relaxed && jumps ? GotUse::Rewritten : GotUse::Plain;
    }
    if (at[-2] == kMov) return GotUse::Rewritten;
    const bool jumps = relaxed && at[-2] == kIndirect && (at[-1] == kCall || at[-1] == kJump);
    return jumps ? GotUse::Rewritten : GotUse::Plain;
  }

  void add(std::uint32_t section, const RelocationEntry& entry) {
    AskedRelocation& made = found_.relocations.emplace_back();
    made.type = static_cast<std::uint32_t>(entry.type);
    made.section = section;
    made.offset = entry.offset;
    made.symbol = static_cast<std::uint32_t>(entry.symbol);
    made.local = entry.symbol < first_global_;
  }

  /// The symbol table is only needed where there is something to report.
  void describe_locals() {
    const auto local = [](const AskedRelocation& relocation) { return relocation.local; };
    if (std::none_of(found_.relocations.begin(), found_.relocations.end(), local)) return;
    symbols_ = open_symbol_table(sections_, table_index_);
    if (extended_index_ != 0) extended_ = sections_.table(extended_index_);
    for (AskedRelocation& relocation : found_.relocations)
      if (relocation.local) describe_local(relocation);
  }

  void describe_local(AskedRelocation& relocation) const {
    GElf_Sym entry;
    if (relocation.symbol == 0 || relocation.symbol >= symbols_.count ||
        gelf_getsym(symbols_.data, static_cast<int>(relocation.symbol), &entry) == nullptr) {
      relocation.absolute = true;
      return;
    }
    relocation.symbol_type = symbol_type_from(GELF_ST_TYPE(entry.st_info));
    relocation.absolute = entry.st_shndx == SHN_ABS;
    relocation.symbol_section = section_of(sections_, extended_, entry, relocation.symbol);
    const bool of_section = GELF_ST_TYPE(entry.st_info) == STT_SECTION;
    if (of_section && relocation.symbol_section != 0)
      relocation.name = sections_.name(relocation.symbol_section, sections_.header(relocation.symbol_section));
    else if (symbols_.strings.holds(entry.st_name))
      relocation.name = symbols_.strings.at(entry.st_name);
  }

  void note_section(std::size_t index, const GElf_Shdr& header) {
    found_.sections.resize(sections_.count());
    found_.sections[index] = {std::string(sections_.name(index, header)), (header.sh_flags & SHF_WRITE) != 0,
                              (header.sh_flags & SHF_EXECINSTR) != 0, (header.sh_flags & SHF_EXCLUDE) != 0};
  }

  const ElfSections& sections_;
  const RelocationQuestion& question_;
  ElfSymbols symbols_;
  const Elf_Data* extended_ = nullptr;
  std::size_t table_index_ = 0;  ///< of the symbol table's section
  std::size_t extended_index_ = 0;
  std::uint64_t first_global_ = 1;
  std::vector<std::size_t> relocating_;
  AskedRelocations found_;
};

}  // namespace

bool RelocationQuestion::may_ask_for(const RelocationKinds& kinds) const {
  if (!kinds.known) return true;
  constexpr std::uint64_t kNone = 1;  // R_*_NONE is 0 everywhere
  const auto has = [](std::uint64_t of_types, std::size_t type) { return (of_types >> type & 1) != 0; };
  for (const bool writable : {false, true}) {
    if (!(writable ? in_writable : in_read_only)) continue;
    if (null_symbol && (kinds.of_nothing[writable] & ~kNone) != 0) return true;
    for (std::size_t type = 0; type < std::min<std::size_t>(types.size(), 64); ++type) {
      const std::uint64_t of_hidden = types[type].takes_hidden && !writable ? 0 : kinds.of_hidden[writable];
      if ((has(kinds.of_locals[writable], type) && asks_for(1, true, type, writable)) ||
          (has(kinds.of_globals[writable] | of_hidden, type) && asks_for(1, false, type, writable)))
        return true;
    }
  }
  return false;
}

AskedRelocations read_asked_relocations(const Origin& origin, const RelocationQuestion& question) {
  if (ruled_out(origin, [&](ObjectGlance glance) { return glance.rule_out(question); })) return {};
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return AskedReader(sections, question).run();
}

namespace {

constexpr std::uint32_t kAndroidRel = 0x60000001;  // SHT_ANDROID_REL and SHT_ANDROID_RELA: packed
constexpr std::uint32_t kAndroidRela = 0x60000002;

class LookupReader {
 public:
  LookupReader(const ElfSections& sections, std::span<const std::uint32_t> symbols) : sections_(sections) {
    for (const std::uint32_t symbol : symbols) found_.emplace(symbol, LookedUp::Never);
  }

  std::vector<LookedUp> run(std::span<const std::uint32_t> symbols) {
    bool readable = traits_of(Machine{.number = sections_.file_header().e_machine}).got_has_relocations;
    for (std::size_t i = 1; i < sections_.count() && readable; ++i) {
      const GElf_Shdr header = sections_.header(i);
      if (header.sh_type == SHT_DYNAMIC) read_dynamic(i);
      readable = header.sh_type != kAndroidRel && header.sh_type != kAndroidRela;
    }
    std::size_t tables = 0;
    for (std::size_t i = 1; i < sections_.count() && readable; ++i) {
      const GElf_Shdr header = sections_.header(i);
      const bool relocations = header.sh_type == SHT_RELA || header.sh_type == SHT_REL;
      if (!relocations || (header.sh_flags & SHF_ALLOC) == 0) continue;
      ++tables;
      read_relocations(i, header);
    }
    std::vector<LookedUp> result;
    for (const std::uint32_t symbol : symbols)
      result.push_back(readable && tables != 0 ? found_.at(symbol) : LookedUp::AtLoad);
    return result;
  }

 private:
  void read_dynamic(std::size_t index) {
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, ELF_T_DYN, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(index, elf_errmsg(-1));
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_JMPREL) lazy_table_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_BIND_NOW) bind_now_ = true;
      if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW) != 0) bind_now_ = true;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW) != 0) bind_now_ = true;
    }
  }

  void read_relocations(std::size_t index, const GElf_Shdr& header) {
    const bool lazy = !bind_now_ && lazy_table_ && *lazy_table_ == header.sh_addr;
    const bool with_addend = header.sh_type == SHT_RELA;
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(index, with_addend ? ELF_T_RELA : ELF_T_REL, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Rela relocation{};
      GElf_Rel plain{};
      const int at = static_cast<int>(i);
      const bool read =
          with_addend ? gelf_getrela(data, at, &relocation) != nullptr : gelf_getrel(data, at, &plain) != nullptr;
      if (!read) sections_.fail(index, elf_errmsg(-1));
      const std::uint64_t info = with_addend ? relocation.r_info : plain.r_info;
      const auto found = found_.find(static_cast<std::uint32_t>(GELF_R_SYM(info)));
      if (found == found_.end() || found->second == LookedUp::AtLoad) continue;
      found->second = lazy ? LookedUp::AtFirstCall : LookedUp::AtLoad;
    }
  }

  const ElfSections& sections_;
  std::unordered_map<std::uint32_t, LookedUp> found_;
  std::optional<std::uint64_t> lazy_table_;  // address of DT_JMPREL
  bool bind_now_ = false;
};

}  // namespace

std::vector<LookedUp> when_looked_up(const Origin& origin, std::span<const std::uint32_t> symbols) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return LookupReader(sections, symbols).run(symbols);
}

// --- Edges between sections from relocations, .eh_frame included.

namespace {

constexpr std::uint32_t k64Bit = 0xffffffff;

struct Header {
  std::uint64_t size = 0;  ///< bytes of the length field
  std::uint64_t end = 0;   ///< of the record
};

std::optional<Header> read_header(const ByteView& view, std::uint64_t at) {
  const auto length = view.read<std::uint32_t>(at);
  if (!length) return std::nullopt;
  Header header{4, *length};
  if (*length == k64Bit) {
    const auto longer = view.read<std::uint64_t>(at + 4);
    if (!longer) return std::nullopt;
    header = {12, *longer};
  }
  if (!view.has(at + header.size, header.end)) return std::nullopt;
  header.end += at + header.size;
  return header;
}

}  // namespace

std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order) {
  const ByteView view(bytes, order);
  std::vector<EhFrameRecord> records;
  std::vector<EhFrameRecord> cies;  // by begin
  for (std::uint64_t at = 0; at < view.size();) {
    const auto header = read_header(view, at);
    if (!header) return {};
    if (header->end == at + header->size) {  // a terminator; objects joined with ld -r have them in between
      at = header->end;
      continue;
    }
    const std::uint64_t id_at = at + header->size;
    const auto id = view.read<std::uint32_t>(id_at);  // 4 bytes in .eh_frame even behind a 64-bit length
    if (!id) return {};
    EhFrameRecord record{at, header->end, at, header->end};
    if (*id != 0) {  // how far back its CIE is
      if (*id > id_at) return {};
      const auto cie = std::lower_bound(cies.begin(), cies.end(), id_at - *id,
                                        [](const EhFrameRecord& r, std::uint64_t begin) { return r.begin < begin; });
      if (cie == cies.end() || cie->begin != id_at - *id) return {};
      record.cie = cie->begin;
      record.cie_end = cie->end;
    } else {
      cies.push_back(record);
    }
    records.push_back(record);
    at = header->end;
  }
  return records;
}

namespace {

/// What a relocation names.
struct Target {
  std::uint64_t offset = 0;       ///< of the relocation
  std::uint32_t section = 0;      ///< for a local symbol
  std::uint32_t symbol = 0;       ///< for a global one
  std::uint32_t own_section = 0;  ///< where this object itself has the symbol; 0 when undefined
};

class GraphReader {
 public:
  explicit GraphReader(const ElfSections& sections) : sections_(sections) {}

  SectionGraph run() {
    read_nodes();
    read_descriptors();
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (is_relocation_section(header) && header.sh_info != descriptors_) read_relocations(index, header);
    }
    std::sort(graph_.edges.begin(), graph_.edges.end());
    graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
    return std::move(graph_);
  }

 private:
  void read_nodes() {
    graph_.sections.resize(sections_.count());
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      SectionNode& node = graph_.sections[index];
      node.name = sections_.name(index, header);
      node.type = header.sh_type;
      node.flags = header.sh_flags;
      if ((header.sh_flags & SHF_LINK_ORDER) != 0 && header.sh_link < sections_.count()) node.link = header.sh_link;
      if (header.sh_type == SHT_SYMTAB && symbols_.index == 0) symbols_ = open_symbol_table(sections_, index);
      if (header.sh_type == SHT_SYMTAB_SHNDX) extended_ = sections_.table(index);
      if (header.sh_type == SHT_GROUP) read_group(index);
    }
  }

  /// A section of descriptors is one for all functions: who needs one of them needs that function's code. The first of a
  /// descriptor's relocations has the code's address.
  void read_descriptors() {
    const GElf_Ehdr& file = sections_.file_header();
    const Machine machine{file.e_machine, file.e_ident[EI_CLASS] == ELFCLASS64, file.e_ident[EI_DATA] == ELFDATA2MSB};
    const std::string_view name = traits_of(machine).descriptors;
    if (name.empty() || symbols_.index == 0) return;
    const auto found = std::find_if(graph_.sections.begin(), graph_.sections.end(),
                                    [&](const SectionNode& node) { return node.name == name; });
    if (found == graph_.sections.end()) return;
    descriptors_ = static_cast<std::size_t>(found - graph_.sections.begin());
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (!is_relocation_section(header) || header.sh_info != descriptors_ || header.sh_link != symbols_.index)
        continue;
      each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
        if (const Target target = target_of(entry); target.own_section != 0)
          code_at_.emplace(entry.offset, target.own_section);
      });
    }
    GElf_Sym symbol;
    for (std::size_t i = symbols_.first_global; i < symbols_.count; ++i) {
      if (gelf_getsym(symbols_.data, static_cast<int>(i), &symbol) == nullptr) continue;
      const std::uint32_t section = section_of(sections_, extended_, symbol, i);
      if (const std::uint32_t code = code_of_descriptor(section, symbol.st_value); code != section)
        graph_.code_of.emplace(static_cast<std::uint32_t>(i), code);
    }
  }

  /// `section` itself without a descriptor.
  std::uint32_t code_of_descriptor(std::uint32_t section, std::uint64_t offset) const {
    if (section == 0 || section != descriptors_) return section;
    const auto code = code_at_.find(offset);
    return code == code_at_.end() ? section : code->second;
  }

  void read_group(std::size_t index) {
    const Elf_Data* data = sections_.table(index);
    if (data == nullptr) return;
    const auto* words = static_cast<const Elf32_Word*>(data->d_buf);
    for (std::size_t i = 1; i < data->d_size / sizeof(Elf32_Word); ++i)
      if (words[i] < graph_.sections.size()) graph_.sections[words[i]].group = static_cast<std::uint32_t>(index);
  }

  void read_relocations(std::size_t index, const GElf_Shdr& header) {
    if (header.sh_link != symbols_.index || symbols_.index == 0) return;
    const bool eh_frame = header.sh_info < sections_.count() && graph_.sections[header.sh_info].name == ".eh_frame";
    std::vector<Target> targets;
    each_relocation(sections_, index, header, [&](const RelocationEntry& entry) {
      const Target target = target_of(entry);
      if (eh_frame)
        targets.push_back(target);
      else
        add(header.sh_info, target, SectionEdge::Kind::Plain, header.sh_info);
    });
    if (eh_frame) add_eh_frame(header.sh_info, std::move(targets));
  }

  Target target_of(const RelocationEntry& relocation) const {
    Target target{relocation.offset, 0, 0, 0};
    const std::uint64_t symbol = relocation.symbol;
    GElf_Sym entry;
    if (symbol >= symbols_.count || gelf_getsym(symbols_.data, static_cast<int>(symbol), &entry) == nullptr)
      return target;  // the linkers refuse such an object; nothing depends on what it would need
    target.own_section = section_of(sections_, extended_, entry, symbol);
    const bool local = symbol < symbols_.first_global || GELF_ST_BIND(entry.st_info) == STB_LOCAL;
    if (local && entry.st_shndx != SHN_UNDEF)
      target.section = code_of_descriptor(target.own_section, entry.st_value + relocation.addend);
    else
      target.symbol = static_cast<std::uint32_t>(symbol);
    return target;
  }

  void add(std::uint32_t from, const Target& target, SectionEdge::Kind kind, std::uint32_t written_in) {
    // Text names its own section over and over, and the same callee too: what was just added is not added again.
    const SectionEdge edge{from, target.section, target.symbol, kind, written_in};
    if ((target.section == 0 && target.symbol == 0) || (target.section == from && kind == SectionEdge::Kind::Plain))
      return;
    if (graph_.edges.empty() || graph_.edges.back() != edge) graph_.edges.push_back(edge);
  }

  void add_eh_frame(std::uint32_t index, std::vector<Target> targets) {
    std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return a.offset < b.offset; });
    const auto from_offset = [&](std::uint64_t offset) {
      return std::lower_bound(targets.begin(), targets.end(), offset,
                              [](const Target& t, std::uint64_t at) { return t.offset < at; });
    };
    std::vector<EhFrameRecord> records;
    if (const Elf_Data* data = sections_.table(index); data != nullptr) {
      const bool big = sections_.file_header().e_ident[EI_DATA] == ELFDATA2MSB;
      records = read_eh_frame({static_cast<const std::byte*>(data->d_buf), data->d_size},
                              big ? ByteOrder::Big : ByteOrder::Little);
    }
    if (records.empty()) {  // not to be taken apart: a section like any other
      for (const Target& target : targets) add(index, target, SectionEdge::Kind::Plain, index);
      return;
    }
    std::unordered_map<std::uint64_t, bool> used;  // CIE -> does a record use it?
    for (const EhFrameRecord& record : records) {
      if (record.is_cie()) {
        used.emplace(record.begin, false);
        continue;
      }
      auto target = from_offset(record.begin);
      if (target == targets.end() || target->offset >= record.end) continue;
      const std::uint32_t function = target->own_section;  // the first relocation of an FDE says what it describes
      for (++target; target != targets.end() && target->offset < record.end; ++target)
        add(function, *target, SectionEdge::Kind::Handlers, index);
      used[record.cie] = true;
      // A CIE has one relocation, its personality routine's; a crafted one with thousands, shared by thousands of
      // records, must not multiply.
      auto shared = from_offset(record.cie);
      for (int i = 0; i < 4 && shared != targets.end() && shared->offset < record.cie_end; ++i, ++shared)
        add(function, *shared, SectionEdge::Kind::Personality, index);
    }
    for (const EhFrameRecord& record : records) {
      if (!record.is_cie() || used[record.begin]) continue;
      for (auto target = from_offset(record.begin); target != targets.end() && target->offset < record.end; ++target)
        add(0, *target, SectionEdge::Kind::Personality, index);
    }
  }

  const ElfSections& sections_;
  SectionGraph graph_;
  ElfSymbols symbols_;
  const Elf_Data* extended_ = nullptr;
  std::size_t descriptors_ = 0;                               ///< header index; 0: none
  std::unordered_map<std::uint64_t, std::uint32_t> code_at_;  ///< of the descriptor at an offset
};

}  // namespace

SectionGraph read_section_graph(const Origin& origin) {
  const ElfFile file = ElfFile::open(origin);
  const ElfSections sections(file, origin);
  return GraphReader(sections).run();
}

}  // namespace elfaudit
