"""The tools that enter something into a page: pointer, keys, forms, dialogs and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from hatbox.engines.chromium.clipboard_keys import is_clipboard_shortcut
from hatbox.engines.uploaded_file import file_below
from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.tool_arguments import (
    ClickArguments,
    DialogArguments,
    DragArguments,
    FilledField,
    FillFormArguments,
    HoverArguments,
    PressKeyArguments,
    SelectOptionArguments,
    TypeArguments,
    UploadArguments,
)
from hatbox.mcp.tool_output import ToolFailed, ToolOutput, ToolRefused

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from hatbox.mcp.agent_tab import AgentTab

__all__ = [
    "click",
    "drag",
    "fill_form",
    "handle_dialog",
    "hover",
    "press_key",
    "select_option",
    "type_text",
    "upload_files",
]

_MS: Final = 8_000.0
_MAX_SLOW: Final = 1_000
_NO_TEXT: Final = """() => {
    addEventListener("drop", event => {
        const target = event.composedPath()[0];
        if (target.isContentEditable || ["input", "textarea"].includes(target.localName)) event.preventDefault();
    }, { capture: true, once: true });
    getSelection()?.removeAllRanges();
    for (let each = document.activeElement; each; each = each.shadowRoot?.activeElement)
        if (typeof each.selectionEnd === "number") each.selectionStart = each.selectionEnd;
}"""
_CLIPBOARD: Final = "The clipboard belongs to the user, so it cannot be used."


async def click(session: AgentSession, given: ClickArguments) -> ToolOutput:
    """Click an element."""
    _check_alt(session, is_used="Alt" in given.modifiers)
    if given.button == "middle":  # on Linux it pastes what the user has selected anywhere
        raise ToolRefused(f"the middle button is off. {_CLIPBOARD} To open a link in a new tab, click it with Control.")
    tab = await session.pages.current()
    found = await tab.find(given.target)
    count = 2 if given.double_click else 1
    await tab.perform(found.click(click_count=count, button=given.button, modifiers=given.modifiers, timeout=_MS))
    return await _described(session, tab)


async def type_text(session: AgentSession, given: TypeArguments) -> ToolOutput:
    """Type text into an element."""
    from hatbox.mcp.text_entry import fill_field, type_characters  # imports Playwright

    if given.slowly and len(given.text) > _MAX_SLOW:
        raise ToolFailed(f"slowly works for at most {_MAX_SLOW} characters. Omit it.")
    tab = await session.pages.current()
    found = await tab.find(given.target)
    if given.slowly:
        await tab.perform(type_characters(found, given.text, _MS))
    else:
        await tab.perform(fill_field(found, given.text, _MS))
    if given.submit and tab.dialog is None:
        await tab.perform(found.press("Enter", timeout=_MS))
    return await _described(session, tab)


async def fill_form(session: AgentSession, given: FillFormArguments) -> ToolOutput:
    """Fill the fields in the given order."""
    tab = await session.pages.current()
    for number, field in enumerate(given.fields):
        try:
            await _fill(tab, field)
        except ToolFailed as error:
            raise ToolFailed(f"field {field.target}: {error} The {number} fields before it were filled.") from error
    return await _described(session, tab)


async def _fill(tab: AgentTab, field: FilledField) -> None:
    from hatbox.mcp.text_entry import fill_field  # imports Playwright

    found = await tab.find(field.target)
    if field.type in ("checkbox", "radio"):
        if field.value not in ("true", "false"):
            raise ToolFailed(f"the value of a {field.type} must be true or false.")
        await tab.perform(found.set_checked(field.value == "true", timeout=_MS))
    elif field.type == "combobox":
        await tab.perform(found.select_option(label=field.value, timeout=_MS))
    else:
        await tab.perform(fill_field(found, field.value, _MS))


async def select_option(session: AgentSession, given: SelectOptionArguments) -> ToolOutput:
    """Select options of a list."""
    tab = await session.pages.current()
    found = await tab.find(given.target)
    await tab.perform(found.select_option(given.values, timeout=_MS))
    return await _described(session, tab)


async def press_key(session: AgentSession, given: PressKeyArguments) -> ToolOutput:
    """Press a key in the focused element."""
    _check_alt(session, is_used="Alt" in given.key)
    if is_clipboard_shortcut(given.key):
        raise ToolRefused(f"{given.key} is off. {_CLIPBOARD} To enter text, use browser_type.")
    tab = await session.pages.current()
    await tab.check_frames()
    await tab.perform(_press(tab, given.key))
    return await _described(session, tab)


async def _press(tab: AgentTab, key: str) -> None:
    from hatbox.engines.chromium.sessions import within
    from hatbox.mcp.text_entry import character_of, press_character  # imports Playwright

    character = character_of(key)
    if not character or not await press_character(tab.page, tab.last_frame, character):
        await within(tab.page.keyboard.press(key))


async def hover(session: AgentSession, given: HoverArguments) -> ToolOutput:
    """Move the pointer over an element."""
    tab = await session.pages.current()
    found = await tab.find(given.target)
    await tab.perform(found.hover(timeout=_MS))
    return await _described(session, tab)


async def drag(session: AgentSession, given: DragArguments) -> ToolOutput:
    """Drag an element to another one."""
    tab = await session.pages.current()
    end = await tab.find(given.end_target)
    start = await tab.find(given.start_target)
    await tab.perform(_drag(start, end))
    return await _described(session, tab)


async def _drag(start: Locator, end: Locator) -> None:
    """Without selected text, and no text goes into a field: a part of a hidden value there would not be found."""
    from hatbox.engines.chromium.sessions import within  # imports Playwright

    for frame in start.page.frames:
        await within(frame.evaluate(_NO_TEXT))
    await within(start.drag_to(end, timeout=_MS))


async def handle_dialog(session: AgentSession, given: DialogArguments) -> ToolOutput:
    """Answer the open dialog. In read-only mode, it can only be dismissed."""
    if given.accept and session.options.read_only:
        raise ToolRefused("a dialog cannot be accepted: this server is read-only. Dismiss it.")
    tab = await session.pages.current()
    await tab.answer_dialog(accept=given.accept, text=given.prompt_text)
    return await _described(session, tab)


async def upload_files(session: AgentSession, given: UploadArguments) -> ToolOutput:
    """Choose files for the open file chooser."""
    tab = await session.pages.current()
    await tab.check_frames()
    chooser = tab.file_chooser
    if chooser is None:
        raise ToolFailed("no file chooser is open. Click the button that opens it first.")
    files = [uploaded_file(session.options.uploads, each) for each in given.paths]
    tab.file_chooser = None
    if files:
        await tab.perform(chooser.set_files(files, timeout=_MS))
    return await _described(session, tab)


def uploaded_file(folder: Path | None, path: str) -> Path:
    """The file, which is below the folder for uploads after symbolic links were resolved. Raises ToolRefused."""
    if folder is None:
        raise ToolRefused("uploads are off. Ask the user to start hatbox mcp with --uploads FOLDER.")
    found = file_below(folder, path)
    if found is None:
        raise ToolRefused(f"{path[:200]!r} is no file below the folder for uploads. Use a path relative to it.")
    return found


def _check_alt(session: AgentSession, *, is_used: bool) -> None:
    """With Alt, a link is downloaded, whatever its host. Chromium pauses no request for that."""
    if is_used and not session.grant("pages").allows_private_networks:
        raise ToolRefused("Alt is not allowed: it downloads links, also from hosts that this agent may not use.")


async def _described(session: AgentSession, tab: AgentTab) -> ToolOutput:
    """The page after an action. An action may have opened another tab, which is then the current one."""
    await tab.settle()
    await session.pages.adopt_tabs()
    current = await session.pages.current()
    if current is not tab:
        await current.settle()
    if tab.refused:
        raise ToolRefused(tab.refused)
    chooser = "A file chooser is open: use browser_file_upload.\n" if current.file_chooser is not None else ""
    return ToolOutput(chooser + await current.describe(only_changes=True))
