"""Limits that only much input passes, which takes minutes under sanitizers: the rest is in test_limits.py."""

import json
import os
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, limit, need, need_plain_program

need("g++")
pytestmark = pytest.mark.nightly


def test_libraries_that_a_program_loads(lab):
    """One file each, for the loader knows a library by its inode; the program is one of them."""
    need("gcc", "ld.lld")
    lab.sh("mkdir d; echo 'int f(void) { return 1; }' > f.c; gcc -shared -fPIC -nostdlib -s -Wl,-z,norelro,-z,noseparate-code f.c -o f.so")
    library, most = (lab.path / "f.so").read_bytes(), limit("ClosureLibraries")
    for i in range(most):
        (lab.path / f"d/{i}.so").write_bytes(library)
    for needed in (most - 1, most):
        lab.write("needs", " ".join(f"d/{i}.so" for i in range(needed)))
        lab.sh("gcc -fuse-ld=lld -shared -fPIC -nostdlib -Wl,--no-as-needed f.c @needs -o g.so")
        result = lab.audit("list", "closure", "g.so")
        is_beyond = needed == most
        assert (result.code, "is not followed: there are too many libraries" in result.err) == (2 * is_beyond, is_beyond), result.err[:2000]


READDIR = """
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
struct dirent64* readdir64(DIR* folder) {
  static struct dirent64 kept;
  static long left;
  if (left > 0) return --left, &kept;
  struct dirent64* entry = ((struct dirent64* (*)(DIR*))dlsym(RTLD_NEXT, "readdir64"))(folder);
  if (entry && strcmp(entry->d_name, "many.o") == 0) kept = *entry, left = atol(getenv("TIMES")) - 1;
  return entry;
}
struct dirent* readdir(DIR* folder) { return (struct dirent*)readdir64(folder); }
"""


def test_files_of_a_directory(lab):
    """One file, which the directory lists again and again."""
    need_plain_program()
    lab.write("readdir.c", READDIR)
    lab.sh("gcc -shared -fPIC -w readdir.c -o readdir.so -ldl")
    lab.cc("many.o", "int state;")
    lab.sh("mkdir d; mv many.o d")
    for more in (0, 1):
        environment = {**ENVIRONMENT, "LD_PRELOAD": "./readdir.so", "TIMES": str(limit("PackageFiles") + more)}
        done = subprocess.run([os.environ["ELFAUDIT"], "check", "d"], cwd=lab.path, env=environment, capture_output=True, text=True)
        assert (done.returncode, "error: d: more than 4000000 files" in done.stdout) == (2 * more, bool(more)), done


def test_a_debug_section_once_decompressed(lab):
    need("objcopy")
    lab.cc("b.o", "int state;")
    lab.write("a.c", "int state;\n")
    lab.sh("gcc -g -c a.c; objcopy --dump-section .debug_str=text a.o")
    for size, is_read in ((limit("DebugSectionBytes"), True), (limit("DebugSectionBytes") + 1, False)):
        lab.sh(f"truncate -s {size} text; objcopy --update-section .debug_str=text a.o; objcopy --compress-debug-sections=zstd a.o c.o")
        out = lab.audit("check", "c.o", "b.o").out
        assert ("a.c:1  (debug info)" in out) == is_read, out
        assert ("a compressed section is too large, once decompressed" in out) != is_read, out


def test_targets_of_cmake(lab):
    lab.cc("a.o", "int state;")
    lab.write("b/CMakeFiles/x.dir/link.txt", "ld -shared ../a.o -o x\n")
    for extra in (0, 1):
        others = "/x\n" * (limit("CMakeTargets") - 1 + extra)
        lab.write("b/CMakeFiles/TargetDirectories.txt", f"{lab.path}/b/CMakeFiles/x.dir\n" + others)
        result = lab.audit("check", "-p", "b")
        assert "of 1 link" in result.out and result.code == 2 * extra, result
        assert ("the limit on the number of CMake's targets" in result.out + result.err) == bool(extra), result


def test_commands_of_ninja(lab):
    """A statement of a few bytes may have a value of a mebibyte."""
    lab.cc("a.o", "int state;")
    size = limit("NinjaValue") // 2
    for extra in (0, 1):
        values = f"v = {'#' * size}\n" + "w = $v\n" * (limit("NinjaCommands") // size - 2 + extra)
        lab.write("b/build.ninja", values + "rule link\n  command = ld -shared ../a.o -o x\nbuild x: link\n")
        result = lab.audit("check", "-p", "b")
        assert (result.code, "has more than 1 GiB of commands" in result.out + result.err) == (2 * extra, bool(extra)), result


@pytest.mark.parametrize(
    "name, made",
    [
        ("CompileWords", lambda n: "-g " * (n - 5) + "-DX=int\\ state"),
        ("CompileResponseBytes", lambda n: "-DX=int\\ state".ljust(n)),
    ],
)
def test_a_long_response_file_of_a_compile_command(lab, name, made):
    lab.cc("a.o", "int state;")
    lab.write("x.c", "X;\n")
    lab.sh("gcc -DX='int state' -c x.c")
    command = {"directory": str(lab.path), "command": "gcc -c x.c -o x.o @r", "file": "x.c", "output": "x.o"}
    lab.write("compile_commands.json", json.dumps([command]))
    for n, is_read in ((limit(name), True), (limit(name) + 1, False)):
        lab.write("r", made(n))
        assert ("x.c:1  (source scan)" in lab.audit("check", "a.o", "x.o").out) == is_read


def conditionals(number):
    return "#if 1\n#endif\n" * number


def expansions(tokens):
    """Each line is 1,001 tokens: the macro's own, and what it expands to."""
    return "#define M " + ";" * 1000 + "\n" + "M\n" * (tokens // 1001)


def expansion(tokens):
    """All of one line."""
    rows, rest = divmod(tokens - 1, 2049)  # a row is its macro's name and what that expands to
    return "#define ROW " + ";" * 2047 + "\n#define ALL " + "ROW " * rows + ";" * rest + "\nALL\n"


@pytest.mark.parametrize(
    "name, made, step, says",
    [
        ("Conditionals", conditionals, 1, "too many conditionals"),
        ("MacroTokensAtOnce", expansion, 1, "macros expand to too many tokens"),
        ("MacroTokens", expansions, 1001, "macros expand to too many tokens"),
    ],
)
def test_limits_of_sources(lab, name, made, step, says):
    """A compiler would take longer over these sources than the audit, which reads them as those of the object."""
    lab.cc("b.o", "int state;")
    lab.write("a.cpp", "int state;\n")
    lab.sh("g++ -MMD -c a.cpp")
    for more, is_read in ((-step, True), (step, False)):
        lab.write("a.cpp", made(limit(name) + more) + "int state;\n")
        lab.sh("touch -r a.o a.cpp")
        out = lab.audit("check", "a.o", "b.o").out
        assert ("(depfile + source scan)" in out, says in out) == (is_read, not is_read), out
