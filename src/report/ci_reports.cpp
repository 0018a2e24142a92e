// Reports for editors and CI servers, a section for each form.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "elfaudit/report.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- JUnit XML, as the schema of Jenkins' xUnit plugin has it (junit-10.xsd): every CI server reads that much. One
// suite a rule. A finding is a case. A clean audit is one case that passed, so that it is not "no tests"; a rule
// without findings is none: whether it had anything to look at depends on what was given.

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

Outcome outcome_of(const Finding& finding, std::optional<Severity> fail_on) {
  if (finding.leaves_unread) return Outcome::Broken;  // not a verdict: the audit could not be finished
  return fail_on && finding.severity >= *fail_on ? Outcome::Failed : Outcome::Passed;
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

void add(Suite& suite, const Finding& finding, std::optional<Severity> fail_on) {
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

// --- GitHub Actions: one workflow command a finding, "::error file=F,line=N,title=T::TEXT".
// docs.github.com, "Workflow commands for GitHub Actions"; what has to be escaped is in actions/toolkit,
// packages/core/src/command.ts.

namespace {

/// Of the text; a property ends at a comma or colon as well.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : to_utf8(text)) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string_view command_word(Severity severity) {
  return severity == Severity::Note ? "notice" : to_word(severity);  // GitHub has no "note"
}

/// What is not in the annotation's own place: the object, what made it a definition, what to do.
std::string body(const Finding& finding) {
  std::string text = sentence(finding);
  for (const Site& site : finding.sites) {
    text += fmt::format("\n{}: {}", to_word(site.role), site.origin.display());
    if (site.place.known_by != KnownBy::Nothing)
      text += fmt::format(" ({}:{})", site.place.at.file, site.place.at.line);
    if (&site - finding.sites.data() == 9 && finding.sites.size() > 10) {
      text += fmt::format("\nand {} more", finding.sites.size() - 10);
      break;
    }
  }
  if (finding.cause) text += "\ncause: " + finding.cause->text;
  for (const Fix& fix : finding.fixes) text += "\nfix: " + fix.text;
  text += others_text(finding);
  for (const std::string& note : finding.notes) text += "\nnote: " + note;
  if (!finding.links.empty()) text += "\nlink: " + links_text(finding);
  return text;
}

std::string command(std::string_view word, const SourceLine& at, const std::string& title, const std::string& text) {
  std::string properties;
  if (!at.file.empty()) properties += "file=" + escaped(at.file, true) + ",";
  if (at.line != 0) properties += fmt::format("line={},", at.line);
  return fmt::format("::{} {}title={}::{}\n", word, properties, escaped(title, true), escaped(text, false));
}

std::string annotation(const Finding& made, const std::string& root) {
  const Finding finding = for_display(made);
  const Focus focus = focus_of(finding);
  return command(command_word(finding.severity), {file_from_root(focus, root), focus.at.line},
                 "elfaudit: " + finding.rule, body(finding));
}

/// Where the log itself says it is, when nothing of the link could be audited.
SourceLine place_in_log(const DiagnosedError& error) {
  for (const LogSite& site : error.sites)
    if (!site.at.file.empty()) return site.at;
  return error.chain.empty() ? SourceLine() : error.chain.back();  // the #include that finds no header
}

std::string annotation(const DiagnosedError& made) {
  const DiagnosedError error = for_display(made);
  const SourceLine at = place_in_log(error);
  std::string text = headline(error);
  for (const std::string& fix : error.fixes) text += "\nfix: " + fix;
  for (const std::string& note : error.notes) text += "\nnote: " + note;
  return command("error", at, "elfaudit: " + error.kind, text);
}

}  // namespace

std::string github_report(const Diagnosis& diagnosis, const ReportOptions& options) {
  std::string out;
  for (const DiagnosedError& error : diagnosis.errors)
    out += error.finding ? annotation(*error.finding, options.source_root) : annotation(error);
  for (const DiagnosedLink& link : diagnosis.links)
    for (const Finding& finding : link.findings) out += annotation(finding, options.source_root);
  if (!diagnosis.whole)
    out += command("warning", {}, "elfaudit",
                   "not all of the log was read: it is beyond the limit on " + diagnosis.beyond);
  return out;
}

std::string github_report(const Audit& audit, const ReportOptions& options) {
  std::string out;
  for (const Finding& finding : audit.findings) out += annotation(finding, options.source_root);
  for (const std::string& remark : for_display(remarks(audit))) out += command("notice", {}, "elfaudit", remark);
  return out + "elfaudit: " + escaped(visible(summary(audit, options)), false) + "\n";
}

// --- GitLab's code quality report: an array of issues in the form of Code Climate's engines (docs.gitlab.com, "Code
// Quality", "Import code quality results from a CI/CD job"). GitLab compares the fingerprints of two reports.

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

// --- Markdown for the summary of a CI job ($GITHUB_STEP_SUMMARY, a comment on a merge request): GitHub Flavored
// Markdown. Names come from object files, so nothing of them may become markup.

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]<>#|&~@:$";
  std::string out;
  for (const char c : visible(text)) {
    if (kMarkup.find(c) == std::string_view::npos)
      out += c;
    else
      out += fmt::format("&#{};", static_cast<int>(c));
  }
  return out;
}

namespace {

// GitHub takes 1 MiB for a step.
constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostDetails = std::size_t{512} << 10;

/// A block of text as it is, its fence longer than any in it (CommonMark 4.5).
std::string fenced(const std::string& text) {
  std::size_t longest = 2;
  for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + text + fence + "\n";
}

std::string row(const Finding& finding) {
  return fmt::format("| {} | {} | {} | {} |\n", to_word(finding.severity), markdown_text(sentence(finding)),
                     markdown_text(focus_of(finding).at.text()), markdown_text(finding.rule));
}

}  // namespace

std::string markdown_report(const Audit& audit, const ReportOptions& options) {
  std::string out = "### elfaudit\n\n" + markdown_text(summary(audit, options)) + "\n";
  const std::size_t rows = std::min(audit.findings.size(), kMostRows);
  if (rows != 0) out += "\n| severity | finding | where | rule |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i < rows; ++i) out += row(audit.findings[i]);
  if (rows < audit.findings.size()) out += fmt::format("\nand {} more\n", audit.findings.size() - rows);
  std::size_t shown = 0;
  std::string details;
  for (; shown < rows && details.size() < kMostDetails; ++shown) {
    const Finding& finding = audit.findings[shown];
    details += fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", markdown_text(sentence(finding)),
                           fenced(finding_text(finding, false)));
  }
  out += details;
  for (const std::string& remark : remarks(audit)) out += "\n" + markdown_text(remark) + "\n";
  return out;
}

// --- "FILE:LINE:COLUMN: error: TEXT [rule]" and "note:" lines, as GCC writes them (GCC manual, "Diagnostic Message
// Formatting Options"): what Vim's errorformat, Emacs' compilation-mode and VS Code's $gcc matcher read.

namespace {

constexpr std::size_t kMostNotes = 10;  // sites of one finding

/// The column is not known, and VS Code's matcher wants one. What has no place is said of the program, as GCC does.
std::string message(const SourceLine& at, std::string_view kind, const std::string& text) {
  const std::string place = at.file.empty() ? "elfaudit" : at.line == 0 ? at.file : at.text() + ":1";
  return fmt::format("{}: {}: {}\n", place, kind, text);
}

SourceLine place_of(const Site& site) {
  return site.place.known_by == KnownBy::Nothing ? SourceLine{site.origin.display(), 0} : site.place.at;
}

std::string lines_of(const Finding& made) {
  const Finding finding = for_display(made);
  const SourceLine at = focus_of(finding).at;
  std::string out = message(at, to_word(finding.severity), sentence(finding) + " [" + finding.rule + "]");
  if (finding.cause) out += message(at, "note", "cause: " + finding.cause->text);
  for (const Fix& fix : finding.fixes) out += message(fix.at.file.empty() ? at : fix.at, "note", "fix: " + fix.text);
  for (std::size_t i = 0; i < finding.sites.size() && i < kMostNotes; ++i) {
    const Site& site = finding.sites[i];
    out += message(place_of(site), "note", fmt::format("{}: {}", to_word(site.role), site.origin.display()));
    for (std::size_t step = site.place.chain.size(); step-- > 0;)
      out += message(site.place.chain[step], "note", "included from here");
  }
  if (finding.sites.size() > kMostNotes)
    out += message(at, "note", fmt::format("and {} more", finding.sites.size() - kMostNotes));
  for (const Finding& other : finding.also) out += message(focus_of(other).at, "note", "also: " + subject_of(other));
  for (const std::string& note : finding.notes) out += message(at, "note", note);
  if (!finding.links.empty()) out += message(at, "note", "link: " + links_text(finding));
  return out;
}

}  // namespace

std::string gcc_report(const Audit& audit, const ReportOptions& options) {
  std::string out;
  for (const Finding& finding : audit.findings) out += lines_of(finding);
  for (const std::string& remark : for_display(remarks(audit))) out += message({}, "note", remark);
  return out + "elfaudit: " + visible(summary(audit, options)) + "\n";
}

}  // namespace elfaudit
