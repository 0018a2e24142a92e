// What a user has -> LinkJob: files, a link command, or a build folder. Opens files only to tell linker scripts and the
// machine of a library from other inputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

// --- Which linker's rules a link is judged by.

struct LinkerChoice {
  LinkerKind kind = LinkerKind::Bfd;
  int version = 0;  ///< major; 0: not said
};

/// May a program that a command names be started, to ask it what it would do? Empty: every one. The user's own command
/// is what they would run themselves; one found in a file may name anything.
using MayAsk = std::function<bool(const std::string& program)>;

/// --linker: "bfd", "lld", "mold", with a version behind a colon: "lld:14". Throws UsageError.
LinkerChoice parse_linker_choice(std::string_view text);

// --- One link.

/// Plain files in link order, `@response` files and linker scripts expanded. Missing files go to LinkJob::missing;
/// wheels and directories to LinkJob::packages, which take no part in the link. All others take part in the device link
/// too, for every architecture present. `linker`: whose rules to judge by; else GNU ld's.
LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker = {});

/// A link command, word for word: a compiler driver (gcc, g++, cc, c++, clang, clang++ and their cross and versioned
/// names, behind ccache and the like) or a linker (ld, ld.bfd, ld.gold, ld.lld, mold). A driver is asked for its own
/// linker line with -###, which runs nothing; when it can't be run, the words are read as they are and
/// LinkJob::notes says what is not known. nvcc is asked with --dryrun, and then its host compiler as above; nvlink's
/// words are read as they are. Of `ar` the files that it archives are taken as plain files. Throws UsageError when it
/// is not a link command. `linker`: whose rules to judge by, and read the options by; else those of the linker that the
/// command runs. Its name says its version, or else it is run with
/// --version where the command names it (ld.lld, -fuse-ld=).
/// `may_ask`: for a command found in a file, which programs may be started. If its own may not, its words are read as
/// they are, and no program that they name is started.
LinkJob job_from_command(const std::vector<std::string>& argv, const std::optional<LinkerChoice>& linker = {},
                         const MayAsk& may_ask = {});

/// --arch: what to link device code for, instead of what the command says ("sm_90a", "compute_90"). No names change
/// nothing. Throws UsageError for a name that is not an architecture.
void choose_device_archs(LinkJob& job, const std::vector<std::string>& names);

/// Takes the inputs that fit one of the shell patterns off the job and names them in LinkJob::left_out. A pattern
/// without a folder is held against the file's own name.
void leave_out(LinkJob& job, const std::vector<std::string>& patterns);

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

/// The links that make `targets`: names that the build or CMake has for them, or outputs, from the build folder or from
/// here. No target: what the build makes when none is named, without static libraries, which link nothing. The device
/// link of a target comes along. Throws UsageError for a folder that isn't one, that has no link, or for a target that
/// isn't there, and InputError for a file that can't be read.
BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets = {});

struct BuildJob {
  LinkJob job;
  std::vector<std::string> not_built;  ///< of its inputs those that the build makes and has not made: paths
};

/// One for each link of the plan, with paths as seen from the working directory, which it changes for a moment: no
/// other thread may run. A compiler is asked for its linker line, as job_from_command() has it, when it is in a folder
/// of PATH or is one of `ask`: what a build file names is not reason enough to start a program. What the build would
/// have to make first is one LinkJob::missing for each link, and so is a command that can't be read.
std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask = {},
                              const std::optional<LinkerChoice>& linker = {});

}  // namespace elfaudit
