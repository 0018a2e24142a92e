// Parses single names and lists, spelled as for nvcc, CMake or PyTorch.

#include "target/gpu_arch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "elfaudit/error.hpp"
#include "support/strings.hpp"

namespace elfaudit {
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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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
  for (; size < text.size() && size < 4 && is_digit(text[size]); ++size)
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
  if (!major || *major == 0 || *major > 99 || !take_prefix(text, ".") || text.empty() || !is_digit(text.front()))
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
  if (rest.size() == 1 && is_digit(rest[0]) && rest[0] != '0') return std::string(rest) + ".0";
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

}  // namespace elfaudit
