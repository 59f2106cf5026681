"""The arguments of runtime.sendMessage: (extensionId?, message, options?), resolved as in Firefox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hatbox.errors import ApiError
from hatbox.javascript.wire_codec import UNDEFINED

__all__ = ["parse_arguments"]


def parse_arguments(arguments: Sequence[Any]) -> tuple[str | None, Any]:
    """Parse (extensionId, message). The id is None for the sender's own extension. Error messages match Firefox.

    Two arguments are a message and options if the second can be options: an empty message to another extension is less
    common. Options no longer have members, so only an empty object is valid.
    """
    values = list(arguments)
    if not values:
        raise ApiError("runtime.sendMessage's message argument is missing")
    if len(values) == 1 or (len(values) == 2 and _can_be_options(values[1])):
        values.insert(0, None)
    padded = values + [None] * (4 - len(values))
    extension_id, message, options, last, more = *padded[:4], padded[4:]
    if not _can_be_options(options):
        raise ApiError("runtime.sendMessage's options argument is invalid")
    if len(values) == 4 and last:
        raise ApiError("runtime.sendMessage's last argument is not a function")
    if more or not (last is None or last is UNDEFINED):
        raise ApiError("runtime.sendMessage received too many arguments")
    if extension_id and not isinstance(extension_id, str):
        raise ApiError("runtime.sendMessage's extensionId argument is invalid")
    return extension_id or None, message


def _can_be_options(value: Any) -> bool:
    return value is None or value is UNDEFINED or (isinstance(value, (Mapping, list)) and not value)
