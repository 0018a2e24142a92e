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
    assert finding["message"] == "out/main.o is older than 2 of the files it was made from"
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
    assert "what the debug info names of it is still in the same lines" in finding["notes"]
    assert "the build knows of these files: run it again" in finding["notes"]


def test_header_says_something_else(lab):
    build(lab)
    age(lab, "main.o", 60)
    age(lab, "main.cpp", 120)
    lab.write("state.h", "// a new first line\n" + HEADER)
    [finding] = stale(lab, "main.o")
    assert "state.h:1 no longer has one, which the object was compiled with; it is in line 2 now" in finding["notes"]
    lab.write("state.h", "extern int state;\nint renamed();\n")
    [finding] = stale(lab, "main.o")
    assert "state.h:1 no longer has one, which the object was compiled with" in finding["notes"]


def test_header_is_gone(lab):
    build(lab)
    (lab.path / "state.h").unlink()
    [finding] = stale(lab, "main.o")
    assert finding["message"] == "main.o was made from state.h, which is no longer there"


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
    assert any(note.startswith("no depfile or ninja log lists state.h: the build won't compile it again") for note in finding["notes"])


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
    assert finding["message"] == "nothing tracks state.h: main.o is not compiled again when it changes"


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
