// Whatever bytes these readers get, they end, stay inside, and throw nothing but InputError.
#include <gtest/gtest.h>

#include <random>

#include "diagnose/build_log.hpp"
#include "elfaudit/error.hpp"
#include "input/build/compile_database.hpp"
#include "input/build/depfile.hpp"
#include "input/command_words.hpp"

namespace elfaudit {
namespace {

constexpr std::string_view kLog =
    "\x1b[1m#12 1.50 [1/2] nvcc -MD -MF k.d ''\"'\"'-fPIC'\"'\"'' -Xcompiler -fPIC,-DX=\\\"a\\,b\\\" -Wp,-MD,x -c "
    "k.cu\x1b[K\r\n"
    "#12 1.60 FAILED: x\n#12 1.60 : && cd out && g++ @x.rsp a.o \\\n#12 1.60   -lfoo -o x 2>&1 && :\n"
    "#12 1.70 /usr/bin/ld: lib.a(b.o):(.bss+0x380): multiple definition of `x'; a.o:/h.h:351: first defined here\n"
    "#12 1.70 /usr/bin/ld: b.o: in function `f()':\n#12 1.70 b.cpp:(.text+0x1): undefined reference to `g()'\n"
    "1.7 ld.lld: error: duplicate symbol: x\n1.7 >>> defined at h.h:1 (/h.h:1)\n1.7 >>>            a.o:(x)\n"
    "1.7 >>> defined at b.cpp\n1.7 >>>            b.o:(.data+0x0) in archive lib.a\n"
    "mold: error: undefined symbol: x\n>>> referenced by u.cpp\n>>>   u.o:(f())>>> referenced by u.cpp\n"
    "mold: error: duplicate symbol: b.o: a.o: x\n/usr/bin/ld.gold: error: b.o: multiple definition of 'x'\n"
    "/usr/bin/ld.gold: a.o: previous definition here\na.o:a.cpp:function main: error: undefined reference to 'x'\n"
    "2026-02-08T00:54:30.2890000Z ##[error]nvlink error   : Multiple definition of 'x' in 'l.a:b.o', first defined in "
    "'a.o' "
    "(target: sm_80)\nIn file included from a.h:3,\n                 from b.cpp:1:\nc.h:77:10: fatal error: d.h: No "
    "such file "
    "or directory\n   77 | #include <d.h>\nmake[1]: Entering directory '/x'\nmake[1]: *** [Makefile:2: x] Error 1\n"
    "/usr/bin/ld: a.o: undefined reference to symbol 'x@@V'\n/usr/bin/ld: l.so: error adding symbols: DSO missing from "
    "command line\ncollect2: error: ld returned 1 exit status\nerror: command '/usr/bin/c++' failed with exit code 1\n";

constexpr std::string_view kDepfile = "# c\na\\ b.o c.d: x\\\\\\ y.cpp $$z.h \\#q \\\n  h\\:i.h\nh.h:\n";
constexpr std::string_view kJson =
    R"([{"directory": "/w", "command": "cd x && g++ -c a.cpp -o a.o", "file": "a.cpp", "output": "a.o"},
        {"directory": "/w", "arguments": ["nvcc", "-Xcompiler", "'-fPIC', -DX", "-c", "b.cu"], "file": "b.cu"}])";
const std::string kNinja(
    "# ninjadeps\n\4\0\0\0\x08\0\0\0a.o\0\xff\xff\xff\xff\x08\0\0\0b.h\0\xfe\xff\xff\xff"
    "\x10\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0",
    60);

constexpr std::string_view kManifest =
    "ninja_required_version = 1.5\nrule cc\n  command = g++ -c $in -o $out\n  depfile = $out.d\n"
    "build a.o | a.d: cc a.cpp | a.h || gen |@ check\n  flags = ${x} $\n  -O2\npool p\n  depth = 1\n"
    "build all: phony a.o $:b $ c\ndefault all\n";

void read_all(const std::string& bytes) {
  (void)read_build_log(bytes);
  (void)parse_depfile(bytes);
  (void)parse_shell_line(bytes);
  try {
    (void)CompileCommands(bytes, "x.json").find("/w/a.o", "/w/a.cpp");
  } catch (const InputError&) {
  }
  try {
    (void)parse_ninja_manifest(bytes, "build.ninja");
  } catch (const InputError&) {
  }
  try {
    (void)parse_ninja_deps(std::as_bytes(std::span(bytes)), ".ninja_deps").files_of("a.o");
  } catch (const InputError&) {
  }
}

TEST(BuildHostile, EveryTruncation) {
  for (const std::string_view whole : {kLog, kDepfile, kJson, kManifest, std::string_view(kNinja)}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) read_all(std::string(whole.substr(0, size)));
    for (std::size_t from = 0; from <= whole.size(); ++from) read_all(std::string(whole.substr(from)));
  }
}

TEST(BuildHostile, ChangedBytes) {
  std::mt19937 random(20260208);
  for (const std::string_view whole : {kLog, kDepfile, kJson, kManifest, std::string_view(kNinja)}) {
    for (int round = 0; round < 800; ++round) {
      std::string bytes(whole);
      for (std::size_t changes = 1 + random() % 8; changes-- > 0;) {
        const std::size_t at = random() % bytes.size();
        const std::size_t kind = random() % 4;
        if (kind == 0) bytes[at] = static_cast<char>(random());
        if (kind == 1) bytes.erase(at, 1 + random() % 16);
        if (kind == 2) bytes.insert(at, whole.substr(random() % whole.size(), random() % 64));
        if (kind == 3) bytes[at] = "'\"\\`():;/\n\r\t\x1b #=,-@"[random() % 20];
        if (bytes.empty()) bytes = "x";
      }
      read_all(bytes);
    }
  }
}

TEST(BuildHostile, RandomBytes) {
  std::mt19937 random(351);
  for (int round = 0; round < 800; ++round) {
    std::string bytes(random() % 512, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    read_all(bytes);
  }
}

// "expected newline, got ':'" is what ninja says.
TEST(BuildHostile, ASecondColonEndsTheManifest) {
  for (const char* line : {"build a: b c:d", "build a: b c: d", "build a::", "build a: r | b:c", "build a: r || b:c"})
    EXPECT_THROW(parse_ninja_manifest(std::string(line) + "\n", "build.ninja"), InputError) << line;
}

/// Nothing takes time or memory that grows faster than the log.
TEST(DeepBuildHostile, LongAndRepetitiveLogs) {
  const auto repeated = [](const std::string& text, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += text;
    return out;
  };
  constexpr std::size_t kSize = 1 << 15;
  for (const std::string& text :
       {std::string("\n"), std::string("x\n"), std::string("("), std::string("'"), std::string("\\\n"),
        std::string("\r"), std::string("\x1b["), std::string(">>> "), std::string("cd a && "),
        std::string("g++ a.o \\\n"), std::string("#1 1.1 "),
        std::string("ld: error: undefined symbol: x\n>>> referenced by a.o\n"), std::string("env "),
        std::string("a=b "), std::string("-Wp,"), std::string("In file included from a.h:1:\n"),
        std::string("make: Entering directory 'x'\n"), std::string("g++ -c a.cpp\nb.o: undefined reference to `x'\n"),
        std::string("ld: a.o: in function `f':\n")}) {
    read_all(repeated(text, kSize));
    read_all("g++ -c a.cpp " + repeated(text, kSize));
    read_all("/usr/bin/ld: " + repeated(text, kSize));
  }
}

}  // namespace
}  // namespace elfaudit
