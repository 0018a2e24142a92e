"""What is said in words, where no diff is offered, is done as it says; then the sources compile and link."""

import pytest

from advice import Outside, of_table, summary
from edits import COMPILERS, WAYS, Mutation, Shape
from elfaudit_test import need

need("gcc", "g++", "clang", "clang++", "patch")

# Compiler, way, kind of project, one shape in how many, and the least number of shapes that get advice.
COMBINATIONS = [("gcc", "-MD", Mutation, 1, 8), ("g++", "-g -MD", Outside, 5, 20)]
EVERY_COMBINATION = [(compiler, way, kind, 1, 1) for compiler in COMPILERS for way in WAYS for kind in (Mutation, Outside)]


@pytest.mark.parametrize(
    "compiler, way, kind, every, least",
    [pytest.param(*one, marks=pytest.mark.deep) for one in COMBINATIONS] + [pytest.param(*one, marks=pytest.mark.nightly) for one in EVERY_COMBINATION],
)
def test_table_of_shapes(tmp_path, compiler, way, kind, every, least):
    result = of_table(tmp_path, compiler, way, kind=kind, every=every)
    print(summary(result))
    assert result.diffs >= least
    assert len(result.failures) <= 0.1 * result.diffs, "\n".join(result.failures)


def test_who_uses_nothing_of_a_foreign_header_need_not_include_it(lab):
    mutation = Outside(Shape("", "both", "int @x = 3;", uses="(void*)0"), "gcc", "-MD", lab.path / "p")
    assert mutation.write()
    (finding,) = mutation.findings()
    assert [fix["text"].rsplit("/", 1)[-1] for fix in finding["fixes"]] == [
        "include h.h in one source file only; a.c:1 is one that does",
        "h.h:2 and define it in one source file; h.h is not this project's"]
    assert not any(fix["diff"] for fix in finding["fixes"])


def test_who_uses_a_foreign_header_is_told_what_its_authors_could_do(lab):
    mutation = Outside(Shape("", "cpp", "struct @S { int f(); };\nint @S::f() { return 1; }", uses="new @S"), "g++", "-MD", lab.path / "p")
    assert mutation.write()
    (finding,) = mutation.findings()
    said = [fix["text"].replace(str(mutation.root) + "/", "") for fix in finding["fixes"]]
    assert said == ["make it `inline` in inc/h.h:3, or move its body to a source file; h.h is not this project's",
                    "include h.h in one source file only; a.cpp:1 is one that does, and declare in the others what they use of it"]


def finding_of_two(lab, header, compiler="clang++"):
    """The one finding about two sources that include the header."""
    lab.write(".git/HEAD", "")
    lab.write("h.h", "#pragma once\n" + header)
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "h.h"\n')
        lab.sh(f"{compiler} -MD -c {name}.cpp")
    (finding,) = lab.audit("check", "a.o", "b.o", "--format", "json").json()["findings"]
    return finding


def test_a_vtable_goes_with_its_key_function(lab):
    """Clang's are strong where the key function is."""
    finding = finding_of_two(lab, "struct Base { virtual ~Base() {} virtual int f(); };\nint Base::f() { return 1; }\n")
    tables = finding["also"]
    assert finding["symbol"] == "_ZN4Base1fEv" and {table["symbol"] for table in tables} == {"_ZTI4Base", "_ZTS4Base", "_ZTV4Base"}
    assert all(table["fixes"] == finding["fixes"] and "Base::f()" in table["cause"]["text"] for table in tables)


def test_a_vtable_of_several_candidates_says_so(lab):
    finding = finding_of_two(lab, "struct Base { virtual int f(); int g(); };\nint Base::f() { return 1; }\nint Base::g() { return 1; }\n")
    (vtable,) = [other for other in finding["also"] if other["symbol"] == "_ZTV4Base"]
    assert "one of Base::f(), Base::g()" in vtable["cause"]["text"]
    assert vtable["fixes"][0]["text"] == "fix the duplicates among the functions of Base: it is emitted with one of them"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_what_initialises_a_thread_local_variable_goes_with_it(lab, compiler):
    finding = finding_of_two(lab, "struct S { S(); ~S(); };\nthread_local S state;\n", f"{compiler} -std=c++17")
    assert {one["symbol"] for one in (finding, *finding["also"])} == {"state", "_ZTH5state"}
    assert finding["fixes"] == finding["also"][0]["fixes"] and finding["fixes"]
