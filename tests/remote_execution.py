"""A remote-execution service for tests: BuildGrid with PostgreSQL behind it, workers, and a count of the bytes that a client fetches and sends.

All of it is below one folder and on 127.0.0.1, and ends with `end()`."""

import asyncio
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from elfaudit_test import ENVIRONMENT, TOOLS, need

WORKER = pathlib.Path(__file__).parent / "remote_worker.py"
STARTS_WITHIN, ENDS_WITHIN = 60, 10  # seconds

# The smallest server that works: blobs on disk, answers beside them, one scheduler, which takes PostgreSQL alone.
SERVER = """
description: for tests
server: [!channel {address: "127.0.0.1:PORT", insecure-mode: true}]
authorization: {method: none}
connections: [!sql-connection &sql {connection-string: "DATABASE"}]
storages: [!disk-storage &cas {path: "FOLDER/cas"}]
caches:
  - !lru-action-cache &actions {storage: *cas, max-cached-refs: 100000, allow-updates: true, cache-failed-actions: false}
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *cas
    action-cache: *actions
    poll-interval: 0.1
    assigners: [!priority-age-assigner {count: 1, interval: 0.05, jitter-factor: 0.05}]
instances:
  - name: ""
    description: the only one
    services:
      - !action-cache {cache: *actions}
      - !execution {scheduler: *scheduler}
      - !cas {storage: *cas}
      - !bytestream {storage: *cas}
thread-pool-size: 100
"""


def database_programs():
    """The folder of PostgreSQL's own programs, which Debian does not put into PATH."""
    return max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def need_remote_execution():
    need("bgd", "psql")
    if database_programs() is None:
        pytest.skip("needs PostgreSQL's server, which is not installed", allow_module_level=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < end, f"nothing answers on port {port}"
            time.sleep(0.1)


class Counted:
    """Hands the connections of a port on to another, and counts the bytes, with what HTTP/2 and gRPC add to them."""

    def __init__(self, to):
        self.port, self.to, self.fetched, self.sent = free_port(), to, 0, 0
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self._serve, daemon=True).start()
        wait_for(self.port)

    def _serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", self.port))
        self.loop.run_forever()

    async def _accept(self, reader, writer):
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self._pump(reader, to_server, "sent"), self._pump(from_server, writer, "fetched"))

    async def _pump(self, reader, writer, way):
        try:
            while data := await reader.read(1 << 16):
                setattr(self, way, getattr(self, way) + len(data))
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


class RemoteExecution:
    def __init__(self, workers=2):
        # In /tmp, whatever TMPDIR says: a socket's path has 107 characters at most, and the database's user must reach it.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="elfaudit-remote-", dir="/tmp"))
        self.folder.chmod(0o711)
        self.running, self.database = [], self.folder / "database"
        self.actions_file = self.folder / "actions.jsonl"
        try:
            self._start(workers)
        except BaseException:
            self.end()
            raise

    def _start(self, workers):
        self._start_database()
        port, database = free_port(), f"postgresql+psycopg2://elfaudit@/postgres?host={self.database}"
        bgd = shutil.which("bgd", path=ENVIRONMENT["PATH"])
        self._run([bgd, "migrate", "apply", database])
        config = SERVER.replace("PORT", str(port)).replace("FOLDER", str(self.folder)).replace("DATABASE", database)
        (self.folder / "server.yml").write_text(config)
        self._begin("server", [bgd, "server", "start", self.folder / "server.yml"])
        wait_for(port)
        python = pathlib.Path(bgd).with_name("python")  # of its own environment: the worker uses its protocols
        self._begin("workers", [python, WORKER, f"127.0.0.1:{port}", self.folder, str(workers)])
        self.counted = Counted(port)

    def _start_database(self):
        self.database.mkdir()
        # Its programs refuse root.
        as_user = []
        if os.getuid() == 0:
            os.chown(self.database, pwd.getpwnam("postgres").pw_uid, -1)
            as_user = ["runuser", "-u", "postgres", "--"]
        data, programs = self.database / "data", database_programs()
        self._run([*as_user, programs / "initdb", "-D", data, "-A", "trust", "-U", "elfaudit", "--no-sync"])
        self._begin(
            "postgres",
            [*as_user, programs / "postgres", "-D", data, "-k", self.database, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"],
        )
        end = time.monotonic() + STARTS_WITHIN
        while self._run([programs / "pg_isready", "-h", self.database], check=False) != 0:
            assert time.monotonic() < end, (self.folder / "postgres.log").read_text()
            time.sleep(0.1)

    def _run(self, command, check=True):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.returncode

    def _begin(self, name, command):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.running.append(subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def client_options(self):
        """Bazel's, with nothing run at the client and no output fetched."""
        return (
            f"--remote_executor=grpc://127.0.0.1:{self.counted.port}",
            "--spawn_strategy=remote",
            "--remote_local_fallback=false",
            "--remote_download_minimal",
            "--incompatible_strict_action_env",
            "--remote_timeout=120",
            "--jobs=8",  # more than workers, or these wait for the client
        )

    def actions(self):
        """Of each action that a worker ran, a dictionary: its words, the exit code, the bytes of each output."""
        return [json.loads(line) for line in self.actions_file.read_text().splitlines()] if self.actions_file.exists() else []

    def end(self):
        for process in reversed(self.running):
            try:
                os.killpg(process.pid, signal.SIGINT)
                process.wait(ENDS_WITHIN)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
