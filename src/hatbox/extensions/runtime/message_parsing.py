"""Parses the fields of messages from an extension process, which is not trusted. Raises ProtocolError. Pure."""

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
    """Split `storage.local.get` into namespace and member."""
    namespace, _, member = path.rpartition(".")
    return namespace, member


def console_line(level: str, text: str, location: Any) -> LogEntry:
    """A console message; `location` is where it was written, or None."""
    match location:
        case {"file": str(file), "line": int(line), "column": int(column)}:
            return LogEntry("console", level, text, file, line, column)
    return LogEntry("console", level, text)


def uncaught(kind: str, thrown: Any) -> LogEntry:
    """An uncaught error."""
    error = script_error(thrown)
    return LogEntry(kind, "error", str(error), error.file, error.line, error.column, error.stack)


def script_error(thrown: Any) -> ScriptError:
    """An error as errors.js describes it."""
    match thrown:
        case {"name": str(name), "message": str(message), "stack": str(stack), **location}:
            return ScriptError(message, name, stack, *_location(location))
    raise ProtocolError("invalid error description")


def _location(location: dict[Any, Any]) -> tuple[str, int, int]:
    match location:
        case {"file": str(file), "line": int(line), "column": int(column)}:
            return file, line, column
    return "", 0, 0


def fetch_request(request: dict[Any, Any]) -> FetchRequest:
    """A fetch() of a script."""
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
                raise ProtocolError("invalid base64 in a request body") from None
            return FetchRequest(url, method, [(str(name), str(value)) for name, value in headers], redirect, content)
    raise ProtocolError("invalid request")


def path_in(base: str, url: str) -> str | None:
    """The path in the package of a file at a URL; None for a URL outside of the package."""
    if not url.startswith(base):
        return None
    return unquote(urlsplit(url).path).removeprefix("/")


def content_type(path: str) -> str:
    """The MIME type of a file of the package."""
    guessed, _ = mimetypes.guess_type(path, strict=False)
    return guessed or "application/octet-stream"
