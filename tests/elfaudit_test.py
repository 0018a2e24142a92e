"""Helpers of the Python tests: a folder to make inputs in with the real tools, and the program run on them.

    def test_two_definitions(lab):
        lab.cc("a.o", "int state;", "g++ -g")
        lab.cc("b.o", "int state;")
        result = lab.audit("check", "a.o", "b.o")
        assert result.code == 1 and "state is defined twice" in result.out
"""

import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

SOURCE_DIR = pathlib.Path(os.environ.get("ELFAUDIT_SOURCE_DIR", pathlib.Path(__file__).parent.parent))

# Where scripts/setup puts the programs that it has from pip.
TOOLS = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "elfaudit-tests" / "tools" / "bin"

# Messages of the tools are compared, so they must not be translated or coloured.
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PATH": f"{os.environ.get('PATH', os.defpath)}:{TOOLS}"}

# Which extension makes a compiler take a source for what it is.
EXTENSIONS = {"gcc": ".c", "cc": ".c", "clang": ".c", "g++": ".cpp", "c++": ".cpp", "clang++": ".cpp", "nvcc": ".cu", "as": ".s"}


def campaign(usual):
    """Returns how many random cases a test tries: `usual`, times CAMPAIGN where that is set (scripts/test --nightly)."""
    return usual * int(os.environ.get("CAMPAIGN", "1"))


def campaign_seed(usual):
    """Returns the seed of a test's random cases: `usual`, plus CAMPAIGN_SEED where that is set, to try other cases."""
    return usual + int(os.environ.get("CAMPAIGN_SEED", "0"))


def sampled(cases, one_in):
    """The parameters of a long table: one case in `one_in` is in the fast lane, half of the others in the deep lane, and the rest
    in the nightly one."""
    lanes = [() if i % one_in == 0 else pytest.mark.deep if i % 2 else pytest.mark.nightly for i in range(len(cases))]
    return [pytest.param(case, marks=lane) for case, lane in zip(cases, lanes)]


def without_undefined(report):
    """A report as it is when undefined symbols are neither listed nor counted."""
    report = "".join(line for line in report.splitlines(True) if not line.startswith("undefined: "))
    report = re.sub(r'^  "undefined": \[(\n    .*)*\s*\],\n', '  "undefined": [],\n', report, flags=re.M)
    return re.sub(r"; (\d+ symbols? undefined,|undefined symbols are) not checked[^;\n]*", "", report)


# What a command has where a shell does more with it than split it into words.
SHELL_ONLY = re.compile(r"[$`\\!*?\[\]~#&|;<>(){}\n]|^\s*\w+=")


def words_of(command):
    """The words of a command that needs no shell, whose start takes as long as that of a small program; or None."""
    words = [] if SHELL_ONLY.search(command) else shlex.split(command)
    return words if words and shutil.which(words[0], path=ENVIRONMENT["PATH"]) else None


def need(*programs):
    """Skips the test (or, called at the top of a file, the file) when one of the programs is not installed."""
    for program in programs:
        if shutil.which(program, path=ENVIRONMENT["PATH"]) is None:
            pytest.skip(f"needs {program}, which is not installed", allow_module_level=True)


@functools.cache
def is_sanitized(program):
    return b"__asan_init" in subprocess.run(["nm", program], capture_output=True).stdout


def need_plain_program(why="sanitizers want to be loaded first, and have a malloc of their own"):
    """Skips the test when the program under test was built with AddressSanitizer."""
    if is_sanitized(os.environ.get("ELFAUDIT", "")):
        pytest.skip(why)


def by_symbol(findings):
    """Each symbol's finding, whether or not it stands below another with the same cause."""
    return [each for finding in findings for each in (finding, *finding.get("also", []))]


class Result:
    """What a command left behind: exit code, standard output and standard error."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def json(self):
        return json.loads(self.out)

    def __repr__(self):  # what pytest shows when an assertion about a result fails
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def finished(command, folder, text=None, environment=ENVIRONMENT):
    """What a command, a list of words, left behind that ran in a folder and was given a text to read."""
    given = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", **given)
    return Result(done.returncode, done.stdout, done.stderr)


def output_of(command, folder, codes=(0,)):
    result = finished(command, folder)
    assert result.code in codes, f"{folder}: {command}\n{result}"
    return result.out


LIMITS = (SOURCE_DIR / "src" / "support" / "limits.def").read_text()


def limit(name):
    """Its value, from the table that the program is made with."""
    value = re.search(rf"^LIMIT\({name}, [\w:]+, ([^,]+),", LIMITS, re.M)[1]
    value = re.sub(r"std::\w+\{(\d+)\}", r"\1", value).replace("'", "")
    return eval(re.sub(r"(?<=\d)U", "", value))  # "16 << 20"


class Lab:
    """A folder of the test's own; every command runs in it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def write(self, name, text):
        """Writes a file and returns its name."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return name

    def cc(self, output, source, command="g++", check=True):
        """Compiles source text to the object `output` with a compiler command ("g++ -g -fPIC") and returns its name."""
        compiler = re.sub(r"-\d+$", "", pathlib.Path(shlex.split(command)[0]).name).split("-")[-1]
        name = self.write(str(pathlib.Path(output).with_suffix("")) + EXTENSIONS[compiler], source)
        self.sh(f"{command} {'' if compiler == 'as' else '-c'} {shlex.quote(name)} -o {shlex.quote(output)}", check)
        return output

    def ar(self, archive, *members):
        """Makes an archive of members, in that order, and returns its name."""
        (self.path / archive).unlink(missing_ok=True)
        # ar itself loads every installed plugin, for which it takes twenty times as long where LLVM's are.
        self.sh(shlex.join(["gcc-ar", "rcD", archive, *members]))
        return archive

    def sh(self, command, check=True):
        """Runs a shell command; one that fails fails the test unless `check` is off."""
        result = self._run(words_of(command) or ["bash", "-c", command])
        assert result.code == 0 or not check, f"{command}\n{result}"
        return result

    def audit(self, *arguments):
        """Runs elfaudit. A crash, or a sanitizer's report, is never what a test wants."""
        program = os.environ.get("ELFAUDIT")
        assert program, "ELFAUDIT must name the program to test (ctest sets it)"
        command = [program, *map(str, arguments)]
        result = self._run(command)
        crashed = any(words in result.err for words in ("runtime error:", "Sanitizer", "or an internal error"))
        assert result.code in (0, 1, 2) and not crashed, result
        return result

    def _run(self, command):
        return finished(command, self.path)
