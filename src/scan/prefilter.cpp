// The prefilter: names of all files by hash, and which files must be read in full.

#include "scan/prefilter.hpp"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/archive.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/resolution.hpp"
#include "scan/device/device_code.hpp"
#include "scan/mentions.hpp"
#include "scan/object_reader.hpp"
#include "scan/scan.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/name_hash.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- Whether a name is thread-local for one object and not for another, which no linker takes: asked of all names, of
// which hardly any is thread-local, so that the first bytes of the others are enough, four bytes each, until one is
// met.

namespace {

/// What one thread has read.
class NameStarts {
 public:
  void add(const ObjectSummary& summary) {
    thread_local_.insert(thread_local_.end(), summary.thread_local_starts.begin(), summary.thread_local_starts.end());
    for (std::span<const std::uint32_t> starts = summary.plain_starts; !starts.empty();) {
      if (left_ == 0) add_chunk();
      const std::size_t count = std::min(left_, starts.size());
      left_ -= count;
      std::memcpy(starts_ + left_, starts.data(), count * sizeof(std::uint32_t));
      starts = starts.subspan(count);
    }
  }

  /// May a name of all these be both? When not, none is.
  static bool may_clash(std::span<const NameStarts* const> all) {
    std::vector<std::uint32_t> wanted;
    for (const NameStarts* starts : all)
      wanted.insert(wanted.end(), starts->thread_local_.begin(), starts->thread_local_.end());
    if (wanted.empty()) return false;
    std::sort(wanted.begin(), wanted.end());
    std::bitset<std::size_t{1} << (32 - kShift)> seen;  // by their first bits: answers for nearly all others
    for (const std::uint32_t start : wanted) seen.set(start >> kShift);
    return std::any_of(all.begin(), all.end(), [&](const NameStarts* starts) {
      return starts->any_plain([&](std::uint32_t start) {
        return seen[start >> kShift] && std::binary_search(wanted.begin(), wanted.end(), start);
      });
    });
  }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 16;
  static constexpr std::size_t kChunk = kHugePage / sizeof(std::uint32_t);
  static constexpr int kShift = 16;

  struct Chunk {
    Pages bytes;
    std::span<std::uint32_t> starts;  ///< filled from the end
  };

  void add_chunk() {
    left_ = chunks_.empty() ? kFirstChunk : kChunk;
    Pages bytes = make_pages(left_ * sizeof(std::uint32_t));
    const std::span starts(reinterpret_cast<std::uint32_t*>(bytes.get()), left_);
    starts_ = starts.data();
    chunks_.push_back({std::move(bytes), starts});
  }

  template <class Test>
  bool any_plain(const Test& test) const {
    return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
      const auto written = chunk.starts.subspan(&chunk == &chunks_.back() ? left_ : 0);
      return std::any_of(written.begin(), written.end(), test);
    });
  }

  std::vector<std::uint32_t> thread_local_;
  std::vector<Chunk> chunks_;        ///< of plain starts
  std::uint32_t* starts_ = nullptr;  ///< of the last chunk, of which
  std::size_t left_ = 0;             ///< are not written
};

// --- Names that would make a linker take a member of an archive in, as hashes: asked of every name of every index, of
// which hardly any is one, so that the ends of the others are enough.

class WantedNames {
 public:
  /// Of a SummaryOf::Wants.
  void add(const ObjectSummary& summary) {
    for (const std::uint64_t mention : summary.mentions)
      if (may_want(static_cast<MentionKind>(mention & kKindMask))) hashes_.push_back(mention & ~kMentionBits);
    ends_.insert(ends_.end(), summary.wanted_ends.begin(), summary.wanted_ends.end());
  }

  void add(const WantedNames& others) {
    hashes_.insert(hashes_.end(), others.hashes_.begin(), others.hashes_.end());
    ends_.insert(ends_.end(), others.ends_.begin(), others.ends_.end());
  }

  /// Before the first question.
  void sort() {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    for (const std::uint32_t end : ends_) seen_.set(end >> kShift);
  }

  /// Is one of them among these names, each of which ends in a NUL?
  bool any_of(std::string_view names) const {
    const char* end = names.data() + names.size();
    for (const char* name = names.data(); name != end;) {
      const std::size_t length = std::strlen(name);
      if (seen_[hash_end(name, length) >> kShift] && has(hash_name(name, end).hash & ~kMentionBits)) return true;
      name += length + 1;
    }
    return false;
  }

 private:
  static constexpr int kShift = 14;

  bool has(std::uint64_t hash) const { return std::binary_search(hashes_.begin(), hashes_.end(), hash); }

  std::vector<std::uint64_t> hashes_;                  // ascending once sorted
  std::vector<std::uint32_t> ends_;                    // hash_end() of the same names
  std::bitset<std::size_t{1} << (32 - kShift)> seen_;  // ends, by their first bits
};

constexpr std::size_t kMemberGrain = 8;
constexpr std::uint64_t kLargeArchive = 64 << 20;  // bytes; those of LLVM have up to 40 MB

struct Worker {
  ReadBuffer buffer;
  ReadBuffer kept;  ///< what an archive's reader keeps meanwhile
  ObjectSummary summary;
  NameCounter counter;
  NameStarts starts;
  WantedNames wanted;
  DataDefinitions data;
};

/// All that is left of a summary where it was.
struct Summarized {
  std::uint16_t machine = 0;
  bool has_device_code = false;
};

void make_thin(ObjectFacts& object, Summarized summarized) {
  object.kind = ObjectKind::Relocatable;
  object.machine = summarized.machine;
  object.has_device_code = summarized.has_device_code;
}

class PrefilterRun {
 public:
  /// `inputs`: what the paths are of, where that is known.
  PrefilterRun(const std::vector<std::string>& paths, const std::vector<LinkInput>* inputs, SummaryOf what)
      : paths_(paths), inputs_(inputs), what_(what), out_(paths.size()) {}

  std::optional<Prefilter> run() {
    if (named_twice()) return std::nullopt;
    std::vector<std::size_t> objects;
    std::vector<std::size_t> archives;
    for (std::size_t i = 0; i < paths_.size(); ++i) (named_archive(i) ? archives : objects).push_back(i);
    archives_follow_ = !archives.empty();
    read_files(objects, kLooseGrain);
    beside_objects_ = any_loose_;
    if (beside_objects_ && archives_follow_) sum_up_wanted();
    read_files(archives, 1);
    if (stop_ || (any_loose_ && any_archive_ && misnamed_)) return std::nullopt;
    if (thread_local_names_may_clash()) return std::nullopt;
    const NameCounts result = count_all();
    if (result.ambiguous || result.data_differs || !read_in_full(result.candidates)) return std::nullopt;
    const bool all_seen = what_ == SummaryOf::Everything;
    return Prefilter{std::move(out_), all_seen ? std::optional(result.undefined) : std::nullopt, 0};
  }

  /// Starts of names are alike, so that names as a whole have to be compared.
  bool needs_everything() const { return needs_everything_; }

 private:
  bool named_twice() const {
    std::unordered_set<std::string_view> seen(paths_.size());
    return !std::all_of(paths_.begin(), paths_.end(),
                        [&](const std::string& path) { return seen.insert(path).second; });
  }

  bool named_archive(std::size_t i) const { return paths_[i].ends_with(".a"); }

  void read_files(const std::vector<std::size_t>& files, std::size_t grain) {
    for_each_parallel(files.size(), grain, [&](std::size_t i) {
      if (!stop_) read_file(files[i], workers_.local());
    });
  }

  void sum_up_wanted() {
    workers_.each([&](const Worker& worker) { wanted_.add(worker.wanted); });
    wanted_.sort();
  }

  /// Null: the file is read itself.
  const LinkInput* facts_of(std::size_t i) const {
    return inputs_ != nullptr && !(*inputs_)[i].facts.empty() ? &(*inputs_)[i] : nullptr;
  }

  void read_file(std::size_t i, Worker& worker) {
    if (const LinkInput* input = facts_of(i)) return read_facts(i, *input, worker);
    progress_step();
    try {
      std::uint64_t size = 0;
      const FileDescriptor fd = open_for_reading(paths_[i].c_str(), &size);
      ObjectImage image(fd.get(), 0, size, worker.buffer);
      const std::size_t head_size = std::min(image.size(), ReadAhead::kHead);
      const std::span head(image.at(0, head_size), head_size);
      const FileKind kind = file_kind(head.first(std::min(head_size, kMagicSize)));
      if ((kind == FileKind::Archive) != named_archive(i)) misnamed_ = true;
      if (kind == FileKind::Archive)
        read_archive_file(i, fd.get(), size, head, worker);
      else if (kind != FileKind::Elf)
        give_up();  // a linker script, a device file, a thin archive
      else if (summarize_object(image, archives_follow_ ? SummaryOf::Wants : what_, worker.summary))
        add_loose(i, size, worker);
      else
        read_by_other_reader(i, worker);
    } catch (const InputError&) {
      give_up();  // reported where the line is read
    }
  }

  void give_up() { stop_ = true; }

  void add_loose(std::size_t i, std::uint64_t size, Worker& worker) {
    any_loose_ = true;
    InputFacts& facts = out_[i];
    facts.path = paths_[i];
    facts.kind = InputKind::Object;
    ObjectFacts& object = facts.objects.edit().emplace_back();
    object.origin = {paths_[i], {}, paths_[i], 0, size};
    make_thin(object, {worker.summary.machine, worker.summary.has_device_code});
    add_loose_mentions({static_cast<std::uint32_t>(i), 0}, worker);
  }

  void add_loose_mentions(ObjectId object, Worker& worker) const {
    if (archives_follow_) worker.wanted.add(worker.summary);
    add_mentions(object, worker);
  }

  static void add_mentions(ObjectId object, Worker& worker) {
    worker.counter.add(object, worker.summary.mentions);
    worker.starts.add(worker.summary);
    worker.data.add(worker.summary.data);
  }

  void read_by_other_reader(std::size_t i, Worker& worker) {
    out_[i] = scan_input(paths_[i]);
    if (out_[i].kind != InputKind::Unreadable) any_loose_ = true;
    if (!add_facts(static_cast<std::uint32_t>(i), worker)) give_up();
  }

  void read_facts(std::size_t i, const LinkInput& input, Worker& worker) {
    out_[i] = scan_facts(input);
    any_loose_ = true;
    const bool is_host_object = out_[i].kind == InputKind::Object && out_[i].objects.size() == 1 &&
                                !out_[i].objects[0].has_device_code && out_[i].errors.empty();
    if (!is_host_object || !add_facts(static_cast<std::uint32_t>(i), worker)) give_up();
  }

  /// What the other reader has made of an input takes part in the prefilter, without its symbols.
  bool add_facts(std::uint32_t input, Worker& worker) {
    for (std::uint32_t o = 0; o < out_[input].objects.size(); ++o) {
      ObjectFacts& object = out_[input].objects.edit()[o];
      if (object.nested || !summarize_facts(object, SummaryOf::Everything, worker.summary)) return false;
      add_loose_mentions({input, o}, worker);
      drop_names(object);
    }
    return true;
  }

  /// An archive with anything else in it than objects that the hot reader knows is left to the scan. Members are read
  /// as they come; those of a large one by all threads, once they are all known.
  void read_archive_file(std::size_t input, int fd, std::uint64_t size, std::span<const std::byte> head,
                         Worker& worker) {
    any_archive_ = true;
    bool wanted = false;
    const SeeNames see = [&](std::string_view names) {
      if (beside_objects_ && !wanted) wanted = any_wanted(names);
    };
    ReadAhead ahead(size);
    ahead.keep(head.data(), 0, head.size());
    ArchiveBytes bytes(fd, size, worker.kept, ahead);
    ArchiveReader reader(bytes, &see);
    const bool large = size > kLargeArchive;
    std::vector<Summarized> summarized;
    while (const ArchiveMember* member = reader.next()) {
      if (beside_objects_ && (wanted || !reader.index_seen())) give_up();
      if (stop_) return;
      if (!large) summarized.push_back(read_member(input, fd, *member, summarized.size(), worker, &ahead));
    }
    const Archive archive = reader.finish();
    if (!archive.damage.empty() || (beside_objects_ && !archive.members.empty() && !archive.index_seen))
      return give_up();
    if (large) {
      summarized.resize(archive.members.size());
      for_each_parallel(archive.members.size(), kMemberGrain, [&](std::size_t m) {
        if (!stop_) summarized[m] = read_member(input, fd, archive.members[m], m, workers_.local(), nullptr);
      });
    }
    if (!stop_) add_members(input, archive, summarized);
  }

  Summarized read_member(std::size_t input, int fd, const ArchiveMember& member, std::size_t m, Worker& worker,
                         ReadAhead* ahead) {
    ObjectImage image(fd, member.offset, member.size, worker.buffer, ahead);
    const ObjectSummary& summary = worker.summary;
    if (!summarize_object(image, beside_objects_ ? SummaryOf::Soundness : what_, worker.summary))
      give_up();
    else if (!beside_objects_)
      add_mentions({static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(m)}, worker);
    else if (summary.has_device_code)
      give_up();  // nvlink goes by other names
    return {summary.machine, summary.has_device_code};
  }

  void add_members(std::size_t input, const Archive& archive, const std::vector<Summarized>& summarized) {
    const std::string& path = paths_[input];
    InputFacts& facts = out_[input];
    facts.path = path;
    facts.kind = InputKind::Archive;
    facts.has_index = archive.has_index;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    std::vector<ObjectFacts>& objects = facts.objects.edit();
    objects.resize(archive.members.size());
    for (std::size_t m = 0; m < summarized.size(); ++m) {
      const ArchiveMember& member = archive.members[m];
      objects[m].origin = {path, member.name, path, member.offset, member.size};
      make_thin(objects[m], summarized[m]);
    }
  }

  /// Linkers go by the index, and take "foo@@V1" for foo.
  bool any_wanted(std::string_view names) const {
    return names.find('@') != std::string_view::npos || wanted_.any_of(names);
  }

  bool thread_local_names_may_clash() {
    std::vector<const NameStarts*> starts;
    workers_.each([&](const Worker& worker) { starts.push_back(&worker.starts); });
    needs_everything_ = NameStarts::may_clash(starts);
    return needs_everything_;
  }

  NameCounts count_all() {
    std::vector<const NameCounter*> counters;
    std::vector<const DataDefinitions*> data;
    workers_.each([&](const Worker& worker) {
      counters.push_back(&worker.counter);
      data.push_back(&worker.data);
    });
    return count_names(counters, data);
  }

  /// Candidates, and whatever has device code. False when these show what the summaries don't: linkonce sections, or a
  /// file that has changed in between.
  bool read_in_full(std::vector<ObjectId> wanted) {
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      for (std::uint32_t o = 0; o < out_[i].objects.size(); ++o)
        if (out_[i].objects[o].has_device_code) wanted.push_back({i, o});
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::atomic<bool> good = true;
    for_each_parallel(wanted.size(), kLooseGrain, [&](std::size_t i) {
      if (!read_again(wanted[i])) good = false;
    });
    read_device_code(out_);
    return good;
  }

  bool read_again(ObjectId at) {
    InputFacts& input = out_[at.input];
    if (const LinkInput* facts = facts_of(at.input)) {
      input = scan_facts(*facts);
      if (input.objects.size() != 1) return false;  // its file has changed
    } else {
      try {
        ObjectFacts& object = input.objects.edit()[at.object];
        object = read_object(object.origin);
      } catch (const InputError&) {
        return false;
      }
    }
    // What discards such a section may be in any object of the line.
    const std::vector<Group>& groups = input.objects[at.object].groups;
    return std::none_of(groups.begin(), groups.end(), [](const Group& group) { return group.linkonce; });
  }

  const std::vector<std::string>& paths_;
  const std::vector<LinkInput>* const inputs_;
  const SummaryOf what_;
  std::vector<InputFacts> out_;
  std::atomic<bool> any_loose_ = false;  ///< an input that is not an archive and can be read
  std::atomic<bool> any_archive_ = false;
  std::atomic<bool> misnamed_ = false;  ///< ".a" is not an archive, or something else is: read in the wrong order
  bool archives_follow_ = false;
  bool beside_objects_ = false;  ///< archives: only what an object wants is taken from them
  WantedNames wanted_;           ///< by the objects, once all are read
  std::atomic<bool> stop_ = false;
  bool needs_everything_ = false;
  PerThread<Worker> workers_;
};

}  // namespace

static std::optional<Prefilter> prefilter_of(const std::vector<std::string>& paths,
                                             const std::vector<LinkInput>* inputs, unsigned jobs,
                                             bool count_undefined) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::optional<Prefilter> prefilter;
  progress_stage("reading files");
  with_threads(jobs, [&] {
    PrefilterRun first(paths, inputs, count_undefined ? SummaryOf::Everything : SummaryOf::Collisions);
    prefilter = first.run();
    if (first.needs_everything()) prefilter = PrefilterRun(paths, inputs, SummaryOf::Everything).run();
  });
  if (prefilter) prefilter->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return prefilter;
}

std::optional<Prefilter> prefilter_inputs(const std::vector<std::string>& paths, unsigned jobs, bool count_undefined) {
  return prefilter_of(paths, nullptr, jobs, count_undefined);
}

std::optional<Prefilter> prefilter_inputs(const LinkJob& job, unsigned jobs, bool count_undefined) {
  std::vector<std::string> paths;
  for (const LinkInput& input : job.inputs) paths.push_back(input.path);
  return prefilter_of(paths, &job.inputs, jobs, count_undefined);
}

bool prefilter_may_suffice(const LinkerTraits& linker) { return linker.census_is_enough; }

bool prefilter_suffices(const LinkJob& job) {
  const bool plain = !job.scope.command && job.assignments.empty() && job.required.empty() && job.must_define.empty();
  const bool every_object_is_linked =
      std::none_of(job.inputs.begin(), job.inputs.end(), [](const LinkInput& input) { return input.device_only; });
  return prefilter_may_suffice(traits_of(job)) && plain && every_object_is_linked && job.packages.empty();
}

}  // namespace elfaudit
