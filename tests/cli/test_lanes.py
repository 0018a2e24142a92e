"""No test is left out: CTest has an entry for each lane that tests of a file are in."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from elfaudit_test import SOURCE_DIR

pytestmark = pytest.mark.deep

# Prints the lane and the file of each test.
COLLECT = """
import pytest, sys
class Lanes:
    def pytest_collection_finish(self, session):
        for item in session.items:
            marks = {mark.name for mark in item.iter_markers()}
            print("LANE", *([lane for lane in ("nightly", "deep") if lane in marks] or ["fast"]), item.path)
pytest.main(["--collect-only", "-qq", *sys.argv[1:]], plugins=[Lanes()])
"""


def test_every_file_of_a_lane_is_known_to_ctest():
    tests = SOURCE_DIR / "tests"
    words = [sys.executable, "-c", COLLECT, *sorted(tests.glob("*/test_*.py"))]
    collected = subprocess.run(words, cwd=tests, capture_output=True, text=True).stdout
    found = set(re.findall(r"^LANE (\w+) .*/(\w+/)test_(\w+)\.py$", collected, re.M))
    names = {folder + name + {"fast": ""}.get(lane, f".{lane}") for lane, folder, name in found}
    listed = subprocess.run(["ctest", "-N"], cwd=pathlib.Path(os.environ["ELFAUDIT"]).parent, capture_output=True, text=True, check=True).stdout
    assert len(names) > 100 and names <= set(re.findall(r": (\S+)$", listed, re.M))
