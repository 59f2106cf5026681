"""The hidden namespace testing: passes the reports of browser.test to the program that runs the test."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import PermissionDenied
from hatbox.events import Event
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace. Only an extension that runs in a test may use it."""
    return _Testing(schema, services)


class _Testing(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        # Messages are dispatched by the process that runs the background, not here.
        events = {name: EventBinding(Event(f"testing.{name}"), lambda *_: None) for name in schema.events}
        super().__init__(schema, services.store, events)

    def report(self, caller: ExtensionCaller, kind: str, values: list[Any]) -> asyncio.Future[Any]:
        if caller.on_test_report is None:
            raise PermissionDenied("Permission denied: browser.test exists only in tests")
        caller.on_test_report(kind, values)
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done
