// undefined-symbol, over what is loaded: names that nothing in a closure defines, as glibc looks them up.
//  1. A versioned symbol belongs to the library that .gnu.version_r names. That library is loaded, and neither it nor
//     another one of the closure defines the symbol with that version: an error, whatever loads the file.
//  2. For a program the closure is everything there is, so that what nothing defines is an error: LD_BIND_NOW=1 ends
//  its
//     start, and `ldd -r` lists it.
//  3. A module of Python is loaded with RTLD_NOW, and what other modules have loaded is not searched for it
//  (RTLD_LOCAL):
//     what neither its closure nor the interpreter defines ends the import. Where a library of it was not found, that
//     one may define it.
//  4. Another shared object may get it from what loads it, a plugin from its program: a note, and only of the file
//     that was given.
// Weak references may stay undefined. A version that the library lacks altogether is reported by version-unmet.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "load/host_libraries.hpp"
#include "rules/loaded.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostNames = 8;  // of one note

bool is_c_library(std::string_view name) {
  return name.starts_with("libc.so") || name.starts_with("libc.musl-") || name.starts_with("ld-");
}

std::string with_version(const ObjectFacts& object, const Symbol& symbol) {
  std::string name(object.name(symbol));
  if (!symbol.version.empty()) name += "@" + std::string(object.text(symbol.version));
  return name;
}

/// "a, b, c and 5 more", demangled.
std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < kMostNames) shown.push_back(demangle(name));
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
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
      if (image.loaded[i] == nullptr || loaded_before.count(i) != 0) continue;
      for (const Symbol* symbol : definitions_.unanswered(image, i))
        if (const auto [file, library] = owner_of(image, names, i, *symbol); library != kNone)
          add_lacking(image, i, file, library, *symbol);
        else
          left.push_back({i, symbol});
    }
    if (is_program(image))
      check_program(image, left);
    else if (is_python_module(*image.object))
      check_module(image, left);
    else if (closure_is_known(image))
      check_library(image, left);
  }

  /// What the host has loaded before the file was bound to other libraries then, and is in order where the host runs.
  static std::set<std::uint32_t> of_the_host(const Image& image) {
    std::set<std::uint32_t> libraries;
    for (const LoadedLibrary& library : image.closure.libraries)
      for (const NeededLibrary& needed : library.needed)
        if (needed.found_by == FoundBy::LoadedBefore && libraries.count(needed.library) == 0)
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

  void add_lacking(const Image& image, std::uint32_t asker, const std::string& file, std::uint32_t library,
                   const Symbol& symbol) {
    Lacking& lacking = lacking_[{loaded_name(image, asker), loaded_name(image, library)}];
    if (lacking.image == nullptr || (lacking.asker != 0 && asker == 0)) {
      lacking.image = &image;
      lacking.asker = asker;
      lacking.library = library;
      lacking.file = file;
    }
    if (std::find(lacking.symbols.begin(), lacking.symbols.end(), &symbol) == lacking.symbols.end())
      lacking.symbols.push_back(&symbol);
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
        "undefined-symbol", one ? object.name(*lacking.symbols.front()) : std::string_view(),
        one ? fmt::format("{} needs {} of {}, and {} {}", asker, demangle(names.front()), lacking.file, library,
                          image.loaded[lacking.library]->versions.empty()
                              ? "does not define it"
                              : fmt::format("defines {} without that symbol: another version of the library", version))
            : fmt::format("{} needs {} symbols of {} that {} does not define: {}", asker, names.size(), lacking.file,
                          library, some_of(names)));
    add_symbols(finding, names, object, lacking.symbols);
    finding.sites.push_back(loaded_site(image, lacking.asker, Role::Reference));
    if (!lacking.images.empty()) finding.sites.back().notes.push_back("loaded by " + loaded_by(lacking.images));
    finding.sites.push_back(loaded_site(image, lacking.library, Role::Candidate));
    if (const std::uint32_t by = image.closure.libraries[lacking.library].needed_by; by != lacking.asker)
      finding.sites.back().notes.push_back("found for " + short_name(image, by == kNone ? 0 : by));
    note_lookup(finding, object, lacking.symbols);
    finding.fixes.push_back({fmt::format("let {} find the {} that it was linked with, before {}: by -rpath, "
                                         "LD_LIBRARY_PATH, or the package in the version that it was built against",
                                         asker, lacking.file, library),
                             {},
                             {}});
    finding.fixes.push_back({fmt::format("build {} against {}", asker, library), {}, {}});
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
    if (std::all_of(when.begin(), when.end(), [](LookedUp one) { return one == LookedUp::AtFirstCall; }))
      finding.notes.push_back(
          "looked up at the first call: the call ends the process, and loading fails with LD_BIND_NOW=1 or RTLD_NOW, "
          "which Python's import uses");
  }

  void check_program(const Image& image, const std::vector<Unanswered>& left) {
    if (!closure_is_known(image)) return;
    for (const Unanswered& one : left) add_error(image, one.asker, *one.symbol);
  }

  void add_error(const Image& image, std::uint32_t asker, const Symbol& reference) {
    const ObjectFacts& object = *image.loaded[asker];
    const std::string name = with_version(object, reference);
    const std::string program = short_name(image, 0);
    Finding& finding = errors_[{loaded_name(image, 0), name}];
    if (finding.sites.empty()) {
      finding = make_finding("undefined-symbol", object.name(reference),
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
    finding.fixes.push_back(
        {fmt::format("link {} with the library that defines it", short_name(image, asker)), {}, {}});
  }

  // --- modules of Python

  void check_module(const Image& image, const std::vector<Unanswered>& left) {
    const std::vector<std::string> not_found = not_found_by(image);
    if (std::any_of(not_found.begin(), not_found.end(), is_c_library)) return;  // a module for another system
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
    if (comes_with_the_process(name)) return false;
    if (std::any_of(image.host.begin(), image.host.end(),
                    [&](const ObjectFacts* host) { return definitions_.answers(*host, object, *one.symbol); }))
      return false;
    return std::none_of(not_found.begin(), not_found.end(),
                        [&](const std::string& library) { return may_define(host_of(library), name); });
  }

  void add_module_error(const Image& image, std::uint32_t asker, const std::vector<const Symbol*>& symbols,
                        const std::vector<std::string>& not_found) {
    const ObjectFacts& object = *image.loaded[asker];
    std::vector<std::string> names;
    for (const Symbol* symbol : symbols) names.emplace_back(object.name(*symbol));
    std::sort(names.begin(), names.end());
    const std::string module = short_name(image, 0);
    const bool one = names.size() == 1;
    const bool sure = not_found.empty();
    Finding finding = make_finding(
        "undefined-symbol", one ? names.front() : std::string(),
        fmt::format("{} needs {}, which nothing that is loaded with {} defines{}", short_name(image, asker),
                    one ? demangle(names.front()) : fmt::format("{} symbols", names.size()), asker == 0 ? "it" : module,
                    sure ? ": the import fails" : ""));
    if (!one) {
      finding.symbols = names;
      finding.notes.push_back(some_of(names));
    }
    finding.sites.push_back(loaded_site(image, asker, Role::Reference));
    if (asker != 0) finding.sites.back().notes.push_back("loaded by " + module);
    if (!sure) explain_doubt(finding, not_found);
    if (std::any_of(names.begin(), names.end(), [](const std::string& n) { return may_define(Host::Torch, n); }))
      finding.notes.push_back(
          "names of torch: what `import torch` has loaded is found only through the libraries that the module itself "
          "needs, so it must be linked with them (-lc10 -ltorch -ltorch_cpu -ltorch_python)");
    finding.fixes.push_back({fmt::format("link {} with the object or library that defines {}", short_name(image, asker),
                                         one ? "it" : "them"),
                             {},
                             {}});
    Finding& known = errors_[{loaded_name(image, asker), names.front()}];
    if (known.sites.empty() || known.severity < finding.severity) known = std::move(finding);
  }

  static void explain_doubt(Finding& finding, const std::vector<std::string>& not_found) {
    const bool hosts_only = std::all_of(not_found.begin(), not_found.end(),
                                        [](const std::string& library) { return host_of(library) != Host::None; });
    finding.severity = hosts_only ? Severity::Warning : Severity::Note;
    finding.notes.push_back(fmt::format("not certain: {} {} not found here and may define {}",
                                        fmt::join(not_found, ", "), not_found.size() == 1 ? "is" : "are",
                                        finding.symbols.empty() ? "it" : "them"));
  }

  // --- other shared objects

  void check_library(const Image& image, const std::vector<Unanswered>& left) {
    std::set<std::string> versioned, plain;
    for (const Unanswered& one : left) {
      const std::string_view name = image.loaded[one.asker]->name(*one.symbol);
      if (one.asker != 0 || comes_with_the_process(name)) continue;
      (one.symbol->version.empty() ? plain : versioned).insert(with_version(*image.object, *one.symbol));
    }
    // Those with a version name a library that is to have them: the reader can do something about it.
    std::vector<std::string> names(versioned.begin(), versioned.end());
    names.insert(names.end(), plain.begin(), plain.end());
    if (names.empty()) return;
    Finding finding =
        make_finding("undefined-symbol", {},
                     fmt::format("{} needs {} {} that nothing it loads defines: the program that loads it must",
                                 short_name(image, 0), names.size(), names.size() == 1 ? "symbol" : "symbols"));
    finding.severity = Severity::Note;
    finding.sites.push_back(loaded_site(image, 0, Role::Reference));
    finding.notes.push_back(some_of(names));
    for (const std::string& name : names) finding.symbols.push_back(name.substr(0, name.find('@')));
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<std::pair<std::string, std::string>, Lacking> lacking_;
  std::map<std::pair<std::string, std::string>, Finding> errors_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> unloadable_symbols(const Evidence& evidence) { return ClosureSymbols(evidence).run(); }

}  // namespace elfaudit
