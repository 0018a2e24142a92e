// What a resolution is a verdict on: decided here, and nowhere else.
#pragma once

#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// What can be judged of the link with these inputs. An output that is linked again (-r) leaves nothing undefined.
Judgement judgement_of(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Of several links: judged where each link is. Files that no command links say nothing of the others.
Judgement judgement_of(const std::vector<const Resolution*>& links);

/// Is it known enough of the link that the references to what nothing defines are worth reading?
bool can_be_settled(const LinkJob& job);

/// Is it known what the output is? Which relocations fit a shared object hardly depends on what else the link has; what
/// a program is, only its whole command says.
bool can_judge_relocations(const LinkJob& job);

/// Would the linker report it? A hidden or protected one always, unless nothing is final yet (-r).
bool is_reported(const LinkJob& job, const Unresolved& name);

/// Would the linker go on all the same? --warn-unresolved-symbols, --noinhibit-exec.
bool is_only_warned(const LinkJob& job, const Unresolved& name);

/// Does the linker say of a discarded copy what it would say of nothing, instead of calling the name undefined?
bool said_as_discarded(const LinkJob& job, const Unresolved& name);

/// The last step: says which names are reported, and drops rejections that rest on what is not known. An input that
/// could not be asked again costs the names that only it could answer for.
void conclude(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution);

}  // namespace elfaudit
