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
#include "resolve/exports.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "scan/scan.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
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

// --- Plugins: what the program of the build that opens them has and does not export.

struct Unexported {
  std::size_t program = 0;  ///< into the audits
  Origin origin;
  std::string why;  ///< empty: it only lacks -rdynamic
};

bool calls_dlopen(const Audit& audit) {
  return std::ranges::any_of(linked_relocatables(audit.inputs, audit.resolution), [&](ObjectId id) {
    const ObjectFacts& object = audit.inputs[id.input].objects[id.object];
    return std::ranges::any_of(object.symbols, [&](const Symbol& symbol) {
      return !symbol.defined() && is_among(object.name(symbol), {"dlopen", "dlmopen"});
    });
  });
}

/// Collects the undefined symbols of the shared objects that the build links.
std::set<std::string_view> names_let_pass(const Audit& audit) {
  std::set<std::string_view> names;
  if (audit.job.output != OutputKind::SharedObject || !audit.job.missing.empty()) return names;
  for (const Unresolved& name : audit.resolution.unresolved)
    if (name.reported == Reported::No && name.why == Missing::Undefined && !name.references.empty())
      names.insert(name.symbol);
  return names;
}

/// Sorts the symbols that the program defines into those that it exports to plugins and those that it keeps.
void sort_by_export(const Audit& audit, std::size_t program, const std::set<std::string_view>& names,
                    std::set<std::string>& exported, std::map<std::string, std::vector<Unexported>>& kept) {
  const Exports exports(audit.job);
  for (const ObjectId id : linked_objects(audit.inputs, audit.resolution)) {
    const ObjectFacts& object = audit.inputs[id.input].objects[id.object];
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!symbol.defined() || !names.contains(object.name(symbol))) continue;
      const std::string name(object.name(symbol));
      const bool of_library = object.kind == ObjectKind::SharedObject;
      if (!of_library && audit.resolution.resolution_of({id, s}) != SymbolResolution::Kept) continue;
      std::string why = of_library ? "" : exports.why_not(name, object.origin, is_hidden(symbol.visibility));
      if (of_library || (why.empty() && (audit.job.export_dynamic || exports.in_dynamic_list(name) ||
                                         exports.exported_by_script(symbol, name))))
        exported.insert(name);
      else
        kept[name].push_back({program, object.origin, std::move(why)});
    }
  }
}

Finding not_exported(const Audit& plugin, const Audit& program, const Unresolved& name, const Unexported& kept) {
  const std::string who(base_name(program.job.output_path));
  Finding finding = make_finding(kUndefinedSymbol, name.symbol,
                                 fmt::format("{} needs {}, which {} defines and does not export",
                                             base_name(plugin.job.output_path), demangle(name.symbol), who));
  finding.severity = Severity::Warning;
  for (const Reference& reference : name.references)
    finding.sites.push_back(make_file_site(plugin.inputs[reference.id.in.input].objects[reference.id.in.object].origin,
                                           {}, Role::Reference));
  finding.sites.push_back(make_file_site(kept.origin, kept.why));
  finding.cause = {"not-exported",
                   fmt::format("what {} opens by dlopen gets from it only what it exports{}", who,
                               kept.why.empty() ? "" : ", and there it is " + kept.why),
                   who};
  const std::string set = fmt::format("link {} with -rdynamic (CMake: ENABLE_EXPORTS ON for its target)", who);
  finding.fixes.push_back(
      {kept.why.empty() ? set
                        : fmt::format("{}, and {}",
                                      kept.why == "hidden" ? "declare it with __attribute__((visibility(\"default\")))"
                                                           : "let it be exported: it is " + kept.why,
                                      set)});
  return finding;
}

/// Nothing where a program of the build exports the name, or more than one has it; nor of a library that is linked: what
/// that needs the linker exports.
void find_unexported(std::vector<Audit>& audits) {
  std::set<std::string> linked;
  for (const Audit& audit : audits)
    for (const InputFacts& input : audit.inputs)
      if (input.kind == InputKind::SharedObject) linked.emplace(base_name(input.path));
  std::set<std::string_view> wanted;
  for (const Audit& audit : audits) wanted.merge(names_let_pass(audit));
  std::set<std::string> exported;
  std::map<std::string, std::vector<Unexported>> kept;
  for (std::size_t i = 0; i < audits.size() && !wanted.empty(); ++i)
    if (audits[i].job.output == OutputKind::Executable && calls_dlopen(audits[i]))
      sort_by_export(audits[i], i, wanted, exported, kept);
  for (Audit& plugin : audits) {
    if (linked.contains(std::string(base_name(plugin.job.output_path)))) continue;
    const std::set<std::string_view> names = names_let_pass(plugin);
    for (const Unresolved& name : plugin.resolution.unresolved) {
      const auto found = kept.find(name.symbol);
      if (!names.contains(name.symbol) || found == kept.end() || exported.contains(name.symbol)) continue;
      if (found->second.size() == 1)
        plugin.findings.push_back(not_exported(plugin, audits[found->second[0].program], name, found->second[0]));
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
  find_unexported(audits);
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
