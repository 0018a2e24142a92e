// Which sections of a relocatable object need which others: what --gc-sections walks over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "support/bytes.hpp"

namespace elfaudit {

// --- Where the records of an .eh_frame section begin and end (LSB Core 10.6, "Exception Frames"). What is in them
// beyond that is not looked at.

struct EhFrameRecord {
  std::uint64_t begin = 0;  ///< offset in the section
  std::uint64_t end = 0;
  std::uint64_t cie = 0;  ///< of an FDE: where its CIE begins; `begin` for a CIE itself
  std::uint64_t cie_end = 0;
  bool is_cie() const { return cie == begin; }
};

/// Empty when the bytes are no sound .eh_frame: an FDE that names no CIE, a record that reaches past the end.
std::vector<EhFrameRecord> read_eh_frame(std::span<const std::byte> bytes, ByteOrder order);

struct SectionNode {
  std::string name;
  std::uint32_t type = 0;   ///< sh_type
  std::uint64_t flags = 0;  ///< sh_flags
  std::uint32_t link = 0;   ///< for SHF_LINK_ORDER: the section it belongs to; else 0
  std::uint32_t group = 0;  ///< header index of its SHT_GROUP; 0 when it is in none
};

/// "While `from` is in the output, the target is needed." The target is a section of this object or, for a global
/// or an undefined symbol, its symbol table index, whatever section that turns out to be in.
struct SectionEdge {
  /// Linkers take .eh_frame apart. A function's record (FDE) goes with the function and names its table of handlers;
  /// what several records share (CIE) names the personality routine. `from` is the function's section then.
  enum class Kind : std::uint8_t { Plain, Handlers, Personality };
  std::uint32_t from = 0;  ///< 0: a CIE that no record uses
  std::uint32_t section = 0;
  std::uint32_t symbol = 0;
  Kind kind = Kind::Plain;
  std::uint32_t written_in = 0;  ///< the section whose relocation it is: `from`, or .eh_frame
  auto operator<=>(const SectionEdge&) const = default;
};

struct SectionGraph {
  std::vector<SectionNode> sections;  ///< by header index
  std::vector<SectionEdge> edges;     ///< sorted, each once
  /// Of global symbols that are function descriptors: the section of the function's code, by symbol table index.
  std::map<std::uint32_t, std::uint32_t> code_of;

  /// The section that is needed where a definition of this object is: the code's, not its descriptor's.
  std::uint32_t section_needed(std::uint32_t symbol, std::uint32_t section) const {
    const auto code = code_of.find(symbol);
    return code == code_of.end() ? section : code->second;
  }
};

/// Reads all relocations of a relocatable object (gABI 4 "Relocation"). Throws InputError.
SectionGraph read_section_graph(const Origin& origin);

}  // namespace elfaudit
