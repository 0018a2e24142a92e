#include "diagnose/match.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "elfaudit/account.hpp"
#include "support/demangle.hpp"

namespace elfaudit::diagnose_stage {
namespace {

constexpr std::array<std::string_view, 2> kDuplicates{"duplicate-definition", "device-duplicate-definition"};
constexpr std::array<std::string_view, 3> kUndefined{"undefined-symbol", "device-undefined-symbol",
                                                     "device-link-missing"};
constexpr std::array<std::string_view, 1> kMismatches{"device-declaration-mismatch"};

std::span<const std::string_view> rules_for(LogErrorKind kind) {
  switch (kind) {
    case LogErrorKind::DuplicateDefinition:
      return kDuplicates;
    case LogErrorKind::UndefinedReference:
    case LogErrorKind::LibraryNotOnLine:
      return kUndefined;
    case LogErrorKind::DeclarationMismatch:
      return kMismatches;
    default:
      return {};
  }
}

/// nvcc's host code for a kernel: "__device_stub__Z1kPi(int*)" stands for _Z1kPi, which is reported.
std::string without_stub(std::string_view name) {
  constexpr std::string_view kStub = "__device_stub_";
  const std::size_t at = name.find(kStub);
  if (at == std::string_view::npos) return std::string(name);
  const std::string_view kernel = name.substr(at + kStub.size());
  return std::string(kernel.substr(0, kernel.find('(')));
}

bool is_about(const Finding& finding, const std::string& key) {
  if (spelling_key(finding.symbol) == key) return true;
  return std::any_of(finding.missing.begin(), finding.missing.end(),
                     [&](const std::string& name) { return spelling_key(name) == key; });
}

/// The finding about the object that a relocation error names, as the link line or only its last part spells it.
const Finding* about_object(const LogSite& place, const Audit& audit) {
  const std::string name = place.member.empty() ? place.input : place.input + "(" + place.member + ")";
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const Finding* near = nullptr;
  for (const Finding& finding : audit.findings) {
    if (finding.rule != "relocation-not-pic" || finding.sites.empty()) continue;
    const std::string display = finding.sites.front().origin.display();
    if (display == name) return &finding;
    if (last_part(display) == last_part(name)) near = &finding;
  }
  return near;
}

/// The linker's name for what the log prints; empty when no undefined name is spelled so.
std::string undefined_name(const Audit& audit, const std::string& key) {
  for (const Unresolved& name : audit.resolution.unresolved)
    if (spelling_key(name.symbol) == key) return name.symbol;
  return {};
}

/// A driver's words leave open which libraries it adds, so the audit judges no undefined symbol. Here the linker has
/// judged it already, and the audit knows who refers to it and which archive members have it.
std::optional<Finding> undefined_by_the_log(const OpenError& error, const Audit& audit) {
  const std::string name = undefined_name(audit, spelling_key(error.error.symbol));
  if (name.empty()) return std::nullopt;
  Account account = explain(audit, name);
  Finding finding;
  finding.rule = "undefined-symbol";
  finding.symbol = name;
  finding.demangled = demangle(name);
  finding.message = finding.demangled + " is not defined by any input";
  for (Mention& mention : account.mentions) {
    if (mention.site.role == Role::Candidate) {
      mention.site.notes.insert(mention.site.notes.begin(), mention.reason);
      finding.message = finding.demangled + " is not defined by what is linked";
    }
    finding.sites.push_back(std::move(mention.site));
  }
  return finding;
}

}  // namespace

std::string spelling_key(std::string_view name) {
  const std::size_t version = name.find('@');
  std::string key = demangle(without_stub(name.substr(0, version)));
  std::erase_if(key, [](char c) { return c == ' '; });
  return key;
}

std::optional<Finding> finding_for(const OpenError& error, const Audit& audit) {
  if (error.kind == LogErrorKind::RelocationRefused) {
    const Finding* found = error.error.sites.empty() ? nullptr : about_object(error.error.sites.front(), audit);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  const auto rules = rules_for(error.kind);
  if (rules.empty() || error.error.symbol.empty()) return std::nullopt;
  const std::string key = spelling_key(error.error.symbol);
  const Finding* found = nullptr;
  for (const Finding& finding : audit.findings) {
    if (std::find(rules.begin(), rules.end(), finding.rule) == rules.end() || !is_about(finding, key)) continue;
    // nvlink's own rules tell its story better than those of the host link, where both found something.
    const bool device = finding.rule.starts_with("device-");
    if (found == nullptr || device == (error.tool == LogTool::Nvlink)) found = &finding;
  }
  if (found != nullptr) return *found;
  const bool host = error.tool != LogTool::Nvlink;
  return host && rules.data() == kUndefined.data() ? undefined_by_the_log(error, audit) : std::nullopt;
}

std::string verdict_on(const OpenError& error, const Audit& audit) {
  if (error.error.symbol.empty()) return {};
  return explain(audit, error.error.symbol).verdict;
}

}  // namespace elfaudit::diagnose_stage
