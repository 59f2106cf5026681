from __future__ import annotations

import os

import pytest

from hatbox.engines.chromium.launch import find_browser
from hatbox.errors import EngineError


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium; without one the test is skipped, but not where browsers are required."""
    try:
        return str(find_browser())
    except EngineError as error:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            raise
        pytest.skip(str(error))
