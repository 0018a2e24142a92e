// needed-not-found: a DT_NEEDED that the loader finds nowhere. needed-unused: one that nothing uses.
//
// An error is what keeps a program or library of this machine (or of --root) from being loaded. Not every file that is
// not found is one:
//  - what a wheel needs may come with another wheel, or be loaded already by the package that imports it;
//  - a module of Python, and what lies in the tree of a program, finds loaded what its host has loaded before.
// What a host is known to load first (torch, the interpreter, the driver) is one note for all of it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "load/host_libraries.hpp"
#include "rules/known_packages.hpp"
#include "rules/loaded.hpp"
#include "support/shown_path.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;

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

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Directories that everything shares; what is below the last of them is a tree of something's own.
bool is_common(const std::string& part) {
  static const std::set<std::string> names = {"/",    "usr",     "local", "opt", "bin",
                                              "sbin", "libexec", "home",  "tmp", "var"};
  return names.count(part) != 0 || part.starts_with("lib") || part.ends_with("-linux-gnu");
}

/// As /usr/lib/jvm/java-17/lib: both files are in one tree of a program's own.
bool share_a_tree(const std::string& a, const std::string& b) {
  const fs::path first(a);
  const fs::path second(b);
  for (auto i = first.begin(), j = second.begin(); i != first.end() && j != second.end() && *i == *j; ++i, ++j)
    if (!is_common(i->string())) return true;
  return false;
}

class NotFound {
 public:
  explicit NotFound(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images)
      for (std::uint32_t i = 0; i < image.closure.libraries.size() && !image.judged_with_its_loaders; ++i)
        for (const NeededLibrary& needed : image.closure.libraries[i].needed)
          if (needed.library == kNone || needed.found_by == FoundBy::LoadedBefore) add(image, i, needed);
    std::vector<Finding> findings;
    for (const auto& [key, missing] : missing_) findings.push_back(finding(missing));
    for (const auto& [host, hosted] : hosted_) findings.push_back(finding(host, hosted));
    return findings;
  }

 private:
  void add(const Image& image, std::uint32_t asker, const NeededLibrary& needed) {
    const Host host = host_of(needed.name);
    // A program loads its torch and its libpython itself; the driver's libraries come with the machine it runs on.
    if (host == Host::Driver || (host != Host::None && !is_program(image))) return add_hosted(image, asker, needed);
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
    std::string from;
    switch (host) {
      case Host::Torch:
        from = "loaded by import torch";
        break;
      case Host::Python:
        from = "loaded by an interpreter that is linked with it";
        break;
      default:
        from = "provided by the NVIDIA driver";
    }
    if (!hosted.folders.empty()) from += fmt::format(" (found in {})", fmt::join(hosted.folders, ", "));
    Finding finding =
        make_finding("needed-not-found", {},
                     fmt::format("{}: {}, before {} {} {}", fmt::join(hosted.libraries, ", "), from, loaded_by(askers),
                                 askers.size() == 1 ? "needs" : "need", hosted.libraries.size() == 1 ? "it" : "them"));
    finding.severity = Severity::Note;
    finding.sites.push_back(loaded_site(*hosted.image, hosted.asker, Role::Reference));
    if (host == Host::Python)
      finding.notes.push_back(
          "an interpreter that has it inside, as Debian's and those of wheels' build images have, does not load it: "
          "modules need not be linked with it");
    return finding;
  }

  /// Files for the asker's machine, of exactly that name or with another version behind it.
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
      if ((fs::path(place.entry.empty() ? place.path : place.entry).filename() == wanted) == exact)
        result.push_back(place);
    }
    return result;
  }

  Finding finding(const Missing& missing) const {
    const NeededLibrary& needed = *missing.needed;
    const std::string asker = short_name(*missing.image, missing.asker);
    const std::vector<Whereabouts> exact = places(missing, true);
    Finding finding = make_finding("needed-not-found", {}, {});
    finding.sites.push_back(loaded_site(*missing.image, missing.asker, Role::Reference));
    if (!missing.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(missing.images));
    finding.message = fmt::format("{} needs {}, which {}", asker, needed.name, where(missing, exact));
    judge(finding, missing, exact);
    suggest(finding, missing, asker, exact);
    if (!needed.searched.empty()) add_searched(finding, needed.searched);
    for (const std::string& path : needed.wrong_machine) finding.notes.push_back(path + " is for another machine");
    return finding;
  }

  /// The second half of the message.
  static std::string where(const Missing& missing, const std::vector<Whereabouts>& exact) {
    if (!is_of_wheel(missing)) return "is not found";
    const auto beside = [&](const Whereabouts& place) { return place.package == missing.image->package; };
    return std::any_of(exact.begin(), exact.end(), beside) ? "is in this wheel and not where it is searched"
                                                           : "is not in this wheel and is not found";
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
    if (is_of_wheel(missing)) {
      const bool more = missing.image->package != kNone && !requires_nothing(*missing.image);
      finding.severity = more ? Severity::Note : Severity::Warning;
      if (exact.empty())
        finding.notes.push_back(
            "it may be loaded already when this is imported, or come with another wheel: give the "
            "wheel that has it as well");
    } else if (object != nullptr && !missing.stops_a_program) {
      if (is_python_module(*object) || is_in_packages_of_python(asker)) {
        finding.severity = Severity::Warning;
        finding.notes.push_back("a module that is imported before it may have it loaded already");
      } else if (std::any_of(exact.begin(), exact.end(), [&](const Whereabouts& place) {
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
      finding.sites.push_back({});
      finding.sites.back().role = Role::Candidate;
      finding.sites.back().origin.path = shown_path(place.path, working_folder());
      if (finding.sites.size() > 4) break;
    }
    if (!exact.empty()) suggest_search(finding, missing, asker, exact.front());
    if (!exact.empty()) return;
    if (const std::string package = package_with(missing.needed->name, cuda_major_of(missing)); !package.empty())
      finding.fixes.push_back({"install " + package, {}, {}});
    if (const std::vector<Whereabouts> other = places(missing, false); !other.empty())
      finding.notes.push_back("another version is there: " + other.front().path);
  }

  /// What would make the loader find a file that is there. No directory is named that runpath-unsafe warns of.
  void suggest_search(Finding& finding, const Missing& missing, const std::string& asker,
                      const Whereabouts& place) const {
    const std::string folder = folder_of(absolute(place));
    std::string rpath = rpath_within(missing, place);
    const bool unsafe = !place.entry.empty() || !why_unsafe(evidence_, *missing.image, folder).empty();
    if (rpath.empty() && !unsafe) rpath = folder;
    if (!rpath.empty()) {
      finding.fixes.push_back({fmt::format("link {} with -Wl,-rpath,'{}'", asker, rpath), {}, {}});
      finding.fixes.push_back({fmt::format("patchelf --add-rpath '{}' {}", rpath, asker), {}, {}});
    }
    if (rpath == folder)
      finding.fixes.push_back({fmt::format("name {} in a file of /etc/ld.so.conf.d and run ldconfig", folder), {}, {}});
    if (rpath.empty() && place.entry.empty() && !is_of_wheel(missing))
      finding.fixes.push_back(
          {fmt::format("run it with LD_LIBRARY_PATH={}, or install the library where it is searched", folder), {}, {}});
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

  static std::string site_packages_of(const std::string& path) {
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
      if (const std::size_t at = path.rfind(folder); at != std::string::npos) return path.substr(0, at + folder.size());
    return {};
  }

  bool are_in_one_directory(const std::string& a, const std::string& b) const {
    return std::any_of(evidence_.packages.begin(), evidence_.packages.end(), [&](const Package& package) {
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
};

}  // namespace

std::vector<Finding> needed_libraries(const Evidence& evidence) {
  std::vector<Finding> findings = NotFound(evidence).run();
  std::vector<Finding> unused = unused_libraries(evidence);
  findings.insert(findings.end(), std::make_move_iterator(unused.begin()), std::make_move_iterator(unused.end()));
  return findings;
}

}  // namespace elfaudit
