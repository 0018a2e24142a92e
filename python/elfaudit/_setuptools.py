"""The command class that audits what an extension module is linked from, between its compilation and its link."""

import os
import subprocess
from typing import Any, Callable, List, Optional, Sequence, Type

from ._api import check
from ._program import ElfauditError, program
from ._types import Report

try:
    from setuptools.errors import LinkError as _BuildError  # type: ignore[import-untyped,unused-ignore]  # what setuptools reports in one line, without a traceback
except ImportError:
    _BuildError = RuntimeError  # type: ignore[assignment,misc,unused-ignore]


class AuditFailed(_BuildError):  # type: ignore[misc,unused-ignore]
    """The link has findings, or could not be audited. `report`: what was found, if it could be."""

    report: Optional[Report] = None


def audited(build_ext: Type[Any], options: Sequence[str] = (), gate: bool = True) -> Type[Any]:
    """A build_ext command that audits each link before it is made.

    options: more words for `elfaudit check`, such as ["--gpu-arch", "9.0a"]; words in $ELFAUDIT_OPTIONS are added.
    gate: whether findings stop the build; else they are only printed.
    """

    class Audited(build_ext):  # type: ignore[misc]
        def build_extension(self, ext: Any) -> Any:
            compiler = self.compiler
            plain_link = compiler.link_shared_object

            def link_shared_object(objects: Any, output: str, *args: Any, **kwargs: Any) -> Any:
                before = _changed(output)
                with _Watched(compiler, lambda command: _audit(command, options, gate)) as watched:
                    outcome = plain_link(objects, output, *args, **kwargs)
                if not watched.commands and _changed(output) != before:
                    raise AuditFailed(f"{output} was linked in a way that elfaudit doesn't know, and not audited")
                return outcome

            compiler.link_shared_object = link_shared_object
            try:
                return super().build_extension(ext)
            finally:
                compiler.link_shared_object = plain_link

    Audited.__name__ = build_ext.__name__  # setuptools names commands by their class
    return Audited


class _Watched:
    """Hands each command that a compiler object is about to run to `see`, once."""

    # Newer versions of setuptools (84 does) run `call` where others run `spawn`, which they still have.
    METHODS = ("spawn", "call")

    def __init__(self, compiler: Any, see: Callable[[List[str]], None]) -> None:
        self.compiler, self.see = compiler, see
        self.commands: List[List[str]] = []

    def __enter__(self) -> "_Watched":
        self.plain = {name: getattr(self.compiler, name) for name in self.METHODS if hasattr(self.compiler, name)}
        for name, run in self.plain.items():
            setattr(self.compiler, name, self._watch(run))
        return self

    def __exit__(self, *_: Any) -> None:
        for name, run in self.plain.items():
            setattr(self.compiler, name, run)

    def _watch(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(command: Any, *args: Any, **kwargs: Any) -> Any:
            words = list(map(str, command))
            if words not in self.commands:
                self.commands.append(words)
                self.see(words)
            return run(command, *args, **kwargs)

        return watched


def _changed(path: str) -> Optional[int]:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _audit(command: List[str], options: Sequence[str], gate: bool) -> None:
    words = ["--one-link", *options, *os.environ.get("ELFAUDIT_OPTIONS", "").split()]
    try:
        outcome = subprocess.run([program(), "check", *words, "--", *command])
    except (ElfauditError, OSError) as error:
        raise AuditFailed(str(error)) from None
    if not gate or outcome.returncode == 0:
        return
    link, code = f"the link of {_output(command)}", outcome.returncode
    says = f"{link} has findings" if code == 1 else f"the audit of {link} could not be done, or not finished"
    failure = AuditFailed(f"{says}: see above (elfaudit's exit code {code})")
    failure.report = _report_on(command, words)
    raise failure


def _report_on(command: List[str], words: List[str]) -> Optional[Report]:
    """For a caller that catches the failure; what was printed is for people."""
    skip = {i + n for i, word in enumerate(words) if word == "--format" for n in (0, 1)}
    options = [word for i, word in enumerate(words) if i not in skip and not word.startswith("--format=")]
    try:
        return check(command=command, options=options)
    except ElfauditError:
        return None


def _output(command: List[str]) -> str:
    return command[command.index("-o") + 1] if "-o" in command[:-1] else "the extension module"
