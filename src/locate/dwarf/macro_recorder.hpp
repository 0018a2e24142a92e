// Puts the entries of macro info together as MacroEvents. Used by the two readers of such entries.
#pragma once

#include <algorithm>

#include "locate/dwarf/macro_events.hpp"

namespace elfaudit::dwarf {

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
    if (budget_ == 0) throw BadDebugInfo("it has too much macro info");
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
  // Compilers stop at 200 nested includes unless told otherwise (-fmax-include-depth).
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
