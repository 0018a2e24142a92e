"""What each linker says of a link, and what elfaudit says of the same words, in one form that can be compared.

    said = says(lab, "mold", "start.o libfoo.a")      a Verdict
    agree(lab, "mold", "start.o libfoo.a")            fails the test where elfaudit differs, and prints both

lld and mold print only duplicates where both kinds occur: they are run again with -z muldefs for what is undefined."""

import concurrent.futures
import dataclasses
import os
import re
import shlex
import shutil

import pytest

from linker_verdicts import REFUSED, WITH_GOLD as PROGRAMS

AS_OPTION = {"bfd": "bfd", "gold": "gold", "lld14": "lld:14", "lld19": "lld:19", "mold": "mold"}
EVERY = ("bfd", "lld14", "lld19", "mold")  # those whose engines are their own
GOLD_TOO = tuple(PROGRAMS)
ASSEMBLER = '.section .note.GNU-stack,"",@progbits\n'

UNDEFINED = [
    r"(?:undefined reference to|more undefined references to) `([^']*)'(?: follow)?$",
    r"undefined reference to symbol '([^']*)'$",  # GNU ld: "DSO missing from command line" is the next line
    r"required symbol `([^']*)' not defined",
    r"undefined symbol [`']([^']*)' referenced in expression",
    r"(?:error|warning): undefined reference to '([^']*)'$",
    r"(?:hidden|protected) symbol '([^']*)' is not defined locally$",
    r"undefined (?:(?:hidden|protected|internal) )?symbol: (?:.*: )?(\S+)$",
    r"undefined reference(?: due to --no-allow-shlib-undefined)?: (\S+)$",
    r"undefined reference to (\S+) \[--no-allow-shlib-undefined\]$",
    r"--defsym:1: symbol not found: (\S+)$",
]
# Advice, and the second halves of messages.
NOT_A_VERDICT = re.compile(
    r"warning:|final link failed|error adding symbols: bad value|(?:hidden|protected|internal) symbol `.*' isn't defined|^NOTE: |missing --end-group|missing group end|DSO missing from command line|"
    r"use the --help option|^>>>|: in function `"
)

# Options that a linker does not know: it says nothing of the link, and elfaudit lets none pass.
NOT_ITS_OPTION = re.compile(r"unrecognized option|unknown argument|unknown option|unknown -z option|unknown command line option")
# What else it has never learned.
UNKNOWN_TO_IT = re.compile(r"unknown linker script token|invalid use of VERSION in input file|does not support|cannot open @|target emulation unknown")
# Where it gives up at an archive that another linker, and elfaudit, reads on in.
GIVES_UP = re.compile(r"unknown file type|file is empty|archive has no index|no archive symbol table|is not an ELF object|in archive is not an object|: not an ELF file|is neither ET_REL nor LLVM bitcode")


@dataclasses.dataclass
class Verdict:
    duplicates: set = dataclasses.field(default_factory=set)  # of (symbol, the input that defines it again)
    undefined: set = dataclasses.field(default_factory=set)  # of symbols
    extracted: set = dataclasses.field(default_factory=set)  # of "libx.a(y.o)"; None: it can't be seen
    refused: set = dataclasses.field(default_factory=set)  # of (rule, symbol): a key of REFUSED
    other: list = dataclasses.field(default_factory=list, compare=False)  # errors of any other kind
    code: int = dataclasses.field(default=0, compare=False)


def assemble(lab, name, text):
    """Assembles a few lines; returns the object's name."""
    assemble_all(lab, {name: text})
    return name + ".o"


def assemble_all(lab, sources):
    """Assembles many in one go: name -> lines."""
    for name, text in sources.items():
        lab.write(name + ".s", text + "\n" + ASSEMBLER)
    lab.sh("\n".join(f"as {shlex.quote(name)}.s -o {shlex.quote(name)}.o || exit" for name in sources))


def installed():
    return [linker for linker in EVERY if shutil.which(PROGRAMS[linker])]


def every_linker(test, among=EVERY):
    """Gives the test an argument `linker`; one that is not installed is skipped, and the report says so."""
    def param(linker):
        missing = shutil.which(PROGRAMS[linker]) is None
        return pytest.param(linker, marks=pytest.mark.skipif(missing, reason=f"needs {PROGRAMS[linker]}, which is not installed"))

    return pytest.mark.parametrize("linker", [param(linker) for linker in among])(test)


def every_linker_and_gold(test):
    return every_linker(test, GOLD_TOO)


def says(lab, linker, words):
    """Links with the real linker and reads its messages, and its map or trace."""
    return normal({"bfd": bfd_says, "gold": gold_says, "mold": mold_says}.get(linker, lld_says)(lab, linker, words))


def normal(verdict):
    """mold prints "libx.a" for the others' "./libx.a"."""
    verdict.duplicates = {(symbol, file and os.path.normpath(file)) for symbol, file in verdict.duplicates}
    verdict.extracted = verdict.extracted and {os.path.normpath(file) for file in verdict.extracted}
    return verdict


def run(lab, linker, words, options, output="out"):
    """One run with its own output file, so that runs can go side by side."""
    name = f"{output}.{linker}.{abs(hash((words, options))):x}"
    result = lab.sh(f"{PROGRAMS[linker]} {words} {options.replace('MAP', name + '.map')} -o {name}", check=False)
    map_file = lab.path / (name + ".map")
    result.map = map_file.read_text(errors="replace") if map_file.exists() else None
    for leftover in (lab.path / name, map_file):
        leftover.unlink(missing_ok=True)
    return result


def take_common(verdict, message):
    """The kinds that are one line in every linker. False when it is none of them."""
    for pattern in UNDEFINED:
        if m := re.search(pattern, message):
            verdict.undefined.add(m[1])
            return True
    for rule, patterns in REFUSED.items():
        for m in filter(None, (re.search(p, message) for p in patterns)):
            verdict.refused.add((rule, m[1]))
            return True
    return False


# ---- GNU ld


def bfd_says(lab, linker, words):
    result = run(lab, linker, words, "--no-demangle --trace -Map=MAP")
    verdict = Verdict(extracted=bfd_members(result.map), code=result.code)
    known = set(result.out.split()) | (verdict.extracted or set())
    function = None
    for line in result.err.splitlines():
        line = re.sub(r"^\S*ld(\.bfd)?: ", "", line)
        if m := re.fullmatch(r"(.*): in function `(.*)':", line):
            function = m[1]
        elif m := re.fullmatch(r"(.*?):? ?multiple definition of `([^']*)'(?:; .*: first defined here)?", line):
            where = re.match(r"((?:[^:()]|\([^:()]*\)(?=:))*?\([^:()]*\)|[^:]+):", m[1] + ":")
            verdict.duplicates.add((m[2], where[1] if where and where[1] in known else function))
        elif not take_common(verdict, line) and line.strip() and not NOT_A_VERDICT.search(line):
            verdict.other.append(line)
    return verdict


def bfd_members(text):
    """Members of thin archives stand there by their own paths, without the archive's: nothing to compare with. Between the
    rows there may be remarks: "Local IFUNC function `f' in a.o"."""
    block = re.match(r"Archive member included[^\n]*\n\n(.*?)\n\n", text or "", re.S)
    rows = re.findall(r"^(\S+)(?=$|\s+(?:\S+ )?\(.*\)$)", block[1], re.M) if block else []
    return None if any("(" not in row for row in rows) else set(rows)


# ---- gold


def gold_says(lab, linker, words):
    """Its map names the members in the form of GNU ld's, after the "./" of their folder."""
    result = run(lab, linker, words, "--no-demangle --trace -Map=MAP")
    verdict = Verdict(extracted={line for line in result.out.splitlines() if re.search(r"\([^()]*\)$", line)}, code=result.code)
    for line in result.err.splitlines():
        line = re.sub(r"^\S*ld(?:\.gold)?: (?:(?:fatal )?error: )?", "", line)
        line = re.sub(r"undefined reference to '(.*)', version '(.*)'$", r"undefined reference to '\1@\2'", line)
        if m := re.fullmatch(r"(.*): multiple definition of '([^']*)'", line):
            verdict.duplicates.add((m[2], m[1]))
        elif re.search(r": previous definition (?:of \S+ )?here$|^  (?:section group|prevailing) ", line):
            continue
        # Warnings about versions, that read like errors of duplicates or undefined versions to take_common().
        elif re.search(r"^warning: .*(?:conflicting default version| which is also named in version |wildcard match )", line):
            continue
        elif not take_common(verdict, line) and line.strip() and not NOT_A_VERDICT.search(line):
            verdict.other.append(line)
    return verdict


# ---- lld


def lld_says(lab, linker, words):
    quiet = "--error-limit=0 --no-demangle --color-diagnostics=never"
    result = run(lab, linker, words, quiet + " --trace")
    members = {line for line in result.out.splitlines() if re.search(r"\([^()]*\)$", line)}
    verdict = Verdict(extracted=members, code=result.code)
    read_lld(verdict, result.err)
    # It stops at duplicates and at a version script that names what is not there, before it looks at undefined names.
    unmatched = "version script assignment" in result.err
    if verdict.duplicates or unmatched:
        goes_on = " -z muldefs" + (" --undefined-version" if unmatched else "")
        read_lld(verdict, run(lab, linker, words, quiet + goes_on).err)
    return verdict


def read_lld(verdict, text):
    """An error is one line, and what it is about the lines behind it that begin with ">>>"."""
    for block in re.split(r"^(?=\S*lld\S*: )", text, flags=re.M):
        message, *details = [line for line in block.splitlines() if line] or [""]
        message = re.sub(r"^\S*lld\S*: (?:error|warning): ", "", message)
        if m := re.fullmatch(r"duplicate symbol: (.*)", message):
            verdict.duplicates.add((m[1], lld_place(details)))
        elif not take_common(verdict, message) and message and "warning:" not in block.splitlines()[0]:
            verdict.other.append(message)


def lld_place(details):
    """The second place: "defined at FILE:(sec+0x0) in archive LIB", or with a source line "at a.c:1" and FILE below."""
    sites = []
    for line in details:
        if m := re.match(r">>> defined (?:at|in) (.*)", line):
            sites.append(m[1])
        elif sites:
            sites[-1] = line.removeprefix(">>>").strip()
    m = re.fullmatch(r"(.*?)(?::\(.*\))?(?: in archive (.*))?", sites[1])
    return f"{m[2]}({m[1]})" if m[2] else m[1]


# ---- mold


def mold_says(lab, linker, words):
    result = run(lab, linker, words, "--no-demangle")
    verdict = Verdict(code=result.code)
    read_mold(verdict, result.err)
    if verdict.duplicates:
        read_mold(verdict, run(lab, linker, words, "--no-demangle -z muldefs").err)
    # A map is written only for a link that works: it is made to. A member without live sections does not show.
    if re.search(r"\.a\b|-l|\.ld\b|@", words):
        forced = "-z muldefs --no-gc-sections --noinhibit-exec --unresolved-symbols=ignore-all -Map=MAP"
        result = run(lab, linker, words, forced)
        text = result.map if result.code == 0 else None  # mold 1.10 stops at an assertion for --defsym=a=b with -Map
        verdict.extracted = None if text is None else set(re.findall(r"(\S+\([^()\s]+\)):\(", text))
    return verdict


def read_mold(verdict, text):
    for line in text.splitlines():
        message = re.sub(r"^mold: (?:error|fatal|warning): ", "", line)
        if m := re.fullmatch(r"duplicate symbol: (.*?): (.*?): (.*)", message):
            verdict.duplicates.add((m[3], m[1]))
        elif not take_common(verdict, message) and not take_common(verdict, line) and not NOT_A_VERDICT.search(line):
            verdict.other.append(line)


# ---- elfaudit


def elfaudit(lab, linker, words):
    command = [PROGRAMS["bfd"], *shlex.split(words), "--no-demangle", "-o", "out"]
    result = lab.audit("check", "--linker", AS_OPTION[linker], "--format", "json", "--", *command)
    document = result.json()
    # gold prints a duplicate without its version.
    name = (lambda symbol: symbol.split("@")[0]) if linker == "gold" else (lambda symbol: symbol)
    return normal(Verdict(
        {(name(d["symbol"]), d["other"]) for d in document["duplicates"]},
        set(document["undefined"]),
        {m["input"] for m in document["extracted_members"]},
        {(f["rule"], f["symbol"]) for f in document["findings"] if f["rule"] in REFUSED},
        [f["message"] for f in document["findings"] if f["rule"] == "unreadable-input"],
        result.code,
    ))


# ---- Comparing


def difference(theirs, ours):
    """What to print where two verdicts differ; empty when they agree."""
    if theirs.extracted is None:
        theirs = dataclasses.replace(theirs, extracted=ours.extracted)
    return "" if ours == theirs else f"  linker   {theirs}\n  elfaudit {ours}"


def agree(lab, linker, words):
    """Fails the test when the two differ, and prints both."""
    theirs, ours = says(lab, linker, words), elfaudit(lab, linker, words)
    if any(NOT_ITS_OPTION.search(message) for message in theirs.other):
        assert ours.code == 2, f"{PROGRAMS[linker]} {words}\n  linker   {theirs.other}\n  elfaudit {ours}"
        return theirs
    if any(UNKNOWN_TO_IT.search(message) for message in theirs.other):
        pytest.skip(f"{PROGRAMS[linker]}: {theirs.other[0]}")
    if theirs.other and all(GIVES_UP.search(message) for message in theirs.other):  # elfaudit may read on; nothing passes
        assert ours.code == 2, f"{PROGRAMS[linker]} {words}\n  linker   {theirs.other}\n  elfaudit {ours}"
        return theirs
    if theirs.code < 0 and ours.code != 0:  # it crashed, and said nothing of what the audit refuses
        return theirs
    assert not theirs.other, f"{PROGRAMS[linker]} {words}: not a verdict to compare with: {theirs.other}"
    assert not difference(theirs, ours), f"\n{PROGRAMS[linker]} {words}\n{difference(theirs, ours)}"
    return theirs


def differs(lab, linker, line):
    """Nothing where elfaudit accepts what the linker accepts and refuses what it refuses, else both."""
    out = f"out.{abs(hash((linker, line)))}"
    theirs = lab.sh(f"{PROGRAMS[linker]} '{line.replace(' ', chr(39) + ' ' + chr(39))}' -o {out}".replace("''", ""), check=False)
    (lab.path / out).unlink(missing_ok=True)
    ours = lab.audit("check", "--", PROGRAMS[linker], *line.split(), "-o", out)
    if (theirs.code == 0) == (ours.code == 0):
        return None
    return f"{PROGRAMS[linker]} {line}\n  linker {theirs.code}: {theirs.err.splitlines()[:1]}\n  elfaudit {ours.code}: {ours.out.splitlines()[:1]}"


def both_at_once(lab, cases):
    """{(linker, words): (theirs, ours)} of many, side by side."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = pool.map(lambda case: (says(lab, *case), elfaudit(lab, *case)), cases)
        return dict(zip(cases, verdicts))
