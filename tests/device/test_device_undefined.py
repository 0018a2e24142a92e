"""What nothing defines: a variable is an error wherever it is used, a function only where live code needs it.

Live are kernels, functions whose address is taken, and what these call; a cubin and PTX say it in different ways.
"""

import pytest

from elfaudit_test import Lab, need
from nvlink import agree, compile_all

need("nvcc", "nvlink")

pytestmark = pytest.mark.deep

UND = '#include <new>\nextern "C" __device__ int und(int); extern __device__ int uv; typedef int (*function)(int);\n'
SOURCES = {
    "kernel": ("__global__ void k(int* p) { *p = und(1); }", {"undefined und"}),
    "kernel-variable": ("__global__ void k(int* p) { *p = uv; }", {"undefined uv"}),
    "static-kernel": ("static __global__ void k(int* p) { *p = und(1); } void run() { k<<<1, 1>>>(nullptr); }", {"undefined und"}),
    "called-by-kernel": (
        "__device__ __noinline__ int f(int x) { return und(x); } __global__ void k(int* p) { *p = f(1); }",
        {"undefined und"},
    ),
    "static-called-by-kernel": (
        "static __device__ __noinline__ int f(int x) { return und(x); } __global__ void k(int* p) { *p = f(1); }",
        {"undefined und"},
    ),
    "dead-function": ("__device__ int f(int x) { return und(x); } __global__ void other(int* p) { *p = 1; }", set()),
    "dead-inline-function": (
        "template <class T> __device__ __noinline__ T f(T x) { return und(x); } template __device__ int f<int>(int);",
        set(),
    ),
    "dead-functions-calling-each-other": (
        """__device__ int g(int);
           __device__ __noinline__ int f(int x) { return x ? g(x - 1) : 0; }
           __device__ __noinline__ int g(int x) { return und(x) + f(x); }""",
        set(),
    ),
    "dead-static-function": (
        "static __device__ __noinline__ int g(int x) { return und(x); } __device__ int f(int x) { return g(x); }",
        set(),
    ),
    "dead-function-variable": ("__device__ int f(int x) { return uv; }", {"undefined uv"}),
    "dead-function-taking-the-address": ("__device__ function f() { return und; }", {"undefined und"}),
    "address-in-a-variable": ("__device__ function p = und;", {"undefined und"}),
    "address-of-the-caller-in-a-variable": ("__device__ int f(int x) { return und(x); } __device__ function p = f;", {"undefined und"}),
    "address-of-the-caller-taken": (
        "__device__ __noinline__ int f(int x) { return und(x); } __global__ void k(function* p) { *p = f; }",
        {"undefined und"},
    ),
    "address-of-the-caller-taken-by-dead-code": (
        "__device__ __noinline__ int f(int x) { return und(x); } __device__ function g() { return f; }",
        {"undefined und"},
    ),
    "virtual-function-of-no-object": (
        "struct S { __device__ virtual int m(int); }; __device__ int S::m(int x) { return und(x); }",
        set(),
    ),
    "virtual-function": (
        """struct S { __device__ virtual int m(int); }; __device__ int S::m(int x) { return und(x); }
           __global__ void k(S* s) { new (s) S; }""",
        {"undefined und"},
    ),
    "calls-f": ("__device__ int f(int); __global__ void k(int* p) { *p = f(1); }", {"undefined _Z1fi"}),
}
# The objects have a cubin and PTX of sm_80; for sm_90 nvlink compiles the PTX.
ARCHS = ("sm_80", "sm_90")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("undefined"))
    compile_all(lab, {name: UND + source for name, (source, _) in SOURCES.items()})
    return lab


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", SOURCES)
def test_undefined(bench, name, arch):
    assert agree(bench, f"{name}.o", arch) == SOURCES[name][1]


@pytest.mark.parametrize("arch", ARCHS)
def test_live_because_of_another_object(bench, arch):
    for words in ("calls-f.o dead-function.o", "dead-function.o calls-f.o"):
        assert agree(bench, words, arch) == {"undefined und"}


# --- who has it

MEMBER = {  # what the archive in the library folder has -> what is said of f(int)
    "as nvcc makes it": "__device__ int f(int x) { return x - 1; }",
    "without a host symbol": "#ifdef __CUDA_ARCH__\n__device__ int f(int x) { return x - 1; }\n#endif",
    "from a template": "template <class T> __device__ __noinline__ T g(T x) { return x - 1; }\n__device__ int f(int x) { return g(x); }",
}
OTHER = {  # another function of that name -> how it is spelled
    "parameters": ("__device__ int f(int x, int y) { return x - y; }", "f(int, int)"),
    "type": ("__device__ int f(long x) { return x; }", "f(long)"),
    "no host symbol": ("#ifdef __CUDA_ARCH__\n__device__ int f(long x) { return x; }\n#endif", "f(long)"),
    "template": ("template <int> __device__ int f(int x) { return x; } template __device__ int f<3>(int);", "int f<3>(int)"),
}


def notes(lab, words):
    result = lab.audit("check", "--format", "json", "--", "nvcc", "-arch=sm_80", "-dlink", *words.split(), "-o", "x.o")
    findings = [f for f in result.json()["findings"] if f["rule"] == "device-undefined-symbol"]
    assert all(fix["text"].startswith("add -l") for f in findings for fix in f["fixes"])
    return {f["symbol"]: ([f["cause"]["text"]] if f["cause"] else []) + f["notes"] for f in findings}


@pytest.mark.parametrize("member", MEMBER)
def test_archive_in_the_library_folder(bench, member):
    compile_all(bench, {"member": MEMBER[member]})
    bench.sh("mkdir -p d; rm -f d/*")
    bench.ar("d/libdev.a", "member.o")
    assert notes(bench, "calls-f.o -Ld") == {"_Z1fi": ["d/libdev.a defines it and is not on the device link's line: -ldev"]}
    assert notes(bench, "calls-f.o -Ld -ldev") == {}
    bench.sh("nvlink -arch=sm_80 calls-f.o -Ld -ldev -o linked.cubin")


@pytest.mark.parametrize("other", OTHER)
def test_same_function_with_other_parameters(bench, other):
    source, spelled = OTHER[other]
    compile_all(bench, {"member": source})
    bench.sh("mkdir -p d; rm -f d/*")
    bench.ar("d/libdev.a", "member.o")
    assert notes(bench, "calls-f.o -Ld -ldev") == {"_Z1fi": [f"d/libdev.a(member.o) defines {spelled}"]}
    assert notes(bench, "calls-f.o member.o") == {"_Z1fi": [f"member.o defines {spelled}"]}
    [said] = notes(bench, "calls-f.o -Ld")["_Z1fi"]
    assert said == f"d/libdev.a, which is not on the device link's line, defines {spelled}"


def test_archive_of_host_code_alone_is_no_supplier(bench):
    bench.cc("host.o", "int f(int x) { return x; }", "g++")
    bench.sh("mkdir -p d; rm -f d/*")
    bench.ar("d/libhost.a", "host.o")
    assert notes(bench, "calls-f.o -Ld") == {"_Z1fi": []}
