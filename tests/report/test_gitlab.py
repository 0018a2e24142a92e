"""--format gitlab: what GitLab's code quality widget reads."""

from elfaudit_test import need
from report_support import hostile, two_units

need("g++", "as")


def issues(lab, *arguments):
    return lab.audit("check", "--format", "gitlab", *arguments).json()


def test_an_issue(lab):
    (issue,) = issues(lab, *two_units(lab))
    assert issue["description"].startswith("n::state is defined twice; cause: ") and "; fix: " in issue["description"]
    assert issue["check_name"] == "duplicate-definition" and issue["severity"] == "critical"
    assert issue["location"] == {"path": "inc/state.h", "lines": {"begin": 3}}


def test_the_fingerprint_is_that_of_the_json_and_survives_an_edit(lab):
    objects = two_units(lab)
    (issue,) = issues(lab, *objects)
    (finding,) = lab.audit("check", "--format", "json", *objects).json()["findings"]
    assert issue["fingerprint"] == finding["fingerprint"]
    lab.write("inc/state.h", "\n\n" + (lab.path / "inc/state.h").read_text())
    lab.sh("g++ -g -c a.cpp -o a.o; g++ -g -c b.cpp -o b.o")
    (moved,) = issues(lab, *objects)
    assert moved["fingerprint"] == issue["fingerprint"] and moved["location"]["lines"]["begin"] == 5


def test_no_two_issues_share_a_fingerprint(lab):
    lab.write("x/a.o", "no ELF")
    lab.write("y/a.o", "no ELF")
    prints = [issue["fingerprint"] for issue in issues(lab, "x/a.o", "y/a.o")]
    assert len(prints) == 2 == len(set(prints))


def test_any_name(lab):
    (issue,) = issues(lab, *hostile(lab, "x\x01\"\ud7ff"))
    assert issue["description"].startswith("x\x01\"\ud7ff is defined twice")


def test_clean(lab):
    lab.cc("a.o", "int main() {}")
    assert issues(lab, "a.o") == []
