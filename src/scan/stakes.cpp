// The objects of a link command, read with only those names that are at stake (prefilter.hpp has the reasons).

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/mentions.hpp"
#include "scan/object_reader.hpp"
#include "scan/prefilter.hpp"
#include "scan/scan.hpp"
#include "support/file.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

/// Do names of objects matter in no other way than prefilter.hpp says?
bool has_plain_rules(const LinkJob& job) {
  const bool program = job.output == OutputKind::Executable && !job.gc_sections && !job.export_dynamic;
  const bool by_name = !job.assignments.empty() || !job.versions.empty() || !job.dynamic_list.empty() ||
                       !job.wrapped.empty() || !job.required_globs.empty();
  return program && !by_name && !job.warnings.fatal && job.foreign.empty();
}

/// Is it an archive of which members are known by the index alone?
bool is_indexed(const InputFacts& input) {
  return input.kind == InputKind::Archive && std::ranges::any_of(input.objects, &ObjectFacts::unopened);
}

/// What the indexes of a line's archives offer, by hashes. An entry is known by its number in all of them.
class Offers {
 public:
  explicit Offers(const std::vector<InputFacts>& inputs) : inputs_(inputs), begins_(inputs.size() + 1) {
    std::map<std::string_view, std::size_t> archives;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool first = is_indexed(inputs[i]) && archives.try_emplace(inputs[i].path, i).second;
      begins_[i + 1] = begins_[i] + static_cast<std::uint32_t>(first ? inputs[i].index.size() : 0);
    }
    hashes_.resize(begins_.back());
    for_each_parallel(inputs.size(), grain(), [&](std::size_t i) { hash_names(i); });
    for_each_parallel(shards_.size(), grain(), [&](std::size_t shard) { fill(shard); });
  }

  static constexpr std::uint32_t kOften = std::uint32_t{1} << 31;  ///< several members offer the name

  bool empty() const { return hashes_.empty(); }

  /// The first entry of that name, with kOften; kNone where there is none.
  std::uint32_t find(std::uint64_t hash) const {
    const std::vector<std::uint32_t>& shard = shards_[hash >> kShardShift];
    return shard.empty() ? kNone : shard[place_of(shard, hash)];
  }

  std::uint64_t hash(std::uint32_t entry) const { return hashes_[entry & ~kOften]; }
  ObjectId member(std::uint32_t entry) const { return {input_of(entry), at(entry).object}; }
  std::string_view name(std::uint32_t entry) const { return inputs_[input_of(entry)].index_name(at(entry)); }

  /// ObjectSummary::defined, of the index.
  std::uint64_t defined_by(ObjectId member) const {
    const InputFacts& archive = inputs_[member.input];
    const auto first = hashes_.begin() + begins_[member.input];
    return std::accumulate(first + static_cast<std::ptrdiff_t>(archive.first_entry_of(member.object)),
                           first + static_cast<std::ptrdiff_t>(archive.first_entry_of(member.object + 1)),
                           std::uint64_t{0});
  }

  /// Of an archive's index, in its order. Empty where another input names it first.
  std::span<const std::uint64_t> hashes_of(std::size_t input) const {
    return std::span(hashes_).subspan(begins_[input], begins_[input + 1] - begins_[input]);
  }

 private:
  static constexpr int kShardShift = 62;

  std::size_t grain() const { return hashes_.size() < 10'000 ? inputs_.size() + shards_.size() : 1; }

  void hash_names(std::size_t input) {
    const std::string& strings = inputs_[input].index_strings;
    const char* const end = strings.data() + strings.size() + 1;
    std::uint64_t* hash = hashes_.data() + begins_[input];
    for (std::size_t n = 0; n < hashes_of(input).size(); ++n)
      *hash++ = hash_name(strings.data() + inputs_[input].index[n].symbol.offset, end).hash & ~kMentionBits;
  }

  /// Each shard has what begins with two bits.
  void fill(std::size_t which) {
    const auto is_ours = [&](std::uint64_t hash) { return hash >> kShardShift == which; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(hashes_, is_ours));
    if (count == 0) return;
    std::vector<std::uint32_t>& shard = shards_[which];
    shard.assign(std::bit_ceil(count + count / 2 + 1), kNone);  // one is free, where searches end
    for (std::uint32_t entry = 0; entry < hashes_.size(); ++entry) {
      if (!is_ours(hashes_[entry])) continue;
      std::uint32_t& slot = shard[place_of(shard, hashes_[entry])];
      slot = slot == kNone ? entry : slot | kOften;
    }
  }

  std::size_t place_of(const std::vector<std::uint32_t>& shard, std::uint64_t hash) const {
    std::size_t at = hash >> 16 & (shard.size() - 1);
    while (shard[at] != kNone && this->hash(shard[at]) != hash) at = (at + 1) & (shard.size() - 1);
    return at;
  }

  std::uint32_t input_of(std::uint32_t entry) const {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(begins_, entry & ~kOften) - begins_.begin()) - 1;
  }
  const IndexEntry& at(std::uint32_t entry) const {
    const std::uint32_t input = input_of(entry);
    return inputs_[input].index[(entry & ~kOften) - begins_[input]];
  }

  const std::vector<InputFacts>& inputs_;
  std::vector<std::uint32_t> begins_;  ///< of each input's entries
  std::vector<std::uint64_t> hashes_;  ///< by entry
  std::array<std::vector<std::uint32_t>, 4> shards_;
};

class LinkScan {
 public:
  LinkScan(const LinkJob& job, bool names_extractions) : job_(job), names_extractions_(names_extractions) {}

  LinkInputs run() {
    choose();
    sum_up();
    if (stop_ || loose_.empty()) return {};  // without objects, archives may be taken whole
    scan_others();
    take_members();
    if (!stop_) count();
    if (stop_) return all_names();
    stand_in();
    read_objects();
    read_members();
    if (stop_) return {};
    shorten_indexes();
    return {std::move(out_), NamesRead::AtStake};
  }

 private:
  struct Worker {
    ReadBuffer buffer;
    ObjectSummary summary;
    NameCounter counter;         ///< of objects that are linked for sure
    NameCounter member_counter;  ///< of members
    DataDefinitions data;
    std::vector<std::uint32_t> keys;  ///< key_of() the mentions of objects without groups
    std::vector<std::uint64_t> at_stake;
    KnownNames table;
    DataTable data_table;
    MemberReader members;
  };

  /// An object that need not be read again unless a name of it is at stake: one without groups.
  struct Plain {
    const Worker* reader = nullptr;  ///< null: it has to be read again
    std::size_t first_key = 0;       ///< into Worker::keys
    std::size_t keys = 0;
    std::uint64_t size = 0;  ///< of the file, bytes
    std::uint16_t machine = 0;
    ObjectSummary::Rest rest;
  };

  /// By some bits of their hashes: names at stake, and few others.
  class StakeKeys {
   public:
    static std::uint32_t key_of(std::uint64_t mention) { return static_cast<std::uint32_t>(mention >> (64 - kBits)); }

    explicit StakeKeys(const std::vector<std::uint64_t>& hashes)
        : shift_(std::max(kBits - kSpread - static_cast<int>(std::bit_width(hashes.size())), 0)),
          seen_(std::size_t{1} << (kBits - shift_)) {
      for (const std::uint64_t hash : hashes) seen_[key_of(hash) >> shift_] = true;
    }
    bool any_of(std::span<const std::uint32_t> keys) const {
      return std::any_of(keys.begin(), keys.end(), [&](std::uint32_t key) { return seen_[key >> shift_]; });
    }

   private:
    static constexpr int kBits = 22;
    static constexpr int kSpread = 14;  ///< few names need few pages, and still one key in 16,384 is taken for another
    int shift_;                         ///< so many bits of a key are not asked
    std::vector<bool> seen_;
  };

  /// One thread has done with it before another has started.
  bool is_small() const { return loose_.size() + 8 * members_.size() < 4 * kLooseGrain; }
  std::size_t grain() const { return is_small() ? loose_.size() : kLooseGrain; }

  /// The files that may be objects which are linked for sure.
  void choose() {
    plain_.resize(job_.inputs.size());
    needed_.resize(job_.inputs.size());
    loose_needs_.resize(job_.inputs.size());
    std::map<std::string_view, std::size_t> named;
    for (const LinkInput& input : job_.inputs) ++named[input.path];
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      const LinkInput& input = job_.inputs[i];
      const bool special = input.just_symbols || input.lazy || input.device_only || input.binary;
      if (!special && !input.path.ends_with(".a") && named[input.path] == 1) loose_.push_back(i);
    }
  }

  /// Those that are not plain objects are left out of loose_.
  void sum_up() {
    out_.resize(job_.inputs.size());
    std::vector<char> plain(loose_.size());
    for_each_parallel(loose_.size(), grain(), [&](std::size_t n) {
      if (!stop_) plain[n] = sum_up(loose_[n], workers_.local()) ? 1 : 0;
    });
    std::vector<std::size_t> kept;
    for (std::size_t n = 0; n < loose_.size(); ++n)
      if (plain[n] != 0) kept.push_back(loose_[n]);
    loose_ = std::move(kept);
  }

  bool sum_up(std::size_t i, Worker& worker) {
    if (is_facts(i)) return sum_up_facts(i, worker);
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(job_.inputs[i].path.c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      if (!summarize_object(image, SummaryOf::Stakes, worker.summary)) return false;
      add_summary(i, size, worker);
      return true;
    } catch (const InputError&) {
      return false;  // reported where it is scanned
    }
  }

  bool is_facts(std::size_t i) const { return !job_.inputs[i].facts.empty(); }

  static bool is_object(const InputFacts& facts) {
    return facts.kind == InputKind::Object && facts.objects.size() == 1 && facts.errors.empty();
  }

  /// Of an object that need not be read again what is left is kept.
  bool sum_up_facts(std::size_t i, Worker& worker) {
    InputFacts facts = scan_facts(job_.inputs[i], job_.lto);
    if (!is_object(facts)) return false;
    ObjectFacts& object = facts.objects.edit().front();
    if (!summarize_facts(object, SummaryOf::Stakes, worker.summary)) return false;
    add_summary(i, object.origin.size, worker);
    if (plain_[i].reader == nullptr) return true;
    object.lacks_symbols = !object.symbols.empty();
    object.lacks_exports = worker.summary.rest.exports;
    drop_names(object);
    out_[i] = std::move(facts);
    return true;
  }

  void add_summary(std::size_t i, std::uint64_t size, Worker& worker) {
    if (worker.summary.has_device_code) stop_ = true;  // its names are nvlink's too
    worker.counter.add({static_cast<std::uint32_t>(i), 0}, worker.summary.mentions);
    worker.data.add(worker.summary.data);
    needed_[i] = worker.summary.needs;
    note_plain(plain_[i], size, worker);
  }

  static void note_plain(Plain& plain, std::uint64_t size, Worker& worker) {
    const ObjectSummary& summary = worker.summary;
    if (summary.rest.groups) return;
    plain = {&worker, worker.keys.size(), summary.mentions.size(), size, summary.machine, summary.rest};
    for (const std::uint64_t mention : summary.mentions) worker.keys.push_back(StakeKeys::key_of(mention));
  }

  bool is_loose(std::size_t i) const { return std::ranges::binary_search(loose_, i); }

  void scan_others() {
    scan_where([&](std::size_t i) { return !is_loose(i); });
    for (std::size_t i = 0; i < job_.inputs.size(); ++i)
      if (!is_loose(i)) mention_names(out_[i]);
    for (const auto* names : {&job_.required, &job_.must_define})
      for (const std::string& name : *names) want(name);
    for (const std::string* name : {&job_.entry, &job_.init, &job_.fini}) want(*name);
  }

  template <class Test>
  void scan_where(const Test& test) {
    LinkJob some;
    some.lto = job_.lto;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      if (!test(i)) continue;
      places.push_back(i);
      some.inputs.push_back(job_.inputs[i]);
    }
    std::vector<InputFacts> facts = scan(some, 0, ArchiveReading::Index);
    for (std::size_t n = 0; n < places.size(); ++n) out_[places[n]] = std::move(facts[n]);
  }

  /// What the rest of the audit goes on with where names at stake are not enough. Members that were found stay
  /// unopened: the link may not take them, and then it does not matter what is wrong with them.
  LinkInputs all_names() {
    scan_where([&](std::size_t i) { return is_loose(i); });
    return {std::move(out_), NamesRead::All};
  }

  /// Those of shared objects and of members that are open.
  void mention_names(const InputFacts& input) {
    for (const ObjectFacts& object : input.objects)
      for (const Symbol& symbol : object.symbols)
        symbol.defined() ? mention(object.name(symbol)) : want(object.name(symbol));
    if (is_indexed(input)) return;
    for (const IndexEntry& entry : input.index) mention(input.index_name(entry));
  }

  void want(std::string_view name) {
    mention(name);
    wanted_.push_back(outside_.back() & ~kMentionBits);
  }

  void mention(std::string_view name) {
    const std::string copy(name);
    const NameHash hash = hash_name(copy.c_str(), copy.c_str() + copy.size() + 1);
    outside_.push_back(make_entry(hash.hash, MentionKind::Conditional, false));
  }

  // --- Members that may be taken: what is needed is looked for in the indexes, in the members found and so on, whatever
  // the order of the line.

  void take_members() {
    offers_.emplace(out_);
    if (offers_->empty()) return;
    taken_.resize(out_.size());
    for (std::size_t i = 0; i < out_.size(); ++i) taken_[i].resize(out_[i].objects.size());
    std::vector<ObjectId> found;
    for (const std::uint64_t hash : wanted_) take_for(offers_->find(hash), found);
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      loose_needs_[i] = offered(needed_[i]);
      for (const std::uint32_t entry : loose_needs_[i]) take_for(entry, found);
    }
    stop_ = names_extractions_ && !found.empty();
    while (!found.empty() && !stop_) {
      const std::size_t first = members_.size();
      members_.insert(members_.end(), found.begin(), found.end());
      member_needs_.resize(members_.size());
      found.clear();
      std::uint64_t bytes = 0;
      for (std::size_t m = first; m < members_.size(); ++m) bytes += origin_of(members_[m]).size;
      for_each_file(members_.size() - first, bytes, [&](std::size_t n) { sum_up_member(first + n, workers_.local()); });
      for (std::size_t m = first; m < members_.size(); ++m)
        for (const std::uint32_t entry : member_needs_[m]) take_for(entry, found);
    }
  }

  const Origin& origin_of(ObjectId member) const { return out_[member.input].objects[member.object].origin; }

  void take_for(std::uint32_t entry, std::vector<ObjectId>& found) {
    if (entry == kNone) return;
    const ObjectId member = offers_->member(entry);
    if (member.object == kNone || !out_[member.input].objects[member.object].unopened) return;
    if (taken_[member.input][member.object] != 0) return;
    taken_[member.input][member.object] = 1;
    found.push_back(member);
  }

  void sum_up_member(std::size_t m, Worker& worker) {
    const ObjectId id = members_[m];
    const ObjectSummary* summary = worker.members.summarize(origin_of(id), SummaryOf::Stakes);
    // An index may be older than its members.
    if (summary == nullptr || summary->has_device_code || summary->defined != offers_->defined_by(id)) {
      stop_ = true;
      return;
    }
    worker.member_counter.add(id, summary->mentions);
    worker.data.add(summary->data);
    member_needs_[m] = offered(summary->needs);
  }

  std::vector<std::uint32_t> offered(const std::vector<std::uint64_t>& hashes) const {
    std::vector<std::uint32_t> entries;
    for (const std::uint64_t hash : hashes)
      if (const std::uint32_t entry = offers_->find(hash); entry != kNone) entries.push_back(entry);
    return entries;
  }

  // --- Which names are at stake.

  struct Counters {
    std::vector<const NameCounter*> loose;
    std::vector<const NameCounter*> members;
    NameCounter outside;
    std::vector<const DataDefinitions*> data;
  };

  void count() {
    Counters counters;
    counters.outside.add({}, outside_);
    workers_.each([&](const Worker& worker) {
      counters.loose.push_back(&worker.counter);
      counters.members.push_back(&worker.member_counter);
      counters.data.push_back(&worker.data);
    });
    const std::size_t grain = is_small() ? NameCounter::kPartitions : 4;
    for_each_parallel(NameCounter::kPartitions, grain, [&](std::size_t i) { count_in(counters, i, workers_.local()); });
    workers_.each([&](const Worker& worker) {
      at_stake_.insert(at_stake_.end(), worker.at_stake.begin(), worker.at_stake.end());
    });
  }

  /// Of names that no object mentions nothing is asked.
  void count_in(const Counters& counters, std::size_t partition, Worker& worker) {
    std::size_t mentions = 0;
    for (const auto* some : {&counters.loose, &counters.members})
      for (const NameCounter* counter : *some) mentions += counter->mentions(partition);
    if (mentions == 0) return;
    KnownNames& table = worker.table;
    table.clear(mentions);
    const auto note = [&](ObjectId, std::uint64_t word) { table.note(word); };
    for (const NameCounter* counter : counters.loose) counter->each(partition, note);
    if (!offers_->empty()) table.note_linked();
    for (const NameCounter* counter : counters.members) counter->each(partition, note);
    counters.outside.each(partition, [&](ObjectId, std::uint64_t word) {
      if (table.slot(word) != 0) table.note(word);
    });
    const auto hash_of = [&](std::uint64_t slot) {
      return (slot & ~kKnownMask) | (partition << 4 & kKnownMask & ~kMentionBits);
    };
    for (const std::uint64_t slot : table.slots())
      if (slot != 0 && !is_settled(slot, hash_of(slot))) worker.at_stake.push_back(hash_of(slot));
    for (const std::uint64_t definition : worker.data_table.differing(counters.data, partition, table))
      worker.at_stake.push_back(hash_of(table.slot_of_data(definition)));
  }

  bool is_settled(std::uint64_t known, std::uint64_t hash) {
    const std::uint64_t definitions = known & kAnyDefinition;
    if (definitions == 0 && (known & kNeeded) != 0 && offers_->find(hash) == kNone) stop_ = true;  // undefined
    if ((known & kTls) != 0) return false;
    if (definitions == kInOwnGroup && (known & kNeeded) == 0) return true;
    if (definitions != kOneStrong && definitions != kInOwnGroup && definitions != kDefined) return false;
    const std::uint32_t offer = offers_->find(hash);
    const bool may_be_taken = (known & kByLinked) != 0 && (known & kNeeded) != 0;  // before the object comes
    return offer == kNone || ((offer & Offers::kOften) == 0 && !may_be_taken);
  }

  // --- One name of each member stands for all its names that are not at stake.

  void stand_in() {
    const HashedNames stakes(at_stake_);
    names_.resize(out_.size());
    for (const ObjectId member : members_) names_[member.input].resize(out_[member.input].objects.size(), kNone);
    const auto keep = [&](std::vector<std::uint32_t>& entries) {
      std::erase_if(entries, [&](std::uint32_t entry) {
        return (entry & Offers::kOften) != 0 || stakes.contains(offers_->hash(entry));
      });
      for (const std::uint32_t entry : entries) {
        std::uint32_t& name = name_for(offers_->member(entry));
        if (name == kNone || offers_->hash(entry) < offers_->hash(name)) name = entry;
      }
    };
    for (std::vector<std::uint32_t>& needs : loose_needs_) keep(needs);
    for (std::vector<std::uint32_t>& needs : member_needs_) keep(needs);
    std::vector<std::uint64_t> read = at_stake_;
    for (const std::vector<std::uint32_t>& names : names_)
      for (const std::uint32_t name : names)
        if (name != kNone) read.push_back(offers_->hash(name));
    stake_keys_.emplace(at_stake_);
    read_.emplace(read);
  }

  std::uint32_t& name_for(ObjectId member) { return names_[member.input][member.object]; }

  /// References to the names that stand for members which the object needs.
  void add_needs(std::span<const std::uint32_t> needs, ObjectFacts& object) {
    std::set<std::uint32_t> names;
    for (const std::uint32_t entry : needs) names.insert(name_for(offers_->member(entry)));
    for (const std::uint32_t entry : names) {
      const std::string_view name = offers_->name(entry);
      Symbol& reference = object.symbols.emplace_back();
      reference.name = {static_cast<std::uint32_t>(object.strings.size()), static_cast<std::uint32_t>(name.size())};
      reference.index = kNone;
      object.strings.append(name).push_back('\0');
    }
  }

  void read_members() {
    std::uint64_t bytes = 0;
    for (const ObjectId member : members_) bytes += origin_of(member).size;
    for_each_file(members_.size(), bytes, [&](std::size_t m) {
      const ObjectId id = members_[m];
      try {
        const Origin origin = origin_of(id);
        ObjectFacts object = workers_.local().members.read(origin, job_.lto, {&*read_, relocations_to_read(job_)});
        add_needs(member_needs_[m], object);
        out_[id.input].objects.open(id.object, std::move(object));
      } catch (const InputError&) {  // it was there a moment ago
        stop_ = true;
      }
    });
  }

  /// What is left out of the members is left out of their indexes.
  void shorten_indexes() {
    std::map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (!offers_->hashes_of(i).empty()) first.emplace(out_[i].path, i);
    for_each_parallel(out_.size(), first.size() < kLooseGrain ? out_.size() : 1, [&](std::size_t i) {
      const auto found = out_[i].kind == InputKind::Archive ? first.find(out_[i].path) : first.end();
      if (found == first.end()) return;
      const std::span<const std::uint64_t> hashes = offers_->hashes_of(found->second);
      std::vector<IndexEntry> kept;
      for (std::size_t n = 0; n < hashes.size(); ++n)
        if (read_->contains(hashes[n])) kept.push_back(out_[i].index[n]);
      out_[i].index = std::move(kept);
    });
  }

  void read_objects() {
    for_each_parallel(loose_.size(), grain(), [&](std::size_t n) { read_object(loose_[n], workers_.local()); });
  }

  void read_object(std::size_t i, Worker& worker) {
    if (!is_facts(i))
      out_[i] = read_object_file(i, worker);
    else if (may_matter(plain_[i]))
      out_[i] = read_facts(i);
    if (is_object(out_[i]) && !loose_needs_[i].empty()) add_needs(loose_needs_[i], out_[i].objects.edit().front());
  }

  InputFacts read_facts(std::size_t i) const {
    InputFacts facts = scan_facts(job_.inputs[i], job_.lto);
    if (is_object(facts)) keep_only(*read_, facts.objects.edit().front());
    return facts;
  }

  InputFacts read_object_file(std::size_t i, Worker& worker) const {
    const std::string& path = job_.inputs[i].path;
    InputFacts facts;
    facts.path = path;
    facts.kind = InputKind::Object;
    if (std::optional<ObjectFacts> object = without_names(i)) {
      facts.objects.edit().push_back(*std::move(object));
      return facts;
    }
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(path.c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      const Origin origin{path, {}, path, 0, size};
      std::optional<ObjectFacts> object = read_ordinary_object(image, origin, {&*read_, relocations_to_read(job_)});
      if (!object) return scan_input(path, job_.lto, ArchiveReading::Index);  // two groups of one name
      facts.objects.edit().push_back(*std::move(object));
    } catch (const InputError& error) {  // it was there a moment ago
      facts.kind = InputKind::Unreadable;
      facts.errors.push_back(error);
    }
    return facts;
  }

  /// May a name of it be at stake?
  bool may_matter(const Plain& plain) const {
    return plain.reader == nullptr ||
           stake_keys_->any_of(std::span(plain.reader->keys).subspan(plain.first_key, plain.keys));
  }

  /// What read_ordinary_object() would say of an object of which no name is at stake. Nothing: one may be.
  std::optional<ObjectFacts> without_names(std::size_t i) const {
    const Plain& plain = plain_[i];
    if (may_matter(plain)) return {};
    const std::string& path = job_.inputs[i].path;
    ObjectFacts object;
    object.origin = {path, {}, path, 0, plain.size};
    object.kind = ObjectKind::Relocatable;
    object.machine = plain.machine;
    object.is_64 = true;
    object.has_open_locals = plain.rest.open_locals;
    object.lacks_symbols = plain.keys != 0;
    object.lacks_exports = plain.rest.exports;
    return object;
  }

  const LinkJob& job_;
  const bool names_extractions_;
  std::vector<std::size_t> loose_;  ///< into LinkJob::inputs: objects that are linked for sure
  std::atomic<bool> stop_ = false;  ///< all names are read
  PerThread<Worker> workers_;
  std::vector<Plain> plain_;                        ///< by input
  std::vector<std::vector<std::uint64_t>> needed_;  ///< by input: hashes
  std::vector<std::uint64_t> outside_;              ///< mentions by other files and options
  std::vector<std::uint64_t> wanted_;               ///< hashes of what these need
  std::optional<Offers> offers_;
  std::vector<std::vector<char>> taken_;                  ///< [input][object]: it is one of members_
  std::vector<ObjectId> members_;                         ///< a member that may be taken
  std::vector<std::vector<std::uint32_t>> member_needs_;  ///< by member_: entries of indexes
  std::vector<std::vector<std::uint32_t>> loose_needs_;   ///< by input
  std::vector<std::vector<std::uint32_t>> names_;         ///< [input][object]: the entry whose name the member goes by
  std::vector<std::uint64_t> at_stake_;                   ///< hashes
  std::optional<HashedNames> read_;                       ///< these, and the names that stand for members
  std::optional<StakeKeys> stake_keys_;
  std::vector<InputFacts> out_;
};

}  // namespace

LinkInputs scan_at_stake(const LinkJob& job, bool names_extractions) {
  if (!has_plain_rules(job)) return {};
  return LinkScan(job, names_extractions).run();
}

}  // namespace elfaudit
