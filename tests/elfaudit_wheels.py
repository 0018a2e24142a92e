"""Wheels made on the fly: extension modules compiled from a line of C, put into zip files that are sound or hostile."""

import zipfile

TRIPLET = "x86_64-linux-gnu"


def module(lab, name, uses=(), exports=None):
    """Compiles the shared object `name` (built/NAME), an extension module that calls `uses`; returns its bytes.

    exports: the stem of PyInit_*; "" for a helper library that is no module."""
    stem = name.rsplit("/", 1)[-1].split(".")[0] if exports is None else exports
    calls = "".join(f"extern int {symbol}(void); int call_{symbol}(void) {{ return {symbol}(); }}\n" for symbol in uses)
    source = lab.write("built/" + name + ".c", calls + (f"void *PyInit_{stem}(void) {{ return 0; }}\n" if stem else "int helper;\n"))
    lab.sh(f"cc -shared -fPIC -o built/{name} {source}")
    return (lab.path / "built" / name).read_bytes()


def wheel(lab, name, files, requires_python=None, tags=None, compression=zipfile.ZIP_DEFLATED, extra=""):
    """Writes the wheel `name` ("pkg-1.0-cp312-cp312-linux_x86_64.whl") with `files` {path: bytes}; returns its name."""
    parts = name.removesuffix(".whl").split("-")
    info = f"{parts[0]}-1.0.dist-info"
    tags = tags if tags is not None else ["-".join(parts[-3:])]
    metadata = f"Metadata-Version: 2.1\nName: {parts[0]}\nVersion: 1.0\n"
    if requires_python:
        metadata += f"Requires-Python: {requires_python}\n"
    with zipfile.ZipFile(lab.path / name, "w", compression) as out:
        for path, content in files.items():
            out.writestr(path, content)
        out.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\n" + "".join(f"Tag: {tag}\n" for tag in tags))
        out.writestr(f"{info}/METADATA", metadata + extra + "\nA description.\n")
        out.writestr(f"{info}/RECORD", "")
    return name


def errors(result):
    """(rule, message) of each error of a JSON report."""
    return [(f["rule"], f["message"]) for f in result.json()["findings"] if f["severity"] == "error"]
