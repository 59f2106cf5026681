"""Reads and uses the start page of a page. Its shadow root is closed, so the accessibility tree is read."""

from __future__ import annotations

from typing import Any

from playwright.async_api import CDPSession, Page

from tests.waiting import until_awaited

__all__ = ["StartPageReader"]

_SILENT = ("InlineTextBox", "ListMarker")


class StartPageReader:
    """What a screen reader finds in a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._session: CDPSession | None = None

    async def nodes(self) -> list[dict[str, Any]]:
        """The nodes that are not ignored."""
        if self._session is None:
            self._session = await self.page.context.new_cdp_session(self.page)
        tree = await self._session.send("Accessibility.getFullAXTree")
        return [each for each in tree["nodes"] if not each["ignored"] and each["role"]["value"] not in _SILENT]

    async def names(self, *roles: str) -> list[str]:
        """The names of the nodes with these roles; of all texts by default."""
        wanted = roles or ("StaticText",)
        return [_name(each) for each in await self.nodes() if each["role"]["value"] in wanted]

    async def text(self) -> str:
        """All texts."""
        return " ".join(await self.names())

    async def wait_for(self, text: str, *roles: str) -> None:
        """Wait until the texts, or the names of nodes with these roles, contain this one."""

        async def is_shown() -> bool:
            return text in " ".join(await self.names(*roles))

        await until_awaited(is_shown)

    async def click(self, role: str, name: str) -> None:
        """Click the node whose name contains `name`, with the mouse."""

        async def find() -> dict[str, Any] | None:
            found = (each for each in await self.nodes() if each["role"]["value"] == role and name in _name(each))
            return next(found, None)

        node = await until_awaited(find)
        assert self._session is not None
        assert node is not None
        box = await self._session.send("DOM.getBoxModel", {"backendNodeId": node["backendDOMNodeId"]})
        x, y, *_ = box["model"]["content"]
        await self.page.mouse.click(x + 3, y + 3)

    async def type(self, text: str) -> None:
        """Replace the text of the address field, as with the keyboard."""
        await self.page.keyboard.press("/")
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.type(text)


def _name(node: dict[str, Any]) -> str:
    return str(node.get("name", {}).get("value", ""))
