"""Version scripts, TLS against ordinary storage, and what shared objects can't see, held against the real linkers."""

import pytest

from elfaudit_test import need
from gnu_ld import assemble
from undefined_names import agree

need("ld.bfd", "as")

START = ".globl _start\n.text\n_start: nop\n.data\n"
OBJECTS = {
    "start": START,
    "foo": ".globl foo\n.text\nfoo: nop",
    "foo-v1": ".globl foo_1\n.symver foo_1, foo@V1\n.text\nfoo_1: nop",
    "foo-v2-default": ".globl foo_2\n.symver foo_2, foo@@V2\n.text\nfoo_2: nop",
    "tls": '.section .tdata,"awT",@progbits\n.globl s\n.type s,@tls_object\n.size s,8\ns: .quad 1',
    "data": '.data\n.globl s\n.type s,@object\n.size s,8\ns: .quad 1',
    "uses-tls": ".data\n.quad s@dtpoff",
    "uses-data": ".data\n.quad s",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("versions"))
    for name, source in OBJECTS.items():
        assemble(lab, name, source)
    lab.write("v1.map", "V1 { global: foo; local: *; };\n")
    lab.write("v2.map", "/* two */ V1 { foo; };\nV2 { global: foo; } V1;  # the newer\n")
    lab.write("missing.map", "V1 { global: foo; nosuch; };\n")
    lab.write("pattern.map", 'V1 { global: no*; extern "C++" { ns::*; }; foo; };\n')
    lab.write("local-missing.map", "{ global: foo; local: nosuch; };\n")
    lab.write("anonymous-missing.map", "{ nosuch; };\n")
    for name in ("tls", "data", "uses-tls", "uses-data"):
        lab.sh(f"ld.bfd -shared {name}.o -o {name}.so")
    return lab


CASES = """
    -shared foo-v1.o
    -shared foo-v1.o --version-script v1.map
    -shared foo-v2-default.o --version-script v1.map
    -shared foo-v1.o foo-v2-default.o --version-script v2.map
    start.o foo-v1.o
    -shared foo.o --version-script v1.map
    -shared foo.o --version-script missing.map
    -shared foo.o --version-script missing.map --no-undefined-version
    -shared foo.o --version-script missing.map --undefined-version
    -shared foo.o --version-script pattern.map --no-undefined-version
    -shared foo.o --version-script local-missing.map
    -shared foo.o --version-script anonymous-missing.map
    start.o foo.o --version-script missing.map
    -shared foo-v1.o --version-script v2.map
    -shared foo-v2-default.o --version-script v2.map
    -shared foo.o --version-script v2.map
"""
TLS_INPUTS = ["tls.o", "data.o", "uses-tls.o", "uses-data.o", "tls.so", "data.so", "uses-tls.so", "uses-data.so"]


@pytest.mark.parametrize("words", [line.strip() for line in CASES.split("\n") if line.strip()])
def test_versions(bench, words):
    # mold 1.10 does not know --undefined-version.
    agree(bench, words, ["bfd", "lld14", "lld19"] + ([] if "undefined-version" in words else ["mold"]))


@pytest.mark.parametrize("first", TLS_INPUTS)
def test_thread_local_against_ordinary(bench, first):
    """GNU ld alone: the other linkers' engines have tests of their own."""
    for second in TLS_INPUTS:
        # A module offset of another module's symbol: no linker can do that.
        if second != first and {first, second} != {"uses-tls.o", "tls.so"}:
            agree(bench, f"-shared start.o {first} {second}", ["bfd"])
