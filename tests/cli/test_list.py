"""The list command: what is in some files."""

import json
import os
import re
import shutil

import pytest

from elfaudit_test import SOURCE_DIR, TOOLS, need, need_plain_program
from elfaudit_wheels import wheel

need("g++", "gcc", "ar")

DEVICE = SOURCE_DIR / "testdata" / "efa-device" / "prebuilt"


def validated(result):
    """The JSON document of a listing, held against its schema."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-list-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = result.json()
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
    return document


def listed(lab, *words):
    return validated(lab.audit("list", *words, "--format", "json"))


@pytest.fixture
def device(lab):
    """Two relocatable CUDA objects in an archive: PTX aside, what nvcc -rdc=true makes for sm_80 and sm_90a."""
    if not (DEVICE / "internode.o").exists():
        pytest.skip("needs testdata/efa-device/prebuilt")
    lab.sh(f"cp '{DEVICE}/internode.o' '{DEVICE}/efa_device_state.o' .")
    lab.ar("libefa.a", "internode.o", "efa_device_state.o")
    return lab


def test_symbols_of_objects(lab):
    lab.cc("a.o", "namespace n { int state = 1; } extern int needed; int f() { return needed; } inline int g() { return 2; } int h() { return g(); }")
    result = lab.audit("list", "symbols", "a.o")
    assert result.code == 0 and result.out.endswith("5 symbols of 1 object\n"), result
    rows = {line.split()[-1]: line.split() for line in result.out.splitlines()[:-1]}
    assert rows["n::state"] == ["a.o", "global", "object", "4", ".data", "n::state"]
    assert rows["needed"] == ["a.o", "global", "notype", "0", "undefined", "needed"]
    assert rows["g()"][1] == "weak"
    symbols = {row["name"]: row for row in listed(lab, "symbols", "a.o")["symbols"]}
    assert symbols["_ZN1n5stateE"]["demangled"] == "n::state" and symbols["_ZN1n5stateE"]["section"] == ".data"
    assert symbols["needed"]["defined"] is False and symbols["needed"]["section"] is None


def test_symbols_say_common_and_version(lab):
    lab.cc("c.o", "int tentative;", "gcc -fcommon")
    lab.write("v.map", "V1 { global: exported; local: *; };")
    lab.sh("echo 'int exported(void) { return 1; }' > s.c; gcc -shared -fPIC s.c -o libs.so -Wl,--version-script=v.map")
    rows = {row["name"]: row for row in listed(lab, "symbols", "c.o", "libs.so")["symbols"]}
    assert rows["tentative"]["placement"] == "common"
    assert rows["exported"]["version"] == "V1" and rows["exported"]["input"] == "libs.so"
    assert "exported@@V1\n" in lab.audit("list", "symbols", "libs.so").out


def test_members_in_archive_order(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int f(); int g() { return f(); } int h;")
    lab.write("note.txt", "text\n")
    lab.ar("inner.a", "a.o")
    lab.ar("libx.a", "b.o", "note.txt", "inner.a", "a.o")
    rows = listed(lab, "members", "libx.a")["members"]
    assert [(row["input"], row["kind"], row["definitions"], row["references"]) for row in rows] == [
        ("libx.a(b.o)", "object", 2, 1),
        ("libx.a(note.txt)", "other", 0, 0),
        ("libx.a(inner.a)", "archive", 0, 0),
        ("libx.a(inner.a(a.o))", "object", 1, 0),
        ("libx.a(a.o)", "object", 1, 0),
    ]
    content = (lab.path / "libx.a").read_bytes()
    for row in rows:
        if row["kind"] == "object":
            assert content[row["offset"] : row["offset"] + 4] == b"\x7fELF" and row["size"] == (lab.path / row["member"][-4:].strip("()")).stat().st_size
    text = lab.audit("list", "members", "libx.a").out
    assert text.endswith("5 members in 1 input: 4 definitions, 1 reference\n"), text


def test_members_of_thin_archives_and_loose_files(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("sub/b.o", "int g() { return 1; }")
    lab.sh("gcc-ar rcT thin.a a.o sub/b.o")
    rows = listed(lab, "members", "thin.a", "a.o")["members"]
    assert [(row["input"], row["kind"], row["size"]) for row in rows] == [
        (name, "object", (lab.path / file).stat().st_size)
        for name, file in (("thin.a(a.o)", "a.o"), ("thin.a(sub/b.o)", "sub/b.o"), ("a.o", "a.o"))
    ]


@pytest.mark.parametrize("what", ["images", "symbols", "members", "needs"])
def test_what_cannot_be_read_is_named_and_the_rest_is_listed(lab, what):
    lab.cc("a.o", "int f() { return 1; }")
    lab.sh("head -c 300 a.o > cut.o; gcc-ar rcD libx.a cut.o a.o")
    result = lab.audit("list", what, "missing.o", "libx.a", "a.o", "--format", "json")
    assert result.code == 2
    assert "elfaudit: missing.o: " in result.err and "elfaudit: libx.a(cut.o): " in result.err, result
    document = validated(result)
    assert document["complete"] is False and [row["input"] for row in document["errors"]] == ["missing.o", "libx.a(cut.o)"]
    if what == "members":
        assert [row["kind"] for row in document["members"]] == ["unreadable", "object", "object"]
    if what == "symbols":
        assert [row["input"] for row in document["symbols"]] == ["libx.a(a.o)", "a.o"]


def test_no_rows_is_a_document_too(lab):
    lab.cc("a.o", "int f() { return 1; }")
    assert lab.audit("list", "images", "a.o").out == "0 images in 0 containers of 0 objects\n"
    assert listed(lab, "images", "a.o")["images"] == []


def test_names_that_are_no_utf8(lab):
    lab.sh(r"""printf '.globl f\377\n.data\nf\377: .quad 1\n' > a.s; as a.s -o a.o; objcopy --redefine-sym $'f\377'='q\"' a.o b.o""")
    names = [row["name"] for row in listed(lab, "symbols", "a.o", "b.o")["symbols"]]
    assert names == ["f\ufffd", 'q\\"']


def test_usage(lab):
    lab.cc("a.o", "int f() { return 1; }")
    for words in ([], ["images"], ["nonsense", "a.o"], ["symbols", "--details", "a.o"], ["images", "--format", "xml", "a.o"], ["images", "--", "g++", "a.o"]):
        result = lab.audit("list", *words)
        assert result.code == 2 and result.out == "" and result.err, words
    lab.write("words", "a.o")
    assert "1 symbol of 1 object" in lab.audit("list", "symbols", "@words").out


def test_images(device):
    images = listed(device, "images", "libefa.a")["images"]
    assert [(row["input"], row["kind"], row["arch"], row["container"]) for row in images] == [
        (f"libefa.a({name}.o)", "cubin", arch, 0) for name in ("internode", "efa_device_state") for arch in ("sm_80", "sm_90a")
    ]
    for row in images:
        assert row["section"] == "__nv_relfatbin" and row["compression"] == "zstd" and row["stored_size"] < row["real_size"]
        assert "symbols" not in row, "the images themselves are not read"
    text = device.audit("list", "images", "internode.o").out
    assert text.splitlines()[0].split()[:6] == ["internode.o", "__nv_relfatbin", "0", "cubin", "sm_80", "zstd"], text
    assert text.endswith("2 images in 1 container of 1 object\n")


def test_details_of_images(device):
    image = listed(device, "images", "--details", "internode.o")["images"][0]
    assert image["toolkit"].count(".") == 1
    assert "_ZN7deep_ep27nvshmemi_efa_device_state_dE" in image["symbols"], image
    text = device.audit("list", "images", "--details", "internode.o").out
    assert "deep_ep::nvshmemi_efa_device_state_d\n" in text


def test_device_symbols(device):
    rows = [row for row in listed(device, "symbols", "--device", "internode.o")["symbols"] if "device_state_d" in row["name"]]
    assert [row["arch"] for row in rows] == ["sm_80", "sm_90a"]
    for row in rows:
        assert (row["kind"], row["space"], row["defined"], row["private"]) == ("variable", "global", True, False)


def test_a_damaged_image_is_named(device):
    content = bytearray((device.path / "internode.o").read_bytes())
    content[content.index(b"\x28\xb5\x2f\xfd") + 8] ^= 0xFF  # in the first image's zstd frame
    (device.path / "internode.o").write_bytes(content)
    assert device.audit("list", "images", "internode.o").code == 0, "headers alone are sound"
    result = device.audit("list", "images", "--details", "internode.o", "--format", "json")
    assert result.code == 2 and "device code for sm_80" in result.err, result
    first, second = validated(result)["images"]
    assert first["symbols"] is None and second["symbols"], "the other image is read"


def test_output_is_the_same_from_run_to_run(device):
    for words in (["images", "--details"], ["symbols", "--device"], ["symbols"], ["members"]):
        for extra in ([], ["--format", "json"]):
            outputs = {device.audit("list", *words, *extra, "libefa.a", "internode.o", "-j", jobs).out for jobs in (1, 2, 8)}
            assert len(outputs) == 1


def test_private_variables_of_whole_program_code(lab):
    need("nvcc")
    lab.cc("a.o", "__device__ int g; namespace n { __device__ int v; static __device__ int s; }\n"
           "__global__ void k(int* p) { *p = g + n::v + n::s; }", "nvcc -arch=sm_80")
    rows = [row for row in listed(lab, "symbols", "--device", "a.o")["symbols"] if row["private"]]
    assert sorted((row["arch"], row["demangled"], row["maybe_static"]) for row in rows) == [
        (arch, name, static) for arch in ("compute_80", "sm_80") for name, static in (("g", True), ("n::v", False))
    ]


def test_device_code_whose_link_is_not_judged_is_named(lab):
    lab.sh("""printf '.section "__CLANG_OFFLOAD_BUNDLE__openmp-amdgcn-amd-amdhsa--gfx90a","e"\n.ascii "BC\\300\\336"\n' > a.s; as a.s -o a.o""")
    result = lab.audit("list", "images", "a.o")
    assert "a.o  not judged: OpenMP for gfx90a" in result.out, result
    assert listed(lab, "images", "a.o")["foreign"][0]["what"].startswith("OpenMP")


def test_every_option_is_in_the_docs(lab):
    page = (SOURCE_DIR / "docs" / "list.md").read_text()
    for what in ("images", "symbols", "members", "needs"):
        options = {word.rstrip(",") for word in lab.audit("list", what, "--help-all").out.split() if word.startswith("--")} - {"--help", "--help-all"}
        options = {option for word in options for option in word.split(",") if option.startswith("--")}
        assert options and [option for option in sorted(options) if option not in page] == []


def test_format_before_several_files(lab):
    lab.cc("a.o", "int a;", "g++")
    lab.cc("b.o", "int b;", "g++")
    rows = lab.audit("list", "symbols", "--format", "json", "a.o", "b.o").json()["symbols"]
    assert [row["input"] for row in rows] == ["a.o", "b.o"]


# --- needs


def test_needs_are_what_readelf_says(lab):
    lab.cc("a.o", "int f() { return 1; }", "g++ -fPIC")
    lab.sh("gcc -shared a.o -o libs.so -Wl,-soname,libs.so.1; ln -s libs.so libs.so.1; gcc -shared a.o -o libplain.so -nostdlib")
    lab.sh("echo 'int f(); int main() { return f(); }' > m.cpp; g++ m.cpp -o new -L. -ls -Wl,-rpath,'$ORIGIN:/opt/x y::' -Wl,--enable-new-dtags")
    lab.sh("g++ m.cpp -o old -L. -ls -Wl,-rpath,/opt/lib -Wl,--disable-new-dtags; gcc -static-pie -nostdlib -Wl,-e0 a.o -o static || true")
    files = ["libs.so", "libplain.so", "new", "old", "a.o"]
    rows = listed(lab, "needs", *files)["needs"]
    tags = {"SONAME": "soname", "NEEDED": "needed", "RPATH": "rpath", "RUNPATH": "runpath"}
    expected = []
    for file in files:
        said = re.findall(r"\((\w+)\) .*: \[(.*)\]", lab.sh(f"readelf -dW {file}").out)
        names = [(tags[tag], name) for tag, text in said if tag in tags for name in (text.split(":") if "PATH" in tag else [text])]
        expected += [(file, kind, name) for kind, name in sorted(names, key=lambda one: ["soname", "needed", "rpath", "runpath"].index(one[0]))]
    assert [(row["input"], row["kind"], row["name"]) for row in rows] == expected and ("new", "runpath", "/opt/x y") in expected
    assert ("old", "rpath", "/opt/lib") in expected and ("libs.so", "soname", "libs.so.1") in expected
    text = lab.audit("list", "needs", "new", "libplain.so").out.splitlines()
    assert text[0].split() == ["new", "needed", "libs.so.1"] and text[-1].endswith(" of 1 object"), text


def dlopen_note(*entries, text=None, type=0x407C0C0A):
    """Assembly of a .note.dlopen (systemd, "ELF dlopen metadata")."""
    text = json.dumps(list(entries)) if text is None else text
    return (f'.section .note.dlopen,"a",@note\n.balign 4\n.long 4, 2f-1f, {type}\n.asciz "FDO"\n'
            f"1: .ascii {json.dumps(text)}\n.byte 0\n2: .balign 4\n")  # fmt: skip


def test_libraries_that_are_opened(lab):
    lab.cc("n.o", dlopen_note({"soname": ["libzstd.so.1", "libzstd.so"], "feature": "zstd", "priority": "suggested"}, {"soname": ["libx.so"]}), "as")
    lab.sh("gcc -shared -nostdlib n.o -o libn.so")
    opened = [row for row in listed(lab, "needs", "libn.so")["needs"] if row["kind"] == "dlopen"]
    assert [(row["name"], row["alternatives"], row["feature"], row["priority"]) for row in opened] == [
        ("libzstd.so.1", ["libzstd.so.1", "libzstd.so"], "zstd", "suggested"), ("libx.so", ["libx.so"], None, "recommended")]  # fmt: skip
    assert rows_of(lab, "needs", "libn.so") == [{"row": "need", **row} for row in opened]
    assert "libzstd.so.1 or libzstd.so  (suggested, for zstd)" in lab.audit("list", "needs", "libn.so").out


# name: the note, the exit code
NOTES = {
    "no JSON": (dlopen_note(text="soname"), 2),
    "an object": (dlopen_note(text="{}"), 2),
    "a list of texts": (dlopen_note("libx.so"), 2),
    "no sonames": (dlopen_note({"feature": "x"}), 2),
    "sonames of other types": (dlopen_note({"soname": [1, None, {}], "feature": []}), 0),
    "deep": (dlopen_note(text="[" * 5000), 2),
    "another type": (dlopen_note(text="soname", type=3), 0),
    "truncated": (dlopen_note() + '.section .note.dlopen,"a",@note\n.long 4, 4096, 0x407c0c0a\n', 2),
    "huge": ('.section .note.dlopen,"a",@note\n.fill 2000000\n', 2),
}  # fmt: skip


@pytest.mark.parametrize("case", NOTES)
def test_damaged_notes_about_dlopen(lab, case):
    note, code = NOTES[case]
    lab.cc("n.o", note, "as")
    lab.sh("gcc -shared -nostdlib n.o -o libn.so")
    result = lab.audit("list", "needs", "libn.so")
    assert result.code == code and (code == 0 or "libn.so" in result.out + result.err)


# --- Rows: --format jsonl


def rows_of(lab, *words, code=0):
    """The lines of a listing, each held against the schema of rows, without the key that only they have."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema" / "elfaudit-list-rows-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    result = lab.audit("list", *words, "--format", "jsonl")
    assert result.code == code, result
    rows = [json.loads(line) for line in result.out.splitlines()]
    validator = jsonschema.Draft202012Validator(schema)
    for row in rows:
        validator.validate(row)
    return rows


def assert_same_rows(lab, *words, code=0):
    """What the document has, the lines have, in its order within each kind of row."""
    document = lab.audit("list", *words, "--format", "json").json()
    rows = rows_of(lab, *words, code=code)
    kinds = {"image": "images", "foreign": "foreign", "symbol": "symbols", "device-symbol": "symbols", "member": "members", "need": "needs"}
    for key in set(kinds.values()) & set(document):
        assert [{k: v for k, v in row.items() if k != "row"} for row in rows if kinds.get(row["row"]) == key] == document[key], key
    errors = [{k: v for k, v in row.items() if k != "row"} for row in rows if row["row"] == "error"]
    assert sorted(errors, key=str) == sorted(document["errors"], key=str)
    return rows


@pytest.fixture
def mixture(lab):
    """A loose object, an archive with damage in it, a thin archive, a shared object and a program in a folder, a wheel."""
    lab.cc("a.o", "namespace n { int state = 1; } int f() { return 1; }")
    lab.sh("head -c 300 a.o > cut.o; gcc-ar rcD libx.a cut.o a.o; gcc-ar rcT thin.a a.o")
    lab.cc("folder/b.o", "extern int f(); int main() { return f(); }")
    lab.sh("gcc -shared a.o -o folder/libs.so -Wl,-soname,libs.so.1 && g++ folder/b.o -o folder/program -Lfolder -l:libs.so -Wl,-rpath,'$ORIGIN'")
    lab.sh("mkdir -p wheel/pkg wheel/pkg-1.dist-info && cp folder/libs.so libx.a wheel/pkg/ && touch wheel/pkg-1.dist-info/RECORD")
    lab.write("wheel/pkg-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-linux_x86_64\n")
    lab.sh("cd wheel && python3 -m zipfile -c ../folder/pkg-1-py3-none-linux_x86_64.whl pkg pkg-1.dist-info")
    return ["folder", "missing.o", "a.o", "libx.a", "thin.a", "a.o", "libx.a"]


@pytest.mark.deep
@pytest.mark.parametrize("what", ["images", "symbols", "members", "needs"])
def test_rows_are_those_of_the_document(lab, mixture, what):
    rows = assert_same_rows(lab, what, *mixture, code=2)
    errors = [row["input"] for row in rows if row["row"] == "error"]
    wheel = "folder/pkg-1-py3-none-linux_x86_64.whl"
    assert errors == ["missing.o", "libx.a(cut.o)", f"{wheel}(pkg/libx.a(cut.o))"], "each once, in its place"
    if what == "symbols":
        assert {(row["path"], row["member"]) for row in rows if row["row"] == "symbol"} == {
            ("a.o", None), ("libx.a", "a.o"), ("thin.a", "a.o"), ("folder/b.o", None), ("folder/libs.so", None), ("folder/program", None),
            (wheel, "pkg/libs.so"), (wheel, "pkg/libx.a(a.o)"),
        }  # fmt: skip


def test_unreadable_inputs_of_rows_are_on_standard_error_too(lab, mixture):
    said = [lab.audit("list", "symbols", *mixture, "--format", form).err.splitlines() for form in ("json", "jsonl")]
    assert len(said[0]) == 3 and sorted(said[0]) == sorted(said[1])


def test_rows_of_device_code(device):
    for words in (["images"], ["images", "--details"], ["symbols", "--device"]):
        assert len(assert_same_rows(device, *words, "libefa.a", "internode.o")) > 2


def test_rows_of_foreign_device_code(lab):
    lab.sh("""printf '.section "__CLANG_OFFLOAD_BUNDLE__openmp-amdgcn-amd-amdhsa--gfx90a","e"\n.ascii "BC\\300\\336"\n' > a.s; as a.s -o a.o""")
    assert [row["row"] for row in assert_same_rows(lab, "images", "a.o")] == ["image", "foreign"]


def test_no_rows_are_no_lines(lab):
    lab.cc("a.o", "int f() { return 1; }")
    assert lab.audit("list", "images", "a.o", "--format", "jsonl").out == ""
    lab.sh("mkdir empty")
    assert [row["row"] for row in assert_same_rows(lab, "images", "empty", code=2)] == ["error"]


def test_rows_do_not_depend_on_threads_or_on_what_is_read_together(lab, mixture):
    lab.write("many", "\n".join(f"{name}{i}.o" for i in range(200) for name in ("x", "y")))
    for i in range(200):
        shutil.copy(lab.path / "a.o", lab.path / f"x{i}.o")
        os.link(lab.path / "folder" / "b.o", lab.path / f"y{i}.o")
    for what in ("symbols", "members"):
        outputs = [lab.audit("list", what, "@many", *mixture, "--format", "jsonl", "-j", jobs).out for jobs in (1, 2, 8)]
        assert len(set(outputs)) == 1
    single = "".join(lab.audit("list", "members", f"{name}{i}.o", "--format", "jsonl").out for i in range(70) for name in ("x", "y"))
    assert outputs[0].startswith(single)


def test_names_in_rows_that_are_no_utf8(lab):
    lab.sh(r"""printf '.globl "f\377\\n"\n.data\n"f\377\\n": .quad 1\n' > a.s; as a.s -o a.o; cp a.o $'b\377\n.o'""")
    rows = rows_of(lab, "symbols", ".")
    assert [row["path"] for row in rows] == ["./a.o", "./b\ufffd\n.o"] and {row["name"] for row in rows} == {"f\ufffd\n"}


@pytest.mark.deep
def test_memory_of_rows_does_not_grow_with_the_files(lab):
    """With one thread: what malloc keeps for another is up to 3 MB, a third of the whole here."""
    need_plain_program("AddressSanitizer keeps what is freed for a while")
    lab.write("a.cpp", "".join(f"int name_{i}_{'x' * 60}() {{ return {i}; }}\n" for i in range(400)))
    lab.sh("g++ -c a.cpp -o a.o")
    names = [f"{i}.o" for i in range(3000)]
    for name in names:
        os.link(lab.path / "a.o", lab.path / name)
    lab.write("all", "\n".join(names))
    lab.write("some", "\n".join(names[:300]))
    peaks = {}
    for form in ("jsonl", "json"):
        for names in ("some", "all"):
            run = f"import os, resource, subprocess; subprocess.run([os.environ['ELFAUDIT'], 'list', 'symbols', '@{names}', '--format', '{form}', '-j', '1'], stdout=subprocess.DEVNULL, check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
            lab.write("run.py", run)
            peaks[form, names] = int(lab.sh("python3 run.py").out)
    assert peaks["jsonl", "all"] < 1.2 * peaks["jsonl", "some"] and peaks["json", "all"] > 2 * peaks["jsonl", "all"], peaks


@pytest.fixture
def database(lab, monkeypatch):
    """DuckDB, in the lab's folder."""
    monkeypatch.syspath_prepend(next(TOOLS.parent.glob("lib/python3*/site-packages"), ""))
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(lab.path)
    return duckdb.connect()


QUERIES = re.findall(r"```sql\n(.*?)```", (SOURCE_DIR / "docs" / "fleet.md").read_text(), re.S)


def test_the_queries_of_the_docs_answer(lab, database):
    """docs/fleet.md: a program that loads two libraries with one name, and a copy of one of them."""
    load, symbols, twice, copies = QUERIES[:4]
    lab.write("a.c", "int shared_name(void) { return 1; } int a(void) { return 1; }\n")
    lab.write("b.c", "int shared_name(void) { return 2; } int b(void) { return 1; }\n")
    lab.sh("for i in a b; do gcc -shared -fPIC $i.c -o lib$i.so -Wl,-soname,lib$i.so; done; mkdir copy; cp liba.so copy; touch empty.so")
    lab.sh("echo 'int a(void); int b(void); int main(void) { return a() + b(); }' > m.c; gcc m.c -o m -L. -la -lb -Wl,-rpath,'$ORIGIN'")

    def rows_to(file, *words):
        lab.write(file, lab.audit("list", *words).out)

    rows_to("needs.jsonl", "needs", "--format", "jsonl", "liba.so", "libb.so", "copy/liba.so", "empty.so")
    rows_to("closure.json", "closure", "--format", "json", str(lab.path / "m"))
    database.sql(load)
    rows_to("symbols.jsonl", "symbols", "--format", "jsonl", "@loaded.txt")
    for query in symbols.split(";\n")[:-1]:
        result = database.sql(query)
    assert result.fetchall()[0][0] == "symbol"
    assert [row[2:5] for row in database.sql(twice).fetchall()] == [(1, "shared_name", 1)]
    assert [row[:2] for row in database.sql(copies).fetchall()] == [("liba.so", 2)]


def test_the_queries_about_wheels_answer(lab, database):
    """Two wheels with one file and one soname, in one of which two libraries define a name."""
    lab.sh("echo 'int twice(void) { return 1; }' > a.c; gcc -shared -fPIC a.c -o liba.so -Wl,-soname,liba.so")
    lab.sh("gcc -shared -fPIC a.c -o libb.so -Wl,-soname,libb.so -Wl,--no-as-needed -L. -la")
    files = {f"pkg/{name}": (lab.path / name).read_bytes() for name in ("liba.so", "libb.so")}
    wheel(lab, "one-1.0-cp311-cp311-linux_x86_64.whl", files)
    wheel(lab, "two-1.0-cp311-cp311-linux_x86_64.whl", {"pkg/liba.so": files["pkg/liba.so"]})
    for rows in ("needs", "symbols"):
        lab.write(f"{rows}.jsonl", lab.audit("list", rows, "--format", "jsonl", *sorted(map(str, lab.path.glob("*.whl")))).out)
        database.sql(f"create table {rows} as select * from read_json('{rows}.jsonl', format = 'newline_delimited')")
    same_file, same_soname, together, twice = QUERIES[4:8]
    database.sql(together)
    view, query = same_file.split(";\n")[:2]
    database.sql(view)
    assert database.sql(query).fetchall() == [("one", "two", "pkg/liba.so")]
    assert [row[:2] for row in database.sql(same_soname).fetchall()] == [("liba.so", 2)]
    assert database.sql(twice).fetchall() == [("one", "pkg/libb.so", "pkg/liba.so", 1, "twice")]
