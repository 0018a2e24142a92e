// One library or symbol twice in a process: runtime-duplicated, interposed-definition.
//
// runtime-duplicated: one library twice in one process. Each copy has a state of its own: a handle of one is a stranger
// to the other, thread pools fight for the processors, registries see everything twice or not at all.
//  1. Two files of one library: two majors (libcudart.so.12 and .13), or one that a wheel has renamed beside the
//     system's (libgomp-947d5fa1.so.1 and libgomp.so.1).
//  2. Two OpenMP runtimes, known by the functions that they define: libgomp, libomp and libiomp5 share no name.
//  3. One name that leads two files to two libraries. The loader knows a library by its name, so that in one process
//     the one that is loaded first serves both; where it lacks a symbol of the other it is an error.
//  4. A library that is there as a shared object and was linked into another file from its archive as well. That file has
//     most of what others use of the library: of a third library that is in both, both have the rest.
//
// interposed-definition: a function or variable of a shared object that another file of the process replaces. The loader
// binds a name to the first file that defines it, the program before its libraries: what the library calls by that name
// is not its own.
//
//  1. Both files define the name strongly, for everyone to see. Weak definitions, and those of inline functions and
//     templates, are made to be there many times.
//  2. A function counts where the library itself looks it up (its PLT or GOT): one that is protected, or bound by
//     -Bsymbolic, stays its own.
//  3. A variable counts where the sizes differ: a program that was linked with another version of the library has its
//     copy (R_*_COPY) of that size, as glibc's loader says in passing.
//  4. Silent are the C and C++ libraries and what the compiler adds, on either side, and what is made to be replaced:
//     malloc and its family, operator new and delete.
//
// A program that replaces a library's function is a warning, one of the system a note. So are two libraries of a program,
// of which at least one is the user's: what else loads libraries decides in which order.
// Of a link command that makes a program the same is said before the program is there.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "load/load_closure.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/loading/loaded.hpp"
#include "scan/object_queries.hpp"
#include "support/name_hash.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

// --- runtime-duplicated

constexpr Rule kRuntimeDuplicated{.id = "runtime-duplicated",
                                  .severity = Severity::Warning,
                                  .summary = "one library is loaded twice: two versions, two files or two kinds"};

constexpr std::size_t kFewestShared = 8;  // names that distinguish a copy of a library from a helper it was made from
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
  return starts_with_any(name, {"libc.", "libpthread.", "libdl.", "librt.", "libm.", "ld-", "libgcc_s.", "libresolv."});
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
    found.finding = make_finding(kRuntimeDuplicated, {}, what);
    if (std::ranges::none_of(parties, [&](std::uint32_t party) { return is_of_the_user(evidence_, image, party); }))
      found.finding.severity = Severity::Note;
    for (const std::uint32_t library : {first, second}) {
      found.finding.sites.push_back(loaded_site(image, library, Role::Kept));
      const std::uint32_t by = image.closure.libraries[library].needed_by;
      if (library != 0)
        found.finding.sites.back().notes.push_back("needed by " + loaded_name(image, by == kNone ? 0 : by));
    }
    found.finding.fixes.push_back({fix});
  }

  Finding one_name(const NameOfTwo& name) {
    const Image& one = evidence_.images[name.first.image];
    const Image& other = evidence_.images[name.second.image];
    Finding finding =
        make_finding(kRuntimeDuplicated, {},
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
    finding.sites.back().notes.push_back(library == 0 ? "given" : "needed by " + needer(image, library));
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
    finding.notes.push_back(fmt::format("where {} is loaded first, {} lacks {}", short_name(other, instead), asker,
                                        some_symbols({lost.begin(), lost.end()}, kMost)));
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
          fmt::format("{} and {} are both OpenMP runtimes", short_name(image, first), short_name(image, i)),
          "build everything with one compiler's OpenMP, or link -liomp5 or -lomp alone: both can replace libgomp");
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
      if (image.loaded[owner] == nullptr || is_of_the_c_library(file_name(image, owner))) continue;
      const std::vector<KeptLocal>* kept = kept_by(*image.loaded[owner]);
      for (std::uint32_t library = 1; library < image.loaded.size(); ++library) {
        if (library == owner || image.loaded[library] == nullptr || is_of_the_c_library(file_name(image, library)))
          continue;
        if (kept != nullptr && kept->size() >= kFewestShared) compare(image, owner, *kept, library);
        if (is_runtime_library(*image.loaded[library]) && !is_runtime_library(*image.loaded[owner]))
          compare_exports(image, owner, library);
      }
    }
  }

  void compare(const Image& image, std::uint32_t owner, const std::vector<KeptLocal>& kept, std::uint32_t library) {
    const auto& exported = exports(*image.loaded[library]);
    std::unordered_set<std::string_view> shared;
    for (const KeptLocal& local : kept)
      if (exported.contains(local.name)) shared.insert(local.name);
    const bool is_runtime = is_runtime_library(*image.loaded[library]);
    if (is_large_part(shared.size(), exported) && (is_runtime || has_what_others_use(image, owner, library, shared)))
      add_copy(image, owner, library, exported, "keeps", "for itself", shared.size());
  }

  /// Are most of the names that other files get from the library in `shared`? A library that loads the owner itself is
  /// none that the owner could be linked against.
  bool has_what_others_use(const Image& image, std::uint32_t owner, std::uint32_t library,
                           const std::unordered_set<std::string_view>& shared) {
    if (reachable(image, library).contains(owner)) return false;
    const auto& exported = exports(*image.loaded[library]);
    std::unordered_set<std::string_view> used;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (i == owner || i == library || image.loaded[i] == nullptr) continue;
      for (const Symbol* symbol : needed_symbols(*image.loaded[i], false))
        if (const std::string_view name = image.loaded[i]->name(*symbol);
            exported.contains(name) && definitions_.first(image, *image.loaded[i], *symbol) == library)
          used.insert(name);
    }
    const auto count = std::ranges::count_if(used, [&](std::string_view name) { return shared.contains(name); });
    return static_cast<std::size_t>(count) * 2 > used.size();
  }

  static bool is_large_part(std::size_t shared, const std::unordered_set<std::string_view>& exported) {
    return shared >= kFewestShared && shared * kLeastPart >= exported.size();
  }

  /// -static-libstdc++ without anything that hides it: what is loaded behind the file may bind to its copy.
  void compare_exports(const Image& image, std::uint32_t owner, std::uint32_t library) {
    const auto& exported = exports(*image.loaded[library]);
    const auto& own = exports(*image.loaded[owner]);
    const auto shared = static_cast<std::size_t>(
        std::ranges::count_if(own, [&](std::string_view name) { return exported.contains(name); }));
    if (is_large_part(shared, exported))
      add_copy(image, owner, library, exported, "exports", "to which others may bind", shared);
  }

  void add_copy(const Image& image, std::uint32_t owner, std::uint32_t library,
                const std::unordered_set<std::string_view>& exported, std::string_view does, std::string_view how,
                std::size_t shared) {
    add(image, owner, library, {owner, library},
        fmt::format("{} contains a copy of {}, which is loaded as well", short_name(image, owner),
                    file_name(image, library)),
        fmt::format("link {} against the shared library, or everything against the archive", short_name(image, owner)));
    found_[{loaded_name(image, owner), loaded_name(image, library)}].finding.sites.front().notes = {
        fmt::format("{} {} of its {} functions and variables {}", does, shared, exported.size(), how)};
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<std::pair<std::string, std::string>, Found> found_;
  std::map<const ObjectFacts*, bool> open_mp_;
  std::unordered_map<const ObjectFacts*, std::unordered_set<std::string_view>> exports_;
};

std::vector<Finding> duplicated_runtimes(const Evidence& evidence) { return DuplicatedRuntimes(evidence).run(); }

// --- interposed-definition

constexpr Rule kInterposed{
    .id = "interposed-definition",
    .severity = Severity::Warning,
    .summary =
        "a file replaces a function of a shared object that is loaded with it: the library's own "
        "calls go there"};

constexpr std::size_t kMostNames = 5;  // in words

/// 1: inline functions and instances of templates are strong where a linker's options say so.
bool is_of_template(std::string_view name) {
  return name.starts_with("_Z") && demangle(name).find('<') != std::string::npos;
}

/// 4: names that programs and libraries replace on purpose, and those that are the implementation's.
bool is_made_to_be_replaced(std::string_view name) {
  static const std::set<std::string_view> names = {"malloc",       "calloc",   "realloc",       "reallocarray",
                                                   "free",         "cfree",    "memalign",      "posix_memalign",
                                                   "valloc",       "pvalloc",  "aligned_alloc", "malloc_usable_size",
                                                   "mallopt",      "mallinfo", "mallinfo2",     "malloc_trim",
                                                   "malloc_stats", "main",     "_init",         "_fini"};
  return starts_with_any(name, {"__", "_Znw", "_Zna", "_Zdl", "_Zda"}) || names.contains(name);
}

/// 1.
bool is_replaceable(const Symbol& symbol) {
  const bool kind = symbol.type == SymbolType::Function || (symbol.type == SymbolType::Object && symbol.size != 0);
  return kind && symbol.binding == Binding::Global && symbol.visibility == Visibility::Default &&
         symbol.placement == Placement::InSection;
}

/// 2. Opens the file.
void keep_looked_up(const Evidence& evidence, const ObjectFacts& object, std::vector<const Symbol*>& functions) {
  if (functions.empty()) return;
  std::vector<std::uint32_t> indices;
  for (const Symbol* function : functions) indices.push_back(function->index);
  std::vector<const Symbol*> kept;
  try {
    const std::vector<LookedUp> when = evidence.when_looked_up(object.origin, indices);
    for (std::size_t i = 0; i < functions.size(); ++i)
      if (when[i] != LookedUp::Never) kept.push_back(functions[i]);
  } catch (const InputError&) {
    // Its symbols were read; relocations that can't be read are reported by who needs them.
  }
  functions = std::move(kept);
}

std::string words(const std::set<std::string>& symbols) {
  return some_symbols({symbols.begin(), symbols.end()}, kMostNames);
}

/// The same code in two files: what an archive or object that was linked into both has left there.
struct SameCode {
  std::string archive;              ///< empty: not known
  std::set<std::string> variables;  ///< of one size in both
};

/// Functions of one size in both files are the same ones where there are many, or variables with them.
bool is_same_code(std::size_t functions, const SameCode& same) {
  constexpr std::size_t kMany = 4;
  return functions >= kMany || (functions > 0 && !same.variables.empty());
}

/// `second` calls itself what `first` replaces: without its sites. `same`: null where they are other functions.
Finding interposed(std::string_view first, std::string_view second, const std::set<std::string>& symbols,
                   const SameCode* same) {
  const bool one = symbols.size() == 1;
  Finding finding = make_finding(
      kInterposed, one ? *symbols.begin() : std::string(),
      fmt::format("{} replaces {} of {}, which calls {} itself", first, words(symbols), second, one ? "it" : "them"));
  if (!one) finding.symbols.assign(symbols.begin(), symbols.end());
  if (same != nullptr) {
    finding.notes.emplace_back("their sizes are equal: the same code was linked into both");
    if (!same->variables.empty())
      finding.notes.push_back(fmt::format("{} comes with it: {} uses that of {}, and what constructs it runs twice",
                                          words(same->variables), second, first));
    const std::string archive =
        same->archive.empty() ? "the archive or object that defines " + words({*symbols.begin()}) : same->archive;
    finding.fixes.push_back(
        {fmt::format("link {0} into {1} alone (all of it: -Wl,--whole-archive), and let {2} use it from there", archive,
                     second, first)});
    finding.fixes.push_back({fmt::format("make a shared library of {}, and link both against it", archive)});
    return finding;
  }
  finding.fixes.push_back(
      {fmt::format("where it is not meant: make {0} static or hidden in {1}, or give {0} a namespace",
                   one ? "it" : "them", first),
       {},
       {}});
  finding.fixes.push_back({fmt::format("link {} with -Wl,-Bsymbolic-functions", second)});
  return finding;
}

/// What one file replaces of another.
struct Replaced {
  std::vector<const Symbol*> functions;                            ///< of the library
  std::vector<std::pair<const Symbol*, const Symbol*>> variables;  ///< the first file's, and the library's
};

class Interpositions {
 public:
  explicit Interpositions(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const bool given : {true, false})
      for (const Image& image : evidence_.images)
        for (std::uint32_t i = 0; i < image.loaded.size() && is_program(image); ++i)
          if (image.loaded[i] != nullptr && is_given(image, i) == given) collect(*image.loaded[i], given);
    for (const Image& image : evidence_.images)
      if (is_program(image)) compare(image);
    return std::move(findings_);
  }

 private:
  struct HashOfName {
    std::size_t operator()(std::string_view name) const { return hash_text(name); }
  };
  using Names = std::unordered_map<std::string_view, const Symbol*, HashOfName>;

  /// What two libraries of the system do to each other is not asked.
  static bool is_given(const Image& image, std::uint32_t library) {
    return library == 0 || !is_of_the_system(image.closure.libraries[library].path);
  }

  /// Every file once: most names of most files no other file defines.
  void collect(const ObjectFacts& object, bool given) {
    const auto [at, first] = shared_.try_emplace(&object);
    if (!first || is_runtime_library(object)) return;
    for (const Symbol& symbol : object.symbols) {
      if (!is_replaceable(symbol)) continue;
      const std::string_view name = object.name(symbol);
      if (given && definers_.try_emplace(name, Definer{&object, &symbol}).second) continue;
      const auto known = definers_.find(name);
      if (known == definers_.end() || is_made_to_be_replaced(name) || is_of_template(name)) continue;
      if (const Symbol* other = std::exchange(known->second.symbol, nullptr))
        shared_[known->second.object].emplace(name, other);
      shared_[&object].emplace(name, &symbol);
    }
  }

  const Symbol* shared_by(const Image& image, std::uint32_t library, std::string_view name) {
    if (image.loaded[library] == nullptr) return nullptr;
    const Names& names = shared_[image.loaded[library]];
    const auto found = names.find(name);
    return found == names.end() ? nullptr : found->second;
  }

  void compare(const Image& image) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Replaced> pairs;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (image.loaded[i] == nullptr || !is_given(image, i)) continue;
      for (const auto& [name, symbol] : shared_[image.loaded[i]]) {
        std::uint32_t first = 0;
        while (first != i && shared_by(image, first, name) == nullptr) ++first;
        if (first != i) {
          add(pairs[{first, i}], *shared_by(image, first, name), *symbol);
          continue;
        }
        for (std::uint32_t j = i + 1; j < image.loaded.size(); ++j)
          if (const Symbol* other = shared_by(image, j, name); other != nullptr && !is_given(image, j))
            add(pairs[{i, j}], *symbol, *other);
      }
    }
    for (auto& [files, replaced] : pairs) judge(image, files.first, files.second, std::move(replaced));
  }

  static void add(Replaced& replaced, const Symbol& first, const Symbol& second) {
    if (first.type == SymbolType::Function && second.type == SymbolType::Function)
      replaced.functions.push_back(&second);
    else if (first.type == SymbolType::Object && second.type == SymbolType::Object && first.size != second.size)
      replaced.variables.emplace_back(&first, &second);
  }

  void judge(const Image& image, std::uint32_t by, std::uint32_t library, Replaced replaced) {
    // The same two files are in the closures of many.
    if (!judged_.emplace(image.loaded[by], image.loaded[library]).second) return;
    const bool program = by == 0;
    if (!program && !is_of_the_user(evidence_, image, by) && !is_of_the_user(evidence_, image, library)) return;
    // Two versions of one library are runtime-duplicated's.
    if (!program && stem_of(image, by) == stem_of(image, library)) return;
    const ObjectFacts& object = *image.loaded[library];
    if (object.symbolic) replaced.functions.clear();
    keep_looked_up(evidence_, object, replaced.functions);
    if (replaced.functions.empty() && replaced.variables.empty()) return;
    std::ranges::sort(replaced.variables,
                      [&](const auto& a, const auto& b) { return object.name(*a.second) < object.name(*b.second); });
    const std::optional<SameCode> same = same_code(image, by, library, replaced);
    Finding found = finding(image, by, library, replaced, same ? &*same : nullptr);
    if (!program || is_of_the_system(image.closure.libraries[by].path)) found.severity = Severity::Note;
    findings_.push_back(std::move(found));
  }

  std::optional<SameCode> same_code(const Image& image, std::uint32_t by, std::uint32_t library,
                                    const Replaced& replaced) {
    const ObjectFacts& object = *image.loaded[library];
    for (const Symbol* function : replaced.functions)
      if (function->size == 0 || shared_by(image, by, object.name(*function))->size != function->size) return {};
    SameCode same;
    for (const auto& [name, symbol] : shared_[&object])
      if (const Symbol* own = shared_by(image, by, name); own != nullptr && own->type == SymbolType::Object &&
                                                          symbol->type == SymbolType::Object &&
                                                          own->size == symbol->size && is_writable(object, *symbol))
        same.variables.emplace(name);
    if (!replaced.variables.empty() || !is_same_code(replaced.functions.size(), same)) return {};
    return same;
  }

  /// "libfoo" of libfoo.so.3.
  static std::string stem_of(const Image& image, std::uint32_t library) {
    const std::string& path = image.closure.libraries[library].path;
    const std::size_t name = path.rfind('/') + 1;
    return path.substr(name, path.find(".so", name) - name);
  }

  Finding finding(const Image& image, std::uint32_t by, std::uint32_t library, const Replaced& replaced,
                  const SameCode* same) const {
    const ObjectFacts& object = *image.loaded[library];
    std::set<std::string> symbols;
    for (const Symbol* symbol : replaced.functions) symbols.emplace(object.name(*symbol));
    for (const auto& [own, other] : replaced.variables) symbols.emplace(object.name(*other));
    const std::string first = short_name(image, by);
    const std::string second = short_name(image, library);
    Finding finding = interposed(first, second, symbols, same);
    if (replaced.functions.empty()) {
      finding.message =
          fmt::format("{} and {} have {} in another size: both use that of {}", first, second, words(symbols), first);
      finding.fixes = {{fmt::format("build {} again with the header of {}", first, second), {}, {}}};
    }
    finding.sites.push_back(loaded_site(image, by, Role::Kept));
    finding.sites.back().notes.push_back(by == 0 ? "the program comes first" : "is loaded first");
    finding.sites.push_back(loaded_site(image, library, Role::Candidate));
    for (const auto& [own, other] : replaced.variables)
      finding.notes.push_back(fmt::format("{}: {} bytes in {}, {} in {}", demangle(object.name(*other)), own->size,
                                          first, other->size, second));
    return finding;
  }

  struct Definer {
    const ObjectFacts* object;
    const Symbol* symbol;  ///< null once a second one is known
  };

  const Evidence& evidence_;
  std::unordered_map<std::string_view, Definer, HashOfName>
      definers_;                                          ///< of files that are given, or lie beside these
  std::unordered_map<const ObjectFacts*, Names> shared_;  ///< of each file the names that another one defines too
  std::set<std::pair<const ObjectFacts*, const ObjectFacts*>> judged_;
  std::vector<Finding> findings_;
};

/// The same of a program that a link is about to make: its own functions, and those of the shared objects on the line.
class LinkInterpositions {
 public:
  explicit LinkInterpositions(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    const LinkJob& job = evidence_.job;
    if (!job.scope.command || job.output != OutputKind::Executable) return {};
    std::vector<ObjectId> objects = linked_objects(evidence_.inputs, evidence_.resolution);
    std::erase_if(objects, [&](ObjectId id) { return is_of_system(evidence_.inputs[id.input].path); });
    const auto may_be_replaced = [&](ObjectId id) { return evidence_.object(id).kind == ObjectKind::SharedObject; };
    if (std::ranges::none_of(objects, may_be_replaced)) return {};
    for (const ObjectId id : objects)
      if (evidence_.object(id).kind == ObjectKind::Relocatable) collect(id);
    std::vector<Finding> findings;
    for (const ObjectId id : objects)
      if (evidence_.object(id).kind == ObjectKind::SharedObject)
        if (std::optional<Finding> found = look_at(id)) findings.push_back(*std::move(found));
    return findings;
  }

 private:
  void collect(ObjectId id) {
    const ObjectFacts& object = evidence_.object(id);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
      if (is_replaceable(object.symbols[s]) && evidence_.resolution.resolution_of({id, s}) == SymbolResolution::Kept)
        own_.try_emplace(object.name(object.symbols[s]), SymbolId{id, s});
  }

  std::optional<Finding> look_at(ObjectId id) const {
    const ObjectFacts& library = evidence_.object(id);
    if (is_runtime_library(library) || library.symbolic || !library.available) return std::nullopt;
    std::vector<const Symbol*> functions;
    SameCode same;
    for (const Symbol& symbol : library.symbols) {
      const std::string_view name = library.name(symbol);
      const auto found = is_replaceable(symbol) ? own_.find(name) : own_.end();
      if (found == own_.end() || is_made_to_be_replaced(name) || is_of_template(name)) continue;
      const Symbol& own = evidence_.symbol(found->second);
      if (own.type != symbol.type) continue;
      if (symbol.type == SymbolType::Function)
        functions.push_back(&symbol);
      else if (own.size == symbol.size && is_writable(library, symbol))
        same.variables.emplace(name);
    }
    keep_looked_up(evidence_, library, functions);
    if (functions.empty()) return std::nullopt;
    std::set<std::string> symbols;
    for (const Symbol* function : functions) symbols.emplace(library.name(*function));
    const bool equal = std::ranges::all_of(functions, [&](const Symbol* function) {
      return function->size != 0 && evidence_.symbol(own_.at(library.name(*function))).size == function->size;
    });
    if (const Origin& origin = evidence_.object(own_.at(*symbols.begin()).in).origin; origin.is_member())
      same.archive = origin.path;
    Finding finding = interposed("the program", base_name(library.origin.path), symbols,
                                 equal && is_same_code(functions.size(), same) ? &same : nullptr);
    for (const std::string& symbol : symbols)
      finding.sites.push_back(make_site(evidence_, own_.at(symbol), Role::Kept));
    finding.sites.push_back(make_object_site(evidence_, id, Role::Candidate));
    return finding;
  }

  const Evidence& evidence_;
  std::unordered_map<std::string_view, SymbolId> own_;
};

std::vector<Finding> interposed_definitions(const Evidence& evidence) {
  std::vector<Finding> findings = Interpositions(evidence).run();
  std::ranges::move(LinkInterpositions(evidence).run(), std::back_inserter(findings));
  return findings;
}

}  // namespace

RuleFamily copies_at_load_rules() {
  return {{&kRuntimeDuplicated, &kInterposed}, {{duplicated_runtimes}, {interposed_definitions}}};
}

}  // namespace elfaudit
