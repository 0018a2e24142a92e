// The entries of this folder behind elfaudit/audit.hpp: for files that were looked at before, and for several links.
#pragma once

#include <optional>
#include <vector>

#include "elfaudit/audit.hpp"
#include "scan/prefilter.hpp"

namespace elfaudit {

/// May the prefilter replace reading the files? No rule that runs needs more.
bool may_prefilter(const AuditOptions& options);

/// `prefilter` is that of the files of `job`, in their order; without one everything is read.
Audit audit(LinkJob job, const AuditOptions& options, std::optional<Prefilter> prefilter);

/// One link of several, whose inputs were read before: `inputs` are those of `job`, in their order. It lacks what
/// audit_objects() reports.
Audit audit_read(LinkJob job, const AuditOptions& options, std::vector<InputFacts> inputs);

/// What is about objects alone, whatever links them: how old they are, and the flags that they were compiled with.
std::vector<Finding> audit_objects(const std::vector<InputFacts>& inputs, const AuditOptions& options,
                                   std::vector<std::string>& notes);

}  // namespace elfaudit
