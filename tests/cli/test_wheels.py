"""Wheels and directories as inputs: read in place, and what is hostile in them said by name."""

import io
import json
import os
import struct
import zipfile

import pytest

from elfaudit_test import SOURCE_DIR, need
from elfaudit_wheels import module, wheel

need("cc", "g++", "ar")

NAME = "pkg-1.0-cp312-cp312-linux_x86_64.whl"
ENTRY = "pkg/_C.cpython-312-x86_64-linux-gnu.so"


@pytest.fixture
def good(lab):
    """A sound wheel for CPython 3.12 with one module."""
    return wheel(lab, NAME, {ENTRY: module(lab, "_C.so"), "pkg/__init__.py": b""})


def test_a_sound_wheel_is_clean_and_counted(lab, good):
    result = lab.audit("check", good)
    assert result.code == 0 and result.out.endswith("clean: 1 file in 1 package\n"), result


def test_json_names_packages_and_agrees_with_the_schema(lab, good):
    lab.write("dist/readme", "")
    lab.sh(f"cp {good} dist/")
    report = lab.audit("check", "--format", "json", good, "dist").json()
    first, directory, inside = report["packages"]
    assert (first["kind"], first["name"], first["version"], first["files"], first["read"]) == ("wheel", "pkg", "1.0", 1, True)
    assert first["tags"] == ["cp312-cp312-linux_x86_64"] and first["requires_python"] is None
    assert (directory["kind"], directory["path"], directory["files"]) == ("directory", "dist", 0)
    assert (inside["kind"], inside["path"]) == ("wheel", f"dist/{good}")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(report, json.loads((SOURCE_DIR / "schema/elfaudit-1.schema.json").read_text()))


def test_a_wheel_is_told_by_its_content(lab, good):
    os.rename(lab.path / good, lab.path / "download")
    package = lab.audit("check", "--format", "json", "download").json()["packages"][0]
    assert package["kind"] == "wheel" and package["tags"] == ["cp312-cp312-linux_x86_64"]


def test_a_zip_that_is_no_wheel(lab):
    with zipfile.ZipFile(lab.path / "x.zip", "w") as out:
        out.writestr("a.txt", "text")
    assert lab.audit("check", "x.zip").code == 2
    os.rename(lab.path / "x.zip", lab.path / "x-1.0-py3-none-any.whl")
    result = lab.audit("check", "x-1.0-py3-none-any.whl")
    assert result.code == 2 and "is not a wheel: there is no WHEEL file" in result.out, result


def test_list_reads_wheels_and_directories(lab, good):
    lab.cc("objects/a.o", "int in_a;", "gcc")
    lab.cc("m.o", "int in_member;", "gcc")
    lab.ar("libm.a", "m.o")
    wheel(lab, "arch-1.0-py3-none-any.whl", {"lib/libm.a": (lab.path / "libm.a").read_bytes()})
    result = lab.audit("list", "symbols", "--format", "json", good, "objects", "arch-1.0-py3-none-any.whl")
    owners = {row["name"]: row["input"] for row in result.json()["symbols"]}
    assert owners["PyInit__C"] == f"{good}({ENTRY})"
    assert owners["in_a"] == "objects/a.o"
    assert owners["in_member"] == "arch-1.0-py3-none-any.whl(lib/libm.a(m.o))"
    members = lab.audit("list", "members", "--format", "json", "arch-1.0-py3-none-any.whl").json()["members"]
    assert [m["input"] for m in members] == ["arch-1.0-py3-none-any.whl(lib/libm.a(m.o))"]


def test_a_wheel_beside_objects_takes_no_part_in_their_link(lab, good):
    lab.cc("a.o", "int PyInit__C() { return 1; }", "gcc")
    result = lab.audit("check", "a.o", good)
    assert result.code == 0 and result.out.startswith("clean: 1 object in 1 input, 1 file in 1 package; undef"), result


def test_a_directory_is_walked_through_links_and_loops(lab):
    (lab.path / "tree/sub").mkdir(parents=True)
    (lab.path / "tree/sub/libx.so.1").write_bytes(module(lab, "libx.so", exports=""))
    (lab.path / "tree/libx.so").symlink_to("sub/libx.so.1")
    (lab.path / "tree/sub/up").symlink_to("..")
    (lab.path / "tree/self").symlink_to("self")
    (lab.path / "tree/gone").symlink_to("nowhere")
    (lab.path / "tree/sub/notes.txt").write_text("no ELF file")
    os.mkfifo(lab.path / "tree/fifo")
    result = lab.audit("list", "symbols", "--format", "json", "tree")
    assert result.code == 0 and {row["input"] for row in result.json()["symbols"]} == {"tree/sub/libx.so.1"}, result


def test_links_that_lead_out_of_a_directory_are_not_followed(lab):
    (lab.path / "tree/sub").mkdir(parents=True)
    (lab.path / "elsewhere").mkdir()
    (lab.path / "tree/libx.so").write_bytes(module(lab, "libx.so", exports=""))
    (lab.path / "elsewhere/liby.so").write_bytes(module(lab, "liby.so", exports=""))
    (lab.path / "tree/out").symlink_to("../elsewhere")
    (lab.path / "tree/treee").symlink_to(lab.path / "elsewhere")
    result = lab.audit("check", "tree")
    assert "clean: 1 file in 1 folder" in result.out, result
    assert "note: tree: 2 links to a folder outside of it are not followed (tree/out, ...)" in result.out, result
    (lab.path / "door").symlink_to("tree")  # the directory itself may be one
    assert "clean: 1 file in 1 folder" in lab.audit("check", "door").out


def test_a_directory_with_nothing_to_audit_is_not_clean(lab):
    (lab.path / "empty").mkdir()
    result = lab.audit("check", "empty")
    assert result.code == 2 and "empty: contains no object" in result.out


def test_a_damaged_module_is_named(lab):
    spoiled = module(lab, "_C.so")[:200]
    name = wheel(lab, NAME, {ENTRY: spoiled})
    result = lab.audit("check", name)
    assert result.code == 2 and f"{name}({ENTRY}): " in result.out and "incomplete" in result.out, result


def test_order_of_entries_and_threads_change_nothing(lab):
    files = {f"pkg/_{i}.cpython-311-x86_64-linux-gnu.so": module(lab, f"_{i}.so") for i in range(6)}
    wheel(lab, NAME, files)
    first = lab.audit("check", "--format", "json", "-j1", NAME)
    wheel(lab, NAME, dict(reversed(files.items())))
    assert lab.audit("check", "--format", "json", NAME).out == first.out and first.code == 1


# --- hostile zip files: each is an error that names the wheel, and the rest of the audit goes on.


def patched(lab, name, change):
    """Changes the bytes of a wheel."""
    path = lab.path / name
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return name


def directory_record(data, entry):
    """Where the central directory's record of an entry begins (APPNOTE 4.3.12)."""
    at = data.find(b"PK\x01\x02")
    while at != -1:
        length = struct.unpack_from("<H", data, at + 28)[0]
        if data[at + 46 : at + 46 + length] == entry.encode():
            return at
        at = data.find(b"PK\x01\x02", at + 4)
    raise AssertionError(entry)


def local_record(data, entry):
    return struct.unpack_from("<I", data, directory_record(data, entry) + 42)[0]


def refused(lab, name, *words):
    """The audit says what is wrong and is incomplete; objects beside the wheel are still audited."""
    lab.cc("a.o", "int state;", "g++")
    lab.cc("b.o", "int state;", "g++")
    result = lab.audit("check", name, "a.o", "b.o")
    assert result.code == 2 and "state is defined twice" in result.out, result
    line = next(line for line in result.out.splitlines() if "[unreadable-input]" in line)
    assert name in line and all(word in line for word in words), result
    return result


def test_bomb(lab):
    # 300 MB of nothing behind an ELF header.
    refused(lab, wheel(lab, NAME, {ENTRY: b"\x7fELF" + bytes(300 << 20)}), ENTRY, "beyond 128 MiB, at most 250 bytes are made of one (elfaudit --limits)")


def test_bomb_that_lies_about_its_size(lab, good):
    def grow(data):
        struct.pack_into("<I", data, directory_record(data, ENTRY) + 24, 0xF0000000)
        struct.pack_into("<I", data, local_record(data, ENTRY) + 22, 0xF0000000)

    refused(lab, patched(lab, good, grow), ENTRY, "more than deflate makes")


def test_bomb_in_parts(lab):
    refused(lab, wheel(lab, NAME, {f"{i}.so": b"\x7fELF" + bytes(100 << 20) for i in range(2)}), NAME, "beyond 128 MiB, at most 250 bytes are made of one (elfaudit --limits)")


def test_zeros_are_no_bomb(lab):
    """64 MiB that deflate makes of 64 KiB: read, and judged by what they are."""
    lab.cc("a.o", "int state;")
    name = wheel(lab, NAME, {"data.bin": bytes(64 << 20)})
    result = lab.audit("check", name, "a.o")
    assert result.code != 2, result


@pytest.mark.parametrize("factor", [-100, 100])
def test_size_that_is_not_true(lab, good, factor):
    def change(data):
        size = (lab.path / "built/_C.so").stat().st_size + factor
        struct.pack_into("<I", data, directory_record(data, ENTRY) + 24, size)
        struct.pack_into("<I", data, local_record(data, ENTRY) + 22, size)

    refused(lab, patched(lab, good, change), ENTRY)


def test_stored_size_that_is_not_true(lab):
    name = wheel(lab, NAME, {ENTRY: module(lab, "_C.so")}, compression=zipfile.ZIP_STORED)

    def change(data):
        struct.pack_into("<I", data, directory_record(data, ENTRY) + 24, 1 << 30)

    refused(lab, patched(lab, name, change), ENTRY, "are stored")


def test_wrong_checksum(lab):
    name = wheel(lab, NAME, {ENTRY: module(lab, "_C.so")}, compression=zipfile.ZIP_STORED)

    def change(data):
        at = local_record(data, ENTRY) + 30 + len(ENTRY)
        data[at + 2000] ^= 1

    refused(lab, patched(lab, name, change), ENTRY, "CRC")


def test_overlapping_entries(lab):
    """D. Fifield's bomb: many names for one run of compressed bytes."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(ENTRY, b"\x7fELF" + bytes(range(256)) * 4000)
        for i in range(300):
            info = zipfile.ZipInfo(f"{ENTRY[:-3]}{i:03}.so")
            out.filelist.append(info)
            out.NameToInfo[info.filename] = info
            for field in ("header_offset", "CRC", "compress_size", "file_size", "compress_type", "flag_bits"):
                setattr(info, field, getattr(out.filelist[0], field))
    (lab.path / NAME).write_bytes(body.getvalue())
    refused(lab, NAME, "overlap")


@pytest.mark.parametrize("end", [10, 2000, -30])
def test_truncated(lab, good, end):
    refused(lab, patched(lab, good, lambda data: data.__delitem__(slice(end, None))), "not a readable zip file")


def test_text_called_wheel(lab):
    lab.write(NAME, "404: not found")
    refused(lab, NAME, "not a readable zip file")


def test_encrypted(lab, good):
    def encrypt(data):
        data[directory_record(data, ENTRY) + 8] |= 1
        data[local_record(data, ENTRY) + 6] |= 1

    refused(lab, patched(lab, good, encrypt), ENTRY, "encrypted")


@pytest.mark.parametrize(
    "entry, words",
    [
        ("../../evil.so", "leads out of the package"),
        ("/usr/lib/evil.so", "absolute path"),
        ("pkg\\evil.so", "backslash"),
        ("pkg/ev\x1b[31mil.so", "control characters"),
        ("a" * 5000 + ".so", "name of 5003 bytes"),
    ],
)
def test_names_that_lead_elsewhere(lab, entry, words):
    refused(lab, wheel(lab, NAME, {entry: b"x"}), words)


def test_two_entries_of_one_name(lab):
    with pytest.warns(UserWarning):
        with zipfile.ZipFile(lab.path / wheel(lab, NAME, {ENTRY: b""}), "a") as out:
            out.writestr(ENTRY, module(lab, "_C.so"))
    refused(lab, NAME, ENTRY, "same name as another entry")


def test_a_thin_archive_in_a_wheel_reads_no_file_beside_it(lab):
    lab.cc("m.o", "int x;", "gcc")
    lab.sh("gcc-ar rcT thin.a m.o")
    refused(lab, wheel(lab, NAME, {"thin.a": (lab.path / "thin.a").read_bytes()}), "thin archive")


# Several packages together, and a library that is in the wheel and not searched

BUNDLED, PLAIN = "rays/lib/libkern.so.1", "rays/__init__.py"


def bundled(lab, name, rpath="$ORIGIN/lib", cc="gcc", without=(), python=b"", bind="int kern(); int use() { return kern(); }"):
    """A wheel whose module needs a library of the wheel; `without`: entries that are left out."""
    need(cc)
    lab.write("k.c", "int kern(void) { return 1; }")
    lab.write("m.c", bind + " void PyInit__C(void) {}")
    lab.sh(f"mkdir -p rays/lib && {cc} -shared -fPIC -Wl,-soname,libkern.so.1 k.c -o {BUNDLED} && {cc} -shared -fPIC m.c {BUNDLED} -Wl,-rpath,'{rpath}' -lm -o _C.so")
    tags = name.removesuffix(".whl").split("-")
    ending = f"cpython-{tags[2].removeprefix('cp')}-x.so" if tags[3] != "abi3" else "abi3.so"
    files = {f"rays/_C.{ending}".replace("-x.so", "-x86_64-linux-gnu.so"): (lab.path / "_C.so").read_bytes(), BUNDLED: (lab.path / BUNDLED).read_bytes(), PLAIN: python}
    return wheel(lab, name, {path: content for path, content in files.items() if path not in without})


def found_in(lab, *words):
    result = lab.audit("check", "--format", "json", *words)
    return result.code, [(f["rule"], f["severity"], f["message"]) for f in result.json()["findings"]]


GOOD = "rays-1.0-cp311-cp311-linux_x86_64.whl"


@pytest.mark.parametrize("name,options", [
    ("rays-0.9-cp311-cp311-linux_x86_64.whl", {"rpath": "$ORIGIN/../lib"}),
    ("rays-1.0-cp310-cp310-linux_x86_64.whl", {"without": [BUNDLED]}),
    ("Rays-1.0-cp311-abi3-linux_aarch64.whl", {"rpath": "$ORIGIN/../lib", "cc": "aarch64-linux-gnu-gcc"}),
])  # fmt: skip
def test_what_is_never_installed_together_is_judged_apart(lab, name, options):
    good, broken = bundled(lab, GOOD), bundled(lab, name, **options)
    assert found_in(lab, good) == (0, [])
    alone = found_in(lab, broken)
    assert len(alone[1]) != 0 and found_in(lab, good, broken) == found_in(lab, broken, good) == alone
    lab.sh("mkdir dist && mv *.whl dist")
    assert found_in(lab, "dist") == alone


def test_wheels_of_two_projects_are_installed_together(lab):
    good = bundled(lab, GOOD, without=[BUNDLED])
    other = wheel(lab, "kern-1.0-py3-none-linux_x86_64.whl", {BUNDLED: (lab.path / BUNDLED).read_bytes()})
    assert found_in(lab, good)[1] != [] and found_in(lab, good, other) == found_in(lab, other, good) == (0, [])


def test_a_library_of_the_wheel_that_is_not_searched_ends_the_import(lab):
    broken = bundled(lab, GOOD, rpath="$ORIGIN/../lib")
    code, [(rule, severity, message)] = found_in(lab, broken)
    assert (code, rule, severity) == (1, "needed-not-found", "error") and "is in this wheel but not in the directories that are searched" in message
    lab.sh(f"mkdir site && cd site && python3 -m zipfile -e ../{broken} .")
    assert [finding[:2] for finding in found_in(lab, "site")[1]] == [("needed-not-found", "error")]


@pytest.mark.parametrize("python,severity", [(b"import ctypes; ctypes.CDLL('libkern.so.1')", "warning"), (b"import os", "error")])
def test_a_package_of_python_may_open_its_libraries_first(lab, python, severity):
    broken = bundled(lab, GOOD, rpath="$ORIGIN/../lib", python=python)
    assert [finding[1] for finding in found_in(lab, broken)[1]] == [severity]
    assert ("rays/__init__.py may have loaded it before" in lab.audit("check", broken).out) == (severity == "warning")


def test_the_system_of_another_machine_is_not_judged(lab):
    need("aarch64-linux-gnu-gcc")
    good = bundled(lab, "rays-1.0-cp311-abi3-linux_aarch64.whl", cc="aarch64-linux-gnu-gcc", bind="double pow(double, double); int kern(); double use(double x) { return pow(x, kern()); }")
    result = lab.audit("check", good)
    assert result.code == 0 and result.out.endswith("clean: 2 files in 1 package\n"), result
    assert "libm.so.6 is not judged: this machine has no system with /lib/ld-linux-aarch64.so.1" in result.out
    missing = bundled(lab, "rays-1.0-cp311-abi3-linux_aarch64.whl", cc="aarch64-linux-gnu-gcc", without=[BUNDLED])
    assert "needs libkern.so.1, which is not in this wheel and is not found" in lab.audit("check", missing).out
