"""What is sent along with a request, read as Firefox reads it for listeners: forms by name, all else as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import Message
from email.parser import BytesParser
from typing import Final
from urllib.parse import parse_qsl

from hatbox.web_requests.model import Body

__all__ = ["read_body"]

_URL_ENCODED: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"


def read_body(content_type: str, parts: Sequence[bytes]) -> Body:
    """A body of this type, which came in these parts."""
    kind = content_type.partition(";")[0].strip().lower()
    form: dict[str, list[str]] = {}
    if kind == _URL_ENCODED:
        for name, value in parse_qsl(b"".join(parts).decode("utf-8", "replace"), keep_blank_values=True):
            form.setdefault(name, []).append(value)
        return Body(form)
    if kind == _MULTIPART and "boundary=" in content_type:
        for field in _fields(content_type, b"".join(parts)):
            name, value = field
            form.setdefault(name, []).append(value)
        return Body(form)
    return Body(raw=tuple(parts))


def _fields(content_type: str, body: bytes) -> list[tuple[str, str]]:
    """Of a file its name is told, and nothing of what is in it."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode("utf-8", "replace")
    message = BytesParser().parsebytes(head + body)
    found = message.get_payload()
    return [_field(each) for each in found if isinstance(each, Message)] if isinstance(found, list) else []


def _field(part: Message) -> tuple[str, str]:
    name = part.get_param("name", "", "content-disposition")
    file = part.get_filename()
    if file is not None:
        return str(name), file
    payload = part.get_payload(decode=True)
    return str(name), payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
