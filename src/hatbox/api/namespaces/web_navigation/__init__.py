"""The namespace webNavigation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_navigation.navigation_events import NavigationEvents
from hatbox.api.namespaces.web_navigation.navigation_filter import navigation_args
from hatbox.api.namespaces.web_navigation.navigation_frames import get_all_frames, get_frame
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the tabs of a profile."""
    return _WebNavigation(schema, services)


class _WebNavigation(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        navigations = NavigationEvents(services.tabs, services.clock, lambda: services.store.last_call_id)
        super().__init__(
            schema,
            services.store,
            {name: EventBinding(event, navigation_args) for name, event in navigations.events.items()},
        )

    def get_frame(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("getFrame", get_frame, details["tabId"], details["frameId"])

    def get_all_frames(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._read("getAllFrames", get_all_frames, details["tabId"])
