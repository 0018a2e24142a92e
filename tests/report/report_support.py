"""Packages that the tests of reports read schemas and validators from. None is part of the project: each is fetched with
pip once, into a cache outside of the checkout, and the test is skipped, visibly, where that can't be done."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "elfaudit-tests"

# What stands for a link that fails in two headers' worth of ways.
HEADER = "#pragma once\nnamespace n {\nint state = 1;\n}\n"


def python_with_pip():
    for python in ("/usr/bin/python3", sys.executable, "python3"):
        if shutil.which(python) and subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return python
    pytest.skip("no python3 with pip")


def fetched(name, *pip_arguments):
    """The cache folder `name`, filled by one pip command that is told where to put things."""
    folder = CACHE / name
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as temp:
        command = [python_with_pip(), "-m", "pip", *pip_arguments, "--quiet", "--disable-pip-version-check", "--retries", "1"]
        place = "--target" if pip_arguments[0] == "install" else "--dest"
        result = subprocess.run([*command, "--timeout", "30", place, f"{temp}/it"], capture_output=True, text=True)
        if result.returncode != 0:
            pytest.skip(f"pip can't fetch {name}: {(result.stderr.strip() or 'no message').splitlines()[-1]}")
        try:
            os.rename(f"{temp}/it", folder)
        except OSError:  # another test was faster
            pass
    return folder


def two_units(lab, flags="-g"):
    """a.cpp and b.cpp, each through a header of its own, come to one definition."""
    lab.write("inc/state.h", HEADER)
    lab.write("inc/a.h", '#pragma once\n#include "state.h"\n')
    lab.cc("a.o", '#include "inc/a.h"\nint a() { return n::state; }\n', f"g++ {flags}")
    lab.cc("b.o", '\n#include "inc/state.h"\nint b() { return n::state; }\n', f"g++ {flags}")
    return "a.o", "b.o"


def hostile(lab, name, file="x.h"):
    """Two objects that define a symbol of any name in a header of any name."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    lab.write("h.s", f'.data\n.globl "{quoted}"\n"{quoted}":\n.long 1\n.size "{quoted}", 4\n.type "{quoted}", @object\n')
    lab.sh("as h.s -o h1.o && cp h1.o h2.o")
    return "h1.o", "h2.o"
