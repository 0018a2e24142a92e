#pragma once

#include <string>

#include "elfaudit/closure.hpp"

namespace elfaudit {

/// "RUNPATH", "ld.so.cache": how a library was found, for people.
std::string found_by_word(FoundBy found_by);

}  // namespace elfaudit
