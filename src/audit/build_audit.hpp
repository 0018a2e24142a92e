// Several links in one run: those of a build.
#pragma once

#include <vector>

#include "elfaudit/audit.hpp"
#include "input/build/build_plan.hpp"

namespace elfaudit {

/// Audits each job, whose output_path is its name in reports, and sums them up. Every file is read once; a finding that
/// several links have is reported once and names them in Finding::links. What is not built because of a finding in the
/// link that makes it leaves nothing unread.
Audit audit_links(std::vector<BuildJob> jobs, const AuditOptions& options);

}  // namespace elfaudit
