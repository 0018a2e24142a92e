// The links of a build -> link jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/driver.hpp"

namespace elfaudit {

// --- A build folder -> the links that its build makes. Ninja (build.ninja, with its response files) and what CMake
// leaves for make (link.txt, dlink.txt). Nothing is run.

/// One command that links, or that makes a static library.
struct BuildLink {
  std::string output;              ///< as the build names it, from its folder: "lib/libfoo.so"
  std::string folder;              ///< where the command runs, seen from the working directory
  std::vector<std::string> argv;   ///< ninja's response file is in its place
  std::vector<std::string> needs;  ///< what it is made from, named like `output`; may lack what the line alone names
  bool archive = false;            ///< ar puts objects together
};

/// What a build folder says.
struct BuildPlan {
  std::string folder;            ///< as the user named it
  std::string program;           ///< "ninja" or "make"
  std::vector<BuildLink> links;  ///< in the order of their outputs
};

/// Is it the folder of a build that is read here?
bool is_build_folder(const std::string& folder);

/// Such folders up to three levels below one, the nearest first: "build", "build/temp.linux-x86_64-cpython-311". No
/// link to a folder is followed.
std::vector<std::string> builds_below(const std::string& folder);

/// The static libraries that the build of such a folder makes. Throws InputError for a file that can't be read.
BuildPlan archives_of_build(const std::string& folder);

/// The links that make `targets`: names that the build or CMake has for them, or outputs, from the build folder or from
/// here. No target: what the build makes when none is named, without static libraries, which link nothing. The device
/// link of a target comes along. Throws UsageError for a folder that isn't one, that has no link, or for a target that
/// isn't there, and InputError for a file that can't be read.
BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets);

// --- The command of a build's step that links, among the others of its line.

/// The last command of a shell line that links, or runs ar: of ": && c++ a.o -o app && :" the one in the middle.
/// `folder`: where the line begins. Nothing when none does.
std::optional<BuildLink> link_in_line(const std::string& line, const std::string& folder);

/// The value of -o, or the archive that ar makes; empty when there is none.
std::string output_of(const BuildLink& link);

/// The words that are files: what ar puts into its archive, or a linker's inputs; those of response files too.
std::vector<std::string> files_named(const BuildLink& link);

struct BuildJob {
  LinkJob job;
  std::vector<std::string> not_built;  ///< of its inputs those that the build makes and has not made: paths
};

/// One for each link of the plan, with paths as seen from the working directory, which it changes for a moment: no
/// other thread may run. A compiler is asked for its linker line, as job_from_command() has it, when it is in a folder
/// of PATH or is one of `ask`: what a build file names is not reason enough to start a program. What the build would
/// have to make first is told in one LinkJob::missing for each link. So is a command that can't be read.
std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask,
                              const std::optional<LinkerChoice>& linker);

}  // namespace elfaudit
