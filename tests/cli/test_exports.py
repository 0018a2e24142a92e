"""--exports: what a shared object exports, compared with a list. `nm -D` is the truth, and dpkg-gensymbols for its own lists."""

import shutil

import pytest

from elfaudit_test import Lab, need

need("gcc", "g++", "nm", "ar")

API = (
    "int helper(int x) { return x + 1; }\n"
    "int mylib_open(int x) { return helper(x); }\n"
    "int mylib_close(void) { return 0; }\n"
    "int mylib_state;\n"
)
SHAPE = (
    "namespace my { struct Shape { virtual ~Shape(); virtual int area(); int sides() const; };\n"
    "Shape::~Shape() {} int Shape::area() { return 1; } int Shape::sides() const { return 2; }\n"
    "inline int& counter() { static int c; return c; } int use() { return counter()++; } }\n"
)
SCRIPT = "V1 { global: mylib_open; mylib_close; local: *; };\nV2 { global: mylib_state; } V1;\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("exports"))
    lab.cc("api.o", API, "gcc -g -fPIC")
    lab.cc("hidden.o", API, "gcc -g -fPIC -fvisibility=hidden")
    lab.cc("vend.o", "int vend_f(int x) { return x; } int vend_g;", "gcc -g -fPIC")
    lab.cc("user.o", "int vend_f(int); int mylib_open(int x) { return vend_f(x); }", "gcc -g -fPIC")
    lab.cc("shape.o", SHAPE, "g++ -g -fPIC")
    lab.sh("ar rc libvend.a vend.o; ar rc libboth.a user.o vend.o; ar rc libpart.a vend.o")
    lab.write("v.map", SCRIPT)
    lab.write("open.map", "{ global: mylib_*; };\n")
    lab.write("wide.map", "{ global: mylib_*; h*; local: *; };\n")
    lab.write("api.list", "# the interface\nmylib_open  # opens\n")
    return lab


def compared(lab, lists, *words):
    """The symbols of (export-unexpected, export-missing) without notes, and the whole findings."""
    options = [word for one in lists.split() for word in ("--exports", one)]
    findings = lab.audit("check", *options, "--format", "json", *words).json()["findings"]
    real = [f for f in findings if f["severity"] != "note"]
    sorted_of = lambda rule: sorted(s for f in real if f["rule"] == rule for s in f.get("symbols", [f["symbol"]]))
    return sorted_of("export-unexpected"), sorted_of("export-missing"), real


def nm(lab, file):
    lines = lab.sh(f"nm -D --defined-only {file}").out.splitlines()
    return sorted(line.split()[2].split("@")[0] for line in lines if line.split()[1] not in "VWwvuA")


# name: the link command of libx.so
LINKS = {
    "plain": "gcc -shared api.o",
    "hidden": "gcc -shared hidden.o vend.o",
    "script": "gcc -shared api.o -Wl,--version-script=v.map",
    "wildcards": "gcc -shared api.o -Wl,--version-script=wide.map",
    "archive": "gcc -shared user.o libvend.a",
    "excluded": "gcc -shared user.o libvend.a -Wl,--exclude-libs,libvend.a",
    "whole archive": "gcc -shared -Wl,--whole-archive libboth.a -Wl,--no-whole-archive",
    "defsym": "gcc -shared api.o -Wl,--defsym,mylib_alias=mylib_open",
    "C++": "g++ -shared shape.o",
}


@pytest.mark.parametrize("case", LINKS)
def test_exports_are_what_nm_says(bench, case):
    command = LINKS[case] + " -o libx.so"
    bench.sh(command)
    bench.write("none.list", "absent\n")
    truth = nm(bench, "libx.so")
    assert truth and compared(bench, "none.list", "libx.so")[0] == truth
    assert compared(bench, "none.list", "--", *command.split())[0] == truth


# name: the list, what is unexpected in api.o's library, what is missing
LISTS = {
    "list": ("mylib_open\nmylib_close\n", ["helper", "mylib_state"], []),
    "wildcard": ("mylib_*\nhelper\n", [], []),
    "empty": ("# nothing\n", ["helper", "mylib_close", "mylib_open", "mylib_state"], []),
    "missing": ("mylib_*\nhelper\nmylib_gone\n", [], ["mylib_gone"]),
    "version script": (SCRIPT, ["helper"], []),
    "local outranks *": ("{ global: *; local: hel*; };", ["helper"], []),
    "exact outranks local": ("{ global: helper; mylib_*; local: hel*; };", [], []),
    "symbols": ("libx.so.1 libx #MINVER#\n helper@Base 1\n mylib_open@Base 1\n mylib_close@V1 1\n mylib_state@Base 1\n",
                ["mylib_close"], ["mylib_close"]),
    "optional": ("libx.so.1 libx\n (optional)gone@Base 1\n (regex)\"^mylib_[a-z]+@Base$\" 1\n helper@Base 1\n", [], []),
    "symver": ("libx.so.1 libx\n (symver|optional)V9 1\n helper@Base 1\n (arch=!any)gone@Base 1\n", ["mylib_close", "mylib_open", "mylib_state"], []),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS)
def test_lists(bench, case):
    text, unexpected, missing = LISTS[case]
    bench.write("case.list", text)
    bench.sh("gcc -shared api.o -Wl,-soname,libx.so.1 -o libx.so")
    assert compared(bench, "case.list", "libx.so")[:2] == (unexpected, missing)
    command = "gcc -shared api.o -Wl,-soname,libx.so.1 -o libx.so"
    assert compared(bench, "case.list", "--", *command.split())[:2] == (unexpected, missing)


def test_versions_in_a_list(bench):
    bench.write("versions.list", "mylib_open@V1\nmylib_c*@V1\nmylib_state@@V2\n")
    command = "gcc -shared api.o -Wl,--version-script=v.map -o libx.so"
    bench.sh(command)
    for words in (["libx.so"], ["--", *command.split()]):
        assert compared(bench, "versions.list", *words)[:2] == ([], [])
    assert compared(bench, "mylib_open@V2", "libx.so")[:2] == (["mylib_close", "mylib_open", "mylib_state"], ["mylib_open@V2"])


def test_lists_of_cxx(bench):
    bench.sh("g++ -shared shape.o -Wl,-soname,libx.so.1 -o libx.so")
    assert compared(bench, "my::*", "libx.so")[:2] == ([], [])
    assert compared(bench, "my::Shape*", "libx.so")[:2] == (["_ZN2my3useEv"], [])
    bench.write("plain.list", "my::use()\nmy::Shape::*\nvtable for *\ntypeinfo*for *\nmy::nowhere(char*)\n")
    assert compared(bench, "plain.list", "libx.so")[:2] == (["_ZN2my7counterEv", "_ZZN2my7counterEvE1c"], ["my::nowhere(char*)"])
    assert "2 symbols of C++ with vague linkage" in bench.audit("check", "--exports", "my::Shape*", "libx.so").out
    every = "\n".join(line.split()[2] for line in bench.sh("nm -D --defined-only libx.so").out.splitlines())
    bench.write("every.list", every.replace("_ZN2my3useEv\n", "").replace("_ZN2my7counterEv\n", ""))
    assert compared(bench, "every.list", "libx.so")[0] == ["_ZN2my3useEv", "_ZN2my7counterEv"]


@pytest.mark.skipif(shutil.which("dpkg-gensymbols") is None, reason="needs dpkg-gensymbols")
@pytest.mark.parametrize("objects", ["api.o", "shape.o"])
def test_a_list_of_dpkg_gensymbols(bench, objects):
    bench.sh(f"g++ -shared {objects} -Wl,-soname,libx.so.1 -o libx.so.1")
    bench.write("debian/control", "Source: x\n\nPackage: libx1\nArchitecture: any\n")
    gensymbols = "dpkg-gensymbols -plibx1 -v1.0 -elibx.so.1 -Pdebian/tmp"
    bench.sh(f"rm -f full.symbols; {gensymbols} -Ofull.symbols >/dev/null 2>&1")
    assert compared(bench, "full.symbols", "libx.so.1")[:2] == ([], [])
    lines = (bench.path / "full.symbols").read_text().splitlines()
    lost = lines.pop(1).split("@")[0].strip()
    bench.write("part.symbols", "\n".join([*lines, " gone@Base 1.0"]) + "\n")
    assert compared(bench, "part.symbols", "libx.so.1")[:2] == ([lost], ["gone"])
    assert bench.sh(f"{gensymbols} -c2 -Ipart.symbols -O/dev/null", check=False).code != 0


# name: the link, its list, the option or edit of the first fix, the link with it
FIXES = {
    "archive": ("gcc -shared user.o libvend.a", "api.list", "--exclude-libs,libvend.a",
                "gcc -shared user.o libvend.a -Wl,--exclude-libs,libvend.a"),
    "with a script as the list": ("gcc -shared api.o", "v.map", "-Wl,--version-script=v.map", "gcc -shared api.o -Wl,--version-script=v.map"),
    "script without local": ("gcc -shared api.o -Wl,--version-script=open.map", "mylib_*", "`local: *;`",
                             "gcc -shared api.o -Wl,--version-script=closed.map"),
    "object": ("gcc -shared user.o vend.o", "api.list", 'visibility("hidden")', "gcc -shared user.o vend_hidden.o"),
    "archive with the interface": ("gcc -shared -Wl,-u,mylib_open libboth.a", "api.list", 'visibility("hidden")',
                                   "gcc -shared -Wl,-u,mylib_open libboth_hidden.a"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIXES)
def test_fixes(bench, case):
    link, lists, fix, fixed = FIXES[case]
    bench.write("closed.map", "{ global: mylib_*; local: *; };\n")
    bench.cc("vend_hidden.o", '__attribute__((visibility("hidden"))) int vend_f(int x) { return x; }', "gcc -fPIC")
    bench.sh("rm -f libboth_hidden.a; ar rc libboth_hidden.a user.o vend_hidden.o")
    unexpected, _, findings = compared(bench, lists, "--", *link.split(), "-o", "libx.so")
    assert unexpected and fix in findings[0]["fixes"][0]["text"]
    assert findings[0]["sites"][0]["line"]
    assert compared(bench, lists, "--", *fixed.split(), "-o", "libx.so")[0] == []
    bench.sh(f"{fixed} -o libfixed.so")
    assert compared(bench, lists, "libfixed.so")[0] == []


# name: the link, the cause of the missing mylib_open, the link as the finding says; empty: there is none
CAUSES = {
    "hidden": ("gcc -shared hidden.o", "hidden-visibility", "gcc -shared api.o"),
    "local": ("gcc -shared api.o -Wl,--version-script=other.map", "script-local", "gcc -shared api.o -Wl,--version-script=v.map"),
    "excluded": ("gcc -shared -Wl,-u,mylib_open libboth.a -Wl,--exclude-libs,ALL", "excluded-archive", "gcc -shared -Wl,-u,mylib_open libboth.a"),
    "not extracted": ("gcc -shared vend.o libboth.a", "nothing-refers-to-member", "gcc -shared vend.o -Wl,-u,mylib_open libboth.a"),
    "nowhere": ("gcc -shared vend.o", "no-definition", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CAUSES)
def test_causes_of_a_missing_symbol(bench, case):
    link, cause, fixed = CAUSES[case]
    bench.write("other.map", "{ global: helper; local: *; };\n")
    _, missing, findings = compared(bench, "mylib_open", "--", *link.split(), "-o", "libx.so")
    assert missing == ["mylib_open"]
    assert [f["cause"]["kind"] for f in findings if f["rule"] == "export-missing"] == [cause]
    assert not fixed or compared(bench, "mylib_open", "--", *fixed.split(), "-o", "libx.so")[1] == []


def test_what_a_library_of_the_link_needs_is_not_to_be_hidden(bench):
    bench.cc("plugin.o", "int vend_f(int); int plug(void) { return vend_f(1); }", "gcc -fPIC")
    bench.sh("gcc -shared plugin.o -o libplug.so")
    _, _, findings = compared(bench, "api.list", "--", *"gcc -shared user.o libvend.a libplug.so -o libx.so".split())
    texts = " ".join(fix["text"] for f in findings for fix in f["fixes"] if f["symbol"] == "vend_f")
    assert texts and "--exclude-libs" not in texts


# name: the value of --exports, what is complained about
REFUSED = {
    "no file": ("lists/none.map", "lists/none.map"),
    "no file here": ("none.map", "none.map"),
    "damaged script": ("bad.map", "bad.map: line 2: syntax error"),
    "perl": ("perl.symbols", "perl.symbols:2"),
    "itself": ("self.symbols", "self.symbols"),
    "no text": ("libx.so", "libx.so: is not a text"),
    "a folder": ("./", "is a directory"),
    "empty": ("", "--exports"),
    "too many patterns": ("many.list", "many.list:2049"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_values_that_are_refused(bench, case):
    value, complaint = REFUSED[case]
    bench.write("bad.map", "V1 { global: a\n")
    bench.write("perl.symbols", 'libx.so.1 libx\n (regex)"^(?!x)a*?" 1\n')
    bench.write("self.symbols", 'libx.so.1 libx\n a@Base 1\n#include "self.symbols"\n')
    bench.write("many.list", "".join(f"a{i}*\n" for i in range(5000)))
    bench.sh("gcc -shared api.o -o libx.so")
    result = bench.audit("check", "--exports", value, "libx.so")
    assert result.code == 2 and complaint in result.out + result.err


def test_the_configuration(bench):
    bench.write("conf/api.list", "mylib_open\nmylib_close\n")
    bench.write("conf/.elfaudit.toml", '[ship]\nexports = ["api.list", "mylib_s*"]\n')
    bench.sh("gcc -shared api.o -o libx.so")
    findings = bench.audit("check", "--config", "conf/.elfaudit.toml", "--format", "json", "libx.so").json()["findings"]
    assert [f["symbol"] for f in findings] == ["helper"]


# name: the link, is export-leaked found
LEAKS = {
    "static": ("-static-libstdc++", True),
    "excluded": ("-static-libstdc++ -Wl,--exclude-libs,libstdc++.a", False),
    "shared": ("", False),
}


@pytest.mark.deep
@pytest.mark.parametrize("case", LEAKS)
def test_a_leaked_runtime(bench, case):
    options, leaks = LEAKS[case]
    bench.cc("throws.o", "#include <iostream>\nvoid t() { std::cout << 1; throw 1; }", "g++ -fPIC")
    command = f"g++ -shared throws.o {options} -o libt.so"
    bench.sh(command)
    for words in (["libt.so"], ["--", *command.split()]):
        findings = bench.audit("check", "--format", "json", *words).json()["findings"]
        assert [f["rule"] for f in findings] == (["export-leaked"] if leaks else [])
