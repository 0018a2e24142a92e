// The one place that a report points at when it can show but one.
#pragma once

#include "elfaudit/finding.hpp"

namespace elfaudit {

struct Focus {
  const Site* site = nullptr;  ///< whose place it is; nullptr when the finding has no site
  SourceLine at;               ///< the object's own path when `in_source` is false; line 0: not known
  bool in_source = false;
};

/// A place in the project's own files before one outside of them: code scanning shows nothing else. So of a definition
/// in a system header it is the project's #include that led there. The object when no place in the source is known.
Focus focus_of(const Finding& finding);

}  // namespace elfaudit
