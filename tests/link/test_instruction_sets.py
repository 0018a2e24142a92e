"""An inline function of which the link keeps a copy with instructions that other objects are not compiled for."""

import json

import pytest

from elfaudit_test import Lab, need

need("g++", "ld.bfd")

HEADER = """inline float dot(const float* a, const float* b, int n) { float s = 0; for (int i = 0; i < n; ++i) s += a[i] * b[i]; return s; }
inline unsigned low(unsigned x, unsigned n) { return x & ~(~0u << n); }
"""
USE = "float use_%s(const float* a) { auto* volatile f = dot; auto* volatile g = low; return f(a, a, 8) + g(3, 1); }\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("instructions"))
    lab.write("dot.h", HEADER)
    return lab


# options of the object that comes first and of the other: what is kept of the first, by name
CASES = [
    ("-mavx2", "", {"dot": "AVX"}),
    ("-mavx512f -mprefer-vector-width=512 -O3", "-O3", {"dot": "AVX-512 and FMA"}),
    ("-g -mavx2 -mfma -O2", "-g -O2", {"dot": "AVX and FMA"}),
    ("-g -mbmi2 -O2", "-g -O2", {"low": "BMI"}),
    ("-mbmi2 -O2", "-O2", {}),  # not known of what the other was compiled for
    ("", "-mavx2", {}),
    ("-mavx2", "-mavx2", {}),
    ("-mavx", "-march=haswell", {}),
    ("-O0", "-O2", {}),
]


@pytest.mark.parametrize(("first", "other", "expected"), CASES)
@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++", marks=pytest.mark.deep)])
def test_the_copy_that_is_kept(bench, compiler, first, other, expected):
    need(compiler)
    bench.cc("first.o", '#include "dot.h"\n' + USE % "a", f"{compiler} {first}")
    bench.cc("other.o", '#include "dot.h"\n' + USE % "b" + "int main() {}", f"{compiler} {other}")
    found = bench.audit("check", "--format", "json", "--", "g++", "first.o", "other.o").json()["findings"]
    said = {f["demangled"].split("(")[0]: f["message"].split("uses ")[1].split(" instructions")[0] for f in found}
    if compiler == "clang++" and "BMI" in expected.values():
        expected = {}  # clang writes no options down
    if compiler == "g++" or not expected:
        assert said == expected
    assert set(said) == set(expected)
    assert all([site["input"] for site in f["sites"]] == ["first.o", "other.o"] for f in found)
    if expected:  # the advice
        assert bench.audit("check", "--", "g++", "other.o", "first.o").code == 0


def test_the_options_of_a_compile_command(bench):
    need("clang++")
    commands = []
    for name, options, rest in (("first", "-mbmi2 -O2", ""), ("other", "-O2", "int main() {}")):
        bench.write(f"{name}.cpp", '#include "dot.h"\n' + USE % name + rest)
        command = f"clang++ {options} -c {name}.cpp -o {name}.o"
        bench.sh(command)
        commands.append({"directory": str(bench.path), "file": f"{name}.cpp", "command": command})
    bench.write("compile_commands.json", json.dumps(commands))
    found = bench.audit("check", "--format", "json", "--", "g++", "first.o", "other.o").json()["findings"]
    assert [f["message"].split("uses ")[1].split(" instructions")[0] for f in found] == ["BMI"]
    assert found[0]["sites"][0]["notes"] == ["compiled with -mbmi2"]
