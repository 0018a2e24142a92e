"""Every kind of definition against every other, in both orders: 256 links, each held against every linker."""

import pytest

from elfaudit_test import need
from linkers import assemble_all, both_at_once, difference, every_linker_and_gold

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


def names(side):
    return {k: f"{side}-{k}.o" for k in KINDS} | {f"so-{k}": f"{side}-so-{k}.so" for k in SHARED}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("pairs"))
    assemble_all(lab, {f"A-{kind}": text(8) for kind, text in KINDS.items()})
    assemble_all(lab, {f"B-{kind}": text(16) for kind, text in KINDS.items()})
    for kind in SHARED:
        lab.sh(f"for x in A B; do ld.bfd -shared -soname $x-so-{kind}.so $x-{kind}.o -o $x-so-{kind}.so; done")
    assemble_all(lab, {
        "ref": '.globl _start\n.section .data.ref,"aw"\n_start: .quad s',
        "ref-tls": '.globl _start\n.section .data.ref,"aw"\n_start: .quad s@dtpoff',
    })
    return lab


def words_for(first, second):
    ref = "ref-tls.o" if first == second == "tls" else "ref.o"
    return f"{ref} {names('A')[first]} {names('B')[second]}"


def stops_at_once(linker, first, second, theirs):
    """GNU ld says nothing more where thread-local meets ordinary storage."""
    return linker == "bfd" and "tls" in (first, second) and any(rule == "tls-mismatch" for rule, _ in theirs.refused)


@pytest.mark.parametrize("first", names("A"))
@every_linker_and_gold
def test_pairs(bench, linker, first):
    found = both_at_once(bench, [(linker, words_for(first, second)) for second in names("B")])
    problems = []
    for second, ((_, words), (theirs, ours)) in zip(names("B"), found.items()):
        if linker == "gold" and first.startswith("absolute") and second == "tls":
            continue  # it calls an absolute name thread-local as well: docs/verdict.md
        if stops_at_once(linker, first, second, theirs):
            ours.duplicates, ours.undefined = theirs.duplicates, theirs.undefined
        if theirs.other or difference(theirs, ours):
            problems.append(f"{words}\n{difference(theirs, ours)}\n  {theirs.other}")
    assert not problems, f"{linker}, {len(problems)} of {len(found)}:\n" + "\n".join(problems)
