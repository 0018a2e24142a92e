#include "load/library_paths.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace elfaudit {
namespace {

constexpr std::size_t kMostDirectories = 4096;

/// The token at a '$', as glibc tells it: "${ORIGIN}", or "$ORIGIN" whatever follows. 0: none.
std::size_t token_size(std::string_view text, std::string_view name) {
  const bool braces = text.starts_with("${");
  const std::string_view rest = text.substr(braces ? 2 : 1);
  if (!rest.starts_with(name)) return 0;
  if (!braces) return 1 + name.size();
  return rest.substr(name.size()).starts_with('}') ? 3 + name.size() : 0;
}

}  // namespace

std::string with_tokens(std::string_view text, const PathTokens& tokens) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> known{
      {{"ORIGIN", &tokens.origin}, {"PLATFORM", &tokens.platform}, {"LIB", &tokens.lib}}};
  std::string result;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    result.append(text.substr(0, dollar));
    text.remove_prefix(dollar);
    if (text.empty()) break;
    std::size_t size = 0;
    for (const auto& [name, value] : known) {
      size = token_size(text, name);
      if (size == 0) continue;
      if (value->empty()) return {};
      result += *value;
      break;
    }
    if (size == 0) result += '$';
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::vector<SearchDirectory> search_directories(std::string_view path, const PathTokens& tokens,
                                                std::string_view separators) {
  std::vector<SearchDirectory> result;
  if (path.empty()) return result;
  while (result.size() < kMostDirectories) {
    const std::size_t end = std::min(path.find_first_of(separators), path.size());
    const std::string spelled(path.substr(0, end));
    std::string directory = spelled.empty() ? "." : with_tokens(spelled, tokens);
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    result.push_back({spelled, std::move(directory)});
    if (end == path.size()) break;
    path.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace elfaudit
