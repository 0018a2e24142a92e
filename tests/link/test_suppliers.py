"""An undefined symbol is half the story: who would have defined it?"""

import re

import pytest

from elfaudit_test import by_symbol, need

need("g++", "gcc", "ld.bfd", "ar")


def notes(lab, *words, driver="g++"):
    """{symbol: what is said of it, the cause first} for every undefined symbol."""
    result = lab.audit("check", "--format", "json", "--", driver, *words, "-o", "out")
    assert result.code == 1, result
    return {f["symbol"]: [f["cause"]["text"], *f["notes"]] for f in result.json()["findings"] if f["rule"] == "undefined-symbol"}


@pytest.fixture
def shop(lab):
    lab.cc("main.o", "extern \"C\" int wares(); int main() { return wares(); }")
    lab.cc("wares.o", "extern \"C\" int wares() { return 1; }", "g++ -fPIC")
    lab.sh("mkdir d e")
    return lab


def test_archive_in_the_search_path(shop):
    shop.ar("d/libwares.a", "wares.o")
    assert notes(shop, "main.o", "-Ld", "-Le") == {"wares": ["d/libwares.a defines it and is not on the line: -lwares"]}


def test_shared_object_in_the_search_path(shop):
    shop.sh("g++ -shared wares.o -o d/libwares.so")
    assert notes(shop, "main.o", "-Ld") == {"wares": ["d/libwares.so defines it and is not on the line: -lwares"]}


def test_library_of_the_system(lab):
    lab.cc("main.o", "#include <zlib.h>\nint main() { return zlibVersion()[0]; }")
    [said] = notes(lab, "main.o")["zlibVersion"]
    assert said.endswith("-lz"), said


def test_nobody(shop):
    shop.sh("rm wares.*")
    assert notes(shop, "main.o") == {"wares": ["no library in the search path defines it"]}


def test_objects_beside_those_of_the_line(shop):
    shop.cc("again.o", "extern \"C\" int wares() { return 1; } int main() { return wares(); }")  # main.o has one
    assert notes(shop, "main.o") == {"wares": ["wares.o defines it and is not on the line"]}


def test_archive_beside_one_that_is_named_by_its_path(shop):
    shop.cc("tools.o", "extern \"C\" int tools() { return 1; }", "g++ -fPIC")
    shop.ar("d/libtools.a", "tools.o")
    shop.ar("d/libwares.a", "wares.o")
    shop.sh("g++ -shared wares.o -o d/libwares.so && rm wares.o")
    assert notes(shop, "main.o", "d/libtools.a") == {"wares": ["d/libwares.a defines it and is not on the line"]}


def test_archive_beside_one_that_is_named_by_its_path_before_the_search_path(shop):
    shop.cc("tools.o", "extern \"C\" int tools() { return 1; }", "g++ -fPIC")
    shop.ar("d/libtools.a", "tools.o")
    shop.ar("d/libwares.a", "wares.o")
    shop.sh("g++ -shared wares.o -o e/libwares-14.so && rm wares.o")
    said = notes(shop, "main.o", "d/libtools.a", "-Le")
    assert said == {"wares": ["d/libwares.a defines it and is not on the line"]}


def test_library_that_has_the_very_name_beside_one_with_other_parameters(shop):
    shop.cc("user.o", "int price(int); int main() { return price(1); }")
    shop.cc("other.o", "int price(long) { return 1; }")
    assert notes(shop, "user.o", "other.o", "-Ld") == {"_Z5pricei": ["other.o defines price(long)"]}
    shop.cc("price.o", "int price(int) { return 1; }")
    shop.ar("d/libprice.a", "price.o")
    shop.sh("rm price.o")
    assert notes(shop, "user.o", "other.o", "-Ld") == {"_Z5pricei": ["d/libprice.a defines it and is not on the line: -lprice"]}


def test_shared_object_beside_one_that_is_named_by_its_path(shop):
    shop.cc("tools.o", "extern \"C\" int tools() { return 1; }", "g++ -fPIC")
    shop.sh("g++ -shared tools.o -o d/libtools.so && g++ -shared wares.o -o d/libwares.so")
    shop.ar("d/libwares.a", "wares.o")
    shop.sh("rm wares.o")
    assert notes(shop, "main.o", "d/libtools.so") == {"wares": ["d/libwares.so defines it and is not on the line"]}


def test_archive_too_early(shop):
    shop.ar("libwares.a", "wares.o")
    [said] = notes(shop, "libwares.a", "main.o")["wares"]
    assert said.startswith("libwares.a(wares.o) defines it, and the archive is on the line too early: before main.o needs it")


ROUNDS = {  # sources of liba and libb, with what each needs of the other
    "back again": ("int b1(); int a1() { return b1(); }", "int a2() { return 2; }", "int a2(); int b1() { return a2(); }", "int b2() { return 1; }"),
    "twice around": ("int b1(); int a1() { return b1(); }", "int b2(); int a2() { return b2(); }", "int a2(); int b1() { return a2(); }", "int b2() { return 1; }"),
}


@pytest.mark.parametrize("sources", ROUNDS.values(), ids=ROUNDS)
def test_archives_that_need_each_other(lab, sources):
    """The edit as it is told, done."""
    lab.cc("m.o", "int a1(); int main() { return a1() - 2; }")
    for name, text in zip(("a1.o", "a2.o", "b1.o", "b2.o"), sources):
        lab.cc(name, text)
    lab.ar("liba.a", "a1.o", "a2.o")
    lab.ar("libb.a", "b1.o", "b2.o")
    lab.sh("rm a?.o b?.o")
    [finding] = lab.audit("check", "--format", "json", "--", "g++", "m.o", "-L.", "-lb", "-la").json()["findings"]
    group = re.fullmatch(r"put (\S+) and (\S+) between (\S+) and (\S+), in place of -la: they need each other", finding["fixes"][0]["text"])
    lab.sh(f"! g++ m.o -L. -lb -la 2>/dev/null && ! g++ m.o -L. -la -lb 2>/dev/null; g++ m.o -L. {group[3]} {group[1]} {group[2]} {group[4]} -o m")


def test_a_library_for_another_machine(lab):
    """-l passes over it: nothing is found, or the next one of that name."""
    need("aarch64-linux-gnu-gcc")
    lab.cc("m.o", "int f(void), g(void); int main(void) { return f() + g(); }", "gcc")
    lab.cc("f.o", "int f(void) { return 1; }", "aarch64-linux-gnu-gcc")
    lab.cc("g.o", "int g(void) { return 1; }", "gcc")
    lab.ar("libfg.a", "f.o", "g.o")
    lab.sh("rm f.o g.o; mkdir d; ar rcs d/libfg.a")
    said = notes(lab, "m.o", "-L.", "-Ld", "-lfg", driver="gcc")
    assert said == {"f": ["-lfg finds ./libfg.a, which defines it, and the linker passes over that: its first object is for aarch64"]}  # g has the same cause
    lab.sh("rm -r d")
    [finding] = lab.audit("check", "--format", "json", "--", "gcc", "m.o", "-L.", "-lfg").json()["findings"]
    assert finding["cause"]["text"] == "the first object in ./libfg.a is for aarch64, and this link for x86_64" and "build ./libfg.a for x86_64" in finding["fixes"][0]["text"]
    lab.cc("f.o", "int f(void) { return 1; }", "gcc")
    lab.cc("g.o", "int g(void) { return 1; }", "gcc")
    lab.ar("libfg.a", "f.o", "g.o")
    assert lab.audit("check", "--", "gcc", "m.o", "-L.", "-lfg").code == 0


@pytest.mark.parametrize("also, rule", [((), "unreadable-input"), (("g.o",), None)])
def test_an_archive_in_an_archive(lab, also, rule):
    """GNU ld refuses one that has nothing else in it."""
    lab.cc("m.o", "int f(void); int main(void) { return f(); }", "gcc")
    lab.cc("f.o", "int f(void) { return 0; }", "gcc")
    lab.cc("g.o", "int g(void) { return 0; }", "gcc")
    lab.ar("libi.a", "f.o")
    lab.ar("libo.a", "libi.a", *also)
    assert lab.sh("gcc m.o libo.a", check=False).code != 0
    findings = lab.audit("check", "--format", "json", "--", "gcc", "m.o", "libo.a").json()["findings"]
    assert [f["rule"] for f in findings] == ["undefined-symbol", rule][: 2 if rule else 1]
    assert findings[0]["cause"]["kind"] == "archive-in-archive"
    assert {f["fixes"][0]["text"] for f in findings} == {"put the objects of libi.a into libo.a, not libi.a itself, or link libi.a in place of libo.a"}
    lab.sh("ar rcs libo.a f.o && ar d libo.a libi.a && gcc m.o libo.a && gcc m.o libi.a")


def test_procedures_of_fortran_modules(lab):
    need("gfortran")
    fortran = "module m\ncontains\nsubroutine solve(n){}\ninteger :: n\nn = n\nend subroutine\nend module\n"
    lab.write("m.f90", fortran.format(""))
    lab.sh("gfortran -c m.f90")
    for declared, called in (('extern "C" void solve_(int *);', "solve_"), ('extern "C" void solve(int *);', "solve"), ("void solve(int *);", "solve")):
        lab.cc("main.o", f"{declared} int main() {{ int n = 0; {called}(&n); return n; }}")
        [finding] = lab.audit("check", "--format", "json", "--", "g++", "main.o", "m.o").json()["findings"]
        assert finding["cause"]["text"] == "m.o has solve of a Fortran module, whose name for the linker is __m_MOD_solve"
        assert finding["fixes"][0]["text"].startswith(f'write bind(C, name="{called}") behind')
    lab.cc("main.o", 'extern "C" void solve_(int *); int main() { int n = 0; solve_(&n); return n; }')
    lab.write("m.f90", fortran.format(' bind(C, name="solve_")'))
    lab.sh("gfortran -c m.f90 && g++ main.o m.o")


def test_functions_of_rust(lab):
    """Their names are written by hand: a Rust compiler is not everywhere."""
    lab.cc("m.o", "int r_add(int), r_mul(int); int main(void) { return r_add(1) + r_mul(1); }", "gcc")
    lab.cc("rs.o", "int add(int x) __asm__(\"_ZN2rs5r_add17h0123456789abcdefE\"); int add(int x) { return x; } void rust_eh_personality(void) {}", "gcc")
    lab.ar("librs.a", "rs.o")
    lab.sh("rm rs.o")
    fixes = {f["symbol"]: f["fixes"][0]["text"] for f in lab.audit("check", "--format", "json", "--", "gcc", "m.o", "librs.a").json()["findings"]}
    assert fixes["r_add"] == 'write #[no_mangle] pub extern "C" fn r_add in the Rust source'
    assert fixes["r_mul"].endswith('if it is a function of librs.a, which is Rust\'s: #[no_mangle] pub extern "C" fn r_mul')


def test_a_template_that_is_instantiated_for_others(lab):
    lab.cc("pool.o", "template <class T> struct Pool { T get(); }; template <class T> T Pool<T>::get() { return 3; } template struct Pool<int>; template struct Pool<long>;")
    lab.cc("main.o", "template <class T> struct Pool { T get(); }; int main() { return Pool<double>().get(); }")
    [finding] = lab.audit("check", "--format", "json", "--", "g++", "main.o", "pool.o").json()["findings"]
    assert finding["cause"]["text"] == "pool.o has the template for other arguments: Pool<int>::get()"
    assert [fix["text"] for fix in finding["fixes"]] == ["instantiate it explicitly where the template is defined (`template class Pool<double>;`)"]


def test_shared_object_dropped_by_as_needed(shop):
    shop.sh("g++ -shared wares.o -o libwares.so")
    [said] = notes(shop, "-Wl,--as-needed", "./libwares.so", "main.o")["wares"]
    assert "too early" in said and "--as-needed" in said, said


def test_static_in_another_file(shop):
    shop.cc("other.o", "static int wares() { return 1; } int (*user)() = wares;", "gcc")
    assert "other.o has it as a local symbol (static, assembly without .globl, or objcopy)" in notes(shop, "main.o", "other.o")["wares"]


def test_label_of_assembly(shop):
    shop.cc("other.o", '__asm__("wares: ret");', "gcc")
    found = undefined(shop, "g++ main.o other.o")["wares"]
    assert found["cause"]["text"] == "other.o has it as a label of assembly that is not global" and "write .globl wares" in found["fixes"][0]["text"], found


def test_symbol_made_local(shop):
    """Of C nothing shows whether the source says `static`; in C++ `static` changes the name."""
    shop.cc("k.o", "template <typename T> void mult(T) {} template void mult<float>(float); extern \"C\" int wares() { return 1; }")
    shop.cc("m.o", "template <typename T> void mult(T); extern \"C\" int wares(); int main() { mult<float>(1); return wares(); }")
    shop.sh("objcopy --localize-symbol=_Z4multIfEvT_ --localize-symbol=wares k.o && rm wares.o main.o")
    found = undefined(shop, "g++ m.o k.o")
    assert found["_Z4multIfEvT_"]["cause"]["text"] == "k.o has it as a local symbol"
    assert found["wares"]["cause"]["text"] == "k.o has it as a local symbol (static, assembly without .globl, or objcopy)"


@pytest.mark.parametrize("file", ["k.o", "libk.a"])
def test_local_name_of_a_kernel(lab, file):
    """nvcc 13 gives the host functions of __global__ templates internal linkage, under the name that others refer to."""
    lab.cc("m.o", "template <typename T> void mult(T); int main() { mult<float>(1); }")
    lab.cc("k.o", 'extern "C" void __cudaRegisterFunction(); template <typename T> void mult(T) { __cudaRegisterFunction(); }'
                  " template void mult<float>(float);")
    lab.sh("objcopy --localize-symbol=_Z4multIfEvT_ k.o && ar rc libk.a k.o")
    found = undefined(lab, f"g++ m.o {file}")["_Z4multIfEvT_"]
    assert "nvcc keeps the host function" in found["cause"]["text"] and "-static-global-template-stub=false" in found["fixes"][0]["text"], found


TEMPLATE = "template <class T> T f(T); template <class T> struct S { int g(T); };"
KEPT = [  # what m.cpp declares and calls, what f.cpp has, the cause, the fix
    (TEMPLATE, "f(1)", "template <class T> T f(T t) { return t; }", "no linked file instantiates this template", "(`template int f<int>(int);`)"),
    (TEMPLATE, "S<int>().g(1)", TEMPLATE + "template <class T> int S<T>::g(T) { return 1; }", "no linked file instantiates this template", "(`template class S<int>;`)"),
    (TEMPLATE, "f(1)", "", "no linked file instantiates this template", "(`template int f<int>(int);`)"),
    ("int f();", "f()", "inline int f() { return 1; }", "f.cpp:1 defines it inline: compilers emit that only where it is used, and f.o does not have it", "take `inline` from the definition"),
    ("int f(int);", "f(1)", "inline int f(long) { return 1; }", "no library in the search path defines it", "define it"),
    ("extern const int f;", "f", "const int f = 1;", "f.cpp:1 defines it as a const, which in C++ is for that file alone", "write `extern`"),
    ("struct B { B(); virtual int a() = 0; };", "0; } B::B() { a()", "", "it is pure virtual in m.cpp:1, and is called by its full name", "derived class"),
]


@pytest.mark.parametrize("declared, call, source, cause, fix", KEPT)
def test_definitions_that_a_source_keeps(lab, declared, call, source, cause, fix):
    lab.write("f.cpp", source + " int other;\n")
    lab.write("m.cpp", f"{declared}\nint main() {{ return {call}; }}\n")
    lab.sh("g++ -w -O1 -c m.cpp f.cpp")
    [found] = undefined(lab, "g++ m.o f.o").values()
    assert found["cause"]["text"].startswith(cause) and fix in found["fixes"][0]["text"] and "__global__" not in str(found), found
    assert ("f.cpp:1 defines the template" in found["notes"]) == ("template" in source), found


# What one compiler calls a template, and what another does; then names that are not of one template.
CONSTRAINED = [
    ("_ZN3ArbC1IiTnNSt9enable_ifIXsr3stdE13is_integral_vIT_EEiE4typeELi0EEES2_", "_ZN3ArbC1IiLi0EEET_", True),
    ("_Z3getIiET_S0_", "_Z3getITk9ValueLikeiET_S0_", True),
    ("_Z3getITk9ValueLikeiET_S0_", "_Z3getIlET_S0_", False),
    ("_Z3getITk9ValueLikeiET_S0_", "_Z4gateIiET_S0_", False),
]


@pytest.mark.parametrize("missing, defined, same", CONSTRAINED)
def test_constraints_in_names(lab, missing, defined, same):
    lab.cc("m.o", f'int f(void) __asm__("{missing}"); int main(void) {{ return f(); }}', "gcc")
    lab.cc("d.o", f'int f(void) __asm__("{defined}"); int f(void) {{ return 1; }}', "gcc")
    found = undefined(lab, "gcc m.o d.o")[missing]
    assert (found["cause"]["kind"] == "other-mangling") == same, found
    assert not same or ("-fclang-abi-compat=17" in found["fixes"][0]["text"] and "d.o" in found["cause"]["text"]), found


SECTION = "int entry __attribute__((used, section(\"reg\"))) = 1;"
BOUNDS = [  # what has the section, what is linked, the cause
    (SECTION, "m.o a.o -Wl,--gc-sections,-z,start-stop-gc", "a.o has the section reg, and the link leaves it out (--gc-sections)"),
    (SECTION, "m.o liba.a", "liba.a(a.o) has the section reg, and nothing that is linked needs a symbol of that member"),
    ("", "m.o a.o", "the linker defines it where the link has a section reg, and no input has one"),
]


@pytest.mark.parametrize("source, words, cause", BOUNDS)
def test_bounds_of_a_section(lab, source, words, cause):
    lab.cc("m.o", "extern int __start_reg[], __stop_reg[]; int main(void) { return __stop_reg - __start_reg; }", "gcc")
    lab.ar("liba.a", lab.cc("a.o", source, "gcc -fdata-sections"))
    result = lab.audit("check", "--format", "json", "--", "gcc", *words.split(), "-o", "out").json()
    [found] = result["findings"]
    assert found["cause"]["text"] == cause and [also["symbol"] for also in found["also"]] == ["__stop_reg"], found


def test_a_module_takes_python_from_the_interpreter(lab):
    lab.cc("m.o", "void PyErr_Clear(void), PyErr_Print(void); void f(void) { PyErr_Clear(); PyErr_Print(); }", "gcc -fPIC")
    lab.sh("mkdir lib")
    lab.ar("lib/libpython3.11.a", lab.cc("p.o", "void PyErr_Clear(void) {} void PyErr_Print(void) {}", "gcc -fPIC"))
    lab.sh("rm p.o p.c")
    [found] = undefined(lab, "gcc -shared -Wl,-z,defs m.o -Llib").values()
    assert "link an extension without -Wl,-z,defs" in found["fixes"][0]["text"] and len(found["also"]) == 1, found
    assert found["notes"] == ["lib/libpython3.11.a of the search path defines it, and is not for this link"], found


def test_libraries_that_are_no_answer(lab):
    """For another machine; a library that was device-linked with the object that is missing."""
    lab.cc("m.o", "int far(void), __fatbinwrap_1(void); int main(void) { return far() + __fatbinwrap_1(); }", "gcc")
    lab.cc("far.o", "int far(void) { return 1; }", "gcc")
    code = bytearray((lab.path / "far.o").read_bytes())
    code[18] = 183  # e_machine: aarch64
    (lab.path / "far.o").write_bytes(code)
    lab.sh("mkdir d; ar rc d/libfar.a far.o")
    lab.cc("core.o", "int __fatbinwrap_1(void) { return 1; }", "gcc -fPIC")
    lab.ar("libcore.a", "core.o")
    lab.sh("gcc -shared core.o -o libcore.so && rm far.o far.c")
    found = undefined(lab, "gcc m.o -Ld")
    assert found["far"]["cause"]["kind"] == "no-provider", found
    assert [fix["text"] for fix in found["__fatbinwrap_1"]["fixes"]] == ["add core.o after m.o"], found


def test_archive_and_shared_object_of_one_name(lab):
    """-lvend is the one in the first folder."""
    lab.cc("m.o", "int vend_new(void), vend_ctrl(void); int main(void) { return vend_new() + vend_ctrl(); }", "gcc")
    lab.cc("b.o", "int vend_new(void) { return 1; }", "gcc")
    lab.cc("s.o", "int vend_new(void) { return 1; } int vend_ctrl(void) { return 2; }", "gcc -fPIC")
    lab.sh("mkdir v1 v2; ar rc v1/libvend.a b.o; gcc -shared s.o -o v2/libvend.so; rm s.o b.o; cp m.o m")
    assert undefined(lab, "gcc m -Lv1 -Lv2 -lvend")["vend_ctrl"]["fixes"][0]["text"] == "link v2/libvend.so in place of v1/libvend.a: put -Lv2 first"
    lab.sh("gcc m.o v2/libvend.so -o out")


def test_bitcode_in_an_archive_of_gnu_ar(lab):
    need("clang-19")
    lab.cc("m.o", "int af(void); int main(void) { return af(); }", "gcc")
    lab.cc("a.o", "int af(void) { return 1; }", "clang-19 -flto")
    lab.sh("ar rc liba.a a.o 2> /dev/null")
    [fix, *_] = undefined(lab, "gcc m.o liba.a")["af"]["fixes"]
    assert "llvm-ar" in fix["text"] and "ranlib" not in fix["text"], fix


def test_not_exported_by_a_shared_object(shop):
    shop.write("none.map", "{ local: *; };")
    shop.sh("g++ -shared wares.o -Wl,--version-script,none.map -o libwares.so")
    assert "libwares.so has it, but does not export it" in notes(shop, "main.o", "libwares.so")["wares"]


def test_extern_c_missing_in_the_definition(shop):
    shop.cc("plusplus.o", "int wares() { return 1; }")
    assert notes(shop, "main.o", "plusplus.o")["wares"] == ["plusplus.o defines wares() in C++: extern \"C\" is missing there"]


def test_extern_c_missing_in_the_declaration(lab):
    lab.cc("main.o", "int wares(); int main() { return wares(); }")
    lab.cc("wares.o", "int wares() { return 1; }", "gcc")
    assert notes(lab, "main.o", "wares.o")["_Z5waresv"] == [
        "wares.o defines wares in C: extern \"C\" is missing where it is declared"
    ]


def test_other_parameters(lab):
    lab.cc("main.o", "namespace n { int f(int); } int main() { return n::f(1); }")
    lab.cc("f.o", "namespace n { int f(long) { return 1; } }")
    assert notes(lab, "main.o", "f.o")["_ZN1n1fEi"] == ["f.o defines n::f(long)"]


def test_other_string_abi(lab):
    lab.cc("main.o", "#include <string>\nstd::string name(const std::string&); int main() { return name(\"\").size(); }")
    lab.cc("name.o", "#include <string>\nstd::string name(const std::string& s) { return s; }", "g++ -D_GLIBCXX_USE_CXX11_ABI=0")
    [said] = notes(lab, "main.o", "name.o").values()
    assert any("other std::string ABI" in note and "_GLIBCXX_USE_CXX11_ABI" in note for note in said), said


def test_two_variants_of_a_constructor_are_no_advice(lab):
    lab.cc("main.o", "struct S { S(); }; int main() { S s; }")
    assert notes(lab, "main.o") == {"_ZN1SC1Ev": ["no library in the search path defines it"]}


def test_shadowed_definition(lab):
    """Which of two archives is taken is a matter of order: a note, and not for weak ones or copies."""
    lab.cc("main.o", "int f(); int main() { return f(); }")
    lab.cc("f1.o", "int f() { return 1; }")
    lab.cc("f2.o", "int other() { return 3; } int f() { return 2 + other(); }")
    lab.cc("weak.o", "int more() { return 1; } __attribute__((weak)) int f() { return 2; }")
    lab.ar("libone.a", "f1.o")
    lab.ar("libtwo.a", "f2.o")
    lab.ar("libweak.a", "weak.o")
    lab.sh("mkdir copy; cp libone.a copy/")
    result = lab.audit("check", "--format", "json", "--", "g++", "main.o", "libone.a", "libtwo.a", "libweak.a", "copy/libone.a")
    assert result.code == 0, result
    [finding] = result.json()["findings"]
    assert (finding["rule"], finding["severity"], finding["symbol"]) == ("shadowed-definition", "note", "_Z1fv")
    assert [(s["role"], s["input"]) for s in finding["sites"]] == [("kept", "libone.a(f1.o)"), ("candidate", "libtwo.a(f2.o)")]


def test_shadowed_definition_names_the_linkers_that_differ(lab):
    """GNU ld has passed libtwo.a when main.o needs f; lld and mold have not."""
    lab.cc("main.o", "int f(); int main() { return f(); }")
    lab.cc("f1.o", "int f() { return 1; }")
    lab.cc("f2.o", "int other() { return 3; } int f() { return 2 + other(); }")
    lab.ar("libone.a", "f1.o")
    lab.ar("libtwo.a", "f2.o")
    words = ["libtwo.a", "main.o", "libone.a"]
    [finding] = lab.audit("check", "--format", "json", "--", "g++", *words).json()["findings"]
    assert finding["notes"][:2] == ["lld takes libtwo.a(f2.o)", "mold takes libtwo.a(f2.o)"]


# --- What refers to it, and what to write.


def undefined(lab, command):
    """{symbol: finding}"""
    result = lab.audit("check", "--format", "json", "--", *command.split(), "-o", "out")
    assert result.code == 1, result
    return {f["symbol"]: f for f in result.json()["findings"] if f["rule"] == "undefined-symbol"}


def test_line_and_function_of_a_reference(lab):
    lab.write("use.h", "int gone(int);\ninline int twice(int x) {\n  return gone(x)\n      + 1;\n}\n")
    lab.write("use.cpp", '#include "use.h"\nstatic int helper(int x) {\n\n  return twice(x);\n}\nint main(int c, char**) { return helper(c); }\n')
    for flags in ("-g -O0", "-g -gdwarf-4 -O0", "-g -O0 -ffunction-sections", "-g -gz -O0"):
        lab.sh(f"g++ {flags} -c use.cpp")
        [site] = undefined(lab, "g++ use.o")["_Z4gonei"]["sites"]
        assert (site["file"], site["line"]) == ("use.h", 3) and "in twice(int)" in site["notes"], (flags, site)
    lab.sh("g++ -c use.cpp")
    [site] = undefined(lab, "g++ use.o")["_Z4gonei"]["sites"]
    assert (site["file"], site["line"], site["known_by"]) == ("use.h", 3, "source-scan") and "in twice(int)" in site["notes"], site


def test_fixes_from_the_line(shop):
    shop.ar("libwares.a", "wares.o")
    assert undefined(shop, "g++ libwares.a main.o")["wares"]["fixes"][0]["text"] == "move libwares.a after main.o"
    shop.cc("plusplus.o", "int wares() { return 1; }")
    assert undefined(shop, "g++ main.o plusplus.o")["wares"]["fixes"][0]["text"] == 'declare wares extern "C" where plusplus.o is compiled'


KINDS = [
    ("struct B { virtual void key(); }; int main() { B b; }", "_ZTV1B", "define that function"),
    ("struct S { static int q; }; int main() { return S::q; }", "_ZN1S1qE", "define it in one source file"),
    ("template <class T> T twice(T); int main() { return twice(2); }", "_Z5twiceIiET_S0_", "instantiate it explicitly"),
    ("int f() { return 1; }", "main", "add the object with main"),
]


@pytest.mark.parametrize("text, symbol, fix", KINDS)
def test_fixes_by_kind(lab, text, symbol, fix):
    lab.cc("m.o", text)
    assert undefined(lab, "g++ m.o")[symbol]["fixes"][0]["text"].startswith(fix)


# --- One finding for one supplier.


def test_a_library_is_one_finding_and_each_name_its_own_in_the_baseline(lab):
    names = [f"part{i}" for i in range(30)]
    lab.write("lib.c", "".join(f"int {name}(void) {{ return 1; }}\n" for name in names))
    lab.write("one.c", "int part0(void); int one(void) { return part0(); }")
    lab.write("main.c", "".join(f"int {name}(void); " for name in names) + "int one(void); int main() { return one() + " + " + ".join(f"{name}()" for name in names) + "; }")
    lab.sh("gcc -c lib.c main.c one.c; mkdir d; gcc-ar rcs d/libparts.a lib.o")
    command = ["--", "gcc", "main.o", "one.o", "-Ld"]
    result = lab.audit("check", "--format", "json", *command).json()
    [finding] = result["findings"]
    assert finding["fixes"][0]["text"] == "add -lparts after one.o" and len(finding["also"]) == 29 and len(result["undefined"]) == 30
    assert "1 error about 30 symbols" in lab.audit("check", *command).out
    lab.write("some.toml", '[[suppress]]\nrule = "undefined-symbol"\nsymbol = "part1*"\nreason = "later"\n')
    kept = lab.audit("check", "--format", "json", "--config", "some.toml", *command).json()
    assert len(kept["findings"][0]["also"]) == 18 and len(kept["suppressed"]) == 11
    lab.audit("check", "--write-baseline", "known.json", *command)
    assert lab.audit("check", "--baseline", "known.json", *command).code == 0


def test_the_library_that_has_most_of_the_names(lab):
    lab.write("main.c", "int a(void), b(void), c(void); int main() { return a() + b() + c(); }")
    lab.write("some.c", "int a(void) { return 1; }")
    lab.write("all.c", "int a(void) { return 1; } int b(void) { return 1; } int c(void) { return 1; }")
    lab.sh("gcc -c main.c some.c all.c; mkdir d; gcc-ar rcs d/liba.a some.o; gcc-ar rcs d/libz_all.a all.o")
    assert {f["fixes"][0]["text"] for f in undefined(lab, "gcc main.o -Ld").values()} == {"add -lz_all after main.o"}


def test_an_archive_that_is_needed_where_it_stands_is_named_again(lab):
    lab.write("main.c", "int a1(void); int main() { return a1(); }")
    lab.write("a1.c", "int b1(void); int a1(void) { return b1(); }")
    lab.write("a2.c", "int a2(void) { return 0; }")
    lab.write("b1.c", "int a2(void); int b1(void) { return a2(); }")
    lab.sh("gcc -c main.c a1.c a2.c b1.c; gcc-ar rcs liba.a a1.o a2.o; gcc-ar rcs libb.a b1.o")
    assert undefined(lab, "gcc main.o liba.a libb.a")["a2"]["fixes"][0]["text"] == "name liba.a again after libb.a"
    lab.sh("gcc main.o liba.a libb.a liba.a -o out")


# --- Near misses: (what is called, what is defined, is one meant as the other?)

NEAR = [
    ("int compute_total(int);", "int compute_totla(int) { return 1; }", "compute_total(1)", True),
    ("int compute_total(int);", "int compute_totals(int) { return 1; }", "compute_total(1)", True),
    ('extern "C" int wares_open(int);', 'extern "C" int wares_opne(int) { return 1; }', "wares_open(1)", True),
    ("namespace shop { int wares(int); }", "int wares(int) { return 1; }", "shop::wares(1)", True),
    ("namespace shop { int wares(int); }", "namespace shop { namespace v2 { int wares(int) { return 1; } } }", "shop::wares(1)", True),
    ("namespace shop { int wares(int); }", "namespace store { int wares(int) { return 1; } }", "shop::wares(1)", True),
    ("namespace warehouse { int f(int); }", "namespace warehuose { int f(int) { return 1; } }", "warehouse::f(1)", True),
    ("int getName(int);", "int setName(int) { return 1; }", "getName(1)", False),
    ("int move_x(int);", "int move_y(int) { return 1; }", "move_x(1)", False),
    ("int handler1(int);", "int handler2(int) { return 1; }", "handler1(1)", False),
    ("int f(int);", "int g(int) { return 1; }", "f(1)", False),
    ("int compute_total(int), compute_totals(int);", "int compute_totals(int) { return 1; }", "compute_total(compute_totals(1))", False),
    ("struct Circle { int area(int); };", "struct Square { int area(int); Square(); }; int Square::area(int) { return 1; } struct Circle { Circle(); }; Circle::Circle() {}", "Circle().area(1)", False),
]


@pytest.mark.parametrize("declared, defined, call, meant", NEAR)
def test_near_misses(lab, declared, defined, call, meant):
    lab.cc("main.o", f"{declared}\nint main() {{ return {call}; }}")
    lab.cc("other.o", defined)
    [finding] = undefined(lab, "g++ main.o other.o").values()
    assert (finding["cause"]["kind"] == "similar-name") == meant, finding
    assert not meant or finding["fixes"][0]["text"].startswith("declare and call "), finding


# --- Lines that debug info doesn't say: who calls it in the source.

CALLS = """int gone(int);
#define UNUSED 1
static int helper(int x) {
  // gone(1)
  return gone(x)
      + 1;
}
int main(int c, char** v) { return helper(c); }
"""


@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O0 -MMD", "-O2 -ffunction-sections"])
def test_line_of_a_reference_without_debug_info(lab, flags):
    lab.write("sub/use.c", CALLS)
    lab.sh(f"gcc {flags} -c sub/use.c -o sub/use.o")
    [site] = undefined(lab, "gcc sub/use.o")["gone"]["sites"]
    assert (site["file"], site["line"], site["known_by"]) == ("sub/use.c", 5, "source-scan"), site


def test_no_line_where_several_call_it_or_the_source_has_changed(lab):
    lab.write("use.c", CALLS.replace("+ 1", "+ gone(1)"))
    lab.sh("gcc -c use.c")
    assert undefined(lab, "gcc use.o")["gone"]["sites"][0]["line"] is None
    lab.write("use.c", CALLS)
    lab.sh("gcc -c use.c; touch -d '1 hour' use.c")
    assert undefined(lab, "gcc use.o")["gone"]["sites"][0]["line"] is None


def test_line_of_a_reference_for_riscv(lab):
    """Its line tables are relocated at each step."""
    need("riscv64-linux-gnu-gcc")
    lab.write("use.c", CALLS)
    lab.sh("riscv64-linux-gnu-gcc -g -c use.c")
    [site] = undefined(lab, "riscv64-linux-gnu-gcc use.o")["gone"]["sites"]
    assert (site["file"], site["line"], site["known_by"]) == ("use.c", 5, "debug-info"), site


# --- What the declaration explains.


def test_a_declaration_that_is_nowhere_defined_is_named_with_its_includes(lab):
    lab.write("inc/low.h", "int gone(int), lost(int);\n")
    lab.write("inc/high.h", "\n#include \"low.h\"\n")
    lab.write("use.c", "#include \"inc/high.h\"\nint main(void) { return gone(1) + lost(1); }\n")
    lab.sh("gcc -g -MMD -c use.c")
    [finding] = undefined(lab, "gcc use.o").values()
    assert [also["symbol"] for also in finding["also"]] == ["lost"]
    assert finding["notes"] == ["declared in inc/low.h:1, included from inc/high.h:2, included from use.c:1"]


def test_a_header_of_another_version(lab):
    for version, more in (("3.5", ""), ("3.8", "int pack_more(int);\n")):
        lab.write(f"{version}/include/pack.h", "int pack(int);\n" + more)
        lab.write(f"{version}/pack.c", "int pack(int x) { return x; }\nint pack_more(int x) { return x; }\n" if more else "int pack(int x) { return x; }\n")
        lab.sh(f"mkdir {version}/lib; gcc -shared -fPIC {version}/pack.c -o {version}/lib/libpack.so")
    lab.write("use.c", "#include <pack.h>\nint main(void) { return pack_more(1); }\n")
    lab.sh("gcc -g -I3.8/include -c use.c")
    finding = undefined(lab, "gcc use.o -L3.5/lib -lpack")["pack_more"]
    assert finding["cause"]["kind"] == "header-of-another-version" and "3.8/include/pack.h:2" in finding["cause"]["text"] and "3.5/lib/libpack.so is linked" in finding["cause"]["text"], finding
    assert finding["fixes"][0]["text"].startswith("link 3.8/lib/libpack.so in place of 3.5/lib/libpack.so"), finding
    lab.sh("gcc use.o -L3.8/lib -lpack -o out")


def test_line_of_a_reference_in_one_of_several_sections_of_a_name(lab):
    need("clang")
    lab.write("use.c", "int gone(int), lost(int);\nint one(int x) {\n  return gone(x) + 1;\n}\nint two(int x) {\n\n  return lost(x) + 2;\n}\nint main(void) { return one(1) + two(1); }\n")
    lab.sh("clang -g -ffunction-sections -fno-unique-section-names -c use.c")
    findings = undefined(lab, "gcc use.o")
    assert {name: (f["sites"][0]["line"], f["sites"][0]["known_by"]) for name, f in findings.items()} == {"gone": (3, "debug-info"), "lost": (7, "debug-info")}


def test_a_library_that_another_of_its_name_hides(lab):
    lab.write("use.c", "int old(void), fresh(void);\nint main(void) { return old() + fresh(); }\n")
    lab.write("one.c", "int old(void) { return 1; }\n")
    lab.write("two.c", "int old(void) { return 1; }\nint fresh(void) { return 1; }\n")
    lab.sh("gcc -c use.c; mkdir a b; gcc -shared -fPIC one.c -o a/libpack.so; gcc -shared -fPIC two.c -o b/libpack.so")
    finding = undefined(lab, "gcc use.o -La -Lb -lpack")["fresh"]
    assert finding["cause"]["kind"] == "library-of-another-version" and finding["fixes"][0]["text"] == "link b/libpack.so in place of a/libpack.so: put -Lb first", finding


def test_a_system_library_of_another_is_named_by_its_option(lab):
    lab.write("use.c", "const char* zlibVersion(void);\nint main(void) { return *zlibVersion(); }\n")
    lab.sh("gcc -c use.c")
    if "DSO missing" not in lab.sh("gcc use.o -Wl,--no-as-needed -ldw -o out", check=False).err:
        pytest.skip("needs libdw, linked with zlib")
    assert undefined(lab, "gcc use.o -Wl,--no-as-needed -ldw")["zlibVersion"]["fixes"][0]["text"] == "add -lz after use.o"


def test_declarations_of_one_c_library_are_one_finding(lab):
    lab.write("c.c", "int first(int x) { return x; }\nint second(int x) { return x; }\n")
    lab.write("use.cpp", "int first(int), second(int);\nint main() { return first(1) + second(1); }\n")
    lab.sh("gcc -c c.c; g++ -c use.cpp")
    [finding] = undefined(lab, "g++ use.o c.o").values()
    assert finding["cause"]["kind"] == "extern-c-missing" and len(finding["also"]) == 1


def test_line_of_a_reference_to_a_library_that_only_another_names(lab):
    lab.write("low.c", "int low(void) { return 1; }\n")
    lab.write("high.c", "int low(void);\nint high(void) { return low(); }\n")
    lab.write("use.c", "int low(void), high(void);\nint main(void) {\n  return high() +\n      low();\n}\n")
    lab.sh("gcc -shared -fPIC low.c -o liblow.so; gcc -shared -fPIC high.c -L. -llow -o libhigh.so; gcc -g -c use.c")
    finding = undefined(lab, "gcc use.o libhigh.so -Wl,-rpath-link,.")["low"]
    assert finding["cause"]["kind"] == "library-not-named" and finding["fixes"][0]["text"] == "add ./liblow.so to the line", finding
    assert [(site["file"], site["line"]) for site in finding["sites"]] == [("use.c", 4)]
    lab.sh("gcc use.o libhigh.so ./liblow.so -o out")


def test_a_header_that_has_changed_since_explains_nothing(lab):
    lab.write("use.h", "int gone(int);\n")
    lab.write("use.cpp", "#include \"use.h\"\nint main() { return gone(1); }\n")
    lab.sh("g++ -g -c use.cpp; echo 'inline int gone(int);' > use.h; touch -d '1 hour' use.h")
    assert undefined(lab, "g++ use.o")["_Z4gonei"]["cause"]["kind"] == "no-provider"


def test_a_library_of_another_version_beside_the_linked_one(lab):
    lab.write("use.c", "int old(void), fresh(void);\nint main(void) { return old() + fresh(); }\n")
    for version, text in (("p-3.5", "int old(void) { return 1; }"), ("p-3.8", "int old(void) { return 1; } int fresh(void) { return 1; }")):
        lab.write(f"{version}/p.c", text + "\n")
        lab.sh(f"mkdir {version}/lib; gcc -shared -fPIC {version}/p.c -o {version}/lib/libp.so")
    lab.sh("gcc -c use.c")
    finding = undefined(lab, "gcc use.o -Lp-3.5/lib -lp")["fresh"]
    assert finding["fixes"][0]["text"] == "link p-3.8/lib/libp.so in place of p-3.5/lib/libp.so: put -Lp-3.8/lib first", finding
    lab.sh("gcc use.o p-3.8/lib/libp.so -o out")


PURE, KEY, NO_RTTI = "pure-destructor-without-body", "key-function-missing", "vtable-without-typeinfo"


@pytest.mark.parametrize("members, destructor, typeinfo", [
    ("virtual ~S(); virtual int a() = 0;", KEY, KEY),
    ("virtual int a(int = 0) = 0; virtual ~S() noexcept; /* = 0; */", KEY, KEY),
    ("S() = default; virtual int a() = 0; virtual\n~S()  // ~S() = 0;\n;", KEY, KEY),
    ("virtual int a() { return 0; }\nvirtual ~S() noexcept\n= 0;", PURE, None),
], ids=["before", "default argument", "two lines", "pure"])
def test_a_destructor_without_a_body(lab, members, destructor, typeinfo):
    """It is pure by its own declarator. What the compiler emits with it has no cause of its own."""
    lab.cc("s.o", f"struct S {{ {members} }};\nstruct D : S {{ int a() {{ return 4; }} int a(int) {{ return 5; }} }};\nint main() {{ D s; }}")
    found = {f["demangled"]: f["cause"] for f in by_symbol(lab.audit("check", "--format", "json", "--", "g++", "s.o").json()["findings"])}
    assert found["S::~S()"]["kind"] == destructor and found.get("typeinfo for S", {"kind": None})["kind"] == typeinfo, found
    assert len({cause["text"] for cause in found.values()}) == 1, found


def test_typeinfo_of_an_object_without_rtti(lab):
    """Certain only where an object has the vtable."""
    lab.cc("s.o", "struct S { virtual ~S(); };\nS::~S() {}", "g++ -fno-rtti")
    lab.cc("m.o", "struct S { virtual ~S(); };\nstruct D : S {};\nint main() { D d; }")
    [found] = lab.audit("check", "--format", "json", "--", "g++", "m.o", "s.o").json()["findings"]
    assert (found["symbol"], found["cause"]["kind"]) == ("_ZTI1S", NO_RTTI) and found["fixes"][0]["text"].startswith("compile s.o with RTTI")
