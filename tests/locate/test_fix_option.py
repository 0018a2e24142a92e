"""--fix and --diff: the link passes afterwards, and nothing else is touched."""

import os
import resource
import shlex
import subprocess

import pytest

from elfaudit_test import ENVIRONMENT, finished, need, need_plain_program, sampled
from incidents import INCIDENTS
from test_incidents import compiled

need("gcc", "g++", "clang", "clang++", "patch", "git", "ninja")

TWICE = {"h.h": "int state = 3;\n", "a.c": '#include "h.h"\nint a(void) { return state; }\n', "b.c": '#include "h.h"\nint b(void) { return state; }\n'}
FIXED = {"h.h": "extern int state;\n", "a.c": TWICE["a.c"] + "int state = 3;\n", "b.c": TWICE["b.c"]}


def build(lab, files=TWICE):
    for name, text in files.items():
        lab.write(name, text)
    lab.sh("for f in *.c; do gcc -MD -c $f; done")


def contents(lab, names=TWICE):
    return {name: (lab.path / name).read_bytes().decode() for name in names}


def commit(lab):
    lab.sh("git init -q . && git add -f *.h *.c && git -c user.name=a -c user.email=a@example.org commit -qm x")


# Where no edit is offered: the command line decides, or others than these files would be concerned.
BY_HAND = {
    "an X-macro that declares first and defines then",
    "MAIN on the command line of both", "two headers", "two programs", "an alias",
}  # fmt: skip


# Debug info alone shows that the command line of one decides, and names a file that was made into the one that is compiled.
BY_DEBUG_INFO = {"-MD": set(), "-g": {"one by its name, one on the command line", "the lexer's line too many (dtc)"}}


@pytest.mark.parametrize("incident", sampled(INCIDENTS, 8), ids=lambda incident: incident.name)
@pytest.mark.parametrize("way", BY_DEBUG_INFO)
def test_one_run_makes_the_link_pass(lab, incident, way):
    incident.write(lab)
    result = lab.audit("check", "--fix", *compiled(lab, incident, "gcc", way))
    assert result.code == 1  # the objects have the finding until they are built again
    by_hand = incident.name in BY_HAND | BY_DEBUG_INFO[way]
    assert ("edited" in result.err) == (not by_hand), result
    if by_hand:
        assert incident.is_unchanged(lab)
        return
    objects = compiled(lab, incident, "gcc", "-MD")
    lab.sh(f"{incident.driver()} -shared -Wl,-z,defs {' '.join(objects)} -o x.so -lm")


def test_the_variable_gets_a_definition_in_one_source(lab):
    build(lab)
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == FIXED and result.err == "elfaudit: edited a.c, h.h for 1 of 1 finding: build again\n"


@pytest.mark.parametrize("command", ["patch -p0", "git apply -p0"])
def test_the_diff_says_what_fix_writes(lab, command):
    build(lab)
    diff = lab.audit("check", "--diff", "a.o", "b.o")
    assert diff.code == 1 and contents(lab) == TWICE
    subprocess.run(command.split(), input=diff.out, cwd=lab.path, text=True, check=True)
    assert contents(lab) == FIXED


def test_line_ends_and_modes_stay(lab):
    build(lab, {name: text.replace("\n", "\r\n")[: -2 if name == "a.c" else None] for name, text in TWICE.items()})
    lab.sh("chmod 640 h.h")
    lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == {name: text.replace("\n", "\r\n")[: -2 if name == "a.c" else None] for name, text in FIXED.items()}
    assert os.stat(lab.path / "h.h").st_mode & 0o777 == 0o640


@pytest.mark.parametrize("before, after, why", [("", "echo >>h.h", "has uncommitted changes"), ("", "git rm -q --cached h.h", "has uncommitted changes"),
                                                ("echo h.h >.gitignore", "git rm -q --cached h.h; git -c user.name=a -c user.email=a@example.org commit -qm y", "is ignored by git")])
def test_what_git_could_not_restore_is_left_alone(lab, before, after, why):
    build(lab)
    lab.sh(before)
    commit(lab)
    lab.sh(after)
    text = contents(lab)
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == text and why in result.err and "not fixed: state: h.h" in result.err, result
    lab.audit("check", "--fix", "--allow-dirty", "a.o", "b.o")
    assert contents(lab)["h.h"].startswith("extern int state;")


def test_a_committed_file_is_edited(lab):
    build(lab)
    commit(lab)
    lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == FIXED


def test_no_link_leads_out_of_the_project(lab):
    lab.write("outside/h.h", TWICE["h.h"])
    for name in ("a.c", "b.c"):
        lab.write(f"p/{name}", TWICE[name])
    lab.sh("mkdir p/.git; ln -s ../outside/h.h p/h.h; cd p; for f in a b; do gcc -MD -c $f.c; done")
    result = lab.sh(f"cd p; {shlex.quote(os.environ['ELFAUDIT'])} check --fix --allow-dirty a.o b.o", check=False)
    assert (lab.path / "outside/h.h").read_text() == TWICE["h.h"] and "is not below" in result.err, result


def test_edits_of_different_declarations_on_a_line_are_all_made(lab):
    build(lab, {"h.h": "int f(void) { return 1; } int g(void) { return 2; }\n", "a.c": '#include "h.h"\n', "b.c": '#include "h.h"\n'})
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab)["h.h"] == "static inline int f(void) { return 1; } static inline int g(void) { return 2; }\n" and "for 2 of 2" in result.err, result


def test_lines_behind_a_last_line_without_end_are_all_added(lab):
    build(lab, {"h.h": "int x = 1;\nint y = 2;\n", "a.c": '#include "h.h"\nint* a[] = {&x, &y};', "b.c": '#include "h.h"\n'})
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab)["h.h"] == "extern int x;\nextern int y;\n" and "for 2 of 2" in result.err, result
    assert contents(lab)["a.c"] == '#include "h.h"\nint* a[] = {&x, &y};\nint x = 1;\nint y = 2;'
    lab.sh("gcc -fPIC -c a.c b.c && gcc -shared -Wl,-z,defs a.o b.o -o x.so")


def test_of_overlapping_edits_the_first_is_applied(lab):
    """The body of f would be moved, and with it the line on which g begins."""
    build(lab, {"h.h": "int f(void) {\n  static int n;\n  return ++n; } int g(void) {\n  static int n;\n  return ++n; }\n",
                "a.c": '#include "h.h"\n', "b.c": '#include "h.h"\n'})
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert "not fixed: g: its edit of h.h:3 overlaps with that for f" in result.err, result
    lab.sh("gcc -MD -c a.c b.c")
    lab.audit("check", "--fix", "a.o", "b.o")
    lab.sh("gcc -fPIC -c a.c b.c && gcc -shared -Wl,-z,defs a.o b.o -o x.so")


def test_a_body_goes_to_one_source_where_copies_would_have_a_state_each(lab):
    build(lab, {"h.h": "int next(void) {\n  static int n;\n  return ++n;\n}\n", "a.c": '#include "h.h"\n', "b.c": '#include "h.h"\n'})
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert "leave the declaration in h.h:1, and move the body to one source file" in result.out
    assert "no diff: each file would have its own of the static variables" in result.out
    assert contents(lab, ["h.h", "a.c"]) == {"h.h": "int next(void);\n", "a.c": '#include "h.h"\nint next(void) {\n  static int n;\n  return ++n;\n}\n'}


def test_a_constant_that_others_need_at_compile_time_stays_where_it_is(lab):
    header = "struct K { static const int n; };\nconst int K::n = 3;\n"
    lab.write("h.h", header)
    for name in ("a", "b"):
        lab.write(f"{name}.cpp", f'#include "h.h"\nint {name}() {{ int all[K::n] = {{}}; return all[0]; }}\n')
        lab.sh(f"g++ -std=c++11 -g -MD -c {name}.cpp")
    result = lab.audit("check", "--fix", "a.o", "b.o")
    assert "K::n: to do by hand: move h.h:2 to one source file" in result.err and contents(lab, ["h.h"]) == {"h.h": header}


def test_an_array_is_declared_with_its_bound(lab):
    build(lab, {"h.h": 'const char *names[] = {\n  "one",\n  "two",\n};\n', "a.c": '#include "h.h"\nlong a(void) { return sizeof names; }\n', "b.c": '#include "h.h"\n'})
    lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab, ["h.h"])["h.h"] == "extern const char *names[2];\n"
    assert contents(lab, ["a.c"])["a.c"].endswith('const char *names[] = {\n  "one",\n  "two",\n};\n')


def test_an_edit_shared_with_an_accepted_finding_is_not_made(lab):
    """Both variables would become extern, and only one would be defined."""
    header = "#ifdef ELSEWHERE\n#define E extern\n#else\n#define E\n#endif\nE int x;\nE int y;\n"
    build(lab, {"h.h": header, "a.c": '#include "h.h"\nint* a[] = {&x, &y};\n', "b.c": '#include "h.h"\nint* b[] = {&x, &y};\n'})
    lab.write("ok.toml", '[[suppress]]\nsymbol = "y"\nreason = "known"\n')
    result = lab.audit("check", "--fix", "--config", "ok.toml", "a.o", "b.o")
    assert contents(lab)["h.h"] == header and "x: its edit also changes y, which is not fixed" in result.err, result
    lab.audit("check", "--fix", "a.o", "b.o")
    lab.sh("gcc -c a.c b.c && gcc -shared -Wl,-z,defs a.o b.o -o x.so")


def test_a_function_stays_where_another_program_needs_it(lab):
    """Two functions of one name in one program, of which the other program calls the second."""
    files = {"a.c": "int clamp(int x) { return x; }\nint a(void) { return clamp(1); }\n", "b.c": "int clamp(int x) { return x + 1; }\nint b(void) { return clamp(1); }\n", "main.c": "int main(void) { return 0; }\n",
             "user.c": "int clamp(int);\nint main(void) { return clamp(-1); }\n"}
    for name, text in files.items():
        lab.write(name, text)
    rules = "rule cc\n  command = gcc -MD -c $in -o $out\nrule link\n  command = gcc $in -o $out\n"
    objects = "".join(f"build {name}.o: cc ../{name}.c\n" for name in ("a", "b", "main", "user"))
    lab.write("build/build.ninja", rules + objects + "build bad: link a.o b.o main.o\nbuild good: link b.o user.o\n")
    lab.sh("ninja -C build good; ninja -C build -k 0", check=False)
    result = lab.audit("check", "--fix", "-p", "build")
    assert "not fixed: clamp: the link of build/good has the symbol too, and not this finding" in result.err, result
    assert contents(lab, files) == files


def test_a_definition_stays_in_a_header_that_another_target_includes(lab):
    """The edit would move it to one source, which the target that is not audited does not link."""
    files = {"core.h": "int level = 3;\n", "core.c": '#include "core.h"\n', "main.c": '#include "core.h"\nint main(void) { return level; }\n',
             "tool.c": '#include "core.h"\nint main(void) { return level; }\n'}
    for name, text in files.items():
        lab.write(name, text)
    rules = "rule cc\n  command = gcc -MD -c $in -o $out\nrule link\n  command = gcc $in -o $out\n"
    objects = "".join(f"build {name}.o: cc ../{name}.c\n" for name in ("core", "main", "tool"))
    lab.write("build/build.ninja", rules + objects + "build app: link main.o core.o\nbuild tool: link tool.o\ndefault app\n")
    lab.sh("ninja -C build tool; ninja -C build -k 0", check=False)
    result = lab.audit("check", "--fix", "-p", "build")
    assert "not fixed: level: build/tool.o was compiled with the file too, and is in no link of this audit: name its target as well" in result.err, result
    assert contents(lab, files) == files


def test_a_configuration_file_can_not_ask_for_edits(lab):
    build(lab)
    lab.write(".elfaudit.toml", "fix = true\n")
    result = lab.audit("check", "a.o", "b.o")
    assert result.code == 2 and "unknown key 'fix'" in result.err and contents(lab) == TWICE


# --- files that change meanwhile, or can't be written

PROGRAM = os.environ.get("ELFAUDIT", "")

# Does as an editor that saves while the audit is at work: what is given as SAVED replaces a file once that was opened so many
# times.
SAVE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OPEN(name) \
  int name(const char* path, int flags, int mode) { \
    int fd = ((int (*)(const char*, int, int))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
    return save(fd, path); \
  }
static int save(int fd, const char* path) {
  static int opened;
  const char *file = getenv("SAVES"), *end = path + strlen(path) - strlen(file);
  if (fd >= 0 && end >= path && strcmp(end, file) == 0 && ++opened == atoi(getenv("TIME"))) rename(getenv("SAVED"), file);
  return fd;
}
OPEN(open)
OPEN(open64)
"""


@pytest.mark.parametrize("option", ["--fix", "--diff"])
@pytest.mark.parametrize("file, text", [("h.h", "inline int state = 3;\n"), ("h.h", "int state = 3; // new\n"), ("h.h", TWICE["h.h"]), ("a.c", TWICE["a.c"] + "int state = 3;\n")])
def test_a_file_that_is_saved_while_it_is_judged(lab, option, file, text):
    """Whenever that is, what is written is what was saved, or what the audit would make of the files as they were."""
    need_plain_program()
    lab.write("save.c", SAVE)
    lab.sh("gcc -shared -fPIC save.c -o save.so -ldl && rm save.c")
    times = 0
    for time in range(1, 20):
        build(lab)
        lab.write("saved", text)
        result = finished([PROGRAM, "check", option, "--no-sandbox", "a.o", "b.o"], lab.path, environment={**ENVIRONMENT, "LD_PRELOAD": f"{lab.path}/save.so", "SAVES": file, "SAVED": "saved", "TIME": str(time)})
        if (lab.path / "saved").exists():
            break  # it is not opened as often as that
        times += 1
        assert contents(lab) == {**TWICE, file: text}, (time, result)
        assert result.code == 2 and f"nothing is edited: {file}: it has changed since it was read" in result.err or "no finding has an edit" in result.err, (time, result)
        assert "+++" not in result.out, result
    assert times > 1


def test_many_at_once(lab):
    """Without version control nothing else keeps them apart."""
    names = [f"state{i}" for i in range(10)]
    for name in ("a", "b"):
        lab.write(f"{name}.cpp", '#include "h.h"\n')
    for _ in range(3):
        lab.write("h.h", "".join(f"int {name} = 3;\n" for name in names))
        lab.sh("g++ -std=c++17 -g -MD -c a.cpp b.cpp")
        runs = [subprocess.Popen([PROGRAM, "check", "--fix", "--allow-dirty", "a.o", "b.o"], cwd=lab.path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(6)]
        assert {run.wait() for run in runs} <= {1, 2}
        assert (lab.path / "h.h").read_text() == "".join(f"inline int {name} = 3;\n" for name in names)


def test_all_names_and_the_owner_of_a_file_stay(lab):
    build(lab)
    lab.sh("ln h.h other.h")
    if os.geteuid() == 0:
        os.chown(lab.path / "a.c", 65534, 65534)
    lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == FIXED and (lab.path / "h.h").samefile(lab.path / "other.h")
    if os.geteuid() == 0:
        assert ((lab.path / "a.c").stat().st_uid, (lab.path / "a.c").stat().st_gid) == (65534, 65534)


def test_extended_attributes_stay(lab):
    build(lab)
    try:
        os.setxattr(lab.path / "h.h", "user.note", b"ours")
    except OSError as error:
        pytest.skip(f"extended attributes: {error}")
    lab.audit("check", "--fix", "a.o", "b.o")
    assert contents(lab) == FIXED and os.getxattr(lab.path / "h.h", "user.note") == b"ours"


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))


@pytest.mark.parametrize("linked", [False, True])
def test_all_files_of_an_edit_are_written_or_none(lab, linked):
    """h.h fits into a file of 20 bytes, a.c with the definition doesn't."""
    build(lab)
    if linked:
        lab.sh("ln h.h other.h; ln a.c other.c")
    result = subprocess.run([PROGRAM, "check", "--fix", "a.o", "b.o"], cwd=lab.path, env=ENVIRONMENT, capture_output=True, text=True, preexec_fn=small_files)
    assert contents(lab) == TWICE and result.returncode == 2, result
    assert "elfaudit: nothing is edited: a.c: File too large\n" in result.stderr and "edited a.c" not in result.stderr, result
    assert not [name for name in os.listdir(lab.path) if name.endswith(".tmp")]


# root may write to all, without these two.
WITHOUT_RIGHTS = "setpriv --bounding-set=-dac_override,-dac_read_search" if os.geteuid() == 0 else ""


def test_a_file_that_may_not_be_written(lab):
    build(lab)
    lab.sh("chmod a-w h.h")
    result = lab.sh(f"{WITHOUT_RIGHTS} '{PROGRAM}' check --fix a.o b.o", check=False)
    assert result.code == 2 and "nothing is edited: h.h: Permission denied" in result.err and contents(lab) == TWICE, result


def test_a_folder_in_which_no_file_may_be_made(lab):
    build(lab)
    lab.sh("chmod a-w .")
    result = lab.sh(f"{WITHOUT_RIGHTS} '{PROGRAM}' check --fix a.o b.o", check=False)
    assert result.code == 1 and "edited a.c, h.h for 1 of 1 finding" in result.err and contents(lab) == FIXED, result
