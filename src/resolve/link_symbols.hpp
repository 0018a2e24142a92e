// The global symbols of one link while it is played through: what an engine knows of each name, how the result begins and
// is filled in, and which names the linker defines itself. Versions are part of the name: "foo@V1".
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/link_names.hpp"
#include "support/name_hash.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What an engine leaves to the later steps of this folder, besides the Resolution: settle_unresolved() decides which
// of it the linker comes to, conclude() what it reports. Nothing outside of this folder reads it.

/// A symbol that nothing defines, or that an expression needs in the program.
struct UndefinedName : Unresolved {
  /// The definition in a shared object, where an expression needs its address in the program. In gold also where a
  /// reference is not of default visibility: a copy in the program is enough for it.
  SymbolId library{};
  bool discarded = false;    ///< a discarded section defines it
  bool foreign = false;      ///< GNU ld: an object for another machine refers to it (LinkJob::foreign)
  bool beside_line = false;  ///< GNU ld: only a library that other libraries need defines it, which is an error
  bool in_library = false;   ///< gold: a shared object mentions it
  bool not_local = false;    ///< gold: it is an error because it is not bound locally
};

/// A shared object's reference that the link must satisfy. lld: SharedFile::requiredSymbols. Which of them is an error
/// is known with the sections that are kept.
struct SharedNeed {
  std::string symbol;   ///< with its version, if it has one
  SymbolId reference;   ///< the first shared object's
  SymbolId definition;  ///< a relocatable object's; invalid: nothing defines it
  bool hidden = false;  ///< a relocatable object mentions the name hidden or internal
};

struct Unsettled {
  std::vector<UndefinedName> undefined;  ///< by name; candidates until their relocations are read
  std::vector<SharedNeed> shared_needs;  ///< lld and gold, in the order of the link
  /// GNU ld with --fatal-warnings, by name: the reference for which it warns if a section .gnu.warning.NAME is linked.
  std::map<std::string, FatalWarning, std::less<>> mentions;
  std::map<std::string, FatalWarning, std::less<>> weak_mentions;  ///< the last weak one, while nothing defines it
};

// --- What is known of a name differs between the engines.

/// What GNU ld's engine knows of one name so far.
struct Entry {
  enum class State : std::uint8_t { New, UndefinedWeak, Undefined, DefinedWeak, Defined, Common };

  State state = State::New;
  bool dynamic = false;                  ///< the state comes from a shared object
  bool assigned = false;                 ///< --defsym or a script gives it a value
  bool settled = false;                  ///< that value took the place of an object's definition
  bool by_line = false;                  ///< and no object has defined it since
  bool provided = false;                 ///< PROVIDE() would give it one
  bool strong_reference = false;         ///< a linked relocatable object refers to it, not weakly
  bool not_default = false;              ///< a relocatable object mentions it hidden, internal or protected
  bool discarded = false;                ///< a COMDAT copy or an SHF_EXCLUDE section that is dropped defines it
  std::uint32_t alias = kNone;           ///< "foo" stands for this entry, "foo@V2", whose version is the default one
  SymbolId definition;                   ///< the surviving one; invalid while undefined or assigned
  SymbolId named_by;                     ///< spells the name as messages do: "foo", "foo@V" or "foo@@V"
  SymbolId default_definition;           ///< of foo@@V, where an object before it defines foo@V
  std::uint32_t shared_default = kNone;  ///< a shared object's "foo@V" that foo means until the line gives it a value
  SymbolId value_over;                   ///< the shared definition whose place the line's value took
  SymbolId first_reference;              ///< the first one that made it undefined; invalid when an option did
  const std::string* option = nullptr;   ///< that option

  bool undefined() const { return state == State::Undefined; }
  bool defined() const { return state >= State::DefinedWeak; }

  /// Of a relocatable object's symbol.
  void see(Visibility visibility) { not_default |= visibility != Visibility::Default; }
};

/// What an engine knows of each name: those of the link's symbols, which have their numbers already, and those of
/// options and scripts, which get theirs when they are asked for.
template <class Entry>
class SymbolTable {
 public:
  /// `names` outlive the table.
  explicit SymbolTable(const LinkNames& names) : names_(names) {
    constexpr std::size_t kOthers = 1 << 15;  // of options, and of versions in libc and libstdc++: "foo@V"
    entries_.reserve(names.size() + names.size() / 8 + std::min<std::size_t>(names.size(), kOthers));
    entries_.resize(names.size());
  }

  /// The number of a symbol's name without its version.
  std::uint32_t id(SymbolId at) const { return names_.of(at); }

  /// The entry's number for a name without version. `name` must outlive the table.
  std::uint32_t id(std::string_view name) {
    if (const std::uint32_t known = names_.find(name); known != LinkNames::kAbsent) return known;
    const std::uint32_t id = names_.size() + others_.intern(name);
    if (id >= entries_.size()) entries_.resize(id + 1);
    return id;
  }

  /// The entry's number for "name@version". Plain when there is no version.
  std::uint32_t id(std::string_view name, std::string_view version) {
    return version.empty() ? id(name) : composed(std::string(name) + "@" + std::string(version));
  }

  /// The entry's number for a name that is put together here and kept by the table.
  std::uint32_t composed(std::string name) {
    if (const std::uint32_t known = find(name); known != kNone) return known;
    return id(composed_.emplace_back(std::move(name)));
  }

  /// kNone when the name was never mentioned.
  std::uint32_t find(std::string_view name) const {
    if (const std::uint32_t known = names_.find(name); known != LinkNames::kAbsent) return known;
    const std::uint32_t other = others_.find(name);
    return other == Interner::kAbsent ? kNone : names_.size() + other;
  }

  /// Of "name@version".
  std::uint32_t find(std::string_view name, std::string_view version) {
    spelled_.assign(name).append("@").append(version);
    return find(spelled_);
  }

  Entry& operator[](std::uint32_t id) { return entries_[id]; }
  const Entry& operator[](std::uint32_t id) const { return entries_[id]; }

  std::string_view name(std::uint32_t id) const {
    return id < names_.size() ? names_.name(id) : others_.name(id - names_.size());
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }

 private:
  const LinkNames& names_;
  Interner others_;
  PageVector<Entry> entries_;
  std::deque<std::string> composed_;  // a deque: views into its strings stay good
  std::string spelled_;               // what was looked for last
};

class LinkSymbols : public SymbolTable<Entry> {
 public:
  using SymbolTable::SymbolTable;

  /// The entry that really stands for `id`, aliases followed.
  std::uint32_t canonical(std::uint32_t id) const {
    // Ends: plain foo stands for foo@V2, or foo@V2 for plain foo, whichever was defined first, and a name that stands
    // for another one is not stood for again.
    while ((*this)[id].alias != kNone) id = (*this)[id].alias;
    return id;
  }
};

// --- What the engines share about their results: how a Resolution begins and how it is filled in once the winners are
// known. Nothing here knows an order of files.

/// Archives alone: nothing on the line could pull a member in, so the user means all of them.
bool only_archives(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// Nothing is linked yet.
Resolution blank_resolution(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// By what a linker knows a shared object of the line: its soname, else the name of its file for "-lfoo", else the
/// path.
std::string_view known_name(const LinkInput& input, const ObjectFacts& facts);

/// Does the link have that shared object, or the same file named earlier (-lc twice, libc.so.6 once by a script)?
bool is_linked_library(const std::vector<InputFacts>& inputs, const Resolution& resolution, std::uint32_t input);

/// With --wrap=foo, what "__real_foo" means: foo. Empty for every other name.
std::string_view real_name(std::string_view name, const std::set<std::string_view>& wrapped);

/// The object that nvcc wraps its device link's output in and puts first on the host link line ("x_dlink.o"). It is
/// made on the way, so there is no file to read, but what is in it follows from the objects that were device-linked.
struct DeviceLinkObject {
  std::vector<std::string> defines;
  std::vector<std::string> needs;
};
DeviceLinkObject device_link_object(const LinkJob& job, const std::vector<InputFacts>& inputs);

/// What a symbol becomes once it is known which definitions won.
class SettledSymbols {
 public:
  /// Resolution::conflicts says what is Rejected.
  explicit SettledSymbols(const Resolution& resolution);

  /// `winner`: the definition that the symbol's name has, invalid when it has none (or the line's own value); `discarded`:
  /// the symbol's section is not part of the link, which is never said of commons and of shared objects.
  SymbolResolution of(SymbolId at, const ObjectFacts& object, const Symbol& symbol, SymbolId winner,
                      bool discarded) const;

 private:
  std::set<SymbolId> rejected_;
};

/// Which names a single symbol of the linked files defines: nearly all. No rule is needed for what these become.
class SoleDefinitions {
 public:
  /// `resolution`: which files are linked.
  SoleDefinitions(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                  const Resolution& resolution);

  /// It is kept, whatever the linker's rules: nothing else defines the name, no group or option drops its section, and
  /// the line gives no name a value.
  bool is_kept(SymbolId at, const ObjectFacts& object, const Symbol& symbol) const {
    if (definitions_.empty() || symbol.placement == Placement::Common || !symbol.version.empty()) return false;
    if (object.kind != ObjectKind::Relocatable || definitions_[names_.of(at)] != 1) return false;
    if (symbol.section == kNone) return true;
    const Section& section = object.sections[symbol.section];
    return section.group == kNone && !section.excluded;
  }

 private:
  const LinkNames& names_;
  std::vector<std::uint8_t> definitions_;  ///< by name, 2 for many; empty: it is not so plain
};

/// Sets every symbol's resolution; `winner` and `discarded` as SettledSymbols has them.
void settle_resolutions(const std::vector<InputFacts>& inputs, Resolution& resolution, const SoleDefinitions& sole,
                        const std::function<SymbolId(SymbolId)>& winner,
                        const std::function<bool(SymbolId)>& discarded);

/// Collects undefined names with the references to them. Names keep the numbers of the engine's symbol table.
class UndefinedNames {
 public:
  UndefinedNames(const std::vector<InputFacts>& inputs, const Resolution& resolution, std::vector<UndefinedName>& names)
      : inputs_(inputs), resolution_(resolution), names_(names) {}

  /// The entry for that number, made when it is the first mention.
  UndefinedName& name(std::uint32_t id, std::string_view symbol);

  /// Calls `look` for every global of every linked relocatable object, in the order of the line.
  void each_symbol(const std::function<void(SymbolId, const ObjectFacts&, const Symbol&)>& look) const;

  /// Sorts by name.
  void finish();

 private:
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::vector<UndefinedName>& names_;
  std::vector<std::uint32_t> slots_;  ///< by number: into `names_`
};

// --- The names that the linker defines itself.

/// A name that the linker itself defines when something refers to it: "_end", "__bss_start", "_GLOBAL_OFFSET_TABLE_".
/// Not the __start_SECTION kind, which need the section.
/// `machine`: the output's, see machine_of(). `dynamic`: a shared object takes part in the link.
bool defined_by_linker(std::string_view name, const LinkJob& job, const MachineTraits& machine, bool dynamic);

/// Does it define the name, and in time where an expression asks for it? GNU ld evaluates before it has all of them.
bool answered_by_linker(const UndefinedName& name, const LinkJob& job, const MachineTraits& machine, bool dynamic);

/// Can a shared object refer to that name of lld's own? All but the bounds of the output's parts are hidden.
bool exported_by_lld(std::string_view name);

// --- The machine of the link.

const MachineTraits& machine_of(const ObjectFacts& object);

/// That of the first object.
const MachineTraits& machine_of(const std::vector<InputFacts>& inputs);

}  // namespace elfaudit
