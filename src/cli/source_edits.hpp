// --fix and --diff: the edits that findings offer, in the files of the project.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"

namespace elfaudit {

struct EditOptions {
  bool write = false;         ///< --fix; else the files stay as they are
  bool allow_dirty = false;   ///< --allow-dirty
  std::string source_root{};  ///< that relative paths of the findings start from; empty: the working directory
};

/// Findings that are not fixed for one reason.
struct NotFixed {
  std::string why;                 ///< "inc/state.h has uncommitted changes"
  std::vector<std::string> names;  ///< of their symbols; of a file, where it could not be written
};

/// What became of the edits.
struct EditOutcome {
  std::string diff;                ///< of all files, for `patch -p0`
  std::string diff_root{};         ///< the folder that its paths start from; empty: the working directory
  std::vector<std::string> files;  ///< that change, as findings show them
  std::size_t fixed = 0;           ///< findings with an edit that was applied, symbols of one cause counted singly
  std::size_t findings = 0;        ///< all
  std::vector<NotFixed> not_fixed{};
  bool failed = false;  ///< a file could not be written
};

/// Applies for each finding its first edit that is proven and complete. A file is edited only when it lies in the
/// project's tree (from the nearest folder at or above the working directory that has a .git, .hg or .svn; of a CMake
/// build folder that of its sources; else the working directory itself), also once links are followed, when its lines
/// are still those that were read, and, with `write`, when git says that it is committed as it is, or no version
/// control has it. Of edits that overlap the first finding's is applied.
/// Runs git, and nothing else.
EditOutcome edit_sources(const Audit& audit, const EditOptions& options);

}  // namespace elfaudit
