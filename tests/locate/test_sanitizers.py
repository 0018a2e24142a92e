"""What sanitizers add to an object."""

import pytest

from elfaudit_test import by_symbol, need

need("gcc", "g++")


@pytest.mark.parametrize("way", ["-g", "-MD", "-g -MD"])
@pytest.mark.parametrize("compiler, extension, symbol", [("gcc", "c", "level"), ("g++", "cpp", "_ZN1n5levelE")])
def test_the_mark_of_a_variable_is_where_the_variable_is(lab, compiler, extension, symbol, way):
    lab.write("lib.h", "#pragma once\n" + ("int level = 3;\n" if extension == "c" else "namespace n { int level = 3; }\n"))
    for name in "ab":
        lab.write(f"{name}.{extension}", '#include "lib.h"\n')
        lab.sh(f"{compiler} {way} -fsanitize=address -c {name}.{extension}")
    findings = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    placed = {f["symbol"]: [(site["file"], site["line"], len(site["chain"])) for site in f["sites"]] for f in by_symbol(findings)}
    assert placed == {name: [("lib.h", 2, 1)] * 2 for name in (symbol, f"__odr_asan.{symbol}")}
    assert len(findings) == 1
    assert findings[0]["fixes"]
