#include "input/build/compile_command.hpp"

#include <gmock/gmock.h>

#include "input/command_words.hpp"
#include "support/compile.hpp"

namespace elfaudit {
namespace {

using test::TempDir;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CompileCommand parse(const std::string& line, const std::string& folder = {}) {
  const auto shell = parse_shell_line(line);
  EXPECT_TRUE(shell && !shell->empty()) << line;
  const auto command = parse_compile_command(shell->front().words, folder);
  EXPECT_TRUE(command) << line;
  return command.value_or(CompileCommand());
}

std::string macros(const CompileCommand& command) {
  std::string out;
  for (const MacroOption& macro : command.macros) out += (macro.undefine ? "-U " : "-D ") + macro.text + "; ";
  return out;
}

std::string include_dirs(const CompileCommand& command) {
  std::string out;
  for (const IncludeDir& dir : command.include_dirs) out += dir.path + " ";
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(BuildShellWords, AreSplitAsAShellDoes) {
  const auto words = [](std::string_view line) { return parse_shell_line(line)->front().words; };
  EXPECT_THAT(words(R"(g++ '-DA="x y"' -DB=\"z\" "a b".cpp c\ d.cpp)"),
              ElementsAre("g++", "-DA=\"x y\"", "-DB=\"z\"", "a b.cpp", "c d.cpp"));
  // How PyTorch's ninja files quote nvcc's options.
  EXPECT_THAT(words(R"(nvcc --compiler-options ''"'"'-fPIC'"'"'' -c a.cu)"),
              ElementsAre("nvcc", "--compiler-options", "'-fPIC'", "-c", "a.cu"));
  EXPECT_THAT(words("cc -c a.c > log 2>&1 < in # done"), ElementsAre("cc", "-c", "a.c"));
  EXPECT_FALSE(parse_shell_line("it doesn't end"));
  EXPECT_FALSE(parse_shell_line("\"open"));
}

TEST(BuildShellWords, CommandsKnowTheirFolder) {
  const auto commands = *parse_shell_line(": && cd out/x && (cd ../y; g++ b.cpp) && g++ a.cpp || true");
  ASSERT_EQ(commands.size(), 6u);
  EXPECT_EQ(commands[3].words.front(), "g++");
  EXPECT_EQ(commands[3].folder, "out/y");
  EXPECT_EQ(commands[4].folder, "out/x");
}

TEST(BuildCompileCommand, OfGcc) {
  const CompileCommand command = parse(
      "ccache /opt/bin/x86_64-linux-gnu-g++-12 -std=gnu++20 -O2 -Wall -DA -D B=2 -UC -D 'F(x)=x' "
      "-Wp,-D_FORTIFY_SOURCE=2 "
      "-I inc -Iinc2 -isystem sys -idirafter after -iquote q -include pre.h -MMD -MF out/a.d -c src/a.cpp -o out/a.o",
      "/work");
  EXPECT_EQ(command.compiler, CompilerKind::Gcc);
  EXPECT_EQ(command.program, "/opt/bin/x86_64-linux-gnu-g++-12");
  EXPECT_EQ(command.folder, "/work");
  EXPECT_EQ(command.action, CompilerAction::Compile);
  EXPECT_EQ(command.language, SourceLanguage::Cxx);
  EXPECT_EQ(command.standard, "gnu++20");
  EXPECT_THAT(command.sources, ElementsAre("src/a.cpp"));
  EXPECT_EQ(command.output, "out/a.o");
  EXPECT_EQ(macros(command), "-D A; -D B=2; -U C; -D F(x)=x; -D _FORTIFY_SOURCE=2; ");
  EXPECT_THAT(command.quote_dirs, ElementsAre("q"));
  EXPECT_EQ(include_dirs(command), "inc inc2 sys after ");
  EXPECT_THAT(command.forced_includes, ElementsAre("pre.h"));
  EXPECT_FALSE(command.device_code);
}

TEST(BuildCompileCommand, OfNvcc) {
  const CompileCommand command = parse(
      "/usr/local/cuda/bin/nvcc --generate-dependencies-with-compile --dependency-output out/k.o.d -Icsrc/ -I=/eq "
      "--include-path=/l1,/l2 -isystem=/sys -include=pre.h -DA,B=2 --define-macro C -c -c /src/k.cu -o out/k.o "
      R"(--compiler-options ''"'"'-fPIC'"'"'' -Xcompiler -DHOST=1,-O3 --ptxas-options=-v -rdc=true -lineinfo )"
      "-gencode=arch=compute_90a,code=sm_90a -std=c++17");
  EXPECT_EQ(command.compiler, CompilerKind::Nvcc);
  EXPECT_EQ(command.language, SourceLanguage::Cuda);
  EXPECT_EQ(command.action, CompilerAction::Compile);
  EXPECT_TRUE(command.device_code);
  EXPECT_EQ(command.standard, "c++17");
  EXPECT_THAT(command.sources, ElementsAre("/src/k.cu"));
  EXPECT_EQ(command.output, "out/k.o");
  EXPECT_EQ(macros(command), "-D A; -D B=2; -D C; -D HOST=1; ");
  EXPECT_EQ(include_dirs(command), "csrc/ /eq /l1 /l2 /sys ");
  EXPECT_THAT(command.forced_includes, ElementsAre("pre.h"));
  EXPECT_THAT(command.libraries, IsEmpty());  // -lineinfo is none
  EXPECT_THAT(command.inputs, IsEmpty());
}

TEST(BuildCompileCommand, KnowsRelocatableDeviceCode) {
  EXPECT_TRUE(parse("nvcc -dc k.cu").device_code);
  EXPECT_TRUE(parse("nvcc -c --relocatable-device-code true k.cu").device_code);
  EXPECT_FALSE(parse("nvcc -c -rdc=false k.cu").device_code);
  EXPECT_FALSE(parse("nvcc -c k.cu").device_code);
  EXPECT_TRUE(parse("clang++ -fgpu-rdc -c k.cu").device_code);
}

TEST(BuildCompileCommand, TellsWhatItDoes) {
  EXPECT_EQ(parse("g++ a.o -o a").action, CompilerAction::Link);
  EXPECT_EQ(parse("g++ -S a.cpp").action, CompilerAction::Assemble);
  EXPECT_EQ(parse("g++ -c -E a.cpp").action, CompilerAction::Preprocess);
  EXPECT_EQ(parse("nvcc -dlink a.o -o d.o").action, CompilerAction::DeviceLink);
  EXPECT_EQ(parse("nvcc -ptx a.cu").action, CompilerAction::Assemble);
  EXPECT_EQ(parse("g++ --version").action, CompilerAction::Nothing);
}

TEST(BuildCompileCommand, TellsTheLanguage) {
  EXPECT_EQ(parse("gcc -c a.c").language, SourceLanguage::C);
  EXPECT_EQ(parse("g++ -c a.c").language, SourceLanguage::Cxx);
  EXPECT_EQ(parse("gcc -x c++ -c a.txt").language, SourceLanguage::Cxx);
  EXPECT_EQ(parse("nvcc -x cu -c a.cpp").language, SourceLanguage::Cuda);
  EXPECT_EQ(parse("nvcc -c a.cpp").language, SourceLanguage::Cxx);
  EXPECT_EQ(parse("clang -x cuda -c a.cpp").language, SourceLanguage::Cuda);
}

TEST(BuildCompileCommand, DefaultOutputs) {
  EXPECT_EQ(parse("g++ -c src/a.cpp").output, "a.o");
  EXPECT_EQ(parse("nvcc -c src/a.cu -odir out").output, "out/a.o");
  EXPECT_EQ(parse("g++ a.cpp").output, "a.out");
}

TEST(BuildCompileCommand, BehindWrappers) {
  EXPECT_EQ(parse("cmake -E __run_co_compile --tidy=x --source=a.cpp -- g++ -c a.cpp -o a.o").output, "a.o");
  EXPECT_EQ(parse("cmake -E env A=1 g++ -c a.cpp").program, "g++");
  EXPECT_EQ(parse("/bin/bash ../libtool --tag=CXX --mode=compile g++ -c a.cpp -o a.lo").output, "a.lo");
  EXPECT_THAT(parse("env CPATH=/x g++ -c a.cpp").environment, ElementsAre("env", "CPATH=/x"));
  EXPECT_FALSE(parse_compile_command({"python3", "a.py"}, ""));
  EXPECT_FALSE(parse_compile_command({"cmake", "-E", "touch", "a.o"}, ""));
  EXPECT_FALSE(parse_compile_command({}, ""));
}

TEST(BuildCompileCommand, ReadsResponseFilesOnlyWhenAsked) {
  const TempDir dir;
  dir.write("inc.rsp", "-I\"/a b\" -DFROM_FILE");
  dir.write("self.rsp", "@self.rsp -DONCE");
  const CompileCommand gcc = parse("g++ @inc.rsp -c a.cpp", dir.path());
  EXPECT_EQ(include_dirs(gcc), "/a b ");
  const CompileCommand nvcc = parse("nvcc --options-file inc.rsp -c a.cu", dir.path());
  EXPECT_EQ(macros(nvcc), "-D FROM_FILE; ");
  EXPECT_THAT(parse("g++ @missing.rsp -c a.cpp", dir.path()).inputs, ElementsAre("@missing.rsp"));
  EXPECT_THAT(macros(parse("g++ @self.rsp -c a.cpp", dir.path())), HasSubstr("-D ONCE"));
  const auto left = parse_compile_command({"g++", "@inc.rsp", "-c", "a.cpp"}, dir.path(), ResponseFiles::Leave);
  EXPECT_THAT(left->macros, IsEmpty());
}

TEST(BuildPreprocessCommand, OfGccKeepsWhatThePreprocessorSees) {
  const CompileCommand command = parse(
      "ccache g++ -DA -Iinc -O2 -MMD -MF a.d -MT a.o -Wp,-MD,b.d -Wp,-DW -save-temps=obj -c a.cpp b.cpp lib.a -lfoo -o "
      "a.o");
  EXPECT_EQ(joined(preprocess_command(command)), "g++ -E -DA -Iinc -O2 -Wp,-DW a.cpp");
  EXPECT_EQ(joined(preprocess_command(command, {CompileSide::Host, true, 1})),
            "g++ -E -dD -DA -Iinc -O2 -Wp,-DW b.cpp");
  EXPECT_THAT(preprocess_command(command, {CompileSide::Host, false, 2}), IsEmpty());
  EXPECT_THAT(preprocess_command(command, {CompileSide::Device, false, 0}), IsEmpty());
}

TEST(BuildPreprocessCommand, LeavesOutWhatWritesFiles) {
  const auto left = [](const std::string& words) { return joined(preprocess_command(parse(words + " -c a.cpp"))); };
  EXPECT_EQ(left("g++ -Xpreprocessor -MD -Xpreprocessor x.d"), "g++ -E a.cpp");
  EXPECT_EQ(left("g++ -Xpreprocessor -MD -O2 -Xpreprocessor a.cpp"), "g++ -E -O2 a.cpp");
  EXPECT_EQ(left("g++ -Xpreprocessor -MF -Xpreprocessor x.d -Xpreprocessor -DA"), "g++ -E -Xpreprocessor -DA a.cpp");
  EXPECT_EQ(left("g++ -Xpreprocessor -include -Xpreprocessor p.h"),
            "g++ -E -Xpreprocessor -include -Xpreprocessor p.h a.cpp");
  EXPECT_EQ(left("g++ -Wp,-MD -Wp,x.d"), "g++ -E a.cpp");
  EXPECT_EQ(left("g++ -fdiagnostics-format=sarif-file -time=t -fcallgraph-info"), "g++ -E a.cpp");
  EXPECT_EQ(left("clang++ -Xclang -dependency-file -Xclang x.d -Xclang -fno-pch-timestamp"),
            "clang++ -E -Xclang -fno-pch-timestamp a.cpp");
  EXPECT_EQ(left("clang++ -Xarch_device -save-temps=obj -Xarch_host -DA"), "clang++ -E -Xarch_host -DA a.cpp");
  EXPECT_EQ(left("env DEPENDENCIES_OUTPUT=x.d CPATH=/x g++"), "env CPATH=/x g++ -E a.cpp");
}

TEST(BuildPreprocessCommand, StartsNoPluginAndNoWrapper) {
  const auto left = [](const std::string& words) { return joined(preprocess_command(parse(words + " -c a.cpp"))); };
  EXPECT_EQ(left("g++ -wrapper ./w,x -fplugin=./p.so -fplugin-arg-p-x=1"), "g++ -E a.cpp");
  EXPECT_EQ(left("clang++ -Xclang -load -Xclang ./p.so -Xclang -add-plugin -Xclang p -fpass-plugin=./p.so"),
            "clang++ -E a.cpp");
  EXPECT_EQ(left("clang++ -Xclang -plugin-arg-p -Xclang x"), "clang++ -E a.cpp");
  EXPECT_EQ(left("env LD_PRELOAD=./p.so g++ -DA"), "env g++ -E -DA a.cpp");
}

TEST(BuildPreprocessCommand, OfClangWithAPrecompiledHeaderReadsTheHeader) {
  const CompileCommand command =
      parse("clang++ -Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.hxx -c a.cpp -o a.o");
  EXPECT_THAT(command.forced_includes, ElementsAre("p.hxx"));
  EXPECT_EQ(joined(preprocess_command(command)), "clang++ -E -Xclang -include -Xclang p.hxx a.cpp");
  EXPECT_THAT(preprocess_command(parse("clang++ -c k.cu"), {CompileSide::Device, false, 0}),
              Contains("--cuda-device-only"));
}

TEST(BuildPreprocessCommand, OfNvccNamesTheSide) {
  const CompileCommand command =
      parse("nvcc -dc -MD -MF a.d --keep -DA a.cu -o a.o -Xcompiler -fPIC,-MMD,-DS='\"'x y'\"'");
  const std::string host = joined(preprocess_command(command));
  EXPECT_THAT(host, HasSubstr("-E -U__CUDA_ARCH__"));
  EXPECT_THAT(host, HasSubstr("-rdc=true"));
  EXPECT_THAT(host, Not(HasSubstr("-MMD")));
  EXPECT_THAT(host, Not(HasSubstr("--keep")));
  const auto device = preprocess_command(command, {CompileSide::Device, true, 0});
  EXPECT_THAT(device, Not(Contains("-U__CUDA_ARCH__")));
  EXPECT_THAT(joined(device), HasSubstr("-Xcompiler -dD"));
}

/// Runs a command of words in a folder.
std::string run(const TempDir& dir, const std::vector<std::string>& argv) {
  std::string line;
  for (std::string word : argv) {
    for (std::size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4) word.replace(at, 1, "'\\''");
    line += "'" + word + "' ";
  }
  return dir.run(line);
}

constexpr const char* kSides = R"(
#ifdef __CUDA_ARCH__
int device_side;
#else
int host_side;
#endif
#ifdef CUDA_DOUBLE_MATH_FUNCTIONS
int device_math;
#endif
#ifdef __CUDACC_RDC__
int with_rdc;
#endif
const char* text = TEXT;
)";

TEST(BuildPreprocessCommand, OfNvccReallyGivesBothSides) {
  if (!test::have("nvcc")) GTEST_SKIP() << "no nvcc";
  const TempDir dir;
  dir.write("k.cu", kSides);
  const CompileCommand command = parse(
      R"(nvcc -dc -MD -MF k.d k.cu -o k.o -Xcompiler ''"'"'-DTEXT="a, b"'"'"'' --compiler-options ''"'"'-fPIC'"'"'')");
  const std::string host = run(dir, preprocess_command(command));
  EXPECT_THAT(host, HasSubstr("int host_side;"));
  EXPECT_THAT(host, HasSubstr("int with_rdc;"));
  EXPECT_THAT(host, Not(HasSubstr("int device_math;")));
  const std::string device = run(dir, preprocess_command(command, {CompileSide::Device, true, 0}));
  EXPECT_THAT(device, HasSubstr("int device_side;"));
  EXPECT_THAT(device, HasSubstr("#define __CUDACC_RDC__"));
  EXPECT_FALSE(std::filesystem::exists(dir / "k.o"));
  EXPECT_FALSE(std::filesystem::exists(dir / "k.d"));
}

/// The host side that nvcc itself would hand to cudafe++: every macro must be the same.
TEST(BuildPreprocessCommand, OfNvccHasTheMacrosOfTheRealHostPass) {
  if (!test::have("nvcc")) GTEST_SKIP() << "no nvcc";
  const TempDir dir;
  dir.write("k.cu", "int nothing;\n");
  dir.run("nvcc --dryrun -rdc=true -gencode arch=compute_80,code=sm_80 -DA=1 -c k.cu -o k.o 2> plan");
  dir.run(
      R"(grep -e ' -E ' plan | grep -v -e '__CUDA_ARCH__=' -e 'cudafe' | sed -e 's/^#\$ //' -e 's/ -o "[^"]*"//' > host.sh)");
  dir.run("sed 's/ -E / -E -dM /' host.sh | sh | sort > want && grep __CUDACC_RDC__ want");
  const CompileCommand command = parse("nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -DA=1 -c k.cu -o k.o");
  std::vector<std::string> argv = preprocess_command(command);
  argv.insert(argv.end(), {"-Xcompiler", "-dM"});
  dir.write("got", run(dir, argv));
  EXPECT_EQ(dir.run("sort got | diff want -"), "");
}

class BuildPreprocessWith : public testing::TestWithParam<std::string> {};

TEST_P(BuildPreprocessWith, HostCompilerWritesNothingButTheText) {
  if (!test::have(GetParam())) GTEST_SKIP() << "no " << GetParam();
  const TempDir dir;
  dir.write("sub/h.h", "int from_header;\n");
  dir.write("a.cpp", "#include \"h.h\"\nconst char* s = S;\n");
  const CompileCommand command = parse(GetParam() + R"( -Isub '-DS="x y"' -MMD -MF a.d -g -c a.cpp -o a.o)");
  const std::string text = run(dir, preprocess_command(command, {CompileSide::Host, true, 0}));
  EXPECT_THAT(text, HasSubstr("int from_header;"));
  EXPECT_THAT(text, HasSubstr("\"x y\";"));
  EXPECT_THAT(text, HasSubstr("#define S "));
  EXPECT_EQ(dir.run("ls"), "a.cpp\nsub\n");
}

INSTANTIATE_TEST_SUITE_P(Real, BuildPreprocessWith, testing::Values("g++", "clang++"),
                         [](const auto& info) { return info.param == "g++" ? "gcc" : "clang"; });

}  // namespace
}  // namespace elfaudit
