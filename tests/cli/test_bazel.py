"""integrations/bazel: builds of a small workspace with Debian's Bazel, offline and in a sandbox that holds only declared inputs."""

import collections
import json
import os
import pathlib
import re
import shutil

import pytest

from elfaudit_test import SOURCE_DIR, Lab, need

pytestmark = pytest.mark.deep

DEBIAN = pathlib.Path("/usr/share/bazel")

# What Bazel's own tools ask for when they set up its C++ toolchain and its tests: elsewhere they are fetched.
INSTALLED = {"rules_java": "rules/java", "rules_proto": "rules/proto", "platforms": "tools/platforms", "bazel_skylib": "tools/skylib"}

# rules_cc, which Debian doesn't have: the rules of Bazel itself, under the names that its own tools load. Some only on other systems.
RULES_CC = """
cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_proto_library = native.cc_proto_library
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
cc_libc_top_alias = None
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_library = native.objc_library
cc_flags_supplier = None
compiler_flag = None
"""

STAND_INS = {
    "stand_in/rules_cc/cc/defs.bzl": RULES_CC,
    "stand_in/rules_cc/cc/BUILD": "",
    "stand_in/rules_cc/BUILD": "",
    "stand_in/rules_cc/WORKSPACE": "",
    "stand_in/coverage/BUILD": 'filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])',
    "stand_in/coverage/WORKSPACE": "",
}

WORKSPACE = f"""
local_repository(name = "rules_elfaudit", path = "{SOURCE_DIR}/integrations/bazel")
load("@rules_elfaudit//:repositories.bzl", "elfaudit_local")
elfaudit_local(name = "elfaudit_local")
"""


need("bazel", "g++")
for place in INSTALLED.values():
    if not (DEBIAN / place).is_dir():
        pytest.skip(f"needs {DEBIAN / place}, which is not installed", allow_module_level=True)


class Bazel:
    """A workspace for Debian's Bazel, offline: what Bazel's own tools load from elsewhere lies beside it, and integrations/bazel is
    its ruleset. files: those below main/, and those beside it."""

    def __init__(self, folder, files):
        self.lab, self.files = Lab(folder), {**STAND_INS, "main/WORKSPACE": WORKSPACE, **files}
        self.restore()
        self.main = Lab(folder / "main")
        self.startup = [f"--output_user_root={folder}/root", "--nohome_rc", "--max_idle_secs=60", "--host_jvm_args=-Xmx500m"]
        places = {name: DEBIAN / place for name, place in INSTALLED.items()}
        places |= {"rules_cc": folder / "stand_in/rules_cc", "remote_coverage_tools": folder / "stand_in/coverage"}
        self.options = [
            *(f"--override_repository={name}={place}" for name, place in places.items()),
            f"--repo_env=ELFAUDIT={pathlib.Path(os.environ['ELFAUDIT']).resolve()}",
            "--aspects=@rules_elfaudit//:defs.bzl%elfaudit_aspect",
            "--experimental_run_validations",
            "--spawn_strategy=sandboxed",
            "--nosandbox_debug",
            "--color=no",
            "--curses=no",
            "--copt=-g",
            "--strip=never",
            "--keep_going",
            f"--execution_log_json_file={folder}/log.json",
        ]

    def __call__(self, command, *words):
        """Runs Bazel. The result also has the actions that ran (.actions, dictionaries) and their number by mnemonic (.count)."""
        options = self.options if command in ("build", "test") else []
        log = self.lab.path / "log.json"
        log.write_text("")
        result = self.main._run(["bazel", *self.startup, command, *options, *words])
        if options:
            text, result.actions = log.read_text().strip(), []
            while text:
                action, end = json.JSONDecoder().raw_decode(text)
                result.actions.append(action)
                text = text[end:].lstrip()
                if action["mnemonic"] == "CppLink" and action["listedOutputs"][0].endswith(".a"):
                    action["mnemonic"] = "CppArchive"  # as later versions call it
            result.count = collections.Counter(action["mnemonic"] for action in result.actions)
        return result

    def put(self, name, old, new):
        text = self.files[f"main/{name}"]
        assert old in text
        self.main.write(name, text.replace(old, new))

    def restore(self):
        for name, text in self.files.items():
            file = self.lab.path / name
            if not file.exists() or file.read_text() != text:
                self.lab.write(name, text)

    def end(self):
        self("shutdown")
        shutil.rmtree(self.lab.path / "root", ignore_errors=True)


# Which Bazel takes where it is: with --start-lib the four objects are linked, else the archives that two and one are in.
START_LIB = shutil.which("ld.gold") is not None
INDEXED = 4 if START_LIB else 3

FILES = {
    "main/BUILD": """
load("@rules_elfaudit//:defs.bzl", "elfaudit_test")
cc_library(name = "codec", srcs = ["codec.cc", "tables.cc"], hdrs = ["codec.h"])
cc_binary(name = "app", srcs = ["main.cc"], deps = [":codec", "//core"])
elfaudit_test(name = "app_links", targets = [":app"])
elfaudit_test(name = "libraries_link", targets = [":codec", "//core"])
elfaudit_test(name = "accepted", targets = [":app"], data = ["accept.toml"], check_options = ["--config", "$(location accept.toml)"])
""",
    "main/accept.toml": 'suppress = [{ rule = "duplicate-definition", symbol = "state", reason = "known" }]\n',
    "main/codec.h": "int codec(); int table();\n",
    "main/codec.cc": '#include "codec.h"\nint codec() { return table(); }\n',
    "main/tables.cc": '#include "codec.h"\nint table() { return 1; }\n',
    "main/main.cc": '#include "codec.h"\n#include "core/core.h"\nint main() { return codec() - core(); }\n',
    "main/core/BUILD": 'cc_library(name = "core", srcs = ["core.cc"], hdrs = ["core.h"], visibility = ["//visibility:public"])',
    "main/core/core.h": "int core();\n",
    "main/core/core.cc": '#include "core/core.h"\nint core() { return 1; }\n',
    # Above all folders that Bazel runs anything in, where elfaudit would look for them.
    "compile_commands.json": "not JSON",
    ".elfaudit.toml": "not TOML",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    bazel = Bazel(tmp_path_factory.mktemp("bazel"), FILES)
    try:
        yield bazel
    finally:
        bazel.end()


@pytest.fixture
def bazel(server):
    """The workspace as FILES has it, and built."""
    server.restore()
    result = server("build", "//:app")
    assert result.code == 0, result
    server.built = result
    return server


@pytest.fixture
def duplicate(bazel):
    bazel.put("tables.cc", "int table", "int state = 2;\nint table")
    bazel.put("core/core.cc", "int core", "\n\nint state;\nint core")
    return bazel


def elfaudits(result):
    return [action for action in result.actions if action["mnemonic"].startswith("Elfaudit")]


def test_a_clean_build_passes(bazel):
    ran = bazel.built
    assert ran.count["ElfauditIndex"] == INDEXED and ran.count["ElfauditCheck"] == 1, ran.count
    assert (bazel.main.path / "bazel-bin" / "app.elfaudit" / "check.txt").read_text() == ""


def test_what_runs_is_in_a_sandbox_and_reads_facts(bazel):
    bazel("clean")
    ran = bazel("build", "//:app")
    assert ran.code == 0 and len(elfaudits(ran)) == INDEXED + 1, ran
    for action in elfaudits(ran):
        # Elsewhere than where linux-sandbox may not run it is processwrapper-sandbox.
        assert action["runner"].endswith("-sandbox"), action["runner"]
        inputs = [each["path"] for each in action["inputs"]]
        objects = [path for path in inputs if path.endswith((".o", ".a"))]
        if action["mnemonic"] == "ElfauditIndex":
            [facts] = action["listedOutputs"]
            assert [os.path.basename(facts)] == [os.path.basename(path) + ".facts" for path in objects]
        else:
            assert objects == [] and len([path for path in inputs if path.endswith(".facts")]) == INDEXED, inputs


def test_what_is_no_input_is_not_read_without_a_sandbox(duplicate):
    failed = duplicate("build", "--spawn_strategy=local", "--output_groups=elfaudit", "//:app")
    assert failed.code == 1 and "1 error: 4 objects" in failed.err, failed
    assert "compile_commands" not in failed.err and "toml" not in failed.err, failed


def test_nothing_changed_nothing_runs(bazel):
    ran = bazel("build", "//:app")
    assert ran.code == 0 and ran.actions == [], ran.count


def test_one_source_changed_is_one_index_and_one_check(bazel):
    bazel.put("core/core.cc", "return 1", "return 2")
    ran = bazel("build", "//:app")
    once = {"CppCompile": 1, "CppLink": 1, "ElfauditIndex": 1, "ElfauditCheck": 1}
    assert ran.code == 0 and {name: n for name, n in ran.count.items() if name != "CppArchive"} == once, ran.count
    [index] = [action for action in elfaudits(ran) if action["mnemonic"] == "ElfauditIndex"]
    assert "core.pic.o" in index["commandArgs"][2] or "libcore.a" in index["commandArgs"][2], index


def test_a_comment_changed_checks_nothing_again(bazel):
    bazel.options.append("--copt=-g0")
    try:
        assert bazel("build", "//:app").code == 0
        bazel.put("core/core.cc", "return 1;", "return 1; /* one */")
        ran = bazel("build", "//:app")
        assert ran.code == 0 and ran.count == {"CppCompile": 1}, (ran.count, ran)
    finally:
        bazel.options.pop()


def test_a_fresh_client_takes_all_from_the_cache(bazel):
    cache = f"--disk_cache={bazel.lab.path}/cache"
    for _ in range(2):
        bazel("clean")
        ran = bazel("build", cache, "//:app")
        assert ran.code == 0 and len(elfaudits(ran)) == INDEXED + 1, ran
    assert {action["runner"] for action in elfaudits(ran)} == {"remote cache hit"}


@pytest.mark.parametrize("start_lib", ["--start_end_lib", "--nostart_end_lib"])
def test_a_duplicate_symbol_fails_the_build(duplicate, start_lib):
    if start_lib == "--start_end_lib" and not START_LIB:
        pytest.skip("needs ld.gold, which is not installed")
    failed = duplicate("build", start_lib, "--output_groups=elfaudit", "//:app")
    assert failed.code == 1 and "Auditing //:app failed" in failed.err, failed
    assert "state is defined twice [duplicate-definition]" in failed.err
    assert re.search(r"cause +core/core\.cc:4 and tables\.cc:2 each define it", failed.err), failed.out + failed.err
    assert failed.err.count("missing") == failed.err.count("missing: known from") == 1, failed
    assert "CppLink" not in failed.count, "an output group of its own needs no linker"
    # As the linker has it, with --keep_going beside the audit.
    failed = duplicate("build", start_lib, "//:app")
    assert failed.code == 1 and "Auditing //:app failed" in failed.err and "Linking app failed" in failed.err, failed


def test_options_of_the_check(duplicate):
    flag = "--@rules_elfaudit//:check_"
    passed = duplicate("build", f"{flag}options=--severity duplicate-definition=off", "--output_groups=elfaudit", "//:app")
    assert passed.code == 0, passed
    options = [f"{flag}options=--config accept.toml", "--output_groups=elfaudit", "//:app"]
    assert "accept.toml" in duplicate("build", *options).err, "which is no input of the action"
    passed = duplicate("build", f"{flag}inputs=//:accept.toml", *options)
    assert passed.code == 0, passed


def test_types_are_compared_by_facts_alone(bazel):
    bazel.put("codec.h", "int codec(); int table();", "struct Table {\n#ifdef WIDE\n  long wide;\n#endif\n  int rows;\n};\nint codec(); int table(); int rows(const Table &);")
    bazel.put("tables.cc", "int table", "int rows(const Table &t) { return t.rows; }\nint table")
    bazel.put("codec.cc", FILES["main/codec.cc"], '#define WIDE\n#include "codec.h"\nint codec() { Table t{}; return rows(t) + table(); }\n')
    failed = bazel("build", "--copt=-g", "--@rules_elfaudit//:check_options=--severity divergent-definition=on --fail-on warning", "--output_groups=elfaudit", "//:app")
    assert failed.code == 1 and re.search(r"Table differs: 'wide' \(long int at offset 0\) is in \S*codec\S*\.o \(codec.h:3\)", failed.out + failed.err), failed.out + failed.err


def test_a_test_tells_the_finding(duplicate):
    failed = duplicate("test", "--aspects=", "--test_output=errors", "//:app_links", "//:libraries_link", "//:accepted")
    assert failed.code == 3 and failed.out.count("state is defined twice [duplicate-definition]") == 2, failed
    verdicts = dict(re.findall(r"^//:(\w+) .*(PASSED|FAILED)", failed.out, re.M))
    assert verdicts == {"app_links": "FAILED", "libraries_link": "FAILED", "accepted": "PASSED"}


def test_another_program_by_its_label(bazel):
    program = shutil.copy(os.environ["ELFAUDIT"], bazel.main.path / "core" / "program")
    os.chmod(program, 0o755)
    bazel.put("core/BUILD", "cc_library", 'exports_files(["program"])\ncc_library')
    ran = bazel("build", "--@rules_elfaudit//:program=//core:program", "//:app")
    assert ran.code == 0 and len(elfaudits(ran)) == INDEXED + 1, ran
    assert {"core/program" in action["commandArgs"] for action in elfaudits(ran)} == {True}
    os.unlink(program)


def test_no_program_is_said(bazel):
    failed = bazel("build", "--repo_env=ELFAUDIT=/nowhere/elfaudit", "//:app")
    assert failed.code == 1 and "no such file: /nowhere/elfaudit. Install it" in failed.err, failed
