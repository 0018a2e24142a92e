"""elfaudit list closure, held against the real dynamic loader: the same files, and the same ones missing."""

import json
import pathlib
import random
import re
import subprocess

import jsonschema
import pytest

from elfaudit_test import SOURCE_DIR, campaign, campaign_seed, need

need("g++")
LOADER = pathlib.Path("/lib64/ld-linux-x86-64.so.2")


def rows(lab, *words):
    document = lab.audit("list", "closure", "--format", "json", *words).json()
    jsonschema.validate(document, json.loads((SOURCE_DIR / "schema/elfaudit-closure-1.schema.json").read_text()))
    return document["libraries"]


def found(lab, *words):
    """soname -> (path, found_by), of what is named first."""
    return {r["soname"]: (r["path"], r["found_by"]) for r in reversed(rows(lab, *words)) if r["found_by"] != "already-loaded"}


def library(lab, path, needs="", options=""):
    (lab.path / path).parent.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W", "_", pathlib.Path(path).name)
    links = " ".join(f"'{n}'" for n in needs.split())
    lab.sh(f"echo 'int f_{name};' | gcc -shared -fPIC -nostdlib -Wl,--no-as-needed -x c - -x none {links} -Wl,-soname,{pathlib.Path(path).name} {options} -o {path}")


def test_runpath_is_for_the_one_that_asks_only(lab):
    library(lab, "deep/libb.so")
    library(lab, "lib/liba.so", "deep/libb.so")
    library(lab, "top.so", "lib/liba.so", "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib:$ORIGIN/deep'")
    answer = found(lab, "top.so")
    assert answer["liba.so"] == (f"{lab.path}/lib/liba.so", "runpath")
    assert answer["libb.so"] == (None, "not-found")


def test_rpath_is_inherited(lab):
    library(lab, "deep/libb.so")
    library(lab, "lib/liba.so", "deep/libb.so")
    library(lab, "top.so", "lib/liba.so", "-Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib:${ORIGIN}/deep'")
    row = next(r for r in rows(lab, "top.so") if r["soname"] == "libb.so")
    assert (row["found_by"], row["directory"]) == ("rpath", "${ORIGIN}/deep")
    assert row["directory_of"].endswith("top.so") and row["needed_by"].endswith("lib/liba.so")


def test_runpath_of_the_one_that_asks_voids_every_rpath(lab):
    library(lab, "deep/libb.so")
    library(lab, "lib/liba.so", "deep/libb.so", "-Wl,--enable-new-dtags,-rpath,/nowhere")
    library(lab, "top.so", "lib/liba.so", "-Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib:$ORIGIN/deep'")
    assert found(lab, "top.so")["libb.so"] == (None, "not-found")


def test_a_loaded_library_answers_to_its_soname(lab):
    library(lab, "deep/libb.so")
    library(lab, "lib/liba.so", "deep/libb.so")
    library(lab, "top.so", "deep/libb.so lib/liba.so", "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib:$ORIGIN/deep'")
    assert [r["found_by"] for r in rows(lab, "top.so")] == ["runpath", "runpath", "already-loaded"]


def test_what_was_searched_is_said(lab):
    library(lab, "gone/libnvshmem_host.so.3")
    library(lab, "_C.so", "gone/libnvshmem_host.so.3", "-Wl,-rpath,'$ORIGIN/../nvidia/nvshmem/lib'")
    lab.sh("rm -r gone")
    result = lab.audit("list", "closure", "_C.so")
    assert result.code == 0
    assert f"libnvshmem_host.so.3  not found; searched: {lab.path}/../nvidia/nvshmem/lib, " in result.out
    assert "0 libraries, 1 not found" in result.out


def test_library_path_comes_before_runpath(lab):
    library(lab, "a/libx.so")
    library(lab, "b/libx.so")
    library(lab, "top.so", "a/libx.so", "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/a'")
    assert found(lab, "--library-path", str(lab.path / "b"), "top.so")["libx.so"] == (f"{lab.path}/b/libx.so", "library-path")


def test_another_machine_is_passed_over(lab):
    library(lab, "good/libx.so")
    library(lab, "top.so", "good/libx.so", "-Wl,-rpath,'$ORIGIN/bad:$ORIGIN/good'")
    image = bytearray((lab.path / "good/libx.so").read_bytes())
    image[18] = 183  # EM_AARCH64
    lab.write("bad/libx.so", "")
    (lab.path / "bad/libx.so").write_bytes(image)
    row = rows(lab, "top.so")[0]
    assert row["path"] == f"{lab.path}/good/libx.so" and row["passed_over"] == [f"{lab.path}/bad/libx.so"]


def test_root_has_its_own_links_and_configuration(lab):
    """An RPM keeps NVSHMEM in a directory that only a file of ld.so.conf.d names."""
    library(lab, "image/usr/lib64/nvshmem/13/libnvshmem_host.so.3")
    library(lab, "image/opt/_C.so", "image/usr/lib64/nvshmem/13/libnvshmem_host.so.3")
    lab.write("image/etc/ld.so.conf", "# ours\ninclude ld.so.conf.d/*.conf\n")
    lab.sh("ln -s /usr/lib64/nvshmem/13 image/current; mkdir image/etc/ld.so.conf.d")
    assert found(lab, "--root", "image", "image/opt/_C.so")["libnvshmem_host.so.3"] == (None, "not-found")
    lab.write("image/etc/ld.so.conf.d/nvshmem.conf", "/current\n")
    assert found(lab, "--root", "image", "/opt/_C.so")["libnvshmem_host.so.3"] == ("/current/libnvshmem_host.so.3", "configured")


def test_musl_inherits_and_is_its_own_libc(lab):
    library(lab, "image/lib/libb.so")
    library(lab, "image/app/liba.so", "image/lib/libb.so")
    library(lab, "image/app/libc.musl-x86_64.so.1")
    library(lab, "image/app/top.so", "image/app/liba.so image/app/libc.musl-x86_64.so.1", "-Wl,--enable-new-dtags,-rpath,/app")
    lab.sh("mv image/app/libc.musl-x86_64.so.1 image/lib/ld-musl-x86_64.so.1")
    answer = found(lab, "--root", "image", "/app/top.so")
    assert answer["liba.so"] == ("/app/liba.so", "runpath")
    assert answer["libb.so"] == ("/lib/libb.so", "default")
    assert answer["libc.musl-x86_64.so.1"] == ("/lib/ld-musl-x86_64.so.1", "loader")


def test_static_programs_load_nothing(lab):
    lab.cc("a.o", "int main() {}", "g++")
    lab.sh("g++ -static a.o -o static")
    assert rows(lab, "static") == [] and "static: nothing is loaded" in lab.audit("list", "closure", "static").out


@pytest.mark.parametrize("damage, says", [
    (lambda b: b[:70], "truncated"),
    (lambda b: b[:16] + b"\x01" + b[17:], "neither a program nor a shared object"),
    (lambda b: b"#!/bin/sh\n", "not an ELF file"),
    (lambda b: b[:56] + b"\xff\xff" + b[58:], "truncated"),
])
def test_damaged_files_are_named(lab, damage, says):
    library(lab, "a.so")
    (lab.path / "bad.so").write_bytes(damage((lab.path / "a.so").read_bytes()))
    result = lab.audit("list", "closure", "bad.so", "a.so")
    assert result.code == 2 and "bad.so" in result.err and says in result.err
    assert result.out.startswith("a.so\n")


def loaders_answer(path):
    """What ld.so itself would load; nothing for what it refuses."""
    result = subprocess.run([LOADER, "--list", path], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    if result.returncode != 0 and "not found" not in result.stdout:
        return None
    answer = set()
    for line in result.stdout.splitlines():
        if m := re.match(r"\s+(\S+) => not found", line):
            answer.add((m[1], None))
        elif m := re.match(r"\s+(\S+) => (\S+) \(0x", line):
            answer.add((m[1], m[2]))
        elif (m := re.match(r"\s+(/\S+) \(0x", line)) and "ld-linux" not in m[1]:
            answer.add((m[1], m[1]))
    return answer


def dynamic_files():
    files = []
    for folder in ("/usr/bin", "/usr/lib/x86_64-linux-gnu", "/usr/lib/gcc", "/usr/libexec", "/usr/sbin"):
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if not path.is_symlink() and path.is_file():
                with open(path, "rb") as file:
                    head = file.read(20)
                if head[:5] == b"\x7fELF\x02" and head[16] in (2, 3) and head[18] == 62:
                    files.append(str(path))
    return files


@pytest.mark.skipif(not LOADER.exists(), reason="needs glibc's loader for x86-64")
def test_same_as_the_loader(lab):
    files = dynamic_files()
    files = sorted(random.Random(campaign_seed(1)).sample(files, min(campaign(150), len(files))))
    expected = {path: loaders_answer(path) for path in files}
    files = [path for path in files if expected[path] is not None]
    ours = {path: set() for path in files}
    for row in rows(lab, *files):
        if row["found_by"] not in ("already-loaded", "loader"):
            ours[row["input"]].add((row["soname"], row["path"]))
    differ = {path: (sorted(ours[path] - expected[path], key=str), sorted(expected[path] - ours[path], key=str))
              for path in files if ours[path] != expected[path]}
    print(f"{len(files)} files, {len(differ)} differ")
    assert len(files) > 20 and not differ, f"{len(differ)} of {len(files)} differ (ours only, theirs only): {list(differ.items())[:10]}"


def opens(lab, file, *entries, options=""):
    """A library with a .note.dlopen."""
    text = json.dumps(list(entries))
    note = f'.section .note.dlopen,"a",@note\n.long 4, 2f-1f, 0x407c0c0a\n.asciz "FDO"\n1: .asciz {json.dumps(text)}\n2: .balign 4\n'
    lab.cc("note.o", note, "as")
    lab.sh(f"gcc -shared -nostdlib note.o -o {file} {options}")


def test_libraries_that_are_opened(lab):
    library(lab, "lib/libdeep.so")
    library(lab, "lib/libreq.so", "lib/libdeep.so", "-Wl,-rpath,'$ORIGIN'")
    library(lab, "lib/librec.so", "lib/libdeep.so", "-Wl,-rpath,'$ORIGIN'")
    entry = lambda priority, *names: {"soname": names, "priority": priority, "feature": priority}
    opens(lab, "top.so", entry("required", "libnone.so", "libreq.so"), entry("recommended", "librec.so"), entry("suggested", "libgone.so"),
          options="-Wl,-rpath,'$ORIGIN/lib'")  # fmt: skip
    document = lab.audit("list", "closure", "--format", "json", "top.so").json()
    jsonschema.validate(document, json.loads((SOURCE_DIR / "schema/elfaudit-closure-1.schema.json").read_text()))
    answers = [(row["priority"], row["path"] and pathlib.Path(row["path"]).name, row["found_by"]) for row in document["dlopen"]]
    assert answers == [("required", "libreq.so", "runpath"), ("recommended", "librec.so", "runpath"), ("suggested", None, "not-found")]
    assert {(row["soname"], pathlib.Path(row["needed_by"]).name) for row in document["libraries"]} == {("libdeep.so", "libreq.so")}
    text = lab.audit("list", "closure", "top.so").out
    assert "libgone.so  not found (dlopen, suggested, for suggested)" in text and "2 libraries\n" in text


SEVERITIES = {"required": "error", "recommended": "warning", "suggested": "note", "": "warning"}


@pytest.mark.parametrize("priority", SEVERITIES)
def test_a_library_that_is_opened_and_not_found(lab, priority):
    library(lab, "lib/libthere.so")
    opens(lab, "top.so", {"soname": ["libgone.so.1", "libgone.so.0"], "feature": "zoom", "priority": priority}, {"soname": ["libnone.so", "libthere.so"]},
          {"soname": ["libcuda.so.1"]}, options="-Wl,-rpath,'$ORIGIN/lib'")  # fmt: skip
    findings = lab.audit("check", "--format", "json", "top.so").json()["findings"]
    assert [(f["rule"], f["severity"]) for f in findings] == [("needed-not-found", SEVERITIES[priority])]
    assert "libgone.so.1 or libgone.so.0 for zoom" in findings[0]["message"]
    lab.sh("cp lib/libthere.so lib/libgone.so.0")
    assert lab.audit("check", "--format", "json", "top.so").json()["findings"] == []


# --- --may-need and --must-not-need

# name: the lists, what tool needs that they do not allow, with the kind of the cause
NEEDS = {
    "libc alone": (["--may-need", "libc"], [("libdeep.so.1", "symbol-binds"), ("libidle.so.1", "nothing-binds")]),
    "patterns": (["--may-need", "libc", "--may-need", "lib*.so.1"], []),
    "forbidden": (["--must-not-need", "libidle*"], [("libidle.so.1", "nothing-binds")]),
    "forbidden goes first": (["--may-need", "*", "--must-not-need", "libdeep.so.?"], [("libdeep.so.1", "symbol-binds")]),
    "manylinux": (["--may-need", "manylinux"], [("libdeep.so.1", "symbol-binds"), ("libidle.so.1", "nothing-binds")]),
}


@pytest.mark.parametrize("case", NEEDS)
def test_libraries_that_are_not_allowed(lab, case):
    options, refused = NEEDS[case]
    lab.sh("mkdir -p lib; for n in deep idle; do echo \"int $n(void) { return 0; }\" | "
           "gcc -shared -fPIC -x c - -Wl,-soname,lib$n.so.1 -o lib/lib$n.so.1; ln -s lib$n.so.1 lib/lib$n.so; done")  # fmt: skip
    lab.cc("tool.o", "int deep(void);\nint main(void) { return deep(); }", "gcc -g")
    command = f"gcc tool.o -Wl,--no-as-needed -L{lab.path}/lib -ldeep -lidle -Wl,-rpath,{lab.path}/lib -o bin/tool"
    lab.sh(f"mkdir bin; {command}")
    for words in (["bin/tool"], ["--", *command.split()]):
        findings = lab.audit("check", *options, "--format", "json", *words).json()["findings"]
        found = sorted((f for f in findings if f["rule"] == "needed-not-allowed"), key=lambda f: f["message"])
        assert [(f["message"].split(" needs ")[1].split(",")[0], f["cause"]["kind"]) for f in found] == refused
        for one in found:
            assert "-lidle" in one["fixes"][0]["text"] or "deep" in one["cause"]["text"]
            assert words[0] == "bin/tool" or one["cause"]["kind"] == "nothing-binds" or one["sites"][0]["line"] == 2
    if "libidle.so.1" in str(refused):
        lab.sh(command.replace("-lidle", ""))
        assert "libidle" not in lab.audit("check", *options, "bin/tool").out


def test_neighbours_are_allowed(lab):
    library(lab, "pkg/libmine.so")
    library(lab, "pkg/top.so", "pkg/libmine.so", "-Wl,-rpath,'$ORIGIN'")
    assert lab.audit("check", "--may-need", "libc", "pkg/top.so").code == 0
    assert lab.audit("check", "--must-not-need", "libmine.so", "pkg").code == 1
