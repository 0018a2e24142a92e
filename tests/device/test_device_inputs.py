"""What nvlink takes as input, and what it passes over without a word."""

import pytest

from elfaudit_test import Lab, need
from nvlink import agree, compile_all

need("nvcc", "nvlink", "ld.bfd")

pytestmark = pytest.mark.deep

SOURCES = {
    "a": "__device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
    "b": "__device__ int dv = 1; __global__ void kb(int* p) { *p = dv; }",
    "user": "extern __device__ int dv; __global__ void ku(int* p) { *p = dv; }",
    "f": "__device__ int f(int x) { return x; } __global__ void kf(int* p) { *p = f(1); }",
    "g": "__device__ int f(int x) { return x; }",
}
DUPLICATE = {"duplicate dv"}
CUBIN = "-gencode arch=compute_80,code=sm_80"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("inputs"))
    compile_all(lab, SOURCES, CUBIN)
    lab.sh(f"nvcc -w -rdc=true {CUBIN} -Xcompiler -fPIC -shared a.cu -o liba.so")
    lab.sh(f"nvcc -w {CUBIN} -c a.cu -o whole_a.o && nvcc -w {CUBIN} -c b.cu -o whole_b.o")
    lab.sh(f"nvcc -rdc=true {CUBIN} -dlink a.o -o linked_a.o")
    for kind in ("cubin", "fatbin"):
        lab.sh(f"for x in a b user; do nvcc -w -rdc=true {CUBIN} -{kind} $x.cu -o $x.{kind}; done")
    lab.sh("ld.bfd -r a.o f.o -o a_then_f.o && ld.bfd -r f.o a.o -o f_then_a.o")
    return lab


@pytest.mark.parametrize("words", ["a.cubin b.fatbin", "b.fatbin a.cubin", "a.cubin b.o", "a.o b.cubin", "a.fatbin b.o"])
def test_cubins_and_fatbins(bench, words):
    assert agree(bench, words) == DUPLICATE


def test_undefined_in_a_cubin(bench):
    assert agree(bench, "user.cubin") == agree(bench, "user.fatbin") == {"undefined dv"}
    assert agree(bench, "user.cubin a.fatbin") == set()


def test_of_joined_objects_the_first_is_read(bench):
    assert agree(bench, "a_then_f.o b.o") == DUPLICATE
    assert agree(bench, "a_then_f.o g.o") == set()
    assert agree(bench, "f_then_a.o b.o") == set()
    assert agree(bench, "f_then_a.o g.o") == {"duplicate _Z1fi"}
    assert agree(bench, "f_then_a.o user.o") == {"undefined dv"}


def test_joined_objects_are_a_finding(bench):
    document = bench.audit("check", "--format", "json", "--arch", "sm_80", "a_then_f.o", "g.o").json()
    dropped = [f for f in document["findings"] if f["rule"] == "device-code-dropped"]
    assert [(f["severity"], f["sites"][0]["input"]) for f in dropped] == [("warning", "a_then_f.o")]


def test_a_shadow_is_known_in_a_joined_object(bench):
    """The variable is in its second image of the architecture, which the device link does not read."""
    finding = bench.audit("check", "--format", "json", "--arch", "sm_80", "f_then_a.o", "b.o").json()["findings"]
    notes = {site["input"]: site["notes"] for f in finding if f["rule"] == "duplicate-definition" for site in f["sites"]}
    assert notes["f_then_a.o"] == notes["b.o"] == ["host shadow of a __device__ variable"], finding


@pytest.mark.parametrize("words", ["liba.so b.o", "b.o liba.so"])
def test_shared_objects_are_passed_over(bench, words):
    assert agree(bench, words) == set()


def test_shared_object_defines_nothing(bench):
    assert agree(bench, "user.o liba.so") == {"undefined dv"}


@pytest.mark.parametrize("words", ["whole_a.o b.o", "linked_a.o b.o", "whole_a.o whole_b.o", "linked_a.o linked_a.o"])
def test_finished_code_is_passed_over(bench, words):
    assert agree(bench, words) == set()


def test_finished_code_defines_nothing(bench):
    assert agree(bench, "user.o whole_a.o") == {"undefined dv"}
    assert agree(bench, "user.o linked_a.o") == {"undefined dv"}


def test_private_copies_are_a_finding(bench):
    result = bench.audit("check", "--format", "json", "whole_a.o", "whole_b.o")
    assert [(f["rule"], f["severity"], f["demangled"]) for f in result.json()["findings"]] == [("split-state", "warning", "dv")]
    assert result.code == 0


def test_damaged_device_code_is_not_passed_over(bench):
    data = bytearray((bench.path / "a.fatbin").read_bytes())
    data[16 + 64 + 8 :] = bytes(len(data) - 16 - 64 - 8)  # container and entry are whole, the image is not
    (bench.path / "damaged.fatbin").write_bytes(data)
    result = bench.audit("check", "--format", "json", "--arch", "sm_80", "damaged.fatbin", "b.o")
    assert result.code == 2 and not result.json()["complete"], result
    assert "damaged.fatbin" in str(result.json()["findings"])
