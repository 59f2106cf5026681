"""Page snapshot, saved to restore a page: session history, current entry, scroll position and typed text.

Pure. The module pages rebuilds the history in the browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.typed_input import Form
from hatbox.tabs.credentials import without_credentials

__all__ = ["PageSnapshot", "decode_snapshot", "encode_snapshot", "from_navigation_history"]

_MAX_BACK_ENTRIES: Final = 7  # entries that are worth the time that each takes to be made again
_MAX_FORWARD_ENTRIES: Final = 2


class PageSnapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """The history of a page; `index` is where it is, `scroll` how far it is scrolled there."""

    entries: list[str]
    index: int
    scroll: tuple[float, float] = (0, 0)
    forms: list[Form] = []
    """The typed text of the page at the current entry."""

    @property
    def url(self) -> str:
        """Where it is."""
        return self.entries[self.index]

    def with_navigation(self, url: str) -> PageSnapshot:
        """The history after another page was loaded."""
        before = self.entries[: self.index + (_document(self.url) != _document(url))]
        return PageSnapshot([*before, url], len(before))


def from_navigation_history(
    history: dict[str, Any], scroll: tuple[float, float], forms: Sequence[Form] = ()
) -> PageSnapshot | None:
    """What is kept of the answer of Page.getNavigationHistory; None if that is no page of the web."""
    current = history["entries"][history["currentIndex"]]
    near = history["entries"][
        max(0, history["currentIndex"] - _MAX_BACK_ENTRIES) : history["currentIndex"] + _MAX_FORWARD_ENTRIES + 1
    ]
    entries: list[dict[str, Any]] = []
    for entry in near:
        if not entry["url"].startswith(("http://", "https://")):
            continue
        # Two places in one document are one entry.
        if entries and _document(entries[-1]["url"]) == _document(entry["url"]):
            if entries[-1] is current:
                continue
            entries.pop()
        entries.append(entry)
    if current not in entries:
        return None
    return PageSnapshot(
        [without_credentials(entry["url"]) for entry in entries], entries.index(current), scroll, [*forms]
    )


def _document(url: str) -> str:
    return url.partition("#")[0]


def encode_snapshot(kept: PageSnapshot) -> bytes:
    """As the profile keeps it."""
    return msgspec.json.encode(kept)


def decode_snapshot(page: bytes | None, url: str) -> PageSnapshot | None:
    """What was kept, if it is of a page at this URL; what another engine has kept is None, whatever it is."""
    try:
        kept = msgspec.json.decode(page or b"", type=PageSnapshot)
    except msgspec.DecodeError:
        return None
    return kept if 0 <= kept.index < len(kept.entries) and kept.url == url else None
