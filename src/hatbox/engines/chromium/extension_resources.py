"""The interface for files of extensions that web pages load. Contains only declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from hatbox.events import Event

__all__ = ["RESOURCE_PATTERNS", "ExtensionResources", "ResourceRequest", "ResourceResponse", "is_resource_url"]

_SCHEME: Final = "moz-extension:"
_HOST: Final = "-".join("?" * length for length in (8, 4, 4, 4, 12))  # a UUID
_ORIGIN: Final = re.compile(rf"https://{_HOST.replace('?', '[0-9a-f]')}(?![^/?#])")

RESOURCE_PATTERNS: Final = (f"{_SCHEME}*", f"https://{_HOST}/*")
"""Patterns of CDP Fetch.enable that match the URLs of extensions, and few others.

They have Firefox's spelling, and the one that Chromium loads documents from.
"""


class ResourceRequest(NamedTuple):
    """A request of a web page for a file of an extension."""

    url: str
    document_urls: tuple[str, ...]
    """The http or https URLs of the documents that may have started it, at least one. All must be allowed to."""
    frame_id: str | None
    """The CDP id of the frame that shows the file as its document; None for other loads."""
    page_id: str = ""
    """The target id of the page."""


class ResourceResponse(NamedTuple):
    """The response to such a request."""

    headers: Sequence[tuple[str, str]]
    body: bytes
    redirect_url: str | None = None
    """The URL that is loaded instead."""


class ExtensionResources(Protocol):
    """Answers requests for files of the extensions that run in this process."""

    on_changed: Event[None]
    """Emitted when `are_present` or `depend_on_page` may have changed."""

    @property
    def are_present(self) -> bool:
        """Whether pages may load a file of an extension."""

    @property
    def depend_on_page(self) -> bool:
        """Whether some pages may load a file and others not."""

    def chromium_url(self, url: str) -> str | None:
        """The URL that Chromium can load for a moz-extension:// URL; None if it is not of a running extension."""

    async def respond(self, request: ResourceRequest) -> ResourceResponse | None:
        """The response; None if the page must not load the file, or it does not exist."""


def is_resource_url(url: str) -> bool:
    """Whether a URL is of an extension, in one of its spellings."""
    return url.startswith(_SCHEME) or _ORIGIN.match(url) is not None
