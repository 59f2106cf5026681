"""Secrets in URLs, which the URL of a page in the profile never has: user names and passwords, and the paths of the
manager page. Pure text.

Credentials are read as browsers read them (the URL standard, 4.4): they ignore tabs and line breaks, and accept any
number of slashes or backslashes before the host of special schemes such as http.
"""

from __future__ import annotations

import re
from typing import Final

from hatbox.urls.protected_pages import without_protected_paths

__all__ = ["without_credentials", "without_secrets"]

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


def without_secrets(url: str) -> str:
    """The URL of a page as it is stored and shown, also to extensions and grants."""
    return without_protected_paths(without_credentials(url))
