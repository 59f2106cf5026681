"""A page sends calls again after its server was killed. Those that have taken effect, and only those, are recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import platformdirs
import pytest

import hatbox
from hatbox.archive import profile_archive
from hatbox.engines import restoring, settings_change
from hatbox.engines.background.engine_starts import EngineStarts
from hatbox.errors import ArchiveError, EngineError
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
async def test_a_restore_that_has_only_closed_pages_is_repeated_and_shows_their_identity_again(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def running_engines(*_: Any) -> Any:
        return [SimpleNamespace(engine="Chromium")]

    async def engine_for(*_: Any) -> Any:
        return SimpleNamespace(engine="Chromium")

    restore_profile = profile_archive.restore_profile

    async def fail(*arguments: Any, dry_run: bool, **options: Any) -> Any:
        if dry_run:
            return await restore_profile(*arguments, dry_run=dry_run, **options)
        assert (await profile.identities.get(WORK)).hidden
        raise ArchiveError("monday.hatbox", "killed", "")

    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(Profile, "running_engines", running_engines)
    monkeypatch.setattr(restoring, "engine_for", engine_for)
    async with hatbox.open(address) as profile:
        archives = profile.browser(["hatbox"]).hatbox.archives

        def put(value: bytes) -> Awaitable[None]:
            return profile.store.write(lambda each: each.site_data.put(2, "https://site.example", value))

        async def restore() -> None:
            with pytest.raises(ArchiveError):
                await archives.restore("monday.hatbox")

        await put(b'{"local":[["a","before"]]}')
        await archives.backup({"name": "monday"})
        await put(b'{"local":[["a","after"]]}')
        with monkeypatch.context() as patch:
            patch.setattr(profile_archive, "restore_profile", fail)
            assert not await is_recorded(profile, restore)
        assert not (await profile.identities.get(WORK)).hidden
        await profile.identities.hide(WORK)  # as a killed restore leaves it
        assert await is_recorded(profile, lambda: archives.restore("monday.hatbox"))
        assert not (await profile.identities.get(WORK)).hidden
        data = dict(await profile.store.read(lambda each: each.site_data.load(2)))
        assert b"before" in data["https://site.example"]


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
