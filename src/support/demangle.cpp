// Demangles with the C++ runtime.

#include "support/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace elfaudit {

std::string demangle(std::string_view name) {
  constexpr std::size_t kLongest = 2048;  // substitutions make the demangled form grow without bound
  if (!name.starts_with("_Z") || name.size() > kLongest) return std::string(name);
  const std::size_t at = name.find('@');
  const std::string mangled(name.substr(0, at));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::string(name);
  std::string result(text.get());
  if (at != std::string_view::npos) result += name.substr(at);
  return result;
}

std::string without_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

}  // namespace elfaudit
