"""elfaudit diagnose of messages without objects: what a name, a command and a loader's words say."""

import pytest

from test_diagnose import valid

# The linker's name for what is missing -> part of the fix.
NAMES = {
    "__atomic_fetch_add_8": "-latomic", "sqrt": "-lm", "cosf": "-lm", "dlsym": "-ldl", "clock_gettime": "-lrt", "pthread_create": "-pthread",
    "std::filesystem::file_size(std::filesystem::__cxx11::path const&)": "-lstdc++fs",
    "__asan_report_store8": "-fsanitize=address", "__ubsan_handle_add_overflow": "-fsanitize=undefined", "GOMP_parallel": "-fopenmp", "__gcov_init": "--coverage",
    "__gxx_personality_v0": "C++ compiler", "operator new(unsigned long)": "C++ compiler",
    "__isoc23_strtol": "headers of the glibc", "__stack_chk_fail": "-fno-stack-protector", "main": "-shared",
    "std::__throw_bad_array_new_length()@GLIBCXX_3.4.29": "one compiler", "TIFFOpen@LIBTIFF_4.0": "has version LIBTIFF_4.0",
    "cuCtxGetDevice": "-lcuda", "cublasCreate_v2": "-lcublas ", "cudaMalloc": "-lcudart", "__cudaRegisterFatBinary": "-lcudart",
    "__cudaRegisterLinkedBinary_52_tmpxft": "nvcc -dlink", "__fatbinwrap_38_cuda_device_runtime_compute_86": "-lcudadevrt", "nvshmemi_device_state_d": "-lnvshmem_device",
    "vtable for Shape": "define that function", "typeinfo for llvm::Pass": "RTTI", "Foo::count": "inline (C++17)", "void put<int>(int)": "instantiate it explicitly",
    "uname(utsname*)": 'extern "C"', "n::load(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)": "_GLIBCXX_USE_CXX11_ABI",
    "y::load(std::__1::basic_string<char> const&)": "-stdlib", "own_function": "source",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    return Lab(tmp_path_factory.mktemp("alone"))


def errors(lab, log):
    lab.write("build.log", log + "\n")
    result = lab.audit("diagnose", "--format", "json", "build.log")
    assert result.code == 1, result
    return valid(result)["errors"]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_name_says(bench, name):
    [error] = errors(bench, f"/usr/bin/ld: a.o: in function `f':\na.c:7: undefined reference to `{name}'")
    assert error["kind"] == "undefined-reference" and NAMES[name] in " ".join(error["fixes"]) and error["note"], error


COMMANDS = [
    ("cc -lm -o app a.o b.o", "pow", "move -lm behind the objects"),
    ("cc -o app a.o -lfoo", "pow", "add -lm"),
    ("gcc a.o libx.a -o app", "__gxx_personality_v0", "C++ compiler"),
]


@pytest.mark.parametrize("command, name, fix", COMMANDS)
def test_what_the_command_says(bench, command, name, fix):
    [error] = errors(bench, f"{command}\n/usr/bin/ld: a.o: in function `f':\na.c:7: undefined reference to `{name}'\ncollect2: error: ld returned 1 exit status")
    assert fix in error["fixes"][0], error


def test_a_cxx_compiler_lacks_no_runtime(bench):
    [error] = errors(bench, "g++ a.o -o app\n/usr/bin/ld: a.o: in function `f':\na.cpp:7: undefined reference to `std::hash<Key>::operator()(Key const&) const'")
    assert not any("C++ compiler" in fix for fix in error["fixes"]), error


FORMS = [
    ("undefined reference to `vtable for Derived'", "vtable for Derived"),
    ("src/Player.cpp:0: error: undefined reference to 'vtable for Player'", "vtable for Player"),
    ("ptxas fatal   : Unresolved extern function '_Z6mysqrtd'", "_Z6mysqrtd"),
    ("arm-none-eabi-ld: ... ): in function `main':\nx.cxx:(.text+0x42): undefined reference to `uname(utsname*)'", "uname(utsname*)"),
    ("/usr/bin/ld: a.o: undefined reference to symbol 'f_v2'\n/usr/bin/ld: note: 'f_v2' is defined in DSO x/libf.so.8 so try adding it to the linker command line\nx/libf.so.8: could not read symbols: Invalid operation", "f_v2"),
]


@pytest.mark.parametrize("log, symbol", FORMS)
def test_other_forms_of_messages(bench, log, symbol):
    [error] = errors(bench, log)
    assert error["symbol"] == symbol and error["fixes"], error


def test_a_library_of_another_is_named_by_its_option(bench):
    [error] = errors(bench, "/usr/bin/ld: a.o: undefined reference to symbol 'dlsym@@GLIBC_2.2.5'\n/usr/lib/libdl.so.2: error adding symbols: DSO missing from command line")
    assert error["fixes"][0].startswith("put -ldl on the link line"), error


LOADERS = [
    ("./app: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by ./app)", "glibc 2.34 or later"),
    ("OSError: env/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found", "libstdcxx-ng"),
    ("openssl: /usr/lib/libssl.so.1.1: version `OPENSSL_1_1_1' not found (required by openssl)", "libssl.so.1.1"),
    ("app: error while loading shared libraries: libgrab.so.9: cannot open shared object file: No such file or directory", "ldconfig"),
    ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "libcudart of version 12"),
    ("x.rb:136:in 'require': libruby.so.3.3: cannot open shared object file: No such file or directory - gems/c.so (LoadError)", "gem pristine"),
    ("app: error while loading shared libraries: @rpath/libfoo.so.1: cannot open shared object file: No such file or directory", "-soname,libfoo.so.1"),
    ("./cli: symbol lookup error: build/libllama.so: undefined symbol: ggml_has", "ldd -r build/libllama.so"),
    ("/bin/sh: symbol lookup error: force.so: undefined symbol: dlsym", "-ldl"),
    ("ImportError: _ext.so: undefined symbol: _ZN3c105ErrorC1ENS_14SourceLocationERKSs", "_GLIBCXX_USE_CXX11_ABI"),
    ("ImportError: lltm.so: undefined symbol: THPVariableClass", "import torch"),
    ("ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12", "libnvJitLink.so.12"),
    ("./a: relocation error: ./a: symbol pci_init, version LIBPCI_3.2 not defined in file libpci.so.3 with link time reference", "libpci.so.3"),
    ("ImportError: dynamic module does not define module export function (PyInit_example)", "PYBIND11_MODULE(example,"),
    ("NODE_MODULE_VERSION 83. This version of Node.js requires", "npm rebuild"),
    ("Error: no kernel image is available for execution on the device 209", "-gencode"),
    ("CUDA error cudaErrorSymbolNotFound [bulk.cuh:239]: named symbol not found", "-gencode"),
    ("ImportError: libgomp.so.1.0.0: cannot allocate memory in static TLS block", "LD_PRELOAD"),
    ("x.so: cannot enable executable stack as shared object requires: Invalid argument", "noexecstack"),
    ("ELF load command address/offset not properly aligned", "patchelf"),
    ("couldn't load file: lib/x.so: wrong ELF class: ELFCLASS64", "word size"),
    ("Error: build/Release/farmhash.node: invalid ELF header", "platform that runs it"),
    ("libwebp.so.7: file too short", "links kept as links"),
    ("app: error while loading shared libraries: libz.so.1: failed to map segment from shared object: Operation not permitted", "TMPDIR"),
    ("java.lang.UnsatisfiedLinkError: x.so: Error relocating x.so: __longjmp_chk: symbol not found", "Alpine"),
    ("java.lang.UnsatisfiedLinkError: x.so: Error loading shared library libgcc_s.so.1: No such file or directory (needed by x.so)", "apk add libgcc"),
    ("java.lang.UnsatisfiedLinkError: x.so: libc.musl-x86_64.so.1: cannot open shared object file: No such file or directory", "glibc"),
]


@pytest.mark.parametrize("line, fix", LOADERS)
def test_what_a_loader_says(bench, line, fix):
    [error] = errors(bench, line)
    assert error["kind"] == "load-refused" and error["tool"] == "loader" and fix in error["fixes"][0] and error["note"], error


@pytest.mark.parametrize("line", ["ld.lld: error: undefined symbol: f", "wasm-ld: error: undefined symbol: f", "/usr/bin/ld.gold: error: x.so: file too short"])
def test_a_linker_is_no_loader(bench, line):
    bench.write("build.log", line + "\n")
    assert "load-refused" not in bench.audit("diagnose", "--format", "json", "build.log").out
