// SARIF 2.1.0: one run, every rule, one result a finding. The sections named below are those of OASIS, "SARIF Version
// 2.1.0".

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "elfaudit/report.hpp"
#include "elfaudit/version.hpp"
#include "locate/fix/fix.hpp"
#include "report/wording.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

using Json = nlohmann::ordered_json;

/// The name that relative addresses are relative to (3.14.14).
constexpr const char* kSourceRoot = "SRCROOT";

/// What GitHub takes of one file (docs.github.com, "SARIF results exceed one or more limits") where it takes less than
/// the standard allows.
constexpr std::size_t kMostResults = 25000;       ///< of a run; it keeps the 5,000 most severe
constexpr std::size_t kMostLocations = 100;       ///< it keeps so many of a result
constexpr std::size_t kMostFlowLocations = 1000;  ///< it keeps so many of a result

constexpr std::size_t kMostLinks = 5;  // in a message, which is one paragraph on GitHub

/// RFC 3986: what is not unreserved is written %XX. A path is bytes, so it need not be UTF-8.
std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~/+@").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// Turns paths into addresses.
class Addresses {
 public:
  /// `source_root`: as in ReportOptions.
  explicit Addresses(const std::string& source_root)
      : here_(working_directory()),
        root_(source_root.empty() ? here_ : (std::filesystem::path(here_) / source_root).lexically_normal().string()) {
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  }

  /// "file:///src/": what kSourceRoot stands for here.
  std::string root() const { return "file://" + percent_encoded(root_) + (root_ == "/" ? "" : "/"); }

  /// The artifactLocation (3.4) of a place's file, or of an object as the link line spells it.
  Json source(const std::string& file) const {
    // "../x.h" leads out of the root, which GitHub refuses.
    const bool outside = file.compare(0, 3, "../") == 0;
    const std::string path =
        outside ? display_path((std::filesystem::path(root_) / file).lexically_normal().string(), root_) : file;
    if (!path.empty() && path.front() == '/') return {{"uri", "file://" + percent_encoded(path)}};
    return {{"uri", percent_encoded(path)}, {"uriBaseId", kSourceRoot}};
  }
  Json object(const std::string& path) const {
    return source(display_path((std::filesystem::path(here_) / path).lexically_normal().string(), root_));
  }

 private:
  std::string here_;  ///< both absolute
  std::string root_;
};

/// Text of a message: what would be read as a placeholder or as a link is escaped (3.11.5, 3.11.6). `in_link`: it
/// is between the brackets of one.
std::string sarif_text(std::string_view text, bool in_link = false) {
  const bool brackets = in_link || text.find("](") != std::string_view::npos;  // "operator[](int)"
  std::string out;
  for (const char c : text) {
    if (c == '{' || c == '}') out += c;  // doubled: "{lambda()#1}"
    if (brackets && (c == '[' || c == ']' || c == '\\')) out += '\\';
    out += c;
  }
  return out;
}

Json message(const std::string& text) { return {{"text", text}}; }

/// GitHub shows no location without a line, so what has none, an object too, is given its first.
Json physical(Json artifact, std::uint32_t line) {
  return {{"artifactLocation", std::move(artifact)}, {"region", {{"startLine", std::max(line, 1u)}}}};
}

/// "rejected: libx.a(y.o), .bss+0x380, 8384 bytes"
std::string describe(const Site& site) {
  const std::string position = describe_position(site);
  std::string text = fmt::format("{}: {}", to_word(site.role), site.origin.display());
  if (!position.empty()) text += ", " + position;
  return text;
}

Json place_of(const Site& site, const Addresses& addresses) {
  if (site.place.known_by == KnownBy::Nothing) return physical(addresses.object(site.origin.path), 0);
  return physical(addresses.source(site.place.at.file), site.place.at.line);
}

Json symbol_location(const Finding& finding) {
  return {{"name", finding.demangled}, {"fullyQualifiedName", finding.demangled}, {"decoratedName", finding.symbol}};
}

/// None for a finding about no file and no symbol: a suppression that fits nothing.
Json primary_locations(const Finding& finding, const Focus& focus, const Addresses& addresses) {
  Json location = Json::object();
  if (focus.in_source)
    location["physicalLocation"] = physical(addresses.source(focus.at.file), focus.at.line);
  else if (!focus.at.file.empty())
    location["physicalLocation"] = physical(addresses.object(focus.at.file), 0);
  if (!finding.symbol.empty()) location["logicalLocations"] = Json::array({symbol_location(finding)});
  if (focus.site != nullptr) location["message"] = message(sarif_text(describe(*focus.site)));
  return location.empty() ? Json::array() : Json::array({std::move(location)});
}

/// Every other site; the one in focus too when the focus is not its own place but an #include on the way to it.
std::vector<const Site*> related_sites(const Finding& finding, const Focus& focus) {
  std::vector<const Site*> sites;
  for (const Site& site : finding.sites)
    if (&site != focus.site || (focus.in_source && focus.at != site.place.at)) sites.push_back(&site);
  for (const Finding& other : finding.also)
    for (const Site& site : other.sites) sites.push_back(&site);
  if (sites.size() > kMostLocations) sites.resize(kMostLocations);
  return sites;
}

Json related_locations(const std::vector<const Site*>& sites, const Addresses& addresses) {
  Json list = Json::array();
  for (std::size_t i = 0; i < sites.size(); ++i)
    list.push_back({{"id", i + 1},
                    {"physicalLocation", place_of(*sites[i], addresses)},
                    {"message", message(sarif_text(describe(*sites[i])))}});
  return list;
}

Json flow_step(const SourceLine& at, const std::string& text, std::size_t depth, bool essential,
               const Addresses& addresses) {
  Json step = {
      {"location",
       {{"physicalLocation", physical(addresses.source(at.file), at.line)}, {"message", message(sarif_text(text))}}},
      {"nestingLevel", depth}};
  if (essential) step["importance"] = "essential";
  return step;
}

/// From the translation unit to the site, one include after the other.
Json include_flow(const Site& site, const Addresses& addresses) {
  Json steps = Json::array();
  const Place& place = site.place;
  for (std::size_t i = 0; i < place.chain.size(); ++i) {
    const std::string& next = i + 1 < place.chain.size() ? place.chain[i + 1].file : place.at.file;
    steps.push_back(flow_step(place.chain[i], "includes " + next, i, place.edit == i, addresses));
  }
  steps.push_back(flow_step(place.at, describe(site), place.chain.size(), place.edit == place.chain.size(), addresses));
  return {{"message", message(sarif_text("how " + site.origin.display() + " includes it"))},
          {"threadFlows", Json::array({{{"locations", std::move(steps)}}})}};
}

Json include_flows(const Finding& finding, const Addresses& addresses) {
  Json flows = Json::array();
  std::size_t left = kMostFlowLocations;
  for (const Site& site : finding.sites) {
    if (site.place.chain_known_by == KnownBy::Nothing || site.place.chain.empty()) continue;
    if (site.place.chain.size() + 1 > left) break;
    left -= site.place.chain.size() + 1;
    flows.push_back(include_flow(site, addresses));
  }
  return flows;
}

/// The sentence first: where there is little room GitHub shows no more. Related locations are shown where the text
/// links to them.
std::string text_of(const Finding& finding, const std::vector<const Site*>& related) {
  std::string text = sarif_text(sentence(finding)) + ".";
  for (std::size_t i = 0; i < related.size() && i < kMostLinks; ++i)
    text += fmt::format("\n[{}]({})", sarif_text(describe(*related[i]), true), i + 1);
  if (finding.sites.size() > kMostLinks + 1) text += fmt::format("\n{} sites in all", finding.sites.size());
  if (finding.cause) text += "\ncause: " + sarif_text(finding.cause->text);
  for (std::size_t i = 0; i < finding.fixes.size(); ++i)
    text += (i == 0 ? "\nfix: " : "\nor: ") + sarif_text(finding.fixes[i].text);
  text += sarif_text(others_text(finding));
  for (const std::string& note : finding.notes) text += "\nnote: " + sarif_text(note);
  if (!finding.links.empty()) text += "\nlink: " + sarif_text(links_text(finding));
  return text;
}

Json properties_of(const Finding& finding) {
  Json properties = Json::object();
  if (!finding.symbol.empty()) properties["symbol"] = finding.symbol;
  if (!finding.also.empty()) properties["symbols"] = symbols_of(finding);
  if (!finding.archs.empty()) properties["archs"] = finding.archs;
  if (finding.cause) properties["cause"] = finding.cause->kind;
  if (!finding.links.empty()) properties["links"] = finding.links;
  return properties;
}

/// The lines of an edit that go, and those that come (3.57). Lines that are replaced keep the end of the last one: without
/// an end column a region ends before it.
Json replacement(const LineEdit& edit) {
  const bool replaces = edit.count != 0 && !edit.lines.empty();
  Json region = {{"startLine", edit.first.line}, {"startColumn", 1}};
  region["endLine"] = edit.first.line + edit.count - (replaces ? 1 : 0);
  if (!replaces) region["endColumn"] = 1;
  const std::string end = replaces || edit.lines.empty() ? "" : "\n";
  return {{"deletedRegion", region},
          {"insertedContent", {{"text", fmt::format("{}{}", fmt::join(edit.lines, "\n"), end)}}}};
}

/// The edits that --fix applies: the first proven one of the finding and of each symbol with its cause. None if two
/// overlap, which --fix can merge.
Json fixes_of(const Finding& finding, const Addresses& addresses) {
  std::set<LineEdit> edits;
  std::string text;
  const auto add = [&](const Finding& one) {
    const auto proven = std::ranges::find_if(one.fixes, [](const Fix& fix) { return !fix.diff.empty(); });
    if (proven == one.fixes.end() || edits.size() > kMostLocations) return;
    if (text.empty()) text = proven->text;
    for (LineEdit& edit : edits_of(proven->diff)) edits.insert(std::move(edit));
  };
  add(finding);
  for (const Finding& other : finding.also) add(other);
  Json changes = Json::array();
  const LineEdit* before = nullptr;
  for (const LineEdit& edit : edits) {
    const bool same_file = before != nullptr && before->first.file == edit.first.file;
    if (same_file && edit.first.line < before->first.line + before->count) return Json::array();
    if (!same_file) changes.push_back({{"artifactLocation", addresses.source(edit.first.file)}});
    changes.back()["replacements"].push_back(replacement(edit));
    before = &edit;
  }
  if (changes.empty()) return changes;
  return Json::array({{{"description", message(sarif_text(text))}, {"artifactChanges", std::move(changes)}}});
}

/// One finding as a result (3.27). `occurrence`: which of the findings with this fingerprint, from 1.
Json sarif_result(const Finding& finding, std::size_t rule_index, std::size_t occurrence, const Addresses& addresses) {
  const Focus focus = focus_of(finding);
  const std::vector<const Site*> related = related_sites(finding, focus);
  Json result = {{"ruleId", finding.rule},
                 {"ruleIndex", rule_index},
                 {"level", to_word(finding.severity)},
                 {"message", message(text_of(finding, related))},
                 {"locations", primary_locations(finding, focus, addresses)}};
  if (!related.empty()) result["relatedLocations"] = related_locations(related, addresses);
  if (Json flows = include_flows(finding, addresses); !flows.empty()) result["codeFlows"] = std::move(flows);
  if (Json fixes = fixes_of(finding, addresses); !fixes.empty()) result["fixes"] = std::move(fixes);
  // GitHub knows an alert again by primaryLocationLineHash alone; others read any key.
  const std::string print = fingerprint(finding);
  result["partialFingerprints"] = {{"primaryLocationLineHash", fmt::format("{}:{}", print, occurrence)},
                                   {"elfaudit/v1", print}};
  if (Json properties = properties_of(finding); !properties.empty()) result["properties"] = std::move(properties);
  return result;
}

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// "duplicate-definition" -> "DuplicateDefinition": names are identifiers for people (3.49.7).
std::string pascal_case(std::string_view id) {
  std::string out;
  bool up = true;
  for (const char c : id) {
    if (c != '-') out += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = c == '-';
  }
  return out;
}

/// GitHub's word for alerts that are not about security.
std::string_view problem_severity(Severity severity) {
  return severity == Severity::Note ? "recommendation" : to_word(severity);
}

Json tags_of(const Rule& rule) {
  Json tags = Json::array({"linkage"});
  if (rule.device) tags.push_back("device-code");
  return tags;
}

Json to_json(const Rule& rule) {
  const std::string link = rule_link(rule);
  Json json = {
      {"id", rule.id},
      {"name", pascal_case(rule.id)},
      {"shortDescription", {{"text", sarif_text(std::string(rule.summary) + ".")}}},
      {"fullDescription", {{"text", sarif_text(std::string(rule.summary) + ".")}}},
      {"help", {{"text", sarif_text(rule_help_text(rule))}, {"markdown", rule_help(rule)}}},
      {"defaultConfiguration", {{"enabled", rule.on}, {"level", to_word(rule.severity)}}},
      {"properties",
       {{"tags", tags_of(rule)}, {"precision", "very-high"}, {"problem.severity", problem_severity(rule.severity)}}}};
  if (!link.empty()) json["helpUri"] = link;
  return json;
}

Json driver() {
  Json rules = Json::array();
  for (const Rule& rule : rule_table()) rules.push_back(to_json(rule));
  Json json = {{"name", "elfaudit"}, {"version", ELFAUDIT_VERSION}, {"semanticVersion", ELFAUDIT_VERSION}};
  if (const std::string_view docs = ELFAUDIT_DOCS_URL; !docs.empty()) json["informationUri"] = docs;
  json["rules"] = std::move(rules);
  return json;
}

std::size_t rule_index(const std::string& id) {
  const auto rules = rule_table();
  return static_cast<std::size_t>(std::ranges::find(rules, id, &Rule::id) - rules.begin());
}

std::size_t count_findings(const Audit& audit) {
  return audit.findings.size() + audit.known.size() + audit.suppressed.size();
}

/// The most severe come first, so those are kept; what the project has accepted comes last. Where there is a baseline
/// every result says whether it is new (3.27.24).
Json results(const Audit& audit, const Addresses& addresses) {
  Json list = Json::array();
  std::map<std::string, std::size_t> occurrences;
  const auto add = [&](const Finding& finding, const char* state) -> Json* {
    if (list.size() == kMostResults) return nullptr;
    list.push_back(sarif_result(finding, rule_index(finding.rule), ++occurrences[fingerprint(finding)], addresses));
    if (!audit.known.empty()) list.back()["baselineState"] = state;
    return &list.back();
  };
  for (const Finding& finding : audit.findings) add(finding, "new");
  for (const Finding& finding : audit.known) add(finding, "unchanged");
  for (const SuppressedFinding& one : audit.suppressed)
    if (Json* result = add(one.finding, "unchanged"); result != nullptr)
      (*result)["suppressions"] = Json::array(
          {{{"kind", one.comment.line == 0 ? "external" : "inSource"}, {"justification", sarif_text(one.reason)}}});
  return list;
}

Json notification(const std::string& level, const std::string& text) {
  return {{"level", level}, {"message", {{"text", sarif_text(text)}}}};
}

Json invocation(const Audit& audit) {
  Json notifications = Json::array();
  for (const std::string& remark : remarks(audit)) notifications.push_back(notification("note", remark));
  if (const std::size_t all = count_findings(audit); all > kMostResults)
    notifications.push_back(notification(
        "warning", fmt::format("{} findings are left out: a run has room for {}", all - kMostResults, kMostResults)));
  Json json = {{"executionSuccessful", audit.complete}};
  const Judgement& judgement = audit.resolution.judgement;
  json["properties"] = {{"duplicatesJudged", judgement.duplicates == Judged::Yes},
                        {"undefinedJudged", judgement.undefined == Judged::Yes}};
  if (judgement.undefined != Judged::Yes) json["properties"]["undefinedNotJudged"] = to_word(judgement.undefined);
  if (!notifications.empty()) json["toolExecutionNotifications"] = std::move(notifications);
  return json;
}

}  // namespace

std::string sarif_report(const Audit& audit, const ReportOptions& options) {
  const Addresses addresses(options.source_root);
  const Json run = {{"tool", {{"driver", driver()}}},
                    {"invocations", Json::array({invocation(audit)})},
                    {"originalUriBaseIds", {{kSourceRoot, {{"uri", addresses.root()}}}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", results(audit, addresses)}};
  const Json document = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return json_text(document, 1) + "\n";
}

}  // namespace elfaudit
