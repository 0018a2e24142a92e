#pragma once

#include <string_view>
#include <vector>

namespace elfaudit {

/// --python: "3.10-3.14", "3.10,3.12": the minor versions of Python 3, ascending. Throws UsageError.
std::vector<int> parse_python_list(std::string_view list);

}  // namespace elfaudit
