"""--cache: a run is not made again as long as all that it looked at is as it was. path_log.c sees what it looks at, and then
lies about one path after another: each lie must make the run happen again."""

import os
import pathlib
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, need, need_plain_program

need("gcc", "g++", "ar")

PROGRAM = os.environ.get("ELFAUDIT", "")
MOST_LIES = 100  # of one run; the paths are many headers' folders, which are all asked alike


class Spied:
    """Runs of one command, under path_log.c."""

    def __init__(self, lab, *arguments, cache=None):
        self.lab, self.command = lab, [PROGRAM, *arguments]
        self.own = lab.path.with_name(lab.path.name + "-spy")
        self.own.mkdir()
        library, source = self.own / "path_log.so", pathlib.Path(__file__).parent / "path_log.c"
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", str(source), "-o", str(library)], check=True)
        self.log, self.lie, self.cache = self.own / "log", self.own / "lie", self.own / "cache" if cache is None else cache
        self.lie.write_text("")
        self.environment = {**ENVIRONMENT, "LD_PRELOAD": str(library), "LIE": str(self.lie), "LOG": str(self.log)}

    def run(self, lie=""):
        """Its output, and whether it was remembered."""
        cache = ["--cache", str(self.cache)] if self.cache else []
        words = [*self.command[:2], "--no-sandbox", "--stats", *cache, *self.command[2:]]
        self.lie.write_text(lie)
        result = subprocess.run(words, cwd=self.lab.path, env=self.environment, capture_output=True, text=True)
        assert lie or result.returncode in (0, 1), result
        return result.stdout, "remembered: " in result.stderr

    def lies(self):
        """Of what the first run looked at, but for what it wrote itself: each path may be gone, or be new; what it opened or
        listed may have changed. Not the times of folders above the cache, in which it is made: there, names count."""
        above = set(map(str, (self.lab.path / self.cache).resolve().parents))
        mine = (str(self.own), "/proc/", "/dev/", "/sys/")
        seen = {tuple(line.split(" ", 1)) for line in self.log.read_text().splitlines()}
        seen = {(how, path) for how, path in seen if not path.startswith(mine)}
        return sorted({f"gone {path}" for _, path in seen} | {f"changed {path}" for how, path in seen if how == "o" and os.path.exists(path) and path not in above})


def check_every_path(lab, *arguments):
    spied = Spied(lab, "check", *arguments)
    first, remembered = spied.run()
    assert not remembered
    lies = spied.lies()
    assert spied.run() == (first, True)
    assert len(lies) > 3
    lies = lies[:: max(1, len(lies) // MOST_LIES)]
    assert [lie for lie in lies if spied.run(lie)[1]] == []


@pytest.fixture(autouse=True)
def plain_program():
    need_plain_program()


def test_objects(lab):
    lab.cc("a.o", "int f() { return 1; }")
    lab.cc("b.o", "int main() { return 0; }")
    check_every_path(lab, "a.o", "b.o")


def test_facts_beside_objects(lab):
    for name in "ab":
        lab.write(f"{name}.cpp", f"int {name};")
        lab.audit("index", "--", "g++", "-c", f"{name}.cpp")
    check_every_path(lab, "--facts", "a.o", "b.o")


def test_duplicate_with_its_place_and_cause(lab):
    lab.write("include/state.h", "int state;\n")
    for name in "ab":
        lab.cc(f"{name}.o", '#include "state.h"\n', "g++ -Iinclude -MMD")
    check_every_path(lab, "a.o", "b.o")


@pytest.mark.deep
def test_link_command_with_archive_and_shared_object(lab):
    lab.cc("main.o", "int f(); int g(); int main() { return f() + g(); }")
    lab.ar("libf.a", lab.cc("f.o", "int f() { return 1; }"))
    lab.cc("g.o", "int g() { return 2; }", "g++ -fPIC")
    lab.sh("g++ -shared g.o -o libg.so -Wl,-rpath,/nowhere")
    check_every_path(lab, "--", "g++", "main.o", "-L.", "-lf", "-lg", "-o", "app")


@pytest.mark.deep
def test_missing_library(lab):
    lab.cc("main.o", "int zlibVersion(); int main() { return zlibVersion(); }")
    check_every_path(lab, "--", "g++", "main.o", "-L/usr/lib/x86_64-linux-gnu", "-o", "app")


@pytest.mark.deep
def test_build_folder(lab):
    need("ninja")
    lab.write("a.cpp", '#include "a.h"\nint main() { return 0; }\n')
    lab.write("a.h", "inline int twice(int x) { return 2 * x; }\n")
    lab.write("build.ninja", "rule cxx\n  command = g++ -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
              "rule link\n  command = g++ $in -o $out\nbuild a.o: cxx a.cpp\nbuild app: link a.o\n")
    lab.sh("ninja")
    check_every_path(lab, "-p", ".")


def test_folder(lab):
    lab.write("lib/f.cpp", "int f() { return 1; }")
    lab.sh("g++ -shared -fPIC lib/f.cpp -o lib/libf.so -Wl,-rpath,'$ORIGIN'")
    check_every_path(lab, "lib")

def test_reports_are_written_again(lab):
    lab.cc("a.o", "int x;")
    lab.cc("b.o", "int x;")
    spied = Spied(lab, "check", "--format", "json=out.json", "--format", "text", "a.o", "b.o")
    first, _ = spied.run()
    written = (lab.path / "out.json").read_bytes()
    (lab.path / "out.json").write_text("")
    assert spied.run() == (first, True)
    assert (lab.path / "out.json").read_bytes() == written


@pytest.mark.parametrize("cache", ["cache", "build/deep/cache", ".", ".hidden", "../CACHE-LINK/sub"])
def test_a_cache_inside_of_the_project(lab, cache):
    """The run makes its folder, and lists all folders of the project for headers."""
    lab.path.with_name("CACHE-LINK").unlink(missing_ok=True)
    lab.path.with_name("CACHE-LINK").symlink_to(lab.path)
    for name in "ab":
        lab.cc(f"{name}.o", "int state;", "g++ -g")
    spied = Spied(lab, "check", "--severity", "divergent-definition=on", "a.o", "b.o", cache=cache)
    first, remembered = spied.run()
    assert not remembered and "stdc-predef.h" in spied.log.read_text()
    assert spied.run() == (first, True)
    lab.write("include/new.h", "")
    assert spied.run() == (first, False)


def test_a_cache_that_the_configuration_names(lab):
    for name in "ab":
        lab.cc(f"{name}.o", "int state;", "g++ -g")
    lab.write(".elfaudit.toml", 'cache = "cache"\n')
    spied = Spied(lab, "check", "a.o", "b.o", cache="")
    first, _ = spied.run()
    assert spied.run() == (first, True) and (lab.path / "cache").is_dir()


def test_what_is_new_is_not_remembered(lab):
    """It may be written again within the tick of the clock in which it was written."""
    lab.cc("a.o", "int x;")
    for _ in range(2):
        assert "remembered" not in lab.audit("check", "--stats", "--cache", "cache", "a.o").err
    assert list(lab.path.rglob("*.run")) == []


def test_other_environment_and_damaged_entries(lab):
    lab.cc("a.o", "int x;")
    spied = Spied(lab, "check", "a.o")
    first, _ = spied.run()
    assert spied.run() == (first, True)
    spied.environment["LIBRARY_PATH"] = "elsewhere"
    assert spied.run() == (first, False)
    assert spied.run() == (first, True)
    [entry] = spied.cache.rglob("*.run")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert spied.run() == (first, False)


@pytest.mark.parametrize("cache", [".", "ca", "ca/", "cache/.."])
def test_only_entries_of_the_cache_do_not_count(lab, cache):
    """Not what lies beside them, or in a folder whose name begins like the cache's."""
    lab.write("cache/.keep", "")
    lab.cc("cache/a.o", "int x;")
    lab.cc("cab.o", "int y;")
    spied = Spied(lab, "check", "cache/a.o", "cab.o", cache=cache)
    first, _ = spied.run()
    assert spied.run() == (first, True)
    for path in ("cache/a.o", "cab.o"):
        assert not spied.run(f"changed {lab.path}/{path}")[1]


def test_places_in_the_cache_do_not_count(lab):
    lab.write("state.h", "int state;\n")
    lab.cc("a.o", '#include "state.h"\n', "g++ -g -MMD")
    check_every_path(lab, "--enable", "header-definition", "a.o")


def test_python_extension(lab):
    lab.write("x.c", "int PyInit_x(void) { return 0; }\n")
    lab.sh("gcc -shared -fPIC x.c -o x.cpython-311-x86_64-linux-gnu.so")
    check_every_path(lab, "x.cpython-311-x86_64-linux-gnu.so")
