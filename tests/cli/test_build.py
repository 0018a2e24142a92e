"""check -p: the links of a build folder, from build.ninja and from what CMake leaves for make."""


import pytest

from elfaudit_test import need

need("g++", "ar", "ninja")

RULES = """
cxx = g++
rule cxx
  command = $cxx $flags -c $in -o $out
rule link
  command = $cxx $in $libs -o $out
rule link_rsp
  command = $cxx @$out.rsp $libs -o $out
  rspfile = $out.rsp
  rspfile_content = $in
rule ar
  command = rm -f $out && ar rcs $out $in
"""


def ninja(lab, text, sources, build=True):
    """A build folder b with these sources beside it, built."""
    for name, source in sources.items():
        lab.write(name, source)
    lab.write("b/build.ninja", RULES + text)
    if build:
        lab.sh("ninja -C b", check=False)
    return lab


TWO_PROGRAMS = """
build main.o: cxx ../main.cpp
build state.o: cxx ../state.cpp
build again.o: cxx ../again.cpp
build lib/libstate.a: ar state.o again.o
build bin/good: link main.o state.o
build bin/bad: link main.o state.o again.o
build good: phony bin/good
build bad: phony bin/bad
build both: phony good bad
"""
SOURCES = {
    "main.cpp": "extern int state; int main() { return state; }",
    "state.cpp": "int state = 1;",
    "again.cpp": "int state = 2;",
}


@pytest.fixture
def two(lab):
    return ninja(lab, TWO_PROGRAMS, SOURCES)


def test_every_link_is_a_job_of_its_own(two):
    result = two.audit("check", "-p", "b")
    assert result.code == 1 and "state is defined twice" in result.out, result
    assert "  link      b/bin/bad\n" in result.out, result
    assert result.out.splitlines()[-1].startswith("1 error: ") and "of 2 links" in result.out, result


@pytest.mark.parametrize("name", ["good", "bin/good", "./bin/good", "b/bin/good"])
def test_a_target_by_any_of_its_names(two, name):
    result = two.audit("check", "-p", "b", name)
    assert result.code == 0 and "of 1 link" in result.out, result


def test_a_phony_stands_for_what_it_needs(two):
    assert two.audit("check", "-p", "b", "both").code == 1


def test_unknown_target(two):
    result = two.audit("check", "-p", "b", "goood")
    assert result.code == 2 and "b has no target 'goood'; did you mean 'good'?" in result.err, result
    result = two.audit("check", "-p", "b", "main.o")
    assert result.code == 2 and "the target 'main.o' links nothing" in result.err, result


def test_a_static_library_is_checked_when_it_is_named(two):
    result = two.audit("check", "-p", "b", "lib/libstate.a")
    assert result.code == 1 and "state is defined twice" in result.out, result


def test_what_several_links_have_is_told_once(lab):
    ninja(lab, TWO_PROGRAMS.replace("bin/good: link main.o state.o", "bin/good: link main.o state.o again.o"), SOURCES)
    result = lab.audit("check", "-p", "b")
    assert result.out.count("state is defined twice") == 1 and "link      b/bin/bad, b/bin/good\n" in result.out, result
    document = lab.audit("check", "-p", "b", "--format", "json").json()
    assert document["findings"][0]["links"] == ["b/bin/bad", "b/bin/good"]
    assert [link["output"] for link in document["links"]] == ["b/bin/bad", "b/bin/good"]
    assert len(document["duplicates"]) == 1 and sum(i["path"] == "b/main.o" for i in document["inputs"]) == 1


def test_configurations_of_one_build_folder(lab):
    """Of CMake's Ninja Multi-Config the one that is built, which is not that of build.ninja, or the one that is named."""
    need("cmake", "ninja")
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.17)\nproject(p C)\nadd_executable(app a.c b.c)\n"
                                "target_compile_definitions(app PRIVATE $<$<CONFIG:Release>:TWICE>)\n")
    lab.write("a.c", "int level;\nint main(void) { return level; }\n")
    lab.write("b.c", "#ifdef TWICE\nint level;\n#endif\nint other;\n")
    lab.sh("cmake -G 'Ninja Multi-Config' -B b . && cmake --build b --config Release", check=False)
    result = lab.audit("check", "-p", "b")
    assert result.code == 1 and "level is defined twice" in result.out and "of the configurations of b, Release is audited\n" in result.out, result
    lab.sh("cmake --build b --config Debug")
    result = lab.audit("check", "-p", "b")
    assert result.code == 0 and "Debug is audited; Release is built too: elfaudit check -p b all:Release" in result.out, result
    for name in ("all:Release", "app:Release", "Release/app"):
        assert lab.audit("check", "-p", "b", name).code == 1, name
    assert "elfaudit check -p b all:Release" in lab.audit("check", "-p", "b", "--config", "Release").err
    lab.sh("rm -r b/CMakeFiles/app.dir/Release")
    result = lab.audit("check", "-p", "b", "all:Release")
    assert result.code == 2 and "run ninja -C b -f build-Release.ninja first" in result.out, result
    lab.sh("ninja -C b -f build-Release.ninja", check=False)
    assert lab.audit("check", "-p", "b", "all:Release").code == 1


def test_the_links_are_those_that_are_made_by_default(lab):
    ninja(lab, TWO_PROGRAMS + "default good\n", SOURCES)
    assert lab.audit("check", "-p", "b").code == 0
    lab.sh("ninja -C b again.o")
    assert lab.audit("check", "-p", "b", "bad").code == 1


def test_undefined_symbols_are_judged_for_each_link(lab):
    ninja(lab, "build main.o: cxx ../main.cpp\nbuild app: link main.o\n", {"main.cpp": "int f(); int main() { return f(); }"})
    result = lab.audit("check", "-p", "b")
    assert result.code == 1 and "f() is not defined by any input" in result.out, result


def test_response_files_and_escapes(lab):
    text = "build my$ main.o: cxx ../main.cpp\nbuild state.o: cxx ../state.cpp\nbuild again.o: cxx ../again.cpp\n"
    ninja(lab, text + "build app: link_rsp my$ main.o state.o again.o\n", SOURCES)
    (lab.path / "b/app.rsp").unlink(missing_ok=True)
    result = lab.audit("check", "-p", "b")
    assert result.code == 1 and "kept      b/state.o" in result.out and "rejected  b/again.o" in result.out, result


def test_what_is_not_built_yet_is_said_once(lab):
    ninja(lab, TWO_PROGRAMS, SOURCES, build=False)
    result = lab.audit("check", "-p", "b", "bad")
    assert result.code == 2 and "1 error: " in result.out, result
    assert "b/bin/bad: 3 of its inputs are not built yet (b/main.o, b/state.o, b/again.o): run ninja -C b first, or fix the step that failed" in result.out


def test_a_device_link_comes_along(lab):
    """What is linked into an object first, as nvcc -dlink does: here `g++ -r`."""
    ninja(
        lab,
        "rule join\n  command = g++ -r $in -o $out\nbuild main.o: cxx ../main.cpp\nbuild state.o: cxx ../state.cpp\n"
        "build again.o: cxx ../again.cpp\nbuild both.o: join state.o again.o\nbuild app: link main.o both.o\n",
        SOURCES,
    )
    result = lab.audit("check", "-p", "b", "app")
    assert "link      b/both.o\n" in result.out and "state is defined twice" in result.out, result


JOINED = (
    "rule join\n  command = g++ -r $in -o $out\nrule so\n  command = g++ -shared $in -o $out\n"
    "build main.o: cxx ../main.cpp\nbuild state.o: cxx ../state.cpp\nbuild again.o: cxx ../again.cpp\n"
    "build both.o: join state.o again.o\n"
)


@pytest.mark.parametrize("rest", ["build app: link main.o both.o\n", "build libs.so: so both.o\nbuild app: link main.o libs.so\n"])
def test_what_a_finding_keeps_from_being_made(lab, rest):
    """Running ninja again would not make it: it waits for the finding to be mended, and there is nothing to read."""
    ninja(lab, JOINED + rest, SOURCES)
    assert not (lab.path / "b/both.o").exists()
    result = lab.audit("check", "-p", "b", "--format", "json")
    report = result.json()
    assert [f["rule"] for f in report["findings"]] == ["duplicate-definition"] and report["complete"], result
    assert result.code == 1
    text = lab.audit("check", "-p", "b").out
    assert "not built, because of the finding above in the link of b/both.o" in text and "ninja -C" not in text


def test_what_is_not_made_for_no_finding_is_unread(lab):
    ninja(lab, JOINED + "build app: link main.o both.o\n", {**SOURCES, "again.cpp": "int other = 2;"}, build=False)
    lab.sh("ninja -C b main.o state.o again.o")
    result = lab.audit("check", "-p", "b")
    assert result.code == 2 and "1 of its inputs is not built yet (b/both.o): run ninja -C b first" in result.out, result
    (lab.path / "b/main.o").unlink()  # that one is missing for another reason than the finding
    lab.write("again.cpp", "int state = 2;")
    lab.sh("ninja -C b state.o again.o")
    result = lab.audit("check", "-p", "b")
    assert result.code == 2 and "state is defined twice" in result.out and "run ninja -C b first" in result.out, result


def test_no_program_of_the_build_is_started(lab):
    """A compiler beside the build: its words are read, and it is not run; --ask is the user's word for it."""
    lab.write("b/g++", "#!/bin/sh\ntouch ran\nexec g++ \"$@\"\n")
    (lab.path / "b/g++").chmod(0o755)
    ninja(lab, f"build main.o: cxx ../main.cpp\nbuild app: link main.o\n", {"main.cpp": "int main() {}"})
    lab.write("b/build.ninja", (RULES + "build app: link main.o\n").replace("cxx = g++", f"cxx = {lab.path}/b/g++"))
    result = lab.audit("check", "-p", "b")
    assert "it is not in PATH, and no --ask names it" in result.out and not (lab.path / "b/ran").exists(), result
    result = lab.audit("check", "-p", "b", "--ask", "b/g++")
    assert result.code == 0 and "could not be asked" not in result.out and (lab.path / "b/ran").exists(), result


def test_a_driver_is_asked_once_for_links_that_differ_in_their_objects(two):
    """good and bad are one question, and stripped is another; what is said of each is as if all were asked."""
    two.write("b/g++", '#!/bin/sh\necho "$@" >> ran\nexec g++ "$@"\n')
    (two.path / "b/g++").chmod(0o755)
    stripped = "rule strip\n  command = $cxx -s $in -o $out\nbuild bin/stripped: strip main.o state.o\n"
    two.write("b/build.ninja", (RULES + TWO_PROGRAMS + stripped).replace("cxx = g++", f"cxx = {two.path}/b/g++"))
    report = two.audit("check", "-p", "b", "--ask", "b/g++", "--format", "json").json()
    assert [f["links"] for f in report["findings"]] == [["b/bin/bad"]] and report["notes"] == [], report
    assert report["duplicates"] == [{"symbol": "state", "first": "b/state.o", "other": "b/again.o"}]
    assert len((two.path / "b/ran").read_text().splitlines()) == 2


def test_a_policy_holds_for_the_build(two):
    lab = two
    assert lab.audit("check", "-p", "b", "--write-baseline", "base.json").code == 0
    result = lab.audit("check", "-p", "b", "--baseline", "base.json")
    assert result.code == 0 and "1 in the baseline" in result.out, result


@pytest.mark.parametrize("format", ["sarif", "github", "junit", "html"])
def test_every_format_names_the_link(two, format):
    assert "b/bin/bad" in two.audit("check", "-p", "b", "--format", format).out


@pytest.mark.parametrize(
    "text, says",
    [
        ("build a: phony b\nbuild b: phony a\n", "has no command that links"),
        ("include build.ninja\n", "its includes nest more than 16 deep"),
        ("rule x\n command = $command\nbuild a: x b\n", "has no command that links"),
        ("{}", "not understood at byte"),
    ],
)
def test_hostile_files(lab, text, says):
    lab.write("b/build.ninja", text)
    result = lab.audit("check", "-p", "b")
    assert result.code == 2 and says in result.err, result


@pytest.mark.parametrize("folder", ["build/temp.linux-x86_64-cpython-311", "build", "out/x/release"])
def test_a_build_below_the_folder_is_named(lab, folder):
    """setuptools with torch: build/temp.*; and the folder of the sources in place of the build's."""
    ninja(lab, TWO_PROGRAMS, SOURCES)
    lab.sh(f"mkdir -p {folder} && cp b/build.ninja {folder} && rm -r b && ln -s / root")
    top = folder.partition("/")[0] if "/" in folder else "."
    result = lab.audit("check", "-p", top)
    assert result.code == 2 and f"-p {top}: this is not a build folder, but it contains one: -p {folder}\n" in result.err, result


def test_a_folder_of_objects_is_not_said_to_be_clean(two):
    """The first thing that anyone types: it links nothing, and says so."""
    result = two.audit("check", "b")
    assert result.code == 2 and "error: b/bin/bad: is missing: its link failed or was not run: elfaudit check -p b audits it" in result.out, result
    two.sh("cp b/main.o b/bin/bad; touch -d 2001-01-01 b/bin/good")
    assert "error: b/bin/good: is older than what it is linked from: its link failed or was not run" in two.audit("check", "b").out
    two.sh("touch b/bin/good")
    result = two.audit("check", "b")
    assert result.code == 0 and result.out.splitlines()[-1].startswith("clean: 6 files in 1 folder (4 objects not linked together)"), result
    assert "note: b: its 4 objects were not linked together: elfaudit check -p b audits the links that the build makes" in result.out, result
    assert "elfaudit check -p b audits" in two.audit("check", ".").out
    two.sh("rm b/build.ninja")
    result = two.audit("check", "b")
    assert "name them in link order, give the link command after --, or a build folder with -p" in result.out, result
    assert two.audit("check", "b", "--format", "json").json()["notes"][0].startswith("b: its 4 objects were not linked together")
    two.sh("mkdir one && cp b/main.o one")
    assert "not linked together" not in two.audit("check", "one").out  # nothing that it could be linked with


def test_wrong_use(lab):
    lab.write("empty/x", "")
    result = lab.audit("check", "-p", "empty")
    assert result.code == 2 and "neither build.ninja nor CMake's Makefiles are there" in result.err, result
    assert lab.audit("check", "-p", "empty", "--", "g++", "a.o").code == 2
    assert lab.audit("check", "--ask", "g++", "a.o").code == 2


# ---- CMake


PROJECT = """cmake_minimum_required(VERSION 3.22)
project(p LANGUAGES CXX)
add_library(core STATIC core.cpp)
add_library(shared SHARED shared.cpp)
add_subdirectory(sub)
add_executable(app main.cpp)
target_link_libraries(app core shared)
add_executable(extra EXCLUDE_FROM_ALL main.cpp twice.cpp)
target_link_libraries(extra core shared)
"""


@pytest.fixture(params=["Ninja", "Unix Makefiles"])
def cmake(lab, request):
    need("cmake", "make")
    lab.write("CMakeLists.txt", PROJECT)
    lab.write("core.cpp", "int core() { return 1; }")
    lab.write("shared.cpp", "int shared() { return 1; }")
    lab.write("main.cpp", "int core(); int shared(); int main() { return core() + shared(); }")
    lab.write("twice.cpp", "int core() { return 2; }  int other() { return 3; }")
    lab.write("sub/CMakeLists.txt", "add_executable(bad a.cpp b.cpp)\nset_target_properties(bad PROPERTIES OUTPUT_NAME worse)\n")
    lab.write("sub/a.cpp", "int state = 1; int main() {}")
    lab.write("sub/b.cpp", "int state = 2;")
    lab.write("b/.cmake/api/v1/query/codemodel-v2", "")
    lab.sh(f'cmake -S . -B b -G "{request.param}" -DCMAKE_BUILD_TYPE=Debug')
    lab.sh("cmake --build b -- -k || cmake --build b -- -k 0", check=False)
    return lab


@pytest.mark.deep
def test_cmake_targets(cmake):
    result = cmake.audit("check", "-p", "b")
    assert result.code == 1 and result.out.count("is defined twice") == 1, result
    assert "link      b/sub/worse\n" in result.out and "of 3 links" in result.out, result  # extra is not made by default
    assert "sub/b.cpp:1" in result.out  # debug info is found whatever folder the link runs in
    for name in ["bad", "worse", "sub/worse"]:
        assert cmake.audit("check", "-p", "b", name).code == 1, name
    assert cmake.audit("check", "-p", "b", "app", "shared").code == 0


def test_cmake_target_that_is_not_built(cmake):
    result = cmake.audit("check", "-p", "b", "extra")
    assert result.code == 2 and "2 of its inputs are not built yet" in result.out, result


def test_cmake_static_library(cmake):
    result = cmake.audit("check", "-p", "b", "core")
    assert result.code == 0 and "1 object in 1 input of 1 link" in result.out, result


def test_cmake_response_files(lab):
    need("cmake", "make")
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES CXX)\n"
              "set(CMAKE_CXX_USE_RESPONSE_FILE_FOR_OBJECTS ON)\nset(CMAKE_NINJA_FORCE_RESPONSE_FILE ON)\nadd_executable(app a.cpp b.cpp)\n")
    lab.write("a.cpp", "int state = 1; int main() {}")
    lab.write("b.cpp", "int state = 2;")
    for generator in ["Ninja", "Unix Makefiles"]:
        lab.sh(f'rm -rf b; cmake -S . -B b -G "{generator}"; cmake --build b', check=False)
        result = lab.audit("check", "-p", "b", "app")
        assert result.code == 1 and "state is defined twice" in result.out, result


def test_what_may_be_started_is_no_key_of_the_configuration(two):
    two.write(".elfaudit.toml", 'ask = "b/g++"\n')
    result = two.audit("check", "-p", "b")
    assert result.code == 2 and "unknown key 'ask'" in result.err, result


def test_places_known_by_the_sources_are_seen_from_here(two):
    """No debug info: the compile command of build.ninja, whose folder is another one, leads to the source."""
    result = two.audit("check", "-p", "b", "bad")
    assert "  state.cpp:1 " in result.out and "b/state.cpp" not in result.out and "the header" not in result.out, result
