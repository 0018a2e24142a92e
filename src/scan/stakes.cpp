// The objects of a link command, read with only those names that are at stake (prefilter.hpp has the reasons).

#include <fmt/format.h>

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
#include <unordered_map>
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

/// What the indexes of a line's archives and its shared objects offer, by hashes. A shared object is a member of itself.
class Offers {
 public:
  struct Offer {
    std::uint64_t hash = 0;
    std::uint32_t member = kNone;  ///< the first that offers the name, by members(), with kOften; kNone: none does
  };

  Offers(const std::vector<InputFacts>& inputs, const std::vector<IndexHashes>& indexes)
      : inputs_(inputs), indexes_(indexes) {
    for (std::uint32_t i = 0; i < indexes.size(); ++i)
      for (std::uint32_t object = 0; object + 1 < indexes[i].begins.size(); ++object) members_.push_back({i, object});
    for_each_parallel(shards_.size(), members_.size() < 500 ? shards_.size() : 1, [&](std::size_t s) { fill(s); });
  }

  static constexpr std::uint32_t kOften = std::uint32_t{1} << 31;  ///< several members offer the name

  /// All that might offer something.
  const std::vector<ObjectId>& members() const { return members_; }

  Offer find(std::uint64_t hash) const {
    const std::vector<Offer>& shard = shards_[hash >> kShardShift];
    return shard.empty() ? Offer{} : shard[place_of(shard, hash)];
  }

  bool is_of_library(Offer offer) const {
    return inputs_[members_[offer.member & ~kOften].input].kind == InputKind::SharedObject;
  }

  /// ObjectSummary::defined, of the index.
  std::uint64_t defined_by(ObjectId member) const {
    const std::span<const std::uint64_t> hashes = hashes_of(member);
    return std::accumulate(hashes.begin(), hashes.end(), std::uint64_t{0});
  }

  std::span<const std::uint64_t> hashes_of(ObjectId member) const {
    const IndexHashes& index = indexes_[member.input];
    const std::uint32_t begin = index.begins[member.object];
    return std::span(index.hashes).subspan(begin, index.begins[member.object + 1] - begin);
  }

 private:
  static constexpr int kShardShift = 62;

  /// Each shard has what begins with two bits.
  void fill(std::size_t which) {
    const auto is_ours = [&](std::uint64_t hash) { return hash >> kShardShift == which; };
    std::size_t count = 0;
    for (const IndexHashes& index : indexes_)
      count += static_cast<std::size_t>(std::ranges::count_if(index.hashes, is_ours));
    if (count == 0) return;
    std::vector<Offer>& shard = shards_[which];
    shard.resize(std::bit_ceil(count + count / 4 + 1));  // one is free, where searches end
    for (std::uint32_t member = 0; member < members_.size(); ++member)
      for (const std::uint64_t hash : hashes_of(members_[member])) {
        if (!is_ours(hash)) continue;
        Offer& offer = shard[place_of(shard, hash)];
        offer = {hash, offer.member == kNone ? member : offer.member | kOften};
      }
  }

  static std::size_t place_of(const std::vector<Offer>& shard, std::uint64_t hash) {
    std::size_t at = hash >> 16 & (shard.size() - 1);
    while (shard[at].member != kNone && shard[at].hash != hash) at = (at + 1) & (shard.size() - 1);
    return at;
  }

  const std::vector<InputFacts>& inputs_;
  const std::vector<IndexHashes>& indexes_;
  std::vector<ObjectId> members_;
  std::array<std::vector<Offer>, 4> shards_;
};

class LinkScan {
 public:
  LinkScan(const LinkJob& job, bool names_extractions) : job_(job), names_extractions_(names_extractions) {}

  LinkInputs run() {
    choose();
    sum_up();
    if (stop_ || loose_.empty() || (names_extractions_ && loose_.size() < archives_)) return {};
    scan_others();
    take_members();
    if (!stop_) count();
    if (stop_) return all_names();
    name_members();
    read_objects();
    read_members();
    if (stop_) return all_names();
    write_indexes();
    shorten_libraries();
    repeat_what_is_named_again();
    return {std::move(out_), NamesRead::AtStake};
  }

 private:
  struct Worker {
    ReadBuffer buffer;
    ObjectSummary summary;
    NameCounter counter;         ///< of objects that are linked for sure
    NameCounter member_counter;  ///< of members
    DataDefinitions data;
    std::vector<std::uint32_t> keys;    ///< key_of() the mentions
    std::vector<std::uint64_t> direct;  ///< ObjectSummary::direct
    std::vector<DataExtent> reaches;    ///< and so on
    std::vector<DataExtent> extents;
    std::vector<std::uint64_t> at_stake;
    KnownNames table;
    DataTable data_table;
    MemberReader members;
  };

  /// What is left of a first look at an object: it is read again only if a name of it is at stake.
  struct FirstLook {
    const Worker* reader = nullptr;
    std::size_t first_key = 0;  ///< into Worker::keys
    std::size_t keys = 0;
    std::uint16_t machine = 0;
    ObjectSummary::Rest rest;
  };

  /// A member of an archive that may be taken.
  struct Member {
    std::uint32_t number;  ///< into Offers::members()
    std::vector<Offers::Offer> needs;
    FirstLook look;
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
    looks_.resize(job_.inputs.size());
    sizes_.resize(job_.inputs.size());
    indexes_.resize(job_.inputs.size());
    needed_.resize(job_.inputs.size());
    loose_needs_.resize(job_.inputs.size());
    std::map<std::string_view, std::size_t> named;
    for (const LinkInput& input : job_.inputs) is_first_.push_back(named[input.path]++ == 0 ? 1 : 0);
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      const LinkInput& input = job_.inputs[i];
      const bool special = input.just_symbols || input.lazy || input.device_only || input.binary;
      const bool archive = input.path.ends_with(".a");
      archives_ += archive ? 1 : 0;
      if (!special && !archive && named[input.path] == 1) loose_.push_back(i);
    }
    all_direct_ = !asks_who_is_needed();
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
      sizes_[i] = size;
      add_summary(i, worker);
      return true;
    } catch (const InputError&) {
      return false;  // reported where it is scanned
    }
  }

  /// In a program at a fixed place an object may need each name of a library in its own way.
  bool asks_who_is_needed() const { return !names_extractions_ && (archives_ != 0 || job_.pie); }

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
    add_summary(i, worker);
    if (looks_[i].rest.groups) return true;
    object.lacks_symbols = !object.symbols.empty();
    object.lacks_exports = worker.summary.rest.exports;
    drop_names(object);
    out_[i] = std::move(facts);
    return true;
  }

  void add_summary(std::size_t i, Worker& worker) {
    if (worker.summary.has_device_code) stop_ = true;  // its names are nvlink's too
    worker.counter.add({static_cast<std::uint32_t>(i), 0}, worker.summary.mentions);
    worker.data.add(worker.summary.data);
    if (asks_who_is_needed()) needed_[i] = worker.summary.needs;
    looks_[i] = first_look(worker.summary, worker);
  }

  /// Which groups are dropped matters to relocations that name what is in them: where these are not known, all are read.
  FirstLook first_look(const ObjectSummary& summary, Worker& worker) {
    if (summary.rest.unread_relocations) stop_ = true;
    worker.reaches.insert(worker.reaches.end(), summary.reaches.begin(), summary.reaches.end());
    worker.extents.insert(worker.extents.end(), summary.extents.begin(), summary.extents.end());
    if (!summary.rest.relocations.known) {
      if (summary.rest.groups) all_groups_ = true;
      if (!summary.needs.empty()) all_direct_ = true;
    }
    for (const std::uint64_t hash : summary.direct) worker.direct.push_back(mention_of(hash));
    FirstLook look{&worker, worker.keys.size(), summary.mentions.size(), summary.machine, summary.rest};
    for (const std::uint64_t mention : summary.mentions) worker.keys.push_back(StakeKeys::key_of(mention));
    return look;
  }

  bool is_loose(std::size_t i) const { return std::ranges::binary_search(loose_, i); }

  void scan_others() {
    // Which name a member is taken for, no hash tells. Then those of indexes are mentioned too.
    scan_where([&](std::size_t i) { return !is_loose(i); }, names_extractions_ ? Indexes::Kept : Indexes::Hashed);
    for (std::size_t i = 0; i < job_.inputs.size(); ++i)
      if (!is_loose(i)) mention_names(i);
    offers_.emplace(out_, indexes_);
    for (const auto* names : {&job_.required, &job_.must_define})
      for (const std::string& name : *names) want(name);
    for (const std::string* name : {&job_.entry, &job_.init, &job_.fini}) want(*name);
  }

  enum class Indexes : std::uint8_t { Hashed, Kept };

  template <class Test>
  void scan_where(const Test& test, Indexes how) {
    LinkJob some;
    some.lto = job_.lto;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      if (!test(i)) continue;
      places.push_back(i);
      some.inputs.push_back(job_.inputs[i]);
    }
    std::vector<IndexHashes> indexes;
    std::vector<InputFacts> facts = scan(some, 0, ArchiveReading::Index, how == Indexes::Hashed ? &indexes : nullptr);
    for (std::size_t n = 0; n < places.size(); ++n) out_[places[n]] = std::move(facts[n]);
    for (std::size_t n = 0; n < indexes.size(); ++n) indexes_[places[n]] = std::move(indexes[n]);
  }

  /// What the rest of the audit goes on with where names at stake are not enough. Members that were found stay
  /// unopened: the link may not take them, and then it does not matter what is wrong with them.
  LinkInputs all_names() {
    const auto is_hashed = [&](std::size_t i) {
      return out_[i].kind == InputKind::Archive && out_[i].has_index && out_[i].index.empty();
    };
    scan_where([&](std::size_t i) { return is_loose(i) || is_hashed(i); }, Indexes::Kept);
    return {std::move(out_), NamesRead::All};
  }

  /// Those of shared objects and of members that are open.
  void mention_names(std::size_t i) {
    const InputFacts& input = out_[i];
    if (input.kind == InputKind::SharedObject && is_first_[i] == 0) return;  // named twice: libgcc_s
    const bool library = input.kind == InputKind::SharedObject && !names_extractions_;
    std::vector<std::uint64_t> defined;  // which any object may need
    std::vector<std::uint64_t> others;
    for (const ObjectFacts& object : input.objects) {
      for (const Symbol& symbol : object.symbols) {
        const std::uint64_t name = hash_of(object.name(symbol));
        if (!symbol.defined()) wanted_.push_back(name);
        if (has_compared_size(symbol, object.name(symbol))) extents_.push_back({name, symbol.size});
        const bool plain = library && is_plain_in_library(symbol);
        (!plain ? others : symbol.defined() ? defined : by_libraries_).push_back(name);
      }
      for (const Group& group : object.groups) mention(object.text(group.signature));
    }
    // No object gets an older version of a name that has a default one: memcpy@GLIBC_2.2.5.
    const HashedNames defaults(defined);
    for (const std::uint64_t name : others)
      if (!defaults.contains(name)) outside_.push_back(mention_of(name));
    by_libraries_.insert(by_libraries_.end(), defined.begin(), defined.end());
    if (library) indexes_[i] = {defined, {0, static_cast<std::uint32_t>(defined.size())}};
    for (const IndexEntry& entry : input.index) mention(input.index_name(entry));
  }

  /// Does it not matter to an object which of such symbols of a library it needs?
  static bool is_plain_in_library(const Symbol& symbol) {
    if (!symbol.defined()) return true;
    return (symbol.version.empty() || symbol.default_version) && symbol.type != SymbolType::Tls &&
           symbol.placement != Placement::Absolute;
  }

  void want(std::string_view name) {
    mention(name);
    wanted_.push_back(hash_of(name));
  }

  void mention(std::string_view name) { outside_.push_back(mention_of(hash_of(name))); }

  /// For a NameCounter. Nothing is asked of how.
  static std::uint64_t mention_of(std::uint64_t hash) { return make_entry(hash, MentionKind::Defined, false); }

  static std::uint64_t hash_of(std::string_view name) {
    const std::string copy(name);
    return hash_name(copy.c_str(), copy.c_str() + copy.size() + 1).hash & ~kMentionBits;
  }

  // --- Members that may be taken: what is needed is looked for in the indexes, in the members found and so on, whatever
  // the order of the line.

  void take_members() {
    is_taken_.resize(offers_->members().size());
    std::vector<std::uint32_t> found;
    for (const std::uint64_t hash : wanted_) take_for(offers_->find(hash), found);
    for_each_parallel(needed_.size(), grain(), [&](std::size_t i) { loose_needs_[i] = offered(needed_[i]); });
    for (const std::vector<Offers::Offer>& needs : loose_needs_)
      for (const Offers::Offer offer : needs) take_for(offer, found);
    while (!found.empty() && !stop_) {
      const std::size_t first = members_.size();
      std::uint64_t bytes = 0;
      for (const std::uint32_t number : found) {
        members_.push_back({number, {}, {}});
        bytes += origin_of(members_.back()).size;
      }
      found.clear();
      for_each_file(members_.size() - first, bytes,
                    [&](std::size_t n) { sum_up_member(members_[first + n], workers_.local()); });
      for (std::size_t m = first; m < members_.size(); ++m)
        for (const Offers::Offer offer : members_[m].needs) take_for(offer, found);
    }
  }

  ObjectId id_of(const Member& member) const { return offers_->members()[member.number]; }

  const Origin& origin_of(const Member& member) const {
    const ObjectId id = id_of(member);
    return out_[id.input].objects[id.object].origin;
  }

  void take_for(Offers::Offer offer, std::vector<std::uint32_t>& found) {
    if (offer.member == kNone) return;
    const std::uint32_t number = offer.member & ~Offers::kOften;
    const ObjectId id = offers_->members()[number];
    if (is_taken_[number] != 0 || !out_[id.input].objects[id.object].unopened) return;
    is_taken_[number] = 1;
    found.push_back(number);
  }

  void sum_up_member(Member& member, Worker& worker) {
    const ObjectId id = id_of(member);
    const ObjectSummary* summary = worker.members.summarize(origin_of(member), SummaryOf::Stakes);
    // An index may be older than its members.
    if (summary == nullptr || summary->has_device_code || summary->defined != offers_->defined_by(id)) {
      stop_ = true;
      return;
    }
    worker.member_counter.add(id, summary->mentions);
    worker.data.add(summary->data);
    member.needs = offered(summary->needs);
    member.look = first_look(*summary, worker);
  }

  std::vector<Offers::Offer> offered(const std::vector<std::uint64_t>& hashes) const {
    std::vector<Offers::Offer> offers;
    offers.reserve(hashes.size() / 2);
    for (const std::uint64_t hash : hashes)
      if (const Offers::Offer offer = offers_->find(hash); offer.member != kNone) offers.push_back(offer);
    return offers;
  }

  // --- Which names are at stake.

  struct Counters {
    std::vector<const NameCounter*> loose;
    std::vector<const NameCounter*> members;
    NameCounter outside;       ///< files of other kinds, options
    NameCounter by_libraries;  ///< those that objects may need like any other of a library
    NameCounter direct;        ///< those that some object does not need so
    std::vector<const DataDefinitions*> data;
  };

  void count() {
    Counters counters;
    counters.outside.add({}, outside_);
    for (std::uint64_t& name : by_libraries_) name = mention_of(name);
    counters.by_libraries.add({}, by_libraries_);
    workers_.each([&](const Worker& worker) {
      counters.direct.add({}, worker.direct);
      counters.loose.push_back(&worker.counter);
      counters.members.push_back(&worker.member_counter);
      counters.data.push_back(&worker.data);
    });
    const std::size_t grain = is_small() ? NameCounter::kPartitions : 4;
    for_each_parallel(NameCounter::kPartitions, grain, [&](std::size_t i) { count_in(counters, i, workers_.local()); });
    workers_.each([&](const Worker& worker) {
      at_stake_.insert(at_stake_.end(), worker.at_stake.begin(), worker.at_stake.end());
    });
    compare_reaches();
  }

  /// Data that some object may reach past the end of.
  void compare_reaches() {
    std::unordered_map<std::uint64_t, std::uint64_t> farthest;  // by name
    workers_.each([&](const Worker& worker) {
      for (const DataExtent& reach : worker.reaches) {
        std::uint64_t& end = farthest[reach.name];
        end = std::max(end, reach.bytes);
      }
    });
    if (farthest.empty()) return;
    const auto compare = [&](const DataExtent& definition) {
      const auto reach = farthest.find(definition.name);
      if (reach != farthest.end() && reach->second >= definition.bytes) past_end_.push_back(definition.name);
    };
    workers_.each([&](const Worker& worker) { std::ranges::for_each(worker.extents, compare); });
    std::ranges::for_each(extents_, compare);
    at_stake_.insert(at_stake_.end(), past_end_.begin(), past_end_.end());
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
    if (!members_.empty()) table.note_linked();
    for (const NameCounter* counter : counters.members) counter->each(partition, note);
    const auto add = [&](const NameCounter& counter, Known known) {
      counter.each(partition, [&](ObjectId, std::uint64_t word) { table.add_if_noted(word, known); });
    };
    add(counters.outside, kUncertain);
    add(counters.by_libraries, kByLibrary);
    add(counters.direct, kDirect);
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
    const bool needed = (known & kNeeded) != 0;
    const bool alone = definitions == kOneStrong || definitions == kInOwnGroup || definitions == kDefined;
    if ((known & kByLibrary) == 0 && alone && !needed) return (known & kTls) == 0;  // no member is taken for it
    const Offers::Offer offer = offers_->find(hash);
    const bool offered = offer.member != kNone;
    if (definitions == 0 && needed && !offered) stop_ = true;  // undefined
    if ((known & kTls) != 0 || (offered && (offer.member & Offers::kOften) != 0)) return false;
    if (definitions == 0 && offered)
      return needed && (known & kDirect) == 0 && !all_direct_ && offers_->is_of_library(offer);
    if ((known & kByLibrary) != 0 || !alone) return false;
    const bool may_be_taken = (known & kByLinked) != 0;  // before the object comes
    return !offered || !may_be_taken;
  }

  // --- Of the names of a member that are not at stake, it only matters that someone needs the member. One made up for it
  // is enough: each object that needs any of them gets a reference to that one.

  void name_members() {
    stakes_.emplace(at_stake_);
    stake_keys_.emplace(at_stake_);
    is_named_.resize(offers_->members().size());
    for (std::vector<Offers::Offer>& needs : loose_needs_) name_needed(needs);
    for (Member& member : members_) name_needed(member.needs);
  }

  /// Of what an object needs one name of each member is left.
  void name_needed(std::vector<Offers::Offer>& needs) {
    std::erase_if(needs, [&](Offers::Offer offer) {
      return (offer.member & Offers::kOften) != 0 || stakes_->contains(offer.hash);
    });
    std::ranges::sort(needs, {}, &Offers::Offer::member);
    const auto same = [](Offers::Offer a, Offers::Offer b) { return a.member == b.member; };
    needs.erase(std::unique(needs.begin(), needs.end(), same), needs.end());
    for (const Offers::Offer offer : needs) is_named_[offer.member] = 1;
  }

  /// No name of a file is like that: it begins with a NUL.
  static std::string made_up_name(std::uint32_t member) { return fmt::format("{}{}", '\0', member); }

  static Text add_text(std::string_view text, std::string& strings) {
    const Text added{static_cast<std::uint32_t>(strings.size()), static_cast<std::uint32_t>(text.size())};
    strings.append(text).push_back('\0');
    return added;
  }

  static Symbol& add_made_up(std::uint32_t member, ObjectFacts& object) {
    Symbol& symbol = object.symbols.emplace_back();
    symbol.name = add_text(made_up_name(member), object.strings);
    symbol.index = kNone;
    return symbol;
  }

  static void add_needs(std::span<const Offers::Offer> needs, ObjectFacts& object) {
    for (const Offers::Offer offer : needs) add_made_up(offer.member, object);
  }

  static void add_definition(std::uint32_t member, ObjectFacts& object) {
    Symbol& definition = add_made_up(member, object);
    definition.placement = Placement::InSection;
    definition.section = static_cast<std::uint32_t>(object.sections.size());
    Section& section = object.sections.emplace_back();
    section.index = kNone;
    section.alloc = true;
  }

  void read_members() {
    std::uint64_t bytes = 0;
    for (const Member& member : members_) bytes += origin_of(member).size;
    for_each_file(members_.size(), bytes, [&](std::size_t m) {
      const Member& member = members_[m];
      const ObjectId id = id_of(member);
      try {
        ObjectFacts object = read_member(member);
        if (is_named_[member.number] != 0) add_definition(member.number, object);
        add_needs(member.needs, object);
        out_[id.input].objects.open(id.object, std::move(object));
      } catch (const InputError&) {  // it was there a moment ago
        stop_ = true;
      }
    });
  }

  ObjectFacts read_member(const Member& member) {
    const Origin origin = origin_of(member);
    if (!may_matter(member.look)) return without_names(member.look, origin);
    ObjectFacts object = workers_.local().members.read(origin, job_.lto, wanted());
    add_relocations(member.look, object);
    return object;
  }

  /// What the first look at it says. Where each member's reason to be taken is reported, members have had no first look, so
  /// that their data is not compared yet.
  void add_relocations(const FirstLook& look, ObjectFacts& object) const {
    object.relocations = look.rest.relocations;
    if (past_end_.empty() && !names_extractions_) object.reaches.emplace();
  }

  FactsWanted wanted() const { return {&*stakes_, false, all_groups_}; }

  /// Of the names of archives' indexes those that are at stake, which objects have been read with, and the made up ones.
  void write_indexes() {
    std::unordered_map<std::uint64_t, std::string> names;
    for (std::size_t i = 0; i < out_.size(); ++i)
      for (const ObjectFacts& object : out_[i].objects) note_names(object, names);
    for (std::uint32_t number = 0; number < offers_->members().size(); ++number) {
      const ObjectId id = offers_->members()[number];
      InputFacts& input = out_[id.input];
      if (input.kind == InputKind::SharedObject) continue;
      const auto add = [&](std::string_view name) {
        input.index.push_back({add_text(name, input.index_strings), id.object});
      };
      if (is_named_[number] != 0) add(made_up_name(number));
      for (const std::uint64_t hash : offers_->hashes_of(id))
        if (stakes_->contains(hash))
          if (const auto name = names.find(hash); name != names.end()) add(name->second);
    }
  }

  void repeat_what_is_named_again() {
    std::map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].kind != InputKind::Archive && out_[i].kind != InputKind::SharedObject) continue;
      const InputFacts& named = out_[first.try_emplace(out_[i].path, i).first->second];
      if (&named == &out_[i]) continue;
      out_[i].objects = named.objects;
      out_[i].index = named.index;
      out_[i].index_strings = named.index_strings;
    }
  }

  /// Of what libraries define that is left which is at stake, or which files other than plain objects mention.
  void shorten_libraries() {
    std::vector<std::uint64_t> asked = at_stake_;
    asked.insert(asked.end(), wanted_.begin(), wanted_.end());
    for (const std::uint64_t mention : outside_) asked.push_back(mention & ~kMentionBits);
    const HashedNames kept(asked);
    for (std::uint32_t number = 0; number < offers_->members().size(); ++number) {
      InputFacts& input = out_[offers_->members()[number].input];
      if (input.kind == InputKind::SharedObject) shorten_library(number, kept, input.objects.edit().front());
    }
  }

  void shorten_library(std::uint32_t number, const HashedNames& kept, ObjectFacts& library) const {
    const auto is_plain = [](const Symbol& symbol) { return symbol.defined() && is_plain_in_library(symbol); };
    const auto any = std::ranges::find_if(library.symbols, is_plain);
    if (any == library.symbols.end()) return;
    Symbol made_up = *any;  // like one of its own
    std::erase_if(library.symbols, [&](const Symbol& symbol) {
      return is_plain(symbol) && !kept.contains(hash_of(library.name(symbol)));
    });
    if (is_named_[number] == 0) return;
    made_up.name = add_text(made_up_name(number), library.strings);
    made_up.index = kNone;
    library.symbols.push_back(made_up);
  }

  static void note_names(const ObjectFacts& object, std::unordered_map<std::uint64_t, std::string>& names) {
    if (object.kind != ObjectKind::Relocatable) return;
    for (const Symbol& symbol : object.symbols) {
      if (symbol.index == kNone) continue;
      std::string name(object.name(symbol));
      const std::uint64_t hash = hash_name(name.c_str(), name.c_str() + name.size() + 1).hash & ~kMentionBits;
      names.try_emplace(hash, std::move(name));
    }
  }

  void read_objects() {
    for_each_parallel(loose_.size(), grain(), [&](std::size_t n) { read_object(loose_[n], workers_.local()); });
  }

  void read_object(std::size_t i, Worker& worker) {
    if (!is_facts(i))
      out_[i] = read_object_file(i, worker);
    else if (may_matter(looks_[i]))
      out_[i] = read_facts(i);
    if (is_object(out_[i]) && !loose_needs_[i].empty()) add_needs(loose_needs_[i], out_[i].objects.edit().front());
  }

  InputFacts read_facts(std::size_t i) const {
    InputFacts facts = scan_facts(job_.inputs[i], job_.lto);
    if (is_object(facts)) keep_only(*stakes_, facts.objects.edit().front());
    return facts;
  }

  InputFacts read_object_file(std::size_t i, Worker& worker) const {
    const std::string& path = job_.inputs[i].path;
    InputFacts facts;
    facts.path = path;
    facts.kind = InputKind::Object;
    const FirstLook& look = looks_[i];
    if (!may_matter(look)) {
      facts.objects.edit().push_back(without_names(look, {path, {}, path, 0, sizes_[i]}));
      return facts;
    }
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(path.c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      const Origin origin{path, {}, path, 0, size};
      std::optional<ObjectFacts> object = read_ordinary_object(image, origin, wanted());
      if (!object)  // two groups of one name
        facts = scan_input(path, job_.lto, ArchiveReading::Index);
      else
        facts.objects.edit().push_back(*std::move(object));
      if (is_object(facts)) add_relocations(look, facts.objects.edit().front());
    } catch (const InputError& error) {  // it was there a moment ago
      facts.kind = InputKind::Unreadable;
      facts.errors.push_back(error);
    }
    return facts;
  }

  /// May a name of it be at stake?
  bool may_matter(const FirstLook& look) const {
    return stake_keys_->any_of(std::span(look.reader->keys).subspan(look.first_key, look.keys)) ||
           (all_groups_ && look.rest.groups);
  }

  /// What read_ordinary_object() would say of an object of which no name is at stake.
  static ObjectFacts without_names(const FirstLook& look, Origin origin) {
    ObjectFacts object;
    object.origin = std::move(origin);
    object.kind = ObjectKind::Relocatable;
    object.machine = look.machine;
    object.is_64 = true;
    object.has_open_locals = look.rest.open_locals;
    object.lacks_symbols = look.keys != 0;
    object.lacks_exports = look.rest.exports;
    object.relocations = look.rest.relocations;
    return object;
  }

  const LinkJob& job_;
  const bool names_extractions_;
  std::vector<char> is_first_;      ///< by input: of its path
  std::vector<std::size_t> loose_;  ///< into LinkJob::inputs: objects that are linked for sure
  std::size_t archives_ = 0;        ///< files that look like these
  std::atomic<bool> stop_ = false;  ///< all names are read
  PerThread<Worker> workers_;
  std::atomic<bool> all_groups_ = false;            ///< all groups are read
  std::atomic<bool> all_direct_ = false;            ///< all needs are as if Counters::direct had them
  std::vector<FirstLook> looks_;                    ///< by input
  std::vector<std::uint64_t> sizes_;                ///< by input: of the file, bytes
  std::vector<std::vector<std::uint64_t>> needed_;  ///< by input: hashes
  std::vector<std::uint64_t> outside_;              ///< hashes of what other files and options mention
  std::vector<std::uint64_t> by_libraries_;         ///< Counters::by_libraries
  std::vector<std::uint64_t> wanted_;               ///< hashes of what these need
  std::vector<DataExtent> extents_;                 ///< of the data that these define
  std::vector<std::uint64_t> past_end_;             ///< hashes of data that an object may reach past the end of
  std::vector<IndexHashes> indexes_;                ///< by input
  std::optional<Offers> offers_;
  std::vector<Member> members_;
  std::vector<char> is_taken_;                           ///< by Offers::members(): it is one of members_
  std::vector<char> is_named_;                           ///< the same: there is a name made up for it
  std::vector<std::vector<Offers::Offer>> loose_needs_;  ///< by input
  std::vector<std::uint64_t> at_stake_;                  ///< hashes
  std::optional<HashedNames> stakes_;                    ///< these
  std::optional<StakeKeys> stake_keys_;
  std::vector<InputFacts> out_;
};

}  // namespace

LinkInputs scan_at_stake(const LinkJob& job, bool names_extractions) {
  if (!has_plain_rules(job)) return {};
  return LinkScan(job, names_extractions).run();
}

}  // namespace elfaudit
