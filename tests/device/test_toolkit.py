"""The CUDA libraries that are installed: every image of theirs is found, and none of them is a finding.

Counts are held against a reader of a few lines here, which looks for containers by their magic and not by their sizes.
"""

import collections
import glob
import mmap
import os
import re
import shutil
import site
import struct
import subprocess

import pytest

from elfaudit_test import need

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
KINDS = {1: "ptx", 2: "cubin", 8: "lto-ir"}
PREFIXES = {"ptx": "compute_", "cubin": "sm_", "lto-ir": "lto_"}
SHARED = ("cublas", "cublasLt", "cudart", "cudnn_adv", "cudnn_engines_precompiled", "cudnn_ops", "cufft", "curand", "cusolver",
          "cusolverMg", "cusparse", "nccl", "npps", "nvJitLink", "nvshmem_host")
STATIC = ("cublas_static", "cudadevrt", "cudart_static", "culibos", "cufft_static", "curand_static", "nccl_static", "nvshmem_device")
LARGEST_STATIC = 1 << 30  # checking an archive decodes every member's images: minutes beyond this size


def folders():
    nvcc = shutil.which("nvcc")
    if nvcc:
        toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        yield from (os.path.join(toolkit, folder) for folder in ("lib64", "lib", "targets/x86_64-linux/lib"))
    yield from ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib")
    for packages in (*site.getsitepackages(), site.getusersitepackages()):
        yield from sorted(glob.glob(f"{packages}/nvidia/*/lib"))


def library(pattern):
    for folder in folders():
        if found := sorted(glob.glob(os.path.join(folder, pattern))):
            return os.path.realpath(found[0])
    pytest.skip(f"needs {pattern} of the CUDA toolkit, which is not installed")


def images(file):
    """{(section, number of the container, kind, architecture): how many} of a file of ELF, and how many containers."""
    counts, containers = collections.Counter(), 0
    listing = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True).stdout
    headers = re.findall(r"^ +\[ *\d+\] (\S+) +\S+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ", listing, re.M)
    with open(file, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for name, offset, size in headers:
            if name not in SECTIONS:
                continue
            begin, end = int(offset, 16), int(offset, 16) + int(size, 16)
            starts = [m.start() + begin for m in re.finditer(rb"\x50\xed\x55\xba\x01\x00\x10\x00", memoryview(data)[begin:end])]
            starts = [start for start in starts if (start - begin) % 8 == 0]
            for number, start in enumerate(starts):
                at, stop = start + 16, start + 16 + struct.unpack_from("<Q", data, start + 8)[0]
                while at < stop:
                    kind, header_size, payload_size = struct.unpack_from("<H2xIQ", data, at)
                    arch, flags = *struct.unpack_from("<I", data, at + 0x1C), *struct.unpack_from("<Q", data, at + 0x28)
                    suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
                    counts[name, number, KINDS[kind], f"{PREFIXES[KINDS[kind]]}{arch}{suffix}"] += 1
                    at += header_size + payload_size
                assert at == stop, (file, name, number)
            containers += len(starts)
    return counts, containers


def listed(lab, file):
    result = lab.audit("list", "images", "--format", "json", file)
    assert result.code == 0, result.err
    return result.json()["images"]


def of_device(document):
    return [f for f in document["findings"] if f["rule"].startswith("device-") or f["rule"] == "split-state"]


@pytest.mark.deep
@pytest.mark.parametrize("name", SHARED)
def test_images_of_shared_library(lab, name):
    need("readelf")
    file = library(f"lib{name}.so*")
    counts, containers = images(file)
    ours = listed(lab, file)
    assert collections.Counter((i["section"], i["container"], i["kind"], i["arch"]) for i in ours) == counts
    assert len({(i["section"], i["container"]) for i in ours}) == containers
    assert all(i["stored_size"] > 0 and i["real_size"] >= i["stored_size"] // 2 for i in ours)


@pytest.mark.parametrize("name", STATIC)
def test_images_of_archive(lab, name):
    need("readelf", "ar")
    file = library(f"lib{name}.a")
    if os.path.getsize(file) > LARGEST_STATIC:
        pytest.skip(f"{file} is too large to unpack")
    counts = collections.Counter()
    lab.sh(f"ar x '{file}'")
    for member in lab.path.iterdir():
        for (section, container, kind, arch), number in images(member)[0].items():
            counts[member.name, section, container, kind, arch] += number
    ours = listed(lab, file)
    assert collections.Counter((i["member"], i["section"], i["container"], i["kind"], i["arch"]) for i in ours) == counts


@pytest.mark.parametrize("name", SHARED)
def test_shared_library_has_no_device_finding(lab, name):
    result = lab.audit("check", "--format", "json", library(f"lib{name}.so*"))
    assert result.code == 0 and result.json()["complete"], result
    assert of_device(result.json()) == []


@pytest.mark.parametrize("name", STATIC)
def test_archive_has_no_device_finding(lab, name):
    file = library(f"lib{name}.a")
    if os.path.getsize(file) > LARGEST_STATIC:
        pytest.skip(f"{file} is too large for a test")
    result = lab.audit("check", "--format", "json", file)
    assert result.json()["complete"], result
    assert of_device(result.json()) == []


ORDER = {"": 0, "a": 1, "f": 2}


def table_of(file):
    """{column: cell} that the table should have for one file of ELF."""
    kinds = collections.defaultdict(set)
    for _, _, kind, arch in images(file)[0]:
        kinds[arch.partition("_")[2]].add(kind)
    words = {("cubin",): "cubin", ("ptx",): "PTX", ("cubin", "ptx"): "both", ("lto-ir",): "LTO"}
    return {arch: words.get(tuple(sorted(of)), "other") for arch, of in kinds.items()}


@pytest.mark.parametrize("name", SHARED)
def test_table_of_shared_library(lab, name):
    need("readelf")
    file = library(f"lib{name}.so*")
    result = lab.audit("list", "images", "--table", file)
    expected = table_of(file)
    if not expected:
        assert result.out == "0 of 1 object with device code, for 0 architectures\n"
        return
    header, row, _ = result.out.splitlines()
    columns = sorted(expected, key=lambda arch: (int(arch.rstrip("af")), ORDER[arch.lstrip("0123456789")]))
    assert header.split() == columns and row.split() == [file, *(expected[column] for column in columns)]
