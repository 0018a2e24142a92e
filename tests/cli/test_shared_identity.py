"""Things of which a process must have one and has two: type-identity-split, registered-twice, split-state of copies that
no file exports, and dependency-exported."""

import pytest

from elfaudit_test import need

need("gcc", "g++")

RULES = ("type-identity-split", "registered-twice", "split-state", "dependency-exported", "dependency-visible")
RPATH = "-L. -Wl,-rpath,'$ORIGIN'"


def found(lab, *words):
    report = lab.audit("check", "--format", "json", *words).json()
    return [f for f in report["findings"] if f["rule"] in RULES]


def rules(lab, *words):
    return [f["rule"] for f in found(lab, *words)]


def shared(lab, path, source, options="", driver="gcc"):
    """A shared object of one source."""
    lab.write(f"{path}.cpp" if driver != "gcc" else f"{path}.c", source)
    language = "c++" if driver != "gcc" else "c"
    lab.sh(f"gcc -x {language} -shared -fPIC {path}.{'cpp' if driver != 'gcc' else 'c'} -x none {options} -o {path}")


# type-identity-split. The runtime is a stub: libc++ need not be there.

RUNTIME = """
char __cxa_allocate_exception, __gxx_personality_v0, __cxa_throw, __cxa_begin_catch, __cxa_end_catch, __dynamic_cast,
  _ZTVN10__cxxabiv117__class_type_infoE, _ZTVN10__cxxabiv120__si_class_type_infoE, _ZdlPvm, _Znwm;
"""
TYPES = """
struct Error { int code; };
struct Base { virtual int v() { return 0; } };
struct Derived : Base { int v() override { return 1; } };
#define API __attribute__((visibility("default")))
API void fail(int); API Base *make();
"""
MAKER = TYPES + "void fail(int x) { throw Error{x}; }\nBase *make() { return new Derived; }\n"
ASKER = TYPES + """
int ask() { try { fail(1); } catch (Error &) { return dynamic_cast<Derived *>(make()) != nullptr; } return 2; }
int main() { return ask(); }
"""
ALONE = TYPES + "void fail(int x) { try { if (x) throw Error{x}; } catch (Error &) { } }\nBase *make() { return new Derived; }\n"


def build_types(lab, runtime="libc++abi.so.1", visibility="hidden", maker=MAKER, asker=ASKER, link="", strip=""):
    lab.write("runtime.c", RUNTIME)
    lab.write("maker.cpp", maker)
    lab.write("asker.cpp", asker)
    lab.sh(f"gcc -shared -fPIC -w -fno-builtin -Wl,-soname,{runtime} runtime.c -o {runtime}")
    lab.sh(f"gcc -O1 -g -shared -fPIC -fvisibility={visibility} maker.cpp {link} {strip} {RPATH} -l:{runtime} -o libmaker.so")
    lab.sh(f"gcc -O1 -g -c asker.cpp && gcc {strip} asker.o {RPATH} -lmaker -l:{runtime} -o asker")


def test_a_class_that_libcxx_takes_for_two(lab):
    build_types(lab)
    for words in (["asker"], ["--", *f"gcc asker.o {RPATH} -lmaker -l:libc++abi.so.1 -o asker".replace("'", "").split()]):
        (finding,) = found(lab, *words)
        assert finding["rule"] == "type-identity-split" and finding["severity"] == "warning"
        assert {"_ZTI5Error", "_ZTI7Derived"} <= set(finding["symbols"])
        assert "an exception or dynamic_cast from one to the other fails" in finding["message"]
        assert "visibility" in finding["fixes"][0]["text"]


@pytest.mark.parametrize("change, expected", [
    (dict(visibility="default"), []),
    (dict(runtime="libstdc++.so.6"), []),
    (dict(maker=ALONE, asker=TYPES + "int main() { try { fail(1); throw Error{2}; } catch (Error &) { return 1; } }"), []),
    (dict(visibility="default", link="-Wl,--version-script=maker.map"), ["type-identity-split"]),
    (dict(strip="-s"), []),
])
def test_when_a_type_is_split(lab, change, expected):
    """One of both when exported; libstdc++ compares names; classes that do not cross; a version script; nothing known."""
    lab.write("maker.map", "{ global: _Z4faili; _Z4makev; local: *; };")
    build_types(lab, **change)
    assert rules(lab, "asker") == expected


def test_a_plugin_and_a_program_that_exports_no_types(lab):
    build_types(lab, visibility="default")
    host = TYPES + """extern "C" void *dlopen(const char *, int); extern "C" void *dlsym(void *, const char *);
        int main() { try { ((void (*)(int))dlsym(dlopen("libmaker.so", 2), "_Z4faili"))(1); } catch (Error &) { return 0; } }"""
    lab.write("host.cpp", host)
    for option, expected in (("", ["type-identity-split"]), ("-rdynamic", [])):
        lab.sh(f"gcc -O1 host.cpp {option} {RPATH} -l:libc++abi.so.1 -o host")
        assert rules(lab, "host", "libmaker.so") == expected


# registered-twice

REGISTRIES = {
    "libprotobuf.so.32": ("struct T { const char *name; }; namespace google { namespace protobuf { struct DescriptorTable; namespace internal {"
                          "struct AddDescriptorsRunner { AddDescriptorsRunner(const DescriptorTable *); }; } } }",
                          "namespace google { namespace protobuf { struct DescriptorTable { int i; }; } } SEE google::protobuf::DescriptorTable"
                          " descriptor_table_dir_2fm_2eproto; static google::protobuf::internal::AddDescriptorsRunner"
                          " runner(&descriptor_table_dir_2fm_2eproto);",
                          "google::protobuf::internal::AddDescriptorsRunner::AddDescriptorsRunner(const DescriptorTable *) {}"),
    "libgflags.so.2.2": ("namespace google { struct FlagRegisterer { FlagRegisterer(const char *, int *); }; }",
                         "namespace fLI { SEE int FLAGS_level = 3; static google::FlagRegisterer o_level(\"level\", &FLAGS_level); }",
                         "google::FlagRegisterer::FlagRegisterer(const char *, int *) {}"),
    "libabsl_flags_reflection.so": ("namespace absl { namespace flags_internal { struct Flag; bool RegisterCommandLineFlag(Flag &); } }",
                                    "namespace absl { namespace flags_internal { struct Flag { int i; }; } } SEE absl::flags_internal::Flag FLAGS_level;"
                                    " static bool done = absl::flags_internal::RegisterCommandLineFlag(FLAGS_level);",
                                    "bool absl::flags_internal::RegisterCommandLineFlag(Flag &) { return true; }"),
}


def build_registry(lab, library, see=("HIDDEN", "HIDDEN"), own=False):
    header, thing, function = REGISTRIES[library]
    lab.write("registry.cpp", header + function)
    lab.sh(f"gcc -shared -fPIC -Wl,-soname,{library} registry.cpp -o {library}; ln -sf {library} libregistry.so")
    needed = "registry.cpp" if own else "-lregistry"
    for name, visible in zip("ab", see):
        lab.write(f"{name}.cpp", header + thing + f"\nextern \"C\" __attribute__((visibility(\"default\"))) int {name}() {{ return 1; }}")
        see_as = "-DSEE=" if visible == "DEFAULT" else "-D'SEE=__attribute__((visibility(\"hidden\")))'"
        lab.sh(f"gcc -shared -fPIC {see_as} {'-fvisibility=hidden' if own else ''} {name}.cpp {needed} {RPATH} -o lib{name}.so")
    lab.write("main.c", "int a(void), b(void); int main(void) { return a() + b() - 2; }")
    lab.sh(f"gcc main.c {RPATH} -la -lb -o main")


@pytest.mark.parametrize("library, name", [("libprotobuf.so.32", "file dir/m.proto"), ("libgflags.so.2.2", "flag level"),
                                           ("libabsl_flags_reflection.so", "flag level")])
def test_one_registry_gets_it_twice(lab, library, name):
    build_registry(lab, library)
    (finding,) = found(lab, "main")
    assert finding["rule"] == "registered-twice" and f" {name} in one registry" in finding["message"], finding
    assert [s["path"].split("/")[-1] for s in finding["sites"]] == ["liba.so", "libb.so"]
    assert rules(lab, "liba.so", "libb.so") == ["registered-twice"]


def test_what_a_registry_has_seen(lab):
    """protobuf skips a table that both files export, gflags does not; and each file may have a registry of its own."""
    build_registry(lab, "libprotobuf.so.32", ("DEFAULT", "DEFAULT"))
    assert rules(lab, "main") == []
    build_registry(lab, "libprotobuf.so.32", ("DEFAULT", "HIDDEN"))
    assert "registered-twice" in rules(lab, "main")
    build_registry(lab, "libgflags.so.2.2", ("DEFAULT", "DEFAULT"))
    assert rules(lab, "main") == ["registered-twice"]
    build_registry(lab, "libgflags.so.2.2", own=True)
    assert "registered-twice" not in rules(lab, "main")


# split-state of one archive in two files

STATE = "int level_state = 4; int bump(void) { return ++level_state; }"
USER = "int bump(void); int lib_bump(void) { return bump(); }"
MAIN = "int bump(void), lib_bump(void); int main(void) { bump(); return lib_bump() != 6; }"


def build_state(lab, options="-Wl,--exclude-libs,ALL", state=STATE):
    lab.write("st.c", state)
    lab.write("main.c", MAIN)
    lab.sh("gcc -g -fPIC -c st.c main.c && ar rc libst.a st.o")
    shared(lab, "libq.so", USER, f"libst.a {options}")
    lab.sh(f"gcc main.o libst.a {RPATH} -lq -o exe")


def test_an_archive_in_a_program_and_its_library(lab):
    build_state(lab)
    assert lab.sh("./exe", check=False).code == 1
    (finding,) = found(lab, "exe")
    assert finding["message"] == "exe and libq.so each have their own level_state, and are loaded together"
    (finding,) = found(lab, "--", "gcc", "main.o", "libst.a", "-L.", "-lq", "-o", "exe")
    assert finding["sites"][0]["member"] == "st.o" and finding["sites"][0]["line"] == 1, finding
    assert finding["fixes"][0]["text"].startswith("link libst.a into libq.so alone")
    shared(lab, "libq.so", USER, "-Wl,--whole-archive libst.a -Wl,--no-whole-archive")
    lab.sh(f"gcc main.o {RPATH} -lq -o exe && ./exe")
    assert found(lab, "exe") == []


def test_two_libraries_that_hide_the_same_code(lab):
    build_state(lab)
    shared(lab, "libr.so", USER.replace("lib_bump", "other"), "libst.a -Wl,--exclude-libs,ALL")
    lab.write("two.c", "int lib_bump(void), other(void); int main(void) { return lib_bump() + other(); }")
    lab.sh(f"gcc two.c {RPATH} -lq -lr -o two")
    assert rules(lab, "two") == ["split-state"] and rules(lab, "libq.so", "libr.so") == ["split-state"]


@pytest.mark.parametrize("state, main", [
    ("__attribute__((visibility(\"hidden\"))) int debug; int bump(void) { return debug; }", "int debug; int bump(void); int main(void) { return debug + bump(); }"),
    ("__attribute__((visibility(\"hidden\"))) int debug, verbose; int bump(void) { return debug; }",
     "int debug, verbose; int bump(void); int main(void) { return debug + bump(); }"),
])
def test_names_by_chance(lab, state, main):
    shared(lab, "libq.so", state)
    lab.write("main.c", main)
    lab.sh(f"gcc main.c {RPATH} -lq -o exe")
    assert found(lab, "exe") == []


def test_code_that_both_export_is_one_archive(lab):
    build_state(lab, "")
    report = lab.audit("check", "--format", "json", "--", "gcc", "main.o", "libst.a", "-L.", "-lq", "-o", "exe").json()
    (finding,) = [f for f in report["findings"] if f["rule"] == "interposed-definition"]
    assert "level_state comes with it" in finding["notes"][1] and "libst.a into libq.so alone" in finding["fixes"][0]["text"]


# dependency-exported

ZLIB = "int inflateInit2_(void) { return BASE; } int inflate(void) { return BASE; } int deflate(void) { return BASE; }"
CALLS = "int inflateInit2_(void), inflate(void), deflate(void); int NAME(void) { return inflateInit2_() + inflate() + deflate(); }"


def build_zlib(lab, first="libz.a", second="-l:libz.so.1"):
    lab.write("z.c", ZLIB)
    lab.sh("gcc -g -fPIC -DBASE=1 -c z.c && ar rc libz.a z.o && gcc -shared -fPIC -DBASE=100 z.c -Wl,-soname,libz.so.1 -o libz.so.1")
    shared(lab, "libx.so", CALLS, f"-DNAME=x {first} {RPATH}")
    shared(lab, "liby.so", CALLS, f"-DNAME=y {second} {RPATH}")
    lab.write("m.c", "int x(void), y(void); int main(void) { return x() + y() < 100; }")
    lab.sh(f"gcc m.c {RPATH} -lx -ly -o m")


def test_a_copy_that_another_file_gets(lab):
    build_zlib(lab)
    assert lab.sh("./m", check=False).code == 1
    (finding,) = found(lab, "m")
    assert finding["message"] == "libx.so exports a copy of zlib, and liby.so, which needs the shared library, calls that copy"
    assert finding["symbols"] == ["deflate", "inflate", "inflateInit2_"]
    assert finding["fixes"][0]["text"] == "link libx.so with -Wl,--exclude-libs,libz.a"
    assert rules(lab, "libx.so") == [] and rules(lab, "--enable", "dependency-visible", "libx.so") == ["dependency-visible"]
    build_zlib(lab, first="libz.a -Wl,--exclude-libs,libz.a")
    lab.sh("./m")
    assert found(lab, "m") == []


@pytest.mark.parametrize("first, second, expected", [
    ("libz.a", "libz.a", ["dependency-exported"]),
    ("-l:libz.so.1", "libz.a", ["dependency-exported"]),  # liby.so comes before libz.so.1
    ("-l:libz.so.1", "-l:libz.so.1", []),
    ("libz.a -Wl,--exclude-libs,ALL", "libz.a", []),
])
def test_who_gets_whose(lab, first, second, expected):
    build_zlib(lab, first, second)
    assert rules(lab, "m") == expected


def test_a_link_that_will_export_it(lab):
    build_zlib(lab)
    lab.write("app.c", "int inflateInit2_(void), inflate(void), deflate(void), y(void); int main(void) { return inflateInit2_() + inflate() + deflate() + y(); }")
    lab.sh("gcc -g -c app.c")
    line = ["gcc", "app.o", "libz.a", "-L.", "-ly", "-o", "app"]
    (finding,) = found(lab, "--", *line)
    assert finding["sites"][0]["member"] == "z.o" and finding["fixes"][0]["text"].endswith("--exclude-libs,libz.a")
    assert found(lab, "--", *line, "-Wl,--exclude-libs,libz.a") == []
