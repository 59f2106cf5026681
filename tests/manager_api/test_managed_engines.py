"""The namespace hatbox.engines: background engines are started and stopped, and calls do not wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.cli import engines
from tests.manager_api.page_errors import refused
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path / "profile.db"
    engines.end(tmp_path / "profile.db")


async def with_status(api: Any, status: str) -> dict[str, Any]:
    async def find() -> dict[str, Any] | None:
        return next((each for each in await api.engines.list() if each["status"] == status), None)

    found = await until_awaited(find)
    assert found is not None
    return found


@pytest.mark.process
def test_an_address_opens_at_once_and_its_engine_starts_and_stops(path: Path) -> None:
    async def test() -> None:
        changed = asyncio.Event()
        with Site() as site:
            async with hatbox.open(path) as profile:
                api = profile.browser(["hatbox"]).hatbox
                api.engines.onChanged.addListener(lambda _: changed.set())
                assert [each["status"] for each in await api.engines.list()] == ["stopped", "stopped"]
                opened = await api.tabs.open(WORK, site.url("/page/1"), {"engine": "http"})
                assert opened["engine"] == "starting"
                assert (await with_status(api, "starting"))["name"] == "http"
                await asyncio.wait_for(changed.wait(), 60)
                running = await with_status(api, "running")
                assert (running["title"], running["isLocal"], running["canStop"]) == ("HTTP engine", True, True)
                assert (running["tabs"], running["identitiesWithTabs"], running["hasWindows"]) == (1, 1, False)
                with refused("is running already"):
                    await api.engines.start("chromium")
                await api.engines.stop(running["id"])
                assert [each["status"] for each in await api.engines.list()] == ["stopped", "stopped"]
                assert len(await api.tabs.list()) == 1
                await api.engines.stop(running["id"])  # it has ended already

                # Started by name, it runs without a tab too.
                await profile.tabs.close(opened["tab"]["id"])
                assert (await api.engines.start("http"))["status"] == "starting"
                running = await with_status(api, "running")
                await api.engines.stop(running["id"])

    asyncio.run(test())


@pytest.mark.process
def test_an_engine_that_cannot_start_says_why_and_leaves_no_tab(path: Path) -> None:
    async def test() -> None:
        async with hatbox.open(path) as profile:
            api = profile.browser(["hatbox"]).hatbox
            opened = await api.tabs.open(WORK, "forge.example")  # no display
            seen: list[str] = []

            async def failure() -> dict[str, Any] | None:
                listed = await api.engines.list()
                seen.extend(each["id"] for each in listed if each["status"] == "running")
                return next((each for each in listed if each["status"] == "failed"), None)

            failed = await until_awaited(failure)
            assert failed is not None
            assert failed["name"] == "chromium"
            assert failed["error"].startswith(("No display found", "Chromium not found"))
            assert "--" not in failed["error"]
            assert not seen  # it has its lease before it has a browser
            assert failed["tabId"] == opened["tab"]["id"]
            assert await api.tabs.list() == []
            with refused("Unknown engine: lynx"):
                await api.engines.start("lynx")

    asyncio.run(test())


def test_an_engine_of_another_program_is_listed_and_not_stopped(path: Path) -> None:
    async def test() -> None:
        async with hatbox.open(path) as profile, profile.http_engine(identities=[WORK]):
            api = profile.browser(["hatbox"]).hatbox
            await profile.tabs.open(WORK, "about:blank")
            await profile.tabs.open("Banking", "about:blank")
            running, *startable = await api.engines.list()
            assert (running["identities"], running["tabs"]) == ([WORK], 1)
            assert [each["status"] for each in startable] == ["stopped", "stopped"]
            with refused(r"HTTP engine was not stopped. It runs in this process"):
                await api.engines.stop(running["id"])

    asyncio.run(test())
