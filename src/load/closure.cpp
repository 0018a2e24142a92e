// The dynamic loader's search, for every DT_NEEDED of a file and of what it finds, breadth first.
//
// glibc (elf/dl-load.c, _dl_map_object; ld.so(8)):
//  1. A name that an object already loaded was asked for by, or has as its DT_SONAME, is that object.
//  2. A name with a '/' is a path.
//  3. Else DT_RPATH of the object that asks, of whoever loaded that one, and so on up to the program; objects that have
//     a DT_RUNPATH have no DT_RPATH, and one that asks and has a DT_RUNPATH uses nobody's DT_RPATH.
//  4. LD_LIBRARY_PATH.
//  5. DT_RUNPATH of the object that asks, and of no other.
//  6. ld.so.cache, then the built-in directories; neither of the latter with DF_1_NODEFLIB.
//  7. A file for another class or machine is passed over. A file that is loaded already under another name is that.
// musl (ldso/dynlink.c, load_library):
//  8. LD_LIBRARY_PATH first; then RPATH or RUNPATH, which are the same there, of the one that asks and of those that
//     loaded it; then /etc/ld-musl-ARCH.path. Objects are known by the name they were found by, not by DT_SONAME.
//     libc, libm, libpthread and their like are the loader itself.

#include "elfaudit/closure.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "elf/load_facts.hpp"
#include "load/closure_walk.hpp"
#include "load/host_libraries.hpp"
#include "load/library_paths.hpp"
#include "load/loader_config.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLibraries = 16384;

bool is_musl_loader(const std::string& name) {
  const std::string file = fs::path(name).filename().string();
  return file.starts_with("ld-musl-") || file.starts_with("libc.musl-");
}

/// What musl's loader answers to by itself: lib{c,pthread,rt,m,dl,util,xnet}.so*
bool is_musl_libc(const std::string& name) {
  constexpr std::array<std::string_view, 7> kNames = {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};
  if (is_musl_loader(name)) return true;
  if (!name.starts_with("lib")) return false;
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view n) { return name.substr(3).starts_with(n); });
}

class Walk {
 public:
  Walk(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path, LoadedBy loaded_by)
      : tree_(tree), root_(tree.root()), loaded_by_(loaded_by) {
    const std::string path = root_.inside(file);
    std::optional<TreeFile> found = tree_.find(root_.is_this_machine() ? file : path);
    if (!found) found = TreeFile{{}, root_.is_this_machine() ? file : root_.real(path)};  // read_load_facts() says why
    facts_.push_back(tree_.load_facts(*found));
    machine_ = facts_.front().machine;
    result_.libraries.push_back({path});
    describe(0, *found);
    choose_loader();
    for (const std::string& directory : library_path)
      for (SearchDirectory& one : search_directories(directory, tokens(0), ":;"))
        library_path_.push_back(std::move(one));
  }

  WalkedClosure run() {
    if (result_.loader != LoaderKind::None) {
      prepare_system();
      for (std::uint32_t i = 0; i < result_.libraries.size(); ++i) {
        const std::vector<std::string> names = facts_[i].needed;
        for (const std::string& name : names) {
          NeededLibrary answer = find(i, name);
          result_.libraries[i].needed.push_back(std::move(answer));
        }
      }
      find_what_the_host_has_loaded();
    }
    return {std::move(result_), std::move(files_)};
  }

 private:
  void choose_loader() {
    const LoadFacts& file = facts_.front();
    if (!file.dynamic) return;  // static: it is what it is
    result_.interpreter = file.interpreter;
    const auto musl = std::find_if(file.needed.begin(), file.needed.end(),
                                   [](const std::string& name) { return is_musl_loader(name) || name == "libc.so"; });
    result_.loader = is_musl_loader(file.interpreter) || (file.interpreter.empty() && musl != file.needed.end())
                         ? LoaderKind::Musl
                         : LoaderKind::Glibc;
    if (!result_.interpreter.empty()) return;
    if (result_.loader == LoaderKind::Glibc) result_.interpreter = usual_interpreter(machine_);
    if (musl != file.needed.end() && musl->starts_with("libc.musl-"))
      result_.interpreter = "/lib/ld-musl-" + musl->substr(10);
  }

  void prepare_system() {
    if (result_.loader == LoaderKind::Musl) {
      for (const std::string& directory : musl_directories(root_, result_.interpreter, result_.errors))
        defaults_.push_back({directory, directory});
      return;
    }
    const SystemLibraries& system = tree_.system(machine_);
    if (system.cache) cache_ = &*system.cache;
    result_.errors.insert(result_.errors.end(), system.errors.begin(), system.errors.end());
    for (const std::string& directory : system.configured) configured_.push_back({directory, directory});
    for (const std::string& directory : system.defaults) defaults_.push_back({directory, directory});
  }

  /// What stands in an object about itself.
  void describe(std::uint32_t i, const TreeFile& file) {
    LoadedLibrary& library = result_.libraries[i];
    library.soname = facts_[i].soname;
    library.rpath = facts_[i].rpath;
    library.runpath = facts_[i].runpath;
    by_file_[file.id] = i;
    files_.push_back(file);
    names_[library.path] = i;
  }

  /// The program is known by the file that the kernel starts, a library by the path it was found at.
  const PathTokens& tokens(std::uint32_t i) {
    tokens_.resize(std::max<std::size_t>(tokens_.size(), i + 1));
    if (!tokens_[i]) tokens_[i] = make_tokens(i);
    return *tokens_[i];
  }

  PathTokens make_tokens(std::uint32_t i) const {
    std::error_code error;
    fs::path path = result_.libraries[i].path;
    if (path.is_relative()) path = fs::current_path(error) / path;
    if (i == 0) {
      const fs::path real =
          root_.is_this_machine() ? fs::canonical(path, error) : fs::path(root_.inside(root_.real(path)));
      if (!error) path = real;
    }
    return {path.parent_path().string(), lib_word(root_, machine_), platform_word(machine_)};
  }

  NeededLibrary find(std::uint32_t asker, const std::string& name) {
    NeededLibrary answer;
    answer.name = name;
    if (const std::uint32_t known = already_loaded(name); known != kNone) {
      answer.library = known;
      answer.found_by = FoundBy::AlreadyLoaded;
    } else if (is_loader(name)) {
      take(answer, asker, result_.interpreter, {FoundBy::Loader, {}, kNone});
    } else if (name.find('/') != std::string::npos) {
      take(answer, asker, with_tokens(name, tokens(asker)), {FoundBy::Path, {}, kNone});
    } else if (result_.loader == LoaderKind::Musl) {
      search_as_musl(answer, asker);
    } else {
      search_as_glibc(answer, asker);
    }
    if (answer.library == kNone) find_loaded_before(answer, asker);
    return answer;
  }

  /// In the real process this comes first. Here what was loaded before is not known for certain, so that a rule of the
  /// file's own counts for more.
  void find_loaded_before(NeededLibrary& answer, std::uint32_t asker) {
    if (loaded_by_ != LoadedBy::Host || host_of(answer.name) != Host::Torch) return;
    std::vector<std::string> paths = tree_.loaded_before(answer.name);
    std::error_code error;
    const std::string& file = result_.libraries.front().path;
    const std::string here = root_.is_this_machine() ? fs::absolute(file, error).lexically_normal().string() : file;
    if (const std::string folder = torch_folder_beside(here); !folder.empty())
      paths.push_back(folder + "/" + answer.name);
    const std::vector<std::string> searched = answer.searched;
    for (const std::string& path : paths)
      if (take(answer, asker, path, {FoundBy::LoadedBefore, fs::path(path).parent_path().string(), kNone})) break;
    if (answer.library == kNone) return;
    answer.searched = searched;
    host_is_here_ = true;
  }

  /// What the host's libraries have loaded in their turn is there before the file as well: libcudart.so.13 for torch.
  void find_what_the_host_has_loaded() {
    if (!host_is_here_) return;
    for (LoadedLibrary& library : result_.libraries)
      for (NeededLibrary& needed : library.needed) {
        if (needed.library != kNone) continue;
        needed.library = already_loaded(needed.name);
        if (needed.library != kNone) needed.found_by = FoundBy::AlreadyLoaded;
      }
  }

  std::uint32_t already_loaded(const std::string& name) {
    if (const auto known = names_.find(name); known != names_.end()) return known->second;
    if (result_.loader == LoaderKind::Musl) return kNone;
    for (std::uint32_t i = 0; i < result_.libraries.size(); ++i) {
      if (result_.libraries[i].soname != name) continue;
      names_[name] = i;
      return i;
    }
    return kNone;
  }

  bool is_loader(const std::string& name) const {
    if (result_.loader == LoaderKind::Musl) return is_musl_libc(name);
    return !result_.interpreter.empty() && name == fs::path(result_.interpreter).filename();
  }

  struct Rule {
    FoundBy found_by;
    std::string spelled;
    std::uint32_t of;
  };

  void search_as_glibc(NeededLibrary& answer, std::uint32_t asker) {
    if (facts_[asker].runpath.empty() && search_rpaths(answer, asker)) return;
    if (search(answer, asker, library_path_, {FoundBy::LibraryPath, {}, kNone})) return;
    if (search(answer, asker, directories_of(facts_[asker].runpath, asker), {FoundBy::Runpath, {}, asker})) return;
    const bool defaults = !facts_[asker].no_default_libraries;
    if (cache_ && search_cache(answer, asker, defaults)) return;
    if (search(answer, asker, configured_, {FoundBy::Configured, {}, kNone})) return;
    if (defaults) search(answer, asker, defaults_, {FoundBy::Default, {}, kNone});
  }

  /// Most objects have no path, and are not asked for what $ORIGIN means.
  std::vector<SearchDirectory> directories_of(const std::string& path, std::uint32_t owner) {
    return path.empty() ? std::vector<SearchDirectory>{} : search_directories(path, tokens(owner));
  }

  bool search_rpaths(NeededLibrary& answer, std::uint32_t asker) {
    for (std::uint32_t owner = asker; owner != kNone; owner = result_.libraries[owner].needed_by)
      if (search(answer, asker, directories_of(facts_[owner].rpath, owner), {FoundBy::Rpath, {}, owner})) return true;
    return false;
  }

  bool search_cache(NeededLibrary& answer, std::uint32_t asker, bool defaults) {
    const auto found = cache_->find(answer.name);
    if (found == cache_->end()) return false;
    const std::string folder = fs::path(found->second).parent_path().string();
    const auto is_default = [&](const SearchDirectory& directory) { return directory.path == folder; };
    if (!defaults && std::any_of(defaults_.begin(), defaults_.end(), is_default)) return false;
    return take(answer, asker, found->second, {FoundBy::Cache, folder, kNone});
  }

  void search_as_musl(NeededLibrary& answer, std::uint32_t asker) {
    if (search(answer, asker, library_path_, {FoundBy::LibraryPath, {}, kNone})) return;
    for (std::uint32_t owner = asker; owner != kNone; owner = result_.libraries[owner].needed_by) {
      const LoadFacts& facts = facts_[owner];
      const bool is_rpath = facts.runpath.empty();
      const Rule rule{is_rpath ? FoundBy::Rpath : FoundBy::Runpath, {}, owner};
      if (search(answer, asker, directories_of(is_rpath ? facts.rpath : facts.runpath, owner), rule)) return;
    }
    search(answer, asker, defaults_, {FoundBy::Default, {}, kNone});
  }

  bool search(NeededLibrary& answer, std::uint32_t asker, const std::vector<SearchDirectory>& directories, Rule rule) {
    for (const SearchDirectory& directory : directories) {
      if (directory.path.empty()) continue;
      rule.spelled = directory.spelled;
      if (take(answer, asker, directory.path == "/" ? "/" + answer.name : directory.path + "/" + answer.name, rule))
        return true;
      if (std::find(answer.searched.begin(), answer.searched.end(), directory.path) == answer.searched.end())
        answer.searched.push_back(directory.path);
    }
    return false;
  }

  /// True when the search ends here: the loader takes the file, or stops at it.
  bool take(NeededLibrary& answer, std::uint32_t asker, const std::string& path, const Rule& rule) {
    const std::optional<TreeFile>& file = tree_.find(path);
    if (!file) return false;
    std::uint32_t library = kNone;
    if (const auto known = by_file_.find(file->id); known != by_file_.end()) {
      library = known->second;
    } else if (!load(library, answer, asker, path, *file)) {
      return false;
    }
    names_.try_emplace(answer.name, library);
    answer.library = library;
    answer.found_by = rule.found_by;
    answer.rule = rule.spelled;
    answer.rule_of = rule.of;
    answer.searched.clear();
    return true;
  }

  bool load(std::uint32_t& library, NeededLibrary& answer, std::uint32_t asker, const std::string& path,
            const TreeFile& file) {
    LoadFacts facts;
    try {
      if (result_.libraries.size() >= kMostLibraries)
        throw InputError(file.real, "is one library too many: not followed");
      facts = tree_.load_facts(file);
    } catch (const InputError& error) {
      result_.errors.push_back(error);
    }
    const bool readable = facts.machine.machine != 0;
    if (readable && facts.machine != machine_) {
      answer.wrong_machine.push_back(path);
      return false;
    }
    library = static_cast<std::uint32_t>(result_.libraries.size());
    result_.libraries.push_back({path});
    result_.libraries.back().needed_by = asker;
    facts_.push_back(std::move(facts));
    describe(library, file);
    return true;
  }

  LoadTree& tree_;
  const Root& root_;
  const LoadedBy loaded_by_;
  bool host_is_here_ = false;  ///< a library was found that it has loaded
  Closure result_;
  std::vector<TreeFile> files_;  ///< of result_.libraries
  LoadMachine machine_;
  std::vector<LoadFacts> facts_;                   ///< of result_.libraries
  std::vector<std::optional<PathTokens>> tokens_;  ///< of result_.libraries, of those that were asked
  std::map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> by_file_;
  std::vector<SearchDirectory> library_path_, configured_, defaults_;
  const LoaderCache* cache_ = nullptr;
};

bool is_for(LoadTree& tree, const TreeFile& file, const LoadMachine& machine) {
  try {
    return tree.load_facts(file).machine == machine;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

WalkedClosure walk_closure(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path,
                           LoadedBy loaded_by) {
  return Walk(tree, file, library_path, loaded_by).run();
}

std::vector<TreeFile> find_in_system(LoadTree& tree, const LoadMachine& machine,
                                     const std::vector<std::string>& names) {
  const SystemLibraries& system = tree.system(machine);
  std::vector<TreeFile> found;
  for (const std::string& name : names) {
    std::vector<std::string> paths;
    if (system.cache)
      if (const auto cached = system.cache->find(name); cached != system.cache->end()) paths.push_back(cached->second);
    for (const std::vector<std::string>* folders : {&system.configured, &system.defaults})
      for (const std::string& folder : *folders) paths.push_back(folder + "/" + name);
    for (const std::string& path : paths)
      if (const std::optional<TreeFile>& file = tree.find(path); file && is_for(tree, *file, machine)) {
        found.push_back(*file);
        break;
      }
  }
  return found;
}

Closure closure(const std::string& file, const ClosureOptions& options) { return ClosureFinder(options).of(file); }

ClosureFinder::ClosureFinder(const ClosureOptions& options)
    : tree_(std::make_unique<LoadTree>(options.root)), library_path_(options.library_path) {}

ClosureFinder::~ClosureFinder() = default;

Closure ClosureFinder::of(const std::string& file) { return walk_closure(*tree_, file, library_path_).closure; }

}  // namespace elfaudit
