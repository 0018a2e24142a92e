"""What nothing defines: a variable is an error wherever it is used, a function only where live code needs it.

Live are kernels, functions whose address is taken, and what these call; a cubin and PTX say it in different ways.
"""

import pytest

from elfaudit_test import Lab, need
from nvlink import agree, compile_all
from random_device import source

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
    "sized-shared": ("extern __shared__ int us[4]; __global__ void k(int* p) { us[*p] = 1; __syncthreads(); *p = us[p[1]]; }", {"undefined us"}),
    "dead-sized-shared": ("extern __shared__ int us[4]; __device__ int f(int x) { us[x] = 1; __syncthreads(); return us[x + 1]; }", {"undefined us"}),
    "unsized-shared": ("extern __shared__ int us[]; __global__ void k(int* p) { us[*p] = 1; __syncthreads(); *p = us[p[1]]; }", set()),
    "defined-shared": ("__shared__ int us[8]; __global__ void k(int* p) { us[*p] = 1; __syncthreads(); *p = us[p[1]]; }", set()),
    "calls-f": ("__device__ int f(int); __global__ void k(int* p) { *p = f(1); }", {"undefined _Z1fi"}),
}
# The objects have a cubin and PTX of sm_80; for sm_90 nvlink compiles the PTX.
ARCHS = ("sm_80", "sm_90")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("undefined"))
    compile_all(lab, {name: UND + text for name, (text, _) in SOURCES.items()})
    return lab


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", SOURCES)
def test_undefined(bench, name, arch):
    assert agree(bench, f"{name}.o", arch) == SOURCES[name][1]


@pytest.mark.parametrize("arch", ARCHS)
def test_live_because_of_another_object(bench, arch):
    for words in ("calls-f.o dead-function.o", "dead-function.o calls-f.o"):
        assert agree(bench, words, arch) == {"undefined und"}


# u: extern __shared__ s of so many bytes, d: a definition, w: an inline one. The first mention sets the size, and of size 0
# the first definition does; what is of size 0 first may stay undefined.
MENTIONS = {"u0": "extern []", "u4": "extern shared", "u8": "extern larger", "f4": "in a function", "d4": "shared", "d8": "larger", "w4": "inline shared"}
ORDERS = {
    "u4 u0": {"undefined s"},
    "u0 u4": set(),
    "f4 u0": {"undefined s"},
    "u0 u8 u4": set(),
    "u0 u8 d4": set(),
    "u0 d8 u4": {"size s"},
    "u0 d8 d4": {"size s", "duplicate s"},
    "u8 u0 d4": {"size s"},
    "u8 u0 d8": set(),
    "d8 u0 u4": {"size s"},
    "u0 w4 u8": {"size s"},
    "u0 u8 w4": set(),
    "w4 u0 f4": set(),
}


def test_the_first_mention_of_shared_memory_decides(bench):
    compile_all(bench, {name: source([("s", "shared", kind)], name) for name, kind in MENTIONS.items()})
    for arch in ARCHS:
        for order, expected in ORDERS.items():
            assert agree(bench, " ".join(f"{name}.o" for name in order.split()), arch) == expected, order


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
    assert all(fix["text"].startswith(("add -l", "declare and call", "give the object or archive")) for f in findings for fix in f["fixes"])
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
    text, spelled = OTHER[other]
    compile_all(bench, {"member": text})
    bench.sh("mkdir -p d; rm -f d/*")
    bench.ar("d/libdev.a", "member.o")
    assert notes(bench, "calls-f.o -Ld -ldev") == {"_Z1fi": [f"d/libdev.a(member.o) defines {spelled}"]}
    assert notes(bench, "calls-f.o member.o") == {"_Z1fi": [f"member.o defines {spelled}"]}
    [said] = notes(bench, "calls-f.o -Ld")["_Z1fi"]
    assert said == f"d/libdev.a, which is not on the device link's line, defines {spelled}"


def test_archive_of_host_code_alone_is_no_supplier(bench):
    bench.cc("host.o", "int f(int x) { return x; }", "g++")
    bench.sh("mkdir -p d; rm -f d/*; cp calls-f.o d")
    bench.ar("d/libhost.a", "host.o")
    assert notes(bench, "d/calls-f.o -Ld") == {"_Z1fi": []}


BESIDE = {
    "whole program": ("-arch=sm_80", "whole-program-device-code", "compile beside/f.o with -rdc=true, and name it in the device link"),
    "not in the link": ("-arch=sm_80 -rdc=true", "library-not-linked", "add beside/f.o to the device link"),
    "other architecture": ("-arch=sm_90 -rdc=true", "other-gpu-arch", "compile what defines it for sm_80 too"),
}


@pytest.mark.parametrize("how", BESIDE)
def test_object_beside_the_one_that_refers_to_it(bench, how):
    """It is named whether or not it is on the line, where nothing in the device link defines the function."""
    options, kind, fix = BESIDE[how]
    bench.sh("rm -rf beside; mkdir beside; cp calls-f.o beside")
    bench.write("beside/f.cu", "__device__ int f(int x) { return x; }\n")
    bench.sh(f"nvcc {options} -c beside/f.cu -o beside/f.o")
    for words in ["beside/calls-f.o"] + ["beside/calls-f.o beside/f.o"] * (kind != "library-not-linked"):
        audit = bench.audit("check", "--format", "json", "--", "nvcc", "-arch=sm_80", "-dlink", *words.split(), "-o", "x.o")
        [found] = [f for f in audit.json()["findings"] if f["rule"] == "device-undefined-symbol"]
        assert found["cause"]["kind"] == kind and found["fixes"][0]["text"].startswith(fix), found
    said = bench.audit("explain", "f(int)", "beside/calls-f.o", "beside/f.o").out
    assert ("no device code for sm_80 defines it" in said) == (kind != "library-not-linked"), said


def test_what_fits_is_named_before_what_does_not(bench):
    """Beside the object: code for another architecture, and then an archive with code for this one."""
    bench.sh("rm -rf beside; mkdir beside; cp calls-f.o beside")
    bench.write("beside/f.cu", "__device__ int f(int x) { return x; }\n")
    bench.sh("cd beside && nvcc -arch=sm_90 -rdc=true -c f.cu -o a.o && nvcc -arch=sm_80 -rdc=true -c f.cu -o f.o && ar rc libz.a f.o && rm f.o")
    audit = bench.audit("check", "--format", "json", "--", "nvcc", "-arch=sm_80", "-dlink", "beside/calls-f.o", "-o", "x.o")
    [found] = [f for f in audit.json()["findings"] if f["rule"] == "device-undefined-symbol"]
    assert [fix["text"] for fix in found["fixes"]] == ["add beside/libz.a to the device link"], found
    bench.sh("nvcc -arch=sm_80 -dlink beside/calls-f.o beside/libz.a -o linked.o")
