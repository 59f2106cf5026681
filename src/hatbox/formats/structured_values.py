"""Values of IndexedDB in two encodings: that of the profile, and that of Playwright's storage state. Pure.

The profile's encoding is the one of `engines/chromium/site_data.js`: a primitive is itself, and everything else is a
list that starts with a tag letter. Playwright writes JSON as it is where that suffices, and objects with one key for
other types. Both number objects in the order of their first occurrence; Playwright only those that contain others.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from hatbox.formats.javascript_dates import iso_of, milliseconds_of

__all__ = ["InvalidEncoding", "NotTranslatable", "decode_value", "encode_value", "pack_plain"]

BLOBS: Final = "Blobs and Files"
KEYS: Final = "CryptoKeys"
VIEWS: Final = "DataViews and Float16Arrays"
DATES: Final = "invalid Dates"
PROTO: Final = "properties named __proto__"

_ARRAYS: Final = {
    "Int8Array": ("i8", 1),
    "Uint8Array": ("ui8", 1),
    "Uint8ClampedArray": ("ui8c", 1),
    "Int16Array": ("i16", 2),
    "Uint16Array": ("ui16", 2),
    "Int32Array": ("i32", 4),
    "Uint32Array": ("ui32", 4),
    "Float32Array": ("f32", 4),
    "Float64Array": ("f64", 8),
    "BigInt64Array": ("bi64", 8),
    "BigUint64Array": ("bui64", 8),
}
_ARRAY_OF: Final = {code: (name, size) for name, (code, size) in _ARRAYS.items()}
_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "-0")
_INTEGER: Final = re.compile(r"-?[0-9]{1,4000}")
_PROTO: Final = "__proto__"


class NotTranslatable(Exception):
    """A value that the other encoding has no form for. The argument names its type, in the plural."""


class InvalidEncoding(Exception):
    """A value that neither Playwright nor Hatbox has written."""


# ---------------------------------------------------------------------------------------- the profile → Playwright


def encode_value(packed: Any) -> tuple[bool, Any]:
    """A value in Playwright's encoding, and whether that is plain JSON. Raises NotTranslatable, InvalidEncoding."""
    try:
        if _is_plain(packed):
            return True, _plain(packed)
        return False, _Encoder().encode(packed)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        raise InvalidEncoding(str(error)) from error


def _is_plain(packed: Any) -> bool:
    if not isinstance(packed, list):
        return True
    tag, *rest = packed
    if tag == "a":
        return all(map(_is_plain, rest))
    return tag == "o" and all(key != _PROTO and _is_plain(item) for key, item in rest)


def _plain(packed: Any) -> Any:
    if not isinstance(packed, list):
        return packed
    tag, *rest = packed
    return [_plain(each) for each in rest] if tag == "a" else {key: _plain(item) for key, item in rest}


class _Encoder:
    """Encodes one value. `_seen` has, for each object of the profile's numbering, what a reference to it becomes."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._last_id = 0

    def encode(self, packed: Any) -> Any:
        if packed is None:
            return {"v": "null"}
        if not isinstance(packed, list):
            return packed
        tag, *rest = packed
        return getattr(self, f"_encode_{tag}", _refuse)(*rest)

    def _encode_n(self, text: str) -> Any:
        return {"v": text}

    def _encode_u(self) -> Any:
        return {"v": "undefined"}

    def _encode_i(self, digits: str) -> Any:
        return {"bi": digits}

    def _encode_r(self, number: int) -> Any:
        return self._seen[number]

    def _encode_d(self, milliseconds: float | None) -> Any:
        if milliseconds is None:
            raise NotTranslatable(DATES)
        return self._leaf({"d": iso_of(milliseconds)})

    def _encode_x(self, source: str, flags: str) -> Any:
        return self._leaf({"r": {"p": source, "f": flags}})

    def _encode_b(self, text: str) -> Any:
        return self._leaf({"ab": {"b": text}})

    def _encode_e(self, name: str, message: str, stack: str) -> Any:
        return self._leaf({"e": {"n": name, "m": message, "s": stack}})

    def _encode_v(self, kind: str, buffer: Any, offset: int, length: int) -> Any:
        """Playwright writes the part of the buffer that the array shows. The buffer has a number of its own."""
        if kind not in _ARRAYS:
            raise NotTranslatable(VIEWS)
        place = len(self._seen)
        self._seen.append(None)
        octets = base64.b64decode(self.encode(buffer)["ab"]["b"])
        code, size = _ARRAYS[kind]
        shown = base64.b64encode(octets[offset : offset + length * size]).decode()
        self._seen[place] = {"ta": {"b": shown, "k": code}}
        return self._seen[place]

    def _encode_f(self, *_: Any) -> Any:
        raise NotTranslatable(BLOBS)

    def _encode_k(self, *_: Any) -> Any:
        raise NotTranslatable(KEYS)

    def _encode_a(self, *items: Any) -> Any:
        return self._container("a", lambda: [self.encode(each) for each in items])

    def _encode_s(self, *items: Any) -> Any:
        return self._container("s", lambda: [self.encode(each) for each in items])

    def _encode_m(self, *pairs: Any) -> Any:
        return self._container("m", lambda: [{"k": self.encode(key), "v": self.encode(item)} for key, item in pairs])

    def _encode_o(self, *pairs: Any) -> Any:
        if any(key == _PROTO for key, _ in pairs):
            raise NotTranslatable(PROTO)  # Playwright skips it, without a word
        return self._container("o", lambda: [{"k": key, "v": self.encode(item)} for key, item in pairs])

    def _leaf(self, encoded: Any) -> Any:
        self._seen.append(encoded)
        return encoded

    def _container(self, tag: str, items: Callable[[], list[Any]]) -> Any:
        self._last_id += 1
        number = self._last_id
        self._seen.append({"ref": number})
        return {tag: items(), "id": number}


def _refuse(*_: Any) -> Any:
    raise InvalidEncoding("unknown tag")


# ---------------------------------------------------------------------------------------- Playwright → the profile


def pack_plain(value: Any) -> Any:
    """Plain JSON in the profile's encoding."""
    if isinstance(value, list):
        return ["a", *map(pack_plain, value)]
    if isinstance(value, dict):
        return ["o", *([key, pack_plain(item)] for key, item in value.items())]
    return _number(value) if isinstance(value, float) else value


def decode_value(encoded: Any) -> Any:
    """A value of Playwright's encoding in that of the profile. Raises InvalidEncoding, NotTranslatable."""
    try:
        return _Decoder().decode(encoded)
    except (TypeError, ValueError, KeyError, AttributeError, binascii.Error) as error:
        raise InvalidEncoding(f"{type(error).__name__}: {error}") from error


class _Decoder:
    """Decodes one value. `_numbers` maps Playwright's ids to those of the profile."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._count = 0

    def decode(self, encoded: Any) -> Any:
        if isinstance(encoded, float):
            return _number(encoded)
        if isinstance(encoded, list):
            raise InvalidEncoding("a list")
        if not isinstance(encoded, dict):
            return encoded
        tag = next((each for each in _TAGS if each in encoded), "")
        if not tag:
            raise InvalidEncoding(f"an object with {', '.join(map(str, encoded)) or 'no properties'}")
        if tag in ("a", "s", "o", "m"):
            return self._container(tag, encoded)
        return getattr(self, f"_decode_{tag}")(encoded[tag])

    def _container(self, tag: str, encoded: dict[str, Any]) -> Any:
        self._numbers[encoded["id"]] = self._next()
        items: Sequence[Any] = encoded[tag]
        if not isinstance(items, list):
            raise InvalidEncoding("not a list of items")
        if tag in ("a", "s"):
            return [tag, *map(self.decode, items)]
        if tag == "m":
            return [tag, *([self.decode(each["k"]), self.decode(each["v"])] for each in items)]
        return [tag, *([_text(each["k"]), self.decode(each["v"])] for each in items)]

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _decode_ref(self, number: int) -> Any:
        return ["r", self._numbers[number]]

    def _decode_v(self, word: str) -> Any:
        if word == "null":
            return None
        if word == "undefined":
            return ["u"]
        if word not in _NUMBERS:
            raise InvalidEncoding(f"the value {word}")
        return ["n", word]

    def _decode_d(self, text: str) -> Any:
        milliseconds = milliseconds_of(_text(text))
        self._next()
        return ["d", milliseconds]

    def _decode_u(self, _: str) -> Any:
        raise NotTranslatable("URLs")

    def _decode_bi(self, digits: str) -> Any:
        if not _INTEGER.fullmatch(digits):
            raise InvalidEncoding("a BigInt without digits")
        return ["i", digits]

    def _decode_e(self, error: dict[str, Any]) -> Any:
        self._next()
        return ["e", _text(error["n"]), _text(error["m"]), _text(error["s"])]

    def _decode_r(self, expression: dict[str, Any]) -> Any:
        self._next()
        return ["x", _text(expression["p"]), _text(expression["f"])]

    def _decode_ta(self, array: dict[str, Any]) -> Any:
        name, size = _ARRAY_OF[array["k"]]
        length = len(base64.b64decode(array["b"], validate=True)) // size
        self._next()  # the array, then its buffer
        self._next()
        return ["v", name, ["b", array["b"]], 0, length]

    def _decode_ab(self, buffer: dict[str, Any]) -> Any:
        base64.b64decode(buffer["b"], validate=True)
        self._next()
        return ["b", buffer["b"]]


_TAGS: Final = (
    "ref",
    "v",
    "d",
    "u",
    "bi",
    "e",
    "r",
    "a",
    "o",
    "m",
    "s",
    "ta",
    "ab",
)  # in the order that Playwright tests


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidEncoding(f"{type(value).__name__} instead of text")
    return value


def _number(value: float) -> Any:
    if math.isfinite(value):
        return ["n", "-0"] if value == 0 and math.copysign(1, value) < 0 else value
    return ["n", "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"]
