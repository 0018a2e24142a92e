// undefined-symbol over what is loaded: symbols that nothing in a process defines.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "elfaudit/error.hpp"
#include "load/load_closure.hpp"
#include "locate/cause/cause.hpp"
#include "rules/loading/loaded.hpp"
#include "scan/library_names.hpp"
#include "scan/object_queries.hpp"
#include "scan/spelling.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {

namespace {

// --- undefined-symbol, over what is loaded: names that nothing in a closure defines, as glibc looks them up.
//  1. A versioned symbol belongs to the library that .gnu.version_r names. That library is loaded, and neither it nor
//     another one of the closure defines the symbol with that version: an error, whatever loads the file.
//  2. For a program the closure is everything there is, so that what nothing defines is an error: LD_BIND_NOW=1 ends
//     its start, and `ldd -r` lists it.
//  3. A module of Python is loaded with RTLD_NOW, and what other modules have loaded is not searched for it
//     (RTLD_LOCAL): what neither its closure nor the interpreter defines ends the import. Where a library of it was
//     not found, that one may define it.
//  4. Another shared object may get it from what loads it, a plugin from its program: a note, and only of the file
//     that was given. Nothing where a program that is given too, and calls dlopen, exports it; a warning where exactly
//     one of these has it and does not.
// Weak references may stay undefined. A version that the library lacks altogether is reported by version-unmet.

constexpr std::size_t kMostInNote = 8;  // of one note

bool is_c_library(std::string_view name) { return starts_with_any(name, {"libc.so", "libc.musl-", "ld-"}); }

std::string with_version(const ObjectFacts& object, const Symbol& symbol) {
  std::string name(object.name(symbol));
  if (!symbol.version.empty()) name += "@" + std::string(object.text(symbol.version));
  return name;
}

/// A name that one file of a closure needs and nothing in it defines.
struct Unanswered {
  std::uint32_t asker;
  const Symbol* symbol;
};

/// What one file needs of one library that is there without it.
struct Lacking {
  const Image* image = nullptr;
  std::uint32_t asker = 0;
  std::uint32_t library = 0;
  std::string file;  ///< as .gnu.version_r spells it
  std::vector<const Symbol*> symbols;
  std::vector<std::string> images;
};

class ClosureSymbols {
 public:
  explicit ClosureSymbols(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images)
      if (image.closure.loader != LoaderKind::None && !image.loaded.empty() && !image.judged_with_its_loaders)
        check(image);
    ask_programs();
    for (const Plugin& plugin : plugins_) note_plugin(plugin);
    for (const auto& [key, lacking] : lacking_) findings_.push_back(finding(lacking));
    for (auto& [key, finding] : errors_) findings_.push_back(std::move(finding));
    return std::move(findings_);
  }

 private:
  void check(const Image& image) {
    const std::map<std::string, std::uint32_t> names = names_in(image);
    const std::set<std::uint32_t> loaded_before = of_the_host(image);
    std::vector<Unanswered> left;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (image.loaded[i] == nullptr || loaded_before.contains(i)) continue;
      for (const Symbol* symbol : definitions_.unanswered(image, i))
        if (const auto [file, library] = owner_of(image, names, i, *symbol); library != kNone)
          add_lacking(image, i, file, library, *symbol);
        else if (!is_of_unmet_version(image, names, i, *symbol))
          left.push_back({i, symbol});
    }
    if (is_program(image) && closure_is_known(image))
      for (const Unanswered& one : left) add_error(image, one.asker, *one.symbol);
    if (is_program(image)) return;
    if (is_python_module(*image.object))
      check_module(image, left);
    else if (closure_is_known(image))
      check_library(image, left);
  }

  /// What the host has loaded before the file was bound to other libraries then, and is in order where the host runs.
  static std::set<std::uint32_t> of_the_host(const Image& image) {
    std::set<std::uint32_t> libraries;
    for (const LoadedLibrary& library : image.closure.libraries)
      for (const NeededLibrary& needed : library.needed)
        if (needed.found_by == FoundBy::LoadedBefore && !libraries.contains(needed.library))
          libraries.merge(reachable(image, needed.library));
    return libraries;
  }

  struct Owner {
    std::string file;
    std::uint32_t library = kNone;
  };

  /// The library of the closure that must have a versioned symbol and has it not. Nothing where one that may have it is
  /// not there to be asked: a symbol moves from one library to another under its version (pthread_create to libc.so.6).
  static Owner owner_of(const Image& image, const std::map<std::string, std::uint32_t>& names, std::uint32_t asker,
                        const Symbol& symbol) {
    if (symbol.version.empty() || image.closure.loader != LoaderKind::Glibc) return {};
    const std::string_view version = image.loaded[asker]->text(symbol.version);
    Owner owner;
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i) {
      if (image.loaded[i] == nullptr) continue;
      for (const VersionNeed& need : image.loaded[i]->version_needs) {
        if (image.loaded[i]->text(need.version) != version) continue;
        const std::string file(image.loaded[i]->text(need.file));
        const auto named = names.find(file);
        const std::uint32_t library = named == names.end() ? kNone : named->second;
        if (library == kNone || image.loaded[library] == nullptr) return {};
        const ObjectFacts& facts = *image.loaded[library];
        const bool is_owner = defines_version(facts, version) || facts.versions.empty();
        if (i == asker && is_owner && owner.library == kNone) owner = {file, library};
      }
    }
    return owner;
  }

  /// Does the library that is to have it lack the whole version? version-unmet reports that.
  static bool is_of_unmet_version(const Image& image, const std::map<std::string, std::uint32_t>& names,
                                  std::uint32_t asker, const Symbol& symbol) {
    if (symbol.version.empty() || image.closure.loader != LoaderKind::Glibc) return false;
    const ObjectFacts& object = *image.loaded[asker];
    const std::string_view version = object.text(symbol.version);
    return std::ranges::any_of(object.version_needs, [&](const VersionNeed& need) {
      if (need.weak || object.text(need.version) != version) return false;
      const auto named = names.find(std::string(object.text(need.file)));
      const std::uint32_t library = named == names.end() ? kNone : named->second;
      return library != kNone && image.loaded[library] != nullptr && !defines_version(*image.loaded[library], version);
    });
  }

  void add_lacking(const Image& image, std::uint32_t asker, const std::string& file, std::uint32_t library,
                   const Symbol& symbol) {
    Lacking& lacking = lacking_[{loaded_name(image, asker), loaded_name(image, library)}];
    if (lacking.image == nullptr || (lacking.asker != 0 && asker == 0)) {
      lacking.image = &image;
      lacking.asker = asker;
      lacking.library = library;
      lacking.file = file;
    }
    if (std::ranges::find(lacking.symbols, &symbol) == lacking.symbols.end()) lacking.symbols.push_back(&symbol);
    const std::string by = short_name(image, 0);
    if (asker != 0 && (lacking.images.empty() || lacking.images.back() != by)) lacking.images.push_back(by);
  }

  Finding finding(const Lacking& lacking) const {
    const Image& image = *lacking.image;
    const ObjectFacts& object = *image.loaded[lacking.asker];
    const std::string asker = short_name(image, lacking.asker);
    const std::string library = short_name(image, lacking.library);
    std::set<std::string> symbols;
    for (const Symbol* symbol : lacking.symbols) symbols.insert(with_version(object, *symbol));
    const std::vector<std::string> names(symbols.begin(), symbols.end());
    const std::string version(object.text(lacking.symbols.front()->version));
    const bool one = names.size() == 1;
    Finding finding = make_finding(
        kUndefinedSymbol, one ? object.name(*lacking.symbols.front()) : std::string_view(),
        one ? fmt::format("{} needs {} of {}, and {} {}", asker, demangle(names.front()), lacking.file, library,
                          image.loaded[lacking.library]->versions.empty()
                              ? "does not define it"
                              : fmt::format("defines {} without that symbol: another version of the library", version))
            : fmt::format("{} needs {} symbols of {} that {} does not define: {}", asker, names.size(), lacking.file,
                          library, some_symbols(names, kMostInNote)));
    add_symbols(finding, names, object, lacking.symbols);
    finding.sites.push_back(loaded_site(image, lacking.asker, Role::Reference));
    if (!lacking.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(lacking.images));
    finding.sites.push_back(loaded_site(image, lacking.library, Role::Candidate));
    if (const std::uint32_t by = image.closure.libraries[lacking.library].needed_by; by != lacking.asker)
      finding.sites.back().notes.push_back("found for " + short_name(image, by == kNone ? 0 : by));
    note_lookup(finding, object, lacking.symbols);
    finding.fixes.push_back(
        {fmt::format("let {} find the {} that it was linked with, before {}: by -rpath, "
                     "LD_LIBRARY_PATH, or the package in the version that it was built against",
                     asker, lacking.file, library)});
    finding.fixes.push_back({fmt::format("build {} against {}", asker, library)});
    return finding;
  }

  /// Mangled, by name, without versions: what --suppress and readers of JSON look for.
  static void add_symbols(Finding& finding, const std::vector<std::string>& names, const ObjectFacts& object,
                          const std::vector<const Symbol*>& symbols) {
    if (names.size() < 2) return;
    std::set<std::string> all;
    for (const Symbol* symbol : symbols) all.emplace(object.name(*symbol));
    finding.symbols.assign(all.begin(), all.end());
  }

  std::vector<LookedUp> lookups(const ObjectFacts& object, const std::vector<const Symbol*>& symbols) const {
    std::vector<std::uint32_t> indices;
    for (const Symbol* symbol : symbols) indices.push_back(symbol->index);
    try {
      if (evidence_.when_looked_up) return evidence_.when_looked_up(object.origin, indices);
    } catch (const InputError&) {
      // The symbols were read; relocations that can't be read are no reason to keep silent about them.
    }
    return std::vector<LookedUp>(symbols.size(), LookedUp::AtLoad);
  }

  void note_lookup(Finding& finding, const ObjectFacts& object, const std::vector<const Symbol*>& symbols) const {
    const std::vector<LookedUp> when = lookups(object, symbols);
    if (std::ranges::all_of(when, [](LookedUp one) { return one == LookedUp::AtFirstCall; }))
      finding.notes.push_back(
          "looked up at the first call: the call ends the process, and loading fails with LD_BIND_NOW=1 or RTLD_NOW, "
          "which Python's import uses");
  }

  void add_error(const Image& image, std::uint32_t asker, const Symbol& reference) {
    const ObjectFacts& object = *image.loaded[asker];
    const std::string name = with_version(object, reference);
    const std::string program = short_name(image, 0);
    Finding& finding = errors_[{loaded_name(image, 0), name}];
    if (finding.sites.empty()) {
      finding = make_finding(kUndefinedSymbol, object.name(reference),
                             fmt::format("{} is needed when {} runs, and nothing that is loaded with it defines it",
                                         demangle(name), program));
      suggest(finding, image, asker, reference);
    }
    finding.sites.push_back(loaded_site(image, asker, Role::Reference));
  }

  /// The same name with another version, which the library that is found lacks or has no more.
  void suggest(Finding& finding, const Image& image, std::uint32_t asker, const Symbol& reference) {
    const std::string_view name = image.loaded[asker]->name(reference);
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
      for (const Symbol& symbol : image.loaded[i]->symbols)
        if (symbol.defined() && image.loaded[i]->name(symbol) == name) {
          finding.notes.push_back(fmt::format("{} defines it with another version, {}", short_name(image, i),
                                              image.loaded[i]->text(symbol.version)));
          return;
        }
    std::vector<std::string> names{std::string(name)};
    note_kin(finding, image, asker, names);
    if (names.empty() || explain_other_build(finding, image, asker, reference)) return;
    finding.fixes.push_back({link_with(image, asker, names)});
  }

  /// "link libu.so with libx.so", where a library beside the file, or in its package, defines one of the names.
  std::string link_with(const Image& image, std::uint32_t asker, const std::vector<std::string>& names) const {
    std::map<std::string, std::vector<std::string>> by_library;
    std::vector<std::string> rest;
    for (const std::string& name : names) {
      const std::vector<std::string> libraries = definers_of(image, asker, name);
      for (const std::string& library : libraries) by_library[library].push_back(name);
      if (libraries.empty()) rest.push_back(name);
    }
    std::vector<std::string> with;
    for (const auto& [library, defined] : by_library)
      with.push_back(defined.size() == names.size()
                         ? fmt::format("{}, which defines {}", library, names.size() == 1 ? "it" : "them")
                         : fmt::format("{}, for {}", library, some_symbols(defined, kMostInNote)));
    if (!rest.empty())
      with.push_back(fmt::format("the object or library that defines {}", !by_library.empty() ? "the others"
                                                                          : names.size() == 1 ? "it"
                                                                                              : "them"));
    const bool any_will_do = rest.empty() && std::ranges::all_of(by_library, [&](const auto& library) {
                               return library.second.size() == names.size();
                             });
    return fmt::format("link {} with {}", short_name(image, asker),
                       fmt::join(with, any_will_do ? ", or with " : ", and with "));
  }

  /// Of a package its other libraries, else those in the folder of the file; none that is loaded.
  std::vector<std::string> definers_of(const Image& image, std::uint32_t asker, const std::string& name) const {
    std::vector<std::string> found;
    const ObjectFacts& object = *image.loaded[asker];
    const auto defines = [&](const ObjectFacts& other) {
      return std::ranges::any_of(other.symbols,
                                 [&](const Symbol& symbol) { return symbol.defined() && other.name(symbol) == name; });
    };
    if (image.package != kNone && object.origin.is_member()) {
      for (const InputFacts& file : evidence_.packages[image.package].files)
        for (const ObjectFacts& other : file.objects)
          if (other.kind == ObjectKind::SharedObject && defines(other) &&
              std::ranges::find(image.loaded, &other) == image.loaded.end())
            found.push_back(other.origin.entry.empty() ? other.origin.display() : other.origin.entry);
    } else if (!is_of_the_system(object.origin.path)) {
      found = shared_objects_beside(loaded_name(image, asker), name);
      std::erase_if(found, [&](const std::string& path) {
        return std::ranges::any_of(image.closure.libraries, [&](const LoadedLibrary& loaded) {
          std::error_code failed;
          return std::filesystem::equivalent(loaded.path, path, failed);
        });
      });
    }
    return found;
  }

  /// A program was linked with libraries that define what it needs: of those that are found one is another build.
  bool explain_other_build(Finding& finding, const Image& image, std::uint32_t asker, const Symbol& reference) {
    const std::string who = short_name(image, asker);
    std::vector<std::string> candidates, unused;
    for (const NeededLibrary& needed : image.closure.libraries[asker].needed) {
      if (needed.library == kNone || is_added_by_driver(needed.name) || host_of(needed.name) != Host::None) continue;
      const ObjectFacts& library = *image.loaded[needed.library];
      const std::string found = short_name(image, needed.library);
      if (const ObjectFacts* right = other_build(image, library, *image.loaded[asker], reference)) {
        finding.cause = {
            "other-build",
            fmt::format("{}, which is found for {}, does not define it; {} does", found, needed.name, shown(*right)),
            {}};
        finding.fixes.push_back(
            {fmt::format("let {} find that one: put it in place of {}, or its folder first in the "
                         "RUNPATH",
                         who, found)});
        return true;
      }
      candidates.push_back(found);
      const auto answers = [&](const Symbol* symbol) {
        return definitions_.answers(library, *image.loaded[asker], *symbol);
      };
      if (std::ranges::none_of(needed_symbols(*image.loaded[asker], true), answers)) unused.push_back(found);
    }
    if (unused.size() == 1) candidates = unused;
    if (asker != 0 || !is_program(image) || candidates.empty()) return false;
    constexpr std::size_t kMost = 3;
    const bool one = candidates.size() == 1;
    finding.cause = {"other-build",
                     one ? fmt::format("{}, which is found, does not define it: another build than the one that {} was "
                                       "linked with",
                                       candidates.front(), who)
                         : fmt::format("one of {} is another build than the one that {} was linked with",
                                       some_of(candidates, kMost), who),
                     {}};
    finding.fixes.push_back({one ? fmt::format("ship the {} that {} was linked with in place of {}",
                                               base_name(candidates.front()), who, candidates.front())
                                 : fmt::format("ship the libraries that {} was linked with", who)});
    finding.fixes.push_back({fmt::format("build {} again, with {}", who, one ? candidates.front() : "those")});
    return true;
  }

  /// Of the files that were given, another one of that library's name that defines the symbol.
  const ObjectFacts* other_build(const Image& image, const ObjectFacts& library, const ObjectFacts& asker,
                                 const Symbol& reference) {
    for (const Image& other : evidence_.images) {
      const ObjectFacts& object = *other.object;
      if (&object == &library || library.soname.empty() || object.soname != library.soname) continue;
      if (object.machine != library.machine || object.is_64 != library.is_64) continue;
      if (can_be_with(evidence_, image, other.package) && definitions_.answers(object, asker, reference))
        return &object;
    }
    return nullptr;
  }

  static std::string shown(const ObjectFacts& object) {
    return object.origin.entry.empty() ? object.origin.display() : object.origin.entry;
  }

  // --- modules of Python

  void check_module(const Image& image, const std::vector<Unanswered>& left) {
    const std::vector<std::string> not_found = not_found_by(image);
    if (std::ranges::any_of(not_found, is_c_library)) return;  // a module for another system
    std::map<std::uint32_t, std::vector<const Symbol*>> by_asker;
    for (const Unanswered& one : left)
      if (has_no_supplier(image, one, not_found)) by_asker[one.asker].push_back(one.symbol);
    for (auto& [asker, symbols] : by_asker) {
      const std::vector<LookedUp> when = lookups(*image.loaded[asker], symbols);
      std::vector<const Symbol*> needed;
      for (std::size_t i = 0; i < symbols.size(); ++i)
        if (when[i] != LookedUp::Never) needed.push_back(symbols[i]);
      if (!needed.empty()) add_module_error(image, asker, needed, not_found);
    }
  }

  static std::vector<std::string> not_found_by(const Image& image) {
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < image.closure.libraries.size(); ++i) {
      if (i >= image.loaded.size() || image.loaded[i] == nullptr) names.insert(image.closure.libraries[i].path);
      for (const NeededLibrary& needed : image.closure.libraries[i].needed)
        if (needed.library == kNone) names.insert(needed.name);
    }
    return {names.begin(), names.end()};
  }

  /// Neither the interpreter, nor what it has loaded, nor a library of a host that isn't here is known to define it.
  bool has_no_supplier(const Image& image, const Unanswered& one, const std::vector<std::string>& not_found) {
    const ObjectFacts& object = *image.loaded[one.asker];
    const std::string_view name = object.name(*one.symbol);
    if (!one.symbol->version.empty()) return false;  // version-unmet or needed-not-found reports it
    if (comes_with_the_process(name) && !is_of_python_2(name)) return false;
    // needed-not-found reports a library that is given, and only not where it is searched.
    for (const Image& given : evidence_.images)
      if (!not_found.empty() && can_be_with(evidence_, image, given.package) &&
          (is_among(given.object->soname, not_found) || is_among(base_name(short_name(given, 0)), not_found)) &&
          definitions_.answers(*given.object, object, *one.symbol))
        return false;
    if (std::ranges::any_of(image.host,
                            [&](const ObjectFacts* host) { return definitions_.answers(*host, object, *one.symbol); }))
      return false;
    // "-lcudart" where libcudart.so.12 is not found: needed-not-found reports it.
    const std::optional<Advice> advice = not_found.empty() ? std::nullopt : advice_at_load({}, name);
    const std::string file = advice && advice->option.starts_with("-l") ? "lib" + advice->option.substr(2) + ".so" : "";
    return std::ranges::none_of(not_found, [&](const std::string& library) {
      return may_define(host_of(library), name) || (!file.empty() && base_name(library).starts_with(file));
    });
  }

  void add_module_error(const Image& image, std::uint32_t asker, const std::vector<const Symbol*>& symbols,
                        const std::vector<std::string>& not_found) {
    const ObjectFacts& object = *image.loaded[asker];
    std::vector<std::string> names;
    for (const Symbol* symbol : symbols) names.emplace_back(object.name(*symbol));
    std::ranges::sort(names);
    const std::string module = short_name(image, 0);
    const bool one = names.size() == 1;
    const bool sure = not_found.empty();
    Finding finding = make_finding(
        kUndefinedSymbol, one ? names.front() : std::string(),
        fmt::format("{} needs {}, which nothing that is loaded with {} defines{}", short_name(image, asker),
                    one ? demangle(names.front()) : fmt::format("{} symbols", names.size()), asker == 0 ? "it" : module,
                    !sure                             ? ""
                    : is_python_module(*image.object) ? ": the import fails"
                                                      : ": loading it fails"));
    if (!one) {
      finding.symbols = names;
      finding.notes.push_back(some_symbols(names, kMostInNote));
    }
    finding.sites.push_back(loaded_site(image, asker, Role::Reference));
    if (asker != 0) finding.sites.back().notes.push_back("loaded by " + module);
    if (!sure) explain_doubt(finding, not_found);
    std::vector<std::string> unexplained = names;
    note_kin(finding, image, asker, unexplained);
    const bool has_torch = std::ranges::any_of(
        image.closure.libraries, [](const LoadedLibrary& library) { return host_of(library.path) == Host::Torch; });
    if (!has_torch && std::ranges::any_of(names, [](const std::string& n) { return may_define(Host::Torch, n); }))
      finding.notes.push_back(
          "names of torch: what `import torch` has loaded is found only through the libraries that the module itself "
          "needs, so it must be linked with them (-lc10 -ltorch -ltorch_cpu -ltorch_python)");
    if (std::ranges::any_of(names, is_of_python_2))
      finding.fixes.push_back(
          {"use what Python 3 has in place of these names of Python 2: PyBytes_*, PyLong_*, PyCapsule_*"});
    else if (!unexplained.empty())
      advise_on_names(finding, image, asker, unexplained, sure || hosts_only(not_found));
    Finding& known = errors_[{loaded_name(image, asker), names.front()}];
    if (known.sites.empty() || known.severity < finding.severity) known = std::move(finding);
  }

  /// Which libraries and device links the names belong to, and what to do for the rest, unless a library that is not found
  /// may define them.
  void advise_on_names(Finding& finding, const Image& image, std::uint32_t asker_number,
                       const std::vector<std::string>& names, bool all_are_found) const {
    const ObjectFacts& object = *image.loaded[asker_number];
    const std::string asker = short_name(image, asker_number);
    std::vector<std::pair<Advice, std::vector<std::string>>> answers;
    std::vector<std::string> rest;
    for (const std::string& name : names) {
      std::optional<Advice> advice = advice_at_load(asker, name, &object.needed);
      if (!advice) {
        rest.push_back(name);
        continue;
      }
      if (name.starts_with("__cudaRegisterLinkedBinary_")) advice->fix = make_device_link(asker, object);
      const auto known = std::ranges::find_if(answers, [&](const auto& one) { return one.first.fix == advice->fix; });
      if (known == answers.end())
        answers.emplace_back(std::move(*advice), std::vector{name});
      else
        known->second.push_back(name);
    }
    const bool is_all = answers.size() == 1 && rest.empty();
    if (is_all && !finding.cause) finding.cause = {"runtime-name", answers.front().first.cause, {}};
    // All of these have to be done.
    std::vector<std::string> steps;
    for (const auto& answer : answers)
      steps.push_back(is_all ? answer.first.fix
                             : fmt::format("{}, for {}", answer.first.fix, some_symbols(answer.second, kMostInNote)));
    if (!rest.empty() && all_are_found) steps.push_back(link_with(image, asker_number, rest));
    if (!steps.empty()) finding.fixes.push_back({fmt::format("{}", fmt::join(steps, "; and "))});
  }

  /// The file keeps the code of the objects that it was linked from.
  static std::string make_device_link(const std::string& asker, const ObjectFacts& object) {
    return fmt::format(
        "make one device link of its objects with relocatable device code and link {} with the output too (setuptools: "
        "extra_objects): {}; CMake: CUDA_SEPARABLE_COMPILATION and CUDA_RESOLVE_DEVICE_SYMBOLS ON",
        asker, device_link_command({&object}, true, {}));
  }

  /// A name that is there, and one like it that is missing.
  struct Kin {
    Kinship kinship = Kinship::None;
    std::string missing;  ///< mangled
    std::string present;
    std::uint32_t library = 0;  ///< that defines `present`
    bool exported = true;
  };

  /// What the file itself defines like the names, exported or not, or what is loaded exports like them: each name once.
  std::vector<Kin> kin_of(const Image& image, std::uint32_t asker, const std::vector<std::string>& names) const {
    constexpr std::size_t kMostAsked = 50;
    std::vector<Spelling> asked;
    for (const std::string& name : names)
      if (asked.size() < kMostAsked) asked.emplace_back(name);
    const KinIndex index(asked);
    std::map<std::string, Kin> found;
    const auto compare = [&](std::string_view present, std::uint32_t library, bool exported) {
      const bool of_user = library == asker || is_of_the_user(evidence_, image, library);
      index.each_in_scope(present, [&](std::size_t n) {
        const Kinship kinship = asked[n].kin_to(present);
        const bool of_c = kinship == Kinship::MangledHere || kinship == Kinship::MangledThere;
        if (kinship == Kinship::None || (of_c && !of_user)) return;  // many libraries of C have a close()
        found.try_emplace(names[n], Kin{kinship, names[n], std::string(present), library, exported});
      });
    };
    std::vector<std::uint32_t> order{asker};
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
      if (i != asker && image.loaded[i] != nullptr && !is_runtime_library(*image.loaded[i])) order.push_back(i);
    for (const std::uint32_t i : order) {
      for (const Symbol& symbol : image.loaded[i]->symbols)
        if (symbol.defined()) compare(image.loaded[i]->name(symbol), i, true);
      if (i == asker)
        for (const KeptLocal& kept : kept_by(*image.loaded[i], [&](std::string_view name) {
               bool any = false;
               index.each_in_scope(name, [&](std::size_t n) { any |= asked[n].kin_to(name) != Kinship::None; });
               return any;
             }))
          compare(kept.name, i, false);
    }
    std::vector<Kin> kin;
    for (auto& [name, one] : found) kin.push_back(std::move(one));
    return kin;
  }

  static std::vector<KeptLocal> kept_by(const ObjectFacts& object, const NameTest& is_wanted) {
    try {
      return find_kept_local(object, is_wanted);
    } catch (const InputError&) {
      return {};  // .symtab is of no use to a loader, and a damaged one is no reason to distrust the rest
    }
  }

  static Cause cause_of(const Image& image, std::uint32_t asker, const Kin& kin) {
    const std::string who = short_name(image, kin.library) + (kin.library == asker ? " itself" : ", which is loaded,");
    const std::string present = demangle(kin.present);
    switch (kin.kinship) {
      case Kinship::OtherStringAbi:
        return {"other-string-abi",
                fmt::format("{} defines {} for the other std::string ABI", short_name(image, kin.library), present)};
      case Kinship::MangledThere:
        return {"extern-c-missing",
                fmt::format("{} defines {} in C: extern \"C\" is missing where it is declared", who, present)};
      case Kinship::MangledHere:
        return {"extern-c-missing", fmt::format("{} defines {} in C++: extern \"C\" is missing there", who, present)};
      case Kinship::OtherMangling:
        return {"other-mangling",
                fmt::format("{} defines the same template as {}: only one of the two compilers writes "
                            "its constraints into the name, as clang does since version 18",
                            who, kin.present)};
      default:
        return {"other-parameters", fmt::format("{} defines {} and not {}", who, present, demangle(kin.missing))};
    }
  }

  static std::string fix_for(const Image& image, std::uint32_t asker, const Kin& kin) {
    const std::string who = short_name(image, kin.library);
    const std::string present = demangle(kin.present);
    switch (kin.kinship) {
      case Kinship::OtherStringAbi:
        return fmt::format("compile both with the same _GLIBCXX_USE_CXX11_ABI: {} has {}", who,
                           is_new_abi(kin.present) ? "1" : "0");
      case Kinship::MangledThere:
        return fmt::format("put the declaration of {} into extern \"C\" {{ }} for C++", present);
      case Kinship::MangledHere:
        return fmt::format("declare {} extern \"C\" where {} is compiled", kin.missing, who);
      case Kinship::OtherMangling:
        return "compile both with one compiler, or by clang with -fclang-abi-compat=17";
      default:
        if (kin.library != asker)
          return fmt::format("build {} against the version of {} that it loads", short_name(image, asker), who);
        return fmt::format("declare and call {} as it is defined, or define {}", present, demangle(kin.missing));
    }
  }

  /// Takes the names that are there in another spelling, which is the cause, out of `names`.
  void note_kin(Finding& finding, const Image& image, std::uint32_t asker, std::vector<std::string>& names) const {
    for (const Kin& kin : kin_of(image, asker, names)) {
      std::erase(names, kin.missing);
      Cause cause = cause_of(image, asker, kin);
      if (!finding.cause)
        finding.cause = std::move(cause);
      else
        finding.notes.push_back(std::move(cause.text));
      Fix fix{fix_for(image, asker, kin)};
      const auto same = [&](const Fix& other) { return other.text == fix.text; };
      if (std::ranges::none_of(finding.fixes, same)) finding.fixes.push_back(std::move(fix));
    }
  }

  static bool hosts_only(const std::vector<std::string>& libraries) {
    return std::ranges::all_of(libraries, [](const std::string& library) { return host_of(library) != Host::None; });
  }

  static void explain_doubt(Finding& finding, const std::vector<std::string>& not_found) {
    finding.severity = hosts_only(not_found) ? Severity::Warning : Severity::Note;
    finding.notes.push_back(fmt::format("not certain: {} {} not found here and may define {}",
                                        fmt::join(not_found, ", "), not_found.size() == 1 ? "is" : "are",
                                        finding.symbols.empty() ? "it" : "them"));
  }

  // --- other shared objects

  /// A shared object, and what it needs of the program that opens it.
  struct Plugin {
    const Image* image = nullptr;
    std::vector<const Symbol*> symbols{};
  };

  void check_library(const Image& image, const std::vector<Unanswered>& left) {
    Plugin plugin{&image};
    std::vector<const Symbol*> of_device_link;  // which no program has
    for (const Unanswered& one : left) {
      const std::string_view name = image.object->name(*one.symbol);
      if (one.asker != 0 || comes_with_the_process(name)) continue;
      (name.starts_with("__cudaRegisterLinkedBinary_") ? of_device_link : plugin.symbols).push_back(one.symbol);
    }
    if (!of_device_link.empty()) add_module_error(image, 0, of_device_link, {});
    if (!plugin.symbols.empty()) plugins_.push_back(std::move(plugin));
  }

  /// Takes out what a program exports that is given too, and reports what exactly one has and does not export.
  void ask_programs() {
    constexpr std::size_t kMostPrograms = 64;
    std::vector<const Image*> programs;
    for (const Image& image : evidence_.images)
      if (!plugins_.empty() && programs.size() < kMostPrograms && is_program(image) && loads_others(image))
        programs.push_back(&image);
    std::set<std::string_view> wanted;
    for (Plugin& plugin : plugins_) {
      const ObjectFacts& object = *plugin.image->object;
      std::erase_if(plugin.symbols, [&](const Symbol* symbol) {
        return std::ranges::any_of(
            programs, [&](const Image* program) { return definitions_.first(*program, object, *symbol) != kNone; });
      });
      for (const Symbol* symbol : plugin.symbols) wanted.insert(object.name(*symbol));
    }
    if (wanted.empty()) return;
    std::map<std::string, std::vector<std::pair<const Image*, KeptLocal>>, std::less<>> owners;
    for (const Image* program : programs)
      for (KeptLocal& kept : kept_by(*program->object, [&](std::string_view name) { return wanted.contains(name); }))
        owners[kept.name].emplace_back(program, std::move(kept));
    for (Plugin& plugin : plugins_) {
      std::map<const Image*, std::vector<const KeptLocal*>> kept_in;
      const ObjectFacts& object = *plugin.image->object;
      for (const Symbol* symbol : plugin.symbols)
        if (const auto found = owners.find(object.name(*symbol)); found != owners.end())
          for (const auto& [program, kept] : found->second) kept_in[program].push_back(&kept);
      if (kept_in.size() != 1) continue;
      const auto& [program, kept] = *kept_in.begin();
      add_not_exported(*plugin.image, *program, kept);
      std::erase_if(plugin.symbols, [&](const Symbol* symbol) { return owners.contains(object.name(*symbol)); });
    }
  }

  void add_not_exported(const Image& image, const Image& program, const std::vector<const KeptLocal*>& kept) {
    std::vector<std::string> names;
    for (const KeptLocal* one : kept) names.push_back(one->name);
    const std::string who = short_name(program, 0);
    const bool is_one = names.size() == 1;
    Finding finding =
        make_finding(kUndefinedSymbol, is_one ? names.front() : std::string(),
                     fmt::format("{} needs {}, which {} defines and does not export", short_name(image, 0),
                                 is_one ? demangle(names.front()) : fmt::format("{} symbols", names.size()), who));
    finding.severity = Severity::Warning;
    if (!is_one) {
      finding.symbols = names;
      finding.notes.push_back(some_symbols(names, kMostInNote));
    }
    finding.sites.push_back(loaded_site(image, 0, Role::Reference));
    finding.sites.push_back(loaded_site(program, 0, Role::Candidate));
    const bool is_hidden = std::ranges::any_of(kept, &KeptLocal::hidden);
    finding.cause = {"not-exported",
                     fmt::format("what {} opens by dlopen gets from it only what it exports{}", who,
                                 is_hidden ? ", and there it is hidden" : ""),
                     who};
    const std::string exported = fmt::format("link {} with -rdynamic (CMake: ENABLE_EXPORTS ON for its target)", who);
    std::string what = is_one ? before_parameters(demangle(names.front())) : "them";
    if (what.starts_with("typeinfo ") || what.starts_with("vtable ")) what.erase(0, what.find(" for ") + 5);
    finding.fixes.push_back(
        {is_hidden ? fmt::format("declare {} with __attribute__((visibility(\"default\"))), and {}", what, exported)
                   : exported});
    findings_.push_back(std::move(finding));
  }

  void note_plugin(const Plugin& plugin) {
    const Image& image = *plugin.image;
    std::set<std::string> versioned, plain;
    for (const Symbol* symbol : plugin.symbols)
      (symbol->version.empty() ? plain : versioned).insert(with_version(*image.object, *symbol));
    // Those with a version name a library that is to have them: the reader can do something about it.
    std::vector<std::string> names(versioned.begin(), versioned.end());
    names.insert(names.end(), plain.begin(), plain.end());
    if (names.empty()) return;
    Finding finding =
        make_finding(kUndefinedSymbol, {},
                     fmt::format("{} needs {} {} that nothing it loads defines: the program that loads it must",
                                 short_name(image, 0), names.size(), names.size() == 1 ? "symbol" : "symbols"));
    finding.severity = Severity::Note;
    finding.sites.push_back(loaded_site(image, 0, Role::Reference));
    finding.notes.push_back(some_symbols(names, kMostInNote));
    for (const Kin& kin : kin_of(image, 0, {plain.begin(), plain.end()}))
      if (kin.library == 0) finding.notes.push_back(cause_of(image, 0, kin).text);
    for (const std::string& name : names) finding.symbols.push_back(name.substr(0, name.find('@')));
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<std::pair<std::string, std::string>, Lacking> lacking_;
  std::map<std::pair<std::string, std::string>, Finding> errors_;
  std::vector<Plugin> plugins_;
  std::vector<Finding> findings_;
};

std::vector<Finding> unloadable_symbols(const Evidence& evidence) { return ClosureSymbols(evidence).run(); }

}  // namespace

RuleFamily symbols_at_load_rules() { return {{}, {{unloadable_symbols}}}; }

}  // namespace elfaudit
