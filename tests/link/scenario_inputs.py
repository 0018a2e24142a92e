"""The files that the lines of scenarios.txt name: assembler, archives, shared objects, linker scripts."""

from linkers import assemble_all

OBJECTS = {
    "start": ".globl _start\n.data\n_start: .quad foo",
    "empty": ".globl _start\n.text\n_start: nop",
    "weak-start": ".globl _start\n.weak foo\n.data\n_start: .quad foo",
    "hidden-start": ".globl _start\n.hidden foo\n.data\n_start: .quad foo",
    "protected-start": ".globl _start\n.protected foo\n.data\n_start: .quad foo",
    "bare-foo": ".globl foo\n",
    "weak-live": ".globl _start\n.weak foo\n.text\n_start: .quad foo",
    "dead-foo-reference": '.section .text.dead,"ax"\n.quad foo',
    "start-t": ".globl _start\n.text\n_start: .quad t",
    "needs-nobody": ".globl d\n.data\nd: .quad nobody",
    "foo": ".globl foo\n.text\nfoo: nop",
    "foo2": ".globl foo\n.text\nfoo: nop\n.globl other\nother: nop",
    "weak-foo": ".weak foo\n.text\nfoo: nop",
    "weak-foo2": ".weak foo\n.text\nfoo: nop\nnop",
    "hidden-foo": ".globl foo\n.hidden foo\n.text\nfoo: nop",
    "data-foo": ".globl foo\n.type foo,@object\n.data\nfoo: .quad 0",
    "function-foo": ".globl foo\n.type foo,@function\n.text\nfoo: nop",
    "bar": ".globl bar\n.data\nbar: .quad foo",
    "foo-needs-bar": ".globl foo\n.data\nfoo: .quad bar",
    "plain-bar": ".globl bar\n.text\nbar: nop",
    "start-bar": ".globl _start\n.data\n_start: .quad bar",
    "start-both": ".globl _start\n.data\n_start: .quad bar\n.quad foo",
    "start-fox": ".globl _start\n.data\n_start: .quad fox",
    "versioned-bare": ".globl _start\n.text\n_start: nop\n.symver nobody,nobody@@@V1\n.globl zork\n",
    "none-relocation": ".globl _start\n.text\n_start: nop\n.globl norel\n.reloc 0, R_X86_64_NONE, norel",
    "debug-reference": '.globl _start\n.text\n_start: nop\n.section .debug_info,"",@progbits\n.quad nobody',
    "unallocated-reference": '.globl _start\n.text\n_start: nop\n.section .mine,"",@progbits\n.quad nobody',
    "zork-reference": ".globl _start\n.data\n_start: .quad zork",
    "zork": ".globl zork\n.text\nzork: nop",
    "common8": ".comm foo,8,8",
    "common16": ".comm foo,16,8",
    "group-weak": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: nop',
    "group-more": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: nop\n.globl only_here\nonly_here: nop',
    "group-strong": '.section .text.foo,"axG",@progbits,foo,comdat\n.globl foo\nfoo: nop',
    "group-other": '.section .text.foo,"axG",@progbits,other_key,comdat\n.globl foo\nfoo: nop',
    "group-refers": '.section .text.foo,"axG",@progbits,foo,comdat\n.weak foo\nfoo: .quad nobody',
    "needs-only-here": ".globl _start\n.data\n_start: .quad only_here",
    "linkonce-thunk": '.section .gnu.linkonce.t.__x86.get_pc_thunk.bx,"ax"\n.globl __x86.get_pc_thunk.bx\n.hidden __x86.get_pc_thunk.bx\n'
    "__x86.get_pc_thunk.bx: nop",
    "linkonce-thunk-cx": '.section .gnu.linkonce.t.__x86.get_pc_thunk.cx,"ax"\n.globl __x86.get_pc_thunk.cx\n.hidden __x86.get_pc_thunk.cx\n'
    "__x86.get_pc_thunk.cx: nop",
    "linkonce-thunk-i686": '.section .gnu.linkonce.t.__i686.get_pc_thunk.bx,"ax"\n.globl __i686.get_pc_thunk.bx\n.hidden __i686.get_pc_thunk.bx\n'
    "__i686.get_pc_thunk.bx: nop",
    "uses-thunks": ".globl _start\n.data\n_start: .quad __x86.get_pc_thunk.bx",
    "thunk": ".globl __x86.get_pc_thunk.bx\n.hidden __x86.get_pc_thunk.bx\n.text\n__x86.get_pc_thunk.bx: nop",
    "absolute0": ".globl foo\nfoo=0",
    "absolute5": ".globl foo\nfoo=5",
    "absolute6": ".globl foo\nfoo=6",
    "ifunc": ".globl foo\n.type foo,@gnu_indirect_function\n.text\nfoo: ret",
    "unique": ".globl foo\n.type foo,@gnu_unique_object\n.data\nfoo: .quad 1",
    "string-foo": '.globl foo\n.section .rodata.str1.1,"aMS",@progbits,1\nfoo: .asciz "x"',
    "constant-foo": '.globl foo\n.section .rodata.cst8,"aM",@progbits,8\nfoo: .quad 1',
    "excluded": '.globl foo\n.section .text.x,"axe"\nfoo: nop',
    "wrap": ".globl _start\n.data\n_start: .quad foo\n.quad __real_foo",
    "wrap-foo": ".globl __wrap_foo\n.text\n__wrap_foo: nop",
    "wrap-foo-and-real": ".globl __wrap_foo\n.data\n__wrap_foo: .quad __real_foo",
    "wrap-itself": ".globl _start,foo\n.data\n_start: .quad foo\nfoo: nop",
    "real-foo": ".globl zz\n.data\nzz: .quad __real_foo",
    "linker-names": ".globl _start\n.data\n_start: .quad _end\n.quad end\n.quad __bss_start\n.quad _edata\n.quad edata\n.quad etext\n"
    ".quad __executable_start\n.quad _GLOBAL_OFFSET_TABLE_\n.quad __ehdr_start\n.quad __init_array_start\n.quad __start_sec\n"
    '.quad __stop_sec\n.quad __rela_iplt_start\n.section sec,"aw"\n.quad 0',
    "no-such-section": ".globl _start\n.data\n_start: .quad __start_nosec",
    "only-here": ".globl only_here\n.text\nonly_here: nop",
    "start-common": ".globl _start\n.weak zork\n.data\n_start: .quad common\n.quad zork",
    "data-zork": ".globl zork\n.data\nzork: .quad 0",
    "commons": ".comm common,8,8\n.comm zork,8,8",
    "own-end": ".globl _start,_end\n.data\n_start: .quad _end\n_end: nop",
    "dso-handle": ".globl _start\n.data\n_start: .quad __dso_handle",
    "dead-reference": '.globl _start\n.text\n_start: nop\n.section .text.dead,"ax"\n.quad foo\n.quad nobody',
    "dead-reference-foo": '.globl _start\n.text\n_start: nop\n.section .text.dead,"ax"\n.quad foo',
    "dead-m1": ".globl foo,m1\n.data\nfoo: .quad 0\nm1: .quad 0",
    "live-m1": ".globl m1\n.data\nm1: .quad 0",
    "needs-s": ".globl r\n.data\nr: .quad s",
    "has-s": ".globl s\n.data\ns: .quad 0",
    "foo-default-v2": ".globl foo_k\n.symver foo_k,foo@@V2\n.text\nfoo_k: nop",
    "foo-default-v2-again": ".globl foo_q\n.symver foo_q,foo@@V2\n.text\nfoo_q: nop",
    "foo-default-v1": ".globl foo_p\n.symver foo_p,foo@@V1\n.text\nfoo_p: nop",
    "weak-default-v1": ".weak foo_w\n.symver foo_w,foo@@V1\n.text\nfoo_w: nop",
    "foo-v1": ".globl foo_j\n.symver foo_j,foo@V1\n.text\nfoo_j: nop",
    "foo-v2": ".globl foo_r\n.symver foo_r,foo@V2\n.text\nfoo_r: nop",
    "foo-v1-v2": ".globl foo_1,foo_2\n.text\n.symver foo_1,foo@V1\n.symver foo_2,foo@@V2\nfoo_1: nop\nfoo_2: nop",
    "start-v1": ".globl _start\n.symver foo,foo@V1\n.data\n_start: .quad foo",
    "start-v2": ".globl _start\n.symver foo,foo@V2\n.data\n_start: .quad foo",
    "tls-foo": '.globl foo\n.type foo,@object\n.section .tdata,"awT",@progbits\nfoo: .quad 0\n.size foo,8',
    "tls-foo-v1": '.globl foo_t\n.type foo_t,@object\n.symver foo_t,foo@@V1\n.section .tdata,"awT",@progbits\nfoo_t: .quad 0\n.size foo_t,8',
    "start-got": ".globl _start\n.text\n_start: mov foo@GOTPCREL(%rip),%rax",
    "start-tls": ".globl _start\n.text\n_start: mov foo@GOTTPOFF(%rip),%rax",
    "start-pc32": ".globl _start\n.text\n_start: mov foo(%rip),%eax",
    "start-pc32-hidden": ".globl _start\n.hidden foo\n.text\n_start: mov foo(%rip),%eax",
    "start-address": ".globl _start\n.text\n_start: mov $foo,%eax",
    "start-rodata": ".globl _start\n.text\n_start: nop\n.section .rodata\n.quad foo",
    "start-call": ".globl _start\n.text\n_start: call foo@PLT",
    "common-hidden": ".globl _start\n.comm foo,8,8\n.hidden foo\n.text\n_start: mov foo(%rip),%eax",
    "common-hidden-unused": ".globl _start\n.comm foo,8,8\n.hidden foo\n.text\n_start: nop",
    "common-protected": ".globl _start\n.comm foo,8,8\n.protected foo\n.text\n_start: mov foo(%rip),%eax",
    "loose-v1": ".symver foo,foo@V1\n.data\n.quad foo",
    "start-v9": ".globl _start\n.symver foo,foo@V9\n.data\n_start: .quad foo",
}
ARCHIVES = {
    "libfoo.a": "foo.o",
    "libfoo2.a": "foo2.o",
    "libweak.a": "weak-foo.o",
    "libbar.a": "bar.o",
    "libfoobar.a": "foo-needs-bar.o",
    "libplainbar.a": "plain-bar.o",
    "libboth.a": "bar.o foo-needs-bar.o",
    "libtwo.a": "foo.o foo2.o",
    "libwrap.a": "wrap-foo.o",
    "libwrapreal.a": "wrap-foo-and-real.o",
    "libreal.a": "real-foo.o",
    "libcommon.a": "common8.o",
    "libdata.a": "data-foo.o",
    "libfunction.a": "function-foo.o",
    "libgroup.a": "group-weak.o",
    "libstart.a": "start.o",
    "libzork.a": "zork.o",
    "libv2.a": "foo-default-v2.o",
    "libdead.a": "dead-m1.o",
    "liborder.a": "needs-s.o has-s.o",
    "liborder2.a": "has-s.o needs-s.o",
    "libhidden.a": "hidden-foo.o",
    "libonlyhere.a": "only-here.o",
    "libcommons.a": "data-zork.o commons.o",
}
SHARED = {
    "shared-foo.so": "foo.o",
    "shared-weak.so": "weak-foo.o",
    "shared-bar.so": "plain-bar.o",
    "shared-needs-foo.so": "bar.o",
    "shared-versions.so": "--version-script=v.map foo-v1-v2.o",
    "shared-foo-v1.so": "--version-script=v1.map foo.o",
    "shared-indirect.so": "bar.o shared-foo.so",
    "shared-absolute5.so": "absolute5.o",
    "shared-needs-real-foo.so": "real-foo.o",
    "shared-tls.so": "tls-foo.o",
    "shared-tls-v1.so": "--version-script=v1.map tls-foo.o",
    "shared-data.so": "data-foo.o",
    "shared-absolute5-v1.so": "--version-script=v1.map absolute5.o",
    "shared-data-v1.so": "--version-script=v1.map data-foo.o",
}
SCRIPTS = {
    "input.ld": "INPUT(foo.o)\n",
    "group.ld": "/* a comment */ GROUP(libbar.a libfoobar.a)\n",
    "needed.ld": "GROUP(libfoo.a AS_NEEDED(shared-bar.so))\n",
    "libscript.so": "/* GNU ld script */ INPUT(-lfoo)\n",
    "assign.ld": "foo = 0x10;\n",
    "provide.ld": "PROVIDE(foo = 0x10);\n",
    "extern.ld": "EXTERN(foo)\n",
    "extern-last.ld": "INPUT(libfoo.a)\nEXTERN(foo)\n",
    "words": "start.o 'foo.o'\n",
    "more-words": "@words foo2.o\n",
    "backslash-words": "start.o fo\\o.o\n",
    "v.map": "V1 { global: foo; };\nV2 { global: foo; } V1;\n",
    "v1.map": "V1 { global: foo; local: *; };\n",
    "foo.list": "{ foo; };\n",
    "hide.map": "{ local: *; };\n",
    "elf32.ld": "OUTPUT_FORMAT(elf32-i386)\nINPUT(libfoo.a)\n",
    "versions.ld": "VERSION { V1 { global: foo; }; /* } */ V2 { } V1; }\n",
}


def make_bench(lab):
    """Makes every file that a line names."""
    for name, text in SCRIPTS.items():
        lab.write(name, text)
    assemble_all(lab, OBJECTS | {"start-bar-only": ".globl only\n.data\nonly: .quad foo"})
    lab.sh("objcopy --remove-relocations=.data zork-reference.o bare-zork.o")
    lab.sh("\n".join(f"gcc-ar rcD {name} {members} || exit" for name, members in (ARCHIVES | {"libgroupmore.a": "group-more.o"}).items()))
    lab.sh("\n".join(f"ld.bfd -shared -soname {name} {members} -o {name} || exit" for name, members in SHARED.items()))
    lab.sh("gcc-ar rcT thin.a foo.o; gcc-ar rcD empty.a; gcc-ar rcSD no-index.a foo.o")
    lab.sh("mkdir -p d; cp foo2.o d/foo.o; gcc-ar qcD same.a foo.o; gcc-ar qD same.a d/foo.o; gcc-ranlib same.a")
    lab.sh("gcc-ar rcT thin-of-archive.a libfoo.a; gcc-ar rcT thin-of-thin.a thin.a")
    lab.sh("ld.bfd -pie -E start.o foo.o -o pie; ld.bfd start.o foo.o -o program; ld.bfd -pie -E --no-dynamic-linker start.o foo.o -o static-pie")
    lab.sh("mkdir -p rpath; cp shared-foo.so rpath; ld.bfd -shared -soname shared-near.so bar.o rpath/shared-foo.so -o rpath/shared-near.so")
    lab.sh("ld.bfd -shared -soname shared-beside.so bar.o rpath/shared-foo.so -o shared-beside.so")
    lab.write("foreign.s", ".globl foo\nfoo: nop")
    lab.sh("as --32 foreign.s -o foreign.o; ar rcD foreign.a foreign.o; rm foreign.o")
    lab.sh(": > nothing.o; : > libnothing.so")
    lab.sh("echo text > text.txt; gcc-ar rcD with-text.a text.txt foo.o; gcc-ar rcD nested.a libfoo.a")
    index = (lab.path / "libfoo.a").read_bytes()
    (lab.path / "stale.a").write_bytes(index.replace(b"foo\0", b"fox\0", 1))  # the index lies: the member defines foo
