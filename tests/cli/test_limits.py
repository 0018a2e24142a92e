"""What `elfaudit --limits` prints holds: at a limit the input is read, beyond it it is refused and the exit code is 2."""

import json
import os
import re
import struct
import zipfile

import pytest

from elfaudit_test import LIMITS, by_symbol, limit, need
from elfaudit_wheels import wheel

need("g++", "ar")

PT_DYNAMIC = 2
DT_BIND_NOW = 24  # elf.h
DT_NEEDED = 1


def test_the_table_has_every_limit(lab):
    out = lab.audit("--limits").out
    rows = re.findall(r'^LIMIT\(\w+, [\w:]+, [^,]+, "(.*?)", "(.*?)", "(.*?)"\)$', LIMITS, re.M)
    assert len(rows) == len(re.findall(r"^LIMIT", LIMITS, re.M)) > 40
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


def response_file_of_size(lab, n):
    lab.write("big", "a.o".ljust(n))
    return ["check", "@big"]


def response_words(lab, n):
    lab.write("many", "-s " * n)
    return ["check", "--", "ld", "a.o", "@many"]


def response_files_in_all(lab, n):
    lab.write("empty", "")
    lab.write("many", "@empty " * (n - 1) + "a.o")
    return ["check", "@many"]


def response_files_together(lab, n):
    lab.write("half", "a.o".ljust(n // 2))
    lab.write("other", "".ljust(n - n // 2))
    return ["check", "@half", "@other"]


def scripts_in_all(lab, n):
    lab.write("empty", "")
    lab.write("many", "INCLUDE empty\n" * (n - 1) + "INPUT(a.o)\n")
    return ["check", "--", "ld", "many"]


def script_directories(lab, n):
    lab.write("many", "SEARCH_DIR(.)\n" * n + "INPUT(a.o)\n")
    return ["check", "--", "ld", "many"]


def repeated_in_a_script(lab, n):
    lab.cc("x.o", "")
    lab.write("many", "GROUP(" + "x.o " * (n + 2) + ")\n")
    return ["check", "--", "ld", "many"]


def repeated_in_the_command(lab, n):
    lab.cc("x.o", "")
    lab.write("many", "x.o " * (n + 2))
    return ["check", "--", "ld", "@many"]


def repeated_bytes(lab, n):
    lab.sh(f"gcc -c -xassembler /dev/null -o x.o; truncate -s {n} x.o")
    return ["check", "a.o", "x.o", "x.o", "x.o"]


def config_extended_often(lab, n):
    lab.write("empty.toml", "")
    lab.write("top.toml", "extends = [" + '"empty.toml", ' * (n - 1) + "]\n")
    return ["check", "--config", "top.toml", "a.o"]


def ninja_lookups(lab, n):
    lab.write("b/build.ninja", LINK.replace("ld ", "ld " + "$e" * (n - 1)))
    return ["check", "-p", "b"]


def nvlink_option_files(lab, n):
    for i in range(1, n):
        lab.write(f"n{i}", f"--options-file n{i + 1}\n")
    lab.write(f"n{n}", "-arch=sm_80\n")
    return ["check", "--", "nvlink", "--options-file", "n1", "a.o", "-o", "x"]


def nvlink_words(lab, n):
    lab.write("many", "-g " * n)
    return ["check", "--", "nvlink", "-arch=sm_80", "--options-file", "many", "a.o", "-o", "x"]


def script_statements(lab, n):
    lab.write("s", "INPUT(a.o)\n" + "x = 1;\n" * (n - 1))
    return ["check", "--", "ld", "s"]


def script_parentheses(lab, n):
    lab.write("s", "INPUT(a.o)\nx = " + "(" * n + "1" + ")" * n + ";\n")
    return ["check", "--", "ld", "s"]


def version_script_of_size(lab, n):
    lab.write("v", "{ global: *; };".ljust(n))
    return ["check", "--", "ld", "-shared", "a.o", "--version-script=v"]


def ninja_of_size(lab, n):
    text = "#\n" + LINK
    lab.write("b/build.ninja", text.replace("#", "#" * (n - len(text) + 1)))
    return ["check", "-p", "b"]


def log_of_size(lab, n):
    lab.write("x.log", ("x" * 1000 + "\n") * (n // 1001) + "x" * (n % 1001))
    return ["diagnose", "x.log"]


def log_lines(lab, n):
    lab.write("x.log", "x\n" * n)
    return ["diagnose", "x.log"]


def log_commands(lab, n):
    lab.write("x.log", "".join(f"gcc -c a{i}.c -o a{i}.o\n" for i in range(n)))
    return ["diagnose", "x.log"]


def with_dynamic_section(path, section_of):
    """Moves a library's dynamic section behind everything else: section_of(its entries but the last) instead of these."""
    library = bytearray(path.read_bytes())
    headers, count = struct.unpack_from("<Q", library, 32)[0], struct.unpack_from("<H", library, 56)[0]
    [header] = [at for at in range(headers, headers + count * 56, 56) if struct.unpack_from("<I", library, at)[0] == PT_DYNAMIC]
    offset, size = (struct.unpack_from("<Q", library, header + field)[0] for field in (8, 32))
    [*entries, last] = [library[at : at + 16] for at in range(offset, offset + size, 16)]
    section = section_of([entry for entry in entries if any(entry)]) + last
    for field, value in (8, len(library)), (32, len(section)):
        struct.pack_into("<Q", library, header + field, value)
    path.write_bytes(library + section)


def dynamic_entries(lab, n):
    lab.sh("gcc -shared -nostdlib a.o -o x.so")
    with_dynamic_section(lab.path / "x.so", lambda entries: struct.pack("<QQ", DT_BIND_NOW, 0) * (n - 1 - len(entries)) + b"".join(entries))
    return ["check", "x.so"]


def wheel_text(lab, n):
    text = "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n\n\nA description.\n"
    return ["check", wheel(lab, "pkg-1.0-py3-none-any.whl", {}, extra="\n" + "x" * (n - len(text)), compression=zipfile.ZIP_STORED)]


def text_of_an_unpacked_wheel(lab, n):
    lab.write("d/pkg-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    lab.write("d/pkg-1.0.dist-info/METADATA", "Name: pkg\n".ljust(n))
    lab.sh("cp a.o d")
    return ["check", "d"]


def wheel_tags(lab, n):
    name = wheel(lab, "pkg-1.0-py3-none-any.whl", {}, tags=[f"py3-none-of_{i}" for i in range(n)])
    os.rename(lab.path / name, lab.path / "download")
    return ["check", "download"]


def long_row(*row):
    """A row that takes ten seconds and more."""
    return pytest.param(*row, marks=pytest.mark.nightly)


@pytest.mark.deep
@pytest.mark.parametrize(
    "name, made, first, says",
    [
        ("ArchiveDepth", archives, 0, "archives are nested too deep to read"),
        ("ResponseFileDepth", response_files, 0, "response file @r65: these nest more than 64 deep"),
        ("ResponseFileBytes", response_file_of_size, 0, "larger than 64 MiB"),
        long_row("ResponseFileWords", response_words, -1, "more than 4194304 words in response files"),
        ("ResponseFiles", response_files_in_all, 0, "too many response files"),
        ("ResponseFileBytes", response_files_together, 0, "larger than 64 MiB"),
        ("LinkerScripts", scripts_in_all, 0, "the link reads more than 4096 linker scripts"),
        ("ScriptDirectories", script_directories, 0, "too many SEARCH_DIR in linker scripts"),
        ("RepeatedInputs", repeated_in_a_script, 0, "the link names files again more than 65536 times"),
        ("RepeatedInputs", repeated_in_the_command, 0, "the link names files again more than 65536 times"),
        ("RepeatedBytes", repeated_bytes, 0, "the link names files again, 64 MiB of them and more"),
        ("ConfigFiles", config_extended_often, 1, "too many files extend one another"),
        ("NinjaLookups", ninja_lookups, 0, "the variables that a value names"),
        ("NvlinkOptionDepth", nvlink_option_files, 0, "option file n17: these nest more than 16 deep"),
        ("NvlinkOptionWords", nvlink_words, -3, "more than 1048576 words in option files"),
        ("LinkerScriptDepth", scripts, 0, "linker scripts include each other"),
        ("LinkerScriptBytes", script_of_size, 0, "too large for a linker script"),
        long_row("LinkerScriptStatements", script_statements, 0, "too many statements in linker scripts"),
        ("ExpressionDepth", script_parentheses, -1, "line 2: parentheses nest more than 100 deep"),
        ("VersionScriptBytes", version_script_of_size, 0, "too large for a version script"),
        ("ConfigFiles", configs, 1, "too many files extend one another"),
        ("ConfigBytes", config_of_size, 0, "is larger than 16 MiB"),
        ("NinjaDepth", ninja_includes, 0, "its includes nest more than 16 deep"),
        ("NinjaFiles", ninja_files, 0, "includes more than 4096 files"),
        ("BuildFileBytes", ninja_of_size, 0, "is larger than 256 MiB"),
        ("DynamicEntries", dynamic_entries, 0, "its dynamic section has more than 65536 entries"),
        ("WheelText", wheel_text, 0, "pkg-1.0.dist-info/METADATA): is too large for a text file"),
        ("WheelText", text_of_an_unpacked_wheel, 0, "METADATA: is too large for a text file"),
        ("WheelTags", wheel_tags, 0, "beyond the limit on the number of a wheel's tags"),
        ("PackageDepth", folders, 0, "directories are nested too deep to read"),
        ("LogLine", log_line, 0, "beyond the limit on the length of a line"),
        long_row("LogBytes", log_of_size, 0, "is larger than 256 MiB"),
        long_row("LogLines", log_lines, 0, "beyond the limit on the number of lines"),
        long_row("LogCommands", log_commands, 0, "beyond the limit on the number of commands"),
    ],
)
def test_one_below_and_one_above(lab, name, made, first, says):
    """`first`: links of a chain that are not counted, or less than 0, what the rest of the command counts."""
    lab.cc("a.o", "int state;")
    below = lab.audit(*made(lab, limit(name) + first))
    assert below.code == 0 and says not in below.out + below.err, (name, below)
    above = lab.audit(*made(lab, limit(name) + first + 1))
    assert above.code == 2 and says in above.out + above.err, (name, above)


def includes_that_nest(lab, n):
    for i in range(1, n):
        lab.write(f"{i}.h", f'#include "{i + 1}.h"\n')
    lab.write(f"{n}.h", "int state;\n")
    return '#include "1.h"\n'


def includes(lab, n):
    lab.write("empty.h", "")
    lab.write("1000.h", '#include "empty.h"\n' * 999)
    return '#include "1000.h"\n' * (n // 1000) + '#include "empty.h"\n' * (n % 1000) + "int state;\n"


def header_of_size(lab, n):
    text = "/**/int state;\n"
    lab.write("1.h", text.replace("**", "*" + " " * (n - len(text)) + "*"))
    return '#include "1.h"\n'


def headers_of_size(lab, n):
    lab.write("1.h", "/*" + " " * ((n // 8) - 4) + "*/")
    return '#include "1.h"\n' * 8 + "int state;\n"


def tokens(lab, n):
    lab.write("1.h", "int t[] = {" + "1," * ((n - 10) // 2) + "};\n")
    return '#include "1.h"\nint state;\n'


def conditionals_that_nest(lab, n):
    return "#if 1\n" * n + "int state;\n" + "#endif\n" * n


def declarations(lab, n):
    return "extern int state;\n" * n + "int state;\n"


def linkages(lab, n):
    return 'extern "C" {' * n + "int state;" + "}" * n + "\n"


@pytest.mark.deep
@pytest.mark.parametrize(
    "name, made, slack, says",
    [
        ("IncludeDepth", includes_that_nest, 1, "#includes nest too deeply"),
        long_row("Inclusions", includes, 10, "too many #includes"),
        ("SourceBytes", header_of_size, 1, "1.h is larger than the limit for a source"),
        ("UnitBytes", headers_of_size, 1 << 16, "the headers are larger than the limit for one source"),
        long_row("UnitTokens", tokens, 100, "the headers have more tokens than the limit for one source"),
        ("ConditionalDepth", conditionals_that_nest, 1, "conditionals nest too deeply"),
        ("Scopes", linkages, 1, "none of its sources defines it as far as they could be read"),
    ],
)
def test_limits_of_sources(lab, name, made, slack, says):
    """`slack`: what the compiler's own macros and the source itself count."""
    lab.cc("b.o", "int state;")
    for n, is_read in ((limit(name) - slack, True), (limit(name) + slack, False)):
        lab.write("a.cpp", made(lab, n))
        lab.sh("g++ -fmax-include-depth=300 -MMD -c a.cpp")
        out = lab.audit("check", "a.o", "b.o").out
        assert ("(depfile + source scan)" in out) == is_read and (says in out) != is_read, (name, n, out)


def test_declarations_of_a_symbol(lab):
    """The definition that follows them is found, but whether another one comes after it is not known."""
    lab.cc("b.o", "int state;")
    for n, is_beyond in ((limit("Declarations"), False), (limit("Declarations") + 1, True)):
        lab.write("a.cpp", declarations(lab, n))
        lab.sh("g++ -MMD -c a.cpp")
        out = lab.audit("check", "a.o", "b.o").out
        assert ("more than 4096 declarations of it were found (elfaudit --limits)" in out) == is_beyond, (n, out)
        assert ("(depfile + source scan)" in out) != is_beyond, (n, out)


def test_response_files_of_a_compile_command(lab):
    lab.cc("a.o", "int state;")
    lab.write("x.c", "X;\n")
    lab.sh("gcc -DX='int state' -c x.c")
    most = limit("CompileResponseDepth")
    for i in range(1, most + 1):
        lab.write(f"r{i}", f"@r{i + 1}\n")
    lab.write(f"r{most + 1}", "-DX=int\\ state\n")
    for first, is_read in (("r2", True), ("r1", False)):
        command = {"directory": str(lab.path), "command": f"gcc @{first} -c x.c -o x.o", "file": "x.c", "output": "x.o"}
        lab.write("compile_commands.json", json.dumps([command]))
        assert bool(re.search(r"x\.c:1 +\(source scan\)", lab.audit("check", "a.o", "x.o").out)) == is_read


def test_a_compile_commands_that_is_too_large(lab):
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int state;")
    lab.sh(f"truncate -s {limit('CompileCommandsBytes') + 1} compile_commands.json")
    found = lab.audit("check", "a.o", "b.o")
    assert found.code == 1 and "compile_commands.json: is larger than 1 GiB" in found.out
    named = lab.audit("check", "--compile-commands", "compile_commands.json", "a.o", "b.o")
    assert named.code == 2 and "compile_commands.json: is larger than 1 GiB" in named.err


def test_lines_that_an_edit_moves(lab):
    for number in "12":
        lab.write(f"{number}.c", '#include "t.h"\n')
    for lines, is_offered in ((limit("MovedLines"), True), (limit("MovedLines") + 1, False)):
        lab.write("t.h", "int t[] = {\n" + "1,\n" * (lines - 2) + "};\n")
        lab.sh("gcc -g -c 1.c 2.c")
        [finding] = lab.audit("check", "--format", "json", "1.o", "2.o").json()["findings"]
        assert [bool(fix.get("diff")) for fix in finding["fixes"]] == [is_offered]


@pytest.mark.deep
def test_errors_of_a_log(lab):
    for extra in (0, 1):
        lab.write("x.log", "".join(f"ld: a.o: undefined reference to `f{i}'\n" for i in range(limit("LogErrors") + extra)))
        result = lab.audit("diagnose", "x.log")
        assert ("beyond the limit on the number of errors" in result.out) == bool(extra) and "65536 errors in the log" in result.out


def test_a_depfile_that_is_too_large(lab):
    for name in ("a", "b"):
        lab.cc(f"{name}.o", "int state;", "g++ -MMD")
    below = lab.audit("check", "a.o", "b.o")
    lab.sh(f"truncate -s {limit('DepfileBytes') + 1} a.d")
    above = lab.audit("check", "a.o", "b.o")
    assert below.code == 1 and above.code == 2 and "state is defined twice" in above.out
    assert "a.d: not all was read: it is beyond the limit on the size of a depfile (elfaudit --limits) [unreadable-input]" in above.out, above


def needed_names(lab, n):
    """One long name, again and again, and once a part of it."""
    name = "n" * 4096
    lab.sh(f"gcc -shared -nostdlib a.o -Wl,-soname,{name} -o y.so && gcc -shared -nostdlib -Wl,--no-as-needed a.o y.so -o x.so")

    def section_of(entries):
        [needed] = [struct.unpack("<QQ", entry)[1] for entry in entries if struct.unpack("<QQ", entry)[0] == DT_NEEDED]
        others = b"".join(entry for entry in entries if struct.unpack("<QQ", entry)[0] != DT_NEEDED)
        rest = struct.pack("<QQ", DT_NEEDED, needed + len(name) - n % len(name)) if n % len(name) else b""
        return others + struct.pack("<QQ", DT_NEEDED, needed) * (n // len(name)) + rest

    with_dynamic_section(lab.path / "x.so", section_of)
    return lab.audit("check", "x.so")


def test_names_of_needed_libraries(lab):
    lab.cc("a.o", "int state;")
    below, above = (needed_names(lab, limit("NeededNames") + more) for more in (0, 1))
    assert below.code == 1 and "which is not found [needed-not-found]" in below.out
    assert above.code == 2 and "x.so: its dynamic section names strings of more than 16 MiB in all [unreadable-input]" in above.out


@pytest.mark.deep
def test_the_density_of_a_debug_section(lab):
    """zlib makes 1032 zeros of one byte: more than 250 are made only as long as the section is small."""
    for extra, is_read in ((-4096, True), (1, False)):
        zeros = f'asm(".section .debug_abbrev\\n.zero {limit("DenseBytes") + extra}\\n.text");\n'
        lab.cc("a.o", f"{zeros}int state;\n", "gcc -g")
        lab.sh("objcopy --compress-debug-sections=zlib-gabi a.o b.o")
        out = lab.audit("check", "b.o", "b.o").out
        assert ("a.c:2  (debug info)" in out) == is_read, out
        assert ("beyond 128 MiB, at most 250 bytes are made of one" in out) != is_read, out


def test_the_name_of_a_member(lab):
    lab.cc("a.o", "int state;")
    object_bytes = (lab.path / "a.o").read_bytes()
    for length in (limit("MemberName"), limit("MemberName") + 1):
        header = f"#1/{length}".ljust(16) + "0".ljust(12) + "0".ljust(6) * 2 + "644".ljust(8) + str(length + len(object_bytes)).ljust(10) + "`\n"
        (lab.path / "x.a").write_bytes(b"!<arch>\n" + header.encode() + b"n" * length + object_bytes)
        [member] = lab.audit("list", "members", "--format", "json", "x.a").json()["members"]
        assert member["member"] == "n" * limit("MemberName")


@pytest.mark.deep
def test_a_baseline_that_is_too_large(lab):
    lab.cc("a.o", "int state;")
    lab.sh(f"truncate -s {limit('BaselineBytes') + 1} known.json")
    result = lab.audit("check", "--baseline", "known.json", "a.o")
    assert result.code == 2 and "known.json: is larger than 1024 MiB" in result.err, result


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


@pytest.mark.parametrize("name, line, says", [("LoaderConfigIncludes", "include none.conf\n", "the number of its includes"), ("LoaderConfigStars", "*/", "the wildcards of an include")])
def test_includes_of_the_loader(lab, name, line, says):
    lab.cc("x.o", "int x;", "g++ -fPIC")
    lab.sh("mkdir -p root/etc && g++ -shared -nostdlib x.o -o root/x.so")
    for extra in (0, 1):
        lines = line * (limit(name) + extra)
        lab.write("root/etc/ld.so.conf", lines if name == "LoaderConfigIncludes" else f"include {lines}none.conf\n")
        result = lab.audit("list", "closure", "--root", "root", "root/x.so")
        assert result.code == 2 * extra and (says in result.err) == bool(extra), result


@pytest.mark.parametrize("extra", [0, 1])
def test_the_name_of_an_entry_of_a_package(lab, extra):
    name = wheel(lab, "pkg-1.0-py3-none-any.whl", {"x" * (limit("EntryName") + extra): b""})
    result = lab.audit("check", name)
    assert (result.code == 2) == bool(extra), result


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


def test_what_a_driver_prints(lab):
    lab.cc("a.o", "int main() {}")
    for extra in (0, 1):
        lab.write("driver", "#!/bin/sh\ng++ \"$@\" 2>out; size=$(wc -c <out); cat out >&2\n"
                  f"head -c $(({limit('ProgramOutput')} + {extra} - size)) /dev/zero | tr '\\0' '#' >&2\n")
        lab.sh("chmod +x driver && mv driver g++-0")
        result = lab.audit("check", "--", "./g++-0", "a.o", "-o", "a")
        assert result.code == 2 * extra and ("the limit on the output of a program" in result.out + result.err) == bool(extra), result


def test_images_of_an_offload_section(lab):
    need("objcopy")
    strings, ptx = b"arch\0sm_90\0".ljust(16, b"\0"), b".version 8.0\n.target sm_90\n".ljust(32)
    image = struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", 1, 136, 32, 40) + struct.pack("<HHIQQQQ", 5, 2, 0, 72, 1, 104, 32)
    image += struct.pack("<QQ", 88, 93) + strings + ptx
    lab.cc("a.o", "int state;")
    for extra in (0, 1):
        (lab.path / "images").write_bytes(image * (limit("OffloadImages") + extra))
        lab.sh("objcopy --add-section .llvm.offloading=images a.o b.o")
        result = lab.audit("check", "b.o")
        assert (f"has more than {limit('OffloadImages')} images" in result.out + result.err) == bool(extra), result


def test_files_looked_through_for_what_sets_a_macro(lab):
    lab.write("s.h", "struct S {\n#ifdef V2\n  long more;\n#endif\n  int a;\n};\ninline S state;\n")
    lab.write("last.h", "#define V2\n")
    lab.write("b.cpp", '#include "s.h"\nS *b() { return &state; }\n')
    for extra in (0, 1):
        between = limit("SettingFiles") - len(["a.cpp", "last.h"]) + extra
        for i in range(between):
            lab.write(f"{i}.h", "")
        lab.write("a.cpp", "".join(f'#include "{i}.h"\n' for i in range(between)) + '#include "last.h"\n#include "s.h"\nS *a() { return &state; }\n')
        lab.sh("g++ -std=c++17 -g -MMD -c a.cpp b.cpp")
        out = lab.audit("check", "--enable", "divergent-definition", "a.o", "b.o").out
        assert "S differs" in out and ("last.h:1 defines V2" in out) != bool(extra), out


def many_duplicates(lab, number):
    """Two objects that define so many functions."""
    lab.write("many.s", "".join(f".globl f{i}\nf{i}:\n" for i in range(number)))
    lab.sh("as many.s -o a.o && cp a.o b.o")
    return lab.audit("check", "--format", "json", "a.o", "b.o")


@pytest.mark.deep
def test_findings_that_are_looked_for_in_sources(lab):
    for extra in (0, 1):
        document = many_duplicates(lab, limit("LocatedFindings") + extra).json()
        found = [f for f in by_symbol(document["findings"]) if f["rule"] == "duplicate-definition"]
        assert len(found) == limit("LocatedFindings") + extra
        assert sum(f["sites"][0]["why_unknown"] == "not looked for" for f in found) == extra
        assert any(f"of the first {limit('LocatedFindings')} findings only" in note for note in document["notes"]) == bool(extra)


@pytest.mark.nightly
def test_findings_that_are_kept(lab):
    for extra in (0, 1):
        result = many_duplicates(lab, limit("Findings") + extra)
        assert (result.code == 2) == bool(extra) and ("has more findings than" in result.out) == bool(extra)
