"""Extension modules: the command class of the Python package, and the launcher in LDSHARED."""

import os
import shlex
import subprocess
import sys

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++", "gcc")


def python_with_setuptools():
    """An interpreter that can build extensions; this one has pytest, and maybe nothing else."""
    for python in (os.environ.get("ELFAUDIT_PYTHON", sys.executable), sys.executable, "/usr/bin/python3", "python3"):
        code = "import setuptools, sysconfig, os; assert os.path.exists(sysconfig.get_path('include') + '/Python.h')"
        if subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return python
    pytest.skip("needs a Python with setuptools and its headers, which is not installed")


SETUP = """from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
import elfaudit
setup(name="demo", version="1", ext_modules=[Extension("demo", ["demo.cpp", "state.cpp"], extra_compile_args=["-g"])],
      cmdclass={"build_ext": elfaudit.audited(build_ext)})
"""
MODULE = """#include <Python.h>
%s
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "demo", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit_demo() { return PyModule_Create(&module); }
"""


def extension(lab, demo, state, setup=SETUP):
    lab.write("setup.py", setup)
    lab.write("demo.cpp", MODULE % demo)
    lab.write("state.cpp", state)
    return lab


def build(lab, **environment):
    python = python_with_setuptools()
    words = {"PYTHONPATH": SOURCE_DIR / "python", "ELFAUDIT": os.environ["ELFAUDIT"], **environment}
    settings = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in words.items())
    return lab.sh(f"{settings} {python} setup.py -q build_ext --inplace 2>&1", check=False)


def modules(lab):
    return list(lab.path.glob("demo*.so"))


def test_a_finding_stops_the_build_before_the_link(lab):
    result = build(extension(lab, "int state = 1;", "int state = 2;"))
    assert result.code != 0 and "state is defined twice" in result.out and "demo.cpp:2" in result.out, result
    assert "multiple definition" not in result.out and not modules(lab), result
    assert "exit code 1" in result.out, result


def test_a_clean_extension_is_built_and_can_be_imported(lab):
    result = build(extension(lab, "extern int state;", "int state = 2;"))
    assert result.code == 0 and "clean: " in result.out and len(modules(lab)) == 1, result
    assert lab.sh(f"{python_with_setuptools()} -c 'import demo'").code == 0


@pytest.mark.deep
def test_a_name_that_the_import_will_miss(lab):
    """The linker lets it pass, since the interpreter could have it. Python's own names and libm's, it has."""
    result = build(extension(lab, 'int nope(); extern "C" double sin(double); int call() { return nope() + int(sin(1)); }', ""))
    assert result.code != 0 and not modules(lab), result
    assert "error: nope() is not defined by any input: the link lets it pass, and the import of demo fails" in result.out, result
    assert "Py" not in result.out.split("error:")[1].split("\n")[0] and result.out.count("error:") >= 1, result
    result = build(extension(lab, "int nope(); int call() { return nope(); }", "int nope() { return 1; }"))
    assert result.code == 0 and len(modules(lab)) == 1, result


def test_undefined_names_of_a_link_are_listed(lab):
    lab.cc("m.o", 'extern "C" void PyErr_Clear(); extern "C" void* PyInit_m() { PyErr_Clear(); return 0; }', "g++ -fPIC")
    result = lab.audit("check", "--undefined", "--", "g++", "-shared", "m.o", "-o", "m.so")
    assert result.code == 0 and "undefined: PyErr_Clear\n" in result.out, result


def test_what_a_library_of_a_library_may_define(lab):
    lab.write("deep.c", "int deep(void) { return 1; }")
    lab.write("mid.c", "int deep(void); int mid(void) { return deep(); }")
    lab.sh("gcc -shared -fPIC -Wl,-soname,libdeep.so deep.c -o libdeep.so")
    lab.sh("gcc -shared -fPIC -Wl,-soname,libmid.so mid.c -L. -ldeep -o libmid.so")
    lab.cc("m.o", 'extern "C" int mid(), deep(); extern "C" void* PyInit_m() { mid(); deep(); return 0; }', "g++ -fPIC")
    result = lab.audit("check", "--format", "json", "--", "g++", "-shared", "m.o", "-L.", "-lmid", "-o", "m.so")
    found = [(f["severity"], f["symbol"]) for f in result.json()["findings"]]
    assert result.code == 0 and found == [("warning", "deep")], result
    assert "libdeep.so" in result.json()["findings"][0]["notes"][0]


def test_without_the_gate_the_linker_decides(lab):
    setup = SETUP.replace("audited(build_ext)", "audited(build_ext, gate=False)")
    result = build(extension(lab, "int state = 1;", "int state = 2;", setup))
    assert "state is defined twice" in result.out and "multiple definition" in result.out and not modules(lab), result


def test_a_suppression_may_be_for_another_module(lab):
    lab.write(".elfaudit.toml", 'fail-on = "warning"\n[[suppress]]\nsymbol = "of_another"\nreason = "known"\n')
    result = build(extension(lab, "int state = 1;", "int other = 2;"))
    assert result.code == 0 and "suppression-unused" not in result.out, result


def test_options_of_the_code_and_of_the_environment(lab):
    setup = SETUP.replace("audited(build_ext)", "audited(build_ext, options=['--severity', 'duplicate-definition=warning'])")
    result = build(extension(lab, "int state = 1;", "int state = 2;", setup), ELFAUDIT_OPTIONS="--fail-on warning")
    assert "warning: state is defined twice" in result.out and "multiple definition" not in result.out, result


@pytest.mark.deep
def test_what_stopped_the_audit_is_said(lab):
    """Exit code 2 may stand behind findings: the words hold for both."""
    linked = SETUP.replace('["-g"]', '["-g"], extra_link_args=["libbroken.a"]')
    lab.write("libbroken.a", "!<arch>\nno header of a member, and long enough for one: 60 bytes and some more\n")
    result = build(extension(lab, "int state = 1;", "int state = 2;", linked))
    assert result.code != 0 and "state is defined twice" in result.out and "libbroken.a" in result.out, result
    assert "could not be done, or not finished: see above (elfaudit's exit code 2)" in result.out, result
    result = build(lab, ELFAUDIT_OPTIONS="--no-such-option")
    assert "--no-such-option" in result.out and "elfaudit's exit code 2" in result.out and not modules(lab), result


def test_a_missing_program_is_said(lab):
    result = build(extension(lab, "", ""), ELFAUDIT="", PATH="/usr/bin:/bin")
    assert result.code != 0 and "the elfaudit program is not installed" in result.out, result


@pytest.mark.deep
def test_the_launcher_form(lab):
    """The environment alone: setup.py is as it was. In front of C++ links setuptools puts CXX, whatever LDSHARED says."""
    setup = SETUP.replace("import elfaudit\n", "").replace(',\n      cmdclass={"build_ext": elfaudit.audited(build_ext)}', "")
    launcher = f"{shlex.quote(os.environ['ELFAUDIT'])} link --gate -- g++"
    words = {"CXX": launcher}
    result = build(extension(lab, "int state = 1;", "int state = 2;", setup), **words)
    assert result.code != 0 and "state is defined twice" in result.out and "multiple definition" not in result.out, result
    result = build(extension(lab, "extern int state;", "int state = 2;", setup), **words)
    assert result.code == 0 and len(modules(lab)) == 1, result


def test_the_launcher_form_of_c(lab):
    lab.write("setup.py", "from setuptools import Extension, setup\nsetup(name='demo', ext_modules=[Extension('demo', ['a.c', 'b.c'])])")
    lab.write("a.c", "int state = 1;")
    lab.write("b.c", "int state = 2;")
    result = build(lab, LDSHARED=f"{shlex.quote(os.environ['ELFAUDIT'])} link --gate -- gcc -shared")
    assert result.code != 0 and "state is defined twice" in result.out and "multiple definition" not in result.out, result
