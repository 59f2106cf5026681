"""A page sends calls again after its server was killed. Those that have taken effect, and only those, are recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import platformdirs
import pytest

import hatbox
from hatbox.engines import settings_change
from hatbox.engines.background.engine_starts import EngineStarts
from hatbox.errors import EngineError
from hatbox.profile import Profile
from hatbox.store.recorded_calls import RecordedCall, recorded_numbers
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"


async def is_recorded(profile: Profile, call: Callable[[], Awaitable[Any]]) -> bool:
    """Whether a call is answered with "was done" if it is sent again."""
    with RecordedCall("page", 1).running():
        await call()
    store = profile.store
    recorded = await store.read(lambda transaction: recorded_numbers(transaction, "page"))
    await store.write(lambda transaction: transaction.extensions.delete("", "call", f"page/{1:015d}"))
    return bool(recorded)


@in_loop
async def test_a_backup_is_written_and_deleted_once(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))
    async with hatbox.open(address) as profile:
        archives = profile.browser(["hatbox"]).hatbox.archives
        assert await is_recorded(profile, lambda: archives.backup({"name": "monday"}))
        assert not await is_recorded(profile, lambda: archives.preview("monday.hatbox"))
        assert await is_recorded(profile, lambda: archives.remove("monday.hatbox"))


@in_loop
async def test_reading_is_never_answered_with_was_done(address: str) -> None:
    async with hatbox.open(address) as profile:
        api = profile.browser(["hatbox", "contextualIdentities"])
        create = api.contextualIdentities.create
        assert await is_recorded(profile, lambda: create({"name": "Control", "color": "red", "icon": "gift"}))
        assert not await is_recorded(profile, lambda: api.hatbox.sites.cookies(WORK))
        assert not await is_recorded(profile, lambda: api.hatbox.sites.list())


@in_loop
async def test_settings_that_were_not_saved_are_not_reported_as_saved(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def engine_for(*_: Any) -> Any:
        return SimpleNamespace(engine="Chromium")

    monkeypatch.setattr(settings_change, "engine_for", engine_for)
    monkeypatch.setattr(settings_change, "_ANSWER_TIMEOUT", 0.01)
    async with hatbox.open(address) as profile:
        identities = profile.browser(["hatbox"]).hatbox.identities
        settings = {"locale": "de-DE"}
        assert not await is_recorded(profile, lambda: identities.setSettings(WORK, settings))
        assert (await identities.details(WORK))["settings"]["locale"] is None
        assert await is_recorded(profile, lambda: identities.setSettings(WORK, settings, True))


@in_loop
async def test_a_tab_whose_engine_was_not_started_is_brought_to_front_again(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ensure(*_: Any) -> bool:
        raise EngineError("killed")

    monkeypatch.setattr(EngineStarts, "ensure", ensure)
    async with hatbox.open(address) as profile:
        tabs = profile.browser(["hatbox"]).hatbox.tabs
        tab = await profile.tabs.open(WORK, "about:blank")

        async def activate() -> None:
            with pytest.raises(EngineError):
                await tabs.activate(tab.id)

        assert not await is_recorded(profile, activate)


@in_loop
async def test_an_extension_that_has_not_ended_is_stopped_again(address: str) -> None:
    async with hatbox.open(address) as profile:
        extensions = profile.browser(["hatbox"]).hatbox.extensions
        assert not await is_recorded(profile, lambda: extensions.stop("clock@site.example"))
