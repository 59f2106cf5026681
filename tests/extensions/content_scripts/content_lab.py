"""A browser with pages of two sites, and an extension with content scripts that reports with browser.test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import Page

import hatbox
from hatbox.api.content_script_host import ContentScriptHost, FrameResult, Injection
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import LogEntry
from hatbox.testing.script_reports import ScriptReports
from hatbox.testing.site import LoopbackSite
from tests.extensions.made import make

A, B = "a.localhost", "b.localhost"
ID = "made@example.org"
FIRST = "<script>document.dispatchEvent(new Event('first-script'))</script>"
"""Is dispatched by the first script of a page."""
WATCH = """
{
  const seen = {state: document.readyState, root: document.documentElement !== null};
  const view = document;
  view.addEventListener("first-script", () => { seen.first = true; });
  const report = () => {
    browser.test.sendMessage("document", {...seen, href: location.href.replace(/:\\d+/, ""), origin: self.origin});
  };
  if (document.readyState === "loading") view.addEventListener("DOMContentLoaded", report);
  else report();
}
"""
"""A content script that reports whether it ran before the first script of the page."""


def script(code: str, **options: Any) -> ContentScript:
    """A content script for all sites, at document_start."""
    options = {"matches": ("<all_urls>",), "run_at": "document_start", "js": (ScriptSource(code=code),), **options}
    return ContentScript(**options)


class ContentLab:
    """The browser, the extension and the site."""

    def __init__(
        self, profile: hatbox.Profile, chrome: ChromiumRunner, site: LoopbackSite, extension: Extension
    ) -> None:
        self.profile = profile
        self.chrome = chrome
        self.site = site
        self.extension = extension
        self.reports = ScriptReports()
        self.log: list[LogEntry] = []

    async def message(self, name: str) -> Any:
        """The next message with this name of browser.test.sendMessage()."""
        return await self.reports.message(name, 30)

    async def documents(self, count: int) -> dict[str, Any]:
        """The reports of WATCH in this many documents, by URL without the port."""
        return {found["href"]: found for found in [await self.message("document") for _ in range(count)]}

    async def set_scripts(self, *scripts: ContentScript) -> None:
        """Replace the content scripts."""
        await self.profile._content_scripts.change(
            ID, {("manifest", index): each for index, each in enumerate(scripts)}
        )

    def page(self, path: str, body: str = "", **options: Any) -> str:
        """Define a page, and return its URL on the first site."""
        self.site.page(path, body, **options)
        return self.site.url(path, A)

    async def open(self, url: str, identity: str = "Work") -> Page:
        """Open a tab."""
        return await self.chrome.new_page(identity, url)

    def tab_of(self, page: Page) -> int:
        """The id of the tab of a page."""
        return next(tab for tab in self.chrome.engine.tabs if self.chrome.engine.page_of(tab) is page)

    def host(self, page: Page) -> ContentScriptHost:
        """The engine as the API sees it."""
        return self.profile._content_scripts.host_of(self.tab_of(page))

    async def execute(self, page: Page, *code: str, **options: Any) -> list[FrameResult]:
        """Execute code in the main frame of a page."""
        return await self.host(page).execute(self.injection(page, *code, **options))

    async def value(self, page: Page, code: str, **options: Any) -> Any:
        """The value of code in the main frame of a page."""
        (result,) = await self.execute(page, code, **options)
        assert result.error is None, result.error
        return result.value

    def injection(self, page: Page, *code: str, **options: Any) -> Injection:
        """An injection of code."""
        sources = tuple(ScriptSource(code=each) for each in code)
        defaults: dict[str, Any] = {"frame_ids": (0,), "allows": lambda _: True}
        return Injection(extension_id=ID, tab_id=self.tab_of(page), sources=sources, **{**defaults, **options})


@contextlib.asynccontextmanager
async def content_lab(
    tmp_path: Path,
    browser: str,
    scripts: Iterable[ContentScript] = (),
    *,
    background: str = "",
    files: Mapping[str, str] | None = None,
    **manifest: Any,
) -> AsyncIterator[ContentLab]:
    """Run an extension with these content scripts, and a browser."""
    keys = {"permissions": ["<all_urls>", "storage", "tabs"], **manifest}
    folder = make(tmp_path, background, files=files, **keys)
    reports = ScriptReports()
    log: list[LogEntry] = []
    with LoopbackSite() as site:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            extension = await profile.extensions.start(folder, on_test_report=reports.receive, on_log=log.append)
            async with profile.chromium(headless=True, browser=browser) as chrome:
                lab = ContentLab(profile, chrome, site, extension)
                lab.reports, lab.log = reports, log
                if scripts := tuple(scripts):
                    await lab.set_scripts(*scripts)
                yield lab


async def eventually(condition: Any, seconds: float = 120) -> Any:
    """Wait until a condition, which may be a coroutine function, is true."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.02)
