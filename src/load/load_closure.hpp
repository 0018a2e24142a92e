// Programs and shared objects -> what would be loaded with each. The only part of an audit that looks at files beyond
// the inputs because a loader would.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "elfaudit/package.hpp"

namespace elfaudit {

struct LoadedImages {
  std::vector<Image> images;
  LoadedLibraries libraries;
};

/// An image for every program and shared object among plain inputs and in packages; those of a link command have none.
/// Pointers lead into `inputs`, `packages` and `libraries`. Never throws for a bad file: what can't be read is in
/// Closure::errors, or null in Image::loaded.
LoadedImages find_images(const LinkJob& job, const std::vector<InputFacts>& inputs,
                         const std::vector<Package>& packages, const ClosureOptions& options);

/// The libraries that an interpreter for the machine of `object` has loaded for every module, as far as they are there.
std::vector<ObjectFacts> read_interpreter_libraries(const ObjectFacts& object, const std::string& root);

}  // namespace elfaudit
