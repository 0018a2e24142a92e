"""Which linker scripts each linker can read. Every script is given to every installed linker with -T, and to elfaudit."""

import pytest

from elfaudit_test import need
from linkers import assemble, differs, every_linker_and_gold

need("ld.bfd", "as")

SCRIPTS = """
    a = 4;
    a=4;
    a =4;
    a= 4;
    a+=4;
    a = 1; a +=4;
    a = 1; a+= 4;
    a:=4;
    .=4;
    "a" = 4;
    "a"=4;
    a = 5 % 2;
    a = 5 @ 2;
    a = 4 K;
    a = 4K;
    a = 1; a %= 2;
    a = 4
    a = _start;
    a = 4; b = a+1;
    a = (4;
    a = 4);
    PROVIDE(a = 4);
    PROVIDE(a=4);
    PROVIDE_HIDDEN(a=4);
    PROVIDE(a + 4);
    PROVIDE(a += 4);
    HIDDEN(a + 4);
    SECTIONS { a=4; }
    SECTIONS { a =4; }
    SECTIONS { . =.+4; }
    SECTIONS { PROVIDE(a=4); }
    SECTIONS { .text : { a=4; *(.text) } }
    SECTIONS { .text : { a =4; *(.text) } }
    SECTIONS { % }
    % a = 4;
    "a = 4;
    ENTRY(_start)
    EXTERN(a)
    SEARCH_DIR(/nowhere)
    OUTPUT_FORMAT(elf64-x86-64)
    OUTPUT_ARCH(i386:x86-64)
    INPUT()
    GROUP ( AS_NEEDED ( ) )
    SECTIONS { }
    ASSERT(1, "text")
    STARTUP(start.o)
    INPUT(start.o
    { a = 4; }
    SECTIONS { .text : { *(.text) } .gone (gone) : { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone gone : { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone MAX(gone, 3) + 8: { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone 1 ? 0x10000 : 0x20000 : { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone (NOLOAD) : { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone 0x10000 (NOLOAD) : { *(.gone) } }
    SECTIONS { .text : { *(.text) } .gone ADDR(.text) + 0x1000 : { *(.gone) } }
    SECTIONS { ASSERT(1, "text") .text : { *(.text) } }
"""
LINES = [line.strip() for line in SCRIPTS.splitlines() if line.strip()]
# Where a quote that is not closed ends to gold, and an internal error of its own.
GOLD_ALONE = ('"a = 4;', "SECTIONS { }")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("scripts"))
    assemble(lab, "start", ".globl _start\n.text\n_start: nop")
    for i, script in enumerate(LINES):
        lab.write(f"{i}.ld", script + "\n")
    return lab


@every_linker_and_gold
def test_reads_the_same_scripts(bench, linker):
    given = [i for i, script in enumerate(LINES) if not (linker == "gold" and script in GOLD_ALONE)]
    different = [f"{LINES[i]}\n{text}" for i in given if (text := differs(bench, linker, f"-T {i}.ld start.o"))]
    assert not different, "\n".join(different)
