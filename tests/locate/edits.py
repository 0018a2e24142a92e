"""Definitions in headers, of many shapes, and what becomes of them when the program's diffs are applied.

    edits.py [--seed S] [--count N] [--ways WAY,...] [--shapes]     prints what share of the offered diffs works

A mutation is a project: a header with a shape in it, two sources that include it and use what it defines, and a `.git`, so
that the header is the project's. The header is a few lines, or a copy of an installed one with the shape at a random place of
namespace scope. Each offered diff is applied with patch to a copy; the sources, and one with the definition where the fix asks
for it, must compile and link, no symbol may be missing, and the finding's symbol may not be defined twice.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from elfaudit_test import finished  # noqa: E402

WAYS = {"-g": ["-g"], "-g -MD": ["-g", "-MD"], "-MD": ["-MD"], "command": []}
COMPILERS = {"gcc": "c", "clang": "c", "g++": "cpp", "clang++": "cpp"}
HEADERS = ["zlib.h", "stdio.h", "stdlib.h", "string.h", "math.h", "pthread.h", "sys/socket.h", "netdb.h", "elf.h", "link.h", "dlfcn.h",
           "search.h", "regex.h", "glob.h", "expat.h", "sqlite3.h", "png.h", "curl/curl.h", "ncurses.h", "lua.h", "xxhash.h", "yaml.h",
           "zstd.h", "bzlib.h", "jpeglib.h", "gmp.h", "pcre2.h", "uv.h", "libxml/tree.h", "linux/input.h", "termios.h", "wchar.h"]


@dataclass
class Shape:
    """`@` in the texts is a prefix of its own in each mutation."""
    name: str
    language: str  # c, cpp, or both
    text: str
    uses: str = "&@x"  # whose addresses the sources take
    owner: str = ""  # what defines it where a fix says `extern`: a line for each name
    extern: str = ""  # the text as a maintainer writes it who is told to declare the variable, where no diff is offered
    static: str = ""  # and who is told to make the function static, or inline


def both(name, text, **more):
    SHAPES.append(Shape(name, "both", text, **more))


def c(name, text, **more):
    SHAPES.append(Shape(name, "c", text, **more))


def cpp(name, text, **more):
    SHAPES.append(Shape(name, "cpp", text, **more))


SHAPES = []
both("variable", "int @x = 3;", owner="int @x = 3;")
both("no initialiser", "int @x;", owner="int @x;")
both("indented", "  unsigned long\t@x=7 ; /* int @y; */", owner="unsigned long @x = 7;")
both("string with a semicolon", 'const char* @x = "a;b"; // "', owner='const char* @x = "a;b";')
both("character", "char @x = ';';", owner="char @x = ';';")
both("array with bound", "int @x[3] = {1, 2, 3};", owner="int @x[3] = {1, 2, 3};")
both("array without bound", "int @x[] = {1, 2, 3};", owner="int @x[3] = {1, 2, 3};", extern="extern int @x[3];")
both("array of several lines", "int @x[4] = {\n  1, 2,\n  3, /* ; */ 4,\n};", owner="int @x[4];")
both("long array", "int @x[20] = {\n" + "  1,\n" * 20 + "};", owner="int @x[20];", extern="extern int @x[20];")
both("structure", "struct @S { int a; char b[4]; };\nstruct @S @x = {1, {2}};", owner="struct @S @x;")
both("structure defined with it", "struct @S { int a; } @x;", owner="struct @S @x;")
both("structure without a name", "struct { int a; } @x;", owner="struct @S @x;", extern="extern struct @S { int a; } @x;")
both("enumeration with it", "enum @E { @A, @B } @x = @B;", owner="enum @E @x;")
both("pointer to a function", "int (*@x)(int, char) = 0;", owner="int (*@x)(int, char) = 0;")
both("several declarators", "int @x = 1, *@y = 0, @z[2];", uses="&@x, &@y, &@z", owner="int @x = 1;\nint *@y = 0;\nint @z[2];", extern="extern int @x, *@y, @z[2];")
both("several on two lines", "struct @S { int a; } @x = {1}, @y,\n  @z[2] = {{1}, {2}}; int @w;", uses="&@x, &@y, &@z, &@w", owner="struct @S @x;\nstruct @S @y;\nstruct @S @z[2];\nint @w;", extern="extern struct @S { int a; } @x, @y,\n  @z[2]; extern int @w;")
both("on one line with others", "typedef int @T; @T @x = 3; struct @S { int a; };", owner="@T @x;")
both("two on one line", "int @x = 1; int @y = 2;", uses="&@x, &@y", owner="int @x;\nint @y;")
both("gnu attribute before", "__attribute__((aligned(16))) int @x = 3;", owner="int @x;")
both("gnu attribute behind", "int @x __attribute__((aligned(16))) = 3;", owner="int @x;")
both("attribute of several lines", "__attribute__((\n  used,\n  aligned(8)))\nint\n@x = 3;", owner="int @x;")
both("section", 'int @x __attribute__((section(".@s"))) = 3;\nint @y __attribute__((section(".@s"))) = 3;', uses="&@x, &@y", owner="int @x;\nint @y;")
both("spliced", "int \\\n  @x \\\n  = 3;", owner="int @x;")
both("spliced word", "in\\\nt @x = 3;", owner="int @x;")
both("function", "int @x(int a) { return a; }", uses="@x")
both("function of several lines", "/* int @x; */\nint\n@x(int a,\n   int b)\n{\n  return a + b;\n}", uses="@x")
both("function behind a prototype", "int @x(int a); int @x(int a) { return a; }", uses="@x", static="static int @x(int a); static int @x(int a) { return a; }")
both("function behind a prototype of another line", "int @x(int a);\nint @x(int a) { return a; }", uses="@x", static="static int @x(int a);\nstatic int @x(int a) { return a; }")
both("function and prototype", "int @x(int a) { return a; }\nint @x(int a);", uses="@x", static="static int @x(int a) { return a; }\nstatic int @x(int a);")
both("functions on a line", "int @x(void) { return 1; } int @y(void) { return 2; }", uses="@x, @y")
both("pointer returned", "const char *@x(void) { return \"{;\"; }", uses="@x")
both("pointer to a function returned", "int (*@x(int a))(int) { return 0; }", uses="@x")
both("noinline", "__attribute__((noinline)) int @x(void) { return 1; }", uses="@x")
both("constructor", "__attribute__((constructor)) void @x(void) {}", uses="@x")
both("macro before", "#define @API __attribute__((visibility(\"default\")))\n@API int @x = 3;", owner="int @x;")
both("empty macro before", "#define @API\n@API int @x(void) { return 1; }", uses="@x")
both("macro as type", "#define @T unsigned int\n@T @x = 3;", owner="unsigned @x;")
both("macro that declares", "#define @VAR(type, name) type name = 0\n@VAR(int, @x);", owner="int @x = 0;", extern="extern int @x;")
both("macro with two definitions", "#define @COUNTER(name) int name##_count = 0; int name##_get(void) { return name##_count; }\n@COUNTER(@x)", uses="&@x_count, @x_get", owner="int @x_count = 0;", extern="extern int @x_count;\nstatic int @x_get(void) { return @x_count; }",
     static="#define @COUNTER(name) int name##_count = 0; INLINE int name##_get(void) { return name##_count; }\n@COUNTER(@x)")
both("macro with a function", "#define @GETTER(name) int name(void) { return 1; }\n@GETTER(@x)", uses="@x")
both("macro around", "#define @ID(...) __VA_ARGS__\n@ID(int @x = 3;)", owner="int @x;")
both("x macro", "#define @LIST(X) X(@x) X(@y)\n#define @DEF(n) int n = 1;\n@LIST(@DEF)", uses="&@x, &@y", owner="int @x = 1;\nint @y = 1;", extern="extern int @x, @y;")
both("pragma operator", "_Pragma(\"GCC diagnostic push\") int @x = 3; _Pragma(\"GCC diagnostic pop\")", owner="int @x;")
both("conditional around", "#ifndef @NO\nint @x = 3;\n#endif", owner="int @x;")
both("conditional inside", "int @x =\n#ifdef @NO\n  1\n#else\n  2\n#endif\n  ;", owner="int @x;", extern="extern int @x;")
both("declared extern before", "extern int @x;\nint @x = 3;", owner="int @x;")
both("extern with initialiser", "extern int @x; extern int @x = 3;", owner="int @x;")
both("asm label", "int @x __asm__(\"@label\") = 3;", owner="int @x = 3;")
both("volatile", "volatile int* volatile @x = 0;", owner="volatile int* volatile @x = 0;")
both("thread-local", "__thread int @x = 3;", owner="__thread int @x = 3;")
both("alias", "extern int @y __attribute__((alias(\"@x\"))); int @x = 3;", uses="&@x", owner="int @x = 3; extern int @y __attribute__((alias(\"@x\")));", extern="extern int @x, @y;")
both("comment within", "int /* { */ @x /* = */ = /* ; */ 3; // }", owner="int @x;")
both("nested initialiser", "int @x[2][2] = {{1, 2}, {3, 4}}, @unused_;", owner="int @x[2][2];\nint @unused_;", extern="extern int @x[2][2], @unused_;")
both("declarations behind extern C", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint @x = 3;\nint @y(void) { return 1; }\n#ifdef __cplusplus\n}\n#endif", uses="&@x, @y", owner="int @x;")
both("begin and end macros", "#ifdef __cplusplus\n#define @BEGIN extern \"C\" {\n#define @END }\n#else\n#define @BEGIN\n#define @END\n#endif\n@BEGIN int @x = 3; int @y(void) { return 1; } @END", uses="&@x, @y", owner="int @x;")
c("old style", "int @x(a, b) int a; char* b; { return a; }", uses="@x")
c("const", "const int @x = 3;", owner="const int @x = 3;")
c("extern inline", "extern inline int @x(void) { return 1; }", uses="@x")
c("extern function", "extern int @x(void) { return 1; }", uses="@x")
c("noreturn", "_Noreturn void @x(void) { for (;;) ; }", uses="@x")
c("designated", "struct @S { int a, b; } @x = { .a = 1, .b = 2 };", owner="struct @S @x;")
c("typedef and structure", "typedef struct { int a; } @T;\n@T @x = {1};", owner="@T @x;")
cpp("namespace on a line", "namespace @n { int x = 3; }", uses="&@n::x", owner="namespace @n { int x; }")
cpp("function of a namespace on a line", "namespace @n { int x() { return 3; } }", uses="(int (*)())@n::x")
cpp("nested namespace", "namespace @n::m {\nint x = 3;\n}", uses="&@n::m::x", owner="int @n::m::x;")
cpp("inline namespace", "namespace @n { inline namespace v1 {\n  int x = 3;\n} }", uses="&@n::x", owner="namespace @n { inline namespace v1 { int x; } }")
cpp("qualified", "namespace @n { extern int x; int f(); }\nint @n::x = 3;\nint @n::f() { return 1; }", uses="&@n::x, @n::f")
cpp("standard attribute", "[[nodiscard]] int @x() { return 1; }", uses="@x")
cpp("standard attribute of a variable", "[[gnu::used]] int @x = 3;", owner="int @x;")
cpp("standard attribute behind", "int @x [[gnu::used]] = 3;", owner="int @x;")
cpp("alignas", "alignas(16) int @x = 3;", owner="alignas(16) int @x = 3;")
cpp("static member", "struct @A { struct B { static B* inst; }; };\n@A::B* @A::B::inst = 0;", uses="&@A::B::inst")
cpp("members", "struct @A { int f(int) const; static int g(); @A(); ~@A(); operator bool(); };\nint @A::f(int) const { return 1; } int @A::g() { return 2; }\n@A::@A() {}\n@A::~@A() {}\n@A::operator bool() { return true; }", uses="(int (*)())@A::g")
cpp("specialised member", "template <class T> struct @C { static int v; T f(T); };\ntemplate <> int @C<int>::v = 7;\ntemplate <> int @C<int>::f(int a) { return a; }", uses="&@C<int>::v")
cpp("specialised function", "template <class T> T @x(T a) { return a; }\ntemplate <> int @x<int>(int a) { return 2 * a; }", uses="@x<int>")
cpp("specialised variable", "template <class T> T @x = T(3);\ntemplate <> int @x<int> = 4;", uses="&@x<int>")
cpp("template head of two lines", "template <class T> T @x(T a) { return a; }\ntemplate\n<>\nint @x<int>(int a) { return 2 * a; }", uses="@x<int>")
cpp("extern C on a line", "extern \"C\" int @x(void) { return 1; }", uses="@x")
cpp("extern C variable", "extern \"C\" int @x = 3;", owner="extern \"C\" { int @x; }")
cpp("extern constant", "extern const int @x;\nconst int @x = 3;", owner="const int @x = 3;")
cpp("braces", "int @x{3};", owner="int @x{3};")
cpp("parentheses", "int @x(3);", owner="int @x(3);")
cpp("deduced", "auto @x = 3;")
cpp("deduced return", "auto @x() { return 3; }", uses="@x")
cpp("trailing return", "auto @x(int a) -> int { return a; }", uses="@x")
cpp("lambda", "auto @x = [](int a) { int b = a; return b; };")
cpp("class template arguments", "#include <vector>\nstd::vector<int> @x = {1, 2};", owner="std::vector<int> @x = {1, 2};")
cpp("deduced template arguments", "#include <vector>\nstd::vector @x{1, 2};")
cpp("string of the library", "#include <string>\nstd::string @x(int a) { return std::to_string(a); }\nconst std::string @y[] = {\"a\", \"b\"}; std::string @z = \"{;\";", uses="@x, &@z")
cpp("raw string", "const char* @x = R\"x(;\n)\" )x\";", owner="const char* @x;")
cpp("operator", "struct @A { int i; };\n@A operator+(const @A& a, int b) { return {a.i + b}; }", uses="(@A (*)(const @A&, int))operator+")
cpp("function try block", "struct @A { @A(); };\n@A::@A() try { } catch (...) { }", uses="(void*)0, @y")
SHAPES[-1].text += "\nint @y = 1;"
SHAPES[-1].owner = "int @y;"
cpp("thread_local", "thread_local int @x = 3;", owner="thread_local int @x = 3;")
cpp("pointer to member", "struct @A { int m; };\nint @A::*@x = &@A::m;", owner="int @A::*@x;")
cpp("reference", "static int @s;\nint& @x = @s;", owner="int& @x = @s;")
cpp("constexpr constructor", "struct @A { constexpr @A(int) {} };\n@A @x(3);", owner="@A @x(3);")
cpp("unnamed namespace beside", "namespace { int @hidden = 1; } int @x = 3;", owner="int @x;")
cpp("noexcept", "int @x() noexcept(sizeof(int) > 3) { return 1; }", uses="(void*)0, (int (*)())@x")
cpp("default argument", "int @x(int a = 3, const char* b = \"{;}\") { return a; }", uses="@x")
cpp("overloads", "int @x(int a) { return a; } int @x(char a) { return a; }", uses="(int (*)(int))@x, (int (*)(char))@x")
cpp("literal operator", "unsigned long operator\"\"_@k(unsigned long long a) { return a; }\nint @x = 3;", owner="int @x;")


def strong(folder, made):
    out = finished(["gcc-nm", "-g", "--defined-only", made], folder).out
    return {line.split()[-1] for line in out.splitlines() if line.split()[-2] in "TDBRGSC"}


class Mutation:
    include = "inc"

    def __init__(self, shape, compiler, way, folder, prefix="zz", header=None, randomly=None, standard=""):
        self.shape, self.compiler, self.way, self.folder = shape, compiler, way, pathlib.Path(folder)
        self.root, self.prefix, self.diffs = self.folder, prefix, {}
        self.extension = COMPILERS[compiler]
        self.words = [compiler, "-w", "-I" + self.include] + ([f"-std={standard}"] if standard else [])
        self.text = shape.text.replace("@", prefix)
        self.uses = shape.uses.replace("@", prefix)
        self.owner = shape.owner.replace("@", prefix)
        self.header, self.random = header, randomly

    def write(self):
        """False: the compiler refuses it at that place, or it is no definition there."""
        self.folder.mkdir(parents=True)
        (self.folder / self.include).mkdir()
        (self.folder / ".git").mkdir()
        if self.header is None:
            body = ["#pragma once"] + self.text.split("\n") + ["extern int zz_end;"]
        else:
            body = pathlib.Path(self.header).read_text(errors="replace").split("\n")
            places = [i + 1 for i, line in enumerate(body) if line.rstrip().endswith((";", "}", "*/")) or not line.strip()]
            place = self.random.choice(places)
            body[place:place] = self.text.split("\n")
        (self.folder / self.include / "h.h").write_text("\n".join(body))
        for name in "ab":
            cast = "(void*)" if self.extension == "c" else "(const void*)"
            uses = f"const void* use_{name}(int i) {{ const void* all[] = {{{', '.join(cast + '(' + use.strip() + ')' for use in split(self.uses))}}}; return all[i]; }}\n"
            (self.folder / f"{name}.{self.extension}").write_text('#include "h.h"\n' + uses)
        if not self.compile(self.folder, WAYS[self.way]):
            return False
        if self.way == "command":
            entries = [{"directory": str(self.folder), "file": f"{n}.{self.extension}", "output": f"{n}.o",
                        "arguments": [*self.words, "-c", f"{n}.{self.extension}", "-o", f"{n}.o"]} for n in "ab"]
            (self.folder / "compile_commands.json").write_text(json.dumps(entries))
        return bool(self.duplicates(self.folder))

    def compile(self, folder, flags=(), names="ab"):
        for name in names:
            done = finished([*self.words, *flags, "-fPIC", "-c", f"{name}.{self.extension}", "-o", f"{name}.o"], folder)
            if done.code:
                self.error = done.err
                return False
        return True

    def duplicates(self, folder, names="ab"):
        seen = [strong(folder, f"{name}.o") for name in names]
        return {symbol for i, one in enumerate(seen) for other in seen[i + 1:] for symbol in one & other}

    def findings(self):
        out = finished([os.environ["ELFAUDIT"], "check", "a.o", "b.o", "--format", "json"], self.folder)
        findings = json.loads(out.out)["findings"]
        return [f for first in findings for f in (first, *first.get("also", [])) if f["rule"] == "duplicate-definition"]

    def owner_of(self, finding):
        lines = self.owner.split("\n")
        name = finding["demangled"].split("::")[-1]
        return next((line for line in lines if name in line), lines[0])

    def why_not(self, finding, fix):
        """What is wrong after the diff; None when nothing is."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "p"
            shutil.copytree(self.folder, folder)
            done = finished(["patch", "-p0", "--no-backup-if-mismatch"], folder, fix["diff"])
            if done.code or "fuzz" in done.out or "offset" in done.out:
                return "patch: " + done.out + done.err
            names = "ab"
            is_left = "extern" in fix["text"] and "define it in one source file" in fix["text"] or "remove the initialiser" in fix["text"]
            if is_left and fix["diff"].count("\n+++ ") == 1:  # the diff does not define it itself
                (folder / f"c.{self.extension}").write_text(f'#include "h.h"\n{self.owner_of(finding)}\n')
                names = "abc"
            if not self.compile(folder, names=names):
                return self.error
            left = self.duplicates(folder, names) - (self.duplicates(self.folder) - {finding["symbol"]})
            if left:
                return f"{left} twice"
            linked = finished([self.compiler, "-shared", "-Wl,-z,defs,-z,muldefs", *[f"{n}.o" for n in names], "-o", "x.so", "-lm"], folder)
            if linked.code and "undefined" in linked.err and not self.header:
                return linked.err
            return None


def split(uses):
    """At the commas outside of parentheses."""
    parts, depth = [""], 0
    for character in uses:
        depth += (character in "(<") - (character in ")>")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


@dataclass
class Result:
    findings: int = 0
    with_diff: int = 0
    advised: int = 0
    diffs: int = 0
    failures: list = None

    def add(self, other):
        for name in ("findings", "with_diff", "advised", "diffs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures = (self.failures or []) + (other.failures or [])

    def __str__(self):
        good = self.diffs - len(self.failures or [])
        return (f"{self.findings} findings, {self.with_diff} with a diff, {self.advised} with advice alone; "
                f"{good} of {self.diffs} diffs work ({100 * good / max(self.diffs, 1):.1f}%)")


def judge(mutation):
    result = Result(failures=[])
    for finding in mutation.findings():
        result.findings += 1
        diffs = [fix for fix in finding["fixes"] if fix["diff"]]
        result.with_diff += bool(diffs)
        result.advised += bool(finding["fixes"]) and not diffs
        for fix in diffs:
            result.diffs += 1
            why = mutation.why_not(finding, fix)
            if why:
                result.failures.append(f"{mutation.compiler} {mutation.way}, {mutation.shape.name}: {finding['symbol']}: {fix['text']}\n"
                                       f"{fix['diff']}{why}")
    return result


def fits(shape, compiler):
    return shape.language in ("both", COMPILERS[compiler])


def of_table(folder, compiler, way, standard="", shapes=slice(None)):
    """Every one of the shapes that the compiler takes, in a header of its own."""
    def one(i):
        mutation = Mutation(SHAPES[i], compiler, way, pathlib.Path(folder) / f"{compiler}{way}{i}".replace(" ", ""), standard=standard)
        return judge(mutation) if fits(SHAPES[i], compiler) and mutation.write() else Result(failures=[])

    result = Result(failures=[])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, range(len(SHAPES))[shapes]):
            result.add(found)
    return result


def installed():
    folders = ["/usr/include", "/usr/include/x86_64-linux-gnu"]
    return [f"{folder}/{name}" for name in HEADERS for folder in folders if os.path.exists(f"{folder}/{name}")]


def of_installed(folder, seed, count, ways):
    """Shapes at random places of installed headers."""
    headers = installed()

    def one(i):
        dice = random.Random(f"{seed}/{i}")
        for attempt in range(20):
            compiler = dice.choice(list(COMPILERS))
            shape = dice.choice([shape for shape in SHAPES if fits(shape, compiler)])
            mutation = Mutation(shape, compiler, ways[i % len(ways)], pathlib.Path(folder) / f"{i}_{attempt}", f"zz{i}_", dice.choice(headers), dice)
            if mutation.write():
                return judge(mutation)
        return Result(failures=[])

    result = Result(failures=[])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, range(count)):
            result.add(found)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--standard", default="")
    parser.add_argument("--shapes", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for chosen in options.ways.split(","):
            if options.shapes:
                total = Result(failures=[])
                for one_compiler in options.compilers.split(","):
                    total.add(of_table(name, one_compiler, chosen, options.standard))
            else:
                total = of_installed(pathlib.Path(name) / chosen.replace(" ", ""), options.seed, options.count, [chosen])
            print(chosen, total, flush=True)
            for failure in total.failures:
                print(failure, file=sys.stderr)
