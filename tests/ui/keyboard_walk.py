"""Walks through the page with the keyboard, as a user without a pointer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

__all__ = ["press_until"]

_MOST = 80  # stops until a control is found
_NAME = """() => {
    const {ariaLabel, labels, textContent} = document.activeElement;
    return (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim();
}"""


async def press_until(page: Page, key: str, name: str) -> None:
    """Press a key, such as Tab, until the control with this name has the focus."""
    passed = []
    for _ in range(_MOST):
        await page.keyboard.press(key)
        passed.append(await page.evaluate(_NAME))
        if passed[-1].startswith(name):
            return
    raise AssertionError(f"{key} does not reach {name}. It passes: {passed}")
