"""Runs one case of identities.json through the Python face and returns its log: runner.js in Python, step for step."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any

from hatbox.api.browser import Browser
from hatbox.errors import HatboxError

LONGEST_SHOWN = 200


async def run_case(browser: Browser, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the steps of a case bring, in the order in which it is seen."""
    replay = _Replay(browser)
    for step in steps:
        await replay.take(step)
    await _settle()
    return replay.log


class _Replay:
    def __init__(self, browser: Browser) -> None:
        self.log: list[dict[str, Any]] = []
        self._browser = browser
        self._listeners: dict[str, tuple[Any, Callable[..., None]]] = {}

    async def take(self, step: dict[str, Any]) -> None:
        waiting = self._begin(step, {})
        if waiting is not None:
            await waiting

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
                return _settle()
            case _:
                raise AssertionError(f"no such step: {step}")
        return None

    def _call(self, path: str, arguments: list[Any], entry: dict[str, Any]) -> Awaitable[Any] | None:
        try:
            result = self._find(path)(*map(self._decode, arguments))
        except HatboxError as error:
            self.log.append({**entry, "threw": _show(str(error))})
            return None
        if not isinstance(result, asyncio.Future):
            self.log.append({**entry, "returned": _show(result)})
            return None
        return asyncio.ensure_future(self._answer(result, entry))

    async def _answer(self, result: asyncio.Future[Any], entry: dict[str, Any]) -> None:
        try:
            self.log.append({**entry, "resolved": _show(await result)})
        except HatboxError as error:
            self.log.append({**entry, "rejected": _show(str(error))})

    def _listener(self, name: str, throws: bool) -> Callable[..., None]:
        def listener(*arguments: Any) -> None:
            self.log.append({"event": name, "args": _show(list(arguments))})
            if throws:
                raise RuntimeError("raised by a listener, on purpose")

        return listener

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
            case {"$callback": name}:
                return lambda *arguments: self.log.append({"callback": name, "args": _show(list(arguments))})
            case dict():
                return {key: self._decode(item) for key, item in value.items()}
        return value


def _show(value: Any) -> Any:
    if isinstance(value, str):
        length = len(value.encode("utf-16-le", "surrogatepass")) // 2
        return {"$length": length} if length > LONGEST_SHOWN else value
    if isinstance(value, list):
        return [_show(item) for item in value]
    if isinstance(value, dict):
        return {key: _show(item) for key, item in value.items()}
    return value


async def _settle() -> None:
    for _ in range(5):  # nothing is under way but what the loop has in hand
        await asyncio.sleep(0)
