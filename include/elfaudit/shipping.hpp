// The limits that a project sets for the files it ships: [ship] in the configuration, and the options of the same names.
// Checked by src/rules/shipping.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elfaudit {

/// An empty list and an empty string ask for nothing.
struct ShipPolicy {
  std::string runs_on;                ///< --runs-on: the oldest system, "glibc-2.28", "debian-11", "manylinux_2_28"
  std::vector<std::string> exports;   ///< --exports: patterns of symbols, or files that list the exported symbols
  std::vector<std::string> may_need;  ///< --may-need: patterns of the sonames that files may need, and presets
  std::vector<std::string> must_not_need;  ///< --must-not-need: patterns of sonames
  std::uint64_t page_size = 0;             ///< --page-size: bytes; 0: not checked
};

}  // namespace elfaudit
