"""elfaudit diff: which changes between two builds break users of the old one."""

import json

import pytest

from elfaudit_test import SOURCE_DIR, need, sampled
from elfaudit_wheels import wheel

need("gcc", "g++", "readelf")

F, G = "int f(void) { return 1; }\n", "int g(void) { return 2; }\n"
V1, V2 = "V1 { global: f; local: *; };", "V1 { global: f; local: *; }; V2 { global: g; } V1;"
STRUCT = "struct s { %s }; int f(struct s *p) { return p->a; }"
CLASS = "struct S { virtual ~S(); virtual void a(); %s }; S::~S() {} void S::a() {} void S::b() {}"
SONAME = "-Wl,-soname,libx.so."

# Name: both sources; options of both, and version scripts; the changes of one kind that must be there: impact, kind, subject.
PAIRS = {
    "added": (F, F + G, "", "", ["compatible export-added g"]),
    "removed": (F + G, F, "", "", ["breaks export-removed g"]),
    "hidden": (F + G, F + G.replace("int", '__attribute__((visibility("hidden"))) int', 1), "", "", ["breaks export-removed g"]),
    "alias": (F + 'int g(void) __attribute__((alias("f")));', F, "-g", "-g", ["breaks export-removed g"]),
    "thread-local": ("__thread int t; " + F, F, "", "", ["breaks export-removed t"]),
    "version gone": (F + G, F + G, V2, V1, ["breaks export-removed g@@V2", "breaks version-removed V2"]),
    "version gained": (F, F, "", V1, ["compatible export-version f@@V1", "compatible version-added V1"]),
    "version hidden": (F + G, F.replace("f(", "f1(") + G + '__asm__(".symver f1,f@V1");', "", V2,
                       ["note export-removed f", "compatible export-added f@V1"]),
    "no versions": (F, F, V1, "", ["breaks export-removed f@@V1", "breaks version-removed V1"]),
    "size": ("int v[2] = {1};", "int v[4] = {1};", "", "", ["breaks export-size v"]),
    "soname": (F + G, F, SONAME + "1", SONAME + "2", ["note export-removed g", "note soname None"]),
    "needed": (F, F, "", "-Wl,--no-as-needed -lm", ["note needed-added libm.so.6"]),
    "stack": (F, F, "", "-Wl,-z,execstack", ["note stack None"]),
    "struct": (STRUCT % "int a;", STRUCT % "int z, a;", "-g", "-g", ["breaks type s"]),
    "half": (STRUCT % "int a;", STRUCT % "int z, a;", "-g", "", []),
    "parameter": ("int f(int a) { return a; }", "int f(long a) { return a; }", "-g", "-g", ["breaks declaration f"]),
}  # fmt: skip
CXX_PAIRS = {
    "virtual": (CLASS % "void b();", CLASS % "virtual void b();", "", "", ["breaks export-size _ZTV1S"]),
    "template": ("template <class T> int f(T) { return 1; } template int f<int>(int);", "int g() { return 1; }", "-g", "",
                 ["breaks export-removed _Z1fIiEiT_", "compatible export-added _Z1gv"]),
    "inline": ("inline int h() { return 1; } int f() { return h(); }", "int f() { return 1; }", "-O0", "", ["note export-removed _Z1hv"]),
    "std": ("#include <vector>\nint f(std::vector<int> &v) { v.clear(); return 0; }", "int f(void *) { return 0; }", "-O0", "",
            ["breaks export-removed _Z1fRSt6vectorIiSaIiEE", "note export-removed _ZNSt6vectorIiSaIiEE5clearEv", "compatible export-added _Z1fPv"]),
}  # fmt: skip


def library(lab, build, source, options="", compiler="gcc"):
    """Builds BUILD/libx.so and returns its name; what begins like a version script among the options is one."""
    if options.startswith("V1 {"):
        options = "-Wl,--version-script=" + lab.write(f"{build}/map", options)
    name = lab.write(f"{build}/x{'.c' if compiler == 'gcc' else '.cpp'}", source)
    lab.sh(f"{compiler} -shared -fPIC {name} -o {build}/libx.so {options}")
    return f"{build}/libx.so"


def diff(lab, *words):
    result = lab.audit("diff", "--format", "json", *words)
    document = result.json()
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(document, json.loads((SOURCE_DIR / "schema/elfaudit-diff-1.schema.json").read_text()))
    return result.code, document


def changes(document):
    return [f"{change['impact']} {change['kind']} {change['subject']}" for file in document["files"] for change in file["changes"]]


@pytest.mark.parametrize("name", sampled([*PAIRS, *CXX_PAIRS], 2))
def test_changes_are_judged(lab, name):
    old, new, old_options, new_options, expected = {**PAIRS, **CXX_PAIRS}[name]
    compiler = "g++" if name in CXX_PAIRS else "gcc"
    code, document = diff(lab, library(lab, "old", old, old_options, compiler), library(lab, "new", new, new_options, compiler))
    found = changes(document)
    assert [change for change in expected if change not in found] == [], found
    breaks = [change for change in found if change.startswith("breaks")]
    assert code == (1 if breaks else 0) and breaks == [change for change in expected if change.startswith("breaks")]


def test_half_an_answer_is_said_to_be_one(lab):
    old, new = library(lab, "old", STRUCT % "int a;", "-g"), library(lab, "new", STRUCT % "int z, a;")
    assert "unknown: NEW has no debug info of types" in lab.audit("diff", old, new).out
    assert "no change in 1 file" in lab.audit("diff", old, old).out and "unknown" not in lab.audit("diff", old, old).out


def test_an_opaque_struct_of_a_source_file_is_a_note(lab):
    lab.write("x.h", "typedef struct s s;\ntypedef struct p { int n; } p;\ns *make(void);\nint use(p *q);\n")
    source = '#include "../x.h"\nstruct s { %s }; static s one; s *make(void) { return &one; } int use(p *q) { return q->n; }'
    code, document = diff(lab, library(lab, "old", source % "int a;", "-g"), library(lab, "new", source % "int a, b;", "-g"))
    assert code == 0 and changes(document) == ["note type s"]


def test_files_of_directories_are_matched(lab):
    library(lab, "old", F + G, SONAME + "1")
    library(lab, "new", F, SONAME + "1")
    lab.sh("mv old/libx.so old/libx.so.1.2; mv new/libx.so new/libx.so.1.3; cp old/libx.so.1.2 old/plugin.so")
    code, document = diff(lab, "old", "new")
    files = [(file["before"], file["after"], [change["kind"] for change in file["changes"]]) for file in document["files"]]
    assert code == 1 and files == [("libx.so.1.2", "libx.so.1.3", ["export-removed"]), ("plugin.so", None, ["file-removed"])]


def test_files_that_may_be_several_are_notes(lab):
    built = library(lab, "built", F)
    for name in ("old/a/libx.so", "old/b/libx.so", "new/c/libx.so", "new/d/libx.so", "old/x-1.0/lib/liby.so", "new/x-1.1/lib/liby.so"):
        (lab.path / name).parent.mkdir(parents=True, exist_ok=True)
        lab.sh(f"cp {built} {name}")
    code, document = diff(lab, "old", "new")
    assert code == 0 and changes(document) == ["note file-removed None"] * 2 + ["compatible file-added None"] * 2
    assert ("x-1.0/lib/liby.so", "x-1.1/lib/liby.so") in [(file["before"], file["after"]) for file in document["files"]]


def test_a_function_that_moved_to_a_needed_library_is_a_note(lab):
    library(lab, "old", F + G)
    library(lab, "new", G, "-Wl,-soname,liby.so")
    lab.sh("mv new/libx.so new/liby.so")
    library(lab, "new", F, "-Wl,--no-as-needed new/liby.so")
    assert "note        g is not exported any more: liby.so exports it, which NEW needs" in lab.audit("diff", "old", "new").out


def test_archives_are_compared_by_what_their_members_define(lab):
    for build, source in (("old", F + G), ("new", "__attribute__((weak)) " + F)):
        lab.cc(f"{build}.o", source, "gcc")
        lab.ar(f"{build}.a", f"{build}.o")
    assert changes(diff(lab, "old.a", "new.a")[1]) == ["breaks export-removed g", "note export-binding f"]


def test_modules_in_wheels(lab):
    library(lab, "old", "int PyInit_x(void) { return 0; }\n" + F)
    library(lab, "new", G)
    for version, build in (("1.0", "old"), ("1.1", "new")):
        wheel(lab, f"x-{version}-cp310-cp310-linux_x86_64.whl", {"x/x.cpython-310-x86_64-linux-gnu.so": (lab.path / build / "libx.so").read_bytes()})
    found = changes(diff(lab, *sorted(map(str, lab.path.glob("*.whl"))))[1])
    assert found == ["breaks export-removed PyInit_x", "note export-removed f", "compatible export-added g"]


def test_gpu_architectures(lab):
    images = SOURCE_DIR / "testdata" / "efa-device" / "prebuilt"
    code, document = diff(lab, images / "internode.o", images / "efa_device_state.o")
    assert code == 1 and {row["target"] for row in document["files"][0]["device_code"]} == {"sm_80", "sm_90a"}
    assert "note device-size sm_80" in changes(document)


def test_markdown_has_no_markup_of_names(lab):
    old, new = library(lab, "old", "template <class T> int f_(T) { return 1; } template int f_<int>(int);", "-g", "g++"), library(lab, "new", G)
    out = lab.audit("diff", "--format", "markdown", old, new).out
    assert "| breaks | int f&#95;&#60;int&#62;(int) is not exported any more |" in out


def test_exit_codes(lab):
    old, new = library(lab, "old", F), library(lab, "new", F + G)
    assert [lab.audit("diff", "--fail-on", what, old, new).code for what in ("breaks", "changes")] == [0, 1]
    lab.write("text", "no ELF\n")
    for missing in ("text", "nothing.so"):
        result = lab.audit("diff", old, missing)
        assert result.code == 2 and f"elfaudit: {missing}: " in result.err and "breaks " not in result.out
