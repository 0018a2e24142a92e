"""Functions of one name whose prototypes differ: nvlink compares what .nv.prototype and .nv.callgraph say."""

import pytest

from elfaudit_test import Lab, need
from nvlink import agree, compile_all

need("nvcc", "nvlink")

pytestmark = pytest.mark.deep

DEFINED = 'extern "C" __device__ __noinline__ int f(int x) { return x; }'
ADDRESS = '__device__ int (*pointer)(int) = f;'
SOURCES = {
    "int": DEFINED,
    "int-address": f"{DEFINED} {ADDRESS}",
    "uses-int": 'extern "C" __device__ int f(int); __global__ void k1(int* p) { *p = f(1); }',
    "uses-float": 'extern "C" __device__ float f(float); __global__ void k2(float* p) { *p = f(1); }',
    "uses-double": 'extern "C" __device__ double f(int); __global__ void k3(double* p) { *p = f(1); }',
    "uses-double-too": 'extern "C" __device__ double f(int); __global__ void k4(double* p) { *p = f(1); }',
    "uses-two": 'extern "C" __device__ int f(int, int); __global__ void k5(int* p) { *p = f(1, 2); }',
    "uses-void": 'extern "C" __device__ void f(int); __global__ void k6() { f(1); }',
    "uses-pointer": 'extern "C" __device__ int f(int*); __global__ void k7(int* p) { *p = f(p); }',
    "uses-struct": 'struct S { int x[3]; }; extern "C" __device__ int f(S); __global__ void k8(int* p) { *p = f(S{}); }',
    "uses-variadic": 'extern "C" __device__ int f(int, ...); __global__ void k9(int* p) { *p = f(1, 2); }',
    "two-floats": 'extern "C" __device__ float f(float x, float y) { return x; }',
    "weak": 'template <class T> __device__ __noinline__ int g(T x) { return x; } __global__ void ka(int* p) { *p = g(1); }',
    "weak-other": 'template <class T> __device__ __noinline__ int g(T x) { return x + 1; } __global__ void kb(int* p) { *p = g(1); }',
    "dead-double": 'extern "C" __device__ double f(int); __device__ double nobody_calls_it() { return f(1); }',
}
BOTH = {"duplicate f", "prototype f"}
MISMATCH = {"prototype f"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("prototypes"))
    compile_all(lab, SOURCES)
    return lab


@pytest.mark.parametrize(
    "first, second, expected",
    [
        ("int", "uses-int", set()),
        ("int", "uses-float", set()),  # both are 32 bits
        ("int", "uses-double", MISMATCH),
        ("int", "uses-two", MISMATCH),
        ("int", "uses-void", MISMATCH),
        ("int", "uses-pointer", MISMATCH),
        ("int", "uses-struct", MISMATCH),
        ("int", "uses-variadic", MISMATCH),
        ("int", "dead-double", MISMATCH),
        ("int", "two-floats", BOTH),
        ("int", "int-address", {"duplicate f"}),
        ("weak", "weak-other", set()),
    ],
)
def test_both_orders(bench, first, second, expected):
    for words in (f"{first}.o {second}.o", f"{second}.o {first}.o"):
        assert agree(bench, words) == expected
        assert agree(bench, words, "sm_90") == expected  # of which there is PTX only


def test_undefined_ones_are_compared_too(bench):
    assert agree(bench, "uses-int.o uses-double.o") == MISMATCH
    assert agree(bench, "uses-double.o uses-double-too.o int.o") == MISMATCH


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_taking_the_address_binds_later_objects_only(bench, arch):
    assert agree(bench, "int-address.o uses-double.o", arch) == MISMATCH
    assert agree(bench, "uses-double.o int-address.o", arch) == set()
    assert agree(bench, "uses-double.o int-address.o uses-double-too.o", arch) == MISMATCH
    assert agree(bench, "uses-double.o int-address.o uses-int.o", arch) == set()
