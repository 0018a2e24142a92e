#include "load/images.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "elf/object_bytes.hpp"
#include "load/closure_walk.hpp"
#include "load/host_libraries.hpp"
#include "load/whereabouts.hpp"
#include "scan/kept_local.hpp"
#include "scan/scan.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<std::uint64_t, std::uint64_t>;

bool is_loaded(const InputFacts& input) {
  return (input.kind == InputKind::SharedObject || input.kind == InputKind::Executable) && !input.objects.empty();
}

/// Where pip puts an entry of a wheel (PyPA, "Binary distribution format", "The .data directory").
std::string installed(const std::string& entry) {
  const std::string site = kSitePackages;
  const std::size_t data = entry.find(".data/");
  if (data == std::string::npos || entry.find('/') < data) return site + "/" + entry;
  const std::string rest = entry.substr(data + 6);
  const auto below = [&](std::string_view folder) { return rest.substr(std::min(folder.size(), rest.size())); };
  if (rest.starts_with("purelib/") || rest.starts_with("platlib/")) return site + "/" + below("purelib/");
  if (rest.starts_with("scripts/")) return site + "/../../../bin/" + below("scripts/");
  if (rest.starts_with("data/")) return site + "/../../../" + below("data/");
  return site + "/" + entry;
}

class ImageFinder {
 public:
  ImageFinder(const LinkJob& job, const std::vector<InputFacts>& inputs, const std::vector<Package>& packages,
              const ClosureOptions& options)
      : job_(job), inputs_(inputs), packages_(packages), options_(options), tree_(options.root) {}

  LoadedImages run() {
    install_packages();
    add_images();
    read_libraries();
    find_loaders();
    find_names_of_two();
    find_kept_locals();
    find_missing();
    find_writable_directories();
    return std::move(result_);
  }

 private:
  void install_packages() {
    for (const Package& package : packages_) {
      if (package.kind == PackageKind::Directory) tree_.mount(package.path);
      if (package.kind != PackageKind::Wheel) continue;
      for (const InputFacts& file : package.files)
        if (is_loaded(file)) tree_.add(installed(file.objects.front().origin.entry), file.objects.front());
    }
    for (const Package& package : packages_)
      for (const InputFacts& file : package.files) offer(file, path_of(package, file));
    if (!job_.scope.command)
      for (const InputFacts& input : inputs_) offer(input, input.path);
  }

  /// A library of torch that is given is the one that `import torch` loads.
  void offer(const InputFacts& file, const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    if (is_loaded(file) && file.objects.front().at_hand && host_of(name) == Host::Torch)
      tree_.add_loaded_before(name, path);
  }

  static std::string path_of(const Package& package, const InputFacts& file) {
    const bool wheel = package.kind == PackageKind::Wheel && is_loaded(file);
    return wheel ? installed(file.objects.front().origin.entry) : file.path;
  }

  void add_images() {
    std::set<std::string> seen;  // a file named twice is one image
    if (!job_.scope.command)
      for (const InputFacts& input : inputs_)
        if (is_loaded(input) && input.objects.front().at_hand && seen.insert(input.path).second)
          add(input.objects.front(), input.path, kNone);
    for (std::size_t p = 0; p < packages_.size(); ++p) {
      const bool wheel = packages_[p].kind == PackageKind::Wheel;
      for (const InputFacts& file : packages_[p].files) {
        if (!is_loaded(file)) continue;
        const std::string path = path_of(packages_[p], file);
        if (wheel || seen.insert(path).second) add(file.objects.front(), path, static_cast<std::uint32_t>(p));
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
        known_[unread[i].first] = &result_.libraries.objects.emplace_back(std::move(read[i].objects.front()));
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
      return std::find(image.loaded.begin(), image.loaded.end(), object) != image.loaded.end();
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
    return is_for_python(a) && is_for_python(b) && !are_alternatives(a, b);
  }

  bool is_for_python(const Image& image) const {
    if (image.package == kNone || packages_[image.package].kind == PackageKind::Wheel) return true;
    if (is_python_module(*image.object)) return true;
    return std::any_of(
        packages_[image.package].files.begin(), packages_[image.package].files.end(),
        [](const InputFacts& file) { return is_loaded(file) && is_python_module(file.objects.front()); });
  }

  /// Two wheels of one project, or modules for two interpreters: "_C.cpython-311-..." and "_C.cpython-312-...".
  bool are_alternatives(const Image& a, const Image& b) const {
    const auto wheel = [&](const Image& image) {
      return image.package == kNone ? std::string() : packages_[image.package].wheel.name;
    };
    if (a.package != b.package && !wheel(a).empty() && wheel(a) == wheel(b)) return true;
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
      return std::any_of(list.begin(), list.end(), [&](const Answer& one) { return one.facts != list.front().facts; });
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
      return std::equal(first.begin(), first.end(), second.begin(), second.end());
    } catch (const InputError&) {
      return false;
    }
  }

  /// Whoever exports a name is compared with whoever has it and doesn't export it.
  void find_kept_locals() {
    std::unordered_set<std::string_view> exported;
    std::set<const ObjectFacts*> seen;
    std::vector<const ObjectFacts*> objects;
    for (const Image& image : result_.images) {
      if (image.loaded.size() < 2) continue;
      for (const ObjectFacts* object : image.loaded) {
        if (object == nullptr || !seen.insert(object).second) continue;
        objects.push_back(object);
        for (const Symbol& symbol : object->symbols)
          if (symbol.defined() && symbol.binding == Binding::Global) exported.insert(object->name(symbol));
      }
    }
    std::vector<std::vector<KeptLocal>> kept(objects.size());
    const auto read = [&](std::size_t i) {
      try {
        kept[i] = find_kept_local(*objects[i], exported);
      } catch (const InputError&) {
        // .symtab is of no use to the loader, and a damaged one is no reason to distrust the rest.
      }
    };
    const auto is_compressed = [&](std::size_t i) { return !objects[i]->origin.entry.empty(); };
    for_each_parallel(objects.size(), 1, [&](std::size_t i) {
      if (!is_compressed(i)) read(i);
    });
    // A file of a wheel is decompressed into memory, gigabytes of some: one at a time.
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (is_compressed(i)) read(i);
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (!kept[i].empty()) result_.libraries.kept_local.emplace(objects[i], std::move(kept[i]));
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
    std::error_code error;
    const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
    if (error || folder.relative_path().empty()) return;
    folders.insert(folder.string());
  }

  /// Linker scripts and what else has the name is no library.
  void add_file(const std::set<std::string>& names, const std::string& path) {
    try {
      const LoadMachine machine = read_load_facts(tree_.root().real(path)).machine;
      add_place(names, {path, {}, machine.machine, machine.is_64, machine.big_endian, kNone});
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
      if (std::none_of(places.begin(), places.end(), same)) places.push_back(place);
    }
  }

  static std::string normal(const std::string& path) {
    std::error_code error;
    return fs::absolute(path, error).lexically_normal().string();
  }

  /// Directories of RUNPATHs that anybody can write to, or make.
  void find_writable_directories() {
    for (const Image& image : result_.images)
      for (const std::string& directory : image.object->runpath) {
        if (!directory.starts_with('/') || directory.find('$') != std::string::npos) continue;
        struct stat status {};
        fs::path at = fs::path(directory).lexically_normal();
        while (::stat(tree_.root().real(at.string()).c_str(), &status) != 0 && at.has_relative_path())
          at = at.parent_path();
        if (S_ISDIR(status.st_mode) && (status.st_mode & S_IWOTH) != 0)
          result_.libraries.writable_by_all.insert(directory);
      }
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  const std::vector<Package>& packages_;
  const ClosureOptions& options_;
  LoadTree tree_;
  LoadedImages result_;
  std::vector<std::vector<TreeFile>> files_;  // of the closure of each image
  std::vector<std::vector<TreeFile>> hosts_;  // of what the interpreter of each has loaded
  std::map<FileId, const ObjectFacts*> known_;
};

}  // namespace

std::vector<ObjectFacts> read_interpreter_libraries(const ObjectFacts& object, const std::string& root) {
  LoadTree tree(root);
  std::vector<ObjectFacts> libraries;
  for (const TreeFile& file :
       find_in_system(tree, {object.machine, object.is_64, object.big_endian}, libraries_of_the_interpreter()))
    if (InputFacts facts = scan_input(file.real); is_loaded(facts))
      libraries.push_back(std::move(facts.objects.front()));
  return libraries;
}

LoadedImages find_images(const LinkJob& job, const std::vector<InputFacts>& inputs,
                         const std::vector<Package>& packages, const ClosureOptions& options) {
  return ImageFinder(job, inputs, packages, options).run();
}

}  // namespace elfaudit
