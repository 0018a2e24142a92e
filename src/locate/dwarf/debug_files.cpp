#include "locate/dwarf/debug_files.hpp"

#include <dwarf.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>

#include "elfaudit/error.hpp"
#include "locate/dwarf/line_header.hpp"
#include "locate/dwarf/split.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit {
namespace {

using namespace dwarf;

std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

void add_files(Unit& unit, std::set<std::string>& files) {
  if (!unit.line_table) return;
  const FileNames names(unit, *unit.line_table);
  for (std::uint64_t i = 0; i < names.size(); ++i)
    if (const std::string path = names.path(i); path.starts_with('/')) files.insert(normal(path));
}

/// The numbers under which a unit's line table has the file.
std::vector<std::uint64_t> numbers_of(const Unit& unit, const std::string& file) {
  std::vector<std::uint64_t> numbers;
  const Unit& main = unit.main();
  if (!main.line_table) return numbers;
  const FileNames names(main, *main.line_table);
  for (std::uint64_t i = 0; i < names.size(); ++i)
    if (normal(names.path(i)) == file) numbers.push_back(i);
  return numbers;
}

/// Names that the source need not spell: "operator+", "<lambda()>", constructors' clones.
bool is_plain_name(std::string_view name) {
  return !name.empty() && !name.starts_with("operator") && !name.starts_with("__") &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

void add_declarations(const Unit& unit, const std::vector<std::uint64_t>& files, std::set<Declared>& found) {
  for (std::uint64_t offset = unit.first_die; offset < unit.end;) {
    const Die die = read_die(unit, offset);
    if (die.abbrev == nullptr) {
      offset = die.attributes;
      continue;
    }
    if (die.tag() != DW_TAG_variable && die.tag() != DW_TAG_subprogram) {
      offset = skip_attributes(die);
      continue;
    }
    Declared declared;
    std::uint64_t file = 0;
    bool artificial = false;
    offset = for_each_attribute(die, [&](std::uint16_t name, const Value& value) {
      if (name == DW_AT_name) declared.name = text(unit, value).value_or("");
      if (name == DW_AT_decl_file) file = value.number;
      if (name == DW_AT_decl_line) declared.line = static_cast<std::uint32_t>(value.number);
      if (name == DW_AT_artificial) artificial = true;
    });
    if (!artificial && declared.line != 0 && is_plain_name(declared.name) &&
        std::find(files.begin(), files.end(), file) != files.end())
      found.insert(std::move(declared));
  }
}

/// Calls `visit` with each unit, opened. What can't be read of the object is passed over: it is told where a place is
/// looked for.
template <class Visit>
void each_unit(const Origin& origin, Visit visit) {
  try {
    DebugFile file(origin, false);
    for (Unit& unit : file.units())
      if (!unit.type_unit) visit(file.open(unit));
  } catch (const BadDebugInfo&) {
  } catch (const InputError&) {
  }
}

}  // namespace

std::vector<std::string> files_in_debug_info(const Origin& origin) {
  std::set<std::string> files;
  each_unit(origin, [&](Unit& unit) { add_files(unit, files); });
  return {files.begin(), files.end()};
}

std::vector<Declared> declared_in(const Origin& origin, const std::string& file) {
  std::set<Declared> found;
  SplitFiles split(origin);
  each_unit(origin, [&](Unit& unit) {
    const std::vector<std::uint64_t> numbers = numbers_of(unit, file);
    const Unit* body = numbers.empty() ? nullptr : split.body(unit);
    if (body != nullptr) add_declarations(*body, numbers, found);
  });
  return {found.begin(), found.end()};
}

}  // namespace elfaudit
