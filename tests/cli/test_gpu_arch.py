"""--gpu-arch and `list images --table`: which GPUs the files have code for, and which they should have."""

import json

import pytest

from elfaudit_test import need
from gpu_images import fatbin, gpu_object, linked_library

need("as")


def findings(result):
    """[(rule, severity, architectures, files)] of the rules about GPU architectures."""
    return [
        (f["rule"], f["severity"], f.get("archs"), [s["input"] for s in f["sites"]])
        for f in result.json()["findings"]
        if f["rule"].startswith("gpu-arch-")
    ]


def check(lab, archs, *files):
    return lab.audit("check", "--format", "json", "--gpu-arch", archs, *files)


@pytest.mark.parametrize("spelling", ["8.0;9.0a;10.0+PTX", "8.0, 9.0a 10.0+PTX", "80-real;90a-real;100", "sm_80,sm_90a,sm_100,compute_100"])
def test_all_there(lab, spelling):
    gpu_object(lab, "a.o", "sm_80 sm_90a sm_100 compute_100")
    result = check(lab, spelling, "a.o")
    assert result.code == 0 and findings(result) == []


@pytest.mark.parametrize(
    "wanted, held, severity",
    [
        ("9.0", "sm_80", "error"),  # another major version
        ("8.0", "sm_86", "error"),  # a later minor version
        ("10.0", "sm_90a compute_90a", "error"),  # 'a' is for one GPU alone, PTX too
        ("10.3", "sm_100a", "error"),
        ("8.0", "compute_90", "error"),  # PTX of a later architecture
        ("12.0", "sm_100f", "error"),  # another family
        ("9.0", "sm_80 compute_80", "warning"),  # JIT
        ("10.3", "compute_100f", "warning"),
        ("9.0a", "sm_90", "warning"),  # runs, without what only sm_90a has
        ("8.6", "sm_80", "note"),  # a lower minor version
        ("10.3", "sm_100f", "note"),  # the family
        ("9.0", "sm_90a", "note"),
    ],
)
def test_what_runs_there(lab, wanted, held, severity):
    gpu_object(lab, "a.o", held)
    missing = [f for f in findings(check(lab, wanted, "a.o")) if f[0] == "gpu-arch-missing"]
    name = "sm_" + wanted.replace(".", "")
    assert missing == [("gpu-arch-missing", severity, [name], ["a.o"])]


def test_image_without_any_code_is_for_every_gpu(lab):
    gpu_object(lab, "a.o", "sm_75", hollow=True)  # a source without kernels
    assert [f[0] for f in findings(check(lab, "9.0", "a.o"))] == ["gpu-arch-unexpected"]
    gpu_object(lab, "a.o", "sm_75")
    assert "gpu-arch-missing" in [f[0] for f in findings(check(lab, "9.0", "a.o"))]


def test_exit_code_and_words(lab):
    gpu_object(lab, "a.o", "sm_80")
    gpu_object(lab, "b.o", "sm_80 sm_90")
    result = lab.audit("check", "--gpu-arch", "8.0;9.0", "a.o", "b.o")
    assert result.code == 1
    assert "error: sm_90 is missing: a.o holds nothing that runs there [gpu-arch-missing]" in result.out
    assert "holds sm_80" in result.out and "no kernel image is available" in result.out
    gpu_object(lab, "b.o", "sm_80")
    assert "sm_90 is missing: each of 2 files holds nothing that runs there" in lab.audit("check", "--gpu-arch", "8.0;9.0", "a.o", "b.o").out


def test_covered_by_jit_says_so(lab):
    gpu_object(lab, "a.o", "sm_80 compute_80")
    result = lab.audit("check", "--gpu-arch", "8.0;9.0", "a.o")
    assert result.code == 0 and "sm_90 is covered by JIT: a.o holds no code for it, but PTX (compute_80)" in result.out


def test_filtered_architecture_comes_back(lab):
    gpu_object(lab, "a.o", "sm_80 sm_90")
    gpu_object(lab, "b.o", "sm_70 sm_80 sm_90")
    assert findings(check(lab, "8.0;9.0", "a.o", "b.o")) == [("gpu-arch-unexpected", "warning", ["sm_70"], ["b.o"])]


def test_ptx_that_comes_along_is_expected(lab):
    gpu_object(lab, "a.o", "sm_80 compute_80")  # nvcc -arch=sm_80
    assert findings(check(lab, "sm_80", "a.o")) == []


def test_stand_in_is_told_once(lab):
    gpu_object(lab, "a.o", "sm_90")
    assert [f[0] for f in findings(check(lab, "9.0a", "a.o"))] == ["gpu-arch-missing"]


def test_no_ptx(lab):
    gpu_object(lab, "a.o", "sm_80 sm_90")
    assert findings(check(lab, "8.0;9.0+PTX", "a.o")) == [("gpu-arch-no-ptx", "warning", ["compute_90"], ["a.o"])]
    assert findings(check(lab, "8.0;9.0", "a.o")) == []  # nobody asks for PTX
    gpu_object(lab, "a.o", "sm_80 sm_90 compute_80")
    assert findings(check(lab, "8.0;9.0+PTX", "a.o")) == [("gpu-arch-missing", "note", ["compute_90"], ["a.o"])]


def test_lto_counts_as_code(lab):
    (lab.path / "a.fatbin").write_bytes(fatbin("lto_90"))
    missing = findings(check(lab, "9.0", "a.fatbin"))
    assert missing == []


def test_host_code_alone(lab):
    lab.cc("a.o", ".globl f\nf: ret\n", "as")
    assert lab.audit("check", "a.o").code == 0
    result = lab.audit("check", "--gpu-arch", "8.0", "a.o")
    assert "no input contains device code" in result.out and result.code == 0


def test_libraries_of_a_link_command_are_not_judged(lab):
    need("gcc")
    gpu_object(lab, "a.o", "sm_80", ".globl main\nmain: ret\n")
    gpu_object(lab, "b.o", "sm_75", ".globl f\nf: ret\n")
    lab.sh("gcc -shared b.o -o libb.so")
    result = lab.audit("check", "--format", "json", "--gpu-arch", "8.0", "--", "gcc", "a.o", "libb.so")
    assert findings(result) == []
    assert {f[0] for f in findings(check(lab, "8.0", "a.o", "libb.so"))} == {"gpu-arch-missing", "gpu-arch-unexpected"}


def test_archive_for_more_gpus_than_asked_is_no_mistake(lab):
    need("gcc", "ar")
    gpu_object(lab, "a.o", "sm_80", ".globl main\nmain: call f\n")
    gpu_object(lab, "b.o", "sm_75 sm_80", ".globl f\nf: ret\n")
    lab.ar("libb.a", "b.o")
    assert findings(lab.audit("check", "--format", "json", "--gpu-arch", "8.0", "--", "gcc", "a.o", "libb.a")) == []


# --- linked files of relocatable code: tests/device/test_gpu_arch.py has the programs that were run

LINKED = [  # asked for, what the device link made, what the objects had, severity
    ("9.0", "sm_80", ("sm_80", "sm_80 sm_90"), "error"),
    ("9.0", "sm_80", ("sm_80 compute_80", "sm_80"), "error"),
    ("9.0", "sm_80", ("sm_80", "sm_80 compute_90"), "error"),
    ("9.0", "sm_80", ("sm_80 sm_90a", "sm_80"), "error"),
    ("10.3", "sm_80", ("sm_80 sm_100", "sm_80 sm_100a"), "error"),
    ("9.0", "sm_80", ("sm_80 compute_80", "sm_80 compute_75"), "warning"),
    ("9.0", "sm_80", ("sm_80 compute_80", "sm_80 sm_90"), "warning"),
    ("9.0", "sm_80", ("sm_80 sm_90", "sm_80 sm_90"), "note"),
    ("10.3", "sm_80", ("sm_80 sm_103", "sm_80 sm_100"), "note"),
    ("9.0a", "sm_80", ("sm_80 sm_90a", "sm_80 sm_90"), "warning"),
    ("8.6", "sm_80", ("sm_80", "sm_90"), "note"),
    ("9.0", "sm_90", ("sm_80", "sm_80"), None),
]


@pytest.mark.parametrize("wanted, finished, parts, severity", LINKED)
def test_linked_file(lab, wanted, finished, parts, severity):
    need("gcc")
    linked_library(lab, "x.so", finished, *parts)
    result = check(lab, wanted, "x.so")
    missing = [f[1] for f in findings(result) if f[0] == "gpu-arch-missing"]
    assert missing == ([severity] if severity else []) and result.code == (severity == "error"), result


def test_linked_file_says_which_parts_are_in_the_way(lab):
    need("gcc")
    linked_library(lab, "x.so", "sm_80", "sm_80", "sm_80 sm_90", "sm_80 compute_80")
    out = lab.audit("check", "--gpu-arch", "8.0;9.0", "x.so").out
    assert "error: sm_90 is missing: x.so holds nothing that runs there" in out and "holds sm_80\n" in out
    assert "2 of its 3 relocatable parts have code or PTX for sm_90, and the driver links them only where all have" in out


def test_part_without_any_code_is_in_nothings_way(lab):
    need("gcc")
    linked_library(lab, "x.so", "sm_80", "sm_80", "sm_80 sm_90", hollow=(0,))
    assert [f[1] for f in findings(check(lab, "8.0;9.0", "x.so"))] == ["note"]


def test_unexpected_is_what_all_parts_have(lab):
    need("gcc")
    linked_library(lab, "x.so", "sm_90", "sm_90", "sm_75 sm_80 sm_90 compute_90")
    assert findings(check(lab, "9.0", "x.so")) == []
    linked_library(lab, "x.so", "sm_90", "sm_75 sm_90", "sm_75 sm_80 sm_90")
    assert findings(check(lab, "9.0", "x.so")) == [("gpu-arch-unexpected", "warning", ["sm_75"], ["x.so"])]


def test_ptx_that_all_parts_have(lab):
    need("gcc")
    linked_library(lab, "x.so", "sm_80", "sm_80 compute_80", "sm_80 compute_75")
    assert findings(check(lab, "8.0+PTX", "x.so")) == []
    linked_library(lab, "x.so", "sm_80", "sm_80 compute_80", "sm_80")
    assert findings(check(lab, "8.0+PTX", "x.so")) == [("gpu-arch-no-ptx", "warning", ["compute_80"], ["x.so"])]


LINKED_TABLE = """\
      80     86     90
a.so  cubin  .      .
b.so  cubin  cubin  .
c.so  both   .      JIT
3 of 3 objects with device code, for 3 architectures
"""


def test_table_of_linked_files(lab):
    need("gcc")
    linked_library(lab, "a.so", "sm_80", "sm_80", "sm_80 sm_90")
    linked_library(lab, "b.so", "sm_80", "sm_80", "sm_86")
    linked_library(lab, "c.so", "sm_80", "sm_80 compute_80", "sm_80 sm_90 compute_75")
    assert lab.audit("list", "images", "--table", "a.so", "b.so", "c.so").out == LINKED_TABLE


# --- objects of one link


def test_different_sets(lab):
    gpu_object(lab, "a.o", "sm_80 sm_90")
    gpu_object(lab, "b.o", "sm_80 sm_90")
    gpu_object(lab, "c.o", "sm_90")
    result = lab.audit("check", "a.o", "b.o", "c.o")
    assert result.code == 0 and "3 objects of one link hold device code for 2 different sets" in result.out
    assert "the kernels of c.o don't run on sm_80" in result.out
    # The odd one first.
    assert findings(lab.audit("check", "--format", "json", "a.o", "b.o", "c.o"))[0][3] == ["c.o", "a.o", "b.o"]
    assert findings(lab.audit("check", "--format", "json", "a.o", "b.o")) == []


def test_archives_may_have_more_but_not_less(lab):
    gpu_object(lab, "a.o", "sm_80 sm_90", "call f\n")
    gpu_object(lab, "more.o", "sm_75 sm_80 sm_90 sm_100 compute_100", ".globl f\nf: ret\n")
    gpu_object(lab, "less.o", "sm_90", ".globl f\nf: ret\n")
    more, less = lab.ar("libmore.a", "more.o"), lab.ar("libless.a", "less.o")
    assert findings(lab.audit("check", "--format", "json", "a.o", more)) == []
    [(rule, _, _, files)] = findings(lab.audit("check", "--format", "json", "a.o", less))
    assert rule == "gpu-arch-differs" and set(files) == {"a.o", "libless.a(less.o)"}


def test_output_of_a_device_link_has_no_ptx_by_nature(lab):
    gpu_object(lab, "a.o", "sm_80 compute_80")
    gpu_object(lab, "dlink.o", "sm_80", ".globl __cudaRegisterLinkedBinary_x\n__cudaRegisterLinkedBinary_x: ret\n")
    assert findings(lab.audit("check", "--format", "json", "a.o", "dlink.o")) == []
    assert findings(check(lab, "8.0+PTX", "a.o", "dlink.o")) == []


# --- the spellings that are refused


@pytest.mark.parametrize(
    "spelling, words",
    [
        ("native", "means something else for every machine"),
        ("all-major", "means something else for every version of nvcc"),
        ("sm90", "did you mean sm_90?"),
        ("", "the list of GPU architectures is empty"),
    ],
)
def test_refused(lab, spelling, words):
    result = lab.audit("check", "--gpu-arch", spelling, "a.o")
    assert result.code == 2 and words in result.err


# --- the table

TABLE = """\
                 75     80     90     90a    100
host_and_gpu.o   .      cubin  .      .      .
libx.a(both.o)   .      both   cubin  .      PTX
libx.a(other.o)  cubin  .      .      cubin  .
x.fatbin         .      .      LTO    .      .
4 of 5 objects with device code, for 5 architectures
"""


def test_table(lab):
    gpu_object(lab, "host_and_gpu.o", "sm_80")
    gpu_object(lab, "both.o", "sm_80 compute_80 sm_90 compute_100")
    gpu_object(lab, "other.o", "sm_75 sm_90a")
    lab.cc("host.o", "nop\n", "as")
    lab.ar("libx.a", "both.o", "other.o", "host.o")
    (lab.path / "x.fatbin").write_bytes(fatbin("lto_90"))
    files = ["host_and_gpu.o", "libx.a", "x.fatbin"]
    assert lab.audit("list", "images", "--table", *files).out == TABLE
    rows = json.loads(lab.audit("list", "images", "--table", "--format", "json", *files).out)
    assert rows == json.loads(lab.audit("list", "images", "--format", "json", *files).out)


def test_table_without_device_code(lab):
    lab.cc("host.o", "nop\n", "as")
    assert lab.audit("list", "images", "--table", "host.o").out == "0 of 1 object with device code, for 0 architectures\n"
