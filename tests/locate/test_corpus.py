"""The reader of sources against generated projects of which it is known what defines what: site, includes and cause, compiled
for this machine, and a part of them for aarch64 and i686.

Three ways to know a compile: its command with its depfile, the depfile alone, and its preprocessed text. Whatever is said
to be certain must be right; that no project may break. How much is right is counted over all of them.
"""

import json
import os
import pathlib
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from elfaudit_test import campaign, campaign_seed, output_of

HERE = pathlib.Path(__file__).parent
SITE_OF = os.environ.get("SITE_OF", "site_of")
SEED = campaign_seed(7)
COUNT = campaign(8)
CROSS_COUNT = COUNT // 4
# The prefix of the compilers' names; empty: this machine's.
TARGETS = {"native": "", "aarch64": "aarch64-linux-gnu-", "i686": "i686-linux-gnu-"}
EVERY_TARGET = [
    pytest.param(name, marks=[] if shutil.which(f"{prefix}g++") else pytest.mark.skip(reason=f"needs {prefix}g++, which is not installed"))
    for name, prefix in TARGETS.items()
]


def compile_words(unit, target="native"):
    words = unit.get("compiler", TARGETS[target] + ("gcc" if unit["language"] == "c" else "g++")).split()
    words += [f"-std={unit['standard']}"] + [f"-I{folder}" for folder in unit["include_dirs"]]
    words += [f"-D{name}={value}" for name, value in unit["defines"]] + unit.get("options", [])
    return words


def prepare(folder, unit, target):
    """Compiles the unit as a build does, for its depfile and its preprocessed text."""
    stem = os.path.splitext(unit["source"])[0]
    output_of(compile_words(unit, target) + ["-w", "-MD", "-MF", f"{stem}.d", "-c", unit["source"], "-o", f"{stem}.o"], folder)
    output_of(compile_words(unit, target) + ["-w", "-E", unit["source"], "-o", f"{stem}.i"], folder)
    return stem


def ask(folder, unit, target, stem, way):
    symbols = [f"{one['symbol']}:{one['kind']}" for one in unit["defined"] + unit["absent"]]
    words = {
        "command": ["--depfile", f"{stem}.d", *symbols, "--", *compile_words(unit, target), "-c", unit["source"]],
        "depfile": ["--depfile", f"{stem}.d", *symbols],
        "preprocessed": ["--preprocessed", f"{stem}.i", "--language", unit["language"], *symbols],
    }[way]
    machine = ["--target", TARGETS[target].rstrip("-")] if TARGETS[target] else []
    answers = [json.loads(line) for line in output_of([SITE_OF, "--folder", str(folder), *machine, *words], folder).splitlines()]
    return dict(zip(symbols, answers))


def cause_is_right(truth, definition):
    cause = truth["cause"]
    if cause is None:
        return True
    for macro in definition["macros"]:
        if macro["macro"] == cause["macro"]:
            undefined = {name for branch in macro["branches"] for before in branch["before"] for name in before["undefined"]}
            return macro["value"] == cause["value"] and macro["defined_at"] == [cause["header"], cause["line"]] and set(
                cause["undefined"]) <= undefined
    return False


class Score:
    """Counts for one way of asking."""

    def __init__(self):
        self.asked = self.site = self.chain = self.cause = self.certain = 0
        self.wrong = []  # presented as certain
        self.missed = []

    def add(self, where, truth, answer, way):
        definitions = answer["definitions"]
        self.asked += 1
        site = [truth["header"], truth["line"]]
        right = len(definitions) == 1 and definitions[0]["at"] == site
        self.certain += right and definitions[0]["certain"]
        self.wrong += [f"{where} {truth['symbol']}: {d['at']}, not {site}" for d in definitions if d["certain"] and d["at"] != site]
        if not right:
            self.missed.append(f"{where} {truth['symbol']} {truth['kind']}: {[d['at'] for d in definitions]}, not {site}; {answer['doubts']}")
            return
        self.site += 1
        chain = definitions[0]["chain"] == truth["chain"]
        if not chain and definitions[0]["certain"]:
            self.wrong.append(f"{where} {truth['symbol']}: chain {definitions[0]['chain']}, not {truth['chain']}")
        self.chain += chain
        self.cause += way == "preprocessed" or cause_is_right(truth, definitions[0])
        if not chain:
            self.missed.append(f"{where} {truth['symbol']}: chain {definitions[0]['chain']}, not {truth['chain']}")
        elif way != "preprocessed" and not cause_is_right(truth, definitions[0]):
            self.missed.append(f"{where} {truth['symbol']}: cause {definitions[0]['macros']}, not {truth['cause']}")

    def add_absent(self, where, symbol, answer):
        """What the unit does not define for others may be found as inline or internal, but not as a plain definition."""
        self.wrong += [f"{where} {symbol}: said to be defined at {d['at']}" for d in answer["definitions"]
                       if d["certain"] and not d["inline"] and not d["internal"]]

    def __str__(self):
        return f"{self.asked} asked, site {self.site}, chain {self.chain}, cause {self.cause}, certain {self.certain}"


@pytest.fixture(scope="module", params=EVERY_TARGET)
def scores(request, tmp_path_factory):
    target = request.param
    folder = tmp_path_factory.mktemp("corpus")
    generator = os.environ.get("CORPUS_GENERATOR", str(HERE / "generate.py"))
    output_of([sys.executable, generator, str(folder), "--count", str(COUNT if target == "native" else CROSS_COUNT), "--seed", str(SEED)], folder)
    result = {way: Score() for way in ("command", "depfile", "preprocessed")}

    def one(project):
        answers = []
        for unit in json.loads((project / "truth.json").read_text())["units"]:
            stem = prepare(project, unit, target)
            answers += [(unit, way, ask(project, unit, target, stem, way)) for way in result]
        return project, answers

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for project, answers in pool.map(one, sorted(folder.glob("p*"))):
            for unit, way, answer in answers:
                for truth in unit["defined"]:
                    result[way].add(f"{project}/{unit['source']}", truth, answer[f"{truth['symbol']}:{truth['kind']}"], way)
                for truth in unit["absent"]:
                    result[way].add_absent(f"{project}/{unit['source']}", truth["symbol"], answer[f"{truth['symbol']}:{truth['kind']}"])
    return result


LEAST = {"command": 1.0, "depfile": 0.95, "preprocessed": 1.0}


@pytest.mark.parametrize("way", LEAST)
def test_nothing_wrong_is_certain(scores, way):
    assert not scores[way].wrong, "\n".join(scores[way].wrong)


@pytest.mark.parametrize("way", LEAST)
def test_site_chain_and_cause(scores, way):
    score = scores[way]
    print(way, score)
    assert score.asked > CROSS_COUNT
    assert min(score.site, score.chain, score.cause) >= LEAST[way] * score.asked, "\n".join([str(score)] + score.missed[:60])
