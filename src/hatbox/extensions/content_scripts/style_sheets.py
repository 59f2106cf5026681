"""The style sheets that extensions insert into documents (CSS.createStyleSheet). Pages cannot see or remove them.

Those of declared content scripts are added by the runner in the document, and removed by it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.protocol_hub import HubSession
from hatbox.extensions.content_scripts.page_frames import PageFrame
from hatbox.extensions.content_scripts.runner_source import WorldNames

__all__ = ["StyleSheets", "end_runners"]

_END_TIMEOUT: Final = 1.0  # seconds; a page may hang


class StyleSheets:
    """The inserted style sheets of all documents."""

    def __init__(self) -> None:
        self._enabled: set[str] = set()  # ids of sessions
        self._sheets: dict[tuple[str, str, str], list[tuple[HubSession, str]]] = {}

    async def insert(self, frame: PageFrame, extension_id: str, text: str, allows: Callable[[], bool]) -> None:
        """Add a style sheet to the document of a frame, if `allows` accepts that document. Raises Playwright's Error.

        The document is known when its style sheet exists: the frame may load another one until then.
        """
        session = frame.session
        if session.id not in self._enabled:
            self._enabled.add(session.id)
            await session.send("DOM.enable")
            await session.send("CSS.enable")
        sheet = (await session.send("CSS.createStyleSheet", {"frameId": frame.id, "force": True}))["styleSheetId"]
        if not allows():
            return
        await session.send("CSS.setStyleSheetText", {"styleSheetId": sheet, "text": text})
        self._sheets.setdefault(_key(frame, extension_id, text), []).append((session, sheet))

    async def remove(self, frame: PageFrame, extension_id: str, text: str) -> None:
        """Remove the style sheet that was added last with this text."""
        key = _key(frame, extension_id, text)
        sheets = self._sheets.get(key, [])
        if not sheets:
            return
        session, sheet = sheets.pop()
        if not sheets:
            del self._sheets[key]
        await session.send("CSS.setStyleSheetText", {"styleSheetId": sheet, "text": ""})

    async def remove_all(self, extension_id: str) -> None:
        """Remove the style sheets of an extension that has ended."""
        ended = [key for key in self._sheets if key[1] == extension_id]
        sheets = [each for key in ended for each in self._sheets.pop(key)]
        await _settle(
            session.send("CSS.setStyleSheetText", {"styleSheetId": sheet, "text": ""}) for session, sheet in sheets
        )

    def forget_session(self, session: HubSession) -> None:
        """A session has ended."""
        self._enabled.discard(session.id)
        self._sheets = {
            key: kept
            for key, sheets in self._sheets.items()
            if (kept := [each for each in sheets if each[0] is not session])
        }

    def forget_document(self, unique_id: str) -> None:
        """A document has ended, whose main world had this uniqueId."""
        for key in [key for key in self._sheets if key[0] == unique_id]:
            del self._sheets[key]


async def end_runners(frames: Iterable[PageFrame], names: WorldNames) -> None:
    """End the runner of an extension in these frames: its style sheets are removed."""
    await _settle(_end_runner(frame, names) for frame in frames)


async def _end_runner(frame: PageFrame, names: WorldNames) -> None:
    with contextlib.suppress(KeyError):  # the document has ended
        await frame.session.send("Page.createIsolatedWorld", {"frameId": frame.id, "worldName": names.world})
        params = {
            "expression": f"this[{json.dumps(names.runner)}]?.end()",
            "uniqueContextId": frame.contexts[names.world].unique_id,
        }
        await frame.session.send("Runtime.evaluate", params)


async def _settle(commands: Iterable[Awaitable[object]]) -> None:
    """Wait for commands that may fail, but not for pages that hang."""
    tasks = [asyncio.ensure_future(each) for each in commands]
    if tasks:
        _, pending = await asyncio.wait(tasks, timeout=_END_TIMEOUT)
        for task in pending:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _key(frame: PageFrame, extension_id: str, text: str) -> tuple[str, str, str]:
    main = frame.contexts.get("")
    if main is None:
        raise PlaywrightError("the frame has no document")
    return main.unique_id, extension_id, text
