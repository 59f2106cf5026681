"""A profile and the server of its manager page in the process of a test, and pages in one shared Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hatbox
from hatbox.profile import Profile
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.server import CALLER, PERMISSIONS, ManagerServer
from tests.engines.chromium import shared_driver

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

__all__ = ["Manager", "open_manager", "open_page", "run_with"]

_TIMEOUT = 45_000  # milliseconds: a busy machine takes its time


@dataclass
class Manager:
    """A running server and its profile."""

    profile: Profile
    server: ManagerServer
    chromium: str = ""
    """The path of Chromium."""
    page_errors: list[str] = field(default_factory=list)
    """Uncaught errors and refused content of all pages. The test fails if some are left at its end."""

    @property
    def url(self) -> str:
        """The address of the page, for a browser that has its cookie."""
        return self.server.url

    @property
    def browser(self) -> Any:
        """The API as the page has it."""
        return self.profile.browser(PERMISSIONS, CALLER)


@asynccontextmanager
async def open_manager(path: Path, *, port: int = 0, limits: PageLimits | None = None) -> AsyncIterator[Manager]:
    """Open the profile at a path, and serve its manager page."""
    async with hatbox.open(path) as profile, ManagerServer(profile, port=port, limits=limits) as server:
        manager = Manager(profile, server)
        yield manager
        assert not manager.page_errors


@asynccontextmanager
async def open_page(manager: Manager, **options: Any) -> AsyncIterator[Page]:
    """Open the page through a link, in a context of its own. `options` are those of Browser.new_context."""
    from playwright.async_api import Error, expect

    browser = await _shared_browser(manager.chromium)
    options = {"reduced_motion": "reduce", **options}
    context = await browser.new_context(**options)
    try:
        context.set_default_timeout(_TIMEOUT)
        expect.set_options(timeout=_TIMEOUT)
        page = await context.new_page()
        page.on("pageerror", lambda error: manager.page_errors.append(str(error)))
        page.on("console", lambda message: _note(manager, message.text))
        await page.goto(manager.server.create_link())
        await page.wait_for_url(f"{manager.url}**")
        yield page
    finally:
        try:
            await context.close()
        except Error:
            _browsers.clear()


def _note(manager: Manager, text: str) -> None:
    if "Content Security Policy" in text or "Trusted" in text:
        manager.page_errors.append(text)


async def _shared_browser(path: str) -> Browser:
    """One Chromium for all tests of this process: starting one takes a second of CPU time."""
    loop = asyncio.get_running_loop()
    found = _browsers.get(loop)
    if found is None or not found.is_connected():
        playwright = shared_driver.playwright()
        found = await playwright.chromium.launch(executable_path=shared_driver.viewer(path), args=["--no-sandbox"])
        _browsers.clear()
        _browsers[loop] = found
    return found


_browsers: dict[asyncio.AbstractEventLoop, Browser] = {}


async def run_with(arguments: dict[str, Any], test: Any) -> None:
    """Run an async test; `manager` and `manager_page` in its arguments are opened first."""
    async with AsyncExitStack() as stack:
        if "manager" in arguments:
            arguments["manager"] = await stack.enter_async_context(arguments["manager"])
        if "manager_page" in arguments:
            manager: Manager | None = arguments.get("manager")
            if manager is None:
                manager = await stack.enter_async_context(arguments["manager_page"].manager)
            assert manager is not None
            manager.chromium = arguments["manager_page"].browser
            arguments["manager_page"] = await stack.enter_async_context(open_page(manager))
        await test(**arguments)
