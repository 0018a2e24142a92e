// The loaded images behind rules about libraries at run time.

#include "rules/loading/loaded.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "elfaudit/error.hpp"
#include "load/load_closure.hpp"
#include "load/load_tree.hpp"
#include "resolve/exports.hpp"
#include "resolve/link_names.hpp"
#include "resolve/linked_objects.hpp"
#include "support/bytes.hpp"
#include "support/file.hpp"
#include "support/file_uses.hpp"
#include "support/packed_file.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

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

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

bool is_added_by_driver(const std::string& name) {
  return starts_with_any(base_name(name), {"libc.", "libm.", "libgcc_s.", "libstdc++.", "libpthread.", "libdl.",
                                           "librt.", "ld-", "libc++.", "libmvec.", "libatomic.", "linux-vdso."});
}

std::string option_for(const std::string& name) {
  const std::string file = std::filesystem::path(name).filename().string();
  const std::size_t so = file.find(".so");
  if (!file.starts_with("lib") || so == std::string::npos) return file;
  return "-l" + file.substr(3, so - 3);
}

namespace {

bool opens_libraries(std::span<const std::byte> bytes) {
  const std::string_view text = ByteView(bytes).text(0, bytes.size());
  constexpr std::array<std::string_view, 3> kWords = {"CDLL", "LoadLibrary", "dlopen"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Throws InputError.
std::string find_opener(const Package& package, const ObjectFacts& object) {
  namespace fs = std::filesystem;
  constexpr std::size_t kMostRead = 200;
  std::size_t read = 0;
  const bool is_wheel = package.kind == PackageKind::Wheel;
  std::optional<ZipFile> zip;
  if (is_wheel) zip.emplace(package.path);
  const fs::path top = is_wheel ? fs::path() : fs::path(package.path);
  for (fs::path folder = fs::path(is_wheel ? object.origin.entry : object.origin.path).parent_path();;) {
    std::vector<std::string> files;
    if (is_wheel) {
      std::ranges::copy_if(package.wheel.entries, std::back_inserter(files),
                           [&](const std::string& entry) { return fs::path(entry).parent_path() == folder; });
    } else {
      std::error_code error;
      note_use(folder.string());
      for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
        files.push_back(at->path().string());
    }
    std::ranges::sort(files);
    for (const std::string& file : files) {
      if (!file.ends_with(".py") || ++read > kMostRead) continue;
      if (is_wheel ? opens_libraries(zip->read(*zip->find(file)).bytes()) : opens_libraries(MappedFile(file).bytes()))
        return file;
    }
    // What lies in a site-packages folder itself is of other packages.
    const bool is_package =
        std::ranges::any_of(files, [](const std::string& f) { return f.ends_with("/__init__.py"); });
    const fs::path above = folder.parent_path();
    if (folder == top || above == folder || above.empty() || (!is_wheel && !is_package)) return {};
    folder = above;
  }
}

}  // namespace

std::string python_file_that_opens(const Package& package, const ObjectFacts& object) {
  try {
    return find_opener(package, object);
  } catch (const InputError&) {  // then it is not known
    return {};
  }
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

bool can_be_with(const Evidence& evidence, const Image& image, std::uint32_t package) {
  if (image.package == kNone || package == kNone || evidence.libraries == nullptr) return true;
  return evidence.libraries->installed_together[image.package][package];
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

// --- Processes.

bool is_writable(const ObjectFacts& object, const Symbol& symbol) {
  if (symbol.placement == Placement::Common) return true;
  return symbol.section != kNone && object.sections[symbol.section].writable &&
         !object.section_name(symbol).starts_with(".data.rel.ro");
}

bool loads_others(const Image& image) {
  return std::ranges::any_of(image.loaded, [](const ObjectFacts* object) {
    return object != nullptr && std::ranges::any_of(object->symbols, [&](const Symbol& symbol) {
             return !symbol.defined() && is_among(object->name(symbol), {"dlopen", "dlmopen"});
           });
  });
}

namespace {

/// False where one of them is another build of one, which is not loaded with it: a library of the same name, or a module
/// for another interpreter.
bool are_distinct(const std::vector<const Image*>& images) {
  std::set<std::string> names;
  for (const Image* image : images) {
    const Origin& origin = image->object->origin;
    std::string path = origin.entry.empty() ? origin.path : origin.entry;
    const std::size_t name = path.rfind('/') + 1;
    if (is_python_module(*image->object))
      path.erase(std::min(path.find('.', name), path.size()));  // pkg/a/_C of pkg/a/_C.cpython-311-x86_64-linux-gnu.so
    else
      path.erase(0, name);
    if (!names.insert(path).second) return false;
    if (!image->object->soname.empty() && image->object->soname != path && !names.insert(image->object->soname).second)
      return false;
  }
  return true;
}

class ProcessFinder {
 public:
  explicit ProcessFinder(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Process> run() {
    for (const Image& image : evidence_.images)
      if (!image.judged_with_its_loaders) add({&image}, Process::Kind::Closure);
    add_plugins();
    for (std::uint32_t package = 0; package < evidence_.packages.size(); ++package) add_modules(package);
    add_link();
    return std::move(processes_);
  }

 private:
  void add(const std::vector<const Image*>& images, Process::Kind kind) {
    Process process;
    process.kind = kind;
    process.has_program = is_program(*images.front());
    std::map<const ObjectFacts*, std::size_t> known;
    for (std::uint32_t root = 0; root < images.size(); ++root)
      for (std::uint32_t i = 0; i < images[root]->loaded.size(); ++i) {
        const ObjectFacts* object = images[root]->loaded[i];
        if (object == nullptr) continue;
        const auto [at, is_new] = known.try_emplace(object, process.parties.size());
        if (is_new) process.parties.push_back({images[root], i, object, short_name(*images[root], i)});
        process.parties[at->second].roots.insert(root);
      }
    if (!process.parties.empty()) processes_.push_back(std::move(process));
  }

  /// Shared objects that are given by name beside a program that may open them, or beside one another.
  void add_plugins() {
    std::vector<const Image*> programs, libraries, modules;
    for (const Image& image : evidence_.images) {
      if (image.package != kNone || image.loaded.empty()) continue;
      if (is_program(image))
        programs.push_back(&image);
      else if (image.judged_with_its_loaders || is_of_the_system(absolute(image.object->origin.path)))
        continue;
      else
        (is_python_module(*image.object) ? modules : libraries).push_back(&image);
    }
    if (modules.size() > 1 && are_distinct(modules)) add(modules, Process::Kind::Modules);
    if (libraries.empty() || !are_distinct(libraries)) return;
    if (programs.empty() && libraries.size() > 1) add(libraries, Process::Kind::Plugins);
    for (const Image* program : programs) {
      if (!loads_others(*program)) continue;
      std::vector<const Image*> images = {program};
      images.insert(images.end(), libraries.begin(), libraries.end());
      add(images, Process::Kind::Plugins);
    }
  }

  static std::string absolute(const std::string& path) {
    std::error_code error;
    return std::filesystem::absolute(path, error).string();
  }

  void add_modules(std::uint32_t package) {
    std::vector<const Image*> modules;
    for (const Image& image : evidence_.images)
      if (image.package == package && is_python_module(*image.object) && !image.loaded.empty())
        modules.push_back(&image);
    if (modules.size() > 1 && are_distinct(modules)) add(modules, Process::Kind::Modules);
  }

  void add_link() {
    const LinkJob& job = evidence_.job;
    if (!job.scope.command || job.output == OutputKind::Relocatable) return;
    Process process;
    process.kind = Process::Kind::Link;
    process.has_program = job.output == OutputKind::Executable;
    const std::string name(base_name(job.output_path));
    process.parties.push_back({nullptr, 0, nullptr, name.empty() ? "the output" : name, {0}});
    for (const ObjectId id : linked_objects(evidence_.inputs, evidence_.resolution)) {
      const ObjectFacts& object = evidence_.object(id);
      if (object.kind == ObjectKind::SharedObject && object.available)
        process.parties.push_back({nullptr, 0, &object, std::string(base_name(object.origin.path)), {0}});
    }
    process.is_alone = std::ranges::all_of(process.parties, [](const Party& party) {
      return party.object == nullptr || is_runtime_library(*party.object);
    });
    std::vector<bool> own;  // names that the objects define, by number; filled in where they are asked for
    for (Party& party : process.parties) {
      if (party.object == nullptr || is_of_system(party.object->origin.path)) continue;
      if (own.empty()) own = names_of_output();
      read_kept(party, own);
    }
    processes_.push_back(std::move(process));
  }

  std::vector<bool> names_of_output() const {
    std::vector<bool> own(evidence_.names->size());
    for (const ObjectId id : linked_relocatables(evidence_.inputs, evidence_.resolution))
      for (std::uint32_t s = 0; s < evidence_.object(id).symbols.size(); ++s)
        if (evidence_.object(id).symbols[s].defined()) own[evidence_.names->of(SymbolId{id, s})] = true;
    return own;
  }

  void read_kept(Party& party, const std::vector<bool>& own) const {
    const auto is_own = [&](std::string_view name) {
      const std::uint32_t number = evidence_.names->find(name);
      return number < own.size() && own[number];
    };
    try {
      party.kept = std::make_shared<std::vector<KeptLocal>>(find_kept_local(
          *party.object, [&](std::string_view name) { return is_own(name) || shows_use_of_types(name); }));
    } catch (const InputError&) {
      // .symtab is of no use to the loader, and a damaged one is no reason to distrust the rest.
    }
  }

  const Evidence& evidence_;
  std::vector<Process> processes_;
};

bool is_data(SymbolType type) { return type == SymbolType::Object || type == SymbolType::Tls; }

std::vector<PartySymbol> symbols_of_output(const Evidence& evidence, const NameTest& is_wanted) {
  std::vector<PartySymbol> symbols;
  const Exports exports(evidence.job);
  for (const ObjectId id : linked_relocatables(evidence.inputs, evidence.resolution)) {
    const ObjectFacts& object = evidence.object(id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const std::string_view name = object.name(symbol);
      if (name.empty() || !is_wanted(name)) continue;
      const SymbolResolution resolved = evidence.resolution.resolution_of({id, s});
      if (resolved != SymbolResolution::Kept && resolved != SymbolResolution::Reference) continue;
      PartySymbol found{name,          Holding::Refers, is_data(symbol.type), is_writable(object, symbol),
                        symbol.weak(), symbol.size,     SymbolId{id, s}};
      if (resolved == SymbolResolution::Kept)
        found.holding = exports.why_not(name, object.origin, is_hidden(symbol.visibility)).empty() ? Holding::Shares
                                                                                                   : Holding::Keeps;
      symbols.push_back(found);
    }
  }
  return symbols;
}

}  // namespace

bool Process::sees(const Party& a, const Party& b) {
  return b.roots.contains(0) ||
         std::ranges::any_of(a.roots, [&](std::uint32_t root) { return b.roots.contains(root); });
}

std::vector<Process> processes(const Evidence& evidence) { return ProcessFinder(evidence).run(); }

std::vector<PartySymbol> symbols_of(const Evidence& evidence, const Party& party, const NameTest& is_wanted) {
  if (party.object == nullptr) return symbols_of_output(evidence, is_wanted);
  std::vector<PartySymbol> symbols;
  const ObjectFacts& object = *party.object;
  for (const Symbol& symbol : object.symbols) {
    const std::string_view name = object.name(symbol);
    if (name.empty() || !is_wanted(name)) continue;
    PartySymbol found{
        name,          Holding::Refers, is_data(symbol.type), symbol.defined() && is_writable(object, symbol),
        symbol.weak(), symbol.size};
    if (symbol.defined()) {
      const bool is_own = symbol.visibility == Visibility::Protected || (object.symbolic && symbol.defined());
      found.holding = is_own ? Holding::Keeps : Holding::Shares;
    }
    symbols.push_back(found);
  }
  each_kept(evidence, party, [&](const KeptLocal& kept) {
    if (is_wanted(kept.name))
      symbols.push_back({kept.name, Holding::Keeps, kept.data, kept.writable, kept.weak, kept.size});
  });
  return symbols;
}

void each_kept(const Evidence& evidence, const Party& party, const std::function<void(const KeptLocal&)>& visit) {
  if (party.kept != nullptr) std::ranges::for_each(*party.kept, visit);
  if (evidence.libraries == nullptr) return;
  const auto kept = evidence.libraries->kept_local.find(party.object);
  if (kept != evidence.libraries->kept_local.end()) std::ranges::for_each(kept->second, visit);
}

Site party_site(const Evidence& evidence, const Party& party, SymbolId id) {
  if (party.image != nullptr) return loaded_site(*party.image, party.library, Role::Kept);
  if (id.valid()) return make_site(evidence, id, Role::Kept);
  if (party.object != nullptr) return make_file_site(party.object->origin, {}, Role::Kept);
  Origin output;
  output.path = party.name;
  return make_file_site(std::move(output), {}, Role::Kept);
}

bool is_of_the_user(const Evidence& evidence, const Party& party) {
  if (party.image != nullptr) return is_of_the_user(evidence, *party.image, party.library);
  return party.object == nullptr || !is_of_system(party.object->origin.path);
}

bool are_connected(const Evidence& evidence, const Process& process, const Party& a, const Party& b) {
  if (process.kind == Process::Kind::Plugins && !Process::sees(a, b)) return true;
  if (process.kind == Process::Kind::Plugins && !Process::sees(b, a)) return true;
  std::unordered_set<std::string_view> defined, needed;
  const auto is_of_the_sources = [](std::string_view name) {
    return !starts_with_any(name, {"__", "_ZSt", "_ZNSt", "_ZNKSt", "_ZTI", "_ZTV", "_ZTS"});
  };
  const std::vector<PartySymbol> of_a = symbols_of(evidence, a, is_of_the_sources);
  const std::vector<PartySymbol> of_b = symbols_of(evidence, b, is_of_the_sources);
  const auto uses = [](const std::vector<PartySymbol>& user, const std::vector<PartySymbol>& owner) {
    std::unordered_set<std::string_view> shared;
    for (const PartySymbol& symbol : owner)
      if (symbol.holding == Holding::Shares) shared.insert(symbol.name);
    return std::ranges::any_of(user, [&](const PartySymbol& symbol) {
      return symbol.holding == Holding::Refers && shared.contains(symbol.name);
    });
  };
  return uses(of_a, of_b) || uses(of_b, of_a);
}

// --- Directories of DT_RUNPATH and DT_RPATH.

namespace {

bool is_below(const std::string& path, std::string_view folder) {
  return path == folder || path.starts_with(std::string(folder) + "/");
}

/// Where people and build services keep what they work on.
std::string kind_of_work_directory(const std::string& path) {
  for (const std::string_view home : {"/home", "/root", "/Users"})
    if (is_below(path, home)) return "is in a home directory";
  for (const std::string_view temporary : {"/tmp", "/var/tmp", "/dev/shm"})
    if (is_below(path, temporary)) return "is in a directory for temporary files, where any user can put a library";
  for (const std::string_view build : {"/build", "/builds", "/workspace", "/workspaces", "/__w", "/github", "/io",
                                       "/project", "/src", "/mnt", "/var/lib/jenkins"})
    if (is_below(path, build)) return "is a directory of the machine that built it";
  return {};
}

}  // namespace

std::string origin_lost_in(const std::string& directory) {
  if (directory.starts_with("RIGIN")) return "$O" + directory;
  return directory == "/.." || directory.starts_with("/../") ? "$ORIGIN" + directory : std::string();
}

std::string rpath_option(const Image& image, const std::string& directory) {
  const std::vector<std::string>& own = image.object->runpath;
  const bool by_make = std::ranges::any_of(own, [](const auto& one) { return one.starts_with("RIGIN"); });
  return by_make && directory.starts_with('$')
             ? fmt::format("-Wl,-rpath,'${}' in the Makefile, where $O is a variable", directory)
             : fmt::format("-Wl,-rpath,'{}'", directory);
}

std::string why_unsafe(const Evidence& evidence, const Image& image, const std::string& directory) {
  if (directory.empty()) return "is empty: the directory that the program is started in";
  if (directory.starts_with("$ORIGIN") || directory.starts_with("${ORIGIN}")) return {};
  const PackageKind kind = image.package == kNone ? PackageKind::Directory : evidence.packages[image.package].kind;
  if (kind == PackageKind::Archive && is_below_placeholder(directory)) return {};
  if (const std::string meant = origin_lost_in(directory); !meant.empty())
    return fmt::format("is what {} leaves of {}", directory.starts_with('R') ? "make" : "a shell", meant);
  if (!directory.starts_with('/') && !directory.starts_with('$'))
    return "is relative: it depends on where the program is started";
  if (evidence.libraries != nullptr && evidence.libraries->writable_by_all.contains(directory))
    return "is a directory that any user can write to";
  if (std::string why = kind_of_work_directory(std::filesystem::path(directory).lexically_normal().string());
      !why.empty())
    return why;
  if (kind == PackageKind::Wheel && directory.starts_with('/')) return "is absolute: a wheel is installed anywhere";
  return {};
}

}  // namespace elfaudit
