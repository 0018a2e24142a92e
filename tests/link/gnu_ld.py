"""What GNU ld says of a link, and what elfaudit says of the same words, in one form that can be compared."""

import dataclasses
import re
import shlex

ASSEMBLER = '.section .note.GNU-stack,"",@progbits\n'


@dataclasses.dataclass
class Verdict:
    duplicates: set  # of (symbol, the input that defines it again)
    undefined: set  # of symbols
    extracted: set  # of "libx.a(y.o)"
    other: list = dataclasses.field(default_factory=list, compare=False)  # errors of any other kind


def assemble(lab, name, text):
    """Assembles a few lines; returns the object's name."""
    lab.write(name + ".s", text + "\n" + ASSEMBLER)
    lab.sh(f"as {name}.s -o {name}.o")
    return name + ".o"


def ld(lab, words):
    """Links with the real ld and reads its messages, its trace and its map."""
    result = lab.sh(f"rm -f map; ld.bfd {words} --no-demangle --trace -Map=map -o out", check=False)
    known = set(result.out.split()) | members(lab)
    verdict = Verdict(set(), set(), members(lab))
    function = None
    for line in result.err.splitlines():
        line = re.sub(r"^\S*ld(\.bfd)?: ", "", line)
        if m := re.fullmatch(r"(.*): in function `(.*)':", line):
            function = m[1]
        elif m := re.fullmatch(r"(.*?):? ?multiple definition of `([^']*)'(?:; .*: first defined here)?", line):
            where = re.match(r"((?:[^:()]|\([^:()]*\)(?=:))*?\([^:()]*\)|[^:]+):", m[1] + ":")
            verdict.duplicates.add((m[2], where[1] if where and where[1] in known else function))
        elif m := re.fullmatch(r".*(?:undefined reference to|more undefined references to) `([^']*)'(?: follow)?", line):
            verdict.undefined.add(m[1])
        elif m := re.search(r"required symbol `([^']*)' not defined", line):
            verdict.undefined.add(m[1])
        elif re.search(r"hidden symbol `.*' isn't defined|final link failed|warning:|missing --end-group", line):
            pass  # the second half of an undefined hidden symbol's message; advice
        elif line.strip():
            verdict.other.append(line)
    return verdict


def members(lab):
    """The archive members that ld's map says are part of the link."""
    map_file = lab.path / "map"
    if not map_file.exists():
        return set()
    text = map_file.read_text(errors="replace")
    block = re.match(r"Archive member included[^\n]*\n\n(.*?)\n\n", text, re.S)
    return set(re.findall(r"^(\S+\([^()]*\))", block[1], re.M)) if block else set()


def elfaudit(lab, words):
    document = lab.audit("check", "--format", "json", "--", "ld.bfd", *shlex.split(words), "-o", "out").json()
    return Verdict(
        {(d["symbol"], d["other"]) for d in document["duplicates"]},
        set(document["undefined"]),
        {m["input"] for m in document["extracted_members"]},
    )


def agree(lab, words):
    """Fails the test when the two differ, and prints both."""
    theirs, ours = ld(lab, words), elfaudit(lab, words)
    assert not theirs.other, f"ld {words}: not a verdict to compare with: {theirs.other}"
    assert ours == theirs, f"\nld {words}\n  ld       {theirs}\n  elfaudit {ours}"
    return theirs
