"""Projects with a duplicate, for `edits.judge`: a() and b() use what the header defines, and the program exits with 0 when they share what
they have to share. For each, one run of --fix makes the program, or no diff is offered (`by_hand`).
"""

from cases import Case

FIX_CASES = []
GUARD = "#ifndef H_H\n#define H_H\n%s\n#endif\n"
MAIN = "int a(void);\nint b(void);\nint main(void) { %s }\n"


def case(name, files, **more):
    FIX_CASES.append(Case(name, files, **more))


def users(name, header, a, b, main="return a() != b();", extension="c", extra=None, **more):
    """Two sources that include the header, with the bodies of a() and b(), and the program's main()."""
    h = "h.h" if extension == "c" else "h.hpp"
    files = {h: header, **{f"{x}.{extension}": f'#include "{h}"\nint {x}(void) {{ {body} }}\n' for x, body in (("a", a), ("b", b))}}
    case(name, {**files, f"main.{extension}": MAIN % main, **(extra or {})}, **more)


def c(name, *texts, **more):
    users(name, *texts, **more)


def cxx(name, *texts, **more):
    users(name, *texts, extension="cpp", **more)


for place in ("before", "behind"):
    own = ["int s;", '#include "s.h"'] if place == "before" else ['#include "s.h"', "int s;"]
    case(f"c variable of a header that a source has too, {place}", {
        "s.h": "int s;\n", "a.c": "\n".join([*own, "int a(void);", "int a(void) { return ++s; }", ""]),
        "b.c": '#include "s.h"\nint b(void);\nint b(void) { return s; }\n',
        "main.c": "int a(void); int b(void);\nint main(void) { return a() != b(); }\n"}, options="-fno-common")
c("fn", GUARD % "int f(int x) { return x + 1; }",
  "return f(1);", "return f(1);")
c("fn declared in same header", GUARD % "int f(int x);\nint f(int x)\n{\n  return x + 1;\n}",
  "return f(1);", "return f(1);")
case("c fn declared in another header", {
    "proto.h": "#ifndef P\n#define P\nint f(int);\n#endif\n",
    "impl.h": '#ifndef I\n#define I\n#include "proto.h"\nint f(int x) { return x + 1; }\n#endif\n',
    "a.c": '#include "impl.h"\nint a(void) { return f(1); }\n',
    "b.c": '#include "impl.h"\nint b(void) { return f(1); }\n',
    "main.c": "int a(void); int b(void);\nint main(void) { return a() != b(); }\n"})
case("c fn declared in another header, used by main", {
    "proto.h": "#ifndef P\n#define P\nint f(int);\n#endif\n",
    "impl.h": '#ifndef I\n#define I\n#include "proto.h"\nint f(int x) { return x + 1; }\n#endif\n',
    "a.c": '#include "impl.h"\nint a(void) { return f(1); }\n',
    "b.c": '#include "impl.h"\nint b(void) { return f(1); }\n',
    "main.c": '#include "proto.h"\nint a(void); int b(void);\nint main(void) { return a() != f(1); }\n'})
c("fn with a static local", GUARD % "int next(void)\n{\n  static int n;\n  return ++n;\n}",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;")
c("fn with static local table", GUARD % 'const char *name_of(int i)\n{\n  static const char *const names[] = { "a", "b" };\n  return names[i];\n}',
  "return name_of(0)[0];", "return name_of(0)[0];")
c("fn type on line above, K&R style", GUARD % "int\nf(x)\n  int x;\n{\n  return x + 1;\n}",
  "return f(1);", "return f(1);", options="-std=gnu89")
c("fn macro API empty", "#define API\n" + GUARD % "API int f(void) { return 2; }",
  "return f();", "return f();")
c("fn macro visibility", '#define API __attribute__((visibility("default")))\n' + GUARD % "API int f(void) { return 2; }",
  "return f();", "return f();")
c("fn made by macro", GUARD % "static int foo_v = 3;\n#define GETTER(n) int get_##n(void) { return n##_v; }\nGETTER(foo)",
  "return get_foo();", "return get_foo();", by_hand=True)
c("fn attribute before", GUARD % "__attribute__((noinline)) int f(void) { return 2; }",
  "return f();", "return f();")
c("two fns, one calls the other", GUARD % "int g(int x) { return x * 2; }\nint f(int x) { return g(x) + 1; }",
  "return f(1);", "return g(1) + 1;")
c("fn with inline asm", GUARD % 'unsigned f(void)\n{\n  unsigned x = 1;\n  __asm__ volatile("" : "+r"(x));\n  return x;\n}',
  "return f();", "return f();")
c("fn returning struct and pointer param", GUARD % "struct p { int x, y; };\nstruct p mk(int x, int (*cb)(int))\n{\n  struct p r = { x, cb ? cb(x) : 0 };\n  return r;\n}",
  "return mk(1,0).x;", "return mk(1,0).x;")
c("fn extern keyword", GUARD % "extern int f(void) { return 2; }",
  "return f();", "return f();")
c("c99 inline undefined", GUARD % "inline int f(void) { return 2; }",
  "return f();", "return f();", options="-O0")
c("c99 inline beside extern decl", GUARD % "int f(void);\ninline int f(void) { return 2; }",
  "return f();", "return f();")
c("fn through another header", '#include "deep.h"\n',
  "return f();", "return f();", extra={"deep.h": GUARD % "int f(void) { return 2; }"})
case("c source included by two", {
    "common.c": "int helper(int x) { return x * 3; }\n",
    "a.c": '#include "common.c"\nint a(void) { return helper(1); }\n',
    "b.c": '#include "common.c"\nint b(void) { return helper(1); }\n',
    "main.c": "int a(void); int b(void);\nint main(void) { return a() != b(); }\n"}, included=("common.c",))
case("c source included by two, shared counter", {
    "common.c": "int count = 0;\nvoid bump(void) { ++count; }\n",
    "a.c": '#include "common.c"\nint a(void) { bump(); return count; }\n',
    "b.c": '#include "common.c"\nint b(void) { bump(); return count; }\n',
    "main.c": "int a(void); int b(void);\nint main(void) { a(); return b() != 2; }\n"}, included=("common.c",))
case("c source included and compiled", {
    "util.h": "int helper(int x);\n",
    "util.c": '#include "util.h"\nint helper(int x) { return x * 3; }\n',
    "a.c": '#include "util.h"\n#include "util.c"\nint main(void) { return helper(1) != 3; }\n'})
case("c source included and compiled, no header", {
    "util.c": "int helper(int x) { return x * 3; }\n",
    "a.c": '#include "util.c"\nint main(void) { return helper(1) != 3; }\n'})
case("c two sources private helper", {
    "a.c": "int clamp(int x) { return x > 9 ? 9 : x; }\nint a(void) { return clamp(10); }\n",
    "b.c": "int clamp(int x) { return x > 5 ? 5 : x; }\nint b(void) { return clamp(10); }\n",
    "main.c": "int a(void); int b(void);\nint main(void) { return a() != 9 || b() != 5; }\n"})
c("var init shared", GUARD % "int state = 3;",
  "state = 5; return 0;", "return state;", main="a(); return b() != 5;")
c("tentative", GUARD % "int state;",
  "state = 5; return 0;", "return state;", main="a(); return b() != 5;")
c("tentative array", GUARD % "char buf[64];",
  "buf[3] = 5; return sizeof buf;", "return buf[3];", main="return a() != 64 || b() != 5;")
c("array without size", GUARD % "int table[] = { 1, 2, 3 };",
  "return sizeof table / sizeof *table;", "return table[2];")
c("array of strings without size", GUARD % 'const char *names[] = {\n  "one",\n  "two",\n};',
  "return sizeof names / sizeof *names;", "return names[1][0] == 't' ? 2 : 0;")
c("string array without size", GUARD % 'const char version[] = "1.0";',
  "return sizeof version;", "return version[0] == '1' ? 4 : 0;")
c("const char pointer", GUARD % 'const char *version = "1.0";',
  "return version[0];", "return version[0];")
c("const array", GUARD % "const int table[3] = { 1, 2, 3 };",
  "return table[2];", "return table[2];")
c("struct array without size designated", GUARD % 'struct e { const char *n; int v; };\nstruct e map[] = {\n  { "a", 1 },\n  { "b", 2 },\n  { 0, 0 }\n};',
  "return map[1].v;", "return sizeof map / sizeof *map - 1;")
c("long initialiser", GUARD % "int table[12] = {\n  0,\n  1,\n  2,\n  3,\n  4,\n  5,\n  6,\n  7,\n  8,\n  9,\n  10,\n  11,\n};",
  "return table[2];", "return table[2];")
c("anonymous enum unused", GUARD % "enum { RED, GREEN } color;",
  "return GREEN;", "return GREEN;")
c("anonymous enum used", GUARD % "enum { RED, GREEN } color;",
  "color = GREEN; return 1;", "return color;", main="return a() != b();")
c("struct trailing var", GUARD % "struct point { int x, y; } origin;",
  "origin.x = 4; return 4;", "return origin.x;")
c("struct trailing var init", GUARD % "struct opts { int verbose; } opts = { 3 };",
  "return opts.verbose;", "return opts.verbose;")
c("anon struct trailing init", GUARD % "struct {\n  int verbose;\n  int level;\n} config = { 3, 4 };",
  "return config.verbose;", "return config.verbose;")
c("typedef then var", GUARD % "typedef struct { int a; } T;\nT t;",
  "t.a = 2; return 2;", "return t.a;")
c("two declarators", GUARD % "int first, second;",
  "first = 2; second = 2; return 2;", "return first;")
c("two declarators init", GUARD % "int first = 1, second = 2;",
  "return first + second;", "return first + second;")
c("pointers and arrays in one declaration", GUARD % "char *name, line[80], **more;",
  "name = line; line[0] = 3; return 3;", "return name[0];")
c("function pointer", GUARD % "int (*hook)(int);",
  "hook = 0; return 0;", "return hook != 0;")
c("table of functions", GUARD % "void (*handlers[4])(int);",
  "handlers[1] = 0; return 0;", "return handlers[1] != 0;")
c("extern initialised", GUARD % "extern int z;\nextern int z = 3;",
  "return z;", "return z;")
c("var with comment", GUARD % "int x; /* the x */\nint y = 4; // the y",
  "x = 4; return 4;", "return y;")
c("var volatile static-like", GUARD % "volatile int flag = 0;",
  "flag = 1; return 1;", "return flag;")
c("thread local", GUARD % "__thread int t = 3;",
  "return t;", "return t;")
c("_Alignas", GUARD % "_Alignas(32) int x = 3;",
  "return x;", "return x + (unsigned long)&x % 32;")
c("attribute aligned", GUARD % "int x __attribute__((aligned(32))) = 3;",
  "return x;", "return x + (unsigned long)&x % 32;")
c("asm name", GUARD % 'int v __asm__("real_v") = 3;',
  "return v;", "return v;")
case("c EXTERN macro", {
    "h.h": "#ifdef MAIN\n#define EXTERN\n#define INIT(x) = x\n#else\n#define EXTERN extern\n#define INIT(x)\n#endif\nEXTERN int g INIT(4);\n",
    "a.c": '#define MAIN\n#include "h.h"\nint a(void) { return g; }\n',
    "b.c": '#define MAIN\n#include "h.h"\nint b(void) { return g; }\n',
    "main.c": "int a(void); int b(void);\nint main(void) { return a() == b() ? 0 : 1; }\n"})
c("unused GLOBAL macro empty", "#define GLOBAL\n" + GUARD % "GLOBAL int g = 4;",
  "return g;", "return g;")
c("GLOBAL macro empty, tentative", "#define GLOBAL\n" + GUARD % "GLOBAL int g;",
  "g = 4; return g;", "return g;")
c("value uses macro", GUARD % "#define N 5\nint limit = N;\nint buf[N];",
  "buf[0] = 5; return limit;", "return buf[0];")
c("value uses enum and sizeof", GUARD % "enum { A = 4 };\nint limit = A + (int)sizeof(int);",
  "return limit;", "return limit;")
c("address of another", GUARD % "int base = 7;\nint *ptr = &base;",
  "return *ptr;", "return *ptr;")
c("static helper initialises", GUARD % "static int helper(void) { return 3; }\nint (*fn)(void) = helper;",
  "return fn();", "return fn();", by_hand=True)
case("c header and owner", {
    "g.h": "#ifndef G\n#define G\nint level;\n#endif\n",
    "g.c": '#include "g.h"\nint level = 4;\n',
    "main.c": '#include "g.h"\nint main(void) { return level != 4; }\n'})
case("c two owners declared", {
    "g.h": "extern int level;\n",
    "g.c": '#include "g.h"\nint level;\n',
    "main.c": '#include "g.h"\nint level = 4;\nint main(void) { return level != 4; }\n'})
case("c two owners both init same", {
    "g.h": "extern int level;\n",
    "g.c": '#include "g.h"\nint level = 4;\n',
    "main.c": '#include "g.h"\nint level = 4;\nint main(void) { return level != 4; }\n'})
case("c five sources", {
    "g.h": GUARD % "int total;\nint size = 5;\nint add(int x) { return total += x; }",
    "s0.c": '#include "g.h"\nint s0(void) { return add(0); }\n',
    "s1.c": '#include "g.h"\nint s1(void) { return add(1); }\n',
    "s2.c": '#include "g.h"\nint s2(void) { return add(2); }\n',
    "s3.c": '#include "g.h"\nint s3(void) { return add(3); }\n',
    "s4.c": '#include "g.h"\nint s4(void) { return add(4); }\n',
    "main.c": '#include "g.h"\nint s0(void);\nint s1(void);\nint s2(void);\nint s3(void);\nint s4(void);\nint main(void) { s0(); s1(); s2(); s3(); s4(); return total != 10; }\n'})
case("c mixed with C++", {
    "g.h": GUARD % '#ifdef __cplusplus\nextern "C" {\n#endif\nint total = 2;\nint add(int x) { return x + 1; }\n#ifdef __cplusplus\n}\n#endif',
    "a.c": '#include "g.h"\nint a(void) { return add(1) + total; }\n',
    "main.cpp": '#include "g.h"\nextern "C" int a(void);\nint main() { return a() != add(1) + total; }\n'})
case("c header without its own guard of a folder", {
    "inc/g.h": "#pragma once\nint total = 2;\n",
    "src/a.c": '#include "g.h"\nint a(void) { return total; }\n',
    "src/main.c": '#include "g.h"\nint a(void);\nint main(void) { return a() != total; }\n'}, options="-Iinc")
cxx("fn of C++", GUARD % "int f(int x) { return x + 1; }",
    "return f(1);", "return f(1);")
cxx("fn namespace", GUARD % "namespace n { namespace m {\nint f(int x = 1)\n{\n  return x + 1;\n}\n} }",
    "return n::m::f();", "return n::m::f();")
cxx("fn declared and defined", GUARD % "int f(int x = 1);\nint f(int x) { return x + 1; }",
    "return f(1);", "return f();")
cxx("member out of class", GUARD % "struct S { int f() const; S(); ~S(); operator int() const; int v; };\nS::S() : v(3) {}\nS::~S() {}\nint S::f() const { return v; }\nS::operator int() const { return v; }",
    "S s; return s.f();", "S s; return s;")
cxx("operator", "#include <ostream>\n" + GUARD % "struct S { int v; };\nstd::ostream& operator<<(std::ostream& o, const S& s) { return o << s.v; }\nbool operator==(const S& a, const S& b) { return a.v == b.v; }",
    "return S{1} == S{1};", "return S{1} == S{1};")
cxx("trailing return", GUARD % "auto f() -> int { return 2; }",
    "return f();", "return f();")
cxx("nodiscard", GUARD % "[[nodiscard]] int f() { return 2; }",
    "return f();", "return f();")
cxx("specialisation fn", GUARD % "template <class T> T zero() { return T(1); }\ntemplate <> int zero<int>() { return 0; }",
    "return zero<int>();", "return zero<int>();")
cxx("specialised member", GUARD % "template <class T> struct Box { int size() const; };\ntemplate <class T> int Box<T>::size() const { return 1; }\ntemplate <>\nint Box<int>::size() const { return 4; }",
    "return Box<int>().size();", "return Box<int>().size();")
cxx("specialised static member", GUARD % "template <class T> struct Box { static int n; };\ntemplate <class T> int Box<T>::n = 1;\ntemplate <> int Box<int>::n = 4;",
    "return Box<int>::n;", "return Box<int>::n;")
cxx("static member 17", GUARD % "struct K { static int n; };\nint K::n = 4;",
    "K::n = 5; return 5;", "return K::n;")
cxx("static member 11", GUARD % "struct K { static int n; };\nint K::n = 4;",
    "K::n = 5; return 5;", "return K::n;", options="-std=c++11")
cxx("static member array 11", GUARD % 'struct K { static const char* const names[]; };\nconst char* const K::names[] = { "a", "b" };',
    "return K::names[1][0];", "return K::names[1][0];", options="-std=c++11")
cxx("static member in namespace 14", "#include <string>\n" + GUARD % 'namespace n { class K { public: static std::string name; };\nstd::string K::name = "x";\n}',
    'n::K::name += "y"; return 2;', "return (int)n::K::name.size();", options="-std=c++14")
cxx("constexpr static member 14", GUARD % "struct K { static constexpr int n = 3; };\nconstexpr int K::n;",
    "const int& r = K::n; return r;", "const int& r = K::n; return r;", options="-std=c++14", by_hand=None)
cxx("static member 98 const", GUARD % "struct K { static const int n; };\nconst int K::n = 3;",
    "return K::n;", "return K::n;", options="-std=c++98")
cxx("specialised fn 11", GUARD % "template <class T> T zero() { return T(1); }\ntemplate <> int zero<int>() { return 0; }",
    "return zero<int>();", "return zero<int>();", options="-std=c++11")
cxx("specialised static member 11", GUARD % "template <class T> struct Box { static int n; };\ntemplate <class T> int Box<T>::n = 1;\ntemplate <> int Box<int>::n = 4;",
    "return Box<int>::n;", "return Box<int>::n;", options="-std=c++11")
cxx("var 17", GUARD % "int state = 3;",
    "state = 5; return 5;", "return state;")
cxx("var 11", GUARD % "int state = 3;",
    "state = 5; return 5;", "return state;", options="-std=c++11")
cxx("var 11 namespace", GUARD % "namespace app {\nint state = 3;\n}",
    "app::state = 5; return 5;", "return app::state;", options="-std=c++11")
cxx("string 11 ctor", "#include <string>\n" + GUARD % 'std::string name("x");',
    'name += "y"; return 2;', "return (int)name.size();", options="-std=c++11", by_hand=None)
cxx("vector braces 11", "#include <vector>\n" + GUARD % "std::vector<int> v{1, 2, 3};",
    "return (int)v.size();", "return (int)v.size();", options="-std=c++11")
cxx("map 17", "#include <map>\n#include <string>\n" + GUARD % 'std::map<std::string, int> ages = {\n  {"a", 1},\n  {"b", 2},\n};',
    'ages["c"] = 1; return 3;', "return (int)ages.size();")
cxx("extern const init", GUARD % "extern const int limit = 3;",
    "return limit;", "return limit;", by_hand=None)
cxx("extern C block", GUARD % 'extern "C" {\nint f() { return 2; }\nint x = 3;\n}',
    "x = 4; return f();", "return f();")
cxx("extern C block 11", GUARD % 'extern "C" {\nint f() { return 2; }\nint x = 3;\n}',
    "x = 4; return 4;", "return x;", options="-std=c++11")
cxx("extern C one line", GUARD % 'extern "C" int f() { return 2; }',
    "return f();", "return f();")
cxx("auto var", GUARD % "auto x = 3;",
    "x = 4; return x;", "return x;", by_hand=None)
cxx("two declarators of C++", GUARD % "int first = 1, second = 2;",
    "first = 3; return 3;", "return first;")
cxx("two declarators 11", GUARD % "int first = 1, second = 2;",
    "first = 3; return 3;", "return first;", options="-std=c++11")
cxx("enum var", GUARD % "enum Color { Red, Green } color = Green;",
    "return color;", "return color;")
cxx("array 11", GUARD % "int table[] = {1, 2, 3};",
    "return table[2];", "return sizeof table / sizeof *table;", options="-std=c++11")
cxx("thread_local", GUARD % "thread_local int t = 3;",
    "return t;", "return t;")
cxx("API empty", "#define API\n" + GUARD % "API int f() { return 2; }",
    "return f();", "return f();")
cxx("fn with static local", GUARD % "int next() {\n  static int n = 0;\n  return ++n;\n}",
    "return next();", "return next();", main="int x = a(); return b() != x + 1;")
cxx("virtual out of class", GUARD % "struct B { virtual ~B(); virtual int f(); };\nB::~B() {}\nint B::f() { return 3; }",
    "B b; return b.f();", "B b; return b.f();")
cxx("nested class member", GUARD % "struct A { struct B { static int g(); }; };\nint A::B::g() { return 3; }",
    "return A::B::g();", "return A::B::g();")
cxx("friend and template fn", GUARD % "template <class T> int t(T) { return 3; }\ntemplate <> int t(char) { return 4; }",
    "return t('a');", "return t('a');")
cxx("variable template specialisation", GUARD % "template <class T> int v = 1;\ntemplate <> int v<int> = 4;",
    "return v<int>;", "return v<int>;", by_hand=None)
cxx("function made by macro", GUARD % "#define FN(n) int n() { return 2; }\nFN(f)",
    "return f();", "return f();")
cxx("literal operator", GUARD % 'unsigned long long operator"" _k(unsigned long long x) { return x * 2; }',
    "return 1_k;", "return 1_k;")
case("cxx header and owner", {
    "g.hpp": GUARD % "namespace n { int level; }",
    "g.cpp": '#include "g.hpp"\nint get() { return n::level; }\n',
    "main.cpp": '#include "g.hpp"\nint get();\nint main() { n::level = 4; return get() != 4; }\n'}, options="-std=c++14")
case("cxx source included and compiled", {
    "u.cpp": "int helper() { return 3; }\n",
    "main.cpp": '#include "u.cpp"\nint main() { return helper() != 3; }\n'})
case("cxx two sources private helper", {
    "a.cpp": "int clamp(int x) { return x > 9 ? 9 : x; }\nint a() { return clamp(10); }\n",
    "b.cpp": "int clamp(int x) { return x > 5 ? 5 : x; }\nint b() { return clamp(10); }\n",
    "main.cpp": "int a(); int b();\nint main() { return a() != 9 || b() != 5; }\n"})
case("three variables of one header without last newline", {
    "h.h": GUARD % "int x = 1;\nint y = 2;\nint z;",
    "a.c": '#include "h.h"\nint a(void) { return x; }',
    "b.c": '#include "h.h"\nint b(void) { return y - 1; }',
    "main.c": "int a(void); int b(void);\nint main(void) { return a() == b() ? 0 : 1; }"})
c("crlf", "#ifndef H_H\r\n#define H_H\r\nint x = 1;\r\nint table[] = {\r\n  1, 2 };\r\nint f(void) {\r\n  static int n;\r\n  return ++n; }\r\n#endif\r\n",
  "f(); return x;", "return table[0] + f() - 2;")
c("bool and size_t arrays", "#include <stddef.h>\n#include <stdbool.h>\n" + GUARD % "bool flags[] = { true, false };\nsize_t sizes[] = { 1, 2, 3 };\nstruct q { int a, b; };\nstruct q qs[] = { { 1, 2 }, { 3, 4 }, };",
  "return sizeof flags / sizeof *flags + sizeof qs / sizeof *qs;", "return 4 + !flags[0];")
c("designated array of strings", GUARD % 'enum { A, B, C };\nconst char *const names[] = {\n  [A] = "a",\n  [C] = "c",\n};',
  "return sizeof names / sizeof *names;", "return names[C][0] == 'c' ? 3 : 0;")
c("macro elements", "#define ENTRY(x) { #x, x },\n" + GUARD % "struct e { const char *n; int v; };\nstruct e map[] = {\n  ENTRY(1)\n  ENTRY(2)\n};",
  "return map[1].v;", "return sizeof map / sizeof *map;", by_hand=True)
c("two dimensional", GUARD % "int grid[][2] = { { 1, 2 }, { 3, 4 } };",
  "return grid[1][0];", "return sizeof grid / sizeof grid[0] + 1;")
c("char array of chars", GUARD % "char abc[] = { 'a', 'b', 'c' };",
  "return sizeof abc;", "return abc[2] == 'c' ? 3 : 0;")
c("pointer and array multi with values", GUARD % "int n = 3, *p = &n, arr[2] = { 1, 2 };",
  "n = 4; return *p;", "return n + arr[0] - 1;", main="int x = a(); return b() != x;")
c("struct def and two vars", GUARD % "struct s { int a; } one, two;",
  "one.a = two.a = 2; return 2;", "return one.a;")
c("enum with initialised var", GUARD % "enum level { LOW, HIGH } level = HIGH;",
  "return level;", "return level;")
c("union", GUARD % "union u { int i; float f; } shared;",
  "shared.i = 2; return 2;", "return shared.i;")
c("function with state in file static", GUARD % "static int counter;\nint tick(void)\n{\n  return ++counter;\n}",
  "return tick();", "return tick();", main="int x = a(); return b() != x + 1;", by_hand=True)
c("two functions, one with state", GUARD % "int one(void) { return 1; }\nint next(void) {\n  static int n = 0;\n  n += one();\n  return n;\n}",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;")
c("function with ifdef in body", GUARD % "int f(void)\n{\n#ifdef FAST\n  return 1;\n#else\n  return 2;\n#endif\n}",
  "return f();", "return f();")
c("function with ifdef and state", GUARD % "int f(void)\n{\n  static int n;\n#ifdef FAST\n  return 1;\n#else\n  return ++n;\n#endif\n}",
  "return f();", "return f();", main="int x = a(); return b() != x + 1;", by_hand=True)
c("static const pointer state", GUARD % 'const char *cur(int set)\n{\n  static const char *p = "x";\n  if (set) p = "y";\n  return p;\n}',
  "return cur(1)[0];", "return cur(0)[0];", main="int x = a(); return b() != x;")
c("variadic and typedefs", "#include <stdarg.h>\n" + GUARD % "typedef int (*fn_t)(const char *, ...);\nint sum(int n, ...)\n{\n  va_list ap; int s = 0;\n  va_start(ap, n);\n  while (n--) s += va_arg(ap, int);\n  va_end(ap);\n  return s;\n}\nfn_t logger;",
  "return sum(2, 1, 2);", "return logger ? 0 : 3;")
c("static inline neighbour", GUARD % "static inline int g(void) { return 1; }\nint f(void) { return g() + 1; }",
  "return f();", "return f();")
c("weak and strong", GUARD % "int f(void) { return 2; }\n__attribute__((weak)) int h(void) { return 2; }",
  "return f();", "return h();")
c("const volatile and register names", GUARD % "const volatile int hw = 2;\nunsigned long long big = 2ULL;",
  "return hw;", "return (int)big;")
c("compound literal pointer", GUARD % "int *p = (int[]){ 1, 2 };",
  "return p[1];", "return p[1];")
c("float array, negative and hex", GUARD % "float f[] = { 1.5f, -2.0f };\ndouble d[] = { 1.0, 2.0, 3.0 };\nunsigned char bytes[] = { 0x01, 0x02 };",
  "return sizeof f / sizeof *f;", "return bytes[1];")
c("long string concat", GUARD % 'char banner[] = "one"\n                "two";',
  "return sizeof banner;", "return banner[6] == 0 ? 7 : 0;")
c("include guard pragma and comments", "/* head */\n#pragma once\n/** The state.\n * Of all. */\nint state /* now */ = 3; // end\n",
  "state = 4; return 4;", "return state;")
c("undef macro in value", "#define N 5\nint limit = N;\n#undef N\n",
  "return limit;", "return limit;", by_hand=True)
c("attribute section", GUARD % 'int sec __attribute__((section(".mydata"))) = 3;\nint used __attribute__((used)) = 3;',
  "return sec;", "return used;", by_hand=None)
c("asm top", GUARD % '__asm__(".globl nothing_at_all_local");\nint f(void) { return 2; }',
  "return f();", "return f();")
c("static_assert between", GUARD % '_Static_assert(sizeof(int) == 4, "x");\nint q = 2;\n_Static_assert(1, "y");',
  "return q;", "return q;")
cxx("static members of all kinds 14", "#include <string>\n#include <vector>\n" + GUARD % 'namespace aa { namespace b {\nclass K {\n public:\n  static std::vector<int> v;\n  static int* p;\n  static const std::string name;\n  struct In { static int deep; };\n};\nstd::vector<int> K::v = {1, 2};\nint* K::p = nullptr;\nconst std::string K::name("k");\nint K::In::deep = 2;\n} }',
    "return aa::b::K::p ? 0 : (int)aa::b::K::v.size();", "return aa::b::K::In::deep;", options="-std=c++14")
cxx("static member qualified fully 11", GUARD % "namespace n { struct K { static int v; }; }\nint n::K::v = 2;",
    "return n::K::v;", "return n::K::v;", options="-std=c++11")
cxx("static member template class 11", GUARD % "template <class T> struct B { static int v; };\ntemplate <class T> int B<T>::v = 2;\nstruct K : B<K> { static unsigned count; };\nunsigned K::count;",
    "K::count = 2; return 2;", "return (int)K::count;", options="-std=c++11")
cxx("string braces 14", "#include <string>\n" + GUARD % 'std::string name{"x"};\nstd::string empty;',
    'name += "y"; return 2 + (int)empty.size();', "return (int)name.size();", options="-std=c++14", by_hand=None)
cxx("array and pointers 14", GUARD % 'const char* names[] = {"a", "b"};\ndouble d = 2.0, e = 3.0;',
    "return sizeof names / sizeof *names;", "return (int)d;", options="-std=c++14")
cxx("struct var 11", GUARD % "struct P { int x; int y; } p = {1, 2};",
    "p.x = 4; return 4;", "return p.x;", options="-std=c++11")
cxx("lambda var 17", GUARD % "auto fn = [](int x) { return x + 1; };",
    "return fn(1);", "return fn(1);", by_hand=None)
cxx("unique_ptr and mutex 17", "#include <memory>\n#include <mutex>\n" + GUARD % "std::unique_ptr<int> p;\nstd::mutex m;",
    "p.reset(new int(2)); return 2;", "std::lock_guard<std::mutex> l(m); return p ? *p : 0;")
cxx("specialised class members", GUARD % 'template <class T> struct Tr;\ntemplate <> struct Tr<int> { static const char* name(); static int n; };\nconst char* Tr<int>::name() { return "i"; }\nint Tr<int>::n = 2;',
    "return Tr<int>::n;", "return Tr<int>::name()[0] == 'i' ? 2 : 0;")
cxx("specialised class members 11", GUARD % 'template <class T> struct Tr;\ntemplate <> struct Tr<int> { static const char* name(); static int n; };\nconst char* Tr<int>::name() { return "i"; }\nint Tr<int>::n = 2;',
    "return Tr<int>::n;", "return Tr<int>::name()[0] == 'i' ? 2 : 0;", options="-std=c++11")
cxx("export macro class", '#define EXPORT __attribute__((visibility("default")))\n' + GUARD % "struct EXPORT S { int f(); static int n; };\nEXPORT int g() { return 2; }\nint S::f() { return 2; }\nint S::n = 2;",
    "return S().f();", "return g();")
cxx("noexcept, ref-qualified, default template", GUARD % "struct S { int f() & noexcept; S& operator+=(int); int v = 2; };\nint S::f() & noexcept { return v; }\nS& S::operator+=(int x) { v += x; return *this; }",
    "S s; s += 0; return s.f();", "S s; return s.f();")
cxx("unsigned array in namespace 11", GUARD % "namespace n {\nunsigned table[] = {\n  1u,\n  2u,\n};\n}",
    "return n::table[1];", "return sizeof n::table / sizeof *n::table;", options="-std=c++11")
case("c two private helpers with prototypes", {
    "a.c": "static int z;\nint run(int);\nint a(void) { return run(1) + z; }\nint run(int x) { return x; }\n",
    "b.c": "int run(int);\nint b(void) { return run(1); }\nint run(int x) { return x + 1; }\n",
    "main.c": "int a(void); int b(void);\nint main(void) { return a() != 1 || b() != 2; }\n"})
case("c helper used by third", {
    "a.c": "int run(int x) { return x; }\nint a(void) { return run(1); }\n",
    "b.c": "int run(int x) { return x + 1; }\nint b(void) { return run(1); }\n",
    "main.c": "int a(void); int b(void); int run(int);\nint main(void) { return a() != 1 || b() != 2 || run(1) != 1; }\n"}, by_hand=True)
case("c included source with variables used", {
    "util.c": "int limit = 3;\nint helper(int x) { return x * limit; }\n",
    "a.c": '#include "util.c"\nint main(void) { return helper(1) != limit; }\n'}, by_hand=True)
case("c included source with types", {
    "util.c": "typedef struct { int v; } box;\nint helper(box b) { return b.v; }\n",
    "a.c": '#include "util.c"\nint main(void) { box b = { 3 }; return helper(b) != 3; }\n'}, by_hand=True)
case("cxx included source, header declares", {
    "u.hpp": GUARD % "namespace n { int helper(int x); struct S { int f(); }; }",
    "u.cpp": '#include "u.hpp"\nnamespace n { int helper(int x) { return x; } int S::f() { return 3; } }\n',
    "main.cpp": '#include "u.hpp"\n#include "u.cpp"\nint main() { return n::helper(n::S().f()) != 3; }\n'})
case("c main including three", {
    "x.h": GUARD % "void fx(void);\nextern int vx;",
    "x.c": '#include "x.h"\nint vx = 3;\nvoid fx(void) { vx++; }\n',
    "main.c": '#include <stdio.h>\n#include "x.h"\n#include "x.c"\nint main(void) { fx(); return vx != 4; }\n'})

# --- What else is in the audit: an object whose place is not known, that only uses the name, or of another project

MAIN_C = "int a(void); int b(void);\nint main(void) { %s }\n"
case("c place of one object not known: include_next", {
    "i1/x.h": "#include_next <x.h>\n", "i2/x.h": "#pragma once\nint state = 1;\n", "i3/x.h": "#pragma once\nint state = 1;\n",
    "a.c": "#include <x.h>\nint main(void) { return state != 1; }\n",
    "b.c": "#include <x.h>\nint b(void);\nint b(void) { return state; }\n"}, by_hand=None,
    own_options={"a.c": "-Ii1 -Ii2 -Ii3", "b.c": "-Ii2 -Ii3"})
for before in ("#include <stddef.h>\n", ""):
    for otherwise in ("#else\nextern int state;\n", ""):
        case(f"c one by its command, one by a #define, {before[:8]} {otherwise[:5]}".replace("\n", ""), {
            "s.h": f"#pragma once\n{before}#ifdef OWN\nint state = 1;\n{otherwise}#endif\n",
            "a.c": '#include "s.h"\nint a(void) { return state; }\n', "b.c": '#define OWN\n#include "s.h"\nint b(void) { return state; }\n',
            "main.c": MAIN_C % "return a() != b();"}, by_hand=None, own_options={"a.c": "-DOWN"})
case("c header's tentative definition and a source's, header elsewhere", {
    "inc/s.h": "int state;\n", "src/a.c": '#include "s.h"\nint main(void) { return state != 7; }\n',
    "src/b.c": '#include "s.h"\nint state = 7;\nint b(void);\nint b(void) { return state; }\n'}, options="-Iinc", by_hand=None)
c("function that a third file declares itself", "int twice(int x) { return 2 * x; }\n", "return twice(1);", "return twice(1);",
  main="return a() + b() + other() != 14;", extra={"c.c": "int twice(int);\nint other(void);\nint other(void) { return twice(5); }\n"}, by_hand=None)
FIX_CASES[-1].files["main.c"] = "int other(void);\n" + FIX_CASES[-1].files["main.c"]
case("cxx variable that only a third file uses", {
    "s.h": "#pragma once\nint level = 2;\n", "a.cpp": '#include "s.h"\nint other();\nint main() { return other() != 2; }\n',
    "b.cpp": '#include "s.h"\nint b();\nint b() { return 1; }\n', "c.cpp": "extern int level;\nint other();\nint other() { return level; }\n"}, by_hand=None)
case("cxx function that only a third file uses", {
    "s.h": "#pragma once\nint level() { return 2; }\n", "a.cpp": '#include "s.h"\nint other();\nint main() { return other() != 2; }\n',
    "b.cpp": '#include "s.h"\nint b();\nint b() { return 1; }\n', "c.cpp": "int level();\nint other();\nint other() { return level(); }\n"}, by_hand=None)
TWO_H = "#ifndef TWO_H\n#define TWO_H\nint two_open(const char *);\n#endif\n#ifdef TWO_IMPLEMENTATION\nint two_open(const char *p) { return p[0]; }\n#endif\n"
case("c implementation in a header, and in an archive of others", {
    "two.h": TWO_H, "two.c": '#define TWO_IMPLEMENTATION\n#include "two.h"\n',
    "main.c": '#include "two.h"\nint vend(void);\nint main(void) { return two_open("a") + vend() != 97 + 98; }\n',
    "tool.c": '#include "two.h"\nint main(void) { return two_open("a") != 97; }\n',
    "vend.c": 'int two_open(const char *p) { return p[0]; }\nint vend(void);\nint vend(void) { return two_open("b"); }\n'},
    foreign=("vend.c",), programs=(("main.c", "two.c"), ("tool.c", "two.c")), by_hand=True)
for which in ("#define TWO_IMPLEMENTATION\n", ""):
    case(f"c header {'switched ' * bool(which)}and an archive of others define it", {
        "two.h": TWO_H if which else "#pragma once\nint two_open(const char *p) { return p[0]; }\n",
        "a.c": f'{which}#include "two.h"\nint a(void);\nint a(void) {{ return two_open("a"); }}\n', "main.c": "int a(void);\nint vend(void);\nint main(void) { return a() + vend() != 97 + 98; }\n",
        "vend.c": 'int two_open(const char *p) { return p[0]; }\nint vend(void);\nint vend(void) { return two_open("b"); }\n'}, foreign=("vend.c",), by_hand=True)
VEND = "int level = 2;\nint vend(void) { return level; }\n"
c("c variable that an archive of others defines", "#pragma once\nextern int level;\n", "return level;", "return level;", by_hand=True, foreign=("vend.c",), options="-fno-common",
  extra={"vend.c": VEND, "a.c": '#include "h.h"\nint level = 2;\nint a(void) { return level; }\n', "main.c": "int vend(void);\n" + MAIN % "return a() + b() + vend() != 6;"})
cxx("cxx variable that an archive of others defines", '#pragma once\nextern "C" { int level = 2; }\n', "return level;", "return level;", by_hand=True, foreign=("vend.c",),
    extra={"vend.c": VEND, "main.cpp": 'extern "C" int vend(void);\n' + MAIN % "return a() + b() + vend() != 6;"})

case("c macro that makes a variable of one file extern, too", {
    "g.h": GUARD % "#ifdef OTHERS\n#define EXTERN extern\n#else\n#define EXTERN\n#endif\n#ifdef HAS_A\nEXTERN int only_a;\n#endif\nEXTERN int both;",
    "a.c": '#define HAS_A\n#include "g.h"\nint main(void) { return only_a + both; }\n', "b.c": '#include "g.h"\nint b(void);\nint b(void) { return both; }\n'}, by_hand=True)

case("c header that two ways lead to", {
    "cfg.h": "#pragma once\n#ifndef EXTERN_STATE\n#define STATE\n#else\n#define STATE extern\n#endif\nSTATE int g_state;\n", "launch.h": '#pragma once\n#include "cfg.h"\n#define OTHER 1\n',
    "a.c": '#include "cfg.h"\n#include "launch.h"\nint main(void) { return OTHER - 1; }\n', "b.c": '#include "cfg.h"\n#include "launch.h"\nint b = OTHER;\n'}, by_hand=None)

# --- Copies that would differ: of state, of addresses, of what macros make of them

c("extern inline with a static local", GUARD % "extern inline int next(void) { static int n; return ++n; }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("gnu89 inline with a static of the file", GUARD % "static int n;\ninline int next(void) { return ++n; }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", options="-std=gnu89", by_hand=None)
c("state in a body made by a macro", "#define DEFINE_ID(n) int n##_next(void) { static int c; return ++c; }\nDEFINE_ID(job)\n",
  "return job_next();", "return job_next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("state by a macro in the body", "#define COUNTER static int c\n" + GUARD % "int next(void) { COUNTER; return ++c; }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("state of a file by a macro", "#define LOCAL static\n" + GUARD % "LOCAL int n;\nint next(void) { return ++n; }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("state through a helper", GUARD % "static inline int *slot(void) { static int s; return &s; }\nint next(void) { return ++*slot(); }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("state through two helpers", GUARD % "static int s;\nstatic inline int *slot(void) { return &s; }\nstatic inline int *twice(void) { return slot(); }\nint next(void) { return ++*twice(); }",
  "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=None)
c("helpers without state", GUARD % "static const int s[] = { 1, 2 };\nstatic inline int at(int i) { return s[i]; }\nint f(void) { return at(1); }", "return f();", "return f();")
cxx("state of a file", GUARD % "static int total;\nint acc(int x) { total += x; return total; }\nint peek() { return total; }",
    "acc(1); return 0;", "acc(2); return peek();", main="a(); return b() != 3;", by_hand=True)
cxx("state of an unnamed namespace", GUARD % "namespace n { namespace { int total; }\nint acc(int x) { return total += x; } }",
    "return n::acc(1);", "return n::acc(2);", main="a(); return b() != 3;", by_hand=True)
cxx("state through a helper of C++", GUARD % "static int& slot() { static int s; return s; }\nint next() { return ++slot(); }",
    "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=True)
cxx("state of a class in an unnamed namespace", GUARD % "namespace { struct K { static int n; }; int K::n; }\nint next() { return ++K::n; }",
    "return next();", "return next();", main="int x = a(); return b() != x + 1;", by_hand=True)
cxx("constants of a file", GUARD % "static const int limit = 3;\nconstexpr int more = 2;\nint f() { return limit + more; }", "return f();", "return f();")
case("c address of a function is compared", {
    "s.h": "#pragma once\nvoid cb(int x) { (void)x; }\nextern void (*hook)(int);\n",
    "a.c": '#include "s.h"\nvoid (*hook)(int);\nvoid a(void);\nvoid a(void) { hook = cb; }\n', "b.c": '#include "s.h"\nint b(void);\nint b(void) { return hook == cb; }\n',
    "main.c": "void a(void); int b(void);\nint main(void) { a(); return !b(); }\n"}, by_hand=None)
case("c address of a function by a macro", {
    "s.h": "#pragma once\nint cb(int x) { return x; }\nextern int (*hook)(int);\n#define SET(f) hook = f\n#define IS(f) (hook == f)\n",
    "a.c": '#include "s.h"\nint (*hook)(int);\nvoid a(void);\nvoid a(void) { SET(cb); }\n', "b.c": '#include "s.h"\nint b(void);\nint b(void) { return IS(cb); }\n',
    "main.c": "void a(void); int b(void);\nint main(void) { a(); return !b(); }\n"}, by_hand=None)
c("helper that a macro makes differ", GUARD % "static inline int size(void) { return SIZE; }\nint f(void) { return size(); }", "return f();", "return f();",
  own_options={"a.c": "-DSIZE=1", "b.c": "-DSIZE=2"}, by_hand=None)
c("capitals that are declared", GUARD % "enum { ONE, TWO };\ntypedef int NUMBER;\nint f(void) { NUMBER LOCAL = TWO; return LOCAL + ONE; }", "return f();", "return f();")
c("function that a macro makes differ", GUARD % "int f(void) { return SIZE; }", "return f();", "return f();", own_options={"a.c": "-DSIZE=1", "b.c": "-DSIZE=2"}, by_hand=True)
cxx("function that a macro makes differ, of C++", GUARD % "int f() { return SIZE; }", "return f();", "return f();", own_options={"a.cpp": "-DSIZE=1", "b.cpp": "-DSIZE=2"}, by_hand=True)
cxx("variable that a macro makes differ", GUARD % "int v = SIZE;", "return v;", "return v;", own_options={"a.cpp": "-DSIZE=1", "b.cpp": "-DSIZE=2"}, by_hand=True)
c("two types by the command", GUARD % "#if MODE == 1\nint state;\n#else\nlong state;\n#endif", "return (int)state;", "return (int)state;",
  own_options={"a.c": "-DMODE=1", "b.c": "-DMODE=2"}, by_hand=True)
cxx("two types by the command, of C++", GUARD % "#if MODE == 1\nint state;\n#else\nlong state;\n#endif", "return (int)state;", "return (int)state;",
    own_options={"a.cpp": "-DMODE=1", "b.cpp": "-DMODE=2"}, by_hand=True)

# --- What a compiler refuses, and values that depend on where they stand

c("function that one file does not call", "int twice(int x) { return 2 * x; }\n", "return twice(1);", "return 2;")
c("functions that no file calls", "#define API\nAPI int twice(int x);\nAPI int twice(int x) { return 2 * x; }\nint half(int x);\nint half(int x) { return x / 2; }\n", "return 2;", "return 2;")
case("c helper that its own file does not call", {
    "a.c": "int run(int);\nint run(int x) { return x; }\nint a(void);\nint a(void) { return run(1); }\n", "b.c": "int run(int);\nint run(int x) { return x + 1; }\nint b(void);\nint b(void) { return 1; }\n",
    "main.c": "int a(void); int b(void);\nint main(void) { return a() != b(); }\n"}, by_hand=None)
c("static local behind other headers", "#include <string.h>\n#include <stdio.h>\nint next_id(void) { static int n; return ++n; }\n",
  "return next_id();", "return next_id();", main="int x = a(); return b() != x + 1;", by_hand=None)
for standard in ("11", "14", "17"):
    cxx(f"extern C in a namespace {standard}", '#pragma once\nnamespace n { extern "C" { int level = 2; } }\n', "return n::level;", "return n::level;", options=f"-std=c++{standard}", by_hand=None)
    cxx(f"alignas {standard}", "#pragma once\nalignas(16) int state = 1;\n", "return state;", "return state + static_cast<int>(reinterpret_cast<unsigned long>(&state) % 16);", options=f"-std=c++{standard}", by_hand=None)
    cxx(f"variable without a known standard {standard}", "#include <vector>\n#pragma once\nint state = 3;\n", "state = 5; return 5;", "return state;", options=f"-std=c++{standard}")
case("c weak in another branch", {
    "s.h": "#ifdef STRONG\n#define W_\n#else\n#define W_ __attribute__((weak))\n#endif\nW_ int hook(int x) { return x; }\n",
    **{f"{x}.c": f'#include "s.h"\nint {x}(void);\nint {x}(void) {{ return hook(1); }}\n' for x in "abc"},
    "main.c": "int a(void); int b(void); int c(void);\nint main(void) { return a() + b() + c() != 3; }\n"}, own_options={"a.c": "-DSTRONG", "b.c": "-DSTRONG"}, by_hand=True)
c("weak function beside", GUARD % "__attribute__((weak)) int h(void) { return 2; }\nint f(void) { return h(); }", "return f();", "return h();")
for words in ("_Alignas(16) int x = 1;", "__attribute__((aligned(16))) int x = 1;", "int x __attribute__((aligned(16))) = 1;", "_Alignas(16) _Thread_local int x = 1;", '__attribute__((section(".mine"))) int x = 1;',
              '__attribute__((visibility("hidden"))) int x = 1;', "int x __attribute__((used, aligned(16))) = 1;"):
    c(f"attribute {words}", "#pragma once\n" + words + "\n", "return x;", "return x + (int)((unsigned long)&x % 4);", by_hand=None)
for words in ("ALIGN int x = 1;", "API ALIGNED(16)\nint x = 1;", "extern int y; API int x = 1;"):
    c(f"attribute by a macro: {words}", f'#pragma once\n#define ALIGN __attribute__((aligned(16)))\n#define ALIGNED(n) __attribute__((aligned(n)))\n#define API __attribute__((visibility("default")))\n{words}\n',
      "return x;", "return x + (int)((unsigned long)&x % 4);")
c("attribute of a function by a macro", '#define API __attribute__((visibility("default")))\n' + GUARD % "API int f(void) { static int n; return ++n; }",
  "return f();", "return f();", main="int x = a(); return b() != x + 1;")
for words in ("noinline", "constructor", "used", "cold", "const", "noreturn", "noclone"):
    body = "static volatile int one = 1; while (one) { }" if words == "noreturn" else ""
    c(f"function attribute {words}", f"#pragma once\n__attribute__(({words})) {'int' if words == 'const' else 'void'} f(void) {{ {'return 1;' if words == 'const' else body} }}\n",
      "if (0) f(); return 1;", "if (0) f(); return 1;", by_hand=None)
case("c value by a macro that changes", {
    "s.h": "#pragma once\n#define DEFVAL 7\nint level = DEFVAL;\n", "a.c": '#include "s.h"\n#undef DEFVAL\n#define DEFVAL 8\nint a(void);\nint a(void) { return level; }\n',
    "b.c": '#include "s.h"\nint b(void);\nint b(void) { return level; }\n', "main.c": "int a(void); int b(void);\nint main(void) { return a() != 7 || b() != 7; }\n"}, by_hand=None)
case("c value by a macro that is defined later", {
    "s.h": "#pragma once\nenum { size = 7 };\nint level = size;\n", "a.c": '#include "s.h"\n#define size 8\nint a(void);\nint a(void) { return level; }\n',
    "b.c": '#include "s.h"\nint b(void);\nint b(void) { return level; }\n', "main.c": "int a(void); int b(void);\nint main(void) { return a() != 7 || b() != 7; }\n"}, by_hand=None)
for value, number in (("__LINE__", 5), ("__COUNTER__ + 0 * __COUNTER__", 0), ("(int)sizeof __FILE__", 4), ("DEEP", 5)):
    c(f"value {value}", f"#pragma once\n#define DEEP __LINE__ + 0\n\n\nint level = {value};\n", "return level;", "return level + 0 * __COUNTER__;",
      main=f"return a() != b() || a() != {number};", by_hand=True)
c("function that says where it is", GUARD % "#define HERE __LINE__\nint f(void) { static int n; return HERE + n++; }", "return f();", "return f();", main="return a() != 4 || b() != 5;", by_hand=None)
c("inline beside a declaration", GUARD % "int f(void);\ninline int f(void) { return 2; }", "return f();", "return f();")
c("inline beside a declaration of another header", '#include "proto.h"\n' + GUARD % "inline int f(void) { return 2; }", "return f();", "return f();", extra={"proto.h": "int f(void);\n"}, by_hand=None)
