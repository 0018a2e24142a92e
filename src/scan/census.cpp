#include "scan/census.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elf/archive.hpp"
#include "elf/elf_file.hpp"
#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "scan/census_tally.hpp"
#include "scan/device/device_code.hpp"
#include "scan/elf_object.hpp"
#include "scan/name_starts.hpp"
#include "scan/scan.hpp"
#include "scan/sketch.hpp"
#include "scan/wanted_names.hpp"
#include "support/file_descriptor.hpp"
#include "support/progress.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kLooseGrain = 16;
constexpr std::size_t kMemberGrain = 8;
constexpr std::uint64_t kLargeArchive = 64 << 20;  // bytes; those of LLVM have up to 40 MB

struct Worker {
  ReadBuffer buffer;
  ReadBuffer kept;  ///< what an archive's reader keeps meanwhile
  Sketch sketch;
  Tally tally;
  NameStarts starts;
  WantedNames wanted;
};

/// All that is left of a sketch where it was.
struct Sketched {
  std::uint16_t machine = 0;
  bool has_device_code = false;
};

void make_thin(ObjectFacts& object, Sketched sketched) {
  object.kind = ObjectKind::Relocatable;
  object.machine = sketched.machine;
  object.has_device_code = sketched.has_device_code;
}

class CensusTaker {
 public:
  CensusTaker(const std::vector<std::string>& paths, SketchOf what) : paths_(paths), what_(what), out_(paths.size()) {}

  std::optional<Census> run() {
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
    const TallyResult result = count_all();
    if (result.intricate || !read_in_full(result.suspects)) return std::nullopt;
    const bool all_seen = what_ == SketchOf::Everything;
    return Census{std::move(out_), all_seen ? std::optional(result.undefined) : std::nullopt, 0};
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

  void read_file(std::size_t i, Worker& worker) {
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
      else if (sketch_object(image, archives_follow_ ? SketchOf::Wants : what_, worker.sketch))
        add_loose(i, size, worker);
      else
        read_by_other_reader(i, worker);
    } catch (const InputError&) {
      give_up();  // told where the line is read
    }
  }

  void give_up() { stop_ = true; }

  void add_loose(std::size_t i, std::uint64_t size, Worker& worker) {
    any_loose_ = true;
    InputFacts& facts = out_[i];
    facts.path = paths_[i];
    facts.kind = InputKind::Object;
    ObjectFacts& object = facts.objects.emplace_back();
    object.origin = {paths_[i], {}, paths_[i], 0, size};
    make_thin(object, {worker.sketch.machine, worker.sketch.has_device_code});
    add_loose_mentions({static_cast<std::uint32_t>(i), 0}, worker);
  }

  void add_loose_mentions(ObjectId object, Worker& worker) const {
    if (archives_follow_) worker.wanted.add(worker.sketch);
    add_mentions(object, worker);
  }

  static void add_mentions(ObjectId object, Worker& worker) {
    worker.tally.add(object, worker.sketch.mentions);
    worker.starts.add(worker.sketch);
  }

  void read_by_other_reader(std::size_t i, Worker& worker) {
    out_[i] = scan_input(paths_[i]);
    if (out_[i].kind != InputKind::Unreadable) any_loose_ = true;
    if (!add_facts(static_cast<std::uint32_t>(i), worker)) give_up();
  }

  /// What the other reader has made of an input takes part in the census, without its symbols.
  bool add_facts(std::uint32_t input, Worker& worker) {
    for (std::uint32_t o = 0; o < out_[input].objects.size(); ++o) {
      ObjectFacts& object = out_[input].objects[o];
      if (object.nested || !sketch_facts(object, worker.sketch)) return false;
      add_loose_mentions({input, o}, worker);
      object.symbols.clear();
      object.sections.clear();
      object.groups.clear();
      object.strings.clear();
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
    std::vector<Sketched> sketched;
    while (const ArchiveMember* member = reader.next()) {
      if (beside_objects_ && (wanted || !reader.index_seen())) give_up();
      if (stop_) return;
      if (!large) sketched.push_back(read_member(input, fd, *member, sketched.size(), worker, &ahead));
    }
    const Archive archive = reader.finish();
    if (!archive.damage.empty() || (beside_objects_ && !archive.members.empty() && !archive.index_seen))
      return give_up();
    if (large) {
      sketched.resize(archive.members.size());
      for_each_parallel(archive.members.size(), kMemberGrain, [&](std::size_t m) {
        if (!stop_) sketched[m] = read_member(input, fd, archive.members[m], m, workers_.local(), nullptr);
      });
    }
    if (!stop_) add_members(input, archive, sketched);
  }

  Sketched read_member(std::size_t input, int fd, const ArchiveMember& member, std::size_t m, Worker& worker,
                       ReadAhead* ahead) {
    ObjectImage image(fd, member.offset, member.size, worker.buffer, ahead);
    const Sketch& sketch = worker.sketch;
    if (!sketch_object(image, beside_objects_ ? SketchOf::Soundness : what_, worker.sketch))
      give_up();
    else if (!beside_objects_)
      add_mentions({static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(m)}, worker);
    else if (sketch.has_device_code)
      give_up();  // nvlink goes by other names
    return {sketch.machine, sketch.has_device_code};
  }

  void add_members(std::size_t input, const Archive& archive, const std::vector<Sketched>& sketched) {
    const std::string& path = paths_[input];
    InputFacts& facts = out_[input];
    facts.path = path;
    facts.kind = InputKind::Archive;
    facts.has_index = archive.has_index;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    facts.objects.resize(archive.members.size());
    for (std::size_t m = 0; m < sketched.size(); ++m) {
      const ArchiveMember& member = archive.members[m];
      facts.objects[m].origin = {path, member.name, path, member.offset, member.size};
      make_thin(facts.objects[m], sketched[m]);
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

  TallyResult count_all() {
    std::vector<const Tally*> tallies;
    workers_.each([&](const Worker& worker) { tallies.push_back(&worker.tally); });
    return count(tallies);
  }

  /// Suspects, and whatever has device code. False when these show what the sketches don't: linkonce sections, or a
  /// file that has changed in between.
  bool read_in_full(std::vector<ObjectId> wanted) {
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      for (std::uint32_t o = 0; o < out_[i].objects.size(); ++o)
        if (out_[i].objects[o].has_device_code) wanted.push_back({i, o});
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::atomic<bool> good = true;
    for_each_parallel(wanted.size(), kLooseGrain, [&](std::size_t i) {
      ObjectFacts& object = out_[wanted[i].input].objects[wanted[i].object];
      try {
        object = read_object(ElfFile::open(object.origin), object.origin);
        // What discards such a section may be in any object of the line.
        if (std::any_of(object.groups.begin(), object.groups.end(), [](const Group& group) { return group.linkonce; }))
          good = false;
      } catch (const InputError&) {
        good = false;
      }
    });
    read_device_code(out_);
    return good;
  }

  const std::vector<std::string>& paths_;
  const SketchOf what_;
  std::vector<InputFacts> out_;
  std::atomic<bool> any_loose_ = false;  ///< an input that is no archive and can be read
  std::atomic<bool> any_archive_ = false;
  std::atomic<bool> misnamed_ = false;  ///< ".a" is no archive, or something else is: read in the wrong order
  bool archives_follow_ = false;
  bool beside_objects_ = false;  ///< archives: only what an object wants is taken from them
  WantedNames wanted_;           ///< by the objects, once all are read
  std::atomic<bool> stop_ = false;
  bool needs_everything_ = false;
  PerThread<Worker> workers_;
};

}  // namespace

std::optional<Census> take_census(const std::vector<std::string>& paths, unsigned jobs, bool count_undefined) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::optional<Census> census;
  progress_stage("reading files");
  with_threads(jobs, [&] {
    CensusTaker first(paths, count_undefined ? SketchOf::Everything : SketchOf::Collisions);
    census = first.run();
    if (first.needs_everything()) census = CensusTaker(paths, SketchOf::Everything).run();
  });
  if (census) census->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return census;
}

bool census_may_suffice(const LinkerTraits& linker, const AuditOptions& options) {
  return linker.rules == ResolutionRules::GnuLd && options.skim && options.enable.empty();
}

bool census_suffices(const LinkJob& job, const AuditOptions& options) {
  const bool plain = !job.scope.command && job.assignments.empty() && job.required.empty() && job.must_define.empty();
  const bool every_object_is_linked = std::none_of(job.inputs.begin(), job.inputs.end(), [](const LinkInput& input) {
    return input.device_only || !input.facts.empty();
  });
  return census_may_suffice(traits_of(job), options) && plain && every_object_is_linked && job.packages.empty();
}

}  // namespace elfaudit
