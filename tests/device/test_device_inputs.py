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
    assert notes["f_then_a.o"] == notes["b.o"] == ["host-side copy of a __device__ variable"], finding


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


def test_one_object_without_rdc_splits_what_the_others_share(bench):
    """Not the copy in a device link's output, which is the one that they share."""
    for words, expected in {"a.o whole_b.o": 1, "user.o a.o whole_b.o": 1, "a.o linked_a.o": 0, "user.o a.o linked_a.o": 0, "a.o linked_a.o whole_b.o": 1}.items():
        found = [f for f in bench.audit("check", "--format", "json", *words.split()).json()["findings"] if f["rule"] == "split-state"]
        assert len(found) == expected, words
    assert "whole_b.o has its own copy of the device variable dv, which objects compiled with -rdc=true share" in bench.audit("check", "a.o", "whole_b.o").out


def test_an_object_without_rdc_comes_first_in_advice(lab):
    """nvcc takes neither `inline` nor `extern` alone there."""
    lab.write("mix.cuh", "namespace q { __device__ int mv = 4; }\n")
    for name, rdc in {"a": "-rdc=true", "b": "-rdc=true", "c": ""}.items():
        lab.cc(f"{name}.o", f'#include "mix.cuh"\n__global__ void k{name}(int *p) {{ *p = q::mv; }}\n', f"nvcc -w {rdc} {CUBIN} -MD")
    fixes = {f["rule"]: f["fixes"] for f in lab.audit("check", "--format", "json", "a.o", "b.o", "c.o").json()["findings"]}
    assert fixes["device-duplicate-definition"][0]["text"].startswith("compile c.o with -rdc=true too, declare it `extern` in mix.cuh:1")
    assert not any("`inline`" in fix["text"] for fix in fixes["device-duplicate-definition"])
    assert fixes["split-state"][0]["text"].startswith("compile c.o with -rdc=true too, and define it in one source file")


def test_damaged_device_code_is_not_passed_over(bench):
    data = bytearray((bench.path / "a.fatbin").read_bytes())
    data[16 + 64 + 8 :] = bytes(len(data) - 16 - 64 - 8)  # container and entry are whole, the image is not
    (bench.path / "damaged.fatbin").write_bytes(data)
    result = bench.audit("check", "--format", "json", "--arch", "sm_80", "damaged.fatbin", "b.o")
    assert result.code == 2 and not result.json()["complete"], result
    assert "damaged.fatbin" in str(result.json()["findings"])


# --- Code that the output of another device link on the line has: nvlink leaves it out where nvcc runs it.


@pytest.mark.parametrize(
    "words, expected",
    [
        ("user.o a.o", set()),
        ("user.o a.o linked_a.o", {"undefined dv"}),
        ("linked_a.o user.o a.o", {"undefined dv"}),
        ("user.o a.o linked_ag.o", {"undefined dv"}),
        ("user.o a.o linked_90.o", {"undefined dv"}),  # made for another architecture
        ("user.o libboth.a", {"undefined dv"}),
        ("user.o -L. -lboth", {"undefined dv"}),
        ("user.o liba.a liblinked.a", {"undefined dv"}),
        ("user.o liblinked.a liba.a", {"undefined dv"}),
        ("user.o a.o g.o linked_g.o", set()),
        ("a.o linked_a.o", set()),
        ("a.o a.o linked_a.o", set()),
        ("user.o a_then_f.o linked_a.o", {"undefined dv"}),  # the first module of a joined object counts
        ("user.o a_then_f.o linked_f.o", set()),
        ("user.o a_with_link.o", set()),
        ("user.o a_with_link.o linked_a.o", {"undefined dv"}),
    ],
)
def test_code_that_is_linked_already(bench, words, expected):
    for name, objects in {"linked_ag": "a.o g.o", "linked_g": "g.o", "linked_f": "f.o"}.items():
        if not (bench.path / f"{name}.o").exists():
            bench.sh(f"nvcc -rdc=true {CUBIN} -dlink {objects} -o {name}.o")
    if not (bench.path / "libboth.a").exists():
        bench.sh("nvcc -rdc=true -gencode arch=compute_90,code=sm_90 -dlink a.o -o linked_90.o")
        bench.sh("ld.bfd -r a.o linked_a.o -o a_with_link.o")
        for archive, members in {"liba.a": ["a.o"], "liblinked.a": ["linked_a.o"], "libboth.a": ["a.o", "linked_a.o"]}.items():
            bench.ar(archive, *members)
    assert agree(bench, f"{words} --register-link-binaries=registered.c") == expected


def test_it_is_said_who_has_linked_it(bench):
    result = bench.audit("check", "--", "nvcc", "-arch=sm_80", "-dlink", "user.o", "a.o", "linked_a.o", "-o", "x.o")
    assert result.code == 1 and "a.o defines it, and nvlink leaves that out: linked_a.o is the output of a device link" in result.out
    assert "leave linked_a.o out" in result.out, result


# --- The version of nvlink, which is read, not run: what it refuses and takes depends on it.


def toolkit(lab, release):
    return lab.write(f"cuda-{release}/bin/nvlink", f"\0Cuda compilation tools, release {release}, V{release}.1\0")


@pytest.mark.parametrize(
    "release, arch, images, rules",
    [
        ("13.0", "sm_90", "arch=compute_90a,code=sm_90a", {"device-duplicate-definition"}),
        ("13.1", "sm_90", "arch=compute_90a,code=sm_90a", {"device-code-dropped"}),
        ("13.5", "sm_90a", "arch=compute_90a,code=sm_90a", {"device-duplicate-definition"}),
        ("13.5", "sm_100f", "arch=compute_100a,code=sm_100a", {"device-code-dropped"}),
        ("13.5", "sm_103", "arch=compute_100f,code=sm_100f", {"device-duplicate-definition"}),
        ("13.0", "sm_100", "arch=compute_90a,code=compute_90a", {"device-code-dropped"}),  # PTX for one GPU
        ("13.0", "sm_120", "arch=compute_100f,code=compute_100f", {"device-code-dropped"}),  # and for one family
        ("12.9", "sm_90", "arch=compute_90,code=sm_90", {"device-duplicate-definition", "device-code-too-new"}),
        ("12.9", "sm_90", "arch=compute_90,code=compute_90", {"device-duplicate-definition", "device-code-too-new"}),
        ("12.9", "sm_80", "arch=compute_90,code=sm_90", {"device-code-dropped"}),  # what is not taken is not refused
    ],
)
def test_version_of_nvlink(bench, release, arch, images, rules):
    name = images.replace("=", "").replace(",", "")
    compile_all(bench, {name: (SOURCES["a"], f"-gencode {images}"), f"{name}-b": (SOURCES["b"], f"-gencode {images}")})
    result = bench.audit("check", "--format", "json", "--", toolkit(bench, release), f"-arch={arch}", f"{name}.o", f"{name}-b.o", "-o", "x.cubin")
    assert {f["rule"] for f in result.json()["findings"]} == rules and result.json()["not_judged"] == [], result


def test_version_of_nvlink_is_not_known(bench):
    compile_all(bench, {"c90a": (SOURCES["a"], "-gencode arch=compute_90a,code=sm_90a"), "c90a-b": (SOURCES["b"], "-gencode arch=compute_90a,code=sm_90a")})
    for arch, others in {"sm_90": ["code for one GPU alone in a device link for sm_90"], "sm_90a": []}.items():
        result = bench.audit("check", "--format", "json", "--", "/nowhere/nvlink", f"-arch={arch}", "c90a.o", "c90a-b.o", "-o", "x.cubin")
        assert result.json()["not_judged"] == [*others, "device code that is newer than nvlink"], result
        assert result.code == (0 if others else 1), result
    result = bench.audit("check", "--format", "json", "--", "/nowhere/cuda-12.9/bin/nvlink", "-arch=sm_90a", "c90a.o", "-o", "x.cubin")
    assert {f["rule"] for f in result.json()["findings"]} == {"device-code-too-new"}, result
