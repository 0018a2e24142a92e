// Objects that were device-linked into several files of one process: device-registrar-shared, and split-state of their
// device variables. Kernels that two files export: kernel-stub-shared.
//
// Each object that was compiled with -rdc=true calls at start-up a function of its own name,
// __cudaRegisterLinkedBinary_X, which the device link defines for each of its objects. Once all of them were called, the
// device link's code is registered. A device link exports these functions unless it is told to hide them, so where two
// files of one process were device-linked with one object, the loader binds both calls to the first file:
//  1. The first file counts one call too many, and the second never has all of its calls. Its code is never registered,
//     and its kernels fail with cudaErrorInvalidResourceHandle (seen on a GPU of sm_90, CUDA 13.0).
//  2. A file that does not look the function up by name keeps its own: hidden, protected, -Bsymbolic, a version script.
//  3. Files are loaded together if a program or library loads both. Of files that are given together this is not known:
//     dlopen(RTLD_LOCAL), as of Python's modules, keeps their names apart. A plugin gets the names of its program first.
//  4. HIP (-fgpu-rdc) has __hip_fatbin_X for the code itself, of which the first constructor of a file registers one for
//     all: where it is bound to another file, this file's kernels are looked for in the other file's code (clang 19).
// The same goes for libcudadevrt, which is an object of each device link with dynamic parallelism. Where each file keeps its
// own, the object's device variables are there once a file.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/loading/loaded.hpp"
#include "scan/device/device_code.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

constexpr Rule kRegistrarShared{.id = "device-registrar-shared",
                                .severity = Severity::Error,
                                .summary =
                                    "two files that are loaded together register device code under one name: "
                                    "the kernels of one fail",
                                .device = true};

constexpr std::string_view kRegistrar = "__cudaRegisterLinkedBinary_";
constexpr std::string_view kHipCode = "__hip_fatbin_";
constexpr std::size_t kMostSources = 5;  // in words

/// "co.cu" of "__cudaRegisterLinkedBinary_87b2da65_5_co_cu_state": after a hash the length of the source's name, and that
/// name. Empty where the rest of the name is of another form.
std::string source_of(std::string_view registrar) {
  if (!registrar.starts_with(kRegistrar)) return {};
  std::string_view id = registrar.substr(kRegistrar.size());
  id.remove_prefix(std::min(id.find('_'), id.size()));
  std::size_t length = 0;
  if (!take_prefix(id, "_")) return {};
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), length);
  id.remove_prefix(static_cast<std::size_t>(end - id.data()));
  if (error != std::errc() || !take_prefix(id, "_") || length > id.size()) return {};
  std::string name(id.substr(0, length));
  if (name.ends_with("_cu")) name.replace(name.size() - 3, 1, ".");
  return name;
}

/// Files that register objects of theirs with another one.
struct Bound {
  LoadedFile first;
  std::vector<LoadedFile> seconds;
  std::set<std::string> shared;  ///< registrars
  Together how = Together::Program;
  std::string program;  ///< Meeting::program
};

bool is_device_runtime(const std::set<std::string>& registrars) {
  return std::ranges::all_of(
      registrars, [](const std::string& name) { return name.find("cuda_device_runtime") != std::string::npos; });
}

/// "the device code of co.cu"
std::string code_of(const std::set<std::string>& registrars) {
  if (is_device_runtime(registrars)) return "the device code of libcudadevrt";
  std::set<std::string> sources;
  for (const std::string& name : registrars)
    if (std::string source = source_of(name); !source.empty()) sources.insert(std::move(source));
  if (sources.empty()) return "one object's device code";
  return "the device code of " + some_of({sources.begin(), sources.end()}, kMostSources);
}

/// "a, b and c"
std::string names_of(const std::vector<LoadedFile>& files) {
  std::string names = files.front().name;
  for (std::size_t i = 1; i < files.size(); ++i) names += (i + 1 == files.size() ? " and " : ", ") + files[i].name;
  return names;
}

class SharedRegistrars {
 public:
  explicit SharedRegistrars(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    const auto has_some = [&](const ObjectFacts& object) { return !registrars(object).empty(); };
    if (evidence_.job.scope.command && evidence_.job.output != OutputKind::Relocatable) compare_with_output();
    for (const Meeting& meeting : meetings(evidence_, has_some)) compare(meeting);
    for (const Bound& bound : bound_) findings_.push_back(finding(bound));
    copies();
    return std::move(findings_);
  }

 private:
  using Names = std::map<std::string_view, const Symbol*>;

  /// The registrars that a file defines for all to see.
  const Names& registrars(const ObjectFacts& object) {
    const auto [at, first] = registrars_.try_emplace(&object);
    if (!first) return at->second;
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined() && !is_hidden(symbol.visibility) &&
          starts_with_any(object.name(symbol), {kRegistrar, kHipCode}))
        at->second.emplace(object.name(symbol), &symbol);
    return at->second;
  }

  /// Rule 2: those of the file's own that it looks up by name. Opens the file.
  const Names& looked_up(const ObjectFacts& object) {
    const auto [at, first] = looked_up_.try_emplace(&object);
    if (!first || object.symbolic || !evidence_.when_looked_up) return at->second;
    std::vector<const Symbol*> asked;
    std::vector<std::uint32_t> indices;
    for (const auto& [name, symbol] : registrars(object)) {
      if (symbol->visibility == Visibility::Protected) continue;
      asked.push_back(symbol);
      indices.push_back(symbol->index);
    }
    try {
      const std::vector<LookedUp> when = evidence_.when_looked_up(object.origin, indices);
      std::optional<std::uint32_t> hip;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::string_view name = object.name(*asked[i]);
        if (name.starts_with(kHipCode) && !hip) hip = first_hip_code(object);
        if (when[i] != LookedUp::Never && (!name.starts_with(kHipCode) || *hip == asked[i]->index))
          at->second.emplace(name, asked[i]);
      }
    } catch (const InputError&) {
      // Its symbols were read; who needs its relocations reports that they can't be.
    }
    return at->second;
  }

  /// What the output of a link command defines itself comes before the shared objects on the line.
  void compare_with_output() {
    const std::vector<ObjectId> linked = linked_objects(evidence_.inputs, evidence_.resolution);
    const auto is_party = [&](ObjectId id) {
      const ObjectFacts& object = evidence_.object(id);
      return object.kind == ObjectKind::SharedObject && !registrars(object).empty();
    };
    if (std::ranges::none_of(linked, is_party)) return;
    const Exports exports(evidence_.job);
    std::set<std::string, std::less<>> own;
    LoadedFile output;
    output.name = evidence_.job.output == OutputKind::Executable ? "the program" : "the output";
    const auto add_own = [&](std::string_view name, const Origin& origin) {
      if (exports.why_not(name, origin, false).empty()) own.emplace(name);
    };
    // Whether the device runtime is part of it depends on what the kernels do.
    if (evidence_.job.device && !evidence_.job.device->hidden)
      for (const std::string& name : device_link_object(evidence_.job, evidence_.inputs).defines)
        if (name.starts_with(kRegistrar) && !is_device_runtime({name})) add_own(name, {});
    for (const ObjectId id : linked)
      if (evidence_.object(id).kind == ObjectKind::Relocatable)
        for (const auto& [name, symbol] : registrars(evidence_.object(id))) add_own(name, evidence_.object(id).origin);
    for (const ObjectId id : linked) {
      const ObjectFacts& object = evidence_.object(id);
      if (own.empty() || !is_party(id)) continue;
      std::set<std::string> shared;
      for (const auto& [name, symbol] : looked_up(object))
        if (own.contains(name) && bound_of_[&object].insert(name).second) shared.emplace(name);
      if (shared.empty()) continue;
      output.site = site_of(*shared.begin(), linked);
      add(bound_,
          {output,
           {&object, std::string(base_name(object.origin.path)), make_object_site(evidence_, id, Role::Kept)},
           Together::Link},
          shared);
    }
  }

  /// The object that the registrar is of, or else what defines the registrar.
  Site site_of(std::string_view registrar, const std::vector<ObjectId>& linked) {
    const std::string wrapper =
        "__fatbinwrap_" + std::string(registrar.substr(std::min(kRegistrar.size(), registrar.size())));
    Site site;
    for (const ObjectId id : linked) {
      const ObjectFacts& object = evidence_.object(id);
      if (object.kind != ObjectKind::Relocatable) continue;
      const auto is_wrapper = [&](const Symbol& symbol) { return symbol.defined() && object.name(symbol) == wrapper; };
      if (std::ranges::any_of(object.symbols, is_wrapper)) return make_object_site(evidence_, id, Role::Kept);
      if (registrars(object).contains(registrar)) site = make_object_site(evidence_, id, Role::Kept);
    }
    return site;
  }

  /// Of files that are given together the order is not known.
  void compare(const Meeting& meeting) {
    std::set<std::string> shared = shared_by(meeting);
    if (shared.empty()) return;
    const auto bind = [&](const Meeting& pair) {
      std::set<std::string> bound;
      for (const auto& [name, symbol] : looked_up(*pair.second.object))
        if (shared.contains(std::string(name)) && bound_of_[pair.second.object].insert(name).second)
          bound.emplace(name);
      if (!bound.empty()) add(bound_, pair, bound);
      return !bound.empty();
    };
    if (!bind(meeting) && meeting.how == Together::Given) bind({meeting.second, meeting.first, meeting.how});
  }

  /// Each of the files keeps its registration. What they share may be their device variables.
  void copies() {
    const auto is_device_linked = [&](const ObjectFacts& object) { return !modules(object).empty(); };
    for (const Meeting& meeting : meetings(evidence_, is_device_linked, true)) {
      const ObjectFacts* first = meeting.first.object;
      const ObjectFacts* second = meeting.second.object;
      if (bound_of_.contains(first) || bound_of_.contains(second)) continue;
      std::set<std::string> shared;
      std::ranges::set_intersection(modules(*first), modules(*second), std::inserter(shared, shared.end()));
      const auto is_known = [&](const Bound& bound) {
        return bound.shared == shared && bound.how == meeting.how &&
               std::ranges::find(bound.seconds, first, &LoadedFile::object) != bound.seconds.end();
      };
      if (!shared.empty() && std::ranges::none_of(copied_, is_known)) add(copied_, meeting, shared);
    }
    for (const Bound& bound : copied_)
      if (std::optional<Finding> found = of_copies(bound)) findings_.push_back(*std::move(found));
  }

  /// The device-linked objects of a file, by the names of their registrars.
  const std::set<std::string>& modules(const ObjectFacts& object) {
    const auto [at, first] = modules_.try_emplace(&object);
    if (first && object.has_device_code && object.kind != ObjectKind::Relocatable)
      for (const std::string& module : device_linked_modules(object))
        at->second.insert(std::string(kRegistrar) + module.substr(module.starts_with('_') ? 1 : 0));
    return at->second;
  }

  std::set<std::string> shared_by(const Meeting& meeting) {
    const ObjectFacts& first = *meeting.first.object;
    const ObjectFacts& second = *meeting.second.object;
    std::set<std::string> shared;
    for (const auto& [name, symbol] : registrars(second))
      if (registrars(first).contains(name) && definitions_.answers(first, second, *symbol)) shared.emplace(name);
    return shared;
  }

  static void add(std::vector<Bound>& list, const Meeting& meeting, const std::set<std::string>& shared) {
    const auto same = [&](const Bound& bound) {
      return bound.first.object == meeting.first.object && bound.shared == shared && bound.how == meeting.how &&
             bound.program == meeting.program;
    };
    const auto found = std::ranges::find_if(list, same);
    if (found == list.end())
      list.push_back({meeting.first, {meeting.second}, shared, meeting.how, meeting.program});
    else
      found->seconds.push_back(meeting.second);
  }

  /// With sites and severity.
  static Finding begin(const Rule& rule, const Bound& bound, std::string_view symbol, std::string message) {
    Finding finding = make_finding(rule, symbol, std::move(message));
    bool of_user = bound.first.of_user;
    if (!bound.first.site.origin.path.empty()) finding.sites.push_back(bound.first.site);
    for (const LoadedFile& second : bound.seconds) {
      finding.sites.push_back(second.site);
      finding.sites.back().role = Role::Candidate;
      of_user = of_user || second.of_user;
    }
    if (bound.how != Together::Program) finding.severity = std::min(finding.severity, Severity::Warning);
    if (!of_user) finding.severity = Severity::Note;
    return finding;
  }

  static Finding finding(const Bound& bound) {
    const bool one = bound.seconds.size() == 1;
    const std::string seconds = names_of(bound.seconds);
    std::string message =
        fmt::format("{} {} device code with {}, which is loaded first: {} kernels fail", seconds,
                    one ? "registers its" : "register their", bound.first.name, one ? "its" : "their");
    if (bound.how == Together::Given)
      message = fmt::format("{} and {} register device code under one name: loaded together, the kernels of one fail",
                            bound.first.name, seconds);
    if (bound.how == Together::Given && !one)
      message =
          fmt::format("{}, {} register device code under one name: loaded together, the kernels of all but one fail",
                      bound.first.name, seconds);
    if (bound.how == Together::Plugin)
      message = fmt::format("{} {} device code with {} where {} loads {}: {} kernels fail", seconds,
                            one ? "registers its" : "register their", bound.first.name, bound.program,
                            one ? "it" : "them", one ? "its" : "their");
    Finding finding = begin(kRegistrarShared, bound, *bound.shared.begin(), std::move(message));
    if (bound.shared.size() > 1) finding.symbols.assign(bound.shared.begin(), bound.shared.end());
    finding.cause = {"device-linked-in-two-files",
                     fmt::format("{} is in {} of them, device-linked in each, and each exports its registration",
                                 code_of(bound.shared), one ? "both" : "all"),
                     bound.first.name + " " + seconds};
    const bool hip = bound.shared.begin()->starts_with(kHipCode);
    if (hip) finding.severity = std::min(finding.severity, Severity::Warning);  // seen without a GPU
    finding.notes.push_back(
        hip ? "the first constructor registers the code of __hip_fatbin_*, which the loader finds in the other file"
            : "a device link registers nothing until all of its objects have called it: "
              "cudaErrorInvalidResourceHandle");
    if (bound.how == Together::Given)
      finding.notes.push_back(
          "together: linked with one program, or dlopen with RTLD_GLOBAL; with RTLD_LOCAL each keeps its own");
    if (!is_device_runtime(bound.shared)) finding.fixes.push_back({one_device_link()});
    std::string files = bound.first.object == nullptr ? seconds : bound.first.name + (one ? " and " : ", ") + seconds;
    const std::string own = is_device_runtime(bound.shared) ? "" : ": each has its own device variables then";
    finding.fixes.push_back(
        {fmt::format("link {} with -Wl,-Bsymbolic{}{}", files, hip ? "" : " (nvcc: -Xlinker -Bsymbolic)", own)});
    if (!hip)
      finding.fixes.push_back(
          {"hide the registration, with the same effect: nvcc -dlink (or nvcc -shared) -Xcompiler "
           "-fvisibility=hidden"});
    return finding;
  }

  static std::string one_device_link() {
    return "put the device code of all of them into one shared object, with one device link";
  }

  static std::optional<Finding> of_copies(const Bound& bound) {
    std::set<std::string> variables;
    try {
      variables = device_variables(*bound.first.object);
      for (const LoadedFile& second : bound.seconds) {
        const std::set<std::string> others = device_variables(*second.object);
        std::erase_if(variables, [&](const std::string& name) { return !others.contains(name); });
      }
    } catch (const InputError&) {
      return std::nullopt;  // who audits the files' device code reports it
    }
    if (variables.empty() || is_device_runtime(bound.shared)) return std::nullopt;
    Finding finding = begin(kSplitState, bound, variables.size() == 1 ? *variables.begin() : std::string(),
                            fmt::format("{}{}{} each have their own {}, and are loaded together", bound.first.name,
                                        bound.seconds.size() == 1 ? " and " : ", ", names_of(bound.seconds),
                                        some_symbols({variables.begin(), variables.end()}, kMostSources)));
    if (variables.size() > 1) finding.symbols.assign(variables.begin(), variables.end());
    finding.cause = {"device-linked-in-two-files",
                     fmt::format("{} is in each of them, and device code shares variables only within one device link",
                                 code_of(bound.shared)),
                     bound.first.name + " " + names_of(bound.seconds)};
    finding.notes.push_back("what one file writes to it, or its host code initialises, the others do not see");
    finding.fixes.push_back({one_device_link()});
    finding.fixes.push_back({"initialise the copy of each file, by host code that is linked into that file"});
    return finding;
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<const ObjectFacts*, Names> registrars_;
  std::map<const ObjectFacts*, Names> looked_up_;
  std::map<const ObjectFacts*, std::set<std::string_view>> bound_of_;  ///< registrars that go to a file before it
  std::map<const ObjectFacts*, std::set<std::string>> modules_;
  std::vector<Bound> bound_;
  std::vector<Bound> copied_;
  std::vector<Finding> findings_;
};

std::vector<Finding> shared_registrars(const Evidence& evidence) { return SharedRegistrars(evidence).run(); }

// --- kernel-stub-shared: kernels of one name in two files of one process, or in two objects of one link.
//
// nvcc makes of a kernel a host function, its stub, whose address is the kernel's name for the CUDA runtime: it is
// registered with the kernel when the file is loaded, and launched by it. Since CUDA 13 stubs are hidden or local; those of
// earlier toolkits, and with -static-global-template-stub=false -device-entity-has-hidden-visibility=false, are exported.
// Then the loader binds the stubs of one name to those of the first file, and both files register their kernels under its
// address. What follows was seen on a GPU of sm_90 with CUDA 13.0:
//  1. The files share one runtime (libcudart.so): the kernel that is registered first is launched by both, that of the file
//     whose constructors run first. It matters where the kernels differ in the GPUs that they are for: on some, one file
//     launches a kernel that is not there, although it has it itself. Kernels for the same GPUs are taken to be the same.
//  2. Each has a runtime of its own (libcudart_static.a in one at least): where the second file calls the stub, it sets the
//     launch up in its own runtime, and the first file's stub asks the other one. Nothing is launched, and the second
//     file's runtime has no error. Where the compiler has put the stub into the caller (a template with -O2), each launches
//     its own.
//  3. Of the objects of one link the linker keeps one stub, the first, and both kernels are registered under it. The first
//     object's is launched by all.
//  4. A stub that a file does not look up by name is its own: hidden, protected, -Bsymbolic.

constexpr Rule kStubShared{
    .id = "kernel-stub-shared",
    .severity = Severity::Error,
    .summary = "two files that are loaded together export one kernel, and one launches the other's or none",
    .device = true};

constexpr std::size_t kMostKernels = 4;  // in words

/// The kernels that two files share, by what becomes of them.
struct SharedKernels {
  std::set<std::string> lost;                         ///< 2
  std::map<std::string, std::set<GpuArch>> in_first;  ///< 1
  std::map<std::string, std::set<GpuArch>> in_second;
};

std::set<GpuArch> gpus_of(const std::set<GpuArch>& held) {
  std::set<GpuArch> gpus;
  std::ranges::copy_if(held, std::inserter(gpus, gpus.end()), [](const GpuArch& arch) { return !arch.is_virtual; });
  return gpus;
}

/// The GPUs that `wanted` has code for and `held` does not run on.
std::set<GpuArch> lacking(const std::set<GpuArch>& held, const std::set<GpuArch>& wanted) {
  std::set<GpuArch> gpus = gpus_of(wanted);
  std::erase_if(gpus, [&](const GpuArch& gpu) { return what_runs_on(gpu, held).how != Coverage::None; });
  return gpus;
}

class SharedStubs {
 public:
  explicit SharedStubs(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    if (!evidence_.when_looked_up) return {};
    const auto has_device_code = [&](const ObjectFacts& object) {
      return object.has_device_code && object.kind != ObjectKind::Relocatable && !exports(object).empty();
    };
    for (const Meeting& meeting : meetings(evidence_, has_device_code)) {
      try {
        if (!compare(meeting) && meeting.how == Together::Given) compare({meeting.second, meeting.first, meeting.how});
      } catch (const InputError&) {
        // Their symbols were read; who audits the rest of them reports what can't be.
      }
    }
    if (evidence_.job.scope.command) compare_objects();
    return std::move(findings_);
  }

 private:
  using Functions = std::unordered_map<std::string_view, const Symbol*>;

  const Functions& exports(const ObjectFacts& object) {
    const auto [at, first] = exports_.try_emplace(&object);
    if (!first) return at->second;
    for (const Symbol& symbol : object.symbols)
      if (symbol.defined() && symbol.type == SymbolType::Function &&
          (symbol.visibility == Visibility::Default || symbol.visibility == Visibility::Protected))
        at->second.emplace(object.name(symbol), &symbol);
    return at->second;
  }

  /// Which runtime the file's kernels are registered with: the shared one by its version, or the file's own.
  static std::string runtime_of(const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols)
      if (object.name(symbol) == "__cudaRegisterFunction" && !symbol.defined())
        return "shared " + std::string(object.text(symbol.version));
    return object.origin.display();
  }

  /// False where each launches its own.
  bool compare(const Meeting& meeting) {
    const ObjectFacts& first = *meeting.first.object;
    const ObjectFacts& second = *meeting.second.object;
    if (second.symbolic) return false;
    std::vector<const Symbol*> theirs;
    std::vector<const Symbol*> own;
    for (const auto& [name, symbol] : exports(second)) {
      const auto other = exports(first).find(name);
      if (other == exports(first).end() || symbol->visibility == Visibility::Protected) continue;
      own.push_back(symbol);
      theirs.push_back(other->second);
    }
    if (own.empty()) return false;
    const SharedKernels shared = kernels_of(first, theirs, second, own);
    if (!shared.lost.empty()) add_lost(meeting, shared.lost);
    if (!shared.in_first.empty()) add_differing(meeting, shared);
    return !shared.lost.empty() || !shared.in_first.empty();
  }

  SharedKernels kernels_of(const ObjectFacts& first, const std::vector<const Symbol*>& theirs,
                           const ObjectFacts& second, const std::vector<const Symbol*>& own) const {
    std::vector<std::uint32_t> indices;
    for (const Symbol* symbol : own) indices.push_back(symbol->index);
    SharedKernels shared;
    // A file of a wheel is decompressed to be opened, so that the smaller one is asked first.
    const bool second_first = second.origin.size <= first.origin.size;
    std::vector<KernelStub> stubs = second_first ? kernel_stubs(second, own) : kernel_stubs(first, theirs);
    if (std::ranges::none_of(stubs, &KernelStub::registered)) return shared;
    std::vector<KernelStub> other_stubs = second_first ? kernel_stubs(first, theirs) : kernel_stubs(second, own);
    if (!second_first) std::swap(stubs, other_stubs);
    const std::vector<LookedUp> when = evidence_.when_looked_up(second.origin, indices);
    const bool one_runtime = runtime_of(first) == runtime_of(second);
    std::set<std::string> kernels;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (stubs[i].registered && other_stubs[i].registered && when[i] != LookedUp::Never)
        kernels.emplace(second.name(*own[i]));
    keep_kernels(second, kernels);
    std::set<std::string> registered;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::string name(second.name(*own[i]));
      if (!kernels.contains(name)) continue;
      if (one_runtime)
        registered.insert(name);
      else if (stubs[i].called)
        shared.lost.insert(name);
    }
    if (!registered.empty()) compare_archs(first, second, registered, shared);
    return shared;
  }

  /// A mangled name is hardly ever a string for another reason; the name of a C function may be any word.
  static void keep_kernels(const ObjectFacts& object, std::set<std::string>& names) {
    std::set<std::string> words;
    for (const std::string& name : names)
      if (!name.starts_with("_Z")) words.insert(name);
    if (words.empty()) return;
    const auto known = kernel_archs(object, words);
    std::erase_if(names, [&](const std::string& name) { return words.contains(name) && !known.contains(name); });
  }

  static void compare_archs(const ObjectFacts& first, const ObjectFacts& second, const std::set<std::string>& kernels,
                            SharedKernels& shared) {
    const auto in_first = kernel_archs(first, kernels);
    const auto in_second = kernel_archs(second, kernels);
    for (const auto& [name, held] : in_first) {
      const auto other = in_second.find(name);
      if (other == in_second.end()) continue;
      if (lacking(held, other->second).empty() && lacking(other->second, held).empty()) continue;
      shared.in_first.emplace(name, held);
      shared.in_second.emplace(name, other->second);
    }
  }

  /// Without the message.
  static Finding begin(const Meeting& meeting, const std::set<std::string>& kernels) {
    Finding finding = make_finding(kStubShared, kernels.size() == 1 ? *kernels.begin() : std::string(), {});
    if (kernels.size() > 1) finding.symbols.assign(kernels.begin(), kernels.end());
    finding.sites = {meeting.first.site, meeting.second.site};
    finding.sites.back().role = Role::Candidate;
    if (meeting.how != Together::Program) finding.severity = Severity::Warning;
    if (!meeting.first.of_user && !meeting.second.of_user) finding.severity = Severity::Note;
    return finding;
  }

  static void finish(Finding& finding, const Meeting& meeting) {
    if (meeting.how == Together::Given)
      finding.notes.push_back(
          "where both are linked with one program, or opened with RTLD_GLOBAL; with RTLD_LOCAL each keeps its own");
    if (meeting.how == Together::Plugin)
      finding.notes.push_back(fmt::format("where {} loads {}", meeting.program, meeting.second.name));
    finding.fixes.push_back(
        {fmt::format("hide the kernels of {} and {}: nvcc -Xcompiler -fvisibility=hidden, or the defaults of CUDA 13",
                     meeting.first.name, meeting.second.name)});
    finding.fixes.push_back({fmt::format("link {} with -Wl,-Bsymbolic (nvcc: -Xlinker -Bsymbolic)",
                                         meeting.how == Together::Given ? "both" : meeting.second.name)});
  }

  static std::string words(const std::set<std::string>& kernels) {
    return some_symbols({kernels.begin(), kernels.end()}, kMostKernels);
  }

  void add_lost(const Meeting& meeting, const std::set<std::string>& kernels) {
    Finding finding = begin(meeting, kernels);
    const std::string& first = meeting.first.name;
    const std::string& second = meeting.second.name;
    finding.message = fmt::format("{} in {} {} through {}, and the {} run", words(kernels), second,
                                  kernels.size() == 1 ? "is launched" : "are launched", first,
                                  kernels.size() == 1 ? "kernel does not" : "kernels do not");
    finding.cause = {
        "two-cuda-runtimes", "both export the kernel's host function, and each has a CUDA runtime of its own", {}};
    finding.notes.push_back("the launch is set up in one runtime and made in the other: the caller gets no error");
    finish(finding, meeting);
    findings_.push_back(std::move(finding));
  }

  void add_differing(const Meeting& meeting, const SharedKernels& shared) {
    std::set<std::string> kernels;
    std::set<GpuArch> first_lacks, second_lacks, held_first, held_second;
    for (const auto& [name, held] : shared.in_first) {
      const std::set<GpuArch>& other = shared.in_second.at(name);
      kernels.insert(name);
      first_lacks.merge(lacking(held, other));
      second_lacks.merge(lacking(other, held));
      held_first.insert(held.begin(), held.end());
      held_second.insert(other.begin(), other.end());
    }
    Finding finding = begin(meeting, kernels);
    finding.severity = std::min(finding.severity, Severity::Warning);
    finding.message = fmt::format("{} and {} register {} under one address, for different GPUs", meeting.first.name,
                                  meeting.second.name, words(kernels));
    finding.cause = {"one-address-for-two-kernels",
                     "both export the kernel's host function, and the CUDA runtime identifies a kernel by its address",
                     {}};
    finding.sites.front().notes.push_back("has it for " + gpu_arch_names(held_first));
    finding.sites.back().notes.push_back("has it for " + gpu_arch_names(held_second));
    const auto note = [&](const LoadedFile& file, const std::set<GpuArch>& gpus) {
      if (!gpus.empty())
        finding.notes.push_back(
            fmt::format("where the kernel of {} is registered first, both files launch it, and on {} "
                        "both fail: no kernel image",
                        base_name(file.name), gpu_arch_names(gpus)));
    };
    note(meeting.first, first_lacks);
    note(meeting.second, second_lacks);
    finish(finding, meeting);
    finding.fixes.push_back({"compile both for the same GPUs: the same -gencode options"});
    findings_.push_back(std::move(finding));
  }

  /// Rule 3, of the objects whose finished code has been decoded.
  void compare_objects() {
    struct Kept {
      ObjectId id;
      std::set<GpuArch> held;
    };
    std::map<std::string_view, Kept> kept;
    std::map<std::pair<ObjectId, ObjectId>, std::set<std::string>> shared;
    for (const ObjectId id : linked_relocatables(evidence_.inputs, evidence_.resolution)) {
      const ObjectFacts& object = evidence_.object(id);
      const std::set<GpuArch> held = finished_code(object);
      if (held.empty()) continue;
      const std::set<std::string_view> kernels = kernels_in(object);
      for (const Symbol& symbol : object.symbols) {
        if (!symbol.defined() || !kernels.contains(object.name(symbol))) continue;
        const auto [at, first] = kept.try_emplace(object.name(symbol), Kept{id, held});
        if (!first && !lacking(at->second.held, held).empty()) shared[{at->second.id, id}].emplace(object.name(symbol));
      }
    }
    for (const auto& [objects, kernels] : shared) add_objects(objects.first, objects.second, kernels);
  }

  static std::set<GpuArch> finished_code(const ObjectFacts& object) {
    std::set<GpuArch> held;
    for (const DeviceImage& image : object.device.images)
      if (image.found_in == DeviceContainer::LinkedFatbin && image.language == DeviceLanguage::Cuda)
        held.insert(image.arch);
    return held;
  }

  static std::set<std::string_view> kernels_in(const ObjectFacts& object) {
    std::set<std::string_view> kernels;
    for (const auto& [image, symbols] : object.device.decoded)
      for (const DeviceSymbol& symbol : symbols.symbols)
        if (symbol.defined && symbol.kind == DeviceSymbolKind::Kernel) kernels.insert(symbols.name(symbol));
    return kernels;
  }

  void add_objects(ObjectId first, ObjectId second, const std::set<std::string>& kernels) {
    const std::set<GpuArch> held = finished_code(evidence_.object(first));
    const std::set<GpuArch> others = finished_code(evidence_.object(second));
    const std::string kept = evidence_.object(first).origin.display();
    const std::string other = evidence_.object(second).origin.display();
    Finding finding = make_finding(kStubShared, kernels.size() == 1 ? *kernels.begin() : std::string(),
                                   fmt::format("{} and {} both have {}, and launch that of {}: not for {}", kept, other,
                                               words(kernels), kept, gpu_arch_names(lacking(held, others))));
    finding.severity = Severity::Warning;
    if (kernels.size() > 1) finding.symbols.assign(kernels.begin(), kernels.end());
    finding.sites = {make_object_site(evidence_, first, Role::Kept),
                     make_object_site(evidence_, second, Role::Candidate)};
    finding.sites.front().notes.push_back("holds " + gpu_arch_names(held));
    finding.sites.back().notes.push_back("holds " + gpu_arch_names(others));
    finding.cause = {"one-address-for-two-kernels",
                     "the linker keeps one host function of the kernel, and the runtime the kernel that is registered "
                     "with it first",
                     {}};
    finding.fixes.push_back({"compile both for the same GPUs: the same -gencode options"});
    finding.fixes.push_back(
        {"let each have its own: the defaults of CUDA 13 give templates of kernels a host function "
         "that is local to the object"});
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  std::map<const ObjectFacts*, Functions> exports_;
  std::vector<Finding> findings_;
};

std::vector<Finding> shared_stubs(const Evidence& evidence) { return SharedStubs(evidence).run(); }

}  // namespace

RuleFamily device_loading_rules() { return {{&kRegistrarShared, &kStubShared}, {{shared_registrars}, {shared_stubs}}}; }

}  // namespace elfaudit
