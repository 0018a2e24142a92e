// Facts + job -> who wins, who conflicts, what is missing, and what of that was judged. Pure: opens no file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/live_sections.hpp"
#include "scan/object_queries.hpp"
#include "scan/scan.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- Device links: which there are, which image of each object takes part in each, and the rules of nvlink and of
// clang's linkers (device_link.cpp).

/// The image that nvlink takes of an object with this device code; kNone when it skips the object. `toolkit`:
/// DeviceLink::toolkit.
std::uint32_t image_for(const DeviceFacts& facts, const GpuArch& target, int toolkit);

/// One target for each architecture of the job, else for each that an object on the line (not in an archive: libraries
/// bring many) has code for; without such objects, for each there is. Empty when the job makes no device link.
std::vector<DeviceTarget> device_targets(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// The finished images (not for a device link) that hold copies of variables that are not shared: one of each object.
/// `linked`: Resolution::linked.
std::vector<DeviceInput> whole_program_images(const std::vector<InputFacts>& inputs,
                                              const std::vector<std::vector<bool>>& linked);

/// Plays each target's device link through on decoded images, and finds the variables that whole-program objects keep
/// private copies of. `whole` are the images of whole_program_images().
DeviceResolution resolve_device(const LinkJob& job, std::vector<DeviceTarget> targets,
                                const std::vector<DeviceInput>& whole, const std::vector<InputFacts>& inputs);

/// What of it depends on the version of nvlink, which is not known, or is beyond the rules: for Judgement::not_judged.
std::set<std::string> device_not_judged(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                        const DeviceResolution& device);

// --- From "nothing defines it" to "the linker would report it".

/// See read_asked_relocations(); the scan stage does it, on several threads. May throw InputError.
using RelocationReaderFunction = std::function<AskedRelocations(const Origin&, const RelocationQuestion&)>;

/// How the questions that need the files again are asked. The scan stage answers them; resolve itself opens nothing.
struct Reader {
  /// See find_uses. May throw InputError.
  std::function<std::vector<Use>(const Origin&, std::span<const std::uint32_t>)> uses;
  /// See has_section. May throw InputError.
  std::function<bool(const Origin&, std::string_view)> has_section;
  /// See relocated_without_bytes. May throw InputError.
  std::function<std::vector<std::uint32_t>(const Origin&)> bare_relocations;
  /// See find_open_locals. May throw InputError.
  std::function<std::map<std::uint32_t, std::string>(const Origin&)> open_locals;
  RelocationReaderFunction relocations;
  GraphReaderFunction graph;
  NeededFinder needed;
};

/// Drops from Unsettled::undefined what no relocation of a kept section uses, and what the linker defines itself;
/// fills in where the rest is used; adds what shared objects need. With --gc-sections, mold's duplicates in removed
/// sections are dropped as well. Errors met on the way are added to the inputs they concern.
void settle_unresolved(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                       Unsettled& unsettled, const Reader& reader);

// --- Which relocations of the linked objects the linker refuses.

/// Fills in Resolution::relocations, once it is known who defines what. Reads relocations only where one can be
/// refused. Errors met on the way are added to the inputs they concern.
void find_refused_relocations(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                              const Unsettled& unsettled, const RelocationReaderFunction& read,
                              const GraphReaderFunction& read_graph, const NeededFinder& find_needed);

// --- Which relocations name local symbols of sections that the output does not have.

/// See find_local_uses(). May throw InputError.
using LocalUseReader = std::function<std::vector<LocalUse>(const Origin&, std::span<const std::uint32_t>, bool)>;

/// May such a relocation stand in a section of that name?
bool may_name_discarded(const LinkJob& job, std::string_view section, bool alloc);

/// Fills in Resolution::lost_references, where the linker refuses any. Errors met on the way are added to the inputs
/// they concern.
void find_lost_references(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                          const Unsettled& unsettled, const LocalUseReader& read, const GraphReaderFunction& read_graph,
                          const NeededFinder& find_needed);

// --- What a linker warns of when all files are read, where --fatal-warnings makes an error of it.

/// How the files are asked again. Each may throw InputError.
struct WarningReader {
  std::function<WarningSections(const Origin&)> warnings;
  std::function<std::uint32_t(const Origin&, std::uint32_t section, std::uint64_t value)> alignment;
  std::function<std::vector<Use>(const Origin&, std::span<const std::uint32_t>)> uses;
  GraphReaderFunction graph;
  NeededFinder needed;
};

/// Adds to Resolution::warnings, which the engines began, and drops what the linker does not warn of after all. Does
/// nothing without --fatal-warnings. Errors met on the way are added to the inputs they concern.
void find_fatal_warnings(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                         const Unsettled& unsettled, const WarningReader& reader);

/// The output section of an input section, by GNU ld's default script.
std::string_view output_section(std::string_view name);

// --- Whether the output's stack is executable.

struct OutputStack {
  bool executable = false;
  bool by_option = false;           ///< -z execstack
  bool has_segment = true;          ///< PT_GNU_STACK; without it the machine's default applies
  std::vector<ObjectId> asking{};   ///< .note.GNU-stack is executable; in the order of the line
  std::vector<ObjectId> lacking{};  ///< there is none, which means the same on the machine
};

/// Decides as the job's linker does. What it compiles of code for link-time optimisation is not known.
OutputStack output_stack(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution);

// --- What a resolution is a verdict on: decided here, and nowhere else.

/// What can be judged of the link with these inputs. An output that is linked again (-r) leaves nothing undefined.
Judgement judgement_of(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Of several links: judged where each link is. Files that no command links say nothing of the others.
Judgement judgement_of(const std::vector<const Resolution*>& links);

/// Is it known enough of the link that the references to what nothing defines are worth reading?
bool can_be_settled(const LinkJob& job);

/// Where not all of the link is known: only what the linker has told of it (LinkJob::told_undefined) stays unresolved.
void keep_told(const LinkJob& job, const Resolution& resolution, Unsettled& unsettled);

/// Is it known what the output is? Which relocations fit a shared object hardly depends on what else the link has; what
/// a program is, only its whole command says.
bool can_judge_relocations(const LinkJob& job);

/// Would the linker report it, as an error or a warning? A hidden or protected one always, unless nothing is final yet
/// (-r).
bool would_report(const LinkJob& job, const UndefinedName& name);

/// Would the linker go on all the same? --warn-unresolved-symbols, --noinhibit-exec. `made_local`: GNU ld has made a
/// hidden name local.
bool is_only_warned(const LinkJob& job, const UndefinedName& name, bool made_local = false);

/// Does the linker say of a discarded copy what it would say of nothing, instead of calling the name undefined?
bool said_as_discarded(const LinkJob& job, const Unresolved& name);

/// The last step: moves the undefined names to Resolution::unresolved with why each is missing and what the linker makes
/// of it, and drops rejections that rest on what is not known. An input that could not be asked again costs the names
/// that only it could answer for.
void conclude(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution, Unsettled& unsettled);

/// What is there of a thin archive is enough for some links, by some linkers. Where it is not, the lost members go to
/// LinkJob::missing.
void judge_lost_members(const std::vector<InputFacts>& inputs, const Resolution& resolution, const Unsettled& unsettled,
                        LinkJob& job);

/// Simulates the link with the rules that traits_of(job) names: GNU ld's (bfd_line.cpp, bfd.cpp), lld's (lld.cpp,
/// lld_verdict.cpp) or mold's (mold.cpp). `inputs` are the facts of job.inputs.
/// Archives alone, with nothing that could pull a member in, are taken whole: Resolution::whole_archives. `names` are
/// numbered already. Fills in `unsettled`, and leaves Resolution::unresolved to conclude().
Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs, LinkNames& names, Unsettled& unsettled);

/// mold's part of it.
Resolution resolve_as_mold(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                           Unsettled& unsettled);

/// The same for a link that is not judged: Resolution::unresolved has every candidate.
Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Is the name missed by an expression, of --defsym or of a script?
bool is_operand(const LinkJob& job, const Unresolved& name);

/// A definition that another of its kind collides with: not weak, common or in a COMDAT group.
bool is_strong_definition(const ObjectFacts& object, const Symbol& symbol);

}  // namespace elfaudit
