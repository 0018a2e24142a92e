// Resolution -> findings. One file per family of rules; pure functions.
#pragma once

#include <span>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// What every rule sees.
struct Evidence {
  const LinkJob& job;
  const std::vector<InputFacts>& inputs;
  const Resolution& resolution;

  const ObjectFacts& object(ObjectId id) const { return inputs[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
};

/// Every rule there is, by id.
std::span<const Rule> rule_table();

/// The row of `id`, which must exist.
const Rule& rule(std::string_view id);

/// Runs all rules. Findings are ordered: most severe first, then by rule, symbol and sites.
std::vector<Finding> apply_rules(const Evidence& evidence);

// The families.
std::vector<Finding> duplicate_definitions(const Evidence& evidence);
std::vector<Finding> undefined_symbols(const Evidence& evidence);
std::vector<Finding> unreadable_inputs(const Evidence& evidence);

/// A finding about `symbol` with the rule's own severity and no sites yet.
Finding make_finding(std::string_view rule_id, std::string_view symbol, std::string message);

/// The site of a definition, its place still unknown, and why its member takes part in the link.
Site make_site(const Evidence& evidence, SymbolId id, Role role);

}  // namespace elfaudit
