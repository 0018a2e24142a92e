#include "locate/dwarf/separate.hpp"

#include <elf.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "elfaudit/error.hpp"

namespace elfaudit::dwarf {
namespace {

namespace fs = std::filesystem;

Bytes build_id(const DebugSections& sections) {
  const Bytes notes = sections.plain(".note.gnu.build-id");
  Cursor in(notes, sections.layout().big_endian);
  const auto padded = [](std::uint64_t count) { return (count + 3) & ~std::uint64_t{3}; };
  while (!in.done()) {
    const std::uint64_t name_size = in.u32(), size = in.u32();
    const std::uint32_t type = in.u32();
    const Bytes name = in.bytes(padded(name_size));
    const Bytes description = in.bytes(size);
    if (type == NT_GNU_BUILD_ID && name.size() == sizeof ELF_NOTE_GNU &&
        std::memcmp(name.data(), ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return description;
    in.skip(padded(size) - size);
  }
  return {};
}

/// "xx/yyy.debug"; nothing for an id too short to be cut in two.
std::optional<fs::path> path_of(Bytes id) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (id.size() < 2 || id.size() > 64) return std::nullopt;
  std::string text;
  for (const std::byte byte : id) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return fs::path(text.substr(0, 2)) / (text.substr(2) + ".debug");
}

/// What .gnu_debuglink says: a name, padding to four bytes, a CRC-32 of the whole debug file (GDB manual 18.3).
struct DebugLink {
  std::string name;
  std::uint32_t checksum = 0;
};

std::optional<DebugLink> debug_link(const DebugSections& sections) {
  const Bytes bytes = sections.plain(".gnu_debuglink");
  if (bytes.empty()) return std::nullopt;
  Cursor in(bytes, sections.layout().big_endian);
  DebugLink link;
  link.name = in.string();
  in.seek((in.at() + 3) & ~std::uint64_t{3});
  link.checksum = in.u32();
  // A name, never a path: a file must not send its reader all over the disk.
  if (link.name.empty() || link.name.find('/') != std::string::npos || link.name == "..") return std::nullopt;
  return link;
}

std::uint32_t checksum_of(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

class Finder {
 public:
  Finder(const DebugSections& sections, const Origin& origin, const DebugRoots& roots)
      : roots_(roots), id_(build_id(sections)), link_(debug_link(sections)), here_(origin.bytes_path) {
    if (here_.empty()) here_ = origin.path;
  }

  SeparateFile find() {
    if (const auto name = path_of(id_)) {
      for (const std::string& root : roots_.folders)
        if (belongs(fs::path(root) / ".build-id" / *name, /*by_checksum=*/false)) return {found_, {}};
    }
    if (!link_) return {};
    for (const fs::path& candidate : linked_candidates())
      if (belongs(candidate, /*by_checksum=*/true)) return {found_, {}};
    return {{},
            "debug info is in " + link_->name + (met_ ? ", which belongs to another build" : ", which is not there")};
  }

 private:
  std::vector<fs::path> linked_candidates() const {
    std::vector<fs::path> result;
    std::error_code error;
    const fs::path real = fs::canonical(here_, error).parent_path();
    const fs::path named = here_.parent_path();
    for (const fs::path& folder : {named, real}) {
      result.push_back(folder / link_->name);
      result.push_back(folder / ".debug" / link_->name);
    }
    for (const std::string& root : roots_.folders)
      result.push_back(fs::path(root) / real.relative_path() / link_->name);
    return result;
  }

  bool belongs(const fs::path& candidate, bool by_checksum) {
    std::error_code error;
    if (!fs::is_regular_file(candidate, error) || fs::equivalent(candidate, here_, error)) return false;
    met_ = true;
    found_ = candidate.string();
    try {
      Origin origin;
      origin.path = origin.bytes_path = found_;
      const DebugSections other(origin, /*split=*/false);
      if (other.relocatable()) return false;
      const Bytes id = build_id(other);
      if (!id_.empty() && !id.empty()) return std::ranges::equal(id_, id);
      return by_checksum && checksum_of(found_) == link_->checksum;
    } catch (const InputError&) {
      return false;  // no ELF file, or one that can't be read
    } catch (const BadDebugInfo&) {
      return false;
    }
  }

  const DebugRoots& roots_;
  Bytes id_;
  std::optional<DebugLink> link_;
  fs::path here_;
  std::string found_;
  bool met_ = false;
};

}  // namespace

SeparateFile find_separate(const DebugSections& sections, const Origin& origin, const DebugRoots& roots) {
  return Finder(sections, origin, roots).find();
}

}  // namespace elfaudit::dwarf
