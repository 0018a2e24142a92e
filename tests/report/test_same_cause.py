"""Findings with one cause are one finding in every report; policies go on working by symbol."""

import json

from elfaudit_test import by_symbol

HEADER = "int alpha;\nint beta;\nint gamma[4];\n"


def objects(lab):
    lab.write("state.h", HEADER)
    for name in "ab":
        lab.cc(f"{name}.o", f'#include "state.h"\nint main_{name};\n', "gcc -g -fno-common")
    return ["a.o", "b.o"]


def test_a_header_is_one_finding(lab):
    found = lab.audit("check", "--format", "json", *objects(lab))
    [finding] = found.json()["findings"]
    assert found.code == 1
    assert finding["symbols"] == ["alpha", "beta", "gamma"]
    assert finding["message"] == "alpha is defined twice, and 2 more symbols have the same cause"
    assert [(f["symbol"], f["sites"][0]["line"]) for f in by_symbol([finding])] == [("alpha", 1), ("beta", 2), ("gamma", 3)]
    assert len({f["fingerprint"] for f in by_symbol([finding])}) == 3
    assert [d["symbol"] for d in found.json()["duplicates"]] == ["alpha", "beta", "gamma"]


def test_the_text_names_every_symbol_and_its_line(lab):
    out = lab.audit("check", *objects(lab)).out
    assert out.count("error:") == 1
    assert "also      beta   state.h:2" in out and "also      gamma  state.h:3" in out
    assert "1 error about 3 symbols: 2 objects in 2 inputs" in out


def test_two_headers_are_two_findings(lab):
    lab.write("one.h", "int a1;\nint a2;\n")
    lab.write("two.h", "int b1;\nint b2;\n")
    for name in "xy":
        lab.cc(f"{name}.o", '#include "one.h"\n#include "two.h"\n', "gcc -g -fno-common")
    findings = lab.audit("check", "--format", "json", "x.o", "y.o").json()["findings"]
    assert [f["symbols"] for f in findings] == [["a1", "a2"], ["b1", "b2"]]


def test_a_copied_object_is_one_finding(lab):
    lab.cc("a.o", "int f(void) { return 1; } int g(void) { return 2; }", "gcc")
    lab.sh("cp a.o copy.o")
    [finding] = lab.audit("check", "--format", "json", "a.o", "copy.o").json()["findings"]
    assert finding["cause"]["kind"] == "copied-object" and finding["symbols"] == ["f", "g"]


def test_thunks_go_with_their_function(lab):
    """As in Catch's single header: the compiler makes them where it compiles the function."""
    base = "struct A { virtual int f(); virtual ~A(); int a; }; struct B { virtual int g(); virtual ~B(); int b; };\n"
    lab.write("c.h", base + "struct C : A, B { int g(); };\nint C::g() { return 1; }\n")
    for name in "ab":
        lab.cc(f"{name}.o", '#include "c.h"\n', "g++ -MD")
    findings = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert [f["sites"][0]["line"] for f in by_symbol(findings) if f["symbol"] in ("_ZN1C1gEv", "_ZThn16_N1C1gEv")] == [3, 3]
    assert any({"_ZN1C1gEv", "_ZThn16_N1C1gEv"} <= set(f.get("symbols", [])) for f in findings)


def test_policies_work_by_symbol(lab):
    linked = objects(lab)
    left = lab.audit("check", "--format", "json", "--suppress", "symbol=alpha,reason=accepted", *linked).json()
    assert [f["symbol"] for f in by_symbol(left["findings"])] == ["beta", "gamma"]
    assert lab.audit("check", "--write-baseline", "known.json", *linked).code == 0
    assert [f["symbol"] for f in json.loads((lab.path / "known.json").read_text())["findings"]] == ["alpha", "beta", "gamma"]
    assert lab.audit("check", "--baseline", "known.json", *linked).code == 0
    lab.write("state.h", HEADER + "int delta;\n")
    for name in "ab":
        lab.sh(f"gcc -g -fno-common -c {name}.c")
    new = lab.audit("check", "--format", "json", "--baseline", "known.json", *linked).json()
    assert [f["symbol"] for f in by_symbol(new["findings"])] == ["delta"]


def test_other_formats_name_the_symbols(lab):
    linked = objects(lab)
    [result] = lab.audit("check", "--format", "sarif", *linked).json()["runs"][0]["results"]
    assert result["properties"]["symbols"] == ["alpha", "beta", "gamma"]
    github = lab.audit("check", "--format", "github", *linked).out
    assert github.count("::error") == 1 and "also: beta" in github
    junit = lab.audit("check", "--format", "junit", *linked).out
    assert junit.count("<failure") == 1 and "gamma" in junit and 'name="alpha is defined twice"' in junit
