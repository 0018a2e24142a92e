#!/usr/bin/env python3
"""Makes random C and C++ projects whose headers define globals, and writes down where.

    generate.py FOLDER [--count N] [--seed S]

FOLDER/p0000/ and so on: include/, third/, src/, and truth.json:
  {"units": [{"source", "language", "standard", "include_dirs", "defines",
              "defined": [{"symbol", "kind": "v"|"f", "header", "line", "chain": [[file, line], ...],
                           "cause": null | {"macro", "value", "header", "line", "undefined": [names]}}],
              "absent": [{"symbol", "kind"}]}]}
`defined` are symbols that the unit defines with external, strong linkage; `line` is where debug info puts them. `absent`
are names that it only declares, or defines inline or for itself. Paths are relative to the project.
A symbol's chain is found by doing what a preprocessor does with the files, on the generator's own model of them.
"""
import argparse
import json
import os
import random

WORDS = ["state", "table", "config", "buffer", "cache", "queue", "index", "handle", "pool", "limits", "version", "key"]
SPACES = ["core", "detail", "net", "util", "v1", "impl", "device", "math"]


class File:
    """A source as lines; `items` is what a preprocessor does with it, in order."""

    def __init__(self, path, guard):
        self.path, self.guard = path, guard
        self.lines, self.items = [], []

    def add(self, text):
        """Appends lines; returns the number of the first."""
        first = len(self.lines) + 1
        self.lines += text.split("\n")
        return first

    def include(self, target, spelled, active=True):
        line = self.add("#include " + spelled)
        if active:
            self.items.append(("include", line, target))

    def write(self, folder):
        path = os.path.join(folder, self.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write("\n".join(self.lines) + "\n")


def mangled(spaces, name, parameters=None, arguments="", const=False):
    """Itanium C++ ABI 5.1 for names without substitutions. C1 and pl are a constructor and operator+."""
    parts = "".join("%d%s" % (len(part), part) for part in spaces)
    last = name if name in ("C1", "pl") else "%d%s" % (len(name), name)
    nested = "N" + ("K" if const else "") + parts + last + arguments + "E" if spaces else last + arguments
    return "_Z" + nested + (parameters if parameters is not None else "")


class Project:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.is_c = self.random.random() < 0.3
        self.standard = self.random.choice(["gnu99", "gnu11", "c11", "gnu17"] if self.is_c else
                                           ["c++14", "c++17", "gnu++17", "c++20"])
        self.counter = 0
        self.headers, self.macros, self.features = [], [], {}
        self.make()

    # names
    def fresh(self, stem=None):
        self.counter += 1
        return "%s_%d" % (stem or self.random.choice(WORDS), self.counter)

    def some(self, chance):
        return self.random.random() < chance

    # noise: text that says something about names without defining them
    def noise(self, file, name):
        base = name
        kinds = ["// int %s = 1;", "/* int %s = 2;\n   int %s; */", "#if 0\nint %s = 3;\n#endif",
                 "#ifdef NEVER_DEFINED_%d\nint %%s;\n#else\n#endif" % self.counter,
                 "#define UNUSED_%d int %%s = 4;" % self.counter,
                 "#define LONG_%d(x) \\\n  int x; \\\n  int %%s = 5;" % self.counter,
                 "#if defined(__clang__) && 0 || !1\nint %s;\n#endif",
                 "static const char* const text_%d = \"int %%s = 6; // \\\" {\";" % self.counter,
                 "/* it's // */ static int brace_%d = '{'; // } \"" % self.counter]
        if not self.is_c:
            kinds += ["static const char* const raw_%d = R\"x(\n#if 1\nint %%s = 7;\n\")x\";" % self.counter,
                      "namespace decoy_%d { static int %%s = 8; }" % self.counter,
                      "namespace decoy_%d { inline int %%s() { return 1; } }" % self.counter,
                      "namespace { struct decoy_%d { int %%s; int get() { int %%s = 3; return %%s; } }; }" % self.counter,
                      "struct decoy_%d { static int %%s; enum { a = 1'000 }; void f(int %%s) { (void)%%s; } };" % self.counter,
                      "template <class T, int N = (3 > 2)> struct decoy_%d { T %%s[N]; };" % self.counter,
                      "using decoy_%d = int; enum class Decoy_%d { %%s };" % (self.counter, self.counter),
                      "inline int decoy_%d(int %%s = 1) { static int x = 0; return x + %%s; }" % self.counter]
        else:
            kinds += ["struct decoy_%d { int %%s; };" % self.counter, "enum { decoy_%d };" % self.counter,
                      "static inline int decoy_%d(int %%s) { return %%s; }" % self.counter,
                      "typedef int (*decoy_%d)(int %%s);" % self.counter]
        text = self.random.choice(kinds)
        file.add(text % ((base,) * text.count("%s")) if "%s" in text else text)
        self.counter += 1

    # macros whose value depends on what is defined
    def config_macro(self, file):
        name = self.fresh("PROJECT_API").upper()
        wanted = self.random.choice(["empty", "empty", "empty", "extern", "inline" if not self.is_c else "static",
                                     "attribute"])
        values = {"empty": "", "extern": "extern", "inline": "inline", "static": "static",
                  "attribute": "__attribute__((visibility(\"default\")))"}
        other = self.random.choice(["extern", "static", "extern __attribute__((weak))"])
        undefined = ["__CUDACC_RDC__", "PROJECT_DEVICE_%d" % self.counter]
        if self.random.choice([True, False]):
            file.add("#if defined(%s) || defined(%s)" % tuple(undefined))
            file.add("#define %s %s" % (name, other))
            if self.some(0.5):
                file.add("#elif defined(__clang__) /* not gcc */")
                file.add("#  define %s \\\n  %s" % (name, other))
                undefined.append("__clang__")
            file.add("#else  // everyone else")
        else:
            undefined = undefined[1:]
            file.add("#ifdef %s" % undefined[0])
            file.add("#define %s %s" % (name, other))
            file.add("#else")
        line = file.add(("#define %s %s" % (name, values[wanted])).rstrip())
        file.add("#endif")
        if self.some(0.3):  # the one that declarations use goes through it
            outer = self.fresh("PROJECT_OUTER").upper()
            file.add("#define %s %s" % (outer, name))
            self.macros.append((outer, wanted, (name, values[wanted], file.path, line, undefined)))
        else:
            self.macros.append((name, wanted, (name, values[wanted], file.path, line, undefined)))

    # definitions
    def open_spaces(self):
        """Text that opens namespaces, their names, text that closes them."""
        if self.is_c or self.some(0.25):
            return "", [], ""
        spaces = self.random.sample(SPACES, self.random.randint(1, 3))
        # One of its own each time: an inline namespace makes names of its parent ambiguous.
        spaces = ["v1_%d" % self.counter if space == "v1" else space for space in spaces]
        if self.some(0.3) and self.standard != "c++14":
            return "namespace %s {" % "::".join(spaces), spaces, "}"
        text = ""
        for depth, space in enumerate(spaces):
            inline = "inline " if depth and space.startswith("v1") else ""
            text += "%snamespace %s {%s" % (inline, space, self.random.choice([" ", "\n"]))
        return text.rstrip(), spaces, "}" * len(spaces) + "  // namespaces"

    def variable(self, name, prefix):
        """Lines of a variable's definition, and the offset of the line with its name."""
        simple = ["%sint %s;", "%sint %s = 3;", "%sunsigned long %s = 1 << 3;", "%schar %s[16];", "%sconst char* %s = \"int {\";",
                  "%sint %s[2][3] = {{1, 2, 3}, {4, 5, 6}};", "%sstruct tag_@ { int a; } %s = { 1 };",
                  "%sint (*%s)(int, char**) = 0;", "%slong other_@ = 2, %s = 4;", "%svolatile int %s;",
                  "%sint %s __attribute__((aligned(16))) = 0;", "%s__attribute__((used)) int %s = 2;",
                  "%sint *other_@, **%s;"]
        if self.is_c:
            simple += ["%sstruct { int x, y; } %s;"]  # in C++ it has no linkage
        else:
            simple += ["%sint %s{5};", "%sint %s(6);", "%sauto %s = [](int a) { return a + 1; }(2);",
                       "%sbool %s = 1 < 2, other_@ = 3 > 2;", "%sint %s [[maybe_unused]] = 1'000;",
                       "%sdecltype(1 + 2) %s = 3;", "%salignas(16) char %s[4];", "%sdouble %s = 1.5e-3;"]
        text = self.random.choice(simple).replace("@", str(self.counter))
        if prefix.startswith("extern "):
            return None
        if self.some(0.15) and text == "%sint %s = 3;":
            return "%sint\n  %s\n  = 3;" % (prefix, name), 1
        return text % (prefix, name), 0

    def function(self, name, prefix):
        forms = [("%sint %s(int x) { return x; }", "i", 0), ("%svoid %s(const char* text)\n{\n  (void)text;\n}", "PKc", 0),
                 ("%sdouble %s(double a, double b) { if (a > b) { return a; } return b; }", "dd", 0),
                 ("%sint *%s(void) { return 0; }", "v", 0), ("%sunsigned\n%s(unsigned x) { return x; }", "j", 1),
                 ("%s__attribute__((noinline)) int %s(int a, int* b) { return a + *b; }", "iPi", 0),
                 ("%sint (*%s(int x))(int) { (void)x; return 0; }", "i", 0)]
        if not self.is_c:
            forms += [("%sauto %s(int x) -> long { return x; }", "i", 0), ("%sint %s(int x = 3) noexcept { return x; }", "i", 0),
                      ("%sbool %s(bool a) try { return a; } catch (...) { return false; }", "b", 0),
                      ("%slong %s [[nodiscard]] (long x) { auto f = [=]() { return x; }; return f(); }", "l", 0)]
        text, parameters, offset = self.random.choice(forms)
        return text % (prefix, name), offset, parameters

    def plant(self, file):
        """Adds one definition; returns [(symbol, kind, line, cause)] and the names that stay undefined."""
        name = self.fresh()
        macro, wanted, cause = self.random.choice(self.macros) if self.macros and self.some(0.5) else ("", "empty", None)
        prefix = macro + " " if macro else ""
        strong = wanted in ("empty", "attribute")
        opened, spaces, closed = self.open_spaces()
        for _ in range(self.random.randint(0, 2)):
            self.noise(file, name)
        if opened:
            file.add(opened)
        if self.some(0.2) and not spaces:
            file.add("extern int %s_later;" % name)
        before = len(file.lines)
        shape = self.random.random()
        if not self.is_c and shape < 0.35:
            found = self.plant_cxx(file, name, prefix, spaces, strong)
        elif shape < 0.65 and wanted not in ("extern", "static"):
            text, offset, parameters = self.function(name, prefix)
            linkage = not self.is_c and self.some(0.2)
            if linkage:
                offset += 1
                text = "extern \"C\" {\n" + text + "\n}"
            line = file.add(text) + offset
            symbol = name if self.is_c or linkage else mangled(spaces, name, parameters)
            found = [(symbol, "f", line)]
        else:
            found = self.plant_variable(file, name, prefix, wanted, spaces)
        if closed:
            file.add(closed)
        self.noise(file, name)
        if macro and not any(macro in line for line in file.lines[before:]):
            cause = None  # it could not stand there
        note = dict(zip(("macro", "value", "header", "line", "undefined"), cause)) if cause else None
        if not found:
            return [], []
        if strong:
            return [symbol + (note,) for symbol in found], []
        return [], [(symbol, kind) for symbol, kind, _ in found]

    def plant_variable(self, file, name, prefix, wanted, spaces):
        if wanted == "extern":
            line = file.add("%sint %s;" % (prefix, name))
        elif wanted == "inline":
            if self.standard == "c++14":
                return []
            line = file.add("%sint %s = 2;" % (prefix, name))
        else:
            text, offset = self.variable(name, prefix)
            form = self.random.random()
            if not self.is_c and form < 0.15:
                text, offset = "extern \"C\" {\n" + text + "\n}", offset + 1
                spaces = []
            elif form < 0.25 and not prefix:  # the macro makes all of it
                maker = self.fresh("MAKE").upper()
                file.add("#define %s(type, name) \\\n  type name = 0" % maker)
                text, offset = "%s(int,\n  %s);" % (maker, name), 0
            line = file.add(text) + offset
        return [(mangled(spaces, name) if spaces else name, "v", line)]

    def plant_cxx(self, file, name, prefix, spaces, strong):
        """What only C++ has. `prefix` is not used where a macro could not stand."""
        if not strong:
            return []
        form = self.random.randrange(6)
        cls = self.fresh("Type")
        if form == 0:  # a static data member
            file.add("struct %s {\n  static int %s;\n  int get() const { return %s; }\n};" % (cls, name, name))
            return [(mangled(spaces + [cls], name), "v", file.add("%sint %s::%s = 4;" % (prefix, cls, name)))]
        if form == 1:  # a member function
            file.add("class %s final {\n public:\n  int %s(int) const;\n  void %s();\n};" % (cls, name, self.fresh()))
            line = file.add("%sint %s::%s(int a) const { return a; }" % (prefix, cls, name))
            return [(mangled(spaces + [cls], name, "i", const=True), "f", line)]
        if form == 2:  # an explicit specialisation
            file.add("template <class T> int %s(int);\ntemplate <class T>\nint %s(int x) { return x + (int)sizeof(T); }"
                     % (name, name))
            line = file.add("template <>\n%sint %s<long>(int x) { return x; }" % (prefix, name)) + 1
            return [(mangled(spaces, name, "ii", "IlE"), "f", line)]
        if form == 3:  # a constructor
            file.add("struct %s {\n  explicit %s(int x);\n  int a, b;\n};" % (cls, cls))
            line = file.add("%s::%s(int x) : a(x), b{x < 3 ? 1 : 2} { a += b; }" % (cls, cls))
            return [(mangled(spaces + [cls], "C1", "i"), "f", line)]
        if form == 4:  # an operator
            file.add("struct %s { int a; };" % cls)
            line = file.add("%sint operator+(const %s& x, int y) { return x.a + y; }" % (prefix, cls))
            # The namespaces were met in the function's own name: S_ is the first of them, S0_ the first two.
            outer = "S%s_" % ["", "", "0", "1"][len(spaces)]
            argument = "RK" + ("N%s%d%sE" if spaces else "%.0s%d%s") % (outer, len(cls), cls)
            return [(mangled(spaces, "pl", argument + "i"), "f", line)]
        file.add("enum class %s : unsigned { one, two };" % cls)
        line = file.add("%s%s %s = %s::two;" % (prefix, cls, name, cls))
        return [(mangled(spaces, name) if spaces else name, "v", line)]

    # files
    def header(self, number, folder):
        style = self.random.choice(["guard", "once", "both", "if"])
        name = "%s_%d.%s" % (self.random.choice(WORDS), number, self.random.choice(["h", "hpp", "cuh"]))
        file = File(os.path.join(folder, name), True)
        if self.some(0.5):
            file.add("// Copyright\n/* and\n * more */")
        guard = "%s_H_%d" % (name.split(".")[0].upper(), number)
        if style in ("once", "both"):
            file.add("#pragma once")
        if style in ("guard", "both"):
            file.add("#ifndef %s\n#define %s" % (guard, guard))
        if style == "if":
            file.add("#if !defined(%s)  // guard\n#define %s 1" % (guard, guard))
        file.end = "#endif  // " + guard if style != "once" else ""
        return file

    def spell(self, file, target):
        """One of the ways in which `file` can include `target`."""
        ways = ['"%s"' % os.path.relpath(target.path, os.path.dirname(file.path))]
        for root in ("include/", "third/include/"):
            if target.path.startswith(root):
                ways += ["<%s>" % target.path[len(root):], '"%s"' % target.path[len(root):]]
        spelled = self.random.choice(ways)
        if self.some(0.1):
            macro = self.fresh("HEADER").upper()
            file.add("#define %s %s" % (macro, spelled))
            return macro
        return spelled

    def add_includes(self, file, among, most):
        for target in self.random.sample(among, min(len(among), self.random.randint(0, most))):
            if self.some(0.2):
                feature = self.random.choice(list(self.features))
                on = self.features[feature] is not None
                test, active = self.random.choice([("#ifdef %s" % feature, on), ("#ifndef %s" % feature, not on),
                                                   ("#if defined(%s) && %s + 1 > 1" % (feature, feature), on)])
                file.add(test)
                file.include(target, self.spell(file, target), active)
                file.add("#endif")
            else:
                file.include(target, self.spell(file, target))

    def make(self):
        self.features = {"FEATURE_A": "1", "FEATURE_B": None, "FEATURE_C": "2"}
        folders = ["include/lib", "include/lib/sub", "include/other", "third/include/ext", "src/common"]
        first = self.header(0, "include/lib")
        for _ in range(self.random.randint(1, 3)):
            self.config_macro(first)
        self.close(first)
        self.absent = []
        for number in range(1, self.random.randint(3, 8)):
            file = self.header(number, self.random.choice(folders))
            file.include(first, self.spell(file, first))
            self.add_includes(file, self.headers[1:], 2)
            if self.some(0.3):
                self.config_macro(file)
            for _ in range(self.random.randint(0, 2)):
                planted, absent = self.plant(file)
                file.items += [("defined",) + one for one in planted]
                file.items += [("absent",) + one for one in absent]
            # A macro of this header is not there for one that does not include it.
            self.macros = [macro for macro in self.macros if macro[2][2] == first.path]
            self.close(file)
        self.units = [self.unit("src/%s.%s" % (name, "c" if self.is_c else "cpp")) for name in ("a", "b")]

    def close(self, file):
        if file.end:
            file.add(file.end)
        self.headers.append(file)

    def unit(self, path):
        file = File(path, False)
        headers = self.headers[1:]
        self.random.shuffle(headers)
        for target in headers[:self.random.randint(1, len(headers))]:
            file.include(target, self.spell(file, target))
        again = self.random.choice(headers)
        file.include(again, self.spell(file, again))
        file.add("static int use_me(void) { return 1; }\nint %s(void) { return use_me(); }" % self.fresh("main"))
        return file

    # what a preprocessor does
    def walk(self, file, chain, seen, result):
        if file.path in seen:
            return
        if file.guard:
            seen.add(file.path)
        for item in file.items:
            if item[0] == "include":
                self.walk(item[2], chain + [[file.path, item[1]]], seen, result)
            elif item[0] == "defined":
                result["defined"].append({"symbol": item[1], "kind": item[2], "header": file.path, "line": item[3],
                                          "chain": chain, "cause": item[4]})
            else:
                result["absent"].append({"symbol": item[1], "kind": item[2]})

    def write(self, folder):
        for file in self.headers + self.units:
            file.write(folder)
        units = []
        for file in self.units:
            unit = {"source": file.path, "language": "c" if self.is_c else "c++", "standard": self.standard,
                    "include_dirs": ["include", "third/include"],
                    "defines": [[name, value] for name, value in self.features.items() if value is not None],
                    "defined": [], "absent": []}
            self.walk(file, [], set(), unit)
            units.append(unit)
        with open(os.path.join(folder, "truth.json"), "w") as out:
            json.dump({"units": units}, out, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for number in range(arguments.count):
        Project(arguments.seed * 100003 + number).write(os.path.join(arguments.folder, "p%04d" % number))


if __name__ == "__main__":
    main()
