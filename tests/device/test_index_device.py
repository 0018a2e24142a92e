"""Facts files of objects with device code: nvlink's verdict is the same without the objects' images."""

import pytest

from elfaudit_test import need

need("nvcc", "g++")

pytestmark = pytest.mark.deep

SOURCE = """
__device__ int shared_state = 1;
__constant__ float table[4];
__device__ int helper(int x) { return x + shared_state; }
__global__ void KERNEL(int *p) { *p = helper(*p) + MORE; }
"""


@pytest.fixture
def objects(lab):
    for name, command in [
        ("rdc1.o", "nvcc -rdc=true -g -arch=sm_80"),
        ("rdc2.o", "nvcc -rdc=true -arch=sm_80"),
        ("whole1.o", "nvcc -gencode arch=compute_80,code=[sm_80,compute_80]"),
        ("whole2.o", "nvcc -arch=sm_80"),
    ]:
        text = SOURCE.replace("KERNEL", f"kernel_{name[:-2]}").replace("MORE", "missing()" if "rdc2" in name else "1")
        lab.cc(name, ("__device__ int missing();\n" if "rdc2" in name else "") + text, command)
        assert lab.audit("index", name, "-o", name + ".facts").code == 0
    return lab


def test_device_findings_are_the_same(objects):
    names = ["rdc1.o", "rdc2.o", "whole1.o", "whole2.o"]
    for format in ("text", "json"):
        expected = objects.audit("check", "--format", format, *names)
        facts = objects.audit("check", "--format", format, *(name + ".facts" for name in names))
        assert (facts.code, facts.out) == (expected.code, expected.out) and facts.code == 1
    rules = {finding["rule"] for finding in expected.json()["findings"]}
    assert {"device-duplicate-definition", "device-undefined-symbol", "split-state"} <= rules


def test_device_findings_need_no_object(objects):
    names = ["rdc1.o", "rdc2.o", "whole1.o", "whole2.o"]
    def told(result):
        return [(f["rule"], f["symbol"], f["message"]) for f in result.json()["findings"]]
    expected = told(objects.audit("check", "--format", "json", *names))
    objects.sh("rm *.o")
    result = objects.audit("check", "--format", "json", *(name + ".facts" for name in names))
    assert result.code == 1 and told(result) == expected
    assert "the object is missing" in result.out


def test_a_device_link_takes_facts(objects):
    """Both links of nvcc name the same inputs."""
    objects.ar("libwhole.a", "whole1.o", "whole2.o")
    objects.audit("index", "libwhole.a", "-o", "libwhole.a.facts")
    objects.audit("index", "rdc1.o", "rdc2.o", "-o", "both.facts")
    nvcc = ["--", "nvcc", "-arch=sm_80"]
    expected = objects.audit("check", *nvcc, "rdc1.o", "rdc2.o", "libwhole.a", "-o", "out")
    assert expected.code == 1 and "shared_state" in expected.out
    for words in (["rdc1.o.facts", "rdc2.o.facts", "libwhole.a.facts"], ["both.facts", "libwhole.a"]):
        result = objects.audit("check", *nvcc, *words, "-o", "out")
        assert (result.code, result.out) == (expected.code, expected.out), result


def test_nvlink_reads_an_archive_once_that_is_named_by_its_facts_as_well(objects):
    objects.ar("libwhole.a", "rdc1.o")
    objects.audit("index", "libwhole.a", "-o", "libwhole.a.facts")
    line = ["--", "nvlink", "-arch=sm_80", "rdc2.o"]
    expected = objects.audit("check", *line, "libwhole.a", "-L.", "-lwhole", "-o", "out.cubin")
    result = objects.audit("check", *line, "libwhole.a.facts", "-L.", "-lwhole", "-o", "out.cubin")
    assert (result.code, result.out) == (expected.code, expected.out), result


@pytest.mark.parametrize("left_out", ["rdc1.o", "rdc1.o.facts"])
def test_a_device_link_of_which_a_part_is_never_read(objects, left_out):
    """Beside facts: what is missing may be in what was left out, whether that is an object or facts of one."""
    result = objects.audit("check", "--format", "json", "--never-read", "rdc1.o", "rdc2.o.facts", left_out)
    assert result.code == 0 and "device-undefined-symbol" not in result.out, result
    whole = objects.audit("check", "--format", "json", "rdc2.o.facts", "rdc1.o")
    assert "device-undefined-symbol" in whole.out, whole
