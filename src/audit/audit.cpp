// The stages of one audit, in order. audit() is the table of contents.

#include "audit/stages.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <tuple>

#include "divergence/divergence.hpp"
#include "elfaudit/symbol_report.hpp"
#include "input/build/gpu_flags.hpp"
#include "load/load_closure.hpp"
#include "locate/dwarf/debug_servers.hpp"
#include "locate/locate.hpp"
#include "locate/why/cause.hpp"
#include "locate/why/suppliers.hpp"
#include "package/packages.hpp"
#include "resolve/resolve.hpp"
#include "rules/device_rules.hpp"
#include "rules/rules.hpp"
#include "scan/device/device_code.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "scan/scan.hpp"
#include "stale/stale.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// Names the passes and how long each took, for --stats.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Pass>& passes) : passes_(passes) {}

  void lap(std::string name) {
    const auto now = Clock::now();
    passes_.push_back({std::move(name), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Pass>& passes_;
  Clock::time_point last_ = Clock::now();
};

/// Those that may say whether a host symbol of `object` is the shadow of a device variable. Each variable is in the
/// images of every architecture, and after `ld -r` an object has several of one.
void add_images_behind(ObjectId object, const std::vector<InputFacts>& inputs, std::vector<DeviceInput>& images) {
  const DeviceFacts& device = inputs[object.input].objects[object.object].device;
  const auto readable = [](const DeviceImage& i) {
    return i.kind == ImageKind::Cubin || i.kind == ImageKind::Ptx || i.kind == ImageKind::Bitcode;
  };
  const auto first = std::ranges::find_if(device.images, readable);
  for (std::uint32_t i = 0; i < device.images.size(); ++i)
    if (readable(device.images[i]) && device.images[i].target() == first->target()) images.push_back({object, i});
}

/// Payloads are decompressed only for what is reported. Returns what could not be read of them.
std::vector<InputError> note_shadows(Audit& audit) {
  std::vector<Site*> sites;
  std::vector<DeviceInput> images;
  for (Finding& finding : audit.findings)
    for (Site& site : finding.sites)
      if (site.id.valid() && !site.device.in.valid()) {
        sites.push_back(&site);
        add_images_behind(site.id.in, audit.inputs, images);
      }
  std::vector<std::size_t> known;
  for (const InputFacts& input : audit.inputs) known.push_back(input.errors.size());
  decode_images(audit.inputs, images);
  for (Site* site : sites) note_shadow({audit.job, audit.inputs, audit.resolution}, *site);
  std::vector<InputError> unread;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::vector<InputError>& errors = audit.inputs[i].errors;
    unread.insert(unread.end(), errors.begin() + static_cast<std::ptrdiff_t>(known[i]), errors.end());
  }
  return unread;
}

/// Payloads are decompressed only for what a device link uses, so the files are asked again once that is known.
DeviceResolution resolve_device_code(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& host,
                                     DeviceRelatives& kin) {
  std::vector<DeviceTarget> targets = device_targets(job, inputs);
  const std::vector<DeviceInput> whole = whole_program_images(inputs, host.linked);
  std::vector<DeviceInput> wanted = whole;
  for (const DeviceTarget& target : targets) wanted.insert(wanted.end(), target.inputs.begin(), target.inputs.end());
  decode_images(inputs, wanted);
  DeviceResolution device = resolve_device(job, std::move(targets), whole, inputs);
  if (job.missing.empty()) kin = find_device_suppliers(job, inputs, image_for, device);
  return device;
}

/// Who would define what is missing; looked for only when everything else on the line is known. `members`: null where
/// all are open.
void look_for_suppliers(const LinkJob& job, const std::vector<InputFacts>& inputs, LinkMembers* members,
                        Resolution& resolution) {
  std::vector<Unresolved*> missing;
  for (Unresolved& name : resolution.unresolved)
    if (name.reported && !name.local) missing.push_back(&name);
  find_host_suppliers(job, inputs, resolution, missing, [&](std::vector<ObjectId> unopened) {
    if (members != nullptr) members->open_for_report(std::move(unopened), resolution);
  });
}

/// The commands of the objects that hold device code.
std::vector<GpuCompile> gpu_compiles_of(const std::vector<InputFacts>& inputs, const AuditOptions& options,
                                        std::vector<std::string>& notes) {
  std::vector<std::string> objects;
  for (const InputFacts& input : inputs)
    if (input.kind == InputKind::Object && !input.objects.empty() && !input.objects.front().device.images.empty())
      objects.push_back(input.path);
  if (objects.empty() && !inputs.empty()) return {};
  return gpu_compiles(objects, options.compile_commands, notes);
}

/// The objects that were read do not know what the others define.
void take_undefined_from(const Prefilter& prefilter, Resolution& resolution) {
  resolution.unresolved.clear();
  resolution.undefined_count = prefilter.undefined;
  resolution.undefined_counted = prefilter.undefined.has_value();
}

/// Are the headers of every object looked at, not only of those that a first look finds stale?
StaleOptions stale_options(const AuditOptions& options) { return {any_needs(&Rule::every_header, options.enable)}; }

/// What an image loads is known only where it is.
void note_missing_images(LinkJob& job, const std::vector<InputFacts>& inputs) {
  for (const InputFacts& input : inputs) {
    const bool image = input.kind == InputKind::SharedObject || input.kind == InputKind::Executable;
    if (image && !job.scope.command && !input.objects.empty() && !input.objects.front().available)
      job.notes.push_back(input.path + " is known from " + input.objects.front().indexed_in +
                          " only: the libraries that it loads are not searched for");
  }
}

/// What an interpreter has loaded before the module that a link makes.
std::vector<ObjectFacts> interpreter_of_link(const Audit& audit, const AuditOptions& options) {
  const LinkJob& job = audit.job;
  if (!job.scope.command || job.output != OutputKind::SharedObject ||
      module_made_by(audit.inputs, audit.resolution).empty())
    return {};
  for (const InputFacts& input : audit.inputs)
    if (input.kind == InputKind::Object && !input.objects.empty())
      return read_interpreter_libraries(input.objects.front(), options.closure.root);
  return {};
}

bool complete(const std::vector<Finding>& findings) { return std::ranges::none_of(findings, &Finding::leaves_unread); }

/// Runs the stages, each of which may fail for what it alone asks about: that costs its answer, never the verdict on
/// the rest.
class Attempts {
 public:
  /// What `stage` returns; a default value when it can't be done.
  template <class Stage>
  auto operator()(const char* what, const Stage& stage) -> decltype(stage()) {
    try {
      return stage();
    } catch (const InputError& error) {
      errors_.push_back(error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      errors_.emplace_back(what, std::string("could not be finished: ") + error.what());
    }
    return decltype(stage())();
  }

  const std::vector<InputError>& errors() const { return errors_; }

 private:
  std::vector<InputError> errors_;
};

/// What went wrong on the way, in its place among the findings. A build that goes on beside the audit makes files
/// shorter: what was read of one is not all of it.
void add_errors(std::vector<InputError> errors, std::vector<Finding>& findings) {
  for (const std::string& file : take_shrunk_files())
    errors.emplace_back(file, "became shorter while it was being read: is a build still running?");
  std::vector<InputError> faults = take_faults();
  if (errors.empty() && complete(findings))
    errors = std::move(faults);  // else it is known, and said once more at the end
  for (const InputError& error : errors) {
    Finding finding = unreadable_input(error);
    const auto comes_later = [&](const Finding& other) {
      return std::tuple(-static_cast<int>(other.severity), std::string_view(other.rule)) >
             std::tuple(-static_cast<int>(finding.severity), std::string_view(finding.rule));
    };
    findings.insert(std::ranges::find_if(findings, comes_later), std::move(finding));
  }
}

/// Names that could not be settled are not reported: which of them the linker would miss is not known.
void settle(Audit& audit, Attempts& attempt) {
  const std::size_t before = attempt.errors().size();
  attempt("undefined symbols", [&] {
    settle_unresolved(audit.job, audit.inputs, audit.resolution,
                      {find_uses, has_section, relocated_without_bytes, find_open_locals, read_asked_relocations,
                       read_section_graph, find_needed});
  });
  if (attempt.errors().size() == before) return;
  audit.resolution.unresolved.clear();
  audit.resolution.judgement.undefined = Judged::InputUnread;
}

/// What the linker has to say of the link besides duplicates and relocations.
void judge_link(Audit& audit, Attempts& attempt) {
  audit.resolution.judgement = judgement_of(audit.job, audit.inputs);
  if (can_be_settled(audit.job)) settle(audit, attempt);
  if (audit.job.scope.whole_line)
    attempt("discarded sections", [&] {
      find_lost_references(audit.job, audit.inputs, audit.resolution, find_local_uses, read_section_graph, find_needed);
    });
  attempt("warnings", [&] {
    find_fatal_warnings(audit.job, audit.inputs, audit.resolution,
                        {read_warning_sections, alignment_power, find_uses, read_section_graph, find_needed});
  });
  conclude(audit.job, audit.inputs, audit.resolution);
}

/// The names at stake tell how the link ends, not all that there is to say of a failure. What is said of a thunk
/// that is defined twice rests on its function.
bool needs_all_names(const Audit& audit) {
  const Resolution& resolution = audit.resolution;
  const auto matters = [](const Unresolved& name) { return name.reported || name.in_bytecode; };
  const auto of_thunk = [](const Conflict& conflict) { return conflict.symbol.starts_with("_ZT"); };
  return std::ranges::any_of(resolution.unresolved, matters) || std::ranges::any_of(resolution.conflicts, of_thunk) ||
         !resolution.rejections.empty() || !resolution.lost_references.empty() || !resolution.relocations.empty();
}

/// Is a name undefined in the end that was made up for a member or a library (scan/prefilter.hpp)?
bool misses_made_up_name(const Audit& audit) {
  const auto is_made_up = [&](const Reference& reference) {
    const SymbolId id = reference.id;
    return id.valid() && id.symbol != kNone &&
           audit.inputs[id.in.input].objects[id.in.object].symbols[id.symbol].index == kNone;
  };
  const auto any = [&](const Unresolved& name) { return std::ranges::any_of(name.references, is_made_up); };
  return std::ranges::any_of(audit.resolution.unresolved, any);
}

/// Then for which name a member was taken is not known.
bool names_member(const Audit& audit, const Finding& finding) {
  return std::ranges::any_of(finding.sites, [&](const Site& site) {
    return site.id.valid() && audit.inputs[site.id.in.input].kind == InputKind::Archive;
  });
}

/// `given`: the inputs, read already, for several links. What concerns objects alone is then reported once for
/// all of these.
Audit run_stages(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter,
                 std::optional<ReadInputs> of_build = {}, NamesRead names = NamesRead::AtStake) {
  Audit result;
  result.job = std::move(job);
  if (prefilter) result.passes.push_back({"prefilter", prefilter->milliseconds});
  result.job.scope.candidates_alone = prefilter.has_value();
  Stopwatch watch(result.passes);
  Attempts attempt;

  const bool alone = !of_build;
  const bool by_need = alone && !prefilter && may_open_by_need(result.job, options);
  progress_stage("reading files");
  std::optional<std::vector<InputFacts>> given;
  if (of_build) given = std::move(of_build->inputs);
  if (by_need && names == NamesRead::AtStake) {
    LinkInputs read = scan_at_stake(result.job, options.name_extractions);
    names = read.names;
    given = std::move(read.inputs);
  }
  const bool at_stake = by_need && names == NamesRead::AtStake;
  const LinkJob as_given = at_stake ? result.job : LinkJob();
  const auto with_all_names = [&] { return run_stages(as_given, options, {}, {}, NamesRead::All); };
  result.inputs = given       ? *std::move(given)
                  : prefilter ? std::move(prefilter->inputs)
                              : scan(result.job, options.jobs, by_need ? ArchiveReading::Index : ArchiveReading::Whole);
  result.packages = attempt("packages", [&] { return read_packages(result.job.packages, options.jobs); });
  for (std::string& remark : remarks_on(result.packages)) result.job.notes.push_back(std::move(remark));
  watch.lap("scan");
  progress_stage("finding libraries");
  note_missing_images(result.job, result.inputs);
  LoadedImages loaded = attempt(
      "loaded libraries", [&] { return find_images(result.job, result.inputs, result.packages, options.closure); });
  result.images = std::move(loaded.images);
  result.libraries = std::move(loaded.libraries);
  watch.lap("images");
  progress_stage("resolving symbols");
  std::optional<LinkMembers> members;
  if (by_need) members.emplace(result.job, result.inputs);
  result.resolution = members ? members->resolve() : resolve(result.job, result.inputs);
  const bool foresees = at_stake && !options.name_extractions;
  if (foresees && (members->has_opened(result.resolution) || misses_made_up_name(result))) return with_all_names();
  if (prefilter) take_undefined_from(*prefilter, result.resolution);
  watch.lap("resolve");
  judge_lost_members(result.inputs, result.resolution, result.job);
  judge_link(result, attempt);
  const bool unsettled = at_stake && result.resolution.judgement.undefined != Judged::Yes;
  if (unsettled && members->has_opened(result.resolution)) return with_all_names();  // they may need what is left out
  if (at_stake && needs_all_names(result)) return with_all_names();
  if (members && members->open_behind_indexes(result.resolution)) {
    result.resolution = members->resolve();
    judge_link(result, attempt);
  }
  if (members) members->open_rivals(result.resolution);
  attempt("suppliers",
          [&] { look_for_suppliers(result.job, result.inputs, members ? &*members : nullptr, result.resolution); });
  watch.lap("references");
  if (can_judge_relocations(result.job)) {
    progress_stage("reading relocations");
    attempt("relocations", [&] {
      find_refused_relocations(result.job, result.inputs, result.resolution, read_asked_relocations, read_section_graph,
                               find_needed);
    });
  }
  if (at_stake && needs_all_names(result)) return with_all_names();
  watch.lap("relocations");
  progress_stage("linking device code");
  DeviceRelatives relatives;
  result.resolution.device = attempt(
      "device code", [&] { return resolve_device_code(result.job, result.inputs, result.resolution, relatives); });
  watch.lap("device");
  progress_stage("comparing times");
  const std::vector<GpuCompile> compiles =
      alone ? attempt("compile commands", [&] { return gpu_compiles_of(result.inputs, options, result.job.notes); })
            : std::vector<GpuCompile>();
  const StaleFacts stale =
      alone ? attempt("times of files", [&] { return find_stale(result.job, result.inputs, stale_options(options)); })
            : StaleFacts();
  watch.lap("stale");
  const LocateOptions locating{result.job.scope.command, options.preprocess, options.compile_commands,
                               options.known_commands, options.cache};
  std::vector<std::string> problems;
  const auto in_headers = [&](const std::vector<SymbolId>& definitions) {
    return definitions_in_headers(definitions, result.inputs, locating, problems);
  };
  const auto resolve_as = [&](LinkerKind linker) {
    LinkJob job = result.job;
    job.linker = linker;
    job.linker_version = 0;
    return resolve(job, result.inputs);
  };
  const std::vector<ObjectFacts> interpreter =
      attempt("the interpreter's libraries", [&] { return interpreter_of_link(result, options); });
  std::vector<Overrun> overruns;
  if (!(of_build && of_build->stays_inside) && (result.job.scope.command || compares_types(options.enable)))
    overruns = attempt("references to data", [&] { return find_overruns(result.inputs, result.resolution); });
  TypeComparison types;
  if (compares_types(options.enable)) {
    progress_stage("comparing types");
    const TypeOptions reading{options.jobs, options.cache, options.compile_commands, options.known_commands};
    types = attempt("types", [&] { return compare_types(result.inputs, result.resolution, reading); });
    result.job.notes.insert(result.job.notes.end(), types.notes.begin(), types.notes.end());
    watch.lap("types");
  }
  result.findings =
      apply_rules({result.job,     result.inputs,   result.resolution, result.packages,
                   result.images,  options.pythons, options.gpu_archs, compiles,
                   stale.objects,  stale.libraries, &result.libraries, holds_functions_or_variables,
                   when_looked_up, in_headers,      interpreter,       &relatives,
                   resolve_as,     &types,          overruns,          of_build && of_build->data_is_alike},
                  options.enable);
  const auto in_member = [&](const Finding& finding) { return names_member(result, finding); };
  if (foresees && std::ranges::any_of(result.findings, in_member)) return with_all_names();
  std::vector<InputError> errors = attempt("host shadows", [&] { return note_shadows(result); });
  watch.lap("rules");
  progress_stage("looking for definitions in debug info");
  for (std::string& problem :
       attempt("places in sources", [&] { return locate(result.findings, result.inputs, locating); }))
    if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(std::move(problem));
  result.job.notes.insert(result.job.notes.end(), problems.begin(), problems.end());
  errors.insert(errors.end(), attempt.errors().begin(), attempt.errors().end());
  add_errors(std::move(errors), result.findings);
  settle_findings(result.resolution, result.findings);
  watch.lap("locate");

  result.complete = complete(result.findings);
  return result;
}

}  // namespace

bool may_prefilter(const AuditOptions& options) {
  return options.prefilter && !any_needs(&Rule::every_symbol, options.enable) && !compares_types(options.enable);
}

Audit audit(LinkJob job, const AuditOptions& options) {
  std::optional<Prefilter> prefilter;
  if (may_prefilter(options) && prefilter_suffices(job))
    prefilter = prefilter_inputs(job, options.jobs, options.count_undefined);
  return audit(std::move(job), options, std::move(prefilter));
}

Audit audit(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter) {
  Audit result;
  const DebuginfodScope servers(options.debuginfod);
  with_threads(options.jobs, [&] { result = run_stages(std::move(job), options, std::move(prefilter)); });
  if (!options.build.empty()) explain_by_build(result.findings, options.build, result.job.output_path);
  return result;
}

Audit audit_read(LinkJob job, const AuditOptions& options, ReadInputs given) {
  Audit result;
  with_threads(options.jobs, [&] { result = run_stages(std::move(job), options, {}, std::move(given)); });
  return result;
}

std::vector<Finding> audit_objects(const std::vector<InputFacts>& inputs, const AuditOptions& options,
                                   std::vector<std::string>& notes) {
  LinkJob job;
  job.scope.command = true;  // the links are about to be made anew
  const std::vector<GpuCompile> compiles = gpu_compiles_of(inputs, options, notes);
  const StaleFacts stale = find_stale(job, inputs, stale_options(options));
  const Resolution none;
  Evidence evidence{job, inputs, none};
  evidence.gpu_archs = options.gpu_archs;
  evidence.gpu_compiles = compiles;
  evidence.stale_objects = stale.objects;
  evidence.stale_libraries = stale.libraries;
  return apply_rules(evidence, options.enable, RuleScope::Objects);
}

SymbolReport explain(const Audit& audit, std::string_view symbol) {
  const Evidence evidence{audit.job, audit.inputs, audit.resolution};
  SymbolReport report = symbol_report(evidence, symbol);
  std::vector<Site*> sites;
  for (SymbolUse& use : report.uses) {
    note_shadow(evidence, use.site);
    sites.push_back(&use.site);
  }
  locate(sites, audit.inputs);
  return report;
}

namespace {

/// The links of the audit, of which it may be the only one.
std::vector<const Audit*> links_of(const Audit& audit) {
  std::vector<const Audit*> links;
  for (const Audit& link : audit.links) links.push_back(&link);
  if (links.empty()) links.push_back(&audit);
  return links;
}

std::vector<std::string_view> names_in(const std::vector<const Audit*>& links) {
  std::vector<Evidence> evidence;
  for (const Audit* link : links) evidence.push_back({link->job, link->inputs, link->resolution});
  return symbol_names(evidence);
}

bool is_about(const Finding& finding, const std::string& symbol) {
  return finding.symbol == symbol || std::ranges::find(finding.symbols, symbol) != finding.symbols.end();
}

}  // namespace

std::vector<SymbolReport> explain_spelling(const Audit& audit, std::string_view spelling) {
  const std::vector<const Audit*> links = links_of(audit);
  std::vector<SymbolReport> reports;
  for (const std::string& name : names_spelled(names_in(links), spelling))
    for (const Audit* link : links) {
      SymbolReport report = explain(*link, name);
      if (report.symbol.empty()) continue;
      report.link = link->job.output_path;
      for (const Finding& finding : audit.findings) {
        const auto& with = finding.links;
        const bool here = with.empty() || std::ranges::find(with, report.link) != with.end();
        if (here && is_about(finding, name)) report.findings.push_back(finding);
      }
      if (audit.links.empty()) report.link.clear();
      reports.push_back(std::move(report));
    }
  return reports;
}

std::vector<std::string> similar_names(const Audit& audit, std::string_view spelling) {
  return names_near(names_in(links_of(audit)), spelling);
}

int exit_code(const Audit& audit, Severity fail_on) {
  if (!audit.complete) return 2;
  const bool failed =
      std::ranges::any_of(audit.findings, [&](const Finding& finding) { return finding.severity >= fail_on; });
  return failed ? 1 : 0;
}

}  // namespace elfaudit
