// audit() for those who have looked at the files already.
#pragma once

#include <optional>

#include "elfaudit/audit.hpp"
#include "scan/census.hpp"

namespace elfaudit {

/// `census` is that of the files of `job`, in their order; without one everything is read.
Audit audit(LinkJob job, const AuditOptions& options, std::optional<Census> census);

}  // namespace elfaudit
