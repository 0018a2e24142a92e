// Which relocations of the linked objects the linker refuses.
#pragma once

#include <functional>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/live_sections.hpp"
#include "resolve/shared_references.hpp"
#include "scan/asked_relocations.hpp"

namespace elfaudit {

/// See read_asked_relocations(); the scan stage does it, on several threads. May throw InputError.
using RelocationReaderFunction = std::function<AskedRelocations(const Origin&, const RelocationQuestion&)>;

/// Fills in Resolution::relocations, once it is known who defines what. Reads relocations only where one can be
/// refused. Errors met on the way are added to the inputs they concern.
void find_refused_relocations(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                              const RelocationReaderFunction& read, const GraphReaderFunction& read_graph,
                              const NeededFinder& find_needed);

}  // namespace elfaudit
