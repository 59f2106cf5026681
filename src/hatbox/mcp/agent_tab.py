"""A tab of an agent: its page, its dialogs, downloads and file choosers. Every read checks the URLs of its frames."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from playwright.async_api import Dialog, FileChooser, Frame, Locator, Page, Response
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.net_errors import ABORTED, BLOCKED_BY_CLIENT
from hatbox.engines.chromium.sessions import within
from hatbox.mcp.host_limits import ERROR_PAGE, check_frame, is_pdf_viewer
from hatbox.mcp.page_cookies import PageCookies
from hatbox.mcp.page_log import PageLog
from hatbox.mcp.page_text import contains_text, in_one_line, visible_texts
from hatbox.mcp.password_fields import KnownPasswords, PasswordFields
from hatbox.mcp.password_redaction import MAX_CHARACTERS, TooManyPasswords, url_without_passwords, without_passwords
from hatbox.mcp.rule_refusals import RuleRefusals
from hatbox.mcp.snapshot_changes import changes_of, with_parents
from hatbox.mcp.tab_downloads import TabDownloads
from hatbox.mcp.tool_output import MAX_TEXT, ToolFailed, ToolRefused, bounded, quoted, untrusted

if TYPE_CHECKING:
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["AgentTab", "failure"]

T = TypeVar("T")

_REFERENCE: Final = re.compile(r"(?:f[0-9]{1,9})?e[0-9]{1,9}", re.ASCII)
_FIND_MS: Final = 1_500.0  # an unknown reference would wait for the whole timeout
_LOAD_MS: Final = 30_000.0
_ACTION_MS: Final = 8_000.0
_SETTLE_MS: Final = 3_000.0
_READ_SECONDS: Final = 30.0
_NOTE_SECONDS: Final = 5.0
_WAIT_SECONDS: Final = 30.0
_PERFORM_SECONDS: Final = 90.0  # more than the timeouts of Playwright, which its driver may not keep
_POLL_SECONDS: Final = 0.25
_BLANK: Final = "about:blank"
_NET_ERROR: Final = "net::ERR_"
_MAX_TITLE: Final = 500
_MAX_URL: Final = 12 * MAX_CHARACTERS + 2000  # a character has up to four encoded bytes
_MODIFIERS: Final = ("Alt", "Control", "Meta", "Shift")
_CHANGED: Final = "New lines since the last snapshot, with their parents. browser_snapshot shows all.\n"
_SAME: Final = "The snapshot is the same as before.\n"
_MAX_FOUND: Final = 100
_MAX_TREE: Final = MAX_TEXT + MAX_CHARACTERS
_CRASHED: Final = "the page has crashed, and its tab was closed. Open another page with browser_navigate."
_DISCONNECTED: Final = (
    "the browser has ended unexpectedly, and your tabs with it. It starts again: open a page with browser_navigate."
)
_CLOSED: Final = "has been closed"  # Playwright's error, which comes before it is known what has ended
_LOST: Final = (
    "the page was closed, or the browser has ended, which then starts again. Try again in some seconds, with "
    "browser_navigate."
)
_REASONS: Final = {  # lines of Playwright's log, whose other text may be that of the page
    "intercepts pointer events": "another element covers the element",
    "element is not enabled": "the element is disabled",
    "element is not editable": "the element is read-only or disabled",
    "element is not visible": "the element is not visible",
    "element is not stable": "the element moves",
    "element is outside of the viewport": "the element is outside of the visible part of the page",
}
_TOO_MANY: Final = "the page has too many password fields to hide them. Ask the user to read it."
_PDF: Final = (
    "The page shows a PDF, whose text is not in the snapshot. Read it with the tool fetch and the URL of the PDF, or "
    "see it with browser_take_screenshot. For another page of it, add its number to the URL, such as #page=2.\n"
)


class AgentTab:
    """A tab of an agent."""

    def __init__(self, page: Page, session: AgentSession, downloads: TabDownloads, known: KnownPasswords) -> None:
        self.page = page
        self.dialog: Dialog | None = None
        """The open dialog, which blocks the page."""
        self.file_chooser: FileChooser | None = None
        self.refused = ""
        """Why the last navigation was refused; empty if it was not."""
        self.last_frame: Frame | None = None
        """The frame of the last element that `find` has returned; None for the main frame."""
        self._session = session
        self.passwords = PasswordFields(page, known)
        self.cookies = PageCookies(page)
        self.log = PageLog(page, self._without_secrets, self._may_use)
        """Its console and its requests. Before it is shown, the values to be hidden must be read."""
        self._rules = RuleRefusals(page, session)
        self._dialog_opened = asyncio.Event()
        self._pending: set[asyncio.Task[Any]] = set()
        self._leaving: asyncio.Task[None] | None = None
        self._may_hold_keys = False
        self._has_crashed = False
        self._seen = ""  # the snapshot that the agent has
        self._connection = session.browser.connection
        page.on("crash", self._on_crash)
        page.on("dialog", self._on_dialog)
        page.on("download", downloads.add)
        page.on("framenavigated", self._on_navigated)
        if session.options.uploads is not None:
            page.on("filechooser", self._on_file_chooser)
        for frame in page.frames:
            self._on_navigated(frame)

    @property
    def is_open(self) -> bool:
        """Whether the page is open, and can be used."""
        return not self.page.is_closed() and not self.why_lost

    @property
    def why_lost(self) -> str:
        """Why the page cannot be used any more, for the agent; empty if it can, and if it was closed."""
        if self._has_crashed:
            return _CRASHED
        return _DISCONNECTED if self.is_disconnected else ""

    @property
    def is_disconnected(self) -> bool:
        """Whether the browser of the page has ended."""
        return self._connection is not self._session.browser.connection

    def _on_crash(self, page: Page) -> None:
        self._has_crashed = True
        self._spawn(asyncio.ensure_future(close_page(page)))

    def _on_dialog(self, dialog: Dialog) -> None:
        if self._leaving is not None:
            self._spawn(asyncio.ensure_future(_dismiss(dialog)))
            return
        self.dialog = dialog
        self._dialog_opened.set()

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        self.file_chooser = chooser

    def _on_navigated(self, frame: Frame) -> None:
        """Leave a document that was loaded without a paused request: by a service worker, in a window that opens."""
        if is_pdf_viewer(frame.url):
            self._session.pages.has_shown_pdf = True
        try:
            check_frame(self._session.grant("pages"), frame.url, is_main=frame == self.page.main_frame)
        except ToolRefused as error:
            self._leave_for(error)
        else:
            self._spawn(asyncio.ensure_future(self._check_addresses()))

    async def _check_addresses(self) -> None:
        """Raise ToolRefused, and leave the page, if a document came from an address that the agent may not use."""
        try:
            await self._session.browser.limit.check_addresses(self.page)
        except ToolRefused as error:
            if self._leaving is None:
                self._leave_for(error)
            raise

    def _leave_for(self, error: ToolRefused) -> None:
        self.refused = self.refused or str(error)
        self._leaving = asyncio.ensure_future(self._leave())
        self._spawn(self._leaving)

    async def _leave(self) -> None:
        """Show an empty page. The agent sees nothing of the document: neither its dialogs nor its log."""
        try:
            dialog, self.dialog = self.dialog, None
            self._dialog_opened.clear()
            if dialog is not None:
                await _dismiss(dialog)  # it would delay the navigation
            with contextlib.suppress(PlaywrightError):
                await within(self.page.goto(_BLANK, timeout=_ACTION_MS))
                self.log.clear()
                self._session.browser.limit.on_left(self.page)
        finally:
            if self._leaving is asyncio.current_task():
                self._leaving = None

    # ── Actions ──

    async def load(self, url: str) -> str:
        """Load a URL, until its document is parsed. If that fails, until Chromium's error page is shown.

        Returns a line with the status of the response, if there is one.
        """
        shown = asyncio.Event()

        def on_navigated(frame: Frame) -> None:
            if frame == self.page.main_frame and frame.url == ERROR_PAGE:
                shown.set()

        self.page.on("framenavigated", on_navigated)
        try:
            response = await self.perform(self.page.goto(url, timeout=_LOAD_MS, wait_until="domcontentloaded"))
            if response is not None and self._leaving is None:
                self.refused = ""  # it was a navigation of the document before, which came late
            return _status(response)
        except ToolFailed as error:
            if _NET_ERROR in str(error.__cause__) and ABORTED not in str(error.__cause__):
                # The error page follows later, and would interrupt the next navigation.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(shown.wait(), _SETTLE_MS / 1000)
            raise
        finally:
            self.page.remove_listener("framenavigated", on_navigated)

    async def go_back(self) -> str:
        """Load the page before, until its document is parsed. Returns a line as `load` does."""
        return _status(await self.perform(self.page.go_back(timeout=_LOAD_MS, wait_until="domcontentloaded")))

    async def perform(self, action: Coroutine[Any, Any, T]) -> T | None:
        """Run an action. Returns None when it opens a dialog, which must be answered before the action continues."""
        try:
            await self._check_dialog()
            await self._note_secrets()
            await self._check_dialog()
        except BaseException:
            action.close()
            raise
        self.refused = ""
        self._dialog_opened.clear()
        task = asyncio.ensure_future(self._with_released_keys(action))
        opened = asyncio.ensure_future(self._dialog_opened.wait())
        try:
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the access of the agent, or its client, has ended
            task.cancel()
            raise
        finally:
            opened.cancel()
        if not task.done():
            self._spawn(task)
            return None
        try:
            return task.result()
        except PlaywrightTimeout as error:
            advice = "Take a new browser_snapshot, and use its references."
            raise ToolFailed(f"{failure(error)}{_reason(error)}. {advice}") from error
        except PlaywrightError as error:
            raise await self._failed(error) from error

    async def _note_secrets(self) -> None:
        """Note the fields that show hidden values: an action may split one. A page that does not respond is skipped."""
        with contextlib.suppress(PlaywrightError, TooManyPasswords, TimeoutError):
            async with asyncio.timeout(_NOTE_SECONDS):
                await self._until_dialog(self._read_secrets())

    async def _check_dialog(self) -> None:
        if self.dialog is not None:
            raise ToolFailed(f"{await self.dialog_text()} Answer it with browser_handle_dialog first.")

    async def _until_dialog(self, reading: Coroutine[Any, Any, T]) -> T | None:
        """Read the page. Returns None when it opens a dialog: it answers nothing until that is answered."""
        task = asyncio.ensure_future(reading)
        self._spawn(task)
        opened = asyncio.ensure_future(self._dialog_opened.wait())
        try:
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opened.cancel()
            is_complete = task.done()
            task.cancel()
        if not is_complete or (self.dialog is not None and task.exception() is not None):
            return None
        return task.result()

    async def _with_released_keys(self, action: Coroutine[Any, Any, T]) -> T:
        """Run an action. Releases modifier keys that a failed or cancelled action may have left pressed."""
        try:
            if self._leaving is not None:
                await asyncio.wait({self._leaving})  # its navigation would interrupt that of the action
            if self._may_hold_keys:
                for each in _MODIFIERS:
                    await within(self.page.keyboard.up(each))
            self._may_hold_keys = True
            result = await within(action, seconds=_PERFORM_SECONDS)
        except BaseException:
            self._may_hold_keys = True  # another action, which a dialog has delayed, may have ended meanwhile
            raise
        finally:
            action.close()
        self._may_hold_keys = False
        return result

    async def _failed(self, error: PlaywrightError) -> ToolFailed:
        if self.why_lost:
            return ToolFailed(self.why_lost)
        refused = self.refused or (await self._rules.explain() if BLOCKED_BY_CLIENT in str(error) else "")
        if refused:
            return ToolRefused(refused)
        if _CLOSED in str(error):
            return ToolFailed(_LOST)
        await self.read_cookies()
        return ToolFailed(failure(PlaywrightError(self._without_secrets(str(error)))))  # it may name a URL of the page

    def _spawn(self, task: asyncio.Task[Any]) -> None:
        self._pending.add(task)
        task.add_done_callback(self._on_pending_done)

    def _on_pending_done(self, task: asyncio.Task[Any]) -> None:
        self._pending.discard(task)
        if not task.cancelled():
            task.exception()  # the agent sees the result in its next snapshot

    async def find(self, reference: str) -> Locator:
        """The element of a reference. Raises ToolFailed soon if it is not in the page any more."""
        await self.check_frames()
        if not _REFERENCE.fullmatch(reference):
            raise ToolFailed(
                f"target must be a reference of the latest snapshot, such as e12, not {reference[:40]!r}. "
                "Selectors are not supported. Take a browser_snapshot."
            )
        await self._check_dialog()
        found = self.page.locator(f"aria-ref={reference}")
        try:
            await self._until_dialog(within(found.wait_for(state="attached", timeout=_FIND_MS)))
        except PlaywrightError as error:
            raise ToolFailed(f"{reference} is not in the page any more. Take a new browser_snapshot.") from error
        self.last_frame = None
        if reference.startswith("f"):
            with contextlib.suppress(PlaywrightError):
                element = await within(found.element_handle(timeout=_FIND_MS))
                self.last_frame = await within(element.owner_frame())
        await self._check_dialog()
        return found

    async def answer_dialog(self, *, accept: bool, text: str) -> None:
        """Accept or dismiss the open dialog."""
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            raise ToolFailed("no dialog is open.")
        self._dialog_opened.clear()
        try:
            if accept:
                await within(dialog.accept(text) if dialog.type == "prompt" else dialog.accept())
            else:
                await within(dialog.dismiss())
        except PlaywrightError as error:
            raise ToolFailed(failure(error)) from error

    async def settle(self) -> None:
        """Wait until a navigation that an action has started is loaded, for a short time."""
        if self.dialog is None and not self.page.is_closed():
            with contextlib.suppress(PlaywrightError):
                loaded = within(self.page.wait_for_load_state("domcontentloaded", timeout=_SETTLE_MS))
                await self._until_dialog(loaded)

    # ── What the agent sees ──

    async def check_frames(self) -> None:
        """Raise ToolRefused unless the agent may see all frames."""
        await self._check_addresses()
        grant = self._session.grant("pages")
        self._session.browser.limit.check()
        if self.why_lost:
            raise ToolFailed(self.why_lost)
        if self.page.is_closed():
            raise ToolFailed("the page was closed. List the open tabs with browser_tabs.")
        for frame in self.page.frames:
            check_frame(grant, frame.url, is_main=frame == self.page.main_frame)

    async def describe(self, reference: str = "", depth: int | None = None, *, only_changes: bool = False) -> str:
        """URL, title and snapshot, without passwords and cookies, bounded and marked as untrusted.

        `only_changes`: instead of the snapshot what is new since the one before, if that is much shorter.
        """
        if self.refused:
            raise ToolRefused(self.refused)
        if self.dialog is not None:
            return await self._dialog_answer()
        await self.check_frames()
        if self.page.url == ERROR_PAGE and (refused := await self._rules.explain()):
            raise ToolRefused(refused)
        read = await self._within_limits(self._read(reference, depth))
        if read is None:
            return await self._dialog_answer()
        title, tree, shows_pdf = read
        changes = changes_of(self._seen, tree) if only_changes and self._seen else None
        if not reference and depth is None:
            self._seen = tree
        note = "" if changes is None else _CHANGED if changes else _SAME
        text = bounded(tree if changes is None else changes, advice="Use depth, or target for a part of the page.")
        shown = untrusted(f"Page URL: {self.shown_url(2000)}\nPage title: {title}\n{text}")
        return await self.dialog_text() + (_PDF if shows_pdf else "") + note + shown

    async def find_text(self, text: str) -> str:
        """The lines of the snapshot that contain a text, below their parents, marked as untrusted."""
        await self._check_dialog()
        await self.check_frames()
        read = await self._within_limits(self._read("", None))
        if read is None:
            return await self._dialog_answer()
        lines = read[1].splitlines()
        found = [number for number, line in enumerate(lines) if contains_text(line, text)]
        if not found:
            return "No line of the snapshot contains this text."
        return untrusted(bounded(with_parents(lines, found[:_MAX_FOUND])))

    async def read_log(self, show: Callable[[], str]) -> str:
        """What `show` returns, after the values were read that must not be shown."""
        if self._leaving is not None:
            await asyncio.wait({self._leaving})  # it clears the log
        await self._check_dialog()
        await self.check_frames()
        await self._within_limits(self._read_secrets())
        await self._check_dialog()
        return show()

    async def _within_limits(self, reading: Coroutine[Any, Any, T]) -> T | None:
        """Read the page. Returns None if it opens a dialog. Raises ToolFailed, and ToolRefused if it has navigated."""
        try:
            async with asyncio.timeout(_READ_SECONDS):
                read = await self._until_dialog(reading)
        except PlaywrightError as error:
            if self.why_lost:
                raise ToolFailed(self.why_lost) from error
            if _CLOSED in str(error):
                raise ToolFailed(_LOST) from error
            raise ToolFailed(f"the page cannot be read: {failure(error)}. Try browser_snapshot again.") from error
        except TimeoutError:
            raise ToolFailed("the page does not respond. Try browser_wait_for, or open another page.") from None
        except TooManyPasswords:
            raise ToolFailed(_TOO_MANY) from None
        if read is not None:
            await self.check_frames()
        return read

    def _may_use(self, url: str) -> bool:
        try:
            return self._session.grant("pages").allows_url(url)
        except ToolRefused:  # the grant has ended
            return False

    async def _dialog_answer(self) -> str:
        if self.refused:  # the page of the dialog is left
            raise ToolRefused(self.refused)
        return f"{await self.dialog_text()} Answer it with browser_handle_dialog."

    async def wait_for_text(self, text: str, *, is_shown: bool) -> None:
        """Wait until the page shows a text, or does not any more. Ends when a dialog opens. Raises ToolFailed.

        The text is searched without passwords and cookies: an agent could find them out by waiting for parts of them.
        """
        await self._check_dialog()
        self.refused = ""
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                while True:
                    if await self._shows(text) is is_shown or self.dialog is not None or self.refused:
                        return
                    await asyncio.sleep(_POLL_SECONDS)
        except TooManyPasswords:
            raise ToolFailed(_TOO_MANY) from None
        except TimeoutError:
            what = "appear" if is_shown else "disappear"
            raise ToolFailed(
                f"the text did not {what} within {_WAIT_SECONDS:g} seconds. Take a browser_snapshot."
            ) from None

    async def _shows(self, text: str) -> bool | None:
        """Whether the page shows a text; None if it cannot be read now."""
        await self.check_frames()
        try:
            shown = await self._until_dialog(self._read_text())
        except PlaywrightError:  # it navigates
            return None
        return None if shown is None else contains_text(shown, text)

    async def _read_text(self) -> str:
        """What a snapshot shows, and the visible text, which is longer, and in which words of several elements join."""
        _, tree, _ = await self._read("", None)
        visible = await visible_texts(self.page)
        passwords = await self._read_secrets()  # typed or changed meanwhile
        shown = [self._in_one_line(tree)]
        for text in visible:
            line = self._in_one_line(text.lines)
            shown.append(line[: -self._longest_secret(passwords)] if text.is_cut else line)
        return " ".join(shown)

    def _in_one_line(self, lines: str) -> str:
        # Each line first, because a short password is one that is a whole line. Then those of several lines.
        return self._without_secrets(in_one_line(self._without_secrets(lines)))

    def _longest_secret(self, passwords: Collection[str]) -> int:
        """Characters that may be the start of a password or of a cookie at the end of a text that was cut."""
        return max(1, self.cookies.longest, *map(len, passwords))

    async def _read(self, reference: str, depth: int | None) -> tuple[str, str, bool]:
        found = await self.find(reference) if reference else None
        await self._read_secrets()
        title = await within(self.page.title())
        if found is not None:
            tree = await within(found.aria_snapshot(mode="ai", depth=depth, timeout=_ACTION_MS))
        else:
            tree = await within(self.page.aria_snapshot(mode="ai", depth=depth, timeout=_ACTION_MS))
        passwords = await self._read_secrets()  # typed or changed meanwhile
        limit = _MAX_TREE + self.cookies.longest
        shown = self._without_secrets(tree[:limit])
        if len(tree) > limit:
            shown = f"{shown[: -self._longest_secret(passwords)]}\n"
            shown += f"[{len(tree) - limit} further characters are omitted.]"
        return self._without_secrets(title[:_MAX_TREE])[:_MAX_TITLE], shown, await self._shows_pdf()

    async def _shows_pdf(self) -> bool:
        """Whether the page is a PDF, or has one in a frame. In the browser of another program, viewers are withheld."""
        is_pdf: bool = await within(self.page.evaluate("document.contentType === 'application/pdf'"))
        return is_pdf or any(is_pdf_viewer(frame.url) for frame in self.page.frames)

    async def _read_secrets(self) -> set[str]:
        """Read the cookies, then the password fields and those that show a hidden value."""
        await self.cookies.read()
        return await self.passwords.read(self._is_hidden)

    def _is_hidden(self, value: str) -> bool:
        return value in self.passwords.known or self._without_secrets(value) != value

    async def read_cookies(self) -> None:
        """Read the values that must not be shown. Raises ToolFailed."""
        try:
            await self.cookies.read()
        except PlaywrightError as error:
            if _CLOSED in str(error) and not self.page.is_closed():
                raise ToolFailed(_LOST) from error
            if not self.page.is_closed():
                raise ToolFailed(f"the cookies cannot be hidden: {failure(error)}. Try again.") from error

    def _without_secrets(self, text: str) -> str:
        return without_passwords(self.cookies.hide(text), self.passwords.known)

    def shown_url(self, limit: int) -> str:
        """The start of the URL, without passwords and cookies: a form may have sent them with GET."""
        return url_without_passwords(self.cookies.hide(self.page.url[:_MAX_URL]), self.passwords.known)[:limit]

    async def dialog_text(self) -> str:
        """What the open dialog says. Raises ToolRefused if the agent may not see its page."""
        if (dialog := self.dialog) is None:
            return ""
        await self.check_frames()
        await self.read_cookies()
        message = self._without_secrets(dialog.message[:_MAX_TREE])
        return f"The page shows a dialog ({dialog.type}). {untrusted(bounded(message, 1000))}\n"


async def _dismiss(dialog: Dialog) -> None:
    with contextlib.suppress(PlaywrightError):
        await within(dialog.dismiss())


def _status(response: Response | None) -> str:
    """The status of the response of a navigation. None: the URL needs no request, or a dialog has opened."""
    return "" if response is None else f"HTTP status: {response.status}\n"


def _reason(error: PlaywrightTimeout) -> str:
    """Why an action was not possible, as Playwright's log says at last."""
    places = {reason: str(error).rfind(line) for line, reason in _REASONS.items()}
    reason = max(places, key=lambda each: places[each])
    return f": {reason}" if places[reason] >= 0 else ""


def failure(error: Exception) -> str:
    """The first line of a message of Playwright, marked: it may contain text of the page. The others are a log."""
    return f"the browser reports {quoted(str(error).strip().partition(chr(10))[0].rstrip('.') or type(error).__name__)}"
