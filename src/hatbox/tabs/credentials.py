"""User names and passwords in URLs (https://user:password@host/): a tab never stores them. Pure text.

Read as browsers read URLs (the URL standard, 4.4): they ignore tabs and line breaks, and accept any number of slashes
or backslashes before the host of special schemes such as http.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["without_credentials"]

_IGNORED: Final = str.maketrans("", "", "\t\n\r")
# Compiled when they are first used: few URLs have an @, and every program that starts would pay for it.
_SPECIAL: Final = r"[\x00-\x20]*(?:view-source:)?(?:https?|wss?|ftp):[/\\]*"
_OTHER: Final = r"[\x00-\x20]*[a-z][a-z0-9+.-]*://"
_END: Final = r"[/\\?#]"
_END_OF_OTHER: Final = r"[/?#]"


def without_credentials(url: str) -> str:
    """The URL without user name and password; the same text if it has neither."""
    if "@" not in url:
        return url
    text = url.translate(_IGNORED)
    start, end_of_host = re.match(_SPECIAL, text, re.IGNORECASE), _END
    if start is None:
        start, end_of_host = re.match(_OTHER, text, re.IGNORECASE), _END_OF_OTHER
    if start is None:
        return url
    end = re.compile(end_of_host).search(text, start.end())
    host_end = end.start() if end else len(text)
    at = text.rfind("@", start.end(), host_end)
    return url if at < 0 else text[: start.end()] + text[at + 1 :]
