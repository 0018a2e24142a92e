"""divergent-definition without debug info: definitions of data that the linker merges and that differ in size or memory."""

import pytest

from elfaudit_test import need

RULE = "divergent-definition"


def divergent(lab, *arguments):
    report = lab.audit("check", "--format", "json", *arguments).json()
    return [finding for finding in report["findings"] if finding["rule"] == RULE]


def two(lab, a, b, command="g++"):
    lab.cc("a.o", a, command)
    lab.cc("b.o", b, command)
    return divergent(lab, "a.o", "b.o")


# Each: what a.o and b.o hold, with N for what differs; the name; the sizes.
KINDS = {
    "inline variable": ("inline char table[N]; char *f%s() { return table; }", "table", 16, 32),
    "template's static": (
        "template <class T> struct S { static char v[N]; }; template <class T> char S<T>::v[N]; char *f%s() { return S<int>::v; }",
        "S<int>::v",
        16,
        32,
    ),
    "function-local static": ("inline char *g() { static char v[N]; return v; } char *f%s() { return g(); }", "g()::v", 16, 32),
    "weak": ("__attribute__((weak)) char table[N] = {1}; char *f%s() { return table; }", "table", 16, 32),
    "vtable": (
        "struct S { virtual ~S() {} M }; S *f%s() { return new S; }",
        "vtable for S",
        "",
        "virtual void more() {}",
    ),
    "thread-local": ("inline thread_local char table[N]; char *f%s() { return table; }", "table", 16, 32),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_of_merged_data(lab, kind):
    source, name, first, second = KINDS[kind]
    made = [source.replace("N", str(value)).replace("M", str(value)) % letter for letter, value in (("a", first), ("b", second))]
    found = two(lab, *made)
    assert [finding["demangled"] for finding in found] == [name]
    assert found[0]["severity"] == "warning" and [site["input"] for site in found[0]["sites"]] == ["a.o", "b.o"]
    same = [source.replace("N", "16").replace("M", "") % letter for letter in "ab"]
    assert two(lab, *same) == []


@pytest.mark.parametrize("line", [["a.o", "b.o"], ["b.o", "a.o"], ["--", "g++", "-nostartfiles", "a.o", "b.o"]], ids=" ".join)
def test_a_strong_definition_in_place_of_a_weak_one(lab, line):
    lab.cc("a.o", "char table[32] = {1};")
    for size, found in ((16, ["table"]), (32, [])):
        lab.cc("b.o", f"__attribute__((weak)) char table[{size}] = {{1}};")
        assert [finding["symbol"] for finding in divergent(lab, *line)] == found


@pytest.mark.parametrize("first, second, differ", [(40_000, 40_000, False), (40_000, 50_000, True), (16, 32_768 + 16, True)])
def test_sizes_that_are_large(lab, first, second, differ):
    source = "inline char table[%d]; char *%s() { return table; }"
    assert bool(two(lab, source % (first, "a"), source % (second, "b"))) == differ


def test_tentative_definitions(lab):
    found = two(lab, "char buffer[16];", "char buffer[32]; char *f(void) { return buffer; }", "gcc -fcommon")
    assert [finding["message"] for finding in found] == ["buffer has 32 bytes in b.o and 16 in a.o"]


def test_constant_against_writable(lab):
    found = two(lab, "extern const int level __attribute__((weak)); const int level = 3;", "__attribute__((weak)) int level = 4;")
    assert [finding["message"] for finding in found] == ["level is constant in a.o and writable in b.o"]


def test_constants_that_hold_addresses_are_constants_with_and_without_pic(lab):
    source = "extern int x; inline int *const table[] = {&x}; int *const *f%s() { return table; }"
    lab.cc("a.o", source % "a", "g++ -fPIC")
    lab.cc("b.o", source % "b", "g++ -fno-pic")
    assert divergent(lab, "a.o", "b.o") == []


def test_what_a_duplicate_definition_says_is_not_said_again(lab):
    assert two(lab, "char table[16];", "char table[32];", "gcc -fno-common") == []


def test_in_a_link_command_with_an_archive(lab):
    lab.cc("main.o", "inline char table[16]; char *f(); int main() { return *f() + table[0]; }")
    lab.cc("f.o", "inline char table[32]; char *f() { return table; }")
    lab.ar("libf.a", "f.o")
    for line in (["main.o", "f.o"], ["main.o", "libf.a"]):
        found = divergent(lab, "--", "g++", *line, "-o", "app")
        assert [finding["symbol"] for finding in found] == ["table"], line
        assert "reaches past its end" in found[0]["notes"][0]
    lab.cc("other.o", "inline char table[32]; char *g() { return table; }")
    lab.ar("libother.a", "other.o")
    lab.cc("main.o", "inline char table[16]; int main() { return table[0]; }")
    assert divergent(lab, "--", "g++", "main.o", "libother.a", "-o", "app") == []


def test_padding_of_address_sanitizer_is_no_difference(lab):
    need("clang++")
    source = "inline char table[17] = {1}; char *f%s() { return table; }"
    lab.cc("a.o", source % "a", "clang++ -std=c++17 -fsanitize=address")
    lab.cc("b.o", source % "b", "clang++ -std=c++17")
    assert divergent(lab, "a.o", "b.o") == []


@pytest.mark.deep
def test_nvccs_lists_of_kernels_may_differ(lab):
    need("nvcc")
    lab.cc("a.o", "__device__ int v; __constant__ int c; __global__ void k() {}", "nvcc -dc -x cu")
    lab.cc("b.o", "__device__ int w[2], x; __constant__ int d, e; __global__ void one() {} __global__ void two() {} static __global__ void three() {}"
           " void start() { three<<<1, 1>>>(); }", "nvcc -dc -x cu")
    assert divergent(lab, "a.o", "b.o") == []


def test_fortrans_blank_common_block_may_differ(lab):
    lab.cc("a.o", ".comm __BLNK__,16,16\n", "as")
    lab.cc("b.o", ".comm __BLNK__,32,16\n", "as")
    assert divergent(lab, "a.o", "b.o") == []


def test_three_objects_are_one_finding(lab):
    source = "inline char table[%d]; char *%s() { return table; }"
    for name, size in (("a", 16), ("b", 32), ("c", 32)):
        lab.cc(f"{name}.o", source % (size, name))
    lab.sh("rm *.cpp")
    (finding,) = divergent(lab, "a.o", "b.o", "c.o")
    assert finding["message"] == "table has 16 bytes in a.o and 32 in b.o"
    assert finding["sites"][1]["notes"] == ["and 1 more object alike"]


def test_one_of_two_links_of_a_build(lab):
    need("ninja")
    for name, size in (("a", 4), ("b", 4), ("c", 8)):
        lab.cc(f"{name}.o", f"struct S {{ static inline char table[{size}] = {{1}}; }};\nchar* {name}() {{ return S::table; }}\n")
    lab.write("main.cpp", "int main() {}\n")
    lab.sh("g++ -c main.cpp")
    lab.write("build.ninja", "rule cxx\n  command = g++ -c $in -o $out\nrule link\n  command = g++ $in -o $out\n"
              "build same: link main.o a.o b.o\nbuild other: link main.o a.o c.o\n")
    lab.sh("ninja")
    [finding] = divergent(lab, "-p", ".")
    assert finding["symbol"] == "_ZN1S5tableE" and finding["links"] == ["other"]


# What b.o holds; does it reach past the end of `int table[8]` and `struct { long a, b; } list[4]`?
REACHES = {
    "read behind the end": ("extern int table[32]; int use() { return table[16]; }", True),
    "written right behind it": ("extern int table[9]; void use(int v) { table[8] = v; }", True),
    "address in data": ("extern int table[32]; int *use = &table[9];", True),
    # Vectorised, clang begins at a place that the loop never reaches.
    "address in code": ("extern int table[32]; int *use() { return &table[16]; }", False),
    "loop over a few": ("extern struct { char a[2]; int b[2]; char c; long d, e[2]; } few[3]; long use(int x) { long sum = x; for (int i = x; i < x + 3 && i < 3; ++i) sum += few[i].e[0]; return sum; }", False),
    "loop over what is declared": ('extern int table[32]; __attribute__((noinline)) void g(int) { asm(""); } void use() { for (int i = 0; i < 32; ++i) g(table[i]); }', True),
    "the last one": ("extern int table[8]; int use() { return table[7]; }", False),
    "its end in data": ("extern int table[8]; int *use = table + 8;", False),
    "its end in code": ("extern int table[8]; int *use() { return table + 8; }", False),
    # g++ counts from &list[0].b to &list[4].b, which is behind the end; clang to 0 from there.
    "loop over a member": ("extern struct { long a, b; } list[4]; long use() { long sum = 0; for (int i = 0; i < 4; ++i) sum += list[i].b; return sum; }", False),
    "loop that calls": ("extern struct { long a, b; } list[4]; void g(long) {} void use() { for (int i = 0; i < 4; ++i) g(list[i].b); }", False),
}
HELD = 'extern "C" { %s }'


@pytest.mark.deep
@pytest.mark.parametrize("compile", ["g++ -O0 -fno-pie", "g++ -O1 -fno-pie", "g++ -O2 -fno-pie", "g++ -O3 -fpie", "clang++ -O0 -fpie", "clang++ -O2 -fno-pie", "clang++ -O3 -fpie", "clang++ -O3 -march=haswell -fno-pie"])
def test_a_reference_past_the_end(lab, compile):
    lab.cc("a.o", HELD % "int table[8] = {1}; struct { long a, b; } list[4] = {{1}}; struct { char a[2]; int b[2]; char c; long d, e[2]; } few[3]; int main() {}", compile)
    pie = compile.split("-f")[1]
    found = {}
    for what, (source, _) in REACHES.items():
        lab.cc("b.o", HELD % source, f"{compile} -fno-unroll-loops")
        found[what] = bool(divergent(lab, "--", "g++", "-pie" if pie == "pie" else "-no-pie", "a.o", "b.o"))
    expected = {what: harm for what, (_, harm) in REACHES.items()}
    if "clang" in compile and pie == "pie":  # through the global offset table, whose entries have no addend
        expected = {what: harm and what == "address in data" for what, harm in expected.items()}
    if compile != "g++ -O2 -fno-pie":  # others compare with no address
        del found["loop over what is declared"], expected["loop over what is declared"]
    assert found == expected


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
@pytest.mark.parametrize("how", ["-no-pie", "-pie", "-shared", "-no-pie -Wl,--gc-sections", "-no-pie libmore.a", "-no-pie --format html"])
def test_a_reference_past_the_end_is_seen_by_every_way_to_read_a_link(lab, linker, how):
    need(f"ld.{linker}" if linker != "mold" else "mold")
    lab.cc("a.o", HELD % "int table[8] __attribute__((visibility(\"hidden\"))) = {1}; int main() {}", "g++ -fpie")
    lab.cc("b.o", HELD % "extern int table[32] __attribute__((visibility(\"hidden\"))); int use() { return table[16]; }", "g++ -fpie -O1")
    lab.cc("c.o", HELD % "int more() { return 1; }")
    lab.cc("d.o", HELD % "int more(); int d() { return more(); }")
    lab.sh("ar rcs libmore.a c.o")
    options, words = ["--format", "html"] if "html" in how else [], how.replace("--format html", "").split()
    run = lab.audit("check", *options, "--", "g++", f"-fuse-ld={linker}", "a.o", "b.o", "d.o", *words, *(["c.o"] if "libmore.a" not in how else []))
    assert "table has 32 bytes in a.o, and b.o refers to byte 64 of it" in run.out and run.code == 0


def test_a_reference_past_the_end_of_what_a_member_or_a_shared_object_defines(lab):
    lab.cc("b.o", HELD % "extern int table[32]; int main() { return table[16]; }", "g++ -fno-pie -O1")
    lab.cc("a.o", HELD % "int table[8] = {1};", "g++ -fPIC")
    lab.sh("ar rcs liba.a a.o && g++ -shared a.o -o liba.so")
    for library, where in (("liba.a", "liba.a(a.o)"), ("liba.so", "liba.so")):
        (finding,) = divergent(lab, "--", "g++", "-no-pie", "b.o", library)
        assert finding["message"] == f"table has 32 bytes in {where}, and b.o refers to byte 64 of it"


def test_a_member_that_reaches_past_the_end(lab):
    lab.cc("b.o", HELD % "extern int table[32]; int use() { return table[16]; }", "g++ -fno-pie -O1")
    lab.cc("a.o", HELD % "int use(); int table[8] = {1}; int main() { return use(); }", "g++ -fno-pie")
    lab.sh("ar rcs libb.a b.o")
    (finding,) = divergent(lab, "--", "g++", "-no-pie", "a.o", "libb.a")
    assert finding["message"] == "table has 32 bytes in a.o, and libb.a(b.o) refers to byte 64 of it"


@pytest.mark.parametrize("target", ["aarch64-linux-gnu", "riscv64-linux-gnu"])
def test_a_reference_past_the_end_for_another_machine(lab, target):
    need(f"{target}-g++")
    lab.cc("a.o", HELD % "int table[8] = {1}; int main() {}", f"{target}-g++ -fno-pie")
    for index, found in ((16, True), (7, False)):
        use = f"int use() {{ return table[{index}]; }}" if "aarch64" in target else f"int *use = &table[{index}];"
        lab.cc("b.o", HELD % f"extern int table[32]; {use}", f"{target}-g++ -O1 -fno-pie")
        assert bool(divergent(lab, "--", f"{target}-g++", "-no-pie", "a.o", "b.o")) == found


def test_a_reference_past_the_end_from_facts_alone(lab):
    lab.cc("a.o", HELD % "int table[8] = {1}; int main() {}", "g++ -fno-pie")
    lab.cc("b.o", HELD % "extern int table[32]; int use() { return table[16]; }", "g++ -O1 -fno-pie")
    command = ("--", "g++", "-no-pie", "a.o", "b.o")
    objects = lab.audit("check", *command).out
    for name in ("a.o", "b.o"):
        lab.audit("index", name, "-o", name + ".facts")
        lab.sh(f"rm {name}")
    facts = lab.audit("check", "--", "g++", "-no-pie", "a.o.facts", "b.o.facts").out
    assert "b.o refers to byte 64 of it" in facts and facts.splitlines()[0] == objects.splitlines()[0]


def test_a_reference_past_the_end_in_one_of_two_links_of_a_build(lab):
    need("ninja")
    lab.cc("a.o", HELD % "int table[8] = {1}; int main() {}", "g++ -fno-pie")
    lab.cc("c.o", HELD % "int table[32] = {1}; int main() {}", "g++ -fno-pie")
    lab.cc("b.o", HELD % "extern int table[32]; int use() { return table[16]; }", "g++ -O1 -fno-pie")
    lab.write("build.ninja", "rule link\n  command = g++ -no-pie $in -o $out\nbuild good: link c.o b.o\nbuild bad: link a.o b.o\n")
    lab.sh("ninja")
    [finding] = divergent(lab, "-p", ".")
    assert finding["symbol"] == "table" and finding["links"] == ["bad"]


def test_where_a_reference_past_the_end_is_written(lab):
    lab.write("b.cpp", "extern int table[32];\nint f() {\n  return table[16];\n}\n")
    lab.cc("a.o", "int table[8] = {1}; int main() {}", "g++ -fno-pie")
    lab.sh("g++ -g -O0 -fno-pie -c b.cpp")
    (finding,) = divergent(lab, "--", "g++", "-no-pie", "a.o", "b.o")
    reference = finding["sites"][1]
    assert (reference["section"], reference["line"], reference["notes"]) == (".text", 3, ["in f()"])
