// Binds the references of a link to the versions of the system's libraries.

#include "ship/system_uses.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "resolve/linked_objects.hpp"
#include "scan/scan.hpp"

namespace elfaudit {
namespace {

/// A symbol of a shared object with a version of a runtime library.
struct Definition {
  const ObjectFacts* library;
  const Symbol* symbol;
  std::string_view version() const { return library->text(symbol->version); }
};

class UseFinder {
 public:
  UseFinder(const std::vector<InputFacts>& inputs, const Resolution& resolution,
            const std::vector<ObjectFacts>& libraries, const System& system)
      : inputs_(inputs), resolution_(resolution), system_(system) {
    for (const ObjectId id : linked_objects(inputs_, resolution_))
      if (object_of(inputs_, id).kind == ObjectKind::SharedObject) add_definitions(object_of(inputs_, id));
    for (const ObjectFacts& library : libraries) add_definitions(library);
    drop_own_definitions();
  }

  SystemUses run() {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) bind_references(id);
    return std::move(uses_);
  }

 private:
  void add_definitions(const ObjectFacts& library) {
    for (const Symbol& symbol : library.symbols) {
      const std::string_view version = library.text(symbol.version);
      if (symbol.defined() && (runtime_version(version) || version == kPrivateVersion))
        definitions_[library.name(symbol)].push_back({&library, &symbol});
    }
  }

  /// Definitions of the link's own objects go before those of shared objects.
  void drop_own_definitions() {
    for (const ObjectId id : linked_relocatables(inputs_, resolution_)) {
      const ObjectFacts& object = object_of(inputs_, id);
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s)
        if (object.symbols[s].defined() && !is_discarded(resolution_.resolution_of({id, s})))
          definitions_.erase(object.name(object.symbols[s]));
    }
  }

  /// The default version answers a plain reference; a reference with a version is answered by that version alone.
  const Definition* definition_of(const ObjectFacts& object, const Symbol& reference) const {
    const auto found = definitions_.find(object.name(reference));
    if (found == definitions_.end()) return nullptr;
    for (const Definition& definition : found->second)
      if (reference.version.empty() ? definition.symbol->default_version
                                    : definition.version() == object.text(reference.version))
        return &definition;
    return nullptr;
  }

  void bind_references(ObjectId id) {
    const ObjectFacts& object = object_of(inputs_, id);
    std::map<std::uint32_t, SystemUse> too_new;  // by Symbol::index
    for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
      const Symbol& symbol = object.symbols[s];
      if (!refers(resolution_.resolution_of({id, s}))) continue;
      const Definition* definition = definition_of(object, symbol);
      if (definition == nullptr) continue;
      const std::string_view version = definition->version();
      add_version(uses_.needed, version);
      const std::string_view machine = machine_tag(*definition->library);
      if (!system_.allows(machine, version))
        too_new.emplace(symbol.index,
                        SystemUse{{{id, s}, {}, 0, 0},
                                  std::string(version),
                                  older_version(*definition->library, object.name(symbol), version, system_),
                                  machine});
    }
    if (too_new.empty()) return;
    if (!object.origin.bytecode) find_places(object, too_new);
    for (auto& [index, use] : too_new) uses_.too_new.push_back(std::move(use));
  }

  static void find_places(const ObjectFacts& object, std::map<std::uint32_t, SystemUse>& uses) {
    std::vector<std::uint32_t> symbols;
    for (const auto& [index, use] : uses) symbols.push_back(index);
    for (const Use& use : find_uses(object.origin, symbols)) {
      Reference& reference = uses.at(use.symbol).reference;
      if (!use.alloc || !reference.section.empty()) continue;
      reference.section = use.section;
      reference.offset = use.offset;
    }
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  const System& system_;
  std::unordered_map<std::string_view, std::vector<Definition>> definitions_;
  SystemUses uses_;
};

}  // namespace

SystemUses find_system_uses(const std::vector<InputFacts>& inputs, const Resolution& resolution,
                            const std::vector<ObjectFacts>& libraries, const System& system) {
  return UseFinder(inputs, resolution, libraries, system).run();
}

std::string older_version(const ObjectFacts& library, std::string_view symbol, std::string_view version,
                          const System& system) {
  const std::optional<RuntimeVersion> is = runtime_version(version);
  std::string_view best;
  Release newest;
  for (const Symbol& other : library.symbols) {
    if (!is || !other.defined() || library.name(other) != symbol) continue;
    const std::optional<RuntimeVersion> has = runtime_version(library.text(other.version));
    if (!has || has->library != is->library || has->release >= is->release || has->release < newest ||
        !system.allows(machine_tag(library), library.text(other.version)))
      continue;
    newest = has->release;
    best = library.text(other.version);
  }
  return std::string(best);
}

}  // namespace elfaudit
