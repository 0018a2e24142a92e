"""Inputs other than ordinary objects and libraries: files that -b binary names, thin archives whose members are gone, objects for
another machine, and what is missing altogether. Every line is linked by each installed linker and audited."""

import pytest

from elfaudit_test import need
from linkers import agree, assemble_all, differs, every_linker_and_gold

need("ld.bfd", "as", "ar")

OBJECTS = {
    "start": ".globl _start\n.text\n_start: nop",
    "needs-a": ".globl _start\n.text\n_start: call a",
    "needs-b": ".globl _start\n.text\n_start: call b",
    "a": ".globl a\n.text\na: nop",
    "b": ".globl b\n.text\nb: call gone",
    "c": ".globl c\n.text\nc: call lost",
    "own-blob": ".globl _binary_dir_blob_bin_start\n.data\n_binary_dir_blob_bin_start: .quad 0",
    "uses-blob": ".globl _start\n.data\n_start: .quad _binary_dir_blob_bin_start, _binary_dir_blob_bin_end, _binary_dir_blob_bin_size",
}
I386 = {
    "start32": ".globl _start\n.text\n_start: call gone\nmovl here, %eax\naddl $_GLOBAL_OFFSET_TABLE_, %ebx\n.data\n.long _DYNAMIC, _end\n.comm here,4",
    "lone32": ".globl _start\n.text\n_start: nop",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("odd"))
    assemble_all(lab, OBJECTS)
    for name, text in I386.items():
        lab.write(name + ".s", text + "\n")
        lab.sh(f"as --32 {name}.s -o {name}.o")
    lab.write("dir/blob.bin", "text\n")
    lab.write("binary.ld", "TARGET(binary) INPUT(dir/blob.bin)\n")
    lab.write("both.ld", "TARGET(binary) INPUT(dir/blob.bin) TARGET(elf64-x86-64) INPUT(start.o)\n")
    lab.write("missing.ld", "INPUT(nosuch.o)\n")
    lab.sh("cp a.o gone-a.o; gcc-ar rcT first.a gone-a.o b.o c.o; gcc-ar rcT second.a b.o gone-a.o c.o; gcc-ar rcTS no-index.a gone-a.o b.o; rm gone-a.o")
    return lab


@pytest.mark.parametrize("words", [
    "uses-blob.o -b binary dir/blob.bin",
    "uses-blob.o --format=binary dir/blob.bin --format=default start.o start.o",
    "start.o own-blob.o -b binary dir/blob.bin",
    "start.o -b binary dir/blob.bin dir/blob.bin",
    "uses-blob.o --gc-sections -b binary dir/blob.bin",
    "uses-blob.o start.o",
])
@every_linker_and_gold
def test_a_binary_file_is_an_object(bench, linker, words):
    if linker == "mold":
        assert not differs(bench, linker, words)
    else:
        agree(bench, linker, words)


@pytest.mark.parametrize("words", [
    "uses-blob.o binary.ld", "-T binary.ld uses-blob.o", "uses-blob.o binary.ld start.o start.o", "both.ld", "start.o both.ld",
])
@every_linker_and_gold
def test_target_of_a_script(bench, linker, words):
    if linker == "gold":
        pytest.skip("gold can't read what the script names")
    assert not differs(bench, linker, words)


@pytest.mark.parametrize("archive", ["first.a", "second.a", "no-index.a"])
@pytest.mark.parametrize("words", ["start.o {}", "needs-a.o {}", "needs-b.o {}", "start.o --whole-archive {}"])
@every_linker_and_gold
def test_a_thin_archive_whose_member_is_gone(bench, linker, words, archive):
    line = words.format(archive)
    assert not differs(bench, linker, line)
    if linker == "bfd" and not bench.sh(f"ld.bfd {line} -o out 2>&1 | grep thin", check=False).out:
        agree(bench, linker, line)


def test_what_gold_still_says_where_an_input_is_missing(bench):
    need("ld.gold")
    for words in ("needs-a.o nosuch.o", "needs-a.o -lnosuch", "needs-a.o missing.ld", "needs-b.o second.a --whole-archive first.a"):
        assert "undefined reference" in bench.sh(f"ld.gold {words} -o out", check=False).err
        result = bench.audit("check", "--format", "json", "--", "ld.gold", *words.split(), "-o", "out")
        assert result.code == 2 and result.json()["undefined"], words


@pytest.mark.parametrize("words", [
    "start32.o", "-shared start32.o", "-pie start32.o", "start32.o --unresolved-symbols=ignore-all", "-static start32.o", "lone32.o",
    "--noinhibit-exec start32.o", "--no-warn-mismatch lone32.o", "--no-warn-mismatch -shared start32.o", "needs-b.o lone32.o b.o",
    "-m elf_i386 b.o start32.o", "-m elf_i386 lone32.o",
])
def test_gnu_ld_reads_objects_of_the_other_class(bench, words):
    """What they refer to is reported in every output, and the tables of their own machine are not made."""
    told = bench.sh(f"ld.bfd {words} -o out", check=False)
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", *words.split(), "-o", "out")
    named = {line.split("`")[1].rstrip("'") for line in told.err.splitlines() if "undefined reference" in line}
    assert (told.code == 0) == (result.code == 0) and result.code != 2, told
    assert set(result.json()["undefined"]) == named, told


@pytest.mark.parametrize("words", [
    "--sysroot=root -L=/lib -la", "--sysroot=root -L=lib -la", "--sysroot=root/ -L=lib -la", "-L=root/lib -la", "--sysroot=root =/lib/liba.a",
    "--sysroot=root root/lib/a.ld", "--sysroot=root root/lib/equals.ld", "-Lroot/lib -la", "--sysroot=root -L /lib -la", "-Lroot elsewhere/a.ld",
    # What is relative once the sysroot is put before it is looked up like any name, or not at all.
    "elsewhere/relative.ld", "-Lroot elsewhere/relative.ld", "-Lroot --sysroot= elsewhere/relative.ld", "--sysroot=root/ elsewhere/relative.ld",
    "-Lroot elsewhere/variable.ld", "--sysroot=root elsewhere/variable.ld", "--sysroot=oot/ -L. elsewhere/variable.ld", "rootlib.ld",
])
@every_linker_and_gold
def test_sysroot(bench, linker, words):
    bench.sh("mkdir -p root/lib; gcc-ar rcs root/lib/liba.a a.o")
    bench.write("root/lib/a.ld", "INPUT(/lib/liba.a)\n")
    bench.write("elsewhere/a.ld", "INPUT(lib/liba.a)\n")
    bench.write("root/lib/equals.ld", "INPUT(=/lib/liba.a)\n")
    bench.write("elsewhere/relative.ld", "INPUT(\"=lib/liba.a\")\n")
    bench.write("elsewhere/variable.ld", "INPUT(\"$SYSROOT/lib/liba.a\")\n")
    bench.write("rootlib.ld", "INPUT(\"=root/lib/liba.a\")\n")
    assert not differs(bench, linker, "needs-a.o " + words)


@every_linker_and_gold
def test_options_of_one_linker(bench, linker):
    for words in ("--weak-unresolved-symbols needs-a.o", "--weak-unresolved-symbols -shared -z defs needs-a.o"):
        assert not differs(bench, linker, words)


def test_silence(bench):
    """-w: what would only be warned of is not said."""
    assert not bench.sh("ld.bfd -w --noinhibit-exec needs-a.o -o out").err
    assert bench.audit("check", "--format", "json", "--", "ld.bfd", "-w", "--noinhibit-exec", "needs-a.o", "-o", "out").json()["undefined"] == []
