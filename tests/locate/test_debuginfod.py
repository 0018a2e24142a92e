"""Debug info that is not installed, and that a server has: --debuginfod."""

import ctypes.util
import http.server
import re
import shutil
import threading
import time

import pytest

from elfaudit_test import ENVIRONMENT, need

need("g++", "objcopy", "strip", "readelf")
if ctypes.util.find_library("debuginfod") is None:
    pytest.skip("needs libdebuginfod, of elfutils", allow_module_level=True)

SOURCE = "struct %s S { int a; %s b; };\ninline S state;\nS *%s() { return &state; }\n"


class Server:
    """What debuginfod answers: /buildid/ID/debuginfo (debuginfod(8), WEBAPI)."""

    def __init__(self):
        self.files, self.asked, self.seconds = {}, [], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                time.sleep(outer.seconds)
                content = outer.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *words):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server():
    served = Server()
    yield served
    served.http.shutdown()


def build_id(lab, file):
    return re.search("Build ID: ([0-9a-f]+)", lab.sh(f"readelf -nW {file}").out).group(1)


def strip(lab, server, name, *, link):
    """Moves the library's debug info to the server; `link`: the library names the file that it was in."""
    lab.sh(f"objcopy --only-keep-debug lib{name}.so lib{name}.debug && strip lib{name}.so")
    if link:
        lab.sh(f"objcopy --add-gnu-debuglink=lib{name}.debug lib{name}.so")
    debug = lab.path / f"lib{name}.debug"
    path = f"/buildid/{build_id(lab, f'lib{name}.so')}/debuginfo"
    server.files[path] = debug.read_bytes()
    debug.unlink()
    return path


@pytest.fixture
def libraries(lab):
    """Two shared objects that export two layouts of S, which debug info alone shows."""
    for name, kind in (("a", "int"), ("b", "float")):
        lab.write(f"{name}.cpp", SOURCE % ("", kind, name))
        lab.sh(f"g++ -std=c++17 -g -fPIC -shared -Wl,--build-id {name}.cpp -o lib{name}.so")
    return lab


@pytest.fixture
def audit(lab, monkeypatch):
    """Of liba.so and libb.so; `url`: of the server."""

    def audited(url, *options):
        monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_URLS", url)
        monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_CACHE_PATH", str(lab.path / "cache"))
        return lab.audit("check", "--format", "json", "--enable", "divergent-definition", *options, "liba.so", "libb.so")

    return audited


def found(result):
    return [(f["rule"], f["symbol"]) for f in result.json()["findings"]]


@pytest.mark.parametrize("link", [False, True], ids=["build id alone", ".gnu_debuglink"])
def test_types_from_a_server(libraries, server, audit, link):
    paths = [strip(libraries, server, name, link=link) for name in ("a", "b")]
    assert found(audit(server.url)) == [] and server.asked == []  # off by default
    result = audit(server.url, "--debuginfod")
    assert found(result) == [("divergent-definition", "S")]
    assert set(server.asked) == set(paths)
    server.asked.clear()
    assert found(audit(server.url, "--debuginfod")) == [("divergent-definition", "S")]
    assert server.asked == []  # the client's cache


@pytest.mark.deep
@pytest.mark.skipif(shutil.which("dwz") is None, reason="needs dwz")
def test_what_dwz_has_moved_from_a_server(libraries, server, audit):
    libraries.sh("dwz -m common.debug liba.so libb.so")
    common = libraries.path / "common.debug"
    path = f"/buildid/{build_id(libraries, 'common.debug')}/debuginfo"
    server.files[path] = common.read_bytes()
    common.unlink()
    assert found(audit(server.url)) == []
    server.seconds = 2  # meanwhile the other reader wants the same file
    assert found(audit(server.url, "--debuginfod", "--jobs", "2")) == [("divergent-definition", "S")]
    assert server.asked == [path]


def test_a_run_that_asked_is_made_again(libraries, server, audit):
    paths = [strip(libraries, server, name, link=True) for name in ("a", "b")]
    contents = {path: server.files.pop(path) for path in paths}
    options = ("--debuginfod", "--cache", "runs")
    assert found(audit(server.url, *options)) == []
    server.files.update(contents)
    libraries.sh("rm -rf cache")  # where the client keeps that nothing was found
    assert found(audit(server.url, *options)) == [("divergent-definition", "S")]


@pytest.mark.deep
@pytest.mark.parametrize("content", [b"", b"not an ELF file", None], ids=["empty", "text", "of another build"])
def test_what_a_server_has_must_be_of_that_build(libraries, server, audit, content):
    paths = [strip(libraries, server, name, link=True) for name in ("a", "b")]
    other = server.files[paths[1]] if content is None else content
    server.files[paths[0]] = other
    result = audit(server.url, "--debuginfod")
    assert found(result) == [] and result.code == 0


def test_why_there_is_none(libraries, server, monkeypatch):
    """The reason stands where the place would."""
    strip(libraries, server, "a", link=True)
    server.files.clear()
    monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_CACHE_PATH", str(libraries.path / "cache"))

    def reason(url, *options):
        monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_URLS", url)
        return libraries.audit("explain", *options, "state", "liba.so").out

    missing = "debug info is in liba.debug, which is missing"
    assert missing + ", no depfile" in reason(server.url)
    assert missing + "; no server of DEBUGINFOD_URLS has it" in reason(server.url, "--debuginfod")
    libraries.sh("rm -rf cache")  # the client keeps for a while that there is none
    assert missing + "; DEBUGINFOD_URLS names no server" in reason("", "--debuginfod")


def test_a_place_from_a_server(libraries, server, monkeypatch):
    strip(libraries, server, "a", link=False)
    monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_URLS", server.url)
    monkeypatch.setitem(ENVIRONMENT, "DEBUGINFOD_CACHE_PATH", str(libraries.path / "cache"))
    assert "a.cpp:2 (debug info)" in libraries.audit("explain", "--debuginfod", "state", "liba.so").out
