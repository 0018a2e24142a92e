"""Finds and runs the elfaudit program."""

import os
import shutil
import subprocess
import sysconfig
from typing import Any, List, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]


class ElfauditError(RuntimeError):
    """The program is not there, or could not do what it was asked: what it said on standard error."""


def program() -> str:
    """The path of the elfaudit program: $ELFAUDIT, the one installed with this package, else the one in PATH."""
    named = os.environ.get("ELFAUDIT")
    installed = os.path.join(sysconfig.get_path("scripts"), "elfaudit")
    found = shutil.which(named or (installed if os.access(installed, os.X_OK) else "elfaudit"))
    if found:
        return os.path.abspath(found)
    if named:
        raise ElfauditError(f"$ELFAUDIT names no program: {named}")
    raise ElfauditError("the elfaudit program is not installed: install elfaudit's wheel, or name the program in $ELFAUDIT")


def output_of(words: Sequence[Path], cwd: Optional[Path] = None, text: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    """Runs the program with these words, `text` as its standard input, and keeps what it prints."""
    command: List[str] = [program(), *(os.fspath(word) for word in words)]
    standard_input: Any = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                              **standard_input)
    except OSError as error:
        raise ElfauditError(f"{error.filename or command[0]}: {error.strerror}") from None
