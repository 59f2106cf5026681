"""Several real processes: a command in one acts on the engine in another, and a killed engine loses nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from tests.engines.fake import FakeEngine, run
from tests.engines.program import Answer, Program
from tests.site import Site
from tests.store.in_loop import in_loop

pytestmark = pytest.mark.process

A, B = "https://a.example/", "https://b.example/"


@pytest.mark.parametrize("call", ["open", "navigate", "close", "hide"])
@in_loop
async def test_a_command_in_another_process_acts_on_the_engine(path: Path, call: str) -> None:
    engine = FakeEngine()
    async with hatbox.open(path) as profile, run(engine, profile) as runner:
        with await asyncio.to_thread(Program, path) as other:

            async def there(on: str, name: str, *arguments: object) -> Answer:
                return await asyncio.to_thread(other.call, on, name, *arguments)

            for _ in range(7):
                tab = await profile.tabs.open("Work", A)
                await runner.wait_until_settled()
                engine.calls.clear()
                match call:
                    case "open":
                        await there("tabs", "open", "Work", B)
                    case "navigate":
                        await there("tabs", "navigate", tab.id, B)
                    case "close":
                        await there("tabs", "close", tab.id)
                    case _:
                        await there("identities", "hide", "firefox-container-2")
                await engine.until_told("close" if call == "hide" else call)
                await runner.wait_until_settled()


@in_loop
async def test_an_engine_that_is_killed_leaves_the_profile_right_and_the_next_one_goes_on(
    path: Path, site: Site
) -> None:
    def use(host: Program) -> tuple[int, int, int]:
        work = host.tabs("open", "Work", site.url("/login", user="Work", as_="Work"))["id"]
        banking = host.tabs("open", "Banking", site.url("/login", user="Banking", as_="Banking"))["id"]
        host.engine("wait_until_loaded", work)
        host.engine("wait_until_loaded", banking)
        host.identities("hide", "firefox-container-3")
        slow = host.tabs("open", "Work", site.url("/slow"))["id"]
        site.wait_for("/slow")
        return work, banking, slow

    host = await asyncio.to_thread(Program, path, "http")
    try:
        work, banking, slow = await asyncio.to_thread(use, host)
        async with hatbox.open(path) as profile:
            with pytest.raises(hatbox.EngineAlreadyRunning, match=rf"open in the HTTP engine \(pid {host.pid}\)"):
                await profile.http_engine().__aenter__()
    finally:
        host.kill()
        with host:
            pass
    asked = len(site.requests("/me"))
    site.released.set()
    async with hatbox.open(path) as profile:
        tabs = {tab.id: tab for tab in await profile.tabs.query()}
        assert list(tabs) == [work, banking, slow]
        assert (tabs[work].title, tabs[banking].title) == ("Signed in as Work", "Signed in as Banking")
        assert tabs[slow].loading
        async with profile.http_engine() as engine:
            assert (await engine.wait_until_loaded(slow)).title == "At last"
            assert (await profile.tabs.get(banking)).hidden
            assert len(site.requests("/me")) == asked
            again = await profile.tabs.open("Work", site.url("/me", as_="Work"))
            assert (await engine.wait_until_loaded(again.id)).title == "Signed in as Work"
    assert not site.mixed


@in_loop
async def test_an_identity_that_another_process_removes_is_closed_and_forgotten(path: Path) -> None:
    engine = FakeEngine()
    async with hatbox.open(path) as profile, run(engine, profile) as runner:
        await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        with await asyncio.to_thread(Program, path) as other:
            await asyncio.to_thread(other.identities, "remove", "firefox-container-2")
            assert await engine.until_told("forget") == ("firefox-container-2",)
        assert not engine.pages
