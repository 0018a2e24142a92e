"""elfaudit in Bazel: the facts of each object as an action of its own, and an audit of each link over facts alone.

The audit of a link needs no object, so it runs beside the linker, wherever the facts are. What changes one object changes one facts file.
"""

ElfauditInfo = provider(
    doc = "What an audit needs of a target and of all that it links.",
    fields = {
        "facts": "depset of struct(file, facts): an object or archive, and its facts; the actions run for what is asked for",
        "links": "list of the links of this target itself, as _link_of makes them",
    },
)

ElfauditOptionsInfo = provider(doc = "Options for each audit.", fields = {"words": "list of strings"})

def _elfaudit_options_impl(ctx):
    return [ElfauditOptionsInfo(words = [word for word in ctx.build_setting_value.split(" ") if word])]

elfaudit_options = rule(
    doc = "A flag: options of `elfaudit check`, with spaces between them.",
    implementation = _elfaudit_options_impl,
    build_setting = config.string(flag = True),
)

# Attributes whose targets are linked in. What comes by another one is indexed where it is linked.
_LINKED = ["deps", "implementation_deps", "interface_deps", "dynamic_deps", "roots", "malloc", "link_extra_lib"]

_INDEXED = ["o", "a", "lo"]  # lo: the archive of an alwayslink library

_PROGRAMS = ["cc_binary", "cc_test", "cc_shared_library"]

_ATTRS = {
    "_elfaudit": attr.label(default = "//:program", allow_single_file = True, executable = True, cfg = "exec"),
    "_check_options": attr.label(default = "//:check_options"),
    "_check_inputs": attr.label(default = "//:check_inputs", allow_files = True),
    "_no_commands": attr.label(default = "//:no_commands.json", allow_single_file = True),
}

def _targets(value):
    if type(value) == "Target":
        return [value]
    return [each for each in value if type(each) == "Target"] if type(value) == "list" else []

def _program(ctx):
    program = ctx.executable._elfaudit
    if "/" not in program.path:
        fail("elfaudit: %s is at the top of the workspace, so Bazel would look for it in PATH: put it in a folder" % program.path)
    return program

def _index(ctx, file):
    # The name of the folder is the target's: what two targets link of a third that was not visited has facts in both.
    here = ctx.label.package + "/" if ctx.label.package else ""
    name = file.short_path
    name = name[len(here):] if name.startswith(here) else name.replace("../", "")
    facts = ctx.actions.declare_file(ctx.label.name + ".elfaudit/" + name + ".facts")
    options = ctx.attr._check_options[ElfauditOptionsInfo].words
    types = ["--types"] if [word for word in options if word == "divergent-definition" or word.endswith("divergent-definition=on")] else []
    ctx.actions.run(
        executable = _program(ctx),
        arguments = ["index"] + types + [file.path, "-o", facts.path],
        inputs = [file],
        outputs = [facts],
        mnemonic = "ElfauditIndex",
        progress_message = "Indexing " + file.short_path,
    )
    return struct(file = file, facts = facts)

def _files_of(library):
    """All that a link may take of a library: its objects, or the archive of them where the linker has no --start-lib."""
    files = (library.objects or []) + (library.pic_objects or []) + [library.static_library, library.pic_static_library]
    return [file for file in files if file and not file.is_directory]

def _all_of(library):
    """All that is in a library, once: its objects, or the archive of them where there are none."""
    objects = library.pic_objects or library.objects
    archives = [library.pic_static_library, library.static_library, library.dynamic_library]
    return objects or [file for file in archives if file][:1]

def _is_words_of(action, path):
    return path.endswith(".params") and bool([file for file in action.outputs.to_list() if path.startswith(file.path + "-")])

def _link_of(action, known):
    """A link with facts in place of objects; None where objects are known only when it runs, as those of a generated directory."""
    inputs = action.inputs.to_list()
    words = {word: None for word in action.argv}
    if [file for file in inputs if file.is_directory and file.path in words]:
        return None

    # The linker's own file of words repeats what stands beside it, and is no input of ours.
    words = [word for word in action.argv if not (word.startswith("@") and _is_words_of(action, word[1:]))]
    if len(words) < 3:  # not even -o FILE
        fail("elfaudit: Bazel doesn't tell the words of the link: " + " ".join(action.argv))
    replaced = {word: known[word] for word in words if word in known}
    return struct(
        driver = words[0],
        words = [replaced[word].path if word in replaced else word for word in words[1:]],
        facts = replaced.values(),
        rest = [file for file in inputs if file.path not in replaced and not _is_words_of(action, file.path)],
        env = getattr(action, "env", {}),
    )

_RUN = """program=$1 report=$2 script=$3; shift 3
"$program" "$@" >"$report"; code=$?
"""

# What --quiet leaves is worth showing, of a build that goes on, too.
_VALIDATE = _RUN + """[ ! -s "$report" ] || cat "$report" >&2
exit $code
"""

# The verdict is reached where the facts are; the test tells it. $0.txt is the report's name beside runfiles and in them.
_TEST = _RUN + """printf '#!/bin/sh\\ncat "$0.txt"\\nexit %s\\n' "$code" >"$script" && chmod +x "$script"
"""

def _check(ctx, link, report, script = None, options = [], data = depset()):
    head = ctx.actions.args()
    head.add_all([_program(ctx).path, report.path, script.path if script else ""])
    head.add_all(["check", "--quiet", "--one-link", "--map-path", "/proc/self/cwd/="])
    head.add("--compile-commands", ctx.file._no_commands)  # else one that is no input would be looked for
    options = ctx.attr._check_options[ElfauditOptionsInfo].words + options
    if "--config" not in options:
        head.add("--no-config")  # nor one of these
    head.add_all(options)
    if link.driver:
        head.add_all(["--", link.driver])
    tail = ctx.actions.args()
    tail.add_all(link.words)
    tail.use_param_file("@%s", use_always = True)
    tail.set_param_file_format("shell")
    ctx.actions.run_shell(
        command = _TEST if script else _VALIDATE,
        arguments = [head, tail],
        tools = [ctx.executable._elfaudit],
        inputs = depset(link.facts + link.rest + [ctx.file._no_commands], transitive = [data, ctx.attr._check_inputs[DefaultInfo].files]),
        outputs = [report] + ([script] if script else []),
        env = link.env,
        use_default_shell_env = True,  # Bazel 7 and later put env on top of it; what links before 7 run with is this alone
        mnemonic = "ElfauditCheck",
        progress_message = "Auditing " + str(ctx.label),
    )

def _validate(ctx, link):
    report = ctx.actions.declare_file(ctx.label.name + ".elfaudit/check.txt")
    _check(ctx, link, report)
    return report

def _aspect_impl(target, ctx, validate):
    visited = [dep for name in _LINKED for dep in _targets(getattr(ctx.rule.attr, name, None)) if ElfauditInfo in dep]
    below = depset(transitive = [dep[ElfauditInfo].facts for dep in visited])
    own, brought, links = [], [], []
    if ctx.rule.kind in _PROGRAMS:
        # A program has no linking context of its own: the words of its link say what is linked, in which order and groups.
        known = {each.file.path: each.facts for each in below.to_list()}
        for action in [action for action in target.actions if action.mnemonic == "CppLink"][:1]:
            words = {word: None for word in action.argv}
            for file in action.inputs.to_list():
                if file.path in words and file.path not in known and file.extension in _INDEXED and not file.is_directory:
                    own.append(_index(ctx, file))
                    known[file.path] = own[-1].facts
            link = _link_of(action, known)
            if link:
                links.append(link)
                brought += link.facts
            else:
                # buildifier: disable=print
                print("elfaudit: %s is not audited: it links a directory of objects" % ctx.label)
    elif CcInfo in target:
        inputs = [each for each in target[CcInfo].linking_context.linker_inputs.to_list() if each.owner == target.label]
        libraries = [library for each in inputs for library in each.libraries]
        facts = {file: _index(ctx, file) for file in {file: None for library in libraries for file in _files_of(library)}}
        own = facts.values()
        brought = [facts[file].facts for library in libraries for file in _all_of(library) if file in facts]
    groups = {"elfaudit_facts": depset(brought)}
    if validate:
        groups["elfaudit"] = depset([_validate(ctx, link) for link in links])
        groups["_validation"] = groups["elfaudit"]
    return [ElfauditInfo(facts = depset(own, transitive = [below]), links = links), OutputGroupInfo(**groups)]

def _elfaudit_aspect_impl(target, ctx):
    return _aspect_impl(target, ctx, True)

def _elfaudit_facts_aspect_impl(target, ctx):
    return _aspect_impl(target, ctx, False)

elfaudit_aspect = aspect(
    doc = "For --aspects: audits each cc_binary, cc_test and cc_shared_library that is built; findings fail the build.",
    implementation = _elfaudit_aspect_impl,
    attr_aspects = _LINKED,
    attrs = _ATTRS,
)

elfaudit_facts_aspect = aspect(
    doc = "For attributes of rules: no validation action, since before Bazel 6.4 a rule and its aspect can't both have one.",
    implementation = _elfaudit_facts_aspect_impl,
    attr_aspects = _LINKED,
    attrs = _ATTRS,
)

def _libraries(ctx):
    """What the libraries among the targets, and all that these depend on, bring to a link: every object."""
    known = {each.file: each.facts for target in ctx.attr.targets for each in target[ElfauditInfo].facts.to_list()}
    libraries = [target for target in ctx.attr.targets if CcInfo in target and not target[ElfauditInfo].links]
    inputs = [each for target in libraries for each in target[CcInfo].linking_context.linker_inputs.to_list()]
    files = {file: None for each in inputs for library in each.libraries for file in _all_of(library)}
    if not files:
        return []
    words = [known.get(file, file).path for file in files]
    rest = [file for file in files if file not in known]
    return [struct(driver = None, words = words, facts = [known[file] for file in files if file in known], rest = rest, env = {})]

def _elfaudit_test_impl(ctx):
    links = [link for target in ctx.attr.targets for link in target[ElfauditInfo].links] + _libraries(ctx)
    if len(links) != 1:
        fail("targets: one program, or libraries that are audited together; these are %d links" % len(links))
    report = ctx.actions.declare_file(ctx.label.name + ".txt")
    script = ctx.actions.declare_file(ctx.label.name)
    options = [ctx.expand_location(word, ctx.attr.data) for word in ctx.attr.check_options]
    _check(ctx, links[0], report, script, options, depset(ctx.files.data))
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = [report]))]

elfaudit_test = rule(
    doc = "A test that fails with the findings in a program's link, or in what libraries bring to one.",
    implementation = _elfaudit_test_impl,
    test = True,
    attrs = dict(
        targets = attr.label_list(
            mandatory = True,
            aspects = [elfaudit_facts_aspect],
            doc = "one program, or libraries that are audited together with all that they depend on",
        ),
        check_options = attr.string_list(doc = "more options of `elfaudit check`; $(location) of what is in data"),
        data = attr.label_list(allow_files = True, doc = "files that check_options name: a baseline, a configuration"),
        **_ATTRS
    ),
)
