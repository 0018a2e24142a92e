"""The host variables that nvcc makes beside the device's, in a host link: held against the real GNU ld."""

import sys

import pytest

from elfaudit_test import Lab, SOURCE_DIR, need
from nvlink import compile_all

sys.path.append(str(SOURCE_DIR / "tests" / "link"))
from linkers import agree  # noqa: E402

need("nvcc", "nvlink", "ld.bfd", "g++", "gcc")

STATE = "struct state { int pe; void* heap; };\n"
SOURCES = {
    "constant": STATE + 'extern "C" { __constant__ state library_state; } extern "C" int library_init() { return 0; }',
    "device": STATE + 'extern "C" { __device__ state library_state = {1, nullptr}; } extern "C" int library_init() { return 0; }',
    "managed": STATE + 'extern "C" { __managed__ state library_state; } extern "C" int library_init() { return 0; }',
    "inline": STATE + 'extern "C" { inline __device__ state library_state = {1, nullptr}; } extern "C" int library_init() { return 0; }'
                      "\n__global__ void k(int* p) { *p = library_state.pe; }",
    "static": STATE + 'static __device__ state library_state; extern "C" int library_init() { return 0; }',
}
HEADER = "struct state { int pe; void* heap; }; struct state library_state; int library_init(void);\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("shadow"))
    compile_all(lab, SOURCES, "-gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC")
    for name in SOURCES:
        lab.sh(f"nvcc -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC -dlink {name}.o -o {name}-link.o")
        lab.ar(f"lib{name}.a", f"{name}.o")
    lab.cc("uses.o", f'extern "C" {{ {HEADER} }} int use() {{ return library_init() + library_state.pe; }}', "g++ -fPIC")
    lab.cc("passes.o", f'extern "C" {{ {HEADER} }} int use() {{ return library_state.pe; }}', "g++ -fPIC")
    lab.cc("common.o", f"{HEADER} int use() {{ return library_init() + library_state.pe; }}", "gcc -fcommon -fPIC")
    return lab


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("user, duplicate", [("uses", True), ("passes", False), ("common", False)])
def test_header_that_defines_the_state_again(bench, kind, user, duplicate):
    """uses.o needs the member that has the shadow, passes.o does not; in C the header's is a common symbol."""
    verdict = agree(bench, "bfd", f"-e 0 {user}.o lib{kind}.a")
    if kind in ("constant", "device"):
        assert {symbol for symbol, _ in verdict.duplicates} == ({"library_state"} if duplicate else set())
    if kind == "static":
        assert not verdict.duplicates


@pytest.mark.parametrize("kind", SOURCES)
def test_two_objects(bench, kind):
    bench.sh(f"cp {kind}.o other.o")
    symbols = {symbol for symbol, _ in agree(bench, "bfd", f"-e 0 {kind}.o other.o {kind}-link.o").duplicates}
    assert ("library_state" in symbols) == (kind not in ("inline", "static"))


def test_two_device_links_have_a_copy_each(bench):
    """The objects were compiled with -rdc=true: it is the device links that part the variable."""
    bench.sh("cp inline-link.o again-link.o")
    [found] = [f for f in bench.audit("check", "--format", "json", "inline-link.o", "again-link.o", "inline.o").json()["findings"] if f["rule"] == "split-state"]
    assert found["cause"] == {"kind": "device-linked-apart", "text": "inline-link.o and again-link.o are the outputs of device links of their own, "
                              "and device code shares variables only within one"}
    assert "without -rdc=true" not in str(found) and found["sites"][2]["path"] == "inline.o" and "one device link" in found["fixes"][0]["text"], found


@pytest.mark.parametrize("kind, rule", [("constant", "duplicate-definition"), ("managed", "divergent-definition")])
def test_each_finding_about_a_shadow_says_so(bench, kind, rule):
    user = "uses.o" if rule == "duplicate-definition" else "common.o"
    document = bench.audit("check", "--format", "json", "--", "ld.bfd", "-e", "0", user, f"lib{kind}.a", "-o", "out").json()
    found = [f for f in document["findings"] if f["rule"] == rule and f["symbol"] == "library_state"]
    notes = [note for site in found[0]["sites"] if site["path"] == f"lib{kind}.a" for note in site["notes"]]
    assert notes[0] == f"host-side copy of a __{kind}__ variable", found


@pytest.mark.parametrize("kind, user", [("constant", "uses.o"), ("managed", "common.o")])
def test_an_image_that_could_say_so_and_is_damaged(bench, kind, user):
    """In a host link, which uses no image: nothing that was looked for and not read is passed over."""
    section = next(line.split() for line in bench.sh(f"readelf -SW {kind}.o | tr -d '[]'").out.splitlines() if "__nv_relfatbin" in line)
    offset, size = (int(section[section.index("PROGBITS") + i], 16) for i in (2, 3))
    damaged = bytearray((bench.path / f"{kind}.o").read_bytes())
    damaged[offset + 0x60 : offset + size] = b"\xff" * (size - 0x60)
    (bench.path / "damaged.o").write_bytes(damaged)
    bench.sh("rm -f libdamaged.a && ar rcD libdamaged.a damaged.o")
    result = bench.audit("check", "--", "ld.bfd", "-e", "0", user, "libdamaged.a", "-o", "out")
    assert result.code == 2 and "libdamaged.a(damaged.o): device code" in result.out, result
