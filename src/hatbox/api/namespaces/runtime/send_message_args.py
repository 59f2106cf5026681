"""The arguments of runtime.sendMessage: (extensionId?, message, options?), told apart as Firefox does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hatbox.errors import ApiError
from hatbox.javascript.wire_codec import UNDEFINED

__all__ = ["parse_arguments"]


def parse_arguments(arguments: Sequence[Any]) -> tuple[str | None, Any]:
    """The id of the extension that is meant, None for the sender's own, and the message. The words are Firefox's.

    Two arguments are a message and options if the second can be options: a message within the extension is more common
    than an empty one to another. There are no options any more; only an empty object is one.
    """
    given = list(arguments)
    if not given:
        raise ApiError("runtime.sendMessage's message argument is missing")
    if len(given) == 1 or (len(given) == 2 and _can_be_options(given[1])):
        given.insert(0, None)
    padded = given + [None] * (4 - len(given))
    extension_id, message, options, last, more = *padded[:4], padded[4:]
    if not _can_be_options(options):
        raise ApiError("runtime.sendMessage's options argument is invalid")
    if len(given) == 4 and last:
        raise ApiError("runtime.sendMessage's last argument is not a function")
    if more or not (last is None or last is UNDEFINED):
        raise ApiError("runtime.sendMessage received too many arguments")
    if extension_id and not isinstance(extension_id, str):
        raise ApiError("runtime.sendMessage's extensionId argument is invalid")
    return extension_id or None, message


def _can_be_options(value: Any) -> bool:
    return value is None or value is UNDEFINED or (isinstance(value, (Mapping, list)) and not value)
