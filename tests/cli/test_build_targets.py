"""check -p: the target of the same build that defines what is undefined, and a fix in CMake's words that makes the build pass."""

import os
import shlex

import pytest

from elfaudit_test import need

need("gcc", "cmake", "ninja")

SOURCES = {
    "main.c": "int util(void);\nint main(void) {\n  return util();\n}\n",
    "needs_core.c": "int core(void);\nint main(void) {\n  return core();\n}\n",
    "util.c": "int core(void);\nint util(void) { return core(); }\n",
    "core.c": "int core(void) { return 1; }\n",
    "tools/tool.c": "int core(void);\nint main(void) { return core(); }\n",
}
OTHER = "add_executable(other tool.c)\n"
# Kind: the targets, the cause, the fix.
BUILDS = {
    "library": ("add_library(core STATIC core.c)\nadd_executable(app needs_core.c)", "b/libcore.a of this build defines it (target core)", "target_link_libraries(app PRIVATE core)"),
    "shared library": ("add_library(core SHARED core.c)\nadd_executable(app needs_core.c)", "b/libcore.so of this build", "target_link_libraries(app PRIVATE core)"),
    "library of a library": ("add_library(core STATIC core.c)\nadd_library(util STATIC util.c)\nadd_executable(app main.c)\ntarget_link_libraries(app util)", "not linked behind util", "target_link_libraries(util PRIVATE core)"),
    "wrong order": ("add_library(core STATIC core.c)\nadd_library(util STATIC util.c)\nadd_executable(app main.c)\ntarget_link_libraries(app core util)", "not linked behind util", "target_link_libraries(util PRIVATE core)"),
    "object of another program": ("add_executable(tool tools/tool.c core.c)\nadd_executable(app needs_core.c)", "core.c.o of this build", "target_sources(app PRIVATE core.c)"),
    "object library": ("add_library(parts OBJECT core.c)\nadd_executable(app needs_core.c)", "(target parts)", "target_link_libraries(app PRIVATE parts)"),
    "source of no target": ("add_executable(app needs_core.c)", "core.c:1 defines it", "target_sources(app PRIVATE core.c)"),
    "object from another folder": ("add_executable(tool tools/tool.c core.c)\nadd_subdirectory(tools)", "core.c.o of this build", "target_sources(other PRIVATE ../core.c)"),
    "library's own folder": ("add_subdirectory(sub)\nadd_executable(app needs_core.c)", "b/sub/libcore.a", "target_link_libraries(app PRIVATE core)"),
}


@pytest.mark.deep
@pytest.mark.parametrize("generator, kind", [("Ninja", kind) for kind in BUILDS] + [("Unix Makefiles", kind) for kind in ("library", "wrong order")])
def test_a_target_of_the_build(lab, generator, kind):
    targets, cause, fix = BUILDS[kind]
    for name, text in SOURCES.items():
        lab.write(name, text)
    lab.write("sub/CMakeLists.txt", "add_library(core STATIC ../core.c)\n")
    lab.write("tools/CMakeLists.txt", OTHER)
    lists = "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\n" + targets + "\n"
    lab.write("CMakeLists.txt", lists)
    lab.sh(f'cmake -S . -B b -G "{generator}"')
    assert lab.sh("cmake --build b -- -k 0" if generator == "Ninja" else "cmake --build b -- -k", check=False).code != 0
    result = lab.audit("check", "--format", "json", "-p", "b")
    [finding] = result.json()["findings"]
    assert finding["cause"]["kind"] == ("source-not-linked" if "no target" in kind else "target-not-linked") and cause in finding["cause"]["text"], finding
    assert finding["fixes"][0]["text"] == fix, finding
    lab.write("tools/CMakeLists.txt" if "another folder" in kind else "CMakeLists.txt", (OTHER if "another folder" in kind else lists) + fix.replace(" and ", "\n") + "\n")
    lab.sh("cmake --build b")
    assert lab.audit("check", "-p", "b").code == 0


NINJA = """
rule cc
  command = gcc -c $in -o $out
rule ar
  command = ar rcs $out $in
rule link
  command = gcc $in -o $out
build main.o: cc needs_core.c
build core.o: cc core.c
build libcore.a: ar core.o
build app: link main.o
"""


def test_a_build_that_is_not_cmakes(lab):
    for name, text in SOURCES.items():
        lab.write(name, text)
    lab.write("build.ninja", NINJA)
    lab.sh("ninja -k 0", check=False)
    [finding] = lab.audit("check", "--format", "json", "-p", ".").json()["findings"]
    assert finding["fixes"][0]["text"] == "add libcore.a to what app is made of", finding


def test_shared_libraries_that_would_need_each_other(lab):
    """CMake refuses that: what is missing has to go into the lower one."""
    lab.write("low.c", "int high(void);\nint low(void) { return high(); }\n")
    lab.write("high.c", "int low(void);\nint high(void) { return low(); }\n")
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\nadd_library(low SHARED low.c)\ntarget_link_options(low PRIVATE -Wl,-z,defs)\n"
              "add_library(high SHARED high.c)\ntarget_link_libraries(high low)\n")
    lab.sh("cmake -S . -B b -G Ninja; cmake --build b -- -k 0", check=False)
    findings = lab.audit("check", "--format", "json", "-p", "b", "low").json()["findings"]
    assert findings and not any("target_link_libraries" in fix["text"] for f in findings for fix in f["fixes"]), findings


def test_the_launcher_knows_the_build(lab):
    for name, text in SOURCES.items():
        lab.write(name, text)
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\n" + BUILDS["library"][0])
    lab.sh("cmake -S . -B b -G Ninja; cmake --build b -- -k 0", check=False)
    said = lab.sh("cd b && " + shlex.quote(os.environ["ELFAUDIT"]) + " link -- gcc CMakeFiles/app.dir/needs_core.c.o -o app", check=False)
    assert "target_link_libraries(app PRIVATE core)" in said.out + said.err, said
