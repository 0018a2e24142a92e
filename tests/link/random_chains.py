"""Random links about shared objects that need shared objects: DT_NEEDED over several steps, --as-needed, -rpath-link and
-rpath, libraries that are gone, sonames that differ from file names, two files with one soname, versions."""

import random

from random_links import Archive, Link, Object, Section, Shared, Symbol

FOLDERS = ["", "d1/", "d2/"]
OUTPUTS = [[]] * 8 + [["-pie"], ["-shared"], ["-shared", "-z", "defs"], ["-shared", "--no-allow-shlib-undefined"]]
OPTIONS = [
    (["--allow-shlib-undefined"], 0.04),
    (["--no-allow-shlib-undefined"], 0.05),
    (["--unresolved-symbols=ignore-in-shared-libs"], 0.02),
    (["--unresolved-symbols=ignore-in-object-files"], 0.02),
    (["--gc-sections"], 0.08),
    (["--export-dynamic"], 0.05),
    (["-z", "muldefs"], 0.02),
]
OF_GNU_LD = [(["--copy-dt-needed-entries"], 0.12), (["--no-copy-dt-needed-entries"], 0.08)]


class ChainGenerator:
    def __init__(self, seed, linker="bfd"):
        self.rnd = random.Random(f"chain {seed}")
        self.linker = linker
        rnd = self.rnd
        self.names = [f"f{i}" for i in range(rnd.choice([3, 5, 8]))]
        self.unused = list(self.names)
        self.folders = rnd.sample(FOLDERS, rnd.choice([1, 1, 2, 3]))
        self.complete = rnd.choice([0.5, 0.9, 1])  # how often a library is linked with what it refers to

    def link(self):
        rnd = self.rnd
        link = Link([], [])
        libraries = [self.library(number) for number in range(rnd.randint(2, 5))]
        for number, library in enumerate(libraries):
            self.needs(library, libraries[:number])
        objects = [self.object("start.o", 0, rnd.randint(1, 3))]  # after the libraries: it refers to what they define
        objects[0].symbols["_start"] = Symbol()
        objects[0].sections.insert(0, Section("start", defines=["_start"]))
        objects += [self.object(f"o{i}.o", rnd.randint(0, 1), rnd.randint(0, 2)) for i in range(rnd.randint(0, 2))]
        link.files = objects + libraries
        items = [[obj.name] for obj in objects]
        if rnd.random() < 0.2:
            link.files.append(Archive("liba.a", [self.object(f"m{i}.o", 1, rnd.randint(0, 1)) for i in range(2)]))
            items.append(["liba.a"])
        named = [library for library in libraries if not library.gone and rnd.random() < 0.85] or [libraries[-1]]
        named[-1].gone = False
        rnd.shuffle(named)
        for library in named:
            place = len(items) if rnd.random() < 0.8 else rnd.randint(0, len(items))
            items.insert(place, self.spelled(library))
        for switch in rnd.choices([["--as-needed"], ["--no-as-needed"]], [4, 1], k=rnd.choice([0, 1, 1, 1, 2])):
            items.insert(0 if rnd.random() < 0.7 else rnd.randint(0, len(items)), switch)
        for option, chance in OF_GNU_LD if self.linker == "bfd" else []:  # each holds for the libraries behind it
            if rnd.random() < chance:
                items.insert(rnd.randint(0, len(items)), list(option))
        link.words = self.options() + items
        return link

    def library(self, number):
        rnd = self.rnd
        obj = self.object(f"l{number}.o", rnd.randint(0, 2), rnd.randint(0, 2))
        base = f"libl{number}.so"
        shared = Shared(rnd.choice(self.folders) + base + rnd.choice(["", "", ".1"]), obj)
        shared.soname = rnd.choice(["", "", "", f"libn{number}.so.2", "none", "libn0.so.2"])
        shared.script = "V1 { global: *; };" if rnd.random() < 0.15 else ""
        shared.gone = rnd.random() < 0.08
        if rnd.random() < 0.15:
            shared.options = "-rpath " + rnd.choice(["$ORIGIN", "$ORIGIN/../d1", "d1", "d2:d1", "/nonexistent", "."])
        return shared

    def needs(self, library, earlier):
        """Those that define what it refers to, and sometimes another one."""
        rnd = self.rnd
        defined = lambda other: set(other.object.symbols) & set(other.object.sections[0].defines)
        refers = {name for section in library.object.sections for name, _ in section.refers}
        needed = [other for other in earlier if refers & defined(other) and rnd.random() < self.complete]
        needed += [other for other in earlier if other not in needed and rnd.random() < 0.2]
        rnd.shuffle(needed)
        library.needs = " ".join(other.name for other in needed)

    def object(self, name, defines, refers):
        rnd = self.rnd
        obj = Object(name, {}, [Section("data")])
        for _ in range(defines):
            defined = self.unused.pop(rnd.randrange(len(self.unused))) if self.unused and rnd.random() < 0.9 else rnd.choice(self.names)
            obj.symbols[defined] = Symbol("weak" if rnd.random() < 0.1 else "globl")
            obj.sections[0].defines.append(defined)
        for _ in range(refers):
            self.refer(obj)
        obj.sections[0].defines = sorted(set(obj.sections[0].defines))
        return obj

    def refer(self, obj):
        """Mostly to what something defines already."""
        rnd = self.rnd
        taken = [name for name in self.names if name not in self.unused]
        name = rnd.choice((taken if taken and rnd.random() < 0.8 else self.names) + ["nobody"] * (rnd.random() < 0.05))
        if name in obj.symbols or name in obj.bare:
            return
        if rnd.random() < 0.05:
            return obj.bare.append(name)
        obj.symbols[name] = Symbol("weak" if rnd.random() < 0.1 else "globl", "hidden" if rnd.random() < 0.02 and obj.name[0] in "so" else "")
        obj.sections[0].refers.append((name, "quad"))

    def spelled(self, library):
        folder, _, base = library.name.rpartition("/")
        if self.rnd.random() < 0.4 and base.endswith(".so"):
            return ["-L" + (folder or "."), "-l" + base[3:-3]]
        return [library.name if folder or self.rnd.random() < 0.5 else "./" + base]

    def options(self):
        rnd = self.rnd
        words = [rnd.choice(OUTPUTS)]
        words += [list(option) for option, chance in OPTIONS if rnd.random() < chance]
        for option, chance in (("-rpath-link", 0.25), ("-rpath", 0.2)):
            if rnd.random() < chance:
                folders = [folder.rstrip("/") or "." for folder in rnd.sample(FOLDERS, rnd.randint(1, 2))]
                if rnd.random() < 0.3:
                    folders.insert(rnd.randint(0, 1), rnd.choice(["$ORIGIN", "${ORIGIN}/../d1", "$ORIGIN/d2"]))
                words.append([option, ":".join(folders)])
        return [word for word in words if word]
