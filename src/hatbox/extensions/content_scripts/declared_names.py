"""The names that scripts declare at their top level: V8 compiles each script in a hidden page, and runs none of them.

Content scripts of an extension share their declarations. But the runner can only run them as evaluated texts or as
functions, because it depends on the document whether they run, and both have a scope of their own.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

import msgspec

from hatbox.engines.chromium.hidden_target import HiddenTarget
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
    page = await HiddenTarget.open(launched.browser)
    try:
        return {source: await _names(page, source, index) for index, source in enumerate(sources)}
    finally:
        await page.close()


async def _names(page: HiddenTarget, source: str, index: int) -> DeclaredNames:
    """Compile a source in a world of its own. It throws before its first statement, so none of it runs."""
    params = {"frameId": page.id, "worldName": f"names {index}"}
    world = (await page.send("Page.createIsolatedWorld", params))["executionContextId"]
    scope = (await page.send("Runtime.evaluate", {"expression": "this", "contextId": world}))["result"]["objectId"]
    before = await _properties(page, scope)
    start = '"use strict";throw 0;' if is_strict(source) else "throw 0;"
    result = await page.send("Runtime.evaluate", {"expression": start + source, "contextId": world, "silent": True})
    thrown = result.get("exceptionDetails", {}).get("exception", {})
    if thrown.get("className") == "SyntaxError":
        return DeclaredNames(error=thrown.get("description", "SyntaxError").partition("\n")[0])
    lexical = (await page.send("Runtime.globalLexicalScopeNames", {"executionContextId": world}))["names"]
    return DeclaredNames(tuple(sorted(lexical)), tuple(sorted(await _properties(page, scope) - before)))


async def _properties(page: HiddenTarget, object_id: str) -> set[str]:
    found = await page.send("Runtime.getProperties", {"objectId": object_id, "ownProperties": True})
    return {each["name"] for each in found["result"]}
