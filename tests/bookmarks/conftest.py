"""Profiles on each store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres import address_of, shared_cluster


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a profile that does not exist, on each store."""
    if request.param == "postgres":
        return shared_cluster().new_address()
    return address_of(tmp_path / "profile.db")
