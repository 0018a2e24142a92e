"""Random links: a few small objects, archives and shared objects with definitions and references of every kind, and a
line that links them. `generate(seed)` (random_generator.py) makes one, always the same; `shrink` (random_shrink.py)
takes away what a disagreement does not need; `as_test` prints what is left as a case for the suite.

A link is plain data, so that shrinking is taking things out of lists. Names say what they are: t* are thread-local,
i* are functions (an i* may be an IFUNC), v*@V1 have versions, the rest are data."""

import dataclasses
import hashlib
import os
import shutil
import subprocess

END = '.section .note.GNU-stack,"",@progbits\n'


@dataclasses.dataclass
class Symbol:
    """How one object spells one name: gas has one binding and visibility a name and object."""

    binding: str = "globl"  # globl, weak
    visibility: str = ""  # hidden, protected
    type: str = ""  # gnu_unique_object, gnu_indirect_function, function
    mode: str = ""  # remove: of a name with a version, the label it was made of is gone


@dataclasses.dataclass
class Section:
    kind: str  # a key of SECTIONS
    group: str = ""  # the COMDAT group's signature
    defines: list = dataclasses.field(default_factory=list)
    refers: list = dataclasses.field(default_factory=list)  # of (name, relocation): a key of RELOCATIONS


@dataclasses.dataclass
class Object:
    name: str
    symbols: dict = dataclasses.field(default_factory=dict)  # name -> Symbol
    sections: list = dataclasses.field(default_factory=list)
    commons: list = dataclasses.field(default_factory=list)  # of (name, size)
    absolutes: list = dataclasses.field(default_factory=list)  # of (name, value)
    bare: list = dataclasses.field(default_factory=list)  # names that are undefined without a relocation


@dataclasses.dataclass
class Archive:
    name: str
    members: list
    thin: bool = False


@dataclasses.dataclass
class Shared:
    name: str
    object: Object
    script: str = ""  # version script
    needs: str = ""  # other shared objects it was linked with
    soname: str = ""  # none: it has none; empty: the file's name
    options: str = ""  # of its own link
    gone: bool = False  # removed when all that need it are made


@dataclasses.dataclass
class Link:
    files: list  # of Object, Archive, Shared; made in this order
    words: list  # of lists: what is taken away together, such as --start-group and --end-group, is not in one list
    scripts: dict = dataclasses.field(default_factory=dict)  # linker scripts used as inputs, version scripts: name -> text

    def line(self):
        return " ".join(word for words in self.words for word in words)

    def thin_members(self):
        """GNU ld calls a thin archive's member by its own file name only."""
        thin = [file for file in self.files if isinstance(file, Archive) and file.thin]
        return {member.name: f"{archive.name}({member.name})" for archive in thin for member in archive.members}

    def named(self):
        """The files that the line names, itself or in a script."""
        words = self.with_libraries({word for words in self.words for word in words})
        words |= {word.partition("=")[2] for word in words}
        for _ in range(2):  # a script may name a script
            for script in words & set(self.scripts):
                words |= self.with_libraries(set(self.scripts[script].split()))
        for file in reversed(self.files):  # what a library needs is made before it
            if isinstance(file, Shared) and os.path.normpath(file.name) in {os.path.normpath(word) for word in words}:
                words |= {file.name, *file.needs.split()}
        return words

    def with_libraries(self, words):
        """And what a -l among them may mean, in any folder."""
        bases = {f"lib{word[2:]}{end}" for word in words if word.startswith("-l") for end in (".a", ".so")}
        bases |= {word[3:] for word in words if word.startswith("-l:")}
        return words | {name for name in self.names() if name.rpartition("/")[2] in bases}

    def names(self):
        return {file.name for file in self.files} | set(self.scripts)


SECTIONS = {
    "data": '.data.{n},"aw",@progbits',
    "text": '.text.{n},"ax",@progbits',
    "tls": '.tdata.{n},"awT",@progbits',
    "named": 'named,"aw",@progbits',  # its bounds have names: __start_named
    "start": '.data.start,"aw",@progbits',
    "debug": '.debug_{n},"",@progbits',
    "exclude": '.data.x{n},"awe",@progbits',
    "linkonce": '.gnu.linkonce.d.{n},"aw",@progbits',
}


# ---- writing sources -------------------------------------------------------------------------------------------------


def source(obj):
    """The object as assembly."""
    lines = []
    for versioned, symbol in sorted(obj.symbols.items()):
        name = label(versioned)
        lines.append(f".{symbol.binding} {name}")
        if name != versioned:
            lines.append(f".symver {name}, {versioned}{', ' * bool(symbol.mode)}{symbol.mode}")
        if symbol.visibility:
            lines.append(f".{symbol.visibility} {name}")
        if symbol.type:
            lines.append(f".type {name}, @{symbol.type}")
    for name, size in obj.commons:
        lines.append(f".comm {name},{size},8")
    for name, value in obj.absolutes:
        lines.append(f"{name} = {value}")
    for name in obj.bare:
        lines.append(f".globl {name}")
    for number, section in enumerate(obj.sections):
        lines += section_lines(section, number)
    return "\n".join(lines) + "\n"


def label(name):
    """What the assembler calls it: "v0@@V1" is only the symbol's name."""
    return name.replace("@", "_")


def section_lines(section, number):
    # A linkonce section's name is its key, so it is the symbol's.
    key = section.defines[0] if section.kind == "linkonce" and section.defines else str(number)
    head = ".section " + SECTIONS[section.kind].format(n=key)
    if section.group:
        flags, kind = head.rsplit('"', 1)
        head = f'{flags}G"{kind},{section.group},comdat'
    lines = [head]
    for name in section.defines:
        lines.append(f"{label(name)}:")
        if section.kind != "text":
            lines.append(".quad 0")
    if section.kind == "text":
        lines.append("nop")
    for name, relocation in section.refers:
        lines.append(RELOCATIONS[relocation].format(label(name)))
    return lines


RELOCATIONS = {
    "quad": ".quad {}",
    "call": "call {}@PLT",
    "tls": "movq {}@gottpoff(%rip), %rax",
    "none": ".reloc ., R_X86_64_NONE, {}",
}


# ---- making the files ------------------------------------------------------------------------------------------------


class CannotBeMade(Exception):
    """An assembler or linker refuses to make one of the inputs."""


class Workshop:
    """Makes files in a folder; an object whose text was assembled before is taken from the store."""

    def __init__(self, folder, store):
        self.folder = folder
        self.store = store
        os.makedirs(folder, exist_ok=True)
        os.makedirs(store, exist_ok=True)

    def make(self, link):
        for file in link.files:
            os.makedirs(os.path.dirname(os.path.join(self.folder, file.name)), exist_ok=True)
            if isinstance(file, Object):
                self._assemble(file)
            elif isinstance(file, Archive):
                self._archive(file)
            else:
                self._share(file)
        for file in link.files:
            if isinstance(file, Shared) and file.gone:
                os.unlink(os.path.join(self.folder, file.name))
        for name, text in link.scripts.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as script:
                script.write(text)

    def _run(self, command, text=""):
        result = subprocess.run(command, cwd=self.folder, input=text, capture_output=True, text=True)
        if result.returncode != 0:
            raise CannotBeMade(result.stderr)

    def _assemble(self, obj):
        text = source(obj) + END
        kept = os.path.join(self.store, hashlib.sha256(text.encode()).hexdigest() + ".o")
        if not os.path.exists(kept):
            making = os.path.join(self.folder, obj.name)
            self._run(["as", "-o", making, "-"], text)
            os.replace(making, kept)
        shutil.copyfile(kept, os.path.join(self.folder, obj.name))

    def _archive(self, archive):
        for member in archive.members:
            self._assemble(member)
        if os.path.exists(os.path.join(self.folder, archive.name)):
            os.unlink(os.path.join(self.folder, archive.name))
        self._run(["gcc-ar", "rcsT" if archive.thin else "rcs", archive.name, *[m.name for m in archive.members]])
        if not archive.thin:
            for member in archive.members:
                os.unlink(os.path.join(self.folder, member.name))

    def _share(self, shared):
        self._assemble(shared.object)
        for command in share_commands(shared):
            self._run(command)
        os.unlink(os.path.join(self.folder, shared.object.name))


def share_commands(shared):
    words = ["ld.bfd", "-shared", "--no-as-needed", shared.object.name]
    if shared.soname != "none":
        words += ["-soname", shared.soname or shared.name.rpartition("/")[2]]
    words += shared.options.split() + shared.needs.split()
    if shared.script:
        script = shared.name + ".map"
        return [["sh", "-c", f"echo '{shared.script}' > {script}"], words + ["--version-script", script, "-o", shared.name]]
    return [words + ["-o", shared.name]]


# ---- printing --------------------------------------------------------------------------------------------------------


def as_test(link, linker, name="case"):
    """The link as a test of the suite."""
    lines = [f"def test_{name}(lab):"]
    quoted = lambda text: '"' + text.strip().replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    objects = lambda objs: [f"    assemble(lab, {obj.name[:-2]!r}, {quoted(source(obj))})".replace("'", '"') for obj in objs]
    folders = sorted({name.rpartition("/")[0] for name in link.names() if "/" in name})
    lines += [f'    lab.sh("mkdir -p {" ".join(folders)}")'] if folders else []
    for file in link.files:
        if isinstance(file, Object):
            lines += objects([file])
        elif isinstance(file, Archive):
            lines += objects(file.members)
            names = " ".join(member.name for member in file.members)
            lines.append(f'    lab.sh("gcc-ar rcs{"T" if file.thin else ""} {file.name} {names}")')
        else:
            lines += objects([file.object])
            for command in share_commands(file):
                text = command[2] if command[0] == "sh" else " ".join(command)
                lines.append(f'    lab.sh("{text}")')
    gone = [file.name for file in link.files if isinstance(file, Shared) and file.gone]
    lines += [f'    lab.sh("rm {" ".join(gone)}")'] if gone else []
    lines += [f"    lab.write({script!r}, {text!r})" for script, text in link.scripts.items()]
    lines.append(f'    agree(lab, "{linker}", "{link.line()}")')
    return "\n".join(lines)
