"""Random links, each held against every installed linker: the same seeds on every machine. A link on which elfaudit
disagrees is shrunk and printed as a case for this suite; scripts/random-links tries thousands."""


import pytest

import random_links
import random_trial
from elfaudit_test import campaign, campaign_seed, need
from linker_verdicts import WITH_GOLD as PROGRAMS
from random_generator import generate
from random_trial import Trial, judge_all

need("as", "ar", "ld.bfd")

KINDS = ("symbols", "versions", "libraries", "chains")
LINKS = campaign(10)  # of each kind, for each linker
SEED = campaign_seed(0)
CASES = [(kind, name) for kind in KINDS for name in PROGRAMS]
# Seeds of disagreements that are known and not mended yet, by kind and linker. One that begins to agree fails the test
# as well.
KNOWN = {}
SHRUNK = 3  # disagreements shown


@pytest.mark.parametrize("kind, linker", CASES)
def test_random_links(linker, kind, tmp_path):
    need(PROGRAMS[linker])
    trial = Trial(linker, tmp_path, kind)
    judged = judge_all(trial, range(SEED, SEED + LINKS))
    assert len(judged) > LINKS * (0.2 if linker == "gold" else 0.6), "too few of the links have a verdict"
    known = KNOWN.get((kind, linker), set()) & {seed for seed, _, _ in judged}
    wrong = [(seed, link) for seed, link, parts in judged if bool(parts) != (seed in known)]
    shown = "\n\n".join(f"seed {seed}:\n{trial.shrunk(link)}" for seed, link in wrong[:SHRUNK])
    assert not wrong, f"{len(wrong)} of {len(judged)} differ: seeds {[seed for seed, _ in wrong]}\n{shown}"


def test_a_disagreement_is_seen_and_shrunk(tmp_path, monkeypatch):
    """An auditor that never sees s0 must be caught, and what is printed must be about s0 and little else."""
    link = random_links.Link(
        [
            random_links.Object("start.o", {"s0": random_links.Symbol()}, [random_links.Section("data", "", [], [("s0", "quad")])]),
            random_links.Object("o1.o", {"s1": random_links.Symbol()}, [random_links.Section("data", "", ["s1"])]),
        ],
        [["-L."], ["start.o"], ["o1.o"]],
    )
    trial = Trial("bfd", tmp_path)
    assert trial.differences(link) == []

    seeing = random_trial.elfaudit

    def blind(name, words, folder):
        verdict = seeing(name, words, folder)
        verdict.undefined.discard("s0")
        return verdict

    monkeypatch.setattr(random_trial, "elfaudit", blind)
    assert trial.differences(link) == ["undefined"]
    text = trial.shrunk(link)
    assert 'agree(lab, "bfd", "start.o")' in text and "s1" not in text, text


def test_a_seed_always_gives_the_same_link():
    for kind in KINDS:
        for seed in range(20):
            made = [random_links.as_test(generate(seed, "bfd", kind), "bfd") for _ in range(2)]
            assert made[0] == made[1]


def test_the_seeds_have_every_kind():
    """Fails when a change of the generator loses a kind of definition, reference, file or option."""
    text = "\n".join(
        random_links.as_test(generate(seed, name, kind), name) for kind, name in CASES for seed in range(60)
    )
    kinds = [".weak ", ".hidden ", ".protected ", ".comm ", "comdat", "gnu_unique_object", "gnu_indirect_function", "@gottpoff"]
    kinds += [' = 1', '.debug_', 'R_X86_64_NONE', '\\"awe\\"', "linkonce", ".symver", "__start_named", "ar rcs", "ld.bfd -shared"]
    kinds += ["-shared", "-pie", "-r ", "-z defs", "-z muldefs", "-u s", "--defsym", "--wrap", "--gc-sections", "--as-needed"]
    kinds += ["--whole-archive", "--start-group", "--start-lib", "--exclude-libs", "--require-defined", "GROUP ("]
    kinds += ["--version-script=", "extern \"C++\"", "local: *;", "f*;", "--undefined-version", "--no-undefined-version", ", remove"]
    kinds += ["-Bstatic", "-Bdynamic", "-l:lib", "AS_NEEDED", "INPUT (", "-static", "d1/lib", "--push-state", "SEARCH_DIR"]
    kinds += ["-rpath-link d1", "-rpath $ORIGIN", "-soname libn", "d1/libl", "-Ld2 -l", "rm d", "--copy-dt-needed-entries"]
    assert [kind for kind in kinds if kind not in text] == []
