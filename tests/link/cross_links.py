"""Random links of compiled C and C++ for one target: the same seed gives the same sources and command on every machine. And the
linkers that link for it."""

import dataclasses
import random
import shutil

import pytest

LINKERS = {"bfd": None, "lld14": "ld.lld-14", "lld19": "ld.lld-19", "mold": "mold"}
# As compiled by default for a linker other than GNU ld: lld and mold know fewer machines.
UNSUPPORTED = {("lld14", "s390x-linux-gnu"), ("lld14", "powerpc64-linux-gnu"), ("lld19", "powerpc64-linux-gnu"), ("mold", "powerpc64-linux-gnu")}

# Flags that change what the compiler of one target asks of its linker.
TARGET_FLAGS = {
    "aarch64-linux-gnu": ["-mno-outline-atomics", "-mtls-dialect=trad"],
    "arm-linux-gnueabihf": ["-marm", "-mthumb", "-mtls-dialect=gnu2"],
    "i686-linux-gnu": ["-mtls-dialect=gnu2", "-fno-plt"],
    "powerpc64-linux-gnu": ["-mcmodel=small", "-mcmodel=large", "-mminimal-toc"],
    "powerpc64le-linux-gnu": ["-mcmodel=small", "-mcmodel=large", "-mno-pcrel"],
    "riscv64-linux-gnu": ["-msave-restore", "-mcmodel=medany", "-mno-relax"],
    "s390x-linux-gnu": ["-march=z13", "-fno-plt"],
}
FLAGS = ["-O0", "-O1", "-O2", "-Os", "-Os -ffunction-sections", "-O2 -ffunction-sections -fdata-sections", "-O0 -g", "-O2 -fcommon"]
FLAGS += ["-O2 -fvisibility=hidden", "-O1 -fno-asynchronous-unwind-tables", "-O1 -ffunction-sections -g"]

NAMES = [f"f{i}" for i in range(10)]  # int f(int)
DATA = [f"v{i}" for i in range(8)]  # int
TLS = [f"t{i}" for i in range(4)]

# What a definition of the name looks like, and how often.
FUNCTIONS = [
    ("int {n}(int x) {{ return x + 1; }}", 8),
    ("__attribute__((weak)) int {n}(int x) {{ return x + 2; }}", 2),
    ('__attribute__((visibility("hidden"))) int {n}(int x) {{ return x + 3; }}', 2),
    ('__attribute__((visibility("protected"))) int {n}(int x) {{ return x + 4; }}', 1),
    ("static int {n}_own(int x) {{ return x * 3; }}\nint {n}(int) __attribute__((alias(\"{n}_own\")));", 1),
    ("static int {n}_own(int x) {{ return x * 3; }}\nint {n}(int) __attribute__((weak, alias(\"{n}_own\")));", 1),
    ("static int {n}_own(int x) {{ return x; }}\nstatic void *{n}_choose(void) {{ return (void *){n}_own; }}\nint {n}(int) __attribute__((ifunc(\"{n}_choose\")));", 1),
    ("__attribute__((constructor)) static void {n}_first(void) {{ }}\nint {n}(int x) {{ return x / 3; }}", 1),
    ("double {n}_half(double x, long double y) {{ return x * (double)y; }}\nint {n}(int x) {{ return (int){n}_half(x, x); }}", 1),
]
VARIABLES = [
    ("int {n} = 1;", 6),
    ("int {n};", 3),
    ("__attribute__((weak)) int {n} = 2;", 2),
    ('__attribute__((visibility("hidden"))) int {n} = 3;', 1),
    ("const int {n} __attribute__((used)) = 4;", 1),
    ('int {n} __attribute__((section("named"))) = 5;', 1),
]
THREADS = [("__thread int {n} = 1;", 3), ("__thread int {n};", 2), ('__attribute__((visibility("hidden"))) __thread int {n};', 1), ("__attribute__((weak)) __thread int {n} = 4;", 1)]
# What uses a name of each kind; {u} makes the user's name unique.
CALLS = [
    ("int {u}(int x) {{ return {n}(x) + 1; }}", 6),
    ("int (*{u}_table[])(int) = {{ {n} }};", 3),
    ("static int {u}(int x) {{ return {n}(x) + 1; }}", 2),
    ("int {u}(int a, int b, int c, int d, int e, int f) {{ int x = {n}(a) + {n}(b), y = {n}(c) - {n}(d), z = {n}(e); return {n}(x) + {n}(y) + {n}(z) + {n}(f) + a * b; }}", 2),
    ("double {u}(double a, double b, double c) {{ double x = {n}((int)a) * b, y = {n}((int)b) * c; {n}(1); return x * a + y * b; }}", 1),
    ("int {u}(int x) {{ return {n} ? {n}(x) : 0; }}", 1),
]
READS = [
    ("int {u}(void) {{ return {n}; }}", 6),
    ("int *{u}_place = &{n};", 3),
    ("__attribute__((used)) static int *{u}_place = &{n};", 1),
    ("int {u}(int x) {{ switch (x) {{ case 0: return {n}; case 1: return 7; case 2: return {n} + x; case 3: return 9; case 4: return 11; case 5: return x * {n}; }} return 0; }}", 1),
]
ODD = [
    "extern int __start_named, __stop_named; int {u}(void) {{ return &__stop_named - &__start_named; }}",
    "extern char _end[], _edata[], etext[]; long {u}(void) {{ return _end - _edata + (long)etext; }}",
    "extern __attribute__((weak)) int {u}_nowhere(void); int {u}(void) {{ return {u}_nowhere ? {u}_nowhere() : 0; }}",
    "long long {u}(long long a, long long b) {{ return a / b; }} long double {u}_q(long double a, long double b) {{ return a * b; }}",
    "unsigned {u}(double x, float y) {{ return (unsigned)x + (unsigned long long)y % 7; }}",
    "#include <string.h>\n#include <stdio.h>\nint {u}(char *a, char *b) {{ memcpy(a, b, 4000); return printf(\"%s\", a); }}",
    "#include <math.h>\ndouble {u}(double x) {{ return sin(x) + floor(x); }}",
    "#include <errno.h>\nint {u}(void) {{ return errno; }}",
    "struct s {{ char c[200]; }}; struct s {u}(struct s *p) {{ return *p; }}",
    "__asm__(\".globl {u}_bare\");",
    "int {u}_common[10];",
]
CPP = [
    "inline int shared_inline(int x) {{ static int count; return ++count + x; }} int {u}(int x) {{ return shared_inline(x); }}",
    "struct Base {{ virtual ~Base(); virtual int go(); }}; int {u}() {{ Base *b = new Base; return b->go(); }}",
    "struct Base {{ virtual ~Base(); virtual int go(); }}; Base::~Base() {{}} int Base::go() {{ return 1; }}",
    "#include <string>\nstd::string {u}(int x) {{ return std::to_string(x) + \"a\"; }}",
    "int {u}(int x) {{ try {{ if (x) throw x; }} catch (int y) {{ return y; }} return 0; }}",
    "thread_local int lazy = [] {{ return 3; }}(); int {u}() {{ return lazy; }}",
    "extern thread_local int lazy; int {u}() {{ return lazy; }}",
    "template <typename T> T twice(T x) {{ return x + x; }} template int twice<int>(int); int {u}() {{ return twice<long>(2); }}",
    "template <typename T> T twice(T x); int {u}() {{ return twice<int>(2); }}",
    "inline int variable = 3; int *{u}() {{ return &variable; }}",
    "int variable = 4; int {u}() {{ return variable; }}",
    "#include <atomic>\nstruct B {{ char x[16]; }}; std::atomic<B> {u}_big; int {u}() {{ return {u}_big.load().x[0]; }}",
    "#include <iostream>\nvoid {u}() {{ std::cout << \"x\"; }}",
]

OUTPUTS = [("", 8), ("-no-pie", 3), ("-static", 3), ("-static-pie", 1), ("-shared", 3), ("-shared -Wl,-z,defs", 3), ("-r -nostdlib", 1), ("-nostdlib", 1)]
OPTIONS = [
    ("-Wl,--gc-sections", 0.35),
    ("-Wl,--allow-multiple-definition", 0.05),
    ("-Wl,--export-dynamic", 0.08),
    ("-Wl,--as-needed", 0.1),
    ("-Wl,--no-undefined", 0.05),
    ("-Wl,-Bsymbolic", 0.05),
    ("-Wl,--unresolved-symbols=ignore-all", 0.04),
    ("-static-libgcc", 0.08),
    ("-nodefaultlibs -lc", 0.05),
    ("-Wl,-u,f3", 0.05),
    ("-Wl,--exclude-libs,ALL", 0.05),
    ("-pthread", 0.05),
    ("-pg", 0.02),
]


def targets_and_linkers():
    """Parameters of a test: all pairs, skipped where one of the two is not installed."""
    pairs = [(target, linker) for target in TARGET_FLAGS for linker in LINKERS if (linker, target) not in UNSUPPORTED]
    for target, linker in pairs:
        missing = [name for name in (f"{target}-g++", LINKERS[linker]) if name and shutil.which(name) is None]
        marks = [pytest.mark.skip(reason=f"needs {missing[0]}, which is not installed")] if missing else []
        yield pytest.param(target, linker, id=f"{target}-{linker}", marks=marks)


def offer_linkers(lab):
    """The linkers in folders of their own, by the names that a driver looks for."""
    for linker, program in LINKERS.items():
        if program and shutil.which(program):
            lab.sh(f"mkdir -p {linker}; ln -s {shutil.which(program)} {linker}/ld.{linker.rstrip('1234567890')}")


def driver(target, linker):
    """The target's driver, made to start that linker."""
    return f"{target}-g++" + ("" if linker == "bfd" else f" -B{linker} -fuse-ld={linker.rstrip('1234567890')}")


@dataclasses.dataclass
class Source:
    name: str  # "o3.c"
    text: str
    flags: str

    @property
    def is_pic(self):
        return "-fPIC" in self.flags

    @property
    def object(self):
        return self.name.replace(".", "_") + ".o"


@dataclasses.dataclass
class Link:
    words: str  # behind the driver
    archives: dict  # name: objects
    libraries: dict  # shared objects


def weighted(rnd, table):
    return rnd.choices([value for value, _ in table], [weight for _, weight in table])[0]


def source(rnd, number, target):
    """One object's text: what it defines of the common names, and what it uses."""
    is_cpp = rnd.random() < 0.3
    lines = []
    defined = set()
    groups = [(NAMES, FUNCTIONS), (DATA, VARIABLES), (TLS, THREADS)]
    for names, kinds in groups:
        for name in rnd.sample(names, rnd.choice([0, 0, 1, 1, 2])):
            defined.add(name)
            lines.append(weighted(rnd, kinds).format(n=name))
    declared = [f"extern int {n}(int);" for n in NAMES] + [f"extern int {n};" for n in DATA if n not in defined]
    declared += [f"extern __thread int {n};" for n in TLS if n not in defined]
    uses = []
    for i in range(rnd.choice([0, 1, 2, 3])):
        names, kinds = rnd.choice([(NAMES, CALLS), (NAMES, CALLS), (DATA, READS), (TLS, READS[:1])])
        uses.append(weighted(rnd, kinds).format(n=rnd.choice(names), u=f"u{number}_{i}"))
    odd = [rnd.choice(ODD).format(u=f"odd{number}")] if rnd.random() < 0.4 else []
    more = [rnd.choice(CPP).format(u=f"cpp{number}")] if is_cpp else []
    body = "\n".join([*declared, *lines, *uses, *odd])
    # Definitions of C++ that have to be strings of C: the names are the same for both languages.
    text = 'extern "C" {\n' + body.replace("const int", "extern const int") + "\n}\n" + "\n".join(more) if is_cpp else body
    text = "\n".join([line for line in text.splitlines() if line.startswith("#include")] + [line for line in text.splitlines() if not line.startswith("#include")])
    flags = rnd.choice(FLAGS) + rnd.choice([" -fPIC", " -fPIC", ""])
    if rnd.random() < 0.25:
        flags += " " + rnd.choice(TARGET_FLAGS[target])
    return Source(f"o{number}.{'cpp' if is_cpp else 'c'}", text + "\n", flags)


def sources(seed, target, count):
    """A pool of objects, of which main.c is the first."""
    rnd = random.Random(f"{seed} {target}")
    made = [source(rnd, i, target) for i in range(count)]
    main = "extern int f0(int); extern int v0; int main(void) { return f0(v0); }\n"
    return [Source("main.c", main, rnd.choice(FLAGS)), *made]


def link(seed, target, pool):
    """A command of objects of the pool, archives and shared objects made of them."""
    rnd = random.Random(f"{seed} {target} link")
    output = weighted(rnd, OUTPUTS)
    shared = "-shared" in output
    pic = {one.object for one in pool if one.is_pic}
    usable = [one.object for one in pool[1:] if one.is_pic or not shared]
    rest = rnd.sample(usable, min(rnd.choice([1, 2, 3, 5, 8]), len(usable)))
    plain, archives, libraries = [], {}, {}
    for obj in rest:
        place = rnd.random()
        if place < 0.55:
            plain.append(obj)
        elif place < 0.85 or "static" in output or "-r" in output or obj not in pic:
            archives.setdefault(rnd.choice(["liba.a", "libb.a"]), []).append(obj)
        else:
            libraries.setdefault("libs.so", []).append(obj)
    words = [f"./{name}" for name in archives] + [f"./{name}" for name in libraries] + plain
    rnd.shuffle(words)
    if not shared and "-r" not in output:
        words.insert(0, "main_c.o")
    for word in [w for w in words if w.endswith(".a")]:
        if rnd.random() < 0.15:
            words[words.index(word)] = f"-Wl,--whole-archive {word} -Wl,--no-whole-archive"
    options = [option for option, chance in OPTIONS if rnd.random() < chance and not ("-r" in output and "gc" in option)]
    if rnd.random() < 0.5:
        words.append("-lm")
    return Link(" ".join([*output.split(), *options, *words]), archives, libraries)
