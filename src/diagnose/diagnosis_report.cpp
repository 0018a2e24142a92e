// The diagnosis for people. Its shape:
//
//   log line 57: multiple definition of state
//   error: state is defined twice [duplicate-definition]
//     kept      a.o              .bss, 4 bytes
//     ...
//
//   log line 60: undefined reference to f()
//     from the log alone:
//     reference libx.a(b.o)  b.cpp:3
//     note: its objects are not here: a.o, libx.a

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "elfaudit/diagnosis.hpp"
#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "report/wording.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The diagnosis for programs: schema/elfaudit-diagnosis-1.schema.json.

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json or_null(std::uint32_t line) { return line == 0 ? Json(nullptr) : Json(line); }

Json to_json(const LogSite& site) {
  return {{"role", to_word(site.role)},
          {"input", or_null(site.input)},
          {"member", or_null(site.member)},
          {"section", or_null(site.section)},
          {"offset", site.offset ? Json(*site.offset) : Json(nullptr)},
          {"function", or_null(site.function)},
          {"file", or_null(site.at.file)},
          {"line", or_null(site.at.line)}};
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

Json to_json(const DiagnosedError& error) {
  Json json = {{"line", error.lines.front()},
               {"lines", error.lines},
               {"kind", error.kind},
               {"tool", error.tool},
               {"text", error.text},
               {"symbol", or_null(error.symbol)},
               {"demangled", or_null(error.demangled)},
               {"name", or_null(error.name)},
               {"arch", or_null(error.arch)},
               {"command_line", or_null(error.command_line)},
               {"link", error.link ? Json(*error.link) : Json(nullptr)}};
  json["sites"] = Json::array();
  for (const LogSite& site : error.sites) json["sites"].push_back(to_json(site));
  json["chain"] = Json::array();
  for (const SourceLine& step : error.chain) json["chain"].push_back({{"file", step.file}, {"line", step.line}});
  json["finding"] = error.finding ? finding_json(*error.finding) : Json(nullptr);
  json["searched"] = error.searched;
  json["nearby"] = Json::array();
  for (const NearbyFile& found : error.nearby)
    json["nearby"].push_back({{"folder", found.folder}, {"file", found.file}, {"exact", found.exact}});
  json["fixes"] = error.fixes;
  json["note"] = or_null(joined(error.notes));
  return json;
}

Json to_json(const DiagnosedLink& link) {
  constexpr std::string_view kFoundBy[] = {"command", "build", "files"};
  Json json = {{"found_by", kFoundBy[static_cast<std::size_t>(link.found_by)]},
               {"command_line", or_null(link.command_line)},
               {"output", or_null(link.output)},
               {"build", or_null(link.build)},
               {"audited", link.audited},
               {"notes", link.notes}};
  json["findings"] = Json::array();
  for (const Finding& finding : link.findings) json["findings"].push_back(finding_json(finding));
  return json;
}

}  // namespace

std::string json_report(const Diagnosis& diagnosis) {
  Json document = {{"schema", "elfaudit/1"}, {"version", ELFAUDIT_VERSION}, {"whole", diagnosis.whole}};
  document["errors"] = Json::array();
  for (const DiagnosedError& error : diagnosis.errors) document["errors"].push_back(to_json(error));
  document["links"] = Json::array();
  for (const DiagnosedLink& link : diagnosis.links) document["links"].push_back(to_json(link));
  document["findings"] = Json::array();
  for (const Finding& finding : diagnosis.findings) document["findings"].push_back(finding_json(finding));
  // A log is bytes; JSON is UTF-8: what is not UTF-8 becomes U+FFFD instead of an exception.
  return json_text(document, 2) + "\n";
}

namespace {

constexpr std::size_t kMostRows = 8;  // sites and folders of one error
constexpr std::size_t kRoleWidth = 11;

std::string bold(const std::string& text, bool color) { return color ? fmt::format("\033[1m{}\033[0m", text) : text; }

/// As the finding below the heading spells it, where there is one.
std::string name_in_heading(const DiagnosedError& error) {
  return error.finding ? error.demangled : without_default_arguments(error.demangled);
}

/// "57", "57 (and 3 more)", "57 (and 3 more, about 2 symbols)"
std::string lines_of(const DiagnosedError& error) {
  const std::vector<std::uint32_t>& lines = error.lines;
  const std::string first = std::to_string(lines.front());
  const std::size_t symbols = error.finding ? 1 + error.finding->also.size() : 1;
  return lines.size() == 1 ? first
                           : fmt::format("{} (and {} more{})", first, lines.size() - 1,
                                         symbols == 1 ? "" : fmt::format(", about {} symbols", symbols));
}

/// Is it the temporary object with what link-time optimisation compiled? GCC's is "/tmp/ccQ7T4kD.ltrans0.ltrans.o",
/// lld's "lto.tmp" or "a.out.lto.o", that of LLVM's plugin "lto-llvm-1f0c5e.o", and "ld-temp.o" without a folder for it.
bool is_made_by_link(const LogSite& site) {
  const std::string_view path = site.input;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.find(".ltrans") != std::string_view::npos || name.starts_with("lto-llvm-") || name == "lto.tmp" ||
         name.ends_with(".lto.o") || name == "ld-temp.o";
}

/// A source to open: GCC calls the one of such code <artificial>, LLVM ld-temp.o.
bool has_place(const SourceLine& at) {
  const std::string_view name = std::string_view(at.file).substr(at.file.rfind('/') + 1);
  return !name.empty() && name != "<artificial>" && name != "ld-temp.o";
}

/// "libx.a(y.o)  .bss+0x380  in function main  inc/h.h:351"
std::string describe(const LogSite& site) {
  std::string text = is_made_by_link(site) ? "code made by link-time optimisation"
                     : site.member.empty() ? site.input
                                           : fmt::format("{}({})", site.input, site.member);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "  ") + part;
  };
  add(site.offset.value_or(0) == 0 ? site.section : fmt::format("{}+{:#x}", site.section, *site.offset));
  add(site.function.empty() ? "" : "in function " + site.function);
  add(has_place(site.at) ? site.at.text() : "");
  return text;
}

template <class Rows, class Print>
void print_some(std::string& out, const Rows& rows, const Print& print) {
  for (std::size_t i = 0; i < rows.size() && i < kMostRows; ++i) out += "  " + print(rows[i]) + "\n";
  if (rows.size() > kMostRows) out += fmt::format("  and {} more\n", rows.size() - kMostRows);
}

void print_sites(std::string& out, const std::vector<LogSite>& sites, std::string_view title) {
  if (sites.empty()) return;
  out += fmt::format("  {}:\n", title);
  print_some(out, sites, [](const LogSite& site) {
    return fmt::format("{:<{}}{}", to_word(site.role), kRoleWidth, describe(site));
  });
}

/// Sites of the log whose lines the audit could not see: what bytecode refers to has none until the link compiles it.
std::vector<LogSite> lines_of_log_alone(const DiagnosedError& error) {
  const auto has_line = [](const Site& site) { return site.role == Role::Reference && site.place.at.line != 0; };
  if (std::any_of(error.finding->sites.begin(), error.finding->sites.end(), has_line)) return {};
  std::vector<LogSite> sites;
  std::copy_if(error.sites.begin(), error.sites.end(), std::back_inserter(sites),
               [](const LogSite& site) { return site.role == Role::Reference && has_place(site.at); });
  return sites;
}

/// From the #include outwards.
void print_chain(std::string& out, const std::vector<SourceLine>& chain) {
  const std::vector<SourceLine> outwards(chain.rbegin(), chain.rend());
  print_some(out, outwards, [](const SourceLine& step) { return "included from " + step.text(); });
}

void print_searched(std::string& out, const DiagnosedError& error) {
  print_some(out, error.searched, [&](const std::string& folder) {
    std::error_code failed;
    const bool there = std::filesystem::is_directory(folder, failed);
    const bool unknown = !error.ran_here && !folder.starts_with('/');
    return fmt::format("searched {}{}", folder,
                       there     ? ""
                       : unknown ? " (relative to the folder that the command ran in, which is unknown)"
                                 : " (no such folder)");
  });
}

/// What fits stays as the log has it.
std::string fitted(const std::string& text, std::size_t indent, std::size_t columns) {
  return columns == 0 || indent + text.size() <= columns ? text : wrapped(text, indent, columns);
}

/// "  note: what else there is to say\n", wrapped at words behind the label.
std::string labelled(std::string_view label, const std::string& text, std::size_t columns) {
  return fmt::format("  {}: {}\n", label, fitted(text, label.size() + 4, columns));
}

void print_suggestions(std::string& out, const DiagnosedError& error, std::size_t columns) {
  for (std::size_t i = 0; i < error.fixes.size(); ++i) out += labelled(i == 0 ? "fix" : "or", error.fixes[i], columns);
}

const DiagnosedLink* link_of(const DiagnosedError& error, const Diagnosis& diagnosis) {
  return error.link ? &diagnosis.links[*error.link] : nullptr;
}

std::string name_of(const DiagnosedLink& link) {
  if (link.command_line != 0) return fmt::format("the link in log line {}", link.command_line);
  return link.output.empty() ? "the link" : "the link of " + link.output;
}

void print_error(std::string& out, const DiagnosedError& made, const Diagnosis& diagnosis,
                 const ReportOptions& options) {
  const DiagnosedError error = for_display(made);
  const std::string title = "log line " + lines_of(error) + ": " + headline(error);
  // The name stays whole, to be copied.
  const std::string symbol = name_in_heading(error);
  const std::size_t name = symbol.empty() ? std::string::npos : title.rfind(symbol);
  const bool is_last = name != std::string::npos && name + symbol.size() == title.size();
  const bool is_wide = is_last && options.columns != 0 && title.size() > options.columns;
  out += bold(is_wide ? fitted(title.substr(0, name - 1), 0, options.columns) + "\n  " + symbol
                      : fitted(title, 0, options.columns),
              options.color) +
         "\n";
  if (error.finding) {
    out += finding_text(*error.finding, options.color, options.columns);
    print_sites(out, lines_of_log_alone(error), "the log also shows");
  } else {
    print_sites(out, error.sites, "from the log alone");
  }
  print_chain(out, error.chain);
  if (!error.finding) print_searched(out, error);
  print_suggestions(out, error, options.columns);
  for (const std::string& note : error.notes) out += labelled("note", note, options.columns);
  const DiagnosedLink* link = link_of(error, diagnosis);
  if (link != nullptr && !link->audited && !error.symbol.empty())
    out += fmt::format("  note: {} was not audited\n", name_of(*link));
  out += "\n";
}

/// What the audit of a link finds besides what the log shows.
void print_rest(std::string& out, const DiagnosedLink& link, const ReportOptions& options) {
  if (link.findings.empty()) return;
  const std::string title =
      fmt::format("{} has {} more, which the log doesn't show", name_of(link), counted(link.findings.size(), "error"));
  out += bold(fitted(title, 0, options.columns), options.color) + "\n";
  for (const Finding& finding : link.findings) out += finding_text(finding, options.color, options.columns) + "\n";
}

std::string summary(const Diagnosis& diagnosis) {
  if (diagnosis.errors.empty())
    return fmt::format("no known error in {}", diagnosis.whole ? "the log" : "the part of the log that was read");
  std::size_t found = 0;  // by symbol, as the log has them
  std::size_t joined = 0;
  for (const DiagnosedError& error : diagnosis.errors) {
    if (!error.finding) continue;
    found += 1 + error.finding->also.size();
    joined += error.finding->also.size();
  }
  const auto audited = std::count_if(diagnosis.links.begin(), diagnosis.links.end(),
                                     [](const DiagnosedLink& link) { return link.audited; });
  std::string text = counted(diagnosis.errors.size() + joined, "error") + " in the log";
  if (joined != 0) text += fmt::format(", grouped by cause into {}", diagnosis.errors.size());
  if (diagnosis.links.empty() && found != 0)
    text += fmt::format("; {} explained by auditing the file that it names", found);
  if (diagnosis.links.empty()) return text;
  if (audited == 0)
    return text + (diagnosis.links.size() == 1 ? "; its link was not audited" : "; no link was audited");
  const std::string of = static_cast<std::size_t>(audited) == diagnosis.links.size()
                             ? (audited == 1 ? "its link" : counted(diagnosis.links.size(), "link"))
                             : fmt::format("{} of {}", audited, counted(diagnosis.links.size(), "link"));
  return text + fmt::format("; {} explained by auditing {}", found, of);
}

}  // namespace

std::string headline(const DiagnosedError& error) {
  const std::string name = name_in_heading(error);
  if (error.kind == "duplicate-definition") return "multiple definition of " + name;
  if (error.kind == "undefined-reference") return "undefined reference to " + name;
  if (error.kind == "library-not-found") return "cannot find " + error.name;
  if (error.kind == "input-not-found" || error.kind == "header-not-found") return error.name + ": no such file";
  if (error.kind == "library-not-on-line") return fmt::format("{} is not on the link line", error.name);
  const std::size_t at = error.symbol.starts_with("_Z") ? error.text.find(error.symbol) : std::string::npos;
  return at == std::string::npos ? error.text : std::string(error.text).replace(at, error.symbol.size(), name);
}

/// Each note once, with the links that have it.
static std::vector<std::pair<std::string, std::vector<std::string>>> notes_of_links(const Diagnosis& diagnosis) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  for (const DiagnosedLink& link : diagnosis.links)
    for (const std::string& note : for_display(link.notes)) {
      auto same = std::ranges::find(notes, note, [](const auto& one) { return one.first; });
      if (same == notes.end()) same = notes.insert(same, {note, {}});
      same->second.push_back(name_of(link));
    }
  return notes;
}

std::string text_report(const Diagnosis& diagnosis, const ReportOptions& options) {
  std::string out;
  for (const DiagnosedError& error : diagnosis.errors) print_error(out, error, diagnosis, options);
  for (const Finding& finding : diagnosis.findings) out += finding_text(finding, options.color, options.columns) + "\n";
  for (const DiagnosedLink& link : diagnosis.links) print_rest(out, link, options);
  for (const auto& [note, links] : notes_of_links(diagnosis)) {
    const std::string who = links.size() == 1 ? links.front() : fmt::format("{} links", links.size());
    out += fitted(fmt::format("note: {}: {}", who, note), 0, options.columns) + "\n";
  }
  if (!diagnosis.whole)
    out += fmt::format("note: not all of the log was read: it is beyond the limit on {} (elfaudit --limits)\n",
                       diagnosis.beyond);
  return out + fitted(summary(diagnosis), 0, options.columns) + "\n";
}

}  // namespace elfaudit
