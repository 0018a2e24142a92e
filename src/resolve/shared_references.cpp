// References of shared objects. An executable must satisfy them; a shared object only with --no-allow-shlib-undefined,
// since it is completed when it is loaded.
//
//  1. GNU ld first loads what the shared objects of the link need and the line doesn't name, as the dynamic linker
//  would
//     find it, and what these need in turn. Their references count like the others'. One that is not found is a
//     warning.
//  2. GNU ld reports a name that a shared object refers to (not weakly) and nothing defines, unless a relocatable
//     object refers to it too, weakly or not: then that one's relocations decide. -u and -e count as such a reference.
//     With --gc-sections neither matters.
//  3. mold 1.10 never reports any of this; lld has rules of its own (shared_needs.cpp).
//  4. A definition that is hidden, made local by a version script or by --exclude-libs doesn't count for a shared
//     object of an executable's link, unless another shared object defines the name too: GNU ld refuses it, with a
//     message of its own.

#include "resolve/shared_references.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "linker/linker_traits.hpp"
#include "resolve/exports.hpp"
#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

/// A name that shared objects refer to.
struct Want {
  std::string_view version;
  SymbolId first;       ///< invalid when only a library beside the line refers to it
  std::string_view by;  ///< that library
  bool defined = false;
  bool by_shared = false;  ///< a shared object defines it
  bool regular_strong = false;
  bool regular_weak = false;
  bool not_exported = false;  ///< a relocatable object mentions it hidden or internal
  SymbolId definition;        ///< of a relocatable object
};

bool is_shared(const InputFacts& input) {
  return (input.kind == InputKind::SharedObject || input.kind == InputKind::Executable) && !input.objects.empty();
}

class SharedReferences {
 public:
  SharedReferences(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution)
      : job_(job),
        inputs_(inputs),
        out_(resolution),
        linker_(traits_of(job)),
        refuses_hidden_(linker_.refuses_unexported && job.output == OutputKind::Executable) {
    for (const std::string& name : job.wrapped) {
      wrapped_.emplace(name, "__wrap_" + name);
      wrapped_.emplace("__real_" + name, name);
    }
  }

  void collect(const std::vector<IndirectLibrary>& needed) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      if (takes_part(i) && (linker_.loads_needed_libraries || is_complete(inputs_[i].objects[0])))
        add_references(inputs_[i].objects[0], ObjectId{i, 0});
    for (const IndirectLibrary& library : needed) add_references(library.facts, {});
    if (wants_.empty()) return;
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o)
        if (out_.linked[i][o]) look_at({i, o});
    for (const IndirectLibrary& library : needed) look_at(library.facts);
    for (const Assignment& assignment : job_.assignments)
      if (const auto found = wants_.find(assignment.symbol); found != wants_.end())
        for (Want& want : found->second) want.defined |= want.version.empty();
  }

  void report(bool undefined_too) {
    const Exports exports(job_);
    for (const auto& [name, wants] : wants_) {
      for (const Want& want : wants) {
        if (!want.defined) {
          if (undefined_too && reported(name, want) && !defined_by_linker(name, job_, true)) add_unresolved(name, want);
        } else if (refuses_hidden_ && want.first.valid() && want.definition.valid() && !want.by_shared) {
          check_exported(name, want, exports);
        }
      }
    }
    std::sort(out_.rejections.begin(), out_.rejections.end(), [](const Rejection& a, const Rejection& b) {
      return std::tie(a.kind, a.symbol) < std::tie(b.kind, b.symbol);
    });
  }

 private:
  bool takes_part(std::uint32_t input) const {
    return is_shared(inputs_[input]) && !job_.inputs[input].just_symbols && out_.linked[input][0];
  }

  /// All libraries that it needs are on the line, under their names for the loader.
  bool is_complete(const ObjectFacts& library) const {
    return std::all_of(library.needed.begin(), library.needed.end(), [&](const std::string& name) {
      for (std::uint32_t i = 0; i < inputs_.size(); ++i)
        if (is_shared(inputs_[i]) && answers_to(inputs_[i], name)) return true;
      return false;
    });
  }

  static bool answers_to(const InputFacts& input, const std::string& name) {
    const ObjectFacts& object = input.objects[0];
    return object.soname.empty() ? input.path.substr(input.path.rfind('/') + 1) == name : object.soname == name;
  }

  void add_references(const ObjectFacts& object, ObjectId id) {
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (symbol.defined() || symbol.weak()) continue;
      const std::string_view version = object.text(symbol.version);
      std::vector<Want>& wants = wants_[wrapped(object.name(symbol))];
      const auto known =
          std::find_if(wants.begin(), wants.end(), [&](const Want& want) { return want.version == version; });
      if (known != wants.end()) continue;
      Want& want = wants.emplace_back();
      want.version = version;
      want.by = object.origin.path;
      if (id.valid()) want.first = {id, s};
    }
  }

  static bool answers(const ObjectFacts& object, const Symbol& symbol, const Want& want) {
    if (want.version.empty()) return symbol.version.empty() || symbol.default_version;
    return object.text(symbol.version) == want.version;
  }

  /// --wrap changes what shared objects refer to as well.
  std::string_view wrapped(std::string_view name) const {
    const auto found = wrapped_.find(name);
    return found == wrapped_.end() ? name : std::string_view(found->second);
  }

  /// A library beside the line.
  void look_at(const ObjectFacts& object) {
    for (const Symbol& symbol : object.symbols) {
      if (!symbol.defined()) continue;
      const auto found = wants_.find(object.name(symbol));
      if (found == wants_.end()) continue;
      for (Want& want : found->second)
        if (answers(object, symbol, want)) want.defined = want.by_shared = true;
    }
  }

  void look_at(ObjectId id) {
    const ObjectFacts& object = inputs_[id.input].objects[id.object];
    if (object.kind != ObjectKind::Relocatable) return look_at(object);
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      const auto found = wants_.find(symbol.defined() ? object.name(symbol) : wrapped(object.name(symbol)));
      if (found == wants_.end()) continue;
      for (Want& want : found->second)
        if (answers(object, symbol, want)) mention({id, s}, symbol, want);
    }
  }

  void mention(SymbolId at, const Symbol& symbol, Want& want) {
    want.not_exported |= symbol.visibility == Visibility::Hidden || symbol.visibility == Visibility::Internal;
    switch (out_.fate(at)) {
      case Fate::Reference:
      case Fate::DiscardedComdat:
      case Fate::DiscardedExclude:
        (symbol.weak() ? want.regular_weak : want.regular_strong) = true;
        return;
      case Fate::Kept:
        want.definition = at;
        [[fallthrough]];
      default:
        want.defined = true;
    }
  }

  /// Rule 2.
  bool reported(std::string_view name, const Want& want) const {
    const bool by_option = linker_.undefined_as_a_whole &&
                           std::find(job_.required.begin(), job_.required.end(), name) != job_.required.end() &&
                           !job_.required_late.contains(std::string(name));
    return job_.gc_sections || !(want.regular_strong || want.regular_weak || by_option);
  }

  void add_unresolved(std::string_view name, const Want& want) {
    std::string full(name);
    if (!want.version.empty()) full += "@" + std::string(want.version);
    const auto known = std::find_if(out_.unresolved.begin(), out_.unresolved.end(),
                                    [&](const Unresolved& other) { return other.symbol == full; });
    if (known != out_.unresolved.end()) return;
    Unresolved& made = out_.unresolved.emplace_back();
    made.symbol = std::move(full);
    made.in_shared = true;
    if (want.first.valid())
      made.references.push_back({want.first, {}, 0});
    else
      made.remarks.push_back("needed by " + std::string(want.by) + ", which a shared object of the link needs");
  }

  void check_exported(std::string_view name, const Want& want, const Exports& exports) {
    const ObjectFacts& object = inputs_[want.definition.in.input].objects[want.definition.in.object];
    std::string why = exports.why_not(name, object.origin, want.not_exported);
    if (why.empty()) return;
    out_.rejections.push_back(
        {Rejection::Kind::HiddenFromShared, std::string(name), want.definition, want.first, std::move(why)});
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const LinkerTraits& linker_;
  bool refuses_hidden_;                                      ///< rule 4
  std::map<std::string, std::string, std::less<>> wrapped_;  ///< what a reference really means
  std::unordered_map<std::string_view, std::vector<Want>> wants_;
};

/// Rule 1.
std::vector<IndirectLibrary> load_needed(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                         const Resolution& resolution, const NeededFinder& find) {
  std::vector<const ObjectFacts*> linked;
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (is_shared(inputs[i]) && resolution.linked[i][0]) linked.push_back(&inputs[i].objects[0]);
  if (linked.empty()) return {};
  return find(job, linked);
}

}  // namespace

std::vector<IndirectLibrary> settle_shared_references(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                                      Resolution& resolution, const NeededFinder& find) {
  const LinkerTraits& linker = traits_of(job);
  const bool undefined_too = job.unresolved.report_in_shared_objects;
  const bool loads = undefined_too || job.copy_dt_needed;
  if (job.output == OutputKind::Relocatable || !(linker.loads_needed_libraries || linker.asks_complete_libraries))
    return {};
  // Rule 4 holds for executables whatever the options say of undefined names.
  const bool hidden_too = linker.refuses_unexported && job.output == OutputKind::Executable;
  if (!undefined_too && !hidden_too) return {};
  std::vector<IndirectLibrary> needed;
  if (loads && linker.loads_needed_libraries) needed = load_needed(job, inputs, resolution, find);
  SharedReferences references(job, inputs, resolution);
  references.collect(needed);
  references.report(undefined_too);
  return needed;
}

}  // namespace elfaudit
