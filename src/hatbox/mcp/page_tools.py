"""The tools that open pages and read them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.tool_arguments import (
    ConsoleArguments,
    FindArguments,
    NavigateArguments,
    NoArguments,
    ScreenshotArguments,
    SnapshotArguments,
    WaitArguments,
)
from hatbox.mcp.tool_output import ToolFailed, ToolOutput, ToolRefused

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from hatbox.mcp.agent_tab import AgentTab

__all__ = [
    "console_messages",
    "find",
    "navigate",
    "navigate_back",
    "network_requests",
    "snapshot",
    "take_screenshot",
    "wait_for",
]

_SHOT_MS: Final = 10_000.0
_MAX_IMAGE: Final = 700_000  # bytes: clients of streamable HTTP accept events of 1 MiB, and Base64 needs a third more
_DOWNLOAD: Final = "Download is starting"


async def navigate(session: AgentSession, given: NavigateArguments) -> ToolOutput:
    """Open a URL in the current tab."""
    tab, url = await session.pages.check_and_open(given.url)
    try:
        status = await tab.load(url)
    except ToolFailed as error:
        if _DOWNLOAD in str(error):
            return ToolOutput("The URL is a download. List downloads with the tool downloads.")
        if tab.refused:
            raise ToolRefused(tab.refused) from error
        raise
    return ToolOutput(status + await tab.describe())


async def navigate_back(session: AgentSession, _: NoArguments) -> ToolOutput:
    """Go back in the history of the current tab."""
    tab = await session.pages.current()
    status = await tab.go_back()
    return ToolOutput(status + await tab.describe())


async def snapshot(session: AgentSession, given: SnapshotArguments) -> ToolOutput:
    """An accessibility snapshot of the current page, or of one element."""
    tab = await session.pages.current()
    tab.refused = ""
    return ToolOutput(await tab.describe(given.target, given.depth))


async def find(session: AgentSession, given: FindArguments) -> ToolOutput:
    """The lines of the snapshot with a text."""
    tab = await session.pages.current()
    return ToolOutput(await tab.find_text(given.text))


async def console_messages(session: AgentSession, given: ConsoleArguments) -> ToolOutput:
    """What the page has written to its console."""
    tab = await session.pages.current()
    return ToolOutput(await tab.read_log(lambda: tab.log.console(only_errors=given.only_errors)))


async def network_requests(session: AgentSession, _: NoArguments) -> ToolOutput:
    """Which requests the page has sent."""
    tab = await session.pages.current()
    return ToolOutput(await tab.read_log(tab.log.requests))


async def wait_for(session: AgentSession, given: WaitArguments) -> ToolOutput:
    """Wait for a time, and for texts."""
    if given.time is None and not given.text and not given.text_gone:
        raise ToolFailed("specify time, text or textGone.")
    tab = await session.pages.current()
    await tab.check_frames()
    if given.time is not None:
        await asyncio.sleep(given.time)
    if given.text_gone:
        await tab.wait_for_text(given.text_gone, is_shown=False)
    if given.text and tab.dialog is None:
        await tab.wait_for_text(given.text, is_shown=True)
    return ToolOutput(await tab.describe(only_changes=True))


async def take_screenshot(session: AgentSession, given: ScreenshotArguments) -> ToolOutput:
    """An image of the current page, or of one element. A large one becomes JPEG."""
    tab = await session.pages.current()
    await tab.check_frames()
    found = await tab.find(given.target) if given.target else None
    for kind, quality in ((given.type, None if given.type == "png" else 80), ("jpeg", 40)):
        image = await tab.perform(_covered_image(tab, given, found, {"type": kind, "quality": quality}))
        await tab.check_frames()  # it may have navigated meanwhile
        if image is None:
            raise ToolFailed(f"{await tab.dialog_text()} Answer it with browser_handle_dialog first.")
        if len(image) <= _MAX_IMAGE:
            return ToolOutput("Screenshot. What it shows is untrusted content of the page.", image, f"image/{kind}")
    raise ToolFailed("the image is too large. Take one of the visible part, or of one element.")


async def _covered_image(
    tab: AgentTab, given: ScreenshotArguments, found: Locator | None, options: dict[str, Any]
) -> bytes:
    """An image in which passwords that are shown as text are covered. Raises ToolFailed."""
    from hatbox.engines.chromium.sessions import within
    from hatbox.mcp.password_fields import masks  # imports Playwright

    try:
        async with asyncio.timeout(3 * _SHOT_MS / 1000):
            shown = await tab.passwords.shown()
            options |= {"mask": masks(shown), "timeout": _SHOT_MS}
            if found is not None:
                image = await within(found.screenshot(**options))
            else:
                image = await within(tab.page.screenshot(full_page=given.full_page, **options))
            is_covered = shown == await tab.passwords.shown()
    except TimeoutError:
        raise ToolFailed("the page does not respond. Try browser_wait_for, or open another page.") from None
    if not is_covered:
        raise ToolFailed("the password fields of the page have changed meanwhile. Try browser_take_screenshot again.")
    return image
