// What made a symbol a definition in more than one object, and the edits that would mend it.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"
#include "locate/why/project.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

/// Fills in Finding::cause and Finding::fixes, as far as they follow from what is known. `stories`: those of the
/// finding's definitions, in the order of its sites.
void explain_cause(Finding& finding, const std::vector<Story>& stories, const Project& project, FileContents& files);

}  // namespace elfaudit
