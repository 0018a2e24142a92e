// The words that reports share, which one place represents a finding, and texts made visible.

#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "support/file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

std::string_view to_word(Severity severity) {
  using enum Severity;
  return word_of(severity, {{Note, "note"}, {Warning, "warning"}, {Error, "error"}});
}

std::string_view to_word(Role role) {
  using enum Role;
  return word_of(role, {{Kept, "kept"}, {Rejected, "rejected"}, {Reference, "reference"}, {Candidate, "candidate"}});
}

std::string_view to_word(KnownBy known_by) {
  using enum KnownBy;
  return word_of(known_by, {{Nothing, "none"},
                            {DebugInfo, "debug-info"},
                            {MacroInfo, "macro-info"},
                            {Preprocessor, "preprocessor"},
                            {Depfile, "depfile"},
                            {SourceScan, "source-scan"},
                            {LineTable, "line-table"}});
}

std::string_view to_phrase(KnownBy known_by) {
  using enum KnownBy;
  return word_of(known_by,
                 {{DebugInfo, "debug info"},
                  {MacroInfo, "macro info"},
                  {Depfile, "depfile + source scan"},
                  {SourceScan, "source scan"},
                  {LineTable, "debug info + source scan"}},
                 to_word(known_by));
}

std::string_view to_word(LinkerKind linker) { return traits_of(linker).word; }

std::string_view to_word(ImageKind kind) {
  using enum ImageKind;
  return word_of(
      kind,
      {{Cubin, "cubin"}, {Ptx, "ptx"}, {LtoIr, "lto-ir"}, {Elf, "elf"}, {Bitcode, "bitcode"}, {Other, "unknown"}});
}

std::string_view to_word(Compression compression) {
  using enum Compression;
  return word_of(compression, {{None, "none"}, {Lz4, "lz4"}, {Zstd, "zstd"}, {Zlib, "zlib"}});
}

std::string purpose_of(const DlopenNote& note) {
  std::string text = note.priority;
  if (!note.feature.empty()) text += ", for " + note.feature;
  return note.description.empty() ? text : text + ": " + note.description;
}

std::string counted(std::size_t n, std::string_view one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

bool is_about_object(const Finding& finding) {
  return !finding.sites.empty() && (finding.symbol.empty() || rule(finding.rule).kind == RuleKind::NotPic);
}

std::string subject_of(const Finding& finding) {
  return is_about_object(finding) ? finding.sites.front().origin.display() : finding.demangled;
}

std::string sentence(const Finding& finding) {
  const std::size_t more = finding.also.size();
  if (more == 0) return finding.message;
  return fmt::format("{}, and {} {} the same cause", finding.message,
                     counted(more, is_about_object(finding) ? "more object" : "more symbol"),
                     more == 1 ? "has" : "have");
}

std::string others_text(const Finding& finding) {
  constexpr std::size_t kMostNamed = 10;
  std::string text;
  for (std::size_t i = 0; i < finding.also.size() && i < kMostNamed; ++i)
    text += "\nalso: " + subject_of(finding.also[i]);
  if (finding.also.size() > kMostNamed) text += fmt::format("\nand {} more", finding.also.size() - kMostNamed);
  return text;
}

std::vector<std::string> symbols_of(const Finding& finding) {
  if (finding.also.empty()) return finding.symbols;
  std::vector<std::string> symbols{finding.symbol};
  for (const Finding& other : finding.also) symbols.push_back(other.symbol);
  return symbols;
}

std::string describe_position(const Site& site) {
  std::string text = site.section;
  if (text == "*COM*") text = "common";
  if (text == "*ABS*") return fmt::format("absolute, value {:#x}", site.offset);
  if (site.offset != 0) text += fmt::format("+{:#x}", site.offset);
  if (site.size != 0) text += (text.empty() ? "" : ", ") + counted(site.size, "byte");
  return text;
}

std::string input_name(const Audit& audit, ObjectId id) {
  return audit.inputs[id.input].objects[id.object].origin.display();
}

namespace {

/// What a discarded COMDAT copy defines is not a name that is missing.
bool discarded_copy_defines(const Resolution& resolution, const Unresolved& name) {
  return std::ranges::any_of(name.references, [&](const Reference& reference) {
    return is_discarded(resolution.resolution_of(reference.id));
  });
}

/// Of a build: those of its links, each once.
std::vector<std::string> names_of(const Audit& audit, bool (*wanted)(const Audit&, const Unresolved&)) {
  std::vector<std::string> names;
  for (const Audit& link : audit.links)
    for (std::string& name : names_of(link, wanted)) names.push_back(std::move(name));
  for (const Unresolved& name : audit.resolution.unresolved)
    if (wanted(audit, name)) names.push_back(name.symbol);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string_view to_word(Judged judged) {
  using enum Judged;
  return word_of(judged, {{FilesAlone, "files-alone"},
                          {PartOfLine, "part-of-line"},
                          {InputExcluded, "input-left-out"},
                          {InputMissing, "input-missing"},
                          {InputUnread, "input-unread"}});
}

std::string_view why_not(Judged judged) {
  using enum Judged;
  return word_of(judged, {{FilesAlone, ": pass the link command after --"},
                          {PartOfLine, ": start files and default libraries are not known"},
                          {InputExcluded, ": an input is left out"},
                          {InputMissing, ": an input is missing"},
                          {InputUnread, ": an input could not be read"}});
}

std::vector<std::string> undefined_names(const Audit& audit) {
  return names_of(audit, [](const Audit& link, const Unresolved& name) {
    return name.is_reported() && !said_as_discarded(link.job, name);
  });
}

std::vector<std::string> open_names(const Audit& audit) {
  return names_of(audit, [](const Audit& link, const Unresolved& name) {
    return link.resolution.judgement.undefined != Judged::Yes && !discarded_copy_defines(link.resolution, name);
  });
}

std::optional<std::size_t> undefined_count(const Audit& audit) {
  if (!audit.resolution.undefined_counted) return std::nullopt;
  if (audit.resolution.undefined_count) return audit.resolution.undefined_count;
  const bool judged = audit.resolution.judgement.undefined == Judged::Yes;
  return judged ? undefined_names(audit).size() : open_names(audit).size();
}

namespace {

/// Paths below the source root are relative, all others are absolute (report/paths.cpp).
bool in_project(const SourceLine& at) { return !at.file.empty() && at.file.front() != '/'; }

std::optional<SourceLine> project_place(const Place& place) {
  if (in_project(place.at)) return place.at;
  if (place.edit && *place.edit < place.chain.size() && in_project(place.chain[*place.edit]))
    return place.chain[*place.edit];
  for (std::size_t i = place.chain.size(); i-- > 0;)  // the nearest to the site
    if (in_project(place.chain[i])) return place.chain[i];
  return std::nullopt;
}

}  // namespace

Focus focus_of(const Finding& finding) {
  const Site* outside = nullptr;
  for (const Site& site : finding.sites) {
    if (site.place.known_by == KnownBy::Nothing) continue;
    if (const auto at = project_place(site.place)) return {&site, *at, true};
    if (outside == nullptr) outside = &site;
  }
  if (outside != nullptr) return {outside, outside->place.at, true};
  if (finding.sites.empty()) return {};
  return {&finding.sites.front(), {finding.sites.front().origin.path, 0}, false};
}

std::string file_from_root(const Focus& focus, const std::string& root) {
  if (focus.in_source || root.empty() || focus.at.file.empty()) return focus.at.file;
  const std::filesystem::path here = working_directory();
  return display_path((here / focus.at.file).string(), (here / root).lexically_normal().string());
}

// --- Every text visible.

namespace {

void show(std::string& text) { text = visible(text); }

void show(SourceLine& line) { show(line.file); }

template <class Text>
void show(std::vector<Text>& texts) {
  for (Text& text : texts) show(text);
}

void show(Origin& origin) {
  show(origin.path);
  show(origin.member);
}

void show(Site& site) {
  show(site.origin);
  show(site.shadow);
  show(site.section);
  show(site.place.at);
  show(site.place.why_unknown);
  show(site.place.chain);
  show(site.notes);
}

}  // namespace

std::string without_default_arguments(std::string name) {
  if (name.find("operator") != std::string::npos) return name;  // a '<' that opens nothing
  std::vector<bool> of_library;                                 // open brackets: are they of a template of std?
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(') of_library.push_back(false);
    if (c == '<') {
      std::size_t start = i;
      while (start > 0 && (is_word_char(name[start - 1]) || name[start - 1] == ':')) --start;
      of_library.push_back(name.compare(start, 5, "std::") == 0);
    }
    if ((c == ')' || c == '>') && !of_library.empty()) of_library.pop_back();
    if (c != ',' || of_library.empty() || !of_library.back()) continue;
    const std::string_view rest = std::string_view(name).substr(i);
    if (!starts_with_any(rest, {", std::allocator<", ", std::char_traits<", ", std::less<", ", std::hash<",
                                ", std::equal_to<", ", std::default_delete<"}))
      continue;
    std::size_t end = rest.find('<');
    for (int depth = 0; end < rest.size(); ++end)
      if ((depth += rest[end] == '<' ? 1 : rest[end] == '>' ? -1 : 0) == 0) break;
    name.erase(i, end + 1);
    --i;
  }
  for (const std::string_view spelled : {"std::__cxx11::basic_string<char >", "std::__cxx11::basic_string<char>",
                                         "std::basic_string<char >", "std::basic_string<char>"})
    for (std::size_t at = name.find(spelled); at != std::string::npos; at = name.find(spelled, at))
      name.replace(at, spelled.size(), "std::string");
  return name;
}

Finding for_display(Finding finding) {
  for (std::string* text : {&finding.symbol, &finding.demangled, &finding.message}) show(*text);
  for (Site& site : finding.sites) show(site);
  if (finding.cause)
    for (std::string* text : {&finding.cause->kind, &finding.cause->text, &finding.cause->about}) show(*text);
  for (Fix& fix : finding.fixes) {
    show(fix.text);
    show(fix.at);
  }
  for (FoundRelocation& one : finding.relocations)
    for (std::string* text : {&one.type, &one.symbol, &one.section}) show(*text);
  for (auto* texts : {&finding.missing, &finding.archs, &finding.symbols, &finding.notes, &finding.links}) show(*texts);
  for (Finding& other : finding.also) other = for_display(std::move(other));
  return finding;
}

SymbolReport for_display(SymbolReport report) {
  for (std::string* text : {&report.symbol, &report.demangled, &report.verdict, &report.link}) show(*text);
  for (SymbolUse& use : report.uses) {
    show(use.kind);
    show(use.reason);
    show(use.site);
  }
  for (Finding& finding : report.findings) finding = for_display(std::move(finding));
  return report;
}

DiagnosedError for_display(DiagnosedError error) {
  for (std::string* text :
       {&error.kind, &error.tool, &error.text, &error.symbol, &error.demangled, &error.name, &error.arch})
    show(*text);
  for (LogSite& site : error.sites) {
    for (std::string* text : {&site.input, &site.member, &site.section, &site.function}) show(*text);
    show(site.at);
  }
  show(error.chain);
  for (NearbyFile& found : error.nearby) {
    show(found.folder);
    show(found.file);
  }
  for (auto* texts : {&error.searched, &error.fixes, &error.notes}) show(*texts);
  return error;
}

Closure for_display(Closure closure) {
  show(closure.interpreter);
  for (LoadedLibrary& library : closure.libraries) {
    for (std::string* text : {&library.path, &library.soname, &library.rpath, &library.runpath}) show(*text);
    for (NeededLibrary& needed : library.needed) {
      show(needed.name);
      show(needed.rule);
      show(needed.searched);
      show(needed.wrong_machine);
    }
    for (OpenedLibrary& opened : library.opened) {
      DlopenNote& note = opened.note;
      for (std::string* text : {&opened.path, &opened.answer.name, &opened.answer.rule}) show(*text);
      for (std::string* text : {&note.feature, &note.description, &note.priority}) show(*text);
      show(opened.answer.searched);
      show(note.sonames);
    }
  }
  show(closure.notes);
  return closure;
}

std::vector<std::string> for_display(std::vector<std::string> texts) {
  show(texts);
  return texts;
}

// --- The help of rules, and the Markdown that it is written in.

// --- Markdown.

namespace {

bool is_fence(std::string_view line) { return line.starts_with("```"); }

/// Calls `each(line, fenced)` for the lines that readers see; `fenced` is set inside of a fence, not for its marks.
template <class Each>
void for_each_line(std::string_view markdown, const Each& each) {
  bool fenced = false;
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    if (is_fence(line)) fenced = !fenced;
    if (!fenced && line.starts_with("<!--")) continue;  // what scripts/docs goes by
    each(line, fenced && !is_fence(line));
  }
}

/// "[text](to)" at the start of `text`.
struct Link {
  std::string_view text;
  std::string_view to;
  std::size_t size = 0;  ///< 0: there is none
};

Link link_at(std::string_view text) {
  if (!text.starts_with('[')) return {};
  const std::size_t middle = text.find("](");
  const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
  if (end == std::string_view::npos) return {};
  return {text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2), end + 1};
}

/// `replace(link)` stands for every link outside of `code`.
template <class Replace>
std::string with_links(std::string_view line, const Replace& replace) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '`') code = !code;
    const Link link = code ? Link{} : link_at(line.substr(i));
    if (link.size != 0)
      out += replace(link);
    else
      out += line[i];
    i += link.size != 0 ? link.size : 1;
  }
  return out;
}

std::string without_marks(std::string_view line) {
  const std::string text = with_links(line, [](const Link& link) { return std::string(link.text); });
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') continue;
    if (text.compare(i, 2, "**") == 0)
      ++i;
    else
      out += text[i];
  }
  return out;
}

std::string title(std::string_view line, bool color) {
  const std::string text = without_marks(line.substr(line.find_first_not_of("# ")));
  return (color ? "\x1b[1m" + text + "\x1b[0m" : text) + "\n";
}

}  // namespace

std::string relocated_markdown(std::string_view markdown, std::string_view base) {
  const auto relocated = [base](const Link& link) {
    if (base.empty()) return std::string(link.text);
    const bool absolute = link.to.find("://") != std::string_view::npos;
    return "[" + std::string(link.text) + "](" + (absolute ? "" : std::string(base)) + std::string(link.to) + ")";
  };
  std::string out;
  for_each_line(markdown, [&](std::string_view line, bool fenced) {
    out += (fenced ? std::string(line) : with_links(line, relocated)) + "\n";
  });
  return out;
}

std::string plain_text(std::string_view markdown, std::size_t width, bool color) {
  std::string out;
  std::string paragraph;  // or the item of a list
  const auto finish = [&] {
    const bool item = paragraph.starts_with("- ");
    if (item) out += "- " + wrapped(std::string_view(paragraph).substr(2), 2, width) + "\n";
    if (!item && !paragraph.empty()) out += wrapped(paragraph, 0, width) + "\n";
    paragraph.clear();
  };
  for_each_line(markdown, [&](std::string_view line, bool fenced) {
    const bool begins = fenced || line.empty() || is_fence(line) || line.starts_with('#') || line.starts_with("- ");
    if (begins) finish();
    if (is_fence(line)) return;
    if (line.empty())
      out += "\n";
    else if (fenced)
      out += "    " + std::string(line) + "\n";
    else if (line.starts_with('#'))
      out += title(line, color);
    else
      paragraph += (paragraph.empty() ? "" : " ") + without_marks(line);
  });
  finish();
  return out;
}

// --- The rules' pages.

namespace {

constexpr std::string_view kDocs = ELFAUDIT_DOCS_URL;

/// The folder of the pages; empty when it is not known.
std::string pages_address() { return kDocs.empty() ? std::string() : std::string(kDocs) + "/rules/"; }

/// tests/cli/test_rules.py sees to it that every rule has a page; until then, its summary line is used.
std::string_view page_of(const Rule& rule) {
  const std::string_view page = embedded_text(fmt::format("docs/rules/{}.md", rule.id));
  return page.empty() ? rule.summary : page;
}

/// A report says which rule it is: the title is left out.
std::string_view below_title(std::string_view page) {
  const std::size_t end = page.find("\n\n");
  return end == std::string_view::npos ? page : page.substr(end + 2);
}

}  // namespace

std::string rule_help(const Rule& rule) { return relocated_markdown(below_title(page_of(rule)), pages_address()); }

std::string rule_help_text(const Rule& rule) { return plain_text(below_title(page_of(rule)), 0); }

std::string rule_account(const Rule& rule, bool color) { return plain_text(page_of(rule), 80, color); }

std::string rule_link(const Rule& rule) {
  const std::string folder = pages_address();
  return folder.empty() ? folder : folder + std::string(rule.id) + ".md";
}

}  // namespace elfaudit
