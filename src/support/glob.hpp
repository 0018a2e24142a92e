// The shell's patterns, as configuration files use them.
#pragma once

#include <fnmatch.h>

#include <string>

namespace elfaudit {

/// fnmatch(3); '*' fits '/' as well. An empty pattern fits everything.
inline bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// Also without its folders, when the pattern names none.
inline bool fits_path(const std::string& pattern, const std::string& path) {
  if (fits(pattern, path)) return true;
  return pattern.find('/') == std::string::npos && fits(pattern, path.substr(path.rfind('/') + 1));
}

}  // namespace elfaudit
