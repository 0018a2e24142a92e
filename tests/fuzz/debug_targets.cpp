// Debug info: places, macros and types (src/locate/dwarf, src/divergence). Seeds with debug info come from compilers
// (scripts/fuzz); here are files that have none.

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "divergence/libdw.hpp"
#include "divergence/type_shapes.hpp"
#include "fuzz.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/dwarf/macro_info.hpp"
#include "locate/dwarf/reader_pool.hpp"
#include "scan/scan.hpp"

namespace elfaudit::fuzz {
namespace {

/// The object's symbols, at most so many, as locate asks for them.
std::vector<SymbolQuery> queries_of(const ObjectFacts& object) {
  constexpr std::size_t kMost = 40;
  std::vector<SymbolQuery> wanted;
  for (std::size_t i = 0; i < std::min(object.symbols.size(), kMost); ++i)
    wanted.push_back({object.symbols[i].index, std::string(object.name(object.symbols[i]))});
  return wanted;
}

const Registered kSites({"sites",
                         Form::Binary,
                         [](std::string_view input) {
                           const std::string path = put("a.o", input);
                           const InputFacts facts = scan_input(path);
                           for (const ObjectFacts& object : facts.objects) {
                             if (object.origin.is_member()) continue;
                             const std::vector<SymbolQuery> wanted = queries_of(object);
                             const std::vector<Located> found = locate_with_unit(object.origin, wanted);
                             require(found.size() == wanted.size(), "every question has an answer");
                             for (const Located& at : found)
                               require(at.place.known_by != KnownBy::Nothing || !at.place.why_unknown.empty(),
                                       "what is not known says why");
                             static_cast<void>(lines_of_code(object.origin, {{".text", 0, 0}, {".text", 5, 0}}));
                             for (const std::string& file : files_in_debug_info(object.origin))
                               static_cast<void>(declared_in(object.origin, file));
                           }
                         },
                         object_seeds(),
                         {},
                         4});

const Registered kMacros({"macro_info",
                          Form::Binary,
                          [](std::string_view input) {
                            const Origin origin = origin_of(put("a.o", input));
                            std::string why;
                            for (const std::optional<std::size_t> unit : {std::optional<std::size_t>(0), {}}) {
                              const std::optional<MacroInfo> info = MacroInfo::read(origin, unit, why);
                              if (!info) continue;
                              for (const Reading& reading : info->readings("/src/a.c", 3)) {
                                static_cast<void>(info->chain(reading));
                                for (const std::string& name : info->names(reading, 3))
                                  static_cast<void>(info->at(name, reading, 3));
                              }
                              static_cast<void>(info->names({0, 0}, 9));
                            }
                          },
                          object_seeds(),
                          {},
                          4});

const Registered kDebugImage({"debug_image",
                              Form::Binary,
                              [](std::string_view input) {
                                try {
                                  dwarf::DebugSections sections(origin_of(put("a.o", input)), false);
                                  static_cast<void>(make_debug_image(sections));
                                } catch (const dwarf::BadDebugInfo&) {
                                }
                              },
                              object_seeds(),
                              {},
                              2});

/// libdw may die of it: that is what the process is for. No answer is a finding only where it is not libdw's.
const Registered kTypes({"types",
                         Form::Binary,
                         [](std::string_view input) {
                           const Origin origin = origin_of(put("a.o", input));
                           const auto read = [&](std::string_view) {
                             const ObjectRows rows = read_shape_rows(origin);
                             std::unordered_set<std::uint64_t> names;
                             for (const ShapeRow& row : rows.rows) names.insert(row.name);
                             for (const Shape& shape : read_shapes(origin, names)) {
                               static_cast<void>(types_in(shape.type));
                               for (const ShapePart& part : shape.parts) static_cast<void>(types_in(part.type));
                             }
                             static_cast<void>(read_mentions(origin));
                             return std::string("read");
                           };
                           std::size_t answers = 0;
                           read_apart({"a"}, {}, read, [&](std::size_t, const ReaderAnswer& answer) {
                             ++answers;
                             require(!answer.text.empty() || !answer.failed.empty(),
                                     "the reader answers or says why not");
                           });
                           require(answers == 1, "every request has an answer");
                         },
                         object_seeds(),
                         {},
                         20,
                         true});

}  // namespace
}  // namespace elfaudit::fuzz
