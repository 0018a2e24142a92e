"""The rules about libraries that are loaded: what `elfaudit check` says of programs and shared objects, held against the
real loader where it can judge (the program is run, ldd -r)."""

import pathlib
import re
import struct

import pytest

from elfaudit_test import SOURCE_DIR, need

need("gcc", "g++")


def library(lab, path, source="int f;", options=""):
    """A shared object; `options` name what it needs."""
    (lab.path / path).parent.mkdir(parents=True, exist_ok=True)
    name = pathlib.Path(path).name
    lab.write(f"{name}.c", source)
    lab.sh(f"gcc -shared -fPIC -Wl,-soname,{name} {name}.c -Wl,--no-as-needed {options} -o {path}")
    return path


def program(lab, source, options="", name="main"):
    lab.write(f"{name}.c", source)
    lab.sh(f"gcc {name}.c {options} -o {name}")
    return name


def findings(lab, *words, rule=None, code=None):
    result = lab.audit("check", "--format", "json", *words)
    assert code is None or result.code == code, result
    return [f for f in result.json()["findings"] if rule in (None, f["rule"])]


def only(lab, *words, rule, severity):
    found = findings(lab, *words, rule=rule)
    assert len(found) == 1 and found[0]["severity"] == severity, found
    return found[0]


def runs(lab, command):
    return lab.sh(command, check=False).code == 0


# needed-not-found


def test_a_program_without_its_library(lab):
    library(lab, "deps/libx.so.3", "int f(void) { return 1; }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "deps/libx.so.3")
    lab.sh("mv deps/libx.so.3 deps/away; mkdir deps/below; mv deps/away deps/below/libx.so.3")
    assert not runs(lab, "./main")
    finding = only(lab, "main", rule="needed-not-found", severity="error")
    assert "main needs" in finding["message"] and "libx.so.3, which is not found" in finding["message"]


def test_where_it_is_and_what_would_find_it(lab):
    library(lab, "deps/libx.so.3", "int f(void) { return 1; }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-Ldeps -l:libx.so.3")
    finding = only(lab, "main", rule="needed-not-found", severity="error")
    assert finding["sites"][1]["path"] == "deps/libx.so.3"
    assert "-Wl,-rpath,'$ORIGIN/deps'" in finding["fixes"][0]["text"]
    assert findings(lab, "--library-path", str(lab.path / "deps"), "main", code=0) == []
    lab.sh("gcc main.c -Ldeps -l:libx.so.3 -Wl,-rpath,'$ORIGIN/deps' -o main")
    assert runs(lab, "./main") and findings(lab, "main", code=0) == []


def test_a_library_of_a_library_is_told_once(lab):
    library(lab, "libdeep.so", "int g(void) { return 1; }")
    library(lab, "liba.so", "int g(void); int f(void) { return g(); }", "-L. -ldeep")
    for name in ("one", "two"):
        program(lab, "int f(void); int main(void) { return f(); }", "liba.so -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,.", name)
    lab.sh("rm libdeep.so")
    finding = only(lab, "one", "two", rule="needed-not-found", severity="error")
    assert "liba.so needs libdeep.so" in finding["message"] and finding["sites"][0]["notes"] == ["loaded by one and 1 more"]


def test_a_module_of_python_may_find_it_loaded(lab):
    library(lab, "lib/libtorch.so", "int f(void) { return 1; }")
    library(lab, "_C.cpython-311-x86_64-linux-gnu.so", "int f(void); int PyInit__C(void) { return f(); }", "-Llib -ltorch")
    finding = only(lab, "_C.cpython-311-x86_64-linux-gnu.so", rule="needed-not-found", severity="warning")
    assert "imported before it" in " ".join(finding["notes"])


def test_nvshmem_as_an_rpm_installs_it(lab):
    lab.sh(f"'{SOURCE_DIR}/testdata/nvshmem-rpm/build' image")
    words = ("--root", "image", "image/opt/deep_ep/deep_ep_cpp.so")
    found = findings(lab, *words, rule="needed-not-found", code=1)
    assert [f["message"].split(" needs ")[1].split(",")[0] for f in found] == ["libnvshmem_host.so.3", "nvshmem_bootstrap_uid.so.3"]
    assert "-Wl,-rpath,'/usr/lib64/nvshmem/13'" in found[0]["fixes"][0]["text"]
    lab.write("image/etc/ld.so.conf", "/usr/lib64/nvshmem/13\n")
    assert findings(lab, *words, rule="needed-not-found") == []
    finding = only(lab, *words, rule="needed-unused", severity="warning")
    assert "uses nothing of it" in finding["message"] and "nvshmem_bootstrap_uid" in finding["fixes"][0]["text"]


def test_the_link_name_of_a_library_that_has_only_a_soname(lab):
    library(lab, "lib/libnvshmem_host.so.3")
    lab.cc("a.o", "int f() { return 1; }")
    result = lab.audit("check", "--", "g++", "-shared", "a.o", "-Llib", "-l:libnvshmem_host.so", "-o", "x.so")
    assert result.code == 2 and "-l:libnvshmem_host.so.3" in result.out


# needed-unused


def test_a_library_that_nothing_uses(lab):
    library(lab, "libused.so", "int f(void) { return 1; }")
    library(lab, "libidle.so", "int g(void) { return 1; }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-Wl,--no-as-needed -L. -lused -lidle -Wl,-rpath,'$ORIGIN'")
    assert "libidle.so" in lab.sh("ldd -u main", check=False).out
    finding = only(lab, "main", rule="needed-unused", severity="warning")
    assert "libidle.so" in finding["message"] and "-lidle" in finding["fixes"][0]["text"]


def test_idle_libraries_of_one_file_are_one_finding(lab):
    for name in ("one", "two"):
        library(lab, f"lib{name}.so", f"int {name}(void) {{ return 1; }}")
    program(lab, "int main(void) { return 0; }", "-Wl,--no-as-needed -L. -lone -ltwo -Wl,-rpath,'$ORIGIN'")
    finding = only(lab, "main", rule="needed-unused", severity="warning")
    assert "needs libone.so, libtwo.so and uses nothing of them" in finding["message"] and len(finding["sites"]) == 3
    assert "leave -lone -ltwo out" in finding["fixes"][0]["text"]


def test_a_library_is_used_by_another_that_does_not_name_it(lab):
    library(lab, "libprovider.so", "int g(void) { return 1; }")
    library(lab, "libuser.so", "int g(void); int f(void) { return g(); }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-Wl,--no-as-needed -L. -luser -lprovider -Wl,-rpath,'$ORIGIN'")
    assert runs(lab, "./main") and findings(lab, "main", rule="needed-unused") == []


# runpath-unsafe


@pytest.mark.parametrize("directory, says", [
    ("/home/ci/build/lib", "is in a home directory"),
    ("/tmp/elfaudit-nowhere/lib", "anybody"),
    ("lib", "is relative"),
    ("", "is empty"),
    ("$ORIGIN/../lib", None),
    ("/usr/lib/something", None),
])
def test_unsafe_directories(lab, directory, says):
    library(lab, "libx.so")
    program(lab, "int main(void) { return 0; }", f"-Wl,-rpath,'{directory}:$ORIGIN'")
    found = findings(lab, "main", rule="runpath-unsafe")
    assert [says in f["message"] for f in found] == ([] if says is None else [True]), found


def test_a_directory_that_anybody_can_write_to(lab):
    lab.sh("mkdir -m 777 open")
    program(lab, "int main(void) { return 0; }", f"-Wl,-rpath,{lab.path}/open")
    assert "anybody can write" in only(lab, "main", rule="runpath-unsafe", severity="warning")["message"]


# version-unmet


def versioned(lab, versions):
    lab.write("map", "".join(f"V{v} {{ global: f{v}; local: *; }};\n" for v in versions))
    library(lab, "libv.so", "".join(f"int f{v}(void) {{ return {v}; }}\n" for v in versions), "-Wl,--version-script=map")


def test_a_version_that_the_library_has_no_more(lab):
    versioned(lab, (1, 2))
    program(lab, "int f2(void); int main(void) { return f2() - 2; }", "-L. -lv -Wl,-rpath,'$ORIGIN'")
    assert runs(lab, "./main") and findings(lab, "main", code=0) == []
    versioned(lab, (1,))
    assert not runs(lab, "./main")
    finding = only(lab, "main", rule="version-unmet", severity="error")
    assert "needs version V2 of libv.so" in finding["message"] and finding["sites"][0]["notes"] == ["for f2"]


def test_a_library_without_versions_passes_with_a_word(lab):
    versioned(lab, (1,))
    program(lab, "int f1(void); int main(void) { return f1() - 1; }", "-L. -lv -Wl,-rpath,'$ORIGIN'")
    library(lab, "libv.so", "int f1(void) { return 1; }")
    assert runs(lab, "./main")
    only(lab, "main", rule="version-unmet", severity="warning")


def test_a_library_renamed_in_dt_needed_alone(lab):
    """As a tool does that repairs wheels and forgets .gnu.version_r: ld.so ends in an assertion."""
    versioned(lab, (1,))
    program(lab, "int f1(void); int main(void) { return f1() - 1; }", "-L. -lv -Wl,-rpath,'$ORIGIN'")
    lab.sh("cp libv.so ibv.so")
    image = bytearray((lab.path / "main").read_bytes())
    rename_needed(image)
    (lab.path / "main").write_bytes(image)
    assert not runs(lab, "./main")
    found = findings(lab, "main", rule="version-unmet")
    assert [f["severity"] for f in found] == ["error"] and "which it doesn't load" in found[0]["message"]


def rename_needed(image):
    """DT_NEEDED "libv.so" becomes "ibv.so", in the same string table."""
    offset = struct.unpack_from("<Q", image, 32)[0]
    for i in range(struct.unpack_from("<H", image, 56)[0]):
        kind, _, at, _, _, size = struct.unpack_from("<IIQQQQ", image, offset + 56 * i)
        if kind == 2:  # PT_DYNAMIC
            for entry in range(at, at + size, 16):
                tag, value = struct.unpack_from("<QQ", image, entry)
                if tag == 1:
                    struct.pack_into("<QQ", image, entry, tag, value + 1)
                    return


# runtime-duplicated


def test_two_majors_of_one_library(lab):
    library(lab, "libcudart.so.12", "int f(void) { return 1; }")
    library(lab, "libcudart.so.13", "int g(void) { return 1; }")
    library(lab, "libdeep.so", "int g(void); int h(void) { return g(); }", "-L. -l:libcudart.so.13")
    program(lab, "int f(void), h(void); int main(void) { return f() - h(); }",
            "-L. -l:libcudart.so.12 -ldeep -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,.")
    lab.sh("gcc main.c -L. -l:libcudart.so.12 -ldeep -Wl,--disable-new-dtags,-rpath,'$ORIGIN' -Wl,-rpath-link,. -o main")
    finding = only(lab, "main", rule="runtime-duplicated", severity="warning")
    assert "libcudart.so.12 and libcudart.so.13" in finding["message"]
    assert finding["sites"][1]["notes"] == ["needed by libdeep.so"]


def test_two_openmp_runtimes_by_what_they_define(lab):
    library(lab, "libgomp.so.1", "void GOMP_parallel(void) {} int omp_get_thread_num(void) { return 0; }")
    library(lab, "libiomp5.so", "void __kmpc_fork_call(void) {} int omp_get_thread_num(void) { return 0; }")
    library(lab, "libuser.so", "int omp_get_thread_num(void); int f(void) { return omp_get_thread_num(); }")
    program(lab, "void GOMP_parallel(void), __kmpc_fork_call(void); int main(void) { GOMP_parallel(); __kmpc_fork_call(); return 0; }",
            "-L. -l:libgomp.so.1 -liomp5 -Wl,-rpath,'$ORIGIN'")
    assert "both are an OpenMP runtime" in only(lab, "main", rule="runtime-duplicated", severity="warning")["message"]


def test_a_static_copy_of_a_loaded_library(lab):
    source = "\n".join(f"int api_{i}(void) {{ return {i}; }}" for i in range(20))
    library(lab, "libflags.so", source)
    lab.write("all.map", "{ global: use; local: *; };")
    library(lab, "libuser.so", source + "\nint use(void) { return api_1(); }", "-Wl,--version-script=all.map")
    program(lab, "int use(void), api_2(void); int main(void) { return use() + api_2() - 3; }",
            "-L. -luser -lflags -Wl,-rpath,'$ORIGIN'")
    finding = only(lab, "main", rule="runtime-duplicated", severity="warning")
    assert "libuser.so has a copy of libflags.so inside" in finding["message"]


# undefined-symbol, over what is loaded


def test_a_symbol_that_nothing_defines_any_more(lab):
    library(lab, "libx.so", "int f(void) { return 1; } int g(void) { return 2; }")
    program(lab, "int f(void), g(void); int main(void) { return f() + g() - 3; }", "-L. -lx -Wl,-rpath,'$ORIGIN'")
    assert findings(lab, "main", code=0) == []
    library(lab, "libx.so", "int f(void) { return 1; }")
    assert not runs(lab, "LD_BIND_NOW=1 ./main") and "undefined symbol: g" in lab.sh("ldd -r main 2>&1", check=False).out
    finding = only(lab, "main", rule="undefined-symbol", severity="error")
    assert finding["symbol"] == "g"


def test_weak_symbols_may_stay_undefined(lab):
    program(lab, "__attribute__((weak)) int f(void); int main(void) { return f ? 1 : 0; }")
    assert findings(lab, "main", code=0) == []


def test_a_plugin_gets_symbols_from_its_program(lab):
    library(lab, "plugin.so", "int host(void); int f(void) { return host(); }")
    finding = only(lab, "plugin.so", rule="undefined-symbol", severity="note")
    assert finding["notes"] == ["host"] and "whoever loads it must" in finding["message"]


# split-state


def test_a_device_state_split_over_two_shared_objects(lab):
    lab.sh(f"'{SOURCE_DIR}/testdata/split-device-state/build' .")
    assert not runs(lab, "./main")  # it tells whether both are one
    finding = only(lab, "main", rule="split-state", severity="warning")
    assert finding["symbol"] == "ibgda_device_state_d"
    assert [re.sub(".*/", "", s["path"]) for s in finding["sites"]] == ["libbuffer.so", "libtransport.so"]


@pytest.mark.parametrize("hidden, visible", [
    ("static int state; void *a(void) { return &state; }", "int state; void *b(void) { return &state; }"),
    ("__attribute__((visibility(\"hidden\"))) const int state = 1; const void *a(void) { return &state; }",
     "const int state = 1; const void *b(void) { return &state; }"),
    ("int state; void *a(void) { return &state; }", "int state; void *b(void) { return &state; }"),
])
def test_no_state_is_split(lab, hidden, visible):
    """A static variable is another one, a constant has no state, and two exported ones are one."""
    library(lab, "liba.so", hidden)
    library(lab, "libb.so", visible, "-L. -la -Wl,-rpath,'$ORIGIN'")
    assert findings(lab, "libb.so", rule="split-state") == []


def test_symbolic_and_protected_copies_are_split(lab):
    library(lab, "liba.so", "int state; void *a(void) { return &state; }", "-Wl,-Bsymbolic")
    library(lab, "libb.so", "int state; void *a(void); int one(void) { return a() == (void *)&state; }", "-L. -la -Wl,-rpath,'$ORIGIN'")
    program(lab, "int one(void); int main(void) { return !one(); }", "-L. -lb -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,.")
    assert not runs(lab, "./main")
    only(lab, "main", rule="split-state", severity="warning")


# packages


def test_directories_are_installed_into_one_site_packages(lab):
    library(lab, "one/nvidia/nvshmem/lib/libnvshmem_host.so.3", "int f(void) { return 1; }")
    library(lab, "two/deep_ep/_C.so", "int f(void); int g(void) { return f(); }",
            "-Lone/nvidia/nvshmem/lib -l:libnvshmem_host.so.3 -Wl,-rpath,'$ORIGIN/../nvidia/nvshmem/lib'")
    assert [f["severity"] for f in findings(lab, "two", rule="needed-not-found")] == ["error"]
    assert findings(lab, "one", "two", rule="needed-not-found") == []
