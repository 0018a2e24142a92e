"""--format gcc: lines that editors read as GCC's."""

import re

from elfaudit_test import need
from report_support import hostile, two_units

need("g++", "as")

# VS Code's $gcc matcher, extensions/cpp: file, line, column, severity, message.
MATCHER = re.compile(r"^(.*):(\d+):(\d+):\s+(?:fatal\s+)?(warning|error|note):\s+(.*)$")


def lines(lab, *arguments):
    return lab.audit("check", "--format", "gcc", *arguments).out.splitlines()


def test_the_header_is_the_place(lab):
    first, *rest = lines(lab, *two_units(lab))
    assert MATCHER.match(first).groups() == ("inc/state.h", "3", "1", "error", "n::state is defined twice [duplicate-definition]")
    notes = [MATCHER.match(line).groups() for line in rest[:-1]]
    assert {kind for *_, kind, _ in notes} == {"note"} and ("inc/a.h", "2", "1", "note", "included from here") in notes
    assert any(text.startswith("fix: ") for *_, text in notes) and rest[-1].startswith("elfaudit: 1 error: ")


def test_vim_jumps_there(lab):
    need("vim")
    lab.write("out.txt", "\n".join(lines(lab, *two_units(lab))))
    lab.sh("vim -es -u NONE -c 'cgetfile out.txt' -c 'redir! > list.txt' -c 'clist' -c 'redir END' -c 'qa!' || true")
    assert re.search(r"inc/state.h:3 col 1:? error: ", (lab.path / "list.txt").read_text())


def test_without_a_place_the_object_is_named(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.sh("rm a.cpp; cp a.o b.o")
    assert lines(lab, "a.o", "b.o")[0] == "a.o: error: f() is defined twice [duplicate-definition]"


def test_a_name_makes_no_line_of_its_own(lab):
    first, *rest = lines(lab, *hostile(lab, "x\r\ny.c:1:1: error: forged"))
    assert "forged" in first and not any(line.startswith("y.c") for line in [first, *rest])
