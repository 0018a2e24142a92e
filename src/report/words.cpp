#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace elfaudit {

std::string_view to_word(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  return {};
}

std::string_view to_word(Role role) {
  switch (role) {
    case Role::Kept:
      return "kept";
    case Role::Rejected:
      return "rejected";
    case Role::Reference:
      return "reference";
    case Role::Candidate:
      return "candidate";
  }
  return {};
}

std::string_view to_word(KnownBy known_by) {
  switch (known_by) {
    case KnownBy::Nothing:
      return "none";
    case KnownBy::DebugInfo:
      return "debug-info";
    case KnownBy::MacroInfo:
      return "macro-info";
    case KnownBy::Preprocessor:
      return "preprocessor";
    case KnownBy::Depfile:
      return "depfile";
    case KnownBy::SourceScan:
      return "source-scan";
  }
  return {};
}

std::string_view to_phrase(KnownBy known_by) {
  switch (known_by) {
    case KnownBy::DebugInfo:
      return "debug info";
    case KnownBy::MacroInfo:
      return "macro info";
    case KnownBy::Depfile:
      return "depfile + source scan";
    case KnownBy::SourceScan:
      return "source scan";
    default:
      return to_word(known_by);
  }
}

std::string_view to_word(LinkerKind linker) {
  switch (linker) {
    case LinkerKind::Bfd:
      return "bfd";
    case LinkerKind::Lld:
      return "lld";
    case LinkerKind::Mold:
      return "mold";
    case LinkerKind::Gold:
      return "gold";
    case LinkerKind::Unknown:
      return "unknown";
  }
  return {};
}

std::string counted(std::size_t n, std::string_view one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

std::string describe_position(const Site& site) {
  std::string text = site.section;
  if (text == "*COM*") text = "common";
  if (text == "*ABS*") return fmt::format("absolute, value {:#x}", site.offset);
  if (site.offset != 0) text += fmt::format("+{:#x}", site.offset);
  if (site.size != 0) text += (text.empty() ? "" : ", ") + counted(site.size, "byte");
  return text;
}

std::string input_name(const Audit& audit, ObjectId id) {
  return audit.inputs[id.input].objects[id.object].origin.display();
}

/// With plain files nothing is judged, and what a discarded COMDAT copy defines is no name that somebody has to supply.
static bool discarded_copy_defines(const Resolution& resolution, const Unresolved& name) {
  return std::any_of(name.references.begin(), name.references.end(), [&](const Reference& reference) {
    const Fate fate = resolution.fate(reference.id);
    return fate == Fate::DiscardedComdat || fate == Fate::DiscardedExclude;
  });
}

std::vector<std::string> undefined_names(const Audit& audit) {
  std::vector<std::string> names;
  if (audit.job.from_command) {
    for (const Finding& finding : audit.findings) {
      if (finding.rule == "undefined-symbol" && finding.severity != Severity::Note) names.push_back(finding.symbol);
      if (finding.rule == "device-link-missing")
        names.insert(names.end(), finding.missing.begin(), finding.missing.end());
    }
    std::sort(names.begin(), names.end());
  } else {
    for (const Unresolved& name : audit.resolution.unresolved)
      if (!discarded_copy_defines(audit.resolution, name)) names.push_back(name.symbol);
  }
  return names;
}

std::optional<std::size_t> undefined_count(const Audit& audit) {
  if (!audit.resolution.undefined_counted) return std::nullopt;
  return audit.resolution.undefined_count ? *audit.resolution.undefined_count : undefined_names(audit).size();
}

}  // namespace elfaudit
