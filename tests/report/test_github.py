"""--format github: workflow commands as the runner reads them."""

import re

from elfaudit_test import need
from report_support import hostile, two_units

need("g++", "as")


def commands(text):
    """As actions/runner reads standard output: a line that begins with "::", split at the next "::"."""
    found = []
    for line in text.split("\n"):
        match = re.match(r"::(\w+) ([^:]*)::(.*)$", line)
        if not match:
            assert not line.startswith("::"), line
            continue
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        decode = lambda s: s.replace("%3A", ":").replace("%2C", ",").replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        found.append((match[1], {key: decode(value) for key, value in properties.items()}, decode(match[3])))
    return found


def test_an_annotation_at_the_header(lab):
    (command,) = commands(lab.audit("check", "--format", "github", *two_units(lab)).out)
    kind, properties, text = command
    assert kind == "error" and properties == {"file": "inc/state.h", "line": "3", "title": "elfaudit: duplicate-definition"}
    assert text.startswith("n::state is defined twice\nkept: a.o (inc/state.h:3)\nrejected: b.o (inc/state.h:3)\ncause: ")


def test_severities(lab):
    lab.write("h.h", "int f() { return 1; }\n")
    lab.cc("a.o", '#include "h.h"\n', "g++ -g")
    ((kind, properties, _),) = commands(lab.audit("check", "--format", "github", "--enable", "header-definition", "a.o").out)
    assert kind == "warning" and properties["file"] == "h.h"


def test_without_a_place_it_names_the_object(lab):
    lab.cc("lib/a.o", "int f() { return 1; }")
    lab.sh("rm lib/a.cpp; cp lib/a.o b.o")
    ((_, properties, _),) = commands(lab.audit("check", "--format", "github", "lib/a.o", "b.o").out)
    assert properties["file"] == "lib/a.o" and "line" not in properties
    ((_, properties, _),) = commands(lab.audit("check", "--format", "github", "--source-root", "lib", "lib/a.o", "b.o").out)
    assert properties["file"] == "a.o"


def test_of_a_log(lab):
    objects = two_units(lab)
    log = "g++ a.o b.o -o x\n" + lab.sh("LC_ALL=C g++ a.o b.o -o x", check=False).err
    lab.write("here.log", log)
    ((kind, properties, text), *_) = commands(lab.audit("diagnose", "--format", "github", "here.log").out)
    assert kind == "error" and properties["file"] == "inc/state.h" and text.startswith("n::state is defined twice")
    # The log alone has the place of the definition too.
    lab.sh(f"rm {' '.join(objects)}; mkdir other; mv here.log other")
    ((kind, properties, text), *_) = commands(lab.audit("diagnose", "--format", "github", "other/here.log").out)
    assert kind == "error" and properties["title"] == "elfaudit: duplicate-definition" and "state" in text


def test_a_name_is_no_command(lab):
    name = "x\n::set-output name=y::z%0A::error::%25,title=:"
    ((kind, properties, text),) = commands(lab.audit("check", "--format", "github", *hostile(lab, name.replace("\n", "\\n"))).out)
    assert kind == "error" and set(properties) == {"file", "title"} and "::set-output" in text
