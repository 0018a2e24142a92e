// Resolution -> findings. One file a family of rules; pure functions. docs/rules has a page for each.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/account.hpp"
#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"
#include "elfaudit/resolution.hpp"
#include "input/build/gpu_flags.hpp"
#include "scan/object_queries.hpp"
#include "stale/stale.hpp"

namespace elfaudit {

/// Throws UsageError when there is no rule of that id; `where` begins the message ("--enable typo-id").
void require_rule(const std::string& id, const std::string& where);

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
  /// Which of some definitions are written in a header. Opens their objects' debug info and sources.
  std::function<std::vector<SymbolId>(const std::vector<SymbolId>&)> in_headers = nullptr;
  std::span<const ObjectFacts> interpreter{};  ///< of a link that makes a module of Python: see module_links()
  /// Who has functions like those that a device link is missing, by symbol.
  const std::map<std::string, std::vector<std::string>>* device_kin = nullptr;

  const ObjectFacts& object(ObjectId id) const { return inputs[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  const DeviceImage& image(DeviceSymbolId id) const { return object(id.in).device.images[id.image]; }
  const DeviceSymbols& symbols(DeviceSymbolId id) const { return object(id.in).device.decoded.at(id.image); }
  const DeviceSymbol& symbol(DeviceSymbolId id) const { return symbols(id).symbols[id.symbol]; }
};

/// Every rule there is, by id.
std::span<const Rule> rule_table();

/// The row of `id`, which must exist.
const Rule& rule(std::string_view id);

/// Runs all rules that are on, and those of `enabled` that are off by default. Findings are sorted.
std::vector<Finding> apply_rules(const Evidence& evidence, const std::vector<std::string>& enabled = {});

// The families.
std::vector<Finding> duplicate_definitions(const Evidence& evidence);
std::vector<Finding> undefined_symbols(const Evidence& evidence);
std::vector<Finding> module_links(const Evidence& evidence);
std::vector<Finding> refused_links(const Evidence& evidence);
std::vector<Finding> fatal_warnings(const Evidence& evidence);
std::vector<Finding> relocations_not_pic(const Evidence& evidence);
std::vector<Finding> shadowed_definitions(const Evidence& evidence);
std::vector<Finding> unreadable_inputs(const Evidence& evidence);
Finding unreadable_input(const InputError& error);  ///< found later than by the rule
std::vector<Finding> device_duplicates(const Evidence& evidence);
std::vector<Finding> device_mismatches(const Evidence& evidence);
std::vector<Finding> device_undefined_symbols(const Evidence& evidence);
std::vector<Finding> device_links_missing(const Evidence& evidence);
std::vector<Finding> device_code_dropped(const Evidence& evidence);
std::vector<Finding> split_states(const Evidence& evidence);
std::vector<Finding> needed_libraries(const Evidence& evidence);
std::vector<Finding> unsafe_runpaths(const Evidence& evidence);
std::vector<Finding> unmet_versions(const Evidence& evidence);
std::vector<Finding> duplicated_runtimes(const Evidence& evidence);
std::vector<Finding> unloadable_symbols(const Evidence& evidence);
std::vector<Finding> split_loaded_states(const Evidence& evidence);
std::vector<Finding> requested_architectures(const Evidence& evidence);
std::vector<Finding> differing_architectures(const Evidence& evidence);
std::vector<Finding> gpu_flags(const Evidence& evidence);
std::vector<Finding> stale_objects(const Evidence& evidence);
std::vector<Finding> untracked_headers(const Evidence& evidence);
std::vector<Finding> python_abis(const Evidence& evidence);
std::vector<Finding> python_modules(const Evidence& evidence);

/// "_C" where an object that a link takes defines PyInit__C; empty for other links.
std::string module_made_by(const std::vector<InputFacts>& inputs, const Resolution& resolution);

/// Is the name's absence told by device_links_missing()?
bool told_as_missing_device_link(const LinkJob& job, const Unresolved& name);

/// Drops the split states of variables that the source says are static, and tells of which that isn't known.
void settle_split_states(const Resolution& resolution, std::vector<Finding>& findings);

/// Every strong definition, to be settled once its place is known.
std::vector<Finding> header_definitions(const Evidence& evidence);

/// Drops the candidates that are in no header, and those that are told as duplicates.
void settle_header_definitions(std::vector<Finding>& findings);

/// Host and device findings about one variable or function are one story, of one link or of the links of a build: drops
/// the host duplicates that `findings` already tell as device duplicates, and notes them there.
void join_host_and_device(std::vector<Finding>& findings);

/// Does it keep the link's output from being made?
bool stops_link(const Finding& finding);

/// Most severe first, then by rule, symbol and sites.
void sort_findings(std::vector<Finding>& findings);

/// A finding about `symbol` with the rule's own severity and no sites yet.
Finding make_finding(std::string_view rule_id, std::string_view symbol, std::string message);

/// An object, and why its member takes part in the link.
Site make_object_site(const Evidence& evidence, ObjectId id, Role role);

/// The site of a definition, its place still unknown, and why its member takes part in the link.
Site make_site(const Evidence& evidence, SymbolId id, Role role);

/// Everything about one symbol but its places in the source, which locate fills in.
Account account_of(const Evidence& evidence, std::string_view symbol);

/// Who mentions it in device code, in link order.
std::vector<Mention> device_mentions(const Evidence& evidence, std::string_view symbol);

/// Why a definition ended so, for people; empty for references.
std::string reason_of(Fate fate);

// --- gpu-flag-duplicate, gpu-flag-mismatch: what is wrong with the flags that choose GPUs.

/// `wanted`: the list that the flags should agree with; empty: not known. `list_name`: how the report calls it
/// ("TORCH_CUDA_ARCH_LIST=8.0;9.0"). Commands with the same fault are one finding.
std::vector<Finding> gpu_flag_findings(std::span<const GpuCompile> compiles, std::span<const GpuArch> wanted,
                                       const std::string& list_name);

}  // namespace elfaudit
