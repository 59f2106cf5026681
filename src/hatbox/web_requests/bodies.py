"""Parses request bodies for listeners as Firefox does: forms by name, everything else as bytes.

Pages choose these bodies, so every step takes time linear in their length. The email package does not: one header of a
few hundred kilobytes takes it minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl

from hatbox.web_requests.request_model import RequestBody

__all__ = ["parse_request_body"]

_URL_ENCODED: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
# Possessive quantifiers: no backtracking.
_PARAMETER: Final = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;]*+))', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def parse_request_body(content_type: str, parts: Sequence[bytes]) -> RequestBody:
    """A body of this type, which came in these parts."""
    kind = content_type.partition(";")[0].strip().lower()
    form: dict[str, list[str]] = {}
    if kind == _URL_ENCODED:
        for name, value in parse_qsl(b"".join(parts).decode("utf-8", "replace"), keep_blank_values=True):
            form.setdefault(name, []).append(value)
        return RequestBody(form)
    if kind == _MULTIPART and (boundary := _parameters(content_type).get("boundary")):
        for name, value in _fields(boundary.encode("utf-8", "replace"), b"".join(parts)):
            form.setdefault(name, []).append(value)
        return RequestBody(form)
    return RequestBody(raw=tuple(parts))


def _fields(boundary: bytes, body: bytes) -> Iterator[tuple[str, str]]:
    """The fields of a form (RFC 7578). Of a file only its name is reported."""
    delimiter = b"\r\n--" + boundary
    _, *sections = (b"\r\n" + body).split(delimiter)
    for section in sections:
        if section.startswith(b"--"):
            return
        head, blank_line, content = section.partition(b"\r\n\r\n")
        if not blank_line:
            continue
        disposition = _disposition(head.decode("utf-8", "replace"))
        file = disposition.get("filename")
        yield disposition.get("name", ""), content.decode("utf-8", "replace") if file is None else file


def _disposition(head: str) -> dict[str, str]:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return _parameters(value)
    return {}


def _parameters(value: str) -> dict[str, str]:
    """The parameters of a header by their lower-case names. The first counts if a name is repeated."""
    found: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(value):
        found.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) if quoted else bare)
    return found
