// Facts + job -> who wins, who conflicts, what is missing. Pure: opens no file.
#pragma once

#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"

namespace elfaudit {

/// Plays the link through with the rules that traits_of(job) names: GNU ld's (bfd_line.cpp, bfd.cpp), lld's
/// (lld_line.cpp, lld.cpp) or mold's (mold.cpp). `inputs` are the facts of job.inputs.
/// Archives alone, with nothing that could pull a member in, are taken whole: Resolution::whole_archives.
Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// A name that the linker itself defines when something refers to it: "_end", "__bss_start", "_GLOBAL_OFFSET_TABLE_".
/// Not the __start_SECTION kind, which need the section.
/// `machine`: the output's, see machine_of(). `dynamic`: a shared object takes part in the link.
bool defined_by_linker(std::string_view name, const LinkJob& job, std::uint16_t machine, bool dynamic);

/// e_machine (gABI 4 "ELF Header") of the first object; 0 when there is none.
std::uint16_t machine_of(const std::vector<InputFacts>& inputs);

/// Can a shared object refer to that name of lld's own? All but the bounds of the output's parts are hidden.
bool exported_by_lld(std::string_view name);

}  // namespace elfaudit
