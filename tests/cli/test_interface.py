"""Help, usage errors, the man page and the completions: all from the options that the program takes."""

import os
import re
import shlex

import pytest

from elfaudit_test import SOURCE_DIR, need

COMMANDS = ["check", "explain", "index", "merge", "list images", "list symbols", "list members", "list needs", "list closure", "diff", "diagnose", "show", "link", "rules", "init"]


def commands(lab):
    """Those of COMMANDS that the program has, by its own help."""
    names = re.findall(r"^  (\w+)  ", lab.audit("--help").out, re.M)
    assert set(names) - {"help"} <= {command.split()[0] for command in COMMANDS}, "COMMANDS is behind"
    return [command for command in COMMANDS if command.split()[0] in names]


ADVANCED = {
    "check": {"--ask", "--dump-config", "--enable", "--no-sandbox", "--one-link", "--stats"}, "explain": {"--ask", "--no-sandbox"},
    "link": {"--dump-config", "--enable", "--stats"}, "index": {"--no-sandbox"}, "diff": {"--no-sandbox"}, "show": {"--no-sandbox"},
    **{f"list {what}": {"--no-sandbox"} for what in ("images", "symbols", "members", "needs", "closure")},
}  # fmt: skip


def options(lab, command, help_option="--help"):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", lab.audit(*command.split(), help_option).out, re.M))


def generated(lab, kind, name):
    return lab.write(name, lab.audit("--generate", kind).out)


@pytest.mark.parametrize("help_option", ["--help", "--help-all"])
def test_every_command_helps(lab, help_option):
    for command in commands(lab):
        out = lab.audit(*command.split(), help_option).out
        assert f"\n\nUsage: elfaudit {command} [OPTION]..." in out and re.search(r"\nExamples?:\n  elfaudit " + command, out), command
        assert [line for line in out.splitlines() if len(line) > 80] == [], command


def test_help_all_adds_the_options_that_few_need(lab):
    for command in commands(lab):
        short, whole = (lab.audit(*command.split(), option).out for option in ("--help", "--help-all"))
        assert options(lab, command, "--help-all") - options(lab, command) == ADVANCED.get(command, set()), command
        hint = f"\n`elfaudit {command} --help-all` shows more options.\n"
        assert short.endswith(hint) == (command in ADVANCED) and hint not in whole and ("\nAdvanced options:\n" in whole) == (command in ADVANCED), command
    assert options(lab, "", "--help-all") - options(lab, "") == {"--generate"}
    assert "unknown option --stat; did you mean '--stats'?" in lab.audit("check", "--stat", "a.o").err


def test_help_prints_the_defaults_in_force(lab):
    out = lab.audit("check", "--help").out
    for default in ("one for each core [0]", "NO_COLOR is respected [auto]", "warning, note or never (only report) [error]", "[text]"):
        assert default in re.sub(r"\s+", " ", out)


def test_usage_errors_say_what_to_do(lab):
    def complaint(*words):
        result = lab.audit(*words)
        assert result.code == 2 and result.out == ""
        return result.err

    assert complaint("chek") == "elfaudit: unknown command 'chek'; did you mean 'check'?\nsee `elfaudit --help`\n"
    assert "elfaudit check: unknown option --fromat; did you mean '--format'?\nsee `elfaudit check --help`" in complaint("check", "--fromat=json", "a.o")
    assert "elfaudit list: unknown command 'image'; did you mean 'images'?" in complaint("list", "image")
    assert "--color: 'sometimes': expected auto, always or never" in complaint("check", "--color", "sometimes", "a.o")
    assert "man, config-schema, bash, zsh or fish" in complaint("--generate", "cmd")
    assert "link takes a command after --" in complaint("link", "a.o")


def test_man_page(lab):
    need("groff")
    page = generated(lab, "man", "elfaudit.1")
    assert lab.sh(f"groff -man -ww -z -Tutf8 {page}").err == ""
    text = re.sub(".\b", "", lab.sh(f"groff -man -Tascii -P-c {page}").out)  # bold is a letter over itself
    commands_text, advanced_text = text.split("\nADVANCED OPTIONS\n")
    for command in commands(lab):
        assert all(option in commands_text for option in options(lab, command)), command
        for option in ADVANCED.get(command, ()):
            assert not re.search(rf"^ +{option}( [A-Z]+)?$", commands_text, re.M) and re.search(rf"^ +{option}( [A-Z]+)?$", advanced_text, re.M), option
    assert "duplicate-definition" in text and "elfaudit check -- g++ -shared" in text


def test_man_page_is_clean_to_mandoc(lab):
    need("mandoc")
    said = lab.sh(f"mandoc -T lint -W warning {generated(lab, 'man', 'elfaudit.1')}", check=False).out.splitlines()
    # No date: the same sources give the same page on any day.
    assert [line for line in said if "missing date" not in line] == []


@pytest.fixture
def complete(lab):
    """What bash would offer for a line, whose last word is the one that is completed."""
    script = generated(lab, "bash", "elfaudit.bash")

    def run(line):
        # As bash splits it: '=' is a word of its own (COMP_WORDBREAKS).
        words = [word for part in line.split(" ") for word in (re.split("(=)", part) if "=" in part else [part])]
        words = words[:-1] if len(words) > 1 and words[-2:] == ["=", ""] else words
        quoted = " ".join(map(shlex.quote, words))
        command = f'. ./{script}; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _elfaudit; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return lab.sh(command).out.split()

    return run


def test_bash_completion(lab, complete):
    assert {"check", "explain", "list", "rules"} <= set(complete("elfaudit "))
    assert complete("elfaudit ch") == ["check"]
    assert complete("elfaudit list im") == ["images"]
    assert complete("elfaudit check --gpu") == ["--gpu-arch"]
    assert complete("elfaudit check --color ") == ["auto", "always", "never"]
    assert complete("elfaudit check --color=al") == ["always"]
    assert complete("elfaudit check --format sa") == ["sarif"]
    assert complete("elfaudit list images --format=") == ["text", "json", "jsonl"]
    assert complete("elfaudit check --linker ") == ["bfd", "gold", "lld", "mold"]
    assert complete("elfaudit check --severity needed-u") == ["needed-unused="]
    assert complete("elfaudit help dia") == ["diagnose"] and "help" not in complete("elfaudit help ")
    assert complete("elfaudit rules python-a") == ["python-abi"]
    # File names are bash's own business, and so is another program's command line.
    assert complete("elfaudit check a") == [] and complete("elfaudit check -- g++ --co") == []
    lab.sh("mkdir folder; touch file")
    assert complete("elfaudit check --root f") == ["folder"]


def test_completion_offers_the_targets_of_a_build(lab, complete):
    need("ninja")
    lab.write("build/build.ninja", "rule link\n  command = g++ $in -o $out\nbuild bin/app: link a.o\nbuild bin/$$(touch$ x): link a.o\n")
    lab.sh(f"ln -s '{os.environ['ELFAUDIT']}' elfaudit")
    assert complete("./elfaudit check -p build bin/a") == ["bin/app"] and complete("./elfaudit explain f --build=build bin/a") == ["bin/app"]
    assert complete("./elfaudit check bin/a") == []
    complete("./elfaudit check -p build bin/")
    assert not (lab.path / "x").exists()


def test_bash_completion_knows_every_option(lab, complete):
    for command in commands(lab):
        assert options(lab, command) <= set(complete(f"elfaudit {command} --")), command


def test_help_and_docs_name_every_value(lab, complete):
    """Of each option that has a list of values, which the completion offers."""
    found = set()
    for command in commands(lab):
        text = lab.audit(*command.split(), "--help").out
        docs = "".join((SOURCE_DIR / "docs" / f"{page}.md").read_text() for page in ("check", "list", "diagnose", "diff"))
        for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+) (?!RULE)[A-Z]", text, re.M):
            values = [value for value in complete(f"elfaudit {command} {option} ") if not value.endswith("=")]
            if not values:
                continue
            found.add(option)
            help_text = re.search(rf"^  .*{option} .*\n(?: {{10,}}.*\n)*", text, re.M)[0]
            rows = "".join(re.findall(rf"^\| `{option}[ `].*", docs, re.M))
            for place, pattern in ((help_text, r"\b{}\b"), (rows, "`[^`]*{}`")):
                assert [value for value in values if not re.search(pattern.format(value), place)] == [], (command, option)
    assert found == {"--color", "--fail-on", "--format", "--linker"}
    assert "RULE=error|warning|note|on|off" in re.sub(r"\s+", "", lab.audit("check", "--help").out)
    names = re.search(r"^\| its name for `--linker` and in JSON \|(.*)", (SOURCE_DIR / "docs/verdict.md").read_text(), re.M)[1]
    assert set(re.findall(r"\w+", names)) == set(complete("elfaudit check --linker "))


def test_bash_completion_passes_shellcheck(lab):
    need("shellcheck")
    lab.sh(f"shellcheck -s bash {generated(lab, 'bash', 'elfaudit.bash')}")


def test_fish_completion(lab):
    need("fish")
    script = generated(lab, "fish", "elfaudit.fish")
    lab.sh(f"fish --no-execute {script}")

    def complete(line):
        out = lab.sh(f"HOME=$PWD fish -c {shlex.quote(f'source {script}; complete -C {shlex.quote(line)}')}").out
        return [row.split("\t")[0] for row in out.splitlines()]

    assert complete("elfaudit ch") == ["check"]
    assert complete("elfaudit list im") == ["images"]
    assert sorted(complete("elfaudit check --color ")) == ["always", "auto", "never"]
    assert complete("elfaudit rules python-a") == ["python-abi"]
    for command in commands(lab):
        assert options(lab, command) <= set(complete(f"elfaudit {command} --")), command
    assert "--color" not in complete("elfaudit check -- g++ --co")


@pytest.mark.deep
def test_zsh_completion(lab):
    need("zsh")
    script = generated(lab, "zsh", "_elfaudit")
    lab.sh(f"zsh -n {script}")
    # zsh completes on a terminal only, so one is made inside of it (zsh/zpty).
    lab.write("offer.zsh", """
zmodload zsh/zpty
zpty z zsh -f
zpty -w z "PS1=; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''; LISTMAX=10000; print ready"
zpty -r z line '*ready*ready*'
zpty -n -w z "$1"$'\\t'
sleep 1
zpty -r -t z line && print -r -- "$line"
while zpty -r -t z line; do print -r -- "$line"; done
zpty -d z
""")
    assert "elfaudit check" in lab.sh("zsh offer.zsh 'elfaudit ch'").out
    assert "elfaudit rules python-abi" in lab.sh("zsh offer.zsh 'elfaudit rules python-a'").out
    assert "--gpu-arch" in lab.sh("zsh offer.zsh 'elfaudit check --gp'").out
