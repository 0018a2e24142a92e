"""remote_worker.py SERVER FOLDER N: N workers of a remote-execution service, over the Remote Workers API, for tests alone.

Each takes one action at a time, lays its inputs into a fresh folder, runs the command there with the environment that it names,
and answers with the outputs. What ran is listed in FOLDER/actions.jsonl. Nothing keeps a command from the rest of the machine."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as execution
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as execution_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc

PIECE = 1 << 20  # bytes a message; the server takes 4 MiB
LONGEST = 600  # seconds an action
INTERNAL = 13  # of google.rpc.Code


def digest_of(data):
    return execution.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


class Store:
    """The service's blobs, with those seen so far kept as files."""

    def __init__(self, channel, folder):
        self.cas = execution_grpc.ContentAddressableStorageStub(channel)
        self.stream = bytestream_pb2_grpc.ByteStreamStub(channel)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()

    def file(self, digest, executable=False):
        kept = self.folder / (digest.hash + (".x" if executable else ""))
        if not kept.exists():
            request = bytestream_pb2.ReadRequest(resource_name=f"blobs/{digest.hash}/{digest.size_bytes}")
            data = b"".join(answer.data for answer in self.stream.Read(request)) if digest.size_bytes else b""
            assert digest_of(data) == digest, f"blob {digest.hash}: not what its name says"
            kept.write_bytes(data)
            kept.chmod(0o555 if executable else 0o444)
        return kept

    def read(self, digest):
        return self.file(digest).read_bytes()

    def put(self, blobs):
        named = {digest.hash: (digest, data) for digest, data in ((digest_of(data), data) for data in blobs)}
        missing = self.cas.FindMissingBlobs(execution.FindMissingBlobsRequest(blob_digests=[digest for digest, _ in named.values()]))
        for digest in missing.missing_blob_digests:
            data, name = named[digest.hash][1], f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"
            self.stream.Write(
                bytestream_pb2.WriteRequest(resource_name=name, write_offset=at, data=data[at : at + PIECE], finish_write=at + PIECE >= len(data))
                for at in range(0, max(len(data), 1), PIECE)
            )


def lay(store, digest, folder):
    """The inputs, as links to what is kept."""
    directory = execution.Directory.FromString(store.read(digest))
    folder.mkdir(exist_ok=True)
    for file in directory.files:
        os.link(store.file(file.digest, file.is_executable), folder / file.name)
    for link in directory.symlinks:
        os.symlink(link.target, folder / link.name)
    for below in directory.directories:
        lay(store, below.digest, folder / below.name)


def execute(store, action, root):
    """The answer, and the line about it."""
    command = execution.Command.FromString(store.read(action.command_digest))
    lay(store, action.input_root_digest, root)
    at = root / command.working_directory
    outputs = list(command.output_paths) or [*command.output_files, *command.output_directories]
    for path in outputs:
        (at / path).parent.mkdir(parents=True, exist_ok=True)
    environment = {each.name: each.value for each in command.environment_variables}
    done = subprocess.run(
        list(command.arguments), cwd=at, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=action.timeout.seconds or LONGEST
    )
    blobs = [done.stdout, done.stderr]
    result = execution.ActionResult(exit_code=done.returncode, stdout_digest=digest_of(done.stdout), stderr_digest=digest_of(done.stderr))
    sizes = {}
    for path in outputs:
        assert not (at / path).is_dir(), f"{path} is a folder: not known here"
        if (at / path).is_file():
            blobs.append((at / path).read_bytes())
            sizes[path] = len(blobs[-1])
            result.output_files.add(path=path, digest=digest_of(blobs[-1]), is_executable=os.access(at / path, os.X_OK))
    store.put(blobs)
    return result, {"words": list(command.arguments), "exit": done.returncode, "outputs": sizes}


def complete(lease, store, folder, log):
    root = pathlib.Path(tempfile.mkdtemp(dir=folder))
    try:
        digest = execution.Digest()
        action = execution.Action()
        if not lease.payload.Unpack(action):
            lease.payload.Unpack(digest)
            action = execution.Action.FromString(store.read(digest))
        result, line = execute(store, action, root)
        lease.result.Pack(result)
        log(line)
    except Exception as error:  # else the build waits for ever
        lease.status.code, lease.status.message = INTERNAL, f"worker: {error!r}"
        print(lease.status.message, file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(root)
    lease.state = bots_pb2.COMPLETED


def work(server, folder, name, log):
    channel = grpc.insecure_channel(server, options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)])
    bots, store = bots_pb2_grpc.BotsStub(channel), Store(channel, folder / f"blobs-{name}")
    session = bots_pb2.BotSession(bot_id=f"{name}-{os.getpid()}", status=bots_pb2.OK)
    session.worker.devices.add(handle="host").properties.add(key="OSFamily", value="linux")
    session = bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=10)
    while True:
        for lease in session.leases:
            if lease.state == bots_pb2.ACTIVE:
                complete(lease, store, folder, log)
        try:
            session = bots.UpdateBotSession(bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=30)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED:
                raise


def main(server, folder, count):
    folder, lock = pathlib.Path(folder), threading.Lock()

    def log(line):
        with lock, open(folder / "actions.jsonl", "a") as lines:
            lines.write(json.dumps(line) + "\n")

    threads = [threading.Thread(target=work, args=(server, folder, f"worker{i}", log), daemon=True) for i in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main(*sys.argv[1:])
