"""Removes the secrets of the manager page from messages for clients: the paths of its URLs, and its cookie. Pure text.

A web page can have the same text in its URL, title, headers and requests. So no message is dropped because of it.
"""

from __future__ import annotations

import base64
import re
from typing import Any, Final

from hatbox.urls.protected_pages import PROTECTED_COOKIE, without_protected_paths

__all__ = ["without_manager_cookie", "without_manager_paths"]

_WITHHELD: Final = "withheld"
_SHOWN: Final = rf"\1{_WITHHELD}"
_BODY: Final = re.compile(r'"postDataEntries"\s*:\s*\[[^\]]*\]')  # its texts are Base64, which has no bracket
_PART: Final = re.compile(r'("bytes"\s*:\s*")([^"]*)')
_COOKIE: Final = re.compile(rf"({PROTECTED_COOKIE}=)[^\r\n]*")  # in Set-Cookie, its path follows


def without_manager_paths(text: str) -> str:
    """A message as JSON in which each path of the manager page is replaced: it may have a token."""
    shown = without_protected_paths(text)
    return text if shown == text else _BODY.sub(lambda body: _PART.sub(_without_paths, body[0]), shown)


def _without_paths(part: re.Match[str]) -> str:
    """A part of the body of a request. What is no Base64 is removed."""
    try:
        content = base64.b64decode(part[2], validate=True).decode("latin-1")
    except ValueError:
        content = ""
    return part[1] + base64.b64encode(without_protected_paths(content).encode("latin-1")).decode()


def without_manager_cookie(message: Any) -> Any:
    """Decoded JSON in which the values and paths of the cookie of the manager page are replaced."""
    if isinstance(message, str):
        return _COOKIE.sub(_SHOWN, message)
    if isinstance(message, list):
        return [without_manager_cookie(each) for each in message]
    if not isinstance(message, dict):
        return message
    if message.get("name") == PROTECTED_COOKIE:
        return message | {"value": _WITHHELD, "path": "/"}
    return {key: without_manager_cookie(each) for key, each in message.items()}
