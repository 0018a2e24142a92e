"""Duplicate definitions in the shapes in which projects had them, with what a maintainer would say of each.

The sources are ours; a name in brackets says where the shape was met. `cause` and `fix` are what must be said with a depfile,
debug info, both, a compile command and the preprocessor; `only` has the ways of a case that others can't settle.
"""

from dataclasses import dataclass

from cases import Case

WAYS = ("-g", "-g -MD", "-MD", "command", "preprocess")


@dataclass
class Incident(Case):
    kind: str = ""  # of the cause
    cause: str = ""
    fix: str = ""  # the first
    only: tuple = WAYS
    symbol: str = ""  # the finding to look at, when there are several
    applied: bool = False  # the first diff repairs the link


INCIDENTS = []


def c(name, files, kind, cause, fix, **more):
    INCIDENTS.append(Incident(name, files, kind=kind, cause=cause, fix=fix, **more))


cxx = c  # the extension of a source decides which driver compiles it


def both(header, extension="c", name="x.h", before=""):
    """A header that two sources include."""
    return {name: header, f"a.{extension}": f'{before}#include "{name}"\nint only_a;\n', f"b.{extension}": f'{before}#include "{name}"\nint only_b;\n'}


TENTATIVE = ("the header does not say extern, so each file that includes it defines the variable (-fcommon, "
             "the default before GCC 10 and clang 11, merged them)")

# --- extern "C" says nothing about a variable or a function

for macros in ('#define DECLS extern "C" {\n#define DECLS_END }', '#define DECLS extern "C"\n#define DECLS_END'):
    braces = "with braces" if "{" in macros else "alone"
    header = f"#ifdef __cplusplus\n{macros}\n#else\n#define DECLS\n#define DECLS_END\n#endif\nDECLS\n%s\nDECLS_END\n"
    c(f'extern "C" in a macro, {braces} (Xlib, glib)', both(header % "int debug;"), "tentative-definition", TENTATIVE,
      "declare it `extern` in x.h:9 and define it in one source file")
    c(f'extern "C" in a macro before a function, {braces}', both(header % "int level(void) { return 1; }"), "function-not-inline",
      "the header defines the function, which is not inline", "make it `static inline` in x.h:9")

c("extern and a decoration in a macro (Xlib)", both("""\
#if defined(__cplusplus) || defined(c_plusplus)
#define _XFUNCPROTOBEGIN extern "C" {
#define _XFUNCPROTOEND }
#else
#define _XFUNCPROTOBEGIN
#define _XFUNCPROTOEND
#endif
_XFUNCPROTOBEGIN
int _Xdebug;
extern int XFlush(void);
_XFUNCPROTOEND
"""), "tentative-definition", TENTATIVE, "declare it `extern` in x.h:9 and define it in one source file", symbol="_Xdebug")

# --- Guards decide nothing

c("a guard that is not the first line (sqlite)", both("""\
#define VERSION 1
#ifndef SQL_H
#define SQL_H
extern int x;
int x = 2;
#endif
"""), "variable-not-extern", "the header defines the variable: it says neither extern nor inline",
  "declare it `extern` in x.h:5 and define it in one source file")

c("sections with a guard each (sqlite)", both("""\
#ifndef SQL_H
#define SQL_H
extern int version;
#endif
#ifndef _RTREE_H_
#define _RTREE_H_
int version = 1;
#endif
"""), "variable-not-extern", "the header defines the variable: it says neither extern nor inline",
  "declare it `extern` in x.h:7 and define it in one source file")

c("declared and defined in one branch (readline)", both("""\
#ifndef READLINE_H
#define READLINE_H
#if !defined(USE_VARARGS)
extern int x;
int x = 9;
#endif
#endif
"""), "variable-not-extern", "the header defines the variable: it says neither extern nor inline",
  "declare it `extern` in x.h:5 and define it in one source file")

c("a macro that has nothing to do with it", both("""\
#ifdef FANCY
#define PM extern
#else
#define PM
#endif
PM int declared(void);
int x;
"""), "tentative-definition", TENTATIVE, "declare it `extern` in x.h:7 and define it in one source file")

c("an X-macro that declares first and defines then", both("""\
#define VALUES X(alpha)
#define X(name) extern int name;
VALUES
#undef X
#define X(name) int name = 1;
VALUES
#undef X
"""), "variable-not-extern", "the header defines the variable: it says neither extern nor inline",
  "declare it `extern` in x.h:6 and define it in one source file", only=("-g -MD", "-MD", "command", "-g"))

# --- Branches

c("declared in one branch, defined in the other", both("#ifdef WITH_TRACE\nextern int trace;\n#else\nint trace = 0;\n#endif\n"), "branch",
  "the header declares it in one branch and defines it in the other: line 3 is taken because WITH_TRACE is not defined when {cc} compiles a.c",
  "")

cxx("declared in one branch, and used by all", {
    "state.h": "#ifdef USE_EXTERN_STATE\nextern int state[8];\n#else\nint state[8];\n#endif\n",
    **{f"{x}.cpp": f'#include "state.h"\nint use_{x}() {{ return state[1]; }}\n' for x in "ab"}}, "branch",
    "the header declares it in one branch and defines it in the other: line 3 is taken because USE_EXTERN_STATE is not defined when {cc} "
    "compiles a.cpp", "", options="-std=c++17", applied=True)

c("the other branch uses the name and declares another", both("""\
#ifdef LIB_SMALL
int own(int);
static inline int small(int x) { return own(x); }
static int (*table[])(int) = { own };
#else
int own(int x) { return x; }
#endif
"""), "branch", "the header declares it in one branch and defines it in the other: line 5 is taken because LIB_SMALL is not defined when {cc} "
  "compiles a.c", "leave the declaration in x.h:6, and move the body to one source file")

c("a comment of the other branch names it", both("#ifdef LIB_SMALL\n// extern int own is not here\n#else\nint own = 1;\n#endif\n"),
  "variable-not-extern", "the header defines the variable: it says neither extern nor inline",
  "declare it `extern` in x.h:4 and define it in one source file", only=("-g", "-g -MD", "command", "preprocess"))

c("the outer of two conditionals decides", both("""\
#if defined(SHARED)
extern int trace;
#else
#if 1
int trace = 0;
#endif
#endif
"""), "branch", "the header declares it in one branch and defines it in the other: line 3 is taken because SHARED is not defined when {cc} compiles a.c",
  "")

cxx("inline in one branch alone", both("""\
#if defined(LIB_HEADER_ONLY)
inline int f() { return 1; }
#else
int f() { return 1; }
#endif
""", "cpp"), "branch", "the header makes it inline or static in one branch and not in the other: line 3 is taken because LIB_HEADER_ONLY is not "
    "defined when {cc} compiles a.cpp", "")

# --- Macros that say inline, static, extern

cxx("FUNC is inline for header-only users (fmt)", both("""\
#ifdef LIB_HEADER_ONLY
#  define LIB_FUNC inline
#else
#  define LIB_FUNC
#endif
LIB_FUNC int f() { return 1; }
""", "cpp", "format-inl.h"), "macro-not-inline",
    "LIB_FUNC is empty here: line 3 is taken because LIB_HEADER_ONLY is not defined when {cc} compiles a.cpp",
    "define LIB_HEADER_ONLY wherever format-inl.h is included, or include format-inl.h in one source file only")

cxx("FUNC has a default of its own (fmt)", both("""\
#ifdef FMT_HEADER_ONLY
#  define FMT_FUNC inline
#endif
#ifndef FMT_FUNC
#  define FMT_FUNC
#endif
FMT_FUNC int f() { return 1; }
""", "cpp", "format-inl.h"), "macro-not-inline",
    "FMT_FUNC is empty here: line 2, where it is `inline`, is skipped because FMT_HEADER_ONLY is not defined when {cc} compiles a.cpp",
    "define FMT_HEADER_ONLY wherever format-inl.h is included, or include format-inl.h in one source file only")

cxx("the declaration in the class has the macro (asio)", {
    "config.hpp": "#ifdef LIB_HEADER_ONLY\n#define LIB_DECL inline\n#else\n#define LIB_DECL\n#endif\n",
    "context.ipp": '#include "config.hpp"\nstruct Context { LIB_DECL int run(); };\nint Context::run() { return 1; }\n',
    "src.hpp": '#include "context.ipp"\n', **{f"{x}.cpp": '#include "src.hpp"\n' for x in "ab"}}, "macro-not-inline",
    "LIB_DECL is empty here: config.hpp:3 is taken because LIB_HEADER_ONLY is not defined when {cc} compiles a.cpp",
    "define LIB_HEADER_ONLY wherever context.ipp is included, or include context.ipp in one source file only")

c("FUNC is static inline unless the library is compiled (stb_sprintf)", both("""\
#ifdef STB_SPRINTF_STATIC
#define STBSP_DEF static
#else
#define STBSP_DEF extern
#endif
STBSP_DEF int stbsp(void);
int stbsp(void) { return 1; }
"""), "function-not-inline", "the header defines the function, which is not inline", "make it `static inline` in x.h:7 and where it is declared (x.h:6)")

c("EXTERN is empty by default", both("""\
#ifdef USERS
#define EXTERN extern
#else
#define EXTERN
#endif
EXTERN int state;
"""), "empty-macro", "EXTERN is empty here: line 3 is taken because USERS is not defined when {cc} compiles a.c", "")

# --- Switches

GLOBALS = "#ifdef MAIN\n#define EXTERN\n#else\n#define EXTERN extern\n#endif\nEXTERN int state;\n"
c("MAIN in two files (phylocom)", {"g.h": GLOBALS, "a.c": '#define MAIN\n#include "g.h"\n', "b.c": '#define MAIN\n#include "g.h"\n'},
  "implementation-switch", "MAIN is defined in a.c:1 and b.c:1; g.h:2 makes EXTERN empty because of it",
  "define MAIN in one source file only: remove b.c:1", applied=True)

c("MAIN on the command line of both", both(GLOBALS), "implementation-switch",
  "MAIN is defined on the command line of a.c and b.c; x.h:2 makes EXTERN empty because of it", "define MAIN for one source file only",
  options="-DMAIN", only=("command", "preprocess"))

c("EXTERN emptied in two files", {
    "g.h": "#ifndef EXTERN\n#define EXTERN extern\n#endif\nEXTERN int state;\n",
    "a.c": '#define EXTERN\n#include "g.h"\n', "b.c": '#define EXTERN\n#include "g.h"\n'},
  "implementation-switch", "EXTERN is defined in a.c:1 and b.c:1; g.h:2, where it is `extern`, is skipped because of it",
  "define EXTERN in one source file only: remove b.c:1", applied=True)

STB = "int stb_load(void);\n#ifdef STB_IMAGE_IMPLEMENTATION\nint stb_load(void) { return 1; }\n#endif\n"
c("an implementation in two files (stb)", {
    "stb.h": STB, "a.c": '#include <stddef.h>\n#define STB_IMAGE_IMPLEMENTATION\n#include "stb.h"\n',
    "b.c": '#define STB_IMAGE_IMPLEMENTATION\n#include "stb.h"\n'},
  "implementation-switch",
  "STB_IMAGE_IMPLEMENTATION is defined in a.c:2 and b.c:1; stb.h:2 (`#ifdef STB_IMAGE_IMPLEMENTATION`) is taken because of it",
  "define STB_IMAGE_IMPLEMENTATION in one source file only: remove b.c:1", applied=True)

c("an implementation in a header of one's own (stb)", {
    "stb.h": STB, "image.h": '#pragma once\n#define STB_IMAGE_IMPLEMENTATION\n#include "stb.h"\n',
    "a.c": '#include "image.h"\n', "b.c": '#include "image.h"\n'},
  "implementation-switch", "STB_IMAGE_IMPLEMENTATION is defined in image.h:2, which a.c and b.c include; stb.h:2 "
  "(`#ifdef STB_IMAGE_IMPLEMENTATION`) is taken because of it", "define STB_IMAGE_IMPLEMENTATION in one source file, not in image.h:2")

CATCH = """\
#ifndef CATCH_HPP
#define CATCH_HPP
#if defined(CATCH_CONFIG_MAIN) || defined(CATCH_CONFIG_RUNNER)
#  define CATCH_IMPL
#endif
namespace Catch { struct Session { int run(); }; }
#ifdef CATCH_IMPL
namespace Catch { int Session::run() { return 0; } }
#endif
#ifdef CATCH_CONFIG_MAIN
int main() { return Catch::Session().run(); }
#endif
#endif
"""
for symbol, taken in (("_ZN5Catch7Session3runEv", "catch.hpp:7 (`#ifdef CATCH_IMPL`)"), ("main", "catch.hpp:10 (`#ifdef CATCH_CONFIG_MAIN`)")):
    cxx(f"CATCH_CONFIG_MAIN in two files, {symbol}", {
        "catch.hpp": CATCH, "a.cpp": '#define CATCH_CONFIG_MAIN\n#include "catch.hpp"\n', "b.cpp": '#define CATCH_CONFIG_MAIN\n#include "catch.hpp"\n'},
        "implementation-switch", f"CATCH_CONFIG_MAIN is defined in a.cpp:1 and b.cpp:1; {taken} is taken because of it",
        "define CATCH_CONFIG_MAIN in one source file only: remove b.cpp:1", symbol=symbol, applied=True)

cxx("two switches of one effect (Catch)", {
    "catch.hpp": CATCH, "a.cpp": '#define CATCH_CONFIG_MAIN\n#include "catch.hpp"\n', "b.cpp": '#define CATCH_CONFIG_RUNNER\n#include "catch.hpp"\n'},
    "implementation-switch", "CATCH_CONFIG_MAIN is defined in a.cpp:1, CATCH_CONFIG_RUNNER is defined in b.cpp:1; catch.hpp:7 "
    "(`#ifdef CATCH_IMPL`) is taken because of it", "define CATCH_CONFIG_MAIN or CATCH_CONFIG_RUNNER in one source file only: remove b.cpp:1",
    applied=True)

cxx("a switch that defines another unless it is there (doctest)", {
    "doctest.h": """\
#pragma once
#if defined(DOCTEST_MAIN) && !defined(DOCTEST_IMPLEMENT)
#define DOCTEST_IMPLEMENT
#endif
int run();
#ifndef DOCTEST_SINGLE
#define DOCTEST_SINGLE
#endif
#if defined(DOCTEST_IMPLEMENT) || !defined(DOCTEST_SINGLE)
int run() { return 1; }
#endif
""", **{f"{x}.cpp": '#define DOCTEST_MAIN\n#include "doctest.h"\n' for x in "ab"}},
    "implementation-switch", "DOCTEST_MAIN is defined in a.cpp:1 and b.cpp:1; doctest.h:9 (`#if defined(DOCTEST_IMPLEMENT) || "
    "!defined(DOCTEST_SINGLE)`) is taken because of it", "define DOCTEST_MAIN in one source file only: remove b.cpp:1", applied=True)

OPEN = """\
template <class T> struct Box {};
namespace lib {
using Ptr = Box<int>;
struct Config { Config(Ptr const&); Config(Ptr const&, int&); ~Config(); };
template <class T> struct Text { static int size; };
template <> struct Text<float> { static int size; };
template <> struct Text<double> { static int size; };
#ifdef LIB_IMPLEMENTATION
Config::Config(Ptr const&) {}
Config::Config(Ptr const&, int&) {}
lib::Config::~Config() = default;
int Text<float>::size = 5;
int Text<double>::size = 10;
#endif
}
"""
for what, symbol in (("an overload", "_ZN3lib6ConfigC1ERK3BoxIiE"), ("a specialisation", "_ZN3lib4TextIdE4sizeE"),
                     ("a name qualified with its own namespace", "_ZN3lib6ConfigD1Ev")):
    cxx(f"{what} in an implementation in two files (Catch)", {
        "lib.hpp": OPEN, "a.cpp": '#define LIB_IMPLEMENTATION\n#include "lib.hpp"\n', "b.cpp": '#define LIB_IMPLEMENTATION\n#include "lib.hpp"\n'},
        "implementation-switch", "LIB_IMPLEMENTATION is defined in a.cpp:1 and b.cpp:1; lib.hpp:8 (`#ifdef LIB_IMPLEMENTATION`) is taken because of it",
        "define LIB_IMPLEMENTATION in one source file only: remove b.cpp:1", symbol=symbol,
        only=WAYS[1:])  # clang's debug info does not say where a static member is defined

c("an implementation that others call where it is left out (miniaudio)", {
    "lib.h": """\
#pragma once
#ifdef LIB_TRACE_ALL
static inline void trace(void) {
  lib_log("x");
}
void lib_log(const char*);
#endif
void lib_log(const char*);
#ifdef LIB_IMPLEMENTATION
void lib_log(const char* text) {}
#endif
""", **{f"{x}.c": '#define LIB_IMPLEMENTATION\n#include "lib.h"\n' for x in "ab"}},
  "implementation-switch", "LIB_IMPLEMENTATION is defined in a.c:1 and b.c:1; lib.h:9 (`#ifdef LIB_IMPLEMENTATION`) is taken because of it",
  "define LIB_IMPLEMENTATION in one source file only: remove b.c:1", applied=True)

c("one by its name, one on the command line", {
    "stb.h": STB, "one/a.c": '#define STB_IMAGE_IMPLEMENTATION\n#include "../stb.h"\n', "two/a.c": '#include "../stb.h"\n'},
  "implementation-switch", "STB_IMAGE_IMPLEMENTATION is defined in one/a.c:1 and on the command line of two/a.c; stb.h:2 "
  "(`#ifdef STB_IMAGE_IMPLEMENTATION`) is taken because of it", "define STB_IMAGE_IMPLEMENTATION for one source file only",
  own_options={"two/a.c": "-DSTB_IMAGE_IMPLEMENTATION"}, only=("command", "preprocess"))

c("a feature macro is no switch", both("#ifdef _GNU_SOURCE\nint x;\n#endif\n", before="#define _GNU_SOURCE\n"), "tentative-definition", TENTATIVE,
  "declare it `extern` in x.h:2 and define it in one source file")

c("a debug variable is no switch", both("extern int dbg;\n#ifdef DEBUG\nint dbg = 1;\n#endif\n", before="#define DEBUG\n"), "variable-not-extern",
  "the header defines the variable: it says neither extern nor inline; line 2 is taken because DEBUG is defined (a.c:1) when {cc} compiles a.c",
  "declare it `extern` in x.h:3 and define it in one source file")

c("a level is no switch", both("#if LEVEL > 2\n#define E\n#else\n#define E extern\n#endif\nE int x;\n", before="#define LEVEL 3\n"), "empty-macro",
  "E is empty here: line 1 (`#if LEVEL > 2`) is taken when {cc} compiles a.c", "let E expand to `extern` in x.h:2 too, and define the variable in one source file")

cxx("the implementation file of a library that is compiled apart (asio)", {
    "config.hpp": "#if defined(LIB_SEPARATE)\n#define LIB_DECL\n#else\n#define LIB_DECL inline\n#endif\n",
    "impl.ipp": '#include "config.hpp"\nLIB_DECL int f() { return 1; }\n',
    **{f"{x}.cpp": '#define LIB_SEPARATE\n#include "impl.ipp"\n' for x in "ab"}},
    "macro-not-inline", "LIB_DECL is empty here: config.hpp:1 is taken because LIB_SEPARATE is defined (a.cpp:1) when {cc} compiles a.cpp",
    "include impl.ipp in one source file only, or leave LIB_SEPARATE undefined")

c("a configured feature is no switch", {
    "config.h": "#define NEED_STRLCPY 1\n", "compat.h": '#include "config.h"\nint lcpy(void);\n#ifdef NEED_STRLCPY\nint lcpy(void) { return 1; }\n#endif\n',
    "a.c": '#include "compat.h"\n', "b.c": '#include "compat.h"\n'}, "function-not-inline",
  "the header defines the function, which is not inline; line 3 is taken because NEED_STRLCPY is defined (config.h:1) when {cc} compiles a.c",
  "make it `static inline` in compat.h:4 and where it is declared (compat.h:2)")

# --- A source, a header and what is declared

c("a source that a header includes and nobody compiles (CGBN)", {
    "impl.c": "int work(void) { return 1; }\n", "x.h": '#include "impl.c"\n', "a.c": '#include "x.h"\n', "b.c": '#include "x.h"\n'},
  "function-not-inline", "impl.c defines the function, which is not inline", "make it `static inline` in impl.c:1", included=("impl.c",))

c("a source that is included and compiled", {"a.c": "int work(void) { return 1; }\n", "b.c": '#include "a.c"\nint more;\n'},
  "source-included", "b.c:1 includes the source file a.c", "remove the #include (b.c:1), or compile that file no more by itself", applied=True)

c("two sources define what a header declares (0verkill)", {
    "data.h": "struct list { int id; };\nextern struct list *last_obj;\n",
    "data.c": '#include "data.h"\nstruct list *last_obj;\n', "server.c": '#include "data.h"\n\nstruct list *last_obj;\n'},
  "two-definitions", "data.c:2 and server.c:3 each define it; data.h:2 declares it",
  "keep one of the definitions: data.h:2 declares it for every file that includes it")

c("the lexer's line too many (dtc)", {
    "parser.tab.h": "typedef struct { int line; } YYLTYPE;\nextern YYLTYPE yylloc;\n",
    "parser.tab.c": '#include "parser.tab.h"\nYYLTYPE yylloc;\n',
    "lexer.lex.c": '#line 1 "lexer.l"\n#include "parser.tab.h"\nYYLTYPE yylloc;\n'},
  "two-definitions", "lexer.{lexer} and parser.tab.c:2 each define it; parser.tab.h:2 declares it",
  "keep one of the definitions: parser.tab.h:2 declares it for every file that includes it", only=("-g -MD", "-MD", "command"))

c("a header meets the definition (fermi-lite)", {
    "rle.h": "#include <stdint.h>\nconst uint8_t rle_auxtab[8];\n", "a.c": '#include "rle.h"\n',
    "rle.c": '#include "rle.h"\nconst uint8_t rle_auxtab[8] = { 1, 2, 3 };\n'},
  "tentative-definition", TENTATIVE + "; rle.c:2 defines it already", "declare it `extern` in rle.h:2: rle.c:2 defines it already",
  symbol="rle_auxtab", only=("-MD", "-g -MD", "command"), applied=True)

c("a header and three sources, one defines (0verkill)", {
    "data.h": "struct attr { int id; };\nstruct attr obj_attr[2];\n", "a.c": '#include "data.h"\nint a;\n', "b.c": '#include "data.h"\nint b;\n',
    "data.c": '#include "data.h"\nstruct attr obj_attr[2] = { { 1 }, { 2 } };\n'},
  "tentative-definition", TENTATIVE + "; data.c:2 defines it already", "declare it `extern` in data.h:2: data.c:2 defines it already",
  only=("-MD", "-g -MD", "command"), applied=True)

cxx("two headers", {"one.h": "int f() { return 1; }\n", "two.h": "\nint f() { return 2; }\n", "a.cpp": '#include "one.h"\n', "b.cpp": '#include "two.h"\n'},
    "two-definitions", "one.h:1 and two.h:2 each define it",
    "rename one of them, or give it internal linkage (static, an unnamed namespace) if only its own file uses it")

cxx("two programs", {"a.cpp": "int main() {}\n", "b.cpp": "\nint main() {}\n"}, "two-definitions", "a.cpp:1 and b.cpp:2 each define it",
    "they are the main functions of different programs: leave one of the objects out of the link")

# --- typedef

c("an enum without its typedef", both("enum { SLOW, FAST } mode;\n"), "typedef-forgotten",
  "`mode` is a variable of the enum that the declaration defines, and nothing uses it: `typedef` is missing, or the name is superfluous",
  "write `typedef` before the enum that ends in x.h:1")

c("a struct without its typedef, of several lines", both("struct opts {\n  int verbose;\n} opts;\nint parse(struct opts *opts_);\n"), "typedef-forgotten",
  "`opts` is a variable of the struct that the declaration defines, and nothing uses it: `typedef` is missing, or the name is superfluous",
  "write `typedef` before the struct that ends in x.h:3")

c("a struct that is a variable", {**both("struct opts {\n  int verbose;\n} opts;\n"), "a.c": '#include "x.h"\nint get(void) { return opts.verbose; }\n'},
  "tentative-definition", TENTATIVE, "declare it `extern` in x.h:3 and define it in one source file")

c("a struct without a name that is used", {
    "x.h": "struct { int verbose; } config;\n", **{f"{x}.c": '#include "x.h"\nint get_%s(void) { return config.verbose; }\n' % x for x in "ab"}},
  "tentative-definition", TENTATIVE, "give its struct a name, declare it `extern` in x.h:1 and define it in one source file")

c("a struct that another header uses", {
    "opts.h": "struct opts {\n  int verbose;\n} opts;\n", "log.h": "static int loud(void) { return opts.verbose; }\n",
    **{f"{x}.c": '#include "opts.h"\n#include "log.h"\nint %s(void) { return loud(); }\n' % x for x in "ab"}},
  "tentative-definition", TENTATIVE, "declare it `extern` in opts.h:3 and define it in one source file")

# --- inline in C

c("extern inline in C99 (GCC 5)", both("extern inline int f(void) { return 1; }\n"), "inline-external",
  "since C99 `extern inline` defines the function in each file that includes the header (in gnu89, GCC's default before GCC 5, it defined none)",
  "make it `static inline` in x.h:1")

c("inline in gnu89", both("inline int f(void) { return 1; }\n"), "inline-external",
  "by the rules of gnu89, which -fgnu89-inline and gnu_inline ask for too, `inline` without `extern` defines the function in each file that "
  "includes the header", "make it `static inline` in x.h:1", options="-std=gnu89",
  only=("-g -MD", "-MD", "command", "preprocess"))

c("inline that is declared without it", both("int f(void);\ninline int f(void) { return 1; }\n"), "inline-external",
  "x.h:1 declares the inline function without inline, which makes each file that does so define it for other files",
  "make it `static inline` in x.h:2 and where it is declared (x.h:1)", options="-std=gnu11")

# --- What says extern and defines

cxx('extern "C" and a body on one line', both('extern "C" int f(void) { return 1; }\n', "cpp"), "function-not-inline",
    "the header defines the function, which is not inline", "make it `inline` in x.h:1, or move its body to a source file")

cxx('extern "C" and an initialiser', both('extern "C" int v = 2;\n', "cpp"), "extern-initialised",
    'the header gives it an initialiser, which makes it a definition in spite of `extern "C"`', "")

c("extern and an initialiser", both("extern int z = 3;\n"), "extern-initialised",
  "the header gives it an initialiser, which makes it a definition in spite of `extern`",
  "remove the initialiser in x.h:1 and define it in one source file")

c("inline that the compiler takes as gnu89's", both("__attribute__((gnu_inline)) inline int f(void) { return 1; }\n"), "inline-external",
  "by the rules of gnu89, which -fgnu89-inline and gnu_inline ask for too, `inline` without `extern` defines the function in each file that "
  "includes the header", "make it `static inline` in x.h:1", only=("-g -MD", "-MD", "command"))

c("an alias of a function", both('static int own(void) { return 1; }\nint f(void) __attribute__((alias("own")));\n'), "alias-in-header",
  "the header makes it an alias, which each file that includes it defines", "", compilers=("gcc",), only=("-g -MD", "-MD", "command", "preprocess"))

c("an alias", both('int x = 3;\nextern int y __attribute__((alias("x")));\n'), "alias-in-header",
  "the header makes it an alias, which each file that includes it defines", "", symbol="y", compilers=("gcc",))

c("a name for the assembler", both('extern int v __asm__("real_v");\nint v = 3;\n'), "variable-not-extern",
  "the header defines the variable: it says neither extern nor inline", "declare it `extern` in x.h:2 and define it in one source file")

# --- Classes and templates

cxx("a specialised function", both("template <class T> T zero() { return T(); }\ntemplate <> int zero<int>() { return 0; }\n", "cpp"),
    "specialisation-not-inline", "a full specialisation is an ordinary function, and this one is not inline",
    "make it `inline` in x.h:2, or move its body to a source file")

cxx("a specialised static member", both("template <class T> struct C { static int v; };\ntemplate <> int C<int>::v = 7;\n", "cpp"),
    "specialisation-not-inline", "a full specialisation is an ordinary variable, and this one is not inline", "", options="-std=c++17", only=("-g -MD", "-MD", "command", "preprocess"))

cxx("a static member (tabulate)", both("struct K { static int n; };\nint K::n = 0;\n", "cpp"), "static-member-not-inline",
    "the header defines the static member, which is not inline", "", options="-std=c++17", only=("-g -MD", "-MD", "command", "preprocess"))

cxx("a constant member before C++17", both("struct K { static constexpr int n = 3; };\nconstexpr int K::n;\n", "cpp"), "static-member-not-inline",
    "the header defines the static member, which is not inline", "move x.h:2 to one source file", options="-std=c++14", only=("command",))

cxx("a function of a class (uuid_v4)", both("struct U { int f(); };\nint U::f() { return 1; }\n", "cpp"), "function-not-inline",
    "the header defines the function, which is not inline", "make it `inline` in x.h:2, or move its body to a source file")
