"""Objects of which a depfile tells the sources, and nothing the command line."""

import os

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


@pytest.mark.parametrize("compiler, extension", COMPILERS)
def test_a_header_of_the_project_before_the_systems_of_that_name(lab, compiler, extension):
    lab.write("third/net/ethernet.h", "int level = 3;\n#include_next <net/ethernet.h>\n")
    lab.write("lib.h", "#pragma once\n#include <net/ethernet.h>\n")
    assert places(lab, f"{compiler} -MD -Ithird", extension) == {("third/net/ethernet.h", 1, (1, 2), "depfile")}


@pytest.mark.deep
@pytest.mark.skipif(not os.path.exists("/usr/include/xxhash.h"), reason="needs xxhash's header")
def test_a_copy_of_an_installed_header_in_cuda(lab):
    need("nvcc")
    lab.write("third/xxhash.h", "int level = 3;\n")
    lab.write("lib.h", "#pragma once\n#include <xxhash.h>\n#include <string.h>\n")
    assert places(lab, "nvcc -MD -Ithird", "cu") == {("third/xxhash.h", 1, (1, 2), "depfile")}


@pytest.mark.parametrize("operand", ["<lib.h>", '"lib.h"'])
def test_mmd_leaves_out_system_headers(lab, operand):
    lab.write("third/lib.h", "int level = 3;\n")
    for name in "ab":
        lab.write(f"{name}.c", f"#include {operand}\n")
        lab.sh(f"gcc -MMD -isystem third -c {name}.c")
    (finding,) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert f"-MMD leaves out system headers, as {operand} may be: compile with -MD" in finding["sites"][0]["why_unknown"]


@pytest.mark.skipif(not os.path.exists("/usr/include/stb/stb_ds.h"), reason="needs stb's headers")
def test_mmd_leaves_out_an_implementation(lab):
    """What an installed header defines is a candidate, and enough to see which switch turns it on."""
    for name in "ab":
        lab.write(f"{name}.c", "#define STB_DS_IMPLEMENTATION\n#include <stb/stb_ds.h>\n")
        lab.sh(f"gcc -w -MMD -c {name}.c")
    (first, *others) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert not others and first["also"]
    assert first["cause"]["kind"] == "implementation-switch" and "STB_DS_IMPLEMENTATION is defined in a.c:1 and b.c:1" in first["cause"]["text"]
    assert {site["known_by"] for site in first["sites"]} == {"none"}


@pytest.mark.skipif(not os.path.exists("/usr/include/xxhash.h"), reason="needs xxhash's header")
def test_mmd_beside_debug_info_leaves_out_an_implementation(lab):
    for name in "ab":
        lab.write(f"{name}.c", "#define XXH_STATIC_LINKING_ONLY\n#define XXH_IMPLEMENTATION\n#include <xxhash.h>\n")
        lab.sh(f"gcc -w -g -MMD -c {name}.c")
    (first, *others) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert not others and first["also"]
    assert "XXH_IMPLEMENTATION is defined in a.c:2 and b.c:2" in first["cause"]["text"]


def test_a_static_function_that_was_left_out_is_no_other_definition(lab):
    """70 names are more than can be tried."""
    condition = " || ".join(f"defined(A{i})" for i in range(70))
    lab.write("lib.h", f"""#pragma once
struct A {{
  using T = int;
  static int convert(T);
#if {condition}
  static int convert(long l) {{ return l; }}
#endif
}};
#ifdef LIB_IMPLEMENTATION
int A::convert(T i) {{ return i; }}
int other() {{ return 1; }}
#endif
""")
    for name in "ab":
        lab.write(f"{name}.cpp", '#define LIB_IMPLEMENTATION\n#include "lib.h"\n')
        lab.sh(f"g++ -MD -c {name}.cpp")
    (finding,) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert finding["cause"]["kind"] == "implementation-switch" and len(finding["also"]) == 1


FUNCTION = "struct A { int level(int) const; };\nint A::level(int) const { return 1; }\n"
VARIABLE = "struct A { static int level; };\nint A::level = 2;\n"


@pytest.mark.parametrize("compiler, symbol, text", [("g++", "_ZNK1A5levelEi", FUNCTION), ("clang++", "_ZNK1A5levelEi", FUNCTION),
                                                    ("clang++", "_ZN1A5levelE", VARIABLE)])  # which g++ 12 refuses
def test_members_have_no_c_linkage(lab, compiler, symbol, text):
    lab.write("lib.h", f'#pragma once\nextern "C" {{\n{text}}}\n')
    assert places(lab, f"{compiler} -MD", "cpp", symbol) == {("lib.h", 4, (1,), "depfile")}


def test_a_name_that_a_command_line_may_give_to_an_include_names_one_file(lab):
    """mbedtls asks for its configuration in each header."""
    config = '#if !defined(LIB_CONFIG_FILE)\n#include "config.h"\n#else\n#include LIB_CONFIG_FILE\n#endif\n'
    lab.write("config.h", "#pragma once\n#define HAVE_LEVEL 1\n")
    lab.write("level.h", f"#pragma once\n{config}int level = 3;\n")
    lab.write("lib.h", f'#pragma once\n{config}#include "level.h"\n')
    assert places(lab, "gcc -MD") == {("level.h", 7, (1, 7), "depfile")}
    assert places(lab, "gcc -MD '-DLIB_CONFIG_FILE=\"config.h\"'") == {("level.h", 7, (1, 7), "depfile")}


def test_what_a_command_line_may_include_is_no_header_of_the_library(lab):
    """BOOST_TYPE_INDEX_USER_TYPEINDEX."""
    lab.write("own/type.h", "#pragma once\n")
    lab.write("lib/std.h", "#pragma once\nint level = 3;\n")
    lab.write("lib.h", "#pragma once\n#if defined(LIB_TYPE)\n#include LIB_TYPE\n#else\n#include <lib/std.h>\n#endif\n")
    assert places(lab, "gcc -I. -MD") == {("lib/std.h", 2, (1, 5), "depfile")}
    lab.write("lib.h", "#pragma once\n#if defined(LIB_TYPE)\n#include LIB_TYPE\n#endif\n#include <lib/std.h>\n")
    assert places(lab, "gcc -I. -MD '-DLIB_TYPE=<own/type.h>'") <= {("lib/std.h", 2, (1, 5), "depfile"), (None, None, (), "none")}


def test_of_two_listed_files_the_order_tells_which_is_meant(lab):
    """<krb5.h> and <krb5/krb5.h>."""
    lab.write("lib.h", "#pragma once\n#include <krb5.h>\n")
    lab.write("third/krb5.h", "#pragma once\n#include <krb5/krb5.h>\n")
    lab.write("third/krb5/krb5.h", "#pragma once\nint level = 3;\n")
    assert places(lab, "gcc -Ithird -MD") == {("third/krb5/krb5.h", 2, (1, 2, 2), "depfile")}
    lab.write("lib.h", "#pragma once\n#include <krb5/krb5.h>\n#include <krb5.h>\n")
    (known,) = places(lab, "gcc -Ithird -MD")
    assert known in (("third/krb5/krb5.h", 2, (1, 2), "depfile"), (None, None, (), "none"))


def test_clang_has_the_feature_where_it_has_the_macro(lab):
    """boost/throw_exception.hpp"""
    lab.write("lib.h", "#pragma once\n#if !__has_feature(cxx_exceptions)\nint level = 4;\n#else\nint level = 3;\n#endif\n")
    assert places(lab, "clang++ -MD -g", "cpp") == {("lib.h", 5, (1,), "depfile")}
    for option, line in (("", 5), ("-fno-exceptions", 3)):
        ((file, found, *_),) = places(lab, f"clang++ -MD -g {option}", "cpp")
        assert (file, found) == ("lib.h", line)


@pytest.mark.parametrize("feature", ["has_nothrow_constructor", "has_trivial_destructor", "has_virtual_destructor"])
def test_clang_has_features_named_as_type_traits(lab, feature):
    """boost/type_traits/intrinsics.hpp asks for them."""
    lab.write("with.h", "#include <stddef.h>\n")
    lab.write("without.h", "#include <stdlib.h>\n")
    header = f'#if __has_feature({feature})\n#include "with.h"\n#else\n#include "without.h"\n#endif\nint level = 3;\n'
    lab.write("lib.h", header)
    assert places(lab, "clang++ -MD", "cpp") == {("lib.h", 6, (1,), "depfile")}


def test_a_line_that_the_reading_leaves_out_has_the_way_to_its_file(lab):
    """Debug info says that it was read; -MD does not say what -O."""
    lab.write("level.h", "#pragma once\n#ifdef __OPTIMIZE__\nint level = 3;\n#else\nint level = 4;\n#endif\n")
    lab.write("lib.h", '#pragma once\n#include "level.h"\n')
    for options, line in (("-O2", 3), ("-O0", 5)):
        assert places(lab, f"gcc -MD -g {options}") == {("level.h", line, (1, 2), "depfile")}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_debug_info_does_not_say_what_the_command_line_includes(lab, compiler):
    lab.write("level.h", "#pragma once\nint level = 3;\n")
    for header in ("lib.h", "other.h"):
        lab.write(header, '#pragma once\n#include "level.h"\n')
    assert places(lab, f"{compiler} -MD -g -include other.h") == {("level.h", 2, (), "none")}


def test_an_installed_header_of_the_same_name_below_a_folder(lab):
    """<krb5.h> of the project beside /usr/include/krb5/krb5.h."""
    lab.write("lib.h", "#pragma once\n#include <level.h>\n#include <string.h>\nextern int more;\n")
    lab.write("third/level.h", "#pragma once\n#include <stdio.h>\n#include <sys/types.h>\n#include <sys/level.h>\nint level = 3;\n")
    lab.write("system/sys/level.h", "#pragma once\nextern int other;\n")
    assert places(lab, "gcc -isystem third -isystem system -MD") == {("third/level.h", 5, (1, 2), "depfile")}


def test_a_macro_before_a_declaration_of_another_file(lab):
    """The declaration that a header leaves open goes on in the file that includes it (miniaudio)."""
    lab.write("z.h", "#define API __attribute__((unused))\nAPI\n")
    lab.write("lib.h", '#pragma once\n#include "z.h"\nint level = 3;\n')
    assert places(lab, "gcc -MD") == {("lib.h", 3, (1,), "depfile")}
