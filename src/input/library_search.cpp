// Search directories, those of the linker's own script included.

#include "input/library_search.hpp"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "elf/file_kind.hpp"
#include "elfaudit/error.hpp"
#include "input/linker_script.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/process.hpp"

namespace elfaudit {
namespace {

/// SEARCH_DIR("=/usr/lib") of a linker script's text, in order.
std::vector<std::string> search_dirs_in(std::string_view script) {
  std::vector<std::string> dirs;
  constexpr std::string_view kOpen = "SEARCH_DIR(\"";
  for (std::size_t at = script.find(kOpen); at != std::string_view::npos; at = script.find(kOpen, at)) {
    at += kOpen.size();
    const std::size_t end = script.find('"', at);
    if (end == std::string_view::npos) break;
    dirs.emplace_back(script.substr(at, end - at));
  }
  return dirs;
}

// A linker for several machines has ten scripts or so for each, one for each way to link; those for -r name no folder.
/// Those of the scripts for `machine` in the linker `program` (looked up in PATH). Empty when the file has no scripts,
/// as with a linker that reads them from files of their own, or none for that machine.
std::vector<std::string> embedded_search_dirs(const std::string& program, Machine machine) {
  constexpr std::string_view kFormat = "OUTPUT_FORMAT(\"";
  constexpr std::string_view kSections = "SECTIONS";  // the folders precede it
  try {
    const MappedFile file(in_path(program));
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    for (std::size_t at = text.find(kFormat); at != std::string_view::npos; at = text.find(kFormat, at)) {
      at += kFormat.size();
      if (machine_of_format(text.substr(at, text.substr(at).find('"'))) != machine) continue;
      const std::string_view script = text.substr(at, text.substr(at).find(kSections));
      if (std::vector<std::string> dirs = search_dirs_in(script); !dirs.empty()) return dirs;
    }
  } catch (const InputError&) {  // not there, or a wrapper that can't be read: it is asked
  }
  return {};
}

/// The names in a folder that begin so. There are thousands of others in /usr/lib: no path is made of those.
std::vector<std::string> names_in(const std::string& folder, std::string_view beginning) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  std::vector<std::string> names;
  note_use(folder);
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  while (open) {
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    if (std::string_view(entry->d_name).starts_with(beginning)) names.emplace_back(entry->d_name);
  }
  return names;
}

Machine machine_of_script(const std::string& path) {
  const std::optional<std::string> text = read_whole(path, limits::kLinkerScriptBytes);
  if (!text || text->find("OUTPUT_FORMAT") == std::string::npos) return {};
  return machine_of_format(parse_linker_script(*text, path, traits_of(LinkerKind::Bfd)).output_format);
}

/// A file that turned up in a search.
bool matches(const SearchPath& search, const std::string& path, const FileProbe& probe) {
  if (!search.linker->skips_other_machines || !search.machine.known()) return true;
  const Machine machine = probe.kind == ProbedKind::Text ? machine_of_script(path) : probe.machine;
  if (!machine.known() || machine == search.machine) return true;
  return search.linker->skips_own_family && traits_of(machine).family != traits_of(search.machine).family;
}

/// Takes `path` for the answer when there is such a file and it fits.
bool try_file(const SearchPath& search, const std::string& path, FoundFile& found) {
  if (++search.lookups > limits::kLibraryLookups) return false;
  const FileProbe probe = probe_file(path);
  if (!probe.usable()) return false;  // a folder called libq.so is passed over as well
  if (!matches(search, path, probe)) {
    found.skipped.push_back(path + " (for another machine)");
    found.foreign.push_back({path, std::string(machine_name(traits_of(probe.machine)))});
    return false;
  }
  found.path = path;
  found.probe = probe;
  return true;
}

std::string join(const SearchPath& search, const std::string& dir, const std::string& file) {
  // Duplicates are reported by these paths.
  const bool slash_there = !search.linker->doubles_slash && dir.ends_with('/');
  return slash_there ? dir + file : dir + "/" + file;
}

bool below(const std::string& path, const std::string& root) {
  if (root.empty()) return false;
  note_use(path, Level::Identity);
  note_use(root, Level::Identity);
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  const std::string real_root = std::filesystem::weakly_canonical(root, error).string();
  return real.starts_with(real_root) && (real_root.ends_with('/') || real.substr(real_root.size()).starts_with('/'));
}

/// "/usr/bin/aarch64-linux-gnu-ld" and "/usr/aarch64-linux-gnu/bin/ld" are for "aarch64-linux-gnu".
std::string_view target_of(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  const std::string_view name = program.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (const std::size_t end = name.rfind("-ld"); end != std::string_view::npos) return name.substr(0, end);
  constexpr std::string_view kFolder = "/bin/ld";
  const std::size_t folder = program.rfind(kFolder);
  if (folder == std::string_view::npos || slash != folder + 4) return {};
  const std::string_view parent = program.substr(0, folder);
  const std::string_view target = parent.substr(parent.rfind('/') + 1);
  return target.find('-') == std::string_view::npos ? std::string_view() : target;
}

/// What GNU ld prints on Debian, Fedora and SUSE, put together: folders that don't exist cost nothing. A linker for
/// another machine has a folder of its target's last of all (binutils: ld/configure.tgt, NATIVE_LIB_DIRS and tooldir).
std::vector<std::string> usual_search_dirs(Machine machine, std::string_view target) {
  const MachineTraits& traits = traits_of(machine);
  std::vector<std::string> dirs;
  if (!traits.multiarch.empty())
    for (const char* root : {"=/usr/local/lib/", "=/lib/", "=/usr/lib/"})
      dirs.push_back(root + std::string(traits.multiarch));
  const std::string lib_folder(traits.lib_folder);
  if (!lib_folder.empty())
    for (const char* root : {"=/usr/local/", "=/", "=/usr/"}) dirs.push_back(root + lib_folder);
  dirs.insert(dirs.end(), {"=/usr/local/lib", "=/lib", "=/usr/lib"});
  if (target.empty()) return dirs;
  const std::string own = "=/usr/" + std::string(target) + "/";
  if (!lib_folder.empty()) dirs.push_back(own + lib_folder);
  dirs.push_back(own + "lib");
  return dirs;
}

}  // namespace

static std::string below_sysroot(const SearchPath& search, const std::string& rest) {
  const bool joined = search.sysroot_has_slash || (search.linker->joins_sysroot && !search.sysroot.empty());
  return search.sysroot + (joined && !rest.starts_with('/') ? "/" : "") + rest;
}

std::string SearchPath::own_dir(const std::string& dir) const {
  return dir.starts_with('=') ? below_sysroot(*this, dir.substr(1)) : dir;
}

std::string SearchPath::with_sysroot(const std::string& path) const {
  if (!linker->has_sysroot || (linker->needs_given_sysroot && sysroot.empty())) return path;
  if (path.starts_with('=')) return below_sysroot(*this, path.substr(1));
  constexpr std::string_view kVariable = "$SYSROOT";
  if (path.starts_with(kVariable) && !linker->joins_sysroot) return below_sysroot(*this, path.substr(kVariable.size()));
  return path;
}

std::string SearchPath::named_in_script(const std::string& path) const {
  if (!linker->needs_given_sysroot) return with_sysroot(path);
  return path.starts_with('=') ? below_sysroot(*this, path.substr(1)) : path;
}

FoundFile find_library(const SearchPath& search, const std::string& name, bool shared) {
  FoundFile found;
  const bool whole_name = name.size() > 1 && name.front() == ':';
  for (const std::string& dir : search.dirs) {
    if (whole_name) {
      if (try_file(search, join(search, dir, name.substr(1)), found)) return found;
      continue;
    }
    const std::string dynamic = join(search, dir, "lib" + name + ".so");
    if (shared && try_file(search, dynamic, found)) return found;
    if (try_file(search, join(search, dir, "lib" + name + ".a"), found)) return found;
    if (!shared && probe_file(dynamic).usable()) found.skipped.push_back(dynamic + " (shared, in a static search)");
  }
  return found;
}

FoundFile find_script_input(const SearchPath& search, const std::string& written, const std::string& script,
                            bool main) {
  FoundFile found;
  const std::string name = search.named_in_script(written);
  // GNU ld looks up what it has put behind a sysroot that is empty or a relative path like any other name, though not
  // beside the script.
  if (name != written && (name.starts_with('/') || !search.linker->names_files_in_sysroot)) {
    try_file(search, name, found);
    return found;
  }
  if (name.starts_with('/')) {
    // libc.so of a cross toolchain says /lib/libc.so.6 and means the one in its own sysroot.
    try_file(search, search.linker->has_sysroot && below(script, search.sysroot) ? search.sysroot + name : name, found);
    return found;
  }
  const std::size_t slash = script.rfind('/');
  const std::string here = slash != std::string::npos ? script.substr(0, slash) : ".";
  const bool named_here = slash != std::string::npos || search.linker->names_current_folder;
  const bool own_folder = main ? search.linker->searches_main_folder : search.linker->searches_script_folder;
  if (name == written && own_folder && named_here && try_file(search, here + "/" + name, found)) return found;
  if (search.linker->searches_current_folder && try_file(search, in_folder(search.folder, name), found)) return found;
  if (search.linker->finds_plain_names_alone && name.find('/') != std::string::npos) return found;
  for (const std::string& dir : search.dirs) {
    if (try_file(search, join(search, dir, name), found)) return found;
  }
  return found;
}

bool is_other_name(const std::string& name, std::string_view file) {
  std::string stem = name.starts_with(':') ? name.substr(1) : "lib" + name;
  stem.resize(std::min({stem.size(), stem.find(".so."), stem.ends_with(".so") ? stem.size() - 3 : stem.size(),
                        stem.ends_with(".a") ? stem.size() - 2 : stem.size()}));
  const auto is_shared = [&](std::string_view named) {
    const std::string_view ending = file.starts_with(named) ? file.substr(named.size()) : "";
    const std::string_view last = ending.substr(std::min(ending.rfind('.'), ending.size()));
    return ending == ".so" || (ending.starts_with(".so.") && last.size() > 1 && last[1] >= '0' && last[1] <= '9');
  };
  return file == stem + ".a" || is_shared(stem) || (stem.starts_with("lib") && is_shared(stem.substr(3)));
}

std::string other_version(const SearchPath& search, const std::string& name) {
  const std::string asked = name.starts_with(':') ? name.substr(1) : "lib" + name + ".so";  // of another machine
  std::vector<std::string> found;
  for (std::size_t i = 0; i < search.dirs.size() && found.empty(); ++i)
    for (const std::string& file : names_in(search.dirs[i], ""))
      if (is_other_name(name, file) && !file.ends_with(".a") && file != asked)
        found.push_back(join(search, search.dirs[i], file));
  // A plugin without "lib" is another file. The shortest is the one that the others lead to: libx.so.3 and libx.so.3.4.5.
  const auto rank = [](const std::string& file) {
    return std::tuple(!base_name(file).starts_with("lib"), file.size(), file);
  };
  const auto first = std::min_element(found.begin(), found.end(),
                                      [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return first == found.end() ? std::string() : *first;
}

std::string find_script_file(const SearchPath& search, const std::string& name) {
  if (probe_file(name).usable()) return name;
  if (name.starts_with('/')) return {};
  for (const std::string& dir : search.dirs) {
    if (++search.lookups <= limits::kLibraryLookups)
      if (std::string path = join(search, dir, name); probe_file(path).usable()) return path;
  }
  return {};
}

std::vector<std::string> builtin_search_dirs(const LinkerTraits& linker, const std::string& program, bool ask,
                                             const std::string& emulation, Machine machine) {
  if (!linker.has_search_dirs) return {};
  if (linker.search_dirs_in_script && !program.empty()) {
    // Without -m a linker of several machines takes the one that it was built for: a 64-bit one, or it must say.
    const bool of_this_machine = emulation.empty() ? machine.is_64 : machine_of_emulation(emulation).known();
    if (machine.known() && of_this_machine)
      if (std::vector<std::string> dirs = embedded_search_dirs(program, machine); !dirs.empty()) return dirs;
  }
  if (linker.search_dirs_in_script && !program.empty() && ask) {
    std::vector<std::string> command{program};
    if (!emulation.empty()) command.insert(command.end(), {"-m", emulation});
    command.emplace_back("--verbose");
    if (const std::optional<ProcessOutput> answer = run_process(command); answer && answer->exit_code == 0) {
      if (std::vector<std::string> dirs = search_dirs_in(answer->out); !dirs.empty()) return dirs;
    }
  }
  return usual_search_dirs(machine, target_of(program));
}

}  // namespace elfaudit
