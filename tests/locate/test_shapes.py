"""The reader of sources against declarations and includes of every shape that C and C++ programs have.

Each case is files; `//@ SYMBOL:KIND` marks the line that debug info would name, `//! SYMBOL:KIND` says that the unit does
not define it as a plain global. The compiler must agree about what is defined; the site and the chain must be the marked.
"""

import json
import os
import re
import shlex

import pytest

from elfaudit_test import output_of
from shapes import CASES

SITE_OF = os.environ.get("SITE_OF", "site_of")


def write(case, folder):
    """Writes the files without their marks; returns {symbol: [file, line]} and the symbols that are not defined."""
    sites, absent = {}, []
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").split("\n")
        for number, line in enumerate(lines, 1):
            for mark, symbol in re.findall(r"//([@!]) (\S+)", line):
                if mark == "@":
                    sites[symbol] = [name, number]
                else:
                    absent.append(symbol)
        bare = case.end_of_line.join(re.sub(r"\s*//[@!] .*", "", line) for line in lines)
        path.write_bytes((case.begin + bare + (case.end_of_line if case.last_line_ends else "")).encode())
    for name, target in case.links.items():
        (folder / name).symlink_to(target)
    return sites, absent


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.deep)])
@pytest.mark.parametrize("way", ["command", "depfile", "preprocessed"])
def test_shape(tmp_path, case, compiler, way):
    if compiler not in case.compilers:
        pytest.skip("not for this compiler")
    sites, absent = write(case, tmp_path)
    command = [{"gcc": "g++", "clang": "clang++"}[compiler] if case.source.endswith("cpp") else compiler, *shlex.split(case.options), "-w"]
    output_of([*command, "-MD", "-MF", "x.d", "-c", case.source, "-o", "x.o"], tmp_path)
    defined = {line.split()[-1] for line in output_of(["gcc-nm", "x.o"], tmp_path).splitlines() if line.split()[-2] in "TDBRGSCuVW"}
    for symbol in sites:
        assert symbol[:-2] in defined, f"the compiler does not define {symbol}"
    words = {"command": ["--depfile", "x.d", *sites, *absent, "--", *command, "-c", case.source],
             "depfile": ["--depfile", "x.d", *sites, *absent],
             "preprocessed": ["--preprocessed", "x.i", "--language", "c++" if case.source.endswith("cpp") else "c", *sites, *absent]}[way]
    if way == "preprocessed":
        (tmp_path / "x.i").write_text(output_of([*command, "-E", case.source], tmp_path))
    for line in output_of([SITE_OF, "--folder", str(tmp_path), *words], tmp_path).splitlines():
        answer = json.loads(line)
        found = [one["at"] for one in answer["definitions"]]
        if answer["symbol"] in absent:
            assert not any(one["certain"] and not one["inline"] and not one["internal"] for one in answer["definitions"]), answer
            continue
        site = sites[answer["symbol"]]
        for one in answer["definitions"]:
            assert one["at"] == site or not one["certain"], answer
        if way == "depfile" and case.needs_command:
            continue
        assert found == [site], answer
        assert way != "command" or answer["definitions"][0]["certain"] or case.doubtful, answer
        if case.chain is not None and (way == "command" or answer["definitions"][0]["certain"]):
            assert answer["definitions"][0]["chain"] == case.chain, answer
