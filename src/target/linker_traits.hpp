// How the linkers differ in what the engines (src/resolve) do not decide. One table, linker_traits.def: a row a trait,
// with a sentence, a column for each linker and version. Code asks for the trait that it means, never which linker it
// is, so that a new linker is a new column.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "elfaudit/link_job.hpp"

namespace elfaudit {

/// Which engine plays the link through.
enum class ResolutionRules : std::uint8_t { GnuLd, Gold, Lld, Mold };

struct LinkerTraits {
  LinkerKind kind;
  int since;              ///< the first version that behaves so; 0: all before the next column
  std::string_view name;  ///< "GNU ld", "lld 14"
  ResolutionRules rules;
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) bool name;              ///< sentence
#define WORDS(name, bfd, gold, lld14, lld15, lld16, mold, sentence) std::string_view name;  ///< sentence
#include "target/linker_traits.def"
};

/// The column of that linker and version. 0: not known, treated as the newest.
const LinkerTraits& traits_of(LinkerKind linker, int version = 0);

/// Of the linker whose rules the job is judged by.
inline const LinkerTraits& traits_of(const LinkJob& job) { return traits_of(job.linker, job.linker_version); }

/// All columns, in the order of the table.
std::span<const LinkerTraits> all_linkers();

/// The letters that stand for a linker in tables of words, such as those of options: one a group of versions. One whose
/// version is not known (0) may be any of them; no linker: all of them.
std::string_view letters_of(std::optional<LinkerKind> linker, int version);

}  // namespace elfaudit
