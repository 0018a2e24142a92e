// Links that pass and programs that fail: registrar-not-linked, weak-definition-kept, weak-reference-null and
// instruction-set-mixed.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "divergence/instruction_sets.hpp"
#include "left_out/left_out.hpp"
#include "rules/rules.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- What a link leaves in its archives although the program needs it: left_out/left_out.hpp says how it is known.

namespace {

constexpr Rule kRegistrarNotLinked{
    .id = "registrar-not-linked",
    .severity = Severity::Warning,
    .summary = "an archive member whose static constructor registers it is not extracted: nothing refers to it",
    .kind = RuleKind::Silent};
constexpr Rule kWeakDefinitionKept{
    .id = "weak-definition-kept",
    .severity = Severity::Warning,
    .summary = "a weak default answers a name, so that the member with the strong definition is not extracted"};
constexpr Rule kWeakReferenceNull{
    .id = "weak-reference-null",
    .severity = Severity::Warning,
    .summary = "a name is referred to only weakly, so that the member that defines it is not extracted",
    .kind = RuleKind::Silent};

Fix whole_archive(const std::string& archive) {
  std::string text =
      fmt::format("link all of it: -Wl,--whole-archive {} -Wl,--no-whole-archive", display_path(archive, {}));
  const std::string_view name = base_name(archive);
  if (name.starts_with("lib") && name.ends_with(".a") && name.size() > 5)
    text += fmt::format("; in CMake $<LINK_LIBRARY:WHOLE_ARCHIVE,{}>", name.substr(3, name.size() - 5));
  return {text};
}

Finding registrars_of(const Evidence& evidence, const std::vector<const LeftOutRegistrar*>& members) {
  const LeftOutRegistrar& first = *members.front();
  const std::string& archive = evidence.object(first.member).origin.path;
  const bool one = members.size() == 1;
  const std::string who = one ? evidence.object(first.member).origin.display()
                              : fmt::format("{} members of {}", members.size(), display_path(archive, {}));
  const bool by_section = first.symbol.starts_with("__start_");
  Finding finding = make_finding(
      kRegistrarNotLinked, first.symbol,
      by_section ? fmt::format("{} {} not linked: the program reads section {} from {} on, to which {}", who,
                               one ? "is" : "are", first.section, first.symbol, one ? "it adds" : "they add")
                 : fmt::format("{} {} not linked: {} register when the program starts, by {}", who, one ? "is" : "are",
                               one ? "it would" : "they would", demangle(first.symbol)));
  for (const LeftOutRegistrar* member : members) {
    finding.sites.push_back(make_file_site(evidence.object(member->member).origin, "not extracted", Role::Reference));
    finding.sites.back().section = member->section;
    finding.sites.back().offset = member->offset;
  }
  finding.sites.push_back(make_site(evidence, first.registry, by_section ? Role::Reference : Role::Kept));
  finding.cause = {
      "nothing-refers-to-member",
      "a linker takes a member of an archive for a name that something refers to, not for its constructors",
      display_path(archive, {})};
  finding.fixes.push_back(whole_archive(archive));
  if (one && !first.anchor.empty()) finding.fixes.push_back({fmt::format("take this member: -Wl,-u,{}", first.anchor)});
  finding.fixes.push_back({fmt::format("link {} as {}, not from an archive (in CMake an OBJECT library)",
                                       one ? "it" : "them", one ? "an object" : "objects")});
  return finding;
}

/// One for an archive and what its members register with.
std::vector<Finding> registrars_not_linked(const Evidence& evidence) {
  std::map<std::pair<std::string, std::string>, std::vector<const LeftOutRegistrar*>> groups;
  for (const LeftOutRegistrar& one : evidence.left_out->registrars)
    groups[{evidence.object(one.member).origin.path, one.symbol}].push_back(&one);
  std::vector<Finding> findings;
  for (const auto& [archive, members] : groups) findings.push_back(registrars_of(evidence, members));
  return findings;
}

std::vector<Finding> weak_definitions_kept(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const BeatenDefinition& one : evidence.left_out->beaten) {
    const ObjectFacts& member = evidence.object(one.member);
    const std::string_view symbol = evidence.object(one.weak.in).name(evidence.symbol(one.weak));
    Finding finding = make_finding(
        kWeakDefinitionKept, symbol,
        fmt::format("the program has the weak {} of {}: {}, which defines it strongly, is not linked", demangle(symbol),
                    evidence.object(one.weak.in).origin.display(), member.origin.display()));
    finding.sites.push_back(make_site(evidence, one.weak, Role::Kept));
    finding.sites.push_back(make_file_site(member.origin, "not extracted"));
    finding.cause = {"weak-definition-first",
                     "a weak definition answers the name, so that a linker doesn't look for it in archives",
                     {}};
    finding.fixes.push_back({fmt::format(
        "link {} as an object, not from an archive: a strong definition replaces a weak one", member.origin.member)});
    finding.fixes.push_back(whole_archive(member.origin.path));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> weak_references_null(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const UnansweredReference& one : evidence.left_out->unanswered) {
    const ObjectFacts& member = evidence.object(one.member);
    const SymbolId first = one.references.front().id;
    const std::string symbol(evidence.object(first.in).name(evidence.symbol(first)));
    Finding finding = make_finding(
        kWeakReferenceNull, symbol,
        fmt::format("{} is null in the program: it is referred to only weakly, and {}, which defines it, is not linked",
                    demangle(symbol), member.origin.display()));
    for (const Reference& reference : one.references) {
      finding.sites.push_back(make_site(evidence, reference.id, Role::Reference));
      finding.sites.back().section = reference.section;
      finding.sites.back().offset = reference.offset;
    }
    finding.sites.push_back(make_file_site(member.origin, "not extracted"));
    finding.cause = {"weak-reference", "no linker takes a member of an archive for a weak reference", {}};
    finding.fixes.push_back({fmt::format("ask for it: -Wl,-u,{}", symbol)});
    finding.fixes.push_back(whole_archive(member.origin.path));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> left_out(const Evidence& evidence) {
  if (evidence.left_out == nullptr) return {};
  std::vector<Finding> findings = registrars_not_linked(evidence);
  std::ranges::move(weak_definitions_kept(evidence), std::back_inserter(findings));
  std::ranges::move(weak_references_null(evidence), std::back_inserter(findings));
  return findings;
}

}  // namespace

RuleFamily left_out_rules() {
  return {{&kRegistrarNotLinked, &kWeakDefinitionKept, &kWeakReferenceNull}, {{left_out}}};
}

// --- instruction-set-mixed: an inline function whose kept copy needs instructions that not all its callers were compiled
// for. divergence/instruction_sets.hpp says how it is known.

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
