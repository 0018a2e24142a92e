// When the dynamic loader looks up what a file needs: a function of a lazily bound table at its first call, everything
// else when the file is loaded, and what no relocation uses never.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elfaudit/origin.hpp"

namespace elfaudit {

enum class LookedUp : std::uint8_t { Never, AtLoad, AtFirstCall };

/// For each of `symbols`, indices into the file's .dynsym. AtLoad where that is not known (packed relocations, MIPS).
/// Format: gABI 5 "Dynamic Section" (DT_JMPREL, DF_BIND_NOW), 4 "Relocation". Throws InputError.
std::vector<LookedUp> when_looked_up(const Origin& origin, std::span<const std::uint32_t> symbols);

}  // namespace elfaudit
