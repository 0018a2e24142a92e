// What a linker warns of when all files are read, where --fatal-warnings makes an error of it. What it warns of while
// it merges symbols (commons, sizes, types, back references) the engines have noted.
//
//  1. GNU ld warns of a section .gnu.warning.NAME in any linked file where a file or option refers to NAME: by an
//     undefined symbol that is not weak, or is where NAME is defined already or behind the section, or by a common
//     symbol, in shared objects too, used or not. A shared object's section counts only where nothing before it
//     defines NAME.
//  2. gold warns where a relocation of another linked object uses NAME and the file with the section defines it.
//  3. GNU ld warns of a linked object with a section .gnu.warning.
//  4. An entry point that nothing defines and that is not a number: see the traits.
//  5. GNU ld warns of a definition in place of a common symbol that is aligned less, by its section and its offset.
//  6. GNU ld warns where an object refers to a shared object's symbol that has no type and no size, unless a reference
//     has a type or code uses it: which instruction does is not known here.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/live_sections.hpp"
#include "resolve/resolve.hpp"
#include "scan/scan.hpp"
#include "target/traits.hpp"

namespace elfaudit {

// --- What a linker warns of in the output's memory: an executable stack, segments that are writable and executable.
// The traits say which linker asks what.
//
//  1. GNU ld warns of the first linked object whose .note.GNU-stack is executable. Where there is none, of the last one
//     that has no such section, where that means an executable stack on the machine, and another object has one, or
//     -z stack-size gives the output a segment for the stack (bfd_elf_size_dynamic_sections in bfd/elflink.c).
//  2. GNU ld makes a segment writable and executable where an output section is both: the input sections of one name
//     differ, or one is both itself. Sections without bytes count, but not alone. .text is read-only whatever its input
//     sections say, unless -N is given. The others between .init and .fini share its pages, so that a writable one is
//     enough; with -z noseparate-code .rodata and notes do too. -N and -n put data and code into one segment (_bfd_elf_map_sections_to_segments in bfd/elf.c).

namespace {

using StackNote = WarningSections::StackNote;

/// Is a section of the object, by header index, in the output?
using SectionIsKept = std::function<bool(ObjectId, std::uint32_t section)>;

}  // namespace

OutputStack output_stack(const LinkJob& job, const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  OutputStack stack;
  const LinkerTraits& linker = traits_of(job);
  if (job.warnings.stack_executable) {
    stack.executable = stack.by_option = *job.warnings.stack_executable;
    return stack;
  }
  if (!linker.stack_as_objects_ask && !job.warnings.stack_if_needed) return stack;
  stack.has_segment = job.warnings.stack_sized || !linker.stack_as_objects_ask;
  for (const ObjectId id : linked_relocatables(inputs, resolution)) {
    const ObjectFacts& object = object_of(inputs, id);
    // What the linker compiles of bytecode has a section that it makes then.
    if (job.inputs[id.input].just_symbols || object.origin.bytecode) continue;
    if (object.stack == StackRequest::Executable) stack.asking.push_back(id);
    if (object.stack != StackRequest::Unspecified) stack.has_segment = true;
    if (object.stack == StackRequest::Unspecified && linker.stack_as_objects_ask &&
        machine_of(object).stack_is_executable)
      stack.lacking.push_back(id);
  }
  stack.executable = !stack.asking.empty() || !stack.lacking.empty();
  return stack;
}

std::string_view output_section(std::string_view name) {
  struct Rule {
    std::string_view prefix, output;
  };
  constexpr auto kRules = std::to_array<Rule>({{".text.", ".text"},
                                               {".stub", ".text"},
                                               {".gnu.linkonce.t.", ".text"},
                                               {".rodata.", ".rodata"},
                                               {".gnu.linkonce.r.", ".rodata"},
                                               {".eh_frame.", ".eh_frame"},
                                               {".gcc_except_table.", ".gcc_except_table"},
                                               {".tdata.", ".tdata"},
                                               {".gnu.linkonce.td.", ".tdata"},
                                               {".tbss.", ".tbss"},
                                               {".gnu.linkonce.tb.", ".tbss"},
                                               {".init_array.", ".init_array"},
                                               {".ctors", ".init_array"},
                                               {".fini_array.", ".fini_array"},
                                               {".dtors", ".fini_array"},
                                               {".data.rel.ro", ".data.rel.ro"},
                                               {".gnu.linkonce.d.rel.ro.", ".data.rel.ro"},
                                               {".data.", ".data"},
                                               {".gnu.linkonce.d.", ".data"},
                                               {".bss.", ".bss"},
                                               {".gnu.linkonce.b.", ".bss"},
                                               {".lbss.", ".lbss"},
                                               {".lrodata.", ".lrodata"},
                                               {".ldata.", ".ldata"}});
  const auto rule = std::ranges::find_if(kRules, [&](const Rule& r) { return name.starts_with(r.prefix); });
  return rule == kRules.end() ? name : rule->output;
}

namespace {

bool shares_pages_of_code(std::string_view name) {
  return name == ".init" || name == ".fini" || name == ".plt" || name == ".plt.got" || name == ".plt.sec";
}

/// With -z noseparate-code the constants that come before and behind the code do too.
bool is_beside_code(std::string_view name) {
  return name == ".rodata" || name == ".rodata1" || name.starts_with(".note");
}

/// The input sections of an output section, taken together.
struct OutputMemory {
  bool writable = false;
  bool executable = false;
  bool empty = true;
  ObjectId odd;  ///< has a section whose flags alone, or beside those before it, make it writable and executable
};

class MemoryCheck {
 public:
  /// Adds to Resolution::warnings. `objects`: of the relocatable ones, the linked and, where the linker asks them, the
  /// others.
  MemoryCheck(const LinkJob& job, const std::vector<InputFacts>& inputs,
              const std::map<ObjectId, WarningSections>& objects, Resolution& resolution)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), objects_(objects), out_(resolution) {}

  void run(const SectionIsKept& is_kept) {
    check_stack();
    check_segments(is_kept);
  }

 private:
  void check_stack() {
    if (!linker_.warns_of_stack) return;
    if (linker_.stack_of_what_is_read)
      warn_of_what_is_read();
    else if (linker_.stack_warnings_by_option)
      warn_of_each();
    else
      warn_of_output();
  }

  /// Rule 2.
  void check_segments(const SectionIsKept& is_kept) {
    if (!linker_.warns_of_segments || !job_.warnings.segments || job_.replaces_default_script ||
        job_.output == OutputKind::Relocatable)
      return;
    std::map<std::string_view, OutputMemory> output;
    for (const auto& [id, object] : objects_)
      for (const MemorySection& section : object.memory)
        if (is_kept(id, section.index)) add(id, section, output[output_section(section.name)]);
    const auto has_code = [](const auto& entry) { return !entry.second.empty && entry.second.executable; };
    const auto has_data = [](const auto& entry) {
      return !entry.second.empty && entry.second.writable && entry.first != ".text";
    };
    const auto code = std::ranges::find_if(output, has_code);
    const auto data = std::ranges::find_if(output, has_data);
    const bool any_code = code != output.end();
    if (any_code && job_.warnings.one_segment && data != output.end()) return warn(data->first, data->second.odd);
    for (const auto& [name, memory] : output) {
      if (memory.empty) continue;
      const bool fixed = name == ".text";
      const bool beside = shares_pages_of_code(name) || (job_.warnings.shared_pages && is_beside_code(name));
      const bool executable = memory.executable || (any_code && beside);
      const bool writable = fixed ? job_.warnings.writable_text : memory.writable;
      if (executable && writable) return warn(name, memory.odd);
    }
  }

  void warn(FatalWarning::Kind kind, ObjectId id) { out_.warnings.push_back({kind, {}, {}, {}, id, {}}); }

  void warn(std::string_view section, ObjectId id) {
    out_.warnings.push_back({FatalWarning::Kind::Segment, {}, {}, {}, id, std::string(section)});
  }

  static void add(ObjectId id, const MemorySection& section, OutputMemory& memory) {
    const bool was_both = memory.writable && memory.executable;
    memory.writable = memory.writable || section.writable;
    memory.executable = memory.executable || section.executable;
    memory.empty = memory.empty && section.empty;
    if (!memory.odd.valid() || (!was_both && memory.writable && memory.executable)) memory.odd = id;
  }

  bool executable_by_default(ObjectId id) const {
    return machine_of(inputs_[id.input].objects[id.object]).stack_is_executable;
  }

  void warn_of_what_is_read() {
    const bool allowed = job_.warnings.stack_executable.value_or(false) || job_.warnings.stack_if_needed;
    if (allowed || job_.output == OutputKind::Relocatable) return;
    for (const auto& [id, object] : objects_)
      if (object.stack == StackNote::Executable) warn(FatalWarning::Kind::StackAsked, id);
  }

  void warn_of_each() {
    if (!job_.warnings.stack.value_or(false)) return;
    for (const auto& [id, object] : objects_) {
      if (object.stack == StackNote::Executable) warn(FatalWarning::Kind::StackAsked, id);
      if (object.stack == StackNote::None && executable_by_default(id)) warn(FatalWarning::Kind::StackByDefault, id);
    }
  }

  /// Rule 1.
  void warn_of_output() {
    if (!job_.warnings.stack.value_or(true)) return;
    if (job_.warnings.stack_executable) {
      if (*job_.warnings.stack_executable && job_.warnings.stack) warn(FatalWarning::Kind::StackAsked, {});
      return;
    }
    const OutputStack stack = output_stack(job_, inputs_, out_);
    if (!stack.asking.empty())
      warn(FatalWarning::Kind::StackAsked, stack.asking.front());
    else if (stack.has_segment && !stack.lacking.empty())
      warn(FatalWarning::Kind::StackByDefault, stack.lacking.back());
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  const std::vector<InputFacts>& inputs_;
  const std::map<ObjectId, WarningSections>& objects_;
  Resolution& out_;
};

bool is_number(const std::string& entry) {
  char* end = nullptr;
  std::strtoull(entry.c_str(), &end, 0);
  return !entry.empty() && *end == '\0';
}

class WarningFinder {
 public:
  WarningFinder(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution, const Unsettled& unsettled,
                const WarningReader& reader)
      : job_(job), linker_(traits_of(job)), inputs_(inputs), out_(resolution), unsettled_(unsettled), reader_(reader) {}

  void run() {
    drop_well_aligned();
    if (linker_.warns_of_marked_names || linker_.warns_of_stack) read_sections();
    check_memory();
    if (linker_.marks_relocations_alone)
      find_marked_relocations();
    else
      find_marked_mentions();
    check_entry();
    if (linker_.warns_of_shapeless && job_.output != OutputKind::Relocatable) find_shapeless();
  }

 private:
  /// A section .gnu.warning.NAME.
  struct Mark {
    ObjectId in;
    std::string text;
  };

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }

  template <class Ask>
  void ask(ObjectId id, Ask ask_it) {
    try {
      ask_it();
    } catch (const InputError& error) {
      inputs_[id.input].errors.push_back(error);
    }
  }

  /// Rule 5.
  void drop_well_aligned() {
    std::erase_if(out_.warnings, [&](const FatalWarning& warning) {
      if (warning.kind != FatalWarning::Kind::Alignment) return false;
      const Symbol& defined = symbol(warning.definition);
      const ObjectFacts& facts = object(warning.definition.in);
      const std::uint32_t section = defined.section == kNone ? 0 : facts.sections[defined.section].index;
      bool aligned = true;
      ask(warning.definition.in, [&] {
        const std::uint32_t power = reader_.alignment(facts.origin, section, defined.value);
        aligned = power >= 64 || (std::uint64_t{1} << power) >= symbol(warning.reference.id).value;
      });
      return aligned;
    });
  }

  void read_sections() {
    const auto is_asked = [&](ObjectId id) {
      return out_.linked[id.input][id.object] ||
             (linker_.stack_of_what_is_read && object(id).kind == ObjectKind::Relocatable);
    };
    for (const ObjectId id : objects_where(inputs_, is_asked)) ask(id, [&] { read_sections(id); });
  }

  void read_sections(ObjectId id) {
    WarningSections found = reader_.warnings(object(id).origin);
    if (linker_.warns_of_marked_names)
      for (auto& [name, text] : found.marked) marks_.emplace(name, Mark{id, std::move(text)});  // the first one
    if (object(id).kind != ObjectKind::Relocatable) return;
    if (found.whole && linker_.warns_of_marked_files)  // rule 3
      out_.warnings.push_back({FatalWarning::Kind::MarkedFile, {}, {}, {}, id, *found.whole});
    if (!job_.inputs[id.input].just_symbols) memory_.emplace(id, std::move(found));
  }

  /// See memory_warnings.hpp. What --gc-sections keeps is asked where it matters alone.
  void check_memory() {
    const std::size_t before = out_.warnings.size();
    const auto is_kept = [&](ObjectId id, std::uint32_t section) {
      const auto dropped = dropped_sections(object(id), id, out_);
      return !std::ranges::binary_search(dropped, section);
    };
    MemoryCheck check(job_, inputs_, memory_, out_);
    check.run(is_kept);
    if (!job_.gc_sections || out_.warnings.size() == before) return;
    out_.warnings.resize(before);
    check.run([&](ObjectId id, std::uint32_t section) { return live().live(id, section); });
  }

  /// With --gc-sections.
  const LiveSections& live() {
    if (!live_) {
      beside_ = load_needed(job_, inputs_, out_, reader_.needed);
      live_.emplace(job_, inputs_, out_, unsettled_, beside_, reader_.graph);
    }
    return *live_;
  }

  bool is_kept(ObjectId id, const Use& use) {
    return !job_.gc_sections || live().uses(id, use.symbol, use.section_index);
  }

  /// Of the object, and not with a version of its own.
  SymbolId definition_in(ObjectId id, std::string_view name) const {
    const ObjectFacts& facts = object(id);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
      if (facts.symbols[s].defined() && facts.name(facts.symbols[s]) == name) return {id, s};
    return {};
  }

  bool defined_before(ObjectId id, std::string_view name) {
    return std::ranges::any_of(linked_objects(inputs_, out_), [&](ObjectId earlier) {
      const SymbolId at = earlier.input < id.input ? definition_in(earlier, name) : SymbolId{};
      return at.valid() && !symbol(at).common();
    });
  }

  const FatalWarning* mention_of(const std::string& name, const Mark& mark) const {
    if (const auto found = unsettled_.mentions.find(name); found != unsettled_.mentions.end()) return &found->second;
    const auto weak = unsettled_.weak_mentions.find(name);
    if (weak == unsettled_.weak_mentions.end()) return nullptr;
    return weak->second.reference.id.in < mark.in ? nullptr : &weak->second;
  }

  /// Rule 1.
  void find_marked_mentions() {
    for (const auto& [name, mark] : marks_) {
      const FatalWarning* mention = mention_of(name, mark);
      if (mention == nullptr) continue;
      if (object(mark.in).kind != ObjectKind::Relocatable && defined_before(mark.in, name)) continue;
      FatalWarning warning = *mention;
      warning.kind = FatalWarning::Kind::Marked;
      warning.symbol = name;
      warning.definition = definition_in(mark.in, name);
      warning.object = mark.in;
      warning.detail = mark.text;
      if (const SymbolId by = warning.reference.id; by.valid()) add_place(warning.reference, true);
      out_.warnings.push_back(std::move(warning));
    }
  }

  /// Where a relocation uses it. False when none of a section that is kept does; --gc-sections may not matter.
  bool add_place(Reference& reference, bool removed_too = false) {
    if (object(reference.id.in).kind != ObjectKind::Relocatable) return false;
    bool used = false;
    ask(reference.id.in, [&] {
      const std::uint32_t index = symbol(reference.id).index;
      const std::vector<std::uint32_t> dropped = dropped_sections(object(reference.id.in), reference.id.in, out_);
      for (const Use& use : reader_.uses(object(reference.id.in).origin, {&index, 1})) {
        if (used || use.excluded || std::ranges::binary_search(dropped, use.section_index)) continue;
        if (!removed_too && !is_kept(reference.id.in, use)) continue;
        reference.section = use.section;
        reference.offset = use.offset;
        used = true;
      }
    });
    return used;
  }

  /// Rule 2.
  void find_marked_relocations() {
    if (marks_.empty() || job_.output == OutputKind::Relocatable) return;
    for (const ObjectId id : linked_relocatables(inputs_, out_)) {
      const ObjectFacts& facts = object(id);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        if (facts.symbols[s].defined()) continue;
        const auto mark = marks_.find(facts.name(facts.symbols[s]));
        if (mark == marks_.end()) continue;
        const SymbolId definition = definition_in(mark->second.in, mark->first);
        if (!definition.valid() || out_.resolution_of(definition) != SymbolResolution::Kept) continue;
        Reference reference{{id, s}, {}, 0};
        if (!add_place(reference)) continue;
        out_.warnings.push_back({FatalWarning::Kind::Marked, mark->first, definition, std::move(reference),
                                 mark->second.in, mark->second.text});
      }
    }
  }

  /// Rule 6.
  void find_shapeless() {
    std::map<std::string_view, SymbolId> shapeless;
    for (const ObjectId id : linked_objects(inputs_, out_)) {
      const ObjectFacts& facts = object(id);
      if (facts.kind == ObjectKind::Relocatable) continue;
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const Symbol& symbol = facts.symbols[s];
        const bool plain = symbol.version.empty() || symbol.default_version;
        if (plain && symbol.type == SymbolType::NoType && symbol.size == 0 &&
            out_.resolution_of({id, s}) == SymbolResolution::Kept)
          shapeless.emplace(facts.name(symbol), SymbolId{id, s});
      }
    }
    if (shapeless.empty()) return;
    for (const ObjectId id : linked_objects(inputs_, out_)) {  // a reference that has a type gives it to the name
      for (const Symbol& mention : object(id).symbols) {
        const auto found = shapeless.find(object(id).name(mention));
        if (found == shapeless.end()) continue;
        const bool own = object(id).kind == ObjectKind::Relocatable;
        if (mention.type != SymbolType::NoType || (own && !mention.defined() && is_used_by_code(id, mention)))
          shapeless.erase(found);
      }
    }
    for (const ObjectId id : linked_relocatables(inputs_, out_)) {
      const ObjectFacts& facts = object(id);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const auto found = shapeless.find(facts.name(facts.symbols[s]));
        if (found == shapeless.end() || facts.symbols[s].defined()) continue;
        FatalWarning warning{
            FatalWarning::Kind::Shapeless, std::string(found->first), found->second, {{id, s}, {}, 0}, {}, {}};
        if (!add_place(warning.reference) && job_.gc_sections) continue;
        out_.warnings.push_back(std::move(warning));
        shapeless.erase(found);  // ld says it once
      }
    }
  }

  /// A call makes an entry of the procedure linkage table, and then ld does not warn.
  bool is_used_by_code(ObjectId id, const Symbol& mention) {
    bool used = false;
    ask(id, [&] {
      const std::vector<Use> uses = reader_.uses(object(id).origin, {&mention.index, 1});
      used = std::ranges::any_of(uses, &Use::code);
    });
    return used;
  }

  /// Rule 4.
  void check_entry() {
    if (!linker_.warns_of_entry || out_.judgement.undefined != Judged::Yes || is_number(job_.entry)) return;
    const bool program = job_.output == OutputKind::Executable;
    if (!program && linker_.entry_in_programs_alone) return;
    const bool named = job_.warnings.entry_by_option || (job_.entry_given && !linker_.script_entry_may_lack);
    const bool script_names_none = linker_.script_is_whole && job_.replaces_default_script;
    if (!named && !(program && linker_.default_entry_must_be && !script_names_none)) return;
    const bool assigned = std::ranges::any_of(
        job_.assignments, [&](const Assignment& assignment) { return assignment.symbol == job_.entry; });
    if (assigned || entry_is_there()) return;
    out_.warnings.push_back({FatalWarning::Kind::NoEntry, job_.entry, {}, {}, {}, {}});
  }

  bool entry_is_there() {
    for (const ObjectId id : linked_objects(inputs_, out_)) {
      const ObjectFacts& facts = object(id);
      const bool shared = facts.kind != ObjectKind::Relocatable;
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const Symbol& candidate = facts.symbols[s];
        if (facts.name(candidate) != job_.entry) continue;
        const bool there = candidate.defined()
                               ? !(shared && linker_.entry_must_be_own) && !is_discarded(out_.resolution_of({id, s}))
                               : !shared && linker_.entry_may_be_open;
        if (there) return true;
      }
    }
    return false;
  }

  const LinkJob& job_;
  const LinkerTraits& linker_;
  std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const Unsettled& unsettled_;
  const WarningReader& reader_;
  std::map<std::string, Mark, std::less<>> marks_;
  std::map<ObjectId, WarningSections> memory_;  ///< of relocatable objects
  std::vector<IndirectLibrary> beside_;         ///< libraries that those of the line need
  std::optional<LiveSections> live_;
};

}  // namespace

void find_fatal_warnings(const LinkJob& job, std::vector<InputFacts>& inputs, Resolution& resolution,
                         const Unsettled& unsettled, const WarningReader& reader) {
  if (job.warnings.fatal && job.scope.command) WarningFinder(job, inputs, resolution, unsettled, reader).run();
}

}  // namespace elfaudit
