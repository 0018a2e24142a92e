"""`check` reads in full only what a first, cheap look can't rule out; for a JSON report, which counts what is undefined,
it looks at all symbols, else at what can collide. --undefined makes it read everything: all three, and every number of
threads, must say the same, whatever the inputs are."""

import random
import shlex

import pytest

from elfaudit_test import campaign, need, without_undefined

need("as", "ar", "objcopy")

SEEDS = campaign(2)

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]

# What one object says of one name: section, symbol attributes, and what the value stands in.
STRONG = ".data\n.globl {0}\n.type {0}, @object\n.size {0}, 4\n{0}: .long 1\n"
MENTIONS = [
    STRONG,
    STRONG,
    ".bss\n.globl {0}\n{0}: .zero 8\n",
    ".data\n.weak {0}\n{0}: .long 1\n",
    ".comm {0}, 4, 4\n",
    ".globl {0}\n.set {0}, 7\n",  # absolute
    ".data\n.long {0}\n",  # a reference
    ".data\n.long {0}\n",
    ".weak {0}\n.data\n.long {0}\n",
    ".data\n.globl {0}\n.hidden {0}\n{0}: .long 1\n",
    '.section .data.{0},"awG",@progbits,{0},comdat\n.globl {0}\n.type {0}, @gnu_unique_object\n{0}: .long 1\n',
    '.section .data.{0},"awG",@progbits,{0},comdat\n.weak {0}\n{0}: .long 1\n',
]
# Rarer ones, which make the first look step back.
ODD_MENTIONS = [
    '.section .data.{0},"awG",@progbits,shared_key,comdat\n.globl {0}\n{0}: .long 1\n',
    '.section .gnu.linkonce.d.{0},"aw",@progbits\n.globl {0}\n{0}: .long 1\n',
    '.section .left_out,"e",@progbits\n.globl {0}\n{0}: .long 1\n',
    '.section .tdata,"awT",@progbits\n.globl {0}\n.type {0}, @object\n{0}: .long 1\n',
    ".data\n.globl {0}_old\n{0}_old: .long 1\n.symver {0}_old, {0}@@V2\n",
    ".data\n.globl {0}_old\n{0}_old: .long 1\n.symver {0}_old, {0}@V1\n",
    '.section __nv_relfatbin,"a",@progbits\n.long 1\n',
    '.section .nv_fatbin,"a",@progbits\n.long 1\n',
]


# Sections and names enough for the tables to be read in parts. Their place in the object says which parts.
BULK = "".join(
    f'.section .text.a_function_with_a_long_name_{i},"ax",@progbits\n.weak a_function_with_a_long_name_{i}\n'
    f"a_function_with_a_long_name_{i}: ret\n.data\n.local_name_of_some_length_{i}: .quad other_{i}\n"
    for i in range(400)
)


def source(rng, odd, names=NAMES):
    text = BULK if rng.random() < 0.2 else ""
    for name in rng.sample(names, rng.randint(1, 5)):
        text += rng.choice(ODD_MENTIONS if rng.random() < odd else MENTIONS).format(name)
    return text + '.section .note.GNU-stack,"",@progbits\n'


def assert_same_both_ways(lab, *files):
    skimmed = lab.audit("check", "--format", "json", "-j", "1", *files)
    assert lab.audit("check", "--format", "json", "-j", "8", *files).out == skimmed.out
    full = lab.audit("check", "--undefined", "--format", "json", *files)
    short, long = skimmed.json(), full.json()
    assert short["undefined_count"] == len(long["undefined"]), (skimmed, full)
    long["undefined"] = []
    assert (skimmed.code, short) == (full.code, long), (skimmed, full)
    text, whole = lab.audit("check", "-j", "1", *files), lab.audit("check", "--undefined", *files)
    assert lab.audit("check", "-j", "8", *files).out == text.out
    assert (text.code, without_undefined(text.out)) == (whole.code, without_undefined(whole.out))
    return skimmed


@pytest.mark.parametrize("odd", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_objects(lab, seed, odd):
    rng = random.Random(1000 * odd + seed)
    objects = [lab.cc(f"o{i}.o", source(rng, odd), "as") for i in range(rng.randint(2, 5))]
    assert_same_both_ways(lab, *objects)
    archives = [lab.ar(f"lib{i}.a", *rng.sample(objects, rng.randint(1, len(objects)))) for i in range(2)]
    assert_same_both_ways(lab, *archives)  # archives alone: every member is taken
    assert_same_both_ways(lab, objects[0], *archives)
    apart = [lab.cc(f"p{i}.o", source(rng, odd, [*NAMES[:1], "iota", "kappa", "lambda", "mu"]), "as") for i in range(2)]
    assert_same_both_ways(lab, archives[0], *apart, archives[1])  # now and then nothing is taken from them


def assert_same_link(lab, command):
    """A link command's archives are opened by need; with --undefined they are read whole."""
    for options in ([], ["--format", "json"]):
        short = lab.audit("check", *options, "--", *shlex.split(command))
        full = lab.audit("check", "--undefined", *options, "--", *shlex.split(command))
        assert (short.code, without_undefined(short.out)) == (full.code, without_undefined(full.out)), command


@pytest.mark.parametrize("linker", ["ld.bfd", "ld.gold", "ld.lld-14", "ld.lld-19", "mold"])
@pytest.mark.parametrize("odd", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(-(-SEEDS // 3)))
def test_random_link_commands(lab, seed, odd, linker):
    """all.o: without undefined names other rules decide."""
    rng = random.Random(5000 * odd + seed)
    objects = " ".join(lab.cc(f"o{i}.o", source(rng, odd, rng.sample(NAMES, 5)), "as") for i in range(rng.randint(2, 5)))
    lab.cc("all.o", ".data\n" + "".join(f".weak {name}\n{name}: .long 1\n" for name in NAMES), "as")
    lab.cc("start.o", ".globl _start\n_start: ret\n", "as")
    lab.sh(f"ld.bfd -shared all.o -o liball.so && ld.bfd -shared {lab.cc('one.o', MENTIONS[0].format(rng.choice(NAMES)), 'as')} -o libone.so")
    archive = lab.ar("lib.a", lab.cc("m.o", source(rng, 0), "as"), "one.o")  # what is damaged and not taken is not read
    for rest in ("", "all.o", "liball.so", f"{archive} all.o", f"-pie all.o libone.so {archive}"):
        assert_same_link(lab, f"{linker} start.o {objects} {rest}")


def test_two_names_among_thousands(lab):
    """5,000 such names; one that two define and one that nothing does are found among them."""
    bulk = "".join(f".globl {{0}}_{i}\n{{0}}_{i}: .quad {{1}}_{i}\n" for i in range(5000))
    for name, other in ("ab", "bc", "ca"):
        lab.cc(f"{name}.o", ".data\n" + bulk.format(name, other) + (STRONG.format("state") if name != "c" else ""), "as")
    lab.cc("start.o", ".globl _start\n_start: ret\n", "as")
    lab.cc("lost.o", ".data\n.quad lost\n", "as")
    report = lab.audit("check", "--format", "json", "--", "ld", "start.o", "a.o", "b.o", "c.o").json()
    assert report["duplicates"] == [{"symbol": "state", "first": "a.o", "other": "b.o"}] and report["undefined"] == []
    report = lab.audit("check", "--format", "json", "--", "ld", "start.o", "b.o", "c.o", "lost.o", "-zmuldefs").json()
    assert "lost" in report["undefined"] and "a_7" in report["undefined"]
    assert_same_link(lab, "ld start.o a.o b.o c.o")
    assert_same_link(lab, "ld.lld-19 start.o a.o c.o b.o")


def test_an_undefined_local(lab):
    """As LLVM's assembler leaves one; lld refuses it, GNU ld takes zero for it."""
    need("clang", "ld.lld-19")
    lab.write("open.s", ".globl own\nown: ret\n.data\n.local gone\n.quad gone\n")
    lab.sh("clang --target=x86_64-linux-gnu -c open.s -o open.o")
    lab.cc("start.o", ".globl _start\n_start: ret\n", "as")
    assert [lab.audit("check", "--", linker, "start.o", "open.o").code for linker in ("ld.lld-19", "ld.bfd")] == [1, 0]
    for linker in ("ld.lld-19", "ld.bfd", "mold"):
        assert_same_link(lab, f"{linker} start.o open.o")


@pytest.mark.parametrize("kind", ["weak", "globl"])
def test_a_group_without_the_name_that_it_bears(lab, kind):
    """Which object comes first decides whether the name is defined: old.o has it in the group, new.o only a part of it."""
    group = '.section .text.f,"axG",@progbits,f,comdat\n'
    lab.cc("old.o", f"{group}.{kind} f\nf: ret\n", "as")
    lab.cc("new.o", f"{group}.globl f.part\nf.part: ret\n.data\n.quad f\n", "as")
    lab.cc("start.o", ".globl _start\n_start: call f\n", "as")
    for linker in ("ld.bfd", "ld.lld-19", "mold"):
        for order in ("old.o new.o", "new.o old.o"):
            assert_same_link(lab, f"{linker} start.o {order}")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(-(-SEEDS // 2)))
def test_damaged_objects(lab, seed):
    rng = random.Random(seed)
    objects = [lab.cc(f"o{i}.o", source(rng, 0), "as") for i in range(3)]
    lab.cc("own.o", STRONG.format("own"), "as")
    archive = (lab.path / lab.ar("indexed.a", *objects)).read_bytes()
    victim = lab.path / objects[1]
    whole = victim.read_bytes()
    for _ in range(12):
        bytes_ = bytearray(whole)
        if rng.random() < 0.3:
            del bytes_[rng.randrange(len(bytes_)) :]
        else:  # the ELF header, and the tables at the end, where most of what can contradict itself stands
            ends = [whole.find(b"\0.shstrtab\0"), len(whole)]
            for _ in range(rng.randint(1, 3)):
                near = rng.choice(ends) + rng.randrange(-200, 200)
                place = rng.choice([rng.randrange(64), rng.randrange(len(bytes_) // 2, len(bytes_)), near])
                place = max(0, min(place, len(bytes_) - 1))
                bytes_[place] = rng.choice([0, 1, 0x7F, 0xFF, rng.randrange(256)])
        victim.write_bytes(bytes_)
        assert_same_both_ways(lab, *objects)
        assert_same_link(lab, "ld.lld-19 " + " ".join(objects))
        lab.sh("rm -f lib.a && gcc-ar rcSD lib.a o0.o o1.o o2.o")  # S: no index, for which ar would read them
        assert_same_both_ways(lab, "lib.a")
        if len(bytes_) == len(whole):
            (lab.path / "indexed.a").write_bytes(archive.replace(whole, bytes(bytes_)))
            assert_same_both_ways(lab, "own.o", "indexed.a")


def test_archives_that_nothing_is_taken_from(lab):
    """LLVM's libraries and two objects that define the same, for which GNU ld takes no member in."""
    for name in ("a", "b"):
        lab.cc(f"{name}.o", STRONG.format("state") + ".long elsewhere\n", "as")
    lab.cc("m.o", STRONG.format("state") + STRONG.format("other") + ".long unknown\n", "as")
    lab.ar("lib.a", "m.o")
    report = assert_same_both_ways(lab, "lib.a", "a.o", "b.o").json()
    assert report["duplicates"] == [{"symbol": "state", "first": "a.o", "other": "b.o"}] and report["undefined_count"] == 1
    assert "prefilter" in lab.audit("check", "--stats", "lib.a", "a.o", "b.o").err
    lab.ar("also.a", lab.cc("n.o", STRONG.format("elsewhere"), "as"))
    assert assert_same_both_ways(lab, "a.o", "also.a", "lib.a").json()["extracted_members"] != []


def test_common_symbols_take_members_in(lab):
    lab.cc("a.o", ".comm shared, 4, 4\n", "as")
    lab.ar("lib.a", lab.cc("m.o", STRONG.format("shared"), "as"))
    assert assert_same_both_ways(lab, "a.o", "lib.a").json()["extracted_members"] != []


def test_damaged_indexes(lab):
    """"!<arch>\\n", 60 bytes of header, then count, offsets and names: those of a member that is not there, or too many."""
    lab.cc("m.o", STRONG.format("state") + STRONG.format("other"), "as")
    lab.cc("a.o", STRONG.format("own"), "as")
    whole = (lab.path / lab.ar("lib.a", "m.o")).read_bytes()
    assert whole[68:72] == b"\0\0\0\2" and whole[80:92] == b"state\0other\0"
    for place, wrong in ((71, 3), (71, 200), (68, 255), (75, 1), (79, 2), (76, 128)):
        (lab.path / "lib.a").write_bytes(whole[:place] + bytes([wrong]) + whole[place + 1 :])
        assert assert_same_both_ways(lab, "lib.a").code == 2, place
        assert assert_same_both_ways(lab, "a.o", "lib.a").code == 2, place


def test_index_that_lacks_a_name(lab):
    lab.cc("m.o", STRONG.format("state") + STRONG.format("other"), "as")
    lab.cc("a.o", STRONG.format("own"), "as")
    path = lab.path / lab.ar("lib.a", "m.o")
    path.write_bytes(path.read_bytes().replace(b"state\0other\0", b"state_other\0", 1))
    assert assert_same_both_ways(lab, "lib.a").code == 2
    assert assert_same_both_ways(lab, "a.o", "lib.a").code == 2


def test_names_are_found_wherever_they_stand_in_an_index(lab):
    """It is read in pieces, and names are at the ends of these."""
    names = [f"a_name_of_one_length_or_another{'_' * (i % 50)}{i}" for i in range(3000)]
    lab.ar("lib.a", lab.cc("m.o", "".join(f".globl {name}\n{name}:\n" for name in names), "as"))
    piece = 65536
    cut, room = [], piece
    for i, name in enumerate(names):
        if room < len(name) + 1:  # as much of it as there is room for is moved to the front of the next piece
            cut.append(i)
            room = piece
        room -= len(name) + 1
    assert cut
    for name in [names[0], names[-1], *(names[i + step] for i in cut for step in (-1, 0, 1))]:
        lab.cc("a.o", f".globl a\na: .quad {name}\n", "as")
        assert assert_same_both_ways(lab, "a.o", "lib.a").json()["extracted_members"] != [], name
    lab.cc("a.o", f".globl a\na: .quad {names[7]}_not\n", "as")
    assert_same_both_ways(lab, "a.o", "lib.a")
    assert "prefilter" in lab.audit("check", "--stats", "a.o", "lib.a").err


@pytest.mark.parametrize("size", [0, 30000, 65 << 20], ids=["small", "larger", "so large that all threads share it"])
def test_members_of_every_size(lab, size):
    """They are read with what stands behind them, the next member's header among it, which begins at an even offset."""
    bulk = f".section .bulk\n.zero {size}\n"
    for i in range(5):
        padding = f'.section .pad{i},"a"\n.zero {i}\n'
        text = STRONG.format(f"of_{i}") + STRONG.format("state" if i in (1, 4) else f"own_{i}") + padding
        lab.cc(f"m{i}.o", text + (bulk if i == 2 else ""), "as")
        with (lab.path / f"m{i}.o").open("ab") as file:
            file.write(b"\0" * i)  # odd sizes too
    lab.ar("lib.a", *(f"m{i}.o" for i in range(5)))
    result = assert_same_both_ways(lab, "lib.a")
    assert [(d["first"], d["other"]) for d in result.json()["duplicates"]] == [("lib.a(m1.o)", "lib.a(m4.o)")]
    assert "prefilter" in lab.audit("check", "--stats", "lib.a").err
    lab.cc("a.o", STRONG.format("elsewhere"), "as")
    assert assert_same_both_ways(lab, "a.o", "lib.a").code == 0
    assert "prefilter" in lab.audit("check", "--stats", "a.o", "lib.a").err
    whole = (lab.path / "lib.a").read_bytes()
    for cut in (1, 100, 900, 5000):
        (lab.path / "lib.a").write_bytes(whole[:-cut])
        assert assert_same_both_ways(lab, "lib.a").code == 2


def test_very_long_names(lab):
    name = "n" * 70000
    lab.ar("lib.a", lab.cc("m.o", STRONG.format("other") + STRONG.format(name), "as"))
    lab.cc("a.o", f".globl a\na: .quad {name}\n", "as")
    assert assert_same_both_ways(lab, "a.o", "lib.a").json()["extracted_members"] != []
    lab.cc("b.o", STRONG.format(name), "as")
    assert assert_same_both_ways(lab, "lib.a", "a.o", "b.o").code == 0
    assert assert_same_both_ways(lab, "a.o", "b.o", lab.cc("c.o", STRONG.format(name), "as")).code == 1


@pytest.mark.parametrize("flags", ['"ax"', '"aMS",@progbits,1', '"aG",@progbits,key,comdat', '""'])
def test_damaged_device_code_is_seen_in_sections_of_any_kind(lab, flags):
    lab.cc("a.o", STRONG.format("state") + f".section .nv_fatbin,{flags}\n.long 1\n", "as")
    assert assert_same_both_ways(lab, "a.o").code == 2


def test_members_that_are_not_taken_are_checked(lab):
    lab.cc("a.o", STRONG.format("own"), "as")
    path = lab.path / lab.ar("lib.a", lab.cc("m.o", BULK + STRONG.format("state"), "as"))
    assert assert_same_both_ways(lab, "a.o", "lib.a").code == 0
    assert "prefilter" in lab.audit("check", "--stats", "a.o", "lib.a").err
    whole = path.read_bytes()  # damaged where it is, for ar would leave a damaged member out of the index
    at = whole.rfind(b"\0state\0") + 6
    path.write_bytes(whole[:at] + b"xx" + whole[at + 2 :])
    assert assert_same_both_ways(lab, "a.o", "lib.a").code == 2
    lab.ar("slim.a", lab.cc("s.o", BULK + ".comm __gnu_lto_slim, 1, 1\n", "as"))
    assert assert_same_both_ways(lab, "a.o", "slim.a").code == 2


def test_two_strong_definitions_are_found(lab):
    for name in "ab":
        lab.cc(f"{name}.o", STRONG.format("state"), "as")
    result = assert_same_both_ways(lab, "a.o", "b.o")
    assert result.code == 1 and result.json()["duplicates"] == [{"symbol": "state", "first": "a.o", "other": "b.o"}]


def test_unique_variables_of_one_group_are_one(lab):
    for name in "abc":
        lab.cc(f"{name}.o", MENTIONS[-2].format("state"), "as")
    assert assert_same_both_ways(lab, "a.o", "b.o", "c.o").code == 0


@pytest.mark.parametrize("before", ["", BULK])
def test_damaged_device_code_is_seen_wherever_its_name_stands(lab, before):
    code = '.section __nv_relfatbin,"a",@progbits\n.long 1\n'
    lab.cc("a.o", before + STRONG.format("state") + code + BULK.replace("name", "title"), "as")
    lab.cc("b.o", BULK.replace("name", "label"), "as")
    assert assert_same_both_ways(lab, "a.o", "b.o").code == 2
    assert "prefilter" in lab.audit("check", "--stats", "a.o", "b.o").err
    lab.ar("lib.a", "a.o")
    assert assert_same_both_ways(lab, "lib.a").code == 2
    lab.cc("main.o", STRONG.format("own"), "as")
    assert_same_both_ways(lab, "main.o", "lib.a")


def test_thread_local_names_that_begin_like_others(lab):
    name = "a_name_whose_first_thirty_two_bytes_are_"
    lab.cc("a.o", ODD_MENTIONS[3].format(name + "one"), "as")
    lab.cc("b.o", STRONG.format(name + "another"), "as")
    lab.cc("c.o", f".data\n.long {name}one\n", "as")
    assert assert_same_both_ways(lab, "a.o", "b.o").code == 0
    assert "prefilter" in lab.audit("check", "--stats", "a.o", "b.o").err
    assert assert_same_both_ways(lab, "a.o", "b.o", "c.o").code == 1


def test_definition_in_a_group_and_another_outside(lab):
    lab.cc("a.o", MENTIONS[-2].format("state"), "as")
    lab.cc("b.o", STRONG.format("state"), "as")
    assert assert_same_both_ways(lab, "a.o", "b.o").code == 1


def test_groups_of_another_name_decide(lab):
    """The first object's group has neither name, and discards the second's definition: the third one is alone."""
    lab.cc("a.o", '.section .data.x,"awG",@progbits,key,comdat\n.globl x\nx: .long 1\n', "as")
    lab.cc("b.o", '.section .data.y,"awG",@progbits,key,comdat\n.globl y\ny: .long 1\n', "as")
    lab.cc("c.o", STRONG.format("y"), "as")
    assert assert_same_both_ways(lab, "a.o", "b.o", "c.o").code == 0
    assert assert_same_both_ways(lab, "b.o", "c.o").code == 1


def test_what_only_a_discarded_copy_defines_is_not_counted_as_undefined(lab):
    lab.cc("a.o", '.section .data.x,"awG",@progbits,key,comdat\n.weak x\nx: .long 1\n', "as")
    lab.cc("b.o", '.section .data.y,"awG",@progbits,key,comdat\n.weak y\ny: .long 1\n.data\n.long y, nowhere\n', "as")
    assert assert_same_both_ways(lab, "a.o", "b.o").json()["undefined_count"] == 1


def test_versions_and_plain_names_meet(lab):
    lab.cc("a.o", ODD_MENTIONS[4].format("state"), "as")
    lab.cc("b.o", STRONG.format("state"), "as")
    assert_same_both_ways(lab, "a.o", "b.o")


def test_32_bit_objects(lab):
    for name in "ab":
        lab.cc(f"{name}.o", STRONG.format("state"), "as --32")
    assert assert_same_both_ways(lab, "a.o", "b.o").code == 1


def test_object_named_twice_and_members_that_are_no_objects(lab):
    lab.cc("a.o", STRONG.format("state"), "as")
    assert assert_same_both_ways(lab, "a.o", "a.o").code == 1
    lab.write("note.txt", "words\n")
    lab.ar("lib.a", "a.o", "note.txt")
    assert_same_both_ways(lab, "lib.a")
    lab.sh("gcc-ar rcDT thin.a a.o")
    assert_same_both_ways(lab, "thin.a", "lib.a")
