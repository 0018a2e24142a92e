"""What nvcc puts into objects, against the list that its flags were made from; and nvcc's own depfiles."""

import os

import pytest

from elfaudit_test import Lab, need

need("nvcc")

pytestmark = pytest.mark.deep

KERNEL = '#include "scale.h"\n__global__ void k(float* x) { *x = scale(*x); }\n'
HEADER = "__device__ inline float scale(float x) { return 2 * x; }\n"
GENCODE = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_100,code=[sm_100,compute_100]"
LIST = "8.0;9.0a;10.0+PTX"


def compile(lab, output, flags):
    if not (lab.path / "k.cu").exists():
        lab.write("scale.h", HEADER)
        lab.write("k.cu", KERNEL)
    lab.sh(f"nvcc {flags} -MD -MF {output}.d -c k.cu -o {output}")


def findings(lab, *arguments):
    result = lab.audit("check", "--format", "json", *arguments)
    return [(f["rule"], f["severity"], f.get("archs")) for f in result.json()["findings"] if f["rule"].startswith(("gpu-", "stale-"))]


def test_whole_program_and_relocatable_code(lab):
    compile(lab, "whole.o", GENCODE)
    compile(lab, "rdc.o", f"{GENCODE} -rdc=true")
    assert findings(lab, "whole.o", "rdc.o") == []
    assert findings(lab, "--gpu-arch", LIST, "whole.o", "rdc.o") == []
    table = lab.audit("list", "images", "--table", "whole.o", "rdc.o").out.splitlines()
    assert table[0].split() == ["80", "90a", "100"] and table[1].split() == ["whole.o", "cubin", "cubin", "both"]
    assert findings(lab, "--gpu-arch", "8.0;9.0a;12.0", "whole.o") == [
        ("gpu-arch-missing", "warning", ["sm_120"]),
        ("gpu-arch-unexpected", "warning", ["compute_100"]),
        ("gpu-arch-unexpected", "warning", ["sm_100"]),
    ]


def test_device_link(lab):
    compile(lab, "rdc.o", f"{GENCODE} -rdc=true")
    lab.sh(f"nvcc -dlink {GENCODE} rdc.o -o dlink.o")
    assert findings(lab, "--gpu-arch", LIST, "rdc.o", "dlink.o") == []
    assert findings(lab, "rdc.o", "dlink.o") == []
    lab.sh(f"nvcc -shared -Xcompiler -fPIC {GENCODE} -rdc=true k.cu -o libk.so")
    assert findings(lab, "--gpu-arch", LIST, "libk.so") == []
    # The toolkit's own device library is on such a line, with code for everything.
    assert findings(lab, "--gpu-arch", LIST, "--", "nvcc", *GENCODE.split(), "-shared", "rdc.o", "-o", "x.so") == []


def test_the_architecture_that_the_device_link_forgot(lab):
    compile(lab, "rdc.o", "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -rdc=true")
    lab.sh("nvcc -dlink -gencode arch=compute_80,code=sm_80 rdc.o -o dlink.o")
    # The driver links it when the program is loaded, as for test_what_a_linked_program_runs_on's "all-have-code".
    assert findings(lab, "--gpu-arch", "8.0;9.0", "rdc.o", "dlink.o") == [("gpu-arch-missing", "note", ["sm_90"])]
    compile(lab, "less.o", "-gencode arch=compute_80,code=sm_80 -rdc=true")
    assert ("gpu-arch-missing", "error", ["sm_90"]) in findings(lab, "--gpu-arch", "8.0;9.0", "less.o", "dlink.o")


def test_a_device_link_for_other_gpus(lab):
    """nvlink drops the objects; the driver links them when the file is loaded, as for test_what_a_linked_program_runs_on's."""
    compile(lab, "rdc.o", "-gencode arch=compute_80,code=sm_80 -rdc=true -Xcompiler -fPIC")
    compile(lab, "whole.o", "-gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC")
    for gpu, expected in (("sm_75", 1), ("sm_80", 0)):
        lab.sh(f"nvcc -w -dlink -arch={gpu} -Xcompiler -fPIC rdc.o -o d.o && g++ -shared rdc.o d.o -o libd.so && g++ -shared rdc.o whole.o d.o -Wl,-z,muldefs -o libw.so")
        for words in (["libd.so"], ["--", "g++", "-shared", "rdc.o", "d.o", "-lcudart_static", "-o", "x.so"]):
            found = lab.audit("check", "--format", "json", *words).json()["findings"]
            notes = [(f["severity"], f["fixes"][0]["text"].split(" with")[1]) for f in found if f["rule"] == "device-code-dropped"]
            assert notes == [("note", " -arch=sm_80")] * expected, found
        assert "device-code-dropped" not in lab.audit("check", "libw.so").out  # what whole.o has fits


def test_the_device_link_that_is_missing(lab):
    """Its command, done as it is told."""
    compile(lab, "rdc.o", "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -rdc=true -Xcompiler -fPIC")
    [finding] = lab.audit("check", "--format", "json", "--", "g++", "-shared", "rdc.o", "-lcudart_static", "-o", "x.so").json()["findings"]
    command = finding["fixes"][0]["text"].split(": ")[1]
    assert command == f"nvcc -dlink {'-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90'} -Xcompiler -fPIC rdc.o -o dlink.o"
    lab.sh(f"{command} && g++ -shared -Wl,-z,defs rdc.o dlink.o -L/usr/local/cuda/lib64 -lcudart -o x.so")
    assert lab.audit("check", "x.so").code == 0
    # A module of Python: the link and the finished file say it once.
    lab.cc("m.o", 'extern "C" void *PyInit__C() { return 0; }', "g++ -fPIC")
    words = "g++ -shared rdc.o m.o -L/usr/local/cuda/lib64 -lcudart -o _C.so"
    assert [f["rule"] for f in lab.audit("check", "--format", "json", "--", *words.split()).json()["findings"]] == ["device-link-missing"]
    lab.sh(words)
    [finding] = [f for f in lab.audit("check", "--format", "json", "_C.so").json()["findings"] if f["rule"] == "undefined-symbol"]
    assert "nvcc -dlink -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -Xcompiler -fPIC OBJECTS -o dlink.o" in finding["fixes"][0]["text"]


def test_an_archive_that_has_what_the_link_asks_for(lab):
    """The objects have code for a GPU more."""
    compile(lab, "a.o", "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -rdc=true")
    lab.cc("b.o", "__device__ int b(int x) { return x; }\n", "nvcc -rdc=true -arch=sm_90")
    lab.ar("libb.a", "b.o")
    assert findings(lab, "--", "nvcc", "-arch=sm_90", "-rdc=true", "a.o", "libb.a", "-o", "x") == []
    [both] = findings(lab, "--", "nvcc", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90", "-rdc=true", "a.o", "libb.a", "-o", "x")
    assert both[0] == "gpu-arch-differs"


CALL = "__device__ int f(int); __global__ void k(int* p) { *p = f(1); }\n"
BOTH = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"


def device_undefined(lab, words):
    document = lab.audit("check", "--format", "json", "--", "nvcc", "-dlink", *words.split(), "-o", "x.o").json()
    return [f for f in document["findings"] if f["rule"] == "device-undefined-symbol"]


def test_a_device_function_with_other_parameters(lab):
    lab.cc("call.o", CALL, "nvcc -rdc=true -arch=sm_80")
    lab.cc("f.o", "__device__ int f(long x) { return x; }\n", "nvcc -rdc=true -arch=sm_80")
    [finding] = device_undefined(lab, "-arch=sm_80 call.o f.o")
    assert (finding["cause"]["kind"], finding["cause"]["text"]) == ("other-parameters", "f.o defines f(long)")
    assert finding["fixes"][0]["text"].startswith("declare and call f(long) as f.o defines it, or define f(int) there")
    lab.cc("call.o", CALL.replace("f(int)", "f(long)"), "nvcc -rdc=true -arch=sm_80")
    assert device_undefined(lab, "-arch=sm_80 call.o f.o") == []


def test_an_object_without_one_of_the_gpus(lab):
    """Two names of it are one cause, and the GPU can be left out."""
    lab.cc("call.o", CALL.replace("f(1)", "f(1) + g(1)").replace("int f", "int g(int); __device__ int f"), f"nvcc -rdc=true {BOTH}")
    lab.cc("fg.o", "__device__ int f(int x) { return x; } __device__ int g(int x) { return x; }\n", "nvcc -rdc=true -arch=sm_90")
    [finding] = device_undefined(lab, f"{BOTH} call.o fg.o")
    assert finding["cause"]["text"] == "fg.o defines it for compute_90 and sm_90, and not for sm_80" and len(finding["also"]) == 1
    assert finding["fixes"][1]["text"] == "leave sm_80 out of the architectures of this link"
    lab.sh("nvcc -dlink -arch=sm_90 call.o fg.o -o x.o")
    lab.cc("fg.o", "__device__ int f(int x) { return x; } __device__ int g(int x) { return x; }\n", f"nvcc -rdc=true {BOTH}")
    lab.sh(f"nvcc -dlink {BOTH} call.o fg.o -o x.o")


def test_short_form(lab):
    compile(lab, "a.o", "-arch=sm_90")
    assert findings(lab, "--gpu-arch", "sm_90", "a.o") == [] == findings(lab, "--gpu-arch", "90", "a.o")


def test_freshly_compiled_is_not_stale(lab):
    compile(lab, "a.o", "-arch=sm_90 -g")
    assert findings(lab, "a.o") == []
    header, made = lab.path / "scale.h", (lab.path / "a.o").stat().st_mtime_ns
    os.utime(header, ns=(made + 1, made + 1))
    assert findings(lab, "a.o") == [("stale-object", "warning", None)]


# --- what a linked program of relocatable code runs on

LINKED = {
    "kernel": """extern __device__ int f(int);
                 __global__ void k(int* p) { *p = f(*p); }
                 void run() { k<<<1, 1>>>(nullptr); }""",
    "function": "__device__ int f(int x) { return x + 1; }",
    "main": "void run(); int main() { run(); }",  # no device code
    "whole": "__global__ void w(int* p) { *p = 1; } void run_w() { w<<<1, 1>>>(nullptr); }",
    "dynamic": """__device__ int v; __global__ void child() { v = 7; } __global__ void parent() { child<<<1, 1>>>(); }
                  int main() { parent<<<1, 1>>>(); }""",
}
FLAGS = {
    "75": "-gencode arch=compute_75,code=sm_75",
    "75p": "-gencode arch=compute_75,code=[sm_75,compute_75]",
    "80": "-gencode arch=compute_80,code=sm_80",
    "80p": "-gencode arch=compute_80,code=[sm_80,compute_80]",
    "80+90": "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90",
    "80+90a": "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a",
    "80+90ap": "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=compute_90a",
    "90": "-gencode arch=compute_90,code=sm_90",
}
# Programs, the device link's flags, and what became of the kernel on an H100 and an H200 (sm_90).
PROGRAMS = {
    "one-has-no-code": ("kernel:80 function:80+90 main:80", "80", "cudaErrorSymbolNotFound", "error"),
    "all-have-ptx": ("kernel:80p function:80p main:80", "80", "cudaSuccess", "warning"),
    "ptx-and-code": ("kernel:80p function:80+90 main:80", "80", "cudaSuccess", "warning"),
    "all-have-code": ("kernel:80+90 function:80+90 main:80", "80", "cudaSuccess", "note"),
    "one-has-no-ptx": ("kernel:80p function:80 main:80", "80", "cudaErrorInvalidSource", "error"),
    "device-link-for-both": ("kernel:80+90 function:80+90 main:80+90", "80+90", "cudaSuccess", None),
    "code-for-that-gpu-alone": ("kernel:80+90a function:80+90a main:80", "80", "cudaSuccess", "note"),
    "ptx-for-that-gpu-alone": ("kernel:80+90ap function:80+90 main:80", "80", "cudaSuccess", "warning"),
    "dynamic-parallelism-75": ("dynamic:75", "75", "cudaErrorSymbolNotFound", "error"),
    "dynamic-parallelism-75-ptx": ("dynamic:75p", "75", "cudaSuccess", "warning"),
    "dynamic-parallelism-90": ("dynamic:90", "90", "cudaSuccess", None),
    "whole-program-objects-beside": ("kernel:80+90 function:80+90 main:80 whole:80", "80", "cudaSuccess", "note"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("programs"))
    for parts, flags, _, _ in PROGRAMS.values():
        for name in (part.split(":")[0] for part in parts.split()):
            lab.write(f"{name}.cu", LINKED[name] + "\n")
        for name, archs in (part.split(":") for part in parts.split()):
            if not (lab.path / f"{name}-{archs}.o").exists():
                lab.sh(f"nvcc -w -rdc={'false' if name == 'whole' else 'true'} {FLAGS[archs]} -c {name}.cu -o {name}-{archs}.o")
    return lab


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_linked_program_runs_on(programs, name):
    parts, flags, outcome, severity = PROGRAMS[name]
    objects = " ".join(part.replace(":", "-") + ".o" for part in parts.split())
    programs.sh(f"nvcc -w {FLAGS[flags]} {objects} -o {name}")
    result = programs.audit("check", "--format", "json", "--gpu-arch", "9.0", name)
    missing = [f["severity"] for f in result.json()["findings"] if f["rule"] == "gpu-arch-missing"]
    assert missing == ([severity] if severity else [])
    assert (result.code == 0) == (outcome == "cudaSuccess"), result


def test_what_was_built_is_expected(programs):
    programs.sh(f"nvcc -w {FLAGS['90']} dynamic-90.o -o exactly")
    assert findings(programs, "--gpu-arch", "9.0", "exactly") == []
    table = programs.audit("list", "images", "--table", "exactly").out.splitlines()
    assert table[0].split() == ["90"] and table[1].split() == ["exactly", "cubin"]
