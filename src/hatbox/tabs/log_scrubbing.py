"""Deletes what the change log says about identities that are deleted for ever. Transaction functions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import msgspec

from hatbox.cookies.cookie_rows import COOKIE_CHANGED, STORE_REMOVED
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import SITE_DATA_CLEARED

__all__ = ["scrub_identities"]

_NAMED: Final = re.compile(rb"firefox-container-([0-9]{1,18})(?![0-9])")
_HISTORY: Final = "history."  # visits do not name their identity, so none of them stays
_TAB_KEYS: Final = ("tab_id", "previous_tab_id", "tabId")
_TAB_LIST: Final = "tab_ids"
_TAB_TOPICS: Final = ("tabs.", "engine.")


def scrub_identities(transaction: Transaction, user_context_ids: Collection[int]) -> None:
    """Delete the changes of these identities from earlier commits in the log. See ChangeLog.scrub."""
    numbers = frozenset(user_context_ids)
    if numbers:
        transaction.changes.scrub(lambda changes: _places(changes, numbers))


def _places(changes: Sequence[tuple[str, bytes]], numbers: frozenset[int]) -> set[int]:
    """The places of changes that are about these identities or their tabs."""
    found = {
        place
        for place, (topic, payload) in enumerate(changes)
        if topic.startswith(_HISTORY) or _names(payload, numbers) or _number_of(topic, payload) in numbers
    }
    stores = frozenset(map(cookie_store_id_of, numbers))
    tabs = {tab for place in found for tab in _tabs_in(_decode(changes[place][1]), stores)}
    if tabs:
        found.update(
            place
            for place, (topic, payload) in enumerate(changes)
            if place not in found and not tabs.isdisjoint(_tab_ids_in(topic, _decode(payload)))
        )
    return found


def _names(payload: bytes, numbers: frozenset[int]) -> bool:
    return any(int(each) in numbers for each in _NAMED.findall(payload))


def _number_of(topic: str, payload: bytes) -> int | None:
    """The userContextId in changes that contain it as a number."""
    if topic == COOKIE_CHANGED:
        return int(payload[1 : payload.index(b",")])
    if topic == STORE_REMOVED:
        return int(payload)
    if topic == SITE_DATA_CLEARED:
        return next((each.get("number") for each in _dicts_in(_decode(payload))), None)
    return None


def _tabs_in(value: Any, stores: Collection[str]) -> Iterator[int]:
    """The ids of the tabs of these cookie stores that a payload contains."""
    for each in _dicts_in(value):
        if each.get("cookie_store_id") in stores and isinstance(each.get("id"), int):
            yield each["id"]


def _tab_ids_in(topic: str, value: Any) -> Iterator[int]:
    """The tabs that a payload names by their ids only."""
    if isinstance(value, int) and topic.startswith(_TAB_TOPICS):
        yield value
    for each in _dicts_in(value):
        yield from (each[key] for key in _TAB_KEYS if isinstance(each.get(key), int))
        yield from each.get(_TAB_LIST) or ()


def _dicts_in(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _decode(payload: bytes) -> Any:
    """The value of a payload; None for one that is nested too deeply, such as a value of an extension."""
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, RecursionError):
        return None


_decoder: Final = msgspec.json.Decoder()
