// The names that a linker defines itself. GNU ld: its default scripts (ld --verbose), ldemul and the code of each
// target (bfd/elf64-ppc.c); gold: defstd.cc; lld: Writer.cpp; mold: its output chunks. Every list was tried, for every
// kind of output: tests/link/test_undefined.py, and for other machines tests/link/test_cross.py. Asked only about names
// that nothing defines.

#include <elf.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "resolve/resolve.hpp"
#include "support/strings.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
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

/// The number that a name ends in, behind the last "_"; of "_restgpr0_29", the code with which functions compiled for size
/// restore registers 29 to 31, the first register's.
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

bool answered_by_linker(const Unresolved& name, const LinkJob& job, const MachineTraits& machine, bool dynamic) {
  // GNU ld makes these two for relocations of the output's own machine.
  if (name.foreign && is_among(name.symbol, {"_GLOBAL_OFFSET_TABLE_", "_DYNAMIC"})) return false;
  const MachineTraits& output = name.foreign ? traits_of(machine_of_format(job.foreign_to)) : machine;
  if (!defined_by_linker(name.symbol, job, output, dynamic)) return false;
  if (name.option.empty() || !traits_of(job).stops_at_expression) return true;
  if (name.symbol == "_GLOBAL_OFFSET_TABLE_") return !name.references.empty();
  return !is_among(name.symbol, {"__ehdr_start", "_TLS_MODULE_BASE_"});
}

}  // namespace elfaudit
