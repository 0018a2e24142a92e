"""Which image of an object nvlink takes for an architecture, and so with what the others are compared."""

import pytest

from elfaudit_test import Lab, need
from nvlink import RULES, agree, compile_all, elfaudit

need("nvcc", "nvlink")

# Suffix of the object's name: what it holds.
IMAGES = {
    "c80": "-gencode arch=compute_80,code=sm_80",
    "p80": "-gencode arch=compute_80,code=compute_80",
    "both80": "-arch=sm_80",
    "c86": "-gencode arch=compute_86,code=sm_86",
    "c90": "-gencode arch=compute_90,code=sm_90",
    "p90": "-gencode arch=compute_90,code=compute_90",
    "c90a": "-gencode arch=compute_90a,code=sm_90a",
    "c100": "-gencode arch=compute_100,code=sm_100",
    "c100a": "-gencode arch=compute_100a,code=sm_100a",
    "c100f": "-gencode arch=compute_100f,code=sm_100f",
    "c80c90": "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90",
}
DUPLICATE = {"duplicate dv"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("architectures"))
    compile_all(lab, {images: ("__device__ int dv = 1;", options) for images, options in IMAGES.items()})
    return lab


@pytest.mark.deep
@pytest.mark.parametrize(
    "arch, first, second, expected",
    [
        ("sm_80", "c80", "c80", DUPLICATE),
        ("sm_86", "c80", "c80", DUPLICATE),  # a cubin does for later minor versions
        ("sm_86", "c80", "c86", DUPLICATE),
        ("sm_80", "c86", "c86", set()),  # but not for earlier ones
        ("sm_90", "c80", "c80", set()),  # nor for another major version: skipped with a warning
        ("sm_90", "c80", "c90", set()),
        ("sm_80", "c80", "c90", set()),
        ("sm_80", "c80", "c80c90", DUPLICATE),
        ("sm_90", "c80", "c80c90", set()),
        ("sm_90", "c90", "c80c90", DUPLICATE),
        ("sm_80", "p80", "p80", DUPLICATE),
        ("sm_90", "p80", "p80", DUPLICATE),  # PTX does for everything later
        ("sm_90", "p80", "c90", DUPLICATE),
        ("sm_90", "both80", "c90", DUPLICATE),
        ("sm_90", "both80", "c80", set()),
        ("sm_75", "p80", "p80", set()),
        ("sm_80", "p90", "c80", set()),
        ("sm_90a", "c90", "c90", DUPLICATE),  # the suffix does not matter where the number is the same
        ("sm_90a", "c90a", "c90", DUPLICATE),
        ("sm_90", "c90a", "c90", DUPLICATE),
        ("sm_100", "c100a", "c100f", DUPLICATE),
        ("sm_103", "c100", "c100f", DUPLICATE),
        ("sm_103", "c100a", "c100", set()),  # code for one GPU does for no other
        ("sm_103", "c100a", "c100a", set()),
    ],
)
def test_which_image(bench, arch, first, second, expected):
    bench.sh(f"cp {second}.o other.o")
    assert agree(bench, f"{first}.o other.o", arch) == expected
    assert agree(bench, f"other.o {first}.o", arch) == expected


def archs(result):
    return [f["archs"] for f in result.json()["findings"] if f["rule"] in RULES]


@pytest.mark.deep
def test_every_architecture_that_is_there(bench):
    bench.sh("cp c80c90.o other.o")
    theirs, result = elfaudit(bench, ["c80c90.o", "other.o"])
    assert theirs == {"duplicate dv": {"other.o"}} and archs(result) == [["sm_80", "sm_90"]]
    theirs, result = elfaudit(bench, ["c80.o", "other.o"])
    assert theirs == {"duplicate dv": {"other.o"}} and archs(result) == [["sm_80"]]


def test_two_architectures_named(bench):
    bench.sh("cp c80c90.o other.o")
    _, result = elfaudit(bench, ["--arch", "sm_90", "--arch", "sm_80", "c80c90.o", "other.o"])
    assert archs(result) == [["sm_80", "sm_90"]]


def test_lto_is_not_judged(bench):
    compile_all(bench, {"lto": ("__device__ int dv = 1;", "-gencode arch=compute_90,code=lto_90")})
    bench.sh("cp lto.o other.o")
    for words in (["lto.o", "other.o"], ["lto.o", "c90.o"]):
        theirs = bench.sh(f"nvlink -arch=sm_90 {' '.join(words)} -o linked.cubin", check=False)
        assert theirs.code != 0 and "LTO" in theirs.out + theirs.err, theirs
        result = bench.audit("check", "--arch", "sm_90", "--format", "json", *words)
        assert result.code == 2 and not result.json()["complete"], result
