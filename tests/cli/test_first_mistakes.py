"""The first thing that people type, when it is wrong: the message says what to type instead."""

import struct
import tarfile

import pytest

from elfaudit_test import Lab, need

need("g++")

MACH_O = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x01000007, 3, 1, 0, 0, 0, 0) + bytes(200)
LOG = "g++ a.o b.o -o app\n/usr/bin/ld: b.o: multiple definition of `level'; a.o: first defined here\ncollect2: error: ld returned 1 exit status\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("desk"))
    lab.cc("a.o", "int level = 1; int main() { return level; }")
    lab.cc("b.o", "int level = 2;")
    lab.write("build.log", LOG)
    lab.write("empty.log", "")
    lab.write("french-ninja.log", "FAILED: app\ng++ m.o -o app\ncollect2: erreur: ld a retourné le statut de sortie 1\nninja: build stopped: subcommand failed.\n")
    lab.write("french.log", "m.cpp:(.text+0x5) : référence indéfinie vers « yy() »\ncollect2: erreur: ld a retourné le statut de sortie 1\n")
    lab.write("Makefile", "all:\n\tg++ a.o b.o\n")
    (lab.path / "mac.o").write_bytes(MACH_O)
    with tarfile.open(lab.path / "src.tar.gz", "w:gz") as tar:
        tar.add(lab.path / "a.cpp", "project/a.cpp")
    lab.sh("mkdir empty bld; printf 'rule link\\n command = g++ $in -o $out\\nbuild app: link a.o b.o\\n' > bld/build.ninja; cp a.o b.o bld")
    return lab


MISTAKES = [
    # A link command without "--", and builds.
    ("check g++ a.o b.o -o app", "put -- in front of a link command: elfaudit check -- g++ a.o b.o -o app"),
    ("check --format json clang++-14 a.o", "put -- in front of a link command: elfaudit check --format json -- clang++-14 a.o"),
    ("link x86_64-linux-gnu-gcc 'a b.o'", "put -- in front of a link command: elfaudit link -- x86_64-linux-gnu-gcc 'a b.o'"),
    ("explain level g++ a.o", "put -- in front of a link command: elfaudit explain level -- g++ a.o"),
    ("check a.o -lfoo", "unknown option -lfoo: options of a link stand behind --, with its whole command: elfaudit check -- g++ ... -lfoo"),
    ("check -- a.o b.o", "a.o is not a program: give the compiler or linker in front of it (g++ a.o), or files without --"),
    ("check -- make -j8", "make runs a build, and elfaudit audits its links: for a Ninja or CMake build `elfaudit check -p BUILD_DIR`"),
    ("check cmake --build bld", "cmake runs a build, and elfaudit audits its links"),
    ("check -- sh -c 'g++ a.o'", "sh runs a build, and elfaudit audits its links"),
    ("check -- pip3 install .", "pip3 runs a build"),
    ("diagnose make all", "diagnose reads what a build printed: make all 2>&1 | elfaudit diagnose -"),
    ("diagnose -- ninja", "diagnose reads what a build printed: ninja 2>&1 | elfaudit diagnose -"),
    ('check "g++ a.o b.o"', "put -- in front of a link command, and no quotes around it: elfaudit check -- g++ a.o b.o"),
    ("/usr/bin/g++ a.o", 'missing command: elfaudit check -- /usr/bin/g++ a.o; the launcher for CMake is "elfaudit;link;--gate;--"'),
    ("explain a.o level", "the symbol comes before the files: elfaudit explain level a.o"),
    # No command, or another one.
    ("", "Usage: elfaudit COMMAND [OPTION]..."),
    ("a.o b.o", "missing command: elfaudit check a.o b.o"),
    ("build.log", "missing command: elfaudit diagnose build.log"),
    ("bld", "missing command: elfaudit check -p bld"),
    ("g++ a.o", "missing command: elfaudit check -- g++ a.o"),
    ("-- g++ a.o", "missing command: elfaudit check -- g++ a.o"),
    ("-p bld", "missing command: elfaudit check -p bld"),
    ("--format json check a.o", "--format: options go behind the command: elfaudit check --format json a.o"),
    ("diagnos build.log", "unknown command 'diagnos'; did you mean 'diagnose'?"),
    ("completion zsh", "unknown command 'completion': write elfaudit --generate zsh"),
    ("man", "write elfaudit --generate man"),
    ("--generate", "--generate needs a value: --generate KIND"),
    ("frobnicate", "unknown command 'frobnicate'\n"),
    ("list a.o", "missing command: expected one of images, symbols, members, needs, systems, closure"),
    # Files that are not for `check`.
    ("check a.cpp", "a.cpp: is source code: compile it, and audit the object"),
    ("check build.log", "build.log: is not an object; if it is the log of a build: elfaudit diagnose build.log"),
    ("check Makefile", "Makefile: is a file of a build: audit a build folder of Ninja or CMake with -p BUILD_DIR"),
    ("check bld/build.ninja", "bld/build.ninja: is a file of a build: audit a build folder of Ninja or CMake with -p bld"),
    ("check -p build.log", "-p, --build: 'build.log' is a file; expected a folder\n"),
    # What was pasted, not saved.
    ("diagnose \"m.cpp:(.text+0x5): undefined reference to 'foo()'\"", "elfaudit diagnose -, then paste it"),
    ("diagnose undefined symbol: foo", "elfaudit diagnose -, then paste it"),
    ("check 'ld: cannot find -lfoo: No such file or directory'", "elfaudit diagnose -, then paste it"),
    ("'undefined symbol: _Z7vec_dot'", "elfaudit diagnose -, then paste it"),
    ("ImportError: x.so: undefined symbol: f", "elfaudit diagnose -, then paste it"),
    ("check - < build.log", "standard input, which has what a build printed: elfaudit diagnose -"),
    ("check src.tar.gz", "src.tar.gz: contains no object, archive, shared object, program or package"),
    ("check mac.o", "mac.o: is a Mach-O file (macOS), not ELF: only ELF files are audited"),
    ("check empty", "empty: contains no object"),
    ("check bld", "bld/app: is missing: its link failed or was not run: elfaudit check -p bld audits it"),
    ("check -p bld/build.ninja", "-p, --build: 'bld/build.ninja' is a file; expected a folder: bld"),
    ("check -p empty", "for other builds, elfaudit check -- COMMAND audits a link, and elfaudit diagnose LOG reads what a failed one printed"),
    ("check -p nope", "-p, --build: 'nope': there is no such folder"),
    ("diagnose empty.log", "the log is empty"),
    ("diagnose french-ninja.log", "the log is not in English: build again with LC_ALL=C"),
    ("diagnose french.log", "the log is not in English: build again with LC_ALL=C"),
    ("diagnose a.o", "the log is not a text file; elfaudit check takes objects and libraries"),
    ("diagnose", "expected LOG (the log of the build; -: standard input): elfaudit diagnose [OPTION]... LOG"),
    ("diff a.o", "elfaudit diff [OPTION]... OLD NEW"),
    # Options and their values. Only what is close is suggested.
    ("check --fromat json a.o", "unknown option --fromat; did you mean '--format'?"),
    ("check --foo a.o", "unknown option --foo\n"),
    ("check --json a.o", "unknown option --json: write --format json"),
    ("check -f sarif a.o", "unknown option -f: write --format sarif"),
    ("check -o report.txt a.o", "unknown option -o: a report goes to a file with --format FORMAT=FILE, and a link command behind --"),
    ("check --format sarif:out a.o", "unknown format 'sarif:out': expected text, concise, json, sarif, github, gitlab, junit, markdown, gcc or html; a file follows '=': --format sarif=FILE"),
    ("check --format json=a.json,sarif=b.sarif a.o", "give the option once for each report"),
    ("check --format jsn a.o", "did you mean 'json'?"),
    ("check --exclude '*.o' a.o", "unknown option --exclude: write --never-read"),
    ("check --exit-zero a.o", "unknown option --exit-zero: write --fail-on=never"),
    ("check --no-color a.o", "unknown option --no-color: write --color=never"),
    ("check --fix --diff a.o", "--diff prints the edits and --fix applies them: give one"),
    ("check --write-baseline a.o b.o", "--write-baseline: a.o is an object, library or package, and is not replaced"),
    ("check a.o b.o --format json=a.cpp", "--format json: a.cpp is source code, and is not replaced"),
    ("check a.o --format json=b.o", "--format json: b.o is an object, library or package, and is not replaced"),
    ("index a.o -o b.o", "-o: b.o is an object, library or package, and is not replaced"),
    ("check --fix=all a.o", "--fix takes no value"),
    ("check --suppress duplicate-definition a.o", "write --suppress rule=duplicate-definition,reason=WHY"),
    ("check --suppress rule=duplicate-definition a.o", "a suppression must have a reason: add ,reason=WHY"),
    ("fix a.o", "unknown command 'fix': write elfaudit check --fix"),
    ("check --runs-on centos7 a.o", "--runs-on centos7: write rhel-7"),
    ("check --runs-on ubuntu22.04 a.o", "--runs-on ubuntu22.04: write ubuntu-22.04"),
    ("check --linker ld a.o", "--linker ld: expected bfd, gold, lld or mold; GNU ld is bfd"),
    ("check --linker lld-14 a.o", "--linker lld-14: write lld:14"),
    ("show a.o", "a.o: is not a wheel: elfaudit check takes it"),
    ("check --runs-on bookworm a.o", "--runs-on bookworm: write debian-12"),
    ("check --runs-on glibc2.17 a.o", "write glibc-VERSION, as in glibc-2.28 or gcc-8"),
    ("check --runs-on debian a.o", "--runs-on debian: name its version, as in debian-12"),
    ("check --gate a.o", "unknown option --gate: it is one of elfaudit link"),
    ("check -j x a.o", "-j, --jobs: 'x': expected a number"),
    ("check --fail-on warn a.o", "--fail-on: 'warn': expected error, warning, note or never; did you mean 'warning'?"),
    ("check --fail-on none a.o", "--fail-on: 'none': write never"),
    ("check --suppress", "--suppress needs a value: --suppress WHAT"),
    ("check --severity DUPLICATE_DEFINITION=off a.o", "unknown rule 'DUPLICATE_DEFINITION'; did you mean 'duplicate-definition'?"),
    ("check --severity duplicate-definition=warn a.o", "unknown level 'warn': expected error, warning, note, on or off; did you mean 'warning'?"),
    ("check --select duplicate-definiton a.o", "--select: unknown rule 'duplicate-definiton'; did you mean 'duplicate-definition'?"),
]


@pytest.mark.parametrize("line, says", MISTAKES)
def test_a_mistake_is_answered(desk, line, says):
    result = desk.sh(f'"$ELFAUDIT" {line}', check=False)
    assert result.code == 2 and says in result.out + result.err, result


def test_a_program_file_is_a_file(desk):
    """Also one that is called as a compiler, and lies in a folder."""
    desk.sh("mkdir -p bin; g++ a.o -o bin/python3; cp bin/python3 bin/gcc")
    assert desk.audit("check", "bin/python3", "bin/gcc").code == 0
    assert desk.audit("bin/gcc").err.startswith("elfaudit: missing command: elfaudit check bin/gcc\n")


def test_the_version_has_its_usual_names(desk):
    assert len({desk.audit(word).out for word in ("--version", "-V", "version")}) == 1


@pytest.mark.parametrize("text, says", [
    ('fail-on = "error\n', ":1: is not TOML: a string ends at its line without the closing quote"),
    ("fail-on = error\n", ":1: is not TOML: a value must be a string in quotes"),
    ("fail-on\n", ":1: is not TOML: an '=' is missing"),
    ("fail-on = 'warn'\n", ":1: fail-on: 'warn': expected error, warning, note or never; did you mean 'warning'?"),
    ("exclude = ['x']\n", ":1: unknown key 'exclude': write never-read"),
    ("[tool.elfaudit]\nfail-on = 'note'\n", ":1: unknown key 'tool': in this file the keys stand at the top, without [tool.elfaudit]"),
    ("preprocess = true\n", ":1: unknown key 'preprocess': --preprocess is for the command line alone"),
    ("[severity]\nduplicate-defnition = 'off'\n", ":2: severity: unknown rule 'duplicate-defnition'; did you mean 'duplicate-definition'?"),
    ("[severity]\nduplicate-definition = 'none'\n", ":2: severity of duplicate-definition: unknown level 'none'"),
    ("[[override]]\npath = 'x'\n[override.severity]\nsplit-stat = 'off'\n", ":4: severity: unknown rule 'split-stat'; did you mean 'split-state'?"),
    ("[[suppress]]\nrule = 'duplicate-definitoin'\nreason = 'x'\n", ":1: unknown rule 'duplicate-definitoin'; did you mean 'duplicate-definition'?"),
])  # fmt: skip
def test_a_mistake_in_the_configuration_is_answered(desk, text, says):
    result = desk.audit("check", "--config", desk.write("wrong.toml", text), "a.o")
    assert result.code == 2 and "wrong.toml" + says in result.err, result
