"""The program itself against generated projects of which it is known what defines what: site and chain, for each source of
truth. Every unit's object is checked with header-definition on, which locates each strong definition that a header holds.

With debug info and with --preprocess all sites are exact; from the depfile alone at least 95 %; nothing wrong is ever
presented as known; and where the site is known, so is the chain.
"""

import json
import os
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from elfaudit_test import by_symbol, campaign, campaign_seed, need, output_of
from test_corpus import compile_words

need("g++", "gcc")
HERE = pathlib.Path(__file__).parent
SEED = campaign_seed(8)
COUNT = campaign(8)

# How a unit is compiled and checked -> the least share of sites that must be known.
WAYS = {
    "debug info": (["-g"], [], False, 1.0),
    "macro info": (["-g3"], [], False, 1.0),
    "preprocessor": ([], ["--preprocess"], True, 1.0),
    "compile command and depfile": (["-MD"], [], True, 1.0),
    "compile command and -MMD": (["-MMD"], [], True, 1.0),
    "depfile": (["-MD"], [], False, 0.95),
    "depfile of -MMD": (["-MMD"], [], False, 0.95),
}


def sites(folder, unit, way):
    """Symbol -> (file, line, chain) of what the program says about one unit."""
    flags, options, has_command, _ = WAYS[way]
    build = folder / ("build-" + way.replace(" ", "-"))
    build.mkdir(exist_ok=True)
    made = build / (unit["source"].replace("/", "_") + ".o")
    command = [*compile_words(unit), "-w", *flags, "-c", unit["source"], "-o", str(made)]
    output_of(command, folder)
    if has_command:
        entry = {"directory": str(folder), "file": unit["source"], "output": str(made), "arguments": command}
        (build / "compile_commands.json").write_text(json.dumps([entry]))
    out = output_of([os.environ["ELFAUDIT"], "check", "--enable", "header-definition", *options, "--format", "json", str(made)], folder, (0, 1))
    answers = {}
    for finding in by_symbol(json.loads(out)["findings"]):
        site = finding["sites"][0]
        chain = [[step["file"], step["line"]] for step in site["chain"]] if site["chain_known_by"] != "none" else None
        answers[finding["symbol"]] = (site["file"], site["line"], chain)
    return answers


class Score:
    def __init__(self):
        self.asked = self.known = self.chains = 0
        self.wrong, self.missed = [], []

    def add(self, where, truth, answers):
        if truth["header"] == where[1]:
            return  # in the unit's own file: no header's definition
        self.asked += 1
        answer = answers.get(truth["symbol"])
        if answer is None:
            self.missed.append(f"{where} {truth['symbol']}")
            return
        if list(answer[:2]) != [truth["header"], truth["line"]]:
            self.wrong.append(f"{where} {truth['symbol']}: {answer[:2]}, not {truth['header']}:{truth['line']}")
            return
        self.known += 1
        if answer[2] is None:
            return
        self.chains += 1
        if answer[2] != truth["chain"]:
            self.wrong.append(f"{where} {truth['symbol']}: chain {answer[2]}, not {truth['chain']}")


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects")
    output_of([sys.executable, str(HERE / "generate.py"), str(folder), "--count", str(COUNT), "--seed", str(SEED)], folder)
    result = {way: Score() for way in WAYS}
    jobs = [(project, unit, way) for project in sorted(folder.glob("p*"))
            for unit in json.loads((project / "truth.json").read_text())["units"] for way in WAYS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (project, unit, way), answers in zip(jobs, pool.map(lambda job: sites(*job), jobs)):
            for truth in unit["defined"]:
                result[way].add((project.name, unit["source"]), truth, answers)
    return result


@pytest.mark.parametrize("way", WAYS)
def test_nothing_wrong_is_presented_as_known(scores, way):
    assert not scores[way].wrong, "\n".join(scores[way].wrong)


@pytest.mark.parametrize("way", WAYS)
def test_sites_are_known(scores, way):
    score = scores[way]
    print(f"{way}: {score.known} of {score.asked} sites, {score.chains} chains")
    assert score.asked > COUNT
    assert score.known >= WAYS[way][3] * score.asked, "\n".join([f"{score.known} of {score.asked}"] + score.missed[:40])


@pytest.mark.parametrize("way", [way for way in WAYS if way != "debug info"])
def test_chains_are_known_where_sites_are(scores, way):
    """A line that two ways of includes lead to has a place: which of them the compile took, a depfile alone doesn't say."""
    score = scores[way]
    assert score.chains == score.known or way.startswith("depfile")
    assert score.chains >= WAYS[way][3] * score.asked
