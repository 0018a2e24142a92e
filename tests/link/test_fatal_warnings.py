"""What --fatal-warnings makes errors of: elfaudit refuses what the linker refuses, and names the symbol that it warns of."""

import pytest

from elfaudit_test import Lab, need
from linker_verdicts import WITH_GOLD

need("as", "ar", "ld.bfd")

OBJECTS = {
    "start": "_start: nop",
    "call": "_start: call gets",
    "weak_call": ".weak gets; _start: call gets",
    "warns_and_calls_weakly": ".weak gets; _start: call gets; WARNS",
    "mention": "_start: nop; .globl gets",
    "dead_call": '_start: nop; .section .text.d, "ax"; call gets',
    "dead_points_to_v": '_start: nop; .section .data.d, "aw"; .quad v',
    "debug": '_start: nop; .section .foo, "", @progbits; .quad gets',
    "gets": ".globl gets; gets: ret; WARNS",
    "gets_plain": ".globl gets; gets: ret",
    "gets_self": ".globl gets, f; gets: ret; f: call gets; WARNS",
    "gets_common": "_start: nop; .comm gets, 4",
    "warns_alone": "WARNS",
    "warned_file": '.globl q; q: ret; .section .gnu.warning, "", @progbits; .ascii "this file is old"',
    "call_f": "_start: call f",
    "call_q": "_start: call q",
    "library_call": ".globl h; h: call gets@PLT",
    "open": "_start: nop; .globl nosuch; .data; .quad nosuch",
    # One name as a common symbol, a variable, a function
    "common4": "_start: nop; .comm v, 4, 4",
    "more4": ".comm v, 4, 4",
    "more8": ".comm v, 8, 8",
    "aligned8": ".comm v, 8, 8",
    "aligned32": ".comm v, 8, 32",
    "data4": ".data; .balign 4; .globl v; .type v, @object; .size v, 4; v: .long 1",
    "data8": ".data; .balign 8; .globl v; .type v, @object; .size v, 8; v: .quad 1",
    "odd8": ".data; .balign 32; .globl v; .type v, @object; .size v, 8; .byte 0; v: .quad 1",
    "weak4": ".data; .weak v; .type v, @object; .size v, 4; v: .long 1",
    "function": ".globl v; .type v, @function; .size v, 1; v: ret",
    "shapeless": ".globl v; v: ret",
    "call_v": "_start: call v; .type v, @function",
    "plain_call_v": "_start: call v",
    "points_to_v": ".data; _start: .quad v",
    # f1 needs f2
    "f1": ".globl f1; f1: call f2",
    "f2": ".globl f2; f2: ret",
    "common_f2": ".comm f2, 8, 8",
    "versioned_f1": ".globl f1_1, f1_2; f1_1: f1_2: ret; .symver f1_1, f1@V1, remove; .symver f1_2, f1@@V2, remove",
    "weak_f2": ".weak f2; f2: ret",
    "call_f1": "_start: call f1",
}
SECTIONS = {"writes_code": '.rwx, "awx"; nop', "runs_data": '.data.x, "ax"; nop', "runs_no_data": '.data.x, "ax"',
            "writes_code_empty": '.rwx, "awx"', "runs_foo": 'foo, "ax"; nop', "writes_foo": 'foo, "aw"; nop',
            "reads_foo": 'foo, "a"; nop', "writes_text": '.text.w, "aw"; nop', "writes_fini": '.fini, "aw"; nop',
            "writes_rodata": '.rodata, "aw"; nop', "runs_rodata": '.rodata, "ax"; nop', "runs_tls": '.tdata, "awxT"; nop',
            "writes_code_twice": '.rwx, "awxG", @progbits, rwx, comdat; nop', "uses_written_code": '.rwx, "awx"; nop; .globl _init; _init: nop'}
OBJECTS |= {name: f".section {section}" for name, section in SECTIONS.items()}
OBJECTS |= {"asks_stack": ".globl f1; f1: ret", "says_nothing": "nop", "says_nothing_at_all": "_start: nop"}
STACK = {"asks_stack": '.section .note.GNU-stack, "x", @progbits\n', "says_nothing": "", "says_nothing_at_all": ""}
ARCHIVES = {"libasks.a": "asks_stack", "libgets.a": "gets", "libself.a": "gets_self", "libdata8.a": "data8", "lib1.a": "f1", "lib2.a": "f2",
            "lib2again.a": "f2", "libweak2.a": "weak_f2", "libcommon2.a": "common_f2", "lib12.a": "f1 f2", "libfile.a": "warned_file"}
SHARED = {"libasks.so": "asks_stack", "libgets.so": "gets", "libcalls.so": "library_call", "libmore4.so": "more4", "libmore8.so": "more8", "libdata8.so": "data8",
          "libfunction.so": "function", "libshapeless.so": "shapeless", "libneeds.so": "f1"}

LINES = """
    # Sections that warn of a name
    start.o gets.o
    call.o gets.o
    gets.o call.o
    call.o libgets.a
    call.o libgets.so
    call.o gets_plain.o libgets.so
    weak_call.o gets.o
    gets.o weak_call.o
    mention.o gets.o
    debug.o gets.o
    start.o libcalls.so gets.o
    start.o gets.o libcalls.so
    start.o gets_self.o
    call.o gets_self.o
    call_f.o libself.a
    call.o warns_alone.o gets_plain.o
    gets_common.o warns_alone.o
    weak_call.o warns_alone.o
    warns_alone.o weak_call.o
    warns_alone.o weak_call.o gets_plain.o
    weak_call.o warns_alone.o gets_plain.o
    warns_and_calls_weakly.o
    -u gets start.o gets.o
    start.o gets.o --defsym=here=gets
    -r call.o gets.o
    -shared call.o gets.o
    --gc-sections call.o gets.o
    --gc-sections dead_call.o gets.o
    --gc-sections -shared dead_call.o gets.o
    dead_call.o gets.o
    start.o warned_file.o
    start.o libfile.a
    call_q.o libfile.a
    -r warned_file.o
    # The entry point
    -e nosuch start.o
    -e 0x1000 start.o
    -e nosuch -shared start.o
    -e nosuch -r start.o
    -e nosuch --defsym=nosuch=0x1000 start.o
    -e nosuch --unresolved-symbols=ignore-all open.o
    -e v start.o libdata8.so
    f2.o
    -pie f2.o
    -shared f2.o
    -r f2.o
    # Commons
    common4.o more4.o
    common4.o more8.o
    common4.o data4.o
    common4.o data8.o
    data8.o common4.o
    data8.o aligned32.o start.o
    aligned32.o odd8.o start.o
    data8.o aligned8.o aligned32.o start.o
    start.o aligned8.o aligned32.o data8.o
    start.o aligned32.o aligned8.o data8.o
    start.o aligned8.o aligned32.o libdata8.so
    common4.o function.o
    common4.o weak4.o
    common4.o libdata8.a
    common4.o libdata8.so
    common4.o libmore8.so
    --warn-common common4.o more4.o
    --warn-common common4.o more8.o
    --warn-common common4.o data4.o
    --warn-common data4.o common4.o
    --warn-common common4.o weak4.o
    --warn-common weak4.o common4.o
    --warn-common common4.o libdata8.a
    --warn-common common4.o libdata8.so
    --warn-common libdata8.so common4.o
    --warn-common common4.o libmore4.so
    --warn-common -r common4.o more8.o
    --warn-common common4.o start.o -z muldefs
    # Functions and variables
    call_v.o data8.o
    plain_call_v.o data8.o
    call_v.o libdata8.so
    call_v.o libdata8.so function.o
    start.o data8.o weak4.o
    start.o libdata8.so libfunction.so
    -r call_v.o data8.o
    # A library's symbol without type and size
    plain_call_v.o libshapeless.so
    points_to_v.o libshapeless.so
    -pie points_to_v.o libshapeless.so
    --gc-sections points_to_v.o libshapeless.so
    --gc-sections dead_points_to_v.o libshapeless.so
    dead_points_to_v.o libshapeless.so
    -shared plain_call_v.o libshapeless.so
    call_v.o libshapeless.so
    # What is silent in spite of it
    call.o gets.o --no-fatal-warnings
    call.o gets.o --noinhibit-exec
    -e nosuch start.o --noinhibit-exec
    --warn-common common4.o more4.o --noinhibit-exec
""".splitlines()
MEMORY = """
    # The stack
    start.o
    start.o asks_stack.o
    start.o says_nothing.o
    says_nothing_at_all.o
    says_nothing_at_all.o says_nothing.o
    says_nothing_at_all.o -z stack-size=0x1000
    says_nothing_at_all.o -z stack-size=0
    start.o libasks.a
    call_f1.o libasks.a
    call_f1.o libasks.so
    start.o asks_stack.o -z execstack
    start.o asks_stack.o -z noexecstack
    start.o asks_stack.o -z execstack -z noexecstack
    start.o says_nothing.o -z noexecstack
    start.o asks_stack.o --no-warn-execstack
    start.o asks_stack.o --warn-execstack
    start.o says_nothing.o --warn-execstack
    start.o asks_stack.o --warn-execstack -z noexecstack
    start.o -z execstack --warn-execstack
    start.o -z execstack
    -r start.o asks_stack.o
    -r start.o says_nothing.o
    -shared start.o asks_stack.o
    --gc-sections start.o asks_stack.o
    --just-symbols=asks_stack.o start.o
    start.o asks_stack.o -w
    start.o asks_stack.o --no-fatal-warnings
    # Memory that is writable and executable
    start.o writes_code.o
    start.o runs_data.o
    start.o runs_no_data.o
    start.o writes_code_empty.o
    start.o runs_foo.o
    start.o writes_foo.o
    start.o runs_foo.o writes_foo.o
    start.o runs_foo.o writes_foo.o --no-warn-rwx-segments
    start.o reads_foo.o writes_foo.o
    start.o writes_text.o
    start.o writes_fini.o
    start.o writes_rodata.o
    -z noseparate-code start.o writes_rodata.o
    -z noseparate-code writes_rodata.o
    -z noseparate-code -z separate-code start.o writes_rodata.o
    start.o runs_rodata.o
    start.o runs_rodata.o writes_rodata.o
    start.o runs_tls.o
    start.o writes_code_twice.o writes_code_twice.o
    --gc-sections start.o writes_code.o
    --gc-sections start.o uses_written_code.o
    -r start.o writes_code.o
    -shared start.o writes_code.o
    -N start.o
    -N start.o --no-omagic
    -n start.o
    -n start.o data8.o
    -N start.o -z execstack
    start.o writes_code.o --noinhibit-exec
""".splitlines()
BACK_REFERENCES = """
    call_f1.o lib1.a lib2.a
    call_f1.o lib2.a lib1.a
    lib1.a call_f1.o lib2.a
    lib12.a call_f1.o
    lib2.a call_f1.o lib1.a lib2again.a
    call_f1.o libweak2.a lib1.a
    call_f1.o --start-group lib2.a lib1.a --end-group
    --start-group lib1.a call_f1.o --end-group lib2.a
    call_f1.o --start-lib f2.o --end-lib --start-lib f1.o --end-lib
    call_f1.o --start-lib f2.o f1.o --end-lib
    call_f1.o lib2.a lib1.a --warn-backrefs-exclude=lib2.a
    call_f1.o lib2.a lib1.a --warn-backrefs-exclude=lib2*
    call_f1.o lib2.a lib1.a --no-warn-backrefs
    lib2.a call_f1.o lib1.a -u f2
    lib2.a --whole-archive lib1.a --no-whole-archive call_f1.o
    start.o lib2.a libneeds.so
    libweak2.a call_f1.o f1.o f2.o
    libcommon2.a call_f1.o f1.o lib2.a --fortran-common
    libcommon2.a call_f1.o f1.o
""".splitlines()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("warnings"))
    warns = '.section .gnu.warning.gets, "", @progbits; .ascii "gets is dangerous"'
    for name, source in OBJECTS.items():
        text = source.replace("WARNS", warns).replace("; ", "\n")
        stack = STACK.get(name, '.section .note.GNU-stack,"",@progbits\n')
        lab.write(f"{name}.s", f'{stack}.text\n{".globl _start" if "_start" in source else ""}\n{text}\n')
        lab.sh(f"as {name}.s -o {name}.o")
    for name, members in ARCHIVES.items():
        lab.sh(f"gcc-ar rc {name} " + " ".join(f"{member}.o" for member in members.split()))
    for name, members in SHARED.items():
        lab.sh(f"ld.bfd -shared -o {name} " + " ".join(f"{member}.o" for member in members.split()))
    return lab


def held_against(lab, program, lines):
    """The lines of which elfaudit says something else than the linker."""
    wrong = []
    for line in (line.strip() for line in lines if line.strip() and not line.strip().startswith("#")):
        linked = lab.sh(f"{program} --fatal-warnings {line} -o out", check=False)
        result = lab.audit("check", "--format", "json", "--", program, "--fatal-warnings", *line.split(), "-o", "out")
        ours = [f for f in result.json()["findings"] if f["severity"] == "error"]
        strangers = [f["symbol"] for f in ours if f["symbol"] not in linked.err]
        if bool(linked.code) != bool(ours) or strangers:
            wrong.append(f"{line}\n  {linked.err.strip()}\n  {[f['message'] for f in ours]}")
    return wrong


@pytest.mark.deep
@pytest.mark.parametrize("linker", WITH_GOLD)
def test_what_the_linker_refuses_is_refused(bench, linker):
    need(WITH_GOLD[linker])
    assert not (wrong := held_against(bench, WITH_GOLD[linker], LINES)), "\n".join(wrong)


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["bfd", "gold", "mold"])
def test_the_memory_of_the_output(bench, linker):
    need(WITH_GOLD[linker])
    # Options it does not know, and what gold crashes of
    left_out = {"bfd": {}, "gold": {"rwx-segments", "separate-code", "no-warn-execstack", " -w", "runs_tls"},
                "mold": {"rwx-segments", "stack-size", " -w", "-n "}}[linker]
    lines = [line for line in MEMORY if not any(word in line for word in left_out)]
    assert not (wrong := held_against(bench, WITH_GOLD[linker], lines)), "\n".join(wrong)


@pytest.mark.parametrize("linker", ["lld14", "lld19"])
def test_back_references(bench, linker):
    need(WITH_GOLD[linker])
    lines = [f"--warn-backrefs {line.strip()}" for line in BACK_REFERENCES if line.strip()]
    assert not (wrong := held_against(bench, WITH_GOLD[linker], lines)), "\n".join(wrong)


SCRIPTS = ("V1 { f1; }; V2 { f1; };", "V1 { f1; }; V2 { local: f1; };", "V1 { f1; local: f1; };", "{ global: f1; local: f1; };", "V1 { f1; f1; };",
           "V1 { f1; }; V2 { f*; };", "V1 { f1; }; V2 { local: *; };", "V1 { gone; }; V2 { gone; };", "V1 { f1; }; V2 { f2; };",
           'V1 { extern "C++" { "f1"; }; }; V2 { extern "C++" { "f1"; }; };', "V1 { local: f1; }; V2 { local: f1; };")


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["lld14", "lld19"])
def test_names_that_a_version_script_gives_twice(bench, linker):
    need(WITH_GOLD[linker])
    lines = []
    for number, script in enumerate(SCRIPTS):
        bench.write(f"twice{number}.ver", script)
        lines += [f"{kind} {f1}.o f2.o start.o --undefined-version --version-script=twice{number}.ver"
                  for kind in ("-shared", "-pie", "-r") for f1 in ("f1", "versioned_f1")]
    assert not (wrong := held_against(bench, WITH_GOLD[linker], lines)), "\n".join(wrong)


def test_the_finding_says_who_uses_what(bench):
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", "--fatal-warnings", "call.o", "libgets.a", "-o", "out").json()
    [finding] = result["findings"]
    assert finding["rule"] == "fatal-warning" and finding["symbol"] == "gets" and "gets is dangerous" in finding["message"]
    assert [(site["role"], site["section"]) for site in finding["sites"]] == [("kept", ".text"), ("reference", ".text")]
    assert any("--fatal-warnings" in note and "not judged" in note for note in result["notes"])


@pytest.mark.deep
@pytest.mark.parametrize("linker", WITH_GOLD)
def test_two_versions_of_a_library(bench, linker):
    """GNU ld warns where a library needs libv.so.1, which is found, and the line has libv.so.2."""
    need(WITH_GOLD[linker])
    for name, words in (("libv.so.1", "f2.o"), ("libv.so.2", "f2.o"), ("libv.so", "f2.o -soname libv.so.2"), ("libolder.so", "f1.o libv.so.1")):
        bench.sh(f"ld.bfd -shared {words} -o {name}")
    lines = [f"start.o {words} {search}" for search in ("", "-rpath-link .", "-rpath-link . --as-needed")
             for words in ("libolder.so", "libolder.so libv.so.1", "libolder.so libv.so.2", "libv.so.2 libolder.so", "libv.so libolder.so")]
    assert not (wrong := held_against(bench, WITH_GOLD[linker], lines)), "\n".join(wrong)


def test_warnings_of_the_c_library(lab):
    """glibc's tmpnam, in libc.so.6 and, for -static, in libc.a."""
    need("gcc")
    lab.cc("a.o", "char *tmpnam(char *);\nint main(void) { return !tmpnam(0); }\n", "gcc -g")
    for options in ("", "-static"):
        linked = lab.sh(f"gcc {options} -Wl,--fatal-warnings a.o -o a", check=False)
        result = lab.audit("check", "--format", "json", "--", "gcc", *options.split(), "-Wl,--fatal-warnings", "a.o", "-o", "a")
        assert linked.code != 0 and [f["symbol"] for f in result.json()["findings"]] == ["tmpnam"], f"{linked}\n{result}"
