"""--format text: what stands first, how much is shown, and how wide it is."""

import os
import pty
import re
import struct
import subprocess
import fcntl
import termios

from elfaudit_test import need
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
    command = [os.environ["ELFAUDIT"], command, "--color", "never", *quiet, *arguments]
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
    assert "\nby file\n       1  h0.h\n" in text and "\nby cause\n      12  function-not-inline\n" in text
    assert "by cause" not in lab.audit("check", *many(lab)).out
