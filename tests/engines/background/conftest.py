from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a profile. Logs go to a temporary directory too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "profile.db"
