// GitHub Actions: one workflow command a finding, "::error file=F,line=N,title=T::TEXT".
// docs.github.com, "Workflow commands for GitHub Actions"; what has to be escaped is in actions/toolkit,
// packages/core/src/command.ts.

#include <fmt/format.h>

#include "elfaudit/report.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
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
  if (!diagnosis.whole) out += command("warning", {}, "elfaudit", "the log was not read whole");
  return out;
}

std::string github_report(const Audit& audit, const ReportOptions& options) {
  std::string out;
  for (const Finding& finding : audit.findings) out += annotation(finding, options.source_root);
  for (const std::string& remark : for_display(remarks(audit))) out += command("notice", {}, "elfaudit", remark);
  return out + "elfaudit: " + escaped(visible(summary(audit, options)), false) + "\n";
}

}  // namespace elfaudit
