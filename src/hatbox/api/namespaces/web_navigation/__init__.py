"""The namespace webNavigation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_navigation.navigation_events import NavigationEvents
from hatbox.api.namespaces.web_navigation.navigation_frames import all_frames, choose_frame, main_frame
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema
from hatbox.urls.url import Url, parse_url

__all__ = ["implement", "navigation_args"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the tabs of a profile."""
    return _WebNavigation(schema, services)


class _WebNavigation(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._scripts = services.content_scripts
        navigations = NavigationEvents(services.tabs, services.clock, lambda: services.store.last_call_id)
        super().__init__(
            schema,
            services.store,
            {name: EventBinding(event, navigation_args) for name, event in navigations.events.items()},
        )

    def get_frame(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._get_frame(details["tabId"], details["frameId"]))

    def get_all_frames(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._get_all_frames(details["tabId"]))

    async def _get_all_frames(self, tab_id: int) -> Any:
        known = await self._store.read(lambda transaction: main_frame(transaction, tab_id))
        return self._result_converters["getAllFrames"](await all_frames(self._scripts, known))

    async def _get_frame(self, tab_id: int, frame_id: int) -> Any:
        known = await self._store.read(lambda transaction: main_frame(transaction, tab_id))
        frames = [known] if frame_id == known.frame_id else await all_frames(self._scripts, known)
        return self._result_converters["getFrame"](choose_frame(frames, frame_id))


def navigation_args(_: Caller, details: Mapping[str, Any], filter_: Mapping[str, Any] | None) -> Sequence[Any] | None:
    """(details), if one of the filters of the listener matches the URL, in all of its properties."""
    if filter_ is None:
        return (details,)
    url = parse_url(details["url"])
    return (details,) if url is not None and any(_matches(url, url_filter) for url_filter in filter_["url"]) else None


def _matches(url: Url, url_filter: Mapping[str, Any]) -> bool:
    parts = {
        # As in Firefox, with a leading dot, so that ".site.example" also matches "site.example".
        "host": f".{url.host}",
        "path": url.path,
        "query": url.query.removeprefix("?"),
        "url": url._replace(fragment="").text,
    }
    for name, part in parts.items():
        bare = part.removeprefix(".") if name == "host" else part
        for suffix, test in (
            ("Contains", part.__contains__),
            ("Equals", bare.__eq__),
            ("Prefix", bare.startswith),
            ("Suffix", part.endswith),
        ):
            text = url_filter[name + suffix]
            if text is not None and not test(text):
                return False
    if url_filter["schemes"] is not None and url.scheme not in url_filter["schemes"]:
        return False
    return url_filter["ports"] is None or _in_ports(url, url_filter["ports"])


def _in_ports(url: Url, ports: Sequence[int | Sequence[int]]) -> bool:
    port = int(url.port_suffix[1:]) if url.port_suffix else _DEFAULT_PORTS.get(url.scheme)
    if port is None:
        return False
    return any(port == each if isinstance(each, int) else each[0] <= port <= each[1] for each in ports)
