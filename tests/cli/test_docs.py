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
    options = set(re.findall(r"--[a-z][a-z-]+", lab.audit("check", "--help-all").out)) - {"--help", "--help-all"}
    assert len(options) > 4 and [option for option in sorted(options) if option not in page] == []


def test_docs_and_messages_are_in_plain_english():
    """Words that a reader has to decode: "is not an X", "reported", "fix" and "missing" say the same."""
    odd = re.compile(r"\b(?<!there )(is|are) no (?!longer)[a-z]|\b(told|mends?|mended|nobody|whoever|anybody|somebody|at hand|anew)\b")
    pages = [*SOURCE_DIR.glob("*.md"), *SOURCE_DIR.glob("docs/**/*.md")]
    lines = [(page, line) for page in pages for line in page.read_text().splitlines()]
    for source in SOURCE_DIR.glob("src/**/*.[ch]pp"):
        code = re.sub(r"//.*", "", source.read_text())
        lines += [(source, text) for text in re.findall(r'"(?:[^"\\\n]|\\.)*"', code)]
    assert lines and [(path.name, line) for path, line in lines if odd.search(line)] == []
