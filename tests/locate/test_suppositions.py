"""What an unknown command line could change: random conditionals around definitions of one variable, compiled with random -D.

The reader is given the depfile alone. What it presents as certain must be where the compiler's preprocessor leaves the
definition; what -D could have moved elsewhere must not be certain.
"""

import json
import os
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from elfaudit_test import campaign, campaign_seed, need

need("g++", "gcc")
SITE_OF = os.environ.get("SITE_OF", "site_of")
SEED = campaign_seed(1)
COUNT = campaign(60)
CONDITIONS = ["#ifdef {0}", "#ifndef {0}", "#if !defined({0})", "#if defined({0}) && defined({1})", "#if !defined({0}) && defined({1})",
              "#if defined({0}) || {1} > 1", "#if {0} == {2}", "#if {0}", "#if __has_include(<{0}.h>)", "#ifdef __linux__"]
LINES = ["int s;", "int s = 1;", "extern int s;", "API int s;", "API int s = 2;", "extern API int s;", "static int other;",
         "int unrelated(int s);", "#define API extern", "#define API", "#undef API", "#ifndef API\n#define API\n#endif"]


def condition(rng):
    return rng.choice(CONDITIONS).format(rng.choice("ABC"), rng.choice("ABC"), rng.randint(1, 2))


def header(rng, name, headers):
    """Guarded or not, and with what looks like a guard at its head: the default of an option, or a switch."""
    lines, guard = body(rng, headers, 1), name.upper().replace(".", "_")
    if rng.random() < 0.5:
        option = rng.choice("ABC")
        default = [f"#ifndef {option}", f"#define {option}{rng.choice(['', ' 0', ' 1', ' 2'])}"]
        lines = [*default, "#endif", *lines] if rng.random() < 0.7 else [*default, *lines, "#endif"]
    guards = [lines, ["#pragma once", *lines], [f"#ifndef {guard}", f"#define {guard}", *lines, "#endif"]]
    return rng.choice(guards)


def body(rng, headers, depth):
    lines = []
    for _ in range(rng.randint(1, 4)):
        choice = rng.random()
        if choice < 0.45 and depth < 3:
            lines += [condition(rng), *body(rng, headers, depth + 1)]
            lines += ["#else", *body(rng, headers, depth + 1)] if rng.random() < 0.5 else []
            lines.append("#endif")
        else:
            lines.append(f'#include "{rng.choice(headers)}"' if choice < 0.6 and headers else rng.choice(LINES))
    return lines


def definitions(preprocessed):
    """(file, line) of each in the output of -E; one with an initialiser counts alone, as in C."""
    found, initialised, file, line = [], [], None, 0
    for text in preprocessed.splitlines():
        marker = re.match(r'# (\d+) "([^"]*)"', text)
        if marker:
            line, file = int(marker[1]), os.path.normpath(marker[2])
            continue
        if " ".join(text.split()) == "int s;":
            found.append([file, line])
        elif re.match(r"(extern )*int s = \d;", " ".join(text.split())):
            initialised.append([file, line])
        line += 1
    return initialised or found


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def write(folder, rng):
    """A program of one source, and the command that compiles it; nothing when it does not compile or defines no s."""
    headers = []
    source = rng.choice(["a.c", "a.cpp"])
    for name in ["x.h", "y.h"][:rng.randint(0, 2)]:
        (folder / name).write_text("\n".join(header(rng, name, list(headers))) + "\n")
        headers.append(name)
    (folder / source).write_text("\n".join(["#define API"] + body(rng, headers, 0)) + "\n")
    words = ["-w", "-fno-common", *(f"-D{name}{rng.choice(['', '=0', '=2'])}" for name in "ABC" if rng.random() < 0.45)]
    words += rng.sample(["-U__linux__", "-Iinclude"], rng.choice([0, 0, 1, 2]))
    for name in rng.sample("ABC", rng.randint(0, 2)):
        (folder / "include").mkdir(exist_ok=True)
        (folder / "include" / f"{name}.h").write_text("")
    command = ["gcc" if source == "a.c" else "g++", *words, source]
    if run([*command, "-MD", "-c", "-o", "a.o"], folder).returncode == 0 and re.search(r" [BDRG] s$", run(["gcc-nm", "a.o"], folder).stdout, re.M):
        return command


def ask(folder, seed):
    """What is presented as certain, and the truth."""
    command = write(folder, random.Random(seed))
    if command is None:
        return None
    answer = json.loads(run([SITE_OF, "--folder", str(folder), "--depfile", "a.d", "s:v"], folder).stdout)["definitions"]
    certain = [one["at"] for one in answer if one["certain"]] if len(answer) == 1 else []
    return [[os.path.relpath(folder / file, folder), line] for file, line in certain], definitions(run([*command, "-E"], folder).stdout), command


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folders = [tmp_path_factory.mktemp("case") for _ in range(COUNT)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = list(pool.map(ask, folders, range(SEED * 100003, SEED * 100003 + COUNT)))
    return [(folder, *one) for folder, one in zip(folders, asked) if one]


def test_nothing_wrong_is_certain(answers):
    wrong = [answer for answer in answers if answer[1] and answer[1] != answer[2]]
    assert not wrong, wrong


def place_by_debug_info(folder, seed):
    """As debug info and the sources say it: nothing, or the place and the truth."""
    command = write(folder, random.Random(seed))
    if command is None:
        return None
    rng = random.Random(seed)
    compiler = [rng.choice({"gcc": ["gcc", "gcc", "clang"], "g++": ["g++", "clang++"]}[command[0]]), *command[1:]]
    (folder / "a.d").unlink()
    run([*compiler, *rng.choice([["-g"], ["-g", "-O2"], ["-g3"], ["-g", "-MD"]]), "-c", "-o", "a.o"], folder)
    (folder / "b.c").write_text("int s = 5;\n")
    run(["gcc", "-c", "b.c"], folder)
    document = json.loads(run([os.environ["ELFAUDIT"], "check", "--format", "json", "a.o", "b.o"], folder).stdout)
    places = [[site.get("file"), site.get("line")] for finding in document["findings"] for site in finding["sites"] if site["path"] == "a.o"]
    return places, definitions(run([*compiler, "-E"], folder).stdout), compiler


def test_debug_info_and_sources(tmp_path):
    """GCC describes a variable of C by its first declaration, which may define nothing."""
    folders = [tmp_path / str(seed) for seed in range(COUNT // 2)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = list(filter(None, pool.map(place_by_debug_info, folders, range(SEED * 200003, SEED * 200003 + len(folders)))))
    known = [(place, truth, compiler) for places, truth, compiler in asked for place in places if place[0]]
    print(f"{len(known)} known of {len(asked)}")
    wrong = [one for one in known if one[0] not in one[1]]
    assert not wrong, wrong
    assert len(known) > 0.7 * len(asked)


def test_much_is_certain_and_much_is_not(answers):
    certain = sum(1 for answer in answers if answer[1])
    print(f"{certain} certain of {len(answers)}")
    if len(answers) < 20:
        pytest.skip(f"{len(answers)} programs say nothing of a part")
    assert len(answers) / 5 < certain < len(answers) * 4 / 5
