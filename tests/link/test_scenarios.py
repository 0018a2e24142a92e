"""Small links of every shape that people have, scenarios.txt, each held against every linker: what it rejects and what it
extracts."""

import concurrent.futures
import os
import pathlib

import pytest

from elfaudit_test import Lab, need
from linkers import PROGRAMS, agree, assemble, differs, every_linker_and_gold
from scenario_inputs import make_bench

need("ld.bfd", "as", "ar")

CASES = pathlib.Path(__file__).with_name("scenarios.txt").read_text().splitlines()
# What the linkers say of these has no names to compare: a relocation, an option, an input that is refused.
REFUSALS = pathlib.Path(__file__).with_name("refusals.txt").read_text().splitlines()


# What gold says in its own way.
GOLD_ALONE = {
    "start.o --start-group libfoo.a": "gold refuses an open group, as elfaudit does, and names neither symbol nor option",
    "own-end.o": "gold refuses a definition of its own name _end",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("scenarios"))
    make_bench(lab)
    return lab


@pytest.mark.parametrize("words", CASES)
@every_linker_and_gold
def test_agrees(bench, linker, words):
    if linker == "gold" and words in GOLD_ALONE:
        pytest.skip(f"not modelled for gold: {GOLD_ALONE[words]}")
    agree(bench, linker, words.replace(" -( ", " '-(' ").replace(" -)", " '-)'"))


@every_linker_and_gold
def test_refuses_what_the_linker_refuses(bench, linker):
    need(PROGRAMS[linker])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda words: differs(bench, linker, words), REFUSALS) if said]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def indexed(bench):
    """Indexes every object and archive of the bench into FILE.facts; returns the names of those that can be indexed."""
    files = [file.name for file in sorted(bench.path.glob("*.[oa]"))]
    done = {file for file in files if bench.audit("index", file, "-o", f"{file}.facts").code == 0}
    assert len(done) > 0.9 * len(files) and {"start.o", "libfoo.a"} <= done
    return done


@pytest.mark.deep
@pytest.mark.parametrize("words", CASES)
def test_facts_give_the_report_of_their_objects(bench, indexed, words):
    of_files = words.replace(" -( ", " --start-group ").replace(" -)", " --end-group").split()
    of_facts = [f"{word}.facts" if word in indexed else word for word in of_files]
    reports = [bench.audit("check", "--format", "json", "--", "ld.bfd", *line) for line in (of_files, of_facts)]
    assert reports[0].out == reports[1].out and reports[0].code == reports[1].code


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


SCRIPTS = {
    "whole.ld": "SECTIONS { .text : { *(.text*) } .data : { *(.data*) } }",
    "entry.ld": "ENTRY(other) SECTIONS { .text : { *(.text*) } .data : { *(.data*) } }",
    "room.ld": "SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .text : { *(.text*) } .data : { *(.data*) } }",
    "no-room.ld": "SECTIONS { . = 0x400000; .text : { *(.text*) } .data : { *(.data*) } }",
    "overwrite.ld": "OVERWRITE_SECTIONS { .mine : { mine_begins = .; *(.mine) } }",
}
SCRIPT_LINKS = [
    ("bfd", "-T whole.ld --gc-sections start.o"),  # no ENTRY(): the entry point is "start", and _start is not kept
    ("bfd", "-T whole.ld start.o"),
    ("bfd", "-T whole.ld --gc-sections -e _start start.o"),
    ("bfd", "-T entry.ld --gc-sections start.o foo2.o"),
    *((linker, f"-T entry.ld -e _start --gc-sections {inputs}") for linker in ("bfd", "gold", "lld14", "lld19")
      for inputs in ("empty.o other-needs-nobody.o", "other-needs-nobody.o", "empty.o libother.a")),
    *((linker, "entry.ld -e _start --gc-sections empty.o other-needs-nobody.o") for linker in ("bfd", "lld14", "lld19")),
    ("bfd", "-T whole.ld libstart.a libfoo.a"),
    ("bfd", "-T whole.ld -e _start libstart.a libfoo.a"),
    ("lld14", "-T whole.ld --gc-sections start.o"),
    ("lld19", "-T whole.ld --gc-sections start.o"),
    ("bfd", "-T room.ld headers.o"),
    ("bfd", "-T no-room.ld headers.o"),
    ("bfd", "headers.o"),
    ("bfd", "-N headers.o"),
    ("bfd", "-n headers.o"),
    ("bfd", "-N --no-omagic headers.o"),
    ("lld19", "-T no-room.ld headers.o"),
    ("gold", "-T no-room.ld headers.o"),
    ("lld14", "overwrite.ld begins.o"),
    ("lld19", "overwrite.ld begins.o"),
    ("lld19", "-T overwrite.ld linker-names.o"),
    ("bfd", "--just-symbols=nowhere start.o foo.o"),  # not there yet: for the rpath, as -R
]


@pytest.mark.parametrize("linker, words", SCRIPT_LINKS)
def test_scripts_that_lay_out_the_output(bench, linker, words):
    need(PROGRAMS[linker])
    for name, text in SCRIPTS.items():
        bench.write(name, text)
    assemble(bench, "headers", ".globl _start\n.data\n_start: .quad __ehdr_start")
    assemble(bench, "other-needs-nobody", '.globl other\n.section .text.other,"ax"\nother: .quad nobody')
    bench.ar("libother.a", "other-needs-nobody.o")
    assemble(bench, "begins", '.globl _start\n.data\n_start: .quad mine_begins\n.quad nobody\n.section .mine,"aw"\n.quad 0')
    agree(bench, linker, words)


def test_an_object_of_a_file_that_is_not_there(bench):
    assert bench.sh("ld.bfd -r -b binary nosuch.bin -o out", check=False).code == 1
    result = bench.audit("check", "--", "ld.bfd", "-r", "-b", "binary", "nosuch.bin", "-o", "out")
    assert result.code == 2 and "nosuch.bin: no such file" in result.out, result


def test_an_empty_file_is_named(bench):
    """The linker accepts what a full disk or a killed compiler left behind; looked at alone it is not an object."""
    assert "nothing.o is empty" in bench.audit("check", "--", "ld.bfd", "empty.o", "nothing.o", "-o", "out").out
    assert bench.audit("check", "empty.o", "nothing.o").code == 2
