// The libraries that a file names: needed-not-found, version-unmet, needed-unused, runpath-unsafe.
//
// needed-not-found: a DT_NEEDED that the loader finds nowhere. needed-unused: one that nothing uses.
//
// An error is what keeps a program or library of this machine (or of --root) from being loaded. Not every file that is
// not found is one:
//  - what a wheel needs may come with another wheel, or be loaded already by the package that imports it;
//  - a module of Python, and what lies in the tree of a program, finds loaded what its host has loaded before.
// What a host is known to load first (torch, the interpreter, the driver) is one note for all of it.
//  - what a Debian, RPM or Alpine package needs comes with the packages that it requires: by the library's name, or in
//    one that Depends names, for which there is one note.
// A library that .note.dlopen names is as bad as its priority when none of its alternatives is found.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "elfaudit/shipping.hpp"
#include "load/load_closure.hpp"
#include "locate/cause/cause.hpp"
#include "rules/loading/loaded.hpp"
#include "scan/scan.hpp"
#include "ship/allow_lists.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

// --- The rows.

namespace {

namespace fs = std::filesystem;

constexpr Rule kNeededNotFound{
    .id = "needed-not-found",
    .severity = Severity::Error,
    .summary = "a library that a program or shared object needs is not in the directories that are searched"};
constexpr Rule kVersionUnmet{.id = "version-unmet",
                             .severity = Severity::Error,
                             .summary = "the library that is found does not define a symbol version that is needed"};
constexpr Rule kNeededUnused{
    .id = "needed-unused", .severity = Severity::Warning, .summary = "a library is linked and nothing uses it"};
constexpr Rule kRunpathUnsafe{
    .id = "runpath-unsafe",
    .severity = Severity::Warning,
    .summary = "libraries are searched in a directory that means another one elsewhere, or that others can write to"};

struct Known {
  std::string_view stem;   ///< up to ".so"
  std::string_view wheel;  ///< on PyPI, with the CUDA major after it
  bool major_in_name;      ///< the library's major version is that of CUDA
};

/// The wheels' names end in -cu12 up to CUDA 12; of CUDA 13, those of the toolkit have no suffix any more.
constexpr Known kWheels[] = {
    {"libcudart.so", "nvidia-cuda-runtime", true},   {"libcublas.so", "nvidia-cublas", true},
    {"libcublasLt.so", "nvidia-cublas", true},       {"libnvrtc.so", "nvidia-cuda-nvrtc", true},
    {"libnvJitLink.so", "nvidia-nvjitlink", true},   {"libcupti.so", "nvidia-cuda-cupti", true},
    {"libcudnn.so", "nvidia-cudnn", false},          {"libnccl.so", "nvidia-nccl", false},
    {"libnvshmem_host.so", "nvidia-nvshmem", false}, {"libcusparseLt.so", "nvidia-cusparselt", false},
};

/// "nvidia-nccl-cu13", or both when the major isn't known.
std::string with_cuda(std::string_view wheel, const std::string& major) {
  return major.empty() ? fmt::format("{0}-cu12 or {0}-cu13", wheel) : fmt::format("{}-cu{}", wheel, major);
}

/// "nvidia-nvshmem-cu13 (a wheel), ..." for "libnvshmem_host.so.3" and the CUDA major that the file itself needs; both
/// wheels where `cuda_major` is empty. Empty when it isn't known who has the library.
std::string package_with(const std::string& soname, const std::string& cuda_major) {
  const std::size_t so = soname.find(".so");
  if (so == std::string::npos) return {};
  const std::string stem = soname.substr(0, so + 3);
  const std::string major = soname.size() > so + 4 ? soname.substr(so + 4, soname.find('.', so + 4) - so - 4) : "";
  for (const Known& known : kWheels) {
    if (known.stem != stem) continue;
    if (!known.major_in_name)
      return with_cuda(known.wheel, cuda_major) + " (a wheel), or the package of the distribution";
    const bool suffix = major == "11" || major == "12";
    return fmt::format("{}{} (a wheel), or the CUDA toolkit {}", known.wheel, suffix ? "-cu" + major : "", major);
  }
  return {};
}

// --- version-unmet: a symbol version that the library which is found does not define. glibc's loader checks every
// version of every file before it starts a program (elf/dl-version.c):
//  1. The file of a version must be one that is loaded: the loader ends in an assertion else.
//  2. A library that defines no versions passes, with a word on standard error. One without .gnu.version, which needs
//     none either, ends in an assertion once a symbol of a version is found in it (elf/dl-lookup.c, check_match).
//  3. A version that is missing ends the start, unless it is marked weak.
// musl's loader has no such check.

/// All that one file needs of one library and doesn't get, in all closures.
struct Unmet {
  const Image* image = nullptr;
  std::uint32_t asker = 0;
  std::uint32_t library = kNone;  ///< kNone: the file of the version is not loaded
  std::string file;
  std::set<std::string> versions;
  bool weak = true;
  bool unversioned = false;
  bool asserts = false;  ///< rule 2
  std::vector<std::string> images;
};

class VersionCheck {
 public:
  explicit VersionCheck(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images) {
      if (image.closure.loader != LoaderKind::Glibc) continue;
      const std::map<std::string, std::uint32_t> names = names_in(image);
      for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
        if (image.loaded[i] != nullptr) check(image, i, names);
    }
    std::vector<Finding> findings;
    for (const auto& [key, unmet] : unmet_) findings.push_back(finding(unmet));
    return findings;
  }

 private:
  void check(const Image& image, std::uint32_t asker, const std::map<std::string, std::uint32_t>& names) {
    const ObjectFacts& object = *image.loaded[asker];
    for (const VersionNeed& need : object.version_needs) {
      const std::string file(object.text(need.file));
      const std::string_view version = object.text(need.version);
      const auto named = names.find(file);
      // A name that is needed and not found is reported as that.
      const std::uint32_t library = named == names.end() ? kNone : named->second;
      if (named != names.end() && (library == kNone || image.loaded[library] == nullptr)) continue;
      if (library != kNone && defines_version(*image.loaded[library], version)) continue;
      Unmet& unmet = add(image, asker, library, file);
      unmet.versions.emplace(version);
      unmet.weak = unmet.weak && need.weak;
      unmet.unversioned = library != kNone && image.loaded[library]->versions.empty();
      unmet.asserts = unmet.asserts || (unmet.unversioned && ends_in_assertion(*image.loaded[library], object, need));
    }
  }

  /// .gnu.version is there for versions that a file defines or needs.
  static bool ends_in_assertion(const ObjectFacts& library, const ObjectFacts& asker, const VersionNeed& need) {
    if (!library.version_needs.empty()) return false;
    const std::string_view version = asker.text(need.version);
    std::set<std::string_view> wanted;
    for (const Symbol& symbol : asker.symbols)
      if (!symbol.defined() && asker.text(symbol.version) == version) wanted.insert(asker.name(symbol));
    return std::ranges::any_of(library.symbols, [&](const Symbol& symbol) {
      return symbol.defined() && wanted.contains(library.name(symbol));
    });
  }

  Unmet& add(const Image& image, std::uint32_t asker, std::uint32_t library, const std::string& file) {
    const std::string by = library == kNone ? std::string() : loaded_name(image, library);
    Unmet& unmet = unmet_[{loaded_name(image, asker), file, by}];
    if (unmet.image == nullptr || (unmet.asker != 0 && asker == 0)) {
      unmet.image = &image;
      unmet.asker = asker;
      unmet.library = library;
      unmet.file = file;
    }
    if (asker != 0 && (unmet.images.empty() || unmet.images.back() != short_name(image, 0)))
      unmet.images.push_back(short_name(image, 0));
    return unmet;
  }

  /// Some of the symbols that need a version which isn't there.
  static std::string symbols_of(const ObjectFacts& object, const std::set<std::string>& versions) {
    constexpr std::size_t kMost = 5;
    std::vector<std::string> names;
    for (const Symbol& symbol : object.symbols)
      if (!symbol.defined() && versions.contains(std::string(object.text(symbol.version))))
        names.emplace_back(object.name(symbol));
    return some_of(names, kMost);
  }

  Finding finding(const Unmet& unmet) const {
    const std::string asker = short_name(*unmet.image, unmet.asker);
    const std::string versions = fmt::format("{}", fmt::join(unmet.versions, ", "));
    Finding finding = make_finding(kVersionUnmet, {}, {});
    finding.sites.push_back(loaded_site(*unmet.image, unmet.asker, Role::Reference));
    if (!unmet.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(unmet.images));
    const std::string symbols = symbols_of(*unmet.image->loaded[unmet.asker], unmet.versions);
    if (!symbols.empty()) finding.sites.back().notes.push_back("for " + symbols);
    if (unmet.library == kNone) {
      finding.message = fmt::format("{} needs version {} of {}, which it doesn't load", asker, versions, unmet.file);
      finding.notes.push_back(
          "the loader looks versions up by the name in .gnu.version_r, and fails an assertion: a "
          "tool has renamed the library in DT_NEEDED alone");
      finding.fixes.push_back(
          {fmt::format("rename it in both places: patchelf 0.18 or later --replace-needed; or relink {}", asker),
           {},
           {}});
      return finding;
    }
    finding.sites.push_back(loaded_site(*unmet.image, unmet.library, Role::Candidate));
    const std::string library = short_name(*unmet.image, unmet.library);
    finding.message = fmt::format("{} needs version {} of {}, and {} doesn't define {}", asker, versions, unmet.file,
                                  library, unmet.versions.size() == 1 ? "it" : "them");
    if (unmet.asserts && !unmet.weak) {
      finding.notes.push_back(
          "it has no version information at all: the loader fails an assertion when it finds such a symbol in it");
    } else if (unmet.unversioned || unmet.weak) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(unmet.weak ? "the need is weak: the loader continues"
                                         : "it defines no versions at all: the loader prints that and continues");
    }
    suggest(finding, unmet, asker);
    return finding;
  }

  /// A file of the library's name beside it, or given with it, that defines all that is needed.
  const ObjectFacts* right_one(const Unmet& unmet) const {
    const ObjectFacts& library = *unmet.image->loaded[unmet.library];
    const auto fits = [&](const ObjectFacts& other) {
      return &other != &library && other.soname == library.soname && other.machine == library.machine &&
             other.is_64 == library.is_64 &&
             std::ranges::all_of(unmet.versions, [&](const std::string& v) { return defines_version(other, v); });
    };
    for (const Image& given : evidence_.images)
      if (!library.soname.empty() && can_be_with(evidence_, *unmet.image, given.package) && fits(*given.object))
        return given.object;
    if (evidence_.libraries == nullptr) return nullptr;
    if (const auto beside = evidence_.libraries->versions_beside.find(&library);
        beside != evidence_.libraries->versions_beside.end())
      for (const ObjectFacts* other : beside->second)
        if (fits(*other)) return other;
    return nullptr;
  }

  void suggest(Finding& finding, const Unmet& unmet, const std::string& asker) const {
    const std::string& newest = *unmet.versions.rbegin();
    if (const ObjectFacts* right = right_one(unmet)) {
      const std::string library = short_name(*unmet.image, unmet.library);
      const std::string path = right->origin.entry.empty() ? right->origin.display() : right->origin.entry;
      const std::string versions = fmt::format("{}", fmt::join(unmet.versions, ", "));
      finding.sites.push_back(make_file_site(right->origin));
      finding.cause = {"other-build", fmt::format("{} defines {}; the loader finds {}", path, versions, library), {}};
      std::error_code error;
      const bool is_link = right->origin.entry.empty() && fs::is_symlink(library, error) &&
                           fs::equivalent(folder_of(path), folder_of(library), error);
      finding.fixes.push_back(
          {is_link ? fmt::format("make the link {} lead to it: ln -sfn {} '{}'", library, base_name(path), library)
                   : fmt::format("put it in place of {}", library)});
      if (!is_link && base_name(path) == unmet.file)
        finding.fixes.push_back({fmt::format("let {} search {} first", asker, folder_of(path))});
      return;
    }
    finding.fixes.push_back({on_unmet_version(newest, unmet.file, asker).fix});
  }

  const Evidence& evidence_;
  std::map<std::tuple<std::string, std::string, std::string>, Unmet> unmet_;
};

std::vector<Finding> unmet_versions(const Evidence& evidence) { return VersionCheck(evidence).run(); }

// --- needed-unused: a library that is loaded and that nothing uses. A library counts as used when anything at all
// could make it so: one of its names answers to a reference of the file, even a weak one or one that an earlier library
// answers first; a version is needed from it; another library that doesn't name it needs its symbols; or it is how one
// of these comes to be loaded.

class Uses {
 public:
  Uses(const Image& image, Definitions& definitions) : image_(image), definitions_(definitions) {}

  /// Into Image::closure's first library's needs: those that nothing uses.
  std::vector<const NeededLibrary*> unused() {
    std::vector<const NeededLibrary*> candidates;
    std::vector<const Symbol*> references = needed_symbols(*image_.object, true);
    // A program has a copy of a library's variable that it names (R_*_COPY): XawWidgetArray in listres.
    for (const Symbol& symbol : image_.object->symbols)
      if (is_program(image_) && symbol.defined() && symbol.type == SymbolType::Object) references.push_back(&symbol);
    for (const NeededLibrary& needed : image_.closure.libraries.front().needed)
      if (!is_added_by_driver(needed.name) && !is_used(needed, references)) candidates.push_back(&needed);
    if (candidates.empty()) return candidates;
    find_indirect_uses(references);
    std::erase_if(candidates, [&](const NeededLibrary* needed) { return reaches_use(needed->library); });
    return candidates;
  }

 private:
  bool is_used(const NeededLibrary& needed, const std::vector<const Symbol*>& references) {
    const ObjectFacts& library = *image_.loaded[needed.library];
    for (const VersionNeed& version : image_.object->version_needs)
      if (const std::string_view file = image_.object->text(version.file);
          file == needed.name || file == library.soname)
        return true;
    return std::ranges::any_of(
        references, [&](const Symbol* reference) { return definitions_.answers(library, *image_.object, *reference); });
  }

  /// Libraries that answer to the file without being named by it, or to another one that doesn't load them itself.
  void find_indirect_uses(const std::vector<const Symbol*>& references) {
    for (const Symbol* reference : references)
      if (const std::uint32_t by = definitions_.first(image_, *image_.object, *reference); by != kNone)
        if (!names(0, by)) used_.insert(by);
    for (std::uint32_t asker = 1; asker < image_.loaded.size(); ++asker) {
      const std::set<std::uint32_t> own = reachable(image_, asker);
      for (const Symbol* reference : needed_symbols(*image_.loaded[asker], false)) {
        const std::uint32_t by = definitions_.first(image_, *image_.loaded[asker], *reference);
        if (by != kNone && !own.contains(by)) used_.insert(by);
      }
    }
  }

  bool names(std::uint32_t asker, std::uint32_t library) const {
    const auto& needed = image_.closure.libraries[asker].needed;
    return std::ranges::any_of(needed, [&](const NeededLibrary& n) { return n.library == library; });
  }

  bool reaches_use(std::uint32_t library) const {
    const std::set<std::uint32_t> mine = reachable(image_, library);
    return std::ranges::any_of(used_, [&](std::uint32_t used) { return mine.contains(used); });
  }

  const Image& image_;
  Definitions& definitions_;
  std::set<std::uint32_t> used_;
};

/// One finding for a file: a build that links everything with everything has one cause to fix, not a hundred.
Finding unused_by(const Image& image, const std::vector<const NeededLibrary*>& unused) {
  const std::string name = short_name(image, 0);
  std::vector<std::string> libraries, options;
  for (const NeededLibrary* needed : unused) {
    libraries.push_back(needed->name);
    options.push_back(option_for(needed->name));
  }
  Finding finding = make_finding(kNeededUnused, {},
                                 fmt::format("{} is linked to {} but uses no symbol from {}", name,
                                             fmt::join(libraries, ", "), unused.size() == 1 ? "it" : "them"));
  finding.sites.push_back(loaded_site(image, 0, Role::Reference));
  for (const NeededLibrary* needed : unused)
    finding.sites.push_back(loaded_site(image, needed->library, Role::Candidate));
  finding.fixes.push_back({fmt::format("remove {} when linking {}, or put -Wl,--as-needed before {}",
                                       fmt::join(options, " "), name, unused.size() == 1 ? "it" : "them")});
  return finding;
}

}  // namespace

std::vector<Finding> unused_libraries(const Evidence& evidence) {
  std::vector<Finding> findings;
  Definitions definitions;
  for (const Image& image : evidence.images) {
    if (!closure_is_known(image)) continue;
    // Each is the likely home of what nothing defines.
    if ((is_program(image) || is_python_module(*image.object)) &&
        std::ranges::any_of(definitions.unanswered(image, 0),
                            [&](const Symbol* symbol) { return !comes_with_the_process(image.object->name(*symbol)); }))
      continue;
    if (const auto unused = Uses(image, definitions).unused(); !unused.empty())
      findings.push_back(unused_by(image, unused));
  }
  return findings;
}

// --- runpath-unsafe: a directory of DT_RUNPATH or DT_RPATH that means another one elsewhere, or that others can write
// to.

namespace {

/// Directories that everything shares; what is below the last of them is a tree of something's own.
bool is_common(const std::string& part) {
  static const std::set<std::string> names = {"/",    "usr",     "local", "opt", "bin",
                                              "sbin", "libexec", "home",  "tmp", "var"};
  return names.contains(part) || part.starts_with("lib") || part.ends_with("-linux-gnu");
}

/// As /usr/lib/jvm/java-17/lib: both files are in one tree of a program's own.
bool share_a_tree(const std::string& a, const std::string& b) {
  const fs::path first(a);
  const fs::path second(b);
  for (auto i = first.begin(), j = second.begin(); i != first.end() && j != second.end() && *i == *j; ++i, ++j)
    if (!is_common(i->string())) return true;
  return false;
}

/// The libraries that are found in a directory of the file's own path, and those that are not found at all, which may be
/// there elsewhere. `found`: a path of one of the former; else empty.
std::vector<std::string> needed_from(const Image& image, const std::string& directory, std::string& found) {
  std::set<std::string> names;
  for (const LoadedLibrary& asker : image.closure.libraries)
    for (const NeededLibrary& needed : asker.needed) {
      const bool is_there = needed.rule_of == 0 && needed.rule == directory && needed.library != kNone;
      if (is_there) found = image.closure.libraries[needed.library].path;
      if (is_there || (needed.library == kNone && host_of(needed.name) == Host::None)) names.insert(needed.name);
    }
  return {names.begin(), names.end()};
}

/// "$ORIGIN/../lib" where the image's own package has a file of that name, the nearest; else empty.
std::string own_folder_of(const Evidence& evidence, const Image& image, const std::string& name) {
  if (image.package == kNone) return {};
  std::error_code error;
  const auto place = [&](const ObjectFacts& object) {
    return object.origin.entry.empty() ? fs::absolute(object.origin.path, error).lexically_normal()
                                       : fs::path(object.origin.entry);
  };
  std::string best;
  for (const Image& other : evidence.images) {
    if (other.package != image.package || other.object->machine != image.object->machine) continue;
    const fs::path file = place(*other.object);
    if (file.filename() != name && other.object->soname != name) continue;
    const std::string relative = file.parent_path().lexically_relative(place(*image.object).parent_path()).string();
    const std::string spelled = relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative;
    if (best.empty() || spelled.size() < best.size()) best = spelled;
  }
  return best;
}

/// What the path is to be in place of one with `directory`.
std::vector<Fix> replaced_directory(const Evidence& evidence, const Image& image, const std::string& directory) {
  const auto without = [&](const std::string& instead) {
    return Fix{fmt::format("link it with{} -rpath {}; CMake replaces it by CMAKE_INSTALL_RPATH when it installs",
                           instead, directory.empty() ? "''" : directory)};
  };
  if (image.closure.libraries.empty()) return {without("out")};
  std::string found;
  std::vector<std::string> names = needed_from(image, directory, found);
  std::error_code error;
  const fs::path from = fs::absolute(image.closure.libraries.front().path, error).lexically_normal();
  const fs::path to = fs::absolute(found, error).lexically_normal();
  const bool moves_along =
      !found.empty() && !image.object->origin.is_member() && share_a_tree(from.string(), to.string());
  std::vector<std::string> path;
  std::erase_if(names, [&](const std::string& name) {
    const std::string own = own_folder_of(evidence, image, name);
    if (!own.empty() && std::ranges::find(path, own) == path.end()) path.push_back(own);
    return !own.empty();
  });
  const std::string own = fmt::format("{}", fmt::join(path, ":"));
  if (!names.empty()) {
    const std::string relative = to.parent_path().lexically_relative(from.parent_path()).string();
    path.push_back(!moves_along || relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative);
  }
  for (const std::string& other : image.object->runpath)
    if (why_unsafe(evidence, image, other).empty() && std::ranges::find(path, other) == path.end())
      path.push_back(other);
  const std::string file = short_name(image, 0);
  const std::string command = path.empty() ? fmt::format("patchelf --remove-rpath {}", file)
                                           : fmt::format("patchelf --set-rpath '{}' {}", fmt::join(path, ":"), file);
  const Fix patch{names.empty() || moves_along ? command
                                               : fmt::format("put {} beside it, and {}", some_of(names, 3), command)};
  return {patch, without(own.empty() ? "out" : fmt::format(" -Wl,-rpath,'{}' in place of", own))};
}

}  // namespace

static std::vector<Finding> unsafe_runpaths(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Image& image : evidence.images) {
    const std::string tag = image.object->runpath_is_rpath ? "RPATH" : "RUNPATH";
    for (const std::string& directory : image.object->runpath) {
      const std::string why = why_unsafe(evidence, image, directory);
      if (why.empty()) continue;
      const std::string name = short_name(image, 0);
      Finding finding =
          make_finding(kRunpathUnsafe, {}, fmt::format("'{}' in the {} of {} {}", directory, tag, name, why));
      finding.sites.push_back(loaded_site(image, 0, Role::Candidate));
      finding.fixes = replaced_directory(evidence, image, directory);
      if (const std::string meant = origin_lost_in(directory); !meant.empty())
        finding.fixes = {{fmt::format("link {} with {}", name, rpath_option(image, meant))},
                         {fmt::format("patchelf --set-rpath '{}' {}", meant, name)}};
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

namespace {

/// One needed file that one file doesn't get, in all closures it is in.
struct Missing {
  const Image* image = nullptr;
  std::uint32_t asker = 0;
  const NeededLibrary* needed = nullptr;
  std::vector<std::string> images;
  bool stops_a_program = false;
};

/// What a host loads before the files that need it.
struct Hosted {
  const Image* image = nullptr;  ///< the first file that needs some of it
  std::uint32_t asker = 0;
  std::set<std::string> askers, libraries, folders;
};

/// A library of an Android package. The device's loader finds those beside it and the device's own, by rules of its own.
bool is_of_android(const Image& image) {
  const Origin& origin = image.object->origin;
  if (!origin.path.ends_with(".apk") && !origin.path.ends_with(".aar")) return false;
  constexpr std::array<std::string_view, 5> kAbis = {"/armeabi-v7a/", "/arm64-v8a/", "/x86/", "/x86_64/", "/riscv64/"};
  const bool has_place = origin.entry.starts_with("lib/") || origin.entry.starts_with("jni/");
  return has_place && std::ranges::any_of(kAbis, [&](std::string_view abi) {
           return std::string_view(origin.entry).substr(3).starts_with(abi);
         });
}

class NotFound {
 public:
  explicit NotFound(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images)
      for (std::uint32_t i = 0; i < image.closure.libraries.size() && !image.judged_with_its_loaders; ++i)
        for (const NeededLibrary& needed : image.closure.libraries[i].needed)
          if ((needed.library == kNone || needed.found_by == FoundBy::LoadedBefore) && !is_of_android(image) &&
              !image.of_its_system.contains(needed.name))
            add(image, i, needed);
    std::vector<Finding> findings;
    for (const auto& [key, missing] : missing_) findings.push_back(finding(missing));
    for (const auto& [host, hosted] : hosted_) findings.push_back(finding(host, hosted));
    for (const auto& [package, names] : expected_) findings.push_back(finding(evidence_.packages[package], names));
    add_unopened(findings);
    return findings;
  }

 private:
  void add(const Image& image, std::uint32_t asker, const NeededLibrary& needed) {
    const Host host = host_of(needed.name);
    // A program loads its torch and its libpython itself; the driver's libraries come with the machine it runs on.
    if (host == Host::Driver || (host != Host::None && !is_program(image))) return add_hosted(image, asker, needed);
    if (is_required(image, needed)) return;
    Missing& missing = missing_[{loaded_name(image, asker), needed.name}];
    // The file itself is worth more words than one that happens to load it.
    if (missing.image == nullptr || (missing.asker != 0 && asker == 0)) {
      missing.image = &image;
      missing.asker = asker;
      missing.needed = &needed;
    }
    missing.stops_a_program = missing.stops_a_program || is_program(image);
    if (asker != 0) missing.images.push_back(short_name(image, 0));
  }

  /// Is the library one that the package requires by its name, or that one of the packages that it depends on may bring?
  /// Not if it is in the package itself: then it is in a wrong place.
  bool is_required(const Image& image, const NeededLibrary& needed) {
    if (image.package == kNone) return false;
    const SystemPackage& system = evidence_.packages[image.package].system;
    if (is_beside({&image, 0, &needed, {}, false})) return false;
    if (is_among(needed.name, system.libraries)) return true;
    const bool may_bring = std::ranges::any_of(system.packages, [](std::string_view name) {
      return !is_among(name.substr(0, name.find('-')), {"libc6", "libgcc", "libgcc1", "libstdc++6", "debconf"});
    });
    if (may_bring) expected_[image.package].insert(needed.name);
    return may_bring;
  }

  static Finding finding(const Package& package, const std::set<std::string>& names) {
    constexpr std::size_t kMost = 5;
    const std::vector<std::string> libraries(names.begin(), names.end());
    Finding finding =
        make_finding(kNeededNotFound, {},
                     fmt::format("{} not found here, and not judged: the packages that {} depends on may have {}",
                                 some_of(libraries, kMost) + (names.size() == 1 ? " is" : " are"), package.path,
                                 names.size() == 1 ? "it" : "them"));
    finding.severity = Severity::Note;
    finding.sites.push_back(make_file_site({.path = package.path},
                                           "depends on " + some_of(package.system.packages, kMost), Role::Reference));
    return finding;
  }

  /// Of files of the user alone: what a library of the system opens is for its package to say.
  void add_unopened(std::vector<Finding>& findings) const {
    std::set<std::pair<std::string, std::vector<std::string>>> seen;
    for (const Image& image : evidence_.images)
      for (std::uint32_t i = 0; i < image.closure.libraries.size() && !image.judged_with_its_loaders; ++i)
        for (const OpenedLibrary& opened : image.closure.libraries[i].opened) {
          const auto is_hosted = [](const std::string& name) { return host_of(name) != Host::None; };
          if (!opened.path.empty() || std::ranges::any_of(opened.note.sonames, is_hosted)) continue;
          if (!is_of_the_user(evidence_, image, i)) continue;
          if (!seen.emplace(loaded_name(image, i), opened.note.sonames).second) continue;
          findings.push_back(finding(image, i, opened));
        }
  }

  static Finding finding(const Image& image, std::uint32_t opener, const OpenedLibrary& opened) {
    const std::string name = short_name(image, opener);
    const DlopenNote& note = opened.note;
    Finding finding =
        make_finding(kNeededNotFound, {},
                     fmt::format("{} opens {}{}, which is not found", name, fmt::join(note.sonames, " or "),
                                 note.feature.empty() ? std::string() : fmt::format(" for {}", note.feature)));
    const bool recommended = note.priority == "recommended";
    const bool is_packed = opener < image.loaded.size() && image.loaded[opener] != nullptr &&
                           image.loaded[opener]->origin.is_member();  // another wheel may have it
    finding.severity = opened.required() && !is_packed                    ? Severity::Error
                       : opened.required() || (recommended && !is_packed) ? Severity::Warning
                                                                          : Severity::Note;
    finding.sites.push_back(loaded_site(image, opener, Role::Reference));
    finding.cause = {"opened-by-name", fmt::format("its .note.dlopen calls the library {}", note.priority), {}};
    finding.fixes.push_back(
        {fmt::format("install a package with {}, or put the library in a directory that is searched",
                     fmt::join(note.sonames, " or "))});
    if (!note.description.empty()) finding.notes.push_back("it is for: " + note.description);
    if (!opened.answer.searched.empty()) add_searched(finding, opened.answer.searched);
    return finding;
  }

  void add_hosted(const Image& image, std::uint32_t asker, const NeededLibrary& needed) {
    Hosted& hosted = hosted_[host_of(needed.name)];
    if (hosted.image == nullptr) {
      hosted.image = &image;
      hosted.asker = asker;
    }
    hosted.askers.insert(short_name(image, asker));
    hosted.libraries.insert(needed.name);
    if (needed.found_by == FoundBy::LoadedBefore) {
      const std::string found = short_name(image, needed.library);
      hosted.folders.insert(found.substr(0, found.rfind('/')));
    }
  }

  Finding finding(Host host, const Hosted& hosted) const {
    const std::vector<std::string> askers(hosted.askers.begin(), hosted.askers.end());
    std::string from = host == Host::Torch    ? "loaded by import torch"
                       : host == Host::Python ? "loaded by an interpreter that is linked with it"
                                              : "provided by the NVIDIA driver";
    if (!hosted.folders.empty()) from += fmt::format(" (found in {})", fmt::join(hosted.folders, ", "));
    Finding finding =
        make_finding(kNeededNotFound, {},
                     fmt::format("{}: {}, before {} {} {}", fmt::join(hosted.libraries, ", "), from, loaded_by(askers),
                                 askers.size() == 1 ? "needs" : "need", hosted.libraries.size() == 1 ? "it" : "them"));
    finding.severity = Severity::Note;
    finding.sites.push_back(loaded_site(*hosted.image, hosted.asker, Role::Reference));
    if (host == Host::Python)
      finding.notes.push_back(
          "an interpreter that contains it, like Debian's and those of wheels' build images, does not load it: "
          "modules need not be linked with it");
    return finding;
  }

  /// Is it in the very package, and only not where it is searched?
  bool is_beside(const Missing& missing) const {
    const std::vector<Whereabouts> exact = places(missing, true);
    return missing.image->package != kNone && std::ranges::any_of(exact, [&](const Whereabouts& place) {
             return place.package == missing.image->package;
           });
  }

  /// In a folder of Python's packages each is in a folder of its own, and others may have loaded their libraries before.
  bool is_of_one_project(const Missing& missing, const Whereabouts& place) const {
    const Package& package = evidence_.packages[missing.image->package];
    const ObjectFacts* object = asker_of(missing);
    if (package.kind != PackageKind::Directory || object == nullptr) return true;
    std::error_code error;
    const auto project = [&](const std::string& path) {
      const fs::path absolute = fs::absolute(path, error).lexically_normal();
      const std::string site = site_packages_of(absolute.string());
      const fs::path top = site.empty() ? fs::absolute(package.path, error).lexically_normal() : fs::path(site);
      return *absolute.lexically_relative(top).begin();
    };
    const fs::path own = project(object->origin.path);
    if (own.has_extension()) return is_there((fs::path(package.path) / "__init__.py").string());
    return own == project(place.path);
  }

  /// "lib/libx.so": the search paths are not for names with a slash.
  static bool is_relative(const Missing& missing) {
    const std::string& name = missing.needed->name;
    return name.find('/') != std::string::npos && !name.starts_with('/') && name.find('$') == std::string::npos;
  }

  /// Where a link of that name in the package leads, which may be unpacked anywhere, when that is a path of the machine that made
  /// it; else empty.
  std::string dead_link(const Missing& missing) const {
    if (missing.image->package == kNone || evidence_.packages[missing.image->package].is_at_root) return {};
    for (const auto& [name, target] : evidence_.packages[missing.image->package].links)
      if (base_name(name) == missing.needed->name && target.starts_with('/')) return target;
    return {};
  }

  /// Of a plugin: a program that is given too, opens others, and has loaded a library of that name; else empty.
  std::string program_with(const Missing& missing) const {
    if (missing.stops_a_program || is_program(*missing.image)) return {};
    const std::string_view name = base_name(missing.needed->name);
    for (const Image& image : evidence_.images)
      if (is_program(image) && loads_others(image) && can_be_with(evidence_, *missing.image, image.package) &&
          std::ranges::any_of(image.closure.libraries, [&](const LoadedLibrary& library) {
            return library.soname == name || base_name(library.path) == name;
          }))
        return short_name(image, 0);
    return {};
  }

  /// What may have loaded it before; empty when nothing of the package does.
  std::string loads_before(const Missing& missing) const {
    const ObjectFacts* object = asker_of(missing);
    const std::uint32_t package = missing.image->package;
    if (object == nullptr || package == kNone) return {};
    const std::string name = fs::path(missing.needed->name).filename().string();
    for (const Image& image : evidence_.images) {
      if (image.package != package || &image == missing.image || is_program(image)) continue;
      for (std::uint32_t i = 1; i < image.closure.libraries.size(); ++i)
        if (image.closure.libraries[i].soname == name || base_name(image.closure.libraries[i].path) == name)
          return short_name(image, 0);
    }
    if (evidence_.packages[package].kind == PackageKind::Archive) return {};
    return python_file_that_opens(evidence_.packages[package], *object);
  }

  /// The best first: of the same package, and there the nearest. Files for the asker's machine, of exactly that name or with
  /// another version after it.
  std::vector<Whereabouts> places(const Missing& missing, bool exact) const {
    std::vector<Whereabouts> result;
    if (evidence_.libraries == nullptr) return result;
    const ObjectFacts& object = *missing.image->object;
    const std::string wanted = fs::path(missing.needed->name).filename().string();
    const auto found = evidence_.libraries->elsewhere.find(wanted);
    if (found == evidence_.libraries->elsewhere.end()) return result;
    for (const Whereabouts& place : found->second) {
      if (place.machine != object.machine || place.is_64 != object.is_64 || place.big_endian != object.big_endian)
        continue;
      if (!can_be_with(evidence_, *missing.image, place.package)) continue;
      // A cross compiler's libraries are not those of the system that the file is for.
      if (!missing.image->system_is_here && place.package == kNone && is_of_the_system(place.path)) continue;
      if ((fs::path(place.entry.empty() ? place.path : place.entry).filename() == wanted) == exact)
        result.push_back(place);
    }
    std::ranges::stable_sort(result, {}, [&](const Whereabouts& place) {
      return std::pair(place.package != missing.image->package, distance(missing, place));
    });
    return result;
  }

  /// In folders up and down.
  std::size_t distance(const Missing& missing, const Whereabouts& place) const {
    const ObjectFacts* object = asker_of(missing);
    const bool is_packed = object != nullptr && object->origin.is_member();
    const fs::path from = is_packed ? object->origin.entry : missing.image->closure.libraries[missing.asker].path;
    const fs::path to = place.entry.empty() ? place.path : place.entry;
    const fs::path way = fs::path(folder_of(to.string())).lexically_relative(folder_of(from.string()));
    return static_cast<std::size_t>(std::distance(way.begin(), way.end()));
  }

  Finding finding(const Missing& missing) const {
    const NeededLibrary& needed = *missing.needed;
    const std::string asker = short_name(*missing.image, missing.asker);
    const std::vector<Whereabouts> exact = places(missing, true);
    Finding finding = make_finding(kNeededNotFound, {}, {});
    finding.sites.push_back(loaded_site(*missing.image, missing.asker, Role::Reference));
    if (!missing.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(missing.images));
    finding.message = fmt::format("{} needs {}, which {}", asker, needed.name, where(missing));
    judge(finding, missing, exact);
    suggest(finding, missing, asker, exact);
    if (!needed.searched.empty()) add_searched(finding, needed.searched);
    for (const std::string& path : needed.wrong_machine) finding.notes.push_back(path + " is for another machine");
    return finding;
  }

  /// The second half of the message.
  std::string where(const Missing& missing) const {
    if (is_relative(missing)) return "is a file of the folder that the program is started in";
    if (!is_of_wheel(missing)) return "is not found";
    if (const std::string target = dead_link(missing); !target.empty())
      return fmt::format("is in this package a link to {}, which is not in it", target);
    return is_beside(missing)
               ? fmt::format("is in this {} but not in the directories that are searched", kind_of(missing))
               : fmt::format("is not in this {} and is not found", kind_of(missing));
  }

  std::string_view kind_of(const Missing& missing) const {
    const std::uint32_t package = missing.image->package;
    const bool archive = package != kNone && evidence_.packages[package].kind == PackageKind::Archive;
    return archive ? "package" : "wheel";
  }

  static const ObjectFacts* asker_of(const Missing& missing) {
    return missing.asker < missing.image->loaded.size() ? missing.image->loaded[missing.asker] : nullptr;
  }

  static bool is_of_wheel(const Missing& missing) {
    const ObjectFacts* object = asker_of(missing);
    return object != nullptr && object->origin.is_member();
  }

  void judge(Finding& finding, const Missing& missing, const std::vector<Whereabouts>& exact) const {
    const ObjectFacts* object = asker_of(missing);
    const std::string asker = loaded_name(*missing.image, missing.asker);
    if (is_relative(missing)) {
      const std::string file(base_name(missing.needed->name));
      const std::string name = short_name(*missing.image, missing.asker);
      finding.cause = {"needed-path", fmt::format("{} was linked by its path, and has no DT_SONAME", file), {}};
      finding.fixes.push_back({fmt::format("link {} with -Wl,-soname,{}, and then {} again", file, file, name)});
      finding.fixes.push_back({fmt::format("patchelf --replace-needed {} {} {}", missing.needed->name, file, name)});
    } else if (!dead_link(missing).empty()) {
      finding.fixes.push_back({"make the link relative, and put the file that it leads to into the package"});
    } else if (const std::string program = program_with(missing); !program.empty()) {
      finding.severity = Severity::Note;
      finding.notes.push_back(fmt::format("{}, which may open it, has loaded that library", program));
    } else if (is_beside(missing) && is_of_one_project(missing, exact.front())) {
      if (missing.stops_a_program && is_program(*missing.image)) return;
      if (const std::string first = loads_before(missing); !first.empty()) {
        finding.severity = Severity::Warning;
        finding.notes.push_back(fmt::format("{} may have loaded it before", first));
      }
    } else if (is_of_wheel(missing)) {
      const bool more = missing.image->package != kNone && !requires_nothing(*missing.image);
      finding.severity = more ? Severity::Note : Severity::Warning;
      if (exact.empty())
        finding.notes.push_back(fmt::format(
            "it may be loaded already when this is {}, or come with another {}: give the {} that has it as well",
            kind_of(missing) == "wheel" ? "imported" : "loaded", kind_of(missing), kind_of(missing)));
    } else if (object != nullptr && !missing.stops_a_program) {
      if (is_python_module(*object) || is_in_packages_of_python(asker)) {
        finding.severity = Severity::Warning;
        finding.notes.push_back("a module that is imported before it may have it loaded already");
      } else if (std::ranges::any_of(exact, [&](const Whereabouts& place) {
                   return is_of_the_system(place.path) && share_a_tree(place.path, asker);
                 })) {
        finding.severity = Severity::Warning;
        finding.notes.push_back("the program that loads it may have it loaded already");
      }
    }
  }

  bool requires_nothing(const Image& image) const {
    return evidence_.packages[image.package].wheel.requires_dist.empty();
  }

  /// A line for each five: a tree of packages searches twenty.
  static void add_searched(Finding& finding, const std::vector<std::string>& directories) {
    constexpr std::size_t kOnOneLine = 5;
    for (std::size_t i = 0; i < directories.size(); i += kOnOneLine) {
      std::vector<std::string> words;
      for (std::size_t j = i; j < std::min(i + kOnOneLine, directories.size()); ++j)
        words.push_back(shown_directory(directories[j]));
      finding.notes.push_back(fmt::format("{} {}", i == 0 ? "searched" : "and", fmt::join(words, ", ")));
    }
  }

  void suggest(Finding& finding, const Missing& missing, const std::string& asker,
               const std::vector<Whereabouts>& exact) const {
    for (const Whereabouts& place : exact) {
      finding.sites.push_back(make_file_site({.path = display_path(place.path, working_directory())}));
      if (finding.sites.size() > 4) break;
    }
    if (!exact.empty() && !is_relative(missing)) suggest_search(finding, missing, asker, exact.front());
    if (!exact.empty()) return;
    if (const std::string package = package_with(missing.needed->name, cuda_major_of(missing)); !package.empty())
      finding.fixes.push_back({"install " + package});
    if (const std::vector<Whereabouts> other = places(missing, false); !other.empty())
      finding.notes.push_back("another version exists: " + other.front().path);
  }

  /// What would make the loader find a file that is there. No directory is named that runpath-unsafe warns of.
  void suggest_search(Finding& finding, const Missing& missing, const std::string& asker,
                      const Whereabouts& place) const {
    if (goes_elsewhere(missing, place)) return;
    const std::string folder = folder_of(absolute(place));
    std::string rpath = rpath_within(missing, place);
    const bool unsafe = !place.entry.empty() || !why_unsafe(evidence_, *missing.image, folder).empty();
    if (rpath.empty() && !unsafe) rpath = folder;
    if (!rpath.empty()) {
      finding.fixes.push_back({fmt::format("link {} with {}", asker, rpath_option(*missing.image, rpath))});
      finding.fixes.push_back({fmt::format("patchelf --add-rpath '{}' {}", rpath, asker)});
    }
    if (rpath == folder)
      finding.fixes.push_back({fmt::format("name {} in a file of /etc/ld.so.conf.d and run ldconfig", folder)});
    if (rpath.empty() && place.entry.empty() && !is_of_wheel(missing))
      finding.fixes.push_back(
          {fmt::format("run it with LD_LIBRARY_PATH={}, or install the library in a directory that is searched",
                       folder),
           {},
           {}});
  }

  /// Is it outside of the tarball, and so not beside it where that is unpacked? Folders are taken as they lie.
  bool goes_elsewhere(const Missing& missing, const Whereabouts& place) const {
    const auto asker = std::ranges::find(evidence_.images, asker_of(missing), &Image::object);
    const std::uint32_t from = asker == evidence_.images.end() ? missing.image->package : asker->package;
    if (from == kNone || place.package == from) return false;
    return evidence_.packages[from].kind == PackageKind::Archive && !evidence_.packages[from].is_at_root;
  }

  std::string absolute(const Whereabouts& place) const {
    std::error_code error;
    return place.entry.empty() ? fs::absolute(place.path, error).lexically_normal().string() : place.path;
  }

  /// "$ORIGIN/../lib", which stays true when the tree of both files is moved: of one wheel, of what is installed into
  /// one site-packages, of one directory that was given, of a program's own tree. Empty when they have none.
  std::string rpath_within(const Missing& missing, const Whereabouts& place) const {
    std::error_code error;
    const Image& image = *missing.image;
    const ObjectFacts* object = asker_of(missing);
    const std::string spelled = image.closure.libraries[missing.asker].path;
    fs::path from = fs::absolute(spelled, error).lexically_normal();
    fs::path to = absolute(place);
    if (is_of_wheel(missing) || !place.entry.empty()) {
      from = in_site_packages(from.string(), object == nullptr ? std::string() : object->origin.entry);
      to = in_site_packages(to.string(), place.entry);
      if (from.empty() || to.empty()) return {};
    } else if (in_site_packages(from.string(), {}) != fs::path() || in_site_packages(to.string(), {}) != fs::path()) {
      if (site_packages_of(from.string()) != site_packages_of(to.string())) return {};
    } else if (!are_in_one_directory(from.string(), to.string()) && !share_a_tree(from.string(), to.string())) {
      return {};
    }
    const std::string relative = to.parent_path().lexically_relative(from.parent_path()).string();
    return relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative;
  }

  /// A path below a site-packages folder; a wheel's entry is one as it is. Empty for other files.
  static fs::path in_site_packages(const std::string& path, const std::string& entry) {
    if (!entry.empty()) return entry;
    const std::string site = site_packages_of(path);
    return site.empty() ? fs::path() : fs::path(path.substr(site.size()));
  }

  bool are_in_one_directory(const std::string& a, const std::string& b) const {
    return std::ranges::any_of(evidence_.packages, [&](const Package& package) {
      if (package.kind != PackageKind::Directory) return false;
      std::error_code error;
      std::string folder = fs::absolute(package.path, error).lexically_normal().string();
      if (!folder.ends_with('/')) folder += '/';
      return a.starts_with(folder) && b.starts_with(folder);
    });
  }

  /// "13" where the file, or one that loads it, needs libcudart.so.13.
  static std::string cuda_major_of(const Missing& missing) {
    for (const LoadedLibrary& library : missing.image->closure.libraries)
      for (const NeededLibrary& needed : library.needed)
        for (const std::string_view start : {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvrtc.so."})
          if (needed.name.starts_with(start))
            return needed.name.substr(start.size(), needed.name.find('.', start.size()) - start.size());
    return {};
  }

  const Evidence& evidence_;
  std::map<std::pair<std::string, std::string>, Missing> missing_;
  std::map<Host, Hosted> hosted_;
  std::map<std::uint32_t, std::set<std::string>> expected_;  ///< by package, see is_required()
};

}  // namespace

static std::vector<Finding> needed_libraries(const Evidence& evidence) {
  std::vector<Finding> findings = NotFound(evidence).run();
  std::ranges::move(unused_libraries(evidence), std::back_inserter(findings));
  return findings;
}

RuleFamily library_rules() {
  return {{&kNeededNotFound, &kVersionUnmet, &kNeededUnused, &kRunpathUnsafe},
          {{needed_libraries}, {unsafe_runpaths}, {unmet_versions}}};
}

}  // namespace elfaudit
