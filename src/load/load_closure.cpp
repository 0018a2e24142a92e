// The dynamic loader's search, for every DT_NEEDED of a file and of what it finds, breadth first.
//
// glibc (elf/dl-load.c, _dl_map_object; ld.so(8)):
//  1. A name that an object already loaded was asked for by, or has as its DT_SONAME, is that object.
//  2. A name with a '/' is a path.
//  3. Else DT_RPATH of the object that asks, of the one that loaded it, and so on up to the program; objects that have
//     a DT_RUNPATH have no DT_RPATH, and one that asks and has a DT_RUNPATH uses no object's DT_RPATH.
//  4. LD_LIBRARY_PATH.
//  5. DT_RUNPATH of the object that asks, and of no other.
//  6. ld.so.cache, then the built-in directories; neither of the latter with DF_1_NODEFLIB.
//  7. A file for another class or machine is passed over. A file that is loaded already under another name is that.
// musl (ldso/dynlink.c, load_library):
//  8. LD_LIBRARY_PATH first; then RPATH or RUNPATH, which are the same there, of the one that asks and of those that
//     loaded it; then /etc/ld-musl-ARCH.path. Objects are known by the name they were found by, not by DT_SONAME.
//     libc, libm, libpthread and their like are the loader itself.

#include "load/load_closure.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elf/object_image.hpp"
#include "elfaudit/closure.hpp"
#include "load/load_tree.hpp"
#include "scan/object_queries.hpp"
#include "scan/scan.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/name_hash.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "support/threads.hpp"

namespace elfaudit {

// --- The walk behind closure(), over any tree of files.

struct WalkedClosure {
  Closure closure;
  std::vector<TreeFile> files;  ///< of closure.libraries
};

/// May the host of a file have loaded libraries before it? Nothing is loaded before a program.
enum class LoadedBy : std::uint8_t { System, Host };

/// `file` as this machine spells it, or a path of a wheel in the tree. Throws InputError as closure() does.
WalkedClosure walk_closure(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path,
                           LoadedBy loaded_by = LoadedBy::System, bool follow_required = false);

/// Those of `names` that the system's own configuration finds for a machine: ld.so.cache, ld.so.conf, built-in
/// directories.
std::vector<TreeFile> find_in_system(LoadTree& tree, const Machine& machine, const std::vector<std::string>& names);

namespace {

namespace fs = std::filesystem;

using FileId = std::pair<std::uint64_t, std::uint64_t>;

bool is_loaded(const InputFacts& input) {
  return (input.kind == InputKind::SharedObject || input.kind == InputKind::Executable) && !input.objects.empty();
}

/// typeinfo or the vtable of a class: weak in most files.
bool is_type_info(std::string_view name) { return name.starts_with("_ZTI") || name.starts_with("_ZTV"); }

bool is_musl_loader(const std::string& name) {
  const std::string file = fs::path(name).filename().string();
  return file.starts_with("ld-musl-") || file.starts_with("libc.musl-");
}

class ImageFinder {
 public:
  ImageFinder(const LinkJob& job, const std::vector<InputFacts>& inputs, const std::vector<Package>& packages,
              const ClosureOptions& options)
      : job_(job), inputs_(inputs), packages_(packages), options_(options), together_(packages), tree_(options.root) {}

  LoadedImages run() {
    install_packages();
    add_images();
    read_libraries();
    find_loaders();
    find_names_of_two();
    find_kept_locals();
    find_missing();
    find_of_other_systems();
    find_versions_beside();
    result_.libraries.installed_together = together_.pairs();
    find_writable_directories();
    return std::move(result_);
  }

 private:
  void install_packages() {
    for (const std::uint32_t p : together_.in_order()) {
      const Package& package = packages_[p];
      if (package.kind == PackageKind::Directory) tree_.mount(package.path, p);
      std::set<std::string> links;
      for (const auto& [name, target] : package.links) {
        const std::string path = place_of(package, name);
        tree_.add_link(path, target, p, !package.is_at_root);
        links.insert(fs::path(path).lexically_normal().string());
      }
      for (const InputFacts& file : package.files) {
        if (!is_loaded(file)) continue;
        offer(file, installed_path(package, file), p);
        if (package.kind == PackageKind::Directory) continue;
        const ObjectFacts& object = file.objects.front();
        tree_.add(installed_path(package, file), object, p);
        // The symbolic link that ldconfig makes when a package is installed, where the package has none.
        if (!package.is_at_root || object.soname.empty() || base_name(object.soname) != object.soname) continue;
        const fs::path link = fs::path(installed_path(package, file)).parent_path() / object.soname;
        if (!links.contains(link.lexically_normal().string())) tree_.add(link.string(), object, p);
      }
    }
    if (!job_.scope.command)
      for (const InputFacts& input : inputs_) offer(input, input.path, kNone);
  }

  /// A library of torch that is given is the one that `import torch` loads.
  void offer(const InputFacts& file, const std::string& path, std::uint32_t package) {
    const std::string name = fs::path(path).filename().string();
    if (is_loaded(file) && file.objects.front().available && host_of(name) == Host::Torch)
      tree_.add_loaded_before(name, path, package);
  }

  void add_images() {
    std::set<std::string> seen;  // a file named twice is one image
    tree_.see(together_.in_order());
    if (!job_.scope.command)
      for (const InputFacts& input : inputs_)
        if (is_loaded(input) && input.objects.front().available && seen.insert(input.path).second)
          add(input.objects.front(), input.path, kNone);
    for (std::uint32_t p = 0; p < packages_.size(); ++p) {
      tree_.see(together_.with(p));
      const bool packed = packages_[p].kind != PackageKind::Directory;
      for (const InputFacts& file : packages_[p].files) {
        if (!is_loaded(file)) continue;
        const std::string path = installed_path(packages_[p], file);
        if (packed || seen.insert(path).second) add(file.objects.front(), path, p);
      }
    }
  }

  static LoadedBy loaded_by(const ObjectFacts& object) {
    return object.kind == ObjectKind::Executable ? LoadedBy::System : LoadedBy::Host;
  }

  void add(const ObjectFacts& object, const std::string& path, std::uint32_t package) {
    Image image;
    image.object = &object;
    image.package = package;
    std::vector<TreeFile> files;
    try {
      WalkedClosure walked = walk_closure(tree_, path, options_.library_path, loaded_by(object));
      image.closure = std::move(walked.closure);
      image.system_is_here = is_system_here(image);
      files = std::move(walked.files);
    } catch (const InputError& error) {
      image.closure.errors.push_back(error);
    }
    // The file itself is known, and so is what wheels and other inputs have.
    if (!files.empty()) known_[files.front().id] = &object;
    hosts_.push_back(!files.empty() && is_python_module(object) ? libraries_of_interpreter(object)
                                                                : std::vector<TreeFile>{});
    files_.push_back(std::move(files));
    result_.images.push_back(std::move(image));
  }

  bool is_system_here(const Image& image) {
    const std::string& loader = image.closure.interpreter;
    if (!tree_.root().is_this_machine() || loader.empty() || tree_.find(loader)) return true;
    return image.closure.loader == LoaderKind::Glibc && tree_.find(usual_interpreter(machine_of(*image.object)));
  }

  static Machine machine_of(const ObjectFacts& object) { return {object.machine, object.is_64, object.big_endian}; }

  std::vector<TreeFile> libraries_of_interpreter(const ObjectFacts& module) {
    return find_in_system(tree_, {module.machine, module.is_64, module.big_endian}, libraries_of_the_interpreter());
  }

  /// Facts of everything that is in a closure, each file once.
  void read_libraries() {
    std::vector<std::pair<FileId, std::string>> unread;
    for (const auto* lists : {&files_, &hosts_})
      for (const std::vector<TreeFile>& files : *lists)
        for (const TreeFile& file : files) {
          if (!known_.try_emplace(file.id, file.facts).second || file.facts != nullptr) continue;
          unread.emplace_back(file.id, file.real);
        }
    std::vector<InputFacts> read(unread.size());
    for_each_parallel(unread.size(), 1, [&](std::size_t i) { read[i] = scan_input(unread[i].second); });
    for (std::size_t i = 0; i < read.size(); ++i)
      if (is_loaded(read[i]))
        known_[unread[i].first] = &result_.libraries.objects.emplace_back(std::move(read[i].objects.edit().front()));
    for (std::size_t i = 0; i < files_.size(); ++i) {
      for (const TreeFile& file : files_[i]) result_.images[i].loaded.push_back(known_.at(file.id));
      for (const TreeFile& file : hosts_[i])
        if (known_.at(file.id) != nullptr) result_.images[i].host.push_back(known_.at(file.id));
    }
  }

  /// A library that another image loads is judged there. Of files that load each other, each is judged by itself.
  void find_loaders() {
    std::map<const ObjectFacts*, std::size_t> image_of;
    for (std::size_t i = 0; i < result_.images.size(); ++i) image_of.try_emplace(result_.images[i].object, i);
    const auto loads = [&](const Image& image, const ObjectFacts* object) {
      return std::ranges::find(image.loaded, object) != image.loaded.end();
    };
    for (const Image& loader : result_.images)
      for (std::size_t i = 1; i < loader.loaded.size(); ++i) {
        const auto found = image_of.find(loader.loaded[i]);
        if (loader.loaded[i] == nullptr || found == image_of.end()) continue;
        Image& library = result_.images[found->second];
        if (library.judged_with_its_loaders || &library == &loader || is_python_module(*library.object)) continue;
        library.judged_with_its_loaders = !loads(library, loader.object);
      }
  }

  /// May two images be loaded by one process? A shared object that is named, and what is given with it; what is
  /// installed together for Python; programs are processes of their own, and so are builds of one module for several
  /// interpreters.
  bool may_meet(const Image& a, const Image& b) const {
    if (a.object->kind == ObjectKind::Executable || b.object->kind == ObjectKind::Executable) return false;
    if (a.package == kNone || b.package == kNone) return !are_alternatives(a, b);
    if (!together_.has(a.package, b.package)) return false;
    return is_for_python(a) && is_for_python(b) && !are_alternatives(a, b);
  }

  bool is_for_python(const Image& image) const {
    if (image.package == kNone || packages_[image.package].kind == PackageKind::Wheel) return true;
    if (is_python_module(*image.object)) return true;
    return std::ranges::any_of(packages_[image.package].files, [](const InputFacts& file) {
      return is_loaded(file) && is_python_module(file.objects.front());
    });
  }

  /// Modules for two interpreters: "_C.cpython-311-..." and "_C.cpython-312-...".
  static bool are_alternatives(const Image& a, const Image& b) {
    const std::string first = interpreter_of(*a.object);
    const std::string second = interpreter_of(*b.object);
    return !first.empty() && !second.empty() && first != second;
  }

  /// "311" of "_C.cpython-311-x86_64-linux-gnu.so"; empty where the name doesn't say.
  static std::string interpreter_of(const ObjectFacts& object) {
    const std::string name = object.origin.display();
    const std::size_t at = name.rfind(".cpython-");
    if (at == std::string::npos) return {};
    return name.substr(at + 9, name.find_first_of("-.", at + 9) - at - 9);
  }

  struct Answer {
    std::uint32_t image;
    std::uint32_t library;
    const ObjectFacts* facts;
  };

  /// Each name that is asked for, and the files that it leads to. A file that was given answers to its DT_SONAME too.
  void find_names_of_two() {
    std::map<std::string, std::vector<Answer>> answers;
    const auto add_answer = [&](const std::string& name, std::uint32_t image, std::uint32_t library) {
      const ObjectFacts* facts = result_.images[image].loaded[library];
      std::vector<Answer>& known = answers[name];
      if (facts == nullptr) return;
      for (auto at = known.rbegin(); at != known.rend() && at->image == image; ++at)
        if (at->facts == facts) return;
      known.push_back({image, library, facts});
    };
    for (std::uint32_t i = 0; i < result_.images.size(); ++i) {
      const Image& image = result_.images[i];
      if (image.loaded.empty()) continue;
      for (const LoadedLibrary& library : image.closure.libraries)
        for (const NeededLibrary& needed : library.needed)
          if (needed.library != kNone && needed.name.find('/') == std::string::npos &&
              needed.found_by != FoundBy::Loader)
            add_answer(needed.name, i, needed.library);
    }
    for (std::uint32_t i = 0; i < result_.images.size(); ++i) {
      const Image& image = result_.images[i];
      // What lies in a package and nothing loads has no part in a process.
      const bool takes_part = image.package == kNone || image.judged_with_its_loaders;
      if (takes_part && !image.loaded.empty() && answers.count(image.object->soname) != 0)
        add_answer(image.object->soname, i, 0);
    }
    const auto other_than_first = [](const std::vector<Answer>& list) {
      return std::ranges::any_of(list, [&](const Answer& one) { return one.facts != list.front().facts; });
    };
    for (const auto& [name, list] : answers) {
      if (!other_than_first(list)) continue;
      if (std::optional<NameOfTwo> clash = first_clash(name, list)) result_.libraries.names_of_two.push_back(*clash);
    }
  }

  std::optional<NameOfTwo> first_clash(const std::string& name, const std::vector<Answer>& answers) const {
    for (std::size_t first = 0; first < answers.size(); ++first)
      for (std::size_t second = first + 1; second < answers.size(); ++second) {
        const Answer& a = answers[first];
        const Answer& b = answers[second];
        if (a.facts == b.facts || !may_meet(result_.images[a.image], result_.images[b.image])) continue;
        if (a.facts->machine != b.facts->machine || a.facts->is_64 != b.facts->is_64 ||
            is_one_build(*a.facts, *b.facts))
          continue;
        return NameOfTwo{name, {a.image, a.library}, {b.image, b.library}};
      }
    return std::nullopt;
  }

  /// Copies of one file are one library, whichever is loaded: wheels that were repaired have the same libgfortran.
  static bool is_one_build(const ObjectFacts& a, const ObjectFacts& b) {
    try {
      ObjectBytes bytes;
      const auto first = bytes.of(a.origin);
      const auto second = bytes.of(b.origin);
      return std::ranges::equal(first, second);
    } catch (const InputError&) {
      return false;
    }
  }

  /// A definition that a file does not export is compared with those of the same name that other files export, and with
  /// those that they do not export either.
  void find_kept_locals() {
    std::unordered_set<std::string_view> exported;
    std::set<const ObjectFacts*> seen;
    std::vector<const ObjectFacts*> objects;
    for (const Image& image : result_.images) {
      if (image.loaded.size() < 2 && result_.images.size() < 2) continue;
      for (const ObjectFacts* object : image.loaded) {
        if (object == nullptr || !seen.insert(object).second) continue;
        objects.push_back(object);
        for (const Symbol& symbol : object->symbols)
          if (symbol.defined() && (symbol.binding == Binding::Global || is_type_info(object->name(symbol))))
            exported.insert(object->name(symbol));
      }
    }
    std::vector<std::vector<KeptLocal>> kept(objects.size());
    std::vector<std::vector<std::uint32_t>> others(objects.size());  // hashes of what no file exports
    const auto read = [&](std::size_t i, const std::function<bool(std::string_view)>& is_wanted) {
      try {
        std::ranges::move(find_kept_local(*objects[i], is_wanted), std::back_inserter(kept[i]));
      } catch (const InputError&) {
        // .symtab is of no use to the loader, and a damaged one is no reason to distrust the rest.
      }
    };
    const auto is_compressed = [&](std::size_t i) { return !objects[i]->origin.entry.empty(); };
    for_each_parallel(objects.size(), 1, [&](std::size_t i) {
      if (is_compressed(i)) return;
      read(i, [&](std::string_view name) {
        if (exported.contains(name) || (may_use_libcxx(*objects[i]) && shows_use_of_types(name))) return true;
        others[i].push_back(short_hash(name));
        return false;
      });
    });
    // A file of a wheel is decompressed into memory, gigabytes of some: one at a time.
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (is_compressed(i)) read(i, [&](std::string_view name) { return exported.contains(name); });
    const std::unordered_set<std::uint32_t> repeated = in_two_lists(others);
    const auto is_repeated = [&](std::uint32_t hash) { return repeated.contains(hash); };
    for_each_parallel(objects.size(), 1, [&](std::size_t i) {
      if (std::ranges::none_of(others[i], is_repeated)) return;
      read(i, [&](std::string_view name) {
        return !exported.contains(name) && is_repeated(short_hash(name)) &&
               !(may_use_libcxx(*objects[i]) && shows_use_of_types(name));
      });
    });
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (!kept[i].empty()) result_.libraries.kept_local.emplace(objects[i], std::move(kept[i]));
  }

  static bool may_use_libcxx(const ObjectFacts& object) {
    return std::ranges::none_of(object.needed, [](std::string_view name) { return name.starts_with("libstdc++"); });
  }

  static std::uint32_t short_hash(std::string_view name) { return static_cast<std::uint32_t>(hash_text(name) >> 32); }

  static std::unordered_set<std::uint32_t> in_two_lists(std::vector<std::vector<std::uint32_t>>& lists) {
    std::unordered_set<std::uint32_t> seen, repeated;
    for (std::vector<std::uint32_t>& list : lists) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
      for (const std::uint32_t hash : list)
        if (!seen.insert(hash).second) repeated.insert(hash);
    }
    return repeated;
  }

  /// Where libraries are that were not found.
  void find_missing() {
    std::set<std::string> names;
    std::set<std::string> folders;
    for (const Image& image : result_.images)
      for (const LoadedLibrary& library : image.closure.libraries)
        for (const NeededLibrary& needed : library.needed) {
          if (needed.library != kNone) continue;
          names.insert(fs::path(needed.name).filename().string());
          // "libs" beside "bin", or one of the folders of the same build.
          if (image.package == kNone) add_neighbours(library.path, folders);
        }
    if (names.empty()) return;
    for (const std::string& path : find_by_name(tree_.root(), names, {folders.begin(), folders.end()}))
      add_file(names, path);
    for (std::uint32_t p = 0; p < packages_.size(); ++p)
      for (const InputFacts& file : packages_[p].files) {
        if (!is_loaded(file)) continue;
        const ObjectFacts& object = file.objects.front();
        add_place(names,
                  {object.origin.display(), object.origin.entry, object.machine, object.is_64, object.big_endian, p});
      }
  }

  static void add_neighbours(const std::string& file, std::set<std::string>& folders) {
    const fs::path folder = fs::path(normal(file)).parent_path();
    if (!folder.relative_path().empty()) folders.insert(folder.string());
  }

  /// Linker scripts and what else has the name is not a library.
  void add_file(const std::set<std::string>& names, const std::string& path) {
    try {
      const Machine machine = read_load_facts(tree_.root().real(path)).machine;
      add_place(names, {path, {}, machine.number, machine.is_64, machine.big_endian, kNone});
    } catch (const InputError&) {
      return;
    }
  }

  void add_place(const std::set<std::string>& names, const Whereabouts& place) {
    const fs::path path = place.entry.empty() ? place.path : place.entry;
    // The CUDA toolkit's stand-ins for libraries of the driver, to be linked against and never to be loaded.
    if (path.parent_path().filename() == "stubs") return;
    for (const std::string& wanted : names) {
      if (library_stem(wanted) != library_stem(path.filename().string())) continue;
      std::vector<Whereabouts>& places = result_.libraries.elsewhere[wanted];
      const auto same = [&](const Whereabouts& known) { return normal(known.path) == normal(place.path); };
      const auto known = std::ranges::find_if(places, same);
      if (known == places.end())
        places.push_back(place);
      else if (known->package == kNone)
        known->package = place.package;
    }
  }

  static std::string normal(const std::string& path) {
    std::error_code error;
    return fs::absolute(path, error).lexically_normal().string();
  }

  /// True for the libraries of glibc, musl and GCC, which every system has. A wheel should need no others of it.
  static bool is_of_every_system(std::string_view name) {
    return starts_with_any(name, {"ld-", "libgcc_s.", "libstdc++.", "libresolv.", "libnsl.", "libanl.", "libmvec."}) ||
           is_musl_loader(std::string(name)) || is_among(name, libraries_of_the_interpreter());
  }

  /// Is there a file of that name for the image's machine that is given with it, or lies near it?
  bool is_given(const Image& image, const std::string& name) const {
    const auto places = result_.libraries.elsewhere.find(name);
    if (places == result_.libraries.elsewhere.end()) return false;
    const Machine machine = machine_of(*image.object);
    return std::ranges::any_of(places->second, [&](const Whereabouts& place) {
      if (fs::path(place.entry.empty() ? place.path : place.entry).filename() != name) return false;
      if (Machine{place.machine, place.is_64, place.big_endian} != machine) return false;
      if (place.package == kNone)
        return image.package == kNone && !starts_with_any(place.path, {"/usr/", "/opt/", "/lib"});
      return image.package == kNone || together_.has(image.package, place.package);
    });
  }

  /// Names that only the system of another machine could have are not judged.
  void find_of_other_systems() {
    std::map<std::string, std::set<std::string>> names;  // by machine
    for (Image& image : result_.images) {
      if (image.system_is_here) continue;
      const bool of_wheel = image.package != kNone && packages_[image.package].kind == PackageKind::Wheel;
      for (const LoadedLibrary& library : image.closure.libraries)
        for (const NeededLibrary& needed : library.needed) {
          if (needed.library != kNone || host_of(needed.name) != Host::None) continue;
          if (!is_of_every_system(needed.name) && (of_wheel || is_given(image, needed.name))) continue;
          image.of_its_system.insert(needed.name);
          names[image.closure.interpreter].insert(needed.name);
        }
    }
    for (const auto& [interpreter, some] : names) {
      constexpr std::size_t kMost = 4;
      result_.notes.push_back(some_of({some.begin(), some.end()}, kMost) + (some.size() == 1 ? " is" : " are") +
                              " not judged: this machine has no system with " + interpreter +
                              "; --root DIR names the tree of one");
    }
  }

  /// Reads the other versions of each library that lacks a needed symbol version, from the folder of that library.
  void find_versions_beside() {
    for (const Image& image : result_.images)
      for (const ObjectFacts* asker : image.loaded) {
        if (asker == nullptr) continue;
        for (const VersionNeed& need : asker->version_needs)
          for (std::uint32_t i = 1; i < image.loaded.size(); ++i) {
            const ObjectFacts* library = image.loaded[i];
            if (library == nullptr || library->soname != asker->text(need.file) || library->origin.is_member())
              continue;
            const std::string_view wanted = asker->text(need.version);
            if (std::ranges::none_of(library->versions, [&](Text v) { return library->text(v) == wanted; }))
              read_versions_beside(*library);
          }
      }
  }

  void read_versions_beside(const ObjectFacts& library) {
    constexpr std::size_t kMost = 8;
    const auto [at, first] = result_.libraries.versions_beside.try_emplace(&library);
    if (!first) return;
    std::vector<std::string> paths;
    const fs::path folder = fs::path(library.origin.path).parent_path();
    note_use(folder.string());
    std::error_code error;
    for (fs::directory_iterator file(folder.empty() ? "." : folder, error); !error && file != fs::directory_iterator();
         file.increment(error))
      if (std::error_code unknown; library_stem(file->path().filename().string()) == library_stem(library.soname) &&
                                   !file->is_symlink(unknown) && file->is_regular_file(unknown))
        paths.push_back((folder / file->path().filename()).string());
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
      if (at->second.size() == kMost || is_same_file(path, library.origin.path)) continue;
      InputFacts facts = scan_input(path);
      if (!is_loaded(facts) || facts.objects.front().soname != library.soname) continue;
      at->second.push_back(&result_.libraries.objects.emplace_back(std::move(facts.objects.edit().front())));
    }
  }

  static bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    return fs::equivalent(a, b, error);
  }

  /// Directories of RUNPATHs that anyone can write to, or make.
  void find_writable_directories() {
    for (const Image& image : result_.images)
      for (const std::string& directory : image.object->runpath) {
        if (!directory.starts_with('/') || directory.find('$') != std::string::npos) continue;
        struct stat status {};
        fs::path at = fs::path(directory).lexically_normal();
        while (!get_status(tree_.root().real(at.string()), status) && at.has_relative_path()) at = at.parent_path();
        if (S_ISDIR(status.st_mode) && (status.st_mode & S_IWOTH) != 0)
          result_.libraries.writable_by_all.insert(directory);
      }
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const std::vector<Package>& packages_;
  const ClosureOptions& options_;
  const InstalledTogether together_;
  LoadTree tree_;
  LoadedImages result_;
  std::vector<std::vector<TreeFile>> files_;  // of the closure of each image
  std::vector<std::vector<TreeFile>> hosts_;  // of what the interpreter of each has loaded
  std::map<FileId, const ObjectFacts*> known_;
};

std::vector<ObjectFacts> read_libraries(const std::vector<TreeFile>& files) {
  std::vector<ObjectFacts> libraries;
  for (const TreeFile& file : files)
    if (InputFacts facts = scan_input(file.real); is_loaded(facts))
      libraries.push_back(std::move(facts.objects.edit().front()));
  return libraries;
}

/// Those of `names` that are installed for the machine of `object`.
std::vector<ObjectFacts> read_installed(const ObjectFacts& object, const std::string& root,
                                        const std::vector<std::string>& names) {
  LoadTree tree(root);
  return read_libraries(find_in_system(tree, {object.machine, object.is_64, object.big_endian}, names));
}

}  // namespace

std::vector<ObjectFacts> read_interpreter_libraries(const ObjectFacts& object, const std::string& root) {
  return read_installed(object, root, libraries_of_the_interpreter());
}

std::vector<ObjectFacts> read_loaded_with(const std::vector<const ObjectFacts*>& objects,
                                          const ClosureOptions& options) {
  LoadTree tree(options.root);
  std::set<FileId> known;
  std::vector<TreeFile> found;
  for (const ObjectFacts* object : objects) try {
      for (TreeFile& file : walk_closure(tree, object->origin.path, options.library_path).files)
        if (known.insert(file.id).second) found.push_back(std::move(file));
    } catch (const InputError&) {  // reported where it is read
    }
  return read_libraries(found);
}

std::vector<ObjectFacts> read_system_libraries(const ObjectFacts& object, const std::string& root) {
  return read_installed(object, root, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"});
}

LoadedImages find_images(const LinkJob& job, const std::vector<InputFacts>& inputs,
                         const std::vector<Package>& packages, const ClosureOptions& options) {
  return ImageFinder(job, inputs, packages, options).run();
}

namespace {

/// What musl's loader answers to by itself: lib{c,pthread,rt,m,dl,util,xnet}.so*
bool is_musl_libc(const std::string& name) {
  constexpr std::string_view kNames[] = {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};
  if (is_musl_loader(name)) return true;
  if (!name.starts_with("lib")) return false;
  return std::ranges::any_of(kNames, [&](std::string_view n) { return name.substr(3).starts_with(n); });
}

class Walk {
 public:
  Walk(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path, LoadedBy loaded_by,
       bool follow_required)
      : tree_(tree), root_(tree.root()), loaded_by_(loaded_by), follow_required_(follow_required) {
    std::string path = root_.inside(file);
    std::optional<TreeFile> found = tree_.find(root_.is_this_machine() ? file : path);
    if (!found && is_there(file)) {
      path = tree_.take_outside(file);
      found = tree_.find(path);
    }
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
      find_needed_from(0);
      for (std::uint32_t i = 0; i < result_.libraries.size(); ++i) open_libraries(i);
      find_what_the_host_has_loaded();
    }
    return {std::move(result_), std::move(files_)};
  }

 private:
  void find_needed_from(std::uint32_t first) {
    for (std::uint32_t i = first; i < result_.libraries.size(); ++i) {
      const std::vector<std::string> names = facts_[i].needed;
      for (const std::string& name : names) {
        NeededLibrary answer = find(i, name);
        result_.libraries[i].needed.push_back(std::move(answer));
      }
    }
  }

  /// The libraries that the notes of one name. dlopen() searches as for DT_NEEDED, in musl as for one of the program.
  void open_libraries(std::uint32_t opener) {
    const std::vector<DlopenNote> notes = facts_[opener].dlopen_notes;
    for (const DlopenNote& note : notes) {
      OpenedLibrary opened{note};
      for (const std::string& name : note.sonames)
        if (opened.path.empty()) open(opened, opener, name);
      result_.libraries[opener].opened.push_back(std::move(opened));
    }
  }

  void open(OpenedLibrary& opened, std::uint32_t opener, const std::string& name) {
    const auto known = static_cast<std::uint32_t>(result_.libraries.size());
    const std::size_t errors = result_.errors.size();
    const std::uint32_t asker = result_.loader == LoaderKind::Musl ? 0 : opener;
    std::vector<std::string> searched = std::move(opened.answer.searched);
    opened.answer = find(asker, name);
    if (opened.answer.library == kNone) {  // every directory that was searched for an alternative, each once
      for (std::string& directory : opened.answer.searched)
        if (std::ranges::find(searched, directory) == searched.end()) searched.push_back(std::move(directory));
      opened.answer.searched = std::move(searched);
      return;
    }
    opened.path = result_.libraries[opened.answer.library].path;
    if (opened.answer.library != known) return;
    if (follow_required_ && opened.required()) return find_needed_from(known);
    result_.errors.erase(result_.errors.begin() + static_cast<std::ptrdiff_t>(errors), result_.errors.end());
    forget(known);
    opened.answer.library = kNone;
  }

  /// Takes the last library out again.
  void forget(std::uint32_t library) {
    result_.libraries.pop_back();
    facts_.pop_back();
    by_file_.erase(files_.back().id);
    files_.pop_back();
    tokens_.resize(std::min<std::size_t>(tokens_.size(), library));
    std::erase_if(names_, [&](const auto& entry) { return entry.second == library; });
  }

  void choose_loader() {
    const LoadFacts& file = facts_.front();
    if (!file.dynamic) return;  // static: it is what it is
    result_.interpreter = file.interpreter;
    const auto musl = std::ranges::find_if(
        file.needed, [](const std::string& name) { return is_musl_loader(name) || name == "libc.so"; });
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

  /// What is in an object about itself.
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
      note_use(path.string(), Level::Identity);
      const fs::path real =
          root_.real(path.string()) == path ? fs::canonical(path, error) : fs::path(root_.inside(root_.real(path)));
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
      // A relative one is a file of the folder that the program is started in, whichever that will be.
      if (const std::string path = with_tokens(name, tokens(asker)); path.starts_with('/'))
        take(answer, asker, path, {FoundBy::Path, {}, kNone});
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
    if (!defaults && std::ranges::any_of(defaults_, is_default)) return false;
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
      if (std::ranges::find(answer.searched, directory.path) == answer.searched.end())
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
      if (result_.libraries.size() >= limits::kClosureLibraries)
        throw InputError(file.real, "is not followed: there are too many libraries");
      facts = tree_.load_facts(file);
    } catch (const InputError& error) {
      result_.errors.push_back(error);
    }
    const bool readable = facts.machine.number != 0;
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
  const bool follow_required_;  ///< what a required library of a note needs is a part of the closure
  bool host_is_here_ = false;   ///< a library was found that it has loaded
  Closure result_;
  std::vector<TreeFile> files_;  ///< of result_.libraries
  Machine machine_;
  std::vector<LoadFacts> facts_;                   ///< of result_.libraries
  std::vector<std::optional<PathTokens>> tokens_;  ///< of result_.libraries, of those that were asked
  std::map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> by_file_;
  std::vector<SearchDirectory> library_path_, configured_, defaults_;
  const LoaderCache* cache_ = nullptr;
};

bool is_for(LoadTree& tree, const TreeFile& file, const Machine& machine) {
  try {
    return tree.load_facts(file).machine == machine;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

WalkedClosure walk_closure(LoadTree& tree, const std::string& file, const std::vector<std::string>& library_path,
                           LoadedBy loaded_by, bool follow_required) {
  return Walk(tree, file, library_path, loaded_by, follow_required).run();
}

std::vector<TreeFile> find_in_system(LoadTree& tree, const Machine& machine, const std::vector<std::string>& names) {
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

Closure ClosureFinder::of(const std::string& file) {
  return walk_closure(*tree_, file, library_path_, LoadedBy::System, true).closure;
}

}  // namespace elfaudit
