"""Every edit that is offered is applied to a copy, and the program that it makes is held against the one it was.

    edits.py [--cases] [--shapes] [--count N] [--seed S] [--ways WAY,...] [--compilers CC,...] [--verbose]     prints the figures

A case is a project: a few sources, whose programs exit with 0 when what they have to share is shared. A shape is a definition in a header that two sources
include, which is a few lines, or a copy of an installed header with the shape at a random place of namespace scope. `judge` builds the case,
applies each diff to a copy, compiles that with the case's own flags (and -Wall -Wextra -Werror, where the case itself compiles so), links
its programs and runs them. What an edit may not do: leave a symbol twice or undefined, make a compiler complain, change what a
program does when the first definition is taken for all (-z muldefs).
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

from cases import Case  # noqa: E402
from elfaudit_test import Lab, by_symbol, finished  # noqa: E402

WAYS = {"-g": ["-g"], "-g -MD": ["-g", "-MD"], "-MD": ["-MD"], "command": []}
COMPILERS = {"gcc": "c", "clang": "c", "g++": "cpp", "clang++": "cpp"}
STRICT = "-Wall -Wextra -Werror"
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


def twice(folder, objects):
    """The symbols that several of the objects define."""
    seen = [strong(folder, made) for made in objects]
    return {symbol for i, one in enumerate(seen) for other in seen[i + 1:] for symbol in one & other}


@dataclass
class Result:
    findings: int = 0
    with_diff: int = 0
    advised: int = 0
    diffs: int = 0
    failures: list = None  # (what kind, which, text)

    def add(self, other):
        for name in ("findings", "with_diff", "advised", "diffs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures = (self.failures or []) + (other.failures or [])

    def __str__(self):
        kinds = [kind for kind, _ in self.failures or []]
        bad = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
        return (f"{self.findings} findings, {self.with_diff} with a diff, {self.advised} with advice alone; {self.diffs - len(kinds)} of {self.diffs} "
                f"diffs work ({100 * (self.diffs - len(kinds)) / max(self.diffs, 1):.1f}%){': ' if bad else ''}{bad}")


class Project:
    """A case that is written to a folder, compiled one way and linked with the first definition of everything."""

    def __init__(self, case, lab, compiler, way, plain=True):
        self.case, self.lab, self.compiler, self.way, self.plain = case, lab, compiler, way, plain
        case.write(lab)
        (lab.path / ".git").mkdir(exist_ok=True)
        self.objects = case.compile(lab, " ".join(WAYS[way]), compiler, database=way == "command")
        self.twice = twice(lab.path, self.objects)
        self.link_error, self.does = self.result(lab)
        self.plain = plain and "undefined" not in self.link_error  # which only a link command is judged for
        self.is_strict = None

    def arguments(self):
        """What elfaudit is to check: the objects, or the link of the first program."""
        if self.plain:
            return [*self.objects, *self.case.archives]
        return ["--", *self.case.links(self.compiler)[0].split()]

    def findings(self):
        found = by_symbol(self.lab.audit("check", "--format", "json", *self.arguments()).json()["findings"])
        return [finding for finding in found if finding["rule"] == "duplicate-definition"]

    def result(self, lab, options=" -z muldefs"):
        """The first error of a link, and what each program does."""
        does = []
        for i, link in enumerate(self.case.links(self.compiler)):
            linked = lab.sh(f"{link}{options}", check=False)
            if linked.code:
                return linked.err, None
            ran = lab.sh(f"./program{i}", check=False)
            does.append((ran.code, ran.out))
        return "", does

    def copy(self):
        """A copy of what is written, in which objects are those of before, and the folder that it goes with."""
        holder = tempfile.TemporaryDirectory()
        shutil.copytree(self.lab.path, f"{holder.name}/p", symlinks=True)
        return Lab(f"{holder.name}/p"), holder

    def complaint(self, lab, warnings=STRICT):
        """The compiler's; empty when it takes all sources. What is compiled is left there to be linked."""
        for command in self.case.commands(WAYS[self.way][:1], self.compiler, warnings):
            done = lab.sh(command, check=False)
            if done.code:
                return done.err
        return ""

    def compiles_strictly(self):
        if self.is_strict is None:
            lab, holder = self.copy()
            with holder:
                self.is_strict = not self.complaint(lab)
        return self.is_strict

    def judge(self, lab, symbols):
        """What is wrong with the sources in `lab`, from which the symbols are to be gone as duplicates: its kind and a text. None: nothing."""
        if error := self.complaint(lab, STRICT if self.compiles_strictly() else "-w"):
            return ("refused with -Werror" if self.is_strict and not self.complaint(lab, "-w") else "not compiled"), error
        if left := twice(lab.path, self.objects) - (self.twice - symbols):
            return "twice", " ".join(left)
        error, does = self.result(lab)
        if error and not self.link_error:
            return ("undefined" if "undefined" in error else "not linked"), error
        if does != self.does and any(code for code, _ in does or [(1, "")]):
            return "changed", f"{self.does} -> {does}"
        return None

    def judge_diff(self, finding, diff):
        lab, holder = self.copy()
        with holder:
            done = finished(["patch", "-p0", "--no-backup-if-mismatch"], lab.path, diff)
            if done.code or "fuzz" in done.out or "offset" in done.out:
                return "patch", done.out + done.err
            return self.judge(lab, {finding["symbol"]})

    def judge_fix(self):
        """What `--fix` makes of it, in the folder itself: nothing where the case says so, else what links without a word."""
        strict = self.compiles_strictly()
        fixed = self.lab.audit("check", "--fix", "--allow-dirty", *self.arguments())
        if self.case.by_hand or (self.case.by_hand is None and self.case.is_unchanged(self.lab)):
            return None if self.case.is_unchanged(self.lab) else ("edited", fixed.err)
        error = self.complaint(self.lab, STRICT if strict else "-w")
        error, does = (error, []) if error else self.result(self.lab, " -z muldefs" if self.case.by_hand is None else "")
        is_right = not error and not any(code for code, _ in does)
        return None if is_right else ("wrong after --fix", f"{fixed.err}{error}{does}")


def judge(project):
    """Applies every diff that is offered."""
    result = Result(failures=[])
    known = {}
    for finding in project.findings():
        result.findings += 1
        diffs = [fix for fix in finding["fixes"] if fix["diff"]]
        result.with_diff += bool(diffs)
        result.advised += bool(finding["fixes"]) and not diffs
        for fix in diffs:
            result.diffs += 1
            key = (finding["symbol"], fix["diff"])
            if key not in known:
                known[key] = project.judge_diff(finding, fix["diff"])
            if known[key]:
                kind, why = known[key]
                result.failures.append((kind, f"{project.compiler} {project.way}, {project.case.name}: {finding['symbol']}: {fix['text']}\n{fix['diff']}{why}"))
    return result


# --- Shapes


class Mutation:
    """A shape in a header, which becomes a case."""
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
        if self.header is None:
            body = ["#pragma once"] + self.text.split("\n") + ["extern int zz_end;"]
        else:
            body = pathlib.Path(self.header).read_text(errors="replace").split("\n")
            places = [i + 1 for i, line in enumerate(body) if line.rstrip().endswith((";", "}", "*/")) or not line.strip()]
            place = self.random.choice(places)
            body[place:place] = self.text.split("\n")
        files = {self.include + "/h.h": "\n".join(body)}
        cast = "(void*)" if self.extension == "c" else "(const void*)"
        uses = [cast + "(" + use.strip() + ")" for use in split(self.uses)]
        for name in "ab":
            declared = f"const void* use_{name}(int i);\n"  # for -Wmissing-prototypes and the like
            files[f"{name}.{self.extension}"] = f'#include "h.h"\n{declared}const void* use_{name}(int i) {{ const void* all[] = {{{", ".join(uses)}}}; return all[i]; }}\n'
        files[f"main.{self.extension}"] = ("const void* use_a(int i);\nconst void* use_b(int i);\n"
                                           f"int main(void) {{ for (int i = 0; i < {len(uses)}; ++i) if (use_a(i) != use_b(i)) return 1 + i; return 0; }}\n")
        driver = {"g++": "gcc", "clang++": "clang"}.get(self.compiler, self.compiler)
        case = Case(self.shape.name, files, " ".join(self.words[2:]), links_with="-lm")
        self.folder.mkdir(parents=True)
        try:
            self.project = Project(case, Lab(self.folder), driver, self.way)
        except AssertionError:
            return False
        return bool(self.project.twice)

    def findings(self):
        return self.project.findings()

    def owner_of(self, finding):
        lines = self.owner.split("\n")
        name = finding["demangled"].split("::")[-1]
        return next((line for line in lines if name in line), lines[0])


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


def fits(shape, compiler):
    return shape.language in ("both", COMPILERS[compiler])


def of_table(folder, compiler, way, standard="", shapes=slice(None)):
    """Every one of the shapes that the compiler takes, in a header of its own."""
    def one(i):
        mutation = Mutation(SHAPES[i], compiler, way, pathlib.Path(folder) / f"{compiler}{way}{i}".replace(" ", ""), standard=standard)
        return judge(mutation.project) if fits(SHAPES[i], compiler) and mutation.write() else Result(failures=[])

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
                return judge(mutation.project)
        return Result(failures=[])

    result = Result(failures=[])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, range(count)):
            result.add(found)
    return result


def of_cases(folder, cases, compiler, way):
    """Every one of the cases, with each diff applied and with --fix."""
    def one(i):
        lab = Lab(pathlib.Path(folder) / f"{compiler}{way}{i}".replace(" ", ""))
        lab.path.mkdir()
        project = Project(cases[i], lab, compiler, way, plain=i % 2 == 0)
        result = judge(project)
        if why := project.judge_fix():
            result.failures.append((why[0], f"{compiler} {way}, {cases[i].name}: --fix\n{why[1]}"))
        return result

    result = Result(failures=[])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, [i for i, case in enumerate(cases) if compiler in case.compilers]):
            result.add(found)
    return result


if __name__ == "__main__":
    from fix_cases import FIX_CASES

    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--standard", default="")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--only", default="", help="a part of the cases' names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for chosen in options.ways.split(","):
            total = Result(failures=[])
            if options.cases:
                for one_compiler in ("gcc", "clang"):
                    if one_compiler in options.compilers.split(","):
                        total.add(of_cases(name, [case for case in FIX_CASES if options.only in case.name], one_compiler, chosen))
            elif options.shapes:
                for one_compiler in options.compilers.split(","):
                    total.add(of_table(name, one_compiler, chosen, options.standard))
            else:
                total = of_installed(pathlib.Path(name) / chosen.replace(" ", ""), options.seed, options.count, [chosen])
            print(chosen, total, flush=True)
            for kind, failure in total.failures:
                print(f"== {kind}: {failure}", file=sys.stderr)
