"""One run of --fix makes the link pass, and the program does what was meant; where that is not known, no file is touched."""

import pytest

from elfaudit_test import need, sampled
from fix_cases import FIX_CASES

need("gcc", "g++")

COMPILERS = {".c": "gcc", ".cpp": "g++"}


def compile_all(lab, case, way):
    """Returns the objects."""
    sources = [name for name in case.files if name.endswith((".c", ".cpp")) and name not in case.included]
    for source in sources:
        lab.sh(f"{COMPILERS[source[source.rindex('.'):]]} {way} {case.options} -w -c {source} -o {source.replace('/', '_')}.o")
    return " ".join(f"{source.replace('/', '_')}.o" for source in sources)


@pytest.mark.parametrize("case", sampled(FIX_CASES, 8), ids=lambda case: case.name)
def test_one_run_makes_the_program(lab, case):
    way = ("-MD", "-g -MD")[FIX_CASES.index(case) % 2]
    for name, text in case.files.items():
        (lab.path / name).parent.mkdir(exist_ok=True)
        (lab.path / name).write_bytes(text.encode())
    objects = compile_all(lab, case, way)
    link = ("g++" if any(name.endswith(".cpp") for name in case.files) else "gcc") + f" {objects} -o program"
    assert lab.sh(link, check=False).code != 0
    result = lab.audit("check", "--fix", "--", *link.split())
    if case.by_hand:
        assert {name: (lab.path / name).read_bytes().decode() for name in case.files} == case.files, result
        assert "to do by hand" in result.err, result
        return
    compile_all(lab, case, way)
    lab.sh(link)
    lab.sh("./program")
