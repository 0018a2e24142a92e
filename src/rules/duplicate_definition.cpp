// duplicate-definition: the linker will reject it. One finding a symbol, however many objects define it.

#include <map>

#include "rules/rules.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

std::string times(std::size_t n) { return n == 2 ? "twice" : std::to_string(n) + " times"; }

}  // namespace

std::vector<Finding> duplicate_definitions(const Evidence& evidence) {
  std::map<std::string_view, std::vector<const Conflict*>> by_symbol;
  for (const Conflict& conflict : evidence.resolution.conflicts) by_symbol[conflict.symbol].push_back(&conflict);

  const bool forced = evidence.job.relocations.noinhibit_exec && traits_of(evidence.job).forces_duplicates;
  std::vector<Finding> findings;
  for (const auto& [symbol, conflicts] : by_symbol) {
    Finding finding =
        make_finding("duplicate-definition", symbol, demangle(symbol) + " is defined " + times(conflicts.size() + 1));
    if (forced) finding.severity = Severity::Warning;
    finding.sites.push_back(make_site(evidence, conflicts.front()->kept, Role::Kept));
    for (const Conflict* conflict : conflicts)
      finding.sites.push_back(make_site(evidence, conflict->rejected, Role::Rejected));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace elfaudit
