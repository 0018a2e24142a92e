// References of shared objects. An executable must satisfy them; a shared object only with --no-allow-shlib-undefined,
// since it is completed when it is loaded.
//
//  1. GNU ld first loads what the shared objects of the link need and the line does not name, as the dynamic linker
//     would find it, and what these need in turn; what --as-needed dropped takes part again when one that takes part
//     needs it. Their references count like the others'. One that is not found is a warning.
//  2. GNU ld reports a name that a shared object refers to (not weakly) and nothing defines, unless a relocatable
//     object refers to it too, weakly or not: then that one's relocations decide. -u and -e count as such a reference.
//     With --gc-sections neither matters. Those of a weak reference are refused because of a library beside the line
//     alone, too.
//  3. mold 1.10 never reports any of this; gold and lld have rules of their own.
//  4. A definition that is hidden, made local by a version script or by --exclude-libs doesn't count for a shared
//     object of an executable's link, unless another shared object defines the name too: GNU ld refuses it, with a
//     message of its own. Not one that --gc-sections took away, or one of code for link-time optimisation.

#include "resolve/shared_references.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "resolve/exports.hpp"
#include "resolve/link_symbols.hpp"
#include "resolve/resolve.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

// --- What lld says of references that shared objects make. Which of them count is the engine's to know
// (lld_verdict.cpp); here it is known which sections are kept.
//
//  1. Only where the options ask for it (--no-allow-shlib-undefined, which is on for executables), then in shared
//     outputs too, whatever they say of the objects' own references.
//  2. What nothing defines is undefined. Since lld 15 also what --gc-sections took away: a definition that is hidden,
//     or that a version script or --exclude-libs makes local, is not a root for it.
//  3. Since lld 15 such a definition is refused when it is kept ("non-exported symbol"), and so are names of lld's own
//     that it hides, such as __dso_handle. A warning with --warn-unresolved-symbols and --noinhibit-exec.

namespace {

void reject(const SharedNeed& need, std::string why, std::vector<Rejection>& rejections) {
  rejections.push_back(
      {Rejection::Kind::HiddenFromShared, need.symbol, need.definition, need.reference, std::move(why)});
}

/// Unless the link reports the name anyhow.
void add_undefined(const LinkJob& job, const SharedNeed& need, std::vector<Unresolved>& names) {
  const auto reported = [&](const Unresolved& name) {
    return name.symbol == need.symbol && !name.discarded && is_reported(job, name);
  };
  if (std::any_of(names.begin(), names.end(), reported)) return;
  Unresolved& made = names.emplace_back();
  made.symbol = need.symbol;
  made.in_shared = true;
  made.references.push_back({need.reference, {}, 0});
}

}  // namespace

void settle_shared_needs(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                         const LiveSections* live, const std::function<bool(std::string_view)>& linker_defines) {
  if (job.output == OutputKind::Relocatable || !job.unresolved.report_in_shared_objects) return;
  const Exports exports(job);
  for (const SharedNeed& need : resolution.shared_needs) {
    const SymbolId& definition = need.definition;
    if (!definition.valid() && linker_defines(need.symbol)) {
      if (traits_of(job).refuses_hidden_own_names && !exported_by_lld(need.symbol))
        reject(need, "lld's own, and hidden", resolution.rejections);
      continue;
    }
    std::string why;
    if (definition.valid()) why = exports.why_not(need, inputs[definition.in.input].objects[definition.in.object]);
    const bool removed = !why.empty() && live != nullptr && live->removed(definition);  // what is exported is kept
    if (!definition.valid() || removed)
      add_undefined(job, need, resolution.unresolved);
    else if (!why.empty())
      reject(need, std::move(why), resolution.rejections);
  }
  std::sort(resolution.rejections.begin(), resolution.rejections.end(), [](const Rejection& a, const Rejection& b) {
    return std::tie(a.kind, a.symbol) < std::tie(b.kind, b.symbol);
  });
}

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
        exports_(job),
        refuses_hidden_(linker_.refuses_unexported && job.output == OutputKind::Executable) {
    for (const std::string& name : job.wrapped) {
      wrapped_.emplace(name, "__wrap_" + name);
      wrapped_.emplace("__real_" + name, name);
    }
  }

  void collect(const std::vector<IndirectLibrary>& needed) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      if (takes_part(i)) add_references(inputs_[i].objects[0], ObjectId{i, 0});
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

  void report(bool undefined_too, const std::function<bool(const SymbolId&)>& removed) {
    for (const auto& [name, wants] : wants_) {
      for (const Want& want : wants) {
        // A shared object's definition is none for a name that an object calls hidden.
        if (!want.defined && (!want.by_shared || want.not_exported)) {
          if (undefined_too && reported(name, want) && !defined_by_linker(name, job_, machine_of(inputs_), true))
            add_unresolved(name, want);
        } else if (refuses_hidden_ && want.definition.valid() && !want.by_shared) {
          check_exported(name, want, removed);
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
        if (answers(object, symbol, want)) want.by_shared = true;
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
    want.not_exported |= exports_.hides(symbol, out_.resolution_of(at));
    switch (out_.resolution_of(at)) {
      case SymbolResolution::Reference:
      case SymbolResolution::DiscardedComdat:
      case SymbolResolution::DiscardedExclude:
        (symbol.weak() ? want.regular_weak : want.regular_strong) = true;
        return;
      case SymbolResolution::Kept:
        want.definition = at;
        [[fallthrough]];
      default:
        want.defined = true;
    }
  }

  /// Rule 2.
  bool reported(std::string_view name, const Want& want) const {
    const bool by_option = std::find(job_.required.begin(), job_.required.end(), name) != job_.required.end() &&
                           !job_.required_late.contains(std::string(name));
    return job_.gc_sections || !(want.regular_strong || (want.regular_weak && want.first.valid()) || by_option);
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

  void check_exported(std::string_view name, const Want& want, const std::function<bool(const SymbolId&)>& removed) {
    const ObjectFacts& object = inputs_[want.definition.in.input].objects[want.definition.in.object];
    const Symbol& symbol = object.symbols[want.definition.symbol];
    std::string why =
        exports_.why_not(name, object.origin, want.not_exported, object.text(symbol.version), symbol.default_version);
    // Link-time optimisation makes a definition local when nothing outside of its code uses it.
    if (why.empty() || object.origin.bytecode || removed(want.definition)) return;
    if (!want.first.valid()) why.append(", and needed by ").append(want.by);
    std::string printed(name);
    if (traits_of(job_).prints_hidden_versions && !symbol.version.empty())
      printed.append(symbol.default_version ? "@@" : "@").append(object.text(symbol.version));
    out_.rejections.push_back(
        {Rejection::Kind::HiddenFromShared, std::move(printed), want.definition, want.first, std::move(why)});
  }

  const LinkJob& job_;
  const std::vector<InputFacts>& inputs_;
  Resolution& out_;
  const LinkerTraits& linker_;
  const Exports exports_;
  bool refuses_hidden_;                                      ///< rule 4
  std::map<std::string, std::string, std::less<>> wrapped_;  ///< what a reference really means
  std::unordered_map<std::string_view, std::vector<Want>> wants_;
};

}  // namespace

/// Rule 1.
std::vector<IndirectLibrary> load_needed(const LinkJob& job, const std::vector<InputFacts>& inputs,
                                         const Resolution& resolution, const NeededFinder& find) {
  const bool loads = job.unresolved.report_in_shared_objects || job.copy_dt_needed;
  if (!loads || job.output == OutputKind::Relocatable || !traits_of(job).loads_needed_libraries) return {};
  std::vector<LineLibrary> line;
  bool any = false;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (!is_shared(inputs[i]) || job.inputs[i].device_only) continue;
    // A second file with a soname that is there already is not linked, but what it needs is loaded.
    const bool takes_part = resolution.linked[i][0] || !job.inputs[i].as_needed;
    any |= resolution.linked[i][0];
    const ObjectFacts& object = inputs[i].objects[0];
    const std::string_view path = object.origin.path;
    const bool searched = job.inputs[i].spelled.starts_with("-l");
    line.push_back({&object, takes_part, known_name(job.inputs[i], object),
                    searched ? path.substr(path.rfind('/') + 1) : std::string_view()});
  }
  return any ? find(job, line) : std::vector<IndirectLibrary>();
}

void settle_shared_references(const LinkJob& job, const std::vector<InputFacts>& inputs, Resolution& resolution,
                              const std::vector<IndirectLibrary>& needed,
                              const std::function<bool(const SymbolId&)>& removed) {
  const LinkerTraits& linker = traits_of(job);
  if (job.output == OutputKind::Relocatable || !linker.loads_needed_libraries) return;
  const bool undefined_too = job.unresolved.report_in_shared_objects;
  // Rule 4 holds for executables whatever the options say of undefined names.
  if (!undefined_too && job.output != OutputKind::Executable) return;
  SharedReferences references(job, inputs, resolution);
  references.collect(needed);
  references.report(undefined_too, removed);
}

}  // namespace elfaudit
