// Decides which definitions a version script, visibility or an option exports, and which references of shared objects
// are left open or refused for it.

#include "resolve/exports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/live_sections.hpp"
#include "resolve/resolve.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

/// How well a list matches a name: 0 not at all, 1 by "*", 2 by another pattern, 3 exactly.
int fit(const std::vector<SymbolPattern>& list, std::string_view name) {
  int best = 0;
  for (const SymbolPattern& pattern : list) {
    if (!matches(pattern, name)) continue;
    best = std::max(best, !is_pattern(pattern) ? 3 : pattern.text == "*" ? 1 : 2);
  }
  return best;
}

/// lld takes the first exact name, "local:" of a node without a name before its "global:", else the last pattern but
/// "*".
bool local_in_lld(const std::vector<VersionNode>& nodes, std::string_view name) {
  for (const VersionNode& node : nodes) {
    if (node.name.empty() && fit(node.locals, name) == 3) return true;
    if (fit(node.globals, name) == 3) return false;
    if (fit(node.locals, name) == 3) return true;
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (fit(node->globals, name) == 2) return false;
    if (fit(node->locals, name) == 2) return true;
  }
  const auto any = [&](const auto& list) {
    return std::ranges::any_of(nodes, [&](const VersionNode& node) { return fit(list(node), name) == 1; });
  };
  return any([](const VersionNode& node) -> const auto& { return node.locals; }) &&
         !any([](const VersionNode& node) -> const auto& { return node.globals; });
}

/// The node, by how well its list matches: one for "*", one for other patterns. The last one counts.
using ByFit = std::array<const VersionNode*, 3>;

void note_fits(const std::vector<SymbolPattern>& list, std::string_view name, const VersionNode& node, ByFit& nodes) {
  for (const SymbolPattern& pattern : list)
    if (is_pattern(pattern) && matches(pattern, name)) nodes[pattern.text == "*" ? 1 : 2] = &node;
}

/// What GNU ld makes of a name without a version.
struct Choice {
  const VersionNode* node = nullptr;  ///< null: no node has the name
  bool local = false;
};

/// The first exact name decides. Else patterns do: "*" comes after the others, "global:" before "local:", and of
/// several nodes the last.
Choice choose_node(const std::vector<VersionNode>& nodes, std::string_view name) {
  ByFit global{};
  ByFit local{};
  for (const VersionNode& node : nodes) {
    const int as_global = fit(node.globals, name);
    if (as_global == 3) return {&node, false};
    note_fits(node.globals, name, node, global);
    if (fit(node.locals, name) == 3) return {&node, true};
    note_fits(node.locals, name, node, local);
  }
  if (global[2] != nullptr) return {global[2], false};
  if (local[2] != nullptr) return {local[2], true};
  if (global[1] != nullptr) return {global[1], false};
  return {local[1], local[1] != nullptr};
}

/// gold's extern "C++" has no name that is not mangled.
bool gold_matches(const SymbolPattern& pattern, std::string_view name) {
  return matches(pattern, name) && (!pattern.cxx || demangle(name) != name);
}

/// What gold makes of it: the first exact name, one of C++ only where none of C matches, "local:" before "global:".
/// Else the last pattern, "global:" first; "*" comes last, and one of C++ is for all names.
Choice gold_choice(const std::vector<VersionNode>& nodes, std::string_view name) {
  const auto exact = [&](const std::vector<SymbolPattern>& list, bool cxx) {
    return std::ranges::any_of(list, [&](const SymbolPattern& pattern) {
      return pattern.cxx == cxx && !is_pattern(pattern) && gold_matches(pattern, name);
    });
  };
  for (const bool cxx : {false, true}) {
    for (const VersionNode& node : nodes) {
      if (exact(node.locals, cxx)) return {&node, true};
      if (exact(node.globals, cxx)) return {&node, false};
    }
  }
  for (const bool any : {false, true}) {
    const auto matches = [&](const std::vector<SymbolPattern>& list) {
      return std::ranges::any_of(list, [&](const SymbolPattern& pattern) {
        if (!is_pattern(pattern) || (pattern.text == "*") != any) return false;
        return any || gold_matches(pattern, name);
      });
    };
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (matches(node->globals)) return {&*node, false};
      if (matches(node->locals)) return {&*node, true};
    }
  }
  return {};
}

/// To others "[!0]" is all but 0, to mold '!' or 0.
SymbolPattern as_mold_reads(SymbolPattern pattern) {
  for (std::size_t at = pattern.text.find("[!"); at != std::string::npos; at = pattern.text.find("[!", at + 2))
    pattern.text.replace(at, 2, "[\\!");
  return pattern;
}

/// What mold makes of it: where all are exact names of C the last one that is the name, else the first pattern or name
/// that fits; "*" comes after both, and the last one counts. Nothing where none has the name.
std::optional<bool> local_in_mold(const std::vector<VersionNode>& nodes, std::string_view name,
                                  bool* by_star = nullptr) {
  const bool exact = has_exact_names_alone(nodes);
  std::optional<bool> found;
  std::optional<bool> otherwise;
  for (const VersionNode& node : nodes) {
    for (const bool local : {false, true}) {
      for (const SymbolPattern& pattern : local ? node.locals : node.globals) {
        if (is_pattern(pattern) && pattern.text == "*")
          otherwise = local;
        else if ((exact || !found) && matches(as_mold_reads(pattern), name))
          found = local;
      }
    }
  }
  if (by_star != nullptr) *by_star = !found;
  return found ? found : otherwise;
}

}  // namespace

bool has_exact_names_alone(const std::vector<VersionNode>& nodes) {
  const auto is_exact = [](const SymbolPattern& pattern) {
    return pattern.text == "*" || !(pattern.cxx || is_pattern(pattern));
  };
  return std::ranges::all_of(nodes, [&](const VersionNode& node) {
    return std::ranges::all_of(node.globals, is_exact) && std::ranges::all_of(node.locals, is_exact);
  });
}

bool is_pattern(const SymbolPattern& pattern) {
  return !pattern.literal && pattern.text.find_first_of("*?[") != std::string::npos;
}

bool matches(const SymbolPattern& pattern, std::string_view name) {
  const std::string subject = pattern.cxx ? demangle(name) : std::string(name);
  if (!is_pattern(pattern)) return subject == pattern.text;
  return pattern.text == "*" || ::fnmatch(pattern.text.c_str(), subject.c_str(), 0) == 0;
}

bool Exports::made_local(std::string_view name) const {
  switch (traits_of(job_).rules) {
    case ResolutionRules::Gold:
      return gold_choice(job_.versions, name).local;
    case ResolutionRules::Lld:
      return local_in_lld(job_.versions, name);
    case ResolutionRules::Mold:
      return local_in_mold(job_.versions, name).value_or(false);
    case ResolutionRules::GnuLd:
      break;
  }
  return choose_node(job_.versions, name).local;
}

bool Exports::made_local(std::string_view name, std::string_view version, bool default_version) const {
  if (version.empty()) return made_local(name);
  const auto any_node = [&](const auto& hides) { return std::ranges::any_of(job_.versions, hides); };
  switch (traits_of(job_).rules) {
    case ResolutionRules::Gold:
      return false;
    case ResolutionRules::Lld:
      return any_node([&](const VersionNode& node) {
        const int local = fit(node.locals, name);
        return default_version ? local == 3 : node.name == version && local > fit(node.globals, name);
      });
    case ResolutionRules::Mold:
      return job_.output != OutputKind::SharedObject && made_local(name);
    case ResolutionRules::GnuLd:
      break;
  }
  return any_node([&](const VersionNode& node) {
    return node.name == version && fit(node.locals, name) > 0 && fit(node.globals, name) == 0;
  });
}

bool Exports::shared_keeps(std::string_view name, const Origin& origin) const {
  if (excluded(origin)) return false;
  if (!traits_of(job_).shared_needs_outrank_lists) return true;
  bool by_star = false;
  if (!local_in_mold(job_.versions, name, &by_star).value_or(false)) return true;
  return job_.output == OutputKind::Executable && !by_star;
}

bool Exports::has_other_version(std::string_view name, std::string_view version) const {
  const Choice choice = choose_node(job_.versions, name);
  return choice.local || (choice.node != nullptr && choice.node->name != version);
}

std::string_view Exports::given_version(std::string_view name) const {
  const Choice choice = gold_choice(job_.versions, name);
  return choice.node == nullptr || choice.local ? std::string_view() : choice.node->name;
}

bool Exports::excluded(const Origin& origin) const {
  if (!origin.is_member() || job_.exclude_libs.empty()) return false;
  const std::string file(base_name(origin.path));
  const bool stem_is_enough = traits_of(job_).excludes_by_stem;
  return std::ranges::any_of(job_.exclude_libs, [&](const std::string& name) {
    return name == "ALL" || name == file || (stem_is_enough && name + ".a" == file);
  });
}

std::string Exports::why_not(std::string_view name, const Origin& origin, bool hidden, std::string_view version,
                             bool default_version) const {
  if (hidden) return "hidden";
  if (made_local(name, version, default_version)) return "made local by a version script";
  if (excluded(origin)) return "hidden by --exclude-libs";
  return {};
}

std::string Exports::why_not(const SharedNeed& need, const ObjectFacts& object) const {
  const Symbol& symbol = object.symbols[need.definition.symbol];
  const std::size_t at = need.symbol.find("@@", 1);
  const bool named = at != std::string::npos;
  const std::string_view version = named ? std::string_view(need.symbol).substr(at + 2) : object.text(symbol.version);
  return why_not(object.name(symbol), object.origin, need.hidden, version, named || symbol.default_version);
}

bool Exports::hides(const Symbol& mention, SymbolResolution resolved_as) const {
  const bool hidden = is_hidden(mention.visibility);
  const bool second = resolved_as == SymbolResolution::Rejected || resolved_as == SymbolResolution::Ignored;
  return hidden && (!second || traits_of(job_).duplicates_hide);
}

bool Exports::exported_by_script(const Symbol& symbol, std::string_view name) const {
  if (!traits_of(job_).version_script_exports) return false;
  if (local_in_mold(job_.versions, name).value_or(true)) return false;
  const bool plain = symbol.version.empty() || symbol.default_version;
  return std::ranges::any_of(job_.versions, [&](const VersionNode& node) {
    return std::ranges::any_of(node.globals, [&](const SymbolPattern& pattern) {
      return (plain || is_pattern(pattern)) && matches(as_mold_reads(pattern), name);
    });
  });
}

bool Exports::in_dynamic_list(std::string_view name) const {
  return std::ranges::any_of(job_.dynamic_list, [&](const SymbolPattern& pattern) { return matches(pattern, name); });
}

// --- References of shared objects. An executable must satisfy them; a shared object only with
// --no-allow-shlib-undefined, since it is completed when it is loaded.
//
//  1. GNU ld first loads what the shared objects of the link need and the line does not name, as the dynamic linker
//     would find it, and what these need in turn; what --as-needed dropped takes part again when one that takes part
//     needs it. Their references count like the others'. One that is not found is a warning.
//  2. GNU ld reports a name that a shared object refers to (not weakly) and nothing defines, unless a relocatable
//     object refers to it too, weakly or not: then that one's relocations decide. -u and -e count as such a reference.
//     With --gc-sections neither matters. Those of a weak reference are refused because of a library beside the line
//     alone, too.
//  3. mold 1.10 never reports any of this; gold has rules of its own (gold.cpp), and so has lld (below).
//  4. A definition that is hidden, made local by a version script or by --exclude-libs doesn't count for a shared
//     object of an executable's link, unless another shared object defines the name too: GNU ld refuses it, with a
//     message of its own. Not one that --gc-sections took away, or one of code for link-time optimisation.

namespace {

void sort_by_kind(std::vector<Rejection>& rejections) {
  std::ranges::sort(rejections, [](const Rejection& a, const Rejection& b) {
    return std::tie(a.kind, a.symbol) < std::tie(b.kind, b.symbol);
  });
}

/// A name that shared objects refer to.
struct Want {
  std::string_view version;
  SymbolId first;                   ///< invalid when only a library beside the line refers to it
  const ObjectFacts* by = nullptr;  ///< the first library that refers to it
  bool defined = false;
  bool by_shared = false;  ///< a shared object defines it
  bool regular_strong = false;
  bool regular_weak = false;
  bool not_exported = false;  ///< a relocatable object mentions it hidden or internal
  SymbolId definition;        ///< of a relocatable object
};

bool is_shared(const InputFacts& input) {
  return (input.kind == InputKind::SharedObject || input.kind == InputKind::Executable) && !input.objects.empty();
}

class SharedReferences {
 public:
  SharedReferences(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                   std::vector<UndefinedName>& undefined)
      : job_(job),
        inputs_(inputs),
        out_(resolution),
        undefined_(undefined),
        linker_(traits_of(job)),
        exports_(job),
        refuses_hidden_(linker_.refuses_unexported && job.output == OutputKind::Executable) {
    for (const std::string& name : job.wrapped) {
      wrapped_.emplace(name, "__wrap_" + name);
      wrapped_.emplace("__real_" + name, name);
    }
  }

  void collect(const std::vector<IndirectLibrary>& needed) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      if (takes_part(i)) add_references(inputs_[i].objects[0], ObjectId{i, 0});
    for (const IndirectLibrary& library : needed) {
      add_references(library.facts, {});
      if (library.path.empty()) not_found_.insert(library.name);
    }
    if (wants_.empty()) return;
    for (const ObjectId id : linked_objects(inputs_, out_)) look_at(id);
    for (const IndirectLibrary& library : needed) look_at(library.facts);
    for (const Assignment& assignment : job_.assignments)
      if (const auto found = wants_.find(assignment.symbol); found != wants_.end())
        for (Want& want : found->second) want.defined |= want.version.empty();
  }

  void report(bool undefined_too, const std::function<bool(const SymbolId&)>& removed) {
    for (const auto& [name, wants] : wants_) {
      for (const Want& want : wants) {
        // A shared object's definition is none for a name that an object calls hidden.
        if (!want.defined && (!want.by_shared || want.not_exported)) {
          if (undefined_too && reported(name, want) && !defined_by_linker(name, job_, machine_of(inputs_), true))
            add_unresolved(name, want);
        } else if (refuses_hidden_ && want.definition.valid() && !want.by_shared) {
          check_exported(name, want, removed);
        }
      }
    }
    sort_by_kind(out_.rejections);
  }

 private:
  bool takes_part(std::uint32_t input) const {
    return is_shared(inputs_[input]) && !job_.inputs[input].just_symbols && out_.linked[input][0];
  }

  void add_references(const ObjectFacts& object, ObjectId id) {
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (symbol.defined() || symbol.weak()) continue;
      const std::string_view version = object.text(symbol.version);
      std::vector<Want>& wants = wants_[wrapped(object.name(symbol))];
      if (std::ranges::find(wants, version, &Want::version) != wants.end()) continue;
      Want& want = wants.emplace_back();
      want.version = version;
      want.by = &object;
      if (id.valid()) want.first = {id, s};
    }
  }

  static bool answers(const ObjectFacts& object, const Symbol& symbol, const Want& want) {
    if (want.version.empty()) return symbol.version.empty() || symbol.default_version;
    return object.text(symbol.version) == want.version;
  }

  /// --wrap changes what shared objects refer to as well.
  std::string_view wrapped(std::string_view name) const {
    const auto found = wrapped_.find(name);
    return found == wrapped_.end() ? name : std::string_view(found->second);
  }

  /// A library beside the line.
  void look_at(const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols)
      if (const auto found = wants_.find(object.name(symbol)); symbol.defined() && found != wants_.end())
        for (Want& want : found->second)
          if (answers(object, symbol, want)) want.by_shared = true;
  }

  void look_at(ObjectId id) {
    const ObjectFacts& object = object_of(inputs_, id);
    if (object.kind != ObjectKind::Relocatable) return look_at(object);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const auto found = wants_.find(symbol.defined() ? object.name(symbol) : wrapped(object.name(symbol)));
      if (found == wants_.end()) continue;
      for (Want& want : found->second)
        if (answers(object, symbol, want)) mention({id, s}, symbol, want);
    }
  }

  void mention(SymbolId at, const Symbol& symbol, Want& want) {
    want.not_exported |= exports_.hides(symbol, out_.resolution_of(at));
    if (refers(out_.resolution_of(at))) {
      (symbol.weak() ? want.regular_weak : want.regular_strong) = true;
      return;
    }
    if (out_.resolution_of(at) == SymbolResolution::Kept) want.definition = at;
    want.defined = true;
  }

  /// Rule 2.
  bool reported(std::string_view name, const Want& want) const {
    const bool by_option = std::ranges::find(job_.required, name) != job_.required.end() &&
                           !job_.required_late.contains(std::string(name));
    return job_.gc_sections || !(want.regular_strong || (want.regular_weak && want.first.valid()) || by_option);
  }

  void add_unresolved(std::string_view name, const Want& want) {
    std::string full(name);
    if (!want.version.empty()) full += "@" + std::string(want.version);
    if (std::ranges::find(undefined_, full, &UndefinedName::symbol) != undefined_.end()) return;
    UndefinedName& made = undefined_.emplace_back();
    made.symbol = std::move(full);
    made.why = Missing::NeededByShared;
    if (want.first.valid())
      made.references.push_back({want.first, {}, 0});
    else
      made.remarks.push_back("needed by " + want.by->origin.path + ", which a shared object of the link needs");
    std::vector<std::string> missing = want.by->needed;
    std::erase_if(missing, [&](const std::string& library) { return !not_found_.contains(library); });
    if (missing.empty()) return;
    made.suppliers.push_back({"needed-library-not-found",
                              fmt::format("{} needs {}, which {} does not find", want.by->origin.path,
                                          fmt::join(missing, " and "), linker_.name),
                              fmt::format("{}", fmt::join(missing, " ")),
                              {}});
  }

  void check_exported(std::string_view name, const Want& want, const std::function<bool(const SymbolId&)>& removed) {
    const ObjectFacts& object = object_of(inputs_, want.definition.in);
    const Symbol& symbol = object.symbols[want.definition.symbol];
    std::string why =
        exports_.why_not(name, object.origin, want.not_exported, object.text(symbol.version), symbol.default_version);
    // Link-time optimisation makes a definition local when nothing outside of its code uses it.
    if (why.empty() || object.origin.bytecode || removed(want.definition)) return;
    if (!want.first.valid()) why.append(", and needed by ").append(want.by->origin.path);
    std::string printed(name);
    if (traits_of(job_).prints_hidden_versions && !symbol.version.empty())
      printed.append(symbol.default_version ? "@@" : "@").append(object.text(symbol.version));
    out_.rejections.push_back(
        {Rejection::Kind::HiddenFromShared, std::move(printed), want.definition, want.first, std::move(why)});
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  Resolution& out_;
  std::vector<UndefinedName>& undefined_;
  const LinkerTraits& linker_;
  const Exports exports_;
  bool refuses_hidden_;                                      ///< rule 4
  std::map<std::string, std::string, std::less<>> wrapped_;  ///< what a reference really means
  std::unordered_map<std::string_view, std::vector<Want>> wants_;
  std::set<std::string_view> not_found_;  ///< libraries that others need
};

}  // namespace

/// Rule 1.
std::vector<IndirectLibrary> load_needed(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                         const Resolution& resolution, const NeededFinder& find) {
  const auto links_needed = [](const LinkInput& input) { return input.links_needed; };
  const bool loads = job.unresolved.report_in_shared_objects || std::ranges::any_of(job.inputs, links_needed);
  if (!loads || job.output == OutputKind::Relocatable || !traits_of(job).loads_needed_libraries) return {};
  std::vector<LineLibrary> line;
  bool any = false;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (!is_shared(inputs[i]) || job.inputs[i].device_only) continue;
    // A second file with a soname that is there already is not linked, but what it needs is loaded.
    const bool takes_part = resolution.linked[i][0] || !job.inputs[i].as_needed;
    any |= resolution.linked[i][0];
    const ObjectFacts& object = inputs[i].objects[0];
    const std::string_view path = object.origin.path;
    const bool searched = job.inputs[i].spelled.starts_with("-l");
    line.push_back({&object, takes_part, job.inputs[i].links_needed, known_name(job.inputs[i], object),
                    searched ? base_name(path) : std::string_view()});
  }
  return any ? find(job, line) : std::vector<IndirectLibrary>();
}

void settle_shared_references(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                              Unsettled& unsettled, const std::vector<IndirectLibrary>& needed,
                              const std::function<bool(const SymbolId&)>& removed) {
  const LinkerTraits& linker = traits_of(job);
  if (job.output == OutputKind::Relocatable || !linker.loads_needed_libraries) return;
  const bool undefined_too = job.unresolved.report_in_shared_objects;
  // Rule 4 holds for executables whatever the options say of undefined names.
  if (!undefined_too && job.output != OutputKind::Executable) return;
  SharedReferences references(job, inputs, resolution, unsettled.undefined);
  references.collect(needed);
  references.report(undefined_too, removed);
}

// --- What lld says of references that shared objects make. Which of them count is the engine's to know
// (lld_verdict.cpp); here it is known which sections are kept.
//
//  1. Only where the options ask for it (--no-allow-shlib-undefined, which is on for executables), then in shared
//     outputs too, whatever they say of the objects' own references.
//  2. What nothing defines is undefined. Since lld 15 also what --gc-sections took away: a definition that is hidden,
//     or that a version script or --exclude-libs makes local, is not a root for it.
//  3. Since lld 15 such a definition is refused when it is kept ("non-exported symbol"), and so are names of lld's own
//     that it hides, such as __dso_handle. A warning with --warn-unresolved-symbols and --noinhibit-exec.

namespace {

/// Unless the link reports the name anyhow.
void add_undefined(const LinkJob& job, const SharedNeed& need, std::vector<UndefinedName>& names) {
  const auto reported = [&](const UndefinedName& name) {
    return name.symbol == need.symbol && !name.discarded && would_report(job, name);
  };
  if (std::ranges::any_of(names, reported)) return;
  UndefinedName& made = names.emplace_back();
  made.symbol = need.symbol;
  made.why = Missing::NeededByShared;
  made.references.push_back({need.reference, {}, 0});
}

}  // namespace

void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         Unsettled& unsettled, const LiveSections* live,
                         const std::function<bool(std::string_view)>& linker_defines) {
  if (job.output == OutputKind::Relocatable || !job.unresolved.report_in_shared_objects) return;
  const Exports exports(job);
  const auto reject = [&](const SharedNeed& need, const std::string& why) {
    resolution.rejections.push_back(
        {Rejection::Kind::HiddenFromShared, need.symbol, need.definition, need.reference, why});
  };
  for (const SharedNeed& need : unsettled.shared_needs) {
    const SymbolId& definition = need.definition;
    if (!definition.valid() && linker_defines(need.symbol)) {
      if (traits_of(job).refuses_hidden_own_names && !exported_by_lld(need.symbol))
        reject(need, "lld's own, and hidden");
      continue;
    }
    std::string why;
    if (definition.valid()) why = exports.why_not(need, object_of(inputs, definition.in));
    const bool removed = !why.empty() && live != nullptr && live->removed(definition);  // what is exported is kept
    if (!definition.valid() || removed)
      add_undefined(job, need, unsettled.undefined);
    else if (!why.empty())
      reject(need, why);
  }
  sort_by_kind(resolution.rejections);
}

}  // namespace elfaudit
