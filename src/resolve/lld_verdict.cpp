// What lld finds when all files are read; the rules are in lld.cpp.

#include <algorithm>
#include <map>

#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/lld.hpp"
#include "resolve/resolve.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What lld finds wrong with the versions of a link, when every name has its definition.
//
//  1. A version script may name only what an object defines, a member could, the line gives a value, or lld makes
//     because something refers to it ("_end"), in "local:" too; patterns may match nothing. foo in node V is foo or
//     foo@V. Of every link, not of shared objects alone, but not of -r. Standard since lld 16; --no-undefined-version
//     asks for it and --undefined-version allows everything.
//  2. In a shared object a name that was last seen as foo@V or foo@@V needs a node V. It doesn't matter whose
//     definition was kept: a lazy member that is never extracted names foo as well. What "local:" names exactly, and
//     with a default version what an archive of --exclude-libs defines, is not exported and needs none. In lld 14 a
//     value that the line gives the name takes the place of its default version.
//  3. It warns of a name that a version script gives to two nodes, or to one and to "local:", of those that an object
//     defines, but not for -r. Patterns give way to names.

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
  const std::set<std::string> demangled = demangled_names();
  std::set<std::string> have_version;  // what an object calls foo@@V: a node does not touch it, but "local:" does
  for (std::uint32_t id = 0; id < table_.size(); ++id)
    if (!more(id).version.empty()) have_version.insert({std::string(table_.name(id)), demangle(table_.name(id))});
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
        if (version != "local" && have_version.contains(name)) continue;
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
  const auto first = static_cast<std::ptrdiff_t>(out_.rejections.size());
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const Entry& entry = table_[id];
    std::string_view name = table_.name(id);
    const bool assigned = assigned_.contains(name);
    const bool by_object = entry.state == Entry::State::Defined && entry.definition.valid();
    if (!by_object && !assigned) continue;
    std::string_view version = more(id).version;
    const std::size_t at = name.find('@', 1);
    if (at != std::string_view::npos) {
      version = name.substr(at + 1);
      name = name.substr(0, at);
    }
    const auto has_name = [&](const VersionNode& node) { return node.name == version; };
    if (version.empty() || std::ranges::any_of(job_.versions, has_name)) continue;
    if (by_object && exports.excluded(object(entry.definition.in).origin)) continue;
    if (at == std::string_view::npos && exports.made_local(name, version, true)) continue;
    if (!since15_ && assigned) continue;
    const SymbolId by = by_object ? entry.definition : more(id).versioned_by;
    out_.rejections.push_back({Rejection::Kind::NoSuchVersion, std::string(name), by, {}, std::string(version)});
  }
  std::sort(out_.rejections.begin() + first, out_.rejections.end(),
            [](const Rejection& a, const Rejection& b) { return a.first < b.first; });
}

void LldLink::settle() {
  if (since15_) {
    find_duplicates();
    find_tls_mismatches();
    drop_discarded_winners();
  }
  find_back_references();
  check_versions();
  merge_versions();
  mark_needed_libraries();
  settle_symbols();
  collect_unresolved();
  collect_shared_needs();
}

/// Every symbol's resolution, and which mentions end at nothing.
void LldLink::settle_symbols() {
  constexpr std::size_t kGrain = 16;   // objects
  constexpr std::uint32_t kAhead = 8;  // symbols
  const SettledSymbols settled(out_);
  const std::vector<ObjectId> linked = linked_objects(inputs_, out_);
  std::vector<Ends> ends(linked.size());
  for_each_parallel(linked.size(), kGrain, [&](std::size_t i) {
    const File file = this->file(linked[i]);
    for (std::uint32_t s = 0; s < file.facts.symbols.size(); ++s) {
      const Symbol& symbol = file.facts.symbols[s];
      if (s + kAhead < file.facts.symbols.size()) __builtin_prefetch(&table_[file.names[s + kAhead]]);
      if (!symbol.version.empty() && !symbol.default_version)
        ends[i].versioned.push_back(s);  // another name, which is looked up by one thread
      else
        settle_symbol(settled, file, s, file.names[s], ends[i].open);
    }
  });
  for (std::size_t i = 0; i < linked.size(); ++i) {
    const File file = this->file(linked[i]);
    for (const std::uint32_t s : ends[i].versioned) settle_symbol(settled, file, s, entry_for(file, s), ends[i].open);
    if (!ends[i].versioned.empty()) std::ranges::sort(ends[i].open);
    if (file.facts.kind != ObjectKind::Relocatable) continue;
    for (const std::uint32_t s : ends[i].open) open_.push_back({file.id, s});
  }
}

void LldLink::settle_symbol(const SettledSymbols& settled, const File& file, std::uint32_t number, std::uint32_t id,
                            std::vector<std::uint32_t>& open) {
  const SymbolId at{file.id, number};
  const Entry& entry = table_[id];
  const bool assigned = !assigned_.empty() && assigned_.contains(table_.name(id));  // the value takes its place
  const SymbolId winner = entry.state >= Entry::State::Shared && !assigned ? entry.definition : SymbolId{};
  const Symbol& symbol = file.facts.symbols[number];
  const bool gone = symbol.defined() && !symbol.common() && discarded(at);
  out_.symbol_resolutions[at.in.input][at.in.object][number] = settled.of(at, file.facts, symbol, winner, gone);
  if (undefined_as(entry) || more(id).merged != kNone) open.push_back(number);
}

void LldLink::collide(std::uint32_t id, SymbolId kept, SymbolId rejected) {
  if (job_.allow_multiple_definition) return;
  // glibc before 2.32 has it in crti.o, in a linkonce section: later lld lets this one name pass.
  if (since15_ && table_.name(id) == "__x86.get_pc_thunk.bx") return;
  out_.conflicts.push_back({printed_name(id), kept, rejected});
}

/// Rule 7, since lld 15.
void LldLink::find_duplicates() {
  if (contested_.empty()) return;
  for (const ObjectId id : order_) {
    const ObjectFacts& facts = object(id);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      const Symbol& second = facts.symbols[s];
      if (!second.defined() || second.common() || second.weak()) continue;
      const std::uint32_t number = entry_for({id, s});
      if (!is_marked(contested_, number) || discarded({id, s})) continue;
      const Entry& entry = table_[number];
      if (entry.state != Entry::State::Defined || entry.definition.in == id || entry.weak()) continue;
      if (discarded(entry.definition)) continue;
      const Symbol& first = symbol(entry.definition);
      // lld compares the values only where they are not 0.
      const bool same_constant = first.placement == Placement::Absolute && second.placement == Placement::Absolute &&
                                 first.value == second.value && second.value != 0;
      if (!same_constant) collide(number, entry.definition, {id, s});
    }
  }
}

void LldLink::tls_mismatch(SymbolId first, SymbolId other) {
  const std::string name(object(other.in).name(symbol(other)));
  const auto reported = [&](const Rejection& rejection) { return rejection.symbol == name; };
  if (std::ranges::none_of(out_.rejections, reported))
    out_.rejections.push_back({Rejection::Kind::TlsMismatch, name, first, other, {}});
}

/// lld 14 complains when something of the other kind replaces what is there.
void LldLink::check_type(const Entry& entry, SymbolId at, SymbolType type) {
  if (since15_ || entry.type == SymbolType::NoType || !at.valid()) return;
  if ((entry.type == SymbolType::Tls) == (type == SymbolType::Tls)) return;
  const SymbolId first = entry.definition.valid() ? entry.definition : entry.first_reference;
  if (first.valid()) tls_mismatch(first, at);
}

/// Later ones complain about every typed mention of a name whose winner is thread-local.
void LldLink::find_tls_mismatches() {
  if (thread_local_.empty()) return;
  for (const ObjectId id : order_) {
    const ObjectFacts& facts = object(id);
    const std::span<const std::uint32_t> names = names_.of(id);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      if (!is_marked(thread_local_, names[s]) && facts.symbols[s].version.empty()) continue;
      const Symbol& mention = facts.symbols[s];
      if (mention.type == SymbolType::Tls || mention.type == SymbolType::NoType) continue;
      const std::uint32_t number = entry_for({id, s});
      if (!is_marked(thread_local_, number)) continue;
      const Entry& entry = table_[number];
      if (entry.type == SymbolType::Tls && entry.definition.valid()) tls_mismatch(entry.definition, {id, s});
    }
  }
}

/// Rule 6, since lld 15.
void LldLink::drop_discarded_winners() {
  for (const std::uint32_t id : discarded_) {
    Entry& entry = table_[id];
    if (entry.state != Entry::State::Defined || !discarded(entry.definition)) continue;
    entry.state = Entry::State::Undefined;
    entry.discarded = true;
  }
}

bool LldLink::has_version_nodes() const {
  return std::ranges::any_of(job_.versions, [](const VersionNode& node) { return !node.name.empty(); });
}

/// Rule 8.
void LldLink::merge_versions() {
  if (job_.output == OutputKind::Relocatable || (since15_ && !has_version_nodes())) return;
  const Exports exports(job_);
  const bool stopped = !out_.conflicts.empty() || !out_.rejections.empty();  // lld does not come to it then
  for (std::uint32_t id = 0; id < table_.size(); ++id) {
    const std::string_view name = table_.name(id);
    const std::size_t at = name.find('@');
    if (at == std::string_view::npos || at == 0 || at + 1 == name.size()) continue;  // "foo@" is another name
    const std::uint32_t base = table_.find(name.substr(0, at));
    if (base == kNone || base == id) continue;
    const bool assigned = assigned_.contains(table_.name(base));
    if (table_[base].state != Entry::State::Defined && !assigned) continue;
    const std::string_view version = name.substr(at + 1);
    if (more(base).version != version) continue;
    if (!since15_ && assigned) continue;  // the value has no version there
    const auto keeps_version = [&](std::uint32_t defined, bool default_version) {
      const SymbolId& definition = table_[defined].definition;
      return exports.made_local(name.substr(0, at), version, default_version) ||
             (definition.valid() && exports.excluded(object(definition.in).origin));
    };
    // What is made local keeps the version in its name, and is another one.
    if (keeps_version(base, true) || (table_[id].state == Entry::State::Defined && keeps_version(id, false))) continue;
    Entry& entry = table_[id];
    if (!stopped && entry.state == Entry::State::Defined && !entry.weak()) {
      if (assigned && more(base).versioned_by.valid())
        collide(base, more(base).versioned_by, entry.definition);
      else if (table_[base].state == Entry::State::Defined && !table_[base].weak())
        collide(base, table_[base].definition, entry.definition);
    }
    more_of(id).merged = base;
  }
}

/// A library that --as-needed applies to is needed when an object's strong reference ends at it.
void LldLink::mark_needed_libraries() {
  for (const std::uint32_t id : shared_) {
    const Entry& entry = table_[id];
    // lld's own "etext" takes the place of a library's.
    if (entry.state == Entry::State::Shared && entry.referenced && !entry.weak() &&
        !defined_by_linker(table_.name(id), job_, machine_of(inputs_), true))
      out_.linked[entry.definition.in.input][0] = true;
  }
}

/// With --wrap=foo, __real_foo means foo.
std::uint32_t LldLink::unwrapped(std::string_view name) {
  const std::string_view real = real_name(name, wrapped_);
  return table_.id(real.empty() ? name : real);
}

/// Which name an object's relocations against the symbol really mean: --wrap=foo makes foo __wrap_foo and __real_foo
/// foo, in the object that defines foo too.
std::uint32_t LldLink::redirected(SymbolId at) {
  const Symbol& symbol = this->symbol(at);
  const std::uint32_t id = entry_for(at);
  if (!wrapped_.empty() && !symbol.default_version) {
    const std::string_view name = table_.name(id);
    if (wrapped_.contains(name)) return table_.composed("__wrap_" + std::string(name));
    if (symbol.version.empty()) return unwrapped(name);
  }
  const std::uint32_t merged = more(id).merged;
  return merged == kNone ? id : merged;
}

/// Some input calls it foo@V or foo@@V.
bool LldLink::has_version(std::uint32_t id) const {
  return !more(id).version.empty() || table_.name(id).find('@', 1) != std::string_view::npos;
}

std::string LldLink::printed_name(std::uint32_t id) const {
  std::string name(table_.name(id));
  if (!more(id).version.empty()) name += "@@" + std::string(more(id).version);
  return name;
}

/// How the name is undefined in the end, if it is. What was never extracted (--wrap=foo can ask for such a name) and
/// what only a dropped library defines is so weakly.
std::optional<Binding> LldLink::undefined_as(const Entry& entry) const {
  switch (entry.state) {
    case Entry::State::Undefined:
      return entry.binding;
    case Entry::State::Lazy:
      if (entry.stays_lazy) return Binding::Weak;
      return since15_ || out_.linked[entry.lazy.input][entry.lazy.object] ? entry.binding : Binding::Weak;
    case Entry::State::Shared:
      if (!out_.linked[entry.definition.in.input][0]) return Binding::Weak;
      return {};
    default:
      return {};
  }
}

/// Every mention counts, weak ones and lost definitions too: lld asks what became of the name. Rule 9. Relocations to
/// discarded sections are found last, and not where a version has no node.
void LldLink::collect_unresolved() {
  UndefinedNames names(inputs_, out_, unsettled_.undefined);
  const bool stopped = since15_ && std::ranges::any_of(out_.rejections, [](const Rejection& r) {
                         return r.kind == Rejection::Kind::NoSuchVersion;
                       });
  const auto look = [&](SymbolId at) {
    const std::uint32_t id = redirected(at);
    const Entry& entry = table_[id];
    if (stopped && entry.discarded) return;
    const std::optional<Binding> binding = undefined_as(entry);
    if (!binding || (*binding == Binding::Weak && !has_version(id)) || assigned_.contains(table_.name(id))) return;
    UndefinedName& name = names.name(id, printed_name(id));
    name.hidden = entry.not_default || name.symbol.find('@') != std::string::npos;  // no option makes that a warning
    name.discarded = entry.discarded;
    name.references.push_back({at, {}, 0});
  };
  if (wrapped_.empty())
    std::ranges::for_each(open_, look);
  else  // any mention may mean another name
    names.each_symbol([&](SymbolId at, const ObjectFacts& /*facts*/, const Symbol& /*symbol*/) { look(at); });
  add_unknown_operands(names);
  names.finish();
}

/// Rule 11.
void LldLink::add_unknown_operands(UndefinedNames& names) {
  std::set<std::uint32_t> libraries;
  for (const Assignment& assignment : job_.assignments) {
    if (assignment.provide && !provides_.contains(&assignment)) continue;
    for (const std::string& used : assignment.operands()) {
      const std::uint32_t id = wrapped_.contains(used) ? table_.composed("__wrap_" + used) : unwrapped(used);
      const Entry::State state = table_[id].state;
      const bool known = state == Entry::State::Defined || state == Entry::State::Common || assigned_.contains(used);
      const bool own =
          job_.output != OutputKind::Relocatable && defined_by_linker(used, job_, machine_of(inputs_), true);
      if (known || own) continue;
      const bool of_library = state == Entry::State::Shared;
      UndefinedName& name = names.name(of_library ? id : table_.id(used), used);
      name.option = assignment.where;
      name.discarded = false;  // not found is not found
      if (of_library) name.library = table_[id].definition;
      if (of_library) libraries.insert(id);
    }
  }
  if (libraries.empty()) return;
  names.each_symbol([&](SymbolId at, const ObjectFacts& /*facts*/, const Symbol& /*symbol*/) {
    const std::uint32_t id = redirected(at);
    if (libraries.contains(id)) names.name(id, {}).references.push_back({at, {}, 0});
  });
}

bool LldLink::all_needed_on_line(const ObjectFacts& shared) const {
  return std::ranges::all_of(shared.needed, [&](const std::string& soname) { return sonames_.contains(soname); });
}

/// The value that the line gives a name is exported like a definition.
void LldLink::check_exported_value(std::uint32_t id, SymbolId reference) {
  const bool judged = job_.output != OutputKind::Relocatable && job_.unresolved.report_in_shared_objects;
  if (!since15_ || !judged) return;
  std::string why = Exports(job_).why_not(table_.name(id), {}, table_[id].hidden);
  if (!why.empty())
    out_.rejections.push_back(
        {Rejection::Kind::HiddenFromShared, std::string(table_.name(id)), {}, reference, std::move(why)});
}

/// Rule 10. A name that another shared object defines needs nothing more.
void LldLink::collect_shared_needs() {
  std::set<std::uint32_t> reported;
  for (const auto& [required, by] : required_) {
    if (!all_needed_on_line(object(by.in))) continue;
    const std::uint32_t id = unwrapped(table_.name(required));
    const Entry& entry = table_[id];
    const bool dynamic = since15_ && entry.in_shared;
    if (dynamic || more(id).merged != kNone || !reported.insert(id).second) continue;
    if (assigned_.contains(table_.name(id))) {
      check_exported_value(id, by);
      continue;
    }
    const std::optional<Binding> binding = undefined_as(entry);
    const auto is_own = [&] { return since15_ && defined_by_linker(table_.name(id), job_, machine_of(inputs_), true); };
    if (binding && (*binding != Binding::Weak || is_own()))
      unsettled_.shared_needs.push_back({printed_name(id), by, {}, false});
    else if (since15_ && (entry.state == Entry::State::Defined || entry.state == Entry::State::Common))
      unsettled_.shared_needs.push_back({printed_name(id), by, entry.definition, entry.hidden});
  }
}

}  // namespace elfaudit
