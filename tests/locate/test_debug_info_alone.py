"""Objects of which nothing is known but their debug info: no depfile, no compile command, as setuptools leaves them."""

import pytest

from elfaudit_test import need

need("gcc", "g++", "clang", "clang++")


def build(lab, command, header, names=("a", "b"), extension="c"):
    """Sources that include the header through -I, in folders of their own; their objects."""
    lab.write("inc/h.h", header)
    for name in names:
        lab.write(f"src/{name}.{extension}", "#include <h.h>\n")
        lab.sh(f"{command} -Iinc -c src/{name}.{extension} -o {name}.o")
    return [f"{name}.o" for name in names]


def finding(lab, objects, *options):
    (finding,) = lab.audit("check", *objects, *options, "--format", "json").json()["findings"]
    return finding


@pytest.mark.parametrize("command", ["gcc -g", "gcc -g -std=c99 -O2", "gcc -g -gdwarf-4", "gcc -g -gsplit-dwarf", "gcc -g3 -gdwarf-2",
                                     "clang -g", "clang -g -gsplit-dwarf"])
def test_the_fix_of_c_is_c(lab, command):
    objects = build(lab, command, "#pragma once\n#include <stdio.h>\nint level = 3;\n")
    fixes = finding(lab, objects)["fixes"]
    assert [fix["text"] for fix in fixes] == ["declare it `extern` in inc/h.h:3 and define it in one source file"]


@pytest.mark.parametrize("command, inline", [("g++ -g", True), ("g++ -g -std=c++14", False), ("g++ -g -ansi", False), ("clang++ -g", True),
                                             ("g++ -g -std=gnu++2a", True)])
def test_the_standard_is_the_producers(lab, command, inline):
    objects = build(lab, command, "#pragma once\nint level = 3;\n", extension="cpp")
    assert ("inline" in finding(lab, objects)["fixes"][0]["text"]) == inline


def test_a_c_source_compiled_as_cxx_is_cxx(lab):
    objects = build(lab, "g++ -g -std=c++17", "#pragma once\nnamespace n { int level = 3; }\n")
    assert "inline" in finding(lab, objects)["fixes"][0]["text"]
