"""Runs one case of a suite through the Python face and returns its log: runner.js in Python, step for step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any

from hatbox.api.browser import Browser
from hatbox.errors import HatboxError

LONGEST_SHOWN = 200
LONGEST_MESSAGE = 700
DAY_SECONDS = 86400


async def run_case(browser: Browser, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the steps of a case bring, in the order in which it is seen."""
    replay = _Replay(browser)
    for step in steps:
        await replay.take(step)
    await replay.settle()
    return replay.log


class _Replay:
    def __init__(self, browser: Browser) -> None:
        self.log: list[dict[str, Any]] = []
        self._browser = browser
        self._listeners: dict[str, tuple[Any, Callable[..., None]]] = {}
        self._callbacks: list[asyncio.Future[None]] = []  # done when they have been called

    async def take(self, step: dict[str, Any]) -> None:
        waiting = self._begin(step, {})
        if waiting is not None:
            await waiting

    async def settle(self) -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(*self._callbacks)
        for _ in range(5):  # nothing is under way any more but what the loop has in hand
            await asyncio.sleep(0)

    def _begin(self, step: dict[str, Any], entry: dict[str, Any]) -> Awaitable[Any] | None:
        """Do a step up to where it has to wait; returns what there is to wait for."""
        match step:
            case {"call": path}:
                return self._call(path, step.get("args", []), entry)
            case {"all": inner}:
                begun = [self._begin(each, {"call": index}) for index, each in enumerate(inner)]
                return asyncio.gather(*[waiting for waiting in begun if waiting is not None])
            case {"listen": path, "as": name}:
                event = self._find(path)
                _, listener = self._listeners.get(name, (None, self._listener(name, step.get("throws", False))))
                self._listeners[name] = event, listener
                event.addListener(listener)
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
            case {"settle": _}:
                return self.settle()
            case _:
                raise AssertionError(f"no such step: {step}")
        return None

    def _call(self, path: str, arguments: list[Any], entry: dict[str, Any]) -> Awaitable[Any] | None:
        try:
            result = self._find(path)(*map(self._decode, arguments))
        except HatboxError as error:
            self._callbacks = [each for each in self._callbacks if each.done()]  # nobody will ever call these
            self.log.append({**entry, "threw": _show_text(str(error), LONGEST_MESSAGE)})
            return None
        if not isinstance(result, asyncio.Future):
            self.log.append({**entry, "returned": _show(result)})
            return None
        return asyncio.ensure_future(self._answer(result, entry))

    async def _answer(self, result: asyncio.Future[Any], entry: dict[str, Any]) -> None:
        try:
            self.log.append({**entry, "resolved": _show(await result)})
        except HatboxError as error:
            self.log.append({**entry, "rejected": _show_text(str(error), LONGEST_MESSAGE)})

    def _listener(self, name: str, throws: bool) -> Callable[..., None]:
        def listener(*arguments: Any) -> None:
            self.log.append({"event": name, "args": _show(list(arguments))})
            if throws:
                raise RuntimeError("raised by a listener, on purpose")

        return listener

    def _callback(self, name: str) -> Callable[..., None]:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._callbacks.append(called)

        def callback(*arguments: Any) -> None:
            self.log.append({"callback": name, "args": _show(list(arguments))})
            called.set_result(None)

        return callback

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
            case dict():
                return {key: self._decode(item) for key, item in value.items()}
        return value


def _show(value: Any) -> Any:
    if isinstance(value, str):
        return _show_text(value, LONGEST_SHOWN)
    if isinstance(value, list):
        return [_show(item) for item in value]
    if isinstance(value, dict):
        return {key: _show_time(item) if key == "expirationDate" else _show(item) for key, item in value.items()}
    return value


def _show_text(text: str, longest: int) -> Any:
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return {"$length": length} if length > longest else text


def _show_time(seconds: float) -> Any:
    days = round((seconds - time.time()) / DAY_SECONDS, 2)
    return {"$inDays": int(days) if days.is_integer() else days}
