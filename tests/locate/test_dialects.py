"""A depfile alone shows what the command line said: which headers of the system were read depends on it."""

import pytest

from elfaudit_test import need

need("gcc", "g++", "clang", "clang++")
C = ["", "-std=c89", "-std=c99", "-std=gnu11", "-D_GNU_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-D_XOPEN_SOURCE=600", "-std=c11 -D_POSIX_C_SOURCE=200112L",
     "-O2 -D_FORTIFY_SOURCE=2", "-pthread"]
CXX = ["", "-std=c++11", "-std=c++14", "-std=gnu++14", "-std=c++17", "-std=c++20"]


def place_in(lab, command, source, header):
    lab.write("lib.h", header)
    for unit in "ab":
        lab.write(f"{unit}.{source}", '#include "lib.h"\n')
        lab.sh(f"{command} -w -MD -c {unit}.{source}")
    [finding] = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    [place] = {(site["file"], site["line"], len(site["chain"]), site["known_by"]) for site in finding["sites"]}
    return place


@pytest.mark.deep
@pytest.mark.parametrize("options", C)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("header", ["stdlib.h", "limits.h", "pthread.h"])
def test_c(lab, compiler, options, header):
    text = f"#pragma once\n#include <{header}>\nint level = 3;\n"
    assert place_in(lab, f"{compiler} {options}", "c", text) == ("lib.h", 3, 1, "depfile")


@pytest.mark.deep
@pytest.mark.parametrize("options", CXX)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx(lab, compiler, options):
    text = "#pragma once\n#include <vector>\n#include <memory>\n#if __cplusplus >= 201703L\ninline int other;\n#endif\nint level = 3;\n"
    assert place_in(lab, f"{compiler} {options}", "cpp", text) == ("lib.h", 7, 1, "depfile")


@pytest.mark.deep
@pytest.mark.parametrize("options", ["-std=c89", "-std=c99", "-std=c11", "-std=gnu89", "-D_POSIX_C_SOURCE=200809L -O2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("headers", [["time.h"], ["fcntl.h", "sys/wait.h"], ["stdlib.h", "time.h"]], ids=" ".join)
def test_two_names_that_decide_about_neighbours(lab, compiler, options, headers):
    text = "#pragma once\n" + "".join(f"#include <{header}>\n" for header in headers) + "int level = 3;\n"
    assert place_in(lab, f"{compiler} {options}", "c", text)[:2] == ("lib.h", len(headers) + 2)


@pytest.mark.parametrize("options", ["-std=c99", ""])
def test_clang_lists_what_has_include_asks_for(lab, options):
    text = "#pragma once\n#include <fcntl.h>\n#if __has_include(<unistd.h>)\n#include <stddef.h>\n#endif\nint level = 3;\n"
    assert place_in(lab, f"clang {options}", "c", text) == ("lib.h", 6, 1, "depfile")


def test_a_parameter_of_a_macro_is_no_name_of_the_program(lab):
    """As x of glibc's __attribute_format_arg__(x), where it is not known whether the compiler has the attribute."""
    text = "#pragma once\n#if __has_attribute(unheard_of)\n#define MARK(x) x\n#else\n#define MARK(x)\n#endif\nint x = 3;\n"
    assert place_in(lab, "gcc", "c", text)[:2] == ("lib.h", 7)


def test_standard_that_the_list_does_not_tell_is_a_doubt(lab):
    text = "#pragma once\n#if __cplusplus >= 201703L\nint level = 3;\n#else\nint level = 4;\n#endif\n"
    assert place_in(lab, "g++", "cpp", text)[3] == "none"
    text = "#pragma once\n#include <concepts>\n#include <vector>\n" + text
    assert place_in(lab, "g++ -std=c++20", "cpp", text)[:2] == ("lib.h", 6)


@pytest.mark.parametrize("sanitizer", ["address", "undefined", "thread"])
def test_lists_of_sanitizers_are_no_sources(lab, sanitizer):
    text = "#pragma once\n#include <stdlib.h>\nint level = 3;\n"
    assert place_in(lab, f"clang -fsanitize={sanitizer}", "c", text) == ("lib.h", 3, 1, "depfile")


@pytest.mark.parametrize("guard", ["LIB_H", "_LIB_H_", "HEADER_LIB", "__lib_h__", "LIB_INCLUDED"])
def test_guard_of_a_part_of_a_header(lab, guard):
    """As sqlite3.h and stb_ds.h have them: nobody defines them on the command line."""
    part = f"#ifndef {guard}\n#define {guard}\n#include <stddef.h>\nint level = 3;\n#endif\n"
    again = f"#ifdef {guard}\n#define MAKE(name)\n#else\n#define MAKE(name) int name;\n#endif\nMAKE(level)\n"
    assert place_in(lab, "gcc", "c", "#define LIB_VERSION 1\n" + part + again)[:2] == ("lib.h", 5)
