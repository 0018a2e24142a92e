// Definitions that are rejected, that will be, that hide another or are merged with it although they differ:
// duplicate-, header-, shadowed- and divergent-definition.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "divergence/divergence.hpp"
#include "resolve/link_names.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- The rows.

namespace {

constexpr Rule kDuplicateDefinition{.id = "duplicate-definition",
                                    .severity = Severity::Error,
                                    .summary = "two strong definitions in one link: the linker will reject it",
                                    .kind = RuleKind::Duplicate,
                                    .stops_link = true};
constexpr Rule kHeaderDefinition{
    .id = "header-definition",
    .severity = Severity::Warning,
    .summary = "a header defines a strong global: the next file to include it breaks the link",
    .on = false,
    .kind = RuleKind::HeaderDefinition,
    .every_symbol = true};
constexpr Rule kShadowedDefinition{
    .id = "shadowed-definition",
    .severity = Severity::Note,
    .summary = "another archive member also defines it and was not extracted: the order of the line decides"};

// --- nvcc's host objects repeat the device symbols: a shadow for each variable, a stub for each function. A second
// definition on the device is one on the host too, and one edit fixes both.

std::set<std::string> objects_of(const Finding& finding) {
  std::set<std::string> objects;
  for (const Site& site : finding.sites) objects.insert(site.origin.display());
  return objects;
}

/// "_Z20__device_stub__Z1kPiPi" launches the kernel "_Z1kPi", whose symbol is "k" where it is extern "C".
std::vector<std::string_view> kernels_of(std::string_view launcher) {
  constexpr std::string_view kStub = "__device_stub_";
  const std::size_t stub = launcher.find(kStub);
  std::size_t length = 0;
  if (!launcher.starts_with("_Z") || stub == std::string_view::npos) return {};
  std::from_chars(launcher.data() + 2, launcher.data() + stub, length);
  if (length <= kStub.size() || stub + length > launcher.size()) return {};
  const std::string_view kernel = launcher.substr(stub + kStub.size(), length - kStub.size());
  const std::size_t name = kernel.find_first_not_of("0123456789", 2);
  std::from_chars(kernel.data() + std::min<std::size_t>(2, kernel.size()), kernel.data() + kernel.size(), length = 0);
  if (!kernel.starts_with("_Z") || name == std::string_view::npos) return {kernel};
  return {kernel, kernel.substr(name, length)};
}

bool launches(std::string_view launcher, std::string_view kernel) {
  const std::vector<std::string_view> kernels = kernels_of(launcher);
  return std::ranges::find(kernels, kernel) != kernels.end();
}

/// A kernel is two functions of the host. The one that its source names is enough.
std::set<const Finding*> launchers_of_kernels(const std::vector<Finding>& findings) {
  std::map<std::string_view, const Finding*> duplicates;
  for (const Finding& finding : findings)
    if (finding.rule == kDuplicateDefinition.id) duplicates.emplace(finding.symbol, &finding);
  std::set<const Finding*> launchers;
  for (const auto& [symbol, launcher] : duplicates)
    for (const std::string_view kernel : kernels_of(symbol))
      if (const auto found = duplicates.find(kernel);
          found != duplicates.end() && objects_of(*found->second) == objects_of(*launcher))
        launchers.insert(launcher);
  return launchers;
}

bool same_defect(const Finding& host, const Finding& device) {
  if (host.rule != kDuplicateDefinition.id) return false;
  if (host.symbol != device.symbol && !launches(host.symbol, device.symbol)) return false;
  const std::set<std::string> on_host = objects_of(host);
  const std::set<std::string> on_device = objects_of(device);
  return std::ranges::includes(on_device, on_host);
}

bool is_device_duplicate(const Finding& finding) {
  const Rule& row = rule(finding.rule);
  return row.kind == RuleKind::Duplicate && row.device;
}

/// In a build the device link and the host link of a target are links of their own.
std::string note(const std::set<std::string>& host_links) {
  return fmt::format("the host link{}{} would fail too: the compiler emits a host symbol for it in each object",
                     host_links.empty() ? "" : " of ", fmt::join(host_links, ", "));
}

}  // namespace

void merge_host_and_device(std::vector<Finding>& findings) {
  std::set<const Finding*> reported = launchers_of_kernels(findings);
  for (Finding& device : findings) {
    if (!is_device_duplicate(device)) continue;
    bool on_host = false;
    std::set<std::string> links;
    for (const Finding& host : findings) {
      if (!same_defect(host, device)) continue;
      on_host = true;
      links.insert(host.links.begin(), host.links.end());
      reported.insert(&host);
    }
    if (on_host) device.notes.push_back(note(links));
  }
  if (!reported.empty()) std::erase_if(findings, [&](const Finding& finding) { return reported.contains(&finding); });
}

// --- duplicate-definition: the linker will reject it. One finding a symbol, however many objects define it.

static std::vector<Finding> duplicate_definitions(const Evidence& evidence) {
  std::map<std::string_view, std::vector<const Conflict*>> by_symbol;
  for (const Conflict& conflict : evidence.resolution.conflicts) by_symbol[conflict.symbol].push_back(&conflict);

  const bool forced = evidence.job.relocations.noinhibit_exec && traits_of(evidence.job).forces_duplicates;
  std::vector<Finding> findings;
  findings.reserve(std::min(by_symbol.size(), limits::kFindings + 1));
  for (const auto& [symbol, conflicts] : by_symbol) {
    if (is_full(findings)) break;
    Finding finding = make_finding(kDuplicateDefinition, symbol,
                                   fmt::format("{} is defined {}", demangle(symbol), times_text(conflicts.size() + 1)));
    if (forced) finding.severity = Severity::Warning;
    finding.sites.reserve(conflicts.size() + 1);
    finding.sites.push_back(make_site(evidence, conflicts.front()->kept, Role::Kept));
    for (const Conflict* conflict : conflicts)
      if (conflict->rejected == conflict->kept)
        finding.notes.push_back("a node of the version script has that name, and GNU ld makes a symbol of it");
      else
        finding.sites.push_back(make_site(evidence, conflict->rejected, Role::Rejected));
    findings.push_back(std::move(finding));
  }
  return findings;
}

// --- header-definition: a strong definition in a header links as long as one object alone includes it. Asked for,
// since only debug info or the sources say where a definition is: every definition is a candidate until located.

namespace {

/// Every strong definition that the link keeps, object by object: tens of thousands, so nothing else is made of them.
std::vector<SymbolId> candidates(const Evidence& evidence) {
  std::vector<SymbolId> found;
  for (const ObjectId in : linked_relocatables(evidence.inputs, evidence.resolution)) {
    const std::vector<Symbol>& symbols = evidence.object(in).symbols;
    for (std::uint32_t s = 0; s < symbols.size(); ++s)
      if (evidence.resolution.resolution_of({in, s}) == SymbolResolution::Kept && symbols[s].binding == Binding::Global)
        found.push_back({in, s});
  }
  return found;
}

std::vector<Finding> header_definitions(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (evidence.in_headers == nullptr) return findings;
  for (const SymbolId id : evidence.in_headers(candidates(evidence))) {
    findings.push_back(make_finding(kHeaderDefinition, evidence.object(id.in).name(evidence.symbol(id)), {}));
    findings.back().message = findings.back().demangled + " is defined in a header";
    findings.back().sites.push_back(make_site(evidence, id, Role::Kept));
  }
  return findings;
}

/// One source may include another, as a part of it.
bool is_source(std::string_view file) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{".c", ".cc", ".cpp", ".cxx", ".cu", ".C"},
                             [&](std::string_view ending) { return file.ends_with(ending); });
}

void settle_header_definitions(const Resolution& /*resolution*/, std::vector<Finding>& findings) {
  std::set<std::string> reported;
  for (const Finding& finding : findings)
    if (rule(finding.rule).kind == RuleKind::Duplicate) reported.insert(finding.symbol);
  std::erase_if(findings, [&](const Finding& finding) {
    if (finding.rule != kHeaderDefinition.id) return false;
    const Place& place = finding.sites.front().place;
    return !place.in_header || is_source(place.at.file) || reported.contains(finding.symbol);
  });
  for (Finding& finding : findings)
    if (finding.rule == kHeaderDefinition.id)
      finding.notes.push_back(
          "it links, because no other object defines it; the next file that includes the header will define it too");
}

// --- shadowed-definition: two archives of the line define a name, strongly, and the link takes a member of one. Which
// one is a matter of order, and the next object that needs anything else of the other member makes it a duplicate. A
// note: such links work, and some are meant so (a library that replaces parts of another). The note says which other
// linkers would decide otherwise. Not reported:
//
//  * weak, common and COMDAT definitions, which are made to be there many times;
//  * shared objects: libc.so and libgcc.a overlap in every link;
//  * the same member of a second copy of an archive.

std::string file_of(const ObjectFacts& object) { return display_path(object.origin.path, {}); }

/// Strong definitions of opened members that the link does not take. An archive may be named twice, in two ways.
std::unordered_map<std::string_view, std::vector<SymbolId>> definitions_left_out(const Evidence& evidence) {
  std::unordered_map<std::string_view, std::vector<SymbolId>> left_out;
  const auto is_left_out = [&](ObjectId id) {
    return evidence.inputs[id.input].kind == InputKind::Archive && !evidence.resolution.linked[id.input][id.object];
  };
  std::set<std::tuple<std::string, std::string, std::uint64_t>> seen;
  for (const ObjectId id : objects_where(evidence.inputs, is_left_out)) {
    const ObjectFacts& object = evidence.object(id);
    if (object.nested || object.kind != ObjectKind::Relocatable || object.symbols.empty()) continue;
    if (!seen.emplace(file_of(object), object.origin.member, object.origin.offset).second) continue;
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
      if (is_strong_definition(object, object.symbols[s])) left_out[object.name(object.symbols[s])].push_back({id, s});
  }
  return left_out;
}

/// What another linker would do with the same line.
struct OtherLinker {
  std::string_view name;
  Resolution resolution;
};

std::vector<OtherLinker> resolve_as_other_linkers(const Evidence& evidence) {
  std::vector<OtherLinker> others;
  for (const LinkerKind kind : {LinkerKind::Bfd, LinkerKind::Lld, LinkerKind::Mold})
    if (kind != evidence.job.linker) others.push_back({traits_of(kind).name, evidence.resolve_as(kind)});
  return others;
}

/// "lld takes libtwo.a(f2.o)"; empty when it takes the same member and no other.
std::string disagreement(const Evidence& evidence, const OtherLinker& other, SymbolId kept, SymbolId shadowed) {
  const Resolution& resolution = other.resolution;
  if (resolution.resolution_of(shadowed) == SymbolResolution::Rejected ||
      resolution.resolution_of(kept) == SymbolResolution::Rejected)
    return std::string(other.name) + " extracts both and refuses the link";
  if (resolution.resolution_of(shadowed) != SymbolResolution::Kept) return {};
  return std::string(other.name) + " takes " + evidence.object(shadowed.in).origin.display();
}

bool is_copy(const ObjectFacts& a, const ObjectFacts& b) {
  return a.origin.member == b.origin.member && a.origin.size == b.origin.size;
}

}  // namespace

static std::vector<Finding> shadowed_definitions(const Evidence& evidence) {
  std::vector<Finding> findings;
  // What can't be read might pull in the other member, as what a device link makes pulls in all that have device code.
  if (!evidence.job.scope.command || evidence.resolution.judgement.duplicates != Judged::Yes) return findings;
  const auto left_out = definitions_left_out(evidence);
  if (left_out.empty()) return findings;
  // One finding for two members, however many names they share.
  std::map<std::pair<ObjectId, ObjectId>, std::vector<std::pair<SymbolId, SymbolId>>> pairs;
  const auto pair_up = [&](SymbolId id, const ObjectFacts& kept) {
    const auto found = left_out.find(kept.name(kept.symbols[id.symbol]));
    if (found == left_out.end() || evidence.resolution.resolution_of(id) != SymbolResolution::Kept) return;
    for (const SymbolId other : found->second)
      if (const ObjectFacts& object = evidence.object(other.in);
          !is_copy(kept, object) && file_of(kept) != file_of(object))
        pairs[{id.in, other.in}].push_back({id, other});
  };
  for (const Extraction& extraction : evidence.resolution.extractions) {
    if (extraction.symbol.empty()) continue;  // --whole-archive: no one chose
    const ObjectFacts& kept = evidence.object(extraction.object);
    for (std::uint32_t s = 0; s < kept.symbols.size(); ++s)
      if (is_strong_definition(kept, kept.symbols[s])) pair_up({extraction.object, s}, kept);
  }
  if (pairs.empty()) return findings;
  const std::vector<OtherLinker> others = resolve_as_other_linkers(evidence);
  for (const auto& [members, names] : pairs) {
    const auto& [kept, other] = *std::ranges::min_element(names, {}, [](const auto& both) { return both.second; });
    const std::string symbol(evidence.object(kept.in).name(evidence.symbol(kept)));
    Finding finding =
        make_finding(kShadowedDefinition, symbol,
                     demangle(symbol) + " is also defined by " + evidence.object(other.in).origin.display() +
                         ", which is not extracted: the order of the line decides");
    finding.sites.push_back(make_site(evidence, kept, Role::Kept));
    finding.sites.push_back(make_site(evidence, other, Role::Candidate));
    for (const OtherLinker& linker : others)
      if (std::string text = disagreement(evidence, linker, kept, other); !text.empty())
        finding.notes.push_back(std::move(text));
    if (names.size() > 1) finding.notes.push_back("the two members share " + std::to_string(names.size()) + " names");
    findings.push_back(std::move(finding));
  }
  return findings;
}

RuleFamily definition_rules() {
  return {
      {&kDuplicateDefinition, &kHeaderDefinition, &kShadowedDefinition},
      {{duplicate_definitions}, {.find = header_definitions, .only_for = &kHeaderDefinition}, {shadowed_definitions}},
      settle_header_definitions};
}

// --- divergent-definition: one name, and definitions that differ, which linkers merge or bind without a word. What
// differs is found in src/divergence.
//
//  1. What is reported already is not reported again: a strong definition that collides, a tentative one of another size
//     with --fatal-warnings, a thread-local name that the linker refuses, the shadow of a device variable whose sizes
//     differ.
//  2. One finding a name, though both symbol tables and debug info tell of it. The kept definition comes first, then
//     one of each other size and memory, with how many more objects have the same.

namespace {

constexpr Rule kDivergentDefinition{
    .id = "divergent-definition",
    .severity = Severity::Warning,
    .summary = "definitions of one name that differ in size or memory: the linker merges them silently",
    .kind = RuleKind::Silent};

/// Rule 1.
std::set<std::string_view> reported_otherwise(const Resolution& resolution) {
  std::set<std::string_view> names;
  for (const Conflict& conflict : resolution.conflicts) names.insert(conflict.symbol);
  for (const Rejection& rejection : resolution.rejections) names.insert(rejection.symbol);
  for (const FatalWarning& warning : resolution.warnings)
    if (warning.kind == FatalWarning::Kind::Size || warning.kind == FatalWarning::Kind::Common)
      names.insert(warning.symbol);
  for (const DeviceMismatch& mismatch : resolution.device.mismatches) names.insert(mismatch.symbol);
  return names;
}

bool is_kept(const Evidence& evidence, const DataVariant& variant) {
  return evidence.resolution.resolution_of(variant.first) == SymbolResolution::Kept;
}

std::string object_of(const Evidence& evidence, const DataVariant& variant) {
  return evidence.object(variant.first.in).origin.display();
}

std::string message(const Evidence& evidence, const DataDivergence& divergence) {
  const DataVariant& a = divergence.variants[0];
  const DataVariant& b = divergence.variants[1];
  const std::string in_a = object_of(evidence, a), in_b = object_of(evidence, b);
  const std::string what = demangle(divergence.symbol);
  if (a.size != b.size) return fmt::format("{} has {} bytes in {} and {} in {}", what, a.size, in_a, b.size, in_b);
  if (a.place == DataPlace::ThreadLocal || b.place == DataPlace::ThreadLocal) {
    const bool first = a.place == DataPlace::ThreadLocal;
    return fmt::format("{} is thread-local in {} and not in {}", what, first ? in_a : in_b, first ? in_b : in_a);
  }
  const bool first = a.place == DataPlace::ReadOnly;
  return fmt::format("{} is constant in {} and writable in {}", what, first ? in_a : in_b, first ? in_b : in_a);
}

/// What the linker makes of them.
std::string outcome(const Evidence& evidence, const DataDivergence& divergence) {
  const DataVariant& kept = divergence.variants.front();
  if (!is_kept(evidence, kept)) return "the linker merges them without a word";
  const auto larger =
      std::ranges::find_if(divergence.variants, [&](const DataVariant& variant) { return variant.size > kept.size; });
  if (larger == divergence.variants.end())
    return fmt::format("the linker keeps that of {} for all", object_of(evidence, kept));
  return fmt::format("the linker keeps that of {}: {} reaches past its end", object_of(evidence, kept),
                     object_of(evidence, *larger));
}

void note_objects(std::size_t objects, Site& site) {
  if (objects > 1)
    site.notes.push_back(fmt::format("and {} more object{} alike", objects - 1, objects == 2 ? "" : "s"));
}

std::vector<Finding> divergent_data(const Evidence& evidence, const std::set<std::string_view>& reported) {
  std::vector<Finding> findings;
  if (evidence.data_is_alike) return findings;
  std::optional<LinkNames> own;
  const LinkNames& names = evidence.names != nullptr ? *evidence.names : own.emplace(evidence.inputs);
  const std::vector<DataDivergence> differing = find_data_divergences(evidence.inputs, evidence.resolution, names);
  for (const DataDivergence& divergence : differing) {
    if (reported.contains(divergence.symbol)) continue;
    Finding finding = make_finding(kDivergentDefinition, divergence.symbol, message(evidence, divergence));
    for (const DataVariant& variant : divergence.variants) {
      finding.sites.push_back(
          make_site(evidence, variant.first, is_kept(evidence, variant) ? Role::Kept : Role::Candidate));
      note_objects(variant.objects, finding.sites.back());
    }
    finding.notes.push_back(outcome(evidence, divergence));
    findings.push_back(std::move(finding));
  }
  return findings;
}

// By debug info.

Site make_site(const Evidence& evidence, const TypeVariant& variant) {
  Site site = make_object_site(evidence, variant.first, Role::Candidate);
  site.size = variant.size;
  if (!variant.device.empty()) site.notes.push_back("device code of " + variant.device);
  if (variant.line.line != 0 && !variant.line.file.empty())
    site.place = {.at = variant.line, .known_by = KnownBy::DebugInfo, .why_unknown = {}};
  else
    site.place.why_unknown = "debug info does not say";
  note_objects(variant.objects, site);
  return site;
}

Finding finding_of(const Evidence& evidence, const TypeDivergence& divergence) {
  const std::string what = divergence.is_type ? divergence.name + " differs:" : demangle(divergence.name);
  Finding finding = make_finding(kDivergentDefinition, divergence.name, what + " " + divergence.words);
  if (divergence.is_type) finding.demangled = divergence.name;
  if (divergence.bound.empty() || divergence.harmless) finding.severity = Severity::Note;
  finding.sites = {make_site(evidence, divergence.a), make_site(evidence, divergence.b)};
  for (const TypeVariant& other : divergence.others) finding.sites.push_back(make_site(evidence, other));
  constexpr std::size_t kMostNamed = 3;
  finding.cause = divergence.cause;
  finding.fixes = divergence.fixes;
  finding.notes.push_back(divergence.bound.empty() ? "nothing that the linker binds depends on it"
                                                   : some_of(divergence.bound, kMostNamed, "; "));
  if (!divergence.holders.empty())
    finding.notes.push_back("so do types that hold it: " + some_of(divergence.holders, kMostNamed));
  if (!divergence.options.empty())
    finding.notes.push_back("compiled with other options: " + some_of(divergence.options, kMostNamed));
  return finding;
}

Finding finding_of(const Evidence& evidence, const Overrun& overrun) {
  const std::string_view name = evidence.object(overrun.definition.in).name(evidence.symbol(overrun.definition));
  const std::uint64_t size = evidence.symbol(overrun.definition).size;
  Finding finding = make_finding(kDivergentDefinition, name, {});
  finding.message = fmt::format("{} has {} bytes in {}, and {} refers to byte {} of it", finding.demangled, size,
                                evidence.object(overrun.definition.in).origin.display(),
                                evidence.object(overrun.reference.in).origin.display(), overrun.end);
  finding.sites = {make_site(evidence, overrun.definition, Role::Kept),
                   make_site(evidence, overrun.reference, Role::Reference)};
  finding.sites[1].section = overrun.section;
  finding.sites[1].offset = overrun.offset;
  return finding;
}

void add_types(const Evidence& evidence, const std::set<std::string_view>& reported, std::vector<Finding>& findings) {
  const std::size_t of_data = findings.size();
  for (const TypeDivergence& divergence : evidence.types->divergences) {
    if (!divergence.is_type && reported.contains(divergence.name)) continue;
    const auto end = findings.begin() + static_cast<std::ptrdiff_t>(of_data);
    const auto known =
        std::find_if(findings.begin(), end, [&](const Finding& f) { return f.symbol == divergence.name; });
    if (!divergence.is_type && known != end)
      known->notes.push_back(divergence.words);
    else
      findings.push_back(finding_of(evidence, divergence));
  }
}

/// Where sizes or types differ, that is what to say first.
void add_overruns(const Evidence& evidence, const std::set<std::string_view>& reported,
                  std::vector<Finding>& findings) {
  const std::size_t before = findings.size();
  for (const Overrun& overrun : evidence.overruns) {
    Finding finding = finding_of(evidence, overrun);
    if (reported.contains(finding.symbol)) continue;
    const auto end = findings.begin() + static_cast<std::ptrdiff_t>(before);
    const auto known = std::find_if(findings.begin(), end, [&](const Finding& f) {
      return f.symbol == finding.symbol && f.severity == finding.severity;
    });
    if (known == end)
      findings.push_back(std::move(finding));
    else
      known->notes.push_back(finding.message);
  }
}

std::vector<Finding> divergent_definitions(const Evidence& evidence) {
  const std::set<std::string_view> reported = reported_otherwise(evidence.resolution);
  std::vector<Finding> findings = divergent_data(evidence, reported);
  if (evidence.types != nullptr) add_types(evidence, reported, findings);
  add_overruns(evidence, reported, findings);
  return findings;
}

}  // namespace

bool compares_types(const std::vector<std::string>& enabled) {
  return std::ranges::find(enabled, kDivergentDefinition.id) != enabled.end();
}

RuleFamily divergence_rules() { return {{&kDivergentDefinition}, {{divergent_definitions}}}; }

}  // namespace elfaudit
