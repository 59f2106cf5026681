"""The parameters of commands. Pure.

The commands of all clients are decoded in the event loop of the engine, so to decode one must not take long. Only texts
and the values of arguments may be large: they are not searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.endpoint.messages import ClientMessage, MethodRefused

__all__ = ["MAX_ARGUMENTS", "MAX_PARAMS", "decode_params", "expect_decodable"]

MAX_PARAMS: Final = 2 * 2**20
"""The bytes of the parameters of a command, besides the files and documents that some methods carry."""
MAX_ARGUMENTS: Final = 1000
"""Those of one call of a function."""
_ARGUMENTS: Final = "arguments"
_LARGE: Final = {
    "Fetch.continueRequest": ("postData",),
    "Fetch.fulfillRequest": ("body",),
    "Input.insertText": ("text",),
    "Page.addScriptToEvaluateOnNewDocument": ("source",),
    "Page.setDocumentContent": ("html",),
    "Runtime.callFunctionOn": ("functionDeclaration", _ARGUMENTS),
    "Runtime.evaluate": ("expression",),
}
_NOTHING: Final = msgspec.Raw(b"")


def _at_most(count: int, kind: Any) -> Any:
    """The type of an array. Decoding ends at the first element that is one too many; that of a list, with the last."""
    fields = [(f"element{number}", kind | msgspec.UnsetType, msgspec.UNSET) for number in range(count)]
    return msgspec.defstruct("Elements", fields, array_like=True, forbid_unknown_fields=True)


def _elements(array: Any) -> Iterator[Any]:
    return (each for each in msgspec.structs.astuple(array) if each is not msgspec.UNSET)


class _Value(msgspec.Struct):
    value: msgspec.Raw = _NOTHING


_Members = dict[str, msgspec.Raw]
_Large: Final = msgspec.defstruct(
    "_Large",
    [
        (name, _at_most(MAX_ARGUMENTS, _Value) if name == _ARGUMENTS else msgspec.Raw, None)
        for name in sorted({each for names in _LARGE.values() for each in names})
    ],
)
_decode_large: Final = msgspec.json.Decoder(_Large).decode
_decode_members: Final = msgspec.json.Decoder(_Members).decode
_decode_arguments: Final = msgspec.json.Decoder(_at_most(MAX_ARGUMENTS, _Members)).decode


def expect_decodable(command: ClientMessage) -> None:
    """Raise MethodRefused if to decode the parameters of a command would take long."""
    size = _size(command.params)
    if size <= MAX_PARAMS:
        return
    names = _LARGE.get(command.method, ())
    if names:
        try:
            large = _decode_large(command.params)
            size -= sum(_large_size(name, getattr(large, name)) for name in names)
        except (msgspec.DecodeError, RecursionError) as error:
            raise _invalid(error) from error
    if size > MAX_PARAMS:
        besides = f" besides {' and '.join(names)}" if names else ""
        raise MethodRefused(
            f"The parameters of {command.method} have {size} bytes{besides}. At most {MAX_PARAMS} are allowed."
        )


def decode_params(raw: msgspec.Raw) -> dict[str, Any]:
    """The parameters of a command. The values of the arguments of a call stay encoded. Raises MethodRefused."""
    try:
        return {
            name: _arguments(each) if name == _ARGUMENTS else msgspec.json.decode(each)
            for name, each in _decode_members(raw).items()
        }
    except (msgspec.DecodeError, RecursionError) as error:
        raise _invalid(error) from error


def _arguments(raw: msgspec.Raw) -> list[dict[str, Any]]:
    return [
        {name: given if name == "value" else msgspec.json.decode(given) for name, given in each.items()}
        for each in _elements(_decode_arguments(raw))
    ]


def _large_size(name: str, given: Any) -> int:
    if given is None:
        return 0
    if name == _ARGUMENTS:
        return sum(_size(each.value) for each in _elements(given))
    return _size(given) if bytes(memoryview(given)[:1]) == b'"' else 0


def _size(raw: msgspec.Raw) -> int:
    return memoryview(raw).nbytes


def _invalid(error: Exception) -> MethodRefused:
    return MethodRefused(f"Invalid params: {error}")
