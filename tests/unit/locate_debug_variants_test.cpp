// One unit, compiled in every way that changes how the debug info is written: the places must not change.
#include <gtest/gtest.h>

#include "support/compile.hpp"
#include "support/locate.hpp"

namespace elfaudit::test {
namespace {

// Each marked line must be what is found for the symbols named there.
constexpr const char* kHeader = R"(#pragma once
int counter;                                   // def: counter
int helper(int x) { return x + counter; }      // def: _Z6helperi
thread_local int per_thread = 1;               // def: per_thread
extern int declared_here;
int declared_function(int);
namespace outer::inner {
int nested = 3;                                // def: _ZN5outer5inner6nestedE
int twice(int x) { return 2 * x; }             // def: _ZN5outer5inner5twiceEi
extern int only_declared;
}
struct Shape {
  Shape(int n);
  ~Shape();
  int area() const;
  int half() const { return size / 2; }        // def: _ZNK5Shape4halfEv
  static int count;
  static inline int limit = 7;                 // def: _ZN5Shape5limitE
  int size;
};
template <class T>
T largest(T a, T b) {                          // def: _Z7largestIiET_S0_S0_
  return a < b ? b : a;
}
template <> long largest(long a, long b);
inline int& slot() {                           // def: _Z4slotv
  static int stored = 5;                       // def: _ZZ4slotvE6stored
  return stored;
}
[[noreturn]] void give_up();
)";

constexpr const char* kUnit = R"(#include "lib/state.hpp"
int Shape::count;                              // def: _ZN5Shape5countE
Shape::Shape(int n) : size(n) { ++count; }     // def: _ZN5ShapeC1Ei _ZN5ShapeC2Ei
Shape::~Shape() { --count; }                   // def: _ZN5ShapeD1Ev _ZN5ShapeD2Ev
int Shape::area() const { return size * half() * limit; }  // def: _ZNK5Shape4areaEv
template int largest(int, int);
template <> long largest(long a, long b) { return a - b; }  // def: _Z7largestIlET_S0_S0_
int declared_here = 4;                         // def: declared_here
int outer::inner::only_declared = 5;           // def: _ZN5outer5inner13only_declaredE
int no_return(int x) {                         // def: _Z9no_returni
  if (x == 1) return slot()++;
  give_up();
}
int declared_function(int x) { return x + slot() + no_return(x) + per_thread; }  // def: _Z17declared_functioni
extern "C" int plain(int x) { return declared_function(x) + helper(x); }         // def: plain
__attribute__((cold, noinline)) void rare(int x) { counter = x; }               // def: _Z4rarei
int hot_and_cold(int x) {                      // def: _Z12hot_and_coldi
  if (x > 100) { rare(x); rare(x + 1); __builtin_abort(); }
  return plain(x);
}
)";

struct Variant {
  const char* name;
  const char* command;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.command; }

class LocateVariants : public testing::TestWithParam<Variant> {};

TEST_P(LocateVariants, FindsTheMarkedLines) {
  const std::string command = GetParam().command;
  if (!have(command.substr(0, command.find(' ')))) GTEST_SKIP() << "no such compiler: " << command;
  const TempDir dir;
  dir.write("include/lib/state.hpp", kHeader);
  dir.write("src/unit.cpp", kUnit);
  dir.write("build/probe.cpp", "int x;");
  const std::string probe = "cd '" + (dir / "build") + "' && " + command + " -c probe.cpp -o probe.o 2>/dev/null";
  if (std::system(probe.c_str()) != 0) GTEST_SKIP() << "not supported here: " << command;
  dir.run("cd build && " + command + " -std=c++17 -I../include -c ../src/unit.cpp -o unit.o");

  const Places expected = marked_definitions(dir.path());
  ASSERT_EQ(expected.size(), 24U);
  const Places found = locate_all(dir / "build/unit.o", dir.path());
  for (const auto& [symbol, place] : expected) {
    const auto at = found.find(symbol);
    // An optimiser may emit no copy of an inline function or a second constructor.
    if (at == found.end() && symbol.starts_with("_Z")) continue;
    ASSERT_NE(at, found.end()) << symbol;
    if (symbol == "_ZN5Shape5countE" && command.starts_with("clang")) {
      // clang says where a static data member is declared, and never where it is defined.
      EXPECT_EQ(at->second, "unknown: the debug info names only its declaration, " + dir / "include/lib/state.hpp:17");
      continue;
    }
    EXPECT_EQ(at->second, place) << symbol;
    EXPECT_EQ(locate_one(dir / "build/unit.o", symbol, dir.path()), place) << symbol << ", asked for alone";
  }
}

constexpr Variant kVariants[] = {
    {"gcc_O0", "g++ -g -O0"},
    {"gcc_O1", "g++ -g -O1"},
    {"gcc_O2", "g++ -g -O2"},
    {"gcc_Os", "g++ -g -Os"},
    {"gcc_dwarf2", "g++ -gdwarf-2"},
    {"gcc_dwarf3_O2", "g++ -gdwarf-3 -O2"},
    {"gcc_dwarf4_O0", "g++ -gdwarf-4"},
    {"gcc_dwarf4_O2", "g++ -gdwarf-4 -O2"},
    {"gcc_strict2", "g++ -gdwarf-2 -gstrict-dwarf -O2"},
    {"gcc_strict3", "g++ -gdwarf-3 -gstrict-dwarf -O2"},
    {"gcc_strict4", "g++ -gdwarf-4 -gstrict-dwarf -O2"},
    {"gcc_g3", "g++ -g3"},
    {"gcc_zlib", "g++ -g -gz=zlib"},
    {"gcc_zlib_gnu", "g++ -g -gz=zlib-gnu"},
    {"gcc_zstd", "g++ -g -Wa,--compress-debug-sections=zstd"},
    {"gcc_types", "g++ -g -fdebug-types-section"},
    {"gcc_types4", "g++ -gdwarf-4 -fdebug-types-section"},
    {"gcc_dwarf64", "g++ -g -gdwarf64"},
    {"gcc_dwarf64_4", "g++ -gdwarf-4 -gdwarf64 -O2"},
    {"gcc_sections", "g++ -g -O2 -ffunction-sections -fdata-sections"},
    {"gcc_no_groups", "g++ -g -fno-weak"},
    {"gcc_split", "g++ -g -gsplit-dwarf"},
    {"gcc_split_O2", "g++ -g -O2 -gsplit-dwarf"},
    {"gcc_split4", "g++ -gdwarf-4 -gsplit-dwarf"},
    {"gcc_split4_O2", "g++ -gdwarf-4 -gsplit-dwarf -O2"},
    {"gcc_split_types", "g++ -g -gsplit-dwarf -fdebug-types-section"},
    {"gcc_fat_lto", "g++ -g -O1 -flto -ffat-lto-objects"},
    {"gcc_32", "g++ -g -m32"},
    {"gcc_32_O2", "g++ -gdwarf-4 -O2 -m32"},
    {"gcc_pic", "g++ -g -O2 -fPIC"},
    {"clang_O0", "clang++ -g -gdwarf-5"},
    {"clang_O2", "clang++ -g -gdwarf-5 -O2"},
    {"clang_dwarf4", "clang++ -gdwarf-4"},
    {"clang_dwarf4_O2", "clang++ -gdwarf-4 -O2"},
    {"clang_dwarf3", "clang++ -gdwarf-3"},
    {"clang_dwarf2", "clang++ -gdwarf-2 -O1"},
    {"clang_dwarf64", "clang++ -gdwarf-5 -gdwarf64"},
    {"clang_zlib", "clang++ -g -gz=zlib"},
    {"clang_types", "clang++ -g -fdebug-types-section"},
    {"clang_sections", "clang++ -g -O2 -ffunction-sections -fdata-sections"},
    {"clang_split", "clang++ -gdwarf-5 -gsplit-dwarf"},
    {"clang_split_O2", "clang++ -gdwarf-5 -gsplit-dwarf -O2"},
    {"clang_split4", "clang++ -gdwarf-4 -gsplit-dwarf"},
    {"clang_split_types", "clang++ -gdwarf-5 -gsplit-dwarf -fdebug-types-section"},
    {"clang_32", "clang++ -g -m32"},
    {"clang_aarch64", "clang++ -g --target=aarch64-linux-gnu"},
    {"clang_aarch64_merged",
     "clang++ -g -O2 --target=aarch64-linux-gnu -mllvm -aarch64-enable-global-merge -mllvm -global-merge-on-external"},
    {"clang_arm", "clang++ -g --target=arm-linux-gnueabihf"},
    {"clang_thumb", "clang++ -g -O2 --target=armv7-linux-gnueabihf -mthumb"},
    {"clang_ppc64le", "clang++ -g --target=powerpc64le-linux-gnu"},
    {"clang_ppc32", "clang++ -gdwarf-4 --target=powerpc-linux-gnu"},
    {"clang_s390x", "clang++ -g --target=s390x-linux-gnu"},
    {"clang_s390x_split", "clang++ -g -gsplit-dwarf --target=s390x-linux-gnu"},
    {"clang_riscv64", "clang++ -g --target=riscv64-linux-gnu"},
    {"clang_mips64el", "clang++ -g --target=mips64el-linux-gnuabi64"},
    {"clang_mips", "clang++ -gdwarf-4 --target=mips-linux-gnu"},
};

INSTANTIATE_TEST_SUITE_P(Compilers, LocateVariants, testing::ValuesIn(kVariants),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace elfaudit::test
