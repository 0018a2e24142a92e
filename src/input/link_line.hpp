// A linker's own command line -> LinkJob.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace elfaudit
