#include "rules/python/stable_abi.hpp"

#include <algorithm>
#include <iterator>

namespace elfaudit {
namespace {

struct StableSymbol {
  std::string_view name;
  int since;
};

#include "rules/python/stable_abi_table.inc"

static_assert(std::is_sorted(std::begin(kStableAbi), std::end(kStableAbi),
                             [](const StableSymbol& a, const StableSymbol& b) { return a.name < b.name; }));

}  // namespace

std::optional<int> stable_since(std::string_view symbol) {
  const auto* found = std::lower_bound(std::begin(kStableAbi), std::end(kStableAbi), symbol,
                                       [](const StableSymbol& row, std::string_view name) { return row.name < name; });
  if (found == std::end(kStableAbi) || found->name != symbol) return std::nullopt;
  return found->since;
}

bool is_python_symbol(std::string_view symbol) {
  return (symbol.starts_with("Py") || symbol.starts_with("_Py")) && !symbol.starts_with("PyInit_");
}

int newest_python() { return kNewestPython; }

}  // namespace elfaudit
