// SARIF 2.1.0: one run, every rule, one result a finding.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "elfaudit/report.hpp"
#include "report/findings.hpp"
#include "report/fingerprint.hpp"
#include "report/rule_help.hpp"
#include "report/sarif_result.hpp"
#include "report/words.hpp"
#include "rules/rules.hpp"
#include "version.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// "duplicate-definition" -> "DuplicateDefinition": names are identifiers for people (3.49.7).
std::string pascal_case(std::string_view id) {
  std::string out;
  bool up = true;
  for (const char c : id) {
    if (c != '-') out += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = c == '-';
  }
  return out;
}

/// GitHub's word for alerts that are not about security.
std::string_view problem_severity(Severity severity) {
  return severity == Severity::Note ? "recommendation" : to_word(severity);
}

Json tags_of(const Rule& rule) {
  Json tags = Json::array({"linkage"});
  if (rule.id.substr(0, 7) == "device-" || rule.id.substr(0, 4) == "gpu-") tags.push_back("device-code");
  return tags;
}

Json to_json(const Rule& rule) {
  const std::string link = rule_link(rule);
  Json json = {
      {"id", rule.id},
      {"name", pascal_case(rule.id)},
      {"shortDescription", {{"text", sarif_text(std::string(rule.summary) + ".")}}},
      {"fullDescription", {{"text", sarif_text(std::string(rule.summary) + ".")}}},
      {"help", {{"text", sarif_text(rule_help_text(rule))}, {"markdown", rule_help(rule)}}},
      {"defaultConfiguration", {{"enabled", rule.on}, {"level", to_word(rule.severity)}}},
      {"properties",
       {{"tags", tags_of(rule)}, {"precision", "very-high"}, {"problem.severity", problem_severity(rule.severity)}}}};
  if (!link.empty()) json["helpUri"] = link;
  return json;
}

Json driver() {
  Json rules = Json::array();
  for (const Rule& rule : rule_table()) rules.push_back(to_json(rule));
  Json json = {{"name", "elfaudit"}, {"version", ELFAUDIT_VERSION}, {"semanticVersion", ELFAUDIT_VERSION}};
  if (const std::string_view docs = ELFAUDIT_DOCS_URL; !docs.empty()) json["informationUri"] = docs;
  json["rules"] = std::move(rules);
  return json;
}

std::size_t rule_index(const std::string& id) {
  const auto rules = rule_table();
  return static_cast<std::size_t>(
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; }) - rules.begin());
}

std::size_t count_findings(const Audit& audit) {
  return audit.findings.size() + audit.known.size() + audit.suppressed.size();
}

/// The most severe come first, so those are kept; what the project has accepted comes last. Where there is a baseline
/// every result says whether it is new (3.27.24).
Json results(const Audit& audit, const Addresses& addresses) {
  Json list = Json::array();
  std::map<std::string, std::size_t> occurrences;
  const auto add = [&](const Finding& finding, const char* state) -> Json* {
    if (list.size() == kMostResults) return nullptr;
    list.push_back(sarif_result(finding, rule_index(finding.rule), ++occurrences[fingerprint(finding)], addresses));
    if (!audit.known.empty()) list.back()["baselineState"] = state;
    return &list.back();
  };
  for (const Finding& finding : audit.findings) add(finding, "new");
  for (const Finding& finding : audit.known) add(finding, "unchanged");
  for (const SuppressedFinding& one : audit.suppressed)
    if (Json* result = add(one.finding, "unchanged"); result != nullptr)
      (*result)["suppressions"] = Json::array({{{"kind", "external"}, {"justification", sarif_text(one.reason)}}});
  return list;
}

Json notification(const std::string& level, const std::string& text) {
  return {{"level", level}, {"message", {{"text", sarif_text(text)}}}};
}

Json invocation(const Audit& audit) {
  Json notifications = Json::array();
  for (const std::string& remark : remarks(audit)) notifications.push_back(notification("note", remark));
  if (const std::size_t all = count_findings(audit); all > kMostResults)
    notifications.push_back(notification(
        "warning", fmt::format("{} findings are left out: a run has room for {}", all - kMostResults, kMostResults)));
  Json json = {{"executionSuccessful", audit.complete}};
  const Judgement& judgement = audit.resolution.judgement;
  json["properties"] = {{"duplicatesJudged", judgement.duplicates == Judged::Yes},
                        {"undefinedJudged", judgement.undefined == Judged::Yes}};
  if (judgement.undefined != Judged::Yes) json["properties"]["undefinedNotJudged"] = to_word(judgement.undefined);
  if (!notifications.empty()) json["toolExecutionNotifications"] = std::move(notifications);
  return json;
}

}  // namespace

std::string sarif_report(const Audit& audit, const ReportOptions& options) {
  const Addresses addresses(options.source_root);
  const Json run = {{"tool", {{"driver", driver()}}},
                    {"invocations", Json::array({invocation(audit)})},
                    {"originalUriBaseIds", {{kSourceRoot, {{"uri", addresses.root()}}}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", results(audit, addresses)}};
  const Json document = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace elfaudit
