// The files that a loader would see: those of a machine or of a root, and on top of them wheels as if they were
// installed. Remembers what it has read, since a thousand programs load the same few libraries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf/load_facts.hpp"
#include "elfaudit/facts.hpp"
#include "load/loader_config.hpp"

namespace elfaudit {

/// Where wheels are installed: deep enough that "$ORIGIN/../../.." of a wheel stays clear of the machine's own files.
constexpr const char* kSitePackages = "/<prefix>/lib/python/site-packages";

/// A regular file, and what makes it the same one as another.
struct TreeFile {
  std::pair<std::uint64_t, std::uint64_t> id;  ///< device and inode
  std::string real;                            ///< the path to open; of a wheel's file its display name
  const ObjectFacts* facts = nullptr;          ///< of a wheel's file
};

/// What a system says to the programs of one machine.
struct SystemLibraries {
  std::vector<std::string> configured, defaults;
  std::optional<LoaderCache> cache;
  std::vector<InputError> errors;  ///< of their files that are there and can't be read
};

/// For one thread.
class LoadTree {
 public:
  explicit LoadTree(std::string root) : root_(without_slash(std::move(root))) {}

  const Root& root() const { return root_; }

  /// Puts a file of a wheel at an absolute path ("/<prefix>/.../torch/lib/libc10.so"). The first one at a path stays.
  void add(const std::string& path, const ObjectFacts& facts);

  /// A directory that is installed over the same site-packages: what isn't in it is looked for in the wheels and in the
  /// other directories, and theirs in it.
  void mount(std::string directory);

  /// A file that the process may have loaded under `name` before another one asks for it.
  void add_loaded_before(const std::string& name, const std::string& path);
  std::vector<std::string> loaded_before(const std::string& name) const;

  /// The regular file that a path leads to; nothing when there is none.
  const std::optional<TreeFile>& find(const std::string& path);

  /// Throws InputError.
  const LoadFacts& load_facts(const TreeFile& file);

  const SystemLibraries& system(const LoadMachine& machine);

 private:
  /// "/" is this machine, and paths are put together behind the others.
  static std::string without_slash(std::string path) {
    while (path.ends_with('/')) path.pop_back();
    return path;
  }
  std::optional<TreeFile> look_up(const std::string& path) const;
  std::optional<TreeFile> find_added(const std::string& path) const;
  std::optional<TreeFile> find_mounted(const std::string& path) const;

  Root root_;
  std::map<std::string, const ObjectFacts*> added_;
  std::vector<std::string> mounts_;  ///< as the root spells them, without a '/' at the end
  std::map<std::string, std::vector<std::string>> loaded_before_;
  std::unordered_map<std::string, std::optional<TreeFile>> found_;  ///< what find() has answered
  std::map<std::pair<std::uint64_t, std::uint64_t>, LoadFacts> facts_;
  std::vector<std::pair<LoadMachine, SystemLibraries>> systems_;
};

}  // namespace elfaudit
