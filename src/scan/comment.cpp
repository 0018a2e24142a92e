// .comment: a list of strings, each compiler's name for itself (GNU as .ident; merged by linkers).
#include <cstring>
#include <set>
#include <string>

#include "elfaudit/error.hpp"
#include "scan/elf_file.hpp"
#include "scan/elf_sections.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
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

}  // namespace

std::string compiler_named_in(const Origin& origin) {
  try {
    const ElfFile file = ElfFile::open(origin);
    const ElfSections sections(file, origin);
    for (std::size_t i = 1; i < sections.count(); ++i) {
      if (sections.name(i, sections.header(i)) != ".comment") continue;
      const Elf_Data* data = sections.table(i);
      if (data == nullptr || data->d_buf == nullptr) return {};
      const auto found = entries({static_cast<const char*>(data->d_buf), data->d_size});
      return found.size() == 1 ? *found.begin() : std::string();
    }
  } catch (const InputError&) {
  }
  return {};
}

}  // namespace elfaudit
