"""The tests' own runs of linkers that have started (tests/fork_server.py) are those of the linkers."""

import subprocess
import threading

import pytest

import fork_server
from elfaudit_test import COMPILING, need

LINKER = "ld.lld"


@pytest.fixture
def forked(lab):
    need(LINKER, "as")
    if not fork_server.LIBRARY:
        pytest.skip("needs FORK_SERVER, the library that ctest names")
    lab.sh("as /dev/null -o a.o")
    return lambda *words: fork_server.run([LINKER, *words], lab.path, COMPILING)


@pytest.mark.parametrize("words", [["--version"], ["a.o", "-e", "0", "-o", "out"], ["a.o", "-u", "main", "--no-such-option"], ["gone.o"], []])
def test_a_run_says_what_the_linker_says(lab, forked, words):
    for _ in range(2):
        done = subprocess.run([LINKER, *words], cwd=lab.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert forked(*words) == (done.returncode, done.stdout, done.stderr)


def test_each_thread_has_a_server_of_its_own(lab, forked):
    codes = []
    threads = [threading.Thread(target=lambda i=i: codes.append(forked("a.o", "-e", "0", "-o", f"out{i}")[0])) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 4 and all((lab.path / f"out{i}").exists() for i in range(4))


def test_a_run_without_an_answer_ends(lab, forked):
    lab.sh("mkfifo waits.o")
    with pytest.raises(subprocess.TimeoutExpired):
        fork_server.run([LINKER, "waits.o", "-o", "out"], lab.path, COMPILING, limit=0.5)
    assert forked("a.o", "-e", "0", "-o", "out")[0] == 0


def test_a_program_that_ends_before_main_is_started_anew(lab, monkeypatch):
    monkeypatch.setattr(fork_server, "LIBRARY", "/dev/null")  # which the loader leaves out
    monkeypatch.setattr(fork_server, "servers", threading.local())
    need(LINKER)
    assert [fork_server.run([LINKER, "--version"], lab.path, COMPILING) for _ in range(2)] == [None, None]
    assert lab.sh(f"{LINKER} --version").code == 0
