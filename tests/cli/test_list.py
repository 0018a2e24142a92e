"""The list command: what is in some files."""

import json

import pytest

from elfaudit_test import SOURCE_DIR, need

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


@pytest.mark.parametrize("what", ["images", "symbols", "members"])
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
    for what in ("images", "symbols", "members"):
        options = {word.rstrip(",") for word in lab.audit("list", what, "--help").out.split() if word.startswith("--")} - {"--help"}
        options = {option for word in options for option in word.split(",") if option.startswith("--")}
        assert options and [option for option in sorted(options) if option not in page] == []


def test_format_before_several_files(lab):
    lab.cc("a.o", "int a;", "g++")
    lab.cc("b.o", "int b;", "g++")
    rows = lab.audit("list", "symbols", "--format", "json", "a.o", "b.o").json()["symbols"]
    assert [row["input"] for row in rows] == ["a.o", "b.o"]
