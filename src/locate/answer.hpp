// One object's definitions: where each is written, through which includes, and its story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/facts.hpp"
#include "locate/dwarf/remembered.hpp"
#include "locate/why/build_record.hpp"
#include "locate/why/source_evidence.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

struct AskedDefinition {
  Wanted wanted;
  AskedSymbol symbol;
  /// Nothing more is asked of a definition that debug info places in the source file that was compiled.
  bool only_in_header = false;
  /// Nothing but its place, and whether that is in a header, is asked.
  bool only_place = false;
  /// The object declares it and does not define it: where it is declared is asked.
  bool only_declared = false;
  /// Device code alone defines it, no symbol of the host stands for it: the architecture, "sm_80" being 80.
  std::optional<std::uint32_t> device_arch{};
};

struct Answer {
  Place place;
  std::vector<std::string> candidates;  ///< places or files that may hold it, when the place isn't known
  Story story;                          ///< its site is not set
};

/// Asks debug info, macro info and the sources, in that order, and puts together what they agree on. In the order of
/// `asked`. Never throws.
std::vector<Answer> answer(const ObjectFacts& object, const std::vector<AskedDefinition>& asked, BuildRecords& records,
                           PlaceCache& cache, bool preprocess);

}  // namespace elfaudit
