"""Our script in the documents of a page: each runs in a world of its own there, which the page cannot see.

It says what happens in the page (page_observer.js), and other scripts can be run in the same worlds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.identity_indicator import IdentityIndicator
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.typed_input import Form

__all__ = ["IsolatedWorld"]

_SCRIPT: Final = files(__package__).joinpath("page_observer.js").read_text("utf-8")
_TYPED: Final = files(__package__).joinpath("typed_input.js").read_text("utf-8")
_WORLD: Final = "hatbox"
_EVALUATE_TIMEOUT: Final = 5.0  # seconds that a page has to answer us
_MOST_DOCUMENTS: Final = 20  # of one page, whose typed text is read


class IsolatedWorld:
    """The worlds of one page. `hear` gets each word of the document that is at the top now, and what belongs to it."""

    def __init__(
        self, session: Session, mark: IdentityIndicator | None, hear: Callable[[str, list[Any]], None]
    ) -> None:
        self.is_connected = False
        """Whether the document at the top has said that it is there, since `forget`."""
        self._session = session
        self._mark = mark
        self._hear = hear
        self._script = ""
        self._document = 0.0
        self._worlds: dict[str, str] = {}  # by origin; that at the top is the first
        self._unique: dict[int, str] = {}
        self._typed: dict[str, None] = {}  # the isolated worlds of documents that the user has typed into
        session.on("Runtime.executionContextCreated", log_exceptions(self._on_execution_context_created))
        session.on("Runtime.bindingCalled", log_exceptions(self._on_binding_called))

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

    async def inject(self, frame_id: str) -> None:
        """Watch a document that has come without our script: a window that was blank before can be used again."""
        given = {"frameId": frame_id, "worldName": _WORLD}
        world = (await self._session.send("Page.createIsolatedWorld", given))["executionContextId"]
        await self._session.send("Runtime.evaluate", {"expression": self._source(), "contextId": world})

    async def set_mark(self, mark: IdentityIndicator | None) -> None:
        """Mark the page otherwise."""
        self._mark = mark
        await self._session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script})
        given = {"source": self._source(), "worldName": _WORLD}
        self._script = (await self._session.send("Page.addScriptToEvaluateOnNewDocument", given))["identifier"]
        await self.evaluate_in_main_frame(f"hatboxMark({json.dumps(mark)})")

    def reset(self) -> None:
        """The document at the top is not the one that has spoken any more."""
        self.is_connected = False
        self._worlds.clear()
        self._typed.clear()

    @property
    def is_typed_into(self) -> bool:
        """Whether the user has typed into a document of the page."""
        return bool(self._typed)

    async def typed(self) -> list[object]:
        """The result of typed_input.js for each document that the user has typed into; None if it does not respond."""
        worlds = list(self._typed)[:_MOST_DOCUMENTS]
        return await asyncio.gather(*(self._try_in(world, "hatboxTyped()") for world in worlds))

    async def fill(self, forms: Sequence[Form], world: str | None = None) -> bool:
        """Fill in the form of the document of this world, or of the top document; returns whether there is one."""
        script = f"hatboxFill({msgspec.json.encode(forms).decode()})"
        return (
            await self.evaluate_in_main_frame(script) if world is None else await self._try_in(world, script)
        ) is True

    @property
    def origins(self) -> list[str]:
        """The origins of the web that there are documents of."""
        return [origin for origin in self._worlds if origin.startswith("http")]

    async def evaluate_in_origin(self, origin: str, script: str) -> object:
        """Run a script in a document of this origin; raises LookupError if there is none."""
        world = self._worlds.get(origin)
        if not world:
            raise LookupError(origin)
        return await self._run(world, script)

    async def _try_in(self, world: str, script: str) -> object:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            return await self._run(world, script)
        return None

    async def _run(self, world: str, script: str) -> object:
        given = {"expression": script, "uniqueContextId": world, "awaitPromise": True, "returnByValue": True}
        async with asyncio.timeout(_EVALUATE_TIMEOUT):
            answer = await self._session.send("Runtime.evaluate", given)
        if failure := answer.get("exceptionDetails"):
            raise PlaywrightError(failure.get("exception", {}).get("description", failure["text"]))
        return answer["result"].get("value")

    async def evaluate_in_main_frame(self, expression: str) -> object:
        """What an expression gives in the document at the top; None if there is no answer."""
        for origin in list(self._worlds)[:1]:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                return await self.evaluate_in_origin(origin, expression)
        return None

    def _source(self) -> str:
        return _SCRIPT.replace("(MARK, document)", f"({json.dumps(self._mark)}, document)") + _TYPED

    def _on_execution_context_created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:  # numbers are used again in other processes, these names are not
            self._unique[context["id"]] = context["uniqueId"]

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        document, word, *rest = json.loads(event["payload"])
        world = self._unique.get(event["executionContextId"], "")
        if word == "typed":
            self._typed[world] = None
            return
        if word == "document":
            is_top, origin, _ = rest
            if not is_top:
                self._worlds.setdefault(origin, world)
                self._hear("frame", [origin, world])
                return
            self._document, self._worlds, self.is_connected = document, {origin: world}, True
            self._typed.clear()
        is_current = document == self._document  # else it comes from the previous document
        if is_current or word in ("cookies", "unheard", "filled"):
            self._hear(word, rest)
