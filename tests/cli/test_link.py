"""The link command: an audit, and then the command itself, in place of a compiler in real builds."""

import json
import os
import re
import shlex

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++", "gcc", "ar")


def link(lab, *words, options=()):
    return lab.audit("link", *options, "--", *words)


def shell(lab, text):
    """The text run with $ELFAUDIT known, whatever the exit code is."""
    return lab.sh(text, check=False)


@pytest.fixture
def twice(lab):
    """Two objects that define one name."""
    lab.cc("a.o", "int state = 1;\nint main() { return 0; }")
    lab.cc("b.o", "int state = 2;")
    return lab


# ---- what is printed, what is run, with which exit code


def test_clean_link_is_silent_and_done(lab):
    lab.cc("a.o", "int main() { return 0; }")
    result = link(lab, "g++", "a.o", "-o", "program")
    assert (result.code, result.out, result.err) == (0, "", "") and lab.sh("./program").code == 0


def test_report_comes_before_what_the_linker_says(twice):
    result = link(twice, "g++", "a.o", "b.o", "-o", "program")
    assert result.code == 1 and result.out == "", result
    assert 0 <= result.err.find("error: state is defined twice") < result.err.find("multiple definition of `state'"), result


def test_gate_stops_before_the_link(twice):
    result = link(twice, "g++", "a.o", "b.o", "-o", "program", options=["--gate"])
    assert result.code == 1 and "state is defined twice" in result.err and "multiple definition" not in result.err, result
    # The linker takes these, so the gate does too.
    result = link(twice, "g++", "-Wl,-z,muldefs", "a.o", "b.o", "-o", "program", options=["--gate"])
    assert result.code == 0 and twice.path.joinpath("program").exists(), result


def test_gate_keeps_an_older_output(twice):
    twice.write("program", "old")
    link(twice, "g++", "a.o", "b.o", "-o", "program", options=["--gate"])
    assert (twice.path / "program").read_text() == "old"


def test_unreadable_input_stops_only_the_gate(lab):
    lab.cc("a.o", "int main() { return 0; }")
    # Both read a short archive as one with fewer members; ld links what it needs from the rest.
    lab.cc("m.o", "int unused;")
    lab.ar("libx.a", "m.o")
    lab.sh("truncate -s -8 libx.a")
    result = link(lab, "g++", "a.o", "libx.a", "-o", "program")
    assert result.code == 0 and "libx.a" in result.err, result
    assert link(lab, "g++", "a.o", "libx.a", "-o", "program", options=["--gate"]).code == 2


def test_formats_to_files_and_standard_error(twice):
    result = link(twice, "g++", "a.o", "b.o", options=["--format", "json=audit.json", "--format", "text"])
    assert "state is defined twice" in result.err and result.out == ""
    document = json.loads((twice.path / "audit.a.out.json").read_text())
    assert [d["symbol"] for d in document["duplicates"]] == ["state"]


@pytest.mark.parametrize(
    "name, output, file",
    [
        ("%o.json", "app", "app.json"),
        ("audit-%o.json", "bin/app", "audit-bin__app.json"),
        ("audit.json", "bin/app", "audit.bin__app.json"),
        ("reports/%o", "lib/libx.so", "reports/lib__libx.so"),  # seen from the folder that both are in
        ("100%%.json", "app", "100%.app.json"),
        ("%o.json", "out__put", "out+5f+5fput.json"),  # "out/put" is another link
        ("%o.json", "../x y;$HOME", "+2e./x y"),
    ],
)
def test_a_report_for_each_link(twice, name, output, file):
    for folder in ("reports", "bin", "lib"):
        (twice.path / folder).mkdir()
    link(twice, "g++", "a.o", "b.o", "-o", output, options=["--format", f"json={name}"])
    if output.startswith(".."):
        written = [p.name for p in twice.path.glob("*.json")]
        assert len(written) == 1 and not set(written[0]) & set("/ ;$"), written
    else:
        assert (twice.path / file).is_file(), list(twice.path.rglob("*"))


def test_a_report_stays_in_its_folder(twice):
    outside = twice.path.parent / "outside.json"
    (twice.path / "app.json").symlink_to(outside)
    result = link(twice, "g++", "a.o", "b.o", "-o", "app", options=["--format", "json=%o.json"])
    assert "app.json is a symbolic link: refusing to write to it" in result.err and not outside.exists(), result


TUTORIAL_CMAKE = """cmake_minimum_required(VERSION 3.21)
project(p CXX)
add_executable(one one.cpp)
add_executable(two two.cpp old_a.cpp old_b.cpp)
"""
TUTORIAL_CONFIG = """fail-on = "warning"
[[suppress]]
rule = "duplicate-definition"
symbol = "old_state"
reason = "two copies of a file from 1998, gone with 2.0"
"""


@pytest.fixture
def two_targets(lab):
    """The tutorial's configuration is about one of two programs."""
    need("cmake", "ninja")
    lab.write("CMakeLists.txt", TUTORIAL_CMAKE)
    lab.write("one.cpp", "int main() {}\n")
    lab.write("two.cpp", "int main() {}\n")
    lab.write("old_a.cpp", "int old_state;\n")
    lab.write("old_b.cpp", "int old_state = 2;\n")
    return lab


def with_launcher(lab, *options):
    launcher = ";".join([os.environ["ELFAUDIT"], "link", *options, "--"])
    lab.sh(f"cmake -G Ninja -S . -B b {shlex.quote('-DCMAKE_CXX_LINKER_LAUNCHER=' + launcher)}")
    return lab.sh("cmake --build b -- -k 0", check=False)


def test_a_suppression_for_one_of_two_links(two_targets):
    two_targets.write(".elfaudit.toml", TUTORIAL_CONFIG)
    result = with_launcher(two_targets, "--gate")
    assert "suppression-unused" not in result.out and (two_targets.path / "b/one").exists(), result
    assert "multiple definition of `old_state'" in result.out, result  # the gate let that link through
    assert two_targets.audit("check", "-p", "b").code == 0
    assert two_targets.audit("check", "-p", "b", "one").code == 0  # a part of the build
    two_targets.write(".elfaudit.toml", TUTORIAL_CONFIG.replace("old_state", "older_state"))
    result = two_targets.audit("check", "-p", "b")
    assert "symbol older_state matches no finding [suppression-unused]" in result.out, result


def test_a_baseline_of_all_links(lab):
    for name in ("one", "two"):  # each link has one of its own
        lab.cc(f"{name}_b.o", f"int {name}_state;")
        lab.cc(f"{name}_a.o", f"int {name}_state; int main() {{}}")
    words = {name: ["g++", f"{name}_a.o", f"{name}_b.o", "-o", name] for name in ("one", "two")}
    writing = " & ".join(
        f"{shlex.quote(os.environ['ELFAUDIT'])} link --write-baseline base.json -- {shlex.join(words[name])}" for name in ("one", "two", "one", "two")
    )
    lab.sh(f"({writing} & wait) 2>/dev/null", check=False)
    entries = json.loads((lab.path / "base.json").read_text())["findings"]
    assert [(e["symbol"], e["count"]) for e in entries] == [("one_state", 1), ("two_state", 1)]
    for name in ("one", "two"):
        result = link(lab, *words[name], options=["--gate", "--baseline", "base.json"])
        assert "baseline-outdated" not in result.err and "multiple definition" in result.err, result  # the gate is open
    result = lab.audit("check", "--baseline", "base.json", "--", *words["one"])  # one link is all there is
    assert "1 of its findings is gone" in result.out, result


def test_reports_of_two_links_from_the_configuration(two_targets):
    two_targets.write(".elfaudit.toml", 'format = ["text", "json=audit.json"]\n')
    with_launcher(two_targets)
    written = sorted(p.name for p in two_targets.path.rglob("audit*.json"))
    assert len(written) == 2 and "audit.json" not in written, written


@pytest.mark.parametrize("command, code", [("exit 7", 7), ("kill -TERM $$", -15), ("kill -KILL $$", -9)])
def test_exit_codes_and_signals_are_the_command_s(lab, command, code):
    program = os.environ["ELFAUDIT"]
    result = lab._run([program, "link", "--", "sh", "-c", command])
    assert result.code == code, result


def test_it_becomes_the_command(lab):
    """Whoever started it may signal it by its process id: a build that is interrupted must not leave linkers behind."""
    program = shlex.quote(os.environ["ELFAUDIT"])
    before, after = lab.sh(f"echo $$; exec {program} link -- sh -c 'echo $$' 2>/dev/null").out.split()
    assert before == after


def test_standard_input_is_the_command_s(lab):
    program = os.environ["ELFAUDIT"]
    assert lab.sh(f"echo hello | {shlex.quote(program)} link -- cat 2>/dev/null").out == "hello\n"


def test_programs_that_are_not_there(lab):
    assert link_code(lab, "no-such-program", "a.o") == 127
    lab.write("not-executable", "")
    assert link_code(lab, "./not-executable", "a.o") == 126


def link_code(lab, *words):
    return lab._run([os.environ["ELFAUDIT"], "link", "--", *words]).code


@pytest.mark.parametrize("words", [[], ["a.o"], ["--"], ["--format", "xml", "--", "true"], ["--enable", "no-rule", "--", "true"], ["--severity", "needed-unused=fatal", "--", "true"], ["--linker", "nold", "--", "true"]])
def test_usage_errors_run_nothing(lab, words):
    result = lab.audit("link", *words)
    assert result.code == 2 and result.err != "", result


# ---- commands that don't link


@pytest.mark.parametrize(
    "words",
    ["-c a.c", "-E a.c", "-S a.c", "-M a.c", "-fsyntax-only a.c", "--version", "-###", "-v", "-print-prog-name=ld", "-dumpmachine", "@words"],
)
def test_commands_that_do_not_link_pass_through(lab, words):
    lab.write("a.c", "int state = 1;\n")
    lab.write("words", "-c a.c")
    theirs, ours = shell(lab, f"gcc {words}"), link(lab, "gcc", *words.split(), options=["--gate"])
    assert (ours.code, ours.out, ours.err) == (theirs.code, theirs.out, theirs.err)


def test_passing_through_asks_no_compiler(lab):
    """Every compile of a build goes through here: the compiler must be started once, not twice."""
    lab.write("g++", "#!/bin/sh\necho started >> log\n")
    lab.sh("chmod +x g++")
    link(lab, "./g++", "-c", "a.cpp")
    link(lab, "./g++", "-O2", "a.cpp", "-o", "a")
    assert (lab.path / "log").read_text() == "started\n" * 2


def test_compiling_and_linking_at_once_is_named(lab):
    lab.write("a.cpp", "int main() { return 0; }\n")
    for words in (["a.cpp"], ["-x", "c++", "a.cpp"], ["a.cpp", "-Wl,-O1"]):
        result = link(lab, "g++", *words, "-o", "program", options=["--gate"])
        assert result.code == 0 and result.err == "elfaudit: link not audited: this command compiles what it links\n", result


def test_unknown_programs_are_named_and_run(lab):
    result = link(lab, "echo", "linked")
    assert result.code == 0 and result.out == "linked\n" and "unknown program 'echo': expected a compiler driver or a linker" in result.err, result
    assert link(lab, "echo", "linked", options=["--gate"]).out == ""


def test_linkers_and_launchers(twice):
    assert "state is defined twice" in link(twice, "ld.bfd", "a.o", "b.o").err
    assert "state is defined twice" in link(twice, "env", "A=1", "g++", "a.o", "b.o").err
    assert link(twice, "ld.bfd", "--version").err == ""


@pytest.mark.deep
def test_nvcc(lab):
    need("nvcc")
    lab.write("a.cu", "__global__ void kernel() {}\n")
    for words in (["-c", "a.cu"], ["-dc", "a.cu", "-o", "b.o"], ["--version"], ["--dryrun", "a.o"]):
        assert "elfaudit: " not in link(lab, "nvcc", *words).err
    result = link(lab, "nvcc", "a.o", "-o", "program")
    assert result.code == 1 and "main is not defined" in result.err, result
    assert "this command compiles what it links" in link(lab, "nvcc", "a.cu", "-o", "program").err


# ---- real builds

WORKS = "int helper(); int main() { return helper(); }\n"
BROKEN = "int helper() { return 1; } int main() { return helper(); }\n"


def sources(lab, main):
    lab.write("main.cpp", main)
    lab.write("helper.cpp", "int helper() { return 0; }\n")


def test_make(lab):
    need("make")
    lab.write("Makefile", "program: main.o helper.o\n\t$(CXX) $^ -o $@\n%.o: %.cpp\n\t$(CXX) -g -c $< -o $@\n")
    build = "make " + shlex.quote(f"CXX={shlex.quote(os.environ['ELFAUDIT'])} link -- g++")
    sources(lab, WORKS)
    result = shell(lab, build)
    assert result.code == 0 and result.err == "" and lab.sh("./program").code == 0, result
    sources(lab, BROKEN)
    result = shell(lab, build + " -B")
    assert result.code == 2 and "helper() is defined twice" in result.err and "main.cpp:1" in result.err, result


def test_cmake(lab):
    need("cmake", "make")
    lab.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(p CXX)\nadd_library(helper STATIC helper.cpp)\n"
        "add_executable(program main.cpp)\ntarget_link_libraries(program helper)\n",
    )
    launcher = shlex.quote(f"-DCMAKE_CXX_LINKER_LAUNCHER={os.environ['ELFAUDIT']};link;--gate;--")
    sources(lab, WORKS)
    result = shell(lab, f"cmake -B build {launcher} && cmake --build build && build/program")
    assert result.code == 0 and "elfaudit" not in result.err, result
    sources(lab, WORKS + "int extra();\nint more = extra();\n")
    result = shell(lab, "cmake --build build")
    assert result.code != 0 and "extra() is not defined" in result.err and "undefined reference" not in result.err, result


def test_ldshared(lab):
    """How setuptools links an extension module: LDSHARED is cut into words, objects and -o follow."""
    ldshared = shlex.split(f"{shlex.quote(os.environ['ELFAUDIT'])} link -- g++ -pthread -shared")
    lab.cc("build/a.o", "int state = 1; extern \"C\" void PyInit_a() {}", "g++ -fPIC")
    lab.cc("build/b.o", "int state = 2;", "g++ -fPIC")
    assert lab._run([*ldshared, "build/a.o", "-o", "a.so"]).code == 0
    result = lab._run([*ldshared, "build/a.o", "build/b.o", "-o", "a.so"])
    assert result.code == 1 and "state is defined twice" in result.err, result


def test_every_option_is_in_the_docs(lab):
    pages = (SOURCE_DIR / "docs" / "link.md").read_text()
    options = set(re.findall(r"--[a-z][a-z-]+", lab.audit("link", "--help-all").out)) - {"--help", "--help-all"}
    assert len(options) > 4 and [option for option in sorted(options) if option not in pages] == []
