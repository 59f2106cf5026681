"""Page snapshot, saved to restore a page: session history, current entry, scroll position and typed text.

Pure. `blank_documents` rebuilds the history in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.typed_input import Form
from hatbox.tabs.credentials import without_secrets

__all__ = ["PageSnapshot", "decode_snapshot", "encode_snapshot", "from_navigation_history", "without_entries"]

_MAX_BACK_ENTRIES: Final = 7  # each entry takes time to restore
_MAX_FORWARD_ENTRIES: Final = 2


class PageSnapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session history of a page; `index` is the current entry, `scroll` its scroll position."""

    entries: list[str]
    index: int
    scroll: tuple[float, float] = (0, 0)
    forms: list[Form] = []
    """The typed text of the page at the current entry."""

    @property
    def url(self) -> str:
        """The URL of the current entry."""
        return self.entries[self.index]

    def with_navigation(self, url: str) -> PageSnapshot:
        """The session history after a navigation to this URL."""
        before = self.entries[: self.index + (_without_fragment(self.url) != _without_fragment(url))]
        return PageSnapshot([*before, url], len(before))


def from_navigation_history(
    history: dict[str, Any], scroll: tuple[float, float], forms: Sequence[Form] = ()
) -> PageSnapshot | None:
    """A snapshot from the result of Page.getNavigationHistory; None if the current entry is not http or https."""
    current = history["entries"][history["currentIndex"]]
    near = history["entries"][
        max(0, history["currentIndex"] - _MAX_BACK_ENTRIES) : history["currentIndex"] + _MAX_FORWARD_ENTRIES + 1
    ]
    entries: list[dict[str, Any]] = []
    for entry in near:
        if not entry["url"].startswith(("http://", "https://")):
            continue
        # Adjacent entries that differ only in the fragment become one.
        if entries and _without_fragment(entries[-1]["url"]) == _without_fragment(entry["url"]):
            if entries[-1] is current:
                continue
            entries.pop()
        entries.append(entry)
    if current not in entries:
        return None
    return PageSnapshot([without_secrets(entry["url"]) for entry in entries], entries.index(current), scroll, [*forms])


def without_entries(history: dict[str, Any], is_removed: Callable[[str], bool]) -> dict[str, Any]:
    """The result of Page.getNavigationHistory without some entries, by URL. The current entry stays."""
    current = history["entries"][history["currentIndex"]]
    entries = [each for each in history["entries"] if each is current or not is_removed(each["url"])]
    return {"entries": entries, "currentIndex": next(index for index, each in enumerate(entries) if each is current)}


def encode_snapshot(snapshot: PageSnapshot) -> bytes:
    """Encode a snapshot for the profile."""
    return msgspec.json.encode(snapshot)


def decode_snapshot(data: bytes | None, url: str) -> PageSnapshot | None:
    """Decode a snapshot; None if it is of another URL, or if another engine has saved it."""
    try:
        snapshot = msgspec.json.decode(data or b"", type=PageSnapshot)
    except msgspec.DecodeError:
        return None
    return snapshot if 0 <= snapshot.index < len(snapshot.entries) and snapshot.url == url else None


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]
