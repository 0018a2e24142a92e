"""One link has one answer: the exit code and the findings are the same in every format, on one thread and on many, when all
members of archives are read, and whichever command is asked: `check`, `check -p`, `link`, `explain`."""

import concurrent.futures
import json
import os
import re
import shlex
import shutil

import pytest

import random_links
from elfaudit_test import campaign, campaign_seed, need
from linker_verdicts import WITH_GOLD as PROGRAMS, Undecided, run
from random_generator import generate, generators

need("as", "ar", "ld.bfd")

RULES = {
    "text": r"^(?:error|warning|note): .* \[([a-z-]+)\]$",
    "gcc": r"^(?:.*: )?(?:error|warning|note): .* \[([a-z-]+)\]$",
    "github": r"^::.*title=elfaudit%3A ([a-z-]+)::",
    "junit": r'<testcase classname="elfaudit\.([a-z-]+)"',
    "markdown": r"^\| (?:error|warning|note) \| .* \| ([a-z-]+) \|$",
}
FORMATS = ("json", "html", "sarif", "gitlab", *RULES)
LINKS = campaign(2)  # of each kind, for each linker
SEED = campaign_seed(0)


def ask(folder, *words):
    """Exit code and output."""
    messages, _ = run([os.environ["ELFAUDIT"], *words], folder)
    return messages.code, messages.out


def found(document):
    """Rule and symbol of each finding of a JSON report."""
    return sorted((f["rule"], f["symbol"]) for f in json.loads(document)["findings"])


def rules_found(name, report):
    """The rule of each finding, as the format names it."""
    if name == "html":  # the page's data
        name, report = "json", report.split('<script id="data" type="application/json">')[1].split("</script>")[0]
    if name == "json":
        return sorted(rule for rule, _ in found(report))
    if name == "sarif":
        return sorted(result["ruleId"] for result in json.loads(report)["runs"][0]["results"])
    if name == "gitlab":
        return sorted(issue["check_name"] for issue in json.loads(report))
    return sorted(re.findall(RULES[name], report, flags=re.M))


def answers(folder, command):
    """Door -> (exit code, what was found or None)."""
    reports = {name: ask(folder, "check", "--format", name, "--", *command) for name in FORMATS}
    code, document = reports["json"]
    rules = rules_found("json", document)
    seen = {name: (reports[name][0], rules_found(name, reports[name][1])) for name in FORMATS}
    whole = {
        "-j 1": ["check", "-j", "1", "--format", "json", "--", *command],
        "--undefined": ["check", "--undefined", "--format", "json", "--", *command],
    }
    if shutil.which("ninja") and code != 2:  # a build stops before a link whose inputs are not there
        with open(os.path.join(folder, "build.ninja"), "w") as build:
            build.write(f"rule l\n command = {shlex.join(command)}\nbuild out: l\n")
        whole["-p"] = ["check", "-p", ".", "--format", "json"]
    for door, words in whole.items():
        door_code, report = ask(folder, *words)
        seen[door] = (door_code, found(report) if report else "no report")
    try:
        gate, _ = ask(folder, "link", "--gate", "--format", "json=link.json", "--", *command)
    except Undecided:  # mold hangs in some links
        gate = code
    with open(os.path.join(folder, "link.out.json")) as report:  # of a clean link the exit code is the linker's own
        seen["link"] = (gate if code != 0 else code, found(report.read()))
    for symbol in sorted({symbol for rule, symbol in found(document) if rule == "duplicate-definition"}):
        _, report = ask(folder, "explain", "--format", "json", symbol, "--", *command)
        explained = json.loads(report)["symbols"] if report else []
        rules_of_symbol = {f["rule"] for one in explained for f in one["findings"]}
        if "duplicate-definition" not in rules_of_symbol:
            seen[f"explain {symbol}"] = rules_of_symbol
    return (code, rules), (code, found(document)), seen


def disagreements(folder, command):
    of_formats, of_doors, seen = answers(folder, command)
    return {door: answer for door, answer in seen.items() if answer != (of_formats if door in FORMATS else of_doors)}


def made(kind, linker, seed, folder):
    """The words of a random link, whose files are made in the folder."""
    link = generate(seed, linker, kind)
    random_links.Workshop(folder, os.path.join(folder, "store")).make(link)
    return [PROGRAMS[linker], *link.line().split(), "-o", "out"]


@pytest.mark.parametrize("kind, linker", [(kind, name) for kind in generators() for name in PROGRAMS])
def test_random_links(kind, linker, tmp_path):
    need(PROGRAMS[linker])

    def judge(seed):
        folder = str(tmp_path / str(seed))
        try:
            command = made(kind, linker, seed, folder)
        except random_links.CannotBeMade:
            return None
        return command, disagreements(folder, command)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        judged = [one for one in pool.map(judge, range(SEED, SEED + LINKS)) if one]
    assert len(judged) >= LINKS * 0.7, "too few of the links can be made"
    assert [one for one in judged if one[1]] == []


def test_a_name_of_a_library_that_is_dropped(lab):
    """Only libf.so needs libh.so, which GNU ld drops; so helper is undefined again where libe.a is searched, and e.o comes in."""
    lab.cc("h.o", "int helper(void) { return 1; }", "gcc -fPIC")
    lab.cc("f.o", "int helper(void); int foo(void) { return helper(); }", "gcc -fPIC")
    lab.sh("gcc -shared h.o -o libh.so && gcc -shared f.o -o libf.so -L. -lh")
    lab.cc("m.o", "int foo(void); int twice = 3; int main(void) { return foo() + twice; }", "gcc")
    lab.ar("libe.a", lab.cc("e.o", "int twice = 1; int helper(void) { return twice; }", "gcc"))
    command = shlex.split("gcc -Wl,--as-needed m.o libf.so -L. -lh libe.a -o out")
    assert disagreements(str(lab.path), command) == {}
    assert answers(str(lab.path), command)[1] == (1, [("duplicate-definition", "twice")])


@pytest.mark.parametrize("linker", PROGRAMS)
def test_an_archive_without_members(lab, linker):
    """As libpthread.a of glibc."""
    need(PROGRAMS[linker])
    lab.cc("start.o", ".globl _start\n_start: call foo\n", "as")
    lab.ar("lib.a", lab.cc("foo.o", ".globl foo\nfoo: ret\n", "as"))
    lab.ar("empty.a")
    command = [PROGRAMS[linker], *"start.o empty.a lib.a -o out".split()]
    assert disagreements(str(lab.path), command) == {}
    assert answers(str(lab.path), command)[1] == (0, [])


DEVICE = {
    "duplicate": ("__device__ int state; int main() { return 0; }", "__device__ int state = 1;"),
    "undefined": ("extern __device__ int state; __global__ void k() { state = 1; } int main() { return 0; }", "int other;"),
    "host and device": ("__device__ int state; int twice; int main() { return 0; }", "__device__ int state; int twice;"),
    "clean": ("extern __device__ int state; __global__ void k() { state = 1; } int main() { return 0; }", "__device__ int state;"),
}


@pytest.mark.deep
@pytest.mark.parametrize("what", DEVICE)
def test_device_links(lab, what):
    need("nvcc", "nvlink")
    for name, source in zip("ab", DEVICE[what]):
        lab.cc(f"{name}.o", source, "nvcc -w -rdc=true -arch=sm_80")
    (lab.path / "lib").mkdir()
    lab.ar("lib/libb.a", "b.o")
    for rest in ("b.o", "-Llib -lb", "-Xlinker --whole-archive lib/libb.a -Xlinker --no-whole-archive"):
        command = shlex.split(f"nvcc -arch=sm_80 a.o {rest} -o out")
        assert disagreements(str(lab.path), command) == {}, rest
    assert answers(str(lab.path), shlex.split("nvcc -arch=sm_80 a.o b.o -o out"))[1][0] == (0 if what == "clean" else 1)
