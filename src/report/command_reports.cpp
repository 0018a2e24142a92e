// What `elfaudit explain` and `elfaudit list closure` print, for people and for programs.

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

std::string painted(const char* code, const std::string& text, bool color) {
  return color ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

std::string mention(const SymbolUse& use, const std::vector<Finding>& findings, std::size_t columns, bool color) {
  const Site& site = use.site;
  const Place& place = place_of(use, findings);
  const std::string indent(kIndent, ' ');
  const std::string position = describe_position(site);
  std::string out = labelled(headline(use.resolved_as), site.origin.display());
  out += indent + use.kind + (position.empty() ? "" : "; " + position) + "\n";
  if (place.known_by != KnownBy::Nothing)
    out += indent + fmt::format("{} ({})\n", painted("36", place.at.text(), color), to_phrase(place.known_by));
  else if (!place.why_unknown.empty())
    out += indent + place.why_unknown + "\n";
  for (std::size_t i = place.chain.size(); i-- > 0;) out += indent + "  included from " + place.chain[i].text() + "\n";
  if (!use.reason.empty()) out += labelled("", use.reason, columns);
  for (const std::string& note : site.notes) out += labelled("", note, columns);
  return out;
}

std::string account_of(const SymbolReport& made, std::size_t columns, bool color) {
  const SymbolReport report = for_display(made);
  std::string out = painted("1", report.demangled, color);
  if (report.demangled != report.symbol) out += " (" + report.symbol + ")";
  if (!report.link.empty()) out += " in the link of " + report.link;
  out += "\n  " + report.verdict + "\n";
  for (const Finding& finding : report.findings) out += advice(finding, columns);
  for (const SymbolUse& use : report.uses) out += mention(use, report.findings, columns, color);
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

std::string explain_report(const std::vector<SymbolReport>& reports, std::size_t columns, bool color) {
  std::string out;
  for (std::size_t i = 0; i < reports.size() && i < kMostSymbols; ++i)
    out += (i == 0 ? "" : "\n") + account_of(reports[i], columns, color);
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

// --- Closures for programs: schema/elfaudit-closure-1.schema.json.

namespace {

std::string_view to_id(FoundBy found_by) {
  using enum FoundBy;
  return word_of(found_by, {{Nothing, "not-found"},
                            {Given, "given"},
                            {Loader, "loader"},
                            {AlreadyLoaded, "already-loaded"},
                            {Path, "path"},
                            {Rpath, "rpath"},
                            {LibraryPath, "library-path"},
                            {Runpath, "runpath"},
                            {Cache, "cache"},
                            {Configured, "configured"},
                            {Default, "default"},
                            {LoadedBefore, "loaded-before"}});
}

const char* to_id(LoaderKind loader) {
  return loader == LoaderKind::Glibc ? "glibc" : loader == LoaderKind::Musl ? "musl" : "none";
}

Json path_of(const Closure& closure, std::uint32_t library) {
  return library == kNone ? Json(nullptr) : Json(closure.libraries[library].path);
}

Json to_json(const Closure& closure, const NeededLibrary& needed, std::uint32_t asker) {
  return {{"input", closure.libraries.front().path},
          {"soname", needed.name},
          {"path", path_of(closure, needed.library)},
          {"needed_by", closure.libraries[asker].path},
          {"found_by", to_id(needed.found_by)},
          {"directory", or_null(needed.rule)},
          {"directory_of", path_of(closure, needed.rule_of)},
          {"searched", needed.searched},
          {"passed_over", needed.wrong_machine}};
}

Json to_json(const Closure& closure, const OpenedLibrary& opened, std::uint32_t opener) {
  Json row = to_json(closure, opened.answer, opener);
  row["path"] = or_null(opened.path);
  row["alternatives"] = opened.note.sonames;
  row["priority"] = opened.note.priority;
  row["feature"] = or_null(opened.note.feature);
  row["description"] = or_null(opened.note.description);
  return row;
}

}  // namespace

/// One row for each DT_NEEDED entry, in the order in which the loader answers them.
std::string json_closures(const std::vector<Closure>& closures) {
  Json files = Json::array();
  Json libraries = Json::array();
  Json opened = Json::array();
  Json errors = Json::array();
  for (const Closure& closure : closures) {
    files.push_back({{"path", closure.libraries.front().path},
                     {"loader", to_id(closure.loader)},
                     {"interpreter", or_null(closure.interpreter)}});
    for (std::uint32_t i = 0; i < closure.libraries.size(); ++i) {
      for (const NeededLibrary& needed : closure.libraries[i].needed) libraries.push_back(to_json(closure, needed, i));
      for (const OpenedLibrary& one : closure.libraries[i].opened) opened.push_back(to_json(closure, one, i));
    }
    for (const InputError& error : closure.errors) errors.push_back({{"path", error.path}, {"message", error.what()}});
  }
  const bool complete = errors.empty();
  const Json document = {
      {"schema", "elfaudit/1"},     {"version", ELFAUDIT_VERSION},       {"complete", complete},
      {"files", std::move(files)},  {"libraries", std::move(libraries)}, {"dlopen", std::move(opened)},
      {"errors", std::move(errors)}};
  return json_text(document, 2) + "\n";
}

// --- Closures for people: a tree, each library's own needs where it is first named.

namespace {

/// "RUNPATH", "ld.so.cache": how a library was found, for people.
std::string found_by_word(FoundBy found_by) {
  using enum FoundBy;
  return std::string(word_of(found_by, {{Nothing, "not found"},
                                        {Given, "given"},
                                        {Loader, "the loader"},
                                        {AlreadyLoaded, "loaded already"},
                                        {Path, "path"},
                                        {Rpath, "RPATH"},
                                        {LibraryPath, "LD_LIBRARY_PATH"},
                                        {Runpath, "RUNPATH"},
                                        {Cache, "ld.so.cache"},
                                        {Configured, "ld.so.conf"},
                                        {Default, "built-in directory"},
                                        {LoadedBefore, "loaded before"}}));
}

/// "RUNPATH $ORIGIN/../lib", "RPATH /opt/lib of libx.so.1"
std::string rule_of(const Closure& closure, const NeededLibrary& needed, std::uint32_t asker) {
  std::string rule = found_by_word(needed.found_by);
  const bool names_directory = needed.found_by == FoundBy::Rpath || needed.found_by == FoundBy::Runpath ||
                               needed.found_by == FoundBy::LibraryPath;
  if (names_directory) rule += " " + (needed.rule.empty() ? std::string("(the working directory)") : needed.rule);
  if (needed.rule_of != kNone && needed.rule_of != asker) rule += " of " + closure.libraries[needed.rule_of].path;
  return rule;
}

class Tree {
 public:
  explicit Tree(Closure closure) : closure_(std::move(closure)) {}

  std::string run() {
    out_ = closure_.libraries.front().path + "\n";
    if (closure_.loader == LoaderKind::None) out_ += "  static: nothing is loaded\n";
    print_needs_of(0);
    for (const std::string& note : closure_.notes) out_ += "note: " + note + "\n";
    return out_ +
           fmt::format("{} {}", closure_.libraries.size() - 1,
                       closure_.libraries.size() == 2 ? "library" : "libraries") +
           (missing_ == 0 ? std::string() : fmt::format(", {} not found", missing_)) + "\n";
  }

 private:
  /// Not by recursion: how deep it goes is for the file to say.
  void print_needs_of(std::uint32_t root) {
    struct Step {
      std::uint32_t library;
      std::size_t next;
    };
    std::vector<Step> stack{{root, 0}};
    while (!stack.empty()) {
      const std::uint32_t asker = stack.back().library;
      const std::vector<NeededLibrary>& needed = closure_.libraries[asker].needed;
      const std::vector<OpenedLibrary>& opened = closure_.libraries[asker].opened;
      const std::size_t next = stack.back().next++;
      if (next == needed.size() + opened.size()) {
        stack.pop_back();
        continue;
      }
      const OpenedLibrary* const by_name = next < needed.size() ? nullptr : &opened[next - needed.size()];
      const NeededLibrary& one = by_name == nullptr ? needed[next] : by_name->answer;
      print(one, by_name, asker, stack.size());
      const bool first = one.library != kNone && one.found_by != FoundBy::AlreadyLoaded &&
                         closure_.libraries[one.library].needed_by == asker;
      if (first) stack.push_back({one.library, 0});
    }
  }

  /// `opened`: null for a DT_NEEDED.
  void print(const NeededLibrary& needed, const OpenedLibrary* opened, std::uint32_t asker, std::size_t depth) {
    const std::string indent(std::min(depth, kDeepestIndent) * 2, ' ');
    const std::string purpose = opened == nullptr ? std::string() : "dlopen, " + purpose_of(opened->note);
    const bool is_loaded = opened == nullptr && needed.library != kNone;
    const std::string path = is_loaded           ? closure_.libraries[needed.library].path
                             : opened == nullptr ? ""
                                                 : opened->path;
    if (path.empty()) {
      missing_ += opened == nullptr || opened->required() ? 1 : 0;
      const std::string name =
          opened == nullptr ? needed.name : fmt::format("{}", fmt::join(opened->note.sonames, " or "));
      fmt::format_to(std::back_inserter(out_), "{}{}  not found{}; searched: {}\n", indent, name,
                     purpose.empty() ? "" : " (" + purpose + ")",
                     needed.searched.empty() ? "nothing" : fmt::format("{}", fmt::join(needed.searched, ", ")));
    } else if (opened == nullptr && needed.found_by == FoundBy::AlreadyLoaded) {
      fmt::format_to(std::back_inserter(out_), "{}{}  (loaded already)\n", indent, needed.name);
    } else {
      fmt::format_to(std::back_inserter(out_), "{}{}  {}  ({}{})\n", indent, needed.name, path,
                     purpose.empty() ? "" : purpose + "; ", rule_of(closure_, needed, asker));
    }
    for (const std::string& path : needed.wrong_machine)
      fmt::format_to(std::back_inserter(out_), "{}  skipped, for another machine: {}\n", indent, path);
  }

  static constexpr std::size_t kDeepestIndent = 40;
  const Closure closure_;
  std::string out_;
  std::size_t missing_ = 0;
};

}  // namespace

std::string text_closures(const std::vector<Closure>& closures) {
  std::string out;
  for (const Closure& closure : closures) out += (out.empty() ? "" : "\n") + Tree(for_display(closure)).run();
  return out;
}

}  // namespace elfaudit
