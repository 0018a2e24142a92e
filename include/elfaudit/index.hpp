// Facts files: what an audit needs of an object, to use in the object's place.
#pragma once

#include <string>
#include <vector>

#include "elfaudit/error.hpp"

namespace elfaudit {

struct IndexOptions {
  unsigned jobs = 0;   ///< threads; 0: as many as the machine has
  bool types = false;  ///< keep what divergent-definition compares of debug info, too
};

/// An object, and the facts file that is made of it.
struct FactsOfFile {
  std::string path;
  std::string output;
};

/// FOLDER/a/b.o.facts for a/b.o: where the facts of many files go, each below `folder` under its own path without its
/// first "/", "." and "x/..", and with "__" for each ".." that is left. Nothing is looked at on disk. Throws UsageError
/// that names two files whose facts would be one file.
std::vector<FactsOfFile> facts_below(const std::string& folder, const std::vector<std::string>& paths);

/// As index_file() for each, and makes the folders that are missing. A file that can't be read costs its own facts
/// alone; what could not be read comes in the order of `files`.
std::vector<InputError> index_each(const std::vector<FactsOfFile>& files, const IndexOptions& options = {});

/// Writes the facts of several files to `output`, which then replaces all of them, in their order: whole or not at
/// all, as index_file(). Throws UsageError for a file that is named twice, too.
std::vector<InputError> index_together(const std::vector<std::string>& paths, const std::string& output,
                                       const IndexOptions& options = {});

/// As index_file(), to `path`.facts, which then takes the place of the file for use_facts_beside().
std::vector<InputError> index_beside(const std::string& path, const IndexOptions& options = {});

/// Writes the facts of one object, archive, shared object, program or device code file to `output`, whole or not at
/// all. Returns what could not be read; unless that is empty nothing is written. Throws UsageError when `output` can't be
/// written.
std::vector<InputError> index_file(const std::string& path, const std::string& output,
                                   const IndexOptions& options = {});

}  // namespace elfaudit
