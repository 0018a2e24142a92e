// The table of symbols that the engines work on, and what an output is.

#include "resolve/link_symbols.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kWrapper = "__fatbinwrap";
constexpr const char* kRegister = "__cudaRegisterLinkedBinary";

class ResolutionSettler {
 public:
  ResolutionSettler(Resolution& resolution, const std::function<SymbolId(SymbolId)>& winner,
                    const std::function<bool(SymbolId)>& discarded)
      : winner_(winner), discarded_(discarded) {
    for (const Conflict& conflict : resolution.conflicts) rejected_.insert(conflict.rejected);
  }

  SymbolResolution of(SymbolId at, const ObjectFacts& object, const Symbol& symbol) const {
    if (!symbol.defined()) return SymbolResolution::Reference;
    const bool shared = object.kind != ObjectKind::Relocatable;
    if (!shared && !symbol.common() && discarded_(at))
      return object.sections[symbol.section].excluded ? SymbolResolution::DiscardedExclude
                                                      : SymbolResolution::DiscardedComdat;
    if (winner_(at) == at) return SymbolResolution::Kept;
    if (shared) return SymbolResolution::SharedLost;
    if (symbol.common()) return SymbolResolution::MergedCommon;
    if (rejected_.contains(at)) return SymbolResolution::Rejected;
    return symbol.weak() ? SymbolResolution::Overridden : SymbolResolution::Ignored;
  }

 private:
  const std::function<SymbolId(SymbolId)>& winner_;
  const std::function<bool(SymbolId)>& discarded_;
  std::set<SymbolId> rejected_;
};

}  // namespace

bool only_archives(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  if (job.scope.whole_line || !job.required.empty()) return false;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputFacts& input = inputs[i];
    if (input.kind == InputKind::Unreadable || job.inputs[i].device_only) continue;
    if (input.kind != InputKind::Archive) return false;
    any = true;
  }
  return any;
}

Resolution blank_resolution(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  Resolution blank;
  blank.whole_archives = only_archives(job, inputs);
  for (const InputFacts& input : inputs) {
    blank.linked.emplace_back(input.objects.size(), false);
    auto& symbol_resolutions = blank.symbol_resolutions.emplace_back();
    for (const ObjectFacts& object : input.objects) {
      const bool shared = object.kind != ObjectKind::Relocatable;
      symbol_resolutions.emplace_back(object.symbols.size(),
                                      shared ? SymbolResolution::NotNeeded : SymbolResolution::NotExtracted);
    }
  }
  return blank;
}

// For each device-linked object, members of archives included, it
//
//  1. defines __cudaRegisterLinkedBinary_X, which that object refers to, and
//  2. refers to __fatbinwrap_X, which that object defines: so the host link extracts every member with device code.
//
// Found by experiment with CUDA 13.0. X is the module's id, the rest of the name.
std::string_view known_name(const LinkInput& input, const ObjectFacts& facts) {
  if (!facts.soname.empty()) return facts.soname;
  const std::string_view path = facts.origin.path;
  return input.spelled.starts_with("-l") ? path.substr(path.rfind('/') + 1) : path;
}

std::string_view real_name(std::string_view name, const std::set<std::string_view>& wrapped) {
  if (!take_prefix(name, "__real_") || !wrapped.contains(name)) return {};
  return name;
}

bool is_linked_library(const std::vector<InputFacts>& inputs, const Resolution& resolution, std::uint32_t input) {
  for (std::uint32_t earlier = 0; earlier <= input; ++earlier) {
    const std::vector<bool>& linked = resolution.linked[earlier];
    if (!linked.empty() && linked[0] && inputs[earlier].path == inputs[input].path) return true;
  }
  return false;
}

/// Each object's host half needs the linked code and a handle of it; clang makes both, by its name for the source file.
static void define_hip_handles(const std::vector<InputFacts>& inputs, DeviceLinkObject& made) {
  std::set<std::string_view> names;
  for (const InputFacts& input : inputs)
    for (const ObjectFacts& facts : input.objects)
      for (const Symbol& symbol : facts.symbols)
        if (const std::string_view name = facts.name(symbol);
            !symbol.defined() && (name.starts_with("__hip_fatbin") || name.starts_with("__hip_gpubin_handle")))
          names.insert(name);
  made.defines.assign(names.begin(), names.end());
}

DeviceLinkObject device_link_object(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  DeviceLinkObject made;
  if (!job.device_linked || !job.device) return made;
  if (job.device->linker == DeviceLinker::HipLink) {
    define_hip_handles(inputs, made);
    return made;
  }
  for (const std::uint32_t input : job.device->order) {
    for (const ObjectFacts& facts : inputs[input].objects) {
      if (facts.kind != ObjectKind::Relocatable || facts.device.containers == 0) continue;
      for (const Symbol& symbol : facts.symbols) {
        const std::string_view name = facts.name(symbol);
        if (!symbol.defined() || !name.starts_with(kWrapper)) continue;
        made.defines.push_back(kRegister + std::string(name.substr(kWrapper.size())));
        // nvlink drops the device runtime when no kernel launches another; then nothing refers to it.
        if (!is_device_runtime(facts.origin)) made.needs.emplace_back(name);
      }
    }
  }
  if (!made.defines.empty())
    made.needs.insert(made.needs.end(),
                      {"__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary"});
  return made;
}

SoleDefinitions::SoleDefinitions(const LinkJob& job, const std::vector<InputFacts>& inputs, const LinkNames& names,
                                 const Resolution& resolution)
    : names_(names) {
  if (!job.assignments.empty() || !job.wrapped.empty() || !job.versions.empty() || job.device_linked) return;
  definitions_.resize(names.size());
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o) {
      if (!resolution.linked[i][o]) continue;
      const std::vector<Symbol>& symbols = inputs[i].objects[o].symbols;
      for (std::uint32_t s = 0; s < symbols.size(); ++s) {
        if (!symbols[s].defined()) continue;
        std::uint8_t& count = definitions_[names.of({{i, o}, s})];
        count = static_cast<std::uint8_t>(std::min(count + 1, 2));
      }
    }
  }
}

void settle_resolutions(const std::vector<InputFacts>& inputs, Resolution& resolution, const SoleDefinitions& sole,
                        const std::function<SymbolId(SymbolId)>& winner,
                        const std::function<bool(SymbolId)>& discarded) {
  const ResolutionSettler settler(resolution, winner, discarded);
  for (std::uint32_t input = 0; input < inputs.size(); ++input) {
    for (std::uint32_t o = 0; o < inputs[input].objects.size(); ++o) {
      if (!resolution.linked[input][o]) continue;
      const ObjectFacts& object = inputs[input].objects[o];
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
        SymbolResolution& resolved_as = resolution.symbol_resolutions[input][o][s];
        const SymbolId at{{input, o}, s};
        const Symbol& symbol = object.symbols[s];
        const bool kept = symbol.defined() && sole.is_kept(at, object, symbol);
        resolved_as = kept ? SymbolResolution::Kept : settler.of(at, object, symbol);
        assert(resolved_as != SymbolResolution::NotExtracted && "every global of a linked object is resolved");
      }
    }
  }
}

Unresolved& UndefinedNames::name(std::uint32_t id, std::string_view symbol) {
  if (id >= slots_.size()) slots_.resize(id + 1, kNone);
  if (slots_[id] == kNone) {
    slots_[id] = static_cast<std::uint32_t>(resolution_.unresolved.size());
    resolution_.unresolved.emplace_back().symbol = symbol;
  }
  return resolution_.unresolved[slots_[id]];
}

void UndefinedNames::each_symbol(const std::function<void(SymbolId, const ObjectFacts&, const Symbol&)>& look) const {
  for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
    for (std::uint32_t o = 0; o < inputs_[input].objects.size(); ++o) {
      const ObjectFacts& object = inputs_[input].objects[o];
      if (!resolution_.linked[input][o] || object.kind != ObjectKind::Relocatable) continue;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) look({{input, o}, s}, object, object.symbols[s]);
    }
  }
}

void UndefinedNames::finish() {
  std::sort(resolution_.unresolved.begin(), resolution_.unresolved.end(),
            [](const Unresolved& a, const Unresolved& b) { return a.symbol < b.symbol; });
}

}  // namespace elfaudit
