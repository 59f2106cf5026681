"""The isolated worlds of one page, in which page_observer.js, typed_input.js and identity_indicator.js run.

The page cannot see them.
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
from hatbox.engines.chromium.identity_indicator import NEUTRAL, IdentityIndicator, PersonRequestText
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.typed_input import Form

__all__ = ["IsolatedWorld"]

_OBSERVER: Final = files(__package__).joinpath("page_observer.js").read_text("utf-8")
_INDICATOR: Final = files(__package__).joinpath("identity_indicator.js").read_text("utf-8")
_TYPED_INPUT: Final = files(__package__).joinpath("typed_input.js").read_text("utf-8")
_WORLD: Final = "hatbox"
_EVALUATE_TIMEOUT: Final = 5.0
_MAX_DOCUMENTS: Final = 20  # of one page, whose typed text is read


class IsolatedWorld:
    """The isolated worlds of one page, one per document. `on_message` gets the name and arguments of each message."""

    def __init__(
        self, session: Session, indicator: IdentityIndicator | None, on_message: Callable[[str, list[Any]], None]
    ) -> None:
        self.is_connected = False
        """Whether the observer of the main document has sent a message since `reset`."""
        self.on_answer: Callable[[str], None] | None = None
        """Called with the answer of the person to the shown request: `done` or `refused`."""
        self._session = session
        self.indicator = indicator
        """The identity indicator of the page."""
        self._request: PersonRequestText | None = None
        self._on_message = on_message
        self._script_id = ""
        self._document = 0.0
        self._worlds: dict[str, str] = {}  # unique context ids by origin; the main document is first
        self._unique_ids: dict[int, str] = {}
        self._typed: dict[str, None] = {}  # the worlds of documents that the user has typed into
        session.on("Runtime.executionContextCreated", log_exceptions(self._on_execution_context_created))
        session.on("Runtime.bindingCalled", log_exceptions(self._on_binding_called))

    async def start(self) -> None:
        """Run the observer in the current documents, and in all later ones."""
        binding = {"name": _WORLD, "executionContextName": _WORLD}
        script = {"source": self._source(), "worldName": _WORLD, "runImmediately": True}
        # The script needs the binding, so order matters. Send all three before awaiting results, to save round trips.
        results = await asyncio.gather(
            self._session.send("Runtime.enable"),
            self._session.send("Runtime.addBinding", binding),
            self._session.send("Page.addScriptToEvaluateOnNewDocument", script),
        )
        self._script_id = results[-1]["identifier"]

    async def inject(self, frame_id: str) -> None:
        """Run the observer in a document that has none: Chromium can reuse the window of a blank document."""
        params = {"frameId": frame_id, "worldName": _WORLD}
        world = (await self._session.send("Page.createIsolatedWorld", params))["executionContextId"]
        await self._session.send("Runtime.evaluate", {"expression": self._source(), "contextId": world})

    async def set_indicator(self, indicator: IdentityIndicator | None) -> None:
        """Replace the identity indicator, in the main document and in later ones."""
        self.indicator = indicator
        await self._redraw()

    async def show_request(self, request: PersonRequestText) -> None:
        """Show a request to the person, with buttons for the answer, in the main document and in later ones."""
        self._request = request
        await self._redraw()

    async def _redraw(self) -> None:
        await self._session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script_id})
        params = {"source": self._source(), "worldName": _WORLD}
        self._script_id = (await self._session.send("Page.addScriptToEvaluateOnNewDocument", params))["identifier"]
        await self.evaluate_in_main_frame(f"hatboxIndicator({self._drawn()})")

    def reset(self) -> None:
        """The main document is replaced, and the new one has sent no message yet."""
        self.is_connected = False
        self._worlds.clear()
        self._typed.clear()

    @property
    def is_typed_into(self) -> bool:
        """Whether the user has typed into a document of the page."""
        return bool(self._typed)

    async def typed(self) -> list[object]:
        """The result of typed_input.js for each document that the user has typed into; None if it does not respond."""
        worlds = list(self._typed)[:_MAX_DOCUMENTS]
        return await asyncio.gather(*(self._try_evaluate(world, "hatboxTyped()") for world in worlds))

    async def fill(self, forms: Sequence[Form], world: str | None = None) -> bool:
        """Fill in the form of the document of a world, or of the main document; returns whether it has one."""
        script = f"hatboxFill({msgspec.json.encode(forms).decode()})"
        if world is None:
            return await self.evaluate_in_main_frame(script) is True
        return await self._try_evaluate(world, script) is True

    @property
    def origins(self) -> list[str]:
        """The http and https origins of the documents."""
        return [origin for origin in self._worlds if origin.startswith("http")]

    async def evaluate_in_origin(self, origin: str, script: str) -> object:
        """Evaluate a script in a document of this origin. Raises LookupError if the page has none."""
        world = self._worlds.get(origin)
        if not world:
            raise LookupError(origin)
        return await self._evaluate(world, script)

    async def evaluate_in_main_frame(self, script: str) -> object:
        """Evaluate a script in the main document; None if that fails."""
        for world in list(self._worlds.values())[:1]:
            return await self._try_evaluate(world, script) if world else None
        return None

    async def _try_evaluate(self, world: str, script: str) -> object:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            return await self._evaluate(world, script)
        return None

    async def _evaluate(self, world: str, script: str) -> object:
        params = {"expression": script, "uniqueContextId": world, "awaitPromise": True, "returnByValue": True}
        async with asyncio.timeout(_EVALUATE_TIMEOUT):
            result = await self._session.send("Runtime.evaluate", params)
        if failure := result.get("exceptionDetails"):
            raise PlaywrightError(failure.get("exception", {}).get("description", failure["text"]))
        return result["result"].get("value")

    def _source(self) -> str:
        return _OBSERVER + _TYPED_INPUT + _INDICATOR.replace("(INDICATOR)", f"({self._drawn()})")

    def _drawn(self) -> str:
        """The argument of identity_indicator.js."""
        if self._request is None:
            return json.dumps(self.indicator)
        shown = {**(self.indicator or NEUTRAL), "programs": ""}  # no connected program sees this page
        return json.dumps({**shown, "request": self._request})

    def _on_execution_context_created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:  # ids repeat in other processes, unique ids do not
            self._unique_ids[context["id"]] = context["uniqueId"]

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        if event["name"] != _WORLD:
            return
        document, message, *args = json.loads(event["payload"])
        world = self._unique_ids.get(event["executionContextId"], "")
        if message == "typed":
            self._typed[world] = None
            return
        if message == "answered":
            if self._request is not None and self.on_answer is not None and args in (["done"], ["refused"]):
                self.on_answer(args[0])
            return
        if message == "document":
            is_main, origin, _ = args
            if not is_main:
                self._worlds.setdefault(origin, world)
                self._on_message("frame", [origin, world])
                return
            self._document, self._worlds, self.is_connected = document, {origin: world}, True
            self._typed.clear()
        is_current = document == self._document  # otherwise the previous document has sent it
        if is_current or message in ("cookies", "cookiesUnobservable", "filled"):
            self._on_message(message, args)
