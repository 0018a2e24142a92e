// GitLab's code quality report: an array of issues in the form of Code Climate's engines (docs.gitlab.com, "Code
// Quality", "Import code quality results from a CI/CD job"). GitLab compares the fingerprints of two reports.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

#include "elfaudit/report.hpp"
#include "report/fingerprint.hpp"
#include "report/wording.hpp"
#include "support/json_text.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

std::string_view severity_word(Severity severity) {
  constexpr std::string_view kWords[] = {"info", "major", "critical"};
  return kWords[static_cast<std::size_t>(severity)];
}

std::string description(const Finding& finding) {
  std::string text = sentence(finding);
  if (finding.cause) text += "; cause: " + finding.cause->text;
  if (!finding.fixes.empty()) text += "; fix: " + finding.fixes.front().text;
  return to_utf8(text);
}

}  // namespace

std::string gitlab_report(const Audit& audit, const ReportOptions& options) {
  std::map<std::string, std::size_t> used;
  Json issues = Json::array();
  for (const Finding& finding : audit.findings) {
    const Focus focus = focus_of(finding);
    std::string print = fingerprint(finding);
    // Findings that differ in nothing else would be one for GitLab.
    if (const std::size_t n = ++used[print]; n > 1) print += fmt::format("-{}", n);
    const std::string file = file_from_root(focus, options.source_root);
    issues.push_back({{"description", description(finding)},
                      {"check_name", finding.rule},
                      {"fingerprint", print},
                      {"severity", severity_word(finding.severity)},
                      {"location",
                       {{"path", file.empty() ? "." : to_utf8(file)},  // GitLab drops an issue without one
                        {"lines", {{"begin", std::max<std::uint32_t>(focus.at.line, 1)}}}}}});
  }
  return json_text(issues, 2) + "\n";
}

}  // namespace elfaudit
