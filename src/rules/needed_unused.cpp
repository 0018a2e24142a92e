// needed-unused: a library that is loaded and that nothing uses. A library counts as used when anything at all could
// make it so: one of its names answers to a reference of the file, even a weak one or one that an earlier library
// answers first; a version is needed from it; another library that doesn't name it needs its symbols; or it is how one
// of these comes to be loaded.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "rules/loaded.hpp"

namespace elfaudit {
namespace {

/// What compilers put on every link by themselves: there is no -l to drop.
bool is_added_by_driver(const std::string& name) {
  constexpr std::array<std::string_view, 12> kNames = {"libc.",       "libm.",    "libgcc_s.",  "libstdc++.",
                                                       "libpthread.", "libdl.",   "librt.",     "ld-",
                                                       "libc++.",     "libmvec.", "libatomic.", "linux-vdso."};
  const std::string file = std::filesystem::path(name).filename().string();
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view n) { return file.starts_with(n); });
}

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
    return std::any_of(references.begin(), references.end(), [&](const Symbol* reference) {
      return definitions_.answers(library, *image_.object, *reference);
    });
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
        if (by != kNone && own.count(by) == 0) used_.insert(by);
      }
    }
  }

  bool names(std::uint32_t asker, std::uint32_t library) const {
    const auto& needed = image_.closure.libraries[asker].needed;
    return std::any_of(needed.begin(), needed.end(), [&](const NeededLibrary& n) { return n.library == library; });
  }

  bool reaches_use(std::uint32_t library) const {
    const std::set<std::uint32_t> mine = reachable(image_, library);
    return std::any_of(used_.begin(), used_.end(), [&](std::uint32_t used) { return mine.count(used) != 0; });
  }

  const Image& image_;
  Definitions& definitions_;
  std::set<std::uint32_t> used_;
};

/// "-lfoo" of "libfoo.so.3".
std::string option_for(const std::string& name) {
  const std::string file = std::filesystem::path(name).filename().string();
  const std::size_t so = file.find(".so");
  if (!file.starts_with("lib") || so == std::string::npos) return file;
  return "-l" + file.substr(3, so - 3);
}

/// One finding for a file: a build that links everything with everything is one habit to mend, not a hundred.
Finding unused_by(const Image& image, const std::vector<const NeededLibrary*>& unused) {
  const std::string name = short_name(image, 0);
  std::vector<std::string> libraries, options;
  for (const NeededLibrary* needed : unused) {
    libraries.push_back(needed->name);
    options.push_back(option_for(needed->name));
  }
  Finding finding = make_finding("needed-unused", {},
                                 fmt::format("{} needs {} and uses nothing of {}", name, fmt::join(libraries, ", "),
                                             unused.size() == 1 ? "it" : "them"));
  finding.sites.push_back(loaded_site(image, 0, Role::Reference));
  for (const NeededLibrary* needed : unused)
    finding.sites.push_back(loaded_site(image, needed->library, Role::Candidate));
  finding.fixes.push_back({fmt::format("leave {} out of the link of {}, or put -Wl,--as-needed before {}",
                                       fmt::join(options, " "), name, unused.size() == 1 ? "it" : "them"),
                           {},
                           {}});
  return finding;
}

}  // namespace

std::vector<Finding> unused_libraries(const Evidence& evidence) {
  std::vector<Finding> findings;
  Definitions definitions;
  for (const Image& image : evidence.images) {
    if (!closure_is_known(image)) continue;
    if (const auto unused = Uses(image, definitions).unused(); !unused.empty())
      findings.push_back(unused_by(image, unused));
  }
  return findings;
}

}  // namespace elfaudit
