// What a linker warns of in the output's memory: an executable stack, segments that are writable and executable.
#pragma once

#include <functional>
#include <map>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/scan.hpp"

namespace elfaudit {

/// Is a section of the object, by header index, in the output?
using SectionIsKept = std::function<bool(ObjectId, std::uint32_t section)>;

/// Adds to Resolution::warnings. `objects`: of the relocatable ones, the linked and, where the linker asks them, the
/// others.
void find_memory_warnings(const LinkJob& job, const std::vector<InputFacts>& inputs,
                          const std::map<ObjectId, WarningSections>& objects, const SectionIsKept& is_kept,
                          Resolution& resolution);

}  // namespace elfaudit
