"""Random links of compiled C and C++ for every machine that has a cross compiler here, each held against the target's own GNU
ld, and against lld and mold where they link for it."""

import functools
import re

import pytest

import cross_links
from elfaudit_test import Lab, campaign, campaign_seed
from linkers import UNDEFINED

pytestmark = pytest.mark.deep

LINKS = campaign(3)  # for each target and GNU ld
FIRST = campaign_seed(0)
POOL = 12  # objects, for ten links
# It breaks down, or ends before it has named all, or any.
BROKEN = re.compile(r"ld terminated with signal|internal error|assertion fail")
# mold 1.10 doesn't know R_PPC64_PLTSEQ (-fno-plt) and the like, and names nothing else then.
STOPPED = re.compile(r"DSO missing from command line|is referenced by DSO|final link failed|unknown relocation: unknown")
UNSAID = re.compile(r"cannot open \S+: No such file|may not be used together|attempted static link")
DUPLICATES = [r"multiple definition of [`'](.*?)'", r"duplicate symbol: (?:.*: .*: )?(\S+)$"]
UNDEFINED_BY_BFD = [r"(?:undefined reference to|hidden symbol) [`'](.*?)'(?! in .* referenced by DSO)"]
# lld 14 and 19 do not know a relocation of the older way to thread-local variables, which elfaudit reports as that.
UNKNOWN_RELOCATION = re.compile(r"unknown relocation \(\d+\) against symbol (\S+)")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A target's pool of objects of that number, and the folder that it is in with the linkers."""

    @functools.cache
    def make(target, number):
        lab = Lab(tmp_path_factory.mktemp(f"{target}-{number}"))
        pool = cross_links.sources(number, target, POOL)
        for one in pool:
            lab.write(one.name, one.text)
            driver = f"{target}-g++ -std=c++17" if one.name.endswith("pp") else f"{target}-gcc"
            lab.sh(f"{driver} -w {one.flags} -c {one.name} -o {one.object}")
        cross_links.offer_linkers(lab)
        return lab, pool

    return make


def plain(target, names):
    """In the first ABI of 64-bit PowerPC `.f` is the code of f."""
    return {re.sub(r"^\.(?=[A-Za-z_])", "", name) if target == "powerpc64-linux-gnu" else name for name in names}


def differences(lab, target, linker, command):
    """What elfaudit says and the linker doesn't, or the other way round."""
    real = lab.sh(command, check=False)
    if BROKEN.search(real.err):
        return None
    ours = lab.audit("check", "--format", "json", "--", *command.split())
    report = ours.json()
    wrong = [] if (real.code != 0) == (ours.code != 0) else [f"exit codes {real.code} and {ours.code}: {real.err[-300:]}"]
    if UNSAID.search(real.err):
        return wrong
    said = {"duplicates": (real.err, DUPLICATES), "undefined": (real.err, UNDEFINED_BY_BFD if linker == "bfd" else UNDEFINED)}
    if linker != "bfd" and "duplicate symbol" in real.err:  # they end with the duplicates
        said["undefined"] = (lab.sh(command + " -Wl,-z,muldefs", check=False).err, UNDEFINED)
    for kind, (text, patterns) in said.items():
        theirs = plain(target, {name for pattern in patterns for name in re.findall(pattern, text, re.M)})
        names = plain(target, [one["symbol"] if kind == "duplicates" else one for one in report[kind]])
        more = names - theirs - set(UNKNOWN_RELOCATION.findall(text))
        if theirs - names or (more and not STOPPED.search(text)):
            wrong.append(f"{kind}: only the linker {sorted(theirs - names)}, only elfaudit {sorted(names - theirs)}")
    return wrong


@pytest.mark.parametrize("target, linker", cross_links.targets_and_linkers())
def test_random_links(target, linker, compiled):
    wrong, judged = [], 0
    count = LINKS if linker == "bfd" else (LINKS + 1) // 2
    for seed in range(FIRST, FIRST + count):
        lab, pool = compiled(target, seed // 10)
        link = cross_links.link(seed, target, pool)
        for archive, members in link.archives.items():
            lab.sh(f"rm -f {archive}; {target}-gcc-ar rcs {archive} {' '.join(members)}")
        for library, objects in link.libraries.items():
            lab.sh(f"rm -f {library}; {target}-g++ -shared {' '.join(objects)} -o {library}", check=False)
        every = " -Wl,--error-limit=0" if linker.startswith("lld") else ""
        command = f"{cross_links.driver(target, linker)} -Wl,--no-demangle{every} {link.words} -o out"
        found = differences(lab, target, linker, command)
        judged += found is not None
        if found:
            wrong.append(f"seed {seed}: {command}\n  archives {link.archives}, libraries {link.libraries}\n  " + "\n  ".join(found))
    assert judged >= count * 0.8, "too few of the links have a verdict"
    assert not wrong, f"{len(wrong)} of {judged} differ\n" + "\n".join(wrong)
