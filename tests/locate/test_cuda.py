"""Device and host globals of generated headers, compiled by nvcc into two objects: site and chain, for each source of truth.

nvcc takes more than a second for a source, so one project has the headers of all cases.
"""

import json
import random
import re
import shutil
import subprocess

import pytest

from elfaudit_test import Lab, by_symbol, need

need("nvcc", "g++")

pytestmark = pytest.mark.deep
NVCC = "nvcc -w -std=c++17 -rdc=true -gencode arch=compute_80,code=sm_80 -Iinclude"
DEFINITIONS = {  # what stands in the header
    "device": "__device__ int {name} = 1;",
    "constant": "__constant__ float {name}[4];",
    "managed": "__managed__ long {name};",
    "function": "__device__ int {name}(int x) {{ return x + 1; }}",
    "both": "__host__ __device__ int {name}(int x) {{ return x - 1; }}",
    "kernel": "__global__ void {name}(int* p) {{ *p = 1; }}",
    "macro": "#ifdef __CUDACC_RDC__\n#define LIB_{name}\n#else\n#define LIB_{name} extern\n#endif\nLIB_{name} __device__ int {name};",
    "specialised kernel": "template <class T> __global__ void {name}(T* p) {{}}\ntemplate <> __global__ void {name}<int>(int* p) {{ *p = 1; }}",
    "launch bounds": "__global__ void __launch_bounds__(128, 2) {name}(int* p) {{ *p = 1; }}",
    "release": "#if __CUDACC_VER_MAJOR__ >= 11 && __CUDACC_VER_MAJOR__ < 100\n__device__ int {name};\n#else\nextern __device__ int {name};\n#endif",
    "aligned": "struct __align__(16) {name}_t {{ int words[4]; }};\n__device__ {name}_t {name};",
    "host": "int {name} = 3;",
    "device side": "#ifdef __CUDA_ARCH__\n__device__ int {name}(int x) {{ return x; }}\n#else\n__device__ int {name}(int x);\n#endif",
    "no braces": 'extern "C" __device__ int {name} = 2;',  # which nvcc only declares on the host
}
ON_DEVICE_ALONE = {"device side", "no braces"}


def header(rng, kind, name):
    """The text and the line of the definition."""
    depth = rng.randint(0, 2)
    before = ["#pragma once" if rng.random() < 0.5 else f"#ifndef {name}_H\n#define {name}_H"]
    before += ["// a comment that says int " + name + ";"] * rng.randint(0, 2) + [f"namespace n{i} {{" for i in range(depth)]
    definition = DEFINITIONS[kind].format(name=name)
    text = "\n".join([*before, definition])
    after = ["}"] * depth + (["#endif"] if "#ifndef" in before[0] else [])
    lines = text.split("\n")
    at = 2 if kind in ("device side", "release") else len(definition.split("\n"))
    return "\n".join([*lines, *after]) + "\n", len(lines) - len(definition.split("\n")) + at


def make_project(lab, seed):
    """Two units that come to each header by their own ways. Returns name -> (kind, header, line, {unit: chain})."""
    rng = random.Random(seed)
    includes = {"a": [], "b": []}
    truth = {}
    for number, kind in enumerate([*DEFINITIONS] * 2, 10):
        name = f"{kind.replace(' ', '_')}_{number}"
        text, line = header(rng, kind, name)
        path = rng.choice(["", "lib/", "lib/detail/"]) + f"{name}.cuh"
        lab.write(f"include/{path}", text)
        chains = {}
        for unit in includes:
            steps, wanted = [], path
            for level in range(rng.randint(0, 2)):
                outer = f"{unit}/{name}_{level}.h"
                lab.write(f"include/{outer}", f"#pragma once\n#include <{wanted}>\n")
                steps.insert(0, [f"include/{outer}", 2])
                wanted = outer
            includes[unit].append(f'#include "{wanted}"')
            chains[unit] = [[f"{unit}.cu", len(includes[unit])], *steps]
        truth[name] = (kind, f"include/{path}", line, chains)
    for unit, lines in includes.items():
        lab.write(f"{unit}.cu", "\n".join(lines) + "\n")
    return truth


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("cuda"))
    truth = make_project(lab, 1)
    commands = []
    for unit in "ab":
        command = f"{NVCC} -MD -c {unit}.cu -o {unit}.o"
        lab.sh(command)
        lab.sh(f"{NVCC} -g -c {unit}.cu -o {unit}-g.o")
        commands.append({"directory": str(lab.path), "file": f"{unit}.cu", "command": command})
    lab.write("commands.json", json.dumps(commands))
    return lab, truth


WAYS = {
    "debug info": ["a-g.o", "b-g.o"],
    "depfile": ["a.o", "b.o"],
    "compile command": ["--compile-commands", "commands.json", "a.o", "b.o"],
    "preprocessor": ["--preprocess", "--compile-commands", "commands.json", "a.o", "b.o"],
}


@pytest.mark.parametrize("way", WAYS)
def test_sites_and_chains(project, way):
    lab, truth = project
    findings = lab.audit("check", "--format", "json", *WAYS[way]).json()["findings"]
    answers = {}
    for finding in by_symbol(findings):
        for site in finding["sites"]:
            unit = site["input"][0]
            name = re.search(r"\w+_\d\d\b", finding["demangled"]).group()
            answers.setdefault((name, unit), set()).add((site["file"], site["line"], json.dumps(site["chain"])))
    wrong = []
    for name, (kind, path, line, chains) in truth.items():
        for unit, steps in chains.items():
            chain = [{"file": file, "line": at} for file, at in steps]
            right = [{(path, line, json.dumps(chain))}]
            if way == "debug info":
                right.append({(path, line, "[]")})  # what nvcc was given, nothing says
            if way == "debug info" and kind in ON_DEVICE_ALONE:
                right.append({(None, None, "[]")})
            if answers.get((name, unit)) not in right:
                wrong.append(f"{name} in {unit}: {answers.get((name, unit))}, not {path}:{line} through {chain}")
    assert not wrong, "\n".join(wrong)


def test_edits_that_are_offered_compile(project, lab):
    """All that say inline, which the command's standard has; nvcc refuses `extern "C" inline __device__ int x = 2;` without braces."""
    need("patch")
    shutil.copytree(project[0].path, lab.path, dirs_exist_ok=True)
    findings = by_symbol(project[0].audit("check", "--format", "json", *WAYS["compile command"]).json()["findings"])
    fixes = [fix for finding in findings for fix in finding["fixes"] if "inline" in fix["text"] and fix["diff"]]
    assert any('extern "C" { __device__ inline int' in fix["diff"] for fix in fixes)
    for diff in sorted({fix["diff"] for fix in fixes}):
        subprocess.run(["patch", "-p0"], input=diff, cwd=lab.path, text=True, check=True)
    lab.sh(f"{NVCC} -c a.cu -o a.o && {NVCC} -c b.cu -o b.o")
    left = by_symbol(lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"])
    assert {re.sub(r"_\d\d\b.*", "", finding["demangled"].split("::")[-1]) for finding in left} == {"macro"}  # without a diff


# --- places without debug info: the depfile and the sources

DECLARED = {  # what the header says of S @; the sources define it, a line each
    "variable": ("extern __device__ S @;", "__device__ S @;"),
    "constant": ("extern __constant__ S @;", "__constant__ S @;"),
    "in_a_namespace": ("namespace n { extern __device__ S @; }", "namespace n { __device__ S @; } using n::@;"),
    "branch": ("#ifdef USE_EXTERN\nextern __device__ S @;\n#else\n__device__ S @;\n#endif", None),
    "macro": ("#ifndef API\n#define API\n#endif\nAPI __device__ S @;", None),
}


@pytest.fixture(scope="module", params=["", "-g"])
def declared(request, tmp_path_factory):
    """The names' findings, of objects that all of them are declared in."""
    lab = Lab(tmp_path_factory.mktemp("declared"))
    lab.write("s.h", "#pragma once\nstruct S { int a[6]; };\n")
    for name, (declaration, _) in DECLARED.items():
        lab.write(f"{name}.h", f'#pragma once\n#include "s.h"\n{declaration.replace("@", name)}\n')
    for unit in "ab":
        lines = [f'#include "{name}.h"' for name in DECLARED]
        lines += [(definition or "// nothing").replace("@", name) for name, (_, definition) in DECLARED.items()]
        lines.append(f"__global__ void k_{unit}(int* p) {{ *p = {' + '.join(f'{name}.a[1]' for name in DECLARED)}; }}")
        lab.write(f"{unit}.cu", "\n".join(lines) + "\n")
        lab.sh(f"nvcc -w -rdc=true -gencode arch=compute_80,code=sm_80 {request.param} -MD -c {unit}.cu -o {unit}.o")
    findings = by_symbol(lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"])
    return request.param, {finding["demangled"].split("::")[-1]: finding for finding in findings}


@pytest.mark.parametrize("shape", DECLARED)
def test_variable_beside_a_depfile(declared, shape):
    flags, findings = declared
    declaration, definition = DECLARED[shape]
    finding = findings[shape]
    number = [*DECLARED].index(shape) + 1
    header = (f"{shape}.h", 3 + declaration[: declaration.rfind("__device__")].count("\n"))
    expected = [(f"{unit}.cu", len(DECLARED) + number) if definition else header for unit in "ab"]
    assert [(s["file"], s["line"]) for s in finding["sites"]] == expected, finding
    assert [s["known_by"] for s in finding["sites"]] == ["debug-info" if flags else "depfile"] * 2, finding
    assert finding["cause"] and finding["fixes"], finding
    chains = [[] if definition else [{"file": f"{unit}.cu", "line": number}] for unit in "ab"]
    assert [s["chain"] for s in finding["sites"]] == chains, finding


@pytest.mark.parametrize("flags", ["", "-g", "-lineinfo"])
def test_place_of_what_is_only_declared(lab, flags):
    """Two versions of a header: which one the other object saw is the answer."""
    headers = {"size": "extern __device__ float size[{}];", "space": "extern __{}__ float space[4];"}
    for version, length, space in (("v1", 4, "device"), ("v2", 8, "constant")):
        lab.write(f"{version}/size.cuh", f"#pragma once\n// {version}\n{headers['size'].format(length)}\n")
        lab.write(f"{version}/space.cuh", f"#pragma once\n// {version}\n{headers['space'].format(space)}\n")
    includes = '#include "size.cuh"\n#include "space.cuh"\n'
    lab.write("def.cu", includes + "__device__ float size[4];\n__device__ float space[4];\n")
    lab.write("use.cu", includes + "__global__ void k(float* p) { *p = size[1] + space[1]; }\n")
    for unit, version in (("def", "v1"), ("use", "v2")):
        lab.sh(f"nvcc -w -rdc=true {flags} -arch=sm_80 -I{version} -MD -c {unit}.cu -o {unit}.o")
    findings = by_symbol(lab.audit("check", "--format", "json", "def.o", "use.o").json()["findings"])
    assert [(f["rule"], f["symbol"]) for f in findings] == [("device-declaration-mismatch", name) for name in headers]
    for number, (name, finding) in enumerate(zip(headers, findings), 1):
        kept, rejected = finding["sites"]
        assert (kept["file"], kept["line"]) == ("def.cu", 2 + number), kept
        assert (rejected["file"], rejected["line"]) == (f"v2/{name}.cuh", 3), rejected
        assert rejected["chain"] == [{"file": "use.cu", "line": number}]


def test_declared_without_a_record_of_the_build(lab):
    lab.write("def.cu", "__device__ float table[4];\n")
    lab.write("use.cu", "extern __device__ float table[8];\n__global__ void k(float* p) { *p = table[1]; }\n")
    for unit in ("def", "use"):
        lab.sh(f"nvcc -w -rdc=true -g -arch=sm_80 -c {unit}.cu -o {unit}.o")
    out = lab.audit("check", "def.o", "use.o").out
    assert "def.cu:1" in out and "no debug info" not in out and "it is not defined there, no depfile and no compile command" in out


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """An object that defines `level` too."""
    lab = Lab(tmp_path_factory.mktemp("other"))
    return lab.path / lab.cc("b.o", "__device__ int level = 4;\n", "nvcc -w -rdc=true -arch=sm_80")


@pytest.mark.parametrize(
    "flags, before",
    [
        ("-std=c++14", "#include <vector>"),
        ("-std=c++17", "#include <cooperative_groups.h>"),
        ("-std=c++17", '#ifdef __CUDA_ARCH__\n#include "device.h"\n#endif'),
        ("-std=c++17", '#ifndef __CUDA_ARCH__\n#include "host.h"\n#endif'),
    ],
)
def test_depfile_of_the_side_of_the_device(lab, other, flags, before):
    """nvcc lists what the device's side reads; the definition is the host's too."""
    lab.write("device.h", "#pragma once\nint only_declared(int);\n")
    lab.write("host.h", "#pragma once\nint only_declared(long);\n")
    lab.write("lib.cuh", f"#pragma once\n{before}\n__device__ int level = 3;\n")
    lab.write("a.cu", '#include "lib.cuh"\n')
    lab.sh(f"nvcc -w -rdc=true {flags} -arch=sm_80 -MD -c a.cu -o a.o")
    [finding] = lab.audit("check", "--format", "json", "a.o", other).json()["findings"]
    line = 3 + before.count("\n")
    site = finding["sites"][0]
    assert (site["file"], site["line"], site["known_by"]) == ("lib.cuh", line, "depfile"), finding


def test_kernels_of_whole_programs(lab):
    """On the host each is two functions: the launcher's place is a file that nvcc wrote and removed."""
    lab.write("k.cuh", '#pragma once\n__global__ void k(int* p) { *p = 1; }\nextern "C" __global__ void c(int* p) { *p = 2; }\n')
    for unit in "ab":
        lab.cc(f"{unit}.o", '#include "k.cuh"\n', "nvcc -w -g -arch=sm_80")
    findings = by_symbol(lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"])
    assert {f["symbol"]: [(s["file"], s["line"]) for s in f["sites"]] for f in findings} == {"_Z1kPi": [("k.cuh", 2)] * 2, "c": [("k.cuh", 3)] * 2}
    assert {f["cause"]["kind"] for f in findings} == {"function-not-inline"}, findings
