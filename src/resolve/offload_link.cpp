// How clang links code for AMD's GPUs. Found by experiment with clang 14 and 19; tests/device/test_hip.py asks the real
// ones.
//
//  1. `clang --hip-link` gives lld the code of every object and of every member of every archive. Two strong definitions
//     of one name are an error, whatever they are, unless both are in COMDAT groups of one signature; weak ones yield.
//     Neither sizes nor kinds are compared.
//  2. A name that nothing defines is an error (--no-undefined) where code that stays refers to it. Weak references are
//     none.
//  3. Bitcode is compiled as one program, of which kernels and what else the host can see stay, with what they use. The
//     table of symbols doesn't say what refers to a name: that is known only where all that the file defines stays.
//  4. clang-linker-wrapper before LLVM 20 links bitcode itself: of two strong definitions it keeps the first and says
//     nothing. Of ELF objects, and in later versions, lld decides.

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "resolve/resolve.hpp"

namespace elfaudit {
namespace {

/// What clang puts into every object: the identity of its source file, and what the device library asks of the target.
bool is_made_by_clang(std::string_view name) { return name.starts_with("__hip_cuid_") || name.starts_with("__oclc_"); }

/// Rule 3.
bool all_stays(const DeviceSymbols& symbols) {
  return std::all_of(symbols.symbols.begin(), symbols.symbols.end(), [&](const DeviceSymbol& symbol) {
    return !symbol.defined || symbol.exported || is_made_by_clang(symbols.name(symbol));
  });
}

/// Of "LLVM19.1.7": 19; 0 when it isn't said.
int llvm_version_of(const DeviceSymbols& symbols) {
  std::string_view text = symbols.toolkit;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class OffloadTarget {
 public:
  OffloadTarget(const DeviceTarget& target, int llvm_version, const std::vector<InputFacts>& inputs,
                DeviceResolution& out)
      : target_(target), llvm_version_(llvm_version), inputs_(inputs), out_(out) {}

  void run() {
    for (const DeviceInput& input : target_.inputs) add(input);
    for (const auto& [name, mentioned] : names_) {
      if (mentioned.defined || mentioned.references.empty()) continue;
      DeviceUnresolved missing{std::string(name), target_.arch, mentioned.references};
      missing.in_bytecode = !mentioned.used;
      out_.unresolved.push_back(std::move(missing));
    }
  }

 private:
  struct Mentioned {
    DeviceSymbolId definition;  ///< the first strong one
    bool defined = false;       ///< by anything
    bool used = false;          ///< by code that stays
    std::vector<DeviceSymbolId> references;
  };

  const DeviceFacts& device(ObjectId id) const { return inputs_[id.input].objects[id.object].device; }
  const DeviceImage& image(DeviceSymbolId id) const { return device(id.in).images[id.image]; }
  const DeviceSymbols& symbols_of(DeviceSymbolId id) const { return device(id.in).decoded.at(id.image); }

  void add(const DeviceInput& input) {
    const auto& decoded = device(input.object).decoded;
    const auto found = decoded.find(input.image);
    if (found == decoded.end() || !found->second.relocatable) return;  // unread, which is an error, or finished code
    const DeviceSymbols& symbols = found->second;
    const bool stays = device(input.object).images[input.image].kind == ImageKind::Elf || all_stays(symbols);
    for (std::uint32_t i = 0; i < symbols.symbols.size(); ++i) {
      const DeviceSymbol& symbol = symbols.symbols[i];
      Mentioned& mentioned = names_[symbols.name(symbol)];
      const DeviceSymbolId id{input.object, input.image, i};
      if (symbol.defined) {
        define(mentioned, id, symbol);
      } else if (symbol.binding == Binding::Global) {
        mentioned.references.push_back(id);
        mentioned.used |= stays;
      }
    }
  }

  void define(Mentioned& mentioned, DeviceSymbolId id, const DeviceSymbol& symbol) {
    mentioned.defined = true;
    if (symbol.binding != Binding::Global || symbol.common) return;
    if (!mentioned.definition.in.valid()) {
      mentioned.definition = id;
      return;
    }
    const DeviceSymbols& here = symbols_of(id);
    const DeviceSymbols& there = symbols_of(mentioned.definition);
    const std::string_view group = here.text(symbol.group);
    if (!group.empty() && group == there.text(there.symbols[mentioned.definition.symbol].group)) return;
    DeviceConflict conflict{std::string(here.name(symbol)), target_.arch, mentioned.definition, id};
    conflict.dropped = is_dropped(mentioned.definition) && is_dropped(id);
    out_.conflicts.push_back(std::move(conflict));
  }

  /// Rule 4. A link without a version is made by the compiler that made the bitcode.
  bool is_dropped(DeviceSymbolId id) const {
    constexpr int kGivesLldTheBitcode = 20;
    if (image(id).found_in != DeviceContainer::OffloadBinary || image(id).kind != ImageKind::Bitcode) return false;
    const int version = llvm_version_ != 0 ? llvm_version_ : llvm_version_of(symbols_of(id));
    return version != 0 && version < kGivesLldTheBitcode;
  }

  const DeviceTarget& target_;
  int llvm_version_;
  const std::vector<InputFacts>& inputs_;
  DeviceResolution& out_;
  std::map<std::string_view, Mentioned> names_;
};

}  // namespace

void resolve_offload_link(const DeviceTarget& target, int llvm_version, const std::vector<InputFacts>& inputs,
                          DeviceResolution& out) {
  OffloadTarget(target, llvm_version, inputs, out).run();
}

}  // namespace elfaudit
