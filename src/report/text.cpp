// The report for people. Its shape:
//
//   error: NAME is defined twice [rule]
//     cause     the header defines the variable
//     fix       declare it `extern` in inc/state.h:3 and define it in one source file
//     kept      a.o              .bss, 4 bytes
//               inc/state.h:3    (debug info)
//     rejected  libx.a(b.o)      .bss+0x40, 4 bytes
//               no debug info; extracted by a.o, which needs f

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "elfaudit/report.hpp"
#include "locate/cause/cause.hpp"
#include "report/wording.hpp"
#include "rules/rules.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostOthers = 20;  // symbols of one cause
constexpr std::size_t kRoleWidth = 10;   // "rejected" and two blanks
constexpr std::size_t kWidestColumn = 60;

class Painter {
 public:
  explicit Painter(bool on) : on_(on) {}
  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string severity(Severity severity, const std::string& text) const {
    return wrap(severity == Severity::Error ? "1;31" : severity == Severity::Warning ? "1;35" : "1;36", text);
  }
  std::string place(const std::string& text) const { return wrap("36", text); }
  std::string dim(const std::string& text) const { return wrap("2", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  bool on_;
};

/// How much of a finding is shown, and how.
struct Style {
  Painter paint;
  std::size_t columns = 0;     ///< 0: lines are not wrapped
  std::size_t most_sites = 0;  ///< a header in a thousand objects shows no more
  std::string_view all = {};   ///< what shows the others: " (-v shows all)"
};

/// `text` behind `column` blanks, wrapped at words. Demangled names and paths with blanks stay whole.
std::string fitted(std::string text, const Finding& finding, std::size_t column, const Style& style) {
  if (style.columns == 0 || column + text.size() <= style.columns) return text;
  constexpr char kBlank = '\x01';  // visible() has left no such byte
  const auto keep = [&](std::string name) {
    if (name.find(' ') == std::string::npos) return;
    std::string kept = name;
    std::ranges::replace(kept, ' ', kBlank);
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size())
      text.replace(at, name.size(), kept);
  };
  keep(finding.demangled);
  for (const Site& site : finding.sites) {
    keep(site.origin.display());
    keep(site.place.at.file);
  }
  std::string out = wrapped(text, column, style.columns);
  std::ranges::replace(out, kBlank, ' ');
  return out;
}

/// "  cause     what made it one\n"
std::string labelled(std::string_view label, const std::string& text, const Finding& finding, const Style& style) {
  return fmt::format("  {:<{}}{}\n", label, kRoleWidth, fitted(text, finding, kRoleWidth + 2, style));
}

std::size_t column_width(const Finding& finding) {
  std::size_t width = 0;
  for (const Site& site : finding.sites) {
    width = std::max(width, site.origin.display().size());
    if (site.place.known_by != KnownBy::Nothing) width = std::max(width, site.place.at.text().size());
  }
  return std::min(width, kWidestColumn) + 2;
}

/// Two blanks at least, also behind what is wider than the column.
std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(std::max(width, text.size() + 2) - text.size(), ' ');
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, "; ")); }

/// The chain that was printed first for each place of a finding.
using Chains = std::map<SourceLine, std::vector<SourceLine>>;

/// How many steps from the site outwards two chains to it share.
std::size_t common_steps(const std::vector<SourceLine>& a, const std::vector<SourceLine>& b) {
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

/// How the path before it is known, on a line of its own where both are too wide for one. A path is never broken.
std::string known(KnownBy by, std::size_t column, std::size_t blanks, const std::string& indent, const Style& style) {
  const std::string how = fmt::format("({})\n", to_phrase(by));
  const bool fits = style.columns == 0 || column + blanks + how.size() <= style.columns + 1;
  return (fits ? std::string(blanks, ' ') : "\n" + indent + "  ") + how;
}

/// From the site outwards. What several sites have in common is printed once.
void print_chain(std::string& out, const Place& place, Chains& printed, const std::string& indent, const Style& style) {
  if (place.chain_known_by == KnownBy::Nothing || place.chain.empty()) return;
  const auto [before, first] = printed.try_emplace(place.at, place.chain);
  const std::size_t common = first ? 0 : common_steps(place.chain, before->second);
  if (common != 0) out += indent + fmt::format("  included as above, {}\n", counted(common, "step"));
  for (std::size_t i = place.chain.size() - common; i-- > 0;) {
    const std::string step =
        indent + "  included from " + place.chain[i].text() + (place.edit == i ? "  <- yours" : "");
    const bool says_how = i + 1 == place.chain.size() && place.chain_known_by != place.known_by;
    out += step + (says_how ? known(place.chain_known_by, step.size(), 2, indent + "  ", style) : "\n");
  }
}

void print_site(std::string& out, const Site& site, const Finding& finding, std::size_t width, Chains& printed,
                const Style& style) {
  const std::string position = describe_position(site);
  const std::string origin = site.origin.display();
  const std::string indent(kRoleWidth + 2, ' ');
  out += fmt::format("  {:<{}}", to_word(site.role), kRoleWidth);
  const std::string line = position.empty() ? origin : padded(origin, width) + position;
  const bool fits = style.columns == 0 || indent.size() + line.size() <= style.columns;
  out += fits ? line + "\n" : origin + "\n" + (position.empty() ? "" : indent + position + "\n");

  std::vector<std::string> remarks;
  if (site.place.known_by == KnownBy::Nothing) {
    if (!site.place.why_unknown.empty()) remarks.push_back(site.place.why_unknown);
  } else {
    const std::string where = site.place.at.text();
    const std::size_t blanks = padded(where, width).size() - where.size();
    const std::size_t column = indent.size() + where.size();
    out += indent + style.paint.place(where) + known(site.place.known_by, column, blanks, indent, style);
    print_chain(out, site.place, printed, indent, style);
  }
  remarks.insert(remarks.end(), site.notes.begin(), site.notes.end());
  if (!remarks.empty()) out += indent + fitted(joined(remarks), finding, indent.size(), style) + "\n";
}

const Site* first_known(const Finding& finding) {
  const auto known = [](const Site& site) { return site.place.known_by != KnownBy::Nothing; };
  const auto found = std::ranges::find_if(finding.sites, known);
  return found == finding.sites.end() ? nullptr : &*found;
}

void print_links(std::string& out, const Finding& finding, const Style& style) {
  if (!finding.links.empty()) out += labelled("link", links_text(finding), finding, style);
}

/// The other symbols of the same cause, each with the place to edit, if it is known.
void print_others(std::string& out, const Finding& finding, const Painter& paint) {
  std::size_t width = 0;
  const auto shown = std::span(finding.also).first(std::min(finding.also.size(), kMostOthers));
  for (const Finding& other : shown) width = std::max(width, subject_of(other).size());
  width = std::min(width, kWidestColumn) + 2;
  for (const Finding& other : shown) {
    const Site* site = first_known(other);
    out +=
        fmt::format("  {:<{}}", "also", kRoleWidth) +
        (site == nullptr ? subject_of(other) : padded(subject_of(other), width) + paint.place(site->place.at.text())) +
        "\n";
  }
  if (finding.also.size() > shown.size()) out += fmt::format("  and {} more\n", finding.also.size() - shown.size());
}

std::string headline(const Finding& finding, const Style& style) {
  const std::string severity = std::string(to_word(finding.severity)) + ":";
  const std::string mark = "[" + finding.rule + "]";
  std::string text = fitted(sentence(finding) + " " + mark, finding, severity.size() + 1, style);
  text.resize(text.size() - mark.size());
  const std::string between = text.substr(text.find_last_not_of(" \n") + 1);
  text.resize(text.size() - between.size());
  return style.paint.severity(finding.severity, severity) + " " + style.paint.bold(text) + between +
         style.paint.dim(mark) + "\n";
}

/// What to do comes first: it is what most readers need.
void print_finding(std::string& out, const Finding& made, const Style& style) {
  const Finding finding = for_display(made);
  out += headline(finding, style);
  if (finding.cause) out += labelled("cause", finding.cause->text, finding, style);
  for (std::size_t i = 0; i < finding.fixes.size(); ++i)
    out += labelled(i == 0 ? "fix" : "or", finding.fixes[i].text, finding, style);
  if (rule(finding.rule).names_file) {
    print_others(out, finding, style.paint);
    return print_links(out, finding, style);
  }
  const std::size_t width = column_width(finding);
  Chains printed;
  for (std::size_t i = 0; i < finding.sites.size() && i < style.most_sites; ++i)
    print_site(out, finding.sites[i], finding, width, printed, style);
  if (finding.sites.size() > style.most_sites)
    out += fmt::format("  and {} more{}\n", finding.sites.size() - style.most_sites, style.all);
  print_others(out, finding, style.paint);
  for (const std::string& note : finding.notes) out += labelled("note", note, finding, style);
  print_links(out, finding, style);
}

// --- Of many findings: how they are distributed

constexpr std::size_t kFew = 10;
constexpr std::size_t kColumn = 10;  // of what is counted

using Counts = std::map<std::string, std::size_t>;

/// "variable-not-extern: A header defines a variable."
std::string explained(const Finding& finding) {
  if (!finding.cause) return fmt::format("{}: {}", finding.rule, rule(finding.rule).summary);
  const CauseMeaning* cause = find_cause(finding.cause->kind);
  return cause == nullptr ? finding.cause->kind : fmt::format("{}: {}", cause->id, cause->summary());
}

/// The most frequent first.
std::string table_of(const char* title, const Counts& counts, std::size_t columns) {
  std::vector<std::pair<std::string, std::size_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = rows.empty() ? "" : std::string(title) + "\n";
  for (std::size_t i = 0; i < rows.size() && i < kFew; ++i)
    out += fmt::format("  {:>6}  {}\n", rows[i].second, wrapped(visible(rows[i].first), kColumn, columns));
  if (rows.size() > kFew) out += fmt::format("  and {} more\n", rows.size() - kFew);
  return out;
}

/// Which files to edit and which causes to know, where the findings are too many to read. Symbols are counted.
std::string distribution(const Audit& audit, std::size_t columns) {
  if (audit.findings.size() <= kFew) return {};
  Counts files;
  Counts causes;
  for (const Finding& finding : audit.findings) {
    const Focus focus = focus_of(finding);
    const std::size_t symbols = 1 + finding.also.size();
    if (focus.in_source) files[focus.at.file] += symbols;
    causes[explained(finding)] += symbols;
  }
  constexpr std::size_t kMany = 50;
  const char* hint = audit.findings.size() <= kMany
                         ? ""
                         : "`--format concise` prints a line for each finding, `--statistics` counts them\n";
  return table_of("by file", files, 0) + table_of("by cause", causes, columns) + hint + "\n";
}

Style style_of(const ReportOptions& options) {
  constexpr std::size_t kFirstSites = 3;
  constexpr std::size_t kAll = std::string::npos;
  return {Painter(options.color), options.columns, options.verbose ? kAll : kFirstSites, " (-v shows all)"};
}

/// Objects that take part, in the host's link or in a device link, each once.
std::vector<ObjectId> linked_objects(const Audit& audit) {
  std::vector<ObjectId> objects;
  const auto& linked = audit.resolution.linked;
  for (std::uint32_t i = 0; i < linked.size(); ++i)
    for (std::uint32_t o = 0; o < linked[i].size(); ++o)
      if (linked[i][o]) objects.push_back({i, o});
  for (const DeviceTarget& target : audit.resolution.device.targets)
    for (const DeviceInput& input : target.inputs)
      if (audit.job.inputs[input.object.input].device_only) objects.push_back(input.object);
  std::ranges::sort(objects);
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  return objects;
}

/// What the compiler adds to a line (crt1.o, libc) is not the user's.
bool is_users(const InputFacts& input) { return !is_of_system(input.path); }

/// The objects that take part and are not the system's; of a build, one of several links once. All of them where
/// nothing else was given.
std::size_t objects_that_count(const Audit& audit, bool system_too) {
  std::set<std::string> of_links;
  std::size_t count = 0;
  const auto counts = [&](const Audit& link, ObjectId id) { return system_too || is_users(link.inputs[id.input]); };
  for (const ObjectId id : linked_objects(audit)) count += counts(audit, id) ? 1 : 0;
  for (const Audit& link : audit.links)
    for (const ObjectId id : linked_objects(link))
      if (counts(link, id)) of_links.insert(input_name(link, id));
  return count + of_links.size();
}

/// "2 objects in 2 inputs (plus 17 system files)"
std::string what_was_linked(const Audit& audit) {
  const auto yours = static_cast<std::size_t>(std::ranges::count_if(audit.inputs, is_users));
  const std::size_t others = yours == 0 ? 0 : audit.inputs.size() - yours;
  std::string text = counted(objects_that_count(audit, yours == 0), "object") + " in " +
                     counted(audit.inputs.size() - others, "input");
  if (!audit.links.empty()) text += " of " + counted(audit.links.size(), "link");
  return others == 0 ? text : text + fmt::format(" (plus {})", counted(others, "system file"));
}

/// "2 objects in 2 inputs, 5 files in 1 package"
std::string what_was_read(const Audit& audit) {
  std::vector<std::string> parts;
  if (!audit.inputs.empty() || audit.packages.empty()) parts.push_back(what_was_linked(audit));
  std::size_t files = 0;
  for (const Package& package : audit.packages) files += package.files.size();
  const auto folders =
      static_cast<std::size_t>(std::ranges::count(audit.packages, PackageKind::Directory, &Package::kind));
  const std::size_t packages = audit.packages.size() - folders;
  if (!audit.packages.empty())
    parts.push_back(counted(files, "file") + " in " + (folders == 0 ? "" : counted(folders, "folder")) +
                    (folders != 0 && packages != 0 ? " and " : "") +
                    (packages == 0 ? "" : counted(packages, "package")));
  std::size_t unlinked = 0;
  for (const Package& package : audit.packages) unlinked += package.unlinked_objects();
  if (unlinked > 1) parts.back() += fmt::format(" ({} objects not linked together)", unlinked);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> remarks(const Audit& audit) {
  const LinkJob& job = audit.job;
  std::vector<std::string> out;
  if (audit.resolution.whole_archives)
    out.push_back("only archives were given: every member was linked, as if something needed it");
  out.insert(out.end(), job.notes.begin(), job.notes.end());
  if (!job.excluded.empty()) out.push_back(fmt::format("excluded by --never-read: {}", fmt::join(job.excluded, ", ")));
  if (!job.options_not_understood.empty())
    out.push_back(fmt::format("unknown options, ignored: {}", fmt::join(job.options_not_understood, " ")));
  return out;
}

/// A count takes a quarter longer, and is nothing that anyone could act on: it goes with the names.
std::string undefined_words(const Audit& audit, const ReportOptions& options) {
  const bool to_be_linked = std::ranges::any_of(audit.inputs, [](const InputFacts& input) {
    return input.kind == InputKind::Object || input.kind == InputKind::Archive;
  });
  const Judged judged = audit.resolution.judgement.undefined;
  if (judged == Judged::Yes || !to_be_linked) return {};
  const char* others = undefined_names(audit).empty() ? "" : "other ";
  if (!options.list_undefined) return fmt::format("; {}undefined symbols are not checked{}", others, why_not(judged));
  const std::size_t n = undefined_count(audit).value_or(0);
  return n == 0 ? "" : fmt::format("; {} undefined, not checked{}", counted(n, "symbol"), why_not(judged));
}

std::string summary(const Audit& audit, const ReportOptions& options) {
  std::size_t of[3] = {};
  std::size_t symbols = 0;
  bool joined = false;  // by cause: there are fewer findings than symbols
  for (const Finding& finding : audit.findings) {
    ++of[static_cast<int>(finding.severity)];
    if (finding.symbol.empty() || is_about_object(finding)) continue;
    symbols += 1 + finding.also.size();
    joined |= !finding.also.empty();
  }
  const std::set<std::string>& not_judged = audit.resolution.judgement.not_judged;
  std::string text = counted(of[2], "error");
  if (audit.findings.empty()) text = not_judged.empty() ? "clean" : "no findings";
  if (of[1] != 0) text += ", " + counted(of[1], "warning");
  if (of[0] != 0) text += ", " + counted(of[0], "note");
  if (joined) text += " about " + counted(symbols, "symbol");
  text += ": " + what_was_read(audit);
  text += undefined_words(audit, options);
  if (!not_judged.empty()) text += fmt::format("; not judged: {}", fmt::join(not_judged, ", "));
  if (!audit.suppressed.empty()) text += fmt::format("; {} suppressed", audit.suppressed.size());
  if (!audit.known.empty()) text += fmt::format("; {} in the baseline", audit.known.size());
  if (audit.findings.empty() && audit.leaves_types)
    text += "; types are not compared (--severity divergent-definition=on)";
  if (!options.selected.empty()) text += "; by --select " + options.selected + " alone";
  if (!audit.complete) text += "; the audit is incomplete";
  if (!options.config.empty()) text += "; configured by " + options.config;
  return text;
}

std::string text_report(const Audit& audit, const ReportOptions& options) {
  const Style style = style_of(options);
  std::string out;
  out.reserve(audit.findings.size() * 1024);  // what is not used takes no memory
  for (const Finding& finding : audit.findings) {
    print_finding(out, finding, style);
    out += "\n";
  }
  out += distribution(audit, options.columns);
  if (options.list_undefined) {
    for (const std::string& name : open_names(audit)) out += "undefined: " + visible(demangle(name)) + "\n";
    // Of a link that is judged: what nothing defines and the linker lets pass. The errors are reported above.
    if (audit.resolution.judgement.undefined == Judged::Yes)
      for (const Unresolved& name : audit.resolution.unresolved)
        if (!name.is_reported()) out += "undefined: " + visible(demangle(name.symbol)) + "\n";
  }
  for (const std::string& remark : for_display(remarks(audit))) out += "note: " + fitted(remark, {}, 6, style) + "\n";
  return std::move(out) + fitted(visible(summary(audit, options)), {}, 0, style) + "\n";
}

std::string links_text(const Finding& finding) {
  constexpr std::size_t kMostNamed = 3;
  return some_of(finding.links, kMostNamed);
}

std::string finding_text(const Finding& finding, bool color, std::size_t columns) {
  constexpr std::size_t kMostSites = 20;
  std::string out;
  print_finding(out, finding, {.paint = Painter(color), .columns = columns, .most_sites = kMostSites});
  return out;
}

std::string stats_report(const Audit& audit) {
  std::string out;
  for (const Pass& pass : audit.passes) out += fmt::format("{:<12}{:8.1f} ms\n", pass.name, pass.milliseconds);
  return out;
}

}  // namespace elfaudit
