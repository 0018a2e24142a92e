// Reads make's rules as compilers write them, and ninja's log of them.

#include "input/build/depfile.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// One logical line, cut into words: targets, ":" and prerequisites.
class RuleReader {
 public:
  RuleReader(std::string_view text, std::size_t& at) : text_(text), at_(at) {}

  void read(Depfile& into) {
    for (; at_ < text_.size() && text_[at_] != '\n';) take(text_[at_]);
    end_word();
    if (at_ < text_.size()) ++at_;
    // "CXX_IMPORTS += foo.c++m" (GCC with modules) is an assignment; "header.h:" (-MP) has no prerequisites.
    if (!after_colon_ || words_.empty()) return;
    into.targets.insert(into.targets.end(), targets_.begin(), targets_.end());
    into.prerequisites.insert(into.prerequisites.end(), words_.begin(), words_.end());
  }

 private:
  char next(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool ends_word_at(std::size_t ahead) const {
    const char c = next(ahead);
    return c == '\0' || c == '\n' || is_blank(c);
  }

  void take(char c) {
    if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '\\') {
      take_backslashes();
    } else if (c == '$' && next() == '$') {
      add('$');
      ++at_;
    } else if (c == ':' && !after_colon_ && ends_word_at(1)) {
      end_target();
    } else if (c == '#' && !in_word_ && targets_.empty() && words_.empty()) {
      at_ = std::min(text_.find('\n', at_), text_.size());  // "# dummy", which automake starts with
    } else {
      add(c);
    }
  }

  /// Before a blank, 2N+1 backslashes are N and the blank itself; before '#' and ':' the last one only escapes; before
  /// a line end it continues the line; anywhere else backslashes are plain characters.
  void take_backslashes() {
    std::size_t count = 0;
    while (next(count) == '\\') ++count;
    const char after = next(count);
    if (after == '\n' || (after == '\r' && next(count + 1) == '\n')) {
      add_backslashes(count - 1);
      at_ += count + (after == '\r' ? 2 : 1);
      end_word();
    } else if ((after == ' ' || after == '\t') && count % 2 == 1) {
      add_backslashes(count / 2);
      at_ += count;
      add(after);
    } else if (after == '#' || after == ':') {
      add_backslashes(count - 1);
      at_ += count;
      add(after);
    } else {
      add_backslashes(count);
      at_ += count;
    }
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
    ++at_;
  }

  void add_backslashes(std::size_t count) {
    word_.append(count, '\\');
    in_word_ = in_word_ || count > 0;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void end_target() {
    end_word();
    targets_ = std::exchange(words_, {});
    after_colon_ = true;
    ++at_;
  }

  std::string_view text_;
  std::size_t& at_;
  std::string word_;
  bool in_word_ = false;
  bool after_colon_ = false;
  std::vector<std::string> targets_;
  std::vector<std::string> words_;
};

std::vector<std::filesystem::path> candidates(const std::filesystem::path& object) {
  const std::filesystem::path folder = object.parent_path();
  const std::string stem = object.stem().string();
  const std::string name = object.filename().string();
  std::vector<std::filesystem::path> all{folder / (name + ".d"),           folder / (stem + ".d"),
                                         folder / ("." + name + ".d"),     folder / ".deps" / (stem + ".Po"),
                                         folder / ".deps" / (stem + ".d"), folder / ".d" / (stem + ".d")};
  // libtool puts the position-independent object one folder below the one that automake knows.
  if (folder.filename() == ".libs") all.push_back(folder.parent_path() / ".deps" / (stem + ".Plo"));
  return all;
}

/// libtool's depfiles name x.lo for .libs/x.o.
bool names(const Depfile& depfile, const std::filesystem::path& object) {
  for (const std::string& target : depfile.targets) {
    const std::filesystem::path name = std::filesystem::path(target).filename();
    if (name == object.filename()) return true;
    if (name.extension() == ".lo" && name.stem() == object.stem()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> Depfile::sources() const {
  const auto is_source = [](const std::string& path) {
    return !path.ends_with(".txt") && !path.ends_with(".profdata") && !path.ends_with(".modulemap");
  };
  const auto first = std::find_if(prerequisites.begin(), prerequisites.end(), is_source);
  return {first == prerequisites.end() ? prerequisites.begin() : first, prerequisites.end()};
}

std::string Depfile::source() const {
  const std::vector<std::string> all = sources();
  return all.empty() ? std::string() : all.front();
}

Depfile parse_depfile(std::string_view text) {
  Depfile depfile;
  for (std::size_t at = 0; at < text.size();) RuleReader(text, at).read(depfile);
  return depfile;
}

std::optional<FoundDepfile> find_depfile(const std::string& object) {
  std::optional<FoundDepfile> other;
  for (const std::filesystem::path& path : candidates(object)) {
    const std::optional<std::string> text = read_whole(path.string(), limits::kDepfileBytes);
    struct stat info {};
    if (!text && ::stat(path.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) > limits::kDepfileBytes)
      note_beyond(path.c_str(), "the size of a depfile");
    if (!text) continue;
    FoundDepfile found{path.string(), parse_depfile(*text), false};
    found.names_object = names(found.depfile, object);
    if (found.depfile.prerequisites.empty()) continue;  // automake's "# dummy"
    if (found.names_object) return found;
    if (!other) other = std::move(found);
  }
  return other;
}

// --- .ninja_deps

namespace {

constexpr std::string_view kSignature = "# ninjadeps\n";
constexpr std::uint32_t kDepsFlag = 0x80000000;                         // deps_log.cc: the record lists dependencies
constexpr std::uint32_t kLargestRecord = (std::uint32_t{1} << 19) - 1;  // deps_log.cc: kMaxRecordSize
constexpr std::uint32_t kLongestPath = 4096;  // PATH_MAX; ninja could not have opened the file
constexpr int kMostFoldersUp = 32;

}  // namespace

/// Reads records until the end or the first that ninja could not have written whole. Numbers have the byte order of the
/// machine that wrote them; ninja itself knows no other.
class NinjaDepsReader {
 public:
  NinjaDepsReader(ByteView bytes, std::uint64_t at, std::uint32_t version)
      : bytes_(bytes), at_(at), times_(version == 3 ? 1 : 2) {}

  NinjaDeps read() {
    while (at_ < bytes_.size()) {
      const auto head = bytes_.read<std::uint32_t>(at_);
      const std::uint32_t size = head.value_or(0) & ~kDepsFlag;
      if (!head || size > kLargestRecord || size % 4 != 0 || !bytes_.has(at_ + 4, size) ||
          !((*head & kDepsFlag) != 0 ? take_deps(size / 4) : take_path(size))) {
        result_.whole = false;
        break;
      }
      at_ += 4 + std::uint64_t{size};
    }
    return std::move(result_);
  }

 private:
  std::uint32_t word(std::uint32_t index) const {
    return bytes_.read<std::uint32_t>(at_ + 4 + std::uint64_t{4} * index).value_or(0);
  }

  /// A path, filled up with zeros to four bytes, and the complement of its number.
  bool take_path(std::uint32_t size) {
    if (size < 8 || size - 4 > kLongestPath + 3 ||
        word(size / 4 - 1) != ~static_cast<std::uint32_t>(result_.paths_.size()))
      return false;
    std::string_view path = bytes_.text(at_ + 4, size - 4);
    for (int i = 0; i < 3 && path.ends_with('\0'); ++i) path.remove_suffix(1);
    if (path.empty() || path.find('\0') != std::string_view::npos) return false;
    result_.paths_.emplace_back(path);
    return true;
  }

  /// The output's number, its time of change (one word in version 3, two in 4), then the numbers of the files.
  bool take_deps(std::uint32_t words) {
    if (words < 1 + times_) return false;
    std::vector<std::uint32_t> files;
    for (std::uint32_t i = 1 + times_; i < words; ++i) files.push_back(word(i));
    const auto known = [&](std::uint32_t number) { return number < result_.paths_.size(); };
    if (!known(word(0)) || !std::all_of(files.begin(), files.end(), known)) return false;
    result_.of_output_[result_.paths_[word(0)]] = std::move(files);  // a later record replaces an earlier one
    return true;
  }

  ByteView bytes_;
  std::uint64_t at_;
  std::uint32_t times_;
  NinjaDeps result_;
};

namespace {

std::optional<NinjaDeps> read_log(const std::string& path) {
  try {
    const MappedFile file(path);
    return parse_ninja_deps(file.bytes(), path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// ninja's names are relative to the folder it ran in, which is the log's own unless build.ninja sets `builddir`.
std::optional<FoundNinjaDeps> look_up(const NinjaDeps& deps, const std::filesystem::path& log,
                                      const std::filesystem::path& object) {
  std::filesystem::path folder = log.parent_path();
  for (int up = 0; up < 4; ++up) {
    if (up == 0 || is_there((folder / "build.ninja").string())) {
      for (const std::string& name : {object.lexically_relative(folder).string(), object.string()}) {
        std::vector<std::string> files = deps.files_of(name);
        if (!files.empty()) return FoundNinjaDeps{log.string(), folder.string(), std::move(files)};
      }
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> NinjaDeps::files_of(const std::string& output) const {
  std::vector<std::string> files;
  const auto found = of_output_.find(output);
  if (found == of_output_.end()) return files;
  std::set<std::uint32_t> seen;
  for (const std::uint32_t number : found->second) {
    if (seen.insert(number).second) files.push_back(paths_[number]);
  }
  return files;
}

NinjaDeps parse_ninja_deps(std::span<const std::byte> bytes, const std::string& path) {
  const ByteView view(bytes);
  if (view.text(0, kSignature.size()) != kSignature) throw InputError(path, "is not a ninja dependency log");
  const auto version = view.read<std::uint32_t>(kSignature.size());
  if (!version) throw InputError(path, {}, kSignature.size(), "the dependency log ends before its version");
  if (*version != 3 && *version != 4) {
    throw InputError(path, {}, kSignature.size(),
                     "dependency log of version " + std::to_string(*version) + "; only 3 and 4 are supported");
  }
  return NinjaDepsReader(view, kSignature.size() + 4, *version).read();
}

const std::string& NinjaDepsLogs::nearest(const std::string& folder) {
  const auto [entry, added] = nearest_.try_emplace(folder);
  if (!added) return entry->second;
  std::filesystem::path above = folder;
  for (int up = 0; up < kMostFoldersUp; ++up) {
    const std::filesystem::path log = above / ".ninja_deps";
    if (is_there(log.string())) {
      entry->second = log.string();
      break;
    }
    if (above == above.parent_path()) break;
    above = above.parent_path();
  }
  return entry->second;
}

bool NinjaDepsLogs::above(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  std::string normal = whole.lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return !error && !nearest(normal).empty();
}

std::optional<FoundNinjaDeps> NinjaDepsLogs::find(const std::string& object) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(object, error).lexically_normal();
  if (error) return std::nullopt;
  const std::string& log = nearest(file.parent_path().string());
  if (log.empty()) return std::nullopt;
  const auto [entry, added] = by_log_.try_emplace(log);
  if (added) entry->second = read_log(log);
  return entry->second ? look_up(*entry->second, log, file) : std::nullopt;
}

std::optional<FoundNinjaDeps> find_ninja_deps(const std::string& object) { return NinjaDepsLogs().find(object); }

}  // namespace elfaudit
