#include "locate/compilation.hpp"

#include <dwarf.h>

#include <algorithm>
#include <exception>

#include "locate/dwarf/debug_source.hpp"
#include "locate/dwarf/line_header.hpp"

namespace elfaudit {
namespace {

using namespace dwarf;

constexpr std::size_t kMostFiles = 1U << 16;

bool is_c(std::uint64_t language) {
  switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c:  // C17 and C23 have numbers since DWARF 5, for which elfutils 0.188 has no names
    case 0x3e:
      return true;
    default:
      return false;
  }
}

std::uint64_t language_of(const Unit& unit) {
  std::uint64_t language = 0;
  for_each_attribute(read_die(unit, unit.first_die), [&](std::uint16_t name, const Value& value) {
    if (name == DW_AT_language) language = value.number;
  });
  return language;
}

std::vector<std::string> files_of(const Unit& main) {
  std::vector<std::string> files;
  if (!main.line_table) return files;
  const FileNames names(main, *main.line_table);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(names.size(), kMostFiles); ++i)
    if (std::string path = names.path(i); !path.empty()) files.push_back(std::move(path));
  return files;
}

/// Of a split unit, where it ran and the line table are in the skeleton, the rest in the body.
Compilation read(const Unit& body) {
  const Unit& main = body.main();
  Compilation compilation;
  compilation.source = body.name.empty() ? main.name : body.name;
  compilation.folder = main.comp_dir.empty() ? body.comp_dir : main.comp_dir;
  compilation.producer = body.producer.empty() ? main.producer : body.producer;
  compilation.is_c = is_c(language_of(body));
  compilation.files = files_of(main);
  return compilation;
}

}  // namespace

std::optional<Compilation> compilation_of(const Origin& origin, std::size_t unit, const DebugRoots& roots) {
  try {
    DebugSource source(origin, roots);
    if (source.debug() == nullptr || unit >= source.debug()->units().size()) return std::nullopt;
    const Unit* body = source.split().body(source.debug()->open(source.debug()->units()[unit]));
    if (body != nullptr) return read(*body);
  } catch (const std::exception&) {  // the search for places has reported what is wrong with it
  }
  return std::nullopt;
}

}  // namespace elfaudit
