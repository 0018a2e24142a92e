// Finished code: which variables were meant to be shared, and have become one copy for each object.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scan/device/decoders.hpp"
#include "support/compile.hpp"
#include "support/device.hpp"

namespace elfaudit::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

#define REQUIRE_NVCC()                                                                         \
  if (!have("nvcc") || std::system("nvcc --version | grep -Eq 'release (1[3-9]|[2-9][0-9])'")) \
  GTEST_SKIP() << "needs nvcc 13 or later"

/// "v GLOBAL DEF 4 global", and "?" behind it when the source may say static.
std::vector<std::string> show_private(const DeviceSymbols& image) {
  std::vector<std::string> lines;
  for (const DeviceSymbol& symbol : image.private_variables)
    lines.push_back(show(image, symbol) + (symbol.maybe_static ? " ?" : ""));
  return lines;
}

std::string compile_private(const TempDir& dir, const std::string& source, const std::string& options,
                            const std::string& name = "a.o") {
  dir.write("a.cu", source);
  dir.run("nvcc -w -std=c++17 -arch=sm_80 " + options + " a.cu -o " + name);
  return contents(dir / name);
}

// Every form of a variable that nvcc compiles without -rdc=true.
constexpr const char* kPrivateKinds = R"(
#include <cassert>
#include <cstdio>
extern __device__ int v_extern;
__shared__ int v_shared[4];
extern __shared__ int v_dynamic[];
extern "C" { __device__ int v_c; static __device__ int v_c_static; }
static __device__ int v_static;
__device__ const int v_const[2] = {1, 2};
namespace { __device__ int v_anonymous; }
template <class T> static __device__ T v_static_template = T(5);
namespace ns {
__device__ int v = 42;
__constant__ int c[3];
__managed__ int m;
extern __device__ int ext;
__device__ int MY_INTERNAL_STATE;
template <class T> __device__ T t = T(5);
__device__ cudaTextureObject_t texture;
static __device__ int s;
static __constant__ int cs;
static __managed__ int ms;
__device__ const int k[2] = {1, 2};
__constant__ constexpr int kc[2] = {3, 4};
__shared__ int shared[4];
namespace { __device__ int a; }
template <class T> static __device__ T st = T(5);
template <class T> __device__ const T kt = T(5);
struct Base { __device__ virtual int f(int x) { return x; } __device__ virtual ~Base() {} };
__device__ __host__ inline int in_function() { static int x; return x++; }
}
__global__ void kernel(int* p) {
  using namespace ns;
  static __device__ int local;
  int i = *p & 1;
  Base b;
  Base* pb = &b;
  printf("%d", i);
  assert(i);
  v_shared[i] = shared[i] = v_dynamic[i] = i;
  *p = v_extern + v_shared[1 - i] + v_dynamic[1 - i] + v_c + v_c_static + v_static + v_const[i] + v_anonymous + v + c[i] + m + ext +
       t<int> + (int)texture + s + cs + ms + k[i] + kc[i] + shared[1 - i] + a + st<int> + kt<int> + pb->f(i) + in_function() + local++ +
       MY_INTERNAL_STATE + v_static_template<int>;
}
void use() { kernel<<<1, 1>>>(nullptr); }
)";

TEST(DeepDevicePrivate, WholeProgramCodeHasItsOwnCopies) {
  REQUIRE_NVCC();
  const TempDir dir;
  for (const char* options : {"-c", "-c -G", "-cubin"}) {
    const std::string object = compile_private(dir, kPrivateKinds, options);
    for (const char* target : {"sm_80", "compute_80"}) {
      if (std::string(options) == "-cubin" && std::string(target) != "sm_80") continue;
      EXPECT_THAT(show_private(symbols_of(object, target)),
                  UnorderedElementsAre("_ZN2ns1vE GLOBAL DEF 4 global", "_ZN2ns1cE GLOBAL DEF 12 const",
                                       "_ZN2ns1mE GLOBAL DEF 4 managed", "_ZN2ns3extE GLOBAL DEF 4 global",
                                       "_ZN2ns17MY_INTERNAL_STATEE GLOBAL DEF 4 global",
                                       "_ZN2ns1tIiEE GLOBAL DEF 4 global", "_ZN2ns7textureE GLOBAL DEF 8 global",
                                       // Of these the first two are external, and nothing in the object says so.
                                       "v_extern GLOBAL DEF 4 global ?", "v_c GLOBAL DEF 4 global ?",
                                       "v_c_static GLOBAL DEF 4 global ?", "v_static GLOBAL DEF 4 global ?",
                                       "v_const GLOBAL DEF 8 global ?"))
          << options << " " << target;
    }
  }
}

TEST(DeepDevicePrivate, RelocatableCodeHasNone) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string source =
      "__device__ int v; static __device__ int s; namespace n { __device__ int v; }\n"
      "__global__ void k(int* p) { *p = v + s + n::v; }\n";
  const std::string object = compile_private(dir, source, "-rdc=true -c");
  for (const char* target : {"sm_80", "compute_80"})
    EXPECT_THAT(show_private(symbols_of(object, target)), IsEmpty()) << target;
  // Once linked, they are private to what was linked.
  dir.run("nvcc -arch=sm_80 -dlink a.o -o linked.o");
  EXPECT_THAT(show_private(symbols_of(contents(dir / "linked.o"), "sm_80")),
              UnorderedElementsAre("v GLOBAL DEF 4 global", "_ZN1n1vE GLOBAL DEF 4 global"));
}

// What clang 14 emits (-x cuda --cuda-device-only -S): linkage is kept, names are those of the Itanium C++ ABI.
constexpr const char* kClang = R"(.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 v;
.visible .global .align 4 .u32 _ZN1n2nvE;
.visible .const .align 4 .u32 c;
.weak .global .align 4 .u32 iv;
.weak .global .align 4 .u32 _ZZ6inlineiE2fs;
.global .align 4 .u32 _ZZ4useriE2fs;
.global .align 4 .u32 _ZL2sv;
.global .align 4 .u32 _ZN12_GLOBAL__N_12avE;
.global .align 4 .u32 _ZN1nL3nsvE;
.const .align 4 .b8 _ZL2cc[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.shared .align 4 .u32 sh;
.extern .global .align 4 .u32 elsewhere;
)";

TEST(DevicePrivate, ClangsVariablesArePrivateToo) {
  const auto expected = UnorderedElementsAre("v GLOBAL DEF 4 global", "_ZN1n2nvE GLOBAL DEF 4 global",
                                             "c GLOBAL DEF 4 const", "iv WEAK DEF 4 global");
  const Origin origin{"a.o", {}, "a.o"};
  DeviceImage image;
  image.kind = ImageKind::Ptx;
  image.found_in = DeviceContainer::LinkedFatbin;
  EXPECT_THAT(show_private(read_device_symbols(origin, image, bytes_of(kClang))), expected);
  image.found_in = DeviceContainer::RelocatableFatbin;
  EXPECT_THAT(show_private(read_device_symbols(origin, image, bytes_of(kClang))), IsEmpty());

  if (!have("ptxas")) GTEST_SKIP() << "needs ptxas";
  const TempDir dir;
  std::string ptx(kClang);
  dir.write("a.ptx", ptx.erase(ptx.find(".extern")));
  dir.run("ptxas -arch=sm_80 a.ptx -o a.cubin");
  EXPECT_THAT(show_private(symbols_of(contents(dir / "a.cubin"), "sm_80")), expected);
}

TEST(DevicePrivate, NamesSayTheLinkage) {
  const auto linkage = [](std::string_view name) {
    constexpr const char* kNames[] = {"external", "internal", "ambiguous"};
    return std::string(kNames[static_cast<int>(source_linkage(name))]);
  };
  for (const char* name : {"_ZN2ns1vE", "_Z1tIiE", "_ZN2ns1tIiEE", "_ZN2ns17MY_INTERNAL_STATEE", "_ZN3LLL1LE",
                           "_ZN2ns3L33E", "_ZN1AIiE1xE"})
    EXPECT_EQ(linkage(name), "external") << name;
  for (const char* name : {"_ZN32_INTERNAL_69aebf65_4_k_cu_v_init2ns4s_nsE", "_ZL1s", "_ZN1nL3nsvE",
                           "_ZN12_GLOBAL__N_12avE", "_ZN1a1b1cL1dE", "_ZL1tIiE", "_ZZ1kPiE1s", "_ZTVN2ns1VE",
                           "_ZGVN2ns1vE", "$str", ".nv.x", "__unnamed_1", "__nv_static_18__31cdaf33_4_d_cu_v_sv", ""})
    EXPECT_EQ(linkage(name), "internal") << name;
  EXPECT_EQ(linkage("v"), "ambiguous");
  EXPECT_EQ(linkage("_v"), "ambiguous");
}

TEST(DevicePrivate, HostileNamesEnd) {
  for (const char* name : {"_Z", "_ZN", "_ZN9", "_ZNL", "_ZNL9", "_ZN99999999999999999999999999999999x",
                           "_ZN18446744073709551616L1x", "_ZN4294967296_INTERNAL_", "_INTERNAL_", "_ZN00000000L1xE"})
    source_linkage(name);
  const std::string deep = "_ZN" + std::string(1000000, '1') + "E";
  EXPECT_EQ(source_linkage(deep), SourceLinkage::External);
}

/// A cubin with one symbol; 2 is ET_EXEC.
std::string finished_cubin(const CubinSymbol& symbol) {
  std::string file = cubin({symbol});
  file[16] = 2;
  return file;
}

std::vector<std::string> private_of(const CubinSymbol& symbol) {
  return show_private(symbols_of(finished_cubin(symbol), "sm_80"));
}

TEST(DevicePrivate, LocalsInOddPlaces) {
  constexpr unsigned char kLocalObject = 0x01;
  EXPECT_THAT(private_of({"v", kLocalObject, 0}), ElementsAre("v GLOBAL DEF 4 global ?"));
  EXPECT_THAT(private_of({"_ZN1n1vE", kLocalObject, 4}), ElementsAre("_ZN1n1vE GLOBAL DEF 4 managed"));
  EXPECT_THAT(private_of({"v", kLocalObject, 0, 0xfff1}), IsEmpty()) << "absolute";
  EXPECT_THAT(private_of({"v", kLocalObject, 0, 0}), IsEmpty()) << "undefined";
  EXPECT_THAT(private_of({"v", kLocalObject, 0, 2}), IsEmpty()) << ".strtab";
  EXPECT_THAT(private_of({"v", 0x02, 0}), IsEmpty()) << "a function";
  EXPECT_THAT(private_of({"v", kLocalObject, 0, 1, ~std::uint64_t{0}}),
              ElementsAre("v GLOBAL DEF 18446744073709551615 global ?"));
  EXPECT_THROW(private_of({"v", kLocalObject, 0, 99}), InputError) << "no such section";
  EXPECT_THROW(private_of({"v", kLocalObject, 0, 0xffff}), InputError) << "no section index table";
}

}  // namespace
}  // namespace elfaudit::test
