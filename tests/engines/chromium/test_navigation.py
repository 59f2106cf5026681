"""webNavigation emits the same events for Chromium as for the HTTP engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hatbox
from hatbox.engines.runner import EngineRunner
from tests.engines.chromium.real import with_browser
from tests.site import Site

EVENTS = ("onBeforeNavigate", "onCommitted", "onDOMContentLoaded", "onCompleted", "onErrorOccurred")
CANCELLED = "/page/66"
PATHS = ("/page/1", "/redirect/2", "/page/5", "/page/5#end", CANCELLED, "/page/5")


async def emitted(profile: hatbox.Profile, runner: EngineRunner, site: Site) -> list[Mapping[str, Any]]:
    script = profile.browser(["webNavigation", "webRequest", "webRequestBlocking", "<all_urls>"])
    events: list[Mapping[str, Any]] = []
    for name in (*EVENTS, "onReferenceFragmentUpdated"):
        event = getattr(script.webNavigation, name)
        event.addListener(lambda details, name=name: events.append({"event": name, **details, "timeStamp": 0}))
    script.webRequest.onBeforeRequest.addListener(
        lambda _: {"cancel": True}, {"urls": [f"*://*{CANCELLED}"]}, ["blocking"]
    )
    tab = await profile.tabs.open("Work")
    for path in PATHS:
        await profile.tabs.navigate(tab.id, site.url(path))
        await runner.wait_until_loaded(tab.id)
    await profile.tabs.reload(tab.id)
    await runner.wait_until_loaded(tab.id)
    return events


@with_browser
async def test_navigation_events_equal_those_of_the_http_engine(browser: str, tmp_path: Path, site: Site) -> None:
    async with hatbox.open(tmp_path / "http.db") as profile, profile.http_engine() as runner:
        expected = await emitted(profile, runner, site)
    async with (
        hatbox.open(tmp_path / "chromium.db") as profile,
        profile.chromium(headless=True, browser=browser) as chromium,
    ):
        assert await emitted(profile, chromium, site) == expected
    assert [each["event"] for each in expected if CANCELLED in each["url"]] == ["onBeforeNavigate", "onErrorOccurred"]
