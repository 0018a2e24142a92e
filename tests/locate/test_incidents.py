"""The cause and the fix of incidents.py's duplicates, however the compile is known. A diff that is offered mends the link."""

import subprocess

import pytest

from elfaudit_test import by_symbol, need
from incidents import INCIDENTS, WAYS

need("gcc", "g++", "clang", "clang++", "patch")


def compiled(lab, incident, compiler, way):
    """Compiles the sources in one of WAYS; returns the objects."""
    flags = way if way.startswith("-") else ""
    return incident.compile(lab, f"-fno-common -fPIC {flags}", compiler, database=not flags)


def finding(lab, incident, objects, way):
    options = ["--preprocess"] if way == "preprocess" else []
    findings = by_symbol(lab.audit("check", *options, *objects, "--format", "json").json()["findings"])
    findings = [f for f in findings if f["rule"] == "duplicate-definition" and incident.symbol in ("", f["symbol"])]
    assert len(findings) == 1, findings
    return findings[0]


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
@pytest.mark.parametrize("way", [pytest.param(way, marks=() if way == "-g -MD" else pytest.mark.deep) for way in WAYS])
def test_cause_and_fix(lab, incident, way):
    # All compilers where the fix is applied, else each in turn.
    turn = (INCIDENTS.index(incident) + list(WAYS).index(way)) % len(incident.compilers)
    for compiler in incident.compilers if way == "-MD" else incident.compilers[turn:turn + 1]:
        (lab.path / "compile_commands.json").unlink(missing_ok=True)
        for stale in lab.path.glob("*.d"):
            stale.unlink()
        incident.write(lab)
        objects = compiled(lab, incident, compiler, way)
        found = finding(lab, incident, objects, way)
        said = found["cause"] and found["cause"]["text"]
        if way not in incident.only:
            continue
        lexer = "l:2" if "-g" in way else "lex.c:3"
        expected = incident.cause.replace("{cc}", incident.driver(compiler)).replace("{lexer}", lexer)
        assert (found["cause"] and found["cause"]["kind"], said) == (incident.kind, expected), (compiler, found)
        if incident.fix:
            assert found["fixes"] and found["fixes"][0]["text"] == incident.fix, (compiler, found["fixes"])
        if incident.applied and way == "-MD":
            repair(lab, incident, compiler, found["fixes"][0]["diff"])


def repair(lab, incident, compiler, diff):
    assert diff, "a fix that is one edit has a diff"
    done = subprocess.run(["patch", "-p0"], input=diff, cwd=lab.path, text=True, capture_output=True)
    assert done.returncode == 0, f"{diff}\n{done.stdout}{done.stderr}"
    objects = compiled(lab, incident, compiler, "-MD")
    lab.sh(f"{incident.driver(compiler)} -shared -Wl,-z,defs {' '.join(objects)} -o x.so")
