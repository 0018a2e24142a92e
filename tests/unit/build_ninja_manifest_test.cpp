// build.ninja -> the commands that make objects.

#include "input/build/compile_database.hpp"

#include <gtest/gtest.h>

#include "elfaudit/error.hpp"

namespace elfaudit {
namespace {

std::vector<std::string> commands(std::string_view text) {
  std::vector<std::string> lines;
  for (const CompileEntry& entry : parse_ninja_manifest(text, "out/build.ninja")) lines.push_back(entry.command);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(NinjaManifest, AsTorchWritesIt) {
  const auto entries = parse_ninja_manifest(R"(ninja_required_version = 1.3
cxx = c++
nvcc = /usr/local/cuda/bin/nvcc

cuda_cflags = -I/inc
cuda_post_cflags = --expt-relaxed-constexpr -gencode=arch=compute_80,code=sm_80

rule cuda_compile
  depfile = $out.d
  deps = gcc
  command = $nvcc --dependency-output $out.d $cuda_cflags -c $in -o $out $cuda_post_cflags

build /b/a.o: cuda_compile /s/a.cu
)",
                                            "/b/build.ninja");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].folder, "/b");
  EXPECT_EQ(entries[0].file, "/s/a.cu");
  EXPECT_EQ(entries[0].output, "/b/a.o");
  EXPECT_EQ(entries[0].command,
            "/usr/local/cuda/bin/nvcc --dependency-output /b/a.o.d -I/inc -c /s/a.cu -o /b/a.o "
            "--expt-relaxed-constexpr -gencode=arch=compute_80,code=sm_80");
}

TEST(NinjaManifest, AsCMakeWritesIt) {
  EXPECT_EQ(commands("rule CXX__x\n"
                     "  command = ${LAUNCHER}g++ $DEFINES $FLAGS -o $out -c $in\n"
                     "build x.dir/a.cpp.o: CXX__x ../a.cpp || order\n"
                     "  DEFINES = -DA\n"
                     "  FLAGS = -g $\n"
                     "      -O2\n"),
            Lines{"g++ -DA -g -O2 -o x.dir/a.cpp.o -c ../a.cpp"});
}

TEST(NinjaManifest, PathsAndEscapes) {
  EXPECT_EQ(commands("rule c\n command = cc $in -o $out $$HOME\nbuild a$ b.o | x.d: c d$:e.c | h.h || o |@ v\n"),
            Lines{"cc d:e.c -o 'a b.o' $HOME"});
}

TEST(NinjaManifest, FileVariablesAreExpandedWhereTheyStand) {
  EXPECT_EQ(commands("f = -A\nf = $f -B\nrule c\n command = cc $f $in\nbuild a.o: c a.c\nf = -C\nbuild b.o: c b.c\n"),
            (Lines{"cc -A -B a.c", "cc -C b.c"}));
}

TEST(NinjaManifest, OnlyObjects) {
  EXPECT_EQ(commands("rule link\n command = ld $in\nbuild a.so: link a.o\nbuild all.o: phony a.so\ndefault all.o\n"),
            Lines());
}

TEST(NinjaManifest, Hostile) {
  EXPECT_EQ(commands("rule c\n command = $command x\nbuild a.o: c a.c\n").size(), 1U);  // names itself
  std::string doubles = "v0 = xxxxxxxxxxxxxxxx\n";
  for (int i = 1; i < 64; ++i)
    doubles += "v" + std::to_string(i) + " = $v" + std::to_string(i - 1) + "$v" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(commands(doubles), Lines());
  for (const char* text : {"{\"a\": 1}", "build a.o", " x = y\n", "rule\n", "\x7f ELF"})
    EXPECT_THROW(static_cast<void>(commands(text)), InputError) << text;
}

}  // namespace
}  // namespace elfaudit
