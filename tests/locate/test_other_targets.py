"""Sources compiled by clang for another target than x86-64. What debug info of the same compile says is the truth; what
depends on options that no one knows is not settled."""

import json

import pytest

from elfaudit_test import need

need("clang++")

BRANCHES = """#if defined(__x86_64__)
int state = 1;
#elif defined(__aarch64__)
int state = 2;
#else
int state = 3;
#endif
"""
POINTERS = """#if __SIZEOF_POINTER__ == 4
int state = 1;
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
int state = 2;
#else
int state = 3;
#endif
"""
EMPTY_MACRO = """#ifdef __x86_64__
#define API extern
#else
#define API
#endif
API int state;
"""
INDIRECT = """#ifdef __ARM_NEON
#define HAS_VECTORS 1
#endif
#if HAS_VECTORS
int state = 1;
#else
int state = 2;
#endif
"""
TARGETS = ["--target=aarch64-linux-gnu", "--target=i386-linux-gnu", "-m32", "--target=riscv64-linux-gnu",
           "--target=powerpc64-linux-gnu", "--target=s390x-linux-gnu"]



def places(lab, target, header, *options):
    """Compiles two sources that include the header; the file and line of each definition, and the finding."""
    lab.write("s.h", header)
    for name in "ab":
        lab.cc(f"{name}.o", '#include "s.h"\n', f"clang++ {target} -nostdinc -MD {' '.join(options)}")
    (finding,) = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    return [(site["file"], site["line"]) for site in finding["sites"]], finding


@pytest.mark.deep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("header", [BRANCHES, POINTERS, EMPTY_MACRO, INDIRECT],
                         ids=["branches", "pointers", "empty-macro", "indirect"])
def test_a_place_that_the_target_decides_is_never_a_wrong_one(lab, target, header):
    found, _ = places(lab, target, header)
    truth, _ = places(lab, target, header, "-g")
    assert all(place == (None, None) or place == true for place, true in zip(found, truth)), (found, truth)


@pytest.mark.parametrize("target", TARGETS)
def test_what_no_target_decides_is_found(lab, target):
    found, finding = places(lab, target, "#pragma once\n#ifdef __cplusplus\nint state;\n#endif\n")
    assert found == [("s.h", 3)] * 2
    assert finding["cause"]


def test_the_command_of_another_target(lab):
    command = {"directory": str(lab.path), "file": "a.cpp", "command": "clang++ --target=aarch64-linux-gnu -c a.cpp -o a.o"}
    lab.write("compile_commands.json", json.dumps([command]))
    found, _ = places(lab, "--target=aarch64-linux-gnu", BRANCHES)
    assert found == [("s.h", 4)] * 2


def test_on_x86_64_it_is_settled(lab):
    found, _ = places(lab, "--target=x86_64-linux-gnu", BRANCHES)
    assert found == [("s.h", 2)] * 2


def test_a_function_that_a_descriptor_stands_for(lab):
    """64-bit PowerPC, ELF ABI 1.9: the symbol is in .opd, and debug info speaks of the code."""
    need("powerpc64-linux-gnu-gcc")
    lab.write("h.h", "int state = 1;\nint twice(int x) { return x; }\n")
    for name, flags in [("a", "-g"), ("b", "-g -O2 -ffunction-sections")]:
        lab.write(f"{name}.c", f'\n#include "h.h"\nint {name}(void) {{ return twice(1); }}\n')
        lab.sh(f"powerpc64-linux-gnu-gcc {flags} -c {name}.c -o {name}.o")
    findings = lab.audit("check", "--format", "json", "a.o", "b.o").json()["findings"]
    sites = {finding["symbol"]: {(site["file"], site["line"]) for site in finding["sites"]} for finding in findings}
    assert sites == {"state": {("h.h", 1)}, "twice": {("h.h", 2)}}
