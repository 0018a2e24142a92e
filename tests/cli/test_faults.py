"""The system fails: a call of the C library, no memory, a signal, an input that changes. The answer is right, or exit code 2
with the reason. scripts/faults makes all of the faults; here are some."""

import os
import pathlib
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, SOURCE_DIR, need, need_plain_program

need("g++", "gcc", "ar")

PROGRAM = os.environ.get("ELFAUDIT", "")


@pytest.fixture(autouse=True)
def plain_program():
    need_plain_program()


@pytest.mark.deep
def test_a_sample_of_all_faults():
    done = subprocess.run([SOURCE_DIR / "scripts" / "faults", "--sample", "200", "--signals", "1", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0 and ": 0 wrong" in done.stdout, done.stdout + done.stderr


def faulty(lab, fault, *words):
    """Runs it with one call failing: "stat 3 5" is the third stat() with EIO."""
    lab.sh(f"gcc -shared -fPIC -w '{pathlib.Path(__file__).parent}/fault_at.c' -o fault_at.so -ldl; head -c 8000 /dev/zero > log")
    return subprocess.run([PROGRAM, *words], cwd=lab.path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**ENVIRONMENT, "LD_PRELOAD": "./fault_at.so", "FAULT_LOG": f"{lab.path}/log", "FAULT_AT": fault})  # fmt: skip


@pytest.fixture
def twice(lab):
    lab.cc("a.o", "int state = 1;", "g++ -g -MMD")
    lab.cc("b.o", "int state = 2;", "g++ -g -MMD")
    return lab


@pytest.mark.deep
def test_a_disk_that_fails_under_evidence(twice):
    """The verdict does not hang on the depfile; the report does, and says so."""
    for number in range(1, 60):
        result = faulty(twice, f"open {number} 5", "check", "a.o", "b.o")
        if "b.d: " in result.stdout + result.stderr:
            break
    assert result.returncode == 2 and "state is defined twice" in result.stdout, result
    assert "b.d: Input/output error [unreadable-input]" in result.stdout


def test_no_memory_from_some_moment_on(twice):
    for number in (1, 100, 1000, 5000):
        result = faulty(twice, f"malloc {number} 12+", "check", "a.o", "b.o")
        assert result.returncode == 2 and "out of memory" in result.stderr, (number, result)


def test_no_thread_can_be_started(twice):
    assert faulty(twice, "pthread_create 1 11+", "check", "a.o", "b.o").stdout == twice.audit("check", "a.o", "b.o").out


def test_sources_are_not_edited_on_half_of_the_evidence(twice):
    twice.write("s.h", "int shared = 1;\n")
    for name in ("c", "d"):
        twice.cc(f"{name}.o", '#include "s.h"\n', "g++ -g -MMD")
    for number in range(5, 60):
        result = faulty(twice, f"fstat {number} 5", "check", "--fix", "--allow-dirty", "c.o", "d.o")
        if "d.o: Input/output error" in result.stdout:
            break
    assert result.returncode == 2 and "nothing is edited" in result.stderr, result
    assert (twice.path / "s.h").read_text() == "int shared = 1;\n"
