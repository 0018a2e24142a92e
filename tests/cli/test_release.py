"""What a release is made with: the Debian packages, the scripts that build and check packages, the demo, the action's wheel
and the hook of pre-commit."""

import os
import pathlib
import re
import shlex
import zipfile

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++", "tar")

PROGRAM = pathlib.Path(os.environ.get("ELFAUDIT", ""))
BUILD = PROGRAM.parent
VERSION = re.search(r"project\(elfaudit VERSION ([0-9.]+)", (SOURCE_DIR / "CMakeLists.txt").read_text())[1]
SETUP = shlex.quote(f"{SOURCE_DIR}/scripts/setup")
CMAKE_FILES = ["elfauditAudit.cmake", "elfauditConfig.cmake", "elfauditConfigVersion.cmake"]


def script(lab, name, *words):
    return lab.sh(shlex.join([str(SOURCE_DIR / "scripts" / name), *map(str, words)]), check=False)


def test_the_bazel_module_has_this_version():
    assert f'version = "{VERSION}"' in (SOURCE_DIR / "integrations" / "bazel" / "MODULE.bazel").read_text()


# --- Debian packages of this build.


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """(name, file) of each Debian package, made once."""
    need("cpack", "dpkg-deb", "dpkg-shlibdeps")
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("packages"))
    # With Ninja, cpack packs what is built and builds nothing first.
    lab.sh(f"SOURCE_DATE_EPOCH=1700000000 cpack -G DEB --config {shlex.quote(str(BUILD))}/CPackConfig.cmake -B {lab.path}/out")
    return {file.name.split("_")[0]: file for file in (lab.path / "out").glob("*.deb")}


def files_of(lab, package):
    lines = lab.sh(f"dpkg-deb -c {package}").out.splitlines()
    assert all(line.split()[1] == "root/root" for line in lines), lines
    return sorted(line.split()[5][1:] for line in lines if not line.startswith("d"))


def field(lab, package, name):
    return lab.sh(f"dpkg-deb -f {package} {name}").out.strip()


@pytest.mark.deep
def test_files_of_the_package(lab, packages):
    files = files_of(lab, packages["elfaudit"])
    cmake = [file for file in files if "/cmake/elfaudit/" in file]
    assert [pathlib.PurePath(file).name for file in cmake] == CMAKE_FILES
    assert [file for file in files if file not in cmake] == [
        "/usr/bin/elfaudit",
        "/usr/share/bash-completion/completions/elfaudit",
        "/usr/share/doc/elfaudit/changelog.gz",
        "/usr/share/doc/elfaudit/copyright",
        "/usr/share/fish/vendor_completions.d/elfaudit.fish",
        "/usr/share/lintian/overrides/elfaudit",
        "/usr/share/man/man1/elfaudit.1.gz",
        "/usr/share/zsh/vendor-completions/_elfaudit",
    ]


@pytest.mark.deep
def test_files_of_the_library(lab, packages):
    files = files_of(lab, packages["libelfaudit-dev"])
    headers = {file.name for file in (SOURCE_DIR / "include" / "elfaudit").glob("*.hpp")} | {"version.hpp"}
    assert {pathlib.PurePath(file).name for file in files if file.startswith("/usr/include/elfaudit/")} == headers
    names = {pathlib.PurePath(file).name for file in files if "/include/" not in file}
    assert {"libelfaudit.a", "elfaudit.pc", "elfauditTargets.cmake", "copyright", "changelog.gz"} <= names and "elfaudit" not in names


def test_what_the_packages_depend_on(lab, packages):
    """libzip is loaded by its name: no tool sees that."""
    depends = field(lab, packages["elfaudit"], "Depends")
    assert "libc6 (>= " in depends and re.search(r"\blibzip\d", depends), depends
    assert f"elfaudit (= {VERSION})" in field(lab, packages["libelfaudit-dev"], "Depends")


def test_lintian_finds_no_error(lab, packages):
    need("lintian")
    for package in packages.values():
        lab.sh(f"lintian --allow-root --fail-on error {package}")


# --- The scripts.


def test_scripts_refuse_what_they_do_not_know(lab):
    lab.write("a.txt", "")
    for name, words, message in [
        ("package", ["rpm"], "'rpm' is not a kind of package"),
        ("check-release", [], "no artifact is named"),
        ("check-release", ["a.txt"], "a.txt is neither a wheel nor a .deb nor a .tar.gz"),
        ("check-release", ["absent.whl"], "absent.whl does not exist"),
        ("check-release", ["--on", "debian-10", "a.txt"], "'debian-10' is not one of debian-11 debian-12"),
        ("check-release", ["--on"], "'' is not one of"),
        ("check-release", ["--there"], "unknown option --there"),
        ("demo", ["a", "b"], "usage: scripts/demo"),
        ("demo", ["absent.whl"], "absent.whl does not exist"),
        ("demo", ["a.txt"], "a.txt is neither a wheel nor a .tar.gz"),
    ]:
        result = script(lab, name, *words)
        assert result.code == 2 and message in result.err, (name, words, result)


def test_scripts_are_sound_shell(lab):
    need("shellcheck")
    for name in ("package", "check-release", "demo", "setup"):
        # SC1090, SC1091: the sourced script is elsewhere; SC2034: who sources it uses the variable; SC2086: several words
        # are meant.
        lab.sh(f"shellcheck -x -e SC1090,SC1091,SC2034,SC2046,SC2086,SC2153,SC2154 {shlex.quote(f'{SOURCE_DIR}/scripts/{name}')}")


def archive(lab):
    (lab.path / "elfaudit-1" / "bin").mkdir(parents=True)
    (lab.path / "elfaudit-1" / "bin" / "elfaudit").symlink_to(PROGRAM)
    lab.sh("tar -chzf elfaudit.tar.gz elfaudit-1")
    return "elfaudit.tar.gz"


def wheel(lab):
    with zipfile.ZipFile(lab.path / "elfaudit-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as file:
        file.write(PROGRAM, "elfaudit-1.data/scripts/elfaudit")
    return "elfaudit-1-py3-none-any.whl"


@pytest.mark.deep
@pytest.mark.parametrize("release", [archive, wheel])
def test_the_demo_takes_a_program_that_is_built(lab, release):
    result = script(lab, "demo", release(lab))
    assert result.code == 0 and "nvshmemi_ibgda_device_state_d is defined twice" in result.out, result
    assert "building" not in result.err, result


def test_the_demo_says_that_there_is_no_program(lab):
    lab.sh("tar -czf empty.tar.gz --files-from /dev/null")
    result = script(lab, "demo", "empty.tar.gz")
    assert result.code == 1 and "empty.tar.gz has no elfaudit in it" in result.err, result


def test_a_program_that_finds_nothing_fails_the_check(lab):
    """Whatever it says of itself."""
    result = lab.sh(f". {SETUP}; run_example /bin/true", check=False)
    assert result.code == 1 and "not the finding that testdata/nvshmem-host is for: exit code 0, and no nvshmemi_" in result.err, result


# --- The workflow and the action.


def test_the_release_pins_its_actions():
    text = (SOURCE_DIR / ".github" / "workflows" / "release.yml").read_text()
    uses = re.findall(r"uses: (.*)", text)
    assert uses and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", use) for use in uses), uses


def test_what_the_release_checks_is_what_the_script_checks():
    workflow = (SOURCE_DIR / ".github" / "workflows" / "release.yml").read_text()
    [containers] = re.findall(r'system: \[(".*")\]', workflow)
    [systems] = re.findall(r"^systems=\((.*)\)$", (SOURCE_DIR / "scripts" / "check-release").read_text(), re.M)
    assert re.sub('[",]', "", containers).replace(":", "-") == systems


GH = """#!/bin/sh
case "$*" in
  *commits/v0.*) [ -n "$RELEASED" ] && echo "$RELEASED" ;;
  *commits/*) echo abc ;;
  "release download"*) touch "$RUNNER_TEMP/asked" && mkdir -p "$RUNNER_TEMP/elfaudit-wheel" && touch "$RUNNER_TEMP/elfaudit-wheel/e.whl" ;;
  "attestation verify"*) exit ${SIGNED:-0} ;;
esac
"""


def wheel_of_the_action(lab, **environment):
    """The result of the action's step that looks for a wheel, and its output."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which is not installed")
    steps = yaml.safe_load((SOURCE_DIR / "action.yml").read_text())["runs"]["steps"]
    [step] = [step for step in steps if step.get("id") == "wheel"]
    lab.write("step.sh", step["run"])
    lab.write("outputs", "")
    lab.write("bin/gh", GH)
    lab.sh("chmod +x bin/gh")
    settings = {"WHEEL": "", "REPOSITORY": "o/elfaudit", "REF": "v0", "RUNNER_TEMP": lab.path, "GITHUB_OUTPUT": lab.path / "outputs",
                "GITHUB_ACTION_PATH": SOURCE_DIR, **environment}  # fmt: skip
    words = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in settings.items())
    result = lab.sh(f"env {words} PATH=$PWD/bin:$PATH bash --noprofile --norc -eo pipefail step.sh", check=False)
    return result, (lab.path / "outputs").read_text()


def test_the_action_takes_the_wheel_of_its_release(lab):
    result, output = wheel_of_the_action(lab, RELEASED="abc")
    assert result.code == 0 and output == f"wheel={lab.path}/elfaudit-wheel/e.whl\n", result


def test_the_action_takes_the_wheel_that_it_is_given(lab):
    result, output = wheel_of_the_action(lab, WHEEL="my.whl", RELEASED="abc")
    assert result.code == 0 and output == "wheel=my.whl\n" and not (lab.path / "asked").exists(), result


@pytest.mark.parametrize("environment", [{"RELEASED": "other"}, {"RELEASED": ""}, {"RELEASED": "abc", "REPOSITORY": ""}])
def test_the_action_of_another_commit_is_built(lab, environment):
    result, output = wheel_of_the_action(lab, **environment)
    assert result.code == 0 and output == "wheel=\n", result


def test_the_action_takes_no_wheel_that_is_not_signed(lab):
    result, output = wheel_of_the_action(lab, RELEASED="abc", SIGNED="1")
    assert result.code != 0 and output == "", result


# --- pre-commit.


def test_the_hook_audits_a_build(lab):
    need("pre-commit", "git", "ninja")
    lab.sh(f"mkdir bin hooks && ln -s {shlex.quote(str(PROGRAM))} bin/elfaudit && cp {shlex.quote(str(SOURCE_DIR))}/.pre-commit-hooks.yaml hooks/")
    git = "git -c user.name=n -c user.email=n@example.com"
    lab.sh(f"cd hooks && git init -q && git add . && {git} commit -qm hooks")
    lab.write("user/a.c", "int state = 1;\n")
    lab.write("user/b.c", "int state = 2;\nint main(void) { return state; }\n")
    lab.write("user/build/build.ninja", "rule cc\n command = gcc -g -c $in -o $out\nrule link\n command = gcc $in -o $out\n"
              "build a.o: cc ../a.c\nbuild b.o: cc ../b.c\nbuild app: link a.o b.o\n")  # fmt: skip
    lab.sh("cd user && git init -q && git add . && ninja -C build a.o b.o")
    result = lab.sh("cd user && HOME=$PWD/../home PATH=$PWD/../bin:$PATH pre-commit try-repo ../hooks elfaudit --all-files", check=False)
    assert result.code == 1 and "state is defined twice" in result.out, result


# --- The docs.


def test_nothing_says_to_install_what_is_not_published():
    """Until there is a release, pip and apt know no elfaudit."""
    changes = (SOURCE_DIR / "CHANGELOG.md").read_text()
    if len(re.findall("^## ", changes, re.M)) > 1 or "(not yet released)" not in changes:
        pytest.skip("there is a release")
    pages = [*SOURCE_DIR.glob("*.md"), *SOURCE_DIR.glob("docs/**/*.md"), *SOURCE_DIR.glob("python/**/*.py")]
    told = [page.name for page in pages if re.search(r"(pip|apt|apt-get|pipx|uv tool) install (-\S+ )*elfaudit\b(?!_)", page.read_text())]
    assert told == []
