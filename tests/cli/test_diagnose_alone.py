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
    "__hip_fatbin_3c9f": "--hip-link", "hipMalloc": "-lamdhip64", "__start_reg": "retain", "_Py_NoneStruct": "-Wl,-z,defs", "__vsnprintf_chk": "-U_FORTIFY_SOURCE", "__own_chk": "source",
    "f@m()": "interface unit", "Widget@gfx.core::draw() const": "gfx.core", "initializer for module m": "interface unit", "_ZNKW3gfxW4core6Widget4drawEv": "gfx.core",
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
    ("undefined reference to foo()", "foo()"),
    ("a.cpp:(.text+0x5): undefined reference to vtable for A", "vtable for A"),
    ("a.cpp:(.text+0x5): undefined refer\nence to `foo()'", "foo()"),
    ("a.cpp:(.text+0x5): undefined reference to\n`foo()'", "foo()"),
    ("a.cpp:(.text+0x5): undefined reference to `n::foo(std::vec\ntor<int>)'", "n::foo(std::vector<int>)"),
    ("a.cpp:(.te\nxt+0x5): undefined reference to `foo()'", "foo()"),
    ("/usr/bin/ld: a.o: in function `main&#39;:\na.cpp:(.text+0x5): undefined reference to `foo&lt;int&gt;(int)&#39;", "foo<int>(int)"),
    ("multiple definition of `verbosity'; a.o:/src/options.h:2: first defined here\n", "verbosity"),
    ("relocation R_X86_64_32 against symbol `table' can not be used when making a shared object; recompile with -fPIC", "table"),
    ("error: undefined symbol: foo()\n>>> referenced by a.cpp:3\n>>>               a.o:(main)", "foo()"),
    ("duplicate symbol: foo\n>>> defined at a.h:1\n>>>            a.o:(foo)\n>>> defined at a.h:1\n>>>            b.o:(foo)", "foo"),
    ("/usr/bin/ld: a.o: undefined reference to symbol 'f_v2'\n/usr/bin/ld: note: 'f_v2' is defined in DSO x/libf.so.8 so try adding it to the linker command line\nx/libf.so.8: could not read symbols: Invalid operation", "f_v2"),
]


@pytest.mark.parametrize("log, symbol", FORMS)
def test_other_forms_of_messages(bench, log, symbol):
    [error] = errors(bench, log)
    assert error["symbol"] == symbol and error["fixes"], error


@pytest.mark.parametrize("log", ["cannot find -lfoo_of_mine", "unable to find library -lfoo_of_mine", "/usr/bin/ld: cannot fi\nnd -lfoo_of_mine: No such file or directory"])
def test_other_forms_of_a_missing_library(bench, log):
    [error] = errors(bench, log)
    assert (error["kind"], error["name"]) == ("library-not-found", "-lfoo_of_mine"), error


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
    ("ImportError: _C.so: undefined symbol: __cudaRegisterLinkedBinary_e3743398_8_shift_cu_2f1254c8", "device link"),
    ("ImportError: _C.so: undefined symbol: cublasGemmEx", "link _C.so again with -lcublas"),
    ("ImportError: libc10.so: cannot open shared object file: No such file or directory", "import torch before"),
    ("./a: /lib/libc.so.6: version `GLIBC_ABI_DT_RELR' not found (required by ./liba.so)", "nopack-relative-relocs"),
    ("./a: /lib/libc.so.6: version `GLIBC_PRIVATE' not found (required by /opt/x/libpthread.so.0)", "from one release"),
    ("/bin/sh: symbol lookup error: force.so: undefined symbol: dlsym", "-ldl"),
    ("ImportError: _ext.so: undefined symbol: _ZN3c105ErrorC1ENS_14SourceLocationERKSs", "_GLIBCXX_USE_CXX11_ABI"),
    ("ImportError: lltm.so: undefined symbol: THPVariableClass", "import torch"),
    ("ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12", "libnvJitLink.so.12"),
    ("./a: relocation error: ./a: symbol pci_init, version LIBPCI_3.2 not defined in file libpci.so.3 with link time reference", "libpci.so.3"),
    ("ImportError: dynamic module does not define module export function (PyInit_example)", "PYBIND11_MODULE(example,"),
    ("ImportError: dynamic module does not define module export function (PyInit_x)", "default visibility"),
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
    ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "libgl1"),
    ("app: error while loading shared libraries: libx.so.1: cannot open shared object file: Permission denied", "permissions"),
    ("OSError: ./a.o: only ET_DYN and ET_EXEC can be loaded", "-shared"),
    ("OSError: ./app: cannot dynamically load position-independent executable", "-shared"),
    ("bash: ./app: cannot execute binary file: Exec format error", "for this machine"),
    ("ImportError: Python version mismatch: module was compiled for Python 3.8, but the interpreter version is incompatible: 3.11", "this Python"),
    ("RuntimeError: CUDA driver version is insufficient for CUDA runtime version", "newer driver"),
    ("CUDA error: the provided PTX was compiled with an unsupported toolchain.", "newer driver"),
    ("ImportError: _C.so: undefined symbol: _ZTV5Shape", "define that function"),
    ("ImportError: _C.so: undefined symbol: GOMP_parallel", "link _C.so with -fopenmp"),
    ("ImportError: _C.so: undefined symbol: __asan_init", "LD_PRELOAD"),
    ("ImportError: _C.so: undefined symbol: cublasLtMatmul", "link _C.so again with -lcublasLt "),
    ("ImportError: _C.so: undefined symbol: __nvJitLinkCreate_12_4", "-lnvJitLink"),
    ("ImportError: _C.so: undefined symbol: nvshmem_init", "-lnvshmem_host"),
    ("ImportError: _C.so: undefined symbol: nvtxRangePushA", "-lnvToolsExt"),
    ("ImportError: _C.so: undefined symbol: cuFileRead", "-lcufile"),
    ("ImportError: _C.so: undefined symbol: cuTensorMapEncodeTiled", "-lcuda after its objects; if it is, install a newer driver"),
    ("ImportError: _C.so: undefined symbol: _ZTVN10__cxxabiv117__class_type_infoE", "C++ compiler"),
    ("AttributeError: _C.so: undefined symbol: PyInit_fast", "PYBIND11_MODULE(fast,"),
    ("ImportError: dynamic module does not define init function (initfast)", "PYBIND11_MODULE(fast,"),
    ("ImportError: libshm.so: cannot open shared object file: No such file or directory", "import torch before"),
    ("OSError: libcuda.so.1: cannot open shared object file: No such file or directory", "--gpus all"),
    ("./app: error while loading shared libraries: libnvidia-ml.so.1: cannot open shared object file: No such file or directory", "--gpus all"),
    ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "nvidia-cuda-runtime-cu12"),
    ("ImportError: libcublas.so.13: cannot open shared object file: No such file or directory", "PyPI: nvidia-cublas;"),
    ("ImportError: libnvshmem_host.so.3: cannot open shared object file: No such file or directory", "nvidia-nvshmem-cu12"),
    ("./app: error while loading shared libraries: libpython3.11.so.1.0: cannot open shared object file: No such file or directory", "LIBDIR"),
    ("ImportError: /gone/_C.so: cannot open shared object file: No such file or directory", "build or install it again"),
    ("ImportError: Error relocating _C.so: _Z3fooi: symbol not found", "ldd -r _C.so"),
    ("ImportError: Error relocating _C.so: cublasCreate_v2: symbol not found", "-lcublas "),
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


# What ended a program -> part of the note, which says that the link is not to blame.
ENDED = {
    "Killed": "memory", "Segmentation fault (core dumped)": "does not say why", "x.sh: line 1: 4711 Killed                  g++ -c a.cpp": "memory",
    "make: *** [Makefile:3: x] Segmentation fault (core dumped)": "does not say why", "make[2]: *** [CMakeFiles/a.dir/build.make:76: a.cpp.o] Killed": "memory",
    "g++: fatal error: Killed signal terminated program cc1plus": "memory", "collect2: fatal error: ld terminated with signal 9 [Killed]": "memory",
    "a.cpp:5:1: internal compiler error: in foo, at bar.c:33": "fault of its own", "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)": "crashed",
    "/usr/bin/ld: final link failed: No space left on device": "disk is full", "a.cpp:3:1: fatal error: error writing to /tmp/cc.s: No space left on device": "disk is full",
    "collect2: fatal error: ld terminated with signal 11 [Segmentation fault], core dumped": "linker itself",
}  # fmt: skip
MAY_BE_OF_LINK = ("linker itself", "does not say why")


@pytest.mark.parametrize("line", ENDED)
def test_what_is_no_error_of_the_link(bench, line):
    [error] = errors(bench, line)
    of_link = "this is not an error of the link" not in error["note"]
    assert ENDED[line] in error["note"] and of_link == (ENDED[line] in MAY_BE_OF_LINK) and error["fixes"], error


@pytest.mark.parametrize("line", ["a.cpp:1:1: error: 'Killed' was not declared", "test 7 checks that Killed is printed", "warning: x: No space left on device"])
def test_words_that_end_no_program(bench, line):
    bench.write("build.log", line + "\n")
    assert "of the link" not in bench.audit("diagnose", "build.log").out


def test_a_library_of_the_toolkit(bench):
    for file in "lib64/libcublas.so", "lib64/stubs/libcuda.so":
        bench.write("toolkit/" + file, "")
    for library, folder in {"cublas": "lib64", "cuda": "lib64/stubs"}.items():
        bench.write("build.log", f"/usr/bin/ld: cannot find -l{library}\n")
        out = bench.sh(f"CUDA_HOME=$PWD/toolkit $ELFAUDIT diagnose build.log", check=False).out
        assert f"fix: -L{bench.path}/toolkit/{folder} (lib{library}.so is there" in out, out
    [error] = errors(bench, "/usr/bin/ld: cannot find -lnvToolsExt")
    assert "CUDA::nvtx3" in error["fixes"][0] and "libnvToolsExt.so or libnvToolsExt.a was not found in or near the working directory" in error["note"], error


CUDA = [  # the log, part of the first fix
    ("nvcc fatal   : Unsupported gpu architecture 'compute_60'", "take compute_60 out of the list of architectures (TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES"),
    ("ptxas fatal   : Value 'sm_37' is not defined for option 'gpu-name'", "has it: 11.8 is the last one"),
    ("t.cu:1:10: fatal error: torch/extension.h: No such file or directory", "BuildExtension"),
    ("ptxas fatal   : Unresolved extern variable 'g_bias'", "compile with -rdc=true and make a device link (CMake: CUDA_SEPARABLE_COMPILATION ON)"),
    ("d.cu:2:14: error: redefinition of 'float g'\n    2 | __device__ float g=1;\n      |  ^\ng.cuh:1:14: note: 'float g' previously declared here\n"
     "    1 | extern __device__ float g;", "compile with -rdc=true"),
    ("/usr/bin/g++ a.o -Lnear -lgreatlyb -o x\n/usr/bin/ld: cannot find -lgreatlyb", "did you mean -lgreatlib? near/libgreatlib.a is there"),
]


@pytest.mark.parametrize("log, fix", CUDA)
def test_answers_for_cuda_and_names_almost_right(bench, log, fix):
    bench.write("near/libgreatlib.a", "")
    [error] = errors(bench, log)
    assert fix in error["fixes"][0], error


def test_a_variable_defined_twice_is_no_question_of_rdc(bench):
    [error] = errors(bench, "d.cu:2:14: error: redefinition of 'float g'\n    2 | __device__ float g=1;\nd.cu:1:14: note: previously defined here\n    1 | __device__ float g=2;")
    assert not error["fixes"], error


def test_a_folder_is_named_once(bench):
    [error] = errors(bench, "/usr/bin/g++ a.o -Lone -Lone/ -L./one/../one -lnowhere_at_all -o x\n/usr/bin/ld: cannot find -lnowhere_at_all")
    assert error["note"].count("one") == 1, error


def test_a_library_of_python_packages(bench):
    for file in "cuda_runtime/lib/libcudart.so.12", "nvshmem/lib/libnvshmem_host.so.3":
        bench.write("venv/site-packages/nvidia/" + file, "")
    site = f"{bench.path}/venv/site-packages"
    [error] = errors(bench, f"/usr/bin/g++ a.o -L{site}/torch/lib -lnvshmem_host -o _C.so\n/usr/bin/ld: cannot find -lnvshmem_host")
    assert error["fixes"][0] == f"-L{site}/nvidia/nvshmem/lib -l:libnvshmem_host.so.3 (it exists only under this name)"
    log = f'Traceback (most recent call last):\n  File "{site}/pkg/__init__.py", line 1, in <module>\nImportError: libcudart.so.12: cannot open shared object file: No such file or directory'
    [error] = errors(bench, log)
    assert f"{site}/nvidia/cuda_runtime/lib" in error["fixes"][0] and "as `import torch` does" in error["fixes"][0], error


def test_the_file_that_a_loader_names(lab):
    """What `check` says of it; else which copy here would do."""
    lab.write("c.c", "int cublasGemmEx(void), core(void); void *PyInit__C(void) { return cublasGemmEx() ? (void *)1 : (void *)(long)core(); }")
    lab.sh("gcc -shared -fPIC c.c -o _C.so")
    [error] = errors(lab, f"ImportError: {lab.path}/_C.so: undefined symbol: cublasGemmEx")
    assert error["finding"]["rule"] == "undefined-symbol" and "-lcublas after its objects, for cublasGemmEx; and link " in error["finding"]["fixes"][0]["text"], error
    lab.write("core.c", "int core(void) { return 1; }")
    lab.sh("gcc -shared -fPIC core.c -o libcore.so")
    [error] = errors(lab, "ImportError: _C.so: undefined symbol: core")
    assert error["finding"]["fixes"][0]["text"].endswith("; and link _C.so with libcore.so, which defines it"), error
    lab.sh("gcc -shared -fPIC c.c libcore.so -Wl,-rpath,'$ORIGIN' -o _C.so")
    [error] = errors(lab, "ImportError: _C.so: undefined symbol: core")
    assert "libcore.so, which _C.so would load here, defines it: another copy" in error["note"] and not error["finding"], error


CONTENTS = {
    "version https://git-lfs.github.com/spec/v1\noid sha256:0\n": "git lfs pull", "/* GNU ld script */\nGROUP ( libx.so.1 )\n": "load the library that it names",
    "PK\x03\x04": "unpack it", "!<arch>\n": "shared one",
}  # fmt: skip


@pytest.mark.parametrize("text", CONTENTS)
def test_a_file_that_is_not_elf(bench, text):
    bench.write("x.so", text)
    [error] = errors(bench, "ImportError: x.so: invalid ELF header")
    assert CONTENTS[text] in error["fixes"][0], error


# What linkers and other tools print: the log, the kind, the symbol, part of the first fix. The messages are theirs, word for word.
MESSAGES = [
    ("`.rodata.G' referenced in section `.data' of b.o: defined in discarded section `.rodata.G[G]' of b.o", "discarded-section", ".rodata.G", "alike"),
    ("`loc' referenced in section `.text' of libb.a(b.o): defined in discarded section `.text.f[G]' of libb.a(b.o)", "discarded-section", "loc", "alike"),
    ('b.o(.text+0x1): error: relocation refers to local symbol "loc" [1], which is defined in a discarded section\n  section group signature: "G"\n  prevailing definition is from a.o', "discarded-section", "loc", "alike"),
    ('b.o(.text+0x1): error: relocation refers to global symbol "extra", which is defined in a discarded section\n  section group signature: "G"', "discarded-section", "extra", "alike"),
    ("ld.lld: error: relocation refers to a symbol in a discarded section: loc\n>>> defined in b.o\n>>> referenced by b.o:(.text+0x1)", "discarded-section", "loc", "alike"),
    ("a.o: in function `main':\na.c:(.text+0x10): relocation truncated to fit: R_X86_64_PC32 against symbol `after' defined in .bss section in a.o", "relocation-overflow", "after", "-mcmodel=medium"),
    ("(.text+0x36): relocation truncated to fit: R_X86_64_PC32 against `.bss'\n(.text+0x443): additional relocation overflows omitted from the output", "relocation-overflow", None, "-mcmodel=medium"),
    ("a.o:a.c:function main: error: relocation overflow: reference to 'after' defined in a.o", "relocation-overflow", "after", "-mcmodel=medium"),
    ("ld.lld: error: a.o:(function main: .text+0x10): relocation R_X86_64_PC32 out of range: 3000008851 is not in [-2147483648, 2147483647]; references after\n>>> referenced by a.c\n>>> defined in a.o", "relocation-overflow", "after", "-mcmodel=medium"),
    ("mold: error: a.o:(.text): relocation R_X86_64_PC32 against after out of range: 3000008803 is not in [-2147483648, 2147483648)", "relocation-overflow", "after", "-mcmodel=medium"),
    ("/usr/bin/ld: state: TLS definition in a.o section .tbss mismatches non-TLS reference in b.o\n/usr/bin/ld: b.o: error adding symbols: bad value", "tls-mismatch", "state", "thread_local"),
    ("/usr/bin/ld: state: TLS reference in b.o mismatches non-TLS definition in a.o section .data\n/usr/bin/ld: a.o: error adding symbols: bad value", "tls-mismatch", "state", "thread_local"),
    ("/usr/bin/ld.gold: error: b.o: symbol 'state' used as both __thread and non-__thread\n/usr/bin/ld.gold: a.o: previous definition here", "tls-mismatch", "state", "thread_local"),
    ("ld.lld: error: TLS attribute mismatch: state\n>>> defined in a.o\n>>> defined in b.o", "tls-mismatch", "state", "thread_local"),
    ("ld.lld: error: relocation R_X86_64_PC32 cannot refer to absolute symbol: state\n>>> defined in a.o\n>>> referenced by b.c\n>>>               b.o:(main)", "relocation-not-pic", "state", "thread_local"),
    ("/usr/bin/ld: gone: undefined version: V1\n/usr/bin/ld: failed to set dynamic section sizes: bad value", "symbol-version", "gone", "--undefined-version"),
    ("ld.lld-19: error: version script assignment of 'V1' to symbol 'gone' failed: symbol not defined", "symbol-version", "gone", "--undefined-version"),
    ("/usr/bin/ld: p.so: version node not found for symbol f@@V2\n/usr/bin/ld: failed to set dynamic section sizes: bad value", "symbol-version", "f", "add a node V2"),
    ("mold: error: a.o: symbol f has undefined version V2", "symbol-version", "f", "add a node V2"),
    ("/usr/bin/ld: a.o: Relocations in generic ELF (EM: 183)\n/usr/bin/ld: a.o: error adding symbols: file in wrong format", "other-machine", None, "for this machine"),
    ("/usr/bin/ld: i386 architecture of input file `a.o' is incompatible with i386:x86-64 output", "other-machine", None, "for this machine"),
    ("ld.lld: error: libf.a(a.o) is incompatible with elf64-x86-64", "other-machine", None, "for this machine"),
    ("a.o: file not recognized: file format not recognized", "not-an-object", None, "clang -flto"),
    ("/tmp/cce5F8oy.s: Assembler messages:\n/tmp/cce5F8oy.s: Error: invalid attempt to declare external version name as default in symbol `f@@V1'\nlto-wrapper: fatal error: gcc returned 1 exit status\n"
     "/usr/bin/ld: error: lto-wrapper failed\ncollect2: error: ld returned 1 exit status", "compile-error", "f@@V1", "symver"),
    ('ERROR: modpost: "ethtool_op_get_link_x" [/src/r8152.ko] undefined!\nmake[1]: *** [scripts/Makefile.modpost:126: Module.symvers] Error 1', "other-link-error", "ethtool_op_get_link_x", "KBUILD_EXTRA_SYMBOLS"),
    ("WARNING: modpost: r8152: 'usb_helper' exported twice. Previous export was in compat.ko", "other-link-error", "usb_helper", "export usb_helper in one"),
    ("/usr/bin/ld: a.o: relocation R_X86_64_PC32 against undefined hidden symbol `__hip_fatbin_3c9f' can not be used when making a shared object",
     "undefined-reference", "__hip_fatbin_3c9f", "--hip-link"),
    ("nvlink fatal   : Input file 'libx.a:y.o' newer than toolkit (129 vs 120)", "other-link-error", None, "link with nvcc of CUDA 12.9 or later"),
    ("[libprotobuf ERROR google/protobuf/descriptor_database.cc:642] File already exists in database: a.proto", "run-time-error", None, "one shared library"),
    ("==7==ERROR: AddressSanitizer: odr-violation (0x5611c3464060):\n  [1] size=16 'table' a.c:1:5 in /x/p\n  [2] size=40 'table' b.c:1:6 in /x/libb.so", "run-time-error", "table", "extern"),
    ('auditwheel: error: cannot repair "x.whl" to "manylinux_2_28_x86_64" ABI because of the presence of too-recent versioned symbols. You\'ll need to compile the wheel on an older toolchain.', "package-refused", None, "manylinux_2_28_x86_64"),
]


@pytest.mark.parametrize("log, kind, symbol, fix", MESSAGES)
def test_what_a_message_says(bench, log, kind, symbol, fix):
    [error] = errors(bench, log)
    assert (error["kind"], error["symbol"]) == (kind, symbol) and fix in error["fixes"][0] and error["note"], error


NO_ERRORS = ["see the part on undefined reference to things", "a.cpp:3: undefined reference to the thing that follows", "note: an undefined reference to foo is no error",
             "make: [Makefile:3: x] Error 1 (ignored)", "[build] g++ a.o\n[build] ld returned",
             "the file format not recognized; treating as linker script", "gone: undefined version: V1 of the manual", "/usr/bin/ld: skipping incompatible arm/libz.a when searching for -lz"]


@pytest.mark.parametrize("line", NO_ERRORS)
def test_prose_and_warnings_are_no_errors(bench, line):
    bench.write("build.log", line + "\n")
    assert "no known error" in bench.audit("diagnose", "build.log").out


HEADER_AND_LIBRARY = ("/usr/bin/ld: /opt/nvshmem/lib/libnvshmem_device.a(init_device.cu.o):(.bss+0x380): multiple definition of `state_d'; "
                      "build/csrc/deep_ep.o:/opt/nvshmem/include/device_host_transport/nvshmem_common_ibgda.h:351: first defined here")
TWO_DEFINITIONS = [
    (HEADER_AND_LIBRARY, "nvshmem_common_ibgda.h:351 defines it in deep_ep.o, and libnvshmem_device.a(init_device.cu.o) has a definition of its own: see whether a macro or an #if at that line decides", "only where the line is a declaration"),
    ("nvlink error   : Multiple definition of '_ZN7deep_ep27nvshmemi_efa_device_state_dE' in 'build/internode_ll.o', first defined in 'build/internode.o'", "internode.o and internode_ll.o each define it", "if a header that both include"),
    ("/usr/bin/ld: b.o:/src/options.h:2: multiple definition of `verbosity'; a.o:/src/options.h:2: first defined here", "options.h:2 is a definition in each source that includes it", "make it `inline` in /src/options.h:2"),
]


@pytest.mark.parametrize("log, note, fix", TWO_DEFINITIONS)
def test_what_two_places_say(bench, log, note, fix):
    [error] = errors(bench, log)
    assert note in error["note"] and fix in error["fixes"][0] and len(error["fixes"]) == 2, error


@pytest.mark.parametrize("symbol, is_of_runtime", [
    ("std::string biggest<std::string>(int)", False), ("std::vector<int> sorted<int>(int)", False),
    ("std::ostream& operator<< <int>(std::ostream&, Matrix<int> const&)", False), ("std::unique_ptr<Shape> makeShape<Shape>(int)", False),
    ("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", True), ("std::cout", True),
])  # fmt: skip
def test_a_template_that_returns_a_type_of_the_library_is_the_users(lab, symbol, is_of_runtime):
    log = lab.write("log", f"/usr/bin/ld: m.o: in function `main':\nm.cpp:(.text+0x1): undefined reference to `{symbol}'\n")
    assert ("-lstdc++" in lab.audit("diagnose", log).out) == is_of_runtime
