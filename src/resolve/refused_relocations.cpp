// The relocations that a linker refuses: for what they ask of the output, and since what they name is not in it.
//
// A relocation is read only when its type can be refused in this kind of output, and judged only when it takes part:
// its object is linked, its section not dropped with a COMDAT twin, SHF_EXCLUDE or --gc-sections.
//
// A program that is loaded at a fixed place can only be refused references to libraries, and nearly all libraries are
// such that none is: then only the few objects that mention an odd symbol are read.

#include "resolve/resolve.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/relocation_rules.hpp"
#include "support/threads.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What the output has for the names that relocations mention.

namespace {

bool is_section_bound(std::string_view name) { return name.starts_with("__start_") || name.starts_with("__stop_"); }

class RelocationTargets {
 public:
  RelocationTargets(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : job_(job), inputs_(inputs), resolution_(resolution), exports_(job) {}

  /// The symbol's name will be asked for.
  void want(SymbolId mention) { names_.try_emplace(name_of(mention)); }

  /// Looks for the definitions of all names that are wanted.
  void bind() {
    if (names_.empty()) return;
    for (const ObjectId id : linked_objects(inputs_, resolution_)) {
      const ObjectFacts& object = object_of(inputs_, id);
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) note({id, s}, object, object.symbols[s]);
    }
    for (const Assignment& assignment : job_.assignments)
      if (const auto found = names_.find(assignment.symbol); found != names_.end())
        if (!assignment.provide || !found->second.definition.valid()) found->second.assignment = &assignment;
  }

  /// What a relocation against that global symbol, which was wanted, meets.
  RelocationTarget target(SymbolId mention) const {
    const std::string_view name = name_of(mention);
    const Symbol& mentioned = object_of(inputs_, mention.in).symbols[mention.symbol];
    const auto found = names_.find(name);
    const Bound bound = found == names_.end() ? Bound{} : found->second;
    if (!bound.definition.valid() || bound.assignment != nullptr) return of_linker(name, bound, mentioned);
    const ObjectFacts& object = object_of(inputs_, bound.definition.in);
    // A library's "_end" or "__start_x" is its own, and the linker makes one for the output.
    const bool made = is_section_bound(name) || defined_by_linker(name, job_, machine_of(inputs_), any_shared_object());
    if (object.kind != ObjectKind::Relocatable && made) return of_linker(name, bound, mentioned);
    const Symbol& symbol = object.symbols[bound.definition.symbol];
    RelocationTarget target;
    target.type = symbol.common() ? SymbolType::Object : symbol.type;
    target.absolute = symbol.placement == Placement::Absolute;
    target.has_size = symbol.size != 0;
    if (object.kind == ObjectKind::Relocatable) {
      target.visibility = bound.visibility;
      target.defined_as = symbol.visibility;
      target.bound = bound_here(name, symbol, object.origin);
      target.made_local = target.bound && exports_.made_local(name);
    } else {
      target.place = RelocationTarget::Place::Library;
      target.visibility = symbol.visibility;
    }
    return target;
  }

  /// The definition that is used; invalid when no input has it.
  SymbolId definition(SymbolId mention) const {
    const auto found = names_.find(name_of(mention));
    return found == names_.end() ? SymbolId{} : found->second.definition;
  }

  bool any_shared_object() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].kind == InputKind::SharedObject && resolution_.linked[i][0]) return true;
    return false;
  }

 private:
  struct Bound {
    SymbolId definition;
    Visibility visibility = Visibility::Default;  ///< the strictest that a relocatable object mentions it with
    const Assignment* assignment = nullptr;
  };

  /// --wrap=foo: an undefined foo means __wrap_foo, an undefined __real_foo means foo.
  std::string_view name_of(SymbolId mention) const {
    const ObjectFacts& object = object_of(inputs_, mention.in);
    const Symbol& symbol = object.symbols[mention.symbol];
    const std::string_view name = object.name(symbol);
    if (job_.wrapped.empty() || symbol.defined()) return name;
    const auto wraps = [&](std::string_view wanted) {
      return std::ranges::find(job_.wrapped, wanted) != job_.wrapped.end();
    };
    constexpr std::string_view kReal = "__real_";
    if (name.starts_with(kReal) && wraps(name.substr(kReal.size()))) return name.substr(kReal.size());
    if (!wraps(name)) return name;
    const std::string wrapper = "__wrap_" + std::string(name);
    const auto known = std::ranges::find(wrapped_, wrapper);
    return known != wrapped_.end() ? *known : wrapped_.emplace_back(wrapper);
  }

  /// GNU ld knows the values of symbols when it has judged the relocations.
  bool has_fixed_value(const Assignment& made) const {
    const LinkerTraits& linker = traits_of(job_);
    return linker.defsym_is_fixed || (linker.knows_assigned_values && made.uses.empty() && !made.relative);
  }

  void note(SymbolId id, const ObjectFacts& object, const Symbol& symbol) {
    const bool relocatable = object.kind == ObjectKind::Relocatable;
    const bool excluded = relocatable && symbol.defined() && traits_of(job_).hides_with_losers &&
                          job_.output == OutputKind::SharedObject && exports_.excluded(object.origin);
    const bool hides = excluded || (relocatable && symbol.visibility != Visibility::Default);
    const bool defines =
        resolution_.resolution_of(id) == SymbolResolution::Kept && (symbol.version.empty() || symbol.default_version);
    if (!hides && !defines) return;
    const auto found = names_.find(object.name(symbol));
    if (found == names_.end()) return;
    Bound& bound = found->second;
    if (hides) bound.visibility = stricter(bound.visibility, excluded ? Visibility::Hidden : symbol.visibility);
    if (defines && !bound.definition.valid()) bound.definition = id;
  }

  bool bound_here(std::string_view name, const Symbol& symbol, const Origin& origin) const {
    const RelocationPolicy& policy = job_.relocations;
    if (job_.output != OutputKind::SharedObject) return false;
    if (exports_.made_local(name) || exports_.excluded(origin)) return true;
    const bool listed = policy.list_binds && exports_.in_dynamic_list(name);
    if (listed && traits_of(job_).dynamic_list_frees) return false;
    const bool like_function =
        symbol.type == SymbolType::IndirectFunction || (symbol.type == SymbolType::NoType && !symbol.common());
    const bool function =
        symbol.type == SymbolType::Function || (like_function && traits_of(job_).untyped_are_functions);
    bool symbolic = false;
    switch (policy.symbolic) {
      case SymbolicBinding::None:
        break;
      case SymbolicBinding::Functions:
        symbolic = function;
        break;
      case SymbolicBinding::NonWeakFunctions:
        symbolic = function && !symbol.weak();
        break;
      case SymbolicBinding::NonWeak:
        symbolic = !symbol.weak();
        break;
      case SymbolicBinding::All:
        symbolic = true;
        break;
    }
    return symbolic || (policy.list_binds && !listed && traits_of(job_).dynamic_list_binds);
  }

  /// What the line or the linker itself defines, or nothing.
  RelocationTarget of_linker(std::string_view name, const Bound& bound, const Symbol& mention) const {
    RelocationTarget target;
    target.type = mention.type;
    target.visibility = bound.visibility;
    if (bound.assignment != nullptr) {
      target.assigned = true;
      target.absolute = has_fixed_value(*bound.assignment);
      target.type = SymbolType::NoType;
      if (bound.assignment->hidden) target.visibility = Visibility::Hidden;
      target.bound = bound_here(name, Symbol{}, Origin{});
    } else if (is_section_bound(name)) {
      target.assigned = true;
      target.visibility = Visibility::Protected;
    } else if (defined_by_linker(name, job_, machine_of(inputs_), any_shared_object())) {
      target.type = SymbolType::NoType;
      if (!exported_by_lld(name)) target.visibility = Visibility::Hidden;
    } else {
      target.place = RelocationTarget::Place::Nowhere;
      target.weak_reference = mention.weak();
    }
    return target;
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  Exports exports_;
  std::unordered_map<std::string_view, Bound> names_;
  mutable std::deque<std::string> wrapped_;  ///< names that --wrap makes
};

/// Does an object of the link, or the line, give a name a plain value?
bool any_absolute_symbol(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  if (!job.assignments.empty()) return true;
  for (const ObjectId id : linked_relocatables(inputs, resolution))
    for (const Symbol& symbol : object_of(inputs, id).symbols)
      if (symbol.placement == Placement::Absolute) return true;
  return false;
}

using enum RelocationClass;

RelocationLink::Output output_of(const LinkJob& job) {
  if (job.output == OutputKind::SharedObject) return RelocationLink::Output::SharedObject;
  return job.pie ? RelocationLink::Output::PieProgram : RelocationLink::Output::Program;
}

/// Asks the files of `objects` again, on all threads. What can't be read is an error of its input.
template <class Asked, class Ask>
void ask_files(std::vector<Asked>& objects, std::vector<InputFacts>& inputs, const Ask& ask) {
  const auto origin_of = [&](const Asked& asked) -> const Origin& { return object_of(inputs, asked.id).origin; };
  std::uint64_t size = 0;
  for (const Asked& asked : objects) size += origin_of(asked).size;
  for_each_file(objects.size(), size, [&](std::size_t i) {
    try {
      ask(objects[i], origin_of(objects[i]));
    } catch (const InputError& error) {
      objects[i].error = error;
    }
  });
  for (const Asked& asked : objects)
    if (asked.error) inputs[asked.id.input].errors.push_back(*asked.error);
}

/// An object that takes part, and what was read of it.
struct Object {
  ObjectId id;
  const ObjectFacts* facts = nullptr;
  AskedRelocations read;
};

/// A relocation that the linker may refuse.
struct Candidate {
  ObjectId in;
  RefusedRelocation refused;
  std::uint32_t section = 0;         ///< header index of the section that it changes
  std::uint32_t symbol = 0;          ///< in the symbol table
  std::uint32_t symbol_section = 0;  ///< header index of a local symbol's section; 0: none
};

/// One that is read again.
struct Asked {
  ObjectId id;
  Object* object = nullptr;
  std::optional<InputError> error;
};

class RelocationCheck {
 public:
  RelocationCheck(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                  const Unsettled& unsettled)
      : job_(job), inputs_(inputs), out_(resolution), unsettled_(unsettled), targets_(job, inputs, resolution) {
    link_ = {&traits_of(job), RelocationRules::None, output_of(job), job.relocations};
    const bool dynamic =
        job.pie || (job.export_dynamic && link_.linker->export_makes_dynamic) || targets_.any_shared_object();
    const bool passes = job.unresolved.warn_only || !job.unresolved.report_in_objects;
    link_.leaves_undefined = link_.linker->leaves_undefined && !link_.shared() && dynamic && passes;
    link_.undefined_is_zero = link_.shared() && job.unresolved.imports_nothing;
  }

  void run(const RelocationReaderFunction& read, const GraphReaderFunction& read_graph,
           const NeededFinder& find_needed) {
    collect_objects();
    const HowJudged judged = how_judged(link_);
    note_what_is_not_judged(judged);
    if (judged == HowJudged::None) return;
    out_.relocations_judged = true;
    if (job_.warnings.fatal && warns_of_text()) link_.policy.text = true;
    if (!link_.pic() && !leave_what_may_be_refused()) return;
    read_objects(read, question());
    for (const Object& object : objects_)
      for (const AskedRelocation& relocation : object.read.relocations)
        if (const SymbolId id = global_of(object, relocation); id.valid()) targets_.want(id);
    targets_.bind();
    for (const Object& object : objects_) judge(object);
    drop_held(read);
    if (job_.gc_sections && !candidates_.empty()) drop_dead(read_graph, find_needed);
    for (Candidate& candidate : candidates_) {
      if (out_.relocations.empty() || out_.relocations.back().in != candidate.in)
        out_.relocations.push_back({candidate.in, {}});
      out_.relocations.back().relocations.push_back(std::move(candidate.refused));
    }
  }

 private:
  /// Those of the machine that most of the link is for: the first one's.
  void collect_objects() {
    for (const ObjectId id : linked_relocatables(inputs_, out_)) {
      const ObjectFacts& facts = object_of(inputs_, id);
      if (objects_.empty()) {
        machine_ = &machine_of(facts);
        link_.rules = machine_->relocations;
      }
      const bool same = facts.machine == machine_->machine.number && facts.is_64 == machine_->machine.is_64;
      if (same && !facts.origin.bytecode) objects_.push_back({id, &facts, {}});
    }
  }

  /// Whether a place can be reached is known when all have an address. Below two gigabytes every address and distance
  /// of 32 bits reaches; an instruction with fewer is the compiler's, within one section, or gets a stub.
  void note_what_is_not_judged(HowJudged judged) {
    constexpr std::uint64_t kReach = std::uint64_t{1} << 31;
    std::set<std::string>& not_judged = out_.judgement.not_judged;
    if (!objects_.empty() && judged != HowJudged::All)
      not_judged.insert("relocations of " + std::string(machine_name(*machine_)));
    std::uint64_t size = 0;
    for (const Object& object : objects_) {
      size += std::min(object.facts->loaded_bytes, kReach);
      for (std::uint32_t s = 0; s < object.facts->symbols.size(); ++s)
        if (const Symbol& symbol = object.facts->symbols[s]; symbol.common())
          if (out_.resolution_of({object.id, s}) == SymbolResolution::Kept) size += std::min(symbol.size, kReach);
    }
    if (size >= kReach) not_judged.insert("whether relocations of 32 bits reach");
    if (std::ranges::any_of(objects_, [&](const Object& object) { return has_narrow(object.facts->relocations); }))
      not_judged.insert(kNarrow);
  }

  bool has_narrow(const RelocationKinds& kinds) const {
    std::uint64_t types = 0;
    for (const std::size_t writable : {0, 1})
      types |= kinds.of_locals[writable] | kinds.of_globals[writable] | kinds.of_hidden[writable];
    return kinds.known && std::ranges::any_of(relocation_types(link_.rules), [&](const RelocationType& type) {
             return type.narrow && type.number < 64 && (types >> type.number & 1) != 0;
           });
  }

  /// Of a program loaded at a fixed place. GNU ld refuses small addresses of any library's symbol in writable data.
  bool leave_what_may_be_refused() {
    if (lacks_relocations(link_) || !classes_are_known(link_.rules)) return true;
    if (link_.leaves_undefined) return true;
    std::unordered_set<std::string_view> odd;
    bool any_library = false;
    for (const ObjectId id : linked_objects(inputs_, out_)) {
      const ObjectFacts& library = object_of(inputs_, id);
      if (library.kind == ObjectKind::Relocatable) continue;
      any_library = true;
      for (std::uint32_t s = 0; s < library.symbols.size(); ++s)
        if (out_.resolution_of({id, s}) == SymbolResolution::Kept && is_odd(library.symbols[s]))
          odd.insert(library.name(library.symbols[s]));
    }
    every_object_ = any_library && (link_.linker->refuses_small_in_data || !job_.relocations.copies);
    if (every_object_) return true;
    std::erase_if(objects_, [&](const Object& object) {
      return std::ranges::none_of(object.facts->symbols, [&](const Symbol& symbol) {
        return !symbol.defined() && odd.contains(object.facts->name(symbol));
      });
    });
    return !objects_.empty();
  }

  static bool is_odd(const Symbol& symbol) {
    return symbol.visibility == Visibility::Protected || symbol.type == SymbolType::NoType ||
           symbol.type == SymbolType::Tls || symbol.size == 0 || symbol.placement == Placement::Absolute;
  }

  // What to read

  RelocationQuestion question() const {
    RelocationQuestion question;
    question.null_symbol = link_.pic();
    const bool absolute = any_absolute_symbol(job_, inputs_, out_);
    const bool loads_are_asked = absolute && link_.linker->rewrites_loads && link_.rules == RelocationRules::X86_64;
    question.instructions = link_.pic() && (loads_are_asked || link_.rules == RelocationRules::I386);
    for (const RelocationType& type : relocation_types(link_.rules)) {
      question.types.resize(type.number + 1);
      question.types.back() = asked_places(link_, type.what, absolute, refuses_text());
    }
    if (library_defines_hidden())
      for (AskedPlaces& places : question.types) places.takes_hidden = false;
    return question;
  }

  /// Does a library define what an object says to be the output's own?
  bool library_defines_hidden() const {
    std::unordered_set<std::string_view> hidden;
    for (const Object& object : objects_) {
      const auto& kinds = object.facts->relocations.of_hidden;
      if ((kinds[0] | kinds[1]) == 0) continue;
      for (const Symbol& symbol : object.facts->symbols)
        if (!symbol.defined() && !symbol.weak() && symbol.visibility != Visibility::Default)
          hidden.insert(object.facts->name(symbol));
    }
    if (hidden.empty()) return false;
    const auto defines = [&](ObjectId id) {
      const ObjectFacts& facts = object_of(inputs_, id);
      return facts.kind != ObjectKind::Relocatable && std::ranges::any_of(facts.symbols, [&](const Symbol& symbol) {
               return symbol.defined() && hidden.contains(facts.name(symbol));
             });
    };
    const auto linked = linked_objects(inputs_, out_);
    return std::any_of(linked.begin(), linked.end(), defines);
  }

  bool warns_of_text() const {
    if (job_.warnings.text) return *job_.warnings.text;
    return link_.linker->warns_of_text_relocations && machine_->warns_of_text_relocations && !job_.relocations.text;
  }

  /// Are text relocations anything that is looked for?
  bool refuses_text() const {
    if (link_.policy.text) return *link_.policy.text;
    return traits_of(job_).refuses_text_relocations;
  }

  void read_objects(const RelocationReaderFunction& read, const RelocationQuestion& question) {
    for (Object& object : objects_) object.read = {};
    std::vector<Asked> asked;
    for (Object& object : objects_)
      if (question.may_ask_for(object.facts->relocations)) asked.push_back({object.id, &object, {}});
    ask_files(asked, inputs_, [&](Asked& one, const Origin& origin) { one.object->read = read(origin, question); });
  }

  // What it means

  /// The facts' symbol; invalid for a local one.
  static SymbolId global_of(const Object& object, const AskedRelocation& relocation) {
    if (relocation.local) return {};
    const std::vector<Symbol>& symbols = object.facts->symbols;
    const auto at = std::ranges::lower_bound(symbols, relocation.symbol, {}, &Symbol::index);
    if (at == symbols.end() || at->index != relocation.symbol) return {};
    return {object.id, static_cast<std::uint32_t>(at - symbols.begin())};
  }

  static RelocationTarget local_target(const AskedRelocation& relocation) {
    RelocationTarget target;
    target.local = true;
    target.null_symbol = relocation.symbol == 0;
    target.absolute = relocation.absolute;
    target.type = relocation.symbol_type;
    return target;
  }

  static RelocationClass class_of(const AskedRelocation& relocation, const RelocationType& type) {
    if (relocation.got == GotUse::Rewritten) return GotRewritten;
    return relocation.got == GotUse::WithoutBase ? GotAddress : type.what;
  }

  void judge(const Object& object) {
    std::optional<std::vector<std::uint32_t>> dropped;
    for (const AskedRelocation& relocation : object.read.relocations) {
      const SymbolId id = global_of(object, relocation);
      if (!relocation.local && !id.valid()) continue;
      const RelocationType* type = relocation_type(link_.rules, relocation.type);
      const PatchedSection& section = object.read.sections[relocation.section];
      if (type == nullptr || (section.excluded && !traits_of(job_).asks_excluded)) continue;
      const RelocationTarget target = id.valid() ? targets_.target(id) : local_target(relocation);
      const JudgedRelocation judged =
          judge_relocation(link_, class_of(relocation, *type), target, {section.name, section.writable, section.code});
      if (type->narrow && !target.absolute) out_.judgement.not_judged.insert(kNarrow);
      if (!judged.refused) continue;
      if (!dropped) dropped = dropped_sections(*object.facts, object.id, out_);
      if (is_gone(*dropped, relocation, section)) continue;
      candidates_.push_back(
          {object.id,
           {judged.problem, std::string(type->name), section.name, relocation.offset, relocation.count,
            name_of(object, relocation, id), id, target.library() ? targets_.definition(id) : SymbolId{}},
           relocation.section,
           relocation.symbol,
           relocation.symbol_section});
    }
  }

  /// Rule 9: what the output holds is known by all relocations, which are not read for anything else.
  void drop_held(const RelocationReaderFunction& read) {
    const auto is_nothing = [](const Candidate& candidate) {
      return candidate.refused.type == relocation_types(RelocationRules::X86_64).front().name;
    };
    if (link_.shared() || std::ranges::none_of(candidates_, is_nothing)) return;
    RelocationQuestion question;
    for (const RelocationType& type : relocation_types(link_.rules)) {
      question.types.resize(type.number + 1);
      question.types.back() = {false, false, true, true};
    }
    read_objects(read, question);
    std::set<SymbolId> held;
    for (const Object& object : objects_) {
      for (const AskedRelocation& relocation : object.read.relocations) {
        const SymbolId id = global_of(object, relocation);
        const RelocationType* type = relocation_type(link_.rules, relocation.type);
        const PatchedSection& section = object.read.sections[relocation.section];
        if (id.valid() && type != nullptr &&
            makes_program_hold(link_, type->what, targets_.target(id), {section.name, section.writable, section.code}))
          held.insert(targets_.definition(id));
      }
    }
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      return is_nothing(candidate) && held.contains(candidate.refused.library);
    });
  }

  static std::string name_of(const Object& object, const AskedRelocation& relocation, SymbolId id) {
    return id.valid() ? std::string(object.facts->name(object.facts->symbols[id.symbol])) : relocation.name;
  }

  /// A COMDAT twin's: the section itself or, in .eh_frame, the function that the record is about.
  static bool is_gone(const std::vector<std::uint32_t>& dropped, const AskedRelocation& relocation,
                      const PatchedSection& section) {
    const auto is_dropped = [&](std::uint32_t index) { return std::ranges::binary_search(dropped, index); };
    if (is_dropped(relocation.section)) return true;
    return section.name == ".eh_frame" && relocation.symbol_section != 0 && is_dropped(relocation.symbol_section);
  }

  void drop_dead(const GraphReaderFunction& read_graph, const NeededFinder& find_needed) {
    const std::vector<IndirectLibrary> beside = load_needed(job_, inputs_, out_, find_needed);
    const LiveSections live(job_, inputs_, out_, unsettled_, beside, read_graph);
    std::erase_if(candidates_, [&](const Candidate& one) {
      if (one.refused.reference.valid()) return !live.uses(one.in, one.symbol, one.section);
      return !live.live(one.in, one.section) ||
             (one.refused.section == ".eh_frame" && one.symbol_section != 0 && !live.live(one.in, one.symbol_section));
    });
  }

  static constexpr const char* kNarrow = "whether relocations of 8 and 16 bits reach";

  const LinkJob& job_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const Unsettled& unsettled_;
  RelocationTargets targets_;
  RelocationLink link_;
  const MachineTraits* machine_ = &traits_of(Machine{});
  std::vector<Object> objects_;
  std::vector<Candidate> candidates_;  ///< by object
  bool every_object_ = false;
};

}  // namespace

void find_refused_relocations(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                              const Unsettled& unsettled, const RelocationReaderFunction& read,
                              const GraphReaderFunction& read_graph, const NeededFinder& find_needed) {
  RelocationCheck(job, inputs, resolution, unsettled).run(read, read_graph, find_needed);
}

// --- Relocations against local symbols of sections that the output does not have.
//
//  1. A COMDAT group that an earlier object brought is dropped with all its sections. What is outside of the group may
//     name its globals, which the earlier one has too; its local symbols are gone. Compilers keep to that (gABI 4
//     "Section Groups"); two versions of one, or two compilers, may divide a function differently.
//  2. GNU ld refuses that in every output, gold and lld in one that is not linked again; mold takes zero for the
//     address. lld asks sections with SHF_ALLOC alone. Debug information, records and tables of handlers are excepted.
//     A section of SHF_LINK_ORDER that belongs to a dropped one goes with it in GNU ld; lld refuses it.
//  3. gold treats what --gc-sections removes alike. Only sections without SHF_ALLOC, which keep nothing, can name it;
//     GNU ld removes those that have relocations.

namespace {

/// An object that may have such relocations.
struct AskedObject {
  ObjectId id;
  std::vector<std::uint32_t> dropped;
  std::vector<LocalUse> uses;
  std::optional<InputError> error;
};

class LostReferences {
 public:
  LostReferences(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                 const Unsettled& unsettled)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution), unsettled_(unsettled) {}

  void run(const LocalUseReader& read, const GraphReaderFunction& read_graph, const NeededFinder& find_needed) {
    const bool again = job_.output == OutputKind::Relocatable;
    if (!(again ? linker_.refuses_lost_locals_always : linker_.refuses_lost_locals)) return;
    const bool asks_unallocated = job_.gc_sections && linker_.refuses_removed_locals;
    if (!job_.relocations.noinhibit_exec) collect(asks_unallocated);
    read_uses(read, asks_unallocated);
    if (job_.gc_sections && !asked_.empty())
      live_.emplace(job_, inputs_, out_, unsettled_, load_needed(job_, inputs_, out_, find_needed), read_graph);
    for (const AskedObject& object : asked_)
      for (const LocalUse& use : object.uses) judge(object, use);
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }

  void collect(bool asks_unallocated) {
    for (const ObjectId id : linked_relocatables(inputs_, out_)) {
      const ObjectFacts& facts = object(id);
      const bool may_lose =
          out_.discarded_groups.contains(id) && (!facts.relocations.known || facts.relocations.crosses_groups);
      if (!facts.origin.bytecode && (asks_unallocated || may_lose))
        asked_.push_back({id, dropped_sections(facts, id, out_), {}, {}});
    }
  }

  void read_uses(const LocalUseReader& read, bool asks_unallocated) {
    ask_files(asked_, inputs_, [&](AskedObject& asked, const Origin& origin) {
      asked.uses = read(origin, asked.dropped, asks_unallocated);
    });
    std::erase_if(asked_, [&](AskedObject& asked) {
      std::erase_if(asked.uses, [&](const LocalUse& use) { return !counts(use); });
      return asked.uses.empty();
    });
  }

  bool counts(const LocalUse& use) const {
    if (linker_.passes_powerpc_tables && !classes_are_known(machine_of(inputs_).relocations) &&
        (use.section.starts_with(".toc") || use.section == ".opd" || use.section == ".got2" || use.section == ".fixup"))
      return false;  // PowerPC's tables are of the whole object
    if (use.ordered && !linker_.asks_ordered_sections) return linker_.asks_ordered_unless_gc && !job_.gc_sections;
    return (linker_.asks_relocation_none || !use.none) && !may_name_discarded(job_, use.section, use.alloc);
  }

  void judge(const AskedObject& asked, const LocalUse& use) {
    const bool dropped = std::ranges::binary_search(asked.dropped, use.target);
    if (live_ && !live_->live(asked.id, use.section_index)) return;
    if (!dropped && (!live_ || live_->live(asked.id, use.target))) return;
    LostReference lost{asked.id, use.section, use.offset, use.symbol, {}, {}};
    if (dropped) name_group(use.target, lost);
    out_.lost_references.push_back(std::move(lost));
  }

  void name_group(std::uint32_t section, LostReference& lost) const {
    const ObjectFacts& facts = object(lost.in);
    for (const Section& known : facts.sections)
      if (known.index == section && known.group != kNone) lost.group = facts.text(facts.groups[known.group].signature);
    for (const ObjectId id : linked_objects(inputs_, out_))
      if (!lost.kept.valid() && has_kept(id, lost.group)) lost.kept = id;
  }

  bool has_kept(ObjectId id, std::string_view signature) const {
    const std::vector<Group>& groups = object(id).groups;
    const auto lost = out_.discarded_groups.find(id);
    for (std::uint32_t g = 0; g < groups.size(); ++g)
      if (object(id).text(groups[g].signature) == signature)
        return lost == out_.discarded_groups.end() || !std::ranges::binary_search(lost->second, g);
    return false;
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const Unsettled& unsettled_;
  std::vector<AskedObject> asked_;
  std::optional<LiveSections> live_;
};

}  // namespace

bool may_name_discarded(const LinkJob& job, std::string_view section, bool alloc) {
  const LinkerTraits& linker = traits_of(job);
  if (linker.passes_unallocated) return !alloc || section == ".toc" || section == ".got2";
  if (section == ".eh_frame" || section == ".gcc_except_table") return true;
  if (alloc && linker.debug_is_unallocated) return false;
  return any_word(linker.passed_stems, [&](std::string_view stem) { return section.starts_with(stem); });
}

void find_lost_references(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                          const Unsettled& unsettled, const LocalUseReader& read, const GraphReaderFunction& read_graph,
                          const NeededFinder& find_needed) {
  LostReferences(job, inputs, resolution, unsettled).run(read, read_graph, find_needed);
}

}  // namespace elfaudit
