// What several reports say in the same way.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "elfaudit/diagnosis.hpp"

namespace elfaudit {

/// "1 error, 2 notes: 3 objects in 2 inputs": the last line of the text.
std::string summary(const Audit& audit, const ReportOptions& options);

/// What the reader must know about how the verdict was reached.
std::vector<std::string> remarks(const Audit& audit);

/// The links of a build that have the finding: "bin/app", "bin/app, bin/test and 7 more".
std::string links_text(const Finding& finding);

/// In the shape that `elfaudit check` prints, ending with a newline.
std::string finding_text(const Finding& finding, bool color);

/// As in schema/elfaudit-1.schema.json.
nlohmann::ordered_json finding_json(const Finding& finding);

/// What the log says, in one form whatever tool said it: "multiple definition of state".
std::string headline(const DiagnosedError& error);

}  // namespace elfaudit
