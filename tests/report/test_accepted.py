"""Findings that the project lives with, suppressed or in its baseline, stay visible where a format has a way to say so."""

import xml.etree.ElementTree as ElementTree

import pytest
from browser import chromium, opened  # noqa: F401 (a fixture)
from elfaudit_test import need

need("g++")


@pytest.fixture
def accepted(lab):
    """Words of a command line: one finding is new, one known, one suppressed."""
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int old, fine, fresh;\n", "g++ -g")
    for name in ("a", "b"):  # a build before the other two were there
        lab.cc(f"before/{name}.o", "int old;\n")
    lab.audit("check", "--write-baseline", "baseline.json", "before/a.o", "before/b.o")
    return ("--baseline", "baseline.json", "--suppress", "symbol=fine,reason=we know <better>", "a.o", "b.o")


def test_sarif(lab, accepted):
    results = lab.audit("check", "--format", "sarif", *accepted).json()["runs"][0]["results"]
    found = {result["properties"]["symbol"]: result for result in results}
    assert {symbol: result["baselineState"] for symbol, result in found.items()} == {"fresh": "new", "old": "unchanged", "fine": "unchanged"}
    assert found["fine"]["suppressions"] == [{"kind": "external", "justification": "we know <better>"}]
    assert "suppressions" not in found["fresh"]


def test_junit(lab, accepted):
    root = ElementTree.fromstring(lab.audit("check", "--format", "junit", *accepted).out)
    assert root.get("failures") == "1"
    assert {skipped.get("message") for skipped in root.iter("skipped")} == {"in the baseline", "suppressed: we know <better>"}


def test_github_annotates_what_is_new(lab, accepted):
    out = lab.audit("check", "--format", "github", *accepted).out
    assert out.count("::error") == 1 and "fresh is defined twice" in out


@pytest.mark.deep
def test_html(lab, chromium, accepted):
    lab.audit("check", "--format=html=report.html", *accepted)
    with opened(chromium, lab.path / "report.html") as driver:
        shown = lambda: [f.text for f in driver.find_elements("css selector", ".finding .what") if f.is_displayed()]
        assert len(shown()) == 1 and "fresh" in shown()[0]
        for box in driver.find_elements("css selector", "#filters div:first-child input:not(:checked)"):
            box.click()
        assert len(shown()) == 3
