// runtime-duplicated: one library twice in one process. Each copy has a state of its own: a handle of one is a stranger
// to the other, thread pools fight for the processors, registries see everything twice or not at all.
//  1. Two files of one library: two majors (libcudart.so.12 and .13), or one that a wheel has renamed beside the
//     system's (libgomp-947d5fa1.so.1 and libgomp.so.1).
//  2. Two OpenMP runtimes, known by the functions that they define: libgomp, libomp and libiomp5 share no name.
//  3. One name that leads two files to two libraries. The loader knows a library by its name, so that in one process
//  the
//     one that is loaded first serves both; where it lacks a symbol of the other it is an error.
//  4. A library that is there as a shared object and was linked into another file from its archive as well.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "rules/loaded.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kFewestShared = 8;  // names that tell a copy of a library from a helper it was made from
constexpr std::size_t kLeastPart = 3;     // a third of what the library exports

/// "libgomp.so" of "libgomp-947d5fa1.so.1.0.0": auditwheel puts a hash there.
std::string stem_of(std::string name) {
  name = name.substr(0, name.find(".so") + 3);
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos || name.size() != dash + 1 + 8 + 3) return name;
  const std::string hash = name.substr(dash + 1, 8);
  const bool hex = hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hex ? name.substr(0, dash) + ".so" : name;
}

/// "12" of "libcudart.so.12.1".
std::string major_of(const std::string& name) {
  const std::size_t so = name.find(".so.");
  if (so == std::string::npos) return {};
  return name.substr(so + 4, name.find('.', so + 4) - so - 4);
}

std::string file_name(const Image& image, std::uint32_t library) {
  const LoadedLibrary& loaded = image.closure.libraries[library];
  return loaded.soname.empty() ? std::filesystem::path(loaded.path).filename().string() : loaded.soname;
}

bool is_open_mp(const ObjectFacts& object, const std::vector<KeptLocal>* kept) {
  std::set<std::string_view> seen;
  const auto look = [&](std::string_view name) {
    if (name == "omp_get_thread_num") seen.insert("api");
    if (name == "GOMP_parallel" || name == "__kmpc_fork_call" || name == "_mp_pcpu_init") seen.insert("runtime");
  };
  for (const Symbol& symbol : object.symbols)
    if (symbol.defined()) look(object.name(symbol));
  if (kept != nullptr)
    for (const KeptLocal& local : *kept) look(local.name);
  return seen.size() == 2;
}

/// glibc is one library in several files, and each knows the others.
bool is_of_the_c_library(const std::string& name) {
  for (const std::string_view part :
       {"libc.", "libpthread.", "libdl.", "librt.", "libm.", "ld-", "libgcc_s.", "libresolv."})
    if (name.starts_with(part)) return true;
  return false;
}

class DuplicatedRuntimes {
 public:
  explicit DuplicatedRuntimes(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images) {
      by_name(image);
      open_mp(image);
      static_copies(image);
    }
    std::vector<Finding> findings;
    if (evidence_.libraries != nullptr)
      for (const NameOfTwo& name : evidence_.libraries->names_of_two) findings.push_back(one_name(name));
    for (auto& [key, found] : found_) {
      if (found.images.size() > 1 || found.images.front() != found.finding.sites.front().origin.display())
        found.finding.notes.push_back("both are loaded by " + loaded_by(found.images));
      findings.push_back(std::move(found.finding));
    }
    return findings;
  }

 private:
  struct Found {
    Finding finding;
    std::vector<std::string> images;
  };

  /// `parties`: those of which one is to be changed. Where none of them is the user's, it is a note.
  void add(const Image& image, std::uint32_t first, std::uint32_t second, const std::vector<std::uint32_t>& parties,
           const std::string& what, const std::string& fix) {
    Found& found = found_[{loaded_name(image, first), loaded_name(image, second)}];
    if (found.images.empty() || found.images.back() != loaded_name(image, 0))
      found.images.push_back(loaded_name(image, 0));
    if (!found.finding.rule.empty()) return;
    found.finding = make_finding("runtime-duplicated", {}, what);
    if (std::none_of(parties.begin(), parties.end(),
                     [&](std::uint32_t party) { return is_of_the_user(evidence_, image, party); }))
      found.finding.severity = Severity::Note;
    for (const std::uint32_t library : {first, second}) {
      found.finding.sites.push_back(loaded_site(image, library, Role::Kept));
      const std::uint32_t by = image.closure.libraries[library].needed_by;
      if (library != 0)
        found.finding.sites.back().notes.push_back("needed by " + loaded_name(image, by == kNone ? 0 : by));
    }
    found.finding.fixes.push_back({fix, {}, {}});
  }

  Finding one_name(const NameOfTwo& name) {
    const Image& one = evidence_.images[name.first.image];
    const Image& other = evidence_.images[name.second.image];
    Finding finding =
        make_finding("runtime-duplicated", {},
                     fmt::format("{} is {} and {}: in one process the one that is loaded first serves both", name.name,
                                 file_for(one, name.first.library), file_for(other, name.second.library)));
    add_site(finding, one, name.first.library);
    add_site(finding, other, name.second.library);
    check_swap(finding, one, name.first.library, other, name.second.library);
    check_swap(finding, other, name.second.library, one, name.first.library);
    finding.fixes.push_back(
        {fmt::format("let both find one {}: the same directory first in the RUNPATH of both, or build "
                     "both against one version",
                     name.name),
         {},
         {}});
    return finding;
  }

  /// "old/libl.so.3 for ext.so"
  static std::string file_for(const Image& image, std::uint32_t library) {
    const std::string file = short_name(image, library);
    return library == 0 ? file + " by its own DT_SONAME" : file + " for " + short_name(image, 0);
  }

  static void add_site(Finding& finding, const Image& image, std::uint32_t library) {
    finding.sites.push_back(loaded_site(image, library, Role::Kept));
    const std::uint32_t by = image.closure.libraries[library].needed_by;
    finding.sites.back().notes.push_back(library == 0 ? "given"
                                                      : "needed by " + short_name(image, by == kNone ? 0 : by));
  }

  /// What `image` gets from `own` alone, and would not get from the library that another one gets under the same name.
  void check_swap(Finding& finding, const Image& image, std::uint32_t own, const Image& other, std::uint32_t instead) {
    constexpr std::size_t kMost = 5;
    std::set<std::string> lost;
    std::string asker;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (image.loaded[i] == nullptr || i == own) continue;
      for (const Symbol* symbol : needed_symbols(*image.loaded[i], false)) {
        if (definitions_.first(image, *image.loaded[i], *symbol) != own) continue;
        if (definitions_.answers(*other.loaded[instead], *image.loaded[i], *symbol)) continue;
        lost.emplace(image.loaded[i]->name(*symbol));
        if (asker.empty()) asker = short_name(image, i);
      }
    }
    if (lost.empty()) return;
    finding.severity = Severity::Error;
    finding.symbols.insert(finding.symbols.end(), lost.begin(), lost.end());
    std::vector<std::string> names;
    for (const std::string& name : lost)
      if (names.size() < kMost) names.push_back(demangle(name));
    finding.notes.push_back(fmt::format("where {} is loaded first, {} lacks {}{}", short_name(other, instead), asker,
                                        fmt::join(names, ", "),
                                        lost.size() > kMost ? fmt::format(" and {} more", lost.size() - kMost) : ""));
  }

  void by_name(const Image& image) {
    std::map<std::string, std::uint32_t> stems;
    for (std::uint32_t i = 0; i < image.closure.libraries.size(); ++i) {
      const std::string name = file_name(image, i);
      if (name.find(".so") == std::string::npos) continue;
      const auto [first, added] = stems.try_emplace(stem_of(name), i);
      if (added) continue;
      const std::string other = file_name(image, first->second);
      add(image, first->second, i, with_needers(image, first->second, i),
          fmt::format("{} and {} are loaded together: {} of one library", other, name,
                      other == name || major_of(other) == major_of(name) ? "two copies" : "two versions"),
          fmt::format("link everything against one of them: rebuild {} or {}", needer(image, first->second),
                      needer(image, i)));
    }
  }

  static std::vector<std::uint32_t> with_needers(const Image& image, std::uint32_t first, std::uint32_t second) {
    std::vector<std::uint32_t> parties = {first, second};
    for (const std::uint32_t library : {first, second})
      if (const std::uint32_t by = image.closure.libraries[library].needed_by; by != kNone) parties.push_back(by);
    return parties;
  }

  static std::string needer(const Image& image, std::uint32_t library) {
    const std::uint32_t by = image.closure.libraries[library].needed_by;
    return short_name(image, by == kNone ? 0 : by);
  }

  const std::vector<KeptLocal>* kept_by(const ObjectFacts& object) const {
    if (evidence_.libraries == nullptr) return nullptr;
    const auto found = evidence_.libraries->kept_local.find(&object);
    return found == evidence_.libraries->kept_local.end() ? nullptr : &found->second;
  }

  void open_mp(const Image& image) {
    std::uint32_t first = kNone;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (image.loaded[i] == nullptr || !has_open_mp(*image.loaded[i])) continue;
      if (first == kNone) {
        first = i;
        continue;
      }
      add(image, first, i, with_needers(image, first, i),
          fmt::format("{} and {} both are an OpenMP runtime", short_name(image, first), short_name(image, i)),
          "build everything with one compiler's OpenMP, or link -liomp5 or -lomp alone: both stand in for libgomp");
    }
  }

  bool has_open_mp(const ObjectFacts& object) {
    const auto [at, first] = open_mp_.try_emplace(&object, false);
    if (first) at->second = is_open_mp(object, kept_by(object));
    return at->second;
  }

  /// Names that a library exports, strong ones: inline functions and templates are everywhere.
  const std::unordered_set<std::string_view>& exports(const ObjectFacts& object) {
    const auto [at, first] = exports_.try_emplace(&object);
    if (first)
      for (const Symbol& symbol : object.symbols)
        if (symbol.defined() && symbol.binding == Binding::Global && symbol.placement == Placement::InSection)
          at->second.insert(object.name(symbol));
    return at->second;
  }

  void static_copies(const Image& image) {
    for (std::uint32_t owner = 0; owner < image.loaded.size(); ++owner) {
      const std::vector<KeptLocal>* kept = image.loaded[owner] == nullptr ? nullptr : kept_by(*image.loaded[owner]);
      if (kept == nullptr || kept->size() < kFewestShared || is_of_the_c_library(file_name(image, owner))) continue;
      for (std::uint32_t library = 1; library < image.loaded.size(); ++library)
        if (library != owner && image.loaded[library] != nullptr && !is_of_the_c_library(file_name(image, library)))
          compare(image, owner, *kept, library);
    }
  }

  void compare(const Image& image, std::uint32_t owner, const std::vector<KeptLocal>& kept, std::uint32_t library) {
    const auto& exported = exports(*image.loaded[library]);
    const auto shared = static_cast<std::size_t>(std::count_if(
        kept.begin(), kept.end(), [&](const KeptLocal& local) { return exported.count(local.name) != 0; }));
    if (shared < kFewestShared || shared * kLeastPart < exported.size()) return;
    add(image, owner, library, {owner, library},
        fmt::format("{} has a copy of {} inside, which is loaded as well", short_name(image, owner),
                    file_name(image, library)),
        fmt::format("link {} against the shared library, or everything against the archive", short_name(image, owner)));
    found_[{loaded_name(image, owner), loaded_name(image, library)}].finding.sites.front().notes = {
        fmt::format("keeps {} of its {} functions and variables for itself", shared, exported.size())};
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<std::pair<std::string, std::string>, Found> found_;
  std::map<const ObjectFacts*, bool> open_mp_;
  std::unordered_map<const ObjectFacts*, std::unordered_set<std::string_view>> exports_;
};

}  // namespace

std::vector<Finding> duplicated_runtimes(const Evidence& evidence) { return DuplicatedRuntimes(evidence).run(); }

}  // namespace elfaudit
