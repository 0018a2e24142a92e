"""Linkers and compilers that have started: see fork_server.cpp, whose library FORK_SERVER names."""

import os
import re
import shutil
import socket
import subprocess
import threading

LIBRARY = os.environ.get("FORK_SERVER")
SLOW_TO_START = re.compile(r"(ld\.lld|clang|clang\+\+)(-\d+)?")
LONGEST_REQUEST = 1 << 16  # bytes
servers = threading.local()  # by program: one run at a time each


def serves(command):
    return LIBRARY and SLOW_TO_START.fullmatch(command[0]) and shutil.which(command[0]) and sum(map(len, command)) < LONGEST_REQUEST // 4


def run(command, folder, environment):
    """(exit code, standard output, standard error) of a command, which has no input."""
    outputs = [os.memfd_create(name) for name in ("output", "error")]
    try:
        server = started(command[0], environment)
        words = b"".join(os.fsencode(word) + b"\0" for word in [str(folder), *command])
        socket.send_fds(server, [words], outputs)
        status = int.from_bytes(server.recv(4), "little")
        said = (os.pread(output, os.fstat(output).st_size, 0).decode(errors="replace") for output in outputs)
        return os.waitstatus_to_exitcode(status), *said
    finally:
        for output in outputs:
            os.close(output)


def started(program, environment):
    known = vars(servers).setdefault("known", {})
    if program not in known:
        known[program], theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            more = {"LD_PRELOAD": LIBRARY, "LD_BIND_NOW": "1", "FORK_SERVER_SOCKET": str(theirs.fileno())}
            subprocess.Popen([program], env={**environment, **more}, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    return known[program]
