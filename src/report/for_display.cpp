// Makes every text of a report visible.

#include "report/for_display.hpp"

#include <utility>

#include "support/strings.hpp"

namespace elfaudit {
namespace {

void show(std::string& text) { text = visible(text); }

void show(std::vector<std::string>& texts) {
  for (std::string& text : texts) show(text);
}

void show(SourceLine& line) { show(line.file); }

void show(std::vector<SourceLine>& lines) {
  for (SourceLine& line : lines) show(line);
}

void show(Origin& origin) {
  show(origin.path);
  show(origin.member);
}

void show(Site& site) {
  show(site.origin);
  show(site.section);
  show(site.place.at);
  show(site.place.why_unknown);
  show(site.place.chain);
  show(site.notes);
}

}  // namespace

Finding for_display(Finding finding) {
  for (std::string* text : {&finding.symbol, &finding.demangled, &finding.message}) show(*text);
  for (Site& site : finding.sites) show(site);
  if (finding.cause) show(finding.cause->text);
  for (Fix& fix : finding.fixes) show(fix.text);
  for (auto* texts : {&finding.missing, &finding.symbols, &finding.notes, &finding.links}) show(*texts);
  for (Finding& other : finding.also) other = for_display(std::move(other));
  return finding;
}

SymbolReport for_display(SymbolReport report) {
  for (std::string* text : {&report.symbol, &report.demangled, &report.verdict}) show(*text);
  for (SymbolUse& use : report.uses) {
    show(use.kind);
    show(use.reason);
    show(use.site);
  }
  return report;
}

DiagnosedError for_display(DiagnosedError error) {
  for (std::string* text : {&error.text, &error.symbol, &error.demangled, &error.name}) show(*text);
  for (LogSite& site : error.sites) {
    for (std::string* text : {&site.input, &site.member, &site.section, &site.function}) show(*text);
    show(site.at);
  }
  show(error.chain);
  for (auto* texts : {&error.searched, &error.fixes, &error.notes}) show(*texts);
  return error;
}

Closure for_display(Closure closure) {
  for (LoadedLibrary& library : closure.libraries) {
    show(library.path);
    for (NeededLibrary& needed : library.needed) {
      show(needed.name);
      show(needed.rule);
      show(needed.searched);
      show(needed.wrong_machine);
    }
  }
  show(closure.notes);
  return closure;
}

std::vector<std::string> for_display(std::vector<std::string> texts) {
  show(texts);
  return texts;
}

}  // namespace elfaudit
