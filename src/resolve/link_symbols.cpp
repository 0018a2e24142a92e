// Fills in results, and knows the names that linkers define.

#include "resolve/link_symbols.hpp"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <optional>
#include <set>

#include "resolve/linked_objects.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- How a result begins and is filled in

namespace {

constexpr std::string_view kWrapper = "__fatbinwrap";
constexpr const char* kRegister = "__cudaRegisterLinkedBinary";

}  // namespace

SettledSymbols::SettledSymbols(const Resolution& resolution) {
  for (const Conflict& conflict : resolution.conflicts) rejected_.insert(conflict.rejected);
}

SymbolResolution SettledSymbols::of(SymbolId at, const ObjectFacts& object, const Symbol& symbol, SymbolId winner,
                                    bool discarded) const {
  if (!symbol.defined()) return SymbolResolution::Reference;
  if (discarded)
    return object.sections[symbol.section].excluded ? SymbolResolution::DiscardedExclude
                                                    : SymbolResolution::DiscardedComdat;
  if (winner == at) return SymbolResolution::Kept;
  if (object.kind != ObjectKind::Relocatable) return SymbolResolution::SharedLost;
  if (symbol.common()) return SymbolResolution::MergedCommon;
  if (!rejected_.empty() && rejected_.contains(at)) return SymbolResolution::Rejected;
  return symbol.weak() ? SymbolResolution::Overridden : SymbolResolution::Ignored;
}

bool only_archives(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  if (job.scope.whole_line || !job.required.empty()) return false;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputFacts& input = inputs[i];
    if (input.kind == InputKind::Unreadable || job.inputs[i].device_only) continue;
    if (input.kind != InputKind::Archive) return false;
    any = true;
  }
  return any;
}

Resolution blank_resolution(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  Resolution blank;
  blank.whole_archives = only_archives(job, inputs);
  for (const InputFacts& input : inputs) {
    blank.linked.emplace_back(input.objects.size(), false);
    auto& symbol_resolutions = blank.symbol_resolutions.emplace_back();
    for (const ObjectFacts& object : input.objects) {
      const bool shared = object.kind != ObjectKind::Relocatable;
      symbol_resolutions.emplace_back(object.symbols.size(),
                                      shared ? SymbolResolution::NotNeeded : SymbolResolution::NotExtracted);
    }
  }
  return blank;
}

std::string_view known_name(const LinkInput& input, const ObjectFacts& facts) {
  if (!facts.soname.empty()) return facts.soname;
  const std::string_view path = facts.origin.path;
  return input.spelled.starts_with("-l") ? path.substr(path.rfind('/') + 1) : path;
}

std::string_view real_name(std::string_view name, const std::set<std::string_view>& wrapped) {
  if (!take_prefix(name, "__real_") || !wrapped.contains(name)) return {};
  return name;
}

bool is_linked_library(const std::vector<InputFacts>& inputs, const Resolution& resolution, std::uint32_t input) {
  for (std::uint32_t earlier = 0; earlier <= input; ++earlier) {
    const std::vector<bool>& linked = resolution.linked[earlier];
    if (!linked.empty() && linked[0] && inputs[earlier].path == inputs[input].path) return true;
  }
  return false;
}

/// Each object's host half needs the linked code and a handle of it; clang makes both, by its name for the source file.
static void define_hip_handles(const std::vector<InputFacts>& inputs, DeviceLinkObject& made) {
  std::set<std::string_view> names;
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& facts : input.objects)
      for (const Symbol& symbol : facts.symbols)
        if (const std::string_view name = facts.name(symbol);
            !symbol.defined() && (name.starts_with("__hip_fatbin") || name.starts_with("__hip_gpubin_handle")))
          names.insert(name);
  made.defines.assign(names.begin(), names.end());
}

// For each device-linked object, members of archives included, it
//
//  1. defines __cudaRegisterLinkedBinary_X, which that object refers to, and
//  2. refers to __fatbinwrap_X, which that object defines: so the host link extracts every member with device code.
//
// Found by experiment with CUDA 13.0. X is the module's id, the rest of the name.
DeviceLinkObject device_link_object(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  DeviceLinkObject made;
  if (!job.device_linked || !job.device) return made;
  if (job.device->linker == DeviceLinker::HipLink) {
    define_hip_handles(inputs, made);
    return made;
  }
  for (const std::uint32_t input : job.device->order) {
    for (const ObjectFacts& facts : inputs[input].objects) {
      if (facts.kind != ObjectKind::Relocatable || facts.device.containers == 0) continue;
      for (const Symbol& symbol : facts.symbols) {
        const std::string_view name = facts.name(symbol);
        if (!symbol.defined() || !name.starts_with(kWrapper)) continue;
        made.defines.push_back(kRegister + std::string(name.substr(kWrapper.size())));
        // nvlink drops the device runtime when no kernel launches another; then nothing refers to it.
        if (!is_device_runtime(facts.origin)) made.needs.emplace_back(name);
      }
    }
  }
  if (!made.defines.empty())
    made.needs.insert(made.needs.end(),
                      {"__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary"});
  return made;
}

SoleDefinitions::SoleDefinitions(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                                 const Resolution& resolution)
    : names_(names) {
  if (!job.assignments.empty() || !job.wrapped.empty() || !job.versions.empty() || job.device_linked) return;
  definitions_.resize(names.size());
  for (const ObjectId id : linked_objects(inputs, resolution)) {
    const std::vector<Symbol>& symbols = object_of(inputs, id).symbols;
    for (std::uint32_t s = 0; s < symbols.size(); ++s) {
      if (!symbols[s].defined()) continue;
      std::uint8_t& count = definitions_[names.of({id, s})];
      count = static_cast<std::uint8_t>(std::min(count + 1, 2));
    }
  }
}

void settle_resolutions(const std::vector<InputFacts>& inputs, Resolution& resolution, const SoleDefinitions& sole,
                        const std::function<SymbolId(SymbolId)>& winner,
                        const std::function<bool(SymbolId)>& discarded) {
  const SettledSymbols settled(resolution);
  for (const ObjectId id : linked_objects(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      SymbolResolution& resolved_as = resolution.symbol_resolutions[id.input][id.object][s];
      const SymbolId at{id, s};
      const Symbol& symbol = object.symbols[s];
      if (symbol.defined() && sole.is_kept(at, object, symbol)) {
        resolved_as = SymbolResolution::Kept;
        continue;
      }
      const bool may_go = symbol.defined() && object.kind == ObjectKind::Relocatable && !symbol.common();
      const bool gone = may_go && discarded(at);
      const SymbolId won = symbol.defined() && !gone ? winner(at) : SymbolId{};
      resolved_as = settled.of(at, object, symbol, won, gone);
      assert(resolved_as != SymbolResolution::NotExtracted && "every global of a linked object is resolved");
    }
  }
}

UndefinedName& UndefinedNames::name(std::uint32_t id, std::string_view symbol) {
  if (id >= slots_.size()) slots_.resize(id + 1, kNone);
  if (slots_[id] == kNone) {
    slots_[id] = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back().symbol = symbol;
  }
  return names_[slots_[id]];
}

void UndefinedNames::each_symbol(const std::function<void(SymbolId, const ObjectFacts&, const Symbol&)>& look) const {
  for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) look({id, s}, object, object.symbols[s]);
  }
}

void UndefinedNames::finish() { std::ranges::sort(names_, {}, &UndefinedName::symbol); }

// --- The names that a linker defines itself. GNU ld: its default scripts (ld --verbose), ldemul and the code of each
// target (bfd/elf64-ppc.c); gold: defstd.cc; lld: Writer.cpp; mold: its output chunks. Every list was tried, for every
// kind of output: tests/link/test_undefined.py, and for other machines tests/link/test_cross.py. Asked only about names
// that nothing defines.

namespace {

/// The link that is asked about.
struct Asked {
  const LinkJob& job;
  const MachineTraits& machine;
  bool dynamic;  ///< a shared object is on the line
};

/// Where the parts of the output begin and end.
bool is_layout_name(std::string_view name) {
  return is_among(name, {"_end", "end", "_edata", "edata", "_etext", "etext", "__bss_start"});
}

bool is_array_bound(std::string_view name) {
  return is_among(name, {"__init_array_start", "__init_array_end", "__fini_array_start", "__fini_array_end",
                         "__preinit_array_start", "__preinit_array_end"});
}

bool is_relative_plt_bound(std::string_view name, const Asked& link) {
  const bool in_script = traits_of(link.job).script_is_whole && has_word(link.machine.script_iplt_names, name);
  return in_script || has_word(link.machine.iplt_names, name);
}

/// The number that a name ends in, behind the last "_"; of "_restgpr0_29", the code with which functions compiled for
/// size restore registers 29 to 31, the first register's.
std::optional<int> register_of(std::string_view name) {
  if (name.size() < 3 || name[name.size() - 3] != '_') return std::nullopt;
  const char tens = name[name.size() - 2];
  const char ones = name[name.size() - 1];
  if (tens < '0' || tens > '9' || ones < '0' || ones > '9') return std::nullopt;
  return (tens - '0') * 10 + (ones - '0');
}

/// Is the name one of `savers`, each of which is the first of its kind, or one of the same kind for a later register?
bool saves_registers(std::string_view name, std::string_view savers) {
  const std::optional<int> number = register_of(name);
  if (!number || *number > 31) return false;
  const std::string_view stem = name.substr(0, name.size() - 2);
  return any_word(savers, [&](std::string_view first) {
    return first.substr(0, first.size() - 2) == stem && register_of(first) <= number;
  });
}

/// What only one machine's linkers define.
bool of_machine(std::string_view name, const Asked& link) {
  const MachineTraits& machine = link.machine;
  const LinkerTraits& linker = traits_of(link.job);
  if (has_word(machine.names, name)) return true;
  if (linker.saves_registers && saves_registers(name, machine.savers)) return true;
  if (linker.saves_vector_registers && saves_registers(name, machine.vector_savers)) return true;
  if (linker.script_is_whole && link.job.replaces_default_script) return false;
  return has_word(machine.layout_names, name) ||
         (link.job.output == OutputKind::Executable && has_word(machine.program_names, name));
}

/// What GNU ld's default script of one machine has besides.
bool in_script_of_machine(std::string_view name, const Asked& link) {
  return has_word(link.machine.script_names, name) ||
         (link.job.output == OutputKind::Executable && has_word(link.machine.script_program_names, name));
}

bool by_bfd(std::string_view name, const Asked& link) {
  // _TLS_MODULE_BASE_ needs a thread-local section, which code that refers to it brings.
  if (name == "_TLS_MODULE_BASE_") return true;
  if (link.job.replaces_default_script) return false;
  // -N and -n leave the headers out of memory, but for a dynamic section's sake.
  if (name == "__ehdr_start") return link.dynamic || !link.job.warnings.one_segment;
  if (is_layout_name(name) || name == "__etext" || in_script_of_machine(name, link)) return true;
  if (link.job.output == OutputKind::SharedObject) return false;
  if (is_among(name, {"__executable_start", "__tdata_start"}) || is_array_bound(name)) return true;
  return is_relative_plt_bound(name, link) && !link.job.pie;
}

bool by_gold(std::string_view name, const Asked& link) {
  if (has_word(link.machine.gold_names, name)) return true;
  if (name == "_TLS_MODULE_BASE_") return true;  // as for GNU ld
  if (is_layout_name(name) || is_array_bound(name) || is_among(name, {"__etext", "__executable_start"})) return true;
  if (name == "__ehdr_start") return !link.job.replaces_default_script;
  if (link.dynamic || link.job.output != OutputKind::Executable || link.job.pie) return false;
  return is_relative_plt_bound(name, link);
}

bool by_lld(std::string_view name, const Asked& link) {
  if (is_among(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_"})) return true;
  if (is_layout_name(name)) return !link.job.replaces_default_script;
  if (is_relative_plt_bound(name, link)) return link.job.output == OutputKind::Executable && !link.job.pie;
  return is_array_bound(name);
}

bool by_mold(std::string_view name, const Asked& link) {
  return is_layout_name(name) || is_array_bound(name) || is_relative_plt_bound(name, link) ||
         is_among(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_", "_DYNAMIC",
                         "_PROCEDURE_LINKAGE_TABLE_", "__GNU_EH_FRAME_HDR"});
}

}  // namespace

bool exported_by_lld(std::string_view name) {
  return is_layout_name(name) || name.starts_with("__start_") || name.starts_with("__stop_");
}

const MachineTraits& machine_of(const ObjectFacts& object) {
  return traits_of(Machine{object.machine, object.is_64, object.big_endian});
}

const MachineTraits& machine_of(const std::vector<InputFacts>& inputs) {
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      if (object.machine != 0) return machine_of(object);
  return traits_of(Machine{});
}

bool defined_by_linker(std::string_view name, const LinkJob& job, const MachineTraits& machine, bool dynamic) {
  const Asked link{job, machine, dynamic};
  if (name == "_GLOBAL_OFFSET_TABLE_" || of_machine(name, link)) return true;
  if (name == "_DYNAMIC" && (dynamic || job.pie || job.output == OutputKind::SharedObject)) return true;
  switch (traits_of(job).rules) {
    case ResolutionRules::GnuLd:
      return by_bfd(name, link);
    case ResolutionRules::Gold:
      return by_gold(name, link);
    case ResolutionRules::Lld:
      return by_lld(name, link);
    case ResolutionRules::Mold:
      return by_mold(name, link);
  }
  return false;
}

bool answered_by_linker(const UndefinedName& name, const LinkJob& job, const MachineTraits& machine, bool dynamic) {
  // GNU ld makes these two for relocations of the output's own machine.
  if (name.foreign && is_among(name.symbol, {"_GLOBAL_OFFSET_TABLE_", "_DYNAMIC"})) return false;
  const MachineTraits& output = name.foreign ? traits_of(machine_of_format(job.foreign_to)) : machine;
  if (!defined_by_linker(name.symbol, job, output, dynamic)) return false;
  if (name.option.empty() || !traits_of(job).stops_at_expression) return true;
  if (name.symbol == "_GLOBAL_OFFSET_TABLE_") return !name.references.empty();
  return !is_among(name.symbol, {"__ehdr_start", "_TLS_MODULE_BASE_"});
}

}  // namespace elfaudit
