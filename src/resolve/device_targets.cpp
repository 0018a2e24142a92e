// What nvlink reads, and which image it takes of it. Found by experiment with CUDA 13.0:
//
//  1. Every member of every archive takes part, needed or not. Shared objects and finished code (.nv_fatbin) are
//  ignored.
//  2. Of __nv_relfatbin only the first container is read.
//  3. For sm_T: the cubin for T, whatever its suffix; else the one of the same major and the highest lower minor that
//  has
//     no suffix 'a'; else the PTX of the highest architecture that is not above T; else LTO-IR, which it refuses unless
//     asked for; else the object is skipped with a warning.

#include "resolve/device_targets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace elfaudit {
namespace {

bool linkable(const DeviceImage& image) {
  return image.container == 0 &&
         (image.found_in == DeviceContainer::RelocatableFatbin || image.found_in == DeviceContainer::FatbinFile ||
          image.found_in == DeviceContainer::CubinFile);
}

/// Rule 3: the better of two images for `target`, by a key that is smaller for the better one; nothing when it won't
/// do.
using Rank = std::tuple<int, std::uint32_t>;
std::optional<Rank> rank(const DeviceImage& image, std::uint32_t target) {
  const std::uint32_t number = image.arch.number;
  switch (image.kind) {
    case ImageKind::Cubin:
      if (number == target) return Rank{0, 0};
      if (number / 10 == target / 10 && number < target && image.arch.suffix != 'a') return Rank{1, target - number};
      return std::nullopt;
    case ImageKind::Ptx:
      return number <= target ? std::optional(Rank{2, target - number}) : std::nullopt;
    case ImageKind::LtoIr:
      return number <= target ? std::optional(Rank{3, target - number}) : std::nullopt;
    case ImageKind::Other:
      return std::nullopt;
  }
  return std::nullopt;
}

bool takes_part(const InputFacts& input) {
  return input.kind == InputKind::Object || input.kind == InputKind::Archive || input.kind == InputKind::DeviceFile;
}

/// The architectures there is code for, one of each number: "sm_90a" rather than "sm_90" where both are there.
void collect(const InputFacts& input, std::map<std::uint32_t, char>& archs) {
  for (const ObjectFacts& object : input.objects) {
    if (object.kind != ObjectKind::Relocatable) continue;
    const bool cubins = std::any_of(object.device.images.begin(), object.device.images.end(), [](const DeviceImage& i) {
      return linkable(i) && i.kind != ImageKind::Ptx && i.kind != ImageKind::Other;
    });
    for (const DeviceImage& image : object.device.images) {
      // PTX beside code for a GPU is there to be compiled when it is loaded; alone, it is what will be linked.
      if (!linkable(image) || image.kind == ImageKind::Other || (image.kind == ImageKind::Ptx && cubins)) continue;
      char& suffix = archs[image.arch.number];
      suffix = std::max(suffix, image.arch.suffix);
    }
  }
}

std::vector<GpuArch> present(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  std::map<std::uint32_t, char> archs;
  for (const std::uint32_t i : job.device->order)
    if (takes_part(inputs[i]) && inputs[i].kind != InputKind::Archive) collect(inputs[i], archs);
  if (archs.empty())
    for (const std::uint32_t i : job.device->order)
      if (takes_part(inputs[i])) collect(inputs[i], archs);
  std::vector<GpuArch> list;
  for (const auto& [number, suffix] : archs) list.push_back({number, suffix, false});
  return list;
}

void fill(DeviceTarget& target, const LinkJob& job, const std::vector<InputFacts>& inputs) {
  for (const std::uint32_t i : job.device->order) {
    if (!takes_part(inputs[i])) continue;
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      const DeviceFacts& device = object.device;
      if (object.nested || std::none_of(device.images.begin(), device.images.end(), linkable)) continue;
      const std::uint32_t image = image_for(device, target.arch);
      const ObjectId id{i, o};
      if (image == kNone)
        target.skipped.push_back(id);
      else if (device.images[image].kind == ImageKind::LtoIr)
        target.unreadable.push_back(id);
      else
        target.inputs.push_back({id, image});
    }
  }
}

}  // namespace

std::uint32_t image_for(const DeviceFacts& facts, const GpuArch& target) {
  std::uint32_t best = kNone;
  std::optional<Rank> best_rank;
  for (std::uint32_t i = 0; i < facts.images.size(); ++i) {
    if (!linkable(facts.images[i])) continue;
    const auto candidate = rank(facts.images[i], target.number);
    if (candidate && (!best_rank || *candidate < *best_rank)) {
      best = i;
      best_rank = candidate;
    }
  }
  return best;
}

std::vector<DeviceTarget> device_targets(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  std::vector<DeviceTarget> targets;
  if (!job.device) return targets;
  const std::vector<GpuArch> archs = job.device->archs.empty() ? present(job, inputs) : job.device->archs;
  for (const GpuArch& arch : archs) {
    targets.push_back({arch, {}, {}, {}});
    fill(targets.back(), job, inputs);
  }
  return targets;
}

std::vector<DeviceInput> whole_program_images(const std::vector<InputFacts>& inputs,
                                              const std::vector<std::vector<bool>>& linked) {
  std::vector<DeviceInput> images;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) {
      const ObjectFacts& object = inputs[i].objects[o];
      // An object with both kinds is the output of a device link, whose variables are shared already.
      if (!linked[i][o] || object.kind != ObjectKind::Relocatable || object.device.containers != 0) continue;
      const auto& list = object.device.images;
      const auto found = std::find_if(list.begin(), list.end(), [](const DeviceImage& image) {
        return image.found_in == DeviceContainer::LinkedFatbin &&
               (image.kind == ImageKind::Cubin || image.kind == ImageKind::Ptx);
      });
      if (found != list.end()) images.push_back({{i, o}, static_cast<std::uint32_t>(found - list.begin())});
    }
  }
  return images;
}

}  // namespace elfaudit
