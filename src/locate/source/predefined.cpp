// The predefined macros of a compile: tables, feature macros, and which of them are in doubt.

#include "locate/source/predefined.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "support/file.hpp"
#include "support/strings.hpp"
#include "target/traits.hpp"

namespace elfaudit::source {

// --- The __has_...() operators, as gcc 12 and clang 14 answer them.

bool is_builtin_macro(Word word) { return word >= Word::File && word <= Word::Timestamp; }

bool has_operator(Word word, Compiler compiler) {
  switch (word) {
    case Word::HasInclude:
    case Word::HasIncludeNext:
    case Word::HasAttribute:
    case Word::HasCppAttribute:
    case Word::HasCAttribute:
    case Word::HasBuiltin:
      return true;
    case Word::HasFeature:
    case Word::HasExtension:
    case Word::HasDeclspec:
    case Word::IsIdentifier:
      return compiler == Compiler::Clang;
    default:
      return false;
  }
}

namespace {

std::string_view without_underscores(std::string_view name) {
  const bool framed = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  return framed ? name.substr(2, name.size() - 4) : name;
}

/// C++20 15.2 and C23 6.10.2 have the values.
Answer standard_attribute(std::string_view name, bool in_c, bool is_clang) {
  struct Row {
    std::string_view name, cxx, c;
  };
  constexpr std::array<Row, 8> kStandard = {{{"nodiscard", "201907L", "202003L"},
                                             {"deprecated", "201309L", "201904L"},
                                             {"maybe_unused", "201603L", "201904L"},
                                             {"fallthrough", "201603L", "201904L"},
                                             {"noreturn", "200809L", "1"},
                                             {"likely", "201803L", "0"},
                                             {"unlikely", "201803L", "0"},
                                             {"no_unique_address", "201803L", "0"}}};
  for (const Row& row : kStandard)
    if (row.name == name) return {true, in_c ? row.c : row.cxx};
  if (name.starts_with("msvc::")) return {};
  if (name.starts_with("clang::")) return {!is_clang, is_clang ? "1" : "0"};
  return {false, name.starts_with("gnu::") ? "1" : "0"};
}

Answer gnu_attribute(std::string_view name, bool is_clang, bool in_c) {
  if (!in_c && !is_clang) {  // g++ answers with the standard attribute's value
    if (name == "noreturn") return {true, "200809"};
    if (name == "deprecated") return {true, "201309"};
    if (name == "fallthrough") return {true, "201603"};
  }
  constexpr std::string_view kBoth =
      "noreturn deprecated fallthrough unused used visibility weak alias section aligned packed always_inline "
      "noinline format nonnull warn_unused_result pure const cold hot malloc constructor destructor nothrow "
      "returns_nonnull alloc_size cleanup may_alias init_priority vector_size target error warning artificial "
      "gnu_inline leaf sentinel assume_aligned alloc_align no_sanitize no_profile_instrument_function";
  if (has_word(kBoth, name)) return {true, "1"};
  if (name == "nonstring") return {true, is_clang ? "0" : "1"};
  const bool only_clang = is_among(name, {"enable_if", "disable_tail_calls", "minsize", "nodebug", "preserve_most",
                                          "require_constant_initialization", "trivial_abi", "diagnose_if",
                                          "address_space", "capability", "guarded_by", "overloadable"});
  if (only_clang) return {true, is_clang ? "1" : "0"};
  return {false, "0"};
}

Answer builtin(std::string_view name, bool is_clang) {
  const bool only_gcc = is_among(name, {"__builtin_bswap128", "__builtin_is_corresponding_member", "__integer_pack",
                                        "__builtin_is_pointer_interconvertible_with_class", "__is_layout_compatible",
                                        "__builtin_source_location", "__is_pointer_interconvertible_base_of"});
  if (only_gcc) return {true, is_clang ? "0" : "1"};
  const bool only_clang = is_among(name, {"__builtin_operator_new", "__builtin_operator_delete", "__make_integer_seq",
                                          "__type_pack_element", "__builtin_debugtrap", "__builtin_assume"});
  if (only_clang) return {true, !is_clang ? "0" : name.starts_with("__builtin_operator_") ? "201802L" : "1"};
  const bool both = is_among(name, {"__has_unique_object_representations", "__builtin_expect", "__builtin_unreachable",
                                    "__builtin_is_constant_evaluated", "__builtin_addressof", "__builtin_bit_cast",
                                    "__builtin_launder", "__is_aggregate", "__is_same", "__is_assignable",
                                    "__builtin_trap", "__builtin_constant_p", "__builtin_memcpy", "__builtin_strlen"});
  if (both) return {true, "1"};
  if (is_among(name, {"__builtin_fclose", "__builtin_free"})) return {true, name == "__builtin_free" ? "1" : "0"};
  if (name.starts_with("__is_") && !is_clang) {
    // GCC 12: gcc/cp/cp-trait.def and the like; clang has nearly every name that was ever proposed.
    const bool has =
        is_among(name, {"__is_abstract", "__is_base_of", "__is_class", "__is_constructible", "__is_empty", "__is_enum",
                        "__is_final", "__is_literal_type", "__is_pod", "__is_polymorphic", "__is_same_as",
                        "__is_standard_layout", "__is_trivial", "__is_union", "__is_trivially_assignable",
                        "__is_trivially_constructible", "__is_trivially_copyable"});
    return {has, has ? "1" : "0"};
  }
  return {false, name.starts_with("__builtin_") || name.starts_with("__is_") ? "1" : "0"};
}

}  // namespace

Answer feature(Word op, std::string_view name, Compiler compiler, Language language) {
  const bool is_clang = compiler == Compiler::Clang;
  const bool in_c = language == Language::C;
  switch (op) {
    case Word::HasCppAttribute:
    case Word::HasCAttribute:
      if (in_c != (op == Word::HasCAttribute)) return {};
      return standard_attribute(without_underscores(name), in_c, is_clang);
    case Word::HasAttribute:
      return gnu_attribute(without_underscores(name), is_clang, in_c);
    case Word::HasBuiltin:
      return builtin(name, is_clang);
    case Word::HasDeclspec:
      return {};
    case Word::HasFeature:
    case Word::HasExtension:
      name = without_underscores(name);
      // What clang called its type traits' builtins before __has_builtin; boost/type_traits/intrinsics.hpp asks so.
      if (name.starts_with("has_nothrow_") || name.starts_with("has_trivial_") ||
          is_among(name, {"has_virtual_destructor", "underlying_type"}))
        return {true, in_c ? "0" : "1"};
      if (is_among(name, {"tls", "assume_nonnull", "enumerator_attributes"})) return {true, "1"};
      return {false, starts_with_any(name, {"cxx_", "c_", "is_", "attribute_", "gnu_asm", "nullability"}) ? "1" : "0"};
    default:
      return {false, "0"};
  }
}

namespace {

using Macros = std::map<std::string, std::string, std::less<>>;

void add_entry(Macros& macros, std::string_view entry) {
  if (entry.starts_with('-')) {
    macros.erase(std::string(entry.substr(1)));
    return;
  }
  const bool only_another_value = entry.starts_with('=');
  if (only_another_value) entry.remove_prefix(1);
  const std::size_t blank = std::min(entry.find(' '), entry.size());
  if (only_another_value && !macros.contains(entry.substr(0, blank))) return;
  macros.insert_or_assign(std::string(entry.substr(0, blank)),
                          std::string(entry.substr(std::min(blank + 1, entry.size()))));
}

/// data/predefined-macros.txt from its first section on; the comment before it describes the format.
std::string_view predefined_table() {
  const std::string_view text = embedded_text("data/predefined-macros.txt");
  return text.substr(std::min(text.find("\n@"), text.size()));
}

/// Adds the table's section of that name; nothing when there is none.
void add_section(Macros& macros, const std::string& name) {
  const std::string head = "\n@" + name + "\n";
  const std::string_view table = predefined_table();
  std::size_t at = table.find(head);
  if (at == std::string_view::npos) return;
  at += head.size();
  const std::string_view section = table.substr(at, table.find("\n@", at) - at);
  for (std::size_t from = 0; from < section.size();) {
    const std::size_t end = std::min(section.find_first_of(";\n", from), section.size());
    if (end > from) add_entry(macros, section.substr(from, end - from));
    from = std::min(section.find_first_not_of("; \n", end), section.size());
  }
}

/// First what the target has in common with another.
void add_target(Macros& macros, const std::string& compiler, const std::string& family, std::string_view target) {
  Macros like;
  add_section(like, "like");
  if (const auto other = like.find(target); other != like.end()) add_target(macros, compiler, family, other->second);
  add_section(macros, std::string(compiler).append(target));
  add_section(macros, std::string(family).append(" ").append(target));
}

struct Standard {
  bool gnu = true;
  std::string year;
};

/// "c++2a" is {false, "20"}. An unknown or empty one is the default of gcc 12 and clang 14.
Standard standard_of(const TranslationUnit& unit, bool is_c, bool is_clang) {
  Standard result{true, is_clang && !is_c ? "14" : "17"};
  std::string text = unit.standard;
  if (text.empty()) return result;
  result.gnu = text.starts_with("gnu");
  text.erase(0, text.find_first_of("0123456789"));
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"98", "98"}, {"03", "98"}, {"0x", "11"}, {"11", "11"}, {"1y", "14"}, {"14", "14"}, {"1z", "17"}, {"17", "17"},
      {"2a", "20"}, {"20", "20"}, {"2b", "23"}, {"23", "23"}, {"2c", "23"}, {"26", "23"}, {"90", "89"}, {"89", "89"},
      {"9x", "99"}, {"99", "99"}, {"1x", "11"}, {"18", "17"}, {"2x", "23"}, {"2y", "23"}};
  if (const auto known = kNames.find(text); known != kNames.end()) result.year = known->second;
  return result;
}

constexpr std::array<std::string_view, 6> kCxxYears = {"98", "11", "14", "17", "20", "23"};
constexpr std::array<std::string_view, 5> kCYears = {"89", "99", "11", "17", "23"};

std::span<const std::string_view> years_of(bool is_c) {
  return is_c ? std::span<const std::string_view>(kCYears) : kCxxYears;
}

std::string standard_spelled(bool gnu, bool is_c, std::string_view year) {
  return std::string(gnu ? "gnu" : "c").append(is_c ? "" : "++").append(year);
}

void add_standard(Macros& macros, const TranslationUnit& unit, bool is_clang) {
  const bool is_c = unit.language == Language::C;
  const Standard standard = standard_of(unit, is_c, is_clang);
  const std::string family = std::string(is_clang ? "clang" : "gcc") + (is_c ? " c" : " c++");
  add_section(macros, "every");
  add_section(macros, is_clang ? "clang" : "gcc");
  add_section(macros, family);
  for (const std::string_view year : years_of(is_c)) {
    add_section(macros, family + " " + std::string(year));
    if (year == standard.year) break;
  }
  if (unit.machine.known()) add_target(macros, is_clang ? "clang " : "gcc ", family, traits_of(unit.machine).multiarch);
  if (standard.gnu) {
    macros["linux"] = macros["unix"] = "1";
    if (!is_c && macros.contains("__SIZEOF_INT128__")) {
      macros["__GLIBCXX_TYPE_INT_N_0"] = "__int128";
      macros["__GLIBCXX_BITSIZE_INT_N_0"] = "128";
    }
  } else {
    std::erase_if(macros, [](const auto& macro) { return !macro.first.starts_with('_'); });  // "i386"
    macros["__STRICT_ANSI__"] = "1";
  }
}

/// "12.2.0" as its numbers; what is missing comes from `otherwise`.
std::array<std::string, 3> numbers_of(const std::string& text, const std::array<std::string, 3>& otherwise) {
  std::array<std::string, 3> result = otherwise;
  std::size_t from = 0;
  for (std::string& number : result) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", from), text.size());
    if (end == from) break;
    number = text.substr(from, end - from);
    from = std::min(end + 1, text.size());
  }
  return result;
}

void add_version(Macros& macros, const TranslationUnit& unit) {
  if (unit.compiler == Compiler::Clang) {
    const auto version = numbers_of(unit.compiler_version, {"14", "0", "6"});
    macros["__clang_major__"] = version[0];
    macros["__clang_minor__"] = version[1];
    macros["__clang_patchlevel__"] = version[2];
    // What every clang claims to be.
    macros["__GNUC__"] = "4", macros["__GNUC_MINOR__"] = "2", macros["__GNUC_PATCHLEVEL__"] = "1";
  } else {
    const auto version = numbers_of(unit.compiler_version, {"12", "2", "0"});
    macros["__GNUC__"] = version[0];
    macros["__GNUC_MINOR__"] = version[1];
    macros["__GNUC_PATCHLEVEL__"] = version[2];
  }
  if (unit.language != Language::C) macros["__GNUG__"] = macros["__GNUC__"];
  macros["__VERSION__"] = "\"\"";
}

/// `nvcc --dryrun` of CUDA 13 shows these for its host compiler.
void add_cuda(Macros& macros, const TranslationUnit& unit) {
  if (unit.compiler == Compiler::Nvcc) {
    for (const char* name : {"__NVCC__", "__NVCC_DIAG_PRAGMA_SUPPORT__", "__CUDACC_DEVICE_ATOMIC_BUILTINS__"})
      macros[name] = "1";
    const auto version = numbers_of(unit.cuda_version, {"13", "0", "88"});
    macros["__CUDACC_VER_MAJOR__"] = macros["__CUDA_API_VER_MAJOR__"] = version[0];
    macros["__CUDACC_VER_MINOR__"] = macros["__CUDA_API_VER_MINOR__"] = version[1];
    macros["__CUDACC_VER_BUILD__"] = version[2];
  }
  if (unit.language != Language::Cuda) return;
  macros["__CUDACC__"] = "1";
  if (unit.compiler == Compiler::Clang) macros["__CUDA__"] = "1";
  if (!unit.is_device_side) return;
  constexpr std::uint32_t kAnyArch = 80;
  macros["__CUDA_ARCH__"] = std::to_string(10 * (unit.gpu_arch == 0 ? kAnyArch : unit.gpu_arch));
  if (unit.compiler == Compiler::Nvcc) macros["CUDA_DOUBLE_MATH_FUNCTIONS"] = "";
}

/// Instruction sets that others include: with -mavx2, __SSE3__ is defined as well.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kInstructionSets = {{
    {"sse3", "__SSE3__"},
    {"ssse3", "__SSSE3__"},
    {"sse4.1", "__SSE4_1__"},
    {"sse4.2", "__SSE4_2__"},
    {"avx", "__AVX__"},
    {"avx2", "__AVX2__"},
}};

void add_optimisation(Macros& macros, std::string_view level) {
  for (const char* name : {"__OPTIMIZE__", "__OPTIMIZE_SIZE__", "__FAST_MATH__"}) macros.erase(name);
  if (level == "0") {
    macros["__NO_INLINE__"] = "1";
    return;
  }
  macros["__OPTIMIZE__"] = "1";
  macros.erase("__NO_INLINE__");
  if (level == "s" || level == "z") macros["__OPTIMIZE_SIZE__"] = "1";
  if (level == "fast") macros["__FAST_MATH__"] = "1";
}

/// Each of several: "address,undefined". clang has __has_feature(address_sanitizer) for it, and no macro.
void add_sanitizers(Macros& macros, std::string_view list, bool is_clang) {
  while (!is_clang && !list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    if (one == "address" || one == "kernel-address") macros["__SANITIZE_ADDRESS__"] = "1";
    if (one == "thread") macros["__SANITIZE_THREAD__"] = "1";
  }
}

void add_option(Macros& macros, std::string_view option, bool is_clang) {
  constexpr std::string_view kSanitize = "-fsanitize=";
  if (option.starts_with("-O")) return add_optimisation(macros, option.substr(2));
  if (option == "-fPIC" || option == "-fpic" || option == "-fPIE" || option == "-fpie") {
    const char* level = option.find("PI") != std::string_view::npos ? "2" : "1";
    macros["__PIC__"] = macros["__pic__"] = level;
    if (option.ends_with('E') || option.ends_with('e')) macros["__PIE__"] = macros["__pie__"] = level;
  } else if (option == "-fopenmp") {
    macros["_OPENMP"] = is_clang ? "201811" : "201511";
    if (!is_clang) macros["_REENTRANT"] = "1";
  } else if (option == "-pthread" || option == "-fopenacc") {
    macros["_REENTRANT"] = "1";
  } else if (option == "-fno-exceptions") {
    macros.erase("__EXCEPTIONS");
    macros.erase("__cpp_exceptions");
  } else if (option == "-fno-rtti") {
    macros.erase("__GXX_RTTI");
    macros.erase("__cpp_rtti");
  } else if (option == "-funsigned-char") {
    macros["__CHAR_UNSIGNED__"] = "1";
  } else if (option.starts_with(kSanitize)) {
    add_sanitizers(macros, option.substr(kSanitize.size()), is_clang);
  } else if (option == "-ffast-math") {
    macros["__FAST_MATH__"] = "1";
  } else if (option == "-rdc=true" || option == "-dc" || option == "--device-c" || option == "-fgpu-rdc" ||
             option == "--relocatable-device-code=true") {
    macros["__CUDACC_RDC__"] = "1";
  } else if (option.starts_with("-m")) {
    const auto* const set = std::find_if(kInstructionSets.begin(), kInstructionSets.end(),
                                         [&](const auto& row) { return row.first == option.substr(2); });
    if (set == kInstructionSets.end()) return;
    for (const auto* at = kInstructionSets.begin(); at <= set; ++at) macros[std::string(at->second)] = "1";
  }
}

}  // namespace

std::string standard_name(const TranslationUnit& unit) {
  const bool is_c = unit.language == Language::C;
  const Standard standard = standard_of(unit, is_c, unit.compiler == Compiler::Clang);
  return standard_spelled(standard.gnu, is_c, standard.year);
}

std::string default_standard(const TranslationUnit& unit) {
  if (!unit.options || unit.compiler_version.empty() || unit.language == Language::C) return {};
  const int major = std::atoi(unit.compiler_version.c_str());
  return major >= (unit.compiler == Compiler::Clang ? 16 : 11) ? "gnu++17" : "gnu++14";
}

std::vector<std::string> standard_names(const TranslationUnit& unit) {
  const bool is_c = unit.language == Language::C;
  const bool is_gnu = standard_of(unit, is_c, unit.compiler == Compiler::Clang).gnu;
  std::vector<std::string> result;
  for (const std::string_view year : years_of(is_c)) result.push_back(standard_spelled(is_gnu, is_c, year));
  return result;
}

std::string predefined_macros(const TranslationUnit& unit) {
  Macros macros;
  add_standard(macros, unit, unit.compiler == Compiler::Clang);
  add_version(macros, unit);
  add_cuda(macros, unit);
  const bool is_clang = unit.compiler == Compiler::Clang;
  add_option(macros, "-O0", is_clang);
  if (unit.options)
    for (const std::string& option : *unit.options) add_option(macros, option, is_clang);
  // Suffixes of constants: function-like, so not in the table.
  const std::string suffix = macros.contains("_LP64") ? "L\n" : "LL\n";
  std::string text =
      "#define __INT8_C(c) c\n#define __INT16_C(c) c\n#define __INT32_C(c) c\n#define __UINT8_C(c) c\n"
      "#define __UINT16_C(c) c\n#define __UINT32_C(c) c##U\n";
  for (const char* head : {"#define __INT64_C(c) c##", "#define __INTMAX_C(c) c##", "#define __UINT64_C(c) c##U",
                           "#define __UINTMAX_C(c) c##U"})
    text.append(head).append(suffix);
  for (const auto& [name, value] : macros) text.append("#define ").append(name).append(" ").append(value).append("\n");
  return text;
}

// --- Which of the predefined macros are not known exactly: those with the compiler's version in them, those that
// options decide about, and those of another target.

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
enum class DecidedBy : std::uint8_t { Modelled, Machine, Position, Distribution, Math };

struct OptionMacros {
  DecidedBy by;
  std::string_view starts;
};
constexpr std::array<OptionMacros, 5> kOptionMacros = {{
    {DecidedBy::Modelled,
     "__OPTIMIZE __NO_INLINE__ _OPENMP _OPENACC _REENTRANT __EXCEPTIONS __GXX_RTTI __cpp_exceptions __cpp_rtti "
     "__SANITIZE_ __CHAR_UNSIGNED__ __STRICT_ANSI__ linux unix __CUDACC_RDC__ __CUDACC_EXTENDED_LAMBDA__ "
     "__CUDACC_RELAXED_CONSTEXPR__ __CUDACC_DEBUG__ __CUDACC_EWP__ __CUDA_ARCH_LIST__"},
    {DecidedBy::Position, "__PIC__ __pic__ __PIE__ __pie__"},  // some distributions make -fPIE the default
    // Ubuntu's gcc has -fstack-protector-strong and -fcf-protection on
    {DecidedBy::Distribution, "__SSP __CET__ _FORTIFY_SOURCE"},
    {DecidedBy::Math, "__FAST_MATH__ __FINITE_MATH __NO_MATH_ERRNO__"},
    {DecidedBy::Machine,
     "__FP_FAST_ __AVX __SSE3 __SSE4 __SSSE3 __F16C__ __FMA __BMI __POPCNT__ __LZCNT__ __MOVBE__ __CRC32__ __XSAVE "
     "__PCLMUL__ __AES__ __SHA__ __RDRND__ __GFNI__ __AMX_ __VAES__"},
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

bool has_macros_of_target(const TranslationUnit& unit) {
  return !unit.machine.known() || traits_of(unit.machine).has_macro_table;
}

bool depends_on_options(std::string_view macro, const TranslationUnit& unit) {
  const auto any = [&](auto test) { return std::any_of(unit.options->begin(), unit.options->end(), test); };
  const MachineTraits& machine = traits_of(unit.machine);
  const auto is_start = [&](std::string_view start) { return macro.starts_with(start); };
  if (!machine.sure_macros.empty() && !has_word(machine.sure_macros, macro) && any_word(machine.macro_starts, is_start))
    return !unit.options || any([](const std::string& option) { return decides(option, DecidedBy::Machine); });
  const auto* const row = std::find_if(kOptionMacros.begin(), kOptionMacros.end(),
                                       [&](const OptionMacros& one) { return any_word(one.starts, is_start); });
  if (row == kOptionMacros.end()) return false;
  if (macro.starts_with("__CUDA") && unit.language != Language::Cuda) return false;
  if (!unit.options || row->by == DecidedBy::Distribution) return true;
  if (row->by == DecidedBy::Position) return !any([](const std::string& option) { return decides_position(option); });
  return any([&](const std::string& option) { return decides(option, row->by); });
}

namespace {

bool tells_machine(std::string_view macro) {
  return std::any_of(machines().begin(), machines().end(), [&](const MachineTraits& machine) {
    return any_word(machine.macro_starts, [&](std::string_view start) { return macro.starts_with(start); });
  });
}

}  // namespace

bool depends_on_target(std::string_view macro) {
  // By comparing `clang -dM -E` and `gcc -dM -E` for x86-64, i386, AArch64, Arm, RISC-V, Power, s390x, MIPS, LoongArch
  // and SPARC: what is not the same for all of them begins with one of these, or with one that a machine has
  // to itself.
  constexpr std::string_view kPrefixes =
      "_BIG_ENDIAN _ILP32 _LITTLE_ENDIAN _LP64 __ARCH __AVX __BIGGEST_ALIGNMENT __BIG_ENDIAN__ __BYTE_ORDER__ "
      "__CHAR_UNSIGNED__ __CMODEL __CRYPTO__ __DBL __DEC64 __FLOAT128 __FLOAT_WORD_ORDER __FLT __FP_FAST __FXSR "
      "__GCC_ASM_FLAG __GCC_ATOMIC __GCC_HAVE __GCC_IEC __GLIBCXX_BITSIZE_INT __GLIBCXX_TYPE_INT __HAVE_ __ILP32 "
      "__INT64 __INTMAX __INTPTR __INT_FAST __INT_LEAST64 __LAHF __LDBL __LITTLE_ENDIAN__ __LONG __LP64 __MMX "
      "__NATURAL_ALIGNMENT __NEXT_RUNTIME __NO_MATH_INLINES __PIC__ __PIE__ __POINTER_WIDTH __PTRDIFF "
      "__REGISTER_PREFIX__ __SEG_ __SIZE __SSE __SSSE __STRUCT_PARM __UINT __VFP __WCHAR __WINT __arch "
      "__code_model __pic__ __pie__ __seg_ __tune_ __x86";
  return tells_machine(macro) || any_word(kPrefixes, [&](std::string_view start) { return macro.starts_with(start); });
}

bool is_guard_name(std::string_view macro) {
  while (macro.starts_with('_')) macro.remove_prefix(1);
  if (starts_with_any(macro, {"HAVE_", "HAS_", "USE_", "NO_", "WITH_", "WITHOUT_", "NEED_", "WANT_", "ENABLE_",
                              "DISABLE_", "HAVING_", "USING_"}))
    return false;
  while (!macro.empty() && (macro.back() == '_' || is_ascii_digit(macro.back()))) macro.remove_suffix(1);
  return ends_with_any(macro, {"_H", "_HH", "_HPP", "_HXX", "_CUH", "_INL", "_INC", "_IPP", "_TCC", "_TPP", "_INCLUDED",
                               "_INCLUDE", "_GUARD", "_h", "_hpp"}) ||
         starts_with_any(macro, {"INCLUDE_", "INCLUDED_", "INCL_", "HEADER_", "H_"});
}

bool is_named_after(std::string_view macro, std::string_view path) {
  const auto letters = [](std::string_view text) {
    std::string result;
    for (const char c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return result;
  };
  const std::string stem = letters(std::filesystem::path(path).stem().string());
  constexpr std::size_t kShortest = 3;
  return stem.size() >= kShortest && letters(macro).find(stem) != std::string::npos;
}

/// Does the table have it for any compiler and target? "__SIZEOF_INT128__"
static bool is_in_table(std::string_view macro) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all;
    const std::string_view table = predefined_table();
    for (std::size_t from = table.find_first_not_of(";\n "); from != std::string_view::npos;) {
      const std::size_t end = std::min(table.find_first_of(";\n", from), table.size());
      std::string_view entry = table.substr(from, end - from);
      entry.remove_prefix(std::min(entry.find_first_not_of("-="), entry.size()));
      if (!entry.starts_with('@')) all.insert(entry.substr(0, entry.find(' ')));
      from = table.find_first_not_of(";\n ", end);
    }
    return all;
  }();
  return names.contains(macro);
}

bool is_compilers_own(std::string_view macro) {
  if (starts_with_any(
          macro, {"__clang", "__CUDACC", "__CUDA_ARCH", "__NVCC",    "__NVCOMPILER", "__PGI",  "__INTEL",     "__ICC",
                  "_MSC_",   "_WIN",     "__APPLE",     "__MINGW",   "__CYGWIN",     "__HIP",  "__cplusplus", "__GNU",
                  "__STDC",  "__linux",  "__FreeBSD",   "__ANDROID", "__EMSCRIPTEN", "__SYCL", "__SUNPRO"}))
    return true;
  if (macro.starts_with("__")) return tells_machine(macro) || is_in_table(macro);
  // Not _GNU_SOURCE and _BIG_ENDIAN, which people define too.
  return any_word("_LP64 _ILP32 _CALL_ _ARCH_P", [&](std::string_view start) { return macro.starts_with(start); }) &&
         is_in_table(macro);
}

}  // namespace elfaudit::source
