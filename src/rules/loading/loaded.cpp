// The loaded images behind rules about libraries at run time.

#include "rules/loading/loaded.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "load/load_closure.hpp"
#include "resolve/linked_objects.hpp"
#include "support/path.hpp"

namespace elfaudit {

std::string loaded_name(const Image& image, std::uint32_t library) {
  if (library == 0) return image.object->origin.display();
  const ObjectFacts* facts = library < image.loaded.size() ? image.loaded[library] : nullptr;
  if (facts != nullptr && facts->origin.is_member()) return facts->origin.display();
  return display_path(image.closure.libraries[library].path, working_directory());
}

std::string short_name(const Image& image, std::uint32_t library) {
  const ObjectFacts* facts = library < image.loaded.size() ? image.loaded[library] : nullptr;
  if (library == 0) facts = image.object;
  return facts != nullptr && !facts->origin.entry.empty() ? facts->origin.entry : loaded_name(image, library);
}

Site loaded_site(const Image& image, std::uint32_t library, Role role) {
  Site site;
  site.role = role;
  const ObjectFacts* facts = library < image.loaded.size() ? image.loaded[library] : nullptr;
  if (library == 0) facts = image.object;
  if (facts != nullptr)
    site.origin = facts->origin;
  else
    site.origin.path = site.origin.bytes_path = image.closure.libraries[library].path;
  if (!site.origin.is_member()) site.origin.path = loaded_name(image, library);
  return site;
}

std::string shown_directory(const std::string& directory) {
  std::string normal = std::filesystem::path(directory).lexically_normal().string();
  const std::string site = "/<prefix>/lib/python/";  // where the images stage installs wheels
  if (normal.starts_with(site)) return normal.substr(site.size());
  return normal;
}

bool is_program(const Image& image) { return image.object->kind == ObjectKind::Executable; }

bool is_runtime_library(const ObjectFacts& object) {
  for (const std::string_view stem : {"libgcc_s.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libatomic.so",
                                      "libc.so", "libm.so", "libpthread.so", "ld-linux", "libc.musl-", "ld-musl-"})
    if (std::string_view(object.soname).starts_with(stem)) return true;
  return false;
}

bool is_in_packages_of_python(const std::string& path) {
  return path.find("/site-packages/") != std::string::npos || path.find("/dist-packages/") != std::string::npos;
}

bool is_of_the_system(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/opt/") || path.starts_with("/lib");
}

bool is_of_the_user(const Evidence& evidence, const Image& image, std::uint32_t library) {
  const ObjectFacts* object = library == 0 ? image.object : image.loaded[library];
  const auto is_plain = [](const Image& given) { return given.package == kNone; };
  const bool by_name = std::ranges::any_of(evidence.images, is_plain);
  for (const Image& given : evidence.images)
    if (given.object == object && (is_plain(given) || !by_name)) return true;
  std::error_code error;
  const std::string path = std::filesystem::absolute(image.closure.libraries[library].path, error).string();
  return !is_in_packages_of_python(path) && !is_of_the_system(path);
}

bool closure_is_known(const Image& image) {
  if (!image.closure.complete() || image.loaded.empty()) return false;
  if (std::ranges::find(image.loaded, nullptr) != image.loaded.end()) return false;
  for (const LoadedLibrary& library : image.closure.libraries)
    for (const NeededLibrary& needed : library.needed)
      if (needed.library == kNone) return false;
  return true;
}

std::string loaded_by(const std::vector<std::string>& images) {
  std::string text = images.empty() ? std::string() : images.front();
  if (images.size() > 1) text += " and " + std::to_string(images.size() - 1) + " more";
  return text;
}

namespace {

class MeetingFinder {
 public:
  MeetingFinder(const Evidence& evidence, const std::function<bool(const ObjectFacts&)>& takes_part, bool modules_too)
      : evidence_(evidence), takes_part_(takes_part), modules_too_(modules_too) {}

  std::vector<Meeting> run() {
    for (const bool programs : {true, false})
      for (const Image& image : evidence_.images)
        if (is_program(image) == programs) of_image(image);
    of_given();
    if (evidence_.job.scope.command && evidence_.job.output != OutputKind::Relocatable) of_link();
    return std::move(found_);
  }

 private:
  struct File {
    const Image* image = nullptr;
    std::uint32_t library = 0;
  };

  bool takes_part(const ObjectFacts* object) {
    if (object == nullptr) return false;
    const auto [at, first] = parties_.try_emplace(object, false);
    if (first) at->second = takes_part_(*object);
    return at->second;
  }

  LoadedFile loaded(const File& file) const {
    return {file.image->loaded[file.library], short_name(*file.image, file.library),
            loaded_site(*file.image, file.library, Role::Kept), is_of_the_user(evidence_, *file.image, file.library)};
  }

  void of_image(const Image& image) {
    for (std::uint32_t second = 1; second < image.loaded.size(); ++second) {
      if (!takes_part(image.loaded[second])) continue;
      if (!is_program(image) && host_of(image.closure.libraries[second].path) != Host::None) continue;
      for (std::uint32_t first = 0; first < second; ++first)
        if (takes_part(image.loaded[first]) && is_new(image.loaded[first], image.loaded[second]))
          found_.push_back({loaded({&image, first}), loaded({&image, second}),
                            is_program(image) ? Together::Program : Together::Library});
    }
  }

  /// Two programs are two processes, and so are the libraries of one and those of the other.
  void of_given() {
    std::vector<File> files;
    std::size_t of_programs = 0;
    std::set<const ObjectFacts*> seen;
    for (const bool programs : {true, false}) {
      for (const Image& image : evidence_.images) {
        if (is_program(image) != programs || image.package != kNone) continue;
        if (!modules_too_ && is_python_module(*image.object)) continue;
        for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
          if (takes_part(image.loaded[i]) && seen.insert(image.loaded[i]).second) files.push_back({&image, i});
      }
      if (programs) of_programs = files.size();
    }
    for (std::size_t second = of_programs; second < files.size(); ++second)
      for (std::size_t first = 0; first < second; ++first)
        if (is_new(files[first].image->loaded[files[first].library],
                   files[second].image->loaded[files[second].library]))
          found_.push_back({loaded(files[first]), loaded(files[second]),
                            first < of_programs ? Together::Plugin : Together::Given,
                            first < of_programs ? short_name(*files[first].image, 0) : std::string()});
  }

  void of_link() {
    std::vector<LoadedFile> files;
    for (const ObjectId id : linked_objects(evidence_.inputs, evidence_.resolution)) {
      const ObjectFacts& object = evidence_.object(id);
      if (object.kind == ObjectKind::SharedObject && takes_part(&object))
        files.push_back({&object, std::string(base_name(object.origin.path)),
                         make_object_site(evidence_, id, Role::Kept), !elfaudit::is_of_system(object.origin.path)});
    }
    for (std::size_t second = 1; second < files.size(); ++second)
      for (std::size_t first = 0; first < second; ++first)
        if (is_new(files[first].object, files[second].object))
          found_.push_back({files[first], files[second], Together::Link});
  }

  bool is_new(const ObjectFacts* first, const ObjectFacts* second) {
    return first != second && seen_.insert(std::minmax(first, second)).second;
  }

  const Evidence& evidence_;
  const std::function<bool(const ObjectFacts&)>& takes_part_;
  const bool modules_too_;
  std::map<const ObjectFacts*, bool> parties_;
  std::set<std::pair<const ObjectFacts*, const ObjectFacts*>> seen_;
  std::vector<Meeting> found_;
};

}  // namespace

std::vector<Meeting> meetings(const Evidence& evidence, const std::function<bool(const ObjectFacts&)>& takes_part,
                              bool modules_too) {
  return MeetingFinder(evidence, takes_part, modules_too).run();
}

const Definitions::Names& Definitions::names_of(const ObjectFacts& library) {
  const auto [at, first] = names_.try_emplace(&library);
  if (!first) return at->second;
  for (const Symbol& symbol : library.symbols)
    if (symbol.defined()) at->second.emplace(library.name(symbol), &symbol);
  return at->second;
}

namespace {

/// A definition of the library's first version answers to a reference without one although it is hidden, as what was
/// linked before the library had versions needs it (index 2 of .gnu.version; 1 is the library itself).
bool is_first_version(const ObjectFacts& library, std::string_view version) {
  return library.versions.size() < 2 || library.text(library.versions[1]) == version;
}

}  // namespace

bool Definitions::answers(const ObjectFacts& library, const ObjectFacts& asker, const Symbol& reference) {
  const auto [from, to] = names_of(library).equal_range(asker.name(reference));
  const std::string_view wanted = asker.text(reference.version);
  return std::any_of(from, to, [&](const auto& entry) {
    const Symbol& definition = *entry.second;
    const std::string_view version = library.text(definition.version);
    // A definition without a version answers to every one.
    if (version.empty()) return true;
    if (wanted.empty()) return definition.default_version || is_first_version(library, version);
    return version == wanted;
  });
}

std::uint32_t Definitions::first(const Image& image, const ObjectFacts& asker, const Symbol& reference) {
  for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
    if (image.loaded[i] != nullptr && answers(*image.loaded[i], asker, reference)) return i;
  return kNone;
}

const std::vector<const Symbol*>& Definitions::not_in(const Files& files, const ObjectFacts& asker) {
  const auto [at, first] = not_in_.try_emplace({&asker, files});
  if (first)
    for (const Symbol* reference : needed_symbols(asker, false))
      if (std::ranges::none_of(files, [&](const ObjectFacts* file) { return answers(*file, asker, *reference); }))
        at->second.push_back(reference);
  return at->second;
}

std::vector<const Symbol*> Definitions::unanswered(const Image& image, std::uint32_t asker) {
  // Nearly everything is answered by what a library loads itself, which is the same in the closures of thousands.
  Files own;
  for (const std::uint32_t library : reachable(image, asker))
    if (image.loaded[library] != nullptr) own.insert(image.loaded[library]);
  std::vector<const Symbol*> left = not_in(own, *image.loaded[asker]);
  std::erase_if(left, [&](const Symbol* reference) { return first(image, *image.loaded[asker], *reference) != kNone; });
  return left;
}

std::set<std::uint32_t> reachable(const Image& image, std::uint32_t from) {
  std::set<std::uint32_t> seen = {from};
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const NeededLibrary& needed : image.closure.libraries[at].needed)
      if (needed.library != kNone && seen.insert(needed.library).second) open.push_back(needed.library);
  }
  return seen;
}

std::map<std::string, std::uint32_t> names_in(const Image& image) {
  std::map<std::string, std::uint32_t> names;
  for (const LoadedLibrary& library : image.closure.libraries)
    for (const NeededLibrary& needed : library.needed) names.try_emplace(needed.name, needed.library);
  names.try_emplace(std::filesystem::path(image.closure.interpreter).filename().string(), kNone);
  return names;
}

bool defines_version(const ObjectFacts& library, std::string_view version) {
  return std::ranges::any_of(library.versions, [&](Text defined) { return library.text(defined) == version; });
}

std::vector<const Symbol*> needed_symbols(const ObjectFacts& object, bool weak_too) {
  std::vector<const Symbol*> needed;
  for (const Symbol& symbol : object.symbols)
    if (!symbol.defined() && (weak_too || !symbol.weak()) && !symbol.name.empty()) needed.push_back(&symbol);
  return needed;
}

}  // namespace elfaudit
