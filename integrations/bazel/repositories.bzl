"""The repository that holds the elfaudit program of this machine."""

def _elfaudit_local_impl(ctx):
    wanted = ctx.attr.path or ctx.os.environ.get("ELFAUDIT", "")
    program = ctx.path(wanted) if wanted else ctx.which("elfaudit")
    if not program or not program.exists:
        fail("elfaudit: %s. Install it in a folder of PATH, or set ELFAUDIT (--repo_env=ELFAUDIT=/path/to/elfaudit)" %
             ("no such file: " + wanted if wanted else "no program of this name in PATH"))
    ctx.symlink(program, "bin/elfaudit")
    ctx.file("BUILD.bazel", 'exports_files(["bin/elfaudit"])\n', executable = False)

elfaudit_local = repository_rule(
    doc = "The program named by `path`, else by the environment variable ELFAUDIT, else the one in PATH.",
    implementation = _elfaudit_local_impl,
    attrs = {"path": attr.string(doc = "an absolute path")},
    environ = ["ELFAUDIT", "PATH"],
    local = True,
    configure = True,
)
