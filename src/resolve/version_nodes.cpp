// lld's rules are in lld_versions.cpp.
//
//  1. A shared object that defines foo@V needs a node V in a version script. An executable may define versions of its
//     own.
//  2. GNU ld leaves no foo@V undefined in a shared object ("no symbol version section for versioned symbol"), used or
//     not, weak or not. gold does where a version script has a node V; what no relocation uses is nothing to it.
//  3. A version script may name what isn't there, except with --no-undefined-version. Patterns may always match
//     nothing. GNU ld looks only where the output has dynamic sections. mold only warns, which --fatal-warnings makes
//     an error. What --defsym and linker scripts give a value is there. foo in node V is foo@V, foo@@V, or foo without
//     a version; not for GNU ld, but for mold foo with another default version too.
//  4. GNU ld asks the nodes in their order for a name without a version, and the first literal that names it, also a
//     local one, is the only one it is there for: in a node global before local, names before extern "C++". A name with
//     a version is there for no extern "C++". So does gold, which knows of no extern "C++" here.

#include "resolve/version_nodes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "resolve/exports.hpp"
#include "resolve/resolve.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

bool refuses_unmatched(const LinkJob& job, bool dynamic) {
  if (job.linker == LinkerKind::Bfd && !dynamic) return false;
  return !job.undefined_version.value_or(!traits_of(job).no_undefined_version);
}

class VersionCheck {
 public:
  VersionCheck(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution) {}

  void run() {
    const bool nodes_needed =
        job_.output == OutputKind::SharedObject && linker_.needs_version_nodes && !linker_.gives_versions_first;
    const bool names_needed = !job_.versions.empty() && refuses_unmatched(job_, is_dynamic());
    if (!nodes_needed && !names_needed) return;
    if (names_needed) collect_names();
    for (const Assignment& assignment : job_.assignments)
      if (!assignment.provide && linker_.assigned_has_version) found(assignment.symbol);
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) look_at({i, o}, nodes_needed);
    for (const Literals* literals : {&plain_, &cxx_})
      for (const auto& [name, literal] : *literals)
        for (const std::string_view version : literal.open)
          out_.rejections.push_back({Rejection::Kind::VersionUnmatched, name, {}, {}, std::string(version)});
  }

 private:
  struct Literal {
    std::size_t rank = 0;             ///< when GNU ld comes to it: rule 4
    std::string_view first;           ///< the node that has it then; empty: as a local
    std::set<std::string_view> open;  ///< the nodes that have it and no definition was found for yet
  };
  using Literals = std::map<std::string, Literal, std::less<>>;

  /// A linked shared object makes dynamic sections in a program too; without any linked object nothing does.
  bool is_dynamic() const {
    const bool wanted = job_.output == OutputKind::SharedObject || job_.pie;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<bool>& linked = out_.linked[i];
      if (inputs_[i].kind == InputKind::SharedObject && linked[0]) return true;
      if (wanted && std::find(linked.begin(), linked.end(), true) != linked.end()) return true;
    }
    return false;
  }

  bool asks_in_order() const { return linker_.rules == ResolutionRules::GnuLd; }

  void collect_names() {
    std::size_t rank = 0;
    for (const VersionNode& node : job_.versions) {
      collect(node.globals, node.name.empty() ? "global" : std::string_view(node.name), rank);
      if (asks_in_order()) collect(node.locals, {}, rank + 2);
      rank += 4;
    }
  }

  /// `version` is empty for locals.
  void collect(const std::vector<SymbolPattern>& patterns, std::string_view version, std::size_t rank) {
    for (const SymbolPattern& pattern : patterns) {
      if (is_pattern(pattern) || (pattern.cxx && job_.linker == LinkerKind::Gold)) continue;
      const std::size_t at = rank + (pattern.cxx ? 1 : 0);
      Literal& literal =
          (pattern.cxx ? cxx_ : plain_).try_emplace(pattern.text, Literal{at, version, {}}).first->second;
      if (!version.empty()) literal.open.insert(version);
    }
  }

  void look_at(ObjectId id, bool nodes_needed) {
    const ObjectFacts& object = inputs_[id.input].objects[id.object];
    if (!out_.linked[id.input][id.object] || object.kind != ObjectKind::Relocatable) return;
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!symbol.defined()) {
        if (asks_references_too(symbol)) found(object, symbol);
        if (!plain_.empty() && made_by_linker(object.name(symbol))) found(object.name(symbol));
        continue;
      }
      if (!plain_.empty() || !cxx_.empty()) found(object, symbol);
      if (nodes_needed && !symbol.version.empty() && keeps_name(out_.fate({id, s})))
        check_node({id, s}, object, symbol);
    }
  }

  /// GNU ld's "foo@@V" keeps its name when a strong plain foo takes the weak one's place.
  bool keeps_name(Fate fate) const {
    return fate == Fate::Kept || (fate == Fate::Overridden && linker_.rules == ResolutionRules::GnuLd);
  }

  /// A reference to foo@V says to gold that foo is in V.
  bool asks_references_too(const Symbol& symbol) const {
    return linker_.gives_versions_first && !symbol.version.empty() && !plain_.empty();
  }

  /// It makes "_end" when an object asks for it.
  bool made_by_linker(std::string_view name) const {
    return plain_.contains(name) && defined_by_linker(name, job_, machine_of(inputs_), is_dynamic());
  }

  void found(const ObjectFacts& object, const Symbol& symbol) {
    const std::string_view name = object.name(symbol);
    const bool any_node = symbol.default_version && !asks_in_order();
    if (symbol.version.empty() || any_node) return found(name);
    if (const auto named = plain_.find(name); named != plain_.end())
      named->second.open.erase(object.text(symbol.version));
    if (asks_in_order() || cxx_.empty()) return;
    if (const auto named = cxx_.find(demangle(name)); named != cxx_.end()) named->second.open.clear();
  }

  /// Without a version.
  void found(std::string_view name) {
    const auto plain = plain_.find(name);
    const auto cxx = cxx_.empty() ? cxx_.end() : cxx_.find(demangle(name));
    if (!asks_in_order()) {
      if (plain != plain_.end()) plain->second.open.clear();
      if (cxx != cxx_.end()) cxx->second.open.clear();
      return;
    }
    const bool as_cxx = cxx != cxx_.end() && (plain == plain_.end() || cxx->second.rank < plain->second.rank);
    if (!as_cxx && plain == plain_.end()) return;
    Literal& asked_first = as_cxx ? cxx->second : plain->second;
    asked_first.open.erase(asked_first.first);
  }

  void check_node(SymbolId at, const ObjectFacts& object, const Symbol& symbol) {
    const std::string version(object.text(symbol.version));
    const auto has_name = [&](const VersionNode& node) { return node.name == version; };
    if (std::any_of(job_.versions.begin(), job_.versions.end(), has_name)) return;
    if (!linker_.needs_excluded_nodes && Exports(job_).excluded(object.origin)) return;
    if (!open_.emplace(object.name(symbol), version).second) return;
    out_.rejections.push_back({Rejection::Kind::NoSuchVersion, std::string(object.name(symbol)), at, {}, version});
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  const std::vector<InputFacts>& inputs_;
  Resolution& out_;
  Literals plain_;
  Literals cxx_;
  std::set<std::pair<std::string_view, std::string>> open_;  ///< names and their versions that no node has
};

}  // namespace

void reject_open_versions(const LinkJob& job, Resolution& resolution,
                          const std::function<bool(const Unresolved&)>& counts) {
  const LinkerTraits& linker = traits_of(job);
  if (job.output != OutputKind::SharedObject || !linker.leaves_no_version_open) return;
  const auto has_node = [&](std::string_view version) {
    return std::any_of(job.versions.begin(), job.versions.end(),
                       [&](const VersionNode& node) { return node.name == version; });
  };
  for (const Unresolved& name : resolution.unresolved) {
    const std::size_t at = std::min(name.symbol.find('@', 1), name.symbol.size());
    if (name.references.empty() || at + 1 >= name.symbol.size() || !counts(name)) continue;
    if (linker.node_answers_version ? has_node(name.symbol.substr(at + 1)) : name.hidden) continue;
    resolution.rejections.push_back({Rejection::Kind::NoSuchVersion,
                                     name.symbol.substr(0, at),
                                     name.references.front().id,
                                     {},
                                     name.symbol.substr(at + 1)});
  }
}

void check_versions(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution) {
  if (traits_of(job).rules == ResolutionRules::Lld) return;
  VersionCheck(job, inputs, resolution).run();
}

}  // namespace elfaudit
