// How gold takes one file into the link.
//
//  1. Files are taken in the order of the line, each once. The first COMDAT group with a signature is kept, and so is
//     the first .gnu.linkonce section of a name; one whose last part is a group's signature goes as well. What a dropped
//     section defines is a reference, and so is what an SHF_EXCLUDE section defines, but with -r and --gc-sections.
//  2. A plain definition that a version script puts in a node V is foo@@V. One that the script makes local has no
//     version, and neither has a dropped one. With -r the script says nothing.
//  3. foo and foo@V are two names until a file has foo@@V. Where one of them is new, both are one from then on. Where
//     both are known, foo is merged into foo@@V, as if it came after it: two strong definitions are an error of foo's.
//     They stay two where foo has another version: that is what foo means, and foo@@V2 is only foo@V2, with a warning
//     unless a shared object has it. They stay two as well where one is a shared object's and the other is not of
//     default visibility, and where two shared objects define them.
//  4. foo@V in the section of a foo that the script made foo@@V (".symver foo, foo@V") takes plain foo from it.
//  5. What an object defines again at the same place is not a duplicate, and neither is an absolute symbol of the same
//     value, whoever has it.
//  6. Among relocatable objects: strong beats common beats weak; the first of equals stays; two strong ones are an error
//     unless one is of a --just-symbols file.
//  7. Any of these beats what a shared object defines, in either order. Of two shared objects the first wins, unless it
//     is behind --as-needed and only weak references have asked for it. A shared object answers hidden references too,
//     and its definition has the visibility of these then.
//  8. What a shared object has under several names, one of them weak, goes under all of them when one is replaced.
//  9. A name that is thread-local in one file and not in another is an error, of references too; but not what a shared
//     object refers to where an object hides the name, for that is not the same.
// 10. --wrap changes names that are undefined, common or absolute, of relocatable objects, and undefined ones of shared
//     objects. They lose their version by it.
//
// Tried with gold 1.16 (binutils 2.40); tests/link/ holds the rules against the gold that is installed.

#include "resolve/gold.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace elfaudit {
namespace {

bool hides(Visibility visibility) { return visibility == Visibility::Hidden || visibility == Visibility::Internal; }

}  // namespace

GoldLink::GoldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names)
    : job_(job),
      inputs_(inputs),
      names_(names),
      exports_(job),
      out_(blank_resolution(job, inputs)),
      device_link_(device_link_object(job, inputs)),
      slots_(names),
      indexes_(inputs.size()),
      wrapped_(job.wrapped.begin(), job.wrapped.end()) {
  for (const InputFacts& input : inputs) ids_.emplace_back(input.objects.size());
}

Resolution GoldLink::run() {
  read_line();
  ask_for_options();
  check_script_names();
  give_values();
  check_nodes();
  settle();
  warn_of_version_script();
  collect_unresolved();
  collect_shared_needs();
  return std::move(out_);
}

/// A strong reference stays one.
void GoldLink::Known::want(bool weak) {
  weakly_wanted = weak && (!wanted || weakly_wanted);
  wanted = true;
}

/// Internal before hidden before protected.
void GoldLink::Known::narrow(Visibility visibility) {
  if (visibility == Visibility::Default) return;
  is.visibility = is.visibility == Visibility::Default ? visibility : std::min(is.visibility, visibility);
}

std::uint32_t GoldLink::final_of(std::uint32_t id) const {
  // Ends: what a name was merged into is merged into something later only.
  while (id != kNone && known_[id].became != kNone) id = known_[id].became;
  return id;
}

std::uint32_t GoldLink::known_by(std::string_view name, std::string_view version) const {
  const std::uint32_t slot =
      version.empty() ? slots_.find(name) : slots_.find(std::string(name) + "@" + std::string(version));
  return slot == kNone ? kNone : slots_[slot].known;
}

// --- Files

void GoldLink::add_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  reads_objects_ = true;
  const std::vector<bool> lost_groups = claim_groups(id);
  std::vector<std::uint32_t>& ids = ids_[id.input][id.object];
  ids.reserve(facts.symbols.size());
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    Mention mention = mention_of({id, s}, lost_groups);
    if (symbol(mention.at).placement != Placement::InSection) wrap(mention);
    ids.push_back(add(mention));
    Known& known = known_[ids.back()];
    known.discarded |= mention.dropped;
    known.made_local |= mention.made_local && !known.undefined();
  }
}

/// Rule 1: which of the object's groups are lost.
std::vector<bool> GoldLink::claim_groups(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<bool> lost(facts.groups.size(), false);
  if (job_.inputs[id.input].just_symbols) return lost;
  for (std::size_t g = 0; g < facts.groups.size(); ++g) {
    if (facts.groups[g].linkonce) continue;
    const auto [kept, is_first] = kept_groups_.try_emplace(facts.text(facts.groups[g].signature), true);
    kept->second = true;
    lost[g] = !is_first;
  }
  for (const Section& section : facts.sections)
    if (section.group != kNone && facts.groups[section.group].linkonce && !keep_linkonce(facts.text(section.name)))
      lost[section.group] = true;
  for (std::uint32_t g = 0; g < lost.size(); ++g)
    if (lost[g]) out_.discarded_groups[id].push_back(g);
  return lost;
}

/// Rule 1. Of ".gnu.linkonce.t.x.y" the last part is "x.y", of others what follows the last dot.
bool GoldLink::keep_linkonce(std::string_view section) {
  constexpr std::string_view kText = ".gnu.linkonce.t.";
  const std::size_t end = section.starts_with(kText) ? kText.size() : section.rfind('.') + 1;
  const auto [part, part_is_new] = kept_groups_.try_emplace(section.substr(end), false);
  const auto [whole, whole_is_new] = kept_groups_.try_emplace(section, true);
  whole->second = true;
  return whole_is_new && (part_is_new || !part->second);
}

/// Rule 1.
bool GoldLink::drops(const Section& section) const {
  return section.excluded && job_.output != OutputKind::Relocatable && !job_.gc_sections;
}

/// What the file itself says, before any rule.
GoldLink::Mention GoldLink::mention_as_written(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention;
  mention.at = at;
  mention.name = facts.name(symbol);
  mention.version = facts.text(symbol.version);
  mention.default_version = symbol.default_version;
  mention.weak = symbol.weak();
  return mention;
}

GoldLink::Mention GoldLink::mention_of(SymbolId at, const std::vector<bool>& lost_groups) {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention = mention_as_written(at);
  mention.visibility = symbol.visibility;
  if (symbol.section != kNone) {
    const Section& section = facts.sections[symbol.section];
    mention.dropped = drops(section) || (section.group != kNone && lost_groups[section.group]);
  }
  if (symbol.defined() && !mention.dropped) {
    mention.state = symbol.common() ? State::Common : State::Defined;
    if (mention.version.empty() && !job_.versions.empty()) {  // rule 2
      plain_.insert(mention.name);
      mention.version = given_version(mention.name);
      mention.default_version = !mention.version.empty();
      mention.made_local = job_.output != OutputKind::Relocatable && exports_.made_local(mention.name);
    }
  }
  if (job_.inputs[at.in.input].just_symbols) mention.state = State::Defined;
  const bool visible = mention.visibility == Visibility::Default || mention.visibility == Visibility::Protected;
  if (symbol.defined() && visible && exports_.excluded(facts.origin)) mention.visibility = Visibility::Hidden;
  return mention;
}

void GoldLink::add_shared_object(ObjectId id) {
  const ObjectFacts& facts = object(id);
  out_.linked[id.input][id.object] = true;
  reads_objects_ = true;
  std::vector<std::uint32_t>& ids = ids_[id.input][id.object];
  ids.reserve(facts.symbols.size());
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    if (hides(facts.symbols[s].visibility)) {
      ids.push_back(kNone);
      continue;
    }
    Mention mention = shared_mention_of({id, s});
    if (mention.state == State::Undefined) wrap(mention);
    ids.push_back(add(mention));
  }
  record_aliases(id);
}

GoldLink::Mention GoldLink::shared_mention_of(SymbolId at) const {
  const ObjectFacts& facts = object(at.in);
  const Symbol& symbol = facts.symbols[at.symbol];
  Mention mention = mention_as_written(at);
  mention.shared = true;
  if (symbol.defined()) mention.state = symbol.common() ? State::Common : State::Defined;
  // The symbol that stands for a version, and what has the version that is the library itself.
  const bool is_version = symbol.placement == Placement::Absolute && mention.name == mention.version;
  const bool is_base = symbol.defined() && !symbol.default_version && !facts.versions.empty() &&
                       mention.version == facts.text(facts.versions.front()) &&
                       (facts.soname.empty() || mention.version == facts.soname);
  if (is_version || is_base) {
    mention.version = {};
    mention.default_version = false;
  }
  return mention;
}

/// Rule 8.
void GoldLink::record_aliases(ObjectId id) {
  const ObjectFacts& facts = object(id);
  std::vector<std::tuple<std::uint64_t, bool, std::string_view, std::uint32_t>> variables;
  for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
    const Symbol& variable = facts.symbols[s];
    const std::uint32_t known = final_of(ids_[id.input][id.object][s]);
    if (known == kNone || variable.type != SymbolType::Object || variable.placement != Placement::InSection) continue;
    if (known_[known].is.at.in == id)
      variables.emplace_back(variable.value, !variable.weak(), facts.name(variable), known);
  }
  std::sort(variables.begin(), variables.end());
  for (std::size_t first = 0; first < variables.size();) {
    std::size_t end = first + 1;
    const auto& [value, strong, name, known] = variables[first];
    while (!strong && end < variables.size() && std::get<0>(variables[end]) == value) ++end;
    for (std::size_t v = first; end - first > 1 && v < end; ++v)
      aliases_[std::get<3>(variables[v])] = std::get<3>(variables[v + 1 == end ? first : v + 1]);
    first = end;
  }
}

/// Rule 10: foo means __wrap_foo, __real_foo means foo.
void GoldLink::wrap(Mention& mention) {
  if (wrapped_.empty()) return;
  const std::string_view name = mention.name;
  const std::string_view real = real_name(name, wrapped_);
  if (!wrapped_.contains(name) && real.empty()) return;
  mention.name = wrapped_.contains(name) ? slots_.name(slots_.composed("__wrap_" + std::string(name))) : real;
  mention.version = {};
}

// --- Names and versions

/// The slot of the name in its version. Most names are as the file has them.
std::uint32_t GoldLink::slot_of(const Mention& mention) {
  const bool as_written = mention.at.valid() && mention.version.empty() &&
                          mention.name.data() == object(mention.at.in).name(symbol(mention.at)).data();
  return as_written ? slots_.id(mention.at) : slots_.id(mention.name, mention.version);
}

/// Gives the entry that the file's symbol is.
std::uint32_t GoldLink::add(const Mention& mention) {
  const std::uint32_t versioned = slot_of(mention);
  const bool is_default = mention.default_version && !mention.version.empty();
  const std::uint32_t plain = is_default ? slots_.id(mention.name) : kNone;
  const bool plain_is_new = is_default && slots_[plain].known == kNone;
  std::uint32_t id = slots_[versioned].known;
  const std::uint32_t met = id != kNone ? id : is_default ? slots_[plain].known : kNone;
  const bool was_undefined = met != kNone && known_[met].undefined() && known_[met].in_object;
  bool is_new = false;
  if (id != kNone) {
    meet(id, mention);
    if (is_default)
      join_plain_name(id, plain_is_new, plain);
    else
      leave_default(id, mention);
  } else {
    if (is_default && !plain_is_new) id = meet_plain_name(plain, mention);
    is_new = id == kNone;
    if (is_new) id = make(mention);
    slots_[versioned].known = id;
    if (plain_is_new) slots_[plain].known = id;
    known_[id].is_default |= is_default && slots_[plain].known == id;
  }
  if ((is_new || !was_undefined) && known_[id].undefined() && known_[id].in_object) ++undefined_seen_;
  return id;
}

std::uint32_t GoldLink::make(const Mention& mention) {
  Known& known = known_.emplace_back();
  known.is = mention;
  known.in_object = !mention.shared;
  known.in_library = mention.shared;
  return static_cast<std::uint32_t>(known_.size() - 1);
}

/// Rule 3: what plain foo is when the first foo@@V comes; kNone when it has another version.
std::uint32_t GoldLink::meet_plain_name(std::uint32_t plain, const Mention& mention) {
  const std::uint32_t id = slots_[plain].known;
  if (known_[id].is.version.empty()) {
    meet(id, mention);
    return id;
  }
  if (!mention.shared) warn_of_default(known_[id], mention);
  return kNone;
}

/// Rule 4.
void GoldLink::leave_default(std::uint32_t id, const Mention& mention) {
  Known& known = known_[id];
  if (mention.version.empty() || !known.is_default || known.is.at.in != mention.at.in) return;
  if (mention.state != State::Defined || known.is.state != State::Defined) return;
  const Symbol& first = symbol(known.is.at);
  const Symbol& second = symbol(mention.at);
  if (second.placement != Placement::InSection || first.section != second.section) return;
  known.is_default = false;
  slots_[slots_.id(mention.name)].known = kNone;
}

/// Rule 3: `id` has the default version of the name `plain`.
void GoldLink::join_plain_name(std::uint32_t id, bool plain_is_new, std::uint32_t plain) {
  const std::uint32_t other = slots_[plain].known;
  if (other == id) return;
  if (!plain_is_new) {
    if (!known_[other].is.version.empty() || stay_apart(known_[other], known_[id])) return;
    Mention merged = known_[other].is;
    merged.default_version = true;
    meet(id, merged);
    known_[id].in_object |= known_[other].in_object;
    known_[id].in_library |= known_[other].in_library;
    known_[other].became = id;
  }
  slots_[plain].known = id;
  known_[id].is_default = true;
}

bool GoldLink::stay_apart(const Known& plain, const Known& versioned) const {
  if (versioned.is.visibility != Visibility::Default && plain.from_library()) return true;
  if (plain.is.visibility != Visibility::Default && versioned.from_library()) return true;
  return plain.from_library() && versioned.from_library() && plain.is.state == State::Defined &&
         plain.is.at.in != versioned.is.at.in;
}

// --- What a file says meets what is known

void GoldLink::meet(std::uint32_t id, const Mention& mention) {
  Known& known = known_[id];
  if (is_same(known, mention)) return;
  if (!mention.shared)
    known.in_object = true;
  else if (mention.state == State::Undefined && hides(known.is.visibility))
    return;  // rule 9
  else
    known.in_library = true;
  check_tls(known, mention);
  warn_of_common(known, mention);
  if (overrides(known, mention)) {
    const bool was_weak = known.is.weak;
    const bool answers = mention.shared && known.undefined() && !known.is.shared && mention.state == State::Defined;
    override(id, mention);
    if (answers && (was_weak || mention.weak)) known.want(was_weak);
  } else {
    collide(known, mention);
    const bool asks = !mention.shared && mention.state == State::Undefined;
    if (asks && known.is.shared && known.is.state == State::Defined) known.want(mention.weak);
    known.narrow(mention.visibility);
  }
  if (known.from_library() && known.in_object && !known.weakly_wanted) needed_.insert(known.is.at.in.input);
}

/// Rule 5.
bool GoldLink::is_same(const Known& known, const Mention& mention) const {
  if (!known.is.at.valid() || known.is.state != State::Defined || mention.state != State::Defined) return false;
  const Symbol& first = symbol(known.is.at);
  const Symbol& second = symbol(mention.at);
  if (first.value != second.value || first.placement != second.placement) return false;
  if (first.placement == Placement::Absolute) return true;
  return known.is.at.in == mention.at.in && first.section == second.section;
}

/// Rules 6 and 7: does the new mention count from now on?
bool GoldLink::overrides(const Known& known, const Mention& mention) const {
  const Mention& old = known.is;
  switch (mention.state) {
    case State::Undefined:
      if (mention.shared || !known.undefined()) return false;
      return mention.weak ? old.weak && old.shared : old.weak || old.shared;
    case State::Common:
      if (known.undefined()) return true;
      if (mention.shared || mention.weak) return false;
      return old.weak || old.shared;
    case State::Defined:
      break;
  }
  if (known.undefined()) return true;
  if (mention.shared) return old.shared && library_overrides(known, mention);
  return old.shared || (!mention.weak && (old.weak || old.state == State::Common));
}

/// Rule 7, of two shared objects; and a library's own foo@@V comes before its foo without a version.
bool GoldLink::library_overrides(const Known& known, const Mention& mention) const {
  const bool own = known.is.at.in == mention.at.in && known.is.version.empty() && mention.default_version;
  if (own && !mention.weak && known.is.state == State::Defined) return true;
  const std::uint32_t library = known.is.at.in.input;
  return known.in_object && known.weakly_wanted && job_.inputs[library].as_needed && !needed_.contains(library);
}

/// The visibility is narrowed by all mentions.
void GoldLink::override(std::uint32_t id, const Mention& mention) {
  std::uint32_t alias = id;
  do {
    Known& known = known_[alias];
    const Mention before = known.is;
    known.is = mention;
    known.is.name = before.name;
    known.is.visibility = before.visibility;
    known.narrow(mention.visibility);
    (mention.shared ? known.in_library : known.in_object) = true;
    const auto next = aliases_.find(alias);
    alias = next == aliases_.end() ? id : next->second;
  } while (alias != id);
}

/// Rule 6.
void GoldLink::collide(const Known& known, const Mention& mention) {
  const auto is_strong = [](const Mention& one) { return one.state == State::Defined && !one.weak && !one.shared; };
  if (!is_strong(known.is) || !is_strong(mention) || !known.is.at.valid() || job_.allow_multiple_definition) return;
  const auto just_symbols = [&](const Mention& one) { return job_.inputs[one.at.in.input].just_symbols; };
  if (just_symbols(known.is) || just_symbols(mention)) return;
  const Symbol& first = symbol(known.is.at);
  std::string name(known.is.name);
  if (!first.version.empty())
    name.append(first.default_version ? "@@" : "@").append(object(known.is.at.in).text(first.version));
  out_.conflicts.push_back({std::move(name), known.is.at, mention.at});
}

/// Rule 9.
void GoldLink::check_tls(const Known& known, const Mention& mention) {
  if (!known.is.at.valid()) return;
  const auto in_bytecode = [&](SymbolId at) { return object(at.in).origin.bytecode; };
  if (in_bytecode(known.is.at) || in_bytecode(mention.at)) return;  // no plugin says what is thread-local
  const auto is_tls = [&](SymbolId at) { return symbol(at).type == SymbolType::Tls; };
  if (is_tls(known.is.at) == is_tls(mention.at)) return;
  const auto said = [&](const Rejection& rejection) {
    return rejection.kind == Rejection::Kind::TlsMismatch && rejection.symbol == known.is.name;
  };
  if (std::none_of(out_.rejections.begin(), out_.rejections.end(), said))
    out_.rejections.push_back({Rejection::Kind::TlsMismatch, std::string(known.is.name), known.is.at, mention.at, {}});
}

// --- Of warnings, which --fatal-warnings makes errors of: with --warn-common, a common symbol that meets another one
// or a strong definition; and the foo@@V2 of rule 3.

void GoldLink::warn_of_common(const Known& known, const Mention& mention) {
  if (!job_.warnings.fatal || !job_.warnings.common || !known.is.at.valid()) return;
  const bool one = known.is.state == State::Common && mention.state != State::Undefined && !mention.shared;
  const bool other = mention.state == State::Common && known.is.state == State::Defined && !known.is.shared;
  const bool strong = !mention.weak && !known.is.weak;
  if ((one || other) && strong)
    out_.warnings.push_back(
        {FatalWarning::Kind::Common, std::string(known.is.name), known.is.at, {mention.at, {}, 0}, {}, {}});
}

void GoldLink::warn_of_default(const Known& known, const Mention& mention) {
  if (!job_.warnings.fatal || !known.is.at.valid()) return;
  out_.warnings.push_back({FatalWarning::Kind::SecondDefault,
                           std::string(mention.name),
                           mention.at,
                           {known.is.at, {}, 0},
                           {},
                           std::string(known.is.version) + " and " + std::string(mention.version)});
}

}  // namespace elfaudit
