// The rules about GPU architectures and nvcc's flags.

#include "rules/rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "target/gpu_arch.hpp"

namespace elfaudit {

// --- The rows.

namespace {

constexpr Rule kGpuArchMissing{.id = "gpu-arch-missing",
                               .severity = Severity::Error,
                               .summary = "no code for a GPU architecture that --gpu-arch requests",
                               .device = true};
constexpr Rule kGpuArchNoPtx{.id = "gpu-arch-no-ptx",
                             .severity = Severity::Warning,
                             .summary = "no PTX although --gpu-arch requests it: it can't run on later GPUs",
                             .device = true};
constexpr Rule kGpuArchUnexpected{.id = "gpu-arch-unexpected",
                                  .severity = Severity::Warning,
                                  .summary = "code for a GPU architecture that --gpu-arch doesn't request",
                                  .device = true};
constexpr Rule kGpuArchDiffers{.id = "gpu-arch-differs",
                               .severity = Severity::Warning,
                               .summary = "objects of one link were compiled for different GPU architectures",
                               .device = true};
constexpr Rule kGpuFlagDuplicate{.id = "gpu-flag-duplicate",
                                 .severity = Severity::Warning,
                                 .summary = "nvcc is given one -gencode twice: two places of the build add them",
                                 .device = true};
constexpr Rule kGpuFlagMismatch{
    .id = "gpu-flag-mismatch",
    .severity = Severity::Warning,
    .summary = "nvcc's flags request other GPU architectures than TORCH_CUDA_ARCH_LIST or --gpu-arch",
    .device = true};

// --- The files whose device code a user or a link is concerned with, and what each of them runs on.

/// An object, archive member, library or bare fatbin with device code.
struct GpuFile {
  const ObjectFacts* object = nullptr;
  GpuCode code;
  std::set<GpuArch> held;           ///< held_by(code)
  bool device_link_output = false;  ///< made by `nvcc -dlink`: finished code of other objects, never PTX
  bool library = false;             ///< comes in an archive, which may be anyone's
};

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

/// Those that the link or the user is concerned with: not the shared objects of a link command, nor the toolkit's own
/// libcudadevrt.
std::vector<GpuFile> gpu_files(const Evidence& evidence) {
  std::vector<GpuFile> files;
  std::set<std::string> seen;  // a file that is named twice is one
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    const InputFacts& input = evidence.inputs[i];
    const auto has_images = [](const ObjectFacts& object) { return !object.device.images.empty(); };
    if (std::ranges::none_of(input.objects, has_images)) continue;
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

/// The site of a whole file.
Site file_site(const GpuFile& file) {
  return make_file_site(file.object->origin, "holds " + gpu_arch_names(file.held));
}

// --- gpu-arch-differs: objects of one link that were compiled for different GPUs.

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
  return std::ranges::all_of(gpus, [&](const GpuArch& gpu) { return what_runs_on(gpu, held).how != Coverage::None; });
}

/// Members of archives that fail on a GPU for which the objects have code. More than the objects ask for is not a
/// fault.
Sets lacking_members(const std::vector<GpuFile>& files, const std::set<GpuArch>& gpus) {
  Sets sets;
  for (const GpuFile& file : files)
    if (file.library && !runs_on_all(file.held, gpus)) sets[file.held].push_back(&file);
  return sets;
}

void note_failures(const Sets& sets, const std::set<GpuArch>& gpus, Finding& finding) {
  for (const GpuArch& gpu : gpus) {
    std::vector<const GpuFile*> failing;
    for (const auto& [held, files] : sets)
      if (what_runs_on(gpu, held).how == Coverage::None) failing.insert(failing.end(), files.begin(), files.end());
    if (!failing.empty())
      finding.notes.push_back(fmt::format(
          "the kernels of {} don't run on {}",
          failing.size() == 1 ? failing.front()->object->origin.display() : fmt::format("{} files", failing.size()),
          gpu.name()));
  }
}

/// `asked`: the GPUs of the device link; empty: not known.
std::vector<Finding> differing_among(const std::vector<GpuFile>& files, const std::vector<GpuArch>& asked) {
  Sets sets = sets_of_objects(files);
  if (sets.empty()) return {};
  std::set<GpuArch> gpus = gpus_of(sets);
  if (!asked.empty())
    std::erase_if(gpus, [&](const GpuArch& gpu) { return std::ranges::find(asked, gpu) == asked.end(); });
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
  std::ranges::stable_sort(by_size, [](const auto* a, const auto* b) { return a->second.size() < b->second.size(); });
  Finding finding =
      make_finding(kGpuArchDiffers, {},
                   fmt::format("{} objects of one link hold device code for {} different sets of GPU architectures",
                               count, sets.size()));
  // The odd ones first: a report shows the first sites of many.
  for (const auto* entry : by_size)
    for (const GpuFile* file : entry->second) finding.sites.push_back(file_site(*file));
  note_failures(sets, gpus, finding);
  return {std::move(finding)};
}

std::vector<Finding> differing_architectures(const Evidence& evidence) {
  // Where the list is known, each file has been held against it.
  if (!evidence.gpu_archs.empty()) return {};
  std::vector<GpuFile> files = gpu_files(evidence);
  // A link may have objects of CUDA and of HIP.
  const auto amd = std::stable_partition(files.begin(), files.end(),
                                         [](const GpuFile& file) { return std::ranges::none_of(file.held, is_amd); });
  const std::vector<GpuArch> asked = evidence.job.device ? evidence.job.device->archs : std::vector<GpuArch>();
  std::vector<Finding> findings = differing_among({files.begin(), amd}, asked);
  for (Finding& finding : differing_among({amd, files.end()}, {})) findings.push_back(std::move(finding));
  return findings;
}

// --- gpu-arch-missing, gpu-arch-no-ptx and gpu-arch-unexpected: what --gpu-arch asks for, against what each file
// holds.

/// "a.o" or "3 of 12 files"
std::string who(const std::vector<const GpuFile*>& files, std::size_t of_all) {
  if (files.size() == 1) return files.front()->object->origin.display();
  if (files.size() == of_all) return fmt::format("each of {} files", of_all);
  return fmt::format("{} of {} files", files.size(), of_all);
}

/// "holds" for one file, "each of 3 files holds", "2 of 3 files hold"
std::string_view hold(const std::vector<const GpuFile*>& files, std::size_t of_all) {
  return files.size() == 1 || files.size() == of_all ? "holds" : "hold";
}

Finding about(const Rule& rule, Severity severity, const GpuArch& arch, std::string message,
              const std::vector<const GpuFile*>& files) {
  Finding finding = make_finding(rule, {}, std::move(message));
  finding.severity = severity;
  finding.archs.push_back(arch.name());
  for (const GpuFile* file : files) finding.sites.push_back(file_site(*file));
  return finding;
}

// --- code for a GPU

/// Jetson, Drive and Thor: NVIDIA promises binary compatibility among the other GPUs alone.
bool is_tegra(const GpuArch& arch) {
  constexpr std::uint32_t kTegra[] = {32, 53, 62, 72, 87, 101};
  return std::ranges::count(kTegra, arch.number) != 0;
}

Severity severity_of(const GpuArch& wanted, const Covered& covered) {
  switch (covered.how) {
    case Coverage::None:
      return Severity::Error;
    case Coverage::Jit:
      return Severity::Warning;
    case Coverage::OtherFeatures:  // sm_90a where sm_90 was asked for loses nothing on that GPU
      return wanted.suffix == 0 && !is_amd(wanted) ? Severity::Note : Severity::Warning;
    default:
      return Severity::Note;
  }
}

std::string missing_message(const GpuArch& wanted, const Covered& covered, const std::string& subject) {
  const std::string name = wanted.name();
  const std::string by = covered.by.name();
  switch (covered.how) {
    case Coverage::Jit:
      return fmt::format("{} is covered by JIT: {} no code for it, but PTX ({})", name, subject, by);
    case Coverage::OtherFeatures:
      if (is_amd(wanted))
        return fmt::format("{} is covered in part: {} code for it with some settings alone ({})", name, subject, by);
      return wanted.suffix == 0 ? fmt::format("{} is covered by {}: {} code for that GPU alone", name, by, subject)
                                : fmt::format("{} is missing: {} {}, which runs there without what only {} has", name,
                                              subject, by, name);
    case Coverage::AtLoad:
      return fmt::format(
          "{} is covered by a link when it is loaded: {} no linked code for it, but relocatable code ({})", name,
          subject, by);
    case Coverage::LowerMinor:
      if (is_amd(wanted))
        return fmt::format("{} is covered by {}: {} generic code, which runs there too", name, by, subject);
      return fmt::format("{} is covered by {}: {} code of a lower minor version, which runs there too{}", name, by,
                         subject, is_tegra(wanted) ? " (not promised by NVIDIA: one of them is for Tegra)" : "");
    default:
      return fmt::format("{} is missing: {} nothing that runs there", name, subject);
  }
}

using Files = std::vector<const GpuFile*>;

/// The driver links relocatable code anew for a GPU only where none of its parts is left out.
std::string why_not_linked(const GpuArch& wanted, const Files& group) {
  const GpuCode& code = group.front()->code;
  const std::size_t fit = parts_for(wanted, code);
  if (group.size() != 1 || !code.linked || fit == 0) return {};
  return fmt::format(
      "{} of its {} relocatable parts {} code or PTX for {}, and the driver links them only where all have", fit,
      code.parts.size(), fit == 1 ? "has" : "have", wanted.name());
}

void explain_missing(const GpuArch& wanted, const Covered& covered, const Files& group, Finding& finding) {
  if (covered.how == Coverage::None) {
    const bool relocatable =
        std::ranges::any_of(group, [](const GpuFile* file) { return file->code.linked && !file->code.parts.empty(); });
    finding.notes.emplace_back(
        is_amd(wanted) ? "the program fails there with hipErrorNoBinaryForGpu"
                       : "kernels fail there with \"no kernel image is available for execution on the device\"");
    if (relocatable)
      finding.notes.back() +=
          ", those of relocatable code with \"named symbol not found\" or \"device kernel image is invalid\"";
    if (std::string why = why_not_linked(wanted, group); !why.empty()) finding.notes.push_back(std::move(why));
  }
  if (covered.how == Coverage::Jit)
    finding.notes.emplace_back(
        "it works, but the driver compiles the PTX when it is first used, and keeps the result "
        "in the user's cache");
  if (covered.how == Coverage::AtLoad)
    finding.notes.emplace_back(
        "the device link made no code for it; give -gencode there too to link it once and for all");
}

bool holds_anything(const Evidence& evidence, const ObjectFacts& object) {
  for (std::uint32_t i = 0; i < object.device.images.size(); ++i)
    if (evidence.holds_device_content(object, i)) return true;
  return false;
}

void missing_code(const Evidence& evidence, const std::vector<GpuFile>& files, const GpuArch& wanted,
                  std::vector<Finding>& findings) {
  std::map<std::tuple<Coverage, GpuArch>, Files> groups;
  for (const GpuFile& file : files) {
    const Covered covered = what_runs_on(wanted, file.code);
    // libcufftw.so has an empty image for one GPU and runs on all.
    if (covered.how == Coverage::None && !holds_anything(evidence, *file.object)) continue;
    if (covered.how != Coverage::Exact) groups[{covered.how, covered.by}].push_back(&file);
  }
  for (const auto& [key, group] : groups) {
    const Covered covered{std::get<0>(key), std::get<1>(key)};
    const std::string subject = fmt::format("{} {}", who(group, files.size()), hold(group, files.size()));
    findings.push_back(
        about(kGpuArchMissing, severity_of(wanted, covered), wanted, missing_message(wanted, covered, subject), group));
    explain_missing(wanted, covered, group, findings.back());
  }
}

// --- PTX

/// PTX that later GPUs can compile: without a suffix.
std::set<GpuArch> lasting_ptx(const std::set<GpuArch>& held) {
  std::set<GpuArch> ptx;
  for (const GpuArch& image : held)
    if (image.is_virtual && image.suffix == 0) ptx.insert(image);
  return ptx;
}

void missing_ptx(const std::vector<GpuFile>& files, const GpuArch& wanted, std::vector<Finding>& findings) {
  Files without;
  std::map<std::set<GpuArch>, Files> with_other;
  for (const GpuFile& file : files) {
    if (file.device_link_output || file.held.contains(wanted)) continue;
    const std::set<GpuArch> other = lasting_ptx(file.held);
    if (other.empty() || wanted.suffix != 0)
      without.push_back(&file);
    else
      with_other[other].push_back(&file);
  }
  const auto subject = [&](const Files& group) {
    return fmt::format("{} {}", who(group, files.size()), hold(group, files.size()));
  };
  if (!without.empty()) {
    findings.push_back(about(kGpuArchNoPtx, Severity::Warning, wanted,
                             fmt::format("{} is requested, and {} no {}", wanted.name(), subject(without),
                                         wanted.suffix == 0 ? "PTX" : "such PTX"),
                             without));
    if (wanted.suffix == 0)
      findings.back().notes.emplace_back("without PTX nothing runs on a GPU of a later major version");
  }
  for (const auto& [other, group] : with_other)
    findings.push_back(
        about(kGpuArchMissing, Severity::Note, wanted,
              fmt::format("{} is missing: {} PTX of {} instead", wanted.name(), subject(group), gpu_arch_names(other)),
              group));
}

// --- what no one asked for

/// -arch=sm_80 adds the PTX of the same number, and -dlto that of its own: no sign of a wrong list.
bool comes_along(const GpuArch& image, std::span<const GpuArch> wanted) {
  return image.is_virtual &&
         std::ranges::any_of(wanted, [&](const GpuArch& arch) { return arch.number == image.number; });
}

/// In place of what is asked for, which is reported as missing.
bool is_stand_in(const GpuArch& image, const std::vector<GpuArch>& wanted, const std::set<GpuArch>& held) {
  return std::ranges::any_of(wanted, [&](const GpuArch& arch) {
    if (held.contains(arch) || is_amd(arch) != is_amd(image)) return false;
    return is_amd(arch) ? what_runs_on(arch, std::set<GpuArch>{image}).how != Coverage::None
                        : arch.number == image.number;
  });
}

void unexpected(const Evidence& evidence, const std::vector<GpuFile>& files, std::vector<Finding>& findings) {
  const std::vector<GpuArch> wanted(evidence.gpu_archs.begin(), evidence.gpu_archs.end());
  std::map<GpuArch, Files> by_arch;
  for (const GpuFile& file : files) {
    if (file.library && evidence.job.scope.command) continue;  // an archive for more GPUs than these is not a mistake
    for (const GpuArch& image : file.held)
      if (std::ranges::find(wanted, image) == wanted.end() && !comes_along(image, wanted) &&
          !is_stand_in(image, wanted, file.held))
        by_arch[image].push_back(&file);
  }
  for (const auto& [arch, group] : by_arch)
    findings.push_back(about(kGpuArchUnexpected, Severity::Warning, arch,
                             fmt::format("{} is not requested, and {} {} it", arch.name(), who(group, files.size()),
                                         hold(group, files.size())),
                             group));
}

std::vector<Finding> requested_architectures(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.gpu_archs.empty()) return findings;
  const std::vector<GpuFile> files = gpu_files(evidence);
  if (files.empty()) {
    findings.push_back(make_finding(kGpuArchMissing, {}, "no input contains device code"));
    findings.back().severity = Severity::Warning;
    return findings;
  }
  for (const GpuArch& wanted : evidence.gpu_archs) {
    if (wanted.is_virtual)
      missing_ptx(files, wanted, findings);
    else
      missing_code(evidence, files, wanted, findings);
  }
  unexpected(evidence, files, findings);
  return findings;
}

using Compiles = std::vector<const GpuCompile*>;

Finding about(const Rule& rule, std::string message, const Compiles& compiles) {
  Finding finding = make_finding(rule, {}, std::move(message));
  for (const GpuCompile* compile : compiles)
    finding.sites.push_back(make_file_site({.path = compile->output}, "by " + compile->where));
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
    findings.push_back(
        about(kGpuFlagDuplicate, fmt::format("nvcc is given {} more than once for {}", what, commands(group)), group));
    Finding& finding = findings.back();
    finding.notes.push_back(fmt::format("twice: {}", fmt::join(repeated, " ")));
    finding.notes.emplace_back(
        "nvcc compiles each once, so the object doesn't show it; but two places of the build add them, and what one "
        "leaves out the other puts back");
    if (std::ranges::any_of(group, [](const GpuCompile* c) { return c->flags.of_torch; }))
      finding.notes.emplace_back(
          "PyTorch adds the flags of TORCH_CUDA_ARCH_LIST, and treats an empty list as not set: set it to the list, or "
          "leave the flags to PyTorch");
  }
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
    if (std::ranges::find(wanted, image) == wanted.end() && !comes_along(image, wanted))
      mismatch.extra.push_back(image);
  return mismatch;
}

std::string message_of(const Mismatch& mismatch, const std::string& list_name, const Compiles& group) {
  if (mismatch.no_flags)
    return fmt::format("nvcc is given no GPU architecture for {}, so it compiles for its own default{}",
                       commands(group), list_name.empty() ? "" : " and not for " + list_name);
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
    findings.push_back(about(kGpuFlagMismatch, message_of(mismatch, list_name, group), group));
    Finding& finding = findings.back();
    for (const GpuArch& arch : mismatch.missing) finding.archs.push_back(arch.name());
    if (!mismatch.looks_like_arch.empty())
      finding.notes.push_back(fmt::format(
          "{} has \"arch\" in it: PyTorch treats that as a choice of GPUs and ignores TORCH_CUDA_ARCH_LIST; add the "
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

static std::vector<Finding> gpu_flags(const Evidence& evidence) {
  std::vector<GpuArch> of_nvcc;
  for (const GpuArch& arch : evidence.gpu_archs)
    if (!is_amd(arch)) of_nvcc.push_back(arch);
  return gpu_flag_findings(evidence.gpu_compiles, of_nvcc, evidence.gpu_archs.empty() ? "" : "--gpu-arch");
}

RuleFamily gpu_rules() {
  return {
      {&kGpuArchMissing, &kGpuArchNoPtx, &kGpuArchUnexpected, &kGpuArchDiffers, &kGpuFlagDuplicate, &kGpuFlagMismatch},
      {{requested_architectures}, {differing_architectures}, {.find = gpu_flags, .about_objects = true}}};
}

}  // namespace elfaudit
