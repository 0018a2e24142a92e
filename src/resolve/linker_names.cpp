// The names that a linker defines itself. GNU ld: its default scripts (ld --verbose), ldemul and the code of each
// target (bfd/elf64-ppc.c); gold: defstd.cc; lld: Writer.cpp; mold: its output chunks. Every list was tried, for every
// kind of output: tests/link/test_undefined.py, and for other machines tests/link/test_cross.py. Asked only about names
// that nothing defines.

#include <elf.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "resolve/resolve.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

/// The link that is asked about.
struct Asked {
  const LinkJob& job;
  std::uint16_t machine;  ///< e_machine
  bool dynamic;           ///< a shared object is on the line
};

bool contains(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Where the parts of the output begin and end.
bool is_layout_name(std::string_view name) {
  return contains(name, {"_end", "end", "_edata", "edata", "_etext", "etext", "__bss_start"});
}

bool is_array_bound(std::string_view name) {
  return contains(name, {"__init_array_start", "__init_array_end", "__fini_array_start", "__fini_array_end",
                         "__preinit_array_start", "__preinit_array_end"});
}

/// Of a machine whose relocations hold no addend the names have no "a". GNU ld's scripts for 32-bit ARM have both.
bool is_relative_plt_bound(std::string_view name, const Asked& link) {
  const bool no_addend = link.machine == EM_386 || link.machine == EM_ARM;
  const bool addend = !no_addend || (link.machine == EM_ARM && link.job.linker == LinkerKind::Bfd);
  return (addend && contains(name, {"__rela_iplt_start", "__rela_iplt_end"})) ||
         (no_addend && contains(name, {"__rel_iplt_start", "__rel_iplt_end"}));
}

/// "_restgpr0_29", the code with which functions compiled for size save and restore registers 29 to 31: of the name the
/// first register's number is left.
std::optional<int> register_behind(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || name.size() != stem.size() + 2) return std::nullopt;
  const char tens = name[stem.size()];
  const char ones = name[stem.size() + 1];
  if (tens < '0' || tens > '9' || ones < '0' || ones > '9') return std::nullopt;
  return (tens - '0') * 10 + (ones - '0');
}

/// 64-bit PowerPC ELF ABI, "Register Saving and Restoring Functions": the linker makes them. lld has those of the
/// general registers alone, mold 1.10 has none.
bool saves_registers(std::string_view name, LinkerKind linker) {
  if (linker == LinkerKind::Mold) return false;
  const auto within = [&](std::initializer_list<std::string_view> stems, int first) {
    return std::any_of(stems.begin(), stems.end(), [&](std::string_view stem) {
      const std::optional<int> number = register_behind(name, stem);
      return number && *number >= first && *number <= 31;
    });
  };
  if (within({"_savegpr0_", "_restgpr0_", "_savegpr1_", "_restgpr1_"}, 14)) return true;
  return linker != LinkerKind::Lld && (within({"_savefpr_", "_restfpr_"}, 14) || within({"_savevr_", "_restvr_"}, 20));
}

/// What only one target's linkers define.
bool of_target(std::string_view name, const Asked& link) {
  const bool program = link.job.output == OutputKind::Executable;
  // GNU ld has the names of the last two in its script.
  const bool has_script = link.job.linker != LinkerKind::Bfd || !link.job.replaces_default_script;
  switch (link.machine) {
    case EM_PPC64:
      return name == ".TOC." || saves_registers(name, link.job.linker);
    case EM_RISCV:
      return name == "__global_pointer$" && program && has_script;
    case EM_ARM:
      return has_script && contains(name, {"__exidx_start", "__exidx_end"});
    default:
      return false;
  }
}

/// What GNU ld's default script of one target has besides.
bool in_script_of_target(std::string_view name, const Asked& link) {
  switch (link.machine) {
    case EM_ARM:
    case EM_AARCH64:
      return contains(name, {"__data_start", "__bss_start__", "_bss_end__", "__bss_end__", "__end__"});
    case EM_RISCV:
      return link.job.output == OutputKind::Executable &&
             contains(name, {"__DATA_BEGIN__", "__SDATA_BEGIN__", "__BSS_END__"});
    default:
      return false;
  }
}

bool by_bfd(std::string_view name, const Asked& link) {
  // _TLS_MODULE_BASE_ needs a thread-local section, which code that refers to it brings.
  if (name == "_TLS_MODULE_BASE_") return true;
  if (link.job.replaces_default_script) return false;
  if (name == "__ehdr_start") return true;
  if (is_layout_name(name) || name == "__etext" || in_script_of_target(name, link)) return true;
  if (link.job.output == OutputKind::SharedObject) return false;
  if (contains(name, {"__executable_start", "__tdata_start"}) || is_array_bound(name)) return true;
  return is_relative_plt_bound(name, link) && !link.job.pie;
}

bool by_gold(std::string_view name, const Asked& link) {
  if (is_layout_name(name) || is_array_bound(name) || contains(name, {"__etext", "__executable_start"})) return true;
  if (name == "__ehdr_start") return !link.job.replaces_default_script;
  if (link.dynamic || link.job.output != OutputKind::Executable || link.job.pie) return false;
  return is_relative_plt_bound(name, link);
}

bool by_lld(std::string_view name, const Asked& link) {
  if (contains(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_"})) return true;
  if (is_layout_name(name)) return !link.job.replaces_default_script;
  if (is_relative_plt_bound(name, link)) return link.job.output == OutputKind::Executable && !link.job.pie;
  return is_array_bound(name);
}

bool by_mold(std::string_view name, const Asked& link) {
  return is_layout_name(name) || is_array_bound(name) || is_relative_plt_bound(name, link) ||
         contains(name, {"__ehdr_start", "__executable_start", "__dso_handle", "_TLS_MODULE_BASE_", "_DYNAMIC",
                         "_PROCEDURE_LINKAGE_TABLE_", "__GNU_EH_FRAME_HDR"});
}

}  // namespace

bool exported_by_lld(std::string_view name) {
  return is_layout_name(name) || name.starts_with("__start_") || name.starts_with("__stop_");
}

std::uint16_t machine_of(const std::vector<InputFacts>& inputs) {
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& object : input.objects)
      if (object.machine != 0) return object.machine;
  return 0;
}

bool defined_by_linker(std::string_view name, const LinkJob& job, std::uint16_t machine, bool dynamic) {
  const Asked link{job, machine, dynamic};
  if (name == "_GLOBAL_OFFSET_TABLE_" || of_target(name, link)) return true;
  if (name == "_DYNAMIC" && (dynamic || job.pie || job.output == OutputKind::SharedObject)) return true;
  switch (job.linker) {
    case LinkerKind::Bfd:
      return by_bfd(name, link);
    case LinkerKind::Gold:
      return by_gold(name, link);
    case LinkerKind::Lld:
      return by_lld(name, link);
    case LinkerKind::Mold:
      return by_mold(name, link);
  }
  return false;
}

bool answered_by_linker(const Unresolved& name, const LinkJob& job, std::uint16_t machine, bool dynamic) {
  if (!defined_by_linker(name.symbol, job, machine, dynamic)) return false;
  if (name.option.empty() || !traits_of(job).stops_at_expression) return true;
  if (name.symbol == "_GLOBAL_OFFSET_TABLE_") return !name.references.empty();
  return !contains(name.symbol, {"__ehdr_start", "_TLS_MODULE_BASE_"});
}

}  // namespace elfaudit
