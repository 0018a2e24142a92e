// "FILE:LINE:COLUMN: error: TEXT [rule]" and "note:" lines, as GCC writes them (GCC manual, "Diagnostic Message
// Formatting Options"): what Vim's errorformat, Emacs' compilation-mode and VS Code's $gcc matcher read.

#include <fmt/format.h>

#include "elfaudit/report.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
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
  for (const Finding& other : finding.also) out += message(focus_of(other).at, "note", "also: " + other.demangled);
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
