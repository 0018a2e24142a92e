// The links of a build: the parts of elfaudit/jobs.hpp that other stages ask for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/jobs.hpp"

namespace elfaudit {

// --- A build folder -> the links that its build makes. Ninja (build.ninja, with its response files) and what CMake
// leaves for make (link.txt, dlink.txt). Nothing is run.

/// Such folders up to three levels below one, the nearest first: "build", "build/temp.linux-x86_64-cpython-311". No
/// link to a folder is followed.
std::vector<std::string> builds_below(const std::string& folder);

/// The static libraries that the build of such a folder makes. Throws InputError for a file that can't be read.
BuildPlan archives_of_build(const std::string& folder);

/// What a build links or archives. Paths are as seen from the working directory.
struct BuildProduct {
  std::string target;  ///< CMake's name of it; empty: not known
  std::string output;  ///< empty: an object library of CMake's, which makes no file
  bool archive = false;
  std::vector<std::string> objects;
  std::vector<std::string> needs;  ///< other products
};

struct BuildProducts {
  std::vector<BuildProduct> products;
  std::map<std::string, std::string> sources;  ///< of objects; what the Makefiles of CMake don't say in one place
};

/// All of a build folder's. Throws as plan_of_build() does.
BuildProducts products_of_build(const std::string& folder);

/// By its name.
inline bool is_object_name(const std::string& path) {
  return path.ends_with(".o") || path.ends_with(".obj") || path.ends_with(".lo");
}

// --- The command of a build's step that links, among the others of its line.

/// The last command of a shell line that links, or runs ar: of ": && c++ a.o -o app && :" the one in the middle.
/// `folder`: where the line begins. Nothing when none does.
std::optional<BuildLink> link_in_line(const std::string& line, const std::string& folder);

/// job_from_log_command() where the link runs, with paths as seen from the working directory, which it changes meanwhile:
/// no other thread may run.
LinkJob job_of_log_link(const BuildLink& link);

/// The value of -o, or the archive that ar makes; empty when there is none.
std::string output_of(const BuildLink& link);

/// The words that are files: what ar puts into its archive, or a linker's inputs; those of response files too.
std::vector<std::string> files_named(const BuildLink& link);

}  // namespace elfaudit
