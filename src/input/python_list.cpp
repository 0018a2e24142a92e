#include "input/python_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

constexpr int kMostMinor = 99;

[[noreturn]] void fail(std::string_view list) {
  throw UsageError(fmt::format("--python {}: versions look like 3.12, lists like 3.10-3.14 or 3.10,3.12", list));
}

int minor_of(std::string_view version, std::string_view list) {
  int minor = 0;
  if (!version.starts_with("3.")) fail(list);
  version.remove_prefix(2);
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  if (error != std::errc() || end != version.data() + version.size() || minor < 0 || minor > kMostMinor) fail(list);
  return minor;
}

}  // namespace

std::vector<int> parse_python_list(std::string_view list) {
  std::set<int> minors;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dash = part.find('-');
    const int first = minor_of(part.substr(0, dash), list);
    const int last = dash == std::string_view::npos ? first : minor_of(part.substr(dash + 1), list);
    if (first > last) fail(list);
    for (int minor = first; minor <= last; ++minor) minors.insert(minor);
    if (comma == std::string_view::npos) return {minors.begin(), minors.end()};
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace elfaudit
