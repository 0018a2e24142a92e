"""A maintainer who does what a fix says where it has no diff, and nothing else: edits, compiles and links.

    advice.py [--ways WAY,...] [--compilers CC,...] [--standard S] [--outside]     prints what share of the advice works

    Follower(folder, sources, knowledge).follow(text)     True when it could be done
"""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
import os

from edits import COMPILERS, SHAPES, WAYS, Mutation, Result, finished, fits

PLACE = r"(?P<file>[^\s:()]+):(?P<line>\d+)"


class Follower:
    """`sources` grows by what an edit makes; `options`: further words of each source's command."""

    def __init__(self, root, folder, sources, shape=None, prefix=""):
        self.root, self.folder, self.sources = root, pathlib.Path(folder), list(sources)
        self.extension = self.sources[0].rsplit(".", 1)[1]
        self.options = {source: [] for source in sources}
        self.without = {source: [] for source in sources}  # words that are taken off its command
        self.text = lambda which: getattr(shape, which).replace("@", prefix) if shape else ""

    def read(self, file):
        return (self.folder / file).read_text(errors="replace").split("\n")

    def write(self, file, lines):
        (self.folder / file).write_text("\n".join(lines))

    def first_line_of(self, lines, number):
        """Of the declaration that the line, counted from 1, is part of."""
        at = number - 1
        while at > 0 and re.search(r"[^\s;{}/]\s*$", lines[at - 1]) and not lines[at - 1].lstrip().startswith(("#", "//", "template <>")):
            at -= 1
        return at

    def say(self, word, file, number):
        lines = self.read(file)
        at = self.first_line_of(lines, number)
        head = re.match(r'\s*(template\s*<>\s*)?(\[\[.*?\]\]\s*)?(extern "C"\s*(?!\{))?(namespace.*?\{\s*(?:inline namespace \w+ \{)?)?', lines[at]).end()
        rest = lines[at][head:]
        if not rest.strip():  # a head alone: template <>
            at, head = at + 1, 0
            rest = lines[at]
        for known in ("extern ", "inline ", "static "):
            if rest.startswith(known) and known.strip() in (*word.split(), "extern"):
                rest = rest[len(known):]
        lines[at] = lines[at][:head] + word + " " + rest
        self.write(file, lines)

    def rewrite(self, which):
        """The declaration as a maintainer writes it who knows it."""
        if not self.text(which):
            return False
        (header,) = [path for path in self.root.rglob("*.h") if self.text("text") in path.read_text(errors="replace")]
        word = "static" if self.extension == "c" else "inline"
        header.write_text(header.read_text(errors="replace").replace(self.text("text"), self.text(which).replace("INLINE", word)))
        return True

    def owner(self, text=None):
        """One source file that includes what the others do and defines it."""
        name = f"owner.{self.extension}"
        includes = [line for line in self.read(self.sources[0]) if line.startswith("#include")]
        (self.folder / name).write_text("\n".join(includes) + "\n" + (text if text is not None else self.text("owner")) + "\n")
        self.sources.append(name)
        self.options[name], self.without[name] = [], []
        return True

    # What the sentences ask for

    def declare(self, file, line, **_):
        if self.rewrite("extern"):
            return self.owner()
        lines = self.read(file)
        number = int(line)
        declared = re.sub(r"\s*(=|\{).*;", ";", lines[number - 1].replace("extern ", "", 1))
        defined, lines[number - 1] = lines[number - 1].replace("extern ", "", 1), "extern " + declared
        self.write(file, lines)
        return self.owner(self.text("owner") or defined)

    def declare_only(self, file, line, **_):
        lines = self.read(file)
        lines[int(line) - 1] = "extern " + lines[int(line) - 1]
        self.write(file, lines)
        return True

    def specify(self, word, file, line, other="", number="", **_):
        if self.rewrite("static"):
            return True
        self.say(word, file, int(line))
        if other and (other, number) != (file, line):
            self.say(word, other, int(number))
        return True

    def in_macro(self, word, file, line, macro="", **_):
        if not macro:
            return self.rewrite("static")
        lines = self.read(file)
        at = int(line) - 1
        lines[at] = re.sub(rf"(define\s+{macro}(\([^)]*\))?)", rf"\1 {word}", lines[at])
        self.write(file, lines)
        return True

    def move(self, file, line, **_):
        lines = self.read(file)
        at = self.first_line_of(lines, int(line))
        moved, lines[at:int(line)] = lines[at:int(line)], []
        self.write(file, lines)
        return self.owner("\n".join(moved))

    def move_body(self, file, line, **_):
        lines = self.read(file)
        at = self.first_line_of(lines, int(line))
        body, head = lines[at], lines[at].split("{")[0].rstrip()
        lines[at] = re.sub(r"\(\w+, \w+\) .*", "()", head) + ";"  # a declaration of the old style has no types
        self.write(file, lines)
        return "{" in body and self.owner(body)

    def include_once(self, header, file="", line="", **_):
        """`header`: what it calls so; the place: an #include of it that every file comes to, or one of several."""
        if file and file not in self.sources:
            lines = self.read(file)
            taken, lines[int(line) - 1] = lines[int(line) - 1], ""
            self.write(file, lines)
            first = self.read(self.sources[0])
            self.write(self.sources[0], first + [taken])
            return True
        for source in self.sources:
            if source != (file or self.sources[0]):
                declarations = self.declarations()
                self.write(source, [line if not re.search(rf'include.*{re.escape(header)}', line) else declarations for line in self.read(source)])
        return True

    def declarations(self):
        """What the others need of it, as far as one line can say it."""
        text = self.text("extern") or "".join("extern " + re.sub(r"\s*(=|\{).*", "", line).rstrip(";") + ";" for line in self.text("owner").split("\n") if line)
        return text if self.declares else ""

    def define(self, name, sources):
        for source in sources:
            self.options[source].append(f"-D{name}")
        return True

    def move_define(self, name, file, line, **_):
        lines = self.read(file)
        lines[int(line) - 1] = ""
        self.write(file, lines)
        self.write(self.sources[0], [f"#define {name}"] + self.read(self.sources[0]))
        return True

    def undefine(self, name):
        for source in self.sources[1:]:
            self.without[source].append(f"-D{name}")
        return True

    def extern_in_macro(self, macro, file, line, **_):
        lines = self.read(file)
        lines[int(line) - 1] = re.sub(rf"(define\s+{macro}).*", r"\1 extern", lines[int(line) - 1])
        self.write(file, lines)
        return self.owner()

    def drop(self, file, line, **_):
        lines = self.read(file)
        lines[int(line) - 1] = ""
        self.write(file, lines)
        return True

    def typedef(self, file, line, **_):
        lines = self.read(file)
        at = int(line) - 1
        while not re.match(r"\s*(struct|enum|union|class)\b", lines[at]):
            at -= 1
        lines[at] = "typedef " + lines[at]
        self.write(file, lines)
        return True

    def follow(self, text):
        self.declares = "declare in the others" in text
        for pattern, do in SENTENCES:
            found = re.search(pattern.replace("PLACE", PLACE), text)
            if found:
                return do(self, **{name: value or "" for name, value in found.groupdict().items()})
        return False


SENTENCES = [
    (r"declare it `extern` in PLACE: \S+ defines it already", Follower.declare_only),
    (r"declare it `extern` in PLACE and define it", Follower.declare),
    (r"remove the initialiser in PLACE and define it", Follower.declare),
    (r"leave the declaration in PLACE, and move the body", Follower.move_body),
    (r"make it `(?P<word>[a-z ]+)` in PLACE and where it is declared \((?P<other>[^\s:]+):(?P<number>\d+)\)", Follower.specify),
    (r"write `(?P<word>[a-z ]+)` in the macro that generates it in PLACE", Follower.in_macro),
    (r"write `(?P<word>[a-z ]+)` where (?P<macro>\w+) defines it \(PLACE\)", Follower.in_macro),
    (r"let (?P<macro>\w+) expand to `extern` in PLACE too", Follower.extern_in_macro),
    (r"let (?P<macro>\w+) expand to `(?P<word>[a-z ]+)` in PLACE too", Follower.in_macro),
    (r"(?:make it|write) `(?P<word>[a-z ]+)`.* in PLACE", Follower.specify),
    (r"move the alias \(PLACE\)", Follower.declare),
    (r"move PLACE to one source file", Follower.move),
    (r"include it in one source file only: PLACE brings it", lambda self, **found: self.include_once("", **found)),
    (r"include (?P<header>\S+) in one source file only(?:;| \() ?PLACE is one", Follower.include_once),
    (r"^include (?P<header>\S+) in one source file only", Follower.include_once),
    (r"define (?P<name>\w+) wherever", lambda self, name: self.define(name, self.sources)),
    (r"define (?P<name>\w+) for all source files but one", lambda self, name: self.define(name, self.sources[1:])),
    (r"define (?P<name>\w+) in one source file, not in PLACE", Follower.move_define),
    (r"define (?P<name>\w+) for one source file only", lambda self, name: self.undefine(name)),
    (r"write `typedef` before the \w+ that ends in PLACE", Follower.typedef),
    (r"remove the name in PLACE", Follower.drop),
]


def works(mutation, finding, fix):
    """None, or what is wrong after doing as the fix says."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "p"
        shutil.copytree(mutation.root, folder)
        inside = folder / mutation.folder.relative_to(mutation.root)
        follower = Follower(folder, inside, [f"{n}.{mutation.extension}" for n in "ab"], mutation.shape, mutation.prefix)
        text = fix["text"].replace(str(mutation.root), str(folder))
        diff = mutation.diffs.get((finding["symbol"], short(text)))
        try:
            if diff:
                finished(["patch", str(folder / "inc/h.h")], inside, diff)
                if "one source file" in text:
                    follower.owner(mutation.owner_of(finding))
            elif not follower.follow(text):
                return "nobody can do that"
        except (IndexError, FileNotFoundError, ValueError) as error:
            return f"the text does not fit the sources: {error!r}"
        objects = []
        for source in follower.sources:
            words = [word for word in mutation.words if word not in follower.without[source]]
            done = finished([*words, *follower.options[source], "-fPIC", "-c", source, "-o", source + ".o"], inside)
            if done.code:
                return done.err
            objects.append(source + ".o")
        linked = finished([mutation.compiler, "-shared", "-Wl,-z,defs", *objects, "-o", "x.so", "-lm"], inside)
        named = [line for line in linked.err.split("\n") if finding["symbol"] in line or finding["demangled"] in line]
        return "\n".join(named) or None


def short(text):
    """With the files' own names, and without the word about whose they are."""
    return re.sub(r"[^ (]*/|; \S+ is not this project's", "", text)


class Outside(Mutation):
    """The header is not the project's. What its authors would do is what a diff does where it is."""

    include = "../inc"

    def write(self):
        self.root, self.folder = self.folder, self.folder / "project"
        if not super().write():
            return False
        git = self.folder / ".git"
        git.rename(self.root / ".git")
        self.diffs = {(f["symbol"], short(fix["text"])): fix["diff"] for f in self.findings() for fix in f["fixes"] if fix["diff"]}
        (self.root / ".git").rename(git)
        return True


def judge(mutation):
    result = Result(failures=[])
    for finding in mutation.findings():
        result.findings += 1
        if any(fix["diff"] for fix in finding["fixes"]):
            result.with_diff += 1
            continue
        result.advised += bool(finding["fixes"])
        why = [works(mutation, finding, fix) for fix in finding["fixes"]]
        result.diffs += 1
        if not why or why[0]:
            said = finding["fixes"][0]["text"] if finding["fixes"] else f"no advice: {finding['sites'][0]['why_unknown']}"
            result.failures.append(f"{mutation.compiler} {mutation.way}, {mutation.shape.name}: {finding['symbol']}: {said}\n{why and why[0] or ''}")
    return result


def of_table(folder, compiler, way, standard="", kind=Mutation, every=1):
    """`every`: 1 for all shapes, 4 for a quarter of them."""
    def one(i):
        mutation = kind(SHAPES[i], compiler, way, pathlib.Path(folder) / f"{compiler}{way}{i}".replace(" ", ""), standard=standard)
        return judge(mutation) if fits(SHAPES[i], compiler) and mutation.write() else Result(failures=[])

    result = Result(failures=[])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, range(0, len(SHAPES), every)):
            result.add(found)
    return result


def summary(result):
    return (f"{result.findings} findings, {result.with_diff} with a diff; of the others {result.advised} with advice, of which "
            f"{result.diffs - len(result.failures)} of {result.diffs} work")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--standard", default="")
    parser.add_argument("--outside", action="store_true")
    options = parser.parse_args()
    for chosen in options.ways.split(","):
        for one_compiler in options.compilers.split(","):
            with tempfile.TemporaryDirectory() as name:
                found = of_table(name, one_compiler, chosen, options.standard, Outside if options.outside else Mutation)
            print(one_compiler, chosen, summary(found), flush=True)
            for failure in found.failures:
                print(failure, file=sys.stderr)
