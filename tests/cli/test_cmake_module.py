"""elfaudit_audit(): a target is audited before it is linked, by find_package(elfaudit) as an installed package has it."""

import os
import pathlib
import re
import shlex
import shutil

import pytest

from elfaudit_test import need

need("cmake", "ninja", "make", "g++")
GENERATORS = ["Ninja", pytest.param("Unix Makefiles", marks=pytest.mark.nightly)]


@pytest.fixture
def package(lab):
    """The package as installed, with the program under test in it."""
    build = pathlib.Path(os.environ["ELFAUDIT"]).parent
    if not (build / "cmake_install.cmake").exists():
        pytest.skip("needs a program that lies in its build folder")
    for component in ("program", "cmake"):
        lab.sh(f"cmake --install {shlex.quote(str(build))} --prefix prefix --component {component}")
    return lab


def project(lab, text, sources, languages="CXX"):
    head = f"cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES {languages})\nfind_package(elfaudit REQUIRED)\n"
    lab.write("CMakeLists.txt", head + text)
    for name, source in sources.items():
        lab.write(name, source)


def build(lab, generator="Ninja", *words):
    """The configured and built project: its exit code and what it printed."""
    shutil.rmtree(lab.path / "b", ignore_errors=True)
    configured = lab.sh(f'cmake -S . -B b -G "{generator}" -DCMAKE_PREFIX_PATH=$PWD/prefix {" ".join(words)}', check=False)
    return lab.sh("cmake --build b -v 2>&1", check=False) if configured.code == 0 else configured


TWICE = {"a.cpp": "int state = 1; int main() {}", "b.cpp": "int state = 2;"}


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("kind", ["add_executable(t", "add_library(t SHARED", "add_library(t MODULE", "add_library(t STATIC"])
def test_stops_before_the_link(package, generator, kind):
    project(package, f"{kind} a.cpp b.cpp)\nelfaudit_audit(TARGET t)\n", TWICE)
    result = build(package, generator)
    assert result.code != 0 and "error: state is defined twice" in result.out, result
    assert "multiple definition of" not in result.out and not list((package.path / "b").glob("libt.*")), result


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_clean_target_is_built_in_silence(package, generator):
    project(package, "add_library(s STATIC b.cpp)\nadd_executable(t a.cpp)\ntarget_link_libraries(t s)\n"
            "elfaudit_audit(TARGET t)\nelfaudit_audit(TARGET s)\n",
            {"a.cpp": "int f(); int main() { return f(); }", "b.cpp": "int f() { return 0; }"})
    result = build(package, generator)
    assert result.code == 0 and (package.path / "b/t").exists() and "clean: " not in result.out, result
    # What -p reads of it is the link command behind the audit.
    result = package.audit("check", "-p", "b", "t")
    assert result.code == 0 and "of 1 link" in result.out, result


def test_what_to_edit_lies_outside_of_the_build_folder(package):
    project(package, "add_executable(t a.cpp b.cpp)\nelfaudit_audit(TARGET t)\n",
            {"state.h": "int state = 1;", "a.cpp": '#include "state.h"\nint main() {}', "b.cpp": '#include "state.h"'})
    result = build(package)
    assert result.code != 0 and "make it `inline` in" in result.out and "state.h:1" in result.out, result


def test_options(package):
    project(package, 'add_executable(t a.cpp)\nelfaudit_audit(TARGET t FAIL_ON warning GPU_ARCH "8.0;9.0a+PTX" OPTIONS --severity '
            "gpu-arch-missing=off)\n", {"a.cpp": "int main() {}"})
    result = build(package)
    assert result.code == 0, result
    assert "link --gate --severity gpu-arch-missing=off --fail-on warning --gpu-arch 8.0,9.0a+PTX -- /" in result.out, result


def test_the_baseline_of_a_build_is_written_from_it(package):
    project(package, "add_executable(t a.cpp b.cpp)\nelfaudit_audit(TARGET t OPTIONS --baseline ${CMAKE_SOURCE_DIR}/known.json)\n",
            {"a.cpp": "int main() {}", "b.cpp": "int b;"})
    result = build(package)
    assert result.code != 0 and "create one with --write-baseline" in result.out + result.err, result
    assert package.audit("check", "--write-baseline", "known.json", "-p", "b").code == 0
    assert package.sh("cmake --build b").code == 0


@pytest.mark.deep
@pytest.mark.parametrize("generator", GENERATORS)
def test_what_can_not_be_read_stops_the_link(package, generator):
    package.write("libbroken.a", "!<arch>\nno header of a member, and long enough for one: 60 bytes and some more\n")
    project(package, "add_executable(t a.cpp)\ntarget_link_libraries(t ${CMAKE_SOURCE_DIR}/libbroken.a)\nelfaudit_audit(TARGET t)\n",
            {"a.cpp": "int main() {}"})
    result = build(package, generator)
    assert result.code != 0 and "libbroken.a" in result.out and "[unreadable-input]" in result.out and not (package.path / "b/t").exists(), result


def test_warn_only(package):
    project(package, "add_executable(t a.cpp b.cpp)\nelfaudit_audit(TARGET t WARN_ONLY)\n", TWICE)
    result = build(package)
    assert result.code != 0 and "state is defined twice" in result.out and "multiple definition of" in result.out, result


HEADER_TWICE = {"state.h": "#pragma once\nint state = 1;", "a.cpp": '#include "state.h"\nint main() {}', "b.cpp": '#include "state.h"\nint g() { return state; }'}


@pytest.mark.parametrize("generator", GENERATORS)
def test_index_has_the_audit_read_facts(package, generator):
    project(package, "add_executable(t a.cpp b.cpp)\nelfaudit_audit(TARGET t INDEX)\n", HEADER_TWICE)
    result = build(package, generator, "-DCMAKE_CXX_FLAGS=-g", "-DCMAKE_CXX_COMPILER_LAUNCHER=env")
    assert result.code != 0 and "error: state is defined twice" in result.out and "state.h:2" in result.out, result
    assert re.search(r"elfaudit index -- \S*env \S*c\+\+ ", result.out) and "link --facts --gate -- " in result.out, result
    objects = sorted((package.path / "b/CMakeFiles/t.dir").glob("*.cpp.o"))
    assert len(objects) == 2 and all(pathlib.Path(f"{one}.facts").exists() for one in objects), objects
    of_objects = package.audit("check", "-p", "b").out
    assert "state is defined twice" in of_objects and package.audit("check", "--facts", "-p", "b").out == of_objects
    before = {one: one.stat().st_mtime_ns for one in objects}
    package.write("b.cpp", "int g() { return 0; }")
    package.sh("cmake --build b 2>&1")
    made_again = [one.name for one in objects if one.stat().st_mtime_ns != before[one]]
    assert (package.path / "b/t").exists() and made_again == ["b.cpp.o"], made_again
    assert all(pathlib.Path(f"{one}.facts").stat().st_mtime_ns == one.stat().st_mtime_ns for one in objects)


def test_index_keeps_types_for_the_rule_that_compares_them(package):
    project(package, "add_executable(t a.cpp b.cpp)\nelfaudit_audit(TARGET t INDEX FAIL_ON note OPTIONS --severity divergent-definition=on)\n",
            {"a.cpp": "struct S { int x; };\nint f(S* s) { return s->x; }\nint main() {}",
             "b.cpp": "struct S { long x; };\nlong g(S* s) { return s->x; }"})
    result = build(package, "Ninja", "-DCMAKE_CXX_FLAGS=-g")
    assert result.code != 0 and "[divergent-definition]" in result.out and " index --types -- " in result.out, result


def test_a_launcher_that_is_there_stays(package):
    package.write("say", '#!/bin/sh\necho said\nexec "$@"\n')
    (package.path / "say").chmod(0o755)
    project(package, "set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK ${CMAKE_SOURCE_DIR}/say)\nadd_executable(t a.cpp)\n"
            "elfaudit_audit(TARGET t OPTIONS --no-config)\n", {"a.cpp": "int main() {}"})
    result = build(package)
    assert result.code == 0 and "said" in result.out and "elfaudit link --gate --no-config --" in result.out, result


@pytest.mark.parametrize(
    "call, says",
    [
        ("elfaudit_audit()", "no TARGET"),
        ("elfaudit_audit(t)", "write elfaudit_audit(TARGET t)"),
        ("add_library(u STATIC a.txt)\nelfaudit_audit(TARGET t u)", "write elfaudit_audit(TARGETS t u)"),
        ("elfaudit_audit(TARGET nothing)", "there is no target nothing"),
        ("elfaudit_audit(TARGETS t nothing)", "there is no target nothing"),
        ("add_library(i INTERFACE)\nelfaudit_audit(TARGET i)", "i is not linked by this project (INTERFACE_LIBRARY)"),
        ("add_library(o OBJECT a.cpp)\nelfaudit_audit(TARGET o)", "o is not linked by this project (OBJECT_LIBRARY)"),
        ("elfaudit_audit(TARGET t GPUARCH 80)", "there is no argument GPUARCH; did you mean GPU_ARCH?"),
        ("elfaudit_audit(TARGET t nonsense)", "there is no argument nonsense; its arguments are"),
        ("elfaudit_audit(TARGET t FAIL_ON errors)", "it is error, warning, note or never; did you mean error?"),
        ("elfaudit_audit(TARGET t FAIL_ON)", "FAIL_ON has no value"),
        ("elfaudit_audit(TARGET t OPTIONS --no-such)", "unknown option --no-such"),
        ("elfaudit_audit(TARGET t GPU_ARCH 99x)", "'99x' is not a GPU architecture"),
    ],
)
def test_wrong_use(package, call, says):
    """Of languages none, so that CMake looks for no compiler."""
    project(package, f"add_library(t STATIC a.txt)\nset_target_properties(t PROPERTIES LINKER_LANGUAGE CXX)\n{call}\n", {"a.txt": "", "a.cpp": ""}, "NONE")
    result = build(package)
    assert result.code != 0 and says in " ".join(result.err.split()), result


@pytest.mark.parametrize(
    "program, says",
    [("/nonexistent", "names no program: /nonexistent"), ("/bin/true", "does not answer --version as elfaudit does"), ("$PWD/older", "is version 0.0.9")],
)
def test_another_program(package, program, says):
    package.write("older", "#!/bin/sh\necho elfaudit 0.0.9\n")
    (package.path / "older").chmod(0o755)
    project(package, "add_library(t STATIC a.txt)\nelfaudit_audit(TARGET t)\n", {"a.txt": ""}, "NONE")
    result = build(package, "Ninja", f"-DELFAUDIT_EXECUTABLE={program}")
    assert result.code != 0 and says in " ".join(result.err.split()), result


CUDA = "set_target_properties(t PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES 80)\nelfaudit_audit(TARGET t)\n"


@pytest.mark.deep
@pytest.mark.parametrize("generator", GENERATORS)
def test_the_device_link_is_audited_before_nvlink(package, generator):
    need("nvcc")
    project(package, "add_executable(t a.cu b.cu)\n" + CUDA,
            {"a.cu": "__device__ int state;\nint main() {}", "b.cu": "__device__ int state;\n__global__ void k() { state = 1; }"}, "CXX CUDA")
    result = build(package, generator)
    assert result.code != 0 and "state is defined twice in the device code for sm_80" in result.out, result
    assert "nvlink error" not in result.out, result
    result = package.audit("check", "-p", "b", "t")  # two links, one story
    assert result.out.count("is defined twice") == 1 and "the host link of b/t would fail too: the compiler emits a host symbol" in result.out, result


@pytest.mark.deep
@pytest.mark.parametrize("generator", GENERATORS)
def test_a_clean_cuda_target(package, generator):
    need("nvcc")
    project(package, "add_executable(t a.cu b.cu)\n" + CUDA,
            {"a.cu": "extern __device__ int state;\n__global__ void l() { state = 2; }\nint main() {}", "b.cu": "__device__ int state;"}, "CXX CUDA")
    result = build(package, generator)
    assert result.code == 0 and (package.path / "b/t").exists(), result
    result = package.audit("check", "-p", "b")
    assert result.code == 0 and "of 2 links" in result.out, result
