"""Which undefined symbols each linker reports, held against every linker that is installed."""

import pytest

from elfaudit_test import need
import linkers
from linkers import assemble, assemble_all
from undefined_names import EVERY, agree

need("ld.bfd", "as", "ar")

START = ".globl _start\n.text\n_start: nop\n.data\n"
OBJECTS = {
    "start": START,
    "needs-foo": START + ".quad foo",
    "weak-foo-ref": START + ".weak foo\n.quad foo",
    "hidden-foo-ref": START + ".hidden foo\n.quad foo",
    "protected-foo-ref": START + ".protected foo\n.quad foo",
    "hidden-weak-foo-ref": START + ".hidden foo\n.weak foo\n.quad foo",
    "hidden-debug-only": '.globl bar\n.hidden bar\n.section .debug_info,"",@progbits\n.quad bar',
    "hidden-bare": START + ".globl foo\n.hidden foo\n",
    "bare": START + ".globl foo\n",
    "none-relocation": START + ".quad 0\n.reloc 0, R_X86_64_NONE, foo",
    "none-in-empty": START + '.section .bare,"aw",@progbits\n.reloc 0, R_X86_64_NONE, foo',
    "none-in-empty-data": START + '.section .data.x,"aw",@progbits\n.reloc 0, R_X86_64_NONE, foo',
    "start-data": ".data\n.quad 0",
    "none-and-real": START + ".reloc 0, R_X86_64_NONE, foo\n.quad 0\n.quad foo",
    "debug-only": START + '.section .debug_info,"",@progbits\n.quad foo',
    "unallocated": START + '.section .mine,"",@progbits\n.quad foo',
    "debug-and-text": START + '.quad foo\n.section .debug_info,"",@progbits\n.quad foo',
    "foo": ".globl foo\n.text\nfoo: nop",
    "hidden-foo": ".globl foo\n.hidden foo\n.text\nfoo: nop",
    "bar-needs-foo": ".globl bar\n.text\nbar: jmp foo@plt",
    "bar": ".globl bar\n.text\nbar: nop",
    "versioned-ref": START + ".symver foo_1, foo@V1\n.quad foo_1",
    "missing-version-ref": START + ".symver foo_9, foo@V9\n.quad foo_9",
    "foo-v1": ".globl foo_1\n.symver foo_1, foo@V1\n.text\nfoo_1: nop",
    "bounds": START + ".quad __start_here\n.quad __stop_here\n.quad __start_nowhere\n" + '.section here,"aw"\n.quad 0',
    "group-with": '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: nop\n.globl only\nonly: nop',
    "group-without": '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: nop',
    "group-hidden": '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: nop\n.globl foo\n.hidden foo\nfoo: nop',
    "needs-only": START + ".quad only",
    "group-local-debug": '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: nop\n.section .data.f,"awG",@progbits,f,comdat\n.quad nobody',
    "wrap-needs": START + ".quad foo",
    "wrap-real": START + ".quad __real_foo",
    "personality": ".globl _start\n_start: .cfi_startproc\n.cfi_personality 0x3,gone\nnop\n.cfi_endproc",
    "many": START + "".join(f".quad missing{i}\n" for i in range(12)),
    "excluded": '.section .text.e,"axe",@progbits\n.quad nobody\n',
}
LINKER_NAMES = """_end end _edata edata _etext etext __etext __bss_start __executable_start _GLOBAL_OFFSET_TABLE_ __ehdr_start
    __init_array_start __init_array_end __fini_array_start __fini_array_end __preinit_array_start __preinit_array_end
    __rela_iplt_start __rela_iplt_end __rel_iplt_start _PROCEDURE_LINKAGE_TABLE_ _DYNAMIC __dso_handle __TMC_END__
    __GNU_EH_FRAME_HDR __data_start __end __edata __tls_get_addr __end__ __bss_end __tdata_start""".split()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("undefined"))
    assemble_all(lab, OBJECTS)
    assemble(lab, "linker-names", START + ".data\n" + "".join(f".quad {name}\n" for name in LINKER_NAMES))
    for name in ("foo", "bar"):
        lab.ar(f"lib{name}.a", f"{name}.o")
        lab.sh(f"ld.bfd -shared -soname {name}.so {name}.o -o {name}.so")
    lab.sh("ld.bfd -shared -soname needs.so bar-needs-foo.o -o needs.so")
    lab.sh("ld.bfd -shared -soname needs-foo-so.so bar-needs-foo.o foo.so -o needs-foo-so.so")
    lab.sh("mkdir gone there; cp foo.so gone/gone.so; ld.bfd -shared -soname gone.so foo.o -o there/gone.so")
    lab.sh("ld.bfd -shared -soname needs-gone.so bar-needs-foo.o there/gone.so -o needs-gone.so")
    lab.sh("ld.bfd -shared -soname with-runpath.so bar-needs-foo.o there/gone.so -rpath '$ORIGIN/there' --enable-new-dtags -o with-runpath.so")
    lab.sh("ld.bfd -shared -soname has-bar.so bar.o foo.so -o has-bar.so")
    lab.write("v.map", "V1 { global: foo; };\n")
    lab.sh("ld.bfd -shared -soname foo-v1.so foo-v1.o --version-script v.map -o foo-v1.so")
    lab.write("hide.map", "{ local: foo; };\n")
    lab.write("keep.map", "{ local: *; };\n")
    lab.ar("libhidden.a", "hidden-foo.o")
    return lab


CASES = """
    needs-foo.o
    weak-foo-ref.o
    bare.o
    none-relocation.o
    none-in-empty.o
    none-in-empty-data.o start-data.o
    none-and-real.o
    debug-only.o
    unallocated.o
    debug-and-text.o
    many.o
    personality.o
    -r needs-foo.o
    -pie needs-foo.o
    -shared bare.o
    -shared -z defs bare.o
    bounds.o
    start.o excluded.o
    start.o group-without.o group-local-debug.o
    start.o group-local-debug.o group-without.o
    needs-foo.o --unresolved-symbols=ignore-all
    needs-foo.o --unresolved-symbols=ignore-in-object-files
    needs-foo.o --unresolved-symbols=ignore-in-shared-libs
    needs-foo.o --unresolved-symbols=ignore-all --unresolved-symbols=report-all
    needs-foo.o -z undefs
    -shared -z defs needs-foo.o -z undefs
    -shared -z defs needs-foo.o --unresolved-symbols=ignore-all
    -shared needs-foo.o --unresolved-symbols=ignore-all -z defs
    needs-foo.o --warn-unresolved-symbols --unresolved-symbols=ignore-all
    needs-foo.o --unresolved-symbols=ignore-all --error-unresolved-symbols
    hidden-foo-ref.o
    hidden-foo-ref.o foo.so
    hidden-foo-ref.o foo.o
    hidden-foo-ref.o foo.so libfoo.a
    protected-foo-ref.o
    protected-foo-ref.o foo.so
    hidden-weak-foo-ref.o
    hidden-weak-foo-ref.o foo.so
    hidden-weak-foo-ref.o foo.so --unresolved-symbols=ignore-all
    hidden-weak-foo-ref.o foo.so --gc-sections
    -shared hidden-weak-foo-ref.o foo.so
    hidden-foo-ref.o --unresolved-symbols=ignore-all
    hidden-foo-ref.o --unresolved-symbols=ignore-in-object-files
    -shared needs-foo.o hidden-debug-only.o
    hidden-bare.o
    --defsym=foo=4 needs-foo.o
    --defsym=foo=4 hidden-foo-ref.o
    --wrap=foo wrap-needs.o
    --wrap=foo wrap-real.o
    --wrap=foo wrap-real.o foo.o
    versioned-ref.o
    versioned-ref.o foo-v1.so
    missing-version-ref.o foo-v1.so
    needs-foo.o foo-v1.so
    versioned-ref.o foo.so
    versioned-ref.o foo-v1.o
    needs-foo.o foo-v1.o
    start.o needs.so
    start.o needs.so foo.so
    start.o needs.so --as-needed foo.so
    start.o --as-needed foo.so needs.so
    start.o --as-needed needs.so
    start.o needs.so foo.o
    weak-foo-ref.o needs.so libfoo.a
    needs.so weak-foo-ref.o libfoo.a
    start.o needs.so libfoo.a
    bare.o needs.so
    weak-foo-ref.o needs.so
    needs-foo.o needs.so
    start.o needs.so --allow-shlib-undefined
    start.o needs.so --unresolved-symbols=ignore-in-shared-libs
    start.o needs.so --unresolved-symbols=ignore-all
    start.o needs.so --unresolved-symbols=report-all
    -shared start.o needs.so
    -shared start.o needs.so --no-allow-shlib-undefined
    -shared -z defs start.o needs.so
    -pie start.o needs.so
    start.o needs-foo-so.so
    start.o needs-foo-so.so foo.so
    start.o needs-foo-so.so -rpath-link .
    start.o needs-foo-so.so -rpath .
    start.o needs-foo-so.so -L.
    start.o needs-gone.so
    start.o needs-gone.so -rpath-link there
    start.o needs-gone.so -rpath there
    start.o needs-gone.so -Lthere
    start.o with-runpath.so
    needs-foo.o has-bar.so -rpath-link .
    needs-foo.o has-bar.so
    start.o hidden-foo.o needs.so
    start.o hidden-foo.o needs.so foo.so
    start.o foo.o needs.so --version-script hide.map
    start.o foo.o needs.so --version-script keep.map
    needs-foo.o libfoo.a needs.so --exclude-libs ALL
    needs-foo.o libfoo.a needs.so --exclude-libs libfoo.a
    needs-foo.o libfoo.a needs.so --exclude-libs libbar.a
    needs-foo.o libhidden.a needs.so
    -shared foo.o needs.so --version-script hide.map
    linker-names.o
    linker-names.o foo.so
    linker-names.o --as-needed foo.so
    -static linker-names.o
    -pie linker-names.o
    -shared -z defs linker-names.o
"""


@pytest.mark.parametrize("linker", EVERY)
@pytest.mark.parametrize("words", [line.strip() for line in CASES.split("\n") if line.strip()])
def test_agrees_with_the_linkers(bench, linker, words):
    agree(bench, linker, words)


@linkers.every_linker
def test_a_common_symbol_in_an_expression(bench, linker):
    """Of GNU ld's -r it has no value yet."""
    assemble(bench, "common", ".comm foo,8,8")
    bench.write("set.ld", "alias = foo;")
    for words in ("-r common.o --defsym alias=foo", "-r common.o set.ld", "start.o common.o --defsym alias=foo"):
        linkers.agree(bench, linker, words)


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_a_common_symbol_that_has_a_place_in_spite_of_r(bench, linker):
    need(linkers.PROGRAMS[linker])
    assemble(bench, "common", ".comm foo,8,8")
    assert not linkers.differs(bench, linker, "-r common.o --defsym alias=foo")
    assert not linkers.differs(bench, linker, "-r -d common.o --defsym alias=foo")


@pytest.mark.parametrize("links, noted", [(4, False), (5, True)])
def test_a_long_chain_of_values(bench, links, noted):
    """GNU ld evaluates it as often as it lays out memory, which is not known here."""
    names = ["foo", *(f"link{i}" for i in range(links - 1))]
    bench.write("chain.ld", "".join(f"PROVIDE({name} = {after});" for name, after in zip(names, [*names[1:], "4"])))
    result = bench.audit("check", "--", "ld.bfd", "needs-foo.o", "chain.ld", "-o", "out")
    assert result.code == 0 and ("a long chain of assignments" in result.out) == noted, result


PROVIDED_IN_VAIN = ["PROVIDE(foo = nope);", "PROVIDE(foo = two); PROVIDE(two = nope);", "PROVIDE(two = nope); PROVIDE(foo = two);", "PROVIDE(two = 4); PROVIDE(foo = two);"]


@pytest.mark.parametrize("script", PROVIDED_IN_VAIN)
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld14", "lld19"])
def test_what_is_provided_needs_a_value(bench, linker, script):
    """lld 14 and gold ask for it even where nothing needs the name."""
    need(linkers.PROGRAMS[linker])
    bench.write("provide.ld", script)
    wrong = [linkers.differs(bench, linker, words + " provide.ld") for words in ("needs-foo.o", "start.o")]
    assert not any(wrong), "\n".join(filter(None, wrong))


OF_A_LIBRARY = {"address": "lea x(%rip), %rax", "call": "call x@plt", "slot": "mov x@GOTPCREL(%rip), %rax", "word": ".data\n.quad x",
                "constant": '.section .rodata,"a"\n.quad x', "distance": ".data\n.long x - .", "wide": ".data\n.quad x - .", "debug": '.section .debug_x,""\n.quad x',
                "none": "nop"}


@pytest.mark.parametrize("kind", ["object", "function"])
@pytest.mark.parametrize("output", ["", "-pie", "-shared", "--gc-sections -e _start"])
@pytest.mark.parametrize("linker", ["bfd", "lld14", "lld19"])
def test_a_value_that_a_library_has(bench, linker, output, kind):
    """It is known where the program has a copy of the variable, or a stand-in of the function."""
    need(linkers.PROGRAMS[linker])
    assemble(bench, "library-x", f".globl x\n.type x,%{kind}\n.size x,8\n.data\nx: .quad 0")
    bench.sh(f"ld.bfd -shared library-x.o -o library-{kind}.so")
    wrong = []
    for name, use in OF_A_LIBRARY.items():
        assemble(bench, "of-" + name, f".globl x, _start\n.text\n_start: {use}")
        wrong.append(linkers.differs(bench, linker, f"{output} of-{name}.o library-{kind}.so --defsym=y=x"))
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_mold_extracts_for_no_value_under_r(bench):
    need("mold")
    linkers.agree(bench, "mold", "--defsym=alias=foo -r libfoo.a")


@pytest.mark.parametrize("linker", ["bfd"])
def test_an_object_has_its_own_offset_table(bench, linker):
    assemble(bench, "table", ".globl _GLOBAL_OFFSET_TABLE_\n.data\n_GLOBAL_OFFSET_TABLE_: .quad 0")
    wrong = [linkers.differs(bench, linker, output + " start.o table.o") for output in ("-shared", "-pie", "-static", "-r")]
    assert not any(wrong), "\n".join(filter(None, wrong))


OFFSET_TABLE_USES = {
    "table": ".reloc ., R_X86_64_64, _GLOBAL_OFFSET_TABLE_\n.quad 0",
    "table-call": ".text\ncall _GLOBAL_OFFSET_TABLE_@PLT",
    "call": ".text\ncall _start@PLT",
    "slot": ".text\nmov _start@GOTPCREL(%rip), %rax",
}


@pytest.mark.parametrize("words", ["table.o", "table-call.o", "table.o slot.o", "table-call.o slot.o"])
def test_gold_makes_the_offset_table_that_a_relocation_needs(bench, words):
    need("ld.gold")
    assemble_all(bench, OFFSET_TABLE_USES)
    wrong = [linkers.differs(bench, "gold", f"{output} start.o {words}") for output in ("", "call.o", "-pie", "-shared -z defs call.o")]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("words", ["-shared -z defs", "-shared", "-shared -z defs -z undefs"])
def test_gold_reports_what_a_library_mentions_too(bench, words):
    need("ld.gold")
    bench.sh("ld.bfd -shared needs-foo.o -o mentions-foo.so")
    assert not linkers.differs(bench, "gold", f"{words} --unresolved-symbols=ignore-in-object-files needs-foo.o mentions-foo.so")


PROVIDED = ["PROVIDE(foo = nope);", "PROVIDE(foo = two); PROVIDE(two = 3);", "foo = two; PROVIDE(two = 3);", "PROVIDE(other = nope);",
            "PROVIDE(two = nope); PROVIDE(foo = two);", "foo = __ehdr_start;", "foo = _end;", "PROVIDE(foo = _GLOBAL_OFFSET_TABLE_);"]


@pytest.mark.parametrize("script", PROVIDED)
def test_what_a_script_provides(bench, script):
    """What GNU ld needs for it must have a value, when something mentions the name."""
    bench.write("provide.ld", script)
    for words in ("needs-foo.o", "weak-foo-ref.o", "-shared bare.o", "--noinhibit-exec needs-foo.o", "start.o"):
        linkers.agree(bench, "bfd", words + " provide.ld")


@pytest.mark.parametrize("linker", EVERY)
def test_a_name_of_debug_info_beside_a_bound_of_a_section(bench, linker):
    need(linkers.PROGRAMS[linker])
    assemble(bench, "bound-and-debug", START + '.quad __stop_here\n.section here,"aw"\n.quad 0\n.section .debug_info,"",@progbits\n.quad foo')
    linkers.agree(bench, linker, "bound-and-debug.o")


@linkers.every_linker
def test_debug_information_beside_a_warning(bench, linker):
    """mold comes to sections without SHF_ALLOC where the rest is only warned of."""
    linkers.agree(bench, linker, "--warn-unresolved-symbols needs-foo.o hidden-debug-only.o")
    linkers.agree(bench, linker, "needs-foo.o debug-only.o -z muldefs")


GROUPS = ["group-without.o group-hidden.o", "group-without.o group-hidden.o bare.o", "needs-only.o group-without.o group-with.o", "needs-only.o group-with.o group-without.o"]


@pytest.mark.parametrize("linker", EVERY)
@pytest.mark.parametrize("words", GROUPS)
def test_only_a_discarded_group_defines_it(bench, linker, words):
    agree(bench, linker, words)


def test_library_that_only_a_library_names(bench):
    """GNU ld finds it, and refuses to use it unasked; with --copy-dt-needed-entries it doesn't."""
    words = ["needs-foo.o", "has-bar.so", "-rpath-link", "."]
    result = bench.audit("check", "--", "ld.bfd", *words, "-o", "out")
    assert "./foo.so defines it, which has-bar.so needs" in result.out and "DSO missing" in result.out, result
    agree(bench, "bfd", "needs-foo.o --copy-dt-needed-entries has-bar.so -rpath-link .")
