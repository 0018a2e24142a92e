"""Links around 2 GiB: the verdict before the link, and the linkers' own. Arrays without values make small objects."""

import pytest

from elfaudit_test import Lab, need
from linkers import AS_OPTION, PROGRAMS, every_linker_and_gold

need("gcc", "ld.bfd")

GIB = 1 << 30
# name: (the arrays' sizes in GiB, options of the compiler, of the link, the linkers that fail)
ALL = {"bfd", "gold", "lld14", "lld19", "mold"}
LINKS = {
    "three": ([1, 1, 1], "", "", ALL),
    "one": ([1, 0.2], "", "", set()),
    "fixed address": ([1, 1, 1], "-fno-pie", "-no-pie", ALL),
    "shared": ([1, 1, 1], "-fPIC", "-shared", ALL),
    "medium": ([1, 1, 1], "-mcmodel=medium", "", set()),
    "large": ([1, 1, 1], "-mcmodel=large -fno-pie", "-no-pie", set()),
    "common": ([1, 1.5], "-fcommon", "", {"lld14", "lld19"}),  # .bss comes behind the arrays
}  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("large"))
    for linker, program in PROGRAMS.items():
        lab.sh(f'mkdir {linker}; ln -s "$(command -v {program})" {linker}/ld')
    return lab


def compile_arrays(lab, sizes, options):
    static = "" if "common" in options else "static volatile "
    arrays = "".join(f"{static}char a{i}[{int(size * GIB)}];\n" for i, size in enumerate(sizes))
    uses = " + ".join(f"a{i}[n]" for i in range(len(sizes)))
    lab.cc("main.o", f"{arrays}int main(int n, char **v) {{ return {uses}; }}", f"gcc -g -O1 {options}")


def findings(lab, command, *options):
    found = lab.audit("check", "--format", "json", *options, "--", *command.split()).json()["findings"]
    return [one for one in found if one["rule"] == "too-large"]


@every_linker_and_gold
@pytest.mark.parametrize("case", LINKS)
def test_a_link(bench, case, linker):
    sizes, options, link, fails = LINKS[case]
    compile_arrays(bench, sizes, options)
    command = f"gcc -B {linker} {link} main.o -o large.out"
    found = findings(bench, command, "--linker", AS_OPTION[linker])
    assert (bench.sh(command, check=False).code != 0) == (linker in fails)
    assert [one["severity"] for one in found if one["severity"] == "error"] == (["error"] if linker in fails else [])
    if fails == ALL:
        assert found[0]["sites"][0]["input"] == "main.o" and found[0]["sites"][0]["line"]
    bench.sh("rm -f large.out")


def test_near_the_limit(bench):
    compile_arrays(bench, [0.001, 0.9, 0.85, 0.001], "")
    assert [one["severity"] for one in findings(bench, "gcc main.o -o large.out")] == ["note"]


@pytest.mark.parametrize("members", [2, 3])
def test_members_of_an_archive(bench, members):
    """Whatever their order is, one of three is out of reach."""
    for i in range(members):
        bench.cc(f"m{i}.o", f"static volatile char a[{GIB}]; int f{i}(int n) {{ return a[n]; }}", "gcc -O1")
    uses = " + ".join(f"f{i}(n)" for i in range(members))
    declared = ", ".join(f"f{i}(int)" for i in range(members))
    bench.cc("uses.o", f"int {declared}; int main(int n, char **v) {{ return {uses}; }}", "gcc")
    bench.ar("libm3.a", *[f"m{i}.o" for i in range(members)])
    fails = bench.sh("gcc uses.o libm3.a -o large.out && rm large.out", check=False).code != 0
    assert fails == (members == 3) == ("error" in [one["severity"] for one in findings(bench, "gcc uses.o libm3.a -o large.out")])


def test_an_option_places_sections(bench):
    compile_arrays(bench, [1, 1, 1], "")
    assert findings(bench, "gcc main.o -o large.out -Wl,--sort-section=alignment") == []
