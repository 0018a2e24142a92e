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
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/error.hpp"
#include "resolve/linked_objects.hpp"
#include "rules/loading/loaded.hpp"
#include "support/name_hash.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

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

RuleFamily interposition_rules() { return {{&kInterposed}, {{interposed_definitions}}}; }

}  // namespace elfaudit
