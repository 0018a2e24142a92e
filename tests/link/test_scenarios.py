"""Small links of every shape that people have, each held against the real GNU ld: what it rejects and what it extracts."""

import pytest

from elfaudit_test import need
from gnu_ld import agree, assemble

need("ld.bfd", "as", "ar")

OBJECTS = {
    "start": ".globl _start\n.text\n_start: .quad foo",
    "empty": ".globl _start\n.text\n_start: nop",
    "weak-start": ".globl _start\n.weak foo\n.text\n_start: .quad foo",
    "hidden-start": ".globl _start\n.hidden foo\n.text\n_start: .quad foo",
    "foo": ".globl foo\n.text\nfoo: nop",
    "foo2": ".globl foo\n.text\nfoo: nop\n.globl other\nother: nop",
    "weak-foo": ".weak foo\n.text\nfoo: nop",
    "hidden-foo": ".globl foo\n.hidden foo\n.text\nfoo: nop",
    "bar": ".globl bar\n.text\nbar: .quad foo",
    "foo-needs-bar": ".globl foo\n.text\nfoo: .quad bar",
    "plain-bar": ".globl bar\n.text\nbar: nop",
    "bare-undefined": ".globl _start\n.text\n_start: nop\n.symver nobody,nobody@@@V1\n.globl zork\n",
    "none-relocation": ".globl _start\n.text\n_start: nop\n.globl norel\n.reloc 0, R_X86_64_NONE, norel",
    "debug-reference": '.globl _start\n.text\n_start: nop\n.section .debug_info,"",@progbits\n.quad nobody',
    "common8": ".comm foo,8,8",
    "common16": ".comm foo,16,8",
    "group-weak": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: nop',
    "group-more": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: nop\n.globl only_here\nonly_here: nop',
    "group-strong": '.section .text.foo,"axG",@progbits,foo,comdat\n.globl foo\nfoo: nop',
    "group-other": '.section .text.foo,"axG",@progbits,other_key,comdat\n.globl foo\nfoo: nop',
    "group-refers": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: .quad nobody',
    "needs-only-here": ".globl _start\n.text\n_start: .quad only_here",
    "absolute5": ".globl foo\nfoo=5",
    "absolute6": ".globl foo\nfoo=6",
    "wrap": ".globl _start\n.text\n_start: .quad foo\n.quad __real_foo",
    "wrap-foo": ".globl __wrap_foo\n.text\n__wrap_foo: nop",
    "linker-names": ".globl _start\n.text\n_start: .quad _end\n.quad end\n.quad __bss_start\n.quad _edata\n.quad edata\n.quad etext\n"
    ".quad __executable_start\n.quad _GLOBAL_OFFSET_TABLE_\n.quad __ehdr_start\n.quad __init_array_start\n.quad __start_sec\n"
    '.quad __stop_sec\n.quad __rela_iplt_start\n.section sec,"aw"\n.quad 0',
    "no-such-section": ".globl _start\n.text\n_start: .quad __start_nosec",
    "dso-handle": ".globl _start\n.text\n_start: .quad __dso_handle",
}
ARCHIVES = {
    "libfoo.a": "foo.o",
    "libfoo2.a": "foo2.o",
    "libweak.a": "weak-foo.o",
    "libbar.a": "bar.o",
    "libfoobar.a": "foo-needs-bar.o",
    "libplainbar.a": "plain-bar.o",
    "libboth.a": "bar.o foo-needs-bar.o",
    "libtwo.a": "foo.o foo2.o",
    "libwrap.a": "wrap-foo.o",
    "libcommon.a": "common8.o",
    "libgroup.a": "group-weak.o",
}
SHARED = {"shared-foo.so": "foo.o", "shared-weak.so": "weak-foo.o", "shared-bar.so": "plain-bar.o", "shared-needs-foo.so": "bar.o"}
SCRIPTS = {
    "input.ld": "INPUT(foo.o)\n",
    "group.ld": "/* a comment */ GROUP(libbar.a libfoobar.a)\n",
    "needed.ld": "GROUP(libfoo.a AS_NEEDED(shared-bar.so))\n",
    "libscript.so": "/* GNU ld script */ INPUT(-lfoo)\n",
    "assign.ld": "foo = 0x10;\n",
    "provide.ld": "PROVIDE(foo = 0x10);\n",
    "extern.ld": "EXTERN(foo)\n",
    "words": "start.o 'foo.o'\n",
    "more-words": "@words foo2.o\n",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("scenarios"))
    for name, text in OBJECTS.items():
        assemble(lab, name, text)
    for name, members in ARCHIVES.items():
        lab.ar(name, *members.split())
    for name, members in SHARED.items():
        lab.sh(f"ld.bfd -shared -soname {name} {members} -o {name}")
    for name, text in SCRIPTS.items():
        lab.write(name, text)
    lab.sh("ar rcT thin.a foo.o; ar rcD empty.a; mkdir -p d; cp foo2.o d/foo.o; ar qcD same.a foo.o; ar qD same.a d/foo.o; ranlib same.a")
    lab.sh("echo text > text.txt; ar rcD with-text.a text.txt foo.o; ar rcD nested.a libfoo.a")
    return lab


SCENARIOS = """
    start.o
    start.o foo.o
    start.o foo.o foo2.o
    empty.o foo.o foo.o
    empty.o foo.o foo2.o foo.o
    bare-undefined.o
    none-relocation.o
    debug-reference.o
    -r start.o
    -r foo.o foo2.o
    -r start.o libfoo.a
    -shared start.o
    -shared -z defs start.o
    -shared --no-undefined start.o
    -shared --unresolved-symbols=report-all start.o
    libfoo.a start.o
    start.o libfoo.a
    libfoo.a start.o weak-foo.o
    start.o libfoobar.a libbar.a
    start.o libbar.a libfoobar.a
    start.o --start-group libbar.a libfoobar.a --end-group
    start.o -( libbar.a libfoobar.a -)
    start.o --start-group libfoo.a
    start.o libboth.a
    start.o libtwo.a
    -u other start.o libfoo.a libfoo2.a
    empty.o --whole-archive libfoo.a libfoo.a --no-whole-archive
    start.o libfoo.a --whole-archive libfoo.a --no-whole-archive
    start.o --whole-archive libfoo.a --no-whole-archive libfoo.a
    start.o --push-state --whole-archive libfoo.a --pop-state libfoo2.a
    start.o libfoo.a libfoo.a
    empty.o --whole-archive same.a
    start.o foo.o libfoo.a
    start.o empty.a libfoo.a
    start.o with-text.a
    empty.o -u foo libfoo.a
    empty.o -u nobody
    empty.o --require-defined=nobody
    empty.o -e nobody
    foo.o -e bar libbar.a
    foo.o
    start.o --defsym=foo=4
    start.o foo.o --defsym=foo=4
    empty.o --defsym=t=foo libfoo.a
    --wrap=foo wrap.o
    --wrap=foo start.o libfoo.a
    --wrap=foo wrap.o wrap-foo.o foo.o
    --wrap=foo wrap.o libwrap.a libfoo.a
    --wrap=foo empty.o foo.o foo2.o
    -z muldefs start.o foo.o foo2.o
    --allow-multiple-definition start.o foo.o foo2.o
    --unresolved-symbols=ignore-all start.o
    --unresolved-symbols=ignore-in-object-files start.o
    --warn-unresolved-symbols start.o
    start.o group-strong.o group-strong.o
    start.o group-strong.o group-other.o
    start.o group-strong.o foo.o
    start.o foo.o group-strong.o
    start.o group-weak.o foo.o
    needs-only-here.o group-weak.o group-more.o
    needs-only-here.o group-more.o group-weak.o
    empty.o group-weak.o group-refers.o
    empty.o group-refers.o group-weak.o
    start.o libgroup.a group-more.o
    start.o shared-foo.so
    start.o shared-foo.so libfoo.a
    start.o libfoo.a shared-foo.so
    start.o shared-foo.so foo.o
    start.o shared-foo.so shared-weak.so
    empty.o shared-needs-foo.so libfoo.a
    start.o shared-weak.so libfoo.a
    start.o --as-needed shared-foo.so
    --as-needed shared-foo.so start.o
    --as-needed shared-foo.so libfoo.a start.o libfoo.a
    weak-start.o --as-needed shared-foo.so libfoo.a
    hidden-start.o foo.o
    hidden-start.o
    hidden-start.o libfoo.a
    empty.o hidden-foo.o hidden-foo.o
    weak-start.o libfoo.a
    weak-start.o bar.o libfoo.a
    start.o weak-foo.o libfoo.a
    start.o weak-foo.o foo.o
    start.o libweak.a libfoo.a
    start.o libweak.a foo.o
    start.o libfoo.a foo2.o
    start.o input.ld
    start.o foo2.o input.ld
    start.o group.ld
    start.o needed.ld
    start.o -L. -lscript
    start.o assign.ld
    start.o foo.o assign.ld
    start.o provide.ld
    start.o foo.o provide.ld
    empty.o extern.ld libfoo.a
    start.o -lfoo -L.
    start.o -L. -l:libfoo.a
    start.o -L. -Bstatic -lfoo
    start.o --library=foo --library-path=.
    @words
    @more-words
    start.o common8.o common16.o
    start.o common8.o foo.o
    common16.o start.o libcommon.a
    start.o common8.o libfoo.a
    start.o common8.o shared-foo.so
    start.o absolute5.o absolute5.o
    start.o absolute5.o absolute6.o
    linker-names.o
    no-such-section.o
    dso-handle.o
"""


@pytest.mark.parametrize("words", [line.strip() for line in SCENARIOS.split("\n") if line.strip()])
def test_agrees_with_ld(bench, words):
    agree(bench, words.replace("(", "'('").replace("-)", "'-)'").replace("-'('", "'-('"))


def test_thin_archive(bench):
    """ld's map names a thin archive's member by its own path; elfaudit says which archive it came from."""
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", "start.o", "thin.a", "foo2.o").json()
    assert [m["input"] for m in result["extracted_members"]] == ["thin.a(foo.o)"]
    assert [(d["first"], d["other"]) for d in result["duplicates"]] == [("thin.a(foo.o)", "foo2.o")]


def test_nested_archive(bench):
    """ld does not look into it, finds no index and gives up; elfaudit says so and goes on."""
    assert "archive has no index" in bench.sh("ld.bfd start.o nested.a -o out", check=False).err
    result = bench.audit("check", "--", "ld.bfd", "start.o", "nested.a", "-o", "out")
    assert result.code == 2 and "nested.a: the archive has no symbol index" in result.out, result
