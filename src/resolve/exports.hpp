// Which definitions the output exports (visibility, version scripts, dynamic lists, --exclude-libs), and what the
// shared objects of the link need and are not given.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/link_symbols.hpp"
#include "scan/library_names.hpp"

namespace elfaudit {

class LiveSections;

/// Has it characters that stand for others?
bool is_pattern(const SymbolPattern& pattern);

/// fnmatch(3) without special treatment of '/', as all linkers do it.
bool matches(const SymbolPattern& pattern, std::string_view name);

/// Has the version script no pattern but "*", and nothing of C++?
bool has_exact_names_alone(const std::vector<VersionNode>& nodes);

class Exports {
 public:
  explicit Exports(const LinkJob& job) : job_(job) {}

  /// A version script makes it local. Exact names outrank patterns, and "global:" outranks "local:" among equals; "*"
  /// comes last (ld manual, VERSION). Of several nodes GNU ld and lld ask the first exact name, else the last pattern.
  bool made_local(std::string_view name) const;

  /// The same for a definition with a version; an empty one is none. GNU ld and lld have rules of their own for those:
  /// GNU ld asks the node of that version alone, and for mold a version is stronger than "local:" in a shared object.
  bool made_local(std::string_view name, std::string_view version, bool default_version) const;

  /// A version script gives the name without a version another one than `version`, or makes it local. As GNU ld looks
  /// it up.
  bool has_other_version(std::string_view name, std::string_view version) const;

  /// Does --gc-sections of GNU ld and mold keep a definition in that object for a shared object that mentions the name? In
  /// mold not what is made local, in programs by "*".
  bool shared_keeps(std::string_view name, const Origin& origin) const;

  /// The version that gold gives a plain definition of the name; empty: none.
  std::string_view given_version(std::string_view name) const;

  /// --exclude-libs hides what this archive defines: "libfoo.a", in GNU ld and gold "libfoo" too.
  bool excluded(const Origin& origin) const;

  /// Why shared objects can't have a definition of that name in that object: "hidden", ...; empty when they can.
  /// `hidden`: an object mentions the name hidden or internal. `version` as in made_local.
  std::string why_not(std::string_view name, const Origin& origin, bool hidden, std::string_view version = {},
                      bool default_version = false) const;

  /// The same for what a shared object needs, where lld knows the definition by the version that any input gave the
  /// name.
  std::string why_not(const SharedNeed& need, const ObjectFacts& object) const;

  /// Does this mention in a relocatable object make its name hidden?
  bool hides(const Symbol& mention, SymbolResolution resolved_as) const;

  /// mold's programs export what "global:" of a version script names; a name that is not a pattern means no foo@V.
  bool exported_by_script(const Symbol& symbol, std::string_view name) const;

  bool in_dynamic_list(std::string_view name) const;

 private:
  const LinkJob& job_;
};

// --- What lld says of references that shared objects make.

/// Turns Unsettled::shared_needs into undefined names and rejections. `live` is null unless --gc-sections was walked.
/// `linker_defines`: the name is the linker's own in this link.
void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         Unsettled& unsettled, const LiveSections* live,
                         const std::function<bool(std::string_view)>& linker_defines);

// --- What GNU ld says.

/// See find_needed(); the scan stage does it.
using NeededFinder = std::function<std::vector<IndirectLibrary>(const LinkJob&, std::span<const LineLibrary> line)>;

/// The libraries that GNU ld loads besides those of the line; none for the other linkers.
std::vector<IndirectLibrary> load_needed(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                         const Resolution& resolution, const NeededFinder& find);

/// Adds to Unsettled::undefined what shared objects refer to and nothing defines, and to Resolution::rejections what
/// is defined but not exported to them. `needed`: what load_needed gave. `removed`: did --gc-sections take the
/// definition away? Asked only where it matters.
void settle_shared_references(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                              Unsettled& unsettled, const std::vector<IndirectLibrary>& needed,
                              const std::function<bool(const SymbolId&)>& removed);

}  // namespace elfaudit
