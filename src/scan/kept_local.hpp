// Definitions that a linked file keeps for itself: names that other files may have too.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/package.hpp"

namespace elfaudit {

/// Which of `names` a program or shared object defines in .symtab and does not export: hidden variables and functions,
/// those that a version script made local, and the globals of a program that are not in its .dynsym. Never what the
/// source calls static. In the order of the table, each name once; nothing of a file without .symtab. Throws
/// InputError.
std::vector<KeptLocal> find_kept_local(const ObjectFacts& object, const std::unordered_set<std::string_view>& names);

}  // namespace elfaudit
