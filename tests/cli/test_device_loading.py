"""device-registrar-shared and kernel-stub-shared: device code of one name in two files of a process.

What nvcc makes is written here in C: the functions of the device link, and the host half of a kernel. tests/device/test_loaded_kernels.py
has the same with nvcc."""

import pytest

from elfaudit_test import need

need("gcc", "g++")

PIC = "-shared -fPIC"
LOADED = "-Wl,--no-as-needed -L. -Wl,-rpath,'$ORIGIN'"
PREFIX = "__cudaRegisterLinkedBinary_87b2da65_"
CORE, RUNTIME = PREFIX + "7_core_cu_state", PREFIX + "22_cuda_device_runtime_cu_x"


def registers(*names):
    """The source of a file whose device link has these objects."""
    return "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + "".join(f"void {name}(void) {{}}\n__attribute__((constructor)) static void start_{i}(void) {{ {name}(); }}\n"
                   for i, name in enumerate(names)) + "#ifdef __cplusplus\n}\n#endif\n"


def found(lab, *words, rule="device-registrar-shared"):
    report = lab.audit("check", "--format", "json", "--library-path", ".", *words).json()
    return [f for f in report["findings"] if f["rule"] == rule]


def files(finding):
    return [site["input"].removeprefix("./") for site in finding["sites"]]


def libraries(lab, first=CORE, second=CORE, options="", driver="gcc"):
    lab.write("m.c", "int main(void) { return 0; }\n")
    for name, registrar in {"a": first, "b": second}.items():
        lab.write(f"{name}.c", registers(PREFIX + f"4_{name}_cu_k", registrar))
        lab.sh(f"{driver} {PIC} {options if name == 'b' else ''} {name}.c -o lib{name}.so")
    lab.sh(f"{driver} m.c {LOADED} -la -lb -o app")


@pytest.mark.parametrize("driver", ["gcc", "g++", "clang"])
def test_two_libraries_of_a_program(lab, driver):
    need(driver)
    libraries(lab, driver=driver)
    (finding,) = found(lab, "app")
    assert (finding["severity"], finding["symbol"], files(finding)) == ("error", CORE, ["liba.so", "libb.so"])
    assert finding["message"] == "libb.so registers its device code with liba.so, which is loaded first: its kernels fail"
    assert "core.cu" in finding["cause"]["text"]
    bound = lab.sh("LD_DEBUG=bindings ./app 2>&1").out
    assert f"libb.so [0] to ./liba.so [0]: normal symbol `{CORE}'" in bound.replace(str(lab.path), ".")


@pytest.mark.parametrize(
    "options",
    ["-Wl,-Bsymbolic", "-Wl,-Bsymbolic-functions", "-fvisibility=hidden", "-fvisibility=protected", "-Wl,--version-script=local.map"],
)
def test_a_library_that_keeps_its_own(lab, options):
    """The fixes."""
    lab.write("local.map", "{ local: __cudaRegisterLinkedBinary_*; };\n")
    libraries(lab, options=options)
    assert found(lab, "app") == []


def test_other_objects(lab):
    libraries(lab, second=CORE.replace("87b2", "87b3"))
    assert found(lab, "app") == []


def test_the_device_runtime_alone(lab):
    libraries(lab, RUNTIME, RUNTIME)
    (finding,) = found(lab, "app")
    assert "libcudadevrt" in finding["cause"]["text"] and not any("one device link" in fix["text"] for fix in finding["fixes"])


def test_files_that_are_given_together(lab):
    libraries(lab)
    (finding,) = found(lab, "liba.so", "libb.so")
    assert finding["severity"] == "warning" and "loaded together, the kernels of one fail" in finding["message"]
    lab.sh(f"gcc {PIC} -Wl,-Bsymbolic a.c -o liba.so")
    assert len(found(lab, "liba.so", "libb.so")) == len(found(lab, "libb.so", "liba.so")) == 1  # liba.so may come first
    for name in "ab":
        lab.sh(f"(cat {name}.c; echo 'void *PyInit_{name}(void) {{ return 0; }}') | gcc {PIC} -x c - -o lib{name}.so")
    assert found(lab, "liba.so", "libb.so") == []  # Python's import keeps their names apart


def test_a_plugin_of_a_program(lab):
    lab.write("m.c", registers(CORE) + "int main(void) { return 0; }\n")
    lab.write("p.c", registers(PREFIX + "4_p_cu_k", CORE))
    lab.sh(f"gcc {PIC} p.c -o plugin.so && gcc -rdynamic m.c -o app && gcc m.c -o closed")
    (finding,) = found(lab, "app", "plugin.so")
    assert (finding["severity"], files(finding)) == ("warning", ["app", "plugin.so"])
    assert found(lab, "closed", "plugin.so") == [] and found(lab, "app", "closed") == []
    lab.sh(f"gcc {PIC} m.c -Dmain=other -o libcore.so && echo 'int main(void) {{ return 0; }}' | gcc -x c - {LOADED} -lcore -o host")
    (finding,) = found(lab, "host", "plugin.so")
    assert finding["message"] == "plugin.so registers its device code with libcore.so where host loads it: its kernels fail"


def test_what_a_library_loads(lab):
    """A chain: top.so loads libb.so, which loads liba.so."""
    libraries(lab)
    lab.sh(f"gcc {PIC} b.c {LOADED} -la -o libb.so && gcc {PIC} m.c {LOADED} -lb -o top.so")
    (finding,) = found(lab, "top.so")
    assert (finding["severity"], files(finding)) == ("warning", ["libb.so", "liba.so"])


def test_three_libraries(lab):
    libraries(lab)
    lab.write("c.c", registers(CORE))
    lab.sh(f"gcc {PIC} c.c -o libc3.so && gcc m.c {LOADED} -la -lb -lc3 -o app")
    (finding,) = found(lab, "app")
    assert files(finding) == ["liba.so", "libb.so", "libc3.so"]


@pytest.mark.parametrize("objects, first", [("m.o", "liba.so"), ("m.o d.o", "d.o")])
def test_a_link_command(lab, objects, first):
    libraries(lab)
    lab.write("d.c", registers(CORE))
    lab.sh("gcc -c m.c d.c")
    assert {files(f)[0] for f in found(lab, "--", "gcc", *objects.split(), "-L.", "-Wl,--no-as-needed", "-la", "-lb", "-o", "x")} == {first}
    lab.sh("gcc -fvisibility=hidden -c d.c")
    assert found(lab, "--", "gcc", "m.o", "d.o", "-L.", "-Wl,--no-as-needed", "-lb", "-o", "x") == []


# --- kernel-stub-shared

KERNEL = """
asm(".section .nv_fatbin, \\"a\\"\\n.quad 0\\n.text");
WEAK void NAME() {}
#if SHARED
extern "C" void __cudaRegisterFunction(void (*)(), const char *);
#else
extern "C" __attribute__((visibility("hidden"))) void __cudaRegisterFunction(void (*)(), const char *) {}
#endif
__attribute__((constructor)) static void start() { __cudaRegisterFunction(NAME, STRING); }
void LAUNCH() { CALL; }
"""


def kernels(lab, options="", call="NAME()", name="blur", string="_Z4blurv", shared="", weak="", driver="g++"):
    lab.write("k.cpp", KERNEL)
    lab.write("m.cpp", "void one(), two();\nint main() { one(); two(); }\n")
    words = f"{PIC} {shared} -DWEAK='{weak}' -DNAME={name} -DSTRING='\"{string}\"' -DCALL='{call}'"
    for library in ("one", "two"):
        lab.sh(f"{driver} {words} -DLAUNCH={library} {options if library == 'two' else ''} k.cpp -o lib{library}.so")
    lab.sh(f"{driver} m.cpp {LOADED} -lone -ltwo -Wl,--unresolved-symbols=ignore-all -o app")
    return found(lab, "app", rule="kernel-stub-shared")


@pytest.mark.parametrize("weak", ["", "__attribute__((weak))"])
def test_a_launch_that_goes_to_another_runtime(lab, weak):
    (finding,) = kernels(lab, weak=weak)
    assert (finding["severity"], finding["symbol"], files(finding)) == ("error", "_Z4blurv", ["libone.so", "libtwo.so"])
    assert finding["message"] == "blur() in libtwo.so is launched through libone.so, and the kernel does not run"


@pytest.mark.parametrize(
    "case",
    [
        {"call": "(void)0"},  # the compiler has put it into the caller
        {"options": "-fvisibility=hidden"},
        {"options": "-Wl,-Bsymbolic"},
        {"shared": "-DSHARED"},  # the same kernel for the same GPUs
    ],
)
def test_kernels_that_are_launched_as_meant(lab, case):
    assert kernels(lab, **case) == []


def test_functions_that_are_no_kernels(lab):
    assert kernels(lab, string="_Z4edgev") == []
    assert kernels(lab, name='extern_c', string="extern_c", weak='extern "C"') == []  # a word, and no kernel's name in the device code
