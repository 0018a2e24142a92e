// How mold resolves symbols: not by order, but by rank over all files, in two elections.
//
//  1. Every file of the line is read, every member of every archive too. Objects, and members under --whole-archive,
//     are alive from the start; members and what is between --start-lib and --end-lib are lazy; a shared object is
//     alive unless --as-needed. An archive or shared object named twice is the one that came first, with the options
//     that held there; so is a second shared object of the same soname. Objects named twice are two.
//  2. Election: each name gets the definition of the best rank; the earlier file breaks ties. The ranks: strong in a
//     live object; weak in a live object; strong in a shared object or a lazy member; weak there; common; common in a
//     lazy member. GNU_UNIQUE is strong. What --defsym defines is before all files, but under -r
//     it is nothing.
//  3. Liveness: from the live files along the elected definitions. A strong undefined name of an object keeps the file
//     that defines it, and so does a common one that a real definition beat; a shared object's undefined names, weak
//     ones too, keep objects only. -u, --require-defined, the entry point and what --defsym uses keep theirs. What is
//     kept is extracted.
//  4. Dead files are dropped, and the first COMDAT group with a signature is kept among the rest; definitions in the
//     other copies are gone. What GCC compiles only now, code for link-time optimisation, comes last; of its functions
//     the earlier copy counts nevertheless, as does every definition of LLVM's bytecode. .gnu.linkonce sections are ordinary ones, but for i386's two of get_pc_thunk.bx, which are gone; SHF_EXCLUDE means nothing.
//  5. The second election, now among live files alone, decides. Every strong definition that did not win is a
//     duplicate, unless it is gone, its section is SHF_MERGE (mold has taken these apart by then), the line gives the
//     name a value, or the output is relocatable. Absolute values are compared with nothing.
//     Code for link-time optimisation is compiled between the elections, without what it has lost: a strong definition
//     there is not a duplicate of an earlier one. But of those that have lost to an ordinary object's, GCC's lto1
//     accepts one at most.
//  6. foo@@V is the name "foo", foo@V a name of its own ("foo@V"). A hidden version of a shared object is "foo@V" as
//     well. A reference to foo@V that nothing defines is answered by a shared object that has elected foo@@V.
//  7. A name is undefined when no definition was elected, or a shared object's where a live object mentions the name
//     hidden or protected, or defines it and --exclude-libs hides that; what an object has as a common symbol is so by
//     its own mention alone. A shared object may leave a protected name
//     undefined, but no hidden one. A weak reference doesn't mind the former, but the latter is an error for it too.
//     Where the first object that mentions it does so weakly, a shared object imports it for all. --require-defined is
//     content with a name that any live object mentions, and with every name under -r; else nothing else that is
//     undefined is reported. The operand of --defsym must be defined; mold 1.10 crashes where it isn't.
//
// Every rule was tried with mold 1.10.1; tests/link/ holds them against the mold that is installed.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/linked_objects.hpp"
#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

// Rule 2: the rank in the high bits, the file's number in the low ones.
constexpr std::uint32_t kRankShift = 24;
constexpr std::uint32_t kMostFiles = (1U << kRankShift) - 1;
constexpr std::uint32_t kAssignedRank = 0;
constexpr std::uint32_t kLazyRank = 3;

enum class Mention : std::uint8_t { None, Weak, Strong };

class MoldLink {
 public:
  MoldLink(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names, Unsettled& unsettled)
      : job_(job),
        inputs_(inputs),
        names_(names),
        table_(names),
        out_(blank_resolution(job, inputs)),
        unsettled_(unsettled),
        wrapped_(job.wrapped.begin(), job.wrapped.end()) {}

  /// Plays the whole link through. Call once.
  Resolution run() {
    list_files();
    assign();
    elect();
    mark_live();
    drop_dead();
    assign();
    elect();
    if (job_.output != OutputKind::Relocatable && !job_.allow_multiple_definition) find_duplicates();
    if (job_.output != OutputKind::Relocatable && job_.warnings.fatal) find_warnings();
    settle();
    collect_unresolved();
    return std::move(out_);
  }

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

  /// Rule 1.
  void list_files() {
    std::set<std::string_view> visited;
    std::set<std::string_view> sonames;
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      const InputFacts& file = inputs_[input];
      if (job_.inputs[input].device_only) continue;
      const bool again = file.kind != InputKind::Object && !visited.insert(file.path).second;
      if (again) continue;
      if (file.kind == InputKind::Object) add_file({input, 0}, !job_.inputs[input].lazy);
      if (file.kind == InputKind::Archive) list_archive(input);
      if (file.kind != InputKind::SharedObject && file.kind != InputKind::Executable) continue;
      const std::string_view soname = file.objects[0].soname.empty() ? file.path : file.objects[0].soname;
      if (sonames.insert(soname).second) add_file({input, 0}, !job_.inputs[input].as_needed);
    }
    for (std::uint32_t number = 0; number < files_.size(); ++number) name_symbols(files_[number]);
  }

  void list_archive(std::uint32_t input) {
    const LinkInput& named = job_.inputs[input];
    const bool whole = out_.whole_archives || (named.whole_archive && !named.lazy);
    for (std::uint32_t member = 0; member < inputs_[input].objects.size(); ++member) {
      const ObjectFacts& facts = inputs_[input].objects[member];
      if (facts.kind != ObjectKind::Relocatable || ((facts.nested || facts.of_archive) && !out_.whole_archives))
        continue;
      add_file({input, member}, whole);
      if (whole && !out_.whole_archives) out_.extractions.push_back({{input, member}, {}, {}, "--whole-archive"});
    }
  }

  void add_file(ObjectId id, bool alive) {
    if (files_.size() == kMostFiles) return;  // sixteen million: mold's own ranks end there too
    File file;
    file.id = id;
    file.shared = object(id).kind != ObjectKind::Relocatable;
    file.alive = alive;
    numbers_[id] = static_cast<std::uint32_t>(files_.size());
    files_.push_back(std::move(file));
  }

  void name_symbols(File& file) {
    const ObjectFacts& facts = object(file);
    if (facts.unopened) return name_offers(file);
    file.ids.reserve(facts.symbols.size());
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) file.ids.push_back(entry_for({file.id, s}));
  }

  /// What its archive's index says of a member.
  void name_offers(File& file) {
    const InputFacts& archive = inputs_[file.id.input];
    const std::size_t first = archive.first_entry_of(file.id.object);
    const std::size_t count = archive.entries_of(file.id.object).size();
    for (const std::uint32_t id : std::span(names_.of_index(file.id.input)).subspan(first, count))
      if (id != LinkNames::kAbsent) file.ids.push_back(id);
  }

  /// Rule 6, and --wrap=foo: an undefined foo means __wrap_foo, an undefined __real_foo means foo.
  std::uint32_t entry_for(SymbolId at) {
    const ObjectFacts& object = this->object(at.in);
    const Symbol& symbol = object.symbols[at.symbol];
    if (wrapped_.empty() && (symbol.version.empty() || symbol.default_version)) return table_.id(at);
    const std::string_view name = object.name(symbol);
    if (object.kind != ObjectKind::Relocatable) {
      const bool hidden = symbol.defined() && !symbol.version.empty() && !symbol.default_version;
      return hidden ? table_.id(name, object.text(symbol.version)) : table_.id(name);
    }
    if (!wrapped_.empty() && !symbol.defined()) {
      if (wrapped_.contains(name)) return table_.composed("__wrap_" + std::string(name));
      if (const std::string_view real = real_name(name, wrapped_); !real.empty()) return table_.id(real);
    }
    return symbol.default_version ? table_.id(name) : table_.id(name, object.text(symbol.version));
  }

  void assign() {
    if (job_.output == OutputKind::Relocatable) return;
    const auto give = [&](std::uint32_t id) {
      table_[id].rank = kAssignedRank;
      table_[id].assigned = true;
    };
    for (const Assignment& assignment : job_.assignments)
      if (!assignment.provide) give(table_.id(assignment.symbol));
    for (const std::string& name : device_link_object(job_, inputs_).defines) give(table_.composed(name));
  }

  /// Rule 2.
  void elect() {
    for (std::uint32_t number = 0; number < files_.size(); ++number) {
      const File& file = files_[number];
      if (dead_are_dropped_ && !file.alive) continue;
      const ObjectFacts& facts = object(file);
      const auto propose = [&](std::uint32_t s, std::uint32_t of_kind) {
        Entry& entry = table_[file.ids[s]];
        const std::uint32_t rank = of_kind << kRankShift | (number + 1);
        if (rank >= entry.rank) return;
        entry.rank = rank;
        entry.file = number;
        entry.symbol = s;
      };
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s)
        if (const Symbol& symbol = facts.symbols[s]; symbol.defined() && !gone(file, symbol))
          propose(s, rank_of(file, symbol));
      if (!facts.unopened || dead_are_dropped_) continue;
      for (std::uint32_t s = 0; s < file.ids.size(); ++s) propose(s, kLazyRank);
    }
  }

  static std::uint32_t rank_of(const File& file, const Symbol& symbol) {
    if (symbol.common() && !file.shared) return file.alive ? 5 : 6;
    if (file.shared || !file.alive) return symbol.weak() ? 4 : kLazyRank;
    return symbol.weak() ? 2 : 1;
  }

  /// Rule 4.
  bool gone(const File& file, const Symbol& symbol) const {
    if (symbol.section == kNone || file.shared) return false;
    const ObjectFacts& facts = object(file);
    const Section& section = facts.sections[symbol.section];
    if (section.group == kNone) return false;
    if (facts.groups[section.group].linkonce) {
      const std::string_view name = facts.text(section.name);
      return name == ".gnu.linkonce.t.__x86.get_pc_thunk.bx" || name == ".gnu.linkonce.t.__i686.get_pc_thunk.bx";
    }
    return !file.lost_groups.empty() && file.lost_groups[section.group];
  }

  /// Rule 3.
  void mark_live() {
    for (std::uint32_t number = 0; number < files_.size(); ++number)
      if (files_[number].alive) work_.push_back(number);
    std::ranges::reverse(work_);  // the first file's references are followed first
    mark_options();
    while (!work_.empty()) {
      const std::uint32_t number = work_.back();
      work_.pop_back();
      mark_from(files_[number]);
    }
  }

  void mark_options() {
    const auto asked = [&](std::string_view name, const std::string& option) {
      if (const std::uint32_t id = table_.find(name); id != kNone) keep(id, {{}, std::string(name), {}, option});
    };
    for (const std::string& name : job_.required)
      if (!job_.entry_given || name != job_.entry) asked(name, "-u");
    for (const std::string& name : job_.must_define) asked(name, "--require-defined");
    for (const Assignment& assignment : job_.assignments)
      for (const std::string& used : assignment.uses)
        if (job_.output != OutputKind::Relocatable) asked(used, assignment.where);
    for (const std::string& name : device_link_object(job_, inputs_).needs) asked(name, "the device link");
    const bool has_entry = job_.output == OutputKind::Executable ? job_.scope.whole_line : job_.entry_given;
    if (has_entry) asked(job_.entry, "the entry point");
  }

  void mark_from(const File& file) {
    const ObjectFacts& facts = object(file);
    const bool excluded = !file.shared && Exports(job_).excluded(facts.origin);
    for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
      const Symbol& symbol = facts.symbols[s];
      Entry& entry = table_[file.ids[s]];
      const bool made_hidden = excluded && symbol.defined();
      if (!file.shared && (symbol.visibility != Visibility::Default || made_hidden)) entry.not_default = true;
      if (!file.shared && (is_hidden(symbol.visibility) || made_hidden)) entry.hidden = true;
      if (entry.file == kNone) continue;
      const File& definer = files_[entry.file];
      const bool follows = file.shared
                               ? !symbol.defined() && !definer.shared
                               : !symbol.weak() && (!symbol.defined() || (symbol.common() && !wins_as_common(entry)));
      if (follows) keep(file.ids[s], {{}, std::string(table_.name(file.ids[s])), file.id, {}});
    }
  }

  void keep(std::uint32_t id, Extraction why) {
    const Entry& entry = table_[id];
    if (entry.file == kNone || files_[entry.file].alive) return;
    File& file = files_[entry.file];
    file.alive = true;
    work_.push_back(entry.file);
    if (file.shared) return;
    why.object = file.id;
    out_.extractions.push_back(std::move(why));
  }

  /// Rule 4: between the elections. Nothing of the first one stays.
  void drop_dead() {
    dead_are_dropped_ = true;
    for (const File& file : files_)
      if (file.alive) out_.linked[file.id.input][file.id.object] = true;
    Interner seen, seen_functions;  // signatures; the second of functions that are compiled later
    for (const bool compiled_later : {false, true}) {
      for (File& file : files_) {
        const ObjectFacts& facts = object(file);
        const bool of_gcc = facts.origin.bytecode && facts.lto.compiler == LtoCompiler::Gcc;
        if (!file.alive || file.shared || of_gcc != compiled_later) continue;
        std::vector<bool> is_function(facts.groups.size());
        for (const Symbol& symbol : facts.symbols)
          if (symbol.section != kNone && facts.sections[symbol.section].group != kNone)
            is_function[facts.sections[symbol.section].group] = symbol.type == SymbolType::Function;
        file.lost_groups.assign(facts.groups.size(), false);
        for (std::uint32_t g = 0; g < facts.groups.size(); ++g) {
          if (facts.groups[g].linkonce) continue;
          Interner& known = of_gcc && is_function[g] ? seen_functions : seen;
          const bool lost = !known.insert(facts.text(facts.groups[g].signature));
          file.lost_groups[g] = lost;
          if (lost) out_.discarded_groups[file.id].push_back(g);
        }
      }
    }
    for (std::uint32_t id = 0; id < table_.size(); ++id) {
      Entry& entry = table_[id];
      entry.rank = entry.file = entry.symbol = kNone;
    }
  }

  /// Of an entry with a file.
  const Symbol& winner(const Entry& entry) const { return object(files_[entry.file]).symbols[entry.symbol]; }

  /// The same.
  bool wins_as_common(const Entry& entry) const {
    return !object(files_[entry.file]).unopened && winner(entry).common();
  }

  /// Rule 5.
  void find_duplicates() {
    std::map<std::uint32_t, SymbolId> lost;
    for (const File& file : files_) {
      if (!file.alive || file.shared) continue;
      const ObjectFacts& facts = object(file);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const Symbol& symbol = facts.symbols[s];
        const Entry& entry = table_[file.ids[s]];
        if (!symbol.defined() || symbol.common() || symbol.weak() || gone(file, symbol) || entry.file == kNone)
          continue;
        const File& kept = files_[entry.file];
        if (facts.origin.bytecode) {
          find_duplicate_of_bytecode(file, s, kept, lost);
          continue;
        }
        if (kept.id == file.id || (symbol.section != kNone && facts.sections[symbol.section].merged)) continue;
        out_.conflicts.push_back({std::string(printed(file.ids[s])), {kept.id, entry.symbol}, {file.id, s}});
      }
    }
  }

  /// Rule 5, of a strong definition in code for link-time optimisation. `lost`: the first ones of GCC's that have lost.
  void find_duplicate_of_bytecode(const File& file, std::uint32_t symbol, const File& kept,
                                  std::map<std::uint32_t, SymbolId>& lost) {
    if (object(file).lto.compiler != LtoCompiler::Gcc || object(kept).origin.bytecode) return;
    const SymbolId at{file.id, symbol};
    const auto [first, fresh] = lost.try_emplace(file.ids[symbol], at);
    if (!fresh) out_.conflicts.push_back({std::string(printed(file.ids[symbol])), first->second, at});
  }

  /// With --fatal-warnings. By --warn-common, every common symbol that did not win; and always, two mentions of a name,
  /// of shared objects too, of which one is of a function and the other of a variable, or one is thread-local.
  void find_warnings() {
    const auto type_of = [](const Symbol& symbol) {
      if (symbol.common()) return SymbolType::Object;
      return symbol.type == SymbolType::IndirectFunction ? SymbolType::Function : symbol.type;
    };
    std::set<std::uint32_t> reported;
    for (const File& file : files_) {
      if (!file.alive) continue;
      const ObjectFacts& facts = object(file);
      for (std::uint32_t s = 0; s < facts.symbols.size(); ++s) {
        const Symbol& symbol = facts.symbols[s];
        const std::uint32_t id = file.ids[s];
        const Entry& entry = table_[id];
        if (entry.file == kNone || files_[entry.file].id == file.id) continue;
        const SymbolId kept{files_[entry.file].id, entry.symbol};
        const std::string name(printed(id));
        if (symbol.common() && !file.shared && job_.warnings.common)
          out_.warnings.push_back({FatalWarning::Kind::Common, name, kept, {{file.id, s}, {}, 0}, {}, {}});
        const SymbolType type = type_of(symbol);
        const SymbolType other = type_of(winner(entry));
        if (type != other && type != SymbolType::NoType && other != SymbolType::NoType && reported.insert(id).second)
          out_.warnings.push_back({FatalWarning::Kind::Type, name, kept, {{file.id, s}, {}, 0}, {}, {}});
      }
    }
  }

  void settle() {
    const auto winner_of = [&](SymbolId at) {
      const Entry& entry = table_[files_[numbers_.at(at.in)].ids[at.symbol]];
      return entry.file == kNone ? SymbolId{} : SymbolId{files_[entry.file].id, entry.symbol};
    };
    settle_resolutions(inputs_, out_, {job_, inputs_, names_, out_}, winner_of, [&](SymbolId at) {
      const File& file = files_[numbers_.at(at.in)];
      return gone(file, object(file).symbols[at.symbol]);
    });
  }

  /// Rule 7.
  void collect_unresolved() {
    UndefinedNames names(inputs_, out_, unsettled_.undefined);
    std::vector<Mention> first(table_.size());
    names.each_symbol([&](SymbolId at, const ObjectFacts& facts, const Symbol& symbol) {
      const File& file = files_[numbers_.at(at.in)];
      const std::uint32_t id = file.ids[at.symbol];
      const Entry& entry = table_[id];
      if (first[id] == Mention::None) first[id] = symbol.weak() ? Mention::Weak : Mention::Strong;
      const bool by_shared = entry.file != kNone && files_[entry.file].shared;
      if (entry.assigned || (entry.file != kNone && !(by_shared && entry.not_default))) return;
      const bool imported = job_.output == OutputKind::SharedObject && first[id] == Mention::Weak && !entry.not_default;
      const bool hidden_common = symbol.common() && by_shared && symbol.visibility != Visibility::Default;
      const bool refers = symbol.defined() ? hidden_common || gone(file, symbol) : !symbol.weak() || by_shared;
      if (!refers || imported || answered_by_version(facts, symbol)) return;
      UndefinedName& name = names.name(id, printed(id));
      name.hidden = by_shared || entry.hidden;
      name.references.push_back({at, {}, 0});
    });
    if (job_.output != OutputKind::Relocatable) {
      const auto ask = [&](const std::string& symbol, const std::string& option, bool mention_will_do) {
        const std::uint32_t id = table_.id(symbol);
        const bool mentioned = mention_will_do && id < first.size() && first[id] != Mention::None;
        if (table_[id].file == kNone && !table_[id].assigned && !mentioned) names.name(id, symbol).option = option;
      };
      for (const std::string& symbol : job_.must_define) ask(symbol, "--require-defined", true);
      for (const Assignment& assignment : job_.assignments)
        for (const std::string& operand : assignment.operands()) ask(operand, assignment.where, false);
    }
    keep_required();
    names.finish();
  }

  /// mold stops at names that --require-defined or --defsym misses, before it looks at relocations, unless such are only
  /// warnings.
  void keep_required() {
    if (job_.unresolved.warn_only) return;
    const auto missed = [](const UndefinedName& name) { return !name.option.empty(); };
    if (std::ranges::any_of(unsettled_.undefined, missed)) std::erase_if(unsettled_.undefined, std::not_fn(missed));
  }

  /// Rule 6: does a shared object's foo@@V answer to this foo@V? What has no version of its own has the library's base
  /// one.
  bool answered_by_version(const ObjectFacts& object, const Symbol& symbol) const {
    if (symbol.version.empty()) return false;
    const std::uint32_t id = table_.find(object.name(symbol));
    if (id == kNone || table_[id].file == kNone) return false;
    const File& definer = files_[table_[id].file];
    const ObjectFacts& facts = this->object(definer);
    if (!definer.shared) return false;
    Text version = winner(table_[id]).version;
    if (version.empty() && !facts.versions.empty()) version = facts.versions.front();
    return facts.text(version) == object.text(symbol.version);
  }

  /// mold calls foo@V9 "foo", in every message.
  std::string_view printed(std::uint32_t id) const {
    const std::string_view name = table_.name(id);
    return name.substr(0, std::max<std::size_t>(name.find('@'), 1));
  }

  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const ObjectFacts& object(const File& file) const { return object(file.id); }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const LinkNames& names_;
  SymbolTable<Entry> table_;
  Resolution out_;
  Unsettled& unsettled_;
  std::vector<File> files_;
  std::vector<std::uint32_t> work_;  ///< live files whose references are still to be followed
  bool dead_are_dropped_ = false;    ///< the second election
  std::set<std::string_view> wrapped_;
  std::map<ObjectId, std::uint32_t> numbers_;  ///< of the files
};

}  // namespace

Resolution resolve_as_mold(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                           Unsettled& unsettled) {
  return MoldLink(job, inputs, names, unsettled).run();
}

}  // namespace elfaudit
