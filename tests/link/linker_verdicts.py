"""What GNU ld, gold, lld and mold say of a link, in one form: which symbols are defined twice and where, which are undefined,
which archive members take part. And what elfaudit says of the same words.

A linker may stop before it has said everything. It is asked again with what stopped it switched off; when it still
keeps something back, there is no verdict to compare with: Undecided."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile


PROGRAMS = {"bfd": "ld.bfd", "lld14": "ld.lld-14", "lld19": "ld.lld-19", "mold": "mold"}
WITH_GOLD = {**PROGRAMS, "gold": "ld.gold"}
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}


# How a linker refuses a link besides duplicate and undefined symbols, by elfaudit's name for it.
REFUSED = {
    "symbol-not-exported": [
        r"(?:hidden|local|internal) symbol `([^']*)' in \S+ is referenced by DSO",
        r"non-exported symbol '([^']*)' in",
    ],
    "tls-mismatch": [
        r"([^\s:]+): TLS (?:definition|reference) in .* mismatches",
        r"TLS attribute mismatch: (\S+)",
        r"symbol '([^']*)' used as both __thread and non-__thread",
    ],
    "version-not-defined": [
        r"version node not found for symbol ([^@]*)@",
        r"no symbol version section for versioned symbol `([^@]*)@",
        r"symbol ([^@ ]+)(?:@\S*)? has undefined version",
        r"version script assignment of \S+ to symbol '?([^ ']*)'? failed",
        r"error: \S+: cannot assign version `[^`]*` to symbol `([^`]*)`",  # mold, with --fatal-warnings
        r"^(?:ld\.bfd: )?(\S[^`]*): undefined version: ",
    ],
    "discarded-definition": [
        r"relocation refers to a symbol in a discarded section: (\S+)",
        r"relocation refers to (?:global|local) symbol \"([^\"]*)\".*, which is defined in a discarded section",
    ],
}
# Where a linker stops before it has looked at symbols: only that it fails can be compared.
STOPS = re.compile(
    r"cannot find -l|cannot find (?!entry)\S+: No such file|unable to find library|library not found|cannot open \S+: No such file|"
    r"attempted static link of dynamic object|syntax error in VERSION script|ignoring invalid character|duplicate expression|"
    r"duplicate version tag|no input files|-m option is missing|anonymous version tag cannot be combined|unable to find version dependency|parsing version script"
)


class Undecided(Exception):
    """Why a linker gives no verdict."""


class Refused(Exception):
    """What elfaudit says instead of a report."""


@dataclasses.dataclass
class Verdict:
    """Of a linker, parts are None where it says nothing of them."""

    duplicates: set  # of (symbol, the input that defines it again)
    undefined: set  # of symbols
    extracted: set  # of "libx.a(y.o)"
    refused: set  # of (rule, symbol): a key of REFUSED
    fails: bool = False  # there is no output
    stopped: bool = False  # at the first of several undefined symbols
    omits_versions: bool = False  # of some undefined symbols

    def renamed(self, names):
        """With other names for some inputs."""
        new = lambda name: names.get(name, name)
        renamed = dataclasses.replace(self)
        if self.extracted is not None:
            renamed.extracted = {new(member) for member in self.extracted}
        if self.duplicates is not None:
            renamed.duplicates = {(symbol, new(where)) for symbol, where in self.duplicates}
        return renamed

    def differences(self, other):
        """The names of the parts in which the two differ."""
        if self.stopped and self.undefined <= other.undefined:
            other = dataclasses.replace(other, undefined=self.undefined)
        if self.omits_versions and None not in (self.undefined, other.undefined):
            left_out = {name for name in other.undefined - self.undefined if name.split("@")[0] in self.undefined}
            said = other.undefined - left_out | {name.split("@")[0] for name in left_out}
            other = dataclasses.replace(other, undefined=said)
        return [
            part
            for part in PARTS
            if None not in (getattr(self, part), getattr(other, part)) and getattr(self, part) != getattr(other, part)
        ]


PARTS = ("duplicates", "undefined", "extracted", "refused", "fails")


@dataclasses.dataclass
class Messages:
    """What one run of a linker said."""

    code: int
    out: str
    duplicates: set = dataclasses.field(default_factory=set)
    undefined: set = dataclasses.field(default_factory=set)
    refused: set = dataclasses.field(default_factory=set)
    other: list = dataclasses.field(default_factory=list)  # errors of any other kind

    def take_refusal(self, message):
        """Is it one of the other ways to refuse a link?"""
        found = [(rule, m[1]) for rule, patterns in REFUSED.items() for m in (re.search(p, message) for p in patterns) if m]
        self.refused |= set(found)
        return bool(found)


def run(words, folder, limit=30):
    """mold 1.10 works in a child of its own and hangs there in one of ten links about versions: the whole group ends
    with it."""
    process = subprocess.Popen(
        words, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Undecided(f"no answer in {limit} seconds")
    return Messages(process.returncode, out), err


def named(path):
    """One spelling for one input: some say "./libx.a(y.o)" or "libx.a(./y.o)" where others say "libx.a(y.o)", and mold says
    "/usr/lib/Scrt1.o" of "/usr/lib/gcc/../Scrt1.o"."""
    return path and os.path.normpath(path).replace("(./", "(")


def linker(name, words, folder):
    """The verdict of the linker of that name. Throws Undecided."""
    with tempfile.TemporaryDirectory() as scratch:
        read = {"bfd": gnu_ld, "gold": gold, "mold": mold}.get(name, lld)
        verdict, messages = read(WITH_GOLD[name], words, folder, scratch)
    if messages.code != 0 and any(STOPS.search(error) for error in messages.other):
        return Verdict(None, None, None, None, True)
    if messages.code != 0 and not verdict.duplicates and not verdict.undefined and not messages.refused:
        raise Undecided("; ".join(messages.other) or f"exit code {messages.code}")
    verdict.fails = messages.code != 0
    return verdict


# ---- GNU ld ----------------------------------------------------------------------------------------------------------

FORCE_BFD = ["--noinhibit-exec", "-z", "muldefs", "--warn-unresolved-symbols"]
STOPPED = re.compile(r"final link failed|nonrepresentable|is disallowed|cannot find (?!entry)|error adding")


def gnu_ld(program, words, folder, scratch):
    map_file = pathlib.Path(scratch, "map")
    messages = gnu_ld_messages([program, *words, f"-Map={map_file}", "-o", scratch + "/out"], folder, map_file)
    if messages.code != 0 and any(map(STOPS.search, messages.other)):
        return Verdict(None, None, None, None, True), messages
    # A map that was never written says nothing about members.
    extracted = {named(member) for member in map_members(map_file)} if map_file.exists() else None
    undefined = messages.undefined
    if any("DSO missing from command line" in error for error in messages.other):
        return Verdict(messages.duplicates, undefined, extracted, messages.refused, stopped=True), messages
    if messages.code != 0 and any(STOPPED.search(error) for error in messages.other):
        again = gnu_ld_messages([program, *words, *FORCE_BFD, "-o", scratch + "/forced"], folder, map_file)
        if any(STOPPED.search(error) for error in again.other):
            raise Undecided("; ".join(again.other))
        undefined = undefined | again.undefined
    # At a version without a node it stops before it has looked for undefined names, and names the first one only.
    stopped = any(rule == "version-not-defined" for rule, _ in messages.refused)
    return Verdict(messages.duplicates, None if stopped else undefined, extracted, None if stopped else messages.refused), messages


def map_members(map_file):
    """The first table of GNU ld's map."""
    if not map_file.exists():
        return []
    # Where ld stops in the middle, the table is the last thing in the map.
    table = re.match(r"Archive member included[^\n]*\n\n(.*?)(?:\n\n|\Z)", map_file.read_text(errors="replace"), re.S)
    # Among its rows stand remarks such as "Local IFUNC function `f' in a.o".
    return re.findall(r"^(\S+)(?=$|\s+(?:\S+ )?\(.*\)$)", table[1], re.M) if table else []


def gnu_ld_messages(command, folder, map_file):
    messages, text = run([*command, "--no-demangle", "--trace"], folder)
    known = set(messages.out.split()) | set(map_members(map_file))
    function = None  # of which the next lines are about: "a.o: in function `f':"
    for line in text.splitlines():
        line = re.sub(r"^\S*ld(\.bfd)?: ", "", line).replace("warning: undefined", "undefined")
        if m := re.fullmatch(r"(.*): in function `(.*)':", line):
            function = m[1]
        elif m := re.fullmatch(r"(.*?):? ?multiple definition of `([^']*)'(?:; .*: first defined here)?", line):
            where = re.match(r"((?:[^:()]|\([^:()]*\)(?=:))*?\([^:()]*\)|[^:]+):", m[1] + ":")
            messages.duplicates.add((m[2], named(where[1] if where and where[1] in known else function)))
        elif m := re.search(r"undefined reference to symbol [`']([^']*)'", line):
            messages.undefined.add(m[1].split("@@")[0])  # "DSO missing from command line": the version is the library's
        elif m := re.search(r"(?:undefined reference to|more undefined references to) [`']([^']*)'", line):
            messages.undefined.add(m[1])
        elif m := re.search(r"required symbol `([^']*)' not defined|(?:undefined|unresolvable) symbol `([^']*)' referenced in expression", line):
            messages.undefined.add(m[1] or m[2])
        elif not messages.take_refusal(line) and line.strip() and "warning:" not in line:
            messages.other.append(line)
    return messages


# ---- gold ------------------------------------------------------------------------------------------------------------


def gold(program, words, folder, scratch):
    """It says everything in one run; a map has what it took from archives, unless it stops before."""
    map_file = pathlib.Path(scratch, "map")
    messages, text = run([program, *words, "--no-demangle", f"-Map={map_file}", "-o", scratch + "/out"], folder)
    not_local = set()
    for line in text.splitlines():
        line = re.sub(r"^\S*ld\.gold: ", "", line).replace("warning: undefined", "error: undefined")
        if m := re.fullmatch(r"error: (.*?): multiple definition of '([^']*)'", line):
            messages.duplicates.add((m[2], named(m[1])))
        elif m := re.search(r"undefined reference to '([^']*)'(?:, version '([^']*)')?$", line):
            messages.undefined.add(f"{m[1]}@{m[2]}" if m[2] else m[1])
        elif m := re.search(r"undefined symbol '([^']*)' referenced in expression$", line):
            messages.undefined.add(m[1])
        elif m := re.search(r"(?:hidden|internal|protected) symbol '([^']*)' is not defined locally$", line):
            not_local.add(m[1])
        elif messages.take_refusal(line):
            continue
        elif "previous definition here" not in line and "error:" in line:
            messages.other.append(line)
    if messages.other:
        raise Undecided("; ".join(messages.other))
    # Of a hidden name whose definition is dropped it says that too: one error, which elfaudit gives one name.
    messages.undefined |= {symbol for symbol in not_local if ("discarded-definition", symbol) not in messages.refused}
    extracted = None
    if map_file.exists():
        table = re.match(r"Archive member included[^\n]*\n\n(.*?)(?:\n\n|\Z)", map_file.read_text(errors="replace"), re.S)
        extracted = {named(member) for member in re.findall(r"^(\S+\([^()]*\))", table[1] if table else "", re.M)}
    # With --noinhibit-exec nothing that it says is a refusal.
    refused = one_of_each_rule(messages.refused) if messages.code != 0 else set()
    return Verdict(messages.duplicates, messages.undefined, extracted, refused, omits_versions=True), messages


def one_of_each_rule(refused):
    """Of a version without a node gold names one symbol, the first in its hash table, so that only the rule can be compared."""
    return {(rule, "" if rule == "version-not-defined" else symbol) for rule, symbol in refused}


# ---- lld -------------------------------------------------------------------------------------------------------------


def lld(program, words, folder, scratch):
    command = [program, *words, "--error-limit=0", "--no-demangle", "--color-diagnostics=never"]
    messages = lld_messages([*command, "--trace", "-o", scratch + "/out"], folder)
    undefined = messages.undefined
    # It stops at duplicates before it looks at versions, and at versions before it looks at undefined names.
    for goes_on in (["-z", "muldefs"], ["-z", "muldefs", "--undefined-version"]):
        if messages.code == 0 or undefined or any(map(STOPS.search, messages.other)):
            break
        again = lld_messages([*command, *goes_on, "-o", scratch + "/forced"], folder)
        if [error for error in again.other if not error.startswith("cannot find entry")]:
            raise Undecided("; ".join(again.other))
        stopped = {rule for rule, _ in again.refused} & {"version-not-defined"}
        undefined = None if stopped else again.undefined
        messages.refused |= again.refused
    extracted = {named(line) for line in messages.out.splitlines() if re.fullmatch(r"[^\s()]+\([^()\s]*\)", line)}
    return Verdict(messages.duplicates, undefined, extracted, messages.refused), messages


def lld_messages(command, folder):
    messages, text = run(command, folder)
    for kind, message in re.findall(r"^(?:\S*lld\S*): (error|warning): (.*(?:\n(?!\S*lld).*)*)", text, flags=re.M):
        first, *places = message.splitlines()
        if m := re.fullmatch(r"duplicate symbol: (.*)", first):
            # ">>> defined at FILE:(SECTION+OFFSET) in archive ARCHIVE", after a line with the source if that is known.
            sites = re.findall(r">>> (?:defined (?:at|in) |\s+)([^\s:]+)(?::\([^()]*\))?(?: in archive (\S+))?$", message, re.M)
            where, archive = sites[-1]
            messages.duplicates.add((m[1], named(f"{archive}({where})" if archive else where)))
        elif m := re.fullmatch(r"undefined (?:(?:hidden|protected|internal) )?symbol: (.*)", first):
            messages.undefined.add(m[1])
        elif m := re.fullmatch(r"(?:undefined reference(?: due to --no-allow-shlib-undefined)?: |.*: undefined reference to |.*: symbol not found: )(\S+).*", first):
            messages.undefined.add(m[1])
        elif kind == "error" and not messages.take_refusal(first):
            messages.other.append(first)
    return messages


# ---- mold ------------------------------------------------------------------------------------------------------------

MOLD_HANGS = 5  # seconds; where it does not hang it needs some milliseconds
FORCE_MOLD = ["-z", "muldefs", "--warn-unresolved-symbols", "--unresolved-symbols=ignore-all"]


def mold(program, words, folder, scratch):
    command = [program, *words, "--no-demangle"]
    messages = mold_messages([*command, "-o", scratch + "/out"], folder)
    undefined = messages.undefined
    if messages.code != 0 and (messages.duplicates or not undefined) and not any(map(STOPS.search, messages.other)):
        again = mold_messages([*command, "-z", "muldefs", "-o", scratch + "/forced"], folder)
        if again.other or (again.code != 0 and not again.undefined and not again.refused):  # 1.10 may crash on --defsym=a=b
            raise Undecided("; ".join(again.other) or f"exit code {again.code}")
        undefined = again.undefined
        messages.refused |= again.refused
    # Of undefined names and versions without a node it reports one kind.
    if undefined == set() and any(rule == "version-not-defined" for rule, _ in messages.refused):
        undefined = None
    refused = None if undefined and messages.code != 0 else messages.refused
    return Verdict(messages.duplicates, undefined, mold_members(command, folder, scratch), refused), messages


def mold_messages(command, folder):
    messages, text = run(command, folder, MOLD_HANGS)
    for kind, message in re.findall(r"^mold: (error|fatal|warning): (.*)$", re.sub(r"\x1b\[[0-9;]*m", "", text), re.M):
        if m := re.fullmatch(r"duplicate symbol: (.*?): (.*?): (.*)", message):
            messages.duplicates.add((m[3], named(m[1])))
        elif m := re.fullmatch(r"(?:--require-defined: )?undefined symbol: (?:.*: )?(\S+)", message):
            messages.undefined.add(m[1])
        elif kind != "warning" and not messages.take_refusal(f"{kind}: {message}"):
            messages.other.append(message)
    return messages


def mold_members(command, folder, scratch):
    """mold lists no members; those with a section in the output are in the map of a link that is made to succeed. A
    section that --gc-sections took away says nothing about its member."""
    map_file = pathlib.Path(scratch, "map")
    if "--gc-sections" in command:
        return None
    forced, _ = run([*command, *FORCE_MOLD, f"-Map={map_file}", "-o", scratch + "/mapped"], folder, MOLD_HANGS)
    if forced.code != 0 or not map_file.exists():  # mold 1.10 asserts on --defsym=a=b with -Map
        return None
    return {named(member) for member in re.findall(r"(\S+\([^()\s]+\)):\(", map_file.read_text(errors="replace"))}


# ---- elfaudit --------------------------------------------------------------------------------------------------------


def elfaudit(name, words, folder):
    command = [os.environ["ELFAUDIT"], "check", "--format", "json", "--", WITH_GOLD[name], *words, "--no-demangle", "-o", "out"]
    messages, error = run(command, folder)
    if messages.code not in (0, 1, 2) or not messages.out.startswith("{"):
        raise Refused(f"exit code {messages.code}: {error}")
    text, _ = run([*command[:2], *command[4:]], folder)  # names of members may be left out
    if text.code != messages.code:
        raise Refused(f"exit code {text.code} as text, {messages.code} as JSON")
    document = json.loads(messages.out)
    refused = {(f["rule"], f["symbol"]) for f in document["findings"] if f["rule"] in REFUSED and f["severity"] == "error"}
    # gold prints a duplicate without its version.
    printed = (lambda symbol: symbol.split("@")[0]) if name == "gold" else (lambda symbol: symbol)
    return Verdict(
        {(printed(d["symbol"]), named(d["other"])) for d in document["duplicates"]},
        set(document["undefined"]),
        {named(m["input"]) for m in document["extracted_members"]},
        one_of_each_rule(refused) if name == "gold" else refused,
        messages.code != 0,
    )
