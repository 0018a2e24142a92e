// What nvcc really writes, in every mode, and that the readers agree with ptxas and nvlink about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/compile.hpp"
#include "support/device.hpp"
#include "support/file.hpp"

namespace elfaudit::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Before 13.0 the defaults for compression and the options were others.
#define REQUIRE_NVCC()                                                                         \
  if (!have("nvcc") || std::system("nvcc --version | grep -Eq 'release (1[3-9]|[2-9][0-9])'")) \
  GTEST_SKIP() << "needs nvcc 13 or later"

constexpr const char* kBasic = R"(
__device__ int table[4] = {1, 2, 3, 4};
__device__ __noinline__ int f(int x) { return table[x & 3]; }
__global__ void kernel(int* p) { *p = f(*p); }
)";

std::string compile_cuda(const TempDir& dir, const std::string& name, const std::string& source,
                         const std::string& options) {
  const std::string input = name.substr(0, name.rfind('.')) + ".cu";
  dir.write(input, source);
  dir.run("nvcc -w -std=c++17 " + options + " " + input + " -o " + name);
  return contents(dir / name);
}

std::string show_storage(const DeviceImage& image) {
  constexpr const char* kNames[] = {"plain", "lz4", "zstd"};
  return image.target() + " " + kNames[static_cast<int>(image.compression)];
}

std::vector<std::string> storage(std::string_view object) {
  std::vector<std::string> lines;
  for (const DeviceImage& image : device_facts(object).images) lines.push_back(show_storage(image));
  return lines;
}

TEST(DeepDeviceNvcc, EveryModeHasItsImages) {
  REQUIRE_NVCC();
  const TempDir dir;
  const auto images = [&](const std::string& options) {
    return storage(compile_cuda(dir, "a.o", kBasic, "-c " + options));
  };
  EXPECT_THAT(images("-arch=sm_80"), UnorderedElementsAre("sm_80 plain", "compute_80 zstd"));
  EXPECT_THAT(images("-rdc=true -arch=sm_80"), UnorderedElementsAre("sm_80 zstd", "compute_80 zstd"));
  EXPECT_THAT(images("-rdc=true -gencode arch=compute_90a,code=sm_90a"), UnorderedElementsAre("sm_90a zstd"));
  EXPECT_THAT(images("-rdc=true -gencode arch=compute_100,code=compute_100"), UnorderedElementsAre("compute_100 zstd"));
  EXPECT_THAT(images("-rdc=true -gencode arch=compute_75,code=sm_75 -gencode arch=compute_100f,code=sm_100f "
                     "-gencode arch=compute_120a,code=[sm_120a,compute_120a]"),
              UnorderedElementsAre("sm_75 zstd", "sm_100f zstd", "sm_120a zstd", "compute_120a zstd"));
  EXPECT_THAT(images("-dlto -arch=sm_90"), UnorderedElementsAre("compute_90 zstd", "lto_90 zstd"));
  EXPECT_THAT(images("-rdc=true -gencode arch=compute_90,code=lto_90"), UnorderedElementsAre("lto_90 zstd"));
}

TEST(DeepDeviceNvcc, EveryWayToCompressIsRead) {
  REQUIRE_NVCC();
  const TempDir dir;
  for (const auto& [options, storage_word] : {std::pair{"--compress-mode=size", "zstd"},
                                              {"--compress-mode=speed", "lz4"},
                                              {"--compress-mode=none", "plain"},
                                              {"-Xfatbin -compress=false", "plain"}}) {
    const std::string object = compile_cuda(dir, "a.o", kBasic, std::string("-c -rdc=true -arch=sm_80 ") + options);
    EXPECT_THAT(storage(object),
                UnorderedElementsAre(std::string("sm_80 ") + storage_word, std::string("compute_80 ") + storage_word));
    EXPECT_THAT(show(symbols_of(object, "sm_80")),
                UnorderedElementsAre("table GLOBAL DEF 16 global", "_Z1fi GLOBAL DEF function #ii",
                                     "_Z6kernelPi GLOBAL DEF kernel"));
    EXPECT_THAT(show(symbols_of(object, "compute_80")),
                UnorderedElementsAre("table GLOBAL DEF 16 global", "_Z1fi GLOBAL DEF function #ii",
                                     "_Z6kernelPi GLOBAL DEF kernel"));
  }
}

TEST(DeviceNvcc, DebugImagesNameTheirSource) {
  REQUIRE_NVCC();
  const TempDir dir;
  const DeviceFacts facts = device_facts(compile_cuda(dir, "a.o", kBasic, "-c -rdc=true -G -arch=sm_80"));
  ASSERT_EQ(facts.images.size(), 2U);
  EXPECT_TRUE(facts.images[0].debug);
  EXPECT_EQ(facts.images[0].identifier, "a.cu");
  for (const DeviceImage& image : facts.images)
    EXPECT_EQ(image.options.find("--compile-only") != std::string::npos, image.kind == ImageKind::Ptx);
}

TEST(DeviceNvcc, SectionsSayWhatADeviceLinkReads) {
  REQUIRE_NVCC();
  const TempDir dir;
  compile_cuda(dir, "a.o", kBasic, "-dc -arch=sm_80");
  dir.run("nvcc -arch=sm_80 -dlink a.o -o linked.o && ld -r a.o a.o -z muldefs -o twice.o");
  const DeviceFacts linked = device_facts(contents(dir / "linked.o"));
  ASSERT_EQ(linked.images.size(), 1U);
  EXPECT_EQ(linked.images[0].found_in, DeviceContainer::LinkedFatbin);
  EXPECT_TRUE(linked.registered);
  EXPECT_FALSE(symbols_of(contents(dir / "linked.o"), "sm_80").relocatable);
  EXPECT_TRUE(symbols_of(contents(dir / "a.o"), "sm_80").relocatable);
  const DeviceFacts twice = device_facts(contents(dir / "twice.o"));
  EXPECT_EQ(twice.containers, 2U);
  EXPECT_EQ(twice.images.at(2).container, 1U);
}

TEST(DeepDeviceNvcc, CubinFilesSayTheirArchitecture) {
  REQUIRE_NVCC();
  const TempDir dir;
  for (const char* arch : {"sm_80", "sm_90a", "sm_100", "sm_100f"}) {
    const std::string file = compile_cuda(dir, "a.cubin", kBasic, std::string("-rdc=true -cubin -arch=") + arch);
    EXPECT_THAT(show(device_facts(file)), ElementsAre(arch));
    EXPECT_THAT(symbols_of(file, arch).toolkit, HasSubstr("."));
  }
}

// Each kind of declaration that makes a device symbol, or none.
constexpr const char* kKinds = R"(
__device__ int v_init = 42;
__device__ int v_zero;
__constant__ int v_const[3];
__managed__ int v_managed = 11;
__device__ const int v_cpp_const = 77;
static __device__ int v_static = 1;
namespace { __device__ int v_anonymous = 3; }
namespace ns { __device__ double v_in_namespace; }
inline __device__ int v_inline = 3;
template <class T> __device__ T v_template = T(5);
extern __device__ int v_extern;
extern __device__ int v_extern_unused;
extern __constant__ int v_extern_const;
extern __shared__ int v_dynamic[];
__shared__ int v_shared[16];
__device__ cudaTextureObject_t v_texture;
__device__ __noinline__ int f(int x) { return x + 1; }
static __device__ __noinline__ int f_static(int x) { return x + v_static; }
inline __device__ __noinline__ int f_inline(int x) { return x + 3; }
template <class T> __device__ __noinline__ T f_template(T x) { return x + 4; }
extern "C" __device__ float f_extern(float, struct S*);
extern __device__ int f_extern_unused(int);
__device__ __noinline__ int f_pointer(int x) { return x + 5; }
__device__ int (*v_pointer)(int) = f_pointer;
template <class T> __global__ void k_template(T* p) { *p = f_template<T>(*p); }
template __global__ void k_template<float>(float*);
static __global__ void k_static(int* p) { *p = 1; }
__global__ void k(int* p) {
  *p = v_init + v_zero + v_const[*p] + v_managed + v_cpp_const + v_static + v_anonymous + (int)ns::v_in_namespace +
       v_inline + v_template<int> + v_extern + v_extern_const + v_dynamic[*p] + v_shared[*p] + (int)v_texture + f(*p) +
       f_static(*p) + f_inline(*p) + f_template(*p) + (int)f_extern(1, nullptr) + v_pointer(*p);
}
void use() { k<<<1, 1>>>(nullptr); k_static<<<1, 1>>>(nullptr); }
)";

TEST(DeviceNvcc, EveryKindOfDeclarationHasItsSymbol) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string object = compile_cuda(dir, "a.o", kKinds, "-c -rdc=true -arch=sm_80");
  for (const char* target : {"sm_80", "compute_80"})
    EXPECT_THAT(show(symbols_of(object, target)),
                UnorderedElementsAre(
                    "v_init GLOBAL DEF 4 global", "v_zero GLOBAL DEF 4 global", "v_const GLOBAL DEF 12 const",
                    "v_managed GLOBAL DEF 4 managed", "_ZN2ns14v_in_namespaceE GLOBAL DEF 8 global",
                    "v_inline WEAK DEF 4 global", "_Z10v_templateIiE WEAK DEF 4 global", "v_extern GLOBAL UND 4 global",
                    "v_extern_const GLOBAL UND 4 const", "v_dynamic GLOBAL UND 0 shared",
                    "v_shared GLOBAL DEF 64 shared", "v_texture GLOBAL DEF 8 global", "v_pointer GLOBAL DEF 8 global",
                    "_Z1fi GLOBAL DEF function #ii", "_Z8f_inlinei WEAK DEF function #ii",
                    "_Z10f_templateIiET_S0_ WEAK DEF function #ii", "_Z10f_templateIfET_S0_ WEAK DEF function #ii",
                    "f_extern GLOBAL UND function #iil", "_Z9f_pointeri GLOBAL DEF function #ii address",
                    "_Z10k_templateIfEvPT_ WEAK DEF kernel", "_Z1kPi GLOBAL DEF kernel"))
        << target;
}

TEST(DeepDeviceNvcc, SharedObjectsKeepBothSections) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string library = compile_cuda(dir, "liba.so", kBasic, "-rdc=true -arch=sm_80 -shared -Xcompiler -fPIC");
  const DeviceFacts facts = device_facts(library, "liba.so");
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_EQ(facts.containers, 1U);
  EXPECT_GE(facts.linked_containers, 1U);
}

/// Did nvlink accept the two? Otherwise its words.
std::string device_link(const TempDir& dir, const std::string& inputs) {
  return dir.run("nvlink -arch=sm_80 " + inputs + " -o out.cubin || true");
}

std::string prototype(std::string_view object, std::string_view name) {
  const DeviceSymbols image = symbols_of(object, "sm_80");
  for (const DeviceSymbol& symbol : image.symbols)
    if (image.name(symbol) == name) return show(image, symbol);
  return "no such symbol";
}

TEST(DeepDeviceNvcc, PrototypesDifferWhereNvlinkSaysSo) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string defined = compile_cuda(
      dir, "defined.o", R"(extern "C" __device__ __noinline__ int f(int x) { return x; })", "-c -rdc=true -arch=sm_80");
  const std::string other = compile_cuda(
      dir, "other.o", R"(extern "C" __device__ double f(int); __global__ void k(double* p) { *p = f(1); })",
      "-c -rdc=true -arch=sm_80");
  const std::string same_size = compile_cuda(
      dir, "same_size.o", R"(extern "C" __device__ float f(float); __global__ void k(float* p) { *p = f(1); })",
      "-c -rdc=true -arch=sm_80");
  EXPECT_EQ(prototype(defined, "f"), "f GLOBAL DEF function #ii");
  EXPECT_EQ(prototype(other, "f"), "f GLOBAL UND function #li");
  EXPECT_EQ(prototype(same_size, "f"), "f GLOBAL UND function #ii");
  EXPECT_THAT(device_link(dir, "defined.o other.o"), HasSubstr("Prototype doesn't match for 'f' in 'other.o'"));
  EXPECT_THAT(device_link(dir, "other.o defined.o"), HasSubstr("Prototype doesn't match"));
  EXPECT_THAT(device_link(dir, "defined.o same_size.o"), Not(HasSubstr("error")));
}

TEST(DeepDeviceNvcc, PrototypesOfFunctionsWhoseAddressIsTakenBindLaterInputsOnly) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string taken = compile_cuda(
      dir, "taken.o", R"(extern "C" __device__ __noinline__ int f(int x) { return x; } __device__ int (*p)(int) = f;)",
      "-c -rdc=true -arch=sm_80");
  compile_cuda(dir, "other.o", R"(extern "C" __device__ double f(int); __global__ void k(double* p) { *p = f(1); })",
               "-c -rdc=true -arch=sm_80");
  EXPECT_EQ(prototype(taken, "f"), "f GLOBAL DEF function #ii address");
  EXPECT_THAT(device_link(dir, "taken.o other.o"), HasSubstr("Prototype doesn't match for 'f' in 'other.o'"));
  EXPECT_THAT(device_link(dir, "other.o taken.o"), Not(HasSubstr("error")));
  // It replaces what was known: "other.o" agreed with itself, but its like doesn't agree with "taken.o".
  compile_cuda(dir, "third.o", R"(extern "C" __device__ double f(int); __global__ void l(double* p) { *p = f(1); })",
               "-c -rdc=true -arch=sm_80");
  EXPECT_THAT(device_link(dir, "other.o taken.o third.o"), HasSubstr("Prototype doesn't match for 'f' in 'third.o'"));
}

TEST(DeepDeviceNvcc, NvlinkReadsTheFirstContainerOfAll) {
  REQUIRE_NVCC();
  const TempDir dir;
  compile_cuda(dir, "v.o", "__device__ int v;", "-c -rdc=true -arch=sm_80");
  compile_cuda(dir, "w.o", "__device__ int w;", "-c -rdc=true -arch=sm_80");
  dir.run("ld -r v.o w.o -o joined.o && ld -r --unique=__nv_relfatbin v.o w.o -o apart.o");
  EXPECT_EQ(device_facts(contents(dir / "joined.o")).images.back().container, 1U);
  EXPECT_EQ(device_facts(contents(dir / "apart.o")).images.back().container, 1U);
  for (const std::string object : {"joined.o", "apart.o"}) {
    EXPECT_THAT(device_link(dir, object + " v.o"), HasSubstr("Multiple definition of 'v'"));
    EXPECT_THAT(device_link(dir, object + " w.o"), Not(HasSubstr("error")));
  }
}

/// A library of the toolkit that nvcc belongs to; empty when it isn't there.
std::string toolkit_library(const TempDir& dir, const std::string& name) {
  const std::string nvcc = dir.run("readlink -f \"$(command -v nvcc)\" | tr -d '\\n'");
  const std::filesystem::path root = std::filesystem::path(nvcc).parent_path().parent_path();
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
    if (std::filesystem::exists(root / folder / name)) return root / folder / name;
  return {};
}

TEST(DeviceNvcc, TheToolkitsOwnCodeIsReadWhole) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string library = toolkit_library(dir, "libcudadevrt.a");
  if (library.empty()) GTEST_SKIP() << "needs libcudadevrt.a";
  dir.run("ar x " + library);
  const std::string object = contents(dir / "cuda_device_runtime.o");
  const DeviceFacts facts = device_facts(object);
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_EQ(facts.containers, 1U);
  ASSERT_FALSE(facts.images.empty());
  for (const DeviceImage& image : facts.images)
    EXPECT_THAT(show(symbols_of(object, image.target())),
                AllOf(Contains("__cudaCDP2LaunchDeviceV2_ptsz GLOBAL DEF function #ill"),
                      Contains("__cuda_syscall_cnpv2LaunchDevice GLOBAL UND function #illllil")));
}

TEST(DeviceNvcc, ABigLibraryIsListedWithoutReadingItsCode) {
  REQUIRE_NVCC();
  const TempDir dir;
  const std::string path = toolkit_library(dir, "libcublasLt.so");
  if (path.empty()) GTEST_SKIP() << "needs libcublasLt.so";
  const MappedFile file(path);
  const DeviceFacts facts = read_device_facts({path, {}, path}, file.bytes());
  EXPECT_THAT(facts.errors, IsEmpty());
  EXPECT_GT(facts.linked_containers, 1000U);
  EXPECT_GT(facts.images.size(), facts.linked_containers);
}

}  // namespace
}  // namespace elfaudit::test
