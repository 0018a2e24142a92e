"""A workspace for Debian's Bazel, offline: what its own tools load from elsewhere is beside it, and integrations/bazel is its ruleset."""

import collections
import json
import os
import pathlib
import shutil

import pytest

from elfaudit_test import SOURCE_DIR, Lab, need

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


def need_bazel():
    need("bazel", "g++")
    for folder in INSTALLED.values():
        if not (DEBIAN / folder).is_dir():
            pytest.skip(f"needs {DEBIAN / folder}, which is not installed", allow_module_level=True)


class Bazel:
    """files: of the workspace below main/, and beside it. where: options that say where actions run."""

    def __init__(self, folder, files, where=("--spawn_strategy=sandboxed", "--nosandbox_debug")):
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
            *where,
            "--color=no",
            "--curses=no",
            "--copt=-g",
            "--strip=never",
            "--keep_going",
            f"--execution_log_json_file={folder}/log.json",
        ]

    def __call__(self, command, *words):
        """Runs Bazel; the result has what ran, too: .actions, of each a dictionary, and .count, by mnemonic."""
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
