#include "load/images.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "load/closure_walk.hpp"
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
  }

  void add_images() {
    std::set<std::string> seen;  // a file named twice is one image
    if (!job_.from_command)
      for (const InputFacts& input : inputs_)
        if (is_loaded(input) && input.objects.front().at_hand && seen.insert(input.path).second)
          add(input.objects.front(), input.path, kNone);
    for (std::size_t p = 0; p < packages_.size(); ++p) {
      const bool wheel = packages_[p].kind == PackageKind::Wheel;
      for (const InputFacts& file : packages_[p].files) {
        if (!is_loaded(file)) continue;
        const ObjectFacts& object = file.objects.front();
        const std::string path = wheel ? installed(object.origin.entry) : file.path;
        if (wheel || seen.insert(path).second) add(object, path, static_cast<std::uint32_t>(p));
      }
    }
  }

  void add(const ObjectFacts& object, const std::string& path, std::uint32_t package) {
    Image image;
    image.object = &object;
    image.package = package;
    std::vector<TreeFile> files;
    try {
      WalkedClosure walked = walk_closure(tree_, path, options_.library_path);
      image.closure = std::move(walked.closure);
      files = std::move(walked.files);
    } catch (const InputError& error) {
      image.closure.errors.push_back(error);
    }
    // The file itself is known, and so is what wheels and other inputs have.
    if (!files.empty()) known_[files.front().id] = &object;
    files_.push_back(std::move(files));
    result_.images.push_back(std::move(image));
  }

  /// Facts of everything that is in a closure, each file once.
  void read_libraries() {
    std::vector<std::pair<FileId, std::string>> unread;
    for (const std::vector<TreeFile>& files : files_)
      for (const TreeFile& file : files) {
        if (!known_.try_emplace(file.id, file.facts).second || file.facts != nullptr) continue;
        unread.emplace_back(file.id, file.real);
      }
    std::vector<InputFacts> read(unread.size());
    for_each_parallel(unread.size(), 1, [&](std::size_t i) { read[i] = scan_input(unread[i].second); });
    for (std::size_t i = 0; i < read.size(); ++i)
      if (is_loaded(read[i]))
        known_[unread[i].first] = &result_.libraries.objects.emplace_back(std::move(read[i].objects.front()));
    for (std::size_t i = 0; i < files_.size(); ++i)
      for (const TreeFile& file : files_[i]) result_.images[i].loaded.push_back(known_.at(file.id));
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
      add_place(names, path);
    for (const Package& package : packages_)
      for (const InputFacts& file : package.files)
        if (is_loaded(file)) add_place(names, file.objects.front().origin.display(), file.objects.front().origin.entry);
  }

  static void add_neighbours(const std::string& file, std::set<std::string>& folders) {
    std::error_code error;
    const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
    if (error || folder.relative_path().empty()) return;
    folders.insert(folder.string());
  }

  void add_place(const std::set<std::string>& names, const std::string& path, const std::string& entry = {}) {
    const std::string name = fs::path(entry.empty() ? path : entry).filename().string();
    for (const std::string& wanted : names) {
      if (library_stem(wanted) != library_stem(name)) continue;
      std::vector<std::string>& places = result_.libraries.elsewhere[wanted];
      if (std::find(places.begin(), places.end(), path) == places.end()) places.push_back(path);
    }
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
  std::map<FileId, const ObjectFacts*> known_;
};

}  // namespace

LoadedImages find_images(const LinkJob& job, const std::vector<InputFacts>& inputs,
                         const std::vector<Package>& packages, const ClosureOptions& options) {
  return ImageFinder(job, inputs, packages, options).run();
}

}  // namespace elfaudit
