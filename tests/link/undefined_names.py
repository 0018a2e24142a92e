"""What each linker misses in a link, and what elfaudit misses when it is told that this linker links: sets of undefined
symbols, and what else the linker refuses by name. Duplicates and extracted members are compared elsewhere."""

import dataclasses
import re
import shlex

from elfaudit_test import need
from linker_verdicts import PROGRAMS, REFUSED

LINKERS = {name: program for name, program in PROGRAMS.items() if name != "gold"}
EVERY = tuple(LINKERS)

UNDEFINED = [
    r"(?:undefined reference to|more undefined references to) `([^']*)'(?: follow)?$",
    r"undefined reference to symbol '([^']*)'$",  # DSO missing from command line
    r"hidden symbol `([^']*)' isn't defined",
    r"required symbol `([^']*)' not defined",
    r"error: undefined (?:(?:hidden|protected|internal) )?symbol: (\S+)$",
    r"error: undefined reference(?: due to --no-allow-shlib-undefined)?: (\S+)$",
    r"error: \S+: undefined reference to (\S+) \[--no-allow-shlib-undefined\]$",
    r"mold: error: undefined symbol: (?:.*: )?(\S+)$",
]


@dataclasses.dataclass
class Verdict:
    undefined: set
    refused: set = dataclasses.field(default_factory=set)  # of (rule, symbol)


def linker_says(lab, linker, words):
    options = "--error-limit=0 --color-diagnostics=never" if linker.startswith("lld") else ""
    result = lab.sh(f"{LINKERS[linker]} {words} {options} --no-demangle -z muldefs -o out", check=False)
    verdict = Verdict(set())
    for line in result.err.splitlines():
        verdict.undefined.update(m[1] for m in (re.search(p, line) for p in UNDEFINED) if m)
        for rule, patterns in REFUSED.items():
            verdict.refused.update((rule, m[1]) for m in (re.search(p, line) for p in patterns) if m)
    known = verdict.undefined or verdict.refused
    assert known or result.code == 0, f"{linker} {words}: fails for another reason\n{result.err}"
    return verdict


def elfaudit_says(lab, linker, words):
    document = lab.audit(
        "check", "--format", "json", "--", LINKERS[linker], *shlex.split(words), "-z", "muldefs", "-o", "out").json()
    refused = {(f["rule"], f["symbol"]) for f in document["findings"] if f["rule"] in REFUSED and f["severity"] == "error"}
    return Verdict(set(document["undefined"]), refused)


def agree(lab, linker, words):
    """Fails the test when elfaudit and the linker differ, and prints both."""
    need(LINKERS[linker])
    theirs, ours = linker_says(lab, linker, words), elfaudit_says(lab, linker, words)
    assert ours == theirs, f"\n{LINKERS[linker]} {words}\n  it says  {theirs}\n  elfaudit {ours}"
