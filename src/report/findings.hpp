// One finding, as every report prints it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "elfaudit/finding.hpp"

namespace elfaudit {

/// In the shape that `elfaudit check` prints, ending with a newline.
std::string finding_text(const Finding& finding, bool color);

/// As in schema/elfaudit-1.schema.json.
nlohmann::ordered_json finding_json(const Finding& finding);

}  // namespace elfaudit
