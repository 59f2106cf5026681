"""A mypy plugin: calls of Playwright in `src` have a limit of time. A lost response would be waited for without end.

Each call that returns a coroutine is in an argument of `within` or `without_limit` (`sessions.py`), or of
`AgentTab.perform`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from mypy.checker import TypeChecker
from mypy.plugin import MethodContext, Plugin
from mypy.types import Instance, Type, get_proper_type

_PLAYWRIGHT: Final = "playwright.async_api."
_LIMITS: Final = {"within", "without_limit", "perform"}
_SOURCE: Final = "/src/hatbox/"


class BareCalls(Plugin):
    """The plugin."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Check the calls of Playwright."""
        return _check if fullname.startswith(_PLAYWRIGHT) else None


def plugin(_: str) -> type[Plugin]:
    """See mypy."""
    return BareCalls


def _check(context: MethodContext) -> Type:
    result, call = get_proper_type(context.default_return_type), context.context
    checker = cast("TypeChecker", context.api)
    if (
        isinstance(result, Instance)
        and result.type.fullname == "typing.Coroutine"
        and _SOURCE in f"/{checker.path}"
        and (call.line, call.column, call.end_line, call.end_column) not in _limited_calls(checker.path)
    ):
        context.api.fail("a call of Playwright may wait without end: use within() of sessions.py", call)
    return context.default_return_type


@lru_cache(maxsize=1)
def _limited_calls(path: str) -> set[tuple[int, int, int | None, int | None]]:
    """The places of the calls inside the arguments of the functions that set a limit."""
    return {
        (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
        for limit in ast.walk(ast.parse(Path(path).read_bytes()))
        if isinstance(limit, ast.Call) and getattr(limit.func, "id", getattr(limit.func, "attr", "")) in _LIMITS
        for argument in limit.args
        for call in ast.walk(argument)
        if isinstance(call, ast.Call)
    }
