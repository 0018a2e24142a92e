#!/usr/bin/env python3
"""Replaces elfaudit in the tests (scripts/through-facts): each `check` runs twice, the second time with facts files in place of the objects
and archives on its line, and differences are written down.

ELFAUDIT_REAL: the program. DIFFERENCES: the file for what differs, and a line for each audit. MISSING=1: the objects are moved away
for the second run, whose report then may say so. BESIDE=1: the facts lie beside the objects, which are read by --facts."""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REAL, DIFFERENCES = os.environ["ELFAUDIT_REAL"], os.environ["DIFFERENCES"]
MISSING = os.environ.get("MISSING") == "1"
BESIDE = os.environ.get("BESIDE") == "1"
SHOWN = 14  # lines of a difference
# Commands that write, or whose second run would be another one.
OTHER_COMMANDS = re.compile(r"--(fix|cache|stats|write-baseline|baseline)\b|-p$")
# Options whose next word is not an input.
TAKES_WORD = {"--never-read", "--format", "--linker", "--symbol", "--config", "--map-path", "--severity", "--enable", "--exclude-libs", "-o"}
ET_REL = 1


def is_indexed(word):
    """Is it an object or an archive, and not a symbolic link?"""
    path = pathlib.Path(word)
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with open(path, "rb") as file:
            head = file.read(18)
    except OSError:
        return False
    order = "little" if head[5:6] == b"\1" else "big"
    return head.startswith(b"!<arch>\n") or (head.startswith(b"\x7fELF") and int.from_bytes(head[16:18], order) == ET_REL)


def inputs_of(words):
    """Where in the words inputs are that have facts."""
    first = words.index("--") + 1 if "--" in words else 1
    return [i for i in range(first, len(words)) if words[i - 1] not in TAKES_WORD and is_indexed(words[i])]


def run(words):
    done = subprocess.run([REAL, *words], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def report(result, facts):
    code, out, err = result
    text = (out + err).decode(errors="replace")
    for name, path in facts.items():
        text = text.replace(path, name)
    if MISSING:
        text = re.sub(r"^.*as recorded in \S*: the object is missing.*\n", "", text, flags=re.M)
        text = re.sub(r"; as \S+ has it: the object is missing", "", text)
        text = re.sub(r"\[\n *\]", "[]", text)  # the list of notes that such a line was alone in
        text = text.replace("does not describe it, the object is missing", "does not describe it, no depfile and no compile command")
        text = text.replace("no debug info, the object is missing", "no debug info, no depfile and no compile command")
    return code, text


def through_facts(words, at, folder):
    """What the audit of facts says, and of which objects it had them; nothing where there were none."""
    facts = {}
    for word in dict.fromkeys(words[i] for i in at):
        # Named as objects are, since drivers go by names in a link of device code.
        path = f"{folder}/{len(facts)}{pathlib.Path(word).suffix or '.o'}"
        types = ["--types"] if "divergent-definition" in words else []
        if run(["index", *types, word, "-o", path])[0] == 0:
            facts[word] = path
    moved = []
    try:
        for word in facts if MISSING else ():
            os.rename(word, word + ".away")
            moved.append(word)
        return facts, facts and run([facts.get(word, word) if i in at else word for i, word in enumerate(words)])
    finally:
        for word in moved:
            os.rename(word + ".away", word)


def beside_objects(words, at):
    """The same with the facts where `elfaudit index -- COMMAND` writes them."""
    made = []
    types = ["--types"] if "divergent-definition" in words else []
    try:
        for word in dict.fromkeys(words[i] for i in at):
            path = f"{word}.facts"
            if not os.path.exists(path) and run(["index", *types, word, "-o", path])[0] == 0:
                made.append(path)
                while os.stat(path).st_ctime_ns <= os.stat(word).st_ctime_ns:
                    os.utime(path)
                os.utime(path, ns=(os.stat(path).st_atime_ns, os.stat(word).st_mtime_ns))
        return {path: path for path in made}, made and run([words[0], "--facts", *words[1:]])
    finally:
        for path in made:
            os.remove(path)


def main(words):
    at = inputs_of(words) if words[:1] == ["check"] and not any(map(OTHER_COMMANDS.match, words)) else []
    if not at:
        os.execv(REAL, [REAL, *words])
    result = run(words)
    folder = tempfile.mkdtemp()
    try:
        facts, second = beside_objects(words, at) if BESIDE else through_facts(words, at, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if facts:
        expected, found = report(result, facts), report(second, facts)
        with open(DIFFERENCES, "a") as differences:
            differences.write("same\n" if expected == found else f"DIFFERS {os.getcwd()}: {' '.join(words)}: exit code {expected[0]}, {found[0]}\n")
            lines = difflib.unified_diff(expected[1].splitlines(), found[1].splitlines(), "objects", "facts", lineterm="", n=0)
            differences.writelines(f"  {line}\n" for line in list(lines)[:SHOWN])
    sys.stdout.buffer.write(result[1])
    sys.stderr.buffer.write(result[2])
    sys.exit(result[0])


main(sys.argv[1:])
