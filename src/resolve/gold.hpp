// gold's model of symbol resolution: one ordered pass in which versions are part of the name, and what a file says of a
// name meets what is known of it. Rules: gold.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"

namespace elfaudit {

class GoldLink {
 public:
  GoldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names, Unsettled& unsettled);

  /// Plays the whole link through. Call once.
  Resolution run();

 private:
  enum class State : std::uint8_t { Undefined, Common, Defined };

  /// What a file says of a name, as gold takes it.
  struct Mention {
    SymbolId at;
    std::string_view name;           ///< what --wrap makes of it
    std::string_view version;        ///< one that a version script gives it, too
    State state = State::Undefined;  ///< of what a dropped section defines as well
    Visibility visibility = Visibility::Default;
    bool default_version = false;
    bool weak = false;
    bool shared = false;  ///< a shared object says it
    bool dropped = false;
    bool made_local = false;  ///< by a version script
  };

  /// What is known of a name.
  struct Known {
    Mention is;  ///< the one that counts; `at` is invalid for the line's value and for what it asks for
    std::uint32_t became = kNone;  ///< the one that it was merged into
    bool in_object = false;        ///< a relocatable object mentions it
    bool in_library = false;       ///< a shared object mentions it
    bool wanted = false;           ///< it is a shared object's, and an object refers to it
    bool weakly_wanted = false;    ///< and all that do are weak
    bool is_default = false;       ///< plain foo is this foo@@V
    bool discarded = false;        ///< a dropped section defines it
    bool made_local = false;       ///< a version script makes a definition of it local

    bool undefined() const { return is.state == State::Undefined; }
    bool from_library() const { return is.shared; }
    void want(bool weak);
    void narrow(Visibility visibility) { is.visibility = stricter(is.visibility, visibility); }
  };

  /// Of a name, or of a name in a version: into known_.
  struct Slot {
    std::uint32_t known = kNone;
  };

  /// A name of an archive's index.
  struct IndexName {
    std::string_view name;
    std::string_view version;
    bool default_version = false;
    std::uint32_t member = kNone;
    bool answered = false;  ///< not asked again
  };

  enum class Answer : std::uint8_t { No, Yes, Unknown };

  // The line
  void number_names_of_options() const;
  void read_line();
  void visit_run(std::uint32_t first, std::uint32_t end);
  void visit_group(std::uint32_t first, std::uint32_t end);
  void visit_lazy(std::uint32_t first, std::uint32_t end);
  void visit(std::uint32_t input);
  void visit_shared_object(std::uint32_t input);
  void visit_archive(std::uint32_t input);
  void search_archive(std::uint32_t input);
  std::vector<IndexName>& index_of(std::uint32_t input);
  bool is_wanted(ObjectId id, Extraction& why) const;
  Answer asks_for(const IndexName& index, Extraction& why) const;
  void read_scripts_up_to(std::size_t place);
  void read_assignment(const Assignment& assignment);

  // One file
  void add_object(ObjectId id);
  void add_shared_object(ObjectId id);
  void record_aliases(ObjectId id);
  std::vector<bool> claim_groups(ObjectId id);
  bool drops(const Section& section) const;
  bool keep_linkonce(std::string_view section);
  Mention mention_as_written(SymbolId at) const;
  Mention mention_of(SymbolId at, const std::vector<bool>& lost_groups);
  Mention shared_mention_of(SymbolId at) const;
  void wrap(Mention& mention);
  std::uint32_t slot_of(const Mention& mention);
  std::uint32_t add(const Mention& mention);
  std::uint32_t make(const Mention& mention);
  std::uint32_t meet_plain_name(std::uint32_t plain, const Mention& mention);
  void leave_default(std::uint32_t id, const Mention& mention);
  void join_plain_name(std::uint32_t id, bool plain_is_new, std::uint32_t plain);
  bool stay_apart(const Known& plain, const Known& versioned) const;
  void meet(std::uint32_t id, const Mention& mention);
  bool overrides(const Known& known, const Mention& mention) const;
  bool library_overrides(const Known& known, const Mention& mention) const;
  void override(std::uint32_t id, const Mention& mention);
  bool is_same(const Known& known, const Mention& mention) const;
  void collide(const Known& known, const Mention& mention);
  void check_tls(const Known& known, const Mention& mention);
  void warn_of_common(const Known& known, const Mention& mention);
  void warn_of_default(const Known& known, const Mention& mention);

  // What comes of it
  void ask_for_options();
  void give_values();
  bool give_value(std::string_view name, bool provide, bool hidden);
  std::string_view given_version(std::string_view name) const;
  void check_script_names();
  void check_nodes();
  void warn_of_version_script();
  void settle();
  void collect_unresolved();
  bool stays_common(const Known& known) const;
  bool is_placed_in_library(const Known& known) const;
  void collect_operands(UndefinedNames& names);
  void collect_shared_needs();
  bool fails(const Known& known) const;
  bool is_called_undefined(const Known& known) const;
  bool knows_libraries_of(ObjectId id) const;

  std::uint32_t final_of(std::uint32_t id) const;
  std::uint32_t known_by(std::string_view name, std::string_view version = {}) const;
  std::string printed(const Known& known) const;
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const LinkNames& names_;
  Exports exports_;
  Resolution out_;
  Unsettled& unsettled_;
  DeviceLinkObject device_link_;
  std::set<const Assignment*> made_;  ///< those that give their name the value
  SymbolTable<Slot> slots_;
  std::vector<Known> known_;
  std::vector<std::vector<std::vector<std::uint32_t>>> ids_;  ///< [input][object][symbol]: into known_, or kNone
  std::map<std::uint32_t, std::uint32_t> aliases_;            ///< rings of a library's names of one variable
  std::unordered_map<std::string_view, bool>
      kept_groups_;  ///< by signature: is it a group's or a whole section's name?
  std::vector<std::optional<std::vector<IndexName>>> indexes_;
  std::set<std::string_view> plain_;  ///< with a version script: what objects define without a version
  std::set<std::string_view> wrapped_;
  std::set<std::string_view> loaded_;    ///< by what the shared objects so far are known
  std::set<std::uint32_t> needed_;       ///< those that an object refers to, and not weakly
  std::set<std::string_view> required_;  ///< by -u
  std::multimap<std::size_t, const Assignment*> unread_;
  std::map<std::string_view, std::string_view> used_;  ///< by the scripts read so far -> by which
  std::set<std::string_view> assigned_;                ///< by them
  std::set<std::string_view> pending_;                 ///< by them, PROVIDE() or not
  std::uint64_t undefined_seen_ = 0;                   ///< names that became undefined: is a group searched again?
  bool reads_objects_ = false;                         ///< it knows the machine, and so the default entry point
};

}  // namespace elfaudit
