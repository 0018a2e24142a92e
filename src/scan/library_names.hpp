// Which libraries of some folders define some names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace elfaudit {

/// lib*.a and lib*.so of `folders` (not below them), each file once, that define any of `names` for other files to
/// use: path -> the names. Read from archive indexes and .dynsym only. Unreadable files are passed over.
std::map<std::string, std::set<std::string_view>> libraries_with(const std::vector<std::string>& folders,
                                                                 const std::set<std::string_view>& names);

}  // namespace elfaudit
