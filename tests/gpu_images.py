"""Objects with device code for any GPU, made without nvcc: a fatbin of small images, put into a section by the assembler.

    gpu_object(lab, "a.o", "sm_80 sm_90a compute_90")
"""

import re
import struct

SUFFIXES = {"": 0, "a": 0x100000, "f": 0x200000}


def cubin(section=".text.k"):
    """The header of a finished ELF for CUDA 13, with a null section and a table of section names."""
    names = f"\0.shstrtab\0{section}\0".encode()
    sections = struct.pack("<IIQQQQIIQQ", *([0] * 10))
    sections += struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64, len(names), 0, 0, 1, 0)
    header = b"\x7fELF" + bytes([2, 1, 1, 0x41, 8]) + bytes(7)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 96, 0x06005004, 64, 0, 0, 64, 2, 1)
    return header + names.ljust(32, b"\0") + sections


def ptx(number):
    return f".version 8.0\n.target sm_{number}\n.address_size 64\n.visible .entry k()\n{{\n ret;\n}}\n".encode()


def entry(target, hollow=False):
    kind, number, suffix = re.fullmatch(r"(sm|compute|lto)_(\d+)([af]?)", target).groups()
    payload = {"sm": lambda: cubin("" if hollow else ".text.k"), "compute": lambda: ptx(number), "lto": lambda: bytes(16)}[kind]()
    payload = payload.ljust(-(-len(payload) // 8) * 8, b"\0")
    code = {"sm": 2, "compute": 1, "lto": 8}[kind]
    flags = 0x11 | SUFFIXES[suffix]
    return struct.pack("<HHIQIIHHIIIQQQ", code, 0x101, 64, len(payload), 0, 0, 1, 8, int(number), 0, 0, flags, 0, 0) + payload


def fatbin(targets, hollow=False):
    body = b"".join(entry(target, hollow) for target in targets.split())
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def linked_library(lab, name, finished, *parts, hollow=()):
    """Links libNAME.so as of `-rdc=true` objects: `finished` is what the device link made, and each of `parts` what one
    of the objects had; those numbered in `hollow` have nothing in them."""
    sections = [(".nv_fatbin", finished, False)] + [("__nv_relfatbin", part, i in hollow) for i, part in enumerate(parts)]
    text = ""
    for i, (section, targets, empty) in enumerate(sections):
        (lab.path / f"{name}.{i}.fatbin").write_bytes(fatbin(targets, empty))
        text += f'.section {section},"a",@progbits\n.balign 8\n.incbin "{name}.{i}.fatbin"\n'
    lab.cc(f"{name}.parts.o", text, "as")
    lab.sh(f"gcc -shared -nostdlib {name}.parts.o -o {name}")
    return name


def gpu_object(lab, name, targets, source="", hollow=False):
    """Assembles an object whose .nv_fatbin has these images; `source`: more of it, in assembly; hollow: with nothing in
    the images, as nvcc makes them of a source without kernels."""
    (lab.path / f"{name}.fatbin").write_bytes(fatbin(targets, hollow))
    return lab.cc(name, f'{source}\n.section .nv_fatbin,"a",@progbits\n.balign 8\n.incbin "{name}.fatbin"\n', "as")
