"""Links that miss a symbol: three of each kind. scripts/undefined-corpus shows what elfaudit says of each, test_undefined_kinds.py tries
the first of each kind.

The line that refers to the symbol ends in "// ref". A fix that is about the link line is applied as its text says; the others are applied
by the commands that stand here, when the text has the words that stand here.
"""

import dataclasses
import json
import pathlib
import re
import subprocess


@dataclasses.dataclass
class Link:
    sources: dict  # name -> text
    prepare: str
    link: str
    causes: tuple  # kinds of cause that are right
    fix: str  # in the text of the first fix
    mend: str = ""  # the fix, where it is not about the link line
    fixed: str = ""  # the link then; empty: the same
    build: str = ""  # the build folder; then `link` is how it is built


def applied(link, fix):
    """The link line with the fix in it, by its text; None where that is not about the line."""
    words = link.split()
    moved = re.match(r"(add|move|name) (\S+)(?: again)? after (\S+)$", fix)
    if moved and moved[3] in words:
        what, after = moved[2], moved[3]
        if moved[1] == "move":
            words.remove(what)
        words.insert(len(words) - words[::-1].index(after), what)
        return " ".join(words)
    added = re.match(r"add (-\S+) to the link", fix)
    if added:
        return f"{link} {added[1]}"
    if fix.startswith("link with the C++ compiler"):
        return re.sub(r"^(gcc|clang)\b", lambda m: {"gcc": "g++", "clang": "clang++"}[m[0]], link)
    added = re.match(r"add (\S+) to the line", fix)
    return f"{link} {added[1]}" if added else None


def two(main, other, prepare, link, causes, fix, mend="", names=("m", "w"), kinds=("c", "c"), **more):
    """main calls what other should define."""
    sources = {f"{names[0]}.{kinds[0]}": main + "\n", f"{names[1]}.{kinds[1]}": other + "\n"}
    return Link(sources, prepare, link, causes, fix, mend, **more)


C_MAIN = "int {0}(int);\nint main(void) {{\n  return {0}(1);  // ref\n}}"
CXX_MAIN = "int {0}(int);\nnamespace {{\nint helper(int x) {{\n  return {0}(x);  // ref\n}}\n}}\nint main(int c, char**) {{ return helper(c); }}"
C_DEF = "int {0}(int x) {{ return x; }}"
STRING = "#include <list>\n#include <string>\n"
CC = "gcc -g -c *.c"
CXX = "g++ -g -c *.cpp"
CMAKE = "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\n"
NOT_LINKED = ("library-not-linked",)
TOO_EARLY = ("library-too-early",)
NAME = ("runtime-name",)


def build(targets, fix, causes=("target-not-linked",), **sources):
    lists = CMAKE + targets
    texts = {name.replace("_c", ".c"): text + "\n" for name, text in sources.items()}
    return Link({"CMakeLists.txt": lists + "\n", **texts}, "cmake -S . -B b -G Ninja -DCMAKE_BUILD_TYPE=Debug", "cmake --build b -- -k 0", causes, fix, f"echo '{fix}' >> CMakeLists.txt", build="b")


CORPUS = {
    "libm": [
        Link({"m.c": "double sin(double);\nint main(int c, char** v) {\n  return sin(c);  // ref\n}\n"}, "gcc -g -fno-builtin -c m.c", "gcc m.o", NAME, "add -lm"),
        Link({"area.c": "#include <math.h>\nstatic float root(float x) {\n  return sqrtf(x) + 1;  // ref\n}\nint main(int c, char** v) { return root(c); }\n"}, "gcc -g -fno-builtin -c area.c", "gcc area.o", NAME, "add -lm"),
        Link({"h.h": "#include <math.h>\nstatic inline double up(double x, double y) {\n  return pow(x, y);  // ref\n}\n", "m.c": '#include "h.h"\nint main(int c, char** v) { return up(c, c); }\n'},
             "gcc -g -fno-builtin -c m.c; gcc-ar rcs libm_user.a m.o", "gcc libm_user.a -Wl,-u,main", NAME, "add -lm"),
    ],
    "library in the search path": [
        two(C_MAIN.format("wares"), C_DEF.format("wares"), CC + "; mkdir d; gcc-ar rcs d/libwares.a w.o", "gcc m.o -Ld", NOT_LINKED, "add -lwares after m.o"),
        two(CXX_MAIN.format("codec::decode").replace("int codec::decode(int);", "namespace codec { int decode(int); }"), "namespace codec { int decode(int x) { return x; } }",
            "g++ -g -fPIC -c *.cpp; mkdir lib; g++ -shared dec.o -o lib/libcodec.so", "g++ app.o -Llib", NOT_LINKED, "add -lcodec after app.o", names=("app", "dec"), kinds=("cpp", "cpp")),
        Link({"m.c": "int use(void);\nint main(void) { return use(); }\n", "use.c": "int parse(int);\nint use(void) {\n  return parse(1);  // ref\n}\n", "p.c": "int parse(int x) { return x; }\n"},
             CC + "; mkdir d; gcc-ar rcs libuse.a use.o; gcc-ar rcs d/libparse.a p.o", "gcc m.o -L. -luse -Ld", NOT_LINKED, "add -lparse after"),
    ],
    "archive too early": [
        two(C_MAIN.format("wares"), C_DEF.format("wares"), CC + "; gcc-ar rcs libwares.a w.o", "gcc libwares.a m.o", TOO_EARLY, "move libwares.a after m.o"),
        Link({"m.cpp": "int util(int);\nint main() { return util(1); }\n", "util.cpp": "int core(int);\nint util(int x) {\n  return core(x);  // ref\n}\n", "core.cpp": "int core(int x) { return x; }\n"},
             CXX + "; gcc-ar rcs libcore.a core.o; gcc-ar rcs libutil.a util.o", "g++ m.o libcore.a libutil.a", TOO_EARLY, "libcore.a after libutil.a"),
        Link({"m.c": "int a1(int);\nint main(void) { return a1(1); }\n", "a1.c": "int b1(int);\nint a1(int x) { return b1(x); }\n", "a2.c": "int a2(int x) { return x; }\n",
              "b1.c": "int a2(int);\nint b1(int x) {\n  return a2(x);  // ref\n}\n"}, CC + "; gcc-ar rcs liba.a a1.o a2.o; gcc-ar rcs libb.a b1.o", "gcc m.o liba.a libb.a", TOO_EARLY, "name liba.a again after libb.a"),
    ],
    "archives that need each other too early": [
        Link({"m.c": "int a(void);\nint main(void) {\n  return a();  // ref\n}\n", "a.c": "int b(void);\nint a(void) { return b(); }\n", "b.c": "int b(void) { return 1; }\n"},
             CC + "; gcc-ar rcs liba.a a.o; gcc-ar rcs libb.a b.o; rm a.o b.o", "gcc liba.a libb.a m.o", TOO_EARLY, "move liba.a and libb.a after m.o", "", "gcc m.o liba.a libb.a"),
        Link({"m.cpp": "int a(int);\nint main() {\n  return a(1);  // ref\n}\n", "a.cpp": "int b(int);\nint a(int x) { return b(x); }\n", "b.cpp": "int c(int);\nint b(int x) { return c(x); }\n", "c.cpp": "int c(int x) { return x; }\n"},
             CXX + "; for i in a b c; do gcc-ar rcs lib$i.a $i.o; rm $i.o; done", "g++ ./libc.a ./libb.a ./liba.a m.o", TOO_EARLY, "move ./liba.a and ./libb.a and ./libc.a after m.o", "", "g++ m.o ./liba.a ./libb.a ./libc.a"),
    ],
    "shared library too early": [
        two(C_MAIN.format("wares"), C_DEF.format("wares"), "gcc -g -c m.c; gcc -shared -fPIC w.c -o libwares.so", "gcc -Wl,--as-needed libwares.so m.o", TOO_EARLY, "move libwares.so after m.o"),
        two(CXX_MAIN.format("price"), C_DEF.format("price"), "g++ -g -c shop.cpp; g++ -shared -fPIC price.cpp -o libprice.so", "g++ -Wl,--as-needed ./libprice.so shop.o", TOO_EARLY, "after shop.o", names=("shop", "price"), kinds=("cpp", "cpp")),
        Link({"m.c": "int use(int);\nint main(void) { return use(1); }\n", "use.c": "int get(int);\nint use(int x) {\n  return get(x);  // ref\n}\n", "get.c": "int get(int x) { return x; }\n"},
             "gcc -g -c m.c use.c; gcc-ar rcs libuse.a use.o; gcc -shared -fPIC get.c -o libget.so", "gcc m.o -Wl,--as-needed libget.so libuse.a", TOO_EARLY, "move libget.so after libuse.a"),
    ],
    "extern C missing where it is declared": [
        two(CXX_MAIN.format("decode"), C_DEF.format("decode"), "g++ -g -c m.cpp; gcc -c w.c", "g++ m.o w.o", ("extern-c-missing",), 'put the declaration of decode into extern "C"', "sed -i '1s/^/extern \"C\" /' m.cpp; g++ -g -c m.cpp", kinds=("cpp", "c")),
        Link({"z.h": "int z_open(const char* name, int mode);\n", "z.c": '#include "z.h"\nint z_open(const char* name, int mode) { return mode; }\n',
              "m.cpp": '#include "z.h"\nint main() {\n  return z_open("x", 1);  // ref\n}\n'}, "gcc -c z.c; gcc-ar rcs libz_own.a z.o; g++ -g -c m.cpp", "g++ m.o libz_own.a", ("extern-c-missing",), 'into extern "C"', "sed -i 's/#include \"z.h\"/extern \"C\" {\\n#include \"z.h\"\\n}/' m.cpp; g++ -g -c m.cpp"),
        Link({"m.cpp": "void c_log(char*, unsigned long);\nstruct S {\n  S() { c_log(0, 1); }  // ref\n};\nint main() { S s; }\n", "log.c": "void c_log(char* a, unsigned long b) {}\n"},
             "gcc -shared -fPIC log.c -o libclog.so; g++ -g -c m.cpp", "g++ m.o libclog.so", ("extern-c-missing",), 'into extern "C"', "sed -i '1s/^/extern \"C\" /' m.cpp; g++ -g -c m.cpp"),
    ],
    "extern C missing where it is defined": [
        two(C_MAIN.format("decode"), C_DEF.format("decode"), "gcc -g -c m.c; g++ -c w.cpp", "g++ m.o w.o", ("extern-c-missing",), 'declare decode extern "C" where w.o', "sed -i '1s/^/extern \"C\" /' w.cpp; g++ -c w.cpp", kinds=("c", "cpp")),
        two('extern "C" int plugin_init(int);\nint main() {\n  return plugin_init(1);  // ref\n}', "int plugin_init(int x) { return x; }", CXX + "; gcc-ar rcs libplugin.a p.o", "g++ m.o libplugin.a", ("extern-c-missing",), 'extern "C" where libplugin.a(p.o)',
            "sed -i '1s/^/extern \"C\" /' p.cpp; g++ -c p.cpp; gcc-ar rcs libplugin.a p.o", names=("m", "p"), kinds=("cpp", "cpp")),
        two("void* make(void);\nint main(void) {\n  return make() == 0;  // ref\n}", "void* make() { return nullptr; }", "gcc -g -c m.c; g++ -c w.cpp", "g++ m.o w.o", ("extern-c-missing",), 'declare make extern "C"', "sed -i '1s/^/extern \"C\" /' w.cpp; g++ -c w.cpp", kinds=("c", "cpp")),
    ],
    "other parameters": [
        two(CXX_MAIN.format("wares"), "int wares(long x) { return x; }", CXX, "g++ m.o w.o", ("other-parameters",), "declare and call wares(long)", "sed -i 's/int wares(int)/int wares(long)/' m.cpp; g++ -c m.cpp", kinds=("cpp", "cpp")),
        Link({"v.h": "struct V { int a; };\nint norm(const V&);\n", "v.cpp": '#include "v.h"\nint norm(V v) { return v.a; }\n', "m.cpp": '#include "v.h"\nint main() {\n  return norm(V{});  // ref\n}\n'}, CXX, "g++ m.o v.o", ("other-parameters",), "norm(V)",
             "sed -i 's/const V&/V/' v.h; g++ -c m.cpp v.cpp"),
        Link({"s.h": "namespace n {\nstruct S { void put(unsigned); };\n}\n", "s.cpp": "namespace n { struct S { void put(unsigned long); }; void S::put(unsigned long) {} }\n", "m.cpp": '#include "s.h"\nint main() {\n  n::S().put(1);  // ref\n}\n'},
             CXX + "; gcc-ar rcs libs.a s.o", "g++ m.o libs.a", ("other-parameters",), "n::S::put(unsigned long)", "sed -i 's/unsigned/unsigned long/' s.h; g++ -c m.cpp"),
    ],
    "const": [
        two("int size(const char*);\nint main() {\n  return size(0);  // ref\n}", "int size(char*) { return 0; }", CXX, "g++ m.o w.o", ("other-parameters",), "size(char*)", "sed -i 's/const //' m.cpp; g++ -c m.cpp", kinds=("cpp", "cpp")),
        two("struct Q { int len() const; };\nint main() {\n  return Q().len();  // ref\n}", "struct Q { int len(); }; int Q::len() { return 0; }", CXX, "g++ m.o q.o", ("other-parameters",), "Q::len()", "sed -i 's/ const//' m.cpp; g++ -c m.cpp", names=("m", "q"), kinds=("cpp", "cpp")),
        two("namespace io { int read(int* const*, int); }\nint main() {\n  return io::read(0, 1);  // ref\n}", "namespace io { int read(const int* const*, int) { return 0; } }", CXX, "g++ m.o w.o", ("other-parameters",), "io::read(int const* const*, int)",
            "sed -i 's/read(int/read(const int/' m.cpp; g++ -c m.cpp", kinds=("cpp", "cpp")),
    ],
    "namespace": [
        two("namespace shop { int wares(int); }\nint main() {\n  return shop::wares(1);  // ref\n}", "int wares(int x) { return x; }", CXX, "g++ m.o w.o", ("similar-name",), "wares(int)", "sed -i 's/int wares.*/namespace shop { & }/' w.cpp; g++ -c w.cpp", kinds=("cpp", "cpp")),
        two("namespace v1 { double rate(int); }\nint main() {\n  return v1::rate(1);  // ref\n}", "namespace v2 { double rate(int x) { return x; } }", CXX + "; gcc-ar rcs librate.a r.o", "g++ m.o librate.a", ("similar-name",), "v2::rate(int)", "sed -i 's/v1/v2/g' m.cpp; g++ -c m.cpp", names=("m", "r"), kinds=("cpp", "cpp")),
        two("struct Pool { int take(long); };\nint main() {\n  return Pool().take(1);  // ref\n}", "struct Pool { int take(long); };\nint take(long x) { return x; }", CXX, "g++ m.o pool.o", ("similar-name",), "take(long)", "sed -i 's/^int take/int Pool::take/' pool.cpp; g++ -c pool.cpp", names=("m", "pool"), kinds=("cpp", "cpp")),
    ],
    "std::string of two ABIs": [
        two(STRING + "int size(const std::string&);\nint main() {\n  return size(\"\");  // ref\n}", STRING + "int size(const std::string& s) { return s.size(); }", "g++ -g -c m.cpp; g++ -D_GLIBCXX_USE_CXX11_ABI=0 -c w.cpp", "g++ m.o w.o", ("other-string-abi",), "_GLIBCXX_USE_CXX11_ABI", "g++ -c w.cpp", kinds=("cpp", "cpp")),
        two(STRING + "std::string name(int);\nint main() {\n  return name(1).size();  // ref\n}", STRING + "std::string name(int) { return {}; }", "g++ -g -c m.cpp; g++ -D_GLIBCXX_USE_CXX11_ABI=0 -c w.cpp; gcc-ar rcs libn.a w.o", "g++ m.o libn.a", ("other-string-abi",), "_GLIBCXX_USE_CXX11_ABI", "g++ -c w.cpp; gcc-ar rcs libn.a w.o", kinds=("cpp", "cpp")),
        two(STRING + "namespace k { struct T { T(const std::string&, int); }; }\nint main() {\n  k::T t(\"\", 1);  // ref\n}", STRING + "namespace k { struct T { T(const std::string&, int); }; T::T(const std::string&, int) {} }", "g++ -g -D_GLIBCXX_USE_CXX11_ABI=0 -c m.cpp; g++ -fPIC -shared w.cpp -o libk.so", "g++ m.o libk.so", ("other-string-abi",), "_GLIBCXX_USE_CXX11_ABI",
            "g++ -g -c m.cpp", kinds=("cpp", "cpp")),
    ],
    "static": [
        two(C_MAIN.format("wares"), "static int wares(int x) { return x; }\nint (*keep)(int) = wares;", CC, "gcc m.o w.o", ("static-elsewhere",), "take `static`", "sed -i 's/^static //' w.c; gcc -c w.c"),
        two(CXX_MAIN.format("count"), "namespace {\nint count(int x) { return x; }\n}\nint (*keep)(int) = count;", CXX, "g++ m.o w.o", ("static-elsewhere", "similar-name"), "", "sed -i '/namespace {/d;/^}/d' w.cpp; g++ -c w.cpp", kinds=("cpp", "cpp")),
        two("extern int level;\nint main(void) {\n  return level;  // ref\n}", "static int level = 3;\nint get(void) { return ++level; }", CC, "gcc m.o w.o", ("static-elsewhere",), "take `static`", "sed -i 's/^static //' w.c; gcc -c w.c"),
    ],
    "hidden in a shared library": [
        two(C_MAIN.format("wares"), C_DEF.format("wares"), "gcc -g -c m.c; gcc -shared -fPIC -fvisibility=hidden w.c -o libwares.so", "gcc m.o libwares.so", ("not-exported",), "export it from libwares.so", "gcc -shared -fPIC w.c -o libwares.so"),
        two(CXX_MAIN.format("draw"), C_DEF.format("draw"), "g++ -g -c m.cpp; echo '{ global: other; local: *; };' > v.map; g++ -shared -fPIC w.cpp -Wl,--version-script,v.map -o libdraw.so", "g++ m.o libdraw.so", ("not-exported",), "export it from libdraw.so", "g++ -shared -fPIC w.cpp -o libdraw.so", kinds=("cpp", "cpp")),
        two("extern int limit;\nint main(void) {\n  return limit;  // ref\n}", '__attribute__((visibility("hidden"))) int limit = 1;\nint get(void) { return limit; }', "gcc -g -fPIC -c m.c; gcc -shared -fPIC w.c -o liblimit.so", "gcc m.o liblimit.so", ("not-exported",), "export it from liblimit.so", "sed -i 's/__attribute__.*)) //' w.c; gcc -shared -fPIC w.c -o liblimit.so"),
    ],
    "vtable": [
        Link({"m.cpp": "struct B {\n  virtual int key();\n};\nint main() {\n  B b;  // ref\n  return 0;\n}\n"}, CXX, "g++ m.o", ("key-function-missing",), "define that function, B::key", "echo 'int B::key() { return 0; }' >> m.cpp; g++ -c m.cpp"),
        Link({"m.cpp": "namespace ui {\nstruct View {\n  View() {}  // ref\n  virtual ~View();\n  virtual void draw() {}\n};\n}\nint main() { ui::View* v = new ui::View; (void)v; }\n"}, CXX, "g++ m.o", ("key-function-missing",), "define that function, ui::View::~View", "echo 'ui::View::~View() {}' >> m.cpp; g++ -c m.cpp"),
        Link({"b.h": "struct Base { virtual void run() = 0; };\nstruct Job : Base {\n  void run() override;\n};\n", "m.cpp": '#include "b.h"\nint main() {\n  Job j;  // ref\n  Base& b = j;\n  (void)b;\n}\n'}, CXX, "g++ m.o", ("key-function-missing",), "define that function, Job::run", "echo 'void Job::run() {}' >> m.cpp; g++ -c m.cpp"),
    ],
    "static data member": [
        Link({"m.cpp": "struct S { static int q; };\nint main() {\n  return S::q;  // ref\n}\n"}, CXX, "g++ m.o", NAME, "define it in one source file", "echo 'int S::q;' >> m.cpp; g++ -c m.cpp"),
        Link({"m.cpp": "struct Limits {\n  static constexpr int kMost = 3;\n};\nint least(const int& x) { return x; }\nint main() {\n  return least(Limits::kMost);  // ref\n}\n"}, "g++ -std=c++14 -g -c m.cpp", "g++ m.o", NAME, "define it in one source file", "echo 'constexpr int Limits::kMost;' >> m.cpp; g++ -std=c++14 -c m.cpp"),
        Link({"m.cpp": "namespace app {\nextern long total;\n}\nint main() {\n  return app::total;  // ref\n}\n"}, CXX, "g++ m.o", NAME, "define it in one source file", "echo 'long app::total;' >> m.cpp; g++ -c m.cpp"),
    ],
    "template without instantiation": [
        two("template <class T> T twice(T);\nint main() {\n  return twice(0);  // ref\n}", "template <class T> T twice(T t) { return t; }\ntemplate long twice(long);", CXX, "g++ m.o w.o", ("other-parameters", "runtime-name"), "instantiate it explicitly", "echo 'template int twice(int);' >> w.cpp; g++ -c w.cpp", kinds=("cpp", "cpp")),
        Link({"v.h": "template <class T> struct V { void push(T); };\n", "v.cpp": '#include "v.h"\ntemplate <class T> void V<T>::push(T) {}\ntemplate struct V<int>;\n', "m.cpp": '#include "v.h"\nint main() {\n  V<double>().push(1);  // ref\n}\n'}, CXX, "g++ m.o v.o", ("other-parameters",), "(`template class V<double>;`)", "echo 'template struct V<double>;' >> v.cpp; g++ -c v.cpp"),
        Link({"box.h": "template <class T> struct Box { T get(); };\n", "box.cpp": '#include "box.h"\ntemplate <class T> T Box<T>::get() { return T(); }\n', "m.cpp": '#include "box.h"\nint main() {\n  return Box<int>().get();  // ref\n}\n'}, CXX, "g++ m.o box.o", NAME, "instantiate it explicitly", "echo 'template struct Box<int>;' >> box.cpp; g++ -c box.cpp"),
        Link({"p.h": "struct P { template <class T> void put(T); };\n", "p.cpp": '#include "p.h"\ntemplate <class T> void P::put(T) {}\ntemplate void P::put<char>(char);\n', "m.cpp": '#include "p.h"\nint main() {\n  P().put(1.0);  // ref\n}\n'}, CXX + "; gcc-ar rcs libp.a p.o", "g++ m.o libp.a", ("other-parameters", "runtime-name"), "instantiate it explicitly",
             "echo 'template void P::put<double>(double);' >> p.cpp; g++ -c p.cpp; gcc-ar rcs libp.a p.o"),
    ],
    "inline without a body": [
        Link({"m.c": "inline int twice(int x) { return 2 * x; }\nint main(int c, char** v) {\n  return twice(c);  // ref\n}\n"}, "gcc -std=c99 -g -O0 -c m.c", "gcc m.o", ("inline-external",), "static inline", "sed -i 's/^inline/static inline/' m.c; gcc -std=c99 -g -c m.c"),
        Link({"m.cpp": "inline int half(int);\nint main(int c, char**) {\n  return half(c);  // ref\n}\n"}, "g++ -g -w -c m.cpp", "g++ m.o", ("inline-without-body",), "body", "sed -i '1s/.*/inline int half(int x) { return x; }/' m.cpp; g++ -c m.cpp"),
        Link({"q.h": "struct Queue {\n  inline int front();\n};\n", "q.cpp": '#include "q.h"\ninline int Queue::front() { return 1; }\n', "m.cpp": '#include "q.h"\nint main() {\n  return Queue().front();  // ref\n}\n'}, "g++ -g -w -c *.cpp", "g++ m.o q.o", ("inline-without-body",), "body",
             "sed -i 's/inline int front();/inline int front() { return 1; }/' q.h; g++ -w -c m.cpp"),
    ],
    "sanitizer": [
        Link({"m.c": "int main(int c, char** v) {\n  return v[c][0];  // ref\n}\n"}, "gcc -g -fsanitize=address -c m.c", "gcc m.o", NAME, "add -fsanitize=address"),
        Link({"m.cpp": "int main(int c, char** v) {\n  return c + v[c][0];  // ref\n}\n"}, "g++ -g -fsanitize=undefined -c m.cpp", "g++ m.o", NAME, "add -fsanitize=undefined"),
        Link({"m.c": "int shared;\nint main(int c, char** v) {\n  shared = c;  // ref\n  return shared;\n}\n"}, "gcc -g -fsanitize=thread -c m.c", "gcc m.o", NAME, "add -fsanitize=thread"),
    ],
    "OpenMP and coverage": [
        Link({"m.c": "int main(int c, char** v) {\n#pragma omp parallel\n  c++;\n  return c;\n}\n"}, "gcc -g -fopenmp -c m.c", "gcc m.o", NAME, "add -fopenmp"),
        Link({"m.cpp": "#include <omp.h>\nint main() {\n  return omp_get_num_threads();  // ref\n}\n"}, "g++ -g -c m.cpp", "g++ m.o", NAME, "add -fopenmp"),
        Link({"m.c": "int main(void) { return 0; }\n"}, "gcc -g --coverage -c m.c", "gcc m.o", NAME, "add --coverage"),
    ],
    "C++ linked by gcc": [
        Link({"m.cpp": "int main(int c, char**) {\n  try {\n    throw c;  // ref\n  } catch (int x) { return x; }\n}\n"}, CXX, "gcc m.o", NAME, "link with the C++ compiler"),
        Link({"m.cpp": "#include <iostream>\nint main() {\n  std::cout << 1;  // ref\n}\n"}, CXX, "gcc m.o", NAME, "link with the C++ compiler"),
        Link({"m.c": "int run(void);\nint main(void) { return run(); }\n", "run.cpp": 'extern "C" int run() {\n  return *new int(1);  // ref\n}\n'}, CC + "; g++ -g -c run.cpp", "gcc m.o run.o", NAME, "link with the C++ compiler"),
    ],
    "main": [
        Link({"m.c": "int run(void) { return 0; }\n"}, CC, "gcc m.o", NAME, "link with -shared", "gcc -g -fPIC -c m.c", "gcc -shared m.o"),
        Link({"m.cpp": "namespace app { int main() { return 0; } }\n"}, CXX, "g++ m.o", ("similar-name", "runtime-name"), "main", "echo 'int main() { return app::main(); }' >> m.cpp; g++ -c m.cpp"),
        Link({"m.c": "int mian(void) { return 0; }\n"}, CC, "gcc m.o", ("similar-name", "runtime-name"), "main", "sed -i s/mian/main/ m.c; gcc -c m.c"),
    ],
    "typing error": [
        two(CXX_MAIN.format("compute_total"), "int compute_totla(int x) { return x; }", CXX, "g++ m.o w.o", ("similar-name",), "compute_totla(int)", "sed -i s/totla/total/ w.cpp; g++ -c w.cpp", kinds=("cpp", "cpp")),
        two(C_MAIN.format("buffer_append"), C_DEF.format("buffer_apend"), CC + "; gcc-ar rcs libbuffer.a w.o", "gcc m.o libbuffer.a", ("similar-name",), "buffer_apend", "sed -i s/apend/append/ w.c; gcc -c w.c; gcc-ar rcs libbuffer.a w.o"),
        two("struct Parser { int nextToken(int); };\nint main() {\n  return Parser().nextToken(1);  // ref\n}", "struct Parser { int nextTokn(int); };\nint Parser::nextTokn(int x) { return x; }", CXX, "g++ m.o p.o", ("similar-name",), "Parser::nextTokn(int)", "sed -i s/Tokn/Token/g p.cpp; g++ -c p.cpp", names=("m", "p"), kinds=("cpp", "cpp")),
    ],
    "target of the same build": [
        build("add_library(core STATIC core.c)\nadd_executable(app main.c)", "target_link_libraries(app PRIVATE core)", main_c=C_MAIN.format("core"), core_c=C_DEF.format("core")),
        build("add_library(net STATIC net.c)\nadd_library(http STATIC http.c)\nadd_executable(get get.c)\ntarget_link_libraries(get http)", "target_link_libraries(http PRIVATE net)", net_c=C_DEF.format("net_open"),
              http_c="int net_open(int);\nint http(int x) {\n  return net_open(x);  // ref\n}", get_c="int http(int);\nint main(void) { return http(1); }"),
        build("add_executable(tool tool.c helper.c)\nadd_executable(app main.c)", "target_sources(app PRIVATE helper.c)", main_c=C_MAIN.format("helper"), helper_c=C_DEF.format("helper"), tool_c="int helper(int);\nint main(void) { return helper(1); }"),
    ],
    "object not linked": [
        two(C_MAIN.format("wares"), C_DEF.format("wares"), CC, "gcc m.o", ("object-not-linked",), "add w.o after m.o"),
        two(CXX_MAIN.format("shape"), C_DEF.format("shape"), CXX, "g++ m.o", ("object-not-linked",), "add shape.o after m.o", names=("m", "shape"), kinds=("cpp", "cpp")),
        two(C_MAIN.format("wares"), C_DEF.format("wares"), CC + "; gcc-ar rcs libwares.a w.o; rm w.o", "gcc m.o", ("object-not-linked", "library-not-linked"), "add libwares.a after m.o"),
    ],
    "library that only another one names": [
        Link({"low.c": "int low(void) { return 1; }\n", "high.c": "int low(void);\nint high(void) { return low(); }\n", "m.c": "int low(void), high(void);\nint main(void) {\n  return high() +\n         low();  // ref\n}\n"},
             "gcc -shared -fPIC low.c -o liblow.so; gcc -shared -fPIC high.c -L. -llow -o libhigh.so; gcc -g -c m.c", "gcc m.o libhigh.so -Wl,-rpath-link,.", ("library-not-named",), "add ./liblow.so to the line"),
        Link({"base.cpp": "namespace base { int id(long x) { return x; } }\n", "top.cpp": "namespace base { int id(long); }\nint top() { return base::id(1); }\n", "app.cpp": "namespace base { int id(long); }\nint top();\nint main() {\n  top();\n  return base::id(2);  // ref\n}\n"},
             "mkdir d; g++ -shared -fPIC base.cpp -o d/libbase.so; g++ -shared -fPIC top.cpp -Ld -lbase -o d/libtop.so; g++ -g -c app.cpp", "g++ app.o d/libtop.so -Wl,-rpath-link,d", ("library-not-named",), "add d/libbase.so to the line"),
        Link({"v.c": "int level = 1;\n", "get.c": "extern int level;\nint get(void) { return level; }\n", "m.c": "extern int level;\nint get(void);\nint main(void) {\n  return get() + level;  // ref\n}\n"},
             "gcc -shared -fPIC v.c -o libv.so; gcc -shared -fPIC get.c -L. -lv -o libget.so; gcc -g -c m.c", "gcc m.o -L. -lget -Wl,-rpath-link,.", ("library-not-named",), "add ./libv.so to the line"),
    ],
    "constants, destructors, hidden declarations": [
        two("extern const int kMost;\nint main() {\n  return kMost;  // ref\n}", "const int kMost = 3;", CXX, "g++ m.o w.o", ("static-elsewhere",), "write `extern` there", "sed -i 's/^/extern /' w.cpp; g++ -w -c w.cpp", kinds=("cpp", "cpp")),
        Link({"m.cpp": "struct A { virtual ~A() = 0; };\nstruct B : A {};  // ref\nint main() { B b; }\n"}, CXX, "g++ m.o", ("pure-destructor-without-body",), "define it outside of the class", "sed -i '1s/$/ A::~A() {}/' m.cpp; g++ -c m.cpp"),
        two('__attribute__((visibility("hidden"))) int wares(int);\nint main(void) {\n  return wares(1);  // ref\n}', C_DEF.format("wares"), "gcc -g -c m.c; gcc -shared -fPIC w.c -o libwares.so", "gcc m.o libwares.so", ("hidden-reference",), "take the hidden visibility", "sed -i 's/__attribute.*)) //' m.c; gcc -c m.c"),
    ],
    "source not linked": [
        Link({"m.c": "int wares(int);\nint main(void) {\n  return wares(1);  // ref\n}\n", "wares.c": "#include <stdio.h>\nstatic int count;\nint wares(int x) { return x + count; }\n"}, "gcc -g -c m.c", "gcc m.o", ("source-not-linked",), "compile wares.c", "gcc -c wares.c", "gcc m.o wares.o"),
        Link({"src/m.cpp": '#include "../inc/shape.h"\nint main() {\n  return geo::Shape().area(1);  // ref\n}\n', "inc/shape.h": "#pragma once\nnamespace geo {\nstruct Shape { int area(int) const; };\n}\n",
              "src/shape.cpp": '#include "../inc/shape.h"\nnamespace geo {\nint Shape::area(int x) const { return x; }\n}\n'}, "g++ -g -c src/m.cpp -o m.o", "g++ m.o", ("source-not-linked",), "compile src/shape.cpp", "g++ -c src/shape.cpp", "g++ m.o shape.o"),
        Link({"m.c": "extern int level;\nint main(void) {\n  return level;  // ref\n}\n", "level.c": "int other = 2, level = 3;\n"}, "gcc -g -c m.c", "gcc m.o", ("source-not-linked",), "compile level.c", "gcc -c level.c", "gcc m.o level.o"),
        Link({"sq.h": "struct Shape { virtual ~Shape(); virtual double area() const = 0; };\nstruct Sq : Shape { Sq(double); double area() const override; };\n", "sq.cpp": '#include "sq.h"\nShape::~Shape() {}\nSq::Sq(double) {}\ndouble Sq::area() const { return 1; }\n',
              "m.cpp": '#include "sq.h"\nint main() {\n  Sq q(2);  // ref\n  return q.area();\n}\n'}, "g++ -g -c m.cpp", "g++ m.o", ("source-not-linked",), "compile sq.cpp", "g++ -c sq.cpp", "g++ m.o sq.o"),
    ],
    "header of another version": [
        Link({"old/foo.h": "int foo_open(int);\n", "new/foo.h": "int foo_open_v2(int);\n#define foo_open foo_open_v2\n", "old/foo.c": "int foo_open(int x) { return x; }\n", "new/foo.c": "int foo_open_v2(int x) { return x; }\n", "m.c": '#include "foo.h"\nint main(void) {\n  return foo_open(1);  // ref\n}\n'},
             "for v in old new; do gcc -fPIC -shared $v/foo.c -o $v/libfoo.so; done; gcc -g -Inew -c m.c", "gcc m.o old/libfoo.so", ("header-of-another-version", "library-of-another-version"), "new/libfoo.so", "", "gcc m.o new/libfoo.so"),
        Link({"v1/include/bar.h": "void bar_init(void);\n", "v2/include/bar.h": "void bar_init(void);\nint bar_more(int);\n", "v1/bar.c": "void bar_init(void) {}\n", "v2/bar.c": "void bar_init(void) {}\nint bar_more(int x) { return x; }\n",
              "m.c": "#include <bar.h>\nint main(void) {\n  bar_init();\n  return bar_more(1);  // ref\n}\n"},
             "for v in v1 v2; do mkdir $v/lib; gcc -c $v/bar.c -o $v/bar.o; gcc-ar rcs $v/lib/libbar.a $v/bar.o; done; gcc -g -Iv2/include -c m.c", "gcc m.o -Lv1/lib -lbar", ("header-of-another-version", "library-of-another-version"), "v2/lib", "", "gcc m.o -Lv2/lib -lbar"),
        Link({"a/include/q/q.h": "namespace q { int push(int); }\n", "b/include/q/q.h": "namespace q { int push(int, int = 0); }\n", "a/q.cpp": "namespace q { int push(int x) { return x; } }\n", "b/q.cpp": "namespace q { int push(int x, int) { return x; } }\n",
              "m.cpp": "#include <q/q.h>\nint main() {\n  return q::push(1);  // ref\n}\n"}, "for v in a b; do mkdir $v/lib; g++ -fPIC -shared $v/q.cpp -o $v/lib/libq.so; done; g++ -g -Ib/include -c m.cpp", "g++ m.o -La/lib -lq", ("header-of-another-version",), "b/lib", "", "g++ m.o -Lb/lib -lq"),
    ],
}


def expected_line(link):
    for name, text in link.sources.items():
        for number, line in enumerate(text.splitlines(), 1):
            if line.endswith("// ref"):
                return name, number
    return None


def everything(findings):
    return [one for finding in findings for one in (finding, *finding.get("also", []))]


def tried(link, program, folder):
    """({"line", "cause", "fix"}: is it right? None: not asked), what elfaudit said in short."""
    folder = pathlib.Path(folder)

    def sh(command, check=True):
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0 or not check, f"{command}\n{done.stdout}{done.stderr}"
        return done

    for name, text in link.sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sh(link.prepare)
    line = link.link if link.build else link.link + " -o out"
    assert sh(line, check=False).returncode != 0, f"links: {line}"
    what = ["-p", link.build] if link.build else ["--", *link.link.split(), "-o", "out"]
    done = subprocess.run([program, "check", "--format", "json", *what], cwd=folder, capture_output=True, text=True)
    findings = [finding for finding in json.loads(done.stdout)["findings"] if finding["rule"] == "undefined-symbol"]
    assert findings, done.stdout + done.stderr
    first = findings[0]
    fix = first["fixes"][0]["text"] if first["fixes"] else ""
    said = f"{(first['cause'] or {}).get('kind')}: {(first['cause'] or {}).get('text')}; fix: {fix}; " + ", ".join(f"{site['file']}:{site['line']}" for site in first["sites"])
    sites = [(site["file"], site["line"]) for finding in everything(findings) for site in finding["sites"]]
    wanted = expected_line(link)
    answers = {"line": None if wanted is None else wanted in sites, "cause": all(f["cause"] and f["cause"]["kind"] in link.causes for f in findings), "fix": bool(fix) and link.fix in fix}
    if answers["fix"]:
        mended = link.fixed or (not link.mend and applied(link.link, fix)) or link.link
        if link.mend:
            sh(link.mend)
        passed = sh(mended if link.build else mended + " -o out", check=False)
        answers["fix"] = passed.returncode == 0
        if passed.returncode != 0:
            said += f"; applied: {mended}: {passed.stderr[:300]}"
    return answers, said
