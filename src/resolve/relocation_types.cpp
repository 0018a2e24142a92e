// Numbers and names: x86-64 psABI 4.4.1, ELF for the Arm 64-bit Architecture 5.7.
#include <elf.h>

#include <algorithm>

#include "resolve/relocation_rules.hpp"

namespace elfaudit {
namespace {

using enum RelocationClass;

#define ELFAUDIT_ROW(name, what) \
  { name, what, #name }
constexpr RelocationType kX86[] = {
    ELFAUDIT_ROW(R_X86_64_64, Word),
    ELFAUDIT_ROW(R_X86_64_PC32, Distance),
    ELFAUDIT_ROW(R_X86_64_GOT32, GotOffset32),
    ELFAUDIT_ROW(R_X86_64_PLT32, Call),
    ELFAUDIT_ROW(R_X86_64_GOTPCREL, Got),
    ELFAUDIT_ROW(R_X86_64_32, Small),
    ELFAUDIT_ROW(R_X86_64_32S, Small),
    ELFAUDIT_ROW(R_X86_64_16, Small),
    ELFAUDIT_ROW(R_X86_64_PC16, DistanceByte),
    ELFAUDIT_ROW(R_X86_64_8, Small),
    ELFAUDIT_ROW(R_X86_64_PC8, DistanceByte),
    ELFAUDIT_ROW(R_X86_64_DTPOFF64, TlsOffsetWord),
    ELFAUDIT_ROW(R_X86_64_TPOFF64, LocalExecWord),
    ELFAUDIT_ROW(R_X86_64_TLSLD, TlsModule),
    ELFAUDIT_ROW(R_X86_64_DTPOFF32, TlsOffset),
    ELFAUDIT_ROW(R_X86_64_TPOFF32, LocalExec),
    ELFAUDIT_ROW(R_X86_64_PC64, DistanceWord),
    ELFAUDIT_ROW(R_X86_64_GOTOFF64, FromGot),
    ELFAUDIT_ROW(R_X86_64_GOT64, GotOffset),
    ELFAUDIT_ROW(R_X86_64_GOTPCREL64, GotWide),
    ELFAUDIT_ROW(R_X86_64_PLTOFF64, PltFromGot),
    ELFAUDIT_ROW(R_X86_64_SIZE32, Size),
    ELFAUDIT_ROW(R_X86_64_SIZE64, Size),
    ELFAUDIT_ROW(R_X86_64_GOTPCRELX, GotInstruction),
    ELFAUDIT_ROW(R_X86_64_REX_GOTPCRELX, GotLoad),
};

constexpr RelocationType kAarch64[] = {
    ELFAUDIT_ROW(R_AARCH64_ABS64, Word),
    ELFAUDIT_ROW(R_AARCH64_ABS32, Small),
    ELFAUDIT_ROW(R_AARCH64_ABS16, Small),
    ELFAUDIT_ROW(R_AARCH64_PREL64, DistanceWord),
    ELFAUDIT_ROW(R_AARCH64_PREL32, Distance),
    ELFAUDIT_ROW(R_AARCH64_PREL16, DistanceByte),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G0, LowPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G0_NC, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G1, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G1_NC, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G2, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G2_NC, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_UABS_G3, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_SABS_G0, LowPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_SABS_G1, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_SABS_G2, SmallPart),
    ELFAUDIT_ROW(R_AARCH64_LD_PREL_LO19, Distance),
    ELFAUDIT_ROW(R_AARCH64_ADR_PREL_LO21, Distance),
    ELFAUDIT_ROW(R_AARCH64_ADR_PREL_PG_HI21, Page),
    ELFAUDIT_ROW(R_AARCH64_ADR_PREL_PG_HI21_NC, Page),
    ELFAUDIT_ROW(R_AARCH64_ADD_ABS_LO12_NC, InPage),
    ELFAUDIT_ROW(R_AARCH64_LDST8_ABS_LO12_NC, InPageLoad),
    ELFAUDIT_ROW(R_AARCH64_TSTBR14, ShortBranch),
    ELFAUDIT_ROW(R_AARCH64_CONDBR19, ShortBranch),
    ELFAUDIT_ROW(R_AARCH64_JUMP26, Call),
    ELFAUDIT_ROW(R_AARCH64_CALL26, Call),
    ELFAUDIT_ROW(R_AARCH64_LDST16_ABS_LO12_NC, InPageLoad),
    ELFAUDIT_ROW(R_AARCH64_LDST32_ABS_LO12_NC, InPageLoad),
    ELFAUDIT_ROW(R_AARCH64_LDST64_ABS_LO12_NC, InPageLoad),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G0, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G0_NC, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G1, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G1_NC, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G2, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G2_NC, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_MOVW_PREL_G3, DistancePart),
    ELFAUDIT_ROW(R_AARCH64_LDST128_ABS_LO12_NC, InPageLoad),
    ELFAUDIT_ROW(R_AARCH64_TLSGD_ADR_PAGE21, TraditionalTls),
    ELFAUDIT_ROW(R_AARCH64_TLSLD_ADR_PAGE21, TraditionalTls),
    ELFAUDIT_ROW(R_AARCH64_TLSIE_LD_GOTTPREL_PREL19, TraditionalTls),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_MOVW_TPREL_G2, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_MOVW_TPREL_G1, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_MOVW_TPREL_G1_NC, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_MOVW_TPREL_G0, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_MOVW_TPREL_G0_NC, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_ADD_TPREL_HI12, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_ADD_TPREL_LO12, LocalExec),
    ELFAUDIT_ROW(R_AARCH64_TLSLE_ADD_TPREL_LO12_NC, LocalExec),
};
#undef ELFAUDIT_ROW

constexpr bool ascending(std::span<const RelocationType> types) {
  return std::is_sorted(types.begin(), types.end(),
                        [](const RelocationType& a, const RelocationType& b) { return a.number < b.number; });
}
static_assert(ascending(kX86) && ascending(kAarch64));

}  // namespace

std::span<const RelocationType> relocation_types(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return kX86;
    case EM_AARCH64:
      return kAarch64;
    default:
      return {};
  }
}

const RelocationType* relocation_type(std::uint16_t machine, std::uint32_t number) {
  const std::span<const RelocationType> types = relocation_types(machine);
  const auto found = std::lower_bound(types.begin(), types.end(), number,
                                      [](const RelocationType& type, std::uint32_t n) { return type.number < n; });
  return found == types.end() || found->number != number ? nullptr : &*found;
}

}  // namespace elfaudit
