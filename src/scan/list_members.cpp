#include "scan/list_members.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "elf/archive.hpp"
#include "elf/file_kind.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
namespace {

MemberKind kind_from(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::SharedObject:
      return MemberKind::SharedObject;
    case ObjectKind::Executable:
      return MemberKind::Executable;
    default:
      return MemberKind::Object;
  }
}

ListedMember row_of(const ObjectFacts& object) {
  ListedMember row;
  row.origin = object.origin;
  row.kind = kind_from(object.kind);
  for (const Symbol& symbol : object.symbols) ++(symbol.defined() ? row.definitions : row.references);
  return row;
}

/// Walks the members and the objects, which stand in the same order.
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
    else if (std::any_of(input_.errors.begin(), input_.errors.end(), names_it))
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

}  // namespace elfaudit
