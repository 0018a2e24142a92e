"""nvcc's -gencode options in compile_commands.json and in logs: given twice, or not what TORCH_CUDA_ARCH_LIST asks for."""

import json
import shutil

import pytest

from elfaudit_test import SOURCE_DIR, need
from gpu_images import gpu_object

SM80 = "-gencode=arch=compute_80,code=sm_80"
SM90 = "-gencode=arch=compute_90,code=sm_90"
TORCH = "-DTORCH_EXTENSION_NAME=x"


def commands(lab, flags, name="compile_commands.json", output="a.o"):
    line = f"nvcc -I/archive/include {flags} -c a.cu -o {output}"
    return lab.write(name, json.dumps([{"directory": str(lab.path), "file": "a.cu", "command": line}]))


def flag_findings(result):
    return [(f["rule"], [s["input"] for s in f["sites"]], f["message"]) for f in result.json()["findings"] if f["rule"].startswith("gpu-flag-")]


def audit_with(lab, flags, *options):
    commands(lab, flags)
    return flag_findings(lab.audit("check", "--format", "json", "--compile-commands", "compile_commands.json", *options))


# --- given twice


@pytest.mark.parametrize(
    "flags",
    [
        f"{SM80} {SM90} {SM80}",
        f"{SM80} -gencode arch=compute_80,code=sm_80",
        f'{SM80} "--generate-code=arch=compute_80,code=[compute_80,sm_80]"',
        f"{SM80} -gencode 'arch=compute_80,code=\\\"sm_80,compute_80\\\"'",
    ],
)
def test_twice(lab, flags):
    [(rule, files, message)] = audit_with(lab, flags)
    assert (rule, files) == ("gpu-flag-duplicate", ["a.o"])
    assert message == "nvcc is given -gencode arch=compute_80,code=sm_80 more than once for a.o"


@pytest.mark.parametrize("flags", [f"{SM80} {SM90}", f"{SM80} -gencode=arch=compute_80,code=compute_80", "-arch=sm_80", "-arch=native", ""])
def test_once(lab, flags):
    assert audit_with(lab, flags) == []


def test_nearest_compile_commands_of_an_object(lab):
    need("as")
    (lab.path / "build").mkdir()
    gpu_object(lab, "build/a.o", "sm_80")
    commands(lab, f"{SM80} {SM80}", output="build/a.o")
    [(rule, files, _)] = flag_findings(lab.audit("check", "--format", "json", "build/a.o"))
    assert (rule, files) == ("gpu-flag-duplicate", ["build/a.o"])
    gpu_object(lab, "build/b.o", "sm_80")  # another object's command
    assert flag_findings(lab.audit("check", "--format", "json", "build/b.o")) == []


# --- against a list


def test_list_agrees(lab):
    assert audit_with(lab, f"{SM80} {SM90}", "--gpu-arch", "8.0;9.0") == []
    assert audit_with(lab, "-arch=sm_80", "--gpu-arch", "8.0") == []
    assert audit_with(lab, "-arch=compute_80 -code=sm_80,sm_86", "--gpu-arch", "8.0;8.6") == []
    assert audit_with(lab, "-gencode=arch=compute_90,code=lto_90", "--gpu-arch", "9.0") == []


def test_list_disagrees(lab):
    [(rule, _, message)] = audit_with(lab, f"{SM80} -gencode=arch=compute_70,code=sm_70", "--gpu-arch", "8.0;9.0")
    assert (rule, message) == ("gpu-flag-mismatch", "the flags for a.o contradict --gpu-arch: no sm_90, but sm_70")


@pytest.mark.parametrize("flag", ["-Xcompiler -march=native", "-Xcompiler=-march=native", "--compiler-options=-O2,-march=native"])
def test_any_flag_with_arch_in_it(lab, flag):
    commands(lab, f"{TORCH} {flag}")
    result = lab.audit("check", "--compile-commands", "compile_commands.json")
    assert "nvcc is given no GPU architecture for a.o, so it compiles for its own default [gpu-flag-mismatch]" in result.out
    assert '-march=native' in result.out and "ignores TORCH_CUDA_ARCH_LIST" in result.out


def test_arch_in_a_flag_does_no_harm_beside_gencode(lab):
    assert audit_with(lab, f"{TORCH} -Xcompiler -march=native {SM80}") == []
    assert audit_with(lab, "-Xcompiler -march=native") == []  # not PyTorch's: nobody reads the list


# --- logs


def diagnose(lab, log):
    shutil.copytree(SOURCE_DIR / "testdata" / "gencode-twice", lab.path, dirs_exist_ok=True)
    result = lab.audit("diagnose", "--format", "json", log)
    assert result.code == 0 and result.json()["errors"] == []
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(result.json(), json.loads((SOURCE_DIR / "schema" / "elfaudit-diagnosis-1.schema.json").read_text()))
    return flag_findings(result)


def test_log_with_every_flag_twice(lab):
    [(rule, files, message)] = diagnose(lab, "jit.log")
    assert (rule, files) == ("gpu-flag-duplicate", ["fp_quantize_impl.cuda.o"])
    assert message == "nvcc is given each of 2 -gencode options more than once for fp_quantize_impl.cuda.o"
    text = lab.audit("diagnose", "jit.log").out
    assert "by log line 5" in text and "treats an empty list as not set" in text


def test_log_with_a_list_that_is_not_kept(lab):
    messages = [message for rule, _, message in diagnose(lab, "filtered.log") if rule == "gpu-flag-mismatch"]
    assert len(messages) == 2
    assert any(m.endswith("attention.o contradict TORCH_CUDA_ARCH_LIST=8.0;9.0: also sm_70") for m in messages)
    assert any("native.o, so it compiles for its own default and not for TORCH_CUDA_ARCH_LIST=8.0;9.0" in m for m in messages)


@pytest.mark.parametrize(
    "line, known",
    [
        ("TORCH_CUDA_ARCH_LIST=9.0 pip install .", True),
        ("TORCH_CUDA_ARCH_LIST: 9.0", True),
        ("os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0'", True),
        ("ENV TORCH_CUDA_ARCH_LIST=\"8.9 9.0\"", True),
        ("export TORCH_CUDA_ARCH_LIST=8.0", False),  # the flags agree with it
        ("TORCH_CUDA_ARCH_LIST=$ARCHS", False),
        ("UserWarning: TORCH_CUDA_ARCH_LIST is not set, all archs for visible cards are included", False),
        ("if TORCH_CUDA_ARCH_LIST == 9.0", False),
        ("TORCH_CUDA_ARCH_LIST=9.0\nTORCH_CUDA_ARCH_LIST=7.0", False),  # which is whose is not known
    ],
)
def test_where_the_list_is_seen(lab, line, known):
    lab.write("build.log", f"{line}\nnvcc {SM80} -c a.cu -o a.o\n")
    assert bool(flag_findings(lab.audit("diagnose", "--format", "json", "build.log"))) == known
