"""`python -m elfaudit` runs the program: the same arguments, output and exit code."""

import os
import sys

from ._program import ElfauditError, program

try:
    os.execv(program(), ["elfaudit", *sys.argv[1:]])
except (ElfauditError, OSError) as error:
    print(f"elfaudit: {error}", file=sys.stderr)
    sys.exit(2)
