"""Objects of which nothing is known but their debug info: no depfile, no compile command, as setuptools leaves them."""

import os
import time

import pytest

from elfaudit_test import by_symbol, need

need("gcc", "g++", "clang", "clang++")


def build(lab, command, header, names=("a", "b"), extension="c"):
    """Sources that include the header through -I, in folders of their own; their objects."""
    lab.write("inc/h.h", header)
    for name in names:
        lab.write(f"src/{name}.{extension}", "#include <h.h>\n")
        lab.sh(f"{command} -Iinc -c src/{name}.{extension} -o {name}.o")
    return [f"{name}.o" for name in names]


def finding(lab, objects, *options):
    (finding,) = lab.audit("check", *objects, *options, "--format", "json").json()["findings"]
    return finding


@pytest.mark.parametrize("command", ["gcc -g", "gcc -g -std=c99 -O2", "gcc -g -gdwarf-4", "gcc -g -gsplit-dwarf", "gcc -g3 -gdwarf-2",
                                     "clang -g", "clang -g -gsplit-dwarf"])
def test_the_fix_of_c_is_c(lab, command):
    objects = build(lab, command, "#pragma once\n#include <stdio.h>\nint level = 3;\n")
    fixes = finding(lab, objects)["fixes"]
    assert [fix["text"] for fix in fixes] == ["declare it `extern` in inc/h.h:3 and define it in one source file"]


def test_function_whose_body_is_that_of_another(lab):
    """g++ -O2 keeps one body (-fipa-icf), and describes the other function without an address."""
    header = """#pragma once
int plain(int a) { return 2 * a; }
namespace n { int twice(int a) { return 2 * a; } }
template <class T> T scale(T a) { return a; }
template <> int scale<int>(int a) { return 2 * a; }
struct S { int member(int a); };
int S::member(int a) { return 2 * a; }
"""
    objects = build(lab, "g++ -g -O2", header, extension="cpp")
    findings = by_symbol(lab.audit("check", *objects, "--format", "json").json()["findings"])
    places = {f["demangled"].split("(")[0]: {(s["file"], s["line"]) for s in f["sites"]} for f in findings}
    lines = {"plain": 2, "n::twice": 3, "int scale<int>": 5, "S::member": 7}
    assert places == {name: {("inc/h.h", line)} for name, line in lines.items()}


@pytest.mark.parametrize("command, inline", [("g++ -g", True), ("g++ -g -std=c++14", False), ("g++ -g -ansi", False), ("clang++ -g", False),
                                             ("g++ -g -std=gnu++2a", True)])
def test_the_standard_is_the_producers(lab, command, inline):
    objects = build(lab, command, "#pragma once\nint level = 3;\n", extension="cpp")
    assert ("inline" in finding(lab, objects)["fixes"][0]["text"]) == inline


# A source that has a declaration without a value from a header, and the line of its definition; what can't be proven
# of gcc's debug info, which names the first declaration, is unknown.
TENTATIVE = [
    ('#include "h.h"\nint level = 7;\n', ("src/b.c", 2), ("src/b.c", 2)),
    ('#include "h.h"\nint level = 0;\n', ("src/b.c", 2), ("src/b.c", 2)),
    ('#include "h.h"\nint use(void) { return level; }\nint level = 7;\n', ("src/b.c", 3), ("src/b.c", 3)),
    ('int level = 7;\n#include "h.h"\n', ("src/b.c", 1), ("src/b.c", 1)),
    ('#include "h.h"\n#ifdef A\nint level = 7;\n#else\nint level = 8;\n#endif\n', None, ("src/b.c", 5)),
    ('#include "h.h"\n#include "more.h"\n', None, ("inc/more.h", 1)),
]


@pytest.mark.parametrize("source, gcc, clang", TENTATIVE)
def test_declarations_without_a_value(lab, source, gcc, clang):
    lab.write("inc/h.h", "int level;\n")
    lab.write("inc/more.h", "int level = 9;\n")
    lab.write("src/b.c", source)
    lab.write("src/a.c", '#include "h.h"\n')
    for compiler, place in (("gcc", gcc), ("clang", clang)):
        lab.sh(f"{compiler} -fno-common -g -Iinc -c src/a.c src/b.c")
        sites = {site["path"]: site for site in finding(lab, ["a.o", "b.o"])["sites"]}
        known = sites["b.o"].get("file") and (sites["b.o"]["file"], sites["b.o"]["line"])
        assert known == place, sites


def placed(lab, objects):
    """Line and way of each definition that is known, by its name."""
    findings = by_symbol(lab.audit("check", *objects, "--format", "json").json()["findings"])
    return {f["demangled"]: {(s["file"], s["line"], s["chain_known_by"]) for s in f["sites"]} for f in findings if f["sites"][0]["file"]}


@pytest.mark.parametrize("command", ["clang++ -g", "clang++ -g -gdwarf-4 -O2", "clang++ -g -gsplit-dwarf"])
def test_static_members_of_which_clang_describes_no_definition(lab, command):
    header = """#pragma once
struct A { static int s; static const char names[2]; };
int A::s = 3;
const char A::names[2] = {1, 2};
template <class T> struct C { static T v; };
template <> int C<int>::v = 7;
namespace n { struct B { static int t; }; int B::t; }
"""
    lines = {"A::s": 3, "A::names": 4, "C<int>::v": 6, "n::B::t": 7}
    assert placed(lab, build(lab, command, header, extension="cpp")) == {name: {("inc/h.h", line, "line-table")} for name, line in lines.items()}


@pytest.mark.parametrize("command", ["gcc -g", "clang -g"])
def test_an_alias_of_a_function_is_where_it_is_made(lab, command):
    header = '#pragma once\nint real(void) { return 1; }\nint other(void) __attribute__((alias("real")));\n'
    assert placed(lab, build(lab, command, header))["other"] == {("inc/h.h", 3, "line-table")}


def test_a_static_member_in_two_sources(lab):
    for name in "ab":
        lab.write(f"{name}.cpp", "struct A { static int s; };\nint A::s = 3;\n")
        lab.sh(f"clang++ -g -c {name}.cpp")
    assert placed(lab, ["a.o", "b.o"])["A::s"] == {("a.cpp", 2, "line-table"), ("b.cpp", 2, "line-table")}


@pytest.mark.parametrize("options, definition, other", [
    ("-DX", "#ifdef X\nint A::s = 1;\n#else\nint A::s = 2;\n#endif", ""),
    ("-DX", "#ifdef X\nint A::s = 1;\n#endif", ""),
    ("-DX", '#ifdef X\n#include "g.h"\n#else\nint A::s = 1;\n#endif', "int A::s = 2;"),
    ("-Iother", "#include <g.h>", "int A::s = 2;"),
    ("-O2", "#ifdef __OPTIMIZE__\nint A::s = 1;\n#else\nint A::s = 2;\n#endif", ""),
])
def test_a_static_member_that_may_be_defined_elsewhere(lab, options, definition, other):
    """`other` is in a header that leaves no trace in debug info, and is found before the project's own."""
    lab.write("inc/g.h", other if "other" not in options else "\nint A::s = 1;\n")
    lab.write("other/g.h", other)
    objects = build(lab, f"clang++ -g {options}", f"#pragma once\nstruct A {{ static int s; }};\n{definition}\n", extension="cpp")
    assert "A::s" not in placed(lab, objects)


def test_a_c_source_compiled_as_cxx_is_cxx(lab):
    objects = build(lab, "g++ -g -std=c++17", "#pragma once\nnamespace n { int level = 3; }\n")
    assert "inline" in finding(lab, objects)["fixes"][0]["text"]


def chains(lab, objects, *options):
    """The includes of each site; None where they are not known."""
    return [[(step["file"], step["line"]) for step in site["chain"]] if site["chain_known_by"] != "none" else None
            for site in finding(lab, objects, *options)["sites"]]


@pytest.mark.parametrize("command", ["gcc -g", "gcc -g -gdwarf-4", "gcc -g -gsplit-dwarf", "clang -g", "clang -g -gdwarf-4",
                                     "clang -g -gsplit-dwarf"])
def test_the_includes_are_told_from_the_line_table(lab, command):
    objects = build(lab, command, "#pragma once\n#include <stdio.h>\nint level = 3;\n")
    assert chains(lab, objects) == [[("src/a.c", 1)], [("src/b.c", 1)]]
    assert {site["chain_known_by"] for site in finding(lab, objects)["sites"]} == {"line-table"}
    assert "(debug info + source scan)" in lab.audit("check", *objects).out


def test_a_header_that_leaves_no_trace_is_on_the_way(lab):
    lab.write("inc/all.h", "#define UNUSED\n#include <lib/level.h>\n")
    lab.write("inc/lib/level.h", "#pragma once\nint level = 3;\n")
    objects = build(lab, "gcc -g", "#include <all.h>\n")
    assert chains(lab, objects) == [[("src/a.c", 1), ("inc/h.h", 1), ("inc/all.h", 2)], [("src/b.c", 1), ("inc/h.h", 1), ("inc/all.h", 2)]]


def test_a_header_that_leaves_no_trace_has_the_name_of_one_that_does(lab):
    lab.write("inc/all.h", "#define UNUSED\n#include <lib/h.h>\n")
    lab.write("inc/lib/h.h", "#pragma once\nint level = 3;\n")
    assert chains(lab, build(lab, "gcc -g", "#include <all.h>\n")) == [None, None]


def test_two_ways_that_a_macro_decides(lab):
    lab.write("inc/one.h", '#include "h2.h"\n')
    lab.write("inc/h2.h", "#pragma once\nint level = 3;\n")
    header = '#ifdef WITH_ONE\n#include "one.h"\n#endif\n#include "h2.h"\n'
    assert chains(lab, build(lab, "gcc -g -DWITH_ONE", header)) == [None, None]
    assert chains(lab, build(lab, "gcc -g", header)) == [None, None]


def test_two_files_that_fit(lab):
    for folder in ("inc", "other"):
        lab.write(f"{folder}/way.h", '#include "../inc/h2.h"\n')
    lab.write("inc/h2.h", "#pragma once\nint level = 3;\n")
    assert chains(lab, build(lab, "gcc -g -Iother", "#include <way.h>\n")) == [None, None]


@pytest.mark.parametrize("folder, way, text, known", [
    ("build", "../include", '#define API\n#include "../../inc/level.h"\n', True), ("src", "../include", '#define API\n#include "../../inc/level.h"\n', True),
    ("build", "../include", "#define API\n#include <level.h>\n", True), ("build", "../../elsewhere", "#define API\n#include <level.h>\n", False)])
def test_a_compile_beside_the_includes(lab, folder, way, text, known):
    """As CMake's: lib/api.h, which has macros and includes alone, is in no line table."""
    lab.write("p/src/a.c", "#include <lib/api.h>\nint own_a;\n")
    lab.write("p/src/b.c", "int own_b;\n#include <lib/api.h>\n")
    lab.write("p/inc/level.h", "#pragma once\nint level = 3;\n")
    lab.write(f"p/{folder}/{way}/lib/api.h", text)
    for name in "ab":
        lab.sh(f"cd p/{folder} && gcc -g -I../inc -I{way} -c ../src/{name}.c -o {lab.path}/{name}.o")
    api = ("p/include/lib/api.h", 2)
    assert chains(lab, ["a.o", "b.o"]) == ([[("p/src/a.c", 1), api], [("p/src/b.c", 2), api]] if known else [None, None])


@pytest.mark.parametrize("command", ["gcc -g", "clang -g"])
@pytest.mark.parametrize("name, text, known", [("config.h", '#include "../inc/h.h"\n', False), ("force.h", '#define A\n#include <h.h>\n', False),
                                               ("config.h", "#define HAVE_A 1\n", True), ("own.h", "#define A\n#include <h.h>\n", False),
                                               ("own.h", "#define A\n", True)])
def test_what_the_command_line_includes_may_lead_there(lab, command, name, text, known):
    """A header with macros and #includes alone leaves no trace in debug info."""
    lab.write(f"own/{name}", text)
    objects = build(lab, f"{command} -include own/{name}", "#pragma once\nint level = 3;\n")
    assert chains(lab, objects) == ([[("src/a.c", 1)], [("src/b.c", 1)]] if known else [None, None])


def test_two_headers_of_a_name_in_the_project(lab):
    lab.write("p/inc/level.h", "#pragma once\nint level = 3;\n")
    lab.write("p/own/lib/api.h", "#define API\n#include <level.h>\n")
    lab.write("p/libs/one/two/three/four/lib/api.h", "#define API\n\n#include <level.h>\n")
    for name in "ab":
        lab.write(f"p/src/{name}.c", "#include <lib/api.h>\n")
        lab.sh(f"mkdir -p p/build && cd p/build && gcc -g -I../inc -I../libs/one/two/three/four -c ../src/{name}.c -o {lab.path}/{name}.o")
    assert chains(lab, ["a.o", "b.o"]) == [None, None]


@pytest.mark.parametrize("folder", ["own", "inc"])
def test_another_header_of_the_name_outside_the_project(lab, folder):
    """That of the project is in no line table either, and may be meant, or be before or behind the other in the search."""
    lab.write("p/inc/level.h", "#pragma once\nint level = 3;\n")
    lab.write(f"p/{folder}/lib/outer.h", "#define API\n#include <level.h>\n")
    lab.write("elsewhere/lib/outer.h", "#define API\n\n#include <level.h>\n")
    for name in "ab":
        lab.write(f"p/src/{name}.c", "#include <lib/outer.h>\n")
        lab.sh(f"cd p && gcc -g -I../elsewhere -Iinc -c src/{name}.c -o {lab.path}/{name}.o")
    assert chains(lab, ["a.o", "b.o"]) == [None, None]


def test_a_header_that_is_gone(lab):
    lab.write("gone/gone.h", "#define GONE\n")
    objects = build(lab, "gcc -g -Igone", "#pragma once\n#include <gone.h>\nint level = 3;\n", names="ab")
    assert chains(lab, objects) == [[("src/a.c", 1)], [("src/b.c", 1)]]  # nothing else can have led there first
    for name in "ab":
        lab.write(f"src/{name}.c", "#include <gone.h>\n#include <h.h>\n")
        lab.sh(f"gcc -g -Iinc -Igone -c src/{name}.c -o {name}.o")
    (lab.path / "gone/gone.h").unlink()
    assert chains(lab, objects) == [None, None]


@pytest.mark.parametrize("options", ["-g", "-g -MD"])
def test_a_source_that_has_changed_since(lab, options):
    objects = build(lab, f"gcc {options}", "#pragma once\nint level = 3;\n")
    os.utime(lab.path / "src/a.c", (time.time() + 60, time.time() + 60))
    (found,) = [f for f in lab.audit("check", *objects, "--format", "json").json()["findings"] if f["rule"] == "duplicate-definition"]
    assert [site["chain_known_by"] for site in found["sites"]] == ["none", "line-table" if options == "-g" else "depfile"]


@pytest.mark.parametrize("options", ["-fdebug-prefix-map={here}=.", "-ffile-prefix-map={here}=/usr/src/project", "-fdebug-prefix-map={here}/inc=/inc"])
def test_mapped_paths_lead_nowhere_else(lab, options):
    objects = build(lab, f"gcc -g {options.format(here=lab.path)}", "#pragma once\nint level = 3;\n")
    assert chains(lab, objects) in ([None, None], [[("src/a.c", 1)], [("src/b.c", 1)]])


@pytest.mark.deep
def test_the_host_side_of_cuda(lab):
    need("nvcc")
    lab.write("inc/k.cuh", "#pragma once\n#include <cuda_runtime.h>\nint level = 3;\n")
    for name in "ab":
        lab.write(f"{name}.cu", f"#include <k.cuh>\n__global__ void {name}() {{}}\n")
        lab.sh(f"nvcc -g -Iinc -c {name}.cu -o {name}.o")
    assert chains(lab, ["a.o", "b.o"]) == [[("a.cu", 1)], [("b.cu", 1)]]


@pytest.mark.parametrize("source, known", [("#include <h.h>\n", False), ("int other_{};\n#include <h.h>\n", True)])
def test_fat_lto_objects_lose_a_folder(lab, source, known):
    lab.write("inc/h.h", "int level = 3;\n")
    for name in "ab":
        lab.write(f"src/{name}.c", source.format(name))
        lab.sh(f"gcc -g -flto -ffat-lto-objects -Iinc -c src/{name}.c -o {name}.o")
    sites = finding(lab, ["a.o", "b.o"])["sites"]
    assert {site["file"] for site in sites} == {"inc/h.h" if known else None}
    if not known:
        assert "loses the folder of h.h:1" in sites[0]["why_unknown"]
