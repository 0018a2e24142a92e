// The options that decide whether a relocation fits the output (ld manual: -Bsymbolic, -z text, -z nocopyreloc).
#pragma once

#include <string_view>

#include "elfaudit/link_job.hpp"
#include "input/ld_options.hpp"

namespace elfaudit {

/// Reads them in the order of the line; the last one of a kind wins.
class RelocationOptions {
 public:
  explicit RelocationOptions(LinkerKind linker) : linker_(linker) {}

  /// False when the item is none of these options, or says more than this.
  bool take(const LineItem& item);

  /// Of -z: "text", "notext", "nocopyreloc", ... False for others.
  bool take_keyword(std::string_view keyword);

  const RelocationPolicy& policy() const { return policy_; }

 private:
  LinkerKind linker_;
  RelocationPolicy policy_;
};

}  // namespace elfaudit
