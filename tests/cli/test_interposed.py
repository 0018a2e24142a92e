"""interposed-definition: a function that a library does not get from itself."""

import pytest

from elfaudit_test import need

need("gcc", "g++")

LIBRARY = "int level(void) { return 1; }\nint is_loud(void) { return level() > 1; }\n"
MAIN = "int is_loud(void);\nint level(void) { return 2; }\nint main(void) { return is_loud(); }\n"
LINK = "-L. -ll -Wl,-rpath,'$ORIGIN'"


def build(lab, library=LIBRARY, main=MAIN, options="", link="", driver="gcc"):
    lab.write("l.c", library)
    lab.write("main.c", main)
    lab.sh(f"{driver} -shared -fPIC {options} l.c -o libl.so && {driver} {link} main.c {LINK} -o app")


def findings(lab, *files):
    report = lab.audit("check", "--format", "json", *(files or ["app"])).json()
    return [f for f in report["findings"] if f["rule"] == "interposed-definition"]


def test_a_program_replaces_what_its_library_calls(lab):
    build(lab)
    assert lab.sh("./app", check=False).code == 1  # is loud
    (finding,) = findings(lab)
    assert (finding["severity"], finding["symbol"]) == ("warning", "level")
    assert finding["message"] == "app replaces level of libl.so, which calls it itself"
    assert any("-Bsymbolic-functions" in fix["text"] for fix in finding["fixes"])


@pytest.mark.parametrize("options", ["-Wl,-Bsymbolic-functions", "-Wl,-Bsymbolic", "-fvisibility=protected", "-fno-semantic-interposition -O2"])
def test_a_library_that_keeps_to_itself(lab, options):
    build(lab, options=options)
    assert lab.sh("./app", check=False).code == 0
    assert findings(lab) == []


def test_a_function_that_only_others_call(lab):
    build(lab, library="int level(void) { return 1; }\nint is_loud(void) { return 0; }\n")
    assert findings(lab) == []


@pytest.mark.parametrize("name, driver", [("level __attribute__((weak))", "gcc"), ("malloc", "gcc"), ("__own", "gcc")])
def test_what_is_made_to_be_replaced(lab, name, driver):
    plain = name.split()[0]
    body = "(unsigned long n) { return 0; }\n"
    library = f"void *{plain}(unsigned long){' __attribute__((weak))' if 'weak' in name else ''};\nvoid *{plain}{body}void *use(void) {{ return {plain}(1); }}\n"
    build(lab, library, f"void *use(void);\nvoid *{plain}{body}int main(void) {{ return use() != 0; }}\n", link="-fno-builtin")
    assert findings(lab) == []


def test_inline_functions_and_operator_new_of_cpp(lab):
    source = "#include <cstdlib>\nvoid *operator new(std::size_t n) { return std::malloc(n); }\nvoid operator delete(void *p) noexcept { std::free(p); }\ninline int one() { return 1; }\n"
    build(lab, source + "int *use() { return new int(one()); }\n", source + "int *use();\nint main() { return one() + *use(); }\n", driver="g++ -x c++")
    assert findings(lab) == []


def test_a_variable_that_has_grown_since(lab):
    """glibc's loader: Symbol `table' has different size in shared object, consider re-linking."""
    build(lab, "int table[10] = {1};\nint use(void) { return table[0]; }\n",
          "extern int table[];\nint use(void);\nint main(void) { return table[0] - use(); }\n", link="-no-pie -fno-pie")
    assert findings(lab) == []
    lab.sh("echo 'int table[100] = {1}; int use(void) { return table[0]; }' | gcc -shared -fPIC -x c - -o libl.so")
    assert "has different size" in lab.sh("./app 2>&1").out
    (finding,) = findings(lab)
    assert finding["message"] == "app and libl.so have table in another size: both use that of app"
    assert finding["notes"] == ["table: 40 bytes in app, 400 in libl.so"]


def test_two_libraries(lab):
    lab.sh("echo 'int level(void) { return 2; } int k(void) { return 0; }' | gcc -shared -fPIC -x c - -o libk.so")
    build(lab, main="int is_loud(void), k(void);\nint main(void) { return is_loud() + k(); }\n", link="-Wl,--no-as-needed -L. -lk")
    (finding,) = findings(lab)
    assert finding["severity"] == "note" and finding["message"].startswith("libk.so replaces level of libl.so"), finding


LINE = ("--", "gcc", "main.o", "other.o", "libl.so", "-o", "app")


def of_link(lab, *line):
    report = lab.audit("check", "--format", "json", *line).json()
    return [f for f in report["findings"] if f["rule"] == "interposed-definition"]


def test_a_link_is_told_before(lab):
    build(lab)
    lab.write("other.c", "int other(void) { return 0; }\n")
    lab.sh("gcc -g -c main.c other.c")
    (finding,) = of_link(lab, *LINE)
    assert finding["message"] == "the program replaces level of libl.so, which calls it itself"
    assert finding["sites"][0]["file"] == "main.c" and finding["sites"][0]["line"] == 2
    lab.sh("objcopy --localize-symbol=level main.o")
    assert of_link(lab, *LINE) == []


def test_a_link_against_a_library_that_keeps_to_itself(lab):
    build(lab, options="-Wl,-Bsymbolic-functions")
    lab.write("other.c", "int other(void) { return 0; }\n")
    lab.sh("gcc -c main.c other.c")
    assert of_link(lab, *LINE) == []
