"""What compilers made, kept for the next test that compiles the same. scripts/test runs many tests twice, with the program built in
two ways, and compilers take nearly half of their time: it names a folder in COMPILED. Without that all is compiled.

The same means: the command, the folder that it runs in, whose name is in debug info and in what nvcc makes, and the bytes of
each file there that a compiler could read. Therefore conftest.py then gives all tests of a file the same folder."""

import functools
import glob
import hashlib
import os
import pathlib
import pickle
import re
import shutil
import tempfile

FOLDER = os.environ.get("COMPILED")

# A compiler that makes one file, those that come with it and no other, from what is in the folder and the system's files.
COMPILER = r"(?:\w+-linux-gnu\w*-)?(?:gcc|g\+\+|clang|clang\+\+|nvcc)(?:-\d+)?"
COMMAND = re.compile(rf"{COMPILER}(?: +[^\s;|&$`<>()#*?~'\"\\]+)+")
COMMANDS = re.compile(r"\s*(?:&&|\n)\s*")
OTHER_FILES = re.compile(r"\.\.|[ =I]/(?!usr/)| (?:-M?F|-save-temps|-?-keep|-fdump|-wrapper|-fplugin|-v|-#|--time|@)")
# What -c makes is not what it reads.
MADE = {".o", ".d", ".dwo", ".a", ".so", ".facts"}
# The rest of a source that is compiled from more than its own text and the system's headers.
READS_MORE = re.compile(r'#\s*include\s*["\w]|incbin|import|module|embed|__has_include| -I| -include| -x')
MOST_FILES, MOST_BYTES = 300, 4 << 20


def run(folder, command, compile, source=None):
    """What compile() returns, or returned of the same command. source: (name, text) of the only source, where it is known."""
    outputs = FOLDER and outputs_of(command)
    alone = source and not READS_MORE.search(source[1] + command)
    key = outputs and (digest(folder, command, source) if alone else digest_of_all(folder, command))
    if not key:
        return compile()
    kept = pathlib.Path(FOLDER, "kept", key)
    if (kept / "said").exists():
        shutil.copytree(kept / "files", folder, dirs_exist_ok=True, copy_function=shutil.copy)
        return pickle.loads((kept / "said").read_bytes())
    looked_at = functools.partial(states, folder, outputs if alone else None)  # else another thread's may be among them
    before = looked_at()
    said = compile()
    changed = {path for path, state in looked_at().items() if before.get(path) != state}
    if all(comes_with(path.relative_to(folder), outputs) for path in changed):  # else it does more than it seems to
        keep(kept, folder, changed, said)
    return said


def outputs_of(command):
    """What a command line makes, or None where it does more than compile and link."""
    found = []
    for part in COMMANDS.split(command.strip()):
        words = part.split()
        if not COMMAND.fullmatch(part) or OTHER_FILES.search(part) or words.count("-o") != 1:
            return None
        found.append(pathlib.PurePath(words[words.index("-o") + 1]))
    return found


def digest(folder, command, *read):
    whole = hashlib.sha256(f"{folder}\0{command}".encode())
    for name, text in read:
        text = text if isinstance(text, bytes) else text.encode()
        whole.update(f"\0{name}\0{len(text)}\0".encode() + text)
    return whole.hexdigest()


def digest_of_all(folder, command):
    """None where there is too much to read, or other threads are at work."""
    compiles = all(" -c " in part for part in COMMANDS.split(command))
    read = sorted(path for path in files(folder) if not (compiles and path.suffix in MADE))
    try:
        if len(read) > MOST_FILES or not all(path.is_file() for path in read) or sum(path.stat().st_size for path in read) > MOST_BYTES:
            return None
        return digest(folder, command, *((path, path.read_bytes()) for path in read))
    except OSError:  # a file that is gone, or that may not be read
        return None


def files(folder):
    for parent, folders, names in os.walk(folder):
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(parent, name)))]:
            yield pathlib.Path(parent, name)


def states(folder, outputs=None):
    """Of all files, or of those that come with the outputs."""
    found = {}
    beside = (path for made in outputs or () for path in [folder / made, *(folder / made.parent).glob(glob.escape(made.stem) + ".*")])
    for path in beside if outputs else files(folder):
        try:
            state = path.lstat()
        except FileNotFoundError:  # another thread's
            continue
        found[path] = state.st_ino, state.st_size, state.st_mtime_ns
    return found


def comes_with(path, outputs):
    """As a.d and a.dwo with a.o."""
    return any(path == made or (path.parent == made.parent and path.name.startswith(made.stem + ".")) for made in outputs)


def keep(kept, folder, changed, said):
    making = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    (making / "files").mkdir()
    for path in changed:
        copy = making / "files" / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (making / "said").write_bytes(pickle.dumps(said))
    kept.parent.mkdir(exist_ok=True)
    try:
        making.rename(kept)
    except OSError:  # another test has kept it meanwhile
        shutil.rmtree(making)
