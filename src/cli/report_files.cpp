#include "cli/report_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "elfaudit/policy.hpp"
#include "support/file_descriptor.hpp"
#include "support/replace_file.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 160;  // of 255 that file systems allow

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

/// Different for different texts: "_" beside "_" or "/" is written as a number.
std::string as_file_name(const std::string& text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto joins = [&](std::size_t at) { return at < text.size() && (text[at] == '_' || text[at] == '/'); };
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                       c == '-' || (c == '.' && !name.empty());
    if (c == '/')
      name += "__";
    else if (plain || (c == '_' && !joins(i + 1) && (i == 0 || !joins(i - 1))))
      name += c;
    else
      name += fmt::format("+{:02x}", static_cast<unsigned char>(c));
  }
  return name.size() > kLongestName ? name.substr(name.size() - kLongestName) : name;
}

/// "sub/app" of an output /build/sub/app and a report in /build/reports.
std::string name_of_output(const std::string& output, const std::string& report) {
  if (output.empty()) return "all";
  std::error_code error;
  const std::vector<std::string> parts = parts_of(fs::absolute(output, error).lexically_normal());
  const std::vector<std::string> folder = parts_of(fs::absolute(report, error).lexically_normal().parent_path());
  auto [own, other] = std::mismatch(parts.begin(), parts.end(), folder.begin(), folder.end());
  std::string name;
  for (; own != parts.end(); ++own) name += (name.empty() ? "" : "/") + *own;
  return as_file_name(name.empty() ? output : name);
}

/// "%o" and "%%"; nothing is replaced where there is neither.
std::pair<std::string, bool> replaced(const std::string& path, const std::string& name) {
  std::string out;
  bool found = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = i + 1 < path.size() ? path[i + 1] : '\0';
    if (path[i] != '%' || (next != 'o' && next != '%')) {
      out += path[i];
      continue;
    }
    out += next == 'o' ? name : "%";
    found = found || next == 'o';
    ++i;
  }
  return {out, found};
}

std::string before_extension(const fs::path& path, const std::string& name) {
  return (path.parent_path() / (path.stem().string() + "." + name + path.extension().string())).string();
}

}  // namespace

std::string report_file(const std::string& path, const std::string& output, bool of_each) {
  std::error_code error;
  const std::string name = name_of_output(output, path);
  auto [file, named] = replaced(path, name);
  if (!named) {
    if (!of_each || output.empty() || (fs::exists(file, error) && !fs::is_regular_file(file, error))) return file;
    file = before_extension(file, name);
  }
  if (fs::is_symlink(file, error)) throw UsageError(fmt::format("{} is a symbolic link, and not written to", file));
  return file;
}

void add_to_baseline(const std::string& path, const Audit& audit) {
  const auto refuse = [&] { throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno))); };
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  // The folder's own lock: the file itself is replaced, and another one would be left behind.
  const FileDescriptor lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) refuse();
  const std::vector<BaselineEntry> before =
      fs::exists(path, error) ? read_baseline(path) : std::vector<BaselineEntry>();
  errno = replace_file(path, baseline_document(audit, before));
  if (errno != 0) refuse();
}

}  // namespace elfaudit
