// The symbol index of an archive ("armap") in its four forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scan/archive.hpp"

namespace elfaudit {

enum class IndexForm : std::uint8_t { Gnu32, Gnu64, Bsd32, Bsd64 };

/// The form that the special member `name` ("/", "/SYM64/", "__.SYMDEF SORTED") has; nothing when it is no index.
std::optional<IndexForm> index_form(std::string_view name);

/// How many of an index's `size` bytes are read for `use`, by its first eight.
std::uint64_t index_bytes_read(std::span<const std::byte> first, std::uint64_t size, IndexForm form, IndexUse use);

/// Fills in what `use` asks for from as many bytes of the index. Returns what is wrong with it, empty when it is sound;
/// then the archive is left without an index. Archive::members must be complete.
std::string read_archive_index(std::span<const std::byte> content, std::uint64_t size, IndexForm form, IndexUse use,
                               Archive& archive);

}  // namespace elfaudit
