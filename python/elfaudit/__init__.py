"""Audits what an extension module is linked from, between its compilation and its link.

    from torch.utils.cpp_extension import BuildExtension       # or: from setuptools.command.build_ext import build_ext
    import elfaudit
    setup(..., cmdclass={"build_ext": elfaudit.audited(BuildExtension)})

The link command that setuptools would run is handed to `elfaudit check -- COMMAND`, word for word, after everything is
compiled (torch's device link included). Findings stop the build before the linker does, with header and line.
"""

import os
import shutil
import subprocess
import sysconfig

try:
    from setuptools.errors import LinkError as _BuildError  # what setuptools reports in one line, without a traceback
except ImportError:
    _BuildError = RuntimeError

__all__ = ["AuditFailed", "audited", "program"]


class AuditFailed(_BuildError):
    """The link has findings, or could not be audited."""


def program():
    """The path of the elfaudit program: $ELFAUDIT, the one installed with this package, else the one in PATH."""
    named = os.environ.get("ELFAUDIT")
    installed = os.path.join(sysconfig.get_path("scripts"), "elfaudit")
    found = named or (installed if os.access(installed, os.X_OK) else shutil.which("elfaudit"))
    if not found:
        raise AuditFailed("the elfaudit program is not installed: pip install elfaudit, or name it in $ELFAUDIT")
    return found


def audited(build_ext, options=(), gate=True):
    """A build_ext command that audits each link before it is made.

    options: more words for `elfaudit check`, such as ["--gpu-arch", "9.0a"]; words in $ELFAUDIT_OPTIONS are added.
    gate: whether findings stop the build; else they are only printed.
    """

    class Audited(build_ext):
        def build_extension(self, ext):
            compiler = self.compiler
            plain_link = compiler.link_shared_object

            def link_shared_object(objects, output, *args, **kwargs):
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

    def __init__(self, compiler, see):
        self.compiler, self.see, self.commands = compiler, see, []

    def __enter__(self):
        self.plain = {name: getattr(self.compiler, name) for name in self.METHODS if hasattr(self.compiler, name)}
        for name, run in self.plain.items():
            setattr(self.compiler, name, self._watch(run))
        return self

    def __exit__(self, *_):
        for name, run in self.plain.items():
            setattr(self.compiler, name, run)

    def _watch(self, run):
        def watched(command, *args, **kwargs):
            words = list(map(str, command))
            if words not in self.commands:
                self.commands.append(words)
                self.see(words)
            return run(command, *args, **kwargs)

        return watched


def _changed(path):
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _audit(command, options, gate):
    words = [*options, *os.environ.get("ELFAUDIT_OPTIONS", "").split()]
    outcome = subprocess.run([program(), "check", "--one-link", *words, "--", *command])
    if gate and outcome.returncode != 0:
        link, code = f"the link of {_output(command)}", outcome.returncode
        says = f"{link} has findings" if code == 1 else f"the audit of {link} could not be done, or not finished"
        raise AuditFailed(f"{says}: see above (elfaudit's exit code {code})")


def _output(command):
    return command[command.index("-o") + 1] if "-o" in command[:-1] else "the extension module"
