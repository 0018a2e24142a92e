"""symbol-too-new, oldest-system and `list systems`: the C and C++ libraries that files and links need."""

import json
import tarfile

import pytest

from elfaudit_test import need
from elfaudit_wheels import wheel

need("gcc", "g++")


def libc(lab, versions, name="libc.so.6"):
    """A stand-in for the C library; `versions`: the text of a version script, oldest node first, and functions."""
    functions = "".join(f"int {n}(void) {{ return 0; }}\n" for n in versions["functions"])
    lab.write("libc.c", functions + versions.get("asm", ""))
    lab.write("libc.map", versions["script"])
    lab.sh(f"gcc -shared -fPIC -nostdlib -o {name} libc.c -Wl,-soname,{name} -Wl,--version-script=libc.map")
    return name


def findings(result, rule="symbol-too-new"):
    return [f for f in result.json()["findings"] if f["rule"] == rule]


# What a source calls, the version that the stand-in gives it, and the cause.
CAUSES = [
    ("__isoc23_sscanf", "GLIBC_2.38", "redirected-function"),
    ("fcntl64", "GLIBC_2.28", "redirected-function"),
    ("stat", "GLIBC_2.33", "redirected-function"),
    ("__memcpy_chk", "GLIBC_2.30", "fortified-function"),
    ("__libc_start_main", "GLIBC_2.34", "start-file"),
    ("pthread_create", "GLIBC_2.34", "merged-library"),
    ("clock_gettime", "GLIBC_2.17", "merged-library"),
    ("strlcpy", "GLIBC_2.38", "newer-function"),
    ("__libc_secret", "GLIBC_PRIVATE", "private-version"),
    ("_ZSt9terminatev", "GLIBCXX_3.4.30", "newer-libstdc++"),
    ("__divmodti4", "GCC_7.0.0", "newer-libgcc"),
]


@pytest.mark.parametrize("function, version, cause", CAUSES)
def test_the_cause_in_a_link_and_in_its_output(lab, function, version, cause):
    lab.write("use.c", f"int {function}(void);\n\nint use(void) {{ return {function}(); }}\n")
    library = libc(lab, {"functions": [function], "script": f"{version} {{ global: {function}; }};"})
    lab.sh(f"gcc -g -fPIC -fno-builtin -c use.c && gcc -shared -nostdlib use.o {library} -o libuse.so")
    of_link = findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.12,gcc-4.8", "--", *f"gcc -shared -nostdlib use.o {library} -o libuse.so".split()))
    (of_link,) = [f for f in of_link if f["symbol"] == function]
    assert (of_link["cause"]["kind"], of_link["sites"][0]["input"]) == (cause, "use.o")
    assert (of_link["sites"][0]["file"], of_link["sites"][0]["line"]) == ("use.c", 3)
    (of_file,) = findings(lab.audit("check", "--format", "json", "--library-path", ".", "--runs-on", "glibc-2.12,gcc-4.8", "libuse.so"))
    assert (of_file["symbol"], of_file["cause"]["kind"], of_file["sites"][0]["input"]) == (function, cause, "libuse.so")


def test_the_older_version_of_the_symbol_is_the_fix(lab):
    library = libc(lab, {"functions": ["copy_2_2_5", "copy_2_14"],
                         "asm": '__asm__(".symver copy_2_2_5,copy@GLIBC_2.2.5"); __asm__(".symver copy_2_14,copy@@GLIBC_2.14");',
                         "script": "GLIBC_2.2.5 { }; GLIBC_2.14 { global: copy; } GLIBC_2.2.5;"})
    lab.write("use.c", "int copy(void);\nint use(void) { return copy(); }\n")
    link = f"gcc -shared -nostdlib use.o {library} -o libuse.so"
    lab.sh(f"gcc -fPIC -c use.c && {link}")
    for inputs in (["--", *link.split()], ["--library-path", ".", "libuse.so"]):
        (finding,) = findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.12", *inputs))
        assert finding["cause"]["kind"] == "newer-version"
        fix = '__asm__(".symver copy,copy@GLIBC_2.2.5");'
        assert finding["fixes"][0]["text"] == "bind the older one in the source: " + fix
    lab.write("use.c", f"{fix}\nint copy(void);\nint use(void) {{ return copy(); }}\n")
    lab.sh("gcc -fPIC -c use.c")
    assert lab.audit("check", "--runs-on", "glibc-2.12", "--", *link.split()).code == 0


def test_an_own_definition_and_an_allowed_version_are_silent(lab):
    library = libc(lab, {"functions": ["fresh", "old"], "script": "GLIBC_2.2.5 { global: old; }; GLIBC_2.38 { global: fresh; };"})
    lab.write("use.c", "int fresh(void); int old(void); int use(void) { return fresh() + old(); }\n")
    lab.write("own.c", "int fresh(void) { return 1; }\n")
    lab.sh("gcc -fPIC -c use.c own.c")
    link = ["gcc", "-shared", "-nostdlib", "use.o", "own.o", library, "-o", "libuse.so"]
    assert findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.12", "--", *link)) == []
    link.remove("own.o")
    assert len(findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.12", "--", *link))) == 1
    assert findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.38", "--", *link)) == []


def test_without_the_library_nothing_is_said_of_older_versions(lab):
    library = libc(lab, {"functions": ["fresh"], "script": "GLIBC_2.38 { global: fresh; };"})
    lab.write("use.c", "int fresh(void); int use(void) { return fresh(); }\n")
    lab.sh(f"mkdir root && gcc -fPIC -shared -nostdlib use.c {library} -o root/libuse.so")
    (finding,) = findings(lab.audit("check", "--format", "json", "--root", "root", "--runs-on", "glibc-2.37", "root/libuse.so"))
    assert (finding["cause"]["kind"], len(finding["fixes"])) == ("library-not-read", 1)


def test_files_for_musl_are_not_judged(lab):
    library = libc(lab, {"functions": ["fresh"], "script": "{ global: fresh; };"}, "libc.musl-x86_64.so.1")
    lab.write("use.c", "int fresh(void); int use(void) { return fresh(); }\n")
    lab.sh(f"gcc -fPIC -shared -nostdlib use.c {library} -o libuse.so")
    assert "not judged: whether files for musl run on Debian 11" in lab.audit("check", "--runs-on", "debian-11", "libuse.so").out


@pytest.mark.parametrize("option, severity", [("", "error"), ("-Wl,--gc-sections", "warning"), ("-flto", "warning")])
def test_code_that_the_link_may_remove_makes_it_a_warning(lab, option, severity):
    library = libc(lab, {"functions": ["fresh"], "script": "GLIBC_2.38 { global: fresh; };"})
    lab.write("use.c", "int fresh(void); int use(void) { return fresh(); }\n")
    lab.sh(f"gcc -fPIC {option if option == '-flto' else ''} -c use.c")
    link = f"gcc -shared -nostdlib {option} use.o {library} -o libuse.so".split()
    (finding,) = findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.37", "--", *link))
    assert finding["severity"] == severity


def test_packed_relative_relocations(lab):
    lab.write("a.c", "int x; int* p = &x;\n")
    lab.sh("gcc -fPIC -c a.c")
    link = ["gcc", "-shared", "a.o", "-o", "liba.so", "-Wl,-z,pack-relative-relocs"]
    (finding,) = findings(lab.audit("check", "--format", "json", "--runs-on", "glibc-2.35", "--", *link))
    assert finding["cause"]["kind"] == "pack-relative-relocs"
    assert lab.audit("check", "--runs-on", "glibc-2.36", "--", *link).code == 0


@pytest.mark.parametrize(
    "system, allows",  # GLIBC_2.34 and GLIBCXX_3.4.29 are needed
    [
        ("glibc-2.34", True), ("glibc-2.33", False), ("gcc-11", True), ("gcc-10.3", False), ("debian-12", True), ("debian-11", False),
        ("ubuntu-22.04", True), ("ubuntu-20.04", False), ("rhel-9", True), ("almalinux-8", False), ("amazonlinux-2023", True),
        ("manylinux_2_34", True), ("manylinux2014", False), ("glibc-2.34,gcc-10", False), ("glibc-2.35,gcc-12", True),
    ],
)  # fmt: skip
def test_systems_by_name(lab, system, allows):
    libc(lab, {"functions": ["fresh"], "script": "GLIBC_2.34 { global: fresh; };"})
    libc(lab, {"functions": ["thrown"], "script": "GLIBCXX_3.4.29 { global: thrown; };"}, "libstdc++.so.6")
    lab.write("use.c", "int fresh(void); int thrown(void); int use(void) { return fresh() + thrown(); }\n")
    lab.sh("gcc -fPIC -shared -nostdlib use.c libc.so.6 libstdc++.so.6 -o libuse.so")
    assert lab.audit("check", "--library-path", ".", "--runs-on", system, "libuse.so").code == (0 if allows else 1)


def test_an_unknown_system_is_a_usage_error(lab):
    result = lab.audit("check", "--runs-on", "debain-11", "a.o")
    assert result.code == 2 and "--runs-on debain-11: unknown system; did you mean 'debian-11'?" in result.err


def test_the_configuration_names_the_system(lab):
    library = libc(lab, {"functions": ["fresh"], "script": "GLIBC_2.34 { global: fresh; };"})
    lab.write("use.c", "int fresh(void); int use(void) { return fresh(); }\n")
    lab.sh(f"gcc -fPIC -shared -nostdlib use.c {library} -o libuse.so")
    lab.write(".elfaudit.toml", '[ship]\nruns-on = "rhel-8"\n')
    assert "which RHEL 8 lacks (glibc 2.28) [symbol-too-new]" in lab.audit("check", "--library-path", ".", "libuse.so").out
    lab.write(".elfaudit.toml", '[ship]\nruns_on = "rhel-8"\n')
    assert "unknown key 'runs_on'; did you mean 'runs-on'?" in lab.audit("check", "libuse.so").err


def test_systems_of_files_packages_and_tarballs_are_listed(lab):
    library = libc(lab, {"functions": ["fresh"], "script": "GLIBC_2.34 { global: fresh; };"})
    lab.write("use.c", "int fresh(void); int use(void) { return fresh(); }\n")
    lab.sh(f"gcc -fPIC -shared -nostdlib use.c {library} -o libuse.so")
    with tarfile.open(lab.path / "dist.tar.gz", "w:gz") as tar:
        tar.add(lab.path / "libuse.so", "dist/lib/libuse.so")
    wheel(lab, "pkg-1.0-py3-none-linux_x86_64.whl", {"pkg/libuse.so": (lab.path / "libuse.so").read_bytes()})
    text = "glibc 2.34: Debian 12, Ubuntu 22.04, RHEL 9, Amazon Linux 2023"
    for file in ("libuse.so", "dist.tar.gz", "pkg-1.0-py3-none-linux_x86_64.whl"):
        assert lab.audit("list", "systems", file).out.splitlines()[-1] == f"1 file: {text}"
        (row,) = json.loads(lab.audit("list", "systems", "--format", "json", file).out)["systems"]
        assert (row["libc"], row["glibc"], row["glibcxx"], row["manylinux"]) == ("glibc", "2.34", None, "manylinux_2_34")
    assert lab.audit("check", "--runs-on", "glibc-2.33", "dist.tar.gz").code == 1
    note = lab.audit("check", "--severity", "oldest-system=on", "dist.tar.gz").out
    assert f"note: dist.tar.gz(dist/lib/libuse.so) needs {text} [oldest-system]" in note
