"""Each diff that the program offers is applied, compiled and linked: for a table of shapes, and for shapes at random places of
installed headers.

Each night every shape is tried in every way with every compiler; else the compilers of a language share the shapes.
"""

import pytest

from edits import COMPILERS, WAYS, Mutation, Shape, installed, of_installed, of_table
from elfaudit_test import by_symbol, campaign, campaign_seed, need

need("gcc", "g++", "clang", "clang++", "patch", "gcc-nm")


def assert_diffs_work(tmp_path, compiler, way, shapes):
    result = of_table(tmp_path, compiler, way, shapes=shapes)
    print(result)
    assert not result.failures, result.failures
    knows_standard = compiler == "g++" and way != "-MD"  # else no variable becomes inline
    assert result.with_diff >= (0.9 if COMPILERS[compiler] == "cpp" and knows_standard else 0.6) * result.findings
    assert result.with_diff + result.advised == result.findings


@pytest.mark.deep
@pytest.mark.parametrize("share, compiler, way", [(i % 2, *combination) for i, combination in enumerate(zip(COMPILERS, WAYS))])
def test_table_of_shapes(tmp_path, share, compiler, way):
    assert_diffs_work(tmp_path, compiler, way, slice(share, None, 2))


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_shape_in_every_way(tmp_path, compiler, way):
    assert_diffs_work(tmp_path, compiler, way, slice(None))


@pytest.mark.parametrize("way", WAYS)
def test_random_places_of_installed_headers(tmp_path, way):
    if not installed():
        pytest.skip("no library's headers are installed")
    result = of_installed(tmp_path, campaign_seed(1), campaign(2), [way])
    print(result)
    assert len(result.failures) <= 0.01 * result.diffs, result.failures


def test_no_inline_variable_where_the_command_says_an_older_standard(lab):
    mutation = Mutation(Shape("", "cpp", "int @x = 3;"), "g++", "command", lab.path / "p", standard="c++14")
    assert mutation.write()
    (finding,) = mutation.findings()
    assert ["extern" in fix["text"] for fix in finding["fixes"]] == [True] and "+extern int zzx;" in finding["fixes"][0]["diff"]


def test_no_inline_variable_in_a_header_that_c_includes_too(lab):
    lab.write(".git/HEAD", "")
    lab.write("h.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint state = 3;\n#ifdef __cplusplus\n}\n#endif\n")
    for source, compiler in (("a.cpp", "g++"), ("b.c", "gcc")):
        lab.write(source, '#include "h.h"\n')
        lab.sh(f"{compiler} -MD -c {source}")
    (finding,) = lab.audit("check", "a.o", "b.o", "--format", "json").json()["findings"]
    assert not any(fix["diff"] and "+inline" in fix["diff"] for fix in finding["fixes"])
    assert any(fix["diff"] and "+extern int state;" in fix["diff"] for fix in finding["fixes"])


def test_a_guard_is_not_offered_where_what_it_leaves_out_is_used(lab):
    lab.write(".git/HEAD", "")
    lab.write("third_party/lib/state.h", "#ifdef LIB_DEVICE\n#define LIB_CONSTANT extern\n#else\n#define LIB_CONSTANT\n#endif\n"
              "LIB_CONSTANT int lib_state;\n#include <lib/more.h>\n")
    lab.write("third_party/lib/more.h", "typedef int lib_int;\n")
    lab.write("configs.h", "#include <lib/state.h>\n")
    for name, use in (("a", "lib_int"), ("b", "int")):
        lab.write(f"{name}.cpp", f'#include "configs.h"\n{use} {name} = 1;\n')
        lab.sh(f"g++ -MD -Ithird_party -c {name}.cpp")
    (finding,) = lab.audit("check", "a.o", "b.o", "--format", "json").json()["findings"]
    assert finding["fixes"][0]["file"] == "configs.h" and finding["fixes"][0]["diff"] is None


def test_what_a_third_object_uses_stays_visible(lab):
    """c.o has no definition of its own: a.o and b.o, which use it nowhere, would have none of an inline one."""
    lab.write(".git/HEAD", "")
    lab.write("h.h", "int f(int a) { return a; }\nint g(int a) { return a; }\n")
    for source, text in (("a.cpp", '#include "h.h"\n'), ("b.cpp", '#include "h.h"\n'), ("c.cpp", "int f(int);\nint c() { return f(1); }\n")):
        lab.write(source, text)
        lab.sh(f"g++ -g -c {source}")
    findings = by_symbol(lab.audit("check", "--format", "json", "--", "g++", "-shared", "a.o", "b.o", "c.o").json()["findings"])
    diffs = {f["demangled"]: [bool(fix["diff"]) for fix in f["fixes"]] for f in findings if f["rule"] == "duplicate-definition"}
    assert diffs == {"f(int)": [False], "g(int)": [True]}


@pytest.mark.parametrize("other, works", [("API int f();\n", True), ("class API C;\n", False), ("struct S { API int f(); };\n", False)])
def test_a_macro_says_extern_only_where_it_stands_before_declarations(lab, other, works):
    lab.write(".git/HEAD", "")
    lab.write("h.h", "#ifdef ELSEWHERE\n#define API extern\n#else\n#define API\n#endif\n" + other + "API int state;\n")
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "h.h"\n')
        lab.sh(f"g++ -MD -c {name}.cpp")
    (finding,) = lab.audit("check", "a.o", "b.o", "--format", "json").json()["findings"]
    assert any(fix["diff"] and "+#define API extern" in fix["diff"] for fix in finding["fixes"]) == works


@pytest.mark.parametrize("other, works", [("", True), ("FUNC int g(int a) { return a; }\n", True), ("FUNC int f();\n", True), ("FUNC int g();\n", False),
                                          ("FUNC int v;\n", False), ("class FUNC C;\n", False), ("struct S { FUNC int m(); };\n", False)])  # fmt: skip
def test_a_macro_says_inline_only_where_all_that_it_stands_before_is_defined(lab, other, works):
    """What another source defines would be there for nobody, once the header says that it is inline."""
    lab.write(".git/HEAD", "")
    lab.write("h.h", "#ifdef HEADER_ONLY\n#define FUNC inline\n#else\n#define FUNC\n#endif\n" + other + "FUNC int f() { return 1; }\n")
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "h.h"\n')
        lab.sh(f"g++ -MD -c {name}.cpp")
    findings = by_symbol(lab.audit("check", "a.o", "b.o", "--format", "json").json()["findings"])
    assert any(fix["diff"] and "+#define FUNC inline" in fix["diff"] for f in findings for fix in f["fixes"]) == works


def test_a_macro_does_not_say_inline_where_another_object_needs_its_function(lab):
    lab.write(".git/HEAD", "")
    lab.write("h.h", "#ifdef HEADER_ONLY\n#define FUNC inline\n#else\n#define FUNC\n#endif\nFUNC int f() { return 1; }\nFUNC int used() { return 1; }\n")
    for name, text in (("a", '#include "h.h"\n'), ("b", '#include "h.h"\n'), ("c", "int used();\nint c() { return used(); }\n")):
        lab.write(f"{name}.cpp", text)
        lab.sh(f"g++ -MD -c {name}.cpp")
    findings = by_symbol(lab.audit("check", "--format", "json", "--", "g++", "-shared", "a.o", "b.o", "c.o").json()["findings"])
    assert findings and not any(fix["diff"] and "+#define FUNC inline" in fix["diff"] for f in findings for fix in f["fixes"])
