// Which sections --gc-sections keeps. Walked only when something would be reported: it reads every relocation.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "target/traits.hpp"

namespace elfaudit {

/// See read_section_graph(); the scan stage does it. May throw InputError.
using GraphReaderFunction = std::function<SectionGraph(const Origin&)>;

class LiveSections {
 public:
  /// Walks the whole link. An object whose relocations can't be read is treated as kept; its error is added to its
  /// input. `needed`: shared objects that take part and are not on the line.
  LiveSections(const LinkJob& job, std::vector<InputFacts>& inputs, const Resolution& resolution,
               const Unsettled& unsettled, const std::vector<IndirectLibrary>& needed, const GraphReaderFunction& read);

  bool live(ObjectId id, std::uint32_t section) const;

  /// Is a definition gone with its section, or a common one that nothing kept refers to?
  bool removed(const SymbolId& definition) const;

  /// Does a relocation of a kept section use the symbol? `written_in` is the section that holds it: for .eh_frame the
  /// functions that it describes decide.
  bool uses(ObjectId id, std::uint32_t symbol_index, std::uint32_t written_in) const;

  /// Is a section of that name, which is a C identifier, in the output?
  bool keeps_section_named(std::string_view name) const;

 private:
  struct Node {
    SectionGraph graph;
    std::vector<bool> live;                                         ///< by section header index
    std::vector<bool> gone;                                         ///< a COMDAT twin or SHF_EXCLUDE removed it
    std::map<std::uint32_t, std::vector<std::uint32_t>> members;    ///< of each group
    std::map<std::uint32_t, std::vector<std::uint32_t>> followers;  ///< SHF_LINK_ORDER sections of each section
  };
  struct Place {
    ObjectId object;
    std::uint32_t section = 0;
    bool visible = true;
    std::uint32_t symbol = 0;  ///< of a definition
  };
  /// A definition that another one, or a value of the line, took the place of.
  struct Displaced {
    Place place;
    SymbolId definition;
    ObjectId by;  ///< invalid: the line
  };

  void note_section(Node& node, ObjectId id, std::uint32_t section);
  void load(std::vector<InputFacts>& inputs, const GraphReaderFunction& read);
  void note_hidden_names();
  void index_definitions();
  void find_displaced();
  bool was_displaced(SymbolId definition, std::string_view name) const;
  void mark_displaced(std::string_view name, std::uint32_t by);
  std::string hidden_as(const ObjectFacts& object, const Symbol& symbol) const;
  bool visible(const ObjectFacts& object, const Symbol& symbol, ObjectId in) const;
  bool is_mentioned(const Symbol& mention, std::string_view name, std::uint32_t input, const Place& place) const;
  const Place* definition_for(const ObjectFacts& shared, const Symbol& symbol, const Exports& exports) const;
  bool is_wrapped(std::string_view name) const;
  std::string unwrapped(std::string name) const;
  bool mark_shared_names(const Exports& exports);
  bool is_exported(const Exports& exports, std::string_view name, const Place& place) const;
  void mark_names_of(const ObjectFacts& shared, std::uint32_t input, const Exports& exports);
  /// The section that has to be kept for a definition.
  std::uint32_t needed_for(ObjectId id, const Symbol& definition) const;
  void mark_roots();
  void mark_bytecode_names();
  void mark_exported();
  void mark_kept_sections();
  void keep_unallocated();
  static bool is_kept_unasked(const Node& node, std::uint32_t section);
  void mark_name(std::string_view name);
  void mark_operands(std::string_view name);
  void mark_symbol(ObjectId id, std::uint32_t symbol_index);
  void mark(ObjectId id, std::uint32_t section);
  void run();
  void visit(const Place& place);
  bool is_root(const SectionNode& node) const;
  bool is_root(const Node& node, const SectionEdge& edge) const;
  bool keeps_bounded(std::string_view section) const;

  const LinkJob& job_;
  const LinkerTraits& linker_;
  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const std::vector<IndirectLibrary>& needed_;
  std::map<ObjectId, Node> nodes_;
  std::map<std::string, Place, std::less<>> definitions_;            ///< in relocatable objects, by name
  std::multimap<std::string_view, Displaced> displaced_;             ///< by name, where the linker keeps some of them
  std::map<SymbolId, const SharedNeed*> needs_;                      ///< by definition
  std::multimap<std::string, Place, std::less<>> bounded_sections_;  ///< by name that is a C identifier
  std::map<std::string, ObjectId, std::less<>> hidden_names_;        ///< and the first object that mentions them so
  std::set<SymbolId> undefined_;                                     ///< references that nothing answers
  std::set<std::string, std::less<>> asked_names_;                   ///< by roots and what is kept
  std::set<const Assignment*> followed_;
  std::vector<Place> work_;
};

/// Sections of one object that a COMDAT twin or SHF_EXCLUDE removed, by header index.
std::vector<std::uint32_t> dropped_sections(const ObjectFacts& object, ObjectId id, const Resolution& resolution);

}  // namespace elfaudit
