"""relocation-not-pic against the linkers: random relocations in assembly, and code of compilers, on x86-64, i386, aarch64
and riscv64."""

import collections
import concurrent.futures
import functools
import itertools
import os
import random
import shlex
import shutil

import pytest

from elfaudit_test import Lab, campaign, campaign_seed, need
from relocation_cells import ASSEMBLER, LINKERS, SHARED, Cell, build, random_cell, refuses, words

need("as", "ld.bfd")

CELLS = campaign(25)  # of each machine
SEED = campaign_seed(1)
SHOWN = 12
# Each was judged wrongly once, for GNU ld or gold.
JUDGED_WRONGLY = [Cell("x86_64", *words.split(" ", 4)) for words in '''
32 library-variable text program -z nocopyreloc
16 library-constant rodata program -z nocopyreloc
PC64 library-constant rodata program -z nocopyreloc
PC64 library-untyped text program -z nocopyreloc
PC64 library-protected-function text pie -E
PC32 library-protected-function rodata program -E
PC32 library-untyped text pie -z nocopyreloc
PC64 library-variable data pie -z nocopyreloc
PC32 untyped text shared -Bsymbolic-functions
PC64 absolute text shared -Bsymbolic-functions
GOTPCRELX absolute text shared -Bsymbolic-functions
PC32 absolute data shared --version-script=local.map
PLT32 absolute text shared --version-script=local.map
'''.strip().splitlines()]


def program(machine, linker):
    return LINKERS[machine][linker].split()[0]


def cases():
    """Machine and linker; what is not installed is skipped, and the report says so."""
    for machine, linkers in LINKERS.items():
        for linker in linkers:
            missing = [p for p in (*tools(machine), program(machine, linker)) if shutil.which(p) is None]
            mark = pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")
            yield pytest.param(machine, linker, marks=mark, id=f"{machine}-{linker}")


def tools(machine):
    return [command.split()[0] for command in (ASSEMBLER[machine], SHARED[machine])]


def chosen_cells(machine):
    rnd = random.Random(f"{machine} {SEED}")
    return [cell for cell in JUDGED_WRONGLY if cell.machine == machine] + [random_cell(rnd, machine) for _ in range(CELLS)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Cells of each machine, built."""
    made = {}
    for machine in LINKERS:
        if any(shutil.which(tool) is None for tool in tools(machine)):
            continue
        cells = chosen_cells(machine)
        lab = Lab(tmp_path_factory.mktemp(machine))
        build(lab, cells)
        made[machine] = lab, cells
    return made


def both(lab, number, command):
    """Does the linker refuse the relocation, and does elfaudit say so? None: the linker has no verdict on it."""
    output = f"out.{number}"
    linked = lab.sh(f"{command} -o {output}", check=False)
    (lab.path / output).unlink(missing_ok=True)
    report = lab.audit("check", "--format", "json", "--", *shlex.split(command), "-o", output).json()
    rules = {f["rule"] for f in report["findings"] if f["severity"] == "error"}
    if "undefined-symbol" in rules:  # GNU ld may call it a relocation error and no more
        return linked.code != 0, True, linked.err.splitlines()[:1]
    ours = "relocation-not-pic" in rules
    return refuses(linked.code, linked.out + linked.err), ours, linked.err.splitlines()[:1]


def compare(lab, commands):
    """(compared, what differs) of many links, side by side."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda item: both(lab, *item), enumerate(commands)))
    compared = [(c, *verdict) for c, verdict in zip(commands, verdicts) if verdict[0] is not None]
    wrong = [f"{c}\n  linker {theirs}, elfaudit {ours}: {said}" for c, theirs, ours, said in compared if theirs != ours]
    return len(compared), wrong


@pytest.mark.deep
@pytest.mark.parametrize("machine, linker", cases())
def test_random_cells(bench, machine, linker):
    lab, cells = bench[machine]
    compared, wrong = compare(lab, [f"{LINKERS[machine][linker]} {words(cell)}" for cell in cells])
    print(f"{machine} {linker}: {compared - len(wrong)} of {compared} agree")
    assert compared > len(cells) / 2, "too few of the links have a verdict"
    assert not wrong, f"{len(wrong)} of {compared} differ:\n" + "\n".join(wrong[:SHOWN])


# ---- What compilers write

FEATURES = {
    "own variable": "int n = 1; int f(void) { return n++; }",
    "address of a variable": "int n; int *f(void) { return &n; }",
    "static array": "static int a[9]; int *f(int i) { return &a[i]; }",
    "string": 'const char *f(void) { return "text"; }',
    "own function": "__attribute__((noinline)) int g(int i) { return i + 1; } int f(void) { return g(2) * 3; }",
    "address of a function": "int g(int i) { return i; } void *f(void) { return (void *)g; }",
    "table": "extern int n; int n; int *const table[] = {&n, &n}; int *const *f(void) { return table; }",
    "library's variable": "extern int library_variable; int f(void) { return library_variable; }",
    "library's function": "int library_function(int); int f(void) { return library_function(1) + 1; }",
    "address of a library's function": "int library_function(int); void *f(void) { return (void *)library_function; }",
    "protected in the library": "extern int library_protected; int f(void) { return library_protected; }",
    "pointer to a library's variable": "extern int library_variable; int *p = &library_variable;",
    "weak": "__attribute__((weak)) int absent(void); int f(void) { return absent ? absent() : 0; }",
    "thread-local": "__thread int t; int f(void) { return t++; }",
    "static thread-local": "static __thread int t; int f(void) { return t++; }",
    "hidden": '__attribute__((visibility("hidden"))) int n; int *f(void) { return &n; }',
    "protected": '__attribute__((visibility("protected"))) int n; int *f(void) { return &n; }',
    "switch": "int f(int i) { switch (i) { case 0: return 7; case 1: return 3; case 2: return 99; case 3: return i * 7; "
    "case 4: return 12; case 5: return i - 1; } return 0; }",
    "number": "double f(double x) { return x * 1.25; }",
}
FLAGS = ["-fno-pic -fno-pie", "-fPIE", "-fPIC", "-fPIC -fvisibility=hidden", "-fno-pic -fno-pie -fvisibility=hidden"]
FLAGS += ["-fPIC -ftls-model=local-exec", "-fno-pic -fno-pie -mcmodel=large", "-fPIC -mcmodel=large"]
COMPILERS = {"x86_64": ["gcc", "clang"], "i386": ["i686-linux-gnu-gcc", "clang -m32"], "aarch64": ["aarch64-linux-gnu-gcc"],
             "riscv64": ["riscv64-linux-gnu-gcc -mno-relax", "clang --target=riscv64-linux-gnu -mno-relax"]}
LINKS = ["-shared", "-pie {start}", "-no-pie {start}", "-shared -Bsymbolic", "-shared -z notext"]
LIBRARY = 'int library_variable = 1; int library_function(int i) { return i; } __attribute__((visibility("protected"))) int library_protected;'


def compiled(lab, machine):
    """Pairs of an object and the options of a link, chosen by chance; what a compiler refuses is left out."""
    compilers = [c for c in COMPILERS[machine] if shutil.which(c.split()[0])]
    start = COMPILERS[machine][0].split()[0]
    if shutil.which(start) is None:
        pytest.skip(f"needs {start}, which is not installed")
    lab.write("start.c", "void _start(void) {}")
    lab.write("library.c", LIBRARY)
    lab.sh(f"{start} -fPIC -c start.c -o start.o && {start} -fPIC -shared -nostdlib library.c -o liblibrary.so")
    every = list(itertools.product(compilers, FLAGS, FEATURES.values(), LINKS))
    made = {}
    for *compile_words, link in random.Random(f"{SEED} {machine}").sample(every, min(len(every), CELLS)):
        made.setdefault(tuple(compile_words), []).append(link)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = list(pool.map(lambda one: lab.cc(f"o{one[0]}.o", one[1][2], f"{one[1][0]} -O1 {one[1][1]}", check=False), enumerate(made)))
    return [(name, link) for name, links in zip(names, made.values()) if (lab.path / name).exists() for link in links]


@pytest.fixture(scope="module")
def compilers_bench(tmp_path_factory):
    @functools.cache
    def made(machine):
        lab = Lab(tmp_path_factory.mktemp("compiled"))
        return lab, compiled(lab, machine)

    return made


@pytest.mark.deep
@pytest.mark.parametrize("machine, linker", cases())
def test_compiled_code(compilers_bench, machine, linker):
    lab, chosen = compilers_bench(machine)
    commands = [f"{LINKERS[machine][linker]} {link.format(start='start.o')} {o} --no-as-needed liblibrary.so" for o, link in chosen]
    compared, wrong = compare(lab, commands)
    print(f"{machine} {linker}: {compared - len(wrong)} of {compared} agree")
    assert compared > len(chosen) / 2, "too few of the links have a verdict"
    assert not wrong, f"{len(wrong)} of {compared} differ:\n" + "\n".join(wrong[:SHOWN])


# ---- What takes part, and what is said of it

STRING = 'const char *f(void) { return "text"; }'


def findings(lab, command):
    report = lab.audit("check", "--format", "json", "--", *shlex.split(command)).json()
    return [f for f in report["findings"] if f["rule"] == "relocation-not-pic"]


def test_an_object_is_one_finding_with_all_its_relocations(lab):
    lab.cc("a.o", "int n; const char *f(void) { n++; return \"text\"; } int *g(void) { return &n; }", "gcc -O1 -fno-pic")
    [finding] = findings(lab, "gcc -shared a.o -o a.so")
    types = collections.Counter(r["type"] for r in finding["relocations"])
    assert types["R_X86_64_32"] >= 1 and all(r["section"] and r["count"] >= 1 for r in finding["relocations"])
    assert [site["input"] for site in finding["sites"]] == ["a.o"] and "-fPIC" in finding["fixes"][0]["text"]


def test_only_what_is_linked_counts(lab):
    lab.cc("no.o", STRING, "gcc -O1 -fno-pic")
    lab.cc("yes.o", "int other(void) { return 1; }", "gcc -O1 -fPIC")
    lab.cc("main.o", "int other(void); int m(void) { return other(); }", "gcc -O1 -fPIC")
    lab.ar("libx.a", "no.o", "yes.o")
    assert findings(lab, "gcc -shared main.o libx.a -o a.so") == []
    [finding] = findings(lab, "gcc -shared main.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o a.so")
    assert finding["sites"][0]["input"] == "libx.a(no.o)" and "libx.a" in finding["fixes"][0]["text"]


def test_the_members_of_an_archive_are_one_finding(lab):
    lab.cc("a.o", "extern int v; int *g(void) { return &v; }", "gcc -O1 -fno-pic")
    lab.cc("b.o", STRING, "gcc -O1 -fno-pic")
    lab.ar("libx.a", "a.o", "b.o")
    [finding] = findings(lab, "gcc -shared -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o a.so")
    assert finding["cause"]["text"] == "libx.a holds code that is not position-independent" and len(finding["also"]) == 1, finding
    text = lab.audit("check", "--", "gcc", "-shared", "-Wl,--whole-archive", "libx.a", "-Wl,--no-whole-archive", "-o", "a.so").out
    assert "and 1 more object has the same cause" in text and "also      libx.a(a.o)" in text and "1 error:" in text, text


def test_the_second_copy_of_a_comdat_group_is_not_linked(lab):
    text = '#include <stdexcept>\nstruct A { ~A(); }; inline const char *f(int i) { A a; if (i) throw 1; return "text"; } const char *NAME() { return f(1); }'
    lab.cc("pic.o", text.replace("NAME", "a"), "g++ -O0 -fPIC")
    lab.cc("b.o", "inline const char *f(int) { return \"text\"; } void *b() { return (void *)1; }", "g++ -O0 -fno-pic")
    assert findings(lab, "g++ -shared pic.o b.o -o a.so") == []


def test_a_dead_section_is_not_judged(lab):
    lab.cc("a.o", f'__attribute__((visibility("hidden"))) {STRING} int g(void) {{ return 1; }}',
           "gcc -O1 -fno-pic -ffunction-sections -fdata-sections")
    assert findings(lab, "gcc -shared a.o -Wl,--gc-sections -o a.so") == []
    assert len(findings(lab, "gcc -shared a.o -o a.so")) == 1


def test_what_the_report_says_of_the_compile(lab):
    lab.write("a.c", STRING)
    lab.sh("gcc -O1 -fno-pic -c a.c -o a.o")
    lab.write("compile_commands.json", f'[{{"directory": "{lab.path}", "file": "a.c", "output": "a.o", "command": "gcc -O1 -fno-pic -c a.c -o a.o"}}]')
    [finding] = findings(lab, "gcc -shared a.o -o a.so")
    assert finding["cause"]["kind"] == "compiled-without-pic" and "-fno-pic" in finding["cause"]["text"]
    assert finding["fixes"][0]["text"].startswith("compile a.c with -fPIC")


def test_a_program_for_a_fixed_address_and_ordinary_programs_are_clean(lab):
    lab.cc("a.o", f"{STRING} int main(void) {{ return f() != 0; }}", "gcc -O1 -fno-pic")
    lab.cc("b.o", f"{STRING} int main(void) {{ return f() != 0; }}", "gcc -O1 -fPIE")
    assert findings(lab, "gcc -no-pie a.o -o a") == [] and findings(lab, "gcc -pie b.o -o b") == []
    [finding] = findings(lab, "gcc -pie a.o -o a")
    assert "-no-pie" in finding["fixes"][-1]["text"]


def test_noinhibit_exec_makes_it_a_warning_where_the_linker_does(lab):
    need("ld.lld-19")
    lab.cc("a.o", STRING, "gcc -O1 -fno-pic")
    [finding] = findings(lab, "ld.lld-19 -shared --noinhibit-exec a.o -o a.so")
    assert finding["severity"] == "warning"
    [finding] = findings(lab, "ld.bfd -shared --noinhibit-exec a.o -o a.so")
    assert finding["severity"] == "error"


def test_text_relocations_are_warnings_that_an_option_makes_errors(lab):
    lab.cc("a.o", ".globl f, n\n.text\nf: movabs $n, %rax\n.data\nn: .quad 0\n", "as")
    assert findings(lab, "ld.bfd -shared a.o -o a.so") == []
    for option in ("-z text", "--fatal-warnings"):
        [finding] = findings(lab, f"ld.bfd -shared {option} a.o -o a.so")
        assert "read-only section .text" in finding["message"]
    assert findings(lab, "ld.bfd -shared --fatal-warnings -z notext a.o -o a.so") == []


TEXT_WARNINGS = [
    "aarch64-linux-gnu-ld -shared --fatal-warnings",  # for this machine it warns only where an option asks
    "aarch64-linux-gnu-ld -shared --fatal-warnings --warn-textrel",
    "aarch64-linux-gnu-ld -pie -e f --fatal-warnings --warn-shared-textrel",
    "ld.bfd -shared --fatal-warnings -z notext --warn-textrel",
    "ld.bfd -shared --fatal-warnings --noinhibit-exec",
    "ld.gold -shared --fatal-warnings",
    "ld.gold -shared --fatal-warnings --warn-shared-textrel",
    "ld.gold -pie -e f --fatal-warnings --warn-shared-textrel",
    "mold -shared --fatal-warnings --warn-textrel",
    "mold -pie -e f --fatal-warnings --warn-textrel",
    "mold -pie -e f --fatal-warnings --warn-shared-textrel",
]


@pytest.mark.parametrize("command", TEXT_WARNINGS)
def test_warnings_of_text_relocations_as_errors(lab, command):
    aarch64 = command.startswith("aarch64")
    assembler = "aarch64-linux-gnu-as" if aarch64 else "as"
    need(command.split()[0], assembler)
    code = "f: .xword n" if aarch64 else "f: movabs $n, %rax"
    lab.write("a.s", f'.section .note.GNU-stack, "", %progbits\n.globl f, n\n.text\n{code}\n.data\nn: .quad 0\n')
    lab.sh(f"{assembler} a.s -o a.o")
    linked = lab.sh(f"{command} a.o -o out", check=False)
    refused = [f for f in findings(lab, f"{command} a.o -o out") if f["severity"] == "error"]
    assert bool(refused) == (linked.code != 0), linked


NOT_JUDGED = {"arm": "arm-linux-gnueabihf", "s390x": "s390x-linux-gnu", "powerpc64le": "powerpc64le-linux-gnu"}


@pytest.mark.parametrize("machine, prefix", NOT_JUDGED.items())
def test_the_summary_names_machines_whose_relocations_are_not_judged(lab, machine, prefix):
    need(f"{prefix}-as", f"{prefix}-ld")
    lab.write("a.s", ".data\n.globl x\nx: .long 1\n")
    lab.sh(f"{prefix}-as a.s -o a.o")
    command = [f"{prefix}-ld", "-shared", "a.o", "-o", "a.so"]
    assert f"not judged: relocations of {machine}" in lab.audit("check", "--", *command).out
    report = lab.audit("check", "--format", "json", "--", *command).json()
    assert report["relocations_judged"] is False and report["not_judged"] == [f"relocations of {machine}"]
    assert lab.audit("check", "--", f"{prefix}-ld", "-r", "a.o", "-o", "b.o").out.startswith("clean")


HUGE = {"bss": ("static char huge[3ul << 30];", True), "common": ("__attribute__((common)) char huge[3ul << 30];", True),
        "small": ("static char huge[1ul << 20];", False)}


@pytest.mark.parametrize("source, said", HUGE.values(), ids=list(HUGE))
def test_a_program_of_more_than_two_gigabytes_may_be_too_large(lab, source, said):
    """The linker: relocation truncated to fit."""
    lab.cc("a.o", f"{source} extern char after; char *f(long i) {{ return &huge[i]; }} char *g(void) {{ return &after; }}", "gcc -O1")
    lab.cc("b.o", "char after = 1; int main(void) { return 0; }", "gcc -O1")
    out = lab.audit("check", "--", "gcc", "a.o", "b.o", "-o", "a").out
    assert ("not judged: whether relocations of 32 bits reach" in out) == said, out
    assert out.startswith("no findings" if said else "clean")


@pytest.mark.parametrize("machine", ["elf_x86_64", "elf_i386"])
def test_relocations_that_may_be_too_short(lab, machine):
    """The linker: relocation truncated to fit."""
    lab.write("a.s", '.globl _start\n_start: nop\n.section .note.GNU-stack,"",@progbits\n.section .rodata\n.short x\n.data\n.globl x\nx: .long 1\n')
    lab.sh(f"as {'--32' if machine == 'elf_i386' else ''} a.s -o a.o")
    command = f"ld.bfd -m {machine} a.o -o a"
    assert lab.sh(command, check=False).code != 0
    assert "not judged: whether relocations of 8 and 16 bits reach" in lab.audit("check", "--", *command.split()).out


COMMON = {"common": "_start: mov v(%rip), %eax; .comm v, 4, 4; .globl _start",
          "function": ".globl v; .type v, @function; .size v, 1; v: ret",
          "ifunc": ".globl v; .type v, @gnu_indirect_function; .size v, 1; v: ret",
          "variable": ".data; .globl v; .type v, @object; .size v, 4; v: .long 1",
          "weak": ".data; .weak v; .type v, @object; .size v, 4; v: .long 1",
          "table": '.section .rodata; .quad v; .section .text; .globl _start; _start: nop'}


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["ld.bfd", "ld.gold", "ld.lld-14", "ld.lld-19", "mold"])
def test_a_common_symbol_and_a_table_that_mean_a_librarys_symbol(lab, linker):
    """A library's function does not replace a common variable; an address in .rodata whose variable is not copied is left to the loader."""
    need(linker)
    for name, source in COMMON.items():
        lab.write(f"{name}.s", '.section .note.GNU-stack,"",@progbits\n.text\n' + source.replace("; ", "\n") + "\n")
        lab.sh(f"as {name}.s -o {name}.o")
    libraries = ("function", "ifunc", "variable", "weak")
    for name in libraries:
        lab.sh(f"ld.bfd -shared {name}.o -o lib{name}.so")
    lines = [f"-pie {line}" for name in libraries for line in (f"common.o lib{name}.so", f"lib{name}.so common.o")]
    lines += [f"{options} table.o libvariable.so" for options in ("", "-z nocopyreloc", "-z nocopyreloc -z text", "-pie", "-z text")]
    for line in lines:
        linked = lab.sh(f"{linker} {line} -o out", check=False)
        assert lab.audit("check", "--", linker, *line.split(), "-o", "out").code == (1 if linked.code else 0), f"{line}\n{linked.err}"
