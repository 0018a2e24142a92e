// What lld warns of while it merges symbols, noted where --fatal-warnings makes an error of it.
//
//  1. --warn-common: a common symbol that meets another one or a strong definition, in either order; since lld 15 a
//  weak
//     definition behind it too. What shared objects define doesn't count.
//  2. --warn-backrefs: a reference that extracts a member that stands before it on the line, unless the member defines
//     it weakly, something behind it offers the name again, or --warn-backrefs-exclude has a pattern for the member.
//     An archive, a group and what stands between --start-lib and --end-lib are one place each.
//
// Found by experiment with lld 14.0.6 and 19.1.7.

#include <algorithm>

#include "resolve/exports.hpp"
#include "resolve/lld.hpp"

namespace elfaudit {

void LldLink::warn_of_common(std::uint32_t id, SymbolId one, SymbolId other) {
  if (!job_.warnings.fatal || !job_.warnings.common || !one.valid() || !other.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::Common, printed_name(id), one, {other, {}, 0}, {}, {}});
}

void LldLink::note_back_reference(std::uint32_t id, ObjectId member, SymbolId by) {
  if (!job_.warnings.fatal || !job_.warnings.backrefs || !by.valid() || member.input >= by.in.input) return;
  const std::uint32_t group = job_.inputs[member.input].group;
  if (group != 0 && group == job_.inputs[by.in.input].group) return;
  back_references_.try_emplace(
      id, FatalWarning{FatalWarning::Kind::BackReference, std::string(table_.name(id)), {}, {by, {}, 0}, member, {}});
}

void LldLink::find_back_references() {
  const std::vector<std::string>& patterns = job_.warnings.backrefs_exclude;
  for (const auto& [id, warning] : back_references_) {
    const std::string member = object(warning.object).origin.display();
    const bool excluded = std::any_of(patterns.begin(), patterns.end(),
                                      [&](const std::string& pattern) { return matches({pattern}, member); });
    if (!excluded && !table_[id].weak()) out_.warnings.push_back(warning);
  }
}

}  // namespace elfaudit
