// Parses single names and lists, spelled as for nvcc, CMake or PyTorch, and compares images with GPUs by the driver's
// rules.

#include "target/gpu_arch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>

#include "elfaudit/error.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

int release_number(std::string_view text) {
  constexpr int kMost = 999;
  int major = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc() || major < 0 || major > kMost || end - at < 2 || *at != '.') return 0;
  const bool one_digit = at[1] >= '0' && at[1] <= '9' && (end - at == 2 || at[2] < '0' || at[2] > '9');
  return one_digit ? major * 10 + (at[1] - '0') : 0;
}
namespace {

std::string suffix_of(const GpuArch& arch) { return arch.suffix == 0 ? std::string() : std::string(1, arch.suffix); }

}  // namespace

GpuArch parse_gpu_arch(std::string_view text) {
  GpuArch arch;
  if (text.starts_with("gfx")) {
    arch.processor = text;
    return arch;
  }
  std::string_view rest = text;
  arch.is_virtual = take_prefix(rest, "compute_");
  if (!arch.is_virtual && !take_prefix(rest, "sm_")) take_prefix(rest, "lto_");
  if (rest.ends_with('a') || rest.ends_with('f')) {
    arch.suffix = rest.back();
    rest.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), arch.number);
  // The oldest is 10, and three digits are the most there are: "9" and "9000" are slips of the finger.
  if (error != std::errc() || end != rest.data() + rest.size() || arch.number < 10 || arch.number > 999)
    throw UsageError(fmt::format("'{}' is not a GPU architecture; examples: sm_90, sm_90a, compute_100, gfx90a", text));
  return arch;
}

std::string GpuArch::name() const {
  if (!processor.empty()) return processor;
  return fmt::format("{}{}{}", is_virtual ? "compute_" : "sm_", number, suffix_of(*this));
}

std::string DeviceImage::target() const {
  return kind == ImageKind::LtoIr ? fmt::format("lto_{}{}", arch.number, suffix_of(arch)) : arch.name();
}

namespace {

struct NamedArch {
  std::string_view name;
  std::string_view means;
};

// torch/utils/cpp_extension.py, _get_cuda_arch_flags, named_arches.
constexpr std::array<NamedArch, 14> kNames{{{"Kepler+Tesla", "3.7"},
                                            {"Kepler", "3.5+PTX"},
                                            {"Maxwell+Tegra", "5.3"},
                                            {"Maxwell", "5.0;5.2+PTX"},
                                            {"Pascal", "6.0;6.1+PTX"},
                                            {"Volta+Tegra", "7.2"},
                                            {"Volta", "7.0+PTX"},
                                            {"Turing", "7.5+PTX"},
                                            {"Ampere+Tegra", "8.7"},
                                            {"Ampere", "8.0;8.6+PTX"},
                                            {"Ada", "8.9+PTX"},
                                            {"Hopper", "9.0+PTX"},
                                            {"Blackwell+Tegra", "11.0"},
                                            {"Blackwell", "10.0;10.3;12.0;12.1+PTX"}}};

// CMAKE_CUDA_ARCHITECTURES; Auto, All and Common are of PyTorch's select_compute_arch.cmake.
constexpr std::array<std::string_view, 7> kOfTheMachine{"native", "all",    "all-major",     "all-real",
                                                        "auto",   "common", "all-major-real"};

bool is_separator(char c) { return c == ';' || c == ',' || c == ' ' || c == '\t' || c == '\n'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// Digits, at most four, from the front.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::size_t size = 0;
  std::uint32_t number = 0;
  for (; size < text.size() && size < 4 && is_ascii_digit(text[size]); ++size)
    number = number * 10 + static_cast<std::uint32_t>(text[size] - '0');
  text.remove_prefix(size);
  return size == 0 ? std::nullopt : std::optional(number);
}

char take_feature_suffix(std::string_view& text) {
  if (text != "a" && text != "f") return 0;
  const char suffix = text.front();
  text = {};
  return suffix;
}

/// "90a", with nothing after it.
std::optional<GpuArch> plain_number(std::string_view text) {
  const std::optional<std::uint32_t> number = take_number(text);
  if (!number || *number < 10 || *number > 999) return std::nullopt;
  const char suffix = take_feature_suffix(text);
  return text.empty() ? std::optional(GpuArch{*number, suffix, false}) : std::nullopt;
}

/// "9.0a", with nothing after it.
std::optional<GpuArch> dotted_number(std::string_view text) {
  const std::optional<std::uint32_t> major = take_number(text);
  if (!major || *major == 0 || *major > 99 || !take_prefix(text, ".") || text.empty() || !is_ascii_digit(text.front()))
    return std::nullopt;
  const std::uint32_t minor = static_cast<std::uint32_t>(text.front() - '0');
  text.remove_prefix(1);
  const char suffix = take_feature_suffix(text);
  return text.empty() ? std::optional(GpuArch{*major * 10 + minor, suffix, false}) : std::nullopt;
}

GpuArch ptx_of(GpuArch arch) {
  arch.is_virtual = true;
  return arch;
}

using Archs = std::vector<GpuArch>;

Archs of_torch(std::string_view word) {
  const bool ptx = take_suffix(word, "+PTX");
  const std::optional<GpuArch> arch = dotted_number(word);
  if (!arch) return {};
  return ptx ? Archs{*arch, ptx_of(*arch)} : Archs{*arch};
}

Archs of_cmake(std::string_view word) {
  const bool real = take_suffix(word, "-real");
  const bool only_virtual = !real && take_suffix(word, "-virtual");
  const std::optional<GpuArch> arch = plain_number(word);
  if (!arch) return {};
  if (real) return {*arch};
  if (only_virtual) return {ptx_of(*arch)};
  return {*arch, ptx_of(*arch)};
}

Archs of_nvcc(std::string_view word) {
  const bool is_virtual = take_prefix(word, "compute_");
  if (!is_virtual && !take_prefix(word, "sm_") && !take_prefix(word, "lto_")) return {};
  const std::optional<GpuArch> arch = plain_number(word);
  if (!arch) return {};
  return {is_virtual ? ptx_of(*arch) : *arch};
}

/// "gfx942", "gfx90a:xnack+", "gfx9-4-generic". LLVM says the settings in this order.
Archs of_amd(std::string_view word) {
  std::string_view processor = word.substr(0, word.find(':'));
  GpuArch arch;
  arch.processor = processor;
  if (!take_prefix(processor, "gfx")) return {};
  const bool generic = take_suffix(processor, "-generic");
  const std::string_view allowed = generic ? "0123456789-" : "0123456789abcdef";
  if (processor.size() < (generic ? 1 : 3) || processor.find_first_not_of(allowed) != std::string_view::npos) return {};
  word.remove_prefix(arch.processor.size());
  std::set<std::string> settings;
  while (!word.empty()) {
    const std::size_t end = std::min(word.find(':', 1), word.size());
    const std::string_view setting = word.substr(0, end);
    if (!is_among(setting, {":sramecc+", ":sramecc-", ":xnack+", ":xnack-"})) return {};
    settings.emplace(setting);
    word.remove_prefix(end);
  }
  for (const std::string& setting : settings) arch.processor += setting;
  return {arch};
}

Archs named(std::string_view word) {
  for (const NamedArch& row : kNames)
    if (word == row.name) return parse_gpu_arch_list(row.means);
  return {};
}

/// What the word would have to be, or nothing.
std::string meant(std::string_view word) {
  const std::string small = lower(word);
  for (const NamedArch& row : kNames)
    if (lower(row.name) == small) return std::string(row.name);
  std::string_view rest = small;
  const bool ptx = take_suffix(rest, "+ptx") || take_suffix(rest, "-ptx");
  for (const std::string_view prefix : {"compute_", "compute", "sm_", "sm-", "sm"})
    if (take_prefix(rest, prefix)) {
      const std::optional<GpuArch> arch = plain_number(rest) ? plain_number(rest) : dotted_number(rest);
      return arch ? (prefix.starts_with("c") ? ptx_of(*arch) : *arch).name() : std::string();
    }
  if (dotted_number(rest) && ptx) return std::string(rest) + "+PTX";
  if (const std::optional<GpuArch> arch = plain_number(rest); arch && ptx)
    return fmt::format("{}.{}+PTX", arch->number / 10, arch->number % 10);
  if (rest.size() == 1 && is_ascii_digit(rest[0]) && rest[0] != '0') return std::string(rest) + ".0";
  return {};
}

[[noreturn]] void refuse(std::string_view word) {
  const std::string small = lower(word);
  if (std::find(kOfTheMachine.begin(), kOfTheMachine.end(), small) != kOfTheMachine.end())
    throw UsageError(fmt::format(
        "GPU architecture '{}' means something else for every {}: write out the list, like 8.0;9.0a;10.0+PTX", word,
        small == "native" || small == "auto" ? "machine" : "version of nvcc"));
  const std::string suggestion = meant(word);
  throw UsageError(
      fmt::format("'{}' is not a GPU architecture{}; examples: 9.0a, 10.0+PTX, Hopper, 80-real, 90-virtual, sm_90a, "
                  "compute_100, gfx90a",
                  word, suggestion.empty() ? "" : fmt::format(": did you mean {}?", suggestion)));
}

Archs parse_word(std::string_view word) {
  for (const auto reader : {of_torch, of_cmake, of_nvcc, of_amd, named})
    if (Archs archs = reader(word); !archs.empty()) return archs;
  refuse(word);
}

}  // namespace

std::vector<GpuArch> parse_gpu_arch_list(std::string_view text) {
  Archs all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_separator(text[end])) ++end;
    if (end != at) {
      const Archs archs = parse_word(text.substr(at, end - at));
      all.insert(all.end(), archs.begin(), archs.end());
    }
    at = end + 1;
  }
  if (all.empty())
    throw UsageError("the list of GPU architectures is empty; PyTorch treats an empty TORCH_CUDA_ARCH_LIST as not set");
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::optional<std::vector<GpuArch>> try_gpu_arch_list(std::string_view text) {
  try {
    return parse_gpu_arch_list(text);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string gpu_arch_names(const std::vector<GpuArch>& archs) {
  std::vector<std::string> names;
  for (const GpuArch& arch : archs) names.push_back(arch.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string gpu_arch_names(const std::set<GpuArch>& archs) {
  return gpu_arch_names(std::vector<GpuArch>(archs.begin(), archs.end()));
}

// --- Which image runs on which GPU.

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

bool is_device_runtime(const Origin& origin) {
  return base_name(origin.entry.empty() ? origin.path : origin.entry) == "libcudadevrt.a";
}

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
