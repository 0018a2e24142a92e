// mold's model of symbol resolution: all files at once, by rank, then liveness. Rules: mold.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/facts.hpp"
#include "elfaudit/link_job.hpp"
#include "elfaudit/resolution.hpp"
#include "resolve/link_symbols.hpp"

namespace elfaudit {

class MoldLink {
 public:
  MoldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names);

  /// Plays the whole link through. Call once.
  Resolution run();

 private:
  /// One file that takes part, in the order that breaks ties.
  struct File {
    ObjectId id;
    bool shared = false;
    bool alive = false;
    std::vector<std::uint32_t> ids;  ///< the entry of each symbol
    std::vector<bool> lost_groups;   ///< COMDAT groups that an earlier file brought
  };
  /// Which definition a name has.
  struct Entry {
    std::uint32_t rank = kNone;  ///< smaller wins; kNone: nothing defines it
    std::uint32_t file = kNone;  ///< into files_; kNone: the line's own value
    std::uint32_t symbol = kNone;
    bool not_default = false;  ///< a live object mentions it hidden, internal or protected
    bool hidden = false;       ///< one mentions it hidden or internal
    bool assigned = false;     ///< --defsym
  };

  void list_files();
  void list_archive(std::uint32_t input);
  void add_file(ObjectId id, bool alive);
  void name_symbols(File& file);
  void name_offers(File& file);
  std::uint32_t entry_for(SymbolId at);

  void assign();
  void elect();
  static std::uint32_t rank_of(const File& file, const Symbol& symbol);
  bool gone(const File& file, const Symbol& symbol) const;
  void mark_live();
  void mark_options();
  void mark_from(const File& file);
  void keep(std::uint32_t id, Extraction why);
  void drop_dead();
  const Symbol& winner(const Entry& entry) const;  ///< of an entry with a file
  bool wins_as_common(const Entry& entry) const;   ///< the same

  void find_duplicates();
  void find_duplicate_of_bytecode(const File& file, std::uint32_t symbol, const File& kept,
                                  std::map<std::uint32_t, SymbolId>& lost);
  void find_warnings();
  void settle();
  void collect_unresolved();
  void keep_required();
  bool answered_by_version(const ObjectFacts& object, const Symbol& symbol) const;
  std::string_view printed(std::uint32_t id) const;

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const ObjectFacts& object(const File& file) const { return object(file.id); }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const LinkNames& names_;
  SymbolTable<Entry> table_;
  Resolution out_;
  std::vector<File> files_;
  std::vector<std::uint32_t> work_;  ///< live files whose references are still to be followed
  bool dead_are_dropped_ = false;    ///< the second election
  std::set<std::string_view> wrapped_;
  std::map<ObjectId, std::uint32_t> numbers_;  ///< of the files
};

}  // namespace elfaudit
