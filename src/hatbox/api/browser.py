"""`browser` for Python scripts: the namespaces that a caller may use, with the API's own spelling.

Arguments and results are dictionaries, as in JavaScript. Every call goes through the dispatcher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hatbox.api.events import ScriptEvent
from hatbox.javascript.wire_codec import without_undefined
from hatbox.schema import FunctionSchema, NamespaceSchema
from hatbox.schema.calls import bind

if TYPE_CHECKING:
    from hatbox.api.caller import Caller
    from hatbox.api.dispatcher import Dispatcher
    from hatbox.api.typed import BrowserNamespaces
else:
    BrowserNamespaces = object

__all__ = ["Browser", "dispatcher_and_caller"]


class Browser(BrowserNamespaces):
    """The `browser` of a script. It has the namespaces that the caller has permission for."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        self._dispatcher = dispatcher
        self._caller = caller
        self._proxies: dict[str, _NamespaceProxy] = {}

    def __getattr__(self, name: str) -> Any:
        # copy() reads names such as __deepcopy__ before __init__ has run.
        namespace = None if name.startswith("_") else self._dispatcher.namespace(self._caller, name)
        if namespace is None or namespace.schema.hidden:
            if not name.startswith("_"):
                _record_missing(self._caller, name)
            raise AttributeError(f"browser.{name} is not available: unknown namespace or missing permission")
        schema = namespace.schema
        if schema.file not in self._proxies:
            proxy = self._proxies[schema.file] = _NamespaceProxy(self._dispatcher, self._caller, schema)
            for nested in self._dispatcher.visible(self._caller):  # storage has storage.local
                if nested.startswith(f"{name}."):
                    setattr(proxy, nested.removeprefix(f"{name}."), getattr(self, nested))
        return self._proxies[schema.file]

    def __dir__(self) -> list[str]:
        return [name for name in self._dispatcher.visible(self._caller) if "." not in name]

    def __repr__(self) -> str:
        return f"<browser of {self._caller.extension_id}: {', '.join(dir(self))}>"


def dispatcher_and_caller(browser: Browser) -> tuple[Dispatcher, Caller]:
    """The dispatcher and the caller of a `browser`: for a host of scripts that send its calls as messages."""
    return browser._dispatcher, browser._caller


class _NamespaceProxy:
    """A namespace whose attributes are the functions, events, enumerations and constants of its schema.

    A function or event that needs a permission of its own exists while the caller has that permission.
    """

    def __init__(self, dispatcher: Dispatcher, caller: Caller, schema: NamespaceSchema) -> None:
        self._caller = caller
        self._namespace = schema.namespace
        self._guarded: dict[str, tuple[Callable[[Set[str]], bool], Any]] = {}
        for function in schema.functions.values():
            call = _bound_function(dispatcher, caller, schema.namespace, function)
            if function.permissions or function.any_permission:
                self._guarded[function.name] = function.is_permitted, call
            else:
                setattr(self, function.name, call)
        convert = without_undefined if schema.for_extensions else None
        for event in schema.events.values():
            script_event = ScriptEvent(dispatcher, caller, schema.namespace, event, convert)
            if event.permissions:
                self._guarded[event.name] = event.permissions.issubset, script_event
            else:
                setattr(self, event.name, script_event)
        for name, values in schema.enumerations.items():
            setattr(self, name, SimpleNamespace(**values))
        for name, value in schema.constants.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        is_permitted, member = (None, None) if name.startswith("_") else self._guarded.get(name, (None, None))
        if is_permitted is None or not is_permitted(self._caller.permissions):
            if not name.startswith("_"):
                _record_missing(self._caller, f"{self._namespace}.{name}")
            raise AttributeError(f"{name} is not available: unknown member or missing permission")
        return member

    def __dir__(self) -> list[str]:
        permitted = (
            name for name, (is_permitted, _) in self._guarded.items() if is_permitted(self._caller.permissions)
        )
        return sorted(name for name in (*vars(self), *permitted) if not name.startswith("_"))


def _record_missing(caller: Caller, name: str) -> None:
    if caller.guard is not None:
        caller.guard.record_missing(name)


def _bound_function(dispatcher: Dispatcher, caller: Caller, namespace: str, function: FunctionSchema) -> Any:
    def call(*arguments: Any, **named: Any) -> asyncio.Future[Any] | None:
        if named:
            named = {function.aliases.get(name, name): value for name, value in named.items()}
            arguments = tuple(bind(function.path, function.parameters, arguments, named))
        reply = dispatcher.call(caller, namespace, function.name, arguments)
        return reply if reply is None or not function.any_value else _plain(reply)

    call.__name__ = function.name
    call.__qualname__ = function.path
    call.__doc__ = f"{function.path}({', '.join(function.parameters)})"
    return call


def _plain(reply: asyncio.Future[Any]) -> asyncio.Future[Any]:
    """The result of a call, with None for undefined."""

    async def result() -> Any:
        return without_undefined(await reply)

    return asyncio.ensure_future(result())
