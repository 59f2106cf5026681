"""The names that scripts declare at their top level: V8 compiles each script in a hidden page, and runs none of them.

Content scripts of an extension share their declarations. But the runner can only run them as evaluated texts or as
functions, because it depends on the document whether they run, and both have a scope of their own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.sessions import within

__all__ = ["DeclaredNames", "find_declared_names", "is_strict"]

_STRICT: Final = re.compile(r"""(?:\s|//[^\n]*\n|/\*.*?\*/)*+(?:"use strict"|'use strict')""", re.DOTALL)
_CACHED: Final = 512


class DeclaredNames(msgspec.Struct, frozen=True):
    """The names of one script."""

    lexical: tuple[str, ...] = ()
    """Those of let, const and class."""
    variables: tuple[str, ...] = ()
    """Those of var and function."""
    error: str = ""
    """The syntax error, if the script has one."""


_cache: OrderedDict[bytes, DeclaredNames] = OrderedDict()


def is_strict(source: str) -> bool:
    """Whether a script starts with "use strict"."""
    return _STRICT.match(source) is not None


async def find_declared_names(launched: Launched, sources: Iterable[str]) -> Mapping[str, DeclaredNames]:
    """The names of each source. Results are cached. Raises Playwright's Error."""
    keys = {source: sha256(source.encode("utf-8", "surrogatepass")).digest() for source in sources}
    missing = [source for source, key in keys.items() if key not in _cache]
    if missing:
        found = await within(_compile(launched, missing), "Runtime.evaluate")
        for source, names in found.items():
            _cache[keys[source]] = names
    result = {source: _cache[key] for source, key in keys.items()}
    for key in keys.values():
        _cache.move_to_end(key)
    while len(_cache) > _CACHED:
        _cache.popitem(last=False)
    return result


async def _compile(launched: Launched, sources: list[str]) -> dict[str, DeclaredNames]:
    session = await launched.browser.new_browser_cdp_session()
    try:
        context = await session.send("Target.createBrowserContext", {"disposeOnDetach": True})
        target = await session.send("Target.createTarget", {"url": "about:blank", "hidden": True, **context})
        page = await _HiddenPage.attach(session, target["targetId"])
        return {source: await _names(page, source, index) for index, source in enumerate(sources)}
    finally:
        await session.detach()


async def _names(page: _HiddenPage, source: str, index: int) -> DeclaredNames:
    """Compile a source in a world of its own. It throws before its first statement, so none of it runs."""
    params = {"frameId": page.target_id, "worldName": f"names {index}"}
    world = (await page.send("Page.createIsolatedWorld", params))["executionContextId"]
    scope = (await page.send("Runtime.evaluate", {"expression": "this", "contextId": world}))["result"]["objectId"]
    before = await page.properties(scope)
    start = '"use strict";throw 0;' if is_strict(source) else "throw 0;"
    result = await page.send("Runtime.evaluate", {"expression": start + source, "contextId": world, "silent": True})
    thrown = result.get("exceptionDetails", {}).get("exception", {})
    if thrown.get("className") == "SyntaxError":
        return DeclaredNames(error=thrown.get("description", "SyntaxError").partition("\n")[0])
    lexical = (await page.send("Runtime.globalLexicalScopeNames", {"executionContextId": world}))["names"]
    return DeclaredNames(tuple(sorted(lexical)), tuple(sorted(await page.properties(scope) - before)))


class _HiddenPage:
    """A page without a window, in which nothing runs."""

    def __init__(self, session: CDPSession, target_id: str, session_id: str) -> None:
        self.target_id = target_id
        self._session = session
        self._session_id = session_id
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        session.on("Target.receivedMessageFromTarget", log_exceptions(self._on_message))

    @classmethod
    async def attach(cls, session: CDPSession, target_id: str) -> _HiddenPage:
        params = {"targetId": target_id, "flatten": False}
        return cls(session, target_id, (await session.send("Target.attachToTarget", params))["sessionId"])

    async def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        reply = self._replies[number] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": number, "method": method, "params": params})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": self._session_id, "message": message})
        result: dict[str, Any] = await reply
        return result

    async def properties(self, object_id: str) -> set[str]:
        found = await self.send("Runtime.getProperties", {"objectId": object_id, "ownProperties": True})
        return {each["name"] for each in found["result"]}

    def _on_message(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        reply = self._replies.pop(message.get("id", 0), None)
        if reply is None or reply.done():
            return
        if "error" in message:
            reply.set_exception(PlaywrightError(message["error"]["message"]))
        else:
            reply.set_result(message["result"])
