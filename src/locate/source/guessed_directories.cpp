#include "locate/source/guessed_directories.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "locate/source/text_file.hpp"

namespace elfaudit::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDirectories = 2000;
constexpr std::size_t kMostBelow = 300;  // of one folder
constexpr int kDeepestBelow = 3;

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> result;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end; at != end;
       at.increment(error)) {
    if (error || result.size() >= kMostDirectories) break;
    const std::string name = at->path().filename().string();
    if (!name.starts_with('.') && at->is_directory(error) && !at->is_symlink(error))
      result.push_back(at->path().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The directory in which `path` is found by that name: "/p/include" of "/p/include/a/b.h" by "a/b.h".
std::string_view directory_of(std::string_view path, std::string_view name) {
  const bool ends_so = path.size() > name.size() + 1 && path.ends_with(name);
  return ends_so ? path.substr(0, path.size() - name.size() - 1) : std::string_view();
}

}  // namespace

GuessedDirectories::GuessedDirectories(const TranslationUnit& unit) {
  for (const std::string& file : unit.read_files)
    if (std::string path = normal_path(file, unit.folder); read_.insert(path).second) files_.push_back(std::move(path));
  std::sort(files_.begin(), files_.end());
  for (const std::string& file : files_) add_above(file);
  const std::string source = normal_path(unit.source, unit.folder);
  add_above(source);
  add_below(unit.folder);
  add_below(std::string(parent_path(source)));
  for (std::string& folder : folders_in("/usr/include")) add(std::move(folder));  // as pkg-config gives them: eigen3
}

void GuessedDirectories::add(std::string directory) {
  if (directory.size() < 2 || directories_.size() >= kMostDirectories) return;
  if (known_.insert(directory).second) directories_.push_back(std::move(directory));
}

void GuessedDirectories::add_above(std::string_view path) {
  for (std::string_view folder = parent_path(path); folder.size() > 1; folder = parent_path(folder))
    add(std::string(folder));
}

/// A header that has only macros, or includes others, leaves no trace in debug info, and neither does its directory.
void GuessedDirectories::add_below(const std::string& root) {
  std::vector<std::string> level = {root};
  std::size_t added = 0;
  for (int depth = 0; depth < kDeepestBelow; ++depth) {
    std::vector<std::string> next;
    for (const std::string& folder : level)
      for (std::string& below : folders_in(folder)) {
        if (++added > kMostBelow) return;
        add(below);
        next.push_back(std::move(below));
      }
    level = std::move(next);
  }
}

std::vector<std::string> GuessedDirectories::holding(const std::string& name) {
  const std::string first = name.substr(0, name.find('/'));
  const auto [having, is_new] = having_.try_emplace(first);
  for (std::size_t i = 0; is_new && i < directories_.size(); ++i)
    if (::access((directories_[i] + "/" + first).c_str(), F_OK) == 0) having->second.push_back(i);
  std::vector<std::string> result;
  std::error_code error;
  for (const std::size_t i : having->second) {
    std::string path = normal_path(name, directories_[i]);
    const bool is_new_path = std::find(result.begin(), result.end(), path) == result.end();
    if (is_new_path && fs::is_regular_file(path, error)) result.push_back(std::move(path));
  }
  return result;
}

void GuessedDirectories::note_found(const std::string& path, std::string_view name) {
  if (!read_.contains(path)) return;
  if (const std::string_view directory = directory_of(path, name); !directory.empty()) searched_.emplace(directory);
}

bool GuessedDirectories::was_searched(const std::string& path, std::string_view name) const {
  return searched_.contains(std::string(directory_of(path, name)));
}

/// "/p/third/fmt/core.h" found as "fmt/core.h": was something read that is below /p/third/fmt?
bool GuessedDirectories::was_read_beside(const std::string& path, std::string_view name) const {
  const std::string_view directory = directory_of(path, name);
  const std::size_t slash = name.find('/');
  if (directory.empty() || slash == std::string_view::npos) return false;
  const std::string prefix = std::string(directory) + "/" + std::string(name.substr(0, slash + 1));
  const auto at = std::lower_bound(files_.begin(), files_.end(), prefix);
  return at != files_.end() && at->starts_with(prefix);
}

}  // namespace elfaudit::source
