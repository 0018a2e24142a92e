// Resolution -> findings. One file a family of rules; pure functions. docs/rules has a page for each.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"
#include "elfaudit/resolution.hpp"
#include "elfaudit/symbol_report.hpp"
#include "input/build/gpu_flags.hpp"
#include "scan/object_queries.hpp"
#include "stale/stale.hpp"
#include "support/limits.hpp"

namespace elfaudit {

/// The ids of the rule table, in its order, each with `behind` behind it.
std::vector<std::string> rule_ids(std::string_view behind = {});

/// Throws UsageError when there is no rule of that id; `option` is what names it ("severity"), or empty.
void require_rule(const std::string& id, const std::string& option);

class LinkNames;
struct ExportLists;
struct LeftOut;
struct MachineDemands;
struct MixedFunction;
struct Overrun;
struct ShipPolicy;
struct SystemUses;
struct TypeComparison;

/// What every rule sees.
struct Evidence {
  const LinkJob& job;
  const std::vector<InputFacts>& inputs;
  const Resolution& resolution;
  std::span<const Package> packages{};
  std::span<const Image> images{};
  std::span<const int> pythons{};              ///< minor versions of CPython 3 that the user asks for
  std::span<const GpuArch> gpu_archs{};        ///< what the user asks for; empty: nothing
  std::span<const GpuCompile> gpu_compiles{};  ///< the nvcc commands that are known
  std::span<const StaleObject> stale_objects{};
  std::span<const StaleLibrary> stale_libraries{};
  const LoadedLibraries* libraries = nullptr;  ///< what the images load
  /// Is there a function or variable in one of its images? Opens the object: only asked where an error hangs on it.
  std::function<bool(const ObjectFacts&, std::uint32_t image)> holds_device_content = nullptr;
  /// When the loader looks up symbols of a file, by their indices. Opens the file: only asked of what nothing defines.
  std::function<std::vector<LookedUp>(const Origin&, std::span<const std::uint32_t>)> when_looked_up = nullptr;
  /// Does a file define a function or variable of that name for itself alone? Opens the file.
  std::function<bool(const Origin&, std::string_view)> keeps_local = nullptr;
  /// Which of some definitions are written in a header. Opens their objects' debug info and sources.
  std::function<std::vector<SymbolId>(const std::vector<SymbolId>&)> in_headers = nullptr;
  /// Of a link that makes a module of Python: what the interpreter has loaded, and what the loader finds for the
  /// libraries of the link.
  std::span<const ObjectFacts> interpreter{};
  /// Who has functions like those that a device link is missing, by symbol.
  const std::map<std::string, std::vector<DeviceRelative>>* device_relatives = nullptr;
  /// The same link by another linker's rules. Takes as long as the link's own resolution did.
  std::function<Resolution(LinkerKind)> resolve_as = nullptr;
  const TypeComparison* types = nullptr;             ///< where types are compared
  std::span<const Overrun> overruns{};               ///< references that reach past the end of what they bind to
  std::span<const MixedFunction> mixed_functions{};  ///< of a link command
  const ShipPolicy* ship = nullptr;                  ///< limits for the files that ship
  const SystemUses* system_uses = nullptr;           ///< where ShipPolicy::runs_on or oldest-system asks for them
  const MachineDemands* demands = nullptr;           ///< of a link command: its stack, and how far its code reaches
  const ExportLists* export_lists = nullptr;         ///< of --exports; null: not asked for
  const LeftOut* left_out = nullptr;                 ///< of a link command: what it leaves in its archives
  bool data_is_alike = false;                        ///< known of the whole build: see is_data_alike()
  const LinkNames* names = nullptr;  ///< the names of the inputs' symbols as numbers; null: not yet numbered

  const ObjectFacts& object(ObjectId id) const { return inputs[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  const DeviceImage& image(DeviceSymbolId id) const { return object(id.in).device.images[id.image]; }
  const DeviceSymbols& symbols(DeviceSymbolId id) const { return object(id.in).device.decoded.at(id.image); }
  const DeviceSymbol& symbol(DeviceSymbolId id) const { return symbols(id).symbols[id.symbol]; }
};

/// Does a rule that runs, by default or since `enabled` names it, need that?
bool any_needs(bool Rule::*what, const std::vector<std::string>& enabled);

/// Does divergent-definition compare types? Only since `enabled` names it: that reads the debug info of all objects.
bool compares_types(const std::vector<std::string>& enabled);

/// Which part of the rules runs. Objects: those about objects alone, whatever links them.
enum class RuleScope : std::uint8_t { All, Objects };

/// Runs all rules that are on, and those of `enabled` that are off by default. Findings are sorted.
std::vector<Finding> apply_rules(const Evidence& evidence, const std::vector<std::string>& enabled = {},
                                 RuleScope scope = RuleScope::All);

/// What can only be said once places are known: drops what they show to be none, and completes the rest.
void settle_findings(const Resolution& resolution, std::vector<Finding>& findings);

// --- A rule is a row and a function, in the file of its family. What asks for a property of a rule reads its row.

/// Finds what one or more rows say.
struct RuleCheck {
  std::vector<Finding> (*find)(const Evidence&);
  const Rule* only_for = nullptr;  ///< a rule that is off by default
  bool about_objects = false;      ///< RuleScope::Objects
};

struct RuleFamily {
  std::vector<const Rule*> rules;
  std::vector<RuleCheck> checks;
  void (*settle)(const Resolution&, std::vector<Finding>&) = nullptr;  ///< see settle_findings()
};

RuleFamily link_rules();
RuleFamily definition_rules();
RuleFamily divergence_rules();
RuleFamily device_rules();
RuleFamily gpu_rules();
RuleFamily library_rules();
RuleFamily symbols_at_load_rules();
RuleFamily copies_at_load_rules();
RuleFamily device_loading_rules();
RuleFamily instruction_set_rules();
RuleFamily left_out_rules();
RuleFamily machine_rules();
RuleFamily shared_identity_rules();
RuleFamily dependency_rules();
RuleFamily export_rules();
RuleFamily stale_rules();
RuleFamily python_rules();
RuleFamily platform_rules();
RuleFamily system_rules();
RuleFamily lto_rules();

// The rows that more than one file makes findings of.
extern const Rule kUndefinedSymbol;
extern const Rule kUnreadableInput;
extern const Rule kSplitState;
extern const Rule kSuppressionEnded;
extern const Rule kSuppressionUnused;
extern const Rule kBaselineOutdated;

Finding unreadable_input(const InputError& error);  ///< found later than by the rule

/// "_C" where an object that a link takes defines PyInit__C; empty for other links.
std::string module_made_by(const std::vector<InputFacts>& inputs, const Resolution& resolution);

/// Into Resolution::unresolved: names that the link of a Python module lets pass and that nothing known to be loaded
/// defines. Empty for other links.
std::vector<std::size_t> lost_at_import(const Evidence& evidence);

/// What the rules about Python don't know of the files: for Judgement::not_judged.
std::set<std::string> python_not_judged(const Evidence& evidence);

/// The same about --runs-on.
std::set<std::string> systems_not_judged(const Evidence& evidence);

/// Is the name's absence reported by device_links_missing()?
bool reported_as_missing_device_link(const LinkJob& job, const Unresolved& name);

/// Host and device findings about one variable or function are one story, of one link or of the links of a build: drops
/// the host duplicates that `findings` already report as device duplicates, and notes them there.
void merge_host_and_device(std::vector<Finding>& findings);

/// Does it keep the link's output from being made?
bool stops_link(const Finding& finding);

/// Most severe first, then by rule, symbol and sites.
void sort_findings(std::vector<Finding>& findings);

/// True when a rule has found more than an audit keeps, so that it can stop.
inline bool is_full(const std::vector<Finding>& findings) { return findings.size() > limits::kFindings; }

/// A finding about `symbol` with the rule's own severity and no sites yet.
Finding make_finding(const Rule& rule, std::string_view symbol, std::string message);

/// A file or member; `note`: empty for none.
Site make_file_site(Origin origin, std::string note = {}, Role role = Role::Candidate);

/// An object, and why its member takes part in the link.
Site make_object_site(const Evidence& evidence, ObjectId id, Role role);

/// The site of a definition, its place still unknown, and why its member takes part in the link.
Site make_site(const Evidence& evidence, SymbolId id, Role role);

/// some_of() symbols, demangled.
std::string some_symbols(const std::vector<std::string>& names, std::size_t most);

/// Who would define it, and what to write: the cause, the fixes and the notes of a finding about it.
void note_suppliers(const Unresolved& name, Finding& finding);

/// Everything about one symbol but its places in the source, which locate fills in.
SymbolReport symbol_report(const Evidence& evidence, std::string_view symbol);

/// The mangled names of the links' symbols, each once.
std::vector<std::string_view> symbol_names(const std::vector<Evidence>& links);

/// Those of them that `spelling` may mean, and those near it: see elfaudit/symbol_report.hpp.
std::vector<std::string> names_spelled(const std::vector<std::string_view>& names, std::string_view spelling);
std::vector<std::string> names_near(const std::vector<std::string_view>& names, std::string_view spelling);

/// Why a definition ended so, for people; empty for references.
std::string reason_of(SymbolResolution resolved_as);

// --- gpu-flag-duplicate, gpu-flag-mismatch: what is wrong with the flags that choose GPUs.

/// `wanted`: the list that the flags should agree with; empty: not known. `list_name`: how the report calls it
/// ("TORCH_CUDA_ARCH_LIST=8.0;9.0"). Commands with the same fault are one finding.
std::vector<Finding> gpu_flag_findings(std::span<const GpuCompile> compiles, std::span<const GpuArch> wanted,
                                       const std::string& list_name);

// --- What the device rules share: sites of device symbols, and one finding for all architectures.

/// The site of a device symbol, and its host shadow or stub, through which debug info knows it.
Site make_device_site(const Evidence& evidence, DeviceSymbolId id, Role role);

/// "__constant__ variable", "kernel"; "symbol" where it isn't known.
std::string kind_phrase(const DeviceSymbol& symbol);

/// Adds "host shadow of a __constant__ variable" where the site is a host symbol that nvcc made for a device symbol, as
/// far as images are decoded.
void note_shadow(const Evidence& evidence, Site& site);

/// Was it made by `nvcc -dlink`? Such an object alone defines what host code of relocatable objects refers to
/// (docs/device-code.md).
bool is_device_link_output(const ObjectFacts& object);

/// "nvcc -dlink -arch=sm_80 a.o b.o -o dlink.o": for the GPUs that the relocatable code in all `objects` is for.
/// `shared`: for a shared object. `files`: their names; empty: not known.
std::string device_link_command(const std::vector<const ObjectFacts*>& objects, bool shared,
                                const std::vector<std::string>& files);

/// A command whose nvlink refuses LTO-IR, because it has no -dlto.
bool refuses_lto_ir(const LinkJob& job);

/// One finding of a device rule: each object once, however many architectures it was seen for.
class DeviceFinding {
 public:
  void add_arch(const GpuArch& arch);
  void add_site(const Evidence& evidence, DeviceSymbolId id, Role role);

  std::size_t sites() const { return sites_.size(); }

  Finding finish(const Rule& rule, std::string_view symbol, std::string message) &&;
  /// "sm_80 and sm_90a"
  std::string arch_list() const;

 private:
  std::vector<GpuArch> archs_;
  std::vector<Site> sites_;
};

}  // namespace elfaudit
