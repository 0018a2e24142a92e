"""What `elfaudit --limits` prints holds: at a limit the input is read, beyond it it is refused and the exit code is 2."""

import os
import re
import struct

import pytest

from elfaudit_test import SOURCE_DIR, need

need("g++", "ar")

PT_DYNAMIC = 2
DT_BIND_NOW = 24  # elf.h

TABLE = (SOURCE_DIR / "src" / "support" / "limits.def").read_text()


def limit(name):
    """Its value, from the table that the program is made with."""
    value = re.search(rf"^LIMIT\({name}, [\w:]+, ([^,]+),", TABLE, re.M)[1]
    value = re.sub(r"std::\w+\{(\d+)\}", r"\1", value).replace("'", "")
    return eval(re.sub(r"(?<=\d)U", "", value))  # "16 << 20"


def test_the_table_has_every_limit(lab):
    out = lab.audit("--limits").out
    rows = re.findall(r'^LIMIT\(\w+, [\w:]+, [^,]+, "(.*?)", "(.*?)", "(.*?)"\)$', TABLE, re.M)
    assert len(rows) == len(re.findall(r"^LIMIT", TABLE, re.M)) > 40
    for unit, where, beyond in rows:
        assert re.search(rf"^  \d+ \S.* {re.escape(where)}\n +beyond: {re.escape(beyond)}$", out, re.M), where
    assert re.search(r"^  16 MiB +a linker script$", out, re.M) and re.search(r"^  4 deep +archives in archives$", out, re.M)


def archives(lab, n):
    lab.sh(f"cp a.o in; for i in $(seq {n + 1}); do gcc-ar rcD out.a in; mv out.a in; done; mv in nested.a")
    return ["check", "nested.a"]


def response_files(lab, n):
    for i in range(1, n):
        lab.write(f"r{i}", f"@r{i + 1}\n")
    lab.write(f"r{n}", "a.o\n")
    return ["check", "@r1"]


def scripts(lab, n):
    for i in range(1, n):
        lab.write(f"s{i}", f"INCLUDE s{i + 1}\n")
    lab.write(f"s{n}", "INPUT(a.o)\n")
    return ["check", "--", "ld", "s1"]


def script_of_size(lab, n):
    text = "INPUT(a.o)/**/\n"
    lab.write("big", text.replace("**", "*" + " " * (n - len(text)) + "*"))
    return ["check", "--", "ld", "big"]


def configs(lab, n):
    for i in range(1, n):
        lab.write(f"c{i}.toml", f'extends = "c{i + 1}.toml"\n')
    lab.write(f"c{n}.toml", "")
    return ["check", "--config", "c1.toml", "a.o"]


def config_of_size(lab, n):
    lab.write("big.toml", "#" * (n - 1) + "\n")
    return ["check", "--config", "big.toml", "a.o"]


LINK = "rule link\n  command = ld -shared ../a.o -o x\nbuild x: link\n"


def ninja_includes(lab, n):
    for i in range(1, n):
        lab.write(f"b/{i}.ninja", f"include {i + 1}.ninja\n")
    lab.write(f"b/{n}.ninja", "")
    lab.write("b/build.ninja", "include 1.ninja\n" + LINK)
    return ["check", "-p", "b"]


def ninja_files(lab, n):
    lab.write("b/x.ninja", "")
    lab.write("b/build.ninja", "include x.ninja\n" * n + LINK)
    return ["check", "-p", "b"]


def folders(lab, n):
    lab.sh("p=d" + "/d" * n + "; mkdir -p $p; cp a.o $p")
    return ["check", "d"]


def log_line(lab, n):
    lab.write("x.log", "x" * n + "\n")
    return ["diagnose", "x.log"]


def dynamic_entries(lab, n):
    """Of a library whose dynamic section was moved behind everything else."""
    lab.sh("gcc -shared -nostdlib a.o -o x.so")
    library = bytearray((lab.path / "x.so").read_bytes())
    headers, count = struct.unpack_from("<Q", library, 32)[0], struct.unpack_from("<H", library, 56)[0]
    [header] = [at for at in range(headers, headers + count * 56, 56) if struct.unpack_from("<I", library, at)[0] == PT_DYNAMIC]
    offset, size = (struct.unpack_from("<Q", library, header + field)[0] for field in (8, 32))
    [*entries, last] = [library[at : at + 16] for at in range(offset, offset + size, 16)]
    entries = [entry for entry in entries if any(entry)]
    section = struct.pack("<QQ", DT_BIND_NOW, 0) * (n - 1 - len(entries)) + b"".join(entries) + last
    for field, value in (8, len(library)), (32, len(section)):
        struct.pack_into("<Q", library, header + field, value)
    (lab.path / "x.so").write_bytes(library + section)
    return ["check", "x.so"]


@pytest.mark.parametrize(
    "name, made, first, says",
    [
        ("ArchiveDepth", archives, 0, "archives are nested too deep to read"),
        ("ResponseFileDepth", response_files, 0, "response file @r65 includes itself"),
        ("LinkerScriptDepth", scripts, 0, "linker scripts include each other"),
        ("LinkerScriptBytes", script_of_size, 0, "too large for a linker script"),
        ("ConfigFiles", configs, 1, "too many files extend one another"),
        ("ConfigBytes", config_of_size, 0, "is larger than 16 MiB"),
        ("NinjaDepth", ninja_includes, 0, "its includes nest more than 16 deep"),
        ("NinjaFiles", ninja_files, 0, "includes more than 4096 files"),
        ("DynamicEntries", dynamic_entries, 0, "its dynamic section has more than 65536 entries"),
        ("PackageDepth", folders, 0, "directories are nested too deep to read"),
        ("LogLine", log_line, 0, "in the part of the log that was read"),
    ],
)
def test_one_below_and_one_above(lab, name, made, first, says):
    """`first`: of a chain, the link that is not counted."""
    lab.cc("a.o", "int state;")
    below = lab.audit(*made(lab, limit(name) + first))
    assert below.code == 0 and says not in below.out + below.err, (name, below)
    above = lab.audit(*made(lab, limit(name) + first + 1))
    assert above.code == 2 and says in above.out + above.err, (name, above)


def test_a_depfile_that_is_too_large(lab):
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int state;", "g++ -MMD")
    below = lab.audit("check", "a.o", "b.o")
    lab.sh(f"truncate -s {limit('DepfileBytes') + 1} a.d")
    above = lab.audit("check", "a.o", "b.o")
    assert below.code == 1 and above.code == 2 and "state is defined twice" in above.out
    assert "a.d: not all was read: it is beyond the limit on the size of a depfile (elfaudit --limits) [unreadable-input]" in above.out, above


def test_a_variable_of_ninja_that_doubles(lab):
    lab.cc("a.o", "int state;")

    def ninja(doublings):
        lines = ["v0 = 12345678"] + [f"v{i} = $v{i - 1}$v{i - 1}" for i in range(1, doublings + 1)]
        lab.write("b/build.ninja", "\n".join(lines) + "\n" + LINK)
        return lab.audit("check", "-p", "b")

    most = limit("NinjaValue").bit_length() - 4  # 8 << most is the limit
    assert ninja(most - 1).code == 0
    assert ninja(most).code == 2 and "the length of a variable" in ninja(most).err


def test_includes_of_the_loader_that_nest(lab):
    lab.sh("mkdir -p root/etc root/lib; echo 'int f() { return 1; }' > f.c; gcc -shared -fPIC -nostdlib f.c -o root/lib/libf.so")

    def closure(depth):
        lab.write("root/etc/ld.so.conf", "include /etc/1\n")
        for i in range(1, depth):
            lab.write(f"root/etc/{i}", f"include /etc/{i + 1}\n")
        lab.write(f"root/etc/{depth}", "/lib\n")
        return lab.audit("list", "closure", "--root", "root", "root/lib/libf.so")

    assert closure(limit("LoaderConfigDepth")).code == 0
    assert closure(limit("LoaderConfigDepth") + 1).code == 2


def test_directories_of_the_loader(lab):
    lab.sh("mkdir -p root/etc root/lib; echo 'int f() { return 1; }' > f.c; gcc -shared -fPIC -nostdlib f.c -o root/lib/libg.so")

    def closure(configured, in_runpath):
        lab.write("root/etc/ld.so.conf", "".join(f"/d{i}\n" for i in range(configured)))
        lab.write("options", f"-Wl,-rpath,{':'.join(f'/r{i}' for i in range(in_runpath))}")
        lab.sh("gcc -shared -fPIC -nostdlib -Wl,--no-as-needed f.c -Lroot/lib -lg -o root/libf.so @options")
        return lab.audit("list", "closure", "--root", "root", "root/libf.so")

    most = limit("LoaderDirectories")
    assert closure(most, most).code == 0
    for result in (closure(most + 1, 1), closure(1, most + 1)):
        assert result.code == 2 and "the limit on the number of directories" in result.err, result


def test_size_of_the_loaders_configuration(lab):
    lab.sh("mkdir -p root/etc root/lib; echo 'void _start(void) {}' > f.c; gcc -c f.c; gcc -shared -fPIC -nostdlib f.c -o root/lib/libg.so")
    lab.sh("gcc -shared -fPIC -nostdlib -Wl,--no-as-needed f.c -Lroot/lib -lg -o root/libf.so")
    for extra in (0, 1):
        lab.write("root/etc/ld.so.conf", "#" * (limit("LoaderConfigBytes") + extra))
        assert lab.audit("list", "closure", "--root", "root", "root/libf.so").code == 2 * extra
        assert lab.audit("check", "--", "ld.bfd", "--sysroot=root", "f.o", "root/libf.so").code == 2 * extra


def test_libraries_that_a_library_needs(lab):
    lab.write("f.c", "int f(void) { return 1; }")
    lab.write("a.c", "int f(void);\nvoid _start(void) { f(); }")
    lab.sh("gcc -shared -fPIC -nostdlib f.c -o f.so && gcc -c a.c -o a.o && mkdir d")

    def check(number):
        lab.write("needs", " ".join(f"d/l{i}.so" for i in range(number)))
        for i in range(len(os.listdir(lab.path / "d")), number):
            os.symlink("../f.so", lab.path / f"d/l{i}.so")
        lab.sh("gcc -shared -fPIC -nostdlib -Wl,--no-as-needed f.c @needs -o g.so")
        return lab.audit("check", "--", "ld.bfd", "a.o", "g.so", "-o", "out")

    assert check(limit("NeededLibraries")).code == 0
    result = check(limit("NeededLibraries") + 1)
    assert result.code == 2 and "the limit on the number of libraries that a link needs" in result.err, result
