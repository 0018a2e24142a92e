// Paths as text, and what is at them.

#include "support/path.hpp"
#include "support/file_uses.hpp"

#include <filesystem>
#include <system_error>

namespace elfaudit {

std::string display_path(const std::string& path, const std::string& folder) {
  const std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (whole.is_relative() || folder.empty()) return whole.string();
  const std::filesystem::path below = whole.lexically_relative(folder);
  return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
}

std::string in_folder(const std::string& folder, const std::string& path) {
  constexpr std::size_t kLongestPath = 4096;  // PATH_MAX
  if (path.empty()) return folder;
  if (folder.empty() || path.front() == '/' || folder.size() + path.size() >= kLongestPath) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? std::string() : here.string();
}

std::string absolute_path(const std::string& path) {
  return (std::filesystem::path(working_directory()) / path).lexically_normal().string();
}

bool is_there(const std::string& path) {
  note_use(path, Level::Kind);
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return get_status(path, info, Level::Kind) && S_ISREG(info.st_mode);
}

bool is_folder(const std::string& path) {
  note_use(path, Level::Kind);
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace elfaudit
