"""An undefined symbol is half the story: who would have defined it?"""

import pytest

from elfaudit_test import need

need("g++", "gcc", "ld.bfd", "ar")


def notes(lab, *words, driver="g++"):
    """{symbol: what is said of it} for every undefined symbol."""
    result = lab.audit("check", "--format", "json", "--", driver, *words, "-o", "out")
    assert result.code == 1, result
    return {f["symbol"]: f["notes"] for f in result.json()["findings"] if f["rule"] == "undefined-symbol"}


@pytest.fixture
def shop(lab):
    lab.cc("main.o", "extern \"C\" int wares(); int main() { return wares(); }")
    lab.cc("wares.o", "extern \"C\" int wares() { return 1; }", "g++ -fPIC")
    lab.sh("mkdir d e")
    return lab


def test_archive_in_the_search_path(shop):
    shop.ar("d/libwares.a", "wares.o")
    assert notes(shop, "main.o", "-Ld", "-Le") == {"wares": ["d/libwares.a defines it and is not on the line: -lwares"]}


def test_shared_object_in_the_search_path(shop):
    shop.sh("g++ -shared wares.o -o d/libwares.so")
    assert notes(shop, "main.o", "-Ld") == {"wares": ["d/libwares.so defines it and is not on the line: -lwares"]}


def test_library_of_the_system(lab):
    lab.cc("main.o", "#include <zlib.h>\nint main() { return zlibVersion()[0]; }")
    [said] = notes(lab, "main.o")["zlibVersion"]
    assert said.endswith("-lz"), said


def test_nobody(shop):
    assert notes(shop, "main.o") == {"wares": ["no library in the search path defines it"]}


def test_archive_too_early(shop):
    shop.ar("libwares.a", "wares.o")
    [said] = notes(shop, "libwares.a", "main.o")["wares"]
    assert said.startswith("libwares.a(wares.o) defines it, and the archive is on the line too early: move it after main.o")


def test_shared_object_dropped_by_as_needed(shop):
    shop.sh("g++ -shared wares.o -o libwares.so")
    [said] = notes(shop, "-Wl,--as-needed", "./libwares.so", "main.o")["wares"]
    assert "too early" in said and "--as-needed" in said, said


def test_static_in_another_file(shop):
    shop.cc("other.o", "static int wares() { return 1; } int (*user)() = wares;", "gcc")
    assert "other.o has one that is static" in notes(shop, "main.o", "other.o")["wares"]


def test_not_exported_by_a_shared_object(shop):
    shop.write("none.map", "{ local: *; };")
    shop.sh("g++ -shared wares.o -Wl,--version-script,none.map -o libwares.so")
    assert "libwares.so has it, but does not export it" in notes(shop, "main.o", "libwares.so")["wares"]


def test_extern_c_missing_in_the_definition(shop):
    shop.cc("plusplus.o", "int wares() { return 1; }")
    assert notes(shop, "main.o", "plusplus.o")["wares"] == ["plusplus.o defines wares() in C++: extern \"C\" is missing there"]


def test_extern_c_missing_in_the_declaration(lab):
    lab.cc("main.o", "int wares(); int main() { return wares(); }")
    lab.cc("wares.o", "int wares() { return 1; }", "gcc")
    assert notes(lab, "main.o", "wares.o")["_Z5waresv"] == [
        "wares.o defines wares in C: extern \"C\" is missing where it is declared"
    ]


def test_other_parameters(lab):
    lab.cc("main.o", "namespace n { int f(int); } int main() { return n::f(1); }")
    lab.cc("f.o", "namespace n { int f(long) { return 1; } }")
    assert notes(lab, "main.o", "f.o")["_ZN1n1fEi"] == ["f.o defines n::f(long)"]


def test_other_string_abi(lab):
    lab.cc("main.o", "#include <string>\nstd::string name(const std::string&); int main() { return name(\"\").size(); }")
    lab.cc("name.o", "#include <string>\nstd::string name(const std::string& s) { return s; }", "g++ -D_GLIBCXX_USE_CXX11_ABI=0")
    [said] = notes(lab, "main.o", "name.o").values()
    assert any("other std::string ABI" in note and "_GLIBCXX_USE_CXX11_ABI" in note for note in said), said


def test_two_variants_of_a_constructor_are_no_advice(lab):
    lab.cc("main.o", "struct S { S(); }; int main() { S s; }")
    assert notes(lab, "main.o") == {"_ZN1SC1Ev": ["no library in the search path defines it"]}


def test_shadowed_definition(lab):
    """Which of two archives is taken is a matter of order: a note, and not for weak ones or copies."""
    lab.cc("main.o", "int f(); int main() { return f(); }")
    lab.cc("f1.o", "int f() { return 1; }")
    lab.cc("f2.o", "int other() { return 3; } int f() { return 2 + other(); }")
    lab.cc("weak.o", "int more() { return 1; } __attribute__((weak)) int f() { return 2; }")
    lab.ar("libone.a", "f1.o")
    lab.ar("libtwo.a", "f2.o")
    lab.ar("libweak.a", "weak.o")
    lab.sh("mkdir copy; cp libone.a copy/")
    result = lab.audit("check", "--format", "json", "--", "g++", "main.o", "libone.a", "libtwo.a", "libweak.a", "copy/libone.a")
    assert result.code == 0, result
    [finding] = result.json()["findings"]
    assert (finding["rule"], finding["severity"], finding["symbol"]) == ("shadowed-definition", "note", "_Z1fv")
    assert [(s["role"], s["input"]) for s in finding["sites"]] == [("kept", "libone.a(f1.o)"), ("candidate", "libtwo.a(f2.o)")]


def test_shadowed_definition_names_the_linkers_that_differ(lab):
    """GNU ld has passed libtwo.a when main.o needs f; lld and mold have not."""
    lab.cc("main.o", "int f(); int main() { return f(); }")
    lab.cc("f1.o", "int f() { return 1; }")
    lab.cc("f2.o", "int other() { return 3; } int f() { return 2 + other(); }")
    lab.ar("libone.a", "f1.o")
    lab.ar("libtwo.a", "f2.o")
    words = ["libtwo.a", "main.o", "libone.a"]
    [finding] = lab.audit("check", "--format", "json", "--", "g++", *words).json()["findings"]
    assert finding["notes"][:2] == ["lld takes libtwo.a(f2.o)", "mold takes libtwo.a(f2.o)"]


# --- What refers to it, and what to write.


def undefined(lab, command):
    """{symbol: finding}"""
    result = lab.audit("check", "--format", "json", "--", *command.split(), "-o", "out")
    assert result.code == 1, result
    return {f["symbol"]: f for f in result.json()["findings"] if f["rule"] == "undefined-symbol"}


def test_line_and_function_of_a_reference(lab):
    lab.write("use.h", "int gone(int);\ninline int twice(int x) {\n  return gone(x)\n      + 1;\n}\n")
    lab.write("use.cpp", '#include "use.h"\nstatic int helper(int x) {\n\n  return twice(x);\n}\nint main(int c, char**) { return helper(c); }\n')
    for flags in ("-g -O0", "-g -gdwarf-4 -O0", "-g -O0 -ffunction-sections", "-g -gz -O0"):
        lab.sh(f"g++ {flags} -c use.cpp")
        [site] = undefined(lab, "g++ use.o")["_Z4gonei"]["sites"]
        assert (site["file"], site["line"]) == ("use.h", 3) and "in twice(int)" in site["notes"], (flags, site)
    lab.sh("g++ -c use.cpp")
    [site] = undefined(lab, "g++ use.o")["_Z4gonei"]["sites"]
    assert site["line"] is None and "in twice(int)" in site["notes"], site


def test_fixes_from_the_line(shop):
    shop.ar("libwares.a", "wares.o")
    assert undefined(shop, "g++ libwares.a main.o")["wares"]["fixes"][0]["text"] == "move libwares.a after main.o"
    shop.cc("plusplus.o", "int wares() { return 1; }")
    assert undefined(shop, "g++ main.o plusplus.o")["wares"]["fixes"][0]["text"] == 'declare wares extern "C" where plusplus.o is compiled'


KINDS = [
    ("struct B { virtual void key(); }; int main() { B b; }", "_ZTV1B", "define that function"),
    ("struct S { static int q; }; int main() { return S::q; }", "_ZN1S1qE", "define it in one source file"),
    ("template <class T> T twice(T); int main() { return twice(2); }", "_Z5twiceIiET_S0_", "instantiate it explicitly"),
    ("int f() { return 1; }", "main", "add the object with main"),
]


@pytest.mark.parametrize("text, symbol, fix", KINDS)
def test_fixes_by_kind(lab, text, symbol, fix):
    lab.cc("m.o", text)
    assert undefined(lab, "g++ m.o")[symbol]["fixes"][0]["text"].startswith(fix)
