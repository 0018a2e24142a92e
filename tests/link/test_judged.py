"""What is judged, and that it is the linker's verdict: every option that changes it, every linker, every way to name the
inputs. What is not judged is said, with the reason, and never reported."""

import json
import shutil

import pytest

import linkers
from elfaudit_test import Lab, need
from linkers import AS_OPTION, PROGRAMS, assemble_all
from linkers import every_linker_and_gold as every_linker

need("as", "ar")

SOURCES = {
    "m": '.section .text._start,"ax"\n.globl _start\n_start: call used@plt; call missing@plt\n.data\n.weak maybe\n.quad __start_notes, maybe',
    "a": '.globl used\nused: ret\n.section notes,"aw"\n.globl note\nnote: .quad 1',
    "one": '.section .text.twice,"ax"\n.globl twice\ntwice: call gone_in_dead_code@plt',
    "two": '.section .text.twice,"ax"\n.globl twice\ntwice: ret',
    "hidden": '.section .text._start,"ax"\n.hidden veiled\n.globl uses_veiled\nuses_veiled: call veiled',
    "lone": ".globl lone\nlone: ret",
    "needy": ".globl needy\nneedy: call of_shared@plt",
}
OPTIONS = [
    "", "-z defs", "-shared", "-shared -z defs", "-r", "-pie", "-E", "--gc-sections", "--gc-sections -E",
    "--unresolved-symbols=ignore-all", "--unresolved-symbols=ignore-in-object-files", "--unresolved-symbols=ignore-in-shared-libs",
    "--unresolved-symbols=report-all", "--warn-unresolved-symbols", "--allow-shlib-undefined", "--noinhibit-exec", "-z muldefs",
    "--defsym=missing=0", "-u missing", "-u nowhere", "--gc-sections -z muldefs", "--gc-sections --warn-unresolved-symbols",
    "-shared --gc-sections", "-shared --unresolved-symbols=report-all", "-shared --warn-unresolved-symbols -z defs",
]
INPUTS = "m.o a.o one.o two.o hidden.o"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Objects, an archive that nothing asks for, facts files, and a folder with facts whose objects are gone."""
    lab = Lab(tmp_path_factory.mktemp("judged"))
    assemble_all(lab, SOURCES)
    lab.ar("libunused.a", "lone.o")
    lab.ar("liball.a", "one.o", "two.o", "m.o")
    lab.sh("ld -shared needy.o -o libneedy.so")
    lab.write(".elfaudit.toml", "")  # no other's is found
    for name in ("a.o", "two.o"):
        assert lab.audit("index", name, "-o", name + ".facts").code == 0
    return lab


def audit(lab, linker, *words):
    result = lab.audit("check", "--linker", AS_OPTION[linker], "--format", "json", *words)
    assert result.out.startswith("{"), result
    return result.code, result.json()


def command(options, inputs=INPUTS):
    return ["--", "ld", *options.split(), *inputs.split(), "-o", "out"]


def verdict(document):
    duplicates = {(d["symbol"], d["other"]) for d in document["duplicates"]}
    return duplicates, set(document["undefined"]), document["undefined_judged"]


def reported(document):
    """What the findings call undefined."""
    return {f["symbol"] for f in document["findings"] if f["rule"] == "undefined-symbol"}


def every_option(test):
    return every_linker(pytest.mark.parametrize("options", OPTIONS)(test))


def linked(lab, linker, options, inputs=INPUTS):
    theirs = linkers.says(lab, linker, f"{options} {inputs}")
    unknown = [message for message in theirs.other if linkers.UNKNOWN_TO_IT.search(message)]
    if unknown:
        pytest.skip(f"{PROGRAMS[linker]}: {unknown[0]}")
    assert not theirs.other, theirs
    return theirs


@every_option
def test_a_link_command_is_judged_as_the_linker_does(bench, linker, options):
    theirs = linked(bench, linker, options)
    _, document = audit(bench, linker, *command(options))
    assert verdict(document) == (theirs.duplicates, theirs.undefined, True)
    assert document["duplicates_judged"] and document["undefined_not_judged"] is None
    assert document["undefined_count"] == len(theirs.undefined)
    assert reported(document) <= theirs.undefined


POLICIES = [
    ["--suppress", "rule=undefined-symbol,reason=x", "--suppress", "rule=duplicate-definition,reason=x"],
    ["--severity", "undefined-symbol=off", "--severity", "duplicate-definition=off"],
    ["--severity", "undefined-symbol=note", "--severity", "duplicate-definition=note"],
    ["--baseline", "known.json"],
]


@every_option
def test_policy_never_changes_the_verdict(bench, linker, options):
    words = command(options)
    _, plain = audit(bench, linker, *words)
    bench.audit("check", "--linker", AS_OPTION[linker], "--write-baseline", "known.json", *words)
    for policy in POLICIES:
        code, document = audit(bench, linker, *policy, *words)
        assert verdict(document) == verdict(plain), policy
        assert document["undefined_count"] == plain["undefined_count"], policy
        assert not reported(document) or policy[-1].endswith("=note"), policy
        assert code == 0, policy


@every_option
def test_an_input_left_out_leaves_undefined_names_open(bench, linker, options):
    """The archive that is left out holds nothing that the link needs: its duplicates are what they are with it."""
    theirs = linked(bench, linker, options, INPUTS + " libunused.a")
    _, document = audit(bench, linker, "--never-read", "libunused.a", *command(options, INPUTS + " libunused.a"))
    assert verdict(document) == (theirs.duplicates, set(), False)
    assert (document["duplicates_not_judged"], document["undefined_not_judged"]) == ("input-left-out", "input-left-out")
    assert not reported(document)
    text = bench.audit("check", "--linker", AS_OPTION[linker], "--never-read", "libunused.a", *command(options, INPUTS + " libunused.a"))
    assert "; undefined symbols are not checked: an input is left out" in text.out, text


@every_option
def test_a_missing_input_leaves_undefined_names_open(bench, linker, options):
    theirs = linked(bench, linker, options)
    code, document = audit(bench, linker, *command(options, INPUTS + " nowhere.o"))
    goes_on = linker == "gold"  # and says what is undefined all the same
    assert verdict(document) == (theirs.duplicates, theirs.undefined if goes_on else set(), goes_on) and code == 2
    assert (document["duplicates_not_judged"], document["undefined_not_judged"]) == ("input-missing", None if goes_on else "input-missing")
    assert goes_on or not reported(document)


@every_linker
def test_what_a_member_needs_of_an_object_is_not_open(lab, linker):
    """Where an input is missing, undefined names are counted but not judged."""
    lab.cc("main.o", "int defined_here = 1; int member(void); int main(void) { return member(); }", "gcc")
    lab.cc("member.o", "extern int defined_here; int gone(void); int member(void) { return defined_here + gone(); }", "gcc")
    lab.ar("libmember.a", "member.o")
    line = ["--linker", AS_OPTION[linker], "--", "ld", "-e", "main", "main.o", "-L.", "-lmember", "nowhere.o", "-o", "out"]
    listed = lab.audit("check", "--format", "json", "--undefined", *line).json()
    assert listed["undefined"] == ["gone"], listed
    assert lab.audit("check", "--format", "json", *line).json()["undefined_count"] == 1


@every_option
def test_facts_files_give_the_same_verdict(bench, linker, options):
    inputs = INPUTS.replace("a.o", "a.o.facts").replace("two.o", "two.o.facts")
    assert audit(bench, linker, *command(options, inputs)) == audit(bench, linker, *command(options))


@every_option
def test_facts_of_objects_that_are_gone_cost_only_what_they_can_not_answer(bench, linker, options):
    """two.o is asked nothing, and that a.o has a section notes is in its facts. With --gc-sections relocations count."""
    theirs = linked(bench, linker, options)
    folder = Lab(bench.path / f"gone-{linker}-{OPTIONS.index(options)}")
    folder.path.mkdir()
    for name in ("m.o", "one.o", "hidden.o", "a.o.facts", "two.o.facts", ".elfaudit.toml"):
        shutil.copy(bench.path / name, folder.path / name)
    code, document = audit(folder, linker, *command(options, "m.o a.o.facts one.o two.o.facts hidden.o"))
    duplicates, undefined, judged = verdict(document)
    assert undefined <= theirs.undefined and reported(document) <= theirs.undefined, document
    assert judged == document["complete"]
    if judged:
        assert (duplicates, undefined) == (theirs.duplicates, theirs.undefined)
    else:
        assert code == 2 and "--gc-sections" in options
        assert duplicates >= theirs.duplicates


@every_linker
def test_files_alone_judge_no_undefined_name(bench, linker):
    code, document = audit(bench, linker, *INPUTS.split())
    assert verdict(document) == ({("twice", "two.o")}, set(), False) and code == 1
    assert document["duplicates_judged"] and document["undefined_not_judged"] == "files-alone"
    _, document = audit(bench, linker, "--undefined", *INPUTS.split())
    assert set(document["undefined"]) >= {"missing", "gone_in_dead_code", "veiled"}, document["undefined"]
    assert document["undefined_count"] == len(document["undefined"]) and not reported(document)


@every_linker
def test_archives_alone_judge_no_undefined_name(bench, linker):
    code, document = audit(bench, linker, "liball.a")
    assert verdict(document) == ({("twice", "liball.a(two.o)")}, set(), False) and code == 1
    assert document["whole_archives"] and document["undefined_not_judged"] == "files-alone"


@every_option
def test_a_build_is_judged_link_by_link(bench, linker, options):
    """With a link whose input is missing beside it the sum is not the verdict on both; each part is on its own."""
    need("ninja")
    theirs = linked(bench, linker, options)
    folder = bench.path / f"build-{linker}-{OPTIONS.index(options)}"
    folder.mkdir()
    inputs = " ".join("../" + name for name in INPUTS.split())
    rules = f"rule link\n  command = ld {options} $in -o $out\nrule ar\n  command = ar rcs $out $in\n"
    one = f"build app: link {inputs}\nbuild liblone.a: ar ../lone.o\n"
    (folder / "build.ninja").write_text(rules + one)
    code, document = audit(bench, linker, "-p", folder.name)
    undefined = set(document["undefined"])
    assert (undefined, document["undefined_judged"]) == (theirs.undefined, True)
    assert {d["symbol"] for d in document["duplicates"]} == {symbol for symbol, _ in theirs.duplicates}
    _, suppressed = audit(bench, linker, "-p", folder.name, *POLICIES[0])
    assert verdict(suppressed) == verdict(document)
    (folder / "build.ninja").write_text(rules + one + f"build other: link {inputs} ../nowhere.o\n")
    code, document = audit(bench, linker, "-p", folder.name)
    assert code == 2 and (document["undefined_judged"], document["undefined_not_judged"]) == (False, "input-missing")
    assert set(document["undefined"]) == theirs.undefined
    rows = {row["output"].rsplit("/")[-1]: row["undefined_not_judged"] for row in document["links"]}
    assert rows == {"app": None, "other": "input-missing"}


@every_linker
def test_a_driver_that_can_not_be_asked_leaves_undefined_names_open(bench, linker):
    """The start files and default libraries of a compiler elsewhere are not known."""
    _, document = audit(bench, linker, "--", "/nowhere/gcc", "m.o", "one.o", "two.o", "-o", "out")
    assert document["undefined_not_judged"] == "part-of-line" and not reported(document) and document["undefined"] == []
    assert {d["symbol"] for d in document["duplicates"]} == {"twice"}


def test_every_report_says_what_is_not_judged(bench):
    need("ninja")
    words = ["m.o", "a.o"]
    text = bench.audit("check", *words).out
    assert "; undefined symbols are not checked: pass the link command after --" in text.splitlines()[-1], text
    run = json.loads(bench.audit("check", "--format", "sarif", *words).out)["runs"][0]["invocations"][0]["properties"]
    assert run == {"duplicatesJudged": True, "undefinedJudged": False, "undefinedNotJudged": "files-alone"}
    run = json.loads(bench.audit("check", "--format", "sarif", *command("")).out)["runs"][0]["invocations"][0]["properties"]
    assert run == {"duplicatesJudged": True, "undefinedJudged": True}
    (bench.path / "b").mkdir()
    (bench.path / "b/build.ninja").write_text(
        "rule link\n  command = ld $in -o $out\nbuild app: link ../m.o\nbuild other: link ../a.o ../nowhere.o\n")
    text = bench.audit("check", "-p", "b").out
    assert "used is not defined by any input" in text and "; other undefined symbols are not checked: an input is missing" in text, text
    html = bench.audit("check", "--format", "html", *words).out
    assert "undefined symbols are not checked: pass the link command after --" in html
