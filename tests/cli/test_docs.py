"""The examples in the docs are what the program prints."""

import os
import re

from elfaudit_test import SOURCE_DIR, need

need("g++")


def test_examples_are_current(lab):
    result = lab.sh(f"'{SOURCE_DIR}/scripts/docs' --check '{os.environ['ELFAUDIT']}'", check=False)
    assert result.code == 0, result


def test_every_option_is_in_the_docs(lab):
    page = (SOURCE_DIR / "docs" / "check.md").read_text()
    options = set(re.findall(r"--[a-z][a-z-]+", lab.audit("check", "--help").out)) - {"--help"}
    assert len(options) > 4 and [option for option in sorted(options) if option not in page] == []
