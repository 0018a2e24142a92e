#include "scan/census.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elfaudit/error.hpp"
#include "scan/archive.hpp"
#include "scan/census_tally.hpp"
#include "scan/device_code.hpp"
#include "scan/elf_file.hpp"
#include "scan/elf_object.hpp"
#include "scan/file_kind.hpp"
#include "scan/scan.hpp"
#include "scan/sketch.hpp"
#include "support/file_descriptor.hpp"
#include "support/progress.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kLooseGrain = 16;
constexpr std::size_t kMemberGrain = 8;

struct Worker {
  PieceBuffers buffers;
  Sketch sketch;
  Tally tally;
};

void make_thin(ObjectFacts& object, const Sketch& sketch) {
  object.kind = ObjectKind::Relocatable;
  object.machine = sketch.machine;
  object.has_device_code = sketch.has_device_code;
}

class CensusTaker {
 public:
  explicit CensusTaker(const std::vector<std::string>& paths) : paths_(paths), out_(paths.size()) {}

  std::optional<Census> run() {
    if (named_twice() || mixed_by_name()) return std::nullopt;
    for_each_parallel(paths_.size(), named_archives() ? 1 : kLooseGrain, [&](std::size_t i) {
      if (!stop_) read_file(i, workers_.local());
    });
    if (stop_ || (any_loose_ && any_archive_)) return std::nullopt;
    const TallyResult result = count_all();
    if (result.intricate || !read_in_full(result.suspects)) return std::nullopt;
    return Census{std::move(out_), result.undefined, 0};
  }

 private:
  bool named_twice() const {
    std::unordered_set<std::string_view> seen(paths_.size());
    return !std::all_of(paths_.begin(), paths_.end(),
                        [&](const std::string& path) { return seen.insert(path).second; });
  }

  bool named_archives() const { return !paths_.empty() && paths_.front().ends_with(".a"); }

  /// Objects and archives together: which members are linked depends on everything before them.
  bool mixed_by_name() const {
    const auto archive = [](const std::string& path) { return path.ends_with(".a"); };
    const auto archives = std::count_if(paths_.begin(), paths_.end(), archive);
    return archives != 0 && static_cast<std::size_t>(archives) != paths_.size();
  }

  void read_file(std::size_t i, Worker& worker) {
    progress_step();
    try {
      const FileDescriptor fd = open_for_reading(paths_[i].c_str());
      struct stat info {};
      if (::fstat(fd.get(), &info) != 0) return give_up();
      const auto size = static_cast<std::uint64_t>(info.st_size);
      ObjectImage image(fd.get(), 0, size, worker.buffers);
      const std::size_t head_size = std::min<std::uint64_t>(image.size(), kMagicSize);
      const std::byte* head = image.at(ObjectImage::Piece::Head, 0, head_size);
      const FileKind kind = head == nullptr ? FileKind::Unknown : file_kind({head, head_size});
      if (kind == FileKind::Archive)
        read_archive_file(i, fd.get(), size);
      else if (kind != FileKind::Elf)
        give_up();  // a linker script, a device file, a thin archive
      else if (sketch_object(image, worker.sketch))
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
    make_thin(object, worker.sketch);
    worker.tally.add({static_cast<std::uint32_t>(i), 0}, worker.sketch.mentions);
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
      worker.tally.add({input, o}, worker.sketch.mentions);
      object.symbols.clear();
      object.sections.clear();
      object.groups.clear();
      object.strings.clear();
    }
    return true;
  }

  /// An archive with anything else in it than objects that the hot reader knows is left to the scan.
  void read_archive_file(std::size_t input, int fd, std::uint64_t size) {
    any_archive_ = true;
    ArchiveBytes bytes(fd, size);
    const Archive archive = read_archive(bytes, IndexUse::Check);
    if (!archive.damage.empty()) return give_up();
    InputFacts& facts = out_[input];
    facts.path = paths_[input];
    facts.kind = InputKind::Archive;
    facts.has_index = archive.has_index;
    facts.members = static_cast<std::uint32_t>(archive.members.size());
    facts.objects.resize(archive.members.size());
    for_each_parallel(archive.members.size(), kMemberGrain, [&](std::size_t m) {
      if (!stop_) read_member(input, fd, archive.members[m], m, workers_.local());
    });
  }

  void read_member(std::size_t input, int fd, const ArchiveMember& member, std::size_t m, Worker& worker) {
    ObjectImage image(fd, member.offset, member.size, worker.buffers);
    if (!sketch_object(image, worker.sketch)) return give_up();
    ObjectFacts& object = out_[input].objects[m];
    const std::string& path = paths_[input];
    object.origin = {path, member.name, path, member.offset, member.size};
    make_thin(object, worker.sketch);
    worker.tally.add({static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(m)}, worker.sketch.mentions);
  }

  TallyResult count_all() {
    std::vector<const Tally*> tallies;
    workers_.each([&](const Worker& worker) { tallies.push_back(&worker.tally); });
    return count(tallies);
  }

  /// Suspects, and whatever has device code. False when a file has changed in between.
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
      } catch (const InputError&) {
        good = false;
      }
    });
    read_device_code(out_);
    return good;
  }

  const std::vector<std::string>& paths_;
  std::vector<InputFacts> out_;
  std::atomic<bool> any_loose_ = false;  ///< an input that is no archive and can be read
  std::atomic<bool> any_archive_ = false;
  std::atomic<bool> stop_ = false;
  PerThread<Worker> workers_;
};

}  // namespace

std::optional<Census> take_census(const std::vector<std::string>& paths, unsigned jobs) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::optional<Census> census;
  progress_stage("reading files");
  with_threads(jobs, [&] { census = CensusTaker(paths).run(); });
  if (census) census->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return census;
}

bool census_suffices(const LinkJob& job, const AuditOptions& options) {
  const bool by_gnu_ld = job.linker != LinkerKind::Lld && job.linker != LinkerKind::Mold;
  const bool plain = !job.from_command && job.assignments.empty() && job.required.empty() && job.must_define.empty();
  const bool every_object_is_linked = std::none_of(job.inputs.begin(), job.inputs.end(), [](const LinkInput& input) {
    return input.device_only || !input.facts.empty();
  });
  return by_gnu_ld && plain && every_object_is_linked && job.packages.empty() && options.skim && options.enable.empty();
}

}  // namespace elfaudit
