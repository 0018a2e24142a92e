// Which files the debug info of an object names, and what it says was declared in one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"

namespace elfaudit {

/// The files of all line tables: those that gave code or declarations. Absolute ones, each once, sorted; empty without
/// debug info, or when it can't be read. Separate debug files are not looked for.
std::vector<std::string> files_in_debug_info(const Origin& origin);

struct Declared {
  std::string name;  ///< unqualified, as in the source
  std::uint32_t line = 0;
  auto operator<=>(const Declared&) const = default;
};

/// The variables and functions that the debug info declares in `file`, one of the names above; each once, sorted.
std::vector<Declared> declared_in(const Origin& origin, const std::string& file);

}  // namespace elfaudit
