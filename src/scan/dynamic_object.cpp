#include "scan/dynamic_object.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "elf/symbol_reader.hpp"
#include "elfaudit/error.hpp"
#include "scan/device/device_code.hpp"
#include "scan/symbol_versions.hpp"

namespace elfaudit {
namespace {

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> folders;
  if (path.empty()) return folders;
  for (;;) {
    const std::size_t colon = path.find(':');
    folders.emplace_back(path.substr(0, colon));
    if (colon == std::string_view::npos) return folders;
    path.remove_prefix(colon + 1);
  }
}

class DynamicReader {
 public:
  DynamicReader(const ElfSections& sections, ObjectFacts& facts)
      : sections_(sections), facts_(facts), strings_(sections, facts), used_(sections.count()) {}

  void run() {
    const bool executable = sections_.file_header().e_type == ET_EXEC;
    facts_.kind = executable ? ObjectKind::Executable : ObjectKind::SharedObject;
    survey();
    if (dynamic_index_ != 0) read_dynamic_section();
    // A statically linked executable has neither; a shared object without them is the debug half of a stripped one.
    else if (!executable)
      sections_.fail("is a shared object without a dynamic section; is it a separate debug file?");
    if (symbol_table_index_ == 0) return;
    symbols_ = open_symbol_table(sections_, symbol_table_index_);
    strings_.add(symbols_.strings_index, symbols_.strings);
    read_symbols();
    used_.record(sections_, strings_, {}, facts_);
  }

 private:
  void survey() {
    if (sections_.count() == 0)
      sections_.fail("has no section headers (stripped by sstrip?), without which linkers find no symbols");
    for (std::size_t index = 1; index < sections_.count(); ++index) {
      const GElf_Shdr header = sections_.header(index);
      if (header.sh_type == SHT_DYNSYM && symbol_table_index_ == 0) symbol_table_index_ = index;
      if (header.sh_type == SHT_DYNAMIC && dynamic_index_ == 0) dynamic_index_ = index;
      facts_.has_device_code |= holds_device_code(sections_.name(index, header));
    }
  }

  /// gABI 5 "Dynamic Section"
  void read_dynamic_section() {
    const StringTable strings = sections_.strings(sections_.header(dynamic_index_).sh_link, dynamic_index_);
    std::uint64_t count = 0;
    Elf_Data* data = sections_.table(dynamic_index_, ELF_T_DYN, count);
    std::string_view runpath;
    std::string_view rpath;
    const auto text = [&](const GElf_Dyn& entry) {
      if (!strings.holds(entry.d_un.d_val))
        sections_.fail(dynamic_index_, "names a string outside of its string table");
      return strings.at(entry.d_un.d_val);
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) sections_.fail(dynamic_index_, elf_errmsg(-1));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SONAME) facts_.soname = text(entry);
      if (entry.d_tag == DT_NEEDED) add_needed(text(entry));
      if (entry.d_tag == DT_RUNPATH) runpath = text(entry);
      if (entry.d_tag == DT_RPATH) rpath = text(entry);
      if (entry.d_tag == DT_SYMBOLIC) facts_.symbolic = true;
      if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC) != 0) facts_.symbolic = true;
      if (entry.d_tag != DT_FLAGS_1) continue;
      if ((entry.d_un.d_val & DF_1_PIE) != 0) facts_.kind = ObjectKind::Executable;
      if ((entry.d_un.d_val & DF_1_NODEFLIB) != 0) facts_.no_default_libraries = true;
    }
    facts_.runpath = split_path(runpath.empty() ? rpath : runpath);
    facts_.runpath_is_rpath = runpath.empty() && !rpath.empty();
  }

  void add_needed(std::string_view name) {
    constexpr std::size_t kMaxNeeded = std::size_t{16} << 20;  // bytes; entries may all name the same long string
    needed_bytes_ += name.size();
    if (needed_bytes_ > kMaxNeeded) sections_.fail(dynamic_index_, "names needed libraries of more than 16 MiB in all");
    facts_.needed.emplace_back(name);
  }

  void read_symbols() {
    const SymbolVersions versions(sections_, symbols_, strings_);
    facts_.versions = versions.defined();
    facts_.version_needs = versions.needed();
    for (std::uint64_t index = symbols_.first_global; index < symbols_.count; ++index) {
      GElf_Sym entry;
      if (gelf_getsym(symbols_.data, static_cast<int>(index), &entry) == nullptr)
        sections_.fail(symbols_.index, elf_errmsg(-1));
      // Linkers skip locals after sh_info here as they do in objects.
      if (GELF_ST_BIND(entry.st_info) == STB_LOCAL) continue;
      read_symbol(entry, static_cast<std::uint32_t>(index), versions.of(index));
    }
  }

  void read_symbol(const GElf_Sym& entry, std::uint32_t index, const SymbolVersions::Version& version) {
    // A version script made it local after the symbol had got its place in the table: it is not exported.
    if (version.scope == SymbolVersions::Scope::Local && entry.st_shndx != SHN_UNDEF) return;
    const Text name = strings_.text(symbols_.strings_index, entry.st_name, "a symbol");
    Symbol symbol = symbol_from(sections_, entry, index, name, facts_.text(name));
    place(symbol, entry);
    if (version.scope == SymbolVersions::Scope::Versioned) {
      symbol.version = version.name;
      symbol.default_version = symbol.defined() && !version.hidden;
    }
    facts_.symbols.push_back(symbol);
  }

  void place(Symbol& symbol, const GElf_Sym& entry) {
    if (entry.st_shndx == SHN_UNDEF) return;
    if (entry.st_shndx == SHN_ABS) {
      symbol.placement = Placement::Absolute;
    } else if (is_common(entry.st_shndx, facts_.machine)) {
      symbol.placement = Placement::Common;
    } else {
      symbol.placement = Placement::InSection;
      // Tools that drop or reorder sections leave stale numbers here, and nothing that links a shared object looks at
      // them.
      if (entry.st_shndx >= sections_.count()) return;
      symbol.section = entry.st_shndx;
      used_.use(entry.st_shndx);
    }
  }

  const ElfSections& sections_;
  ObjectFacts& facts_;
  Strings strings_;
  UsedSections used_;
  std::size_t symbol_table_index_ = 0;
  std::size_t dynamic_index_ = 0;
  std::size_t needed_bytes_ = 0;
  SymbolTable symbols_;
};

}  // namespace

void read_dynamic(const ElfSections& sections, ObjectFacts& facts) { DynamicReader(sections, facts).run(); }

}  // namespace elfaudit
