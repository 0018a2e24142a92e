// Edits are proven before they are offered: each unit is read again with the edited text, and what made the finding
// must be gone from it.
#pragma once

#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

/// Takes the diffs away that are not proven; their texts stay, as advice. `stories`: of each finding's definitions.
void prove(std::vector<Finding>& findings, const std::vector<std::vector<Story>>& stories, FileContents& files);

}  // namespace elfaudit
