"""--format text: what stands first, how much is shown, and how wide it is."""

import os
import pty
import re
import struct
import subprocess
import fcntl
import json
import termios

import pytest
from elfaudit_test import SOURCE_DIR, need
from report_support import two_units

need("g++")


def many(lab, count=12):
    """A function of a header in many objects."""
    lab.write("h.h", "int f() { return 1; }\n")
    objects = []
    for i in range(count):
        objects.append(lab.cc(f"u{i}.o", '#include "h.h"\n', "g++ -g"))
    return objects


def on_terminal(lab, columns, *arguments, command="check"):
    """What the program prints on a terminal of that width, without colours."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    quiet = ["--quiet"] if command == "check" else []
    colour = ["--color", "never"]
    command = [os.environ["ELFAUDIT"], command, *colour, *quiet, *arguments]
    with subprocess.Popen(command, cwd=lab.path, stdout=follower, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
        os.close(follower)
        text = b""
        try:
            while part := os.read(leader, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
    os.close(leader)
    return text.decode().replace("\r\n", "\n")


def test_cause_and_fix_stand_above_the_sites(lab):
    labels = re.findall(r"^  (\w+)  ", lab.audit("check", *two_units(lab)).out, re.M)
    assert labels == ["cause", "fix", "or", "kept", "rejected"]


def test_three_sites_and_with_v_all(lab):
    objects = many(lab)
    short = lab.audit("check", *objects).out
    assert len(re.findall("^  (?:kept|rejected) ", short, re.M)) == 3 and "\n  and 9 more (-v shows all)\n" in short
    long = lab.audit("check", "-v", *objects).out
    assert len(re.findall("^  (?:kept|rejected) ", long, re.M)) == 12 and "more" not in long


def test_a_terminal_has_80_columns(lab):
    text = on_terminal(lab, 80, *two_units(lab))
    assert max(map(len, text.splitlines())) <= 80 and "\n            " in text
    piped = lab.audit("check", *two_units(lab)).out
    assert text.split() == piped.split() and max(map(len, piped.splitlines())) > 80


def test_so_has_that_of_a_diagnosis(lab):
    objects = two_units(lab)
    lab.write("log", f"g++ {' '.join(objects)} -lmissing -o app\n" + lab.sh(f"g++ {' '.join(objects)} -lmissing -o app 2>&1", check=False).out)
    text = on_terminal(lab, 80, "log", command="diagnose")
    piped = lab.audit("diagnose", "log").out
    assert max(map(len, text.splitlines())) <= 80 < max(map(len, piped.splitlines()))
    assert text.split() == piped.split()


def test_names_and_paths_stay_whole(lab):
    name = "f(int, char const*, unsigned long, void (*)(int, int), long double, short)"
    for unit in "ab":
        lab.cc(f"{unit}.o", f"void {name} {{}}".replace("void (*)(int, int)", "void (*)(int, int)"), "g++ -g")
    text = on_terminal(lab, 60, "a.o", "b.o")
    assert name in text


def test_many_findings_have_a_distribution(lab):
    for i in range(12):
        lab.write(f"h{i}.h", f"int f{i}() {{ return 1; }}\n")
    source = "".join(f'#include "h{i}.h"\n' for i in range(12))
    objects = [lab.cc(f"{unit}.o", source, "g++ -g") for unit in "ab"]
    text = lab.audit("check", *objects).out
    assert "\nby file\n       1  h0.h\n" in text and "\nby cause\n      12  function-not-inline: A header defines a function that is not inline.\n" in text
    assert "by cause" not in lab.audit("check", *many(lab)).out


LONG = "a_folder_with_a_long_name/another_folder_with_a_long_name"


def long_paths(lab):
    """A function of a header, and objects whose sources are far down."""
    lab.write("state.h", "int f() { return 1; }\n")
    for name in ("one", "two"):
        lab.write(f"{LONG}/{name}.cpp", '#include "state.h"\n')
        lab.sh(f"g++ -g -MD -I. -c {LONG}/{name}.cpp -o {name}.o")
    return ["one.o", "two.o"]


def test_how_a_path_is_known_goes_to_the_next_line(lab):
    text = on_terminal(lab, 80, *long_paths(lab))
    assert f"              included from {LONG}/one.cpp:1\n                (depfile + source scan)\n" in text
    assert f"included from {LONG}/one.cpp:1  (depfile + source scan)\n" in lab.audit("check", "one.o", "two.o").out


def test_only_what_can_not_be_broken_is_wider_than_the_terminal(lab):
    objects = long_paths(lab)
    for text in (on_terminal(lab, 80, *objects), on_terminal(lab, 80, "f()", *objects, command="explain"), on_terminal(lab, 80, command="rules")):
        wide = [line for line in text.splitlines() if len(line) > 80 and len(line.split()) > 1 and LONG not in line]
        assert text and wide == [], wide


def test_diagnose_keeps_a_name_whole(lab):
    name = "application::networking::resolve_the_name_of_a_host(int, unsigned long, char const*, bool)"
    lab.write("log", f"/usr/bin/ld: main.o: in function `main':\nmain.cpp:(.text+0x5): undefined reference to `{name}'\n")
    assert f" undefined reference to\n  {name}\n" in on_terminal(lab, 80, "log", command="diagnose")


def test_concise_is_a_line_for_each_finding(lab):
    objects = (*two_units(lab), lab.cc("c.o", "int plain() { return 1; }\n"))
    lab.sh("rm c.cpp; cp c.o d.o")
    *findings, summary = lab.audit("check", "--format", "concise", *objects, "d.o").out.splitlines()
    assert "inc/state.h:3: error duplicate-definition: n::state is defined twice" in findings
    assert "c.o: error duplicate-definition: plain() is defined twice" in findings and len(findings) == 2
    assert summary == lab.audit("check", *objects, "d.o").out.splitlines()[-1]


def test_many_findings_name_the_concise_format(lab):
    lab.write("many.s", "".join(f".globl s{i}\ns{i}: .long 1\n" for i in range(51)))
    lab.sh("as many.s -o a.o && echo .globl other >> many.s && as many.s -o b.o")
    assert "`--format concise` prints a line for each finding" in lab.audit("check", "a.o", "b.o").out
    assert "concise" not in lab.audit("check", *two_units(lab)).out


def several_causes(lab):
    """Three functions of a header, of which --fix can edit two, and a variable without a place."""
    lab.write("h.h", "int f() { return 1; }\nint g() { return 1; }\nint h() { static int n; return ++n; }\n")
    lab.cc("plain.o", "int plain;\n")
    lab.sh("rm plain.cpp; cp plain.o copy.o; echo 'int more;' | g++ -xc++ -c - -o more.o; ld -r copy.o more.o -o other.o")
    return [lab.cc(f"{unit}.o", '#include "h.h"\n', "g++ -g") for unit in "ab"] + ["plain.o", "other.o"]


def test_statistics(lab):
    objects = several_causes(lab)
    rules, causes, summary = lab.audit("check", "--statistics", *objects).out.split("\n\n")
    findings = lab.audit("check", "--format", "json", *objects).json()["findings"]
    every = [one for finding in findings for one in (finding, *finding.get("also", []))]
    fixable = sum(any(fix["diff"] for fix in one["fixes"]) for one in every)
    assert rules.splitlines() == ["  count  --fix  rule", f"      4  {fixable:>5}  duplicate-definition  two strong definitions in one link: the linker will reject it"]
    rows = [line.split(maxsplit=3) for line in causes.splitlines()[1:]]
    assert rows[0][0] == "3" and rows[0][2:] == ["function-not-inline", "A header defines a function that is not inline."]
    assert rows[1][0] == "1" and rows[1][2] in ("-", "two-definitions") and summary.splitlines()[-1].startswith("2 errors about 4 symbols: ")


def test_statistics_as_json(lab):
    jsonschema = pytest.importorskip("jsonschema")
    result = lab.audit("check", "--statistics", "--format", "json", "--format", "sarif=out.sarif", *several_causes(lab))
    document = result.json()
    jsonschema.validate(document, json.loads((SOURCE_DIR / "schema/elfaudit-statistics-1.schema.json").read_text()))
    assert [(row["rule"], row["count"]) for row in document["rules"]] == [("duplicate-definition", 4)] and result.code == 1
    assert document["causes"][0]["cause"] == "function-not-inline" and (lab.path / "out.sarif").exists()
    assert lab.audit("check", "--statistics", "--format", "sarif=out.sarif", "a.o", "b.o").out.startswith("  count  --fix  rule\n")
    assert "--statistics prints text or json" in lab.audit("check", "--statistics", "--format", "gcc", "a.o").err
