"""Makes a random link of a seed and a linker: the same ones give the same link on every machine."""

import random

from random_links import Archive, Link, Object, Section, Shared, Symbol

LINKER_DEFINED = ["_end", "etext", "__bss_start", "_GLOBAL_OFFSET_TABLE_", "__ehdr_start", "_DYNAMIC", "__dso_handle"]
LINKER_DEFINED += ["__start_named", "__stop_named", "__start_other", "__init_array_start", "__rela_iplt_start"]
VERSIONED = ["v0@V1", "v0@@V1", "v0@V2", "v0@@V2", "v0"]
OUTPUTS = [([], 10), (["-shared"], 5), (["-pie"], 2), (["-r"], 1)]
GLOBAL_OPTIONS = [
    (["-z", "defs"], 0.12),
    (["--no-undefined"], 0.03),
    (["-z", "undefs"], 0.02),
    (["-z", "muldefs"], 0.1),
    (["--allow-multiple-definition"], 0.02),
    (["--gc-sections"], 0.15),
    (["--export-dynamic"], 0.05),
    (["-Bsymbolic"], 0.03),
    (["--allow-shlib-undefined"], 0.04),
    (["--no-allow-shlib-undefined"], 0.04),
    (["--unresolved-symbols=ignore-all"], 0.02),
    (["--unresolved-symbols=report-all"], 0.02),
    (["--unresolved-symbols=ignore-in-object-files"], 0.02),
    (["--unresolved-symbols=ignore-in-shared-libs"], 0.02),
    (["--warn-unresolved-symbols"], 0.02),
    (["--noinhibit-exec"], 0.02),
    (["--exclude-libs", "ALL"], 0.03),
    (["--no-as-needed"], 0.05),
]


def weighted(rnd, table):
    return rnd.choices([value for value, _ in table], [weight for _, weight in table])[0]


class Generator:
    def __init__(self, seed, linker):
        self.rnd = random.Random(seed)
        self.linker = linker
        rnd = self.rnd
        self.data = [f"s{i}" for i in range(rnd.choice([2, 4, 8, 14]))]
        self.tls = [f"t{i}" for i in range(rnd.choice([0, 0, 1, 2]))]
        self.functions = [f"i{i}" for i in range(rnd.choice([0, 1, 2]))]
        self.names = self.data + self.tls + self.functions
        self.wrapped = rnd.sample(self.data, 1) if rnd.random() < 0.1 else []
        self.names += [prefix + name for name in self.wrapped for prefix in ("__wrap_", "__real_")]
        self.needed_only = rnd.sample(LINKER_DEFINED, 3) if rnd.random() < 0.1 else []
        self.versions = rnd.random() < 0.12
        # How often a definition is plain: without this nearly every link would be full of duplicates.
        self.plain = rnd.choice([0.2, 0.5, 0.8])
        self.spread = rnd.choice([1, 2, 3])  # definitions an object at most
        self.odd = rnd.random() < 0.15  # excluded, linkonce and non-allocated sections, R_X86_64_NONE
        self.unused = list(self.names)

    # -- objects

    def object(self, name):
        rnd = self.rnd
        obj = Object(name)
        for _ in range(rnd.randint(0, self.spread)):
            self.define(obj)
        for _ in range(rnd.randint(0, 3)):
            self.refer(obj)
        return obj

    def pick_definition(self):
        """Mostly a name that nobody defines yet."""
        if self.unused and self.rnd.random() < self.plain:
            return self.unused.pop(self.rnd.randrange(len(self.unused)))
        return self.rnd.choice(self.names)

    def define(self, obj):
        rnd = self.rnd
        name = self.pick_definition()
        if name in obj.symbols or name in dict(obj.commons) or name in obj.bare:
            return
        if self.versions and rnd.random() < 0.1 and not self.has_version(obj):
            return self.place(obj, Section("data"), rnd.choice(VERSIONED), Symbol())
        if name.startswith("t"):
            return self.place(obj, Section("tls", self.group(name)), name, self.symbol())
        if name.startswith("i"):
            kind = rnd.choice(["function", "function", "gnu_indirect_function"])
            return self.place(obj, Section("text", self.group(name)), name, self.symbol(kind))
        kind = weighted(rnd, [("section", 8), ("common", 1.5), ("absolute", 0.4), ("unique", 0.7), ("odd", 1)])
        if kind == "common":
            obj.commons.append((name, rnd.choice([8, 16])))
        elif kind == "absolute":
            obj.symbols[name] = Symbol()
            obj.absolutes.append((name, rnd.choice([1, 2])))
        elif kind == "unique":
            self.place(obj, Section("data", self.group(name)), name, Symbol(type="gnu_unique_object"))
        elif kind == "odd" and self.odd:
            self.place(obj, Section(rnd.choice(["exclude", "linkonce", "named"])), name, self.symbol())
        else:
            self.place(obj, Section("data", self.group(name)), name, self.symbol())

    @staticmethod
    def has_version(obj):
        """One object has one version of a name at most: gas refuses some pairs."""
        return any(name.startswith("v") for name in obj.symbols)

    def place(self, obj, section, name, symbol):
        """Into a section of its own, or beside what a section like it defines already."""
        obj.symbols[name] = symbol
        alike = [s for s in obj.sections if (s.kind, s.group) == (section.kind, section.group) and s.defines]
        if alike and section.kind != "linkonce" and self.rnd.random() < 0.4:
            section = alike[0]
        else:
            obj.sections.append(section)
        section.defines.append(name)

    def symbol(self, kind=""):
        rnd = self.rnd
        binding = "globl" if rnd.random() < 0.75 else "weak"
        return Symbol(binding, rnd.choice(["hidden", "protected"]) if rnd.random() < 0.1 else "", kind)

    def group(self, name):
        rnd = self.rnd
        return weighted(rnd, [("", 6), (name, 1.5), (rnd.choice(["g0", "g1"]), 0.7)])

    def refer(self, obj, section=None):
        rnd = self.rnd
        name = rnd.choice(self.names + self.needed_only + (["v0", "v0@V1", "v0@V2"] if self.versions else []))
        if name in obj.bare or (name.startswith("v") and self.has_version(obj)):
            return
        if rnd.random() < 0.06:
            if name not in obj.symbols and name not in dict(obj.commons) and "@" not in name:
                obj.bare.append(name)
            return
        if name not in obj.symbols and name not in dict(obj.commons):
            binding = "weak" if rnd.random() < 0.15 else "globl"
            obj.symbols[name] = Symbol(binding, "hidden" if rnd.random() < 0.08 else "")
        section = self.referring_section(obj, name, section)
        relocation = "tls" if name.startswith("t") else "call" if section.kind == "text" else "quad"
        section.refers.append((name, "none" if self.odd and rnd.random() < 0.1 else relocation))

    def referring_section(self, obj, name, wanted):
        """Absolute relocations stand in data, calls and thread-local accesses in code: a shared object can have no
        others."""
        rnd = self.rnd
        tls = name.startswith("t")
        if wanted and not tls:
            return wanted
        fit = [s for s in obj.sections if not tls or s.kind == "text"]
        if fit and rnd.random() < 0.6:
            return rnd.choice(fit)
        section = Section("text" if tls else "debug" if self.odd and rnd.random() < 0.3 else "data")
        obj.sections.append(section)
        return section

    def start(self):
        obj = self.object("start.o")
        section = Section("start", defines=["_start"])
        obj.symbols["_start"] = Symbol()
        obj.sections.insert(0, section)
        for _ in range(self.rnd.randint(1, 4)):
            self.refer(obj, section)
        return obj

    # -- the line

    def link(self):
        rnd = self.rnd
        link = Link([self.start()], [])
        self.objects(link)
        output = self.output()
        shared = self.shared(link) if output != ["-r"] else []
        items = self.object_items(link) + self.archives(link)
        for file in shared:
            word = self.spell(file.name, ".so")
            items.insert(rnd.randint(0, len(items)), self.positional(word, "--as-needed", "--no-as-needed", 0.25))
        if rnd.random() < 0.15:
            rnd.shuffle(items)
        items += self.assignments(link)
        link.words = self.options(output) + [words for item in items for words in flat(item)]
        return link

    def output(self):
        return list(weighted(self.rnd, OUTPUTS))

    def object_items(self, link):
        rnd = self.rnd
        items = [[file.name] for file in link.files if isinstance(file, Object)]
        items[1:] = rnd.sample(items[1:], len(items) - 1)
        if self.linker != "bfd" and len(items) > 2 and rnd.random() < 0.15:
            items[-2:] = [["--start-lib", *items[-2], *items[-1], "--end-lib"]]
        if rnd.random() < 0.03:
            items.append([link.files[-1].name])  # the same object twice
        return items

    def assignments(self, link):
        """A linker script as an input; mold 1.10 takes none with assignments."""
        rnd = self.rnd
        if self.linker == "mold" or rnd.random() > 0.04:
            return []
        name, other = rnd.choice(self.data), rnd.choice(self.data)
        link.scripts["set.ld"] = rnd.choice([f"{name} = 4;", f"PROVIDE({name} = 4);", f"alias = {other};", f"EXTERN({name})"])
        return [["set.ld"]]

    def objects(self, link):
        for number in range(self.rnd.randint(0, 4)):
            link.files.append(self.object(f"o{number}.o"))

    def archives(self, link):
        rnd = self.rnd
        items = []
        for number in range(weighted(rnd, [(0, 1), (1, 3), (2, 3), (3, 1)])):
            members = [self.object(f"m{number}{i}.o") for i in range(rnd.randint(1, 4))]
            # A member without anything in it has no place in an index or a map.
            members = [m for m in members if m.sections or m.commons] or [self.start_of_nothing(f"m{number}e.o")]
            archive = Archive(f"lib{number}.a", members, rnd.random() < 0.03)
            link.files.append(archive)
            items.append(self.positional(self.spell(archive.name, ".a"), "--whole-archive", "--no-whole-archive", 0.12))
        if items and rnd.random() < 0.05:
            link.scripts["group.ld"] = "GROUP ( " + " ".join(f.name for f in link.files if isinstance(f, Archive)) + " )"
            items = [["group.ld"]]
        elif len(items) > 1 and rnd.random() < 0.25:
            items = [[["--start-group"], *items, ["--end-group"]]]
        if link.files and isinstance(link.files[-1], Archive) and rnd.random() < 0.12:
            items.append([link.files[-1].name])  # the same archive again
        return items

    def start_of_nothing(self, name):
        return Object(name, sections=[Section("data")])

    def spell(self, file, ending):
        return "-l" + file[3 : -len(ending)] if self.rnd.random() < 0.1 else file

    def positional(self, word, on, off, chance):
        return [on, word, off] if self.rnd.random() < chance else [word]

    def shared(self, link):
        rnd = self.rnd
        made = []
        for number in range(weighted(rnd, [(0, 3), (1, 2), (2, 1)])):
            obj = self.object(f"d{number}.o")
            for symbol in obj.symbols.values():
                symbol.visibility = ""
            needs = made[-1].name if made and rnd.random() < 0.3 else ""
            script = "V1 { global: *; };" if rnd.random() < 0.15 else ""
            if self.has_version(obj):
                script = "V1 { }; V2 { };"
            made.append(Shared(f"libd{number}.so", obj, script, needs))
        link.files += made
        return made

    def options(self, output):
        rnd = self.rnd
        words = [output, ["-L."]]
        words += [list(option) for option, chance in GLOBAL_OPTIONS if rnd.random() < chance]
        words += [[f"--wrap={name}"] for name in self.wrapped]
        for option, chance in self.naming_options():
            if rnd.random() < chance:
                words.append(option)
        rnd.shuffle(words)
        return [word for word in words if word]

    def naming_options(self):
        name, other = self.rnd.choice(self.data), self.rnd.choice(self.data)
        options = [
            (["-u", name], 0.08),
            (["-e", name], 0.02),
            ([f"--defsym={name}=4"], 0.04),
            ([f"--defsym=alias={other}"], 0.03),
        ]
        return options + ([] if self.linker.startswith("lld") else [([f"--require-defined={name}"], 0.03)])


def flat(item):
    """A group is one item with several in it, for it moves as a whole."""
    return item if isinstance(item[0], list) else [item]


def generate(seed, linker="bfd", kind="symbols"):
    return generators()[kind](seed, linker).link()


def generators():
    """What a random link is about -> what makes one."""
    from random_chains import ChainGenerator
    from random_libraries import LibraryGenerator
    from random_versions import VersionGenerator

    return {"symbols": Generator, "versions": VersionGenerator, "libraries": LibraryGenerator, "chains": ChainGenerator}
