#include "locate/source/text_file.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "elfaudit/error.hpp"
#include "support/mapped_file.hpp"

namespace elfaudit::source {
namespace {

/// Is the backslash at `at` the last of its line? Blanks behind it don't count, as for gcc. Returns where the next line
/// begins, or 0.
std::size_t spliced_line(std::string_view bytes, std::size_t at) {
  std::size_t next = at + 1;
  while (next < bytes.size() && (bytes[next] == ' ' || bytes[next] == '\t' || bytes[next] == '\r')) ++next;
  return next < bytes.size() && bytes[next] == '\n' ? next + 1 : 0;
}

std::string inode_of(const struct stat& st) { return std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino); }

}  // namespace

TextFile make_text(std::string path, std::string_view bytes) {
  TextFile file;
  file.path = std::move(path);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);  // a byte order mark
  file.text.reserve(bytes.size() + 1 + TextFile::kPadding);
  std::size_t from = 0;
  for (std::size_t at = bytes.find('\\'); at != std::string_view::npos; at = bytes.find('\\', at)) {
    const std::size_t next = spliced_line(bytes, at);
    if (next == 0) {
      ++at;
      continue;
    }
    file.text.append(bytes, from, at - from);
    file.splices.push_back(static_cast<std::uint32_t>(file.text.size()));
    from = at = next;
  }
  file.text.append(bytes, from);
  if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
  file.text.append(TextFile::kPadding, '\0');
  return file;
}

std::vector<std::size_t> line_starts(const TextFile& file) {
  std::vector<std::size_t> starts;
  std::size_t splice = 0;
  for (std::size_t at = 0; at < file.size();) {
    starts.push_back(at);
    const std::size_t end = std::min(file.text.find('\n', at), file.size());
    const bool ends_in_splice = splice < file.splices.size() && file.splices[splice] <= end;
    at = ends_in_splice ? file.splices[splice++] : end + 1;
  }
  return starts;
}

std::string line_of(const TextFile& file, const std::vector<std::size_t>& starts, std::uint32_t line) {
  if (line == 0 || line > starts.size()) return {};
  const std::size_t from = starts[line - 1];
  const std::size_t to = line < starts.size() ? starts[line] : file.size();
  std::string_view text = file.view(from, to);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

std::string normal_path(std::string_view path, std::string_view folder) {
  std::string joined(path);
  if (!path.starts_with('/') && !folder.empty()) joined = std::string(folder) + "/" + joined;
  const bool absolute = joined.starts_with('/');
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= joined.size();) {
    const std::size_t end = std::min(joined.find('/', at), joined.size());
    const std::string_view part = std::string_view(joined).substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) {
    if (absolute || !result.empty()) result += '/';
    result += part;
  }
  return result.empty() ? (absolute ? "/" : ".") : result;
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

FileStore::FileStore(const std::map<std::string, std::string>& edited) {
  struct stat st {};
  for (const auto& [path, text] : edited)
    if (::stat(path.c_str(), &st) == 0) edited_[inode_of(st)] = text;
}

std::uint32_t FileStore::add(TextFile file) {
  files_.push_back(std::move(file));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::uint32_t FileStore::open(const std::string& path, const std::string& spelled) {
  const auto [known, is_new] = by_path_.try_emplace(path, kNone);
  if (!is_new) return known->second;
  struct stat st {};
  if (::stat(spelled.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return kNone;
  if (static_cast<std::uint64_t>(st.st_size) > kLargestFile) return kNone;
  const std::string inode = inode_of(st);
  const auto [same, is_first] = by_inode_.try_emplace(inode, kNone);
  const auto edited = edited_.find(inode);
  if (is_first && edited != edited_.end()) {
    same->second = add(make_text(path, edited->second));
  } else if (is_first) {
    try {
      const MappedFile mapped(spelled);
      const auto bytes = mapped.bytes();
      same->second = add(make_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    } catch (const InputError&) {
      return kNone;
    }
  }
  return known->second = same->second;
}

bool FileStore::is_copy_of_once(std::uint32_t file) const {
  return std::any_of(files_.begin(), files_.end(), [&](const TextFile& other) {
    return other.once && &other != &files_[file] && other.text == files_[file].text;
  });
}

void FileStore::forget_reading() {
  for (TextFile& file : files_) {
    file.guard = 0xffffffff;
    file.once = false;
    file.included.clear();
  }
}

bool FileStore::is_open(const std::string& spelled) const {
  struct stat st {};
  return ::stat(spelled.c_str(), &st) == 0 && by_inode_.contains(inode_of(st));
}

bool FileStore::exists(const std::string& spelled) {
  const auto [known, is_new] = exists_.try_emplace(spelled, false);
  struct stat st {};
  if (is_new) known->second = ::stat(spelled.c_str(), &st) == 0 && S_ISREG(st.st_mode);
  return known->second;
}

}  // namespace elfaudit::source
