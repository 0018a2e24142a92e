"""Small projects that fail at the link, the ways to build them, and what `check` and `diagnose` say about each.

A case is a table row: the sources, the words of the link, and the rule that its findings have. A way builds a case and leaves
a log. `compare` runs both commands and lists what `diagnose` says otherwise than `check`.
"""

import dataclasses
import functools
import json
import os
import random
import re
import shlex

from elfaudit_test import Lab, by_symbol

LINKERS = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld", "mold": "mold"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A project. Every program also has main.o, which comes first on its link."""

    rule: str  # of at least one finding of `check`
    link: str  # objects, libraries and options: "use.o libgone.a -lm"
    sources: str  # "--- use.cpp" and its lines, for each file
    also: str = ""  # objects that are compiled and are not on the link
    libraries: dict = dataclasses.field(default_factory=dict)  # "libgone.a" or "libgone.so" -> its objects
    flags: dict = dataclasses.field(default_factory=dict)  # object -> options of its compile command
    compiled_from: dict = dataclasses.field(default_factory=dict)  # object -> source, where the names differ
    shared: bool = False  # the link makes a shared object
    c: bool = False  # the sources are C as well
    driver: str = ""  # the program that links, if not that of the language
    only: str = ""  # the linkers that refuse it, where others don't
    cmake: bool = True  # false: add_executable can't express it

    def files(self):
        parts = re.split(r"^--- (.*)\n", self.sources, flags=re.M)[1:]
        return dict(zip(parts[::2], parts[1::2]))

    def objects(self):
        """Every object and its source."""
        made = [word for word in f"{self.link} {self.also} {' '.join(self.libraries.values())}".split() if word.endswith(".o")]
        return {word: self.compiled_from.get(word) or self._source_of(word) for word in dict.fromkeys(made)}

    def _source_of(self, name):
        return next(file for file in self.files() if re.fullmatch(re.escape(name[:-2]) + r"\.(c|cpp|cu)", file))


CASES = {
    "variable in a header": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- state.h
int state;
--- use.cpp
#include "state.h"
int use() { return state; }
--- other.cpp
#include "state.h"
"""),
    "array in a header": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- state.h
const char *state[2] = {"a", "b"};
--- use.cpp
#include "state.h"
--- other.cpp
#include "state.h"
"""),
    "function in a header": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- state.h
#ifndef STATE_H
#define STATE_H
int state(int n) { return n + 1; }
#endif
--- use.cpp
#include "state.h"
int use() { return state(1); }
--- other.cpp
#include "state.h"
int other() { return state(2); }
"""),
    "specialisation in a header": Case("duplicate-definition", "use.o other.o", sources="""
--- state.h
template <class T> T state() { return T(); }
template <> int state<int>() { return 1; }
--- use.cpp
#include "state.h"
--- other.cpp
#include "state.h"
"""),
    "macro that is empty in one file": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- state.h
#ifndef STATE_API
#define STATE_API extern
#endif
STATE_API int state;
--- use.cpp
#define STATE_API
#include "state.h"
--- other.cpp
int state = 1;
"""),
    "implementation in two files": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- state.h
int state(void);
int part(void);
#ifdef STATE_IMPLEMENTATION
int state(void) { return 1; }
int part(void) { return 2; }
#endif
--- use.cpp
#define STATE_IMPLEMENTATION
#include "state.h"
--- other.cpp
#define STATE_IMPLEMENTATION
#include "state.h"
"""),
    "two definitions": Case("duplicate-definition", "use.o other.o", c=True, sources="""
--- use.cpp
int state = 1;
--- other.cpp
int state = 2;
"""),
    "object named twice": Case("duplicate-definition", "use.o use.o", c=True, cmake=False, sources="""
--- use.cpp
int state = 1;
"""),
    "source compiled twice": Case("duplicate-definition", "use.o again.o", c=True, compiled_from={"again.o": "use.cpp"}, sources="""
--- use.cpp
int state = 1;
int use(void) { return state; }
"""),
    "object and library": Case("duplicate-definition", "use.o libpart.a", libraries={"libpart.a": "other.o"}, c=True, sources="""
--- use.cpp
int part(void);
int state = 1;
int use(void) { return part(); }
--- other.cpp
int state = 2;
int part(void) { return state; }
"""),
    "two libraries": Case("duplicate-definition", "use.o libpart.a libmid.a", c=True, libraries={"libpart.a": "part.o", "libmid.a": "mid.o"}, sources="""
--- use.cpp
int part(void);
int mid(void);
int use(void) { return part() + mid(); }
--- part.cpp
int state(void) { return 1; }
int part(void) { return state(); }
--- mid.cpp
int state(void) { return 2; }
int mid(void) { return state(); }
"""),
    "object that is not linked": Case("undefined-symbol", "use.o", also="gone.o", c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- gone.cpp
int gone(void) { return 1; }
"""),
    "nothing defines it": Case("undefined-symbol", "use.o", c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
"""),
    "archive that is not linked": Case("undefined-symbol", "use.o", libraries={"libgone.a": "gone.o"}, c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- gone.cpp
int gone(void) { return 1; }
"""),
    "shared library that is not linked": Case("undefined-symbol", "use.o", libraries={"libgone.so": "gone.o"}, c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- gone.cpp
int gone(void) { return 1; }
"""),
    "libraries in the wrong order": Case("undefined-symbol", "use.o liblow.a libmid.a", only="bfd gold", c=True,
                                         libraries={"liblow.a": "low.o", "libmid.a": "mid.o"}, sources="""
--- use.cpp
int mid(void);
int use(void) { return mid(); }
--- mid.cpp
int low(void);
int mid(void) { return low(); }
--- low.cpp
int low(void) { return 1; }
"""),
    "library before its object": Case("undefined-symbol", "libgone.a use.o", libraries={"libgone.a": "gone.o"}, only="bfd gold", c=True,
                                      cmake=False, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- gone.cpp
int gone(void) { return 1; }
"""),
    "hidden in a shared object": Case("undefined-symbol", "use.o libpart.so", libraries={"libpart.so": "part.o"}, c=True, sources="""
--- use.cpp
int gone(void);
int part(void);
int use(void) { return gone() + part(); }
--- part.cpp
__attribute__((visibility("hidden"))) int gone(void) { return 1; }
int part(void) { return gone(); }
"""),
    "static in another file": Case("undefined-symbol", "use.o other.o", c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- other.cpp
static int gone(void) { return 1; }
int other(void) { return gone(); }
"""),
    "const in another file": Case("undefined-symbol", "use.o other.o", sources="""
--- use.cpp
extern const int state;
int use() { return state; }
--- other.cpp
const int state = 1;
int other() { return state; }
"""),
    "other namespace": Case("undefined-symbol", "use.o part.o", sources="""
--- use.cpp
namespace core { int part(int n); }
int use() { return core::part(1); }
--- part.cpp
int part(int n) { return n; }
"""),
    "C function without extern C": Case("undefined-symbol", "use.o part.o", sources="""
--- part.h
int part(int n);
--- use.cpp
#include "part.h"
int use() { return part(1); }
--- part.c
#include "part.h"
int part(int n) { return n; }
"""),
    "other parameters": Case("undefined-symbol", "use.o part.o", sources="""
--- use.cpp
int part(int n);
int use() { return part(1); }
--- part.cpp
int part(long n) { return int(n); }
"""),
    "template without an instantiation": Case("undefined-symbol", "use.o part.o", sources="""
--- part.h
template <class T> T part(T value);
--- use.cpp
#include "part.h"
int use() { return part(1); }
--- part.cpp
#include "part.h"
template <class T> T part(T value) { return value; }
double other() { return part(1.0); }
"""),
    "key function": Case("undefined-symbol", "use.o", sources="""
--- use.cpp
struct Shape { virtual void draw(); virtual int sides() { return 0; } };
Shape *use() { return new Shape; }
"""),
    "static data member": Case("undefined-symbol", "use.o", sources="""
--- use.cpp
struct Shape { static int sides; };
int use() { return Shape::sides; }
"""),
    "std::string of two ABIs": Case("undefined-symbol", "use.o part.o", flags={"part.o": "-D_GLIBCXX_USE_CXX11_ABI=0"}, sources="""
--- use.cpp
#include <string>
int part(std::string const &text);
int use() { return part("text"); }
--- part.cpp
#include <string>
int part(std::string const &text) { return int(text.size()); }
"""),
    "feature that is off": Case("undefined-symbol", "use.o part.o", flags={"use.o": "-DWITH_PART"}, c=True, sources="""
--- use.cpp
int part(void);
int use(void) {
#ifdef WITH_PART
    return part();
#endif
    return 0;
}
--- part.cpp
#ifdef WITH_PART
int part(void) { return 1; }
#endif
"""),
    "libm": Case("undefined-symbol", "use.o", driver="gcc", sources="""
--- use.c
double pow(double, double);
double use(double x) { return pow(x, 0.3); }
"""),
    "libz": Case("undefined-symbol", "use.o", sources="""
--- use.cpp
extern "C" int deflate(void *, int);
int use() { return deflate(nullptr, 0); }
"""),
    "C++ objects linked by the C compiler": Case("undefined-symbol", "use.o", driver="gcc", sources="""
--- use.cpp
int *use() { return new int(1); }
"""),
    "forty undefined functions": Case("undefined-symbol", "use.o", also="gone.o", c=True, sources="--- use.cpp\n" + "".join(
        f"int gone_{i}(void);\nint use_{i}(void) {{ return gone_{i}(); }}\n" for i in range(40))
        + "--- gone.cpp\n" + "".join(f"int gone_{i}(void) {{ return {i}; }}\n" for i in range(40))),
    "code without -fPIC": Case("relocation-not-pic", "use.o", shared=True, flags={"use.o": "-fno-pic"}, c=True, sources="""
--- use.cpp
static int state[9];
int *use(int n) { return &state[n]; }
"""),
    "code without -fPIE": Case("relocation-not-pic", "use.o -pie", flags={"use.o": "-fno-pie"}, c=True, sources="""
--- use.cpp
static int state[9];
int *use(int n) { return &state[n]; }
"""),
    "copy of protected data": Case("relocation-not-pic", "use.o libpart.so -no-pie", flags={"use.o": "-fno-pie"}, c=True,
                                   libraries={"libpart.so": "part.o"}, sources="""
--- use.cpp
extern int state;
int use(void) { return state; }
--- part.cpp
__attribute__((visibility("protected"))) int state = 1;
"""),
    "undefined in a shared object": Case("undefined-symbol", "use.o -Wl,-z,defs", shared=True, also="gone.o", c=True, sources="""
--- use.cpp
int gone(void);
int use(void) { return gone(); }
--- gone.cpp
int gone(void) { return 1; }
"""),
}

DEVICE_CASES = {
    "device variable in a header": Case("device-duplicate-definition", "use.o other.o", sources="""
--- state.h
__device__ int state;
--- use.cu
#include "state.h"
__global__ void use() { state = 1; }
--- other.cu
#include "state.h"
__global__ void other() { state = 2; }
"""),
    "device function that nothing defines": Case("device-undefined-symbol", "use.o other.o", sources="""
--- use.cu
extern __device__ int gone();
__global__ void use(int *out) { *out = gone(); }
--- other.cu
__global__ void other() {}
"""),
    "device function that is not linked": Case("device-undefined-symbol", "use.o", also="gone.o", sources="""
--- use.cu
extern __device__ int gone();
__global__ void use(int *out) { *out = gone(); }
--- gone.cu
__device__ int gone() { return 1; }
"""),
}


# --- variations: the same failure under other names, in other folders, in C, or beside another failure

WORDS = {
    "state": ["state", "verbosity", "g_table", "lookup"], "gone": ["gone", "compute", "resize_all"], "use": ["use", "view", "reader"],
    "other": ["other", "second", "backend"], "part": ["part", "codec", "format"], "mid": ["mid", "upper"], "low": ["low", "base"],
    "again": ["again", "copied"], "Shape": ["Shape", "Node"],
}


def renamed(case, words):
    """The case with other words for its names, in every file and option."""
    words = {**words, **{word.upper(): other.upper() for word, other in words.items()}}
    pattern = re.compile(rf"(?<![A-Za-z_])(lib|)({'|'.join(words)})(?![a-z])")

    def put(match):
        return match[1] + words[match[2]]

    def of(value):
        if isinstance(value, str):
            return pattern.sub(put, value)
        return {of(key): of(each) for key, each in value.items()} if isinstance(value, dict) else value

    fields = {field.name: getattr(case, field.name) for field in dataclasses.fields(case)}
    return Case(**{name: value if name in ("rule", "driver", "only") else of(value) for name, value in fields.items()})


def in_c(case):
    def of(value):
        if isinstance(value, str):
            return value.replace(".cpp", ".c")
        return {of(key): of(each) for key, each in value.items()}

    return dataclasses.replace(case, sources=of(case.sources), compiled_from=of(case.compiled_from))


def in_folder(case, folder):
    """The case with its sources and objects below a folder."""
    def of(text):
        return re.sub(r"(?<!\S)(?=[\w.]+\.(o|c|cpp|cu|h)(?!\S))", folder + "/", text)

    return dataclasses.replace(
        case, link=of(case.link), also=of(case.also), sources=re.sub(r"^--- ", f"--- {folder}/", case.sources, flags=re.M),
        libraries={name: of(objects) for name, objects in case.libraries.items()}, flags={of(name): flag for name, flag in case.flags.items()},
        compiled_from={of(name): of(source) for name, source in case.compiled_from.items()})


def combined(first, second):
    """One program that fails for both reasons; their names must differ."""
    return dataclasses.replace(
        first, link=f"{first.link} {second.link}", sources=first.sources + second.sources.lstrip("\n"), also=f"{first.also} {second.also}",
        libraries={**first.libraries, **second.libraries}, flags={**first.flags, **second.flags},
        compiled_from={**first.compiled_from, **second.compiled_from}, cmake=first.cmake and second.cmake)


def ordered(case):
    """The link with its objects before its libraries."""
    words = case.link.split()
    return dataclasses.replace(case, link=" ".join(sorted(words, key=lambda word: (not word.endswith(".o"), word.startswith("-")))))


# --- building


@dataclasses.dataclass
class Settings:
    """How a case is built."""

    linker: str = "bfd"
    clang: bool = False
    flags: str = "-g"
    marks: str = ""  # what a CI service adds to each line of the log: a name of MARKS


@dataclasses.dataclass
class Built:
    """What a way leaves: the log, and how `check` is asked about the link that failed."""

    log: str
    check: list
    folder: str = "."  # where `check` runs
    shows_link: bool = True  # false: neither the log nor a build folder has the link's command
    text: str = ""  # of the log, before the marks of a CI service


def driver(case, source, settings):
    """The compiler of a source, or of a whole case."""
    if source.endswith(".cu"):
        return "nvcc -arch=sm_80 -rdc=true"
    return ("clang" if settings.clang else "gcc") if source.endswith(".c") else "clang++" if settings.clang else "g++"


def link_driver(case, settings):
    sources = list(case.objects().values())
    if any(source.endswith(".cu") for source in sources):
        return "nvcc -arch=sm_80"
    if case.driver:
        return "clang" if settings.clang else case.driver
    return driver(case, "x.c" if all(source.endswith(".c") for source in sources) else "x.cpp", settings)


def main_of(case):
    sources = list(case.objects().values())
    return next((f"main{suffix}" for suffix in (".cu", ".c") if all(source.endswith(suffix) for source in sources)), "main.cpp")


def write(lab, case):
    """Writes the sources, and returns every object with its source."""
    for name, text in case.files().items():
        lab.write(name, text)
    if case.shared:
        return case.objects()
    main = main_of(case)
    lab.write(main, "int main(void) { return 0; }\n")
    return {"main.o": main, **case.objects()}


def steps(case, settings, objects, up=""):
    """Every command of the build, with its output and inputs, the link last; sources are below `up`."""
    made = []
    in_shared = {name for library, members in case.libraries.items() if library.endswith(".so") for name in members.split()}
    for name, source in objects.items():
        device = source.endswith(".cu")
        pic = "-fPIC" if (case.shared or name in in_shared) and not device else ""
        flags = f"{settings.flags} {pic} {case.flags.get(name, '')}"
        made.append((name, [up + source], f"{driver(case, source, settings)} {flags} -c {up}{source} -o {name}"))
    for library, members in case.libraries.items():
        command = f"g++ -shared {members} -o {library}" if library.endswith(".so") else f"ar rcs {library} {members}"
        made.append((library, members.split(), command))
    start = "" if case.shared else "main.o "
    option = "" if "nvcc" in link_driver(case, settings) else f"-fuse-ld={settings.linker}"
    words = f"{link_driver(case, settings)} {'-shared' if case.shared else ''} {option} {start}{case.link} -o {output_of(case)}"
    inputs = [word for word in f"{start}{case.link}".split() if not word.startswith("-")]
    made.append((output_of(case), inputs, words))
    return [(name, list(dict.fromkeys(inputs)), re.sub(" +", " ", command)) for name, inputs, command in made]


def output_of(case):
    return "app.so" if case.shared else "app"


class Linked(Exception):
    """The linker accepts the case."""


def failing(lab, command, log):
    if lab.sh(f"({command}) >{log} 2>&1", check=False).code == 0:
        raise Linked(f"{command}\n{(lab.path / log).read_text()}")


def make_folders(lab, objects, below=""):
    for name in objects:
        (lab.path / below / name).parent.mkdir(parents=True, exist_ok=True)


def stderr_alone(lab, case, settings):
    """Only what the linker printed is kept, as in `g++ main.o use.o 2>build.log`."""
    *first, (_, _, link) = steps(case, settings, write(lab, case))
    lab.sh("\n".join(["set -e", *(command for _, _, command in first)]))
    failing(lab, link, "build.log")
    return Built("build.log", ["--", *shlex.split(link)], shows_link=False)


def shell_trace(lab, case, settings):
    """`sh -x`: each command stands after a plus sign."""
    made = steps(case, settings, write(lab, case))
    lab.write("build.sh", "".join(f"{command}\n" for _, _, command in made))
    failing(lab, "sh -ex build.sh", "build.log")
    return Built("build.log", ["--", *shlex.split(made[-1][2])])


def makefile(made, mark):
    rules = "".join(f"{name}: {' '.join(inputs)}\n\t{mark}{command}\n" for name, inputs, command in made)
    return f"all: {' '.join(name for name, _, _ in made)}\n{rules}"


def with_make(lab, case, settings, folder=".", mark="", command="make", shows_link=True):
    made = steps(case, settings, write(Lab(lab.path / folder), case))
    make_folders(lab, [name for name, _, _ in made], folder)
    lab.write(f"{folder}/Makefile", makefile(made, mark))
    failing(lab, command, "build.log")
    return Built("build.log", ["--", *shlex.split(made[-1][2])], folder, shows_link)


def ninja_file(made):
    rules = "".join(f"rule r{i}\n  command = {command}\nbuild {name}: r{i} {' '.join(inputs)}\n" for i, (name, inputs, command) in enumerate(made))
    return f"{rules}default {' '.join(name for name, _, _ in made)}\n"


def with_ninja(lab, case, settings, command="ninja -C build", log="build.log"):
    made = steps(case, settings, write(lab, case), up="../")
    make_folders(lab, [name for name, _, _ in made], "build")
    lab.write("build/build.ninja", ninja_file(made))
    failing(lab, command, log)
    return Built(log, ["-p", "build", output_of(case)])


def cmake_lists(case, settings, objects):
    """CMakeLists.txt of the case. The linker is part of the project, as in one that sets CMAKE_EXE_LINKER_FLAGS."""
    target = "app"
    languages = " ".join(sorted({"C" if source.endswith(".c") else "CXX" for source in objects.values()}))
    lines = ["cmake_minimum_required(VERSION 3.18)", f"project(p LANGUAGES {languages})"]
    linked = [word for word in case.link.split() if not word.startswith("-")]
    direct = [name for name in objects if name in linked or name == "main.o"]
    options = [word for word in case.link.split() if word.startswith("-")]
    for library, members in case.libraries.items():
        kind = "SHARED" if library.endswith(".so") else "STATIC"
        lines.append(f"add_library({library[3:].split('.')[0]} {kind} {' '.join(objects[name] for name in members.split())})")
    for name in case.also.split():
        lines.append(f"add_library({cmake_name(name)} OBJECT {objects[name]})")
    again = [name for name in direct if name in case.compiled_from]
    for name in again:
        lines.append(f"add_library({cmake_name(name)} OBJECT {objects[name]})")
    sources = [f"$<TARGET_OBJECTS:{cmake_name(name)}>" if name in again else objects[name] for name in direct]
    lines.append(f"{'add_library' if case.shared else 'add_executable'}({target} {'SHARED ' if case.shared else ''}{' '.join(sources)})")
    lines.append(f"target_link_options({target} PRIVATE -fuse-ld={settings.linker} {' '.join(options)})")
    libraries = [word[3:].split(".")[0] for word in linked if word in case.libraries]
    if libraries:
        lines.append(f"target_link_libraries({target} PRIVATE {' '.join(libraries)})")
    if case.shared:
        lines.append(f"set_target_properties({target} PROPERTIES POSITION_INDEPENDENT_CODE {'OFF' if case.flags else 'ON'} PREFIX \"\" OUTPUT_NAME app)")
    beside = [*(library[3:].split(".")[0] for library in case.libraries if library not in linked), *map(cmake_name, case.also.split())]
    if beside:
        lines.append(f"add_dependencies({target} {' '.join(beside)})")
    for name, flag in case.flags.items():
        lines.append(f"set_source_files_properties({objects[name]} PROPERTIES COMPILE_OPTIONS {flag})")
    return "\n".join(lines) + "\n"


def cmake_name(name):
    return "objects_of_" + re.sub(r"\W", "_", name[:-2])


def with_cmake(lab, case, settings, generator="Ninja", command="ninja -C build", log="build.log"):
    objects = write(lab, case)
    lab.write("CMakeLists.txt", cmake_lists(case, settings, objects))
    compilers = "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ " if settings.clang else ""
    flags = f"'-DCMAKE_C_FLAGS={settings.flags}' '-DCMAKE_CXX_FLAGS={settings.flags}' -DCMAKE_C_COMPILER_WORKS=1 -DCMAKE_CXX_COMPILER_WORKS=1"
    lab.sh(f"cmake -G '{generator}' -S . -B build {compilers}{flags}")
    failing(lab, command, log)
    return Built(log, ["-p", "build", "app"])


SETUP = """from setuptools import Extension, setup
setup(name="app", version="1", ext_modules=[Extension("app", {sources!r}, extra_objects={libraries!r}, extra_compile_args={flags!r},
      extra_link_args={options!r})])
"""


@functools.cache
def python_with_setuptools():
    from test_setuptools import python_with_setuptools

    return python_with_setuptools()


def with_setuptools(lab, case, settings):
    """`setup.py build_ext`, which links everything to a shared object; -z defs makes undefined symbols errors."""
    objects = write(lab, dataclasses.replace(case, shared=True))
    shared = dataclasses.replace(case, shared=True)
    made = {name: command for name, _, command in steps(shared, dataclasses.replace(settings, clang=False), objects)}
    for library, members in case.libraries.items():
        lab.sh("\n".join(["set -e", *(made[name] for name in members.split()), made[library]]))
    words = case.link.split()
    lab.write("setup.py", SETUP.format(
        sources=[objects[word] for word in words if word in objects], libraries=[word for word in words if word in case.libraries],
        flags=settings.flags.split(), options=[f"-fuse-ld={settings.linker}", "-Wl,-z,defs"]))
    failing(lab, f"{python_with_setuptools()} setup.py build_ext --inplace", "build.log")
    links = [line for line in (lab.path / "build.log").read_text().splitlines() if "-Wl,-z,defs" in line and " -o " in line]
    return Built("build.log", ["--", *shlex.split(links[-1])])


MAKE_C = "make -C lib/core"
WAYS = {  # name -> the function, and its options
    "stderr alone": (stderr_alone, {}),
    "sh -x": (shell_trace, {}),
    "make": (with_make, {}),
    "make -k": (with_make, {"command": "make -k"}),
    "make -C": (with_make, {"folder": "lib/core", "command": MAKE_C}),
    "silent make": (with_make, {"mark": "@", "shows_link": False}),
    "silent make -C": (with_make, {"folder": "lib/core", "mark": "@", "command": MAKE_C, "shows_link": False}),
    "ninja": (with_ninja, {}),
    "ninja -v": (with_ninja, {"command": "ninja -v -C build"}),
    "ninja in its folder": (with_ninja, {"command": "cd build && ninja"}),
    "cmake, make": (with_cmake, {"generator": "Unix Makefiles", "command": "make -C build"}),
    "cmake, make VERBOSE=1": (with_cmake, {"generator": "Unix Makefiles", "command": "make -C build VERBOSE=1"}),
    "cmake, ninja": (with_cmake, {}),
    "cmake, ninja -v": (with_cmake, {"command": "ninja -v -C build"}),
    "cmake --build, make": (with_cmake, {"generator": "Unix Makefiles", "command": "cmake --build build"}),
    "cmake --build, ninja": (with_cmake, {"command": "cmake --build build"}),
    "cmake --build -v, ninja": (with_cmake, {"command": "cmake --build build -v"}),
    "setuptools": (with_setuptools, {}),
}


def can_build(name, case, settings):
    """True if this way can express the case, and its linker refuses it."""
    if case.only and settings.linker not in case.only.split():
        return False
    if name == "setuptools":
        return not (case.shared or case.flags or case.driver or case.also or case.compiled_from or "-" in case.link) and case.cmake
    return not name.startswith("cmake") or case.cmake and not case.driver


MARKS = {
    "time stamps": lambda number, line: f"2024-05-06T07:08:{number % 60:02}.1234567Z {line}",
    "docker": lambda number, line: f"#12 {number / 10:.1f} {line}",
    "docker compose": lambda number, line: f"builder-1  | {line}",
    "VS Code": lambda number, line: f"[build] {line}",
    "nix": lambda number, line: f"app> {line}",
    "colours": lambda number, line: f"\x1b[0m\x1b[31m{line}\x1b[0m",
    "gitlab": lambda number, line: f"2024-05-06T07:08:{number % 60:02}.123456Z 01O {line}",
}


def mark(lab, log, name):
    lines = (lab.path / log).read_text().splitlines()
    (lab.path / log).write_text("".join(f"{MARKS[name](number, line)}\n" for number, line in enumerate(lines)))


# --- comparing


def findings_in(value):
    """Every finding in a part of a JSON document, with those of the same cause below it."""
    if isinstance(value, list):
        return [each for item in value for each in findings_in(item)]
    if not isinstance(value, dict):
        return []
    own = [{key: each for key, each in value.items() if key != "also"}] if "rule" in value and "fingerprint" in value else []
    return own + [each for item in value.values() for each in findings_in(item)]


def normal(text, folder, top):
    """A sentence with the paths in it as they are from the top folder, whatever folder it was written for."""
    def path(match):
        full = os.path.normpath(os.path.join(folder, match[0]))
        if not os.path.exists(full):
            return match[0]
        return os.path.relpath(full, top) if full.startswith(top + "/") else full

    return re.sub(r"(?<!\w\()(?<![\w./+-])[\w./+-]*\w", path, text)  # not the members in libx.a(x.o)


def answer(finding, folder, top):
    """What must be equal: rule, symbol, cause and fixes."""
    cause = finding.get("cause") or {"kind": "none", "text": ""}
    fixes = [normal(fix["text"], folder, top) for fix in finding.get("fixes", [])]
    return {"rule": finding["rule"], "symbol": finding["symbol"], "cause": (cause["kind"], normal(cause["text"], folder, top)), "fixes": fixes}


def check(lab, built):
    """The errors that `check` finds in the link, below their rule and symbol."""
    folder = lab.path / built.folder
    result = Lab(folder).audit("check", "--format", "json", *built.check)
    assert result.code in (0, 1), result
    errors = [each for each in by_symbol(result.json()["findings"]) if each["severity"] == "error"]
    return {(each["rule"], each["symbol"]): (each, answer(each, str(folder), str(lab.path))) for each in errors}


def write_compile_commands(lab, built):
    """Gives `check` the compile commands that the log shows, which `diagnose` has as well."""
    folder = lab.path / (built.check[1] if built.check[0] == "-p" else built.folder)
    entries = []
    for line in built.text.splitlines():
        command = re.sub(r"^(\+ |\[\d+/\d+\] |cd \S+ && )", "", line)
        words = command.split()
        if "-c" in words and "-o" in words:
            entries.append({"directory": str(folder), "command": command, "output": words[words.index("-o") + 1], "file": words[words.index("-c") + 1]})
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def compare(lab, built):
    """What `check` says, and where `diagnose` says otherwise."""
    top = str(lab.path)
    document = lab.audit("diagnose", "--format", "json", built.log).json()
    said = {}
    for each in findings_in(document):
        said.setdefault((each["rule"], each["symbol"]), []).append(answer(each, top, top))
    checked = check(lab, built)
    write_compile_commands(lab, built)
    informed = check(lab, built)
    wrong = []
    for error in document["errors"]:
        if error["finding"] is None:
            wrong.append(f"no finding for {error['kind']} {error['symbol'] or ''}: {error['note']}")
    for key, (finding, wanted) in checked.items():
        shown = any(name in built.text for name in names_of(finding))
        if key not in said:
            # Without the link's command only the symbols that the log shows can be explained.
            if shown or built.shows_link:
                wrong.append(f"no finding {key[0]} {key[1]}, which check has" + ("" if shown else " and the log lacks"))
            continue
        accepted = [wanted, informed[key][1]] if key in informed else [wanted]
        if any(each in said[key] for each in accepted) or not built.shows_link and fits_as_well(said[key], wanted):
            continue
        one = said[key][0]
        wrong += [f"{field} of {key[0]} {key[1]}: {one[field]!r}; check: {wanted[field]!r}" for field in one if all(one[field] != each[field] for each in accepted)]
    wrong += [f"finding {key[0]} {key[1]}, which check lacks" for key in said if key not in checked]
    return [finding for finding, _ in checked.values()], list(dict.fromkeys(wrong))


def names_of(finding):
    """How linkers write the symbol, or the object where a finding is about no symbol."""
    return [name for name in (finding["demangled"], finding["symbol"]) if name] or [os.path.basename(site["path"]) for site in finding["sites"]]


def fits_as_well(said, wanted):
    """Without the command it is unknown whether an archive is missing or only too early, and whether the object that defines what
    a shared object hides is on the line."""
    if wanted["cause"][0] == "not-exported" and any(each["cause"][0] == "object-not-linked" for each in said):
        return True
    archives = [set(re.findall(r"\blib\w+\.a\b|-l\w+", str(each))) for each in (wanted, *said)]
    return any(archives[0] & other for other in archives[1:])


def trial(lab, name, case, settings):
    """Builds the case this way, and compares."""
    make_folders(lab, case.objects())
    way, options = WAYS[name]
    built = way(lab, case, settings, **options)
    built.text = (lab.path / built.log).read_text()
    if settings.marks:
        mark(lab, built.log, settings.marks)
    return compare(lab, built)


# --- random ones


@dataclasses.dataclass
class Choice:
    """What a seed stands for."""

    way: str
    title: str
    case: Case
    settings: Settings


def generate(seed):
    """A way, a linker, one or two failures and a variation. The same seed always gives the same."""
    chance = random.Random(seed)
    while True:
        way = chance.choice(list(WAYS))
        settings = Settings(chance.choice(list(LINKERS)), chance.random() < 0.25, chance.choice(["-g", "", "-g -O1", "-MD"]),
                            chance.choice(["", "", *MARKS]))
        title = chance.choice(list(CASES))
        case = CASES[title]
        case = in_c(case) if case.c and chance.random() < 0.4 else case
        case = renamed(case, {word: chance.choice(others) for word, others in WORDS.items()})
        if chance.random() < 0.3 and not case.shared:
            second_title, second = chance.choice([each for each in CASES.items() if not (each[1].shared or each[1].driver)])
            if not case.driver and not (set(case.only.split()) ^ set(second.only.split())):
                case = ordered(combined(case, renamed(second, {word: f"{word}2" for word in WORDS})))
                title = f"{title} + {second_title}"
        if chance.random() < 0.3:
            case = in_folder(case, chance.choice(["src", "src/core"]))
        if can_build(way, case, settings):
            return Choice(way, title, case, settings)
