// Edits are proven before they are offered: each unit is read again with the edited text, and what made the finding
// must be gone from it.
#pragma once

#include <span>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

/// Takes the diffs away that are not proven; their texts stay, as advice. `stories`: of each finding's definitions.
/// `inputs`: of the audit; one that uses a symbol without having its definition needs it to stay visible.
void prove(std::vector<Finding>& findings, const std::vector<std::vector<Story>>& stories,
           std::span<const InputFacts> inputs, FileContents& files);

}  // namespace elfaudit
