"""Files that a user drops on the page."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

__all__ = ["drop_file"]

_DROP = """([selector, name, data]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], name));
    const event = (type) => new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true});
    const target = [...document.querySelectorAll(selector)].at(-1);
    const isTaken = !target.dispatchEvent(event("dragover"));
    return !target.dispatchEvent(event("drop")) && isTaken;
}"""


async def drop_file(page: Page, selector: str, name: str, data: bytes) -> None:
    """Drop a file on the last element that matches; the page must take it, or the browser would open the file."""
    assert await page.evaluate(_DROP, [selector, name, base64.b64encode(data).decode()])
