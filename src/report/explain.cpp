// The whole account of one symbol, for people.

#include <fmt/format.h>

#include "elfaudit/report.hpp"
#include "report/for_display.hpp"
#include "report/words.hpp"

namespace elfaudit {
namespace {

std::string_view headline(Fate fate) {
  switch (fate) {
    case Fate::Kept:
      return "kept";
    case Fate::Rejected:
      return "rejected";
    case Fate::NotExtracted:
    case Fate::NotNeeded:
      return "not linked";
    case Fate::Reference:
      return "reference";
    default:
      return "discarded";
  }
}

void print_mention(std::string& out, const Mention& mention) {
  const Site& site = mention.site;
  const std::string indent(14, ' ');
  const std::string position = describe_position(site);
  out += fmt::format("  {:<12}{}\n", headline(mention.fate), site.origin.display());
  out += indent + mention.kind + (position.empty() ? "" : "; " + position) + "\n";
  if (site.place.known_by != KnownBy::Nothing)
    out += indent + fmt::format("{}:{} ({})\n", site.place.at.file, site.place.at.line, to_phrase(site.place.known_by));
  else if (!site.place.why_unknown.empty())
    out += indent + site.place.why_unknown + "\n";
  if (!mention.reason.empty()) out += indent + mention.reason + "\n";
  for (const std::string& note : site.notes) out += indent + note + "\n";
}

}  // namespace

std::string account_report(const Account& made) {
  const Account account = for_display(made);
  std::string out = account.demangled;
  if (account.demangled != account.symbol) out += " (" + account.symbol + ")";
  out += "\n  " + account.verdict + "\n";
  for (const Mention& mention : account.mentions) print_mention(out, mention);
  return out;
}

}  // namespace elfaudit
