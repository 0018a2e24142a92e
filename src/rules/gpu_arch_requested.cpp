// gpu-arch-missing, gpu-arch-no-ptx and gpu-arch-unexpected: what --gpu-arch asks for, against what each file holds.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "rules/gpu_coverage.hpp"

namespace elfaudit {
namespace {

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

Finding about(std::string_view rule_id, Severity severity, const GpuArch& arch, std::string message,
              const std::vector<const GpuFile*>& files) {
  Finding finding = make_finding(rule_id, {}, std::move(message));
  finding.severity = severity;
  finding.archs.push_back(arch.name());
  for (const GpuFile* file : files) finding.sites.push_back(file_site(*file));
  return finding;
}

// --- code for a GPU

/// Jetson, Drive and Thor: NVIDIA promises binary compatibility among the other GPUs alone.
bool is_tegra(const GpuArch& arch) {
  constexpr std::uint32_t kTegra[] = {32, 53, 62, 72, 87, 101};
  return std::find(std::begin(kTegra), std::end(kTegra), arch.number) != std::end(kTegra);
}

Severity severity_of(const GpuArch& wanted, const Covered& covered) {
  switch (covered.how) {
    case Coverage::None:
      return Severity::Error;
    case Coverage::Jit:
      return Severity::Warning;
    case Coverage::OtherFeatures:  // sm_90a where sm_90 was asked for loses nothing on that GPU
      return wanted.suffix == 0 ? Severity::Note : Severity::Warning;
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
      return wanted.suffix == 0 ? fmt::format("{} is covered by {}: {} code for that GPU alone", name, by, subject)
                                : fmt::format("{} is missing: {} {}, which runs there without what only {} has", name,
                                              subject, by, name);
    case Coverage::AtLoad:
      return fmt::format(
          "{} is covered by a link when it is loaded: {} no linked code for it, but relocatable code ({})", name,
          subject, by);
    case Coverage::LowerMinor:
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
    const bool relocatable = std::any_of(
        group.begin(), group.end(), [](const GpuFile* file) { return file->code.linked && !file->code.parts.empty(); });
    finding.notes.emplace_back("kernels fail there with \"no kernel image is available for execution on the device\"");
    if (relocatable)
      finding.notes.back() +=
          ", those of relocatable code with \"named symbol not found\" or \"device kernel image is invalid\"";
    if (std::string why = why_not_linked(wanted, group); !why.empty()) finding.notes.push_back(std::move(why));
  }
  if (covered.how == Coverage::Jit)
    finding.notes.emplace_back(
        "it works, but the driver compiles the PTX when it is first used, and keeps the result "
        "in a cache of the user's");
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
    findings.push_back(about("gpu-arch-missing", severity_of(wanted, covered), wanted,
                             missing_message(wanted, covered, subject), group));
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
    findings.push_back(about("gpu-arch-no-ptx", Severity::Warning, wanted,
                             fmt::format("{} is asked for, and {} no {}", wanted.name(), subject(without),
                                         wanted.suffix == 0 ? "PTX" : "such PTX"),
                             without));
    if (wanted.suffix == 0)
      findings.back().notes.emplace_back("without PTX nothing runs on a GPU of a later major version");
  }
  for (const auto& [other, group] : with_other)
    findings.push_back(about(
        "gpu-arch-missing", Severity::Note, wanted,
        fmt::format("{} is missing: {} PTX of {} instead", wanted.name(), subject(group), names_of(other)), group));
}

// --- what nobody asked for

/// -arch=sm_80 adds the PTX of the same number, and -dlto that of its own: no sign of a wrong list.
bool comes_along(const GpuArch& image, const std::vector<GpuArch>& wanted) {
  return image.is_virtual &&
         std::any_of(wanted.begin(), wanted.end(), [&](const GpuArch& arch) { return arch.number == image.number; });
}

/// In place of what is asked for, which is told as missing.
bool is_stand_in(const GpuArch& image, const std::vector<GpuArch>& wanted, const std::set<GpuArch>& held) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const GpuArch& arch) { return arch.number == image.number && !held.contains(arch); });
}

void unexpected(const Evidence& evidence, const std::vector<GpuFile>& files, std::vector<Finding>& findings) {
  const std::vector<GpuArch> wanted(evidence.gpu_archs.begin(), evidence.gpu_archs.end());
  std::map<GpuArch, Files> by_arch;
  for (const GpuFile& file : files) {
    if (file.library && evidence.job.scope.command) continue;  // an archive for more GPUs than these is no mistake
    for (const GpuArch& image : file.held)
      if (std::find(wanted.begin(), wanted.end(), image) == wanted.end() && !comes_along(image, wanted) &&
          !is_stand_in(image, wanted, file.held))
        by_arch[image].push_back(&file);
  }
  for (const auto& [arch, group] : by_arch)
    findings.push_back(about("gpu-arch-unexpected", Severity::Warning, arch,
                             fmt::format("{} is not asked for, and {} {} it", arch.name(), who(group, files.size()),
                                         hold(group, files.size())),
                             group));
}

}  // namespace

std::vector<Finding> requested_architectures(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.gpu_archs.empty()) return findings;
  const std::vector<GpuFile> files = gpu_files(evidence);
  if (files.empty()) {
    findings.push_back(make_finding("gpu-arch-missing", {}, "no input holds device code, for no GPU at all"));
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

}  // namespace elfaudit
