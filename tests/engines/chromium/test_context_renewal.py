"""A context whose settings have changed is made anew, whatever it was doing (engines/chromium/context_renewal.py)."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.context_renewal import ContextRenewal
from hatbox.identity.settings import NO_SETTINGS, SETTINGS_CHANGED, IdentitySettings
from hatbox.store.base import RESYNC, ChangeRecord
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"
OLD, NEW = NO_SETTINGS, IdentitySettings(proxy="http://127.0.0.1:9")
RESYNCED, CHANGED = ChangeRecord(RESYNC, b"", None), ChangeRecord(SETTINGS_CHANGED, b'"firefox-container-2"', None)


class Context:
    """Records what happens to a context."""

    def __init__(self, settings: IdentitySettings, *, goes_offline: bool = True) -> None:
        self.context_id = "context"
        self.cookie_store_id = WORK
        self.settings = settings
        self.users = 0
        self.pages: list[Any] = []
        self.calls: list[str] = []
        self._goes_offline = goes_offline

    async def go_offline(self) -> bool:
        self.calls.append("offline")
        return self._goes_offline

    async def close(self) -> None:
        self.calls.append("close")

    async def discard(self) -> None:
        self.calls.append("discard")


class Browser:
    """Contexts of Work, whose settings are `settings`. A context is created when `created` is set."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, blocks_webrtc: bool = True, goes_offline: bool = True
    ) -> None:
        self.settings = OLD
        self.made: list[Context] = []
        self.created = asyncio.Event()
        self.restarts: list[str] = []
        self.has_proxies = False
        self._goes_offline = goes_offline
        self.env: Any = SimpleNamespace(
            tasks=SimpleNamespace(spawn=asyncio.ensure_future),
            launched=SimpleNamespace(blocks_webrtc=blocks_webrtc),
            delegate=SimpleNamespace(restart_needed=self.restarts.append),
            store=SimpleNamespace(read=self._read),
        )
        self.contexts = ContextRegistry(self.env)  # type: ignore[arg-type]
        monkeypatch.setattr(self.contexts, "_create", self._create)
        monkeypatch.setattr(self.contexts, "_settings", self._settings)
        self.renewal = ContextRenewal(self.env, self.contexts, {}, SimpleNamespace())  # type: ignore[arg-type]

    async def use(self) -> None:
        async with self.contexts.use(WORK):
            pass

    async def change(self, record: ChangeRecord) -> None:
        self.renewal._on_change(record)
        await asyncio.sleep(0)

    async def _create(self, cookie_store_id: str) -> Context:
        assert cookie_store_id == WORK
        settings = self.settings
        await self.created.wait()
        self.made.append(Context(settings, goes_offline=self._goes_offline))
        return self.made[-1]

    async def _settings(self, _: str) -> IdentitySettings:
        return self.settings

    async def _read(self, _: object) -> bool:
        return self.has_proxies


@pytest.mark.parametrize("record", [RESYNCED, CHANGED])
@in_loop
async def test_a_context_that_was_being_created_with_the_old_settings_is_made_anew(
    record: ChangeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(monkeypatch)
    using = asyncio.ensure_future(browser.use())
    await asyncio.sleep(0)
    browser.settings = NEW
    await browser.change(record)
    browser.created.set()
    await using
    await browser.renewal.wait()
    assert browser.made[0].calls == ["offline", "close"]
    assert list(browser.contexts) == []


@in_loop
async def test_a_context_that_cannot_be_taken_offline_is_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(monkeypatch, goes_offline=False)
    browser.created.set()
    await browser.use()
    browser.made[0].users = 1  # a page is being opened, and does not end
    browser.settings = NEW
    await browser.change(CHANGED)
    await browser.renewal.wait()
    assert browser.made[0].calls == ["offline", "discard"]
    assert list(browser.contexts) == []


@pytest.mark.parametrize("record", [RESYNCED, CHANGED])
@pytest.mark.parametrize(
    ("blocks_webrtc", "has_proxies", "restarts"), [(False, True, 1), (False, False, 0), (True, True, 0)]
)
@in_loop
async def test_the_first_proxy_restarts_the_browser_when_it_is_set_although_its_identity_has_no_page(
    record: ChangeRecord, monkeypatch: pytest.MonkeyPatch, blocks_webrtc: bool, has_proxies: bool, restarts: int
) -> None:
    browser = Browser(monkeypatch, blocks_webrtc=blocks_webrtc)
    browser.has_proxies = has_proxies
    await browser.change(record)
    await browser.renewal.wait()
    assert len(browser.restarts) == restarts
