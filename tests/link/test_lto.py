"""Objects that hold code for link-time optimisation, GCC's and LLVM's: their tables of symbols against gcc-nm and llvm-nm, and
links of them against every linker with its plugin."""

import concurrent.futures
import os
import random
import re
import shutil

import pytest

from elfaudit_test import campaign, need

need("gcc", "g++", "gcc-nm", "ld.bfd")

LINKS = campaign(2)  # random ones, of each linker
EVERY = max(5 // campaign(1), 1)  # pair of definitions

# The driver that links, its option, and what else must be installed.
LINKERS = {
    "bfd": ("gcc", "-fuse-ld=bfd", "ld.bfd"),
    "gold": ("gcc", "-fuse-ld=gold", "ld.gold"),
    "mold": ("gcc", "-fuse-ld=mold", "mold"),
    "mold+llvm": ("clang-19", "-fuse-ld=mold", "mold"),
    "lld14": ("clang-14", "-fuse-ld=lld", "ld.lld-14"),
    "lld19": ("clang-19", "--ld-path=/usr/bin/ld.lld-19", "clang-19"),
    "bfd+llvm": ("clang-19", "-fuse-ld=bfd", "clang-19"),
}
FAT = "gcc -flto -ffat-lto-objects -O1 -w"
EVERY_LINKER = pytest.mark.parametrize("linker", [
    pytest.param(name, marks=pytest.mark.skipif(not (shutil.which(needed) and shutil.which(driver)), reason=f"needs {driver} and {needed}"))
    for name, (driver, _, needed) in LINKERS.items()
])

# ---- The tables

SOURCES = {
    "kinds.c": "int d = 1; int b; static int s = 2; extern int e; __attribute__((weak)) int w = 3; extern __attribute__((weak)) int u;"
               "int f(void) { return d + b + s + e + (&u != 0) + w; } __attribute__((weak)) void g(void) {} const int c = 5;",
    "common.c": "int c[25]; double d; __attribute__((visibility(\"hidden\"))) int h; int use(void) { return c[1] + (int)d + h; }",
    "thread.c": "__thread int t = 1; extern __thread int o; int use(void) { return t + o; }",
    "calls.c": "#include <stdio.h>\n#include <stdlib.h>\nint use(int n) { void *p = malloc(n); printf(\"%p\", p); free(p); return n; }",
    "alias.c": "int v = 1; extern int a __attribute__((alias(\"v\"))); int f(void) { return 1; } int g(void) __attribute__((alias(\"f\")));",
    "label.c": "int f(int) __asm__(\"other_name\"); int f(int x) { return x; } int v __asm__(\"v.with.dot\") = 1;",
    "visible.c": "#define V(x) __attribute__((visibility(#x)))\nV(hidden) int h = 1; V(protected) int p = 2; V(internal) int i = 3;"
                 "extern V(hidden) int n; int use(void) { return h + p + i + n; }",
    "section.c": "__attribute__((section(\"mine\"))) int m = 1; __attribute__((constructor)) void start(void) {} int z;",
    "inline.cpp": "#include <vector>\n#include <string>\ninline int iv = 3; template <class T> T tv = T(); inline int f(int x) { static int n; return n += x; }"
                  "int use(const std::vector<std::string>& v) { return f((int)v.size()) + iv + tv<int>; }",
    "class.cpp": "struct A { virtual ~A(); virtual int f() { return 1; } static int s; }; A::~A() {} int A::s = 4; thread_local int t = A::s;"
                 "int use() { try { return t; } catch (...) { throw; } }",
}
COMPILERS = {
    "gcc -flto -O0 -fcommon": "gcc-nm", "gcc -flto -O2 -fPIC": "gcc-nm", "gcc -flto -O2 -flto-compression-level=0": "gcc-nm",
    "clang-14 -flto -O0 -fcommon": "llvm-nm-14", "clang-14 -flto=thin -O2": "llvm-nm-14",
    "clang-19 -flto -O2 -fPIC": "llvm-nm-19", "clang-19 -flto=thin -O0 -fcommon": "llvm-nm-19",
}


def kind_of(letter):
    """Of nm's letters, what a linker is told."""
    return {"U": "undefined", "w": "weak undefined", "v": "weak undefined", "C": "common"}.get(letter, "weak" if letter in "WVu" else "strong")


@pytest.mark.deep
@pytest.mark.parametrize("compiler", COMPILERS)
def test_tables_are_what_nm_prints(lab, compiler):
    driver, *flags = compiler.split()
    need(driver, COMPILERS[compiler])
    for name, text in SOURCES.items():
        lab.write(name, text)
        cxx = driver.replace("gcc", "g++").replace("clang", "clang++") if name.endswith("pp") else driver
        lab.sh(f"{cxx} {' '.join(flags)} -w -std={'c++17' if name.endswith('pp') else 'gnu17'} -c {name} -o {name}.o")
        plugin = f"--plugin {lab.sh('gcc -print-file-name=liblto_plugin.so').out.strip()}" if driver == "gcc" else ""
        expected = {m[2]: kind_of(m[1]) for m in re.finditer(r"^\S* +([A-Zvwu]) (\S+)$", lab.sh(f"{COMPILERS[compiler]} {plugin} {name}.o").out, re.M)}
        found = {}
        for row in lab.audit("list", "symbols", "--format", "json", f"{name}.o").json()["symbols"]:
            weak = row["binding"] == "weak"
            found[row["name"]] = ("weak " if weak else "") + "undefined" if not row["defined"] else "common" if row["placement"] == "common" else "weak" if weak else "strong"
        assert found == expected, name


# ---- Every ordered pair of definitions, with and without

KINDS = {
    "strong": "int s = {v};",
    "weak": "__attribute__((weak)) int s = {v};",
    "common": "int s;",
    "comdat": 'extern "C" {{ inline __attribute__((used)) int s = {v}; }}',
    "function": "int s(void) {{ return {v}; }}",
}
START = 'extern int s; void _start(void) { __asm__ volatile("syscall" : : "a"(60), "D"(s)); }'


def one_side(driver, kind, lto, side):
    """Name, source text and compile command of a definition."""
    cxx = kind == "comdat"
    compiler = driver.replace("gcc", "g++").replace("clang", "clang++") if cxx else driver
    name = f"{driver}-{kind}-{'L' if lto else 'E'}-{side}"
    flags = f"{'-flto' if lto else ''} -O1 -fcommon -fno-pie -w {'-std=c++17' if cxx else ''}"
    return name + (".cpp" if cxx else ".c"), KINDS[kind].format(v=11 if side == "A" else 22), f"{compiler} {flags}"


def judged(lab, command):
    """Exit codes and duplicates, of the linker and of elfaudit. mold and lld print only these where there are any."""
    real = lab.sh(command, check=False)
    text = real.err + real.out
    if "terminated with signal" in text:  # GNU ld, where it reads archives again after the compiler has run
        return None, None, text
    twice = set(re.findall(r"(?:multiple definition of [`']|duplicate symbol: (?:\S+: \S+: )?|error: ‘)([^'’\s]+)(?!.* redeclared as)", text))
    ours = lab.audit("check", "--format", "json", "--", *command.split())
    return (real.code != 0, twice), (ours.code != 0, {one["symbol"] for one in ours.json()["duplicates"]}), text


@pytest.mark.deep
@EVERY_LINKER
def test_every_pair(lab, linker):
    driver, option, _ = LINKERS[linker]
    lab.write("start.c", START)
    lab.sh(f"{driver} -O1 -fno-pie -c start.c -o start.o")
    sides = [(kind, lto) for lto in (True, False) for kind in KINDS]
    for kind, lto in sides:
        for side in "AB":
            name, text, command = one_side(driver, kind, lto, side)
            lab.write(name, text)
            lab.sh(f"{command} -c {name} -o {name}.o")
    pairs = [(a, b) for a in sides for b in sides if a[1] or b[1]][list(LINKERS).index(linker) % EVERY::EVERY]

    def compare(pair):
        (a, in_a), (b, in_b) = pair
        files = " ".join(f"{one_side(driver, kind, lto, side)[0]}.o" for kind, lto, side in ((a, in_a, "A"), (b, in_b, "B")))
        return files, *judged(lab, f"{driver} {option} -flto -O1 -no-pie -nostdlib -static start.o {files} -o {files.replace(' ', '+')}.out")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [f"{files}: linker {theirs}, elfaudit {ours}: {text[:300]}" for files, theirs, ours, text in pool.map(compare, pairs) if theirs != ours]
    assert not wrong, f"{len(wrong)} of {len(pairs)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("files", ["bytecode.o group.o", "group.o bytecode.o"])
@EVERY_LINKER
def test_a_group_that_is_in_bytecode_too(lab, linker, files):
    """Only mold keeps the object's, wherever it stands."""
    driver, option, _ = LINKERS[linker]
    lab.write("bytecode.cpp", "inline __attribute__((used)) int v = 1;\n")
    lab.write("group.s", '.globl inner, main\n.section .text.inner,"axG",@progbits,v,comdat\ninner: ret\n'
              ".text\nmain: call inner\nxor %eax, %eax\nret\n.section .note.GNU-stack\n")
    lab.sh(f"{driver} -flto -O1 -std=c++17 -c bytecode.cpp -o bytecode.o; gcc -c group.s -o group.o")
    command = f"{driver} {option} -flto -O1 {files} -o out"
    theirs, ours = lab.sh(command, check=False), lab.audit("check", "--", *command.split())
    if "Assertion" in theirs.err:
        pytest.skip("mold 1.10 has no answer where LLVM keeps what is lost")
    assert (theirs.code == 0) == (ours.code == 0), (theirs, ours)


COPIES = {
    "function": ("template <class T> struct S { static __attribute__((noinline)) int v() { return K; } };\nint F() { return S<int>::v(); }\n", "_ZN1SIiE1vEv"),
    "variable": ("inline int v = K;\nint *volatile F##_p = &v;\nint F() { return v; }\n", "v"),
}


@pytest.mark.deep
@pytest.mark.parametrize("order", ["one.o two.o", "two.o one.o"])
@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("linker", ["mold", "mold+llvm"])
def test_which_copy_of_a_group_mold_keeps(lab, linker, kind, order):
    """Of one object with code for link-time optimisation and one without: the program returns which."""
    need("mold", LINKERS[linker][0])
    driver, option, _ = LINKERS[linker]
    text, symbol = COPIES[kind]
    lab.write("main.cpp", "int one(), two(); int main() { return one() * 16 + two(); }")
    for name, value, flags in (("one", 1, "-flto"), ("two", 2, "")):
        lab.write(f"{name}.cpp", text.replace("F##_p", name + "_p").replace("F()", name + "()").replace("K", str(value)))
        lab.sh(f"{driver} -O1 -std=c++17 {flags} -c {name}.cpp")
    command = f"{driver} {option} -flto -O1 main.cpp {order} -lstdc++ -o out"
    lab.sh(f"{driver} -c main.cpp && {command.replace('main.cpp', 'main.o')}")
    value = lab.sh("./out", check=False).code
    kept = re.search(r"^  kept +(\S+)$", lab.audit("explain", symbol, "--", *command.replace("main.cpp", "main.o").split()).out, re.M)
    assert kept and {17: "one.o", 34: "two.o"}[value] == kept[1], value


@EVERY_LINKER
def test_a_hidden_definition_that_a_library_needs(lab, linker):
    """GNU ld refuses it in an object; in bytecode it becomes a local symbol first."""
    driver, option, _ = LINKERS[linker]
    lab.write("hidden.c", "int (*p)(int); int foo(int x) { return x + 1; } void bar(void); int main(int n) { p = foo; bar(); return p(n); }")
    lab.write("bar.c", "int foo(int); int bar(void) { return foo(1); }")
    lab.write("foo.c", "int foo(int x) { return x; }")
    lab.sh(f"{driver} -flto -O1 -fvisibility=hidden -c hidden.c -o hidden.o")
    lab.sh("for name in foo bar; do gcc -shared -fPIC -nostdlib $name.c -o lib$name.so; done")
    for libraries in ("libbar.so", "libbar.so libfoo.so"):
        command = f"{driver} {option} -flto -O1 hidden.o {libraries} -o out"
        theirs, ours = lab.sh(command, check=False), lab.audit("check", "--", *command.split())
        assert (theirs.code == 0) == (ours.code == 0), (theirs, ours)


@pytest.mark.deep
@EVERY_LINKER
def test_a_library_before_the_object_that_needs_it(lab, linker):
    """GNU ld looks through what is behind the first bytecode again."""
    driver, option, _ = LINKERS[linker]
    archiver = "gcc-ar" if driver == "gcc" else driver.replace("clang", "llvm-ar")
    lab.write("foo.c", "int foo(void) { return 1; }")
    lab.write("g.c", "int foo(void); int g(void) { return foo(); }")
    lab.write("main.c", "int g(void); int main(void) { return g(); }")
    lab.sh("gcc -c foo.c -o foo.o; gcc -c g.c -o g.o; gcc -c main.c -o plain.o; ar rcs libfoo.a foo.o; gcc -shared -fPIC foo.c -o libfoo.so")
    lab.sh(f"{driver} -flto -c main.c -o main.o; {driver} -flto -c main.c -o member.o; {archiver} rcs libmain.a member.o")
    for library in ("libfoo.a", "-Wl,--as-needed libfoo.so"):
        for files in (f"main.o {library} g.o", f"{library} main.o g.o", f"plain.o {library} g.o", f"{library} libmain.a g.o", f"libmain.a {library} g.o"):
            command = f"{driver} {option} -flto {files} -o out"
            theirs, ours = lab.sh(command, check=False), lab.audit("check", "--", *command.split())
            assert (theirs.code == 0) == (ours.code == 0), (command, theirs, ours)


# ---- Random links

NAMES = [f"n{i}" for i in range(9)]


def random_source(chance, used):
    """A C file: each name defined in some way, used or left alone, and a function of its own that the program calls."""
    lines = [f"int keep_{used}(void) {{ int r = 0;"]
    before = []
    for name in NAMES:
        way = chance.choices(["use", "strong", "weak", "common", "hidden use", "none"], [4, 1.2, 1.5, 1, 0.3, 6])[0]
        if way == "strong":
            before.append(f"int {name} = {chance.randint(1, 9)};")
        elif way == "weak":
            before.append(f"__attribute__((weak)) int {name} = {chance.randint(1, 9)};")
        elif way == "common":
            before.append(f"int {name};")
        elif "use" in way:
            before.append(f"extern int {name};")
            lines.append(f"r += {name};")
    return "\n".join(before + lines + ["return r; }"])


def random_link(lab, linker, seed):
    """Some objects, some with code for link-time optimisation and some in archives; every name is defined somewhere."""
    driver, option, _ = LINKERS[linker]
    archiver = "gcc-ar" if driver == "gcc" else driver.replace("clang", "llvm-ar")
    chance = random.Random(f"{linker} {seed}")
    words, calls, archive = [], [], []
    for number in range(chance.randint(2, 5)):
        name = f"{seed}_{number}"
        lto = chance.random() < 0.6
        lab.write(f"{name}.c", random_source(chance, name))
        lab.sh(f"{driver} {'-flto' if lto else ''} -O1 -fcommon -fPIC -w -c {name}.c -o {name}.o")
        if chance.random() < 0.35:
            archive.append(f"{name}.o")
            if chance.random() < 0.5:
                calls.append(name)
        else:
            words.append(f"{name}.o")
            calls.append(name)
    lab.write(f"{seed}_main.c", "".join(f"int keep_{call}(void);" for call in calls)
              + "int main(void) { return " + "+".join([f"keep_{call}()" for call in calls] or ["0"]) + "; }")
    lab.sh(f"{driver} {'-flto' if chance.random() < 0.5 else ''} -O1 -fPIC -w -c {seed}_main.c -o {seed}_main.o")
    if archive:
        lab.sh(f"{archiver} rcs {seed}.a {' '.join(archive)}")
        words.append(f"{seed}.a")
    lab.write(f"{seed}_rest.c", "".join(f"__attribute__((weak)) int {name};" for name in NAMES))
    lab.sh(f"{driver} {'-flto' if chance.random() < 0.5 else ''} -O1 -fPIC -w -c {seed}_rest.c -o {seed}_rest.o")
    chance.shuffle(words)
    return f"{driver} {option} -flto -O1 {seed}_main.o {' '.join(words)} {seed}_rest.o -o {seed}.out"


@pytest.mark.deep
@EVERY_LINKER
def test_random_links(lab, linker):
    def compare(seed):
        command = random_link(lab, linker, seed)
        return command, *judged(lab, command)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [f"{command}: linker {theirs}, elfaudit {ours}: {text[:400]}" for command, theirs, ours, text in pool.map(compare, range(LINKS)) if theirs != ours]
    assert not wrong, f"{len(wrong)} of {LINKS}:\n" + "\n".join(wrong)


# ---- What is said of such objects

def test_debug_info_of_bytecode(lab):
    """GCC keeps it beside the bytecode, without addresses."""
    lab.write("h.h", "\n\nnamespace n { int state = 1; inline int twice(int x) { return 2 * x; } }\n")
    lab.cc("a.o", '#include "h.h"\nint main() { return n::state; }', "g++ -flto -g")
    lab.cc("b.o", '#include "h.h"\nint other() { return n::twice(n::state); }', "g++ -flto -g")
    for objects in (["a.o", "b.o"], ["--", "g++", "-flto", "a.o", "b.o", "-o", "a"]):
        result = lab.audit("check", *objects)
        assert result.code == 1 and result.out.count("h.h:3  (debug info)") == 2 and result.out.count("GCC's bytecode") == 2, result


def test_a_build_with_fat_objects_and_links_of_both_kinds(lab):
    """What a file is read as depends on the link."""
    lab.cc("fat.o", "int missing(void); int unused(void) { return missing(); } int main(void) { return 0; }", FAT)
    lab.write("build.ninja", "rule l\n command = gcc $f fat.o -o $out\nbuild with: l | fat.o\n f = -flto\nbuild without: l | fat.o\n f = -fno-lto\n")
    lab.sh("ninja with", check=False)
    result = lab.audit("check", "-p", ".")
    assert result.code == 1 and re.search(r"^error: missing .*\n(  .*\n)*  link      without$", result.out, re.M), result
    assert re.search(r"^warning: missing .*\n(  .*\n)*  link      with$", result.out, re.M), result


# What refers to b(), which nothing defines. With -O0 GCC drops none of it; else whether it stays is not known.
REFERRING = {
    "live": "void b(void); int main(void) { b(); return 0; }",
    "unused function": "void b(void); void unused(void) { b(); } int main(void) { return 0; }",
    "false condition": "void b(void); static int flag; int main(void) { if (flag) b(); return 0; }",
    "data": "extern int b; int *p = &b; int main(void) { return 0; }",
}


@pytest.mark.parametrize("compiler", ["gcc -O0", "gcc", "gcc -O2", "gcc -O2 -O0", "clang -O0"])
def test_a_name_that_only_this_code_needs(lab, compiler):
    driver = compiler.split()[0]
    need(driver, "ld.lld" if driver == "clang" else "gcc")
    option = "-fuse-ld=lld" if driver == "clang" else ""
    sure = driver == "gcc" and not compiler.endswith("-O2")
    for number, source in enumerate(REFERRING.values()):
        lab.cc(f"{number}.o", source, f"{compiler} -flto")
        command = f"{driver} -flto {option} {number}.o -o out"
        code = lab.sh(command, check=False).code
        result = lab.audit("check", "--", *command.split())
        if sure:
            assert code == 1 and result.code == 1 and "error: b is not defined by any input" in result.out, result
            continue
        assert result.code == 0 and "warning: b is not defined by any input, and the link fails if link-time" in result.out, result
        assert "; not judged: whether link-time optimisation keeps the code that needs b" in result.out, result


def test_a_definition_that_another_one_replaces_is_dropped(lab):
    """And what it refers to with it, of unoptimised code too."""
    lab.cc("a.o", "void b(void); __attribute__((weak)) void f(void) { b(); } int main(void) { f(); return 0; }", "gcc -O0 -flto")
    lab.cc("f.o", "void f(void) {}", "gcc")
    assert lab.sh("gcc a.o f.o -o a", check=False).code == 0
    assert lab.audit("check", "--", "gcc", "a.o", "f.o", "-o", "a").code == 0


SYMVER = '__asm__(".symver f1, f@@V1"); '
# Source, option of the compiler, version script. GCC drops f1 where nothing that is exported may need it.
DEFAULT_VERSIONS = {
    "alone": (SYMVER + "int f1(void) { return 1; }", "-O2", "V1 { global: f; local: *; };", True),
    "a variable": (SYMVER + "int f1 = 1; int other(void) { return f1; }", "-O2", "V1 { global: f; local: *; };", True),
    "no node": (SYMVER + "int f1(void) { return 1; }", "-O2", "V2 { global: f1; };", True),
    "exported itself": (SYMVER + "int f1(void) { return 1; }", "-O2", "V1 { global: f; f1; local: *; };", False),
    "used": (SYMVER + "__attribute__((used)) int f1(void) { return 1; }", "-O2", "V1 { global: f; local: *; };", False),
    "unoptimised": (SYMVER + "int f1(void) { return 1; }", "-O0", "V1 { global: f; local: *; };", False),
    "needed": (SYMVER + "__attribute__((noinline)) int f1(int x) { __asm__ volatile(\"\"); return x; } int api(int x) { return f1(x); }",
               "-O2", "V1 { global: f; api; local: *; };", False),
}


@pytest.mark.parametrize("source, option, script, fails", DEFAULT_VERSIONS.values(), ids=list(DEFAULT_VERSIONS))
def test_a_default_version_that_assembly_gives(lab, source, option, script, fails):
    lab.write("v.map", script)
    lab.cc("a.o", source, f"gcc {option} -flto -fPIC")
    command = "gcc -flto -shared a.o -Wl,--version-script=v.map -o a.so"
    assert (lab.sh(command, check=False).code != 0) == fails
    result = lab.audit("check", "--", *command.split())
    assert result.code == fails and ("[version-not-defined]" in result.out) == fails, result
    assert "assembly in code for link-time optimisation (a.o)" in result.out, result


# Source and whether its assembly may make a link fail that has nothing wrong in its tables.
ASSEMBLY = {
    "default version": ('__asm__(".symver f1, f@@V1"); int f1(void) { return 1; }', True),
    "definition": ('__asm__(".text\\n.globl entry\\nentry: ret"); void entry(void); int f(void) { entry(); return 1; }', True),
    "reference": ('int f(void) { return 1; } __asm__(".data\\n.quad f");', True),
    "exported label": ('int f(int x) { __asm__ volatile(".globl l\\nl: nop"); return x; }', True),
    "label of a loop": ('int f(int x) { __asm__ volatile("again: nop\\n\\tjmp again"); return x; }', True),
    "version of a reference": ('__asm__(".symver memcpy, memcpy@GLIBC_2.2.5"); int f(void) { return 1; }', False),
    "section": ('__asm__(".section .note.x,\\"a\\"\\n.string \\"a: b\\"\\n.text"); int f(void) { return 1; }', False),
    "numbered label": ('int f(int x) { __asm__ volatile("1: nop\\n\\tjmp 1b"); return x; }', False),
    "texts": ('int puts(const char *); int f(int x) { return puts("usage: f x\\noptions: none") + puts("f: error"); }', False),
}


@pytest.mark.parametrize("compiler", ["gcc", "gcc -flto-compression-level=0", "clang"])
def test_assembly_in_this_code(lab, compiler):
    """LLVM lists what assembly outside of functions is about, so that the tables say all of that."""
    need(compiler.split()[0])
    for number, (case, (source, may_fail)) in enumerate(ASSEMBLY.items()):
        lab.cc(f"{number}.o", source, f"{compiler} -O2 -flto -fPIC")
        linker = "-fuse-ld=lld" if compiler == "clang" else ""
        lab.write("v.map", "V1 { };")
        result = lab.audit("check", "--", compiler.split()[0], *linker.split(), "-flto", "-shared", f"{number}.o", "-Wl,--version-script=v.map", "-o", "a.so")
        said = f"not judged: assembly in code for link-time optimisation ({number}.o)" in result.out
        assert said == (may_fail and (compiler != "clang" or "label" in case)), (case, result)
        assert result.code == 0 and "entry" not in result.out, (case, result)


def test_a_name_that_an_object_needs_too_is_an_error(lab):
    lab.cc("a.o", "int missing(void); int main(void) { return missing(); }", "gcc -O2 -flto")
    lab.cc("b.o", "int missing(void); int other(void) { return missing(); }", "gcc -O2")
    result = lab.audit("check", "--", "gcc", "a.o", "b.o", "-o", "a")
    assert result.code == 1 and "error: missing is not defined by any input" in result.out


@pytest.mark.parametrize("options, code", [("-flto", 0), ("", 0), ("-fno-lto", 1), ("-fno-use-linker-plugin -fno-lto", 1)])
def test_the_half_of_a_fat_object_that_the_link_reads(lab, options, code):
    """The code of a fat object that no one calls refers to what nothing defines."""
    lab.cc("fat.o", "int missing(void); int unused(void) { return missing(); } int main(void) { return 0; }", FAT)
    command = f"gcc {options} fat.o -o fat"
    assert lab.sh(command, check=False).code == code
    assert lab.audit("check", "--", *command.split()).code == code


@pytest.mark.parametrize("linker, code", [("bfd", 0), ("gold", 0), ("lld", 0), ("mold", 1)])
def test_bytecode_that_no_plugin_reads(lab, linker, code):
    """To most linkers it is an empty object."""
    need(f"ld.{linker}")
    lab.cc("slim.o", "int main(void) { return 0; }", "gcc -flto")
    command = f"ld.{linker} slim.o -o slim"
    assert (lab.sh(command, check=False).code != 0) == (code != 0)
    result = lab.audit("check", "--", *command.split())
    assert result.code == code and "slim.o: holds GCC's bytecode alone" in result.out, result


def test_bytecode_that_was_stripped(lab):
    """What it defined is not known any more."""
    lab.cc("a.o", "int main(void) { return 0; }", "gcc -flto")
    lab.sh("objcopy --remove-section='.gnu.lto_*' a.o")
    result = lab.audit("check", "a.o")
    assert result.code == 2 and "a.o: is marked as GCC's bytecode alone (__gnu_lto_slim), and has none" in result.out, result


def test_bitcode_that_no_plugin_reads(lab):
    need("clang")
    lab.cc("a.o", "int main(void) { return 0; }", "clang -flto")
    assert lab.sh("ld.bfd a.o -o a", check=False).code != 0
    result = lab.audit("check", "--", "ld.bfd", "a.o", "-o", "a")
    assert result.code == 1 and "a.o: is LLVM bitcode, and GNU ld has no plugin that reads it" in result.out, result


def test_the_place_of_what_bitcode_defines(lab):
    """Its debug info is part of the code: the depfile and the sources say it."""
    need("clang")
    lab.cc("a.o", "int x = 1;", "clang -flto -g -MD")
    lab.cc("b.o", "int x = 1;", "clang -flto -g")
    result = lab.audit("check", "a.o", "b.o")
    assert "a.c:1  (depfile + source scan)" in result.out and "the debug info of LLVM bitcode is not read" in result.out, result


def test_bitcode_names_the_machine(lab):
    """Of a link of nothing else; lld takes it from an archive's member too."""
    need("clang", "ld.lld", "llvm-ar-14")
    lab.cc("a.o", "int x = 1;", "clang -flto -fPIC")
    lab.sh("llvm-ar-14 rcs liba.a a.o")
    for command in ("ld.lld -shared a.o -o a.so", "ld.lld -shared --whole-archive liba.a -o a.so"):
        assert lab.sh(command, check=False).code == 0
        result = lab.audit("check", "--", *command.split())
        assert result.code == 0, result


def test_bitcode_that_the_link_does_not_read(lab):
    """What is wrong with it is nothing to a link of the ordinary code."""
    need("clang-19", "ld.lld-19")
    lab.cc("a.o", "int x = 1;", "clang-19 -flto -ffat-lto-objects -fPIC")
    lab.sh("printf damaged > odd; objcopy --update-section .llvm.lto=odd a.o")
    assert lab.sh("ld.lld-19 -shared a.o -o a.so", check=False).code == 0
    assert lab.audit("check", "--", "ld.lld-19", "-shared", "a.o", "-o", "a.so").code == 0
    assert lab.audit("check", "--", "ld.lld-19", "--fat-lto-objects", "-shared", "a.o", "-o", "a.so").code == 2


def test_bitcode_of_a_later_llvm(lab):
    need("clang-14", "clang-19", "ld.lld-14")
    lab.cc("a.o", "int *p; int main(void) { return *p; }", "clang-19 -flto -O1")
    command = "clang-14 -fuse-ld=lld a.o -o a"
    assert lab.sh(command, check=False).code != 0
    result = lab.audit("check", "--", *command.split())
    assert result.code == 1 and "a.o: holds bitcode of LLVM 19, which LLVM 14 can't read" in result.out, result


def test_an_archive_made_without_the_plugin(lab):
    lab.cc("x.o", "int x(void) { return 1; }", "gcc -flto")
    lab.cc("m.o", "int x(void); int main(void) { return x(); }", "gcc")
    lab.sh("ar --plugin /nonexistent.so rcs libx.a x.o; gcc-ar rcs liby.a x.o", check=False)
    assert lab.sh("gcc m.o libx.a -o m", check=False).code == 1
    result = lab.audit("check", "--", "gcc", "m.o", "libx.a", "-o", "m")
    assert result.code == 1 and "make it with gcc-ar in place of ar" in result.out, result
    assert lab.audit("check", "--", "gcc", "m.o", "liby.a", "-o", "m").code == 0


def test_a_thread_local_variable_of_bytecode(lab):
    """GCC's table calls it a variable."""
    lab.cc("a.o", "__thread int t = 1;", "gcc -flto")
    lab.cc("b.o", "extern __thread int t; int main(void) { return t; }", "gcc")
    assert lab.sh("gcc a.o b.o -o a", check=False).code == 0
    assert lab.audit("check", "--", "gcc", "a.o", "b.o", "-o", "a").code == 0


def test_what_bytecode_uses_is_kept(lab):
    """used() needs what nothing defines, and only bytecode calls it."""
    lab.cc("a.o", "int used(void); int main(void) { return used(); }", "gcc -flto -O1")
    lab.cc("b.o", "int missing(void); int used(void) { return missing(); }", "gcc -O1 -ffunction-sections")
    command = "gcc -Wl,--gc-sections a.o b.o -o a"
    assert lab.sh(command, check=False).code == 1
    assert lab.audit("check", "--", *command.split()).code == 1


@pytest.mark.parametrize("cut", range(0, 3000, 485 // campaign(1)))
def test_damaged_bytecode_is_an_error_or_read(lab, cut):
    """Whatever is cut off or overwritten, the file is named, and what is unread is no success."""
    for compiler in ["gcc -flto"] + (["clang -flto"] if shutil.which("clang") else []):
        lab.cc("a.o", "int x = 1; inline int f(void) { return x; } int main(void) { return f(); }", compiler)
        whole = (lab.path / "a.o").read_bytes()
        (lab.path / "cut.o").write_bytes(whole[:min(cut, len(whole) - 1)])
        assert lab.audit("check", "cut.o").code == 2
        (lab.path / "odd.o").write_bytes(whole[:cut] + b"\xff" * 8 + whole[cut + 8:])
        lab.audit("check", "odd.o")


@pytest.mark.parametrize("command", ["g++ -fuse-ld=lld", "g++ -fno-use-linker-plugin -fno-lto"])
def test_what_bytecode_that_is_not_read_defines(lab, command):
    need("ld.lld")
    lab.cc("main.o", "int f(); int main() { return f(); }", "g++ -flto")
    lab.ar("libf.a", lab.cc("f.o", "int f() { return 1; }", "g++ -flto"))
    lab.cc("g.o", "int f(); int g() { return f(); }", "g++")
    link = [*command.split(), "g.o", "main.o", "f.o", "-o", "app"]
    assert lab.sh(" ".join(link), check=False).code == 1
    causes = {finding["symbol"]: finding["cause"]["text"] for finding in lab.audit("check", "--format", "json", "--", *link).json()["findings"] if finding["symbol"]}
    assert {name: text.split(" defines it in GCC's bytecode alone (-flto)")[0] for name, text in causes.items()} == {"main": "main.o", "_Z1fv": "f.o"}
    lab.sh("g++ -fuse-ld=bfd -flto g.o main.o f.o -o app")
