#include "scan/scan.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "elfaudit/error.hpp"
#include "scan/device_code.hpp"
#include "scan/elf_object.hpp"
#include "scan/file_kind.hpp"
#include "scan/members.hpp"
#include "support/file_descriptor.hpp"
#include "support/mapped_file.hpp"

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

InputFacts scan_any(const std::string& path) {
  FileDescriptor fd = open_for_reading(path.c_str());
  const FileKind kind = kind_of_open_file(path, fd);
  if (kind == FileKind::Elf) return scan_loose(path, std::move(fd));
  if (kind == FileKind::Fatbin || kind == FileKind::Cubin) return scan_device_file(path);
  if (kind != FileKind::Archive && kind != FileKind::ThinArchive)
    throw InputError(path, std::string(why_not_readable(kind)));
  const MappedFile mapping(path);
  return scan_archive(path, mapping.bytes());
}

}  // namespace

InputFacts scan_input(const std::string& path) {
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
  // More threads than processors gain nothing here, and oneTBB prints a warning when asked for them.
  const int available = tbb::info::default_concurrency();
  tbb::task_arena arena(jobs == 0 ? available : std::min(available, static_cast<int>(std::min(jobs, 1024U))));
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, to_read.size(),
                      [&](std::size_t i) { facts[to_read[i]] = scan_input(job.inputs[to_read[i]].path); });
  });
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (const std::size_t original = first.at(job.inputs[i].path); original != i) facts[i] = facts[original];
  read_device_code(facts);
  return facts;
}

}  // namespace elfaudit
