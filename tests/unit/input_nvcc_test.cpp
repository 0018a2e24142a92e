// nvcc and nvlink commands: reading nvcc's dry run, nvlink's line, and the job that holds both halves of the link.
#include "input/nvcc.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "elfaudit/audit.hpp"
#include "elfaudit/error.hpp"
#include "input/command_words.hpp"
#include "input/link_line.hpp"
#include "support/compile.hpp"
#include "support/working_directory.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using test::WorkingDirectory;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

std::vector<std::string> names(const std::vector<GpuArch>& archs) {
  std::vector<std::string> out;
  for (const GpuArch& arch : archs) out.push_back(arch.name());
  return out;
}

/// The inputs of the device link as the line spells them, in nvlink's order; "+" before those the host link lacks.
std::vector<std::string> device_order(const LinkJob& job) {
  std::vector<std::string> out;
  for (const std::uint32_t i : job.device.value().order)
    out.push_back((job.inputs[i].device_only ? "+" : "") + job.inputs[i].spelled);
  return out;
}

std::vector<std::string> missing(const LinkJob& job) {
  std::vector<std::string> out;
  for (const InputError& error : job.missing) out.push_back(error.path + ": " + error.what());
  return out;
}

std::vector<std::string> rules(const Audit& result) {
  std::vector<std::string> out;
  for (const Finding& finding : result.findings) out.push_back(finding.rule + " " + finding.symbol);
  return out;
}

std::string usage_error(const std::vector<std::string>& command) {
  try {
    job_from_command(command);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kTwoArchs = R"(#$ _SPACE_= 
#$ TOP=/opt/kit/bin/..
#$ LIBRARIES=  "-L/opt/kit/lib/stubs" "-L/opt/kit/lib"
#$ PTXAS_FLAGS=
#$ nvlink -m64 --arch=sm_80 --register-link-binaries="/tmp/x-3_out_dlink.reg.c"  -L"my libs" -lfoo   "-L/opt/kit/lib/stubs" "-L/opt/kit/lib" -cpu-arch=X86_64 -report-arch "a b.o" "b.o"  -lcudadevrt  -o "/tmp/x-5_out_dlink.compute_80.cubin" --host-ccbin "gcc"
#$ nvlink -m64 --arch=sm_90a --register-link-binaries="/tmp/x-3_out_dlink.reg.c"  -L"my libs" -lfoo   "-L/opt/kit/lib/stubs" "-L/opt/kit/lib" -cpu-arch=X86_64 -report-arch "a b.o" "b.o"  -lcudadevrt  -o "/tmp/x-6_out_dlink.compute_90a.cubin" --host-ccbin "gcc"
#$ fatbinary -64 -link "--image3=kind=elf,sm=80,file=/tmp/x-5_out_dlink.compute_80.cubin" --embedded-fatbin="/tmp/x-4_out_dlink.fatbin.c" 
#$ rm /tmp/x-4_out_dlink.fatbin
#$ gcc -c -x c++ -DFATBINFILE="\"/tmp/x-4_out_dlink.fatbin.c\"" -I. "/opt/kit/bin/crt/link.stub" -o "/tmp/x-7_out_dlink.o" 
#$ "/opt/gcc 12/bin"/g++ -m64 -Wl,--start-group "/tmp/x-7_out_dlink.o" "a b.o" "b.o" -shared -L"my libs" -lfoo   "-L/opt/kit/lib/stubs" "-L/opt/kit/lib"  -lcudadevrt  -lcudart_static  -Wl,--end-group -o "out" 
)";

TEST(NvccDryRun, TwoArchitecturesAndTheHostLink) {
  const NvccLink link = parse_nvcc_dry_run(kTwoArchs);
  ASSERT_EQ(link.device.size(), 2U);
  EXPECT_THAT(names(link.device[0].archs), ElementsAre("sm_80"));
  EXPECT_THAT(names(link.device[1].archs), ElementsAre("sm_90a"));
  EXPECT_THAT(link.device[0].files, ElementsAre("a b.o", "b.o"));
  EXPECT_THAT(link.device[0].libraries, ElementsAre("foo", "cudadevrt"));
  EXPECT_THAT(link.device[0].dirs, ElementsAre("my libs", "/opt/kit/lib/stubs", "/opt/kit/lib"));
  EXPECT_THAT(link.device[0].options_not_understood, IsEmpty());
  EXPECT_THAT(link.own_dirs, ElementsAre("/opt/kit/lib/stubs", "/opt/kit/lib"));
  EXPECT_EQ(link.device_object, "/tmp/x-7_out_dlink.o");
  EXPECT_THAT(link.host, ElementsAre("/opt/gcc 12/bin/g++", "-m64", "-Wl,--start-group", "a b.o", "b.o", "-shared",
                                     "-Lmy libs", "-lfoo", "-L/opt/kit/lib/stubs", "-L/opt/kit/lib", "-lcudadevrt",
                                     "-lcudart_static", "-Wl,--end-group", "-o", "out"));
}

TEST(NvccDryRun, ObjectsItWouldCompileAreTracedToTheirSources) {
  const NvccLink link =
      parse_nvcc_dry_run(R"(#$ gcc -E -x c++ -include "cuda_runtime.h" -m64 "a.cu" -o "/tmp/x-5_a.cpp4.ii" 
#$ cudafe++ --m64 --gen_c_file_name "/tmp/x-6_a.cudafe1.cpp" --gen_module_id_file "/tmp/x-5_a.cpp4.ii" 
#$ gcc -c -x c++ -m64 "/tmp/x-6_a.cudafe1.cpp" -o "/tmp/x-11_a.o" 
#$ gcc -c -x c++ -m64 "c.cpp" -o "/tmp/x-12_c.o" 
#$ nvlink -m64 --arch=sm_90 "/tmp/x-11_a.o" "/tmp/x-12_c.o"  -lcudadevrt  -o "/tmp/x-14_a_dlink.cubin"
)");
  EXPECT_THAT(link.not_built, AllOf(Contains(Pair("/tmp/x-11_a.o", "a.cu")), Contains(Pair("/tmp/x-12_c.o", "c.cpp"))));
}

TEST(NvccDryRun, OtherTalkIsNoCommand) {
  const NvccLink link = parse_nvcc_dry_run("nvcc warning : nvlink a.o\n#$ rm x\n#$ \n#$");
  EXPECT_THAT(link.device, IsEmpty());
  EXPECT_THAT(link.host, IsEmpty());
  EXPECT_TRUE(parse_nvcc_dry_run("#$ \"`gcc -print-prog-name=ar`\" cr \"l.a\" \"a.o\"\n").archive);
}

TEST(NvlinkLine, ValuesOfOptionsAreNoInputs) {
  const NvlinkLine line = read_nvlink_words(split_response(
      "-arch sm_80 a.o --arch=sm_90a -L d1,d2 -Ld3 --library-path=d4 -lx,y --library z -l=w -lto -m64 -m 64 -cpu-arch "
      "X86_64 -Xptxas -v -maxrregcount 32 -kernels-used k -o out.cubin --host-ccbin gcc -Werror b.o --new-thing"));
  EXPECT_THAT(line.files, ElementsAre("a.o", "b.o"));
  EXPECT_THAT(line.dirs, ElementsAre("d1", "d2", "d3", "d4"));
  EXPECT_THAT(line.libraries, ElementsAre("x", "y", "z", "w"));
  EXPECT_THAT(names(line.archs), ElementsAre("sm_90a"));
  EXPECT_EQ(line.output, "out.cubin");
  EXPECT_TRUE(line.lto);
  EXPECT_THAT(line.options_not_understood, ElementsAre("--new-thing"));
  EXPECT_THROW(read_nvlink_words({"-arch=volta", "a.o"}), UsageError);
  EXPECT_THROW(read_nvlink_words({"--version"}), UsageError);
}

TEST(NvlinkLine, OptionFilesAreReadInPlace) {
  const TempDir dir;
  const WorkingDirectory here(dir.path());
  dir.write("inner", "-lx 'c d.o'");
  dir.write("outer", "b.o\n--options-file=inner\n");
  dir.write("loop", "-optf loop");
  const NvlinkLine line = read_nvlink_words({"a.o", "-optf", "outer", "e.o"});
  EXPECT_THAT(line.files, ElementsAre("a.o", "b.o", "c d.o", "e.o"));
  EXPECT_THAT(line.libraries, ElementsAre("x"));
  EXPECT_THROW(read_nvlink_words({"-optf", "loop"}), UsageError);
  EXPECT_THROW(read_nvlink_words({"-optf", "nothere"}), UsageError);
}

class DeviceJob : public testing::Test {
 protected:
  void SetUp() override {
    dir_.object("a.o", "int b(void); int main(void) { return b(); }", "gcc");
    dir_.object("b.o", "int b(void) { return 0; }", "gcc");
    dir_.run("ar rc libb.a b.o && mkdir one two && cp libb.a one && cp libb.a two && ln -s libb.a again.a");
  }

  LinkJob job(const std::string& command) {
    const WorkingDirectory here(dir_.path());
    return job_from_command(split_response(command));
  }

  TempDir dir_;
};

TEST_F(DeviceJob, NvlinkTakesFilesThenLibrariesAndArchivesOnce) {
  const LinkJob found = job("nvlink -arch=sm_90 -Lone -lb -lnope -Ltwo libb.a a.o again.a a.o -o x.cubin");
  EXPECT_THAT(device_order(found), ElementsAre("+libb.a", "+a.o", "+a.o", "+-lb"));
  EXPECT_EQ(found.inputs[found.device->order.back()].path, "one/libb.a");
  EXPECT_THAT(found.device->ignored_libraries, ElementsAre("-lnope"));
  EXPECT_THAT(found.library_dirs, ElementsAre("one", "two"));
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_FALSE(found.device_linked);
  EXPECT_EQ(found.output_path, "x.cubin");
}

TEST_F(DeviceJob, NvlinkSearchesLibraryPathLast) {
  EXPECT_THAT(device_order(job("env LIBRARY_PATH=nothere:two nvlink -arch=sm_90 a.o -lb")),
              ElementsAre("+a.o", "+-lb"));
  EXPECT_EQ(job("env LIBRARY_PATH=two nvlink -arch=sm_90 -Lone -lb").inputs[0].path, "one/libb.a");
}

TEST_F(DeviceJob, NvlinkRefusesWhatItCannotOpen) {
  dir_.write("script.a", "GROUP ( b.o )");
  dir_.run("cp b.o noname && cp b.o named.so");
  const LinkJob found = job("nvlink -arch=sm_90 a.o nothere.o script.a noname named.so");
  EXPECT_THAT(missing(found),
              ElementsAre("nothere.o: no such file", "script.a: not an object or archive: nvlink cannot open it"));
  EXPECT_THAT(device_order(found), ElementsAre("+a.o"));  // these two it passes over by their names
}

TEST_F(DeviceJob, PlainFilesTakePartInBothLinks) {
  const WorkingDirectory here(dir_.path());
  LinkJob found = job_from_files({"libb.a", "a.o", "a.o", "again.a"});
  EXPECT_EQ(found.inputs.size(), 4U);
  EXPECT_THAT(device_order(found), ElementsAre("libb.a", "a.o", "a.o"));
  EXPECT_THAT(found.device->archs, IsEmpty());
  choose_device_archs(found, {"sm_90a", "compute_100f", "sm_90a"});
  EXPECT_THAT(names(found.device->archs), ElementsAre("sm_90a", "compute_100f"));
  EXPECT_THROW(choose_device_archs(found, {"foo"}), UsageError);
}

TEST_F(DeviceJob, HostCommandsMakeNoDeviceLink) {
  LinkJob found = job("gcc a.o -Lone -L two -lb");
  EXPECT_FALSE(found.device);
  EXPECT_THAT(found.library_dirs, ElementsAre("one", "two"));
  choose_device_archs(found, {"sm_90"});
  EXPECT_THAT(found.notes, Contains(HasSubstr("makes no device link")));
}

TEST_F(DeviceJob, WithoutNvccItsWordsAreRead) {
  const LinkJob found = job(
      "/nowhere/nvcc -gencode arch=compute_80,code=[sm_80,compute_80] --generate-code=arch=compute_90a,code=sm_90a "
      "-std c++17 -ccbin g++ -Xcompiler -fPIC -rdc=true -lineinfo -shared a.o -Lone -lb -Xlinker -z,defs -o 'x y.so'");
  EXPECT_THAT(device_order(found), ElementsAre("a.o", "-lb"));
  EXPECT_THAT(names(found.device->archs), ElementsAre("sm_80", "sm_90a"));
  EXPECT_EQ(found.output, OutputKind::SharedObject);
  EXPECT_EQ(found.output_path, "x y.so");
  EXPECT_FALSE(found.scope.whole_line);
  EXPECT_TRUE(found.device_linked);
  EXPECT_THAT(found.notes, Contains(HasSubstr("/nowhere/nvcc could not be asked")));
  EXPECT_THAT(missing(found), IsEmpty());
  EXPECT_THAT(device_order(job("env A=b /nowhere/nvcc -dlink -arch sm_90 a.o b.o")), ElementsAre("+a.o", "+b.o"));
  EXPECT_THAT(missing(job("/nowhere/nvcc x.cu a.o")), ElementsAre(HasSubstr("x.cu: would be compiled")));
}

TEST_F(DeviceJob, WhatLinksNothingIsRefused) {
  EXPECT_THAT(usage_error({"/nowhere/nvcc", "-dc", "x.cu"}), HasSubstr("does not link"));
  EXPECT_THAT(usage_error({"/nowhere/nvcc", "-lib", "a.o", "-o", "x.a"}), HasSubstr("makes an archive"));
}

/// Commands put to the nvcc that is installed, and held against what it does.
class DeepRealNvcc : public DeviceJob {
 protected:
  void SetUp() override {
    if (!test::have("nvcc")) GTEST_SKIP() << "needs nvcc";
    dir_.write("use.cu",
               "extern __device__ int dv; extern __device__ int f(int);\n"
               "__global__ void k(int* p) { *p = f(dv); }\nint main() { k<<<1, 1>>>(nullptr); return 0; }\n");
    dir_.write("def.cu", "__device__ int dv = 3; __device__ int f(int x) { return x + 1; }\n");
    compile("use.cu def.cu");
    dir_.run("ar rc libdef.a def.o && mkdir 'my libs'");
  }

  void compile(const std::string& sources) { dir_.run("nvcc -arch=sm_90a -dc -Xcompiler -fPIC " + sources); }

  /// Nothing on the host refers to what is in it.
  void make_library() {
    dir_.write("lib.cu", "__device__ int in_library = 1; int host_twice = 2;\n");
    compile("lib.cu");
    dir_.run("ar rc 'my libs/liblib.a' lib.o");
  }

  Audit result(const std::string& command) {
    const WorkingDirectory here(dir_.path());
    return audit(job_from_command(split_response(command)));
  }
};

TEST_F(DeepRealNvcc, WorkingLinksAreClean) {
  make_library();
  dir_.write("launch.cu",
             "__global__ void g() {} __global__ void h() { g<<<1, 1>>>(); } int main() { h<<<1, 1>>>(); }\n");
  compile("launch.cu");
  for (const std::string command :
       {"nvcc -arch=sm_90a use.o def.o -o app", "nvcc -arch=sm_90a -shared use.o libdef.a -o app.so",
        "nvcc -gencode arch=compute_90a,code=sm_90a use.o -L. -ldef -L 'my libs' -llib -cudart shared -o 'my app'",
        "nvcc -arch=sm_90a launch.o -o app", "nvcc -arch=sm_90a -dlink use.o def.o -o dlink.o",
        "nvlink -arch=sm_90a use.o libdef.a -o app.cubin"}) {
    dir_.run(command);
    const Audit found = result(command);
    EXPECT_THAT(rules(found), IsEmpty()) << command;
    EXPECT_EQ(exit_code(found), 0) << command;
    EXPECT_THAT(found.job.notes, IsEmpty()) << command;
  }
}

TEST_F(DeepRealNvcc, DeviceAndHostLinkAsTwoCommands) {
  const std::string device =
      "nvcc use.o def.o -o dlink.o -dlink -gencode arch=compute_90a,code=sm_90a -lcudadevrt -Xcompiler -fPIC";
  dir_.run(device);
  EXPECT_THAT(rules(result(device)), IsEmpty());
  const std::string cudart = " -L \"$(dirname $(dirname $(command -v nvcc)))/lib64\" -lcudart -o x.so";
  const std::string host = dir_.run("echo c++ use.o def.o dlink.o -shared" + cudart);
  EXPECT_THAT(rules(result(host)), IsEmpty());
  EXPECT_THAT(rules(result(dir_.run("echo c++ use.o def.o -shared -Wl,-z,defs" + cudart))),
              Contains(HasSubstr("device-link-missing")));
}

TEST_F(DeepRealNvcc, BothHalvesAreOneJob) {
  make_library();
  const LinkJob found = job("nvcc -arch=sm_90a use.o def.o def.o -L. -ldef -L 'my libs' -llib -lm -lrt -o 'my app'");
  EXPECT_THAT(device_order(found), testing::IsSupersetOf({"use.o", "def.o", "def.o", "-ldef", "-llib"}));
  EXPECT_THAT(names(found.device->archs), ElementsAre("sm_90a"));
  EXPECT_THAT(found.device->ignored_libraries, Contains("-lm"));
  EXPECT_THAT(found.library_dirs, ElementsAre(".", "my libs"));
  EXPECT_EQ(found.output_path, "my app");
  EXPECT_TRUE(found.scope.whole_line && found.device_linked);
  for (const LinkInput& input : found.inputs) EXPECT_THAT(input.path, Not(HasSubstr("dlink.o")));

  const LinkJob device = job("nvcc -arch=sm_90a -dlink use.o def.o");
  for (const LinkInput& input : device.inputs) EXPECT_TRUE(input.device_only) << input.path;
  EXPECT_FALSE(device.device_linked);
}

TEST_F(DeepRealNvcc, OptionsOfTheDeviceLink) {
  const LinkJob found =
      job("nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a use.o def.o");
  EXPECT_THAT(names(found.device->archs), ElementsAre("sm_80", "sm_90a"));
  EXPECT_FALSE(found.device->lto);
  EXPECT_TRUE(job("nvcc -arch=sm_90a -dlto use.o def.o").device->lto);
  dir_.run("mv use.o 'use it.o'");
  dir_.write("words", "-arch=sm_90a \"use it.o\" libdef.a");
  EXPECT_THAT(device_order(job("nvcc -optf words -o app")), testing::IsSupersetOf({"use it.o", "libdef.a"}));
}

TEST_F(DeepRealNvcc, TheDeviceLinkPullsMembersIntoTheHostLink) {
  make_library();
  dir_.object("host.o", "int host_twice = 1;");
  const std::string command = "nvcc -arch=sm_90a use.o def.o host.o 'my libs/liblib.a' -o app";
  EXPECT_THAT(dir_.run("! " + command), HasSubstr("multiple definition of `host_twice'"));
  EXPECT_THAT(rules(result(command)), ElementsAre("duplicate-definition host_twice"));
  // Linked by the host compiler alone, nothing asks for that member.
  dir_.run("nvcc -arch=sm_90a -dlink use.o def.o -o dlink.o");
  EXPECT_THAT(rules(result("g++ use.o def.o host.o dlink.o 'my libs/liblib.a'")),
              Not(Contains(HasSubstr("host_twice"))));
}

TEST_F(DeepRealNvcc, WhatTheCommandCompilesIsNamed) {
  dir_.write("host.cpp", "");
  for (const char* command : {"nvcc -rdc=true -arch=sm_90a use.cu def.o", "nvcc -arch=sm_90a -dlink use.cu def.o",
                              "nvcc -arch=sm_90a host.cpp use.o def.o"}) {
    EXPECT_THAT(missing(job(command)), ElementsAre(HasSubstr("would be compiled by this command"))) << command;
  }
  if (test::have("clang++")) {
    EXPECT_THAT(missing(job("nvcc -ccbin clang++ -arch=sm_90a use.cu def.o")),
                ElementsAre(HasSubstr("use.cu: would be compiled")));
  }
}

TEST_F(DeepRealNvcc, ComplaintsAreNvccsOwn) {
  const WorkingDirectory here(dir_.path());
  EXPECT_THAT(usage_error({"nvcc", "-foo", "use.o"}), HasSubstr("nvcc refuses this command: Unknown option '-foo'"));
  EXPECT_THAT(usage_error({"nvcc", "-dc", "use.cu"}), HasSubstr("does not link"));
  EXPECT_THAT(usage_error({"nvcc", "--version"}), HasSubstr("does not link"));
  EXPECT_THAT(usage_error({"nvcc", "-lib", "use.o", "-o", "l.a"}), HasSubstr("makes an archive"));
  EXPECT_THAT(missing(job("nvcc -arch=sm_90a use.o nothere.o")), ElementsAre("nothere.o: no such file"));
}

}  // namespace
}  // namespace elfaudit
