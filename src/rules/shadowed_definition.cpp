// shadowed-definition: two archives of the line define a name, strongly, and the link takes a member of one. Which one
// is a matter of order, and the next object that needs anything else of the other member makes it a duplicate. A note:
// such links work, and some are meant so (a library that replaces parts of another). The note says which other linkers
// would decide otherwise. Not told:
//
//  * weak, common and COMDAT definitions, which are made to be there many times;
//  * shared objects: libc.so and libgcc.a overlap in every link;
//  * the same member of a second copy of an archive.

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "resolve/resolve.hpp"
#include "rules/rules.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

bool is_strong(const ObjectFacts& object, const Symbol& symbol) {
  if (!symbol.defined() || symbol.weak() || symbol.common() || symbol.binding == Binding::Unique) return false;
  return symbol.section == kNone || object.sections[symbol.section].group == kNone;
}

/// Names that a member, extracted because something needs it, defines.
std::unordered_map<std::string_view, SymbolId> names_taken_from_archives(const Evidence& evidence) {
  std::unordered_map<std::string_view, SymbolId> names;
  for (const Extraction& extraction : evidence.resolution.extractions) {
    if (extraction.symbol.empty()) continue;  // --whole-archive: nobody chose
    const ObjectFacts& object = evidence.object(extraction.object);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const SymbolId id{extraction.object, s};
      if (is_strong(object, object.symbols[s]) && evidence.resolution.fate(id) == Fate::Kept)
        names.emplace(object.name(object.symbols[s]), id);
    }
  }
  return names;
}

/// What another linker would do with the same line.
struct OtherLinker {
  std::string_view name;
  Resolution resolution;
};

/// Played through once there is something to ask them: it takes as long again as the link's own resolution did.
std::vector<OtherLinker> play_other_linkers(const Evidence& evidence) {
  std::vector<OtherLinker> others;
  for (const auto& [kind, name] :
       {std::pair{LinkerKind::Bfd, "GNU ld"}, std::pair{LinkerKind::Lld, "lld"}, std::pair{LinkerKind::Mold, "mold"}}) {
    if (kind == evidence.job.linker) continue;
    LinkJob job = evidence.job;
    job.linker = kind;
    job.linker_version = 0;
    others.push_back({name, resolve(job, evidence.inputs)});
  }
  return others;
}

/// "lld takes libtwo.a(f2.o)"; empty when it takes the same member and no other.
std::string disagreement(const Evidence& evidence, const OtherLinker& other, SymbolId kept, SymbolId shadowed) {
  const Resolution& resolution = other.resolution;
  if (resolution.fate(shadowed) == Fate::Rejected || resolution.fate(kept) == Fate::Rejected)
    return std::string(other.name) + " takes both and refuses the link";
  if (resolution.fate(shadowed) != Fate::Kept) return {};
  return std::string(other.name) + " takes " + evidence.object(shadowed.in).origin.display();
}

bool is_copy(const ObjectFacts& a, const ObjectFacts& b) {
  return a.origin.member == b.origin.member && a.origin.size == b.origin.size;
}

}  // namespace

std::vector<Finding> shadowed_definitions(const Evidence& evidence) {
  std::vector<Finding> findings;
  // What can't be read might pull in the other member, as what a device link makes pulls in all that have device code.
  if (!evidence.job.scope.command || evidence.resolution.judgement.duplicates != Judged::Yes) return findings;
  const auto taken = names_taken_from_archives(evidence);
  if (taken.empty()) return findings;
  // One finding for two members, however many names they share.
  std::map<std::pair<ObjectId, ObjectId>, std::vector<std::pair<SymbolId, SymbolId>>> pairs;
  for (std::uint32_t i = 0; i < evidence.inputs.size(); ++i) {
    if (evidence.inputs[i].kind != InputKind::Archive) continue;
    for (std::uint32_t o = 0; o < evidence.inputs[i].objects.size(); ++o) {
      if (evidence.resolution.linked[i][o]) continue;
      const ObjectFacts& object = evidence.inputs[i].objects[o];
      if (object.nested || object.kind != ObjectKind::Relocatable) continue;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
        if (!is_strong(object, object.symbols[s])) continue;
        const auto found = taken.find(object.name(object.symbols[s]));
        if (found == taken.end()) continue;
        const ObjectFacts& kept = evidence.object(found->second.in);
        if (kept.origin.path == object.origin.path || is_copy(kept, object)) continue;
        pairs[{found->second.in, ObjectId{i, o}}].push_back({found->second, SymbolId{{i, o}, s}});
      }
    }
  }
  if (pairs.empty()) return findings;
  const std::vector<OtherLinker> others = play_other_linkers(evidence);
  for (const auto& [members, names] : pairs) {
    const auto& [kept, other] = names.front();
    const std::string symbol(evidence.object(kept.in).name(evidence.symbol(kept)));
    Finding finding =
        make_finding("shadowed-definition", symbol,
                     demangle(symbol) + " is also defined by " + evidence.object(other.in).origin.display() +
                         ", which is not taken: the order of the line decides");
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

}  // namespace elfaudit
