// Several links in one run: those of a build.
#pragma once

#include <vector>

#include "elfaudit/audit.hpp"

namespace elfaudit {

/// Audits each job, whose output_path is its name in reports, and sums them up. Every file is read once; a finding that
/// several links have is told once and names them in Finding::links.
Audit audit_links(std::vector<LinkJob> jobs, const AuditOptions& options);

}  // namespace elfaudit
