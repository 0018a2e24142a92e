// Chooses the engine of a job, and concludes what was judged and why not.

#include "resolve/resolve.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "resolve/bfd.hpp"
#include "resolve/exports.hpp"
#include "resolve/gold.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/lld.hpp"
#include "scan/spelling.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What a resolution is a verdict on.
//
//  1. What collides among the inputs that are read does so whatever else is linked. Whether that is all is not known
//     while an input is left out, missing or not read.
//  2. A name that nothing defines is missing only when everything that the link uses was read. gold goes on without what
//     it does not find, and says then what is undefined; but a build stops before that link.
//  3. A thin archive's member whose file is not there is missing where the linker comes to it. With an index GNU ld, gold
//     and lld 14 come to the members that define what is undefined; under --whole-archive GNU ld stops at the first lost
//     one without a word, and an archive without an index that begins with a lost one is empty to it.

namespace {

bool all_read(const std::vector<InputFacts>& inputs) {
  return std::ranges::all_of(inputs, [](const InputFacts& input) { return input.errors.empty(); });
}

/// Why the inputs are not all that the line names.
Judged inputs_known(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  if (!job.missing.empty()) return Judged::InputMissing;
  if (!all_read(inputs)) return Judged::InputUnread;
  return job.excluded.empty() ? Judged::Yes : Judged::InputExcluded;
}

Judged scope_known(const LinkScope& scope) {
  if (!scope.command) return Judged::FilesAlone;
  return scope.whole_line ? Judged::Yes : Judged::PartOfLine;
}

/// Rests on what no input has: one that is not read may have it.
bool rests_on_absence(const Rejection& rejection) {
  return rejection.kind == Rejection::Kind::HiddenFromShared || rejection.kind == Rejection::Kind::VersionUnmatched;
}

/// No linker goes on without the value of an expression or what an option requires, whatever options say of undefined
/// symbols; with --noinhibit-exec gold does without the value, and all without what --require-defined names.
bool ends_the_link(const LinkJob& job, const UndefinedName& name) {
  if (name.option == "--gc-sections with -r") return true;
  if (name.option == "--require-defined" && !job.relocations.noinhibit_exec) return true;
  const bool goes_on = traits_of(job).forces_operands && job.relocations.noinhibit_exec && !name.library.valid();
  return is_operand(job, name) && !goes_on;
}

/// What GNU ld's --noinhibit-exec links with: a hidden name that it had in the dynamic symbol table when it met one
/// more mention, or that objects refer to weakly alone. It is there from a shared output's first mention on, else where
/// objects and shared objects mention it.
class HiddenMentions {
 public:
  void add(const Symbol& symbol, bool by_object, bool shared_output) {
    strong_ |= by_object && !symbol.weak();
    hidden_ |= by_object && is_hidden(symbol.visibility);
    if (!by_object && symbol.defined()) return;  // what it defines is not a definition of a hidden name
    (by_object ? by_object_ : by_library_) = true;
    if (!by_object_ || !(shared_output || by_library_)) return;
    made_local_ |= dynamic_;
    dynamic_ = true;
  }
  bool made_local() const { return (hidden_ && made_local_) || !strong_; }

 private:
  bool by_object_ = false;
  bool by_library_ = false;
  bool hidden_ = false;
  bool strong_ = false;
  bool dynamic_ = false;
  bool made_local_ = false;
};

/// The hidden names that it makes local, and links without.
std::set<std::string> names_made_local(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                       const Resolution& resolution, const std::vector<UndefinedName>& undefined) {
  std::map<std::string_view, HiddenMentions> mentions;
  for (const UndefinedName& name : undefined)
    if (name.hidden) mentions[name.symbol];
  std::set<std::string> made_local;
  if (mentions.empty()) return made_local;
  for (const ObjectId id : linked_objects(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    for (const Symbol& symbol : object.symbols)
      if (const auto found = mentions.find(object.name(symbol)); found != mentions.end())
        found->second.add(symbol, object.kind == ObjectKind::Relocatable, job.output == OutputKind::SharedObject);
  }
  for (const auto& [name, of_name] : mentions)
    if (of_name.made_local()) made_local.emplace(name);
  return made_local;
}

Missing why_missing(const UndefinedName& name) {
  if (name.discarded) return Missing::Discarded;
  return name.why == Missing::Undefined && name.library.valid() ? Missing::NotInProgram : name.why;
}

Reported verdict_on(const LinkJob& job, const UndefinedName& name, bool judged, bool made_local) {
  if (!judged && !job.told_undefined.empty()) return Reported::Error;  // see keep_told()
  if (!would_report(job, name)) return Reported::No;
  if (name.reported == Reported::IfKept) return Reported::IfKept;
  if (!judged) return Reported::No;
  if (!is_only_warned(job, name, made_local)) return Reported::Error;
  return job.warnings.silent ? Reported::No : Reported::Warning;
}

}  // namespace

bool is_operand(const LinkJob& job, const Unresolved& name) {
  return std::ranges::any_of(job.assignments, [&](const Assignment& made) {
    const std::span<const std::string> operands = made.operands();
    const bool asked = made.provide ? name.option == made.where : true;
    return asked && std::ranges::find(operands, name.symbol) != operands.end();
  });
}

bool is_strong_definition(const ObjectFacts& object, const Symbol& symbol) {
  if (!symbol.defined() || symbol.weak() || symbol.common() || symbol.binding == Binding::Unique) return false;
  return symbol.section == kNone || object.sections[symbol.section].group == kNone;
}

Judgement judgement_of(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  Judgement judgement;
  judgement.duplicates = inputs_known(job, inputs);
  judgement.undefined = scope_known(job.scope);
  judgement.not_judged = job.not_judged;
  const bool goes_on = traits_of(job).goes_on_without_inputs && !job.refuses_line && !job.scope.of_build;
  if (judgement.duplicates == Judged::InputMissing && goes_on && all_read(inputs) && job.excluded.empty())
    return judgement;
  if (judgement.undefined == Judged::Yes) judgement.undefined = judgement.duplicates;
  return judgement;
}

Judgement judgement_of(const std::vector<const Resolution*>& links) {
  Judgement all;
  bool any_command = false;
  for (const Resolution* link : links) {
    const Judgement& one = link->judgement;
    all.not_judged.insert(one.not_judged.begin(), one.not_judged.end());
    if (all.duplicates == Judged::Yes) all.duplicates = one.duplicates;
    if (one.undefined == Judged::FilesAlone) continue;
    if (!any_command || all.undefined == Judged::Yes) all.undefined = one.undefined;
    any_command = true;
  }
  return all;
}

bool can_be_settled(const LinkJob& job) {
  return (job.scope.whole_line || !job.told_undefined.empty()) && job.output != OutputKind::Relocatable;
}

void keep_told(const LinkJob& job, const Resolution& resolution, Unsettled& unsettled) {
  if (job.told_undefined.empty() || resolution.judgement.undefined == Judged::Yes) return;
  const WrittenNames told(job.told_undefined);
  std::erase_if(unsettled.undefined, [&](const UndefinedName& name) { return !told.contain(name.symbol); });
}

bool can_judge_relocations(const LinkJob& job) {
  if (job.output == OutputKind::Relocatable || !job.excluded.empty()) return false;
  return job.scope.whole_line || (job.scope.command && job.output == OutputKind::SharedObject);
}

bool would_report(const LinkJob& job, const UndefinedName& name) {
  if (!name.option.empty() || name.foreign || name.why == Missing::NeededByShared || name.beside_line)
    return true;  // of the latter only those that count are there
  if (job.output == OutputKind::Relocatable) return false;
  if (name.discarded && traits_of(job).refuses_discarded) return true;
  if (traits_of(job).versions_must_be_there && name.symbol.find('@') != std::string::npos) return true;
  if (job.unresolved.report_in_both && name.in_library) return true;
  return job.unresolved.report_in_objects || (name.hidden && job.unresolved.report_hidden);
}

bool is_only_warned(const LinkJob& job, const UndefinedName& name, bool made_local) {
  if (job.relocations.forgives) return true;
  if (name.discarded && traits_of(job).refuses_discarded && !job.relocations.noinhibit_exec) return false;
  if (name.foreign) return job.relocations.noinhibit_exec;
  if (!job.unresolved.warn_only || name.beside_line || ends_the_link(job, name)) return false;
  if (!name.hidden) return true;
  const LinkerTraits& linker = traits_of(job);
  if (linker.versions_must_be_there && name.symbol.find('@') != std::string::npos) return false;
  if (job.relocations.noinhibit_exec && (linker.forces_hidden || made_local)) return true;
  return linker.warns_of_hidden && !name.not_local;
}

bool said_as_discarded(const LinkJob& job, const Unresolved& name) {
  return name.why == Missing::Discarded && traits_of(job).says_discarded;
}

namespace {

/// Is an object of GCC's bytecode dropped as a whole, since it defines nothing that is exported or that another object
/// or an option mentions?
bool is_dropped(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution, ObjectId id) {
  const ObjectFacts& object = object_of(inputs, id);
  if (object.lto.unoptimized || object.lto.keeps_unused) return false;
  const Exports exports(job);
  std::set<std::string_view> defined;
  for (const Symbol& symbol : object.symbols) {
    if (!symbol.defined()) continue;
    if (!is_hidden(symbol.visibility) && !exports.made_local(object.name(symbol))) return false;
    defined.insert(object.name(symbol));
  }
  if (std::ranges::any_of(job.required, [&](const std::string& name) { return defined.contains(name); })) return false;
  return std::ranges::none_of(linked_relocatables(inputs, resolution), [&](ObjectId other) {
    const ObjectFacts& facts = object_of(inputs, other);
    return other != id && std::ranges::any_of(facts.symbols, [&](const Symbol& symbol) {
             return defined.contains(facts.name(symbol));
           });
  });
}

/// Default versions that assembly in GCC's bytecode gives: the linker looks for their nodes once the code is compiled,
/// and a function that only assembly uses is gone by then.
void reject_versions_of_assembly(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution) {
  if (job.output != OutputKind::SharedObject || !traits_of(job).needs_version_nodes) return;
  for (const ObjectId id : linked_relocatables(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    if (!object.origin.bytecode) continue;
    for (const std::string_view given : object.lto.default_versions) {
      const std::string_view name = given.substr(0, given.find(' '));
      const std::string_view versioned = given.substr(std::min(given.size(), name.size() + 1));
      const std::size_t at = versioned.find("@@");
      const auto symbol = std::ranges::find_if(
          object.symbols, [&](const Symbol& one) { return one.defined() && object.name(one) == name; });
      if (symbol == object.symbols.end() || at == std::string_view::npos) continue;
      const SymbolId first{id, static_cast<std::uint32_t>(symbol - object.symbols.begin())};
      const std::string version(versioned.substr(at + 2));
      if (std::ranges::find(job.versions, version, &VersionNode::name) == job.versions.end())
        resolution.rejections.push_back(
            {Rejection::Kind::NoSuchVersion, std::string(versioned.substr(0, at)), first, {}, version});
      else if (is_dropped(job, inputs, resolution, id))
        resolution.rejections.push_back(
            {Rejection::Kind::DroppedVersion, std::string(name), first, {}, std::string(versioned)});
    }
  }
}

/// What is known once the linker has had the code compiled.
void note_code_not_judged(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution) {
  constexpr std::size_t kMostNamed = 3;
  std::set<std::string>& not_judged = resolution.judgement.not_judged;
  std::vector<std::string> names;
  for (const Unresolved& name : resolution.unresolved)
    if (name.reported == Reported::IfKept) names.push_back(demangle(name.symbol));
  if (!names.empty())
    not_judged.insert("whether link-time optimisation keeps the code that needs " + some_of(names, kMostNamed));
  std::vector<std::string> objects;
  if (job.scope.command)
    for (const ObjectId id : linked_relocatables(inputs, resolution))
      if (const ObjectFacts& object = object_of(inputs, id); object.origin.bytecode && object.lto.has_assembly)
        objects.push_back(object.origin.display());
  if (!objects.empty())
    not_judged.insert("assembly in code for link-time optimisation (" + some_of(objects, kMostNamed) + ")");
}

}  // namespace

void conclude(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution, Unsettled& unsettled) {
  const bool judged = resolution.judgement.undefined == Judged::Yes;
  std::set<std::string> made_local;
  if (judged && job.relocations.noinhibit_exec && !traits_of(job).forces_hidden)
    made_local = names_made_local(job, inputs, resolution, unsettled.undefined);
  for (UndefinedName& name : unsettled.undefined) {
    name.why = why_missing(name);
    name.reported = verdict_on(job, name, judged, made_local.contains(name.symbol));
    resolution.unresolved.push_back(std::move(name));
  }
  unsettled.undefined.clear();
  if (job.scope.command) reject_versions_of_assembly(job, inputs, resolution);
  note_code_not_judged(job, inputs, resolution);
  if (!judged)
    std::erase_if(resolution.rejections, rests_on_absence);
  else if (!all_read(inputs))
    resolution.judgement.undefined = Judged::InputUnread;
}

/// Rule 3.
static bool comes_to_lost(const LinkJob& job, const LinkInput& named, const InputFacts& archive,
                          const Resolution& resolution, const Unsettled& unsettled) {
  const LinkerTraits& linker = traits_of(job);
  if (!job.scope.command) return true;
  if (named.whole_archive || resolution.whole_archives) return !linker.stops_at_lost_members;
  if (!archive.has_index) return !linker.stops_at_lost_members || archive.objects_before_lost != 0;
  if (!linker.believes_index) return true;
  return std::ranges::any_of(archive.index, [&](const IndexEntry& entry) {
    const auto is_asked = [&](const UndefinedName& name) { return name.symbol == archive.index_name(entry); };
    return entry.object == kNone && std::ranges::any_of(unsettled.undefined, is_asked);
  });
}

void judge_lost_members(const std::vector<InputFacts>& inputs, const Resolution& resolution, const Unsettled& unsettled,
                        LinkJob& job) {
  std::set<std::string_view> reported;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].lost.empty() || !comes_to_lost(job, job.inputs[i], inputs[i], resolution, unsettled)) continue;
    if (!reported.insert(inputs[i].path).second) continue;
    job.missing.insert(job.missing.end(), inputs[i].lost.begin(), inputs[i].lost.end());
  }
}

namespace {

/// Whose bytecode GCC's lto1 merges: it stops where a name is a function in one object and a variable in another, used
/// or defined, kept or not. Duplicates stop the link before.
void find_redeclared(const std::vector<InputFacts>& inputs, Resolution& resolution) {
  std::map<std::string_view, SymbolId> functions;
  std::map<std::string_view, SymbolId> variables;
  std::set<std::string_view> reported;
  for (const Conflict& conflict : resolution.conflicts) reported.insert(conflict.symbol);
  for (const ObjectId id : linked_objects(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    if (!object.origin.bytecode || object.lto.compiler != LtoCompiler::Gcc) continue;
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const bool is_function = symbol.type == SymbolType::Function;
      if (!is_function && symbol.type != SymbolType::Object && !symbol.common()) continue;
      const std::string_view name = object.name(symbol);
      (is_function ? functions : variables).try_emplace(name, SymbolId{id, s});
      const auto& others = is_function ? variables : functions;
      if (const auto other = others.find(name); other != others.end() && reported.insert(name).second)
        resolution.rejections.push_back({Rejection::Kind::Redeclared, std::string(name), other->second, {id, s}, {}});
    }
  }
}

Resolution resolve_symbols(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                           Unsettled& unsettled) {
  unsettled = {};
  switch (traits_of(job).rules) {
    case ResolutionRules::Lld:
      return LldLink(job, inputs, names, unsettled).run();
    case ResolutionRules::Mold:
      return resolve_as_mold(job, inputs, names, unsettled);
    case ResolutionRules::Gold:
      return GoldLink(job, inputs, names, unsettled).run();
    case ResolutionRules::GnuLd:
      break;
  }
  return BfdLink(job, inputs, names, unsettled).run();
}

}  // namespace

Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  LinkNames names(inputs);
  Unsettled unsettled;
  Resolution resolution = resolve(job, inputs, names, unsettled);
  for (UndefinedName& name : unsettled.undefined) resolution.unresolved.push_back(std::move(name));
  return resolution;
}

Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs, LinkNames& names, Unsettled& unsettled) {
  Resolution resolution = resolve_symbols(job, inputs, names, unsettled);
  while (names.add_asked()) resolution = resolve_symbols(job, inputs, names, unsettled);
  if (job.scope.command) find_redeclared(inputs, resolution);
  return resolution;
}

}  // namespace elfaudit
