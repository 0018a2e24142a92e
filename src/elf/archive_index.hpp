// The symbol index of an archive ("armap") in its four forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/archive.hpp"

namespace elfaudit {

/// The form that the special member `name` ("/", "/SYM64/", "__.SYMDEF SORTED") has; nothing when it is no index.
std::optional<IndexForm> index_form(std::string_view name);

/// Fills Archive::index and index_strings from the content of the index. Returns what is wrong with it, empty when it
/// is sound; then the archive is left without an index. Archive::members must be complete.
std::string read_archive_index(std::span<const std::byte> content, IndexForm form, Archive& archive);

/// A GNU index of which nothing is kept but the headers that it names, each run of the same one once: `see` sees the
/// names. Nothing when it is another kind, or when something is wrong; read_archive_index() knows.
std::optional<std::vector<std::uint64_t>> see_index(const ArchiveBytes& bytes, std::uint64_t offset, std::uint64_t size,
                                                    IndexForm form, const SeeNames& see);

/// Does a member begin at each of these headers? Archive::members must be complete.
bool all_are_members(std::span<const std::uint64_t> headers, const Archive& archive);

}  // namespace elfaudit
