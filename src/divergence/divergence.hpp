// What a link merges or binds silently although the sides differ: the facts behind the rule divergent-definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/data_sizes.hpp"

namespace elfaudit {

// --- Definitions of data, by symbol tables alone.

/// Definitions that are alike.
struct DataVariant {
  SymbolId first;  ///< the one that the link keeps, else the first on its line
  std::uint64_t size = 0;
  DataPlace place = DataPlace::Any;
  std::size_t objects = 1;
};

/// A name whose definitions of data differ.
struct DataDivergence {
  std::string symbol;  ///< mangled
  std::vector<DataVariant>
      variants;  ///< two or more; first that of the definition that the link keeps, if it keeps one
};

/// By symbol. See data_divergence.cpp for what is compared.
std::vector<DataDivergence> find_data_divergences(const std::vector<InputFacts>& inputs, const Resolution& resolution);

/// Do all definitions of each name agree, whichever of them a link merges? Asked of the files of a build, most of whose
/// links need not be looked at then.
bool is_data_alike(const std::vector<InputFacts>& inputs);

}  // namespace elfaudit
