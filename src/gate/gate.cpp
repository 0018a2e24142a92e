// Suppressions, in files and in comments of sources, baselines, and the severities that a project gives.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <string.h>  // memmem

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "report/wording.hpp"
#include "rules/rules.hpp"
#include "support/file.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

bool matches_symbol(const std::string& pattern, const Finding& finding) {
  if (pattern.empty() || matches(pattern, finding.symbol) || matches(pattern, finding.demangled)) return true;
  return std::ranges::any_of(finding.symbols, [&](const std::string& symbol) { return matches(pattern, symbol); });
}

bool fits_input(const std::string& pattern, const Site& site) {
  return fits_path(pattern, site.origin.display()) || fits_path(pattern, site.origin.path);
}

std::string* field(Suppression& suppression, std::string_view key) {
  if (key == "rule") return &suppression.rule;
  if (key == "symbol") return &suppression.symbol;
  if (key == "input") return &suppression.input;
  if (key == "file") return &suppression.file;
  if (key == "until") return &suppression.until;
  if (key == "reason") return &suppression.reason;
  return nullptr;
}

bool fits(const Suppression& suppression, const Finding& finding) {
  const auto& sites = finding.sites;
  const auto any_site = [&](const std::string& pattern, auto&& fits_one) {
    return pattern.empty() || std::ranges::any_of(sites, fits_one);
  };
  return matches(suppression.rule, finding.rule) && matches_symbol(suppression.symbol, finding) &&
         any_site(suppression.input, [&](const Site& site) { return fits_input(suppression.input, site); }) &&
         any_site(suppression.file, [&](const Site& site) { return fits_path(suppression.file, site.place.at.file); });
}

/// A day of the calendar, "2027-01-31".
bool is_date(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  char more = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &more) != 3) return false;
  return std::chrono::year_month_day{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)}.ok();
}

}  // namespace

Suppression parse_suppression(const std::string& spec) {
  Suppression suppression;
  suppression.where = "--suppress " + spec;
  for (std::size_t start = 0; start < spec.size();) {
    const std::size_t equals = spec.find('=', start);
    const std::string key = spec.substr(start, equals == std::string::npos ? equals : equals - start);
    std::string* value = equals == std::string::npos ? nullptr : field(suppression, key);
    if (value == nullptr && is_among(spec, rule_ids()))
      throw UsageError(fmt::format("--suppress {0}: write --suppress rule={0},reason=WHY", spec));
    if (value == nullptr)
      throw UsageError(fmt::format(
          "--suppress {}: unknown key '{}': expected rule=, symbol=, input=, file=, until= or reason=", spec, key));
    const std::size_t end = key == "reason" ? spec.size() : std::min(spec.find(',', equals), spec.size());
    *value = spec.substr(equals + 1, end - equals - 1);
    start = end + 1;
  }
  return suppression;
}

// --- The file behind --baseline: the findings that were there when it was written, known again by their fingerprints.

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "elfaudit-baseline/1";

BaselineEntry entry_of(const Json& json) {
  BaselineEntry entry;
  entry.fingerprint = json.at("fingerprint").get<std::string>();
  entry.loose = json.value("loose_fingerprint", "");
  entry.rule = json.at("rule").get<std::string>();
  entry.symbol = json.value("symbol", "");
  entry.message = json.value("message", "");
  entry.count = json.value("count", std::size_t{1});
  return entry;
}

std::string text_of(const std::string& path) {
  try {
    return read_named(path, limits::kBaselineBytes);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("baseline {}: {}; create one with --write-baseline", path, error.what()));
  }
}

}  // namespace

std::vector<BaselineEntry> read_baseline(const std::string& path) {
  try {
    const Json document = Json::parse(text_of(path));
    if (document.value("schema", "") != kSchema)
      throw UsageError(fmt::format("baseline {}: its schema is not {}", path, kSchema));
    std::vector<BaselineEntry> entries;
    for (const Json& finding : document.at("findings")) entries.push_back(entry_of(finding));
    return entries;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("baseline {}: is damaged: {}", path, error.what()));
  }
}

std::vector<BaselineEntry> baseline_entries(const Audit& audit, const std::vector<BaselineEntry>& before) {
  // Sorted by what doesn't change, so that the file's own history shows what came and went.
  std::map<std::tuple<std::string, std::string, std::string>, BaselineEntry> entries;
  const auto add = [&](const Finding& finding) {
    if (finding.leaves_unread || finding.rule == kBaselineOutdated.id) return;
    const std::string print = fingerprint(finding);
    const auto [at, fresh] = entries.try_emplace({finding.rule, finding.symbol, print});
    if (fresh)
      at->second = {print, loose_fingerprint(finding), finding.rule, finding.symbol, finding.message};
    else
      ++at->second.count;
  };
  for (const auto* findings : {&audit.findings, &audit.known})
    for (const Finding& finding : *findings) {
      add(finding);
      for (const Finding& other : finding.also) add(other);
    }
  for (const BaselineEntry& entry : before) {
    const auto [at, fresh] = entries.try_emplace({entry.rule, entry.symbol, entry.fingerprint}, entry);
    if (!fresh) at->second.count = std::max(at->second.count, entry.count);
  }
  std::vector<BaselineEntry> list;
  for (auto& [key, entry] : entries) list.push_back(std::move(entry));
  return list;
}

std::string baseline_document(const std::vector<BaselineEntry>& entries) {
  Json findings = Json::array();
  for (const BaselineEntry& entry : entries)
    findings.push_back({{"fingerprint", entry.fingerprint},
                        {"loose_fingerprint", entry.loose},
                        {"rule", entry.rule},
                        {"symbol", entry.symbol},
                        {"message", entry.message},
                        {"count", entry.count}});
  const Json document = {{"schema", kSchema}, {"findings", std::move(findings)}};
  return json_text(document, 2) + "\n";
}

// --- Comments in sources that accept findings: "// elfaudit: allow RULE..., REASON".

namespace {

/// A finding about the policy itself.
Finding about(const Rule& rule, std::string message) {
  Finding finding = make_finding(rule, {}, std::move(message));
  finding.demangled.clear();
  return finding;
}

/// Stands for the line that it ends, or, alone on its line, for the statement that follows.
struct AllowComment {
  SourceLine at;
  std::vector<std::string> rules;
  std::string reason;
  std::string wrong;  ///< why it accepts nothing; empty: it is well written
  std::uint32_t first = 0, last = 0;
  std::size_t accepted = 0;
};

constexpr std::string_view kMark = "elfaudit:";

/// The text of the comment that begins with the mark; nothing if the mark stands elsewhere on the line.
std::optional<std::string_view> allow_text(std::string_view line) {
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view before = without_margins(line.substr(0, mark));
  if (!ends_with_any(before, {"//", "/*", "//!", "///", "/**", "#"}) && before != "*") return std::nullopt;
  std::string_view text = without_margins(line.substr(mark + kMark.size()));
  if (!take_prefix(text, "allow") || (!text.empty() && is_word_char(text.front()))) return std::nullopt;
  return without_margins(text.substr(0, text.find("*/")));
}

/// Rules, and the reason behind the comma.
void read_allow_text(std::string_view text, AllowComment& comment) {
  const std::size_t comma = std::min(text.find(','), text.size());
  std::istringstream words{std::string(text.substr(0, comma))};
  for (std::string word; words >> word;) {
    if (!is_among(word, rule_ids()))
      comment.wrong = fmt::format("unknown rule '{}'{}", word, did_you_mean(word, rule_ids()));
    else if (rule(word).kind == RuleKind::Unreadable)
      comment.wrong = fmt::format("{} can't be accepted", word);
    comment.rules.push_back(word);
  }
  comment.reason = without_margins(text.substr(std::min(comma + 1, text.size())));
  if (comment.rules.empty()) comment.wrong = "it names no rule";
  if (comment.wrong.empty() && comment.reason.empty()) comment.wrong = "it gives no reason";
}

/// The last line of the statement that begins at or behind line `at` (from 0): blank lines and comments before it don't
/// count.
std::size_t end_of_statement(const std::vector<std::string_view>& lines, std::size_t at) {
  constexpr std::size_t kLongest = 32;  // lines
  for (const std::size_t end = std::min(at + kLongest, lines.size()); at < end; ++at) {
    const std::string_view line = without_margins(lines[at]);
    if (line.empty() || line.starts_with("//") || line.starts_with("/*") || line.starts_with("*")) continue;
    if (line.starts_with('#') || line.find_first_of(";{}") != std::string_view::npos) return at;
  }
  return at;
}

/// Most sources don't, so this keeps nothing of them.
bool has_mark(const std::string& path) {
  constexpr std::size_t kPart = std::size_t{64} << 10;
  thread_local const std::unique_ptr<char[]> part(new char[kPart]);
  try {
    std::uint64_t size = 0;
    const FileDescriptor file = open_for_reading(path.c_str(), &size);
    if (size > limits::kSourceBytes) return false;
    for (std::uint64_t at = 0; at < size;) {
      const std::uint64_t length = std::min<std::uint64_t>(kPart, size - at);
      if (!read_all(file.get(), part.get(), at, length)) return false;
      if (::memmem(part.get(), length, kMark.data(), kMark.size()) != nullptr) return true;
      at += at + length == size ? length : length - kMark.size();  // it may begin in one part and end in the next
    }
  } catch (const InputError&) {  // gone, or unreadable: its objects are what is audited
  }
  return false;
}

std::vector<AllowComment> comments_in(const std::string& file, std::string_view text) {
  std::vector<AllowComment> comments;
  const std::vector<std::string_view> lines = line_views(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<std::string_view> allow = allow_text(lines[i]);
    if (!allow) continue;
    AllowComment comment;
    comment.at = {file, static_cast<std::uint32_t>(i + 1)};
    read_allow_text(*allow, comment);
    const std::string_view line = without_margins(lines[i]);
    const bool alone = line.starts_with('/') || line.starts_with('*') || line.starts_with('#');
    comment.first = comment.at.line;
    comment.last = alone ? static_cast<std::uint32_t>(end_of_statement(lines, i + 1) + 1) : comment.first;
    comments.push_back(std::move(comment));
  }
  return comments;
}

using Comments = std::map<std::string, std::vector<AllowComment>, std::less<>>;  // by file, as findings name it

/// Of all sources of the audit, and of the files that findings name.
Comments read_comments(const Audit& audit) {
  std::set<std::string> files;
  const std::string here = working_directory();
  for (const std::string& source : audit.sources) files.insert(display_path(source, here));
  for (const Finding& finding : audit.findings)
    for (const Site& site : finding.sites) {
      if (site.place.known_by != KnownBy::Nothing) files.insert(site.place.at.file);
      for (const SourceLine& step : site.place.chain) files.insert(step.file);
    }
  const std::vector<std::string> paths(files.begin(), files.end());
  std::vector<std::vector<AllowComment>> found(paths.size());
  for_each_parallel(paths.size(), 16, [&](std::size_t i) {
    if (is_of_system(paths[i]) || !has_mark(paths[i])) return;
    if (const auto text = read_whole(paths[i], limits::kSourceBytes)) found[i] = comments_in(paths[i], *text);
  });
  Comments comments;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!found[i].empty()) comments.emplace(paths[i], std::move(found[i]));
  return comments;
}

/// The comment that accepts the finding at this line; null: none.
AllowComment* accepting(Comments& comments, const Finding& finding, const SourceLine& at) {
  const auto of_file = comments.find(at.file);
  if (of_file == comments.end()) return nullptr;
  const auto found = std::ranges::find_if(of_file->second, [&](const AllowComment& comment) {
    return comment.wrong.empty() && comment.first <= at.line && at.line <= comment.last &&
           is_among(finding.rule, comment.rules);
  });
  return found == of_file->second.end() ? nullptr : &*found;
}

AllowComment* accepting(Comments& comments, const Finding& finding) {
  if (finding.leaves_unread) return nullptr;
  for (const Site& site : finding.sites) {
    if (AllowComment* comment = accepting(comments, finding, site.place.at)) return comment;
    for (const SourceLine& step : site.place.chain)
      if (AllowComment* comment = accepting(comments, finding, step)) return comment;
  }
  return nullptr;
}

std::optional<Finding> complaint_about(const AllowComment& comment, const Policy& policy, bool whole) {
  const auto runs = [&](const std::string& id) { return rule(id).on || is_among(id, policy.enable); };
  std::string message;
  if (!comment.wrong.empty())
    message = fmt::format("{}: the comment accepts nothing: {} (elfaudit: allow RULE, REASON)", comment.at.text(),
                          comment.wrong);
  else if (whole && comment.accepted == 0 && std::ranges::all_of(comment.rules, runs))
    message = fmt::format("{}: no {} is found where this comment allows it", comment.at.text(),
                          fmt::join(comment.rules, " or "));
  if (message.empty()) return std::nullopt;
  Finding finding = about(kSuppressionUnused, std::move(message));
  if (comment.wrong.empty()) finding.fixes.push_back({"remove the comment", comment.at});
  return finding;
}

}  // namespace

void apply_source_comments(const Policy& policy, Audit& audit) {
  Comments comments = read_comments(audit);
  if (comments.empty()) return;
  std::vector<Finding> left;
  for (Finding& finding : audit.findings) {
    AllowComment* comment = accepting(comments, finding);
    if (comment == nullptr) {
      left.push_back(std::move(finding));
      continue;
    }
    ++comment->accepted;
    audit.suppressed.push_back({std::move(finding), comment->reason, {}, comment->at});
  }
  audit.findings = std::move(left);
  const bool whole = audit.complete && !policy.partial;
  for (const auto& [file, of_file] : comments)
    for (const AllowComment& comment : of_file)
      if (std::optional<Finding> finding = complaint_about(comment, policy, whole))
        audit.findings.push_back(*std::move(finding));
}

namespace {

std::string described(const Suppression& suppression) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  };
  add("rule", suppression.rule);
  add("symbol", suppression.symbol);
  add("input", suppression.input);
  add("file", suppression.file);
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

bool fits(const SeverityOverride& part, const Finding& finding, const std::string& output) {
  if (!part.path.empty()) {
    const auto fits_site = [&](const Site& site) {
      return site.place.known_by == KnownBy::Nothing ? fits_input(part.path, site)
                                                     : fits_path(part.path, site.place.at.file);
    };
    if (finding.sites.empty() || !std::ranges::all_of(finding.sites, fits_site)) return false;
  }
  if (part.target.empty()) return true;
  if (finding.links.empty()) return !output.empty() && fits_path(part.target, output);
  return std::ranges::all_of(finding.links, [&](const std::string& link) { return fits_path(part.target, link); });
}

void change_severities(const Policy& policy, const std::string& output, std::vector<Finding>& findings) {
  std::erase_if(findings, [&](Finding& finding) {
    if (finding.leaves_unread) return false;
    const std::optional<Severity>* said = nullptr;
    if (const auto found = policy.severities.find(finding.rule); found != policy.severities.end())
      said = &found->second;
    for (const SeverityOverride& part : policy.overrides) {
      const auto found = part.severities.find(finding.rule);
      if (found != part.severities.end() && fits(part, finding, output)) said = &found->second;
    }
    if (said == nullptr) return false;
    if (*said) finding.severity = **said;
    return !*said;
  });
}

void suppress(const Policy& policy, Audit& audit) {
  const std::string day = policy.today.empty() && !policy.suppressions.empty() ? today() : policy.today;
  std::vector<std::size_t> used(policy.suppressions.size());
  std::vector<std::size_t> ended(policy.suppressions.size());
  std::vector<Finding> left;
  for (Finding& finding : audit.findings) {
    bool taken = false;
    for (std::size_t i = 0; i < policy.suppressions.size() && !finding.leaves_unread; ++i) {
      const Suppression& suppression = policy.suppressions[i];
      if (!fits(suppression, finding)) continue;
      const bool over = !suppression.until.empty() && suppression.until < day;
      ++(over ? ended : used)[i];
      if (over) continue;
      audit.suppressed.push_back({std::move(finding), suppression.reason, suppression.where});
      taken = true;
      break;
    }
    if (!taken) left.push_back(std::move(finding));
  }
  audit.findings = std::move(left);
  for (std::size_t i = 0; i < policy.suppressions.size(); ++i) {
    const Suppression& suppression = policy.suppressions[i];
    if (ended[i] != 0)
      audit.findings.push_back(
          about(kSuppressionEnded, fmt::format("{}: the suppression of {} ended on {} and still matches {}",
                                               suppression.where, described(suppression), suppression.until,
                                               ended[i] == 1 ? "a finding" : fmt::format("{} findings", ended[i]))));
    else if (used[i] == 0 && !policy.partial)
      audit.findings.push_back(about(kSuppressionUnused, fmt::format("{}: the suppression of {} matches no finding",
                                                                     suppression.where, described(suppression))));
  }
  audit.suppression_uses = std::move(used);
}

/// The baseline's entries, each as often as it is still to be met.
class Known {
 public:
  explicit Known(const std::vector<BaselineEntry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      left_.push_back(entries[i].count);
      exact_[entries[i].fingerprint].push_back(i);
      if (!entries[i].loose.empty()) loose_[entries[i].loose].push_back(i);
    }
  }

  bool take_exact(const Finding& finding) { return take(exact_, fingerprint(finding)); }
  bool take_loose(const Finding& finding) { return !loose_.empty() && take(loose_, loose_fingerprint(finding)); }
  std::size_t left(std::size_t entry) const { return left_[entry]; }

 private:
  using Entries = std::unordered_map<std::string, std::vector<std::size_t>>;

  /// Those used up are dropped from the list: it is gone through once, however many findings share a fingerprint.
  bool take(Entries& entries, const std::string& print) {
    const auto found = entries.find(print);
    if (found == entries.end()) return false;
    std::vector<std::size_t>& list = found->second;
    while (!list.empty() && left_[list.back()] == 0) list.pop_back();
    if (list.empty()) return false;
    --left_[list.back()];
    return true;
  }

  std::vector<std::size_t> left_;
  Entries exact_;
  Entries loose_;
};

/// Moves what `known` takes from the audit's findings to those that are known.
template <class Take>
void take_known(Audit& audit, const Take& take) {
  std::vector<Finding> fresh;
  for (Finding& finding : audit.findings) {
    const bool is_known = !finding.leaves_unread && take(finding);
    (is_known ? audit.known : fresh).push_back(std::move(finding));
  }
  audit.findings = std::move(fresh);
}

void compare_with_baseline(const Policy& policy, Audit& audit) {
  if (!policy.baseline) return;
  Known known(*policy.baseline);
  take_known(audit, [&](const Finding& finding) { return known.take_exact(finding); });
  // What is left may have been written down under the object names of another build system.
  take_known(audit, [&](const Finding& finding) { return known.take_loose(finding); });
  // What was not looked at, or not whole, may still have what this audit didn't meet.
  if (policy.partial || !audit.complete) return;
  std::vector<std::string> gone;
  for (std::size_t i = 0; i < policy.baseline->size(); ++i) {
    const BaselineEntry& entry = (*policy.baseline)[i];
    if (const std::size_t of_this = known.left(i); of_this != 0)
      gone.push_back(
          fmt::format("[{}] {}{}", entry.rule, entry.message, of_this == 1 ? "" : fmt::format(" ({} times)", of_this)));
  }
  if (gone.empty()) return;
  Finding finding =
      about(kBaselineOutdated, fmt::format("{}: {} of its findings {} gone; update it with --write-baseline",
                                           policy.baseline_path, gone.size(), gone.size() == 1 ? "is" : "are"));
  finding.notes = std::move(gone);
  audit.findings.push_back(std::move(finding));
}

void check(const Suppression& suppression) {
  const auto refuse = [&](const std::string& why) { throw UsageError(suppression.where + ": " + why); };
  if (suppression.rule.empty() && suppression.symbol.empty()) refuse("a suppression must name a rule or a symbol");
  if (suppression.reason.find_first_not_of(" \t\n") == std::string::npos)
    refuse(suppression.where.starts_with("--suppress") ? "a suppression must have a reason: add ,reason=WHY"
                                                       : "a suppression must have a reason: reason = \"...\"");
  if (!suppression.until.empty() && !is_date(suppression.until))
    refuse(fmt::format("until = \"{}\" is not a date like 2027-01-31", suppression.until));
  if (suppression.rule == kUnreadableInput.id)
    refuse("an unreadable input can't be suppressed, because nothing is known about it; never-read excludes an input");
  if (std::ranges::none_of(rule_ids(), [&](const std::string& id) { return matches(suppression.rule, id); }))
    refuse(fmt::format("unknown rule '{}'{}", suppression.rule, did_you_mean(suppression.rule, rule_ids())));
}

}  // namespace

void check_policy(const Policy& policy) {
  const auto check_rules = [](const std::map<std::string, std::optional<Severity>>& severities) {
    for (const auto& [id, severity] : severities) {
      require_rule(id, "severity");
      if (rule(id).kind == RuleKind::Unreadable)
        throw UsageError(fmt::format("{} is always an error: an unread input never passes", id));
    }
  };
  check_rules(policy.severities);
  for (const SeverityOverride& part : policy.overrides) check_rules(part.severities);
  for (const Suppression& suppression : policy.suppressions) check(suppression);
}

void apply_policy(const Policy& policy, Audit& audit) {
  suppress(policy, audit);
  compare_with_baseline(policy, audit);
  change_severities(policy, audit.job.output_path, audit.findings);
  change_severities(policy, audit.job.output_path, audit.known);
  std::ranges::stable_sort(audit.findings, [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

}  // namespace elfaudit
