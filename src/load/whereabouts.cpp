#include "load/whereabouts.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 500000;  // of directories
constexpr int kDeepest = 12;
constexpr int kDeepestBeside = 2;  // in the folders of `also`, which may be a home directory
constexpr std::size_t kMostFound = 1000;

/// Files of no library, and many of them.
bool is_passed_over(const std::string& directory) {
  static const std::set<std::string> names = {"/usr/share/doc", "/usr/share/man", "/usr/src", "/usr/include",
                                              "/usr/share/locale"};
  return names.count(directory) != 0;
}

}  // namespace

std::string library_stem(const std::string& name) {
  const std::size_t at = name.find(".so");
  return at == std::string::npos ? name : name.substr(0, at + 3);
}

std::vector<std::string> find_by_name(const Root& root, const std::set<std::string>& names,
                                      const std::vector<std::string>& also) {
  std::set<std::string> stems;
  for (const std::string& name : names) stems.insert(library_stem(name));
  std::vector<std::string> roots = {"/usr", "/opt", "/lib", "/lib64"};
  const std::size_t usual = roots.size();
  roots.insert(roots.end(), also.begin(), also.end());
  std::set<std::string> found;
  std::set<std::string> searched;
  std::size_t entries = 0;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const std::string& folder = roots[r];
    const int deepest = r < usual ? kDeepest : kDeepestBeside;
    // /lib may be a link to /usr/lib.
    const std::string real = root.real(folder);
    std::error_code error;
    const std::string canonical = fs::canonical(real, error).string();
    if (error || !searched.insert(canonical).second || searched.count(fs::path(canonical).parent_path()) != 0) continue;
    fs::recursive_directory_iterator at(real, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      if (++entries > kMostEntries || found.size() >= kMostFound) return {found.begin(), found.end()};
      if (at.depth() >= deepest || is_passed_over(root.inside(at->path().string()))) at.disable_recursion_pending();
      const std::string name = at->path().filename().string();
      if (stems.count(library_stem(name)) == 0 || (names.count(name) == 0 && name.find(".so") == std::string::npos))
        continue;
      if (at->is_regular_file(error)) found.insert(root.inside(at->path().string()));
      error.clear();
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace elfaudit
