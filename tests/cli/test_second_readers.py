"""What elfaudit reads of this machine's files is what other readers read. scripts/second-readers takes all files; here are some."""

import os
import shutil
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, SOURCE_DIR

PROGRAM = os.environ.get("ELFAUDIT", "")


@pytest.mark.deep
@pytest.mark.parametrize("folder, most", [("/usr/lib", 25), ("/usr/bin", 10)])
def test_a_sample_of_the_machine(folder, most):
    if not any(shutil.which(reader) for reader in ("llvm-readelf", "llvm-readelf-14", "llvm-readelf-19")) or shutil.which("ar") is None:
        pytest.skip("needs llvm-readelf and ar, which are not installed")
    words = [SOURCE_DIR / "scripts" / "second-readers", "--most", str(most), PROGRAM, folder]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0 and f"{most} files compared" in done.stdout, done.stdout + done.stderr


def test_the_comparison_sees_a_difference(lab):
    lab.cc("a.o", "int state; int other;")
    lab.sh("""printf '#!/bin/sh\\n"$REAL" "$@" | sed s/other/another/\\n' > program; chmod +x program""")
    environment = {**ENVIRONMENT, "REAL": PROGRAM}
    done = subprocess.run([SOURCE_DIR / "scripts" / "second-readers", "program", "."], cwd=lab.path, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "a.o: 1 symbols are missing, 1 are more" in done.stdout, done


SHAPES = """#define VARIABLE(x) int x = 1;
VARIABLE(by_macro)
namespace ns { int inside = 2; int twice(int a) { return 2 * a; } }
struct S { static int member; int method(); S(); };
int S::member = 3;
int S::method() { return member; }
S::S() { member = 4; }
template <class T> T of_template(T t) { static T kept = t; return kept; }
template int of_template<int>(int);
inline int in_line(int a) { return a + 1; }
int (*uses)(int) = in_line;
extern "C" int plain(void) { return 5; }
thread_local int of_thread = 6;
"""


def test_places_of_the_shapes_of_definitions(lab):
    if not any(shutil.which(reader) for reader in ("llvm-dwarfdump", "llvm-dwarfdump-14", "llvm-dwarfdump-19")):
        pytest.skip("needs llvm-dwarfdump, which is not installed")
    for i, command in enumerate(["g++ -g -gdwarf-5", "g++ -g -O2 -gdwarf-4", "clang++ -g", "clang++ -g -O1 -gdwarf-4"]):
        if shutil.which(command.split()[0]):
            lab.cc(f"o{i}.o", SHAPES, command)
    lab.cc("c.o", "int tentative;\nstatic int hidden;\nint f(void) { return hidden; }\n", "gcc -g -fcommon")
    done = subprocess.run([SOURCE_DIR / "scripts" / "second-readers", PROGRAM, "."], cwd=lab.path, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0 and " places)" in done.stdout, done.stdout + done.stderr
