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


@pytest.mark.parametrize("driver", ["g++", "clang++", "g++ -fuse-ld=lld", "g++ -fuse-ld=mold", "g++ -fuse-ld=gold"])
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
])
def test_same_verdict_as_the_driver(project, driver, words, code):
    need(driver.split()[0])
    if "-fuse-ld=" in driver:
        need("ld." + driver.split("=")[1])
    project.write("words", "main.o libhelper.a")
    if driver == "g++ -fuse-ld=gold" and words.startswith("-nostdlib"):
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


def test_link_by_another_linker_says_whose_rules_were_used(project):
    need("ld.lld")
    result = project.audit("check", "--", "g++", "-fuse-ld=lld", "main.o", "helper.o", "-o", "out")
    assert "by the rules of GNU ld" in result.out, result


def test_unknown_option_is_named(project):
    result = project.audit("check", "--", "ld.bfd", "main.o", "helper.o", "--no-such-option=3")
    assert "not understood" in result.out and "--no-such-option=3" in result.out, result
