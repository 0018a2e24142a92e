#include "diagnose/log_arch_list.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "target/gpu_arch_list.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kName = "TORCH_CUDA_ARCH_LIST";

void skip(std::string_view& text, std::string_view any_of) {
  text.remove_prefix(std::min(text.find_first_not_of(any_of), text.size()));
}

/// What is assigned right behind the name; nothing when it is only mentioned or stands in a longer name.
std::optional<std::string> value_behind(std::string_view rest) {
  if (rest.starts_with("\"]") || rest.starts_with("']")) rest.remove_prefix(2);  // os.environ["..."]
  skip(rest, " ");
  if (rest.empty() || (rest.front() != '=' && rest.front() != ':')) return std::nullopt;
  const bool colon = rest.front() == ':';
  rest.remove_prefix(1);
  if (rest.starts_with('=')) return std::nullopt;  // a comparison
  // "X= nvcc" sets it to nothing for one command; only a colon or quotes come with a blank.
  std::string_view value = rest;
  skip(value, " ");
  if (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
    const std::size_t end = value.find(value.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(value.substr(1, end - 1));
  }
  if (colon) return value.empty() ? std::nullopt : std::optional(std::string(value));
  return std::string(rest.substr(0, rest.find_first_of(" \t\"')")));
}

void add(const std::string& value, LogArchList& list) {
  if (std::find(list.seen.begin(), list.seen.end(), value) != list.seen.end()) return;
  const std::optional<std::vector<GpuArch>> archs = try_gpu_arch_list(value);
  if (!archs && !value.empty()) return;  // "$ARCHS", prose
  list.seen.push_back(value);
  if (!archs) return;
  if (list.archs.empty()) {
    list.text = value;
    list.archs = *archs;
  }
  list.ambiguous = list.ambiguous || *archs != list.archs;
}

}  // namespace

void read_arch_list(std::span<const LogLine> lines, LogArchList& list) {
  for (const LogLine& line : lines) {
    const std::string_view text = line.text;
    for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + kName.size()))
      if (const auto value = value_behind(text.substr(at + kName.size()))) add(*value, list);
  }
}

}  // namespace elfaudit
