"""The same as repositories.bzl for MODULE.bazel. A file of its own: Bazel before 5 has no module_extension."""

load(":repositories.bzl", "elfaudit_local")

def _elfaudit_impl(ctx):
    paths = [tag.path for module in ctx.modules if module.is_root for tag in module.tags.local]
    elfaudit_local(name = "elfaudit_local", path = paths[0] if paths else "")

elfaudit = module_extension(
    implementation = _elfaudit_impl,
    tag_classes = {"local": tag_class(attrs = {"path": attr.string(doc = "an absolute path")})},
)
