// Wheels and directories -> packages. A wheel is read in place: nothing is unpacked to disk, and of its content only
// one file per thread is in memory at a time.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/package.hpp"

namespace elfaudit {

/// The packages at `paths`, in that order; the wheels that lie in a directory follow it. Never throws for what it
/// finds: Package::errors and InputFacts::errors.
std::vector<Package> read_packages(const std::vector<std::string>& paths, unsigned jobs = 0);

/// What was not done with packages, for the reader: objects in a directory are not linked, links that lead out of it
/// are not followed, archives in a wheel are not looked into.
std::vector<std::string> remarks_on(const std::vector<Package>& packages);

}  // namespace elfaudit
