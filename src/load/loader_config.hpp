// What a system tells its dynamic loader: ld.so.conf, ld.so.cache, and the directories that are built in.
// Sources: ld.so(8), ldconfig(8), glibc 2.36 (sysdeps/generic/ldconfig.h, elf/dl-cache.c), musl 1.2 (ldso/dynlink.c).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf/load_facts.hpp"
#include "elfaudit/error.hpp"

namespace elfaudit {

/// A directory tree that stands for "/". Absolute symbolic links inside of it lead to files inside of it.
class Root {
 public:
  /// Empty: this machine.
  explicit Root(std::string path);

  bool is_this_machine() const { return path_.empty(); }
  /// The file on this machine that `path` names in the root; `path` itself when it can't be followed.
  std::string real(const std::string& path) const;
  /// A path of this machine as the root spells it, however the two are written: one relative and the other absolute, or
  /// one of them through a symbolic link. A path that is not below the root is taken to be spelled so already.
  std::string inside(const std::string& path) const;

 private:
  std::string path_;
  std::vector<std::string> spellings_;  ///< absolute: as given, and without symbolic links
};

/// ld.so.conf with its includes, in order, each directory once. Empty when there is no such file; one that is there and
/// can't be read goes to `errors`.
std::vector<std::string> configured_directories(const Root& root, std::vector<InputError>& errors);

/// The directories built into glibc's loader for a machine: those of Debian where the root has them, else lib64 and
/// lib.
std::vector<std::string> default_directories(const Root& root, const LoadMachine& machine);

/// $LIB: the last part of the built-in directory, "lib/x86_64-linux-gnu" or "lib64".
std::string lib_word(const Root& root, const LoadMachine& machine);

/// $PLATFORM: "x86_64"; empty when it isn't known for the machine.
std::string platform_word(const LoadMachine& machine);

/// The loader that a machine's programs ask for: "/lib64/ld-linux-x86-64.so.2". Empty when it isn't known.
std::string usual_interpreter(const LoadMachine& machine);

/// musl's own list, /etc/ld-musl-ARCH.path, or what it has built in.
std::vector<std::string> musl_directories(const Root& root, const std::string& interpreter,
                                          std::vector<InputError>& errors);

/// ld.so.cache: soname -> path, the loader's choice for one machine. Nothing when there is none or it can't be
/// understood: then the loader goes by the directories. One that is there and can't be read goes to `errors`.
using LoaderCache = std::unordered_map<std::string, std::string>;
std::optional<LoaderCache> read_loader_cache(const Root& root, const LoadMachine& machine,
                                             std::vector<InputError>& errors);

}  // namespace elfaudit
