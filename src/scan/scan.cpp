#include "scan/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "facts/facts_file.hpp"
#include "scan/device/device.hpp"
#include "scan/device/device_code.hpp"
#include "scan/elf_object.hpp"
#include "scan/members.hpp"
#include "support/file_descriptor.hpp"
#include "support/mapped_file.hpp"
#include "support/progress.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

InputKind input_kind(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::SharedObject:
      return InputKind::SharedObject;
    case ObjectKind::Executable:
      return InputKind::Executable;
    default:
      return InputKind::Object;
  }
}

InputFacts scan_loose(const std::string& path, FileDescriptor fd) {
  Origin origin{path, {}, path, 0, 0};
  const ElfFile file = ElfFile::open(origin, std::move(fd));
  origin.size = file.size();
  InputFacts facts;
  facts.path = path;
  facts.objects.push_back(read_object(file, origin));
  facts.kind = input_kind(facts.objects.front().kind);
  return facts;
}

/// A bare .fatbin or .cubin: no host symbol in it.
InputFacts scan_device_file(const std::string& path) {
  InputFacts facts;
  facts.path = path;
  facts.kind = InputKind::DeviceFile;
  facts.objects.emplace_back().origin = {path, {}, path, 0, 0};
  facts.objects.back().has_device_code = true;
  return facts;
}

/// What an entry of a wheel holds, still without its names.
InputFacts scan_entry_bytes(const Origin& origin, std::span<std::byte> bytes) {
  const FileKind kind = file_kind(bytes.first(std::min(bytes.size(), kMagicSize)));
  if (kind == FileKind::Archive) return scan_archive(origin.path, bytes);
  // Its members are files beside the archive, and in a wheel there are none.
  if (kind == FileKind::ThinArchive) throw InputError(origin.path, origin.member, 0, "is a thin archive in a wheel");
  InputFacts facts;
  if (kind == FileKind::Fatbin || kind == FileKind::Cubin) {
    facts.kind = InputKind::DeviceFile;
    facts.objects.emplace_back().origin = origin;
    facts.objects.back().has_device_code = true;
    return facts;
  }
  const ElfFile file = ElfFile::open(origin, bytes);
  facts.objects.push_back(read_object(file, origin));
  facts.kind = input_kind(facts.objects.front().kind);
  return facts;
}

/// What the members of an archive in a wheel have to say of where they are.
void put_into_entry(const Origin& origin, InputFacts& facts) {
  for (ObjectFacts& object : facts.objects) {
    object.origin.member = fmt::format("{}({})", origin.member, object.origin.member);
    object.origin.bytes_path = origin.bytes_path;
    object.origin.entry = origin.entry;
  }
  for (InputError& error : facts.errors)
    error.member = error.member.empty() ? origin.member : fmt::format("{}({})", origin.member, error.member);
}

void read_device_code_of_entry(std::span<const std::byte> bytes, InputFacts& facts) {
  for (ObjectFacts& object : facts.objects) {
    if (!object.has_device_code) continue;
    const Origin& at = object.origin;
    object.device = read_device_facts(at, bytes.subspan(at.offset, at.size));
    facts.errors.insert(facts.errors.end(), object.device.errors.begin(), object.device.errors.end());
  }
}

InputFacts scan_any(const std::string& path) {
  FileDescriptor fd = open_for_reading(path.c_str());
  const FileKind kind = kind_of_open_file(path, fd);
  if (kind == FileKind::Elf) return scan_loose(path, std::move(fd));
  if (kind == FileKind::Facts) return read_facts_file(path);
  if (kind == FileKind::Fatbin || kind == FileKind::Cubin) return scan_device_file(path);
  if (kind != FileKind::Archive && kind != FileKind::ThinArchive)
    throw InputError(path, std::string(why_not_readable(kind)));
  const MappedFile mapping(path);
  return scan_archive(path, mapping.bytes());
}

/// Bytes of the files that are to be read; what is not there counts nothing.
std::uint64_t size_of(const std::vector<LinkInput>& inputs, const std::vector<std::size_t>& chosen) {
  std::uint64_t sum = 0;
  for (const std::size_t i : chosen) {
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

InputFacts scan_input(const std::string& path) {
  progress_step();
  try {
    return scan_any(path);
  } catch (const InputError& error) {
    InputFacts facts;
    facts.path = path;
    facts.errors.push_back(error);
    return facts;
  }
}

std::vector<InputFacts> scan(const LinkJob& job, unsigned jobs) {
  std::unordered_map<std::string_view, std::size_t> first;  // where each path is named first
  std::vector<std::size_t> to_read;
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    if (first.try_emplace(job.inputs[i].path, i).second) to_read.push_back(i);

  std::vector<InputFacts> facts(job.inputs.size());
  const auto read = [&](std::size_t i) {
    const LinkInput& input = job.inputs[to_read[i]];
    facts[to_read[i]] = scan_input(input.facts.empty() ? input.path : input.facts);
  };
  with_threads(jobs, [&] { for_each_file(to_read.size(), size_of(job.inputs, to_read), read); });
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (const std::size_t original = first.at(job.inputs[i].path); original != i) facts[i] = facts[original];
  read_device_code(facts);
  return facts;
}

}  // namespace elfaudit
