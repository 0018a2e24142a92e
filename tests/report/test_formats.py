"""What all formats have in common."""

import html

import pytest
from elfaudit_test import need
from report_support import two_units

need("g++")

FORMATS = ["text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown", "gcc", "html"]


def test_several_at_once(lab):
    objects = two_units(lab)
    files = [f"--format={name}=out.{name}" for name in FORMATS]
    result = lab.audit("check", *files, "--format", "text", *objects)
    assert result.code == 1 and "n::state is defined twice" in result.out
    for name in FORMATS:
        assert "n::state is defined twice" in html.unescape((lab.path / f"out.{name}").read_text()), name
    assert (lab.path / "out.text").read_text() == result.out


@pytest.mark.parametrize("name", FORMATS)
def test_same_input_same_bytes(lab, name):
    objects = two_units(lab)
    first = lab.audit("check", "--format", name, "-j1", *objects)
    assert first.code == 1 and first.out == lab.audit("check", "--format", name, "-j4", *objects).out


def test_two_cannot_share_standard_output(lab):
    result = lab.audit("check", "--format", "sarif", "--format", "text", *two_units(lab))
    assert result.code == 2 and result.out == "" and "FORMAT=FILE" in result.err


def test_unknown_format_names_the_known_ones(lab):
    result = lab.audit("check", "--format", "xml", "a.o")
    assert result.code == 2 and all(name in result.err for name in FORMATS)


def test_a_clean_audit_in_every_format(lab):
    lab.cc("a.o", "int main() {}")
    for name in FORMATS:
        assert lab.audit("check", "--format", name, "a.o").code == 0
