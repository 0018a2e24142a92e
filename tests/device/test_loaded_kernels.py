"""device-registrar-shared, kernel-stub-shared and split-state of what nvcc and clang make. What a GPU does is in docs/runtime.md."""

import pytest

from elfaudit_test import Lab, need

need("nvcc", "g++")

pytestmark = pytest.mark.deep

NVCC = "nvcc -w -arch=sm_80 -cudart shared"
EXPORTED = "-static-global-template-stub=false -device-entity-has-hidden-visibility=false -Xcompiler -fPIC"
LOADED = "-L. -Wl,-rpath,'$ORIGIN' -Wl,--unresolved-symbols=ignore-all"
RULES = ("device-registrar-shared", "kernel-stub-shared", "split-state", "gpu-arch-differs")


def found(lab, *words):
    """{rule: finding} of the rules that are tested here."""
    report = lab.audit("check", "--format", "json", *words).json()
    findings = [f for f in report["findings"] if f["rule"] in RULES]
    assert len({f["rule"] for f in findings}) == len(findings), findings
    return {f["rule"]: f for f in findings}


@pytest.fixture(scope="module")
def relocatable(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("relocatable"))
    lab.write("core.cu", "__device__ int state = 5; __device__ int bump(int a) { return state += a; }\n")
    for x in "ab":
        lab.write(f"{x}.cu", f"__device__ int bump(int); __global__ void k{x}(int *p) {{ *p = bump(1); }} void {x}() {{ k{x}<<<1, 1>>>(0); }}\n")
    lab.write("m.cpp", "void a(), b();\nint main() { a(); b(); }\n")
    lab.sh(f"{NVCC} -rdc=true -Xcompiler -fPIC -c core.cu a.cu b.cu && g++ -c m.cpp")
    return lab


@pytest.mark.parametrize(
    "options, rule",
    [("", "device-registrar-shared"), ("-Xlinker -Bsymbolic", "split-state"), ("-Xcompiler -fvisibility=hidden", "split-state")],
)
def test_an_object_in_two_device_links(relocatable, options, rule):
    lab = relocatable
    for x in "ab":
        lab.sh(f"{NVCC} {options} -shared {x}.o core.o -o lib{x}.so")
    lab.sh(f"g++ m.o {LOADED} -la -lb -o app")
    for words in (["app"], ["liba.so", "libb.so"], ["--", "g++", "m.o", "-L.", "-la", "-lb", "-o", "x"]):
        (finding,) = found(lab, *words).values()
        assert finding["rule"] == rule and "core.cu" in finding["cause"]["text"], finding
        assert rule != "split-state" or finding["symbol"] == "state"


def test_an_object_of_the_program_and_of_its_library(relocatable):
    lab = relocatable
    lab.sh(f"{NVCC} -shared b.o core.o -o libb.so")
    (finding,) = found(lab, "--", "nvcc", "-arch=sm_80", "m.o", "a.o", "core.o", "libb.so", "-o", "x").values()
    assert finding["message"].startswith("libb.so registers its device code with the program")
    assert finding["sites"][0]["input"] == "core.o"
    assert found(lab, "--", "nvcc", "-arch=sm_80", "-Xcompiler", "-fvisibility=hidden", "m.o", "a.o", "core.o", "libb.so", "-o", "x") == {}


def test_one_shared_object(relocatable):
    """The fix."""
    relocatable.sh(f"{NVCC} -shared a.o b.o core.o -o libab.so && g++ m.o {LOADED} -lab -o app")
    assert found(relocatable, "app") == {}


KERNEL = "template <class T> __global__ void blur(T *p) { *p = 1; }\nvoid NAME() { blur<int><<<1, 1>>>(nullptr); }\n"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("kernels"))
    lab.write("k.cu", KERNEL)
    lab.write("m.cpp", "void a(), b();\nint main() { a(); b(); }\n")
    for name, gpu in {"a": 80, "b": 80, "c": 90}.items():
        lab.sh(f"{NVCC} {EXPORTED} -gencode arch=compute_{gpu},code=sm_{gpu} -DNAME={'b' if name == 'c' else name} -c k.cu -o {name}.o".replace(" -arch=sm_80", ""))
    lab.sh("g++ -c m.cpp")
    return lab


@pytest.mark.parametrize(
    "second, options, message",
    [
        ("b", "-cudart shared", None),
        ("b", "-cudart static", "void blur<int>(int*) in libb.so is launched through liba.so, and the kernel does not run"),
        ("b", "-cudart static -Xlinker -Bsymbolic", None),
        ("c", "-cudart shared", "liba.so and libb.so register void blur<int>(int*) under one address, for different GPUs"),
    ],
)
def test_a_kernel_of_two_libraries(kernels, second, options, message):
    for name, out in (("a", "a"), (second, "b")):
        kernels.sh(f"nvcc {options} -shared {name}.o -o lib{out}.so")
    kernels.sh(f"g++ m.o {LOADED} -la -lb -o app")
    assert [f["message"] for f in found(kernels, "app").values()] == ([message] if message else [])


@pytest.mark.parametrize("objects, gpu", [("a.o c.o", "sm_90"), ("c.o a.o", "sm_80")])
def test_a_kernel_of_two_objects(kernels, objects, gpu):
    first, second = objects.split()
    finding = found(kernels, "--", "nvcc", "-arch=sm_80", "m.o", first, second, "-o", "x")["kernel-stub-shared"]
    assert finding["message"] == f"{first} and {second} both have void blur<int>(int*), and launch that of {first}: not for {gpu}"
    assert "kernel-stub-shared" not in found(kernels, "--", "nvcc", "-arch=sm_80", "m.o", "a.o", "b.o", "-o", "x")


def test_hip(lab):
    """What the first constructor of the second library registers is the first library's. Of the __hip_fatbin_* of a library the first
    by name is protected: the ids are hashes of -cuid."""
    need("clang++-19", "ld.lld-19")
    lab.sh("echo 'int none;' | gcc -shared -fPIC -x c - -o libamdhip64.so")
    for name, cuid in {"a": "a", "b": "core", "core": "b"}.items():
        lab.write(f"{name}.hip", f"__attribute__((device)) int of_{name} = 5;\n")
        lab.sh(f"clang++-19 -x hip --offload-arch=gfx90a -nogpulib -nogpuinc -fPIC -fgpu-rdc -cuid={cuid} -c {name}.hip")
    link = "clang++-19 --hip-link -fgpu-rdc --offload-arch=gfx90a -nogpulib -L. -shared"
    lab.sh(f"{link} a.o core.o -o liba.so")
    for objects, rules in {"core.o b.o": {"device-registrar-shared": "warning"}, "b.o core.o": {}, "core.o b.o -Wl,-Bsymbolic": {"split-state": "warning"}}.items():
        lab.sh(f"{link} {objects} -o libb.so && g++ -x c /dev/null -shared {LOADED} -Wl,--no-as-needed -la -lb -o top.so")
        assert {rule: f["severity"] for rule, f in found(lab, "top.so").items()} == rules, objects
