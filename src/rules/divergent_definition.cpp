// divergent-definition: one name, and definitions that differ, which linkers merge or bind without a word. What differs is
// found in src/divergence.
//
//  1. What is reported already is not reported again: a strong definition that collides, a tentative one of another size
//     with --fatal-warnings, a thread-local name that the linker refuses, the shadow of a device variable whose sizes
//     differ.
//  2. One finding a name. The kept definition comes first, then one of each other size and memory, with how many more
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

std::vector<Finding> divergent_data(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.data_is_alike) return findings;
  const std::vector<DataDivergence> differing = find_data_divergences(evidence.inputs, evidence.resolution);
  if (differing.empty()) return findings;
  const std::set<std::string_view> reported = reported_otherwise(evidence.resolution);
  for (const DataDivergence& divergence : differing) {
    if (reported.contains(divergence.symbol)) continue;
    Finding finding = make_finding(kDivergentDefinition, divergence.symbol, message(evidence, divergence));
    for (const DataVariant& variant : divergence.variants) {
      finding.sites.push_back(
          make_site(evidence, variant.first, is_kept(evidence, variant) ? Role::Kept : Role::Candidate));
      if (variant.objects > 1)
        finding.sites.back().notes.push_back(
            fmt::format("and {} more object{} alike", variant.objects - 1, variant.objects == 2 ? "" : "s"));
    }
    finding.notes.push_back(outcome(evidence, divergence));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RuleFamily divergence_rules() { return {{&kDivergentDefinition}, {{divergent_data}}}; }

}  // namespace elfaudit
