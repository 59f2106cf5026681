"""A real Chromium and a site, for the formats that browsers read and write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.chromium.conftest import browser
from tests.site import Site

__all__ = ["browser", "site"]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running
