"""Compiles scripts of clients, without running them: in a hidden page, so that no page of a user can delay it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.hidden_target import HiddenTarget
from hatbox.engines.chromium.sessions import within

__all__ = ["ScriptCompiler"]

_SECONDS: Final = 10.0
_OF_PAGE: Final = frozenset({"objectId", "preview"})
_NOT_COMPILED: Final = {"type": "object", "subtype": "error", "className": "SyntaxError"}
_FAILED: Final = "SyntaxError: Hatbox could not compile this script. Try again."


class ScriptCompiler:
    """The compiler of one browser. Its page is opened with the first script, and ends with the browser."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: HiddenTarget | None = None
        self._opening = asyncio.Lock()

    async def compile(self, source: str) -> dict[str, Any] | None:
        """None for a script; the exceptionDetails of its syntax error for another text."""
        params = {"expression": source, "sourceURL": "", "persistScript": False}
        try:
            compiled = await within((await self._opened()).send("Runtime.compileScript", params), seconds=_SECONDS)
        except PlaywrightError:  # the page has crashed, or the script is too long
            await self.close()
            exception = _NOT_COMPILED | {"description": _FAILED}
            return {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": exception}
        failure: dict[str, Any] | None = compiled.get("exceptionDetails")
        if failure is None:
            return None
        exception = {key: each for key, each in failure.get("exception", {}).items() if key not in _OF_PAGE}
        shown = ("exceptionId", "text", "lineNumber", "columnNumber")
        return {**{key: failure[key] for key in shown}, "exception": exception}

    async def close(self) -> None:
        """Close the page."""
        page, self._page = self._page, None
        if page is not None:
            await page.close()

    async def _opened(self) -> HiddenTarget:
        async with self._opening:
            if self._page is None or not self._page.is_open:
                page = await HiddenTarget.open(self._browser)
                await within(page.send("Runtime.enable"))
                self._page = page
            return self._page
