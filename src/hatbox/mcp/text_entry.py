"""Enters text into a field in one call of a script, during which no other frame can take the focus.

Playwright focuses a field in one message, and sends the text to whatever has the focus in the next: a frame of another
site that calls focus() all the time receives it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from playwright.async_api import ElementHandle, Frame, Locator, Page

from hatbox.engines.chromium.sessions import within
from hatbox.mcp.tool_output import ToolFailed

__all__ = ["character_of", "fill_field", "press_character", "type_characters"]

_IN_ELEMENT: Final = files(__package__).joinpath("text_entry.js").read_text("utf-8")
_IN_FRAME: Final = f"given => ({_IN_ELEMENT})(null, given)"
_MAX_FRAMES: Final = 20  # within each other
_SHIFT: Final = "Shift+"
_WITH_ENTER: Final = {"\n": "Enter", "\r": "Enter", "\t": "Tab"}
_NOT_FOCUSED: Final = "the field does not get the focus, so nothing was typed. Try again, or omit slowly."
_OTHER_FRAME: Final = (
    "a frame of another site has the focus, so nothing was typed. Use browser_type, or first click a field in a frame."
)


async def fill_field(found: Locator, text: str, timeout: float) -> None:
    """Replace the text of a field, when it can be edited. Raises PlaywrightError and ToolFailed."""
    element = await _editable(found, timeout)
    await within(element.evaluate(_IN_ELEMENT, ["select", ""]))  # editors observe the selection some time later
    result = await within(element.evaluate(_IN_ELEMENT, ["fill", text]))
    if result == "value":
        await within(found.fill(text, timeout=timeout))  # a date, for example: Playwright sets it in one call too
    elif result != "done":
        raise ToolFailed(_NOT_FOCUSED)


async def type_characters(found: Locator, text: str, timeout: float) -> None:
    """Type text at the caret, with events for each key. A page may move the focus to its next field meanwhile.

    Raises PlaywrightError and ToolFailed.
    """
    element = await _editable(found, timeout)
    action = "type"
    for each in text:
        if each in _WITH_ENTER:
            await within(element.press(_WITH_ENTER[each], timeout=timeout))
            continue
        used = (await within(element.evaluate_handle(_IN_ELEMENT, [action, each]))).as_element()
        if used is None:
            raise ToolFailed(_NOT_FOCUSED)
        element, action = used, "continue"


async def press_character(page: Page, last: Frame | None, text: str) -> bool:
    """Type a character into the field that has the focus; False if no field has it.

    `last` is the frame in which the agent has acted last. Raises ToolFailed if another frame of another origin has the
    focus.
    """
    if last is not None and not last.is_detached() and await _press(last, text):
        return True
    frame = page.main_frame
    for _ in range(_MAX_FRAMES):
        state = await within(frame.evaluate(_IN_FRAME, ["press", text]))
        if state == "lost":
            break
        if state != "frame":
            return bool(state == "done")
        owner = (await within(frame.evaluate_handle(_IN_FRAME, ["focused", ""]))).as_element()
        child = None if owner is None else await within(owner.content_frame())
        if owner is None or child is None or child is last:
            return False
        if not await within(owner.evaluate("owner => Boolean(owner.contentDocument)")):
            break
        frame = child
    raise ToolFailed(_OTHER_FRAME)


def character_of(key: str) -> str:
    """The character that a key of Playwright types; empty if it types none, or not on all keyboards."""
    name = key.removeprefix(_SHIFT)
    has_shift = name != key
    if len(name) == len("KeyA") and name.startswith("Key"):
        name = name[-1].lower()
    elif len(name) == len("Digit1") and name.startswith("Digit") and not has_shift:
        name = name[-1]
    elif name == "Space":
        name = " "
    if len(name) != 1 or not name.isprintable() or (has_shift and not name.isalpha()):
        return ""
    return name.upper() if has_shift and len(name.upper()) == 1 else name


async def _press(frame: Frame, text: str) -> bool:
    return bool(await within(frame.evaluate(_IN_FRAME, ["press", text])) == "done")


async def _editable(found: Locator, timeout: float) -> ElementHandle:
    element = await within(found.element_handle(timeout=timeout))
    await within(element.wait_for_element_state("visible", timeout=timeout))
    await within(element.wait_for_element_state("editable", timeout=timeout))
    return element
