"""Link commands of the drivers, word for word, against what the drivers themselves say."""

import pytest

from elfaudit_test import need

need("g++", "gcc", "ld.bfd")

MAIN = "int helper(); int main() { return helper(); }"


@pytest.fixture
def project(lab):
    lab.cc("main.o", MAIN)
    lab.cc("helper.o", "int helper() { return 0; }")
    lab.cc("twice.o", "int helper() { return 1; }")
    lab.ar("libhelper.a", "helper.o")
    lab.sh("g++ -shared -fPIC -x c++ - -o libshared.so <<< 'int helper() { return 0; }'")
    return lab


DRIVERS = {"bfd": "g++", "clang": "clang++", "lld": "g++ -fuse-ld=lld", "mold": "g++ -fuse-ld=mold", "gold": "g++ -fuse-ld=gold"}


@pytest.mark.parametrize("linker", DRIVERS)
@pytest.mark.parametrize("words, code", [
    ("main.o helper.o", 0),
    ("main.o helper.o twice.o", 1),
    ("main.o", 1),
    ("main.o -L. -lhelper", 0),
    ("main.o twice.o -L. -lhelper", 0),
    ("main.o -L. -lshared", 0),
    ("-shared -fPIC main.o", 0),
    ("-shared main.o -Wl,-z,defs", 1),
    ("-Wl,--whole-archive libhelper.a -Wl,--no-whole-archive main.o twice.o", 1),
    ("-r main.o", 0),
    ("-nostdlib main.o helper.o", 0),
    ("@words", 0),
    ("-Wl,@words", 0),
    ("main.o -Wl,@twice", 1),
    ("-Wl,-Bstatic,@words,-Bdynamic", 0),
    ("-Wl,@nested", 0),
    ("main.o -Xlinker @twice", 1),
    ("main.o helper.o -Wl,@nowhere", 2),
    ("main.o helper.o -static-nothing", 2),
    ("main.o helper.o -fuse-ld=nothing", 2),
    ("main.o helper.o -lnothing", 2),
    ("main.o helper.o nothing.o", 2),
])
def test_same_verdict_as_the_driver(project, linker, words, code):
    driver = DRIVERS[linker]
    need(driver.split()[0])
    if "-fuse-ld=" in driver:
        need("ld." + driver.split("=")[1])
    for name, text in {"words": "main.o libhelper.a", "nested": "@words", "twice": "helper.o twice.o"}.items():
        project.write(name, text)
    if linker == "mold" and "@nested" in words:
        pytest.skip("mold reads no file that a response file names")
    if linker == "gold" and words.startswith("-nostdlib"):
        pytest.skip("gold 1.16 warns of a missing entry symbol and links all the same")
    link = project.sh(f"{driver} {words} -o out", check=False)
    result = project.audit("check", "--", *driver.split(), *words.split(), "-o", "out")
    assert (link.code != 0, result.code) == (code != 0, code), f"{link}\n{result}"


@pytest.mark.parametrize("words", [
    "g++ main.o helper.o -static",
    "g++ main.o helper.o -static-pie",
    "g++ main.o helper.o -fsanitize=address,undefined",
    "g++ main.o helper.o -pthread -lm -ldl",
    "gcc main.o helper.o",
    "g++ -O2 -flto main.o helper.o",
    "g++ -Wl,--gc-sections -Wl,--as-needed main.o helper.o -lm",
    "ccache g++ main.o helper.o",
])
def test_ordinary_lines_are_clean(project, words):
    need(words.split()[0])
    result = project.audit("check", "--format", "json", "--", *words.split(), "-o", "out")
    assert result.code == 0, result
    assert result.json()["options_not_understood"] == []


def test_missing_library_says_where_it_was_searched(project):
    result = project.audit("check", "--", "g++", "main.o", "helper.o", "-L.", "-lnowhere")
    assert result.code == 2 and "cannot find -lnowhere (searched: ., " in result.out, result


def test_source_on_the_line_is_not_passed(project):
    project.write("more.cpp", "int more() { return 1; }")
    result = project.audit("check", "--", "g++", "main.o", "helper.o", "more.cpp")
    assert result.code == 2 and "more.cpp" in result.out and "-c" in result.out, result
    assert not (project.path / "a.out").exists(), "nothing was run"


def test_a_command_that_does_not_link_is_a_usage_error(project):
    project.write("more.cpp", "int more() { return 1; }")
    result = project.audit("check", "--", "g++", "-c", "more.cpp")
    assert result.code == 2 and "does not link" in result.err, result


def test_driver_that_is_not_there_is_read_by_its_words(project):
    result = project.audit("check", "--", "/no/such/place/g++", "main.o", "helper.o", "twice.o")
    assert result.code == 1 and "helper() is defined twice" in result.out and "note: " in result.out, result


def judged_by(project, *command):
    document = project.audit("check", "--format", "json", *command).json()
    return document["linker"], document["linker_version"]


@pytest.mark.parametrize("command, linker", [
    ("ld.bfd", ("bfd", 0)),
    ("ld.lld-14", ("lld", 14)),
    ("ld.lld-19", ("lld", 19)),
    ("mold", ("mold", 0)),
    ("g++ -fuse-ld=bfd", ("bfd", 0)),
    ("g++ -fuse-ld=mold", ("mold", 0)),
])
def test_the_rules_are_those_of_the_linker_that_the_command_runs(project, command, linker):
    need(command.split("-fuse-")[0].strip(), *(["mold"] if "mold" in command else []))
    assert judged_by(project, "--", *command.split(), "main.o", "helper.o") == linker


def test_version_of_a_linker_without_one_in_its_name(project):
    need("ld.lld")
    said = project.sh("ld.lld --version").out
    assert judged_by(project, "--", "g++", "-fuse-ld=lld", "main.o", "helper.o") == ("lld", int(said.split("LLD ")[1].split(".")[0]))
    project.sh("ln -s $(command -v ld.lld) plain; printf '#!/bin/sh\necho Custom LLD 17.0.1\n' > ld.lld; chmod +x ld.lld")
    assert judged_by(project, "--", "./ld.lld", "main.o", "helper.o") == ("lld", 17)


@pytest.mark.parametrize("choice, linker", [("bfd", ("bfd", 0)), ("lld", ("lld", 0)), ("lld:14", ("lld", 14)), ("mold:1", ("mold", 1))])
def test_option_linker_outranks_the_command(project, choice, linker):
    assert judged_by(project, "--linker", choice, "--", "ld.bfd", "main.o", "helper.o") == linker
    assert judged_by(project, "--linker", choice, "main.o", "helper.o") == linker


@pytest.mark.parametrize("choice", ["", "ld", "lld:", "lld:x", "bfd:0"][1:])
def test_unknown_linker_is_a_usage_error(project, choice):
    result = project.audit("check", "--linker", choice, "main.o")
    assert result.code == 2 and f"--linker {choice}: " in result.err, result


def test_link_by_gold_is_judged_by_its_own_rules(project):
    need("ld.gold")
    result = project.audit("check", "--", "g++", "-fuse-ld=gold", "main.o", "helper.o", "-o", "out")
    assert result.code == 0, result
    document = project.audit("check", "--format", "json", "--", "g++", "-fuse-ld=gold", "main.o", "helper.o", "-o", "out").json()
    assert (document["linker"], document["link_uses"]) == ("gold", "gold")


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_what_a_static_program_exports_is_kept_by_gold(project, linker):
    """Without a dynamic section GNU ld exports nothing, so that nothing keeps the function."""
    need("ld." + linker)
    project.cc("dead.o", "void missing(); void dead() { missing(); }", "gcc -ffunction-sections")
    project.cc("alone.o", "int main(void) { return 0; }", "gcc -ffunction-sections")
    words = f"gcc -fuse-ld={linker} -static -no-pie -Wl,-E -Wl,--gc-sections alone.o dead.o -o out"
    linked = project.sh(words, check=False)
    assert ("missing" in linked.err) == (linker == "gold"), linked
    document = project.audit("check", "--format", "json", "--", *words.split()).json()
    assert document["undefined"] == (["missing"] if linker == "gold" else []) and document["linker"] == linker


def test_start_lib_is_lazy(project):
    """Only what is needed is linked: the second helper is not, and would clash if it were."""
    words = ["main.o", "--start-lib", "helper.o", "--end-lib", "--start-lib", "twice.o", "--end-lib"]
    assert project.audit("check", "--linker", "mold", "--", "ld.bfd", "-e", "main", *words).code == 0
    assert project.audit("check", "--linker", "lld", "--", "ld.bfd", "-e", "main", *words).code == 0
    assert "--start-lib" in project.audit("check", "--", "ld.bfd", "-e", "main", *words).out, "unknown to GNU ld 2.40"


def test_unknown_option_is_named(project):
    result = project.audit("check", "--", "ld.bfd", "main.o", "helper.o", "--no-such-option=3")
    assert "unknown options, ignored: " in result.out and "--no-such-option=3" in result.out, result


@pytest.mark.parametrize("linker", ["bfd", "lld", "mold"])
def test_static_program_with_position_independent_libraries(lab, linker):
    """libstdc++.a's eh_globals.o calls __tls_get_addr, which libc.a does not have."""
    need(f"ld.{linker}")
    lab.cc("main.o", "#include <iostream>\nint main() { std::cout << 1; }")
    command = f"g++ -fuse-ld={linker} -static main.o -pthread -o out"
    lab.sh(command)
    assert lab.audit("check", "--", *command.split()).code == 0
