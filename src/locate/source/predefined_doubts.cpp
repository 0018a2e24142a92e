// Which of the predefined macros are not known exactly: those with the compiler's version in them, those that options
// decide about, and those of another target.
#include <algorithm>
#include <array>

#include "locate/source/predefined.hpp"

namespace elfaudit::source {
namespace {

struct Assumed {
  std::string_view macro, lowest, highest;
};
/// Compilers that build today's code. The names that grow with the version are one row.
constexpr std::array<Assumed, 13> kAssumed = {{{"__GNUC__", "7", "17"},
                                               {"__GNUG__", "7", "17"},
                                               {"__GNUC_MINOR__", "0", "9"},
                                               {"__GNUC_PATCHLEVEL__", "0", "9"},
                                               {"__clang_major__", "6", "23"},
                                               {"__clang_minor__", "0", "9"},
                                               {"__clang_patchlevel__", "0", "9"},
                                               {"__CUDACC_VER_MAJOR__", "10", "14"},
                                               {"__CUDACC_VER_MINOR__", "0", "9"},
                                               {"__CUDACC_VER_BUILD__", "0", "999"},
                                               {"__cplusplus", "199711L", "202302L"},
                                               {"__STDC_VERSION__", "0", "202311L"},
                                               {"__cpp_", "199711L", "999912L"}}};

/// Is what the table has in that row the compile's own?
bool is_exact(std::size_t row, const TranslationUnit& unit, bool standard_known) {
  const std::string_view version = unit.compiler_version;
  const std::string_view macro = kAssumed[row].macro;
  if (macro.starts_with("__CUDACC_")) return !unit.cuda_version.empty() && macro != "__CUDACC_VER_BUILD__";
  const bool version_known = !version.empty();
  standard_known = standard_known || (version_known && unit.options.has_value());
  const bool is_feature = row + 1 == kAssumed.size();
  if (row + 3 == kAssumed.size() || row + 2 == kAssumed.size()) return standard_known;
  const std::string_view table = unit.compiler == Compiler::Clang ? "14." : "12.";
  return version_known && (!is_feature || (standard_known && version.starts_with(table)));
}

}  // namespace

std::uint8_t assumed_row(std::string_view macro, const TranslationUnit& unit) {
  if (!macro.starts_with("__")) return 0;
  if (unit.compiler == Compiler::Clang && macro.starts_with("__GNU")) return 0;
  for (std::size_t row = 0; row < kAssumed.size(); ++row) {
    if (row + 1 < kAssumed.size() ? macro != kAssumed[row].macro : !macro.starts_with(kAssumed[row].macro)) continue;
    const bool exact = is_exact(row, unit, !unit.standard.empty() && !unit.standard_guessed);
    return exact ? std::uint8_t{0} : static_cast<std::uint8_t>(row + 1);
  }
  return 0;
}

bool is_standards(std::uint8_t row, const TranslationUnit& unit) {
  return row + 2U >= kAssumed.size() && !unit.options && is_exact(row - 1U, unit, true);
}

std::string_view assumed_value(std::uint8_t row, int variant) {
  const Assumed& assumed = kAssumed[row - 1U];
  return variant < 0 ? assumed.lowest : assumed.highest;
}

namespace {

/// Which options decide about a macro.
enum class DecidedBy : std::uint8_t { Nothing, Modelled, Machine, Position, Distribution, Math };

struct OptionMacro {
  std::string_view prefix;
  DecidedBy by;
};
constexpr std::array<OptionMacro, 50> kOptionMacros = {{
    {"__OPTIMIZE", DecidedBy::Modelled},
    {"__NO_INLINE__", DecidedBy::Modelled},
    {"_OPENMP", DecidedBy::Modelled},
    {"_OPENACC", DecidedBy::Modelled},
    {"_REENTRANT", DecidedBy::Modelled},
    {"__EXCEPTIONS", DecidedBy::Modelled},
    {"__GXX_RTTI", DecidedBy::Modelled},
    {"__cpp_exceptions", DecidedBy::Modelled},
    {"__cpp_rtti", DecidedBy::Modelled},
    {"__SANITIZE_", DecidedBy::Modelled},
    {"__CHAR_UNSIGNED__", DecidedBy::Modelled},
    {"__STRICT_ANSI__", DecidedBy::Modelled},
    {"linux", DecidedBy::Modelled},
    {"unix", DecidedBy::Modelled},
    {"__PIC__", DecidedBy::Position},  // some distributions make -fPIE the default
    {"__pic__", DecidedBy::Position},
    {"__PIE__", DecidedBy::Position},
    {"__pie__", DecidedBy::Position},
    {"__SSP", DecidedBy::Distribution},  // Ubuntu's gcc has -fstack-protector-strong and -fcf-protection on
    {"__CET__", DecidedBy::Distribution},
    {"_FORTIFY_SOURCE", DecidedBy::Distribution},
    {"__FAST_MATH__", DecidedBy::Math},
    {"__FINITE_MATH", DecidedBy::Math},
    {"__NO_MATH_ERRNO__", DecidedBy::Math},
    {"__FP_FAST_", DecidedBy::Machine},
    {"__AVX", DecidedBy::Machine},
    {"__SSE3", DecidedBy::Machine},
    {"__SSE4", DecidedBy::Machine},
    {"__SSSE3", DecidedBy::Machine},
    {"__F16C__", DecidedBy::Machine},
    {"__FMA", DecidedBy::Machine},
    {"__BMI", DecidedBy::Machine},
    {"__POPCNT__", DecidedBy::Machine},
    {"__LZCNT__", DecidedBy::Machine},
    {"__MOVBE__", DecidedBy::Machine},
    {"__CRC32__", DecidedBy::Machine},
    {"__XSAVE", DecidedBy::Machine},
    {"__PCLMUL__", DecidedBy::Machine},
    {"__AES__", DecidedBy::Machine},
    {"__SHA__", DecidedBy::Machine},
    {"__RDRND__", DecidedBy::Machine},
    {"__GFNI__", DecidedBy::Machine},
    {"__AMX_", DecidedBy::Machine},
    {"__VAES__", DecidedBy::Machine},
    {"__CUDACC_RDC__", DecidedBy::Modelled},
    {"__CUDACC_EXTENDED_LAMBDA__", DecidedBy::Modelled},
    {"__CUDACC_RELAXED_CONSTEXPR__", DecidedBy::Modelled},
    {"__CUDACC_DEBUG__", DecidedBy::Modelled},
    {"__CUDACC_EWP__", DecidedBy::Modelled},
    {"__CUDA_ARCH_LIST__", DecidedBy::Modelled},
}};

bool decides_position(std::string_view option) {
  if (option.starts_with("-fno-")) option.remove_prefix(3);
  if (option.size() != 5) return false;
  option.remove_prefix(option.size() - 3);
  return option == "PIC" || option == "pic" || option == "PIE" || option == "pie";
}

bool decides(std::string_view option, DecidedBy by) {
  if (by == DecidedBy::Machine) return option.starts_with("-m") && option != "-m64" && !option.starts_with("-mcmodel");
  return by == DecidedBy::Math && (option == "-Ofast" || option.find("math") != std::string_view::npos);
}

}  // namespace

bool depends_on_options(std::string_view macro, const TranslationUnit& unit) {
  const auto* const row = std::find_if(kOptionMacros.begin(), kOptionMacros.end(),
                                       [&](const OptionMacro& one) { return macro.starts_with(one.prefix); });
  if (row == kOptionMacros.end()) return false;
  if (macro.starts_with("__CUDA") && unit.language != Language::Cuda) return false;
  if (!unit.options || row->by == DecidedBy::Distribution) return true;
  const auto any = [&](auto test) { return std::any_of(unit.options->begin(), unit.options->end(), test); };
  if (row->by == DecidedBy::Position) return !any([](const std::string& option) { return decides_position(option); });
  return any([&](const std::string& option) { return decides(option, row->by); });
}

bool depends_on_target(std::string_view macro) {
  // By comparing `clang -dM -E` and `gcc -dM -E` for x86-64, i386, AArch64, Arm, RISC-V, Power, s390x, MIPS, LoongArch
  // and SPARC: what is not the same for all of them begins with one of these.
  constexpr std::string_view kPrefixes =
      "MIPS _ABI _ARCH_ _ARM _BIG_ENDIAN _CALL_ _ILP32 _LITTLE_ENDIAN _LP64 _MIPS _R3000 __AARCH64 "
      "__ALTIVEC __APCS __ARCH __ARM __AVX __BIGGEST_ALIGNMENT __BIG_ENDIAN__ __BYTE_ORDER__ "
      "__CHAR_UNSIGNED__ __CMODEL __CRYPTO__ __DBL __DEC64 __FLOAT128 __FLOAT_WORD_ORDER __FLT __FP_FAST "
      "__FXSR __GCC_ASM_FLAG __GCC_ATOMIC __GCC_HAVE __GCC_IEC __GLIBCXX_BITSIZE_INT __GLIBCXX_TYPE_INT "
      "__HAVE_ __HTM__ __ILP32 __INT64 __INTMAX __INTPTR __INT_FAST __INT_LEAST64 __LAHF __LDBL "
      "__LITTLE_ENDIAN__ __LONG __LP64 __MIPS __MMX __NATURAL_ALIGNMENT __NEXT_RUNTIME __NO_MATH_INLINES "
      "__PIC__ __PIE__ __POINTER_WIDTH __POWER __PPC __PTRDIFF __REGISTER_PREFIX__ __RISCV __SEG_ __SIZE "
      "__SOFTFP __SSE __SSSE __STRUCT_PARM __THUMB __UINT __VEC __VFP __VSX __WCHAR __WINT __aarch64 "
      "__alpha __amd64 __arch __arm __code_model __hppa __i386 __i486 __i586 __i686 __ia64 __k8 __loongarch "
      "__m68k __mips __pentium __pic__ __pie__ __powerpc __ppc __riscv __s390 __seg_ __sh __sparc __thumb "
      "__tune_ __x86 __zarch _mips i386 mips sparc ";
  for (std::size_t at = 0; at < kPrefixes.size();) {
    const std::size_t end = kPrefixes.find(' ', at);
    if (macro.starts_with(kPrefixes.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

bool is_guard_name(std::string_view macro) {
  while (macro.starts_with('_')) macro.remove_prefix(1);
  for (const std::string_view prefix : {"HAVE_", "HAS_", "USE_", "NO_", "WITH_", "WITHOUT_", "NEED_", "WANT_",
                                        "ENABLE_", "DISABLE_", "HAVING_", "USING_"})
    if (macro.starts_with(prefix)) return false;
  while (macro.ends_with('_') || (!macro.empty() && macro.back() >= '0' && macro.back() <= '9')) macro.remove_suffix(1);
  for (const std::string_view suffix : {"_H", "_HH", "_HPP", "_HXX", "_CUH", "_INL", "_INC", "_IPP", "_TCC", "_TPP",
                                        "_INCLUDED", "_INCLUDE", "_GUARD", "_h", "_hpp"})
    if (macro.ends_with(suffix)) return true;
  for (const std::string_view prefix : {"INCLUDE_", "INCLUDED_", "INCL_", "HEADER_", "H_"})
    if (macro.starts_with(prefix)) return true;
  return false;
}

bool is_compilers_own(std::string_view macro) {
  for (const std::string_view prefix :
       {"__clang",     "__CUDACC",  "__CUDA_ARCH",  "__NVCC",   "__NVCOMPILER", "__PGI",   "__INTEL",   "__ICC",
        "_MSC_",       "_WIN",      "__APPLE",      "__MINGW",  "__CYGWIN",     "__HIP",   "__arm",     "__aarch64",
        "__cplusplus", "__GNU",     "__STDC",       "__x86_64", "__i386",       "__linux", "__powerpc", "__riscv",
        "__FreeBSD",   "__ANDROID", "__EMSCRIPTEN", "__SYCL",   "__SUNPRO"})
    if (macro.starts_with(prefix)) return true;
  return false;
}

}  // namespace elfaudit::source
