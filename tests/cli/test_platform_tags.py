"""python-platform: what a wheel's platform tag promises against what its files need."""

import json

import pytest

from elfaudit_test import SOURCE_DIR, need
from elfaudit_wheels import TRIPLET, wheel

need("cc")

ENTRY = f"pkg/_C.cpython-312-{TRIPLET}.so"
STEM = "pkg-1.0-cp312-cp312"
MACHINE = 18  # e_machine in the ELF header
AARCH64 = 183


def library(lab, soname, version="", function="answer"):
    """A stand-in for a library of the system: its name, one version and one function."""
    lab.write("version.map", f"{version} {{ global: {function}; local: *; }};" if version else "{ global: *; };")
    name = soname.split(".so")[0] + ".so"
    lab.sh(f"echo 'int {function}(void) {{ return 42; }}' | cc -x c - -shared -fPIC -nostdlib -o {name} -Wl,-soname,{soname} "
           "-Wl,--version-script=version.map")
    return name


def module(lab, *libraries, function="answer", options=""):
    """The bytes of the module _C, which calls `function` and is linked with `libraries` alone."""
    lab.write("_C.c", f"int {function}(void); int use(void) {{ return {function}(); }} void *PyInit__C(void) {{ return 0; }}\n")
    lab.sh(f"cc -shared -fPIC -nostdlib -o _C.so _C.c {' '.join(libraries)} {options}")
    return (lab.path / "_C.so").read_bytes()


def findings(lab, tag, files, **options):
    result = lab.audit("check", "--format", "json", wheel(lab, f"{STEM}-{tag}.whl", files, **options))
    return [f for f in result.json()["findings"] if f["rule"] == "python-platform"]


@pytest.fixture
def needs_234(lab):
    return {ENTRY: module(lab, library(lab, "libc.so.6", "GLIBC_2.34"))}


def test_a_newer_glibc_than_the_tag(lab, needs_234):
    (finding,) = findings(lab, "manylinux_2_17_x86_64", needs_234)
    assert finding["severity"] == "error"
    assert finding["message"] == f"the tag manylinux_2_17_x86_64 is not true: {ENTRY} needs GLIBC_2.34"
    assert finding["sites"][0]["notes"] == ["needs GLIBC_2.34 (answer)"]
    assert finding["notes"] == ["the tag that is true is manylinux_2_34_x86_64"]
    assert finding["fixes"][0]["text"] == "tag the wheel manylinux_2_34_x86_64"


@pytest.mark.parametrize(
    "tag, true",
    [
        ("manylinux_2_34_x86_64", True),
        ("manylinux_2_99_x86_64", True),
        ("manylinux_2_33_x86_64", False),  # between two policies
        ("manylinux2014_x86_64", False),
        ("manylinux_2_34_x86_64.manylinux_2_31_x86_64", False),  # installers go by either
        ("linux_x86_64", True),  # promises a machine only
        ("macosx_11_0_arm64", False),  # whose loader reads no ELF file
        ("android_21_x86_64", True),  # not our loader
    ],
)
def test_which_tags_are_true(lab, needs_234, tag, true):
    assert bool(findings(lab, tag, needs_234)) == (not true)


def test_versions_of_the_compilers_libraries_count_too(lab):
    files = {ENTRY: module(lab, library(lab, "libstdc++.so.6", "GLIBCXX_3.4.30"))}
    (finding,) = findings(lab, "manylinux_2_28_x86_64", files)
    assert finding["notes"] == ["the tag that is true is manylinux_2_35_x86_64"]
    files = {ENTRY: module(lab, library(lab, "libssl.so.3", "OPENSSL_3.0.0"))}  # what is not in a policy has no age
    (finding,) = findings(lab, "manylinux_2_28_x86_64", files)
    assert "needs libssl.so.3" in finding["message"]


def test_a_library_that_stays_outside(lab):
    files = {ENTRY: module(lab, library(lab, "libown.so.3"))}
    (finding,) = findings(lab, "manylinux_2_17_x86_64", files)
    assert finding["severity"] == "error"
    assert "needs libown.so.3, which is neither in the wheel nor among the libraries of that tag" in finding["message"]
    assert finding["fixes"][0]["text"] == "auditwheel repair copies the libraries into the wheel, where it finds them, and changes its tag"
    (finding,) = findings(lab, "manylinux_2_17_x86_64", files, extra="Requires-Dist: own\n")
    assert finding["severity"] == "warning"  # which may bring it


def test_the_needs_of_a_library_that_auditwheel_would_copy_count(lab):
    libc = library(lab, "libc.so.6", "GLIBC_2.31")
    lab.sh(f"echo 'int answer(void); int own(void) {{ return answer(); }}' | cc -shared -fPIC -nostdlib -o libown.so -Wl,-soname,libown.so.3 -x c - -x none {libc}")
    lab.sh("cp libown.so libown.so.3")
    files = {ENTRY: module(lab, "libown.so", function="own", options=f"-Wl,-rpath,{lab.path}")}
    (finding,) = findings(lab, "manylinux_2_17_x86_64", files)
    assert finding["fixes"][0]["text"] == "auditwheel repair copies the libraries into the wheel and tags it manylinux_2_31_x86_64"
    assert len(finding["sites"]) == 1  # the file of the wheel


@pytest.mark.parametrize(
    "tag, entries, message",
    [
        ("win_amd64", [ENTRY], f"the tag win_amd64 promises Windows, and {ENTRY} is an ELF file for x86_64"),
        ("any", [ENTRY], f"the tag any promises every system, and {ENTRY} is an ELF file for x86_64"),
        ("any", ["pkg/libctypes.so"], "the tag any promises every system, and pkg/libctypes.so is an ELF file for x86_64"),
        ("any", ["pkg/tests/data/lib.so"], None),
        ("any", ["pkg/lib.so", "pkg/lib.dll"], None),  # the package chooses
    ],
)
def test_elf_files_under_a_tag_of_another_system(lab, needs_234, tag, entries, message):
    content = {entry: b"MZ" if entry.endswith(".dll") else needs_234[ENTRY] for entry in entries}
    assert [f["message"] for f in findings(lab, tag, content)] == ([message] if message else [])


def test_a_library_of_the_driver_stays_outside(lab):
    (finding,) = findings(lab, "manylinux_2_17_x86_64", {ENTRY: module(lab, library(lab, "libcuda.so.1"))})
    assert finding["severity"] == "note"


def test_a_library_in_the_wheel(lab):
    own = library(lab, "libown.so.3")
    content = (lab.path / own).read_bytes()
    files = {ENTRY: module(lab, own, options="-Wl,-rpath,'$ORIGIN/../pkg.libs'"), "pkg.libs/libown.so.3": content}
    assert findings(lab, "manylinux_2_17_x86_64", files) == []
    files["elsewhere/libown.so.3"] = files.pop("pkg.libs/libown.so.3")
    assert len(findings(lab, "manylinux_2_17_x86_64", files)) == 1


def test_what_zlib_keeps_to_itself(lab):
    files = {ENTRY: module(lab, library(lab, "libz.so.1", function="inflate_fast"), function="inflate_fast")}
    (finding,) = findings(lab, "manylinux_2_28_x86_64", files)
    assert "needs inflate_fast of libz.so.1" in finding["message"]


def test_a_module_for_another_machine(lab, needs_234):
    (finding,) = findings(lab, "linux_aarch64", needs_234)
    assert finding["message"] == f"the tag linux_aarch64 promises aarch64, and {ENTRY} is for x86_64"


def test_helpers_for_other_machines_are_chosen_by_the_package(lab):
    """debugpy: attach_linux_amd64.so beside attach_linux_x86.so."""
    other = bytearray(module(lab, library(lab, "libc.so.6", "GLIBC_2.34")))
    other[MACHINE] = AARCH64
    files = {ENTRY: module(lab, library(lab, "libc.so.6", "GLIBC_2.17")), "pkg/helper.so": bytes(other)}
    assert findings(lab, "manylinux_2_17_x86_64", files) == []


def test_glibc_in_a_wheel_for_musl(lab, needs_234):
    (finding,) = findings(lab, "musllinux_1_2_x86_64", needs_234)
    assert finding["message"] == f"the tag musllinux_1_2_x86_64 promises musl, and {ENTRY} is linked with glibc"
    of_musl = {ENTRY: module(lab, library(lab, "libc.musl-x86_64.so.1"))}
    assert findings(lab, "musllinux_1_2_x86_64", of_musl) == []
    assert "promises glibc" in findings(lab, "manylinux_2_17_x86_64", of_musl)[0]["message"]


# --- elfaudit show


def shown(lab, *wheels):
    result = lab.audit("show", "--format", "json", *wheels)
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-show-1.schema.json").read_text())
    pytest.importorskip("jsonschema").validate(result.json(), schema)
    return result.code, result.json()["wheels"]


@pytest.mark.parametrize(
    "tag, holds, uploadable", [("manylinux_2_17_x86_64", False, True), ("manylinux_2_34_x86_64", True, True), ("linux_x86_64", True, False)]
)
def test_what_a_wheel_needs(lab, needs_234, tag, holds, uploadable):
    code, [shows] = shown(lab, wheel(lab, f"{STEM}-{tag}.whl", needs_234))
    assert code == (0 if holds else 1) and [claim["holds"] for claim in shows["claims"]] == [True, holds]
    [platform] = shows["platforms"]
    assert platform["oldest"] == platform["with_libraries"] == "manylinux_2_34_x86_64"
    assert platform["reasons"] == [{"file": ENTRY, "need": "GLIBC_2.34 (answer)"}] and platform["libraries"] == []
    assert shows["uploadable"] is uploadable


def test_a_library_outside_of_the_wheel(lab):
    name = wheel(lab, f"{STEM}-linux_x86_64.whl", {ENTRY: module(lab, library(lab, "libown.so.1"))})
    out = lab.audit("show", name).out
    assert "oldest tag  unknown, for linux_x86_64" in out, out
    name = wheel(lab, f"{STEM}-linux_x86_64.whl", {ENTRY: module(lab, "-Wl,--no-as-needed", library(lab, "libc.so.6", "GLIBC_2.34"), library(lab, "libown.so.1", function="own"))})
    out = lab.audit("show", name).out
    assert "unknown with the libraries below" in out, out
    lab.sh("cp libown.so libown.so.1")
    name = wheel(lab, f"{STEM}-linux_x86_64.whl", {ENTRY: module(lab, "-Wl,--no-as-needed", library(lab, "libc.so.6", "GLIBC_2.34"), library(lab, "libown.so.1", function="own"), options=f"-Wl,-rpath,{lab.path}")})
    out = lab.audit("show", name).out
    assert "oldest tag  linux_x86_64" in out and "manylinux_2_34_x86_64 with the libraries below in the wheel" in out and "library     libown.so.1, for pkg/_C" in out and "PyPI        refuses the tag linux_x86_64" in out, out


def test_what_is_not_a_wheel(lab):
    lab.write("a.whl", "text")
    lab.write("dir/a.txt", "text")
    for name in "a.whl", "gone.whl", "dir":
        result = lab.audit("show", name)
        assert result.code == 2 and name in result.err and result.out == "", result


def test_a_library_of_the_wheel_is_found_before_the_wheel_is_tagged(lab):
    """auditwheel refuses a wheel with a library that it doesn't find."""
    library(lab, "libc.so.6", "GLIBC_2.34", "begin")
    library(lab, "libown.so")
    files = {ENTRY: module(lab, "-Wl,--no-as-needed", "libown.so", "libc.so", function="begin"), "pkg/lib/libown.so": (lab.path / "libown.so").read_bytes()}
    (finding,) = findings(lab, "manylinux_2_17_x86_64", files)
    assert finding["fixes"][0]["text"] == f"let {ENTRY} find libown.so in the wheel (see needed-not-found), then tag the wheel manylinux_2_34_x86_64"
    (finding,) = findings(lab, "manylinux_2_34_x86_64", files)
    assert [fix["text"] for fix in finding["fixes"]] == [f"let {ENTRY} find libown.so in the wheel (see needed-not-found)"]
