// The ELF header's promises, held against the size of the file before libelf acts on them: libelf takes a header whose
// section table was cut off for a file without sections, which would make a truncated object look empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "elfaudit/origin.hpp"

namespace elfaudit {

/// Fills `into` with the bytes at `offset` of the image; false when they are not all there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

/// Throws InputError that says which field is wrong (gABI 4 "ELF Header", "Sections").
void check_elf_header(const Origin& origin, std::uint64_t image_size, const ReadAt& read);

}  // namespace elfaudit
