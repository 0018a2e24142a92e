// Through which includes a place was reached, and what the macros were there, from the object's own debug info (g++
// -g3, clang -fdebug-macro). Opened only for findings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"
#include "elfaudit/origin.hpp"
#include "locate/dwarf/separate.hpp"

namespace elfaudit {

/// What a macro is at a place.
struct MacroState {
  bool defined = false;
  std::string parameters;  ///< "(x,...)"; empty for a macro that takes none
  std::string value;       ///< what it expands to; empty: nothing
  /// The #define, or the #undef that ended it. Nothing: no line of the source did; then it never was defined, or the
  /// compiler or its command line (-D, -U) did it, which `by_compiler` tells.
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
  /// objects made by `ld -r` and linked files have several. Nothing, and why, when there is no macro info; never
  /// throws.
  static std::optional<MacroInfo> read(const Origin& origin, std::optional<std::size_t> unit, std::string& why_not,
                                       const DebugRoots& roots = {});
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
  /// not known: part of the macro info is in a file that is not at hand.
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
