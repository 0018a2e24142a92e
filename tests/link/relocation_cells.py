"""Links that hang on one relocation: what it is, what it is against, the section it stands in, the output, options.

    cell = random_cell(random.Random(seed), "x86_64")
    build(lab, cell)                     objects and libraries, made once each
    words(cell, "bfd")                   the words of the link

A linker's verdict on it is `refuses(text)`: refused for a relocation, or not; None where it says something else."""

import dataclasses
import re

NOTE = '\n.section .note.GNU-stack,"",%progbits\n'
DATA, TEXT, TLS = '.section .data.x,"aw"\n', '.section .text.x,"ax"\n', '.section .tdata.x,"awT",%progbits\n'


def variable(binding):
    return f"{DATA}{binding}.type x,%object\n.size x,16\nx: .zero 16\n"


def function(binding, kind="function"):
    return f"{TEXT}{binding}.type x,%{kind}\n.size x,8\nx: " + "nop\n" * 8


def thread_local(binding):
    return f"{TLS}{binding}.type x,%object\n.size x,16\nx: .zero 16\n"


G = ".globl x\n"
# name: (what the other object or library has, what the referring object says itself, is it a library?)
SYMBOLS = {
    "static-variable": ("", variable(""), False),
    "static-function": ("", function(""), False),
    "variable": (variable(G), "", False),
    "function": (function(G), "", False),
    "weak-variable": (variable(".weak x\n"), "", False),
    "weak-function": (function(".weak x\n"), "", False),
    "common": (".comm x,16,8\n", "", False),
    "hidden-variable": (variable(G + ".hidden x\n"), "", False),
    "hidden-function": (function(G + ".hidden x\n"), "", False),
    "protected-variable": (variable(G + ".protected x\n"), "", False),
    "hidden-reference": (variable(G), ".hidden x\n", False),
    "hidden-own-variable": ("", variable(G + ".hidden x\n"), False),
    "hidden-own-function": ("", function(".weak x\n.hidden x\n"), False),
    "undefined": ("", "", False),
    "undefined-weak": ("", ".weak x\n", False),
    "undefined-weak-hidden": ("", ".weak x\n.hidden x\n", False),
    "absolute": (G + "x = 0x30\n", "", False),
    "absolute-hidden": (G + ".hidden x\nx = 0x30\n", "", False),
    "untyped": (f"{DATA}{G}x: .zero 16\n", "", False),
    "ifunc": (function(G, "gnu_indirect_function"), "", False),
    "ifunc-hidden": ("", function(G + ".hidden x\n", "gnu_indirect_function"), False),
    "string": ("", '.section .rodata.str1.1,"aMS",%progbits,1\n.string "ab"\nx: .string "cd"\n', False),
    "library-variable": (variable(G), "", True),
    "library-constant": (variable(G).replace('.data.x,"aw"', '.rodata.x,"a"'), "", True),
    "library-weak": (variable(".weak x\n"), "", True),
    "library-hidden-reference": (variable(G), ".hidden x\n", True),
    "library-function-hidden-reference": (function(G), ".hidden x\n", True),
    "library-function": (function(G), "", True),
    "library-protected": (variable(G + ".protected x\n"), "", True),
    "library-protected-function": (function(G + ".protected x\n"), "", True),
    "library-untyped": (f"{DATA}{G}x: .zero 16\n", "", True),
    "tls-static": ("", thread_local(""), False),
    "tls": (thread_local(G), "", False),
    "tls-hidden": (thread_local(G + ".hidden x\n"), "", False),
    "tls-library": (thread_local(G), "", True),
}
# name: (code in a section of instructions, data in the others; "" where there is none)
X86 = {
    "64": ("movabs $x,%rax", ".quad x"),
    "32": ("movl $x,%eax", ".long x"),
    "32S": ("movq $x,%rax", ".reloc .,R_X86_64_32S,x\n.quad 0"),
    "32S-index": ("movl x(,%rdi,4),%eax", ""),
    "16": ("movw $x,%ax", ".short x"),
    "PC64": (".quad x-.", ".quad x-."),
    "PC32": ("leaq x(%rip),%rax", ".long x-."),
    "PC32-load": ("movl x(%rip),%eax", ""),
    "PLT32": ("call x@PLT", ".reloc .,R_X86_64_PLT32,x\n.quad 0"),
    "GOTPCRELX": ("call *x@GOTPCREL(%rip)", ""),
    "REX_GOTPCRELX": ("movq x@GOTPCREL(%rip),%rax", ""),
}
X86_TLS = {
    "TPOFF32": ("movq %fs:0,%rax\nleaq x@tpoff(%rax),%rax", ""),
    "TPOFF32-load": ("movl %fs:x@tpoff,%eax", ""),
    "GOTTPOFF": ("movq x@gottpoff(%rip),%rax", ""),
}
AARCH64 = {
    "ABS64": (".xword x", ".xword x"),
    "ABS32": (".word x", ".word x"),
    "PREL64": (".xword x-.", ".xword x-."),
    "PREL32": (".word x-.", ".word x-."),
    "ADRP": ("adrp x0,x\nadd x0,x0,:lo12:x", ""),
    "ADR": ("adr x0,x", ""),
    "CALL26": ("bl x", ""),
    "GOT": ("adrp x0,:got:x\nldr x0,[x0,:got_lo12:x]", ""),
    "MOVW": ("movz x0,#:abs_g3:x", ""),
}
AARCH64_TLS = {
    "TLSLE": ("mrs x0,tpidr_el0\nadd x0,x0,:tprel_hi12:x\nadd x0,x0,:tprel_lo12_nc:x", ""),
    "TLSIE": ("adrp x0,:gottprel:x\nldr x0,[x0,:gottprel_lo12:x]", ""),
}
I386 = {
    "32": ("movl $x,%eax", ".long x"),
    "32-load": ("movl x(,%ecx,4),%eax", ""),
    "16": ("movw $x,%ax", ".short x"),
    "8": ("movb $x,%al", ".byte x"),
    "PC32": ("call x", ".long x-."),
    "PC16": (".short x-.", ".short x-."),
    "PC8": (".byte x-.", ""),
    "PLT32": ("call x@PLT", ".reloc .,R_386_PLT32,x\n.long 0"),
    "GOTOFF": ("leal x@GOTOFF(%ebx),%eax", ".long x@GOTOFF"),
    "GOT32X": ("movl x@GOT(%ebx),%eax", ""),
    "GOT32X-call": ("call *x@GOT(%ebx)", ""),
    "GOT32X-absolute": ("movl x@GOT,%eax", ""),
    "GOT32": (".long x@GOT", ""),
    "SIZE32": (".long x@SIZE", ".long x@SIZE"),
}
I386_TLS = {
    "TLS_LE": ("movl %gs:0,%eax\nleal x@ntpoff(%eax),%eax", ".long x@ntpoff"),
    "TLS_LE-load": ("movl %gs:x@ntpoff,%eax", ""),
    "TLS_LE_32": ("movl %gs:0,%eax\nsubl $x@tpoff,%eax", ""),
    "TLS_IE": ("movl x@indntpoff,%eax", ""),
    "TLS_GOTIE": ("movl x@gotntpoff(%ebx),%eax", ""),
    "TLS_IE_32": ("subl x@gottpoff(%ebx),%eax", ""),
    "TLS_LDO_32": (".long x@dtpoff", ".long x@dtpoff"),
}
RISCV64 = {
    "64": (".dword x", ".dword x"),
    "32": (".word x", ".word x"),
    "HI20": ("lui a0,%hi(x)\naddi a0,a0,%lo(x)", ""),
    "HI20-load": ("lui a0,%hi(x)\nlw a0,%lo(x)(a0)", ""),
    "HI20-store": ("lui a0,%hi(x)\nsw a1,%lo(x)(a0)", ""),
    "PCREL_HI20": ("lla a0,x", ""),
    "PCREL_HI20-load": ("lw a0,x", ""),
    "GOT_HI20": (".option pic\nla a0,x", ""),
    "CALL": ("call x", ""),
    "CALL_PLT": ("call x@plt", ""),
    "JAL": ("jal x", ""),
    "BRANCH": ("beq a0,a1,x", ""),
    "RVC_JUMP": (".option rvc\nc.j x", ""),
    "RVC_BRANCH": (".option rvc\nc.beqz a0,x", ""),
    "SUB32": (".word x-.", ".word x-."),
    "SUB64": (".dword x-.", ".dword x-."),
}
RISCV64_TLS = {
    "TLSLE": ("lui a0,%tprel_hi(x)\nadd a0,a0,tp,%tprel_add(x)\naddi a0,a0,%tprel_lo(x)", ""),
    "TLSIE": ("la.tls.ie a0,x", ""),
    "DTPREL64": (".dtpreldword x", ".dtpreldword x"),
}
RELOCATIONS = {"x86_64": (X86, X86_TLS), "i386": (I386, I386_TLS), "aarch64": (AARCH64, AARCH64_TLS),
               "riscv64": (RISCV64, RISCV64_TLS)}
POINTER = {"x86_64": ".quad", "i386": ".long", "aarch64": ".xword", "riscv64": ".dword"}
HEAD = {"riscv64": ".option norelax\n"}  # lld 14 has no relaxation
SECTIONS = {"text": '.section .text.ref,"ax"\n', "rodata": '.section .rodata.ref,"a"\n', "data": '.section .data.ref,"aw"\n'}
LOADER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "i386": "/lib/ld-linux.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1",
          "riscv64": "/lib/ld-linux-riscv64-lp64d.so.1"}
OUTPUTS = ["program", "pie", "shared", "static-pie"]
OPTIONS = {
    "shared": ["", "", "", "", "-z text", "-z notext", "-Bsymbolic", "-Bsymbolic-functions", "--version-script=local.map",
               "--dynamic-list=other.list", "--version-script=global.map", "-z defs", "--gc-sections"],
    "pie": ["", "", "", "", "-z text", "-z notext", "-Bsymbolic", "-E", "-z nocopyreloc"],
    "program": ["", "", "", "-z text", "-z nocopyreloc", "-E"],
    "static-pie": [""],
}
ASSEMBLER = {"x86_64": "as", "i386": "as --32", "aarch64": "aarch64-linux-gnu-as", "riscv64": "riscv64-linux-gnu-as"}
LINKERS = {
    "x86_64": {"bfd": "ld.bfd", "gold": "ld.gold", "lld14": "ld.lld-14", "lld19": "ld.lld-19", "mold": "mold"},
    "aarch64": {"bfd": "aarch64-linux-gnu-ld", "lld14": "ld.lld-14 -m aarch64linux", "lld19": "ld.lld-19 -m aarch64linux",
                "mold": "mold -m aarch64linux"},
    "i386": {"bfd": "ld.bfd -m elf_i386", "gold": "ld.gold -m elf_i386", "lld14": "ld.lld-14 -m elf_i386",
             "lld19": "ld.lld-19 -m elf_i386", "mold": "mold -m elf_i386"},
    "riscv64": {"bfd": "riscv64-linux-gnu-ld", "lld14": "ld.lld-14 -m elf64lriscv", "lld19": "ld.lld-19 -m elf64lriscv",
                "mold": "mold -m elf64lriscv"},
}
# Which of them makes the libraries.
SHARED = {machine: linkers["bfd"] for machine, linkers in LINKERS.items()}


@dataclasses.dataclass(frozen=True)
class Cell:
    machine: str
    relocation: str
    symbol: str
    section: str
    output: str
    option: str

    def stem(self):
        return f"{self.machine}.{self.relocation}.{self.symbol}.{self.section}"


def random_cell(rnd, machine):
    """What belongs together: thread-local relocations and symbols, libraries where the output can have one."""
    plain, tls = RELOCATIONS[machine]
    of_tls = rnd.random() < 0.12
    relocation, (_, data) = rnd.choice(list((tls if of_tls else plain).items()))
    symbol = rnd.choice([name for name in SYMBOLS if name.startswith("tls") == of_tls])
    section = rnd.choice(list(SECTIONS)) if data else "text"
    # Programs at a fixed place are read only where a library may be refused.
    output = rnd.choice([o for o in OUTPUTS if not (o == "static-pie" and SYMBOLS[symbol][2] or o == "program" and "ifunc" in symbol)])
    return Cell(machine, relocation, symbol, section, output, rnd.choice(OPTIONS[output]))


def sources(cells):
    """What has to be assembled: file name without ".s" -> text."""
    made = {}
    for cell in cells:
        elsewhere, here, _ = SYMBOLS[cell.symbol]
        plain, tls = RELOCATIONS[cell.machine]
        code, data = {**plain, **tls}[cell.relocation]
        entry = '.section .text.start,"ax"\n.globl _start\n.type _start,%function\n_start:\n'
        keep, head = f"{POINTER[cell.machine]} ref\n", HEAD.get(cell.machine, "")
        made[f"{cell.machine}.start"] = head + entry + "nop\n" + '.section .data.keep,"aw"\n.globl keep\nkeep: .zero 8\n' + NOTE
        body = SECTIONS[cell.section] + ".globl ref\n.hidden ref\nref:\n" + (code if cell.section == "text" else data)
        tail = '\n.section .init_array,"aw"\n' + keep  # --gc-sections keeps it
        made[cell.stem()] = head + here + body + "\n" + "nop\n" * (4 if cell.section == "text" else 0) + tail + NOTE
        if elsewhere:
            made[f"{cell.machine}.of.{cell.symbol}"] = head + elsewhere + NOTE
    return made


def build(lab, cells):
    """Objects, libraries and scripts of all cells."""
    lab.write("local.map", "{ local: *; };\n")
    lab.write("global.map", "{ global: x; local: *; };\n")
    lab.write("other.list", "{ other; };\n")
    commands = []
    for name, text in sources(cells).items():
        lab.write(name + ".s", text)
        commands.append(f"{ASSEMBLER[name.split('.')[0]]} {name}.s -o {name}.o || exit")
    for machine, symbol in sorted({(c.machine, c.symbol) for c in cells if SYMBOLS[c.symbol][2]}):
        stem = f"{machine}.of.{symbol}"
        commands.append(f"{SHARED[machine]} -shared -soname {stem}.so {stem}.o -o {stem}.so || exit")
    lab.sh("\n".join(commands))


def words(cell):
    """Of the link, behind the linker's name."""
    loader = f"-dynamic-linker {LOADER[cell.machine]}"
    how = {"program": f"-no-pie {loader}", "pie": f"-pie {loader}", "shared": "-shared",
           "static-pie": "-static -pie --no-dynamic-linker -z text"}[cell.output]
    files = [f"{cell.machine}.start.o", f"{cell.stem()}.o"]
    elsewhere, _, library = SYMBOLS[cell.symbol]
    if elsewhere:
        files.append(f"{cell.machine}.of.{cell.symbol}.{'so' if library else 'o'}")
    return " ".join([how, cell.option, *files])


# What is said of code that does not fit the output. The rest is about other things: undefined symbols, options.
REFUSED = re.compile(
    r"recompile with|can ?not be used|cannot preempt|cannot create a copy|copy reloc|non-canonical reference|disallowed|"
    r"cannot refer to absolute|read-only segment has dynamic|requires (?:unsupported )?dynamic|unsupported reloc|"
    r"unresolvable R_|STT_GNU_IFUNC symbol|non-PIC call to IFUNC|reloc against `x': error|without base register|TLS relocation R_\w+ against undefined|unknown relocation|unrecognized relocation"
)
# Nothing to compare with: what addresses decide, and where the linker itself fails or does not know an option.
OTHER = re.compile(
    r"truncated to fit|out of range|overflow in|relocation overflow:|internal error|Segmentation|Assertion|improper alignment|"
    r"unrecognized option|unknown argument|unknown -z|unknown command line|unknown option|incompatible"
)


def refuses(code, text):
    """True, False, or None: no verdict about the relocation."""
    if OTHER.search(text) and not (code != 0 and REFUSED.search(text) and "internal error" not in text):
        return None
    if code == 0:
        return False
    return True if REFUSED.search(text) else None
