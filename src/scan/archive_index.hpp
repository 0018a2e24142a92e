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

/// Fills Archive::index and index_strings from the content of the index. Returns what is wrong with it, empty when it
/// is sound; then the archive is left without an index. Archive::members must be complete.
std::string read_archive_index(std::span<const std::byte> content, IndexForm form, Archive& archive);

/// The same of a GNU index of an open file, without keeping anything of it: `see` sees its names. False: it is not
/// sound, or another kind; read_archive_index() knows. Archive::members must be complete.
bool index_is_sound(const ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size, IndexForm form,
                    const Archive& archive, const SeeNames& see);

}  // namespace elfaudit
