"""elfaudit from Python.

    import elfaudit
    for finding in elfaudit.check(["a.o", "b.o"]).findings:
        print(finding.message, finding.place)

check(), explain() and diagnose() run the program and give its answer as objects.

audited() makes a setuptools command that audits what an extension module is linked from, between its compilation and its link:

    from torch.utils.cpp_extension import BuildExtension       # or: from setuptools.command.build_ext import build_ext
    import elfaudit
    setup(..., cmdclass={"build_ext": elfaudit.audited(BuildExtension)})

The link command that setuptools would run is handed to `elfaudit check -- COMMAND`, word for word, after everything is
compiled (torch's device link included). Findings stop the build before the linker does, with header and line.
"""

from ._api import check, diagnose, explain
from ._program import ElfauditError, program
from ._setuptools import AuditFailed, audited
from ._types import (Cause, Diagnosis, Duplicate, Extracted, Finding, Fix, Input, Link, LogError, LogLink, LogSite, Nearby, Package,
                     Relocation, Report, Site, Step, Symbol, Use)

__all__ = ["AuditFailed", "Cause", "Diagnosis", "Duplicate", "ElfauditError", "Extracted", "Finding", "Fix", "Input", "Link", "LogError",
           "LogLink", "LogSite", "Nearby", "Package", "Relocation", "Report", "Site", "Step", "Symbol", "Use", "audited", "check",
           "diagnose", "explain", "program"]
