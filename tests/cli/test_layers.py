"""The folders of src are layers: what cmake/layers.cmake says, and what holds of their files."""

import collections
import os
import pathlib
import re
import subprocess

from elfaudit_test import SOURCE_DIR

SRC = SOURCE_DIR / "src"
FILES = sorted(file for file in SRC.rglob("*") if file.suffix in (".cpp", ".hpp"))


# Each is a library by itself, which can be read without the others: the way to a place in the source, what ships, what
# is loaded, what is out of date, logs, and the command line; formats of others (device code, the files of builds) and of
# our own (facts); baselines and suppressions.
BESIDE_THE_CORE = {
    "locate", "locate/dwarf", "locate/source", "locate/record", "locate/providers", "locate/cause", "locate/fix", "package", "load", "rules/loading", "rules/gpu", "rules/python", "rules/shipping", "rules/silent", "left_out", "ship", "stale", "divergence",
    "diagnose", "cli", "scan/device", "input/build", "facts", "gate", "compare", "listing",
}  # fmt: skip


def layers():
    text = (SOURCE_DIR / "cmake" / "layers.cmake").read_text()
    lists = re.findall(r'"(.*?)"', re.search(r"set\(ELFAUDIT_LAYERS\n(.*?)\)", text, re.S)[1])
    return {folder: height for height, layer in enumerate(lists) for folder in layer.split()}


def folder_of(file):
    return file.relative_to(SRC).parent.as_posix()


def includes(file):
    found = re.findall(r'^#include "(.*)"', file.read_text(), re.M)
    return [SRC / name for name in found if (SRC / name).exists()]


def test_every_folder_has_a_layer():
    assert {folder_of(file) for file in FILES} == set(layers())


def test_a_folder_includes_only_what_stands_below_it():
    heights = layers()
    upward = [
        f"{file.relative_to(SRC)} includes {header.relative_to(SRC)}"
        for file in FILES
        for header in includes(file)
        if folder_of(header) != folder_of(file) and heights[folder_of(header)] >= heights[folder_of(file)]
    ]
    assert upward == []


def test_which_linker_it_is_chooses_rules_alone():
    """Elsewhere code asks for the trait that it means (src/target/linker_traits.def): a new linker is a new column."""
    engine = re.compile(r"resolve/(bfd|gold|lld|mold)\w*\.[ch]pp|target/.*")
    asks = [
        f"{file.relative_to(SRC)}: {line.strip()}"
        for file in FILES
        if not engine.fullmatch(str(file.relative_to(SRC)))
        for line in file.read_text().splitlines()
        if re.search(r"[!=]= (LinkerKind|ResolutionRules)::|case LinkerKind::|linker_?(->|\.)(kind|since|name|word) [!=]=", line)
    ]
    assert asks == []


def test_every_trait_is_read():
    """A row that no code reads documents a difference that elfaudit does not make."""
    code = "\n".join(file.read_text() for file in FILES)
    accessed = set(re.findall(r"(?:\.|->|::)(\w+)", code))
    linkers = re.findall(r"^(?:TRAIT|WORDS)\((\w+),", (SRC / "target" / "linker_traits.def").read_text(), re.M)
    assert len(linkers) > 200 and sorted(set(linkers) - accessed) == []
    # These have declarations, and functions of their own.
    machines = set(re.findall(r"^    \.(\w+) =", (SRC / "target" / "machine_traits.def").read_text(), re.M))
    assert machines and [trait for trait in sorted(machines) if len(re.findall(rf"\b{trait}\b", code)) < 2] == []


def test_every_data_table_names_the_script_that_writes_it():
    for table in sorted((SOURCE_DIR / "data").iterdir()):
        comment = re.match(r"(#.*\n)+", table.read_text())
        script = re.search(r"[Ww]ritten by (scripts/[\w-]+)", comment[0])
        assert f"data/{table.name}" in (SOURCE_DIR / script[1]).read_text(), table.name


def test_no_two_files_share_a_name():
    """But for a .cpp and its .hpp: a name alone says which file is meant."""
    places = collections.defaultdict(set)
    for file in FILES:
        places[file.stem].add(folder_of(file))
    assert {name: sorted(folders) for name, folders in places.items() if len(folders) > 1} == {}


def test_a_file_can_be_read_in_one_go():
    assert [file.name for file in FILES if file.read_text().count("\n") > 1000] == []


def test_few_headers_have_one_reader():
    """What one file alone uses belongs into that file, unless it is a concept of its own."""
    readers = collections.defaultdict(set)
    for file in [*FILES, *(SOURCE_DIR / "tests").rglob("*.[ch]pp")]:
        for header in includes(file):
            if header != file.with_suffix(".hpp"):
                readers[header].add(file)
    alone = [file.name for file in FILES if file.suffix == ".hpp" and len(readers[file]) <= 1]
    assert len(alone) <= 20, alone


def test_few_files():
    """A file is a concept: a new one has a name that the field knows, or its text belongs into another."""
    assert sum(1 for file in SRC.rglob("*") if file.is_file()) <= 280


def test_the_core_can_be_held_in_the_head():
    """From the link line to the report: input, elf, scan, resolve, rules, audit, report, and what these call at every step."""
    assert BESIDE_THE_CORE < set(layers())
    core = [file for file in FILES if folder_of(file) not in BESIDE_THE_CORE]
    assert sum(file.read_text().count("\n") for file in core) < 40_000


def test_no_inline_function_is_defined_a_second_time():
    """The linker keeps either: has_word() was two functions, and a build that inlined neither took one for the other."""
    library = pathlib.Path(os.environ["ELFAUDIT"]).parent / "libelfaudit.a"
    listed = subprocess.run(["nm", "-C", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    kinds = collections.defaultdict(set)
    for kind, name in re.findall(r"^\w+ ([TW]) (elfaudit::.*)$", listed, re.M):
        kinds[name].add(kind)
    assert kinds and [name for name, found in kinds.items() if len(found) > 1] == []


# A function's name and its parameters, where a line begins.
FUNCTION = re.compile(r"^(?:inline |constexpr |static )*[A-Za-z_][\w:<>,&* ]*?[ &*]([a-z_]\w*)\(([^()]*)\)", re.M)


def test_no_function_of_one_file_hides_one_of_a_header():
    """is_there() of one file took the calls of the files behind it, where several are compiled at once. Arguments of the
    project's own types find both."""
    heights, shown = layers(), collections.defaultdict(set)
    for header in FILES:
        if header.suffix == ".hpp":
            for name, _ in FUNCTION.findall(header.read_text()):
                shown[name].add(folder_of(header))
    hiding = []
    for file in FILES:
        below = {folder for folder, height in heights.items() if height < heights[folder_of(file)]} | {folder_of(file)}
        for unnamed in re.findall(r"^namespace {\n(.*?)^}  // namespace$", file.read_text(), re.M | re.S):
            for name, parameters in FUNCTION.findall(unnamed):
                has_own_type = re.search(r"\b[A-Z]\w+", re.sub(r"(std|fs|nlohmann)::\w+", "", parameters))
                if shown[name] & below and not has_own_type and any(calls(other, name) for other in FILES if folder_of(other) == folder_of(file) and other != file):
                    hiding.append(f"{file.relative_to(SRC)}: {name}")
    assert hiding == []


def calls(file, name):
    return file.suffix == ".cpp" and re.search(rf"(?<![.\w>:]){name}\(", file.read_text())
