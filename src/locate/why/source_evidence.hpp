// What the sources say of the definitions of one object, read from the best record there is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/source/source.hpp"
#include "locate/why/build_record.hpp"

namespace elfaudit {

/// A symbol that the object defines.
struct AskedSymbol {
  std::string name;  ///< mangled
  bool is_function = false;
  bool is_strong = true;
  std::optional<SourceLine> site{};  ///< where debug info says that it is defined, as reports spell it
};

struct SourceEvidence {
  KnownBy known_by = KnownBy::Nothing;  ///< Preprocessor, Depfile, SourceScan or LineTable
  std::string why_not;                  ///< what stopped it, when Nothing
  source::TranslationUnit unit;
  std::shared_ptr<const source::TranslationUnit> as_read;  ///< with what was found out about its command line
  std::vector<source::Name> names;                         ///< that were looked for, one for each symbol
  std::string source;                                      ///< the translation unit as reports spell it
  std::vector<source::Reading> readings;                   ///< one for each symbol asked for
  std::vector<std::string> own_headers;  ///< listed files outside of the system's, as reports spell them
};

/// `preprocess`: the user allows the compile command to be run again as preprocessor only. Never throws.
SourceEvidence read_sources(const BuildRecord& record, const std::vector<AskedSymbol>& symbols, bool preprocess);

}  // namespace elfaudit
