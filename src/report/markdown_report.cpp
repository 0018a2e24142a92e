// Markdown for the summary of a CI job ($GITHUB_STEP_SUMMARY, a comment on a merge request): GitHub Flavored Markdown.
// Names come from object files, so nothing of them may become markup.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "elfaudit/report.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

// GitHub takes 1 MiB for a step.
constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostDetails = std::size_t{512} << 10;

/// Text of a cell or a paragraph. Character references say what Markdown or HTML would take for theirs.
std::string escaped(std::string_view text) {
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
  return fmt::format("| {} | {} | {} | {} |\n", to_word(finding.severity), escaped(sentence(finding)),
                     escaped(focus_of(finding).at.text()), escaped(finding.rule));
}

}  // namespace

std::string markdown_report(const Audit& audit, const ReportOptions& options) {
  std::string out = "### elfaudit\n\n" + escaped(summary(audit, options)) + "\n";
  const std::size_t rows = std::min(audit.findings.size(), kMostRows);
  if (rows != 0) out += "\n| severity | finding | where | rule |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i < rows; ++i) out += row(audit.findings[i]);
  if (rows < audit.findings.size()) out += fmt::format("\nand {} more\n", audit.findings.size() - rows);
  std::size_t shown = 0;
  std::string details;
  for (; shown < rows && details.size() < kMostDetails; ++shown) {
    const Finding& finding = audit.findings[shown];
    details += fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", escaped(sentence(finding)),
                           fenced(finding_text(finding, false)));
  }
  out += details;
  for (const std::string& remark : remarks(audit)) out += "\n" + escaped(remark) + "\n";
  return out;
}

}  // namespace elfaudit
