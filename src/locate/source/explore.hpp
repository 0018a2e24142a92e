// What follows when names that only the command line may define are supposed to be defined otherwise. Such a
// supposition is refuted when the compile would have read other files than the depfile lists or come to an #error, or
// when it leaves the object's symbol without a definition, or with two. If no other answer is left, the first one is
// certain.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "locate/source/source.hpp"

namespace elfaudit::source {

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

}  // namespace elfaudit::source
