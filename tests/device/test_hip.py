"""HIP code, which needs no ROCm to be compiled: what elfaudit says of its device link against what clang's lld says.

HIP_PAIRS=1 tries all ordered pairs of definitions, not a few."""

import os
import re

import pytest

from elfaudit_test import Lab, by_symbol, need

need("clang++-19", "ld.lld-19", "llc-19", "clang-offload-bundler-19", "clang-offload-packager-19")

ONLY = "-nogpulib -nogpuinc -std=c++17 -w"
HIP = f"clang++-19 -x hip --offload-arch=gfx90a {ONLY}"
ALL = "HIP_PAIRS" in os.environ

# What hip_runtime.h says, as far as kernels need it.
HEADER = """
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
struct dim3 { unsigned x, y, z; };
typedef struct stream* hipStream_t;
extern "C" int __hipPushCallConfiguration(unsigned long, unsigned long, unsigned long, void*);
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, hipStream_t);
"""

# The name is s; W is another letter and V another number in each file. A kernel stays in what is linked, and so does what
# it uses; a function that no kernel calls does not.
KINDS = {
    "strong": "__device__ int s = V;",
    "zero": "__device__ int s;",
    "constant": "__constant__ int s = V;",
    "inline": "inline __device__ int s = V; __global__ void useW(int* p) { *p = s; }",
    "weak": "__attribute__((weak)) __device__ int s = V;",
    "bigger": "__device__ int s[4] = {V};",
    "static": "static __device__ int s = V; __global__ void useW(int* p) { *p = s; }",
    "extern": "extern __device__ int s; __global__ void useW(int* p) { *p = s; }",
    "extern, unused": "extern __device__ int s; __device__ int useW() { return s; }",
    "function": 'extern "C" __device__ int s() { return V; }',
    "inline function": 'extern "C" inline __device__ int s() { return V; } __global__ void useW(int* p) { *p = s(); }',
    "declared function": 'extern "C" __device__ int s(); __global__ void useW(int* p) { *p = s(); }',
    "kernel": 'extern "C" __global__ void s(int* p) { *p = V; }',
    "dynamic shared": "extern __shared__ int s[]; __global__ void useW(int* p) { s[*p] = V; *p = s[p[1]]; }",
    "declared shared": "struct Box { int a[V]; }; extern __shared__ Box s; __global__ void useW(int* p) { s.a[*p] = V; *p = s.a[p[1]]; }",
    "shared in a function": "extern __shared__ int s[]; __device__ __attribute__((noinline)) int getW(int x) { s[x] = V; return s[x + 1]; } __global__ void useW(int* p) { *p = getW(*p); }",
    "shared": "__shared__ int s[4]; __global__ void useW(int* p) { s[*p] = V; *p = s[p[1]]; }",
}


def compile_hip(lab, name, source, command=HIP + " -fgpu-rdc"):
    lab.write(f"{name}.hip", HEADER + source + "\n")
    lab.sh(f"{command} -c {name}.hip -o {name}.o")
    return f"{name}.o"


def device_problems(result):
    """{"duplicate s", "undefined s"} of the errors; what may go wrong is a warning."""
    words = {"device-duplicate-definition": "duplicate", "device-undefined-symbol": "undefined"}
    return {f"{words[f['rule']]} {f['symbol']}" for f in by_symbol(result.json()["findings"]) if f["rule"] in words and f["severity"] == "error"}


def lld_problems(text):
    found = re.findall(r"error: (duplicate|undefined)(?: \w+)? symbol: (\w+)", text)  # of a kernel also NAME.kd
    return {f"{kind} {symbol}" for kind, symbol in found}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """An object with each kind of definition, as the first and as the second of a pair, and the bitcode in it."""
    lab = Lab(tmp_path_factory.mktemp("hip"))
    for kind, source in KINDS.items():
        for letter, number in (("A", "1"), ("B", "2")):
            name = kind.replace(", ", "-").replace(" ", "-") + letter
            compile_hip(lab, name, source.replace("W", letter).replace("V", number))
            lab.sh(f"clang-offload-bundler-19 -type=o -unbundle -targets=hip-amdgcn-amd-amdhsa-gfx90a -input={name}.o -output={name}.bc")
            lab.sh(f"llc-19 -mcpu=gfx90a -filetype=obj {name}.bc -o {name}.elf")
            image = f"file={name}.elf,triple=amdgcn-amd-amdhsa,arch=gfx90a,kind=hip"
            lab.sh(f"clang-offload-packager-19 -o {name}.offload --image={image}")
    return lab


def pair_names():
    names = [kind.replace(", ", "-").replace(" ", "-") for kind in KINDS]
    pairs = [(a + "A", b + "B") for a in names for b in names]
    return pairs if ALL else pairs[::11]


@pytest.mark.deep
@pytest.mark.parametrize("code, container", [("bc", "o"), ("elf", "offload")])
def test_pairs_are_judged_as_lld_judges_them(compiled, code, container):
    differing = []
    for a, b in pair_names():
        real = compiled.sh(
            "ld.lld-19 -m elf64_amdgpu --no-undefined -shared -plugin-opt=-amdgpu-internalize-symbols -plugin-opt=mcpu=gfx90a "
            f"--whole-archive {a}.{code} {b}.{code} -o out", check=False)
        if real.code not in (0, 1):
            continue  # lld 19 crashes where a kernel calls what is a variable or a kernel elsewhere
        theirs = lld_problems(real.out + real.err)
        assert (real.code != 0) == bool(theirs), real
        result = compiled.audit("check", "--format", "json", f"{a}.{container}", f"{b}.{container}")
        if result.code == 2 or device_problems(result) != theirs:
            differing.append((a, b, sorted(theirs), sorted(device_problems(result))))
    assert not differing, f"{len(differing)} of {len(pair_names())} differ: {differing}"


def test_a_duplicate_in_bundled_code(lab):
    for name in ("a", "b"):
        compile_hip(lab, name, "__device__ int only(int x) { return x; }")
    lab.sh("rm *.hip")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 1 and "only(int) is defined twice in the device code for gfx90a" in result.out, result
    assert "debug info of such device code is not read" in result.out and "nvcc" not in result.out, result


def test_an_undefined_name(lab):
    compile_hip(lab, "a", "extern __device__ int gone; __global__ void k(int* p) { *p = gone; }")
    result = lab.audit("check", "a.o")
    assert result.code == 1 and "gone is not defined in any device code for gfx90a" in result.out, result


# What refers to a name that nothing defines, and the verdict where it isn't lld's: "warning".
GONE = "extern __device__ int gone;\n"
REFERENCES = {
    "unused": 'extern "C" __device__ int f() { return gone; }',
    "unused-beside-a-kernel": 'extern "C" __device__ int f() { return gone; } __global__ void k(int* p) { *p = 1; }',
    "used-by-a-kernel": 'extern "C" __device__ __attribute__((noinline)) int f() { return gone; } __global__ void k(int* p) { *p = f(); }',
    "inline": "inline __device__ int f(int x) { return x ? gone : 1; } __global__ void k(int* p) { *p = f(*p); }",
    "inline-unused": "inline __device__ int f(int x) { return x ? gone : 1; } __device__ int (*g(int x))(int) { return f; }",
    "exported": '__attribute__((visibility("default"))) __device__ int f() { return gone; }',
    "kept": "__attribute__((used)) __device__ int f() { return gone; }",
    "by-address": "__device__ __attribute__((noinline)) int f() { return gone; } __device__ int (*pointer)() = f;",
    "initializer": "__device__ int* v = &gone;",
    "unused-initializer": "static __device__ int* v = &gone;",
    "private-initializer": "static __device__ int* v = &gone; __global__ void k(int* p) { *p = *v; }",
    "compared": "__global__ void k(int* p) { *p = &gone == nullptr; }",
    "virtual": "struct A { __device__ virtual int f() { return gone; } }; __global__ void k(A** p) { *p = new (p) A; }",
    "loop-and-table": "__constant__ int* t[] = {nullptr, &gone}; __global__ void k(int* p) { for (int i = 0; i < *p; ++i) atomicAdd(p, *t[i]); }",
    "dynamic-shared": "extern __shared__ int box[]; __global__ void k(int* p) { box[*p] = 1; *p = box[p[1]]; }",
    "declared-shared": "struct Box { int a[4]; }; extern __shared__ Box box; __global__ void k(int* p) { box.a[*p] = 1; *p = box.a[p[1]]; }",
    "constant-argument": "__device__ __attribute__((noinline)) int f(int x) { if (x) return gone; return 1; } __global__ void k(int* p) { *p = f(0); }",
}
EXTRA = """
inline __device__ void* operator new(unsigned long, void* p) { return p; }
inline __device__ void atomicAdd(int* p, int x) { __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
"""


@pytest.mark.deep
@pytest.mark.parametrize("version, flags, link_flags", [("19", "-O3", ""), ("14", "-O0", "-O0"),
                                                          *(pytest.param(*row, marks=pytest.mark.nightly) for row in [("19", "-g", ""), ("19", "-O0", "-O0"), ("14", "-O3 -g", "")])])
def test_what_is_undefined_where_lld_says_so(lab, version, flags, link_flags):
    need(f"clang++-{version}")
    differing = []
    for name, source in REFERENCES.items():
        compile_hip(lab, name, EXTRA + GONE + source, f"clang++-{version} -x hip --offload-arch=gfx90a {ONLY} -fgpu-rdc {flags}")
        link = [f"clang++-{version}", "--hip-link", "-fgpu-rdc", *link_flags.split(), "--offload-arch=gfx90a", "-nogpulib", "-nostdlib", "-shared", "-o", "x.so", f"{name}.o"]
        real = lab.sh(" ".join(link), check=False)
        if "Stack dump" in real.err:
            continue  # lld 19 with -O0, at any function that nothing uses
        theirs = lld_problems(real.out + real.err)
        result = lab.audit("check", "--format", "json", "--", *link)
        ours = device_problems(result)
        warned = any(f["symbol"] == "gone" for f in by_symbol(result.json()["findings"])) and not ours
        if ours != theirs and not (name == "constant-argument" and warned):
            differing.append((name, theirs, ours))
    assert not differing, differing


def test_what_stays_is_known_across_objects(lab):
    """The definition that is linked counts, not the one that yields."""
    compile_hip(lab, "a", GONE + '__attribute__((weak)) __device__ int f() { return gone; } __global__ void k(int* p) { *p = f(); }')
    compile_hip(lab, "b", "__device__ int f() { return 1; }")
    compile_hip(lab, "c", 'extern "C" __device__ int far(); __device__ int f() { return far(); }')
    assert lab.audit("check", "a.o", "b.o").code == 0
    assert "gone is not defined" in lab.audit("check", "a.o").out
    result = lab.audit("check", "a.o", "c.o")
    assert result.code == 1 and "far is not defined" in result.out and "gone" not in result.out, result


def test_whether_it_stays_is_not_known(lab):
    """Optimisation may find that x is always 0."""
    compile_hip(lab, "a", EXTRA + GONE + REFERENCES["constant-argument"])
    result = lab.audit("check", "a.o")
    assert result.code == 0 and "the link fails if link-time optimisation keeps the code that refers to it" in result.out, result


def test_each_processor_is_a_link_of_its_own(lab):
    compile_hip(lab, "a", "__device__ int v = 1;", f"clang++-19 -x hip --offload-arch=gfx90a:xnack+ {ONLY} -fgpu-rdc")
    compile_hip(lab, "b", "extern __device__ int v; __global__ void k(int* p) { *p = v; }")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 1 and "v is not defined in any device code for gfx90a" in result.out, result


@pytest.mark.parametrize("version", ["14", "19"])
def test_images_are_listed(lab, version):
    need(f"clang-{version}")
    lab.write("a.hip", HEADER + "__device__ int v = 1; __global__ void k(int* p) { *p = v; }\n")
    command = f"clang-{version} -x hip --offload-arch=gfx90a --offload-arch=gfx906:sramecc+ {ONLY}"
    lab.sh(f"{command} -fgpu-rdc -c a.hip -o rdc.o; {command} -c a.hip -o whole.o")
    rows = lab.audit("list", "images", "--details", "--format", "json", "rdc.o", "whole.o").json()
    assert sorted((row["input"], row["section"], row["kind"], row["arch"]) for row in rows["images"]) == [
        ("rdc.o", "__CLANG_OFFLOAD_BUNDLE__", "bitcode", "gfx906:sramecc+"),
        ("rdc.o", "__CLANG_OFFLOAD_BUNDLE__", "bitcode", "gfx90a"),
        ("whole.o", ".hip_fatbin", "elf", "gfx906:sramecc+"),
        ("whole.o", ".hip_fatbin", "elf", "gfx90a"),
    ]
    assert all({"v", "_Z1kPi"} <= set(row["symbols"]) for row in rows["images"]), rows


def test_finished_code_needs_no_link(lab):
    for name in ("a", "b"):
        compile_hip(lab, name, f"__device__ int f(int x) {{ return x; }} __global__ void k{name}(int* p) {{ *p = f(*p); }}", HIP)
    lab.sh(f"{HIP} --offload-compress -c a.hip -o z.o")
    result = lab.audit("check", "b.o", "z.o")
    assert result.code == 0, result
    rows = lab.audit("list", "images", "--format", "json", "z.o").json()["images"]
    assert [(row["arch"], row["kind"], row["compression"]) for row in rows] == [("gfx90a", "elf", "zstd")]


def test_bundle_files(lab):
    lab.write("a.hip", HEADER + "__device__ int v = 1;\n")
    lab.sh(f"{HIP} --offload-arch=gfx906 -fgpu-rdc --offload-device-only --gpu-bundle-output -c a.hip -o a.bc")
    rows = lab.audit("list", "images", "--format", "json", "a.bc").json()["images"]
    assert [(row["arch"], row["kind"], row["section"]) for row in rows] == [("gfx906", "bitcode", "file"), ("gfx90a", "bitcode", "file")]


def test_the_new_driver_drops_a_second_definition_of_bitcode(lab):
    """clang-linker-wrapper 19 links it without a word; so it is a warning."""
    for name, number in (("a", "1"), ("b", "2")):
        compile_hip(lab, name, f"__device__ int only(int x) {{ return {number}; }}", HIP + " -fgpu-rdc --offload-new-driver")
    lab.sh("clang++-19 --offload-link a.o b.o -nostdlib -shared -o x.so")
    result = lab.audit("check", "--", "clang++-19", "--offload-link", "a.o", "b.o", "-nostdlib", "-shared", "-o", "x.so")
    assert result.code == 0 and "warning: only(int) is defined twice in the device code for gfx90a" in result.out, result


def test_an_undefined_name_under_the_new_driver(lab):
    compile_hip(lab, "a", "extern __device__ int gone; __global__ void k(int* p) { *p = gone; }", HIP + " -fgpu-rdc --offload-new-driver")
    command = ["clang++-19", "--offload-link", "a.o", "-nostdlib", "-shared", "-o", "x.so"]
    assert lab.sh(" ".join(command), check=False).code != 0
    result = lab.audit("check", "--", *command)
    assert result.code == 1 and "gone is not defined in any device code for gfx90a" in result.out, result


@pytest.mark.parametrize("version", ["14", "19"])
def test_a_hip_link_command(lab, version):
    need(f"clang-{version}")
    compiler = f"clang-{version}"
    command = f"{compiler} -x hip --offload-arch=gfx90a {ONLY} -fgpu-rdc"
    compile_hip(lab, "a", "__device__ int f() { return 1; } __global__ void k(int* p) { *p = f(); }", command)
    compile_hip(lab, "b", "__device__ int f() { return 2; }", command)
    compile_hip(lab, "c", "__device__ int g() { return 2; }", command)
    link = [compiler, "--hip-link", "-fgpu-rdc", "--offload-arch=gfx90a", "-nogpulib", "-nostdlib", "-shared", "-o", "x.so"]
    bad = lab.audit("check", "--", *link, "a.o", "b.o")
    assert bad.code == 1 and "f() is defined twice in the device code for gfx90a" in bad.out and "no such file" not in bad.out, bad
    good = lab.audit("check", "--", *link, "a.o", "c.o")
    assert good.code == 0, good
    (lab.path / "facts").mkdir()
    for name in ("a.o", "b.o"):
        lab.audit("index", name, "-o", f"facts/{name}")
    facts = lab.audit("check", "--", *link, "facts/a.o", "facts/b.o")
    assert (facts.code, facts.out) == (bad.code, bad.out), facts
    os.rename(lab.path / "facts/a.o", lab.path / "a.facts")
    refused = lab.audit("check", "--", *link, "a.facts", "facts/b.o")
    assert refused.code == 2 and "name it like the object, *.o or *.a" in refused.out, refused


def test_what_is_not_judged_is_not_passed_in_silence(lab):
    lab.write("a.s", '.section "__CLANG_OFFLOAD_BUNDLE__openmp-amdgcn-amd-amdhsa--gfx90a","e"\n.ascii "BC\\300\\336"\n')
    lab.sh("as a.s -o a.o")
    result = lab.audit("check", "a.o")
    assert result.code == 2 and "OpenMP for gfx90a (__CLANG_OFFLOAD_BUNDLE__" in result.out, result
    assert "which needs the device library of OpenMP" in result.out, result


def test_objects_joined_by_ld_r(lab):
    """The older driver's bitcode can't be read then, by lld neither; the newer's can."""
    for driver, refused in (("", True), (" --offload-new-driver", False)):
        for name in ("a", "b"):
            compile_hip(lab, name, f"__device__ int v{name} = 1;", HIP + " -fgpu-rdc" + driver)
        lab.sh("ld -r a.o b.o -o joined.o")
        option = "--offload-link" if driver else "--hip-link -fgpu-rdc --offload-arch=gfx90a -nogpulib"
        link = f"clang++-19 {option} joined.o -nostdlib -shared -o x.so"
        assert (lab.sh(link, check=False).code != 0) == refused
        result = lab.audit("check", "--", *link.split())
        assert (result.code != 0) == refused and ("as `ld -r` joins them" in result.out) == refused, result


def test_an_unreadable_bundle_is_an_error(lab):
    compile_hip(lab, "a", "__global__ void k(int* p) { *p = 1; }", HIP + " --offload-compress")
    content = (lab.path / "a.o").read_bytes()
    at = content.index(b"CCOB")
    (lab.path / "b.o").write_bytes(content[: at + 40] + b"\xff" * 40 + content[at + 80 :])
    for command in (["check"], ["list", "images"]):
        result = lab.audit(*command, "b.o")
        assert result.code == 2 and "b.o" in result.out + result.err and ".hip_fatbin has an offload bundle that" in result.out + result.err, result


def test_facts_files_hold_it(lab):
    for name in ("a", "b"):
        compile_hip(lab, name, "__device__ int only(int x) { return x; }")
        lab.sh(f'"$ELFAUDIT" index {name}.o -o {name}.facts; rm {name}.o')
    result = lab.audit("check", "a.facts", "b.facts")
    assert result.code == 1 and "only(int) is defined twice in the device code for gfx90a" in result.out, result


def test_the_page_shows_it(lab):
    compile_hip(lab, "a", "__device__ int v = 1;")
    page = lab.audit("check", "--format", "html", "a.o").out
    assert '"bitcode"' in page and "gfx90a" in page


def test_an_object_without_code_for_the_link(lab):
    compile_hip(lab, "a", "__device__ int v = 1;")
    result = lab.audit("check", "--arch", "gfx906", "a.o")
    assert result.code == 0 and "a.o: has no device code for gfx906: clang links without it" in result.out, result
