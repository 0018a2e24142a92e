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

    def write(self, lab):
        for name, text in self.files.items():
            path = lab.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def is_unchanged(self, lab):
        return all((lab.path / name).read_bytes() == text.encode() for name, text in self.files.items())

    def sources(self):
        return [name for name in self.files if name.endswith((".c", ".cpp")) and name not in self.included]

    def driver(self, compiler="gcc"):
        """Returns the driver that links the case: C++'s where one of its sources is C++."""
        return CXX[compiler] if any(name.endswith(".cpp") for name in self.files) else compiler

    def compile(self, lab, flags, compiler="gcc", database=False):
        """Compiles each source; returns the objects. With `database` a compile_commands.json says how."""
        entries, objects = [], []
        for source in self.sources():
            objects.append(source + ".o")
            driver = CXX[compiler] if source.endswith(".cpp") else compiler
            command = f"{driver} -w {flags} {self.options} {self.own_options.get(source, '')} -c {source} -o {objects[-1]}"
            lab.sh(command)
            entries.append({"directory": str(lab.path), "file": source, "output": objects[-1], "command": command})
        if database:
            lab.write("compile_commands.json", json.dumps(entries))
        return objects
