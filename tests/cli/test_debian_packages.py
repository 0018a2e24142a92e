"""Packages of others than Python, and tarballs, are read in place."""

import bz2
import gzip
import io
import json
import lzma
import shutil
import struct
import tarfile
import zipfile

import pytest

from elfaudit_test import Lab, SOURCE_DIR, need

need("g++", "gcc", "ar")

DEVICE = SOURCE_DIR / "testdata" / "efa-device" / "prebuilt"
FILES = {"./usr/lib/libshared.so": "libshared.so", "./usr/lib/libinner.a": "libinner.a", "./usr/share/doc/notes.txt": None}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("deb"))
    lab.cc("libshared.so", "int exported; extern int elsewhere; int* user() { return &elsewhere; }", "g++ -shared -fPIC")
    lab.cc("member.o", "int inside;", "gcc")
    lab.ar("libinner.a", "member.o")
    return lab


def tar_of(lab, files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, file in files:
            data = (lab.path / file).read_bytes() if file else b"no ELF file\n"
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def package(lab, name, data, member="data.tar.xz", control=b""):
    """Of an ar archive's members; `data`: of the last one."""
    lab.write("debian-binary", "2.0\n")
    (lab.path / "control.tar").write_bytes(control)
    (lab.path / member).write_bytes(data)
    lab.sh(f"rm -f {name} && ar rcS {name} debian-binary control.tar {member}")
    return name


@pytest.mark.parametrize("compression", ["none", "gzip", "xz", "zstd"])
def test_what_a_package_of_dpkg_installs_is_listed(built, compression):
    need("dpkg-deb")
    built.sh("rm -rf tree && mkdir -p tree/DEBIAN tree/usr/lib && cp libshared.so libinner.a tree/usr/lib && ln -s libshared.so tree/usr/lib/link.so")
    built.write("tree/DEBIAN/control", "Package: x\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@x>\nDescription: x\n")
    if built.sh(f"dpkg-deb -Z{compression} --root-owner-group -b tree x.deb >/dev/null 2>&1 || echo no").out:
        pytest.skip(f"dpkg-deb knows no {compression}")
    result = built.audit("list", "symbols", "--format", "jsonl", "x.deb")
    unpacked = built.audit("list", "symbols", "--format", "jsonl", "tree/usr/lib/libinner.a", "tree/usr/lib/libshared.so")
    rows = [[{k: v for k, v in row.items() if k not in ("input", "path", "member")} for row in map(json.loads, text.splitlines())]
            for text in (result.out, unpacked.out)]
    assert result.code == 0 and sorted(map(repr, rows[0])) == sorted(map(repr, rows[1])), result
    assert "x.deb(usr/lib/libinner.a(member.o))" in result.out and "link.so" not in result.out


def test_packages_in_a_folder_are_listed_and_checked(built):
    built.sh("rm -rf folder && mkdir folder && cp libshared.so folder")
    package(built, "folder/x.deb", lzma.compress(tar_of(built, FILES.items())))
    for form in ("text", "jsonl"):
        result = built.audit("list", "symbols", "--format", form, "folder")
        assert result.code == 0 and "folder/x.deb(usr/lib/libinner.a(member.o))" in result.out, result
    assert built.audit("check", "folder").out == "clean: 3 files in 1 folder and 1 package\n"
    assert built.audit("check", "folder/x.deb").out == "clean: 2 files in 1 package\n"


def test_a_library_of_a_package_is_found_by_its_soname_and_a_missing_one_is_not(built):
    """Symbolic links to libraries are not among the files of a package."""
    built.sh("echo 'int inner() { return 1; }' | g++ -x c++ - -shared -fPIC -Wl,-soname,libinner.so.1 -o libinner.so.1.2")
    built.sh("echo 'int lost() { return 1; }' | g++ -x c++ - -shared -fPIC -Wl,-soname,liblost.so.1 -o liblost.so")
    built.write("user.cpp", "int inner(); int lost(); int use() { return inner() + lost(); }\n")
    built.sh("g++ -shared -fPIC user.cpp -o user.so -Wl,-rpath,'$ORIGIN' -L. -l:libinner.so.1.2 -l:liblost.so")
    files = [("./opt/lib/user.so", "user.so"), ("./opt/lib/libinner.so.1.2", "libinner.so.1.2")]
    package(built, "lost.deb", lzma.compress(tar_of(built, files)))
    result = built.audit("check", "--format", "json", "lost.deb")
    messages = [f["message"] for f in result.json()["findings"]]
    assert result.json()["packages"][0]["kind"] == "archive"
    assert messages == ["opt/lib/user.so needs liblost.so.1, which is not in this package and is not found"]


TREES = {
    "deb": ("", lambda lab, files: package(lab, "go.deb", lzma.compress(tar_of(lab, files)))),
    "tarball-of-a-system": ("./usr/", lambda lab, files: tarball_of(lab, files)),
    "tarball": ("./", lambda lab, files: tarball_of(lab, files)),
    "conda": ("", lambda lab, files: conda_of(lab, "go-1.0-0.conda", files)),
}


def tarball_of(lab, files):
    (lab.path / "go.tar.gz").write_bytes(gzip.compress(tar_of(lab, files)))
    return "go.tar.gz"


@pytest.mark.parametrize("kind", TREES)
def test_packages_that_may_be_unpacked_anywhere_are_not_at_the_root(built, kind):
    built.sh("echo 'int go() { return 1; }' | gcc -x c - -shared -fPIC -nostdlib -Wl,-soname,libgo.so.1 -o libgo.so.1")
    built.sh("echo 'int go(); int run() { return go(); }' | gcc -shared -fPIC -nostdlib -x c - -x none libgo.so.1 -o go.so")
    top, pack = TREES[kind]
    name = pack(built, [(top + "bin/go.so", "go.so"), (top + "lib/libgo.so.1", "libgo.so.1")])
    result = built.audit("check", name)
    assert ("go.so needs libgo.so.1, which is in this package but not in the dir" in result.out) == (kind in ("tarball", "conda")), result
    # conda replaces the placeholder by the folder that it unpacks the package in.
    path = "/home/x_placehold_placehold_pl/lib" if kind == "conda" else "$ORIGIN/../lib"
    built.sh(f"echo 'int go(); int run() {{ return go(); }}' | gcc -shared -fPIC -nostdlib -x c - -x none libgo.so.1 -Wl,-rpath,'{path}' -o go.so")
    assert built.audit("check", pack(built, [(top + "bin/go.so", "go.so"), (top + "lib/libgo.so.1", "libgo.so.1")])).out == "clean: 2 files in 1 package\n"


def deb_that_needs(lab, name, depends):
    text = f"Package: x\nArchitecture: amd64\nDepends: {depends}\n"
    lab.write("control", text)
    return package(lab, name, lzma.compress(tar_of(lab, [("./usr/lib/go.so", "go.so")])), control=tar_of(lab, [("./control", "control")]))


def alpine_that_needs(lab, name, depends):
    lab.write("info", f"pkgname = x\narch = x86_64\ndepend = {depends}\n")
    (lab.path / name).write_bytes(gzip.compress(tar_of(lab, [(".PKGINFO", "info"), ("usr/lib/go.so", "go.so")])))
    return name


def rpm_that_needs(lab, name, depends):
    rpm_of(lab, "go.so", name, depends)
    return name


@pytest.mark.parametrize("write, name, depends, severity", [
    (deb_that_needs, "x.deb", "libc6 (>= 2.34)", "warning"),  # which has no such library
    (deb_that_needs, "x.deb", "libc6, libgo1 | libgo-any (>= 1)", "note"),
    (rpm_that_needs, "x.rpm", "libother.so.1()(64bit)", "warning"),
    (rpm_that_needs, "x.rpm", "libgo.so.1()(64bit)", None),
    (alpine_that_needs, "x.apk", "so:libother.so.1", "warning"),
    (alpine_that_needs, "x.apk", "so:libgo.so.1", None),
])
def test_what_other_packages_bring_is_not_missing(built, write, name, depends, severity):
    built.sh("echo 'int go() { return 1; }' | gcc -x c - -shared -fPIC -nostdlib -Wl,-soname,libgo.so.1 -o libgo.so.1")
    built.sh("echo 'int go(); int run() { return go(); }' | gcc -shared -fPIC -nostdlib -x c - -x none libgo.so.1 -o go.so")
    result = built.audit("check", "--format", "json", write(built, name, depends))
    assert [(f["rule"], f["severity"]) for f in result.json()["findings"]] == ([("needed-not-found", severity)] if severity else []), result


@pytest.mark.parametrize("architecture, severity", [("arm64", ["error"]), ("amd64", []), ("i386", []), ("all", [])])
def test_a_package_for_another_machine_than_its_files(built, architecture, severity):
    need("x86_64-linux-gnu-gcc")
    built.sh("echo 'int puts(const char*); int go() { return puts(\"\"); }' | x86_64-linux-gnu-gcc -x c - -shared -fPIC -o go.so")
    built.write("control", f"Package: x\nArchitecture: {architecture}\n")
    package(built, "x.deb", lzma.compress(tar_of(built, [("./usr/lib/go.so", "go.so")])), control=tar_of(built, [("./control", "control")]))
    result = built.audit("check", "--format", "json", "x.deb")
    assert [f["severity"] for f in result.json()["findings"] if f["rule"] == "package-architecture"] == severity, result
    assert not severity or "x.deb is a package for arm64, and usr/lib/go.so is for x86_64" in result.out


def rpm_of(lab, file, name, requires=None):
    """Format V4: a lead, a signature and a header, here without entries, and a cpio archive in the "newc" format."""
    def member(path, data):
        fields = [0, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path + b"\0"
        return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)
    empty_header = b"\x8e\xad\xe8\x01" + b"\0" * 12
    store = b"x86_64\0" + (requires or "").encode() + b"\0"
    rows = struct.pack(">8I", 1022, 6, 0, 1, 1049, 8, 7, 1)
    header = b"\x8e\xad\xe8\x01\0\0\0\0" + struct.pack(">2I", 2, len(store)) + rows + store if requires else empty_header
    payload = member(b"./usr/lib/" + file.encode(), (lab.path / file).read_bytes()) + member(b"TRAILER!!!", b"")
    (lab.path / name).write_bytes(b"\xed\xab\xee\xdb\x03".ljust(96, b"\0") + empty_header + header + gzip.compress(payload))


def test_tarballs_and_rpm_packages_are_read_too(built):
    rpm_of(built, "libshared.so", "x.rpm")
    with tarfile.open(built.path / "x.tar.xz", "w:xz") as tar:
        tar.add(built.path / "libshared.so", "./usr/lib/libshared.so")
    expected = built.audit("list", "symbols", "libshared.so").out
    for name in ("x.rpm", "x.tar.xz"):
        listed = built.audit("list", "symbols", name).out
        assert listed.replace(f"{name}(usr/lib/libshared.so)", "libshared.so").split() == expected.split()
        assert built.audit("check", name).out == "clean: 1 file in 1 package\n"
        (built.path / ("short." + name)).write_bytes((built.path / name).read_bytes()[:-600])
        assert built.audit("check", "short." + name).code == 2


def zip_of(lab, name, members):
    with zipfile.ZipFile(lab.path / name, "w", zipfile.ZIP_DEFLATED) as file:
        for member, data in members:
            file.writestr(member, data)
    return name


def conda_of(lab, name, files, inner="pkg-x-1.0-0.tar.bz2"):
    """bz2 and not zstd, which Python has no module for before 3.14."""
    return zip_of(lab, name, [("metadata.json", "{}"), ("info-x-1.0-0.tar.bz2", b""), (inner, bz2.compress(tar_of(lab, files)))])


LIBRARY = [("usr/lib/libshared.so", "libshared.so")]


def contents(lab, files):
    return [(name, (lab.path / file).read_bytes()) for name, file in files]


# Alpine's packages are tarballs after another, each compressed by itself, and only the last one has an end.
PACKAGES = {
    "x-1.0-0.conda": lambda lab, name, files: conda_of(lab, name, files),
    "x.aar": lambda lab, name, files: zip_of(lab, name, contents(lab, files)),
    "x.apk": lambda lab, name, files: zip_of(lab, name, contents(lab, files)),
    "x.jar": lambda lab, name, files: zip_of(lab, name, contents(lab, files)),
    "alpine.apk": lambda lab, name, files: (lab.path / name).write_bytes(gzip.compress(tar_of(lab, [(".PKGINFO", None)])[:1024]) + gzip.compress(tar_of(lab, files))),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_of_other_systems(built, name):
    built.sh("rm -rf some && mkdir some")
    PACKAGES[name](built, f"some/{name}", LIBRARY)
    expected = built.audit("list", "symbols", "libshared.so").out
    assert built.audit("list", "symbols", f"some/{name}").out.replace(f"some/{name}(usr/lib/libshared.so)", "libshared.so").split() == expected.split()
    assert built.audit("check", f"some/{name}").out == "clean: 1 file in 1 package\n"
    assert built.audit("diff", f"some/{name}", f"some/{name}").code == 0
    # A Java package in a directory is passed over, like a tarball.
    assert ("clean: 1 file in 1 folder and 1 package" in built.audit("check", "some").out) == (name != "x.jar")


@pytest.mark.parametrize("entry, code", [("lib/arm64-v8a/libuse.so", 0), ("usr/lib/libuse.so", 1)])
def test_what_a_device_has_is_not_missing_in_its_packages(built, entry, code):
    built.sh("echo 'int lost() { return 1; }' | g++ -x c++ - -shared -fPIC -nostdlib -o liblog.so")
    built.sh("echo 'int lost(); int use() { return lost(); }' | g++ -x c++ - -shared -fPIC -nostdlib -o libuse.so -L. -llog")
    zip_of(built, "app.apk", contents(built, [(entry, "libuse.so")]))
    result = built.audit("check", "--fail-on", "warning", "app.apk")
    assert result.code == code and ("needs liblog.so" in result.out) == bool(code), result


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("kind", ["leads-out", "control-characters", "twice"])
def test_an_entry_that_no_package_of_another_system_has(built, name, kind):
    files, reason = HOSTILE[kind]
    PACKAGES[name](built, name, [("good.so", "libshared.so"), *files])
    result = built.audit("check", name)
    assert result.code == 2 and reason in result.out and "\x1b" not in result.out, result


@pytest.mark.parametrize("name", ["x.conda", "x.apk", "x.aar", "x.jar"])
def test_a_package_of_another_system_that_is_damaged(built, name):
    whole = (built.path / PACKAGES[name if name != "x.conda" else "x-1.0-0.conda"](built, name, LIBRARY)).read_bytes()
    for damaged in (b"", b"x" * 4096, whole[:-30], whole[: len(whole) // 2], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]):
        (built.path / name).write_bytes(damaged)
        result = built.audit("check", name)
        assert result.code == 2 and name in result.out, result


def test_a_conda_package_without_files(built):
    for inner, says in (("other", "has no pkg-"), ("pkg-x.tar.rar", "whose compression is unknown")):
        result = built.audit("check", conda_of(built, "odd.conda", LIBRARY, inner))
        assert result.code == 2 and says in result.out, result


@pytest.mark.deep
def test_a_conda_package_with_far_too_many_bytes(built):
    (built.path / "zeros").write_bytes(b"\0" * (200 << 20))
    result = built.audit("check", conda_of(built, "bomb.conda", [("zeros.so", "zeros")]))
    assert result.code == 2 and "bomb.conda" in result.out, result


def test_device_code_in_a_package(built):
    """Its images are read again for their symbols."""
    shutil.copy(sorted(DEVICE.glob("*.o"))[0], built.path / "device.o")
    package(built, "device.deb", lzma.compress(tar_of(built, [("./usr/lib/device.o", "device.o")])))
    expected = built.audit("list", "symbols", "--device", "device.o")
    result = built.audit("list", "symbols", "--device", "device.deb")
    assert result.code == 0 and result.out.replace("device.deb(usr/lib/device.o)", "device.o").split() == expected.out.split(), result


def test_a_name_that_is_not_ascii(built):
    package(built, "names.deb", lzma.compress(tar_of(built, [("./usr/lib/bücher.so", "libshared.so")])))
    result = built.audit("list", "symbols", "names.deb")
    assert result.code == 0 and "names.deb(usr/lib/bücher.so)" in result.out, result


HOSTILE = {
    "leads-out": ([("../etc/x.so", "libshared.so")], "has a path that leads out of the package"),
    "absolute": ([("/etc/x.so", "libshared.so")], "has an absolute path"),
    "control-characters": ([("a\x1b[2Jb.so", "libshared.so")], "has control characters in its name"),
    "twice": ([("./a.so", "libshared.so"), ("./a.so", "libshared.so")], "has the same name as another entry"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_entry_that_no_package_has(built, kind):
    files, reason = HOSTILE[kind]
    package(built, "hostile.deb", lzma.compress(tar_of(built, [("./good.so", "libshared.so"), *files])))
    for form in ("text", "jsonl"):
        result = built.audit("list", "symbols", "--format", form, "hostile.deb")
        assert result.code == 2 and reason in result.err + result.out, result
        assert "hostile.deb(good.so)" in result.out and "\x1b" not in result.out + result.err, "the rest is listed"


DAMAGED = {
    "empty": b"",
    "no-tar": lzma.compress(b"x" * 4096),
    "not-compressed": b"x" * 4096,
}


@pytest.mark.deep
@pytest.mark.parametrize("kind", [*DAMAGED, "cut", "cut-in-an-entry", "no-data", "unknown-compression", "bomb-of-an-entry"])
def test_a_damaged_package(built, kind):
    whole = tar_of(built, FILES.items())
    data = {"cut": lzma.compress(whole)[:-64], "cut-in-an-entry": lzma.compress(whole[:2000]), "no-data": b"", "unknown-compression": b"x"}
    if kind == "bomb-of-an-entry":
        built.sh("truncate -s 200M zeros")
        data[kind] = lzma.compress(tar_of(built, [("./zeros.so", "zeros")]))
    member = {"no-data": "other", "unknown-compression": "data.tar.rar"}.get(kind, "data.tar.xz")
    package(built, "damaged.deb", data.get(kind, DAMAGED.get(kind)), member)
    for command in (["list", "symbols"], ["list", "needs", "--format", "jsonl"]):
        result = built.audit(*command, "damaged.deb")
        assert result.code == 2 and "damaged.deb" in result.err + result.out, result


def test_an_archive_whose_first_member_is_called_alike_is_an_archive(built):
    built.sh("cp member.o debian-binary.o")
    built.ar("alike.a", "debian-binary.o")
    result = built.audit("list", "symbols", "alike.a")
    assert result.code == 0 and "inside" in result.out, result


# Several packages together


def deb(lab, name, machine="amd64", rpath="$ORIGIN/../lib", depends=""):
    """A package of dpkg-deb with a program and its library."""
    cc = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}[machine]
    need("dpkg-deb", cc)
    lab.sh("rm -rf tree && mkdir -p tree/DEBIAN tree/opt/x/bin tree/opt/x/lib")
    lab.write("x.c", "int x(void) { return 0; }")
    lab.write("m.c", "int x(void); int main(void) { return x(); }")
    lab.sh(f"{cc} -shared -fPIC -Wl,-soname,libx.so.1 x.c -o tree/opt/x/lib/libx.so.1 && {cc} m.c tree/opt/x/lib/libx.so.1 -Wl,-rpath,'{rpath}' -o tree/opt/x/bin/x")
    lab.write("tree/DEBIAN/control", f"Package: x\nVersion: 1\nArchitecture: {machine}\n{depends}Maintainer: x <x@x>\nDescription: x\n")
    lab.sh(f"dpkg-deb --root-owner-group -b tree {name} >/dev/null")
    return name


def found_in(lab, *words):
    result = lab.audit("check", "--format", "json", *words)
    return result.code, [(f["rule"], f["severity"], f["message"]) for f in result.json()["findings"]]


def test_packages_for_two_machines_are_judged_apart(lab):
    good, broken, other = deb(lab, "good.deb"), deb(lab, "broken.deb", rpath="$ORIGIN"), deb(lab, "other.deb", "arm64")
    assert found_in(lab, good) == found_in(lab, other) == found_in(lab, good, other) == found_in(lab, other, good) == (0, [])
    code, [(rule, severity, message)] = found_in(lab, broken)
    assert (code, rule, severity) == (1, "needed-not-found", "error") and "bin/x needs libx.so.1, which is in this package" in message
    assert found_in(lab, broken, other) == found_in(lab, other, broken) == found_in(lab, good, broken, other) == found_in(lab, broken)


@pytest.mark.parametrize("packed", ["tree", "x.tar", "x.deb"])
def test_separate_debug_files_are_passed_over(lab, packed):
    deb(lab, "x.deb")
    lab.sh("cd tree/opt/x && mkdir debug && objcopy --only-keep-debug bin/x debug/x.debug && objcopy --only-keep-debug lib/libx.so.1 debug/libx.debug")
    lab.sh("tar cf x.tar -C tree opt && dpkg-deb --root-owner-group -b tree x.deb && rm -r tree/DEBIAN")
    result = lab.audit("check", packed)
    assert (result.code, result.out) == (0, f"clean: 2 files in 1 {'folder' if packed == 'tree' else 'package'}\n")
    lab.sh("rm -r tree/opt/x/bin tree/opt/x/lib && mkdir tree/DEBIAN && echo 'Package: x-dbgsym\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@x>\nDescription: x' >tree/DEBIAN/control")
    lab.sh("tar cf x.tar -C tree opt && dpkg-deb --root-owner-group -b tree x.deb && rm -r tree/DEBIAN")
    assert lab.audit("check", packed).code == 0


@pytest.mark.parametrize("name", ["x.tar", "x.deb"])
def test_symbolic_links_of_a_package_are_followed(lab, name):
    deb(lab, "good.deb", rpath="$ORIGIN/../lib64")
    pack = "tar cf x.tar -C tree opt && dpkg-deb --root-owner-group -b tree x.deb"
    lab.sh(f"mv tree/opt/x/lib/libx.so.1 tree/opt/x/lib/libreal.so && ln -s lib tree/opt/x/lib64 && ln -s libreal.so tree/opt/x/lib/libx.so.1 && tree/opt/x/bin/x && {pack}")
    assert found_in(lab, name) == (0, [])
    lab.sh(f"ln -sfn nowhere.so tree/opt/x/lib/libx.so.1 && ! tree/opt/x/bin/x && {pack}")
    assert [finding[0] for finding in found_in(lab, name)[1]] == ["needed-not-found"]


def test_a_link_to_a_file_of_the_machine_that_packed_it(lab):
    deb(lab, "x.deb")
    lab.sh("mv tree/opt/x/lib/libx.so.1 away.so && ln -s $PWD/away.so tree/opt/x/lib/libx.so.1 && tar cf x.tar -C tree/opt x && tree/opt/x/bin/x")
    code, [(rule, severity, message)] = found_in(lab, "x.tar")
    assert (code, rule, severity) == (1, "needed-not-found", "error") and f"is in this package a link to {lab.path}/away.so, which is not in it" in message
    assert "a link leads to a file outside of it, which is not there on another machine: tree/opt/x/lib/libx.so.1 -> " in lab.audit("check", "tree").out


# package-depends


STATUS = """Package: libwares2
Status: install ok installed
Depends: libother1 (>= 1) | libnone1

Package: libother1
Status: install ok installed
Provides: virtual

Package: base
Essential: yes
Status: install ok installed
Depends: libc6

Package: libc6
Status: install ok installed
"""


@pytest.mark.parametrize("depends,missing", [
    ("", {"libother1"}), ("libother1", set()), ("base, libother1 (>= 1)", set()), ("libwares2:any", set()), ("virtual", set()), ("libc6", {"libother1"}),
    ("not-here", set()),
])  # fmt: skip
def test_a_package_depends_on_those_of_its_libraries(lab, depends, missing):
    need("dpkg-deb")
    lab.sh("mkdir -p tree/DEBIAN tree/usr/bin root/var/lib/dpkg/info root/usr/lib && printf 'libother 1 libother1 (>= 1)\nudeb: libother 1 x\n' >root/var/lib/dpkg/info/libother1:amd64.shlibs && echo 'libc 6 libc6' >root/var/lib/dpkg/info/libc6:amd64.shlibs")
    lab.write("root/var/lib/dpkg/status", STATUS)
    lab.sh("echo 'int other(void) { return 0; }' >o.c && gcc -shared -fPIC -Wl,-soname,libother.so.1 o.c -o root/usr/lib/libother.so.1 && echo 'int other(void); int main(void) { return other(); }' >m.c && gcc m.c root/usr/lib/libother.so.1 -o tree/usr/bin/m")
    lab.write("tree/DEBIAN/control", "Package: m\nVersion: 1\nArchitecture: amd64\n" + (f"Depends: {depends}\n" if depends else "") + "Maintainer: x <x@x>\nDescription: x\n")
    lab.sh("dpkg-deb --root-owner-group -b tree m.deb")
    result = lab.audit("check", "--format", "json", "--root", "root", "--select", "package-depends", "m.deb")
    found = [f["message"] for f in result.json()["findings"]]
    assert found == [f"usr/bin/m needs libother.so.1 of the package {owner}, on which m does not depend" for owner in missing]
    lab.sh("rm root/var/lib/dpkg/status")
    assert lab.audit("check", "--format", "json", "--root", "root", "--select", "package-depends", "m.deb").json()["findings"] == []
