"""`elfaudit rules`, docs/rules and what reports say of a rule are one text."""

import json
import re

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
