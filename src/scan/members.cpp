#include "scan/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "scan/elf_object.hpp"
#include "support/mapped_file.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kUsualObject = 64 << 10;
constexpr unsigned kMaxDepth = 4;  // archives in archives in archives; nobody makes more than two

/// What one member turned out to be: an object, something else, or an archive that holds many of these.
struct Found {
  std::optional<ObjectFacts> object;  ///< the member itself
  std::vector<ObjectFacts> nested;    ///< what it holds, when it is an archive
  std::vector<InputError> errors;
  std::vector<std::string> not_objects;
};

/// An archive that a thin archive names, opened once however many of its members are named.
struct OuterArchive {
  explicit OuterArchive(const std::string& path) : mapping(path) {
    const auto bytes = mapping.bytes();
    if (file_kind(bytes.first(std::min(bytes.size(), kMagicSize))) != FileKind::Archive)
      throw InputError(path, "is not an archive");
    archive = read_archive(bytes);
  }
  MappedFile mapping;
  Archive archive;
};

class ArchiveScan {
 public:
  explicit ArchiveScan(const std::string& path) : path_(path) {}

  InputFacts run(std::span<std::byte> bytes) {
    InputFacts facts;
    facts.path = path_;
    facts.kind = InputKind::Archive;
    Archive archive = read_archive(bytes);
    facts.thin = archive.thin;
    facts.has_index = archive.has_index;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    for (const ArchiveDamage& damage : archive.damage)
      facts.errors.emplace_back(path_, damage.member, damage.offset, damage.reason);

    const std::vector<std::uint32_t> object_of = read_members(archive, bytes, facts);
    std::stable_sort(facts.errors.begin(), facts.errors.end(),
                     [](const InputError& a, const InputError& b) { return a.offset < b.offset; });
    fill_index(archive, object_of, facts);
    return facts;
  }

 private:
  template <class T>
  static void append(std::vector<T>& from, std::vector<T>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }

  static void fill_index(Archive& archive, const std::vector<std::uint32_t>& object_of, InputFacts& facts) {
    facts.index_strings = std::move(archive.index_strings);
    facts.index.reserve(archive.index.size());
    for (const ArchiveIndexEntry& entry : archive.index) {
      const auto member = std::lower_bound(archive.members.begin(), archive.members.end(), entry.header,
                                           [](const ArchiveMember& m, std::uint64_t at) { return m.header < at; });
      facts.index.push_back({entry.symbol, object_of[static_cast<std::size_t>(member - archive.members.begin())]});
    }
  }

  /// Fills in what the members hold, in their order. Returns where each one's object is, kNone when it is none.
  std::vector<std::uint32_t> read_members(const Archive& archive, std::span<std::byte> bytes, InputFacts& facts) {
    std::vector<ObjectFacts> objects(archive.members.size());
    std::map<std::size_t, Found> others;  // members that aren't one object: few
    std::mutex others_mutex;
    // A thin archive's members are files of any size: as large as objects usually are.
    const std::uint64_t size = archive.thin ? objects.size() * kUsualObject : bytes.size();
    for_each_file(objects.size(), size, [&](std::size_t i) {
      const ArchiveMember& member = archive.members[i];
      Found found = archive.thin ? read_outer(member)
                                 : read_bytes(origin_of(member), bytes.subspan(member.offset, member.size), 0);
      if (found.object) {
        objects[i] = std::move(*found.object);
      } else {
        const std::lock_guard lock(others_mutex);
        others.emplace(i, std::move(found));
      }
    });

    std::vector<std::uint32_t> object_of(objects.size(), kNone);
    if (others.empty()) {
      std::iota(object_of.begin(), object_of.end(), 0);
      facts.objects = std::move(objects);
      return object_of;
    }
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (const auto other = others.find(i); other != others.end()) {
        append(other->second.nested, facts.objects);
        append(other->second.errors, facts.errors);
        append(other->second.not_objects, facts.not_objects);
      } else {
        object_of[i] = static_cast<std::uint32_t>(facts.objects.size());
        facts.objects.push_back(std::move(objects[i]));
      }
    }
    return object_of;
  }

  Origin origin_of(const ArchiveMember& member) const {
    return {path_, member.name, path_, member.offset, member.size};
  }

  /// A member whose bytes are at hand. Never throws InputError.
  Found read_bytes(Origin origin, std::span<std::byte> bytes, unsigned depth) {
    Found found;
    const FileKind kind = file_kind(bytes.first(std::min(bytes.size(), kMagicSize)));
    try {
      switch (kind) {
        case FileKind::Elf: {
          const ElfFile elf = ElfFile::open(origin, bytes);
          found.object = read_object(elf, std::move(origin));
          break;
        }
        case FileKind::Archive:
          read_nested(origin, bytes, depth + 1, found);
          break;
        case FileKind::ThinArchive:
          throw InputError(path_, origin.member, origin.offset, "a thin archive inside an archive is not read");
        case FileKind::LlvmBitcode:
          throw InputError(path_, origin.member, origin.offset, std::string(why_not_readable(kind)));
        default:  // a text file, a folder's listing: linkers pass over them
          found.not_objects.push_back(origin.member);
      }
    } catch (const InputError& error) {
      found.errors.push_back(error);
    }
    return found;
  }

  /// "inner.a(x.o)" at depth 1, "middle.a(inner.a(x.o))" at depth 2.
  static std::string nested_name(std::string_view outer, std::string_view name, unsigned depth) {
    const unsigned closing = depth - 1;  // parentheses at the end of `outer`
    return fmt::format("{}({}){}", outer.substr(0, outer.size() - closing), name, std::string(closing, ')'));
  }

  /// An archive inside the archive: no linker searches it, but what is in it should be said.
  void read_nested(const Origin& outer, std::span<std::byte> bytes, unsigned depth, Found& found) {
    if (depth > kMaxDepth) throw InputError(path_, outer.member, outer.offset, "archives are nested too deep to read");
    const Archive archive = read_archive(bytes);
    for (const ArchiveDamage& damage : archive.damage)
      found.errors.emplace_back(path_, outer.member, outer.offset + damage.offset, damage.reason);
    for (const ArchiveMember& member : archive.members) {
      Origin origin = outer;
      origin.member = nested_name(outer.member, member.name, depth);
      origin.offset = outer.offset + member.offset;
      origin.size = member.size;
      Found inner = read_bytes(std::move(origin), bytes.subspan(member.offset, member.size), depth);
      if (inner.object) {
        inner.object->nested = true;
        found.nested.push_back(std::move(*inner.object));
      }
      append(inner.nested, found.nested);
      append(inner.errors, found.errors);
      append(inner.not_objects, found.not_objects);
    }
  }

  /// A member of a thin archive: a file of its own, or a member of an archive that is one. Never throws InputError.
  Found read_outer(const ArchiveMember& member) {
    const std::string file = (std::filesystem::path(path_).parent_path() / member.name).string();
    try {
      if (member.nested_header != kNoOffset) return read_proxy(member, file);
      return read_outer_file({path_, member.name, file, 0, 0}, file);
    } catch (const InputError& error) {
      Found found;
      found.errors.emplace_back(path_, member.name, member.header, fmt::format("{}: {}", file, error.what()));
      return found;
    }
  }

  Found read_outer_file(Origin origin, const std::string& file) {
    FileDescriptor fd = open_for_reading(file.c_str());
    if (kind_of_open_file(file, fd) != FileKind::Elf) {
      const MappedFile mapping(file);
      origin.size = mapping.bytes().size();
      return read_bytes(std::move(origin), mapping.bytes(), 0);
    }
    Found found;
    const ElfFile elf = ElfFile::open(origin, std::move(fd));
    origin.size = elf.size();
    found.object = read_object(elf, std::move(origin));
    return found;
  }

  Found read_proxy(const ArchiveMember& member, const std::string& file) {
    const OuterArchive& outer = outer_archive(file);
    const auto bytes = outer.mapping.bytes();
    for (const ArchiveMember& inner : outer.archive.members) {
      if (inner.header != member.nested_header) continue;
      return read_bytes({path_, inner.name, file, inner.offset, inner.size}, bytes.subspan(inner.offset, inner.size),
                        0);
    }
    throw InputError(path_, fmt::format("has no member at {:#x}", member.nested_header));
  }

  const OuterArchive& outer_archive(const std::string& file) {
    const std::lock_guard lock(mutex_);
    auto& outer = archives_[file];
    if (!outer) outer = std::make_unique<OuterArchive>(file);
    return *outer;
  }

  std::string path_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<OuterArchive>> archives_;  // by file
};

}  // namespace

InputFacts scan_archive(const std::string& path, std::span<std::byte> bytes) { return ArchiveScan(path).run(bytes); }

}  // namespace elfaudit
