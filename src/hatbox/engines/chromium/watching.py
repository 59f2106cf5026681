"""Our script in the documents of a page: each runs in a world of its own there, which the page cannot see.

It says what happens in the page (watch.js), and other scripts can be run in the same worlds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.marks import Mark
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.work import guarded

__all__ = ["Watch"]

_SCRIPT: Final = files(__package__).joinpath("watch.js").read_text("utf-8")
_WORLD: Final = "hatbox"
_PATIENCE: Final = 5.0  # seconds that a page has to answer us


class Watch:
    """The worlds of one page. `hear` gets each word of the document that is at the top now, and what belongs to it."""

    def __init__(self, session: Session, mark: Mark | None, hear: Callable[[str, list[Any]], None]) -> None:
        self.has_spoken = False
        """Whether the document at the top has said that it is there, since `forget`."""
        self._session = session
        self._mark = mark
        self._hear = hear
        self._script = ""
        self._document = 0.0
        self._worlds: dict[str, str] = {}  # by origin; that at the top is the first
        self._unique: dict[int, str] = {}
        session.on("Runtime.executionContextCreated", guarded(self._on_world))
        session.on("Runtime.bindingCalled", guarded(self._on_word))

    async def begin(self) -> None:
        """Watch the document that is there, and all that will come."""
        binding = {"name": _WORLD, "executionContextName": _WORLD}
        script = {"source": self._source(), "worldName": _WORLD, "runImmediately": True}
        # In this order, because the script uses the binding; and all at once, because each takes a while.
        answers = await asyncio.gather(
            self._session.send("Runtime.enable"),
            self._session.send("Runtime.addBinding", binding),
            self._session.send("Page.addScriptToEvaluateOnNewDocument", script),
        )
        self._script = answers[-1]["identifier"]

    async def begin_late(self, frame_id: str) -> None:
        """Watch a document that has come without our script: a window that was blank before can be used again."""
        given = {"frameId": frame_id, "worldName": _WORLD}
        world = (await self._session.send("Page.createIsolatedWorld", given))["executionContextId"]
        await self._session.send("Runtime.evaluate", {"expression": self._source(), "contextId": world})

    async def set_mark(self, mark: Mark | None) -> None:
        """Mark the page otherwise."""
        self._mark = mark
        await self._session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script})
        given = {"source": self._source(), "worldName": _WORLD}
        self._script = (await self._session.send("Page.addScriptToEvaluateOnNewDocument", given))["identifier"]
        await self.ask(f"hatboxMark({json.dumps(mark)})")

    def forget(self) -> None:
        """The document at the top is not the one that has spoken any more."""
        self.has_spoken = False
        self._worlds.clear()

    @property
    def origins(self) -> list[str]:
        """The origins of the web that there are documents of."""
        return [origin for origin in self._worlds if origin.startswith("http")]

    async def run_in(self, origin: str, script: str) -> object:
        """Run a script in a document of this origin; raises LookupError if there is none."""
        world = self._worlds.get(origin)
        if not world:
            raise LookupError(origin)
        given = {"expression": script, "uniqueContextId": world, "awaitPromise": True, "returnByValue": True}
        async with asyncio.timeout(_PATIENCE):
            answer = await self._session.send("Runtime.evaluate", given)
        if failure := answer.get("exceptionDetails"):
            raise PlaywrightError(failure.get("exception", {}).get("description", failure["text"]))
        return answer["result"].get("value")

    async def ask(self, expression: str) -> object:
        """What an expression gives in the document at the top; None if there is no answer."""
        for origin in list(self._worlds)[:1]:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                return await self.run_in(origin, expression)
        return None

    def _source(self) -> str:
        return _SCRIPT.replace("(MARK, document)", f"({json.dumps(self._mark)}, document)")

    def _on_world(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:  # numbers are used again in other processes, these names are not
            self._unique[context["id"]] = context["uniqueId"]

    def _on_word(self, event: dict[str, Any]) -> None:
        document, word, *rest = json.loads(event["payload"])
        if word == "document":
            is_top, origin, _ = rest
            world = self._unique.get(event["executionContextId"], "")
            if not is_top:
                self._worlds.setdefault(origin, world)
                return
            self._document, self._worlds, self.has_spoken = document, {origin: world}, True
        if document == self._document or word in ("cookies", "unheard"):  # else it is the last word of one that is gone
            self._hear(word, rest)
