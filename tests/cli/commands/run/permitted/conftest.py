"""Runs the text of a script with permissions, in a folder without the profile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Result, run_process
from tests.marks import starts

Permitted = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the script, beside the profile."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
@starts("process")
def permitted(folder: Path) -> Permitted:
    def run(text: str, *arguments: str, permission: str = "contextualIdentities", **options: Any) -> Result:
        (folder / "x.py").write_text(text)
        return run_process("run", "--permission", permission, "x.py", *arguments, **options)

    return run
