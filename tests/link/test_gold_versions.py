"""How gold keeps a name and its versions together and apart: it gives a plain definition the version that a version script
says before it compares names."""

import pytest

from elfaudit_test import Lab, need
from linkers import agree, assemble_all, differs

need("ld.gold", "as", "ar", "ld.bfd")


def symver(version, line="s: .quad 0", binding="globl"):
    return f".{binding} s\n.symver s, foo{version}\n.data\n{line}"


OBJECTS = {
    "foo": ".globl foo\n.data\nfoo: .quad 0",
    "default-v1": symver("@@V1"),
    "default-v2": symver("@@V2"),
    "weak-default-v1": symver("@@V1", binding="weak"),
    "hidden-default-v1": symver("@@V1", "s: .quad 0\n.hidden s"),
    "v1": symver("@V1"),
    "needs-v1": symver("@V1", ".quad s"),
    "debug-v1": '.globl s\n.symver s, foo@V1\n.section .debug_x,""\n.quad s',
    "weakly-needs-v1": symver("@V1", ".quad s", "weak"),
    "names-v1": symver("@V1", ".quad 0"),
    "needs-foo": ".globl foo\n.data\n.quad foo",
    "both": ".globl foo\n.symver foo, foo@V1\n.data\nfoo: .quad 0",
    "hides-foo": ".globl foo\n.hidden foo\n.data\n.quad foo",
    "wrapped-common": ".comm foo,8,8",
    "wrap-common": ".comm __wrap_foo,8,8",
    "needs-wrap": ".globl __wrap_foo\n.data\n.quad __wrap_foo",
    "nameless-version": '.globl "foo@"\n.data\n"foo@": .quad 0',
    "needs-nameless-version": '.globl "foo@"\n.data\n.quad "foo@"',
    "mangled": ".globl _Z1hv\n.data\n_Z1hv: .quad 0",
}
SCRIPTS = {
    "v1.map": "V1 { foo; };",
    "v1-node.map": "V1 { };",
    "v2.map": "V2 { foo; };",
    "both.map": "V1 { foo; }; V2 { foo; };",
    "two-stars.map": "V1 { local: *; }; V2 { *; };",
    "local-then-v1.map": "V2 { local: foo; }; V1 { f*; };",
    "nameless.map": "{ global: foo; local: *; };",
    "local-all.map": "V1 { local: *; };",
    "last-pattern.map": "V1 { f*; }; V2 { fo*; };",
    "cxx-plain.map": 'V1 { extern "C++" { f*; }; };',
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("gold"))
    assemble_all(lab, OBJECTS)
    for name, text in SCRIPTS.items():
        lab.write(name, text + "\n")
    for name in ("foo", "v1", "default-v1", "wrap-common", "nameless-version"):
        lab.sh(f"gcc-ar rcs lib{name}.a {name}.o")
    lab.sh("ld.bfd -shared needs-foo.o -soname libneeds.so -o libneeds.so")
    return lab


CASES = """
foo.o default-v1.o
default-v1.o foo.o
default-v1.o default-v2.o
default-v1.o default-v1.o
v1.o default-v1.o
v1.o default-v1.o needs-foo.o
needs-v1.o foo.o libdefault-v1.a
libneeds.so v1.o libdefault-v1.a
libneeds.so v1.o libdefault-v1.a libfoo.a --exclude-libs ALL
needs-foo.o --start-lib default-v1.o --end-lib
needs-v1.o --start-lib default-v1.o --end-lib
--version-script=v1.map needs-v1.o foo.o
--version-script=v2.map needs-v1.o foo.o
--version-script=v1.map default-v1.o foo.o
--version-script=v2.map default-v1.o foo.o
--version-script=v2.map foo.o default-v1.o
--version-script=v1.map foo.o v1.o
--version-script=v1.map both.o needs-foo.o
--version-script=local-all.map foo.o default-v1.o
--version-script=local-then-v1.map foo.o needs-v1.o
--version-script=last-pattern.map foo.o needs-v1.o
--version-script=cxx-plain.map foo.o needs-v1.o
--defsym=foo=4 needs-v1.o libdefault-v1.a
--defsym=foo=4 --version-script=v1.map needs-v1.o libdefault-v1.a
--defsym=foo=4 needs-foo.o libdefault-v1.a
-shared default-v1.o
-shared weak-default-v1.o foo.o
-shared hidden-default-v1.o
-shared libdefault-v1.a -u foo --exclude-libs ALL
-shared default-v1.o --version-script=v1-node.map
-shared needs-v1.o
-shared names-v1.o
-shared weakly-needs-v1.o
-shared debug-v1.o
-shared needs-v1.o --version-script=v1-node.map
-shared needs-v1.o --version-script=v1-node.map -z defs
needs-v1.o
--no-undefined-version --version-script=v1.map needs-v1.o
--no-undefined-version --version-script=v1.map default-v2.o
needs-nameless-version.o libnameless-version.a
needs-nameless-version.o libfoo.a
needs-foo.o libnameless-version.a
--wrap=foo wrapped-common.o needs-wrap.o libwrap-common.a
--wrap=bar needs-v1.o libv1.a
--wrap=foo needs-v1.o libv1.a
""".strip().splitlines()


@pytest.mark.parametrize("words", CASES)
def test_names_and_versions(bench, words):
    agree(bench, "gold", words)


@pytest.mark.parametrize("words", ["v1.o", "needs-v1.o libv1.a", "libv1.a needs-v1.o", "default-v1.o"])
def test_a_name_asked_for_that_has_the_version_of_a_script_alone(bench, words):
    """gold 2.40 ends with an internal error, so that there is nothing to compare with."""
    assert bench.audit("check", "--", "ld.gold", "--version-script=v1.map", "-u", "foo", *words.split(), "-o", "out").code in (0, 1)


WARNED = """
--no-undefined-version --version-script=nameless.map mangled.o
--no-undefined-version --version-script=nameless.map -u foo mangled.o
--no-undefined-version --version-script=nameless.map -u foo needs-foo.o
--no-undefined-version --version-script=nameless.map -u foo foo.o
--no-undefined-version --version-script=nameless.map -u foo -shared foo.o
--fatal-warnings default-v1.o default-v2.o
--fatal-warnings --version-script=v2.map default-v1.o foo.o
--fatal-warnings --version-script=both.map foo.o
--fatal-warnings --version-script=both.map mangled.o
--fatal-warnings --version-script=two-stars.map mangled.o
-shared hides-foo.o --unresolved-symbols=ignore-all --warn-unresolved-symbols
-shared hides-foo.o --warn-unresolved-symbols
-call_shared foo.o
-st foo.o
""".strip().splitlines()


@pytest.mark.parametrize("words", WARNED)
def test_fails_as_gold_does(bench, words):
    assert not differs(bench, "gold", words)


@pytest.mark.parametrize(
    "text",
    [
        "V1 { f*; local: f*; };",
        'V1 { "f*"; local: "f*"; };',
        "V1 { f; local: f; };",
        "V1 { f; }; V2 { f; local: f; };",
        "V1 { *; local: *; };",
        'V1 { extern "C++" { *; }; local: *; };',
        'V1 { extern "C++" { f; }; local: f; };',
    ],
)
def test_one_name_in_both_lists(bench, text):
    bench.write("lists.map", text + "\n")
    assert not differs(bench, "gold", "-shared foo.o --version-script=lists.map")
    assert not differs(bench, "gold", "-r foo.o --version-script=lists.map")


@pytest.mark.parametrize("name", ["f[!0]", "?1", "f?", "[ab]*", "*", "f-1", "f/1", "f~", "f@V", "1f", "f^", "-f"])
def test_few_characters_are_in_names_of_version_scripts(bench, name):
    bench.write("odd.map", "V1 { %s; };\n" % name)
    assert not differs(bench, "gold", "-shared foo.o --version-script=odd.map")
