#include <cstring>
#include <set>
#include <string>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "elfaudit/error.hpp"
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

}  // namespace elfaudit
