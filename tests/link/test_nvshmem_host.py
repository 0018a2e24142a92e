"""The example of the demo: a library header that defines a variable in host code, against the library's archive."""

import os
import re
import subprocess

import pytest

from elfaudit_test import SOURCE_DIR, need

EXAMPLE = SOURCE_DIR / "testdata" / "nvshmem-host"
PREBUILT = EXAMPLE / "prebuilt"
ARCHIVE = PREBUILT / "libnvshmem_device.a"
SYMBOL = "nvshmemi_ibgda_device_state_d"
HEADER = EXAMPLE / "include" / "device_host_transport" / "nvshmem_common_ibgda.h"


def line_of_definition():
    lines = HEADER.read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.startswith("EXTERN_CONSTANT") and SYMBOL in line)


def link(lab, host_object):
    return lab.sh(f"g++ -shared '{PREBUILT / host_object}' '{ARCHIVE}' -o extension.so", check=False)


def test_linker_rejects_it(lab):
    result = link(lab, "deep_ep.o")
    assert result.code == 1
    assert f"multiple definition of `{SYMBOL}'" in result.err, result
    assert f"nvshmem_common_ibgda.h:{line_of_definition()}: first defined here" in result.err, result


def test_linker_accepts_the_mended_one(lab):
    assert link(lab, "deep_ep_fixed.o").code == 0


def test_text_names_header_line_and_member(lab):
    result = lab.audit("check", PREBUILT / "deep_ep.o", ARCHIVE)
    assert result.code == 1, result
    for expected in (SYMBOL, "duplicate-definition", f"device_host_transport/nvshmem_common_ibgda.h:{line_of_definition()}",
                     "libnvshmem_device.a(init_device.cu.o)", "nvshmemi_get_mem_handle"):
        assert expected in result.out, expected


def test_json_says_the_same(lab):
    result = lab.audit("check", "--format", "json", PREBUILT / "deep_ep.o", ARCHIVE)
    assert result.code == 1, result
    report = result.json()
    assert report["schema"] == "elfaudit/1" and report["complete"]
    assert [(finding["rule"], finding["severity"], finding["symbol"]) for finding in report["findings"]] == [
        ("duplicate-definition", "error", SYMBOL)
    ]
    kept, rejected = report["findings"][0]["sites"]
    assert (kept["role"], kept["section"], kept["offset"], kept["size"]) == ("kept", ".bss", 0, 8384)
    assert kept["file"].endswith("include/device_host_transport/nvshmem_common_ibgda.h")
    assert (kept["line"], kept["known_by"]) == (line_of_definition(), "debug-info")
    assert (rejected["role"], rejected["member"], rejected["size"]) == ("rejected", "init_device.cu.o", 8384)
    assert (rejected["section"], rejected["offset"]) == (".bss", 0x380)
    assert (rejected["file"], rejected["line"], rejected["known_by"]) == (None, None, "none")
    assert [member["input"].endswith("(init_device.cu.o)") for member in report["extracted_members"]] == [True]
    assert report["duplicates"][0]["symbol"] == SYMBOL


def test_link_command_gets_the_same_verdict(lab):
    result = lab.audit("check", "--", "g++", "-shared", PREBUILT / "deep_ep.o", f"-L{PREBUILT}", "-l:libnvshmem_device.a",
                       "-o", "extension.so")
    assert result.code == 1, result
    assert "libnvshmem_device.a(init_device.cu.o)" in result.out


def test_mended_one_is_clean(lab):
    result = lab.audit("check", "--format", "json", PREBUILT / "deep_ep_fixed.o", ARCHIVE)
    assert result.code == 0, result
    assert result.json()["findings"] == []


def test_prebuilt_objects_name_no_folder_of_the_machine_that_made_them():
    for file in sorted(PREBUILT.iterdir()):
        # g++ and nvcc put no absolute name into these unless one was on the command line or in the debug info.
        assert not re.search(rb"/(home|root|tmp|usr|opt|work|build|mnt|srv|var)/", file.read_bytes()), file.name


def defined_globals(file):
    """{(member, name): size} of every global definition; nvcc puts hashes of the source's path into some names."""
    listing = subprocess.run(["nm", "-S", "--defined-only", "--extern-only", file], capture_output=True, text=True, check=True)
    member, sizes = "", {}
    for line in listing.stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line:
            _, *size, _, name = line.split()
            sizes[member, re.sub(r"_[0-9a-f]{8}_(\d+_\w+)_[0-9a-f]{8}$", r"_\1", name)] = int(size[0], 16) if size else 0
    return sizes


@pytest.mark.deep
def test_rebuilt_objects_have_the_same_symbols(lab):
    need("nvcc", "g++")
    fresh = lab.path / "fresh folder"
    subprocess.run([EXAMPLE / "regenerate", fresh], check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    for name in ("deep_ep.o", "deep_ep_fixed.o", "libnvshmem_device.a"):
        old, new = defined_globals(PREBUILT / name), defined_globals(fresh / name)
        assert old.keys() == new.keys(), name
        # How long a function is differs between compilers, how large a variable is must not.
        assert [new[key] for key in old if "_state" in key[1]] == [old[key] for key in old if "_state" in key[1]], name
    rebuilt = lab.audit("check", fresh / "deep_ep.o", fresh / "libnvshmem_device.a")
    assert rebuilt.code == 1 and "libnvshmem_device.a(init_device.cu.o)" in rebuilt.out
    assert lab.audit("check", fresh / "deep_ep_fixed.o", fresh / "libnvshmem_device.a").code == 0
