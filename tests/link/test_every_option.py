"""Every option that an installed linker's --help names is known here, and takes as many words as it takes there. A word
that is misread is an input that is not there, or an option swallowed: a wrong verdict."""

import re
import shlex
import shutil
import subprocess

import pytest

from elfaudit_test import need
from linkers import PROGRAMS, assemble, differs, every_linker_and_gold
from undefined_names import LINKERS

need("as")

# What they do to the inputs has tests of its own, or they run a program.
OPENS_ITS_VALUE = {"l", "library", "T", "script", "dT", "default-script", "R", "just-symbols", "c", "mri-script", "run"}
# Words that need a partner.
NEEDS_COMPANY = {"end-group", ")", "end-lib", "pop-state", "start-group", "("}
# Options that the help shows without the value that they take.
VALUE_NOT_SHOWN = {
    "bfd": {"O", "orphan-handling", "sort-section"},
    "mold": {"Tdata", "Ttext", "dynamic-list", "export-dynamic-symbol", "export-dynamic-symbol-list", "sort-section", "hash-style"},
}
VALUES = {"defsym": "a=b", "m": "elf_x86_64", "unresolved-symbols": "report-all", "format": "default", "b": "default"}


def spellings(linker):
    """Yields (name, dashes, value): value is "", "separate", "equals", "joined" or "maybe", as the help says."""
    text = subprocess.run([LINKERS[linker], "--help"], capture_output=True, text=True).stdout
    text = re.split(r"^i386pep?:|^ *elf_i386:", text, flags=re.M)[0]
    for line in text.splitlines():
        if not re.match(r"\s{2,8}-", line):
            continue
        for part in re.split(r",\s+(?=-)", re.split(r"\s{2,}|\t", line.strip())[0]):
            m = re.match(r"(--?)([^\s=\[<]+)(.*)", part.strip())
            if m and m[2] != "z":
                yield m[2], m[1], kind_of_value(m[2], m[3], linker)


def kind_of_value(name, rest, linker):
    if name in VALUE_NOT_SHOWN.get(linker, ()):
        return "separate"
    if rest.startswith("="):
        return "equals"
    if linker == "mold" and name == "build-id":
        return "maybe"  # shown as "--build-id [none,md5]"
    if re.match(r" ?\[=", rest):
        return "maybe"
    if rest.startswith("<"):
        return "joined"
    # A name in capitals or brackets; small letters are the description already.
    return "separate" if re.match(r" ([A-Z]{2,}|<|\[|sym|lib,)", rest) else ""


def forms(name, dashes, value):
    """The words that spell the option with its value."""
    given = VALUES.get(name, "value.txt")
    option = dashes + name
    # lld lists "--opt=<value>" and "-opt <value>" as one; GNU ld takes a value both ways behind two dashes.
    both = dashes == "--" and len(name) > 1
    if value == "":
        return [[option]]
    if value == "maybe":
        return [[option], [f"{option}={given}"]]
    if value == "joined":
        return [[option + "2"]]
    if value == "equals":
        return [[f"{option}={given}"]]
    return [[option, given], [f"{option}={given}"]] if both else [[option, given]]


def every_option():
    for linker in LINKERS:
        try:
            options = sorted(set(spellings(linker)))
        except FileNotFoundError:
            yield pytest.param(linker, None, id=f"{linker}-missing", marks=pytest.mark.skip(reason="not installed"))
            continue
        yield pytest.param(linker, options, id=linker)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from elfaudit_test import Lab

    lab = Lab(tmp_path_factory.mktemp("options"))
    assemble(lab, "start", ".globl _start\n_start: nop")
    lab.write("value.txt", "{ _start; };\n")
    return lab


@pytest.mark.deep
@pytest.mark.parametrize("linker, options", every_option())
def test_every_option_of_the_help_is_known(bench, linker, options):
    wrong = []
    for name, dashes, value in options:
        if name in OPENS_ITS_VALUE or name in NEEDS_COMPANY:
            continue
        for words in forms(name, dashes, value):
            result = bench.audit("check", "--format", "json", "--", LINKERS[linker], "start.o", *words, "-o", "out")
            if "does not link" in result.err:
                continue  # --help, --version
            if not result.out.startswith("{"):
                wrong.append((words, result.err.strip()))
                continue
            document = result.json()
            inputs = {entry["path"] for entry in document["inputs"]}
            inputs -= {" ".join(words), words[0]}  # its value is refused
            if document["options_not_understood"] or inputs != {"start.o"}:
                wrong.append((words, document["options_not_understood"], sorted(inputs)))
    assert len(options) > 60, "the help was not understood"
    assert not wrong, "\n".join(map(str, wrong))


KEYWORDS = re.compile(r"^\s+-z\s+([a-z0-9-]+)", re.M)


@pytest.mark.parametrize("linker", LINKERS)
def test_every_keyword_of_z_is_known(bench, linker):
    need(LINKERS[linker])
    text = subprocess.run([LINKERS[linker], "--help"], capture_output=True, text=True).stdout
    keywords = sorted(set(KEYWORDS.findall(text)) - {"x86-64-"})
    words = [word for keyword in keywords for word in ("-z", keyword)]
    document = bench.audit("check", "--format", "json", "--", LINKERS[linker], "start.o", *words, "-o", "out").json()
    assert document["options_not_understood"] == []


def test_an_option_that_nobody_knows_is_told_once(bench):
    words = ["start.o", "--no-such-option", "--no-such-option", "-o", "out"]
    result = bench.audit("check", "--format", "json", "--", "ld.bfd", *words)
    assert result.code == 2
    assert result.json()["options_not_understood"] == ["--no-such-option"]
    assert len([f for f in result.json()["findings"] if f["rule"] == "unreadable-input"]) == 1


# Values that some linker refuses or ignores with a warning. An option that it does not know at all is refused too.
VALUES_TO_TRY = """
-z nosuch
-z unique-symbol
-z nounique
-z retpolineplt
-z textoff
-z copyreloc
-z global
-z shstk
--unresolved-symbols=nosuch
--hash-style=nosuch
--hash-style=gnu
--build-id=nosuch
--build-id=0x1
--build-id=0x12
--build-id=tree
--build-id=sha1
-O x
-O2
-O2x
-m nosuch
-m elf_x86_64
--compress-debug-sections=nosuch
--compress-debug-sections=zstd
--compress-debug-sections=zlib-gnu
--icf=nosuch
--icf=safe
--sort-section=nosuch
--sort-section=name
--sort-common=nosuch
--unique=.text
-unique=.text
--orphan-handling=nosuch
--orphan-handling=place
--oformat=nosuch
--oformat=binary
--oformat=elf64-x86-64
-Ttext=nosuch
-Ttext=400000
-Ttext-segment=400000
--section-start=.text
--section-start=.text=400000
--section-start=.text=nosuch
--image-base=nosuch
--image-base=0x400000
--threads=nosuch
--threads=2
--threads=0
--thread-count=nosuch
--error-limit=nosuch
--pack-dyn-relocs=nosuch
--target2=rel
--target2=nosuch
--plugin-opt=O2
--plugin-opt=O9
--plugin-opt=jobs=nosuch
--lto-partitions=0
--lto-partitions=1
--thinlto-jobs=nosuch
--spare-dynamic-tags=nosuch
--max-cache-size=nosuch
--hash-size=nosuch
--demangle=nosuch
--demangle=rust
--undefined-glob=[
--undefined-glob=[a]
--shuffle-sections=nosuch
--shuffle-sections=1
--shuffle-sections=.text=1
--rsp-quoting=nosuch
--save-temps=opt
--compress-sections=a=nosuch
--remap-inputs=nosuch
--package-metadata=nosuch
--package-metadata={}
-soname=
--filter=x
--filter=x -shared
-f x
-fx
-fuse-ld=mold
-G nosuch
-a nosuch
-u=_start
-y=_start
--relocatable
-relocatable
-disable-new-dtags
--optimize=2
-optimize=2
-dm elf_x86_64
-se _start
--defsym=a
--defsym=a=
--defsym=a=1
--defsym=1a=1
--defsym=a=_start+
--defsym=a=_start+1
--defsym=add=1
--defsym=address=1
--defsym=a==1
--defsym=a=1;
--defsym=a=-1
--defsym=a=(_start+1)*2
--retain-symbols-file=nosuch
-z max-page-size=nosuch
-z max-page-size=0x1000
-z max-page-size=3
-z common-page-size=nosuch
-z max-page-size
-z max-page-size=
-z common-page-size
-z common-page-size=0
-z common-page-size=3
-z start-stop-visibility
-z cet-report=
-z defs=
-z muldefs=1
-z stack-size
-z stack-size=nosuch
-z stack-size=0x100000
-z start-stop-visibility=nosuch
-z start-stop-visibility=hidden
-z cet-report=nosuch
-z dead-reloc-in-nonalloc=nosuch
-z dead-reloc-in-nonalloc=.debug_x=0
""".strip().splitlines()


@pytest.mark.deep
@every_linker_and_gold
def test_values_that_the_linker_does_not_take(bench, linker):
    """Those with a warning are errors under --fatal-warnings."""
    wrong = []
    for value in VALUES_TO_TRY:
        for words in (value, f"--fatal-warnings {value}", f"{value} --fatal-warnings"):
            linked = bench.sh(f"{PROGRAMS[linker]} start.o {shlex.join(words.split())} -o out", check=False)
            result = bench.audit("check", "--", PROGRAMS[linker], "start.o", *words.split(), "-o", "out")
            later = re.search(REFUSAL + "|option: -z| -z .* ignored", linked.err)  # known to later versions
            if result.code != (0 if linked.code == 0 else 2) and not later:
                wrong.append(f"{words}: {linked.code} {linked.err.strip()}: {result.code}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("linker, words", [
    ("mold", "-m elf32_x86_64"), ("mold", "-m elf64ltsmip"), ("mold", "-m elf_x86_64"), ("bfd", "-e=_start"), ("gold", "-stw"), ("gold", "-st"), ("gold", "-dT start.ld"),
])
def test_words_of_one_linker(bench, linker, words):
    need(PROGRAMS[linker])
    bench.write("start.ld", "INPUT(start.o)\n")
    assert not differs(bench, linker, f"start.o {words}")


def test_what_is_not_judged_is_said(bench):
    result = bench.audit("check", "--", "ld.bfd", "start.o", "-z", "cet-report=error", "-o", "out")
    assert "no findings: 1 object in 1 input; not judged: the properties that -z cet-report=error asks for" in result.out


# What a linker says of an option that it does not know, or that takes no value there.
REFUSAL = r"unrecogni[sz]ed option|unknown argument|unknown command line option|unknown option|doesn't allow an argument"
# Known to later versions than those that are tried here, or to GNU ld for other machines: elfaudit lets them pass.
LATER = {
    "bfd": r"remap-inputs|section-ordering-file|rosegment|error-|fix-|stub|plt|toc|target|be8|tls|power10|pcrel|apply-dynamic|secure-plt|merge-exidx|"
    r"pic-veneer|enum-size|wchar-size|implib|image-base|print-map-locals|emit-stub|got",
    "mold": r"undefined-glob|nmagic|dynamic-list-data|Bsymbolic-non-weak|be8|^n$|detach",
}


def refused_by(linker, lab, words):
    """One word at a time: mold and gold stop at the first that they do not know."""
    refused = set()
    for word in words:
        linked = lab.sh(f"{LINKERS[linker]} start.o '{word}' -o out", check=False)
        if re.search(REFUSAL, linked.err):
            refused.add(word)
    return refused


@pytest.mark.deep
@pytest.mark.parametrize("linker", LINKERS)
def test_options_of_other_linkers_are_refused(bench, linker):
    need(LINKERS[linker])
    own = {name for name, _, _ in spellings(linker)}
    others = [option for other in LINKERS if shutil.which(LINKERS[other]) for option in spellings(other)]
    named = {name: value for name, _, value in others if len(name) > 2 and name not in own}
    words = sorted(f"--{name}" + ("=1" if value not in ("", "maybe") else "") for name, value in named.items())
    words = [word for word in words if not re.match("--(help|version$|target-help|print-|run|chroot|directory|mri|defsym|unresolved-symbols|lto-O|lto-CGO|end-|start-|pop-|push-)", word)]
    document = bench.audit("check", "--format", "json", "--", LINKERS[linker], "start.o", *words, "-o", "out").json()
    ours = set(document["options_not_understood"])
    theirs = refused_by(linker, bench, words)
    assert not ours - theirs, f"{LINKERS[linker]} takes them: {sorted(ours - theirs)}"
    passed = [word for word in theirs - ours if not re.search(LATER.get(linker, "^$"), word.lstrip("-").partition("=")[0])]
    assert not passed, f"{LINKERS[linker]} refuses them: {sorted(passed)}"
