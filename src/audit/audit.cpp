// The stages of one audit, in order. audit() is the table of contents.

#include "audit/stages.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <set>
#include <tuple>

#include "divergence/divergence.hpp"
#include "divergence/instruction_sets.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/symbol_report.hpp"
#include "facts/facts_file.hpp"
#include "input/build/gpu_flags.hpp"
#include "left_out/left_out.hpp"
#include "load/load_closure.hpp"
#include "locate/cause/cause.hpp"
#include "locate/dwarf/debug_info.hpp"
#include "locate/locate.hpp"
#include "locate/providers/providers.hpp"
#include "package/packages.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "scan/device/device_code.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "scan/scan.hpp"
#include "scan/spelling.hpp"
#include "ship/allow_lists.hpp"
#include "ship/machine_demands.hpp"
#include "ship/systems.hpp"
#include "stale/stale.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

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
  for (const DeviceTarget& target : targets) {
    wanted.insert(wanted.end(), target.inputs.begin(), target.inputs.end());
    for (const DeviceLeftOut& left_out : target.left_out)
      if (left_out.code.image != kNone) wanted.push_back(left_out.code);
  }
  decode_images(inputs, wanted);
  DeviceResolution device = resolve_device(job, std::move(targets), whole, inputs);
  if (job.missing.empty()) {
    const int toolkit = job.device ? job.device->toolkit : 0;
    const auto choose = [=](const DeviceFacts& facts, const GpuArch& arch) { return image_for(facts, arch, toolkit); };
    kin = find_device_suppliers(job, inputs, choose, device);
  }
  return device;
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
void take_undefined_from(const Prefilter& prefilter, Resolution& resolution, Unsettled& unsettled) {
  unsettled.undefined.clear();
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

/// No linker takes a program as an input, but most take a position-independent one for a shared object.
void refuse_program(const LinkJob& job, const LinkInput& input, InputFacts& facts) {
  if (facts.kind != InputKind::Executable || input.just_symbols || input.binary) return;
  const LinkerTraits& linker = traits_of(job);
  if (!linker.links_programs || !probe_input(input).shared)
    facts.errors.emplace_back(input.path,
                              fmt::format("is a program: {} links no program into another output", linker.name));
}

/// gold does not search for the libraries that a library needs. It fails where --copy-dt-needed-entries asks it to.
void refuse_needed(const LinkJob& job, const std::set<std::string_view>& sonames, const LinkInput& input,
                   InputFacts& facts) {
  if (!input.links_needed || facts.kind != InputKind::SharedObject || facts.objects.empty()) return;
  if (!traits_of(job).refuses_links_needed) return;
  for (const std::string& dir : job.builtin_dirs)
    if (input.path.starts_with(dir)) return;
  const std::vector<std::string>& needed = facts.objects.front().needed;
  const auto absent = std::ranges::find_if(needed, [&](const std::string& name) { return !sonames.contains(name); });
  if (absent != needed.end())
    facts.errors.emplace_back(
        input.path, fmt::format("needs {}: --copy-dt-needed-entries asks for it, and {} links only what the line names",
                                *absent, traits_of(job).name));
}

/// A linker that doesn't read all members fails only if it extracts such a member.
void refuse_archives_in_thin(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution) {
  const LinkerTraits& linker = traits_of(job);
  if (!job.scope.command || !linker.refuses_archives_in_thin) return;
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    for (std::uint32_t o = 0; inputs[i].thin && o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      if (!object.of_archive || !(linker.reads_all_members || resolution.linked[i][o])) continue;
      inputs[i].errors.emplace_back(inputs[i].path,
                                    fmt::format("is a thin archive that names members of {}, which {} can't read",
                                                object.origin.file(), linker.name));
      break;
    }
}

/// Adds an error to each input that the linker refuses.
void refuse_inputs(const LinkJob& job, std::vector<InputFacts>& inputs) {
  if (!job.scope.command) return;
  std::set<std::string_view> sonames;
  for (const InputFacts& input : inputs)
    if (input.kind == InputKind::SharedObject && !input.objects.empty()) sonames.insert(input.objects.front().soname);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    refuse_program(job, job.inputs[i], inputs[i]);
    refuse_needed(job, sonames, job.inputs[i], inputs[i]);
  }
}

bool asks_for_systems(const AuditOptions& options) {
  return !options.ship.runs_on.empty() || is_among("oldest-system", options.enable);
}

/// The libraries that objects without a link command would be linked with on this machine.
std::vector<ObjectFacts> libraries_for_objects(const Audit& audit, const AuditOptions& options) {
  if (audit.job.scope.command) return {};
  for (const InputFacts& input : audit.inputs)
    for (const ObjectFacts& object : input.objects)
      if (object.kind == ObjectKind::Relocatable) return read_system_libraries(object, options.closure.root);
  return {};
}

/// The libraries that are loaded with the module that a link makes: the interpreter's, and those that the link's libraries
/// need.
std::vector<ObjectFacts> interpreter_of_link(const Audit& audit, const AuditOptions& options) {
  const LinkJob& job = audit.job;
  if (!job.scope.command || job.output != OutputKind::SharedObject ||
      module_made_by(audit.inputs, audit.resolution).empty())
    return {};
  const auto module = std::ranges::find_if(
      audit.inputs, [](const InputFacts& input) { return input.kind == InputKind::Object && !input.objects.empty(); });
  if (module == audit.inputs.end()) return {};
  std::vector<ObjectFacts> libraries = read_interpreter_libraries(module->objects.front(), options.closure.root);
  std::vector<const ObjectFacts*> linked;
  for (std::size_t i = 0; i < audit.inputs.size(); ++i)
    for (const ObjectFacts& object : audit.inputs[i].objects)
      if (object.kind == ObjectKind::SharedObject && audit.resolution.linked[i].front()) linked.push_back(&object);
  std::ranges::move(read_loaded_with(linked, options.closure), std::back_inserter(libraries));
  return libraries;
}

/// The names that objects which were not read use, and the findings' names that other objects define. In one object,
/// since they may be many.
InputFacts names_in_others(const LinkJob& job, const std::vector<InputFacts>& inputs,
                           const std::vector<Finding>& findings, unsigned jobs) {
  constexpr std::size_t kAtOnce = 256;  // files whose facts are there at one time
  std::set<std::string> read;
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      if (!object.symbols.empty()) read.insert(object.origin.display());
  std::map<std::string, std::set<std::string>, std::less<>> in_findings;  // by symbol, the objects
  for (const Finding& finding : findings)
    for (const Site& site : finding.sites) in_findings[finding.symbol].insert(site.origin.display());
  std::set<std::pair<std::string, Placement>> names;
  for (std::size_t at = 0; at < job.inputs.size(); at += kAtOnce) {
    LinkJob part;
    part.lto = job.lto;
    const auto first = job.inputs.begin() + static_cast<std::ptrdiff_t>(at);
    part.inputs.assign(first, first + static_cast<std::ptrdiff_t>(std::min(kAtOnce, job.inputs.size() - at)));
    for (const InputFacts& input : scan(part, jobs, ArchiveReading::Whole))
      for (const ObjectFacts& object : input.objects) {
        const std::string display = object.origin.display();
        const bool is_read = read.contains(display);
        for (const Symbol& symbol : object.symbols) {
          const std::string_view name = object.name(symbol);
          const auto found = symbol.defined() ? in_findings.find(name) : in_findings.end();
          const bool is_other =
              found != in_findings.end() && !found->second.contains(display) && !object.origin.is_member();
          if (is_other || (!symbol.defined() && !is_read)) names.emplace(name, symbol.placement);
        }
      }
  }
  ObjectFacts all;
  for (const auto& [name, placement] : names) {
    Symbol& symbol = all.symbols.emplace_back();
    symbol.placement = placement;
    symbol.name = {static_cast<std::uint32_t>(all.strings.size()), static_cast<std::uint32_t>(name.size())};
    all.strings += name;
  }
  InputFacts users;
  users.objects = ObjectList({std::move(all)});
  return users;
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

/// One audit under way. Each stage reads what those before it have left here.
class AuditRun {
 public:
  /// `of_build`: the inputs, read already, for several links; null: the only link. What concerns objects alone is reported
  /// once for all of several.
  AuditRun(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter, ReadInputs* of_build)
      : options_(options), prefilter_(std::move(prefilter)), of_build_(of_build) {
    made_.job = std::move(job);
    made_.job.scope.candidates_alone = prefilter_.has_value();
    if (prefilter_) made_.passes.push_back({"prefilter", prefilter_->milliseconds});
  }

  /// `said`: to the user, while it runs.
  void operator()(std::string name, void (AuditRun::*stage)(), const char* said = nullptr) {
    if (said != nullptr) progress_stage(said);
    const auto begin = Clock::now();
    (this->*stage)();
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    made_.passes.push_back({std::move(name), took.count()});
  }

  void read_files();
  void read_package_files();
  void find_loaded_libraries();
  void number_names();
  void resolve_symbols();
  void judge();
  void open_unindexed_members();
  void open_rivals();
  void find_suppliers();
  void judge_relocations();
  void link_device_code();
  void compare_times();
  void read_interpreter();
  void find_references_past_ends();
  void find_left_out_members();
  void bind_to_system();
  void find_demands();
  void compare_instruction_sets();
  void compare_debug_types();
  bool has_types_to_compare() const;
  void apply_all_rules();
  void note_host_shadows();
  void find_places();
  void conclude_findings();

  Audit result() { return std::move(made_); }

 private:
  using Clock = std::chrono::steady_clock;

  bool opens_by_need() const { return of_build_ == nullptr && !prefilter_ && may_open_by_need(made_.job, options_); }
  void settle_undefined();
  Resolution resolve_as(LinkerKind linker) const;
  LocateOptions locating() const;
  TypeOptions type_reading() const {
    return {options_.jobs, options_.cache, options_.compile_commands, options_.known_commands};
  }

  const AuditOptions& options_;
  std::optional<Prefilter> prefilter_;
  ReadInputs* const of_build_;
  Audit made_;
  Unsettled unsettled_;  ///< what the engine left for the steps that judge the link
  Attempts attempt_;
  std::optional<LinkNames> names_;      ///< of what was read
  std::optional<LinkMembers> members_;  ///< where archives are opened by need
  DeviceRelatives device_relatives_;
  std::vector<GpuCompile> gpu_compiles_;
  StaleFacts stale_;
  std::vector<ObjectFacts> interpreter_;
  std::vector<Overrun> overruns_;
  LeftOut left_out_;
  std::optional<SystemUses> system_uses_;
  MachineDemands demands_;
  ExportLists export_lists_;
  std::vector<MixedFunction> mixed_functions_;
  TypeComparison types_;
  std::vector<std::string> problems_;  ///< met while places were looked for
  std::vector<InputError> unread_;     ///< device code behind findings
};

void AuditRun::read_files() {
  if (of_build_ != nullptr)
    made_.inputs = std::move(of_build_->inputs);
  else if (prefilter_)
    made_.inputs = std::move(prefilter_->inputs);
  else
    made_.inputs = scan(made_.job, options_.jobs, opens_by_need() ? ArchiveReading::Index : ArchiveReading::Whole);
  refuse_inputs(made_.job, made_.inputs);
  note_missing_images(made_.job, made_.inputs);
}

void AuditRun::read_package_files() {
  made_.packages = attempt_("packages", [&] { return read_packages(made_.job.packages, options_.jobs); });
  for (std::string& remark : remarks_on(made_.packages)) made_.job.notes.push_back(std::move(remark));
}

void AuditRun::find_loaded_libraries() {
  LoadedImages loaded = attempt_(
      "loaded libraries", [&] { return find_images(made_.job, made_.inputs, made_.packages, options_.closure); });
  std::ranges::move(loaded.notes, std::back_inserter(made_.job.notes));
  made_.images = std::move(loaded.images);
  made_.libraries = std::move(loaded.libraries);
  made_.libraries.undeclared =
      attempt_("dpkg", [&] { return undeclared_libraries(made_.packages, made_.images, options_.closure.root); });
}

void AuditRun::number_names() {
  names_.emplace(made_.inputs);
  if (opens_by_need()) members_.emplace(made_.job, made_.inputs, *names_);
}

void AuditRun::resolve_symbols() {
  made_.resolution = members_ ? members_->resolve(unsettled_) : resolve(made_.job, made_.inputs, *names_, unsettled_);
  // The objects that were read do not know what the others define.
  if (prefilter_) take_undefined_from(*prefilter_, made_.resolution, unsettled_);
  judge_lost_members(made_.inputs, made_.resolution, unsettled_, made_.job);
}

/// Finds what else the linker refuses or warns of: undefined names, references to discarded sections, --fatal-warnings.
void AuditRun::judge() {
  refuse_archives_in_thin(made_.job, made_.inputs, made_.resolution);
  made_.resolution.judgement = judgement_of(made_.job, made_.inputs);
  keep_told(made_.job, made_.resolution, unsettled_);
  if (can_be_settled(made_.job)) settle_undefined();
  if (made_.job.scope.whole_line)
    attempt_("discarded sections", [&] {
      find_lost_references(made_.job, made_.inputs, made_.resolution, unsettled_, find_local_uses, read_section_graph,
                           find_needed);
    });
  attempt_("warnings", [&] {
    find_fatal_warnings(made_.job, made_.inputs, made_.resolution, unsettled_,
                        {read_warning_sections, alignment_power, find_uses, read_section_graph, find_needed});
  });
  conclude(made_.job, made_.inputs, made_.resolution, unsettled_);
}

/// Names that could not be settled are not reported: which of them the linker would miss is not known.
void AuditRun::settle_undefined() {
  const std::size_t before = attempt_.errors().size();
  attempt_("undefined symbols", [&] {
    settle_unresolved(made_.job, made_.inputs, made_.resolution, unsettled_,
                      {find_uses, has_section, relocated_without_bytes, find_open_locals, read_asked_relocations,
                       read_section_graph, find_needed});
  });
  if (attempt_.errors().size() == before) return;
  unsettled_.undefined.clear();
  made_.resolution.judgement.undefined = Judged::InputUnread;
}

/// A linker that reads members itself finds in them what an older index does not have.
void AuditRun::open_unindexed_members() {
  if (!members_ || !members_->open_behind_indexes(made_.resolution)) return;
  made_.resolution = members_->resolve(unsettled_);
  judge();
}

void AuditRun::open_rivals() {
  if (members_) members_->open_rivals(made_.resolution);
}

/// Who would define what is missing; looked for only when everything else on the line is known.
void AuditRun::find_suppliers() {
  std::vector<Unresolved*> missing;
  std::vector<Unresolved>& unresolved = made_.resolution.unresolved;
  for (Unresolved& name : unresolved)
    if (name.is_reported() && name.why != Missing::Local) missing.push_back(&name);
  Evidence evidence{made_.job, made_.inputs, made_.resolution};
  evidence.interpreter = interpreter_;
  for (const std::size_t name : lost_at_import(evidence)) missing.push_back(&unresolved[name]);
  attempt_("suppliers", [&] {
    find_host_suppliers(made_.job, made_.inputs, made_.resolution, missing, [&](std::vector<ObjectId> unopened) {
      if (members_) members_->open_for_report(std::move(unopened), made_.resolution);
    });
  });
}

void AuditRun::judge_relocations() {
  if (!can_judge_relocations(made_.job)) return;
  attempt_("relocations", [&] {
    find_refused_relocations(made_.job, made_.inputs, made_.resolution, unsettled_, read_asked_relocations,
                             read_section_graph, find_needed);
  });
}

void AuditRun::link_device_code() {
  made_.resolution.device = attempt_(
      "device code", [&] { return resolve_device_code(made_.job, made_.inputs, made_.resolution, device_relatives_); });
  made_.resolution.judgement.not_judged.merge(device_not_judged(made_.job, made_.inputs, made_.resolution.device));
}

void AuditRun::compare_times() {
  if (of_build_ != nullptr) return;
  gpu_compiles_ =
      attempt_("compile commands", [&] { return gpu_compiles_of(made_.inputs, options_, made_.job.notes); });
  stale_ = attempt_("times of files", [&] { return find_stale(made_.job, made_.inputs, stale_options(options_)); });
  made_.sources = std::move(stale_.sources);
}

void AuditRun::read_interpreter() {
  interpreter_ = attempt_("the interpreter's libraries", [&] { return interpreter_of_link(made_, options_); });
}

void AuditRun::find_references_past_ends() {
  const bool stays_inside = of_build_ != nullptr && of_build_->stays_inside;
  if (stays_inside || !(made_.job.scope.command || compares_types(options_.enable))) return;
  overruns_ = attempt_("references to data", [&] { return find_overruns(made_.inputs, made_.resolution); });
}

void AuditRun::find_left_out_members() {
  left_out_ = attempt_("archives", [&] { return find_left_out(made_.job, made_.inputs, made_.resolution, *names_); });
}

void AuditRun::bind_to_system() {
  if (!asks_for_systems(options_) || linked_relocatables(made_.inputs, made_.resolution).empty()) return;
  system_uses_ = attempt_("the system's libraries", [&] {
    const System system = options_.ship.runs_on.empty() ? System{} : parse_system(options_.ship.runs_on);
    return find_system_uses(made_.inputs, made_.resolution, libraries_for_objects(made_, options_), system);
  });
}

void AuditRun::find_demands() {
  demands_ = attempt_("the output", [&] {
    return find_machine_demands(made_.job, made_.inputs, made_.resolution, unsettled_, *names_);
  });
}

void AuditRun::compare_instruction_sets() {
  if (!made_.job.scope.command) return;
  mixed_functions_ = attempt_("instruction sets", [&] {
    return find_mixed_functions(made_.inputs, made_.resolution, *names_, type_reading());
  });
}

void AuditRun::compare_debug_types() {
  if (!compares_types(options_.enable)) {
    made_.leaves_types = made_.job.scope.command && has_types_to_compare();
    return;
  }
  types_ = attempt_("types", [&] { return compare_types(made_.inputs, made_.resolution, type_reading()); });
  made_.job.notes.insert(made_.job.notes.end(), types_.notes.begin(), types_.notes.end());
}

/// True if the linked objects have debug info. Reads the first few: a build has debug info in all of them or in none.
bool AuditRun::has_types_to_compare() const {
  constexpr std::size_t kMostAsked = 4;
  std::vector<ObjectId> objects = linked_relocatables(made_.inputs, made_.resolution);
  std::erase_if(objects, [&](ObjectId id) { return is_of_system(object_of(made_.inputs, id).origin.path); });
  if (objects.size() < 2) return false;
  objects.resize(std::min(objects.size(), kMostAsked));
  return std::ranges::any_of(objects, [&](ObjectId id) {
    try {
      Origin origin = object_of(made_.inputs, id).origin;
      origin.bytecode = false;
      return has_section(origin, ".debug_info") || has_section(origin, ".gnu.debuglto_.debug_info");
    } catch (const InputError&) {  // reported where it is read
      return false;
    }
  });
}

Resolution AuditRun::resolve_as(LinkerKind linker) const {
  LinkJob job = made_.job;
  job.linker = linker;
  job.linker_version = 0;
  return resolve(job, made_.inputs);
}

LocateOptions AuditRun::locating() const {
  return {{},
          options_.preprocess,
          options_.compile_commands,
          options_.known_commands,
          options_.cache,
          made_.job.scope.command};
}

void AuditRun::apply_all_rules() {
  Evidence evidence{made_.job, made_.inputs, made_.resolution, made_.packages, made_.images, options_.pythons};
  evidence.gpu_archs = options_.gpu_archs;
  evidence.gpu_compiles = gpu_compiles_;
  evidence.stale_objects = stale_.objects;
  evidence.stale_libraries = stale_.libraries;
  evidence.libraries = &made_.libraries;
  evidence.holds_device_content = holds_functions_or_variables;
  evidence.when_looked_up = when_looked_up;
  evidence.keeps_local = [](const Origin& file, std::string_view name) {
    try {
      return !names_kept_local(file, {name}).empty();
    } catch (const InputError&) {
      return false;  // .symtab is of no use to a loader, and a damaged one is no reason to distrust the rest
    }
  };
  evidence.in_headers = [&](const std::vector<SymbolId>& definitions) {
    return definitions_in_headers(definitions, made_.inputs, locating(), problems_);
  };
  evidence.interpreter = interpreter_;
  evidence.device_relatives = &device_relatives_;
  evidence.resolve_as = [&](LinkerKind linker) { return resolve_as(linker); };
  evidence.types = &types_;
  evidence.overruns = overruns_;
  evidence.demands = &demands_;
  evidence.left_out = &left_out_;
  evidence.ship = &options_.ship;
  evidence.system_uses = system_uses_ ? &*system_uses_ : nullptr;
  export_lists_ = attempt_("lists of exports", [&] { return read_export_lists(options_.ship.exports); });
  evidence.export_lists = &export_lists_;
  evidence.mixed_functions = mixed_functions_;
  evidence.names = &*names_;
  evidence.data_is_alike = of_build_ != nullptr && of_build_->data_is_alike;
  made_.findings = apply_rules(evidence, options_.enable);
  made_.resolution.judgement.not_judged.merge(python_not_judged(evidence));
  made_.resolution.judgement.not_judged.merge(systems_not_judged(evidence));
}

void AuditRun::note_host_shadows() {
  unread_ = attempt_("host shadows", [&] { return note_shadows(made_); });
}

void AuditRun::find_places() {
  LocateOptions options = locating();
  // Objects that only use a name, or have it weakly, have not been read, and an edit may take it from them.
  std::vector<InputFacts> users;
  if (made_.job.scope.candidates_alone && std::ranges::any_of(made_.findings, stops_link)) {
    users.push_back(names_in_others(made_.job, made_.inputs, made_.findings, options_.jobs));
    options.users = users;
  }
  for (std::string& problem :
       attempt_("places in sources", [&] { return locate(made_.findings, made_.inputs, options); }))
    if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
  made_.job.notes.insert(made_.job.notes.end(), problems_.begin(), problems_.end());
}

void AuditRun::conclude_findings() {
  unread_.insert(unread_.end(), attempt_.errors().begin(), attempt_.errors().end());
  add_errors(std::move(unread_), made_.findings);
  settle_findings(made_.resolution, made_.findings);
  for (std::string& note : notes_on_facts(made_.inputs, !made_.findings.empty()))
    made_.job.notes.push_back(std::move(note));
  made_.complete = complete(made_.findings);
}

Audit audit_link(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter,
                 ReadInputs* of_build = nullptr) {
  AuditRun run(std::move(job), options, std::move(prefilter), of_build);
  run("scan", &AuditRun::read_files, "reading files");
  run("packages", &AuditRun::read_package_files);
  run("images", &AuditRun::find_loaded_libraries, "finding libraries");
  run("names", &AuditRun::number_names);
  run("resolve", &AuditRun::resolve_symbols, "resolving symbols");
  run("judge", &AuditRun::judge);
  run("indexes", &AuditRun::open_unindexed_members);
  run("rivals", &AuditRun::open_rivals);
  run("interpreter", &AuditRun::read_interpreter);
  run("suppliers", &AuditRun::find_suppliers);
  run("relocations", &AuditRun::judge_relocations, "reading relocations");
  run("device", &AuditRun::link_device_code, "linking device code");
  run("stale", &AuditRun::compare_times, "comparing times");
  run("overruns", &AuditRun::find_references_past_ends);
  run("left out", &AuditRun::find_left_out_members);
  run("systems", &AuditRun::bind_to_system);
  run("output", &AuditRun::find_demands);
  run("instruction sets", &AuditRun::compare_instruction_sets);
  run("types", &AuditRun::compare_debug_types, "comparing types");
  run("rules", &AuditRun::apply_all_rules);
  run("shadows", &AuditRun::note_host_shadows);
  run("locate", &AuditRun::find_places, "looking for definitions in debug info");
  run("conclude", &AuditRun::conclude_findings);
  return run.result();
}

}  // namespace

bool may_prefilter(const AuditOptions& options) {
  return options.prefilter && !asks_for_systems(options) && !any_needs(&Rule::every_symbol, options.enable) &&
         !compares_types(options.enable);
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
  with_threads(options.jobs, [&] { result = audit_link(std::move(job), options, std::move(prefilter)); });
  if (!options.build.empty()) explain_by_build(result.findings, options.build, result.job.output_path);
  return result;
}

Audit audit_read(LinkJob job, const AuditOptions& options, ReadInputs given) {
  Audit result;
  with_threads(options.jobs, [&] { result = audit_link(std::move(job), options, {}, &given); });
  return result;
}

ObjectsAudit audit_objects(const std::vector<InputFacts>& inputs, const AuditOptions& options) {
  ObjectsAudit result;
  LinkJob job;
  job.scope.command = true;  // the links are about to be made anew
  const std::vector<GpuCompile> compiles = gpu_compiles_of(inputs, options, result.notes);
  StaleFacts stale = find_stale(job, inputs, stale_options(options));
  const Resolution none;
  Evidence evidence{job, inputs, none};
  evidence.gpu_archs = options.gpu_archs;
  evidence.gpu_compiles = compiles;
  evidence.stale_objects = stale.objects;
  evidence.stale_libraries = stale.libraries;
  result.findings = apply_rules(evidence, options.enable, RuleScope::Objects);
  result.sources = std::move(stale.sources);
  return result;
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

/// Of symbols that inputs mention, or findings: a program has variables of its device code only by local symbols.
std::vector<std::string_view> names_in(const Audit& audit) {
  std::vector<Evidence> evidence;
  for (const Audit* link : links_of(audit)) evidence.push_back({link->job, link->inputs, link->resolution});
  std::vector<std::string_view> names = symbol_names(evidence);
  const std::set<std::string_view> known(names.begin(), names.end());
  for (const Finding& finding : audit.findings) {
    if (!finding.symbol.empty() && !known.contains(finding.symbol)) names.push_back(finding.symbol);
    for (const std::string& symbol : finding.symbols)
      if (!known.contains(symbol)) names.push_back(symbol);
  }
  return names;
}

bool is_about(const Finding& finding, const std::string& symbol) {
  const auto is_it = [&](std::string_view name) { return without_version(name) == symbol; };
  return is_it(finding.symbol) || std::ranges::any_of(finding.symbols, is_it);
}

}  // namespace

std::vector<SymbolReport> explain_spelling(const Audit& audit, std::string_view spelling) {
  std::vector<SymbolReport> reports;
  for (const std::string& spelled : names_spelled(names_in(audit), spelling))
    for (const Audit* link : links_of(audit)) {
      const std::string name = without_version(spelled);
      SymbolReport report = explain(*link, name);
      report.link = link->job.output_path;
      for (const Finding& finding : audit.findings) {
        const auto& with = finding.links;
        const bool here = with.empty() || std::ranges::find(with, report.link) != with.end();
        if (here && is_about(finding, name)) report.findings.push_back(finding);
      }
      if (report.symbol.empty() && report.findings.empty()) continue;
      if (report.symbol.empty()) {
        report.symbol = name;
        report.demangled = demangle(name);
        report.verdict = "no symbol that a linker sees; what is found out about it follows";
      }
      if (audit.links.empty()) report.link.clear();
      reports.push_back(std::move(report));
    }
  return reports;
}

std::vector<std::string> similar_names(const Audit& audit, std::string_view spelling) {
  return names_near(names_in(audit), spelling);
}

int exit_code(const Audit& audit, std::optional<Severity> fail_on) {
  if (!audit.complete) return 2;
  const bool failed = std::ranges::any_of(
      audit.findings, [&](const Finding& finding) { return fail_on && finding.severity >= *fail_on; });
  return failed ? 1 : 0;
}

}  // namespace elfaudit
