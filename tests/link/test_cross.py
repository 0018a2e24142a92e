"""Links for other machines, with every cross compiler of Debian that is installed: the linker accepts what elfaudit passes,
and the names that each target's linkers define themselves are the same."""

import re
import shutil

import pytest

import cross_links
from cross_links import driver
from elfaudit_test import Lab, need

TARGETS = {
    "aarch64-linux-gnu": "8",
    "arm-linux-gnueabihf": "4",
    "i686-linux-gnu": "4",
    "powerpc64-linux-gnu": "8",
    "powerpc64le-linux-gnu": "8",
    "riscv64-linux-gnu": "8",
    "s390x-linux-gnu": "8",
}
HELLO = {
    "hello.c": '#include <stdio.h>\nint main(void) { printf("%d\\n", 1); }',
    "hello.cpp": "#include <iostream>\n#include <thread>\nthread_local int count;\n"
    "int main() { std::thread([] { ++count; }).join(); try { throw 1; } catch (int) { std::cout << count; } }",
    "part.cpp": "#include <string>\nstd::string part(int n) { return std::to_string(n); }",
}
# Command words behind the driver and -o out.
LINKS = [
    "hello.c.o",
    "-no-pie hello.c.o",
    "-static hello.c.o",
    "-static-pie hello.c.o",
    "hello.cpp.o",
    "-static hello.cpp.o",
    "-static-pie hello.cpp.o",
    "-static-libstdc++ -static-libgcc hello.cpp.o",
    "-Wl,--gc-sections hello.cpp.o",
    "-shared part.cpp.o",
    "-shared -Wl,-z,defs part.cpp.o",
]
NAMES = """_end end _edata edata _etext etext __etext __bss_start __executable_start __ehdr_start __data_start __tdata_start
__init_array_start __init_array_end __fini_array_start __preinit_array_end __rela_iplt_start __rela_iplt_end __rel_iplt_start
__bss_start__ _bss_end__ __bss_end__ __end__ __exidx_start __exidx_end __global_pointer$ __DATA_BEGIN__ __SDATA_BEGIN__
__BSS_END__ .TOC. _savegpr0_14 _restgpr0_29 _restgpr0_31 _savegpr1_20 _restgpr1_31 _savefpr_14
_restfpr_31 _savevr_20 _restvr_31 _restgpr0_13 _restgpr0_32 _savevr_19 _restgpr0_3 _restgpr2_20 nobody""".split()


every_target = pytest.mark.parametrize("target, linker", list(cross_links.targets_and_linkers()))


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    """A folder a target, with its objects and the linkers by the names that a driver looks for."""
    made = {}

    def bench(target):
        if target in made:
            return made[target]
        lab = Lab(tmp_path_factory.mktemp(target))
        for name, text in HELLO.items():
            lab.write(name, text)
            lab.sh(f"{target}-{'g++' if name.endswith('pp') else 'gcc'} -O1 -fPIC -c {name} -o {name}.o")
        text = "\n".join(f'extern char n{i}[] __asm__("{name}");' for i, name in enumerate(NAMES))
        pointers = ", ".join(f"n{i}" for i in range(len(NAMES)))
        lab.write("names.c", f"{text}\nvoid *pointers[] = {{{pointers}}};\nvoid _start(void) {{}}\n")
        lab.sh(f"{target}-gcc -fPIC -c names.c -o names.o")
        cross_links.offer_linkers(lab)
        made[target] = lab
        return lab

    return bench


def audit(lab, command):
    return lab.audit("check", "--format", "json", "--", *command.split())


@pytest.mark.deep
@every_target
def test_what_links_passes(benches, target, linker):
    lab = benches(target)
    judged = 0
    for words in LINKS:
        command = f"{driver(target, linker)} {words} -o out"
        real = lab.sh(command, check=False)
        if real.code != 0:  # a start file that the cross C library lacks, a relocation that lld 14 does not know
            assert not re.search(r"undefined|multiple definition|duplicate symbol", real.err), f"{command}\n{real.err}"
            continue
        judged += 1
        ours = audit(lab, command)
        assert ours.code == 0, f"{command}\n{ours.json()['findings'][:3]}"
    assert judged > 0, "the linker made none of the links"


@pytest.mark.deep
@every_target
@pytest.mark.parametrize("output", ["-no-pie", "-pie", "-shared -Wl,-z,defs", "-static"])
def test_the_names_that_the_linker_defines(benches, target, linker, output):
    lab = benches(target)
    command = f"{driver(target, linker)} -nostdlib {output} names.o -o out"
    options = " -Wl,--error-limit=0" if linker.startswith("lld") else ""
    real = lab.sh(command + options, check=False).err
    theirs = set(re.findall(r"undefined (?:reference to [`']|symbol: )([^'\s]+)", real))
    if "nobody" not in theirs:
        pytest.skip(f"no verdict: {real[:200]}")
    assert set(audit(lab, command).json()["undefined"]) == theirs


def test_paths_begin_with_one_slash(benches):
    """A cross compiler passes --sysroot=/."""
    need("aarch64-linux-gnu-g++")
    lab = benches("aarch64-linux-gnu")
    lab.sh("echo 'int later(void); int f(void) { return later(); }' | aarch64-linux-gnu-gcc -shared -fPIC -xc - -o libf.so")
    lab.sh("echo 'int f(void); int main() { return f(); }' | aarch64-linux-gnu-gcc -c -xc - -o main.o")
    result = lab.audit("check", "--format", "json", "--", "aarch64-linux-gnu-gcc", "main.o", "./libf.so", "-o", "out")
    assert result.json()["undefined"] == ["later"] and '"//' not in result.out


@pytest.mark.parametrize("choice", ["lld", "mold"])
def test_a_linker_that_the_cross_compiler_does_not_have(benches, choice):
    """gcc for another machine takes TARGET-ld.lld, not the ld.lld in PATH."""
    need("aarch64-linux-gnu-g++")
    if shutil.which("aarch64-linux-gnu-ld." + choice):
        pytest.skip(f"aarch64-linux-gnu-ld.{choice} is installed")
    lab = benches("aarch64-linux-gnu")
    command = f"aarch64-linux-gnu-g++ -fuse-ld={choice} hello.cpp.o -o out"
    assert "cannot find" in lab.sh(command, check=False).err
    result = lab.audit("check", "--", *command.split())
    assert result.code == 2 and f"aarch64-linux-gnu-g++ finds no linker ld.{choice}" in result.out, result


CALLS = """void nowhere(void);
static int kept(void) { return 1; }
static int calls(void) { nowhere(); return 2; }
int dead(void) { return calls(); }
int (*volatile table[])(void) = { FIRST };
int main(void) { return table[0](); }
"""


@pytest.mark.deep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first, undefined", [("kept", []), ("calls", ["nowhere"]), ("kept, dead", ["nowhere"])])
@pytest.mark.parametrize("flags", ["-O0", "-O1 -ffunction-sections -fPIC"])
def test_gc_sections_keeps_what_a_function_pointer_needs(lab, target, first, undefined, flags):
    """Without sections of their own all functions are in one: then the call is kept in every case. 64-bit PowerPC has one
    section for all function descriptors (ELF ABI 1.9), of which each keeps its own function."""
    need(f"{target}-gcc")
    lab.write("a.c", CALLS)
    lab.sh(f"{target}-gcc -w {flags} -DFIRST='{first}' -c a.c -o a.o")
    command = f"{target}-gcc -Wl,--gc-sections a.o -o out"
    theirs = lab.sh(command, check=False)
    expected = undefined or (["nowhere"] if "sections" not in flags else [])
    assert ("nowhere" in theirs.err) == bool(expected)
    assert audit(lab, command).json()["undefined"] == expected


@pytest.mark.parametrize("linker", ["bfd", "lld19", "mold"])
def test_functions_that_an_index_of_exception_tables_names(lab, linker):
    """The index has a reference to each function that it describes; for mold that keeps them."""
    target = "arm-linux-gnueabihf"
    need(f"{target}-gcc", cross_links.LINKERS[linker] or "ld.bfd")
    cross_links.offer_linkers(lab)
    lab.write("a.c", "int nowhere(void); int dropped(void) { return nowhere(); } int main(void) { return 0; }")
    lab.sh(f"{target}-gcc -ffunction-sections -fexceptions -O1 -c a.c -o a.o")
    command = f"{driver(target, linker)} -Wl,--gc-sections a.o -o out"
    assert ("nowhere" in lab.sh(command, check=False).err) == (linker == "mold")
    assert audit(lab, command).json()["undefined"] == (["nowhere"] if linker == "mold" else [])


@pytest.mark.parametrize("target", TARGETS)
def test_the_call_for_thread_local_variables(lab, target):
    """In a program most linkers take the call out; GNU ld for s390x changes it, and wants the name all the same."""
    need(f"{target}-gcc")
    lab.write("a.c", "extern __thread int a; int f(void) { return a; } __thread int a = 1; void _start(void) {}")
    lab.sh(f"{target}-gcc -O1 -fPIC -c a.c -o a.o")
    for output in ["-static", "-pie", "-no-pie", "-shared -Wl,-z,defs"]:
        command = f"{target}-gcc -nostdlib {output} a.o -o out"
        theirs = set(re.findall(r"undefined reference to `(.*)'", lab.sh(command, check=False).err))
        assert set(audit(lab, command).json()["undefined"]) == theirs, command


@pytest.mark.deep
@pytest.mark.parametrize("target, linker", cross_links.targets_and_linkers())
def test_the_call_for_a_variable_that_nothing_defines(lab, target, linker):
    """It stays for lld and mold, and for GNU ld on 64-bit PowerPC."""
    cross_links.offer_linkers(lab)
    lab.write("a.c", "extern __thread int gone; int f(void) { return gone; } void _start(void) { f(); }")
    lab.sh(f"{target}-gcc -O1 -fPIC -c a.c -o a.o")
    command = f"{driver(target, linker)} -nostdlib -static a.o -o out"
    theirs = set(re.findall(r"(?:undefined reference to `|undefined symbol: (?:a\.o: )?)(\w+)", lab.sh(command, check=False).err))
    assert set(audit(lab, command).json()["undefined"]) == theirs, command


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["lld14", "lld19"])
@pytest.mark.parametrize("flags", ["", "-static", "-nostdlib -e main", "-r -nostdlib", "-shared", "-Wl,--noinhibit-exec", "-Wl,--gc-sections"])
def test_padding_that_the_linker_is_to_delete(lab, linker, flags):
    """R_RISCV_ALIGN, which glibc's start files have: lld before 15 deletes nothing, and refuses it."""
    target = "riscv64-linux-gnu"
    need(f"{target}-gcc", cross_links.LINKERS[linker])
    cross_links.offer_linkers(lab)
    lab.write("a.c", "int main(void) { return 0; }")
    lab.sh(f"{target}-gcc -c a.c -o a.o")
    command = f"{driver(target, linker)} {flags} a.o -o out"
    theirs = lab.sh(command, check=False)
    errors = {one["rule"] for one in audit(lab, command).json()["findings"] if one["severity"] == "error"}
    assert errors == ({"relocation-not-pic"} if theirs.code else set()), theirs


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["bfd", "lld14", "lld19", "mold"])
@pytest.mark.parametrize("flags", ["-mcmodel=large", "-fno-plt", "-mlongcall", "-mcpu=power10", "-mcpu=power10 -fno-plt", "-mcpu=power10 -ftls-model=local-exec", ""])
def test_relocations_that_compilers_emit_and_linkers_do_not_know(lab, linker, flags):
    target = "powerpc64le-linux-gnu"
    need(f"{target}-gcc", cross_links.LINKERS[linker] or "ld.bfd")
    cross_links.offer_linkers(lab)
    lab.write("a.c", "int e; __thread int t; int far(int); int call(int x) { return far(x + t) + e; } void _start(void) { call(e); }")
    lab.write("b.c", "int far(int x) { return x; }")
    lab.sh(f"{target}-gcc -O1 {flags} -c a.c -o a.o && {target}-gcc -c b.c -o b.o")
    command = f"{driver(target, linker)} -nostdlib -no-pie a.o b.o -o out"
    theirs = lab.sh(command, check=False)
    findings = audit(lab, command).json()["findings"]
    assert {one["rule"] for one in findings} == ({"relocation-not-pic"} if theirs.code else set()), theirs
