// What shared objects of the link need and the link does not give them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/needed_libraries.hpp"

namespace elfaudit {

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
