"""The namespace hatbox.tabs, as the manager page uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.manager_api.undo_records import UndoExpired
from hatbox.profile import Profile
from hatbox.tabs.closed_tabs import get_sessions
from tests.manager_api.page_errors import refused, shown
from tests.site import Site
from tests.waiting import until_awaited

PERSONAL, WORK, BANKING = (f"firefox-container-{number}" for number in (1, 2, 3))


def in_profile(path: Path, test: Callable[[Profile, Any], Awaitable[None]]) -> None:
    async def run() -> None:
        async with hatbox.open(path / "profile.db") as profile:
            await test(profile, profile.browser(["hatbox"]).hatbox.tabs)

    asyncio.run(run())


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


async def titles(tabs: Any) -> list[str]:
    return [f"{each['cookieStoreId'][-1]} {each['title']}" for each in await tabs.list()]


@pytest.mark.parametrize(
    ("identity", "address", "message"),
    [
        (WORK, "two words", "This is not an address: two words. Try forge.example or https://forge.example/"),
        (WORK, "mailto:a@b.example", "This is not an address: mailto:a@b.example. Try forge.example or"),
        (WORK, "x" * 70_000, "This address is too long"),
        ("firefox-container-99", "forge.example", "This identity is gone."),
        ("nonsense", "forge.example", "This identity is gone."),
    ],
)
def test_a_wrong_address_opens_nothing_and_says_what_to_write(
    tmp_path: Path, identity: str, address: str, message: str
) -> None:
    async def test(_: Profile, tabs: Any) -> None:
        with refused() as error:
            await tabs.open(identity, address)
        assert message in shown(error.value)
        assert await tabs.list() == []

    in_profile(tmp_path, test)


def test_an_address_opens_with_the_engine_that_runs(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        with Site() as site:
            async with profile.http_engine() as engine:
                opened = await tabs.open(WORK, site.url("/page/1").removeprefix("http://"))
                assert opened["engine"] == "running"
                await engine.wait_until_loaded(opened["tab"]["id"])
                (tab,) = await tabs.list({"cookieStoreId": WORK})
                assert (tab["title"], tab["loading"], tab["error"]) == ("Page 1", False, "")
                failed = (await tabs.open(WORK, "127.0.0.1:1"))["tab"]["id"]
                await engine.wait_until_loaded(failed)
                (tab,) = await tabs.list({"ids": [failed, 999]})
                assert tab["error"]

    in_profile(tmp_path, test)


def test_a_closed_tab_comes_back_at_its_place_and_state(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        opened = [await profile.tabs.open(each, "https://site.example/") for each in (WORK, BANKING, WORK)]
        browser = profile.browser(["tabs"])
        await browser.tabs.update(opened[0].id, {"pinned": True})
        before = [(each["cookieStoreId"], each["pinned"], each["active"]) for each in await tabs.list()]
        for tab in await tabs.list():
            closed = await tabs.close(tab["id"])
            assert len(await tabs.list()) == 2
            await tabs.reopen(closed["undo"])
            assert [(each["cookieStoreId"], each["pinned"], each["active"]) for each in await tabs.list()] == before
            with refused("can no longer be undone"):
                await tabs.reopen(closed["undo"])
        with refused("This tab is gone"):
            await tabs.close(opened[0].id)

    in_profile(tmp_path, test)


def test_undo_brings_back_the_last_tab_of_a_window_and_hidden_ones_stay_hidden(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        tab = await profile.tabs.open(WORK, "https://site.example/")
        await profile.identities.hide(WORK)
        closed = await tabs.close(tab.id)
        assert await profile.tabs.windows() == []
        again = await tabs.reopen(closed["undo"])
        assert again["hidden"]
        assert (await profile.identities.resolve(WORK)).hidden
        assert len(await profile.tabs.windows()) == 1

        await profile.identities.show(WORK)
        closed = await tabs.close(again["id"])
        await profile.identities.remove(WORK)
        with refused("identity of this tab is gone"):
            await tabs.reopen(closed["undo"])

    in_profile(tmp_path, test)


def test_the_last_tab_of_a_temporary_identity_cannot_come_back(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        temporary = await profile.create_temporary()
        tab = await profile.tabs.open(temporary, "https://site.example/")
        assert await tabs.close(tab.id) == {}

    in_profile(tmp_path, test)


def test_an_undone_close_is_no_longer_among_the_recently_closed_tabs(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        await profile.set_settings(closed_tabs=5)
        tab = await profile.tabs.open(WORK, "https://site.example/")
        closed = await tabs.close(tab.id)
        assert len(await profile.store.read(get_sessions)) == 1
        await tabs.reopen(closed["undo"])
        assert await profile.store.read(get_sessions) == []

    in_profile(tmp_path, test)


def test_a_tab_moves_to_another_identity_with_its_cookies_and_back(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        with Site() as site:
            async with profile.http_engine() as engine:
                for identity, user in ((WORK, "Work"), (BANKING, "Banking")):
                    tab = (await tabs.open(identity, site.url("/login", user=user)))["tab"]
                    await engine.wait_until_loaded(tab["id"])
                first, second = await titles(tabs)
                moved = await tabs.moveTo((await tabs.list())[0]["id"], BANKING)
                await engine.wait_until_loaded(moved["tab"]["id"])
                assert await titles(tabs) == [second, second]  # signed in as Banking
                back = await tabs.reopen(moved["undo"])
                await engine.wait_until_loaded(back["id"])
                assert await titles(tabs) == [first, second]
                with refused("in that identity already"):
                    await tabs.moveTo(back["id"], WORK)
                with refused("This identity is gone"):
                    await tabs.moveTo(back["id"], "firefox-container-99")
                assert await titles(tabs) == [first, second]
        assert not site.mixed

    in_profile(tmp_path, test)


def test_changes_by_another_program_name_the_tabs(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        changes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        tabs.onChanged.addListener(changes.put_nowait)
        async with hatbox.open(tmp_path / "profile.db") as other:
            tab = await other.tabs.open(WORK, "https://site.example/")
            assert await asyncio.wait_for(changes.get(), 60) == {"changed": [tab.id], "removed": [], "all": False}
            await other.identities.hide(WORK)
            assert (await asyncio.wait_for(changes.get(), 60))["changed"] == [tab.id]
            await until_awaited(lambda: _is_hidden(tabs))
            await other.tabs.close(tab.id)
            assert (await asyncio.wait_for(changes.get(), 60))["removed"] == [tab.id]
        assert profile.label

    in_profile(tmp_path, test)


async def _is_hidden(tabs: Any) -> bool:
    (tab,) = await tabs.list()
    return bool(tab["hidden"])


def test_bringing_a_tab_to_the_front_focuses_its_window_even_if_it_is_active(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        with Site() as site:
            async with profile.http_engine() as engine:
                activated: list[int] = []
                real = engine.engine.activate

                async def activate(tab: hatbox.Tab) -> None:
                    activated.append(tab.id)
                    await real(tab)

                engine.engine.activate = activate  # type: ignore[method-assign]
                tab = await profile.tabs.open(WORK, site.url("/page/1"))
                await engine.wait_until_loaded(tab.id)
                await engine.wait_until_settled()
                activated.clear()
                assert (await tabs.activate(tab.id))["engine"] == "running"
                await engine.wait_until_settled()
                assert activated == [tab.id]
                await profile.identities.hide(WORK)
                shown = (await tabs.activate(tab.id))["tab"]
                assert (shown["hidden"], shown["active"]) == (False, True)
        with refused("This tab is gone"):
            await tabs.activate(999)

    in_profile(tmp_path, test)


def test_two_undos_at_once_open_one_tab_and_tokens_of_another_program_open_none(tmp_path: Path) -> None:
    async def test(profile: Profile, tabs: Any) -> None:
        tab = await profile.tabs.open(WORK, "https://site.example/")
        token = (await tabs.close(tab.id))["undo"]
        done = await asyncio.gather(tabs.reopen(token), tabs.reopen(token), return_exceptions=True)
        assert [type(each) is UndoExpired for each in done] == [False, True]
        assert len(await tabs.list()) == 1
        token = (await tabs.close((await tabs.list())[0]["id"]))["undo"]
        async with hatbox.open(tmp_path / "profile.db") as other:
            others = other.browser(["hatbox"]).hatbox.tabs
            with refused("can no longer be undone"):
                await others.reopen(token)
        await profile.identities.remove(WORK)
        with refused("may be in the trash"):
            await tabs.reopen(token)
        await profile.trash.restore(WORK)
        assert (await tabs.reopen(token))["cookieStoreId"] == WORK  # the failed call has lost nothing

    in_profile(tmp_path, test)
