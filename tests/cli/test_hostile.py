"""Inputs that are broken or made to hurt: the audit ends, says what it did not read, and writes where it was told to."""

import errno
import json
import os
import resource
import signal
import struct
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, need, need_plain_program
from elfaudit_wheels import module, wheel

need("g++", "gcc", "as", "ar")

PROGRAM = os.environ.get("ELFAUDIT", "")


def run(lab, *words, timeout=60, **options):
    """For what `lab.audit` does not allow: other streams, a time limit, a full disk."""
    return subprocess.run([PROGRAM, *words], cwd=lab.path, env=ENVIRONMENT, timeout=timeout, capture_output=True, **options)


@pytest.fixture
def twice(lab):
    """Two objects that define `state`."""
    lab.cc("a.o", "int state = 1;")
    lab.cc("b.o", "int state = 2;")
    return lab


# --- build records


@pytest.mark.parametrize("line", ["build a: b c:d", "build a: b c: d", "build a::", "build a: r : b", "build a: r b | c : d", "build a: r b || c:d", "build a | b: r c |@ d:e"])
def test_a_second_colon_of_a_build_line(lab, line):
    lab.write("n/build.ninja", line + "\n")
    result = run(lab, "check", "-p", "n")
    assert result.returncode == 2
    assert b"elfaudit: n/build.ninja: " in result.stderr and b"internal error" not in result.stderr


def test_a_damaged_build_record_beside_the_objects_costs_no_verdict(twice):
    twice.write("build.ninja", "build a: b c:d\n")
    result = run(twice, "check", "a.o", "b.o")
    assert result.returncode == 1 and b"state is defined twice" in result.stdout
    assert b"build.ninja: not understood" in result.stdout


def test_ninja_files_that_include_themselves_are_named(lab):
    lab.write("n/build.ninja", "include build.ninja\n")
    result = lab.audit("check", "-p", "n")
    assert result.code == 2 and "elfaudit: n/build.ninja: its includes nest more than" in result.err, result


@pytest.mark.parametrize("lines", ['#include "a.cpp"\n' * 2, '#include "a.cpp"\n' * 3, '#include "x.h"\n#include "x.h"\n'])
def test_a_source_that_includes_itself_twice(lab, lines):
    lab.write("x.h", '#include "x.h"\n#include "x.h"\n')
    lab.cc("a.o", "int state;", "g++ -g")
    lab.cc("other.o", "int state;", "g++ -g")
    (lab.path / "a.cpp").write_text(lines + "int state;\n")
    lab.write("a.d", "a.o: a.cpp\n")
    os.utime(lab.path / "a.o")
    result = run(lab, "check", "a.o", "other.o")
    assert result.returncode == 1 and b"state is defined twice" in result.stdout


# --- what was not read whole


def test_the_end_of_a_long_log_is_read(lab):
    with open(lab.path / "long.log", "w") as log:
        log.write("x\n" * 4_300_000)
        log.write("/usr/bin/ld: b.o:(.data+0x0): multiple definition of `state'; a.o:(.data+0x0): first defined here\ncollect2: error: ld returned 1 exit status\n")
    result = lab.audit("diagnose", "--format", "json", "long.log")
    document = result.json()
    assert result.code == 2 and document["whole"] is False
    assert [(error["symbol"], error["line"]) for error in document["errors"]] == [("state", 4300001)]


def test_a_log_that_was_not_read_whole_is_not_clean(lab):
    (lab.path / "long.log").write_text("x\r" * 4_300_000)
    result = lab.audit("diagnose", "long.log")
    assert result.code == 2 and "in the part of the log that was read" in result.out, result
    (lab.path / "line.log").write_text("x" * ((4 << 20) + 1))
    assert lab.audit("diagnose", "line.log").code == 2
    assert "::warning" in lab.audit("diagnose", "--format", "github", "line.log").out


SHRINK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  void* (*real)(void*, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  void* mapped = real(at, size, protection, flags, fd, offset);
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (fd >= 0 && readlink(link, path, sizeof path - 1) > 0 && strstr(path, getenv("SHRINKS")))
    if (truncate(path, atol(getenv("TO")))) return mapped;
  return mapped;
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off_t offset) { return mmap(at, size, protection, flags, fd, offset); }
"""


@pytest.mark.parametrize("size", [0, 64, 1000, 4096, 100000])
def test_a_file_that_shrinks_while_it_is_read(lab, size):
    need_plain_program("sanitizers need all of the address space, and to be loaded first")
    lab.write("shrink.c", SHRINK)
    lab.sh("gcc -shared -fPIC shrink.c -o shrink.so -ldl")
    source = "int state;\n" + "".join(f"struct s{i} {{ int a{i}; long b{i}; }} v{i};\n" for i in range(3000))
    lab.cc("a.o", source, "gcc -g")
    lab.cc("b.o", "int state;\n", "gcc -g")
    result = subprocess.run([PROGRAM, "check", "a.o", "b.o"], cwd=lab.path, capture_output=True, timeout=60,
                            env={**ENVIRONMENT, "LD_PRELOAD": f"{lab.path}/shrink.so", "SHRINKS": "/a.o", "TO": str(size)})  # fmt: skip
    assert result.returncode == 2, result
    assert b"state is defined twice" in result.stdout and b"a.o: became shorter while it was being read" in result.stdout


# --- the configuration


def test_a_found_config_writes_below_its_own_folder_only(twice):
    twice.write("victim", "export PATH\n")
    twice.write("p/.elfaudit.toml", f'format = ["text={twice.path}/victim"]\n')
    twice.sh("cp a.o b.o p/")
    outside = {
        "absolute": f'format = ["text={twice.path}/victim"]',
        "above": 'format = ["text", "json=../victim"]',
        "link": 'format = ["json=out/victim"]',
        "dangling": 'format = ["json=gone"]',
        "cache": f'cache = "{twice.path}/made"',
        "cache above": 'cache = "../made"',
        "repository": 'format = ["text=.git/config"]',
    }
    twice.sh("ln -s .. p/out; ln -s ../made p/gone; mkdir p/.git")
    for name, text in outside.items():
        twice.write("p/.elfaudit.toml", text + "\n")
        result = subprocess.run([PROGRAM, "check", "a.o", "b.o"], cwd=twice.path / "p", env=ENVIRONMENT, capture_output=True, text=True)
        assert result.returncode == 2 and ".elfaudit.toml:1: " in result.stderr and "is not below the folder" in result.stderr, (name, result)
        assert (twice.path / "victim").read_text() == "export PATH\n" and not (twice.path / "made").exists(), name


def test_files_that_a_config_names_are_near_it(twice):
    twice.write(".elfaudit.toml", 'format = ["text", "json=report.json"]\n')
    twice.sh("mkdir sub; cp a.o b.o sub/")
    result = subprocess.run([PROGRAM, "check", "a.o", "b.o"], cwd=twice.path / "sub", env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 1 and json.loads((twice.path / "report.json").read_text())["findings"], result


def test_a_config_that_is_named_may_write_anywhere(twice):
    twice.write("p/ci.toml", f'format = ["text", "json={twice.path}/report.json"]\n')
    assert twice.audit("check", "--config", "p/ci.toml", "a.o", "b.o").code == 1
    assert json.loads((twice.path / "report.json").read_text())["findings"]


def test_the_summary_names_the_config(twice):
    twice.write(".elfaudit.toml", 'severity = { duplicate-definition = "off" }\n')
    result = twice.audit("check", "a.o", "b.o")
    assert result.code == 0 and result.out.endswith("; configured by .elfaudit.toml\n"), result
    assert "configured by" not in twice.audit("check", "--no-config", "a.o", "b.o").out
    twice.write("ci.toml", "")
    assert twice.audit("check", "--config", "ci.toml", "a.o", "b.o").out.endswith("; configured by ci.toml\n")
    assert "configured by .elfaudit.toml" in twice.audit("check", "--format", "github", "a.o", "b.o").out


def test_a_config_of_another_user_is_not_read_unasked(twice):
    if os.geteuid() != 0:
        pytest.skip("needs to give a file away, which is for root")
    twice.write(".elfaudit.toml", 'severity = { duplicate-definition = "off" }\n')
    os.chown(twice.path / ".elfaudit.toml", 65534, -1)
    result = twice.audit("check", "a.o", "b.o")
    assert result.code == 2 and ".elfaudit.toml belongs to another user (id 65534)" in result.err, result
    assert twice.audit("check", "--no-config", "a.o", "b.o").code == 1
    assert twice.audit("check", "--config", ".elfaudit.toml", "a.o", "b.o").code == 0


@pytest.mark.deep
@pytest.mark.parametrize("option", ["--config", "--baseline", "--compile-commands"])
@pytest.mark.parametrize("file", ["fifo", "/dev/zero", ".", "missing", "socket"])
def test_what_is_named_and_cannot_be_read_is_an_error(twice, option, file):
    twice.sh("mkfifo fifo; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'")
    result = run(twice, "check", option, file, "a.o", "b.o")
    assert result.returncode == 2 and file.encode() in result.stderr and result.stdout == b"", result


@pytest.mark.parametrize("text", ["", "{", "{}", '[{"directory": 1'])
def test_compile_commands_that_are_damaged_are_an_error(twice, text):
    twice.write("cc.json", text)
    result = twice.audit("check", "--compile-commands", "cc.json", "a.o", "b.o")
    assert result.code == 2 and "elfaudit: --compile-commands cc.json: " in result.err, result


def test_options_read_from_pipes(twice):
    assert twice.sh(f"'{PROGRAM}' check --config <(echo 'fail-on = \"note\"') a.o b.o", check=False).code == 1
    assert twice.sh(f"'{PROGRAM}' check --config /dev/null a.o b.o", check=False).code == 1
    assert twice.audit("check", "--write-baseline", "base.json", "a.o", "b.o").code == 0
    assert twice.sh(f"'{PROGRAM}' check --baseline <(cat base.json) a.o b.o", check=False).code == 0
    log = twice.write("x.log", "/usr/bin/ld: b.o:(.data+0x0): multiple definition of `state'; a.o:(.data+0x0): first defined here\n")
    assert "multiple definition of state" in twice.sh(f"'{PROGRAM}' diagnose <(cat {log})", check=False).out


def test_a_loader_configuration_that_cannot_be_read(lab):
    lab.sh("mkdir -p root/etc root/usr/lib; mkfifo root/etc/ld.so.conf")
    lab.sh("echo 'int f() { return 1; }' > f.c; gcc -shared -fPIC f.c -o root/usr/lib/libf.so")
    result = run(lab, "list", "closure", "--root", "root", "root/usr/lib/libf.so")
    assert result.returncode == 2 and b"root/etc/ld.so.conf: can't be read" in result.stderr, result
    result = run(lab, "check", "--root", "root", "root/usr/lib/libf.so")
    assert result.returncode == 2 and b"root/etc/ld.so.conf: can't be read [unreadable-input]" in result.stdout, result


@pytest.mark.parametrize("target, says", [("nowhere", "a missing file"), ("lib.o", "leads to itself")])
def test_links_in_a_folder_that_lead_nowhere(lab, target, says):
    lab.cc("d/a.o", "int a;")
    lab.sh(f"ln -s {target} d/lib.o; ln -s gone d/README; ln -s me@host:1 'd/.#a.cpp'")
    result = lab.audit("check", "d")
    assert result.code == 2 and "d/lib.o: is a symbolic link" in result.out and says in result.out, result
    assert "README" not in result.out and ".#a" not in result.out


def test_archives_in_a_wheel_are_mentioned(lab):
    code = module(lab, "_m.so")
    name = wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", {"pkg/_m.so": code, "pkg/inner.whl": b"PK\5\6" + bytes(18), "pkg/data.zip": b"PK\5\6" + bytes(18)})
    out = lab.audit("check", name).out
    assert f"note: {name} contains archives that are not opened: pkg/inner.whl, pkg/data.zip\n" in out


# --- control characters


def hostile_names(lab):
    """Two objects that define symbols of names that terminals and CI systems would obey."""
    names = [b"evil\x1b[31mRED\x1b]0;pwn\x07", b"nl\n::error file=x.c,line=1::injected", b"\xff\xfebad\x80utf", b"rtl\xe2\x80\xaegpj", b"c1\xc2\x9b31m",
             b"tab\t\r\b\x7f", b"ls\xe2\x80\xa8ps", b"::warning::first", b"##[error]old", b"bidi\xe2\x81\xa6x"]  # fmt: skip
    holders = [f"N{i:02}" + "Q" * (len(name) - 3) for i, name in enumerate(names)]
    lab.write("p.s", ".data\n" + "".join(f".globl {holder}\n{holder}: .long 1\n" for holder in holders))
    lab.sh("as p.s -o p.o")
    content = (lab.path / "p.o").read_bytes()
    for holder, name in zip(holders, names):
        assert content.count(holder.encode()) == 1
        content = content.replace(holder.encode(), name)
    for file in ("e1.o", "e2.o"):
        (lab.path / file).write_bytes(content)
    return names


def obeyed(text):
    """What of `text` a terminal or a CI system would obey."""
    decoded = text.decode("utf-8")  # strict: not UTF-8 is a failure too
    bad = [c for c in decoded if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or ord(c) in (0x2028, 0x2029, 0x61C, 0x200E, 0x200F) or 0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069]
    return bad + [line for line in decoded.splitlines() if line.lstrip().startswith("::") or "##[" in line]


def test_names_are_shown_and_not_obeyed(lab):
    names = hostile_names(lab)
    for words in (["check", "e1.o", "e2.o"], ["list", "symbols", "e1.o"], ["list", "members", "e1.o"], ["check", "--undefined", "e1.o", "e2.o"], ["check", "--color", "never", "e1.o", "e2.o"]):
        result = run(lab, *words)
        assert obeyed(result.stdout) == [] and obeyed(result.stderr) == [], words
    for name in names:
        result = run(lab, "explain", name, "e1.o", "e2.o")
        assert result.returncode in (0, 2) and obeyed(result.stdout) == [] and obeyed(result.stderr) == [], name
    assert rb"\x1b[31mRED" in run(lab, "check", "e1.o", "e2.o").stdout
    github = run(lab, "check", "--format", "github", "e1.o", "e2.o").stdout
    assert [line for line in obeyed(github) if not line.startswith("::error file=")] == []
    document = json.loads(run(lab, "check", "--format", "json", "e1.o", "e2.o").stdout)
    assert "nl\n::error file=x.c,line=1::injected" in [one["symbol"] for one in document["duplicates"]], "documents for programs have the names as they are"


@pytest.mark.parametrize("format", ["json", "sarif", "gitlab", "junit", "html"])
def test_documents_hold_nothing_that_a_terminal_obeys(lab, format):
    hostile_names(lab)
    text = run(lab, "check", "--format", format, "e1.o", "e2.o").stdout
    assert [c for c in obeyed(text) if len(c) == 1] == []
    assert "[error]old" in text.decode()


def test_json_has_control_characters_as_they_are(lab):
    hostile_names(lab)
    text = run(lab, "check", "--format", "json", "e1.o", "e2.o").stdout.decode()
    assert "c1\\u009b31m" in text and "c1\x9b31m" in [one["symbol"] for one in json.loads(text)["duplicates"]]


def test_names_of_files_are_shown_and_not_obeyed(lab):
    lab.cc("a.o", "int state;")
    name = "no\x1b[31msuch\n::error::x"
    (lab.path / (name + ".o")).write_bytes((lab.path / "a.o").read_bytes())
    lab.sh("gcc-ar rcD lib.a *.o")
    (lab.path / (name + ".json")).write_text("{")
    for words in (["check", name + "missing.o"], ["check", "a.o", name + ".o"], ["check", "a.o", "lib.a"], ["list", "members", "lib.a"], ["list", "symbols", "lib.a"], ["list", "images", name],
                  ["index", name, "-o", "x"], ["check", "--config", name], ["check", "--" + name], [name], ["check", "--compile-commands", name + ".json", "a.o"], ["rules", name],
                  ["diagnose", name], ["list", "closure", name], ["check", "--baseline", name, "a.o"], ["link", "--", name]):  # fmt: skip
        result = run(lab, *words)
        assert obeyed(result.stdout) == [] and obeyed(result.stderr) == [], words


def test_a_log_is_shown_and_not_obeyed(lab):
    (lab.path / "x.log").write_bytes(b"/usr/bin/ld: b.o:(.data+0x0): multiple definition of `evil\xc2\x9b31m\x1b[1m::x\xff'; a.o:(.data+0x0): first defined here\n")
    for words in (["diagnose", "x.log"], ["diagnose", "--format", "github", "x.log"]):
        assert [line for line in obeyed(run(lab, *words).stdout) if not str(line).startswith("::error")] == [], words


# --- files that are written


def full_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("words, file", [(["--write-baseline", "out"], "out"), (["--format", "json=out"], "out"), (["--format", "html=out"], "out"), (["--format", "text=out"], "out")])
def test_a_file_is_replaced_whole_or_not_at_all(twice, words, file):
    twice.write(file, "what was there before")
    result = run(twice, "check", *words, "a.o", "b.o", preexec_fn=full_disk)
    assert result.returncode == 2 and f"cannot write {file}: File too large".encode() in result.stderr, result
    assert (twice.path / file).read_text() == "what was there before"
    assert not [name for name in os.listdir(twice.path) if name.endswith(".tmp")]
    assert run(twice, "check", *words, "a.o", "b.o").returncode in (0, 1)
    assert (twice.path / file).read_text() != "what was there before"


def test_a_replaced_file_keeps_its_mode_and_its_links(twice):
    twice.write("real/report.json", "{}")
    twice.sh("chmod 600 real/report.json; ln -s real/report.json link.json")
    assert twice.audit("check", "--format", "json=link.json", "a.o", "b.o").code == 1
    assert (twice.path / "link.json").is_symlink()
    assert json.loads((twice.path / "real/report.json").read_text())["findings"]
    assert (twice.path / "real/report.json").stat().st_mode & 0o777 == 0o600


def test_a_file_of_the_longest_name(twice):
    name = "r" * 250 + ".json"
    assert twice.audit("check", "--format", f"json={name}", "a.o", "b.o").code == 1
    assert json.loads((twice.path / name).read_text())["findings"]


def test_targets_that_are_no_files(twice):
    assert json.loads(run(twice, "check", "--format", "json=/dev/stdout", "a.o", "b.o").stdout)["findings"]
    assert json.loads(run(twice, "check", "--format", "json=/dev/fd/2", "--quiet", "a.o", "b.o").stderr)["findings"]
    assert run(twice, "check", "--format", "json=/dev/null", "a.o", "b.o").returncode == 1
    with open(twice.path / "both", "w") as both:
        subprocess.run([PROGRAM, "check", "--format", "text", "--format", "sarif=/dev/stdout", "a.o", "b.o"], cwd=twice.path, env=ENVIRONMENT, stdout=both)
    text = (twice.path / "both").read_text()
    assert "state is defined twice" in text and '"version": "2.1.0"' in text
    twice.sh("mkfifo fifo")
    reader = subprocess.Popen(["cat", "fifo"], cwd=twice.path, stdout=subprocess.PIPE)
    assert run(twice, "check", "--format", "json=fifo", "a.o", "b.o").returncode == 1
    assert json.loads(reader.communicate()[0])["findings"] and (twice.path / "fifo").is_fifo()


def test_a_full_disk_behind_standard_output(twice):
    for words in (["--help"], ["check", "--help"], ["--version"], ["check", "--dump-config"], ["rules"], ["--generate", "man"], ["check", "a.o", "b.o"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, *words], cwd=twice.path, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE)
        assert result.returncode == 2 and os.strerror(errno.ENOSPC).encode() in result.stderr, (words, result)


@pytest.mark.parametrize("words, file", [(["check", "--write-baseline", "out", "a.o", "b.o"], "out"), (["check", "--format", "json=out", "a.o", "b.o"], "out"), (["index", "a.o", "-o", "out"], "out"), (["check", "a.o", "b.o"], None)])
def test_a_limit_on_the_size_of_files(twice, words, file):
    """SIGXFSZ would end the process without a word."""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30, 30))

    with open(twice.path / "stdout", "w") as stdout:
        result = subprocess.run([PROGRAM, *words], cwd=twice.path, env=ENVIRONMENT, stdout=stdout, stderr=subprocess.PIPE, preexec_fn=small_files)
    assert result.returncode == 2 and b"File too large" in result.stderr, result
    assert file is None or sorted(os.listdir(twice.path)) == sorted(["a.cpp", "b.cpp", "a.o", "b.o", "stdout"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_file_behind(twice, number):
    need_plain_program("sanitizers want to be loaded first")
    twice.write("slow.c", "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <signal.h>\n#include <unistd.h>\n#include <stdlib.h>\n"
                "ssize_t write(int fd, const void* bytes, size_t size) { if (fd > 2) raise(atoi(getenv(\"RAISES\")));"
                " return ((ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, \"write\"))(fd, bytes, size); }\n")
    twice.sh("gcc -shared -fPIC slow.c -o slow.so -ldl")
    before = sorted(os.listdir(twice.path))
    for words in (["check", "--format", "json=out", "a.o", "b.o"], ["check", "--write-baseline", "out", "a.o", "b.o"], ["index", "a.o", "-o", "out"]):
        result = subprocess.run([PROGRAM, *words], cwd=twice.path, capture_output=True, env={**ENVIRONMENT, "LD_PRELOAD": f"{twice.path}/slow.so", "RAISES": str(int(number))})
        assert result.returncode == -number, result
        assert sorted(os.listdir(twice.path)) == before, words


# --- the command that is run


def ignored_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


@pytest.mark.parametrize("command", ["index", "link"])
def test_a_parent_that_ignores_its_children(lab, command):
    """`nohup`s and daemons start programs so. The command's exit code stays, and it is started as it would be alone."""
    assert run(lab, command, "--", "sh", "-c", "exit 9", preexec_fn=ignored_children).returncode == 9
    state = run(lab, command, "--", "grep", "SigIgn", "/proc/self/status", preexec_fn=ignored_children).stdout
    assert state == subprocess.run(["grep", "SigIgn", "/proc/self/status"], capture_output=True, preexec_fn=ignored_children).stdout


def test_an_audit_whose_parent_ignores_its_children(twice):
    twice.cc("m.o", "int main() {}")
    result = run(twice, "check", "--", "g++", "m.o", "a.o", "b.o", "-o", "x", preexec_fn=ignored_children)
    assert result.returncode == 1 and b"could not be asked" not in result.stdout, result


@pytest.mark.parametrize("command", ["index", "link"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGKILL, signal.SIGXFSZ])
def test_a_command_that_dies_of_a_signal(lab, command, number):
    assert run(lab, command, "--", "sh", "-c", f"kill -{int(number)} $$").returncode == -number


# --- what a compile command writes


def test_preprocessing_writes_no_file(twice):
    need("clang++")
    commands = {
        "a.o": "g++ -Xpreprocessor -MD -Xpreprocessor w1 -Wp,-MD,w2 -Xpreprocessor -MF -O1 -Xpreprocessor w3 -MMD -MF w4 -fdiagnostics-format=json-file -c a.cpp -o a.o",
        "b.o": "env DEPENDENCIES_OUTPUT=w5 clang++ -Xclang -dependency-file -Xclang w6 -Xclang -MT -Xclang x -MJ w7 --serialize-diagnostics w8 -c b.cpp -o b.o",
    }
    twice.write("compile_commands.json", json.dumps([{"directory": str(twice.path), "file": o[0] + ".cpp", "output": o, "command": c} for o, c in commands.items()]))
    before = set(os.listdir(twice.path))
    result = twice.audit("check", "--preprocess", "a.o", "b.o")
    assert result.code == 1 and result.out.count("(preprocessor)") == 2, result
    assert set(os.listdir(twice.path)) == before


def test_preprocessing_starts_no_wrapper_and_no_plugin(twice):
    need("clang++")
    twice.write("w", "#!/bin/sh\ntouch ran\nexec \"$@\"\n")
    twice.sh("chmod +x w; echo '__attribute__((constructor)) void f(void) { fclose(fopen(\"ran\", \"w\")); }' > p.c; gcc -include stdio.h -shared -fPIC p.c -o p.so")
    here = twice.path
    for command in (f"g++ -wrapper {here}/w", f"g++ -fplugin={here}/p.so", f"clang++ -fplugin={here}/p.so", f"clang++ -Xclang -load -Xclang {here}/p.so", f"clang++ -fpass-plugin={here}/p.so", f"env LD_PRELOAD={here}/p.so g++"):
        twice.write("compile_commands.json", json.dumps([{"directory": str(here), "file": "a.cpp", "output": "a.o", "command": command + " -c a.cpp -o a.o"}]))
        assert "(preprocessor)" in twice.audit("check", "--preprocess", "a.o", "b.o").out, command
        assert not (here / "ran").exists(), command


# --- messages


def test_a_wrapper_is_no_reason_not_to_audit(twice):
    twice.cc("m.o", "int main() {}")
    twice.write("w", "#!/bin/sh\ntouch ran\nexec \"$@\"\n")
    twice.sh("chmod +x w")
    result = twice.audit("check", "--", "g++", "-wrapper", "./w", "m.o", "a.o", "b.o", "-o", "x")
    assert result.code == 1 and "state is defined twice" in result.out and not (twice.path / "ran").exists(), result


def test_what_is_no_file_is_called_so(lab):
    lab.cc("a.o", "int a;")
    lab.sh("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s.o\")'; ln -s me.o me.o")
    lab.write("libz.so", "INPUT(/dev/zero)\n")
    assert "s.o: not a regular file" in lab.audit("check", "a.o", "s.o").out
    assert "me.o: a symbolic link that leads to itself" in lab.audit("check", "a.o", "me.o").out
    assert "/dev/zero: not a regular file, named by libz.so" in lab.audit("check", "--", "ld", "a.o", "libz.so").out
    result = lab.audit("check", "@/dev/zero")
    assert result.code == 2 and "response file @/dev/zero: not a regular file" in result.err, result
    lab.sh("mkfifo build.ninja; mkdir b; mv build.ninja b")
    result = run(lab, "check", "-p", "b")
    assert result.returncode == 2 and b"elfaudit: b/build.ninja: is not a regular file" in result.stderr, result


# --- cost


def chain(lab, count, name, text, last=""):
    """Files that name the next one, each more than once: they are read 2^count times if nothing bounds it."""
    for i in range(count):
        lab.write(name.format(i), text.format(name.format(i + 1)))
    lab.write(name.format(count), last)


def test_response_files_that_double(twice):
    chain(twice, 60, "r{}", "@{0} @{0}\n")
    for words in (["check", "@r0"], ["check", "--", "ld", "@r0"], ["check", "--", "g++", "@r0", "-o", "x"], ["index", "@r0", "-o", "x"], ["list", "symbols", "@r0"]):
        result = run(twice, *words)
        assert result.returncode == 2 and b"response file @r" in result.stderr and b"too many response files" in result.stderr, result


def test_option_files_of_nvlink_that_double(twice):
    chain(twice, 14, "n{}", "--options-file {0},{0},{0},{0} --options-file {0}\n")
    result = run(twice, "check", "--", "nvlink", "-arch=sm_80", "--options-file", "n0", "a.o", "-o", "x")
    assert result.returncode == 2 and b"option file n14: the command reads too many response files" in result.stderr, result


def test_response_files_of_a_log_that_double(twice):
    chain(twice, 15, "r{}", "@{0} @{0} @{0} @{0}\n")
    twice.write("x.log", "g++ @r0 a.o b.o -o x\n/usr/bin/ld: b.o:(.data+0x0): multiple definition of `state'; a.o:(.data+0x0): first defined here\n")
    assert b"too many response files" in run(twice, "diagnose", "x.log").stdout


def test_configurations_that_double(twice):
    chain(twice, 15, "c{}.toml", 'extends = ["{0}", "{0}", "{0}", "{0}"]\n')
    result = run(twice, "check", "--config", "c0.toml", "a.o")
    assert result.returncode == 2 and b"too many files extend one another" in result.stderr, result


def test_variables_of_ninja_that_double(twice):
    rule = "".join(f"  v{i} = " + f"$v{i + 1}" * 8 + "\n" for i in range(14))
    twice.write("b/build.ninja", f"rule link\n  command = ld -shared ../a.o -o x $v0\n{rule}build x: link\n")
    result = run(twice, "check", "-p", "b")
    assert result.returncode == 2 and b"the variables that a value names" in result.stdout, result


@pytest.mark.parametrize("statement", ["INPUT({0} {0} {0} {0} {0} {0} {0} {0})", "GROUP({0} {0} {0} {0} {0} {0} {0} {0})", "INCLUDE {0}\n" * 8])
def test_linker_scripts_that_double(twice, statement):
    chain(twice, 9, "j{}.ld", statement, last="INPUT(a.o)")
    result = run(twice, "check", "--", "ld", "j0.ld")
    assert result.returncode == 2 and b"the link reads more than 4096 linker scripts (elfaudit --limits)" in result.stdout, result


@pytest.mark.deep
def test_libraries_that_are_not_there(twice):
    """Each is looked for in each folder."""
    twice.write("many", "".join(f"-Ld{i} " for i in range(2000)) + "".join(f"-ln{i} " for i in range(2000)))
    result = run(twice, "check", "--", "ld", "a.o", "@many")
    assert result.returncode == 2 and b"the search for the libraries of the link tries too many paths (elfaudit --limits)" in result.stdout, result


def test_a_large_object_that_is_named_again(lab):
    """A few bytes each time, in a command, a script or a thin archive."""
    lab.cc("a.o", ".data\n.globl table\ntable: .zero 1 << 20\n", "gcc -x assembler")
    lab.write("many", "a.o " * 70)
    lab.write("many.ld", "INPUT(" + "a.o " * 70 + ")")
    lab.sh("gcc-ar rcT thin.a a.o")
    head, table = (lab.path / "thin.a").read_bytes().split(b"//", 1)
    names, member = b"//" + table[:-60], table[-60:]
    (lab.path / "thin.a").write_bytes(b"!<thin>\n" + names + member * 70)
    for words in (["@many"], ["--", "ld", "@many"], ["--", "ld", "many.ld"], ["thin.a"]):
        result = run(lab, "check", *words)
        assert result.returncode == 2 and b"names files again, 64 MiB of them and more (elfaudit --limits)" in result.stdout, (words, result)


def test_a_file_system_that_knows_no_size(lab):
    """Those of procfs have bytes, and st_size is 0."""
    lab.cc("a.o", "int state;")
    lab.write("empty", "")
    assert run(lab, "check", "--", "ld", "a.o", "empty").returncode == 0
    for words in (["check", "/proc/self/maps"], ["check", "--", "ld", "a.o", "/proc/self/maps"], ["check", "/proc/self/auxv"], ["list", "symbols", "/proc/self/maps"], ["check", "-p", "/proc/self/maps"]):
        result = run(lab, *words)
        assert result.returncode == 2 and b"/proc/self/" in result.stdout + result.stderr, (words, result)


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="/proc/kmsg can't be read here")
def test_a_regular_file_that_blocks(lab):
    for words in (["diagnose", "/proc/kmsg"], ["check", "/proc/kmsg"], ["check", "--config", "/proc/kmsg"]):
        result = run(lab, *words)
        assert b"/proc/kmsg" in result.stdout + result.stderr, (words, result)


@pytest.mark.deep
def test_sources_that_repeat_themselves(lab):
    """What takes a step for each pair of lines never ends here."""
    many = 100_000
    for header in (
        "extern int state;\n" * many + "int state;\n",
        "int state;\n" * many + "int state = 1;\n",
        "#if A\n#else\nextern int state;\n#endif\n" * many + "int state;\n",
        "#if A\n" + "#elif A\n" * many + "#else\n" + "extern int state;\n" * many + "int state;\n#endif\n",
        "".join(f"#define X{i} int\n" for i in range(many)) + "".join(f"extern X{i} state;\n" for i in range(many)) + "int state;\n",
    ):
        lab.write("h.h", header)
        lab.write("a.c", '#include "h.h"\n')
        lab.sh("gcc -g -c a.c -o a.o && cp a.o b.o")
        result = run(lab, "check", "a.o", "b.o")
        assert result.returncode == 1 and b"state is defined twice" in result.stdout, result


@pytest.mark.deep
def test_names_that_are_parts_of_one_another(lab):
    """Thousands of names in one string table of 64 KiB are hundreds of megabytes of text: printed, not kept."""
    need_plain_program("sanitizers need all of the address space, and to be loaded first")
    count = 12_000
    lab.write("s.s", ".data\nQ:\n" + "".join(f".globl x{i}\nx{i}: .long 1\n" for i in range(count)) + f'.globl {"y" * 60000}\n{"y" * 60000}: .long 1\n')
    lab.sh("as s.s -o s.o")
    content = bytearray((lab.path / "s.o").read_bytes())
    sections, entry, number = struct.unpack_from("<Q", content, 40)[0], 64, struct.unpack_from("<H", content, 60)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, sections + i * entry) for i in range(number)]
    table = next(header for header in headers if header[1] == 2)
    strings = headers[table[6]]
    long_name = content.index(b"y" * 60000, strings[4]) - strings[4]
    for i in range(table[7] + 1, table[5] // 24):
        struct.pack_into("<I", content, table[4] + i * 24, long_name + i % 50000)
    (lab.path / "s.o").write_bytes(content)

    def memory_limited():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    for words in (["list", "symbols", "s.o"], ["list", "symbols", "--format", "json", "s.o"], ["explain", "y" * (60000 - 100), "s.o"], ["check", "s.o"]):
        result = subprocess.run([PROGRAM, *words], cwd=lab.path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=memory_limited)
        assert result.returncode in (0, 1), (words[:2], result.stderr[:500])
    result = subprocess.run([PROGRAM, "explain", "nobody", "s.o"], cwd=lab.path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=memory_limited)
    assert result.returncode == 2 and b"no input mentions 'nobody'" in result.stderr, result


# --- debug info


def test_a_unit_without_an_entry(twice):
    """It begins with the entry that ends a list (DWARF5 7.5.2)."""
    for name in ("a", "b"):
        twice.cc(f"{name}.o", "int state = 1;", "gcc -g -gdwarf-5")
        twice.sh(f"objcopy --dump-section .debug_info=info {name}.o")
        info = bytearray((twice.path / "info").read_bytes())
        info[12] = 0  # behind the header of 12 bytes: the number of the first entry's abbreviation
        (twice.path / "info").write_bytes(info)
        twice.sh(f"objcopy --update-section .debug_info=info {name}.o")
    assert "state is defined twice" in twice.audit("check", "a.o", "b.o").out
    assert twice.audit("check", "--enable", "divergent-definition", "a.o", "b.o").code == 1
