// Is a reading the compile's? What names could be that only an unknown command line may define, and through which
// includes a line was come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "locate/source/preprocessor.hpp"
#include "locate/source/source.hpp"

namespace elfaudit::source {

// --- What follows when names that only the command line may define are supposed to be defined otherwise. Such a
// supposition is refuted when the compile would have read other files than the depfile lists or come to an #error, or
// when it leaves the object's symbol without a definition, or with two. If no other answer is left, the first one is
// certain.

using Value = std::optional<std::string>;                  ///< of a macro; nothing: it is not defined
using Values = std::map<std::string, std::vector<Value>>;  ///< by names, those that a macro may have

/// One reading of a unit. The vectors are by the names asked for.
struct UnitReading {
  std::vector<Reading> readings;
  std::vector<Values> leads;                  ///< what may change the answer
  std::vector<bool> settled;                  ///< nothing but that may
  std::set<std::string> system_asks;          ///< names on which conditions in the system's headers depend
  std::string system_macros;                  ///< #define lines of what the system's headers define
  bool refuted = false;                       ///< no compile can have been like that
  std::optional<Values> blamed;               ///< on which that depends, if on names alone
  std::vector<std::string> unclear_operands;  ///< of #include, which may mean other files than those that were read
  std::size_t bytes = 0;                      ///< that were read, those of each parse counted
};

/// With the macros that the system's headers define, or null: then these are read.
using ReadUnit =
    std::function<UnitReading(const TranslationUnit&, const std::vector<Name>&, const std::string* system_macros)>;

/// Adds the values of `name` that a condition distinguishes.
void add_values(std::string_view name, std::string_view condition, std::vector<Value>& values);

/// Makes definitions of `first`, the reading of `unit`, certain where no supposition leads elsewhere; where one does,
/// its definition is added.
void explore(const TranslationUnit& unit, const std::vector<Name>& wanted, const ReadUnit& read, UnitReading& first);

/// Takes back the certainty of answers that are others when one of the unclear operands means a header that the depfile
/// leaves out.
void doubt_operands(const TranslationUnit& unit, const std::vector<Name>& wanted, const ReadUnit& read,
                    UnitReading& first);

// --- Through which includes a compile came to a line that it is known to have read. A reading shows one way. It is the
// compile's if nothing that is in doubt about the reading can have led there before, or instead.

/// Does an #include of the file, whatever conditions it is under, name a file called so, or what a macro says?
bool may_include(const TextFile& file, std::string_view base_name);

class IncludeChains {
 public:
  /// After a whole reading, which watched the lines.
  IncludeChains(Preprocessor& preprocessor, FileStore& files);

  /// The inclusion in which the compile read that line of that file. `defining`: those in which the reading found what
  /// is looked for there, to distinguish the readings of a file that is read several times. Nothing when it may have
  /// been another.
  std::optional<std::uint32_t> to(std::uint32_t file, std::uint32_t line, const std::vector<std::uint32_t>& defining);

 private:
  using Asked = Preprocessor::Asked;

  std::optional<Preprocessor::Met> only_met(std::uint32_t file, std::uint32_t line,
                                            const std::vector<std::uint32_t>& defining) const;
  bool may_come_earlier(std::uint32_t file, std::size_t entered);
  bool may_come_otherwise(const Preprocessor::Met& met, std::size_t entered);
  bool leads_elsewhere(std::uint32_t file, std::uint32_t below, std::size_t since, std::size_t entered);
  bool missed_is_explained();
  bool may_be_forced(std::uint32_t file);
  bool is_evident(std::uint32_t inclusion);
  bool is_below(std::uint32_t inclusion, std::uint32_t top) const;
  bool is_over(std::uint32_t file, std::size_t before) const;
  bool lead_to(std::vector<std::uint32_t> from, std::uint32_t file, std::size_t before);
  const std::vector<std::uint32_t>& named_in(std::uint32_t file);

  Preprocessor& preprocessor_;
  FileStore& files_;
  const std::vector<Asked>& asked_;
  std::unordered_map<std::uint32_t, std::size_t> entry_of_;                                ///< in asked_, by inclusion
  std::unordered_map<std::uint32_t, std::size_t> first_entry_;                             ///< in asked_, by file
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Preprocessor::Met>> met_;  ///< by file and line
  std::map<std::pair<std::uint32_t, bool>, bool> sure_;  ///< by inclusion, and whether the line in it is in doubt
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> named_;
  std::unordered_set<std::uint32_t> unclear_;       ///< files with an #include that may mean anything
  std::unordered_map<std::uint32_t, bool> forced_;  ///< by file: may the command line have led there?
  std::optional<bool> explained_;
};

}  // namespace elfaudit::source
