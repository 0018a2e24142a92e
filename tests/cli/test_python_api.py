"""The Python package: the program's answers as objects."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++")

sys.path.insert(0, str(SOURCE_DIR / "python"))
import elfaudit  # noqa: E402


@pytest.fixture
def objects(lab, monkeypatch):
    monkeypatch.chdir(lab.path)
    lab.write("state.h", "int state = 3;\n")
    return [lab.cc(f"{name}.o", f'#include "state.h"\nint missing(int);\nint {name}() {{ return missing(state); }}', "g++ -g -fPIC") for name in "ab"]


def test_check(objects):
    report = elfaudit.check(objects)
    (finding,) = report.findings
    assert (report.exit_code, report.clean, report.complete) == (1, False, True)
    assert (finding.rule, finding.symbol, finding.place) == ("duplicate-definition", "state", elfaudit.Step("state.h", 1))
    assert finding.sites[1].role == "rejected" and finding.sites[1].chain == [elfaudit.Step("b.cpp", 1)]
    assert finding.cause.kind == "variable-not-extern" and finding.fixes[0].diff.startswith("--- state.h\n")


def test_check_a_command(objects):
    report = elfaudit.check(command=["g++", "-shared", "-Wl,-z,defs", *objects, "-o", "x.so"])
    assert {finding.rule for finding in report.findings} == {"duplicate-definition", "undefined-symbol"} and report.undefined == ["_Z7missingi"]


def test_what_can_not_be_read_makes_it_incomplete(objects):
    report = elfaudit.check([*objects, "absent.o"])
    assert report.exit_code == 2 and not report.complete and "unreadable-input" in {finding.rule for finding in report.findings}


def test_a_command_line_that_makes_no_sense_raises(objects):
    with pytest.raises(elfaudit.ElfauditError, match="unknown option --no-such"):
        elfaudit.check(objects, options=["--no-such"])
    with pytest.raises(TypeError):
        elfaudit.check("a.o")


def test_a_file_is_no_option(lab, objects):
    (lab.path / "a.o").rename(lab.path / "--fix")
    assert elfaudit.check(["--fix", "b.o"]).exit_code == 1


def test_explain(objects):
    (symbol,) = elfaudit.explain("State", objects)
    assert symbol.verdict == "defined 2 times: the link fails" and [use.resolved_as for use in symbol.uses] == ["kept", "rejected"]
    assert symbol.findings[0].cause.kind == "variable-not-extern"
    with pytest.raises(elfaudit.ElfauditError, match="similar: state"):
        elfaudit.explain("stote", objects)


def test_diagnose(lab, objects):
    text = "g++ -shared a.o b.o -o x.so\n" + lab.sh("g++ -shared a.o b.o -o x.so", check=False).err
    lab.write("build.log", text)
    diagnosis = elfaudit.diagnose("build.log")
    (error,) = [error for error in diagnosis.errors if error.kind == "duplicate-definition"]
    assert error.symbol == "state" and error.finding.cause.kind == "variable-not-extern" and elfaudit.diagnose(text=text) == diagnosis


def properties(schema, name=None):
    return set((schema["$defs"][name] if name else schema)["properties"]) - {"schema"}


def names(cls):
    return {field.name for field in dataclasses.fields(cls)}


def test_every_key_of_the_schemas_has_a_field():
    schemas = {name: json.loads((SOURCE_DIR / f"schema/{name}.schema.json").read_text()) for name in ("elfaudit-1", "elfaudit-explain-1", "elfaudit-diagnosis-1")}
    report, explained, diagnosis = schemas.values()
    assert names(elfaudit.Report) == properties(report) | {"exit_code"}
    assert names(elfaudit.Finding) == properties(report, "finding") | {"reason", "suppressed_by"}
    assert names(elfaudit.Site) == properties(report, "site")
    assert names(elfaudit.Package) == properties(report["properties"]["packages"]["items"])
    assert names(elfaudit.Link) == properties(report["properties"]["links"]["items"])
    assert names(elfaudit.Symbol) == properties(explained["properties"]["symbols"]["items"])
    assert names(elfaudit.Diagnosis) == properties(diagnosis)
    assert names(elfaudit.LogError) == properties(diagnosis, "error") and names(elfaudit.LogSite) == properties(diagnosis, "log_site")


def test_a_key_of_a_later_program_is_ignored(lab, objects, monkeypatch):
    later = lab.write("later", f"#!/bin/sh\n'{os.environ['ELFAUDIT']}' \"$@\" | sed 's/^{{/{{ \"new\": 1,/'\n")
    lab.sh(f"chmod +x {later}")
    monkeypatch.setenv("ELFAUDIT", str(lab.path / later))
    assert elfaudit.check(objects).findings[0].symbol == "state"


@pytest.mark.parametrize("named", ["/nonexistent", "/tmp", "no-such-program"])
def test_a_program_that_is_not_there(monkeypatch, named):
    monkeypatch.setenv("ELFAUDIT", named)
    with pytest.raises(elfaudit.ElfauditError, match=rf"\$ELFAUDIT names no program: {named}"):
        elfaudit.check(["a.o"])
    with pytest.raises(elfaudit.ElfauditError, match="/no/folder: No such file"):
        monkeypatch.setenv("ELFAUDIT", "/bin/true")
        elfaudit.check(["a.o"], cwd="/no/folder")


def test_the_package_runs_as_a_program(lab, objects):
    def run(**environment):
        words = {**os.environ, "PYTHONPATH": str(SOURCE_DIR / "python"), **environment}
        return subprocess.run([sys.executable, "-m", "elfaudit", "check", *objects], cwd=lab.path, env=words, capture_output=True, text=True)

    found = run()
    assert found.returncode == 1 and found.stdout == lab.audit("check", *objects).out, found
    missing = run(ELFAUDIT="/nonexistent")
    assert (missing.returncode, missing.stderr) == (2, "elfaudit: $ELFAUDIT names no program: /nonexistent\n")


def test_types_are_checked(lab):
    """The package is typed (PEP 561)."""
    assert (SOURCE_DIR / "python/elfaudit/py.typed").exists()
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode:
        pytest.skip("needs mypy, which is not installed")
    lab.write("use.py", "import elfaudit\nx: str = elfaudit.check(['a.o']).findings[0].rule\ny: int = elfaudit.check(['a.o']).findings[0].rule\n")
    out = lab.sh(f"MYPYPATH='{SOURCE_DIR}/python' {sys.executable} -m mypy --strict --follow-imports=silent --cache-dir .cache use.py", check=False).out
    assert "use.py:3: error: Incompatible types" in out and "Found 1 error" in out, out


def test_nothing_else_is_public():
    assert {name for name in vars(elfaudit) if not name.startswith("_")} == set(elfaudit.__all__)
