// header-definition: a strong definition in a header links as long as one object alone includes it. Asked for, since
// only debug info or the sources tell where a definition is: every definition is a candidate until located.

#include <algorithm>
#include <set>

#include "rules/rules.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kRule = "header-definition";

/// Every strong definition that the link keeps, object by object: tens of thousands, so nothing else is made of them.
std::vector<SymbolId> candidates(const Evidence& evidence) {
  std::vector<SymbolId> found;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    for (std::uint32_t o = 0; o < evidence.inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = evidence.object({i, o});
      if (!evidence.resolution.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
        const SymbolId id{{i, o}, s};
        if (evidence.resolution.fate(id) == Fate::Kept && object.symbols[s].binding == Binding::Global)
          found.push_back(id);
      }
    }
  }
  return found;
}

}  // namespace

std::vector<Finding> header_definitions(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.in_headers == nullptr) return findings;
  for (const SymbolId id : evidence.in_headers(candidates(evidence))) {
    findings.push_back(make_finding(kRule, evidence.object(id.in).name(evidence.symbol(id)), {}));
    findings.back().message = findings.back().demangled + " is defined in a header";
    findings.back().sites.push_back(make_site(evidence, id, Role::Kept));
  }
  return findings;
}

void settle_header_definitions(std::vector<Finding>& findings) {
  std::set<std::string> told;
  for (const Finding& finding : findings)
    if (finding.rule == "duplicate-definition" || finding.rule == "device-duplicate-definition")
      told.insert(finding.symbol);
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.rule == kRule && (!finding.sites.front().place.in_header || told.contains(finding.symbol));
  });
  for (Finding& finding : findings)
    if (finding.rule == kRule)
      finding.notes.push_back(
          "it links, since no other object has it; the next file that includes the header has it too");
}

}  // namespace elfaudit
