"""Small links of every shape that people have, each held against every linker: what it rejects and what it extracts."""

import re

import pytest

from elfaudit_test import need
from linkers import EVERY, agree, assemble_all, every_linker

need("ld.bfd", "as", "ar")

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
    "hide.map": "{ local: *; };\n",
    "versions.ld": "VERSION { V1 { global: foo; }; /* } */ V2 { } V1; }\n",
}

# A line; behind "#" the linkers that it is for, where it is not for all, and why.
SCENARIOS = """
    start.o
    start.o foo.o
    start.o foo.o foo2.o
    empty.o foo.o foo.o
    empty.o foo.o foo2.o foo.o
    start.o foo-needs-bar.o foo.o
    -u a1 start.o foo-needs-bar.o foo.o foo2.o
    versioned-bare.o
    none-relocation.o
    debug-reference.o
    unallocated-reference.o
    bare-zork.o
    bare-zork.o libzork.a
    -r start.o
    -r foo.o foo2.o
    -r start.o libfoo.a
    -r start.o libfoo.a foo2.o
    -shared start.o
    -shared -z defs start.o
    -shared --no-undefined start.o
    -shared --unresolved-symbols=report-all start.o
    -shared -z defs bare-zork.o
    libfoo.a start.o
    start.o libfoo.a
    libfoo.a start.o weak-foo.o
    libstart.a libfoo.a # not lld14: it takes the machine from objects only
    libstart.a start.o libfoo.a
    start.o libfoobar.a libbar.a
    start.o libbar.a libfoobar.a
    start.o --start-group libbar.a libfoobar.a --end-group
    start.o -( libbar.a libfoobar.a -)
    start.o --start-group libfoo.a # not lld14 lld19: unterminated
    start.o libboth.a
    start.o libtwo.a
    -u other start.o libfoo.a libfoo2.a
    empty.o --whole-archive libfoo.a libfoo.a --no-whole-archive
    start.o libfoo.a --whole-archive libfoo.a --no-whole-archive
    start.o --whole-archive libfoo.a --no-whole-archive libfoo.a
    start.o --push-state --whole-archive libfoo.a --pop-state libfoo2.a
    start.o libfoo.a libfoo.a
    empty.o liborder.a --whole-archive liborder.a
    empty.o liborder2.a --whole-archive liborder2.a
    empty.o --whole-archive same.a
    start.o foo.o libfoo.a
    start.o empty.a libfoo.a
    start.o with-text.a
    start.o no-index.a # not bfd: it gives up
    start.o foo2.o no-index.a # not bfd
    --whole-archive with-text.a --no-whole-archive start.o # mold: the others give up
    start.o nested.a # lld19 mold: the others give up
    start.o stale.a
    start-fox.o stale.a
    start.o thin.a foo2.o # not bfd: it names members of thin archives by their own paths
    start.o --start-lib foo.o --end-lib # not bfd: unknown to it
    start.o foo.o --start-lib foo2.o --end-lib # not bfd
    start.o --start-lib foo.o foo2.o --end-lib # not bfd
    --start-lib foo.o --end-lib start.o foo2.o # not bfd
    weak-start.o --start-lib foo.o --end-lib # not bfd
    start.o --start-lib bar.o foo-needs-bar.o --end-lib foo2.o # not bfd
    empty.o -u foo libfoo.a
    empty.o -u nobody
    -u foo empty.o libweak.a libfoo.a
    empty.o --require-defined=nobody # not lld14 lld19: unknown to them
    -r empty.o --require-defined=nobody # not lld14 lld19
    bare-zork.o --require-defined=zork # not lld14 lld19
    weak-start.o --require-defined=foo # not lld14 lld19
    bar.o --require-defined=nobody # not lld14 lld19
    start.o foo.o foo-v1.o foo-default-v1.o # bfd: its own way
    -shared start.o --require-defined=foo # not lld14 lld19
    empty.o -e nobody
    foo.o -e bar libbar.a
    libbar.a plain-bar.o empty.o foo.o -e bar
    foo.o
    -shared foo.o
    start.o --defsym=foo=4
    start.o foo.o --defsym=foo=4
    start.o foo.o foo2.o --defsym=foo=4
    start.o --defsym=foo=1 --defsym=foo=2
    empty.o --defsym=t=foo libfoo.a
    start.o --defsym=foo=bar libfoo.a libplainbar.a
    empty.o --defsym=foo=nobody # bfd: the others say it in other words
    -shared start.o --defsym=t=foo # bfd: the others say it in other words
    --defsym=foo=4 start.o foo.o foo2.o
    foo.o --defsym=foo=4 foo2.o start.o # bfd: its own way
    start.o libfoo.a --defsym=foo=4 # bfd: its own way
    empty.o libfoo.a --defsym=t=foo # bfd: its own way
    --defsym=foo=bar start.o libfoo.a plain-bar.o # bfd: its own way
    --defsym=foo=4 empty.o common8.o libdata.a # bfd: its own way
    empty.o common8.o --defsym=foo=4 libdata.a # bfd: its own way
    start.o assign.ld libfoo.a # bfd: its own way
    assign.ld start.o libfoo.a # bfd: its own way
    empty.o excluded.o libfoo.a # bfd: its own way
    start.o excluded.o libfoo.a # bfd: its own way
    group-weak.o group-more.o needs-only-here.o libonlyhere.a # bfd: its own way
    start-common.o libcommons.a # bfd: its own way
    empty.o shared-absolute5.so foo.o # bfd: a mistake of its own
    empty.o shared-absolute5.so absolute5.o # bfd: a mistake of its own
    empty.o shared-absolute5.so weak-foo.o # bfd: a mistake of its own
    empty.o foo.o --defsym=foo=4 weak-foo.o # bfd: its own way
    empty.o weak-foo.o --defsym=foo=4 foo.o # bfd: its own way
    empty.o common8.o --defsym=foo=4 foo.o # bfd: its own way
    empty.o common8.o --defsym=foo=4 foo.o foo2.o # bfd: its own way
    weak-start.o --defsym=t=foo # bfd: its own way
    --wrap=foo --defsym=t=foo empty.o libfoo.a # bfd: its own way
    --wrap=foo --defsym=t=__real_foo empty.o libfoo.a # bfd: its own way
    --gc-sections --defsym=t=d empty.o needs-nobody.o
    --gc-sections --defsym=t=d start-t.o needs-nobody.o
    -shared -z defs --gc-sections --defsym=t=d empty.o needs-nobody.o
    --wrap=foo empty.o shared-needs-real-foo.so libfoo.a # bfd: its own way
    --wrap=foo empty.o shared-needs-foo.so foo.o # bfd: its own way
    --wrap=foo wrap.o
    --wrap=foo start.o libfoo.a
    --wrap=foo weak-start.o libfoo.a
    --wrap=foo wrap.o wrap-foo.o foo.o
    --wrap=foo wrap.o libwrap.a libfoo.a
    --wrap=foo start.o libwrapreal.a libfoo.a
    --wrap=foo wrap-itself.o
    --wrap=foo wrap-itself.o libwrap.a
    --wrap=foo empty.o foo.o foo2.o
    --wrap=foo empty.o libfoo.a -u __real_foo
    --wrap=foo empty.o libreal.a
    --wrap=foo empty.o real-foo.o libfoo.a
    --wrap=foo start.o weak-foo.o
    -z muldefs start.o foo.o foo2.o
    -z muldefs -u other start.o libfoo.a libfoo2.a
    --allow-multiple-definition start.o foo.o foo2.o
    --noinhibit-exec start.o foo.o foo2.o
    --noinhibit-exec start.o
    --unresolved-symbols=ignore-all start.o
    --unresolved-symbols=ignore-in-object-files start.o
    --warn-unresolved-symbols start.o
    --unresolved-symbols=ignore-all --warn-unresolved-symbols start.o
    --warn-unresolved-symbols --unresolved-symbols=report-all start.o
    --warn-unresolved-symbols --error-unresolved-symbols start.o
    -z undefs start.o
    -z defs start.o
    --warn-common start.o common8.o common16.o foo.o
    start.o group-strong.o group-strong.o
    start.o group-strong.o group-other.o
    start.o group-strong.o foo.o
    start.o foo.o group-strong.o
    start.o group-weak.o foo.o
    needs-only-here.o group-weak.o group-more.o
    needs-only-here.o group-more.o group-weak.o
    empty.o group-weak.o group-refers.o
    empty.o group-refers.o group-weak.o
    start.o libgroup.a group-more.o
    needs-only-here.o group-weak.o libgroupmore.a
    needs-only-here.o libgroupmore.a group-weak.o
    empty.o linkonce-thunk.o linkonce-thunk.o
    empty.o thunk.o linkonce-thunk.o
    empty.o thunk.o thunk.o
    start.o shared-foo.so
    start.o shared-foo.so libfoo.a
    start.o libfoo.a shared-foo.so
    libfoo.a shared-foo.so start.o
    shared-foo.so libfoo.a start.o
    libfoo.a shared-weak.so start.o
    shared-weak.so libfoo.a start.o
    start.o shared-foo.so foo.o
    start.o shared-foo.so foo.o foo2.o
    start.o shared-foo.so shared-weak.so
    foo.o empty.o shared-needs-foo.so
    empty.o shared-needs-foo.so libfoo.a
    libfoo.a empty.o shared-needs-foo.so
    empty.o --as-needed shared-needs-foo.so libfoo.a
    -shared empty.o shared-needs-foo.so
    --allow-shlib-undefined empty.o shared-needs-foo.so
    start.o shared-weak.so libfoo.a
    start.o --as-needed shared-foo.so
    --as-needed shared-foo.so start.o
    --as-needed shared-foo.so libfoo.a start.o libfoo.a
    --as-needed shared-foo.so libfoo.a start.o
    weak-start.o shared-foo.so
    weak-start.o --as-needed shared-foo.so libfoo.a
    start-bar.o shared-needs-foo.so --as-needed shared-foo.so
    start-both.o shared-indirect.so -rpath-link .
    -shared foo.o shared-foo.so
    start.o --whole-archive -L. -lbar --no-whole-archive foo.o
    hidden-start.o foo.o
    hidden-start.o
    hidden-start.o libfoo.a
    hidden-start.o shared-foo.so
    hidden-start.o shared-foo.so libfoo.a
    hidden-start.o libfoo.a shared-foo.so
    hidden-start.o --as-needed shared-foo.so libfoo.a
    hidden-start.o start-bar-only.o shared-foo.so foo.o
    protected-start.o
    protected-start.o shared-foo.so
    protected-start.o libfoo.a
    empty.o hidden-foo.o hidden-foo.o
    empty.o hidden-foo.o foo.o
    weak-start.o libfoo.a
    weak-start.o bar.o libfoo.a
    libfoo.a weak-start.o bar.o
    weak-start.o bar.o
    bar.o weak-start.o
    -shared -z defs weak-start.o bar.o
    -shared -z defs bar.o weak-start.o
    weak-start.o bare-foo.o
    -u foo weak-start.o # bfd mold
    -u foo empty.o shared-needs-foo.so # bfd mold
    -e foo empty.o shared-needs-foo.so # bfd mold
    --unresolved-symbols=ignore-in-object-files weak-start.o shared-needs-foo.so
    --allow-shlib-undefined weak-start.o shared-needs-foo.so
    --gc-sections weak-live.o dead-foo-reference.o
    --gc-sections -u foo weak-live.o # bfd mold
    start.o weak-foo.o libfoo.a
    start.o weak-foo.o foo.o
    start.o weak-foo.o weak-foo2.o
    start.o libweak.a libfoo.a
    start.o libweak.a foo.o
    start.o libfoo.a foo2.o
    start.o libfoo.a libweak.a weak-foo.o
    start.o input.ld
    start.o foo2.o input.ld
    start.o group.ld
    start.o needed.ld
    start.o -L. -lscript
    start.o assign.ld # not mold: no assignments in its scripts
    start.o foo.o assign.ld # not mold
    start.o provide.ld # not mold
    start.o foo.o provide.ld # not mold
    empty.o extern.ld libfoo.a # not mold
    empty.o libfoo.a extern.ld # not mold
    empty.o extern-last.ld # not mold
    weak-start.o extern.ld libfoo.a # bfd: its own way
    extern.ld weak-start.o # bfd: its own way
    start.o -lfoo -L.
    start.o -L. -l:libfoo.a
    start.o -L. -Bstatic -lfoo
    start.o --library=foo --library-path=. # not mold: it knows -l and -L only
    @words
    @more-words # not mold: it does not look into a response file for another
    @backslash-words
    start.o common8.o common16.o
    start.o common8.o foo.o
    common16.o start.o libcommon.a
    start.o common8.o libfoo.a
    start.o common8.o libdata.a
    empty.o common8.o libdata.a
    start.o common8.o libfunction.a
    libdata.a empty.o common8.o
    start.o common8.o shared-foo.so
    start.o shared-foo.so common8.o
    --fortran-common start.o common8.o libdata.a # lld14 lld19
    --no-fortran-common start.o common8.o libdata.a # lld14 lld19
    start.o absolute0.o absolute0.o
    start.o absolute5.o absolute5.o
    start.o absolute5.o absolute6.o
    start.o ifunc.o foo.o
    start.o unique.o unique.o
    start.o unique.o weak-foo.o
    start.o weak-foo.o unique.o foo.o
    start.o string-foo.o string-foo.o
    start.o constant-foo.o constant-foo.o
    start.o string-foo.o foo.o
    start.o foo.o string-foo.o
    start.o excluded.o
    start.o excluded.o foo.o
    start.o foo.o excluded.o
    linker-names.o
    no-such-section.o
    own-end.o
    dso-handle.o
    dead-reference.o
    --gc-sections dead-reference.o
    --gc-sections dead-reference.o libfoo.a
    --gc-sections empty.o foo.o foo2.o
    --gc-sections -u foo empty.o foo.o foo2.o
    dead-reference-foo.o live-m1.o libdead.a
    --gc-sections dead-reference-foo.o live-m1.o libdead.a
    start-v1.o shared-versions.so
    start-v2.o shared-versions.so
    start-v9.o shared-versions.so
    start.o shared-versions.so
    start-v1.o shared-foo.so
    start-v1.o shared-foo-v1.so
    start-v1.o libfoo.a
    start.o foo-v1.o --version-script=v.map
    start.o foo-default-v2.o --version-script=v.map
    start-v2.o foo-default-v2.o --version-script=v.map
    start.o libv2.a --version-script=v.map
    start-v2.o libv2.a --version-script=v.map
    -shared foo.o foo-default-v2.o --version-script=v.map
    -shared foo-default-v2.o foo.o --version-script=v.map
    -shared foo-v1.o foo-default-v2.o --version-script=v.map
    -shared foo-default-v2.o foo-default-v2-again.o --version-script=v.map
    -shared foo-default-v2.o foo-v2.o --version-script=v.map
    -shared foo-v2.o foo-default-v2.o --version-script=v.map
    -shared foo-v1.o foo-v1.o --version-script=v.map
    -shared foo-v1.o versions.ld # not mold: it warns
    -shared foo-default-v2.o foo-v1.o versions.ld # not mold
    start.o --just-symbols=foo.o foo2.o # bfd: unknown to mold, and a duplicate in lld
    start.o foo2.o --just-symbols=foo.o # bfd
    start.o foo-default-v1.o foo-default-v2.o
    start.o weak-default-v1.o foo-default-v2.o
    start.o foo-default-v2.o weak-default-v1.o
    start.o foo.o foo-default-v2.o
    start.o foo.o foo-default-v1.o --version-script=v.map
    start.o foo.o foo-default-v2.o --version-script=v.map
    start.o weak-foo.o foo-default-v2.o foo.o
    start.o foo.o weak-default-v1.o
    start.o shared-versions.so foo.o foo2.o
    -shared shared-versions.so hidden-start.o bar.o
    empty.o common8.o shared-versions.so libdata.a
    --exclude-libs ALL start.o libfoo.a
    --exclude-libs ALL empty.o foo.o --whole-archive libfoo.a
    --exclude-libs libfoo.a -shared empty.o foo.o libfoo.a
    empty.o foo.o shared-needs-foo.so --version-script=hide.map
    empty.o hidden-foo.o shared-needs-foo.so
    empty.o foo.o -b binary text.txt # bfd: the others are without -b binary on a second file
"""
CASES = [[part.strip() for part in line.split("#")] + [""] for line in SCENARIOS.split("\n") if line.strip()]


def linkers_for(restriction):
    """ "not bfd lld14: why", "mold: why", ""  """
    names = set(re.findall(r"\w+", restriction.split(":")[0]))
    chosen = {linker for linker in EVERY if linker in names}
    return set(EVERY) - chosen if "not" in names or not chosen else chosen


def make_bench(lab):
    """Makes every file that a line names."""
    for name, text in SCRIPTS.items():
        lab.write(name, text)
    assemble_all(lab, OBJECTS | {"start-bar-only": ".globl only\n.data\nonly: .quad foo"})
    lab.sh("objcopy --remove-relocations=.data zork-reference.o bare-zork.o")
    lab.sh("\n".join(f"ar rcD {name} {members} || exit" for name, members in (ARCHIVES | {"libgroupmore.a": "group-more.o"}).items()))
    lab.sh("\n".join(f"ld.bfd -shared -soname {name} {members} -o {name} || exit" for name, members in SHARED.items()))
    lab.sh("ar rcT thin.a foo.o; ar rcD empty.a; ar rcSD no-index.a foo.o")
    lab.sh("mkdir -p d; cp foo2.o d/foo.o; ar qcD same.a foo.o; ar qD same.a d/foo.o; ranlib same.a")
    lab.sh("echo text > text.txt; ar rcD with-text.a text.txt foo.o; ar rcD nested.a libfoo.a")
    index = (lab.path / "libfoo.a").read_bytes()
    (lab.path / "stale.a").write_bytes(index.replace(b"foo\0", b"fox\0", 1))  # the index lies: the member defines foo


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("scenarios"))
    make_bench(lab)
    return lab


@pytest.mark.parametrize("words", [case[0] for case in CASES])
@every_linker
def test_agrees(bench, linker, words):
    restriction = next(case[1] for case in CASES if case[0] == words)
    if linker in linkers_for(restriction):
        agree(bench, linker, words.replace(" -( ", " '-(' ").replace(" -)", " '-)'"))


def test_thin_archive(bench):
    """GNU ld's map names a thin archive's member by its own path; elfaudit says which archive it came from."""
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", "start.o", "thin.a", "foo2.o").json()
    assert [m["input"] for m in result["extracted_members"]] == ["thin.a(foo.o)"]
    assert [(d["first"], d["other"]) for d in result["duplicates"]] == [("thin.a(foo.o)", "foo2.o")]


def test_nested_archive(bench):
    """GNU ld does not look into it, finds no index and gives up; elfaudit says so and goes on."""
    assert "archive has no index" in bench.sh("ld.bfd start.o nested.a -o out", check=False).err
    result = bench.audit("check", "--", "ld.bfd", "start.o", "nested.a", "-o", "out")
    assert result.code == 2 and "nested.a: the archive has no symbol index" in result.out, result
