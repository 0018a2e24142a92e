"""divergent-definition with debug info: types, variables and functions that two objects understand differently."""

import json
import re
import shutil

import pytest

from elfaudit_test import need

RULE = "divergent-definition"

# a.o is made of the first of V(one, other), b.o of the second.
HEAD = """#ifdef B
#define V(a, b) b
#else
#define V(a, b) a
#endif
"""
# One object defines a function that takes S, the other calls it.
USE = "V(void use(S &s) { S t = s; (void)t;, void use(S &); void call() { S s{}; use(s); ) }"
USE_IN_C = "V(void use(struct S *s) { struct S t = *s; (void)t;, void use(struct S *); void call(void) { struct S s; use(&s); ) }"


def compared(lab, source, a="g++ -g", b=None):
    lab.cc("a.o", HEAD + source, a)
    lab.cc("b.o", HEAD + source, (b or a) + " -DB")
    return lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()


def divergent(lab, *arguments):
    return [(f["severity"], f["demangled"], f["message"]) for f in compared(lab, *arguments)["findings"] if f["rule"] == RULE]


# Each: the source, what differs, and the message behind its name.
HARMFUL = {
    "member added": (
        "struct S { int a; V(, int b;) };" + USE,
        "S differs: 'b' (int at offset 4) is in b.o (b.cpp:6) and not in a.o",
    ),
    "member in front": (
        "struct S { V(, long b;) int a; };" + USE,
        "S differs: 'b' (long int at offset 0) is in b.o (b.cpp:6) and not in a.o",
    ),
    "members swapped": (
        "struct S { V(int a; int b;, int b; int a;) };" + USE,
        "S differs: 'a' is int at offset 0 in a.o (a.cpp:6) and int at offset 4 in b.o (b.cpp:6)",
    ),
    "other type, same size": (
        "struct S { V(int, float) a; };" + USE,
        "S differs: 'a' is int at offset 0 in a.o (a.cpp:6) and float at offset 0 in b.o (b.cpp:6)",
    ),
    "pointer and integer": (
        "struct S { V(char *, long) a; };" + USE,
        "S differs: 'a' is char * at offset 0 in a.o (a.cpp:6) and long int at offset 0 in b.o (b.cpp:6)",
    ),
    "through a typedef": (
        "V(typedef int T;, typedef short T;) struct S { T a; };" + USE,
        "S differs: 'a' is T at offset 0 in a.o (a.cpp:6) and T at offset 0 in b.o (b.cpp:6)",
    ),
    "bit field": (
        "struct S { unsigned a : V(3, 5), b : 4; };" + USE,
        "S differs: 'a' is unsigned int:3 at bit 0 in a.o (a.cpp:6) and unsigned int:5 at bit 0 in b.o (b.cpp:6)",
    ),
    "array": (
        "struct S { char a[V(8, 16)]; };" + USE,
        "S differs: 'a' is char[8] at offset 0 in a.o (a.cpp:6) and char[16] at offset 0 in b.o (b.cpp:6)",
    ),
    "base class": (
        "struct T { int t; }; struct S V(, : T) { int a; };" + USE,
        "S differs: 'T' (a base class at offset 0) is in b.o and not in a.o",
    ),
    "order of base classes": (
        "struct T { int t; }; struct U { int u; }; struct S : V(T, U), V(U, T) { int a; };" + USE,
        "S differs: 'T' is a base class at offset 0 in a.o and a base class at offset 4 in b.o",
    ),
    "virtual function": (
        "struct S { virtual void f(); V(, virtual void g();) int a; }; V(void S::f() {}, void S::f() {} void S::g() {})" + USE,
        "S differs: 'g' (virtual function 1) is in b.o (b.cpp:6) and not in a.o",
    ),
    "packed": (
        "struct S { char a; long b; } V(, __attribute__((packed)));" + USE,
        "S differs: 'b' is long int at offset 8 in a.o (a.cpp:6) and long int at offset 1 in b.o (b.cpp:6)",
    ),
    "alignment": (
        "struct alignas(V(8, 16)) S { double a[2]; };" + USE,
        "S differs: it is aligned to 8 bytes in a.o and to 16 bytes in b.o",
    ),
    "unnamed struct inside": (
        "struct S { struct { V(int, float) x; } a; };" + USE,
        "S differs: 'a' is unnamed at offset 0 in a.o (a.cpp:6) and unnamed at offset 0 in b.o (b.cpp:6)",
    ),
    "union": (
        "union S { int a; V(, long b;) };" + USE,
        "S differs: 'b' (long int at offset 0) is in b.o (b.cpp:6) and not in a.o",
    ),
    "enumerator": (
        "enum S { red, green V(, = 5) };" + USE,
        "S differs: 'green' is 1 in a.o and 5 in b.o",
    ),
    "underlying type": (
        "enum class S : V(int, long) { red };" + USE,
        "S differs: it has 4 bytes in a.o and 8 in b.o, with the same members",
    ),
    "in a namespace": (
        "namespace n { inline namespace m { struct S { int a; V(, int b;) }; } } using n::S;" + USE,
        "n::m::S differs: 'b' (int at offset 4) is in b.o (b.cpp:6) and not in a.o",
    ),
    "template": (
        "template <class T, unsigned long N> struct R { T a[N]; V(, int b;) }; using S = R<unsigned long, 4>;" + USE,
        "R<unsigned long,4> differs: 'b' (int at offset 32) is in b.o (b.cpp:6) and not in a.o",
    ),
    "named by a typedef": (
        "typedef struct { int a; V(, int b;) } S;" + USE,
        "S differs: 'b' (int at offset 4) is in b.o (b.cpp:6) and not in a.o",
    ),
    "in an inline function": (
        "inline void *f() { struct S { int a; V(float, int) b; }; static S s; return &s; } void *V(g, h)() { return f(); }",
        "f()::S differs: 'b' is float at offset 4 in a.o (a.cpp:6) and int at offset 4 in b.o (b.cpp:6)",
    ),
    "inline variable": (
        "inline V(int, float) v = 1; void *V(f, g)() { return &v; }",
        "v is int in a.o (a.cpp:6) and float in b.o (b.cpp:6)",
    ),
    "variable declared otherwise": (
        "V(int v = 1;, extern float v; float f() { return v; })",
        "v is int in a.o (a.cpp:6) and declared as float in b.o (b.cpp:6)",
    ),
    "array declared as pointer": (
        "V(char v[64];, extern char *v; char *f() { return v; })",
        "v is char[64] in a.o (a.cpp:6) and declared as char * in b.o (b.cpp:6)",
    ),
    "pointer declared as array of pointers": (
        "V(char *v;, extern char *v[3]; char *f() { return v[1]; })",
        "v is char * in a.o (a.cpp:6) and declared as char *[3] in b.o (b.cpp:6)",
    ),
    "array of pointers declared as pointer to an array": (
        "V(char *v[3];, extern char (*v)[3]; char *f() { return *v; })",
        "v is char *[3] in a.o (a.cpp:6) and declared as char[3] * in b.o (b.cpp:6)",
    ),
    "constant declared writable": (
        "V(extern const int v; const int v = 3;, extern int v; void f() { v = 4; })",
        "v is constant in a.o (a.cpp:6) and declared writable in b.o (b.cpp:6)",
    ),
    "result of a function": (
        "V(int f() { return 1; }, double f(); double g() { return f(); })",
        "f() returns int in a.o (a.cpp:6) and is declared to return double in b.o (b.cpp:6)",
    ),
}

HARMFUL_IN_C = {
    "result in C": (
        "V(int f(void) { return 1; }, double f(void); double g(void) { return f(); })",
        "f returns int in a.o (a.c:6) and is declared to return double in b.o (b.c:6)",
    ),
    "parameter in C": (
        "V(void f(int a, long b) { (void)a; (void)b; }, void f(int, double); void g(void) { f(1, 2); })",
        "f takes long int as parameter 2 in a.o (a.c:6) and double in b.o (b.c:6)",
    ),
    "number of parameters in C": (
        "V(void f(int a) { (void)a; }, void f(int, int); void g(void) { f(1, 2); })",
        "f takes 1 parameter in a.o (a.c:6) and 2 in b.o (b.c:6)",
    ),
    "struct of a function in C": (
        "struct S { int a; V(, int b;) };" + USE_IN_C,
        "S differs: 'b' (int at offset 4) is in b.o (b.c:6) and not in a.o",
    ),
    "struct of a variable in C": (
        "struct S { V(int, float) a; }; V(struct S v;, extern struct S v; float f(void) { return v.a; })",
        "S differs: 'a' is int at offset 0 in a.o (a.c:6) and float at offset 0 in b.o (b.c:6)",
    ),
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_what_makes_a_program_wrong(lab, kind):
    source, message = HARMFUL[kind]
    found = [finding for finding in divergent(lab, source) if finding[0] == "warning"]
    assert [text for _, _, text in found if not text.startswith("vtable")] == [message]


@pytest.mark.parametrize("kind", HARMFUL_IN_C)
def test_what_makes_a_c_program_wrong(lab, kind):
    source, message = HARMFUL_IN_C[kind]
    assert [finding[2] for finding in divergent(lab, source, "gcc -g") if finding[0] == "warning"] == [message]


# The same by clang, in other forms of debug info, and by two compilers.
WAYS = ["clang++ -g", "g++ -g -gdwarf-2", "g++ -g -gdwarf-4 -O2", "g++ -g -gz", "g++ -g -fdebug-types-section", "g++ -g -gsplit-dwarf",
        "clang++ -g -gsplit-dwarf -gdwarf-4", "g++ -g -gdwarf64"]


def usable(lab, way):
    need(way.split()[0])
    lab.write("try.cpp", "int x;")
    if lab.sh(f"{way} -c try.cpp -o try.o", check=False).code != 0:
        pytest.skip(f"this compiler does not know {way}")


@pytest.mark.deep
@pytest.mark.parametrize("way", WAYS)
def test_in_every_form_of_debug_info(lab, way):
    usable(lab, way)
    for kind in ("member added", "bit field", "virtual function", "template", "enumerator", "result of a function"):
        if "function" in kind and way.startswith("clang"):
            continue  # describes no function that is only called, nor a class without its vtable
        source, message = HARMFUL[kind]
        found = [text for severity, _, text in divergent(lab, source, way) if severity == "warning" and not text.startswith("vtable")]
        assert found == [message], kind


def test_compressed_with_zstd(lab):
    source, message = HARMFUL["member added"]
    for name, option in (("a", ""), ("b", " -DB")):
        lab.cc(f"{name}.o", HEAD + source, "g++ -g" + option)
        if lab.sh(f"objcopy --compress-debug-sections=zstd {name}.o", check=False).code != 0:
            pytest.skip("objcopy does not know zstd")
    report = lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()
    assert [f["message"] for f in report["findings"] if f["rule"] == RULE] == [message]


# What objects may have differently: nothing is said of it.
HARMLESS = {
    "functions, access, static members": "class S { V(public:,) int a; V(, void f() {} static int c; public: S() {}) };" + USE,
    "initialisers and names of parameters": "struct S { int a = V(1, 2); }; void use(S &V(s, t)); " + USE,
    "long and long long": "struct S { V(long, long long) a; };" + USE,
    "a typedef's name": "typedef int T; struct S { V(int, T) a; };" + USE,
    "signed and plain char": "struct S { V(signed char, char) a; };" + USE,
    "const members": "struct S { V(const,) int a; };" + USE,
    "declared only": "struct T V({ int t; virtual ~T(); },); V(T::~T() {},) struct S { T *t; };" + USE,
    "private types": "namespace { struct S { V(int, float) a; }; S s; } void *V(f, g)() { return &s; }",
    "lambdas": "inline auto f() { return [] { return 1; }; } V(int g() { int x = 3; auto l = [x] { return x; }; return l(); }, int h() { char x = 3; auto l = [x] { return x; }; return l(); })",
    "types in blocks": "inline void *f() { { struct S { int a; }; static S s; (void)&s; } { struct S { long a; }; static S s; return &s; } } void *V(g, h)() { return f(); }",
    "array without bounds": "V(char v[64];, extern char v[]; char *f() { return v; })",
    "array of two dimensions without the first": "V(char v[64][3];, extern char v[][3]; char *f() { return v[1]; })",
    "empty base class": "struct E {}; struct S V(, : E) { int a; };" + USE,
    "flexible array": "struct S { int a; };" + "struct T { int n; char data[]; }; V(void take(T *) {}, void take(T *); void give(T *t) { take(t); })" + USE,
    "new enumerators, which nothing binds": "\n#ifdef B\nenum E { red, green };\n#else\nenum E { red };\n#endif\nE V(f, g)(int) { return red; }",
    "static functions": "V(static int, static double) f(int) { return 1; } int V(g, h)() { return f(1); }",
    "function templates' local types": "template <class T> void *f() { struct S { T a; }; static S s; return &s; } void *V(g, h)() { return f<V(int, long)>(); }",
}
HARMLESS_IN_C = {
    "private structs": "struct S { V(int, float) a; }; static struct S s; void *V(f, g)(void) { return &s; }",
    "without a prototype": "V(int f(int a) { return a; }, int f(); int g(void) { return f(1); })",
    "underscores": "struct S { int V(gmtoff, __gmtoff); };" + USE_IN_C,
    "built in": "#include <stdio.h>\nvoid V(f, g)(void) { fputs(V(\"a\", \"b\"), stdout); printf(\"%d\\n\", V(1, 2)); }",
    "opaque": "struct S V({ int a; },); V(void use(struct S *s) { s->a = 1; }, void use(struct S *); void call(struct S *s) { use(s); })",
    "a variable called s": "struct s { int V(a, b); }; static struct s s; void *V(f, g)(void) { return &s; }",
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_is_no_difference(lab, kind):
    assert divergent(lab, HARMLESS[kind], "g++ -g -std=c++20") == []


@pytest.mark.parametrize("kind", HARMLESS_IN_C)
def test_what_is_no_difference_in_c(lab, kind):
    assert divergent(lab, HARMLESS_IN_C[kind], "gcc -g -w") == []


@pytest.mark.parametrize("compiler", ["g++", "clang++", "clang++ -gsimple-template-names"])
def test_a_class_in_a_class_in_a_type_unit(lab, compiler):
    """In a type unit clang gives the outer class no name, only the signature of its own unit."""
    usable(lab, compiler)
    source = "template <class T> struct R { struct In { T a; V(, T b;) } in; }; struct S { struct In { int a; V(int, float) b; } in; R<int> r; };" + USE
    found = divergent(lab, source, f"{compiler} -g -fdebug-types-section")
    assert [name for _, name, _ in found] == ["R<int>::In", "S::In"] and "'b' is int at offset 4 in a.o" in found[1][2], found


@pytest.mark.parametrize("compiler", ["g++ -g", "clang++ -g", "clang++ -g -O1 -fdebug-types-section", "clang++-19 -g -gsimple-template-names"])
def test_templates_of_types_in_functions(lab, compiler):
    """Two tests of fmt: clang gives the iterator_buffer<throwing_iterator> of both functions the same name."""
    usable(lab, compiler)
    source = ("template <class... T> struct Wrap { struct In { int of[(sizeof(T) + ...)]; } in; }; template <class T> struct Box { T t; int f(Box const &) const; };"
              "template <class T> int Box<T>::f(Box const &b) const { return sizeof(b.t); }"
              "template <class T> int g(Box<T> b, Box<Wrap<int, T>> w, Box<T *> p) { return b.f(b) + w.f(w) + p.f(p); }"
              "int V(one, two)() { struct It { V(int x, double x[3]); }; return g(Box<It>{}, Box<Wrap<int, It>>{}, Box<It *>{}); }")
    assert divergent(lab, source, compiler + " -std=c++17") == []


LIBRARY = """
#include <map>
#include <string>
#include <vector>
typedef struct { int a; std::string b; } Named;
struct Base { virtual ~Base(); virtual int f(int) const { return 1; } int b; };
struct Derived : Base { std::vector<unsigned long> v; std::map<std::string, Named> m; char8_t c; unsigned f1 : 3, f2 : 5; };
template <class T, long N> struct Array { T a[N]; };
int NAME(Derived &d, Array<long, 4ul> &a, Named &n) { d.v.push_back(a.a[0]); d.m["x"] = n; return d.f(1); }
"""
# The same in many forms of debug info, which one audit compares with each other.
FORMS = ["g++", "clang++", "g++ -O2 -DNDEBUG -D_GLIBCXX_ASSERTIONS", "g++ -fdebug-types-section -gz", "g++ -gdwarf-2", "g++ -gdwarf-2 -gstrict-dwarf",
         "g++ -gsplit-dwarf", "clang++ -gsimple-template-names", "g++ -g1", "clang++ -O2 -gsplit-dwarf -gdwarf-4", "g++ -fsanitize=address,undefined",
         "clang++ -O2 -fdebug-types-section", "clang++-19 -std=c++17", "clang++-19 -std=c++2b -gz=zstd"]


@pytest.mark.deep
def test_compilers_and_forms_of_debug_info_agree(lab):
    made = []
    for number, way in enumerate(FORMS):
        compiler, *options = way.split()
        command = [compiler, "-g", "-std=c++20", f"-DNAME=f{number}", *options]
        lab.write(f"{number}.cpp", LIBRARY)
        if shutil.which(compiler) and lab.sh(" ".join([*command, "-c", f"{number}.cpp", "-o", f"{number}.o"]), check=False).code == 0:
            made.append(f"{number}.o")
    assert len(made) > 8
    report = lab.audit("check", "--format", "json", "--enable", RULE, *made).json()
    assert [finding["message"] for finding in report["findings"] if finding["rule"] == RULE] == []


def test_what_nothing_binds_is_a_note(lab):
    source = "struct S { V(int, float) a; }; V(S s;, static S s; S *f() { return &s; })"
    assert [finding[:2] for finding in divergent(lab, source)] == [("note", "S")]


def test_what_a_pointer_points_to_is_a_note(lab):
    source = "struct T; struct U; struct S { V(T, U) *a; };" + USE
    assert [finding[:2] for finding in divergent(lab, source)] == [("note", "S")]
    source = "struct S { int V(a, b); };" + USE
    assert divergent(lab, source) == [("note", "S", "S differs: 'a' (int at offset 0) of a.o (a.cpp:6) is called 'b' in b.o (b.cpp:6)")]


def test_a_typedef_of_two_records(lab):
    source = "struct S1 { int a; float b; }; struct S2 { int a; int b; }; typedef V(S1, S2) state; V(state v;, extern state v; state *f() { return &v; })"
    found = divergent(lab, source)
    assert [finding[:2] for finding in found] == [("warning", "state"), ("warning", "v")]
    assert "'b' is float at offset 4 in a.o (a.cpp:6) and int at offset 4 in b.o (b.cpp:6)" in found[0][2]


def test_the_cause_comes_once(lab):
    source = "struct T { int x; V(, int y;) }; struct S { T t; int z; }; struct R { char c; S s; };" + USE + "V(void take(R &) {, void take(R &); void give(R &r) { take(r); ) }"
    (finding,) = [f for f in compared(lab, source)["findings"] if f["rule"] == RULE]
    assert finding["message"] == "T differs: 'y' (int at offset 4) is in b.o (b.cpp:6) and not in a.o"
    assert finding["notes"][1] == "so do types that hold it: R, S"
    assert finding["notes"][0] == "shared: use(S&), whose S holds it; shared: take(R&), whose R holds it"


def test_a_class_with_virtual_functions_that_one_object_only_declares(lab):
    source = "struct T { virtual void f(); int x; V(, int y[4];) }; struct S { T t; int z; }; V(,void T::f() {})" + USE
    (finding,) = divergent(lab, source)
    assert finding[2].endswith("'z' is int at offset 16 in a.o (a.cpp:6) and int at offset 32 in b.o (b.cpp:6), after 't' (T), which is bigger in b.o")


def test_what_binds_it_is_said(lab):
    source = "struct S { V(int, float) a; }; inline int get(S const &s) { return (int)s.a; } int V(f, g)() { return get(S{}); }"
    (finding,) = [f for f in compared(lab, source)["findings"] if f["rule"] == RULE]
    assert finding["notes"] == ["merged: get(S const&)"]
    assert [(site["input"], site["file"], site["line"]) for site in finding["sites"]] == [("a.o", "a.cpp", 6), ("b.o", "b.cpp", 6)]


def test_an_object_that_the_link_does_not_take_is_not_compared(lab):
    lab.cc("main.o", HEAD + "struct S { int a; }; inline int get(S &s) { return s.a; } int main() { S s{}; return get(s); }", "g++ -g")
    lab.cc("other.o", HEAD + "struct S { float a; }; inline int get(S &s) { return (int)s.a; } int other() { S s{}; return get(s); }", "g++ -g")
    lab.ar("libother.a", "other.o")
    for line, found in ((["main.o", "libother.a"], 0), (["main.o", "other.o"], 1), (["main.o", "-Wl,-u,_Z5otherv", "libother.a"], 1)):
        report = lab.audit("check", "--format", "json", "--enable", RULE, "--", "g++", *line, "-o", "app").json()
        assert len([f for f in report["findings"] if f["rule"] == RULE]) == found, line


def test_units_of_one_object_are_not_compared(lab):
    lab.cc("one.o", "struct S { int a; }; static struct S s; void *f(void) { return &s; } void use(struct S *);", "gcc -g")
    lab.cc("two.o", "struct S { float a; }; void use(struct S *s) { s->a = 1; }", "gcc -g")
    lab.sh("ld -r one.o two.o -o both.o")
    lab.cc("c.o", "int c;", "gcc -g")
    assert lab.audit("check", "--enable", RULE, "both.o", "c.o").code == 0


def test_what_was_not_compared_is_said_once(lab):
    lab.cc("a.o", "int a;", "g++ -g")
    lab.cc("b.o", "int b;", "g++")
    lab.cc("c.o", "int c() { return 1; }", "g++ -g1")
    lab.cc("d.o", "int d;", "g++ -g -gsplit-dwarf")
    (lab.path / "d.dwo").unlink()
    report = lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o", "c.o", "d.o").json()
    assert report["notes"] == ["types were not compared of 3 of 4 objects: 1 without debug info, 1 with lines only (-g1), 1 whose debug info is in another file that is missing"]
    assert lab.audit("check", "--format", "json", "a.o", "b.o").json()["notes"] == []


def test_in_bytecode_of_gcc(lab):
    source, message = HARMFUL["member added"]
    found = [finding for finding in divergent(lab, source, "g++ -g -flto") if finding[0] == "warning"]
    assert [text for _, _, text in found] == [message]


def test_bitcode_is_not_compared(lab):
    need("clang++")
    for name in "ab":
        lab.cc(f"{name}.o", f"int {name};", "clang++ -g -flto")
    report = lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()
    assert report["notes"] == ["types were not compared of 2 of 2 objects: 2 of LLVM bitcode"]


def test_a_clean_link_says_that_types_are_not_compared(lab):
    for option, left in (("-g", True), ("-g -flto", True), ("", False)):
        lab.cc("a.o", "int main() {}", "g++ " + option)
        lab.cc("b.o", "int b;", "g++ " + option)
        said = "; types are not compared (--severity divergent-definition=on)" in lab.audit("check", "--", "g++", "a.o", "b.o", "-o", "app").out
        assert said == left
        assert "types are not compared" not in lab.audit("check", "--enable", RULE, "--", "g++", "a.o", "b.o", "-o", "app").out


def test_a_third_layout_is_new_to_the_baseline(lab):
    source = HEAD + "struct S { int a[N]; }; inline int get(S const &s) { return s.a[N - 1]; } int NAME() { return get(S{}); }"
    for name, size in (("f", 1), ("g", 2), ("h", 3)):
        lab.cc(f"{name}.o", source, f"g++ -g -DN={size} -DNAME={name}")
    assert lab.audit("check", "--enable", RULE, "--write-baseline", "known.json", "f.o", "g.o").code == 0
    assert lab.audit("check", "--enable", RULE, "--baseline", "known.json", "--fail-on", "warning", "f.o", "g.o").code == 0
    third = lab.audit("check", "--enable", RULE, "--baseline", "known.json", "--fail-on", "warning", "f.o", "g.o", "h.o")
    assert third.code == 1 and "candidate h.o      12 bytes" in third.out, third


def indexed_with_types(lab, *names):
    """The facts, made twice."""
    for name in names:
        for output in (name + ".facts", "again"):
            assert lab.audit("index", "--types", name, "-o", output).code == 0
        assert (lab.path / "again").read_bytes() == (lab.path / (name + ".facts")).read_bytes()
    return [name + ".facts" for name in names]


def without_remarks(report):
    return re.sub(r"note: .* missing: known from .* only\n", "", report)


@pytest.mark.parametrize("compiler", ["g++ -g", "clang++ -g -fdebug-types-section", "gcc -x c -g"])
@pytest.mark.parametrize("first", ["a.o", "liba.a"])
def test_facts_with_types_give_the_report_of_their_objects(lab, compiler, first):
    usable(lab, compiler.replace("-x c ", ""))
    lab.write("s.h", "struct S { int a;\n#ifdef WIDE\nlong b;\n#endif\n};\nint use(struct S *);\n")
    lab.write("a.cpp", '#include "s.h"\nint use(struct S *s) { struct S t = *s; return t.a; }\n')
    lab.write("b.cpp", '#define WIDE\n#include "s.h"\nint main(void) { struct S s; return use(&s); }\n')
    lab.sh(f"touch -d '1 minute ago' s.h *.cpp && {compiler} -c a.cpp && {compiler} -c b.cpp && ar rc liba.a a.o")
    command = ["check", "--enable", RULE, "b.o"]
    objects = lab.audit(*command, first)
    assert re.search(r"'b' \(long.* at offset 8\) is in b.o", objects.out) and "b.cpp:1 defines WIDE" in objects.out, objects
    second, facts = indexed_with_types(lab, "b.o", first)
    assert lab.audit("check", "--enable", RULE, second, facts).out == objects.out
    lab.sh("rm b.o a.o liba.a")
    alone = lab.audit("check", "--enable", RULE, second, facts)
    assert (alone.code, without_remarks(alone.out)) == (objects.code, objects.out)


def test_facts_of_a_shared_object_keep_its_types(lab):
    lab.write("s.h", "struct S {\n#ifdef B\nlong b;\n#endif\nint a; };\ninline S state;")
    lab.sh("for x in a b; do echo '#include \"s.h\"' > $x.cpp; echo \"int $x() { return state.a; }\" >> $x.cpp; done")
    lab.sh("g++ -g -shared -fPIC a.cpp -o liba.so && g++ -g -shared -fPIC -DB b.cpp -o libb.so")
    found = lambda *files: [f["message"] for f in lab.audit("check", "--format", "json", "--enable", RULE, *files).json()["findings"] if f["symbol"] == "S"]  # noqa: E731
    objects = found("liba.so", "libb.so")
    assert objects == ["S differs: 'b' (long int at offset 0) is in libb.so (s.h:3) and not in liba.so"]
    facts = indexed_with_types(lab, "liba.so", "libb.so")
    lab.sh("rm liba.so libb.so")
    assert found(*facts) == objects


def test_facts_without_types_are_named(lab):
    lab.cc("a.o", "struct S { int a; } s;", "g++ -g")
    lab.cc("b.o", "struct S { long a; }; extern S s; long f() { return s.a; }", "g++ -g")
    assert lab.audit("index", "a.o", "-o", "a.facts").code == 0
    lab.sh("rm a.o")
    report = lab.audit("check", "--format", "json", "--enable", RULE, "a.facts", "b.o").json()
    assert report["notes"] == ["types were not compared of 1 of 2 objects: 1 of which there are only facts, made without --types"]


def test_facts_keep_why_types_could_not_be_read(lab):
    source = HEAD + "struct S { V(int, float) a; };" + USE
    lab.cc("a.o", source, "g++ -g")
    lab.cc("b.o", source, "g++ -g -DB")
    lab.sh("objcopy --compress-debug-sections=zlib b.o && python3 -c \"b = bytearray(open('b.o', 'rb').read()); b[b.index(b'\\x78', 200) + 8] ^= 255; open('b.o', 'wb').write(b)\"")
    notes = lambda *files: lab.audit("check", "--format", "json", "--enable", RULE, *files).json()["notes"]  # noqa: E731
    objects = notes("a.o", "b.o")
    assert any("the types of b.o were not compared: " in note for note in objects), objects
    assert notes(*indexed_with_types(lab, "a.o", "b.o")) == objects


def test_damaged_debug_info_is_named_and_the_rest_compared(lab):
    source = HEAD + "struct S { V(int, float) a; };" + USE
    for name, option in (("a", ""), ("b", " -DB"), ("c", " -Duse=other")):
        lab.cc(f"{name}.o", source, "g++ -g" + option)
    lab.write("zeros", "\0" * 7)
    lab.sh("objcopy --update-section .debug_abbrev=zeros c.o")
    report = lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o", "c.o").json()
    assert [f["symbol"] for f in report["findings"]] == ["S"]
    assert [bool(re.search("types of.* c.o .*not compared|1 without debug info|1 with lines", note)) for note in report["notes"]] == [True]


HEADER = """#pragma once
struct S {
  int a;
#if defined(FAST) /* why */ && LEVEL > 1
  long b;
#else
  char b;
#endif
};
inline int get(S const &s) { return s.a; }
"""
USER = '#include "s.h"\nint %s() { return get(S{}); }'


def caused(lab, *objects):
    (finding,) = [f for f in lab.audit("check", "--format", "json", "--enable", RULE, *objects).json()["findings"] if f["rule"] == RULE]
    return finding["cause"], [fix["text"] for fix in finding["fixes"]]


def test_the_condition_that_differs_is_the_cause(lab):
    lab.write("s.h", HEADER)
    lab.cc("a.o", USER % "a", "g++ -g")
    lab.cc("b.o", USER % "b", "g++ -g -DFAST -DLEVEL=2")
    cause, fixes = caused(lab, "a.o", "b.o")
    assert cause == {"kind": "layout-condition", "text": HOLDS}
    assert fixes == ["compile both with the same FAST, LEVEL"]
    lab.write("s.h", "// changed\n" + HEADER)
    lab.sh("touch -d '+1 minute' s.h")
    assert caused(lab, "a.o", "b.o") == (None, [])


HOLDS = "`#if defined(FAST) && LEVEL > 1` (s.h:4) holds for b.o and not for a.o"


def compile_commands(lab, **options):
    commands = [{"directory": str(lab.path), "file": f"{name}.cpp", "output": f"{name}.o", "command": f"g++ -g {words} -c {name}.cpp -o {name}.o"} for name, words in options.items()]
    lab.write("compile_commands.json", json.dumps(commands))


def test_the_command_that_sets_a_macro_is_named(lab):
    lab.write("s.h", HEADER)
    for name, options in (("a", "-DFAST=1 -DLEVEL=1"), ("b", "-DFAST -DLEVEL=2"), ("c", "-DFAST -UFAST")):
        lab.cc(f"{name}.o", USER % name, f"g++ -g {options}")
    compile_commands(lab, a="-DFAST=1 -DLEVEL=1", b="-DFAST -DLEVEL=2", c="-DFAST -UFAST")
    assert caused(lab, "a.o", "b.o")[0]["text"] == HOLDS + ": b.o is compiled with -DLEVEL=2, a.o is compiled with -DLEVEL=1"
    assert caused(lab, "c.o", "b.o")[0]["text"] == (HOLDS + ": b.o is compiled with -DFAST=1, b.o is compiled with -DLEVEL=2").replace("for a.o", "for c.o")


def test_the_line_that_sets_a_macro_is_named(lab):
    """In the source, or in a header that one of them includes; not one in a condition, nor one that both read."""
    lab.write("s.h", HEADER)
    lab.write("config.h", "#ifndef CONFIG_H\n#define CONFIG_H\n#define FAST\n#define LEVEL 2\n#endif\n")
    lab.cc("a.o", "#ifdef NEVER\n#define FAST\n#endif\n" + USER % "a", "g++ -g -MMD")
    lab.cc("b.o", '#include "config.h"\n' + USER % "b", "g++ -g -MMD")
    lab.cc("c.o", "#define FAST\n#define LEVEL 3\n" + USER % "c", "g++ -g")
    (found,) = [f for f in lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()["findings"] if f["rule"] == RULE]
    assert found["cause"]["text"] == HOLDS + ": config.h:3 defines FAST, config.h:4 defines LEVEL"
    assert (found["fixes"][0]["file"], found["fixes"][0]["line"]) == ("config.h", 3)
    assert caused(lab, "a.o", "c.o")[0]["text"] == HOLDS.replace("b.o", "c.o") + ": c.cpp:1 defines FAST, c.cpp:2 defines LEVEL"


def test_options_that_change_a_layout_are_named(lab):
    """As the alignment of Eigen's matrices with -mavx."""
    lab.write("s.h", "struct S { char a; __attribute__((aligned(__BIGGEST_ALIGNMENT__))) char b; };\ninline int get(S const &s) { return s.a; }\n")
    lab.cc("a.o", USER % "a", "g++ -g -std=c++17")
    lab.cc("b.o", USER % "b", "g++ -g -std=c++20 -mavx")
    (found,) = [f for f in lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()["findings"] if f["rule"] == RULE]
    assert (found.get("cause"), found["notes"][-1]) == (None, "compiled with other options: -std=c++17 for a.o alone, -mavx for b.o alone, -std=c++20 for b.o alone")


def test_debug_containers_are_told_apart(lab):
    need("g++")
    lab.write("s.h", "#include <vector>\nstruct S { std::vector<int> a; };\nint get(S const &);\n")
    lab.cc("a.o", '#include "s.h"\nint get(S const &s) { return s.a[0]; }', "g++ -g")
    lab.cc("b.o", '#include "s.h"\nint b() { return get(S{}); }', "g++ -g -D_GLIBCXX_DEBUG")
    compile_commands(lab, a="", b="-D_GLIBCXX_DEBUG")
    (found,) = [f for f in lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()["findings"] if f["rule"] == RULE]
    assert found["message"].startswith("S differs: 'a' is std::vector<int, std::allocator<int> > at offset 0 in a.o (s.h:2) and std::__debug::vector<")
    assert found["notes"] == ["shared: get(S const&)", "compiled with other options: -D_GLIBCXX_DEBUG=1 for b.o alone"]


def test_two_versions_of_a_header_are_the_cause(lab):
    for version, member in (("v1", "int a;"), ("v2", "int a, b;")):
        lab.write(f"{version}/s.h", "#pragma once\nstruct S { %s };\ninline int get(S const &s) { return s.a; }\n" % member)
    lab.cc("a.o", USER % "a", "g++ -g -Iv1")
    lab.cc("b.o", USER % "b", "g++ -g -Iv2")
    cause, fixes = caused(lab, "a.o", "b.o")
    assert cause == {"kind": "two-headers", "text": "two versions of s.h: v1/s.h for a.o and v2/s.h for b.o"}
    assert fixes == ["compile both with one include path, so that both see the same header"]


def test_two_types_of_one_name(lab):
    lab.cc("a.o", "struct S { int a; int get() { return a; } }; int a() { return S{}.get(); }", "g++ -g")
    lab.cc("b.o", "struct S { double a; int get() { return (int)a; } }; int b() { return S{}.get(); }", "g++ -g")
    cause, fixes = caused(lab, "a.o", "b.o")
    assert cause == {"kind": "two-types", "text": "a.cpp:1 and b.cpp:1 each define a type of this name"}
    assert fixes == ["rename one, or put a type that only one source needs into an unnamed namespace"]


@pytest.mark.deep
def test_device_code_is_compared(lab):
    need("nvcc")
    for version, member in (("v1", "int a; float b; int pad;"), ("v2", "int a; int b; float pad;")):
        lab.write(f"{version}/s.h", "#pragma once\nstruct S { %s };\nextern __constant__ S state;\n" % member)
    lab.cc("k.o", '#include "s.h"\n__constant__ S state; __global__ void k(int *o) { *o = state.a; }', "nvcc -G -rdc=true -arch=sm_90 -Iv1")
    lab.cc("l.o", '#include "s.h"\n__global__ void l(int *o) { *o = state.a; }', "nvcc -G -rdc=true -arch=sm_90 -Iv2")
    lab.cc("same.o", '#include "s.h"\n__global__ void m(int *o) { *o = state.a; }', "nvcc -G -rdc=true -arch=sm_90 -Iv1")
    lab.cc("host.o", '#define __constant__\n#include "s.h"\nvoid set(S *s) { s->a = 1; }', "g++ -g -Iv2")
    difference = "S differs: 'b' is float at offset 4 in k.o for sm_90 (v1/s.h:2) and int at offset 4 in %s (v2/s.h:2)"
    for other, where, note in (("l.o", "l.o for sm_90", "shared: state"), ("same.o", None, None),
                               ("host.o", "host.o", "no symbol depends on it, but what host and device code exchange in memory may")):
        report = lab.audit("check", "--format", "json", "--enable", RULE, "k.o", other).json()
        found = [f for f in report["findings"] if f["rule"] == RULE and f["symbol"] == "S"]
        assert [f["message"] for f in found] == ([difference % where] if where else []), other
        assert not where or (found[0]["severity"], found[0]["notes"], found[0]["cause"]["kind"]) == ("warning", [note], "two-headers")


def test_types_are_kept_in_the_cache(lab):
    lab.write("s.h", HEADER)
    lab.cc("a.o", USER % "a", "g++ -g")
    lab.cc("b.o", USER % "b", "g++ -g -DFAST -DLEVEL=2")
    command = ["check", "--format", "json", "--enable", RULE, "--cache", "kept", "a.o", "b.o"]
    first = lab.audit(*command).json()
    assert len(list(lab.path.glob("kept/*/*/*.types"))) == 2
    assert lab.audit(*command).json() == first and first["findings"][0]["symbol"] == "S"
    lab.cc("b.o", USER % "b", "g++ -g")
    assert lab.audit(*command).json()["findings"] == []


def test_shared_objects_that_export_two_layouts(lab):
    source = HEAD + "struct %s S { int a; V(float, int) b; }; inline S state; S *V(f, g)() { return &state; }"
    for visible, severity in (("", "warning"), ('__attribute__((visibility("hidden")))', "note")):
        for name, option in (("a", ""), ("b", " -DB")):
            lab.write(f"{name}.cpp", source % visible)
            hidden = "-fvisibility=hidden" if visible and name == "b" else ""
            lab.sh(f"g++ -std=c++17 -g -fPIC -shared {hidden} {option} {name}.cpp -o lib{name}.so")
        report = lab.audit("check", "--format", "json", "--enable", RULE, "liba.so", "libb.so").json()
        found = [(f["severity"], f["symbol"]) for f in report["findings"] if f["rule"] == RULE]
        assert found == [(severity, "S")], visible


@pytest.fixture
def shared_by_dwz(lab):
    """Three libraries, two of which disagree about S; dwz has moved what they have in common into common.debug."""
    lab.write("h.h", "struct Inner { int x; long y; const char *name; double d[4]; };\ntemplate <class T> struct Box { T t; int n; Box *next; };\n"
                     "struct S { int a; KIND b; Inner in; };\ninline S state;\ninline Box<Inner> box;\n")
    for name, kind in (("a", "int"), ("b", "float"), ("c", "int")):
        for n in (1, 2):
            lab.write(f"{name}{n}.cpp", f'#include "h.h"\nS *{name}{n}() {{ return &state; }}\nInner *i{name}{n}() {{ return &box.t; }}\n')
        lab.sh(f"g++ -std=c++17 -g -DKIND={kind} -fPIC -shared -Wl,--build-id {name}?.cpp -o lib{name}.so")
    before = divergences_of_libraries(lab)
    assert [f["symbol"] for f in before] == ["S"]
    return lab, before


def divergences_of_libraries(lab, *names):
    report = lab.audit("check", "--format", "json", "--enable", RULE, *(names or ["liba.so", "libb.so", "libc.so"])).json()
    return [f for f in report["findings"] if f["rule"] == RULE]


@pytest.mark.skipif(shutil.which("dwz") is None, reason="needs dwz")
def test_types_that_dwz_has_moved(shared_by_dwz):
    lab, before = shared_by_dwz
    lab.sh("dwz -m common.debug liba.so libb.so libc.so && readelf -SW liba.so | grep gnu_debugaltlink")
    assert divergences_of_libraries(lab) == before
    lab.sh("mkdir d && mv *.so d/ && ln -s d/liba.so d/libb.so d/libc.so .")  # it is beside neither
    assert divergences_of_libraries(lab) == before
    lab.sh("mv common.debug d/ && cp d/common.debug good")
    assert divergences_of_libraries(lab) == before  # beside what the links lead to
    for damage in ("rm d/common.debug", "cp h.h d/common.debug", "cp d/liba.so d/common.debug", "head -c 200 good > d/common.debug"):
        lab.sh(damage)
        result = lab.audit("check", "--format", "json", "--enable", RULE, "liba.so", "libb.so", "libc.so")
        assert [f["symbol"] for f in result.json()["findings"]] == [], damage
        assert "3 whose debug info is in another file that is missing" in str(result.json()["notes"]), damage
    assert "part of the debug info is in common.debug, which is missing" in lab.audit("explain", "state", "liba.so").out


@pytest.mark.skipif(shutil.which("dwz") is None, reason="needs dwz")
@pytest.mark.parametrize("form", ["", "-5"], ids=[".gnu_debugaltlink", ".debug_sup"])
def test_places_that_dwz_has_moved(shared_by_dwz, form):
    lab, _ = shared_by_dwz
    lab.sh(f"dwz {form} -m common.debug liba.so libb.so libc.so")
    for name, line in (("state", 4), ("box", 5)):
        assert f"h.h:{line} (debug info)\n                included from a1.cpp:1\n" in lab.audit("explain", name, "liba.so").out
    report = lab.audit("check", "--format", "json", "--enable", RULE, "liba.so", "libb.so", "libc.so").json()
    if form:  # nothing is made up
        assert not report["findings"] and "the types of liba.so were not compared: libdw" in str(report["notes"])


def test_a_reference_behind_the_end(lab):
    lab.cc("a.o", "int table[8] = {1};", "gcc -O1")
    for index, found in (("table[16]", ["table has 32 bytes in a.o, and b.o refers to byte 64 of it"]), ("table[7]", []), ("*(table + 8)", [])):
        lab.cc("b.o", f"extern int table[32]; int *f = &{index};", "gcc -O1")
        report = lab.audit("check", "--format", "json", "--enable", RULE, "a.o", "b.o").json()
        assert [f["message"] for f in report["findings"] if f["rule"] == RULE] == found


def test_a_reference_behind_the_end_in_a_shared_object(lab):
    lab.sh("echo 'int table[8] = {1};' | gcc -x c - -shared -fPIC -o libt.so")
    for index, found in (("table[16]", ["table has 32 bytes in libt.so, and b.o refers to byte 64 of it"]), ("table[7]", [])):
        lab.cc("b.o", f"extern int table[32]; int main() {{ return {index}; }}", "gcc -fno-pic -O0")
        report = lab.audit("check", "--format", "json", "--enable", RULE, "--", "gcc", "-no-pie", "b.o", "libt.so", "-o", "app").json()
        assert [f["message"] for f in report["findings"] if f["rule"] == RULE] == found
