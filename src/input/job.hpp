// Files -> LinkJob, where something is known of them or they are to be left out: see elfaudit/jobs.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/jobs.hpp"

namespace elfaudit {

/// The words that no pattern fits; the others are appended to `excluded`.
std::vector<std::string> exclude(const std::vector<std::string>& words, const std::vector<std::string>& patterns,
                                 std::vector<std::string>& excluded);

/// What has been read of the files already.
struct KnownFiles {
  std::vector<bool> device_archives;  ///< by file: an archive with device code, which nvlink takes in once
};

/// `known`: every file is an object or archive; then none is looked at, and none is an @file.
LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker,
                       const std::optional<KnownFiles>& known);

}  // namespace elfaudit
