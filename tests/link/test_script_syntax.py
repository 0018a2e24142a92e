"""Which linker scripts, dynamic lists and version scripts each linker can read. Every one is given to every installed
linker, and to elfaudit. Malformed linker scripts that one linker takes all the same are errors for all."""

import re

import pytest

from elfaudit_test import need
from linkers import AS_OPTION, assemble, differs, every_linker_and_gold

need("ld.bfd", "as")

SCRIPTS = """
    a = 4;
    a = 0xffffffffffffffff;
    a=4;
    a= 4;
    a+=4;
    a = 1; a+= 4;
    a:=4;
    .=4;
    "a" = 4;
    a = 5 % 2;
    a = 5 @ 2;
    a = 4 K;
    a = 4K;
    a = 4
    a = _start;
    a = 4; b = a+1;
    a = (4;
    a = 4);
    PROVIDE(a = 4);
    SECTIONS { a=4; }
    SECTIONS { .text : { a=4; *(.text) } }
    ENTRY(_start)
    EXTERN(a)
    SEARCH_DIR(/nowhere)
    OUTPUT_FORMAT(elf64-x86-64)
    OUTPUT_ARCH(i386:x86-64)
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
    SECTIONS { .text : { *(.text) } > nowhere }
    MEMORY { r : o = 0x10000, l = 1M } SECTIONS { .text : { *(.text) } > r }
    MEMORY { r : o = 0x10000, l = 1M } SECTIONS { .text : { *(.text) } > r AT> q }
    MEMORY { r : o = 0x10000, l = 1M } MEMORY { s : o = 0x200000, l = 1M } SECTIONS { .text : { *(.text) } > s .d : { *(.d) } > r }
    INCLUDE region.ld SECTIONS { .text : { *(.text) } > r }
    REGION_ALIAS("alias", nowhere)
    a = ORIGIN(nowhere);
    a = CONSTANT(OTHER);
    ENTRY(_start, b)
    ENTRY()
    ENTRY(_start);
    EXTERN(a b, c)
    SEARCH_DIR(/nowhere /either)
    TARGET(elf64-x86-64 elf64-x86-64)
    OUTPUT_FORMAT(elf64-x86-64
    OUTPUT_FORMAT("elf64-x86-64", "elf64-x86-64", "elf64-x86-64")
    PROVIDE(a = 4)
    HIDDEN(a = 4)
    SECTIONS { PROVIDE(a = 4) .text : { *(.text) } }
    SECTIONS { .text : { PROVIDE(a = 4) *(.text) } }
    SECTIONS { .text : { PROVIDE(a = 4); *(.text) } }
    SECTIONS { ENTRY(_start) .text : { *(.text) } }
    NOCROSSREFS(.text .data)
    NOCROSSREFS_TO(.text .data)
    MEMORY { r (rwx) : ORIGIN = 0x10000, LENGTH = 1M } REGION_ALIAS("alias", r)
    LD_FEATURE("SANE_EXPR")
    MAP(a.map)
    HLL()
    SYSLIB(c)
    OUTPUT(b.out)
    FORCE_GROUP_ALLOCATION
    FORCE_COMMON_ALLOCATION
    INHIBIT_COMMON_ALLOCATION
    SECTIONS { .x : { *(.x) } } INSERT AFTER .text;
    SECTIONS { OVERLAY 0x1000 : AT(0x4000) { .a { *(.a) } .b { *(.b) } } }
    SECTIONS { garbage }
    SECTIONS { .text { *(.text) } }
    SECTIONS { .text : *(.text) }
    SECTIONS { .text : { *(.text) } garbage }
    SECTIONS { ; .text : { *(.text) } }
    SECTIONS { .text : { *(.text) } ; }
    SECTIONS { a b = 4; }
    SECTIONS { .text : { *(.text) } =0x1122 }
    SECTIONS { .text : { *(.text) } =0x1122, .a : { *(.a) } }
    SECTIONS { .text : { *(.text) } = ((0x11<<8) | 0x22) }
    SECTIONS { .text : { *(.text) } = gone }
    SECTIONS { .text : { *(.text) } :NONE =0x90 .a : { *(.a) } }
    SECTIONS { .text . : ALIGN(8) SUBALIGN(8) { *(.text) } }
    SECTIONS { .text ALIGN(8) : { *(.text) } . = ALIGN(8); }
    SECTIONS { . = 0x10000; .text 0x20000 : AT(0x30000) { *(.text) } }
    SECTIONS { "a b" : { *(.text) } }
    a = 0b1;
    a = 10k;
    a = 077;
    a = 0xfgh;
    a = 5a;
    a = - - 1;
    a = !~1;
    a = ();
    a = 1 + ;
    a = 1 ! 2;
    a = 1 : 2;
    a = 1 ? 2;
    a = 1 { 2;
    a = 1 || 0;
    a = 1 ? 2 ? 3 : 4 : 5;
    a = (1 ? 2 : 3) + 4;
    a = (_start) + 1;
    a = SIZEOF(.text) * 2 % 3;
    a = ALIGN(1, 2) & ~(0x10 - 1);
    SECTIONS { .text : ALIGN_WITH_INPUT { *(.text) } }
    SECTIONS { .text : ONLY_IF_RO { *(.text) } }
    SECTIONS { .text : { *(SORT_NONE(.text)) } }
    SECTIONS { .text : { *(SORT_BY_INIT_PRIORITY(.text)) } }
    SECTIONS { .text : { *(REVERSE(.text)) } }
    SECTIONS { .text : { SORT(CONSTRUCTORS) CONSTRUCTORS *(.text) } }
    SECTIONS { .text : { CREATE_OBJECT_SYMBOLS *(.text) } }
    SECTIONS { .text : { *(EXCLUDE_FILE(a.o) .text) } }
    SECTIONS { .text : { EXCLUDE_FILE(a.o) *(.text) } }
    SECTIONS { .text : { *(.[t]ext) *(.text) } }
    SECTIONS { .text : { *(.text) } .b (TYPE=SHT_NOTE) : { *(.b) } }
    SECTIONS { .text : { *(.text) } .b (READONLY) : { *(.b) } }
    SECTIONS { .text : { *(.text) } .b (DSECT) : { *(.b) } }
    SECTIONS { .text : { *(.text) } .b (COPY) : { *(.b) } }
    SECTIONS { .text : { *(.text) } .b (OVERLAY) : { *(.b) } }
    a = LOG2CEIL(8);
    a = NEXT(8);
    SECTIONS { .text BLOCK(16) : { *(.text) } }
    a = MAX(1, 2) + MIN(1, 2);
    a = 1; a ^= 2;
    a = 1 ^ 2;
    a = CONSTANT(MAXPAGESIZE);
    SECTIONS { a = 1 ^ 2; }
    add = 4; a = add;
    Ah = 4; a = Ah;
    EXTERN("add")
    EXTERN(face)
    OVERWRITE_SECTIONS { .text : { a = 4; PROVIDE(b = 4); *(.text) } PROVIDE : { *(.p) } }
    OVERWRITE_SECTIONS { .text : { *(.text) } a = 4; }
    OVERWRITE_SECTIONS { PROVIDE(a = 4); }
    SECTIONS { add : { *(.text) } }
    SECTIONS { .text : { *(.text) } = (0x90 + 4) }
    SECTIONS { .text : { FILL(0x90 + 4) *(.text) } }
    a = .;
    a = ALIGN(8);
    a = ALIGN(_start, 8);
    a = DATA_SEGMENT_ALIGN(4096, 4096);
    PROVIDE(a = .);
    SECTIONS { a = .; .text : { *(.text) } }
    SECTIONS { .text : { *(.text) } } a = .;
    MEMORY { r (!w) : o = 0x10000, l = 1M } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    MEMORY { r (rxy) : o = 0x10000, l = 1M } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    MEMORY { r () : o = 0x10000, l = 1M } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    MEMORY { r: o = 0x10000, l = 1M } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    MEMORY { r : l = 1M, o = 0x10000 } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    MEMORY { r : o = 0x10000 } SECTIONS { .all : { *(.text*) *(.data*) } > r }
    PHDRS { t PT_LOAD; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD; u PT_ODD; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD; u PT_GNU_PROPERTY; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD; u PT_OPENBSD_RANDOMIZE; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD; u 0x60000000; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD ODD; } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
    PHDRS { t PT_LOAD FLAGS(5) AT(0x1000); } SECTIONS { . = 0x10000; .all : { *(.text*) *(.data*) } :t }
"""
# What is wrong with them, for every linker; mold knows few statements, which is wrong too. GNU ld passes over odd
# characters, lld and mold take lists without a file, and some version of lld takes each of the others.
MALFORMED = [
    ("a = 4", 1, "a ';' is missing before the end of the script"),
    ("a = (4;", 1, "a ')' is missing before ';'"),
    ("a = 1 + ;", 1, "an operand is missing before ';'"),
    ("a = 5a;", 1, "not a number: '5a'"),
    ("a=4;", 1, "'a=4' is one word, an assignment has spaces around its sign"),
    ("SECTIONS { a=4; }", 1, "'a=4' is one word, an assignment has spaces around its sign"),
    ("PROVIDE(a=4);", 1, "'a=4' is one word, an assignment has spaces around its sign"),
    ("PROVIDE(a + 4);", 1, "a '=' is missing between 'a' and '+'"),
    ("a = 1; a %= 2;", 1, "unknown word 'a'"),
    ("% a = 4;", 1, "a name is missing before '%'"),
    ('"a = 4;', 1, "a quote is not closed"),
    ("/* a = 4;", 1, "a comment is not closed"),
    ("INPUT()", 1, "a file is missing before ')'"),
    ("GROUP(start.o\n", 2, "a ')' is missing before the end of the script"),
    ("MEMORY { r (", 1, "nothing closes what is open at the end of the script"),
    ("EXTERN()", 1, "a name is missing before ')'"),
    ("ENTRY(_start, b)", 1, "a ')' is missing before 'b'"),
    ("OUTPUT_FORMAT(elf64-x86-64, elf64-x86-64)", 1, "a ',' is missing before ')'"),
    ("\n\ngarbage", 3, "unknown word 'garbage'"),
    ("SECTIONS {\n  .text : *(.text)\n}", 2, "a '{' is missing before '*'"),
    ("SECTIONS { .text : { *(.text) } = gone }", 1, "a fill value is a constant, 'gone' is a symbol"),
    ("MEMORY { r (rxy) : o = 0, l = 1M }", 1, "unknown attributes 'rxy' of memory"),
    ("MEMORY { r : l = 1M, o = 0 }", 1, "ORIGIN is missing before 'l'"),
    ("PHDRS { t PT_LOAD }", 1, "a ';' is missing before '}'"),
]
LISTS = """
    { };
    { foo; };
    { foo };
    { "foo"; };
    { *; };
    { foo; }
    { foo; }; { bar; };
    { local: foo; };
    { global: foo; };
    { foo; local: *; };
    { foo; } V1;
    { foo;; };
    { ; };
    { extern; };
    { global; };
    { 0foo; };
    { f/oo; };
    { foo@V1; };
    { f[oo; };
    { extern "C++" { foo; }; };
    { extern "C" { }; };
    { extern "Java" { foo; }; };
    V1 { foo; };
    foo;
"""
VERSIONS = """
    V { f/oo; };
    V { f=oo; };
    V { f~oo; };
    V { f+oo; };
    V { f!oo; };
    V { f-oo; };
    V { foo@V; };
    V { @foo; };
    V { /foo; };
    V { f[oo; };
    V { [f]oo; };
    V { "f[oo"; };
    V { extern "C" { }; };
    V { extern "C" { foo }; };
    V { local: *; extern "C++" { }; };
"""


def lines_of(table):
    return [line.strip() for line in table.splitlines() if line.strip()]


LINES = lines_of(SCRIPTS)
GOLD_ALONE = ("SECTIONS { }",)  # an internal error of gold


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("scripts"))
    assemble(lab, "start", ".globl _start\n.text\n_start: nop")
    lab.write("region.ld", "MEMORY { r : o = 0x10000, l = 1M }\n")
    for table, suffix in ((LINES, "ld"), (lines_of(LISTS), "list"), (lines_of(VERSIONS), "map")):
        for i, script in enumerate(table):
            lab.write(f"{i}.{suffix}", script + "\n")
    return lab


@every_linker_and_gold
def test_reads_the_same_scripts(bench, linker):
    given = [i for i, script in enumerate(LINES) if not (linker == "gold" and script in GOLD_ALONE)]
    different = [f"{LINES[i]}\n{text}" for i in given if (text := differs(bench, linker, f"-T {i}.ld start.o"))]
    assert not different, "\n".join(different)


@every_linker_and_gold
@pytest.mark.parametrize("script, line, problem", MALFORMED, ids=[script for script, _, _ in MALFORMED])
def test_a_malformed_script_is_an_error(bench, linker, script, line, problem):
    bench.write("odd.ld", script)
    for words in ("-T odd.ld start.o", "start.o odd.ld"):
        run = bench.audit("check", "--linker", AS_OPTION[linker], "--", "ld", *words.split())
        assert run.code == 2
        unknown = r"odd\.ld: .*line \d: (?:mold does not know|syntax error: mold needs a symbol)"
        assert re.search(rf"odd\.ld: .*: line {line}: syntax error: {re.escape(problem)}", run.out) or (linker == "mold" and re.search(unknown, run.out)), run


@every_linker_and_gold
@pytest.mark.parametrize("option, table, suffix", [("--dynamic-list", LISTS, "list"), ("--undefined-version --version-script", VERSIONS, "map")], ids=["dynamic list", "version script"])
def test_reads_the_same_lists_of_symbols(bench, linker, option, table, suffix):
    given = enumerate(lines_of(table))
    different = [f"{script}\n{text}" for i, script in given if (text := differs(bench, linker, f"-shared {option} {i}.{suffix} start.o"))]
    assert not different, "\n".join(different)


@every_linker_and_gold
def test_takes_a_layout_among_the_inputs(bench, linker):
    bench.write("layout.ld", "SECTIONS { .text : { *(.text) } }\n")
    lines = ("start.o layout.ld", "layout.ld start.o", "-T layout.ld start.o", "-shared start.o layout.ld")
    different = [text for line in lines if (text := differs(bench, linker, line))]
    assert not different, "\n".join(different)
