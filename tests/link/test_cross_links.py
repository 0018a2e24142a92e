"""Random links of compiled C and C++ for every machine that has a cross compiler here, each held against the target's own GNU
ld. CROSS_LINKS=100 tries more of them."""

import os
import re
import shutil

import pytest

import cross_links
from elfaudit_test import Lab

LINKS = int(os.environ.get("CROSS_LINKS", "10"))  # for each target; they take a few seconds
POOL = 12  # objects, for ten links
# It ends before it has named all, or breaks down.
STOPPED = re.compile(r"DSO missing from command line|is referenced by DSO|final link failed")
BROKEN = re.compile(r"ld terminated with signal|internal error|assertion fail")

TARGETS = [
    pytest.param(target, marks=[] if shutil.which(f"{target}-g++") else pytest.mark.skip(reason=f"needs {target}-g++, which is not installed"))
    for target in cross_links.TARGET_FLAGS
]


def compiled(folder, target, number):
    """The pool of objects number `number`, and their folder."""
    folder.mkdir()
    lab = Lab(folder)
    pool = cross_links.sources(number, target, POOL)
    for one in pool:
        lab.write(one.name, one.text)
        driver = f"{target}-g++ -std=c++17" if one.name.endswith("pp") else f"{target}-gcc"
        lab.sh(f"{driver} -w {one.flags} -c {one.name} -o {one.object}")
    return lab, pool


def plain(target, names):
    """In the first ABI of 64-bit PowerPC `.f` is the code of f."""
    return {re.sub(r"^\.(?=[A-Za-z_])", "", name) if target == "powerpc64-linux-gnu" else name for name in names}


def differences(lab, target, command):
    """What elfaudit says and the linker doesn't, or the other way round."""
    real = lab.sh(command, check=False)
    if BROKEN.search(real.err):
        return None
    ours = lab.audit("check", "--format", "json", "--", *command.split())
    report = ours.json()
    stopped = STOPPED.search(real.err)
    wrong = [] if (real.code != 0) == (ours.code != 0) else [f"exit codes {real.code} and {ours.code}: {real.err[-300:]}"]
    patterns = {
        "duplicates": r"multiple definition of [`'](.*?)'",
        "undefined": r"(?:undefined reference to|hidden symbol) [`'](.*?)'(?! in .* referenced by DSO)",
    }
    for kind, pattern in patterns.items():
        theirs = plain(target, re.findall(pattern, real.err))
        names = plain(target, [one["symbol"] if kind == "duplicates" else one for one in report[kind]])
        if theirs - names or (names - theirs and not stopped):
            wrong.append(f"{kind}: only the linker {sorted(theirs - names)}, only elfaudit {sorted(names - theirs)}")
    return wrong


@pytest.mark.parametrize("target", TARGETS)
def test_random_links(target, tmp_path):
    wrong, judged = [], 0
    for seed in range(LINKS):
        if seed % 10 == 0:
            lab, pool = compiled(tmp_path / str(seed), target, seed // 10)
        link = cross_links.link(seed, target, pool)
        for archive, members in link.archives.items():
            lab.sh(f"rm -f {archive}; {target}-ar rcs {archive} {' '.join(members)}")
        for library, objects in link.libraries.items():
            lab.sh(f"rm -f {library}; {target}-g++ -shared {' '.join(objects)} -o {library}", check=False)
        command = f"{target}-g++ -Wl,--no-demangle {link.words} -o out"
        found = differences(lab, target, command)
        judged += found is not None
        if found:
            wrong.append(f"seed {seed}: {command}\n  archives {link.archives}, libraries {link.libraries}\n  " + "\n  ".join(found))
    assert judged >= LINKS * 0.8, "too few of the links have a verdict"
    assert not wrong, f"{len(wrong)} of {judged} differ\n" + "\n".join(wrong)
