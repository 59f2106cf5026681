"""The Identities screen, as a user sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

__all__ = ["IdentitiesPage"]


class IdentitiesPage:
    """Reads the screen, and waits for what it shows."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def card(self, name: str) -> Locator:
        """The card of an identity."""
        return self.page.locator(".card").filter(has=self.page.locator(f".name:text-is({_quoted(name)})"))

    async def names(self) -> list[str]:
        """The names of the cards in the DOM, in reading order."""
        return await self.page.locator(".card .name").all_text_contents()

    async def wait_for_names(self, *names: str) -> None:
        """Wait until exactly these cards are shown, in this order."""
        await self.page.wait_for_function(
            "names => [...document.querySelectorAll('.card .name')].map(e => e.textContent).join('|') === names",
            arg="|".join(names),
        )

    async def focus(self, name: str, part: str = "link") -> None:
        """Focus the link, handle or menu of a card."""
        await self.card(name).locator(f"[data-part={part}]").focus()

    async def wait_for_focus(self, label: str) -> None:
        """Wait until the element with the focus has a name that starts with this text."""
        await self.page.wait_for_function("label => document.activeElement.ariaLabel?.startsWith(label)", arg=label)

    async def wait_for_toast(self, text: str) -> None:
        """Wait until a toast starts with this text."""
        await self.page.locator(".toast", has_text=text).wait_for()

    async def wait_for_announcement(self, text: str) -> None:
        """Wait until a screen reader is given this text."""
        await self.page.wait_for_function(
            "text => document.querySelector('[aria-live=assertive]')?.textContent.startsWith(text)", arg=text
        )

    async def wait_for_icon(self, name: str, icon: str) -> None:
        """Wait until the tile of a card has the glyph of this icon."""
        await self.page.wait_for_function(
            """([name, id]) => {
              const cards = [...document.querySelectorAll(".card")];
              const card = cards.find((each) => each.querySelector(".name").textContent === name);
              return card?.querySelector(".tile svg").innerHTML === document.getElementById(id).innerHTML;
            }""",
            arg=[name, f"id-{icon}"],
        )

    async def choose(self, name: str, item: str) -> None:
        """Choose an item of the menu of a card."""
        await self.card(name).locator("[data-part=menu]").click()
        await self.page.get_by_role("menuitem", name=item).click()


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
