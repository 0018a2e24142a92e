"""One run of --fix makes the link pass, and the program does what was meant; where that is not known, no file is touched."""

import pytest

from elfaudit_test import need, sampled
from fix_cases import FIX_CASES

need("gcc", "g++")


@pytest.mark.parametrize("case", sampled(FIX_CASES, 8), ids=lambda case: case.name)
def test_one_run_makes_the_program(lab, case):
    way = ("-MD", "-g -MD")[FIX_CASES.index(case) % 2]
    case.write(lab)
    link = f"{case.driver()} {' '.join(case.compile(lab, way))} -o program"
    assert lab.sh(link, check=False).code != 0
    result = lab.audit("check", "--fix", "--", *link.split())
    if case.by_hand:
        assert case.is_unchanged(lab) and "to do by hand" in result.err, result
        return
    case.compile(lab, way)
    lab.sh(link)
    lab.sh("./program")
