"""What extracts an archive member: what stands before the archive, against the kind of definition in its only member."""

import pytest

from elfaudit_test import need
from linkers import agree, assemble, assemble_all, both_at_once, difference, every_linker, every_linker_and_gold
from test_pairs import KINDS

need("ld.bfd", "as", "ar")

MEMBER_KINDS = ("strong", "weak", "common", "comdat", "unique", "hidden")
DEFINITIONS = ("strong", "weak", "common", "comdat", "unique", "absolute", "hidden", "tls")
BEFORE = {
    "nothing": "empty.o",
    "reference": "ref.o",
    "weak reference": "ref-weak.o",
    "option -u": "-u s empty.o",
    "option -e": "empty.o -e s",
    "weak definition and -u": "-u s empty.o A-weak.o",
    "-u and --gc-sections": "--gc-sections -e _start -u s empty.o",
    "shared object's reference": "empty.o refers.so",
    "shared object's reference, -shared": "-shared empty.o refers.so",
    "shared object's weak reference": "empty.o refers-weak.so",
    "--defsym s": "--defsym=s=1 ref.o",
    "--defsym t=s": "--defsym=t=s empty.o",
    "--wrap": "--wrap=s ref.o",
    "strong shared definition": "ref.o A-so-strong.so",
    "weak shared definition": "ref.o A-so-weak.so",
    "strong shared definition, weak reference": "ref-weak.o A-so-strong.so",
    "strong shared definition alone": "empty.o A-so-strong.so",
    "option -init": "empty.o -init s -shared",
    "--export-dynamic-symbol": "empty.o --export-dynamic-symbol=s -pie",
    "version script": "--version-script=names-s.map -shared empty.o",
    "common, -shared": "-shared empty.o A-common.o",
    "common, -r": "-r empty.o A-common.o",
    **{f"definition {k}": f"empty.o A-{k}.o" for k in DEFINITIONS},
}
# What some linkers do not take: mold no assignments and EXTERN() in scripts, lld no --require-defined.
BEFORE_OF = {
    "option --require-defined": ("--require-defined=s empty.o", ("bfd", "mold")),
    "script t = s": ("empty.o assign.ld", ("bfd", "lld14", "lld19")),
    "script EXTERN(s)": ("empty.o extern.ld", ("bfd", "lld14", "lld19")),
    "script PROVIDE(t = s)": ("empty.o provide.ld", ("bfd", "lld14", "lld19")),
    "script PROVIDE(t = s), t referenced": ("empty.o ref-t.o provide.ld", ("bfd", "lld14", "lld19")),
    "common, --fortran-common": ("--fortran-common empty.o A-common.o", ("lld14", "lld19")),
    "common, --no-fortran-common": ("--no-fortran-common empty.o A-common.o", ("lld14", "lld19")),
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("extract"))
    assemble_all(lab, {f"A-{kind}": KINDS[kind](8) for kind in DEFINITIONS})
    assemble_all(lab, {f"B-{kind}": KINDS[kind](16) for kind in MEMBER_KINDS})
    assemble_all(lab, {
        "empty": ".globl _start\n.data\n_start: .quad 0",
        "ref": '.globl _start\n.section .data.ref,"aw"\n_start: .quad s',
        "ref-weak": '.globl _start\n.weak s\n.section .data.ref,"aw"\n_start: .quad s',
        "ref-t": ".data\n.quad t",
        "refers": ".globl f\n.data\nf: .quad s",
        "refers-weak": ".globl f\n.weak s\n.data\nf: .quad s",
    })
    for kind in MEMBER_KINDS:
        lab.ar(f"lib-{kind}.a", f"B-{kind}.o")
    for kind in ("strong", "weak"):
        lab.sh(f"ld.bfd -shared -soname A-so-{kind}.so A-{kind}.o -o A-so-{kind}.so")
    for name in ("refers", "refers-weak"):
        lab.sh(f"ld.bfd -shared {name}.o -o {name}.so")
    lab.write("assign.ld", "t = s;\n")
    lab.write("extern.ld", "EXTERN(s)\n")
    lab.write("provide.ld", "PROVIDE(t = s);\n")
    lab.write("names-s.map", "{ global: s; local: *; };\n")
    return lab


def check(bench, linker, before):
    # GNU ld and lld 19 stop where a hidden definition is needed by a shared object: nothing is said of members.
    kinds = [k for k in MEMBER_KINDS if k != "hidden" or "refers" not in before]
    found = both_at_once(bench, [(linker, f"{before} lib-{kind}.a") for kind in kinds])
    problems = [f"{words}\n{difference(theirs, ours)}\n  {theirs.other}"
                for (_, words), (theirs, ours) in found.items() if theirs.other or difference(theirs, ours)]
    assert not problems, f"{linker}:\n" + "\n".join(problems)


@pytest.mark.parametrize("before", BEFORE)
@every_linker
def test_what_extracts_a_member(bench, linker, before):
    check(bench, linker, BEFORE[before])


@pytest.mark.parametrize("before", BEFORE_OF)
@every_linker
def test_what_extracts_a_member_where_it_is_understood(bench, linker, before):
    words, linkers = BEFORE_OF[before]
    if linker in linkers:
        check(bench, linker, words)


# What members define, and need of each other: one of one's names is asked for by main, another one by two.
CHAIN = {
    "main": ".globl _start\n.text\n_start: call one",
    "one": ".globl one, uno\n.text\none: uno: call two",
    "two": ".globl two, dos\n.text\ntwo: dos: call uno",
    "weakly": ".globl _start\n.weak one\n.text\n_start: call one\ncall dos",
    "asks": ".globl _start\n.text\n_start: call n",
    "n": ".weak n\n.globl n2, n3\n.text\nn: n2: n3: ret",
    "overrides": ".globl n, n2\n.text\nn: n2: ret",
    "again": ".globl dos\n.text\ndos: ret",
}
CHAINS = [
    "main.o libone.a libtwo.a",
    "main.o libtwo.a libone.a",
    "main.o libtwo.a libone.a libtwo.a",
    "main.o --start-group libtwo.a libone.a --end-group",
    "main.o libboth.a",
    "libone.a libtwo.a main.o",
    "weakly.o libone.a libtwo.a",
    "weakly.o libtwo.a libone.a",
    "asks.o libn.a overrides.o",
    "asks.o overrides.o libn.a",
    "libn.a overrides.o asks.o",
    "main.o libboth.a again.o",
    "main.o again.o libboth.a",
    "main.o libboth.a libagain.a",
    "main.o libagain.a libboth.a",
    "main.o --whole-archive libagain.a --no-whole-archive libboth.a",
    "-u dos main.o libagain.a libone.a libtwo.a",
]


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("chain"))
    assemble_all(lab, CHAIN)
    for archive, members in {"one": "one", "two": "two", "both": "one two", "n": "n", "again": "again"}.items():
        lab.ar(f"lib{archive}.a", *(f"{member}.o" for member in members.split()))
    return lab


@pytest.mark.parametrize("line", CHAINS)
@every_linker_and_gold
def test_members_that_need_each_other(chain, linker, line):
    """Of names that one member alone has, one may stand for all: which of them is asked for makes no difference."""
    agree(chain, linker, line)


def test_the_text_says_for_which_name_a_member_was_taken(chain):
    """Not for the one that stood for it: where a finding names a member, all names count."""
    words = "check -- ld.bfd main.o libboth.a again.o -o out".split()
    assert "extracted by libboth.a(one.o), which needs two" in chain.audit(*words).out


@pytest.mark.parametrize("line", ["d/script.ld", "-Le d/script.ld", "-Ld -lscript", "-T d/script.ld", "-L. d/sub.ld"])
@every_linker
def test_where_a_script_has_its_files_from(lab, linker, line):
    """mold does not look in the folder of the script."""
    lab.sh("mkdir -p d/e e")
    assemble_all(lab, {"needs-x": ".data\n.quad x", "x": ".globl x\nx = 1"})
    for folder in ("d/e", "d", "e", "."):
        lab.sh(f"gcc-ar rcs {folder}/libx.a x.o; gcc-ar rcs {folder}/liby.a x.o")
    lab.sh("rm libx.a e/liby.a")
    for script in ("d/script.ld", "d/libscript.so"):
        lab.write(script, "INPUT(liby.a)")
    lab.write("d/sub.ld", "INPUT(e/libx.a)")
    agree(lab, linker, f"needs-x.o {line}")


def broken(lab, member):
    """An archive whose index is right and whose member `member` is not an object any more."""
    lab.sh("gcc-ar rcs broken.a one.o two.o")
    bytes_ = bytearray((lab.path / "broken.a").read_bytes())
    at = bytes_.index(f"{member}/".encode()) + 60
    bytes_[at + 40 : at + 48] = b"\xff" * 8  # e_shoff
    (lab.path / "broken.a").write_bytes(bytes_)


TWO_MEMBERS = {
    "start": ".globl _start\n_start: call one",
    "one": ".globl one\none: ret",
    "two": ".globl two\ntwo: ret",
}


@pytest.mark.parametrize("member", ["one.o", "two.o"])
@pytest.mark.parametrize("program", ["ld.bfd", "ld.gold"])
def test_a_member_is_opened_when_it_is_taken(lab, program, member):
    need(program)
    assemble_all(lab, TWO_MEMBERS)
    broken(lab, member)
    linked = lab.sh(f"{program} start.o broken.a -o out", check=False)
    result = lab.audit("check", "--quiet", "--", program, "start.o", "broken.a", "-o", "out")
    assert (linked.code != 0, result.code) == (member == "one.o", 2 if member == "one.o" else 0), result


@every_linker
def test_an_index_that_is_older_than_its_members(lab, linker):
    """lld 19 and mold read the members: the name that one has now is found there, and only there."""
    assemble(lab, "start", ".globl _start, now\n.data\n_start: .quad now")
    lab.ar("old.a", assemble(lab, "m", ".globl was\n.data\nwas: .quad 0"), assemble(lab, "n", ".globl other\n.data\nother: .quad 0"))
    archive = lab.path / "old.a"
    head, members = archive.read_bytes().split(b"m.o/", 1)
    assert head.count(b"was\0") == members.count(b"\0was\0") == 1
    archive.write_bytes(head + b"m.o/" + members.replace(b"\0was\0", b"\0now\0"))
    theirs = agree(lab, linker, "start.o old.a")
    assert theirs.undefined == (set() if linker in ("lld19", "mold") else {"now"})


def test_what_is_undefined_is_looked_for_in_members_that_are_not_taken(lab):
    assemble_all(lab, {**TWO_MEMBERS, "start": ".globl _start\n_start: call one\ncall twO"})
    lab.sh("gcc-ar rcs both.a one.o two.o")
    result = lab.audit("check", "--", "ld.bfd", "both.a", "start.o", "-o", "out")
    assert result.code == 1 and "both.a(one.o) defines it, and the archive is on the line too early" in result.out, result


def test_a_definition_that_loses_to_another_archive_is_found_in_a_member_that_is_not_taken(lab):
    assemble_all(lab, {**TWO_MEMBERS, "three": ".globl one, three\none: ret\nthree: ret"})
    lab.sh("gcc-ar rcs first.a one.o && gcc-ar rcs second.a two.o three.o")
    result = lab.audit("check", "--", "ld.bfd", "start.o", "first.a", "second.a", "-o", "out")
    assert "one is also defined by second.a(three.o), which is not extracted" in result.out, result


def test_an_archive_that_is_also_binary_data(lab):
    assemble_all(lab, TWO_MEMBERS)
    lab.sh("gcc-ar rcs both.a two.o one.o")
    assert lab.audit("check", "--", "ld.bfd", "start.o", "both.a", "-b", "binary", "both.a", "-o", "out").code == 0


# ---- A common symbol, a library's variable of that name, and an archive that defines it

BSS = ".globl s\n.type s,%object\n.size s,16\n.bss\ns: .zero 16"
LIBRARIES = {
    "bss": BSS,
    "small-bss": ".comm s,4,4",
    "sizeless-bss": ".globl s\n.bss\ns: .zero 16",
    "weak-bss": BSS.replace(".globl", ".weak"),
    "data": BSS.replace(".bss", ".data"),
    "function": BSS.replace("%object", "%function"),
    "bss-and-reference": BSS + "\n.globl t\n.data\n.quad t",
    "data-and-reference": BSS.replace(".bss", ".data") + "\n.globl t\n.quad t",
}
AMONG_COMMON = ["common.o {so} def.a", "{so} common.o def.a", "--as-needed common.o {so} def.a", "-shared common.o {so} def.a",
                "common.o {so} def.o", "data.so common.o {so} def.a", "common.o {so} data.so def.a", "common.o def.a {so}", "--as-needed common.o {so} def-t.a"]


@pytest.fixture(scope="module")
def commons(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("commons"))
    assemble_all(lab, LIBRARIES | {"common": ".globl _start\n.comm s,8,8\n_start: nop", "def": ".globl s\n.data\ns: .quad 0",
                                 "def-t": ".globl t\n.data\nt: .quad 0"})
    lab.write("v.map", "V1 { s; };\n")
    for name in LIBRARIES:
        lab.sh(f"ld.bfd -shared {name}.o -soname {name}.so -o {name}.so")
        lab.sh(f"ld.bfd -shared {name}.o -soname v-{name}.so --version-script=v.map -o v-{name}.so")
    lab.sh("gcc-ar rcs def.a def.o && gcc-ar rcs def-t.a def-t.o")
    return lab


@pytest.mark.parametrize("library", [*LIBRARIES, "v-bss", "v-data"])
@every_linker_and_gold
def test_a_common_symbol_that_a_library_defines_too(commons, linker, library):
    """GNU ld takes what lies in a library's .bss for a common symbol of that: Fortran's libraries."""
    for words in AMONG_COMMON:
        agree(commons, linker, words.format(so=library + ".so"))


# ---- --wrap, and a definition that its section takes with it

WRAPPED = {
    "start": ".globl _start\n_start: nop",
    "group": '.globl s\n.section .data.g,"awG",@progbits,g,comdat\ns: .quad 0',
    "group-and-use": '.globl s\n.section .data.g,"awG",@progbits,g,comdat\ns: .quad 0\n.data\n.quad s',
    "real-in-group": '.globl __real_s\n.section .data.g,"awG",@progbits,g,comdat\n__real_s: .quad 0\n.data\n.quad __real_s',
    "group-alone": '.section .data.g,"awG",@progbits,g,comdat\n.quad 0',
    "wrapper": ".globl __wrap_s\n.data\n__wrap_s: .quad 0",
    "plain": ".globl s\n.data\ns: .quad 0",
}
WRAPS = ["group.o group.o lib-wrapper.a", "group-alone.o group-and-use.o lib-wrapper.a", "group-alone.o group-and-use.o wrapper.o",
         "group-alone.o real-in-group.o", "group-alone.o real-in-group.o plain.o", "group-alone.o real-in-group.o lib-plain.a"]


@pytest.mark.parametrize("words", WRAPS)
@every_linker_and_gold
def test_a_dropped_definition_of_a_wrapped_name(lab, linker, words):
    """GNU ld makes a reference of it, and that is wrapped."""
    assemble_all(lab, WRAPPED)
    lab.sh("gcc-ar rcs lib-wrapper.a wrapper.o && gcc-ar rcs lib-plain.a plain.o")
    agree(lab, linker, f"--wrap=s start.o {words}")
