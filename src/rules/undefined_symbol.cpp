// undefined-symbol: an error where the link would reject it. Judged only for a whole link command: with plain files the
// system libraries are not known, and with an input missing or unread anything could be in it.

#include "resolve/unresolved.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

Site reference_site(const Evidence& evidence, const Reference& reference) {
  Site site = make_site(evidence, reference.id, Role::Reference);
  site.section = reference.section;
  site.offset = reference.offset;
  site.size = 0;
  return site;
}

std::string message_for(const LinkJob& job, const Unresolved& name) {
  std::string message = demangle(name.symbol);
  if (name.discarded)
    message += job.linker == LinkerKind::Lld ? " is defined only in a section that the link discards"
                                             : " is defined only in a COMDAT group that the link discards";
  else if (name.in_shared)
    message += " is needed by a shared object and not defined by any input";
  else
    message += " is not defined by any input";
  if (!name.option.empty()) message += ", and " + name.option + " asks for it";
  return message;
}

}  // namespace

bool everything_was_read(const Evidence& evidence) {
  for (const InputFacts& input : evidence.inputs)
    if (!input.errors.empty()) return false;
  return evidence.job.missing.empty();
}

std::vector<Finding> undefined_symbols(const Evidence& evidence) {
  std::vector<Finding> findings;
  const LinkJob& job = evidence.job;
  if (!job.from_command || !everything_was_read(evidence)) return findings;
  for (const Unresolved& name : evidence.resolution.unresolved) {
    if (!is_reported(job, name) || told_as_missing_device_link(job, name)) continue;
    const bool lld_names_it_otherwise = name.discarded && job.linker == LinkerKind::Lld;
    Finding finding = make_finding(lld_names_it_otherwise ? "discarded-definition" : "undefined-symbol", name.symbol,
                                   message_for(job, name));
    if (job.unresolved.warn_only && !name.hidden) finding.severity = Severity::Warning;
    for (const Reference& reference : name.references) finding.sites.push_back(reference_site(evidence, reference));
    finding.notes = name.remarks;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace elfaudit
