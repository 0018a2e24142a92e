"""check(), explain() and diagnose(): the program's commands with objects as their answer."""

import json
import os
from typing import Any, Dict, List, Optional, Sequence

from ._program import ElfauditError, Path, output_of
from ._types import Diagnosis, Report, Symbol, from_json


def _inputs(files: Sequence[Path], command: Sequence[str], build: Optional[Path], options: Sequence[str]) -> List[Path]:
    if isinstance(files, str) or isinstance(command, str):
        raise TypeError("files and command are lists of words, not one string")
    words: List[Path] = [*options, "--format", "json"]
    if build is not None:
        words += ["-p", build]
    return [*words, *map(_operand, files), *(["--", *command] if command else [])]


def _operand(file: Path) -> str:
    """A file called "-x" is not an option."""
    name = os.fspath(file)
    return os.path.join(os.curdir, name) if name.startswith("-") else name


def _document(words: Sequence[Path], cwd: Optional[Path], text: Optional[str] = None) -> Dict[str, Any]:
    done = output_of(words, cwd, text)
    try:
        document: Dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise ElfauditError(done.stderr.strip() or f"elfaudit ended with code {done.returncode}") from None
    return {**document, "exit_code": done.returncode}


def check(files: Sequence[Path] = (), *, command: Sequence[str] = (), build: Optional[Path] = None,
          options: Sequence[str] = (), cwd: Optional[Path] = None) -> Report:
    """What `elfaudit check` finds.

    files: objects, archives, shared objects, wheels and directories, or with `build` names of targets.
    command: a link command, word for word.
    build: the folder of a Ninja or CMake build, whose links are audited.
    options: more words for the program, without --format: ["--gpu-arch", "9.0a", "--no-config"].
    cwd: the working directory, from which paths start.

    Raises ElfauditError where there is nothing to report on. What could not be read is a finding, and
    Report.complete is False.
    """
    return from_json(Report, _document(["check", *_inputs(files, command, build, options)], cwd))


def explain(symbol: str, files: Sequence[Path] = (), *, command: Sequence[str] = (), build: Optional[Path] = None,
            options: Sequence[str] = (), cwd: Optional[Path] = None) -> List[Symbol]:
    """All that is known of the symbols that `symbol` names, in any spelling: one answer a symbol and link.

    The other arguments are check()'s. Raises ElfauditError, which names similar ones, where no input mentions it.
    """
    document = _document(["explain", symbol, *_inputs(files, command, build, options)], cwd)
    return [from_json(Symbol, one) for one in document["symbols"]]


def diagnose(log: Optional[Path] = None, *, text: Optional[str] = None, options: Sequence[str] = (),
             cwd: Optional[Path] = None) -> Diagnosis:
    """What a failed build's log means: a file, or the text itself. Raises ElfauditError for one that can't be read."""
    if (log is None) == (text is None):
        raise TypeError("diagnose() takes a log or its text")
    return from_json(Diagnosis, _document(["diagnose", *options, "--format", "json", "-" if log is None else _operand(log)], cwd, text))
