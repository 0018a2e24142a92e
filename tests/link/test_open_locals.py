"""Local symbols that are undefined: LLVM's assembler makes them of ".local f" and a use of f, GNU's does not."""

import struct

import pytest

import linkers
from elfaudit_test import Lab, need

need("as", "ar")

START = ".globl _start\n_start: nop\n"
# By name: where f is used.
USERS = {
    "data": ".data\n.quad f",
    "code": ".text\ncall f\nlea f(%rip), %rax",
    "slot": ".text\nmov f@GOTPCREL(%rip), %rax",
    "none": ".text\n.reloc ., R_X86_64_NONE, f\nnop",
    "debug": '.section .debug_info,"",@progbits\n.quad f',
    "excluded": '.section .left_out,"ae"\n.quad f',
    "frames": ".text\n.cfi_startproc\n.cfi_personality 0, f\nnop\n.cfi_endproc",
    "group": '.section .data.d,"awG",@progbits,d,comdat\n.weak d\nd: .quad f',
    "nothing": ".text\nnop",
    "bound": '.section here,"aw"\n.quad f',
}
LINES = ["{}.o", "-shared {}.o", "-pie {}.o", "-r {}.o", "--gc-sections {}.o", "{}.o f.o", "start.o --whole-archive {}.a", "start.o {}.a",
         "--unresolved-symbols=ignore-all {}.o", "--warn-unresolved-symbols {}.o", "--noinhibit-exec {}.o", "--defsym=f=1 {}.o"]


def make_local(path, name):
    """The first global, `name`, becomes the last local."""
    data = bytearray(path.read_bytes())
    (sections,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    headers = [sections + 64 * i for i in range(count)]
    header = next(h for h in headers if struct.unpack_from("<I", data, h + 4)[0] == 2)  # SHT_SYMTAB
    (offset,), (strings, first) = struct.unpack_from("<Q", data, header + 24), struct.unpack_from("<II", data, header + 40)
    entry = offset + 24 * first
    named = struct.unpack_from("<Q", data, headers[strings] + 24)[0] + struct.unpack_from("<I", data, entry)[0]
    assert data[named:].startswith(name.encode() + b"\0") and struct.unpack_from("<H", data, entry + 6)[0] == 0
    data[entry + 4] &= 15
    struct.pack_into("<I", data, header + 44, first + 1)
    path.write_bytes(data)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("locals"))
    objects = {name: ".globl f\n" + START + user for name, user in USERS.items()}
    linkers.assemble_all(lab, objects | {"start": START, "f": ".globl f\nf: nop", "here": '.section here,"aw"\n.quad 1', "uses": ".data\n.quad f",
                                         "second": ".globl f\n" + USERS["group"], "same": '.globl __start_here\n.data\n.quad __start_here'})
    for name in [*objects, "second"]:
        make_local(lab.path / f"{name}.o", "f")
        lab.sh(f"gcc-ar rc {name}.a {name}.o")
    make_local(lab.path / "same.o", "__start_here")
    return lab


@linkers.every_linker_and_gold
@pytest.mark.parametrize("user", USERS)
def test_a_local_symbol_that_nothing_defines(bench, linker, user):
    for line in LINES:
        if linker != "gold" or "-r " not in line:  # an internal error
            linkers.agree(bench, linker, line.format(user))


@linkers.every_linker_and_gold
def test_what_is_beside_it(bench, linker):
    """In a group that is discarded, twice, beside a global of the name, and a name that linkers define."""
    for words in ["group.o second.o", "second.o group.o", "start.o second.o", "data.o second.o", "data.o uses.o", "start.o uses.o second.o -shared",
                  "data.o debug.a -u nothing", "start.o same.o here.o", "data.o bound.o -z muldefs"]:
        linkers.agree(bench, linker, words)
