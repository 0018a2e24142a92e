// What the output has for the names that relocations mention.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "resolve/relocation_rules.hpp"

namespace elfaudit {

class RelocationTargets {
 public:
  RelocationTargets(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : job_(job), inputs_(inputs), resolution_(resolution), exports_(job) {}

  /// The symbol's name will be asked for.
  void want(SymbolId mention);

  /// Looks for the definitions of all names that are wanted.
  void bind();

  /// What a relocation against that global symbol, which was wanted, meets.
  RelocationTarget target(SymbolId mention) const;

  /// The definition that is used; invalid when no input has it.
  SymbolId definition(SymbolId mention) const;

 private:
  struct Bound {
    SymbolId definition;
    Visibility visibility = Visibility::Default;  ///< the strictest that a relocatable object mentions it with
    const Assignment* assignment = nullptr;
  };

  std::string_view name_of(SymbolId mention) const;
  bool any_shared_object() const;
  bool has_fixed_value(const Assignment& made) const;
  void note(SymbolId id, const ObjectFacts& object, const Symbol& symbol);
  bool bound_here(std::string_view name, const Symbol& symbol, const Origin& origin) const;
  RelocationTarget of_linker(std::string_view name, const Bound& bound, const Symbol& mention) const;

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  Exports exports_;
  std::unordered_map<std::string_view, Bound> names_;
  mutable std::deque<std::string> wrapped_;  ///< names that --wrap makes
};

/// Does an object of the link, or the line, give a name a plain value?
bool any_absolute_symbol(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution);

}  // namespace elfaudit
