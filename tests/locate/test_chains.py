"""Through which includes a definition was reached, of objects that have debug info and nothing else, against the line markers of
the same compiler's -E. A chain that is said to be known is the compiler's; most are known."""

import json
import os
import pathlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from elfaudit_test import campaign, campaign_seed, finished, need, output_of

pytestmark = pytest.mark.deep

ELFAUDIT = os.environ.get("ELFAUDIT", "elfaudit")
SEED = campaign_seed(3)
COUNT = campaign(8)
LEAST = 0.8
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


def chains_in(preprocessed, folder):
    """By file and line of what is left of a source: each way of includes that came to it."""
    found, stack, file, line = {}, [], None, 0
    for text in preprocessed.split("\n"):
        marker = re.match(r'# (\d+) "([^"]*)"([ 0-9]*)$', text)
        if not marker:
            if text.strip():
                ways = found.setdefault((file, line), [])
                if stack not in ways:
                    ways.append(list(stack))
            line += 1
            continue
        if "1" in marker[3].split() and file:
            stack.append([file, line])
        if "2" in marker[3].split() and stack:
            stack.pop()
        file = marker[2] if marker[2].startswith("<") else os.path.relpath(os.path.join(folder, marker[2]), folder)
        line = int(marker[1])
    return found


def chains_of(folder, unit, compiler, *options):
    """Of each definition in a header: the known chain or None, and those that it may be."""
    c, cxx = COMPILERS[compiler]
    words = [c if unit["language"] == "c" else cxx, f"-std={unit['standard']}", "-w", *(f"-I{one}" for one in unit["include_dirs"]),
             *(f"-D{name}={value}" for name, value in unit["defines"])]
    if finished([*words, "-g", *options, "-c", unit["source"], "-o", f"{compiler}.o"], folder).code != 0:  # what clang refuses of what gcc takes
        return []
    truth = chains_in(output_of([*words, "-E", unit["source"]], folder), folder)
    findings = json.loads(output_of([ELFAUDIT, "check", "--enable", "header-definition", "--format", "json", f"{compiler}.o"], folder, (0, 1)))["findings"]
    sites = [site for finding in findings for site in finding["sites"] if site["file"]]
    known = lambda site: [[step["file"], step["line"]] for step in site["chain"]] if site["chain_known_by"] != "none" else None  # noqa: E731
    return [(f"{folder}/{unit['source']} {site['file']}:{site['line']}", known(site), truth.get((site["file"], site["line"]))) for site in sites]


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    generator = str(pathlib.Path(__file__).parent / "generate.py")
    output_of([sys.executable, generator, str(folder), "--count", str(COUNT), "--seed", str(SEED)], folder)
    return [(project, json.loads((project / "truth.json").read_text())["units"]) for project in sorted(folder.glob("p*"))]


@pytest.mark.parametrize("options", [[], ["-gdwarf-4"], ["-gsplit-dwarf"], ["-MD"]], ids=lambda o: " ".join(o) or "-g alone")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_known_chain_is_the_compilers(projects, compiler, options):
    need(*COMPILERS[compiler])

    def one(project):
        folder, units = project
        return [answer for unit in units for answer in chains_of(folder, unit, compiler, *options)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = [answer for of_project in pool.map(one, projects) for answer in of_project]
    asked = [answer for answer in answers if answer[2]]
    wrong = [answer for answer in asked if answer[1] is not None and answer[1] not in answer[2]]
    known = sum(1 for answer in asked if answer[1] is not None)
    print(f"{compiler} {options}: {known} known of {len(asked)}")
    assert not wrong, wrong[:5]
    assert len(asked) >= COUNT and known >= LEAST * len(asked), [a for a in asked if a[1] is None][:20]
