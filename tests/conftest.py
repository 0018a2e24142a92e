"""What every Python test has: the `lab` fixture, and an exit code that tells CTest when a file was skipped whole."""

import collections
import os
import pathlib

import pytest

import compiled
from elfaudit_test import Lab, some_of

SKIPPED = 77  # tests/CMakeLists.txt: SKIP_RETURN_CODE
LONG_TABLE = 8  # cases


@pytest.fixture
def lab(tmp_path, tmp_path_factory):
    if not compiled.FOLDER:
        yield Lab(tmp_path)
        return
    place = tmp_path_factory.getbasetemp() / "now"  # the same for all tests of the file, with what they put beside their folder
    (place / "lab").mkdir(parents=True)
    yield Lab(place / "lab")
    place.rename(tmp_path / "was")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if compiled.FOLDER and not config.option.basetemp:
        file = pathlib.Path(config.args[0].split("::")[0])
        config.option.basetemp = os.path.join(compiled.FOLDER, "places", file.parent.name, file.stem)
        os.makedirs(os.path.dirname(config.option.basetemp), exist_ok=True)


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
