#include "rules/gpu_coverage.hpp"

#include <algorithm>

#include "input/gpu_arch_list.hpp"

namespace elfaudit {
namespace {

std::uint32_t major(const GpuArch& arch) { return arch.number / 10; }

/// Does the image run on that GPU, as it stands or compiled there? 'a' is for one GPU alone, 'f' for its family, which
/// is the later minor versions of the same major one.
bool runs_on(const GpuArch& gpu, const GpuArch& image) {
  if (image.number == gpu.number) return true;
  if (image.suffix == 'a' || image.number > gpu.number) return false;
  return (image.is_virtual && image.suffix == 0) || major(image) == major(gpu);
}

Coverage how(const GpuArch& wanted, const GpuArch& image) {
  if (image == wanted) return Coverage::Exact;
  if (!runs_on(wanted, image)) return Coverage::None;
  if (image.is_virtual) return Coverage::Jit;
  return image.number == wanted.number ? Coverage::OtherFeatures : Coverage::LowerMinor;
}

std::set<GpuArch> held_by(const ObjectFacts& object) {
  std::set<GpuArch> held;
  for (const DeviceImage& image : object.device.images)
    if (image.kind != ImageKind::Other) held.insert(image.arch);
  return held;
}

/// It alone defines what host code of relocatable objects refers to (docs/device-code.md).
bool is_device_link_output(const ObjectFacts& object) {
  return object.kind == ObjectKind::Relocatable &&
         std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
           return symbol.defined() && object.name(symbol).starts_with("__cudaRegisterLinkedBinary_");
         });
}

/// nvcc adds it to every device link; it has code for everything that the toolkit knows.
bool is_of_toolkit(const Origin& origin) {
  return std::string_view(origin.path).substr(origin.path.rfind('/') + 1) == "libcudadevrt.a";
}

void add(const ObjectFacts& object, bool library, std::vector<GpuFile>& files) {
  std::set<GpuArch> held = held_by(object);
  if (held.empty() || is_of_toolkit(object.origin)) return;
  files.push_back({&object, std::move(held), is_device_link_output(object), library});
}

/// nvlink takes every member of an archive; the host linker has the last word on finished code.
bool takes_part(const Evidence& evidence, ObjectId id) {
  const ObjectFacts& object = evidence.object(id);
  if (object.kind != ObjectKind::Relocatable) return !evidence.job.scope.command;
  if (evidence.inputs[id.input].kind != InputKind::Archive) return true;
  return object.device.containers != 0 || evidence.resolution.linked[id.input][id.object];
}

}  // namespace

Covered what_runs_on(const GpuArch& wanted, const std::set<GpuArch>& held) {
  Covered best;
  for (const GpuArch& image : held) {  // ascending: of equals the highest is taken
    const Coverage coverage = how(wanted, image);
    if (coverage <= best.how && coverage != Coverage::None) best = {coverage, image};
  }
  return best;
}

std::vector<GpuFile> gpu_files(const Evidence& evidence) {
  std::vector<GpuFile> files;
  std::set<std::string> seen;  // a file that is named twice is one
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    const auto has_images = [](const ObjectFacts& object) { return !object.device.images.empty(); };
    if (std::none_of(input.objects.begin(), input.objects.end(), has_images)) continue;
    if (!seen.insert(input.path).second) continue;
    for (std::uint32_t o = 0; o < input.objects.size(); ++o)
      if (takes_part(evidence, {i, o})) add(input.objects[o], input.kind == InputKind::Archive, files);
  }
  for (const Package& package : evidence.packages)
    for (const InputFacts& input : package.files)
      for (const ObjectFacts& object : input.objects) add(object, input.kind == InputKind::Archive, files);
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
