"""Shared objects that other shared objects of a link need: what takes part because of it, and what is missing."""

import shlex

import pytest

from elfaudit_test import Lab, need
from linkers import agree, assemble_all, differs, every_linker, every_linker_and_gold

need("gcc", "ld.bfd")

LIBRARIES = {
    "libbar.so": ("int fn2(void) { return 1; }", ""),
    "libbaz.so": ("int fn2(void); int fn3(void) { return fn2(); }", "-L. -lbar"),
    "libtop.so": ("int fn3(void); int fn4(void) { return fn3(); }", "-L. -lbaz"),
    "libghost.so": ("int nobody(void); int fn2(void); int ghost(void) { return nobody() + fn2(); }", "-L. -lbar"),
    "other/libbar.so": ("int fn9(void) { return 9; }", "-Wl,-soname,libbar.so"),
    "libodd.so": ("int odd(void) { return 1; }", "-Wl,-soname,libeven.so.3"),
    "libneedsodd.so": ("int odd(void); int uses(void) { return odd(); }", "-L. -lodd"),
}
OBJECTS = {
    "main.o": "int fn3(void); int main(void) { return fn3(); }",
    "top.o": "int fn4(void); int main(void) { return fn4(); }",
    "both.o": "int fn3(void); int fn2(void); int main(void) { return fn3() + fn2(); }",
    "ghost.o": "int ghost(void); int main(void) { return ghost(); }",
    "uses.o": "int uses(void); int main(void) { return uses(); }",
    "weak.o": "int fn3(void); __attribute__((weak)) int fn2(void); int main(void) { return fn2 ? fn3() : 0; }",
}
LINKS = [
    "main.o -lbaz -lbar",
    "main.o -lbar -lbaz",
    "main.o ./libbaz.so ./libbar.so",
    "main.o -lbaz",
    "main.o -lbaz -Wl,-rpath-link,.",
    "top.o -ltop -lbaz -lbar",
    "top.o -lbar -lbaz -ltop",
    "top.o -ltop -lbar",
    "top.o -ltop -lbar -Wl,-rpath-link,.",
    "both.o -lbaz -Wl,-rpath-link,.",
    "both.o -lbaz -lbar",
    "ghost.o -lghost -lbar",
    "ghost.o -lghost",
    "uses.o -lneedsodd -lodd",
    "uses.o -lneedsodd ./libodd.so",
    "uses.o -lneedsodd -Wl,-rpath-link,.",
    "main.o -lbaz other/libbar.so",
    "main.o -lbaz other/libbar.so -lbar",
    "main.o -lbaz -lbar other/libbar.so",
    "weak.o -lbaz -lbar",
    "weak.o -lbaz -Wl,-rpath-link,.",
    "-shared -fPIC main.o -lbaz",
    "-shared -fPIC -Wl,--no-allow-shlib-undefined main.o -lbaz -lbar",
    "-shared -fPIC -Wl,--no-allow-shlib-undefined both.o -lbaz -Wl,-rpath-link,.",
    "both.o -lbaz -Wl,-rpath-link,. -Wl,--unresolved-symbols=ignore-all",
    "both.o -lbaz -Wl,-rpath-link,. -Wl,--warn-unresolved-symbols",
    "main.o -lbaz -Wl,--fatal-warnings",
    "main.o -lbaz -Wl,--fatal-warnings -Wl,-rpath-link,.",
    "-shared -fPIC main.o -lbaz -Wl,--fatal-warnings",
    "-shared -fPIC main.o -lbaz -Wl,--fatal-warnings -Wl,--no-allow-shlib-undefined",
]
DRIVERS = {"bfd": "gcc -fuse-ld=bfd", "gold": "gcc -fuse-ld=gold", "lld14": "gcc -fuse-ld=lld", "mold": "gcc -fuse-ld=mold"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("needed"))
    lab.sh("mkdir other")
    for name, (source, words) in LIBRARIES.items():
        soname = "" if "-soname" in words else f"-Wl,-soname,{name}"
        lab.write("source.c", source)
        lab.sh(f"gcc -fuse-ld=bfd -shared -fPIC -Wl,--no-as-needed source.c -o {name} {soname} {words} 2>&1")
    for name, source in OBJECTS.items():
        lab.cc(name, source, "gcc -fPIC")
    return lab


@pytest.mark.parametrize("as_needed", ["--as-needed", "--no-as-needed"])
@pytest.mark.parametrize("words", LINKS)
@pytest.mark.parametrize("linker", list(DRIVERS))
def test_the_linker_agrees(bench, linker, words, as_needed):
    """With the compiler's own line: Debian's gcc says --as-needed for everything that the user names."""
    need("ld." + DRIVERS[linker].partition("=")[2])
    command = f"{DRIVERS[linker]} -Wl,{as_needed} -L. {words} -o out"
    real = bench.sh(command, check=False)
    ours = bench.audit("check", "--format", "json", "--", *command.split())
    assert ours.code == min(real.code, 1), f"{command}\n{real.err}\n{ours.out}"
    missing = [name for name in ours.json()["undefined"] if name not in real.err]
    assert not missing, f"{command}\n{real.err}\n{missing}"


def test_no_option_lets_a_library_be_missing_on_the_line(bench):
    """Of what a library of a library defines."""
    options = "--unresolved-symbols=ignore-in-object-files"
    theirs = bench.sh(f"gcc -fuse-ld=bfd -L. both.o -lbaz -Wl,-rpath-link,. -Wl,{options} -o out", check=False)
    ours = bench.audit("check", "--", "gcc", "-fuse-ld=bfd", "-L.", "both.o", "-lbaz", "-Wl,-rpath-link,.", f"-Wl,{options}", "-o", "out")
    assert "DSO missing" in theirs.err and ours.code == 1, f"{theirs}\n{ours}"


def test_a_dropped_library_is_not_said_to_stand_too_early(bench):
    """--as-needed drops libbar.so, which comes after libghost.so and is loaded because that one needs it."""
    result = bench.audit("check", "--", "gcc", "-fuse-ld=bfd", "-Wl,--as-needed", "ghost.o", "-L.", "-lghost", "-lbar", "-o", "out")
    assert result.code == 1 and "nobody is needed by a shared object" in result.out and "too early" not in result.out, result


def test_no_word_of_a_relocation_is_asked_where_a_library_is_missing_on_the_line(bench):
    """GNU ld refuses a name that only a library of a library defines before it relaxes the call of __tls_get_addr."""
    bench.write("thread.s", ".globl _start\n_start: call __tls_get_addr@PLT\n.section .note.GNU-stack\n")
    bench.sh("as thread.s -o thread.o")
    bench.sh("echo 'void *__tls_get_addr(void *p) { return p; }' | gcc -shared -fPIC -nostdlib -xc - -o libtls.so -Wl,-soname,libtls.so")
    bench.sh("echo 'void *__tls_get_addr(void *); void *f(void) { return __tls_get_addr(0); }' | "
             "gcc -shared -fPIC -nostdlib -xc - -o libusestls.so -Wl,--no-as-needed -L. -ltls")
    theirs = agree(bench, "bfd", "thread.o --no-as-needed libusestls.so -rpath-link .")
    assert theirs.undefined == {"__tls_get_addr"}


@every_linker_and_gold
def test_the_call_for_a_thread_local_variable_of_a_library(bench, linker):
    """mold alone keeps it."""
    bench.write("variable.s", '.globl v\n.section .tdata,"awT",@progbits\n.type v, @object\nv: .quad 1\n.size v, 8\n')
    bench.write("general.s", ".globl _start\n_start: .byte 0x66\nleaq v@tlsgd(%rip), %rdi\n.word 0x6666\nrex64\ncall __tls_get_addr@PLT\n")
    bench.sh("as variable.s -o variable.o; as general.s -o general.o; ld.bfd -shared variable.o -o libvariable.so")
    assert not differs(bench, linker, "general.o libvariable.so")
    assert not differs(bench, linker, "general.o variable.o libvariable.so")


@every_linker
def test_a_hidden_definition_that_gc_sections_removes(bench, linker):
    """What is not in the output is not refused for being hidden."""
    for name, text in {
        "start": ".globl _start\n_start: nop",
        "keeps": '.globl _start\n_start: .quad x1',
        "hidden": '.globl x1\n.hidden x1\n.section .text.x1,"ax"\nx1: nop',
        "wants": '.globl w\n.data\nw: .quad x1',
    }.items():
        bench.write(name + ".s", text + '\n.section .note.GNU-stack,"",@progbits\n')
        bench.sh(f"as {name}.s -o {name}.o")
    bench.sh("ld.bfd -shared wants.o -soname libwants.so -o libwants.so")
    agree(bench, linker, "--gc-sections start.o libwants.so hidden.o")
    agree(bench, linker, "--gc-sections keeps.o libwants.so hidden.o")
    agree(bench, linker, "start.o libwants.so hidden.o")


@every_linker
def test_a_second_definition_that_is_hidden(bench, linker):
    """GNU ld does not look at the visibility of a strong definition that it refuses, or ignores."""
    for name, text in {
        "first": ".globl _start,x1\n.data\n_start:\nx1: .quad 0",
        "hidden-second": ".globl x1\n.hidden x1\n.data\nx1: .quad 0",
        "hidden-weak": ".weak x1\n.hidden x1\n.data\nx1: .quad 0",
        "wants-x1": ".globl w\n.data\nw: .quad x1",
    }.items():
        bench.write(name + ".s", text + '\n.section .note.GNU-stack,"",@progbits\n')
        bench.sh(f"as {name}.s -o {name}.o")
    bench.sh("ld.bfd -shared wants-x1.o -soname libwx1.so -o libwx1.so")
    for words in ("first.o hidden-second.o", "hidden-second.o first.o", "-z muldefs first.o hidden-second.o", "first.o hidden-weak.o"):
        agree(bench, linker, words + " libwx1.so")


SYSROOT_CONFIGURATIONS = {
    "names it": {"etc/ld.so.conf": "/conf"},
    "includes what names it": {"etc/ld.so.conf": "include ld.so.conf.d/*.conf", "etc/ld.so.conf.d/a.conf": "/conf"},
    "has a type": {"etc/ld.so.conf": "hwcap 0 nosegneg\n/conf=libc6"},
    "is not there": {},
}


@pytest.mark.parametrize("said", SYSROOT_CONFIGURATIONS)
def test_libraries_below_the_sysroot(lab, said):
    """DT_RUNPATH and ld.so.conf name directories below it."""
    lab.sh("mkdir -p root/opt/deep root/conf root/etc/ld.so.conf.d")
    for path, text in SYSROOT_CONFIGURATIONS[said].items():
        lab.write("root/" + path, text + "\n")
    shared = "gcc -shared -fPIC -nostdlib -xc - -Wl,--no-as-needed"
    lab.sh(f"echo 'int deep(void) {{ return 1; }}' | {shared} -Wl,-soname,libdeep.so -o root/opt/deep/libdeep.so")
    lab.sh(f"echo 'int conf(void) {{ return 1; }}' | {shared} -Wl,-soname,libconf.so -o root/conf/libconf.so")
    lab.sh("echo 'int deep(void); int conf(void); int mid(void) { return deep() + conf(); }' | "
           f"{shared} -Wl,-rpath,/opt/deep -Lroot/opt/deep -Lroot/conf -ldeep -lconf -o libmid.so")
    lab.cc("start.o", "int mid(void); void _start(void) { mid(); }", "gcc")
    theirs = agree(lab, "bfd", f"--sysroot={lab.path / 'root'} start.o libmid.so")
    assert theirs.undefined == (set() if SYSROOT_CONFIGURATIONS[said] else {"conf"})


def test_a_configuration_that_includes_itself(lab):
    """GNU ld does not come to an end there."""
    lab.write("root/etc/ld.so.conf", "include ld.so.conf\n" * 9 + "/conf\n")
    lab.sh("mkdir root/conf")
    shared = "gcc -shared -fPIC -nostdlib -xc - -Wl,--no-as-needed"
    lab.sh(f"echo 'int conf(void) {{ return 1; }}' | {shared} -Wl,-soname,libconf.so -o root/conf/libconf.so")
    lab.sh(f"echo 'int conf(void); int mid(void) {{ return conf(); }}' | {shared} -Lroot/conf -lconf -o libmid.so")
    lab.cc("start.o", "int mid(void); void _start(void) { mid(); }", "gcc")
    assert lab.audit("check", "--", "ld.bfd", "--sysroot=root", "start.o", "libmid.so").code == 0
    lab.sh("rm root/conf/libconf.so")
    assert lab.audit("check", "--", "ld.bfd", "--sysroot=root", "start.o", "libmid.so").code == 1


def test_what_a_loaded_library_keeps_is_judged(lab):
    """--gc-sections keeps what a library of a library refers to; its relocations count."""
    lab.sh("echo 'int back(void); int deep(void) { return back(); }' | gcc -shared -fPIC -nostdlib -xc - -Wl,-soname,libdeep.so -o libdeep.so")
    lab.sh("echo 'int deep(void); int mid(void) { return deep(); }' | gcc -shared -fPIC -nostdlib -xc - -Wl,--no-as-needed -L. -ldeep -o libmid.so")
    lab.write("a.s", '.globl _start, back\n_start: call mid@PLT\n.section .text.back, "ax"\nback: mov $back, %eax\n'
                     '.section .note.GNU-stack, "", @progbits\n')
    lab.sh("as a.s -o a.o")
    for keeps in ("-rpath-link .", ""):
        command = f"ld.bfd -pie --gc-sections a.o libmid.so {keeps} -o out"
        linked = lab.sh(command, check=False)
        ours = lab.audit("check", "--format", "json", "--", *command.split()).json()
        assert ("R_X86_64_32" in linked.err) == any(f["rule"] == "relocation-not-pic" for f in ours["findings"]), linked


def test_what_a_loaded_library_needs_is_exported_and_strong(lab):
    """Its reference makes a weak one strong, and a definition that it needs must not be hidden."""
    assemble_all(lab, {
        "leaf": ".globl leaf\n.data\nleaf: .quad 0", "twig": ".globl twig\n.data\ntwig: .quad leaf", "bough": ".globl bough\nbough: call twig@plt",
        "start": ".globl _start\n_start: call bough@plt", "weak": ".globl _start\n.weak leaf\n_start: call bough@plt\n.quad leaf",
        "hidden": ".globl leaf\n.hidden leaf\n.data\nleaf: .quad 0",
    })
    lab.sh("ld.bfd -shared leaf.o -soname libleaf.so -o libleaf.so; ld.bfd -shared twig.o libleaf.so -soname libtwig.so -o libtwig.so; "
           "ld.bfd -shared bough.o libtwig.so -soname libbough.so -o libbough.so; mkdir alone; cp libtwig.so alone")
    for search in ("-rpath-link alone libbough.so", "--as-needed libbough.so libtwig.so", "-rpath-link . libbough.so", "libbough.so libtwig.so"):
        for objects in ("start.o", "weak.o", "start.o hidden.o", "weak.o hidden.o", "--gc-sections weak.o", "-shared weak.o", "-pie weak.o"):
            agree(lab, "bfd", f"{objects} {search}")
    told = lab.audit("check", "--", "ld.bfd", "start.o", "hidden.o", "libbough.so", "-rpath-link", "alone", "-o", "out").out
    assert "leaf is hidden, and needed by alone/libtwig.so, which a shared object of the link needs" in told, told


# ---- What an object asks of a library's name: it matters how it reaches for it, and what else defines it

ASKED = {
    "call": "call f@PLT",
    "call in a group": '.section .text.g,"axG",@progbits,g,comdat\n.weak g\ng: call f@PLT',
    "got": "mov v@GOTPCREL(%rip), %rax",
    "got-and-address": "mov v@GOTPCREL(%rip), %rax\nlea v(%rip), %rax",
    "address of a function": "lea f(%rip), %rax",
    "value": "mov v(%rip), %rax",
    "in data": ".data\n.quad v, f",
    "in constants": ".section .rodata\n.quad v, f",
    "small": ".data\n.long v",
    "hidden": ".hidden f\ncall f@PLT",
    "protected": "mov p@GOTPCREL(%rip), %rax",
    "protected value": "mov p(%rip), %rax",
    "weak": ".weak f\n.data\n.quad f",
    "older version": "call o@PLT",
    "absolute": "mov a@GOTPCREL(%rip), %rax",
    "thread-local": "mov t@GOTTPOFF(%rip), %rax",
    "thread-local, but not here": "mov t@GOTPCREL(%rip), %rax",
}
LIBRARY = """.globl f, v, p, o1, a, t
.protected p
f: ret
o1: ret
.symver o1, o@V1
a = 5
.type v,%object
.size v,8
.type p,%object
.size p,8
.data
v: .quad 0
p: .quad 0
.section .tdata,"awT",@progbits
.type t,%object
.size t,8
t: .quad 0"""
LINES = ["-pie {} lib.so", "{} lib.so", "-pie lib.so {}", "-pie --as-needed lib.so {}", "-pie -z text {} lib.so", "-pie -z nocopyreloc {} lib.so",
         "-pie {} lib.so second.so", "-pie {} lib.a lib.so", "-pie {} lib.so lib.a", "-pie call.o {} lib.so", "-pie {} plain.o lib.so",
         "-pie {} uses.so lib.so", "-pie {} lib.so lib.so", "-pie --as-needed lib.so {} lib.so", "-pie needs.o call.a lib.so", "--as-needed {} needy.so",
         "-pie --as-needed {} needy.so"]  # fmt: skip


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("asking"))
    plain = ".globl f, v\nf: ret\n.data\nv: .quad 0"
    assemble_all(lab, {name.replace(" ", "-"): ".globl _start\n_start: nop\n" + text for name, text in ASKED.items()})
    assemble_all(lab, {"lib": LIBRARY, "plain": plain, "member": ".globl f\nf: ret", "uses": ".globl u\nu: call f@PLT",
                       "needs": ".globl _start\n_start: call m@PLT", "m": ".globl m\nm: call f@PLT\nmov v@GOTPCREL(%rip), %rax"})
    lab.write("v.map", "V1 { o; };\n")
    lab.sh("ld.bfd -shared lib.o -soname lib.so --version-script=v.map -o lib.so && ld.bfd -shared plain.o -soname second.so -o second.so")
    lab.sh("ld.bfd -shared uses.o -soname uses.so -o uses.so && gcc-ar rcs lib.a member.o && gcc-ar rcs call.a m.o")
    lab.sh("ld.bfd -shared plain.o needs.o -soname needy.so -o needy.so")
    return lab


@pytest.mark.parametrize("asked", ASKED)
@every_linker_and_gold
def test_how_an_object_reaches_for_what_a_library_defines(asking, linker, asked):
    lines = [line.format(asked.replace(" ", "-") + ".o") for line in LINES]
    assert not [differs(asking, linker, line) for line in lines if differs(asking, linker, line)]


@pytest.mark.parametrize("words", [
    "env LD_LIBRARY_PATH=lib ld", "env LD_RUN_PATH=lib ld", "LD_RUN_PATH=lib ld", "env LD_RUN_PATH=lib ld -rpath /nowhere",
    "env LD_LIBRARY_PATH=lib ld -rpath /nowhere", "env -i LD_LIBRARY_PATH=/nowhere:lib ld", "env LD_LIBRARY_PATH=lib env -u LD_LIBRARY_PATH ld",
    "env LD_LIBRARY_PATH=$ORIGIN/lib ld", "env LD_RUN_PATH=$ORIGIN ld", "ld",
])  # fmt: skip
def test_folders_of_the_environment_that_the_command_sets(lab, words):
    assemble_all(lab, {"low": ".globl low\nlow: ret", "user": ".globl mid\nmid: call low@plt", "start": ".globl _start\n_start: call mid@plt"})
    lab.sh("mkdir lib; ld -shared low.o -o lib/liblow.so -soname liblow.so; ld -shared user.o lib/liblow.so -o libuser.so")
    command = [*words.split(), "start.o", "libuser.so", "-o", "out"]
    linked = lab.sh(shlex.join(command), check=False).code == 0
    assert lab.audit("check", "--", *command).code == (0 if linked else 1)


@pytest.mark.parametrize("folder, cause, fix", [
    ("b", "a/liby.so needs libx.so.1, which GNU ld does not find: b/libx.so.1 defines it", "add -Wl,-rpath-link,b"),
    ("elsewhere/far", "a/liby.so needs libx.so.1, which GNU ld does not find", "add -Wl,-rpath-link,DIR, where DIR is the folder of libx.so.1"),
])  # fmt: skip
def test_where_a_library_that_another_needs_is(lab, folder, cause, fix):
    lab.sh(f"mkdir -p a {folder}")
    lab.cc("x.o", "int x(void) { return 1; }", "gcc -fPIC")
    lab.cc("y.o", "int x(void); int y(void) { return x(); }", "gcc -fPIC")
    lab.cc("main.o", "int y(void); int main(void) { return y() - 1; }", "gcc")
    lab.sh(f"gcc -shared x.o -o {folder}/libx.so.1 -Wl,-soname,libx.so.1; gcc -shared y.o {folder}/libx.so.1 -o a/liby.so; rm x.o y.o")
    link = ["gcc", "main.o", "-La", "-ly", "-o", "app"]
    [finding] = lab.audit("check", "--format", "json", "--", *link).json()["findings"]
    assert (finding["cause"]["kind"], finding["cause"]["text"]) == ("needed-library-not-found", cause)
    assert [one["text"] for one in finding["fixes"]][0].startswith(fix)
    assert lab.sh(shlex.join(link), check=False).code == 1
    assert lab.sh(shlex.join([*link, f"-Wl,-rpath-link,{folder}"]), check=False).code == 0
