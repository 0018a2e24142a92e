// undefined-symbol: what the link would reject, as the resolution has it.

#include <algorithm>

#include "resolve/judgement.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

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
    message += traits_of(job).says_discarded ? " is defined only in a section that the link discards"
                                             : " is defined only in a COMDAT group that the link discards";
  else if (name.in_shared)
    message += " is needed by a shared object and not defined by any input";
  else
    message += " is not defined by any input";
  if (!name.option.empty()) message += ", and " + name.option + " asks for it";
  return message;
}

}  // namespace

std::vector<Finding> undefined_symbols(const Evidence& evidence) {
  std::vector<Finding> findings;
  const LinkJob& job = evidence.job;
  for (const Unresolved& name : evidence.resolution.unresolved) {
    if (!name.reported || told_as_missing_device_link(job, name)) continue;
    Finding finding = make_finding(said_as_discarded(job, name) ? "discarded-definition" : "undefined-symbol",
                                   name.symbol, message_for(job, name));
    if (is_only_warned(job, name)) finding.severity = Severity::Warning;
    for (const Reference& reference : name.references) finding.sites.push_back(reference_site(evidence, reference));
    finding.notes = name.remarks;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace elfaudit
