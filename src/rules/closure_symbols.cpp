// undefined-symbol, over what is loaded: names that nothing in a closure defines.
//
// For a program the closure is everything there is, so a strong one is an error: LD_BIND_NOW=1 ends its start, and
// `ldd -r` lists it. A shared object may get it from whoever loads it (a plugin from its program, a module of Python
// from the interpreter): then it is a note, and only of the file that was given.

#include <fmt/format.h>

#include <set>

#include "rules/loaded.hpp"
#include "support/demangle.hpp"

namespace elfaudit {
namespace {

constexpr std::size_t kMostNames = 8;  // of one note

/// What an interpreter or the loader itself provides to everything that it loads.
bool comes_with_the_host(std::string_view name) {
  return name.starts_with("Py") || name.starts_with("_Py") || name == "__tls_get_addr";
}

class ClosureSymbols {
 public:
  explicit ClosureSymbols(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> run() {
    for (const Image& image : evidence_.images) {
      if (!closure_is_known(image) || image.closure.loader == LoaderKind::None) continue;
      if (is_program(image))
        check_program(image);
      else
        check_library(image);
    }
    std::vector<Finding> findings = std::move(notes_);
    for (auto& [key, finding] : errors_) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  void check_program(const Image& image) {
    for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
      for (const Symbol* reference : unanswered(image, *image.loaded[i])) add_error(image, i, *reference);
  }

  std::vector<const Symbol*> unanswered(const Image& image, const ObjectFacts& object) {
    std::vector<const Symbol*> names;
    for (const Symbol* reference : needed_symbols(object, false))
      if (definitions_.first(image, object, *reference) == kNone) names.push_back(reference);
    return names;
  }

  void add_error(const Image& image, std::uint32_t asker, const Symbol& reference) {
    const ObjectFacts& object = *image.loaded[asker];
    std::string name(object.name(reference));
    if (!reference.version.empty()) name += "@" + std::string(object.text(reference.version));
    const std::string program = loaded_name(image, 0);
    Finding& finding = errors_[{program, name}];
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
          finding.notes.push_back(fmt::format("{} defines it with another version, {}", loaded_name(image, i),
                                              image.loaded[i]->text(symbol.version)));
          return;
        }
    finding.fixes.push_back(
        {fmt::format("link {} with the library that defines it", loaded_name(image, asker)), {}, {}});
  }

  void check_library(const Image& image) {
    std::vector<std::string> names;
    for (const Symbol* reference : unanswered(image, *image.object))
      if (const std::string_view name = image.object->name(*reference); !comes_with_the_host(name))
        names.push_back(demangle(name));
    if (names.empty()) return;
    const std::size_t count = names.size();
    if (count > kMostNames) names.resize(kMostNames);
    Finding finding = make_finding("undefined-symbol", {},
                                   fmt::format("{} needs {} {} that nothing it loads defines: whoever loads it must",
                                               loaded_name(image, 0), count, count == 1 ? "symbol" : "symbols"));
    finding.severity = Severity::Note;
    finding.sites.push_back(loaded_site(image, 0, Role::Reference));
    finding.notes.push_back(fmt::format("{}{}", fmt::join(names, ", "), count > kMostNames ? ", ..." : ""));
    notes_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  Definitions definitions_;
  std::map<std::pair<std::string, std::string>, Finding> errors_;
  std::vector<Finding> notes_;
};

}  // namespace

std::vector<Finding> unloadable_symbols(const Evidence& evidence) { return ClosureSymbols(evidence).run(); }

}  // namespace elfaudit
