"""Every kind of definition against every other, in both orders: 256 links, each held against the real GNU ld."""

import pytest

from elfaudit_test import need
from gnu_ld import agree, assemble, elfaudit, ld

need("ld.bfd", "as")


def data(section, binding, size, type="object", extra=""):
    return f'.section {section}\n{binding} s\n.type s,@{type}\n.size s,{size}\n{extra}s: .zero {size}\n'


KINDS = {
    "strong": lambda n: data('.data.s,"aw"', ".globl", n),
    "weak": lambda n: data('.data.s,"aw"', ".weak", n),
    "common": lambda n: f".comm s,{n},8\n",
    "comdat": lambda n: data('.data.s,"awG",@progbits,s,comdat', ".globl", n),
    "comdat-weak": lambda n: data('.data.s,"awG",@progbits,s,comdat', ".weak", n),
    "comdat-other-group": lambda n: data(f'.data.s,"awG",@progbits,group{n},comdat', ".globl", n),
    "linkonce": lambda n: data('.gnu.linkonce.d.s,"aw"', ".globl", n),
    "unique": lambda n: data('.data.s,"aw"', ".globl", n, "gnu_unique_object"),
    "absolute": lambda n: f".globl s\n.size s,{n}\ns = 0x1000\n",
    "absolute-weak": lambda n: f".weak s\n.size s,{n}\ns = 0x1000\n",
    "hidden": lambda n: ".hidden s\n" + data('.data.s,"aw"', ".globl", n),
    "ifunc": lambda n: data('.text.s,"ax"', ".globl", n, "gnu_indirect_function"),
    "tls": lambda n: data('.tdata.s,"awT",@progbits', ".globl", n, "tls_object"),
    "excluded": lambda n: data('.data.s,"awe"', ".globl", n),
}
SHARED = ("strong", "weak")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("pairs"))
    for kind, text in KINDS.items():
        assemble(lab, f"A-{kind}", text(8))
        assemble(lab, f"B-{kind}", text(16))
    for kind in SHARED:
        lab.sh(f"for x in A B; do ld.bfd -shared -soname $x-so-{kind}.so $x-{kind}.o -o $x-so-{kind}.so; done")
    assemble(lab, "ref", '.globl _start\n.section .data.ref,"aw"\n_start: .quad s')
    assemble(lab, "ref-tls", '.globl _start\n.section .data.ref,"aw"\n_start: .quad s@dtpoff')
    return lab


def names(side):
    return {k: f"{side}-{k}.o" for k in KINDS} | {f"so-{k}": f"{side}-so-{k}.so" for k in SHARED}


@pytest.mark.parametrize("first", names("A"))
def test_pairs(bench, first):
    for second, other in names("B").items():
        ref = "ref-tls.o" if first == second == "tls" else "ref.o"
        words = f"{ref} {names('A')[first]} {other}"
        theirs = ld(bench, words)
        if theirs.other:
            # ld stops at once where thread-local meets ordinary storage, and says nothing of duplicates.
            assert "tls" in (first, second) and all("TLS" in line or "bad value" in line for line in theirs.other), theirs
        else:
            assert elfaudit(bench, words) == theirs, f"ld {words}"


MEMBER_KINDS = ("strong", "weak", "common", "comdat", "unique", "hidden")
BEFORE = {
    "nothing": "empty.o",
    "reference": "ref.o",
    "weak reference": "ref-weak.o",
    "option -u": "-u s empty.o",
    "option -e": "empty.o -e s",
    "option --require-defined": "--require-defined=s empty.o",
    "weak definition and -u": "-u s empty.o A-weak.o",
    "shared object's reference": "empty.o refers.so",
    "shared object's reference, -shared": "-shared empty.o refers.so",
    "--defsym s": "--defsym=s=1 ref.o",
    "--defsym t=s": "--defsym=t=s empty.o",
    "--wrap": "--wrap=s ref.o",
    "strong shared definition": "ref.o A-so-strong.so",
    "weak shared definition": "ref.o A-so-weak.so",
    **{f"definition {k}": f"empty.o A-{k}.o" for k in ("strong", "weak", "common", "comdat", "unique", "absolute", "hidden", "tls")},
}


@pytest.mark.parametrize("before", BEFORE)
def test_what_extracts_a_member(bench, before):
    assemble(bench, "empty", ".globl _start\n.data\n_start: .quad 0")
    assemble(bench, "ref-weak", '.globl _start\n.weak s\n.section .data.ref,"aw"\n_start: .quad s')
    assemble(bench, "refers", ".globl f\n.data\nf: .quad s")
    bench.sh("ld.bfd -shared refers.o -o refers.so")
    for kind in MEMBER_KINDS:
        if kind == "hidden" and "shared object's" in before:
            continue  # ld stops: "hidden symbol `s' in lib-hidden.a(B-hidden.o) is referenced by DSO"
        bench.ar(f"lib-{kind}.a", f"B-{kind}.o")
        agree(bench, f"{BEFORE[before]} lib-{kind}.a")
