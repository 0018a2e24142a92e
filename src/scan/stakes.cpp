// The objects of a link command, read with only those names that are at stake (prefilter.hpp has the reasons).

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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

class LinkScan {
 public:
  explicit LinkScan(const LinkJob& job) : job_(job) {}

  /// Nothing where all names have to be read.
  std::optional<std::vector<InputFacts>> run() {
    choose();
    if (!pays()) return {};
    sum_up();
    if (stop_ || !pays()) return {};
    scan_others();
    count();
    read_objects();
    return std::move(out_);
  }

 private:
  struct Worker {
    ReadBuffer buffer;
    ObjectSummary summary;
    NameCounter counter;
    DataDefinitions data;
    std::vector<std::uint32_t> keys;  ///< key_of() the mentions of objects without groups
    std::vector<std::uint64_t> at_stake;
    KnownNames table;
    DataTable data_table;
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
  bool is_small() const { return loose_.size() < 4 * kLooseGrain; }
  std::size_t grain() const { return is_small() ? loose_.size() : kLooseGrain; }

  /// Where archives are most of a link, their indexes' names cost more than the objects' do.
  bool pays() const { return loose_.size() >= archives_; }

  /// The files that may be objects which are linked for sure.
  void choose() {
    plain_.resize(job_.inputs.size());
    std::map<std::string_view, std::size_t> named;
    for (const LinkInput& input : job_.inputs) ++named[input.path];
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      const LinkInput& input = job_.inputs[i];
      const bool special = input.just_symbols || input.lazy || input.device_only || input.binary;
      const bool archive = input.path.ends_with(".a");
      archives_ += archive ? 1 : 0;
      if (!special && !archive && named[input.path] == 1) loose_.push_back(i);
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
    note_plain(plain_[i], size, worker);
  }

  static void note_plain(Plain& plain, std::uint64_t size, Worker& worker) {
    const ObjectSummary& summary = worker.summary;
    if (summary.rest.groups) return;
    plain = {&worker, worker.keys.size(), summary.mentions.size(), size, summary.machine, summary.rest};
    for (const std::uint64_t mention : summary.mentions) worker.keys.push_back(StakeKeys::key_of(mention));
  }

  void scan_others() {
    LinkJob others;
    others.lto = job_.lto;
    std::vector<std::size_t> places;
    std::vector<bool> is_loose(job_.inputs.size());
    for (const std::size_t i : loose_) is_loose[i] = true;
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) {
      if (is_loose[i]) continue;
      places.push_back(i);
      others.inputs.push_back(job_.inputs[i]);
    }
    std::vector<InputFacts> facts = scan(others, 0, ArchiveReading::Index);
    for (std::size_t n = 0; n < places.size(); ++n) {
      out_[places[n]] = std::move(facts[n]);
      mention_names(out_[places[n]]);
    }
    for (const auto* names : {&job_.required, &job_.must_define})
      for (const std::string& name : *names) mention(name.c_str(), name.c_str() + name.size() + 1);
    for (const std::string* name : {&job_.entry, &job_.init, &job_.fini})
      mention(name->c_str(), name->c_str() + name->size() + 1);
  }

  /// Those of archives and shared objects.
  void mention_names(const InputFacts& input) {
    for (const IndexEntry& entry : input.index) mention_text(input.index_strings, entry.symbol);
    for (const ObjectFacts& object : input.objects)
      for (const Symbol& symbol : object.symbols) mention_text(object.strings, symbol.name);
  }

  void mention_text(const std::string& strings, Text text) {
    const char* const name = strings.data() + text.offset;
    if (name[text.size] == '\0' || name[text.size] == '@') return mention(name, strings.data() + strings.size() + 1);
    const std::string copy(name, text.size);
    mention(copy.c_str(), copy.c_str() + copy.size() + 1);
  }

  void mention(const char* name, const char* end) {
    outside_.push_back(make_entry(hash_name(name, end).hash, MentionKind::Conditional, false));
  }

  void count() {
    NameCounter outside;
    outside.add({}, outside_);
    std::vector<const NameCounter*> counters;
    std::vector<const DataDefinitions*> data;
    workers_.each([&](const Worker& worker) {
      counters.push_back(&worker.counter);
      data.push_back(&worker.data);
    });
    const std::size_t grain = is_small() ? NameCounter::kPartitions : 4;
    for_each_parallel(NameCounter::kPartitions, grain,
                      [&](std::size_t i) { count_in(counters, outside, data, i, workers_.local()); });
    std::vector<std::uint64_t> at_stake;
    workers_.each(
        [&](const Worker& worker) { at_stake.insert(at_stake.end(), worker.at_stake.begin(), worker.at_stake.end()); });
    at_stake_.emplace(at_stake);
    stake_keys_.emplace(at_stake);
  }

  /// Of names that no object mentions nothing is asked.
  static void count_in(std::span<const NameCounter* const> counters, const NameCounter& outside,
                       std::span<const DataDefinitions* const> data, std::size_t partition, Worker& worker) {
    std::size_t mentions = 0;
    for (const NameCounter* counter : counters) mentions += counter->mentions(partition);
    if (mentions == 0) return;
    worker.table.clear(mentions);
    for (const NameCounter* counter : counters)
      counter->each(partition, [&](ObjectId, std::uint64_t word) { worker.table.note(word); });
    outside.each(partition, [&](ObjectId, std::uint64_t word) {
      if (worker.table.slot(word) != 0) worker.table.note(word);
    });
    const auto stake = [&](std::uint64_t slot) {
      worker.at_stake.push_back((slot & ~kKnownMask) | (partition << 4 & kKnownMask & ~kMentionBits));
    };
    for (const std::uint64_t slot : worker.table.slots())
      if (slot != 0 && !is_settled(slot)) stake(slot);
    for (const std::uint64_t definition : worker.data_table.differing(data, partition, worker.table))
      stake(worker.table.slot_of_data(definition));
  }

  static bool is_settled(std::uint64_t known) {
    const std::uint64_t definitions = known & (kOneStrong | kManyStrong | kInOwnGroup | kUncertain | kDefined);
    return (known & kTls) == 0 && (definitions == kOneStrong || definitions == kInOwnGroup || definitions == kDefined);
  }

  void read_objects() {
    for_each_parallel(loose_.size(), grain(), [&](std::size_t n) { read_object(loose_[n], workers_.local()); });
  }

  void read_object(std::size_t i, Worker& worker) {
    if (!is_facts(i))
      out_[i] = read_object_file(i, worker);
    else if (may_matter(plain_[i]))
      out_[i] = read_facts(i);
  }

  InputFacts read_facts(std::size_t i) const {
    InputFacts facts = scan_facts(job_.inputs[i], job_.lto);
    if (is_object(facts)) keep_only(*at_stake_, facts.objects.edit().front());
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
      std::optional<ObjectFacts> object = read_ordinary_object(image, origin, {&*at_stake_, relocations_to_read(job_)});
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
  std::size_t archives_ = 0;
  std::vector<std::size_t> loose_;  ///< into LinkJob::inputs: objects that are linked for sure
  std::atomic<bool> stop_ = false;
  PerThread<Worker> workers_;
  std::vector<std::uint64_t> outside_;  ///< mentions by other files and options
  std::vector<Plain> plain_;            ///< by input
  std::optional<HashedNames> at_stake_;
  std::optional<StakeKeys> stake_keys_;
  std::vector<InputFacts> out_;
};

}  // namespace

std::optional<std::vector<InputFacts>> scan_at_stake(const LinkJob& job) {
  if (!has_plain_rules(job)) return {};
  return LinkScan(job).run();
}

}  // namespace elfaudit
