"""Random links about what -l finds: archives and shared objects of one name in several folders, -Bstatic and -Bdynamic
between them, -l:file, and linker scripts that stand for libraries."""

from random_generator import Generator, weighted
from random_links import Archive, Link, Shared

FOLDERS = ["", "d1/", "d2/"]
STATIC = {"bfd": ["-Bstatic", "-dn", "-non_shared"], "lld14": ["-Bstatic", "-dn", "-non_shared"], "mold": ["-Bstatic"]}
DYNAMIC = {"bfd": ["-Bdynamic", "-dy", "-call_shared"], "lld14": ["-Bdynamic", "-dy", "-call_shared"], "mold": ["-Bdynamic"]}
OUTPUTS = [([], 10), (["-shared"], 4), (["-pie"], 1), (["-static"], 3), (["-r"], 0.5)]


class LibraryGenerator(Generator):
    def __init__(self, seed, linker):
        super().__init__(seed, linker)
        self.versions, self.odd, self.needed_only, self.wrapped = False, False, [], []
        self.tls, self.functions = [], []
        self.names = list(self.data)
        self.unused = list(self.names)
        self.count = self.rnd.choice([1, 2, 3])

    def link(self):
        rnd = self.rnd
        link = Link([self.start()], [])
        self.objects(link)
        for number in range(self.count):
            self.library(link, number)
        items = self.object_items(link)
        for _ in range(rnd.randint(self.count, self.count + 2)):
            items.insert(rnd.randint(0 if rnd.random() < 0.3 else len(items), len(items)), self.mention(link))
        for _ in range(weighted(rnd, [(0, 4), (1, 3), (2, 2)])):
            items.insert(rnd.randint(0, len(items)), self.switch())
        link.words = self.options(self.output()) + [words for item in items for words in (item if isinstance(item[0], list) else [item])]
        return link

    def output(self):
        return list(weighted(self.rnd, OUTPUTS))

    def library(self, link, number):
        """lib0.a, lib0.so or both, in one folder or more; or a script of that name."""
        rnd = self.rnd
        for folder in rnd.sample(FOLDERS, weighted(rnd, [(1, 6), (2, 2)])):
            kind = weighted(rnd, [("a", 3), ("so", 3), ("both", 3), ("script", 2)])
            stem = f"{folder}lib{number}"
            if kind in ("a", "both"):
                members = [self.object(f"m{len(link.files)}{i}.o") for i in range(rnd.randint(1, 2))]
                members = [m for m in members if m.sections or m.commons] or [self.start_of_nothing(f"m{len(link.files)}e.o")]
                link.files.append(Archive(stem + ".a", members))
            if kind in ("so", "both"):
                obj = self.object(f"d{len(link.files)}.o")
                for symbol in obj.symbols.values():
                    symbol.visibility = ""
                link.files.append(Shared(stem + ".so", obj))
            if kind == "script" and link.files:
                link.scripts[stem + rnd.choice([".so", ".so", ".a"])] = self.script(link)

    def script(self, link):
        rnd = self.rnd
        made = [file.name for file in link.files]
        words = [self.script_word(rnd.choice(made)) for _ in range(rnd.randint(1, 2))]
        inside = " ".join(words)
        text = weighted(rnd, [("INPUT ( {} )", 3), ("GROUP ( {} )", 3), ("GROUP ( AS_NEEDED ( {} ) )", 2), ("INPUT ( {} ) INPUT ( {} )", 1)])
        head = rnd.choice(["", "", "/* GNU ld script */ ", "OUTPUT_FORMAT(elf64-x86-64) "])
        if self.linker != "mold" and rnd.random() < 0.15:
            head += "SEARCH_DIR ( d1 ) "
        return head + text.replace("{}", inside)

    def script_word(self, name):
        rnd = self.rnd
        base = name.rpartition("/")[2]
        if base.startswith("lib") and rnd.random() < 0.5:
            return "-l" + base[3:].partition(".")[0]
        return base if rnd.random() < 0.2 else name

    def mention(self, link):
        """A library as -l names it, or by its file."""
        rnd = self.rnd
        number = rnd.randrange(self.count)
        kind = weighted(rnd, [("-l", 8), ("-l:", 2), ("file", 2)])
        files = [name for name in sorted(link.names()) if name.rpartition("/")[2].startswith("lib")]
        if kind == "-l" or not files:
            word = f"-l{number}"
        elif kind == "-l:":
            word = "-l:" + rnd.choice(files).rpartition("/")[2]
        else:
            word = rnd.choice(files)
        if rnd.random() < 0.08:
            return [word[:2], word[2:]] if word.startswith("-l") and not word.startswith("-l:") else [word]
        if rnd.random() < 0.12:
            return ["--whole-archive", word, "--no-whole-archive"]
        return ["--as-needed", word, "--no-as-needed"] if rnd.random() < 0.15 else [word]

    def switch(self):
        rnd = self.rnd
        if rnd.random() < 0.1:
            return [["--push-state", rnd.choice(STATIC.get(self.linker, STATIC["lld14"]))], ["--pop-state"]]
        table = rnd.choice([STATIC, STATIC, DYNAMIC])
        return [rnd.choice(table.get(self.linker, table["lld14"]))]

    def options(self, output):
        rnd = self.rnd
        words = [output]
        for folder in rnd.sample(["d1", "d2", "."], rnd.choice([2, 3, 3])):
            words.append(rnd.choice([["-L" + folder], ["-L", folder], ["--library-path=" + folder]]))
        for option, chance in [(["--gc-sections"], 0.05), (["-z", "defs"], 0.1), (["--exclude-libs", "ALL"], 0.04), (["-z", "muldefs"], 0.05), (["--as-needed"], 0.1)]:
            if rnd.random() < chance:
                words.append(option)
        rnd.shuffle(words)
        return [word for word in words if word]
