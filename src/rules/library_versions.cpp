// version-unmet: a symbol version that the library which is found does not define. glibc's loader checks every version
// of every file before it starts a program (elf/dl-version.c):
//  1. The file of a version must be one that is loaded: the loader ends in an assertion else.
//  2. A library that defines no versions passes, with a word on standard error. One without .gnu.version, which needs
//     none either, ends in an assertion once a symbol of a version is found in it (elf/dl-lookup.c, check_match).
//  3. A version that is missing ends the start, unless it is marked weak.
// musl's loader has no such check.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/loaded.hpp"

namespace elfaudit {
namespace {

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
      // A name that is asked for and not found is told as that.
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
    return std::any_of(library.symbols.begin(), library.symbols.end(), [&](const Symbol& symbol) {
      return symbol.defined() && wanted.count(library.name(symbol)) != 0;
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
    std::vector<std::string_view> names;
    std::size_t count = 0;
    for (const Symbol& symbol : object.symbols) {
      if (symbol.defined() || versions.count(std::string(object.text(symbol.version))) == 0) continue;
      if (++count <= kMost) names.push_back(object.name(symbol));
    }
    if (count == 0) return {};
    return fmt::format("{}{}", fmt::join(names, ", "), count > kMost ? fmt::format(" and {} more", count - kMost) : "");
  }

  Finding finding(const Unmet& unmet) const {
    const std::string asker = short_name(*unmet.image, unmet.asker);
    const std::string versions = fmt::format("{}", fmt::join(unmet.versions, ", "));
    Finding finding = make_finding("version-unmet", {}, {});
    finding.sites.push_back(loaded_site(*unmet.image, unmet.asker, Role::Reference));
    if (!unmet.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(unmet.images));
    const std::string symbols = symbols_of(*unmet.image->loaded[unmet.asker], unmet.versions);
    if (!symbols.empty()) finding.sites.back().notes.push_back("for " + symbols);
    if (unmet.library == kNone) {
      finding.message = fmt::format("{} needs version {} of {}, which it doesn't load", asker, versions, unmet.file);
      finding.notes.push_back(
          "the loader looks versions up by the name in .gnu.version_r, and ends in an assertion: a "
          "tool has renamed the library in DT_NEEDED alone");
      finding.fixes.push_back(
          {fmt::format("rename it in both places: patchelf 0.18 or later --replace-needed; or link {} again", asker),
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
          "it has no version information at all: the loader ends in an assertion where it finds such a symbol in it");
    } else if (unmet.unversioned || unmet.weak) {
      finding.severity = Severity::Warning;
      finding.notes.push_back(unmet.weak ? "the need is weak: the loader goes on"
                                         : "it defines no versions at all: the loader says so and goes on");
    }
    suggest(finding, unmet, asker, library);
    return finding;
  }

  static void suggest(Finding& finding, const Unmet& unmet, const std::string& asker, const std::string& library) {
    const std::string& newest = *unmet.versions.rbegin();
    if (newest.starts_with("GLIBC_"))
      finding.fixes.push_back({fmt::format("build {} on a system whose glibc is not newer than the one it runs on, or "
                                           "run it where glibc is {} or later",
                                           asker, newest.substr(6)),
                               {},
                               {}});
    else
      finding.fixes.push_back({fmt::format("let {} find a {} that defines {}, by -rpath or LD_LIBRARY_PATH, before {}",
                                           asker, unmet.file, newest, library),
                               {},
                               {}});
  }

  const Evidence& evidence_;
  std::map<std::tuple<std::string, std::string, std::string>, Unmet> unmet_;
};

}  // namespace

std::vector<Finding> unmet_versions(const Evidence& evidence) { return VersionCheck(evidence).run(); }

}  // namespace elfaudit
