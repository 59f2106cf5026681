"""Pages and workers that request files of extensions in a loop, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from hatbox.engines.chromium import resource_floods
from hatbox.engines.chromium.paused_requests import PausedRequests
from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import B, ContentLab, content_lab, eventually

pytestmark = pytest.mark.browser

NONE = "https://11111111-2222-3333-4444-555555555555/none"
FLOOD = """
  const flood = async () => {
    for (;;) await Promise.all(Array.from({length: 100}, () => fetch(URL_).catch(() => 0)));
  };
  const flood_at_once = () => { for (let i = 0; ; i++) fetch(URL_).catch(() => 0); };
""".replace("URL_", f"'{NONE}'")
FILES = {"open/image.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'}
OPEN: dict[str, Any] = {"web_accessible_resources": ["open/*"], "files": FILES}


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The frame ids of all paused requests."""
    received: list[str] = []
    on_paused = PausedRequests.on_request_paused

    def count(self: PausedRequests, event: dict[str, Any]) -> None:
        received.append(event["frameId"])
        on_paused(self, event)

    monkeypatch.setattr(PausedRequests, "on_request_paused", count)
    monkeypatch.setattr(resource_floods, "_PAUSE", 10**6)
    monkeypatch.setattr(resource_floods, "_SECONDS", 10**6)  # also on a slow machine
    monkeypatch.setattr(resource_floods, "_MAX_REFUSED", 200)
    return received


def floods_of(lab: ContentLab) -> Callable[[], bool]:
    """Whether all scripts of flooding pages are stopped, and their requests are failed."""
    stopped = stopped_in(lab)
    return lambda: (
        bool(stopped)
        and all(
            flood.request_ids.empty() and flood.targets and all(task.done() for task in flood.targets.values())
            for flood in stopped.values()
        )
    )


def stopped_in(lab: ContentLab) -> dict[str, Any]:
    """The floods that are stopped."""
    running = lab.chrome.engine.running
    assert running is not None
    resources = running.interceptor._paused._resources
    assert resources is not None
    return resources.floods._stopped


async def assert_quiet(lab: ContentLab, received: list[str]) -> None:
    """No more requests arrive, and another page loads files."""
    is_stopped = floods_of(lab)
    await eventually(is_stopped)
    quiet = await lab.open(lab.site.url("/quiet", B), "Personal")
    image = f"{lab.extension.manifest.base_url}open/image.svg"
    for _ in range(3):
        before = len(received)
        assert await loaded(quiet, image, 20) == 20
        await eventually(is_stopped)
        if len(received) == before + 20:
            return
    pytest.fail("requests still arrive")


async def is_complete(lab: ContentLab, page: Page) -> bool:
    """Whether the tab of a page has loaded."""
    return (await lab.profile.tabs.get(lab.tab_of(page))).status == "complete"


async def loaded(page: Page, url: str, count: int) -> int:
    """How many images of this many load in a page."""
    script = """([url, count]) => Promise.all(Array.from({length: count}, (_, number) => new Promise(resolve => {
      const image = new Image();
      image.onload = () => { resolve(1); };
      image.onerror = () => { resolve(0); };
      image.src = `${url}?${number}`;
    }))).then(all => all.reduce((sum, each) => sum + each, 0))"""
    return int(await page.evaluate(script, [url, count]))


@pytest.mark.parametrize("how", ["flood()", "flood_at_once()"])
@with_browser
async def test_a_worker_that_requests_files_in_a_loop_is_stopped(
    tmp_path: Path, browser: str, received: list[str], how: str
) -> None:
    async with content_lab(tmp_path, browser, **OPEN) as lab:
        lab.site.file("/worker.js", FLOOD + how)
        await lab.open(lab.page("/", "<script>new Worker('/worker.js')</script>"))
        await assert_quiet(lab, received)


@pytest.mark.parametrize("kind", ["Worker", "SharedWorker"])
@with_browser
async def test_workers_of_workers_and_shared_workers_are_stopped(
    tmp_path: Path, browser: str, received: list[str], kind: str
) -> None:
    async with content_lab(tmp_path, browser, **OPEN) as lab:
        lab.site.file("/flood.js", f"{FLOOD} flood()")
        lab.site.file("/worker.js", "for (let i = 0; i < 3; i++) new Worker('/flood.js')")
        first = "/worker.js" if kind == "Worker" else "/flood.js"
        await lab.open(lab.page("/", f"<script>new {kind}('{first}')</script>"))
        await assert_quiet(lab, received)


@with_browser
async def test_a_page_of_many_refused_elements_is_stopped_and_does_not_load_for_ever(
    tmp_path: Path, browser: str, received: list[str]
) -> None:
    async with content_lab(tmp_path, browser, **OPEN) as lab:
        images = "".join(f"<img src='{NONE}/{number}'>" for number in range(3000))
        page = await lab.open(lab.page("/", images))
        await assert_quiet(lab, received)
        await eventually(lambda: is_complete(lab, page))
        assert len(received) < 3000


@with_browser
async def test_a_page_with_many_allowed_images_keeps_its_scripts(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, **OPEN) as lab:
        page = await lab.open(lab.page("/"))
        assert await loaded(page, f"{lab.extension.manifest.base_url}open/image.svg", 600) == 600
        assert not stopped_in(lab)
