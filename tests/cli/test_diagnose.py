"""elfaudit diagnose: logs of failed builds in testdata/, with the objects that those builds left behind."""

import json
import os
import re
import shutil

import pytest

from elfaudit_test import SOURCE_DIR, need

STATE = "nvshmemi_ibgda_device_state_d"
EFA_STATE = "_ZN7deep_ep27nvshmemi_efa_device_state_dE"


def case(lab, name, objects=""):
    """Brings testdata/NAME here, with logs that name this folder, and compiles its sources: "g++ -g: a.cpp b.cpp"."""
    shutil.copytree(SOURCE_DIR / "testdata" / name, lab.path, dirs_exist_ok=True)
    for log in lab.path.glob("*.log"):
        log.write_text(log.read_text().replace("@HERE@", str(lab.path)))
    command, _, sources = objects.partition(":")
    for source in sources.split():
        lab.sh(f"{command} -c {source} -o {source.partition('.')[0]}.o")


def valid(result):
    """The JSON document of a diagnosis, held against its schema."""
    document = result.json()
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-diagnosis-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
    return document


def only_error(lab, log):
    result = lab.audit("diagnose", "--format", "json", log)
    assert result.code == 1, result
    [error] = valid(result)["errors"]
    return error


def sites(finding):
    return [(site["role"], os.path.basename(site["path"]), site["member"]) for site in finding["sites"]]


# --- the library header that defines a variable in host code: docker, setuptools and ninja show it


@pytest.mark.parametrize("log, line, command", [("docker.log", 9, 8), ("setuptools.log", 5, 4), ("ninja.log", 6, 5)])
def test_variable_of_a_library_header(lab, log, line, command):
    case(lab, "nvshmem-host")
    error = only_error(lab, log)
    assert (error["kind"], error["tool"], error["symbol"]) == ("duplicate-definition", "bfd", STATE)
    assert (error["line"], error["command_line"]) == (line, command)
    assert error["finding"]["rule"] == "duplicate-definition"
    assert sites(error["finding"]) == [("kept", "deep_ep.o", None), ("rejected", "libnvshmem_device.a", "init_device.cu.o")]
    kept = error["finding"]["sites"][0]
    assert kept["file"].endswith("nvshmem_common_ibgda.h") and kept["chain"][-1]["file"].endswith("csrc/kernels/configs.cuh")
    # The compile command that the log shows says what the macros were.
    assert "EXTERN_CONSTANT is empty here" in error["finding"]["cause"]["text"]
    assert "csrc/kernels/configs.cuh:7" in error["finding"]["fixes"][0]["text"]


def test_text_is_that_of_check(lab):
    case(lab, "efa-device")
    words = (lab.path / "undefined.log").read_text().splitlines()[1].split()[1:]
    checked = lab.audit("check", "--", "/gone/nvcc", *words).out
    expected = "log line 3 (and 1 more): undefined reference to deep_ep::nvshmemi_efa_device_state_d\n" + checked.split("\n\n")[0]
    assert lab.audit("diagnose", "undefined.log").out.startswith(expected)


def test_log_alone(lab):
    case(lab, "nvshmem-host")
    shutil.rmtree(lab.path / "prebuilt")
    result = lab.audit("diagnose", "setuptools.log")
    assert result.code == 1
    for expected in (f"log line 5: multiple definition of {STATE}", "from the log alone:",
                     "kept       prebuilt/deep_ep.o  include/device_host_transport/nvshmem_common_ibgda.h:32",
                     "rejected   prebuilt/libnvshmem_device.a(init_device.cu.o)  .bss+0x380",
                     "its objects are missing: prebuilt/deep_ep.o"):
        assert expected in result.out, (expected, result.out)


def test_libraries_that_are_not_here_are_named(lab):
    case(lab, "nvshmem-host")
    assert "missing inputs, left out of the audit: " in lab.audit("diagnose", "docker.log").out


# --- the port to another transport: three failures


def test_device_variable_defined_twice(lab):
    case(lab, "efa-device")
    error = only_error(lab, "duplicate.log")
    assert (error["tool"], error["arch"], error["symbol"]) == ("nvlink", "sm_80", EFA_STATE)
    assert error["demangled"] == "deep_ep::nvshmemi_efa_device_state_d"
    assert error["finding"]["rule"] == "device-duplicate-definition"
    assert {site["file"] for site in error["finding"]["sites"]} == {"csrc/kernels/efa_state.cuh"}


def test_device_variable_defined_nowhere(lab):
    case(lab, "efa-device")
    error = only_error(lab, "undefined.log")
    assert error["lines"] == [3, 4], "one error, whoever refers to it"
    assert error["finding"]["rule"] == "device-undefined-symbol"


def test_header_of_a_wrong_directory(lab):
    case(lab, "efa-device")
    lab.write("nvshmem_src/build/src/include/nvshmem.h", "")
    error = only_error(lab, "header.log")
    assert (error["kind"], error["name"]) == ("header-not-found", "nvshmem.h")
    assert error["chain"][-1] == {"file": "csrc/kernels/configs.cuh", "line": 80}
    folder = f"{lab.path}/nvshmem_src/build/src/include"
    assert error["nearby"] == [{"folder": folder, "file": f"{folder}/nvshmem.h", "exact": True}]
    out = lab.audit("diagnose", "header.log").out
    assert f"  fix: -I{folder} (the header is there)\n" in out
    assert "searched nvshmem_src/include (no such folder)" in out


@pytest.mark.parametrize("name, template", [("made1.h", "made1.h.in"), ("made2.hpp", "made2.in.hpp"), ("made3.h", "made3.h.cmake")])
def test_header_that_is_generated(lab, name, template):
    need("g++")
    lab.write(f"sdk/include/sub/{template}", "#define N @N@\n")
    lab.write("a.cpp", f"#include <sub/{name}>\n")
    lab.sh("(set -x; g++ -Isdk/include -c a.cpp) >build.log 2>&1", check=False)
    out = lab.audit("diagnose", "build.log").out
    assert f"sub/{name} is generated from {lab.path}/sdk/include/sub/{template} when that project is configured" in out, out


def test_folders_that_were_searched_elsewhere(lab):
    """Read on another machine, or from another folder: that a folder isn't here says nothing."""
    lab.write("build.log", "g++ -Icsrc/include -c csrc/a.cpp -o a.o\ncsrc/a.cpp:1:10: fatal error: x.h: No such file or directory\n")
    out = lab.audit("diagnose", "build.log").out
    assert "searched csrc/include (relative to the folder that the command ran in, which is unknown)" in out, out
    lab.write("csrc/a.cpp", "#include <x.h>\n")
    assert "searched csrc/include (no such folder)" in lab.audit("diagnose", "build.log").out


def test_header_that_is_nowhere(lab):
    case(lab, "efa-device")
    assert only_error(lab, "header.log")["fixes"] == []
    assert "nvshmem.h was not found in or near " in lab.audit("diagnose", "header.log").out


# --- what only the compiler has to say: the first message of each command is quoted

def plain_quotes(text):
    return text.replace("‘", "'").replace("’", "'")


TWICE = "int v;\nint v;\nint w = u;\n"


@pytest.mark.parametrize(
    "compiler, name, source, says",
    [
        ("g++", "x.cpp", TWICE, "x.cpp:2:5: error: redefinition of 'int v'"),
        ("clang++", "x.cpp", TWICE, "x.cpp:2:5: error: redefinition of 'v'"),
        ("gcc", "x.c", "int f(void) { return g }\n", "x.c:1:22: error: 'g' undeclared"),
        ("gcc", "x.s", "  nosuch %eax\n", "x.s:1: Error: no such instruction"),
        ("nvcc", "x.cu", "__device__ int v;\n__device__ int v;\n", 'x.cu(2): error: variable "v" has already been defined'),
        ("nvcc -arch=sm_10", "x.cu", "int v;\n", "nvcc fatal   : "),
        ("g++ -fno-such-thing", "x.cpp", "int v;\n", "g++: error: unrecognized command-line option '-fno-such-thing'"),
        ("g++ -std=c++17", "x.cpp", "static_assert(false, \"no\");\n", "x.cpp:1:15: error: static assertion failed: no"),
    ],
)
@pytest.mark.parametrize("tool", ["ninja", "make"])
def test_compile_errors_are_quoted(lab, compiler, name, source, says, tool):
    need(compiler.split()[0], tool)
    lab.write(name, source)
    lab.write("build.ninja", f"rule cc\n  command = {compiler} -c $in -o $out\nbuild x.o: cc {name}\n")
    lab.write("Makefile", f"x.o: {name}\n\t{compiler} -c $< -o $@\n")
    lab.sh(f"{tool} >build.log 2>&1", check=False)
    result = lab.audit("diagnose", "build.log")
    headlines = [line for line in plain_quotes(result.out).splitlines() if line.startswith("log line")]
    assert result.code == 1 and len(headlines) == 1 and says in headlines[0], result
    [error] = valid(lab.audit("diagnose", "--format", "json", "build.log"))["errors"]
    assert error["kind"] == "compile-error"


def test_compile_error_in_a_header(lab):
    need("g++")
    lab.write("in.h", "int f() { return nothing; }\n")
    lab.write("x.cpp", '\n#include "in.h"\n')
    lab.sh("(set -x; g++ -c x.cpp) >build.log 2>&1", check=False)
    error = only_error(lab, "build.log")
    assert error["kind"] == "compile-error" and plain_quotes(error["text"]).startswith("in.h:1:18: error: 'nothing' was not declared")
    assert error["chain"] == [{"file": "x.cpp", "line": 2}] and error["command_line"] == 1


def test_no_compile_errors(lab):
    """What configure tries, warnings, and prose."""
    lab.write("build.log", "conftest.c:3:1: error: unknown type name 'x'\na.cpp:3:1: warning: error: no\nsee notes.md:3: error: is a word\n")
    assert lab.audit("diagnose", "build.log").code == 0


# --- other well-known ones


def test_header_without_extern_since_gcc_10(lab):
    need("gcc")
    case(lab, "c-common", "gcc -g -fno-common: main.c print.c")
    error = only_error(lab, "build.log")
    assert error["command_line"] == 4 and error["symbol"] == "verbosity"
    assert "does not say extern" in error["finding"]["cause"]["text"]
    assert error["finding"]["sites"][0]["file"] == "options.h"


def test_function_in_a_header(lab):
    need("g++")
    case(lab, "header-function", "g++ -g: main.cpp filter.cpp")
    error = only_error(lab, "build.log")
    assert (error["tool"], error["symbol"]) == ("lld", "_Z13clamp_to_bytei")
    assert "inline" in error["finding"]["fixes"][0]["text"]


def test_specialisation_in_a_header(lab):
    need("g++")
    case(lab, "specialisation", "g++ -g -O2: reader.cpp writer.cpp")
    error = only_error(lab, "build.log")
    assert (error["tool"], error["demangled"]) == ("gold", "char const* name_of<float>()")
    assert {site["file"] for site in error["finding"]["sites"]} == {"name_of.h"}


def test_one_switch_in_two_files_is_one_error(lab):
    need("g++")
    lab.write("lib.h", "void f();\nvoid g();\n#ifdef LIB_IMPLEMENTATION\nvoid f() {}\nvoid g() {}\n#endif\n")
    for name in "ab":
        lab.write(f"{name}.cpp", f'#define LIB_IMPLEMENTATION\n#include "lib.h"\nint other_{name};\n')
        lab.sh(f"g++ -g -MD -c {name}.cpp -o {name}.o")
    lab.write("c.cpp", "int other_a;\n")
    lab.sh("g++ -g -MD -c c.cpp -o c.o; (set -x; g++ -shared -o x.so a.o b.o c.o) 2>build.log || true")
    switched, other = valid(lab.audit("diagnose", "--format", "json", "build.log"))["errors"]
    assert len(switched["lines"]) == 2 and [f["symbol"] for f in switched["finding"]["also"]] == ["_Z1gv"]
    assert (other["symbol"], other["finding"]["cause"]["kind"]) == ("other_a", "two-definitions")
    text = lab.audit("diagnose", "build.log").out
    assert "(and 1 more, about 2 symbols): multiple definition of f()" in text and "3 errors in the log, grouped by cause into 2;" in text


def test_compile_commands_of_the_log_tell_the_cause(lab):
    # No debug info, no depfile, no compile_commands.json: what the log shows is enough to read the sources.
    need("g++")
    case(lab, "specialisation", "g++ -fPIC -O2: reader.cpp writer.cpp")
    finding = only_error(lab, "build.log")["finding"]
    assert [(site["file"], site["known_by"], site["chain"][0]["file"]) for site in finding["sites"]] == [
        ("name_of.h", "source-scan", "reader.cpp"), ("name_of.h", "source-scan", "writer.cpp")]
    assert finding["cause"] and "inline" in finding["fixes"][0]["text"]


def test_one_archive_under_two_names(lab):
    need("g++", "ar")
    case(lab, "copied-archive", "g++ -g: main.cpp ring.cpp")
    lab.ar("libring.a", "ring.o")
    (lab.path / "third_party").mkdir()
    shutil.copy(lab.path / "libring.a", lab.path / "third_party")
    result = lab.audit("diagnose", "--format", "json", "build.log")
    document = valid(result)
    [error] = document["errors"]
    assert [error["demangled"], *(other["demangled"] for other in error["finding"]["also"])] == ["ring_size", "ring_capacity()"]
    assert "the same object" in error["finding"]["cause"]["text"]
    assert len(document["links"]) == 1, "one audit for all errors of a command"


def test_undefined_host_symbol(lab):
    need("g++")
    lab.cc("a.o", "void gone(int); int main() { gone(1); }")
    lab.write("x.log", "g++ a.o -o x\n/usr/bin/ld: a.o: in function `main':\na.cpp:(.text+0xa): undefined reference to `gone(int)'\n")
    error = only_error(lab, "x.log")
    assert error["symbol"] == "_Z4gonei" and error["finding"]["rule"] == "undefined-symbol"
    assert sites(error["finding"]) == [("reference", "a.o", None)]


LTO_MESSAGES = {  # of one reference in work(int), by linker and whether there is debug info: the place that the message gives
    "/usr/bin/ld.bfd: /tmp/ccB0t03P.ltrans0.ltrans.o: in function `work(int)':\n/src/<artificial>:3: undefined reference to `gone(int)'\n": "",
    "/src/a.cpp:3: error: undefined reference to 'gone(int)'\n": "/src/a.cpp:3",
    "mold: error: undefined symbol: gone(int)\n>>> referenced by <artificial>\n>>>               /tmp/cczU.ltrans0.ltrans.o:(work(int))\n": "",
    "ld.lld: error: undefined symbol: gone(int)\n>>> referenced by a.cpp:3 (/src/a.cpp:3)\n>>>               lto.tmp:(work(int))\n": "/src/a.cpp:3",
    "ld.lld: error: undefined symbol: gone(int)\n>>> referenced by ld-temp.o\n>>>               x.lto.o:(work(int))\n": "",
    "mold: error: undefined symbol: gone(int)\n>>> referenced by ld-temp.o\n>>>               /tmp/lto-llvm-9c3391.o:(work(int))\n": "",
}


@pytest.mark.parametrize("message, place", LTO_MESSAGES.items())
def test_undefined_symbol_of_link_time_optimisation(lab, message, place):
    """The link compiled that code to a file that is gone: it is called what it is, and a source line is shown if there is one."""
    lab.write("x.log", message)
    shown = lab.audit("diagnose", "x.log").out
    assert "undefined reference to gone(int)" in shown and ".o" not in shown.replace("ld.bfd", ""), shown
    assert "artificial" not in shown and "lto.tmp" not in shown, shown
    assert place in shown and ("code made by link-time optimisation" in shown or "error: undefined" in message), shown


def test_source_line_that_only_the_log_of_link_time_optimisation_has(lab):
    need("g++")
    lab.cc("a.o", "void gone(int); int main() { gone(1); }", "g++ -flto")
    lab.write("x.log", "g++ -flto a.o -o x\n/src/a.cpp:3: error: undefined reference to 'gone(int)'\n")
    shown = lab.audit("diagnose", "x.log").out
    assert "the log also shows:\n  reference  /src/a.cpp:3" in shown, shown


def test_archive_that_stands_too_early(lab):
    need("g++", "ar")
    lab.cc("a.o", "void late(); int main() { late(); }")
    lab.ar("liblate.a", lab.cc("late.o", "void late() {}"))
    lab.write("x.log", "g++ liblate.a a.o -o x\n/usr/bin/ld: a.o: in function `main':\na.cpp:(.text+0x5): undefined reference to `late()'\n")
    finding = only_error(lab, "x.log")["finding"]
    assert finding["cause"]["kind"] == "library-too-early" and finding["fixes"][0]["text"] == "move liblate.a after a.o"


def test_library_in_a_neighbouring_folder(lab):
    lab.write("pkg/lib64/libshm.so.3", "")
    lab.write("x.log", "g++ a.o -Lpkg/lib -lshm -o x\n/usr/bin/ld: cannot find -lshm: No such file or directory\n")
    error = only_error(lab, "x.log")
    assert (error["kind"], error["nearby"][0]["exact"]) == ("library-not-found", False)
    assert error["fixes"] == [f"-L{lab.path}/pkg/lib64 -l:libshm.so.3 (it exists only under this name)"]


def test_one_header_missed_by_many_is_one_error(lab):
    lines = [f"g++ -Iinc -c {n}.cpp -o {n}.o\n{n}.cpp:1:10: fatal error: x.h: No such file or directory\n" for n in "abc"]
    lab.write("x.log", "".join(lines))
    assert only_error(lab, "x.log")["lines"] == [2, 4, 6]


def test_objects_built_again_since(lab):
    need("g++")
    lab.cc("a.o", "int state; int main() {}")
    lab.cc("b.o", "extern int state; int* p = &state;")
    lab.write("x.log", "g++ a.o b.o -o x\n/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `state'; a.o:(.bss+0x0): first defined here\n")
    error = only_error(lab, "x.log")
    assert error["finding"] is None and "now: defined by a.o" in error["note"]


SKIPPED = "/usr/bin/ld: skipping incompatible lib/libutil.a when searching for -lutil\n"


def of_another_machine(lab, name="util"):
    """A program of lib/main.o and of an archive whose first member is for aarch64."""
    need("aarch64-linux-gnu-gcc")
    (lab.path / "lib").mkdir()
    lab.cc("lib/main.o", "int add(int); int mul(int); int main(void) { return add(mul(2)); }", "gcc -xc")
    lab.cc("lib/util.o", "int add(int a) { return a; }", "aarch64-linux-gnu-gcc -xc")
    lab.cc("lib/mul.o", "int mul(int a) { return -a; }", "gcc -xc")
    lab.sh(f"ar rcs lib/lib{name}.a lib/util.o lib/mul.o")
    command = f"gcc -o hw lib/main.o -Llib -l{name}"
    lab.write("x.log", f"{command}\n" + lab.sh(command, check=False).err)


def test_a_library_that_the_link_passed_over(lab):
    """Whether the linker finds another of that name (libutil.a of older glibc) or none, that one is the cause."""
    of_another_machine(lab)
    lab.write("y.log", "gcc -o hw lib/main.o -Llib -lutil\n" + SKIPPED + "/usr/bin/ld: lib/main.o: in function `main':\nm.c:(.text+0x9): undefined reference to `add'\n")
    lab.write("z.log", SKIPPED + "/usr/bin/ld: cannot find -lutil: No such file or directory\n")
    for log in ("x.log", "y.log", "z.log"):
        for error in valid(lab.audit("diagnose", "--format", "json", log))["errors"]:
            words = json.dumps([error["fixes"], error["note"], error["finding"]])
            assert "lib/libutil.a" in words and "for aarch64" in words and "not on the line: " not in words and '"-L' not in words, error
    lab.cc("lib/util.o", "int add(int a) { return a; }", "gcc -xc")  # the edit: it is built again
    lab.sh("rm lib/libutil.a; ar rcs lib/libutil.a lib/util.o lib/mul.o; gcc -o hw lib/main.o -Llib -lutil")


def test_a_library_passed_over_is_a_second_thought(lab):
    """What the name alone says comes first; a system for several machines has libraries that every link passes over."""
    undefined = "/usr/bin/ld: a.o: in function `f':\na.c:7: undefined reference to `sqrt'\n"
    error = only_error(lab, lab.write("x.log", SKIPPED + undefined))
    assert "-lm" in error["fixes"][0] and error["fixes"][1].startswith("if libutil.a is to define it: "), error
    error = only_error(lab, lab.write("x.log", SKIPPED.replace("lib/", "/usr/lib32/") + undefined))
    assert "libutil" not in json.dumps([error["fixes"], error["note"]]), error
    error = only_error(lab, lab.write("x.log", SKIPPED.replace("lib/", "/usr/lib32/") + "/usr/bin/ld: cannot find -lutil: No such file or directory\n"))
    assert error["fixes"] == ["install the development package of util for the machine of the link"], error


def test_no_library_is_called_nearly_like_itself(lab):
    of_another_machine(lab, "hwmath")
    log = (lab.path / "x.log").read_text()
    for text in (log, "".join(line for line in log.splitlines(True) if "skipping" not in line)):
        error = only_error(lab, lab.write("x.log", text))
        assert error["fixes"][0].startswith("build lib/libhwmath.a for x86_64") and "did you mean" not in json.dumps(error), error


def test_lto_that_a_link_cannot_read_is_one_error(lab):
    need("clang++")
    lab.cc("f.o", "int f() { return 1; }", "clang++ -flto")
    lab.cc("m.o", "int f(); int main() { return f(); }")
    lab.sh("ar rcs libf.a f.o")
    lab.write("x.log", "g++ m.o -L. -lf -o m\n" + lab.sh("g++ m.o -L. -lf -o m", check=False).err)
    error = only_error(lab, "x.log")
    assert error["finding"]["rule"] == "lto-not-read" and "more, which" not in lab.audit("diagnose", "x.log").out, error


def test_objects_below_the_log(lab):
    """A log without the command names b/main.o as main.o, and its source by the whole path."""
    lab.write("a/shape.h", "struct Shape { virtual ~Shape(); virtual int area() const; static int made; };\n")
    lab.write("b/main.cpp", '#include "../a/shape.h"\nstruct Sq : Shape { int area() const override { return ++made; } };\nint main() { Sq s; return s.area(); }\n')
    lab.write("x.log", lab.sh(f"cd b; g++ -g -c {lab.path}/b/main.cpp; g++ main.o -o app", check=False).err)
    (lab.path / "elsewhere").mkdir()
    for folder, log in ((".", "x.log"), ("elsewhere", "../x.log"), ("elsewhere", "-")):
        result = lab.sh(f"cd {folder}; grep undefined {lab.path}/x.log | {os.environ['ELFAUDIT']} diagnose --format json {log}", check=False)
        assert all(error["finding"] for error in json.loads(result.out)["errors"]), result


ODR = {  # what two sources declare -> the place that the warning names besides, part of the note, of the fix
    "type": ("struct S { int a; }; int f(S s) { return s.a; } int main() { return f(S()); }", "struct S { long a, b; }; long g(S s) { return s.b; }", "g++", "field"),
    "enum": ("enum E { A, B }; E f() { return A; } int main() {}", "enum E { A, B, C }; E g() { return C; }", "g++", "number of values"),
    "variable": ("extern int v; int main(void) { return v; }", "double v = 1;", "gcc -xc", "should match"),
    "function": ("double f(double); int main(void) { return (int)f(2); }", "int f(int a) { return a; }", "gcc -xc", "return value"),
}  # fmt: skip


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("what", ODR)
def test_types_that_differ_under_link_time_optimisation(lab, what, locale):
    first, second, compiler, difference = ODR[what]
    objects = [lab.cc(f"{name}.o", source, f"{compiler} -O2 -flto") for name, source in (("a", first), ("b", second))]
    log = lab.sh(f"LC_ALL={locale} {compiler.split()[0]} -O2 -flto {' '.join(objects)} -o x", check=False).err
    error = only_error(lab, lab.write("x.log", log))
    assert error["kind"] == "declaration-mismatch" and len(error["sites"]) == 2 and error["symbol"] in ("S", "E", "v", "f"), error
    assert difference in error["note"] and "in one header that both include" in error["fixes"][0], error


def test_objects_that_are_older_than_their_header(lab):
    for name, macro in (("a", "-DWIDE"), ("b", "-UWIDE")):
        lab.write("s.h", "struct S {\n#ifdef WIDE\n  long wide = 1;\n#endif\n  int a = 2;\n};\n")
        lab.write(f"{name}.cpp", f'#include "s.h"\nint get_{name}(S s) {{ return s.a; }}\n' + ("int main() { return get_a(S()); }\n" if name == "a" else ""))
        lab.sh(f"g++ -O2 -flto {macro} -c {name}.cpp")
    error = only_error(lab, lab.write("x.log", lab.sh("g++ -O2 -flto a.o b.o -o x", check=False).err))
    assert "S is not the same in all objects" in error["note"] and "compile all objects again" in error["fixes"][0], error


def test_two_sources_of_a_unity_build(lab):
    """The edit that is told is made, and the build passes."""
    need("cmake", "ninja")
    for name in "ab":
        lab.write(f"src/{name}.cpp", f"static int helper() {{ return 1; }}\nint {name}() {{ return helper(); }}\n")
    lab.write("src/m.cpp", "int a(); int b(); int main() { return a() - b(); }\n")
    project = "cmake_minimum_required(VERSION 3.16)\nproject(u CXX)\nset(CMAKE_UNITY_BUILD ON)\nadd_executable(u src/a.cpp src/b.cpp src/m.cpp)\n"
    lab.write("CMakeLists.txt", project)
    lab.write("x.log", lab.sh("cmake -G Ninja -B build . >/dev/null; ninja -C build", check=False).out)
    error = only_error(lab, "x.log")
    assert "a.cpp and b.cpp both define it" in error["note"], error
    lab.write("CMakeLists.txt", project + error["fixes"][0].partition("(CMake: ")[2].removesuffix(")") + "\n")
    lab.sh("cmake -B build . && ninja -C build && build/u")


PREFIXES = ["> ", "[build] ", "myapp> ", "[app:build] ", "  [stderr] ", "build-1  | ", "pod/x: ", "app:build: ", "[10:20:30]W:\t [Step 1/2] ", "[ERROR] "]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_name_before_each_line(lab, prefix):
    twice(lab)
    for linker in ("bfd", "gold", "lld", "mold"):
        command = f"g++ -fuse-ld={linker} a.o b.o helper.o -o x"
        log = f"{command}\n" + lab.sh(command, check=False).err
        error = only_error(lab, lab.write("x.log", "".join(prefix + line for line in log.splitlines(True))))
        assert error["command_line"] == 1 and error["finding"]["rule"] == "duplicate-definition", error


def test_a_line_that_names_only_the_source(lab):
    """As it is pasted alone, with a prefix of which nothing is known."""
    lab.write("m.cpp", "int f();\nint main() { return f(); }\n")
    lab.sh("g++ -c m.cpp")
    for prefix in ("", "host1 => /usr/bin/ld: "):
        error = only_error(lab, lab.write("x.log", prefix + "m.cpp:(.text+0x5): undefined reference to `f()'\n"))
        assert error["finding"]["sites"][0]["input"] == "m.o", error


def test_names_of_who_writes_at_once(lab):
    twice(lab)
    log = "g++ a.o b.o helper.o -o x\n" + lab.sh("g++ a.o b.o helper.o -o x", check=False).err
    lab.write("x.log", "".join(f"[app:build] {line}[docs:build] page written\n" for line in log.splitlines(True)))
    assert only_error(lab, "x.log")["finding"]["rule"] == "duplicate-definition"


# --- the program


@pytest.mark.parametrize("line", [
    "x: collect2: error: ld returned 1 exit status", "?? clang: error: linker command failed with exit code 1 (use -v to see invocation)", "ninja: build stopped: subcommand failed.",
    "* make: *** [Makefile:2: a.o] Error 1", "error: command '/usr/bin/g++' failed with exit code 1", "error: metadata-generation-failed", "collect2: error: ld returned 1 exit status",
])  # fmt: skip
def test_a_failure_of_which_the_cause_is_not_known(lab, line):
    """No prefix and no message that nobody has thought of may make a failed build look like one that passed."""
    lab.write("x.log", f"g++ a.o -o x\nsome linker: it does not like this\n{line}\n")
    result = lab.audit("diagnose", "x.log")
    assert result.code == 1 and "the message above this line is not one that is known here" in result.out, result


def test_exit_codes(lab):
    lab.write("good.log", "[1/1] g++ -c a.cpp -o a.o\n")
    assert lab.audit("diagnose", "good.log").code == 0
    assert lab.audit("diagnose", "gone.log").code == 2
    assert lab.audit("diagnose").code == 2
    lab.write("failed.log", "g++ -c a.cpp -o a.o\nmake: *** [Makefile:2: a.o] Error 1\n")
    assert lab.audit("diagnose", "failed.log").code == 1, "a failure without a reason is an error too"


def test_standard_input(lab):
    case(lab, "efa-device")
    result = lab.sh(f"'{os.environ['ELFAUDIT']}' diagnose - < duplicate.log", check=False)
    assert result.code == 1 and "device-duplicate-definition" in result.out


def test_log_elsewhere_than_the_build(lab):
    case(lab, "efa-device")
    (lab.path / "logs").mkdir()
    shutil.move(lab.path / "duplicate.log", lab.path / "logs")
    assert "device-duplicate-definition" in lab.audit("diagnose", "logs/duplicate.log").out


CMAKE_TWICE = """cmake_minimum_required(VERSION 3.21)
project(p CXX)
add_executable(app main.cpp other.cpp)
"""


@pytest.mark.deep
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
@pytest.mark.parametrize("folder", ["build", "out/release"])
def test_log_of_cmake_build_is_explained_from_the_source_folder(lab, generator, folder):
    """cmake prints no "Entering directory", and ninja's paths are relative to the build folder."""
    need("cmake", "g++", "ninja" if generator == "Ninja" else "make")
    lab.write("CMakeLists.txt", CMAKE_TWICE)
    lab.write("state.h", "int state;\n")
    lab.write("main.cpp", '#include "state.h"\nint main() {}\n')
    lab.write("other.cpp", '#include "state.h"\n')
    lab.sh(f"cmake -G '{generator}' -S . -B {folder}; cmake --build {folder} -v 2>&1 | tee build.log")
    error = only_error(lab, "build.log")
    assert error["finding"]["rule"] == "duplicate-definition"
    assert {os.path.relpath(lab.path / site["path"], lab.path) for site in error["finding"]["sites"]} == {f"{folder}/CMakeFiles/app.dir/{n}.cpp.o" for n in ("main", "other")}
    assert [site["file"] for site in error["finding"]["sites"]] == ["state.h", "state.h"]
    result = lab.audit("diagnose", "build.log")
    assert "1 explained by auditing its link" in result.out, result
    if generator == "Ninja":
        assert f"it is assumed to have run in {folder}, the build folder that contains its objects" in result.out, result
    lab.sh(f"mkdir logs && cp build.log logs && rm -r {folder}")
    result = lab.audit("diagnose", "logs/build.log")
    assert "if they still exist, run elfaudit in the folder that the build ran in" in result.out or generator != "Ninja", result


def test_folder_that_the_log_names(lab):
    need("g++")
    for name in ("a", "b"):
        lab.cc(f"out/{name}.o", "int state;")
    lab.write("x.log", f"make: Entering directory '{lab.path}/out'\ng++ -shared a.o b.o -o x.so\n"
                       "/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `state'; a.o:(.bss+0x0): first defined here\n")
    assert only_error(lab, "x.log")["finding"]["rule"] == "duplicate-definition"


def response_file_case(lab, path):
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int state;")
    lab.write(path, "b.o")
    return f"g++ -shared a.o @{path} -o x.so\n/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `state'; a.o:(.bss+0x0): first defined here\n"


def test_response_file_below_the_folder(lab):
    need("g++")
    lab.write("x.log", response_file_case(lab, "objects.rsp"))
    assert only_error(lab, "x.log")["finding"]["rule"] == "duplicate-definition"


def test_response_file_elsewhere_is_not_read(lab, tmp_path_factory):
    need("g++")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "objects.rsp"
    lab.write("x.log", response_file_case(lab, str(elsewhere)))
    result = lab.audit("diagnose", "x.log")
    assert "was not read: not found below the folder that the command ran in" in result.out and "[duplicate-definition]" not in result.out


# --- nothing that a log names is run


@pytest.mark.parametrize("program", ["g++", "c++", "clang++", "ld", "ld.lld", "nvcc", "nvlink", "ccache g++", "env X=1 nvcc"])
@pytest.mark.parametrize("absolute", [False, True])
def test_nothing_is_run(lab, monkeypatch, program, absolute):
    need("g++")
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int state;", "g++ -g")
    names = [word for word in program.split() if "=" not in word and word != "env"]
    for name in [*names, "as", "cc1plus", "collect2", "ld", "nvlink", "ar"]:
        lab.write(f"fake/{name}", f"#!/bin/sh\necho {name} >> '{lab.path}/was-run'\n")
        (lab.path / "fake" / name).chmod(0o755)
    from elfaudit_test import ENVIRONMENT
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{lab.path}/fake:{ENVIRONMENT['PATH']}")
    command = program.replace(names[-1], f"{lab.path}/fake/{names[-1]}") if absolute else program
    device = "-dlink -arch=sm_80 " if "nvcc" in program else ""
    lab.write("x.log", f"{command} -g -c a.cpp -o a.o\n{command} {device}a.o b.o -o x\n"
                       "/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `state'; a.o:(.bss+0x0): first defined here\n"
                       "nvlink error   : Multiple definition of 'state' in 'b.o', first defined in 'a.o'\n"
                       "a.cpp:1:10: fatal error: x.h: No such file or directory\n"
                       "/usr/bin/ld: cannot find -lgone: No such file or directory\n")
    result = lab.audit("diagnose", "x.log")
    assert result.code == 1 and "explained by auditing its link" in result.out, result
    assert not (lab.path / "was-run").exists(), (lab.path / "was-run").read_text()


def test_the_fakes_would_be_noticed(lab):
    # `check --` asks the driver: the control of the test above.
    lab.write("g++", f"#!/bin/sh\ntouch '{lab.path}/was-run'\n")
    (lab.path / "g++").chmod(0o755)
    lab.audit("check", "--", lab.path / "g++", "a.o", "-o", "x")
    assert (lab.path / "was-run").exists()


def test_every_option_is_in_the_docs(lab):
    page = (SOURCE_DIR / "docs" / "diagnose.md").read_text()
    options = set(re.findall(r"--[a-z][a-z-]+", lab.audit("diagnose", "--help-all").out)) - {"--help", "--help-all"}
    assert options == {"--allow-dirty", "--build", "--color", "--diff", "--fix", "--format", "--jobs", "--map-path", "--source-root"} and all(option in page for option in options)


def test_every_kind_is_in_the_docs():
    page = (SOURCE_DIR / "docs" / "diagnose.md").read_text()
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-diagnosis-1.schema.json").read_text())
    assert [kind for kind in schema["$defs"]["error"]["properties"]["kind"]["enum"] if f"`{kind}`" not in page] == []


# --- code that the output can't hold: what each linker says of it, on x86-64 and aarch64

NOT_PIC = [
    ("bfd", "/usr/bin/ld: libtab.a(tab.o): relocation R_X86_64_32S against `.bss' can not be used when making a shared object; recompile with -fPIC",
     "R_X86_64_32S", "", "libtab.a(tab.o)"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_PC32 against symbol `total' can not be used when making a shared object; recompile with -fPIC",
     "R_X86_64_PC32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_32 against hidden symbol `total' can not be used when making a PIE object", "R_X86_64_32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_PC32 against undefined symbol `total' can not be used when making a shared object", "R_X86_64_PC32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_TPOFF32 against symbol `total' can not be used when making a PDE object; recompile with -fPIE",
     "R_X86_64_TPOFF32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_PC32 against absolute symbol `total' in section `.text' is disallowed", "R_X86_64_PC32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: relocation R_X86_64_32 against STT_GNU_IFUNC symbol `total' isn't supported", "R_X86_64_32", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: copy relocation against non-copyable protected symbol `total' in libsum.so", "", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: non-canonical reference to canonical protected function `total' in libsum.so", "", "total", "tab.o"),
    ("bfd", "/usr/bin/ld: tab.o: warning: relocation against `total' in read-only section `.text'\n/usr/bin/ld: read-only segment has dynamic relocations",
     "", "total", "tab.o"),
    ("bfd", "aarch64-linux-gnu-ld: tab.o: relocation R_AARCH64_ADR_PREL_PG_HI21 against symbol `total' which may bind externally can not be used when making a shared object; recompile with -fPIC",
     "R_AARCH64_ADR_PREL_PG_HI21", "total", "tab.o"),
    ("bfd", "aarch64-linux-gnu-ld: tab.o: relocation R_AARCH64_ABS32 against `a local symbol' can not be used when making a shared object", "R_AARCH64_ABS32", "", "tab.o"),
    ("bfd", "aarch64-linux-gnu-ld: tab.o(.text+0x4): unresolvable R_AARCH64_ABS32 relocation against symbol `total'", "R_AARCH64_ABS32", "total", "tab.o"),
    ("bfd", "aarch64-linux-gnu-ld: tab.o: TLS relocation R_AARCH64_TLSLE_ADD_TPREL_HI12 against undefined symbol `total'", "R_AARCH64_TLSLE_ADD_TPREL_HI12", "total", "tab.o"),
    ("gold", "ld.gold: error: tab.o: requires dynamic R_X86_64_32 reloc against 'total' which may overflow at runtime; recompile with -fPIC", "R_X86_64_32", "total", "tab.o"),
    ("gold", "ld.gold: error: tab.o: requires dynamic R_X86_64_32 reloc which may overflow at runtime; recompile with -fPIC", "R_X86_64_32", "", "tab.o"),
    ("gold", "ld.gold: error: libtab.a(tab.o): requires unsupported dynamic reloc 11; recompile with -fPIC", "11", "", "libtab.a(tab.o)"),
    ("gold", "ld.gold: error: tab.o: unsupported reloc 23 against global symbol total", "23", "total", "tab.o"),
    ("gold", "ld.gold: error: tab.o: cannot make copy relocation for protected symbol 'total', defined in libsum.so", "", "total", "tab.o"),
    ("lld", "ld.lld: error: relocation R_X86_64_32 cannot be used against symbol 'total'; recompile with -fPIC\n>>> defined in sum.o\n>>> referenced by tab.o:(.text+0x1)",
     "R_X86_64_32", "total", "tab.o"),
    ("lld", "ld.lld: error: relocation R_X86_64_32S cannot be used against local symbol; recompile with -fPIC\n>>> defined in libtab.a(tab.o)\n>>> referenced by tab.c:2 (/src/tab.c:2)\n>>>               tab.o:(f) in archive libtab.a",
     "R_X86_64_32S", "", "libtab.a(tab.o)"),
    ("lld", "ld.lld: error: relocation R_X86_64_TPOFF32 against total cannot be used with -shared\n>>> defined in tab.o\n>>> referenced by tab.o:(.text+0x4)", "R_X86_64_TPOFF32", "total", "tab.o"),
    ("lld", "ld.lld: error: cannot preempt symbol: total\n>>> defined in libsum.so\n>>> referenced by tab.o:(.text+0x2)", "", "total", "tab.o"),
    ("lld", "ld.lld: error: unresolvable relocation R_X86_64_PC32 against symbol 'total'; recompile with -fPIC or remove '-z nocopyreloc'\n>>> defined in libsum.so\n>>> referenced by tab.o:(.text+0x2)",
     "R_X86_64_PC32", "total", "tab.o"),
    ("lld", "ld.lld: error: relocation R_AARCH64_CALL26 cannot refer to absolute symbol: total\n>>> defined in sum.o\n>>> referenced by tab.o:(.text+0x0)", "R_AARCH64_CALL26", "total", "tab.o"),
    ("lld", "ld.lld: error: tab.o:(.text+0x0): unknown relocation (513) against symbol total", "513", "total", "tab.o"),
    ("mold", "mold: error: tab.o:(.text): R_X86_64_32 relocation at offset 0x1 against symbol `total' can not be used; recompile with -fPIC", "R_X86_64_32", "total", "tab.o"),
    ("mold", "mold: error: libtab.a(tab.o):(.text): relocation R_X86_64_TPOFF32 against `total` can not be used when making a shared object; recompile with -fPIC",
     "R_X86_64_TPOFF32", "total", "libtab.a(tab.o)"),
    ("mold", "mold: error: tab.o:(.text): cannot make copy relocation for protected symbol 'total', defined in libsum.so; recompile with -fPIC", "", "total", "tab.o"),
]


@pytest.mark.parametrize("tool, message, relocation, symbol, place", NOT_PIC)
def test_a_relocation_that_does_not_fit(lab, tool, message, relocation, symbol, place):
    lab.write("build.log", f"gcc -O2 -fno-pic -c tab.c -o tab.o\n{message}\n")
    error = only_error(lab, "build.log")
    assert (error["kind"], error["tool"], error["symbol"] or "", error["name"] or "") == ("relocation-not-pic", tool, symbol, relocation)
    site = error["sites"][0]
    assert place == (f"{site['input']}({site['member']})" if site["member"] else site["input"])
    # The log shows how the object was compiled.
    assert "gcc compiled tab.c with -fno-pic" in str(error["note"])
    assert error["fixes"][0].startswith("compile tab.c with -fPIC")


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
def test_the_objects_say_why_a_relocation_does_not_fit(lab, linker):
    need("mold" if linker == "mold" else f"ld.{linker}")
    lab.write("tab.c", "static int tab[9]; int *f(int i) { return &tab[i]; } int *g(int i) { return &tab[i + 1]; }")
    commands = ["gcc -O1 -fno-pic -c tab.c -o tab.o", f"gcc -shared -fuse-ld={linker} tab.o -o tab.so"]
    lab.sh(f"{commands[0]}; (printf '%s\\n' {' '.join(map(repr, commands))}; {commands[1]}) > build.log 2>&1 || true")
    error = only_error(lab, "build.log")
    assert error["kind"] == "relocation-not-pic" and error["finding"]["rule"] == "relocation-not-pic"
    assert error["finding"]["cause"]["text"] == "gcc compiled tab.c with -fno-pic"
    assert error["finding"]["fixes"][0]["text"].startswith("compile tab.c with -fPIC")


# --- the link that made the errors, and what `check` says of it


def said(finding):
    return finding["rule"], finding["symbol"], finding["cause"] and finding["cause"]["text"], [fix["text"] for fix in finding["fixes"]]


def findings_of(document):
    found = [error["finding"] for error in document["errors"]] + [one for link in document["links"] for one in link["findings"]]
    return [said(finding) for finding in found if finding]


def twice(lab):
    """A header that defines a variable, in two objects, one of which also needs a function whose object lies beside them."""
    lab.write("state.h", "int state = 2;\n")
    lab.write("a.cpp", '#include "state.h"\nint helper(int);\nint main() { return helper(state); }\n')
    lab.write("b.cpp", '#include "state.h"\nint get() { return state; }\n')
    lab.write("helper.cpp", "int helper(int i) { return i; }\n")
    lab.sh("g++ -g -c a.cpp b.cpp helper.cpp")


def test_the_linkers_words_alone_are_enough(lab):
    need("g++")
    twice(lab)
    lab.sh("g++ a.o b.o 2> x.log", check=False)
    document = valid(lab.audit("diagnose", "--format", "json", "x.log"))
    assert [link["found_by"] for link in document["links"]] == ["files"]
    by_files = [said(finding) for finding in lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]]
    assert by_files[0] in findings_of(document) and "make it `inline` in state.h:1" in str(by_files)
    assert ("undefined-symbol", "_Z6helperi", "helper.o defines it, and may belong to this link", ["if it belongs to this link, add helper.o after a.o"]) in findings_of(document)


def test_what_is_on_an_unknown_line_is_not_known(lab):
    """The library was there, before what needs it; the source is in a library that hides it."""
    lab.write("f.cpp", "int f() { return 1; }\n")
    lab.cc("b.o", "#include <zlib.h>\nint f(); int main() { return zlibVersion()[0] + f(); }")
    lab.sh("g++ -shared -fPIC -fvisibility=hidden f.cpp -o libf.so; g++ -lz b.o libf.so 2> x.log", check=False)
    causes = {symbol: (cause, fix) for _, symbol, cause, [fix] in findings_of(valid(lab.audit("diagnose", "--format", "json", "x.log")))}
    cause, fix = causes["zlibVersion"]
    assert cause.endswith(" defines it: it is not on the line, or stands before what needs it") and fix == "put -lz after b.o"
    assert causes["_Z1fv"] == ("f.cpp:1 defines it: its object is not on the line, or is in a library that does not export it",
                               "if f.cpp belongs to this link: add its object, or export it from its library")


@pytest.mark.parametrize("command", ["g++ a.o b.o -o x", "clang++ a.o b.o -o x", "g++ -shared a.o b.o -Wl,-z,defs -o x.so", "g++ -fuse-ld=gold a.o b.o", "g++ -static a.o b.o"])
def test_it_says_what_check_says(lab, command):
    need("g++", command.split()[0])
    twice(lab)
    lab.write("x.log", command + "\n" + lab.sh(f"{command} 2>&1", check=False).out)
    checked = lab.audit("check", "--format", "json", "--", *command.split()).json()
    diagnosed = valid(lab.audit("diagnose", "--format", "json", "x.log"))
    assert sorted(findings_of(diagnosed), key=str) == sorted(map(said, checked["findings"]), key=str) and len(checked["findings"]) >= 2
    assert "-shared" in command or not diagnosed["links"][0]["findings"], "the log has them all"


def test_all_errors_of_the_link(lab):
    """lld stops after twenty."""
    need("g++", "ld.lld")
    lab.cc("a.o", "".join(f"void f{i}();" for i in range(30)) + "int main() {" + "".join(f"f{i}();" for i in range(30)) + "}")
    lab.write("x.log", "g++ -fuse-ld=lld a.o\n" + lab.sh("g++ -fuse-ld=lld a.o 2>&1", check=False).out)
    document = valid(lab.audit("diagnose", "--format", "json", "x.log"))
    assert {finding[1] for finding in findings_of(document)} == {f"_Z{2 if i < 10 else 3}f{i}v" for i in range(30)}
    assert len(document["links"][0]["findings"]) == 10
    assert "the link in log line 1 has 10 errors more, which the log doesn't show" in lab.audit("diagnose", "x.log").out


@pytest.mark.parametrize("verbose", ["", "-v"])
@pytest.mark.parametrize("generator", ["Ninja", pytest.param("Unix Makefiles", marks=pytest.mark.deep)])
def test_log_of_a_silent_cmake_build(lab, generator, verbose):
    need("cmake", "g++", "ninja" if generator == "Ninja" else "make")
    twice(lab)
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.21)\nproject(p CXX)\nadd_library(util STATIC helper.cpp)\n"
                                "add_executable(fine helper.cpp a.cpp)\nadd_executable(app a.cpp b.cpp)\n")
    lab.sh(f"cmake -G '{generator}' -DCMAKE_BUILD_TYPE=Debug -S . -B out && cmake --build out {verbose} -- -k > build.log 2>&1"
           if generator != "Ninja" else f"cmake -G Ninja -DCMAKE_BUILD_TYPE=Debug -S . -B out && cmake --build out {verbose} -- -k 0 > build.log 2>&1", check=False)
    document = valid(lab.audit("diagnose", "--format", "json", "build.log"))
    checked = lab.audit("check", "--format", "json", "-p", "out", "app").json()
    assert sorted(findings_of(document), key=str) == sorted(map(said, checked["findings"]), key=str)
    assert "target_link_libraries(app PRIVATE util)" in str(checked["findings"])
    assert [link["build"] for link in document["links"]] == ["out"]


def test_a_build_folder_seen_from_itself(lab):
    need("cmake", "g++", "make")
    twice(lab)
    lab.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.21)\nproject(p CXX)\nadd_executable(app a.cpp b.cpp helper.cpp)\n")
    lab.sh("cmake -S . -B build && cmake --build build > build/log 2>&1", check=False)
    for folder in [".", "./", lab.path / "build"]:
        result = lab.sh(f"cd build && '{os.environ['ELFAUDIT']}' check -p {folder}", check=False)
        assert result.code == 1 and "state is defined twice" in result.out, result
    result = lab.sh(f"cd build && '{os.environ['ELFAUDIT']}' diagnose log", check=False)
    assert result.code == 1 and "[duplicate-definition]" in result.out, result


def test_edits(lab):
    need("g++", "patch")
    twice(lab)
    lab.write("x.log", "g++ a.o b.o helper.o\n" + lab.sh("g++ a.o b.o helper.o 2>&1", check=False).out)
    assert "+inline int state = 2;" in lab.audit("diagnose", "--diff", "x.log").out
    result = lab.audit("diagnose", "--fix", "x.log")
    assert result.code == 1 and "edited state.h for 1 of 1 finding" in result.err, result
    lab.sh("g++ -c a.cpp b.cpp && g++ a.o b.o helper.o")


def test_paths_of_another_machine(lab):
    need("g++")
    twice(lab)
    lab.write("x.log", "+ cd /home/ci/p\ng++ -I/home/ci/p /home/ci/p/a.o b.o helper.o -o /home/ci/p/x\n"
                       "/usr/bin/ld: b.o:/home/ci/p/state.h:1: multiple definition of `state'; /home/ci/p/a.o:/home/ci/p/state.h:1: first defined here\n")
    assert not only_error(lab, "x.log")["finding"]
    document = valid(lab.audit("diagnose", "--format", "json", "--map-path", "/home/ci/p=.", "x.log"))
    assert [said(error["finding"])[0] for error in document["errors"]] == ["duplicate-definition"]
    lab.write("y.log", (lab.path / "x.log").read_text().replace("/home/ci/p", "/home/ci/p2"))
    assert not valid(lab.audit("diagnose", "--format", "json", "--map-path", "/home/ci/p=.", "y.log"))["errors"][0]["finding"]


@pytest.mark.parametrize("log, says", [(b"", "the log is empty"), (b" \n\n", "the log is empty"), (b"\x7fELF\x02\x01\x01" + bytes(64), "the log is not a text file")])
def test_what_is_no_log(lab, log, says):
    (lab.path / "x.log").write_bytes(log)
    result = lab.audit("diagnose", "x.log")
    assert result.code == 2 and says in result.err, result


def test_a_finding_of_several_links_is_one_error(lab):
    for name, source in {"a": "int state; int a() { return state; }", "b": "int state; int b() { return state; }", "m": "int main() { return 0; }"}.items():
        lab.cc(f"{name}.o", source)
    log = "".join(f"g++ m.o a.o b.o -o {out}\n" + lab.sh(f"g++ m.o a.o b.o -o {out}", check=False).err for out in ("x", "y", "z"))
    error = only_error(lab, lab.write("build.log", log))
    assert error["finding"]["links"] == ["x", "y", "z"] and len(error["lines"]) == 3, error
    assert "link      x, y, z" in lab.audit("diagnose", "build.log").out


@pytest.mark.parametrize("line, kind, says", [
    ("make: *** No rule to make target 'x.cu', needed by 'x.o'.  Stop.", "input-not-found", "x.cu"),
    ("error: unknown file type '.cu' (from 'kern.cu')", "command-failed", "CUDAExtension"),
])  # fmt: skip
def test_a_build_that_fails_before_its_link(lab, line, kind, says):
    error = only_error(lab, lab.write("build.log", f"running build_ext\n{line}\n"))
    assert error["kind"] == kind and says in json.dumps(error), error


def test_a_library_with_the_symbol_in_another_version(lab):
    """The audit of the file knows better than a look for the name."""
    for name, script in (("new", "V1 { g; }; V2 { f; };"), ("old", "V1 { f; }; V2 { g; };")):
        lab.write("v.map", script)
        lab.cc("f.o", "void f(void) { } void g(void) { }", "gcc -fPIC")
        lab.sh(f"mkdir -p {name}; gcc -shared f.o -Wl,--version-script=v.map -Wl,-soname,libf.so.1 -o {name}/libf.so.1")
    lab.cc("main.o", "void f(void); int main(void) { f(); }", "gcc")
    lab.sh("gcc main.o new/libf.so.1 -Wl,-rpath,$PWD/old -o app")
    log = lab.sh("./app 2>&1", check=False).out
    said = lab.audit("diagnose", lab.write("log", log)).out
    assert "undefined symbol: f, version V2" in log, log
    assert "libf.so.1 defines V2 without that symbol" in said, said
    assert "defines it: another copy of that library" not in said and "does not need that library" not in said, said
