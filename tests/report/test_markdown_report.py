"""--format markdown: the summary of a CI job."""

import html

from elfaudit_test import need
from report_support import hostile, two_units

need("g++", "as")


def markdown(lab, *arguments):
    return lab.audit("check", "--format", "markdown", *arguments).out


def test_a_row_and_the_details(lab):
    text = markdown(lab, *two_units(lab))
    heading, counts, table, details = text.split("\n\n")[0], text.split("\n\n")[1], text.split("\n\n")[2], text.split("\n\n", 3)[3]
    assert heading == "### elfaudit" and html.unescape(counts).startswith("1 error: 2 objects in 2 inputs")
    assert html.unescape(table.splitlines()[2]) == "| error | n::state is defined twice | inc/state.h:3 | duplicate-definition |"
    assert details.startswith("<details><summary>") and "\n```text\nerror: n::state is defined twice" in details and details.count("```") == 2


def test_a_name_is_no_markup(lab):
    name = "a|b<img src=x>`*_[x](http://e.org)@you"
    text = markdown(lab, *hostile(lab, name))
    outside = text.split("```text")[0]
    assert "<img" not in outside and "](" not in outside and "@you" not in outside and html.unescape(outside).count(name) == 2


def test_a_fence_in_a_name_ends_no_block(lab):
    text = markdown(lab, *hostile(lab, "````x"))
    assert "`````text\n" in text


def test_clean(lab):
    lab.cc("a.o", "int main() {}")
    assert markdown(lab, "a.o").splitlines()[2].startswith("clean")
