// elfaudit list images|symbols|members|needs FILE..., list closure FILE..., diff OLD NEW, rules [ID...],
// diagnose LOG and show WHEEL...

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interface.hpp"
#include "elfaudit/closure.hpp"
#include "elfaudit/compare.hpp"
#include "elfaudit/diagnosis.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/listing.hpp"
#include "elfaudit/version.hpp"
#include "input/build/build_plan.hpp"
#include "locate/cause/cause.hpp"
#include "report/wording.hpp"
#include "rules/python/python_modules.hpp"
#include "rules/rules.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

void print_list(std::string_view text) { print(text, "the list"); }

bool wants_format(const Request& request, std::string_view format) {
  return !request.formats.empty() && request.formats.back() == format;
}

std::vector<InputError> write_list(const Request& request, const ListOptions& options) {
  Listing listing;
  {
    const ProgressLine line;
    progress_stage("reading files");
    listing = list(request.files, options);
  }
  wants_format(request, "json") ? json_listing(listing, print_list) : text_listing(listing, print_list);
  return std::move(listing.errors);
}

/// Prints the rows of a file while other files are still being read.
std::vector<InputError> write_rows(const Request& request, const ListOptions& options) {
  const ProgressLine line(::isatty(::fileno(stdout)) == 0);
  progress_stage("reading files");
  std::vector<InputError> errors;
  list_each(request.files, options, [&](const Listing& listing) {
    jsonl_listing(listing, print_list);
    errors.insert(errors.end(), listing.errors.begin(), listing.errors.end());
  });
  return errors;
}

/// `path` without slashes at its end: paths below --root are made by adding "/...", and the root itself may be "/".
std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

int list_command(const Request& request) {
  if (request.has_command) throw UsageError("list takes files, not a link command");
  enter_sandbox(request);
  ListOptions options = request.list;
  options.jobs = request.audit.jobs;
  return report_errors(wants_format(request, "jsonl") ? write_rows(request, options) : write_list(request, options));
}

int closure_command(const Request& request) {
  enter_sandbox(request);
  ClosureOptions options = request.closure;
  options.root = without_slash(options.root);
  ClosureFinder finder(options);
  std::vector<Closure> closures;
  bool complete = true;
  for (const std::string& file : request.files) {
    try {
      closures.push_back(finder.of(file));
      report_errors(closures.back().errors);
      complete = complete && closures.back().complete();
    } catch (const InputError& error) {
      complain(message_of(error));
      complete = false;
    }
  }
  print_list(wants_format(request, "json") ? json_closures(closures) : text_closures(closures));
  return complete ? 0 : 2;
}

int diff_command(const Request& request) {
  if (request.has_command) throw UsageError("diff takes two builds, not a link command");
  enter_sandbox(request);
  CompareOptions options;
  options.jobs = request.audit.jobs;
  BuildComparison comparison;
  {
    const ProgressLine line;
    progress_stage("comparing files");
    comparison = compare_builds(request.files.at(0), request.files.at(1), options);
  }
  print(wants_format(request, "json") ? json_comparison(comparison)
        : wants_format(request, "markdown")
            ? markdown_comparison(comparison)
            : text_comparison(comparison, use_color(request.color), columns_of_terminal(stdout)),
        "the comparison");
  if (const int unread = report_errors(comparison.errors); unread != 0) return unread;
  const std::size_t compatible = comparison.count(Impact::Note) + comparison.count(Impact::Compatible);
  return comparison.count(Impact::Breaks) != 0 || (request.fail_on_impact == "changes" && compatible != 0) ? 1 : 0;
}

namespace {

std::string severity_of(const Rule& rule) { return std::string(to_word(rule.severity)) + (rule.on ? "" : ", off"); }

/// One line for each rule. On a terminal its summary is wrapped.
std::string list_of_rules() {
  const std::size_t columns = columns_of_terminal(stdout);
  constexpr std::size_t kSeverity = 12;
  std::size_t width = 0;
  for (const Rule& rule : rule_table()) width = std::max(width, rule.id.size());
  std::string out;
  for (const Rule& rule : rule_table())
    out += fmt::format("{:<{}}  {:<{}}  {}\n", rule.id, width, severity_of(rule), kSeverity,
                       wrapped(rule.summary, width + kSeverity + 4, columns));
  return out + "\n`elfaudit rules ID` explains a rule or cause; --severity ID=on turns a rule on.\n";
}

/// Throws UsageError if it is the id of neither.
void require_rule_or_cause(const std::string& id) {
  if (find_cause(id) != nullptr) return;
  std::vector<std::string> causes;
  for (const CauseMeaning& cause : cause_table()) causes.emplace_back(cause.id);
  const std::string near = nearest_word(id, causes);
  std::vector<std::string> rules;
  for (const Rule& rule : rule_table()) rules.emplace_back(rule.id);
  if (!near.empty() && nearest_word(id, rules).empty())
    throw UsageError(fmt::format("unknown rule or cause '{}'; did you mean '{}'?", id, near));
  require_rule(id, "");
}

std::string cause_account(const CauseMeaning& cause, bool color) {
  return plain_text(fmt::format("# {}\n\n{}\n\n## Fix\n\n{}\n", cause.id, cause.meaning, cause.fix), 80, color);
}

std::string accounts_of(const std::vector<std::string>& ids, bool color) {
  std::string out;
  for (const std::string& id : ids) {
    if (!out.empty()) out += "\n";
    const CauseMeaning* cause = find_cause(id);
    out += cause != nullptr ? cause_account(*cause, color) : rule_account(rule(id), color);
  }
  return out;
}

/// All rules and causes, or those named, and these rules with their pages.
std::string rules_json(const std::vector<std::string>& ids) {
  using Json = nlohmann::ordered_json;
  const auto is_wanted = [&](std::string_view id) { return ids.empty() || std::ranges::find(ids, id) != ids.end(); };
  Json rules = Json::array();
  for (const Rule& rule : rule_table()) {
    if (!is_wanted(rule.id)) continue;
    rules.push_back({{"id", rule.id},
                     {"severity", to_word(rule.severity)},
                     {"on", rule.on},
                     {"device", rule.device},
                     {"summary", rule.summary},
                     {"help_uri", or_null(rule_link(rule))}});
    if (!ids.empty()) rules.back()["help"] = rule_help(rule);
  }
  Json causes = Json::array();
  for (const CauseMeaning& cause : cause_table())
    if (is_wanted(cause.id)) causes.push_back({{"id", cause.id}, {"meaning", cause.meaning}, {"fix", cause.fix}});
  const Json document = {
      {"schema", "elfaudit-rules/1"}, {"version", ELFAUDIT_VERSION}, {"rules", rules}, {"causes", causes}};
  return json_text(document, 2) + "\n";
}

}  // namespace

int rules_command(const Request& request) {
  if (request.has_command) throw UsageError("rules takes rule ids, not a link command");
  for (const std::string& id : request.files) require_rule_or_cause(id);
  const std::string text = wants_format(request, "json") ? rules_json(request.files)
                           : request.files.empty()       ? list_of_rules()
                                                         : accounts_of(request.files, use_color(request.color));
  print(text, "the rules");
  return 0;
}

int init_command(const Request& request) {
  if (request.has_command || !request.files.empty()) throw UsageError("init takes no arguments");
  const std::string path = ".elfaudit.toml";
  const std::string known = find_config(".");
  if (!known.empty() && known.find('/') == std::string::npos)
    throw UsageError(known + " has the settings of this folder already");
  if (is_there(path)) throw UsageError(path + " exists already");
  write_to(
      path,
      fmt::format(
          R"(# Settings of elfaudit: `elfaudit check --dump-config` prints every key with its meaning and its value.
required-version = ">={}"
fail-on = "error"                             # or "warning", "note", "never"

# Findings that are there today and don't count: elfaudit check --write-baseline elfaudit-baseline.json ...
# baseline = "elfaudit-baseline.json"

[severity]
# duplicate-definition = "warning"            # error, warning, note, on or off: `elfaudit rules` lists the rules

# [[suppress]]
# rule = "duplicate-definition"
# symbol = "legacy_*"
# reason = "goes away with 2.0"
# until = 2027-01-31
)",
          ELFAUDIT_VERSION));
  const std::vector<std::string> builds = is_build_folder(".") ? std::vector<std::string>{"."} : builds_below(".");
  print(fmt::format("wrote {}; next: elfaudit check {}\n", path,
                    builds.empty() ? "-- g++ ... (a link command), or elfaudit check -p BUILD_DIR"
                                   : "-p " + shell_line({builds.front()})),
        "the answer");
  return 0;
}

namespace {

/// `audits`: receives the audits of the links; may be null.
Diagnosis diagnosis_of(const Request& request, std::vector<Audit>* audits) {
  DiagnoseOptions options;
  options.jobs = request.audit.jobs;
  options.build = request.build;
  options.audits = audits;
  for (const auto& [there, here] : path_map(request).prefixes)
    options.paths.emplace_back(there, std::filesystem::absolute(here).lexically_normal().string());
  const std::string& log = request.files.front();
  const std::string text = log == "-" ? read_standard_input() : "";
  const ProgressLine line;
  return log == "-" ? diagnose(text, options) : diagnose_file(log, options);
}

std::string report_of(const Diagnosis& diagnosis, const Request& request) {
  const std::string format = request.formats.empty() ? "text" : request.formats.back();
  ReportOptions options;
  options.color = use_color(request.color);
  options.columns = columns_of_terminal(stdout);
  options.source_root = request.source_root;
  if (format == "json") return json_report(diagnosis);
  return format == "github" ? github_report(diagnosis, options) : text_report(diagnosis, options);
}

/// All that the diagnosis found in the links, as one audit.
Audit as_audit(const Diagnosis& diagnosis, std::vector<Audit> links) {
  Audit all;
  for (const DiagnosedError& error : diagnosis.errors)
    if (error.finding) all.findings.push_back(*error.finding);
  for (const DiagnosedLink& link : diagnosis.links)
    all.findings.insert(all.findings.end(), link.findings.begin(), link.findings.end());
  if (links.size() > 1) all.links = std::move(links);
  return all;
}

}  // namespace

int diagnose_command(const Request& request) {
  if (request.has_command) throw UsageError("diagnose takes a log, not a link command");
  const bool edits = request.fix || request.diff;
  try {
    std::vector<Audit> audits;
    Diagnosis diagnosis = diagnosis_of(request, edits ? &audits : nullptr);
    map_paths(diagnosis, path_map(request));
    group_by_cause(diagnosis.errors);
    for (DiagnosedLink& link : diagnosis.links) group_by_cause(link.findings);
    if (!request.diff) print(report_of(diagnosis, request), "the report");
    if (edits && !edit_sources(request, as_audit(diagnosis, std::move(audits)))) return 2;
    return exit_code(diagnosis);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("cannot read the log: {}: {}", error.path, error.what()));
  }
}

// --- show WHEEL...: what `check` found of wheels, as answers to what a wheel claims.

namespace {

/// A claim in the name of a wheel. `holds`: whether it is true; nothing if that is not known.
struct WheelClaim {
  std::string claim;  ///< "cp312-cp312", "manylinux_2_17_x86_64"
  std::optional<bool> holds;
  std::vector<std::string> why;  ///< the findings against it
};

struct ShownWheel {
  const Package* package = nullptr;
  std::vector<WheelClaim> claims;
  std::vector<PlatformNeeds> platforms;
  std::vector<std::string> gpu;    ///< "sm_90a", "compute_90"
  std::optional<bool> uploadable;  ///< to PyPI, by its tags alone
  std::string why_not;             ///< the tag that PyPI refuses, or that is not known
};

bool is_about(const Finding& finding, const Package& package) {
  return std::ranges::any_of(finding.sites, [&](const Site& site) { return site.origin.path == package.path; });
}

/// By the findings of these rules; those about a platform name its tag.
WheelClaim judge_claim(const Audit& audit, const Package& package, std::string claim,
                       const std::vector<std::string_view>& rules, bool is_known) {
  WheelClaim judged{std::move(claim), is_known ? std::optional(true) : std::nullopt, {}};
  for (const Finding& finding : audit.findings) {
    const bool names_platform =
        finding.rule != "python-platform" || finding.message.find(judged.claim) != std::string::npos;
    if (!is_among(finding.rule, rules) || !names_platform || !is_about(finding, package)) continue;
    judged.why.push_back(finding.message);
    if (finding.severity == Severity::Error)
      judged.holds = false;
    else if (judged.holds == true)
      judged.holds = std::nullopt;
  }
  return judged;
}

/// The tags that PyPI accepts for Linux (https://github.com/pypi/warehouse, warehouse/forklift/legacy.py).
void judge_upload(ShownWheel& wheel) {
  wheel.uploadable = true;
  for (const std::string& tag : wheel.package->wheel.tags) {
    const std::string platform = tag.substr(tag.rfind('-') + 1);
    const bool is_accepted = starts_with_any(platform, {"manylinux", "musllinux_"}) ||
                             is_among(platform, {"any", "linux_armv6l", "linux_armv7l"});
    if (is_accepted || wheel.uploadable == false) continue;
    wheel.uploadable = platform.starts_with("linux_") ? std::optional(false) : std::nullopt;
    wheel.why_not = platform;
  }
}

ShownWheel shown(const Audit& audit, std::uint32_t index) {
  ShownWheel wheel{&audit.packages[index], {}, platform_needs(audit.packages, audit.images, index), {}, {}, {}};
  const Package& package = *wheel.package;
  wheel.claims.push_back(judge_claim(audit, package, short_tags(package.wheel),
                                     {"python-tag", "python-abi", "python-undefined", "python-missing"},
                                     audit.complete));
  for (const PlatformNeeds& platform : wheel.platforms)
    wheel.claims.push_back(
        judge_claim(audit, package, platform.claimed, {"python-platform"},
                    audit.complete && (!platform.oldest.empty() || platform.claimed.starts_with("linux_"))));
  const auto by_length = [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  };
  std::set<std::string, decltype(by_length)> archs(by_length);
  for (const InputFacts& file : package.files)
    for (const ObjectFacts& object : file.objects)
      for (const DeviceImage& image : object.device.images) archs.insert(image.target());
  wheel.gpu.assign(archs.begin(), archs.end());
  judge_upload(wheel);
  return wheel;
}

/// One row for each need, with the first file that has it and the number of others: "libx.so.1, for pkg/_C.so and 4 more".
std::vector<std::string> joined_needs(const std::vector<PlatformNeeds::Reason>& all) {
  struct Need {
    std::string version, text, file;
    std::size_t files = 0;
  };
  std::vector<Need> needs;
  for (const PlatformNeeds::Reason& one : all) {
    const std::string version = one.need.substr(0, one.need.find(' '));
    auto known = std::ranges::find(needs, version, &Need::version);
    if (known == needs.end()) known = needs.insert(needs.end(), {version, one.need, one.file, 0});
    ++known->files;
  }
  std::vector<std::string> rows;
  for (const Need& need : needs)
    rows.push_back(fmt::format("{}, for {}{}", need.text, need.file,
                               need.files == 1 ? "" : fmt::format(" and {} more", need.files - 1)));
  return rows;
}

std::string text_of(const ShownWheel& wheel, std::size_t columns) {
  constexpr std::size_t kWidth = 14;
  std::string out = visible(wheel.package->path) + "\n";
  const auto row = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<{}}{}\n", label, kWidth - 2, wrapped(visible(text), kWidth, columns));
  };
  for (const WheelClaim& claim : wheel.claims) {
    const bool is_platform = &claim != &wheel.claims.front();
    row("claim",
        claim.claim + (claim.holds == true                 ? ": consistent with its files"
                       : claim.holds == false              ? ": false"
                       : is_platform && !claim.why.empty() ? ": true only where others bring the libraries below"
                                                           : ": unknown"));
    if (is_platform && !claim.holds) continue;  // the libraries are rows of their own
    for (const std::string& why : claim.why) row("", why);
  }
  for (const PlatformNeeds& platform : wheel.platforms) {
    row("oldest tag", platform.oldest.empty() ? "unknown, for " + platform.claimed : platform.oldest);
    if (platform.repaired.empty() && !platform.libraries.empty())
      row("", "unknown with the libraries below in the wheel: not all of them are found here");
    if (!platform.repaired.empty() && platform.repaired != platform.oldest)
      row("", platform.repaired + " with the libraries below in the wheel");
    for (const std::string& reason : joined_needs(platform.reasons)) row("because of", reason);
    for (const std::string& library : joined_needs(platform.libraries)) row("library", library);
  }
  if (!wheel.gpu.empty()) row("GPU code", some_of(wheel.gpu, wheel.gpu.size()));
  row("PyPI", wheel.uploadable == true    ? "accepts its tags"
              : wheel.uploadable == false ? fmt::format("refuses the tag {}", wheel.why_not)
                                          : fmt::format("unknown whether it accepts the tag {}", wheel.why_not));
  return out;
}

nlohmann::ordered_json json_of(const ShownWheel& wheel) {
  using Json = nlohmann::ordered_json;
  const auto or_unknown = [](const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); };
  const WheelFacts& facts = wheel.package->wheel;
  Json json = {{"path", wheel.package->path}, {"name", facts.name}, {"version", facts.version}, {"tags", facts.tags}};
  json["claims"] = Json::array();
  for (const WheelClaim& claim : wheel.claims)
    json["claims"].push_back({{"claim", claim.claim}, {"holds", or_unknown(claim.holds)}, {"why", claim.why}});
  json["platforms"] = Json::array();
  for (const PlatformNeeds& platform : wheel.platforms) {
    Json one = {{"claimed", platform.claimed},
                {"oldest", or_null(platform.oldest)},
                {"with_libraries", or_null(platform.repaired)}};
    one["reasons"] = Json::array();
    for (const auto& reason : platform.reasons)
      one["reasons"].push_back({{"file", reason.file}, {"need", reason.need}});
    one["libraries"] = Json::array();
    for (const auto& library : platform.libraries)
      one["libraries"].push_back({{"file", library.file}, {"library", library.need}});
    json["platforms"].push_back(std::move(one));
  }
  json["gpu"] = wheel.gpu;
  json["uploadable"] = or_unknown(wheel.uploadable);
  return json;
}

}  // namespace

int show_command(const Request& request) {
  if (request.has_command) throw UsageError("show takes wheels, not a link command");
  enter_sandbox(request);
  AuditOptions options;
  options.jobs = request.audit.jobs;
  std::optional<Audit> audited;
  {
    const ProgressLine line;
    audited.emplace(audit(job_from_files(request.files), options));
  }
  const Audit& audit = *audited;
  std::vector<InputError> errors = audit.job.missing;
  for (const InputFacts& input : audit.inputs)
    errors.push_back({input.path, "is not a wheel: elfaudit check takes it"});
  nlohmann::ordered_json document = {
      {"schema", "elfaudit/1"}, {"version", ELFAUDIT_VERSION}, {"complete", audit.complete}};
  document["wheels"] = nlohmann::ordered_json::array();
  std::string text;
  bool is_false = false;
  for (std::uint32_t i = 0; i < audit.packages.size(); ++i) {
    const Package& package = audit.packages[i];
    errors.insert(errors.end(), package.errors.begin(), package.errors.end());
    for (const InputFacts& file : package.files) errors.insert(errors.end(), file.errors.begin(), file.errors.end());
    if (package.wheel.tags.empty()) {
      if (package.errors.empty()) errors.push_back({package.path, "is not a wheel: elfaudit check takes it"});
      continue;
    }
    const ShownWheel wheel = shown(audit, i);
    is_false = is_false || std::ranges::any_of(wheel.claims, [](const WheelClaim& c) { return c.holds == false; });
    text += (text.empty() ? "" : "\n") + text_of(wheel, columns_of_terminal(stdout));
    document["wheels"].push_back(json_of(wheel));
  }
  print(wants_format(request, "json") ? json_text(document, 2) + "\n" : text, "the report");
  if (const int unread = report_errors(errors); unread != 0 || !audit.complete) return 2;
  return is_false ? 1 : 0;
}

}  // namespace elfaudit
