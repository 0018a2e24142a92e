"""Corners where an audit's time might grow faster than its input: scripts/bench measures each with an input and with one ten
times as large. A corner writes its input into a folder and returns the audit's words."""

import shlex
import subprocess

MOST = 12.0  # times the time for ten times the input


def sh(folder, command):
    subprocess.run(command, shell=True, cwd=folder, check=True)


def findings(folder, count):
    """Two units that define the same variables, functions and members, with debug info."""
    lines = (f"int v{i} = 1;\nint f{i}() {{ return v{i}; }}\nstruct S{i} {{ int m(); }};\nint S{i}::m() {{ return {i}; }}\n" for i in range(3 * count))
    (folder / "defs.h").write_text("".join(lines))
    for name in "ab":
        (folder / f"{name}.cpp").write_text('#include "defs.h"\n')
        sh(folder, f"g++ -g -c {name}.cpp")
    return "check a.o b.o"


def copies(folder, count):
    """One object under many names."""
    (folder / "one.cpp").write_text("".join(f"int v{i};\n" for i in range(10)))
    sh(folder, f"g++ -g -c one.cpp && for i in $(seq {count}); do cp one.o c$i.o; done")
    return listed(folder, "check", "c*.o")


def listed(folder, words, pattern):
    (folder / "files").write_text("\n".join(sorted(path.name for path in folder.glob(pattern))) + "\n")
    return f"{words} @files"


def assembled(folder, count):
    """Objects without debug info that share weak names."""
    for i in range(count):
        text = "".join(f".globl g{i}_{j}\ng{i}_{j}: .byte 1\n.weak w{j}\nw{j}: .byte 1\n" for j in range(20))
        (folder / f"o{i}.s").write_text(text)
    sh(folder, "ls o*.s | sed 's/[.]s$//' | xargs -P2 -I@ as @.s -o @.o")


def headers(folder, count):
    assembled(folder, count)
    return listed(folder, "check --enable header-definition", "o*.o")


def explained(folder, count):
    assembled(folder, count)
    return listed(folder, "explain w1", "o*.o")


def listing(folder, count):
    assembled(folder, count)
    return listed(folder, "list symbols", "o*.o")


def undefined(folder, count):
    """Names that libraries have with other parameters."""
    count *= 3
    declared = "".join(f"namespace a{i % 7} {{ int f{i}(int); }}\n" for i in range(count))
    (folder / "main.cpp").write_text(declared + "int main() { return 0" + "".join(f"+a{i % 7}::f{i}(1)" for i in range(count)) + "; }\n")
    sh(folder, "g++ -g -c main.cpp")
    for k in range(10):
        (folder / f"l{k}.cpp").write_text("".join(f"namespace a{i % 7} {{ int f{i}(long) {{ return 1; }} }}\n" for i in range(k, count, 10)))
        sh(folder, f"g++ -c l{k}.cpp && ar rc libl{k}.a l{k}.o")
    return "check -- g++ main.o -L. " + " ".join(f"-ll{k}" for k in range(10)) + " -o app"


def alike(folder, count):
    """Names of which each is almost one that the line has."""
    for name, defined, wanted in (("have", "a", "b"), ("want", "c", "d")):
        text = "".join(f".globl {defined}_{i}\n{defined}_{i}: .quad {wanted}_{i}\n" for i in range(10 * count))
        (folder / f"{name}.s").write_text(".data\n" + text)
        sh(folder, f"as {name}.s -o {name}.o")
    return "check -- ld have.o want.o -o app"


def early_archives(folder, count):
    """Names that libraries have which stand too early on the line."""
    (folder / "main.cpp").write_text("".join(f"int f{i}();\n" for i in range(count)) + "int main() { return 0" + "".join(f"+f{i}()" for i in range(count)) + "; }\n")
    for i in range(count):
        (folder / f"m{i}.s").write_text(f".globl _Z{len(str(i)) + 1}f{i}v\n_Z{len(str(i)) + 1}f{i}v: ret\n")
    sh(folder, "g++ -g -c main.cpp && ls m*.s | sed 's/[.]s$//' | xargs -P2 -I@ as @.s -o @.o && ls m[0-9]*.o | xargs ar rc libm0.a")
    return "check -- g++ libm0.a main.o -o app"


def missing_objects(folder, count):
    """A link's command of which most objects are not there."""
    return "check -- g++ " + " ".join(f"gone/{i}.o" for i in range(count)) + " -o app"


def build(folder, count):
    """Programs of one object each, and what all of them link."""
    (folder / "shared.s").write_text(".globl shared\nshared: ret\n")
    sh(folder, "as shared.s -o shared.o")
    rules = ["rule as", "  command = as $in -o $out", "rule link", "  command = ld $in -o $out", "build shared.o: as shared.s"]
    for i in range(count):
        (folder / f"p{i}.s").write_text(f".globl _start\n_start: call shared\n.globl own{i}\nown{i}: ret\n")
        rules += [f"build p{i}.o: as p{i}.s", f"build p{i}: link p{i}.o shared.o"]
    sh(folder, "ls p*.s | sed 's/[.]s$//' | xargs -P2 -I@ as @.s -o @.o")
    (folder / "build.ninja").write_text("\n".join(rules) + "\n")
    return "check -p ."


CORNERS = {
    "findings": findings, "copies of one object": copies, "header-definition": headers, "explain": explained, "list symbols": listing,
    "undefined, other parameters": undefined, "undefined, other names": alike, "undefined, archive too early": early_archives, "missing objects": missing_objects,
    "links of a build": build,
}


def commands(folder, elfaudit, count):
    """Corner -> the commands for `count` and ten times as many."""
    result = {}
    for name, corner in CORNERS.items():
        result[name] = []
        for size in (count, 10 * count):
            place = folder / f"{name.replace(' ', '-').replace(',', '')}-{size}"
            words = place / "words"
            if not words.exists():
                place.mkdir(parents=True, exist_ok=True)
                words.write_text(corner(place, size))
            result[name].append(f"cd {shlex.quote(str(place))} && {elfaudit} {words.read_text()}")
    return result
