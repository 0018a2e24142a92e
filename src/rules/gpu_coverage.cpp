#include "rules/gpu_coverage.hpp"

#include <algorithm>

#include "target/gpu_arch_list.hpp"

namespace elfaudit {
namespace {

/// It alone defines what host code of relocatable objects refers to (docs/device-code.md).
bool is_device_link_output(const ObjectFacts& object) {
  return object.kind == ObjectKind::Relocatable &&
         std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
           return symbol.defined() && object.name(symbol).starts_with("__cudaRegisterLinkedBinary_");
         });
}

void add(const ObjectFacts& object, bool library, const HoldsContent& holds_content, std::vector<GpuFile>& files) {
  GpuCode code = gpu_code_of(object, holds_content);
  if (code.empty() || is_device_runtime(object.origin)) return;
  std::set<GpuArch> held = held_by(code);
  files.push_back({&object, std::move(code), std::move(held), is_device_link_output(object), library});
}

/// nvlink takes every member of an archive; the host linker has the last word on finished code.
bool takes_part(const Evidence& evidence, ObjectId id) {
  const ObjectFacts& object = evidence.object(id);
  if (object.kind != ObjectKind::Relocatable) return !evidence.job.scope.command;
  if (evidence.inputs[id.input].kind != InputKind::Archive) return true;
  return object.device.containers != 0 || evidence.resolution.linked[id.input][id.object];
}

/// The finished file will have the parts of all of them behind what the device link made.
void link_parts(std::vector<GpuFile>& files) {
  std::vector<std::set<GpuArch>> parts;
  for (const GpuFile& file : files)
    if (file.object->kind == ObjectKind::Relocatable)
      parts.insert(parts.end(), file.code.parts.begin(), file.code.parts.end());
  for (GpuFile& file : files)
    if (file.device_link_output) file.code.parts = parts;
}

}  // namespace

std::vector<GpuFile> gpu_files(const Evidence& evidence) {
  std::vector<GpuFile> files;
  std::set<std::string> seen;  // a file that is named twice is one
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    const auto has_images = [](const ObjectFacts& object) { return !object.device.images.empty(); };
    if (std::none_of(input.objects.begin(), input.objects.end(), has_images)) continue;
    if (!seen.insert(input.path).second) continue;
    for (std::uint32_t o = 0; o < input.objects.size(); ++o)
      if (takes_part(evidence, {i, o}))
        add(input.objects[o], input.kind == InputKind::Archive, evidence.holds_device_content, files);
  }
  for (const Package& package : evidence.packages)
    for (const InputFacts& input : package.files)
      for (const ObjectFacts& object : input.objects)
        add(object, input.kind == InputKind::Archive, evidence.holds_device_content, files);
  link_parts(files);
  return files;
}

std::string names_of(const std::set<GpuArch>& archs) { return gpu_arch_names({archs.begin(), archs.end()}); }

Site file_site(const GpuFile& file) {
  Site site;
  site.role = Role::Candidate;
  site.origin = file.object->origin;
  site.notes.push_back("holds " + names_of(file.held));
  return site;
}

}  // namespace elfaudit
