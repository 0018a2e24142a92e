"""`elfaudit rules`, docs/rules and what reports say of a rule are one text."""

import json
import re

import pytest
from elfaudit_test import SOURCE_DIR

PAGES = SOURCE_DIR / "docs" / "rules"
HEADINGS = ["Example", "Why it happens", "What to edit", "How it is known"]


def listed(lab):
    """{id: (severity, summary)} of the list."""
    rows = [re.fullmatch(r"(\S+) +(\w+)(, off)? +(.+)", line) for line in lab.audit("rules").out.split("\n\n")[0].splitlines()]
    return {row[1]: (row[2] + (", off by default" if row[3] else ""), row[4]) for row in rows}


def test_every_rule_has_a_page_and_every_page_a_rule(lab):
    assert sorted(listed(lab)) == sorted(page.stem for page in PAGES.glob("*.md"))


def test_pages_say_what_the_program_says(lab):
    for rule, (severity, summary) in listed(lab).items():
        text = (PAGES / f"{rule}.md").read_text()
        assert text.startswith(f"# {rule}\n\n**{severity.split(',')[0]}**"), rule
        off = ", off by default" if "off" in severity else ""
        assert f"**{off}: {summary}.\n" in text, rule
        assert re.findall(r"^## (.+)$", text, re.M) == HEADINGS, rule
        assert f"[{rule}]" in text, f"{rule}: its example does not show it"


def test_links_between_pages_lead_somewhere():
    for page in SOURCE_DIR.glob("docs/**/*.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)):
            assert "://" in target or (page.parent / target).exists(), f"{page}: {target}"


def test_the_check_page_links_every_rule(lab):
    page = (SOURCE_DIR / "docs" / "check.md").read_text()
    assert [rule for rule in listed(lab) if f"[`{rule}`](rules/{rule}.md)" not in page] == []


def test_one_rule(lab):
    out = lab.audit("rules", "duplicate-definition").out
    assert out.startswith("duplicate-definition\n\nerror: two strong definitions") and "What to edit" in out
    prose = "\n".join(line for line in out.splitlines() if not line.startswith("    "))
    assert "`" not in prose and "<!--" not in prose and "](" not in prose
    # Paragraphs fit a terminal; what is quoted from a file or a report stays as it is.
    assert [line for line in out.splitlines() if len(line) > 80 and not line.startswith("    ")] == []
    assert "    $ elfaudit check" in out


def test_several_rules(lab):
    out = lab.audit("rules", "python-abi", "python-tag").out
    assert out.startswith("python-abi\n") and "\n\npython-tag\n" in out


def test_unknown_rules_say_which_was_meant(lab):
    result = lab.audit("rules", "duplicate-definitoin")
    assert result.code == 2 and result.err == "elfaudit: unknown rule 'duplicate-definitoin'; did you mean 'duplicate-definition'?\n"
    assert "`elfaudit rules` lists the rules" in lab.audit("rules", "xyz").err
    lab.cc("a.o", "int a;")
    for option in (["--enable", "header-defintion"], ["--severity", "header-defintion=on"]):
        assert "did you mean 'header-definition'?" in lab.audit("check", *option, "a.o").err
    assert "did you mean 'needed-unused'?" in lab.audit("check", "--severity", "need-unused=off", "a.o").err


def test_sarif_carries_the_page(lab):
    lab.cc("a.o", "int a;")
    log = json.loads(lab.audit("check", "--format", "sarif", "a.o").out)
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        text = rule["help"]["text"]
        assert rule["help"]["markdown"].startswith("**") and "## What to edit" in rule["help"]["markdown"], rule["id"]
        assert "What to edit" in text and "```" not in text and "<!--" not in text, rule["id"]


# Words of the folders below that look like ids and are none.
NO_CAUSES = {
    "aarch64-linux-gnu", "gcc-ar", "llvm-ar", "thread-local", "ld-linux", "kernel-address", "cp312-none", "cp38-abi3", "dist-packages", "site-packages", "third-party",
}  # fmt: skip


def test_every_cause_is_explained():
    """Each literal of the code that may be the id of a cause has a row, and each row is one of the code."""
    page = (SOURCE_DIR / "docs" / "causes.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9+-]+)` \| [A-Z_`<].*[.] \| [A-Z].*[.] \|$", page, re.M)
    assert len(rows) == len(set(rows)) == page.count("\n| `")
    folders = ["divergence", "left_out", "locate", "resolve", "rules", "stale"]
    code = "\n".join(file.read_text() for folder in folders for file in sorted((SOURCE_DIR / "src" / folder).rglob("*.cpp")))
    words = set(re.findall(r'"([a-z][a-z0-9+]*(?:-[a-z0-9+]+)+)"', code))
    rules = {page.stem for page in PAGES.glob("*.md")}
    assert sorted(word for word in words - rules - set(rows) - NO_CAUSES if not word.startswith("nvidia-") and word != "foo-bar-baz") == []
    assert [row for row in rows if f'"{row}"' not in code] == []


def test_one_cause(lab):
    out = lab.audit("rules", "variable-not-extern", "python-abi").out
    assert out.startswith("variable-not-extern\n\nA header defines a variable.\n\nFix\n\nMake it inline (C++17), ") and "\n\npython-abi\n" in out
    assert "did you mean 'no-provider'?" in lab.audit("rules", "no-provder").err


def test_json(lab):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema/elfaudit-rules-1.schema.json").read_text())
    everything, some = lab.audit("rules", "--format", "json").json(), lab.audit("rules", "--format", "json", "header-definition", "branch").json()
    for document in (everything, some):
        jsonschema.validate(document, schema)
    assert {rule["id"]: (rule["severity"] + ("" if rule["on"] else ", off by default"), rule["summary"]) for rule in everything["rules"]} == listed(lab)
    (rule,), (cause,) = some["rules"], some["causes"]
    assert rule["id"] == "header-definition" and "## What to edit" in rule["help"] and cause["id"] == "branch" and len(everything["causes"]) > 100
