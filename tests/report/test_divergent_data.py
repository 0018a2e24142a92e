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
