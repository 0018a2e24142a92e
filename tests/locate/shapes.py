"""The cases of test_shapes.py."""

from dataclasses import dataclass, field

from cases import Case


@dataclass
class SourceCase(Case):
    """A source, and marks in its files (test_shapes.py)."""
    source: str = "a.cpp"
    chain: list = None  # of every marked symbol
    links: dict = field(default_factory=dict)
    needs_command: bool = False  # a depfile does not tell enough
    doubtful: bool = False
    begin: str = ""
    end_of_line: str = "\n"
    last_line_ends: bool = True


CASES = []


def cxx(name, text, **more):
    files(name, {"a.cpp": text}, **more)


def c(name, text, **more):
    files(name, {"a.c": text}, source="a.c", **{"options": "-std=gnu11 -fcommon", **more})


def files(name, texts, **more):
    CASES.append(SourceCase(name, texts, **{"options": "-std=c++20", **more}))


cxx("attributes", """
__attribute__((visibility("hidden"))) int a;  //@ a:v
[[gnu::used]] int b = 1;  //@ b:v
alignas(64) char c_[64];  //@ c_:v
thread_local int d = 3;  //@ d:v
constinit int e = 4;  //@ e:v
extern constexpr int f = 5;  //@ f:v
extern const int g;
const int g = 6;  //@ g:v
constexpr int h = 7;  //! h:v
int i [[maybe_unused]] = 3, j __attribute__((aligned(8)));  //@ i:v  //@ j:v
__thread int k;  //@ k:v
[[nodiscard]] [[gnu::noinline]] int l() { return 1; }  //@ _Z1lv:f
__attribute__((weak)) int m() { return 1; }
int n() __asm__("other_name");
int n() { return 3; }
extern "C" __attribute__((alias("b"))) int o;  //@ o:v
""", compilers=("gcc",))

cxx("declarators", """
int a[3], *b, (*c_)(int), &d = a[0], e{1}, f(2), **g[2];  //@ a:v  //@ b:v  //@ c_:v  //@ d:v  //@ e:v  //@ f:v  //@ g:v
int (*h)[4];  //@ h:v
int (&i)[3] = a;  //@ i:v
int (*j(int x))(double) { return 0; }  //@ _Z1ji:f
auto k() -> int (*)[3] { return &a; }  //@ _Z1kv:f
struct S { int m; int f(); static int s, t; } l, *o = &l;  //@ l:v  //@ o:v
int S::*p = &S::m;  //@ p:v
int (S::*q)() = &S::f;  //@ q:v
int
  S::s = 3,  //@ _ZN1S1sE:v
  S::t  //@ _ZN1S1tE:v
  = 4;
int S::f() { return s; }  //@ _ZN1S1fEv:f
enum E { r, s_ } t = r;  //@ t:v
union U { int x; float y; } u;  //@ u:v
enum class F : unsigned char { x } v = F::x;  //@ v:v
const char* const w = "no", *y = "int z;";  //! w:v  //@ y:v
decltype(a) z;  //@ z:v
auto aa = [](int x) { int bb = x; return bb; };
bool bb = 1 < 2, cc = 3 > 2;  //@ bb:v  //@ cc:v
""", compilers=("gcc",))

cxx("operators", """
struct A { int x; A& operator=(const A&); int operator()(int) const; operator bool() const; int operator[](int);
  void* operator new(unsigned long); A operator++(int); A(int); ~A(); bool operator<(const A&) const; };
A& A::operator=(const A&) { return *this; }  //@ _ZN1AaSERKS_:f
int A::operator()(int y) const { return y; }  //@ _ZNK1AclEi:f
A::operator bool() const { return x; }  //@ _ZNK1AcvbEv:f
int A::operator[](int y) { return y; }  //@ _ZN1AixEi:f
void* A::operator new(unsigned long) { return 0; }  //@ _ZN1AnwEm:f
A A::operator++(int) { return *this; }  //@ _ZN1AppEi:f
A::A(int y) : x{y} {}  //@ _ZN1AC1Ei:f
A::~A() { x = 0; }  //@ _ZN1AD1Ev:f
bool A::operator<(const A& o) const { return x < o.x; }  //@ _ZNK1AltERKS_:f
A operator+(const A& a, int b) { return A(a.x + b); }  //@ _ZplRK1Ai:f
A operator-(const A& a) { return a; }  //@ _ZngRK1A:f
bool operator==(const A&, const A&) { return true; }  //@ _ZeqRK1AS1_:f
unsigned long operator""_km(unsigned long long x) { return x; }  //@ _Zli3_kmy:f
""", compilers=("gcc",))

cxx("namespaces", """
namespace a { int x; namespace b { int x; inline namespace v1 { int x; } } }  //@ _ZN1a1xE:v  //@ _ZN1a1b1xE:v  //@ _ZN1a1b2v11xE:v
int x;  //@ x:v
namespace { int x_; int y = 1; }
namespace a::b { int y; }  //@ _ZN1a1b1yE:v
namespace c_ = a::b;
using namespace a;
namespace a { extern int late; void f(); struct T; }
int a::late = 3;  //@ _ZN1a4lateE:v
void a::f() {}  //@ _ZN1a1fEv:f
struct a::T { static int q; struct In { static int r; }; };
int a::T::q;  //@ _ZN1a1T1qE:v
int a::T::In::r = 3;  //@ _ZN1a1T2In1rE:v
namespace d { class x { int x; public: void g(int x) { static int y; y = x; } }; void h() { int x = 1; extern int x; } }
namespace [[deprecated]] e { int w; }  //@ _ZN1e1wE:v
extern "C" { namespace f_ { int cc; } int dd; int g_(); }  //@ cc:v  //@ dd:v
extern "C" int ee;
int ee;  //@ ee:v
int g_() { return 1; }  //@ g_:f
extern "C" int ff = 1;  //@ ff:v
""", compilers=("gcc",))

CASES[-1].files["a.cpp"] = CASES[-1].files["a.cpp"].replace("{ int x = 1; extern int x; }", "{ int x = 1; }")

cxx("templates", """
template <class T> struct S { static int count; T f(T); template <class U> U g(U); };
template <class T> int S<T>::count = 0;
template <> int S<int>::count = 5;  //@ _ZN1SIiE5countE:v
template <> int S<int>::f(int x) { return x; }  //@ _ZN1SIiE1fEi:f
template <> template <> int S<int>::g<int>(int x) { return x; }  //@ _ZN1SIiE1gIiEET_S2_:f
template <class T> int f(T x) { return 1; }
template <> int f<int>(int x) { return 2; }  //@ _Z1fIiEiT_:f
template <> int f(long x) { return 3; }  //@ _Z1fIlEiT_:f
int f(char x) { return 4; }  //@ _Z1fc:f
template <class T> constexpr T pi = T(3);
template <> int pi<int> = 4;  //@ _Z2piIiE:v
template <template <class> class T, int N = (1 > 0), bool B = 2 < 3> struct W {};
template <class T> requires (sizeof(T) > 1) void h(T) {}
template <> void h(int) {}  //@ _Z1hIiEvT_Q:f
int after;  //@ after:v
""".replace("//@ _Z1hIiEvT_Q:f", ""), compilers=("gcc",))

cxx("overloads", """
struct V {};
void f() {}  //@ _Z1fv:f
void f(int) {}  //@ _Z1fi:f
void f(unsigned long a) {}  //@ _Z1fm:f
void f(const char* a, ...) {}  //@ _Z1fPKcz:f
void f(V*, const V&, V&&) {}  //@ _Z1fP1VRKS_OS_:f
void f(int a[3], int (*b)(int)) {}  //@ _Z1fPiPFiiE:f
void f(short const c) {}  //@ _Z1fs:f
void f(long long, signed char, unsigned) {}  //@ _Z1fxaj:f
struct S { void f(int); void f(int) const; static void f(char); };
void S::f(int) {}  //@ _ZN1S1fEi:f
void S::f(char) {}  //@ _ZN1S1fEc:f
""", compilers=("gcc",))

cxx("member-qualifiers", """
#define MY_CONST const
struct S {
  int value(int) &;
  int value(int) &&;
  int value(int) const&;
  int other(int) volatile;
  int other(int);
  int plain();
  int plain() MY_CONST noexcept;
  auto trailing() const -> int const&;
  auto trailing() -> int&;
};
int S::value(int x) & { return x; }  //@ _ZNR1S5valueEi:f
int S::value(int x) && { return x; }  //@ _ZNO1S5valueEi:f
int S::value(int x) const& { return x; }  //@ _ZNKR1S5valueEi:f
int S::other(int x) volatile { return x; }  //@ _ZNV1S5otherEi:f
int S::other(int x) { return x; }  //@ _ZN1S5otherEi:f
int S::plain() { return 1; }  //@ _ZN1S5plainEv:f
int S::plain() MY_CONST noexcept { return 2; }  //@ _ZNK1S5plainEv:f
int v;  //@ v:v
auto S::trailing() const -> int const& { return v; }  //@ _ZNK1S8trailingEv:f
auto S::trailing() -> int& { return v; }  //@ _ZN1S8trailingEv:f
""")

cxx("pragma-operator", """
#define TO_STRING(...) #__VA_ARGS__
#define PRAGMA(x) _Pragma(TO_STRING(x))
#define PRAGMAS(x, y) PRAGMA(x) PRAGMA(y)
_Pragma(TO_STRING(GCC diagnostic push))
int a;  //@ a:v
_Pragma("GCC diagnostic pop") int b;  //@ b:v
namespace n {
PRAGMAS(GCC diagnostic push, GCC diagnostic ignored "-Wunused (variable)")
int c;  //@ _ZN1n1cE:v
PRAGMA(GCC diagnostic pop) int d = 1;  //@ _ZN1n1dE:v
}
#define word extern int
PRAGMA(push_macro("word"))
#undef word
#define word int
word e;  //@ e:v
_Pragma("pop_macro(\\"word\\")")
word f;  //! f:v
""")

cxx("decoys", r"""
// int state;
/* int state; */
const char* t1 = "int state;", t2 = '"';  //@ t1:v
const char* t3 = R"x( int state = 1; )" )x";  //@ t3:v
#if 0
int state = 1; ' unbalanced "
#endif
#define MAKE int state;
int f(int state) { int x = state; return x; }  //@ _Z1fi:f
struct A { int state; static int other() { extern int state; return state; } };
namespace n { static int state; enum { a = 1'000'000 }; }
// continued \
int state;
enum { not_state };
using state_t = int;
typedef int (*state_f)(int state);
int state = 'a' + '\'' + '"';  //@ state:v
""".replace(", t2 = '\"'", ""))

cxx("initialisers", """
int a = { 1 };  //@ a:v
int b[] = { 1, 2, 3 }, c_ = 2;  //@ b:v  //@ c_:v
struct P { int x, y; } d = { .x = 1, .y = 2 };  //@ d:v
int e = [](int a, int b) { return a < b ? a : b; }(1, 2), f = 3;  //@ e:v  //@ f:v
template <class A, class B> struct Pair { static constexpr int v = 1; };
int g = Pair<int, long>::v, h = 2;  //@ g:v  //@ h:v
int i = sizeof(Pair<int, char>), j(Pair<int, int>::v);  //@ i:v  //@ j:v
P k = P{1, 2}, l{3, 4}, m(k);  //@ k:v  //@ l:v  //@ m:v
int n = (1, 2);  //@ n:v
""")

files("macros", {"a.cpp": """
#include "m.h"
DEFINE_VAR(int, one);  //@ one:v
DEFINE_PAIR(two, three)  //@ two:v  //@ three:v
NS_BEGIN
int four;  //@ _ZN2ns4fourE:v
NS_END
API int five = 5;  //@ five:v
API_EXTERN int six;  //! six:v
#define X(name) int name##_x;
LIST(X)  //@ a_x:v  //@ b_x:v
#undef X
#define X(name) extern int name##_y;
LIST(X)  //! a_y:v
RENAMED = 3;  //@ seven:v
CAT(ei, ght) = 8;  //@ cat_eight:v
int EMPTY nine EMPTY = EMPTY 9;  //@ nine:v
FUNC(ten)  //@ _Z3tenv:f
{
  return 1;
}
""", "m.h": """
#pragma once
#define DEFINE_VAR(type, name) type name
#define DEFINE_PAIR(a, b) \\
  int a;                  \\
  int b;
#define NS_BEGIN namespace ns {
#define NS_END }
#define API __attribute__((visibility("default")))
#define API_EXTERN extern API
#define LIST(M) M(a) M(b)
#define RENAMED int seven
#define CAT_(a, b) int cat_##a##b
#define CAT(a, b) CAT_(a, b)
#define EMPTY
#define FUNC(name) int name()
"""}, chain=[])

files("def-files", {"a.cpp": """
#define ENTRY(x) extern int x;
#include "list.def"
#define ENTRY(x) int x = 1;
#include "list.def"
""", "list.def": """
ENTRY(alpha)  //@ alpha:v
ENTRY(beta)  //@ beta:v
#undef ENTRY
"""}, chain=[["a.cpp", 4]])

files("include-twice", {"a.cpp": """
#include "t.h"
#define IMPLEMENT
#include "t.h"
#include "t.h"
""", "t.h": """
#ifndef T_H
#define T_H
extern int thing;
#endif
#if defined(IMPLEMENT) && !defined(IMPLEMENTED)
#define IMPLEMENTED
int thing = 1;  //@ thing:v
#endif
"""}, chain=[["a.cpp", 3]])

files("same-basename", {"x/a.cpp": """
#include "util.h"
#include <util.h>
#include <lib/util.h>
int last;
""", "x/util.h": "int beside;  //@ beside:v", "inc1/util.h": "int first;  //@ first:v", "inc2/util.h": "int second;",
                        "inc2/lib/util.h": "#include \"../util2.h\"\nint third;  //@ third:v", "inc2/util2.h": "int fourth;  //@ fourth:v"},
      source="x/a.cpp", options="-Iinc1 -Iinc2")

files("quote-and-system", {"a.cpp": """
#include "q.h"
#include "s.h"
#include <s.h>
""", "quote/q.h": "int q;  //@ q:v", "quote/s.h": "int s_quote;  //@ s_quote:v", "sys/s.h": "int s_sys;  //@ s_sys:v",
                           "sys/q.h": "int wrong;"}, options="-iquote quote -isystem sys")

files("include-next", {"a.cpp": '#include <n.h>\nint a_;', "i1/n.h": "#include_next <n.h>\nint n1;  //@ n1:v",
                       "i2/n.h": "#include_next <n.h>\nint n2;  //@ n2:v", "i3/n.h": "int n3;  //@ n3:v"},
      options="-Ii1 -I i2 -isystem i3")

files("forced", {"a.cpp": "int x PICK;  //@ x:v", "f.h": "#define PICK = 1\nint forced;  //@ forced:v"},
      options="-include f.h -DA -UA -DB=2")

files("defines", {"a.cpp": """
#if B == 2 && !defined(A) && F(1) == 2
int yes;  //@ yes:v
#else
int no;
int yes;
#endif
"""}, options="-DA -DB=2 '-DF(x)=x+1' -UA", needs_command=True)

files("links", {"a.cpp": '#include "link/l.h"\n#include "real/l.h"\n', "real/l.h": "#pragma once\nint linked;  //@ linked:v\n"},
      links={"link": "real"})
CASES[-1].files["real/l.h"] = CASES[-1].files["real/l.h"].replace("  //@ linked:v", "")
CASES[-1].files["a.cpp"] += "int here;  //@ here:v"

files("line-directive", {"a.cpp": '#line 100 "gram.y"\n#line 3\nint l1;\nint l2;'}, chain=[])

files("conditions", {"a.cpp": """
#if __cplusplus > 201703L && defined __x86_64__ and not defined(NOPE)
#  if __has_include("none.h") || !__has_include("a.cpp")
int no;
#  elif (1 ? 2 : 3) == 2 && -1 < 0 && 'a' == 97 && 0x10u == 020 && 1'0 == 10
int k;  //@ k:v
#  else
int k;
#  endif
#else
int k;
#endif
#ifdef __has_cpp_attribute
#if __has_cpp_attribute(nodiscard) >= 201603L
int l;  //@ l:v
#endif
#endif
"""}, needs_command=True, doubtful=True)

files("include-macro", {"a.cpp": """
#define HEADER "h.h"
#define SYS(x) <x.h>
#include HEADER
#include SYS(g)
""", "h.h": "int h;  //@ h:v", "g.h": "int g;  //@ g:v"}, options="-I.")

files("extern-elsewhere", {"a.cpp": '#include "d.h"\n#include "e.h"', "d.h": "extern int shared;\nint fn(int);\nextern const int limit;",
                           "e.h": "int shared = 1;  //@ shared:v\nint fn(int x) { return x; }  //@ _Z2fni:f\nconst int limit = 3;  //@ limit:v"},
      chain=[["a.cpp", 2]])

files("crlf", {"a.cpp": '#include "w.h"\n#define M(x) \\\n  int x;\nM(c1)  //@ c1:v\n#ifdef A\n#else\nint c2;  //@ c2:v\n#endif', "w.h": "#pragma once\nint w;  //@ w:v"},
      end_of_line="\r\n")
files("no-newline-bom", {"a.cpp": '#include "w.h"\nint z;  //@ z:v', "w.h": "int w;  //@ w:v"}, begin="\ufeff", last_line_ends=False)
files("long-line", {"a.cpp": "int big[] = {" + "1," * 50000 + "2};  //@ big:v\nint after;  //@ after:v"})

c("tentative", """
int a;  //@ a:v
int b;
int b = 3;  //@ b:v
extern int c;
int c;  //@ c:v
static int d;
struct { int x; } e;  //@ e:v
struct T { int y; } f, *g;  //@ f:v  //@ g:v
int class, new = 2, template[3];  //@ class:v  //@ new:v  //@ template:v
void h(int private, int this) { }  //@ h:f
int i(void) { int j; return 1; }  //@ i:f
inline int k(void) { return 1; }  //! k:f
extern inline int l(void) { return 1; }  //@ l:f
_Thread_local int m;  //@ m:v
_Alignas(16) char n[16];  //@ n:v
enum E { x, y } o;  //@ o:v
const int p = 1;  //@ p:v
_Atomic int q;  //@ q:v
unsigned long long int const volatile r;  //@ r:v
int (s) = 1;  //@ s:v
int t(int), u = 1;  //@ u:v
typeof(int) v;  //@ v:v
int old(a, b) int a; char* b; { return a; }  //@ old:f
register_t;
""".replace("register_t;\n", ""), compilers=("gcc",))

c("gnu-inline", """
__extension__ typedef struct { int x; } T;
T a = (T){ .x = 1 };  //@ a:v
__extension__ int b = ({ int c = 1; c; }) * 0 + 1;
int d[] = { [3] = 1, [0 ... 1] = 2 };  //@ d:v
__asm__(".globl e\\n");
int f __asm__("g") = 3;
static inline int h(void) { return 1; }
int i(void) { return h(); }  //@ i:f
""".replace("__extension__ int b = ({ int c = 1; c; }) * 0 + 1;\n", ""))
