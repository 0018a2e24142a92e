// gpu-arch-differs: objects of one link that were compiled for different GPUs.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rules/gpu_coverage.hpp"

namespace elfaudit {
namespace {

using Sets = std::map<std::set<GpuArch>, std::vector<const GpuFile*>>;

/// Objects that are given by themselves: the user's own. Whatever a device link made has fewer images by its nature.
Sets sets_of_objects(const std::vector<GpuFile>& files) {
  Sets sets;
  for (const GpuFile& file : files)
    if (!file.library && !file.device_link_output && file.object->kind == ObjectKind::Relocatable)
      sets[file.held].push_back(&file);
  return sets;
}

/// The GPUs that any of the objects has code for.
std::set<GpuArch> gpus_of(const Sets& sets) {
  std::set<GpuArch> gpus;
  for (const auto& [held, files] : sets)
    for (const GpuArch& image : held)
      if (!image.is_virtual) gpus.insert(image);
  return gpus;
}

bool runs_on_all(const std::set<GpuArch>& held, const std::set<GpuArch>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(),
                     [&](const GpuArch& gpu) { return what_runs_on(gpu, held).how != Coverage::None; });
}

/// Members of archives that fail on a GPU for which the objects have code. More than the objects ask for is no fault.
Sets lacking_members(const std::vector<GpuFile>& files, const std::set<GpuArch>& gpus) {
  Sets sets;
  for (const GpuFile& file : files)
    if (file.library && !runs_on_all(file.held, gpus)) sets[file.held].push_back(&file);
  return sets;
}

void note_failures(const Sets& sets, const std::set<GpuArch>& gpus, Finding& finding) {
  for (const GpuArch& gpu : gpus) {
    std::size_t failing = 0;
    for (const auto& [held, files] : sets)
      if (what_runs_on(gpu, held).how == Coverage::None) failing += files.size();
    if (failing != 0)
      finding.notes.push_back(
          fmt::format("the kernels of {} don't run on {}", failing == 1 ? "one" : std::to_string(failing), gpu.name()));
  }
}

}  // namespace

std::vector<Finding> differing_architectures(const Evidence& evidence) {
  // Where the list is known, each file has been held against it.
  if (!evidence.gpu_archs.empty()) return {};
  const std::vector<GpuFile> files = gpu_files(evidence);
  Sets sets = sets_of_objects(files);
  if (sets.empty()) return {};
  const std::set<GpuArch> gpus = gpus_of(sets);
  for (auto& [held, members] : lacking_members(files, gpus)) {
    auto& list = sets[held];
    list.insert(list.end(), members.begin(), members.end());
  }
  if (sets.size() < 2) return {};

  std::vector<const Sets::value_type*> by_size;
  std::size_t count = 0;
  for (const auto& entry : sets) {
    by_size.push_back(&entry);
    count += entry.second.size();
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto* a, const auto* b) { return a->second.size() < b->second.size(); });
  Finding finding =
      make_finding("gpu-arch-differs", {},
                   fmt::format("{} objects of one link hold device code for {} different sets of GPU architectures",
                               count, sets.size()));
  // The odd ones first: a report shows the first sites of many.
  for (const auto* entry : by_size)
    for (const GpuFile* file : entry->second) finding.sites.push_back(file_site(*file));
  note_failures(sets, gpus, finding);
  return {std::move(finding)};
}

}  // namespace elfaudit
