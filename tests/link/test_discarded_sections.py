"""Relocations against a local symbol in a section that the output does not have: of a COMDAT group that an earlier object
brought, or removed by --gc-sections. A compiler makes them where two compilers divide a function differently."""

import pytest

from elfaudit_test import Lab, need
from linkers import ASSEMBLER, PROGRAMS, every_linker_and_gold

need("as", "ar", "ld.bfd")

GROUP = '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: ret\n.Lin: ret\n'
# Sections that use what is in the group, by name, flags and kind.
USERS = {
    "data": '.section .data.x,"aw"',
    "code": '.section .text.x,"ax"',
    "handlers": '.section .gcc_except_table,"a"',
    "own-handlers": '.section .gcc_except_table._Z1fv,"a"',
    "frames": '.section .data.x,"aw"',
    "not-loaded": '.section .foo,""',
    "debug": '.section .debug_foo,""',
    "old-debug": '.section .zdebug_foo,""',
    "lto-debug": '.section .gnu.debuglto_.debug_foo,""',
    "lines": '.section .line,""',
    "attributes": '.section .gnu.build.attributes,""',
    "probes": '.section .note.stapsdt,"",@note',
    "index": '.section .gdb_index,""',
    "loaded-debug": '.section .debug_foo,"a"',
    "comment": '.section .comment,""',
    "toc": '.section .toc,"aw"',
    "stack-sizes": '.section .stack_sizes,"o",@progbits,.text.f',
    "sizes-in-group": '.section .foo,"G",@progbits,f,comdat',
    "excluded": '.section .data.x,"awe",@progbits',
    "named": '.section .data.x,"aw"',
    "none": '.section .data.x,"aw"',
}
OPTIONS = ["", "-shared", "-r", "--gc-sections -u used", "--unresolved-symbols=ignore-all", "--noinhibit-exec", "-z muldefs"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("discarded"))

    def assemble(name, text):
        lab.write(f"{name}.s", ASSEMBLER + text)
        lab.sh(f"as {name}.s -o {name}.o")

    assemble("start", GROUP + '.text\n.globl _start\n_start: call f@plt\n')
    for name, section in USERS.items():
        word = {"named": "named:\n.quad named_in", "frames": ".quad f", "none": ".reloc ., R_X86_64_NONE, .Lin\n.quad 0"}.get(name, ".quad .Lin")
        group = GROUP.replace("f: ret", "f: .cfi_startproc\nret\n.cfi_endproc") if name == "frames" else GROUP
        named = "named_in: ret\n.type named_in, @function\n" if name == "named" else ""
        used = '.section .data.used,"aw"\n.globl used\nused: .quad 0\n'
        assemble(name, f"{group}{named}{used}{section}\n{word}\n")
        assemble(f"dead-{name}", f'.section .text.dead,"ax"\n.Lin: ret\n{"named_in: ret" if named else ""}\n{used}{section}\n{word}\n'
                 if "G" not in section and ",.text.f" not in section else used)
    return lab


def verdicts(bench, linker, words):
    command = f"{PROGRAMS[linker]} {words} -o out"
    theirs = bench.sh(command, check=False)
    ours = bench.audit("check", "--format", "json", "--", *command.split())
    rules = {f["rule"] for f in ours.json()["findings"] if f["severity"] == "error"}
    return theirs.code != 0, ours.code != 0, rules, theirs.err


@pytest.mark.deep
@every_linker_and_gold
@pytest.mark.parametrize("options", OPTIONS)
def test_as_the_linker(bench, linker, options):
    wrong = []
    for name in USERS:
        if (linker, name) == ("lld14", "old-debug"):  # not compressed, which it refuses
            continue
        if name == "stack-sizes" and linker.startswith("lld") and options in ("-r", "--noinhibit-exec"):  # a crash
            continue
        if (name, options) == ("excluded", "-r"):  # GNU ld keeps it there
            continue
        for words in (f"start.o {name}.o", f"{name}.o start.o", f"start.o dead-{name}.o"):
            theirs, ours, rules, said = verdicts(bench, linker, f"{options} {words}")
            if theirs != ours:
                wrong.append(f"{options} {words}: {theirs}, elfaudit {ours} {rules}\n{said}")
    assert not wrong, "\n".join(wrong)


def test_the_finding_says_what_refers_to_what(bench):
    report = bench.audit("check", "--", "ld.bfd", "start.o", "data.o", "-o", "out")
    assert report.code == 1 and "discarded-definition" in report.out, report
    assert "data.o refers to .text.f" in report.out and ".data.x" in report.out and "start.o" in report.out, report


@pytest.mark.parametrize("target", ["powerpc64-linux-gnu", "powerpc64le-linux-gnu"])
def test_a_table_of_contents_is_of_the_whole_object(lab, target):
    """GCC's .toc names jump tables of functions that may be dropped."""
    need(f"{target}-ld", f"{target}-as")
    group = '.section .text.f,"axG",@progbits,f,comdat\n.weak f\nf: blr\n.Lin: blr\n'
    for name, section in (("a", ".text"), ("toc", '.section .toc,"aw"'), ("data", ".data")):
        lab.write(f"{name}.s", group + f"{section}\n.quad {'0' if name == 'a' else '.Lin'}\n")
        lab.sh(f"{target}-as {name}.s -o {name}.o")
    for name in ("toc", "data"):
        words = f"{target}-ld -e 0 a.o {name}.o -o out"
        theirs = lab.sh(words, check=False)
        ours = lab.audit("check", "--", *words.split())
        assert (theirs.code, ours.code) == ((0, 0) if name == "toc" else (1, 1)), (theirs, ours)
