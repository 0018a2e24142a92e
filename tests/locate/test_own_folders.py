"""compile_commands.json alone: what the compiler finds in its own folders is read there."""

import json
import re

import pytest

from elfaudit_test import need

need("gcc", "g++", "clang", "clang++")


def place_in(lab, command, source, header):
    """Where the definition in lib.h is; the other one is in an object without headers, for which no command is kept."""
    lab.write("lib.h", header)
    lab.write("a." + source, '#include "lib.h"\n')
    lab.sh(f"{command} -w -c a.{source} -o a.o")
    if source == "cu":
        lab.cc("b.o", "__device__ int level = 9;", "nvcc -rdc=true")
    else:
        lab.cc("b.o", "int level = 9;", re.match("(.*-linux-gnu-)?", command).group() + "gcc")
    command = {"directory": str(lab.path), "file": f"a.{source}", "command": f"{command} -c a.{source} -o a.o"}
    lab.write("compile_commands.json", json.dumps([command]))
    [finding] = [one for one in lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"] if "level" in one["symbol"]]
    return {(site["file"], site["line"], len(site["chain"]), site["known_by"]) for site in finding["sites"] if site["input"] == "a.o"}


@pytest.mark.parametrize("compiler, source", [("gcc", "c"), ("clang", "c"), ("g++ -std=c++14", "cpp"), ("clang++", "cpp")])
@pytest.mark.parametrize("header", ["iconv.h", "regex.h", "mmintrin.h", "net/ethernet.h"])
def test_header_of_the_system(lab, compiler, source, header):
    text = f"#pragma once\n#include <{header}>\n#if __has_include(<no/such.h>)\n#else\nint level = 3;\n#endif\n"
    assert place_in(lab, compiler, source, text) == {("lib.h", 5, 1, "source-scan")}


def test_folders_are_not_searched_that_the_compiler_does_not(lab):
    lab.write("root/usr/include/iconv.h", "")
    text = "#pragma once\n#include <iconv.h>\n#ifdef _ICONV_H\nint other;\n#else\nint level = 3;\n#endif\n"
    [(file, *_)] = place_in(lab, "gcc -nostdinc -Iroot/usr/include", "c", text)
    assert file == "lib.h"
    [(file, *_)] = place_in(lab, "gcc --sysroot=root -isystem root/usr/include", "c", text)
    assert file == "lib.h"


@pytest.mark.deep
@pytest.mark.parametrize("header", ["cuda_runtime.h", "thrust/pair.h", *(pytest.param(name, marks=pytest.mark.nightly) for name in ["cuda_fp16.h", "cooperative_groups.h", "cub/block/block_reduce.cuh"])])
def test_header_of_the_toolkit(lab, header):
    need("nvcc")
    text = f"#pragma once\n#include <{header}>\n__device__ int level = 3;\n"
    assert place_in(lab, "nvcc -std=c++17 -rdc=true", "cu", text) == {("lib.h", 3, 1, "source-scan")}


@pytest.mark.parametrize("compiler, source", [("gcc", "c"), ("clang++", "cpp")])
def test_what_the_command_line_includes_is_looked_for_where_it_runs(lab, compiler, source):
    lab.write("own/config.h", "#define HAVE_LEVEL 1\n")
    lab.write("src/own/config.h", "#define HAVE_LEVEL 0\n")
    header = "#if HAVE_LEVEL\nint level = 3;\n#else\nint level = 4;\n#endif\n"
    lab.write("src/lib.h", header)
    lab.write("src/a." + source, '#include "lib.h"\n')
    assert place_in(lab, f"{compiler} -include own/config.h", source, header) == {("lib.h", 2, 1, "source-scan")}
    lab.sh(f"{compiler} -include own/config.h -c src/a.{source} -o a.o")
    command = {"directory": str(lab.path), "file": f"src/a.{source}", "command": f"{compiler} -include own/config.h -c src/a.{source} -o a.o"}
    lab.write("compile_commands.json", json.dumps([command]))
    [finding] = [one for one in lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"] if "level" in one["symbol"]]
    assert [(site["file"], site["line"]) for site in finding["sites"] if site["input"] == "a.o"] == [("src/lib.h", 2)]


TARGETS = ["aarch64-linux-gnu", "i686-linux-gnu", "riscv64-linux-gnu", "powerpc64-linux-gnu"]


@pytest.mark.deep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("driver, source, header", [("gcc", "c", "stdio.h"), ("gcc", "c", "pthread.h"), ("g++", "cpp", "vector"), ("g++", "cpp", "string.h")])
def test_header_of_a_cross_compiler(lab, target, driver, source, header):
    need(f"{target}-{driver}")
    text = f"#pragma once\n#include <{header}>\nint level = 3;\n"
    assert place_in(lab, f"{target}-{driver}", source, text) == {("lib.h", 3, 1, "source-scan")}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("driver, source", [("gcc", "c"), ("g++", "cpp")])
@pytest.mark.parametrize("condition", ["defined(__x86_64__)", "__SIZEOF_POINTER__ == 4", "__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__"])
def test_macro_of_a_target(lab, target, driver, source, condition):
    need(f"{target}-{driver}")
    lab.write("ask.c", f"#if {condition}\nyes\n#endif\n")
    taken = "yes" in lab.sh(f"{target}-{driver} -E -P -x c ask.c").out
    text = f"#include <stddef.h>\n#if {condition}\nint level = 3;\n#else\nint level = 4;\n#endif\n"
    assert place_in(lab, f"{target}-{driver}", source, text) == {("lib.h", 3 if taken else 5, 1, "source-scan")}


@pytest.mark.parametrize("compiler, source", [("gcc", "c"), ("clang", "c"), ("g++", "cpp"), ("clang++", "cpp")])
@pytest.mark.parametrize("option, condition", [("-fsanitize=address", "defined(__SANITIZE_ADDRESS__)"), ("-fsanitize=undefined,address", "defined(__SANITIZE_ADDRESS__)"),
                                               ("-fsanitize=thread", "defined(__SANITIZE_THREAD__)"), ("-fopenmp", "_OPENMP > 201511"), ("-fopenmp", "defined(_REENTRANT)")])
def test_macro_of_an_option(lab, compiler, source, option, condition):
    lab.write("ask.c", f"#if {condition}\nyes\n#endif\n")
    lab.sh(f"{compiler} {option} -E -P -x c ask.c > answer.txt")
    taken = "yes" in (lab.path / "answer.txt").read_text()
    text = f"#if {condition}\nint level = 3;\n#else\nint level = 4;\n#endif\n"
    assert place_in(lab, f"{compiler} {option}", source, text) == {("lib.h", 2 if taken else 4, 1, "source-scan")}
