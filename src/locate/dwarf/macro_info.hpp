// Through which includes a place was reached, and what the macros were there, from the object's own debug info (g++
// -g3, clang -fdebug-macro). Opened only for findings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "locate/dwarf/debug_sections.hpp"
#include "locate/dwarf/line_tables.hpp"
#include "locate/dwarf/units.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit::dwarf {

// --- What the preprocessor did in one compilation, in its order: .debug_macro (DWARF5 6.3; version 4, which g++ writes
// with -gdwarf-4, is the GNU form of the same) and .debug_macinfo (DWARF4 6.3).

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

// --- Puts the entries of macro info together as MacroEvents. Used by the two readers of such entries.

class MacroRecorder {
 public:
  /// `budget`: the entries that may still be read; counted down.
  MacroRecorder(MacroEvents& into, std::uint64_t& budget) : into_(into), budget_(budget) {}

  MacroEvents& into() { return into_; }
  /// The reading that goes on; kNoReading before the first.
  std::uint32_t current() const { return current_; }
  /// From here on, what happens happens at a place that is not known.
  void lose_place() { place_lost_ = true; }

  /// To be called for each entry. Throws BadDebugInfo when there are too many.
  void spend() {
    if (budget_ == 0)
      throw BadDebugInfo("it has more than " + std::to_string(limits::kMacroEntries) + " entries of macro info");
    --budget_;
  }

  void directive(bool define, std::uint64_t line, std::string_view text) {
    MacroEvent event;
    event.text = text;
    event.line = narrow(line);
    event.define = define;
    add(event);
  }

  void unreadable(bool one_of_unplaced) {
    MacroEvent event;
    event.one_of_unplaced = one_of_unplaced;
    add(event);
  }

  void start_file(std::uint64_t line, std::uint64_t file) {
    if (place_lost_) return;
    FileReading reading;
    reading.file = file;
    reading.line = narrow(line);
    reading.included_by = current_;
    reading.depth = current_ == kNoReading ? 0 : into_.readings[current_].depth + 1;
    reading.first = reading.end = here();
    if (reading.depth > kDeepestInclude) throw BadDebugInfo("its includes nest too deeply");
    current_ = static_cast<std::uint32_t>(into_.readings.size());
    into_.readings.push_back(reading);
  }

  void end_file() {
    if (!place_lost_ && current_ != kNoReading) leave_file();
  }

  /// At the end of the list. Files that were never left end there.
  void finish() {
    while (current_ != kNoReading) leave_file();
  }

 private:
  // Compilers stop at 200 nested includes unless an option says otherwise (-fmax-include-depth).
  static constexpr std::uint32_t kDeepestInclude = 4096;

  static std::uint32_t narrow(std::uint64_t line) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(line, std::numeric_limits<std::uint32_t>::max()));
  }

  void leave_file() {
    into_.readings[current_].end = here();
    current_ = into_.readings[current_].included_by;
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(into_.events.size()); }

  void add(MacroEvent event) {
    if (place_lost_) return into_.unplaced.push_back(event);
    // clang lists what was there from the beginning last, behind the end of the file that was compiled.
    if (current_ == kNoReading) return into_.initial.push_back(event);
    event.in = current_ & 0x3fffffff;  // there are fewer: the budget
    into_.events.push_back(event);
  }

  MacroEvents& into_;
  std::uint64_t& budget_;
  std::uint32_t current_ = kNoReading;
  bool place_lost_ = false;
};

}  // namespace elfaudit::dwarf

namespace elfaudit {

/// What a macro is at a place.
struct MacroState {
  bool defined = false;
  std::string parameters;  ///< "(x,...)"; empty for a macro that takes none
  std::string value;       ///< what it expands to; empty: nothing
  /// The #define, or the #undef that ended it. Nothing: no line of the source did; then it never was defined, or the
  /// compiler or its command line (-D, -U) did it, which `by_compiler` says.
  std::optional<SourceLine> at;
  bool by_compiler = false;
  bool operator==(const MacroState& other) const;
};

/// One reading of a file by one compilation. A file without an include guard, or whose guard the compiler did not see
/// through, is read several times.
struct Reading {
  std::uint32_t unit = 0, number = 0;
};

class MacroInfo {
 public:
  /// `unit`: Located::unit, the compilation that is asked about; without it all of the object's are read, of which only
  /// objects made by `ld -r` and linked files have several. `folder`: where paths are shown from, as display_path() takes
  /// it. Returns nothing when macro info is missing, and says why in `why_not`; never throws.
  static std::optional<MacroInfo> read(const Origin& origin, std::optional<std::size_t> unit, std::string& why_not,
                                       const DebugRoots& roots = {}, std::string folder = working_directory());
  MacroInfo(MacroInfo&&) noexcept;
  MacroInfo& operator=(MacroInfo&&) noexcept;
  ~MacroInfo();

  /// The readings of a file (spelled as Place::at spells it) in which its line may have been seen, the likeliest first:
  /// one in which the last directive before the line was obeyed that any reading obeyed, else the first.
  /// What is known of several is known of the place only where they agree.
  std::vector<Reading> readings(const std::string& file, std::uint32_t line) const;

  /// From the translation unit to the file that is read: each entry includes the next, the last the file. Line 0 says
  /// that -include on the command line did. Empty for the translation unit itself.
  std::vector<SourceLine> chain(const Reading& reading) const;
  /// Of the likeliest reading; nothing when the file was never read.
  std::optional<std::vector<SourceLine>> chain_to(const std::string& file, std::uint32_t line) const;

  /// The macro as the line finds it; what a directive on the line itself does comes after that. Nothing when that is
  /// not known: part of the macro info is in a file that is not available.
  std::optional<MacroState> at(std::string_view name, const Reading& reading, std::uint32_t line) const;
  /// In whichever reading. Nothing also when the file was never read, or its readings disagree.
  std::optional<MacroState> at(std::string_view name, const std::string& file, std::uint32_t line) const;

  /// The names of all macros that are known to be defined there, sorted.
  std::vector<std::string> names(const Reading& reading, std::uint32_t line) const;

 private:
  struct Data;
  explicit MacroInfo(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace elfaudit
