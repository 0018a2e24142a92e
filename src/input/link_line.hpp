// A linker's own command line -> LinkJob.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/jobs.hpp"
#include "elfaudit/link_job.hpp"

namespace elfaudit {

struct LinkLine {
  std::vector<std::string> words;  ///< without the program; @FILE among them is still to be expanded
  LinkerKind linker = LinkerKind::Bfd;
  int linker_version = 0;    ///< see LinkJob
  std::string program;       ///< the linker; empty when unknown
  bool ask_program = false;  ///< the user named that linker: it may be asked for its built-in directories
  std::string folder;        ///< where the link runs; empty: here
  bool complete = true;      ///< nothing that the link uses is missing from the words
  std::map<std::string, std::string> not_built;  ///< object files that the command itself would make -> their sources
  std::vector<InputError> refused;               ///< what the driver itself complained about
  std::optional<DeviceLink> device{};            ///< clang links device code too; DeviceLink::order is still empty
};

/// Throws UsageError when the line links nothing (--help) or can't be read (--end-group without a group).
LinkJob read_link_line(const LinkLine& line);

/// The directories of "a:b", as -rpath and LD_LIBRARY_PATH list them.
void add_colon_separated(std::string_view list, std::vector<std::string>& into);

// --- Plain files -> LinkJob, for those who have looked at them already.

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

// --- Programs that are neither compiler drivers nor linkers.

/// A program that runs the commands of a build, by the last part of its path: make, ninja, cmake, pip, a shell.
bool is_build_tool(const std::string& program);

/// Why a command of this program can't be audited, and what to type instead.
std::string refusal_of(const std::string& program);

}  // namespace elfaudit
