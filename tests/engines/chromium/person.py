"""A person at the window of a request: types into its page, and presses the buttons that only a person can reach."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from tests.engines.chromium.real import running
from tests.waiting import until_awaited

__all__ = ["pages_of_person", "press", "strip_text"]


def pages_of_person(runner: ChromiumRunner) -> list[Page]:
    """The page of the request, and those that it has opened."""
    browser = running(runner)
    known = browser.targets.person_pages
    return [
        page.page
        for context in browser.contexts
        for page in context.pages
        if known.includes(page.target_id, page.opener_id)
    ]


async def press(page: Page, label: str) -> None:
    """Press a button of the request: the mouse goes to its place in the closed shadow root."""
    session = await page.context.new_cdp_session(page)

    async def place() -> list[float]:
        root = (await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))["root"]
        found = [each for each in _nodes(root) if each["nodeName"].upper() == "BUTTON" and _text(each) == label]
        if not found:
            return []
        model = await session.send("DOM.getBoxModel", {"nodeId": found[0]["nodeId"]})
        return list(map(float, model["model"]["content"]))

    x0, y0, _, _, x2, y2, *_ = await until_awaited(place)
    await page.mouse.click((x0 + x2) / 2, (y0 + y2) / 2)


async def strip_text(page: Page) -> str:
    """The text of the request, when it is shown."""
    session = await page.context.new_cdp_session(page)

    async def read() -> str:
        root = (await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))["root"]
        return " ".join(_text(each) for each in _nodes(root) if each["nodeName"].upper() == "ASIDE")

    return await until_awaited(read)


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    below = [*node.get("children", ()), *node.get("shadowRoots", ())]
    return [node, *(each for child in below for each in _nodes(child))]


def _text(node: dict[str, Any]) -> str:
    return " ".join(each["nodeValue"] for each in _nodes(node) if each["nodeName"] == "#text")
