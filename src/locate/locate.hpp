// Finding -> file and line. Only the objects that a finding names are opened.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"

namespace elfaudit {

/// Fills in Site::place of those of `sites` that are definitions. Parallel over objects; the result does not depend on
/// it.
void locate(const std::vector<Site*>& sites, const std::vector<InputFacts>& inputs);

/// The same for every site of `findings`.
void locate(std::vector<Finding>& findings, const std::vector<InputFacts>& inputs);

}  // namespace elfaudit
