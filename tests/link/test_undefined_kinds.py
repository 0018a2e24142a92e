"""Links that miss a symbol: the line that refers to it, the cause, and a fix that makes the link pass when it is applied."""

import os

import pytest

from elfaudit_test import need
from undefined_links import CORPUS, tried

need("g++", "gcc", "ar", "cmake", "ninja")

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("kind, number", [(kind, number) for kind in CORPUS for number in range(len(CORPUS[kind]))])
def test_line_cause_and_fix(tmp_path, kind, number):
    answers, said = tried(CORPUS[kind][number], os.environ["ELFAUDIT"], tmp_path)
    assert False not in answers.values(), (answers, said)
