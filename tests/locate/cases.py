"""The format of the tables of this folder: files, how they are compiled, and, in each table's own class, what must come out.

    Case("a function", {"h.h": "int f(void) { return 1; }", "a.c": '#include "h.h"', "b.c": '#include "h.h"'})

`edits.py` has a format of its own: it inserts each shape into many headers, also those of installed libraries.
"""

import json
from dataclasses import dataclass, field

CXX = {"gcc": "g++", "clang": "clang++"}


@dataclass
class Case:
    name: str
    files: dict  # path -> text
    options: str = ""  # of the compiler, for each source
    compilers: tuple = ("gcc", "clang")  # also for C++, whose drivers are CXX's
    included: tuple = ()  # sources that only others include
    own_options: dict = field(default_factory=dict)  # source -> options
    foreign: tuple = ()  # sources of an archive of another project
    programs: tuple = ()  # the sources of each; none: all sources are one program
    links_with: str = ""
    by_hand: bool | None = False  # no edit is known that keeps the meaning; None: in some ways of a build one is

    def write(self, lab):
        for name, text in self.files.items():
            path = lab.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def is_unchanged(self, lab):
        return all((lab.path / name).read_bytes() == text.encode() for name, text in self.files.items() if name not in self.foreign)

    def sources(self):
        names = [name for name in self.files if name.endswith((".c", ".cpp")) and name not in self.included]
        return [name for name in names if name not in self.foreign]

    def driver(self, compiler="gcc"):
        """Returns the driver that links the case: C++'s where one of its sources is C++."""
        return CXX[compiler] if any(name.endswith(".cpp") for name in self.files) else compiler

    def commands(self, flags, compiler="gcc", warnings="-w"):
        """Returns the command that compiles each source, in their order."""
        flags = flags if isinstance(flags, str) else " ".join(flags)
        return [f"{CXX[compiler] if source.endswith('.cpp') else compiler} {warnings} {flags} {self.options} {self.own_options.get(source, '')} -c {source} -o {source}.o"
                for source in self.sources()]

    def compile(self, lab, flags, compiler="gcc", database=False):
        """Compiles each source; returns the objects. With `database` a compile_commands.json says how."""
        commands, sources = self.commands(flags, compiler), self.sources()
        for command in commands:
            lab.sh(command)
        if database:
            lab.write("compile_commands.json", json.dumps([{"directory": str(lab.path), "file": source, "output": source + ".o", "command": command}
                                                           for source, command in zip(sources, commands)]))
        if self.foreign:  # another project's: no debug info, no depfile, no source
            for source in self.foreign:
                lab.sh(f"{compiler} {self.options} -c {source} -o {source}.o && rm {source}")
            lab.ar("libforeign.a", *[source + ".o" for source in self.foreign])
            lab.sh("rm " + " ".join(source + ".o" for source in self.foreign))
        return [source + ".o" for source in sources]

    @property
    def archives(self):
        return ["libforeign.a"] if self.foreign else []

    def links(self, compiler="gcc"):
        """Returns the command that links each program."""
        return [f"{self.driver(compiler)} {' '.join(source + '.o' for source in sources)} {' '.join(self.archives)} -o program{i} {self.links_with}".rstrip()
                for i, sources in enumerate(self.programs or [self.sources()])]
