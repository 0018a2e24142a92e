"""What only lld does, in the order of the rules in lld.cpp. Each line is linked by both installed
versions and audited; the two verdicts are printed where they differ."""

import pytest

from elfaudit_test import need
from linkers import agree, assemble_all, every_linker

need("ld.bfd", "as", "ar")

START = ".globl _start\n.text\n_start: nop\n"
OBJECTS = {
    "start": START,
    "needs-x": START + ".data\n.quad x",
    "weak-x": START + ".weak x\n.data\n.quad x",
    "hidden-x-mention": ".hidden x\n.section .text.unused,\"ax\"\n.quad x",
    "x": '.globl x\n.section .data.x,"aw"\nx: .quad 0',
    "hidden-x": '.globl x\n.hidden x\n.section .data.x,"aw"\nx: .quad 0',
    "refers-x": ".data\n.quad x",
    "refers-real-x": ".data\n.quad __real_x",
    "refers-bounds": ".data\n.quad __start_here",
    "refers-dynamic": START + ".data\n.quad _DYNAMIC",
    "common-x-and-group": START + '.comm x,8,8\n.section .data.g,"awG",@progbits,g,comdat\n.quad 0',
    "excluded-x": '.globl x\n.section .data.x,"awe",@progbits\nx: .quad 0',
    "x-in-group": '.globl x\n.section .data.x,"awG",@progbits,g,comdat\nx: .quad 0',
    "bounds": START + '.section here,"aw"\n.quad 0',
    "wrap-x": ".globl __wrap_x\n.data\n__wrap_x: .quad gone",
    "wrap-x-section": '.globl __wrap_x\n.section .data.w,"aw"\n__wrap_x: .quad gone',
    "wrap-x-needs-real": ".globl __wrap_x\n.data\n__wrap_x: .quad __real_x",
    "real-x": ".globl __real_x\n.data\n__real_x: .quad 0",
    "real-x-and-x": ".globl __real_x,x\n.data\n__real_x: .quad 0\nx: .quad 0",
    "x-used-here": '.globl _start,x\n.text\n_start: .quad x\n.section .data.x,"aw"\nx: .quad 0',
    "group-lost": '.section .data.g,"awG",@progbits,g,comdat\n.quad 0',
    "x-in-group-and-y": '.globl x,y\n.section .data.x,"awG",@progbits,g,comdat\nx: .quad 0\n.data\ny: .quad 0',
    "refers-y": ".data\n.quad y",
    "needs-y": START + ".data\n.quad y",
    "x-and-y": ".globl x,y\n.data\nx: .quad 0\ny: .quad 0",
    "weak-dso-handle": ".weak __dso_handle\n.data\n.quad __dso_handle",
    "wrap-x-alone": ".globl __wrap_x\n.data\n__wrap_x: .quad 0",
    "v1": START + ".symver x_1, x@V1\n.data\n.quad x_1",
    "weak-v1": START + ".weak x_1\n.symver x_1, x@V1\n.data\n.quad x_1",
    "has-v1": ".symver x_1, x@V1, remove\n.globl x_1\n.data\nx_1: .quad 0",
    "has-v2": ".symver y_2, y@V2, remove\n.globl y_2\n.data\ny_2: .quad 0",
    "has-etext": ".globl etext\n.symver x_1, x@@V1, remove\n.globl x_1\n.data\nx_1: .quad etext",
    "refers-etext": ".data\n.quad etext",
    "x-and-y-of-v1": ".symver x_1, x@@V1, remove\n.symver y_1, y@@V1, remove\n.globl x_1, y_1\n.data\nx_1: .quad 0\ny_1: .quad 0",
    "has-default-v1": ".symver x_1, x@@V1, remove\n.globl x_1\n.data\nx_1: .quad 0",
    "weak-tls": START + ".weak x\n.hidden x\nmovq x@gottpoff(%rip), %rax",
    "tls-x": '.globl x\n.section .tdata.x,"awT"\nx: .quad 0',
    "refers-tls-x": "movq x@gottpoff(%rip), %rax",
}
BOTH = ("lld14", "lld19")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("lld"))
    lab.write("x.names", "# no symbol\n\n\tx \n")
    lab.write("comments.names", "# x\n\n")
    assemble_all(lab, OBJECTS)
    lab.write("v1.map", "V1 { global: x; };\n")
    lab.write("described.ld", "SECTIONS { here : { *(nowhere) } }\n")
    lab.write("moved.ld", "SECTIONS { .text : { *(.text) } }\n")
    lab.write("anonymous.map", "{ global: x; };\n")
    for name in ("x", "hidden-x", "real-x", "real-x-and-x", "has-default-v1", "tls-x", "wrap-x-needs-real", "start", "x-in-group", "excluded-x"):
        lab.ar(f"lib{name}.a", f"{name}.o")
    for name in ("x", "refers-x", "refers-real-x", "refers-bounds", "refers-tls-x"):
        lab.sh(f"ld.bfd -shared -soname {name}.so {name}.o -o {name}.so")
    lab.sh("ld.bfd -shared -soname needs-dso-handle.so weak-dso-handle.o -u __dso_handle -o needs-dso-handle.so")
    lab.sh("ld.bfd -shared -soname has-etext.so has-etext.o --version-script v1.map -o has-etext.so")
    lab.ar("libwrap-x.a", "wrap-x-alone.o")
    lab.ar("libx-in-group-and-y.a", "x-in-group-and-y.o")
    lab.ar("libx-and-y.a", "x.o", "x-and-y.o")
    lab.sh("ld.bfd -shared -soname has-v1.so has-v1.o --version-script v1.map -o has-v1.so")
    lab.sh("ld.bfd -shared -soname needs-x-so.so refers-x.o x.so -o needs-x-so.so")
    return lab


CASES = """
    # -u makes a name strongly undefined, and a weak reference does not change that
    -u x weak-x.o
    weak-x.o -u x
    -u x start.o

    # the entry point of a shared object is _start too
    -shared x.o libstart.a
    -r x.o libstart.a

    # --wrap=x asks for __wrap_x and __real_x as soon as x is mentioned anywhere
    --wrap=x needs-x.o libreal-x.a
    --wrap=x start.o libx.a libreal-x.a
    --wrap=x start.o libreal-x.a
    --wrap=x needs-x.o --start-lib real-x-and-x.o --end-lib
    --wrap=x x.o start.o --start-lib real-x-and-x.o --end-lib
    --wrap=x needs-x.o libwrap-x-needs-real.a libx.a

    # what a shared object calls __real_x is x then
    --wrap=x start.o x.o refers-real-x.so
    --wrap=x start.o refers-real-x.so
    --wrap=x start.o refers-x.so refers-real-x.so
    --wrap=x start.o libx.a refers-real-x.so

    # --wrap and --gc-sections: -u x keeps __wrap_x, and so does a use in the object that defines x
    --wrap=x --gc-sections -u x start.o x.o wrap-x-section.o
    --wrap=x --gc-sections x-used-here.o wrap-x-section.o
    --wrap=x --gc-sections start.o wrap-x-section.o

    # a shared object's references
    -shared start.o refers-x.so
    -shared needs-x.o refers-x.so --no-allow-shlib-undefined
    needs-x.o refers-x.so --unresolved-symbols=ignore-in-object-files
    needs-x.o refers-x.so --unresolved-symbols=ignore-in-shared-libs
    weak-x.o refers-x.so
    -u x weak-x.o refers-x.so
    start.o needs-x-so.so
    start.o needs-x-so.so x.so
    start.o --as-needed refers-x.so
    start.o refers-x.so excluded-x.o
    bounds.o refers-bounds.so
    start.o refers-bounds.so

    # a hidden definition that --gc-sections removed is undefined for them
    --gc-sections start.o hidden-x.o refers-x.so
    --gc-sections start.o x.o refers-x.so
    --gc-sections start.o x.o hidden-x-mention.o refers-x.so
    --gc-sections start.o hidden-x.o refers-x.so x.so
    --gc-sections libtls-x.a weak-tls.o refers-tls-x.so
    --gc-sections --exclude-libs ALL start.o libx.a refers-x.so

    # a version that nothing defines is an error, weak or not, whatever the options say
    v1.o
    weak-v1.o
    -shared weak-v1.o
    -z undefs weak-v1.o
    --unresolved-symbols=ignore-all v1.o
    weak-v1.o has-v1.so
    weak-v1.o --as-needed has-v1.so
    v1.o --as-needed has-v1.so
    weak-x.o libhas-default-v1.a
    weak-x.o has-default-v1.o

    # x@V1 and x@@V1 are one; for lld 19 only where a version script names versions
    v1.o has-default-v1.o
    v1.o has-default-v1.o --version-script v1.map
    v1.o has-default-v1.o --version-script anonymous.map
    start.o has-v1.o has-default-v1.o
    start.o has-v1.o has-default-v1.o --version-script v1.map
    -r start.o has-v1.o has-default-v1.o

    # a member whose definition is gone with its section: lld 14 says nothing when the reference came behind the archive
    libexcluded-x.a start.o refers-x.o
    start.o refers-x.o libexcluded-x.a
    -u x libexcluded-x.a start.o refers-x.o
    --start-lib excluded-x.o --end-lib start.o refers-x.o
    common-x-and-group.o libx-in-group.a refers-x.o
    start.o common-x-and-group.o libx-in-group.a refers-x.o

    # a member that is extracted for a common symbol, and whose definition goes with its COMDAT group
    common-x-and-group.o libx-in-group.a

    # lld 14 takes back all that the archive offers while it searches it
    weak-x.o refers-y.o group-lost.o libx-in-group-and-y.a
    weak-x.o group-lost.o libx-in-group-and-y.a refers-y.o
    weak-x.o refers-y.o group-lost.o --start-lib x-in-group-and-y.o --end-lib

    # -u counts beside -e of the same name
    -e x -u x needs-y.o libx-and-y.a
    -e x needs-y.o libx-and-y.a

    # lld 14 does not come to --wrap where it found duplicates
    --wrap=x start.o x.o x.o libwrap-x.a
    --wrap=x start.o x.o start.o libreal-x.a
    -z muldefs --wrap=x start.o x.o x.o libwrap-x.a
    --wrap=y needs-y.o x.o x.o

    # --undefined-glob extracts what is lazy and fits, by its name with its version
    --undefined-glob='x' start.o libx.a
    --undefined-glob='*' start.o libwrap-x-needs-real.a libx.a
    --undefined-glob='[a-z]' start.o --start-lib x-and-y.o --end-lib
    --undefined-glob='x' start.o libhas-default-v1.a
    --undefined-glob='x@@V?' start.o libhas-default-v1.a
    --undefined-glob='_st*' --gc-sections libstart.a

    # --wrap of a name with a version
    --wrap=x@V1 v1.o has-default-v1.o wrap-x-alone.o
    --wrap=x@V1 v1.o has-default-v1.o wrap-x-alone.o --version-script v1.map
    --wrap=x v1.o has-default-v1.o wrap-x-alone.o --version-script v1.map

    # lld 14 knows what --defsym gives a value by then, and __wrap_x has it
    --defsym=x=4 --wrap=x needs-x.o
    --defsym=x=4 --wrap=x needs-x.o libwrap-x.a libreal-x.a
    --defsym=x=4 --wrap=x start.o libreal-x.a

    # a name of lld's own that a library needs, where objects refer to it weakly
    start.o needs-dso-handle.so weak-dso-handle.o
    -shared start.o needs-dso-handle.so weak-dso-handle.o

    # an output section that a script describes has bounds
    -T described.ld refers-bounds.o start.o
    -T described.ld --gc-sections refers-bounds.o bounds.o
    -T moved.ld -shared -z defs refers-bounds.o start.o

    # an archive alone names no machine to lld 14
    libx.a
    --whole-archive libstart.a
    -m elf_x86_64 libx.a

    # a library's etext gives way to lld's
    --as-needed has-etext.so weak-v1.o refers-etext.o

    # lld 14 knows the versions of all names of a lazy object before one of them extracts it
    -shared refers-x.o --start-lib x-and-y-of-v1.o --end-lib

    # where a version has no node nothing is said of discarded sections
    -shared -z defs common-x-and-group.o x-in-group.o refers-x.o has-v2.o

    # _DYNAMIC exists where there could be dynamic symbols
    refers-dynamic.o
    --export-dynamic refers-dynamic.o

    # --retain-symbols-file is a version script
    start.o x.o --retain-symbols-file=x.names
    start.o --retain-symbols-file=x.names
    start.o --retain-symbols-file=x.names --undefined-version
    start.o --retain-symbols-file=comments.names --no-undefined-version
"""
LINES = [line.strip() for line in CASES.split("\n") if line.strip() and not line.strip().startswith("#")]


@pytest.mark.parametrize("words", LINES)
@every_linker
def test_agrees(bench, linker, words):
    if linker in BOTH:
        agree(bench, linker, words)
