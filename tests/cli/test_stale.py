"""stale-object: older than a file that it was compiled or linked from. The builds are those of ninja, make and a shell."""

import os

import pytest

from elfaudit_test import need

need("g++")

HEADER = "inline int one() { return 1; }\nextern int state;\n"
SOURCE = '#include "state.h"\nint state = one();\nint main() { return state; }\n'


def project(lab):
    lab.write("state.h", HEADER)
    lab.write("main.cpp", SOURCE)


def age(lab, name, seconds):
    """Makes a file older; to a fraction of a second, if need be."""
    path = lab.path / name
    then = path.stat().st_mtime_ns - int(seconds * 1e9)
    os.utime(path, ns=(then, then))


def stale(lab, *arguments):
    result = lab.audit("check", "--format", "json", *arguments)
    return [f for f in result.json()["findings"] if f["rule"] in ("stale-object", "untracked-header")]


# --- builds that are up to date


def test_fresh_with_make(lab):
    need("make")
    project(lab)
    lab.write("Makefile", "main.o: main.cpp\n\tg++ -g -MMD -c main.cpp -o main.o\n-include main.d\n")
    lab.sh("make")
    assert stale(lab, "main.o") == []


def ninja_project(lab, deps=""):
    lab.write(
        "build.ninja",
        f"rule cxx\n  command = g++ -g -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n{deps}build out/main.o: cxx main.cpp\n",
    )


@pytest.mark.parametrize("deps", ["", "  deps = gcc\n"])
def test_fresh_and_stale_with_ninja(lab, deps):
    need("ninja")
    project(lab)
    ninja_project(lab, deps)
    lab.sh("ninja")
    assert stale(lab, "out/main.o") == []
    age(lab, "out/main.o", 60)
    [finding] = stale(lab, "out/main.o")
    assert finding["message"] == "out/main.o is older than 2 of the files it was built from"
    assert finding["notes"][0] == "newer: main.cpp, state.h"
    assert finding["sites"][0]["notes"] == ["by .ninja_deps" if deps else "by out/main.o.d"]


def test_fresh_without_any_list(lab):
    project(lab)
    lab.sh("g++ -g -c main.cpp -o main.o; g++ -c main.cpp -o bare.o")
    assert stale(lab, "main.o", "bare.o") == []


# --- what has changed since


def build(lab, flags="-g -MMD"):
    project(lab)
    lab.sh(f"g++ {flags} -c main.cpp -o main.o")


def test_header_is_newer_by_a_nanosecond(lab):
    build(lab)
    made = (lab.path / "main.o").stat().st_mtime_ns
    os.utime(lab.path / "main.cpp", ns=(made - 1, made - 1))
    os.utime(lab.path / "state.h", ns=(made, made))
    assert stale(lab, "main.o") == []
    os.utime(lab.path / "state.h", ns=(made + 1, made + 1))
    [finding] = stale(lab, "main.o")
    assert (finding["severity"], finding["message"]) == ("warning", "main.o is older than state.h")
    assert "the lines of that header that were compiled have not moved" in finding["notes"]
    assert "the build tracks these files: run it again" in finding["notes"]


def test_header_says_something_else(lab):
    build(lab)
    age(lab, "main.o", 60)
    age(lab, "main.cpp", 120)
    lab.write("state.h", "// a new first line\n" + HEADER)
    [finding] = stale(lab, "main.o")
    assert "state.h:1 no longer has one, which the object was compiled with; it is on line 2 now" in finding["notes"]
    lab.write("state.h", "extern int state;\nint renamed();\n")
    [finding] = stale(lab, "main.o")
    assert "state.h:1 no longer has one, which the object was compiled with" in finding["notes"]


def test_header_is_gone(lab):
    build(lab)
    (lab.path / "state.h").unlink()
    [finding] = stale(lab, "main.o")
    assert finding["message"] == "main.o was built from state.h, which no longer exists"


def test_folder_of_the_compiler_is_not_known(lab):
    """A depfile whose object and source are absolute does not say what its relative names are relative to."""
    lab.write("src/include/f.h", "int f();\n")
    for folder in ("src", "out"):  # a copy, as builds install headers
        lab.write(f"{folder}/include/g.h", "int g();\n")
    lab.write("out/gen/g.cpp", '#include "f.h"\n#include "g.h"\nint g() { return 1; }\n')
    lab.write("src/dev/x", "")
    lab.write("out/obj/x", "")
    lab.sh("cd src/dev && g++ -MD -I../include -c $PWD/../../out/gen/g.cpp -o $PWD/../../out/obj/g.o")
    assert stale(lab, "out/obj/g.o") == []
    age(lab, "out/obj/g.o", 60)
    for file in ("src/include/f.h", "src/include/g.h", "out/gen/g.cpp"):
        age(lab, file, 120)
    lab.sh("touch out/include/g.h")
    assert stale(lab, "out/obj/g.o") == []


def test_sources_are_elsewhere(lab):
    build(lab)
    (lab.path / "state.h").unlink()
    (lab.path / "main.cpp").unlink()  # a container's build folder alone
    assert stale(lab, "main.o") == []


def test_header_that_nothing_tracks(lab):
    build(lab, "-g")
    age(lab, "main.o", 60)
    age(lab, "main.cpp", 120)
    [finding] = stale(lab, "main.o")
    assert finding["message"] == "main.o is older than state.h" and finding["sites"][0]["notes"] == ["by debug info"]
    assert any(note.startswith("no depfile or ninja log lists state.h: unless a rule names it, the build does not compile again when it changes") for note in finding["notes"])


def test_list_of_another_object_is_not_believed(lab):
    build(lab, "-g0 -MMD -MT other.o")
    age(lab, "main.o", 60)
    assert stale(lab, "main.o") == []


def test_many_objects_are_one_finding(lab):
    project(lab)
    for name in "abc":
        lab.sh(f"g++ -MMD -c main.cpp -o {name}.o")
        age(lab, f"{name}.o", 60)
    age(lab, "main.cpp", 120)
    [finding] = stale(lab, "a.o", "b.o", "c.o")
    assert finding["message"] == "3 objects are older than state.h" and len(finding["sites"]) == 3


def test_untracked_headers_when_asked(lab):
    build(lab, "-g")
    lab.sh("g++ -g -MMD -c main.cpp -o tracked.o")
    assert stale(lab, "main.o", "tracked.o") == []
    [finding] = stale(lab, "--enable", "untracked-header", "main.o", "tracked.o")
    assert (finding["rule"], finding["severity"]) == ("untracked-header", "note")
    assert finding["message"] == "no depfile or ninja log lists state.h: main.o is not recompiled when it changes, unless a rule names it"


# --- libraries


def test_library_is_older_than_its_object(lab):
    build(lab, "-fPIC -MMD")
    lab.sh("g++ -shared main.o -o libmain.so")
    assert stale(lab, "main.o", "libmain.so") == []
    age(lab, "libmain.so", 60)
    [finding] = stale(lab, "main.o", "libmain.so")
    assert finding["message"] == "libmain.so is older than main.o"
    assert stale(lab, "--", "g++", "-shared", "main.o", "-o", "libmain.so") == []  # about to be linked again


def test_library_of_other_objects(lab):
    project(lab)
    lab.sh("g++ -c main.cpp -o main.o; echo 'int state;' > other.cpp; g++ -fPIC -shared other.cpp -o libother.so")
    age(lab, "libother.so", 60)
    assert stale(lab, "main.o", "libother.so") == []


# --- archives: what is linked is the member, whatever the object on disk is by now

OLD = "struct S { int a; int b; };\n"
NEW = "struct S { int c; int a; int b; };\n"
STATIC = """cmake_minimum_required(VERSION 3.21)
project(p CXX)
add_library(l STATIC l.cpp)
add_executable(m m.cpp)
target_link_libraries(m l)
"""
STATIC_SOURCES = {
    "s.h": OLD,
    "l.cpp": '#include "s.h"\nint f(S* s) { return s->b; }\n',
    "m.cpp": '#include "s.h"\nint f(S*);\nint main() { S s{1, 2}; return f(&s); }\n',
}
LINE = ["--", "g++", "b/CMakeFiles/m.dir/m.cpp.o", "b/libl.a", "-o", "m"]


def built_by_cmake(lab, generator="Ninja", options=""):
    need("cmake", "ninja" if generator == "Ninja" else "make")
    lab.write("CMakeLists.txt", STATIC)
    for name, text in STATIC_SOURCES.items():
        lab.write(name, text)
    lab.sh(f"cmake -G '{generator}' {options} -S . -B b && cmake --build b")
    return lab


def compile_again(lab, target, object, generator="Ninja"):
    """Runs the one step of the build that makes the object, and not the ones behind it."""
    if generator == "Ninja":
        lab.sh(f"ninja -C b CMakeFiles/{target}.dir/{object}")
    else:
        lab.sh(f"rm b/CMakeFiles/{target}.dir/{object}; make -C b -f CMakeFiles/{target}.dir/build.make CMakeFiles/{target}.dir/{object}")


GENERATORS = pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
WAYS = pytest.mark.parametrize("way", [["-p", "b"], LINE, ["b/CMakeFiles/m.dir/m.cpp.o", "b/libl.a"]])


@pytest.mark.deep
@GENERATORS
@WAYS
def test_archive_is_older_than_its_object(lab, generator, way):
    built_by_cmake(lab, generator)
    assert stale(lab, *way) == []
    lab.write("s.h", NEW)
    compile_again(lab, "m", "m.cpp.o", generator)
    compile_again(lab, "l", "l.cpp.o", generator)
    assert lab.sh("g++ b/CMakeFiles/m.dir/m.cpp.o b/libl.a -o m; ./m", check=False).code == 2  # 0 is right
    [finding] = stale(lab, *way)
    assert finding["message"] == "b/libl.a(l.cpp.o) is older than b/CMakeFiles/l.dir/l.cpp.o, which it was made from"
    assert [(s["path"], s["member"]) for s in finding["sites"]] == [("b/libl.a", "l.cpp.o")]
    again = "ninja -C b libl.a" if generator == "Ninja" else "make -C b"
    assert f"what is linked is the member, not the object: run {again}" in finding["notes"]
    lab.sh(again)
    assert stale(lab, *way) == []


@pytest.mark.deep
@GENERATORS
@WAYS
def test_header_is_newer_than_the_object_in_an_archive(lab, generator, way):
    built_by_cmake(lab, generator)
    lab.write("s.h", NEW)
    compile_again(lab, "m", "m.cpp.o", generator)
    [finding] = stale(lab, *way)
    assert finding["message"] == "b/libl.a(l.cpp.o) is older than s.h"
    assert finding["sites"][0]["notes"][0] == "a copy of b/CMakeFiles/l.dir/l.cpp.o"
    again = "ninja -C b libl.a" if generator == "Ninja" else "make -C b"
    assert f"the build tracks these files: run {again}" in finding["notes"]


def test_member_differs_from_an_older_object(lab):
    """The archive was touched, or came from a cache: its time says nothing."""
    built_by_cmake(lab)
    lab.write("s.h", NEW)
    lab.sh("ninja -C b CMakeFiles/m.dir/m.cpp.o CMakeFiles/l.dir/l.cpp.o; sleep 0.01; touch b/libl.a")
    [finding] = stale(lab, "-p", "b")
    assert finding["message"] == "b/libl.a(l.cpp.o) differs from b/CMakeFiles/l.dir/l.cpp.o, which it was made from"


@pytest.mark.deep
@pytest.mark.parametrize("later", [
    "touch b/CMakeFiles/l.dir/l.cpp.o",                                             # newer, and equal
    "strip -g b/libl.a",                                                            # without its debug info
    "strip -g b/libl.a; touch b/CMakeFiles/l.dir/l.cpp.o",
    "objcopy --redefine-sym _Z1fP1S=_Z1gP1S b/libl.a",                              # a step behind ar
    "rm -r b/CMakeFiles/l.dir",                                                     # no object to compare with
])  # fmt: skip
def test_archives_that_are_not_stale(lab, later):
    built_by_cmake(lab, options="-DCMAKE_BUILD_TYPE=Debug")
    lab.sh(later)
    assert stale(lab, "b/libl.a") == [] and stale(lab, "b/CMakeFiles/m.dir/m.cpp.o", "b/libl.a") == []


def test_archives_that_were_copied_or_installed(lab):
    built_by_cmake(lab)
    lab.sh("mkdir -p prefix/lib && cp b/libl.a prefix/lib && touch -d '1 hour ago' prefix/lib/libl.a")
    lab.cc("prefix/lib/l.cpp.o", "int of_another_program();\nint other = of_another_program();")
    assert stale(lab, "prefix/lib/libl.a") == []
    assert stale(lab, "--", "g++", "b/CMakeFiles/m.dir/m.cpp.o", "prefix/lib/libl.a", "-o", "m") == []


def test_archive_outside_of_the_build_folder(lab):
    built_by_cmake(lab, options="-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=$PWD/lib")
    lab.write("s.h", NEW)
    compile_again(lab, "l", "l.cpp.o")
    for way in (["-p", "b"], ["--", "g++", "b/CMakeFiles/m.dir/m.cpp.o", "lib/libl.a", "-o", "m"]):
        [finding] = [f for f in stale(lab, *way) if "lib/libl.a" in f["message"]]
        assert finding["message"].endswith("lib/libl.a(l.cpp.o) is older than b/CMakeFiles/l.dir/l.cpp.o, which it was made from")


def test_members_of_one_name(lab):
    need("ninja")
    for folder, value in (("x", 1), ("y", 2)):
        lab.write(f"{folder}/a.cpp", f"int {folder}() {{ return {value}; }}\n")
    lab.write(
        "build.ninja",
        "rule cxx\n  command = g++ -c $in -o $out\nrule ar\n  command = rm -f $out && ar rcsD $out $in\n"
        "build x/a.o: cxx x/a.cpp\nbuild y/a.o: cxx y/a.cpp\nbuild libxy.a: ar x/a.o y/a.o\n",
    )
    lab.sh("sed -i 's/rcsD/qcsD/' build.ninja; ninja")
    assert stale(lab, "libxy.a") == []
    lab.write("y/a.cpp", "int y() { return 33; }\n")
    lab.sh("ninja y/a.o")
    [finding] = stale(lab, "libxy.a")
    assert finding["message"] == "libxy.a(a.o) is older than y/a.o, which it was made from"


def test_archives_by_their_build_lines_alone(lab):
    """Of build.ninja only the lines about archives are read: with all that ninja allows in them."""
    need("ninja")
    lab.write("a.cpp", "int a() { return 1; }\n")
    lab.write("b.cpp", "int b() { return 1; }\n")
    lab.write("rules.ninja", "rule cxx\n  command = g++ -c $in -o $out\nrule ar\n  command = rm -f $out && ar rcsD $out @$out.rsp\n"
              "  rspfile = $out.rsp\n  rspfile_content = $in\n")
    lab.write("build.ninja", "include rules.ninja\nlib = my$ libs\nbuild a.o: cxx $\n    a.cpp\n  depth = 1\nbuild b.o: cxx b.cpp\n"
              "build $lib/libab.a $\n    : ar a.o $\n    b.o | a.cpp || b.cpp\n  pool = console\nbuild other: phony a.o\n")
    lab.sh("mkdir 'my libs' && ninja")
    assert stale(lab, "my libs/libab.a") == []
    lab.write("b.cpp", "int b() { return 2; }\n")
    lab.sh("ninja b.o")
    [finding] = stale(lab, "my libs/libab.a")
    assert finding["message"] == "my libs/libab.a(b.o) is older than b.o, which it was made from"
    assert "what is linked is the member, not the object: run ninja -C . my libs/libab.a" in finding["notes"]


def test_many_members_are_one_finding(lab):
    for name in "abc":
        lab.cc(f"{name}.o", f"int {name}() {{ return 1; }}", "g++")
    lab.ar("libabc.a", "a.o", "b.o", "c.o")
    assert stale(lab, "libabc.a") == []
    for name in "ac":
        lab.cc(f"{name}.o", f"int {name}() {{ return 2; }}", "g++")
    [finding] = stale(lab, "libabc.a")  # no build file: by the objects beside it
    assert finding["message"] == "libabc.a is older than 2 of the objects it was made from" and len(finding["sites"]) == 2
    assert "what is linked is the member, not the object: run ar rcs libabc.a a.o c.o" in finding["notes"]


def test_libraries_of_setuptools(lab):
    """build_clib keeps the folders of the sources below that of the archive."""
    need("gcc")
    lab.write("src/foo.c", "int foo(void) { return 1; }\n")
    lab.write("setup.py", "from setuptools import setup\nsetup(name='p', version='1', libraries=[('foo', {'sources': ['src/foo.c']})])\n")
    if lab.sh("/usr/bin/python3 setup.py -q build_clib", check=False).code != 0:
        pytest.skip("needs setuptools, which is not installed")
    [archive] = [str(p.relative_to(lab.path)) for p in lab.path.glob("build/temp*/libfoo.a")]
    object = archive.replace("libfoo.a", "src/foo.o")
    assert stale(lab, archive) == []
    lab.write("src/foo.c", "int foo(void) { return 2; }\n")
    lab.sh(f"gcc -c src/foo.c -o {object}")
    [finding] = stale(lab, archive)
    assert finding["message"] == f"{archive}(foo.o) is older than {object}, which it was made from"


def test_thin_archive(lab):
    """Its members are the objects: only what these were made from can be newer."""
    project(lab)
    lab.sh("g++ -MMD -c main.cpp -o main.o && ar rcT libmain.a main.o && touch main.o")
    assert stale(lab, "libmain.a") == []
    age(lab, "main.o", 60)
    age(lab, "main.cpp", 120)
    [finding] = stale(lab, "libmain.a")
    assert finding["message"] == "libmain.a(main.o) is older than state.h"


def test_fresh_with_meson(lab):
    need("meson", "ninja")
    for name, text in STATIC_SOURCES.items():
        lab.write(name, text)
    lab.write("meson.build", "project('p', 'cpp')\nl = static_library('l', 'l.cpp')\nexecutable('m', 'm.cpp', link_with: l)\n")
    lab.sh("meson setup b && ninja -C b")
    assert stale(lab, "-p", "b") == []
    lab.write("s.h", NEW)
    [finding] = [f for f in stale(lab, "-p", "b") if "older than s.h" in f["message"]]
    assert any("libl.a" in site["path"] for site in finding["sites"])
