// One object's definitions: where each is written, through which includes, and its story.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elfaudit/origin.hpp"
#include "locate/debug_info.hpp"
#include "locate/why/build_record.hpp"
#include "locate/why/source_evidence.hpp"
#include "locate/why/story.hpp"

namespace elfaudit {

struct AskedDefinition {
  Wanted wanted;
  AskedSymbol symbol;
};

struct Answer {
  Place place;
  std::vector<std::string> candidates;  ///< places or files that may hold it, when the place isn't known
  Story story;                          ///< its site is not set
};

/// Asks debug info, macro info and the sources, in that order, and puts together what they agree on. In the order of
/// `asked`. Never throws.
std::vector<Answer> answer(const Origin& origin, const std::vector<AskedDefinition>& asked, BuildRecords& records,
                           bool preprocess);

}  // namespace elfaudit
