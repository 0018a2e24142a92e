"""Causes that need a project of their own shape: the program names it, the edit that it shows is applied, and the link works.
incidents.py has the others."""

import json
import subprocess

import pytest

from elfaudit_test import Lab, by_symbol, need

need("g++", "gcc", "patch")


def build(lab, sources, command):
    for source in sources:
        lab.sh(f"{command} -MD -c {source} -o {source}.o")
    return [f"{source}.o" for source in sources]


def finding(lab, objects):
    findings = lab.audit("check", *objects, "--format", "json").json()["findings"]
    findings = [f for f in findings if f["rule"] != "stale-object"]  # of a header that a test has changed
    assert len(findings) == 1, findings
    return findings[0]


def apply(lab, fix):
    """Patches the sources with the diff of a fix."""
    assert fix["diff"], fix
    done = subprocess.run(["patch", "-p0", "--no-backup-if-mismatch"], input=fix["diff"], cwd=lab.path, text=True, capture_output=True)
    assert done.returncode == 0, f"{fix['diff']}\n{done.stdout}{done.stderr}"


def test_the_source_says_in_which_language_its_headers_are(lab):
    """gcc ignores `inline` before a variable and clang refuses it; debug info alone names the source."""
    lab.write("state.h", "int state = 3;\n")
    for name in "ab":
        lab.write(f"{name}.c", '#include "state.h"\n')
        lab.sh(f"gcc -g -c {name}.c -o {name}.o")
    assert [fix["text"] for fix in finding(lab, ["a.o", "b.o"])["fixes"]] == [
        "declare it `extern` in state.h:1 and define it in one source file"]


def test_guard_the_include_of_a_header_that_is_not_ours(lab):
    lab.write("third_party/lib/state.h", "#if defined(LIB_DEVICE_PASS) || defined(LIB_TOOLS)\n#define LIB_CONSTANT extern\n"
              "#else\n#define LIB_CONSTANT\n#endif\nLIB_CONSTANT int lib_state;\n")
    lab.write("csrc/configs.h", "#pragma once\n#include <string>\n#include <lib/state.h>\n#define LIMIT 3\n")
    sources = [lab.write(f"csrc/{name}.cpp", "// comment\n#include \"configs.h\"\nint %s = LIMIT;\n" % name) for name in "ab"]
    objects = build(lab, sources, "g++ -Ithird_party")
    broken = finding(lab, objects)
    assert broken["cause"] == {"kind": "empty-macro", "text": "LIB_CONSTANT is empty here: line 3 is taken because neither "
                               "LIB_DEVICE_PASS nor LIB_TOOLS is defined when g++ compiles a.cpp"}
    site = broken["sites"][0]
    assert site["chain"] == [{"file": "csrc/a.cpp", "line": 2}, {"file": "csrc/configs.h", "line": 3}] and site["edit"] == 1
    assert broken["fixes"][0]["file"] == "csrc/configs.h" and broken["fixes"][0]["line"] == 3
    apply(lab, broken["fixes"][0])
    lab.sh("g++ -shared " + " ".join(build(lab, sources, "g++ -fPIC -Ithird_party")) + " -o x.so")


def test_declared_in_one_branch_and_defined_in_the_other(lab):
    lab.write("inc/state.h", "#ifdef USE_LIB\nextern int state;\n#else\nint state;\n#endif\n")
    sources = [lab.write(f"{name}.cpp", '#include "inc/state.h"\n') for name in "ab"]
    broken = finding(lab, build(lab, sources, "g++"))
    assert broken["cause"] == {"kind": "branch", "text": "the header declares it in one branch and defines it in the other: line 3 "
                               "is taken because USE_LIB is not defined when g++ compiles a.cpp"}
    apply(lab, broken["fixes"][0])
    lab.sh("g++ -shared " + " ".join(build(lab, sources, "g++ -fPIC")) + " -o x.so")


def test_a_source_is_included(lab):
    lab.write("a.cpp", "int work() { return 1; }\n")
    lab.write("b.cpp", '#include "a.cpp"\nint more() { return 2; }\n')
    broken = finding(lab, build(lab, ["a.cpp", "b.cpp"], "g++"))
    assert broken["cause"] == {"kind": "source-included", "text": "b.cpp:1 includes the source file a.cpp"}
    apply(lab, broken["fixes"][0])
    lab.sh("g++ -shared " + " ".join(build(lab, ["a.cpp", "b.cpp"], "g++ -fPIC")) + " -o x.so")


def test_one_source_in_two_libraries(lab):
    lab.write("a.cpp", "int work() { return 1; }\n")
    lab.sh("g++ -g -c a.cpp -o one.o && g++ -g -O2 -c a.cpp -o two.o")
    broken = finding(lab, ["one.o", "two.o"])
    assert broken["cause"] == {"kind": "source-compiled-twice", "text": "a.cpp is compiled into both one.o and two.o"}
    assert broken["fixes"][0]["text"] == "leave one.o or two.o out of the link"


def test_an_archive_is_copied(lab):
    lab.cc("a.o", "int work() { return 1; }")
    lab.ar("libone.a", "a.o")
    lab.ar("libtwo.a", "a.o")
    broken = finding(lab, ["libone.a", "libtwo.a"])
    assert broken["cause"]["kind"] == "copied-archive"
    assert broken["fixes"][0]["text"] == "remove one of the two archives from the link line: libtwo.a"


def test_two_archives_share_an_object(lab):
    lab.cc("k.o", "int work() { return 1; }")
    for name in ("one", "two"):
        lab.ar(f"lib{name}.a", "k.o", lab.cc(f"{name}.o", f"int {name}() {{ return 1; }}"))
    broken = finding(lab, ["libone.a", "libtwo.a"])
    assert broken["cause"] == {"kind": "copied-member", "text": "libone.a and libtwo.a both hold k.o"}
    assert [fix["text"] for fix in broken["fixes"]] == ["take k.o out of libone.a or libtwo.a"]


def test_a_source_is_compiled_twice_with_other_macros(lab):
    """Each object has a function that the other lacks: neither can be left out."""
    lab.write("a.cpp", "int P() { return 1; }\nvoid start() {}\n")
    lab.sh("g++ -g -DP=one -c a.cpp -o one.o && g++ -g -DP=two -c a.cpp -o two.o")
    broken = finding(lab, ["one.o", "two.o"])
    assert broken["cause"]["kind"] == "source-compiled-otherwise" and "each defines what the other does not" in broken["cause"]["text"]
    assert "leave" not in broken["fixes"][0]["text"], broken


def test_the_switch_of_the_one_source_that_is_known(lab):
    lab.write("two.h", "int two_open();\n#ifdef TWO_IMPLEMENTATION\nint two_open() { return 2; }\n#endif\n")
    lab.write("two.cpp", '#define TWO_IMPLEMENTATION\n#include "two.h"\n')
    lab.sh("g++ -g -c two.cpp && cp two.cpp vend.cpp && g++ -c vend.cpp && rm vend.cpp")
    broken = finding(lab, ["two.o", "vend.o"])
    assert broken["cause"]["kind"] == "implementation-switch" and "TWO_IMPLEMENTATION is defined in two.cpp:1" in broken["cause"]["text"], broken
    assert "the source of the other, in vend.o, is not known" in broken["cause"]["text"], broken
    assert "keep one of the two" in broken["fixes"][0]["text"] and broken["fixes"][0]["diff"] is None, broken


def test_edits_know_who_only_uses_a_name(lab):
    """`static` takes a function from an object that declares it itself, whether the objects are files or a link's."""
    lab.write("s.h", "int twice(int i) { return 2 * i; }\n")
    for name in "ab":
        lab.write(f"{name}.c", '#include "s.h"\n')
    lab.write("c.c", "int twice(int);\nint main(void) { return twice(1); }\n")
    lab.sh("gcc -g -c a.c b.c c.c")
    texts = {}
    for words in (["a.o", "b.o", "c.o"], ["--format", "json", "a.o", "b.o", "c.o"], ["--", "gcc", "a.o", "b.o", "c.o"]):
        options = [] if "--format" in words else ["--format", "json"]
        texts[" ".join(words)] = json.dumps(lab.audit("check", *options, *words).json()["findings"][0]["fixes"])
    assert len(set(texts.values())) == 1, texts
    for words in (["a.o", "b.o", "c.o"], ["--", "gcc", "a.o", "b.o", "c.o"]):
        assert "static" not in lab.audit("check", "--diff", *words).out


# What is built of a.c and b.c, what is audited, and the cause.
TWICE = [
    ("true", "a.o ./a.o", "input-twice", "a.o is named twice on the link line"),
    ("ar rc a.a a.o; ln -s a.a link.a", "a.a link.a", "input-twice", "a.a and link.a are one file, which is linked twice"),
    ("ar rc a.a a.o b.o; ln a.a link.a", "a.a link.a", "input-twice", "a.a and link.a are one file, which is linked twice"),
    ("ar rc a.a a.o b.o", "a.a ./a.a", "input-twice", "a.a is named twice on the link line"),
    ("gcc -c b.c -o d.o; cp a.o c.o; objcopy --redefine-sym work=w --redefine-sym play=p c.o; ar rc a.a a.o c.o; ar rc b.a a.o c.o; ar q b.a d.o", "a.a b.a", "copied-member",
     "a.a and b.a both hold a.o, c.o"),
    ("sed 's/work/walk/; s/play/plan/' a.c >d.c; gcc -c d.c; ar rc a.a a.o d.o; gcc -O2 -c a.c d.c; ar rc b.a a.o d.o; rm a.o d.o d.c", "a.a b.a", "member-in-both",
     "a.a and b.a each have members a.o, d.o, which differ"),
    ("ar rcT a.a a.o; ar rcT b.a b.o a.o", "a.a b.a", "copied-member", "a.a and b.a both hold a.o"),
    ("ar rc a.a a.o; cp a.o c.o; ar rc b.a b.o c.o", "a.a b.a", "copied-member", "a.a(a.o) and b.a(c.o) are the same object"),
    ("ar qc a.a a.o a.o", "a.a", "copied-member", "a.a holds a.o twice"),
    ("cp a.o c.o", "a.o c.o", "copied-object", "a.o and c.o are the same object"),
    ("ar rc a.a a.o; gcc -O2 -DMORE -c a.c -o a.o; ar rc b.a a.o; rm a.o", "a.a b.a", "member-in-both",
     "a.a and b.a each have a member a.o; the two differ, and have 2 of 2 and 3 symbols in common"),
    ("gcc -Dwork=rust_eh_personality -Dplay=one -c a.c; ar rc a.a a.o; gcc -Dwork=rust_eh_personality -Dplay=two -c a.c -o c.o; ar rc b.a c.o", "a.a b.a",
     "runtime-in-both", "a.a and b.a each contain Rust's standard library"),
    ("gcc -D'work=__cudaRegisterLinkedBinary_1' -c a.c -o one.o; gcc -O2 -D'work=__cudaRegisterLinkedBinary_1' -c a.c -o two.o; "
     "gcc -Dwork=__fatbinwrap_1 -Dplay=other -c a.c -o core.o", "-- gcc -nostdlib -r one.o two.o core.o", "device-linked-twice",
     "core.o is in two device links, whose outputs one.o and two.o are both linked"),
]


@pytest.mark.parametrize("build, words, kind, text", TWICE, ids=[row[1] + " " + row[2] for row in TWICE])
def test_one_thing_is_linked_twice(lab, build, words, kind, text):
    """However many symbols it defines: one finding."""
    lab.write("a.c", "int work(void) { return 1; }\nint play(void) { return 2; }\n#ifdef MORE\nint more(void) { return 3; }\n#endif\n")
    lab.write("b.c", "int other_b;\n")
    lab.sh(f"gcc -c a.c b.c; {build}; rm a.c b.c")
    result = lab.audit("check", "--format", "json", *words.split()).json()
    broken = result["findings"][0]
    assert broken["cause"] == {"kind": kind, "text": text} and broken["fixes"], broken
    assert len(result["findings"]) == 1 or kind == "device-linked-twice", result


REFUSED = [  # the sources, what is linked, the rule, a part of the fix
    ({"a.c": "__thread int state;\n", "b.c": "extern int state; int main(void) { return state; }\n"}, "a.o b.o -o p", "tls-mismatch", "declare state alike"),
    ({"a.c": 'int g(void) { return 1; }\n__asm__(".symver g, f@@V2");\n'}, "-shared a.o -Wl,--version-script=v.map -o p.so", "version-not-defined", "add a node V2"),
    ({"a.c": '__attribute__((visibility("hidden"))) int f(void) { return 1; }\nint needs(void);\nint main(void) { return needs(); }\n'}, "a.o libneeds.so -o p", "symbol-not-exported", "give f default visibility"),
    ({"a.c": "int f(void) { return 1; }\nint needs(void);\nint main(void) { return needs(); }\n"}, "a.o libneeds.so -o p", "symbol-not-exported", "(cc -shared)"),
]


@pytest.mark.parametrize("sources, words, rule, fix", REFUSED, ids=[f"{row[2]} {row[3]}" for row in REFUSED])
def test_what_linkers_refuse_has_a_fix(lab, sources, words, rule, fix):
    for name, text in sources.items():
        lab.write(name, text)
    lab.write("v.map", "V1 { global: g; };\n")
    lab.write("needs.c", "int f(void), atexit(void (*)(void)); int needs(void) { return f() + atexit(0); }\n")
    lab.sh(f"gcc -fPIC -c {' '.join(sources)} && gcc -shared -fPIC needs.c -o libneeds.so -nostdlib")
    fixes = [one["text"] for found in lab.audit("check", "--format", "json", "--", "gcc", *words.split()).json()["findings"]
             if found["rule"] == rule for one in found["fixes"]]
    assert any(fix in one for one in fixes), fixes


def test_two_copies_of_one_source(lab):
    for name in ("one.c", "two.c", "more.c"):
        lab.write(name, "int work(void) { return 1; }\n" + ("int more;\n" if name == "more.c" else ""))
    lab.sh("gcc -g -c one.c two.c more.c")
    assert finding(lab, ["one.o", "two.o"])["cause"]["text"] == "one.c and two.c have the same text, and are compiled into one.o and two.o"
    assert finding(lab, ["one.o", "more.o"])["cause"]["kind"] == "two-definitions"


HEADERS = [  # the sources, how they are compiled, the cause, a part of its text
    ({"s.h": "#if MODE == 1\nint state = 1;\n#else\nlong state = 2;\n#endif\n", "a.cpp": '#include "s.h"\n', "b.cpp": '#define MODE 1\n#include "s.h"\n'},
     "-g -MD", "branches-differ", "a.cpp takes s.h:3 (`#else`) and b.cpp takes line 1 (`#if MODE == 1`), and each finds a definition there: MODE decides"),
    ({"s.h": "#if defined(A)\nint state = 1;\n#elif defined(B)\nint state = 2;\n#endif\n", "a.cpp": '#define A\n#include "s.h"\n', "b.cpp": '#define B\n#include "s.h"\n'},
     "-g", "branches-differ", "a.cpp takes s.h:1 (`#if defined(A)`) and b.cpp takes line 3 (`#elif defined(B)`), and each finds a definition there: A and B decide"),
    ({"one/h.h": "int state = 1;\n", "two/h.h": "int state = 1;\n", "a.cpp": '#include "one/h.h"\n', "b.cpp": '#include "two/h.h"\n'},
     "-g -MD", "two-headers", "one/h.h:1 and two/h.h:1 each define it: copies or versions of one header"),
    ({"one.h": "int state;\n", "two.h": "int state;\n", "a.c": '#include "one.h"\n#include "two.h"\n', "b.c": '#include "one.h"\n#include "two.h"\n'},
     "-MD", "tentative-in-headers", "one.h:1, two.h:1 define the variable: none says extern"),
    ({"f.h": "template <class T> int f(T) { return 0; }\n#ifdef FAST\ntemplate <> int f<short>(short) { return 1; }\n#endif\n",
      "a.cpp": '#define FAST\n#include "f.h"\n', "b.cpp": '#define FAST\n#include "f.h"\n'},
     "-g -MD", "specialisation-not-inline", "line 2 is taken because FAST is defined (a.cpp:1)"),
    ({"f.h": "template <class T> int f(T) { return 0; }\ntemplate <> int f<short>(short) { return 1; }\n", "a.cpp": '#include "f.h"\n', "b.cpp": '#include "f.h"\n'},
     "", "strong-specialisation", "only a full specialisation of a template, or a member of one, is strong"),
]


@pytest.mark.parametrize("sources, flags, kind, text", HEADERS, ids=[row[2] for row in HEADERS])
def test_what_headers_do(lab, sources, flags, kind, text):
    for name in sources:
        lab.write(name, sources[name])
    units = [name for name in sources if not name.endswith(".h")]
    lab.sh(f"gcc {flags} -c {' '.join(units)}" + ("" if flags else " && rm a.cpp b.cpp"))
    broken = finding(lab, ["a.o", "b.o"])
    assert broken["cause"]["kind"] == kind and text in broken["cause"]["text"] and broken["fixes"], broken


def test_what_an_object_was_compiled_without(lab):
    """A function that a source has below a condition, and a version script or another source names it."""
    lab.write("f.c", "int other(void) { return 2; }\n#ifdef T64\nint time64(void) { return 1; }\n#endif\n")
    lab.write("m.c", "int time64(void); int main(void) { return time64(); }\n")
    lab.write("f.map", "V_2 {\n  global: other;\n  time64;\n local: *;\n};\n")
    lab.sh("gcc -MD -fPIC -c f.c m.c")
    said = "f.c:3 defines it below `#ifdef T64` (line 2), and f.o was compiled without that"
    [missing] = lab.audit("check", "--format", "json", "--", "gcc", "m.o", "f.o", "-o", "out").json()["findings"]
    assert missing["cause"] == {"kind": "switched-off", "text": said}, missing
    [script] = lab.audit("check", "--format", "json", "--linker", "lld:19", "--", "gcc", "-shared", "f.o", "-Wl,--version-script=f.map", "-o", "f.so").json()["findings"]
    assert script["cause"] == {"kind": "switched-off", "text": said} and script["sites"][0]["file"] == "f.map" and script["sites"][0]["line"] == 3, script


def test_two_authors(lab):
    lab.cc("a.o", "int work() { return 1; }", "g++ -g")
    lab.cc("b.o", "\nint work() { return 2; }", "g++ -g")
    broken = finding(lab, ["a.o", "b.o"])
    assert broken["cause"] == {"kind": "two-definitions", "text": "a.cpp:1 and b.cpp:2 each define it"}


@pytest.mark.parametrize("flags, known_by, chain_known_by", [
    ("-g -MD", "debug-info", "depfile"), ("-g3", "debug-info", "macro-info"), ("-MD", "depfile", "depfile"), ("", "none", "none")])
def test_how_it_is_known(lab, flags, known_by, chain_known_by):
    lab.write("inc/deep.h", "int state;\n")
    lab.write("inc/outer.h", '\n#include "deep.h"\n')
    for name in "ab":
        lab.write(f"{name}.cpp", "#include <outer.h>\n")
        lab.sh(f"g++ -Iinc {flags} -c {name}.cpp -o {name}.o")
    site = finding(lab, ["a.o", "b.o"])["sites"][0]
    assert (site["known_by"], site["chain_known_by"]) == (known_by, chain_known_by)
    if known_by != "none":
        assert (site["file"], site["line"]) == ("inc/deep.h", 1)
        assert site["chain"] == [{"file": "a.cpp", "line": 1}, {"file": "inc/outer.h", "line": 2}]
    else:
        assert site["file"] is None and site["why_unknown"] == "no debug info, no depfile and no compile command"


def test_the_preprocessor_runs_only_when_asked(lab):
    """A compile command of a compile_commands.json is anybody's: it is not run without --preprocess."""
    lab.write("inc/state.h", "int state;\n")
    lab.write("bin/g++", "#!/bin/sh\ntouch ran\nexec g++ \"$@\"\n")
    lab.sh("chmod +x bin/g++")
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "inc/state.h"\n')
        lab.sh(f"g++ -c {name}.cpp -o {name}.o")
    entries = [f'{{"directory":"{lab.path}","file":"{n}.cpp","output":"{n}.o","command":"{lab.path}/bin/g++ -c {n}.cpp -o {n}.o"}}' for n in "ab"]
    lab.write("compile_commands.json", "[" + ",".join(entries) + "]")
    site = finding(lab, ["a.o", "b.o"])["sites"][0]
    assert site["known_by"] == "source-scan" and not (lab.path / "ran").exists()
    asked = lab.audit("check", "--preprocess", "a.o", "b.o", "--format", "json").json()["findings"][0]["sites"][0]
    assert (asked["known_by"], asked["file"], asked["line"]) == ("preprocessor", "inc/state.h", 1)
    assert asked["chain"] == [{"file": "a.cpp", "line": 1}] and (lab.path / "ran").exists()


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_spliced_lines_have_the_line_of_the_name(lab, compiler):
    """clang's -E writes them as one line, with the number of the first."""
    need(compiler)
    lab.write("s.h", "in\\\nt first = 3;\nint \\\n\\\n  second \\\n = 4;\n")
    entries = []
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "s.h"\n')
        lab.sh(f"{compiler} -c {name}.cpp")
        entries.append({"directory": str(lab.path), "file": f"{name}.cpp", "command": f"{compiler} -c {name}.cpp -o {name}.o"})
    lab.write("compile_commands.json", json.dumps(entries))
    for options in [[], ["--preprocess"]]:
        findings = by_symbol(lab.audit("check", *options, "a.o", "b.o", "--format", "json").json()["findings"])
        assert [(f["symbol"], f["sites"][0]["line"]) for f in findings] == [("first", 2), ("second", 5)], options


def test_a_header_that_changed_since_is_not_presented_as_known(lab):
    lab.write("state.h", "int state;\n")
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "state.h"\n')
        lab.sh(f"g++ -MD -c {name}.cpp -o {name}.o")
    lab.write("state.h", "\n\nint state;\n")
    lab.sh("touch -d '+1 hour' state.h")
    site = finding(lab, ["a.o", "b.o"])["sites"][0]
    assert site["file"] is None and "state.h has changed since the object was made" in site["why_unknown"]


def test_header_definition_is_asked_for(lab):
    lab.write("state.h", "int state;\n")
    lab.cc("a.o", '#include "state.h"\nint own;\ninline int fine = 1;\nint* use() { return &fine; }', "g++ -g -std=c++17")
    assert lab.audit("check", "a.o").code == 0
    result = lab.audit("check", "--enable", "header-definition", "--fail-on", "warning", "a.o", "--format", "json")
    assert result.code == 1
    assert [(f["rule"], f["symbol"], f["sites"][0]["file"]) for f in result.json()["findings"]] == [("header-definition", "state", "state.h")]


STRINGS = """\
#include <string>
#include <string_view>
#ifdef LIB_IMPLEMENTATION
int size(std::string_view s) { return 1; }
int size(std::wstring_view s) { return 2; }
int size(std::string s) { return 3; }
int size(std::wstring s) { return 4; }
int size(std::nullptr_t) { return 5; }
#endif
"""


def test_overloads_for_each_kind_of_characters(lab):
    lab.write("lib.h", STRINGS)
    for name in "ab":
        lab.write(f"{name}.cpp", '#define LIB_IMPLEMENTATION\n#include "lib.h"\n')
    objects = build(lab, ["a.cpp", "b.cpp"], "g++ -std=c++17")
    broken = finding(lab, objects)
    lines = {each["demangled"].split("(")[1]: each["sites"][0]["line"] for each in by_symbol([broken])}
    assert sorted(lines.values()) == [4, 5, 6, 7, 8] and lines["decltype"] == 8, lines
    assert [line for name, line in lines.items() if "basic_string_view<wchar_t" in name] == [5]


def test_thunks_stand_with_their_functions(lab):
    """Debug info describes few of them, and GCC's has the class's line for those."""
    lab.write("lib.h", """\
struct A { virtual void a(); virtual ~A(); };
struct B { virtual B* b(); virtual ~B(); };
struct C : A, virtual B { C* b() override; ~C(); };
#ifdef LIB_IMPLEMENTATION
C* C::b() { return this; }
C::~C() {}
#endif
""")
    for name in "ab":
        lab.write(f"{name}.cpp", '#define LIB_IMPLEMENTATION\n#include "lib.h"\n')
        lab.sh(f"g++ -g -c {name}.cpp -o {name}.o")
    broken = finding(lab, ["a.o", "b.o"])
    thunks = [each for each in by_symbol([broken]) if "thunk" in each["demangled"]]
    assert broken["cause"]["kind"] == "implementation-switch" and len(thunks) >= 3, thunks
    assert {each["sites"][0]["line"] for each in thunks} == {5, 6}


def test_what_was_left_out_may_define_it_without_the_switch(lab):
    lab.write("lib.h", """\
template <class T> struct Box {};
using Ptr = Box<int>;
struct S { S(Ptr); };
#ifdef PLAIN
S::S(Ptr) {}
#elif defined(LIB_IMPLEMENTATION)
S::S(Ptr) {}
#endif
""")
    for name in "ab":
        lab.write(f"{name}.cpp", '#define LIB_IMPLEMENTATION\n#include "lib.h"\n')
    findings = lab.audit("check", *build(lab, ["a.cpp", "b.cpp"], "g++ -DPLAIN"), "--format", "json").json()["findings"]
    assert [f["cause"] for f in findings] == [None, None]
    lab.write("lib.h", (lab.path / "lib.h").read_text().replace("S::S(Ptr) {}\n#elif", "int calls(S&, int S);\n#elif"))
    assert finding(lab, build(lab, ["a.cpp", "b.cpp"], "g++"))["cause"]["kind"] == "implementation-switch"


def test_one_name_for_two_implementations_in_other_files(lab):
    for lib in "xy":
        lab.write(f"{lib}.h", f"int {lib}();\n#ifdef MAIN\nint {lib}() {{ return 1; }}\n#endif\n")
        for name in "ab":
            lab.write(f"{lib}{name}.cpp", f'#define MAIN\n#include "{lib}.h"\n')
    objects = build(lab, ["xa.cpp", "xb.cpp", "ya.cpp", "yb.cpp"], "g++")
    findings = lab.audit("check", *objects, "--format", "json").json()["findings"]
    assert [f["fixes"][0]["text"].split(": ")[1] for f in findings] == ["remove xb.cpp:1", "remove yb.cpp:1"]


def test_edits_that_are_not_tried_say_so(lab):
    """Edits of one line are tried one after another, and not without end."""
    lab.write("line.h", " ".join(f"int v{i} = 1;" for i in range(20)) + "\n")
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "line.h"\n')
    fixes = [f["fixes"][0] for f in by_symbol([finding(lab, build(lab, ["a.cpp", "b.cpp"], "g++ -std=c++17"))])]
    assert any(fix["diff"] for fix in fixes)
    assert all(bool(fix["diff"]) != fix["text"].endswith("(no diff: too many edits to try them all)") for fix in fixes)


def test_a_header_that_the_build_generates(lab):
    (lab.path / ".git").mkdir()
    lab.write("src/ver.h.in", "int version = @V@;\n")
    lab.write("build/gen/ver.h", "int version = 3;\n")
    lab.write("build/CMakeCache.txt", f"# cache\nCMAKE_HOME_DIRECTORY:INTERNAL={lab.path}\n")
    lab.write("build/build.ninja", f"build build.ninja: RERUN_CMAKE | {lab.path}/CMakeLists.txt {lab.path}/src/ver.h.in\n")
    objects = build(lab, [lab.write(f"src/{name}.cpp", '#include "ver.h"\n') for name in "ab"], "g++ -std=c++17 -g -Ibuild/gen")
    fixes = finding(lab, objects)["fixes"]
    assert fixes[0]["text"] == "make it `inline` in build/gen/ver.h:1; it is generated: edit src/ver.h.in" and not any(fix["diff"] for fix in fixes)
    lab.write("build/build.ninja", "")
    assert finding(lab, objects)["fixes"][0]["text"].endswith("in build/gen/ver.h:1; it is generated by the build")


@pytest.mark.parametrize("header, compiler, fixes", [
    ("auto x = [](int a) { return a; };", "g++ -std=c++14", ["make it `static` in h.h:1: each file that includes it then has its own"]),
    ("extern const auto x = 5;", "g++ -std=c++14", ["write `static` in place of `extern` in h.h:1: each file that includes it then has its own; "
                                                    "or write its type in place of `auto`, declare it `extern` and define it in one source file"]),
    ("auto x = 3;", "g++ -std=c++17", ["make it `inline` in h.h:1", "make it `static` in h.h:1: each file that includes it then has its own; "
                                       "or write its type in place of `auto`, declare it `extern` and define it in one source file"]),
    ("int x[] = {1, 2};", "g++ -std=c++14", ["declare it `extern` in h.h:1, with its bound, and define it in one source file"]),
    ("int (*x)(int) = [](int a) { return a; };", "g++ -std=c++14", ["declare it `extern` in h.h:1 and define it in one source file"]),
])
def test_a_type_that_the_declaration_does_not_write(lab, header, compiler, fixes):
    lab.write("h.h", header + "\n")
    assert [fix["text"] for fix in finding(lab, build(lab, [lab.write(f"{name}.cpp", '#include "h.h"\n') for name in "ab"], compiler + " -g"))["fixes"]] == fixes


def test_nothing_but_the_objects(lab):
    """The advice that their names alone give; the sources that the objects name, where they lie beside them, are a guess."""
    lab.write("h.h", "int count = 0;\n")
    for name in "ab":
        lab.cc(f"{name}.o", '#include "h.h"\n')
    guessed = finding(lab, ["a.o", "b.o"])
    assert guessed["cause"]["kind"] == "variable-not-extern" and not any(fix["diff"] for fix in guessed["fixes"])
    assert [(site["known_by"], site["file"], site["line"], site["notes"]) for site in guessed["sites"]] == [
        ("source-scan", "h.h", 1, ["no debug info: if a.cpp is its source"]), ("source-scan", "h.h", 1, ["no debug info: if b.cpp is its source"])]
    lab.sh("touch -d '+1 hour' h.h")  # it may have been another
    unknown = finding(lab, ["a.o", "b.o"])
    assert unknown["cause"] is None and unknown["sites"][0]["file"] is None
    assert unknown["fixes"][0]["text"].startswith("if a header that both include defines it: make it `inline` there")
    assert unknown["notes"] == ["compile with -g or -MD to see where each of them is written"]


def test_two_mains(lab):
    for name in "ab":
        lab.cc(f"{name}.o", "int main() {}")
        lab.sh(f"rm {name}.cpp")
    assert [fix["text"] for fix in finding(lab, ["a.o", "b.o"])["fixes"]] == ["link a.o or b.o, not both: each is a program's, or rename one of the functions"]


def test_a_build_of_cmakes_makefiles(lab):
    """Its compile commands are in build.make and flags.make; the source beside the header gets the definition; and the sources are the
    project's in a folder of them that no checkout holds."""
    lab.write("src/core/core.h", "int total = 3;\n")
    sources = ["app/main", "app/other", "core/core1"]
    target = "build/sub/CMakeFiles/app.dir"
    lab.write(f"{target}/flags.make", f"# compile CXX with /usr/bin/c++\nCXX_DEFINES = \n\nCXX_INCLUDES = -I{lab.path}/src\n\nCXX_FLAGS = -std=gnu++14\n")
    command = "/usr/bin/c++ {} -o CMakeFiles/app.dir/{}.o -c {}/src/{}.cpp"
    lab.write(f"{target}/build.make", "".join(f"x.o: flags.make\n\t@$(CMAKE_COMMAND) -E cmake_echo_color x -c\n\tcd {lab.path}/build/sub && " + command.format(
        "$(CXX_DEFINES) $(CXX_INCLUDES) $(CXX_FLAGS)", source, lab.path, source) + "\n" for source in sources))
    lab.write("build/CMakeCache.txt", f"# cache\nCMAKE_HOME_DIRECTORY:INTERNAL={lab.path}/src\n")
    for source in sources:
        lab.write(f"src/{source}.cpp", f'#include "core/core.h"\nint {source[-4:]}_() {{ return total; }}\n')
        lab.write(f"{target}/{source}.o", "")
        lab.sh("cd build/sub && " + command.format(f"-I{lab.path}/src -std=gnu++14", source, lab.path, source))
    objects = [f"../../{target}/{source}.o" for source in sources]
    [fix] = finding(Lab(lab.path / "src/app"), objects)["fixes"]
    assert fix["text"] == f"declare it `extern` in {lab.path}/src/core/core.h:1 and define it in one source file"
    assert fix["diff"].count("+++ ") == 2 and f"+++ {lab.path}/src/core/core1.cpp\n" in fix["diff"]
