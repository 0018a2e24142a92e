// GNU ld's model of symbol resolution: one ordered pass, archives consulted through their index. Rules: bfd.cpp.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/link_symbols.hpp"

namespace elfaudit {

class BfdLink {
 public:
  BfdLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names, Unsettled& unsettled);

  /// Plays the whole link through. Call once.
  Resolution run();

 private:
  /// An archive's index with its names looked up once.
  struct ArchiveIndex {
    bool built = false;
    std::vector<std::uint32_t> ids;       ///< entry of each index name
    std::vector<std::uint32_t> fallback;  ///< for "foo@@V": the entry of plain "foo"; else kNone
    std::vector<std::uint32_t> objects;   ///< into InputFacts::objects
    std::vector<bool> known;              ///< defined when the search under way met it
  };

  /// A name that an option makes an error when nothing defines it.
  struct AskedFor {
    std::string_view name;  ///< as the option says it: --wrap may give it another one
    std::string_view option;
    bool operand = false;  ///< of an expression
  };

  // The line (bfd_line.cpp)
  void apply_options();
  void define_version_nodes();
  void refuse_own_table();
  void assign(const Assignment& assignment);
  void require_up_to(std::size_t place);
  void ask_for(std::string_view symbol, const std::string& option);
  void require(std::string_view symbol, const std::string& option);  ///< both outlive the link
  void search_again();
  std::uint32_t end_of_group(std::uint32_t input) const;
  void visit(std::uint32_t input);
  void visit_shared_object(std::uint32_t input);
  void visit_archive(std::uint32_t input);
  void require_provided();
  void search_archive(std::uint32_t input);
  ArchiveIndex& index_of(std::uint32_t input);
  std::uint32_t looked_up(const ArchiveIndex& index, std::size_t i) const;
  static bool wanted_from_archive(const Entry& entry, std::string_view name, const ObjectFacts& member);
  void extract(ObjectId id, const Entry& entry, std::string_view symbol);
  void take_whole(ObjectId id);
  void add_device_link_object();  // device_link.cpp
  std::map<std::uint32_t, AskedFor> must_be_defined();
  void add_provided(std::map<std::uint32_t, AskedFor>& names);
  void add_root(std::map<std::uint32_t, AskedFor>& names);
  bool leaves_open_version(std::string_view name) const;
  bool lacks_value(const Entry& entry) const;
  void collect_unresolved();
  void add_library_operands(const std::map<std::uint32_t, AskedFor>& asked_for, std::vector<std::uint32_t>& slot);
  void keep_unknown_operands();

  // One object (bfd.cpp)
  void check_tls(std::uint32_t id, SymbolId at, const Symbol& symbol);
  void add_object(ObjectId id);
  void add_shared_object(ObjectId id);
  bool shared_object_is_needed(std::uint32_t input);
  std::vector<bool> claim_groups(ObjectId id);
  bool discarded(SymbolId at, const Symbol& symbol, const std::vector<bool>& lost_groups);
  void refer(SymbolId at, const Symbol& symbol);
  void define(SymbolId at, const Symbol& symbol);
  void define_common(SymbolId at, const Symbol& symbol);
  void define_shared(SymbolId at, const Symbol& symbol);
  void refer_shared(SymbolId at, const Symbol& symbol);
  bool tolerated(SymbolId first, SymbolId second) const;  ///< two strong definitions
  void collide(std::uint32_t id, SymbolId at, const Symbol& symbol);
  void take(Entry& entry, Entry::State state, bool dynamic, SymbolId at, SymbolResolution previous_becomes);
  void make_undefined(Entry& entry, SymbolId at);
  void forget_definition(Entry& entry, SymbolResolution why);
  void alias_default_version(SymbolId at, const Symbol& symbol, std::uint32_t versioned, bool dynamic);
  static bool stands_before(const Entry& meant);
  bool has_other_version(SymbolId at, const Symbol& symbol) const;
  void stand_for_version(std::uint32_t meant, std::uint32_t versioned);
  static bool is_function(const Symbol& symbol);
  bool may_have_been_common(SymbolId at) const;
  void meet_value(const Entry& entry, SymbolId at, const Symbol& symbol);
  bool makes_way(SymbolId at, const Symbol& symbol, std::uint32_t plain, bool dynamic);
  void leave_shared_definition(SymbolId at, const Symbol& symbol, std::uint32_t id);

  // What --fatal-warnings makes errors of (at the end of bfd.cpp)
  void note_mention(std::uint32_t id, SymbolId by, const std::string& option = {}, bool weak = false);
  void note_alignment(std::uint32_t id, SymbolId common);
  void warn_of_common(std::uint32_t id, SymbolId one, SymbolId other);
  void warn_of_change(std::uint32_t id, SymbolId definition, SymbolId common);
  void warn_of_alignment(std::uint32_t id, SymbolId definition, SymbolId common);
  void warn_of_type(std::uint32_t id, SymbolId at, const Symbol& symbol);

  bool is_wrapped(std::string_view name) const;
  static bool has_base_version(const ObjectFacts& object, const Symbol& symbol);
  std::uint32_t entry_for(SymbolId at);
  std::uint32_t known_entry_for(SymbolId at);
  std::uint32_t entry_for_reference(SymbolId at);
  std::uint32_t entry_for_reference(std::string_view name);
  std::string printed_name(SymbolId at) const;
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  SymbolResolution& resolution_of(SymbolId id) { return out_.symbol_resolutions[id.in.input][id.in.object][id.symbol]; }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const LinkNames& names_;
  LinkSymbols table_;
  Resolution out_;
  Unsettled& unsettled_;
  Interner comdat_;                                ///< signatures of groups that an object has brought
  std::map<std::string_view, ObjectId> linkonce_;  ///< by section name: who brought it first
  std::vector<ArchiveIndex> indexes_;
  std::set<std::string_view> wrapped_;
  std::set<std::string_view> loaded_;               ///< by what the shared objects that take part so far are known
  std::set<std::string_view> needed_;               ///< their DT_NEEDED, and that of dropped ones among these
  std::vector<SymbolId> first_mentions_;            ///< by entry: who says first whether the name is thread-local
  std::map<std::uint32_t, SymbolId> most_aligned_;  ///< with --fatal-warnings: of the common symbols of each name
  std::uint64_t additions_ = 0;  ///< names that became undefined or common: whether a group must be searched again
};

}  // namespace elfaudit
