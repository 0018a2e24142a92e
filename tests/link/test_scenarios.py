"""Small links of every shape that people have, scenarios.txt, each held against every linker: what it rejects and what it
extracts."""

import pathlib

import pytest

from elfaudit_test import Lab, need
from linkers import agree, every_linker
from scenario_inputs import make_bench

need("ld.bfd", "as", "ar")

CASES = pathlib.Path(__file__).with_name("scenarios.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("scenarios"))
    make_bench(lab)
    return lab


@pytest.mark.parametrize("words", CASES)
@every_linker
def test_agrees(bench, linker, words):
    agree(bench, linker, words.replace(" -( ", " '-(' ").replace(" -)", " '-)'"))


def test_thin_archive(bench):
    """GNU ld's map names a thin archive's member by its own path; elfaudit says which archive it came from."""
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", "start.o", "thin.a", "foo2.o").json()
    assert [m["input"] for m in result["extracted_members"]] == ["thin.a(foo.o)"]
    assert [(d["first"], d["other"]) for d in result["duplicates"]] == [("thin.a(foo.o)", "foo2.o")]


def test_nested_archive(bench):
    """GNU ld does not look into it, finds no index and gives up; elfaudit says so and goes on."""
    assert "archive has no index" in bench.sh("ld.bfd start.o nested.a -o out", check=False).err
    result = bench.audit("check", "--", "ld.bfd", "start.o", "nested.a", "-o", "out")
    assert result.code == 2 and "nested.a: the archive has no symbol index" in result.out, result
