"""action.yml, the workflow and the snippets of docs/ci.md: well formed, and the action's own script run as GitHub would."""

import os
import re
import shlex

import pytest

from elfaudit_test import SOURCE_DIR, need

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which is not installed")
need("g++")

PAGE = (SOURCE_DIR / "docs" / "ci.md").read_text()
ACTION = yaml.safe_load((SOURCE_DIR / "action.yml").read_text())


def snippets(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def workflows(lab):
    """The workflows of this repository and those of the page, as files."""
    texts = [text for text in snippets("yaml") if "runs-on" in text]
    assert len(texts) == 3
    # Where they are, so that `uses: ./` is action.yml.
    ours = sorted((SOURCE_DIR / ".github" / "workflows").glob("*.yml"))
    return [shlex.quote(str(file)) for file in ours] + [lab.write(f"page-{i}.yml", text) for i, text in enumerate(texts)]


def test_workflows_pass_actionlint(lab):
    need("actionlint")
    lab.sh("actionlint " + " ".join(workflows(lab)))


def test_workflows_fit_their_schema(lab):
    need("check-jsonschema")
    lab.sh("check-jsonschema --builtin-schema vendor.github-workflows " + " ".join(workflows(lab)))
    lab.sh(f"check-jsonschema --builtin-schema vendor.github-actions '{SOURCE_DIR}/action.yml'")
    gitlab = [text for text in snippets("yaml") if "runs-on" not in text and "repos:" not in text]
    assert len(gitlab) == 1
    lab.sh("check-jsonschema --builtin-schema vendor.gitlab-ci " + lab.write("gitlab.yml", gitlab[0]))


def test_actions_of_others_are_pinned_by_commit():
    files = [SOURCE_DIR / "action.yml", *(SOURCE_DIR / ".github" / "workflows").glob("*.yml")]
    used = [name for file in files for name in re.findall(r"uses: (\S+)", file.read_text()) if name != "./"]
    assert used and [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []


def test_the_page_says_what_the_action_takes():
    table = dict(re.findall(r"^\| `([a-z-]+)` \| (?:`(.+?)`|required|none) \|", PAGE, re.M))
    assert table == {name: str(spec.get("default", "")) for name, spec in ACTION["inputs"].items()}


def test_options_in_snippets_exist(lab):
    known = {command: lab.audit(command, "--help-all").out for command in ("check", "diagnose", "link")}
    for command, words in re.findall(r"elfaudit (check|diagnose|link) ([^\n`]*)", PAGE):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", words):
            assert f"{option} " in known[command] or f"{option}\n" in known[command], option


def run_check(lab, check):
    """The step `check` of the action; returns (its result, its outputs)."""
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    (lab.path / "bin").mkdir(exist_ok=True)
    if not (lab.path / "bin" / "elfaudit").exists():
        (lab.path / "bin" / "elfaudit").symlink_to(os.environ["ELFAUDIT"])
    lab.write("step.sh", step["run"])
    lab.write("outputs", "")
    environment = f"PATH=$PWD/bin:$PATH GITHUB_WORKSPACE=$PWD GITHUB_OUTPUT=$PWD/outputs CHECK='{check}' FAIL_ON=error SARIF=out.sarif"
    result = lab.sh(f"env {environment} bash --noprofile --norc -eo pipefail step.sh", check=False)
    return result, dict(line.split("=", 1) for line in (lab.path / "outputs").read_text().splitlines())


def test_the_action_waits_with_its_verdict(lab):
    lab.cc("a.o", "int state;", "g++ -g")
    lab.cc("b b.o", "int state;", "g++ -g")
    result, outputs = run_check(lab, 'a.o "b b.o"')
    assert result.code == 0 and "state is defined twice" in result.out
    assert outputs == {"exit-code": "1", "sarif": str(lab.path / "out.sarif")}


def test_the_action_takes_patterns_and_link_commands(lab):
    lab.cc("a.o", "int main() {}", "g++ -g")
    assert run_check(lab, "*.o")[1]["exit-code"] == "0"
    assert run_check(lab, "-- g++ a.o -o a")[1]["exit-code"] == "0"


def test_the_action_says_what_was_not_read(lab):
    lab.cc("a.o", "int state;", "g++ -g")
    lab.cc("b.o", "int state;", "g++ -g")
    lab.write("broken.o", "\x7fELF and no more")
    result, outputs = run_check(lab, "a.o b.o broken.o")
    assert "state is defined twice" in result.out and "broken.o" in result.out, result
    assert outputs["exit-code"] == "2" and outputs["sarif"], outputs


def test_the_action_has_no_document_without_an_audit(lab):
    assert run_check(lab, "--no-such-option")[1] == {"exit-code": "2"}


def test_steps_of_the_action_are_sound_shell(lab):
    need("shellcheck")
    for i, step in enumerate(step for step in ACTION["runs"]["steps"] if "run" in step):
        # SC2154: eval makes `words`; SC1090, SC1091: the sourced script is elsewhere.
        lab.sh(f"shellcheck -s bash -e SC2154,SC1090,SC1091 {lab.write(f'step-{i}.sh', step['run'])}")
