"""`profile.open_tabs` with the real HTTP engine in a background process, without the command line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hatbox
from hatbox.engines.background.background_engine import BackgroundEngine, BackgroundEngineError
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineAlreadyRunning, IdentityNotFound
from tests.cli import engines
from tests.site import Site
from tests.store.in_loop import in_loop


@pytest.fixture
def site(profile: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Site() as site:
        yield site
    engines.end(profile)


@pytest.mark.process
@in_loop
async def test_a_background_engine_is_started_and_loads_the_pages(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        progress: list[bool] = []
        result = await opened.open_tabs(
            "Work", [site.url("/page/1"), site.url("/page/2")], engine="http", on_progress=progress.append
        )
        assert [tab.title for tab in result.tabs] == ["Page 1", "Page 2"]
        assert (result.open, result.closed, result.replaced) == (result.tabs, [], {})
        assert progress[0] is False
        running = await opened.running_engine("Work")
        assert running is not None
        assert running.pid is not None
        assert running.engine == "HTTP"


@pytest.mark.process
@in_loop
async def test_the_second_call_uses_the_running_engine(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        await opened.open_tabs("Work", site.url("/page/1"), engine="http")
        running = await opened.running_engine("Work")
        result = await opened.open_tabs("firefox-default", site.url("/page/2"))
        assert [tab.title for tab in result.open] == ["Page 2"]
        assert await opened.running_engine("Work") == running


@pytest.mark.process
@in_loop
async def test_two_openers_at_once_share_one_engine(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        results = await asyncio.gather(
            *(opened.open_tabs("Work", site.url(f"/page/{number}"), engine="http") for number in range(2))
        )
        assert sorted(tab.title for result in results for tab in result.open) == ["Page 0", "Page 1"]
        assert len(await opened.tabs.query("Work")) == 2


@in_loop
async def test_an_engine_in_this_process_is_used_too(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        async with opened.http_engine():
            result = await opened.open_tabs("Work", site.url("/page/1"))
        assert [tab.title for tab in result.open] == ["Page 1"]


@pytest.mark.process
@in_loop
async def test_a_page_that_fails_to_load_leaves_its_tab_open(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        result = await opened.open_tabs("Work", "http://127.0.0.1:1/", engine="http")
        (tab,) = result.open
        assert tab.error
        assert await opened.tabs.query("Work") == [tab]


@pytest.mark.process
@in_loop
async def test_if_the_engine_does_not_start_in_time_everything_is_undone(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        async with opened.http_engine():
            await opened.open_tabs("Personal", [site.url("/page/1"), site.url("/page/2")])
        first = (await opened.tabs.query())[0]
        await opened.tabs.activate(first.id)
        await opened.identities.hide("firefox-container-2")
        before = [(tab.id, tab.active, tab.hidden, tab.url) for tab in await opened.tabs.query()]
        with pytest.raises(TimeoutError, match=r"the HTTP engine did not start within 0 seconds\. No tab was opened\."):
            await opened.open_tabs("Work", site.url("/page/3"), engine="http", max_time=0)
        assert [(tab.id, tab.active, tab.hidden, tab.url) for tab in await opened.tabs.query()] == before
        assert before[0][1]
        assert (await opened.identities.find("Work")).hidden
        assert await opened.running_engine("Work") is None


@pytest.mark.process
@in_loop
async def test_if_the_engine_cannot_start_everything_is_undone(
    profile: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(profile) as opened:
        monkeypatch.delenv("HATBOX_CHROMIUM", raising=False)
        missing = EngineSelection("chromium", browser=str(profile.parent / "missing-browser"), headless=True)
        with pytest.raises(BackgroundEngineError) as caught:
            await opened.open_tabs("Work", site.url("/page/1"), engine=missing)
        assert caught.value.kind in ("EngineError", "MissingExtra")
        assert await opened.tabs.query() == []


@pytest.mark.process
@in_loop
async def test_a_crash_at_the_start_names_the_log(profile: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(profile) as opened:
        monkeypatch.setattr(BackgroundEngine, "_command", lambda _: [sys.executable, "-c", "print('odd')"])
        with pytest.raises(BackgroundEngineError, match="the HTTP engine exited: odd") as caught:
            await opened.open_tabs("Work", site.url("/page/1"), engine="http")
        assert caught.value.log is not None
        assert caught.value.log.read_text() == "odd\n"
        assert await opened.tabs.query() == []


@in_loop
async def test_another_engine_than_the_running_one_raises(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        async with opened.http_engine():
            with pytest.raises(EngineAlreadyRunning) as caught:
                await opened.open_tabs("Work", site.url("/page/1"), engine="chromium")
        assert caught.value.engine == "HTTP"
        assert await opened.tabs.query() == []


@in_loop
async def test_a_page_that_is_still_loading_is_left_open(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened, opened.http_engine() as runner:
        with pytest.raises(TimeoutError, match=r"tab 1: still loading after 0\.2 seconds, and left open"):
            await opened.open_tabs("Work", site.url("/slow"), max_time=0.2)
        site.released.set()
        assert (await runner.wait_until_loaded(1)).title == "At last"


@in_loop
async def test_an_unknown_identity_opens_nothing(profile: Path) -> None:
    async with hatbox.open(profile) as opened:
        with pytest.raises(IdentityNotFound):
            await opened.open_tabs("Wrok", engine="http")
        assert await opened.tabs.query() == []
        assert await opened.running_engine("Work") is None


@pytest.mark.process
@in_loop
async def test_the_engine_exits_after_the_last_tab_is_closed(profile: Path, site: Site) -> None:
    async with hatbox.open(profile) as opened:
        result = await opened.open_tabs("Work", site.url("/page/1"), engine="http")
        running = await opened.running_engine("Work")
        assert running is not None
        assert running.pid is not None
        await opened.tabs.close([tab.id for tab in result.open])
        await asyncio.to_thread(engines.wait_for_exit, running.pid, profile)
