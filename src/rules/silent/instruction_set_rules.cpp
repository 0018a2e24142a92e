// instruction-set-mixed: an inline function whose kept copy needs instructions that not all its callers were compiled for.
// divergence/instruction_sets.hpp says how it is known.

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "divergence/instruction_sets.hpp"
#include "rules/rules.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kInstructionSetMixed{
    .id = "instruction-set-mixed",
    .severity = Severity::Warning,
    .summary =
        "the copy of an inline function that the link keeps needs instructions that its other callers do without",
    .kind = RuleKind::Silent};

constexpr std::size_t kMostShown = 3;

std::vector<Finding> mixed_functions(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const MixedFunction& mixed : evidence.mixed_functions) {
    if (is_full(findings)) break;
    const std::string symbol(evidence.object(mixed.kept.in).name(evidence.symbol(mixed.kept)));
    const std::string kept = evidence.object(mixed.kept.in).origin.display();
    std::vector<std::string> callers;
    for (const SymbolId caller : mixed.callers) callers.push_back(evidence.object(caller.in).origin.display());
    const std::string others = some_of(callers, kMostShown);
    Finding finding = make_finding(kInstructionSetMixed, symbol,
                                   fmt::format("the link keeps {} of {}, which uses {} instructions, for {} as well",
                                               demangle(symbol), kept, mixed.instructions, others));
    finding.sites.push_back(make_site(evidence, mixed.kept, Role::Kept));
    if (!mixed.options.empty()) finding.sites.back().notes.push_back("compiled with " + mixed.options);
    for (const SymbolId caller : mixed.callers) {
      finding.sites.push_back(make_site(evidence, caller, Role::Candidate));
      finding.sites.back().notes.push_back("compiled without " +
                                           (mixed.options.empty() ? mixed.instructions : mixed.options));
    }
    finding.cause = {
        "instruction-sets-differ",
        fmt::format("{} is compiled with {}, {} without: of an inline function a linker keeps the first copy", kept,
                    mixed.options.empty() ? "options for " + mixed.instructions : mixed.options, others),
        kept};
    finding.notes.push_back(fmt::format("on a processor without {} a call from {} ends the program (SIGILL)",
                                        mixed.instructions, callers.front()));
    if (!symbol.starts_with("_ZNSt") && !symbol.starts_with("_ZNKSt") && !symbol.starts_with("_ZSt"))
      finding.fixes.push_back(
          {"give it internal linkage in the header (static, or an unnamed namespace): each object keeps its own copy"});
    finding.fixes.push_back({fmt::format("link {} before {}", callers.front(), kept)});
    finding.fixes.push_back({"compile all of them with the same options"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleFamily instruction_set_rules() { return {{&kInstructionSetMixed}, {{mixed_functions}}}; }

}  // namespace elfaudit
