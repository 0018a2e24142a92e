// What --gc-sections keeps.
//
//  1. Roots, in all linkers: the entry point, -u and --require-defined; .init, .fini and the arrays of constructors and
//     destructors, by types and names of each linker's own; SHF_GNU_RETAIN; notes, but in GNU ld and lld none of a
//     group; visible names that a shared object mentions; what a shared object exports. In GNU ld and lld -init and
//     -fini too. The dynamic list and --export-dynamic, in GNU ld only when the output has a dynamic section. A name
//     that any object calls hidden is not visible. lld applies --wrap to names given by options too.
//  2. A kept section keeps what its relocations name. In GNU ld and lld it also keeps the COMDAT group that it is in,
//     and SHF_LINK_ORDER sections that belong to it.
//  3. A reference to __start_X or __stop_X keeps every section X: in GNU ld, unless -z start-stop-gc is given; in lld
//     only with -z nostart-stop-gc, or when X begins with "__libc_". mold keeps sections named like a C identifier
//     anyhow, and ARM's index of exception tables with every function in it.
//  4. .eh_frame is taken apart: a kept function keeps its record and what that names. GNU ld keeps the personality
//     routine with the functions that use it, lld and mold keep all personality routines; lld also keeps all tables of
//     handlers that are in no group.
//  5. Sections without SHF_ALLOC: gold, lld and mold keep them; GNU ld keeps an object's when it keeps anything else of
//     that object, but of those with relocations only debug information.
//  6. What --defsym=t=s names, lld keeps; GNU ld where t is kept, mold never.
//  7. gold marks what is exported, and what a shared object mentions, while it reads the files: a definition that a later
//     one takes the place of is kept. It comes to the line's values when all is marked.

#include "resolve/live_sections.hpp"

#include <elf.h>

#include <algorithm>

#include "elf/elf_file.hpp"
#include "resolve/exports.hpp"
#include "resolve/linked_objects.hpp"
#include "target/traits.hpp"

namespace elfaudit {
namespace {

constexpr std::uint64_t kRetain = 1U << 21;  // SHF_GNU_RETAIN (gABI 4 "Sections", GNU extension)

bool is_c_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string versioned_name(const ObjectFacts& object, const Symbol& symbol) {
  std::string name(object.name(symbol));
  if (!symbol.version.empty() && !symbol.default_version) name.append("@").append(object.text(symbol.version));
  return name;
}

}  // namespace

std::vector<std::uint32_t> dropped_sections(const ObjectFacts& object, ObjectId id, const Resolution& resolution) {
  std::vector<std::uint32_t> lost;
  if (const auto found = resolution.discarded_groups.find(id); found != resolution.discarded_groups.end())
    lost = found->second;
  std::vector<std::uint32_t> dropped;
  const std::vector<SymbolResolution>& symbol_resolutions = resolution.symbol_resolutions[id.input][id.object];
  for (std::size_t s = 0; s < object.symbols.size(); ++s) {
    if (!is_discarded(symbol_resolutions[s])) continue;
    const Section& section = object.sections[object.symbols[s].section];
    dropped.push_back(section.index);
    if (symbol_resolutions[s] == SymbolResolution::DiscardedComdat && section.group != kNone)
      lost.push_back(section.group);
  }
  std::ranges::sort(lost);
  for (const Section& section : object.sections)
    if (section.group != kNone && std::ranges::binary_search(lost, section.group)) dropped.push_back(section.index);
  std::ranges::sort(dropped);
  return dropped;
}

LiveSections::LiveSections(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution,
                           const Unsettled& unsettled, const std::vector<IndirectLibrary>& needed,
                           const GraphReaderFunction& read)
    : job_(job), linker_(traits_of(job)), inputs_(inputs), resolution_(resolution), needed_(needed) {
  load(inputs, read);
  note_hidden_names();
  const auto note_undefined = [&](const Unresolved& name) {  // foo@V may be, where there is a foo@@V
    for (const Reference& reference : name.references) undefined_.insert(reference.id);
  };
  std::ranges::for_each(unsettled.undefined, note_undefined);
  std::ranges::for_each(resolution.unresolved, note_undefined);
  for (const SharedNeed& need : unsettled.shared_needs) needs_.emplace(need.definition, &need);
  index_definitions();
  mark_roots();
  run();
  keep_unallocated();
  run();
}

void LiveSections::load(std::vector<InputFacts>& inputs, const GraphReaderFunction& read) {
  for (const ObjectId id : linked_relocatables(inputs, resolution_)) {
    const ObjectFacts& object = object_of(inputs, id);
    Node& node = nodes_[id];
    try {
      node.graph = read(object.origin);
    } catch (const InputError& error) {
      inputs[id.input].errors.push_back(error);
      continue;
    }
    node.live.resize(node.graph.sections.size());
    node.gone.resize(node.graph.sections.size());
    for (const std::uint32_t section : dropped_sections(object, id, resolution_))
      if (section < node.gone.size()) node.gone[section] = true;
    for (std::uint32_t s = 1; s < node.graph.sections.size(); ++s) note_section(node, id, s);
  }
}

void LiveSections::note_section(Node& node, ObjectId id, std::uint32_t section) {
  const SectionNode& noted = node.graph.sections[section];
  if (noted.group != 0) node.members[noted.group].push_back(section);
  if (noted.link != 0) node.followers[noted.link].push_back(section);
  if (is_c_identifier(noted.name) && (noted.flags & SHF_ALLOC) != 0)
    bounded_sections_.emplace(noted.name, Place{id, section, true});
}

void LiveSections::note_hidden_names() {
  const Exports exports(job_);
  for (const auto& [id, node] : nodes_) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
      if (exports.hides(object.symbols[s], resolution_.resolution_of({id, s})))
        hidden_names_.emplace(hidden_as(object, object.symbols[s]), id);
  }
}

/// foo@V is another name than foo; not for gold.
std::string LiveSections::hidden_as(const ObjectFacts& object, const Symbol& symbol) const {
  return linker_.keeps_displaced ? std::string(object.name(symbol)) : versioned_name(object, symbol);
}

/// One object's word is enough to hide a name; for gold one before `in`. foo@@V is foo and foo@V.
bool LiveSections::visible(const ObjectFacts& object, const Symbol& symbol, ObjectId in) const {
  auto hidden = hidden_names_.find(hidden_as(object, symbol));
  if (hidden == hidden_names_.end() && symbol.default_version)
    hidden = hidden_names_.find(std::string(object.name(symbol)) + "@" + std::string(object.text(symbol.version)));
  return !is_hidden(symbol.visibility) &&
         (hidden == hidden_names_.end() || (linker_.keeps_displaced && in < hidden->second));
}

/// Rule 7: a shared object's reference says nothing of a name that was hidden before it.
bool LiveSections::is_mentioned(const Symbol& mention, std::string_view name, std::uint32_t input,
                                const Place& place) const {
  if (!linker_.keeps_displaced) return place.visible;
  const auto hidden = hidden_names_.find(name);
  return mention.defined() || hidden == hidden_names_.end() || input < hidden->second.input;
}

/// Of a name that a shared object mentions. For gold it has the same version.
const LiveSections::Place* LiveSections::definition_for(const ObjectFacts& shared, const Symbol& symbol,
                                                        const Exports& exports) const {
  const std::string name(shared.name(symbol));
  const std::string version(shared.text(symbol.version));
  auto found = definitions_.find(name);
  if (linker_.keeps_displaced && !version.empty() && exports.given_version(name) != version) {
    const auto versioned = definitions_.find(name + "@" + version);
    if (versioned != definitions_.end() || !symbol.default_version) found = versioned;
  }
  return found == definitions_.end() ? nullptr : &found->second;
}

bool LiveSections::is_wrapped(std::string_view name) const {
  return std::ranges::find(job_.wrapped, name) != job_.wrapped.end();
}

/// What a reference to that name means with --wrap.
std::string LiveSections::unwrapped(std::string name) const {
  if (is_wrapped(name)) return "__wrap_" + name;
  if (name.starts_with("__real_") && is_wrapped(std::string_view(name).substr(7))) name.erase(0, 7);
  return name;
}

void LiveSections::index_definitions() {
  for (const auto& [id, node] : nodes_) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const bool counts = symbol.section != kNone || symbol.common();
      if (resolution_.resolution_of({id, s}) != SymbolResolution::Kept || !counts) continue;
      const Place place{id, symbol.common() ? 0 : needed_for(id, symbol), visible(object, symbol, id), s};
      const std::string name(object.name(symbol));
      if (symbol.version.empty() || symbol.default_version) definitions_.emplace(name, place);
      if (!symbol.version.empty()) definitions_.emplace(name + "@" + std::string(object.text(symbol.version)), place);
    }
  }
  if (linker_.keeps_displaced) find_displaced();
}

/// Rule 7.
void LiveSections::find_displaced() {
  struct Current {
    SymbolId definition;
    int rank = 0;
  };
  std::map<std::string_view, Current> current;
  const auto note = [&](const auto& name, const Current& displaced, ObjectId by) {
    const SymbolId at = displaced.definition;
    const ObjectFacts& object = object_of(inputs_, at.in);
    const Symbol& symbol = object.symbols[at.symbol];
    if (symbol.section == kNone) return;
    const Place place{at.in, needed_for(at.in, symbol), visible(object, symbol, at.in)};
    displaced_.emplace(name, Displaced{place, at, by});
    if (!by.valid()) definitions_.insert_or_assign(std::string(name), place);
  };
  for (const auto& [id, node] : nodes_) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!symbol.defined() || !symbol.version.empty() || is_discarded(resolution_.resolution_of({id, s}))) continue;
      Current& known = current[object.name(symbol)];
      const int rank = symbol.weak() ? 1 : symbol.common() ? 2 : 3;
      if (rank <= known.rank) continue;
      if (known.rank != 0) note(object.name(symbol), known, id);
      known = {{id, s}, rank};
    }
  }
  for (const Assignment& assignment : job_.assignments)
    if (const auto found = current.find(assignment.symbol); found != current.end() && !assignment.provide)
      note(found->first, found->second, {});
}

/// Rule 7.
bool LiveSections::was_displaced(SymbolId definition, std::string_view name) const {
  const auto [from, to] = displaced_.equal_range(name);
  return std::any_of(from, to, [&](const auto& displaced) { return displaced.second.definition == definition; });
}

/// Rule 7: what was the definition of the name when input `by` was read.
void LiveSections::mark_displaced(std::string_view name, std::uint32_t by) {
  const auto [from, to] = displaced_.equal_range(name);
  for (auto found = from; found != to; ++found)
    if (!found->second.by.valid() || by < found->second.by.input)
      mark(found->second.place.object, found->second.place.section);
}

void LiveSections::mark_roots() {
  std::vector<std::string> names = job_.required;
  names.push_back(job_.entry);
  if (linker_.keeps_init_and_fini) names.insert(names.end(), {job_.init, job_.fini});
  for (const std::string& name : names) mark_name(linker_.wraps_options ? unwrapped(name) : name);
  if (linker_.keeps_all_operands)
    for (const Assignment& assignment : job_.assignments) mark_operands(assignment.symbol);
  mark_bytecode_names();
  mark_exported();
  mark_kept_sections();
}

/// Which of what code for link-time optimisation refers to is still used when it is compiled, only the linker knows.
void LiveSections::mark_bytecode_names() {
  for (const auto& [id, node] : nodes_) {
    const ObjectFacts& object = object_of(inputs_, id);
    if (!object.origin.bytecode) continue;
    for (const Symbol& symbol : object.symbols)
      if (!symbol.defined()) mark_name(object.name(symbol));
  }
}

void LiveSections::mark_exported() {
  const Exports exports(job_);
  const bool dynamic = mark_shared_names(exports) || job_.pie || job_.output == OutputKind::SharedObject;
  const bool exports_at_all = dynamic || job_.gc_keep_exported || linker_.exports_without_dynamic;
  if (!exports_at_all) return;
  const bool everything = job_.output == OutputKind::SharedObject || job_.export_dynamic || job_.gc_keep_exported;
  if (everything && linker_.keeps_exported_operands)
    for (const Assignment& assignment : job_.assignments) mark_operands(assignment.symbol);
  for (const auto& [id, node] : nodes_) {
    const ObjectFacts& object = object_of(inputs_, id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const std::string_view name = object.name(symbol);
      if (symbol.section == kNone || !visible(object, symbol, id)) continue;
      if (resolution_.resolution_of({id, s}) != SymbolResolution::Kept && !was_displaced({id, s}, name)) continue;
      if (!everything && !exports.in_dynamic_list(name) && !exports.exported_by_script(symbol, name)) continue;
      const bool by_version = linker_.keeps_versioned && !symbol.version.empty();
      if (!by_version && exports.made_local(name, object.text(symbol.version), symbol.default_version)) continue;
      if (exports.excluded(object.origin)) continue;
      mark(id, needed_for(id, symbol));
    }
  }
}

/// Names that a shared object of the link mentions. Is there one?
bool LiveSections::mark_shared_names(const Exports& exports) {
  const auto counts = [&](ObjectId id) {
    return object_of(inputs_, id).kind != ObjectKind::Relocatable &&
           (resolution_.linked[id.input][id.object] ||
            (linker_.counts_unneeded_libraries && !job_.inputs[id.input].device_only));
  };
  const std::vector<ObjectId> libraries = objects_where(inputs_, counts);
  for (const ObjectId id : libraries) mark_names_of(object_of(inputs_, id), id.input, exports);
  for (const IndirectLibrary& library : needed_) mark_names_of(library.facts, kNone, exports);
  return !libraries.empty();
}

bool LiveSections::is_exported(const Exports& exports, std::string_view name, const Place& place) const {
  const ObjectFacts& object = object_of(inputs_, place.object);
  if (const auto need = needs_.find(SymbolId{place.object, place.symbol}); need != needs_.end())
    return exports.why_not(*need->second, object).empty();
  const Symbol& symbol = object.symbols[place.symbol];
  return exports.why_not(name, object.origin, false, object.text(symbol.version), symbol.default_version).empty();
}

void LiveSections::mark_names_of(const ObjectFacts& shared, std::uint32_t input, const Exports& exports) {
  for (const Symbol& symbol : shared.symbols) {
    const std::string_view name = shared.name(symbol);
    const Place* place = definition_for(shared, symbol, exports);
    if (place == nullptr || !is_mentioned(symbol, name, input, *place)) continue;
    mark_displaced(name, input);
    const Origin& origin = object_of(inputs_, place->object).origin;
    const bool exported = linker_.shared_keeps_exports_only
                              ? is_exported(exports, name, *place)
                              : !linker_.hides_before_gc || exports.shared_keeps(name, origin);
    if (exported) asked_names_.emplace(name);
    if (exported) mark(place->object, place->section);
  }
}

namespace {

/// What gold takes for a part of GCC or glibc by its name: is_section_name_included() in gold/object.cc.
bool is_of_runtime(std::string_view name) {
  const auto holds = [&](std::string_view word, std::string_view stems) {
    return name.find(word) != std::string_view::npos &&
           any_word(stems, [&](std::string_view stem) { return name.starts_with(stem); });
  };
  return holds("personality", ".text .data .sdata .gnu.linkonce.d") || holds("nptl_version", ".rodata");
}

}  // namespace

bool LiveSections::is_root(const SectionNode& node) const {
  if (node.type == SHT_NULL) return false;
  const bool note = node.type == SHT_NOTE && (node.group == 0 || linker_.keeps_grouped_notes);
  if ((node.flags & SHF_ALLOC) == 0)
    return note && !linker_.keeps_unallocated;  // GNU ld asks no note whether it is loaded
  if ((node.flags & kRetain) != 0) return true;
  if (note && linker_.keeps_notes) return true;
  if ((node.type == SHT_INIT_ARRAY || node.type == SHT_FINI_ARRAY) && linker_.keeps_arrays) return true;
  if (node.type == SHT_PREINIT_ARRAY && linker_.keeps_first_array) return true;
  const std::string_view name = node.name;
  if (has_word(linker_.kept_sections, name)) return true;
  if (any_word(linker_.kept_stems, [&](std::string_view stem) { return name.starts_with(stem); })) return true;
  if (linker_.keeps_runtime_by_name && is_of_runtime(name)) return true;
  if (!linker_.takes_records_apart && name == ".eh_frame") return true;
  if (linker_.keeps_exception_indexes && name.starts_with(".ARM.exidx")) return true;
  return linker_.keeps_c_named_sections && is_c_identifier(name);
}

void LiveSections::mark_kept_sections() {
  for (const auto& [id, node] : nodes_) {
    for (std::uint32_t s = 1; s < node.graph.sections.size(); ++s)
      if (is_root(node.graph.sections[s])) mark(id, s);
    for (const SectionEdge& edge : node.graph.edges) {
      if (!is_root(node, edge)) continue;
      if (edge.section != 0) mark(id, edge.section);
      if (edge.symbol != 0) mark_symbol(id, edge.symbol);
    }
  }
}

/// Rule 4.
bool LiveSections::is_root(const Node& node, const SectionEdge& edge) const {
  if (edge.kind == SectionEdge::Kind::Personality) return linker_.keeps_personalities;
  if (edge.kind != SectionEdge::Kind::Handlers || !linker_.keeps_handlers || edge.section == 0) return false;
  const SectionNode& handlers = node.graph.sections[edge.section];
  return (handlers.flags & (SHF_EXECINSTR | SHF_LINK_ORDER)) == 0 && handlers.group == 0;
}

/// Rule 5. Some linkers ask whether the object has anything in the output.
bool LiveSections::is_kept_unasked(const Node& node, std::uint32_t section) {
  const std::string_view name = node.graph.sections[section].name;
  if (is_debug_section(name) || name.starts_with(".gdb_index")) return true;
  const std::vector<SectionEdge>& edges = node.graph.edges;
  const auto first = std::ranges::lower_bound(edges, section, {}, &SectionEdge::from);
  return first == edges.end() || first->from != section;
}

void LiveSections::keep_unallocated() {
  for (auto& [id, node] : nodes_) {
    bool some = linker_.keeps_unallocated;
    for (std::uint32_t s = 1; s < node.live.size() && !some; ++s)
      some = node.live[s] && (node.graph.sections[s].flags & SHF_ALLOC) != 0;
    for (std::uint32_t s = 1; s < node.live.size(); ++s)
      if (some && (node.graph.sections[s].flags & SHF_ALLOC) == 0 && !node.gone[s] &&
          (linker_.keeps_unallocated || is_kept_unasked(node, s)))
        node.live[s] = true;
  }
}

void LiveSections::mark_name(std::string_view name) {
  asked_names_.emplace(name);
  if (const auto found = definitions_.find(name); found != definitions_.end())
    mark(found->second.object, found->second.section);
  if (linker_.keeps_operands) mark_operands(name);
}

/// Rule 6.
void LiveSections::mark_operands(std::string_view name) {
  for (const Assignment& assignment : job_.assignments) {
    if (assignment.symbol != name || !followed_.insert(&assignment).second) continue;
    for (const std::string& used : assignment.uses) mark_name(used);
  }
}

void LiveSections::mark_symbol(ObjectId id, std::uint32_t symbol_index) {
  const ObjectFacts& object = object_of(inputs_, id);
  const auto at = std::ranges::lower_bound(object.symbols, symbol_index, {}, &Symbol::index);
  if (at == object.symbols.end() || at->index != symbol_index) return;
  const auto s = static_cast<std::uint32_t>(at - object.symbols.begin());
  std::string name(object.name(*at));
  const bool redirected = (linker_.wraps_definitions || !at->defined()) && unwrapped(name) != name;
  if (resolution_.resolution_of({id, s}) == SymbolResolution::Kept && at->section != kNone && !redirected)
    return mark(id, needed_for(id, *at));
  if (!at->version.empty()) name += "@" + std::string(object.text(at->version));
  if (redirected) name = unwrapped(std::move(name));
  if (!undefined_.contains({id, s}))
    mark_name(name);
  else if (linker_.keeps_operands)
    mark_operands(name);
  for (const std::string_view bound : {"__start_", "__stop_"}) {
    if (!name.starts_with(bound) || !keeps_bounded(std::string_view(name).substr(bound.size()))) continue;
    const auto [from, to] = bounded_sections_.equal_range(std::string_view(name).substr(bound.size()));
    for (auto section = from; section != to; ++section) mark(section->second.object, section->second.section);
  }
}

/// Rule 3.
bool LiveSections::keeps_bounded(std::string_view section) const {
  return !job_.start_stop_gc.value_or(linker_.start_stop_gc) ||
         (linker_.start_stop_gc && section.starts_with("__libc_"));
}

std::uint32_t LiveSections::needed_for(ObjectId id, const Symbol& definition) const {
  const std::uint32_t section = object_of(inputs_, id).sections[definition.section].index;
  const auto node = nodes_.find(id);
  return node == nodes_.end() ? section : node->second.graph.section_needed(definition.index, section);
}

void LiveSections::mark(ObjectId id, std::uint32_t section) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || section >= found->second.live.size()) return;
  Node& node = found->second;
  if (node.live[section] || node.gone[section]) return;
  node.live[section] = true;
  work_.push_back({id, section, true});
}

void LiveSections::run() {
  while (!work_.empty()) {
    const Place place = work_.back();
    work_.pop_back();
    visit(place);
  }
}

void LiveSections::visit(const Place& place) {
  const Node& node = nodes_.at(place.object);
  const SectionGraph& graph = node.graph;
  auto edge = std::ranges::lower_bound(graph.edges, place.section, {}, &SectionEdge::from);
  for (; edge != graph.edges.end() && edge->from == place.section; ++edge) {
    if (edge->written_in != edge->from && !linker_.takes_records_apart) continue;
    if (edge->section != 0) mark(place.object, edge->section);
    if (edge->symbol != 0) mark_symbol(place.object, edge->symbol);
  }
  if (!linker_.keeps_groups_whole) return;
  if (const auto found = node.followers.find(place.section); found != node.followers.end())
    for (const std::uint32_t section : found->second) mark(place.object, section);
  const std::uint32_t group = graph.sections[place.section].group;
  if (group == 0) return;
  for (const std::uint32_t section : node.members.at(group)) mark(place.object, section);
}

bool LiveSections::live(ObjectId id, std::uint32_t section) const {
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || found->second.live.empty()) return true;
  return section < found->second.live.size() && found->second.live[section];
}

bool LiveSections::removed(const SymbolId& definition) const {
  const ObjectFacts& object = inputs_[definition.in.input].objects[definition.in.object];
  const Symbol& symbol = object.symbols[definition.symbol];
  if (symbol.common()) return !asked_names_.contains(object.name(symbol));
  return symbol.section != kNone && !live(definition.in, object.sections[symbol.section].index);
}

bool LiveSections::uses(ObjectId id, std::uint32_t symbol_index, std::uint32_t written_in) const {
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || found->second.live.empty()) return true;
  const Node& node = found->second;
  if (!linker_.takes_records_apart) return live(id, written_in);
  bool taken_apart = false;
  for (const SectionEdge& edge : node.graph.edges) {
    if (edge.symbol != symbol_index || edge.written_in != written_in || edge.from == written_in) continue;
    taken_apart = true;
    if (edge.kind == SectionEdge::Kind::Personality && linker_.keeps_handlers) return true;
    if (edge.from != 0 && node.live[edge.from]) return true;
  }
  return !taken_apart && live(id, written_in);
}

bool LiveSections::keeps_section_named(std::string_view name) const {
  const auto [from, to] = bounded_sections_.equal_range(name);
  return std::any_of(from, to, [&](const auto& entry) { return live(entry.second.object, entry.second.section); });
}

}  // namespace elfaudit
