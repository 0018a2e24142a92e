// Cubins: ELF files of NVIDIA GPUs (e_machine EM_CUDA), ABI versions 7 (CUDA 12 and before) and 8 (CUDA 13). Format:
// docs/device-code.md "Cubins".
#pragma once

#include <cstddef>
#include <span>

#include "elf/elf_file.hpp"
#include "elf/elf_sections.hpp"
#include "elfaudit/device.hpp"
#include "elfaudit/origin.hpp"

namespace elfaudit {

/// ElfFile::open for bytes that may not be written. Throws InputError.
ElfFile open_constant(const Origin& origin, std::span<const std::byte> bytes);

/// The GPU a cubin is for: its number from the ELF header, the suffix from the note of its compiler. Throws InputError.
GpuArch cubin_arch(const ElfSections& cubin);

/// Throws InputError with offsets in the payload.
DeviceSymbols read_cubin_symbols(const Origin& origin, std::span<const std::byte> cubin);

}  // namespace elfaudit
