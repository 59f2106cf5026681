"""The hidden namespace testing: passes the reports of browser.test to the program that runs the test, and its messages
to the scripts."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller, ExtensionTestMessage, TestReporter
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
        events = {name: EventBinding(Event(f"testing.{name}"), _values_for) for name in schema.events}
        super().__init__(schema, services.store, events)

    def report(self, caller: ExtensionCaller, kind: str, values: list[Any]) -> asyncio.Future[Any]:
        _reporter(caller)(kind, values)
        return _done()

    def start_user_input(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        _reporter(caller)
        caller.note_user_input()
        return _done()


def _reporter(caller: ExtensionCaller) -> TestReporter:
    if caller.on_test_report is None:
        raise PermissionDenied("Permission denied: browser.test exists only in tests")
    return caller.on_test_report


def _values_for(caller: ExtensionCaller, message: ExtensionTestMessage, *_: Any) -> list[Any] | None:
    """The arguments of a listener; None for other extensions than the one that the test sends the message to."""
    is_receiver = caller.on_test_report is not None and caller.extension_id == message.extension_id
    return [message.values] if is_receiver else None


def _done() -> asyncio.Future[Any]:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done
