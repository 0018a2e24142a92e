// From "nothing defines it" to "the linker would report it".
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/live_sections.hpp"
#include "resolve/shared_references.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

/// How the questions that need the files again are asked. The scan stage answers them; resolve itself opens nothing.
struct Reader {
  /// See find_uses. May throw InputError.
  std::function<std::vector<Use>(const Origin&, std::span<const std::uint32_t>)> uses;
  /// See has_section. May throw InputError.
  std::function<bool(const Origin&, std::string_view)> has_section;
  GraphReaderFunction graph;
  NeededFinder needed;
};

/// Drops from Resolution::unresolved what no relocation of a kept section uses, and what the linker defines itself;
/// fills in where the rest is used; adds what shared objects need. With --gc-sections, mold's duplicates in removed
/// sections are dropped as well. Errors met on the way are added to the inputs they concern.
void settle_unresolved(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                       const Reader& reader);

}  // namespace elfaudit
