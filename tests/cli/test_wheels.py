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
    assert "clean: 1 file in 1 package" in result.out, result
    assert "note: tree: 2 links to a folder outside of it are not followed (tree/out, ...)" in result.out, result
    (lab.path / "door").symlink_to("tree")  # the directory itself may be one
    assert "clean: 1 file in 1 package" in lab.audit("check", "door").out


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
