"""Objects of which a depfile tells the sources, and nothing the command line."""

import pytest

from elfaudit_test import by_symbol, need

need("gcc", "g++", "clang", "clang++")
COMPILERS = [("gcc", "c"), ("clang", "c"), ("g++", "cpp"), ("clang++", "cpp")]


def places(lab, command, extension="c", symbol="level"):
    for name in "ab":
        lab.write(f"{name}.{extension}", f'#include "lib.h"\nint {name};\n')
        lab.sh(f"{command} -c {name}.{extension} -o {name}.o")
    findings = by_symbol(lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"])
    (finding,) = [one for one in findings if one["symbol"] == symbol]
    return {(site["file"], site["line"], tuple(step["line"] for step in site["chain"]), site["chain_known_by"]) for site in finding["sites"]}


@pytest.mark.parametrize("compiler, extension", COMPILERS)
@pytest.mark.parametrize("options", ["", "-std={strict}", "-fsanitize=address"])
def test_what_the_command_line_includes_comes_first(lab, compiler, extension, options):
    strict = "c99" if extension == "c" else "c++11"
    lab.write("own/config.h", "#define HAVE_LEVEL 1\n")
    lab.write("lib.h", "#pragma once\n#include <stdlib.h>\n#if HAVE_LEVEL\nint level = 3;\n#else\nint level = 4;\n#endif\n")
    command = f"{compiler} -MD -include own/config.h {options.format(strict=strict)}"
    assert places(lab, command, extension) == {("lib.h", 4, (1,), "depfile")}


def test_a_file_that_the_source_may_include_is_not_taken_for_the_command_lines(lab):
    lab.write("config.h", "#define HAVE_LEVEL 1\n")
    lab.write("lib.h", "#ifdef HAVE_CONFIG_H\n#include CONFIG\n#endif\n#include <stdlib.h>\n#if HAVE_LEVEL\nint level = 3;\n#else\nint level = 4;\n#endif\n")
    command = "gcc -MD -DHAVE_CONFIG_H '-DCONFIG=\"config.h\"'"
    assert places(lab, command) <= {("lib.h", 6, (1,), "depfile"), (None, None, (), "none")}


@pytest.mark.parametrize("compiler, extension", COMPILERS)
def test_two_ways_to_one_place(lab, compiler, extension):
    lab.write("level.h", "#pragma once\nint level = 3;\n")
    lab.write("lib.h", '#pragma once\n#ifdef FEATURE\n#include "level.h"\n#else\n#include "level.h"\n#endif\n')
    assert places(lab, f"{compiler} -MD", extension) == {("level.h", 2, (), "none")}


@pytest.mark.parametrize("driver, extension", [("gcc", "c"), ("g++", "cpp")])
def test_the_folders_of_a_cross_compiler(lab, driver, extension):
    need(f"aarch64-linux-gnu-{driver}")
    lab.write("lib.h", "#pragma once\n#include <stdio.h>\n#include <limits.h>\nint level = 3;\n")
    assert places(lab, f"aarch64-linux-gnu-{driver} -MD", extension) == {("lib.h", 4, (1,), "depfile")}


@pytest.mark.parametrize("operand", ["<lib.h>", '"lib.h"'])
def test_mmd_leaves_out_system_headers(lab, operand):
    lab.write("third/lib.h", "int level = 3;\n")
    for name in "ab":
        lab.write(f"{name}.c", f"#include {operand}\n")
        lab.sh(f"gcc -MMD -isystem third -c {name}.c")
    (finding,) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert f"-MMD leaves out system headers, as {operand} may be: compile with -MD" in finding["sites"][0]["why_unknown"]


FUNCTION = "struct A { int level(int) const; };\nint A::level(int) const { return 1; }\n"
VARIABLE = "struct A { static int level; };\nint A::level = 2;\n"


@pytest.mark.parametrize("compiler, symbol, text", [("g++", "_ZNK1A5levelEi", FUNCTION), ("clang++", "_ZNK1A5levelEi", FUNCTION),
                                                    ("clang++", "_ZN1A5levelE", VARIABLE)])  # which g++ 12 refuses
def test_members_have_no_c_linkage(lab, compiler, symbol, text):
    lab.write("lib.h", f'#pragma once\nextern "C" {{\n{text}}}\n')
    assert places(lab, f"{compiler} -MD", "cpp", symbol) == {("lib.h", 4, (1,), "depfile")}
