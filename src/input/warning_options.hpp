// The options that say what a linker warns of and whether that is an error (ld manual: --fatal-warnings, --warn-common,
// --no-warnings; lld's --warn-backrefs).
#pragma once

#include <optional>

#include "elfaudit/link_job.hpp"
#include "input/ld_options.hpp"
#include "linker/linker_traits.hpp"

namespace elfaudit {

/// Reads them in the order of the line; the last one of a kind wins.
class WarningOptions {
 public:
  explicit WarningOptions(const LinkerTraits& linker) : linker_(linker) {}

  /// False when the item is none of these options, or says more than this.
  bool take(const LineItem& item);

  WarningPolicy policy(OutputKind output) const;

 private:
  const LinkerTraits& linker_;
  WarningPolicy policy_;
  std::optional<bool> shared_text_;  ///< --warn-shared-textrel
  bool silent_ = false;
  bool no_inhibit_exec_ = false;
};

}  // namespace elfaudit
