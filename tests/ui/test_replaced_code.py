"""An update while the server runs: the page says what to do, in place of an unexpected error."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hatbox.ui import page_calls
from hatbox.ui.replaced_code import UPDATED, was_replaced
from tests.ui.manager import Manager
from tests.ui.page_client import PageClient, open_link


async def test_a_call_that_an_update_broke_says_that_hatbox_was_updated(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_module(name: str) -> None:
        raise ImportError(f"cannot import name 'new' from {name!r}")

    monkeypatch.setattr("hatbox.manager_api.import_module", import_module)
    monkeypatch.setattr(page_calls, "was_replaced", lambda: False)  # files of Hatbox may change while its tests run
    async with PageClient(await open_link(manager.server.create_link())) as page:
        with pytest.raises(RuntimeError, match=r"^An unexpected error occurred$"):
            await page.call("hatbox.rules.list")
        monkeypatch.setattr(page_calls, "was_replaced", lambda: True)
        with pytest.raises(RuntimeError) as raised:
            await page.call("hatbox.rules.list")
    assert str(raised.value) == UPDATED


def test_a_module_that_was_replaced_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "module.py").touch()
    later = time.time() + 60
    assert not was_replaced(tmp_path, since=later)
    assert was_replaced(tmp_path, since=later - 3600)
    (tmp_path / "module.py").unlink()
    assert was_replaced(tmp_path, since=later), "the package is gone"
