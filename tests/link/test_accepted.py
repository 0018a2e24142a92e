"""Links that options forgive or refuse as a whole: elfaudit must accept what each linker accepts, and refuse what it
refuses."""

import concurrent.futures
import os

import pytest

from elfaudit_test import Lab, need
from linkers import PROGRAMS, assemble_all, differs, every_linker_and_gold

need("as", "ar", "ld.bfd")

START = ".globl _start\n.text\n_start: nop\n.data\n"
SOURCES = {
    "start": START,
    "x": ".globl x\n.data\nx: .quad 0",
    "x-and-gone": ".globl x\n.data\nx: .quad gone",
    "uses-x": ".data\n.quad x",
    "hidden": START + ".hidden x\n.quad x",
    "hidden-weak": START + ".weak x\n.hidden x\n.quad x",
    "protected": START + ".protected x\n.quad x",
    "g": ".globl _ZN2ns1gEi\n.data\n_ZN2ns1gEi: .quad 1",
    "g-default-v1": ".globl g_\n.symver g_,_ZN2ns1gEi@@V1,remove\n.data\ng_: .quad 1",
    "g-v1": ".globl g_\n.symver g_,_ZN2ns1gEi@V1,remove\n.data\ng_: .quad 1",
}
FORGIVING = ("--warn-unresolved-symbols", "--noinhibit-exec", "--warn-unresolved-symbols --fatal-warnings", "--noinhibit-exec --fatal-warnings")
# GNU ld makes a hidden name local at its second mention, and a local one may be missing with --noinhibit-exec.
SECOND_MENTION = [f"{output} {words} --noinhibit-exec" for output in ("", "-shared", "-pie")
                  for words in ("hidden.o uses-x.o", "uses-x.o hidden.o", "uses-x.o protected.o", "hidden.o uses-x.so", "uses-x.so hidden.o", "hidden.o x.so uses-x.o", "x.so hidden.o",
                                "hidden.o uses-x.so uses-x.o", "hidden-weak.o uses-x.so", "uses-x.so hidden-weak.o", "hidden-weak.o hidden.o uses-x.so")]
HIDDEN = SECOND_MENTION + [f"{output} {words} {option}" for output in ("", "-shared", "-shared -z defs") for option in ("", *FORGIVING)
          for words in ("hidden.o", "protected.o", "hidden-weak.o", "hidden.o x.so", "protected.o x.so")]
METHODS = [f"{words} --unresolved-symbols=ignore-{what}" for what in ("in-object-files", "in-shared-libs", "all")
           for words in ("uses-x.o", "uses-x.o uses-x.so", "uses-x.so uses-x.o", "start.o uses-x.so", "-shared uses-x.o uses-x.so")]
METHODS += [f"{output} uses-x.o {words}" for output in ("", "-shared") for method in ("ignore-all", "ignore-in-object-files", "ignore-in-shared-libs")
            for defs in ("-z defs", "--no-undefined") for words in (f"--unresolved-symbols={method} {defs}", f"{defs} --unresolved-symbols={method}")]
METHODS += [f"{words} {option}" for words in ("start.o --require-defined=x", "-r start.o --gc-sections") for option in ("", *FORGIVING)]
METHODS += [f"{output} uses-x.o {option}" for output in ("", "-shared", "-shared -z defs") for option in FORGIVING]
STATIC = """
start.o -L. -ltwo -static
start.o -L. -ltwo -Bstatic
-static start.o -L. -ltwo
start.o -static x.so
-static start.o x.so
start.o x.so -static
-Bstatic start.o x.so
-Bstatic start.o -Bdynamic x.so
-static start.o -Bdynamic x.so
-pie -static -Bdynamic start.o x.so
-shared -static -Bdynamic start.o x.so
-Bstatic -Bdynamic start.o x.so -dynamic-linker /lib/ld.so
-Bstatic -Bdynamic start.o x.so --no-dynamic-linker
-L. -Bstatic -lone -Bdynamic start.o x.so
--start-group -Bstatic start.o --end-group -Bdynamic x.so
-dn start.o x.so
-non_shared start.o x.so
-r start.o x.so
-r start.o -L. -ltwo
-r -Bdynamic start.o -L. -ltwo
-Bdynamic start.o -r -L. -ltwo
-r start.o -L. -ltwo -Bdynamic
""".strip().splitlines()
SCRIPT_OPERANDS = ["start.o libone.a alias.ld", "alias.ld start.o libone.a", "start.o libone.a alias.ld libone.a", "start.o x.o alias.ld",
                   "uses-x.o libone.a alias.ld", "start.o libone.a --defsym alias=x"]
# A script is read to its end before what it names is opened.
SCRIPT_OPERANDS += ["start.o group.ld", "group.ld start.o", "start.o value-in-named.ld", "start.o extern-in-named.ld", "start.o extern-last.ld"]
GROUPS = ["--start-group libone.a alias.ld --end-group", "--start-group libone.a --defsym=alias=x --end-group",
          "--start-group libone.a --end-group --defsym=alias=x", "--start-group libone.a --end-group alias.ld",
          "libone.a --start-group alias.ld --end-group", "--start-group group.ld --end-group", "group.ld"]
NOTE = '.section .text.x,"ax"\n.globl x\nx: ret\n.section .note.n,"aG",%note,n,comdat\n.quad x'
GC = {
    "dead-beside-debug": START + '.section .text.dead,"ax"\ncall dead\n.section .debug_x,""\n.quad u1',
    "live-beside-debug": START + 'call live\n.section .debug_x,""\n.quad u1',
    "noted": NOTE,
    "noted-too": NOTE.replace("n,comdat", "m,comdat"),
    "note-in-group": NOTE.replace(",n,comdat", ",n").replace('"aG"', '"a"').replace("%note,n", "%note"),
    "not-noted": '.section .text.x,"ax"\n.globl x\nx: ret',
}
GC_LINES = ["--gc-sections dead-beside-debug.o", "--gc-sections live-beside-debug.o", "dead-beside-debug.o"]
GC_LINES += [f"--gc-sections start.o {one}.o {other}.o" for one in ("noted", "note-in-group", "not-noted")
             for other in ("noted-too", "note-in-group", "not-noted")]
# Sections that some linker keeps: by name, or by type.
KEPT = """.init .init.x .fini .fini_x .jcr .jcr.x .ctors .ctors.1 .ctors_x .dtors .dtors.1 .init_array .init_array.1 .init_array_x .fini_array .fini_array_x
.preinit_array .preinit_array.1 .note .notes .text.personality .rodata.personality .rodata.nptl_version .gcc_except_table.x .gnu.linkonce.d.personality""".split()
KEPT_TYPES = [f".odd,\"aw\",@{kind}" for kind in ("init_array", "fini_array", "preinit_array", "note")] + ['.odd,"e",@progbits', '.odd,"aweR",@progbits']
LIBRARIES_ALONE = ["x.so", "--defsym=a=4", "-shared x.so", "-r x.so", "x.so -e x", "x.so --defsym=a=4", "x.so libone.a", "libone.a", "x.so --start-lib x.o --end-lib",
                   "-L. -lone", "-L. -lone -m elf_x86_64", "-L. -lone start.o", "-L. -lone x.so", "-L. -ltwo", "-L. -ltwo -m elf_x86_64",
                   "-L. -ltwo start.o", "-L. --whole-archive -ltwo", "--as-needed x.so"]
CXX = 'extern "C++" { "ns::g(int)"; };'
NODES = [
    f"V2 {{ local: *; }}; V1 {{ {CXX} _ZN2ns1gEi; }};",
    f"V1 {{ {CXX} }}; V2 {{ _ZN2ns1gEi; }};",
    f"V1 {{ _ZN2ns1gEi; }}; V2 {{ {CXX} }};",
    f"V1 {{ local: _ZN2ns1gEi; }}; V2 {{ {CXX} }};",
    f"V1 {{ local: _Z*; }}; V2 {{ {CXX} }};",
    f"V2 {{ local: {CXX} }}; V1 {{ _ZN2ns1gEi; }};",
    f"V1 {{ global: _ZN2ns1gEi; local: {CXX} }};",
    f"V1 {{ {CXX} }};",
    "V1 { _ZN2ns1gEi; }; V2 { _ZN2ns1gEi; };",
    "V1 { _Z*; }; V2 { _ZN2ns1gEi; };",
]


SYMBOLS_OF_FILES = [f"{objects} {option}{file}" for objects in ("uses-x.o", "start.o", "start.o x.o", "-shared uses-x.o") for option in ("-R ", "--just-symbols=")
                    for file in ("x.o", "uses-x.o", "x.so", "x.exe", "libone.a", "libuses-x.a", "alias.ld", "group.ld", "named.ld", "nosuch", "lib")]
SYMBOLS_OF_FILES += ["uses-x.o --just-symbols=libone.a x.o", "start.o --just-symbols=x.exe --just-symbols=x.exe", "start.o --whole-archive --just-symbols=libuses-x.a",
                     "uses-x.o --just-symbols=stripped.exe", "-r start.o x.o --just-symbols=x.exe"]
TOGETHER = """
-r -shared
-shared -r
-r -pie
-pie -no-pie -r
-shared -pie
-static -shared
-Bstatic -shared
-r --icf=all
-r --icf=all --icf=none
-r --icf=all --noinhibit-exec
-r --gc-sections -e _start
-r --gdb-index
-r -E
-r --retain-symbols-file=/dev/null
--strip-all --emit-relocs
--strip-debug --emit-relocs
--symbol-ordering-file=/dev/null --call-graph-ordering-file=/dev/null
--execute-only
--execute-only --no-execute-only
--toc-optimize
""".strip().splitlines()
EMPTY_FILES = [f"start.o {words}/dev/null" for words in ("--retain-symbols-file=", "-T ", "--symbol-ordering-file=", "--dynamic-list=", "--version-script=", "@", "")]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("accepted"))
    assemble_all(lab, SOURCES)
    for name in ("x", "uses-x"):
        lab.sh(f"ld.bfd -shared {name}.o -soname {name}.so -o {name}.so")
    lab.sh("cp x.so libtwo.so; mkdir lib; ld.bfd -e 0 x.o -o x.exe; strip x.exe -o stripped.exe")
    lab.ar("libone.a", "x.o")
    lab.ar("libuses-x.a", "uses-x.o")
    lab.ar("libgone.a", "x-and-gone.o")
    lab.write("extern.ld", "EXTERN(x)\n")
    lab.write("extern-in-named.ld", "INPUT(libgone.a extern.ld)\n")
    lab.write("extern-last.ld", "INPUT(libgone.a) EXTERN(x)\n")
    lab.write("value-in-named.ld", "INPUT(libone.a alias.ld)\n")
    lab.write("named.ld", "INPUT(x.o)\n")
    lab.write("alias.ld", "alias = x;\n")
    lab.write("group.ld", "GROUP(libone.a) alias = x;\n")
    return lab


def alike(lab, linker, lines):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [found for found in pool.map(lambda line: differs(lab, linker, line), lines) if found]
    assert not wrong, f"{len(wrong)} of {len(lines)} differ:\n" + "\n".join(wrong)


@every_linker_and_gold
def test_undefined_hidden_names_that_options_forgive(bench, linker):
    alike(bench, linker, HIDDEN)


@every_linker_and_gold
def test_methods_of_unresolved_symbols(bench, linker):
    alike(bench, linker, METHODS)


@every_linker_and_gold
def test_shared_objects_in_static_links(bench, linker):
    alike(bench, linker, [line for line in STATIC if linker != "mold" or "-non_shared" not in line])


@every_linker_and_gold
def test_what_gc_sections_leaves_to_be_defined(lab, linker):
    """For mold a note that is loaded is kept, in a group too."""
    assemble_all(lab, {**GC, "start": START})
    alike(lab, linker, GC_LINES)


@every_linker_and_gold
def test_sections_that_gc_sections_keeps(lab, linker):
    sections = [f'{name},"aw"' for name in KEPT] + KEPT_TYPES
    assemble_all(lab, {str(i): f".globl _start\n_start: nop\n.section {section}\n.quad gone" for i, section in enumerate(sections)})
    alike(lab, linker, [f"{gc} {i}.o" for i in range(len(sections)) for gc in ("", "--gc-sections")])


@every_linker_and_gold
def test_files_that_are_linked_for_their_symbols_alone(bench, linker):
    alike(bench, linker, SYMBOLS_OF_FILES)


@every_linker_and_gold
def test_operands_that_nothing_defines(bench, linker):
    """mold 1.10 crashes; "add" is a number to GNU ld."""
    alike(bench, linker, [f"{words} --defsym=a={operand}" for operand in ("gone", "add", "_end", "x", "__start_gone", "_start") for words in (
        "start.o", "-shared start.o", "-r start.o", "start.o --noinhibit-exec", "start.o --unresolved-symbols=ignore-all", "start.o libone.a", "start.o x.so")])


@every_linker_and_gold
def test_a_relocation_that_does_nothing(bench, linker):
    """GNU ld can't resolve it where a library has the symbol and the output no copy of it."""
    place = {"nothing": ".data\n.reloc ., R_X86_64_NONE, NAME\n.quad 0", "debug-nothing": '.section .debug_x,""\n.reloc ., R_X86_64_NONE, NAME\n.quad 0',
             "copies": ".text\nmovl NAME(%rip), %eax", "calls": ".text\ncall NAME@plt", "loads": ".text\nmovq NAME@gotpcrel(%rip), %rax"}
    assemble_all(bench, {f"{what}-{name}": text.replace("NAME", name) for what, text in place.items() for name in ("v", "f")} | {
        "v": ".globl v\n.type v, @object\n.size v, 8\n.data\nv: .quad 0", "f": ".globl f\n.type f, @function\n.text\nf: ret"})
    bench.sh("for x in v f; do ld.bfd -shared $x.o -soname $x.so -o $x.so; done")
    alike(bench, linker, [f"{output} start.o {one}-{name}.o {other} {name}.{kind}" for output in ("", "-shared", "-pie") for name in ("v", "f") for one in ("nothing", "debug-nothing")
                          for other in ("", f"copies-{name}.o" * (name == "v"), f"calls-{name}.o" * (name == "f"), f"loads-{name}.o") for kind in ("so", "o")])


@every_linker_and_gold
def test_options_that_are_not_taken_together(bench, linker):
    alike(bench, linker, [f"start.o {words}" for words in TOGETHER])


def test_a_librarys_symbols_alone_for_lld(bench):
    """lld 19 reads .symtab of every file; lld 14 takes .dynsym of a library."""
    need("ld.lld-19")
    bench.sh("ld.bfd -pie -e 0 x.o -o x.pie; strip x.so -o stripped.so")
    alike(bench, "lld19", [f"{objects} --just-symbols={file}" for objects in ("uses-x.o", "start.o x.o", "start.o") for file in ("x.so", "x.pie", "stripped.so", "uses-x.so")])


@every_linker_and_gold
def test_the_target_that_a_script_names(bench, linker):
    """For gold it holds for what the script itself names."""
    for name, text in {"text.txt": "not an object\n", "inside.ld": "TARGET(binary) INPUT(text.txt)\n", "before.ld": "TARGET(binary)\n"}.items():
        bench.write(name, text)
    alike(bench, linker, ["start.o inside.ld", "-r start.o inside.ld", "start.o before.ld text.txt", "start.o inside.ld text.txt"])


@every_linker_and_gold
def test_a_hidden_common_symbol_that_a_library_needs(bench, linker):
    """It is gone where nothing that --gc-sections keeps refers to it."""
    assemble_all(bench, {"hidden-common-x": ".comm x,8,8\n.hidden x", "visible-common-x": ".comm x,8,8", "hides-x": ".hidden x\n.data\n.quad x"})
    bench.write("local.map", "{ local: *; };\n")
    alike(bench, linker, [f"{gc} start.o uses-x.so {objects}" for gc in ("", "--gc-sections") for objects in (
        "hidden-common-x.o", "hidden-common-x.o hides-x.o", "hidden-common-x.o -u x", "hidden-common-x.o visible-common-x.o", "visible-common-x.o",
        "visible-common-x.o --version-script local.map", "hidden-common-x.o --defsym=alias=x")])


@every_linker_and_gold
def test_the_null_device_is_an_empty_file(bench, linker):
    """mold can't read an empty script and an empty list."""
    alike(bench, linker, [line for line in EMPTY_FILES if linker != "mold" or not {"-T", "--dynamic-list=/dev/null"} & set(line.split())])


def test_options_that_mold_does_not_tell_of(bench):
    need("mold")
    alike(bench, "mold", ["start.o --filler 0xfe", "start.o --filler=0xfe", "--filler 0xfe start.o"])


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld14", "lld19"])
def test_what_a_script_uses_is_asked_for_at_its_place(bench, linker):
    need(PROGRAMS[linker])
    alike(bench, linker, SCRIPT_OPERANDS)


@pytest.mark.parametrize("linker", ["bfd", "lld14", "lld19"])
def test_what_an_assignment_in_a_group_uses(bench, linker):
    need(PROGRAMS[linker])
    alike(bench, linker, [f"start.o {words}" for words in GROUPS])


@pytest.mark.parametrize("linker", ["bfd", "lld19", "mold"])
def test_links_of_libraries_alone(bench, linker):
    """mold wants an object or an archive, and a file that tells the machine."""
    need(PROGRAMS[linker])
    alike(bench, linker, LIBRARIES_ALONE)


@pytest.mark.parametrize("linker", ["bfd", "lld14", "lld19"])
def test_a_value_is_there_for_a_pattern_in_cxx(bench, linker):
    need(PROGRAMS[linker])
    bench.write("cxx.map", f"V1 {{ {CXX} }};")
    values = ("_ZN2ns1gEi=4", "_ZN2ns1fEv=4")
    alike(bench, linker, [f"-shared x.o --defsym={value} --version-script cxx.map --no-undefined-version {demangled}"
                         for value in values for demangled in ("", "--no-demangle", "--no-demangle --demangle")])


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_a_name_is_there_for_the_first_node_alone(bench, linker, nodes):
    """The plain spelling comes before extern "C++", and a name with a version is there for no extern "C++"."""
    bench.write("nodes.map", nodes + " V3 { };")
    need(PROGRAMS[linker])
    alike(bench, linker, [f"-shared {name}.o --version-script nodes.map --no-undefined-version" for name in ("g", "g-default-v1", "g-v1")])


@every_linker_and_gold
def test_a_librarys_name_that_a_hidden_common_symbol_has(bench, linker):
    """In mold the library's definition wins and what --exclude-libs hides can't be there."""
    assemble_all(bench, {"common-x": ".comm x,8,8"})
    bench.ar("libcommon-x.a", "common-x.o")
    alike(bench, linker, [f"{output} start.o x.so --whole-archive libcommon-x.a {words}" for output in ("", "-shared")
                          for words in ("uses-x.o", "uses-x.o --exclude-libs ALL", "--exclude-libs ALL", "uses-x.o --exclude-libs libcommon-x.a")])


@every_linker_and_gold
def test_objects_for_another_machine(lab, linker):
    """-m says for which machine, else the first object; of GNU ld the program itself."""
    lab.write("wide.s", ".globl _start\n_start: nop\n")
    lab.write("narrow.s", ".globl _start\n_start: nop\n")
    lab.sh("as wide.s -o wide.o; as --32 narrow.s -o narrow.o; as --x32 narrow.s -o x32.o")
    lab.sh("ld.bfd -m elf_i386 -shared narrow.o -o narrow.so")
    lines = [f"{options} {file}" for options in ("-m elf_i386", "-m elf_x86_64", "-r", "-shared") for file in ("wide.o", "narrow.o")]
    lines += ["-m elf_x86_64 x32.o", "-m elf_x86_64 wide.o narrow.so", "-m elf_i386 narrow.o narrow.so", "narrow.o"]
    assert not [wrong for wrong in (differs(lab, linker, line) for line in lines) if wrong]


@every_linker_and_gold
def test_a_script_in_place_of_a_library_for_r(lab, linker):
    """lld 14 takes it: the others look for archives alone."""
    lab.sh("mkdir d; as /dev/null -o a.o; gcc-ar rcs d/libarchive.a a.o; ld.bfd -shared a.o -o d/libreal.so; echo 'INPUT(a.o)' > d/libscript.so")
    lines = [f"-r -Ld -l{name} a.o" for name in ("script", "archive", "real")]
    assert not [wrong for wrong in (differs(lab, linker, line) for line in lines) if wrong]
