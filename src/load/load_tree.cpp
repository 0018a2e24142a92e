#include "load/load_tree.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kWheels = ~std::uint64_t{0};  // no file system has this device number

std::string normal(const std::string& path) {
  std::string result = fs::path(path).lexically_normal().string();
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

/// What `path` is below `folder`; nothing when it isn't.
std::optional<std::string> below(const std::string& path, const std::string& folder) {
  const bool is_below = path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  return is_below ? std::optional(path.substr(folder.size() + 1)) : std::nullopt;
}

LoadFacts load_facts_of(const ObjectFacts& object) {
  LoadFacts facts;
  facts.machine = {object.machine, object.is_64, object.big_endian};
  facts.dynamic = true;
  facts.soname = object.soname;
  facts.needed = object.needed;
  std::string& path = object.runpath_is_rpath ? facts.rpath : facts.runpath;
  for (std::size_t i = 0; i < object.runpath.size(); ++i) path += (i == 0 ? "" : ":") + object.runpath[i];
  facts.no_default_libraries = object.no_default_libraries;
  return facts;
}

std::optional<TreeFile> regular_file(const std::string& real) {
  struct stat status {};
  if (::stat(real.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return TreeFile{{status.st_dev, status.st_ino}, real};
}

}  // namespace

void LoadTree::add(const std::string& path, const ObjectFacts& facts) { added_.try_emplace(normal(path), &facts); }

void LoadTree::mount(std::string directory) {
  std::error_code error;
  if (root_.is_this_machine()) directory = fs::absolute(directory, error).string();
  if (!error) mounts_.push_back(normal(root_.inside(directory)));
}

void LoadTree::add_loaded_before(const std::string& name, const std::string& path) {
  std::vector<std::string>& paths = loaded_before_[name];
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
}

std::vector<std::string> LoadTree::loaded_before(const std::string& name) const {
  const auto found = loaded_before_.find(name);
  return found == loaded_before_.end() ? std::vector<std::string>{} : found->second;
}

const std::optional<TreeFile>& LoadTree::find(const std::string& path) {
  const auto [at, first] = found_.try_emplace(path);
  if (first) at->second = look_up(path);
  return at->second;
}

std::optional<TreeFile> LoadTree::look_up(const std::string& path) const {
  if (path.empty()) return std::nullopt;
  if (!added_.empty() && path.starts_with('/'))
    if (std::optional<TreeFile> file = find_added(normal(path))) return file;
  if (std::optional<TreeFile> file = regular_file(root_.real(path))) return file;
  return mounts_.empty() ? std::nullopt : find_mounted(normal(path));
}

std::optional<TreeFile> LoadTree::find_added(const std::string& path) const {
  const auto found = added_.find(path);
  if (found == added_.end()) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(std::distance(added_.begin(), found));
  return TreeFile{{kWheels, number}, found->second->origin.display(), found->second};
}

std::optional<TreeFile> LoadTree::find_mounted(const std::string& path) const {
  std::optional<std::string> installed = below(path, kSitePackages);
  for (std::size_t i = 0; i < mounts_.size() && !installed; ++i) installed = below(path, mounts_[i]);
  if (!installed) return std::nullopt;
  if (std::optional<TreeFile> file = find_added(std::string(kSitePackages) + "/" + *installed)) return file;
  for (const std::string& mount : mounts_)
    if (std::optional<TreeFile> file = regular_file(root_.real(mount + "/" + *installed))) return file;
  return std::nullopt;
}

const LoadFacts& LoadTree::load_facts(const TreeFile& file) {
  const auto known = facts_.find(file.id);
  if (known != facts_.end()) return known->second;
  return facts_.emplace(file.id, file.facts != nullptr ? load_facts_of(*file.facts) : read_load_facts(file.real))
      .first->second;
}

const SystemLibraries& LoadTree::system(const LoadMachine& machine) {
  for (const auto& [known, system] : systems_)
    if (known == machine) return system;
  SystemLibraries system;
  system.cache = read_loader_cache(root_, machine, system.errors);
  if (!system.cache) system.configured = configured_directories(root_, system.errors);
  system.defaults = default_directories(root_, machine);
  return systems_.emplace_back(machine, std::move(system)).second;
}

}  // namespace elfaudit
