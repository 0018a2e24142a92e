// divergent-definition: one name, and definitions that differ, which linkers merge or bind without a word. What differs is
// found in src/divergence.
//
//  1. What is reported already is not reported again: a strong definition that collides, a tentative one of another size
//     with --fatal-warnings, a thread-local name that the linker refuses, the shadow of a device variable whose sizes
//     differ.
//  2. One finding a name, though both symbol tables and debug info tell of it. The kept definition comes first, then one of each other size and memory, with how many more
//     objects have the same.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/divergence.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

constexpr Rule kDivergentDefinition{
    .id = "divergent-definition",
    .severity = Severity::Warning,
    .summary = "definitions of one name that differ in size or memory: the linker merges them silently"};

/// Rule 1.
std::set<std::string_view> reported_otherwise(const Resolution& resolution) {
  std::set<std::string_view> names;
  for (const Conflict& conflict : resolution.conflicts) names.insert(conflict.symbol);
  for (const Rejection& rejection : resolution.rejections) names.insert(rejection.symbol);
  for (const FatalWarning& warning : resolution.warnings)
    if (warning.kind == FatalWarning::Kind::Size || warning.kind == FatalWarning::Kind::Common)
      names.insert(warning.symbol);
  for (const DeviceMismatch& mismatch : resolution.device.mismatches) names.insert(mismatch.symbol);
  return names;
}

bool is_kept(const Evidence& evidence, const DataVariant& variant) {
  return evidence.resolution.resolution_of(variant.first) == SymbolResolution::Kept;
}

std::string object_of(const Evidence& evidence, const DataVariant& variant) {
  return evidence.object(variant.first.in).origin.display();
}

std::string message(const Evidence& evidence, const DataDivergence& divergence) {
  const DataVariant& a = divergence.variants[0];
  const DataVariant& b = divergence.variants[1];
  const std::string in_a = object_of(evidence, a), in_b = object_of(evidence, b);
  const std::string what = demangle(divergence.symbol);
  if (a.size != b.size) return fmt::format("{} has {} bytes in {} and {} in {}", what, a.size, in_a, b.size, in_b);
  if (a.place == DataPlace::ThreadLocal || b.place == DataPlace::ThreadLocal) {
    const bool first = a.place == DataPlace::ThreadLocal;
    return fmt::format("{} is thread-local in {} and not in {}", what, first ? in_a : in_b, first ? in_b : in_a);
  }
  const bool first = a.place == DataPlace::ReadOnly;
  return fmt::format("{} is constant in {} and writable in {}", what, first ? in_a : in_b, first ? in_b : in_a);
}

/// What the linker makes of them.
std::string outcome(const Evidence& evidence, const DataDivergence& divergence) {
  const DataVariant& kept = divergence.variants.front();
  if (!is_kept(evidence, kept)) return "the linker merges them without a word";
  const auto larger = std::find_if(divergence.variants.begin(), divergence.variants.end(),
                                   [&](const DataVariant& variant) { return variant.size > kept.size; });
  if (larger == divergence.variants.end())
    return fmt::format("the linker keeps that of {} for all", object_of(evidence, kept));
  return fmt::format("the linker keeps that of {}: {} reaches past its end", object_of(evidence, kept),
                     object_of(evidence, *larger));
}

void note_objects(std::size_t objects, Site& site) {
  if (objects > 1)
    site.notes.push_back(fmt::format("and {} more object{} alike", objects - 1, objects == 2 ? "" : "s"));
}

std::vector<Finding> divergent_data(const Evidence& evidence, const std::set<std::string_view>& reported) {
  std::vector<Finding> findings;
  if (evidence.data_is_alike) return findings;
  const std::vector<DataDivergence> differing = find_data_divergences(evidence.inputs, evidence.resolution);
  for (const DataDivergence& divergence : differing) {
    if (reported.contains(divergence.symbol)) continue;
    Finding finding = make_finding(kDivergentDefinition, divergence.symbol, message(evidence, divergence));
    for (const DataVariant& variant : divergence.variants) {
      finding.sites.push_back(
          make_site(evidence, variant.first, is_kept(evidence, variant) ? Role::Kept : Role::Candidate));
      note_objects(variant.objects, finding.sites.back());
    }
    finding.notes.push_back(outcome(evidence, divergence));
    findings.push_back(std::move(finding));
  }
  return findings;
}

// --- By debug info.

Site make_site(const Evidence& evidence, const TypeVariant& variant) {
  Site site = make_object_site(evidence, variant.first, Role::Candidate);
  site.size = variant.size;
  if (!variant.device.empty()) site.notes.push_back("device code of " + variant.device);
  if (variant.line.line != 0 && !variant.line.file.empty())
    site.place = {.at = variant.line, .known_by = KnownBy::DebugInfo, .why_unknown = {}};
  else
    site.place.why_unknown = "debug info does not say";
  note_objects(variant.objects, site);
  return site;
}

/// The first few of them.
std::string some(const std::vector<std::string>& texts, const char* separator) {
  constexpr std::size_t kShown = 3;
  const std::vector<std::string> first(texts.begin(),
                                       texts.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, texts.size())));
  const std::string more = texts.size() > kShown ? fmt::format("{}and {} more", separator, texts.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(first, separator), more);
}

Finding finding_of(const Evidence& evidence, const TypeDivergence& divergence) {
  const std::string what = divergence.is_type ? divergence.name + " differs:" : demangle(divergence.name);
  Finding finding = make_finding(kDivergentDefinition, divergence.name, what + " " + divergence.words);
  if (divergence.is_type) finding.demangled = divergence.name;
  if (divergence.bound.empty() || divergence.harmless) finding.severity = Severity::Note;
  finding.sites = {make_site(evidence, divergence.a), make_site(evidence, divergence.b)};
  finding.cause = divergence.cause;
  finding.fixes = divergence.fixes;
  finding.notes.push_back(divergence.bound.empty() ? "nothing that the linker binds depends on it"
                                                   : some(divergence.bound, "; "));
  if (!divergence.holders.empty())
    finding.notes.push_back("so do types that hold it: " + some(divergence.holders, ", "));
  if (!divergence.options.empty())
    finding.notes.push_back("compiled with other options: " + some(divergence.options, ", "));
  return finding;
}

Finding finding_of(const Evidence& evidence, const Overrun& overrun) {
  const std::string_view name = evidence.object(overrun.definition.in).name(evidence.symbol(overrun.definition));
  const std::uint64_t size = evidence.symbol(overrun.definition).size;
  Finding finding = make_finding(kDivergentDefinition, name, {});
  finding.message = fmt::format("{} has {} bytes in {}, and {} refers to byte {} of it", finding.demangled, size,
                                evidence.object(overrun.definition.in).origin.display(),
                                evidence.object(overrun.reference.in).origin.display(), overrun.end);
  finding.sites = {make_site(evidence, overrun.definition, Role::Kept),
                   make_site(evidence, overrun.reference, Role::Reference)};
  return finding;
}

std::vector<Finding> divergent_definitions(const Evidence& evidence) {
  const std::set<std::string_view> reported = reported_otherwise(evidence.resolution);
  std::vector<Finding> findings = divergent_data(evidence, reported);
  if (evidence.types == nullptr) return findings;
  for (const Overrun& overrun : evidence.types->overruns) {
    Finding finding = finding_of(evidence, overrun);
    const bool known =
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.symbol == finding.symbol; });
    if (!known && !reported.contains(finding.symbol)) findings.push_back(std::move(finding));
  }
  const std::size_t of_data = findings.size();
  for (const TypeDivergence& divergence : evidence.types->divergences) {
    if (!divergence.is_type && reported.contains(divergence.name)) continue;
    const auto end = findings.begin() + static_cast<std::ptrdiff_t>(of_data);
    const auto known =
        std::find_if(findings.begin(), end, [&](const Finding& f) { return f.symbol == divergence.name; });
    if (!divergence.is_type && known != end)
      known->notes.push_back(divergence.words);
    else
      findings.push_back(finding_of(evidence, divergence));
  }
  return findings;
}

}  // namespace

bool compares_types(const std::vector<std::string>& enabled) {
  return std::find(enabled.begin(), enabled.end(), kDivergentDefinition.id) != enabled.end();
}

RuleFamily divergence_rules() { return {{&kDivergentDefinition}, {{divergent_definitions}}}; }

}  // namespace elfaudit
