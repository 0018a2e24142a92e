"""Device code that is LTO-IR alone: what its host half says it defines is judged, the rest is reported as not checked."""

import itertools
import pathlib
import re
import shutil

import pytest

from elfaudit_test import Lab, need
from nvlink import compile_all

need("nvcc", "nvlink")

pytestmark = pytest.mark.deep
TOOLKIT = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
if not any((TOOLKIT / folder).exists() for folder in ("lib/libnvvm.so.4", "lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so.4")):
    pytest.skip("nvlink -dlto needs libnvvm", allow_module_level=True)

LTO = "-gencode arch=compute_90,code=lto_90"
CUBIN = "-gencode arch=compute_90,code=sm_90"
DEFINITIONS = {
    "variable": "__device__ int x = 1;",
    "constant": "__constant__ int x = 1;",
    "managed": "__managed__ int x = 1;",
    "inline": "inline __device__ int x = 1;",
    "longer": "inline __device__ long x = 1;",
    "weak": "__device__ __attribute__((weak)) int x = 1;",
    "static": "static __device__ int x = 1;",
    "function": '__device__ int x(int a) { return a; }',
    "many": "struct Big { int v[40]; }; __device__ int x(Big b, Big c, double d) { return b.v[0]; }",
    "host": "#include <cstdlib>\nint x(int a) { if (a) exit(1); return a; }",
}
SOURCES = {f"{n}_{k}": f"{s}\n__global__ void kernel_{n}_{k}(int* p) {{ *p = 1; }}" for n, s in DEFINITIONS.items() for k in "ab"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("device-lto"))
    compile_all(lab, {f"lto_{name}": (source, LTO) for name, source in SOURCES.items()})
    compile_all(lab, {f"elf_{name}": (source, CUBIN) for name, source in SOURCES.items() if name.startswith(("variable", "function"))})
    return lab


def line(*objects, option="-dlto"):
    return ["nvlink", "-arch=sm_90", option, f"-nvvmpath={TOOLKIT}", f"-L{TOOLKIT}/lib", *objects, "-lcudadevrt", "-o", "o.cubin"]


def duplicates(lab, *objects):
    """Of nvlink, and of elfaudit."""
    theirs = lab.sh(" ".join(line(*objects)), check=False)
    named = set(re.findall(r"(?:Linking globals named|Multiple definition of) '(.*?)'", theirs.out + theirs.err))
    assert bool(theirs.code) == bool(named) or "Size do" in theirs.out + theirs.err, theirs
    ours = lab.audit("check", "--format", "json", "--", *line(*objects)).json()["findings"]
    return named, {f["symbol"] for f in ours if f["rule"] == "device-duplicate-definition"}


def test_every_pair_of_definitions(bench):
    for a, b in itertools.product(DEFINITIONS, repeat=2):
        theirs, ours = duplicates(bench, f"lto_{a}_a.o", f"lto_{b}_b.o")
        assert theirs == ours, (a, b)


@pytest.mark.parametrize("words", ["lto_variable_a.o elf_variable_b.o", "elf_function_a.o lto_function_b.o", "lto_many_a.o elf_function_b.o"])
def test_beside_cubins(bench, words):
    theirs, ours = duplicates(bench, *words.split())
    assert theirs == ours


def test_the_rest_is_not_checked(bench):
    result = bench.audit("check", "--format", "json", "--", *line("lto_static_a.o", "lto_static_b.o"))
    assert result.code == 2 and not result.json()["complete"]
    assert {f["rule"] for f in result.json()["findings"]} == {"device-code-dropped"}


def test_without_dlto_nvlink_refuses_it(bench):
    words = line("lto_static_a.o", option="-v")
    assert "LTO objects found, use -dlto" in bench.sh(" ".join(words), check=False).err
    result = bench.audit("check", "--format", "json", "--", *words)
    assert result.code == 1 and [f["rule"] for f in result.json()["findings"]] == ["lto-not-read"]
