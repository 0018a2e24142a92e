// What a linker refuses besides duplicate and undefined symbols: symbol-not-exported, tls-mismatch,
// version-not-defined.

#include "rules/rules.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

Finding not_exported(const Evidence& evidence, const Rejection& rejection) {
  Finding finding = make_finding(
      "symbol-not-exported", rejection.symbol,
      demangle(rejection.symbol) + " is " + rejection.detail + ", and a shared object of the link needs it");
  const LinkJob& job = evidence.job;
  if (job.unresolved.warn_only && traits_of(job).rules == ResolutionRules::Lld) finding.severity = Severity::Warning;
  if (rejection.first.valid()) finding.sites.push_back(make_site(evidence, rejection.first, Role::Kept));
  finding.sites.push_back(make_site(evidence, rejection.other, Role::Reference));
  return finding;
}

Site tls_site(const Evidence& evidence, SymbolId id, Role role) {
  const Symbol& symbol = evidence.symbol(id);
  Site site = make_site(evidence, id, symbol.defined() ? role : Role::Reference);
  site.notes.insert(site.notes.begin(), symbol.type == SymbolType::Tls ? "thread-local" : "not thread-local");
  return site;
}

Finding tls_mismatch(const Evidence& evidence, const Rejection& rejection) {
  Finding finding = make_finding("tls-mismatch", rejection.symbol,
                                 demangle(rejection.symbol) + " is thread-local in one input and not in another");
  finding.sites.push_back(tls_site(evidence, rejection.first, Role::Kept));
  finding.sites.push_back(tls_site(evidence, rejection.other, Role::Rejected));
  return finding;
}

Finding version_not_defined(const Evidence& evidence, const Rejection& rejection) {
  const bool unmatched = rejection.kind == Rejection::Kind::VersionUnmatched;
  std::string message =
      unmatched ? "a version script gives " + demangle(rejection.symbol) + " to " + rejection.detail +
                      ", and no input defines it"
                : demangle(rejection.symbol) + " has version " + rejection.detail + ", which no version script defines";
  if (rejection.first.valid() && !evidence.symbol(rejection.first).defined())
    message = demangle(rejection.symbol) + "@" + rejection.detail +
              " is not defined by any input, and GNU ld leaves no name with a version undefined in a shared object";
  Finding finding = make_finding("version-not-defined", rejection.symbol, std::move(message));
  if (rejection.first.valid()) {
    const Role role = evidence.symbol(rejection.first).defined() ? Role::Kept : Role::Reference;
    finding.sites.push_back(make_site(evidence, rejection.first, role));
  }
  return finding;
}

}  // namespace

std::vector<Finding> refused_links(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Rejection& rejection : evidence.resolution.rejections) {
    switch (rejection.kind) {
      case Rejection::Kind::HiddenFromShared:
        findings.push_back(not_exported(evidence, rejection));
        break;
      case Rejection::Kind::TlsMismatch:
        findings.push_back(tls_mismatch(evidence, rejection));
        break;
      case Rejection::Kind::NoSuchVersion:
      case Rejection::Kind::VersionUnmatched:
        findings.push_back(version_not_defined(evidence, rejection));
        break;
    }
  }
  return findings;
}

}  // namespace elfaudit
