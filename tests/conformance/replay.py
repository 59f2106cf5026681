"""Runs one case of a suite through the Python face and returns its log: runner.js in Python, step for step."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from functools import reduce
from types import SimpleNamespace
from typing import Any

from hatbox.api.browser import Browser
from hatbox.errors import HatboxError

LONGEST_SHOWN = 200
LONGEST_MESSAGE = 700
DAY_SECONDS = 86400
POLL_SECONDS = 0.001
PATIENCE_SECONDS = 5
NEVER_SECONDS = 0.2  # where Hatbox differs from Firefox in that nothing happens

TAB_IDS = {"tabId", "previousTabId", "openerTabId", "successorTabId", "tabIds"}
WINDOW_IDS = {"windowId", "oldWindowId", "newWindowId"}
VOLATILE = {"lastAccessed", "left", "top", "width", "height"}

Ids = dict[int, int]  # each id, and the number that stands for it, in the order of first sight


async def run_case(
    browser: Browser,
    steps: list[dict[str, Any]],
    site: str,
    settled: Callable[[], Awaitable[None]] | None = None,
    expected: list[dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """What the steps of a case bring, in the order in which it is seen.

    `site` is the origin of its pages, and `settled` waits until whoever loads them has begun all that was asked for.
    What is `expected` never to happen is not awaited for long.
    """
    replay = _Replay(browser, site, settled, {entry["never"] for entry in expected or () if "never" in entry})
    if hasattr(browser, "tabs"):
        await replay.see_first()
    for step in steps:
        await replay.take(step)
    await replay.settle()
    return replay.log


class _Replay:
    def __init__(
        self, browser: Browser, site: str, settled: Callable[[], Awaitable[None]] | None, never: set[str]
    ) -> None:
        self.log: list[dict[str, Any]] = []
        self._browser = browser
        self._site = site
        self._settled = settled
        self._never = never
        self._listeners: dict[str, tuple[Any, Callable[..., None]]] = {}
        self._callbacks: list[asyncio.Future[None]] = []  # done when they have been called
        self._saved: dict[str, Any] = {}
        self._tabs: Ids = {}
        self._windows: Ids = {}
        self._groups: Ids = {}

    async def see_first(self) -> None:
        (tab,) = await self._find("tabs.query")({})
        self._saved |= {"tab": tab, "window": {"id": tab["windowId"]}}
        self._show_id(tab["id"], self._tabs)
        self._show_id(tab["windowId"], self._windows)

    async def take(self, step: dict[str, Any]) -> None:
        waiting = self._begin(step, {})
        if waiting is not None:
            await waiting

    async def settle(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*self._callbacks)
        if self._settled is not None:
            await self._settled()
        if hasattr(self._browser, "tabs"):
            await self._patiently(self._is_loaded, "settle")
        for _ in range(5):  # nothing is under way any more but what the loop has in hand
            await asyncio.sleep(0)

    async def _is_loaded(self) -> bool:
        return not await self._find("tabs.query")({"status": "loading"})

    def _begin(self, step: dict[str, Any], entry: dict[str, Any]) -> Awaitable[Any] | None:
        """Do a step up to where it has to wait; returns what there is to wait for."""
        match step:
            case {"call": _}:
                return self._call(step, entry)
            case {"all": inner}:
                begun = [self._begin(each, {"call": index}) for index, each in enumerate(inner)]
                return asyncio.gather(*[waiting for waiting in begun if waiting is not None])
            case {"listen": _}:
                self._listen(step)
            case {"unlisten": name}:
                event, listener = self._listeners[name]
                event.removeListener(listener)
            case {"hasListener": name}:
                event, listener = self._listeners[name]
                self.log.append({"returned": event.hasListener(listener)})
            case {"keys": path}:
                self.log.append({"returned": [key for key in dir(self._find(path)) if not key.startswith("_")]})
            case {"has": path}:
                self.log.append({"returned": self._has(path)})
            case {"value": path}:
                value = self._find(path)
                self.log.append({"returned": self._show(vars(value) if isinstance(value, SimpleNamespace) else value)})
            case {"until": _}:
                return self._until(step)
            case {"heard": name}:
                return self._heard(name, step.get("times", 1))
            case {"settle": _}:
                return self.settle()
            case _:
                raise AssertionError(f"no such step: {step}")
        return None

    def _call(self, step: dict[str, Any], entry: dict[str, Any]) -> Awaitable[Any] | None:
        try:
            result = self._invoke(step["call"], step.get("args", []))
        except HatboxError as error:
            self._callbacks = [each for each in self._callbacks if each.done()]  # nobody will ever call these
            self.log.append({**entry, "threw": self._show_message(error)})
            return None
        if not isinstance(result, asyncio.Future):
            self.log.append({**entry, "returned": self._show(result, self._ids_of(step["call"]), step.get("show"))})
            return None
        return asyncio.ensure_future(self._answer(result, step, entry))

    async def _answer(self, result: asyncio.Future[Any], step: dict[str, Any], entry: dict[str, Any]) -> None:
        try:
            value = await result
        except HatboxError as error:
            self.log.append({**entry, "rejected": self._show_message(error)})
            return
        if "save" in step:
            self._saved[step["save"]] = value
        self.log.append({**entry, "resolved": self._show(value, self._ids_of(step["call"]), step.get("show"))})

    def _invoke(self, path: str, arguments: list[Any]) -> Any:
        return self._find(path)(*map(self._decode, arguments))

    def _listen(self, step: dict[str, Any]) -> None:
        event, name = self._find(step["listen"]), step["as"]
        _, listener = self._listeners.get(name, (None, self._listener(step)))
        try:
            event.addListener(listener, *map(self._decode, step.get("args", [])))
        except HatboxError as error:
            self.log.append({"threw": self._show_message(error)})
            return
        self._listeners[name] = event, listener

    def _listener(self, step: dict[str, Any]) -> Callable[..., Any]:
        ids, only = self._ids_of(step["listen"]), step.get("show")

        def listener(*arguments: Any) -> Any:
            # Whether a page is an article is found out sooner or later, and of no interest here.
            if len(arguments) > 1 and list(arguments[1]) == ["isArticle"]:
                return None
            self.log.append({"event": step["as"], "args": self._show(list(arguments), ids, only)})
            if step.get("throws", False):
                raise RuntimeError("raised by a listener, on purpose")
            return self._decode(step.get("answers"))

        return listener

    def _callback(self, name: str) -> Callable[..., None]:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._callbacks.append(called)

        def callback(*arguments: Any) -> None:
            self.log.append({"callback": name, "args": self._show(list(arguments))})
            called.set_result(None)

        return callback

    async def _until(self, step: dict[str, Any]) -> None:
        path, wanted = step["until"], self._decode(step["is"])

        async def is_so() -> bool:
            answer: dict[str, Any] = await self._invoke(path, step.get("args", []))
            return all(answer.get(key) == value for key, value in wanted.items())

        await self._patiently(is_so, f"until {path}")

    async def _heard(self, name: str, times: int) -> None:
        async def is_heard() -> bool:
            return len([entry for entry in self.log if name in (entry.get("event"), entry.get("callback"))]) >= times

        await self._patiently(is_heard, f"heard {name}")

    async def _patiently(self, is_done: Callable[[], Awaitable[bool]], what: str) -> None:
        deadline = time.monotonic() + (NEVER_SECONDS if what in self._never else PATIENCE_SECONDS)
        while not await is_done():
            if time.monotonic() > deadline:
                self.log.append({"never": what})
                return
            await asyncio.sleep(POLL_SECONDS)

    def _find(self, path: str) -> Any:
        return reduce(getattr, path.split("."), self._browser)

    def _has(self, path: str) -> bool:
        try:
            self._find(path)
        except AttributeError:
            return False
        return True

    def _decode(self, value: Any) -> Any:
        match value:
            case list():
                return [self._decode(item) for item in value]
            case {"$number": number}:
                return float(number)
            case {"$function": _}:
                return lambda: None
            case {"$repeat": [text, times]}:
                return text * times
            case {"$inDays": days}:
                return time.time() + days * DAY_SECONDS
            case {"$callback": name}:
                return self._callback(name)
            case {"$ref": path}:
                return reduce(_part, path.split("."), self._saved)
            case {"$site": path}:
                return self._site + path
            case dict():
                return {key: self._decode(item) for key, item in value.items()}
        return value

    def _show(self, value: Any, ids: Ids | None = None, only: list[str] | None = None) -> Any:
        match value:
            case str():
                return self._show_text(value, LONGEST_SHOWN)
            case int() if ids is not None and not isinstance(value, bool):
                return self._show_id(value, ids)
            case list():
                return [self._show(item, ids, only) for item in value]
            case dict():
                picks = only is not None and (_is_tab(value) or _is_window(value) or _is_request(value))
                keys = [key for key in value if not picks or key in (only or ())]
                return {key: self._show_property(key, value[key], value, only) for key in keys}
        return value

    def _show_property(self, key: str, value: Any, owner: dict[str, Any], only: list[str] | None) -> Any:
        if key == "expirationDate":
            return _show_time(value)
        if key == "isArticle":
            return None
        if key == "extensionId":
            return "$self"
        if key in VOLATILE and isinstance(value, int | float):
            return "$number"
        if key in TAB_IDS or (key == "id" and _is_tab(owner)):
            return self._show(value, self._tabs)
        if key in WINDOW_IDS or (key == "id" and _is_window(owner)):
            return self._show(value, self._windows)
        if key == "groupId" or (key == "id" and _is_group(owner)):
            return self._show(value, self._groups)
        return self._show(value, None, only)

    def _ids_of(self, path: str) -> Ids | None:
        """The ids of which namespace a call or an event deals in."""
        if path == "tabs.group":
            return self._groups
        return {"tabs": self._tabs, "windows": self._windows, "tabGroups": self._groups}.get(path.partition(".")[0])

    def _show_id(self, value: int, ids: Ids) -> Any:
        if value < 0:
            return value
        name = "$tab" if ids is self._tabs else "$window" if ids is self._windows else "$group"
        return {name: ids.setdefault(value, len(ids) + 1)}

    def _show_text(self, text: str, longest: int) -> Any:
        told = text.replace(self._site, "$site").replace(self._site.partition("//")[2], "$host")
        length = len(told.encode("utf-16-le", "surrogatepass")) // 2
        return {"$length": length} if length > longest else told

    def _show_message(self, error: HatboxError) -> Any:
        def numbered(match: re.Match[str]) -> str:
            kind = match[1]
            number = (self._tabs if kind == "tab" else self._windows).get(int(match[2]))
            return f"{kind} ID: ${kind} {number}" if number else match[0]

        return self._show_text(re.sub(r"(tab|window) ID: (\d+)$", numbered, str(error)), LONGEST_MESSAGE)


def _part(owner: Any, name: str) -> Any:
    return owner[int(name)] if isinstance(owner, list) else owner[name]


def _is_tab(value: dict[str, Any]) -> bool:
    return "highlighted" in value


def _is_window(value: dict[str, Any]) -> bool:
    return "alwaysOnTop" in value


def _is_group(value: dict[str, Any]) -> bool:
    return "collapsed" in value


def _is_request(value: dict[str, Any]) -> bool:
    return "requestId" in value


def _show_time(seconds: float) -> Any:
    days = round((seconds - time.time()) / DAY_SECONDS, 2)
    return {"$inDays": int(days) if days.is_integer() else days}
