"""An audit of files has given up what it does not need before it reads the first one."""

import os
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, need, need_plain_program

need("gcc", "g++")

PROGRAM = os.environ.get("ELFAUDIT", "")

# What hostile bytes might make of the process that reads b.o.
TAKEN_OVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <netinet/in.h>
static void act(void) {
  int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
  char* words[] = {"touch", "ran", 0};
  pid_t child;
  if (real("outside/written", O_WRONLY | O_CREAT, 0666) < 0) write(2, "no write\n", 9);
  if (posix_spawn(&child, "/usr/bin/touch", 0, 0, words, 0) != 0) write(2, "no program\n", 11);
  else waitpid(child, 0, 0);
}
int open(const char* path, int flags, ...) {
  int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
  if (strcmp(path, "b.o") == 0) act();
  return real(path, flags, 0666);
}
"""


@pytest.fixture
def taken(lab):
    need_plain_program()
    lab.cc("a.o", "int state = 1;")
    lab.cc("b.o", "int state = 2;")
    lab.write("taken.c", TAKEN_OVER)
    lab.sh("gcc -shared -fPIC -w taken.c -o taken.so -ldl; mkdir outside reports")

    def run(*words):
        return subprocess.run([PROGRAM, *words], cwd=lab.path, env={**ENVIRONMENT, "LD_PRELOAD": f"{lab.path}/taken.so"}, capture_output=True, text=True)

    if "no program" not in run("list", "symbols", "b.o").stderr:
        pytest.skip("this kernel has no Landlock")
    return lab, run


@pytest.mark.parametrize("words", [("check",), ("check", "--format", "json=reports/r.json"), ("check", "--cache", "cache"), ("explain", "state"), ("list", "symbols"), ("index", "--output-dir", "reports"), ("check", "--write-baseline", "reports/base.json")])
def test_a_process_that_is_taken_over(taken, words):
    lab, run = taken
    result = run(*words, "a.o", "b.o")
    assert result.returncode in (0, 1) and "no write" in result.stderr and "no program" in result.stderr, result
    assert not (lab.path / "ran").exists() and not os.listdir(lab.path / "outside")
    assert run(*words, "--no-sandbox", "a.o", "b.o").returncode == result.returncode
    assert (lab.path / "ran").exists() and (lab.path / "outside" / "written").exists()


def test_what_is_asked_for_is_written(taken):
    lab, _ = taken
    lab.sh("mkdir real; ln -s real/out link; mkfifo fifo; ln -s ../reports/dangling real/hanging")
    reader = subprocess.Popen(["cat", "fifo"], cwd=lab.path, stdout=subprocess.PIPE)
    targets = ["reports/new", "reports/new", "link", "real/hanging", "plain", "fifo", "/dev/null", "/dev/stdout"]
    for target in targets:
        result = lab.audit("check", "--no-config", "--format", f"json={target}", "a.o", "b.o")
        assert result.code == 1 and result.err == "", (target, result)
    assert b"duplicates" in reader.communicate()[0]
    assert (lab.path / "real" / "out").exists() and (lab.path / "reports" / "dangling").exists()
    assert "cannot write gone/x: No such file or directory" in lab.audit("check", "--format", "json=gone/x", "a.o", "b.o").err
    assert lab.audit("index", "a.o", "-o", "reports/a.facts").code == 0
    assert lab.audit("index", "a.o", "b.o", "--output-dir", "reports/facts").code == 0
