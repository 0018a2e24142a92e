#include "rules/require_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "elfaudit/error.hpp"
#include "rules/rules.hpp"
#include "support/nearest_word.hpp"

namespace elfaudit {

void require_rule(const std::string& id, const std::string& where) {
  std::vector<std::string> known;
  for (const Rule& rule : rule_table()) known.emplace_back(rule.id);
  if (std::find(known.begin(), known.end(), id) != known.end()) return;
  const std::string near = nearest_word(id, known);
  throw UsageError(fmt::format("{}: there is no such rule; {}", where,
                               near.empty() ? "`elfaudit rules` lists them" : "'" + near + "' is one"));
}

}  // namespace elfaudit
