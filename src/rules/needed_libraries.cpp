// needed-not-found: a DT_NEEDED that the loader finds nowhere. needed-unused: one that nothing uses.
//
// An error is what keeps a program or library of this machine (or of --root) from being loaded. Not every file that is
// not found is one:
//  - what a wheel needs may come with another wheel, or be loaded already by the package that imports it;
//  - a module of Python, and what lies in the tree of a program, finds loaded what its host has loaded before.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "locate/shown_path.hpp"
#include "rules/known_packages.hpp"
#include "rules/loaded.hpp"

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

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

bool is_in_packages_of_python(const std::string& path) {
  return path.find("/site-packages/") != std::string::npos || path.find("/dist-packages/") != std::string::npos;
}

bool is_of_the_system(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/opt/") || path.starts_with("/lib");
}

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
      for (std::uint32_t i = 0; i < image.closure.libraries.size(); ++i)
        for (const NeededLibrary& needed : image.closure.libraries[i].needed)
          if (needed.library == kNone) add(image, i, needed);
    std::vector<Finding> findings;
    for (const auto& [key, missing] : missing_) findings.push_back(finding(missing));
    return findings;
  }

 private:
  void add(const Image& image, std::uint32_t asker, const NeededLibrary& needed) {
    Missing& missing = missing_[{loaded_name(image, asker), needed.name}];
    // The file itself is worth more words than one that happens to load it.
    if (missing.image == nullptr || (missing.asker != 0 && asker == 0)) {
      missing.image = &image;
      missing.asker = asker;
      missing.needed = &needed;
    }
    missing.stops_a_program = missing.stops_a_program || is_program(image);
    if (asker != 0) missing.images.push_back(loaded_name(image, 0));
  }

  /// Files of exactly that name.
  std::vector<std::string> places(const NeededLibrary& needed, bool exact) const {
    std::vector<std::string> result;
    if (evidence_.libraries == nullptr) return result;
    const std::string wanted = fs::path(needed.name).filename().string();
    const auto found = evidence_.libraries->elsewhere.find(wanted);
    if (found == evidence_.libraries->elsewhere.end()) return result;
    for (const std::string& path : found->second) {
      const std::string file = fs::path(path).filename().string();
      const bool same = file == wanted || file == wanted + ")";
      if (same == exact) result.push_back(path);
    }
    return result;
  }

  Finding finding(const Missing& missing) const {
    const NeededLibrary& needed = *missing.needed;
    const std::string asker = loaded_name(*missing.image, missing.asker);
    Finding finding =
        make_finding("needed-not-found", {}, fmt::format("{} needs {}, which is not found", asker, needed.name));
    finding.sites.push_back(loaded_site(*missing.image, missing.asker, Role::Reference));
    if (!missing.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(missing.images));
    const std::vector<std::string> exact = places(needed, true);
    judge(finding, missing, asker, exact);
    suggest(finding, missing, asker, exact);
    if (!needed.searched.empty()) finding.notes.push_back("searched " + searched(needed.searched));
    for (const std::string& path : needed.wrong_machine) finding.notes.push_back(path + " is for another machine");
    return finding;
  }

  void judge(Finding& finding, const Missing& missing, const std::string& asker,
             const std::vector<std::string>& exact) const {
    const ObjectFacts* object =
        missing.asker < missing.image->loaded.size() ? missing.image->loaded[missing.asker] : nullptr;
    const bool of_wheel = object != nullptr && object->origin.is_member();
    if (of_wheel) {
      const bool more = missing.image->package != kNone && !requires_nothing(*missing.image);
      finding.severity = more ? Severity::Note : Severity::Warning;
      finding.message =
          fmt::format("{} needs {}, which is not in this wheel and is not found", asker, missing.needed->name);
      finding.notes.push_back(
          "it may be loaded already when this is imported, or come with another wheel: give the "
          "wheel that has it as well");
    } else if (object != nullptr && !missing.stops_a_program) {
      if (is_python_module(*object) || is_in_packages_of_python(asker)) {
        finding.severity = Severity::Warning;
        finding.notes.push_back("a module that is imported before it may have it loaded already");
      } else if (std::any_of(exact.begin(), exact.end(),
                             [&](const std::string& p) { return is_of_the_system(p) && share_a_tree(p, asker); })) {
        finding.severity = Severity::Warning;
        finding.notes.push_back("the program that loads it may have it loaded already");
      }
    }
  }

  bool requires_nothing(const Image& image) const {
    return evidence_.packages[image.package].wheel.requires_dist.empty();
  }

  static std::string searched(const std::vector<std::string>& directories) {
    std::vector<std::string> words;
    for (const std::string& directory : directories) words.push_back(shown_directory(directory));
    return fmt::format("{}", fmt::join(words, ", "));
  }

  void suggest(Finding& finding, const Missing& missing, const std::string& asker,
               const std::vector<std::string>& exact) const {
    for (const std::string& path : exact) {
      finding.sites.push_back({});
      finding.sites.back().role = Role::Candidate;
      finding.sites.back().origin.path = shown_path(path, working_folder());
      if (finding.sites.size() > 4) break;
    }
    if (!exact.empty() && !exact.front().ends_with(')')) {
      const std::string folder = folder_of(exact.front());
      const std::string rpath = rpath_to(asker, folder);
      finding.fixes.push_back({fmt::format("link {} with -Wl,-rpath,'{}'", asker, rpath), {}, {}});
      finding.fixes.push_back({fmt::format("patchelf --add-rpath '{}' {}", rpath, asker), {}, {}});
      if (rpath == folder)
        finding.fixes.push_back(
            {fmt::format("name {} in a file of /etc/ld.so.conf.d and run ldconfig", folder), {}, {}});
    }
    if (const std::string package = package_with(missing.needed->name); !package.empty() && exact.empty())
      finding.fixes.push_back({"install " + package, {}, {}});
    const std::vector<std::string> other = exact.empty() ? places(*missing.needed, false) : std::vector<std::string>{};
    if (!other.empty()) finding.notes.push_back("another version is there: " + other.front());
  }

  /// What stays true when the tree of both is moved: "$ORIGIN/../lib"; the directory itself when they have none.
  static std::string rpath_to(const std::string& asker, const std::string& folder) {
    std::error_code error;
    const fs::path from = fs::absolute(asker, error).lexically_normal().parent_path();
    if (error || !share_a_tree((from / "x").string(), folder + "/x")) return folder;
    const std::string relative = fs::path(folder).lexically_relative(from).string();
    return relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative;
  }

  const Evidence& evidence_;
  std::map<std::pair<std::string, std::string>, Missing> missing_;
};

}  // namespace

std::vector<Finding> needed_libraries(const Evidence& evidence) {
  std::vector<Finding> findings = NotFound(evidence).run();
  std::vector<Finding> unused = unused_libraries(evidence);
  findings.insert(findings.end(), std::make_move_iterator(unused.begin()), std::make_move_iterator(unused.end()));
  return findings;
}

}  // namespace elfaudit
