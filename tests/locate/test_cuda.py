"""Device and host globals of generated headers, compiled by nvcc into two objects: site and chain, for each source of truth."""

import json
import random

import pytest

from elfaudit_test import Lab, by_symbol, need

need("nvcc", "g++")
NVCC = "nvcc -w -std=c++17 -rdc=true -gencode arch=compute_80,code=sm_80 -Iinclude"
DEFINITIONS = {  # what stands in the header
    "device": "__device__ int {name} = 1;",
    "constant": "__constant__ float {name}[4];",
    "managed": "__managed__ long {name};",
    "function": "__device__ int {name}(int x) {{ return x + 1; }}",
    "both": "__host__ __device__ int {name}(int x) {{ return x - 1; }}",
    "kernel": "__global__ void {name}(int* p) {{ *p = 1; }}",
    "macro": "#ifdef __CUDACC_RDC__\n#define LIB_{name}\n#else\n#define LIB_{name} extern\n#endif\nLIB_{name} __device__ int {name};",
    "aligned": "struct __align__(16) {name}_t {{ int words[4]; }};\n__device__ {name}_t {name};",
    "host": "int {name} = 3;",
}


def header(rng, kind, name):
    """The text and the line of the definition."""
    depth = rng.randint(0, 2)
    before = ["#pragma once" if rng.random() < 0.5 else f"#ifndef {name}_H\n#define {name}_H"]
    before += ["// a comment that says int " + name + ";"] * rng.randint(0, 2) + [f"namespace n{i} {{" for i in range(depth)]
    text = "\n".join([*before, DEFINITIONS[kind].format(name=name)])
    after = ["}"] * depth + (["#endif"] if "#ifndef" in before[0] else [])
    return "\n".join([text, *after]) + "\n", text.count("\n") + 1


def make_project(lab, seed):
    """Two units that come to each header by their own ways. Returns name -> (header, line, {unit: chain})."""
    rng = random.Random(seed)
    includes = {"a": [], "b": []}
    truth = {}
    for kind in DEFINITIONS:
        name = f"{kind}_{rng.randint(10, 99)}"
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
        truth[name] = (f"include/{path}", line, chains)
    for unit, lines in includes.items():
        lab.write(f"{unit}.cu", "\n".join(lines) + "\n")
    return truth


@pytest.fixture(scope="module", params=[1, 2])
def project(request, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("cuda"))
    truth = make_project(lab, request.param)
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
            name = finding["demangled"].split("(")[0].split("::")[-1]
            answers.setdefault((name, unit), set()).add((site["file"], site["line"], json.dumps(site["chain"])))
    wrong = []
    for name, (path, line, chains) in truth.items():
        for unit, steps in chains.items():
            chain = [{"file": file, "line": at} for file, at in steps]
            right = [{(path, line, json.dumps(chain))}]
            if way == "debug info":
                right.append({(path, line, "[]")})  # what nvcc was given, nothing says
            if answers.get((name, unit)) not in right:
                wrong.append(f"{name} in {unit}: {answers.get((name, unit))}, not {path}:{line} through {chain}")
    assert not wrong, "\n".join(wrong)


# --- places without debug info: the depfile and the sources

DECLARED = {  # what the header says; the sources define it, the second line of each
    "variable": ("extern __device__ S st;", "__device__ S st;"),
    "constant": ("extern __constant__ S st;", "__constant__ S st;"),
    "in-a-namespace": ("namespace n { extern __device__ S st; }", "namespace n { __device__ S st; } using n::st;"),
    "branch": ("#ifdef USE_EXTERN\nextern __device__ S st;\n#else\n__device__ S st;\n#endif", None),
    "macro": ("#ifndef API\n#define API\n#endif\nAPI __device__ S st;", None),
}


def depfile_lab(lab, declaration, definition, flags):
    lab.write("s.h", f"#pragma once\nstruct S {{ int a[6]; }};\n{declaration}\n")
    for unit in "ab":
        second = (definition or "// nothing") + "\n"
        lab.write(f"{unit}.cu", f'#include "s.h"\n{second}__global__ void k_{unit}(int* p) {{ *p = st.a[1]; }}\n')
        lab.sh(f"nvcc -w -rdc=true -gencode arch=compute_80,code=sm_80 {flags} -MD -c {unit}.cu -o {unit}.o")


@pytest.mark.parametrize("shape", DECLARED)
def test_variable_without_debug_info(lab, shape):
    declaration, definition = DECLARED[shape]
    depfile_lab(lab, declaration, definition, "")
    [finding] = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    expected = [("a.cu", 2), ("b.cu", 2)] if definition else [("s.h", 3 + declaration[: declaration.rfind("__device__")].count("\n"))] * 2
    assert [(s["file"], s["line"]) for s in finding["sites"]] == expected, finding
    assert finding["cause"] and finding["fixes"], finding
    if not definition:
        assert [s["chain"] for s in finding["sites"]] == [[{"file": f"{unit}.cu", "line": 1}] for unit in "ab"], finding


@pytest.mark.parametrize("shape", ["branch", "macro"])
def test_include_chain_beside_debug_info(lab, shape):
    depfile_lab(lab, *DECLARED[shape], "-g")
    [finding] = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    assert [s["known_by"] for s in finding["sites"]] == ["debug-info"] * 2, finding
    assert [s["chain"] for s in finding["sites"]] == [[{"file": f"{unit}.cu", "line": 1}] for unit in "ab"], finding


@pytest.mark.parametrize("flags", ["", "-g", "-lineinfo"])
@pytest.mark.parametrize(
    "header, rule",
    [
        ("extern __device__ float table[{}];", "size"),
        ("extern __{}__ float table[4];", "memory space"),
    ],
)
def test_place_of_what_is_only_declared(lab, header, rule, flags):
    """Two versions of a header: which one the other object saw is the answer."""
    for version, word in (("v1", "4" if rule == "size" else "device"), ("v2", "8" if rule == "size" else "constant")):
        lab.write(f"{version}/table.cuh", f"#pragma once\n// {version}\n{header.format(word)}\n")
    lab.write("def.cu", '#include "table.cuh"\n' + header.format("4" if rule == "size" else "device").replace("extern ", "") + "\n")
    lab.write("use.cu", '#include "table.cuh"\n__global__ void k(float* p) { *p = table[1]; }\n')
    for unit, version in (("def", "v1"), ("use", "v2")):
        lab.sh(f"nvcc -w -rdc=true {flags} -arch=sm_80 -I{version} -MD -c {unit}.cu -o {unit}.o")
    [finding] = lab.audit("check", "--format", "json", "def.o", "use.o").json()["findings"]
    assert finding["rule"] == "device-declaration-mismatch"
    kept, rejected = finding["sites"]
    assert (kept["file"], kept["line"]) == ("def.cu", 2), kept
    assert (rejected["file"], rejected["line"]) == ("v2/table.cuh", 3), rejected
    assert rejected["chain"] == [{"file": "use.cu", "line": 1}]


def test_declared_without_a_record_of_the_build(lab):
    lab.write("def.cu", "__device__ float table[4];\n")
    lab.write("use.cu", "extern __device__ float table[8];\n__global__ void k(float* p) { *p = table[1]; }\n")
    for unit in ("def", "use"):
        lab.sh(f"nvcc -w -rdc=true -g -arch=sm_80 -c {unit}.cu -o {unit}.o")
    out = lab.audit("check", "def.o", "use.o").out
    assert "def.cu:1" in out and "no debug info" not in out and "it is not defined there, no depfile and no compile command" in out


@pytest.mark.parametrize(
    "flags, before",
    [
        ("-std=c++14", "#include <vector>"),
        ("-std=c++17", "#include <cooperative_groups.h>"),
        ("-std=c++17", '#ifdef __CUDA_ARCH__\n#include "device.h"\n#endif'),
        ("-std=c++17", '#ifndef __CUDA_ARCH__\n#include "host.h"\n#endif'),
    ],
)
def test_depfile_of_the_side_of_the_device(lab, flags, before):
    """nvcc lists what the device's side reads; the definition is the host's too."""
    lab.write("device.h", "#pragma once\nint only_declared(int);\n")
    lab.write("host.h", "#pragma once\nint only_declared(long);\n")
    lab.write("lib.cuh", f"#pragma once\n{before}\n__device__ int level = 3;\n")
    for unit in "ab":
        lab.write(f"{unit}.cu", '#include "lib.cuh"\n')
        lab.sh(f"nvcc -w -rdc=true {flags} -MD -c {unit}.cu -o {unit}.o")
    [finding] = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    line = 3 + before.count("\n")
    assert [(s["file"], s["line"], s["known_by"]) for s in finding["sites"]] == [("lib.cuh", line, "depfile")] * 2, finding
