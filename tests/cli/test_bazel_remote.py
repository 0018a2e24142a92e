"""integrations/bazel where a remote-execution service runs all actions: facts and verdicts are made there, and no object comes back."""

import collections
import os

import pytest

from bazel_workspace import Bazel, need_bazel
from remote_execution import RemoteExecution, need_remote_execution

need_bazel()
need_remote_execution()

OBJECTS = int(os.environ.get("REMOTE_OBJECTS", "20"))  # of the program; 200 are 10 libraries of 20
LIBRARIES = 10
PER_LIBRARY = max(1, OBJECTS // LIBRARIES)

# As much as an object of a usual C++ program has: templates, strings, debug info.
SOURCE = """#include "l{library}.h"
#include <map>
#include <string>
#include <vector>
int f{library}_{number}(int n) {{
  std::map<std::string, std::vector<int>> lists;
  for (int i = 0; i < n; i++) lists[std::to_string(i % {number} + 2)].push_back(i + {library});
  return static_cast<int>(lists.size());
}}
"""


def sources():
    files, build = {}, ""
    for library in range(LIBRARIES):
        numbers = range(1, PER_LIBRARY + 1)
        files |= {f"main/f{library}_{number}.cc": SOURCE.format(library=library, number=number) for number in numbers}
        files[f"main/l{library}.h"] = "#pragma once\n" + "".join(f"int f{library}_{number}(int n);\n" for number in numbers)
        names = [f"f{library}_{number}.cc" for number in numbers]
        build += f'cc_library(name = "l{library}", srcs = {names}, hdrs = ["l{library}.h"])\n'
    calls = " + ".join(f"f{library}_{number}(9)" for library in range(LIBRARIES) for number in range(1, PER_LIBRARY + 1))
    includes = "".join(f'#include "l{library}.h"\n' for library in range(LIBRARIES))
    build += f'cc_binary(name = "app", srcs = ["main.cc"], deps = {[f":l{library}" for library in range(LIBRARIES)]})\n'
    return {**files, "main/main.cc": f"{includes}int main() {{ return {calls}; }}\n", "main/BUILD": build}


class Client:
    """Bazel as a client of the service: what a build ran there, and what came back."""

    def __init__(self, folder):
        self.service = RemoteExecution()
        self.bazel = Bazel(folder, sources(), self.service.client_options())

    def build(self, *words):
        """Of the program, and its audit."""
        before, fetched = len(self.service.actions()), self.service.counted.fetched
        result = self.bazel("build", *words, "//:app")
        result.ran = self.service.actions()[before:]
        result.kinds = collections.Counter(map(kind_of, result.ran))
        result.fetched = self.service.counted.fetched - fetched
        return result

    def outputs(self):
        """The paths of all files that lie at the client, of those that actions make."""
        folder = self.bazel.main.path / "bazel-out"
        return [os.path.join(parent, name) for parent, _, names in os.walk(folder.resolve()) for name in names]

    def end(self):
        try:
            self.bazel.end()
        finally:
            self.service.end()


def kind_of(action):
    words = action["words"]
    if any(word.endswith("/elfaudit") for word in words):
        return "index" if "index" in words else "check"
    return "compile" if "-c" in words else "archive" if words[0].endswith("ar") else "link"


def bytes_of_objects(actions):
    return sum(size for action in actions for path, size in action["outputs"].items() if path.endswith(".o"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The client, with the program built and audited once, and without its audit before that."""
    client = Client(tmp_path_factory.mktemp("client"))
    try:
        audited, client.bazel.options = client.bazel.options, [word for word in client.bazel.options if "--aspects" not in word]
        client.plain = client.build()
        assert client.plain.code == 0, client.plain
        client.bazel.options = audited
        client.first = client.build()
        assert client.first.code == 0, client.first
        yield client
    finally:
        client.end()


def test_the_audit_fetches_no_object(built):
    objects = LIBRARIES * PER_LIBRARY + 1
    assert built.plain.kinds["compile"] == objects, built.plain.kinds
    assert built.first.kinds["check"] == 1 and built.first.kinds["index"] > 0 and built.first.kinds["compile"] == 0, built.first.kinds
    whole = bytes_of_objects(built.plain.ran)
    print(f"{objects} objects of {whole:,} bytes; the audit fetched {built.first.fetched:,}, {built.first.fetched / whole:.2%}")
    assert not [path for path in built.outputs() if path.endswith((".o", ".a", ".facts"))]
    assert built.first.fetched < 0.02 * whole


def test_a_second_run_executes_nothing(built):
    again = built.build()
    assert again.code == 0 and again.ran == [] and again.actions == [], again


def test_a_fresh_client_executes_nothing(built):
    built.bazel("clean")
    fresh = built.build()
    assert fresh.code == 0 and fresh.ran == [], fresh.kinds
    assert fresh.count["ElfauditCheck"] == 1 and {action["runner"] for action in fresh.actions} == {"remote cache hit"}


def test_one_source_changed_is_one_index_and_one_check(built):
    built.bazel.put("f3_1.cc", "% 1 + 2", "% 1 + 3")
    changed = built.build()
    built.bazel.restore()
    assert changed.code == 0 and {kind: changed.kinds[kind] for kind in ("compile", "index", "check")} == {"compile": 1, "index": 1, "check": 1}


def test_a_duplicate_is_found_there(built):
    built.bazel.put("f3_1.cc", "int f3_1", "int state;\nint f3_1")
    built.bazel.put("f4_1.cc", "int f4_1", "int state = 1;\nint f4_1")
    failed = built.build("--output_groups=elfaudit")
    built.bazel.restore()
    assert failed.code == 1 and "state is defined twice [duplicate-definition]" in failed.err, failed
    assert "f3_1.cc:5" in failed.err and "f4_1.cc:5" in failed.err, failed.err
    assert failed.kinds["link"] == 0 and not [path for path in built.outputs() if path.endswith(".o")]
