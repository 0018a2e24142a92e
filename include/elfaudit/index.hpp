// Facts files: what an audit needs of an object, to use in the object's place.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/error.hpp"

namespace elfaudit {

/// Writes the facts of one object, archive, shared object, program or device code file to `output`, whole or not at
/// all. Returns what could not be read; unless that is empty nothing is written. `jobs`: threads, 0: as many as the
/// machine has. Throws UsageError when `output` can't be written.
std::vector<InputError> index_file(const std::string& path, const std::string& output, unsigned jobs = 0);

}  // namespace elfaudit
