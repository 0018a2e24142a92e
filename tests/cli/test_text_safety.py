"""Names that files hold, in every command and every format: nothing that a terminal or a CI system obeys gets out, and the documents give the names back."""

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest

from elfaudit_test import ENVIRONMENT, need
from elfaudit_wheels import module, wheel

need("gcc", "as", "gcc-ar")

PROGRAM = os.environ.get("ELFAUDIT", "")

NAMES = {
    "red": b"a\x1b[31mRED",
    "title": b"a\x1b]0;pwned\x07",
    "bell": b"a\x07bell",
    "backspace": b"abc\x08\x08\x08xyz",
    "return": b"good\rgone",
    "tab": b"a\tb",
    "delete": b"a\x7fb",
    "c1": b"a\xc2\x9b31mRED",
    "c1 byte": b"a\x9b31mRED",
    "not UTF-8": b"a\xff\xfeb",
    "cut UTF-8": b"cut\xe2\x80",
    "bidi": b"a\xe2\x80\xaecod.exe",
    "isolate": b"a\xe2\x81\xa6b",
    "line separator": b"a\xe2\x80\xa8::error::b",
    "newline": b"a\n::error::injected",
    "newline and tab": b"a\n\t::warning::injected",
    "github": b"::error file=x.c::injected",
    "github margin": b"\xc2\xa0\xe2\x80\x83::error::injected",
    "colons": b"::::",
    "azure": b"##vso[task.prependpath]/tmp/evil",
    "azure old": b"##[error]injected",
    "hashes": b"x####[error]injected",
    "teamcity": b"##teamcity[buildProblem 'x']",
    "xml": b"]]></failure>&#x1b;<!--",
    "script": b"</script><script>x",
    "markdown": b"``` | <b> **x** |",
    "quotes": b"\"'\\\"'\\n",
    "percent": b"%0A::error::x%1b",
    "long": b"l\x1b" * 1500,
}

TEXTS = ["text", "github", "gcc", "markdown"]
DOCUMENTS = ["json", "sarif", "gitlab", "junit", "html"]


def decoded(name):
    return name.decode("utf-8", "replace")


def file_name(name):
    return (b"o" + name if name.startswith(b"-") else name).replace(b"/", b"_")[:200]


FILES = {label: file_name(name) for label, name in NAMES.items()}

# Characters that a terminal obeys, and the separators and marks that change where or in which order text is shown.
OBEYED_CHARACTER = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
OBEYED_MARK = re.compile(r"##(\[|vso\[|teamcity\[)")
OWN_COMMAND = re.compile(r"::(error|warning|notice) ([^:]*,)?title=elfaudit[^:]*::[^\n]*")


def obeyed(output, github=False):
    """The characters and lines of an output that a terminal or a CI system obeys. `github`: its own annotations are none."""
    text = output.decode("utf-8")  # strict: it must be UTF-8
    found = [repr(c) for c in OBEYED_CHARACTER.findall(text)]
    for line in text.split("\n"):
        if OBEYED_MARK.search(line) or (line.strip().startswith("::") and not (github and OWN_COMMAND.fullmatch(line))):
            found.append(line[:200])
    return found


def run(lab, *words):
    """Runs elfaudit, and checks what it prints."""
    done = subprocess.run([PROGRAM, *words], cwd=lab.path, env=ENVIRONMENT, capture_output=True, timeout=60)
    assert done.returncode in (0, 1, 2, 126, 127) and b"internal error" not in done.stderr, done
    github = "github" in words
    assert obeyed(done.stdout, github) == [], words
    assert obeyed(done.stderr) == [], words
    return done


def texts_in(document):
    """Every string of a JSON document."""
    if isinstance(document, str):
        return [document]
    items = document.values() if isinstance(document, dict) else document if isinstance(document, list) else []
    return [text for item in items for text in texts_in(item)]


def texts_of(output, format):
    """The strings that a parser reads in a document."""
    if format == "junit":
        elements = list(ElementTree.fromstring(output).iter())
        return [text for element in elements for text in (*element.attrib.values(), element.text or "")]
    if format == "jsonl":
        return [text for line in output.splitlines() for text in texts_in(json.loads(line))]
    if format == "html":
        output = re.search(rb'<script id="data" type="application/json">(.*?)</script>', output, re.S)[1]
    return texts_in(json.loads(output))


def expected_in(format, name):
    """The name as a parser of the format must give it back: XML has no control characters, SARIF doubles braces."""
    return re.sub("[\0-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", decoded(name)) if format == "junit" else decoded(name)


def assert_in_document(output, format, names):
    texts = texts_of(output, format)
    for name in names:
        assert any(expected_in(format, name) in text for text in texts), (format, name)


# --- symbols, sections and source files of objects


def holder(kind, i, name):
    """An identifier as long as the name, which replaces it in the compiled file."""
    return f"{kind}{i:02}".ljust(len(name), "Q")


def replaced(content, kinds):
    for kind in kinds:
        for i, name in enumerate(NAMES.values()):
            text = holder(kind, i, name).encode()
            assert text in content, text
            content = content.replace(text, name)
    return content


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """e1.o and e2.o: they define symbols (D), refer to others (U), in sections (C), and debug info names headers (H)."""
    folder = tmp_path_factory.mktemp("objects")
    for number in (1, 2):
        lines = []
        for i, name in enumerate(NAMES.values()):
            symbol, other, section, header = (holder(kind, i, name) for kind in "DUCH")
            lines += [f'#line {i + 1} "{header}"', f'extern int {other}; int *{symbol} = &{other} + {number}; __attribute__((section("{section}"))) int in_section{i} = {number};']
        source = folder / f"e{number}.c"
        source.write_text("\n".join(lines) + "\n")
        subprocess.run(["gcc", "-g", "-gz=none", "-c", source, "-o", "e.o"], cwd=folder, check=True)
        (folder / f"e{number}.o").write_bytes(replaced((folder / "e.o").read_bytes(), "HUCD"))
    return folder


@pytest.fixture
def hostile(lab, objects):
    for file in ("e1.o", "e2.o"):
        os.symlink(objects / file, lab.path / file)
    return lab


INERT = ("xml", "script", "markdown", "quotes", "percent")  # only markup of a format


def test_the_check_finds_what_is_obeyed():
    for label, name in NAMES.items():
        try:
            found = obeyed(b"\n" + name)
        except UnicodeDecodeError:
            found = ["not UTF-8"]
        assert (found == []) == (label in INERT), label


@pytest.mark.parametrize("format", TEXTS)
def test_symbols_in_texts(hostile, format):
    done = run(hostile, "check", "-v", "--undefined", "--format", format, "e1.o", "e2.o")
    assert rb"a\x1b[31mRED" in done.stdout or b"a&#92;x1b&#91;31mRED" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("format", DOCUMENTS)
def test_symbols_in_documents(hostile, format):
    done = run(hostile, "check", "-v", "--undefined", "--format", format, "e1.o", "e2.o")
    assert_in_document(done.stdout, format, NAMES.values())


def test_explain(hostile):
    for name in NAMES.values():
        assert run(hostile, "explain", name, "e1.o", "e2.o").returncode == 0, name
    assert rb"a\x1b[31mRED" in run(hostile, "explain", NAMES["red"], "e1.o").stdout
    done = run(hostile, "explain", "--format", "json", NAMES["azure"], "e1.o", "e2.o")
    document = json.loads(done.stdout)
    assert document["symbols"][0]["symbol"] == decoded(NAMES["azure"])
    number = list(NAMES).index("azure")
    done = run(hostile, "explain", "--format", "json", f"in_section{number}", "e1.o", "e2.o")
    assert json.loads(done.stdout)["symbols"][0]["uses"][0]["site"]["section"] == decoded(NAMES["azure"])


@pytest.mark.parametrize("what", ["symbols", "members", "needs", "images"])
def test_lists_of_objects(hostile, what):
    run(hostile, "list", what, "e1.o")
    for format in ("json", "jsonl"):
        done = run(hostile, "list", what, "--format", format, "e1.o")
        if what == "symbols":
            assert_in_document(done.stdout, format, NAMES.values())


def test_facts_of_objects(hostile):
    run(hostile, "index", "e1.o", "e2.o", "-o", "all.facts")
    for format in ("text", "json", "junit", "html"):
        run(hostile, "check", "--format", format, "all.facts")
    run(hostile, "list", "symbols", "all.facts")
    run(hostile, "explain", NAMES["newline"], "all.facts")


def on_terminal(lab, columns, *words):
    """What elfaudit prints on a terminal of that width, where it wraps lines at words."""
    process, terminal = pty.fork()
    if process == 0:
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.chdir(lab.path)
            os.execve(PROGRAM, [PROGRAM, *words], {**ENVIRONMENT, "CI": "1"})  # CI: no progress line
        finally:
            os._exit(127)
    output = b""
    with contextlib.suppress(OSError):  # the end of the process
        while part := os.read(terminal, 65536):
            output += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) in (0, 1, 2)
    return output.replace(b"\r\n", b"\n")


@pytest.mark.deep
@pytest.mark.parametrize("columns", [20, 33, 50, 80, 131])
def test_terminals(hostile, columns):
    """Wrapped lines may begin with any word of a name."""
    assert obeyed(on_terminal(hostile, columns, "check", "-v", "e1.o", "e2.o")) == []
    for name in NAMES.values():
        assert obeyed(on_terminal(hostile, columns, "explain", name, "e1.o", "e2.o")) == [], name
        (hostile.path / "build.log").write_bytes(b"".join(line.replace(b"%s", b"x ::error::x " + name) + b"\n" for line in LOG_LINES))
        assert obeyed(on_terminal(hostile, columns, "diagnose", "build.log")) == [], name


# --- names of files


@pytest.fixture
def odd_files(lab):
    """Objects and archives whose names are hostile."""
    lab.cc("a.o", "int state;", "gcc")
    for name in FILES.values():
        os.link(lab.path / "a.o", os.path.join(os.fsencode(lab.path), name))
    return lab


@pytest.mark.parametrize("format", TEXTS + DOCUMENTS)
def test_names_of_files(odd_files, format):
    done = run(odd_files, "check", "-v", "--format", format, *FILES.values())
    assert done.returncode == 1
    if format in ("json", "html"):
        assert_in_document(done.stdout, format, FILES.values())


def test_commands_with_names_of_files(odd_files):
    names = list(FILES.values())
    for words in (["explain", "state"], ["list", "symbols"], ["list", "members"], ["list", "images", "--table"], ["list", "closure"], ["index", "-o", "x.facts"]):
        run(odd_files, *words, *names)
    for format in ("json", "jsonl"):
        assert_in_document(run(odd_files, "list", "symbols", "--format", format, *names).stdout, format, names)


HOSTILE = b"no\x1b[31m\n::error::x\xc2\x9b\xff##[error]\xe2\x80\xae"  # where one case must do
OPTIONS = ["--config", "--baseline", "--compile-commands", "--source-root", "--map-path", "--enable", "--arch", "--gpu-arch", "--python", "--linker", "--fail-on", "--color", "--severity", "--suppress", "--root", "-p", "--format"]  # fmt: skip


def test_what_is_wrong_with_the_command_line(lab):
    lab.cc("a.o", "int state;", "gcc")
    for words in ([HOSTILE], ["check", HOSTILE], ["check", b"--" + HOSTILE], ["check", "@" + decoded(HOSTILE)], ["list", HOSTILE], ["list", "images", HOSTILE], ["list", "closure", HOSTILE], ["rules", HOSTILE], ["diff", HOSTILE, HOSTILE],
                  ["diagnose", HOSTILE], ["index", HOSTILE, "-o", "x"], ["index", "--", HOSTILE], ["link", "--", HOSTILE], ["explain", HOSTILE, "a.o"], ["check", "--", "ld", HOSTILE, "a.o"], ["help", HOSTILE]):  # fmt: skip
        run(lab, *words)
    for option in OPTIONS:
        run(lab, "check", option, HOSTILE, "a.o")


# --- archives, shared objects, packages


def archive_of(members):
    """An archive whose members have any bytes as names (BSD's form)."""
    out = b"!<arch>\n"
    for name, content in members:
        size = len(name) + len(content)
        out += f"#1/{len(name)}".encode().ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + str(size).encode().ljust(10) + b"`\n" + name + content + b"\n" * (size % 2)
    return out


def test_members_of_archives(lab):
    lab.cc("a.o", "int state;", "gcc")
    content = (lab.path / "a.o").read_bytes()
    (lab.path / "liba.a").write_bytes(archive_of([(name, content) for name in NAMES.values()]))
    run(lab, "list", "members", "liba.a")
    assert_in_document(run(lab, "list", "members", "--format", "json", "liba.a").stdout, "json", NAMES.values())
    for format in TEXTS + DOCUMENTS:
        assert run(lab, "check", "-v", "--format", format, "liba.a").returncode == 1
    run(lab, "explain", "state", "liba.a")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """lib.so: its soname, what it needs, its RUNPATH and its versions are hostile."""
    folder = tmp_path_factory.mktemp("libraries")
    names = list(enumerate(NAMES.values()))
    (folder / "n.c").write_text("int f;")
    (folder / "v.map").write_text("".join(f"{holder('V', i, name)} {{ global: f{i}; }};\n" for i, name in names))
    (folder / "l.c").write_text("".join(f"int f{i};\n" for i, name in names))
    soname = holder("N", 99, NAMES["newline"])
    subprocess.run(["gcc", "-shared", "-o", "stub.so", "n.c", "-Wl,-soname," + holder("N", 0, b"q" * 4000)], cwd=folder, check=True)
    stub = (folder / "stub.so").read_bytes()
    for i, name in names:
        text = holder("N", i, name).encode()
        (folder / f"n{i}.so").write_bytes(stub.replace(holder("N", 0, b"q" * 4000).encode(), text + b"\0" * (4000 - len(text))))
    subprocess.run(["gcc", "-shared", "-o", "lib.so", "l.c", "-Wl,--no-as-needed", "-Wl,-soname," + soname, "-Wl,--version-script=v.map",
                    *(f"n{i}.so" for i, name in names), *(f"-Wl,-rpath,{holder('R', i, name)}" for i, name in names)], cwd=folder, check=True)  # fmt: skip
    content = replaced((folder / "lib.so").read_bytes(), "NVR").replace(soname.encode(), NAMES["newline"])
    (folder / "lib.so").write_bytes(content)
    return folder


def test_shared_objects(lab, libraries):
    os.symlink(libraries / "lib.so", lab.path / "lib.so")
    for format in ("text", "markdown", "json"):
        run(lab, "diff", "--format", format, "lib.so", libraries / "stub.so")
    for words in (["list", "needs"], ["list", "symbols"], ["list", "closure"]):
        run(lab, *words, "lib.so")
        output = run(lab, *words, "--format", "json", "lib.so").stdout
        assert words[1] == "symbols" or assert_in_document(output, "json", NAMES.values()) is None
    lab.write("root/x", "")
    for format in TEXTS + DOCUMENTS:
        run(lab, "check", "--root", "root", "--format", format, "lib.so")


def test_packages(lab):
    code = module(lab, "_m.so")
    wheel(lab, "pkg-1.0-cp312-cp312-linux_x86_64.whl", {f"pkg/{i}{decoded(name)}.so": code for i, name in enumerate(FILES.values())}, extra="Summary: \x1b[31m\n::error::x\n")
    wheel(lab, "two-1.0-cp312-cp312-linux_x86_64.whl", {"two/_m.so": code}, requires_python="\x1b[31m>=3##[error]", tags=["cp3\x1b[31m##vso[x]-\x9b-\u202e"])
    for format in TEXTS + DOCUMENTS:
        run(lab, "check", "--python", "3.10-3.13", "--format", format, "pkg-1.0-cp312-cp312-linux_x86_64.whl", "two-1.0-cp312-cp312-linux_x86_64.whl")
    for what in ("symbols", "needs", "images", "members"):
        run(lab, "list", what, "pkg-1.0-cp312-cp312-linux_x86_64.whl", "two-1.0-cp312-cp312-linux_x86_64.whl")


# --- logs


LOG_LINES = [
    b"/usr/bin/ld: b.o:(.data+0x0): multiple definition of `%s'; a.o:(.data+0x0): first defined here",
    b"/usr/bin/ld: a.o: in function `%s':",
    b"a.c:(.text+0x5): undefined reference to `%s'",
    b"/usr/bin/ld: cannot find -l%s: No such file or directory",
    b"/usr/bin/ld: cannot find %s: No such file or directory",
    b"ld.lld: error: undefined symbol: %s",
    b">>> referenced by %s:3",
    b">>>               %s.o:(f)",
    b"ld.lld: error: duplicate symbol: %s",
    b">>> defined at %s:1",
    b"mold: error: undefined symbol: %s",
    b"nvlink error   : Undefined reference to '%s' in 'x.o'",
    b"x.c:1:10: fatal error: %s: No such file or directory",
    b"In file included from %s:3,",
    b"./app: error while loading shared libraries: %s: cannot open shared object file: No such file or directory",
    b"./app: symbol lookup error: ./app: undefined symbol: %s",
    b"ImportError: %s: undefined symbol: f",
    b"make: *** No rule to make target '%s', needed by 'x'.  Stop.",
    b"g++ -o app -I%s a.o %s -L%s -lx",
    b"collect2: error: ld returned 1 exit status",
]


@pytest.mark.parametrize("format", ["text", "github", "json"])
def test_logs(lab, format):
    log = b"".join(line.replace(b"%s", name) + b"\n" for name in NAMES.values() for line in LOG_LINES)
    (lab.path / "build.log").write_bytes(log)
    done = run(lab, "diagnose", "--format", format, "build.log")
    assert done.returncode == 1
    if format == "json":
        assert decoded(NAMES["azure"]) in texts_of(done.stdout, format)


# --- builds, configuration and sources


def ninja_path(name):
    return re.sub(rb"([ :$])", rb"$\1", name).replace(b"\n", b"_").replace(b"|", b"_")


def test_builds(odd_files):
    names = [name for name in map(ninja_path, FILES.values()) if not name.startswith(b" ")]
    lines = [b"rule link\n  command = ld -o $out $in\n"]
    for i, name in enumerate(names):
        lines.append(b"build out%d%s: link %s a.o\n" % (i, name, name))
    (odd_files.path / "build.ninja").write_bytes(b"".join(lines))
    commands = [{"directory": str(odd_files.path), "file": decoded(name), "output": decoded(name), "command": f"gcc -c '{decoded(name)}'"} for name in FILES.values()]
    odd_files.write("compile_commands.json", json.dumps(commands))
    for format in ("text", "json", "github"):
        run(odd_files, "check", "-p", ".", "--format", format)
    run(odd_files, "check", "-p", ".", b"out0" + names[0])
    run(odd_files, "check", "-p", ".", b"nothing" + names[0])
    run(odd_files, "--targets", ".")
    run(odd_files, "check", "--format", "gcc", "--compile-commands", "compile_commands.json", "a.o")


def test_link_commands(odd_files):
    """Names on linker lines, in linker scripts, version scripts, response files and options."""
    lab = odd_files
    quoted = b" ".join(b'"' + name.replace(b'"', b"").replace(b"\n", b"_") + b'"' for name in FILES.values())
    (lab.path / "script.ld").write_bytes(b"INPUT(" + quoted + b")\nEXTERN(" + quoted + b")\n")
    (lab.path / "bad.ld").write_bytes(b"INPUT(a.o " + HOSTILE)
    (lab.path / "v.map").write_bytes(b"V1 { global: " + b"; ".join(quoted.split(b" ")) + b"; local: *; };\n" + HOSTILE)
    (lab.path / "words.rsp").write_bytes(b"a.o " + quoted + b" '" + HOSTILE)
    (lab.path / "syms.def").write_bytes(HOSTILE)
    commands = [["ld", "-o", HOSTILE, "a.o", *FILES.values()], ["ld", "-shared", "-o", "x", "a.o", "script.ld"], ["ld", "-shared", "-o", "x", "a.o", "bad.ld"], ["ld", "-shared", "-o", "x", "a.o", "--version-script=v.map"],
                ["ld", "-o", "x", "@words.rsp"], ["ld", "-o", "x", "a.o", b"-l" + HOSTILE, b"-L" + HOSTILE, b"-u" + HOSTILE, b"--defsym=" + HOSTILE + b"=1", b"-e" + HOSTILE, b"--" + HOSTILE, b"-z" + HOSTILE, b"--wrap=" + HOSTILE],
                ["ld", "-o", "x", "a.o", b"--require-defined=" + HOSTILE, b"--dynamic-list=" + HOSTILE, b"-T" + HOSTILE, b"-m" + HOSTILE], [b"./" + HOSTILE, "a.o"], ["gcc", HOSTILE, "a.o", b"-Wl," + HOSTILE]]  # fmt: skip
    for command in commands:
        for format in ("text", "github", "gcc", "json", "junit"):
            run(lab, "check", "-v", "--format", format, "--", *command)
        run(lab, "explain", "state", "--", *command)
    for words in (["check", "@words.rsp"], ["explain", "state", "@words.rsp"], ["index", "@words.rsp", "-o", "x.facts"]):
        run(lab, *words)


def toml_string(text):
    """A string of TOML that escapes every character."""
    return '"' + "".join(f"\\U{ord(c):08x}" for c in text) + '"'


def test_configuration(lab):
    lab.cc("a.o", "int state;", "gcc")
    texts = [decoded(name) for name in NAMES.values()]
    lab.write(".elfaudit.toml", f"never-read = [{', '.join(map(toml_string, texts))}]\n" + f"source-root = {toml_string('.')}\n"
              + "".join(f"[[suppress]]\nsymbol = {toml_string(text)}\nreason = {toml_string(text)}\n" for text in texts)
              + "".join(f"[[override]]\npath = {toml_string(text)}\n[override.severity]\nduplicate-definition = 'note'\n" for text in texts))  # fmt: skip
    first = run(lab, "check", "--dump-config").stdout.decode()
    parsed = tomllib.loads(first)
    assert parsed["never-read"] == texts and [one["reason"] for one in parsed["suppress"]] == texts and [one["path"] for one in parsed["override"]] == texts
    lab.write("again.toml", first)
    again = run(lab, "check", "--config", "again.toml", "--dump-config").stdout.decode()
    without_comments = lambda text: [line.split("  # ")[0] for line in text.splitlines() if not line.startswith("# ")]
    assert without_comments(again) == without_comments(first)
    for format in TEXTS + DOCUMENTS:
        run(lab, "check", "-v", "--format", format, "a.o")


def test_configuration_that_is_not_utf8(lab):
    """TOML can't hold it, and another value would be another configuration."""
    done = run(lab, "check", "--never-read", b"x\xff", "--dump-config")
    assert done.returncode == 2 and rb"that is not UTF-8: 'x\xff'" in done.stderr, done


def test_configuration_that_is_wrong(lab):
    for hostile in (decoded(HOSTILE), "::error::x", "##[error]"):
        quoted = toml_string(hostile)
        for text in (f"{quoted} = 1", f"format = {quoted}", f"[severity]\n{quoted} = 'off'", f"[severity]\nduplicate-definition = {quoted}", f"extends = {quoted}", f"baseline = {quoted}", f"gpu-arch = {quoted}",
                     f"[[suppress]]\nreason = 'x'\nuntil = {quoted}", f"[[suppress]]\nrule = {quoted}\nreason = 'x'", f"x = {hostile}"):  # fmt: skip
            lab.write(".elfaudit.toml", text + "\n")
            run(lab, "check", "--dump-config")
    lab.write("folder\x1b[31m\n::error::x/.elfaudit.toml", "[[suppress]]\nsymbol = 'x'\nreason = 'y'\n")
    done = run(lab, "check", "--config", "folder\x1b[31m\n::error::x/.elfaudit.toml", "--dump-config")
    assert rb"folder\x1b[31m\n::error::x" in done.stdout and tomllib.loads(done.stdout.decode())


def test_names_of_headers(lab):
    """Headers that are there are read: causes, fixes and edits name them."""
    names = [FILES[label] for label in ("red", "c1", "not UTF-8", "bidi", "azure old", "tab", "github margin")]
    for i, name in enumerate(names):
        (lab.path / os.fsdecode(name)).write_text(f"int state{i};\n")
    (lab.path / "all.h").write_bytes(b"".join(b'#include "%s"\n' % name for name in names))
    for object in ("a.o", "b.o"):
        lab.cc(object, '#include "all.h"\n', "g++ -g -std=c++17")
    for format in TEXTS + DOCUMENTS:
        done = run(lab, "check", "--format", format, "a.o", "b.o")
        assert done.returncode == 1 and b"state0" in done.stdout
    for i in range(len(names)):
        run(lab, "explain", f"state{i}", "a.o", "b.o")
    for option in ("--diff", "--fix"):
        run(lab, "check", option, "a.o", "b.o")


SOURCE_LINES = ["int state; // \x1b[31m ", "int state; /* \u202e */", "int state; // ##vso[task.prependpath]/tmp/evil", "int state; /* abc\b\b\bx */", "int state; /*\n::error::x\n*/", "int state; // \x9b31m"]


@pytest.mark.parametrize("line", SOURCE_LINES)
def test_lines_of_sources(lab, line):
    lab.write("inc/state.h", f"#pragma once\n#if defined(X) || 1 // \x1b[31m\n{line}\n#endif\n")
    for name in ("a", "b"):
        lab.cc(f"{name}.o", '#include "inc/state.h"\n', "g++ -g -std=c++17")
    for format in TEXTS + DOCUMENTS:
        assert run(lab, "check", "--format", format, "a.o", "b.o").returncode == 1
    run(lab, "explain", "state", "a.o", "b.o")
    done = run(lab, "check", "--diff", "a.o", "b.o")
    assert done.stdout == b"" and b"no diff: " in done.stderr, done
    assert b"edited inc/state.h for 1 of 1 finding" in run(lab, "check", "--fix", "a.o", "b.o").stderr


def test_diffs_of_ordinary_sources(lab):
    """Tabs, form feeds, CRLF, Latin-1, "##" and "::" are no reason against a diff."""
    (lab.path / "inc").mkdir()
    (lab.path / "inc/state.h").write_bytes(b"#define GLUE(a, b) a##b\n\f\nint\tstate; // caf\xe9\r\n::Outer x();\n".replace(b"::Outer x();", b"inline void f() {\n  ::new int;\n}"))
    for name in ("a", "b"):
        lab.cc(f"{name}.o", '#include "inc/state.h"\n', "g++ -g -std=c++17")
    done = subprocess.run([PROGRAM, "check", "--diff", "a.o", "b.o"], cwd=lab.path, env=ENVIRONMENT, capture_output=True)
    assert b"+inline int\tstate; // caf\xe9\r\n" in done.stdout, done
