// Looks machines up in their table, and builds a row for each linker from its own.

#include "target/traits.hpp"

#include <elf.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace elfaudit {
namespace {

constexpr std::string_view kRelIplt = "__rel_iplt_start __rel_iplt_end";
constexpr std::string_view kRelaIplt = "__rela_iplt_start __rela_iplt_end";
// ld/emulparams/armelf.sh and aarch64elf.sh, OTHER_BSS_SYMBOLS and so on
constexpr std::string_view kArmScript = "__data_start __bss_start__ _bss_end__ __bss_end__ __end__";
constexpr std::string_view kRiscvScript = "__DATA_BEGIN__ __SDATA_BEGIN__ __BSS_END__";
// 64-bit PowerPC ELF ABI, "Register Saving and Restoring Functions": with the first register of each.
constexpr std::string_view kPpcSavers = "_savegpr0_14 _restgpr0_14 _savegpr1_14 _restgpr1_14";
constexpr std::string_view kPpcVectorSavers = "_savefpr_14 _restfpr_14 _savevr_20 _restvr_20";

/// By `1 << (type - first)`.
constexpr std::uint64_t bits(std::initializer_list<unsigned> types, unsigned first = 0) {
  std::uint64_t all = 0;
  for (const unsigned type : types) all |= std::uint64_t{1} << (type - first);
  return all;
}
constexpr std::uint64_t kAarch64Accesses =
    bits({R_AARCH64_LDST8_ABS_LO12_NC, R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST32_ABS_LO12_NC,
          R_AARCH64_LDST64_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC},
         R_AARCH64_ABS64);

constexpr MachineTraits kMachines[] = {
#include "target/machine_traits.def"
};

/// The first row whose list has the word.
Machine with_word(std::string_view MachineTraits::*words, std::string_view word) {
  const auto* const row = std::find_if(std::begin(kMachines), std::end(kMachines),
                                       [&](const MachineTraits& machine) { return has_word(machine.*words, word); });
  return row == std::end(kMachines) ? Machine{} : row->machine;
}

}  // namespace

std::span<const MachineTraits> machines() { return kMachines; }

const MachineTraits* find_machine(const Machine& machine) {
  const auto* const row = std::find_if(std::begin(kMachines), std::end(kMachines),
                                       [&](const MachineTraits& one) { return one.machine == machine; });
  return row == std::end(kMachines) ? nullptr : row;
}

const MachineTraits& traits_of(const Machine& machine) {
  static constexpr MachineTraits kUnknown{};
  if (const MachineTraits* row = find_machine(machine)) return *row;
  const auto* const row = std::find_if(std::begin(kMachines), std::end(kMachines),
                                       [&](const MachineTraits& one) { return one.machine.number == machine.number; });
  return row == std::end(kMachines) ? kUnknown : *row;
}

Machine machine_of_emulation(std::string_view emulation) { return with_word(&MachineTraits::emulations, emulation); }

Machine machine_of_format(std::string_view format) { return with_word(&MachineTraits::formats, format); }

Machine machine_of_host(std::string_view host) { return with_word(&MachineTraits::platform, host); }

Machine machine_of_triple(std::string_view triple) {
  const std::string_view name = triple.substr(0, triple.find('-'));
  if (name.empty()) return {};
  const auto is_called = [&](const MachineTraits& machine) {
    return has_word(machine.triples, name) || machine.multiarch.substr(0, machine.multiarch.find('-')) == name;
  };
  const auto* const row = std::find_if(std::begin(kMachines), std::end(kMachines), is_called);
  return row == std::end(kMachines) ? Machine{} : row->machine;
}

std::string_view emulation_of_driver_option(std::string_view option) {
  const MachineTraits& row = traits_of(with_word(&MachineTraits::driver_option, option));
  return row.emulations.substr(0, row.emulations.find(' '));
}

std::string_view machine_name(const MachineTraits& machine) {
  if (!machine.name.empty()) return machine.name;
  if (!machine.multiarch.empty()) return machine.multiarch.substr(0, machine.multiarch.find('-'));
  return machine.emulations.empty() ? "this machine" : machine.emulations.substr(0, machine.emulations.find(' '));
}

const MachineTraits& host_machine() {
  static const MachineTraits& host = [&]() -> const MachineTraits& {
    struct utsname name {};
    return traits_of(::uname(&name) == 0 ? machine_of_host(name.machine) : Machine{});
  }();
  return host;
}

// --- A row for each linker, from the table.

namespace {

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr LinkerTraits kColumns[] = {
    {LinkerKind::Bfd, 0, "GNU ld", ResolutionRules::GnuLd,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) bfd,
#include "target/linker_traits.def"
    },
    {LinkerKind::Gold, 0, "gold", ResolutionRules::Gold,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) gold,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 0, "lld 14", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld14,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 15, "lld 15", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld15,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 16, "lld", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld16,
#include "target/linker_traits.def"
    },
    {LinkerKind::Mold, 0, "mold", ResolutionRules::Mold,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) mold,
#include "target/linker_traits.def"
    },
};
// clang-format on

}  // namespace

const LinkerTraits& traits_of(LinkerKind linker, int version) {
  const LinkerTraits* found = &kColumns[0];
  for (const LinkerTraits& column : kColumns)
    if (column.kind == linker && (version == 0 || column.since <= version)) found = &column;
  return *found;
}

std::span<const LinkerTraits> all_linkers() { return kColumns; }

std::string_view letters_of(std::optional<LinkerKind> linker, int version) {
  if (!linker) return "bBglLNmM";
  switch (*linker) {
    case LinkerKind::Bfd:
      return "bB";
    case LinkerKind::Gold:
      return "g";
    case LinkerKind::Mold:
      return "mM";
    case LinkerKind::Lld:
      break;
  }
  if (version == 0) return "lLN";
  return version <= 14 ? "l" : version < 19 ? "lL" : version == 19 ? "L" : "LN";
}

}  // namespace elfaudit
