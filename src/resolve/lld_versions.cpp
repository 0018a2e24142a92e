// What lld finds wrong with the versions of a link, when every name has its definition.
//
//  1. A version script may name only what an object defines, a member could, the line gives a value, or lld makes
//     because something refers to it ("_end"), in "local:" too; patterns may match nothing. foo in node V is foo or
//     foo@V. Of every link, not of shared objects alone, but not of -r. Standard since lld 16; --no-undefined-version
//     asks for it and --undefined-version allows everything.
//  2. In a shared object a name that was last seen as foo@V or foo@@V needs a node V. It doesn't matter whose
//  definition
//     was kept: a lazy member that is never extracted names foo as well. What "local:" names exactly, and with a
//     default version what an archive of --exclude-libs defines, is not exported and needs none. In lld 14 a value that
//     the line gives the name takes the place of its default version.
//  3. It warns of a name that a version script gives to two nodes, or to one and to "local:", of those that an object
//     defines, but not for -r. Patterns give way to names.

#include <algorithm>
#include <map>

#include "resolve/exports.hpp"
#include "resolve/lld.hpp"
#include "resolve/resolve.hpp"
#include "support/demangle.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

/// A node can be given to it: it is defined, or would be.
bool LldLink::can_have_version(std::uint32_t id) const {
  const Entry::State state = table_[id].state;
  return state == Entry::State::Lazy || state == Entry::State::Common || state == Entry::State::Defined;
}

/// The names as extern "C++" patterns spell them: "ns::f()", and "ns::f()@V" for one that is not the default. lld 14
/// demangles none that has a version. What --defsym defines is there too.
std::set<std::string> LldLink::demangled_names() const {
  std::set<std::string> names;
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    if (!can_have_version(id)) continue;
    const std::string_view name = table_.name(id);
    if (!since15_ && has_version(id)) continue;
    const std::size_t at = std::min(name.find('@', 1), name.size());
    names.insert(demangle(name.substr(0, at)) + std::string(name.substr(at)));
  }
  for (const std::string_view name : assigned_) names.insert(demangle(name));
  return names;
}

void LldLink::check_versions() {
  check_version_script();
  if (job_.warnings.fatal && job_.output != OutputKind::Relocatable) warn_of_versions();
  if (job_.output == OutputKind::SharedObject) check_nodes();
}

/// Rule 1.
void LldLink::check_version_script() {
  if (job_.output == OutputKind::Relocatable || job_.versions.empty()) return;
  if (job_.undefined_version.value_or(!traits_of(job_).no_undefined_version)) return;
  std::optional<std::set<std::string>> demangled;
  const auto known = [&](const SymbolPattern& pattern, const std::string& name) {
    if (!pattern.cxx) {
      if (assigned_.contains(name)) return true;
      const std::uint32_t id = table_.find(name);
      if (id == kNone) return false;
      return can_have_version(id) ||
             (table_[id].state != Entry::State::New && defined_by_linker(name, job_, machine_of(inputs_), true));
    }
    if (!demangled) demangled = demangled_names();
    return demangled->contains(name);
  };
  const auto check = [&](const std::vector<SymbolPattern>& patterns, const std::string& node,
                         const std::string& version) {
    for (const SymbolPattern& pattern : patterns) {
      if (is_pattern(pattern) || known(pattern, pattern.text) || known(pattern, pattern.text + "@" + node)) continue;
      out_.rejections.push_back({Rejection::Kind::VersionUnmatched, pattern.text, {}, {}, version});
    }
  };
  for (const VersionNode& node : job_.versions) {
    check(node.globals, node.name, node.name.empty() ? "global" : node.name);
    check(node.locals, node.name, "local");
  }
}

/// Rule 3.
void LldLink::warn_of_versions() {
  std::map<std::string, std::string> versions;  // by name as the table has it, or as C++ spells it
  std::set<std::string> demangled = demangled_names();
  const auto give = [&](const std::string& name, const std::string& version) {
    const auto [given, is_first] = versions.try_emplace(name, version);
    if (is_first || given->second == version) return;
    out_.warnings.push_back({FatalWarning::Kind::VersionTwice, name, {}, {}, {}, given->second + " and " + version});
  };
  const auto give_all = [&](const std::vector<SymbolPattern>& patterns, const std::string& node,
                            const std::string& version) {
    for (const SymbolPattern& pattern : patterns) {
      if (is_pattern(pattern)) continue;
      for (const std::string& name : {pattern.text, pattern.text + "@" + node}) {
        const std::uint32_t id = pattern.cxx ? kNone : table_.find(name);
        if (pattern.cxx ? demangled.contains(name) : id != kNone && can_have_version(id)) give(name, version);
      }
    }
  };
  for (const VersionNode& node : job_.versions) {
    give_all(node.globals, node.name, node.name.empty() ? "global" : node.name);
    give_all(node.locals, node.name, "local");
  }
}

/// Rule 2.
void LldLink::check_nodes() {
  const Exports exports(job_);
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const Entry& entry = table_[id];
    std::string_view name = table_.name(id);
    const bool assigned = assigned_.contains(name);
    const bool by_object = entry.state == Entry::State::Defined && entry.definition.valid();
    if (!by_object && !assigned) continue;
    std::string_view version = entry.version;
    const std::size_t at = name.find('@', 1);
    if (at != std::string_view::npos) {
      version = name.substr(at + 1);
      name = name.substr(0, at);
    }
    const auto has_name = [&](const VersionNode& node) { return node.name == version; };
    if (version.empty() || std::any_of(job_.versions.begin(), job_.versions.end(), has_name)) continue;
    if (by_object && exports.excluded(object(entry.definition.in).origin)) continue;
    if (at == std::string_view::npos && exports.made_local(name, version, true)) continue;
    if (!since15_ && assigned) continue;
    const SymbolId by = by_object ? entry.definition : entry.versioned_by;
    out_.rejections.push_back({Rejection::Kind::NoSuchVersion, std::string(name), by, {}, std::string(version)});
  }
}

}  // namespace elfaudit
