// The table of rules.

#include "rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "elfaudit/error.hpp"
#include "rules/device_rules.hpp"
#include "support/demangle.hpp"
#include "support/strings.hpp"

namespace elfaudit {

void require_rule(const std::string& id, const std::string& where) {
  std::vector<std::string> known;
  for (const Rule& rule : rule_table()) known.emplace_back(rule.id);
  if (std::find(known.begin(), known.end(), id) != known.end()) return;
  const std::string near = nearest_word(id, known);
  throw UsageError(fmt::format("{}: there is no such rule; {}", where,
                               near.empty() ? "`elfaudit rules` lists them" : "'" + near + "' is one"));
}

namespace {

constexpr Rule kRules[] = {
    {"duplicate-definition", Severity::Error, "two strong definitions in one link: the linker will reject it"},
    {"device-duplicate-definition", Severity::Error, "two definitions in one device link: nvlink will reject it"},
    {"device-undefined-symbol", Severity::Error, "device code needs it and no input defines it: nvlink will reject it"},
    {"device-declaration-mismatch", Severity::Error,
     "size, memory space or prototype differ between device symbols of one name: nvlink will reject it"},
    {"device-link-missing", Severity::Error,
     "relocatable device code is linked without a device link: the linker will miss __cudaRegisterLinkedBinary_*"},
    {"device-code-dropped", Severity::Warning, "nvlink leaves out device code, or it can't be read and isn't checked"},
    {"split-state", Severity::Warning, "one variable, and each object has a copy of its own"},
    {"gpu-arch-missing", Severity::Error, "no code for a GPU architecture that --gpu-arch asks for"},
    {"gpu-arch-no-ptx", Severity::Warning, "no PTX where --gpu-arch asks for some: it can't run on later GPUs"},
    {"gpu-arch-unexpected", Severity::Warning, "code for a GPU architecture that --gpu-arch doesn't ask for"},
    {"gpu-arch-differs", Severity::Warning, "objects of one link were compiled for different GPU architectures"},
    {"gpu-flag-duplicate", Severity::Warning, "nvcc is given one -gencode twice: two places of the build add them"},
    {"gpu-flag-mismatch", Severity::Warning,
     "nvcc's flags ask for other GPU architectures than TORCH_CUDA_ARCH_LIST or --gpu-arch"},
    {"stale-object", Severity::Warning, "older than a file that it was compiled or linked from"},
    {"untracked-header", Severity::Note,
     "an object was compiled with a header that no depfile or ninja log lists: it won't be compiled again", false},
    {"needed-not-found", Severity::Error,
     "a library that a program or shared object needs is not where it is searched"},
    {"version-unmet", Severity::Error, "the library that is found does not define a symbol version that is needed"},
    {"needed-unused", Severity::Warning, "a library is linked and nothing uses it"},
    {"runpath-unsafe", Severity::Warning,
     "libraries are searched in a directory that means another one elsewhere, or that others can write to"},
    {"runtime-duplicated", Severity::Warning, "one library is loaded twice: two versions, two files or two kinds"},
    {"header-definition", Severity::Warning,
     "a header defines a strong global: the next file to include it breaks the link", false},
    {"undefined-symbol", Severity::Error, "a linked object needs it and no input defines it"},
    {"discarded-definition", Severity::Error,
     "the link discards the only section that defines it: lld will reject the reference"},
    {"symbol-not-exported", Severity::Error,
     "a shared object of the link needs a symbol that is hidden or made local: the linker will reject it"},
    {"tls-mismatch", Severity::Error, "thread-local in one input and not in another: the linker will reject it"},
    {"relocation-not-pic", Severity::Error,
     "code that the output can't hold, mostly compiled without -fPIC: the linker will reject it"},
    {"version-not-defined", Severity::Error,
     "a symbol version without its node in a version script, or a node's name "
     "that nothing defines: the linker will reject it"},
    {"fatal-warning", Severity::Error,
     "the linker warns, and --fatal-warnings makes an error of that: the linker will reject it"},
    {"shadowed-definition", Severity::Note,
     "another archive member also defines it and was not taken: the order of the line decides"},
    {"python-tag", Severity::Error,
     "a wheel's tag promises interpreters that can't import an extension module in it: its file name names another "
     "one"},
    {"python-abi", Severity::Error,
     "a file claims the stable ABI of a CPython version, abi3, and uses symbols that it does not have"},
    {"python-missing", Severity::Error,
     "an extension module has no file for an interpreter that Requires-Python, the tags or --python ask for"},
    {"suppression-ended", Severity::Error, "a suppression is past its last day and still fits a finding"},
    {"suppression-unused", Severity::Warning, "a suppression fits no finding: it can go"},
    {"baseline-outdated", Severity::Note, "findings of the baseline are gone: it can shrink"},
    {"unreadable-input", Severity::Error, "an input or a part of it could not be read: the audit is incomplete"},
};

auto sort_key(const Finding& finding) {
  const std::string first = finding.sites.empty() ? std::string() : finding.sites.front().origin.display();
  return std::tuple(-static_cast<int>(finding.severity), finding.rule, finding.symbol, first, finding.message);
}

/// Why an archive member is part of the link: the reader's next question after "which member".
void note_extraction(const Evidence& evidence, ObjectId id, Site& site) {
  const auto& all = evidence.resolution.extractions;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Extraction& e) { return e.object == id; });
  if (found == all.end()) return;
  if (found->symbol.empty())
    site.notes.push_back("taken in by " + found->option);
  else if (found->needed_by.valid())
    site.notes.push_back("pulled in by " + evidence.object(found->needed_by).origin.display() + ", which needs " +
                         demangle(found->symbol));
  else
    site.notes.push_back("pulled in by " + found->option + ", which needs " + demangle(found->symbol));
}

}  // namespace

std::span<const Rule> rule_table() { return kRules; }

const Rule& rule(std::string_view id) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.id == id; });
  if (found == std::end(kRules)) throw std::logic_error("no such rule: " + std::string(id));
  return *found;
}

std::vector<Finding> apply_rules(const Evidence& evidence, const std::vector<std::string>& enabled) {
  std::vector<Finding> findings;
  for (const auto family : {unreadable_inputs,
                            duplicate_definitions,
                            undefined_symbols,
                            module_links,
                            refused_links,
                            fatal_warnings,
                            relocations_not_pic,
                            shadowed_definitions,
                            device_duplicates,
                            device_mismatches,
                            device_undefined_symbols,
                            device_links_missing,
                            device_code_dropped,
                            split_states,
                            needed_libraries,
                            unsafe_runpaths,
                            unmet_versions,
                            duplicated_runtimes,
                            unloadable_symbols,
                            split_loaded_states,
                            requested_architectures,
                            differing_architectures,
                            gpu_flags,
                            stale_objects,
                            python_abis,
                            python_modules}) {
    auto found = family(evidence);
    findings.insert(findings.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  join_host_and_device(findings);
  using Family = std::vector<Finding> (*)(const Evidence&);
  constexpr std::pair<std::string_view, Family> kOffByDefault[] = {{"header-definition", header_definitions},
                                                                   {"untracked-header", untracked_headers}};
  for (const auto& [id, family] : kOffByDefault) {
    if (std::find(enabled.begin(), enabled.end(), id) == enabled.end()) continue;
    auto found = family(evidence);
    findings.insert(findings.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  sort_findings(findings);
  return findings;
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return sort_key(a) < sort_key(b); });
}

bool stops_link(const Finding& finding) {
  constexpr std::string_view kRejected[] = {"duplicate-definition",
                                            "undefined-symbol",
                                            "discarded-definition",
                                            "symbol-not-exported",
                                            "tls-mismatch",
                                            "version-not-defined",
                                            "relocation-not-pic",
                                            "fatal-warning",
                                            "device-duplicate-definition",
                                            "device-undefined-symbol",
                                            "device-declaration-mismatch",
                                            "device-link-missing"};
  return finding.severity == Severity::Error &&
         std::find(std::begin(kRejected), std::end(kRejected), finding.rule) != std::end(kRejected);
}

Finding make_finding(std::string_view rule_id, std::string_view symbol, std::string message) {
  const Rule& row = rule(rule_id);
  return {std::string(row.id), row.severity, std::string(symbol), demangle(symbol), std::move(message), {}};
}

Site make_object_site(const Evidence& evidence, ObjectId id, Role role) {
  Site site;
  site.role = role;
  site.origin = evidence.object(id).origin;
  note_extraction(evidence, id, site);
  return site;
}

Site make_site(const Evidence& evidence, SymbolId id, Role role) {
  const ObjectFacts& object = evidence.object(id.in);
  const Symbol& symbol = evidence.symbol(id);
  Site site;
  site.role = role;
  site.id = id;
  site.origin = object.origin;
  switch (symbol.placement) {
    case Placement::InSection:
      site.section = object.section_name(symbol);
      break;
    case Placement::Absolute:
      site.section = "*ABS*";
      break;
    case Placement::Common:
      site.section = "*COM*";
      break;
    case Placement::Undefined:
      break;
  }
  site.offset = symbol.placement == Placement::Common ? 0 : symbol.value;
  site.size = symbol.size;
  if (std::string shadow = what_it_shadows(evidence, id); !shadow.empty()) site.notes.push_back(std::move(shadow));
  note_extraction(evidence, id.in, site);
  return site;
}

}  // namespace elfaudit
