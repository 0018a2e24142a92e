"""GNU ld alone; the others are in linkers.py."""

import linkers
from linkers import ASSEMBLER, Verdict, assemble  # noqa: F401


def ld(lab, words):
    return linkers.says(lab, "bfd", words)


def elfaudit(lab, words):
    return linkers.elfaudit(lab, "bfd", words)


def agree(lab, words):
    return linkers.agree(lab, "bfd", words)
