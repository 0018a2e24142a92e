"""CUDA compiled by clang for a device link: what elfaudit says against what nvlink says of the same code.

CUDA_PAIRS=1 tries all ordered pairs of definitions, not a few."""

import os

import pytest

from elfaudit_test import Lab, need
from nvlink import elfaudit, nvlink

need("clang++-19", "clang-offload-packager-19", "nvlink", "ptxas")

CLANG = "clang++-19 -x cuda --offload-arch=sm_90 -nocudainc -nocudalib -std=c++17 -w -fPIC -fgpu-rdc"
ALL = "CUDA_PAIRS" in os.environ

HEADER = """
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
struct dim3 { unsigned x, y, z; };
typedef struct stream* cudaStream_t;
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, unsigned long, void*);
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, unsigned long, cudaStream_t);
"""

# The name is s; W is another letter and V another number in each file.
KINDS = {
    "strong": "__device__ int s = V;",
    "zero": "__device__ int s;",
    "constant": "__constant__ int s = V;",
    "inline": "inline __device__ int s = V; __device__ int useW() { return s; }",
    "weak": "__attribute__((weak)) __device__ int s = V;",
    "bigger": "__device__ int s[4] = {V};",
    "static": "static __device__ int s = V; __device__ int* useW() { return &s; }",
    "extern": "extern __device__ int s; __global__ void useW(int* p) { *p = s; }",
    "function": 'extern "C" __device__ int s() { return V; }',
    "inline function": 'extern "C" inline __device__ int s() { return V; } __device__ int useW() { return s(); }',
    "kernel": 'extern "C" __global__ void s(int* p) { *p = V; }',
    "dynamic shared": "extern __shared__ int s[]; __global__ void useW(int* p) { s[*p] = V; *p = s[p[1]]; }",
    "declared shared": "extern __shared__ int s[4]; __global__ void useW(int* p) { s[*p] = V; *p = s[p[1]]; }",
    "shared": "__shared__ int s[4]; __global__ void useW(int* p) { s[*p] = V; *p = s[p[1]]; }",
}


def compile_cuda(lab, name, source, more="--offload-new-driver"):
    lab.write(f"{name}.cu", HEADER + source + "\n")
    lab.sh(f"{CLANG} {more} -c {name}.cu -o {name}.o")
    return f"{name}.o"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """An object with each kind of definition, as the first and as the second of a pair, and the cubin in it."""
    lab = Lab(tmp_path_factory.mktemp("cuda"))
    for kind, source in KINDS.items():
        for letter, number in (("A", "1"), ("B", "2")):
            name = kind.replace(" ", "-") + letter
            compile_cuda(lab, name, source.replace("W", letter).replace("V", number))
            lab.sh(f"clang-offload-packager-19 {name}.o --image=file={name}.cubin,arch=sm_90")
    return lab


def sorts(problems, other=()):
    """duplicate, undefined, or mismatch: nvlink names one of several reasons why two symbols don't fit each other."""
    found = {kind if kind in ("duplicate", "undefined") else "mismatch" for kind in (problem.split()[0] for problem in problems)}
    if other:
        found.add("mismatch")  # "Function 's' not declared __global__ in all source files"
    # nvlink looks for undefined symbols where all else fits.
    return next(({kind} for kind in ("duplicate", "mismatch", "undefined") if kind in found), set())


@pytest.mark.deep
def test_pairs_are_judged_as_nvlink_judges_them(compiled):
    names = [kind.replace(" ", "-") for kind in KINDS]
    pairs = [(a + "A", b + "B") for a in names for b in names]
    pairs = pairs if ALL else pairs[::13]
    differing = []
    for a, b in pairs:
        theirs, other = nvlink(compiled, f"{a}.cubin {b}.cubin", "sm_90")
        ours, result = elfaudit(compiled, [f"{a}.o", f"{b}.o"])
        if sorts(theirs, other) != sorts(ours) or not result.json()["complete"]:
            differing.append((a, b, theirs, other, ours))
    assert not differing, f"{len(differing)} of {len(pairs)} differ: {differing}"


def test_images_are_listed(lab):
    compile_cuda(lab, "a", "__device__ int v = 1;", "--offload-new-driver --offload-arch=sm_80")
    rows = lab.audit("list", "images", "--details", "--format", "json", "a.o").json()["images"]
    assert [(row["section"], row["kind"], row["arch"], row["symbols"]) for row in rows] == [
        (".llvm.offloading", "cubin", "sm_80", ["v"]), (".llvm.offloading", "cubin", "sm_90", ["v"])]


def test_what_ld_r_joins_is_linked_whole(lab):
    """clang-linker-wrapper reads all of it, where nvlink reads the first fatbin of an object alone."""
    compile_cuda(lab, "a", "__device__ int f() { return 1; }")
    compile_cuda(lab, "b", "__device__ int g() { return 1; }")
    compile_cuda(lab, "c", "__device__ int g() { return 2; }")
    lab.sh("ld -r a.o b.o -o ab.o")
    result = lab.audit("check", "ab.o", "c.o")
    assert result.code == 1 and "g() is defined twice in the device code for sm_90" in result.out, result


def fatbinary_for_cuda_13(lab):
    """clang 19 runs fatbinary with options that CUDA 13 has changed. Returns the folder of one that knows them."""
    file = lab.path / lab.write("shim/fatbinary", """#!/usr/bin/env python3
import os, re, shutil, sys
words = [re.sub(r"^--?image=profile=(sm|compute)_(\\d+)a?,file=", lambda m: f"--image3=kind={'elf' if m[1] == 'sm' else 'ptx'},sm={m[2]},file=", word) for word in sys.argv[1:]]
os.environ["PATH"] = os.environ["PATH"].replace(os.path.dirname(os.path.abspath(sys.argv[0])) + ":", "")
os.execv(shutil.which("fatbinary"), ["fatbinary", *words])
""")
    file.chmod(0o755)
    return file.parent


def test_a_link_command(lab):
    compile_cuda(lab, "a", "__device__ int f(); __global__ void k(int* p) { *p = f(); }")
    compile_cuda(lab, "b", "__device__ int f() { return 1; }")
    compile_cuda(lab, "c", "__device__ int f() { return 2; }")
    for objects, word in (("a.o", "not defined in any device code"), ("a.o b.o c.o", "defined twice in the device code")):
        command = f"clang++-19 --offload-link {objects} -nostdlib -shared -o x.so"
        assert lab.sh(command, check=False).code != 0
        result = lab.audit("check", "--", *command.split())
        assert result.code == 1 and word in result.out, result
    good = "clang++-19 --offload-link a.o b.o -nostdlib -shared -o x.so"
    lab.sh(f"PATH={fatbinary_for_cuda_13(lab)}:$PATH {good}")
    assert lab.audit("check", "--", *good.split()).code == 0
    # The wrapper's own line, as the driver runs it.
    wrapper = "clang-linker-wrapper-19 --host-triple=x86_64-pc-linux-gnu --linker-path=/usr/bin/ld -shared -o x.so a.o b.o c.o"
    result = lab.audit("check", "--", *wrapper.split())
    assert result.code == 1 and "defined twice in the device code" in result.out, result


def test_the_old_driver(lab):
    fatbinary_for_cuda_13(lab)
    for name in ("a", "b"):
        compile_cuda(lab, name, "__device__ int f() { return 1; }", "--no-offload-new-driver -B shim")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 1 and "f() is defined twice in the device code for sm_90" in result.out, result


def test_every_member_of_an_archive_takes_part(lab):
    """clang-linker-wrapper 19 looks for what is missing or visible to the host, and takes all that defines anything."""
    compile_cuda(lab, "main", "__device__ int f(); __global__ void k(int* p) { *p = f(); }")
    compile_cuda(lab, "f1", "__device__ int f() { return 1; }")
    compile_cuda(lab, "f2", "__device__ int f() { return 2; }")
    lab.ar("libf.a", "f1.o", "f2.o")
    command = "clang++-19 --offload-link -nostdlib -shared -o x.so main.o libf.a"
    assert lab.sh(command, check=False).code != 0
    result = lab.audit("check", "--", *command.split())
    assert result.code == 1 and "f() is defined twice in the device code" in result.out, result
