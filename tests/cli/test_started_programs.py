"""Programs that a stranger's tree names are not started: by a repository's configuration, by the commands of a build, and
by what a driver would run for them. A driver that does not answer is ended."""

import os
import shlex

import pytest

from elfaudit_test import ENVIRONMENT, finished, need

need("gcc", "g++", "git")

PROGRAM = os.environ.get("ELFAUDIT", "")

TWICE = {"inc/state.h": "int state = 3;\n", "a.c": '#include "inc/state.h"\n', "b.c": '#include "inc/state.h"\n'}
IDENTITY = "-c user.name=a -c user.email=a@example.org"


@pytest.fixture
def trap(lab):
    """A program that leaves a file behind."""
    lab.write("trap", f"#!/bin/sh\ntouch '{lab.path}/ran'\nexit 1\n")
    lab.sh("chmod +x trap")
    return lab.path / "trap"


def has_run(lab):
    return (lab.path / "ran").exists()


# --- git, which --fix asks whether a file can be had back


@pytest.fixture
def project(lab, trap):
    """A repository at p/ in which everything is committed, and objects that define `state` twice."""
    for name, text in TWICE.items():
        lab.write(f"p/{name}", text)
    lab.sh(f"cd p; printf '*.o\\n*.d\\n' > .gitignore; git init -q .; git add .; git {IDENTITY} commit -qm x; gcc -MD -c a.c b.c")
    return lab


def fix(lab, folder="p"):
    return lab.sh(f"cd {folder}; {shlex.quote(PROGRAM)} check --fix a.o b.o", check=False)


def is_edited(lab, file="p/inc/state.h"):
    return (lab.path / file).read_text() == "extern int state;\n"


# Each changes p/.git/config so that git would run the trap.
CONFIGURED = {
    "a filter": "echo '* filter=x' > .git/info/attributes; git config filter.x.clean {trap}; git config filter.x.required true; touch inc/state.h",
    "a filter that a file of the tree asks for": "echo '* filter=x' > inc/.gitattributes; git config filter.x.clean {trap}; touch inc/state.h",
    "a filter that is a process": "echo '* filter=x' > inc/.gitattributes; git config filter.x.process {trap}; touch inc/state.h",
    "a monitor of files": "git config core.fsmonitor {trap}",
    "hooks": "mkdir h; cp {trap} h/post-index-change; git config core.hooksPath h; touch inc/state.h",
    "an included configuration": "printf '[core]\\n\\tfsmonitor = {trap}\\n' > evil; git config include.path ../evil",
    "objects that are fetched when they are needed": "git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true;"
    " git config remote.origin.url .; git config remote.origin.uploadpack {trap}; rm .git/index; git read-tree --empty; rm -f .git/objects/$(git rev-parse HEAD^{{tree}} | sed 's,^..,&/,')",
}


@pytest.mark.parametrize("settings", CONFIGURED.values(), ids=CONFIGURED)
def test_the_configuration_of_a_repository(project, trap, settings):
    project.sh(f"cd p; {settings.format(trap=trap)}; rm -f ../ran", check=False)
    result = fix(project)
    assert not has_run(project), result
    assert is_edited(project) or "not fixed: state: inc/state.h" in result.err, result


def test_a_folder_that_looks_like_a_repository(project, trap):
    """A pull request can have one; git takes the nearest for that of the file."""
    project.sh(f"cd p; cp -r .git/objects .git/refs .git/HEAD inc; printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n[filter \"x\"]\\n\\tclean = {trap}\\n' > inc/config;"
               f" echo '* filter=x' > inc/.gitattributes; cd inc; git --git-dir . --work-tree . add state.h; cd ..; git add -f .; git {IDENTITY} commit -qm y; touch inc/state.h; rm -f ../ran")
    result = fix(project)
    assert is_edited(project) and not has_run(project), result
    project.sh("cd p; git checkout -q .; echo >> inc/state.h; gcc -MD -c a.c b.c; rm -f ../ran")
    result = fix(project)
    assert "inc/state.h has uncommitted changes" in result.err and not has_run(project), result


@pytest.mark.parametrize("how", ["git init -q --object-format=sha256 .", "git init -q --separate-git-dir ../elsewhere .", "git init -q -b topic/x ."])
def test_every_layout_of_a_repository(lab, trap, how):
    for name, text in TWICE.items():
        lab.write(f"p/{name}", text)
    lab.sh(f"cd p; {how}; git add .; git {IDENTITY} commit -qm x; git pack-refs --all; git config filter.x.clean {trap}; gcc -MD -c a.c b.c")
    result = fix(lab)
    assert is_edited(lab), result
    lab.sh("cd p; gcc -MD -c a.c b.c; git checkout -q .; gcc -MD -c a.c b.c; echo >> inc/state.h; gcc -MD -c a.c b.c")
    assert "has uncommitted changes" in fix(lab).err


def test_a_submodule_and_a_further_work_tree(project):
    project.sh("cd p; git worktree add -q ../w; cd ../w; gcc -MD -c a.c b.c; cd ..; git init -q top; cd top; git -c protocol.file.allow=always submodule -q add ../p sub; cd sub; gcc -MD -c a.c b.c")
    for folder in ("w", "top/sub"):
        result = fix(project, folder)
        assert is_edited(project, f"{folder}/inc/state.h"), result


def test_nothing_is_left_of_the_question(project):
    project.sh("mkdir tmp bin")
    for body, code in (("exit 1", 1), ("kill -TERM $PPID; sleep 1", -15)):
        project.write("bin/git", f"#!/bin/sh\ntouch ran\n{body}\n")
        project.sh("chmod +x bin/git")
        result = finished([PROGRAM, "check", "--fix", "a.o", "b.o"], project.path / "p", environment={**ENVIRONMENT, "PATH": f"{project.path}/bin:{ENVIRONMENT['PATH']}", "TMPDIR": f"{project.path}/tmp"})
        assert result.code == code and os.listdir(project.path / "tmp") == [], result


# --- the commands of a build


# {here} has a trap under every name that a driver might look for.
COMMANDS = {
    "nvcc": ["nvcc -ccbin {here}/g++ a.o b.o -o x", "nvcc --compiler-bindir={here} a.o b.o -o x", "nvcc -optf {here}/options a.o b.o -o x",
             "nvcc --options-file={here}/options a.o b.o -o x", "nvcc -optf {here}/nested a.o b.o -o x", "NVCC_APPEND_FLAGS='-ccbin {here}/g++' nvcc a.o b.o -o x",
             "nvcc -Xcompiler -B{here} a.o b.o -o x"],
    "g++": ["g++ -B{here} a.o b.o -o x", "g++ -wrapper {here}/g++ a.o b.o -o x", "g++ @{here}/wrapper a.o b.o -o x", "COMPILER_PATH={here} g++ a.o b.o -o x",
            "g++ -specs={here}/specs a.o b.o -o x", "g++ -fuse-ld=lld -B{here} a.o b.o -o x", "{here}/g++ a.o b.o -o x"],
    "clang++": ["clang++ --ld-path={here}/ld a.o b.o -o x", "clang++ -B{here} --offload-arch=native a.o b.o -o x", "clang++ --prefix={here} --offload-arch=native --hip-link a.o b.o -o x",
                "clang++ --nvptx-arch-tool={here}/nvptx-arch --offload-arch=native -x cuda k.cu a.o b.o -o x", "clang++ -B{here} -fopenmp --offload-arch=native k.cpp a.o b.o -o x",
                "clang++ -B{here} -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa a.o b.o -o x", "clang++ -ccc-install-dir {here} --offload-arch=native -x cuda k.cu a.o b.o -o x",
                "clang++ --config {here}/native.cfg a.o b.o -o x", "clang++ --config={here}/native.cfg a.o b.o -o x", "clang++ @{here}/native a.o b.o -o x"],
}  # fmt: skip
NAMES = ["g++", "gcc", "ld", "ld.lld", "collect2", "cc1plus", "amdgpu-arch", "nvptx-arch", "offload-arch", "clang-offload-bundler", "nvlink", "cudafe++", "clang++"]


@pytest.mark.parametrize("driver", COMMANDS)
def test_what_a_command_of_a_build_would_start(lab, trap, driver):
    need(driver)
    here = lab.path / "traps"
    here.mkdir()
    for name in NAMES:
        (here / name).write_bytes(trap.read_bytes())
        (here / name).chmod(0o755)
    lab.write("traps/options", f"-ccbin {here}/g++\n")
    lab.write("traps/nested", f"-optf {here}/options\n")
    lab.write("traps/wrapper", f"-wrapper {here}/g++\n")
    lab.write("traps/specs", f"*link:\n%:include({here}/x)\n")
    lab.write("traps/native", f"-B{here} --offload-arch=native -x cuda k.cu\n")
    lab.write("traps/native.cfg", f"-B{here} --offload-arch=native --nvptx-arch-tool={here}/nvptx-arch -x cuda k.cu\n")
    for name in ("k.cu", "k.cpp"):
        lab.write(name, "int k;\n")
    lab.cc("a.o", "int state = 1; int main() {}")
    lab.cc("b.o", "int state = 2;")
    for command in COMMANDS[driver]:
        lab.write("build.ninja", f"rule link\n  command = {command.format(here=here)}\nbuild x: link a.o b.o\n")
        result = lab.audit("check", "-p", ".")
        assert not has_run(lab), f"{command}\n{result}"


@pytest.mark.parametrize("words", ["g++ -time={file}", "clang++ -gen-reproducer -fcrash-diagnostics-dir={here}/out k.cpp", "nvcc -time {file}", "nvcc --time={file}"])
@pytest.mark.parametrize("way", ["-p", "--"])
def test_what_a_driver_would_write(lab, words, way):
    """Even where it is only asked what it would run."""
    need(words.split()[0])
    lab.write("k.cpp", "int k;\n")
    lab.write("out/file", "precious")
    lab.cc("a.o", "int state = 1; int main() {}")
    command = words.format(here=lab.path, file=f"{lab.path}/out/file") + " a.o -o x"
    lab.write("build.ninja", f"rule link\n  command = {command}\nbuild x: link a.o\n")
    result = lab.audit("check", *(["-p", "."] if way == "-p" else ["--", *command.split()]))
    assert os.listdir(lab.path / "out") == ["file"] and (lab.path / "out/file").read_text() == "precious", result
    assert "could not be asked" not in result.out, result


def test_an_option_file_of_nvcc_that_names_no_program(lab):
    """What nvcc links is still known."""
    need("nvcc")
    lab.cc("a.o", "int main() {}")
    lab.write("options", "a.o\n-lcudart_static -Xlinker\n--no-undefined\n")
    lab.write("build.ninja", "rule link\n  command = nvcc -optf options -o x\nbuild x: link a.o\n")
    result = lab.audit("check", "-p", ".")
    assert result.code == 0 and "could not be asked" not in result.out, result


# --- programs that do not answer


SLOW = pytest.mark.nightly  # each takes as long as the limit


@pytest.mark.parametrize("body, what", [
    ("yes ' /usr/bin/ld -o x a.o' >&2", "the output of a program"), ("yes", "the output of a program"), ("yes >&2 & wait", "the output of a program"),
    pytest.param("sleep 987654 & wait", "the run time of a program", marks=pytest.mark.deep), pytest.param("exec >&- 2>&-; sleep 1000", "the run time of a program", marks=SLOW),
    pytest.param("sleep 1000 &", "the run time of a program", marks=SLOW), pytest.param("while :; do :; done", "the run time of a program", marks=SLOW)])  # fmt: skip
def test_a_driver_that_does_not_end(lab, body, what):
    lab.cc("a.o", "int main() {}")
    lab.write("g++", f"#!/bin/bash\n{body}\n")
    lab.sh("chmod +x g++")
    result = lab.audit("check", "--", "./g++", "a.o", "-o", "x")
    assert result.code == 2 and f"./g++: not all was read: it is beyond the limit on {what}" in result.out + result.err, result
    assert lab.sh("pgrep -fx 'sleep 987654'", check=False).out == "", "what it has started is ended, too"
