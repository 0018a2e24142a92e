"""The example of a variable that a header defines in device code: prebuilt objects, so that no CUDA toolkit is needed."""

import json
import os
import re
import subprocess

import pytest

from elfaudit_test import SOURCE_DIR, need
from nvlink import agree, compile_all

EXAMPLE = SOURCE_DIR / "testdata" / "efa-device"
PREBUILT = EXAMPLE / "prebuilt"
SYMBOL = "_ZN7deep_ep27nvshmemi_efa_device_state_dE"
BROKEN = [PREBUILT / "internode.o", PREBUILT / "internode_ll.o"]
HALF_FIXED = [PREBUILT / "internode_fixed.o", PREBUILT / "internode_ll_fixed.o"]
FIXED = [*HALF_FIXED, PREBUILT / "efa_device_state.o"]


def line_of(text, file):
    return 1 + next(i for i, line in enumerate((EXAMPLE / file).read_text().splitlines()) if text in line)


DEFINITION = line_of("__device__ nvshmemi_efa_device_state_t", "csrc/kernels/efa_state.cuh")


def test_text_names_header_line_and_objects(lab):
    result = lab.audit("check", *BROKEN)
    assert result.code == 1, result
    for expected in ("deep_ep::nvshmemi_efa_device_state_d is defined twice", "device-duplicate-definition", "sm_80 and sm_90a",
                     "internode.o", "internode_ll.o", f"csrc/kernels/efa_state.cuh:{DEFINITION}"):
        assert expected in result.out, expected


def test_one_finding_for_device_and_host(lab):
    # The host variables that nvcc makes beside the device's collide too, and that is the same story.
    document = lab.audit("check", "--format", "json", *BROKEN).json()
    [finding] = document["findings"]
    assert (finding["rule"], finding["severity"], finding["symbol"]) == ("device-duplicate-definition", "error", SYMBOL)
    assert finding["archs"] == ["sm_80", "sm_90a"]
    assert [d["symbol"] for d in document["duplicates"]] == [SYMBOL]


def test_sites(lab):
    [finding] = lab.audit("check", "--format", "json", *BROKEN).json()["findings"]
    for site, role, name in zip(finding["sites"], ("kept", "rejected"), ("internode.o", "internode_ll.o"), strict=True):
        assert (site["role"], os.path.basename(site["input"])) == (role, name)
        assert (site["section"], site["size"]) == (".nv.global.init", 64)
        assert site["file"].endswith("csrc/kernels/efa_state.cuh")
        assert (site["line"], site["known_by"]) == (DEFINITION, "debug-info")


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90a"])
def test_one_architecture(lab, arch):
    [finding] = lab.audit("check", "--arch", arch, "--format", "json", *BROKEN).json()["findings"]
    assert (finding["rule"], finding["archs"]) == ("device-duplicate-definition", [arch])


def test_code_for_one_gpu_alone_is_not_judged_for_others(lab):
    """nvlink links sm_90a code for sm_90 up to CUDA 13.0, and leaves it out from 13.1 on."""
    document = lab.audit("check", "--arch", "sm_90", "--format", "json", *BROKEN).json()
    assert document["not_judged"] == ["code for one GPU alone in a device link for sm_90"]
    assert [finding["rule"] for finding in document["findings"]] == ["duplicate-definition"]  # the host's variables


def test_mended_one_is_clean(lab):
    for inputs in (FIXED, FIXED[::-1]):
        result = lab.audit("check", "--format", "json", *inputs)
        assert result.code == 0 and result.json()["findings"] == [], result


def test_half_mended_one_has_no_definition(lab):
    result = lab.audit("check", "--format", "json", *HALF_FIXED)
    assert result.code == 1, result
    [finding] = result.json()["findings"]
    assert (finding["rule"], finding["symbol"]) == ("device-undefined-symbol", SYMBOL)
    assert {os.path.basename(site["input"]) for site in finding["sites"]} == {"internode_fixed.o", "internode_ll_fixed.o"}


def test_definition_twice_in_the_mended_one(lab):
    result = lab.audit("check", *FIXED, BROKEN[0])
    assert result.code == 1 and "csrc-fixed/kernels/efa_device_state.cu" in result.out, result


def test_prebuilt_objects_name_no_folder_of_the_machine_that_made_them():
    for file in sorted(PREBUILT.iterdir()):
        assert not re.search(rb"/(home|root|tmp|usr|opt|work|build|mnt|srv|var)/|tmpxft", file.read_bytes()), file.name


def hold_against_nvlink(lab, folder):
    names = [f.name for f in FIXED]
    lab.sh(f"cp '{folder}'/*.o .")
    for arch in ("sm_80", "sm_90a"):
        assert agree(lab, "internode.o internode_ll.o", arch) == {f"duplicate {SYMBOL}"}
        assert agree(lab, " ".join(names), arch) == set()
        assert agree(lab, " ".join(names[:2]), arch) == {f"undefined {SYMBOL}"}


def test_nvlink_agrees(lab):
    need("nvlink")
    hold_against_nvlink(lab, PREBUILT)


@pytest.mark.deep
def test_rebuilt_objects_are_the_same_story(lab):
    need("nvcc", "nvlink")
    fresh = lab.path / "fresh folder"
    subprocess.run([EXAMPLE / "regenerate", fresh], check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    hold_against_nvlink(lab, fresh)
    for arguments in (BROKEN, HALF_FIXED):
        outputs = [lab.audit("check", "--format", "json", *[folder / a.name for a in arguments]) for folder in (PREBUILT, fresh)]
        ours = [json.loads(output.out.replace(str(fresh), str(PREBUILT)))["findings"] for output in outputs]
        for finding in [*ours[0], *ours[1]]:
            for site in finding["sites"]:
                del site["offset"]
            del finding["fingerprint"]
        assert ours[0] == ours[1]


@pytest.mark.deep
def test_inline_is_the_other_way_to_mend_it(lab):
    need("nvcc", "nvlink")
    header = (EXAMPLE / "csrc" / "kernels" / "efa_state.cuh").read_text()
    lab.write("kernels/efa_state.cuh", header.replace("\n__device__", "\ninline __device__"))
    lab.sh(f"cp '{EXAMPLE}'/csrc/kernels/efa_device.cuh kernels")
    sources = {name: (EXAMPLE / "csrc" / "kernels" / f"{name}.cu").read_text() for name in ("internode", "internode_ll")}
    compile_all(lab, sources, "-I. -std=c++20 -arch=sm_80")
    assert agree(lab, "internode.o internode_ll.o") == set()
