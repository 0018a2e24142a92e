"""What a link leaves in its archives although the program needs it. Each program is linked and run, without the advice and with
it."""

import pytest

from elfaudit_test import Lab, need

need("g++", "ar", "ld.bfd")

REGISTRY = "static int count; void add(const char*) { ++count; } int known() { return count; }\n"
MAIN = "int known(); int main() { return known() ? 0 : 1; }\n"
C = 'extern "C" '
# name: (the member, what its constructor uses; empty: nothing is reported)
MEMBERS = {
    "object": ('void add(const char*); struct R { R() { add("x"); } }; static R r;', "add(char const*)"),
    "function": ('void add(const char*); __attribute__((constructor)) static void r() { add("x"); }', "add(char const*)"),
    "global object": ('void add(const char*); struct R { R(); int done; } r; R::R() : done(1) { add("x"); }', "add(char const*)"),
    "initialiser": ('int known(); int before = known();', "known()"),
    "class with a vtable": (
        "void add(const char*); struct P { virtual int run(); virtual ~P(); }; int P::run() { return 1; } P::~P() {}\n"
        'static P p; struct R { R(P* p) { if (p->run()) add("x"); } }; static R r(&p);', "add(char const*)"),
    "inline registry": (
        "inline int& total() { static int t; return t; } void add(const char*);\n"
        'struct R { R() { ++total(); add("x"); } }; static R r;', "add(char const*)"),
    "of use to others": ('void add(const char*); struct R { R() { add("x"); } }; static R r; int api() { return 1; }', ""),
    "streams alone": ("#include <iostream>\nstatic int unused;", ""),
    "table of the library": ('#include <string>\nstatic std::string name("a long text that does not fit");', ""),
    "no constructor": ("int api() { return 1; }", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("left_out"))
    lab.cc("registry.o", REGISTRY)
    lab.cc("main.o", MAIN)
    return lab


def findings(lab, command, rule):
    found = lab.audit("check", "--format", "json", "--", *command.split()).json()["findings"]
    assert {finding["rule"] for finding in found} <= {rule}
    return found


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("options", ["-O0", pytest.param("-O2 -ffunction-sections", marks=pytest.mark.deep)])
def test_a_registrar(bench, member, options):
    text, registry = MEMBERS[member]
    bench.cc("member.o", text, f"g++ -g {options}")
    bench.sh("rm -f libp.a; ar rc libp.a registry.o member.o")
    found = findings(bench, "g++ main.o libp.a -o app", "registrar-not-linked")
    assert [finding["demangled"] for finding in found] == ([registry] if registry else [])
    assert bench.sh("g++ main.o libp.a -o app && ./app", check=False).code == 1
    if not registry:
        return
    assert found[0]["sites"][0]["input"] == "libp.a(member.o)" and found[0]["sites"][0]["line"]
    whole = "g++ main.o -Wl,--whole-archive libp.a -Wl,--no-whole-archive -o app"
    assert bench.audit("check", "--", *whole.split()).code == 0
    if member != "initialiser":
        bench.sh(f"{whole} && ./app")


def test_a_section_that_the_program_reads(bench):
    bench.cc("reader.o", f"{C}int __start_set[], __stop_set[]; int dummy __attribute__((section(\"set\"))) = 1;\n"
             "int main() { return __stop_set - __start_set - 2; }")  # fmt: skip
    bench.cc("entry.o", 'static int entry __attribute__((section("set"), used)) = 2;')
    bench.sh("rm -f libs.a; ar rc libs.a entry.o")
    found = findings(bench, "g++ reader.o libs.a -o app", "registrar-not-linked")
    assert [finding["symbol"] for finding in found] == ["__start_set"]
    bench.sh("g++ reader.o -Wl,--whole-archive libs.a -Wl,--no-whole-archive -o app && ./app")


# name: (main, the member, the rule or nothing)
WEAK = {
    "default": ("int h() __attribute__((weak)); int h() { return 1; } int main() { return h(); }", "int h() { return 0; }",
                "weak-definition-kept"),
    "variable": ("int h __attribute__((weak)) = 1; int main() { return h; }", "int h = 0;", "weak-definition-kept"),
    "inline": ("inline int h() { return 1; } int main() { return h(); }", "int h() { return 0; }", ""),
    "both weak": ("int h() __attribute__((weak)); int h() { return 1; } int main() { return h(); }",
                  "int h() __attribute__((weak)); int h() { return 0; }", ""),
    "reference": ("int h() __attribute__((weak)); int main() { return h ? h() : 1; }", "int h() { return 0; }", "weak-reference-null"),
    "asked for elsewhere": ("int h() __attribute__((weak)); int g(); int main() { return h ? g() : 1; }",
                            "int h() { return 0; } int g() { return 1; }", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WEAK)
def test_weak_names(bench, case):
    main, member, rule = WEAK[case]
    bench.cc("user.o", main, "g++ -g")
    bench.cc("strong.o", member)
    bench.sh("rm -f libw.a; ar rc libw.a strong.o")
    found = findings(bench, "g++ user.o libw.a -o app", rule)
    assert len(found) == (1 if rule else 0)
    assert bench.sh("g++ user.o libw.a -o app && ./app", check=False).code == 1
    if not rule:
        return
    assert found[0]["sites"][0]["line"] == 1
    bench.sh("g++ user.o -Wl,--whole-archive libw.a -Wl,--no-whole-archive -o app && ./app")
    if rule == "weak-reference-null":
        bench.sh("g++ user.o -Wl,-u,_Z1hv libw.a -o app && ./app")
