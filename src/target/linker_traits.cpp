// Builds a row for each linker from the table.

#include "target/linker_traits.hpp"

namespace elfaudit {
namespace {

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr LinkerTraits kColumns[] = {
    {LinkerKind::Bfd, 0, "GNU ld", ResolutionRules::GnuLd,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) bfd,
#include "target/linker_traits.def"
    },
    {LinkerKind::Gold, 0, "gold", ResolutionRules::Gold,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) gold,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 0, "lld 14", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld14,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 15, "lld 15", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld15,
#include "target/linker_traits.def"
    },
    {LinkerKind::Lld, 16, "lld", ResolutionRules::Lld,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) lld16,
#include "target/linker_traits.def"
    },
    {LinkerKind::Mold, 0, "mold", ResolutionRules::Mold,
#define TRAIT(name, bfd, gold, lld14, lld15, lld16, mold, sentence) mold,
#include "target/linker_traits.def"
    },
};
// clang-format on

}  // namespace

const LinkerTraits& traits_of(LinkerKind linker, int version) {
  const LinkerTraits* found = &kColumns[0];
  for (const LinkerTraits& column : kColumns)
    if (column.kind == linker && (version == 0 || column.since <= version)) found = &column;
  return *found;
}

std::span<const LinkerTraits> all_linkers() { return kColumns; }

std::string_view letters_of(std::optional<LinkerKind> linker, int version) {
  if (!linker) return "bBglLNmM";
  switch (*linker) {
    case LinkerKind::Bfd:
      return "bB";
    case LinkerKind::Gold:
      return "g";
    case LinkerKind::Mold:
      return "mM";
    case LinkerKind::Lld:
      break;
  }
  if (version == 0) return "lLN";
  return version <= 14 ? "l" : version < 19 ? "lL" : version == 19 ? "L" : "LN";
}

}  // namespace elfaudit
