// Who but the interpreter may define a Python-like name for a file: the libraries it needs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.hpp"

namespace elfaudit {

/// The shared objects of an audit, by the names under which others need them.
class GivenLibraries {
 public:
  explicit GivenLibraries(const Evidence& evidence);

  /// What is loaded with a file, as far as it was given.
  struct Scope {
    std::vector<const ObjectFacts*> given;  ///< breadth first, without the file itself
    std::vector<std::string> not_given;     ///< needed, neither given nor of the system: what they define is not known
  };
  Scope of(const ObjectFacts& object) const;

 private:
  void add(const std::vector<InputFacts>& files);

  std::map<std::string, const ObjectFacts*, std::less<>> by_name_;
};

/// The file of a scope that exports `name`; null when none does.
const ObjectFacts* definer(const GivenLibraries::Scope& scope, std::string_view name);

}  // namespace elfaudit
