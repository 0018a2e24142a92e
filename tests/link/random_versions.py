"""Random links about symbol versions: .symver of every form, version scripts with patterns, extern "C++" and local names,
--exclude-libs, and shared objects with versions of their own."""

from random_generator import Generator, weighted
from random_links import Section, Symbol
from random_shrink import drop_unused

CXX = {"_ZN2ns1fEv": "ns::f()", "_ZN2ns1gEi": "ns::g(int)", "_Z1hv": "h()"}
VERSIONS = ["V1", "V2", "V3"]
OUTPUTS = [(["-shared"], 7), ([], 2), (["-pie"], 1), (["-r"], 0.3)]
OPTIONS = [
    (["--undefined-version"], 0.12),
    (["--no-undefined-version"], 0.2),
    (["--exclude-libs", "ALL"], 0.08),
    (["--exclude-libs", "lib0.a"], 0.05),
    (["--exclude-libs=lib0:lib1"], 0.04),
    (["-z", "defs"], 0.12),
    (["-z", "muldefs"], 0.04),
    (["--gc-sections"], 0.08),
    (["-Bsymbolic"], 0.04),
    (["--export-dynamic"], 0.05),
    (["--warn-unresolved-symbols"], 0.03),
    (["--unresolved-symbols=ignore-all"], 0.03),
    (["--allow-shlib-undefined"], 0.04),
]


class VersionGenerator(Generator):
    def __init__(self, seed, linker):
        super().__init__(seed, linker)
        rnd = self.rnd
        self.bases = [f"f{i}" for i in range(rnd.choice([2, 4, 6]))] + rnd.sample(sorted(CXX), rnd.choice([0, 1, 3]))
        self.data = self.names = self.unused = []
        self.bases += ["t0"] * (rnd.random() < 0.3)  # thread-local where it is defined, and not where it is referred to
        self.free = list(self.bases)  # not defined by any object yet
        self.versioned = rnd.choice([0.1, 0.4, 0.8])  # how often a name has a version
        self.nodes = rnd.sample(VERSIONS, rnd.choice([1, 2, 3]))

    def version(self, definition):
        """What follows the name: mostly of a node that the version script has."""
        rnd = self.rnd
        if rnd.random() > self.versioned:
            return ""
        version = rnd.choice(self.nodes) if rnd.random() < 0.9 else rnd.choice(VERSIONS)
        return ("@@" if definition and rnd.random() < 0.6 else "@") + version

    def define(self, obj):
        rnd = self.rnd
        base = self.free.pop() if self.free and rnd.random() < 0.7 else rnd.choice(self.bases)
        name = base + self.version(True)
        # gas takes no two defaults of one name, and no version beside the plain name.
        alike = [other for other in obj.symbols if other.partition("@")[0] == base]
        if name in obj.symbols or (alike and ("@@" in name or "@" not in name or any(n == base or "@@" in n for n in alike))):
            return
        symbol = self.symbol()
        symbol.mode = "remove" if "@" in name and rnd.random() < 0.7 else ""
        kind = "tls" if base == "t0" and rnd.random() < 0.8 else "data"
        self.place(obj, Section(kind, self.group(base) if rnd.random() < 0.2 else ""), name, symbol)

    def refer(self, obj, section=None):
        rnd = self.rnd
        base = rnd.choice(self.bases)
        known = [name for name in obj.symbols if name.partition("@")[0] == base]
        if known or rnd.random() < 0.1:
            return
        name = base + self.version(False)
        obj.symbols[name] = Symbol("weak" if rnd.random() < 0.1 else "globl", "hidden" if rnd.random() < 0.04 else "")
        section = self.referring_section(obj, name, section)
        section.refers.append((name, "call" if section.kind == "text" else "quad"))

    @staticmethod
    def defines(obj, name):
        return any(name in section.defines for section in obj.sections)

    # -- scripts

    def pattern(self):
        rnd = self.rnd
        kind = weighted(rnd, [("name", 8), ("glob", 2), ("all", 0.5), ("missing", 0.6), ("cxx", 1.5)])
        if kind == "glob":
            return rnd.choice(["f*", "f[01]", "?1", "_Z*", "f[!0]", "nosuch*"])
        if kind == "all":
            return "*"
        if kind == "missing":
            return "nosuch"
        if kind == "cxx":
            inside = rnd.choice(["ns::*", '"ns::f()"', "h*", '"ns::g(int)"; h*', "ns::f*", '"ns::nosuch()"'])
            return 'extern "C++" { ' + inside + "; }"
        return rnd.choice(self.bases)

    def node(self, name, local):
        rnd = self.rnd
        globals_ = [self.pattern() for _ in range(rnd.choice([0, 1, 1, 2, 3]))]
        locals_ = [self.pattern() for _ in range(rnd.choice([0, 0, 1]))] + ["*"] * local
        text = ("global: " if globals_ and rnd.random() < 0.7 else "") + "".join(p + "; " for p in dict.fromkeys(globals_))
        text += "local: " + "".join(p + "; " for p in dict.fromkeys(locals_)) if locals_ else ""
        return f"{name} {{ {text}}}".strip()

    def version_script(self):
        rnd = self.rnd
        if rnd.random() < 0.2:
            return self.node("", rnd.random() < 0.7) + ";"
        parts, before = [], ""
        for number, name in enumerate(self.nodes):
            parts.append(self.node(name, number == 0 and rnd.random() < 0.6) + before + ";")
            before = " " + name if rnd.random() < 0.5 else ""
        return "\n".join(parts)

    # -- the line

    def link(self):
        rnd = self.rnd
        link = super().link()
        if rnd.random() < 0.75:
            link.scripts["vs.map"] = self.version_script()
            link.words.insert(rnd.randint(0, len(link.words)), ["--version-script=vs.map"])
        if rnd.random() < 0.06:
            link.scripts["list.dyn"] = "{ " + "".join(self.pattern() + "; " for _ in range(2)) + "};"
            link.words.insert(0, ["--dynamic-list=list.dyn"])
        return link

    def output(self):
        return list(weighted(self.rnd, OUTPUTS))

    def assignments(self, link):
        return []

    def shared(self, link):
        made = super().shared(link)
        for file in made:
            for section in file.object.sections:  # GNU ld leaves no versioned name open in a shared object
                section.refers = [(name, how) for name, how in section.refers if "@" not in name or self.defines(file.object, name)]
            drop_unused(file.object, None)
            named = {name.rpartition("@")[2] for name in file.object.symbols if "@" in name}
            file.script = " ".join(f"{name} {{ }};" for name in sorted(named)) or file.script
        return made

    def options(self, output):
        rnd = self.rnd
        words = [output, ["-L."]]
        for option, chance in OPTIONS:
            unknown = option == ["--undefined-version"] and self.linker == "mold"
            if rnd.random() < chance and not unknown:
                words.append(list(option))
        if rnd.random() < 0.12:
            words.append([f"--defsym={rnd.choice(self.bases)}=4"])
        if rnd.random() < 0.05:
            words.append(["-u", rnd.choice(self.bases)])
        rnd.shuffle(words)
        return [word for word in words if word]
