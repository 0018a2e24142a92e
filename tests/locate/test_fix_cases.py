"""Each edit that is offered makes the program, and so does one run of --fix; where no edit is known to, no file is touched."""

import pytest

from edits import WAYS, Project, judge, of_cases
from elfaudit_test import need, sampled
from fix_cases import FIX_CASES

need("gcc", "g++", "clang", "clang++", "patch")


@pytest.mark.parametrize("case", sampled(FIX_CASES, 12), ids=lambda case: case.name)
def test_each_edit_makes_the_program(lab, case):
    number = FIX_CASES.index(case)
    project = Project(case, lab, case.compilers[number // 4 % len(case.compilers)], list(WAYS)[number % 4], plain=number % 3 != 0)
    failures = judge(project).failures + [project.judge_fix()]
    assert not any(failures), failures


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_edit_in_every_way(tmp_path, compiler, way):
    result = of_cases(tmp_path, FIX_CASES, compiler, way)
    print(result)
    assert not result.failures, result.failures
