"""The id at the start of a message, as text: also of a message that cannot be decoded."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["leading_id", "with_leading_id"]

_ID: Final = re.compile(r'(\s*\{\s*"id"\s*:\s*)(\d{1,15})(?=\s*[,}])')


def leading_id(text: str) -> int | None:
    """The id of a message; None if the message does not begin with one, as those of Chromium do."""
    found = _ID.match(text)
    return None if found is None else int(found[2])


def with_leading_id(text: str, message_id: int) -> str | None:
    """The message with another id; None if it does not begin with one."""
    found = _ID.match(text)
    return None if found is None else f"{found[1]}{message_id}{text[found.end() :]}"
