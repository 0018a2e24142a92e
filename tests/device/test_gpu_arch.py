"""What nvcc puts into objects, against the list that its flags were made from; and nvcc's own depfiles."""

import os

from elfaudit_test import need

need("nvcc")

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
    assert findings(lab, "--gpu-arch", "8.0;9.0", "rdc.o", "dlink.o") == [("gpu-arch-missing", "error", ["sm_90"])]


def test_short_form(lab):
    compile(lab, "a.o", "-arch=sm_90")
    assert findings(lab, "--gpu-arch", "sm_90", "a.o") == [] == findings(lab, "--gpu-arch", "90", "a.o")


def test_freshly_compiled_is_not_stale(lab):
    compile(lab, "a.o", "-arch=sm_90 -g")
    assert findings(lab, "a.o") == []
    header, made = lab.path / "scale.h", (lab.path / "a.o").stat().st_mtime_ns
    os.utime(header, ns=(made + 1, made + 1))
    assert findings(lab, "a.o") == [("stale-object", "warning", None)]
