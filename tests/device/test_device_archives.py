"""Archives in a device link: nvlink merges every member, and takes what -l finds after everything else."""

import pytest

from elfaudit_test import Lab, need
from elfaudit_wheels import wheel
from nvlink import agree, compile_all

need("nvcc", "nvlink")

SOURCES = {
    "def_a": "__device__ int dv = 1; __global__ void ka(int* p) { *p = dv; }",
    "def_b": "__device__ int dv = 1; __global__ void kb(int* p) { *p = dv; }",
    "weak": "inline __device__ int dv = 1; __global__ void kweak(int* p) { *p = dv; }",
    "user": "extern __device__ int dv; __global__ void kuser(int* p) { *p = dv; }",
    "fn": "__device__ int f(int x) { return x; }",
    "two": "__device__ int dv = 1; __device__ int ev = 2;",
    "user_ev": "extern __device__ int ev; __global__ void kev(int* p) { *p = ev; }",
    "launches": "__global__ void child(int* p) { *p = 1; } __global__ void parent(int* p) { child<<<1, 1>>>(p); }",
}
DUPLICATE = {"duplicate dv"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("archives"))
    compile_all(lab, SOURCES, "-gencode arch=compute_80,code=sm_80")
    for archive, *members in (
        ("liba.a", "def_a.o"),
        ("libb.a", "def_b.o"),
        ("libcopy.a", "def_b.o"),
        ("libab.a", "def_a.o", "def_b.o"),
        ("libtwo.a", "two.o"),
        ("libweak.a", "weak.o"),
        ("libuser.a", "user.o", "fn.o"),
        ("libtwice.a", "fn.o", "fn.o"),
        ("libempty.a",),
    ):
        if archive == "libtwice.a":
            lab.sh("rm -f libtwice.a && gcc-ar qcD libtwice.a fn.o fn.o")
        else:
            lab.ar(archive, *members)
    return lab


@pytest.mark.deep
@pytest.mark.parametrize(
    "words, expected",
    [
        ("def_a.o libb.a", DUPLICATE),
        ("libb.a def_a.o", DUPLICATE),
        ("def_a.o libuser.a", set()),
        ("user.o libab.a", DUPLICATE),  # of an archive that a host link would take one member of
        ("user.o liba.a libb.a", DUPLICATE),
        ("libab.a", DUPLICATE),  # nothing needs either member
        ("libb.a liba.a", DUPLICATE),
        ("user_ev.o def_a.o libtwo.a", DUPLICATE),
        ("libtwo.a user_ev.o def_a.o", DUPLICATE),
        ("fn.o libb.a", set()),
        ("fn.o libtwice.a", {"duplicate _Z1fi"}),
        ("libtwice.a", {"duplicate _Z1fi"}),
        ("libempty.a user.o", {"undefined dv"}),
    ],
)
def test_every_member_takes_part(bench, words, expected):
    assert agree(bench, words) == expected


@pytest.mark.parametrize(
    "words, expected",
    [
        ("user.o libb.a", set()),
        ("libb.a user.o", set()),
        ("libuser.a", {"undefined dv"}),
        ("libuser.a libb.a", set()),
        ("weak.o libb.a", set()),
        ("libb.a weak.o", set()),
        ("user.o libweak.a", set()),
        ("user.o", {"undefined dv"}),
    ],
)
def test_order_does_not_matter(bench, words, expected):
    assert agree(bench, words) == expected


@pytest.mark.parametrize(
    "words, expected",
    [
        ("user.o -L. -lb", set()),
        ("-L. -lb user.o", set()),
        ("def_a.o -L. -lb", DUPLICATE),
        ("-L. -lb def_a.o", DUPLICATE),
        ("user.o -L. -lab", DUPLICATE),
        ("user.o -L. -la -lb", DUPLICATE),
        ("user_ev.o def_a.o -L. -ltwo", DUPLICATE),
        ("-L. -ltwo user_ev.o def_a.o", DUPLICATE),
        ("weak.o -L. -lb", set()),
        ("fn.o -L. -lnothere", set()),  # not found, and never mind
    ],
)
def test_libraries_by_option(bench, words, expected):
    assert agree(bench, words) == expected


@pytest.mark.parametrize(
    "words, expected",
    [
        ("user.o libb.a libb.a", set()),
        ("user.o -L. -lb -lb", set()),
        ("user.o libb.a -L. -lb", set()),
        ("user.o ./libb.a {here}/libb.a", set()),
        ("user.o libb.a libcopy.a", {"duplicate dv", "duplicate _Z2kbPi"}),
        ("user.o -L. -lb -lcopy", {"duplicate dv", "duplicate _Z2kbPi"}),
        ("def_b.o libb.a", {"duplicate dv", "duplicate _Z2kbPi"}),
    ],
)
def test_one_archive_twice(bench, words, expected):
    assert agree(bench, words.format(here=bench.path)) == expected


def test_library_that_is_not_found(bench):
    # What it might define is unknown: where nvlink says "undefined", elfaudit says that it could not judge.
    assert bench.sh("nvlink -arch=sm_80 user.o -L. -lnothere -o linked.cubin", check=False).code != 0
    result = bench.audit("check", "--format", "json", "--", "nvlink", "-arch=sm_80", "user.o", "-L.", "-lnothere", "-o", "linked.cubin")
    assert result.code != 0


def test_device_runtime(bench):
    assert agree(bench, "launches.o") == {"undefined __cudaCDP2GetParameterBufferV2", "undefined __cudaCDP2LaunchDeviceV2"}
    bench.sh('cp "$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64/libcudadevrt.a" . && cp libcudadevrt.a librenamed.a')
    assert agree(bench, "launches.o libcudadevrt.a") == set()
    assert agree(bench, "launches.o librenamed.a") == set()
    assert agree(bench, "libcudadevrt.a") == set()


def test_thin_archive(bench):
    bench.sh("rm -f libthin.a && gcc-ar rcDT libthin.a def_b.o")
    assert agree(bench, "def_a.o libthin.a") == DUPLICATE
    assert agree(bench, "user.o libthin.a") == set()


@pytest.mark.xfail(reason="nvlink 13.0 cannot read thin archives of other folders' objects, elfaudit can", strict=True)
def test_thin_archive_of_another_folder(bench):
    bench.sh("mkdir -p folder && cp def_b.o folder && rm -f libfolder.a && gcc-ar rcDT libfolder.a folder/def_b.o")
    assert agree(bench, "user.o libfolder.a") == set()


def test_a_library_left_out_leaves_device_names_open(bench):
    """user.o needs dv of liba.a: without it nothing is known of dv."""
    rules = lambda *words: {f["rule"] for f in bench.audit("check", "--format", "json", *words).json()["findings"]}
    assert "device-undefined-symbol" in rules("user.o")
    assert "device-undefined-symbol" not in rules("user.o", "liba.a", "--never-read", "liba.a")
    assert "device-undefined-symbol" not in rules("--never-read", "liba.a", "--", "nvcc", "-arch=sm_80", "user.o", "liba.a", "-o", "out")
    assert "device-undefined-symbol" in rules("--never-read", "nothing.a", "--", "nvcc", "-arch=sm_80", "user.o", "fn.o", "-o", "out")


def test_the_toolkits_own_archive_is_left_out_of_a_wheel(lab):
    lab.sh('cp "$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64/libcudadevrt.a" .')
    for entry, found in {"pkg/lib/libcudadevrt.a": False, "pkg/lib/libother.a": True}.items():
        name = wheel(lab, "pkg-1.0-py3-none-linux_x86_64.whl", {entry: (lab.path / "libcudadevrt.a").read_bytes()})
        rules = {f["rule"] for f in lab.audit("check", "--gpu-arch", "9.0;12.0", "--format", "json", name).json()["findings"]}
        assert ("gpu-arch-unexpected" in rules) == found, (entry, rules)
