#include "stale/member_copy.hpp"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "elf/elf_file.hpp"
#include "elfaudit/error.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

using Bytes = std::span<const std::byte>;

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// What a linker takes of an object, without what it takes for debuggers.
struct Essence {
  std::vector<std::tuple<std::string, std::uint64_t, Bytes>> loaded;    ///< name, size, bytes of each section
  std::set<std::tuple<std::string, unsigned, unsigned, bool>> globals;  ///< name, binding, visibility, defined
  std::set<std::string> exported;                                       ///< defined, visible and not weak
  std::set<std::string> sections;                                       ///< every name
};

class EssenceReader {
 public:
  explicit EssenceReader(Elf* elf) : elf_(elf) {}

  Essence read() {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* name = elf_strptr(elf_, names, header.sh_name);
      essence_.sections.insert(name == nullptr ? "" : name);
      if ((header.sh_flags & SHF_ALLOC) != 0)
        essence_.loaded.emplace_back(name == nullptr ? "" : name, header.sh_size, bytes_of(section));
      if (header.sh_type == SHT_SYMTAB) read_symbols(section, header);
    }
    return std::move(essence_);
  }

 private:
  static Bytes bytes_of(Elf_Scn* section) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    return data == nullptr || data->d_buf == nullptr ? Bytes()
                                                     : Bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  }

  void read_symbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    const auto count = static_cast<int>(std::min<std::uint64_t>(header.sh_size / header.sh_entsize, 0x7fffffff));
    for (int i = std::min<int>(static_cast<int>(header.sh_info), count); i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) return;
      const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name == nullptr) continue;
      const bool defined = symbol.st_shndx != SHN_UNDEF;
      const unsigned binding = GELF_ST_BIND(symbol.st_info);
      const unsigned visibility = GELF_ST_VISIBILITY(symbol.st_other);
      essence_.globals.insert({name, binding, visibility, defined});
      if (defined && binding != STB_WEAK && visibility == STV_DEFAULT) essence_.exported.insert(name);
    }
  }

  Elf* elf_;
  Essence essence_;
};

bool load_the_same(const Essence& a, const Essence& b) {
  return std::equal(a.loaded.begin(), a.loaded.end(), b.loaded.begin(), b.loaded.end(),
                    [](const auto& x, const auto& y) {
                      return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y) &&
                             equal(std::get<2>(x), std::get<2>(y));
                    });
}

/// Both files, as long as they are compared.
class Pair {
 public:
  /// Throws InputError.
  Pair(const Origin& member, const std::string& object)
      : archive_(member.bytes_path.empty() ? member.path : member.bytes_path), file_(object) {
    const std::span<std::byte> all = archive_.bytes();
    if (member.offset > all.size() || member.size > all.size() - member.offset)
      throw InputError(member.path, "changed while it was read");
    member_ = all.subspan(member.offset, member.size);
    object_ = file_.bytes();
    origin_ = member;
    path_.path = object;
  }

  bool equal_bytes() const { return equal(member_, object_); }

  /// Nothing for what is no ELF file: compilers' own code for link-time optimisation. Throws InputError.
  std::optional<std::pair<Essence, Essence>> essences() {
    constexpr char kMagic[] = {0x7f, 'E', 'L', 'F'};
    for (const Bytes bytes : {Bytes(member_), Bytes(object_)})
      if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return std::nullopt;
    elves_.push_back(ElfFile::open(origin_, member_));
    elves_.push_back(ElfFile::open(path_, object_));
    return std::pair(EssenceReader(elves_[0].get()).read(), EssenceReader(elves_[1].get()).read());
  }

 private:
  MappedFile archive_;
  MappedFile file_;
  std::span<std::byte> member_;
  std::span<std::byte> object_;
  Origin origin_;
  Origin path_;
  std::vector<ElfFile> elves_;  // what the essences point into
};

bool was_stripped(const Essence& member, const Essence& object) {
  return member.sections.size() < object.sections.size() &&
         std::includes(object.sections.begin(), object.sections.end(), member.sections.begin(), member.sections.end());
}

}  // namespace

Copy compare_copy(const Origin& member, const std::string& object, bool names_may_differ) {
  try {
    Pair pair(member, object);
    if (pair.equal_bytes()) return Copy::Equal;
    const auto essences = pair.essences();
    if (!essences) return Copy::Other;
    const auto& [copy, original] = *essences;
    if (!load_the_same(copy, original)) return Copy::Other;
    const bool same_names = copy.globals == original.globals;
    if (same_names && was_stripped(copy, original)) return Copy::Stripped;
    return !same_names && names_may_differ ? Copy::Stripped : Copy::Other;
  } catch (const InputError&) {
    return Copy::Unknown;
  }
}

bool define_the_same(const Origin& member, const std::string& object) {
  try {
    const auto essences = Pair(member, object).essences();
    if (!essences) return false;
    const std::set<std::string>& a = essences->first.exported;
    const std::set<std::string>& b = essences->second.exported;
    return !a.empty() && !b.empty() &&
           (std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
            std::includes(b.begin(), b.end(), a.begin(), a.end()));
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace elfaudit
