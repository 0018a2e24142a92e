// Cubins written by hand and PTX: the symbols that nvlink would see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "scan/device/decoders.hpp"
#include "support/bits.hpp"
#include "support/device.hpp"
#include "support/limits.hpp"
#include "support/sanitizers.hpp"

namespace elfaudit::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceSymbols cubin_symbols(const std::string& file) {
  return symbols_of(file, device_facts(file).images.at(0).target());
}

DeviceSymbols ptx(const std::string& text) {
  return symbols_of(fatbin({{1, 90, 0x11, ".version 9.0\n.target sm_90\n.address_size 64\n" + text}}), "compute_90");
}

std::string ptx_error(const std::string& text) {
  try {
    return "no error, but " + std::to_string(ptx(text).symbols.size()) + " symbols";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(DeviceCubin, SymbolsOfEveryKind) {
  const std::string file = cubin({{"local", 0x0d},
                                  {"v", 0x1d, 0x20},
                                  {"constant", 0x1d, 0x80},
                                  {"managed", 0x1d, 0x24},
                                  {"shared", 0x1d, 0x40, 0, 0},
                                  {"weak", 0x2d, 0x20},
                                  {"undefined", 0x1d, 0x20, 0, 16},
                                  {"common", 0x1d, 0x20, 0xfff2, 8},
                                  {"f", 0x12, 0, 1, 64, "#ii"},
                                  {"g", 0x12, 0, 0, 0, "#vl|12p4r20", true},
                                  {"kernel", 0x12, 0x10, 1, 64},
                                  {"texture", 0x1a, 0, 0, 0},
                                  {".nv.constant0.k", 0x10, 0, 0, 0}});
  EXPECT_THAT(
      show(cubin_symbols(file)),
      ElementsAre("v GLOBAL DEF 4 global", "constant GLOBAL DEF 4 const", "managed GLOBAL DEF 4 managed",
                  "shared GLOBAL UND 0 shared", "weak WEAK DEF 4 global", "undefined GLOBAL UND 16 global",
                  "common GLOBAL COMMON 8 global", "f GLOBAL DEF function #ii", "g GLOBAL UND function #vl address",
                  "kernel GLOBAL DEF kernel", "texture GLOBAL UND texture", ".nv.constant0.k GLOBAL UND other"));
}

TEST(DeviceCubin, SectionsAndIndexesAreSaid) {
  const DeviceSymbols image = cubin_symbols(cubin({{"v"}, {"u", 0x1d, 0x20, 0}}));
  EXPECT_EQ(image.text(image.symbols.at(0).section), ".nv.global");
  EXPECT_EQ(image.symbols[0].index, 1U);
  EXPECT_TRUE(image.symbols.at(1).section.empty());
  EXPECT_TRUE(image.relocatable);
}

TEST(DeviceCubin, FinishedOnesAreNotRelocatable) {
  const std::string file = elf_file(190, 0x06005004, {}, 2);
  EXPECT_FALSE(cubin_symbols(file).relocatable);
}

TEST(DeviceCubin, TheArchitectureIsInTheHeaderAndTheSuffixInTheNote) {
  const auto target = [](std::uint32_t flags, unsigned char abi, const std::string& note) {
    return show(device_facts(elf_file(190, flags, {{".note.nv.tkinfo", 1, note}}, 1, abi)));
  };
  EXPECT_THAT(target(0x06005a04, 8, "release 13.0, V13.0.88\0-arch sm_90a -m 64"), ElementsAre("sm_90"));  // cut at NUL
  EXPECT_THAT(target(0x06005a04, 8, std::string("x\0-arch sm_90a -m 64", 21)), ElementsAre("sm_90a"));
  EXPECT_THAT(target(0x06006402, 8, "-arch sm_100f "), ElementsAre("sm_100f"));
  EXPECT_THAT(target(0x06006402, 8, "-arch sm_100 "), ElementsAre("sm_100"));
  EXPECT_THAT(target(0x005a055a, 7, ""), ElementsAre("sm_90"));
  EXPECT_THAT(target(0x005a0d5a, 7, ""), ElementsAre("sm_90a"));
}

TEST(DeviceCubin, TheToolkitIsSaidByTheNoteOrTheHeader) {
  const std::string abi8 =
      elf_file(190, 0x06005004, {{".note.nv.tkinfo", 1, "Cuda compilation tools, release 13.0, V13"}});
  EXPECT_EQ(cubin_symbols(abi8).toolkit, "13.0");
  std::string abi7 = elf_file(190, 0x00500550, {}, 1, 7);
  abi7.replace(20, 4, number(std::uint32_t{123}));
  EXPECT_EQ(cubin_symbols(abi7).toolkit, "12.3");
  EXPECT_EQ(cubin_symbols(elf_file(190, 0x06005004, {})).toolkit, "");
}

TEST(DeviceCubin, ContradictionsAreErrorsAtTheImage) {
  std::string file = cubin({{"f", 0x12, 0, 99, 64, "#ii"}});
  try {
    cubin_symbols(file);
    FAIL() << "section 99 was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("device code for sm_80: symbol 1 is in section 99 of 7"));
  }
  EXPECT_THROW(cubin_symbols(cubin({{"f", 0x52, 0, 1}})), InputError);  // binding 5
  EXPECT_THROW(symbols_of(fatbin({{2, 80, 0x11, "no cubin"}}), "sm_80"), InputError);
  EXPECT_THROW(symbols_of(fatbin({{2, 80, 0x11, elf_file(62, 0, {})}}), "sm_80"), InputError);  // x86-64
}

TEST(DevicePtx, LinkageOfVariables) {
  EXPECT_THAT(
      show(ptx(".visible .global .align 4 .u32 v = 42;\n"
               ".weak .const .f64 w;\n"
               ".extern .global .b8 e[16];\n"
               ".common .global .u32 c;\n"
               ".global .u32 hidden;\n"
               ".visible .shared .align 4 .b8 s[64];\n"
               ".extern .shared .align 4 .b8 dynamic[];\n"
               ".visible .global .attribute(.managed) .align 4 .u32 m;\n")),
      ElementsAre("v GLOBAL DEF 4 global", "w WEAK DEF 8 const", "e GLOBAL UND 16 global", "c GLOBAL COMMON 4 global",
                  "s GLOBAL DEF 64 shared", "dynamic GLOBAL UND 0 shared", "m GLOBAL DEF 4 managed"));
}

TEST(DevicePtx, SizesOfVariables) {
  // Each size is what ptxas gives the symbol.
  EXPECT_THAT(show(ptx(".visible .global .v4 .f32 vector;\n"
                       ".visible .global .v2 .u8 vectors[3];\n"
                       ".visible .global .b8 table[4][2];\n"
                       ".visible .global .b8 open[] = {1,2,3};\n"
                       ".visible .global .u32 rows[][2] = {{1,2},{3,4},{5,6}};\n"
                       ".visible .global .u32 a, b[3], c = 5;\n"
                       ".visible .global .b8 hex[0x10], octal[011], binary[0b11], plain[3U];\n"
                       ".visible .global .u64 pointers[] = { a, generic(b), a+4 };\n"
                       ".visible .global .b128 big;\n"
                       ".visible .global .f16x2 halves;\n")),
              ElementsAre("vector GLOBAL DEF 16 global", "vectors GLOBAL DEF 6 global", "table GLOBAL DEF 8 global",
                          "open GLOBAL DEF 3 global", "rows GLOBAL DEF 24 global", "a GLOBAL DEF 4 global",
                          "b GLOBAL DEF 12 global", "c GLOBAL DEF 4 global", "hex GLOBAL DEF 16 global",
                          "octal GLOBAL DEF 9 global", "binary GLOBAL DEF 3 global", "plain GLOBAL DEF 3 global",
                          "pointers GLOBAL DEF 24 global", "big GLOBAL DEF 16 global", "halves GLOBAL DEF 4 global"));
}

TEST(DevicePtx, NamesMayHoldDollarsAndBeginWithPercent) {
  EXPECT_THAT(show(ptx(".visible .global .u32 $a; .visible .global .u32 %b; .visible .global .u32 _c$1;")),
              ElementsAre("$a GLOBAL DEF 4 global", "%b GLOBAL DEF 4 global", "_c$1 GLOBAL DEF 4 global"));
}

TEST(DevicePtx, CommentsAndStringsAreNoDirectives) {
  EXPECT_THAT(show(ptx("// .visible .global .u32 a;\n"
                       "/* .visible .global .u32 b; */\n"
                       ".file 1 \"/x/.visible .global .u32 c;\"\n"
                       ".pragma \"a } \\\" {\";\n"
                       ".section .debug_info { .b8 1, 2\n .b64 .debug_line }\n"
                       ".visible .global .u32 d; // {\n")),
              ElementsAre("d GLOBAL DEF 4 global"));
}

TEST(DevicePtx, AnExternVariableMayBeDefined) {
  EXPECT_THAT(show(ptx(".extern .global .u32 a; .visible .global .u32 a;"
                       ".visible .global .u32 b; .extern .global .u32 b;"
                       ".extern .global .u32 c; .weak .global .u32 c;")),
              ElementsAre("a GLOBAL DEF 4 global", "b GLOBAL DEF 4 global", "c WEAK DEF 4 global"));
}

TEST(DevicePtx, OnlyBodiesDefineFunctions) {
  EXPECT_THAT(show(ptx(".visible .func (.param .b32 r) f(.param .b64 a);\n"
                       ".extern .func used(.param .b32 a);\n"
                       ".extern .func unused(.param .b32 a);\n"
                       ".weak .func w() { ret; }\n"
                       ".func local() { call used, (x); ret; }\n"
                       ".visible .entry k(.param .align 8 .b8 x[16]) .maxntid 128, 1, 1 { { ret; } }\n"
                       ".visible .func (.param .b32 r) f(.param .b64 a) { ret; }\n")),
              ElementsAre("used GLOBAL UND function #vi", "w WEAK DEF function #v", "k GLOBAL DEF kernel",
                          "f GLOBAL DEF function #il"));
}

TEST(DevicePtx, PrototypesAreThoseOfPtxas) {
  const auto prototype = [](const std::string& declaration) {
    const DeviceSymbols image = ptx(".visible .func " + declaration + " { ret; }");
    return std::string(image.text(image.symbols.at(0).prototype));
  };
  EXPECT_EQ(prototype("f"), "#v");
  EXPECT_EQ(prototype("() f()"), "#v");
  EXPECT_EQ(prototype("(.param .b8 r) f(.param .b8 a)"), "#bb");
  EXPECT_EQ(prototype("(.param .f32 r) f(.param .f64 a, .param .u32 b, .param .s64 c)"), "#fdil");
  EXPECT_EQ(prototype("(.reg .f64 r) f(.reg .f32 a, .reg .b16 b, .reg .f16x2 c)"), "#dfhi");
  EXPECT_EQ(prototype("(.param .b32 r[4]) f(.param .align 8 .b32 a[3])"), "#i4i3");
  EXPECT_EQ(prototype("(.param .b128 r) f(.param .align 4 .b8 a[12])"), "#xb12");
  EXPECT_EQ(prototype("(.param .b32 r) f(.param .b64 a, .param .align 8 .b8 %VAParam[])"), "#ilb0");
  EXPECT_EQ(prototype("f(.param .b32 a) .noreturn"), "#vi");
}

TEST(DevicePtx, TakingAnAddressIsNoCall) {
  EXPECT_THAT(show(ptx(".visible .func a() { ret; } .visible .func b() { ret; } .visible .func c() { ret; }\n"
                       ".visible .global .u64 p = a;\n"
                       ".visible .func user() { call.uni (r), c, (x); mov.u64 %rd1, b; ret; }\n")),
              ElementsAre("a GLOBAL DEF function #v address", "b GLOBAL DEF function #v address",
                          "c GLOBAL DEF function #v", "p GLOBAL DEF 8 global", "user GLOBAL DEF function #v"));
}

TEST(DevicePtx, AnAliasIsADefinition) {
  EXPECT_THAT(show(ptx(".visible .func f() { ret; } .weak .func g(); .alias g, f; .func h(); .alias h, f;")),
              ElementsAre("f GLOBAL DEF function #v", "g GLOBAL DEF function #v"));
}

TEST(DevicePtx, TexturesAreUndefinedAndNobodyMinds) {
  EXPECT_THAT(show(ptx(".global .texref t; .visible .global .surfref s;")),
              ElementsAre("t GLOBAL UND texture", "s GLOBAL UND texture"));
}

TEST(DevicePtx, LinesAreSaid) { EXPECT_EQ(ptx("/*\n\n*/\n.visible .global .u32 v;").symbols.at(0).index, 7U); }

TEST(DevicePtx, WholeProgramCodeInAHostObjectIsNotRelocatable) {
  const std::string file = fatbin({{1, 90, 0x11, ".version 9.0\n.visible .entry k() { ret; }"}});
  EXPECT_TRUE(symbols_of(file, "compute_90").relocatable);
  const std::string object = elf_file(62, 0, {{".nv_fatbin", 1, file}});
  EXPECT_FALSE(symbols_of(object, "compute_90").relocatable);
}

TEST(DevicePtx, WhatIsNoPtxIsAnError) {
  EXPECT_THROW(symbols_of(fatbin({{1, 90, 0x11, "int main() {}"}}), "compute_90"), InputError);
  EXPECT_THAT(ptx_error(".visible .func f() { ret;"), HasSubstr("PTX line 4: ends inside of a block in braces"));
  EXPECT_THAT(ptx_error(".visible .func f(.param .b32 a"), HasSubstr("ends inside of a parameter list"));
  EXPECT_THAT(ptx_error("\n.visible .global .u32 ;"), HasSubstr("PTX line 5: has ';' where the name"));
  EXPECT_THAT(ptx_error(".visible .global .u32 a[x];"), HasSubstr("has 'x' as a bound of a"));
  EXPECT_THAT(ptx_error(".visible .global .u32 a"), HasSubstr("where a ';' should be"));
  EXPECT_THAT(ptx_error(".visible .global .u32 a[0xffffffffffffffff][2];"), HasSubstr("more than 2^64 elements"));
  EXPECT_THAT(ptx_error(".visible .global .u32 a[0x7fffffffffffffff];"), HasSubstr("more than 2^64 bytes"));
}

using Numbers = std::vector<std::uint64_t>;

/// A module of variables, each with its initializer's number or none, and of these constants, which have the next
/// numbers.
std::optional<BitcodeUses> uses_of(const std::vector<std::optional<std::uint64_t>>& initializers,
                                   const std::vector<Numbers>& constants) {
  constexpr std::uint64_t kModule = 8, kVersion = 1, kVariable = 7, kConstants = 11, kSymbolTable = 25, kNull = 2,
                          kAggregate = 7;
  Bits bits;
  bits.enter(kModule).record(kVersion, {2});
  for (const auto& initializer : initializers)
    bits.record(kVariable, {0, 0, 0, 0, initializer ? *initializer + 1 : 0, 0});
  bits.enter(kConstants, 4);
  for (const Numbers& parts : constants) bits.record(parts.empty() ? kNull : kAggregate, parts);
  bits.end().end().enter(kSymbolTable);  // the last, which is skipped
  return read_bitcode_uses(bits.bytes());
}

TEST(BitcodeUses, AreBounded) {
  if (kSanitized) GTEST_SKIP() << kTakesMinutes;
  constexpr std::size_t kUsed = 2048, kUsers = limits::kBitcodeUses / kUsed;
  Numbers all(kUsed);
  std::iota(all.begin(), all.end(), 0);
  for (const std::size_t more : {0, 1}) {
    std::vector<std::optional<std::uint64_t>> initializers(kUsed);
    initializers.insert(initializers.end(), kUsers, kUsed + kUsers + more);
    initializers.insert(initializers.end(), more, 0);
    const std::optional<BitcodeUses> read = uses_of(initializers, {all});
    EXPECT_EQ(read ? read->uses.size() : 0, more == 0 ? limits::kBitcodeUses : 0);
  }
}

/// A table of tables of one null pointer.
TEST(BitcodeUses, AreFoundInSoManySteps) {
  if (kSanitized) GTEST_SKIP() << kTakesMinutes;
  constexpr std::size_t kParts = 8191;
  static_assert(limits::kBitcodeSteps == (kParts + 1) * (kParts + 1));
  for (const std::size_t more : {0, 1}) {
    constexpr std::uint64_t kNull = 2, kRow = 3, kTable = 4, kRest = 5;
    const auto read = uses_of({kTable, kRest},
                              {{}, Numbers(kParts, kNull), Numbers(kParts, kRow), Numbers(kParts - 1 + more, kNull)});
    EXPECT_EQ(read.has_value(), more == 0);
  }
}

}  // namespace
}  // namespace elfaudit::test
