// What shared objects of the link need and the link does not give them.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/live_sections.hpp"
#include "scan/library_names.hpp"

namespace elfaudit {

// --- What lld says of references that shared objects make.

/// Turns Resolution::shared_needs into undefined names and rejections. `live` is null unless --gc-sections was walked.
/// `linker_defines`: the name is the linker's own in this link.
void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         const LiveSections* live, const std::function<bool(std::string_view)>& linker_defines);

/// See find_needed(); the scan stage does it.
using NeededFinder = std::function<std::vector<IndirectLibrary>(const LinkJob&, std::span<const LineLibrary> line)>;

/// The libraries that GNU ld loads besides those of the line; none for the other linkers.
std::vector<IndirectLibrary> load_needed(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                         const Resolution& resolution, const NeededFinder& find);

/// Adds to Resolution::unresolved what shared objects refer to and nothing defines, and to Resolution::rejections what
/// is defined but not exported to them. `needed`: what load_needed gave. `removed`: did --gc-sections take the
/// definition away? Asked only where it matters.
void settle_shared_references(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                              const std::vector<IndirectLibrary>& needed,
                              const std::function<bool(const SymbolId&)>& removed);

}  // namespace elfaudit
