// The links of a build, each file read once for all of them.

#include "audit/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "divergence/divergence.hpp"
#include "locate/cause/cause.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "scan/scan.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// The facts of every file of the build, shared by the links that use it.
class SharedInputs {
 public:
  explicit SharedInputs(const std::vector<BuildJob>& jobs) {
    for (const auto& [job, not_built] : jobs) {
      LinkJob& to_read = to_read_[job.lto];
      to_read.lto = job.lto;
      to_read.scope.command = true;
      for (const LinkInput& input : job.inputs) {
        if (!known_.insert(key_of(job, input)).second) continue;
        to_read.inputs.push_back({input.path, input.path});
        to_read.inputs.back().binary = input.binary;
        to_read.inputs.back().just_symbols = input.just_symbols;
        if (!input.facts_beside) continue;
        to_read.inputs.back().facts = input.facts;
        to_read.inputs.back().facts_beside = true;
      }
    }
  }

  void read(unsigned jobs) {
    for (const auto& [lto, part] : to_read_) {
      std::vector<InputFacts> facts = scan(part, jobs);
      for (std::size_t i = 0; i < facts.size(); ++i) {
        place_of_.emplace(key_of(part, part.inputs[i]), facts_.size());
        facts_.push_back(std::move(facts[i]));
      }
    }
  }

  const std::vector<InputFacts>& all() const { return facts_; }

  std::vector<InputFacts> of(const LinkJob& job) const {
    std::vector<InputFacts> inputs;
    for (const LinkInput& input : job.inputs) inputs.push_back(facts_[place_of_.at(key_of(job, input))]);
    return inputs;
  }

 private:
  /// What a file is read as may differ by link.
  using Key = std::tuple<std::string, bool, bool, LtoPolicy>;
  static Key key_of(const LinkJob& job, const LinkInput& input) {
    return {input.path, input.binary, input.just_symbols, job.lto};
  }

  std::map<LtoPolicy, LinkJob> to_read_;
  std::set<Key> known_;
  std::map<Key, std::size_t> place_of_;  // into facts_
  std::vector<InputFacts> facts_;
};

/// A finding is the same in two links when it is about the same definitions. How they came to be part of each differs.
using Key = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;

Key key_of(const Finding& finding) {
  std::vector<std::string> sites;
  for (const Site& site : finding.sites)
    sites.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(site.role), site.origin.path, site.origin.member,
                                site.section, site.offset));
  return {finding.rule, finding.symbol, finding.message, std::move(sites)};
}

/// What several links have to say, each once and with those that say it.
class NoteCollector {
 public:
  void add(const std::string& text, const std::string& link) {
    const auto [entry, first] = links_.try_emplace(text);
    if (first) order_.push_back(text);
    entry->second.push_back(link);
  }

  std::vector<std::string> reported(std::size_t links) const {
    std::vector<std::string> out;
    for (const std::string& text : order_) {
      const std::vector<std::string>& by = links_.at(text);
      if (by.size() == links)
        out.push_back(text);
      else if (by.size() == 1)
        out.push_back(by.front() + ": " + text);
      else
        out.push_back(fmt::format("{} and {} more: {}", by.front(), by.size() - 1, text));
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<std::string>> links_;
  std::vector<std::string> order_;
};

void add_new(std::vector<std::string>& list, const std::vector<std::string>& more) {
  std::set<std::string> known(list.begin(), list.end());
  for (const std::string& one : more)
    if (known.insert(one).second) list.push_back(one);
}

/// Makes one audit of those of the links.
class Sum {
 public:
  void add(Audit audit) {
    const std::string link = audit.job.output_path;
    for (Finding& finding : audit.findings) take(std::move(finding), link);
    audit.findings.clear();
    for (const std::string& note : audit.job.notes) notes_.add(note, link);
    add_new(sum_.job.excluded, audit.job.excluded);
    add_new(sum_.job.options_not_understood, audit.job.options_not_understood);
    if (sum_.links.empty()) sum_.job.linker = audit.job.linker;
    if (sum_.links.empty()) sum_.job.linker_version = audit.job.linker_version;
    for (const InputFacts& input : audit.inputs)
      if (paths_.insert(input.path).second) sum_.inputs.push_back(input);
    for (const InputError& missing : audit.job.missing) sum_.job.missing.push_back(missing);
    sum_.complete = sum_.complete && audit.complete;
    sum_.leaves_types |= audit.leaves_types;
    sum_.links.push_back(std::move(audit));
  }

  Audit finish(std::vector<Finding> about_objects) {
    std::move(about_objects.begin(), about_objects.end(), std::back_inserter(sum_.findings));
    merge_host_and_device(sum_.findings);
    sort_findings(sum_.findings);
    sum_.job.notes = notes_.reported(sum_.links.size());
    std::vector<const Resolution*> resolutions;
    for (const Audit& link : sum_.links) resolutions.push_back(&link.resolution);
    sum_.resolution.judgement = judgement_of(resolutions);
    return std::move(sum_);
  }

 private:
  void take(Finding finding, const std::string& link) {
    const auto [entry, first] = found_.try_emplace(key_of(finding), sum_.findings.size());
    if (first) sum_.findings.push_back(std::move(finding));
    sum_.findings[entry->second].links.push_back(link);
  }

  Audit sum_;
  NoteCollector notes_;
  std::map<Key, std::size_t> found_;  // into sum_.findings
  std::set<std::string> paths_;
};

bool is_not_built(const Finding& finding, const LinkJob& job) {
  return rule(finding.rule).kind == RuleKind::Unreadable && finding.sites.front().origin.path == job.output_path;
}

/// What lacks an input that is not made because of a finding in the link that makes it has nothing to answer for: the
/// build makes it once that is fixed.
void excuse(const std::vector<std::string>& not_built, Audit& audit) {
  LinkJob& job = audit.job;
  std::erase_if(audit.findings, [&](const Finding& finding) { return is_not_built(finding, job); });
  std::erase_if(job.missing, [&](const InputError& error) { return error.path == job.output_path; });
  audit.complete = std::ranges::none_of(audit.findings, &Finding::leaves_unread);
  job.notes.push_back(
      fmt::format("not built, because of the finding above in the link of {}", fmt::join(not_built, ", ")));
}

void excuse_what_findings_stop(const std::vector<BuildJob>& jobs, std::vector<Audit>& audits) {
  std::set<std::string> stopped;
  for (const Audit& audit : audits)
    if (std::ranges::any_of(audit.findings, stops_link)) stopped.insert(audit.job.output_path);
  std::vector<bool> excused(audits.size());
  for (bool again = !stopped.empty(); again;) {  // a library that is not made stops those that link it
    again = false;
    for (std::size_t i = 0; i < audits.size(); ++i) {
      const std::vector<std::string>& needs = jobs[i].not_built;
      const auto is_stopped = [&](const std::string& need) { return stopped.contains(need); };
      if (excused[i] || needs.empty() || !std::ranges::all_of(needs, is_stopped)) continue;
      excuse(needs, audits[i]);
      stopped.insert(audits[i].job.output_path);
      excused[i] = again = true;
    }
  }
}

void add_pass(std::vector<Pass>& passes, const Pass& pass) {
  const auto same = std::ranges::find(passes, pass.name, &Pass::name);
  if (same == passes.end())
    passes.push_back(pass);
  else
    same->milliseconds += pass.milliseconds;
}

/// What is unreadable is for the links that use it to say.
bool surely_stays_inside(const std::vector<InputFacts>& inputs) {
  try {
    return stays_inside(inputs);
  } catch (const InputError&) {
    return false;
  }
}

Audit run(std::vector<BuildJob> jobs, const AuditOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  Sum sum;
  std::vector<Pass> passes;
  Clock::time_point begin = Clock::now();
  SharedInputs shared(jobs);
  shared.read(options.jobs);
  passes.push_back({"scan", since(begin)});
  begin = Clock::now();
  ObjectsAudit objects = audit_objects(shared.all(), options);
  passes.push_back({"objects", since(begin)});
  begin = Clock::now();
  const bool alike = jobs.size() > 1 && is_data_alike(shared.all());
  const bool inside = jobs.size() > 1 && surely_stays_inside(shared.all());
  passes.back().milliseconds += since(begin);

  std::vector<Audit> audits(jobs.size());
  for_each_parallel(jobs.size(), 1, [&](std::size_t i) {
    ReadInputs given{shared.of(jobs[i].job), alike, inside};
    audits[i] = audit_read(std::move(jobs[i].job), options, std::move(given));
  });
  excuse_what_findings_stop(jobs, audits);
  for (Audit& audit : audits) {
    for (const Pass& pass : audit.passes)
      if (pass.name != "scan" && pass.name != "stale") add_pass(passes, pass);
    sum.add(std::move(audit));
  }
  Audit result = sum.finish(std::move(objects.findings));
  if (!options.build.empty()) explain_by_build(result.findings, options.build, {});
  result.job.notes.insert(result.job.notes.end(), objects.notes.begin(), objects.notes.end());
  result.sources = std::move(objects.sources);
  result.passes = std::move(passes);
  return result;
}

}  // namespace

Audit audit_links(std::vector<BuildJob> jobs, const AuditOptions& options) {
  Audit result;
  const DebuginfodScope servers(options.debuginfod);
  with_threads(options.jobs, [&] { result = run(std::move(jobs), options); });
  return result;
}

}  // namespace elfaudit
