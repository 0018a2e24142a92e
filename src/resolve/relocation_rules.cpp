// Which relocations a linker refuses. Every rule was tried with GNU ld 2.40, gold 1.16, lld 14 and 19 and mold 1.10;
// tests/link/ holds them against those that are installed.
//
//  1. Five things decide: the kind of output, the class of the relocation, whether the symbol is the output's own or
//     can be replaced by another definition in the process, whether the section is read-only, and options. A symbol
//     can be replaced when a shared object has it: in a program only what a library defines, in a shared object every
//     visible one too. A name that nothing defines is reported as undefined, not here; where it may stay so, it can be
//     replaced.
//  2. A small address fits no output that may be loaded anywhere, in writable sections neither and whosever the
//     symbol: only a fixed value (absolute, or undefined weak and 0) does, in all but GNU ld.
//  3. A whole address in a read-only section is a text relocation: lld refuses it unless -z notext is given, the others
//     with -z text only; GNU ld warns of it.
//  4. A distance is fine to what is the output's own; in a shared object none is to a symbol that can be replaced. GNU
//     ld judges read-only sections alone, mold has a stand-in for functions.
//  5. A program that refers to a library's variable gets a copy of it, for a function a stand-in whose address counts
//     everywhere; neither is possible for a protected one (functions: in GNU ld and lld), nor a copy of what has no
//     type or size (in lld), nor in a position independent program a stand-in by GNU ld or gold.
//  6. A variable's offset from the thread pointer is known in a program and for its own variables alone.
//  7. An absolute symbol has no distance from code that can be moved; gold does not ask.
//  8. The copy or stand-in of rule 5 comes of what asks for the address, but not where the loader can write it: GNU ld
//     leaves all of a variable in writable sections to it, else it is left whole addresses, and by lld distances of 64
//     bits. GNU ld has a stand-in for calls too.
//  9. A relocation that does nothing is "unresolvable" to GNU ld for x86-64 where a library defines the symbol and the
//     output holds no copy of it, or stand-in.
//
// One function a linker and machine; what is not refused there is accepted.

#include "resolve/relocation_rules.hpp"

#include <elf.h>

#include <algorithm>
#include <array>

namespace elfaudit {

// --- Numbers and names: relocation_types.def.

namespace {

using enum RelocationClass;
constexpr bool kNarrow = true;

// clang-format off
#define ELFAUDIT_ROW(name, what, ...) {name, what, #name, __VA_ARGS__},
constexpr RelocationType kX86[] = {
#define X86_64 ELFAUDIT_ROW
#include "resolve/relocation_types.def"
};
constexpr RelocationType kAarch64[] = {
#define AARCH64 ELFAUDIT_ROW
#include "resolve/relocation_types.def"
};
constexpr RelocationType kI386[] = {
#define I386 ELFAUDIT_ROW
#include "resolve/relocation_types.def"
};
constexpr RelocationType kRiscv64[] = {
#define RISCV64 ELFAUDIT_ROW
#include "resolve/relocation_types.def"
};
#undef ELFAUDIT_ROW
constexpr RelocationType kPpc64le[] = {
#define PPC64LE(number, what, name) {number, what, #name},
#include "resolve/relocation_types.def"
};
// clang-format on

constexpr bool ascending(std::span<const RelocationType> types) {
  return std::ranges::is_sorted(types,
                                [](const RelocationType& a, const RelocationType& b) { return a.number < b.number; });
}
static_assert(ascending(kX86) && ascending(kI386) && ascending(kAarch64) && ascending(kRiscv64) && ascending(kPpc64le));

}  // namespace

std::span<const RelocationType> relocation_types(RelocationRules rules) {
  switch (rules) {
    case RelocationRules::X86_64:
    case RelocationRules::X32:
      return kX86;
    case RelocationRules::I386:
      return kI386;
    case RelocationRules::Aarch64:
      return kAarch64;
    case RelocationRules::Riscv64:
      return kRiscv64;
    case RelocationRules::Ppc64le:
      return kPpc64le;
    case RelocationRules::None:
      break;
  }
  return {};
}

const RelocationType* relocation_type(RelocationRules rules, std::uint32_t number) {
  const std::span<const RelocationType> types = relocation_types(rules);
  const auto found = std::ranges::lower_bound(types, number, {}, &RelocationType::number);
  return found == types.end() || found->number != number ? nullptr : &*found;
}

namespace {

using enum RelocationClass;
using Place = RelocationTarget::Place;
using Output = RelocationLink::Output;

constexpr JudgedRelocation kAccepted{};
constexpr JudgedRelocation refused(RelocationProblem problem) { return {true, problem}; }
constexpr JudgedRelocation kNotPic = refused(RelocationProblem::NotPic);
constexpr JudgedRelocation kProtected = refused(RelocationProblem::Protected);
constexpr JudgedRelocation kNoCopy = refused(RelocationProblem::NoCopy);
constexpr JudgedRelocation kAbsolute = refused(RelocationProblem::Absolute);
constexpr JudgedRelocation kLocalExec = refused(RelocationProblem::LocalExec);
constexpr JudgedRelocation kIndirectFunction = refused(RelocationProblem::IndirectFunction);
constexpr JudgedRelocation kUnsupported = refused(RelocationProblem::Unsupported);

bool is_distance(RelocationClass what) {
  return what == Distance || what == DistanceByte || what == DistancePart || what == DistanceWord || what == Page ||
         what == NearBranch;
}

bool is_small(RelocationClass what) { return what == Small || what == SmallSigned; }

bool is_got(RelocationClass what) {
  return what == Got || what == GotInstruction || what == GotLoad || what == GotRewritten || what == GotOffset ||
         what == GotOffset32 || what == GotWide;
}

/// One relocation in one link; what the rules of the linkers have in common.
struct Case {
  const RelocationLink& link;
  RelocationClass what;
  const RelocationTarget& to;
  const RelocatedSection& section;

  bool pic() const { return link.pic(); }
  bool shared() const { return link.shared(); }
  bool pie() const { return link.output == Output::PieProgram; }
  bool read_only() const { return !section.writable; }
  bool library() const { return to.library(); }
  bool undefined_weak() const { return to.place == Place::Nowhere && to.weak_reference; }
  bool undefined() const { return to.place == Place::Nowhere && !to.weak_reference; }
  bool own() const { return to.place == Place::Own; }
  bool own_absolute() const { return own() && to.absolute && !to.null_symbol; }
  bool own_indirect() const { return own() && to.type == SymbolType::IndirectFunction; }
  bool bound_by_option() const { return to.bound && !to.made_local; }
  bool protected_library() const { return library() && to.visibility == Visibility::Protected; }
  bool without_shape() const { return library() && (to.type == SymbolType::NoType || !to.has_size); }

  /// Rule 1. `weak`: whether an undefined weak name counts.
  bool replaceable(bool weak) const {
    if (to.local || (!library() && to.visibility != Visibility::Default)) return false;
    if (library()) return true;
    if (to.place == Place::Nowhere) return to.weak_reference ? weak : true;
    return shared() && !to.bound;
  }

  /// Of an address: a program's read-only section has that of a library's variable, which -z nocopyreloc keeps there.
  bool left_to_loader() const { return !pic() && read_only() && library() && !to.is_function() && !link.policy.copies; }

  /// Rule 3, for GNU ld, gold and mold.
  JudgedRelocation text_relocation() const {
    if (link.policy.text == true) return refused(RelocationProblem::Text);
    return kAccepted;
  }
};

// GNU ld for x86-64: elf_x86_64_scan_relocs before layout, elf_x86_64_relocate_section while writing.

JudgedRelocation bfd_small(const Case& c) {
  if (c.pic()) return c.link.policy.overflow ? kAccepted : kNotPic;
  if (c.library() && !c.read_only()) return kNotPic;  // it would need a relocation of 32 bits at run time
  if (c.own_indirect() && !c.read_only()) return kIndirectFunction;
  if (c.protected_library()) return kProtected;
  if (c.what == Small && c.left_to_loader()) return c.text_relocation();
  if (c.library() && !c.to.is_function() && !c.link.policy.copies) return kNoCopy;
  return kAccepted;
}

JudgedRelocation bfd_word(const Case& c) {
  if (c.protected_library() && c.read_only() && !c.shared()) return kProtected;
  if (c.left_to_loader()) return c.text_relocation();
  if (!c.pic() || !c.read_only()) return kAccepted;
  const bool replaceable = c.replaceable(true);
  const bool by_object = c.own() && !c.to.local && !c.to.assigned;
  if (c.pie() && c.link.policy.dynamic_linker && by_object && c.to.visibility == Visibility::Protected)
    return kProtected;
  if (c.undefined_weak() && (!replaceable || !c.shared())) return kAccepted;
  if (c.own_indirect() && c.to.local) return kAccepted;
  if ((c.own_absolute() || c.to.null_symbol) && !replaceable) return kAccepted;
  return c.text_relocation();
}

JudgedRelocation bfd_distance(const Case& c) {
  const bool replaceable = c.replaceable(true);
  const bool wide = c.what == DistanceWord;
  const bool usual = c.what == Distance || wide;
  if (c.own_indirect() && (c.what == DistanceByte || !c.read_only())) {
    const bool left_to_loader = c.shared() && !c.bound_by_option() && (usual || (replaceable && c.read_only()));
    if (!left_to_loader) return kIndirectFunction;
  }
  if (c.own_indirect() && c.what == Distance && c.shared() && replaceable && c.read_only()) return c.text_relocation();
  const bool protected_function = c.protected_library() && c.to.is_function();
  if (protected_function && !c.shared()) {
    if (!c.read_only()) return c.pie() || !wide ? kProtected : kAccepted;
    if (!c.pie()) return wide || (c.what == Distance && c.section.code) ? kAccepted : kProtected;
    if (wide && c.section.code) return kProtected;
  }
  if (!c.read_only()) return wide && c.pie() && c.library() && c.to.is_function() ? kNotPic : kAccepted;
  if (c.shared() && replaceable) return wide ? c.text_relocation() : kNotPic;
  if (c.undefined_weak() && c.pic() && !wide) return kNotPic;
  if (c.shared() || !c.library()) return kAccepted;
  if (c.pie() && c.to.is_function()) return wide ? c.text_relocation() : kNotPic;
  if (c.pie() && c.without_shape()) return c.text_relocation();
  if (c.protected_library()) return kProtected;
  if (!c.to.is_function() && !c.link.policy.copies) return c.pie() || wide ? c.text_relocation() : kNotPic;
  return kAccepted;
}

/// `SIZE@` and what counts from the global offset table: large code model and hand-written assembly.
JudgedRelocation bfd_rare(const Case& c) {
  switch (c.what) {
    case PltFromGot:
    case GotOffset:
    case GotOffset32:
      return c.own_indirect() ? kIndirectFunction : kAccepted;
    case FromGot:
      if (c.own_indirect()) return kIndirectFunction;
      if (!c.pic()) return c.library() && !c.to.absolute ? kNotPic : kAccepted;
      return c.library() || c.to.place == Place::Nowhere ? kNotPic : kAccepted;
    case Size:
      if (c.own_indirect() && !(c.to.local && c.read_only())) return kIndirectFunction;
      if (!c.read_only()) return kAccepted;
      if (c.protected_library() && !c.shared()) return kProtected;
      return c.library() || (c.shared() && c.replaceable(true)) ? c.text_relocation() : kAccepted;
    default:
      return kAccepted;
  }
}

/// Rule 7. Where the symbol's slot is asked for, the instruction decides: a load is rewritten to take the address,
/// which is then refused, a comparison is not: glibc's static setlocale compares.
bool bfd_disallows_absolute(const Case& c) {
  const bool slot = c.what == Got || c.what == GotInstruction || c.what == GotLoad;
  const bool bound_late = c.to.made_local && c.to.visibility == Visibility::Default;  // by the version script
  if (bound_late && c.what != GotRewritten) return false;
  return c.pic() && c.own_absolute() && !c.replaceable(true) && c.what != Word && !slot;
}

bool is_local_exec(RelocationClass what) { return what == LocalExec || what == LocalExecWord || what == LocalExecSub; }

JudgedRelocation bfd_tls(const Case& c) {
  if (is_local_exec(c.what)) return c.shared() || c.library() ? kLocalExec : kAccepted;
  if (c.what == TlsOffsetWord && c.section.code) return kUnsupported;
  return c.library() ? kLocalExec : kAccepted;
}

JudgedRelocation judge_bfd(const Case& c) {
  if (c.what == Nothing) return c.library() ? kUnsupported : kAccepted;
  if (is_small(c.what)) {
    if (!c.pic() && c.undefined()) return kAccepted;
    return bfd_small(c);
  }
  if (is_local_exec(c.what) || c.what == TlsOffset || c.what == TlsOffsetWord || c.what == TlsModule) return bfd_tls(c);
  if (c.undefined() && !c.shared()) return kAccepted;
  if (bfd_disallows_absolute(c)) return kAbsolute;
  if (c.what == Word) return bfd_word(c);
  return is_distance(c.what) ? bfd_distance(c) : bfd_rare(c);
}

// GNU ld for i386. The loader can write any address or distance of 32 bits, so that a text relocation is the worst.

JudgedRelocation bfd_i386_distance(const Case& c) {
  if (c.own_indirect()) {
    if (c.section.code ? c.pic() : !c.read_only() && (!c.shared() || c.bound_by_option())) return kIndirectFunction;
  } else if (c.protected_library() && !c.shared() && (c.read_only() || c.to.is_function())) {
    const bool canonical = c.to.is_function() && c.section.code && !c.pic();
    return canonical ? kAccepted : kProtected;
  }
  if (!c.read_only()) return kAccepted;
  if (c.shared()) return c.replaceable(true) ? c.text_relocation() : kAccepted;
  if (c.pie() && c.undefined_weak() && c.to.visibility == Visibility::Default) return c.text_relocation();
  if (!c.library()) return kAccepted;
  const bool variable = !c.to.is_function() && !c.without_shape();
  if (c.pie()) return variable && c.link.policy.copies ? kNotPic : c.text_relocation();
  return variable && !c.link.policy.copies ? c.text_relocation() : kAccepted;
}

JudgedRelocation judge_bfd_i386(const Case& c) {
  switch (c.what) {
    case Small:
      return c.own_indirect() ? kIndirectFunction : c.library() ? kNotPic : kAccepted;
    case LocalExec:
    case LocalExecSub:
      if (c.library() && !c.shared()) return kLocalExec;
      [[fallthrough]];
    case TlsSlotAddress:
      return c.shared() && c.read_only() ? c.text_relocation() : kAccepted;
    case TlsOffset:
      return c.library() ? kLocalExec : kAccepted;
    case GotAddress:
      return c.pic() ? kNotPic : kAccepted;
    default:
      break;
  }
  if (c.undefined() && !c.shared()) return kAccepted;
  if (bfd_disallows_absolute(c)) return kAbsolute;
  switch (c.what) {
    case Word:
      return bfd_word(c);
    case DistanceWord:
      return bfd_i386_distance(c);
    case DistanceByte:
      return c.own_indirect() ? kIndirectFunction : c.library() ? kNotPic : kAccepted;
    case FromGot:
      if (c.own_indirect()) return c.pic() ? kIndirectFunction : kAccepted;
      if (c.shared()) return c.library() || c.to.place == Place::Nowhere ? kNotPic : kAccepted;
      if (!c.library() || c.to.absolute) return kAccepted;
      return c.protected_library() || c.to.is_function() || !c.link.policy.copies ? kNotPic : kAccepted;
    case Size:
      return bfd_rare(c);
    default:
      return kAccepted;
  }
}

// GNU ld for riscv64. It has copies and stand-ins in programs at a fixed place alone, and does not ask what may replace
// a variable of a shared object.

JudgedRelocation judge_bfd_riscv64(const Case& c) {
  if (c.what == High20 && c.pic()) return kNotPic;
  if (c.what == TlsOffsetWord) return c.library() ? kLocalExec : kAccepted;
  if (c.what == LocalExec) {
    if (c.shared() || (c.pie() && c.library())) return kLocalExec;
    return c.pie() ? c.text_relocation() : kAccepted;
  }
  if (c.undefined() && !c.shared()) return kAccepted;
  const bool has_loader = c.shared() || c.link.policy.dynamic_linker;
  const bool in_code = c.what == High20 || c.what == Distance || c.what == NearBranch;
  if (in_code && !c.pic() && c.library() && !c.to.is_function() && !c.link.policy.copies) return kNoCopy;
  switch (c.what) {
    case Word:
    case Small:
      if (c.undefined_weak() && !c.replaceable(has_loader)) return kAccepted;
      return c.pic() && c.read_only() ? c.text_relocation() : kAccepted;
    case Difference:
      return c.own_indirect() ? kIndirectFunction : c.library() ? kNotPic : kAccepted;
    case Distance:
      return c.pic() && c.library() ? kNotPic : kAccepted;
    case NearBranch:
      if (c.own_indirect()) return kIndirectFunction;
      if (!c.pic()) return kAccepted;
      return c.replaceable(has_loader) ? kNotPic : kAccepted;
    default:
      return kAccepted;
  }
}

// GNU ld for aarch64.

JudgedRelocation bfd_aarch64_far(const Case& c) {
  switch (c.what) {
    case Small:
      if (c.own_absolute() || c.to.null_symbol || (c.library() && c.to.absolute)) return kAccepted;
      if (c.own_indirect()) return kIndirectFunction;
      if (c.shared() && c.undefined()) return kAccepted;
      if (c.pic()) return kNotPic;
      return c.protected_library() ? kProtected : c.library() ? kNotPic : kAccepted;
    case SmallPart:
      if (c.to.null_symbol) return kAccepted;
      if (c.own_indirect()) return kIndirectFunction;
      if (c.pic()) return kNotPic;
      return c.protected_library() ? kProtected : kAccepted;
    case LowPart:  // whether it fits is known when addresses are
    case DistancePart:
      if (c.own_indirect()) return kIndirectFunction;
      if (c.library() && !c.to.absolute) return kNotPic;
      break;
    default:
      break;
  }
  return kAccepted;
}

JudgedRelocation bfd_aarch64_copy(const Case& c) {
  return c.to.is_function() || c.to.absolute || c.link.policy.copies ? kAccepted : kNoCopy;
}

JudgedRelocation bfd_aarch64_distance(const Case& c) {
  const bool absolute_library = c.library() && c.to.absolute;
  if (c.own_indirect() && !(c.what == Page && !c.pic())) return kIndirectFunction;
  if (!c.pic()) {
    if (!c.library() || !c.read_only()) return kAccepted;
    return c.protected_library() ? kProtected : bfd_aarch64_copy(c);
  }
  if (!c.read_only()) return c.library() && !absolute_library ? kNotPic : kAccepted;
  if (c.shared()) return c.replaceable(true) ? kNotPic : kAccepted;
  return c.library() || (c.replaceable(true) && c.link.policy.dynamic_linker) ? kNotPic : kAccepted;
}

JudgedRelocation bfd_aarch64_word(const Case& c) {
  if (!c.read_only()) return kAccepted;
  if (c.protected_library()) return kProtected;
  if (!c.pic() || c.to.null_symbol || (c.own_indirect() && c.to.local)) return kAccepted;
  const bool has_loader = c.shared() || c.link.policy.dynamic_linker;
  if (has_loader && c.own() && !c.to.local && c.to.visibility == Visibility::Protected) return kProtected;
  if (c.undefined_weak() && (c.to.visibility != Visibility::Default || !has_loader)) return kAccepted;
  return c.text_relocation();
}

JudgedRelocation judge_bfd_aarch64(const Case& c) {
  if (c.what == LocalExec) return c.library() || (c.shared() && c.undefined()) ? kLocalExec : kAccepted;
  if (c.undefined() && !c.shared()) return kAccepted;
  switch (c.what) {
    case Word:
      return bfd_aarch64_word(c);
    case Distance:
    case DistanceByte:
    case DistanceWord:
    case Page:
      return bfd_aarch64_distance(c);
    case DistancePart:
      if (const JudgedRelocation far = bfd_aarch64_far(c); far.refused) return far;
      return c.pic() ? bfd_aarch64_distance(c) : kAccepted;
    case InPage:
    case InPageLoad:
      if (c.own_indirect()) return c.what == InPage && !c.pic() ? kAccepted : kIndirectFunction;
      if (!c.library() || c.to.absolute) return kAccepted;
      return c.pic() ? kNotPic : c.protected_library() ? kProtected : bfd_aarch64_copy(c);
    case ShortBranch:  // it can't be sent through a stand-in
      if (c.own_indirect()) return kIndirectFunction;
      return c.library() && !c.to.absolute ? kNotPic : kAccepted;
    default:
      return bfd_aarch64_far(c);
  }
}

// gold, i386: as GNU ld it leaves all of 32 bits to the loader.

JudgedRelocation judge_gold_i386(const Case& c) {
  if (c.what == Size) return kUnsupported;
  if (c.what == GotAddress) return c.pic() ? kNotPic : kAccepted;
  if (is_local_exec(c.what) || c.what == TlsSlotAddress) {
    if (c.library() && !c.shared() && c.what != TlsSlotAddress) return kLocalExec;
    return c.shared() && c.read_only() ? c.text_relocation() : kAccepted;
  }
  if (c.what == FromGot)
    return c.library() || c.to.place == Place::Nowhere || c.replaceable(false) ? kNotPic : kAccepted;
  if (c.undefined() && !c.shared()) return kAccepted;
  if (c.to.absolute || (c.undefined_weak() && !c.shared())) return kAccepted;
  const bool distance = is_distance(c.what);
  if (!distance && c.what != Word && !is_small(c.what)) return kAccepted;
  if (!c.read_only()) return kAccepted;
  if (c.pic() && !distance) return c.text_relocation();
  if (c.shared()) return c.replaceable(true) ? c.text_relocation() : kAccepted;
  if (!c.library() || c.to.is_function()) return kAccepted;
  if (c.without_shape() || !c.link.policy.copies) return c.text_relocation();
  return c.protected_library() ? kProtected : kAccepted;
}

// gold, x86-64: Scan::local and Scan::global of its x86_64.cc.

JudgedRelocation judge_gold(const Case& c) {
  if (is_local_exec(c.what)) {
    if (c.shared() || c.library()) return kLocalExec;
    return c.what == LocalExecWord ? kUnsupported : kAccepted;
  }
  if (c.undefined() && !c.shared()) return kAccepted;
  if (c.what == Size) return c.to.local && c.read_only() ? kAccepted : kUnsupported;
  if (c.what == GotOffset32) return c.to.local && c.pic() ? kUnsupported : kAccepted;
  const bool fixed = c.to.absolute || (c.undefined_weak() && !c.shared());
  if (is_small(c.what) && c.to.null_symbol) return c.pic() ? kNotPic : kAccepted;
  if (fixed) return kAccepted;
  if (is_small(c.what) && c.pic()) return kNotPic;
  if (c.what == Word && c.pic()) return c.read_only() ? c.text_relocation() : kAccepted;
  if (!is_distance(c.what) && c.what != Word && !is_small(c.what)) return kAccepted;
  if (is_distance(c.what) && c.shared() && (c.replaceable(false) || c.undefined_weak())) return kNotPic;
  if (!c.library() || c.shared()) return kAccepted;
  if (is_distance(c.what) && c.pie() && (c.to.is_function() || !c.link.policy.copies)) return kNotPic;
  if (!c.read_only() || c.to.is_function()) return kAccepted;
  if (c.without_shape() || (c.what == Word && c.left_to_loader())) return c.text_relocation();
  if (c.protected_library()) return kProtected;
  return c.link.policy.copies ? kAccepted : kNoCopy;
}

// lld: Relocations.cpp, RelocationScanner::isStaticLinkTimeConstant and processAux; the same for all machines.

/// The address written is the unrelocated one, without a word.
bool writes_unrelocated(const Case& c) {
  const bool function = c.to.type == SymbolType::Function && c.link.rules != RelocationRules::I386;
  return c.pie() && c.own() && c.to.defined_as == Visibility::Default && (c.to.type == SymbolType::Object || function);
}

/// What the library itself uses is then not what the program uses.
bool lld_gives_up_equality(const Case& c) {
  if (c.to.is_function()) return c.link.policy.unequal_functions;
  return c.to.type == SymbolType::Object && c.link.policy.unequal_data;
}

bool lld_may_write(const Case& c) { return c.section.writable || c.link.policy.text == false; }

JudgedRelocation lld_dynamic(const Case& c, bool replaceable) {
  const bool i386 = c.link.rules == RelocationRules::I386;
  const bool writes = lld_may_write(c);
  const bool left_to_loader = c.link.rules == RelocationRules::X86_64 && (c.what == DistanceWord || c.what == Size);
  if (writes && (c.what == Word || i386 || (replaceable && left_to_loader))) return kAccepted;
  if (!c.shared() && c.library()) {
    if (c.protected_library() && !lld_gives_up_equality(c)) return kProtected;
    if (c.to.is_function()) return i386 && c.pie() ? kNotPic : kAccepted;  // its stand-in needs a register
    if (c.to.type != SymbolType::Object) return kNotPic;
    return c.to.has_size && c.link.policy.copies ? kAccepted : kNoCopy;
  }
  if (c.link.linker->writes_unrelocated && writes_unrelocated(c)) return kAccepted;
  const bool in_section = c.what == Word && c.read_only() && c.pic();
  return in_section ? refused(RelocationProblem::Text) : kNotPic;
}

JudgedRelocation judge_lld(const Case& c) {
  if (c.what == Nothing) return kAccepted;
  if (c.what == GotWide || c.what == TraditionalTls) return kUnsupported;
  if (c.what == LocalExecWord && c.link.linker->lacks_wide_local_exec) return kUnsupported;
  if (c.what == NewToLld || c.what == NewToBoth) return kUnsupported;
  if (c.what == NewToMold) return kAccepted;
  if (c.what == Padding) return c.link.linker->lacks_padding ? kUnsupported : kAccepted;
  if (c.what == TlsSlotSub || (c.what == Size && c.link.rules == RelocationRules::I386)) return kUnsupported;
  if (c.what == TlsOffsetWord && c.link.rules == RelocationRules::Riscv64) return kUnsupported;
  if (c.what == Difference || c.what == TlsSlotAddress) return kAccepted;
  if (is_local_exec(c.what) && c.shared()) return kLocalExec;
  const bool left_to_loader = c.shared() || (c.link.leaves_undefined && c.replaceable(false));
  if ((c.undefined() && !left_to_loader) || is_got(c.what)) return kAccepted;
  if (c.what == TlsOffset || c.what == TlsOffsetWord || c.what == TlsModule) return kAccepted;
  const bool replaceable = c.replaceable(c.shared() || (c.pie() && c.link.policy.dynamic_linker));
  if (c.what == GotAddress && c.pic()) return lld_dynamic(c, replaceable);
  if (is_local_exec(c.what)) {
    const bool by_loader = c.link.rules == RelocationRules::I386 && lld_may_write(c);
    return replaceable && !by_loader ? kLocalExec : kAccepted;
  }
  if ((c.what == Call || c.what == ShortBranch || c.what == PltFromGot) && replaceable) return kAccepted;
  const bool relative =
      is_distance(c.what) || c.what == Call || c.what == ShortBranch || c.what == FromGot || c.what == PltFromGot;
  if (!replaceable) {
    const bool fixed =
        (c.to.absolute && !c.to.null_symbol && !c.library()) || c.undefined_weak() || c.to.type == SymbolType::Tls;
    if (!c.pic() || c.what == Size || c.what == InPage || c.what == InPageLoad) return kAccepted;
    if (relative && fixed && !c.undefined_weak()) return c.to.assigned ? kAccepted : kAbsolute;
    if (relative || fixed) return kAccepted;
  }
  return lld_dynamic(c, replaceable);
}

// mold: the tables of scan_absrel, scan_pcrel and scan_dyn_absrel in input-sections.cc.

/// The columns of its tables.
enum class MoldSymbol : std::uint8_t { Absolute, Own, ImportedData, ImportedCode };

MoldSymbol mold_symbol(const Case& c) {
  const bool imported = c.replaceable(c.shared());
  const bool fixed = c.to.absolute || c.undefined_weak();
  if (fixed && (!imported || c.library())) return MoldSymbol::Absolute;
  if (!imported) return MoldSymbol::Own;
  return c.to.type == SymbolType::Function || (c.library() && c.to.is_function()) ? MoldSymbol::ImportedCode
                                                                                  : MoldSymbol::ImportedData;
}

JudgedRelocation mold_copy(const Case& c) {
  if (c.protected_library()) return kProtected;
  return c.link.policy.copies ? kAccepted : kNoCopy;
}

JudgedRelocation judge_mold(const Case& c) {
  if (c.link.rules == RelocationRules::Ppc64le) return c.what == NewToLld ? kAccepted : kUnsupported;
  if (c.what == LocalExecSub || c.what == TlsSlotSub) return kUnsupported;
  if (c.what == TlsOffsetWord && c.link.rules == RelocationRules::Riscv64) return kUnsupported;
  if (is_local_exec(c.what)) return c.shared() ? kLocalExec : kAccepted;
  const bool stays_zero = c.undefined() && (!c.shared() || c.link.undefined_is_zero);
  if (stays_zero || c.section.name == ".eh_frame") return kAccepted;
  if (c.link.rules == RelocationRules::Aarch64 && c.what != Word && c.what != Page)
    return c.what == Small ? kUnsupported : kAccepted;  // written as it is, or not known at all
  if (c.link.rules == RelocationRules::Riscv64 && is_distance(c.what)) return kAccepted;  // written as it is
  const MoldSymbol symbol = mold_symbol(c);
  if (is_small(c.what) || c.what == SmallPart || c.what == LowPart || c.what == High20) {
    if (c.pic()) return symbol == MoldSymbol::Absolute ? kAccepted : kNotPic;
    return symbol == MoldSymbol::ImportedData ? mold_copy(c) : kAccepted;
  }
  if (c.what == Word) {
    if (c.own_indirect() && !c.pic() && c.read_only()) return c.text_relocation();
    if (symbol == MoldSymbol::Absolute || !c.read_only()) return kAccepted;
    if (c.pic()) return c.text_relocation();
    if (symbol != MoldSymbol::ImportedData) return kAccepted;
    return c.left_to_loader() ? c.text_relocation() : mold_copy(c);
  }
  if (!is_distance(c.what)) return kAccepted;
  if (symbol == MoldSymbol::Absolute) return c.pic() ? kNotPic : kAccepted;
  if (symbol != MoldSymbol::ImportedData) return kAccepted;
  return c.shared() ? kNotPic : mold_copy(c);
}

/// Rule 8.
bool asks_for_address(RelocationClass what) {
  return is_distance(what) || is_small(what) || what == SmallPart || what == LowPart || what == Word || what == Page ||
         what == InPage || what == InPageLoad || what == High20 || what == Low12;
}

}  // namespace

bool makes_program_hold(const RelocationLink& link, RelocationClass what, const RelocationTarget& target,
                        const RelocatedSection& section) {
  const LinkerTraits& linker = *link.linker;
  if (link.shared() || !target.library()) return false;
  if (what == Call || what == ShortBranch) return linker.calls_make_stand_ins;
  if (!asks_for_address(what) || !(target.is_function() || link.policy.copies)) return false;
  const bool writes = section.writable || (linker.notext_is_writable && link.policy.text == false);
  if (linker.values_of_copies_alone) {
    const bool left_to_loader = what == Word && link.pic();
    return !writes && !left_to_loader && !target.is_function() && target.type != SymbolType::NoType && target.has_size;
  }
  if (!writes) return true;
  if (linker.holds_what_is_short) return what != Word && what != DistanceWord;
  return target.is_function() && what != Word;
}

std::span<const std::uint32_t> those_of_offset_table(RelocationRules rules, bool static_program) {
  static constexpr std::array<std::uint32_t, 16> kNeedIt = {
      R_X86_64_PLT32,    R_X86_64_GOT32,     R_X86_64_GOTPCREL,      R_X86_64_TLSGD,
      R_X86_64_TLSLD,    R_X86_64_GOTTPOFF,  R_X86_64_GOT64,         R_X86_64_GOTOFF64,
      R_X86_64_GOTPC32,  R_X86_64_GOTPC64,   R_X86_64_GOTPLT64,      R_X86_64_GOTPCREL64,
      R_X86_64_PLTOFF64, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX, R_X86_64_GOTPC32_TLSDESC};
  if (rules != RelocationRules::X86_64 && rules != RelocationRules::X32) return {};
  return std::span(kNeedIt).subspan(static_program ? 1 : 0);
}

bool classes_are_known(RelocationRules rules) {
  return rules == RelocationRules::X86_64 || rules == RelocationRules::I386 || rules == RelocationRules::Aarch64 ||
         rules == RelocationRules::Riscv64;
}

HowJudged how_judged(const RelocationLink& link) {
  switch (link.rules) {
    case RelocationRules::X86_64:
    case RelocationRules::I386:
      return HowJudged::All;
    case RelocationRules::Aarch64:
    case RelocationRules::Riscv64:
      return link.linker->is_judged_beyond_x86 ? HowJudged::All : HowJudged::None;
    case RelocationRules::Ppc64le:
      return link.linker->lacks_powerpc_relocations ? HowJudged::UnknownOnes : HowJudged::None;
    case RelocationRules::X32:
    case RelocationRules::None:
      break;
  }
  return HowJudged::None;
}

bool lacks_relocations(const RelocationLink& link) {
  if (link.rules == RelocationRules::I386 || link.rules == RelocationRules::Riscv64) return true;
  return link.linker->lacks_small_addresses && link.rules == RelocationRules::Aarch64;
}

AskedPlaces asked_places(const RelocationLink& link, RelocationClass what, bool absolute, bool refuses_text) {
  constexpr AskedPlaces kAll{true, true, true, true};
  constexpr AskedPlaces kGlobal{false, false, true, true};
  constexpr AskedPlaces kNone{};
  const bool more = link.linker->refuses_more_classes;
  switch (what) {
    case Word:
      if (!link.pic()) return {false, false, true, false};
      return {refuses_text, false, refuses_text || more, false};
    case Small:
    case SmallSigned:
      return link.pic() || lacks_relocations(link) ? kAll : kGlobal;
    case SmallPart:
    case LowPart:
    case High20:
    case Low12:
      return link.pic() ? kAll : kGlobal;
    case LocalExec:
      return link.shared() || (refuses_text && link.pic()) ? kAll : kGlobal;
    case Nothing:
      return more ? kGlobal : kNone;
    case LocalExecWord:
    case LocalExecSub:
    case TlsSlotSub:
      return kAll;
    case TlsSlotAddress:
      return {refuses_text, false, refuses_text, false};
    case TlsOffset:
    case TlsModule:
      return more ? kGlobal : kNone;
    case TlsOffsetWord:
      return more || link.rules == RelocationRules::Riscv64 ? kAll : kNone;
    case Call:
      return absolute && link.pic() ? kGlobal : kNone;
    case Got:
    case GotInstruction:
      if (link.rules == RelocationRules::I386) return link.pic() ? kAll : kNone;  // the instruction decides
      return absolute && more && link.pic() ? kGlobal : kNone;
    case GotLoad:
    case GotRewritten:
    case GotAddress:
      return kNone;
    case GotOffset:
    case GotOffset32:
    case GotWide:
    case FromGot:
    case PltFromGot:
    case Size:
    case TraditionalTls:
    case NewToLld:
    case NewToMold:
    case NewToBoth:
      return kAll;
    case Padding:
      return link.linker->lacks_padding ? kAll : kNone;
    case Difference:
      return more ? kGlobal : kNone;
    case Distance:
      return {false, false, true, true, !absolute && link.rules == RelocationRules::X86_64};
    case DistanceByte:
    case DistancePart:
    case DistanceWord:
    case Page:
    case InPage:
    case InPageLoad:
    case ShortBranch:
    case NearBranch:
      return kGlobal;
  }
  return kNone;
}

JudgedRelocation judge_relocation(const RelocationLink& link, RelocationClass what, const RelocationTarget& target,
                                  const RelocatedSection& section) {
  const Case c{link, what, target, section};
  switch (link.linker->rules) {
    case ResolutionRules::Lld:
      return judge_lld(c);
    case ResolutionRules::Mold:
      return judge_mold(c);
    case ResolutionRules::Gold:
      return link.rules == RelocationRules::I386 ? judge_gold_i386(c) : judge_gold(c);
    case ResolutionRules::GnuLd:
      break;
  }
  switch (link.rules) {
    case RelocationRules::I386:
      return judge_bfd_i386(c);
    case RelocationRules::Aarch64:
      return judge_bfd_aarch64(c);
    case RelocationRules::Riscv64:
      return judge_bfd_riscv64(c);
    default:
      return judge_bfd(c);
  }
}

}  // namespace elfaudit
