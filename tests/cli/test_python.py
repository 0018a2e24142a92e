"""python-tag, python-abi, python-undefined, python-init and python-missing: what a module's suffix, its wheel's tag and its symbols say."""

import subprocess
import sys
import sysconfig

import pytest

from elfaudit_test import need, sampled
from elfaudit_wheels import errors, module, wheel

need("cc")

C312 = "deep_gemm/_C.cpython-312-x86_64-linux-gnu.so"
STABLE = "deep_gemm/_C.abi3.so"


def one_for_each(lab, *minors):
    code = module(lab, "_C.so", ["_PyObject_GetDictPtr"])  # that all of them have
    return {f"deep_gemm/_C.cpython-3{minor}-x86_64-linux-gnu.so": code for minor in minors}


def check(lab, *arguments):
    return lab.audit("check", "--format", "json", *arguments)


# --- python-tag


def test_a_module_for_another_version_than_the_tag(lab):
    result = lab.audit("check", wheel(lab, "vllm-1.0-cp310-cp310-linux_x86_64.whl", one_for_each(lab, 11)))
    assert "error: deep_gemm/_C is imported by CPython 3.11 only, but the tag cp310-cp310 promises CPython 3.10 [python-tag]" in result.out


def test_one_version_in_an_abi3_wheel(lab):
    """vLLM 0.20.0: pybind11's _C was built once, in a wheel for every CPython from 3.8 on."""
    name = wheel(lab, "vllm-1.0-cp38-abi3-linux_x86_64.whl", one_for_each(lab, 12), ">=3.10,<3.14")
    result = lab.audit("check", name)
    assert result.code == 1
    assert (
        "error: deep_gemm/_C is imported by CPython 3.12 only, but the tag cp38-abi3 promises CPython 3.10 to 3.13 [python-tag]"
        in result.out
    ), result


def test_one_wrong_tag_is_one_finding(lab):
    """numpy in a wheel that its builder called abi3: nineteen modules, and one tag."""
    files = {f"pkg/{name}.cpython-312-x86_64-linux-gnu.so": module(lab, f"{name}.so") for name in ("_a", "_b", "_c")}
    (finding,) = check(lab, wheel(lab, "pkg-1.0-cp310-abi3-linux_x86_64.whl", files, "<3.14")).json()["findings"]
    assert finding["message"] == "3 modules are imported by CPython 3.12 only, but the tag cp310-abi3 promises CPython 3.10 to 3.13"
    assert [site["member"] for site in finding["sites"]] == list(files) and "cp312-cp312" in finding["fixes"][1]["text"], finding
    later = {f"pkg/{name}.abi3.so": module(lab, f"{name}.abi3.so", uses) for name, uses in (("_a", ["PyType_GetModule"]), ("_b", ["PyObject_Vectorcall"]))}
    (finding,) = check(lab, wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", later)).json()["findings"]
    assert finding["message"] == "2 files use symbols that the stable ABI of CPython 3.8 does not have"
    assert finding["symbols"] == ["PyObject_Vectorcall", "PyType_GetModule"] and "tag the wheel cp312-abi3" in finding["fixes"][0]["text"], finding


def test_one_file_for_each_version_serves_the_tag(lab):
    name = wheel(lab, "vllm-1.0-cp38-abi3-linux_x86_64.whl", one_for_each(lab, 10, 11, 12, 13, 14), ">=3.10,<3.15")
    assert check(lab, name).code == 0


def test_another_file_serves_the_others(lab):
    files = {**one_for_each(lab, 12), STABLE: module(lab, "_C.abi3.so", ["PyList_New"])}
    assert check(lab, wheel(lab, "x-1.0-cp38-abi3-linux_x86_64.whl", files)).code == 0


def test_abi3_asked_of_the_wheel_but_not_of_the_extension(lab):
    """uefi-firmware: bdist_wheel's py_limited_api without that of the Extension."""
    files = {"pkg/efi.cpython-310-x86_64-linux-gnu.so": module(lab, "efi.so", ["PyList_New", "PyType_GetModule"])}
    result = lab.audit("check", wheel(lab, "uefi-1.0-cp310-abi3-linux_x86_64.whl", files))
    assert result.code == 1 and "[python-tag]" in result.out
    assert "what it uses is in the stable ABI of 3.10" in result.out and "py_limited_api=True" in result.out, result


@pytest.mark.parametrize(
    "tag, suffix, good",
    [
        ("cp37-cp37m", "cpython-310-x86_64-linux-gnu", False),  # a build system that found another Python
        ("cp37-cp37m", "cpython-37m-x86_64-linux-gnu", True),
        ("cp312-cp312", "cpython-312-x86_64-linux-gnu", True),
        ("cp312-cp312", "cpython-312-x86_64-linux-musl", True),
        ("cp312-cp312", "cpython-312", True),
        ("cp312-cp312", "cpython-312d-x86_64-linux-gnu", False),  # a debug build, which nobody installs
        ("cp312-cp312", "cpython-311-x86_64-linux-gnu", False),
        ("cp312-cp312", "abi3", True),
        ("cp312-none", "cpython-312-x86_64-linux-gnu", True),
        ("cp313-cp313t", "cpython-313t-x86_64-linux-gnu", True),
        ("cp313-cp313t", "cpython-313-x86_64-linux-gnu", False),
        ("cp313-cp313t", "abi3", False),  # free-threaded builds don't look for it
        ("cp313-cp313", "cpython-313t-x86_64-linux-gnu", False),
        ("pp310-pypy310_pp73", "pypy310-pp73-x86_64-linux-gnu", True),
        ("pp310-pypy310_pp73", "cpython-310-x86_64-linux-gnu", False),
        ("py3-none", "cpython-312-x86_64-linux-gnu", False),
        ("py2.py3-none", "", True),
        ("cp310.cp311-cp310.cp311", "cpython-310-x86_64-linux-gnu", False),
    ],
)
def test_suffix_against_tag(lab, tag, suffix, good):
    entry = f"pkg/_C.{suffix}.so" if suffix else "pkg/_C.so"
    name = wheel(lab, f"pkg-1.0-{tag}-linux_x86_64.whl", {entry: module(lab, "_C.so")})
    rules = {rule for rule, _ in errors(check(lab, name))}
    assert rules == (set() if good else {"python-tag"})


def test_helper_libraries_are_no_modules(lab):
    helper = module(lab, "libfoo.so", ["_PyObject_GetDictPtr"], exports="")
    files = {"pkg/libfoo.cpython-312-x86_64-linux-gnu.so": helper, "pkg/libfoo.so.1": helper}
    assert check(lab, wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", files)).code == 0


def test_a_module_in_the_data_folder_is_installed_over_the_package(lab):
    files = {"pkg-1.0.data/platlib/deep_gemm/_C.cpython-311-x86_64-linux-gnu.so": module(lab, "_C.so"), **one_for_each(lab, 10)}
    name = wheel(lab, "pkg-1.0-cp310-abi3-linux_x86_64.whl", files, ">=3.10,<3.12")
    assert check(lab, name).code == 0


def test_folders_that_name_a_version_are_one_module(lab):
    files = {f"pkg/libs/py3{m}/_C.cpython-3{m}-x86_64-linux-gnu.so": module(lab, "_C.so") for m in (11, 12)}
    assert check(lab, wheel(lab, "pkg-1.0-py3-none-linux_x86_64.whl", files, ">=3.11,<3.13")).code == 0


# --- python-abi


def test_symbols_outside_of_the_stable_abi(lab):
    uses = ["PyList_New", "_PyObject_GetDictPtr", "_PyThreadState_UncheckedGet", "PyType_GetModule"]
    name = wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", {STABLE: module(lab, "_C.abi3.so", uses)})
    result = check(lab, name)
    (finding,) = result.json()["findings"]
    assert result.code == 1 and finding["rule"] == "python-abi"
    assert finding["symbols"] == ["PyType_GetModule", "_PyObject_GetDictPtr", "_PyThreadState_UncheckedGet"]
    assert finding["message"] == f"{STABLE} uses 3 symbols that the stable ABI of CPython 3.8 does not have"
    notes = finding["sites"][0]["notes"]
    assert "in no stable ABI: _PyObject_GetDictPtr, _PyThreadState_UncheckedGet" in notes
    assert "since 3.10: PyType_GetModule" in notes
    assert any("pybind11" in note for note in finding["notes"])


def test_a_plain_suffix_under_an_abi3_tag_claims_abi3(lab):
    name = wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", {"pkg/_C.so": module(lab, "_C.so", ["PyType_GetModule"])})
    assert [rule for rule, _ in errors(check(lab, name))] == ["python-abi"]


def test_the_tags_version_decides(lab):
    files = {STABLE: module(lab, "_C.abi3.so", ["PyType_GetModule"])}
    assert check(lab, wheel(lab, "pkg-1.0-cp310-abi3-linux_x86_64.whl", files)).code == 0
    assert check(lab, wheel(lab, "pkg-1.0-cp39-abi3-linux_x86_64.whl", files)).code == 1


def test_requires_python_keeps_it_from_breaking(lab):
    files = {STABLE: module(lab, "_C.abi3.so", ["PyType_GetModule"])}
    name = wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", files, ">=3.10")
    result = check(lab, name)
    assert result.code == 0 and [f["severity"] for f in result.json()["findings"]] == ["warning"]


def test_a_loose_module_claims_by_its_suffix(lab):
    module(lab, "_C.abi3.so", ["PyType_GetModule", "PyList_New"])
    assert check(lab, "built/_C.abi3.so").code == 0  # the suffix names no version
    assert check(lab, "--python", "3.10", "built/_C.abi3.so").code == 0
    assert errors(check(lab, "--python", "3.9", "built/_C.abi3.so"))[0][0] == "python-abi"
    module(lab, "_D.abi3.so", ["_PyObject_GetDictPtr"])
    assert [rule for rule, _ in errors(check(lab, "built"))] == ["python-abi"]


def test_what_a_file_defines_it_does_not_ask_of_python(lab):
    lab.write("x.c", "int _PyOwn_Thing(void) { return 1; } void *PyInit__C(void) { return 0; }")
    lab.sh("cc -shared -fPIC -o _C.abi3.so x.c")
    assert check(lab, "_C.abi3.so").code == 0


def test_a_library_may_have_names_like_pythons(lab):
    """PySide's modules take PyDateTime_Get and PyRun_String from libshiboken6, which another wheel holds."""
    lab.write("other.c", "int PyRun_String(void) { return 1; }")
    lab.sh("cc -shared -fPIC -Wl,-soname,libother.so.6 -o libother.so other.c")

    def needing(*uses):
        calls = "".join(f"extern int {name}(void); int call_{name}(void) {{ return {name}(); }}\n" for name in uses)
        lab.write("m.c", calls + "void *PyInit__C(void) { return 0; }")
        lab.sh("cc -shared -fPIC -Wl,--no-as-needed -o m.so m.c ./libother.so")
        return wheel(lab, "pkg-1.0-cp38-abi3-linux_x86_64.whl", {"pkg/_C.abi3.so": (lab.path / "m.so").read_bytes()})

    def severities(*wheels):
        findings = check(lab, *wheels).json()["findings"]
        return [f["severity"] for f in findings if f["rule"] == "python-abi"]

    library = wheel(lab, "other-1.0-py3-none-linux_x86_64.whl", {"other/libother.so": (lab.path / "libother.so").read_bytes()})
    assert severities(needing("PyRun_String")) == ["warning"]
    assert severities(needing("PyRun_String"), library) == ["note"]
    assert severities(needing("PyRun_String", "_PyObject_GetDictPtr"), library) == ["error"]


# --- python-undefined


def lacking(lab, *arguments):
    findings = check(lab, *arguments).json()["findings"]
    return [(f["severity"], f["symbols"], f["sites"][0]["notes"]) for f in findings if f["rule"] == "python-undefined"]


def test_names_that_a_later_python_has_dropped(lab):
    """Modules of Cython 0.29.21 and older, built for 3.12: the import says `undefined symbol: _PyUnicode_Ready`."""
    files = {"pkg/_C.cpython-312-x86_64-linux-gnu.so": module(lab, "_C.so", ["PyList_New", "_PyUnicode_Ready"])}
    result = lab.audit("check", wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", files))
    assert result.code == 1
    assert (
        "error: pkg/_C.cpython-312-x86_64-linux-gnu.so uses 1 name that CPython 3.12 does not have: its import fails [python-undefined]"
        in result.out
    ), result
    assert "CPython 3.8 to 3.11 has: _PyUnicode_Ready" in result.out and "headers of CPython 3.12" in result.out, result


def test_names_of_a_later_python(lab):
    for minor in (12, 13):
        module(lab, f"_C.cpython-3{minor}-x86_64-linux-gnu.so", ["PyLong_AsNativeBytes"])
    assert lacking(lab, "built") == [("error", ["PyLong_AsNativeBytes"], ["CPython 3.13, 3.14 has: PyLong_AsNativeBytes"])]


def test_names_that_no_python_has(lab):
    module(lab, "_C.cpython-311-x86_64-linux-gnu.so", ["_PyNo_Such", "PyNo_Such"])
    assert lacking(lab, "built") == [("error", ["PyNo_Such", "_PyNo_Such"], ["no CPython known here has: PyNo_Such, _PyNo_Such"])]


def test_the_one_python_of_a_tag_loads_a_plain_suffix(lab):
    files = {"pkg/_C.so": module(lab, "_C.so", ["_PyUnicode_Ready"])}
    assert lacking(lab, wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", files))
    assert not lacking(lab, wheel(lab, "pkg-1.0-cp311-cp311-linux_x86_64.whl", files))
    assert not lacking(lab, wheel(lab, "pkg-1.0-py3-none-linux_x86_64.whl", files))  # which of its modules is loaded is its own affair


def test_interpreters_whose_names_are_not_known(lab):
    for suffix in ("cpython-313t", "cpython-312d", "cpython-37m", "cpython-399", "pypy310-pp73", "abi3"):
        module(lab, f"_C.{suffix}-x86_64-linux-gnu.so" if suffix != "abi3" else "_C.abi3.so", ["PyNo_Such"])
    assert not lacking(lab, "built")


def test_weak_names_may_be_missing(lab):
    """How a module asks for what only some versions have."""
    lab.write("w.c", "extern int _PyUnicode_Ready(void *) __attribute__((weak)); int r(void *p) { return _PyUnicode_Ready ? _PyUnicode_Ready(p) : 0; }")
    lab.sh("cc -shared -fPIC -o _C.cpython-312-x86_64-linux-gnu.so w.c")
    assert not lacking(lab, "_C.cpython-312-x86_64-linux-gnu.so")


def test_a_library_may_define_what_python_lacks(lab):
    lab.write("other.c", "int PyDateTime_Get(void) { return 1; }")
    lab.sh("cc -shared -fPIC -Wl,-soname,libother.so.6 -o libother.so other.c")
    lab.write("m.c", "extern int PyDateTime_Get(void); int call(void) { return PyDateTime_Get(); }")
    lab.sh("cc -shared -fPIC -o m.so m.c ./libother.so")
    name = wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", {"pkg/_C.cpython-312-x86_64-linux-gnu.so": (lab.path / "m.so").read_bytes()})
    library = wheel(lab, "other-1.0-py3-none-linux_x86_64.whl", {"other/libother.so": (lab.path / "libother.so").read_bytes()})
    assert [severity for severity, _, _ in lacking(lab, name)] == ["warning"]
    assert not lacking(lab, name, library)


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="the table ends with CPython 3.14")
def test_the_import_says_the_same(lab):
    """Held against the interpreter that runs this test."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    name = "PyLong_AsNativeBytes" if sys.version_info < (3, 13) else "_PyErr_ChainExceptions"  # came, went with 3.13
    module(lab, f"_C{suffix}", [name], exports="_C")
    run = subprocess.run([sys.executable, "-c", "import _C"], cwd=lab.path / "built", capture_output=True, text=True)
    assert f"undefined symbol: {name}" in run.stderr
    assert [symbols for _, symbols, _ in lacking(lab, f"built/_C{suffix}")] == [[name]]


# --- python-missing


def test_a_version_left_out_is_named(lab):
    name = wheel(lab, "vllm-1.0-cp38-abi3-linux_x86_64.whl", one_for_each(lab, 10, 11, 13), ">=3.10,<3.15")
    assert errors(check(lab, name)) == [("python-missing", "deep_gemm/_C has no file for CPython 3.12, 3.14")]


def test_versions_that_the_user_asks_for(lab):
    name = wheel(lab, "vllm-1.0-cp38-abi3-linux_x86_64.whl", one_for_each(lab, 10, 11, 13), ">=3.10,<3.15")
    assert check(lab, "--python", "3.10,3.11", name).code == 0
    assert errors(check(lab, "--python", "3.10-3.12", name)) == [("python-missing", "deep_gemm/_C has no file for CPython 3.12")]


def test_wheels_of_one_release_serve_together(lab):
    for minor in (11, 12):
        files = {f"_C.cpython-3{minor}-x86_64-linux-gnu.so": module(lab, "_C.so")}
        wheel(lab, f"pkg-1.0-cp3{minor}-cp3{minor}-linux_x86_64.whl", files)
    lab.sh("mkdir dist; mv *.whl dist")
    assert check(lab, "--python", "3.11-3.12", "dist").code == 0
    result = check(lab, "--python", "3.11-3.13", "dist")
    assert errors(result) == [("python-missing", "pkg 1.0: no wheel here is installed on CPython 3.13")]


def test_an_unpacked_package(lab):
    for path, code in one_for_each(lab, 11, 12).items():
        (lab.path / "site" / path).parent.mkdir(parents=True, exist_ok=True)
        (lab.path / "site" / path).write_bytes(code)
    assert check(lab, "site").code == 0
    assert errors(check(lab, "--python", "3.11-3.13", "site")) == [("python-missing", "deep_gemm/_C has no file for CPython 3.13")]


def test_an_unpacked_wheel_keeps_its_tag(lab):
    name = wheel(lab, "vllm-1.0-cp38-abi3-linux_x86_64.whl", one_for_each(lab, 12), ">=3.10,<3.14")
    lab.sh(f"mkdir tree && cd tree && python3 -m zipfile -e ../{name} .")
    assert [rule for rule, _ in errors(check(lab, "tree"))] == ["python-tag"]


@pytest.mark.parametrize("words", ["3", "2.7", "3.x", "3.12-3.10", "", "3.10,,3.12", "3.1000"])
def test_lists_that_are_none(lab, words):
    result = lab.audit("check", "--python", words, lab.cc("a.o", "int x;", "cc"))
    assert result.code == 2 and "--python" in result.err


# --- python-init: the verdict is that of a real import

DEFINITION = """extern void *PyModule_Create2(void *, int), *PyModuleDef_Init(void *);
static struct { long references; void *type, *more[3]; const char *name, *doc; long size; void *rest[5]; } d = {1, 0, {0}, "m", 0, -1};
static struct { long references; void *type, *more[3]; const char *name, *doc; long size; void *rest[5]; } e = {1, 0, {0}, "m", 0, 0};
#define MODULE(init) void *init(void) { return PyModule_Create2(&d, 1013); }
"""
EXT = sysconfig.get_config_var("EXT_SUFFIX")
# The module, what its file defines, options of the compiler. {} is the suffix of this interpreter.
INITS = {
    "its own": ("x{}", "MODULE(PyInit_x)", ""),
    "another": ("_runtime{}", "MODULE(PyInit__other)", ""),
    "of another case": ("X{}", "MODULE(PyInit_x)", ""),
    "hidden": ("x{}", '__attribute__((visibility("hidden"))) MODULE(PyInit_x)', ""),
    "hidden beside another": ("x{}", '__attribute__((visibility("hidden"))) MODULE(PyInit_x) MODULE(PyInit_y)', ""),
    "static": ("x{}", "static MODULE(PyInit_x) void *(*use)(void) = PyInit_x;", ""),
    "local in the version script": ("x{}", "MODULE(PyInit_x)", "-Wl,--version-script=local.map"),
    "hidden and stripped": ("x{}", '__attribute__((visibility("hidden"))) MODULE(PyInit_x) void *(*use)(void) = PyInit_x;', "-s"),
    "weak": ("x{}", "__attribute__((weak)) MODULE(PyInit_x)", ""),
    "an alias": ("x{}", 'MODULE(PyInit_y) void *PyInit_x(void) __attribute__((alias("PyInit_y")));', ""),
    "none": ("x{}", "MODULE(make)", ""),
    "of Python 2": ("x{}", "MODULE(initx)", ""),
    "in phases": ("x{}", "void *PyInit_x(void) { return PyModuleDef_Init(&e); }", ""),
    "in phases, another": ("x{}", "void *PyInit_y(void) { return PyModuleDef_Init(&e); }", ""),
    "of a package's module": ("pkg/_x{}", "MODULE(PyInit__x)", ""),
    "with the package's name": ("pkg/_x{}", "MODULE(PyInit_pkg__x)", ""),
    "of a package": ("pkg/__init__{}", "MODULE(PyInit_pkg)", ""),
    "of a package, by its file": ("pkg/__init__{}", "MODULE(PyInit___init__)", ""),
    "in Punycode": ("za\u017c\u00f3\u0142\u0107{}", "void *PyInitU_za_6ja4f8n1l(void) { return PyModuleDef_Init(&e); }", ""),
    "all in Punycode": ("\u6a21\u5757{}", "void *PyInitU_gfs105b(void) { return PyModuleDef_Init(&e); }", ""),
    "not in Punycode": ("\u6a21\u5757{}", "MODULE(PyInit_x)", ""),
    "of a library that is needed": ("x{}", "extern void *PyInit_x(void); void *f(void) { return PyInit_x(); }", "-L. -Wl,-rpath,$ORIGIN -linit"),
    "of a library that is not needed": ("x{}", "MODULE(make)", "-L. -Wl,-rpath,$ORIGIN -Wl,--as-needed -linit"),
    "of the stable ABI": ("x.abi3.so", "MODULE(PyInit_x)", ""),
    "another, of the stable ABI": ("x.abi3.so", "MODULE(PyInit_y)", ""),
    "of a plain name": ("x.so", "MODULE(PyInit_x)", ""),
    "another, of a plain name": ("x.so", "MODULE(PyInit_y)", ""),
    "hidden, of a plain name": ("x.so", '__attribute__((visibility("hidden"))) MODULE(PyInit_x)', ""),
}


def built(lab, name, source, options=""):
    (lab.path / name).parent.mkdir(exist_ok=True)
    lab.write("m.c", DEFINITION + source + "\n")
    lab.sh(f"cc -shared -fPIC -o '{name}' m.c {options.replace('$', chr(92) + '$')}")
    return name


@pytest.mark.skipif(not EXT.startswith(".cpython-"), reason="needs CPython")
@pytest.mark.parametrize("case", sampled(list(INITS), 7))
def test_init_function(lab, case):
    name, source, options = INITS[case]
    lab.write("local.map", "{ local: *; };\n")
    lab.sh(f"printf 'extern void *PyModule_Create2(void *, int); %s' '{DEFINITION.splitlines()[1]} void *PyInit_x(void) {{ return PyModule_Create2(&d, 1013); }}' > i.c && cc -shared -fPIC i.c -o libinit.so")
    name = built(lab, name.format(EXT), source, options)
    module = name.split(".")[0].replace("/", ".").removesuffix(".__init__")
    imported = subprocess.run([sys.executable, "-c", f"import {module}"], cwd=lab.path, capture_output=True, text=True)
    assert imported.returncode == 0 or "does not define module export function" in imported.stderr, imported.stderr
    found = [rule for rule, _ in errors(check(lab, name))]
    assert found == (["python-init"] if imported.returncode else []), imported.stderr


SUFFIX = ".cpython-312-x86_64-linux-gnu.so"
NO_INIT = {  # what is in a wheel, or alone, and no module -> severities of python-init
    "a library": ("libx" + SUFFIX, "int f(void) { return 1; }", "", []),
    "a library of a plain name": ("libx.so", "MODULE(PyInit_y)", "", []),
    "a library with a version": ("libx.abi3.so.1", "MODULE(PyInit_y)", "", []),
    "a plain name": ("x.so", "int f(void) { return 1; }", "", []),
    "several of a plain name": ("all.so", "MODULE(PyInit_a) MODULE(PyInit_b)", "", []),
    "several": ("all" + SUFFIX, "MODULE(PyInit_a) MODULE(PyInit_b)", "", ["warning"]),
    "for ctypes": ("fast" + SUFFIX, "int f(void) { return 1; }", "", ["note"]),
    "for ctypes and Python's memory": ("fast" + SUFFIX, "void *PyMem_Malloc(long); void *f(void) { return PyMem_Malloc(1); }", "", ["warning"]),
    "cffi on PyPy": ("x.pypy39-pp73-x86_64-linux-gnu.so", "void _cffi_pypyinit_x(void) {}", "", []),
    "another system's suffix": ("x.mypython-1-x86_64.so", "MODULE(PyInit_y)", "", []),
    "no identifier": ("mod_x-py312" + SUFFIX, "MODULE(make)", "", []),
    "a hook of 3.15": ("x.cpython-315-x86_64-linux-gnu.so", "void *PyModExport_x(void) { return 0; }", "", []),
    "a hook of 3.15, for 3.12": ("x" + SUFFIX, "void *PyModExport_x(void) { return 0; }", "", ["error"]),
    "for a library that is not here": ("x" + SUFFIX, "MODULE(PyInit_y)", "-L. -lgone", ["warning"]),
}


def test_what_is_no_module(lab):
    lab.sh("echo 'int gone;' > g.c && cc -shared -fPIC g.c -o libgone.so -Wl,-soname,libgone.so.7")
    for case, (name, source, options, expected) in NO_INIT.items():
        found = [f["severity"] for f in check(lab, built(lab, name, source, "-Wl,--no-as-needed " + options)).json()["findings"] if f["rule"] == "python-init"]
        assert found == expected, case


def test_what_a_module_exports_instead(lab):
    files = {"pkg/_runtime" + SUFFIX: (lab.path / built(lab, "m.so", "MODULE(PyInit__other)")).read_bytes()}
    result = lab.audit("check", wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", files))
    assert result.code == 1 and f"error: pkg/_runtime{SUFFIX} exports PyInit__other, not PyInit__runtime: its import fails [python-init]" in result.out
    result = lab.audit("check", built(lab, "x" + SUFFIX, '__attribute__((visibility("hidden"))) MODULE(PyInit_x)'))
    assert f"error: x{SUFFIX} has PyInit_x and does not export it: its import fails" in result.out and "PyMODINIT_FUNC" in result.out, result


def test_the_link_of_a_module(lab):
    lab.cc("m.o", DEFINITION + "MODULE(PyInit_m)", "gcc -fPIC")
    lab.cc("n.o", DEFINITION + "int n;", "gcc -fPIC")
    lab.cc("k.o", DEFINITION + "MODULE(PyInit_k)", "gcc -fPIC")
    lab.ar("libm1.a", "m.o")
    for objects, output, expected in (("m.o n.o", "m", []), ("m.o", "other", ["python-init"]), ("n.o -Wl,--whole-archive libm1.a -Wl,--no-whole-archive", "other", ["python-init"]), ("n.o libm1.a", "other", []), ("n.o", "other", []), ("m.o k.o", "all", [])):
        for name, found in ((output + SUFFIX, expected), (output + ".so", [])):
            result = check(lab, "--", "gcc", "-shared", *objects.split(), "-o", name)
            assert [rule for rule, _ in errors(result)] == found, (objects, name, result)


@pytest.mark.parametrize("path, certain", [(".", True), ("nowhere", False)])
def test_a_module_and_what_its_libraries_load(lab, path, certain):
    """A library that the loader finds is read; of one that it does not find nothing is known."""
    lab.cc("m.o", DEFINITION + "void launch(void), deep(void); void *PyInit_m(void) { launch(); deep(); return 0; }", "gcc -fPIC")
    lab.write("kern.c", "void launch(void) {}\n")
    lab.sh("echo 'void deep(void) {}' | gcc -shared -fPIC -x c - -o libdeep.so; echo 'void a(void) {}' | "
           f"gcc -shared -fPIC -Wl,--no-as-needed -x c - -L. -ldeep -Wl,-soname,liba.so,-rpath,'$ORIGIN/{path}' -o liba.so")
    result = check(lab, "--", "gcc", "-shared", "-Wl,--no-as-needed", "m.o", "liba.so", "-o", "m.so")
    found = {one["symbol"]: one for one in result.json()["findings"] if one["rule"] == "undefined-symbol"}
    assert sorted(found) == (["launch"] if certain else ["deep", "launch"])
    assert found["launch"]["severity"] == ("error" if certain else "warning") and found["launch"]["cause"]["text"].startswith("kern.c:1 defines it, and no object of that source is linked")


def test_names_of_a_free_threaded_build_are_not_judged(lab):
    for suffix, phrase in {"cpython-314t": "a free-threaded build", "cpython-313t": "a free-threaded build", "cpython-399": "CPython 3.99", "cpython-312": None}.items():
        name = built(lab, f"x.{suffix}-x86_64-linux-gnu.so", "MODULE(PyInit_x)")
        result = lab.audit("check", name)
        assert result.code == 0 and ("not judged" in result.out) == bool(phrase) and (f"not judged: the Python names of {phrase}" in result.out or not phrase), result
    wrong = built(lab, "x.cpython-314t-x86_64-linux-gnu.so", "MODULE(PyInit_y)")
    assert [rule for rule, _ in errors(check(lab, wrong))] == ["python-init"]
