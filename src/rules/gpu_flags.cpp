#include "rules/gpu_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rules/rules.hpp"
#include "target/gpu_arch_list.hpp"

namespace elfaudit {
namespace {

using Compiles = std::vector<const GpuCompile*>;

Finding about(std::string_view rule_id, std::string message, const Compiles& compiles) {
  Finding finding = make_finding(rule_id, {}, std::move(message));
  for (const GpuCompile* compile : compiles) {
    Site site;
    site.role = Role::Candidate;
    site.origin.path = compile->output;
    site.notes.push_back("by " + compile->where);
    finding.sites.push_back(std::move(site));
  }
  return finding;
}

std::string commands(const Compiles& compiles) {
  return compiles.size() == 1 ? compiles.front()->output : fmt::format("{} objects", compiles.size());
}

void duplicates(std::span<const GpuCompile> compiles, std::vector<Finding>& findings) {
  std::map<std::vector<std::string>, Compiles> groups;
  for (const GpuCompile& compile : compiles)
    if (!compile.flags.repeated.empty()) groups[compile.flags.repeated].push_back(&compile);
  for (const auto& [repeated, group] : groups) {
    const std::string what = repeated.size() == 1 ? "-gencode " + repeated.front()
                                                  : fmt::format("each of {} -gencode options", repeated.size());
    findings.push_back(about("gpu-flag-duplicate",
                             fmt::format("nvcc is given {} more than once for {}", what, commands(group)), group));
    Finding& finding = findings.back();
    finding.notes.push_back(fmt::format("twice: {}", fmt::join(repeated, " ")));
    finding.notes.emplace_back(
        "nvcc compiles each once, so the object doesn't show it; but two places of the build add them, and what one "
        "leaves out the other puts back");
    if (std::any_of(group.begin(), group.end(), [](const GpuCompile* c) { return c->flags.of_torch; }))
      finding.notes.emplace_back(
          "PyTorch adds the flags of TORCH_CUDA_ARCH_LIST, and takes an empty list as not set: set it to the list, or "
          "leave the flags to PyTorch");
  }
}

/// -arch=sm_80 also asks for PTX: that is not what a list without +PTX is about.
bool comes_along(const GpuArch& image, std::span<const GpuArch> wanted) {
  return image.is_virtual &&
         std::any_of(wanted.begin(), wanted.end(), [&](const GpuArch& arch) { return arch.number == image.number; });
}

struct Mismatch {
  std::vector<GpuArch> missing, extra;
  bool no_flags = false;                     ///< nothing chooses GPUs
  std::vector<std::string> looks_like_arch;  ///< why PyTorch has added none
  auto operator<=>(const Mismatch&) const = default;
  bool any() const { return no_flags || !missing.empty() || !extra.empty(); }
};

Mismatch mismatch_of(const GpuFlags& flags, std::span<const GpuArch> wanted) {
  Mismatch mismatch;
  mismatch.looks_like_arch = flags.looks_like_arch;
  if (!flags.says) {
    // PyTorch always adds some, unless a word made it believe that they are there.
    mismatch.no_flags = !wanted.empty() || (flags.of_torch && !flags.looks_like_arch.empty());
    return mismatch;
  }
  if (!flags.known || wanted.empty()) return mismatch;
  std::set_difference(wanted.begin(), wanted.end(), flags.images.begin(), flags.images.end(),
                      std::back_inserter(mismatch.missing));
  for (const GpuArch& image : flags.images)
    if (std::find(wanted.begin(), wanted.end(), image) == wanted.end() && !comes_along(image, wanted))
      mismatch.extra.push_back(image);
  return mismatch;
}

std::string message_of(const Mismatch& mismatch, const std::string& list_name, const Compiles& group) {
  if (mismatch.no_flags)
    return fmt::format("nvcc is told no GPU architecture for {}, so it compiles for its own default{}", commands(group),
                       list_name.empty() ? "" : " and not for " + list_name);
  std::string text = fmt::format("the flags for {} contradict {}:", commands(group), list_name);
  if (!mismatch.missing.empty()) text += " no " + gpu_arch_names(mismatch.missing);
  if (!mismatch.extra.empty())
    text += (mismatch.missing.empty() ? " also " : ", but ") + gpu_arch_names(mismatch.extra);
  return text;
}

void mismatches(std::span<const GpuCompile> compiles, std::span<const GpuArch> wanted, const std::string& list_name,
                std::vector<Finding>& findings) {
  std::map<Mismatch, Compiles> groups;
  for (const GpuCompile& compile : compiles)
    if (Mismatch mismatch = mismatch_of(compile.flags, wanted); mismatch.any())
      groups[std::move(mismatch)].push_back(&compile);
  for (const auto& [mismatch, group] : groups) {
    findings.push_back(about("gpu-flag-mismatch", message_of(mismatch, list_name, group), group));
    Finding& finding = findings.back();
    for (const GpuArch& arch : mismatch.missing) finding.archs.push_back(arch.name());
    if (!mismatch.looks_like_arch.empty())
      finding.notes.push_back(fmt::format(
          "{} has \"arch\" in it: PyTorch takes that for a choice of GPUs and ignores TORCH_CUDA_ARCH_LIST; add the "
          "-gencode options yourself, or do without it",
          fmt::join(mismatch.looks_like_arch, " ")));
    else if (!mismatch.no_flags)
      finding.notes.emplace_back(
          "PyTorch ignores TORCH_CUDA_ARCH_LIST when any nvcc flag has \"arch\" in it, and an empty list counts as not "
          "set");
  }
}

}  // namespace

std::vector<Finding> gpu_flag_findings(std::span<const GpuCompile> compiles, std::span<const GpuArch> wanted,
                                       const std::string& list_name) {
  std::vector<Finding> findings;
  duplicates(compiles, findings);
  mismatches(compiles, wanted, list_name, findings);
  return findings;
}

std::vector<Finding> gpu_flags(const Evidence& evidence) {
  return gpu_flag_findings(evidence.gpu_compiles, evidence.gpu_archs, evidence.gpu_archs.empty() ? "" : "--gpu-arch");
}

}  // namespace elfaudit
