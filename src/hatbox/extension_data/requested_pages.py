"""Requests to show a page of a running extension, on behalf of the user. Transaction functions.

Any process can request a page. The process that runs the extension shows it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["PAGE_KINDS", "PAGE_REQUESTED", "RequestedPage", "decode_requested_page", "request_page"]

PAGE_KINDS: Final = ("popup", "options", "sidebar")
"""The pages that a user can open by name."""

PAGE_REQUESTED: Final = "extensions.pageRequested"
"""The topic of requests."""


class RequestedPage(msgspec.Struct, frozen=True):
    """A page to show."""

    extension: str
    """The data area of the extension."""
    kind: str
    """One of PAGE_KINDS."""
    url: str
    tab_id: int | None = None
    """The tab that was active."""


def request_page(transaction: Transaction, request: RequestedPage) -> None:
    """Ask the process that runs the extension to show a page."""
    transaction.changes.append(PAGE_REQUESTED, msgspec.json.encode(request))


decode_requested_page = msgspec.json.Decoder(RequestedPage).decode
