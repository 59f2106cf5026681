"""Reads a file of cookies in any of these formats: cookies.txt, JSON lines, a storage state, or cookie objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hatbox.errors import InvalidInputFile
from hatbox.formats import cookie_objects, cookies_txt, json_lines, storage_state
from hatbox.formats.base import Bundle, decode_json

__all__ = ["read_cookie_file"]

_ALLOWED: Final = "Choose a cookies.txt, JSON lines or storage state file, or a JSON array of cookies"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SNIFFED: Final = 65_536  # bytes in which a file that is no text shows itself

_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_cookie_file(data: bytes, source: str) -> Bundle:
    """Parse the cookies of one identity. Raises InvalidInputFile, also if the file has none or has several identities.

    A file of one identity may name another identity: its cookies count, not its name.
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        bundle = _reader(data, source)(data, source)
    except InvalidInputFile as error:
        if isinstance(error.__cause__, msgspec.DecodeError):
            page_problem = f"{error.page_problem}. {_ALLOWED}"
            raise InvalidInputFile(source, error.problem, error.line, page_problem) from error.__cause__
        raise
    if len(bundle.entries) > 1:
        names = ", ".join(each.label.name if each.label else "no identity" for each in bundle.entries[:5])
        raise InvalidInputFile(
            source, f"it has the cookies of {len(bundle.entries)} identities ({names}). Import it with: hatbox import"
        )
    if not bundle.count and not any(each.site_data for each in bundle.entries):
        raise InvalidInputFile(source, "it has no cookies")
    return bundle


def _reader(data: bytes, source: str) -> Callable[[bytes, str], Bundle]:
    start = data.lstrip()
    if not start:
        raise InvalidInputFile(source, f"it is empty. {_ALLOWED}")
    if b"\0" in data[:_SNIFFED]:
        raise InvalidInputFile(source, f"this is not a text file. {_ALLOWED}")
    if start.startswith(b"["):
        return cookie_objects.read
    if start.startswith(b"{"):
        return _json_reader(start, source)
    if not _has_cookie_line(data):
        raise InvalidInputFile(source, f"this is not a file of cookies. {_ALLOWED}")
    return cookies_txt.read


def _json_reader(start: bytes, source: str) -> Callable[[bytes, str], Bundle]:
    first = _members(start.partition(b"\n")[0])
    if first is not None and "format" in first:
        return json_lines.read
    members = first or decode_json(_decode_members, start, source)
    if "cookies" in members:
        return storage_state.read
    if "identities" in members:
        raise InvalidInputFile(source, "this is a list of containers without cookies. Import it with: hatbox import")
    raise InvalidInputFile(source, f"this JSON has no cookies. {_ALLOWED}")


def _members(line: bytes) -> dict[str, Any] | None:
    try:
        return _decode_members(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _has_cookie_line(data: bytes) -> bool:
    """Whether the first line that is not a comment has fields. cookies_txt reports what is wrong with later lines."""
    for line in data.split(b"\n"):
        if line.strip() and (not line.startswith(b"#") or line.lower().startswith(b"#httponly_")):
            return b"\t" in line
    return True
