// The compile commands that a log shows, in the form that the locate stage reads: they say why a header's definition
// was one in that source, where the build left neither a compile_commands.json nor a depfile.
#pragma once

#include <string>

#include "diagnose/build_log.hpp"
#include "diagnose/whereabouts.hpp"

namespace elfaudit::diagnose_stage {

/// A compile_commands.json document for AuditOptions::known_commands; empty when the log shows no compile command.
std::string known_commands(const BuildLog& log, CommandFolders& folders);

}  // namespace elfaudit::diagnose_stage
