"""elfaudit explain: any spelling of a name, in files and in builds, for people and for programs; and names on standard input."""

import json
import os
import subprocess

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++")


@pytest.fixture
def objects(lab):
    lab.write("inc/state.h", "namespace ns {\nint state = 3;\nint helper(int a, char const* b);\n}\n")
    lab.cc("a.o", '#include "inc/state.h"\nint ns::helper(int a, char const*) { return a; }\ntemplate <class T> T twice(T a) { return a + a; }\ntemplate int twice<int>(int);', "g++ -g")
    lab.cc("b.o", '#include "inc/state.h"\nint missing(int);\nint main() { return ns::helper(1, "") + missing(2); }', "g++ -g")
    return ["a.o", "b.o"]


@pytest.mark.parametrize("spelling, symbol", [
    ("_ZN2ns5stateE", "_ZN2ns5stateE"), ("ns::state", "_ZN2ns5stateE"), ("state", "_ZN2ns5stateE"), ("NS::State", "_ZN2ns5stateE"),
    ("ns::helper(int, char const*)", "_ZN2ns6helperEiPKc"), ("ns::helper(int,char const*)", "_ZN2ns6helperEiPKc"),
    ("ns::helper", "_ZN2ns6helperEiPKc"), ("helper", "_ZN2ns6helperEiPKc"), ("HELPER", "_ZN2ns6helperEiPKc"), ("twice", "_Z5twiceIiET_S0_"),
    ("int twice<int>(int)", "_Z5twiceIiET_S0_"),
])  # fmt: skip
def test_any_spelling(lab, objects, spelling, symbol):
    (report,) = lab.audit("explain", spelling, *objects, "--format", "json").json()["symbols"]
    assert report["symbol"] == symbol


def test_a_linkers_name_means_itself_alone(lab):
    lab.cc("a.o", 'extern "C" int f() { return 1; }\nint f(int) { return 2; }\nnamespace n { int g(int) { return 1; } int g(char) { return 2; } }')
    assert lab.audit("explain", "f", "a.o").out.startswith("f\n")
    assert [report["demangled"] for report in lab.audit("explain", "g", "a.o", "--format", "json").json()["symbols"]] == ["n::g(char)", "n::g(int)"]


def test_near_names_are_suggested(lab, objects):
    result = lab.audit("explain", "hepler", *objects)
    assert (result.code, result.err) == (2, "elfaudit: no input mentions 'hepler'; similar: ns::helper(int, char const*)\n")
    assert lab.audit("explain", "qqqqqqqq", *objects).err == "elfaudit: no input mentions 'qqqqqqqq'\n"


def test_cause_fix_and_includes(lab, objects):
    out = lab.audit("explain", "state", *objects).out
    for words in ("  cause       the header defines", "  fix         make it `inline` in inc/state.h:2", "included from a.cpp:1", "included from b.cpp:1"):
        assert words in out, out


def test_an_undefined_symbol(lab, objects):
    out = lab.audit("explain", "missing", "--", "g++", *objects, "-o", "app").out
    assert "no input of the link defines it" in out and "b.cpp:3 (debug info)" in out and "no library in the search path defines it" in out, out


def test_in_each_link_of_a_build(lab):
    need("cmake", "ninja")
    lab.write("core.cpp", "int core() { return 1; }\n")
    lab.write("main.cpp", "int core();\nint main() { return core(); }\n")
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nadd_library(core core.cpp)\n"
              "add_executable(one main.cpp)\ntarget_link_libraries(one core)\nadd_executable(two main.cpp)\ntarget_link_libraries(two core)\n")
    lab.sh("cmake -G Ninja -B build . >/dev/null && ninja -C build >/dev/null")
    reports = lab.audit("explain", "core", "-p", "build", "--format", "json").json()["symbols"]
    assert [(report["symbol"], report["link"]) for report in reports] == [("_Z4corev", "build/one"), ("_Z4corev", "build/two")]
    assert len(lab.audit("explain", "core", "-p", "build", "two", "--format", "json").json()["symbols"]) == 1
    assert "core() (_Z4corev) in the link of build/one\n" in lab.audit("explain", "core", "-p", "build").out


def test_the_schema(lab, objects):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema/elfaudit-explain-1.schema.json").read_text())
    for spelling in ("state", "missing", "helper"):
        jsonschema.validate(lab.audit("explain", spelling, *objects, "--format", "json").json(), schema)


@pytest.mark.parametrize("names", ["a.o\nb.o\n", "a.o\0b.o\0", "\n\na.o\nb.o"])
def test_names_on_standard_input(lab, objects, names):
    for command in (["check"], ["explain", "state"], ["list", "members"]):
        piped = subprocess.run([os.environ["ELFAUDIT"], *command, "-"], cwd=lab.path, input=names, text=True, capture_output=True)
        assert (piped.returncode, piped.stdout) == ((given := lab.audit(*command, *objects)).code, given.out)


def test_help_is_a_command(lab):
    assert lab.audit("help").out == lab.audit("--help").out and lab.audit("help", "check").out == lab.audit("check", "--help").out
    result = lab.audit("help", "chek")
    assert result.code == 2 and "unknown command 'chek'; did you mean 'check'?" in result.err
