"""The namespace history. Error messages match Firefox.

A page that was visited in several identities is one item, as Firefox has one history for all. What a script adds
belongs to the default cookie store.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.clock import Clock
from hatbox.errors import ApiError
from hatbox.history import visits
from hatbox.history.search import find_pages
from hatbox.history.visits import HistoryItem, RemovedVisits, TitleChange, id_of_page, storable_url
from hatbox.javascript.text import well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.urls.url import parse_url

__all__ = ["implement"]

_DAY: Final = 86_400
_MAX_RESULTS: Final = 100
_DEFAULT_STORE: Final = 0
_UNEXPECTED: Final = "An unexpected error occurred"
_MAX_SHOWN: Final = 500


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the visited pages of a profile."""
    return _History(schema, services)


class _History(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._clock = services.clock
        feed = ChangeEvents(services.store, "history")

        def binding(name: str, topic: str, payload: type[Any]) -> EventBinding:
            return EventBinding(feed.event(name, topic, msgspec.json.Decoder(payload).decode), _event_args)

        events = {
            "onVisited": binding("onVisited", visits.VISITED, HistoryItem),
            "onVisitRemoved": binding("onVisitRemoved", visits.REMOVED, RemovedVisits),
            "onTitleChanged": binding("onTitleChanged", visits.TITLE_CHANGED, TitleChange),
        }
        super().__init__(schema, services.store, events)

    def search(self, query: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._search(query))

    async def _search(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        start, end = _seconds(query["startTime"]), _seconds(query["endTime"])
        start = self._clock.time() - _DAY if start is None else start
        if end is not None and start > end:
            raise ApiError("The startTime cannot be after the endTime")
        limit = query["maxResults"] or _MAX_RESULTS
        found = await find_pages(self._store, well_formed(query["text"]), start=start, end=end, limit=limit)
        return [_result(item) for item in found]

    def get_visits(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("getVisits", _get_visits, details["url"])

    def add_url(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("addUrl", _add_url, details, self._clock)

    def delete_url(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("deleteUrl", _delete_url, details["url"])

    def delete_range(self, times: Mapping[str, Any]) -> asyncio.Future[Any]:
        start, end = _seconds(times["startTime"]) or 0.0, _seconds(times["endTime"]) or 0.0
        return self._write("deleteRange", visits.delete_visits, start, end)

    def delete_all(self) -> asyncio.Future[Any]:
        return self._write("deleteAll", visits.clear_history)


def _get_visits(transaction: Transaction, url: str) -> list[dict[str, Any]]:
    if not url:
        raise ApiError("A URL must be provided for getVisits")
    page_url = _canonical(url)
    found = [visit for page in transaction.history.find(page_url) for visit in transaction.history.visits(page)]
    found.sort(key=lambda visit: (visit.visited, visit.id), reverse=True)
    return [
        {
            "id": id_of_page(page_url),
            "visitId": str(visit.id),
            "visitTime": int(visit.visited * 1000),
            "referringVisitId": str(visit.referrer),
            "transition": visit.transition,
        }
        for visit in found
    ]


def _add_url(transaction: Transaction, details: Mapping[str, Any], clock: Clock) -> None:
    url, transition = details["url"], details["transition"] or "link"
    if transition not in visits.TRANSITIONS:
        raise ApiError(f"|{transition}| is not a supported transition for history")
    if parse_url(url) is None:
        shown = msgspec.json.encode(well_formed(url[:_MAX_SHOWN])).decode()
        raise ApiError(f"PageInfo: Invalid value for property 'url': {shown}")
    time = _seconds(details["visitTime"]) or None
    if time is not None and time > clock.time():
        raise ApiError(_future_visit(transition, time))
    stored = storable_url(url)
    if stored is None:
        raise ApiError(_UNEXPECTED)
    if transition != "auto_subframe":  # Firefox does not store it
        visits.add_visit(transaction, _DEFAULT_STORE, stored, title=details["title"], transition=transition, time=time)


def _future_visit(transition: str, time: float) -> str:
    try:
        milliseconds = datetime.timedelta(milliseconds=round(time * 1000))
        date = (datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + milliseconds).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return _UNEXPECTED
    shown = f'{{"transition":{visits.TRANSITIONS[transition]},"date":"{date.replace("+00:00", "Z")}"}}'
    return f"PageInfo: Invalid value for property 'visits': [{shown}]"


def _delete_url(transaction: Transaction, url: str) -> None:
    visits.delete_page(transaction, _canonical(url))


def _canonical(url: str) -> str:
    parsed = parse_url(url)
    if parsed is None:
        raise ApiError(_UNEXPECTED)
    return parsed._replace(userinfo="").text


def _result(item: HistoryItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "url": item.url,
        "title": item.title or None,
        "lastVisitTime": int(item.last_visit_time),
        "visitCount": item.visit_count,
    }


def _event_args(_: Caller, payload: HistoryItem | RemovedVisits | TitleChange) -> tuple[Any]:
    shown = msgspec.to_builtins(payload)
    if "lastVisitTime" in shown:
        shown["lastVisitTime"] = int(shown["lastVisitTime"])
    return (shown,)


def _seconds(time: str | int | None) -> float | None:
    """A time in seconds. A date without a time zone is in UTC, as in JavaScript."""
    if isinstance(time, str):
        date = datetime.datetime.fromisoformat(time)
        return (date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).timestamp()
    return None if time is None else time / 1000
