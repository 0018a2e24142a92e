// Reads each input once: objects, archives and their members, facts files.

#include "scan/scan.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/elf_file.hpp"
#include "elf/file_kind.hpp"
#include "elf/object_image.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/facts.hpp"
#include "facts/facts_file.hpp"
#include "scan/device/device_code.hpp"
#include "scan/object_reader.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kUsualObject = 64 << 10;

/// What one member turned out to be: an object, something else, or an archive that holds many of these.
struct Found {
  std::optional<ObjectFacts> object;  ///< the member itself
  std::vector<ObjectFacts> nested;    ///< what it holds, when it is an archive
  std::vector<InputError> errors;
  std::vector<std::string> not_objects;
  std::optional<InputError> lost;  ///< a thin archive's member that is not there
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
  ArchiveScan(const std::string& path, const LtoPolicy& lto, bool relocations)
      : path_(path), lto_(lto), relocations_(relocations) {}

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
      facts.index.push_back(
          {entry.symbol, object_of[static_cast<std::size_t>(member - archive.members.begin())], entry.hash});
    }
  }

  /// Fills in what the members hold, in their order. Returns where each one's object is, kNone when it is none.
  std::vector<std::uint32_t> read_members(const Archive& archive, std::span<std::byte> bytes, InputFacts& facts) {
    std::vector<ObjectFacts> objects(archive.members.size());
    std::map<std::size_t, Found> others;  // members that aren't one object: few
    std::mutex others_mutex;
    if (archive.thin) check_repeats(archive);
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
      facts.objects = ObjectList(std::move(objects));
      return object_of;
    }
    std::vector<ObjectFacts> kept;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (const auto other = others.find(i); other != others.end()) {
        if (other->second.lost) {
          if (facts.lost.empty()) facts.objects_before_lost = static_cast<std::uint32_t>(kept.size());
          facts.lost.push_back(*other->second.lost);
        }
        append(other->second.nested, kept);
        append(other->second.errors, facts.errors);
        append(other->second.not_objects, facts.not_objects);
      } else {
        object_of[i] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(std::move(objects[i]));
      }
    }
    facts.objects = ObjectList(std::move(kept));
    return object_of;
  }

  /// Sixty bytes name a file of any size, and each naming of it would be read.
  void check_repeats(const Archive& archive) const {
    std::set<std::pair<std::string_view, std::uint64_t>> named;
    std::uint64_t repeated = 0;
    for (const ArchiveMember& member : archive.members) {
      if (named.emplace(member.name, member.nested_header).second) continue;
      std::error_code error;
      const auto size = std::filesystem::file_size(std::filesystem::path(path_).parent_path() / member.name, error);
      if (!error) repeated += size;
      if (repeated > limits::kRepeatedBytes)
        throw InputError(path_, fmt::format("names files again, {} MiB of them and more (elfaudit --limits)",
                                            limits::kRepeatedBytes >> 20));
    }
  }

  Origin origin_of(const ArchiveMember& member) const {
    return {path_, member.name, path_, member.offset, member.size};
  }

  /// A member whose bytes are available. Never throws InputError.
  Found read_bytes(Origin origin, std::span<std::byte> bytes, unsigned depth) {
    Found found;
    const FileKind kind = file_kind(bytes.first(std::min(bytes.size(), kMagicSize)));
    try {
      switch (kind) {
        case FileKind::Elf: {
          ObjectImage image(bytes);
          found.object = read_ordinary_object(image, origin, relocations_);
          if (!found.object) found.object = read_object(ElfFile::open(origin, bytes), origin, lto_);
          break;
        }
        case FileKind::LlvmBitcode:
          found.object = read_bitcode_object(bytes, std::move(origin));
          break;
        case FileKind::Archive:
          read_nested(origin, bytes, depth + 1, found);
          break;
        case FileKind::ThinArchive:
          throw InputError(path_, origin.member, origin.offset, "a thin archive inside an archive is not read");
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
    if (depth > limits::kArchiveDepth)
      throw InputError(path_, outer.member, outer.offset, "archives are nested too deep to read");
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
      const InputError missing(path_, member.name, member.header, fmt::format("{}: {}", file, error.what()));
      note_use(file);
      std::error_code unknown;
      if (std::filesystem::exists(file, unknown) || unknown)
        found.errors.push_back(missing);
      else
        found.lost = missing;
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
    found.object = read_object(elf, std::move(origin), lto_);
    return found;
  }

  Found read_proxy(const ArchiveMember& member, const std::string& file) {
    const OuterArchive& outer = outer_archive(file);
    const auto bytes = outer.mapping.bytes();
    for (const ArchiveMember& inner : outer.archive.members) {
      if (inner.header != member.nested_header) continue;
      const std::span<std::byte> content = bytes.subspan(inner.offset, inner.size);
      Found found = read_bytes({path_, inner.name, file, inner.offset, inner.size}, content, 0);
      if (found.object) found.object->of_archive = true;
      return found;
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
  const LtoPolicy& lto_;
  const bool relocations_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<OuterArchive>> archives_;  // by file
};

/// Facts of the archive at `path`, whose content is `bytes`. Never throws for what it finds in them.
InputFacts scan_archive(const std::string& path, std::span<std::byte> bytes, const LtoPolicy& lto,
                        bool relocations = false) {
  return ArchiveScan(path, lto, relocations).run(bytes);
}

/// An archive as its index and the headers of its members show it: ArchiveReading::Index.
class ArchiveIndexScan {
 public:
  ArchiveIndexScan(const std::string& path, int fd, std::uint64_t size, ReadBuffer& buffer)
      : path_(path), fd_(fd), size_(size), buffer_(buffer) {}

  /// Nothing when the archive has to be read whole.
  std::optional<InputFacts> run(const LtoPolicy& lto) {
    ReadAhead ahead(size_, kMemberHeader + kLookedAt);
    ArchiveBytes bytes(fd_, size_, buffer_, ahead);
    ArchiveReader reader(bytes);
    std::vector<ObjectFacts> objects;
    while (const ArchiveMember* member = reader.next())
      if (!look_at(*member, ahead, objects.emplace_back())) return {};
    Archive archive = reader.finish();
    const bool has_versions = archive.index_strings.find('@') != std::string::npos;  // "foo@@V1"
    if (archive.thin || !archive.has_index || !archive.damage.empty() || has_versions) return {};
    InputFacts facts;
    facts.path = path_;
    facts.kind = InputKind::Archive;
    facts.has_index = true;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    if (!take_index(archive, facts)) return {};
    read_what_is_not_indexed(facts, lto, objects);
    facts.objects = ObjectList(std::move(objects));
    return facts;
  }

 private:
  static constexpr std::size_t kLookedAt = EI_NIDENT + 2 * sizeof(Elf64_Half);  ///< bytes of a member

  /// Names that say what is in the member besides: device code, GCC's bytecode.
  static bool is_unusual(std::string_view name) {
    return name.starts_with("__fatbinwrap") || name.starts_with("__hip_") || name == "__gnu_lto_slim";
  }

  /// False when the members are not in its order, or hold more than ordinary code.
  static bool take_index(Archive& archive, InputFacts& facts) {
    facts.index.reserve(archive.index.size());
    std::uint32_t member = 0;
    for (const ArchiveIndexEntry& entry : archive.index) {
      while (member < archive.members.size() && archive.members[member].header < entry.header) ++member;
      if (member == archive.members.size() || archive.members[member].header != entry.header) return false;
      if (is_unusual(std::string_view(archive.index_strings).substr(entry.symbol.offset, entry.symbol.size)))
        return false;
      facts.index.push_back({entry.symbol, member, entry.hash});
    }
    facts.index_strings = std::move(archive.index_strings);
    return true;
  }

  /// False when it is not an object.
  bool look_at(const ArchiveMember& member, const ReadAhead& ahead, ObjectFacts& object) const {
    std::array<unsigned char, kLookedAt> head;
    if (member.size < head.size()) return false;
    if (const std::byte* available = ahead.at(member.offset, head.size()))
      std::memcpy(head.data(), available, head.size());
    else if (!read_all(fd_, head.data(), member.offset, head.size()))
      return false;
    object.big_endian = head[EI_DATA] == ELFDATA2MSB;
    const auto half = [&](std::size_t at) {
      return static_cast<std::uint16_t>(object.big_endian ? head[at] << 8U | head[at + 1]
                                                          : head[at + 1] << 8U | head[at]);
    };
    if (std::memcmp(head.data(), ELFMAG, SELFMAG) != 0 || half(EI_NIDENT) != ET_REL) return false;
    object.is_64 = head[EI_CLASS] == ELFCLASS64;
    object.machine = half(EI_NIDENT + sizeof(Elf64_Half));
    object.origin = {path_, member.name, path_, member.offset, member.size};
    object.unopened = true;
    return true;
  }

  /// Bytecode that `ar` does not know, and what defines nothing.
  static void read_what_is_not_indexed(InputFacts& facts, const LtoPolicy& lto, std::vector<ObjectFacts>& objects) {
    for (std::uint32_t m = 0; m < objects.size(); ++m) {
      if (!facts.entries_of(m).empty()) continue;
      try {
        const Origin origin = objects[m].origin;
        objects[m] = read_object(ElfFile::open(origin), origin, lto);
      } catch (const InputError& error) {
        objects[m].unopened = false;
        objects[m].available = false;
        facts.errors.push_back(error);
      }
    }
  }

  const std::string& path_;
  const int fd_;
  const std::uint64_t size_;
  ReadBuffer& buffer_;
};

MemberKind kind_from(ObjectKind kind) {
  return kind == ObjectKind::SharedObject ? MemberKind::SharedObject
         : kind == ObjectKind::Executable ? MemberKind::Executable
                                          : MemberKind::Object;
}

ListedMember row_of(const ObjectFacts& object) {
  ListedMember row;
  row.origin = object.origin;
  row.kind = kind_from(object.kind);
  for (const Symbol& symbol : object.symbols) ++(symbol.defined() ? row.definitions : row.references);
  return row;
}

/// Walks the members and the objects, which are in the same order.
class ArchiveLister {
 public:
  ArchiveLister(const InputFacts& input, std::vector<ListedMember>& rows) : input_(input), rows_(rows) {}

  void run(std::span<const std::byte> bytes) {
    const Archive archive = read_archive(bytes);
    for (const ArchiveMember& member : archive.members) {
      if (archive.thin) {
        add_outer(member);
      } else {
        add(member, bytes.subspan(static_cast<std::size_t>(member.offset), static_cast<std::size_t>(member.size)));
      }
    }
  }

 private:
  const ObjectFacts* next() const { return next_ < input_.objects.size() ? &input_.objects[next_] : nullptr; }

  void take() { rows_.push_back(row_of(input_.objects[next_++])); }

  void add(const ArchiveMember& member, std::span<const std::byte> bytes) {
    const auto inside = [&](const ObjectFacts* object) {
      return object != nullptr && object->origin.offset >= member.offset &&
             object->origin.offset - member.offset < member.size;
    };
    if (inside(next()) && next()->origin.offset == member.offset) return take();
    const bool nested = file_kind(bytes.first(std::min(bytes.size(), kMagicSize))) == FileKind::Archive;
    add_other({input_.path, member.name, input_.path, member.offset, member.size}, nested);
    while (inside(next())) take();
  }

  /// A member of a thin archive is a file of its own, or a member of an archive that is one.
  void add_outer(const ArchiveMember& member) {
    const std::string file = (std::filesystem::path(input_.path).parent_path() / member.name).string();
    const auto matches = [&](const ObjectFacts* object) {
      if (object == nullptr || object->origin.bytes_path != file) return false;
      return member.nested_header != kNoOffset || object->origin.member.starts_with(member.name);
    };
    if (matches(next()) && (member.nested_header != kNoOffset || next()->origin.member == member.name)) return take();
    add_other({input_.path, member.name, file, 0, 0}, matches(next()));
    while (member.nested_header == kNoOffset && matches(next()) && next()->nested) take();
  }

  void add_other(Origin origin, bool is_archive) {
    ListedMember row;
    const auto names_it = [&](const InputError& error) { return error.member == origin.member; };
    if (is_archive)
      row.kind = MemberKind::Archive;
    else if (std::any_of(input_.errors.begin(), input_.errors.end(), names_it) ||
             std::any_of(input_.lost.begin(), input_.lost.end(), names_it))
      row.kind = MemberKind::Unreadable;
    row.origin = std::move(origin);
    rows_.push_back(std::move(row));
  }

  const InputFacts& input_;
  std::vector<ListedMember>& rows_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<ListedMember> list_members(std::vector<InputFacts>& inputs) {
  std::vector<ListedMember> rows;
  for (InputFacts& input : inputs) {
    // What lies in a wheel isn't read again: of an archive there the objects are listed, and nothing else.
    if (input.kind != InputKind::Archive || !input.entry.empty()) {
      for (const ObjectFacts& object : input.objects) rows.push_back(row_of(object));
      continue;
    }
    try {
      const MappedFile file(input.path);
      ArchiveLister(input, rows).run(file.bytes());
    } catch (const InputError& error) {  // it was there a moment ago
      input.errors.push_back(error);
    }
  }
  return rows;
}

namespace {

InputKind input_kind(ObjectKind kind) {
  return kind == ObjectKind::SharedObject ? InputKind::SharedObject
         : kind == ObjectKind::Executable ? InputKind::Executable
                                          : InputKind::Object;
}

InputFacts scan_loose(const std::string& path, FileDescriptor fd, std::uint64_t size, const LtoPolicy& lto,
                      bool relocations, ReadBuffer& buffer) {
  Origin origin{path, {}, path, 0, size};
  ObjectImage image(fd.get(), 0, size, buffer);
  std::optional<ObjectFacts> object = read_ordinary_object(image, origin, relocations);
  if (!object) {
    const ElfFile file = ElfFile::open(origin, std::move(fd));
    origin.size = file.size();
    object = read_object(file, origin, lto);
  }
  InputFacts facts;
  facts.path = path;
  facts.objects.edit().push_back(*std::move(object));
  facts.kind = input_kind(facts.objects.front().kind);
  return facts;
}

InputFacts scan_bitcode(const std::string& path) {
  const MappedFile file(path);
  InputFacts facts;
  facts.path = path;
  facts.objects.edit().push_back(read_bitcode_object(file.bytes(), {path, {}, path, 0, file.bytes().size()}));
  facts.kind = InputKind::Object;
  return facts;
}

bool is_device_file(FileKind kind) {
  return kind == FileKind::Fatbin || kind == FileKind::Cubin || kind == FileKind::Offload;
}

/// A bare .fatbin or .cubin, or a bundle: no host symbol in it.
InputFacts scan_device_file(const std::string& path) {
  InputFacts facts;
  facts.path = path;
  facts.kind = InputKind::DeviceFile;
  facts.objects.edit().emplace_back().origin = {path, {}, path, 0, 0};
  facts.objects.edit().back().has_device_code = true;
  return facts;
}

/// What an entry of a wheel holds, still without its names.
InputFacts scan_entry_bytes(const Origin& origin, std::span<std::byte> bytes) {
  const FileKind kind = file_kind(bytes.first(std::min(bytes.size(), kMagicSize)));
  if (kind == FileKind::Archive) return scan_archive(origin.path, bytes, {});
  // Its members are files beside the archive, and in a wheel there are none.
  if (kind == FileKind::ThinArchive) throw InputError(origin.path, origin.member, 0, "is a thin archive in a wheel");
  InputFacts facts;
  if (is_device_file(kind)) {
    facts.kind = InputKind::DeviceFile;
    facts.objects.edit().emplace_back().origin = origin;
    facts.objects.edit().back().has_device_code = true;
    return facts;
  }
  const ElfFile file = ElfFile::open(origin, bytes);
  facts.objects.edit().push_back(read_object(file, origin));
  facts.kind = input_kind(facts.objects.front().kind);
  return facts;
}

/// What the members of an archive in a wheel have to say of where they are.
void put_into_entry(const Origin& origin, InputFacts& facts) {
  for (ObjectFacts& object : facts.objects.edit()) {
    object.origin.member = fmt::format("{}({})", origin.member, object.origin.member);
    object.origin.bytes_path = origin.bytes_path;
    object.origin.entry = origin.entry;
  }
  for (InputError& error : facts.errors)
    error.member = error.member.empty() ? origin.member : fmt::format("{}({})", origin.member, error.member);
}

void read_device_code_of_entry(std::span<const std::byte> bytes, InputFacts& facts) {
  for (ObjectFacts& object : facts.objects.edit()) {
    if (!object.has_device_code) continue;
    const Origin& at = object.origin;
    object.device = read_device_facts(at, bytes.subspan(at.offset, at.size));
    facts.errors.insert(facts.errors.end(), object.device.errors.begin(), object.device.errors.end());
  }
}

InputFacts scan_any(const std::string& path, const LtoPolicy& lto, ArchiveReading archives, bool relocations,
                    ReadBuffer& buffer) {
  std::uint64_t size = 0;
  FileDescriptor fd = open_for_reading(path.c_str(), &size);
  const FileKind kind = kind_of_open_file(path, fd);
  if (kind == FileKind::Elf) return scan_loose(path, std::move(fd), size, lto, relocations, buffer);
  if (kind == FileKind::LlvmBitcode) return scan_bitcode(path);
  if (kind == FileKind::Facts) return read_facts_file(path, nullptr, lto);
  if (kind == FileKind::Pack) {
    read_pack(path);  // says what is wrong with it, if anything is
    throw InputError(path, "is a facts file of several objects, which only check, explain and link take");
  }
  if (is_device_file(kind)) return scan_device_file(path);
  if (kind != FileKind::Archive && kind != FileKind::ThinArchive)
    throw InputError(path, std::string(unreadable_reason(kind)));
  if (archives == ArchiveReading::Index)
    if (std::optional<InputFacts> facts = ArchiveIndexScan(path, fd.get(), size, buffer).run(lto))
      return *std::move(facts);
  const MappedFile mapping(path);
  return scan_archive(path, mapping.bytes(), lto, relocations);
}

/// Bytes of the files that are to be read; what is not there counts nothing.
std::uint64_t size_of(const std::vector<LinkInput>& inputs, const std::vector<std::size_t>& chosen) {
  std::uint64_t sum = 0;
  for (const std::size_t i : chosen) {
    if (inputs[i].facts_size != 0) {
      sum += inputs[i].facts_size;
      continue;
    }
    std::error_code error;
    const std::string& path = inputs[i].facts.empty() ? inputs[i].path : inputs[i].facts;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) sum += size;
  }
  return sum;
}

}  // namespace

InputFacts scan_wheel_entry(const std::string& wheel, const std::string& entry, std::span<std::byte> bytes) {
  const Origin origin{wheel, entry, wheel, 0, bytes.size(), entry};
  InputFacts facts;
  try {
    facts = scan_entry_bytes(origin, bytes);
    if (facts.kind == InputKind::Archive) put_into_entry(origin, facts);
    read_device_code_of_entry(bytes, facts);
  } catch (const InputError& error) {
    facts.errors.push_back(error);
  }
  facts.path = origin.display();
  facts.entry = entry;
  return facts;
}

/// What `scan` says of a file, be it why it can't be read.
template <class Scan>
static InputFacts scanned(const std::string& path, const Scan& scan) {
  progress_step();
  try {
    return scan();
  } catch (const InputError& error) {
    InputFacts facts;
    facts.path = path;
    facts.errors.push_back(error);
    return facts;
  }
}

InputFacts scan_input(const std::string& path, const LtoPolicy& lto, ArchiveReading archives) {
  ReadBuffer buffer;
  return scanned(path, [&] { return scan_any(path, lto, archives, false, buffer); });
}

InputFacts scan_facts(const LinkInput& input, const LtoPolicy& lto) {
  const PackedFacts packed{input.path, input.facts_offset, input.facts_size, {}, {}};
  return scanned(input.facts, [&] {
    if (input.facts_beside) return read_facts_beside(input.path, lto);
    return read_facts_file(input.facts, input.facts_size != 0 ? &packed : nullptr, lto);
  });
}

InputFacts scan_made(const LinkInput& input) {
  Origin origin{input.path, {}, input.path, 0, 0};
  origin.binary = input.binary;
  origin.just_symbols = !input.binary;
  InputFacts facts;
  facts.path = input.path;
  try {
    facts.objects.edit().push_back(read_object(ElfFile::open(origin), origin));
    facts.kind = InputKind::Object;
  } catch (const InputError& error) {
    facts.errors.push_back(error);
  }
  return facts;
}

void open_members(std::vector<InputFacts>& inputs, std::span<const ObjectId> members, const LinkJob& job, bool linked) {
  std::uint64_t size = 0;
  for (const ObjectId id : members) size += inputs[id.input].objects[id.object].origin.size;
  PerThread<MemberReader> archives;
  std::mutex errors_mutex;
  std::map<ObjectId, InputError> errors;
  for_each_file(members.size(), size, [&](std::size_t i) {
    const ObjectId id = members[i];
    ObjectFacts facts;
    const Origin origin = inputs[id.input].objects[id.object].origin;
    try {
      facts = archives.local().read(origin, job.lto, linked);
    } catch (const InputError& error) {
      facts.origin = origin;
      facts.available = false;
      const std::lock_guard lock(errors_mutex);
      errors.emplace(id, error);
    }
    inputs[id.input].objects.open(id.object, std::move(facts));
  });
  for (auto& [id, error] : errors) inputs[id.input].errors.push_back(std::move(error));
}

std::vector<InputFacts> scan(const LinkJob& job, unsigned jobs, ArchiveReading archives) {
  using Key = std::tuple<std::string_view, bool, bool>;
  std::map<Key, std::size_t> first;  // where each path is named first, as what
  const auto key = [&](std::size_t i) {
    const LinkInput& input = job.inputs[i];
    return Key(input.path, input.binary, input.just_symbols);
  };
  std::vector<std::size_t> to_read;
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    if (first.try_emplace(key(i), i).second) to_read.push_back(i);

  std::vector<InputFacts> facts(job.inputs.size());
  with_threads(jobs, [&] {
    PerThread<ReadBuffer> buffers;
    for_each_file(to_read.size(), size_of(job.inputs, to_read), [&](std::size_t i) {
      const LinkInput& input = job.inputs[to_read[i]];
      InputFacts& found = facts[to_read[i]];
      const ArchiveReading reading = input.whole_archive ? ArchiveReading::Whole : archives;
      const std::string& path = input.facts.empty() ? input.path : input.facts;
      if (input.facts_size != 0 || input.facts_beside)
        found = scan_facts(input, job.lto);
      else if (!input.binary)
        found = scanned(path, [&] { return scan_any(path, job.lto, reading, job.scope.command, buffers.local()); });
      const bool just_symbols = input.just_symbols && input.facts.empty() && found.kind != InputKind::Archive;
      if (input.binary || just_symbols) found = scan_made(input);
    });
  });
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (const std::size_t original = first.at(key(i)); original != i) facts[i] = facts[original];
  read_device_code(facts);
  return facts;
}

}  // namespace elfaudit
