// `elfaudit explain`: everything about a symbol, for people and for programs.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSymbols = 20;  // that a short spelling fits

std::string_view headline(SymbolResolution resolved_as) {
  using enum SymbolResolution;
  return word_of(resolved_as,
                 {{Kept, "kept"},
                  {Rejected, "rejected"},
                  {NotExtracted, "not linked"},
                  {NotNeeded, "not linked"},
                  {Reference, "reference"}},
                 "discarded");
}

std::string_view to_word(SymbolResolution resolved_as) {
  using enum SymbolResolution;
  return word_of(resolved_as, {{Kept, "kept"},
                               {Rejected, "rejected"},
                               {Ignored, "ignored"},
                               {MergedCommon, "merged-common"},
                               {Overridden, "overridden"},
                               {SharedLost, "shared-lost"},
                               {DiscardedComdat, "discarded-comdat"},
                               {DiscardedExclude, "discarded-exclude"},
                               {NotExtracted, "not-extracted"},
                               {NotNeeded, "not-needed"},
                               {Reference, "reference"}});
}

constexpr std::size_t kIndent = 14;  // of what is behind a label

/// A sentence is wrapped at words.
std::string labelled(std::string_view label, const std::string& text, std::size_t columns = 0) {
  const bool fits = columns == 0 || kIndent + text.size() <= columns;
  return fmt::format("  {:<{}}{}\n", label, kIndent - 2, fits ? text : wrapped(text, kIndent, columns));
}

/// The advice of the findings about the symbol.
std::string advice(const Finding& finding, std::size_t columns) {
  std::string out;
  if (finding.cause) out += labelled("cause", finding.cause->text, columns);
  for (std::size_t i = 0; i < finding.fixes.size(); ++i)
    out += labelled(i == 0 ? "fix" : "or", finding.fixes[i].text, columns);
  for (const std::string& note : finding.notes) out += labelled("note", note, columns);
  return out;
}

/// Where a finding has looked at the same definition, or has a line of the object's references, it knows more.
const Place& place_of(const SymbolUse& use, const std::vector<Finding>& findings) {
  const bool is_reference = use.resolved_as == SymbolResolution::Reference;
  for (const Finding& finding : findings)
    for (const Site& site : finding.sites) {
      const bool is_same = site.section == use.site.section && site.offset == use.site.offset;
      if (site.place.known_by != KnownBy::Nothing && site.origin == use.site.origin &&
          (is_reference ? site.role == Role::Reference : is_same))
        return site.place;
    }
  return use.site.place;
}

std::string mention(const SymbolUse& use, const std::vector<Finding>& findings, std::size_t columns) {
  const Site& site = use.site;
  const Place& place = place_of(use, findings);
  const std::string indent(kIndent, ' ');
  const std::string position = describe_position(site);
  std::string out = labelled(headline(use.resolved_as), site.origin.display());
  out += indent + use.kind + (position.empty() ? "" : "; " + position) + "\n";
  if (place.known_by != KnownBy::Nothing)
    out += indent + fmt::format("{} ({})\n", place.at.text(), to_phrase(place.known_by));
  else if (!place.why_unknown.empty())
    out += indent + place.why_unknown + "\n";
  for (std::size_t i = place.chain.size(); i-- > 0;) out += indent + "  included from " + place.chain[i].text() + "\n";
  if (!use.reason.empty()) out += labelled("", use.reason, columns);
  for (const std::string& note : site.notes) out += labelled("", note, columns);
  return out;
}

std::string account_of(const SymbolReport& made, std::size_t columns) {
  const SymbolReport report = for_display(made);
  std::string out = report.demangled;
  if (report.demangled != report.symbol) out += " (" + report.symbol + ")";
  if (!report.link.empty()) out += " in the link of " + report.link;
  out += "\n  " + report.verdict + "\n";
  for (const Finding& finding : report.findings) out += advice(finding, columns);
  for (const SymbolUse& use : report.uses) out += mention(use, report.findings, columns);
  return out;
}

Json json_of(const SymbolReport& report) {
  Json uses = Json::array();
  for (const SymbolUse& use : report.uses) {
    Site site = use.site;
    site.place = place_of(use, report.findings);
    uses.push_back({{"resolved_as", to_word(use.resolved_as)},
                    {"kind", use.kind},
                    {"reason", use.reason},
                    {"site", site_json(site)}});
  }
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(finding_json(finding));
  return {{"symbol", report.symbol},
          {"demangled", report.demangled},
          {"link", report.link.empty() ? Json(nullptr) : Json(report.link)},
          {"verdict", report.verdict},
          {"uses", std::move(uses)},
          {"findings", std::move(findings)}};
}

}  // namespace

std::string explain_report(const std::vector<SymbolReport>& reports, std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < reports.size() && i < kMostSymbols; ++i)
    out += (i == 0 ? "" : "\n") + account_of(reports[i], columns);
  if (reports.size() > kMostSymbols)
    out += fmt::format("\nand {} more symbols that the name fits\n", reports.size() - kMostSymbols);
  return out;
}

std::string json_report(const std::vector<SymbolReport>& reports, bool complete) {
  Json symbols = Json::array();
  for (const SymbolReport& report : reports) symbols.push_back(json_of(report));
  const Json document = {
      {"schema", "elfaudit/1"}, {"version", ELFAUDIT_VERSION}, {"complete", complete}, {"symbols", std::move(symbols)}};
  return json_text(document, 2) + "\n";
}

}  // namespace elfaudit
