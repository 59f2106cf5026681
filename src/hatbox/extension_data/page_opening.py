"""Requests to show a page of a running extension: a popup, the options page, the sidebar or a file.

Any process can request a page. The process that runs the extension shows it, if it has a Chromium engine or can start
one, and then answers. Any process can also have it brought to the front or closed, and is notified when it is closed.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "PAGE_ANSWERED",
    "PAGE_CLOSED",
    "PAGE_COMMANDED",
    "PAGE_KINDS",
    "PAGE_REQUESTED",
    "PageAnswered",
    "PageClosed",
    "PageCommand",
    "PageRequested",
    "answer_page",
    "command_page",
    "decode_answer",
    "decode_closed",
    "decode_command",
    "decode_request",
    "report_closed_page",
    "request_page",
    "requested_name",
]

PAGE_KINDS: Final = ("popup", "options", "sidebar")
"""The pages that a user can open by name."""

PAGE_REQUESTED: Final = "extensions.pageRequested"
"""The topic of requests."""

PAGE_ANSWERED: Final = "extensions.pageAnswered"
"""The topic of answers: a requested page is open, or could not be shown."""

PAGE_COMMANDED: Final = "extensions.pageCommanded"
"""The topic of commands to an open page. They are answered too."""

PAGE_CLOSED: Final = "extensions.pageClosed"
"""The topic of requested pages that were closed, by the user or a program."""


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


class PageCommand(msgspec.Struct, frozen=True):
    """Payload of a command to a page that is open on request."""

    extension: str
    """The data area of the extension."""
    page: str
    """Its name; see requested_name()."""
    command: Literal["front", "close"]


class PageClosed(msgspec.Struct, frozen=True):
    """Payload of PAGE_CLOSED."""

    extension: str
    """The data area of the extension."""
    page: str
    """Its name; see requested_name()."""


def requested_name(requested: PageRequested) -> str:
    """How a requested page is called while it is open: `popup`, `options`, `sidebar`, or the path or URL of a file."""
    return "popup" if requested.kind == "POPUP" else requested.page


def request_page(
    transaction: Transaction, extension: str, page: str, *, tab_id: int | None = None, kind: str = "TAB"
) -> None:
    """Request a page of a running extension. `extension` is its data area."""
    requested = PageRequested(extension, page, tab_id, kind)
    transaction.changes.append(PAGE_REQUESTED, msgspec.json.encode(requested))


def answer_page(transaction: Transaction, extension: str, error: str = "") -> None:
    """Answer a request. `extension` is the data area."""
    transaction.changes.append(PAGE_ANSWERED, msgspec.json.encode(PageAnswered(extension, error)))


def command_page(transaction: Transaction, wanted: PageCommand) -> None:
    """Have the process of an extension bring a page to the front or close it. It answers as to a request."""
    transaction.changes.append(PAGE_COMMANDED, msgspec.json.encode(wanted))


def report_closed_page(transaction: Transaction, extension: str, page: str) -> None:
    """Notify all programs that a requested page was closed. `extension` is the data area."""
    transaction.changes.append(PAGE_CLOSED, msgspec.json.encode(PageClosed(extension, page)))


decode_request = msgspec.json.Decoder(PageRequested).decode
decode_answer = msgspec.json.Decoder(PageAnswered).decode
decode_command = msgspec.json.Decoder(PageCommand).decode
decode_closed = msgspec.json.Decoder(PageClosed).decode
