#include "locate/source/predefined.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "target/predefined_table.hpp"

namespace elfaudit::source {
namespace {

using Macros = std::map<std::string, std::string, std::less<>>;

void add_entry(Macros& macros, std::string_view entry) {
  if (entry.starts_with('-')) {
    macros.erase(std::string(entry.substr(1)));
    return;
  }
  const std::size_t blank = std::min(entry.find(' '), entry.size());
  macros.insert_or_assign(std::string(entry.substr(0, blank)),
                          std::string(entry.substr(std::min(blank + 1, entry.size()))));
}

/// Adds the table's section of that name; nothing when there is none.
void add_section(Macros& macros, const std::string& name) {
  const std::string head = "\n@" + name + "\n";
  std::size_t at = kPredefinedTable.find(head);
  if (at == std::string_view::npos) return;
  at += head.size();
  const std::string_view section = kPredefinedTable.substr(at, kPredefinedTable.find("\n@", at) - at);
  for (std::size_t from = 0; from < section.size();) {
    const std::size_t end = std::min(section.find_first_of(";\n", from), section.size());
    if (end > from) add_entry(macros, section.substr(from, end - from));
    from = std::min(section.find_first_not_of("; \n", end), section.size());
  }
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

std::string standard_name(bool gnu, bool is_c, std::string_view year) {
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
  if (standard.gnu) {
    macros["linux"] = macros["unix"] = "1";
    if (!is_c) {
      macros["__GLIBCXX_TYPE_INT_N_0"] = "__int128";
      macros["__GLIBCXX_BITSIZE_INT_N_0"] = "128";
    }
  } else {
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
  return standard_name(standard.gnu, is_c, standard.year);
}

std::vector<std::string> standard_names(const TranslationUnit& unit) {
  const bool is_c = unit.language == Language::C;
  const bool is_gnu = standard_of(unit, is_c, unit.compiler == Compiler::Clang).gnu;
  std::vector<std::string> result;
  for (const std::string_view year : years_of(is_c)) result.push_back(standard_name(is_gnu, is_c, year));
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
  std::string text =
      "#define __INT8_C(c) c\n#define __INT16_C(c) c\n#define __INT32_C(c) c\n#define __INT64_C(c) c##L\n"
      "#define __UINT8_C(c) c\n#define __UINT16_C(c) c\n#define __UINT32_C(c) c##U\n#define __UINT64_C(c) c##UL\n"
      "#define __INTMAX_C(c) c##L\n#define __UINTMAX_C(c) c##UL\n";
  for (const auto& [name, value] : macros) text.append("#define ").append(name).append(" ").append(value).append("\n");
  return text;
}

}  // namespace elfaudit::source
