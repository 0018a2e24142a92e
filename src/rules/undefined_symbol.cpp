// undefined-symbol: an error where the link would reject it. Judged only for a whole link command: with plain files the
// system libraries are not known, and with an input missing or unread anything could be in it.

#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

/// Would the linker report it? A hidden or protected one always, unless nothing is final yet (-r).
bool reported(const LinkJob& job, const Unresolved& name) {
  if (job.output == OutputKind::Relocatable) return !name.option.empty();
  return job.unresolved.report_in_objects || name.hidden || !name.option.empty();
}

Site reference_site(const Evidence& evidence, const Reference& reference) {
  Site site = make_site(evidence, reference.id, Role::Reference);
  site.section = reference.section;
  site.offset = reference.offset;
  site.size = 0;
  return site;
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
    if (!reported(job, name) || told_as_missing_device_link(job, name)) continue;
    std::string message = demangle(name.symbol) + " is not defined by any input";
    if (!name.option.empty()) message += ", and " + name.option + " asks for it";
    Finding finding = make_finding("undefined-symbol", name.symbol, std::move(message));
    if (job.unresolved.warn_only && !name.hidden) finding.severity = Severity::Warning;
    if (job.gc_sections) {
      // Which sections --gc-sections keeps is not worked out yet, and a reference from a dead one is no error.
      finding.severity = Severity::Note;
      finding.message += ", an error unless --gc-sections removes what refers to it";
    }
    for (const Reference& reference : name.references) finding.sites.push_back(reference_site(evidence, reference));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace elfaudit
