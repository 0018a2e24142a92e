// The table of rules.

#include "rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "elfaudit/error.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// The rows of what the gate finds.

constinit const Rule kSuppressionEnded{.id = "suppression-ended",
                                       .severity = Severity::Error,
                                       .summary = "a suppression has ended and still matches a finding"};
constinit const Rule kSuppressionUnused{.id = "suppression-unused",
                                        .severity = Severity::Warning,
                                        .summary = "a suppression matches no finding: remove it"};
constinit const Rule kBaselineOutdated{
    .id = "baseline-outdated", .severity = Severity::Note, .summary = "findings of the baseline are gone: update it"};

std::vector<std::string> rule_ids(std::string_view behind) {
  std::vector<std::string> ids;
  for (const Rule& rule : rule_table()) ids.push_back(std::string(rule.id).append(behind));
  return ids;
}

void require_rule(const std::string& id, const std::string& option) {
  const std::vector<std::string> known = rule_ids();
  if (std::ranges::find(known, id) != known.end()) return;
  std::string near = nearest_word(id, known);
  for (const std::string& one : known)  // "duplicate"
    if (near.empty() && !id.empty() && one.find(id) != std::string::npos) near = one;
  throw UsageError(fmt::format("{}unknown rule '{}'; {}", option.empty() ? "" : option + ": ", id,
                               near.empty() ? "`elfaudit rules` lists the rules" : "did you mean '" + near + "'?"));
}

namespace {

/// In the order of the listing.
const std::vector<RuleFamily>& families() {
  static const std::vector<RuleFamily> all{definition_rules(),
                                           divergence_rules(),
                                           link_rules(),
                                           device_rules(),
                                           gpu_rules(),
                                           library_rules(),
                                           symbols_at_load_rules(),
                                           copies_at_load_rules(),
                                           shared_identity_rules(),
                                           dependency_rules(),
                                           export_rules(),
                                           device_loading_rules(),
                                           left_out_rules(),
                                           machine_rules(),
                                           instruction_set_rules(),
                                           stale_rules(),
                                           python_rules(),
                                           platform_rules(),
                                           system_rules(),
                                           lto_rules(),
                                           {{&kSuppressionEnded, &kSuppressionUnused, &kBaselineOutdated}, {}}};
  return all;
}

bool runs(const Rule& rule, const std::vector<std::string>& enabled) {
  return rule.on || std::ranges::find(enabled, rule.id) != enabled.end();
}

auto sort_key(const Finding& finding) {
  const std::string first = finding.sites.empty() ? std::string() : finding.sites.front().origin.display();
  return std::tuple(-static_cast<int>(finding.severity), finding.rule, finding.symbol, first, finding.message);
}

/// Why an archive member is part of the link: the reader's next question after "which member".
void note_extraction(const Evidence& evidence, ObjectId id, Site& site) {
  const auto& all = evidence.resolution.extractions;
  const auto found = std::ranges::find(all, id, &Extraction::object);
  if (found == all.end()) return;
  if (found->symbol.empty())
    site.notes.push_back("extracted by " + found->option);
  else if (found->needed_by.valid())
    site.notes.push_back("extracted by " + evidence.object(found->needed_by).origin.display() + ", which needs " +
                         demangle(found->symbol));
  else
    site.notes.push_back("extracted by " + found->option + ", which needs " + demangle(found->symbol));
}

}  // namespace

std::span<const Rule> rule_table() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> rows;
    for (const RuleFamily& family : families())
      for (const Rule* rule : family.rules) rows.push_back(*rule);
    return rows;
  }();
  return table;
}

const Rule& rule(std::string_view id) {
  const auto table = rule_table();
  const auto found = std::ranges::find(table, id, &Rule::id);
  if (found == table.end()) throw std::logic_error("no such rule: " + std::string(id));
  return *found;
}

bool any_needs(bool Rule::*what, const std::vector<std::string>& enabled) {
  const auto table = rule_table();
  return std::ranges::any_of(table, [&](const Rule& r) { return r.*what && runs(r, enabled); });
}

std::vector<Finding> apply_rules(const Evidence& evidence, const std::vector<std::string>& enabled, RuleScope scope) {
  std::vector<Finding> findings;
  for (const RuleFamily& family : families()) {
    for (const RuleCheck& check : family.checks) {
      if (scope == RuleScope::Objects && !check.about_objects) continue;
      if (check.only_for != nullptr && !runs(*check.only_for, enabled)) continue;
      std::vector<Finding> found = check.find(evidence);
      if (findings.empty())
        findings = std::move(found);
      else
        std::ranges::move(found, std::back_inserter(findings));
    }
  }
  merge_host_and_device(findings);
  sort_findings(findings);
  if (is_full(findings)) {
    findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(limits::kFindings), findings.end());
    const std::string says =
        fmt::format("has more findings than the {} that are kept (elfaudit --limits)", limits::kFindings);
    findings.push_back(unreadable_input({"this audit", says}));
    sort_findings(findings);
  }
  return findings;
}

void settle_findings(const Resolution& resolution, std::vector<Finding>& findings) {
  for (const RuleFamily& family : families())
    if (family.settle != nullptr) family.settle(resolution, findings);
}

void sort_findings(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) { return sort_key(a) < sort_key(b); });
}

bool stops_link(const Finding& finding) { return finding.severity == Severity::Error && rule(finding.rule).stops_link; }

Finding make_finding(const Rule& rule, std::string_view symbol, std::string message) {
  return {std::string(rule.id), rule.severity, std::string(symbol), demangle(symbol), std::move(message), {}};
}

void note_suppliers(const Unresolved& name, Finding& finding) {
  finding.notes = name.remarks;
  for (const Supplier& supplier : name.suppliers) {
    if (!finding.cause)
      finding.cause = {supplier.kind, supplier.text, supplier.about};
    else if (supplier.kind != "library-not-linked")  // its fix names it
      finding.notes.push_back(supplier.text);
    const auto is_same = [&](const Fix& fix) { return fix.text == supplier.fix; };
    if (!supplier.fix.empty() && std::ranges::none_of(finding.fixes, is_same)) finding.fixes.push_back({supplier.fix});
  }
}

std::string some_symbols(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> shown;
  for (const std::string& name : names)  // the several symbols of a destructor read alike
    if (std::string text = demangle(name); std::ranges::find(shown, text) == shown.end())
      shown.push_back(std::move(text));
  return some_of(shown, most);
}

Site make_file_site(Origin origin, std::string note, Role role) {
  Site site{.role = role, .origin = std::move(origin)};
  if (!note.empty()) site.notes.push_back(std::move(note));
  return site;
}

Site make_object_site(const Evidence& evidence, ObjectId id, Role role) {
  Site site = make_file_site(evidence.object(id).origin, {}, role);
  note_extraction(evidence, id, site);
  return site;
}

Site make_site(const Evidence& evidence, SymbolId id, Role role) {
  const ObjectFacts& object = evidence.object(id.in);
  const Symbol& symbol = evidence.symbol(id);
  Site site{.role = role, .id = id, .origin = object.origin};
  switch (symbol.placement) {
    case Placement::InSection:
      site.section = object.section_name(symbol);
      break;
    case Placement::Absolute:
      site.section = "*ABS*";
      break;
    case Placement::Common:
      site.section = "*COM*";
      break;
    case Placement::Undefined:
      break;
  }
  site.offset = symbol.placement == Placement::Common ? 0 : symbol.value;
  site.size = symbol.size;
  if (object.origin.bytecode)
    site.notes.emplace_back(object.lto.compiler == LtoCompiler::Gcc ? "GCC's bytecode" : "LLVM bitcode");
  note_extraction(evidence, id.in, site);
  return site;
}

}  // namespace elfaudit
