"""Facts files stand for their objects, and the cache for what debug info says: the same report, byte for byte, or an
honest word about why not."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from elfaudit_test import ENVIRONMENT, need, need_plain_program

need("g++", "ar")

HEADER = "inline int fine;\nint counter = 1;\nint next() { return ++counter; }\n"


@pytest.fixture
def tree(lab):
    """Two objects with the same header, one without duplicates, a library, and all of them indexed."""
    lab.write("include/h.hpp", HEADER)
    for name in ("a", "b"):
        lab.cc(f"{name}.o", f'#include "h.hpp"\nint only_{name}() {{ return next(); }}\n', "g++ -g -Iinclude")
    lab.cc("c.o", "#include <map>\nextern int counter;\nstd::map<int, int> m;\nint c() { return counter + m[1]; }\n", "g++ -g")
    lab.cc("d.o", '#include "d.hpp"\nint d() { return in_d_hpp; }\n' if lab.write("d.hpp", "int in_d_hpp = 4;\n") else "", "g++ -g -I.")
    lab.ar("libab.a", "a.o", "b.o")
    lab.sh("g++ -shared -fPIC -g -x c++ -o libs.so - <<< 'int counter = 9; int s() { return counter; }'")
    for name in ("a.o", "b.o", "c.o", "d.o", "libab.a", "libs.so"):
        result = lab.audit("index", name, "-o", name + ".facts")
        assert (result.code, result.out, result.err) == (0, "", ""), result
    return lab


def reports(lab, *arguments):
    """Exit code, text, JSON and SARIF."""
    text = lab.audit("check", *arguments)
    return [text.code, text.out, text.err, *(lab.audit("check", "--format", format, *arguments).out for format in ("json", "sarif"))]


LINES = [
    ["a.o", "b.o", "c.o"],
    ["c.o", "d.o"],
    ["libab.a"],
    ["c.o", "libab.a"],
    ["a.o", "libs.so"],
    ["--enable", "header-definition", "a.o", "c.o", "d.o"],
    ["--undefined", "a.o", "b.o", "c.o"],
    ["a.o", "b.o", "a.o"],
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_facts_give_the_report_of_their_objects(tree, line):
    expected = reports(tree, *line)
    facts = [word + ".facts" if os.path.exists(tree.path / (word + ".facts")) else word for word in line]
    assert reports(tree, *facts) == expected
    mixed = [fact if i % 2 else word for i, (word, fact) in enumerate(zip(line, facts))]
    assert reports(tree, *mixed) == expected


def test_the_report_of_objects_that_are_gone_says_so(tree):
    with_objects = tree.audit("check", "a.o.facts", "b.o.facts").out
    for name in ("a.o", "b.o", "libab.a"):
        (tree.path / name).unlink()
    result = tree.audit("check", "a.o.facts", "b.o.facts")
    assert result.code == 1
    note = "note: a.o, b.o are missing: known from a.o.facts, b.o.facts only"
    assert note in result.out and note not in with_objects
    # What the facts hold is there: places by debug info, and what the sources say of them. The includes are the object's.
    def places_and_causes(text):
        lines = [line.strip() for line in text.splitlines()]
        return [line for line in lines if line.endswith("(debug info)") or line.startswith(("error", "cause"))]

    assert places_and_causes(result.out) == places_and_causes(with_objects) and "cause" in result.out
    result = tree.audit("check", "libab.a.facts")
    assert result.code == 1 and "include/h.hpp:2" in result.out, result


def test_facts_of_an_object_that_was_made_anew_keep_to_their_own(tree):
    tree.cc("a.o", "\n\n\n\nint counter = 2;\n", "g++ -g")
    result = tree.audit("check", "a.o.facts", "b.o")
    assert result.code == 1 and "include/h.hpp:2" in result.out and "a.cpp:5" not in result.out, result
    assert result.out.count("note: a.o changed since a.o.facts was made: index it again\n") == 1, result
    assert "a.o changed since a.o.facts was made" in tree.audit("explain", "counter", "a.o.facts").err


NOTE = re.compile(r"note: .* (is|are) missing: known from all\.facts only\n")


@pytest.fixture
def through_includes(lab):
    """Two objects without debug info, and the report of them."""
    lab.write("src/state.h", "#define STATE int state = 1;\nSTATE\n")
    lab.write("src/middle.h", '#include "state.h"\n')
    for name in "ab":
        lab.write(f"src/{name}.cpp", '#include "middle.h"\n')
    lab.sh("mkdir b; for f in a b; do g++ -MMD -c src/$f.cpp -o b/$f.o; done")
    lab.report = lab.audit("check", "b/a.o", "b/b.o").out
    assert "included from src/middle.h:1" in lab.report
    return lab


def test_sources_tell_of_objects_that_are_gone_with_their_build_folder(through_includes):
    through_includes.audit("index", "b/a.o", "b/b.o", "-o", "all.facts")
    through_includes.sh("rm -r b")
    assert NOTE.sub("", through_includes.audit("check", "all.facts").out) == through_includes.report


def test_sources_that_have_changed_tell_nothing_of_objects_that_are_gone(through_includes):
    through_includes.audit("index", "b/a.o", "b/b.o", "-o", "all.facts")
    through_includes.sh("rm -r b; echo >> src/middle.h")
    out = through_includes.audit("check", "all.facts").out
    assert out.count("no debug info\n") == 2 and "src/" not in out and len(NOTE.findall(out)) == 1


def test_installed_headers_that_have_changed_tell_nothing_of_objects_that_are_gone(through_includes):
    if not os.access("/opt", os.W_OK):
        pytest.skip("/opt can't be written to")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="elfaudit-", dir="/opt"))
    try:
        through_includes.sh(f"mv src/state.h {folder}; for f in a b; do g++ -I{folder} -MD -c src/$f.cpp -o b/$f.o; done")
        through_includes.audit("index", "b/a.o", "b/b.o", "-o", "all.facts")
        through_includes.sh("rm -r b")
        assert f"{folder}/state.h:2" in through_includes.audit("check", "all.facts").out
        through_includes.sh(f"echo >> {folder}/state.h")
        assert "state.h" not in through_includes.audit("check", "all.facts").out
    finally:
        shutil.rmtree(folder)


def test_sources_newer_than_the_object_are_not_those_it_was_made_of(through_includes):
    through_includes.sh("touch -d '1 minute' src/state.h")
    through_includes.audit("index", "b/a.o", "b/b.o", "-o", "all.facts")
    through_includes.sh("rm -r b")
    out = through_includes.audit("check", "all.facts").out
    assert out.count("no debug info\n") == 2 and "src/" not in out and len(NOTE.findall(out)) == 1


@pytest.mark.parametrize("compiler", ["g++ -g3", "g++ -g3 -gdwarf-4", "clang++ -g -fdebug-macro"])
def test_macro_info_tells_the_includes_of_objects_that_are_gone(lab, compiler):
    need(compiler.split()[0])
    lab.write("state.h", "#include <cstddef>\nint state = 1;\n")
    lab.write("middle.h", '#pragma once\n\n#include "state.h"\n')
    for name in "ab":
        lab.write(f"{name}.cpp", f'#include "middle.h"\nint in_{name};\n')
        lab.sh(f"{compiler} -c {name}.cpp")
    sites = lab.audit("check", "a.o", "b.o").out.split("  kept ")[1]
    assert "included from middle.h:3  (macro info)" in sites, sites
    pack(lab, "a.o", "b.o")
    lab.sh("rm *.o *.h *.cpp")
    assert re.sub(NOTE, "", lab.audit("check", "all.facts").out).split("  kept ")[1] == sites


def test_macro_info_in_facts_gives_the_report_of_the_objects(lab):
    lab.write("api.h", "#pragma once\n#ifdef DEVICE\n#define API extern\n#else\n#define API\n#endif\n")
    lab.write("state.h", '#pragma once\n#include "api.h"\nAPI int state;\n')
    for name in "ab":
        lab.write(f"{name}.cpp", '#include "state.h"\n')
        lab.sh(f"g++ -g3 -MD -c {name}.cpp")
    expected = lab.audit("check", "a.o", "b.o").out
    assert "API is empty here" in expected and "(macro info)" in expected
    pack(lab, "a.o", "b.o")
    lab.sh("rm *.o")
    assert re.sub(NOTE, "", lab.audit("check", "all.facts").out) == expected


def test_a_link_command_takes_facts(tree):
    objects = tree.audit("check", "--", "g++", "-shared", "a.o", "b.o", "-o", "x.so")
    facts = tree.audit("check", "--", "g++", "-shared", "a.o.facts", "b.o", "-o", "x.so")
    assert (facts.code, facts.out) == (objects.code, objects.out) and facts.code == 1


LINKED = {
    "main.o": ("int missing(), used();\nstatic int dead() { return missing(); }\nint (*kept)() = dead;\nint main() { return used(); }\n", "g++ -g -c -ffunction-sections -fdata-sections"),
    "used.o": ("int deep();\nint unused() { return deep(); }\nint used() { return 0; }\n", "g++ -g -c -ffunction-sections"),
    "twice.o": ("int used() { return 1; }\n", "g++ -g -c"),
    "fixed.o": ("int table[4];\nint at(int i) { return table[i]; }\n", "g++ -c -O1 -fno-pic"),
}
LINKS = [
    "main.o used.o",
    "-Wl,--gc-sections main.o used.o",
    "main.o used.o twice.o",
    "-Wl,--gc-sections main.o used.o twice.o",
    "-shared used.o fixed.o -Wl,-z,defs",
    "-shared -Wl,--gc-sections main.o libused.a",
    "main.o libused.a fixed.o",
]


def without_honest_notes(report):
    """Of what the objects themselves would tell: where a place comes from."""
    for finding in report["findings"]:
        for site in finding["sites"]:
            site["why_unknown"] = site["why_unknown"] and site["why_unknown"].split(",")[0]
    report["notes"] = [note for note in report["notes"] if "missing: known from" not in note]
    report.pop("command", None)
    return report


@pytest.mark.deep
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
def test_a_link_of_facts_alone_is_judged_as_that_of_the_objects(lab, linker):
    if shutil.which("ld." + linker) is None and shutil.which(linker) is None:
        pytest.skip(f"no {linker}")
    for name, (text, compiler) in LINKED.items():
        lab.cc(name, text, compiler.replace(" -c", ""))
    lab.ar("libused.a", "used.o", "twice.o")
    inputs = [*LINKED, "libused.a"]
    for name in inputs:
        assert lab.audit("index", name, "-o", name + ".facts").code == 0
    packed = []  # of each link, all objects in one file
    for i, link in enumerate(LINKS):
        objects = [word for word in link.split() if word in inputs]
        assert lab.audit("index", *objects, "-o", f"{i}.facts").code == 0
        packed.append(link.replace(" ".join(objects), f"{i}.facts"))

    def audits(links):
        return [lab.audit("check", "--format", "json", "--", "g++", "-fuse-ld=" + linker, *link.split(), "-o", "out") for link in links]

    expected = audits(LINKS)
    lab.sh("mkdir away && mv *.o *.a *.cpp away")
    singly = audits([re.sub(r"(\w+\.[oa])\b", r"\1.facts", link) for link in LINKS])
    assert {audit.code for audit in expected} == {0, 1}
    for link, theirs, *both in zip(LINKS, expected, singly, audits(packed)):
        for ours in both:
            assert ours.code == theirs.code, (link, ours)
            assert without_honest_notes(json.loads(ours.out)) == without_honest_notes(json.loads(theirs.out)), link


def audits_of_both(lab, command):
    """Of a link command and of the same with facts in place of objects and archives: exit code and report."""
    words = command.split()
    facts = {word: word + ".facts" for word in words if re.search(r"\.[oa]$", word) and (lab.path / word).exists()}
    for name, path in facts.items():
        assert lab.audit("index", name, "-o", path).code == 0
    return [(result.code, result.out) for result in (lab.audit("check", "--", *line) for line in (words, [facts.get(word, word) for word in words]))]


@pytest.mark.parametrize("command", ["ld.bfd -m elf_x86_64 narrow.o -o out", "ld.bfd wide.o narrow.o -shared -o out", "ld.bfd -m elf_i386 wide.o -o out"])
def test_facts_of_an_object_for_another_machine(lab, command):
    lab.cc("wide.o", "int wide;", "gcc")
    lab.cc("narrow.o", "int narrow;", "gcc -m32")
    objects, facts = audits_of_both(lab, command)
    assert facts == objects and objects[0] != 0 and "is for another machine" in objects[1], facts


def test_facts_of_an_archive_where_lld_looks_for_a_machine(lab):
    need("ld.lld-14")
    lab.cc("start.o", "void _start(void) {}", "gcc")
    lab.ar("libstart.a", "start.o")
    objects, facts = audits_of_both(lab, "ld.lld-14 libstart.a -o out")
    assert facts == objects and "target emulation unknown" in objects[1], facts


@pytest.mark.parametrize("compile", ["gcc -flto -ffat-lto-objects -O1", "gcc -flto -O1"])
@pytest.mark.parametrize("link", ["gcc -flto", "gcc -fno-lto", "gcc -fno-use-linker-plugin -fno-lto"])
def test_facts_hold_both_halves_of_an_object_for_link_time_optimisation(lab, compile, link):
    lab.cc("a.o", "int missing(void); int unused(void) { return missing(); } int main(void) { return 0; }", f"{compile} -w")
    lab.cc("b.o", "int used(void) { return 0; }", "gcc")
    lab.ar("libb.a", "b.o", "a.o")
    for objects in ("a.o b.o", "libb.a"):
        of_objects, of_facts = audits_of_both(lab, f"{link} {objects} -o out")
        assert of_facts == of_objects


def test_what_is_wrong_with_the_half_that_a_link_reads(lab):
    need("clang-19", "ld.lld-19")
    lab.cc("a.o", "int x = 1;", "clang-19 -flto -ffat-lto-objects -fPIC")
    lab.sh("printf damaged > odd; objcopy --update-section .llvm.lto=odd a.o")
    for option, code in (("", 0), ("--fat-lto-objects", 2)):
        objects, facts = audits_of_both(lab, f"ld.lld-19 {option} -shared a.o -o a.so")
        assert facts == objects and objects[0] == code, facts


def test_an_object_that_is_never_read_is_not_by_its_facts(tree):
    never = ["--never-read", "libab.a", "--format", "json"]
    objects = tree.audit("check", *never, "c.o", "libab.a", "a.o")
    facts = tree.audit("check", *never, "c.o.facts", "libab.a.facts", "a.o.facts")
    assert (facts.code, facts.out) == (objects.code, objects.out) and '"input-left-out"' in facts.out, facts


def test_what_becomes_data_is_the_object_and_not_its_facts(lab):
    lab.cc("main.o", "extern char _binary_blob_o_start[]; int main(void) { return _binary_blob_o_start[0]; }", "gcc")
    lab.cc("blob.o", "int blob;", "gcc")
    objects, facts = audits_of_both(lab, "gcc main.o -Wl,-b,binary blob.o -Wl,-b,elf64-x86-64 -o out")
    assert facts == objects and objects[0] == 0, facts


def test_what_a_missing_library_loads_is_not_known(tree):
    (tree.path / "libs.so").unlink()
    result = tree.audit("check", "c.o", "libs.so.facts")
    assert "libs.so is known from libs.so.facts only" in result.out + result.err, result


def test_an_object_that_is_nearly_all_data_needs_its_object(lab):
    lab.cc("big.o", "extern const char big[]; const char big[20 << 20] = {1}; int main() {}", "g++")
    lab.audit("index", "big.o", "-o", "big.facts")
    (lab.path / "big.o").unlink()
    result = lab.audit("check", "--", "g++", "big.facts", "-o", "out")
    assert result.code == 2 and "big.o: is missing or has changed, and big.facts has not all that a link asks of it" in result.out, result


def test_facts_are_small(tree):
    assert (tree.path / "c.o.facts").stat().st_size < (tree.path / "c.o").stat().st_size / 10


@pytest.mark.deep
@pytest.mark.parametrize(
    "damage, words",
    [
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: data[:20], "damaged"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
        (lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:], "damaged"),
        (lambda data: data[:8] + b"\x63" + data[9:], "another version"),
    ],
)
def test_damaged_facts_are_an_error_that_names_them(tree, damage, words):
    path = tree.path / "a.o.facts"
    path.write_bytes(damage(path.read_bytes()))
    result = tree.audit("check", "a.o.facts", "b.o")
    assert result.code == 2 and "a.o.facts" in result.out and words in result.out, result


def test_what_can_not_be_indexed_leaves_nothing_behind(tree):
    tree.write("text.o", "no object")
    tree.sh("gcc-ar rcDT thin.a a.o && head -c 2000 a.o > short.o")
    for name, words in [
        ("text.o", "is a text file"),
        ("none.o", "No such file"),
        ("short.o", "short.o"),
        ("thin.a", "thin archive"),
        ("a.o.facts", "is a facts file already"),
    ]:
        result = tree.audit("index", name, "-o", "out.facts")
        assert result.code == 2 and words in result.err and name in result.err, result
        assert not (tree.path / "out.facts").exists()
    result = tree.audit("index", "a.o", "-o", "nowhere/a.facts")
    assert result.code == 2 and "nowhere/a.facts" in result.err, result
    assert not [name for name in os.listdir(tree.path) if name.endswith(".tmp")]


# --- many objects in one run

OBJECTS = ["a.o", "b.o", "c.o", "d.o", "libab.a", "libs.so"]


def test_a_folder_of_facts_is_that_of_one_run_for_each(tree):
    tree.write("list", "c.o d.o\nlibab.a libs.so\n")
    for jobs in ("1", "2"):
        result = tree.audit("index", "-j", jobs, "a.o", "b.o", "@list", "--output-dir", f"facts{jobs}/new")
        assert (result.code, result.out, result.err) == (0, "", ""), result
        assert sorted(os.listdir(tree.path / f"facts{jobs}/new")) == [name + ".facts" for name in OBJECTS]
        for name in OBJECTS:
            assert (tree.path / f"facts{jobs}/new/{name}.facts").read_bytes() == (tree.path / (name + ".facts")).read_bytes()


def test_a_folder_of_facts_holds_all_of_them(tree):
    """Whatever the paths are: nothing is written beside it."""
    tree.sh("mkdir sub && cp a.o sub")
    here = tree.path.name
    paths = ["sub/a.o", ".//b.o", f"sub/../../{here}/c.o", str(tree.path / "d.o")]
    expected = ["sub/a.o", "b.o", f"__/{here}/c.o", str(tree.path / "d.o")[1:]]
    result = tree.audit("index", *paths, "--output-dir", "facts")
    assert (result.code, result.err) == (0, ""), result
    folder = tree.path / "facts"
    found = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert sorted(found) == sorted(name + ".facts" for name in expected)
    assert reports(tree, *(f"facts/{name}.facts" for name in expected)) == reports(tree, *paths)


def test_objects_that_can_not_be_indexed_cost_the_others_nothing(tree):
    tree.write("text.o", "no object")
    result = tree.audit("index", "a.o", "none.o", "b.o", "text.o", "--output-dir", "facts")
    assert result.code == 2 and result.out == "", result
    assert [line.split(":")[1] for line in result.err.splitlines()] == [" none.o", " text.o"], result
    assert sorted(os.listdir(tree.path / "facts")) == ["a.o.facts", "b.o.facts"]


def test_two_objects_of_one_name_are_refused(tree):
    for other in ("./a.o", "sub/../a.o", "a.o"):
        result = tree.audit("index", "b.o", "a.o", other, "--output-dir", "facts")
        assert result.code == 2 and f"a.o and {other} would both be indexed in facts/a.o.facts" in result.err, result
        assert not (tree.path / "facts").exists()


def test_where_facts_go_has_to_be_said_once(tree):
    for words in ([], ["-o", "x.facts", "--output-dir", "facts"]):
        result = tree.audit("index", "a.o", *words)
        assert result.code == 2 and "either -o FACTS or --output-dir DIR" in result.err, result
    tree.write("empty", "")
    assert "no input" in tree.audit("index", "@empty", "-o", "x.facts").err
    tree.write("file", "")
    result = tree.audit("index", "a.o", "--output-dir", "file")
    assert result.code == 2 and "cannot write file/a.o.facts: Not a directory" in result.err, result


# --- many objects in one facts file


def pack(lab, *objects, name="all.facts"):
    result = lab.audit("index", *objects, "-o", name)
    assert (result.code, result.out, result.err) == (0, "", ""), result
    return name


@pytest.mark.deep
@pytest.mark.parametrize("line", [line for line in LINES if len(set(line)) == len(line) > 1], ids=" ".join)
def test_a_pack_gives_the_report_of_its_objects(tree, line):
    options, objects = [word for word in line if "." not in word], [word for word in line if "." in word]
    assert reports(tree, *options, pack(tree, *objects)) == reports(tree, *line)


@pytest.mark.deep
@pytest.mark.parametrize("command", [[], ["--", "g++", "-shared", "-o", "x.so"], ["--", "g++", "-Wl,--gc-sections", "-o", "x"]], ids=" ".join)
def test_a_pack_stands_at_its_place(tree, command):
    tree.cc("main.o", "int c();\nint main() { return c(); }\n", "g++ -g")
    name = pack(tree, "b.o", "libab.a", "c.o")
    expected = reports(tree, *command, "main.o", "b.o", "libab.a", "c.o", "a.o")
    assert reports(tree, *command, "main.o", name, "a.o") == expected and expected[0] == 1
    first = reports(tree, *command, "a.o", "b.o", "libab.a", "c.o")
    assert reports(tree, *command, "a.o", name) == first != reports(tree, *command, name, "a.o")
    between = ["a.o", "-Wl,--whole-archive", "b.o", "libab.a", "c.o", "-Wl,--no-whole-archive", "libab.a"]
    if command:
        assert reports(tree, *command, *between[:2], name, *between[5:]) == reports(tree, *command, *between)


def test_a_pack_of_objects_that_are_gone(tree):
    name = pack(tree, "a.o", "libs.so", "b.o")
    singly = reports(tree, "a.o.facts", "libs.so.facts", "b.o.facts")
    assert reports(tree, name) == singly
    tree.sh("rm a.o b.o libs.so")
    singly = reports(tree, "a.o.facts", "libs.so.facts", "b.o.facts")
    packed = reports(tree, name)
    assert singly[0] == packed[0] == 1 and NOTE.search(packed[1])
    one_name = [re.sub(r"((a.o|b.o|libs.so)\.facts(, )?)+", "FACTS", str(report)) for report in singly]
    assert [re.sub(r"all\.facts", "FACTS", str(report)) for report in packed] == one_name


@pytest.mark.deep
def test_facts_are_kept_only_where_names_collide(lab):
    """Of the others a hash a name: what a pack of many objects takes grows little with them."""
    need_plain_program("AddressSanitizer keeps what is freed for a while")
    names = [f"fine_{i}_{'x' * 60}" for i in range(60)]
    lab.cc("a.o", "".join(f"inline int {name}() {{ return {i}; }}\n" for i, name in enumerate(names)) + f"static int (*all[])() __attribute__((used)) = {{{', '.join(names)}}};\n")
    for name in ("b.o", "c.o"):
        lab.cc(name, "int state = 1;")
    for i in range(1500):
        os.link(lab.path / "a.o", lab.path / f"{i}.o")
    peaks = {}
    for count in (150, 1500):
        lab.write("list", "\n".join(["b.o", "c.o", *(f"{i}.o" for i in range(count))]))
        lab.sh("rm -f all.facts")
        assert lab.audit("index", "@list", "-o", "all.facts").code == 0
        result = lab.audit("check", "--stats", "all.facts")
        assert result.code == 1 and "state is defined twice" in result.out and "prefilter" in result.err, result
        lab.write("run.py", "import os, resource, subprocess; subprocess.run([os.environ['ELFAUDIT'], 'check', 'all.facts', '-j', '1'], stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        peaks[count] = int(lab.sh("python3 run.py").out)
    assert peaks[1500] < 1.5 * peaks[150], peaks


def test_a_pack_is_the_same_bytes_each_time(tree):
    tree.write("list", "\n".join(OBJECTS))
    names = [pack(tree, f"-j{jobs}", *words, name=f"{i}.facts") for i, (jobs, words) in enumerate([(1, OBJECTS), (2, OBJECTS), (2, ["@list"])])]
    assert len({(tree.path / name).read_bytes() for name in names}) == 1
    assert (tree.path / pack(tree, "a.o", name="one.facts")).read_bytes() == (tree.path / "a.o.facts").read_bytes()


def test_a_pack_is_whole_or_not_written(tree):
    tree.write("text.o", "no object")
    for objects, words in [
        (["a.o", "text.o", "b.o", "none.o"], ["text.o: is a text file", "none.o: No such file"]),
        (["a.o", "b.o", "a.o"], ["a.o is named twice"]),
        (["a.o", "b.o.facts"], ["b.o.facts: is a facts file already"]),
        (["c.o", pack(tree, "a.o", "b.o", name="ab.facts")], ["ab.facts: is a facts file of several objects"]),
    ]:
        result = tree.audit("index", *objects, "-o", "all.facts")
        assert result.code == 2 and len(result.err.splitlines()) == len(words), result
        assert all(word in line for word, line in zip(words, result.err.splitlines())), result
        assert not (tree.path / "all.facts").exists()
    result = tree.audit("list", "symbols", "ab.facts")
    assert result.code == 2 and "ab.facts: is a facts file of several objects" in result.err, result


@pytest.mark.deep
@pytest.mark.parametrize(
    "damage, words",
    [
        (lambda data: data[:8], "ends too early"),
        (lambda data: data[:40], "ends too early"),
        (lambda data: data[:-1], "damaged"),
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: data + b"\0", "extra bytes"),
        (lambda data: data[:8] + b"\x63" + data[9:], "another version"),
        *((lambda data, at=at: flipped(data, data.index(at)), "checksum") for at in (b"0.", b"a.o", b"b.o")),
        (lambda data: flipped(data, data.index(b"\x93eafact")), "not a facts file"),
        (lambda data: flipped(data, data.rindex(b"b.o")), "its table is not that of its facts"),
        (lambda data: flipped(data, len(data) - 100), "checksum"),
        (lambda data: flipped(data, len(data) - 1), "checksum"),
    ],
)
def test_a_damaged_pack_is_an_error_that_names_it(tree, damage, words):
    path = tree.path / pack(tree, "a.o", "b.o")
    path.write_bytes(damage(path.read_bytes()))
    for line in (["all.facts", "c.o"], ["--", "g++", "c.o", "all.facts", "-o", "x"]):
        result = tree.audit("check", *line)
        assert result.code == 2 and "[unreadable-input]" in result.out and "all.facts" in result.out and words in result.out, result


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.deep
def test_a_pack_that_was_made_anew_is_noticed_by_the_cache(tree):
    name = pack(tree, "a.o", "b.o")
    make_old(tree, *os.listdir(tree.path))
    expected = reports(tree, name)
    assert [reports(tree, "--cache", "cache", name) for _ in range(2)] == [expected] * 2
    pack(tree, "a.o", "c.o")
    assert reports(tree, "--cache", "cache", name) == reports(tree, "a.o", "c.o") != expected


# --- facts beside the object, by the command that compiles it


@pytest.fixture
def beside(lab):
    """Objects of one size with the facts beside them; c.o defines another name than the other two."""
    for name, source in (("a", "int state = 1;"), ("b", "int state = 2;"), ("c", "int other = 2;")):
        lab.write(f"{name}.cpp", source)
        result = lab.audit("index", "--", "g++", "-c", f"{name}.cpp")
        assert (result.code, result.out, result.err) == (0, "", "") and (lab.path / f"{name}.o.facts").exists(), result
    return lab


LINES_BESIDE = [["a.o", "b.o", "c.o"], ["--enable", "header-definition", "a.o", "c.o"], ["--", "g++", "-shared", "a.o", "b.o"],
                ["--", "ld.lld", "a.o", "b.o", "c.o", "-shared"]]


@pytest.mark.parametrize("line", LINES_BESIDE, ids=" ".join)
def test_facts_beside_objects_give_the_report_of_the_objects(beside, line):
    need(*line[1:2] if line[0] == "--" else ["g++"])
    assert reports(beside, "--facts", *line) == reports(beside, *line)


def take_facts_of_c(lab):
    lab.sh("cp c.o.facts b.o.facts && touch -r b.o b.o.facts")


@pytest.mark.parametrize("line", [["a.o", "b.o"], ["--", "g++", "-shared", "a.o", "b.o"]], ids=" ".join)
def test_of_an_object_that_is_as_it_was_the_facts_are_read(beside, line):
    take_facts_of_c(beside)  # so that it can be seen
    assert beside.audit("check", "--facts", *line).code == 0
    assert beside.audit("check", *line).code == 1
    assert beside.audit("explain", "other", "--facts", *line).code == 0


@pytest.mark.deep
@pytest.mark.parametrize(
    "change",
    [
        "touch b.o",
        "touch -r b.o stamp; cat a.o > b.o; touch -r stamp b.o",  # only its ctime says so
        "cp -p b.o x.o; touch -r b.o x.o; mv x.o b.o",
        "printf x >> b.o.facts; touch -r b.o b.o.facts",
        "truncate -s 100 b.o.facts; touch -r b.o b.o.facts",
        "sed -i s/other/othex/ b.o.facts; touch -r b.o b.o.facts",
        "cp c.o.facts b.o.facts",  # from elsewhere
        "rm b.o.facts; mkdir b.o.facts",
        "g++ -g -c b.cpp; touch -r b.o b.o.facts",  # of another size
    ],
)
def test_what_is_not_of_the_object_as_it_is_is_not_read(beside, change):
    take_facts_of_c(beside)
    beside.sh(change)
    assert reports(beside, "--facts", "a.o", "b.o") == reports(beside, "a.o", "b.o")
    assert beside.audit("check", "--facts", "--", "g++", "-shared", "a.o", "b.o").code == 1


def test_facts_beside_an_object_have_no_name_of_their_own(beside):
    beside.sh("mkdir sub && cp a.cpp sub/d.cpp")
    beside.sh('cd sub && "$ELFAUDIT" index -- g++ -g -c d.cpp -o d.o')
    result = beside.audit("check", "--facts", "a.o", "sub/d.o")
    assert re.search(r"sub/d\.o +\.data", result.out) and "sub/d.cpp:1" in result.out and result.out == beside.audit("check", "a.o", "sub/d.o").out, result


@pytest.mark.parametrize(
    "command, code",
    [
        ("g++ -c missing.cpp", 1),
        ("g++ -shared a.o -o x.o", 0),
        ("g++ -E a.cpp -o x.o", 0),
        ("g++ -x c++-header -c a.cpp -o x.o", 0),
        ("sh -c 'exit 5'", 5),
        ("sh -c 'kill -9 $$'", -9),
        ("no-such-compiler -c a.cpp -o x.o", 127),
        ("g++ -c a.cpp b.cpp", 0),
    ],
)
def test_a_command_that_makes_no_object_is_run_as_it_is(lab, command, code):
    for name in "ab":
        lab.write(f"{name}.cpp", f"int {name};")
    lab.cc("a.o", "int a;", "g++ -fPIC")
    result = lab.sh(f'"$ELFAUDIT" index -- {command}', check=False)
    assert result.code == code and not list(lab.path.glob("*.facts")), result


def test_facts_that_can_not_be_written_do_not_stop_the_build(lab):
    lab.write("a.cpp", "int a;")
    lab.sh("mkdir a.o.facts")
    result = lab.audit("index", "--", "g++", "-c", "a.cpp")
    assert result.code == 0 and "cannot write a.o.facts" in result.err and (lab.path / "a.o").exists(), result


def test_an_object_that_can_not_be_indexed_does_not_stop_the_build(lab):
    lab.write("a.cpp", "int a;")
    lab.write("half", '#!/bin/sh\ng++ "$@" && truncate -s -40 a.o\n')
    (lab.path / "half").chmod(0o755)
    (lab.path / "half").rename(lab.path / "g++")
    lab.sh("sed -i 's,^g++,/usr/bin/g++,' g++")
    result = lab.audit("index", "--", "./g++", "-c", "a.cpp")
    assert result.code == 0 and "a.o" in result.err and not (lab.path / "a.o.facts").exists(), result


# --- the cache


def entries(lab, kind="places"):
    return sorted(path for path in (lab.path / "cache").rglob("*." + kind))


def make_old(lab, *names):
    """Waits until the state of the files is old enough to be believed."""
    time.sleep(max(0, max((lab.path / name).stat().st_ctime for name in names) + 3.2 - time.time()))


def reports_anew(lab, *arguments):
    """With the cache of objects alone: no run is remembered."""
    for run in entries(lab, "run"):
        run.unlink()
    return reports(lab, *arguments)


CACHED = ["--cache", "cache", "--enable", "header-definition"]
LINE = ["a.o", "b.o", "c.o", "d.o"]


@pytest.mark.deep
def test_the_cache_changes_no_report(tree):
    expected = reports(tree, "--enable", "header-definition", *LINE)
    assert reports(tree, *CACHED, *LINE) == expected
    assert len(entries(tree)) == 4
    assert reports(tree, *CACHED, *LINE) == expected
    make_old(tree, *LINE)
    for _ in range(2):  # the states are kept, then believed
        assert reports_anew(tree, *CACHED, *LINE) == expected
    assert len(entries(tree, "seen")) == 4
    assert reports(tree, *CACHED, "libab.a", "d.o")[1:] == reports(tree, "--enable", "header-definition", "libab.a", "d.o")[1:]


@pytest.mark.deep
def test_the_second_run_does_not_open_debug_info(tree):
    """What is only in the cache shows that the cache was asked: the objects' debug info is gone, their names are not."""
    make_old(tree, "d.o")
    first = tree.audit("check", *CACHED, "d.o").out
    assert "d.hpp:1" in first
    shutil.copytree(tree.path / "cache", tree.path / "other")
    # The entry of d.o under the content of an object without debug info that has the same symbols.
    tree.sh("objcopy --strip-debug d.o stripped.o && mv stripped.o d.o")
    assert "d.hpp:1" not in tree.audit("check", *CACHED, "d.o").out
    assert len(entries(tree)) == 2


@pytest.mark.deep
def test_a_changed_object_is_noticed(tree):
    tree.audit("check", *CACHED, *LINE)
    make_old(tree, *LINE)
    tree.audit("check", *CACHED, *LINE)
    before = (tree.path / "d.o").stat()
    tree.write("d.hpp", "\nint in_d_hpp = 4;\n")  # one line down, every size the same
    tree.sh("g++ -g -I. -c d.cpp -o d.o")
    os.utime(tree.path / "d.o", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (tree.path / "d.o").stat().st_size == before.st_size
    result = tree.audit("check", *CACHED, "d.o")
    assert "d.hpp:2" in result.out and "d.hpp:1" not in result.out, result


@pytest.mark.deep
def test_damaged_entries_are_made_anew(tree):
    expected = reports(tree, *CACHED, *LINE)
    make_old(tree, *LINE)
    reports(tree, *CACHED, *LINE)
    files = entries(tree) + entries(tree, "seen")
    whole = [path.read_bytes() for path in files]
    assert len(files) == 8
    for damage in (
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
        lambda data: b"garbage",
        lambda data: data.replace(b"0.", b"9.", 1),  # the program's version
        lambda data: data[:8] + b"\x07" + data[9:],  # the format
    ):
        for path, data in zip(files, whole):
            path.write_bytes(damage(data))
        for _ in range(2):  # the entries of contents are made, then found, and the states of the files are kept
            assert reports_anew(tree, *CACHED, *LINE) == expected
        assert [path.read_bytes() for path in files] == whole


@pytest.mark.deep
def test_entries_under_another_name_are_not_believed(tree):
    expected = reports(tree, *CACHED, *LINE)
    make_old(tree, *LINE)
    reports(tree, *CACHED, *LINE)
    for kind in ("places", "seen"):
        files = entries(tree, kind)
        data = [path.read_bytes() for path in files]
        for path, other in zip(files, data[1:] + data[:1]):
            path.write_bytes(other)
        assert reports_anew(tree, *CACHED, *LINE) == expected


def test_leftovers_of_a_killed_writer_do_no_harm(tree):
    expected = reports(tree, *CACHED, *LINE)
    for path in entries(tree):
        (path.parent / f".{path.name}.{os.getpid()}-0.tmp").write_bytes(path.read_bytes()[:30])
        path.unlink()
    assert reports_anew(tree, *CACHED, *LINE) == expected
    assert len(entries(tree)) == 4


def test_many_writers_at_once(tree):
    expected = tree.audit("check", "--enable", "header-definition", *LINE).out
    command = [os.environ["ELFAUDIT"], "check", *CACHED, *LINE]
    for _ in range(5):
        shutil.rmtree(tree.path / "cache", ignore_errors=True)
        running = [subprocess.Popen(command, cwd=tree.path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
        assert {process.communicate()[0] for process in running} == {expected}
    assert len(entries(tree)) == 4
    assert not [path for path in (tree.path / "cache").rglob("*.tmp")]


@pytest.mark.deep
def test_writers_that_are_killed_leave_no_wrong_answer(tree):
    expected = tree.audit("check", "--enable", "header-definition", *LINE).out
    command = [os.environ["ELFAUDIT"], "check", *CACHED, *LINE]
    for i in range(15):
        shutil.rmtree(tree.path / "cache", ignore_errors=True)
        process = subprocess.Popen(command, cwd=tree.path, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        time.sleep(i * 0.003)
        process.kill()
        process.wait()
        assert tree.audit("check", *CACHED, *LINE).out == expected


def test_a_cache_that_can_not_be_written_is_told_and_done_without(tree):
    tree.write("cache", "a file")
    result = tree.audit("check", *CACHED, *LINE)
    assert result.code == 1 and "h.hpp:2" in result.out, result
    assert "--cache cache: cannot write there" in result.out + result.err, result


def test_the_configuration_names_the_cache(tree):
    tree.write(".elfaudit.toml", 'cache = "cache"\n')
    assert tree.audit("check", "a.o", "b.o").code == 1
    assert len(entries(tree)) == 2
    assert 'cache = "' in tree.audit("check", "--dump-config", "a.o").out


def test_moved_objects_are_known_by_their_content(tree):
    tree.audit("check", *CACHED, *LINE)
    before = entries(tree)
    tree.sh("mkdir moved && cp d.o moved/d.o")
    assert "d.hpp:1" in tree.audit("check", *CACHED, "moved/d.o").out
    assert entries(tree) == before
