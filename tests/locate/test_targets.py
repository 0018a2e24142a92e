"""Definitions behind conditions that the target decides, compiled for every machine that has a cross compiler here: the line
that is found without debug info is the one that debug info gives."""

import random
import re
import shutil
import subprocess

import pytest

from elfaudit_test import SOURCE_DIR, by_symbol, campaign

pytestmark = pytest.mark.deep

TARGETS = ("aarch64-linux-gnu", "arm-linux-gnueabihf", "i686-linux-gnu", "powerpc64-linux-gnu", "powerpc64le-linux-gnu", "riscv64-linux-gnu",
           "s390x-linux-gnu")
EVERY_TARGET = pytest.mark.parametrize("target", [
    pytest.param(target, marks=[] if shutil.which(f"{target}-g++") else pytest.mark.skip(reason=f"needs {target}-g++, which is not installed"))
    for target in TARGETS
])
COUNT = campaign(1)  # headers for each target

# Not `linux` and __CHAR_UNSIGNED__, about which options decide too that no one knows here.
CONDITIONS = """
__SIZEOF_LONG__ == 8 | __SIZEOF_POINTER__ < 8 | defined(__LP64__) | __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
defined(__aarch64__) | defined(__arm__) | defined(__i386__) | defined(__x86_64__) | defined(__powerpc64__) | defined(__riscv) | defined(__s390x__)
defined(__riscv_xlen) && __riscv_xlen == 64 | defined(_CALL_ELF) && _CALL_ELF == 2 | __LDBL_MANT_DIG__ > 64 | __LDBL_MANT_DIG__ == 53
__WCHAR_MAX__ > 0x7fffffff | defined(__SIZEOF_INT128__) | __SIZE_MAX__ > 0xffffffffU | INT64_MAX == LONG_MAX | __INT64_C(1) << 40 > 0
defined(__SIZEOF_FLOAT128__) | __BIGGEST_ALIGNMENT__ == 16 | __LONG_MAX__ == 2147483647L | __GCC_ATOMIC_LLONG_LOCK_FREE == 2
"""


def header(chance):
    """A namespace of variables, each in one branch of two or three."""
    conditions = [one.strip() for one in re.split(r"[|\n]", CONDITIONS.replace("||", "")) if one.strip()]
    lines = ["#include <limits.h>", "#include <stdint.h>"]
    for number in range(6):
        first, second = chance.sample(conditions, 2)
        lines += [f"#if {first}", f"int v{number} = 1;"]
        if chance.random() < 0.6:
            lines += [f"#elif {second}", f"long v{number} = 2;"]
        lines += ["#else", f"char v{number} = 3;", "#endif"]
    return "\n".join(lines) + "\n"


def lines_found(lab, target, flags, number):
    """The line of each variable in the report about two objects that include the header."""
    for name in "ab":
        lab.sh(f"{target}-g++ {flags} -c {name}{number}.cpp -o {name}{number}.o")
    found = by_symbol(lab.audit("check", "--format", "json", f"a{number}.o", f"b{number}.o").json()["findings"])
    return {f["symbol"]: {site["line"] for site in f["sites"] if site["role"] in ("kept", "rejected")} for f in found}


@EVERY_TARGET
def test_the_line_that_debug_info_gives(lab, target):
    """Nothing else, and nearly always that."""
    known = asked = 0
    for number in range(COUNT):
        chance = random.Random(f"{target} {number}")
        lab.write(f"h{number}.h", header(chance))
        for name in "ab":
            lab.write(f"{name}{number}.cpp", f'#include "h{number}.h"\n')
        options = chance.choice(["", "-O2", "-std=c++11", "-std=gnu++20 -O1"])
        truth = lines_found(lab, target, f"-g {options}", number)
        assert len(truth) == 6 and all(None not in lines for lines in truth.values()), truth
        for name in "ab":
            (lab.path / f"{name}{number}.o").unlink()
        for symbol, lines in lines_found(lab, target, f"-MD {options}", number).items():
            asked += 1
            assert lines <= truth[symbol] | {None}, (number, symbol, lines, truth[symbol])
            known += None not in lines
    assert known >= 0.95 * asked, f"{known} of {asked}"


def test_the_table_is_what_the_compilers_say():
    done = subprocess.run([SOURCE_DIR / "scripts/predefined-macros", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "none" not in done.stdout:
        pytest.skip(done.stdout.strip())
