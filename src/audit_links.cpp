#include "audit_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "audit.hpp"
#include "resolve/judgement.hpp"
#include "rules/rules.hpp"
#include "scan/scan.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// The facts of every file of the build, handed to the links that use it: the last one gets the facts themselves.
class SharedInputs {
 public:
  explicit SharedInputs(const std::vector<LinkJob>& jobs) {
    for (const LinkJob& job : jobs)
      for (const LinkInput& input : job.inputs) {
        const auto [entry, first] = by_path_.try_emplace(input.path, Shared{everything_.inputs.size(), 0});
        if (first) everything_.inputs.push_back({input.path, input.path});
        ++entry->second.uses;
      }
  }

  void read(unsigned jobs) { facts_ = scan(everything_, jobs); }
  const std::vector<InputFacts>& all() const { return facts_; }

  std::vector<InputFacts> of(const LinkJob& job) {
    std::vector<InputFacts> inputs;
    const std::lock_guard lock(mutex_);
    for (const LinkInput& input : job.inputs) {
      Shared& shared = by_path_.at(input.path);
      InputFacts& facts = facts_[shared.index];
      inputs.push_back(--shared.uses == 0 ? std::move(facts) : facts);
    }
    return inputs;
  }

 private:
  struct Shared {
    std::size_t index;  ///< into facts_
    std::size_t uses;   ///< that are still to come
  };
  LinkJob everything_;
  std::unordered_map<std::string, Shared> by_path_;
  std::vector<InputFacts> facts_;
  std::mutex mutex_;
};

/// Reports ask for names and kinds of inputs and for the headers of their device images, never for symbols.
void drop_symbols(std::vector<InputFacts>& inputs) {
  for (InputFacts& input : inputs) {
    input.index = {};
    input.index_strings = {};
    for (ObjectFacts& object : input.objects) {
      object.symbols = {};
      object.sections = {};
      object.groups = {};
      object.strings = {};
      object.versions = {};
      object.version_needs = {};
      object.device.decoded = {};
    }
  }
}

/// A finding is the same in two links when it is about the same definitions. How they came to be part of each differs.
using Key = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;

Key key_of(const Finding& finding) {
  std::vector<std::string> sites;
  for (const Site& site : finding.sites)
    sites.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(site.role), site.origin.path, site.origin.member,
                                site.section, site.offset));
  return {finding.rule, finding.symbol, finding.message, std::move(sites)};
}

auto order(const Finding& finding) {
  const std::string first = finding.sites.empty() ? std::string() : finding.sites.front().origin.display();
  return std::tuple(-static_cast<int>(finding.severity), finding.rule, finding.symbol, first, finding.message);
}

/// The objects that a finding is about.
std::set<std::string> owners(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

bool tells_the_same(const Finding& host, const Finding& device) {
  if (host.rule != "duplicate-definition" || device.rule != "device-duplicate-definition") return false;
  const std::set<std::string> on_host = owners(host);
  const std::set<std::string> on_device = owners(device);
  return host.symbol == device.symbol &&
         std::includes(on_device.begin(), on_device.end(), on_host.begin(), on_host.end());
}

/// As in one link (rules/one_story.cpp). In a build the device link of a target is a link of its own.
void join_device_and_host_links(std::vector<Finding>& findings) {
  std::set<const Finding*> told;
  for (Finding& device : findings) {
    if (device.rule != "device-duplicate-definition") continue;
    for (const Finding& host : findings)
      if (tells_the_same(host, device) && told.insert(&host).second)
        device.notes.push_back(fmt::format("the host link of {} would fail of it too, at what nvcc makes of it there",
                                           fmt::join(host.links, ", ")));
  }
  std::erase_if(findings, [&](const Finding& finding) { return told.contains(&finding); });
}

/// What several links have to say, each once and with those that say it.
class Remarks {
 public:
  void add(const std::string& text, const std::string& link) {
    const auto [entry, first] = links_.try_emplace(text);
    if (first) order_.push_back(text);
    entry->second.push_back(link);
  }

  std::vector<std::string> told(std::size_t links) const {
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
  for (const std::string& one : more)
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

/// Makes one audit of those of the links.
class Sum {
 public:
  void add(Audit audit) {
    const std::string link = audit.job.output_path;
    for (Finding& finding : audit.findings) take(std::move(finding), link);
    audit.findings.clear();
    for (const std::string& note : audit.job.notes) notes_.add(note, link);
    add_new(sum_.job.left_out, audit.job.left_out);
    add_new(sum_.job.options_not_understood, audit.job.options_not_understood);
    if (sum_.links.empty()) sum_.job.linker = audit.job.linker;
    if (sum_.links.empty()) sum_.job.linker_version = audit.job.linker_version;
    for (const InputFacts& input : audit.inputs)
      if (paths_.insert(input.path).second) sum_.inputs.push_back(input);
    for (const InputError& missing : audit.job.missing) sum_.job.missing.push_back(missing);
    sum_.complete = sum_.complete && audit.complete;
    sum_.links.push_back(std::move(audit));
  }

  Audit finish(std::vector<Finding> about_objects) {
    std::move(about_objects.begin(), about_objects.end(), std::back_inserter(sum_.findings));
    join_device_and_host_links(sum_.findings);
    std::stable_sort(sum_.findings.begin(), sum_.findings.end(),
                     [](const Finding& a, const Finding& b) { return order(a) < order(b); });
    sum_.job.notes = notes_.told(sum_.links.size());
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
  Remarks notes_;
  std::map<Key, std::size_t> found_;  // into sum_.findings
  std::set<std::string> paths_;
};

void add_pass(std::vector<Pass>& passes, const Pass& pass) {
  const auto same = std::find_if(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == pass.name; });
  if (same == passes.end())
    passes.push_back(pass);
  else
    same->milliseconds += pass.milliseconds;
}

Audit run(std::vector<LinkJob> jobs, const AuditOptions& options) {
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
  std::vector<std::string> notes;
  std::vector<Finding> about_objects = audit_objects(shared.all(), options, notes);
  passes.push_back({"objects", since(begin)});

  std::vector<Audit> audits(jobs.size());
  for_each_parallel(jobs.size(), 1, [&](std::size_t i) {
    std::vector<InputFacts> inputs = shared.of(jobs[i]);
    audits[i] = audit_read(std::move(jobs[i]), options, std::move(inputs));
    drop_symbols(audits[i].inputs);
  });
  for (Audit& audit : audits) {
    for (const Pass& pass : audit.passes)
      if (pass.name != "scan" && pass.name != "stale") add_pass(passes, pass);
    sum.add(std::move(audit));
  }
  Audit result = sum.finish(std::move(about_objects));
  result.job.notes.insert(result.job.notes.end(), notes.begin(), notes.end());
  result.passes = std::move(passes);
  return result;
}

}  // namespace

Audit audit_links(std::vector<LinkJob> jobs, const AuditOptions& options) {
  Audit result;
  with_threads(options.jobs, [&] { result = run(std::move(jobs), options); });
  return result;
}

}  // namespace elfaudit
