// lld's model of symbol resolution: one pass in which archive members wait as lazy symbols. Rules: lld.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/link_symbols.hpp"

namespace elfaudit {

class UndefinedNames;

class LldLink {
 public:
  LldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names, Unsettled& unsettled);

  /// Plays the whole link through. Call once.
  Resolution run();

 private:
  /// What lld knows of one name so far: its Symbol. There are millions.
  struct Entry {
    enum class State : std::uint8_t { New, Undefined, Lazy, Shared, Common, Defined };
    State state : 3 = State::New;
    Binding binding : 2 = Binding::Global;
    SymbolType type : 3 = SymbolType::NoType;
    bool referenced : 1 = false;   ///< an object refers to it
    bool asked : 1 = false;        ///< -u asks for it: a weak reference does not make it weak
    bool not_default : 1 = false;  ///< an object mentions it hidden, internal or protected
    bool hidden : 1 = false;       ///< an object mentions it hidden or internal
    bool in_shared : 1 = false;    ///< a shared object defines it too
    bool discarded : 1 = false;    ///< Undefined because its section was discarded
    bool was_common : 1 = false;   ///< Lazy, for its member was extracted in place of a common one
    bool stays_lazy : 1 = false;   ///< lld 14: extracted, and its definition is gone with its section
    bool has_more : 1 = false;     ///< more_ has it
    ObjectId lazy;                 ///< Lazy: the member that would define it
    SymbolId definition;           ///< for Shared, Common, Defined, and where discarded is set
    SymbolId first_reference;      ///< why it is Undefined: valid when a file refers to it
    bool weak() const { return binding == Binding::Weak; }
    void see(Visibility visibility);  ///< of an object's symbol
  };
  /// What few names have.
  struct More {
    std::uint32_t merged = kNone;         ///< "foo@V" is this entry, "foo@@V"
    std::string_view version;             ///< "V": the name was last seen as foo@@V
    SymbolId versioned_by;                ///< there, but in an index
    const std::string* option = nullptr;  ///< what asked for it, where no file refers to it
  };
  /// An undefined name that comes in.
  struct Demand {
    SymbolId by;                          ///< invalid: an option
    const std::string* option = nullptr;  ///< that option
    Binding binding = Binding::Global;
    SymbolType type = SymbolType::NoType;
    Visibility visibility = Visibility::Default;
    bool from_shared = false;
    bool discarded = false;  ///< an object's own definition that went with its section
  };
  /// A file whose symbols are looked at.
  struct File {
    ObjectId id;
    const ObjectFacts& facts;
    std::span<const std::uint32_t> names;  ///< of its symbols: LinkNames::of()
  };
  /// A file that is being read; an extraction interrupts it.
  struct Reading {
    enum class Kind : std::uint8_t { Object, References, SharedObject, LazyObject, UnopenedMember, Index };
    Kind kind;
    ObjectId id;
    std::uint32_t next = 0;
  };

  // The line (lld.cpp)
  void add_device_link();
  void open_input(std::uint32_t input);
  void open_archive(std::uint32_t input);
  void open_shared_object(std::uint32_t input);
  void open_object(ObjectId id);
  void read(const Reading& reading);
  void read_all();
  bool step(const Reading& reading);
  bool step_in_index(Reading reading);
  bool step_in_object(Reading reading);
  void read_index_entry(std::uint32_t input, std::uint32_t number);
  void read_symbol(Reading::Kind kind, const File& file, std::uint32_t number);
  void read_definition(const File& file, std::uint32_t number);
  void read_reference(const File& file, std::uint32_t number, bool from_shared);
  void read_shared_reference(const File& file, std::uint32_t number);
  void read_shared_symbol(const File& file, std::uint32_t number);
  void demand(std::string_view name, const std::string& option);  ///< both outlive the link
  void extract(ObjectId id, std::uint32_t name, const Demand& why);
  void pull_entry_point();
  void pull_globs();
  void demand_assigned();
  bool is_provided(const Assignment& assignment) const;
  void ask_for_wrapped(std::uint32_t id, Binding binding);
  void demand_wrapped();

  // One symbol (lld.cpp)
  void claim_groups(ObjectId id);
  bool discarded(SymbolId at) const;
  void demand(std::uint32_t id, const Demand& demand);
  void extract_for(std::uint32_t id, const Demand& demand);
  void make_undefined(std::uint32_t id, const Demand& demand);
  void offer_lazy(ObjectId member, std::uint32_t id);
  bool pulls_for_common(ObjectId member, std::uint32_t id) const;
  void note_mention(std::uint32_t id);
  void take(std::uint32_t id, Entry::State state, SymbolId at, const Symbol& symbol);
  void define(std::uint32_t id, SymbolId at, const Symbol& symbol);
  bool replaced_by(std::uint32_t id, SymbolId at, const Symbol& symbol);
  bool replaced_by_in_lld14(std::uint32_t id, SymbolId at, const Symbol& second);
  void define_discarded(std::uint32_t id, SymbolId at, const Symbol& symbol);
  void define_common(std::uint32_t id, SymbolId at, const Symbol& symbol);
  void define_shared(SymbolId at, const Symbol& symbol, std::uint32_t id);
  std::uint32_t entry_for(const File& file, std::uint32_t number);
  std::uint32_t entry_for(SymbolId at) { return entry_for(file(at.in), at.symbol); }
  void note_version(SymbolId at, const Symbol& symbol);

  // What --fatal-warnings makes errors of (lld.cpp)
  void warn_of_common(std::uint32_t id, SymbolId one, SymbolId other);
  void note_back_reference(std::uint32_t id, ObjectId member, SymbolId by);
  void find_back_references();

  // Versions (lld_verdict.cpp)
  bool can_have_version(std::uint32_t id) const;
  std::set<std::string> demangled_names() const;
  void check_versions();
  void check_version_script();
  void warn_of_versions();
  void check_nodes();

  // When all files are read (lld_verdict.cpp)
  void settle();
  void collide(std::uint32_t id, SymbolId kept, SymbolId rejected);
  void find_duplicates();
  void tls_mismatch(SymbolId first, SymbolId other);
  void check_type(const Entry& entry, SymbolId at, SymbolType type);
  void find_tls_mismatches();
  void drop_discarded_winners();
  void merge_versions();
  void mark_needed_libraries();
  bool has_version_nodes() const;
  std::uint32_t unwrapped(std::string_view name);
  std::uint32_t redirected(SymbolId at);
  bool has_version(std::uint32_t id) const;
  std::string printed_name(std::uint32_t id) const;
  std::optional<Binding> undefined_as(const Entry& entry) const;
  void collect_unresolved();
  void add_unknown_operands(UndefinedNames& names);
  bool all_needed_on_line(const ObjectFacts& shared) const;
  void check_exported_value(std::uint32_t id, SymbolId reference);
  void collect_shared_needs();

  bool whole(std::uint32_t input) const;
  void mark(std::vector<bool>& marks, std::uint32_t name);
  /// Of one file.
  struct Ends {
    std::vector<std::uint32_t> open;       ///< symbols that end at nothing
    std::vector<std::uint32_t> versioned;  ///< those with versions that are not the default one
  };
  void settle_symbols();
  void settle_symbol(const SettledSymbols& settled, const File& file, std::uint32_t number, std::uint32_t id,
                     std::vector<std::uint32_t>& open);
  File file(ObjectId id) const { return {id, object(id), names_.of(id)}; }
  const More& more(std::uint32_t id) const;
  More& more_of(std::uint32_t id);
  static bool is_marked(const std::vector<bool>& marks, std::uint32_t name) {
    return name < marks.size() && marks[name];
  }
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const LinkNames& names_;
  const bool since15_;  ///< a discarded definition counts until all files are read, and duplicates are found then
  SymbolTable<Entry> table_;
  Resolution out_;
  Unsettled& unsettled_;
  std::vector<Reading> readings_;                             ///< innermost last
  std::unordered_map<std::uint32_t, More> more_;              ///< by name
  std::vector<bool> brought_;                                 ///< by name: an object has brought the group
  std::vector<std::vector<std::vector<bool>>> lost_groups_;   ///< [input][object][group]; empty: none
  std::map<std::string, std::uint32_t> sonames_;              ///< the first input of each
  std::vector<ObjectId> order_;                               ///< objects in the order they were linked
  std::vector<std::pair<std::uint32_t, SymbolId>> required_;  ///< names that shared objects refer to, not weakly
  std::set<SymbolId> versions_noted_;                         ///< lld names a symbol of a file once: rule 8
  std::set<std::string_view> wrapped_;
  std::set<const Assignment*> provides_;         ///< PROVIDE() that gives its name the value
  std::set<std::string, std::less<>> assigned_;  ///< the line gives them a value
  std::map<std::uint32_t, FatalWarning> back_references_;
  std::vector<bool> contested_;           ///< by name: a second definition came when there was one
  std::vector<bool> thread_local_;        ///< by name: a definition was
  std::vector<std::uint32_t> mentioned_;  ///< with --undefined-glob: names, in the order of their first mentions
  std::vector<std::uint32_t> discarded_;  ///< names of which a definition in a discarded section won
  std::vector<std::uint32_t> shared_;     ///< names that a shared object defined at some time
  std::vector<SymbolId> open_;            ///< mentions of names that are undefined in the end, or merged
};

}  // namespace elfaudit
