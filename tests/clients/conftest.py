from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.faces import FACES, Wardrobe, wardrobe
from tests.clients.server import Site


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the machine's."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=FACES)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of each client in turn."""
    name: str = request.param
    return name


@pytest.fixture
def clothes(path: Path, kind: str) -> Iterator[Wardrobe]:
    """An open profile in which each client can be made, in turn."""
    opened = wardrobe(path, kind)
    yield opened
    opened.close()
