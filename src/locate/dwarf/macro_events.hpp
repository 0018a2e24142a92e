// What the preprocessor did in one compilation, in its order: .debug_macro (DWARF5 6.3; version 4, which g++ writes
// with -gdwarf-4, is the GNU form of the same) and .debug_macinfo (DWARF4 6.3).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "locate/dwarf/line_header.hpp"
#include "locate/dwarf/units.hpp"

namespace elfaudit::dwarf {

constexpr std::uint32_t kNoReading = std::numeric_limits<std::uint32_t>::max();

/// A #define or #undef; or, without text, what can't be read and may be any number of them.
struct MacroEvent {
  std::string_view text;      ///< "NAME value" or "NAME(a,b) value"; no data when it can't be had
  std::uint32_t line = 0;     ///< 0: by the compiler or its command line
  std::uint32_t in : 30 = 0;  ///< the reading that it happened in
  bool define : 1 = false;
  bool one_of_unplaced : 1 = false;  ///< without text, but among MacroEvents::unplaced
};

/// One reading of a file, from where it was entered to where it was left.
struct FileReading {
  std::uint64_t file = 0;  ///< in MacroEvents::files
  std::uint32_t line = 0;  ///< of the #include, in the reading below; 0: -include on the command line
  std::uint32_t included_by = kNoReading;
  std::uint32_t depth = 0;
  std::uint32_t first = 0, end = 0;  ///< events, those of the files that it includes among them
};

struct MacroEvents {
  std::vector<MacroEvent> initial;  ///< before the first line: predefined, and -D and -U
  std::vector<MacroEvent> events;
  std::vector<FileReading> readings;  ///< in the order in which they began
  std::vector<MacroEvent> unplaced;   ///< happened, but it is not known where
  std::optional<FileNames> files;
};

/// Reads what a compilation unit, opened, says about its macros. `budget`: the entries that may still be read, of all
/// units together; counted down. Nothing when the unit has no macro info. Throws BadDebugInfo.
std::optional<MacroEvents> read_macro_events(const Unit& unit, std::uint64_t& budget);

}  // namespace elfaudit::dwarf
