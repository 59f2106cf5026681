"""`browser`, for Python scripts: the namespaces that a caller may use, with the API's own spelling.

Dictionaries in and out, exactly what a script sees in JavaScript. Everything goes through the dispatcher.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.events import ScriptEvent
from hatbox.javascript.wire_codec import without_undefined
from hatbox.schema import FunctionSchema, NamespaceSchema
from hatbox.schema.calls import bind

if TYPE_CHECKING:
    from hatbox.api.typed import BrowserNamespaces
else:
    BrowserNamespaces = object

__all__ = ["Browser"]


class Browser(BrowserNamespaces):
    """What a script calls `browser`. A namespace for which the caller has no permission is not there."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        self._dispatcher = dispatcher
        self._caller = caller
        self._faces: dict[str, _NamespaceProxy] = {}

    def __getattr__(self, name: str) -> Any:
        # What begins with _ is ours or Python's own, and is asked for before there is a dispatcher, as copy() does.
        namespace = None if name.startswith("_") else self._dispatcher.namespace(self._caller, name)
        if namespace is None or namespace.surface.hidden:
            raise AttributeError(f"browser.{name} is not there: no such namespace, or no permission for it")
        surface = namespace.surface
        if surface.file not in self._faces:
            face = self._faces[surface.file] = _NamespaceProxy(self._dispatcher, self._caller, surface)
            for below in self._dispatcher.visible(self._caller):  # storage has storage.local
                if below.startswith(f"{name}."):
                    setattr(face, below.removeprefix(f"{name}."), getattr(self, below))
        return self._faces[surface.file]

    def __dir__(self) -> list[str]:
        return [name for name in self._dispatcher.visible(self._caller) if "." not in name]

    def __repr__(self) -> str:
        return f"<browser of {self._caller.extension_id}: {', '.join(dir(self))}>"


class _NamespaceProxy:
    """A namespace whose attributes are the functions, events, enumerations and constants of a surface.

    A function or event that needs a permission of its own is there while the caller holds it.
    """

    def __init__(self, dispatcher: Dispatcher, caller: Caller, surface: NamespaceSchema) -> None:
        self._caller = caller
        self._guarded: dict[str, tuple[frozenset[str], Any]] = {}
        for function in surface.functions.values():
            call = _caller_of(dispatcher, caller, surface.namespace, function)
            if function.permissions:
                self._guarded[function.name] = function.permissions, call
            else:
                setattr(self, function.name, call)
        said = without_undefined if surface.for_extensions else None
        for event in surface.events.values():
            face = ScriptEvent(dispatcher, caller, surface.namespace, event, said)
            if event.permissions:
                self._guarded[event.name] = event.permissions, face
            else:
                setattr(self, event.name, face)
        for name, values in surface.enumerations.items():
            setattr(self, name, SimpleNamespace(**values))
        for name, value in surface.constants.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        permissions, member = (None, None) if name.startswith("_") else self._guarded.get(name, (None, None))
        if permissions is None or not permissions <= self._caller.permissions:
            raise AttributeError(f"{name} is not there: no such member, or no permission for it")
        return member

    def __dir__(self) -> list[str]:
        return sorted(
            name for name in (*vars(self), *self._guarded) if not name.startswith("_") and hasattr(self, name)
        )


def _caller_of(dispatcher: Dispatcher, caller: Caller, namespace: str, function: FunctionSchema) -> Any:
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
    """What a call resolves to, in Python's words."""

    async def answer() -> Any:
        return without_undefined(await reply)

    return asyncio.ensure_future(answer())
