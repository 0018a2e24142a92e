// fatal-warning: what a linker warns of, where --fatal-warnings makes an error of it.

#include <fmt/format.h>

#include "rules/rules.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

std::string_view kind_of(const Symbol& symbol) {
  switch (symbol.type) {
    case SymbolType::Function:
    case SymbolType::IndirectFunction:
      return "function";
    case SymbolType::Tls:
      return "thread-local variable";
    default:
      return "variable";
  }
}

std::string what_is_wrong(const Evidence& evidence, const FatalWarning& warning) {
  const std::string name = demangle(warning.symbol);
  const auto size = [&](SymbolId id) { return evidence.symbol(id).size; };
  switch (warning.kind) {
    case FatalWarning::Kind::NoLibrary:
      return fmt::format("{}, is not found where the linker looks", warning.detail);
    case FatalWarning::Kind::NoEntry:
      return fmt::format("the entry point {} is not defined by any input", name);
    case FatalWarning::Kind::Marked:
      return fmt::format("{} is used, of which {} warns: {}", name, evidence.object(warning.object).origin.display(),
                         warning.detail);
    case FatalWarning::Kind::MarkedFile:
      return fmt::format("{} has a warning: {}", evidence.object(warning.object).origin.display(), warning.detail);
    case FatalWarning::Kind::Common:
      return fmt::format("{} is a common symbol that another input defines too (--warn-common)", name);
    case FatalWarning::Kind::Size:
      return fmt::format("{} is a common symbol of {} bytes, and {} bytes where it is defined", name,
                         size(warning.reference.id), size(warning.definition));
    case FatalWarning::Kind::Alignment:
      return fmt::format("{} is a common symbol aligned to {}, and aligned less where it is defined", name,
                         evidence.symbol(warning.reference.id).value);
    case FatalWarning::Kind::Type:
      return fmt::format("{} is a {} in one input and a {} in another", name,
                         kind_of(evidence.symbol(warning.definition)), kind_of(evidence.symbol(warning.reference.id)));
    case FatalWarning::Kind::Shapeless:
      return fmt::format("{} is used, of which {} gives neither type nor size", name,
                         evidence.object(warning.definition.in).origin.display());
    case FatalWarning::Kind::StackAsked:
      if (!warning.object.valid()) return "-z execstack makes the stack executable (--warn-execstack)";
      return fmt::format("{} asks for an executable stack", evidence.object(warning.object).origin.display());
    case FatalWarning::Kind::StackByDefault:
      return fmt::format("{} has no section .note.GNU-stack, which means an executable stack",
                         evidence.object(warning.object).origin.display());
    case FatalWarning::Kind::VersionTwice:
      return fmt::format("the version script has {} in both {}", name, warning.detail);
    case FatalWarning::Kind::SecondDefault:
      return fmt::format("{} has two default versions, {}", name, warning.detail);
    case FatalWarning::Kind::Segment:
      return fmt::format("the output's {} is writable and executable", warning.detail);
    case FatalWarning::Kind::BackReference:
      return fmt::format("{} is needed by an input that stands after {}, which defines it (--warn-backrefs)", name,
                         evidence.object(warning.object).origin.display());
  }
  return name;
}

Site reference_site(const Evidence& evidence, const Reference& reference) {
  const bool defined = evidence.symbol(reference.id).defined();
  Site site = make_site(evidence, reference.id, defined ? Role::Rejected : Role::Reference);
  if (defined) return site;
  site.section = reference.section;
  site.offset = reference.offset;
  site.size = 0;
  return site;
}

Finding finding_of(const Evidence& evidence, const FatalWarning& warning) {
  const std::string_view linker = traits_of(evidence.job).name;
  Finding finding = make_finding("fatal-warning", warning.symbol,
                                 fmt::format("{}: {} warns of it, and --fatal-warnings makes that an error",
                                             what_is_wrong(evidence, warning), linker));
  if (warning.definition.valid()) finding.sites.push_back(make_site(evidence, warning.definition, Role::Kept));
  if (!warning.definition.valid() && warning.object.valid())
    finding.sites.push_back(make_object_site(evidence, warning.object, Role::Kept));
  if (warning.reference.id.valid()) finding.sites.push_back(reference_site(evidence, warning.reference));
  return finding;
}

}  // namespace

std::vector<Finding> fatal_warnings(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const FatalWarning& warning : evidence.resolution.warnings) findings.push_back(finding_of(evidence, warning));
  return findings;
}

}  // namespace elfaudit
