"""check -p on builds whose device link nvlink rejects: hand-written ninja, and CMake's separable compilation."""

import pytest

from elfaudit_test import need

need("nvcc", "nvlink", "ninja", "g++")

pytestmark = pytest.mark.deep

NINJA = """
rule cu
  command = nvcc -w -rdc=true -arch=sm_80 -c $in -o $out
rule dlink
  command = nvcc -arch=sm_80 -dlink $in -o $out
rule link
  command = g++ $in -lcudadevrt -lcudart_static -o $out
build k1.o: cu ../k1.cu
build k2.o: cu ../k2.cu
build d.o: dlink k1.o k2.o
build app: link k1.o k2.o d.o
"""
TWICE = {
    "kernel": "__global__ void k(int* p) { *p = 1; }",
    "function": "__device__ int f(int x) { return x; }",
    "variable": "__device__ int v = 1;",
    "kernel-in-a-namespace": "namespace n { __global__ void k(int* p, long x) { *p = x; } }",
}


def findings(result):
    return [(f["rule"], f["symbol"]) for f in result.json()["findings"]]


@pytest.mark.parametrize("thing", TWICE)
def test_one_story(lab, thing):
    """The stub of a kernel and the shadow of a variable are defined twice in the host link: that is the same finding."""
    lab.write("k1.cu", TWICE[thing] + " int main() {}")
    lab.write("k2.cu", TWICE[thing])
    lab.write("b/build.ninja", NINJA)
    assert lab.sh("ninja -C b", check=False).code != 0
    alone = lab.audit("check", "--format", "json", "--", "nvcc", "-rdc=true", "-arch=sm_80", "b/k1.o", "b/k2.o", "-o", "app")
    build = lab.audit("check", "--format", "json", "-p", "b")
    assert findings(build) == findings(alone) and [rule for rule, _ in findings(build)] == ["device-duplicate-definition"]
    assert build.code == alone.code == 1 and build.json()["complete"]
    text = lab.audit("check", "-p", "b").out
    assert text.count("the host link of b/app would fail too: the compiler emits a host symbol") == 1, text
    assert "b/app: not built, because of the finding above in the link of b/d.o" in text and "ninja -C" not in text


CMAKE = """cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)
add_library(liba STATIC a.cu)
add_library(libb STATIC b.cu)
add_executable(app main.cu)
target_link_libraries(app libb liba)
set_target_properties(app PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)
"""


@pytest.mark.parametrize("generator", ["Ninja", pytest.param("Unix Makefiles", marks=pytest.mark.nightly)])
def test_cmake(lab, generator):
    need("cmake", "make")
    lab.write("CMakeLists.txt", CMAKE)
    lab.write("state.cuh", "#pragma once\n__device__ int g_state;\n")
    for name in "ab":
        lab.write(f"{name}.cu", f'#include "state.cuh"\n__global__ void k{name}(int* p) {{ *p = g_state; }}\nvoid run_{name}() {{}}\n')
    lab.write("main.cu", "void run_b(); int main() { run_b(); }")
    lab.sh(f'cmake -S . -B b -G "{generator}"')
    built = lab.sh("cmake --build b", check=False)
    assert built.code != 0 and "Multiple definition of 'g_state'" in built.out + built.err, built
    result = lab.audit("check", "-p", "b", "--format", "json")
    assert findings(result) == [("device-duplicate-definition", "g_state")] and result.code == 1, result
    text = lab.audit("check", "-p", "b").out
    assert "b/app: not built, because of the finding above" in text and "is not extracted" not in text, text
