"""Device links of many kinds of names against the real nvlink: pairs of kinds, and random links."""

import itertools

import pytest

from elfaudit_test import Lab, campaign, campaign_seed, need
from nvlink import agree, compile_all
from random_device import SORTS, random_link, source

need("nvcc", "nvlink")

LINKS = campaign(6)

pytestmark = pytest.mark.deep


@pytest.mark.nightly
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])  # for sm_90 nvlink compiles the PTX
@pytest.mark.parametrize("sort", SORTS)
def test_every_pair(tmp_path_factory, sort, arch):
    bench = Lab(tmp_path_factory.mktemp("pairs"))
    kinds = list(SORTS[sort])
    compile_all(bench, {f"{'ab'[i]}{k}": source([("s", sort, kind)], f"u{i}") for k, kind in enumerate(kinds) for i in (0, 1)})
    differing = []
    for (a, first), (b, second) in itertools.product(enumerate(kinds), repeat=2):
        try:
            agree(bench, f"a{a}.o b{b}.o", arch)
        except AssertionError as error:
            differing.append(f"{first} and {second}: {str(error)[:300]}")
    assert not differing, f"{len(differing)} of {len(kinds) ** 2} differ:\n" + "\n".join(differing)


@pytest.mark.parametrize("number", range(LINKS))
def test_random_links(lab, number):
    objects, line, archives = random_link(campaign_seed(number))
    compile_all(lab, objects)
    for archive, members in archives.items():
        lab.ar(archive, *members)
    for arch in ("sm_80", "sm_90"):
        agree(lab, " ".join(line), arch)
