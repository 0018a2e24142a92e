"""HIP code for a device link, which needs no ROCm to be compiled."""

from elfaudit_test import Lab, need

need("clang++-19")
HIP = "clang++-19 -x hip --offload-arch=gfx90a -nogpulib -nogpuinc -fgpu-rdc"


def test_hip_code_for_a_device_link_is_not_passed_in_silence(tmp_path):
    lab = Lab(tmp_path)
    for name in ("a", "b"):
        lab.write(f"{name}.hip", "__attribute__((device)) int only(int x) { return x; }\n")
        lab.sh(f"{HIP} -c {name}.hip -o {name}.o")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 2 and "hip-amdgcn-amd-amdhsa--gfx90a" in result.out, result
