"""--gc-sections: a reference from a section that the linker removes is no error. Held against the real linkers."""

import pytest

from elfaudit_test import need
import linkers
from linkers import assemble, assemble_all
from undefined_names import EVERY, agree

need("ld.bfd", "as", "ar")


def text(name, body, binding="globl"):
    return f'.section .text.{name},"ax"\n.{binding} {name}\n.type {name},@function\n{name}: {body}\n'


START = text("_start", "call used@plt")
OBJECTS = {
    "start": START,
    "start-only": text("_start", "nop"),
    "dead": text("dead", "call gone@plt"),
    "used": text("used", "nop"),
    "used-needs": text("used", "call gone@plt"),
    "used-by-data": text("used", ".quad table") + '.section .data.table,"aw"\n.globl table\ntable: .quad gone\n',
    "used-dead-data": text("used", "nop") + '.section .data.table,"aw"\n.globl table\ntable: .quad gone\n',
    "by-local": text("used", ".quad .Llocal") + '.section .rodata.x,"a"\n.Llocal: .quad gone\n',
    "by-section-symbol": text("used", ".quad .rodata.x+8") + '.section .rodata.x,"a"\n.quad 0\n.quad gone\n',
    "init-array": '.section .init_array,"aw",@init_array\n.quad gone\n',
    "init-array-prio": '.section .init_array.00100,"aw",@init_array\n.quad gone\n',
    "fini-array": '.section .fini_array,"aw",@fini_array\n.quad gone\n',
    "ctors": '.section .ctors,"aw"\n.quad gone\n',
    "init-data": '.section .init_array,"aw",@init_array\n.quad 0\n',
    "init": '.section .init,"ax"\ncall gone@plt\n',
    "retain": '.section .data.kept,"awR"\n.quad gone\n',
    "note": '.section .note.mine,"a",@note\n.quad gone\n',
    "note-by-name": '.section .note.mine,"a",@progbits\n.quad gone\n',
    "note-by-type": '.section .mine,"a",@note\n.quad gone\n',
    "fini-by-name": '.section .fini_array_more,"aw",@progbits\n.quad gone\n',
    "preinit-by-name": '.section .preinit_array.1,"aw",@progbits\n.quad gone\n',
    "jcr": '.section .jcr,"aw",@progbits\n.quad gone\n',
    "ctors-by-name": '.section .ctors_more,"aw"\n.quad gone\n',
    "init-by-type": '.section .more,"aw",@init_array\n.quad gone\n',
    "preinit-by-type": '.section .more,"aw",@preinit_array\n.quad gone\n',
    "init-by-name": '.section .init.mine,"a"\n.quad gone\n',
    "personality": '.section .text.my_personality,"ax"\ncall gone@plt\n',
    "identifier": '.section mine,"aw"\n.quad gone\n',
    "identifier-used": '.section mine,"aw"\n.quad gone\n' + text("used", ".quad __start_mine"),
    "identifier-stop-used": '.section mine,"aw"\n.quad gone\n' + text("used", ".quad __stop_mine"),
    "identifier-dead-user": '.section mine,"aw"\n.quad gone\n' + text("unused", ".quad __start_mine"),
    "group": '.section .text.used,"axG",@progbits,used,comdat\n.globl used\nused: nop\n.section .data.more,"awG",@progbits,used,comdat\n.quad gone\n',
    "link-order": text("used", "nop") + '.section .meta,"ao",@progbits,.text.used\n.quad gone\n',
    "link-order-dead": text("dead", "nop") + '.section .meta,"ao",@progbits,.text.dead\n.quad gone\n',
    "debug-of-dead": text("dead", "nop") + '.section .debug_info,"",@progbits\n.quad gone\n',
    "debug-of-live": text("used", "nop") + '.section .debug_info,"",@progbits\n.quad gone\n',
    "exported": text("exported", "call gone@plt"),
    "hidden": ".hidden exported\n" + text("exported", "call gone@plt"),
    "weak-dead": text("used", "call gone@plt", "weak"),
    "chain-a": text("used", "call next@plt"),
    "chain-b": text("next", "call last@plt"),
    "chain-c": text("last", "call gone@plt"),
    "throws-dead": text("thrower", ".cfi_startproc\n.cfi_personality 0x9b,personality\n.cfi_lsda 0x1b,.Ltable\nnop\n.cfi_endproc")
    + '.section .gcc_except_table,"a"\n.Ltable: .quad gone\n.data\n.hidden personality\n.weak personality\npersonality: .quad routine\n',
    "cfi-dead": text("thrower", ".cfi_startproc\n.cfi_personality 0x3,gone\nnop\n.cfi_endproc"),
    "cfi-live": text("used", ".cfi_startproc\n.cfi_personality 0x3,gone\nnop\n.cfi_endproc"),
    "lsda-live": text("used", ".cfi_startproc\n.cfi_lsda 0x3,.Ltable\nnop\n.cfi_endproc") + '.section .gcc_except_table.used,"a"\n.Ltable: .quad gone\n',
    "lsda-dead": text("thrower", ".cfi_startproc\n.cfi_lsda 0x3,.Ltable\nnop\n.cfi_endproc") + '.section .gcc_except_table.thrower,"a"\n.Ltable: .quad gone\n',
    "refers-exported": text("other", "call exported@plt"),
    "defines-exported": text("exported", "nop"),
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("gc"))
    assemble_all(lab, OBJECTS)
    lab.sh("ld.bfd -shared -soname calls.so refers-exported.o -o calls.so")
    lab.sh("ld.bfd -shared -soname defines.so defines-exported.o -o defines.so")
    lab.ar("libdead.a", "dead.o")
    lab.ar("libused.a", "used-needs.o")
    lab.ar("libexported.a", "exported.o")
    lab.write("list", "{ exported; };\n")
    lab.write("none.map", "{ local: *; };\n")
    lab.write("pattern.map", "V1 { global: e*; };\n")
    lab.write("some.map", "{ global: exported; local: *; };\n")
    return lab


CASES = """
    start.o used.o dead.o
    start.o used-needs.o
    start.o used-by-data.o
    start.o used-dead-data.o
    start.o by-local.o
    start.o by-section-symbol.o
    start-only.o used-needs.o
    start-only.o -u dead dead.o
    start-only.o -u dead libdead.a
    start-only.o -e dead dead.o
    start-only.o -init dead dead.o
    start-only.o -fini dead dead.o
    start-only.o init-array.o
    start-only.o init-array-prio.o
    start-only.o fini-array.o
    start-only.o ctors.o
    start-only.o init.o
    start-only.o retain.o
    start-only.o note.o
    start-only.o note-by-name.o
    start-only.o note-by-type.o
    start-only.o init-by-name.o
    start-only.o fini-by-name.o
    start-only.o preinit-by-name.o
    start-only.o jcr.o
    start-only.o ctors-by-name.o
    start-only.o init-by-type.o
    start-only.o preinit-by-type.o
    start-only.o personality.o
    start-only.o identifier.o
    start-only.o -z start-stop-gc identifier.o
    start.o identifier-used.o
    start.o -z start-stop-gc identifier-used.o
    start.o -z nostart-stop-gc identifier-used.o
    start.o identifier-stop-used.o
    start.o used.o identifier-dead-user.o
    start.o group.o
    start.o link-order.o
    start.o used.o link-order-dead.o
    start-only.o debug-of-dead.o
    start.o debug-of-live.o
    start.o chain-a.o chain-b.o chain-c.o
    start-only.o chain-a.o chain-b.o chain-c.o
    start.o used.o weak-dead.o
    start.o libused.a
    start.o used.o libdead.a
    start-only.o exported.o
    start-only.o exported.o --export-dynamic
    start-only.o exported.o calls.so
    start-only.o exported.o defines.so
    start-only.o hidden.o calls.so defines.so
    start-only.o exported.o --export-dynamic --version-script none.map
    start-only.o exported.o --dynamic-list list calls.so
    start-only.o exported.o --export-dynamic-symbol exported calls.so
    -pie start-only.o exported.o
    -shared -z defs exported.o
    -shared -z defs hidden.o
    -shared -z defs exported.o --version-script none.map
    -shared -z defs exported.o --version-script some.map
    -shared exported.o
    start-only.o cfi-dead.o
    start.o cfi-live.o
    start.o lsda-live.o
    start-only.o lsda-dead.o
    start-only.o --no-gc-sections dead.o
    start-only.o exported.o --version-script some.map
    start-only.o exported.o --version-script pattern.map
    start-only.o exported.o --version-script none.map
    --exclude-libs ALL start-only.o calls.so libexported.a
    --exclude-libs libused.a start-only.o calls.so libexported.a
"""


@pytest.mark.parametrize("linker", EVERY)
@pytest.mark.parametrize("words", [line.strip() for line in CASES.split("\n") if line.strip()])
def test_agrees_with_the_linkers(bench, linker, words):
    agree(bench, linker, "--gc-sections " + words)


ROOTS = ["", "-e used", "-u used", "-e gone", "-u gone", "-fini used", "-init gone", "-u absolute", "-u alias --defsym=alias=used", "init.ld",
         "-u number --defsym=number=4", "-u number number.o", "-u number number.o -e used", "start.o", "start-by-name.o"]


@pytest.mark.parametrize("words", ROOTS)
@linkers.every_linker
def test_what_a_relocatable_output_keeps(bench, linker, words):
    """GNU ld wants a name for it, and gold refuses both options together."""
    bench.write("init.ld", "ENTRY(used)\n")
    linkers.assemble(bench, "number", ".globl number\nnumber = 4")
    linkers.assemble(bench, "start-by-name", text("start", "nop") + text("_start", "call gone@plt"))
    if linker != "mold" or "init.ld" not in words:
        assert not linkers.differs(bench, linker, f"-r --gc-sections used.o {words}")


def test_gold_removes_nothing_from_a_relocatable_output(bench):
    need("ld.gold")
    assert not linkers.differs(bench, "gold", "-r --gc-sections used.o -e used")


@pytest.mark.parametrize("output", ["-shared -z defs", "-E start-only.o", "start-only.o -u used"])
@linkers.every_linker
def test_a_value_takes_the_place_of_a_kept_function(bench, linker, output):
    linkers.agree(bench, linker, f"--gc-sections {output} used-needs.o --defsym=used=4")


MOLD_LISTS = ["V1 { f[!0]; };", "V1 { f[!2]; };", "V1 { local: f2; }; V2 { f?; };", "V1 { f?; }; V2 { local: f2; };", "V1 { f2; local: f2; };",
              "V1 { *; }; V2 { local: *; };", "V1 { local: *; }; V2 { f*; };"]


@pytest.mark.parametrize("nodes", MOLD_LISTS)
def test_what_a_version_script_makes_mold_keep(bench, nodes):
    """The first pattern or name that fits decides; among names alone the last."""
    need("mold")
    assemble(bench, "f2", text("f2", "call gone@plt"))
    bench.write("nodes.map", nodes + "\n")
    linkers.agree(bench, "mold", "--gc-sections start-only.o f2.o init-data.o --version-script nodes.map")


@pytest.mark.parametrize("nodes", ["{ local: *; };", "V1 { local: exported; };", "V1 { local: e*; };", "V1 { exported; local: *; };", "V1 { *; local: *; };"])
@pytest.mark.parametrize("output", ["start-only.o", "-shared -z defs"])
def test_what_a_library_makes_mold_keep(bench, output, nodes):
    """In a program, nothing that "*" alone makes local; in a shared object nothing that is local."""
    need("mold")
    bench.write("local.map", nodes + "\n")
    linkers.agree(bench, "mold", f"--gc-sections {output} exported.o calls.so init-data.o --version-script local.map")


def test_real_program_with_dead_functions(lab):
    """What -ffunction-sections is for: the unused half of a file may need what is not there."""
    need("g++")
    lab.cc("main.o", "int used(); int main() { return used(); }", "g++ -g -O1 -ffunction-sections")
    lab.cc("half.o", "int gone(); int used() { return 1; } int unused() { try { return gone(); } catch (...) { return 2; } }",
           "g++ -g -O1 -ffunction-sections")
    assert lab.sh("g++ -Wl,--gc-sections main.o half.o -o out", check=False).code == 0
    assert lab.audit("check", "--", "g++", "-Wl,--gc-sections", "main.o", "half.o").code == 0
    assert lab.audit("check", "--", "g++", "main.o", "half.o").code == 1


def test_a_library_that_a_library_needs_keeps_what_it_mentions(lab):
    """GNU ld loads it before it asks which sections are kept."""
    assemble(lab, "start", '.globl _start\n_start: nop\n.section .data.x,"aw"\n.globl shared_name\nshared_name: .quad nobody')
    assemble(lab, "inner", ".globl shared_name\n.data\nshared_name: .quad 0")
    assemble(lab, "outer", ".data\n.quad shared_name")
    lab.sh("ld.bfd -shared inner.o -soname libinner.so -o libinner.so")
    lab.sh("ld.bfd -shared --no-as-needed outer.o libinner.so -soname libouter.so -o libouter.so")
    linkers.agree(lab, "bfd", "--gc-sections start.o libouter.so -rpath-link .")
    linkers.agree(lab, "bfd", "--gc-sections start.o libouter.so")


@linkers.every_linker_and_gold
@pytest.mark.parametrize("section", [".foo", ".comment", ".debug_info", ".gnu.build.attributes", ".note.x", ".stack_sizes", ".line", ".gdb_index"])
def test_what_is_not_loaded_asks_for_names(lab, linker, section):
    """GNU ld removes such a section where it has relocations and is no debug information."""
    assemble(lab, "start", START.replace("call used@plt", "nop") + f'.section {section},"",@progbits\n.quad gone\n')
    for words in ("start.o", "--gc-sections start.o"):
        linkers.agree(lab, linker, words)
