"""Limits that only much input passes: as test_limits.py, for a whole run of the tests."""

from elfaudit_test import limit, need

need("g++")


def test_libraries_that_a_program_loads(lab):
    """One file each, for the loader knows a library by its inode; the program is one of them."""
    need("gcc", "ld.lld")
    lab.sh("mkdir d; echo 'int f(void) { return 1; }' > f.c; gcc -shared -fPIC -nostdlib -s -Wl,-z,norelro,-z,noseparate-code f.c -o f.so")
    library, most = (lab.path / "f.so").read_bytes(), limit("ClosureLibraries")
    for i in range(most):
        (lab.path / f"d/{i}.so").write_bytes(library)
    for needed in (most - 1, most):
        lab.write("needs", " ".join(f"d/{i}.so" for i in range(needed)))
        lab.sh("gcc -fuse-ld=lld -shared -fPIC -nostdlib -Wl,--no-as-needed f.c @needs -o g.so")
        result = lab.audit("list", "closure", "g.so")
        is_beyond = needed == most
        assert (result.code, "is not followed: there are too many libraries" in result.err) == (2 * is_beyond, is_beyond), result.err[:2000]


def test_targets_of_cmake(lab):
    lab.cc("a.o", "int state;")
    lab.write("b/CMakeFiles/x.dir/link.txt", "ld -shared ../a.o -o x\n")
    for extra in (0, 1):
        others = "/x\n" * (limit("CMakeTargets") - 1 + extra)
        lab.write("b/CMakeFiles/TargetDirectories.txt", f"{lab.path}/b/CMakeFiles/x.dir\n" + others)
        result = lab.audit("check", "-p", "b")
        assert "of 1 link" in result.out and result.code == 2 * extra, result
        assert ("the limit on the number of CMake's targets" in result.out + result.err) == bool(extra), result


def test_commands_of_ninja(lab):
    """A statement of a few bytes may have a value of a mebibyte."""
    lab.cc("a.o", "int state;")
    size = limit("NinjaValue") // 2
    for extra in (0, 1):
        values = f"v = {'#' * size}\n" + "w = $v\n" * (limit("NinjaCommands") // size - 2 + extra)
        lab.write("b/build.ninja", values + "rule link\n  command = ld -shared ../a.o -o x\nbuild x: link\n")
        result = lab.audit("check", "-p", "b")
        assert (result.code, "has more than 1 GiB of commands" in result.out + result.err) == (2 * extra, bool(extra)), result


def test_what_macros_expand_to(lab):
    """Each line is 1,001 tokens: the macro's own, and what it expands to."""
    lab.cc("b.o", "int state;")
    for more in (-1, 1):
        lines = limit("MacroTokens") // 1001 + more
        lab.write("a.cpp", "#define M" + " + 0" * 500 + "\n" + "#if 0 M\n#endif\n" * lines + "int state;\n")
        lab.sh("g++ -MMD -c a.cpp")
        out = lab.audit("check", "a.o", "b.o").out
        is_read = more < 0
        assert ("(depfile + source scan)" in out, "macros expand to too many tokens" in out) == (is_read, not is_read), out
