"""Whether the stack of a link's output is executable, and for which object: compared with what each linker makes. And finished
files that ask for one."""

import pytest

from elfaudit_test import Lab, need
from linkers import AS_OPTION, PROGRAMS, every_linker_and_gold

need("gcc", "as", "ar", "ld.bfd", "readelf")

PLAIN = ".globl f\nf: xorl %eax, %eax\nret\n"
NOTE = PLAIN + '.section .note.GNU-stack,"{}",@progbits\n'
NESTED = """static int twice(int (*f)(int)) { return f(f(1)); }
int f(void)
{ int k = 1;
  int inner(int x) { return x - k; }
  return twice(inner); }
"""
# objects: (name, how it is made from which text)
OBJECTS = {
    "bare.o": (PLAIN, "as"), "asks.o": (NOTE.format("x"), "as"), "plain.o": (NOTE.format(""), "as -g"),
    "nested.o": (NESTED, "gcc -g"), "main.o": ("int f(void); int main(void) { return f(); }", "gcc"),
    "alone.o": ("int main(void) { return 0; }", "gcc"), "fat.o": (NESTED, "gcc -flto -ffat-lto-objects"),
}  # fmt: skip
# name: (the link, what the finding is about or None, its cause with GNU ld and gold)
LINKS = {
    "no note": ("main.o bare.o", "bare.o", "stack-note-missing"),
    "note": ("main.o asks.o", "asks.o", "stack-note-executable"),
    "trampoline": ("main.o nested.o", "nested.o", "nested-function"),
    "archive": ("main.o libbare.a", "libbare.a(bare.o)", "stack-note-missing"),
    "joined": ("joined.o", "joined.o", "stack-note-executable"),
    "joined without a note": ("main.o bare_r.o", "bare_r.o", "stack-note-missing"),
    "data of ld": ("alone.o data.o", "data.o", "stack-note-missing"),
    "data of objcopy": ("alone.o copied.o", "copied.o", "stack-note-missing"),
    "static": ("-static main.o bare.o", "bare.o", "stack-note-missing"),
    "shared": ("-shared bare.o", "bare.o", "stack-note-missing"),
    "without start files": ("-shared -nostdlib bare.o", "bare.o", "stack-note-missing"),
    "option": ("main.o plain.o -Wl,-z,execstack", "", "stack-option"),
    "option behind the other": ("main.o plain.o -Wl,-z,noexecstack -Wl,-z,execstack", "", "stack-option"),
    "plain": ("main.o plain.o", None, ""),
    "forbidden": ("main.o bare.o -Wl,-z,noexecstack", None, ""),
    "unused member": ("alone.o libbare.a", None, ""),
    "not optimised": ("-fno-lto main.o fat.o", "fat.o", "nested-function"),
}  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("stack"))
    for name, (text, command) in OBJECTS.items():
        lab.cc(name, text, command)
    lab.ar("libbare.a", "bare.o")
    lab.write("data.bin", "data")
    lab.sh("ld -r alone.o asks.o -o joined.o; ld -r bare.o -o bare_r.o; ld -r -b binary data.bin -o data.o")
    for linker, program in PROGRAMS.items():
        lab.sh(f'mkdir {linker}; ln -s "$(command -v {program})" {linker}/ld')
    lab.sh("objcopy -I binary -O elf64-x86-64 -B i386:x86-64 data.bin copied.o")
    return lab


def stack_of(lab, file):
    lines = [line for line in lab.sh(f"readelf -lW {file}").out.splitlines() if "GNU_STACK" in line]
    return "RWE" in lines[0] if lines else True  # x86-64's default


def findings(lab, *arguments):
    found = lab.audit("check", "--format", "json", *arguments).json()["findings"]
    return [one for one in found if one["rule"] == "executable-stack"]


@every_linker_and_gold
@pytest.mark.parametrize("case", LINKS)
def test_a_link(bench, case, linker):
    link, who, cause = LINKS[case]
    command = f"gcc -B {linker} {link} -o {linker}.out"
    found = findings(bench, "--linker", AS_OPTION[linker], "--", *command.split())
    bench.sh(command)
    assert bool(found) == stack_of(bench, f"{linker}.out"), found
    if linker in ("bfd", "gold") and who is not None:
        assert [one["cause"]["kind"] for one in found] == [cause]
        assert [site["input"] for site in found[0]["sites"]][:1] == ([who] if who else [])


def test_a_nested_function_has_its_line(bench):
    (found,) = findings(bench, "--", "gcc", "main.o", "nested.o", "-o", "app")
    assert found["sites"][0]["line"] == 4 and "inner" in found["message"]
    assert not [fix for fix in found["fixes"] if "noexecstack" in fix["text"]]  # the program would crash


def test_the_fixes_work(bench):
    for make in ("as --noexecstack bare.s -o fixed.o", "cp bare.o fixed.o; objcopy --add-section .note.GNU-stack=/dev/null fixed.o"):
        bench.sh(f"{make}; gcc main.o fixed.o -o app")
        assert not stack_of(bench, "app")


# name: (how it is linked, the severity or None)
FILES = {
    "module": ("-shared -fPIC -Wl,-z,execstack -x c - <<< 'void *PyInit_m(void) { return 0; }'", "error"),
    "library": ("-shared -fPIC -Wl,-z,execstack -x c - <<< 'int f(void) { return 0; }'", "warning"),
    "program": ("-Wl,-z,execstack -x c - <<< 'int main(void) { return 0; }'", "warning"),
    "plain": ("-shared -fPIC -x c - <<< 'void *PyInit_m(void) { return 0; }'", None),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_finished_file(lab, case):
    how, severity = FILES[case]
    lab.sh(f"gcc {how} -o m.so")
    assert [one["severity"] for one in findings(lab, "m.so")] == ([severity] if severity else [])


def test_a_program_and_its_library(lab):
    """The library is reported for the program's sake, but not where the program asks itself."""
    lab.sh("gcc -shared -fPIC -Wl,-z,execstack -x c - -o libf.so <<< 'int f(void) { return 0; }'")
    lab.cc("main.o", "int f(void); int main(void) { return f(); }", "gcc")
    for option, files in (("", ["libf.so"]), ("-Wl,-z,execstack", ["app"])):
        lab.sh(f"gcc main.o libf.so -Wl,-rpath,'$ORIGIN' {option} -o app")
        assert [one["sites"][0]["input"] for one in findings(lab, "app", "libf.so")] == files


def test_page_size(lab):
    for page, rules in ((4096, ["page-alignment"]), (65536, [])):
        lab.sh(f"gcc -shared -fPIC -Wl,-z,max-page-size={page} -x c - -o m.so <<< 'int f(void) {{ return 0; }}'")
        found = lab.audit("check", "--format", "json", "--page-size", "16k", "m.so").json()["findings"]
        assert [one["rule"] for one in found] == rules


def test_an_unused_archive(bench):
    found = bench.audit("check", "--severity", "archive-unused=on", "--format", "json", "--", "gcc", "alone.o", "libbare.a").json()
    assert [one["rule"] for one in found["findings"]] == ["archive-unused"]
    used = bench.audit("check", "--severity", "archive-unused=on", "--format", "json", "--", "gcc", "-z", "noexecstack", "main.o", "libbare.a")
    assert used.json()["findings"] == []
