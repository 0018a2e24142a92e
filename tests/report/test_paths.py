"""--source-root and --map-path: reports name the files of the tree at hand, not those of the machine that built."""

import pytest
from elfaudit_test import need
from report_support import HEADER, two_units

need("g++")


def place_and_chain(lab, *arguments):
    (finding,) = lab.audit("check", "--format", "json", *arguments).json()["findings"]
    site = finding["sites"][0]
    return site["file"], [step["file"] for step in site["chain"]]


def build(lab, folder, command):
    """Compiled in `folder`/build, the sources in `folder`/src."""
    lab.write(f"{folder}/src/inc/state.h", HEADER)
    lab.sh(f"mkdir -p {folder}/build")
    for name in ("a", "b"):
        lab.write(f"{folder}/src/{name}.cpp", '#include "inc/state.h"\n')
        lab.sh(f"cd {folder}/build && {command} -c ../src/{name}.cpp -o {name}.o")
    return f"{folder}/build/a.o", f"{folder}/build/b.o"


def test_relative_to_the_source_root(lab):
    objects = build(lab, "tree", "g++ -g")
    assert place_and_chain(lab, *objects) == ("tree/src/inc/state.h", ["tree/src/a.cpp"])
    assert place_and_chain(lab, "--source-root", "tree/src", *objects) == ("inc/state.h", ["a.cpp"])
    assert place_and_chain(lab, "--source-root", lab.path / "tree/src/", *objects) == ("inc/state.h", ["a.cpp"])
    # What is not below the root is said in full.
    outside = f"{lab.path}/tree/src/inc/state.h"
    assert place_and_chain(lab, "--source-root", "tree/build", *objects)[0] == outside


def test_a_link_as_source_root(lab):
    objects = build(lab, "tree", "g++ -g")
    lab.sh("ln -s tree/src here")
    assert place_and_chain(lab, "--source-root", "here", *objects) == ("inc/state.h", ["a.cpp"])


def test_of_a_container(lab):
    """Built as /work in a container, looked at in a checkout."""
    objects = build(lab, "tree", f"g++ -g -ffile-prefix-map={lab.path}/tree=/container/work")
    assert place_and_chain(lab, *objects)[0] == "/container/work/src/inc/state.h"
    assert place_and_chain(lab, "--map-path", "/container/work=tree", *objects)[0] == "tree/src/inc/state.h"
    assert place_and_chain(lab, "--map-path", "/container/work/src=", *objects)[0] == "inc/state.h"
    assert place_and_chain(lab, "--map-path", "/container/wor=x", *objects)[0] == "/container/work/src/inc/state.h"
    # The longest that fits is used, whatever the order.
    longest = ("--map-path", "/container=no", "--map-path", "/container/work/src/=yes", "--map-path", "/=no")
    assert place_and_chain(lab, *longest, *objects)[0] == "yes/inc/state.h"
    assert place_and_chain(lab, "--map-path", f"/container/work={lab.path}/tree", "--source-root", "tree", *objects)[0] == "src/inc/state.h"


def test_what_a_prefix_map_made_relative_is_below_the_root(lab):
    objects = build(lab, "tree", f"g++ -g -ffile-prefix-map={lab.path}/tree/src=. -fdebug-prefix-map={lab.path}/tree/build=.")
    lab.sh("mv tree/src elsewhere")
    found = place_and_chain(lab, "--source-root", "elsewhere", *objects)[0]
    assert found in ("inc/state.h", "../src/inc/state.h"), found


def test_in_every_text_of_a_finding(lab):
    """Causes and fixes name paths too."""
    objects = two_units(lab)
    before = lab.audit("check", *objects)
    after = lab.audit("check", "--map-path", "inc=include/new", *objects)
    assert "inc/state.h:3" in before.out and "fix" in before.out
    assert after.out.replace("include/new/", "inc/").split() == before.out.split()
    assert " inc/" not in after.out and "(inc/" not in after.out


def test_the_other_commands(lab):
    objects = two_units(lab)
    assert "new/state.h:3" in lab.audit("explain", "--map-path", "inc=new", "n::state", *objects).out
    lab.sh("g++ a.o b.o -o x > log 2>&1", check=False)
    lab.write("log", "g++ a.o b.o -o x\n" + (lab.path / "log").read_text())
    assert "new/state.h:3" in lab.audit("diagnose", "--map-path", "inc=new", "log").out


@pytest.mark.parametrize("spec", ["nothing", "=to"])
def test_a_map_that_is_none(lab, spec):
    result = lab.audit("check", "--map-path", spec, *two_units(lab))
    assert result.code == 2 and "FROM=TO" in result.err
