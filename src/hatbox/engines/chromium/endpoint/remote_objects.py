"""The ids of script objects in commands, results and events. Pure.

An id is `isolate.context.number`. The numbers of contexts and objects count up, so a client could guess the objects of
script worlds that it does not see: Chromium creates ids for what these worlds log and throw, too. A client may use the
objects of contexts from which it was given one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.endpoint.messages import ClientMessage

__all__ = ["GIVES_OBJECTS", "EventObjects", "context_of", "may_name_objects", "named_objects", "objects_in"]

GIVES_OBJECTS: Final = frozenset(
    {
        "DOM.resolveNode",
        "IndexedDB.requestData",
        "Runtime.callFunctionOn",
        "Runtime.compileScript",
        "Runtime.evaluate",
        "Runtime.runScript",
    }
)
"""The methods whose results may have objects of a context from which the client has none. Others need an object."""

_ID: Final = re.compile(r"(-?[0-9]{1,20}\.([1-9][0-9]{0,9}))\.[0-9]{1,10}")
_NAME: Final = "bjectId"
_IN_TEXT: Final = (b"bjectId", b"\\u00", b"\\x")  # a name may be written with escapes


class _Object(msgspec.Struct):
    objectId: str = ""  # noqa: N815 - the name in CDP


class _Exception(msgspec.Struct):
    exception: _Object | None = None


class _Entry(msgspec.Struct):
    key: _Object
    value: _Object


class _Result(msgspec.Struct):
    result: _Object | None = None
    object: _Object | None = None
    exceptionDetails: _Exception | None = None  # noqa: N815 - the name in CDP
    objectStoreDataEntries: list[_Entry] = []  # noqa: N815 - the name in CDP


class EventObjects(msgspec.Struct):
    """The objects of an event of the domain Runtime."""

    args: list[_Object] = []
    object: _Object | None = None
    exception: _Object | None = None

    def ids(self) -> Iterator[str]:
        """Their ids; empty for values."""
        return (each.objectId for each in (*self.args, self.object, self.exception) if each is not None)


def context_of(object_id: object) -> tuple[str, int] | None:
    """The part of an id that names its context, and the number of the context. None if it is no id of an object."""
    found = _ID.fullmatch(object_id) if isinstance(object_id, str) else None
    return None if found is None else (found[1], int(found[2]))


def may_name_objects(command: ClientMessage) -> bool:
    """Whether `named_objects` has to be called. Most commands name no object, and are not decoded for this."""
    raw = bytes(command.params)
    return any(each in raw for each in _IN_TEXT)


def named_objects(params: dict[str, Any]) -> list[object]:
    """All ids of objects in the arguments of a command, whatever their type."""
    found = [given for name, given in params.items() if name.endswith(_NAME)]
    arguments = params.get("arguments")
    if isinstance(arguments, list):
        found += [
            given
            for each in arguments
            if isinstance(each, dict)
            for name, given in each.items()
            if name.endswith(_NAME)
        ]
    return found


def objects_in(result: msgspec.Raw) -> Iterator[str]:
    """The ids of objects in the result of a method of GIVES_OBJECTS. What scripts return by value is not read."""
    if b'"objectId"' not in bytes(result):
        return
    try:
        decoded = msgspec.json.decode(result, type=_Result)
    except msgspec.DecodeError:  # of a newer Chromium
        return
    thrown = decoded.exceptionDetails.exception if decoded.exceptionDetails else None
    entries = [each for entry in decoded.objectStoreDataEntries for each in (entry.key, entry.value)]
    for each in (decoded.result, decoded.object, thrown, *entries):
        if each is not None:
            yield each.objectId
