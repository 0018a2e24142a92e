"""A line on the terminal while something takes long, and nothing anywhere else."""

import os
import pty
import signal
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, need

need("g++")
TERMINAL = {key: value for key, value in ENVIRONMENT.items() if key != "CI"} | {"TERM": "xterm"}


def on_a_terminal(lab, arguments, environment=TERMINAL):
    """(standard output, what the terminal got on standard error)"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([os.environ["ELFAUDIT"], *arguments], cwd=lab.path, env=environment, stdout=subprocess.PIPE,
                               stderr=theirs, stdin=subprocess.DEVNULL, text=True)
    os.close(theirs)
    out = process.stdout.read()
    process.wait()
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # how Linux says that nobody holds the other side any more
        pass
    os.close(ours)
    return out, seen.decode()


@pytest.fixture
def slow(lab):
    """An audit that takes more than a second: the compiler command that it asks does."""
    lab.cc("a.o", "int main() {}")
    lab.write("g++", '#!/bin/sh\nsleep 1.2\nexec g++ "$@"\n')
    lab.sh("chmod +x g++")
    return ["check", "--", "./g++", "a.o", "-o", "a"]


def test_a_slow_audit_shows_what_it_does_and_erases_it(lab, slow):
    out, seen = on_a_terminal(lab, slow)
    assert out.startswith("clean: ")
    assert seen.startswith("\r\x1b[Kelfaudit: ") and "(1 s)" in seen and seen.endswith("\r\x1b[K") and "\n" not in seen


def test_a_fast_one_shows_nothing(lab):
    lab.cc("a.o", "int main() {}")
    assert on_a_terminal(lab, ["check", "a.o"])[1] == ""


@pytest.mark.deep
@pytest.mark.parametrize("change", [{"CI": "true"}, {"TERM": "dumb"}])
def test_nothing_where_nobody_watches(lab, slow, change):
    assert on_a_terminal(lab, slow, TERMINAL | change)[1] == ""


def test_nothing_in_a_pipe(lab, slow):
    assert lab.audit(*slow).err == ""


def test_quiet(lab, slow):
    out, seen = on_a_terminal(lab, [slow[0], "--quiet", *slow[1:]])
    assert (out, seen) == ("", "")
    lab.cc("b.o", "int main() {}")
    assert "main is defined twice" in lab.audit("check", "--quiet", "a.o", "b.o").out
    assert lab.audit("check", "-q", "--format", "json", "a.o").json()["findings"] == []


def test_usage_errors_come_after_the_line_is_gone(lab, slow):
    _, seen = on_a_terminal(lab, ["explain", "nobody", *slow[1:]])
    assert seen.endswith("\r\x1b[Kelfaudit: no input mentions 'nobody'\r\n")


def test_an_interrupt_erases_the_line(lab, slow):
    ours, theirs = pty.openpty()
    with subprocess.Popen([os.environ["ELFAUDIT"], *slow], cwd=lab.path, env=TERMINAL, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait() == -signal.SIGINT and seen.startswith(b"\r\x1b[Kelfaudit: ")
    os.set_blocking(ours, False)
    seen += os.read(ours, 65536)
    os.close(ours)
    assert seen.endswith(b"\r\x1b[K")
