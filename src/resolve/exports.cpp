// Decides which definitions a version script, visibility or an option exports.

#include "resolve/exports.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <optional>

#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/linker_traits.hpp"

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
    return std::any_of(nodes.begin(), nodes.end(), [&](const VersionNode& node) { return fit(list(node), name) == 1; });
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
    return std::any_of(list.begin(), list.end(), [&](const SymbolPattern& pattern) {
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
      return std::any_of(list.begin(), list.end(), [&](const SymbolPattern& pattern) {
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
  return std::all_of(nodes.begin(), nodes.end(), [&](const VersionNode& node) {
    return std::all_of(node.globals.begin(), node.globals.end(), is_exact) &&
           std::all_of(node.locals.begin(), node.locals.end(), is_exact);
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
  const auto any_node = [&](const auto& hides) {
    return std::any_of(job_.versions.begin(), job_.versions.end(), hides);
  };
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
  return std::any_of(job_.exclude_libs.begin(), job_.exclude_libs.end(), [&](const std::string& name) {
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
  const bool hidden = mention.visibility == Visibility::Hidden || mention.visibility == Visibility::Internal;
  const bool second = resolved_as == SymbolResolution::Rejected || resolved_as == SymbolResolution::Ignored;
  return hidden && (!second || traits_of(job_).duplicates_hide);
}

bool Exports::exported_by_script(const Symbol& symbol, std::string_view name) const {
  if (!traits_of(job_).version_script_exports) return false;
  if (local_in_mold(job_.versions, name).value_or(true)) return false;
  const bool plain = symbol.version.empty() || symbol.default_version;
  return std::any_of(job_.versions.begin(), job_.versions.end(), [&](const VersionNode& node) {
    return std::any_of(node.globals.begin(), node.globals.end(), [&](const SymbolPattern& pattern) {
      return (plain || is_pattern(pattern)) && matches(as_mold_reads(pattern), name);
    });
  });
}

bool Exports::in_dynamic_list(std::string_view name) const {
  return std::any_of(job_.dynamic_list.begin(), job_.dynamic_list.end(),
                     [&](const SymbolPattern& pattern) { return matches(pattern, name); });
}

}  // namespace elfaudit
