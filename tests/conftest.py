"""The `lab` fixture that every Python test has, the lane of a linker, and the exit code that tells CTest that all tests of a file were skipped."""

import pytest

from elfaudit_test import Lab

SKIPPED = 77  # tests/CMakeLists.txt: SKIP_RETURN_CODE


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of a test that has a parameter `linker`, only the cases of GNU ld are in the fast lane."""
    for item in items:
        linker = getattr(item, "callspec", None) and item.callspec.params.get("linker")
        if isinstance(linker, str) and linker not in ("bfd", "ld.bfd"):
            item.add_marker("deep")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = any(reporter.stats.get(outcome) for outcome in ("passed", "failed", "error", "xfailed", "xpassed"))
    if reporter.stats.get("skipped") and not ran:
        session.exitstatus = SKIPPED
