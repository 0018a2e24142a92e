"""The check command as a person at a terminal or a CI job meets it."""

import json
import re

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++", "gcc", "ar")


def test_what_the_compiler_adds_is_not_counted_as_the_user_s(lab):
    lab.cc("a.o", "int f(); int main() { return f(); }")
    lab.cc("b.o", "int f() { return 0; }")
    summary = lab.audit("check", "--", "g++", "a.o", "b.o", "-o", "app").out.splitlines()[-1]
    assert re.fullmatch(r"clean: 2 objects in 2 inputs \(plus \d+ system files\)", summary), summary


def test_an_object_for_another_machine_names_both(lab):
    lab.cc("a.o", "int a;", "gcc")
    lab.cc("b.o", "int b;", "gcc -m32")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 2 and "b.o: is for i386, but a.o is for x86_64" in result.out, result


def test_clean_input_exits_0(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int f(); int g() { return f(); }")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 0 and result.out.startswith("clean: 2 objects in 2 inputs"), result


def test_header_definition_names_header_and_line(lab):
    lab.write("inc/state.h", "#pragma once\nnamespace n {\nint state = 1;\n}\n")
    lab.cc("a.o", '#include "inc/state.h"\n', "g++ -g")
    lab.cc("b.o", '#include "inc/state.h"\n', "g++ -g")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 1
    assert "error: n::state is defined twice [duplicate-definition]" in result.out
    assert result.out.count("inc/state.h:3  (debug info)") == 2, result


def test_without_debug_info_says_so(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int f() { return 2; }")
    lab.sh("rm a.cpp b.cpp")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 1 and result.out.count("no debug info") == 2, result


def test_why_a_member_is_there(lab):
    lab.cc("main.o", "int helper(); int state; int main() { return helper(); }")
    lab.cc("lib.o", "int state; int helper() { return 0; }")
    lab.ar("libx.a", "lib.o")
    result = lab.audit("check", "main.o", "libx.a")
    assert result.code == 1 and "extracted by main.o, which needs helper()" in result.out, result
    # Nothing needs the member: no duplicate, as for the linker.
    assert lab.audit("check", lab.cc("other.o", "int state; int main() {}"), "libx.a").code == 0


@pytest.mark.parametrize(
    "spoil, reason",
    [
        ("rm b.o", "no such file"),
        ("truncate -s 100 b.o", "b.o"),
        ("head -c 300 b.o > c.o; mv c.o b.o", "b.o"),
        ("printf 'MZ\\220' > b.o", "b.o"),
        (": > b.o", "empty"),
        ("rm b.o; mkdir b.o", "b.o: contains no object"),
        ("chmod 0 b.o; rm b.o; ln -s b.o b.o", "b.o"),
        ("printf 'BC\\300\\336....' > b.o", "b.o: is LLVM bitcode that"),
    ],
)
def test_unreadable_input_exits_2_and_the_rest_is_audited(lab, spoil, reason):
    for name in ("a.o", "b.o", "d.o"):
        lab.cc(name, "int f() { return 1; }")
    lab.sh(spoil)
    result = lab.audit("check", "a.o", "b.o", "d.o")
    assert result.code == 2
    assert "[unreadable-input]" in result.out and reason in result.out, result
    assert "f() is defined twice" in result.out, "the rest of the audit goes on"
    assert "incomplete" in result.out


def test_usage_errors_exit_2(lab):
    for words in ([], ["check"], ["check", "--no-such-option", "a.o"], ["check", "--format", "xml", "a.o"], ["check", "--"],
                  ["check", "--", "ls", "-l"], ["nonsense"]):
        result = lab.audit(*words)
        assert result.code == 2 and result.out == "" and result.err, words


def test_output_is_the_same_from_run_to_run(lab):
    for i in range(12):
        lab.cc(f"o{i}.o", f"int x{i % 3}; int y{i % 4}; int z() {{ return {i}; }}", "g++ -g")
    words = ["check", *[f"o{i}.o" for i in range(12)]]
    for extra in ([], ["--format", "json"]):
        outputs = {lab.audit(*words, *extra, "-j", jobs).out for jobs in (1, 2, 8, 1)}
        assert len(outputs) == 1


def test_json_matches_its_schema(lab):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    lab.cc("main.o", "int helper(); int state; int main() { return helper(); }", "g++ -g")
    lab.cc("lib.o", "int state; int nobody(); int helper() { return nobody(); }")
    lab.ar("libx.a", "lib.o")
    lab.write("broken.o", "no object")
    for words in (["main.o", "libx.a"], ["main.o"], ["libx.a"], ["main.o", "missing.o", "broken.o"],
                  ["--undefined", "main.o"], ["--", "g++", "main.o", "-L.", "-lx", "-lnowhere"], ["--", "g++", "main.o", "-L.", "-lx"]):
        document = lab.audit("check", "--format", "json", *words).json()
        jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
        for finding in document["findings"]:
            for site in finding["sites"]:
                assert set(site) <= set(schema["$defs"]["site"]["properties"]), "the schema describes every key"
            assert set(finding) <= set(schema["$defs"]["finding"]["properties"])
        assert set(document) <= set(schema["properties"])


def test_json_to_a_file_and_text_to_the_terminal(lab):
    lab.cc("a.o", "int f() { return 1; }")
    result = lab.audit("check", "a.o", "--format", "json=report.json", "--format", "text")
    assert result.code == 0 and result.out.startswith("clean")
    assert json.loads((lab.path / "report.json").read_text())["complete"] is True


def test_names_that_are_no_utf8_do_not_break_the_json(lab):
    lab.sh(r"printf '.globl f\377\n.data\nf\377: .quad 1\n' > a.s; as a.s -o a.o; cp a.o b.o")
    result = lab.audit("check", "--format", "json", "a.o", "b.o")
    assert result.code == 1 and result.json()["findings"][0]["rule"] == "duplicate-definition"


def test_colour_only_when_asked_for_or_on_a_terminal(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int f() { return 2; }")
    assert "\033[" not in lab.audit("check", "a.o", "b.o").out
    assert "\033[1;31merror:\033[0m" in lab.audit("check", "a.o", "b.o", "--color", "always").out
    script = "script -qec '\"$ELFAUDIT\" check a.o b.o' /dev/null"
    need("script")
    assert "\033[1;31m" in lab.sh("unset NO_COLOR; " + script, check=False).out
    assert "\033[" not in lab.sh("export NO_COLOR=1; " + script, check=False).out


def test_undefined_symbols_of_plain_files(lab):
    lab.cc("main.o", "int nobody(); int main() { return nobody(); }")
    result = lab.audit("check", "main.o")
    assert result.code == 0 and "; undefined symbols are not checked: pass the link command after --\n" in result.out, result
    listed = lab.audit("check", "main.o", "--undefined").out
    assert "undefined: nobody()\n" in listed and "; 1 symbol undefined, not checked: pass" in listed
    assert lab.audit("check", "main.o", "--format", "json").json()["undefined_count"] == 1
    assert "not checked" not in lab.audit("check", "--", "ld", "main.o").out


def test_archives_alone_are_audited_whole(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int f() { return 2; }")
    lab.ar("liba.a", "a.o")
    lab.ar("libb.a", "b.o")
    result = lab.audit("check", "liba.a", "libb.a")
    assert result.code == 1 and "only archives were given" in result.out, result


def test_response_file(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.sh("cp a.o 'with blank.o'")
    lab.write("words", "a.o 'with blank.o'")
    assert lab.audit("check", "@words").code == 1


def test_explain_gives_the_whole_account(lab):
    lab.write("inc/x.h", "inline int shared_helper() { return 1; }\n")
    lab.cc("a.o", '#include "inc/x.h"\nint use() { return shared_helper(); }', "g++ -g")
    lab.cc("b.o", '#include "inc/x.h"\nint use2() { return shared_helper(); }', "g++ -g")
    lab.cc("c.o", "int shared_helper(); int main() { return shared_helper(); }")
    result = lab.audit("explain", "shared_helper()", "c.o", "a.o", "b.o")
    assert result.code == 0, result
    assert "shared_helper() (_Z13shared_helperv)" in result.out
    for words in ("defined by a.o", "reference", "kept", "discarded", "COMDAT group", "inc/x.h:1", "an earlier object has the same COMDAT group"):
        assert words in result.out, words
    assert lab.audit("explain", "no_such_symbol", "a.o").code == 2


def test_explain_says_who_pulled_a_member(lab):
    lab.cc("main.o", "int helper(); int main() { return helper(); }")
    lab.cc("lib.o", "int state = 1; int helper() { return state; }")
    lab.cc("other.o", "int state = 2;")
    lab.ar("libx.a", "lib.o", "other.o")
    out = lab.audit("explain", "state", "main.o", "libx.a").out
    assert "extracted by main.o, which needs helper()" in out
    assert "nothing extracts this archive member" in out


def test_help_names_the_real_defaults(lab):
    result = lab.audit("check", "--help")
    assert result.code == 0 and "--fail-on" in result.out and "error" in result.out
    assert lab.audit("--version").out.startswith("elfaudit ")


def test_the_programs_that_cmake_tried_are_passed_over(lab):
    lab.sh("mkdir -p 'build dir/CMakeFiles/3.25.1/CompilerIdC' 'build dir/CMakeFiles/CMakeTmp' 'build dir/CMakeFiles/app.dir'")
    lab.write("build dir/CMakeCache.txt", "")
    lab.write("build dir/build.ninja", "")
    for folder in ("3.25.1/CompilerIdC", "CMakeTmp", "app.dir"):
        lab.cc(f"build dir/CMakeFiles/{folder}/x.o", "int x;")
    said = lab.audit("check", "build dir").out
    assert "1 file in 1 folder" in said and "CompilerIdC" not in said, said
    lab.cc("build dir/CMakeFiles/app.dir/y.o", "int x;")
    assert "elfaudit check -p 'build dir' audits" in lab.audit("check", "build dir").out
