// From what a user has (files, a link command, a build folder) to a LinkJob. Opens files only to recognise linker
// scripts and a library's machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

// --- The linker whose rules apply.

struct LinkerChoice {
  LinkerKind kind = LinkerKind::Bfd;
  int version = 0;  ///< major; 0: not known
};

/// May a program that a command names be started, to ask it what it would do? Empty: any may. The user's own command is
/// trusted; one found in a file may name anything.
using MayRun = std::function<bool(const std::string& program)>;

/// The linkers whose rules are known: "bfd", "gold", "lld" and "mold".
std::vector<std::string> linker_names();

/// --linker: one of linker_names(), optionally with a version after a colon ("lld:14"). Throws UsageError.
LinkerChoice parse_linker_choice(std::string_view text);

// --- One link.

/// Plain files in link order, `@response` files and linker scripts expanded. Missing files go to LinkJob::missing;
/// wheels and directories to LinkJob::packages, which take no part in the link. All others are inputs of the device
/// link too, for every architecture present. `linker`: whose rules apply; else GNU ld's.
LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker = {});

/// A link command, word for word: a compiler driver (gcc, g++, cc, c++, clang, clang++ and their cross and versioned
/// names, behind ccache and the like) or a linker (ld, ld.bfd, ld.gold, ld.lld, mold). A driver is asked for its own
/// linker line with -###, which runs nothing; when it can't be run, the words are read as they are and LinkJob::notes
/// says what is not known. nvcc is asked with --dryrun, and then its host compiler as above; nvlink's words are read as
/// they are. Of `ar`, the files that it archives are treated as plain files. Throws UsageError when it is not a link
/// command. `linker`: whose rules and options apply; else those of the linker that the command runs. Its version comes
/// from its name, or else it is run with --version where the command names it (ld.lld, -fuse-ld=). `may_ask`: for a
/// command found in a file, which programs may be started. If its own may not, its words are read as they are, and no
/// program that they name is started.
LinkJob job_from_command(const std::vector<std::string>& argv, const std::optional<LinkerChoice>& linker = {},
                         const MayRun& may_ask = {});

/// The same of a command that a log shows. A log may come from anyone: no program that it names is started, and none is
/// given a word of it. What a driver adds to the line is known from the system's gcc, g++, clang or clang++, in /usr/bin,
/// which is asked with a few options that name no file; where there is none, the words are all that is known.
LinkJob job_from_log_command(const std::vector<std::string>& argv);

/// --arch: the architectures of the device link, instead of the command's ("sm_90a", "compute_90"). An empty list
/// changes nothing. Throws UsageError for a name that is not an architecture.
void choose_device_archs(LinkJob& job, const std::vector<std::string>& names);

/// Has the facts file beside each input take its place, where there is one and the input is as it was when index_beside()
/// made it. What it is beside is the file of that name, whatever it was called then.
void use_facts_beside(LinkJob& job);

/// Removes the inputs that match one of the shell patterns from the job and names them in LinkJob::excluded. A pattern
/// without a folder is matched against the file's base name.
void exclude(LinkJob& job, const std::vector<std::string>& patterns);

// --- From a build folder to the links that its build makes. Ninja (build.ninja, with its response files) and what
// CMake leaves for make (link.txt, dlink.txt). Nothing is run.

/// One command that links, or that makes a static library.
struct BuildLink {
  std::string output;             ///< as the build names it, from its folder: "lib/libfoo.so"
  std::string folder;             ///< where the command runs, seen from the working directory
  std::vector<std::string> argv;  ///< ninja's response file is in its place
  std::vector<std::string>
      needs;             ///< what it is made from, named like `output`; may lack files that only the command names
  bool archive = false;  ///< made by ar
  std::string target{};  ///< CMake's name of it; empty: not known
};

/// The links of a build folder.
struct BuildPlan {
  std::string folder;            ///< as the user named it
  std::string program;           ///< "ninja" or "make"
  std::vector<BuildLink> links;  ///< in the order of their outputs
  std::string configuration{};   ///< of CMake's Ninja Multi-Config, where it is not what ninja takes by default
  std::string note{};            ///< which configuration it is, and how to choose another

  /// The command that builds it: "ninja -C build".
  std::string command() const;
};

/// Is it the folder of a build of a supported kind?
bool is_build_folder(const std::string& folder);

/// The links that make `targets`: their names in the build or in CMake, or output files, relative to the build folder
/// or to the working directory. No target: the build's default, without static libraries, which link nothing. The
/// device link of a target is included. Throws UsageError for a folder that isn't a build folder or has no link, and
/// for an unknown target, and InputError for a file that can't be read.
BuildPlan plan_of_build(const std::string& folder, const std::vector<std::string>& targets = {});

struct BuildJob {
  LinkJob job;
  std::vector<std::string> not_built;  ///< paths of the inputs that the build makes and has not made yet
};

/// One for each link of the plan, with paths as seen from the working directory, which it changes meanwhile: no
/// other thread may run. A compiler is asked for its linker line, as job_from_command() has it, when it is in a folder
/// of PATH or is one of `ask`: a build file alone is not trusted to name programs to start. The files that the build
/// would have to make first are one LinkJob::missing for each link, and so is a command that can't be read.
std::vector<BuildJob> jobs_of(const BuildPlan& plan, const std::vector<std::string>& ask = {},
                              const std::optional<LinkerChoice>& linker = {});

}  // namespace elfaudit
