"""Which tabs a change record names. Reads only their ids."""

from __future__ import annotations

import msgspec

from hatbox.store.base import ChangeRecord
from hatbox.tabs.tab_model import (
    ACTIVATED,
    ATTACHED,
    CREATED,
    DETACHED,
    HIGHLIGHT_CHANGED,
    MOVED,
    NAVIGATED,
    REMOVED,
    UPDATED,
)

__all__ = ["changed_tabs"]


class _Tab(msgspec.Struct):
    id: int


class _WithTab(msgspec.Struct):
    tab: _Tab


class _WithTabIds(msgspec.Struct):
    tab_id: int
    previous_tab_id: int | None = None


_decode_tab = msgspec.json.Decoder(_Tab).decode
_decode_with_tab = msgspec.json.Decoder(_WithTab).decode
_decode_with_ids = msgspec.json.Decoder(_WithTabIds).decode


def changed_tabs(change: ChangeRecord) -> set[int] | None:
    """The ids of the tabs that a record about tabs names; None if the record is of an unknown kind."""
    if change.topic == HIGHLIGHT_CHANGED:
        return set()  # engines do not show it
    if change.topic in (CREATED, NAVIGATED):
        return {_decode_tab(change.payload).id}
    if change.topic in (UPDATED, REMOVED):
        return {_decode_with_tab(change.payload).tab.id}
    if change.topic in (ACTIVATED, MOVED, ATTACHED, DETACHED):
        named = _decode_with_ids(change.payload)
        return {named.tab_id} if named.previous_tab_id is None else {named.tab_id, named.previous_tab_id}
    return None
