"""Links that miss a symbol, of twenty kinds: the line that refers to it, and a fix that mends the link when it is applied."""

import pytest

from elfaudit_test import need
from test_suppliers import undefined

need("g++", "gcc", "ar")

STRING = '#include <string>\n'
# Kind: sources and the commands that prepare the link, the link, part of the fix, and the same with the fix applied.
KINDS = {
    "libm": ({"m.c": "double sin(double);\nint main(int c, char** v) {\n return sin(c); }"}, ["gcc -g -fno-builtin -c m.c"], "gcc m.o", "add -lm", [], "gcc m.o -lm"),
    "library of the line's folders": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.c": "int w(void) { return 0; }"},
                                      ["gcc -g -c m.c w.c", "mkdir d", "ar rcs d/libw.a w.o"], "gcc m.o -Ld", "add -lw after m.o", [], "gcc m.o -Ld -lw"),
    "archive too early": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.c": "int w(void) { return 0; }"},
                          ["gcc -g -c m.c w.c", "ar rcs libw.a w.o"], "gcc libw.a m.o", "move libw.a after m.o", [], "gcc m.o libw.a"),
    "shared library too early": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.c": "int w(void) { return 0; }"},
                                 ["gcc -g -c m.c", "gcc -shared -fPIC w.c -o libw.so"], "gcc -Wl,--as-needed libw.so m.o", "move libw.so after m.o", [], "gcc -Wl,--as-needed m.o libw.so"),
    "extern C missing at the reference": ({"m.cpp": "int w();\nint main() {\n return w(); }", "w.c": "int w(void) { return 0; }"}, ["g++ -g -c m.cpp", "gcc -c w.c"], "g++ m.o w.o",
                                          'into extern "C"', ["sed -i 's/^int w();/extern \"C\" { int w(); }/' m.cpp", "g++ -g -c m.cpp"], "g++ m.o w.o"),
    "extern C missing at the definition": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.cpp": "int w() { return 0; }"}, ["gcc -g -c m.c", "g++ -c w.cpp"], "g++ m.o w.o",
                                           'declare w extern "C" where w.o is compiled', ["sed -i 's/^/extern \"C\" /' w.cpp", "g++ -c w.cpp"], "g++ m.o w.o"),
    "other parameters": ({"m.cpp": "int w(int);\nint main() {\n return w(1); }", "w.cpp": "int w(long) { return 0; }"}, ["g++ -g -c m.cpp w.cpp"], "g++ m.o w.o",
                         "declare and call w(long)", ["sed -i 's/w(int)/w(long)/' m.cpp", "g++ -c m.cpp"], "g++ m.o w.o"),
    "const": ({"m.cpp": "int w(const char*);\nint main() {\n return w(0); }", "w.cpp": "int w(char*) { return 0; }"}, ["g++ -g -c m.cpp w.cpp"], "g++ m.o w.o",
              "declare and call w(char*)", ["sed -i 's/const //' m.cpp", "g++ -c m.cpp"], "g++ m.o w.o"),
    "std::string": ({"m.cpp": STRING + "int w(const std::string&); int main() {\n return w(\"\"); }", "w.cpp": STRING + "int w(const std::string&) { return 0; }"},
                    ["g++ -g -c m.cpp", "g++ -D_GLIBCXX_USE_CXX11_ABI=0 -c w.cpp"], "g++ m.o w.o", "the same _GLIBCXX_USE_CXX11_ABI: m.o has 1", ["g++ -c w.cpp"], "g++ m.o w.o"),
    "static": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.c": "static int w(void) { return 0; } int (*p)(void) = w;"}, ["gcc -g -c m.c w.c"], "gcc m.o w.o",
               "take `static`", ["sed -i 's/^static //' w.c", "gcc -c w.c"], "gcc m.o w.o"),
    "hidden": ({"m.c": "int w(void);\nint main() {\n return w(); }", "w.c": "int w(void) { return 0; }"}, ["gcc -g -c m.c", "gcc -shared -fPIC -fvisibility=hidden w.c -o libw.so"],
               "gcc m.o libw.so", "export it from libw.so", ["gcc -shared -fPIC w.c -o libw.so"], "gcc m.o libw.so"),
    "vtable": ({"m.cpp": "struct B { virtual int key(); };\nint main() {\n B b; return 0; }"}, ["g++ -g -c m.cpp"], "g++ m.o", "define that function",
               ["echo 'int B::key() { return 0; }' >> m.cpp", "g++ -c m.cpp"], "g++ m.o"),
    "static data member": ({"m.cpp": "struct S { static int q; };\nint main() {\n return S::q; }"}, ["g++ -g -c m.cpp"], "g++ m.o", "define it in one source file",
                           ["echo 'int S::q;' >> m.cpp", "g++ -c m.cpp"], "g++ m.o"),
    "template": ({"m.cpp": "template <class T> T w(T);\nint main() {\n return w(0); }", "w.cpp": "template <class T> T w(T t) { return t; } template long w(long);"}, ["g++ -g -c m.cpp w.cpp"], "g++ m.o w.o",
                 "instantiate it explicitly", ["echo 'template int w(int);' >> w.cpp", "g++ -c w.cpp"], "g++ m.o w.o"),
    "address sanitizer": ({"m.c": "int main(int c, char** v) {\n\n return v[c][0]; }"}, ["gcc -g -fsanitize=address -c m.c"], "gcc m.o", "add -fsanitize=address", [], "gcc m.o -fsanitize=address"),
    "undefined sanitizer": ({"m.c": "int main(int c, char** v) {\n\n return v[c][0] + c; }"}, ["gcc -g -fsanitize=undefined -c m.c"], "gcc m.o", "add -fsanitize=undefined", [], "gcc m.o -fsanitize=undefined"),
    "OpenMP": ({"m.c": "int main(int c, char** v) {\n#pragma omp parallel\n c++; return c; }"}, ["gcc -g -fopenmp -c m.c"], "gcc m.o", "add -fopenmp", [], "gcc m.o -fopenmp"),
    "coverage": ({"m.c": "int main() {\n return 0; }"}, ["gcc -g --coverage -c m.c"], "gcc m.o", "add --coverage", [], "gcc m.o --coverage"),
    "C++ by gcc": ({"m.cpp": "int main(int c, char**) {\n\n try { throw c; } catch (int x) { return x; } }"}, ["g++ -g -c m.cpp"], "gcc m.o", "link with the C++ compiler", [], "g++ m.o"),
    "main": ({"m.c": "int w(void) { return 0; }"}, ["gcc -g -c m.c"], "gcc m.o", "link with -shared", ["gcc -g -fPIC -c m.c"], "gcc -shared m.o"),
}
WITHOUT_LINE = {"main", "coverage"}  # crt1.o and what the compiler adds have no line of the user's


@pytest.mark.parametrize("kind", KINDS)
def test_a_fix_that_mends_the_link(lab, kind):
    sources, prepare, link, fix, mend, fixed = KINDS[kind]
    for name, text in sources.items():
        lab.write(name, text + "\n")
    for command in prepare:
        lab.sh(command)
    assert lab.sh(link + " -o out", check=False).code != 0
    findings = undefined(lab, link)
    assert findings and all(fix in f["fixes"][0]["text"] for f in findings.values()), findings
    if kind not in WITHOUT_LINE:
        sites = [site for f in findings.values() for site in f["sites"]]
        assert any(site["file"] in sources and site["line"] for site in sites) and any(note.startswith("in ") for site in sites for note in site["notes"]), sites
    for command in mend:
        lab.sh(command)
    lab.sh(fixed + " -o out")
