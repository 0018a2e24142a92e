"""Reports about objects with random damage are valid documents too. The fuzz targets look for
crashes (docs/fuzzing.md); here the documents are held against their schemas."""

import json
import random
import xml.etree.ElementTree

import pytest

from elfaudit_test import SOURCE_DIR
from report_support import two_units

DOCUMENTS = {"json": json.loads, "sarif": json.loads, "gitlab": json.loads, "junit": xml.etree.ElementTree.fromstring}
ODD = [0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63, 2**64 - 1]


def damaged(content, rng):
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        # The tables at both ends of the file say what is where.
        at = rng.choice([rng.randrange(64), rng.randrange(len(content) - 8), len(content) - 8 - rng.randrange(2000)])
        size = rng.choice([1, 2, 4, 8])
        content[at : at + size] = (rng.choice(ODD) % 2 ** (8 * size)).to_bytes(size, "little")
    return content


def test_reports_about_damaged_objects_are_valid(lab):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SOURCE_DIR / "schema/elfaudit-1.schema.json").read_text())
    sound, other = two_units(lab)
    content = (lab.path / other).read_bytes()
    rng = random.Random(24)
    codes = set()
    for _ in range(40):
        (lab.path / "d.o").write_bytes(damaged(content, rng))
        code = lab.audit("check", *(f"--format={name}={name}.out" for name in DOCUMENTS), sound, "d.o").code
        codes.add(code)
        documents = {name: parse((lab.path / f"{name}.out").read_text()) for name, parse in DOCUMENTS.items()}
        jsonschema.validate(documents["json"], schema)
        assert documents["json"]["complete"] or code == 2
    assert codes == {1, 2}
