// A row a machine. Sources: elf.h; `ld -V`, `ld --verbose` and bfd/config.bfd of GNU binutils 2.40, lld 19 and mold 1.10 for
// what linkers say; glibc 2.36 (sysdeps/*/ldconfig.h, shlib-versions) for what the loader says; tests/link/test_cross.py
// tries the names with each linker.

#include "target/machine_traits.hpp"

#include <elf.h>

#include <algorithm>

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

constexpr MachineTraits kMachines[] = {
    // clang-format off
    {
        .machine = {EM_X86_64, true},
        .emulations = "elf_x86_64 elf_x86_64_fbsd elf_x86_64_sol2",
        .formats = "elf64-x86-64",
        .macro_starts = "__x86_64 __amd64 __k8",
        .has_macro_table = true,
        .multiarch = "x86_64-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib64/ld-linux-x86-64.so.2",
        .platform = "x86_64",
        .cache_flags = 0x0300,
        .relocations = RelocationRules::X86_64,
        .warns_of_text_relocations = true,
        .relaxed_call = "__tls_get_addr",
        .has_large_commons = true,
    },
    {  // x32
        .machine = {EM_X86_64, false},
        .emulations = "elf32_x86_64",
        .formats = "elf32-x86-64",
        .multiarch = "x86_64-linux-gnux32",
        .interpreter = "/libx32/ld-linux-x32.so.2",
        .platform = "x86_64",
        .cache_flags = 0x0800,
        .relocations = RelocationRules::X86_64,
        .warns_of_text_relocations = true,
        .relaxed_call = "__tls_get_addr",
        .needs_emulation_on = "x86_64",
        .has_large_commons = true,
    },
    {
        .machine = {EM_386, false},
        .emulations = "elf_i386 elf_i386_fbsd",
        .formats = "elf32-i386",
        .driver_option = "-m32",
        .macro_starts = "__i386 __i486 __i586 __i686 __pentium i386",
        .multiarch = "i386-linux-gnu",
        .lib_folder = "lib32",
        .interpreter = "/lib/ld-linux.so.2",
        .platform = "i686",
        .iplt_names = kRelIplt,
        .relaxed_call = "___tls_get_addr",  // with the argument in a register
        .needs_emulation_on = "x86_64",
    },
    {
        .machine = {EM_AARCH64, true},
        .emulations = "aarch64linux aarch64elf aarch64_elf64_le_vec",
        .formats = "elf64-littleaarch64",
        .macro_starts = "__aarch64 __AARCH64",
        .multiarch = "aarch64-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib/ld-linux-aarch64.so.1",
        .platform = "aarch64",
        .cache_flags = 0x0a00,
        .script_names = kArmScript,
        .relocations = RelocationRules::Aarch64,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_AARCH64, true, true},
        .emulations = "aarch64linuxb",
        .formats = "elf64-bigaarch64",
        .lib_folder = "lib64",
        .interpreter = "/lib/ld-linux-aarch64_be.so.1",
        .cache_flags = 0x0a00,
        .script_names = kArmScript,
        .relocations = RelocationRules::Aarch64,
        .stack_is_executable = false,
    },
    {  // ILP32
        .machine = {EM_AARCH64, false},
        .emulations = "aarch64linux32 aarch64elf32",
        .formats = "elf32-littleaarch64",
        .cache_flags = 0x0a00,
        .script_names = kArmScript,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_ARM, false},
        .emulations = "armelf_linux_eabi armelf",
        .formats = "elf32-littlearm",
        .macro_starts = "__arm __ARM _ARM __APCS __THUMB __thumb __SOFTFP",
        .multiarch = "arm-linux-gnueabihf",
        .interpreter = "/lib/ld-linux-armhf.so.3",
        .platform = "v7l",
        .cache_flags = 0x0900,
        .layout_names = "__exidx_start __exidx_end",
        .script_names = kArmScript,
        .iplt_names = kRelIplt,
        .script_iplt_names = kRelaIplt,
        .functions_are_tagged = true,  // Thumb (ARM ELF 5.5.3)
    },
    {
        .machine = {EM_ARM, false, true},
        .emulations = "armelfb_linux_eabi",
        .formats = "elf32-bigarm",
        .cache_flags = 0x0900,
        .layout_names = "__exidx_start __exidx_end",
        .script_names = kArmScript,
        .iplt_names = kRelIplt,
        .script_iplt_names = kRelaIplt,
        .functions_are_tagged = true,
    },
    {
        .machine = {EM_RISCV, true},
        .emulations = "elf64lriscv",
        .formats = "elf64-littleriscv",
        .macro_starts = "__riscv __RISCV",
        .multiarch = "riscv64-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib/ld-linux-riscv64-lp64d.so.1",
        .cache_flags = 0x1000,
        .program_names = "__global_pointer$",
        .script_program_names = kRiscvScript,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_RISCV, true, true},
        .emulations = "elf64briscv",
        .formats = "elf64-bigriscv",
        .lib_folder = "lib64",
        .program_names = "__global_pointer$",
        .script_program_names = kRiscvScript,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_RISCV, false},
        .emulations = "elf32lriscv",
        .formats = "elf32-littleriscv",
        .multiarch = "riscv32-linux-gnu",
        .interpreter = "/lib/ld-linux-riscv32-ilp32d.so.1",
        .cache_flags = 0x1000,
        .program_names = "__global_pointer$",
        .script_program_names = kRiscvScript,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_RISCV, false, true},
        .emulations = "elf32briscv",
        .formats = "elf32-bigriscv",
        .program_names = "__global_pointer$",
        .script_program_names = kRiscvScript,
        .stack_is_executable = false,
    },
    {
        .machine = {EM_PPC64, true},
        .emulations = "elf64lppc",
        .formats = "elf64-powerpcle",
        .macro_starts = "__powerpc __ppc __PPC __POWER _ARCH_ _CALL_ __ALTIVEC __VEC __VSX",
        .multiarch = "powerpc64le-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib64/ld64.so.2",
        .cache_flags = 0x0500,
        .names = ".TOC.",
        .savers = kPpcSavers,
        .vector_savers = kPpcVectorSavers,
        .relaxed_call = "__tls_get_addr",
        .stack_is_executable = false,
        .tls_is_biased = true,  // Power ELF ABI 3.7.2
    },
    {
        .machine = {EM_PPC64, true, true},
        .emulations = "elf64ppc",
        .formats = "elf64-powerpc",
        .multiarch = "powerpc64-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib64/ld64.so.1",
        .cache_flags = 0x0500,
        .names = ".TOC.",
        .savers = kPpcSavers,
        .vector_savers = kPpcVectorSavers,
        .descriptors = ".opd",  // 64-bit PowerPC ELF ABI 1.9, "Function Descriptors"
        .relaxed_call = "__tls_get_addr",
        .stack_is_executable = false,
        .tls_is_biased = true,
    },
    {
        .machine = {EM_PPC, false, true},
        .emulations = "elf32ppclinux elf32ppc",
        .formats = "elf32-powerpc",
        .multiarch = "powerpc-linux-gnu",
        .interpreter = "/lib/ld.so.1",
        .tls_is_biased = true,
    },
    {
        .machine = {EM_PPC, false},
        .emulations = "elf32lppc",
        .formats = "elf32-powerpcle",
        .tls_is_biased = true,
    },
    {
        .machine = {EM_S390, true, true},
        .emulations = "elf64_s390",
        .formats = "elf64-s390",
        .macro_starts = "__s390 __zarch __HTM__",
        .multiarch = "s390x-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib/ld64.so.1",
        .cache_flags = 0x0400,
        .relaxed_by_lld = "__tls_get_offset",
    },
    {
        .machine = {EM_S390, false, true},
        .emulations = "elf_s390",
        .formats = "elf32-s390",
        .multiarch = "s390-linux-gnu",
        .interpreter = "/lib/ld.so.1",
        .relaxed_by_lld = "__tls_get_offset",
    },
    {
        .machine = {EM_LOONGARCH, true},
        .emulations = "elf64loongarch",
        .formats = "elf64-loongarch",
        .macro_starts = "__loongarch",
        .multiarch = "loongarch64-linux-gnu",
        .lib_folder = "lib64",
        .interpreter = "/lib64/ld-linux-loongarch-lp64d.so.1",
        .stack_is_executable = false,
    },
    {
        .machine = {EM_LOONGARCH, false},
        .emulations = "elf32loongarch",
        .formats = "elf32-loongarch",
        .stack_is_executable = false,
    },
    {
        .machine = {EM_SPARCV9, true, true},
        .emulations = "elf64_sparc",
        .formats = "elf64-sparc",
        .macro_starts = "__sparc sparc",
        .multiarch = "sparc64-linux-gnu",
        .lib_folder = "lib64",
    },
    {.machine = {EM_SPARC, false, true}, .emulations = "elf32_sparc", .formats = "elf32-sparc"},
    {
        .machine = {EM_MIPS, true},
        .emulations = "elf64ltsmip",
        .formats = "elf64-tradlittlemips",
        .macro_starts = "__mips _mips mips __MIPS _MIPS MIPS _ABI _R3000",
        .multiarch = "mips64el-linux-gnuabi64",
        .lib_folder = "lib64",
        .functions_are_tagged = true,  // MIPS16
        .tls_is_biased = true,
        .relocations_say_symbol_first = true,
        .got_has_relocations = false,
    },
    {
        .machine = {EM_MIPS, true, true},
        .emulations = "elf64btsmip",
        .formats = "elf64-tradbigmips",
        .lib_folder = "lib64",
        .functions_are_tagged = true,
        .tls_is_biased = true,
        .got_has_relocations = false,
    },
    {
        .machine = {EM_MIPS, false},
        .emulations = "elf32ltsmip",
        .formats = "elf32-tradlittlemips",
        .multiarch = "mipsel-linux-gnu",
        .functions_are_tagged = true,
        .tls_is_biased = true,
        .got_has_relocations = false,
    },
    {
        .machine = {EM_MIPS, false, true},
        .emulations = "elf32btsmip",
        .formats = "elf32-tradbigmips",
        .functions_are_tagged = true,
        .tls_is_biased = true,
        .got_has_relocations = false,
    },
    {.machine = {EM_ALPHA, true}, .emulations = "elf64alpha", .macro_starts = "__alpha", .lib_folder = "lib64"},
    {.machine = {EM_68K, false, true}, .emulations = "m68kelf", .macro_starts = "__m68k"},
    {.machine = {EM_SH, false}, .emulations = "shlelf_linux", .macro_starts = "__sh"},
    {.machine = {EM_PARISC, false, true}, .macro_starts = "__hppa"},
    {.machine = {EM_IA_64, true}, .macro_starts = "__ia64", .lib_folder = "lib64", .stack_is_executable = false},
    {.machine = {EM_ALTERA_NIOS2, false}, .stack_is_executable = false},
    // clang-format on
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

std::string_view emulation_of_driver_option(std::string_view option) {
  const MachineTraits& row = traits_of(with_word(&MachineTraits::driver_option, option));
  return row.emulations.substr(0, row.emulations.find(' '));
}

const MachineTraits& machine_of_macro_table() {
  return *std::find_if(std::begin(kMachines), std::end(kMachines),
                       [](const MachineTraits& machine) { return machine.has_macro_table; });
}

}  // namespace elfaudit
