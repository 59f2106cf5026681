from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the machine's."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
