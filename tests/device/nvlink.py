"""What nvlink says of a device link, and what elfaudit says of the same files, in one form that can be compared.

A problem is "duplicate dv", "undefined dv", "size dv", "space dv" or "prototype dv": what is wrong, and with which symbol.
"""

import concurrent.futures
import re
import shlex
import shutil
import zlib

from elfaudit_test import by_symbol

NVCC = "nvcc -w -std=c++17 -rdc=true "

MESSAGES = {
    r"Multiple definition of '(.*)' in '(.*)', first (?:defined|specified) in '.*'": "duplicate",
    r"Size doesn't match for '(.*)' in '(.*)', first (?:defined|specified) in '.*'": "size",
    r"Common symbol '(.*)' in file '(.*)' has larger size than initialization": "larger",
    r"Memory space doesn't match for '(.*)' in '(.*)', first (?:defined|specified) in '.*'": "space",
    r"Managed attribute doesn't match for '(.*)' in '(.*)', first (?:defined|specified) in '.*'": "space",
    r"Prototype doesn't match for '(.*)' in '(.*)', first (?:defined|specified) in '.*'": "prototype",
    r"Undefined reference to '(.*)' in '(.*)'": "undefined",
}


def compile_all(lab, sources, options="-arch=sm_80"):
    """Compiles {name: source} or {name: (source, options)} to name.o. nvcc is slow: two run at a time, and what a lab has
    compiled before is copied."""
    names = {}
    for name, source in sources.items():
        names.setdefault(source if isinstance(source, tuple) else (source, options), []).append(name)

    def compile_one(item):
        (source, own), copies = item
        made = lab.path / f"compiled-{zlib.crc32(f'{own} {source}'.encode()):08x}.o"
        if not made.exists():
            lab.cc(made.name, source + "\n", NVCC + own)
        for copy in copies:
            shutil.copy(made, lab.path / f"{copy}.o")
            shutil.copy(made.with_suffix(".cu"), lab.path / f"{copy}.cu")

    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        list(workers.map(compile_one, names.items()))


def nvlink(lab, words, arch="sm_80"):
    """Links with the real nvlink. Returns {problem: the input it names} and its messages of any other kind."""
    result = lab.sh(f"nvlink -arch={arch} {words} -o linked.cubin", check=False)
    problems, other = {}, []
    for line in (result.out + result.err).splitlines():
        message = re.sub(r"^nvlink (error|warning|fatal) *: | \(target: \w+\)$", "", line)
        for pattern, kind in MESSAGES.items():
            if m := re.fullmatch(pattern, message):
                problems[f"{kind} {m[1]}"] = re.sub(r"^(.*\.a):(.*)$", r"\1(\2)", m[2])
                break
        else:
            if message != "merge_elf failed" and not line.startswith("nvlink warning"):
                other.append(message)
    assert (result.code != 0) == bool(problems or other), result
    return problems, other


def kind(finding):
    if finding["rule"] != "device-declaration-mismatch":
        return {"device-duplicate-definition": "duplicate", "device-undefined-symbol": "undefined"}[finding["rule"]]
    return "size" if " bytes in " in finding["message"] else "prototype" if "prototype" in finding["message"] else "space"


RULES = ("device-duplicate-definition", "device-undefined-symbol", "device-declaration-mismatch")


def elfaudit(lab, arguments):
    """Audits. Returns {problem: the inputs that would be rejected for it} and the whole result."""
    result = lab.audit("check", "--format", "json", *arguments)
    problems = {}
    for finding in by_symbol(result.json()["findings"]):
        if finding["rule"] in RULES:
            inputs = {site["input"] for site in finding["sites"] if site["role"] in ("rejected", "reference")}
            problems.setdefault(f"{kind(finding)} {finding['symbol']}", set()).update(inputs)
    return problems, result


def place(words, name):
    """Where an input stands on the line; what -l found comes last."""
    path = name.split("(")[0]
    return words.index(path) if path in words else len(words)


def differences(words, theirs, ours):
    """What a person must look at; nothing when the verdicts agree."""
    found = [f"nvlink alone says: {p} in {f}" for p, f in theirs.items() if f not in ours.get(p, ())]
    # nvlink stops at the first input that does not fit the ones before it, and looks for undefined symbols after that.
    stopped_at = {place(words, f) for p, f in theirs.items() if not p.startswith("undefined")}
    for problem in ours.keys() - theirs.keys():
        later = problem.startswith("undefined") or all(place(words, f) >= max(stopped_at) for f in ours[problem]) if stopped_at else False
        in_it = {f for f in ours[problem] if f in theirs.values()} and not problem.startswith("undefined")
        if not later or in_it:
            found.append(f"elfaudit alone says: {problem} in {sorted(ours[problem])}")
    return found


def agree(lab, words, arch="sm_80"):
    """Fails the test when the verdicts differ. Returns the problems that nvlink names.

    elfaudit is asked twice: about the files alone, as far as they are files alone, and about nvlink's own command line.
    """
    theirs, other = nvlink(lab, words, arch)
    assert not other, f"nvlink {words}: not a verdict to compare with: {other}"
    split = shlex.split(words)
    questions = [["--", "nvlink", f"-arch={arch}", *split, "-o", "linked.cubin"]]
    if not any(word.startswith("-") for word in split):
        questions.append(["--arch", arch, *split])
    for question in questions:
        ours, result = elfaudit(lab, question)
        if question[0] != "--" and any("one GPU alone" in phrase for phrase in result.json()["not_judged"]):
            continue  # it depends on the version of nvlink
        assert not (found := differences(split, theirs, ours)), f"elfaudit check {shlex.join(question)}\n" + "\n".join(found)
        assert result.code != 2 and result.json()["complete"], result
        # The host halves of plain files are judged too, and may be wrong for reasons of their own.
        assert result.code == bool(theirs) or question[0] != "--", result
    return set(theirs)
