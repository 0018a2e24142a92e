// JUnit XML, as the schema of Jenkins' xUnit plugin has it (junit-10.xsd): every CI server reads that much. One suite a
// rule. A finding is a case. A clean audit is one case that passed, so that it is not "no tests"; a rule without
// findings is none: whether it had anything to look at depends on what was given.

#include <fmt/format.h>

#include <map>
#include <set>

#include "elfaudit/report.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

/// Character data or an attribute. XML 1.0 (2.2) has no way to write most control characters, nor U+FFFE and U+FFFF.
std::string xml(std::string_view text) {
  std::string out;
  const std::string clean = to_utf8(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n' || c == '\t' || c == '\r')
      out += fmt::format("&#{};", static_cast<int>(c));  // an attribute would lose it
    else if ((static_cast<unsigned char>(c) < ' ') || clean.compare(i, 3, "\xef\xbf\xbe") == 0 ||
             clean.compare(i, 3, "\xef\xbf\xbf") == 0) {
      out += "\xef\xbf\xbd";
      if (c == '\xef') i += 2;
    } else
      out += c;
  }
  return hidden_escaped(out, [](char32_t c) { return fmt::format("&#{};", static_cast<unsigned>(c)); });
}

/// Text between tags, where a line is a line.
std::string xml_lines(std::string_view text) {
  std::string out = xml(text);
  for (std::size_t at = 0; (at = out.find("&#10;", at)) != std::string::npos;) out.replace(at, 5, "\n");
  return out;
}

enum class Outcome { Passed, Failed, Broken };

Outcome outcome_of(const Finding& finding, Severity fail_on) {
  if (finding.leaves_unread) return Outcome::Broken;  // not a verdict: the audit could not be finished
  return finding.severity >= fail_on ? Outcome::Failed : Outcome::Passed;
}

struct Suite {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::set<std::string> names{};  ///< of the cases: a CI server's history knows them by name
};

std::string unique_name(Suite& suite, const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t n = 2; !suite.names.insert(name).second; ++n) name = fmt::format("{} ({})", wanted, n);
  return name;
}

void add(Suite& suite, const Finding& finding, Severity fail_on) {
  const Outcome outcome = outcome_of(finding, fail_on);
  ++suite.tests;
  suite.failures += outcome == Outcome::Failed ? 1 : 0;
  suite.errors += outcome == Outcome::Broken ? 1 : 0;
  const std::string text = xml_lines(finding_text(finding, false));
  suite.cases += fmt::format("    <testcase classname=\"elfaudit.{}\" name=\"{}\" time=\"0\">\n", finding.rule,
                             xml(unique_name(suite, finding.message)));
  if (outcome == Outcome::Passed) {
    suite.cases += "      <system-out>" + text + "</system-out>\n";
  } else {
    const char* tag = outcome == Outcome::Failed ? "failure" : "error";
    suite.cases += fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", tag, finding.rule,
                               xml(sentence(finding)), text, tag);
  }
  suite.cases += "    </testcase>\n";
}

/// What the project lives with.
void add_accepted(Suite& suite, const Finding& finding, const std::string& why) {
  ++suite.tests;
  ++suite.skipped;
  suite.cases += fmt::format(
      "    <testcase classname=\"elfaudit.{}\" name=\"{}\" time=\"0\">\n      <skipped message=\"{}\"/>\n    "
      "</testcase>\n",
      finding.rule, xml(unique_name(suite, finding.message)), xml(why));
}

}  // namespace

std::string junit_report(const Audit& audit, const ReportOptions& options) {
  std::map<std::string, Suite> suites;
  for (const Finding& finding : audit.findings) add(suites[finding.rule], finding, options.fail_on);
  for (const Finding& finding : audit.known) add_accepted(suites[finding.rule], finding, "in the baseline");
  for (const SuppressedFinding& one : audit.suppressed)
    add_accepted(suites[one.finding.rule], one.finding, "suppressed: " + one.reason);
  if (suites.empty()) suites["audit"] = {"    <testcase classname=\"elfaudit\" name=\"audit\" time=\"0\"/>\n", 1};
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::string body;
  for (const auto& [rule, suite] : suites) {
    body += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"0\">\n{}  </testsuite>\n",
        rule, suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
    tests += suite.tests;
    failures += suite.failures;
    errors += suite.errors;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"elfaudit\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\">\n{}</testsuites>\n",
      tests, failures, errors, body);
}

}  // namespace elfaudit
