"""Visited pages are recorded only if the user says so, or an installed extension may read them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import hatbox
from hatbox import Profile
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extension_data.granted_permissions import save_granted
from hatbox.store.base import Transaction
from hatbox.tabs.pages import PageState, update_page
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.store.in_loop import in_loop

SITE = "https://site.example/"


async def visit(profile: Profile, url: str = SITE, identity: str = "Work", title: str = "Title", **page: str) -> int:
    """Open a page as an engine reports it: first its URL, then its title."""
    tab = await profile.tabs.open(identity, url)
    loaded = page.get("at", url)
    await profile.tabs.write(lambda each: update_page(each, tab.id, 1, PageState(loaded), done=False))
    await profile.tabs.write(lambda each: update_page(each, tab.id, 1, PageState(loaded, title, http_status=200)))
    return tab.id


async def urls(profile: Profile) -> list[str]:
    return [page.url for page in await profile.history.search()]


@in_loop
async def test_nothing_is_recorded_unless_the_user_says_so(address: str) -> None:
    async with hatbox.open(address) as profile:
        await visit(profile)
        assert await urls(profile) == []
        await profile.set_settings(history="on")
        await visit(profile)
        assert [(page.url, page.title, page.visits) for page in await profile.history.search()] == [(SITE, "Title", 1)]
        await profile.set_settings(history="off")
        await visit(profile, SITE + "off")
        assert await urls(profile) == [SITE]


@in_loop
async def test_an_unknown_value_of_the_setting_is_refused_and_one_of_a_later_version_records_nothing(
    address: str,
) -> None:
    async with hatbox.open(address) as profile:
        with pytest.raises(ValueError, match="history must be auto, on or off, not 'yes'"):
            await profile.set_settings(history="yes")
        await profile.store.write(lambda each: each.settings.put(0, "history", b'"sometimes"'))
        await visit(profile)
        assert await urls(profile) == []
        assert (await profile.settings()).history == "auto"


@needs_deno
@in_loop
async def test_it_is_recorded_while_an_extension_with_the_permission_runs_or_is_installed(tmp_path: Path) -> None:
    made = make(tmp_path, permissions=["history"], name="with")
    without = make(tmp_path, permissions=["tabs"], optional_permissions=["history"], name="without")
    async with hatbox.open(tmp_path / "profile.db") as profile:
        other = await profile.extensions.start(without)
        await visit(profile, SITE + "none")
        extension = await profile.extensions.start(made)
        await visit(profile, SITE + "running")
        await profile.extensions.stop(extension)
        await visit(profile, SITE + "stopped")
        await profile.store.write(lambda each: save_granted(each, other.area, Permissions(("history",))))
        await visit(profile, SITE + "granted")
        await profile.extensions.stop(other)
        installed = await profile.extensions.install(made)
        await visit(profile, SITE + "installed")
        await profile.extensions.remove(installed.extension.area)
        await visit(profile, SITE + "removed")
        assert await urls(profile) == [SITE + "installed", SITE + "granted", SITE + "running"]


@needs_deno
@in_loop
async def test_nothing_is_recorded_after_the_run_of_a_temporary_extension_was_killed(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        extension = await profile.extensions.start(make(tmp_path, permissions=["history"]))

        def kill(transaction: Transaction) -> None:
            """Leave the record of a process that has ended."""
            record = msgspec.json.decode(transaction.extensions.get(extension.area, "running", "") or b"")
            killed = msgspec.json.encode({**record, "since": "0"})
            transaction.extensions.put(extension.area, "running", "", killed)

        await visit(profile)
        await profile.store.write(kill)
        await visit(profile, SITE + "killed")
        assert await urls(profile) == [SITE]


@in_loop
async def test_each_identity_has_its_own_history(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(history="on")
        await visit(profile, identity="Work")
        await visit(profile, identity="Personal")
        await visit(profile, identity="firefox-default")
        found = await profile.history.search()
        assert [page.cookie_store_id for page in found] == [
            "firefox-default",
            "firefox-container-1",
            "firefox-container-2",
        ]
        (only,) = await profile.history.search(identity="Work")
        assert only.cookie_store_id == "firefox-container-2"
        await profile.history.clear("Work")
        assert len(await urls(profile)) == 2
        await profile.history.clear()
        assert await urls(profile) == []


@in_loop
async def test_a_removed_identity_takes_its_history_with_it_and_the_trash_brings_it_back(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(history="on")
        await visit(profile)
        before = await profile.history.search()
        clone = await profile.identities.clone("Work")
        assert await profile.history.search(identity=clone) == []
        await profile.identities.remove("Work")
        assert await urls(profile) == []
        await profile.trash.restore("Work")
        assert await profile.history.search() == before
        await profile.identities.remove("Work", forever=True)
        assert await urls(profile) == []


@in_loop
async def test_reloads_errors_blank_pages_and_credentials_are_not_recorded(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(history="on")
        tab = await visit(profile, "https://user:secret@site.example/", at=SITE)
        await profile.tabs.reload(tab)
        await profile.tabs.write(lambda each: update_page(each, tab, 2, PageState(SITE, "Title", http_status=200)))
        failed = await profile.tabs.open("Work", SITE + "failed")
        error = PageState(SITE + "failed", error="no connection")
        await profile.tabs.write(lambda each: update_page(each, failed.id, 1, error))
        await visit(profile, "about:blank")
        await visit(profile, "data:text/html,x")
        (page,) = await profile.history.search()
        assert (page.url, page.visits) == (SITE, 1)


@in_loop
async def test_a_redirect_and_a_page_that_changes_its_address_are_visits(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(history="on")
        tab = await visit(profile, SITE + "old", at=SITE)
        await profile.tabs.write(lambda each: update_page(each, tab, 1, PageState(SITE + "#part", "Part")))
        assert await urls(profile) == [SITE + "#part", SITE, SITE + "old"]
        assert await profile.history.search("PÁRT") == (await profile.history.search())[:1]
        assert await profile.history.search("part nothing") == []
