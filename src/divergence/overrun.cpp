// References that reach past the end of the definition which they bind to, by relocations: a header that declares an array
// longer than it is defined.
//
//  1. Compared are references of the link's objects to data that another object or a shared object defines with a size.
//     The end itself is an address that programs compute, so only what lies behind it is said.
//  2. How far a reference reaches is its addend: for relocations that are relative to the next instruction, four more
//     (x86-64 psABI 4.4.1). An operand behind the displacement makes it less: nothing is said too much.

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "divergence/divergence.hpp"
#include "elf/elf_file.hpp"
#include "scan/data_sizes.hpp"

namespace elfaudit {
namespace {

/// Nothing for a relocation that does not say.
std::optional<std::int64_t> reach(const RelocationEntry& entry) {
  switch (entry.type) {
    case R_X86_64_64:
    case R_X86_64_32:
    case R_X86_64_32S:
      return entry.addend;
    case R_X86_64_PC32:
      return entry.addend + 4;
    default:
      return std::nullopt;
  }
}

class OverrunCheck {
 public:
  OverrunCheck(const std::vector<InputFacts>& inputs, const Resolution& resolution)
      : inputs_(inputs), resolution_(resolution) {
    each_object([&](ObjectId id) {
      for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
        const Symbol& symbol = object(id).symbols[s];
        const std::string_view name = object(id).name(symbol);
        if (symbol.type != SymbolType::Tls && has_compared_size(symbol, name) &&
            resolution_.resolution_of({id, s}) == SymbolResolution::Kept)
          defined_.try_emplace(name, SymbolId{id, s});
      }
    });
    // Of what no object defines, the first shared object that does: its size is the one that the program gets.
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
      for (std::uint32_t o = 0; o < inputs[i].objects.size(); ++o)
        if (resolution.linked[i][o] && object({i, o}).kind == ObjectKind::SharedObject) add_exported({i, o});
  }

  std::vector<Overrun> run() {
    each_object([&](ObjectId id) { look_at(id); });
    std::vector<Overrun> found;
    for (const auto& [definition, overrun] : farthest_) found.push_back(overrun);
    std::ranges::stable_sort(found, {}, [&](const Overrun& overrun) { return name_of(overrun.definition); });
    return found;
  }

 private:
  const ObjectFacts& object(ObjectId id) const { return inputs_[id.input].objects[id.object]; }
  const Symbol& symbol(SymbolId id) const { return object(id.in).symbols[id.symbol]; }
  std::string_view name_of(SymbolId id) const { return object(id.in).name(symbol(id)); }

  void add_exported(ObjectId id) {
    for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
      const Symbol& symbol = object(id).symbols[s];
      const bool answers = symbol.version.empty() || symbol.default_version;
      if (answers && symbol.type == SymbolType::Object && has_compared_size(symbol, object(id).name(symbol)))
        defined_.try_emplace(object(id).name(symbol), SymbolId{id, s});
    }
  }

  template <class Visit>
  void each_object(const Visit& visit) const {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i)
      for (std::uint32_t o = 0; o < inputs_[i].objects.size(); ++o) {
        const ObjectFacts& facts = inputs_[i].objects[o];
        if (resolution_.linked[i][o] && facts.kind == ObjectKind::Relocatable && facts.machine == EM_X86_64 &&
            facts.is_64 && !facts.nested && !facts.unopened && !facts.origin.bytecode && !facts.origin.binary &&
            facts.available)
          visit({i, o});
      }
  }

  void look_at(ObjectId id) {
    std::unordered_map<std::uint64_t, std::uint32_t> wanted;  // by index in the symbol table
    for (std::uint32_t s = 0; s < object(id).symbols.size(); ++s) {
      const Symbol& symbol = object(id).symbols[s];
      if (!symbol.defined() && defined_.contains(object(id).name(symbol))) wanted.emplace(symbol.index, s);
    }
    if (wanted.empty()) return;
    const ElfFile file = ElfFile::open(object(id).origin);
    const ElfSections sections(file, object(id).origin);
    for (std::size_t i = 1; i < sections.count(); ++i) {
      const GElf_Shdr header = sections.header(i);
      if (header.sh_type != SHT_RELA || header.sh_info >= sections.count() ||
          (sections.header(header.sh_info).sh_flags & SHF_ALLOC) == 0)
        continue;
      each_relocation(sections, i, header, [&](const RelocationEntry& entry) {
        const auto found = wanted.find(entry.symbol);
        const std::optional<std::int64_t> end = found == wanted.end() ? std::nullopt : reach(entry);
        if (end && *end > 0) note({id, found->second}, static_cast<std::uint64_t>(*end));
      });
    }
  }

  void note(SymbolId reference, std::uint64_t end) {
    const SymbolId definition = defined_.at(name_of(reference));
    if (end <= symbol(definition).size) return;
    Overrun& farthest = farthest_.try_emplace(definition, Overrun{definition, reference, 0}).first->second;
    if (end > farthest.end) farthest = {definition, reference, end};
  }

  const std::vector<InputFacts>& inputs_;
  const Resolution& resolution_;
  std::unordered_map<std::string_view, SymbolId> defined_;
  std::map<SymbolId, Overrun> farthest_;
};

}  // namespace

std::vector<Overrun> find_overruns(const std::vector<InputFacts>& inputs, const Resolution& resolution) {
  return OverrunCheck(inputs, resolution).run();
}

}  // namespace elfaudit
