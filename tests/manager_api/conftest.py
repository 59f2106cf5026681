"""Each test with `address` runs on each kind of store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres import address_for


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new profile, in each kind of store."""
    return str(tmp_path / "profile.db") if request.param == "sqlite" else address_for(tmp_path)
