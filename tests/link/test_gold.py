"""What gold does in its own way, beside names and versions (test_gold_versions.py). The rules are at the head of
src/resolve/gold.cpp."""

import pytest

import linker_verdicts
from elfaudit_test import Lab, need
from linkers import agree, assemble_all

need("ld.gold", "as", "ar", "ld.bfd")

GROUP = '.section .data.g,"awG",@progbits,g,comdat\n'
OBJECTS = {
    "start": ".globl _start\n.text\n_start: ret",
    "foo": ".globl foo\n.data\nfoo: .quad 0",
    "weak-foo": ".weak foo\n.data\nfoo: .quad 0",
    "common-foo": ".comm foo,8,8",
    "absolute-foo": ".globl foo\nfoo = 2",
    "hidden-foo": ".globl foo\n.hidden foo\n.data\nfoo: .quad 0",
    "tls-foo": '.globl foo\n.section .tdata,"awT",@progbits\nfoo: .quad 0',
    "needs-foo": ".globl foo\n.data\n.quad foo",
    "needs-bar": ".globl bar\n.data\n.quad bar",
    "weakly-needs-foo": ".weak foo\n.data\n.quad foo",
    "hides-foo": ".globl foo\n.hidden foo\n.data\n.quad foo",
    "weakly-hides-foo": ".weak foo\n.hidden foo\n.data\n.quad foo",
    "protects-foo": ".globl foo\n.protected foo\n.data\n.quad foo",
    "needs-real": ".globl __real_foo\n.data\n.quad __real_foo",
    "weakly-needs-real": ".weak __real_foo\n.data\n.quad __real_foo",
    "foo-and-needs-bar": ".globl foo, bar\n.data\nfoo: .quad bar",
    "weak-calls": '.weak foo\n.section .text.w,"ax"\nfoo: call gone@plt',
    "foo-v1-and-needs-bar": ".globl s\n.symver s, foo@@V1\n.data\ns: .quad bar",
    "default-v2": ".globl s\n.symver s, foo@@V2\n.data\ns: .quad 0",
    "foo-v2": ".globl s\n.symver s, foo@V2\n.data\ns: .quad 0",
    "twice": ".weak foo\n.globl other\n.type foo, @object\n.type other, @object\n.data\nfoo:\nother: .quad 0",
    "other": ".globl other\n.data\nother: .quad 0",
    "first-group": GROUP + ".quad 0",
    "foo-in-group": ".globl foo\n" + GROUP + "foo: .quad 0",
    "weak-in-group": ".weak foo\n" + GROUP + 'foo: .quad 0\n.section .data.u,"aw"\n.quad foo',
    "default-in-group": ".globl s\n.symver s, foo@@V1\n" + GROUP + 's: .quad 0\n.section .data.u,"aw"\n.quad s',
    "bare-none": '.globl bar\n.section .data.b,"aw",@progbits\n.reloc ., R_X86_64_NONE, bar',
    "bare-none-of-start": '.globl _start\n.section .data.b,"aw",@progbits\n.reloc ., R_X86_64_NONE, _start',
    "none": '.globl bar\n.section .data.b,"aw",@progbits\n.reloc ., R_X86_64_NONE, bar\n.quad 0',
    "excluded-foo": '.globl foo\n.section .data.x,"awe",@progbits\nfoo: .quad 0',
    "debug-foo": '.globl foo\n.section .debug_info,"",@progbits\n.quad foo',
    "needs-iplt": ".globl __rela_iplt_start\n.data\n.quad __rela_iplt_start",
    "end": ".globl s, t\n.data\ns: .quad 0\nt: .quad 0",
}
SHARED = "foo weak-foo tls-foo absolute-foo needs-foo needs-real twice end".split()
ARCHIVES = "start foo common-foo foo-and-needs-bar foo-in-group excluded-foo".split()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("gold"))
    assemble_all(lab, OBJECTS)
    for name in SHARED:
        lab.sh(f"ld.bfd -shared {name}.o -soname {name}.so -o {name}.so")
    lab.write("local.map", "V1 { local: *; };\n")
    lab.write("v2.map", "V2 { };\n")
    for name in ("foo-v2", "default-v2"):
        lab.sh(f"ld.bfd -shared {name}.o -soname {name}.so --version-script=v2.map -o {name}.so")
    for name in ARCHIVES:
        lab.sh(f"gcc-ar rcs lib{name}.a {name}.o")
    lab.sh("mkdir -p elsewhere/sub && cp libfoo-and-needs-bar.a elsewhere/named.a && cp libfoo.a named.a")
    lab.write("elsewhere/libfoo.so", "INPUT(named.a)\n")
    lab.write("elsewhere/sub/libfoo.so", "INPUT(named.a)\n")
    lab.write("here.ld", "INPUT(named.a)\n")
    lab.write("value.ld", "foo = 4;\n")
    lab.write("provide.ld", "PROVIDE(foo = 4);\n")
    lab.write("extern.ld", "EXTERN(foo)\n")
    lab.write("uses.ld", "alias = foo;\n")
    lab.write("foo.map", "V1 { foo; };\n")
    lab.write("headers.ld", "SECTIONS { .text : AT(foo) ALIGN(bar) { *(.text) } }\n")
    return lab


CASES = {
    "a shared object answers a hidden reference, which fails": """
        hides-foo.o foo.so
        hides-foo.o foo.so libfoo.a
        foo.so hides-foo.o
        weakly-hides-foo.o foo.so
        protects-foo.o foo.so
        hides-foo.o foo.so foo.o
        -shared hides-foo.o foo.so
        foo.so hides-foo.o --start-group libcommon-foo.a --end-group
    """,
    "a reference of a shared object to a hidden name is nothing to it": """
        hidden-foo.o needs-foo.so tls-foo.so
        hides-foo.o needs-foo.so
        hidden-foo.o tls-foo.so
        tls-foo.o hidden-foo.o
        tls-foo.o absolute-foo.o
    """,
    "equal absolute values are no duplicate, and a shared object's value is replaced": """
        absolute-foo.so foo.o
        absolute-foo.so absolute-foo.o
        absolute-foo.o absolute-foo.o
    """,
    "which reference is weak is decided by the mention that counts": """
        needs-foo.so weakly-needs-foo.o
        weakly-needs-foo.o needs-foo.so
        --wrap=foo -u foo needs-real.so weakly-needs-real.o
        weakly-needs-foo.o needs-foo.o
    """,
    "values come last": """
        -u foo --defsym=foo=4 libfoo.a
        needs-foo.o --defsym=foo=4 libfoo.a
        -u foo libfoo.a value.ld
        -u foo value.ld libfoo.a
        needs-foo.o value.ld libfoo.a
        needs-foo.o libfoo.a value.ld foo.o
        needs-foo.o provide.ld libfoo.a
        foo.o foo.o --defsym=foo=4
        --defsym=alias=foo libexcluded-foo.a
        weakly-needs-foo.o --defsym=alias=foo libfoo.a
        weakly-needs-foo.o uses.ld libfoo.a
        weakly-needs-foo.o libfoo.a uses.ld
        weakly-needs-foo.o extern.ld libfoo.a
        --no-undefined-version --version-script=foo.map --defsym=foo=4 start.o
        --no-undefined-version --version-script=foo.map --defsym=foo=4 needs-foo.o
        --no-undefined-version --version-script=foo.map -u foo start.o
        -r --no-undefined-version --version-script=foo.map start.o
        -shared default-v2.so provide.ld
        -shared default-v2.o foo.o --version-script=local.map
        -shared foo.o default-v2.o --version-script=local.map
    """,
    "archives": """
        libstart.a libfoo.a
        start.o needs-foo.o libstart.a libfoo.a
        -e foo libfoo.a
        -shared needs-foo.o libstart.a
        libfoo.a -u foo
        needs-foo.o --start-group libfoo-and-needs-bar.a libfoo.a --end-group
        needs-foo.o --start-lib other.o foo-and-needs-bar.o needs-bar.o foo.o --end-lib
        --start-lib start.o end.o --end-lib
    """,
    "a dropped definition": """
        first-group.o libfoo-in-group.a needs-foo.o
        needs-foo.o first-group.o libfoo-in-group.a
        -shared needs-foo.o first-group.o foo-in-group.o
        -shared first-group.o weak-in-group.o
        first-group.o weak-in-group.o
        --unresolved-symbols=ignore-all needs-foo.o first-group.o foo-in-group.o
        --noinhibit-exec needs-foo.o first-group.o foo-in-group.o
        --warn-unresolved-symbols needs-foo.o first-group.o foo-in-group.o
        first-group.o default-in-group.o
        --gc-sections start.o needs-foo.o libexcluded-foo.a
        --gc-sections start.o foo.o excluded-foo.o
        foo.o excluded-foo.o
        debug-foo.o first-group.o foo-in-group.o
        debug-foo.o
    """,
    "names of one variable of a shared object": """
        twice.so foo.o other.o
        twice.so foo.o
        twice.so other.o foo.o
    """,
    "it keeps what was exported when it was read": """
        -shared -z defs --gc-sections weak-calls.o foo.o
        -shared -z defs --gc-sections foo.o weak-calls.o
        -E --gc-sections weak-calls.o foo.o
        --gc-sections start.o weak-calls.o foo.o
        --gc-sections start.o needs-foo.so weak-calls.o foo.o
        --gc-sections start.o weak-calls.o needs-foo.so foo.o
        --gc-sections start.o weak-calls.o foo.o needs-foo.so
        --gc-sections start.o needs-foo.so foo-and-needs-bar.o hides-foo.o
        --gc-sections start.o hides-foo.o needs-foo.so foo-and-needs-bar.o
        --gc-sections start.o foo-v1-and-needs-bar.o foo-v2.so
        --gc-sections -u foo --defsym=foo=4 start.o libfoo-and-needs-bar.a
        --gc-sections --defsym=foo=4 start.o foo-and-needs-bar.o
    """,
    "--noinhibit-exec": """
        --noinhibit-exec foo.o tls-foo.o
        --noinhibit-exec -shared default-v2.o
        --noinhibit-exec --no-undefined-version --version-script=foo.map start.o
    """,
    "what a script names": """
        start.o needs-foo.o -Lelsewhere elsewhere/libfoo.so
        start.o needs-foo.o -Lelsewhere elsewhere/sub/libfoo.so
        start.o needs-foo.o -Lelsewhere here.ld
        -r start.o -Lelsewhere -lfoo
    """,
    "what the sections of a script use": """
        start.o -T headers.ld
    """,
    "its own names": """
        needs-iplt.o
        needs-iplt.o end.so
        -pie needs-iplt.o
    """,
}


@pytest.mark.parametrize("words", [words.strip() for cases in CASES.values() for words in cases.strip().splitlines()])
def test_agrees(bench, words):
    agree(bench, "gold", words)


@pytest.mark.parametrize(
    "words",
    [
        "needs-foo.o bare-none.o",
        "bare-none.o needs-foo.so",
        "needs-foo.o bare-none-of-start.o needs-bar.o",
        "foo.o foo.o bare-none.o",
        "needs-foo.o none.o",
    ],
)
def test_stops_at_relocations_of_a_section_without_bytes(bench, words):
    """An internal error: what comes after it is not said."""
    theirs = linker_verdicts.linker("gold", words.split(), bench.path)
    assert theirs.differences(linker_verdicts.elfaudit("gold", words.split(), bench.path)) == []


REFUSED_LINES = ["--start-lib start.o", "-r -shared start.o", "-r -pie start.o", "-shared -pie start.o", "-static -pie start.o", "-pie -no-pie -r start.o"]


@pytest.mark.parametrize("words", REFUSED_LINES)
def test_options_that_exclude_one_another(bench, words):
    theirs = bench.sh(f"ld.gold {words} -o out", check=False)
    ours = bench.audit("check", "--", "ld.gold", *words.split(), "-o", "out")
    assert (theirs.code != 0) == (ours.code == 2), (theirs, ours)
