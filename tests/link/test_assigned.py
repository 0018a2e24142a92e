"""What --defsym, linker scripts and the linker itself define: where it may be used, and what it may use. Every line is
linked; elfaudit must accept what the linker accepts and refuse what it refuses."""

import concurrent.futures
import os

import pytest

from elfaudit_test import Lab, need
from linkers import assemble_all, differs, every_linker

need("as", "ar", "ld.bfd")

SOURCES = {
    "distance": "lea x(%rip), %rax",
    "call": "call x@plt",
    "slot": "mov x@GOTPCREL(%rip), %rax",
    "slot-of-32": "movl x@GOTPCREL(%rip), %eax",
    "word": ".quad x",
    "distance-word": ".quad x - .",
    "small": ".long x",
    "writable": ".data\n.quad x\n.long x - .",
    "bounds": ".quad _end, __bss_start, __ehdr_start, __init_array_start",
    "start-of-here": '.quad __start_here\n.section here,"aw"\n.quad 1',
    "asks-end": ".data\n.quad _end",
}
START = ".globl _start\n.text\n_start: nop\n"
SHARED = ".globl _end, __bss_start, __ehdr_start, __init_array_start, __start_here, variable\n.data\n"
SHARED += "_end: __bss_start: __ehdr_start: __init_array_start: __start_here: variable: .quad 0\n"
SCRIPTS = {
    "number.ld": "x = 4;",
    "name.ld": "x = _start;",
    "hidden.ld": "HIDDEN(x = _start);",
    "provide-hidden.ld": "PROVIDE_HIDDEN(x = _start);",
    "place.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { x = .; *(.text) } }",
    "between.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text) } x = .; }",
    "address.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text) } x = ADDR(.text); }",
    "size.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text) } x = SIZEOF(.text); }",
    "alias.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { y = .; *(.text) } x = y; }",
    "hidden-place.ld": "SECTIONS { . = SIZEOF_HEADERS; .text : { HIDDEN(x = .); *(.text) } }",
    "guarded.ld": "x = DEFINED(gone) ? gone : 3;",
    "other-branch.ld": "x = DEFINED(_start) ? _start : gone;",
    "gone.ld": "x = gone;",
    "gone-place.ld": "SECTIONS { . = gone; .text : { *(.text) } x = 3; }",
    "assert.ld": 'SECTIONS { . = SIZEOF_HEADERS; .text : { *(.text) } . = ASSERT(_start < ., "too large"); x = 3; }',
    "segment.ld": 'SECTIONS { . = SEGMENT_START("text", gone); .text : { *(.text) } x = 3; }',
    "gone-load-address.ld": "SECTIONS { .text : { *(.text) } .not-here : AT(gone) { *(.not-here) } x = 3; }",
    "gone-alignment.ld": "SECTIONS { .text : { *(.text) } .not-here : ALIGN(8) SUBALIGN(gone) { *(.not-here) } x = 3; }",
    "section-words.ld": "SECTIONS { .text ALIGN(CONSTANT(MAXPAGESIZE)) : AT(ADDR(.text)) { *(.text) FILL(0x90909090) LONG(1) } x = 3; }",
    "gone-number.ld": "SECTIONS { .text : { *(.text) LONG(gone + 1) } x = 3; }",
    "gone-inside.ld": "SECTIONS { .text : { *(.text) . = . + gone; } x = 3; }",
    "end.map": "V1 { global: _end; local: *; };",
    "x-local.map": "{ global: _start; local: *; };",
}
USES = ("distance", "call", "slot", "slot-of-32", "word", "distance-word", "small", "writable")
OUTPUTS = ("", "-pie", "-shared", "-shared -Bsymbolic -z text", "-shared --version-script x-local.map")
LINES = [f"{output} {use}.o --defsym x={value}" for output in OUTPUTS for use in USES for value in ("4", "_start")]
LINES += [f"{output} {use}.o {script}" for output in OUTPUTS for use in ("distance", "call", "word")
          for script in ("number.ld", "name.ld", "hidden.ld", "provide-hidden.ld")]
LINES += [f"{output} {use}.o -T {script}.ld" for output in OUTPUTS for use in ("distance", "call", "writable")
          for script in ("place", "between", "address", "size", "alias", "hidden-place")]
LINES += [f"{output} {use}.o {library}" for output in ("", "-pie") for use in ("bounds", "start-of-here") for library in ("", "shared.so")]
LINES += """
call.o guarded.ld
call.o other-branch.ld
call.o gone.ld
call.o gone.ld --noinhibit-exec
call.o gone.ld --warn-unresolved-symbols
call.o -T gone-place.ld
call.o -T gone-inside.ld
call.o -T gone-load-address.ld
call.o -T gone-alignment.ld
call.o -T gone-number.ld
call.o -T section-words.ld
call.o -T assert.ld
call.o -T segment.ld
-shared asks-end.o --version-script end.map
-shared asks-end.o --version-script end.map --no-undefined-version
-shared call.o --defsym x=1 --version-script end.map --no-undefined-version
call.o -T number.ld --default-script nowhere.ld
call.o --defsym x=1 call.o
call.o --defsym x=1 call.o --noinhibit-exec
call.o --defsym x=1 call.o --noinhibit-exec --fatal-warnings
call.o --sysroot=root -L=lib -lx
call.o --sysroot=root/ -L=lib -lx
call.o --sysroot=root -L=/lib -lx
""".strip().splitlines()
# mold 1.10 reads no SECTIONS and no expressions but a name, and crashes at others.
NOT_FOR_MOLD = ("-T ", ".ld")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("assigned"))
    assemble_all(lab, {name: START + text for name, text in SOURCES.items()} | {"shared": SHARED, "x": ".globl x\nx: ret"})
    lab.sh("ld.bfd -shared shared.o -o shared.so; mkdir -p root/lib")
    lab.ar("root/lib/libx.a", "x.o")
    for name, text in SCRIPTS.items():
        lab.write(name, text + "\n")
    return lab


@pytest.mark.deep
@every_linker
def test_what_is_assigned_is_used_as_the_linker_allows(bench, linker):
    lines = [line for line in LINES if linker != "mold" or not any(word in line for word in NOT_FOR_MOLD)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [found for found in pool.map(lambda line: differs(bench, linker, line), lines) if found]
    assert not wrong, f"{len(wrong)} of {len(lines)} differ:\n" + "\n".join(wrong)


@pytest.mark.parametrize("kind, option", [("object", "--ignore-data-address-equality"), ("function", "--ignore-function-address-equality")])
def test_lld_may_give_up_the_equality_of_addresses(bench, kind, option):
    """What is protected in a library gets a copy, or a stand-in, in the program then."""
    need("ld.lld-14", "ld.lld-19")
    assemble_all(bench, {kind: f".globl x\n.protected x\n.type x,%{kind}\n.size x,8\n.data\nx: .quad 0", "address": START + ".quad x"})
    bench.sh(f"ld.lld-19 -shared {kind}.o -o {kind}.so")
    wrong = [differs(bench, linker, f"{words} address.o {kind}.so") for linker in ("lld14", "lld19")
             for words in ("", option, "--ignore-data-address-equality", "--ignore-function-address-equality")]
    assert not any(wrong), "\n".join(filter(None, wrong))
