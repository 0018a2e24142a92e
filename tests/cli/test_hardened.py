"""The program that is built is a hardened one: it reads files from anywhere."""

import os
import pathlib
import platform
import subprocess

import pytest

from elfaudit_test import need

need("readelf")

PROGRAM = pathlib.Path(os.environ.get("ELFAUDIT", ""))


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True).stdout


def test_it_is_loaded_at_an_address_that_is_not_known():
    assert "DYN (" in readelf("-h", PROGRAM) and "Flags: NOW PIE" in readelf("-d", PROGRAM)


def test_its_tables_are_read_only_and_its_stack_holds_no_code():
    headers = {line.split()[0]: line.split()[6:-1] for line in readelf("-l", PROGRAM).splitlines() if line.startswith("  GNU_")}
    assert "GNU_RELRO" in headers and headers["GNU_STACK"] == ["RW"]


def test_the_stack_and_the_string_functions_are_checked():
    names = readelf("--dyn-syms", PROGRAM)
    assert "__stack_chk_fail" in names and "_chk@" in names.replace("__stack_chk_fail", "")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86 alone has these")
def test_jumps_lead_only_to_where_jumps_lead():
    notes = readelf("-n", PROGRAM.parent / "libelfaudit.a")
    assert notes.count("x86 feature: IBT, SHSTK") == notes.count("\nFile: ") > 20
