// What the user typed -> LinkJob. Opens files only to tell linker scripts and the machine of a library from other
// inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "input/driver.hpp"

namespace elfaudit {

// --- Inputs that the user wants left alone: they are taken off the job before anything of them is read.

/// Takes the inputs that fit one of the shell patterns off the job and names them in LinkJob::left_out. A pattern
/// without a folder is held against the file's own name.
void leave_out(LinkJob& job, const std::vector<std::string>& patterns);

/// The words that no pattern fits; the others are appended to `left_out`.
std::vector<std::string> leave_out(const std::vector<std::string>& words, const std::vector<std::string>& patterns,
                                   std::vector<std::string>& left_out);

/// What has been read of the files already.
struct KnownFiles {
  std::vector<bool> device_archives;  ///< by file: an archive with device code, which nvlink takes in once
};

/// Plain files in link order, `@response` files and linker scripts expanded. Missing files go to LinkJob::missing;
/// wheels and directories to LinkJob::packages, which take no part in the link. All others take part in the device link
/// too, for every architecture present. `linker`: whose rules to judge by; else GNU ld's.
/// `known`: every file is an object or archive; then none is looked at, and none is an @file.
LinkJob job_from_files(const std::vector<std::string>& files, const std::optional<LinkerChoice>& linker = {},
                       const std::optional<KnownFiles>& known = {});

/// A link command, word for word: a compiler driver (gcc, g++, cc, c++, clang, clang++ and their cross and versioned
/// names, behind ccache and the like) or a linker (ld, ld.bfd, ld.gold, ld.lld, mold). A driver is asked for its own
/// linker line with -###, which runs nothing; when it can't be run, the words are read as they are and
/// LinkJob::notes says what is not known. nvcc is asked with --dryrun, and then its host compiler as above; nvlink's
/// words are read as they are. Of `ar` the files that it archives are taken as plain files. Throws UsageError when it
/// is no link command. `linker`: whose rules to judge by, and read the options by; else those of the linker that the
/// command runs. Its version is told by its name, or it is run with
/// --version where the command names it (ld.lld, -fuse-ld=).
/// `may_ask`: of a command that stands in a file, the programs that are started; the words of another are read as they
/// are, and no program is started that its words name.
LinkJob job_from_command(const std::vector<std::string>& argv, const std::optional<LinkerChoice>& linker = {},
                         const MayAsk& may_ask = {});

/// --arch: what to link device code for, instead of what the command says ("sm_90a", "compute_90"). No names change
/// nothing. Throws UsageError for a name that is no architecture.
void choose_device_archs(LinkJob& job, const std::vector<std::string>& names);

}  // namespace elfaudit
