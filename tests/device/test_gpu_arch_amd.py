"""HIP code against the list of AMD's GPUs that it should be for. What runs where: LLVM's "User Guide for AMDGPU Backend"."""

import pytest

from elfaudit_test import need

need("clang++-19", "ld.lld-19", "clang-offload-bundler-19")


def compile_for(lab, name, *archs):
    lab.write("k.hip", "__attribute__((device)) int v = 1;\n")
    options = " ".join(f"--offload-arch={arch}" for arch in archs)
    lab.sh(f"clang++-19 -x hip {options} -fgpu-rdc -nogpulib -nogpuinc -c k.hip -o {name}")


def findings(lab, *arguments):
    report = lab.audit("check", "--format", "json", *arguments).json()
    return [(f["rule"], f["severity"], *f.get("archs", [])) for f in report["findings"] if f["rule"].startswith("gpu-")]


@pytest.mark.parametrize("held, wanted, expected", [
    (["gfx90a"], "gfx90a", []),
    (["gfx90a"], "gfx90a;gfx942", [("gpu-arch-missing", "error", "gfx942")]),
    (["gfx90a", "gfx942"], "gfx942", [("gpu-arch-unexpected", "warning", "gfx90a")]),
    (["gfx90a"], "gfx90a:xnack+", []),
    (["gfx90a:xnack+"], "gfx90a:xnack+", []),
    (["gfx90a:xnack+"], "gfx90a:xnack-", [("gpu-arch-missing", "error", "gfx90a:xnack-"), ("gpu-arch-unexpected", "warning", "gfx90a:xnack+")]),
    (["gfx90a:xnack+"], "gfx90a", [("gpu-arch-missing", "warning", "gfx90a")]),
    (["gfx90a:xnack+", "gfx90a:xnack-"], "gfx90a", []),
    (["gfx90a:xnack+"], "gfx90a:xnack+:sramecc-", []),
    (["gfx11-generic"], "gfx1101", [("gpu-arch-missing", "note", "gfx1101")]),
    (["gfx11-generic"], "gfx1030", [("gpu-arch-missing", "error", "gfx1030"), ("gpu-arch-unexpected", "warning", "gfx11-generic")]),
    (["gfx90a"], "9.0", [("gpu-arch-missing", "error", "sm_90"), ("gpu-arch-unexpected", "warning", "gfx90a")]),
])
def test_what_runs_on_the_gpus_of_the_list(lab, held, wanted, expected):
    compile_for(lab, "k.o", *held)
    assert findings(lab, "--gpu-arch", wanted, "k.o") == expected


def test_objects_for_different_gpus(lab):
    compile_for(lab, "a.o", "gfx90a")
    compile_for(lab, "b.o", "gfx942")
    assert ("gpu-arch-differs", "warning") in findings(lab, "a.o", "b.o")


def test_a_slip_of_the_finger(lab):
    compile_for(lab, "k.o", "gfx90a")
    result = lab.audit("check", "--gpu-arch", "gfx90a:xnac+", "k.o")
    assert result.code == 2 and "is not a GPU architecture" in result.err, result
