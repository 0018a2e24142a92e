// Compares images with GPUs by the driver's rules.

#include "target/gpu_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "support/path.hpp"

namespace elfaudit {
namespace {

using ArchSet = std::set<GpuArch>;

std::uint32_t major(const GpuArch& arch) { return arch.number / 10; }

/// Does the image run on that GPU, unchanged or compiled there? 'a' is for one GPU alone, 'f' for its family, which
/// is the later minor versions of the same major one.
bool runs_on(const GpuArch& gpu, const GpuArch& image) {
  if (image.number == gpu.number) return true;
  if (image.suffix == 'a' || image.number > gpu.number) return false;
  return (image.is_virtual && image.suffix == 0) || major(image) == major(gpu);
}

// --- AMD's GPUs: LLVM's "User Guide for AMDGPU Backend", "Target ID" and "Generic processors".

/// "gfx90a:sramecc+:xnack-" is for GPUs with these settings. One that isn't said suits both.
struct TargetId {
  std::string_view processor;
  std::map<std::string_view, char> settings{};
};

TargetId target_id(std::string_view text) {
  TargetId id{text.substr(0, text.find(':'))};
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;) {
    const std::size_t next = text.find(':', colon + 1);
    const std::string_view setting = text.substr(colon + 1, next - colon - 1);
    if (!setting.empty()) id.settings[setting.substr(0, setting.size() - 1)] = setting.back();
    colon = next;
  }
  return id;
}

struct GenericProcessor {
  std::string_view name;
  std::string_view processors;  ///< each with a blank before and behind it
};

constexpr GenericProcessor kGeneric[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
};

bool is_generic_for(std::string_view image, std::string_view processor) {
  return std::any_of(std::begin(kGeneric), std::end(kGeneric), [&](const GenericProcessor& row) {
    return row.name == image && row.processors.find(fmt::format(" {} ", processor)) != std::string_view::npos;
  });
}

Coverage how_on_amd(const GpuArch& wanted, const GpuArch& image) {
  const TargetId gpu = target_id(wanted.processor);
  const TargetId code = target_id(image.processor);
  const bool generic = is_generic_for(code.processor, gpu.processor);
  if (code.processor != gpu.processor && !generic) return Coverage::None;
  Coverage best = generic ? Coverage::LowerMinor : Coverage::Exact;
  for (const auto& [setting, value] : code.settings) {
    const auto asked = gpu.settings.find(setting);
    if (asked == gpu.settings.end())
      best = Coverage::OtherFeatures;
    else if (asked->second != value)
      return Coverage::None;
  }
  return best;
}

/// Code for xnack+ and code for xnack- suit together what asks for neither.
bool suits_both(const GpuArch& wanted, std::string_view setting, const ArchSet& images) {
  if (target_id(wanted.processor).settings.contains(setting)) return false;
  constexpr std::string_view kValues = "+-";
  return std::all_of(kValues.begin(), kValues.end(), [&](char value) {
    GpuArch one = wanted;
    one.processor += fmt::format(":{}{}", setting, value);
    return what_runs_on(one, images).how == Coverage::Exact;
  });
}

// ---

Coverage how(const GpuArch& wanted, const GpuArch& image) {
  if (image == wanted) return Coverage::Exact;
  if (is_amd(wanted) != is_amd(image)) return Coverage::None;
  if (is_amd(wanted)) return how_on_amd(wanted, image);
  if (!runs_on(wanted, image)) return Coverage::None;
  if (image.is_virtual) return Coverage::Jit;
  return image.number == wanted.number ? Coverage::OtherFeatures : Coverage::LowerMinor;
}

/// A link needs each of them.
Covered worst_part(const GpuArch& wanted, const GpuCode& code) {
  Covered worst;
  for (const ArchSet& part : code.parts) {
    const Covered covered = what_runs_on(wanted, part);
    if (&part == &code.parts.front() || covered.how > worst.how) worst = covered;
  }
  return worst;
}

/// PTX from which code for the GPUs of `wanted` and all later ones can be made.
bool has_ptx_for(const GpuArch& wanted, const ArchSet& part) {
  return part.contains(wanted) || std::any_of(part.begin(), part.end(), [&](const GpuArch& image) {
           return image.is_virtual && image.suffix == 0 && image.number <= wanted.number;
         });
}

bool each_part_has(const GpuArch& arch, const GpuCode& code) {
  return std::all_of(code.parts.begin(), code.parts.end(), [&](const ArchSet& part) {
    return arch.is_virtual ? has_ptx_for(arch, part) : what_runs_on(arch, part).how < Coverage::AtLoad;
  });
}

/// Of code that a device link puts together.
bool is_part(const DeviceImage& image) {
  return image.found_in == DeviceContainer::RelocatableFatbin || image.found_in == DeviceContainer::OffloadBinary;
}

/// A part without functions and variables is in no link's way.
bool holds_anything(const ObjectFacts& object, std::uint32_t part, const HoldsContent& holds_content) {
  const std::vector<DeviceImage>& images = object.device.images;
  for (std::uint32_t i = 0; i < images.size(); ++i)
    if (is_part(images[i]) && images[i].container == part && images[i].arch.processor.empty() &&
        holds_content(object, i))
      return true;
  return false;
}

ArchSet of_any_part(const GpuCode& code) {
  ArchSet all;
  for (const ArchSet& part : code.parts) all.insert(part.begin(), part.end());
  return all;
}

}  // namespace

GpuCode gpu_code_of(const ObjectFacts& object, const HoldsContent& holds_content) {
  GpuCode code;
  std::map<std::uint32_t, ArchSet> parts;
  ArchSet of_all_parts;
  for (const DeviceImage& image : object.device.images) {
    if (image.kind == ImageKind::Other || (!image.arch.processor.empty() && !is_amd(image.arch))) continue;
    if (!is_part(image) || is_amd(image.arch)) {
      code.finished.insert(image.arch);
      continue;
    }
    parts[image.container].insert(image.arch);
    of_all_parts.insert(image.arch);
  }
  code.linked = object.kind != ObjectKind::Relocatable || !code.finished.empty();
  for (auto& [container, archs] : parts)
    if (!code.linked || archs == of_all_parts || holds_anything(object, container, holds_content))
      code.parts.push_back(std::move(archs));
  return code;
}

bool is_amd(const GpuArch& arch) { return arch.processor.starts_with("gfx"); }

bool is_device_runtime(const Origin& origin) { return base_name(origin.path) == "libcudadevrt.a"; }

Covered what_runs_on(const GpuArch& wanted, const std::set<GpuArch>& images) {
  Covered best;
  for (const GpuArch& image : images) {  // ascending: of equals the highest is taken
    const Coverage coverage = how(wanted, image);
    if (coverage <= best.how && coverage != Coverage::None) best = {coverage, image};
  }
  if (is_amd(wanted) && best.how == Coverage::OtherFeatures &&
      (suits_both(wanted, "sramecc", images) || suits_both(wanted, "xnack", images)))
    best.how = Coverage::Exact;
  return best;
}

std::size_t parts_for(const GpuArch& wanted, const GpuCode& code) {
  return static_cast<std::size_t>(std::count_if(code.parts.begin(), code.parts.end(), [&](const ArchSet& part) {
    return what_runs_on(wanted, part).how != Coverage::None;
  }));
}

Covered what_runs_on(const GpuArch& wanted, const GpuCode& code) {
  const Covered finished = what_runs_on(wanted, code.finished);
  Covered parts = worst_part(wanted, code);
  if (code.linked && (parts.how == Coverage::Exact || parts.how == Coverage::LowerMinor)) parts.how = Coverage::AtLoad;
  return finished.how <= parts.how ? finished : parts;
}

std::set<GpuArch> held_by(const GpuCode& code) {
  ArchSet held = code.finished;
  for (const GpuArch& arch : of_any_part(code))
    if (each_part_has(arch, code)) held.insert(arch);
  return held;
}

std::set<GpuArch> compiled_for(const GpuCode& code) {
  ArchSet compiled;
  for (const GpuArch& arch : of_any_part(code))
    if (!arch.is_virtual && !code.finished.contains(arch) && worst_part(arch, code).how == Coverage::Jit)
      compiled.insert(arch);
  return compiled;
}

}  // namespace elfaudit
