"""Requests to show a page of a running extension: a popup, the options page, the sidebar or a file.

Any process can request a page. The process that runs the extension shows it, if it has a Chromium engine or can start
one, and then answers.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "PAGE_ANSWERED",
    "PAGE_KINDS",
    "PAGE_REQUESTED",
    "PageAnswered",
    "PageRequested",
    "answer_page",
    "decode_answer",
    "decode_request",
    "request_page",
]

PAGE_KINDS: Final = ("popup", "options", "sidebar")
"""The pages that a user can open by name."""

PAGE_REQUESTED: Final = "extensions.pageRequested"
"""The topic of requests."""

PAGE_ANSWERED: Final = "extensions.pageAnswered"
"""The topic of answers: a requested page is open, or could not be shown."""


class PageRequested(msgspec.Struct, frozen=True):
    """Payload of a request."""

    extension: str
    """The data area of the extension."""
    page: str
    """`popup`, `options`, `sidebar`, or the path or URL of a file."""
    tab_id: int | None = None
    """The tab in which the action is clicked. Default: the active tab."""
    kind: str = "TAB"
    """How a file is shown: TAB, POPUP or SIDE_PANEL."""


class PageAnswered(msgspec.Struct, frozen=True):
    """Payload of an answer."""

    extension: str
    """The data area of the extension."""
    error: str = ""
    """Why the page is not shown; empty if it is open."""


def request_page(
    transaction: Transaction, extension: str, page: str, *, tab_id: int | None = None, kind: str = "TAB"
) -> None:
    """Request a page of a running extension. `extension` is its data area."""
    requested = PageRequested(extension, page, tab_id, kind)
    transaction.changes.append(PAGE_REQUESTED, msgspec.json.encode(requested))


def answer_page(transaction: Transaction, extension: str, error: str = "") -> None:
    """Answer a request. `extension` is the data area."""
    transaction.changes.append(PAGE_ANSWERED, msgspec.json.encode(PageAnswered(extension, error)))


decode_request = msgspec.json.Decoder(PageRequested).decode
decode_answer = msgspec.json.Decoder(PageAnswered).decode
