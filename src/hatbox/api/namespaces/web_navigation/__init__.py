"""The namespace webNavigation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_navigation.navigation_events import NavigationEvents
from hatbox.api.namespaces.web_navigation.navigation_filter import navigation_args
from hatbox.api.namespaces.web_navigation.navigation_frames import all_frames, choose_frame, main_frame
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


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
