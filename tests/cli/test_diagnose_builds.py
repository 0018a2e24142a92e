"""diagnose against check: each error of a log has the finding that `check` has for the link that failed, and the errors of that
link that the log lacks are told as well. The projects and the ways to build them are in diagnose_builds.py."""

import dataclasses
import shutil

import pytest

import diagnose_builds
from diagnose_builds import CASES, DEVICE_CASES, LINKERS, MARKS, WAYS, Settings, can_build, generate, trial
from elfaudit_test import Lab, campaign, campaign_seed, need

need("g++", "ar", "make", "ninja")

SEEDS = campaign(12)
SHOWN = 5  # disagreements


def agree(lab, way, case, settings=Settings()):
    if "cmake" in way:
        need("cmake")
    need(LINKERS[settings.linker], *(["clang++"] if settings.clang else []))
    try:
        wanted, wrong = trial(lab, way, case, settings)
    except diagnose_builds.Linked:
        pytest.skip(f"no error of {settings.linker}")
    assert any(finding["rule"] == case.rule for finding in wanted), f"check has no {case.rule}: {wanted}"
    assert not wrong, "\n".join(["diagnose differs from check", *wrong[:SHOWN]])


@pytest.mark.parametrize("way, title", [
    ("stderr alone", "variable in a header"), ("stderr alone", "implementation in two files"), ("stderr alone", "object that is not linked"),
    ("sh -x", "libraries in the wrong order"), ("make", "std::string of two ABIs"), ("make -C", "key function"), ("silent make", "static in another file"),
    ("ninja", "hidden in a shared object"), ("ninja in its folder", "function in a header"), ("cmake, make", "template without an instantiation"),
])
def test_a_build(lab, way, title):
    agree(lab, way, CASES[title])


@pytest.mark.deep
@pytest.mark.parametrize("folder", ["logs", "build/logs"])
def test_a_log_in_a_folder_of_its_own(lab, tmp_path_factory, folder):
    need("cmake")
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nadd_executable(app m.c)\n")
    lab.write("m.c", "int gone(void);\nint main(void) { return gone(); }\n")
    lab.write(f"{folder}/make.log", "")
    lab.sh(f"cmake -G 'Unix Makefiles' -S . -B build > /dev/null && ! cmake --build build > {folder}/make.log 2>&1")
    log = lab.path / folder / "make.log"
    lab.path = tmp_path_factory.mktemp("elsewhere")
    result = lab.audit("diagnose", log)
    assert "error: gone is not defined by any input [undefined-symbol]" in result.out, result


@pytest.mark.nightly
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("title", CASES)
def test_every_failure(lab, title, linker):
    """By two ways each: one whose log has the command, and one whose log has only what the linker said."""
    settings = Settings(linker)
    for way in ("sh -x", "stderr alone"):
        folder = lab.path / way.replace(" ", "_")
        folder.mkdir()
        agree(Lab(folder), way, CASES[title], settings)


@pytest.mark.deep
@pytest.mark.parametrize("title", ["archive that is not linked", *(pytest.param(title, marks=pytest.mark.nightly) for title in ["variable in a header", "object that is not linked"])])
@pytest.mark.parametrize("way", WAYS)
def test_every_way(lab, way, title):
    if not can_build(way, CASES[title], Settings()):
        pytest.skip("this way can't express it")
    agree(lab, way, CASES[title])


@pytest.mark.deep
@pytest.mark.parametrize("marks", MARKS)
def test_logs_of_a_service(lab, marks):
    agree(lab, "sh -x", CASES["variable in a header"], Settings(marks=marks))


@pytest.mark.nightly
@pytest.mark.parametrize("title", CASES)
@pytest.mark.parametrize("way", WAYS)
def test_every_failure_by_every_way(lab, way, title):
    if not can_build(way, CASES[title], Settings()):
        pytest.skip("this way can't express it")
    agree(lab, way, CASES[title])


@pytest.mark.deep
@pytest.mark.parametrize("driver", ["", "nvcc -arch=sm_80 -dlink"])
@pytest.mark.parametrize("way", ["stderr alone", "sh -x", "ninja"])
@pytest.mark.parametrize("title", DEVICE_CASES)
def test_device_code(lab, title, way, driver):
    need("nvcc")
    agree(lab, way, dataclasses.replace(DEVICE_CASES[title], driver=driver))


@pytest.mark.deep
def test_random_builds(tmp_path):
    wrong = []
    for seed in range(campaign_seed(0), campaign_seed(0) + SEEDS):
        choice = generate(seed)
        if not shutil.which("clang++") and choice.settings.clang or not shutil.which(LINKERS[choice.settings.linker]):
            continue
        (tmp_path / str(seed)).mkdir()
        try:
            found, differences = trial(Lab(tmp_path / str(seed)), choice.way, choice.case, choice.settings)
        except diagnose_builds.Linked:
            continue
        if differences and any(finding["rule"] == choice.case.rule for finding in found):
            wrong.append("\n  ".join([f"seed {seed}: {choice.way}, {choice.title}, {choice.settings}", *differences[:SHOWN]]))
    assert not wrong, f"{len(wrong)} of {SEEDS} differ\n" + "\n".join(wrong[:SHOWN])


def test_a_seed_always_gives_the_same_build():
    assert [generate(seed) for seed in range(40)] == [generate(seed) for seed in range(40)]


def test_the_seeds_have_every_kind():
    chosen = [generate(seed) for seed in range(1500)]
    assert {choice.way for choice in chosen} == set(WAYS)
    assert {title for choice in chosen for title in choice.title.split(" + ")} == set(CASES)
    assert {choice.settings.linker for choice in chosen} == set(LINKERS)
    assert any(".c\n" in choice.case.sources for choice in chosen) and any("src/core" in choice.case.link for choice in chosen)


def test_a_difference_is_seen(lab, monkeypatch):
    """A diagnosis without findings must be caught."""
    monkeypatch.setattr(diagnose_builds, "findings_in", lambda document: [])
    _, wrong = trial(lab, "sh -x", CASES["two definitions"], Settings())
    assert wrong == ["no finding duplicate-definition state, which check has"]
