"""The parts of messages, read without trust: what is not as our own half of the bridge writes it is a ProtocolError.

Pure. Knows what a message holds, not what is done with it.
"""

from __future__ import annotations

import binascii
import mimetypes
from base64 import b64decode
from typing import Any
from urllib.parse import unquote, urlsplit

from hatbox.errors import ScriptError
from hatbox.extensions.runtime.host import FetchRequest, LogEntry
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.text_cache import cache_short_texts

__all__ = ["console_line", "content_type", "fetch_request", "path_in", "script_error", "split_path", "uncaught"]


@cache_short_texts(4096)
def split_path(path: str) -> tuple[str, str]:
    """`storage.local.get` as namespace and member."""
    namespace, _, member = path.rpartition(".")
    return namespace, member


def console_line(level: str, text: str, place: Any) -> LogEntry:
    """A line of the console; `place` is where it was written, if that is known."""
    match place:
        case {"file": str(file), "line": int(line), "column": int(column)}:
            return LogEntry("console", level, text, file, line, column)
    return LogEntry("console", level, text)


def uncaught(kind: str, thrown: Any) -> LogEntry:
    """An error that no script caught."""
    error = script_error(thrown)
    return LogEntry(kind, "error", str(error), error.file, error.line, error.column, error.stack)


def script_error(thrown: Any) -> ScriptError:
    """What a script threw, as errors.js describes it."""
    match thrown:
        case {"name": str(name), "message": str(message), "stack": str(stack), **place}:
            return ScriptError(message, name, stack, *_place(place))
    raise ProtocolError("an error that is not described as one")


def _place(place: dict[Any, Any]) -> tuple[str, int, int]:
    match place:
        case {"file": str(file), "line": int(line), "column": int(column)}:
            return file, line, column
    return "", 0, 0


def fetch_request(request: dict[Any, Any]) -> FetchRequest:
    """A request that a script makes."""
    match request:
        case {
            "url": str(url),
            "method": str(method),
            "headers": list(headers),
            "redirect": ("follow" | "error" | "manual") as redirect,
            "body": str(_) | None as body,
        } if all(isinstance(each, list) and len(each) == 2 for each in headers):
            try:
                content = None if body is None else b64decode(body, validate=True)
            except (binascii.Error, ValueError):
                raise ProtocolError("a request whose body is no base64") from None
            return FetchRequest(url, method, [(str(name), str(value)) for name, value in headers], redirect, content)
    raise ProtocolError("a request that is not one")


def path_in(base: str, url: str) -> str | None:
    """The path, from the root of the package, of a file that a URL names; None if it is not in the package."""
    if not url.startswith(base):
        return None
    return unquote(urlsplit(url).path).removeprefix("/")


def content_type(path: str) -> str:
    """What a browser would call the type of a file of the package."""
    guessed, _ = mimetypes.guess_type(path, strict=False)
    return guessed or "application/octet-stream"
