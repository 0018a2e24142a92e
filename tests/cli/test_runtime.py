"""The rules about libraries that are loaded: what `elfaudit check` says of programs and shared objects, held against the
real loader where it can judge (the program is run, ldd -r)."""

import json
import pathlib
import re
import struct

import pytest

from elfaudit_test import SOURCE_DIR, need
from elfaudit_wheels import wheel

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
    library(lab, "lib/libwares.so", "int f(void) { return 1; }")
    library(lab, "_C.cpython-311-x86_64-linux-gnu.so", "int f(void); int PyInit__C(void) { return f(); }", "-Llib -lwares")
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
    assert "uses no symbol from it" in finding["message"] and "nvshmem_bootstrap_uid" in finding["fixes"][0]["text"]


def test_the_link_name_of_a_library_that_has_only_a_soname(lab):
    library(lab, "lib/libnvshmem_host.so.3")
    lab.cc("a.o", "int f() { return 1; }")
    result = lab.audit("check", "--", "g++", "-shared", "a.o", "-Llib", "-l:libnvshmem_host.so", "-o", "x.so")
    assert result.code == 2 and "-l:libnvshmem_host.so.3" in result.out


def test_the_link_name_of_a_plugin_without_lib(lab):
    library(lab, "lib/nvshmem_bootstrap_uid.so")
    lab.cc("a.o", "int f() { return 1; }")
    result = lab.audit("check", "--", "g++", "-shared", "a.o", "-Llib", "-lnvshmem_bootstrap_uid", "-o", "x.so")
    assert result.code == 2 and "link with -l:nvshmem_bootstrap_uid.so" in result.out
    searched = result.out.split("(searched: ")[1].split(")")[0]
    assert searched.startswith("lib, ") and ".." not in searched and " more" in searched and searched.count(",") == 5


@pytest.mark.parametrize("asked", ["-lboot_uid", "-l:libboot_uid.so", "-l:libboot_uid.so.4"])
def test_check_and_diagnose_propose_the_same_file(lab, asked):
    library(lab, "lib/boot_uid.so.3")
    lab.cc("a.o", "int main() {}")
    command = f"g++ a.o -Llib {asked} -o x"
    result = lab.audit("check", "--", *command.split())
    assert result.code == 2 and "lib/boot_uid.so.3 exists: link with -l:boot_uid.so.3" in result.out, result
    lab.sh(f"(echo {command}; {command}) >log 2>&1", check=False)
    assert f"-L{lab.path}/lib -l:boot_uid.so.3" in lab.audit("diagnose", "log").out


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
    assert "is linked to libone.so, libtwo.so but uses no symbol from them" in finding["message"] and len(finding["sites"]) == 3
    assert "remove -lone -ltwo when linking" in finding["fixes"][0]["text"]


def test_a_library_is_used_by_another_that_does_not_name_it(lab):
    library(lab, "libprovider.so", "int g(void) { return 1; }")
    library(lab, "libuser.so", "int g(void); int f(void) { return g(); }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-Wl,--no-as-needed -L. -luser -lprovider -Wl,-rpath,'$ORIGIN'")
    assert runs(lab, "./main") and findings(lab, "main", rule="needed-unused") == []


# runpath-unsafe


@pytest.mark.parametrize("directory, says", [
    ("/home/ci/build/lib", "is in a home directory"),
    ("/tmp/elfaudit-nowhere/lib", "any user"),
    ("lib", "is relative"),
    ("", "is empty"),
    ("/../lib", "is what a shell leaves of $ORIGIN/../lib"),
    ("$ORIGIN/../lib", None),
    ("/usr/lib/something", None),
])
def test_unsafe_directories(lab, directory, says):
    library(lab, "libx.so")
    program(lab, "int main(void) { return 0; }", f"-Wl,-rpath,'{directory}:$ORIGIN'")
    found = findings(lab, "main", rule="runpath-unsafe")
    assert [says in f["message"] for f in found] == ([] if says is None else [True]), found


def test_origin_in_a_makefile(lab):
    """make takes $O for a variable. The option that the report names is put into the Makefile, and the program runs."""
    lab.sh("mkdir -p bin lib")
    library(lab, "libx.so", "int f(void) { return 0; }")
    lab.sh("mv libx.so lib")
    lab.write("main.c", "int f(void); int main(void) { return f(); }\n")
    makefile = "all:\n\tgcc main.c -Llib -l:libx.so {} -o bin/main\n"
    lab.write("Makefile", makefile.format("-Wl,-rpath,'$ORIGIN/../lib'"))
    lab.sh("make")
    lost = only(lab, "bin", "lib", rule="runpath-unsafe", severity="warning")["fixes"][0]["text"]
    missing = only(lab, "bin", "lib", rule="needed-not-found", severity="error")["fixes"][0]["text"]
    assert lost == missing == "link bin/main with -Wl,-rpath,'$$ORIGIN/../lib' in the Makefile, where $O is a variable"
    lab.write("Makefile", makefile.format(lost.split()[3]))
    lab.sh("make && bin/main")


@pytest.mark.parametrize("path, links, fix", [
    ("/home/ci/lib", "", "patchelf --remove-rpath bin/main"),
    ("/home/ci/lib:$ORIGIN", "", "patchelf --set-rpath '$ORIGIN' bin/main"),
    ("{folder}/lib", "-L. -l:libx.so", "patchelf --set-rpath '$ORIGIN/../lib' bin/main"),
    ("/home/ci/lib", "-L. -l:libx.so", "put libx.so beside it, and patchelf --set-rpath '$ORIGIN' bin/main"),
])
def test_the_path_that_a_file_is_to_have(lab, path, links, fix):
    library(lab, "libx.so", "int f(void) { return 0; }")
    lab.sh("mkdir -p bin lib && cp libx.so lib && chmod 777 lib")
    program(lab, f"int f(void); int main(void) {{ return {'f()' if links else 0}; }}", f"{links} -Wl,-rpath,'{path.format(folder=lab.path)}'")
    lab.sh("mv main bin && rm libx.so" + (" && rm lib/libx.so" if links and "ci" in path else ""))
    assert only(lab, "bin/main", rule="runpath-unsafe", severity="warning")["fixes"][0]["text"] == fix


def test_a_directory_that_anybody_can_write_to(lab):
    lab.sh("mkdir -m 777 open")
    program(lab, "int main(void) { return 0; }", f"-Wl,-rpath,{lab.path}/open")
    assert "any user can write" in only(lab, "main", rule="runpath-unsafe", severity="warning")["message"]


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


def test_a_library_without_any_version_information(lab):
    """No .gnu.version, since it needs no versions either: the loader's check_match asserts that there is one."""
    versioned(lab, (1,))
    program(lab, "int f1(void); int main(void) { return f1() - 1; }", "-L. -lv -Wl,-rpath,'$ORIGIN'")
    lab.sh("gcc -shared -nostdlib -fPIC libv.so.c -Wl,-soname,libv.so -o libv.so")
    result = lab.sh("./main 2>&1", check=False)
    assert result.code != 0 and "Assertion" in result.out
    finding = only(lab, "main", rule="version-unmet", severity="error")
    assert "fails an assertion" in " ".join(finding["notes"])


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
    assert "are both OpenMP runtimes" in only(lab, "main", rule="runtime-duplicated", severity="warning")["message"]


def test_a_static_copy_of_a_loaded_library(lab):
    source = "\n".join(f"int api_{i}(void) {{ return {i}; }}" for i in range(20))
    library(lab, "libflags.so", source)
    lab.write("all.map", "{ global: use; local: *; };")
    library(lab, "libuser.so", source + "\nint use(void) { return api_1(); }", "-Wl,--version-script=all.map")
    program(lab, "int use(void), api_2(void); int main(void) { return use() + api_2() - 3; }",
            "-L. -luser -lflags -Wl,-rpath,'$ORIGIN'")
    finding = only(lab, "main", rule="runtime-duplicated", severity="warning")
    assert "libuser.so contains a copy of libflags.so" in finding["message"]


def test_a_third_library_in_two_files_is_no_copy_of_either(lab):
    """Both libraries have OpenSSL inside: libparquet.so exports it, and libarrow.so hides it."""
    third = "\n".join(f"int third_{i}(void) {{ return {i}; }}" for i in range(20))
    library(lab, "libparquet.so", third + "\nint parquet_1(void) { return 1; } int parquet_2(void) { return 2; }")
    lab.write("all.map", "{ global: arrow; local: *; };")
    library(lab, "libarrow.so", third + "\nint arrow(void) { return third_1(); }", "-Wl,--version-script=all.map")
    program(lab, "int arrow(void), parquet_1(void); int main(void) { return arrow() + parquet_1(); }", "-L. -larrow -lparquet -Wl,-rpath,'$ORIGIN'")
    assert findings(lab, "main", rule="runtime-duplicated", code=0) == []


# undefined-symbol, over what is loaded


def test_a_symbol_that_nothing_defines_any_more(lab):
    library(lab, "libx.so", "int f(void) { return 1; } int g(void) { return 2; }")
    program(lab, "int f(void), g(void); int main(void) { return f() + g() - 3; }", "-L. -lx -Wl,-rpath,'$ORIGIN'")
    assert findings(lab, "main", code=0) == []
    library(lab, "libx.so", "int f(void) { return 1; }")
    assert not runs(lab, "LD_BIND_NOW=1 ./main") and "undefined symbol: g" in lab.sh("ldd -r main 2>&1", check=False).out
    finding = only(lab, "main", rule="undefined-symbol", severity="error")
    assert finding["symbol"] == "g"


def test_a_name_of_a_library_that_is_not_found_is_not_said_to_lack_it(lab):
    library(lab, "libcudart.so.12", "int cudaMalloc(void) { return 1; }")
    library(lab, "_C.abi3.so", "int cudaMalloc(void); int f(void) { return cudaMalloc(); } void *PyInit__C(void) { return 0; }", "-L. -l:libcudart.so.12")
    lab.sh("rm libcudart.so.12")
    assert [f["rule"] for f in findings(lab, "_C.abi3.so", code=0)] == ["needed-not-found"]


def test_weak_symbols_may_stay_undefined(lab):
    program(lab, "__attribute__((weak)) int f(void); int main(void) { return f ? 1 : 0; }")
    assert findings(lab, "main", code=0) == []


def test_a_plugin_gets_symbols_from_its_program(lab):
    library(lab, "plugin.so", "int host(void); int f(void) { return host(); }")
    finding = only(lab, "plugin.so", rule="undefined-symbol", severity="note")
    assert finding["notes"] == ["host"] and "the program that loads it must" in finding["message"]
    assert finding["symbols"] == ["host"]


PLUGIN_HOST = "#include <dlfcn.h>\n%s int host(void) { return 1; } int main(void) { return dlopen(\"./plugin.so\", RTLD_NOW) == 0; }"
PLUGIN_HOSTS = [  # how the program has the name, how it is linked, what is said, the edit
    ("", "", "warning", "link main with -rdynamic (CMake: ENABLE_EXPORTS ON for its target)"),
    ('__attribute__((visibility("hidden")))', "-rdynamic", "warning", "declare host with __attribute__"),
    ("static", "-rdynamic", "note", None),
    ("", "-s", "note", None),
    ("", "-rdynamic", None, None),
]


@pytest.mark.parametrize("how, options, severity, fix", PLUGIN_HOSTS)
def test_the_program_of_a_plugin(lab, how, options, severity, fix):
    """Given together, in a folder, and where a log names the plugin alone."""
    library(lab, "d/plugin.so", "int host(void); int f(void) { return host(); }")
    lab.write("main.c", PLUGIN_HOST % how)
    lab.sh(f"gcc -w main.c {options} -o d/main")
    assert (lab.sh("cd d; ./main", check=False).code == 0) == (severity is None)
    for words in (["d/main", "d/plugin.so"], ["d"]):
        found = findings(lab, *words, rule="undefined-symbol")
        assert [f["severity"] for f in found] == ([severity] if severity else []), found
        if fix:
            assert found[0]["fixes"][0]["text"].replace("d/main", "main").startswith(fix) and found[0]["cause"]["kind"] == "not-exported"
            assert found[0]["message"] == "d/plugin.so needs host, which d/main defines and does not export"
    if severity:
        lab.write("log", "main: d/plugin.so: undefined symbol: host")
        finding = lab.audit("diagnose", "--format", "json", "log").json()["errors"][0]["finding"]
        assert (finding or {"fixes": []})["fixes"] == (found[0]["fixes"] if fix else []), finding


def test_a_plugin_and_its_program_in_one_build(lab):
    need("ninja")
    lab.write("plugin.c", "int host(void); int f(void) { return host(); }")
    lab.write("main.c", PLUGIN_HOST % "")
    rules = "rule cc\n command = gcc -fPIC -c $in -o $out\nrule so\n command = gcc -shared $in -o $out\nrule exe\n command = gcc $how $in -o $out\n"
    edges = "build main.o: cc ../main.c\nbuild plugin.o: cc ../plugin.c\nbuild plugin.so: so plugin.o\nbuild main: exe main.o\n"
    for how, expected in (("", ["plugin.so needs host, which main defines and does not export"]), ("-rdynamic", [])):
        lab.write("b/build.ninja", f"how = {how}\n{rules}{edges}")
        lab.sh("ninja -C b")
        assert [f["message"] for f in findings(lab, "-p", "b", rule="undefined-symbol")] == expected


def test_the_library_beside_that_defines_it(lab):
    library(lab, "lib/liba.so", "int api(void) { return 1; }")
    library(lab, "lib/libu.so", "int api(void); int f(void) { return api(); }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-Wl,--unresolved-symbols=ignore-all lib/libu.so -Wl,-rpath,'$ORIGIN/lib'")
    finding = only(lab, "main", rule="undefined-symbol", severity="error")
    assert [fix["text"] for fix in finding["fixes"]] == ["link lib/libu.so with lib/liba.so, which defines it"]
    lab.sh("gcc -shared -fPIC -Wl,-soname,libu.so libu.so.c -Llib -la -Wl,-rpath,'$ORIGIN' -o lib/libu.so")
    assert runs(lab, "./main") and findings(lab, "main", code=0) == []


def versioned_library(lab, path, names, versions="V1"):
    """libl.so.3 with every name in the version V1."""
    lab.write("l.map", f"{versions} {{ global: {'; '.join(names)}; local: *; }};\n")
    source = "".join(f"int {name}(void) {{ return 1; }}\n" for name in names)
    return library(lab, path, source, "-Wl,--version-script=l.map")


def loads(lab, path):
    """As Python's import loads it: every symbol at once."""
    return lab.sh(f"LD_BIND_NOW=1 python3 -c 'import ctypes; ctypes.CDLL(\"{lab.path}/{path}\")' 2>&1", check=False)


def test_a_library_of_the_right_name_and_version_without_the_symbol(lab):
    """Its file says who must have it, so that it is an error whoever loads the shared object."""
    versioned_library(lab, "new/libl.so.3", ["foo", "bar"])
    versioned_library(lab, "old/libl.so.3", ["foo"])
    library(lab, "mod.so", "int foo(void), bar(void); int use(void) { return foo() + bar(); }",
            "new/libl.so.3 -Wl,-rpath,'$ORIGIN/cur'")
    lab.sh("ln -s old cur")
    assert "undefined symbol: bar, version V1" in loads(lab, "mod.so").out
    finding = only(lab, "mod.so", rule="undefined-symbol", severity="error")
    assert finding["symbol"] == "bar" and "mod.so needs bar@V1 of libl.so.3, and cur/libl.so.3 defines V1 without" in finding["message"]
    assert [s["path"] for s in finding["sites"]] == ["mod.so", "cur/libl.so.3"]
    assert any("first call" in note for note in finding["notes"])
    lab.sh("rm cur; ln -s new cur")
    assert loads(lab, "mod.so").code == 0 and findings(lab, "mod.so", code=0) == []


def test_a_library_of_a_shared_objects_library_lacks_it(lab):
    """torch's libtorch_nvshmem.so beside an older NVSHMEM, which libpplx_kernels.so has brought in."""
    versioned_library(lab, "new/libl.so.3", ["foo", "bar", "baz"])
    versioned_library(lab, "old/libl.so.3", ["foo"])
    library(lab, "libmid.so", "extern int baz(void); int bar(void); int (*mid)(void) = bar; int mid2(void) { return baz(); }", "new/libl.so.3")
    library(lab, "libtop.so", "int foo(void), mid2(void); int top(void) { return foo() + mid2(); }",
            "old/libl.so.3 libmid.so -Wl,--allow-shlib-undefined,-rpath,'$ORIGIN/old:$ORIGIN' -Wl,-rpath-link,new")
    assert loads(lab, "libtop.so").code != 0
    finding = only(lab, "libtop.so", rule="undefined-symbol", severity="error")
    assert finding["symbols"] == ["bar", "baz"] and "bar@V1, baz@V1" in finding["message"]
    assert finding["sites"][0]["notes"] == ["loaded by libtop.so"] and not any("first call" in n for n in finding["notes"])


@pytest.mark.parametrize("source, options", [
    ("__attribute__((weak)) int bar(void); int use(void) { return bar ? 1 : 0; }", ""),  # weak: may stay undefined
    ("int foo(void); int use(void) { return foo(); }", ""),
])
def test_references_that_the_loader_leaves_alone(lab, source, options):
    versioned_library(lab, "new/libl.so.3", ["foo", "bar"])
    library(lab, "mod.so", source, f"new/libl.so.3 -Wl,-rpath,'$ORIGIN/new' {options}")
    versioned_library(lab, "new/libl.so.3", ["foo"])
    assert loads(lab, "mod.so").code == 0
    assert findings(lab, "mod.so", rule="undefined-symbol") == []


def test_a_symbol_that_has_moved_to_another_library(lab):
    """As pthread_create did from libpthread.so.0 to libc.so.6: the loader asks for name and version, not for the file."""
    versioned_library(lab, "libl.so.3", ["foo", "bar"])
    versioned_library(lab, "libother.so", ["bar"])
    library(lab, "mod.so", "int bar(void); int use(void) { return bar(); }", "libl.so.3 libother.so -Wl,-rpath,'$ORIGIN'")
    versioned_library(lab, "libl.so.3", ["foo"])
    assert loads(lab, "mod.so").code == 0 and findings(lab, "mod.so", rule="undefined-symbol") == []


def test_an_unversioned_definition_answers_to_every_version(lab):
    versioned_library(lab, "libl.so.3", ["foo", "bar"])
    lab.write("l.map", "V1 { global: foo; };\n")
    library(lab, "mod.so", "int bar(void); int use(void) { return bar(); }", "libl.so.3 -Wl,-rpath,'$ORIGIN'")
    library(lab, "libl.so.3", "int foo(void) { return 1; } int bar(void) { return 2; }", "-Wl,--version-script=l.map")
    assert loads(lab, "mod.so").code == 0 and findings(lab, "mod.so", rule="undefined-symbol") == []


@pytest.mark.parametrize("versions, loaded", [
    ("V1 { global: foo; };", True),  # hidden, and the first version: for what was linked before there were versions
    ("V0 { global: other; }; V1 { global: foo; };", False),
])
def test_a_reference_without_a_version_and_hidden_definitions(lab, versions, loaded):
    library(lab, "libl.so.3", "int foo(void) { return 1; }")
    library(lab, "mod.so", "int foo(void); int use(void) { return foo(); }", "libl.so.3 -Wl,-rpath,'$ORIGIN'")
    lab.write("l.map", versions)
    library(lab, "libl.so.3", '__asm__(".symver foo_1, foo@V1"); int foo_1(void) { return 1; } int other(void) { return 2; }',
            "-Wl,--version-script=l.map")
    assert (loads(lab, "mod.so").code == 0) == loaded
    program(lab, "int use(void); int main(void) { return 0; }", "-Wl,--no-as-needed mod.so -Wl,--allow-shlib-undefined,-rpath,'$ORIGIN'")
    assert (findings(lab, "main", rule="undefined-symbol") == []) == loaded


def test_a_library_that_is_found_and_no_elf_file(lab):
    library(lab, "libx.so", "int f(void) { return 1; }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "-L. -lx -Wl,-rpath,'$ORIGIN'")
    lab.write("libx.so", "")
    assert not runs(lab, "./main")
    finding = findings(lab, "main", rule="unreadable-input", code=2)[0]
    assert "libx.so" in finding["message"] and finding["sites"][0]["notes"] == ["loaded by main"]


# undefined-symbol: modules of Python

MODULE = "typedef struct PyObject PyObject; PyObject *PyModule_Create2(void *, int); "


def extension(lab, path, source, options=""):
    stem = pathlib.Path(path).name.split(".")[0]
    (lab.path / path).parent.mkdir(parents=True, exist_ok=True)
    lab.write(f"{stem}.cpp", f'extern "C" {{ {MODULE} PyObject *PyInit_{stem}(void); }}\n{source}\n'
                             f'PyObject *PyInit_{stem}(void) {{ return (PyObject *)use(); }}\n')
    lab.sh(f"g++ -shared -fPIC {stem}.cpp -Wl,--no-as-needed {options} -o {path}")
    return path


def test_a_name_that_no_one_can_supply_to_a_module(lab):
    extension(lab, "_c.so", "int nope(int); extern \"C\" double sin(double); void *use() { nope(1); sin(1); return PyModule_Create2(0, 0); }")
    assert "undefined symbol: _Z4nopei" in loads(lab, "_c.so").out
    finding = only(lab, "_c.so", rule="undefined-symbol", severity="error")
    assert finding["symbol"] == "_Z4nopei" and "nope(int)" in finding["message"] and "the import fails" in finding["message"]
    extension(lab, "_c.so", "extern \"C\" double sin(double); void *use() { sin(1); return PyModule_Create2(0, 0); }")
    assert lab.sh("python3 -c 'import ctypes; ctypes.PyDLL(\"./_c.so\")'").code == 0
    assert findings(lab, "_c.so", rule="undefined-symbol") == []


def test_a_name_that_no_python_has(lab):
    """C takes the call of an undeclared function, and Python 3 has no PyString_FromString."""
    for name in ("PyString_FromString", "PyBytes_FromString"):
        extension(lab, "_c.so", f'extern "C" void *{name}(const char *); void *use() {{ {name}(""); return PyModule_Create2(0, 0); }}')
        found = findings(lab, "_c.so", rule="undefined-symbol")
        assert [(f["severity"], f["symbol"]) for f in found] == ([("error", name)] if name == "PyString_FromString" else [])


def test_a_library_of_a_module_needs_it(lab):
    library(lab, "libmid.so", "int missing_a(void), missing_b(void); int mid(void) { return missing_a() + missing_b(); }")
    extension(lab, "_c.so", 'extern "C" int mid(); void *use() { mid(); return 0; }', "libmid.so -Wl,--allow-shlib-undefined,-rpath,'$ORIGIN'")
    assert loads(lab, "_c.so").code != 0
    finding = only(lab, "_c.so", rule="undefined-symbol", severity="error")
    assert finding["symbols"] == ["missing_a", "missing_b"] and "libmid.so needs 2 symbols" in finding["message"]


TORCH = "namespace c10 { void check(); } namespace at { int ones(); } namespace torch { int run(); }"


def torch(lab, folder):
    for name, source in (("libc10.so", "namespace c10 { void check() {} }"),
                         ("libtorch_cpu.so", "namespace at { int ones() { return 1; } } namespace torch { int run() { return 1; } }")):
        (lab.path / folder).mkdir(parents=True, exist_ok=True)
        lab.write("t.cpp", source)
        lab.sh(f"g++ -shared -fPIC -Wl,-soname,{name} t.cpp -o {folder}/{name}")


def torch_module(lab, path, more=""):
    return extension(lab, path, f"{TORCH} int nope(); void *use() {{ c10::check(); at::ones(); torch::run(); {more} return 0; }}",
                     "-Lsite-packages/torch/lib -lc10 -ltorch_cpu")


def test_libraries_of_torch_are_one_note(lab):
    torch(lab, "site-packages/torch/lib")
    torch_module(lab, "deep_ep.so")
    finding = only(lab, "deep_ep.so", "site-packages", rule="needed-not-found", severity="note")
    assert finding["message"] == ("libc10.so, libtorch_cpu.so: loaded by import torch (found in site-packages/torch/lib), "
                                  "before deep_ep.so needs them")
    assert findings(lab, "deep_ep.so", "site-packages", rule="undefined-symbol") == []
    lab.sh("mv site-packages away")
    finding = only(lab, "deep_ep.so", rule="needed-not-found", severity="note")
    assert finding["message"].startswith("libc10.so, libtorch_cpu.so: loaded by import torch, before")


def test_torch_beside_the_module(lab):
    torch(lab, "site-packages/torch/lib")
    torch_module(lab, "site-packages/deep_ep.so")
    finding = only(lab, "site-packages/deep_ep.so", rule="needed-not-found", severity="note")
    assert "(found in site-packages/torch/lib)" in finding["message"]


def test_what_torch_does_not_define_is_missing(lab):
    torch(lab, "site-packages/torch/lib")
    torch_module(lab, "deep_ep.so", "nope();")
    finding = only(lab, "deep_ep.so", "site-packages", rule="undefined-symbol", severity="error")
    assert finding["symbol"] == "_Z4nopev"
    lab.sh("mv site-packages away")  # now it may be torch's
    finding = only(lab, "deep_ep.so", rule="undefined-symbol", severity="warning")
    assert finding["symbol"] == "_Z4nopev" and "libc10.so, libtorch_cpu.so are not found here" in finding["notes"][0]


def test_torch_is_bound_before_the_module_brings_another_library(lab):
    """DeepEP's RUNPATH has an older NVSHMEM than torch's: torch, which is loaded first, has its own, and both get that."""
    versioned_library(lab, "site-packages/nv/libnv.so.3", ["foo", "bar"])
    versioned_library(lab, "old/libnv.so.3", ["foo"])
    library(lab, "site-packages/torch/lib/libtorch_nv.so", "int bar(void); int t(void) { return bar(); }",
            "site-packages/nv/libnv.so.3 -Wl,-rpath,'$ORIGIN/../../nv'")
    extension(lab, "ep.so", 'extern "C" int foo(), t(); void *use() { foo(); t(); return 0; }',
              "old/libnv.so.3 site-packages/torch/lib/libtorch_nv.so -Wl,-rpath,'$ORIGIN/old' -Wl,-rpath-link,site-packages/nv")
    script = f"import ctypes; ctypes.CDLL('{lab.path}/site-packages/torch/lib/libtorch_nv.so'); ctypes.PyDLL('{lab.path}/ep.so')"
    assert lab.sh(f'python3 -c "{script}"').code == 0
    assert findings(lab, "ep.so", "site-packages", rule="undefined-symbol") == []
    finding = only(lab, "ep.so", "site-packages", rule="runtime-duplicated", severity="error")
    assert "where old/libnv.so.3 is loaded first, site-packages/torch/lib/libtorch_nv.so lacks bar" in finding["notes"]


def test_names_of_torch_without_its_libraries(lab):
    """`import torch` loads its libraries for itself (RTLD_LOCAL): what another module needs, it must name."""
    extension(lab, "ext.so", f"{TORCH} void *use() {{ c10::check(); return 0; }}")
    finding = only(lab, "ext.so", rule="undefined-symbol", severity="error")
    assert "-lc10" in " ".join(finding["notes"])


SPELLED = [  # what the library has, what the module calls, the cause
    ("namespace c10 { void check(char, bool) {} }", "c10::check()", "libc10.so, which is loaded, defines c10::check(char, bool) and not c10::check()"),
    ("#include <string>\nvoid wax(std::string) {}", 'wax("")', "libc10.so defines wax(std::string) for the other std::string ABI"),
]


@pytest.mark.parametrize("source, call, cause", SPELLED)
def test_the_loaded_library_has_it_spelled_otherwise(lab, source, call, cause):
    lab.write("t.cpp", source)
    lab.sh("g++ -D_GLIBCXX_USE_CXX11_ABI=0 -shared -fPIC -Wl,-soname,libc10.so t.cpp -o libc10.so")
    extension(lab, "_c.so", f"#include <string>\nnamespace c10 {{ void check(); }} void wax(std::string); void *use() {{ {call}; return 0; }}",
              "-L. -lc10 -Wl,-rpath,'$ORIGIN'")
    finding = only(lab, "_c.so", rule="undefined-symbol", severity="error")
    assert finding["cause"]["text"] == cause and not finding["notes"] and len(finding["fixes"]) == 1, finding


OWN = [  # what the file itself has, what it calls, the cause, the edit
    ("namespace n { int scale(float *, long) { return 1; } }", "namespace n { int scale(float *, int); } int use() { return n::scale(0, 0); }",
     "_c.so itself defines n::scale(float*, long) and not n::scale(float*, int)", "declare and call n::scale(float*, long) as it is defined"),
    ('extern "C" int dot(int) { return 1; }', "int dot(int); int use() { return dot(1); }",
     '_c.so itself defines dot in C: extern "C" is missing where it is declared', 'put the declaration of dot into extern "C" { } for C++'),
    ("int dot(int) { return 1; }", 'extern "C" int dot(int); int use() { return dot(1); }',
     '_c.so itself defines dot(int) in C++: extern "C" is missing there', 'declare dot extern "C" where _c.so is compiled'),
]  # fmt: skip


@pytest.mark.parametrize("flags", ["", "-fvisibility=hidden"])
@pytest.mark.parametrize("source, use, cause, fix", OWN)
def test_the_file_itself_has_it_spelled_otherwise(lab, source, use, cause, fix, flags):
    lab.write("own.cpp", source)
    lab.write("use.cpp", f'{use} extern "C" __attribute__((visibility("default"))) void *PyInit__c() {{ return use() ? (void *)1 : 0; }}')
    lab.sh(f"g++ {flags} -shared -fPIC own.cpp use.cpp -o _c.so")
    finding = only(lab, "_c.so", rule="undefined-symbol", severity="error")
    assert finding["cause"]["text"] == cause and [f["text"].split(", or define")[0] for f in finding["fixes"]] == [fix], finding


def test_the_cuda_runtime_is_one_library(lab):
    names = ["__cudaGetKernel", "__cudaLaunchKernel", "__cudaRegisterFunction", "__cudaPopCallConfiguration", "cudaMalloc"]
    calls = " ".join(f"extern int {name}(void);" for name in names) + " int use(void) { return " + " + ".join(f"{name}()" for name in names) + "; }"
    extension(lab, "_c.so", f'extern "C" {{ {calls} }}')
    finding = only(lab, "_c.so", rule="undefined-symbol", severity="error")
    assert [fix["text"] for fix in finding["fixes"]] == ["link _c.so again with -lcudart after its objects"] and len(finding["symbols"]) == 5


def test_libraries_of_the_driver_are_one_note(lab):
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        library(lab, f"driver/{name}", "int cuInit(int f) { return f; } int nvmlInit_v2(void) { return 0; }")
    extension(lab, "_c.so", 'extern "C" int cuInit(int), nvmlInit_v2(); void *use() { cuInit(0); nvmlInit_v2(); return 0; }',
              "driver/libcuda.so.1 driver/libnvidia-ml.so.1")
    lab.sh("mkdir stubs; mv driver/libcuda.so.1 stubs/libcuda.so")
    lab.sh("rm driver/libnvidia-ml.so.1")
    finding = only(lab, "_c.so", rule="needed-not-found", severity="note")
    assert finding["message"] == "libcuda.so.1, libnvidia-ml.so.1: provided by the NVIDIA driver, before _c.so needs them"
    assert "stubs" not in json.dumps(finding) and findings(lab, "_c.so", rule="undefined-symbol") == []


@pytest.mark.parametrize("runtime, wheel", [("libcudart.so.13", "nvidia-nvshmem-cu13"), ("libcudart.so.12", "nvidia-nvshmem-cu12")])
def test_the_wheel_for_the_cuda_that_the_file_needs(lab, runtime, wheel):
    for name in (runtime, "libnvshmem_host.so.3"):
        library(lab, f"lib/{name}", f"int f_{name[3:6]}(void) {{ return 1; }}")
    library(lab, "x.so", "int f_cud(void), f_nvs(void); int f(void) { return f_cud() + f_nvs(); }", f"lib/{runtime} lib/libnvshmem_host.so.3")
    lab.sh("rm -r lib")
    finding = next(f for f in findings(lab, "x.so", rule="needed-not-found") if "nvshmem" in f["message"])
    assert finding["fixes"][0]["text"].startswith(f"install {wheel} (")


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


# DT_RPATH of the one that loads


def scipy_like(lab, tags="--disable-new-dtags"):
    """pkg/top.so loads pkg.libs/libmid.so, which needs libdeep.so beside it and has no path of its own."""
    library(lab, "pkg.libs/libdeep.so", "int deep(void) { return 1; }")
    library(lab, "pkg.libs/libmid.so", "int deep(void); int mid(void) { return deep(); }", "pkg.libs/libdeep.so")
    extension(lab, "pkg/top.cpython-311-x86_64-linux-gnu.so", 'extern "C" int mid(); void *use() { return mid() ? 0 : (void *)1; }',
              f"pkg.libs/libmid.so -Wl,{tags},-rpath,'$ORIGIN/../pkg.libs' -Wl,-rpath-link,pkg.libs")
    return "pkg/top.cpython-311-x86_64-linux-gnu.so"


def as_wheel(lab, requires=""):
    files = {str(p.relative_to(lab.path)): p.read_bytes() for p in sorted(lab.path.glob("pkg*/*.so"))}
    return wheel(lab, "pkg-1.0-cp311-cp311-linux_x86_64.whl", files, extra=requires)


@pytest.mark.deep
def test_a_library_is_judged_by_who_loads_it(lab):
    top = scipy_like(lab)
    lab.sh(f"python3 -c 'import ctypes; ctypes.PyDLL(\"{lab.path}/{top}\")'")
    for given in (["."], ["pkg", "pkg.libs"], [top, "pkg.libs/libmid.so", "pkg.libs/libdeep.so"], [as_wheel(lab)]):
        assert findings(lab, *given, code=0) == [], given
    # By itself it does not load, as the loader says.
    assert loads(lab, "pkg.libs/libmid.so").code != 0
    only(lab, "pkg.libs/libmid.so", rule="needed-not-found", severity="error")


@pytest.mark.deep
def test_a_runpath_is_not_inherited(lab):
    top = scipy_like(lab, "--enable-new-dtags")
    assert loads(lab, top).code != 0
    for given in (["."], ["pkg", "pkg.libs"]):
        finding = only(lab, *given, rule="needed-not-found", severity="error")
        assert "libmid.so needs libdeep.so" in finding["message"] and "pkg/top.cpython" in finding["sites"][0]["notes"][0]
        assert "-Wl,-rpath,'$ORIGIN'" in finding["fixes"][0]["text"]
    finding = only(lab, as_wheel(lab), rule="needed-not-found", severity="error")
    assert finding["message"] == "pkg.libs/libmid.so needs libdeep.so, which is in this wheel but not in the directories that are searched"
    assert "-Wl,-rpath,'$ORIGIN'" in finding["fixes"][0]["text"]


def test_libraries_that_load_each_other_are_judged(lab):
    library(lab, "libdeep.so", "int deep(void) { return 1; }")
    library(lab, "liba.so", "int a(void) { return 1; }")
    library(lab, "libb.so", "int b(void) { return 1; }", "liba.so libdeep.so -Wl,-rpath,'$ORIGIN'")
    library(lab, "liba.so", "int a(void) { return 1; }", "libb.so -Wl,-rpath,'$ORIGIN'")
    lab.sh("rm libdeep.so")
    only(lab, "liba.so", "libb.so", rule="needed-not-found", severity="error")


# advice


def test_no_relative_path_is_advised(lab):
    library(lab, "sp/other/lib/liby.so.1", "int f(void) { return 1; }")
    library(lab, "sp/pkg/x.so", "int f(void); int g(void) { return f(); }", "sp/other/lib/liby.so.1")
    finding = only(lab, "sp", rule="needed-not-found", severity="error")
    assert [f["text"] for f in finding["fixes"]] == ["link sp/pkg/x.so with -Wl,-rpath,'$ORIGIN/../other/lib'",
                                                     "patchelf --add-rpath '$ORIGIN/../other/lib' sp/pkg/x.so"]
    lab.sh("patchelf --version >/dev/null 2>&1 && patchelf --add-rpath '$ORIGIN/../other/lib' sp/pkg/x.so || "
           "gcc -shared -fPIC x.so.c sp/other/lib/liby.so.1 -Wl,-rpath,'$ORIGIN/../other/lib' -o sp/pkg/x.so")
    assert loads(lab, "sp/pkg/x.so").code == 0 and findings(lab, "sp", code=0) == []


def test_a_wheel_beside_a_site_packages(lab):
    library(lab, "v/lib/python3.11/site-packages/wares/lib/libwares.so.1", "int f(void) { return 1; }")
    extension(lab, "pkg/_c.so", 'extern "C" int f(); void *use() { f(); return 0; }', "v/lib/python3.11/site-packages/wares/lib/libwares.so.1")
    name = wheel(lab, "pkg-1.0-cp311-cp311-linux_x86_64.whl", {"pkg/_c.so": (lab.path / "pkg/_c.so").read_bytes()})
    finding = only(lab, name, "v/lib/python3.11/site-packages", rule="needed-not-found", severity="warning")
    text = json.dumps(finding["fixes"])
    assert "'$ORIGIN/../wares/lib'" in text and "site-packages" not in text and "ld.so.conf" not in text


def test_another_site_packages_is_named_whole_or_not(lab):
    library(lab, "one/site-packages/wares/libwares.so.1", "int f(void) { return 1; }")
    library(lab, "two/site-packages/pkg/x.so", "int f(void); int g(void) { return f(); }", "one/site-packages/wares/libwares.so.1")
    for finding in findings(lab, "two/site-packages/pkg/x.so", "one/site-packages", rule="needed-not-found"):
        for fix in finding["fixes"]:
            assert "ORIGIN" not in fix["text"] and "rpath,'.." not in fix["text"], fix


def test_only_libraries_of_its_own_machine_are_proposed(lab):
    library(lab, "away/libwares.so.1", "int f(void) { return 1; }")
    program(lab, "int f(void); int main(void) { return f() - 1; }", "away/libwares.so.1")
    image = bytearray((lab.path / "away/libwares.so.1").read_bytes())
    image[18] = 183  # EM_AARCH64
    (lab.path / "away/libwares.so.1").write_bytes(image)
    finding = only(lab, "main", rule="needed-not-found", severity="error")
    assert len(finding["sites"]) == 1 and finding["fixes"] == []


# runtime-duplicated: one name, two files


def two_of_a_name(lab, old="int foo(void) { return 1; } int bar(void) { return 2; }"):
    """ext.so finds old/libl.so.3 and libtorch.so new/libl.so.3."""
    library(lab, "new/libl.so.3", "int foo(void) { return 3; } int bar(void) { return 4; }")
    library(lab, "old/libl.so.3", old)
    library(lab, "libone.so", "int foo(void); int one(void) { return foo(); }", "old/libl.so.3 -Wl,-rpath,'$ORIGIN/old'")
    library(lab, "libtwo.so", "int bar(void); int two(void) { return bar(); }", "new/libl.so.3 -Wl,-rpath,'$ORIGIN/new'")


def test_one_name_that_leads_to_two_files(lab):
    two_of_a_name(lab)
    finding = only(lab, "libone.so", "libtwo.so", rule="runtime-duplicated", severity="warning")
    assert "libl.so.3 is old/libl.so.3 for libone.so and new/libl.so.3 for libtwo.so" in finding["message"]
    assert [s["path"] for s in finding["sites"]] == ["old/libl.so.3", "new/libl.so.3"]
    script = f"import ctypes; ctypes.CDLL('{lab.path}/libone.so'); print(ctypes.CDLL('{lab.path}/libtwo.so').two())"
    assert lab.sh(f'python3 -c "{script}"').out == "2\n"  # what old/libl.so.3 returns


def test_the_one_that_is_loaded_first_lacks_a_symbol(lab):
    two_of_a_name(lab, "int foo(void) { return 1; }")
    script = f"import ctypes; ctypes.CDLL('{lab.path}/libone.so'); ctypes.CDLL('{lab.path}/libtwo.so')"
    assert "undefined symbol: bar" in lab.sh(f'LD_BIND_NOW=1 python3 -c "{script}" 2>&1', check=False).out
    finding = only(lab, "libone.so", "libtwo.so", rule="runtime-duplicated", severity="error")
    assert finding["symbols"] == ["bar"] and "where old/libl.so.3 is loaded first, libtwo.so lacks bar" in finding["notes"]


def test_a_given_file_has_the_name_too(lab):
    two_of_a_name(lab)
    finding = only(lab, "old/libl.so.3", "libtwo.so", rule="runtime-duplicated", severity="warning")
    assert {s["path"] for s in finding["sites"]} == {"old/libl.so.3", "new/libl.so.3"}


def test_copies_of_one_build_and_programs_do_not_clash(lab):
    two_of_a_name(lab)
    lab.sh("cp new/libl.so.3 old/libl.so.3")
    assert findings(lab, "libone.so", "libtwo.so", code=0) == []
    two_of_a_name(lab)
    program(lab, "int one(void); int main(void) { return one(); }", "libone.so -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,old", "p1")
    program(lab, "int two(void); int main(void) { return two(); }", "libtwo.so -Wl,-rpath,'$ORIGIN' -Wl,-rpath-link,new", "p2")
    assert findings(lab, "p1", "p2", rule="runtime-duplicated") == []


@pytest.mark.parametrize("folder, severity", [("lib", "warning"), ("site-packages/nvidia/nvshmem/lib", "note")])
def test_what_others_have_built_is_a_note(lab, folder, severity):
    """libnvshmem_host.so.3 has libcudart inside, and every user of NVSHMEM loads libcudart.so as well."""
    source = "\n".join(f"int api_{i}(void) {{ return {i}; }}" for i in range(20))
    library(lab, f"{folder}/libcudart.so.13", source)
    lab.write("all.map", "{ global: use; local: *; };")
    library(lab, f"{folder}/libnvshmem_host.so.3", source + "\nint use(void) { return api_1(); }", "-Wl,--version-script=all.map")
    library(lab, "libep.so", "int use(void), api_2(void); int f(void) { return use() + api_2(); }",
            f"{folder}/libcudart.so.13 {folder}/libnvshmem_host.so.3 -Wl,-rpath,'$ORIGIN/{folder}'")
    for given in (["libep.so"], ["libep.so", folder.split("/")[0]]):
        only(lab, *given, rule="runtime-duplicated", severity="warning" if len(given) > 1 and folder == "lib" else severity)


# split-state: what the compiler's runtime keeps in each file


def test_the_compilers_own_variables_are_not_split(lab):
    lab.write("a.cpp", """#include <stdexcept>
        int f() { __builtin_cpu_init(); if (__builtin_cpu_supports("avx2")) throw std::runtime_error("x"); return 1; }""")
    lab.sh("g++ -shared -fPIC a.cpp -o liba.so")
    assert "__cpu_model" in lab.sh("readelf -sW liba.so").out
    assert findings(lab, "--fail-on", "warning", "liba.so", code=0) == []


def test_a_file_with_its_own_libstdcxx_inside(lab):
    lab.write("a.cpp", '#include <iostream>\nextern "C" int b(); extern "C" void a() { std::cout << b(); }')
    lab.write("b.cpp", '#include <iostream>\nextern "C" int b() { std::cerr << 1; return 1; }')
    lab.write("b.map", "{ global: b; local: *; };")
    lab.sh("g++ -shared -fPIC -static-libstdc++ -Wl,--version-script=b.map b.cpp -o libb.so")
    lab.sh("g++ -shared -fPIC a.cpp -L. -lb -Wl,-rpath,'$ORIGIN' -o liba.so")
    assert findings(lab, "liba.so", rule="split-state") == []
    assert "keeps " in only(lab, "liba.so", rule="runtime-duplicated", severity="warning")["sites"][0]["notes"][0]
    lab.sh("g++ -shared -fPIC -static-libstdc++ b.cpp -o libb.so")
    assert "exports " in only(lab, "liba.so", rule="runtime-duplicated", severity="warning")["sites"][0]["notes"][0]
    lab.sh("g++ -shared -fPIC -static-libstdc++ -Wl,--version-script=b.map b.cpp -o libb.so")
    lab.sh("echo '#include <iostream>\nextern \"C\" int b(); int main() { std::cerr << b(); }' >m.cpp; g++ m.cpp -no-pie -fno-pic -L. -lb -Wl,-rpath,'$ORIGIN' -o m")
    assert findings(lab, "m", rule="split-state") == []  # the program has a copy of libstdc++'s std::cerr


# --root


def test_the_root_and_the_file_may_be_spelled_differently(lab):
    lab.sh("mkdir -p er/bin && cp /bin/true er/bin/tr && ln -s er link")
    here = str(lab.path)
    seen = set()
    for root in ("er", "er/", "./er", f"{here}/er", "link", f"../{lab.path.name}/er"):
        for file in ("er/bin/tr", "./er/bin/tr", f"{here}/er/bin/tr", "link/bin/tr"):
            result = lab.audit("check", "--root", root, file)
            listed = lab.audit("list", "closure", "--root", root, file)
            seen.add((result.code, "libc.so.6, which is not found" in result.out, listed.code, listed.out.splitlines()[-1]))
    assert seen == {(1, True, 0, "0 libraries, 1 not found")}


@pytest.mark.parametrize("given", ["tree", "tree/bin/main", "tree/lib/libx.so"])
def test_what_is_not_below_the_root_is_judged_by_its_libraries(lab, given):
    library(lab, "er/usr/lib/libbase.so", "int base(void) { return 0; }")
    library(lab, "tree/lib/libx.so", "int base(void); int x(void) { return base(); }", "-Ler/usr/lib -lbase")
    program(lab, "int x(void); int main(void) { return x(); }", "-nostdlib -Ltree/lib -lx -Wl,-rpath,'$ORIGIN/../lib' -Wl,-rpath-link,er/usr/lib -e main")
    lab.sh("mkdir tree/bin && mv main tree/bin && mkdir empty")
    assert {"needs libc.so.6" in f["message"] for f in findings(lab, "--root", "er", given, code=1)} == {True}
    lab.sh("cp -L /lib/x86_64-linux-gnu/libc.so.6 er/usr/lib && mkdir er/lib64 && cp -L /lib64/ld-linux-x86-64.so.2 er/lib64")
    assert findings(lab, "--root", "er", given, code=0) == []
    assert "libbase.so" in findings(lab, "--root", "empty", given, code=1, rule="needed-not-found")[0]["message"]


# Files of another machine


def test_a_cross_compilers_libraries_are_not_advised(lab):
    need("aarch64-linux-gnu-gcc")
    lab.sh("mkdir -p tree/lib tree/deps; echo 'double g(double); double f(double x) { return g(x); }' >f.c")
    lab.sh("printf '#include <math.h>\ndouble g(double x) { return pow(x, 2.5); }' >g.c; aarch64-linux-gnu-gcc -shared -fPIC g.c -lm -o tree/deps/libg.so && aarch64-linux-gnu-gcc -shared -fPIC f.c -Ltree/deps -lg -o tree/lib/libf.so")
    result = lab.audit("check", "tree")
    assert result.code == 1 and "/usr/" not in re.sub("note .*", "", result.out) and "-Wl,-rpath,'$ORIGIN/../deps'" in result.out, result
    lab.sh("rm tree/lib/libf.so")
    result = lab.audit("check", "tree")
    assert result.code == 0 and result.out.count("not judged") == 1 and "libm.so.6" in result.out and "clean" in result.out
    sysroot = lab.sh("aarch64-linux-gnu-gcc -print-file-name=libc.so.6").out.strip().rsplit("/lib/", 1)[0]
    assert "libm.so.6" not in lab.audit("check", "--root", sysroot, "tree").out
    lab.sh(f"cp -L {sysroot}/lib/libm.so.6 tree/deps")  # as a package of a cross compiler has it
    assert lab.audit("check", "tree").code == 0


# Another build of a library


OLD, NEW = "FOO_1 { global: f1; local: *; };", "FOO_1 { global: f1; local: *; }; FOO_2 { global: f2; } FOO_1;"


def foo(lab, path, script):
    lab.write("l.c", "int f1(void) { return 1; } int f2(void) { return 2; }")
    lab.write("l.map", script)
    lab.sh(f"mkdir -p {pathlib.Path(path).parent} && gcc -shared -fPIC -Wl,--version-script=l.map -Wl,-soname,libfoo.so.1 l.c -o {path}")


@pytest.mark.parametrize("given", ["tree", "tree/bin/app", "x.tar"])
def test_an_unmet_version_is_one_finding_and_names_the_file_that_defines_it(lab, given):
    foo(lab, "tree/lib/libfoo.so.1.2", NEW)
    foo(lab, "tree/lib/libfoo.so.1.1", OLD)
    program(lab, "int f1(void), f2(void); int main(void) { return f1() + f2() - 3; }", "tree/lib/libfoo.so.1.2 -Wl,-rpath,'$ORIGIN/../lib'")
    lab.sh("mkdir tree/bin && mv main tree/bin/app && ln -s libfoo.so.1.1 tree/lib/libfoo.so.1 && tar cf x.tar tree")
    assert not runs(lab, "tree/bin/app")
    found = findings(lab, given, code=1)
    assert [f["rule"] for f in found] == ["version-unmet"]
    assert "libfoo.so.1.2 defines FOO_2" in found[0]["cause"]["text"] and found[0]["cause"]["kind"] == "other-build"
    if given != "x.tar":
        lab.sh(found[0]["fixes"][0]["text"].partition(": ")[2])
        assert runs(lab, "tree/bin/app") and findings(lab, given, code=0) == []


@pytest.mark.parametrize("packed", [False, True])
def test_an_older_library_without_the_symbol_is_another_build(lab, packed):
    for path, source in (("new/libq.so.1", "int f1(void) { return 1; } int f2(void) { return 2; }"), ("pkg/libq.so.1", "int f1(void) { return 1; }")):
        library(lab, path, source)
    program(lab, "int f2(void); int main(void) { return f2() - 2; }", "new/libq.so.1 -Wl,-rpath,'$ORIGIN'")
    lab.sh("mv main pkg && tar cf pkg.tar pkg")
    assert not runs(lab, "pkg/main")
    found = findings(lab, "pkg.tar" if packed else "pkg", code=1)
    assert [f["rule"] for f in found] == ["undefined-symbol"]
    assert "pkg/libq.so.1, which is found, does not define it: another build" in found[0]["cause"]["text"]
    assert found[0]["fixes"][0]["text"] == "ship the libq.so.1 that pkg/main was linked with in place of pkg/libq.so.1"
    lab.sh("cp new/libq.so.1 pkg && tar cf pkg.tar pkg")
    assert runs(lab, "pkg/main") and findings(lab, "pkg.tar" if packed else "pkg", code=0) == []


def test_the_right_one_of_two_given_libraries_is_named(lab):
    library(lab, "pkg/new/libq.so.1", "int f1(void) { return 1; } int f2(void) { return 2; }")
    library(lab, "pkg/old/libq.so.1", "int f1(void) { return 1; }")
    program(lab, "int f2(void); int main(void) { return f2() - 2; }", "pkg/new/libq.so.1 -Wl,-rpath,'$ORIGIN/old:$ORIGIN/new'")
    lab.sh("mv main pkg")
    finding = only(lab, "pkg", rule="undefined-symbol", severity="error")
    assert "pkg/old/libq.so.1, which is found for libq.so.1, does not define it; pkg/new/libq.so.1 does" == finding["cause"]["text"]
    lab.sh("cp pkg/new/libq.so.1 pkg/old")
    assert runs(lab, "pkg/main") and findings(lab, "pkg", code=0) == []


# Two folders that are given together


def test_a_folder_is_not_mended_by_another_one(lab):
    for folder in "AB":
        library(lab, f"{folder}/lib/libx.so", "int x(void) { return 0; }")
        path = {"A": "lib", "B": "../lib"}[folder]
        program(lab, "int x(void); int main(void) { return x(); }", f"A/lib/libx.so -Wl,-rpath,'$ORIGIN/{path}'", f"{folder}/prog")
    assert findings(lab, "A", "B") == findings(lab, "B", "A") == findings(lab, "B")
    (finding,) = findings(lab, "B", code=1)
    assert finding["fixes"][0]["text"] == "link B/prog with -Wl,-rpath,'$ORIGIN/lib'"


@pytest.mark.parametrize("given", ["pkg", "x.tar"])
def test_a_library_that_was_linked_by_its_path(lab, given):
    lab.sh("mkdir -p pkg/bin pkg/lib; echo 'int f(void) { return 0; }' >l.c; echo 'int f(void); int main(void) { return f(); }' >m.c; gcc -shared -fPIC l.c -o pkg/lib/libx.so; gcc m.c pkg/lib/libx.so -Wl,-rpath,'$ORIGIN/../lib' -o pkg/bin/app; tar cf x.tar pkg; mkdir e; cp -r pkg x.tar e")
    assert runs(lab, "pkg/bin/app") and not runs(lab, "cd / && $OLDPWD/pkg/bin/app")  # one folder makes the difference
    for where in (given, f"e/{given}"):
        finding = only(lab, where, rule="needed-not-found", severity="error")
        assert "pkg/lib/libx.so, which is a file of the folder that the program is started in" in finding["message"]
        assert finding["cause"]["kind"] == "needed-path" and "link libx.so with -Wl,-soname,libx.so, and then" in finding["fixes"][0]["text"]
    lab.sh("gcc -shared -fPIC -Wl,-soname,libx.so l.c -o pkg/lib/libx.so; gcc m.c pkg/lib/libx.so -Wl,-rpath,'$ORIGIN/../lib' -o pkg/bin/app; tar cf x.tar pkg")
    assert findings(lab, given, code=0) == []


def test_the_runpath_leads_to_the_library_of_the_package(lab):
    lab.sh("mkdir -p c/bin c/lib; echo 'int f(void) { return 0; }' >l.c; echo 'int f(void); int main(void) { return f(); }' >m.c; gcc -shared -fPIC -Wl,-soname,libx.so.1 l.c -o c/lib/libx.so.1; gcc m.c c/lib/libx.so.1 -Wl,-rpath,/tmp/nowhere -o c/bin/app; tar cf x.tar c")
    for given in ("c", "x.tar"):
        finding = only(lab, given, rule="runpath-unsafe", severity="warning")
        assert [fix["text"] for fix in finding["fixes"]][0] == "patchelf --set-rpath '$ORIGIN/../lib' c/bin/app"
        assert finding["fixes"][1]["text"].startswith("link it with -Wl,-rpath,'$ORIGIN/../lib' in place of -rpath /tmp/nowhere")


def test_a_program_has_loaded_what_its_plugin_needs(lab):
    lab.sh("mkdir b")
    lab.write("core.c", "int core(void) { return 3; }")
    lab.write("plug.c", "int core(void); int plug(void) { return core(); }")
    lab.write("app.c", """#include <dlfcn.h>
int core(void);
int main(void) { void *h = dlopen("b/plug.so", RTLD_NOW); return h ? ((int (*)(void))dlsym(h, "plug"))() - core() : 1; }""")
    lab.sh("gcc -shared -fPIC -Wl,-soname,libcore.so.1 core.c -o b/libcore.so.1; gcc -shared -fPIC plug.c b/libcore.so.1 -o b/plug.so")
    lab.sh("gcc app.c b/libcore.so.1 -Wl,-rpath,'$ORIGIN' -o b/app -ldl; b/app")
    for files in (["b/app", "b/plug.so"], ["b"]):
        assert only(lab, *files, rule="needed-not-found", severity="note")["notes"][0] == "b/app, which may open it, has loaded that library"
    assert lab.audit("check", "b/plug.so").code == 1


def test_a_tarball_is_not_pointed_to_a_folder_of_this_machine(lab):
    library(lab, "libx.so", "int f(void) { return 0; }")
    lab.write("main.c", "int f(void); int main(void) { return f(); }\n")
    lab.sh("mkdir -p root/opt/x pkg/bin; mv libx.so root/opt/x; gcc main.c -Lroot/opt/x -l:libx.so -o pkg/bin/main; tar cf pkg.tar pkg")
    for given, offered in (("pkg.tar", False), ("pkg", True)):
        [finding] = [f for f in findings(lab, "--root", "root", given, rule="needed-not-found") if "libx.so" in f["message"]]
        assert finding["sites"][1]["input"] == "/opt/x/libx.so" and bool(finding["fixes"]) == offered, finding


def test_nothing_makes_the_links_of_a_tarball(lab):
    """ldconfig makes them where a package is installed."""
    lab.write("f.c", "int f(void) { return 0; }")
    lab.write("main.c", "int f(void); int main(void) { return f(); }\n")
    lab.sh("mkdir -p pkg/lib pkg/bin; gcc -shared -fPIC -Wl,-soname,libf.so.2 f.c -o pkg/lib/libf.so.2.1")
    lab.sh("gcc main.c pkg/lib/libf.so.2.1 -Wl,-rpath,'$ORIGIN/../lib' -o pkg/bin/main; tar cf pkg.tar pkg")
    assert "needs libf.so.2" in only(lab, "pkg.tar", rule="needed-not-found", severity="warning")["message"]
    lab.sh("ln -s libf.so.2.1 pkg/lib/libf.so.2; tar cf pkg.tar pkg; pkg/bin/main")
    assert findings(lab, "pkg.tar") == []
