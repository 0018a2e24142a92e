"""Version scripts, TLS against ordinary storage, and what shared objects can't see, held against the real linkers."""

import re

import pytest

from elfaudit_test import need
import linkers
from linkers import PROGRAMS, assemble, assemble_all, every_linker
from undefined_names import EVERY, agree

need("ld.bfd", "as")

START = ".globl _start\n.text\n_start: nop\n.data\n"
OBJECTS = {
    "start": START,
    "foo": ".globl foo\n.text\nfoo: nop",
    "foo-v1": ".globl foo_1\n.symver foo_1, foo@V1\n.text\nfoo_1: nop",
    "foo-v2-default": ".globl foo_2\n.symver foo_2, foo@@V2\n.text\nfoo_2: nop",
    "start-foo-v1": START + '.globl foo_1\n.symver foo_1, foo@V1\n.section .foo,"aw"\nfoo_1: .quad 0',
    "start-foo-v1-default": START + '.globl foo_1\n.symver foo_1, foo@@V1\n.section .foo,"aw"\nfoo_1: .quad 0',
    "foo-v1-default-uses-bar-v1": ".globl foo_1\n.symver foo_1, foo@@V1\n.globl bar_1\n.symver bar_1, bar@V1\n.data\nfoo_1: .quad bar_1",
    "uses-bar-v1": ".globl bar_1\n.symver bar_1, bar@V1\n.data\n.quad bar_1",
    "weak-bar-v1": ".weak bar_1\n.symver bar_1, bar@V1\n.data\n.quad bar_1",
    "weak-hidden-bar-v1": ".weak bar_1\n.hidden bar_1\n.symver bar_1, bar@V1\n.data\n.quad bar_1",
    "bar": ".globl bar\n.data\nbar: .quad 0",
    "bar-v1": ".globl bar_1\n.symver bar_1, bar@V1\n.data\nbar_1: .quad 0",
    "weak-bar-v1-default": ".weak bar_1\n.symver bar_1, bar@@V1, remove\n.data\nbar_1: .quad 0",
    "foo-and-bar-v1-default": ".globl foo, bar_1\n.symver bar_1, bar@@V1, remove\n.data\nfoo: .quad 0\nbar_1: .quad 0",
    "bar-uses-foo": ".globl bar\n.data\nbar: .quad foo",
    "start-foo": START + ".globl foo\nfoo: .quad 0",
    "start-uses-foo-base": START + ".symver foo_0, foo@\n.quad foo_0",
    "weak-foo-base": ".weak foo_0\n.symver foo_0, foo@\n.data\n.quad foo_0",
    "bar-v1-default": ".globl bar_1\n.symver bar_1, bar@@V1\n.data\nbar_1: .quad 0",
    "needs-foo": ".globl g\n.text\ng: call foo@PLT",
    "tls": '.section .tdata,"awT",@progbits\n.globl s\n.type s,@tls_object\n.size s,8\ns: .quad 1',
    "data": '.data\n.globl s\n.type s,@object\n.size s,8\ns: .quad 1',
    "uses-tls": ".data\n.quad s@dtpoff",
    "uses-data": ".data\n.quad s",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("versions"))
    assemble_all(lab, OBJECTS)
    lab.write("v1.map", "V1 { global: foo; local: *; };\n")
    lab.write("v2.map", "/* two */ V1 { foo; };\nV2 { global: foo; } V1;  # the newer\n")
    lab.write("missing.map", "V1 { global: foo; nosuch; };\n")
    lab.write("pattern.map", 'V1 { global: no*; extern "C++" { ns::*; }; foo; };\n')
    lab.write("local-missing.map", "{ global: foo; local: nosuch; };\n")
    lab.write("anonymous-missing.map", "{ nosuch; };\n")
    lab.write("only-foo.map", "V1 { foo; };\n")
    lab.write("local-foo.map", "V1 { local: foo; };\n")
    lab.write("local-pattern.map", "V1 { local: f*; };\n")
    lab.write("local-rest.map", "V1 { global: b*; local: *; };\n")
    lab.write("local-elsewhere.map", "V2 { local: *; };\n")
    lab.write("local-first.map", "V3 { local: foo; }; V1 { foo; };\n")
    lab.write("local-last.map", "V1 { foo; }; V3 { local: foo; };\n")
    lab.write("local-pattern-first.map", "V3 { local: f*; }; V1 { fo*; };\n")
    lab.write("local-pattern-last.map", "V1 { f*; }; V3 { local: fo*; };\n")
    lab.write("empty.map", "V1 { };\n")
    lab.write("assign.ld", "foo = _start;\n")
    lab.sh("gcc-ar rcs libversioned.a foo-v2-default.o")
    lab.sh("gcc-ar rcs libbar-default.a bar-v1-default.o")
    lab.sh("gcc-ar rcs libbar-v1.a bar-v1.o")
    lab.sh("ld.bfd -shared needs-foo.o -soname libneeds-foo.so -o libneeds-foo.so")
    lab.sh("ld.bfd -shared bar.o -soname bar.so -o bar.so")
    lab.sh("ld.bfd -shared bar-v1.o --version-script empty.map -soname libbar.so -o libbar.so")
    for name in ("tls", "data", "uses-tls", "uses-data"):
        lab.sh(f"ld.bfd -shared {name}.o -o {name}.so")
    return lab


CASES = """
    -shared foo-v1.o
    -shared foo-v1.o --version-script v1.map
    -shared foo-v2-default.o --version-script v1.map
    -shared foo-v1.o foo-v2-default.o --version-script v2.map
    start.o foo-v1.o
    -shared foo.o --version-script v1.map
    -shared foo.o --version-script missing.map
    -shared foo.o --version-script missing.map --no-undefined-version
    -shared foo.o --version-script missing.map --undefined-version
    -shared foo.o --version-script pattern.map --no-undefined-version
    -shared foo.o --version-script local-missing.map
    -shared foo.o --version-script anonymous-missing.map
    start.o foo.o --version-script missing.map
    -shared foo-v1.o --version-script v2.map
    -shared foo-v2-default.o --version-script v2.map
    -shared foo.o --version-script v2.map
    -shared start.o --version-script only-foo.map --defsym foo=_start
    -shared start.o --version-script only-foo.map --defsym foo=_start --no-undefined-version
    -shared start.o --version-script only-foo.map assign.ld
    -shared start.o --version-script only-foo.map assign.ld --no-undefined-version
    -shared foo.o --version-script missing.map --fatal-warnings
    -shared foo.o --version-script missing.map --fatal-warnings --undefined-version
    -shared foo.o --version-script missing.map --fatal-warnings --no-fatal-warnings
    -shared needs-foo.o libversioned.a
    -shared needs-foo.o libversioned.a --exclude-libs ALL
    -shared needs-foo.o libversioned.a --exclude-libs libversioned.a
    -shared needs-foo.o libversioned.a --exclude-libs versioned
    -shared foo.o libversioned.a
    -shared foo-v2-default.o --version-script local-foo.map
    -shared foo-v1.o --version-script local-foo.map
    -shared foo-v2-default.o --defsym foo=4
    -shared foo-v1.o --defsym foo=4
    start.o foo.o --version-script missing.map --no-undefined-version
    -pie start.o foo.o --version-script missing.map --no-undefined-version
    start.o foo.o libbar.so --version-script missing.map --no-undefined-version
    start.o foo.o --as-needed libbar.so --version-script missing.map --no-undefined-version
    --export-dynamic start.o foo.o --version-script missing.map --no-undefined-version
    -shared uses-bar-v1.o
    -shared weak-bar-v1.o
    -shared weak-bar-v1.o --version-script empty.map
    -shared weak-bar-v1.o --warn-unresolved-symbols
    -shared weak-bar-v1.o bar.o
    -shared weak-bar-v1.o libbar.so
    -shared weak-bar-v1.o bar-v1.o --version-script empty.map
    -shared weak-bar-v1.o uses-bar-v1.o
    -shared weak-bar-v1.o --gc-sections
    -shared weak-bar-v1.o weak-hidden-bar-v1.o
    -shared weak-hidden-bar-v1.o
    -pie start.o weak-bar-v1.o
    start.o weak-bar-v1.o
    -shared foo-v1-default-uses-bar-v1.o --version-script local-rest.map --gc-sections
    -shared foo-v1-default-uses-bar-v1.o --version-script empty.map --gc-sections
    uses-bar-v1.o bar-v1-default.o start.o
    uses-bar-v1.o bar-v1-default.o start.o --defsym bar=4
    start-foo-v1.o libneeds-foo.so
    start-foo-v1-default.o libneeds-foo.so
    start-foo-v1-default.o libneeds-foo.so --version-script local-foo.map
    start-foo-v1-default.o libneeds-foo.so --version-script local-pattern.map
    start-foo-v1-default.o libneeds-foo.so --version-script local-rest.map
    start-foo-v1-default.o libneeds-foo.so --version-script v1.map
    start-foo-v1-default.o libneeds-foo.so --version-script local-elsewhere.map
    start-foo-v1.o libneeds-foo.so --version-script local-pattern.map
"""
# Not every linker reads all of them: where one refuses a script, elfaudit must.
SCRIPTS = r"""
V1 { global: extern; };
V1 { foo; extern; };
V1 { extern; local: *; };
{ local: * };
{ global: foo; local: * };
V1 { foo };
V1 { foo; }
{ foo; }
V1 { foo; }; V1 { foo; };
V1 { foo; }; { foo; };
{ foo; }; V1 { foo; };
V1 { foo; } V0;
V0 { }; V1 { foo; } V0;
V0 { }; V1 { foo; } V0; V2 { foo; } V0 V1;
V1 { global: foo; local: foo; };
V1 { foo; }; V2 { foo; };
V1 { foo; }; V2 { local: foo; };
V1 { foo*; }; V2 { local: foo*; };
V1 { foo; local: *; };
V1 { local: bar; global: foo; };
V1 { global: foo; global: foo; };
V1 { foo; foo; };
V1 { extern "C++" { "ns::f()"; } };
V1 { extern "C++" { ns::f(); }; };
V1 { extern "C++" { "ns::*"; ns::f*; }; foo; };
V1 { extern "C" { foo; }; };
V1 { extern "Java" { foo; }; };
V1 { extern "Basic" { foo; }; };
V1 { global: ; };
V1 { global: foo; local: };
V1 { ;; foo; };
V1 { foo; };;
V1 { foo,bar; };
V1 { foo bar; };
V1 { global foo; };
V1{global:foo;local:*;};
VERSION { V1 { foo; }; };
V1 { foo; }; # a comment
V1 { foo; }; // no comment
"V1" { "foo"; };
garbage
"""
TLS_INPUTS = ["tls.o", "data.o", "uses-tls.o", "uses-data.o", "tls.so", "data.so", "uses-tls.so", "uses-data.so"]


@pytest.mark.parametrize("linker", EVERY)
@pytest.mark.parametrize("words", [line.strip() for line in CASES.split("\n") if line.strip()])
def test_versions(bench, linker, words):
    agree(bench, linker, words)


@pytest.mark.parametrize("script", ["local-first", "local-last", "local-pattern-first", "local-pattern-last"])
@pytest.mark.parametrize("linker", ["lld14", "lld19"])
def test_a_name_that_two_nodes_have(bench, linker, script):
    need(PROGRAMS[linker])
    linkers.agree(bench, linker, f"start-foo.o libneeds-foo.so --version-script {script}.map")


@pytest.mark.parametrize("linker", ["lld14", "lld19", "mold", "bfd"])
@pytest.mark.parametrize("lists", ["foo; local: foo;", "foo; local: foo; *;", "f*; local: foo;", "foo; local: f*;", "f*; local: f*;"])
@pytest.mark.parametrize("name", ["", "V1 "])
def test_a_name_that_both_lists_of_a_node_have(bench, name, lists, linker):
    need(PROGRAMS[linker])
    bench.write("node.map", f"{name}{{ global: {lists} }};")
    linkers.agree(bench, linker, "start-foo.o libneeds-foo.so --version-script node.map")


@pytest.mark.parametrize("lines", ["--start-lib twice.o --end-lib", "libtwice.a", "--whole-archive libtwice.a --no-whole-archive"])
@pytest.mark.parametrize("linker", ["lld14", "lld19"])
def test_a_file_says_once_which_version_a_name_has(bench, linker, lines):
    need(PROGRAMS[linker])
    assemble(bench, "twice", ".globl s, wanted\n.symver s, foo@@V1\n.data\nwanted: s: .quad 0")
    assemble(bench, "wants", ".globl s\n.symver s, foo@@V2\n.data\ns: .quad wanted")
    bench.sh("rm -f libtwice.a; gcc-ar rcs libtwice.a twice.o")
    linkers.agree(bench, linker, f"start.o {lines} wants.o")


@pytest.mark.parametrize("inputs", ["in-group.o", "default-in-group.o", "in-group.o refers.o", "refers.o in-group.o", "default-in-group.o refers.o", "refers.o default-in-group.o", "refers.o", "default-in-group.o plain.o"])
def test_a_version_that_a_discarded_group_defines(bench, inputs):
    group = '.section .data.g,"awG",@progbits,foo,comdat\n'
    for name, lines in {"brings-group": group + ".quad 0", "in-group": f".globl s\n.symver s, foo@V1\n{group}s: .quad 0", "default-in-group": f".globl s\n.symver s, foo@@V1\n{group}s: .quad 0",
                        "refers": ".globl s\n.symver s, foo@V1\n.data\n.quad s", "plain": ".globl foo\n.data\n.quad foo"}.items():
        assemble(bench, name, lines)
    linkers.agree(bench, "bfd", f"-shared brings-group.o {inputs}")


@pytest.mark.parametrize("nodes", ["V3 { local: foo; }; V1 { f*; };", "V1 { f*; }; V3 { local: foo; };", "V1 { *; }; V3 { local: f*; };"])
def test_a_name_that_two_nodes_of_gnu_ld_have(bench, nodes):
    bench.write("nodes.map", nodes)
    linkers.agree(bench, "bfd", "start-foo.o libneeds-foo.so --version-script nodes.map")


@pytest.mark.parametrize("nodes", ["{ local: *; };", "V1 { foo; };", "V2 { foo; };"])
@pytest.mark.parametrize("inputs", ["default.o foo.o", "foo.o default.o"])
def test_a_value_and_a_version_that_the_script_gives_another_name(bench, inputs, nodes):
    assemble(bench, "default", ".globl s\n.symver s, foo@@V1\n.data\ns: .quad 0")
    bench.write("nodes.map", nodes)
    linkers.agree(bench, "bfd", f"--defsym=foo=4 {inputs} --version-script nodes.map")


@pytest.mark.parametrize("inputs", ["has-v1.o default.so plain.o", "has-v1.o default.so refers.o", "plain.o has-v1.o default.so", "default.so has-v1.o plain.o", "has-v1.o default.so refers.o plain.o"])
def test_an_objects_version_before_a_librarys_default_one(bench, inputs):
    for name, lines in {"has-v1": ".globl s\n.symver s, foo@V1\n.data\ns: .quad 0", "default": ".globl s\n.symver s, foo@@V1\n.data\ns: .quad 0",
                        "plain": ".globl foo\n.data\nfoo: .quad 0", "refers": ".globl foo\n.data\n.quad foo"}.items():
        assemble(bench, name, lines)
    bench.write("node.map", "V1 { };")
    bench.sh("ld.bfd -shared default.o --version-script node.map -o default.so")
    linkers.agree(bench, "bfd", inputs)


@linkers.every_linker_and_gold
def test_the_base_version_of_a_library(bench, linker):
    """For mold what has no other version has that one, which has the library's name."""
    assemble(bench, "foo-and-bar", ".globl foo, bar\n.data\nfoo: bar: .quad 0")
    bench.write("bar.map", "V1 { bar; };")
    bench.sh("ld.bfd -shared foo-and-bar.o -soname base.so --version-script bar.map -o base.so")
    for name, version in {"base": "foo@base.so", "other": "foo@other.so", "bar": "bar@base.so"}.items():
        assemble(bench, "refers-" + name, f".globl s, _start\n.symver s, {version}\n.data\n_start: .quad s")
        linkers.agree(bench, linker, f"refers-{name}.o base.so")


@pytest.mark.parametrize("words", ["-E", "--dynamic-list=fits.list", "--dynamic-list=plain.list", "-pie -E", "", "-E --gc-sections"])
@pytest.mark.parametrize("binding", ["globl", "weak"])
def test_a_program_exports_no_open_version(bench, binding, words):
    """GNU ld has no section of versions where no library has the name."""
    assemble(bench, "open", f".globl _start\n.{binding} s\n.symver s, foo@V1\n.text\n_start: nop\n.data\n.quad s")
    assemble(bench, "empty", "")
    bench.sh("ld.bfd -shared empty.o -o empty.so")
    bench.write("fits.list", "{ f*; };")
    bench.write("plain.list", "{ foo; };")
    wrong = [linkers.differs(bench, "bfd", f"{words} --unresolved-symbols=ignore-all open.o {library}") for library in ("", "empty.so")]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("linker", ["lld14", "lld19", "mold"])
def test_an_undefined_version_keeps_no_section(bench, linker):
    need(PROGRAMS[linker])
    assemble(bench, "default-v2", '.globl s\n.symver s, foo@@V2\n.section .data.s,"aw"\ns: .quad gone')
    assemble(bench, "asks-v2", ".globl _start, s\n.symver s, foo@V2\n.text\n_start: .quad s")
    linkers.agree(bench, linker, "--gc-sections default-v2.o asks-v2.o")


@pytest.mark.parametrize("nodes", ["V2 { nope; };", "V2 { nope; local: *; };", "V2 { nope; local: f*; };", 'V2 { nope; extern "C++" { f; }; };'])
def test_mold_warns_of_names_where_there_are_no_patterns(bench, nodes):
    need("mold")
    bench.write("nodes.map", nodes)
    assert not linkers.differs(bench, "mold", "-shared --fatal-warnings foo.o --version-script nodes.map")


FORCED = ["foo-v1.o", "foo-v1.o --version-script empty.map", "start-foo-v1.o --version-script v2.map", "foo.o --version-script missing.map",
          "foo.o --no-undefined-version --version-script missing.map", "foo.o --no-undefined-version --version-script missing.map --fatal-warnings",
          "foo-v1.o --no-undefined-version --version-script missing.map", "foo-v1.o --fatal-warnings"]  # fmt: skip


@pytest.mark.parametrize("words", FORCED)
@linkers.every_linker_and_gold
def test_versions_that_are_not_there_with_noinhibit_exec(bench, linker, words):
    """Some are warnings of mold's, of gold's and of lld's."""
    assert not linkers.differs(bench, linker, f"-shared --noinhibit-exec {words}")


@pytest.mark.parametrize(
    "words", ["weak-default-v2.o plain.o", "default-v2.o --version-script v1-too.map --no-undefined-version"]
)
def test_a_version_that_gnu_ld_has_no_node_for(versioned_names, words):
    linked = versioned_names.sh(f"ld.bfd -shared {words} -o out", check=False)
    assert linked.code == 1, linked
    assert versioned_names.audit("check", "--", "ld.bfd", "-shared", *words.split(), "-o", "out").code == 1


OF_LLD = """
    start.o --defsym=foo=4 libneeds-foo.so --version-script local-rest.map
    start.o --defsym=foo=4 libneeds-foo.so --version-script local-rest.map --warn-unresolved-symbols
    start-foo.o libneeds-foo.so --version-script local-rest.map --warn-unresolved-symbols
    start-foo.o libneeds-foo.so --version-script local-rest.map --noinhibit-exec
    start.o uses-bar-v1.o libbar-default.a --version-script empty.map
    start.o uses-bar-v1.o libbar-default.a --version-script empty.map --exclude-libs ALL
    start.o bar-v1-default.o uses-bar-v1.o libbar-v1.a --version-script empty.map --exclude-libs ALL
    start.o uses-bar-v1.o libbar-default.a --version-script empty.map --defsym=bar=4
    start.o bar-v1.o libbar-default.a --version-script empty.map --defsym=bar=4
    start.o weak-bar-v1-default.o bar-v1.o --version-script empty.map --defsym=bar=4
    -shared start.o libbar-default.a --defsym=bar=4
    start.o --start-lib foo-and-bar-v1-default.o --end-lib bar.so bar-uses-foo.o
    start.o foo-and-bar-v1-default.o bar.so bar-uses-foo.o
    start-uses-foo-base.o foo.o
    start-uses-foo-base.o foo.o --version-script v1.map
    start.o weak-foo-base.o foo.o
    -shared start-uses-foo-base.o --defsym=foo=4
"""


@pytest.mark.parametrize("words", [line.strip() for line in OF_LLD.split("\n") if line.strip()])
@pytest.mark.parametrize("linker", ["lld14", "lld19"])
def test_versions_of_lld(bench, linker, words):
    linkers.agree(bench, linker, words)


@pytest.mark.parametrize("output", ["-shared", "-pie -E"])
@every_linker
def test_gc_sections_and_a_version_that_a_script_makes_local(bench, linker, output):
    """mold exports foo@@V1 in spite of "local:"."""
    bench.write("local-v1.map", "V1 { local: *; };")
    linkers.agree(bench, linker, f"{output} start.o bar.o foo-and-bar-v1-default.o --gc-sections --version-script local-v1.map")


@pytest.mark.deep
@every_linker
@pytest.mark.parametrize("script", SCRIPTS.strip().split("\n"))
def test_a_script_that_the_linker_refuses(bench, linker, script):
    bench.write("script.map", script + "\n")
    words = "-shared foo.o --version-script script.map" + (" --undefined-version" if linker != "bfd" else "")
    linked = bench.sh(f"{PROGRAMS[linker]} {words} -o out", check=False)
    result = bench.audit("check", "--", PROGRAMS[linker], *words.split(), "-o", "out")
    assert (result.code == 0) == (linked.code == 0), f"{linked}\n{result}"
    assert result.code == 0 or re.search(r"script.map: line \d: syntax error", result.out), result


@pytest.mark.parametrize("linker", ["bfd", "lld14", "lld19"])
@pytest.mark.parametrize("words", ["-shared start.o needs-foo.o", "-shared start.o", "-pie start.o needs-foo.o"])
def test_a_name_that_a_script_provides_is_there(bench, linker, words):
    """Where an object asks for it."""
    need(PROGRAMS[linker])
    bench.write("provide.ld", "PROVIDE(foo = _start);\n")
    assert not linkers.differs(bench, linker, f"{words} provide.ld --version-script only-foo.map --no-undefined-version")


@pytest.mark.parametrize("first", TLS_INPUTS)
def test_thread_local_against_ordinary(bench, first):
    """GNU ld alone: the other linkers' engines have tests of their own."""
    for second in TLS_INPUTS:
        # A module offset of another module's symbol: no linker can do that.
        if second != first and {first, second} != {"uses-tls.o", "tls.so"}:
            agree(bench, "bfd", f"-shared start.o {first} {second}")


VERSIONED_NAMES = {
    "start": ".globl _start\n.data\n_start: .quad f1",
    "start-v2": ".globl _start\n.symver r,f1@V2\n.data\n_start: .quad r",
    "start-base": ".globl _start\n.symver r,f1@\n.data\n_start: .quad r",
    "plain": ".globl f1\n.data\nf1: .quad 1",
    "default-v2": ".globl f_\n.symver f_,f1@@V2\n.data\nf_: .quad 1",
    "hidden-v2": ".globl g_\n.symver g_,f1@V2\n.data\ng_: .quad 1",
    "start-nothing": ".globl _start\n.data\n_start: nop",
    "start-uses-v2": ".globl _start\n.weak r\n.symver r,f1@V2\n.data\n_start: .quad r,f1",
    "other-hidden-v2": ".globl k_\n.symver k_,f1@V2\n.data\nk_: .quad 1",
    "default-v1": ".globl h_\n.symver h_,f1@@V1,remove\n.data\nh_: .quad 1",
    "other-default-v2": ".globl i_\n.symver i_,f1@@V2\n.data\ni_: .quad 1",
    "weak-default-v2": ".weak j_\n.symver j_,f1@@V2,remove\n.data\nj_: .quad 1",
    "weak-hidden-v2": ".weak j_\n.symver j_,f1@V2,remove\n.data\nj_: .quad 1",
    "needs-f1": ".data\n.quad f1",
    "base": ".globl f_,bar\n.symver f_,f1@\n.data\nf_: .quad 1\nbar: .quad 2",
}
VERSIONED_LINKS = [
    f"{start} {words}"
    for start in ("start.o", "start-v2.o")
    for words in (
        "--defsym=f1=0x10 default.so default-v2.o",
        "default.so default-v2.o --defsym=f1=0x10",
        "default.so --defsym=f1=0x10 default-v2.o",
        "--defsym=f1=0x10 default.so plain.o",
        "--defsym=f1=0x10 plain.so default-v2.o",
        "--defsym=f1=0x10 default-v2.o default.so",
        "--defsym=f1=0x10 default-v2.o plain.o",
        "--defsym=f1=0x10 plain.o default-v2.o",
        "default-v2.o --defsym=f1=0x10 plain.o",
        "--defsym=f1=0x10 default.so hidden-v2.o",
        "--defsym=f1=0x10 hidden.so default-v2.o",
        "plain.o default.so hidden-v2.o",
        "plain.o default.so default-v2.o",
        "plain.o hidden-v2.o default.so",
        "plain.o default.so",
    )
] + [f"start-nothing.o {words}" for words in (
    "hidden-v2.o default-v2.o",
    "hidden-v2.o default-v2.o other-default-v2.o",
    "hidden-v2.o default-v1.o default-v2.o other-default-v2.o",
    "weak-default-v2.o plain.o plain.o",
    "weak-default-v2.o hidden-v2.o plain.o",
    "hidden-v2.o weak-default-v2.o other-hidden-v2.o",
    "default-v1.o default.so hidden-v2.o",
    "-r default-v1.o default-v2.o",
    "default.so --defsym=f1=4 plain.o",
    "default.so --defsym=f1=4 hidden-v2.o",
    "default.so --defsym=f1=4 default-v2.o",
    "default.so --defsym=f1=4 weak-hidden-v2.o",
    "--defsym=f1=4 default.so weak-hidden-v2.o",
    "--defsym=f1=4 default-v1.o other-default-v2.o",
    "--defsym=f1=4 default-v1.o other-default-v2.o plain.o",
    "plain.o --defsym=f1=4 default-v1.o other-default-v2.o",
    "plain.o --defsym=f1=4 default-v2.o plain.o",
    "--defsym=f1=4 plain.o default-v1.o other-default-v2.o",
    "default-v1.o --defsym=f1=4 weak-default-v2.o",
    "plain.o default.so hidden-v2.o --version-script local.map",
    "plain.o default.so other-default-v2.o --version-script local.map",
    "plain.o default-v2.o --version-script local-then-v2.map",
    "hidden-v2.o needs-f1.o libdefault.a",
    "hidden-v2.o needs-f1.so libdefault.a",
)] + ["start-uses-v2.o libdefault.a", "-shared libdefault.a --version-script v1-too.map --no-undefined-version", "start-base.o plain.so", "start-base.o versions.so", "start-base.o base.so", "start-base.o default.so", "start-base.o base.o", "start-base.o"]


@pytest.fixture(scope="module")
def versioned_names(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("versioned-names"))
    assemble_all(lab, VERSIONED_NAMES)
    lab.write("v.map", "V2 { };")
    lab.write("bar.map", "V1 { global: bar; };")
    lab.write("local.map", "{ local: f*; };")
    lab.write("local-then-v2.map", "V1 { local: *; }; V2 { f1; };")
    lab.write("v1-too.map", "V1 { f1; }; V2 { };")
    lab.sh("gcc-ar rcs libdefault.a default-v2.o")
    for library, words in {
        "plain": "plain.o",
        "default": "--version-script v.map default-v2.o",
        "hidden": "--version-script v.map hidden-v2.o",
        "versions": "--version-script bar.map base.o --defsym f1=bar",
        "base": "--version-script bar.map base.o",
        "needs-f1": "needs-f1.o",
    }.items():
        lab.sh(f"ld.bfd -shared -soname {library}.so {words} -o {library}.so")
    return lab


HIDDEN_OVER_LIBRARY = [f"{reference} default.so {first}.o {second}.o" for reference in ("", "refers.o", "refers-v1.o")
                       for first in ("hidden-v1", "hidden", "hidden-default-v1") for second in ("default-v3", "plain", "v1", "default-v1")]
HIDDEN_OVER_LIBRARY += ["default.so default-v3.o v1.o", "default.so default-v3.o refers-v1.o", "default.so default-v3.o default-v1.o"]
HIDDEN_OVER_LIBRARY += [f"default.so plain.o default-v3.o --version-script {script}.map" for script in ("v1", "v3", "local", "nodes")]


@pytest.mark.deep
@pytest.mark.parametrize("words", HIDDEN_OVER_LIBRARY)
def test_what_takes_the_place_of_a_librarys_default_version(lab, words):
    """Hidden names leave the library its own; the others it refers to from then on."""
    define = lambda symver, hidden="": f".globl s\n.symver s, {symver}, remove\n{hidden}.data\ns: .quad 0"
    linkers.assemble_all(lab, {
        "hidden-v1": define("f@V1", ".hidden s\n"), "hidden-default-v1": define("f@@V1", ".hidden s\n"),
        "default-v3": define("f@@V3"), "default-v1": define("f@@V1"), "v1": define("f@V1"), "plain": ".globl f\n.data\nf: .quad 0",
        "hidden": ".globl f\n.hidden f\n.data\nf: .quad 0", "refers": ".globl f\n.data\n.quad f", "refers-v1": ".globl s\n.symver s, f@V1\n.data\n.quad s",
    })
    for name, text in {"v1": "V1 { f; };", "v3": "V3 { f; };", "local": "{ local: f; };", "nodes": "V1 { }; V3 { };"}.items():
        lab.write(f"{name}.map", text)
    lab.sh("ld.bfd -shared default-v1.o --version-script nodes.map -soname default.so -o default.so")
    linkers.agree(lab, "bfd", f"-e 0 {words}")


@pytest.mark.parametrize("words", VERSIONED_LINKS)
def test_plain_names_and_versions_of_gnu_ld(versioned_names, words):
    """Which of foo, foo@V and foo@@V of the line, an object and a shared object are one name."""
    linkers.agree(versioned_names, "bfd", words)


@pytest.mark.parametrize("linker", ["lld19"])
@pytest.mark.parametrize("words", ["needs-f.so f.o lib-f-v1.a", "--gc-sections needs-f.so f.o lib-f-v1.a", "--gc-sections needs-f.so f-v1.o",
                                   "--gc-sections hides-f-v2.o f-v1.o needs-f.so", "--gc-sections -shared hides-f-v2.o f-v1.o"])
def test_the_version_by_which_a_name_is_exported(lab, linker, words):
    """lld takes that of the last f@@V that it has seen, in a member that is not extracted too; and f@V2 is another name."""
    linkers.assemble_all(lab, {
        "f": ".globl f\n.data\nf: .quad gone",
        "f-v1": ".globl f_1\n.symver f_1, f@@V1, remove\n.data\nf_1: .quad gone",
        "hides-f-v2": ".globl f_2\n.symver f_2, f@V2, remove\n.hidden f_2\n.bss\nf_2: .zero 8",
        "needs-f": ".data\n.quad f",
    })
    lab.ar("lib-f-v1.a", "f-v1.o")
    lab.sh("ld.bfd -shared needs-f.o -soname needs-f.so -o needs-f.so")
    lab.write("v.map", "V1 { local: *; }; V2 { };")
    linkers.agree(lab, linker, f"-e 0 {words} --version-script v.map")


@pytest.mark.parametrize("words", ["-shared f.o", "f.o", "-pie f.o", "-shared weak-f.o", "-shared common-f.o", "-shared zero-f.o", "-shared -z defs needs-f.o",
                                   "-shared -z muldefs f.o", "-r f.o"])
def test_a_node_is_a_symbol_to_gnu_ld(lab, words):
    lab.write("f.map", "f { g*; };\n")
    linkers.assemble_all(lab, {
        "f": ".globl _start, f\n_start: nop\nf: nop", "weak-f": ".weak f\nf: nop", "common-f": ".comm f,8", "zero-f": ".globl f\nf = 0",
        "needs-f": ".globl f\n.data\n.quad f",
    })
    linkers.agree(lab, "bfd", f"--version-script=f.map {words}")


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_a_cxx_name_that_is_not_spelled_as_it_is_demangled(lab, linker):
    """The edit as it is told, done."""
    need("ld." + linker, "g++")
    lab.cc("s.o", "#include <string>\nvoid open(std::string const &, bool) {} void shut(char *) {}", "g++ -fPIC")
    command = ["g++", f"-fuse-ld={linker}", "-shared", "s.o", "-Wl,--version-script=v.map", "-o", "libs.so"]
    script = 'V1 { global: extern "C++" { %s "shut(char*)"; }; local: *; };\n'
    lab.write("v.map", script % '"open(std::string const&, bool)";')
    [finding] = lab.audit("check", "--format", "json", "--", *command).json()["findings"]
    assert (finding["rule"], finding["severity"]) == ("version-not-defined", "warning") and "names open(std::string const&, bool)" in finding["message"]
    lab.write("v.map", script % finding["fixes"][0]["text"].split("prints it: ")[1])
    assert lab.audit("check", "--", *command).code == 0 == len(lab.audit("check", "--format", "json", "--", *command).json()["findings"])
    lab.sh(" ".join(command))
    assert "T _Z4openRKNSt7" in lab.sh("nm -D libs.so").out
