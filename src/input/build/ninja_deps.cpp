#include "input/build/ninja_deps.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "elfaudit/error.hpp"
#include "support/bytes.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit {
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
    std::error_code error;
    if (up == 0 || std::filesystem::exists(folder / "build.ninja", error)) {
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
  if (view.text(0, kSignature.size()) != kSignature) throw InputError(path, "is no dependency log of ninja");
  const auto version = view.read<std::uint32_t>(kSignature.size());
  if (!version) throw InputError(path, {}, kSignature.size(), "the dependency log ends before its version");
  if (*version != 3 && *version != 4) {
    throw InputError(path, {}, kSignature.size(),
                     "dependency log of version " + std::to_string(*version) + "; only 3 and 4 are known");
  }
  return NinjaDepsReader(view, kSignature.size() + 4, *version).read();
}

const std::string& NinjaDepsLogs::nearest(const std::string& folder) {
  const auto [entry, added] = nearest_.try_emplace(folder);
  if (!added) return entry->second;
  std::error_code error;
  std::filesystem::path above = folder;
  for (int up = 0; up < kMostFoldersUp; ++up) {
    const std::filesystem::path log = above / ".ninja_deps";
    if (std::filesystem::exists(log, error)) {
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
