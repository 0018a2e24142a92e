"""The links that scripts/bench measures audits against: each is a folder, a linker's words and the peers that link it."""

import os
import pathlib
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {"lld": "ld.lld-19", "mold": "mold --no-fork", "gold": "ld.gold", "ld.bfd": "ld.bfd"}
LLVM = pathlib.Path("/usr/lib/llvm-19")


@dataclass
class LinkRow:
    """`words`: a response file. `files`: what is read before each run. `demanded`: peer -> how many times its wall and CPU
    time."""

    name: str
    folder: pathlib.Path
    words: str
    files: list
    demanded: dict
    peers: list = field(default_factory=lambda: list(PEERS))


def linker_words(driver_words):
    """What g++ hands to its linker, without its plugin."""
    shown = subprocess.run(["g++", "-###", *driver_words], capture_output=True, text=True).stderr
    words = shlex.split(next(line for line in shown.splitlines() if "collect2" in line))[1:]
    kept = []
    while words:
        word = words.pop(0)
        if word == "-plugin":
            words.pop(0)
        elif not word.startswith("-plugin-opt"):
            kept.append(word)
    return kept


def write_words(path, words):
    path.write_text("\n".join(shlex.quote(word) for word in words) + "\n")
    return str(path)


def clang_tool(folder, compiler):
    """L1: a small clang tool against LLVM's static libraries (llvm-19-dev, libclang-19-dev); nothing without them."""
    if not (LLVM / "lib" / "libclangTooling.a").exists():
        return []
    tool, twin = folder / "tool.o", folder / "twin.o"
    if not tool.exists():
        options = ["-std=c++17", "-O1", "-fno-rtti", f"-I{LLVM}/include", "-D__STDC_CONSTANT_MACROS", "-D__STDC_FORMAT_MACROS", "-D__STDC_LIMIT_MACROS"]
        subprocess.run([compiler, *options, "-c", str(HERE / "clang_tool.cpp"), "-o", str(tool)], check=True)
    if not twin.exists():
        subprocess.run([compiler, "-x", "c++", "-c", "-", "-o", str(twin)], input="int main() {}\n", text=True, check=True)
    archives = sorted(map(str, (LLVM / "lib").glob("*.a")))
    system = shlex.split(subprocess.run(["llvm-config-19", "--system-libs", "--link-static"], capture_output=True, text=True).stdout)

    def row(name, objects, libraries, demanded, peers):
        words = linker_words([*objects, "-Wl,--start-group", *libraries, "-Wl,--end-group", *system, "-o", str(folder / "tool")])
        return LinkRow(name, folder, write_words(folder / f"{name}.words", words), libraries, demanded, peers)

    without = [a for a in archives if not a.endswith("/libclangSema.a")]
    return [
        row("L1", [str(tool)], archives, {"lld": 4, "mold": 6, "gold": 15, "ld.bfd": 30}, list(PEERS)),
        row("L1-missing", [str(tool)], without, {"lld": 1.2}, ["lld"]),
        row("L1-duplicate", [str(tool), str(twin)], archives, {"lld": 3}, ["lld"]),
    ]


def members_of(archive):
    """[(name, offset of the content)], of a GNU archive."""
    members, names = [], b""
    with open(archive, "rb") as file:
        file.seek(8)
        while len(header := file.read(60)) == 60:
            name, size, at = header[:16].rstrip(), int(header[48:58]), file.tell()
            if name == b"//":
                names = file.read(size)
            elif name[:1] == b"/" and name[1:].isdigit():
                members.append((names[int(name[1:]) :].split(b"/\n", 1)[0].decode(), at))
            elif name not in (b"/", b"/SYM64/"):
                members.append((name.rstrip(b"/").decode(), at))
            file.seek(at + size + size % 2)
    return members


def parts_of(row):
    """What the lower bound of a link reads: its objects, each archive's index, and the members that lld takes."""
    if not any(file.endswith(".a") for file in row.files):
        return [f"{file}@0" for file in row.files]
    why = row.folder / f"{row.name}.why"
    subprocess.run([PEERS["lld"], f"@{row.words}", f"--why-extract={why}"], cwd=row.folder, check=True)
    taken = {line.split("\t")[1] for line in why.read_text().splitlines()[1:]}
    parts = [f"{archive}@index" for archive in row.files]
    for archive in row.files:
        parts += [f"{archive}@{offset}" for name, offset in members_of(archive) if f"{archive}({name})" in taken]
    return parts


def program(name, folder, objects, demanded, peers):
    """Objects of which nothing begins, so that any of them will do."""
    words = linker_words(["-nostartfiles", "-no-pie", "-Wl,-e,0", *objects, "-o", str(folder / f"{name}.out")])
    return LinkRow(name, folder, write_words(folder / f"{name}.words", words), objects, demanded, peers)


def trivial(folder, compiler):
    """L5"""
    main = folder / "main.o"
    if not main.exists():
        subprocess.run([compiler, "-x", "c", "-c", "-", "-o", str(main)], input='#include <stdio.h>\nint main(void) { puts("x"); }\n', text=True, check=True)
    words = write_words(folder / "L5.words", linker_words([str(main), "-o", str(folder / "main")]))
    return LinkRow("L5", folder, words, [str(main)], {"ld.bfd": 1}, ["ld.bfd"])


def build_folder(folder, groups, links):
    """L4: a Ninja build of programs that share objects, each of one of `groups`; nothing is out of date. Returns the command
    that makes all links."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    source = folder / "src" / "unit.cpp"
    source.write_text("int x;\n")
    os.utime(source, (0, 0))
    rules = ["rule cxx", "  command = g++ -c $in -o $out", "rule link", "  command = g++ -nostdlib -no-pie -Wl,-e,0 $in -o $out"]
    rules += [f"build {object}: cxx src/unit.cpp" for group in groups for object in group]
    commands = []
    for i in range(links):
        objects = " ".join(groups[i % len(groups)])
        rules.append(f"build bin/p{i:03d}: link {objects}")
        commands.append(f"ld.lld-19 -e 0 -o bin/p{i:03d} {objects}")
    (folder / "build.ninja").write_text("\n".join(rules) + "\n")
    (folder / "links.sh").write_text("\n".join(commands) + "\n")
    return f"cd {folder} && sh links.sh"


def installed():
    return [peer for peer, command in PEERS.items() if shutil.which(command.split()[0])]
