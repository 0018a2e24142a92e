"""Linkers and compilers that have started: see fork_server.cpp, whose library FORK_SERVER names. Without it, and with a
program that can't be stopped before its main, each run starts the program."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading

LIBRARY = os.environ.get("FORK_SERVER")
SLOW_TO_START = re.compile(r"(ld\.lld|clang|clang\+\+)(-\d+)?")
LONGEST_REQUEST = 1 << 14  # bytes of words, a quarter of what fork_server.cpp has room for
servers = threading.local()  # by program, its socket and process or None: one run at a time each


def run(command, folder, environment, limit=None):
    """(exit code, standard output, standard error) of a command that has no input, or None where no server runs it. Raises
    subprocess.TimeoutExpired after so many seconds, and the run ends."""
    served = LIBRARY and SLOW_TO_START.fullmatch(command[0]) and sum(map(len, command)) < LONGEST_REQUEST
    known = served and started(command[0], environment)
    if not known:
        return None
    server, process = known
    server.settimeout(limit)
    outputs = [os.memfd_create(name) for name in ("output", "error")]
    try:
        socket.send_fds(server, [b"".join(os.fsencode(word) + b"\0" for word in [str(folder), *command])], outputs)
        status = server.recv(4)
        if not status:
            raise ConnectionResetError
        said = [os.pread(output, os.fstat(output).st_size, 0).decode(errors="replace") for output in outputs]
        return os.waitstatus_to_exitcode(int.from_bytes(status, "little")), *said
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        server.close()
        del servers.known[command[0]]
        raise subprocess.TimeoutExpired(command, limit) from None
    except ConnectionError:
        server.close()
        servers.known[command[0]] = None
        return None
    finally:
        for output in outputs:
            os.close(output)


def started(program, environment):
    known = vars(servers).setdefault("known", {})
    if program not in known and shutil.which(program, path=environment.get("PATH")):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(LIBRARY) as library:  # by number: a space in a name of LD_PRELOAD ends it
            more = {"LD_PRELOAD": f"/proc/self/fd/{library.fileno()}", "LD_BIND_NOW": "1", "FORK_SERVER_SOCKET": str(theirs.fileno())}
            process = subprocess.Popen(
                [program], start_new_session=True, env={**environment, **more}, pass_fds=[theirs.fileno(), library.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        known[program] = ours, process
    return known.get(program)
