// The preprocessor against the compilers' own: the same tokens of the same headers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "input/build/compile_command.hpp"
#include "input/build/depfile.hpp"
#include "locate/record/build_record.hpp"
#include "locate/source/lexer.hpp"
#include "locate/source/preprocessor.hpp"
#include "support/compile.hpp"

namespace elfaudit::source {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> tokens_of(TokenSource& source) {
  std::vector<std::string> result;
  for (Token token = source.next(); token.kind != Kind::End; token = source.next()) {
    // Limits are spelled in decimal by some compilers and in hexadecimal by others.
    if (token.kind != Kind::Mark) result.emplace_back(token.kind == Kind::Number ? "1" : token.text);
  }
  return result;
}

struct Compile {
  std::vector<std::string> words;
  std::string text;
};

/// Skips when the compiler is not there, or a header that may be missing.
void expect_same(const Compile& compile, bool may_lack_headers = false) {
  const test::TempDir folder;
  const bool is_c = compile.words.front() == "gcc" || compile.words.front() == "clang";
  const std::string source = is_c ? "x.c" : "x.cpp";
  folder.write(source, compile.text);
  std::string command;
  for (const std::string& word : compile.words) command += word + " ";
  if (!test::have(compile.words.front())) GTEST_SKIP();
  folder.run(command + "-E -MD -MF x.d " + source + " -o x.i" + (may_lack_headers ? " || rm -f x.i" : ""));
  if (may_lack_headers && !std::filesystem::exists(folder / "x.i")) GTEST_SKIP() << "needs " << compile.text;

  std::vector<std::string> words = compile.words;
  words.insert(words.end(), {"-c", source});
  const auto parsed = parse_compile_command(words, folder.path());
  ASSERT_TRUE(parsed);
  const Depfile depfile = parse_depfile(content_of(folder / "x.d"));
  const TranslationUnit unit = unit_of(*parsed, &depfile);
  FileStore files;
  Interner names = new_names();
  Preprocessor preprocessor(unit, files, names, {});
  const std::vector<std::string> ours = tokens_of(preprocessor);
  preprocessor.check_list();
  for (const Doubt doubt : preprocessor.general_doubts()) ADD_FAILURE() << preprocessor.doubts()[doubt];

  const std::string text = content_of(folder / "x.i");
  LineMarkers markers(text, names);
  const std::vector<std::string> theirs = tokens_of(markers);
  ASSERT_GT(theirs.size(), 100U);
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    ASSERT_EQ(ours[i], theirs[i]) << command << compile.text << ": token " << i << " behind "
                                  << (i > 2 ? theirs[i - 3] + " " + theirs[i - 2] + " " + theirs[i - 1] : "");
  EXPECT_EQ(ours.size(), theirs.size()) << command << compile.text;
}

TEST(DeepSourceFidelity, StandardLibraryOfCxx) {
  for (const std::string standard : {"c++11", "c++14", "c++17", "gnu++17", "c++20"})
    for (const std::string text :
         {"#include <vector>\n", "#include <string>\n#include <map>\n", "#include <memory>\n"}) {
      expect_same({{"g++", "-std=" + standard}, text});
    }
  expect_same(
      {{"g++", "-std=c++17", "-O2", "-fPIC", "-DNDEBUG", "-fno-exceptions", "-fno-rtti"}, "#include <memory>\n"});
  expect_same({{"g++"}, "#include <regex>\n"});
  expect_same({{"g++", "-std=c++20"}, "#include <concepts>\n#include <coroutine>\n#include <regex>\n"});
}

TEST(SourceFidelity, Clang) {
  for (const std::string standard : {"c++11", "c++14", "c++17"})
    expect_same({{"clang++", "-std=" + standard}, "#include <vector>\n#include <map>\n"});
  expect_same({{"clang", "-std=gnu11"}, "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"});
}

TEST(SourceFidelity, HeadersOfC) {
  for (const std::string standard : {"c99", "gnu11", "c17"}) {
    expect_same({{"gcc", "-std=" + standard}, "#include <stdio.h>\n#include <stdlib.h>\n#include <pthread.h>\n"});
    expect_same({{"gcc", "-std=" + standard},
                 "#define _GNU_SOURCE\n#include <sys/socket.h>\n#include <signal.h>\n#include <tgmath.h>\n"});
  }
}

TEST(SourceFidelity, CudaInHostCode) {
  expect_same({{"g++", "-std=c++17", "-I/usr/local/cuda/include"}, "#include <cuda_runtime.h>\n"}, true);
}

// 6.10.3.5 of C11 has these to show what macros do.
TEST(SourceFidelity, MacrosOfTheStandard) {
  expect_same({{"gcc"}, R"(
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\0d", "abc", '\4') == 0) str(: @\n), s);
xstr(INCFILE(2).hpp)
glue(HIGH, LOW);
xglue(HIGH, LOW)
#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
char p[] = join(x, y);
#define t2(x,y,z) x ## y ## z
int j[] = { t2(1,2,3), t2(,4,5), t2(6,,7), t2(8,9,), t2(10,,), t2(,11,), t2(,,12), t2(,,) };
#define debug2(...) fprintf(stderr, __VA_ARGS__)
#define showlist(...) puts(#__VA_ARGS__)
#define gnu(format, ...) printf(format, ## __VA_ARGS__)
#define named(args...) printf(args)
debug2("Flag"); debug2("X = %d\n", x); showlist(The first, second, and third items.);
gnu("a"); gnu("a", 1, 2); gnu("a",); named(1, 2); named();
#define EMPTY
#define DEFER(id) id EMPTY()
#define EXPAND(...) __VA_ARGS__
#define A() 123
DEFER(A)() EXPAND(DEFER(A)())
#define NIL(xxx) xxx
#define G_0(arg) NIL(G_1)(arg)
#define G_1(arg) NIL(arg)
G_0(42)
__COUNTER__ __COUNTER__ __LINE__ __INCLUDE_LEVEL__
#pragma push_macro("w")
#undef w
#define w changed
w
#pragma pop_macro("w")
w
)"});
}

}  // namespace
}  // namespace elfaudit::source
