"""Definitions of one name in two objects, made by nvcc: elfaudit's verdict against the real nvlink's."""

import re

import pytest

from elfaudit_test import Lab, need, sampled
from nvlink import agree, compile_all, elfaudit

need("nvcc", "nvlink")

# Two sources, linked in both orders, and what must come out.
PAIRS = {
    "variable": (
        "__device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
        "__device__ int dv = 1; __global__ void kb(int* p) { *p = dv; }",
        {"duplicate dv"},
    ),
    "variable-without-initializer": ("__device__ int dv;", "__device__ int dv;", {"duplicate dv"}),
    "variable-initialized-once": ("__device__ int dv;", "__device__ int dv = 1;", {"duplicate dv"}),
    "variable-of-another-size": ("__device__ int dv = 1;", "__device__ int dv[4] = {1};", {"duplicate dv", "size dv"}),
    "variable-in-a-namespace": (
        "namespace lib { __device__ int state = 1; }",
        "namespace lib { __device__ int state = 1; }",
        {"duplicate _ZN3lib5stateE"},
    ),
    "constant": ("__constant__ int cv = 1;", "__constant__ int cv = 1;", {"duplicate cv"}),
    "managed": ("__managed__ int mv = 1;", "__managed__ int mv = 1;", {"duplicate mv"}),
    "managed-and-not": ("__managed__ int dv = 1;", "__device__ int dv = 1;", {"duplicate dv", "space dv"}),
    "another-memory-space": ("__constant__ int dv = 1;", "__device__ int dv = 1;", {"duplicate dv", "space dv"}),
    "shared": (
        "__shared__ int sh[4]; __global__ void ka(int* p) { sh[*p] = 1; __syncthreads(); *p = sh[p[1]]; }",
        "__shared__ int sh[4]; __global__ void kb(int* p) { sh[*p] = 1; __syncthreads(); *p = sh[p[1]]; }",
        {"duplicate sh"},
    ),
    "extern-shared-of-two-types": (
        "extern __shared__ int esh[]; __global__ void ka(int* p) { esh[*p] = 1; __syncthreads(); *p = esh[p[1]]; }",
        "extern __shared__ double esh[]; __global__ void kb(int* p) { esh[*p] = 1; __syncthreads(); *p = esh[p[1]]; }",
        set(),
    ),
    "function": ("__device__ int f(int x) { return x; }", "__device__ int f(int x) { return x; }", {"duplicate _Z1fi"}),
    "function-and-host-device-function": (
        "__host__ __device__ int f(int x) { return x; }",
        "__device__ int f(int x) { return x; }",
        {"duplicate _Z1fi"},
    ),
    "kernel": ("__global__ void k(int* p) { *p = 1; }", "__global__ void k(int* p) { *p = 2; }", {"duplicate _Z1kPi"}),
    "inline-function": (
        "inline __device__ __noinline__ int f(int x) { return x; } __global__ void ka(int* p) { *p = f(*p); }",
        "inline __device__ __noinline__ int f(int x) { return x; } __global__ void kb(int* p) { *p = f(*p); }",
        set(),
    ),
    "inline-function-and-function": (
        "inline __device__ __noinline__ int f(int x) { return x; } __global__ void ka(int* p) { *p = f(*p); }",
        "__device__ int f(int x) { return x; }",
        set(),
    ),
    "template": (
        "template <class T> __global__ void k(T* p) { *p = 1; } template __global__ void k<int>(int*);",
        "template <class T> __global__ void k(T* p) { *p = 1; } template __global__ void k<int>(int*);",
        set(),
    ),
    "inline-variable": (
        "inline __device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
        "inline __device__ int dv = 1; __global__ void kb(int* p) { *p = dv; }",
        set(),
    ),
    "inline-variable-of-another-size": (
        "inline __device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
        "inline __device__ int dv[8] = {1};",
        {"size dv"},
    ),
    "inline-variable-and-variable": (
        "inline __device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
        "__device__ int dv = 1;",
        set(),
    ),
    "static-variable": (
        "static __device__ int sv = 1; __global__ void ka(int* p) { *p = sv; }",
        "static __device__ int sv = 1; __global__ void kb(int* p) { *p = sv; }",
        set(),
    ),
    "unnamed-namespace": (
        "namespace { __device__ int sv = 1; } __global__ void ka(int* p) { *p = sv; }",
        "namespace { __device__ int sv = 1; } __global__ void kb(int* p) { *p = sv; }",
        set(),
    ),
    "const-variable": (
        "__device__ const int n = 1; __global__ void ka(const int** p) { *p = &n; }",
        "__device__ const int n = 1; __global__ void kb(const int** p) { *p = &n; }",
        set(),
    ),
    "declared-and-defined": (
        "extern __device__ int dv; __global__ void ka(int* p) { *p = dv; }",
        "__device__ int dv = 1;",
        set(),
    ),
    "declared-smaller": (
        "extern __device__ int dv; __global__ void ka(int* p) { *p = dv; }",
        "__device__ int dv[4] = {1};",
        {"size dv"},
    ),
    "declared-in-another-space": (
        "extern __device__ int dv; __global__ void ka(int* p) { *p = dv; }",
        "__constant__ int dv = 1;",
        {"space dv"},
    ),
    "declared-not-managed": (
        "extern __device__ int dv; __global__ void ka(int* p) { *p = dv; }",
        "__managed__ int dv = 1;",
        {"space dv"},
    ),
    "declared-managed-and-defined-so": (
        "extern __managed__ int dv; __global__ void ka(int* p) { *p = dv; }",
        "__managed__ int dv = 1;",
        set(),
    ),
    "declared-and-not-used": ("extern __device__ int ev;", "__device__ int dv;", set()),
    "provided-by-the-runtime": (
        """#include <cassert>
           #include <cstdio>
           __global__ void ka(int* p) { printf("%d", *p); int* q = (int*)malloc(4); assert(q); *q = *p; free(q); }""",
        "__global__ void kb(int* p) { memcpy(p + 1, p, *p); }",
        set(),
    ),
    "looks-provided-by-the-runtime": (
        'extern "C" __device__ int __cuda_foo(int); __global__ void ka(int* p) { *p = __cuda_foo(1); }',
        'extern "C" __device__ int __nv_bar(int); __global__ void kb(int* p) { *p = __nv_bar(1); }',
        {"undefined __cuda_foo", "undefined __nv_bar"},
    ),
}

# What is linked in threes and fours.
SINGLE = {
    "var_a": "__device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
    "var_b": "__device__ int dv = 1; __global__ void kb(int* p) { *p = dv; }",
    "var_c": "__device__ int dv = 1;",
    "fn_a": "__device__ int f(int x) { return x; } __global__ void ka(int* p) { *p = f(*p); }",
    "fn_b": "__device__ int f(int x) { return x; }",
    "host": "int main() { return 0; }",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Lab(tmp_path_factory.mktemp("definitions"))


@pytest.mark.parametrize("name", sampled(PAIRS, 8))
def test_pair(bench, name):
    first, second, expected = PAIRS[name]
    compile_all(bench, {f"{name}-0": first, f"{name}-1": second}, "-gencode arch=compute_80,code=sm_80")
    assert agree(bench, f"{name}-0.o {name}-1.o") == expected
    assert agree(bench, f"{name}-1.o {name}-0.o") == expected


@pytest.fixture(scope="module")
def singles(bench):
    compile_all(bench, SINGLE, "-gencode arch=compute_80,code=sm_80")
    return bench


@pytest.mark.deep
def test_three_definitions(singles):
    assert agree(singles, "var_a.o var_b.o var_c.o") == {"duplicate dv"}


@pytest.mark.deep
def test_nvlink_stops_at_the_first_bad_input(singles):
    assert agree(singles, "var_a.o var_b.o fn_a.o fn_b.o") == {"duplicate dv"}
    assert agree(singles, "fn_b.o var_a.o fn_a.o var_b.o") == {"duplicate _Z1fi", "duplicate _Z2kaPi"}


@pytest.mark.deep
def test_one_object_twice(singles):
    assert agree(singles, "var_a.o var_a.o") == {"duplicate dv", "duplicate _Z2kaPi"}
    assert agree(singles, "var_a.o ./var_a.o") == {"duplicate dv", "duplicate _Z2kaPi"}


@pytest.mark.deep
def test_no_device_code(singles):
    assert agree(singles, "host.o host.o") == set()


# --- one name for things of two kinds: each with each, in both orders

KINDS = {
    "variable": {
        "device": "__device__ int s = 1;",
        "constant": "__constant__ int s = 1;",
        "managed": "__managed__ int s = 1;",
        "shared": "__shared__ int s; __global__ void KERNEL(int* p) { s = *p; __syncthreads(); *p = s; }",
        "weak": "__attribute__((weak)) __device__ int s = 1; __global__ void KERNEL(int* p) { *p = s; }",
        "extern-device": "extern __device__ int s; __global__ void KERNEL(int* p) { *p = s; }",
        "extern-constant": "extern __constant__ int s; __global__ void KERNEL(int* p) { *p = s; }",
        "extern-managed": "extern __managed__ int s; __global__ void KERNEL(int* p) { *p = s; }",
        "extern-shared": "extern __shared__ int s[]; __global__ void KERNEL(int* p) { s[*p] = 1; __syncthreads(); *p = s[1]; }",
    },
    "function": {
        "function": "__device__ int s() { return 1; }",
        "weak-function": "__attribute__((weak)) __device__ int s() { return 1; }",
        "called": "__device__ int s(); __global__ void KERNEL(int* p) { *p = s(); }",
        "address-taken": "__device__ int s(); __global__ void KERNEL(int (**p)()) { *p = s; }",
    },
    "kernel": {
        "kernel": "__global__ void s(int* p) { *p = 1; }",
        "launched": "__global__ void s(int* p); __global__ void KERNEL(int* p) { s<<<1, 1>>>(p); }",
    },
}
SORTS = {kind: sort for sort, kinds in KINDS.items() for kind in kinds}
# As nvlink says it; it may crash after that.
OTHER_KIND = r"Memory space doesn't match for 's'|Function 's' not declared __global__ in all source files"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("kinds"))
    sources = {kind: source for group in KINDS.values() for kind, source in group.items()}
    compile_all(lab, {k: 'extern "C" {\n' + s.replace("KERNEL", "k_" + k.replace("-", "_")) + "\n}" for k, s in sources.items()})
    return lab


@pytest.mark.deep
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])  # for sm_90 nvlink compiles the PTX
@pytest.mark.parametrize("kind", SORTS)
def test_another_kind_of_thing(kinds, kind, arch):
    for other in (other for other, sort in SORTS.items() if sort != SORTS[kind]):
        words = f"{kind}.o {other}.o"
        theirs = kinds.sh(f"nvlink -arch={arch} {words} -L. -lcudadevrt -o linked.cubin", check=False)
        assert theirs.code != 0 and re.search(OTHER_KIND, theirs.out + theirs.err), theirs
        ours, result = elfaudit(kinds, ["--", "nvlink", f"-arch={arch}", *words.split(), "-o", "linked.cubin"])
        assert "space s" in ours and f"{other}.o" in ours["space s"] and result.code == 1, (words, result)


@pytest.mark.deep
def test_the_kinds_are_named(kinds):
    out = kinds.audit("check", "--arch", "sm_80", "called.o", "constant.o").out
    assert "s is a __device__ function in one object and a __constant__ variable in another" in out
    out = kinds.audit("check", "--arch", "sm_80", "kernel.o", "called.o").out
    assert "s is a __global__ function in one object and a __device__ function in another" in out


@pytest.mark.deep
def test_no_inline_variable_where_a_whole_program_has_it(lab):
    """nvcc refuses it there: an inline __device__ variable needs -rdc=true."""
    lab.write("mix.cuh", "#pragma once\nnamespace q { __device__ int mv = 4; }\n")
    for name in "abc":
        lab.write(f"m{name}.cu", f'#include "mix.cuh"\n__global__ void k{name}(int* p) {{ *p = q::mv; }}\n')
        lab.sh(f"nvcc -std=c++17 -arch=sm_80 {'' if name == 'c' else '-rdc=true'} -MD -c m{name}.cu")
    [with_both, of_all] = [next(f["fixes"] for f in lab.audit("check", "--format", "json", *objects).json()["findings"] if f["rule"] == "device-duplicate-definition")
                           for objects in (["ma.o", "mb.o"], ["ma.o", "mb.o", "mc.o"])]
    assert with_both[0]["diff"] and not any(fix["diff"] for fix in of_all), of_all
    assert "-rdc=true" in str(of_all), of_all
