"""Which recordings are compared with a real Firefox again. HATBOX_TEST_RECORDINGS names them; by default, all."""

from __future__ import annotations

import os

import pytest

_CHECK = "test_firefox_still_answers_as_recorded"
_NAMES = os.environ.get("HATBOX_TEST_RECORDINGS")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the checks of other recordings: each takes Firefox minutes."""
    if _NAMES is None:
        return
    dropped = {
        item for item in items if item.name.partition("[")[0] == _CHECK and _recording(item) not in _NAMES.split()
    }
    items[:] = [item for item in items if item not in dropped]
    config.hook.pytest_deselected(items=list(dropped))


def _recording(item: pytest.Item) -> str:
    """The name of a recording: that of the suite, or of the module."""
    parameter = item.name.partition("[")[2].rstrip("]")
    return parameter or item.path.stem.removeprefix("test_")
