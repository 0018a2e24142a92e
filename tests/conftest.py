"""What every Python test has: the `lab` fixture, and an exit code that tells CTest when a file was skipped whole."""

import collections

import pytest

from elfaudit_test import Lab, some_of

SKIPPED = 77  # tests/CMakeLists.txt: SKIP_RETURN_CODE
LONG_TABLE = 8  # cases


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def pytest_collection_modifyitems(config, items):
    tables = collections.defaultdict(list)
    for item in items:
        tables[item.nodeid.split("[")[0]].append(item)
    long_ones = [table for table in tables.values() if len(table) > LONG_TABLE]
    chosen = {name for table in long_ones for name in some_of(item.nodeid for item in table)}
    left_out = [item for table in long_ones for item in table if item.nodeid not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = any(reporter.stats.get(outcome) for outcome in ("passed", "failed", "error", "xfailed", "xpassed"))
    if reporter.stats.get("skipped") and not ran:
        session.exitstatus = SKIPPED
