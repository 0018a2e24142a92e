"""Whatever runs on several threads or in several processes says the same as on one. Under ThreadSanitizer (`cmake --preset
tsan`) these are the runs that look for races."""

import pytest

from elfaudit_test import Lab, need
from elfaudit_wheels import module, wheel

need("gcc", "g++", "ar")

OBJECTS = 24


def same_with_any_jobs(lab, *arguments, runs=2):
    """The report of one thread, once several have said the same."""
    alone = lab.audit(arguments[0], "--jobs", "1", *arguments[1:])
    for _ in range(runs):
        several = lab.audit(arguments[0], "--jobs", "8", *arguments[1:])
        assert (several.code, several.out, several.err) == (alone.code, alone.out, alone.err)
    return alone


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Objects that define `shared` three at a time, and two of each eight in an archive."""
    lab = Lab(tmp_path_factory.mktemp("project"))
    lab.write("common.h", "struct Node { int value; Node* next; };\ninline int depth = 0;\n")
    names = []
    for i in range(OBJECTS):
        text = f'#include "common.h"\nint shared_{i % 8};\nint call_{i}(Node* n) {{ extern int call_{(i + 1) % OBJECTS}(Node*); '
        names.append(lab.write(f"o{i}.cpp", text + f"return depth + n->value + call_{(i + 1) % OBJECTS}(n); }}\n"))
    lab.sh(f"g++ -g -c {' '.join(names)}")
    lab.write("different.cpp", "struct Node { long value; Node* next; };\nint call_0(Node* n) { return int(n->value); }\n")
    lab.sh("g++ -g -c different.cpp && mkdir apart && mv different.o apart")
    for archive in range(3):
        lab.ar(f"lib{archive}.a", f"o{archive}.o", f"o{archive + 8}.o")
    lab.objects = [name.replace(".cpp", ".o") for name in names]
    return lab


@pytest.mark.parametrize("report", ["text", "json", "sarif"])
def test_plain_files(project, report):
    result = same_with_any_jobs(project, "check", "--format", report, *project.objects)
    assert result.code == 1 and "shared_7" in result.out


def test_archives_of_a_link_command(project):
    line = ["ld", "-o", "app", *project.objects[8:16], "lib0.a", "lib1.a", "lib2.a", "-u", "call_2"]
    assert same_with_any_jobs(project, "check", "--format", "json", "--", *line).json()["findings"]


def test_types_are_read_by_several_processes(project):
    objects = ["o0.o", "o1.o", "o2.o", "apart/different.o"]
    result = same_with_any_jobs(project, "check", "--enable", "divergent-definition", *objects)
    assert "Node" in result.out


def test_the_links_of_a_build(project):
    rules = "rule link\n  command = g++ $in -o $out\n"
    links = "".join(f"build app{i}: link o{i}.o o{i + 8}.o lib{i % 3}.a\n" for i in range(8))
    project.write("build.ninja", rules + links)
    assert "8 links" in same_with_any_jobs(project, "check", "-p", ".").out


def test_the_cache_is_shared(project):
    command = ["check", "--cache", "kept", *project.objects]
    first = project.audit(*command, "--jobs", "8")
    assert same_with_any_jobs(project, *command).out == first.out


def test_lists_and_facts(project):
    listed = [project.audit("list", "symbols", "--jobs", jobs, "lib0.a", *project.objects) for jobs in ("1", "8")]
    assert listed[0].code == 0 and listed[0].out == listed[1].out
    facts = []
    for jobs in ("1", "8"):
        assert project.audit("index", "lib0.a", "-o", f"facts{jobs}", "--jobs", jobs).code == 0
        facts.append((project.path / f"facts{jobs}").read_bytes())
    assert facts[0] == facts[1]


def test_wheels(lab):
    files = {f"pkg/m{i}.cpython-312-x86_64-linux-gnu.so": module(lab, f"m{i}.cpython-312-x86_64-linux-gnu.so") for i in range(6)}
    name = wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", files)
    same_with_any_jobs(lab, "check", "--format", "json", name)
