// The inputs of a log's link command, audited as far as they are here.
#pragma once

#include <optional>
#include <string>

#include "diagnose/build_log.hpp"
#include "diagnose/whereabouts.hpp"
#include "elfaudit/audit.hpp"
#include "elfaudit/diagnosis.hpp"

namespace elfaudit::diagnose_stage {

struct LinkAudit {
  DiagnosedLink link;
  std::optional<Audit> audit;  ///< nothing when none of the objects is here or the command can't be read
};

/// `known_commands`: as in AuditOptions. Never throws but for memory: what stands in the way is in link.notes.
LinkAudit audit_link(const LogCommand& command, const DiagnoseOptions& options, CommandFolders& folders,
                     const std::string& known_commands);

}  // namespace elfaudit::diagnose_stage
