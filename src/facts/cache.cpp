// Reads and writes the cache's files; what is damaged is as if it were not there.

#include "facts/cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "elfaudit/version.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

std::string path_of_entry(const std::string& folder, const std::array<std::uint8_t, 16>& hash, const char* extension) {
  const std::string name = hex(hash);
  return fmt::format("{}/{}/{}/{}.{}", folder, kEntriesFolder, name.substr(0, 2), name, extension);
}

std::optional<Document> read_entry(const std::string& path, DocumentKind kind) {
  const FaultsCostNothing own;
  const std::optional<std::string> bytes = read_own(path, kLargestEntry);
  if (!bytes) return std::nullopt;
  try {
    Document document = read_document(*bytes, ELFAUDIT_VERSION);
    return document.kind == kind ? std::optional(std::move(document)) : std::nullopt;
  } catch (const BadDocument&) {
    return std::nullopt;
  }
}

int create_file(const std::string& path, std::string_view bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return errno;
  const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return 0;
  const int error = written < 0 ? errno : EIO;
  ::unlink(path.c_str());
  return error;
}

/// Returns 0, or errno. A new entry is written in place, which costs half of what renaming does: whoever reads half of it
/// finds its checksum wrong.
int write_entry(const std::string& path, const Document& document) {
  const FaultsCostNothing own;
  const std::string bytes = write_document(document, ELFAUDIT_VERSION);
  int failed = create_file(path, bytes);
  if (failed == ENOENT) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    failed = error ? error.value() : create_file(path, bytes);
  }
  return failed == EEXIST ? replace_file(path, bytes) : failed;  // another process may have been faster
}

// --- Of objects

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Which bytes are meant, for everybody on this machine.
std::string full_name(const Origin& origin) {
  const std::string& path = origin.file();
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  return origin.is_member() ? fmt::format("{}[{}+{}]", whole, origin.offset, origin.size) : whole;
}

std::string encode(const FileState& state) {
  WireWriter out;
  out.number(state.device);
  out.number(state.inode);
  out.number(state.size);
  out.number(static_cast<std::uint64_t>(state.modified));
  out.number(static_cast<std::uint64_t>(state.changed));
  return out.take();
}

}  // namespace

PlaceCache::PlaceCache(std::string folder) : folder_(std::move(folder)) {}

std::string PlaceCache::path_of(const std::array<std::uint8_t, 16>& hash, const char* extension) const {
  return path_of_entry(folder_, hash, extension);
}

void PlaceCache::write(const std::string& path, const Document& document) {
  const int failed = write_entry(path, document);
  if (failed == 0) return;
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = fmt::format("--cache {}: cannot write there: {}", folder_, std::strerror(failed));
}

std::optional<Content> PlaceCache::seen(const std::string& path, const std::string& name,
                                        const FileState& state) const {
  const std::optional<Document> document = read_entry(path, DocumentKind::Seen);
  if (!document || document->name != name || document->payload != encode(state)) return std::nullopt;
  return document->content;
}

std::optional<PlaceCache::Key> PlaceCache::key_of(const Origin& origin) {
  if (folder_.empty() || !origin.entry.empty()) return std::nullopt;
  const std::int64_t asked = now();
  const std::optional<FileState> state = state_of(origin);
  if (!state) return std::nullopt;
  const std::string name = full_name(origin);
  if (const std::optional<Content> known = seen(path_of(hash_of(name), "seen"), name, *state))
    return Key{*state, *known};

  const std::optional<Content> content = content_of(origin);
  if (!content || state_of(origin) != state) return std::nullopt;  // it is being written
  return Key{*state, *content, state->changed < asked - kSteadyAfter ? name : std::string()};
}

std::optional<Document> PlaceCache::find_entry(const Key& key, DocumentKind kind, const char* extension) {
  std::optional<Document> document = read_entry(path_of(key.content.hash, extension), kind);
  if (!document || document->content != key.content) return std::nullopt;
  if (!key.unseen.empty())
    write(path_of(hash_of(key.unseen), "seen"), {DocumentKind::Seen, {}, key.content, key.unseen, encode(key.state)});
  return document;
}

Places PlaceCache::find(const Key& key) {
  const std::optional<Document> document = find_entry(key, DocumentKind::Places, "places");
  if (!document) return {};
  try {
    return decode_places(document->payload);
  } catch (const BadWire&) {
    return {};
  }
}

void PlaceCache::keep(const Key& key, const Origin& origin, const Places& places) {
  if (state_of(origin) != key.state) return;
  write(path_of(key.content.hash, "places"), {DocumentKind::Places, {}, key.content, {}, encode_places(places)});
}

std::optional<std::string> PlaceCache::find_types(const Key& key) {
  std::optional<Document> document = find_entry(key, DocumentKind::Types, "types");
  return document ? std::optional(std::move(document->payload)) : std::nullopt;
}

void PlaceCache::keep_types(const Key& key, const Origin& origin, std::string types) {
  if (state_of(origin) != key.state) return;
  write(path_of(key.content.hash, "types"), {DocumentKind::Types, {}, key.content, {}, std::move(types)});
}

std::string PlaceCache::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

// --- Of runs

namespace {

/// They differ from call to call, and nothing that is asked goes by them.
constexpr std::array<std::string_view, 9> kPassing = {
    "_=", "SHLVL=", "PWD=", "OLDPWD=", "MAKELEVEL=", "MAKEFLAGS=", "MFLAGS=", "MAKE_TERMOUT=", "MAKE_TERMERR="};

std::string environment() {
  std::vector<std::string_view> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto begins = [&](std::string_view name) { return text.starts_with(name); };
    if (std::ranges::none_of(kPassing, begins)) variables.push_back(text);
  }
  std::ranges::sort(variables);
  return hex(hash_of(fmt::format("{}", fmt::join(variables, "\n"))));
}

std::string encode(const RunResult& result, const std::vector<PathUse>& uses) {
  WireWriter out;
  out.text(environment());
  out.number(uses.size());
  for (const PathUse& use : uses) {
    out.text(use.path);
    out.number(static_cast<std::uint64_t>(use.level));
    for (const std::uint64_t word : use.state.words) out.number(word);
  }
  out.number(static_cast<std::uint64_t>(result.exit_code));
  out.text(result.output);
  out.number(result.reports.size());
  for (const std::optional<std::string>& report : result.reports) {
    out.number(report ? 1 : 0);
    out.text(report.value_or(""));
  }
  return out.take();
}

/// A hash of all names in the folder but `names`, and of the files that they stand for, in any order. 0 where there are too
/// many.
std::uint64_t hash_of_others(const std::string& folder, const std::set<std::string>& names) {
  constexpr std::size_t kMostNames = 100'000;
  std::size_t count = 0;
  std::uint64_t sum = 1;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr)
    if (const std::string name = entry->d_name; ++count > kMostNames)
      return 0;
    else if (name != ".." && !names.contains(name))
      sum += checksum(fmt::format("{}/{}/{}", name, entry->d_ino, static_cast<unsigned>(entry->d_type)));
  return sum;
}

}  // namespace

/// Of a path that the run writes. To be called before the run looks at anything.
void RunCache::add_written(const std::string& path) {
  std::error_code error;
  written_.push_back((fs::path(working_directory()) / path).lexically_normal().string());
  for (fs::path at = fs::weakly_canonical(written_.back(), error); at.has_relative_path(); at = at.parent_path())
    written_folders_[at.parent_path().string()].names.insert(at.filename().string());
}

/// A folder of entries is the cache's own, whichever cache it is of.
bool RunCache::is_written(const std::string& path) const {
  const std::string entries = fmt::format("/{}/", kEntriesFolder);
  return (path + "/").find(entries) != std::string::npos || std::ranges::any_of(written_, [&](const std::string& own) {
           return path.ends_with(own.substr(own.rfind('/'))) && fs::path(path).lexically_normal() == own;
         });
}

/// Replaces the times of a folder in which the run writes by the hash of the other names in it. False for anything else.
bool RunCache::ignores_times(PathState& state) const {
  bool found = false;
  for (const std::size_t half : {0, 6}) {  // a link, and what it leads to
    std::uint64_t* words = state.words.data() + half;
    for (const auto& [path, folder] : written_folders_) {
      if (!S_ISDIR(words[5]) || words[0] != folder.identity[0] || words[1] != folder.identity[1]) continue;
      words[2] = folder.others;
      words[3] = words[4] = 0;
      found = true;
    }
  }
  return found;
}

/// How many paths; nothing when one is not as it was.
std::optional<std::size_t> RunCache::count_unchanged(WireReader& in) const {
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path(in.text());
    const auto level = static_cast<Level>(in.number_to(static_cast<std::uint64_t>(Level::Whole)));
    PathState before;
    for (std::uint64_t& word : before.words) word = in.number();
    PathState now = state_of_path(path, level);
    if (level == Level::Whole) ignores_times(now);
    if (now != before) return std::nullopt;
  }
  return count;
}

namespace {

RunResult decode_result(WireReader& in) {
  RunResult result;
  result.exit_code = static_cast<int>(in.number_to(1));
  result.output = in.text();
  result.reports.resize(in.count());
  for (std::optional<std::string>& report : result.reports) {
    const bool is_due = in.flag();
    const std::string_view text = in.text();
    if (is_due) report = text;
  }
  in.finish();
  return result;
}

}  // namespace

RunCache::RunCache(const std::string& folder, const std::vector<std::string>& words,
                   const std::vector<std::string>& reports) {
  WireWriter name;
  name.text(working_directory());
  for (const std::string& word : words) name.text(word);
  name_ = name.take();
  path_ = path_of_entry(folder, hash_of(name_), "run");
  const FaultsCostNothing own;
  const std::string entries = fs::path(path_).parent_path().parent_path().string();
  std::error_code error;
  fs::create_directories(entries, error);
  add_written(entries);
  for (const std::string& report : reports) add_written(report);
  struct stat info {};
  for (auto& [path, written] : written_folders_) {
    if (::stat(path.c_str(), &info) == 0) written.others = hash_of_others(path, written.names);
    if (written.others != 0) written.identity = {info.st_dev, info.st_ino};
  }
}

std::optional<RememberedRun> RunCache::find() const {
  const std::optional<Document> document = read_entry(path_, DocumentKind::Run);
  if (!document || document->name != name_) return std::nullopt;
  const FaultsCostNothing own;
  try {
    WireReader in(document->payload);
    if (in.text() != environment()) return std::nullopt;
    const std::optional<std::size_t> paths = count_unchanged(in);
    return paths ? std::optional(RememberedRun{decode_result(in), *paths}) : std::nullopt;
  } catch (const BadWire&) {
    return std::nullopt;
  }
}

void RunCache::keep(const RunResult& result, const FileUses& uses) const {
  if (!uses.whole || result.exit_code > 1) return;
  RunCache unchanged = *this;  // of folders in which others have written as well, the times count
  std::erase_if(unchanged.written_folders_, [](const auto& folder) {
    return hash_of_others(folder.first, folder.second.names) != folder.second.others;
  });
  std::vector<PathUse> inputs;
  for (const PathUse& use : uses.paths) {
    if (is_written(use.path)) continue;
    inputs.push_back(use);
    const bool is_folder = use.level == Level::Whole && unchanged.ignores_times(inputs.back().state);
    if (!is_folder && !use.is_steady) return;
  }
  Document document;
  document.kind = DocumentKind::Run;
  document.name = name_;
  document.payload = encode(result, inputs);
  static_cast<void>(write_entry(path_, document));
}

}  // namespace elfaudit
