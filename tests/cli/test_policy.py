"""What a project has decided: .elfaudit.toml, severities, suppressions and a baseline."""

import json
import re

import pytest

from elfaudit_test import SOURCE_DIR, need
from elfaudit_wheels import module, wheel

need("g++")


@pytest.fixture
def twice(lab):
    """Two objects that define `legacy_state`, in a header."""
    lab.write("inc/legacy.h", "int legacy_state;\n")
    lab.cc("a.o", '#include "inc/legacy.h"\n', "g++ -g")
    lab.cc("b.o", '#include "inc/legacy.h"\n', "g++ -g")
    return lab


def configured(lab, text):
    lab.write(".elfaudit.toml", text)
    return lab.audit("check", "a.o", "b.o")


def test_a_suppression_takes_the_finding(twice):
    result = configured(twice, '[[suppress]]\nsymbol = "legacy_*"\nfile = "inc/*.h"\nreason = "goes with 2.0"\n')
    assert result.code == 0 and "; 1 suppressed" in result.out, result


def test_verbose_counts_what_each_suppression_fits(twice):
    twice.write(".elfaudit.toml", '[[suppress]]\nsymbol = "legacy_*"\nreason = "goes with 2.0"\n')
    result = twice.audit("check", "-v", "a.o", "b.o")
    assert ".elfaudit.toml:1: 1 suppressed (goes with 2.0)" in result.err, result


@pytest.mark.parametrize("pattern", ['symbol = "other"', 'input = "libx.a(*)"\nrule = "*"', 'file = "*.hpp"\nrule = "*"', 'rule = "split-state"'])
def test_a_suppression_that_fits_nothing_is_a_warning(twice, pattern):
    result = configured(twice, f'[[suppress]]\n{pattern}\nreason = "old"\n')
    assert result.code == 1 and "legacy_state is defined twice" in result.out, result
    assert "warning: .elfaudit.toml:1: the suppression of" in result.out and "matches no finding [suppression-unused]" in result.out


def test_a_suppression_ends(twice):
    result = configured(twice, '[[suppress]]\nsymbol = "legacy_state"\nreason = "soon"\nuntil = 2020-02-29\n')
    assert result.code == 1 and "legacy_state is defined twice" in result.out, result
    assert "ended on 2020-02-29 and still matches a finding [suppression-ended]" in result.out


def test_a_suppression_on_the_command_line(twice):
    result = twice.audit("check", "a.o", "b.o", "--suppress", "rule=duplicate-definition,until=2999-01-01,reason=known, and told")
    assert result.code == 0, result
    document = twice.audit("check", "a.o", "b.o", "--format", "json", "--suppress", "symbol=legacy_state,reason=known, and told").json()
    assert [(one["symbol"], one["reason"]) for one in document["suppressed"]] == [("legacy_state", "known, and told")]
    assert document["duplicates"], "the linker's verdict stays what it is"


@pytest.mark.parametrize("text, says", [
    ("fial-on = 'note'\n", ":1: unknown key 'fial-on'; did you mean 'fail-on'?"),
    ("\n\nfail-on = 'fatal'\n", ":3: fail-on: "),
    ("[[suppress]]\nsymbol = 'x'\n", ":1: a suppression must have a reason"),
    ("[[suppress]]\nreason = 'x'\n", ":1: a suppression must name a rule or a symbol"),
    ("[[suppress]]\nrule = 'duplicate'\nreason = 'x'\n", ":1: unknown rule 'duplicate'"),
    ("[[suppress]]\nrule = '*'\nreason = 'x'\nuntil = '2026-02-30'\n", "is not a date"),
    ("[[suppress]]\nsymbl = 'x'\nreason = 'x'\n", ":2: unknown key 'symbl'; did you mean 'symbol'?"),
    ("[[suppress]]\nrule = 'unreadable-input'\nreason = 'x'\n", "an unreadable input can't be suppressed"),
    ("[severity]\nno-such-rule = 'off'\n", "severity: unknown rule 'no-such-rule'"),
    ("[severity]\nduplicate-definition = 'fatal'\n", "unknown level 'fatal': expected error, warning, note, on or off"),
    ("[severity]\nduplicate-definition = ['on', 'fatal']\n", "unknown level 'fatal'"),
    ("enable = ['no-such-rule']\n", "severity: unknown rule 'no-such-rule'"),
    ("[[override]]\npath = 'x'\nseverity = { header-definition = 'on' }\n", "a rule is on for the whole project: write it in [severity]"),
    ("[severity]\nunreadable-input = 'off'\n", "an unread input never passes"),
    ("= 1\n", ".elfaudit.toml:1: "),
])
def test_a_wrong_file_is_an_error_that_says_where(twice, text, says):
    result = configured(twice, text)
    assert result.code == 2 and says in result.err and result.out == "", result


def test_what_is_unread_is_never_suppressed(twice):
    twice.write("c.o", "no object")
    twice.write(".elfaudit.toml", '[[suppress]]\nrule = "*"\nreason = "all"\n')
    result = twice.audit("check", "a.o", "b.o", "c.o")
    assert result.code == 2 and "c.o" in result.out and "[unreadable-input]" in result.out, result


def test_severities(twice):
    assert configured(twice, '[severity]\nduplicate-definition = "warning"\n').code == 0
    assert configured(twice, 'fail-on = "warning"\n[severity]\nduplicate-definition = "warning"\n').code == 1
    result = configured(twice, '[severity]\nduplicate-definition = "off"\n')
    assert result.code == 0 and result.out.startswith("clean"), result


@pytest.mark.parametrize("options, file, severity", [
    ([], "", None),
    (["--severity", "header-definition=on"], "", "warning"),
    (["--enable", "header-definition"], "", "warning"),
    ([], "[severity]\nheader-definition = 'on'", "warning"),
    ([], "enable = ['header-definition']", "warning"),
    # A severity runs the rule too, and goes with "on" in any order.
    (["--severity", "header-definition=error"], "", "error"),
    ([], "[severity]\nheader-definition = 'note'", "note"),
    (["--severity", "header-definition=note", "--severity", "header-definition=on"], "", "note"),
    ([], "[severity]\nheader-definition = ['on', 'error']", "error"),
    # The command line goes before the file, and the last level counts.
    (["--severity", "header-definition=on"], "[severity]\nheader-definition = 'off'", "warning"),
    (["--enable", "header-definition"], "[severity]\nheader-definition = 'off'", "warning"),
    (["--severity", "header-definition=on"], "[severity]\nheader-definition = 'note'", "note"),
    (["--severity", "header-definition=off"], "[severity]\nheader-definition = 'on'", None),
    (["--severity", "header-definition=on", "--severity", "header-definition=off"], "", None),
    (["--severity", "header-definition=off", "--severity", "header-definition=on"], "", "warning"),
    ([], "enable = ['header-definition']\n[severity]\nheader-definition = 'off'", None),
    ([], "extends = 'base.toml'\n[severity]\nheader-definition = 'off'", None),
    # A part of the project keeps its own severity, and runs nothing.
    (["--severity", "header-definition=on"], "[[override]]\npath = 'inc/*'\nseverity = { header-definition = 'note' }", "note"),
    (["--severity", "header-definition=error"], "[[override]]\npath = 'inc/*'\nseverity = { header-definition = 'note' }", "error"),
    ([], "[[override]]\npath = 'inc/*'\nseverity = { header-definition = 'note' }", None),
])  # fmt: skip
def test_a_level_runs_a_rule_that_is_off_by_default(twice, options, file, severity):
    twice.write("base.toml", "enable = ['header-definition']\n")
    twice.write(".elfaudit.toml", file + "\n")
    findings = twice.audit("check", "--format", "json", *options, "a.o").json()["findings"]
    assert [finding["severity"] for finding in findings if finding["rule"] == "header-definition"] == ([severity] if severity else [])


@pytest.mark.parametrize("levels, severity", [(["warning"], None), (["on"], "note"), (["on", "warning"], "warning"), (["warning", "on"], "warning"), (["on", "off"], None)])
def test_only_on_compares_types(lab, levels, severity):
    lab.cc("a.o", "struct S { int x; }; int f(S *s) { return s->x; }", "g++ -g")
    lab.cc("b.o", "struct S { long x; }; long g(S *s) { return s->x; }", "g++ -g")
    options = [word for level in levels for word in ("--severity", f"divergent-definition={level}")]
    findings = lab.audit("check", "--format", "json", *options, "a.o", "b.o").json()["findings"]
    assert [finding["severity"] for finding in findings] == ([severity] if severity else [])


@pytest.mark.parametrize("level, says", [
    ("header-definition", "--severity header-definition: expected RULE=LEVEL"),
    ("header-definition=fatal", "severity of header-definition: unknown level 'fatal': expected error, warning, note, on or off"),
    ("header-definition=", "unknown level ''"), ("header-definition=On", "unknown level 'On'"),
    ("=on", "unknown rule ''"), ("unreadable-input=off", "an unread input never passes"),
])  # fmt: skip
def test_a_wrong_level_is_a_usage_error(twice, level, says):
    result = twice.audit("check", "--severity", level, "a.o")
    assert result.code == 2 and says in result.err and result.out == "", result


def test_the_command_line_goes_before_the_file(twice):
    twice.write(".elfaudit.toml", 'fail-on = "note"\n[severity]\nduplicate-definition = "off"\n')
    result = twice.audit("check", "a.o", "b.o", "--severity", "duplicate-definition=note", "--fail-on", "error")
    assert result.code == 0 and "note: legacy_state is defined twice" in result.out, result
    assert twice.audit("check", "a.o", "b.o", "--no-config").code == 1


def test_write_baseline_says_what_it_wrote(twice):
    words = ("check", "a.o", "b.o", "--write-baseline", "known.json")
    count = len(twice.audit("check", "--format", "json", "a.o", "b.o").json()["findings"])
    found = f"{count} finding{'s' if count > 1 else ''}"
    assert twice.audit(*words).out == f"wrote known.json: {found}, {count} new, 0 gone\n"
    assert twice.audit(*words).out == f"wrote known.json: {found}, 0 new, 0 gone\n"
    assert twice.audit("check", "a.o", "--write-baseline", "known.json").out == f"wrote known.json: 0 findings, 0 new, {count} gone\n"
    assert "defined twice" in twice.audit(*words, "--format", "text").out  # a report that is asked for
    assert "--fix  rule" in twice.audit(*words, "--statistics").out
    assert "missing.o" in twice.audit(*words, "missing.o").out  # and one that says what is not in the baseline


def test_the_file_is_found_above_and_its_paths_are_its_own(twice):
    twice.audit("check", "a.o", "b.o", "--write-baseline", "known.json")
    twice.write(".elfaudit.toml", 'baseline = "known.json"\n')
    (twice.path / "deep/er").mkdir(parents=True)
    result = twice.sh("cd deep/er; \"$ELFAUDIT\" check ../../a.o ../../b.o")
    assert result.code == 0 and "; 1 in the baseline" in result.out, result


def test_never_read(twice):
    twice.write("broken.o", "no object")
    result = twice.audit("check", "a.o", "broken.o", "--never-read", "broken.*")
    assert result.code == 0 and "excluded by --never-read: broken.o" in result.out, result
    result = twice.audit("check", "--never-read", "b.o", "--", "g++", "-shared", "a.o", "b.o")
    assert result.code == 0 and "excluded by --never-read: " in result.out, result


@pytest.mark.deep
@pytest.mark.parametrize("flags", ["", "-Wl,--gc-sections", "-shared -Wl,-z,defs"])
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld:14", "lld", "mold"])
def test_an_archive_left_out_makes_nothing_undefined(lab, linker, flags):
    """The system's libraries are full of names that nothing on the line defines and no linker reports."""
    lab.cc("m.o", "int used(void); int main(void) { return used(); }", "gcc -fPIC")
    lab.cc("a.o", "int used(void) { return 0; }", "gcc -fPIC")
    lab.cc("dead.o", "extern int foo; int dead(void) { return foo; }", "gcc -fPIC -ffunction-sections")
    lab.ar("libz_x.a", lab.cc("z.o", "int foo;", "gcc -fPIC"))
    words = f"gcc {flags} m.o a.o dead.o libz_x.a -o app".split()
    result = lab.audit("check", "--linker", linker, "--never-read", "libz_x.a", "--", *words)
    assert result.code == 0 and "error" not in result.out, result
    lab.write(".elfaudit.toml", 'never-read = ["libz_x.a"]\n')
    configured = lab.audit("check", "--linker", linker, "--", *words)
    assert configured.code == 0 and configured.out.startswith(result.out.rstrip("\n")), configured


def test_dump_config_has_the_defaults(twice):
    dumped = twice.audit("check", "--no-config", "--dump-config").out
    assert '# fail-on = "error"  #' in dumped and '# color = "auto"  #' in dumped and "# never-read = []  #" in dumped
    assert "enable" not in dumped


def test_dump_config_is_a_config(twice):
    twice.write(".elfaudit.toml", 'fail-on = "note"\n[[suppress]]\nsymbol = "a\\"b"\nreason = "r"\n')
    levels = ["--severity", "header-definition=on", "--severity", "divergent-definition=on", "--severity", "divergent-definition=note", "--severity", "needed-unused=off"]
    dumped = twice.audit("check", "--dump-config", *levels).out
    assert 'fail-on = "note"' in dumped, dumped
    assert '[severity]\ndivergent-definition = ["on", "note"]\nheader-definition = "on"\nneeded-unused = "off"\n' in dumped, dumped
    twice.write(".elfaudit.toml", dumped)
    again = twice.audit("check", "--dump-config").out
    strip = lambda text: [line for line in text.splitlines() if not line.startswith(("# from", "[[suppress]]"))]
    assert strip(again) == strip(dumped)


def test_only_what_is_new_fails(twice):
    twice.audit("check", "a.o", "b.o", "--write-baseline", "known.json")
    twice.cc("c.o", "int fresh; int g() { return 0; }")
    twice.cc("d.o", "int fresh;")
    result = twice.audit("check", "a.o", "b.o", "c.o", "d.o", "--baseline", "known.json")
    assert result.code == 1 and "fresh is defined twice" in result.out and "legacy_state is" not in result.out, result


def test_what_is_gone_is_told_so_that_the_baseline_shrinks(twice):
    twice.audit("check", "a.o", "b.o", "--write-baseline", "known.json")
    result = twice.audit("check", "a.o", "--baseline", "known.json")
    assert result.code == 0 and "known.json: 1 of its findings is gone" in result.out, result
    assert "[duplicate-definition] legacy_state is defined twice" in result.out


def test_a_baseline_holds_in_another_folder_with_moved_lines_and_another_compiler(lab):
    need("clang++")
    source = '#include "inc/legacy.h"\nnamespace app { int counter = 1; }\n'
    for folder, blank, compiler in (("one", "", "g++ -g"), ("two/build", "\n\n\n", "clang++ -O2")):
        lab.write(f"{folder}/inc/legacy.h", blank + "int legacy_state;\n")
        for name in "ab":
            lab.write(f"{folder}/{name}.cpp", source)
            assert lab.sh(f"cd {folder}; {compiler} -c {name}.cpp").code == 0
    assert lab.audit("check", "one/a.o", "one/b.o", "--write-baseline", "known.json").code == 0
    assert len(json.loads((lab.path / "known.json").read_text())["findings"]) == 2
    result = lab.audit("check", "two/build/a.o", "two/build/b.o", "--baseline", "known.json")
    assert result.code == 0 and "; 2 in the baseline" in result.out and "gone" not in result.out, result


@pytest.mark.parametrize("first, second", [("%s.o", "%s.cpp.o"), ("%s.cpp.o", "%s.o"), ("%s.o", "CMakeFiles/x.dir/%s.cc.o"), ("%s.pic.o", "%s.o")])
def test_a_baseline_holds_for_another_build_system(lab, first, second):
    (lab.path / "CMakeFiles/x.dir").mkdir(parents=True)
    for name in "abc":
        for pattern in (first, second):
            lab.sh(f"echo 'int state;' | g++ -x c++ -c - -o {pattern % name}")
    assert lab.audit("check", first % "a", first % "b", "--write-baseline", "base.json").code == 0
    result = lab.audit("check", "--baseline", "base.json", second % "a", second % "b")
    assert result.code == 0 and "; 1 in the baseline" in result.out and "baseline-outdated" not in result.out, result
    result = lab.audit("check", "--baseline", "base.json", second % "a", second % "c")  # another source
    assert result.code == 1 and "baseline-outdated" in result.out, result


def test_a_baseline_of_an_older_version(twice):
    """It has no other fingerprint than that by object names."""
    twice.audit("check", "a.o", "b.o", "--write-baseline", "base.json")
    document = json.loads((twice.path / "base.json").read_text())
    for finding in document["findings"]:
        del finding["loose_fingerprint"]
    twice.write("base.json", json.dumps(document))
    assert twice.audit("check", "a.o", "b.o", "--baseline", "base.json").code == 0


def test_a_baseline_knows_how_often(lab):
    for name in "abc":
        lab.cc(f"{name}/x.o" if name != "a" else "x.o", "int same;") if name == "a" else (lab.path / name).mkdir()
    lab.sh("cp x.o b/x.o; cp x.o c/x.o")
    lab.audit("check", "x.o", "b/x.o", "--write-baseline", "known.json")
    assert lab.audit("check", "x.o", "b/x.o", "--baseline", "known.json").code == 0
    assert lab.audit("check", "x.o", "b/x.o", "c/x.o", "--baseline", "known.json").code == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "elfaudit-baseline/1"}', '{"schema": "elfaudit-baseline/1", "findings": [{}]}'])
def test_a_damaged_baseline_is_an_error(twice, text):
    twice.write("known.json", text)
    result = twice.audit("check", "a.o", "b.o", "--baseline", "known.json")
    assert result.code == 2 and "baseline known.json" in result.err, result


def test_a_baseline_tells_one_python_from_another(lab):
    """The fingerprint of a finding without a symbol keeps the version that it is about."""
    need("cc")
    lab.write("m.c", "int PyInit_m(void) { return 0; }")
    lab.write("package/x", "")
    assert lab.sh("cc -shared -fPIC m.c -o package/m.cpython-311-x86_64-linux-gnu.so").code == 0
    assert lab.audit("check", "package", "--python", "3.11,3.12", "--write-baseline", "known.json").code == 0
    assert lab.audit("check", "package", "--python", "3.11,3.12", "--baseline", "known.json").code == 0
    assert lab.audit("check", "package", "--python", "3.11,3.13", "--baseline", "known.json").code == 1


@pytest.mark.parametrize("key", ["preprocess = true", 'ask = "cc"'])
def test_a_file_starts_no_program(twice, key):
    """What may be run is for the command line to say, not for a file that lies in a folder above."""
    twice.write(".elfaudit.toml", f"{key}\n")
    result = twice.audit("check", "a.o", "b.o")
    assert result.code == 2 and f"unknown key '{key.split()[0]}'" in result.err, result


def test_a_baseline_of_a_wheel_holds_for_its_next_version(lab):
    files = {"pkg/_C.cpython-311-x86_64-linux-gnu.so": module(lab, "_C.so")}  # not what the tag says
    for name in ("pkg-1.0-cp312-cp312-linux_x86_64.whl", "pkg-1.1.post2-7-cp312-cp312-linux_x86_64.whl"):
        wheel(lab, name, files)
    wheel(lab, "pkg-1.1-cp313-cp313-linux_x86_64.whl", files)
    assert lab.audit("check", "pkg-1.0-cp312-cp312-linux_x86_64.whl", "--write-baseline", "known.json").code == 0
    assert lab.audit("check", "pkg-1.1.post2-7-cp312-cp312-linux_x86_64.whl", "--baseline", "known.json").code == 0
    assert lab.audit("check", "pkg-1.1-cp313-cp313-linux_x86_64.whl", "--baseline", "known.json").code == 1


# --- extends, overrides, and a file beside the inputs


def test_a_file_extends_another(twice):
    twice.write("ci/base.toml", 'fail-on = "note"\n[severity]\nduplicate-definition = "warning"\n[[suppress]]\nsymbol = "nothing_*"\nreason = "base"\n')
    result = configured(twice, 'extends = "ci/base.toml"\n[severity]\nduplicate-definition = "note"\n')
    assert result.code == 1 and "note: legacy_state is defined twice" in result.out and "ci/base.toml:4: the suppression" in result.out, result
    assert configured(twice, 'extends = ["ci/base.toml"]\nfail-on = "error"\n').code == 0


def test_what_a_file_extends_has_paths_of_its_own(twice):
    (twice.path / "ci").mkdir()
    twice.audit("check", "a.o", "b.o", "--write-baseline", "ci/known.json")
    twice.write("ci/base.toml", 'baseline = "known.json"\n')
    assert "; 1 in the baseline" in configured(twice, 'extends = "ci/base.toml"\n').out


@pytest.mark.parametrize("files, says", [
    ({".elfaudit.toml": "extends = 'x.toml'\n", "x.toml": "extends = '.elfaudit.toml'\n"}, "x.toml:1: .elfaudit.toml extends itself"),
    ({".elfaudit.toml": "\nextends = 'x.toml'\n"}, ".elfaudit.toml:2: extends x.toml: the file is missing"),
    ({".elfaudit.toml": "extends = 'x.toml'\n", "x.toml": "fial-on = 'note'\n"}, "x.toml:1: unknown key 'fial-on'"),
    ({".elfaudit.toml": "extends = 'x/x.toml'\n", "x/x.toml": "format = 'json=../../out.json'\n"}, "is not below the folder"),
    ({".elfaudit.toml": "[[override]]\nseverity = { needed-unused = 'off' }\n"}, ":1: an override must name a target or a path"),
    ({".elfaudit.toml": "[[override]]\npaht = 'x'\n"}, ":2: unknown key 'paht'; did you mean 'path'?"),
    ({".elfaudit.toml": "[[override]]\npath = 'x'\nseverity = { no-such-rule = 'off' }\n"}, "unknown rule 'no-such-rule'"),
])  # fmt: skip
def test_what_is_wrong_with_extended_files_and_overrides(twice, files, says):
    for name, text in files.items():
        twice.write(name, text)
    result = twice.audit("check", "a.o", "b.o")
    assert result.code == 2 and says in result.err and result.out == "", result


@pytest.mark.parametrize("part, severity", [
    ("path = 'inc/*'", "note"), ("path = 'legacy.h'", "note"), ("path = 'src/*'", "error"),
    ("target = 'app'", "note"), ("target = 'other'", "error"), ("target = 'app'\npath = 'src/*'", "error"),
])  # fmt: skip
def test_severities_of_a_part_of_the_project(twice, part, severity):
    twice.write(".elfaudit.toml", f"[[override]]\n{part}\n[override.severity]\nduplicate-definition = 'note'\n")
    command = ("--", "g++", "a.o", "b.o", "-shared", "-o", "app")
    assert f"{severity}: legacy_state is defined twice" in twice.audit("check", *command).out
    assert "error: legacy_state" in twice.audit("check", "--severity", "duplicate-definition=error", *command).out
    twice.write("dumped.toml", twice.audit("check", "--dump-config").out)
    assert f"{severity}: legacy_state is defined twice" in twice.audit("check", "--config", "dumped.toml", *command).out


def test_a_finding_of_two_parts_is_of_neither(lab):
    for folder in ("one", "two"):
        lab.cc(f"{folder}/x.o", "int state;", "g++ -g")
    lab.write(".elfaudit.toml", "[[override]]\npath = 'one/*'\nseverity = { duplicate-definition = 'off' }\n")
    assert lab.audit("check", "one/x.o", "two/x.o").code == 1
    lab.sh("cp one/x.o one/y.o")
    assert lab.audit("check", "one/x.o", "one/y.o").code == 0


def test_the_file_is_found_above_the_inputs_where_there_is_none_above_the_working_directory(twice):
    twice.write(".elfaudit.toml", '[severity]\nduplicate-definition = "off"\n')
    twice.sh("mkdir sub; cp a.o b.o sub")
    result = twice.sh(f'p="$PWD"; cd /; "$ELFAUDIT" check "$p/sub/a.o" "$p/b.o"')
    assert result.code == 0 and "configured by" in result.out, result
    twice.sh("mkdir there; echo 'fail-on = \"note\"' >there/.elfaudit.toml")
    assert twice.sh('cd there; "$ELFAUDIT" check ../a.o ../b.o', check=False).code == 1


# --- Comments in sources.

ALLOWED = """#pragma once
// elfaudit: allow duplicate-definition, each plugin has its own
int state
    ;
int other;  // elfaudit: allow split-state duplicate-definition, fine
int third;
"""


@pytest.fixture
def commented(lab):
    lab.write("s.h", ALLOWED)
    for name in "ab":
        lab.cc(f"{name}.o", '#include "s.h"\n' + ("int main() {}" if name == "b" else ""), "g++ -g")
    return lab


def test_a_comment_accepts_the_findings_of_its_line(commented):
    result = commented.audit("check", "-v", "a.o", "b.o")
    assert result.code == 1 and "1 error: " in result.out and "third is defined twice" in result.out and "; 2 suppressed" in result.out, result
    assert "s.h:2: 1 suppressed (each plugin has its own)" in result.err and "s.h:5: 1 suppressed (fine)" in result.err
    document = commented.audit("check", "--format", "json", "--source-root", "..", "a.o", "b.o").json()
    assert [one["suppressed_by"].endswith(place) for one, place in zip(document["suppressed"], ("/s.h:5", "/s.h:2"))] == [True, True]
    assert "inSource" in commented.audit("check", "--format", "sarif", "a.o", "b.o").out


def test_a_comment_at_an_include_accepts_what_comes_through_it(commented):
    commented.write("mine.h", '#pragma once\n#include "s.h"  // elfaudit: allow duplicate-definition, the vendor knows\n')
    for name in "ab":
        commented.cc(f"{name}.o", '#include "mine.h"\n' + ("int main() {}" if name == "b" else ""), "g++ -g")
    result = commented.audit("check", "a.o", "b.o")
    assert result.code == 0 and "; 3 suppressed" in result.out, result


@pytest.mark.parametrize("comment, says", [
    ("// elfaudit: allow duplicate-definition, it was", "no duplicate-definition is found where this comment allows it [suppression-unused]"),
    ("/* elfaudit: allow duplicate-definiton, typo */", "unknown rule 'duplicate-definiton'; did you mean 'duplicate-definition'?"),
    ("// elfaudit: allow duplicate-definition", "it gives no reason"),
    ("// elfaudit: allow unreadable-input, all", "unreadable-input can't be accepted"),
    ("// elfaudit: allow, all", "it names no rule"),
    ("// elfaudit: allow header-definition, off by default", None),
    ('const char* text = "elfaudit: allow duplicate-definition, no comment";', None),
    ("// see elfaudit: allow duplicate-definition, no comment", None),
])  # fmt: skip
def test_a_comment_that_accepts_nothing_is_a_warning(lab, comment, says):
    lab.cc("a.o", f"int main() {{}}\n{comment}\nint one;\n", "g++ -g")
    result = lab.audit("check", "a.o")
    assert result.code == 0 and ((f"a.cpp:2: " in result.out and says in result.out) if says else result.out.startswith("clean")), result


def test_the_comments_of_a_build_are_found_by_its_depfiles(lab):
    lab.write("h.h", "// elfaudit: allow duplicate-definition, it was\nextern int x;\n")
    lab.cc("a.o", '#include "h.h"\nint main() {}\n', "g++ -MMD")
    result = lab.audit("check", "a.o")
    assert "warning: h.h:1: no duplicate-definition is found" in result.out and "remove the comment" in result.out, result
    assert "suppression-unused" not in lab.audit("check", "--one-link", "a.o").out  # another link may have it


# --- Which rules run, and who may read the file.


@pytest.mark.parametrize("options, rules", [
    (["--select", "duplicate-definition"], ["duplicate-definition"]),
    (["--select", "header-*"], ["header-definition"]),
    (["--select", "duplicate-definition,header-definition"], ["duplicate-definition", "header-definition"]),
    (["--select", "split-state"], []),
    (["--ignore", "duplicate-*"], []),
    (["--select", "*-definition", "--ignore", "header-definition"], ["duplicate-definition"]),
    (["--select", "split-state", "--severity", "duplicate-definition=note"], ["duplicate-definition"]),
])  # fmt: skip
def test_select_and_ignore(lab, options, rules):
    lab.write("s.h", "int state;\n#ifdef A\nint lonely;\n#endif\n")
    for name in "ab":
        lab.cc(f"{name}.o", f'#define {name.upper()}\n#include "s.h"\n', "g++ -g")
    lab.write("c.o", "no object")
    found = {finding["rule"] for finding in lab.audit("check", "--format", "json", *options, "a.o", "b.o", "c.o").json()["findings"]}
    assert found == {*rules, "unreadable-input"}
    assert "clean: 2 objects in 2 inputs" in (chosen := lab.audit("check", "--select", "split-state", "a.o", "b.o").out)
    assert "; by --select split-state alone" in chosen, chosen
    lab.write("pyproject.toml", f"[tool.elfaudit]\nselect = ['split-state']\n")
    assert lab.audit("check", "a.o", "b.o").code == 0


@pytest.mark.parametrize("wanted, fits", [(">=0.1", True), (">=0.1,<1", True), ("0.1.0", True), ("==0.1", True), (">0.1", False), ("<0.1", False), ("0.2", False)])
def test_required_version(twice, wanted, fits):
    result = configured(twice, f'unknown-key-of-another-version = 1\nrequired-version = "{wanted}"\n')
    assert result.code == 2 and ("unknown key" if fits else f'.elfaudit.toml:2: required-version = "{wanted}": this is elfaudit 0.1.0') in result.err, result


def test_the_settings_of_a_python_project(twice):
    pyproject = "[project]\nname = 'x'\n"
    twice.write("pyproject.toml", pyproject)
    assert twice.audit("check", "a.o", "b.o").code == 1
    twice.write("pyproject.toml", pyproject + "[tool.elfaudit.severity]\nduplicate-definition = 'warning'\n")
    result = twice.audit("check", "a.o", "b.o")
    assert result.code == 0 and "warning: legacy_state is defined twice" in result.out and "pyproject.toml" in result.out, result
    twice.write("pyproject.toml", pyproject + "[tool.elfaudit]\nfial-on = 'note'\n")
    assert "pyproject.toml:4: unknown key 'fial-on'; did you mean 'fail-on'?" in twice.audit("check", "a.o", "b.o").err
    twice.write(".elfaudit.toml", "fail-on = 'never'\n")  # goes before the other
    assert twice.audit("check", "a.o", "b.o").code == 0
    twice.write("pyproject.toml", "[tool.other]\n")
    assert "pyproject.toml: has no table [tool.elfaudit]" in twice.audit("check", "--config", "pyproject.toml", "a.o").err


def test_fail_on_never_reports_alone(twice):
    result = twice.audit("check", "--fail-on", "never", "a.o", "b.o")
    assert result.code == 0 and "1 error" in result.out, result
    assert twice.audit("check", "--fail-on", "never", "a.o", "missing.o").code == 2


def test_init_writes_a_file_that_can_be_read(lab):
    lab.cc("a.o", "int main() {}")
    result = lab.audit("init")
    assert result.code == 0 and result.out == "wrote .elfaudit.toml; next: elfaudit check -- g++ ... (a link command), or elfaudit check -p BUILD_DIR\n"
    assert ".elfaudit.toml" in lab.audit("check", "a.o").out
    lab.write("all.toml", re.sub(r"^# (?=\w+ = |\[)", "", (lab.path / ".elfaudit.toml").read_text(), flags=re.M))
    assert lab.audit("check", "--config", "all.toml", "a.o").err == "elfaudit: baseline elfaudit-baseline.json: No such file or directory; create one with --write-baseline\n"
    for name in (".elfaudit.toml", "elfaudit.toml"):
        assert lab.audit("init").err == f"elfaudit: {name} has the settings of this folder already\n"
        lab.sh("rm all.toml; mv .elfaudit.toml elfaudit.toml", check=False)


def test_the_schema_of_the_settings(lab):
    jsonschema, tomllib = pytest.importorskip("jsonschema"), pytest.importorskip("tomllib")
    schema = json.loads(lab.audit("--generate", "config-schema").out)
    assert schema == json.loads((SOURCE_DIR / "schema/elfaudit-config.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    examples = re.findall(r"```toml\n(.*?)```", (SOURCE_DIR / "docs/gate.md").read_text(), re.S)
    assert len(examples) >= 2
    for example in examples:
        assert [error.message for error in validator.iter_errors(tomllib.loads(example))] == []
    for wrong in ("fial-on = 'note'", "fail-on = 'warn'", "[severity]\nduplicate = 'off'", "[severity]\nsplit-state = 'warn'", "[[suppress]]\nrule = 'x'", "[ship]\nruns_on = 'x'", "format = 'jsn'"):
        assert not validator.is_valid(tomllib.loads(wrong)), wrong
