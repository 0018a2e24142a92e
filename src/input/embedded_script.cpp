#include "input/embedded_script.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "elfaudit/error.hpp"
#include "input/driver.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

struct Format {
  std::string_view name;
  Machine machine;
};

// BFD's names of the formats that distributions put in OUTPUT_FORMAT() of libc.so.
constexpr std::array kFormats{
    Format{"elf64-x86-64", {EM_X86_64, true}},      Format{"elf32-x86-64", {EM_X86_64, false}},
    Format{"elf32-i386", {EM_386, false}},          Format{"elf64-littleaarch64", {EM_AARCH64, true}},
    Format{"elf32-littlearm", {EM_ARM, false}},     Format{"elf64-littleriscv", {EM_RISCV, true}},
    Format{"elf32-littleriscv", {EM_RISCV, false}}, Format{"elf64-powerpcle", {EM_PPC64, true}},
    Format{"elf64-powerpc", {EM_PPC64, true}},      Format{"elf32-powerpc", {EM_PPC, false}},
    Format{"elf64-s390", {EM_S390, true}},          Format{"elf32-s390", {EM_S390, false}},
    Format{"elf64-loongarch", {258, true}},         Format{"elf64-sparc", {EM_SPARCV9, true}},
};

}  // namespace

std::vector<std::string> search_dirs_in(std::string_view script) {
  std::vector<std::string> dirs;
  constexpr std::string_view kOpen = "SEARCH_DIR(\"";
  for (std::size_t at = script.find(kOpen); at != std::string_view::npos; at = script.find(kOpen, at)) {
    at += kOpen.size();
    const std::size_t end = script.find('"', at);
    if (end == std::string_view::npos) break;
    dirs.emplace_back(script.substr(at, end - at));
  }
  return dirs;
}

Machine machine_of_format(std::string_view format) {
  const auto known = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == format; });
  return known == kFormats.end() ? Machine{} : known->machine;
}

// A linker for several machines has ten scripts or so for each, one for each way to link; those for -r name no folder.
std::vector<std::string> embedded_search_dirs(const std::string& program, Machine machine) {
  constexpr std::string_view kFormat = "OUTPUT_FORMAT(\"";
  constexpr std::string_view kSections = "SECTIONS";  // the folders stand before it
  try {
    const MappedFile file(in_path(program));
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    for (std::size_t at = text.find(kFormat); at != std::string_view::npos; at = text.find(kFormat, at)) {
      at += kFormat.size();
      if (machine_of_format(text.substr(at, text.substr(at).find('"'))) != machine) continue;
      const std::string_view script = text.substr(at, text.substr(at).find(kSections));
      if (std::vector<std::string> dirs = search_dirs_in(script); !dirs.empty()) return dirs;
    }
  } catch (const InputError&) {  // not there, or a wrapper that can't be read: it is asked
  }
  return {};
}

}  // namespace elfaudit
