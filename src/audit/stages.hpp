// audit() for those who have looked at the files already.
#pragma once

#include <optional>

#include "elfaudit/audit.hpp"
#include "scan/prefilter.hpp"

namespace elfaudit {

/// `census` is that of the files of `job`, in their order; without one everything is read.
Audit audit(LinkJob job, const AuditOptions& options, std::optional<Census> census);

/// One link of several, whose inputs were read before: `inputs` are those of `job`, in their order. It lacks what
/// audit_objects() tells.
Audit audit_read(LinkJob job, const AuditOptions& options, std::vector<InputFacts> inputs);

/// What is about objects alone, whatever links them: how old they are, and the flags that they were compiled with.
std::vector<Finding> audit_objects(const std::vector<InputFacts>& inputs, const AuditOptions& options,
                                   std::vector<std::string>& notes);

}  // namespace elfaudit
